/* memory_use; see memory_use.h. */
#include "findings/memory_use.h"

enum {
    OUTSIDE_OF_RSS = 50, /* percent of RSS that all but objects has at least to be a suspect; */
    LARGE_PART = 20,     /* and its largest part */
    LEAST_OUTSIDE = 16000000, /* each process has some MB of programs and of the runtime */
};

bool memory_has_resident(const struct findings *findings)
{
    return findings->memory && findings->memory->resident > 0;
}

/* Numbers that contradict each other are rejected, too: the differences below must not wrap
 * around. */
const uint64_t *memory_stats(const struct findings *findings)
{
    const struct g2h_memstats *memstats = g2h_heap_memstats(g2h_view_heap(findings->view));
    const uint64_t *numbers = memstats ? memstats->numbers : NULL;
    return numbers && numbers[G2H_MEMSTATS_SYS] > 0 &&
                   numbers[G2H_MEMSTATS_HEAP_SYS] >= numbers[G2H_MEMSTATS_HEAP_RELEASED]
               ? numbers
               : NULL;
}

/* What the runtime itself uses is the rest: it has many numbers of its own, which users do not need
 * one by one. */
struct memory_use memory_use_of(const uint64_t *stats)
{
    const uint64_t released = stats[G2H_MEMSTATS_HEAP_RELEASED],
                   held = stats[G2H_MEMSTATS_SYS] - released,
                   objects = stats[G2H_MEMSTATS_HEAP_ALLOC],
                   heap = stats[G2H_MEMSTATS_HEAP_SYS] - released,
                   unused = heap > objects ? heap - objects : 0,
                   stacks = stats[G2H_MEMSTATS_STACK_SYS], known = objects + unused + stacks;
    return (struct memory_use){held, objects, unused, stacks, held > known ? held - known : 0};
}

uint64_t memory_percent(uint64_t bytes, uint64_t whole)
{
    return whole / 100 > 0 ? bytes / (whole / 100) : 0;
}

/* Returns the largest part of RSS other than objects and program files. */
static enum g2h_memory_part largest_other_part(const struct g2h_memory *memory)
{
    int most = G2H_MEMORY_SLOTS;
    for (int i = G2H_MEMORY_SLOTS; i < G2H_MEMORY_PARTS; i++)
        if (i != G2H_MEMORY_OBJECTS && i != G2H_MEMORY_PROGRAM &&
            memory->parts[i] > memory->parts[most])
            most = i;
    return (enum g2h_memory_part)most;
}

/* The thresholds keep small processes out, which consist of the program file and the runtime. */
bool memory_is_outside(const struct findings *findings, enum g2h_memory_part *ret)
{
    const struct g2h_memory *memory = findings->memory;
    if (findings->base || !memory_has_resident(findings))
        return false;
    *ret = largest_other_part(memory);
    const uint64_t bytes = memory->parts[*ret],
                   outside = memory->resident - memory->parts[G2H_MEMORY_OBJECTS];
    return bytes >= LEAST_OUTSIDE && memory_percent(bytes, memory->resident) >= LARGE_PART &&
           memory_percent(outside, memory->resident) >= OUTSIDE_OF_RSS;
}
