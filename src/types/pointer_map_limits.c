/*
 * pointer_map_limits; see pointer_map_limits.h.
 *
 * Which types have no map must not depend on the order in which maps are requested, so all types
 * are measured before any map is made.
 */
#include "types/pointer_map_limits.h"

#include <stdlib.h>

/* Each map may use OWN_WORK. The types that need more share SHARED_WORK, smallest first. A program
 * of 74,000 types needs 3 % of SHARED_WORK. */
enum { OWN_WORK = 64, SHARED_WORK = 1 << 22 };

/* The cost of a type's map: at least the work that pointer_map.c needs to make it. */
struct measure {
    uint32_t work; /* 0: not measured yet; TOO_MANY: over a limit */
    uint32_t fields;
    uint8_t height; /* nesting depth of the types in it */
    bool is_busy;   /* it is being measured */
};

#define TOO_MANY UINT32_MAX

/* A type that is being measured, and the index of its next field. */
struct pointer_map_limits_work {
    uint32_t type, next;
};

struct measurer {
    const struct types *types;
    struct measure *measures;
    VECTOR(struct pointer_map_limits_work) stack;
};

/* Adds the cost of count values of a type to the cost of the type that contains them. */
static void add_measure(struct measure *measure, const struct measure *part, uint64_t count)
{
    const uint64_t times = part->fields == 0 && count > 1 ? 1 : count,
                   work = measure->work + times * part->work;
    if (part->work == TOO_MANY || part->is_busy || part->height >= MAP_DEPTH_MOST ||
        measure->work == TOO_MANY || times > MAP_WORK_MOST || work > MAP_WORK_MOST) {
        measure->work = TOO_MANY;
        return;
    }
    measure->work = (uint32_t)work;
    measure->fields += (uint32_t)times * part->fields;
    if (measure->height <= part->height)
        measure->height = (uint8_t)(part->height + 1);
}

/* Gets the next type within a type that is being measured, and the number of adjacent values of it.
 * Returns false if there are no more. */
static bool pointer_map_limits_next_part(const struct types *types,
                                         struct pointer_map_limits_work *at, uint32_t *ret,
                                         uint64_t *ret_count)
{
    const struct type *type = &types->list.data[at->type];
    *ret_count = 1;
    if (type->kind == TYPE_ARRAY) {
        *ret = type->elem;
        *ret_count = type->length;
        return at->next++ == 0 && type->length > 0;
    }
    if (type->kind != TYPE_STRUCT || at->next >= type->field_count)
        return false;
    *ret = types->fields.data[type->first_field + at->next++].type;
    return true;
}

static bool has_pointer_field(const struct type *type)
{
    return type->kind >= TYPE_CHAN && type->kind != TYPE_STRUCT && type->pointer_bytes > 0;
}

/* Measures the types within a type, then the type itself. Returns false if memory runs out. */
static bool measure_type(struct measurer *measurer, uint32_t root)
{
    const struct types *types = measurer->types;
    uint32_t part;
    uint64_t count;
    measurer->stack.count = 0;
    if (measurer->measures[root].work == 0 &&
        !vector_push(&measurer->stack, ((struct pointer_map_limits_work){root, 0})))
        return false;
    while (measurer->stack.count > 0) {
        struct pointer_map_limits_work *at = &measurer->stack.data[measurer->stack.count - 1];
        struct measure *measure = &measurer->measures[at->type];
        if (measure->work == 0)
            *measure = (struct measure){.work = 1,
                                        .fields = has_pointer_field(&types->list.data[at->type]),
                                        .is_busy = true};
        const struct pointer_map_limits_work before = *at;
        if (measure->work == TOO_MANY || !pointer_map_limits_next_part(types, at, &part, &count)) {
            measure->is_busy = false;
            measurer->stack.count--;
        } else if (part >= types->list.count) {
            measure->work = TOO_MANY;
        } else if (measurer->measures[part].work != 0) {
            add_measure(measure, &measurer->measures[part], count);
        } else {
            *at = before; /* this part is visited again after its type has been measured */
            if (!vector_push(&measurer->stack, ((struct pointer_map_limits_work){part, 0})))
                return false;
        }
    }
    return true;
}

/* A type whose map needs more than OWN_WORK. */
struct large_type {
    uint64_t work;
    uint32_t type;
};

typedef VECTOR(struct large_type) large_vector;

static int compare_large(const void *a, const void *b)
{
    const struct large_type *one = a, *other = b;
    if (one->work != other->work)
        return one->work < other->work ? -1 : 1;
    return one->type < other->type ? -1 : 1;
}

static void mark_too_large(struct pointer_maps *maps, uint32_t type)
{
    maps->too_large[type / 64] |= (uint64_t)1 << (type % 64);
}

/* Measures all types. Marks those that are too large, and lists those that need more than
 * OWN_WORK. Returns false if memory runs out. */
static bool measure_all(struct pointer_maps *maps, struct measurer *measurer, large_vector *ret)
{
    const struct types *types = maps->types;
    for (uint32_t i = 0; i < maps->count; i++) {
        const struct type *type = &types->list.data[i];
        if (!measure_type(measurer, i))
            return false;
        const struct measure *measure = &measurer->measures[i];
        const uint64_t words =
            type->gc_mask ? type->pointer_bytes / types->pointer_size : measure->fields;
        if (measure->work == TOO_MANY || measure->fields > MAP_FIELDS_MOST)
            mark_too_large(maps, i);
        else if (measure->work + words > OWN_WORK &&
                 !vector_push(ret, ((struct large_type){measure->work + words, i})))
            return false;
    }
    return true;
}

/* Distributes SHARED_WORK among the large types, the smallest first, and marks those for which
 * nothing is left. */
static void share_work(struct pointer_maps *maps, large_vector *large)
{
    uint64_t left = SHARED_WORK;
    vector_sort(large, compare_large);
    for (size_t i = 0; i < large->count; i++) {
        if (large->data[i].work > left)
            mark_too_large(maps, large->data[i].type);
        left -= large->data[i].work < left ? large->data[i].work : left;
    }
}

bool pointer_map_limits_find(struct pointer_maps *maps)
{
    struct measurer measurer = {.types = maps->types,
                                .measures = calloc(maps->count + 1, sizeof(*measurer.measures))};
    large_vector large = {0};
    const bool good = measurer.measures && measure_all(maps, &measurer, &large);
    if (good)
        share_work(maps, &large);
    free(large.data);
    free(measurer.measures);
    free(measurer.stack.data);
    return good;
}
