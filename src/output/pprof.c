/*
 * pprof: what holds the memory, as `go tool pprof` shows profiles: its graph, its flame graph, its
 * text.
 *
 * The format is profile.proto (github.com/google/pprof/proto), a protocol buffer that is compressed
 * by gzip. Each node of the merged tree of dominators is a sample, whose stack is the way from the
 * root to it: so what pprof calls cum is what a node retains, and flat is what it takes itself.
 */
#include <string.h>

#include "base/scope.h"
#include "output/merged.h"
#include "output/sink.h"

/* Frames of a stack; of a longer one the outermost and the innermost half. */
enum { MOST_FRAMES = 512 };

/* Fields of messages, by their numbers. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING_TABLE = 6,
    PROFILE_DEFAULT_SAMPLE_TYPE = 14,
    VALUE_TYPE_TYPE = 1,
    VALUE_TYPE_UNIT = 2,
    SAMPLE_LOCATION_ID = 1,
    SAMPLE_VALUE = 2,
    MAPPING_ID = 1,
    MAPPING_FILENAME = 5,
    MAPPING_HAS_FUNCTIONS = 7,
    LOCATION_ID = 1,
    LOCATION_MAPPING_ID = 2,
    LOCATION_LINE = 4,
    LINE_FUNCTION_ID = 1,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILENAME = 4,
};

struct profile {
    const struct merged *merged;
    const char *program; /* NULL: not known */
    struct worker_buffer *out;
    struct worker_buffer message; /* that is being made */
    struct string_pool strings;   /* the table; 0 is the empty one */
    struct map functions;         /* name and kind → number of the function, from 1 on */
    uint32_t function_count;
    VECTOR(uint32_t) function_of; /* node of merged → function */
};

/* ---- messages ---- */

