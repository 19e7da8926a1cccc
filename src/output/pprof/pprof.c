/*
 * pprof: writes who holds the memory, or who allocated it, as a profile that `go tool pprof` shows
 * as a graph, as a flame graph and as text. Three parts: the messages of such a profile; who holds
 * the memory, by the merged tree of dominators (g2h_write_pprof()); and who allocated it, by the
 * dump's records of runtime.MemProfile (g2h_write_pprof_alloc()).
 */
#include <stdint.h>
#include <string.h>

#include <go2heapsnapshot/exe.h>
#include <go2heapsnapshot/heap.h>
#include <go2heapsnapshot/output.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/strings.h"
#include "base/text.h"
#include "findings/allocated.h"
#include "findings/merged.h"
#include "output/sink.h"

/* ==== the messages of profile.proto (github.com/google/pprof/proto) ====
 *
 * A message is made in profile->message, and then put into the message that it is part of: the
 * profile itself, or one that the caller makes. Functions return false if memory runs out.
 */

/* The numbers of fields, by message. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING_TABLE = 6,
    PROFILE_TIME_NANOS = 9,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    PROFILE_DEFAULT_SAMPLE_TYPE = 14,
    VALUE_TYPE_TYPE = 1,
    VALUE_TYPE_UNIT = 2,
    SAMPLE_LOCATION_ID = 1,
    SAMPLE_VALUE = 2,
    SAMPLE_LABEL = 3,
    LABEL_KEY = 1,
    LABEL_NUM = 3,
    MAPPING_ID = 1,
    MAPPING_FILENAME = 5,
    MAPPING_HAS_FUNCTIONS = 7,
    MAPPING_HAS_FILENAMES = 8,
    MAPPING_HAS_LINE_NUMBERS = 9,
    MAPPING_HAS_INLINE_FRAMES = 10,
    LOCATION_ID = 1,
    LOCATION_MAPPING_ID = 2,
    LOCATION_LINE = 4,
    LINE_FUNCTION_ID = 1,
    LINE_LINE = 2,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILENAME = 4,
    FUNCTION_START_LINE = 5,
};

struct profile {
    struct worker_buffer *out;    /* the profile's bytes */
    struct worker_buffer message; /* the message that is being made */
    struct string_pool strings;   /* the table of strings; string 0 is the empty one */
};

/* Wire types of protocol buffers (VARINT, LEN). A field begins with a tag: its number << 3, and the
 * wire type. */
enum { VARINT = 0, BYTES = 2 };

/* All functions below that return bool return false if memory runs out. */

/* Begins a profile, whose bytes are appended to out. */
static bool profile_init(struct profile *profile, struct worker_buffer *out)
{
    uint32_t number;
    *profile = (struct profile){.out = out};
    return string_pool_intern(&profile->strings, "", 0, &number);
}

static void profile_deinit(struct profile *profile)
{
    worker_buffer_deinit(&profile->message);
    string_pool_deinit(&profile->strings);
}

