/* index; see index.h. */
#include "heap/index.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/workers.h"

enum { SMALLEST_GRANULE_SHIFT = 7, DIRECTORY_LIMIT = 1 << 22, ARENA_LIMIT = 1 << 20 };

/* The first of the objects from one on that starts at or behind address. */
static uint32_t first_from(const struct object_index *index, const struct heap_object *objects,
                           uint32_t from, uint64_t address)
{
    if (address == 0)
        return from;
    return index_search(objects, from, index->object_count, address - 1) + 1;
}

/* Lists the arenas that objects lie in; false where there is no memory. arena_count stays 0 beyond
 * ARENA_LIMIT. */
static bool list_arenas(struct object_index *index, const struct heap_object *objects,
                        uint64_t (*size_of)(const void *context, uint32_t object),
                        const void *context)
{
    VECTOR(uint64_t) arenas = {0};
    uint64_t next = 0; /* the lowest arena that is not listed yet */
    for (uint32_t object = 0; object < index->object_count;) {
        uint64_t first = objects[object].address >> ARENA_SHIFT;
        uint64_t size = size_of(context, object);
        uint64_t last = (objects[object].address + (size ? size - 1 : 0)) >> ARENA_SHIFT;
        if (first < next)
            first = next;
        if (last >= next && last - first >= ARENA_LIMIT - arenas.count) {
            free(arenas.data);
            return true;
        }
        for (uint64_t arena = first; arena <= last; arena++)
            if (!vector_push(&arenas, arena)) {
                free(arenas.data);
                return false;
            }
        if (last >= next)
            next = last + 1;
        /* Of the others that start in what is listed the last one may reach beyond. */
        const uint32_t behind = first_from(index, objects, object + 1, next << ARENA_SHIFT);
        object = behind > object + 1 ? behind - 1 : object + 1;
    }
    index->arenas = arenas.data;
    index->arena_count = arenas.count;
    return true;
}

static bool make_directory(struct object_index *index)
{
    uint64_t span = index->arenas[index->arena_count - 1] - index->first_arena + 1;
    if (span > DIRECTORY_LIMIT)
        return true;
    index->directory = malloc((size_t)span * sizeof(*index->directory));
    if (!index->directory)
        return false;
    memset(index->directory, 0xff, (size_t)span * sizeof(*index->directory));
    for (size_t i = 0; i < index->arena_count; i++)
        index->directory[index->arenas[i] - index->first_arena] = (uint32_t)i;
    return true;
}

static bool make_granules(struct object_index *index)
{
    const size_t enough = 4u << 20 > index->object_count ? 4u << 20 : index->object_count;
    unsigned shift = SMALLEST_GRANULE_SHIFT;
    while (shift < ARENA_SHIFT && index->arena_count << (ARENA_SHIFT - shift) > enough)
        shift++;
    index->granule_shift = shift;
    index->granule_count = (index->arena_count << (ARENA_SHIFT - shift)) + 1;
    index->granules = large_alloc(index->granule_count, sizeof(*index->granules));
    if (!index->granules)
        return false;
    index->granules[index->granule_count - 1] = index->object_count;
    return true;
}

struct filler {
    struct object_index *index;
    const struct heap_object *objects;
};

static struct g2h_error *fill_arena(void *context, size_t task, unsigned worker)
{
    const struct filler *filler = context;
    const struct object_index *index = filler->index;
    const uint64_t arena = index->arenas[task] << ARENA_SHIFT,
                   granule = 1ull << index->granule_shift;
    const size_t count = (size_t)1 << (ARENA_SHIFT - index->granule_shift);
    uint32_t *granules = index->granules + task * count;
    uint32_t object = first_from(index, filler->objects, 0, arena);
    (void)worker;
    for (size_t i = 0; i < count; i++) {
        while (object < index->object_count &&
               filler->objects[object].address < arena + i * granule)
            object++;
        granules[i] = object;
    }
    return NULL;
}

struct g2h_error *index_init(struct object_index *index, const struct heap_object *objects,
                             uint32_t count,
                             uint64_t (*size_of)(const void *context, uint32_t object),
                             const void *context, unsigned threads)
{
    struct filler filler = {index, objects};
    *index = (struct object_index){.object_count = count};
    if (count == 0)
        return NULL;
    uint64_t last = size_of(context, count - 1);
    index->low = objects[0].address;
    index->high = objects[count - 1].address + (last ? last : 1);
    index->first_arena = index->low >> ARENA_SHIFT;
    if (!list_arenas(index, objects, size_of, context))
        return &error_no_memory;
    if (index->arena_count == 0)
        return NULL;
    if (!make_directory(index) || !make_granules(index))
        return &error_no_memory;
    return workers_run(threads, index->arena_count, fill_arena, &filler);
}

void index_deinit(struct object_index *index)
{
    free(index->arenas);
    free(index->directory);
    large_free(index->granules, index->granule_count, sizeof(*index->granules));
    *index = (struct object_index){0};
}

size_t index_arena(const struct object_index *index, uint64_t arena)
{
    size_t from = 0, to = index->arena_count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (index->arenas[middle] < arena)
            from = middle + 1;
        else
            to = middle;
    }
    return from < index->arena_count && index->arenas[from] == arena ? from : SIZE_MAX;
}
