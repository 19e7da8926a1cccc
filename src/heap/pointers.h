/*
 * pointers: the words of an object, a frame or a segment that the garbage collector follows.
 *
 * A walk returns each such word that is not nil, with its offset, in the order of the field list.
 * From 1.5 on a field list names these words one by one. Before that, a field may be a string,
 * slice or interface. Go 1.3's collector followed its first word, unless a string was empty or a
 * slice had no capacity, and the data word of an interface only if its type said that the word was
 * a pointer.
 */
#ifndef HEAP_POINTERS_H
#define HEAP_POINTERS_H

#include "base/contract.h"
#include "heap/heap.h"

struct pointers {
    const struct g2h_heap *heap;
    struct g2h_bytes contents;
    /* Listed words, at most 64 at a time: a bit for each remaining one, the lowest for the word at
     * offset base. */
    uint64_t words, base;
    struct g2h_fields fields; /* the rest of the field list, after the words that have bits */
    struct range hole; /* the next part of large contents that is known to be zeros, by offsets */

    enum {
        WALK_BITS,     /* the slot class has a bit for each word */
        WALK_POINTERS, /* the field list names the words one by one */
        WALK_FIELDS,
        WALK_TYPE,
        WALK_WORDS
    } walk;

    /* For fields that are not simply listed pointers: */
    const struct heap_type *type;
    size_t field;             /* WALK_TYPE: the next field */
    uint64_t element, stride; /* WALK_TYPE: offset of the element, and distance to the next one;
                                 WALK_WORDS: offset of the next word */
    uint64_t pending; /* offset of the pending data word of an interface; UINT64_MAX if none */
};

/* Begins the walk of pointers_of_object() for a slot class without a bit per word (words is 0): a
 * large object, or one of a dump before Go 1.5. */
void pointers_of_other(const struct g2h_heap *heap, const struct g2h_object *object,
                       const struct slot_class *slot_class, struct pointers *ret);

/* Begins a walk over the pointers of an object. slot_class is the object's. */
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

/* Does the same for an object by its number. Most objects need not be read with heap_object() for
 * that. */
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

/* Begins a walk over the pointers of other memory with a field list. */
void pointers_of_fields(const struct g2h_heap *heap, struct g2h_bytes contents,
                        struct g2h_fields fields, struct pointers *ret);

/* Passes to each() the pointers in the memory of all roots: data, bss, and the listed words of
 * frames. */
void pointers_of_roots(const struct g2h_heap *heap,
                       void (*each)(void *context, struct pointers *pointers), void *context);

/* Returns the next part of contents, from an offset on, that is known to be zeros, by offsets;
 * UINT64_MAX for both if there is none. */
struct range pointers_hole(const struct g2h_heap *heap, struct g2h_bytes contents, uint64_t offset);

/* Begins a walk over every aligned word. */
void pointers_of_words(const struct g2h_heap *heap, struct g2h_bytes contents,
                       struct pointers *ret);

/* WALK_POINTERS: goes on to the next words of the field list, and sets their bits. Returns false at
 * its end. */
bool pointers_decode(struct pointers *pointers);

/* Gets the next word for pointers_next(), of a walk over memory whose words are not listed one by
 * one. */
bool pointers_next_other(struct pointers *pointers, uint64_t *ret_offset, uint64_t *ret_value);

/* Gets the next word that is not nil. Returns false at the end. */
static inline bool pointers_next(struct pointers *pointers, uint64_t *ret_offset,
                                 uint64_t *ret_value)
{
    do {
        while (pointers->words != 0) {
            const uint64_t offset =
                pointers->base + lowest_bit(pointers->words) * pointers->heap->params.pointer_size;
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