/* Appends a varint without a field, as packed fields contain them: 7 bits a byte. */
static bool profile_put_varint(struct worker_buffer *buffer, uint64_t value)
{
    enum { LONGEST = (64 + 6) / 7 };
    char *at = worker_buffer_reserve(buffer, LONGEST);
    if (!at)
        return false;
    do {
        *at++ = (char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        buffer->size++;
    } while ((value >>= 7) != 0);
    return true;
}

/* Appends a field that is a number. 0 is left out: readers take what is not there for 0. */
static bool profile_put_number(struct worker_buffer *buffer, unsigned field, uint64_t value)
{
    return value == 0 ||
           (profile_put_varint(buffer, field << 3 | VARINT) && profile_put_varint(buffer, value));
}

/* Appends a field that is bytes: a message, a string of the table, or packed numbers. */
static bool profile_put_bytes(struct worker_buffer *buffer, unsigned field, const char *data,
                              size_t size)
{
    return profile_put_varint(buffer, field << 3 | BYTES) && profile_put_varint(buffer, size) &&
           worker_buffer_put(buffer, data, size);
}

/* Appends a field that is a string, by its number in the table of strings. */
static bool profile_put_string(struct profile *profile, struct worker_buffer *buffer,
                               unsigned field, const char *text, size_t size)
{
    uint32_t number;
    return string_pool_intern(&profile->strings, text, size, &number) &&
           profile_put_number(buffer, field, number);
}

/* Appends a NUL-terminated string as a field of profile->message. */
static bool profile_put_text(struct profile *profile, unsigned field, const char *text)
{
    return profile_put_string(profile, &profile->message, field, text, strlen(text));
}

/* Appends profile->message as a field of the profile, and empties it. */
static bool profile_put_message(struct profile *profile, unsigned field)
{
    struct worker_buffer *message = &profile->message;
    const bool good = profile_put_bytes(profile->out, field, message->data, message->size);
    message->size = 0;
    return good;
}

/* Appends a ValueType; field is PROFILE_SAMPLE_TYPE or PROFILE_PERIOD_TYPE. */
static bool profile_put_type(struct profile *profile, unsigned field, const char *type,
                             const char *unit)
{
    return profile_put_text(profile, VALUE_TYPE_TYPE, type) &&
           profile_put_text(profile, VALUE_TYPE_UNIT, unit) && profile_put_message(profile, field);
}

/* Appends the only mapping, with id 1. program is its file, or NULL if unknown. flags has a bit for
 * each field from MAPPING_HAS_FUNCTIONS on that is true. */
static bool profile_put_mapping(struct profile *profile, const char *program, unsigned flags)
{
    bool good = profile_put_number(&profile->message, MAPPING_ID, 1) &&
                (!program || profile_put_text(profile, MAPPING_FILENAME, program));
    for (unsigned i = MAPPING_HAS_FUNCTIONS; i <= MAPPING_HAS_INLINE_FRAMES && good; i++)
        good = profile_put_number(&profile->message, i, flags >> i & 1);
    return good && profile_put_message(profile, PROFILE_MAPPING);
}

/* Appends a string in a form that is safe to show: go tool pprof writes it to a terminal as it
 * is. */
static bool put_shown(struct profile *profile, const char *text, size_t size)
{
    struct text shown = {0};
    text_append(&shown, text, size);
    const size_t left = shown.failed ? 0 : g2h_printable(shown.data, size);
    const bool good =
        !shown.failed && profile_put_bytes(profile->out, PROFILE_STRING_TABLE, shown.data, left);
    text_deinit(&shown);
    return good;
}

/* Appends the table of strings, which comes last. */
static bool profile_put_strings(struct profile *profile)
{
    for (uint32_t i = 0; i < profile->strings.count; i++) {
        size_t size;
        const char *text = string_pool_text(&profile->strings, i, &size);
        if (!(printable_is(text, size)
                  ? profile_put_bytes(profile->out, PROFILE_STRING_TABLE, text, size)
                  : put_shown(profile, text, size)))
            return false;
    }
    return true;
}

/* Writes the bytes that produce makes as a file for pprof. */
static struct g2h_error *profile_write(const struct g2h_output_options *options,
                                       workers_produce *produce, void *context)
{
    struct g2h_output_options packed = *options;
    packed.gzip = true;
    return sink_run(&packed, 1, 1, produce, context);
}

/* ==== who holds the memory ====
 *
 * Writes what holds the memory, as a profile that `go tool pprof` shows as a graph, as a flame
 * graph and as text.
 *
 * Each node of the merged tree of dominators is a sample, whose stack is the path from the root to
 * the node. So pprof's cum is what a node retains, and flat is its own size.
 */

/* The most frames of a stack. Longer stacks keep the outermost and the innermost half of this
 * number. */
enum { MOST_FRAMES = 256 };

/* The depth of a node, and where a long stack that ends at the node continues after its innermost
 * half, so that the omitted part need not be walked. */
struct retained_path {
    uint32_t depth, outer; /* outer: the node above that is MOST_FRAMES / 2 from the root */
};

struct retained {
    struct profile profile;
    const struct merged *merged;
    const char *program;  /* NULL: not known */
    struct map functions; /* name and kind → number of the function, from 1 on */
    uint32_t function_count;
    VECTOR(uint32_t) function_of;         /* node of merged → function */
    VECTOR(struct retained_path) path_to; /* by node of merged */
};

/* ---- functions ---- */

/* Finds what pprof shows as the file of a node's function: the package of a class or variable, for
 * others "roots". */
static void retained_file_of(const struct retained *retained, uint32_t node, const char **ret,
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

/* Appends the name of a node's function. A variable's begins with its package, as in Go, unless it
 * is below a group, or both are too long together. */
static bool put_function_name(struct retained *retained, uint32_t node)
{
    const struct merged_node *nodes = retained->merged->nodes.data;
    size_t size, package_size = 0;
    const char *name = merged_name(retained->merged, node, &size);
    const char *package = NULL;
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
static bool retained_put_function(struct retained *retained, uint32_t node, uint32_t number)
{
    static const char *const kinds[] = {
        [MERGED_SYNTHETIC] = "roots", [MERGED_VARIABLE] = "variable", [MERGED_CLASS] = "class"};
    const char *file;
    size_t size;
    struct worker_buffer *message = &retained->profile.message;
    retained_file_of(retained, node, &file, &size);
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

/* Appends a function for each name and kind of nodes, and notes the function of each node. Of
 * variables the package counts, too. */
static struct g2h_error *put_functions(struct retained *retained)
{
    const struct merged *merged = retained->merged;
    for (uint32_t node = 0; node < merged->nodes.count; node++) {
        const struct merged_node *named = &merged->nodes.data[node];
        const uint64_t package = named->kind == MERGED_VARIABLE
                                     ? merged->nodes.data[named->parent].name + UINT64_C(1)
                                     : 0; /* not a part of the key */
        const uint64_t key = map_hash_pair(package << 2 | named->kind, named->name);
        uint32_t number = retained->function_count + 1;
        TRY_MEMORY(map_put(&retained->functions, key, number, &number));
        if (number > retained->function_count) {
            retained->function_count = number;
            TRY_MEMORY(retained_put_function(retained, node, number));
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
        struct retained_path path = {.outer = node};
        if (parent != MERGED_NONE) {
            path.depth = retained->path_to.data[parent].depth + 1;
            if (path.depth > MOST_FRAMES / 2)
                path.outer = retained->path_to.data[parent].outer;
        }
        retained->path_to.data[retained->path_to.count++] = path;
    }
    return NULL;
}

/* Makes ids the path from a node up to the root, without the root: the functions' numbers. Of more
 * than MOST_FRAMES it leaves out the middle. Returns false if memory runs out. */
static bool retained_put_stack(struct retained *retained, struct worker_buffer *ids, uint32_t node)
{
    const struct merged_node *nodes = retained->merged->nodes.data;
    const struct retained_path path = retained->path_to.data[node];
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

/* Appends the sample of a node: its stack, how many objects it has (0 if it is no class), and their
 * own bytes. Returns false if memory runs out. */
static bool retained_put_sample(struct retained *retained, struct worker_buffer *scratch,
                                uint32_t node)
{
    const struct merged_node *of = &retained->merged->nodes.data[node];
    struct worker_buffer *message = &retained->profile.message;
    if (!retained_put_stack(retained, scratch, node) ||
        !profile_put_bytes(message, SAMPLE_LOCATION_ID, scratch->data, scratch->size))
        return false;
    scratch->size = 0;
    return profile_put_varint(scratch, of->kind == MERGED_CLASS ? of->count : 0) &&
           profile_put_varint(scratch, of->bytes) &&
           profile_put_bytes(message, SAMPLE_VALUE, scratch->data, scratch->size) &&
           profile_put_message(&retained->profile, PROFILE_SAMPLE);
}

/* Appends a sample for each node but the root that has bytes of its own. */
static struct g2h_error *put_samples(struct retained *retained)
{
    const struct merged *merged = retained->merged;
    struct worker_buffer scratch = {0};
    bool good = true;
    for (uint32_t node = 1; node < merged->nodes.count && good; node++)
        if (merged->nodes.data[node].bytes > 0)
            good = retained_put_sample(retained, &scratch, node);
    worker_buffer_deinit(&scratch);
    return good ? NULL : &error_no_memory;
}

/* ---- the whole profile ---- */

/* Appends the whole profile, in the order of fields that pprof's own writers have. */
static struct g2h_error *retained_put_profile(struct retained *retained)
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

struct retained_source {
    const struct merged *merged;
    const char *program;
};

/* Makes the profile, as the only task of profile_write(). */
static struct g2h_error *retained_produce(void *context, size_t task, unsigned worker,
                                          struct worker_buffer *buffer)
{
    const struct retained_source *source = context;
    _cleanup_(retained_deinit) struct retained retained = {.merged = source->merged,
                                                           .program = source->program};
    (void)task, (void)worker;
    TRY_MEMORY(profile_init(&retained.profile, buffer));
    return retained_put_profile(&retained);
}

/* Merges the dominators by class, and writes a sample per node of the merged tree: what it
 * retains. */
struct g2h_error *g2h_write_pprof(const struct g2h_view *view,
                                  const struct g2h_dominators *dominators,
                                  const struct g2h_output_options *given)
{
    struct g2h_output_options known;
    const struct g2h_output_options *options = OPTIONS_COPY(&known, given);
    _cleanup_(merged_deinit) struct merged merged = {0};
    TRY(merged_make(view, dominators, options->threads, MERGED_ISLANDS_NONE, &merged));
    struct retained_source source = {&merged, options->program};
    return profile_write(options, retained_produce, &source);
}

/* ==== who allocated the memory ====
 *
 * Writes who allocated the memory, by the dump's records of runtime.MemProfile: the heap profile
 * that runtime/pprof would have written at the same moment, as its protomem.go and proto.go do.
 *
 * A dump has less than the process: for each program counter only function, file and line. The rest
 * is found in the executable (g2h_inlining_repair()); without an executable each frame has the name
 * in the dump. Locations have no addresses, so that two calls on one line are one location.
 */

/* ---- samples of allocations, scaled to estimates ---- */

/* How many objects there were, and their bytes, of which only some were sampled. */
struct sampling_estimate {
    int64_t objects, bytes;
};

/* Returns an allocation site; see g2h_heap_record(). */
static struct g2h_memprof sampling_site(const struct g2h_heap *heap, size_t index)
{
    struct g2h_record record;
    g2h_heap_record(heap, G2H_RECORD_MEMPROF, index, &record);
    return record.memprof;
}

/* ---- scaling ---- */

/* Returns a double without its fraction, within the range of int64_t. */
static int64_t whole(double value)
{
    if (value >= (double)INT64_MAX)
        return INT64_MAX;
    return value <= (double)INT64_MIN ? INT64_MIN : (int64_t)value;
}

/* Estimates how many objects of a size there were, and their bytes, if count of them were sampled
 * (scaleHeapSample of runtime/pprof/protomem.go). */
static struct sampling_estimate sampling_scale(uint64_t count, uint64_t size, uint64_t rate)
{
    const int64_t objects = (int64_t)count;
    const int64_t bytes = (int64_t)(count * size);
    if (count == 0 || size == 0)
        return (struct sampling_estimate){0, 0};
    if (rate <= 1)
        return (struct sampling_estimate){objects, bytes};
    const double scale = g2h_sampling_scale(size, rate);
    return (struct sampling_estimate){whole((double)objects * scale), whole((double)bytes * scale)};
}

struct allocations {
    struct profile profile;
    const struct g2h_heap *heap;
    struct calls calls; /* of the stack that is being put */
    uint64_t rate;
    struct map functions; /* name and file → number of the function, from 1 on */
    struct map locations; /* the calls of a location → its number, from 1 on */
    uint32_t function_count, location_count;
    VECTOR(uint32_t) stack;    /* the locations of that stack */
    struct worker_buffer part; /* a part of a message */
    struct text text;
    bool is_early;   /* no collection has completed yet: sites have no counts */
    struct map live; /* if is_early: site → number of its samples */
};

/* ---- functions and locations ---- */

/* Gets the number of a string, which is made valid UTF-8 if it is not ASCII. Returns false if
 * memory runs out. */
static bool alloc_intern(struct allocations *all, struct g2h_bytes name, uint32_t *ret)
{
    if (text_is_ascii(name.data, name.size))
        return string_pool_intern(&all->profile.strings, name.data, name.size, ret);
    all->text.size = 0;
    text_append_utf8(&all->text, name.data, name.size, SIZE_MAX);
    return !all->text.failed &&
           string_pool_intern(&all->profile.strings, all->text.data, all->text.size, ret);
}

/* Appends a function, by the names in a call. Returns false if memory runs out. */
static bool alloc_put_function(struct allocations *all, const struct g2h_call *call,
                               uint32_t number)
{
    struct worker_buffer *message = &all->profile.message;
    uint32_t name, file;
    return alloc_intern(all, call->function, &name) && alloc_intern(all, call->file, &file) &&
           profile_put_number(message, FUNCTION_ID, number) &&
           profile_put_number(message, FUNCTION_NAME, name) &&
           profile_put_number(message, FUNCTION_SYSTEM_NAME, name) &&
           profile_put_number(message, FUNCTION_FILENAME, file) &&
           profile_put_number(message, FUNCTION_START_LINE, call->start_line) &&
           profile_put_message(&all->profile, PROFILE_FUNCTION);
}

/* Finds the number of a call's function; a new function gets the next number. Returns false if
 * memory runs out. */
static bool number_function(struct allocations *all, const struct g2h_call *call, uint32_t *ret)
{
    uint32_t name, file;
    *ret = all->function_count + 1;
    if (!alloc_intern(all, call->function, &name) || !alloc_intern(all, call->file, &file) ||
        !map_put(&all->functions, pair_key(name, file), *ret, ret))
        return false;
    all->function_count += *ret > all->function_count;
    return true;
}

/* Adds a message Line to the location that is being written. Returns false if memory runs out. */
static bool alloc_put_line(struct allocations *all, uint32_t function, uint32_t line)
{
    struct worker_buffer *part = &all->part;
    part->size = 0;
    return profile_put_number(part, LINE_FUNCTION_ID, function) &&
           profile_put_number(part, LINE_LINE, line) &&
           profile_put_bytes(&all->profile.message, LOCATION_LINE, part->data, part->size);
}

/* Appends a location of calls that are inlined into each other, and then its new functions, which
 * have the next numbers, in the order of calls. Returns false if memory runs out. */
static bool put_location(struct allocations *all, const struct g2h_call *calls, size_t count)
{
    struct worker_buffer *message = &all->profile.message;
    const uint32_t known = all->function_count;
    uint32_t function;
    uint32_t next = known + 1;
    bool good = profile_put_number(message, LOCATION_ID, all->location_count);
    for (size_t i = 0; i < count && good; i++)
        good = number_function(all, &calls[i], &function) &&
               alloc_put_line(all, function, calls[i].line);
    good = good && profile_put_number(message, LOCATION_MAPPING_ID, 1) &&
           profile_put_message(&all->profile, PROFILE_LOCATION);
    for (size_t i = 0; i < count && good; i++) {
        good = number_function(all, &calls[i], &function);
        if (good && function == next)
            good = alloc_put_function(all, &calls[i], next++);
    }
    return good;
}

/* Adds the location of some calls, inlined into each other, to the stack; appends it to the profile
 * if it is new. Returns false if memory runs out. */
static bool add_location(struct allocations *all, const struct g2h_call *calls, size_t count)
{
    uint64_t key = count;
    uint32_t name, file;
    uint32_t number = all->location_count + 1;
    for (size_t i = 0; i < count; i++) {
        if (!alloc_intern(all, calls[i].function, &name) ||
            !alloc_intern(all, calls[i].file, &file))
            return false;
        key = map_hash_pair(map_hash_pair(key, pair_key(name, file)), calls[i].line);
    }
    if (!map_put(&all->locations, key, number, &number))
        return false;
    if (number > all->location_count) {
        all->location_count = number;
        if (!put_location(all, calls, count))
            return false;
    }
    return vector_push(&all->stack, number);
}

/* ---- stacks ---- */

/* Makes the locations of a stack. Inlined calls are one location with their caller, except that
 * calls of two functions with one name are a recursion and stay apart, as in pcDeck.tryAdd() of
 * proto.go. */
static struct g2h_error *make_stack(struct allocations *all)
{
    const struct g2h_call *calls = all->calls.list.data;
    const size_t count = all->calls.list.count;
    all->stack.count = 0;
    for (size_t i = all->calls.first, end; i < count; i = end) {
        end = i + 1;
        while (end < count && calls[end - 1].is_inlined &&
               !bytes_same(calls[end - 1].function, calls[end].function))
            end++;
        if (!bytes_are(calls[i].function, "runtime.goexit"))
            TRY_MEMORY(add_location(all, calls + i, end - i));
    }
    return NULL;
}

/* ---- samples ---- */

/* Appends the numbers of a sample's locations, packed if there are more than two, as proto.go
 * does. Returns false if memory runs out. */
static bool put_locations(struct allocations *all)
{
    struct worker_buffer *part = &all->part;
    struct worker_buffer *message = &all->profile.message;
    const size_t count = all->stack.count;
    part->size = 0;
    for (size_t i = 0; i < count; i++)
        if (count > 2 ? !profile_put_varint(part, all->stack.data[i])
                      : !profile_put_number(message, SAMPLE_LOCATION_ID, all->stack.data[i]))
            return false;
    return count <= 2 || profile_put_bytes(message, SAMPLE_LOCATION_ID, part->data, part->size);
}

/* Appends the label "bytes": the size of the objects. */
static bool put_label(struct allocations *all, uint64_t size)
{
    struct worker_buffer *part = &all->part;
    part->size = 0;
    return profile_put_string(&all->profile, part, LABEL_KEY, "bytes", 5) &&
           profile_put_number(part, LABEL_NUM, size) &&
           profile_put_bytes(&all->profile.message, SAMPLE_LABEL, part->data, part->size);
}

/* Appends the two values of an estimate, as a packed field has them. */
static bool put_estimate(struct worker_buffer *buffer, struct sampling_estimate estimate)
{
    return profile_put_varint(buffer, (uint64_t)estimate.objects) &&
           profile_put_varint(buffer, (uint64_t)estimate.bytes);
}

/* Appends the sample of a site: its stack, the estimates of what was allocated and what is in use,
 * and the size of its objects. */
static struct g2h_error *put_site(struct allocations *all, const struct g2h_memprof *site)
{
    struct worker_buffer *part = &all->part;
    const uint32_t live = map_get(&all->live, site->id);
    uint64_t allocs = site->allocs;
    if (all->is_early)
        allocs = live != MAP_NONE ? live : 0;
    TRY(calls_read(&all->calls, *site));
    TRY(make_stack(all));
    part->size = 0;
    TRY_MEMORY(put_estimate(part, sampling_scale(allocs, site->size, all->rate)) &&
               put_estimate(part, sampling_scale(allocs - site->frees, site->size, all->rate)) &&
               profile_put_bytes(&all->profile.message, SAMPLE_VALUE, part->data, part->size) &&
               put_locations(all) && put_label(all, site->size) &&
               profile_put_message(&all->profile, PROFILE_SAMPLE));
    return NULL;
}

/*
 * Counts the samples of each site if no collection has completed. A site's counts are those of the
 * last completed collection, so before the first one they are 0. Then runtime/pprof uses the counts
 * so far; in the dump these are the samples, because none has been freed.
 */
static struct g2h_error *count_early(struct allocations *all)
{
    const size_t sites = g2h_heap_record_count(all->heap, G2H_RECORD_MEMPROF),
                 samples = g2h_heap_record_count(all->heap, G2H_RECORD_ALLOCSAMPLE);
    for (size_t i = 0; i < sites; i++) {
        const struct g2h_memprof site = sampling_site(all->heap, i);
        if (site.allocs != 0 || site.frees != 0)
            return NULL;
    }
    all->is_early = true;
    for (size_t i = 0; i < samples; i++) {
        struct g2h_record record;
        uint32_t count;
        g2h_heap_record(all->heap, G2H_RECORD_ALLOCSAMPLE, i, &record);
        TRY_MEMORY(map_put(&all->live, record.allocsample.memprof, 0, &count));
        map_set(&all->live, record.allocsample.memprof, count + 1);
    }
    return NULL;
}

/* ---- the whole profile ---- */

/* Returns when the last collection ended, which is the time of the profile:
 * runtime.MemStats.LastGC. */
static uint64_t last_collection(const struct g2h_heap *heap)
{
    const struct g2h_memstats *stats = g2h_heap_memstats(heap);
    return stats ? stats->numbers[G2H_MEMSTATS_LAST_GC] : 0;
}

/* Appends the whole profile: types of values, a sample for each site, the time, the mapping. */
static struct g2h_error *alloc_put_profile(struct allocations *all, const char *program)
{
    enum {
        KNOWN = 1 << MAPPING_HAS_FUNCTIONS | 1 << MAPPING_HAS_FILENAMES |
                1 << MAPPING_HAS_LINE_NUMBERS | 1 << MAPPING_HAS_INLINE_FRAMES
    };
    struct profile *profile = &all->profile;
    const size_t sites = g2h_heap_record_count(all->heap, G2H_RECORD_MEMPROF);
    TRY_MEMORY(profile_put_type(profile, PROFILE_PERIOD_TYPE, "space", "bytes") &&
               profile_put_number(profile->out, PROFILE_PERIOD, all->rate) &&
               profile_put_type(profile, PROFILE_SAMPLE_TYPE, "alloc_objects", "count") &&
               profile_put_type(profile, PROFILE_SAMPLE_TYPE, "alloc_space", "bytes") &&
               profile_put_type(profile, PROFILE_SAMPLE_TYPE, "inuse_objects", "count") &&
               profile_put_type(profile, PROFILE_SAMPLE_TYPE, "inuse_space", "bytes"));
    TRY(count_early(all));
    for (size_t i = 0; i < sites; i++) {
        const struct g2h_memprof site = sampling_site(all->heap, i);
        TRY(put_site(all, &site));
    }
    TRY_MEMORY(profile_put_number(profile->out, PROFILE_TIME_NANOS, last_collection(all->heap)) &&
               profile_put_mapping(profile, program, KNOWN) && profile_put_strings(profile));
    return NULL;
}

static void allocations_deinit(struct allocations *all)
{
    calls_deinit(&all->calls);
    profile_deinit(&all->profile);
    worker_buffer_deinit(&all->part);
    text_deinit(&all->text);
    map_deinit(&all->functions);
    map_deinit(&all->locations);
    map_deinit(&all->live);
    free(all->stack.data);
}

struct alloc_source {
    const struct g2h_view *view;
    const struct g2h_output_options *options;
    uint64_t rate;
};

/* Makes the profile, as the only task of profile_write(). */
static struct g2h_error *alloc_produce(void *context, size_t task, unsigned worker,
                                       struct worker_buffer *buffer)
{
    const struct alloc_source *source = context;
    _cleanup_(allocations_deinit) struct allocations all = {.heap = g2h_view_heap(source->view),
                                                            .rate = source->rate};
    (void)task, (void)worker;
    TRY_MEMORY(profile_init(&all.profile, buffer));
    calls_init(&all.calls, g2h_view_exe(source->view));
    return alloc_put_profile(&all, source->options->program);
}

/* Returns the error that explains the missing profile, of the dump with a name. */
static struct g2h_error *no_profile(const struct g2h_heap *heap, const char *name)
{
    return g2h_heap_damage(heap)
               ? error_create(G2H_ERROR_NO_PROFILE,
                              "%s: is cut or damaged before it says where memory was allocated",
                              name)
               : error_create(
                     G2H_ERROR_NO_PROFILE,
                     "%s: does not say where memory was allocated: programs keep that only "
                     "if they refer to runtime.MemProfile, as the packages runtime/pprof "
                     "and net/http/pprof do: import one, and dump again",
                     name);
}

/* Writes the profile of allocations. Error: the heap has no samples of allocations. */
struct g2h_error *g2h_write_pprof_alloc(const struct g2h_view *view,
                                        const struct g2h_dominators *dominators,
                                        const struct g2h_output_options *given)
{
    struct g2h_output_options known;
    const struct g2h_output_options *options = OPTIONS_COPY(&known, given);
    struct g2h_sampling sampling;
    const struct g2h_heap *heap = g2h_view_heap(view);
    struct g2h_pprof_options wanted;
    OPTIONS_COPY(&wanted, options->pprof);
    (void)dominators;
    g2h_sampling(heap, &sampling);
    if (sampling.sites == 0)
        return no_profile(heap, options->source ? options->source : "the dump");
    struct alloc_source source = {
        view, options, wanted.memprofile_rate > 0 ? wanted.memprofile_rate : sampling.rate};
    return profile_write(options, alloc_produce, &source);
}