static bool put_varint(struct worker_buffer *buffer, uint64_t value)
{
    char *at = worker_buffer_reserve(buffer, 10);
    if (!at)
        return false;
    do {
        *at++ = (char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        buffer->size++;
    } while ((value >>= 7) != 0);
    return true;
}

enum { VARINT = 0, BYTES = 2 };

static bool put_number(struct worker_buffer *buffer, unsigned field, uint64_t value)
{
    return put_varint(buffer, field << 3 | VARINT) && put_varint(buffer, value);
}

static bool put_bytes(struct worker_buffer *buffer, unsigned field, const char *data, size_t size)
{
    char *at = put_varint(buffer, field << 3 | BYTES) && put_varint(buffer, size)
                   ? worker_buffer_reserve(buffer, size)
                   : NULL;
    if (!at)
        return false;
    if (size > 0)
        memcpy(at, data, size);
    buffer->size += size;
    return true;
}

/* Puts the message that has been made, and empties it. */
static bool put_message(struct profile *profile, unsigned field)
{
    struct worker_buffer *message = &profile->message;
    const bool good = put_bytes(profile->out, field, message->data, message->size);
    message->size = 0;
    return good;
}

static bool put_string(struct profile *profile, struct worker_buffer *buffer, unsigned field,
                       const char *text, size_t size)
{
    uint32_t number;
    return string_pool_intern(&profile->strings, text, size, &number) &&
           put_number(buffer, field, number);
}

static bool put_text(struct profile *profile, unsigned field, const char *text)
{
    return put_string(profile, &profile->message, field, text, strlen(text));
}

/* ---- functions: names ---- */

/* The package of a class, by its name: "map[string]*http.conn" is of http. What has none is Go's
 * own. */
static void package_of(const char *name, size_t size, const char **ret, size_t *ret_size)
{
    static const char builtin[] = "builtin";
    size_t begin = 0, end = size;
    for (size_t i = 0, depth = 0; i < size;
         i++) { /* behind the last bracket that is before a name */
        depth += name[i] == '[';
        depth -= name[i] == ']' && depth > 0;
        if (depth > 0 && i > begin && name[begin] != '[' && strncmp(name + begin, "map[", 4) != 0) {
            end = i; /* arguments of a generic type */
            break;
        }
        if (depth == 0 && (name[i] == ']' || name[i] == '*' || name[i] == ' '))
            begin = i + 1;
    }
    for (size_t i = end; i-- > begin;)
        if (name[i] == '.') {
            *ret = name + begin;
            *ret_size = i - begin;
            return;
        }
    *ret = builtin;
    *ret_size = sizeof(builtin) - 1;
}

/* Where a function would be, in pprof's words. */
static void file_of(const struct profile *profile, uint32_t node, const char **ret,
                    size_t *ret_size)
{
    const struct merged_node *nodes = profile->merged->nodes.data;
    static const char roots[] = "roots";
    size_t size;
    const char *name = merged_name(profile->merged, node, &size);
    if (nodes[node].kind == MERGED_CLASS) {
        package_of(name, size, ret, ret_size);
    } else if (nodes[node].kind == MERGED_VARIABLE) {
        *ret = merged_name(profile->merged, nodes[node].parent, ret_size);
    } else {
        *ret = roots;
        *ret_size = sizeof(roots) - 1;
    }
}

/* A variable is called as Go does: by its package, too. */
static bool put_function_name(struct profile *profile, uint32_t node)
{
    const struct merged_node *nodes = profile->merged->nodes.data;
    size_t size, package_size = 0;
    const char *name = merged_name(profile->merged, node, &size), *package = NULL;
    char text[2048];
    if (nodes[node].kind == MERGED_VARIABLE) {
        package = merged_name(profile->merged, nodes[node].parent, &package_size);
        if (package_size > 0 && package[0] == '(')
            package_size = 0; /* of no package: who holds something */
    }
    if (package_size == 0 || package_size + 1 + size > sizeof(text))
        return put_string(profile, &profile->message, FUNCTION_NAME, name, size);
    memcpy(text, package, package_size);
    text[package_size] = '.';
    memcpy(text + package_size + 1, name, size);
    return put_string(profile, &profile->message, FUNCTION_NAME, text, package_size + 1 + size);
}

/* A function and its location, which have the same number. That its two names differ keeps pprof
 * from taking parts of it for those of C++. */
static bool put_function(struct profile *profile, uint32_t node, uint32_t number)
{
    static const char *const kinds[] = {
        [MERGED_SYNTHETIC] = "roots", [MERGED_VARIABLE] = "variable", [MERGED_CLASS] = "class"};
    const char *file;
    size_t size;
    struct worker_buffer *message = &profile->message;
    file_of(profile, node, &file, &size);
    if (!put_number(message, FUNCTION_ID, number) || !put_function_name(profile, node) ||
        !put_text(profile, FUNCTION_SYSTEM_NAME, kinds[profile->merged->nodes.data[node].kind]) ||
        !put_string(profile, message, FUNCTION_FILENAME, file, size) ||
        !put_message(profile, PROFILE_FUNCTION))
        return false;
    char line[32]; /* two numbers */
    struct worker_buffer of_line = {.data = line, .capacity = sizeof(line)};
    return put_number(&of_line, LINE_FUNCTION_ID, number) &&
           put_number(message, LOCATION_ID, number) &&
           put_number(message, LOCATION_MAPPING_ID, 1) &&
           put_bytes(message, LOCATION_LINE, of_line.data, of_line.size) &&
           put_message(profile, PROFILE_LOCATION);
}

static struct g2h_error *put_functions(struct profile *profile)
{
    const struct merged *merged = profile->merged;
    for (uint32_t node = 0; node < merged->nodes.count; node++) {
        const struct merged_node *of = &merged->nodes.data[node];
        const uint64_t owner =
            of->kind == MERGED_VARIABLE ? merged->nodes.data[of->parent].name + (uint64_t)1 : 0;
        const uint64_t key = map_hash_pair(owner << 2 | of->kind, of->name);
        uint32_t number = profile->function_count + 1;
        TRY_MEMORY(map_put(&profile->functions, key, number, &number));
        if (number > profile->function_count) {
            profile->function_count = number;
            TRY_MEMORY(put_function(profile, node, number));
        }
        TRY_MEMORY(vector_push(&profile->function_of, number));
    }
    return NULL;
}

/* ---- samples ---- */

/* The way from a node up to the root, without the root itself. */
static bool put_stack(struct profile *profile, struct worker_buffer *ids, uint32_t node)
{
    const struct merged_node *nodes = profile->merged->nodes.data;
    size_t depth = 0, at = 0;
    for (uint32_t i = node; nodes[i].parent != MERGED_NONE; i = nodes[i].parent)
        depth++;
    ids->size = 0;
    for (uint32_t i = node; nodes[i].parent != MERGED_NONE; i = nodes[i].parent, at++)
        if ((at < MOST_FRAMES / 2 || depth - at <= MOST_FRAMES / 2) &&
            !put_varint(ids, profile->function_of.data[i]))
            return false;
    return true;
}

static bool put_sample(struct profile *profile, struct worker_buffer *scratch, uint32_t node)
{
    const struct merged_node *of = &profile->merged->nodes.data[node];
    struct worker_buffer *message = &profile->message;
    if (!put_stack(profile, scratch, node) ||
        !put_bytes(message, SAMPLE_LOCATION_ID, scratch->data, scratch->size))
        return false;
    scratch->size = 0;
    return put_varint(scratch, of->kind == MERGED_CLASS ? of->count : 0) &&
           put_varint(scratch, of->bytes) &&
           put_bytes(message, SAMPLE_VALUE, scratch->data, scratch->size) &&
           put_message(profile, PROFILE_SAMPLE);
}

static struct g2h_error *put_samples(struct profile *profile)
{
    const struct merged *merged = profile->merged;
    struct worker_buffer scratch = {0};
    bool good = true;
    for (uint32_t node = 1; node < merged->nodes.count && good; node++)
        if (merged->nodes.data[node].bytes > 0)
            good = put_sample(profile, &scratch, node);
    worker_buffer_deinit(&scratch);
    return good ? NULL : &error_no_memory;
}

/* ---- all of it ---- */

static bool put_sample_type(struct profile *profile, const char *type, const char *unit)
{
    return put_text(profile, VALUE_TYPE_TYPE, type) && put_text(profile, VALUE_TYPE_UNIT, unit) &&
           put_message(profile, PROFILE_SAMPLE_TYPE);
}

static bool put_mapping(struct profile *profile)
{
    return put_number(&profile->message, MAPPING_ID, 1) &&
           (!profile->program || put_text(profile, MAPPING_FILENAME, profile->program)) &&
           put_number(&profile->message, MAPPING_HAS_FUNCTIONS, 1) &&
           put_message(profile, PROFILE_MAPPING);
}

static bool put_strings(struct profile *profile)
{
    for (uint32_t i = 0; i < profile->strings.count; i++) {
        size_t size;
        const char *text = string_pool_text(&profile->strings, i, &size);
        if (!put_bytes(profile->out, PROFILE_STRING_TABLE, text, size))
            return false;
    }
    return true;
}

static struct g2h_error *put_profile(struct profile *profile)
{
    static const char usual[] = "space";
    uint32_t number;
    TRY_MEMORY(string_pool_intern(&profile->strings, "", 0, &number) &&
               put_sample_type(profile, "objects", "count") &&
               put_sample_type(profile, usual, "bytes") && put_mapping(profile));
    TRY(put_functions(profile));
    TRY(put_samples(profile));
    TRY_MEMORY(
        put_string(profile, profile->out, PROFILE_DEFAULT_SAMPLE_TYPE, usual, sizeof(usual) - 1) &&
        put_strings(profile));
    return NULL;
}

static void profile_deinit(struct profile *profile)
{
    worker_buffer_deinit(&profile->message);
    string_pool_deinit(&profile->strings);
    map_deinit(&profile->functions);
    free(profile->function_of.data);
}

struct source {
    const struct merged *merged;
    const char *program;
};

static struct g2h_error *produce(void *context, size_t task, unsigned worker,
                                 struct worker_buffer *buffer)
{
    const struct source *source = context;
    _cleanup_(profile_deinit) struct profile profile = {
        .merged = source->merged, .program = source->program, .out = buffer};
    (void)task, (void)worker;
    return put_profile(&profile);
}

struct g2h_error *g2h_write_pprof(const struct g2h_view *view,
                                  const struct g2h_dominators *dominators,
                                  const struct g2h_output_options *options)
{
    _cleanup_(merged_deinit) struct merged merged = {0};
    struct g2h_output_options packed = *options;
    packed.gzip = true;
    TRY(merged_make(view, dominators, options->threads, &merged));
    struct source source = {&merged, options->program};
    return sink_run(&packed, 1, 1, produce, &source);
}
