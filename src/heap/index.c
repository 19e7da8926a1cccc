/*
 * index: finds the object that contains an address; see index.h, which explains the tables. They
 * are made once, in parallel: list the arenas that have objects, then fill the pages of each, from
 * the objects sorted by address. A page whose objects are not in slots of one size is irregular:
 * there, bisection finds the object.
 */
#include "heap/index.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/memory.h"
#include "base/workers.h"

enum {
    DIRECTORY_LIMIT = 1 << 20,
    ARENA_LIMIT = 1 << 20,
    PAGES_ENOUGH = 1 << 21,   /* if arenas have more pages than this and than objects … */
    OBJECTS_WORTH_IT = 1 << 9 /* … arenas with fewer objects than this have no tables */
};

/* Returns the size of an object, by its slot class. */
static uint64_t index_size_of(const struct object_index *index, uint32_t object)
{
    return index->sizes[index->objects[object].contents_and_class & (SLOT_CLASS_LIMIT - 1)];
}

/* Returns the first object, from number `from` on, that starts at or after address, or the number
 * of all objects if there is none. */
uint32_t index_first(const struct object_index *index, uint32_t from, uint64_t address)
{
    uint32_t at;
    BISECT_FROM(at, from, index->object_count, index->objects[at].address < address);
    return at;
}

/* Returns the object that contains an address, or UINT32_MAX. The object that contains an address
 * is the last one that begins at or before it, if it is large enough. */
uint32_t index_find_slowly(const struct object_index *index, uint64_t address)
{
    const uint32_t behind = index_first(index, 0, address + 1);
    return behind > 0 &&
                   address - index->objects[behind - 1].address < index_size_of(index, behind - 1)
               ? behind - 1
               : UINT32_MAX;
}

/* ---- arenas ---- */

/* Lists the arenas that contain objects. Returns false if memory runs out. If there are more than
 * ARENA_LIMIT, arena_count stays 0. */
static bool index_list_arenas(struct object_index *index)
{
    VECTOR(uint64_t) arenas = {0};
    uint64_t next = 0; /* the lowest arena that is not listed yet */
    for (uint32_t object = 0; object < index->object_count;) {
        const uint64_t address = index->objects[object].address,
                       size = index_size_of(index, object);
        const uint64_t last = (address + (size ? size - 1 : 0)) >> ARENA_SHIFT;
        uint64_t first = address >> ARENA_SHIFT;
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
        /* Among the other objects that start in the listed arenas, only the last may reach
         * beyond. */
        const uint32_t behind = index_first(index, object + 1, next << ARENA_SHIFT);
        object = behind > object + 1 ? behind - 1 : object + 1;
    }
    assert(IS_ORDERED(i, arenas.count, arenas.data[i - 1] < arenas.data[i]));
    index->arenas = arenas.data;
    index->arena_count = arenas.count;
    return true;
}

/* Makes the directory, once all arenas have their tables: an array from the first arena to the
 * last, unless they are too far apart. Returns false if memory runs out. */
static bool make_directory(struct object_index *index)
{
    const uint64_t span = index->arenas[index->arena_count - 1] - index->first_arena + 1;
    if (span > DIRECTORY_LIMIT)
        return true;
    index->directory = zeroed_alloc((size_t)span, sizeof(*index->directory));
    if (!index->directory)
        return false;
    for (size_t i = 0; i < index->arena_count; i++)
        index->directory[index->arenas[i] - index->first_arena] = index->tables[i];
    return true;
}

/* Returns the index of an arena among those in use, or SIZE_MAX if it is not in use. */
size_t index_arena(const struct object_index *index, uint64_t arena)
{
    size_t at;
    BISECT(at, index->arena_count, index->arenas[at] < arena);
    return at < index->arena_count && index->arenas[at] == arena ? at : SIZE_MAX;
}

/* ---- pages ---- */

typedef VECTOR(struct index_group) group_vector;

/* Assigns the objects [first, end), which start in a page, to slots of the first object's size.
 * Returns false if they do not fit such slots. */
