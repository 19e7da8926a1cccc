/* counters; see counters.h. */
#include "process/counters.h"

#include "process/spans.h"

enum { GENERATIONS = 3 }; /* of consistentHeapStats.stats */

struct heap_stats {
    uint64_t committed, released, in_heap, in_stacks, in_work_bufs, in_ptr_scalar_bits;
};

/* Adds up a field of all generations, which have only differences. Returns false if they are
 * missing. */
static bool counters_add_up(const struct runtime *runtime, uint64_t stats, enum layout_field field,
                            uint64_t *ret)
{
    *ret = 0;
    for (uint64_t i = 0; i < GENERATIONS; i++) {
        uint64_t value;
        if (!runtime_peek(runtime, stats + i * runtime_size(runtime, LAYOUT_HEAP_STATS), field,
                          &value))
            return false;
        *ret += value;
    }
    return true;
}

/* Returns whether a sum is a plausible number of whole pages. */
static bool is_pages(uint64_t bytes)
{
    return bytes % RUNTIME_PAGE_SIZE == 0 && bytes >> 48 == 0;
}

/* Reads runtime.memstats.heapStats. Returns false if its values are not plausible. */
static bool read_heap_stats(const struct runtime *runtime, uint64_t memstats,
                            struct heap_stats *ret)
{
    const uint64_t stats = memstats + runtime_offset(runtime, LAYOUT_MSTATS_HEAP_STATS);
    return counters_add_up(runtime, stats, LAYOUT_HEAP_STATS_IN_HEAP, &ret->in_heap) &&
           is_pages(ret->in_heap) &&
           counters_add_up(runtime, stats, LAYOUT_HEAP_STATS_COMMITTED, &ret->committed) &&
           counters_add_up(runtime, stats, LAYOUT_HEAP_STATS_RELEASED, &ret->released) &&
           counters_add_up(runtime, stats, LAYOUT_HEAP_STATS_IN_STACKS, &ret->in_stacks) &&
           counters_add_up(runtime, stats, LAYOUT_HEAP_STATS_IN_WORK_BUFS, &ret->in_work_bufs) &&
           counters_add_up(runtime, stats, LAYOUT_HEAP_STATS_IN_PTR_SCALAR_BITS,
                           &ret->in_ptr_scalar_bits) &&
           is_pages(ret->committed) && is_pages(ret->released) && is_pages(ret->in_stacks) &&
           is_pages(ret->in_work_bufs) && is_pages(ret->in_ptr_scalar_bits) && ret->in_stacks > 0 &&
           ret->committed >=
               ret->in_heap + ret->in_stacks + ret->in_work_bufs + ret->in_ptr_scalar_bits;
}

/* Returns the bytes of all spans that hold objects. */
static uint64_t bytes_of_spans(const struct runtime *runtime)
{
    uint64_t sum = 0;
    struct span span;
    for (uint64_t i = 0; i < runtime->allspans.count; i++)
        if (span_read_fields_of(runtime, i, &span) == SPAN_IN_USE)
            sum += span.size;
    return sum;
}

/* Returns whether the counters after heapStats may be the runtime's. If a generation is all zeros,
 * the sums are the same one generation earlier or later, where these counters are not. */
static bool has_neighbours(const struct runtime *runtime, uint64_t memstats)
{
    uint64_t spans, caches, other;
    return runtime_peek(runtime, memstats, LAYOUT_MSTATS_MSPAN_SYS, &spans) &&
           runtime_peek(runtime, memstats, LAYOUT_MSTATS_MCACHE_SYS, &caches) &&
           runtime_peek(runtime, memstats, LAYOUT_MSTATS_OTHER_SYS, &other) &&
           spans / runtime_size(runtime, LAYOUT_MSPAN) >= runtime->allspans.count &&
           spans <= runtime->memory->bytes && caches > 0 && other > 0;
}

/* Returns the address of runtime.memstats in a program without symbols, or 0: the one whose inHeap
 * is the sum of all spans. */
static uint64_t search_memstats(const struct runtime *runtime)
{
    const uint64_t in_heap = bytes_of_spans(runtime),
                   reach = runtime_offset(runtime, LAYOUT_MSTATS_HEAP_STATS) +
                           GENERATIONS * runtime_size(runtime, LAYOUT_HEAP_STATS);
    struct runtime_part part = {.range = 0};
    struct heap_stats stats;
    while (runtime_next_part(runtime, &part)) {
        /* The memory before the sums may never have been written to. */
        const uint64_t begin = part.addresses.begin, end = part.addresses.end,
                       first = begin > reach ? begin - reach : 0;
        for (uint64_t at = first - first % 8; at < end && end - at >= 8; at += 8)
            if (read_heap_stats(runtime, at, &stats) && stats.in_heap == in_heap &&
                has_neighbours(runtime, at))
                return at;
    }
    return 0;
}

/* The numbers are those of runtime.ReadMemStats, computed from the same counters. */
void counters_read(struct runtime *runtime, struct counters *ret)
{
    struct heap_stats stats;
    *ret = (struct counters){.is_known = false};
    if (!runtime_has(runtime, LAYOUT_MSTATS_HEAP_STATS) || !runtime_has(runtime, LAYOUT_HEAP_STATS))
        return;
    const uint64_t memstats = runtime->memstats != 0 ? runtime->memstats : search_memstats(runtime);
    if (memstats == 0 || !read_heap_stats(runtime, memstats, &stats))
        return;
    const uint64_t in_gc = stats.in_work_bufs + stats.in_ptr_scalar_bits;
    *ret = (struct counters){
        .is_known = true,
        .heap_in_use = stats.in_heap,
        .heap_free = stats.committed - stats.in_heap - stats.in_stacks - in_gc,
        .heap_released = stats.released,
        .in_stacks = stats.in_stacks,
        .in_gc = in_gc,
        .stacks_sys = runtime_field(runtime, memstats, LAYOUT_MSTATS_STACKS_SYS),
        .mspan_sys = runtime_field(runtime, memstats, LAYOUT_MSTATS_MSPAN_SYS),
        .mcache_sys = runtime_field(runtime, memstats, LAYOUT_MSTATS_MCACHE_SYS),
        .buckhash_sys = runtime_field(runtime, memstats, LAYOUT_MSTATS_BUCKHASH_SYS),
        .gc_misc_sys = runtime_field(runtime, memstats, LAYOUT_MSTATS_GC_MISC_SYS),
        .other_sys = runtime_field(runtime, memstats, LAYOUT_MSTATS_OTHER_SYS),
    };
}
