/*
 * plain: what pointers of objects are called where nothing has types.
 *
 * namer.h gives the same names, one after the other and in every case. Here is what nearly all
 * pointers of an untyped heap go through: an offset has its name in a table, and behind the first
 * word of an interface the name is looked up by this word and the offset. Of these the last few
 * thousand are remembered. Others wait, until what is needed to look up several of them is on its
 * way: the tables are larger than a cache.
 */
#ifndef NAMING_PLAIN_H
#define NAMING_PLAIN_H

#include "naming/namer.h"

/* What is known of the pointer at offset, behind a word that an interface may begin with. */
struct plain_name {
    uint64_t first; /* this word */
    uint32_t offset;
    uint32_t name; /* string */
};

/* A name that is not known yet. */
struct plain_waiting {
    uint32_t *ret; /* where it goes */
    uint64_t key, first;
    uint32_t offset;
};

enum { PLAIN_WAITING = 32 };

struct plain_names {
    struct plain_waiting waiting[PLAIN_WAITING];
    size_t waiting_count;
    unsigned shift;            /* of a hash, to its place among those known; */
    struct plain_name known[]; /* zeroes at first: no interface's pointer is at offset 0 */
};

/* Makes room to remember names of a heap. NULL where there is no memory; free() ends it. */
struct plain_names *plain_create(const struct g2h_heap *heap);

/* Whether all names of a heap's pointers are such, if it has no types from an executable. */
static inline bool heap_is_plain(const struct g2h_heap *heap)
{
    return heap->pointer_form == POINTERS_LISTED && heap_words_are_usual(heap);
}

/* A word of such a heap. */
static inline uint64_t plain_word(const uint8_t *at)
{
    uint64_t word;
    __builtin_memcpy(&word, at, sizeof(word));
    return word;
}

/* Where a pointer behind such a word is remembered. */
static inline struct plain_name *plain_place(struct plain_names *names, uint64_t first,
                                             uint64_t offset)
{
    return &names->known[(first ^ offset << 40) * 0x9fb21c651e98df25u >> names->shift];
}

/* Whether the pointer at offset, below ELEMENT_OFFSET, may be called by the interface that it is
 * of, so that its offset alone does not name it. contents are an object's. */
static inline bool plain_maybe_interface(const struct g2h_heap *heap, const uint8_t *contents,
                                         uint64_t offset)
{
    return offset >= sizeof(uint64_t) &&
           heap_maybe_interface(heap, plain_word(contents + offset - sizeof(uint64_t)));
}

/* The key of such a pointer, behind the word that is first. */
uint64_t plain_key(const struct g2h_heap *heap, const struct slot_class *slot_class, uint64_t first,
                   uint64_t offset);

/* The name of such a pointer; or it waits. */
void plain_interface_name(const struct names *names, struct plain_names *known,
                          const struct slot_class *slot_class, uint64_t first, uint64_t offset,
                          uint32_t *ret);

/* Gives the names that wait; NAME_NONE as of names_of_key(). */
void plain_finish(const struct names *names, struct plain_names *known);

/* The string that the pointer at offset, below ELEMENT_OFFSET, is called: *ret, which stays where
 * it is until plain_finish(). */
static inline void plain_name(const struct names *names, struct plain_names *known,
                              const struct slot_class *slot_class, const uint8_t *contents,
                              uint64_t offset, uint32_t *ret)
{
    if (plain_maybe_interface(names->heap, contents, offset))
        plain_interface_name(names, known, slot_class,
                             plain_word(contents + offset - sizeof(uint64_t)), offset, ret);
    else
        *ret = names_of_offset(names, offset);
}

#endif