static bool fill_slots(const struct object_index *index, uint32_t first, uint32_t end,
                       const struct index_page *page, struct index_group *groups)
{
    const uint64_t size = index_size_of(index, first);
    uint32_t group = 0;
    for (uint32_t object = first; object < end; object++) {
        const uint64_t address = index->objects[object].address;
        const uint32_t slot = index_slot(page, address);
        if (index_size_of(index, object) != size ||
            page->begin + slot * size != (address & (INDEX_PAGE - 1)))
            return false;
        while (group < slot / INDEX_GROUP)
            groups[++group].first = object;
        groups[group].slots |= UINT64_C(1) << slot % INDEX_GROUP;
    }
    return true;
}

/* Marks a page whose objects are not in slots of one size: look-ups bisect there. */
static void set_irregular(struct index_page *page)
{
    page->reciprocal = INDEX_IRREGULAR;
    page->begin = INDEX_PAGE;
}

/* Fills a page in which the objects [first, end) start. The first object's size and offset give the
 * slots of all, by a division that becomes a multiplication with the reciprocal. A page that does
 * not fit this is irregular. Returns false if memory runs out. */
static bool fill_page(const struct object_index *index, uint32_t first, uint32_t end,
                      struct index_page *page, group_vector *groups)
{
    const uint64_t size = index_size_of(index, first);
    const uint64_t limit = INDEX_PAGE;
    const uint32_t offset = (uint32_t)(index->objects[first].address & (limit - 1));
    page->groups = as_u32(groups->count);
    page->begin = (uint16_t)(size < limit ? offset % size : offset);
    page->reciprocal = size < limit ? (uint32_t)((UINT64_C(1) << 32) / size + 1) : 1;
    if (size % 8 != 0 || page->covered > page->begin) {
        set_irregular(page);
        return true;
    }
    const uint32_t slots = size < limit ? (uint32_t)((limit - page->begin - 1) / size) + 1 : 1;
    for (uint32_t i = 0; i < slots; i += INDEX_GROUP) {
        const struct index_group group = {.first = first};
        if (!vector_push(groups, group))
            return false;
    }
    if (fill_slots(index, first, end, page, groups->data + page->groups))
        return true;
    set_irregular(page);
    groups->count = page->groups;
    return true;
}

/* Fills the pages of one arena; a task for several threads. end is where the last object before the
 * page ends, which may cover the page's beginning. */
static struct g2h_error *fill_arena(void *context, size_t task, unsigned worker)
{
    struct object_index *index = context;
    struct index_arena *arena = &index->tables[task];
    const uint64_t begin = index->arenas[task] << ARENA_SHIFT;
    uint32_t object = index_first(index, 0, begin);
    uint64_t end =
        object > 0 ? index->objects[object - 1].address + index_size_of(index, object - 1) : 0;
    group_vector groups = {0};
    bool good = true;
    (void)worker;
    if (!arena->pages)
        return NULL;
    /* no lookup reads a page outside of this range */
    const uint64_t first_page = begin < index->low ? (index->low - begin) >> INDEX_PAGE_SHIFT : 0,
                   last_page = (index->high - 1 - begin) >> INDEX_PAGE_SHIFT;
    for (uint64_t i = first_page; i < INDEX_PAGES && i <= last_page && good; i++) {
        const uint64_t start = begin + i * INDEX_PAGE;
        struct index_page *page = &arena->pages[i];
        const uint64_t covered = end > start ? end - start : 0;
        const uint32_t first = object;
        *page = (struct index_page){.first = first, .reciprocal = 1, .begin = INDEX_PAGE};
        page->covered = (uint16_t)MIN(covered, INDEX_PAGE);
        while (object < index->object_count && index->objects[object].address - start < INDEX_PAGE)
            object++;
        if (object == first)
            continue;
        good = fill_page(index, first, object, page, &groups);
        end = index->objects[object - 1].address + index_size_of(index, object - 1);
    }
    arena->groups = groups.data;
    return good ? NULL : &error_no_memory;
}

