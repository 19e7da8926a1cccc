/* index; see index.h. */
#include "heap/index.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { SMALLEST_GRANULE_SHIFT = 7, DIRECTORY_LIMIT = 1 << 22, ARENA_LIMIT = 1 << 20 };

/* Lists the arenas that objects lie in; false where there is no memory. arena_count stays 0 beyond
 * ARENA_LIMIT. */
static bool list_arenas(struct object_index *index, const struct heap_object *objects,
                        uint64_t (*size_of)(const void *context, uint32_t object),
                        const void *context)
{
    VECTOR(uint64_t) arenas = {0};
    uint64_t next = 0; /* the lowest arena that is not listed yet */
    for (uint32_t object = 0; object < index->object_count; object++) {
        uint64_t first = objects[object].address >> ARENA_SHIFT;
        uint64_t size = size_of(context, object);
        uint64_t last = (objects[object].address + (size ? size - 1 : 0)) >> ARENA_SHIFT;
        if (last < next)
            continue;
        if (first < next)
            first = next;
        if (last - first >= ARENA_LIMIT - arenas.count) {
            free(arenas.data);
            return true;
        }
        for (uint64_t arena = first; arena <= last; arena++)
            if (!vector_push(&arenas, arena)) {
                free(arenas.data);
                return false;
            }
        next = last + 1;
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

static bool make_granules(struct object_index *index, const struct heap_object *objects)
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
    uint32_t object = 0;
    size_t granule = 0;
    for (size_t i = 0; i < index->arena_count; i++) {
        uint64_t start = index->arenas[i] << ARENA_SHIFT;
        for (size_t j = 0; j < (size_t)1 << (ARENA_SHIFT - shift);
             j++, start += (uint64_t)1 << shift) {
            while (object < index->object_count && objects[object].address < start)
                object++;
            index->granules[granule++] = object;
        }
    }
    index->granules[granule] = index->object_count;
    return true;
}

struct g2h_error *index_init(struct object_index *index, const struct heap_object *objects,
                             uint32_t count,
                             uint64_t (*size_of)(const void *context, uint32_t object),
                             const void *context)
{
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
    return make_directory(index) && make_granules(index, objects) ? NULL : &error_no_memory;
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
