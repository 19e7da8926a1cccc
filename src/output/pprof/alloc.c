/*
 * alloc: writes who allocated the memory, by the dump's records of runtime.MemProfile: the heap
 * profile that runtime/pprof would have written at the same moment, as its protomem.go and proto.go
 * do.
 *
 * A dump has less than the process: for each program counter only function, file and line. The rest
 * is found in the executable (g2h_inlining_repair()); without an executable each frame has the name
 * in the dump. Locations have no addresses, so that two calls on one line are one location.
 */
#include <go2heapsnapshot/exe.h>
#include <go2heapsnapshot/heap.h>
#include <go2heapsnapshot/output.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/option_size.h"
#include "base/scope.h"
#include "base/text.h"
#include "findings/allocated.h"
#include "output/pprof/profile.h"

/* ---- samples of allocations, scaled to estimates ---- */

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
    return value >= (double)INT64_MAX   ? INT64_MAX
           : value <= (double)INT64_MIN ? INT64_MIN
                                        : (int64_t)value;
}

/* Estimates how many objects of a size there were, and their bytes, if count of them were sampled
 * (scaleHeapSample of runtime/pprof/protomem.go). */
static struct sampling_estimate sampling_scale(uint64_t count, uint64_t size, uint64_t rate)
{
    const int64_t objects = (int64_t)count, bytes = (int64_t)(count * size);
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

static bool pprof_alloc_intern(struct allocations *all, struct g2h_bytes name, uint32_t *ret)
{
    if (text_is_ascii(name.data, name.size))
        return string_pool_intern(&all->profile.strings, (const char *)name.data, (size_t)name.size,
                                  ret);
    all->text.size = 0;
    text_append_utf8(&all->text, name.data, name.size, SIZE_MAX);
    return !all->text.failed &&
           string_pool_intern(&all->profile.strings, all->text.data, all->text.size, ret);
}

/* Appends a function, by the names in a call. */
static bool pprof_alloc_put_function(struct allocations *all, const struct g2h_call *call,
                                     uint32_t number)
{
    struct worker_buffer *message = &all->profile.message;
    uint32_t name, file;
    return pprof_alloc_intern(all, call->function, &name) &&
           pprof_alloc_intern(all, call->file, &file) &&
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
    if (!pprof_alloc_intern(all, call->function, &name) ||
        !pprof_alloc_intern(all, call->file, &file) ||
        !map_put(&all->functions, (uint64_t)name << 32 | file, *ret, ret))
        return false;
    all->function_count += *ret > all->function_count;
    return true;
}

static bool pprof_alloc_put_line(struct allocations *all, uint32_t function, uint32_t line)
{
    struct worker_buffer *part = &all->part;
    part->size = 0;
    return profile_put_number(part, LINE_FUNCTION_ID, function) &&
           profile_put_number(part, LINE_LINE, line) &&
           profile_put_bytes(&all->profile.message, LOCATION_LINE, part->data, part->size);
}

/* Appends a location of calls that are inlined into each other, and then its new functions. Returns
 * false if memory runs out. */
static bool put_location(struct allocations *all, const struct g2h_call *calls, size_t count)
{
    struct worker_buffer *message = &all->profile.message;
    const uint32_t known = all->function_count;
    uint32_t function, next = known + 1;
    bool good = profile_put_number(message, LOCATION_ID, all->location_count);
    for (size_t i = 0; i < count && good; i++)
        good = number_function(all, &calls[i], &function) &&
               pprof_alloc_put_line(all, function, calls[i].line);
    good = good && profile_put_number(message, LOCATION_MAPPING_ID, 1) &&
           profile_put_message(&all->profile, PROFILE_LOCATION);
    for (size_t i = 0; i < count && good; i++) {
        good = number_function(all, &calls[i], &function);
        if (good && function == next)
            good = pprof_alloc_put_function(all, &calls[i], next++);
    }
    return good;
}

static bool add_location(struct allocations *all, const struct g2h_call *calls, size_t count)
{
    uint64_t key = count;
    uint32_t number = all->location_count + 1, name, file;
    for (size_t i = 0; i < count; i++) {
        if (!pprof_alloc_intern(all, calls[i].function, &name) ||
            !pprof_alloc_intern(all, calls[i].file, &file))
            return false;
        key = map_hash_pair(map_hash_pair(key, (uint64_t)name << 32 | file), calls[i].line);
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
 * does. */
static bool put_locations(struct allocations *all)
{
    struct worker_buffer *part = &all->part, *message = &all->profile.message;
    const size_t count = all->stack.count;
    part->size = 0;
    for (size_t i = 0; i < count; i++)
        if (count > 2 ? !profile_put_varint(part, all->stack.data[i])
                      : !profile_put_number(message, SAMPLE_LOCATION_ID, all->stack.data[i]))
            return false;
    return count <= 2 || profile_put_bytes(message, SAMPLE_LOCATION_ID, part->data, part->size);
}

static bool put_label(struct allocations *all, uint64_t size)
{
    struct worker_buffer *part = &all->part;
    part->size = 0;
    return profile_put_string(&all->profile, part, LABEL_KEY, "bytes", 5) &&
           profile_put_number(part, LABEL_NUM, size) &&
           profile_put_bytes(&all->profile.message, SAMPLE_LABEL, part->data, part->size);
}

static bool put_estimate(struct worker_buffer *buffer, struct sampling_estimate estimate)
{
    return profile_put_varint(buffer, (uint64_t)estimate.objects) &&
           profile_put_varint(buffer, (uint64_t)estimate.bytes);
}

static struct g2h_error *put_site(struct allocations *all, const struct g2h_memprof *site)
{
    struct worker_buffer *part = &all->part;
    const uint32_t live = map_get(&all->live, site->id);
    const uint64_t allocs = !all->is_early ? site->allocs : live != MAP_NONE ? live : 0;
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

static struct g2h_error *pprof_alloc_put_profile(struct allocations *all, const char *program)
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

struct pprof_alloc_source {
    const struct g2h_view *view;
    const struct g2h_output_options *options;
    uint64_t rate;
};

static struct g2h_error *pprof_alloc_produce(void *context, size_t task, unsigned worker,
                                             struct worker_buffer *buffer)
{
    const struct pprof_alloc_source *source = context;
    _cleanup_(allocations_deinit) struct allocations all = {.heap = g2h_view_heap(source->view),
                                                            .rate = source->rate};
    (void)task, (void)worker;
    TRY_MEMORY(profile_init(&all.profile, buffer));
    calls_init(&all.calls, g2h_view_exe(source->view));
    return pprof_alloc_put_profile(&all, source->options->program);
}

/* Returns the error that explains the missing profile. */
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
    struct pprof_alloc_source source = {
        view, options, wanted.memprofile_rate > 0 ? wanted.memprofile_rate : sampling.rate};
    return profile_write(options, pprof_alloc_produce, &source);
}
