/*
 * give_back: returns the copy's memory to the system while its objects are written; see
 * give_back.h. The copy is cut into blocks of 2 MB. For each block it counts the bytes that are
 * still needed; when release_span() has subtracted the last of them, the block is returned. What is
 * needed after the objects (goroutines, types in the heap) is kept: counted once more than it is
 * released.
 */
#include "process/give_back.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"
#include "process/pointer_masks.h"

/* The size of a huge page: the system does not take back part of one. */
enum { BLOCK = 2 << 20 };

/* ---- needed bytes of a block ---- */

/* A function that changes the number of needed bytes of a block. */
typedef void change(struct release *release, size_t block, uint32_t bytes);

/* Adds needed bytes to a block. */
static void want(struct release *release, size_t block, uint32_t bytes)
{
    release->wanted[block] += bytes;
}

/* Subtracts needed bytes from a block, which is not returned to the system for that. */
static void want_not(struct release *release, size_t block, uint32_t bytes)
{
    release->wanted[block] -= bytes;
}

static void give_back_keep(struct release *release, size_t block, uint32_t bytes)
{
    (void)bytes;
    release->kept[block] = true;
}

/* Subtracts bytes that are no longer needed from a block, and returns the block to the system if
 * nothing in it is needed. Several threads may do so at a time. */
static void give_back_drop(struct release *release, size_t block, uint32_t bytes)
{
    if (__atomic_sub_fetch(&release->wanted[block], bytes, __ATOMIC_ACQ_REL) == 0 &&
        !release->kept[block])
        (void)madvise(release->copy + block * BLOCK, BLOCK, MADV_DONTNEED);
}

/* Does to the pages of a window what a change does to blocks, for the bytes [from, end) of its
 * space: keeps or drops them. Wanting them does nothing, as nothing is read in advance. */
static void change_window(struct window *window, uint64_t from, uint64_t end, change *how)
{
    if (how == give_back_keep)
        window_keep(window, from, end);
    else if (how == give_back_drop)
        window_drop(window, from, end);
}

/* Changes the bytes [from, end) of the copy, block by block. Pages of a window are dropped one by
 * one. */
static void change_bytes(struct release *release, uint64_t from, uint64_t end, change *how)
{
    if (release->runtime->memory->window) {
        change_window(release->runtime->memory->window, from, end, how);
        return;
    }
    while (from < end) {
        const uint64_t block = from / BLOCK;
        const uint64_t next = (block + 1) * BLOCK;
        const uint64_t to = MIN(next, end);
        if (block < release->blocks)
            how(release, (size_t)block, as_u32(to - from));
        from = to;
    }
}

/* Changes the bytes at the addresses [first, last), which are in a range of the process. */
static void change_range(struct release *release, const struct memory_range *range, uint64_t first,
                         uint64_t last, change *how)
{
    const uint64_t begin = as_size(range->data - release->copy) - range->address;
    while (first < last) {
        struct range hole; /* it has no memory that the system could take back */
        (void)ranges_next(&release->runtime->memory->untouched, first, last, &hole);
        change_bytes(release, begin + first, begin + hole.begin, how);
        first = hole.end;
    }
}

/* Changes the bytes at the addresses [from, end) of the process, as far as the copy has them. */
static void change_addresses(struct release *release, uint64_t from, uint64_t end, change *how)
{
    const struct memory *memory = release->runtime->memory;
    const struct memory_range *ranges = memory->ranges.data;
    size_t next;
    BISECT(next, memory->ranges.count, ranges[next].address <= from);
    for (next -= next > 0; next < memory->ranges.count && ranges[next].address < end; next++) {
        const struct range all = {ranges[next].address, ranges[next].address + ranges[next].size},
                           both = range_intersect(all, (struct range){from, end});
        change_range(release, &ranges[next], both.begin, both.end, how);
    }
}

/* ---- types in the heap ---- */

/* The number of recently seen types that are remembered, and the bytes of abi.Type. */
enum { SEEN = 256, TYPE = 48 };

