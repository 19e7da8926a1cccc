/*
 * slot classes: the kinds of objects that can be distinguished in a dump without types.
 *
 * From 1.5 on the slot class of an object of up to LISTED_SIZE bytes consists of its size and its
 * field list; a program has some hundreds of them. A type that fits one object of a slot class then
 * fits all of them, so the others need not be read. The slot class of a larger object, and of any
 * object of 1.4, consists of its size and whether it has pointers. Before 1.4 a slot class consists
 * of the type record, the kind and the size. Objects of which the file has a part only have slot
 * classes of their own.
 *
 * To begin with: slot_classes_intern() numbers the class of each object that is read, which
 * slot_class_make() describes; slot_classes_adopt() joins the lists of threads that read parts of a
 * dump; slot_classes_finish() adds what is known when all records have been read.
 */
#include "base/contract.h"
#include "heap/heap.h"

#include <stdlib.h>
#include <string.h>

/* TABLE_LIMIT: the largest size in slot_classes->small. LISTED_LIMIT: no program has as many field
 * lists; slot classes beyond the limit have no list. */
enum { TABLE_LIMIT = 32768, LISTED_LIMIT = 1 << 16 };

void slot_classes_init(struct slot_classes *slot_classes, const struct g2h_heap *heap)
{
    *slot_classes = (struct slot_classes){.form = heap->pointer_form, .heap = heap};
    memset(slot_classes->small, 0xff, sizeof(slot_classes->small));
}

void slot_classes_deinit(struct slot_classes *slot_classes)
{
    for (size_t i = 0; i < slot_classes->list.count && slot_classes->own_fields; i++)
        free(not_const(slot_classes->list.data[i].fields));
    free(slot_classes->list.data);
    map_deinit(&slot_classes->by_key);
}

/* Returns whether a slot class is found in the table slot_classes->small by its size and
 * has_pointers alone: nothing else distinguishes it. */
static bool is_in_table(const struct slot_class *slot_class)
{
    return slot_class->type_address == 0 && slot_class->kind == G2H_OBJECT_VALUE &&
           slot_class->fields_size == 0 && !slot_class->is_headless &&
           slot_class->size <= TABLE_LIMIT && slot_class->size % 8 == 0 &&
           slot_class->stored == slot_class->size;
}

/* Returns whether an object's field list has any field. */
static bool slot_class_has_pointers(const struct g2h_object *object)
{
    return object->fields.at < object->fields.end && *object->fields.at != 0;
}

/* Returns whether the field list is part of the slot class: the object has at most LISTED_SIZE
 * bytes, and pointers, in a dump of 1.5 or later. */
static bool slot_class_is_listed(const struct slot_classes *slot_classes,
                                 const struct slot_class *slot_class)
{
    return slot_classes->form == POINTERS_LISTED && slot_class->size <= LISTED_SIZE &&
           slot_class->size % 8 == 0 && slot_class->has_pointers;
}

/*
 * Returns whether an object of LARGEST_SMALL bytes does not begin with the address of a type, and
 * so has no malloc header: if its first word is a listed pointer, a small number, not a multiple of
 * the word size, or a floating-point number.
 */
static bool is_headless(const struct slot_classes *slot_classes, const struct g2h_object *object)
{
    const uint64_t word = slot_classes->heap->params.pointer_size;
    const uint64_t low = 4096;               /* no type is in the lowest page */
    const uint64_t high = UINT64_C(1) << 56; /* nor so high, where floating-point numbers are */
    struct g2h_fields fields = object->fields;
    uint64_t offset;
    if (object->contents.size < word ||
        (fields_next_pointer(&fields, &offset) && offset < MALLOC_HEADER))
        return true;
    const uint64_t first = heap_word(slot_classes->heap, object->contents.data);
    return first < low || first >= high || first % word != 0;
}

/* Describes an object's slot class: what all objects of one kind have in common. The list of
 * pointers is part of it only if it is short enough to be stored. */
