/*
 * pointers: the words of an object, a frame or a segment that the garbage collector follows.
 *
 * Gives each word that is not nil, with its offset, in the order of the field list. From 1.5 on a
 * field list names such words one by one. Before, a field may be a string, slice or interface, of
 * which Go 1.3's collector followed the first word, unless the string is empty or the slice has no
 * capacity, and an interface's data word only where its type says that it is a pointer.
 */
#ifndef HEAP_POINTERS_H
#define HEAP_POINTERS_H

#include "heap/heap.h"

struct pointers {
    const struct g2h_heap *heap;
    struct g2h_bytes contents;
    struct g2h_fields fields;

    /* Where fields are not simply listed pointers: */
    enum { WALK_POINTERS, WALK_FIELDS, WALK_TYPE, WALK_WORDS } walk;
    const struct heap_type *type;
    size_t field;             /* WALK_TYPE: next one */
    uint64_t element, stride; /* WALK_TYPE: offset of the element, and of the next one from it;
                                 WALK_WORDS: next word */
    uint64_t pending;         /* offset of an interface's data word that comes next; UINT64_MAX */
};

/* The pointers of an object. shape is the object's. */
void pointers_of_object(const struct g2h_heap *heap, const struct g2h_object *object,
                        const struct shape *shape, struct pointers *ret);

/* The pointers of other memory with a field list. */
void pointers_of_fields(const struct g2h_heap *heap, struct g2h_bytes contents,
                        struct g2h_fields fields, struct pointers *ret);

/* Every aligned word. */
void pointers_of_words(const struct g2h_heap *heap, struct g2h_bytes contents,
                       struct pointers *ret);

/* pointers_next() for all walks but WALK_POINTERS. */
bool pointers_next_field(struct pointers *pointers, uint64_t *ret_offset, uint64_t *ret_value);

/* The next word that is not nil; false at the end. */
static inline bool pointers_next(struct pointers *pointers, uint64_t *ret_offset,
                                 uint64_t *ret_value)
{
    const struct g2h_heap *heap = pointers->heap;
    uint64_t offset;
    if (pointers->walk != WALK_POINTERS)
        return pointers_next_field(pointers, ret_offset, ret_value);
    while (fields_next_pointer(&pointers->fields, &offset)) {
        if (pointers->contents.size < heap->params.pointer_size ||
            offset > pointers->contents.size - heap->params.pointer_size)
            continue; /* declared, but not in the file: see reader_stored_size() */
        uint64_t value = heap_word(heap, pointers->contents.data + offset);
        if (value != 0) {
            *ret_offset = offset;
            *ret_value = value;
            return true;
        }
    }
    return false;
}

#endif
