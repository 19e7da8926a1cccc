/* scripts; see scripts.h. */
#include "inspect/scripts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/scope.h"
#include "inspect/remote.h"

/* ---- where code is ---- */

struct locating {
    struct scripts *scripts;
    const struct taken *taken;
    code_locations *locations;
    struct g2h_code_location *by_name; /* of closures; script is 0 if not known yet */
};

/* Gets the script and the line of code at an address. Returns false if they are not known. */
static struct g2h_error *find_line(const struct locating *locating, uint64_t pc, bool *ret_found,
                                   struct g2h_code_location *ret)
{
    struct g2h_line line;
    uint32_t file;
    *ret_found = pc != 0 && g2h_exe_line(locating->taken->origin.exe, pc, &line) && line.line > 0 &&
                 line.file.size > 0 && line.file.size < PLACE_TEXT;
    if (!*ret_found)
        return NULL;
    TRY_MEMORY(string_pool_intern(&locating->scripts->files, (const char *)line.file.data,
                                  (size_t)line.file.size, &file));
    *ret = (struct g2h_code_location){.script = file + 1, .line = line.line - 1};
    return NULL;
}

static struct g2h_error *add(const struct locating *locating, uint32_t node,
                             const struct g2h_code_location *location)
{
    const struct g2h_code_location own = {node, location->script, location->line};
    TRY_MEMORY(vector_push(locating->locations, own));
    return NULL;
}

static struct g2h_error *locate(const struct locating *locating, uint32_t node, uint64_t pc)
{
    struct g2h_code_location location;
    bool found;
    TRY(find_line(locating, pc, &found, &location));
    return found && node != UINT32_MAX ? add(locating, node, &location) : NULL;
}

/* Returns whether a function is one of the runtime's, which is not where a goroutine is. */
static bool is_of_runtime(struct g2h_bytes function)
{
    static const char prefix[] = "runtime.";
    return function.size > strlen(prefix) && memcmp(function.data, prefix, strlen(prefix)) == 0;
}

/* Locates a goroutine, at its innermost frame that is not the runtime's, and its frames. Several
 * goroutines may have one node. */
static struct g2h_error *locate_goroutine(const struct locating *locating,
                                          const struct g2h_view_goroutine *goroutine,
                                          uint32_t *last_node)
{
    const struct g2h_view *view = locating->taken->view;
    bool is_located = goroutine->node == *last_node;
    for (uint32_t i = 0; i < goroutine->frame_count; i++) {
        struct g2h_view_frame frame;
        g2h_view_frame(view, goroutine->first_frame + (size_t)i, &frame);
        const uint64_t pc = frame.pc - (i > 0 && frame.pc > 0); /* behind a call */
        TRY(locate(locating, frame.node, pc));
        if (is_located || is_of_runtime(frame.function))
            continue;
        is_located = true;
        TRY(locate(locating, goroutine->node, pc));
    }
    *last_node = goroutine->node;
    return NULL;
}

static uint64_t first_word(const struct taken *taken, uint32_t object)
{
    const struct g2h_params *params = g2h_heap_params(taken->heap);
    const struct g2h_object of = g2h_heap_object(taken->heap, object);
    uint64_t word = 0;
    for (uint64_t i = 0; i < params->pointer_size && of.contents.size >= params->pointer_size; i++)
        word |= (uint64_t)of.contents.data[params->big_endian ? params->pointer_size - 1 - i : i]
                << 8 * i;
    return word;
}

/* Locates a closure at its function, which all closures of a class have. */
static struct g2h_error *locate_closure(const struct locating *locating, uint32_t number,
                                        const struct g2h_node *node)
{
    struct g2h_code_location *known = &locating->by_name[node->name];
    bool found = known->script > 0;
    if (!found)
        TRY(find_line(locating, first_word(locating->taken, node->object), &found, known));
    return found ? add(locating, number, known) : NULL;
}

