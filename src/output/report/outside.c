/*
 * outside: which fields and variables point to memory outside of the heap; see sections.h.
 *
 * Looked at are the slices and strings of all objects and of the variables of packages. If a place
 * points into a mapping, all that is resident of the mapping counts for the place, once. The
 * runtime's own places are left out. Fields and variables come before elements of slices and maps,
 * which are told by what holds the first of them.
 */
#include <string.h>

#include "base/bisect.h"
#include "base/map.h"
#include "base/scope.h"
#include "output/report/sections.h"
#include "output/report/way.h"

enum {
    MOST_PLACES = 3,
    LEAST_OF_PART = 5, /* percent of the part that a place points to */
};

struct place {
    uint32_t number, object; /* object: the first that has it; UINT32_MAX: a variable has it */
    uint64_t bytes;
};

struct search {
    const struct g2h_memory *memory;
    enum g2h_memory_part part;
    struct map seen;   /* pairs of a place and a mapping */
    struct map places; /* by number: index into list */
    VECTOR(struct place) list;
    bool failed; /* memory ran out */
};

static void search_deinit(struct search *search)
{
    map_deinit(&search->seen);
    map_deinit(&search->places);
    free(search->list.data);
}

/* Adds the bytes of a mapping to a place, unless it has them. Returns false if memory runs out. */
static bool add(struct search *search, const struct g2h_capacity *capacity, size_t mapping)
{
    const uint64_t pair = (uint64_t)capacity->place << 32 | mapping;
    const struct place new = {capacity->place, capacity->object, 0};
    uint32_t index;
    if (map_get(&search->seen, pair) != MAP_NONE)
        return true;
    if (!map_put(&search->seen, pair, 0, &index) ||
        !map_put(&search->places, capacity->place, (uint32_t)search->list.count, &index) ||
        (index == search->list.count && !vector_push(&search->list, new)))
        return false;
    search->list.data[index].bytes += search->memory->mappings[mapping].resident;
    return true;
}

static bool visit(void *context, const struct g2h_capacity *capacity)
{
    struct search *search = context;
    const struct g2h_mapping *mappings = search->memory->mappings;
    size_t after;
    if (capacity->kind != G2H_CAPACITY_SLICE && capacity->kind != G2H_CAPACITY_STRING)
        return true;
    BISECT(after, search->memory->mapping_count, mappings[after].start <= capacity->address);
    if (after == 0 || capacity->address >= mappings[after - 1].end ||
        mappings[after - 1].part != search->part)
        return true;
    search->failed = !add(search, capacity, after - 1);
    return !search->failed;
}

static int compare(const void *a, const void *b)
{
    const struct place *one = a, *other = b;
    if (one->bytes != other->bytes)
        return one->bytes < other->bytes ? 1 : -1;
    return (one->number > other->number) - (one->number < other->number);
}

static bool begins_with(const struct text *name, const char *prefix)
{
    return name->size >= strlen(prefix) && memcmp(name->data, prefix, strlen(prefix)) == 0;
}

/* Finds what a place is called; is_field says whether that is to be a field or a variable, or what
 * holds another place. Leaves the text empty if it is of the other kind, or of the runtime. */
static struct g2h_error *name_place(const struct report *report, const struct place *place,
                                    const struct g2h_capacities *capacities, bool is_field,
                                    struct text *ret)
{
    _cleanup_(g2h_text_deinit) struct g2h_text name = {0};
    uint32_t end;
    ret->size = 0;
    g2h_capacities_place(capacities, place->number, &name);
    TRY_MEMORY(!name.failed);
    const uint8_t *bracket = name.size > 0 ? memchr(name.data, '[', name.size) : NULL;
    const size_t before = bracket ? (size_t)((const char *)bracket - name.data) : name.size;
    if ((before > 0 && memchr(name.data, '.', before) != NULL) != is_field)
        return NULL;
    const uint32_t node =
        place->object != UINT32_MAX ? g2h_view_object(report->view, place->object) : UINT32_MAX;
    if (is_field)
        text_append(ret, name.data, name.size);
    else if (node != UINT32_MAX)
        TRY(way_append(report, node, ret, &end));
    if (begins_with(ret, "runtime."))
        ret->size = 0;
    return NULL;
}

static struct g2h_error *put_places(const struct report *report, const struct search *search,
                                    const struct g2h_capacities *capacities, bool is_field,
                                    size_t *count)
{
    _cleanup_(text_deinit) struct text name = {0};
    struct page *page = report->page;
    const uint64_t least = search->memory->parts[search->part] / 100 * LEAST_OF_PART;
    for (size_t i = 0; i < search->list.count && *count < MOST_PLACES; i++) {
        const struct place *place = &search->list.data[i];
        if (place->bytes < least)
            break;
        TRY(name_place(report, place, capacities, is_field, &name));
        if (name.size == 0)
            continue;
        page_say(page, ++*count == 1 ? "      pointed to by " : ", ");
        page_open(page, NULL);
        PAGE_PUT(page, "% (%)", page_made("place", &name), page_bytes("bytes", place->bytes));
        page_close(page);
    }
    TRY_MEMORY(!name.failed);
    return NULL;
}

static void destroy(struct g2h_capacities **capacities)
{
    g2h_capacities_destroy(*capacities);
}

struct g2h_error *report_put_pointers(const struct report *report, enum g2h_memory_part part)
{
    _cleanup_(search_deinit) struct search search = {.memory = report->memory, .part = part};
    _cleanup_(destroy) struct g2h_capacities *capacities = NULL;
    if (part != G2H_MEMORY_FILES && part != G2H_MEMORY_C)
        return NULL;
    TRY(g2h_capacities_create(report->view, &capacities));
    if (g2h_capacities_of_objects(capacities, 0, UINT32_MAX, visit, &search))
        g2h_capacities_of_variables(capacities, visit, &search);
    TRY_MEMORY(!search.failed);
    vector_sort(&search.list, compare);
    size_t count = 0;
    page_open_list(report->page, "pointed_to_by");
    TRY(put_places(report, &search, capacities, true, &count));
    TRY(put_places(report, &search, capacities, false, &count));
    page_close(report->page);
    page_say(report->page, count > 0 ? "\n" : "");
    return NULL;
}