static struct slot_class slot_class_make(const struct slot_classes *slot_classes,
                                         const struct g2h_object *object)
{
    struct slot_class slot_class = {.size = object->size,
                                    .stored = object->contents.size,
                                    .type = SLOT_CLASS_NO_TYPE,
                                    .kind = (uint8_t)object->kind,
                                    .head = (uint8_t)(1 + uvarint_size(object->size))};
    if (slot_classes->form == POINTERS_TYPED) {
        slot_class.type_address = object->type;
        slot_class.head += (uint8_t)(uvarint_size(object->type) + uvarint_size(object->kind));
        return slot_class;
    }
    slot_class.has_pointers = slot_class_has_pointers(object);
    slot_class.tail = slot_class.has_pointers ? SLOT_CLASS_ANY_TAIL : 1;
    slot_class.is_headless = slot_class.has_pointers && slot_class.size == LARGEST_SMALL &&
                             is_headless(slot_classes, object);
    if (slot_class_is_listed(slot_classes, &slot_class)) {
        slot_class.fields = object->fields.at;
        slot_class.fields_size = slot_class.tail =
            (uint32_t)(object->fields.end - object->fields.at);
    }
    return slot_class;
}

/* Finds the type that a slot class names by its address, once all type records have been read. */
static void slot_class_resolve_type(const struct g2h_heap *heap, struct slot_class *slot_class)
{
    if (slot_class->type_address != 0)
        slot_class->type = map_get(&heap->type_by_address, slot_class->type_address);
    slot_class->has_pointers = slot_class->kind == G2H_OBJECT_CONSERVATIVE ||
                               (slot_class->type != SLOT_CLASS_NO_TYPE &&
                                heap->types.data[slot_class->type].field_count > 0);
}

/* Returns a bit for each listed word of a slot class; 0 if a word is beyond 64 or the list does not
 * ascend: then the list itself is walked. */
static uint64_t words_of(const struct g2h_heap *heap, const struct slot_class *slot_class)
{
    struct g2h_fields fields = slot_class_fields(heap, slot_class);
    uint64_t words = 0, offset, next = 0;
    while (fields_next_pointer(&fields, &offset)) {
        const uint64_t word = offset / heap->params.pointer_size;
        if (offset < next || word >= 64)
            return 0;
        words |= UINT64_C(1) << word;
        next = offset + 1;
    }
    return words;
}

/* Sets the types and the words of the slot classes, once all type records are read. */
void slot_classes_finish(struct g2h_heap *heap)
{
    VECTOR_EACH(struct slot_class, slot_class, heap->slot_classes.list) {
        if (heap->pointer_form == POINTERS_TYPED)
            slot_class_resolve_type(heap, slot_class);
        else if (slot_class->fields)
            slot_class->words = words_of(heap, slot_class);
    }
}

/* Returns whether two slot classes are the same, with the same field list. */
static bool slot_class_equal(const struct slot_class *a, const struct slot_class *b)
{
    return a->size == b->size && a->stored == b->stored && a->type_address == b->type_address &&
           a->kind == b->kind && a->has_pointers == b->has_pointers &&
           a->is_headless == b->is_headless && a->fields_size == b->fields_size &&
           (a->fields_size == 0 || memcmp(a->fields, b->fields, a->fields_size) == 0);
}

/* Returns a hash of all that distinguishes slot classes. Sizes are below 2^42 and kinds below 2^7,
 * so that the first word has them without loss. */
static uint64_t slot_class_key(const struct slot_class *slot_class)
{
    const uint64_t key =
        map_hash_pair(slot_class->size << 9 | (uint64_t)slot_class->kind << 2 |
                          (uint64_t)slot_class->is_headless << 1 | slot_class->has_pointers,
                      slot_class->type_address ^ (slot_class->size - slot_class->stored));
    return slot_class->fields
               ? map_hash_pair(key, map_hash_text(slot_class->fields, slot_class->fields_size))
               : key;
}

