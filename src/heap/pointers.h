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
    /* Of words that are listed, 64 at a time: a bit for each that is left, from base on. */
    uint64_t words, base;
    struct g2h_fields fields; /* what the bits do not have yet */

    enum {
        WALK_BITS,     /* the slot class has bits for all of them */
        WALK_POINTERS, /* the field list has them, word by word */
        WALK_FIELDS,
        WALK_TYPE,
        WALK_WORDS
    } walk;

    /* Where fields are not simply listed pointers: */
    const struct heap_type *type;
    size_t field;             /* WALK_TYPE: next one */
    uint64_t element, stride; /* WALK_TYPE: offset of the element, and of the next one from it;
                                 WALK_WORDS: next word */
    uint64_t pending;         /* offset of an interface's data word that comes next; UINT64_MAX */
};

/* pointers_of_object() for slot classes that do not know their words. */
void pointers_of_other(const struct g2h_heap *heap, const struct g2h_object *object,
                       const struct slot_class *slot_class, struct pointers *ret);

/* The pointers of an object. slot class is the object's. */
static inline void pointers_of_object(const struct g2h_heap *heap, const struct g2h_object *object,
                                      const struct slot_class *slot_class, struct pointers *ret)
{
    if (slot_class->words == 0) {
        pointers_of_other(heap, object, slot_class, ret);
        return;
    }
    ret->heap = heap;
    ret->contents = object->contents;
    ret->walk = WALK_BITS;
    ret->words = slot_class->words;
    ret->base = 0;
}

/* The same of an object by its number; most need not be looked at as a whole for that. */
static inline void pointers_of(const struct g2h_heap *heap, uint32_t number,
                               const struct slot_class *slot_class, struct pointers *ret)
{
    struct g2h_object object;
    if (slot_class->words != 0)
        object.contents = heap_contents(heap, number);
    else
        heap_object(heap, number, &object);
    pointers_of_object(heap, &object, slot_class, ret);
}

/* The pointers of other memory with a field list. */
void pointers_of_fields(const struct g2h_heap *heap, struct g2h_bytes contents,
                        struct g2h_fields fields, struct pointers *ret);

/* Hands the pointers of all roots' memory to each(): of data and bss, and of what frames list. */
void pointers_of_roots(const struct g2h_heap *heap,
                       void (*each)(void *context, struct pointers *pointers), void *context);

/* Every aligned word. */
void pointers_of_words(const struct g2h_heap *heap, struct g2h_bytes contents,
                       struct pointers *ret);

/* WALK_POINTERS: goes on in the field list, to the next words that have bits. False at its end. */
bool pointers_decode(struct pointers *pointers);

/* pointers_next() for walks over what is not listed word by word. */
bool pointers_next_other(struct pointers *pointers, uint64_t *ret_offset, uint64_t *ret_value);

/* The next word that is not nil; false at the end. */
static inline bool pointers_next(struct pointers *pointers, uint64_t *ret_offset,
                                 uint64_t *ret_value)
{
    do {
        while (pointers->words != 0) {
            const uint64_t offset = pointers->base + (uint64_t)__builtin_ctzll(pointers->words) *
                                                         pointers->heap->params.pointer_size;
            pointers->words &= pointers->words - 1;
            *ret_value = heap_word(pointers->heap, pointers->contents.data + offset);
            if (*ret_value != 0) {
                *ret_offset = offset;
                return true;
            }
        }
        if (pointers->walk > WALK_POINTERS)
            return pointers_next_other(pointers, ret_offset, ret_value);
    } while (pointers->walk == WALK_POINTERS && pointers_decode(pointers));
    return false;
}

#endif