/* Allocates the pages of the arenas, and fills them. If there are far more pages than objects,
 * arenas with fewer than OBJECTS_WORTH_IT objects get none. */
static struct g2h_error *fill_arenas(struct object_index *index, unsigned threads)
{
    const size_t pages = index->arena_count * INDEX_PAGES;
    const bool is_sparse = pages > PAGES_ENOUGH && pages > index->object_count;
    index->tables = calloc(index->arena_count, sizeof(*index->tables));
    if (!index->tables)
        return &error_no_memory;
    for (size_t i = 0; i < index->arena_count; i++) {
        const uint64_t begin = index->arenas[i] << ARENA_SHIFT;
        const uint32_t first = is_sparse ? index_first(index, 0, begin) : 0;
        const uint32_t objects =
            is_sparse ? index_first(index, first, begin + (1u << ARENA_SHIFT)) - first : 0;
        if (is_sparse && objects < OBJECTS_WORTH_IT)
            continue;
        index->tables[i].pages = malloc(INDEX_PAGES * sizeof(struct index_page));
        if (!index->tables[i].pages)
            return &error_no_memory;
    }
    return workers_run(threads, index->arena_count, fill_arena, index);
}

/* ---- all of it ---- */

/* Builds the index of objects by address; nothing for no objects. If they are in too many arenas,
 * the index has none and still works, by bisection over all objects. Error: G2H_ERROR_MEMORY. */
struct g2h_error *index_init(struct object_index *index, const struct heap_object *objects,
                             uint32_t count, const uint64_t *sizes, size_t slot_class_count,
                             unsigned threads)
{
    *index = (struct object_index){.objects = objects, .object_count = count};
    if (count == 0)
        return NULL;
    index->sizes = malloc(slot_class_count * sizeof(*sizes));
    if (!index->sizes)
        return &error_no_memory;
    memcpy(index->sizes, sizes, slot_class_count * sizeof(*sizes));
    const uint64_t last = index_size_of(index, count - 1);
    index->low = objects[0].address;
    index->high = objects[count - 1].address + (last ? last : 1);
    index->first_arena = index->low >> ARENA_SHIFT;
    if (!index_list_arenas(index))
        return &error_no_memory;
    if (index->arena_count == 0)
        return NULL;
    struct g2h_error *error = fill_arenas(index, threads);
    return error || make_directory(index) ? error : &error_no_memory;
}

void index_deinit(struct object_index *index)
{
    for (size_t i = 0; i < index->arena_count && index->tables; i++) {
        free(index->tables[i].pages);
        free(index->tables[i].groups);
    }
    free(index->tables);
    free(index->sizes);
    free(index->arenas);
    free(index->directory);
    *index = (struct object_index){0};
}

/* Finds the objects that contain several addresses. Three passes, each of which prefetches what the
 * next one reads: pages, groups of slots, objects' numbers. Rare cases are left to index_find(). */
void index_find_many(const struct object_index *index, const uint64_t *addresses, size_t count,
                     uint32_t *ret)
{
    const struct index_arena *arenas[INDEX_MANY];
    const struct index_group *groups[INDEX_MANY];
    uint32_t slots[INDEX_MANY];
    assert(count <= INDEX_MANY);
    for (size_t i = 0; i < count; i++) {
        arenas[i] = index_table(index, addresses[i]);
        if (arenas[i])
            __builtin_prefetch(index_page(arenas[i], addresses[i]));
    }
    for (size_t i = 0; i < count; i++) {
        groups[i] = NULL;
        if (!arenas[i])
            continue;
        const struct index_page *page = index_page(arenas[i], addresses[i]);
        if ((addresses[i] & (INDEX_PAGE - 1)) < page->begin)
            continue; /* index_find() decides */
        slots[i] = index_slot(page, addresses[i]);
        groups[i] = &arenas[i]->groups[page->groups + slots[i] / INDEX_GROUP];
        __builtin_prefetch(groups[i]);
    }
    for (size_t i = 0; i < count; i++)
        ret[i] = groups[i] ? index_in_group(groups[i], slots[i]) : index_find(index, addresses[i]);
}
