/*
 * death_heap: finds the Go heap of a process and ranks its spans for death.c, which copies the most
 * useful first; see death_heap.h. Where the runtime's tables are is found while the process lives;
 * at its end death_heap_parts() reads the spans from there, since they have changed meanwhile.
 */
#include "process/death_heap.h"

#ifdef __linux__

#include <errno.h>

#include <go2heapsnapshot/process.h>

#include "base/elf_format.h"
#include "base/error.h"
#include "process/attach/copy.h"
#include "process/attach/refuse.h"
#include "process/spans.h"

/* Where the runtime puts its first arena, unless it chooses a random address, as from Go 1.26 on;
 * and how many addresses after it no other memory gets unless all of them are in use
 * (runtime.mallocinit). */
#define FIRST_ON_AMD64 0xc000000000
#define FIRST_ON_ARM64 0x4000000000
#define AFTER_FIRST    (1ull << 40)

/* Returns the addresses where the runtime usually puts the heap; empty for other machines. */
static struct range usual_heap(uint16_t machine)
{
    switch (machine) {
    case EM_X86_64:
        return (struct range){FIRST_ON_AMD64, FIRST_ON_AMD64 + AFTER_FIRST};
    case EM_AARCH64:
        return (struct range){FIRST_ON_ARM64, FIRST_ON_ARM64 + AFTER_FIRST};
    default:
        return (struct range){0, 0};
    }
}

/* Records where the runtime is, and the range of the heap by its first arena; nothing if it has
 * none yet. */
static void note_runtime(const struct runtime *runtime, struct death_heap *ret)
{
    struct runtime_arenas arenas;
    uint64_t arena, first = UINT64_MAX;
    runtime_arenas_begin(runtime, &arenas);
    while (runtime_arenas_next(&arenas, &arena))
        first = MIN(arena, first);
    if (first == UINT64_MAX)
        return;
    ret->runtime = (struct runtime){.layout = runtime->layout,
                                    .mheap = runtime->mheap,
                                    .minor = runtime->minor,
                                    .arena_base = runtime->arena_base};
    ret->range = (struct range){first, first + AFTER_FIRST};
    ret->is_known = true;
}

/* Finds the heap of a running process. Done while the process lives, since at its end there is no
 * time to search. A program that has just started has no heap yet, which is not an error. */
struct g2h_error *death_heap_find(uint64_t pid, struct g2h_exe *exe, struct death_heap *ret)
{
    _cleanup_(process_deinit) struct process process = {.name = "process"};
    _cleanup_(runtime_deinit) struct runtime runtime = {0};
    *ret = (struct death_heap){0};
    TRY(copied_check_machine(pid, &process.machine));
    ret->machine = process.machine;
    ret->range = usual_heap(process.machine);
    const int number = copied_open_live(pid, &process);
    if (number != 0)
        return attach_refuse(pid, number, true);
    process.pid = pid;
    struct g2h_error *error = runtime_init(&runtime, &process, exe);
    if (error && (error->code == G2H_ERROR_MEMORY ||
                  (error->code == G2H_ERROR_NOT_EXE && !g2h_process_is_new(pid))))
        return error;
    if (!error)
        note_runtime(&runtime, ret);
    g2h_error_destroy(error);
    return NULL;
}

/* Returns the rank of a span by what it holds: stacks, or objects without or with pointers. */
static enum death_rank rank_of(enum span_state state, const struct span *span)
{
    if (state != SPAN_IN_USE)
        return DEATH_STACKS;
    return span->noscan ? DEATH_NOSCAN : DEATH_POINTERS;
}

/* Adds the part of the heap that the mspan at an address describes: a span of objects, or of
 * stacks and the like. A free one has none. Returns false if memory runs out. */
static bool add_span(const struct runtime *runtime, uint64_t address, struct death_parts *ret)
{
    struct span span;
    const enum span_state state = span_read_fields(runtime, address, &span);
    uint64_t size, start;
    if (state == SPAN_IN_USE) {
        size = span.size;
        start = span.start;
    } else {
        size = span_manual_bytes(runtime, address);
        if (size == 0 || !runtime_peek(runtime, address, LAYOUT_MSPAN_START_ADDR, &start))
            return true;
    }
    const struct death_part part = {start, size, rank_of(state, &span)};
    return size > UINT64_MAX - start || vector_push(ret, part);
}

/* Finds which memory of an ending process is copied first: find() of struct death_order. Spans are
 * read anew from the process that is ending, since its heap has changed meanwhile. What cannot be
 * read is left out: a copy without it is better than none. Returns false if memory runs out. */
bool death_heap_parts(void *context, const struct memory *memory, struct death_parts *ret)
{
    struct death_heap *heap = context;
    struct runtime_slice spans;
    heap->runtime.memory = memory;
    if (!heap->is_known ||
        !runtime_slice_at(
            &heap->runtime,
            heap->runtime.mheap + runtime_offset(&heap->runtime, LAYOUT_MHEAP_ALLSPANS), &spans) ||
        spans.count > memory->bytes / 8)
        return true;
    for (uint64_t i = 0; i < spans.count; i++) {
        uint64_t address;
        if (!memory_read(memory, spans.data + 8 * i, 8, &address))
            break;
        if (!add_span(&heap->runtime, address, ret))
            return false;
    }
    return true;
}

#endif
