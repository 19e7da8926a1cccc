/*
 * shapes: the few kinds of objects that a dump without types can tell apart.
 *
 * From 1.4 on a shape is a slot size and whether there are pointers; before, the type record, kind
 * and size.
 */
#include "heap/heap.h"

#include <stdlib.h>
#include <string.h>

enum { SMALL_LIMIT = 32768 };

void shapes_init(struct shapes *shapes)
{
    memset(shapes->small, 0xff, sizeof(shapes->small));
}

void shapes_deinit(struct shapes *shapes)
{
    free(shapes->list.data);
    map_deinit(&shapes->by_key);
}

static bool is_small(const struct shape *shape)
{
    return shape->type_address == 0 && shape->kind == G2H_OBJECT_VALUE &&
           shape->size <= SMALL_LIMIT && shape->size % 8 == 0;
}

static struct shape shape_make(const struct g2h_heap *heap, const struct g2h_object *object)
{
    struct shape shape = {
        .size = object->size, .type = SHAPE_NO_TYPE, .kind = (uint8_t)object->kind};
    if (heap->pointer_form == POINTERS_TYPED)
        shape.type_address = object->type;
    else
        shape.has_pointers = object->fields.at < object->fields.end && *object->fields.at != 0;
    return shape;
}

void shapes_resolve_types(struct g2h_heap *heap)
{
    if (heap->pointer_form != POINTERS_TYPED)
        return;
    for (size_t i = 0; i < heap->shapes.list.count; i++) {
        struct shape *shape = &heap->shapes.list.data[i];
        if (shape->type_address != 0)
            shape->type = map_get(&heap->type_by_address, shape->type_address);
        shape->has_pointers =
            shape->kind == G2H_OBJECT_CONSERVATIVE ||
            (shape->type != SHAPE_NO_TYPE && heap->types.data[shape->type].field_count > 0);
    }
}

/* Whether there are pointers follows from the type where objects have one. */
static bool shape_equal(const struct g2h_heap *heap, const struct shape *a, const struct shape *b)
{
    return a->size == b->size && a->type_address == b->type_address && a->kind == b->kind &&
           (heap->pointer_form == POINTERS_TYPED || a->has_pointers == b->has_pointers);
}

/* Sizes are below 2^42 and kinds below 2^7: two words, mixed into one key. */
static uint64_t shape_key(const struct g2h_heap *heap, const struct shape *shape)
{
    bool has_pointers = heap->pointer_form != POINTERS_TYPED && shape->has_pointers;
    return map_hash(shape->size << 8 | (uint64_t)shape->kind << 1 | has_pointers) +
           map_hash(shape->type_address);
}

/* Keys may collide: the next key is tried until the shape is the same or the key is free. */
static uint32_t lookup(const struct g2h_heap *heap, const struct shape *shape, uint64_t *ret_key)
{
    for (*ret_key = shape_key(heap, shape);; (*ret_key)++) {
        uint32_t found = map_get(&heap->shapes.by_key, *ret_key);
        if (found == MAP_NONE || shape_equal(heap, &heap->shapes.list.data[found], shape))
            return found;
    }
}

bool shapes_intern(struct g2h_heap *heap, const struct g2h_object *object, uint32_t *ret)
{
    struct shapes *shapes = &heap->shapes;
    struct shape shape = shape_make(heap, object);
    uint32_t *small = is_small(&shape) ? &shapes->small[shape.has_pointers][shape.size / 8] : NULL;
    if (small && *small != MAP_NONE) {
        *ret = *small;
        return true;
    }
    uint64_t key = 0;
    uint32_t found = small ? MAP_NONE : lookup(heap, &shape, &key);
    if (found != MAP_NONE) {
        *ret = found;
        return true;
    }
    uint32_t number = (uint32_t)shapes->list.count;
    if (!vector_push(&shapes->list, shape))
        return false;
    *ret = number;
    if (!small)
        return map_put(&shapes->by_key, key, number, ret);
    *small = number;
    return true;
}

uint32_t shapes_find(const struct g2h_heap *heap, const struct g2h_object *object)
{
    struct shape shape = shape_make(heap, object);
    uint64_t key;
    if (is_small(&shape))
        return heap->shapes.small[shape.has_pointers][shape.size / 8];
    return lookup(heap, &shape, &key);
}
