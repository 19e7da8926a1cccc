/*
 * pointer_map_limits; see pointer_map_limits.h.
 *
 * Which types have no map must not depend on which is asked for first, so all types are measured
 * before any map is made.
 */
#include "types/pointer_map_limits.h"

#include <stdlib.h>

/* Each map may take some steps. The types that take more than these have so many together, and get
 * them in the order of what they take. A program of 74,000 types takes 3 % of them. */
enum { OWN_STEPS = 64, SHARED_STEPS = 1 << 22 };

/* What the map of a type takes: at least as many steps as pointer_map.c takes to make it. */
struct measure {
    uint32_t steps; /* 0: not measured yet; TOO_MANY */
    uint32_t fields;
    uint8_t height; /* how deep types are within it */
    bool is_busy;   /* it is being measured */
};

#define TOO_MANY UINT32_MAX

/* A type that is being measured, and which of its fields is next. */
struct work {
    uint32_t type, next;
};

struct measurer {
    const struct types *types;
    struct measure *measures;
    VECTOR(struct work) stack;
};

/* Adds to what a type takes what so many values of a type within it take. */
static void add_measure(struct measure *measure, const struct measure *part, uint64_t count)
{
    const uint64_t times = part->fields == 0 && count > 1 ? 1 : count,
                   steps = measure->steps + times * part->steps;
    if (part->steps == TOO_MANY || part->is_busy || part->height >= MAP_DEPTH_MOST ||
        measure->steps == TOO_MANY || times > MAP_STEPS_MOST || steps > MAP_STEPS_MOST) {
        measure->steps = TOO_MANY;
        return;
    }
    measure->steps = (uint32_t)steps;
    measure->fields += (uint32_t)times * part->fields;
    if (measure->height <= part->height)
        measure->height = (uint8_t)(part->height + 1);
}

/* The next type within one that is being measured, and how many values of it there are in a row.
 * False where there are no more. */
static bool next_part(const struct types *types, struct work *at, uint32_t *ret,
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

/* Measures the types within a type, then the type. False where there is no memory. */
static bool measure_type(struct measurer *measurer, uint32_t root)
{
    const struct types *types = measurer->types;
    uint32_t part;
    uint64_t count;
    measurer->stack.count = 0;
    if (measurer->measures[root].steps == 0 &&
        !vector_push(&measurer->stack, ((struct work){root, 0})))
        return false;
    while (measurer->stack.count > 0) {
        struct work *at = &measurer->stack.data[measurer->stack.count - 1];
        struct measure *measure = &measurer->measures[at->type];
        if (measure->steps == 0)
            *measure = (struct measure){.steps = 1,
                                        .fields = has_pointer_field(&types->list.data[at->type]),
                                        .is_busy = true};
        const struct work before = *at;
        if (measure->steps == TOO_MANY || !next_part(types, at, &part, &count)) {
            measure->is_busy = false;
            measurer->stack.count--;
        } else if (part >= types->list.count) {
            measure->steps = TOO_MANY;
        } else if (measurer->measures[part].steps != 0) {
            add_measure(measure, &measurer->measures[part], count);
        } else {
            *at = before; /* again once that type has been measured */
            if (!vector_push(&measurer->stack, ((struct work){part, 0})))
                return false;
        }
    }
    return true;
}

/* A type whose map takes more than OWN_STEPS. */
struct large_type {
    uint64_t steps;
    uint32_t type;
};

typedef VECTOR(struct large_type) large_vector;

static int compare_large(const void *a, const void *b)
{
    const struct large_type *one = a, *other = b;
    if (one->steps != other->steps)
        return one->steps < other->steps ? -1 : 1;
    return one->type < other->type ? -1 : 1;
}

static void mark_too_large(struct pointer_maps *maps, uint32_t type)
{
    maps->too_large[type / 64] |= (uint64_t)1 << (type % 64);
}

/* Measures all types. Marks those that are too large, and lists those that are large. */
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
        if (measure->steps == TOO_MANY || measure->fields > MAP_FIELDS_MOST)
            mark_too_large(maps, i);
        else if (measure->steps + words > OWN_STEPS &&
                 !vector_push(ret, ((struct large_type){measure->steps + words, i})))
            return false;
    }
    return true;
}

/* Lets the large types share the steps that they have together: the smallest ones get them. */
static void share_steps(struct pointer_maps *maps, large_vector *large)
{
    uint64_t left = SHARED_STEPS;
    vector_sort(large, compare_large);
    for (size_t i = 0; i < large->count; i++) {
        if (large->data[i].steps > left)
            mark_too_large(maps, large->data[i].type);
        left -= large->data[i].steps < left ? large->data[i].steps : left;
    }
}

bool pointer_map_limits_find(struct pointer_maps *maps)
{
    struct measurer measurer = {.types = maps->types,
                                .measures = calloc(maps->count + 1, sizeof(*measurer.measures))};
    large_vector large = {0};
    const bool good = measurer.measures && measure_all(maps, &measurer, &large);
    if (good)
        share_steps(maps, &large);
    free(large.data);
    free(measurer.measures);
    free(measurer.stack.data);
    return good;
}
