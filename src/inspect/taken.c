/*
 * taken: one snapshot of --inspect, with all that answers need; see taken.h. The parts: the command
 * whose output may be the dump; the heap with its view, the ids that DevTools has for its nodes,
 * and what is made only when it is needed (iterators, dominators); and scripts: where in source
 * files functions and goroutines are, for links.
 */
#include "inspect/taken.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/text.h"
#include "input/input.h"
#include "inspect/inspect_json.h"
#include "inspect/remote.h"
#include "roots/roots.h"

/* ==== a command whose standard output is a dump, for --inspect and --watch ==== */

enum { MOST_SAID = 4096 /* bytes of the end of standard error that are read */ };

struct command {
    int output;   /* a descriptor; -1: the command does not run */
    int problems; /* a file with the command's standard error */
    long pid;
};

/* Returns the descriptor of a file without a name, or -1. */
static int command_open_nameless(void)
{
    FILE *file = tmpfile();
    const int fd = file ? dup(fileno(file)) : -1;
    if (file)
        fclose(file);
    return fd;
}

/* Starts a command of the shell, with its output in a pipe and its messages in a file without a
 * name. The command gets no other descriptor below MOST_OPEN of this program, which opens few.
 * Error: no process, pipe or file can be made. */
static struct g2h_error *command_start(const char *words, struct command *ret)
{
    enum { MOST_OPEN = 64, NOT_FOUND = 127 /* as a shell ends */ };
    int ends[2];
    *ret = (struct command){-1, command_open_nameless(), 0};
    const bool has_pipe = ret->problems >= 0 && pipe(ends) == 0;
    ret->pid = has_pipe ? fork() : -1;
    if (ret->pid == 0) {
        signal(SIGPIPE, SIG_DFL); /* its own pipes shall end as in any shell */
        dup2(ends[1], STDOUT_FILENO);
        dup2(ret->problems, STDERR_FILENO);
        for (int fd = STDERR_FILENO + 1; fd < MOST_OPEN; fd++)
            close(fd); /* the channel above all */
        execl("/bin/sh", "sh", "-c", words, (char *)NULL);
        _exit(NOT_FOUND);
    }
    const int number = errno;
    if (has_pipe)
        close(ends[1]);
    ret->output = has_pipe ? ends[0] : -1;
    if (ret->pid > 0)
        return NULL;
    close(ret->output); /* -1 is ignored */
    close(ret->problems);
    return error_system(number, "cannot run '%s'", words);
}

/* Returns the last line of a command's standard error, which it reads into said. */
static const char *last_line(int fd, char said[MOST_SAID + 1])
{
    const off_t end = lseek(fd, 0, SEEK_END);
    const off_t from = end > MOST_SAID ? end - MOST_SAID : 0;
    ssize_t size = end > 0 ? pread(fd, said, MOST_SAID, from) : 0;
    while (size > 0 && (said[size - 1] == '\n' || said[size - 1] == ' '))
        size--;
    said[MAX(size, 0)] = '\0';
    const char *line = strrchr(said, '\n');
    return line ? line + 1 : said;
}

/* Waits for the end of a command. Error: it failed, with its last message; or died of a signal.
 * None if its status is not known. */
