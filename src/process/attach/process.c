/* process; see process.h. */
#include "process/attach/process.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/bisect.h"
#include "base/contract.h"

/* ---- memory ---- */

bool memory_add(struct memory *memory, uint64_t address, uint64_t size, const uint8_t *data)
{
    const uint64_t most = UINT64_MAX - address;
    const struct memory_range range = {address, size < most ? size : most, data};
    return range.size == 0 || vector_push(&memory->ranges, range);
}

static int compare_ranges(const void *a, const void *b)
{
    const struct memory_range *one = a, *other = b;
    if (one->address != other->address)
        return one->address < other->address ? -1 : 1;
    return (one->size < other->size) - (one->size > other->size);
}

/* Returns the part of a range from an address on, which may be empty. */
static struct memory_range range_from(struct memory_range range, uint64_t address)
{
    const uint64_t less = range.address < address ? address - range.address : 0;
    return less >= range.size
               ? (struct memory_range){0}
               : (struct memory_range){range.address + less, range.size - less, range.data + less};
}

/* Of overlapping ranges the lowest one counts; adjacent ranges with adjacent bytes become one. */
void memory_sort(struct memory *memory)
{
    struct memory_range *ranges = memory->ranges.data;
    size_t kept = 0;
    memory->bytes = 0;
    vector_sort(&memory->ranges, compare_ranges);
    for (size_t i = 0; i < memory->ranges.count; i++) {
        struct memory_range *last = kept > 0 ? &ranges[kept - 1] : NULL;
        const uint64_t end = last ? last->address + last->size : 0;
        const struct memory_range range = range_from(ranges[i], end);
        if (range.size == 0)
            continue;
        if (last && range.address == end && range.data == last->data + last->size)
            last->size += range.size;
        else
            ranges[kept++] = range;
        memory->bytes += range.size;
    }
    memory->ranges.count = kept;
    assert(IS_ORDERED(i, kept, ranges[i].address - ranges[i - 1].address >= ranges[i - 1].size));
}

/* Cores mostly leave out what the executable has: its read-only sections take the place of that. */
bool memory_add_image(struct memory *memory, const struct image *image, uint64_t slide)
{
    for (size_t i = 0; i < image->section_count; i++) {
        const struct image_section *section = &image->sections[i];
        const struct memory_range range = {section->address + slide, section->data.size,
                                           section->data.data};
        if ((section->flags & SHF_ALLOC) == 0 || (section->flags & SHF_WRITE) != 0 ||
            range.size == 0 || range.size > UINT64_MAX - range.address)
            continue;
        if (!vector_push(&memory->read_only, range))
            return false;
    }
    vector_sort(&memory->read_only, compare_ranges);
    return true;
}

void memory_deinit(struct memory *memory)
{
    free(memory->ranges.data);
    free(memory->read_only.data);
    ranges_deinit(&memory->untouched);
    window_destroy(memory->window);
    *memory = (struct memory){0};
}

/* Returns the range that contains an address, or NULL. */
static const struct memory_range *range_at(const struct memory_range *ranges, size_t count,
                                           uint64_t address)
{
    size_t after;
    BISECT(after, count, ranges[after].address <= address);
    return after > 0 && address - ranges[after - 1].address < ranges[after - 1].size
               ? &ranges[after - 1]
               : NULL;
}

const struct memory_range *memory_range_at(const struct memory *memory, uint64_t address)
{
    return range_at(memory->ranges.data, memory->ranges.count, address);
}

/* Returns the bytes at an address, or NULL. *ret_is_own: they are the process's; otherwise those of
 * the executable, for read-only data that a core does not contain. */
static const uint8_t *find_place(const struct memory *memory, uint64_t address, uint64_t size,
                                 bool *ret_is_own)
{
    const struct memory_range *range = memory_range_at(memory, address);
    *ret_is_own = range != NULL;
    if (!range)
        range = range_at(memory->read_only.data, memory->read_only.count, address);
    if (!range || size > range->size - (address - range->address))
        return NULL;
    return range->data + (address - range->address);
}

const uint8_t *memory_place(const struct memory *memory, uint64_t address, uint64_t size)
{
    bool is_own;
    return find_place(memory, address, size, &is_own);
}

const uint8_t *memory_at(const struct memory *memory, uint64_t address, uint64_t size)
{
    bool is_own;
    const uint8_t *place = find_place(memory, address, size, &is_own);
    return !place || !is_own || memory_fill(memory, address, size, place) ? place : NULL;
}

bool memory_fill(const struct memory *memory, uint64_t address, uint64_t size, const uint8_t *place)
{
    return !memory->window || window_fill(memory->window, address, size, place);
}

void memory_drop(const struct memory *memory, uint64_t size, const uint8_t *place)
{
    if (memory->window)
        window_drop_at(memory->window, place, size);
}

/* ---- all of it ---- */

void process_deinit(struct process *process)
{
    if (process->held)
        process->end_held(process->held);
    memory_deinit(&process->memory);
    free(process->threads.data);
    free(process->executable);
    free(process->files.data);
    free(process->maps);
    free(process->smaps);
    free(process->resident.data);
    if (process->copy)
        munmap(process->copy, (size_t)process->copy_size);
    *process = (struct process){0};
}