static struct g2h_error *locate_nodes(const struct locating *locating)
{
    enum { MANY = 64 };
    const struct g2h_view *view = locating->taken->view;
    struct g2h_node nodes[MANY];
    size_t count;
    for (uint32_t first = 0; (count = g2h_view_nodes(view, first, MANY, nodes)) > 0;
         first += (uint32_t)count)
        for (uint32_t i = 0; i < count; i++) {
            const struct g2h_node *node = &nodes[i];
            if (node->kind == G2H_NODE_CREATION_SITE)
                TRY(locate(locating, first + i, node->key));
            if (node->kind == G2H_NODE_OBJECT && node->object != UINT32_MAX &&
                g2h_view_class_form(view, node->name) == G2H_FORM_CLOSURE)
                TRY(locate_closure(locating, first + i, node));
        }
    return NULL;
}

struct g2h_error *scripts_locate(struct scripts *scripts, const struct taken *taken,
                                 code_locations *ret)
{
    struct locating locating = {scripts, taken, ret, NULL};
    uint32_t last_node = UINT32_MAX;
    if (!taken->origin.exe)
        return NULL;
    _cleanup_free_ struct g2h_code_location *by_name =
        calloc((size_t)g2h_view_name_count(taken->view) + 1, sizeof(*by_name));
    TRY_MEMORY(by_name);
    locating.by_name = by_name;
    for (size_t i = 0; i < g2h_view_goroutine_count(taken->view); i++) {
        struct g2h_view_goroutine goroutine;
        g2h_view_goroutine(taken->view, i, &goroutine);
        TRY(locate_goroutine(&locating, &goroutine, &last_node));
    }
    return locate_nodes(&locating);
}

/* ---- the files ---- */

void scripts_append_events(const struct scripts *scripts, struct text *text)
{
    for (uint32_t i = 0; i < scripts->files.count; i++) {
        _cleanup_(text_deinit) struct text url = {0};
        size_t size;
        const char *file = string_pool_text(&scripts->files, i, &size);
        text_printf(&url, size > 0 && *file == '/' ? "file://" : "file:///");
        text_append_utf8(&url, (const uint8_t *)file, size, PLACE_TEXT);
        text_printf(text,
                    "{\"method\":\"Debugger.scriptParsed\",\"params\":{\"scriptId\":\"%" PRIu32
                    "\",\"url\":",
                    i + 1);
        remote_append_string(text, url.data, url.size);
        text_printf(text,
                    ",\"startLine\":0,\"startColumn\":0,\"endLine\":1000000,\"endColumn\":0,"
                    "\"executionContextId\":1,\"hash\":\"\",\"isModule\":false,\"length\":0}}\n");
    }
}

/* Appends the path of a file that is below a directory, of which the line table may have more or
 * fewer directories: example.com/app/pkg/file.go is DIRECTORY/pkg/file.go. */
static bool append_below(const char *directory, const char *file, size_t size, struct text *text)
{
    const size_t before = text->size;
    if (memmem(file, size, "..", 2))
        return false;
    for (const char *at = file;; at++) {
        text->size = before;
        text_append(text, directory, strlen(directory));
        text_append(text, "/", 1);
        text_append(text, at, (size_t)(file + size - at));
        text_append(text, "", 1);
        if (text->failed || access(text->data + before, R_OK) == 0)
            break;
        at = memchr(at, '/', (size_t)(file + size - at));
        if (!at)
            break;
    }
    text->size -= text->size > before;
    return !text->failed;
}

bool scripts_append_path(const struct scripts *scripts, const char *number, struct text *text)
{
    char *end;
    size_t size;
    const unsigned long script = strtoul(number, &end, 10);
    if (number[0] < '1' || number[0] > '9' || *end != '\0' || script > scripts->files.count)
        return false;
    const char *file = string_pool_text(&scripts->files, (uint32_t)script - 1, &size);
    if (memchr(file, '\0', size))
        return false;
    if (size > 0 && *file == '/')
        text_append(text, file, size);
    else if (!scripts->directory || !append_below(scripts->directory, file, size, text))
        return false;
    return !text->failed;
}

void scripts_deinit(struct scripts *scripts)
{
    string_pool_deinit(&scripts->files);
}
