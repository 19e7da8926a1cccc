/*
 * pprof_retained: writes what holds the memory, as a profile that `go tool pprof` shows as a graph,
 * as a flame graph and as text.
 *
 * Each node of the merged tree of dominators is a sample, whose stack is the path from the root to
 * the node. So pprof's cum is what a node retains, and flat is its own size.
 */
#include <string.h>

#include "base/option_size.h"
#include "base/scope.h"
#include "findings/merged.h"
#include "output/pprof/profile.h"

/* The most frames of a stack. Longer stacks keep the outermost and the innermost half of this
 * number. */
enum { MOST_FRAMES = 256 };

/* The depth of a node, and where a long stack that ends at the node continues after its innermost
 * half, so that the omitted part need not be walked. */
struct pprof_retained_path {
    uint32_t depth, outer; /* outer: the node above that is MOST_FRAMES / 2 from the root */
};

struct retained {
    struct profile profile;
    const struct merged *merged;
    const char *program;  /* NULL: not known */
    struct map functions; /* name and kind → number of the function, from 1 on */
    uint32_t function_count;
    VECTOR(uint32_t) function_of;               /* node of merged → function */
    VECTOR(struct pprof_retained_path) path_to; /* by node of merged */
};

/* ---- functions ---- */

/* Finds the file of a node's function, as pprof calls it. */
static void pprof_retained_file_of(const struct retained *retained, uint32_t node, const char **ret,
                                   size_t *ret_size)
{
    const struct merged_node *nodes = retained->merged->nodes.data;
    static const char roots[] = "roots";
    size_t size;
    const char *name = merged_name(retained->merged, node, &size);
    if (nodes[node].kind == MERGED_CLASS) {
        package_of_class(name, size, ret, ret_size);
    } else if (nodes[node].kind == MERGED_VARIABLE) {
        *ret = merged_name(retained->merged, nodes[node].parent, ret_size);
    } else {
        *ret = roots;
        *ret_size = sizeof(roots) - 1;
    }
}

/* Appends the name of a node's function. A variable's begins with its package, as in Go. */
static bool put_function_name(struct retained *retained, uint32_t node)
{
    const struct merged_node *nodes = retained->merged->nodes.data;
    size_t size, package_size = 0;
    const char *name = merged_name(retained->merged, node, &size), *package = NULL;
    char text[2048];
    if (nodes[node].kind == MERGED_VARIABLE) {
        package = merged_name(retained->merged, nodes[node].parent, &package_size);
        if (package_size > 0 && package[0] == '(')
            package_size = 0; /* not a package, but groups that hold something */
    }
    if (package_size == 0 || package_size + 1 + size > sizeof(text))
        return profile_put_string(&retained->profile, &retained->profile.message, FUNCTION_NAME,
                                  name, size);
    memcpy(text, package, package_size);
    text[package_size] = '.';
    memcpy(text + package_size + 1, name, size);
    return profile_put_string(&retained->profile, &retained->profile.message, FUNCTION_NAME, text,
                              package_size + 1 + size);
}

/* Appends a function and its location, which have the same number. The function's two names differ
 * so that pprof does not remove parts of the name that it would take for C++'s. */
static bool pprof_retained_put_function(struct retained *retained, uint32_t node, uint32_t number)
{
    static const char *const kinds[] = {
        [MERGED_SYNTHETIC] = "roots", [MERGED_VARIABLE] = "variable", [MERGED_CLASS] = "class"};
    const char *file;
    size_t size;
    struct worker_buffer *message = &retained->profile.message;
    pprof_retained_file_of(retained, node, &file, &size);
    if (!profile_put_number(message, FUNCTION_ID, number) || !put_function_name(retained, node) ||
        !profile_put_text(&retained->profile, FUNCTION_SYSTEM_NAME,
                          kinds[retained->merged->nodes.data[node].kind]) ||
        !profile_put_string(&retained->profile, message, FUNCTION_FILENAME, file, size) ||
        !profile_put_message(&retained->profile, PROFILE_FUNCTION))
        return false;
    char line[32]; /* space for two numbers */
    struct worker_buffer of_line = {.data = line, .capacity = sizeof(line)};
    return profile_put_number(&of_line, LINE_FUNCTION_ID, number) &&
           profile_put_number(message, LOCATION_ID, number) &&
           profile_put_number(message, LOCATION_MAPPING_ID, 1) &&
           profile_put_bytes(message, LOCATION_LINE, of_line.data, of_line.size) &&
           profile_put_message(&retained->profile, PROFILE_LOCATION);
}

static struct g2h_error *put_functions(struct retained *retained)
{
    const struct merged *merged = retained->merged;
    for (uint32_t node = 0; node < merged->nodes.count; node++) {
        const struct merged_node *of = &merged->nodes.data[node];
        const uint64_t owner =
            of->kind == MERGED_VARIABLE ? merged->nodes.data[of->parent].name + (uint64_t)1 : 0;
        const uint64_t key = map_hash_pair(owner << 2 | of->kind, of->name);
        uint32_t number = retained->function_count + 1;
        TRY_MEMORY(map_put(&retained->functions, key, number, &number));
        if (number > retained->function_count) {
            retained->function_count = number;
            TRY_MEMORY(pprof_retained_put_function(retained, node, number));
        }
        TRY_MEMORY(vector_push(&retained->function_of, number));
    }
    return NULL;
}