static struct g2h_error *command_end(struct command *command, const char *words)
{
    char said[MOST_SAID + 1] = "";
    int status = 0;
    close(command->output);
    const bool is_known = waitpid((pid_t)command->pid, &status, 0) == command->pid;
    const char *line = last_line(command->problems, said);
    close(command->problems);
    if (!is_known || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
        return NULL;
    if (WIFSIGNALED(status))
        return error_create(G2H_ERROR_SYSTEM, "'%s' died of signal %d", words, WTERMSIG(status));
    return error_create(G2H_ERROR_SYSTEM, "'%s' failed with status %d%s%s", words,
                        WEXITSTATUS(status), *line ? ": " : "", line);
}

/* Names the input that has been opened after the command that wrote it: "the output of --command
 * 'sh next'". */
static struct g2h_error *command_name(const char *words, struct g2h_input *input)
{
    _cleanup_(text_deinit) struct text name = {0};
    text_append_string(&name, "the output of --command '");
    text_append_string(&name, words);
    text_append(&name, "'", sizeof("'"));
    TRY_MEMORY(!name.failed);
    return input_rename(input, name.data);
}

/* Reads the command's output as a dump. If the command fails, that is the error. */
struct g2h_error *command_open(const char *words, const struct origin_options *options,
                               struct origin *ret)
{
    struct origin_options of_output = *options;
    struct command command;
    char path[32];
    TRY(command_start(words, &command));
    snprintf(path, sizeof(path), "/dev/fd/%d", command.output);
    of_output.path = path;
    struct g2h_error *error = origin_open(&of_output, ret);
    if (!error)
        error = command_name(words, ret->input);
    struct g2h_error *failed = command_end(&command, words);
    if (failed)
        g2h_error_destroy(error);
    return failed ? failed : error;
}

/* ==== a snapshot: the heap at one moment, and everything derived from it ==== */

/* ---- creation ---- */

/* Reads the heap of the process, the command or the file, and makes its graph; the view follows,
 * see taken_view(). */
struct g2h_error *taken_read(const struct taken_options *options,
                             const struct g2h_progress *progress, struct taken *ret)
{
    const struct origin_options origin = {.path = options->input,
                                          .pid = options->pid,
                                          .exe = options->exe,
                                          .threads = options->threads,
                                          .memory = g2h_format(0)->memory,
                                          .object_memory = g2h_format(0)->object_memory,
                                          .forks = options->forks,
                                          .collapses = options->collapses,
                                          .progress = progress};
    const struct pipeline_options steps = {.exe = options->exe,
                                           .threads = options->threads,
                                           .untyped_ok = options->untyped_ok,
                                           .no_stacks = options->no_stacks,
                                           .full_names = options->full_names,
                                           .redaction = options->redaction};
    struct pipeline *made = &ret->made;
    if (options->pid != 0)
        origin_end_first();
    TRY(options->command ? command_open(options->command, &origin, &made->origin)
                         : origin_open(&origin, &made->origin));
    TRY(pipeline_load(made, options->threads, progress));
    TRY(pipeline_match(made, &steps));
    return pipeline_graph(made, &steps);
}

/* Creates the view, after the heap has been added to the series. */
struct g2h_error *taken_view(const struct taken_options *options, struct taken *taken)
{
    const struct g2h_view_options view = {.reachable = !options->garbage &&
                                                       g2h_heap_is_complete(taken->made.heap),
                                          .max_nodes = options->max_nodes};
    return pipeline_view(&taken->made, &view, NULL);
}

/* ---- its end ---- */

/* Frees all but the heap and its input, with which the next snapshot is compared. */
void taken_forget(struct taken *taken)
{
    struct g2h_input *input = take_pointer(taken->made.origin.input);
    struct g2h_heap *heap = take_pointer(taken->made.heap);
    free(taken->ids);
    g2h_dominators_destroy(taken->dominators);
    g2h_values_destroy(taken->values);
    g2h_values_destroy(taken->inner);
    g2h_edges_destroy(taken->edges);
    pipeline_deinit(&taken->made);
    *taken = (struct taken){.made.origin.input = input, .made.heap = heap};
}

void taken_deinit(struct taken *taken)
{
    taken_forget(taken);
    pipeline_deinit(&taken->made);
    *taken = (struct taken){.number = 0};
}

/* ---- ids ---- */

/* Returns the id that a node has in the series, or 0 if it has none. */
uint32_t taken_id(const struct taken *taken, uint32_t number)
{
    struct g2h_node node;
    uint32_t id = 0;
    g2h_view_brief(taken->made.view, number, &node);
    if (node.object != UINT32_MAX)
        return g2h_identity_object(taken->identity, node.object);
    return node.members == 0 && g2h_identity_find_node(taken->identity, node.kind, node.key, &id)
               ? id
               : 0;
}

/* Orders pairs of an id and a node. */
static int taken_compare(const void *a, const void *b)
{
    const uint64_t *one = a;
    const uint64_t *other = b;
    return COMPARE(*one, *other);
}

/* Lists the nodes by their ids in the snapshot, ascending: taken_find() bisects there. */
static struct g2h_error *find_ids(struct taken *taken)
{
    const uint32_t count = g2h_view_node_count(taken->made.view);
    uint64_t *ids = block_alloc(count_and_end(count), sizeof(*ids));
    TRY_MEMORY(ids);
    for (uint32_t i = 0; i < count; i++)
        ids[i] = pair_key(taken_id(taken, i), i);
    qsort(ids, count, sizeof(*ids), taken_compare);
    taken->ids = ids;
    taken->id_count = count;
    assert(IS_ORDERED(i, count, ids[i - 1] < ids[i]));
    return NULL;
}

/* Finds the node with an id by an index, which is made when it is first needed. *ret is UINT32_MAX
 * if there is none. */
struct g2h_error *taken_find(struct taken *taken, uint32_t id, uint32_t *ret)
{
    *ret = UINT32_MAX;
    if (!taken->ids)
        TRY(find_ids(taken));
    size_t at;
    BISECT(at, taken->id_count, taken->ids[at] >> 32 < id);
    if (id != 0 && at < taken->id_count && taken->ids[at] >> 32 == id)
        *ret = (uint32_t)taken->ids[at];
    return NULL;
}

/* ---- created on demand ---- */

/* Creates the iterators over edges and values, unless they exist. */
struct g2h_error *taken_need_iterators(struct taken *taken)
{
    if (!taken->edges)
        TRY(g2h_edges_create(taken->made.view, &taken->edges));
    if (!taken->values)
        TRY(g2h_values_create(taken->made.view, &taken->values));
    return taken->inner ? NULL : g2h_values_create(taken->made.view, &taken->inner);
}

/* Computes the dominators, unless they are known. */
struct g2h_error *taken_need_dominators(struct taken *taken)
{
    return taken->dominators ? NULL : g2h_view_dominators(taken->made.view, &taken->dominators);
}

/* ==== the source files that snapshots link ==== */

/* ---- where code is ---- */

struct locating {
    struct scripts *scripts;
    const struct taken *taken;
    code_locations *locations;
    struct g2h_code_location *by_name; /* of closures; script is 0 if not known yet */
};

/* Gets the script of a file, and the line in it, which DevTools counts from 0. *ret_found becomes
 * false if the line is not known, or the file has no name or one that is generated. */
static struct g2h_error *find_script(const struct locating *locating, struct g2h_bytes file,
                                     uint32_t line, bool *ret_found, struct g2h_code_location *ret)
{
    uint32_t number;
    *ret_found = line > 0 && file.size > 0 && file.size < PLACE_TEXT &&
                 file.data[0] != '<'; /* <autogenerated> */
    if (!*ret_found)
        return NULL;
    TRY_MEMORY(string_pool_intern(&locating->scripts->files, file.data, file.size, &number));
    *ret = (struct g2h_code_location){.script = number + 1, .line = line - 1};
    return NULL;
}

/* Gets the script and the line of code at an address. *ret_found becomes false if they are not
 * known. */
static struct g2h_error *find_line(const struct locating *locating, uint64_t pc, bool *ret_found,
                                   struct g2h_code_location *ret)
{
    struct g2h_line line;
    *ret_found = pc != 0 && g2h_exe_line(locating->taken->made.origin.exe, pc, &line);
    return *ret_found ? find_script(locating, line.file, line.line, ret_found, ret) : NULL;
}

/* Adds the location of a node. */
static struct g2h_error *scripts_add(const struct locating *locating, uint32_t node,
                                     const struct g2h_code_location *location)
{
    const struct g2h_code_location own = {node, location->script, location->line};
    TRY_MEMORY(vector_push(locating->locations, own));
    return NULL;
}

/* Locates a node at the line of code at an address; nothing if that is not known, or the view has
 * no such node. */
static struct g2h_error *locate(const struct locating *locating, uint32_t node, uint64_t pc)
{
    struct g2h_code_location location;
    bool found;
    TRY(find_line(locating, pc, &found, &location));
    return found && node != UINT32_MAX ? scripts_add(locating, node, &location) : NULL;
}

/* Locates a frame at the line of its own function, or of what a wrapper calls, as its name has it:
 * that is the last of the calls at its program counter, which are inlined in each other, that is
 * not a wrapper. Without such a line, the program counter's counts. */
static struct g2h_error *locate_frame(const struct locating *locating, size_t number, uint32_t node,
                                      uint64_t pc)
{
    struct g2h_code_location location;
    struct g2h_view_call call, own = {0};
    bool found;
    for (uint32_t i = 0; g2h_view_call(locating->taken->made.view, number, i, &call); i++)
        if (!call.is_wrapper || i == 0)
            own = call;
    TRY(find_script(locating, own.file, own.line, &found, &location));
    if (!found)
        return locate(locating, node, pc);
    return node != UINT32_MAX ? scripts_add(locating, node, &location) : NULL;
}

/* Returns whether a function is one of the runtime's, which is not where a goroutine is. */
static bool is_of_runtime(struct g2h_bytes function)
{
    static const char prefix[] = "runtime.";
    return function.size > strlen(prefix) && memcmp(function.data, prefix, strlen(prefix)) == 0;
}

/* Locates a goroutine at the function that its name says, inlined or not. *ret_found becomes false
 * if there is none whose line is known. */
static struct g2h_error *locate_at(const struct locating *locating,
                                   const struct g2h_view_goroutine *goroutine, bool *ret_found)
{
    struct g2h_code_location location;
    struct g2h_view_call call;
    *ret_found = false;
    for (uint32_t i = 0; i < goroutine->frame_count; i++)
        for (uint32_t of = 0; g2h_view_call(locating->taken->made.view,
                                            goroutine->first_frame + (size_t)i, of, &call);
             of++) {
            if (call.number != goroutine->at)
                continue;
            TRY(find_script(locating, call.file, call.line, ret_found, &location));
            return *ret_found ? scripts_add(locating, goroutine->node, &location) : NULL;
        }
    return NULL;
}

/* Locates a goroutine, at the line in its name or, if that has none, at its innermost frame that is
 * not the runtime's, and its frames. Several goroutines, one after the other, may have one node,
 * which only the first of them locates: *last_node is that of the one before, and becomes this
 * one's. */
static struct g2h_error *locate_goroutine(const struct locating *locating,
                                          const struct g2h_view_goroutine *goroutine,
                                          uint32_t *last_node)
{
    const struct g2h_view *view = locating->taken->made.view;
    struct g2h_bytes callee;
    bool is_located = goroutine->node == *last_node || goroutine->node == UINT32_MAX;
    if (!is_located && goroutine->at != UINT32_MAX)
        TRY(locate_at(locating, goroutine, &is_located));
    for (uint32_t i = 0; i < goroutine->frame_count; i++) {
        struct g2h_view_frame frame;
        g2h_view_frame(view, goroutine->first_frame + (size_t)i, &frame);
        const uint64_t pc = roots_position_pc(frame.pc, frame.entry, i > 0 ? &callee : NULL);
        callee = frame.function;
        TRY(locate_frame(locating, goroutine->first_frame + (size_t)i, frame.node, pc));
        if (is_located || is_of_runtime(frame.function))
            continue;
        is_located = true;
        TRY(locate(locating, goroutine->node, pc));
    }
    *last_node = goroutine->node;
    return NULL;
}

/* Returns the first word of an object, in the dump's byte order; 0 if the dump does not have it. */
static uint64_t first_word(const struct taken *taken, uint32_t object)
{
    const struct g2h_params *params = g2h_heap_params(taken->made.heap);
    const struct g2h_object of = g2h_heap_object(taken->made.heap, object);
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
    return found ? scripts_add(locating, number, known) : NULL;
}

/* Finds the source lines of nodes that have one: go statements and closures. */
static struct g2h_error *locate_nodes(const struct locating *locating)
{
    enum { MANY = 64 /* nodes that are read at a time */ };
    const struct g2h_view *view = locating->taken->made.view;
    struct g2h_node nodes[MANY];
    size_t count;
    for (uint32_t first = 0; (count = g2h_view_nodes(view, first, MANY, nodes)) > 0;
         first += as_u32(count))
        for (uint32_t i = 0; i < count; i++) {
            const struct g2h_node *node = &nodes[i];
            if (node->kind == G2H_NODE_CREATION_SITE)
                TRY(locate(locating, first + i, node->key - 1)); /* a pc after the statement */
            if (node->kind == G2H_NODE_OBJECT && node->object != UINT32_MAX &&
                g2h_view_class_form(view, node->name) == G2H_FORM_CLOSURE)
                TRY(locate_closure(locating, first + i, node));
        }
    return NULL;
}

/* Locates the lines of goroutines, go statements and closures. None without an executable. */
struct g2h_error *scripts_locate(struct scripts *scripts, const struct taken *taken,
                                 code_locations *ret)
{
    struct locating locating = {scripts, taken, ret, NULL};
    uint32_t last_node = UINT32_MAX;
    if (!taken->made.origin.exe)
        return NULL;
    _cleanup_free_ struct g2h_code_location *by_name =
        calloc(count_and_end(g2h_view_name_count(taken->made.view)), sizeof(*by_name));
    TRY_MEMORY(by_name);
    locating.by_name = by_name;
    for (size_t i = 0; i < g2h_view_goroutine_count(taken->made.view); i++) {
        struct g2h_view_goroutine goroutine;
        g2h_view_goroutine(taken->made.view, i, &goroutine);
        TRY(locate_goroutine(&locating, &goroutine, &last_node));
    }
    return locate_nodes(&locating);
}

/* ---- the files ---- */

/* Appends an event for each file, as DevTools gets for scripts: a line each. */
void scripts_append_events(const struct scripts *scripts, struct text *text)
{
    for (uint32_t i = 0; i < scripts->files.count; i++) {
        _cleanup_(text_deinit) struct text url = {0};
        size_t size;
        const char *file = string_pool_text(&scripts->files, i, &size);
        text_printf(&url, size > 0 && *file == '/' ? "file://" : "file:///");
        text_append_utf8(&url, file, size, PLACE_TEXT);
        text_printf(text,
                    "{\"method\":\"Debugger.scriptParsed\",\"params\":{\"scriptId\":\"%" PRIu32
                    "\",\"url\":",
                    i + 1);
        json_write(text, url.data, url.size);
        text_printf(text,
                    ",\"startLine\":0,\"startColumn\":0,\"endLine\":1000000,\"endColumn\":0,"
                    "\"executionContextId\":1,\"hash\":\"\",\"isModule\":false,\"length\":0}}\n");
    }
}

/* Appends the path of a file below a directory, which may be at another depth in the line table:
 * example.com/app/pkg/file.go is DIRECTORY/pkg/file.go. Tries the path with fewer and fewer parts
 * at its begin; if no such file can be read, appends the last one tried. Returns false if memory
 * runs out, or if the path has "..". */
static bool append_below(const char *directory, const char *file, size_t size, struct text *text)
{
    const size_t before = text->size;
    if (memmem(file, size, "..", 2))
        return false;
    for (const char *at = file;; at++) {
        text->size = before;
        text_append_string(text, directory);
        text_append_string(text, "/");
        text_append(text, at, as_size(file + size - at));
        text_append(text, "", 1);
        if (text->failed || access(text->data + before, R_OK) == 0)
            break;
        at = memchr(at, '/', as_size(file + size - at));
        if (!at)
            break;
    }
    text->size -= text->size > before;
    return !text->failed;
}

/* Appends the path of a file by its number. One that is relative is looked for below the directory
 * of --source. Returns false if there is no such file, or if memory runs out. */
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
