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

void shapes_init(struct shapes *shapes, const struct g2h_heap *heap)
{
    *shapes = (struct shapes){.form = heap->pointer_form, .heap = heap};
    memset(shapes->small, 0xff, sizeof(shapes->small));
}

void shapes_deinit(struct shapes *shapes)
{
    for (size_t i = 0; i < shapes->list.count && shapes->own_fields; i++)
        free((uint8_t *)(uintptr_t)shapes->list.data[i].fields);
    free(shapes->list.data);
    map_deinit(&shapes->by_key);
}

static bool is_small(const struct shape *shape)
{
    return shape->type_address == 0 && shape->kind == G2H_OBJECT_VALUE && shape->fields_size == 0 &&
           !shape->is_headless && shape->size <= SMALL_LIMIT && shape->size % 8 == 0;
}

static bool has_pointers(const struct g2h_object *object)
{
    return object->fields.at < object->fields.end && *object->fields.at != 0;
}

static bool is_listed(const struct shapes *shapes, const struct shape *shape)
{
    return shapes->form == POINTERS_LISTED && shape->size <= LISTED_SIZE && shape->size % 8 == 0 &&
           shape->has_pointers;
}

/*
 * Whether an object of LARGEST_SMALL bytes does not begin with the address of a type: what begins
 * with a pointer does not, nor does what begins with a small number, one that is no multiple of a
 * word, or a floating-point one.
 */
static bool is_headless(const struct shapes *shapes, const struct g2h_object *object)
{
    const uint64_t word = shapes->heap->params.pointer_size, low = 4096, high = (uint64_t)1 << 56;
    struct g2h_fields fields = object->fields;
    uint64_t offset;
    if (object->contents.size < word ||
        (fields_next_pointer(&fields, &offset) && offset < MALLOC_HEADER))
        return true;
    const uint64_t first = heap_word(shapes->heap, object->contents.data);
    return first < low || first >= high || first % word != 0;
}

static struct shape shape_make(const struct shapes *shapes, const struct g2h_object *object)
{
    struct shape shape = {.size = object->size,
                          .stored = object->contents.size,
                          .type = SHAPE_NO_TYPE,
                          .kind = (uint8_t)object->kind,
                          .head = (uint8_t)(1 + uvarint_size(object->size))};
    if (shapes->form == POINTERS_TYPED) {
        shape.type_address = object->type;
        shape.head += (uint8_t)(uvarint_size(object->type) + uvarint_size(object->kind));
        return shape;
    }
    shape.has_pointers = has_pointers(object);
    shape.tail = shape.has_pointers ? SHAPE_ANY_TAIL : 1;
    shape.is_headless =
        shape.has_pointers && shape.size == LARGEST_SMALL && is_headless(shapes, object);
    if (is_listed(shapes, &shape)) {
        shape.fields = object->fields.at;
        shape.fields_size = shape.tail = (uint32_t)(object->fields.end - object->fields.at);
    }
    return shape;
}

static void resolve_type(const struct g2h_heap *heap, struct shape *shape)
{
    if (shape->type_address != 0)
        shape->type = map_get(&heap->type_by_address, shape->type_address);
    shape->has_pointers =
        shape->kind == G2H_OBJECT_CONSERVATIVE ||
        (shape->type != SHAPE_NO_TYPE && heap->types.data[shape->type].field_count > 0);
}

static uint64_t words_of(const struct g2h_heap *heap, const struct shape *shape)
{
    struct g2h_fields fields = shape_fields(heap, shape);
    uint64_t words = 0, offset, next = 0;
    while (fields_next_pointer(&fields, &offset)) {
        const uint64_t word = offset / heap->params.pointer_size;
        if (offset < next || word >= 64)
            return 0;
        words |= (uint64_t)1 << word;
        next = offset + 1;
    }
    return words;
}