/* Finds a slot class; MAP_NONE: it is new. Keys may collide, so it tries one key after the other
 * until the slot class is equal or the key is free; that is *ret_key. */
static uint32_t slot_class_lookup(const struct slot_classes *slot_classes,
                                  const struct slot_class *slot_class, uint64_t *ret_key)
{
    for (*ret_key = slot_class_key(slot_class);; (*ret_key)++) {
        uint32_t found = map_get(&slot_classes->by_key, *ret_key);
        if (found == MAP_NONE || slot_class_equal(&slot_classes->list.data[found], slot_class))
            return found;
    }
}

/* Finds or adds a slot class: *ret becomes its number. Most without a list are found by the table,
 * others by a hash. Returns false if memory runs out. */
static bool slot_class_intern(struct slot_classes *slot_classes,
                              const struct slot_class *slot_class, uint32_t *ret)
{
    uint32_t *small = is_in_table(slot_class)
                          ? &slot_classes->small[slot_class->has_pointers][slot_class->size / 8]
                          : NULL;
    uint64_t key = 0;
    *ret = small ? *small : slot_class_lookup(slot_classes, slot_class, &key);
    if (*ret != MAP_NONE)
        return true;
    *ret = as_u32(slot_classes->list.count);
    if (!vector_push(&slot_classes->list, *slot_class))
        return false;
    if (!small)
        return map_put(&slot_classes->by_key, key, *ret, ret);
    *small = *ret;
    return true;
}

/* Gets the slot class of an object, and adds it if it is new. Returns false if memory runs out. */
bool slot_classes_intern(struct slot_classes *slot_classes, const struct g2h_object *object,
                         uint32_t *ret)
{
    const struct slot_class slot_class = slot_class_make(slot_classes, object);
    return slot_class_intern(slot_classes, &slot_class, ret);
}

/* Returns whether a copy of a field list is well-formed. The list was well-formed when it was read,
 * but the dump may have been written to since. */
static bool slot_class_is_list(const struct slot_classes *slot_classes,
                               const struct slot_class *slot_class)
{
    const uint64_t word = slot_classes->heap->params.pointer_size;
    struct g2h_fields fields = slot_class_fields(slot_classes->heap, slot_class);
    uint64_t offset;
    while (fields_next_pointer(&fields, &offset))
        if (offset > slot_class->size - word)
            return false;
    return fields.at + 1 == fields.end && *fields.at == 0;
}

/* Finds or adds a slot class that another list has. Field lists are copied, because those in the
 * dump may be overwritten; lists that are damaged by then, and too many different ones, are
 * dropped. Returns false if memory runs out. */
bool slot_classes_adopt(struct slot_classes *slot_classes, const struct slot_class *slot_class,
                        uint32_t *ret)
{
    struct slot_class copy = *slot_class;
    uint64_t key;
    slot_classes->own_fields = true;
    if (!copy.fields)
        return slot_class_intern(slot_classes, &copy, ret);
    uint8_t *fields = malloc(copy.fields_size);
    if (!fields)
        return false;
    memcpy(fields, copy.fields, copy.fields_size);
    copy.fields = fields;
    const bool is_known = slot_class_lookup(slot_classes, &copy, &key) != MAP_NONE,
               is_taken = !is_known && slot_classes->listed_count < LISTED_LIMIT &&
                          slot_class_is_list(slot_classes, &copy);
    slot_classes->listed_count += is_taken;
    if (!is_known && !is_taken) {
        copy.fields = NULL;
        copy.fields_size = 0;
        copy.tail = SLOT_CLASS_ANY_TAIL;
    }
    const size_t count = slot_classes->list.count;
    const bool good = slot_class_intern(slot_classes, &copy, ret);
    if (!is_taken || slot_classes->list.count == count)
        free(fields);
    return good;
}