struct kept_types {
    struct release *release;
    struct type_masks *masks;
    uint64_t seen[SEEN];
};

/* Keeps a type and its mask in the copy. `seen` has the types that were kept last, since many
 * objects have the same one. Returns false if memory runs out. */
static bool keep_type(struct kept_types *types, uint64_t address, uint64_t most)
{
    struct release *release = types->release;
    uint64_t *seen = &types->seen[map_hash(address) % SEEN];
    struct type_mask type;
    if (address == 0 || *seen == address)
        return true;
    if (!type_masks_get(types->masks, address, most, &type))
        return false;
    if (type.period > 0) /* else it may be the type of a larger object */
        *seen = address;
    const uint64_t mask = (uint64_t)((uintptr_t)type.bits - (uintptr_t)release->copy);
    release_keep(release, address, TYPE);
    if (type.bits && mask / BLOCK < release->blocks)
        change_bytes(release, mask, mask + (type.words + 7) / 8, give_back_keep);
    return true;
}

/* Keeps the types that the objects of a span begin with: their masks may be in memory that is
 * returned before they are needed. Returns false if memory runs out. */
static bool keep_types(struct kept_types *types, const struct span *span)
{
    const struct runtime *runtime = types->release->runtime;
    if (heap_bits_are_of_types(runtime, span))
        for (uint64_t i = 0; i < span->nelems; i++)
            if (!keep_type(types, heap_bits_type(runtime, span, span->start + i * span->elemsize),
                           span->elemsize))
                return false;
    return true;
}

/* ---- all of it ---- */

/* Counts the bytes of all spans that hold objects: those of the arenas that are needed. Returns
 * false if memory runs out. */
static bool want_spans(struct release *release, struct type_masks *masks)
{
    const struct runtime *runtime = release->runtime;
    struct kept_types types = {release, masks, {0}};
    struct span span;
    for (uint64_t i = 0; i < runtime->allspans.count; i++)
        if (span_read_fields_of(runtime, i, &span) == SPAN_IN_USE) {
            change_addresses(release, span.start, span.start + span.size, want);
            if (!keep_types(&types, &span))
                return false;
            if (runtime->memory->window) /* finding the types has read all objects that have them */
                release_span(release, &span);
        }
    return true;
}

/* Prepares to give memory back while objects are written: counts the needed bytes of all blocks.
 * Everything is needed, but of the arenas only spans are. Nothing if the process has no copy. */
struct g2h_error *release_init(struct release *ret, struct type_masks *masks)
{
    const struct runtime *runtime = masks->runtime;
    const struct process *process = runtime->process;
    struct runtime_arenas arenas;
    uint64_t start;
    *ret = (struct release){.runtime = runtime, .copy = process->copy};
    if (!process->copy)
        return NULL;
    ret->blocks = (size_t)(process->copy_size / BLOCK);
    ret->wanted = calloc(ret->blocks + 1, sizeof(*ret->wanted));
    ret->kept = calloc(ret->blocks + 1, sizeof(*ret->kept));
    TRY_MEMORY(ret->wanted && ret->kept);
    change_addresses(ret, 0, UINT64_MAX, want);
    runtime_arenas_begin(runtime, &arenas);
    while (runtime_arenas_next(&arenas, &start))
        change_addresses(ret, start, start + RUNTIME_ARENA_SIZE, want_not);
    TRY_MEMORY(want_spans(ret, masks));
    return NULL;
}

/* Notes that the bytes at [address, address + size) are needed after all objects have been
 * written. */
void release_keep(struct release *release, uint64_t address, uint64_t size)
{
    if (release->blocks > 0)
        change_addresses(release, address,
                         size < UINT64_MAX - address ? address + size : UINT64_MAX, give_back_keep);
}

/* Notes that the bytes of a span are no longer needed. */
void release_span(struct release *release, const struct span *span)
{
    if (release->blocks > 0)
        change_addresses(release, span->start, span->start + span->size, give_back_drop);
}

void release_deinit(struct release *release)
{
    free(release->wanted);
    free(release->kept);
    *release = (struct release){0};
}