/* ---- samples ---- */

/* Finds the paths to all nodes; a node's parent comes before it. */
static struct g2h_error *find_paths(struct retained *retained)
{
    const struct merged *merged = retained->merged;
    TRY_MEMORY(vector_grow(&retained->path_to, merged->nodes.count));
    for (uint32_t node = 0; node < merged->nodes.count; node++) {
        const uint32_t parent = merged->nodes.data[node].parent;
        struct pprof_retained_path path = {.outer = node};
        if (parent != MERGED_NONE) {
            path.depth = retained->path_to.data[parent].depth + 1;
            if (path.depth > MOST_FRAMES / 2)
                path.outer = retained->path_to.data[parent].outer;
        }
        retained->path_to.data[retained->path_to.count++] = path;
    }
    return NULL;
}

/* Appends the path from a node up to the root, without the root. */
static bool pprof_retained_put_stack(struct retained *retained, struct worker_buffer *ids,
                                     uint32_t node)
{
    const struct merged_node *nodes = retained->merged->nodes.data;
    const struct pprof_retained_path path = retained->path_to.data[node];
    uint32_t put = 0;
    ids->size = 0;
    for (uint32_t i = node; nodes[i].parent != MERGED_NONE; i = nodes[i].parent) {
        if (put++ == MOST_FRAMES / 2 && path.depth > MOST_FRAMES)
            i = path.outer;
        if (!profile_put_varint(ids, retained->function_of.data[i]))
            return false;
    }
    return true;
}

static bool pprof_retained_put_sample(struct retained *retained, struct worker_buffer *scratch,
                                      uint32_t node)
{
    const struct merged_node *of = &retained->merged->nodes.data[node];
    struct worker_buffer *message = &retained->profile.message;
    if (!pprof_retained_put_stack(retained, scratch, node) ||
        !profile_put_bytes(message, SAMPLE_LOCATION_ID, scratch->data, scratch->size))
        return false;
    scratch->size = 0;
    return profile_put_varint(scratch, of->kind == MERGED_CLASS ? of->count : 0) &&
           profile_put_varint(scratch, of->bytes) &&
           profile_put_bytes(message, SAMPLE_VALUE, scratch->data, scratch->size) &&
           profile_put_message(&retained->profile, PROFILE_SAMPLE);
}

static struct g2h_error *put_samples(struct retained *retained)
{
    const struct merged *merged = retained->merged;
    struct worker_buffer scratch = {0};
    bool good = true;
    for (uint32_t node = 1; node < merged->nodes.count && good; node++)
        if (merged->nodes.data[node].bytes > 0)
            good = pprof_retained_put_sample(retained, &scratch, node);
    worker_buffer_deinit(&scratch);
    return good ? NULL : &error_no_memory;
}

/* ---- the whole profile ---- */

static struct g2h_error *pprof_retained_put_profile(struct retained *retained)
{
    static const char usual[] = "space";
    struct profile *profile = &retained->profile;
    TRY_MEMORY(profile_put_type(profile, PROFILE_SAMPLE_TYPE, "objects", "count") &&
               profile_put_type(profile, PROFILE_SAMPLE_TYPE, usual, "bytes") &&
               profile_put_mapping(profile, retained->program, 1 << MAPPING_HAS_FUNCTIONS));
    TRY(put_functions(retained));
    TRY(find_paths(retained));
    TRY(put_samples(retained));
    TRY_MEMORY(profile_put_string(profile, profile->out, PROFILE_DEFAULT_SAMPLE_TYPE, usual,
                                  sizeof(usual) - 1) &&
               profile_put_strings(profile));
    return NULL;
}

static void retained_deinit(struct retained *retained)
{
    profile_deinit(&retained->profile);
    map_deinit(&retained->functions);
    free(retained->function_of.data);
    free(retained->path_to.data);
}

struct pprof_retained_source {
    const struct merged *merged;
    const char *program;
};

static struct g2h_error *pprof_retained_produce(void *context, size_t task, unsigned worker,
                                                struct worker_buffer *buffer)
{
    const struct pprof_retained_source *source = context;
    _cleanup_(retained_deinit) struct retained retained = {.merged = source->merged,
                                                           .program = source->program};
    (void)task, (void)worker;
    TRY_MEMORY(profile_init(&retained.profile, buffer));
    return pprof_retained_put_profile(&retained);
}

struct g2h_error *g2h_write_pprof(const struct g2h_view *view,
                                  const struct g2h_dominators *dominators,
                                  const struct g2h_output_options *given)
{
    struct g2h_output_options known;
    const struct g2h_output_options *options = OPTIONS_COPY(&known, given);
    _cleanup_(merged_deinit) struct merged merged = {0};
    TRY(merged_make(view, dominators, options->threads, false, &merged));
    struct pprof_retained_source source = {&merged, options->program};
    return profile_write(options, pprof_retained_produce, &source);
}
