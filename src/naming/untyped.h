/*
 * untyped: the names of objects' pointers in a heap without types.
 *
 * namer.h returns the same names, one at a time and in every case. This file is the path that
 * nearly all pointers of an untyped heap take: an offset has its name in a table, and the name of a
 * pointer after the first word of an interface is looked up by this word and the offset. The last
 * few thousand of these names are remembered. Other look-ups wait until the data for several of
 * them has been prefetched, because the tables are larger than a cache.
 */
#ifndef NAMING_UNTYPED_H
#define NAMING_UNTYPED_H

#include "naming/namer.h"

/* The remembered name of the pointer at offset that follows a word which may be the first of an
 * interface. */
struct untyped_known {
    uint64_t first; /* the word before the pointer */
    uint32_t offset;
    uint32_t name; /* string */
};

/* A name that has not been looked up yet. */
struct untyped_waiting {
    uint32_t *ret; /* where to store the name */
    uint64_t key, first;
    uint32_t offset;
};

enum { UNTYPED_WAITING = 32 };

struct untyped_names {
    struct untyped_waiting waiting[UNTYPED_WAITING];
    size_t waiting_count;
    unsigned shift;               /* shift from a hash to an index of known */
    struct untyped_known known[]; /* zeroes at first: an interface's pointer is never at offset 0 */
};

/* Creates the memory for names of a heap; free() releases it. Returns NULL if memory runs out. */
struct untyped_names *untyped_create(const struct g2h_heap *heap);

/* Returns whether all names of a heap's pointers can be found here, provided that it has no types
 * from an executable. */
static inline bool heap_names_untyped(const struct g2h_heap *heap)
{
    return heap->pointer_form == POINTERS_LISTED && heap_words_are_usual(heap);
}

/* Reads a word of such a heap. */
static inline uint64_t untyped_word(const uint8_t *at)
{
    uint64_t word;
    __builtin_memcpy(&word, at, sizeof(word));
    return word;
}

/* Returns where the name of the pointer at offset after such a word is remembered. */
static inline struct untyped_known *untyped_slot(struct untyped_names *names, uint64_t first,
                                                 uint64_t offset)
{
    return &names->known[(first ^ offset << 40) * 0x9fb21c651e98df25u >> names->shift];
}

/* Returns whether the name of the pointer at offset, below ELEMENT_OFFSET, may depend on the
 * interface that contains it, not only on the offset. contents are the object's. */
static inline bool untyped_maybe_interface(const struct g2h_heap *heap, const uint8_t *contents,
                                           uint64_t offset)
{
    return offset >= sizeof(uint64_t) &&
           heap_maybe_interface(heap, untyped_word(contents + offset - sizeof(uint64_t)));
}

/* Returns the key of such a pointer; first is the word before it. */
uint64_t untyped_key(const struct g2h_heap *heap, const struct slot_class *slot_class,
                     uint64_t first, uint64_t offset);

/* Gets the name of such a pointer, or makes the look-up wait. */
void untyped_interface_name(const struct names *names, struct untyped_names *known,
                            const struct slot_class *slot_class, uint64_t first, uint64_t offset,
                            uint32_t *ret);

/* Looks up the names that wait; they are NAME_NONE if names_of_key() returns it. */
void untyped_finish(const struct names *names, struct untyped_names *known);

/* Sets *ret to the string of the name of the pointer at offset, below ELEMENT_OFFSET. ret must stay
 * valid until untyped_finish(). */
static inline void untyped_name_of(const struct names *names, struct untyped_names *known,
                                   const struct slot_class *slot_class, const uint8_t *contents,
                                   uint64_t offset, uint32_t *ret)
{
    if (untyped_maybe_interface(names->heap, contents, offset))
        untyped_interface_name(names, known, slot_class,
                               untyped_word(contents + offset - sizeof(uint64_t)), offset, ret);
    else
        *ret = names_of_offset(names, offset);
}

#endif
