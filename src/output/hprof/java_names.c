/* java_names; see java_names.h. */
#include "output/hprof/java_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

bool java_names_init(struct java_names *names, const struct g2h_view *view)
{
    *names = (struct java_names){.view = view};
    names->of_view = calloc((size_t)g2h_view_name_count(view) + 1, sizeof(*names->of_view));
    return names->of_view != NULL;
}

void java_names_deinit(struct java_names *names)
{
    string_pool_deinit(&names->pool);
    free(names->of_view);
}

bool java_names_text(struct java_names *names, const char *text, size_t size, uint32_t *ret)
{
    uint32_t number;
    if (!string_pool_intern(&names->pool, text, size, &number))
        return false;
    *ret = number + 1;
    return true;
}

bool java_names_of_view(struct java_names *names, uint32_t name, uint32_t *ret)
{
    size_t size;
    if (name == G2H_NAME_NONE)
        return java_names_text(names, "", 0, ret);
    const char *text = g2h_view_name(names->view, name, &size);
    if (names->of_view[name] == 0 && !java_names_text(names, text, size, &names->of_view[name]))
        return false;
    *ret = names->of_view[name];
    return true;
}

/* ---- names of classes ---- */

/* Returns where the brackets at the beginning of a type end: in "[4][]main.Bid" at "main". */
static size_t skip_brackets(const char *name, size_t size)
{
    size_t at = 0;
    while (at < size && name[at] == '[') {
        const char *end = memchr(name + at, ']', size - at);
        if (!end)
            break;
        at = (size_t)(end - name) + 1;
    }
    return at;
}

static void append_slashed(const char *name, size_t size, struct text *ret)
{
    for (size_t i = 0; i < size; i++)
        text_append(ret, name[i] == '.' ? "/" : name + i, 1);
}

/* Appends a type with its leading brackets moved to the end. A bracket that is not closed stays in
 * front, as a parenthesis. */
static void append_turned(const char *name, size_t size, struct text *ret)
{
    const size_t brackets = skip_brackets(name, size);
    const bool is_open = brackets < size && name[brackets] == '[';
    if (is_open)
        text_append_string(ret, "(");
    append_slashed(name + brackets + is_open, size - brackets - is_open, ret);
    text_append(ret, name, brackets);
}

static struct g2h_bytes bytes_behind(const struct text *text, size_t begin)
{
    return (struct g2h_bytes){(const uint8_t *)text->data + begin, text->size - begin};
}

static bool is_javas(struct g2h_bytes name)
{
    static const char *const primitives[] = {"boolean", "char",  "float", "double",
                                             "byte",    "short", "int",   "long"};
    if (bytes_begin(name, "java/"))
        return true;
    for (size_t i = 0; i < sizeof(primitives) / sizeof(*primitives); i++)
        if (bytes_are(name, primitives[i]))
            return true;
    return false;
}

void java_class_name(const char *name, size_t size, struct text *ret)
{
    const size_t begin = ret->size;
    append_turned(name, size, ret);
    if (ret->failed)
        return;
    const struct g2h_bytes made = bytes_behind(ret, begin);
    if (made.size == 0 || bytes_begin(made, "java/") || bytes_end(made, "[]"))
        text_append_string(ret, " (Go)");
}

void java_sized_name(const char *name, size_t size, uint64_t bytes, struct text *ret)
{
    append_turned(name, size, ret);
    text_printf(ret, " (%" PRIu64 " bytes)", bytes);
}

void java_array_name(const char *name, size_t size, struct text *ret)
{
    text_append_string(ret, "[L");
    const size_t begin = ret->size;
    append_turned(name, size, ret);
    if (!ret->failed && is_javas(bytes_behind(ret, begin)))
        text_append_string(ret, " (Go)");
    text_append_string(ret, ";");
}
