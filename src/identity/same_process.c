/*
 * same_process: checks whether two dumps are from one process, and whether the first one is
 * earlier.
 *
 * A dump has the pauses of the last 256 collections (runtime.MemStats.PauseNs): collection number n
 * is at (n - 1) % 256. Pauses that both dumps have must be equal to the nanosecond. A dump that was
 * made from outside the process has none. But the first thread of a process stays the same, and so
 * do some words of bss that point to memory outside the heap, such as runtime.argv; the system maps
 * that memory at a different address for each process.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/scope.h"
#include "identity/identity.h"

/* Indexes into the numbers of runtime.MemStats. */
enum { TOTAL_ALLOC = 1, MALLOCS = 4, FREES = 5, PAUSES = 24, NUM_GC = 280, PAUSE_COUNT = 256 };

/* Returns the error that two dumps are not from one process. */
static struct g2h_error *same_process_refuse(const struct g2h_heap *before,
                                             const struct g2h_heap *after, const char *why)
{
    return error_create(G2H_ERROR_NOT_SERIES, "%s: is not from the process that wrote %s: %s",
                        after->input->name, before->input->name, why);
}

/* Checks that both dumps are of one architecture, format and release of Go. */
static struct g2h_error *check_program(const struct g2h_heap *before, const struct g2h_heap *after)
{
    const struct g2h_params *one = &before->params, *other = &after->params;
    if (one->pointer_size != other->pointer_size || one->big_endian != other->big_endian ||
        strcmp(one->arch, other->arch) != 0)
        return same_process_refuse(before, after, "that has another architecture");
    if (strcmp(g2h_heap_format(before), g2h_heap_format(after)) != 0 ||
        strcmp(before->go_version, after->go_version) != 0)
        return same_process_refuse(before, after, "that is of another release of Go");
    return NULL;
}

/* Checks that counters that only grow have not shrunk. A dump made from outside has the number of
 * collections only, not the rest. */
static struct g2h_error *check_order(const struct g2h_heap *before, const struct g2h_heap *after,
                                     bool has_all)
{
    static const struct {
        int number;
        const char *name;
    } growing[] = {{NUM_GC, "collections"},
                   {TOTAL_ALLOC, "bytes allocated"},
                   {MALLOCS, "objects allocated"},
                   {FREES, "objects freed"}};
    for (size_t i = 0; i < (has_all ? sizeof(growing) / sizeof(*growing) : 1); i++) {
        const uint64_t was = before->memstats.numbers[growing[i].number],
                       is = after->memstats.numbers[growing[i].number];
        if (is < was)
            return error_create(G2H_ERROR_NOT_SERIES,
                                "%s: is older than %s, or of another process: %" PRIu64
                                " %s so far, there %" PRIu64,
                                after->input->name, before->input->name, is, growing[i].name, was);
    }
    return NULL;
}

/* Checks that both dumps have the same pauses for the collections that both list. */
static struct g2h_error *check_pauses(const struct g2h_heap *before, const struct g2h_heap *after)
{
    const uint64_t *was = before->memstats.numbers, *is = after->memstats.numbers;
    const uint64_t last = was[NUM_GC],
                   first = is[NUM_GC] < PAUSE_COUNT ? 1 : is[NUM_GC] - PAUSE_COUNT + 1;
    for (uint64_t n = first; n <= last && n < first + PAUSE_COUNT; n++) {
        const size_t at = PAUSES + (size_t)((n - 1) % PAUSE_COUNT);
        char why[128];
        if (was[at] == is[at])
            continue;
        snprintf(why, sizeof(why),
                 "its collection number %" PRIu64 " paused it for %" PRIu64 " ns, there %" PRIu64,
                 n, is[at], was[at]);
        return same_process_refuse(before, after, why);
    }
    return NULL;
}

/* Gets the thread id of the process's first thread. Returns false if no record has it. */
static bool first_thread(const struct g2h_heap *heap, uint64_t *ret)
{
    const size_t count = g2h_heap_record_count(heap, G2H_RECORD_OSTHREAD);
    for (size_t i = 0; i < count; i++) {
        struct g2h_record record;
        g2h_heap_record(heap, G2H_RECORD_OSTHREAD, i, &record);
        *ret = record.osthread.os_id;
        if (record.osthread.id == 0)
            return true;
    }
    return false;
}

/* Checks that both dumps have the same first thread, if they have its number: its id is the
 * process's. */
static struct g2h_error *check_threads(const struct g2h_heap *before, const struct g2h_heap *after)
{
    uint64_t was, is;
    char why[128];
    if (!first_thread(before, &was) || !first_thread(after, &is) || was == is)
        return NULL;
    snprintf(why, sizeof(why), "its first thread is %" PRIu64 ", there %" PRIu64, is, was);
    return same_process_refuse(before, after, why);
}

/* Returns whether a word of bss is an address far from the heap and from the variables: one that
 * the system chose, for the stack or a mapping. */
static bool is_far(const struct g2h_heap *heap, uint64_t value, uint64_t bss)
{
    const uint64_t least = UINT64_C(1) << 40, near = UINT64_C(1) << 32;
    return value >= least && value - (bss - near) >= 2 * near &&
           value - heap->index.low >= heap->index.high - heap->index.low;
}

/* Checks that some word of bss still points to the same memory outside the heap. If there are too
 * few such words, nothing is concluded. */
static struct g2h_error *check_outside(const struct g2h_heap *before, const struct g2h_heap *after)
{
    enum { LEAST_WORDS = 3 };
    struct g2h_record was, is;
    size_t far = 0, same = 0;
    if (g2h_heap_record_count(before, G2H_RECORD_BSS) == 0 ||
        g2h_heap_record_count(after, G2H_RECORD_BSS) == 0 || before->params.pointer_size != 8)
        return NULL;
    g2h_heap_record(before, G2H_RECORD_BSS, 0, &was);
    g2h_heap_record(after, G2H_RECORD_BSS, 0, &is);
    if (was.segment.address != is.segment.address)
        return same_process_refuse(before, after, "its variables are at other addresses");
    for (uint64_t i = 0; i + 8 <= was.segment.contents.size && i + 8 <= is.segment.contents.size;
         i += 8) {
        const uint64_t one = heap_word(before, was.segment.contents.data + i),
                       other = heap_word(after, is.segment.contents.data + i);
        if (!is_far(before, one, was.segment.address) || !is_far(after, other, is.segment.address))
            continue;
        far++;
        same += one == other;
    }
    return far < LEAST_WORDS || same > 0
               ? NULL
               : same_process_refuse(before, after,
                                     "nothing that its variables point to is where it was");
}

/* Returns whether a dump has all numbers of runtime.MemStats; one that was made from outside has
 * few. */
static bool has_all_numbers(const struct g2h_heap *heap)
{
    return heap->memstats.numbers[MALLOCS] > 0;
}

struct g2h_error *identity_check_process(const struct g2h_heap *before,
                                         const struct g2h_heap *after)
{
    TRY(check_program(before, after));
    TRY(check_threads(before, after));
    TRY(check_outside(before, after));
    /* a truncated dump ends before its memstats */
    if (!g2h_heap_memstats(before) || !g2h_heap_memstats(after))
        return NULL;
    const bool has_all = has_all_numbers(before) && has_all_numbers(after);
    TRY(check_order(before, after, has_all));
    return has_all ? check_pauses(before, after) : NULL;
}