void shapes_finish(struct g2h_heap *heap)
{
    for (size_t i = 0; i < heap->shapes.list.count; i++) {
        struct shape *shape = &heap->shapes.list.data[i];
        if (heap->pointer_form == POINTERS_TYPED)
            resolve_type(heap, shape);
        else if (shape->fields)
            shape->words = words_of(heap, shape);
    }
}

static bool shape_equal(const struct shape *a, const struct shape *b)
{
    return a->size == b->size && a->type_address == b->type_address && a->kind == b->kind &&
           a->has_pointers == b->has_pointers && a->is_headless == b->is_headless &&
           a->fields_size == b->fields_size &&
           (a->fields_size == 0 || memcmp(a->fields, b->fields, a->fields_size) == 0);
}

/* Sizes are below 2^42 and kinds below 2^7: two words, mixed into one key. */
static uint64_t shape_key(const struct shape *shape)
{
    const uint64_t key = map_hash_pair(shape->size << 9 | (uint64_t)shape->kind << 2 |
                                           (uint64_t)shape->is_headless << 1 | shape->has_pointers,
                                       shape->type_address);
    return shape->fields ? map_hash_pair(key, map_hash_text(shape->fields, shape->fields_size))
                         : key;
}

/* Keys may collide: the next key is tried until the shape is the same or the key is free. */
static uint32_t lookup(const struct shapes *shapes, const struct shape *shape, uint64_t *ret_key)
{
    for (*ret_key = shape_key(shape);; (*ret_key)++) {
        uint32_t found = map_get(&shapes->by_key, *ret_key);
        if (found == MAP_NONE || shape_equal(&shapes->list.data[found], shape))
            return found;
    }
}

static bool intern(struct shapes *shapes, const struct shape *shape, uint32_t *ret)
{
    uint32_t *small = is_small(shape) ? &shapes->small[shape->has_pointers][shape->size / 8] : NULL;
    uint64_t key = 0;
    *ret = small ? *small : lookup(shapes, shape, &key);
    if (*ret != MAP_NONE)
        return true;
    *ret = (uint32_t)shapes->list.count;
    if (!vector_push(&shapes->list, *shape))
        return false;
    if (!small)
        return map_put(&shapes->by_key, key, *ret, ret);
    *small = *ret;
    return true;
}

bool shapes_intern(struct shapes *shapes, const struct g2h_object *object, uint32_t *ret)
{
    const struct shape shape = shape_make(shapes, object);
    return intern(shapes, &shape, ret);
}

/* Whether a copy of a field list is one: it was when it was read, but the dump may have been
 * written to. */
static bool is_list(const struct shapes *shapes, const struct shape *shape)
{
    const uint64_t word = shapes->heap->params.pointer_size;
    struct g2h_fields fields = shape_fields(shapes->heap, shape);
    uint64_t offset;
    while (fields_next_pointer(&fields, &offset))
        if (offset > shape->size - word)
            return false;
    return fields.at + 1 == fields.end && *fields.at == 0;
}

bool shapes_adopt(struct shapes *shapes, const struct shape *shape, uint32_t *ret)
{
    struct shape copy = *shape;
    uint64_t key;
    shapes->own_fields = true;
    if (!copy.fields)
        return intern(shapes, &copy, ret);
    uint8_t *fields = malloc(copy.fields_size);
    if (!fields)
        return false;
    memcpy(fields, copy.fields, copy.fields_size);
    copy.fields = fields;
    const bool is_known = lookup(shapes, &copy, &key) != MAP_NONE,
               is_taken =
                   !is_known && shapes->listed_count < LISTED_LIMIT && is_list(shapes, &copy);
    shapes->listed_count += is_taken;
    if (!is_known && !is_taken) {
        copy.fields = NULL;
        copy.fields_size = 0;
        copy.tail = SHAPE_ANY_TAIL;
    }
    const size_t count = shapes->list.count;
    const bool good = intern(shapes, &copy, ret);
    if (!is_taken || shapes->list.count == count)
        free(fields);
    return good;
}
