/*
 * shapes: the kinds of objects that a dump without types can tell apart.
 *
 * From 1.5 on the shape of a small object is its slot's size and its field list, of which a program
 * has some hundreds: what a type says of one object of a shape then holds for all of them, and
 * nobody need read the others. Larger ones have a size and pointers or none; before, the type
 * record, kind and size.
 */
#include "heap/heap.h"

#include <stdlib.h>
#include <string.h>

/* No program has as many field lists; objects with others have shapes without. */
enum { SMALL_LIMIT = 32768, LISTED_LIMIT = 1 << 16 };

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

static bool has_pointers(const struct g2h_object *object)
{
    return object->fields.at < object->fields.end && *object->fields.at != 0;
}

static bool is_listed(const struct g2h_heap *heap, const struct g2h_object *object)
{
    return heap->pointer_form == POINTERS_LISTED && object->size <= LISTED_SIZE &&
           object->size % 8 == 0 && has_pointers(object);
}

static struct shape shape_make(const struct g2h_heap *heap, const struct g2h_object *object)
{
    struct shape shape = {.size = object->size,
                          .stored = object->contents.size,
                          .type = SHAPE_NO_TYPE,
                          .kind = (uint8_t)object->kind};
    if (heap->pointer_form == POINTERS_TYPED)
        shape.type_address = object->type;
    else
        shape.has_pointers = has_pointers(object);
    return shape;
}

static void shape_add_fields(struct shape *shape, const struct g2h_object *object)
{
    shape->fields = object->fields.at;
    shape->fields_size = (uint32_t)(object->fields.end - object->fields.at);
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
           (heap->pointer_form == POINTERS_TYPED || a->has_pointers == b->has_pointers) &&
           a->fields_size == b->fields_size &&
           (a->fields_size == 0 || memcmp(a->fields, b->fields, a->fields_size) == 0);
}

/* Sizes are below 2^42 and kinds below 2^7: two words, mixed into one key. */
static uint64_t shape_key(const struct g2h_heap *heap, const struct shape *shape)
{
    const bool points = heap->pointer_form != POINTERS_TYPED && shape->has_pointers;
    return map_hash(shape->size << 8 | (uint64_t)shape->kind << 1 | points) +
           map_hash(shape->type_address) +
           (shape->fields ? map_hash_bytes(shape->fields, shape->fields_size) : 0);
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

static bool add(struct shapes *shapes, const struct shape *shape, uint64_t key, uint32_t *ret)
{
    *ret = (uint32_t)shapes->list.count;
    return vector_push(&shapes->list, *shape) && map_put(&shapes->by_key, key, *ret, ret);
}

static bool intern_listed(struct g2h_heap *heap, const struct g2h_object *object, uint32_t *ret)
{
    struct shapes *shapes = &heap->shapes;
    struct shape shape = shape_make(heap, object);
    uint64_t key;
    shape_add_fields(&shape, object);
    *ret = lookup(heap, &shape, &key);
    if (*ret != MAP_NONE || shapes->listed_count == LISTED_LIMIT)
        return true;
    shapes->listed_count++;
    return add(shapes, &shape, key, ret);
}

bool shapes_intern(struct g2h_heap *heap, const struct g2h_object *object, uint32_t *ret)
{
    struct shapes *shapes = &heap->shapes;
    if (is_listed(heap, object)) {
        if (!intern_listed(heap, object, ret))
            return false;
        if (*ret != MAP_NONE)
            return true;
    }
    const struct shape shape = shape_make(heap, object);
    uint64_t key;
    if (!is_small(&shape)) {
        *ret = lookup(heap, &shape, &key);
        return *ret != MAP_NONE || add(shapes, &shape, key, ret);
    }
    uint32_t *small = &shapes->small[shape.has_pointers][shape.size / 8];
    if (*small == MAP_NONE) {
        *small = (uint32_t)shapes->list.count;
        if (!vector_push(&shapes->list, shape))
            return false;
    }
    *ret = *small;
    return true;
}

uint32_t shapes_find(const struct g2h_heap *heap, const struct g2h_object *object)
{
    struct shape shape = shape_make(heap, object);
    uint64_t key;
    if (is_listed(heap, object)) {
        shape_add_fields(&shape, object);
        const uint32_t found = lookup(heap, &shape, &key);
        if (found != MAP_NONE)
            return found;
        shape = shape_make(heap, object);
    }
    return is_small(&shape) ? heap->shapes.small[shape.has_pointers][shape.size / 8]
                            : lookup(heap, &shape, &key);
}
