/* match: what the steps of matching share; see match.c. */
#ifndef IDENTITY_MATCH_H
#define IDENTITY_MATCH_H

#include "base/workers.h"
#include "heap/pointers.h"
#include "identity/identity.h"

typedef VECTOR(uint32_t) object_vector;

/* Objects of both dumps that the same word led to. */
struct move {
    uint32_t before, after;
};

typedef VECTOR(struct move) move_vector;

/* What the threads of one step work on. */
struct step {
    struct matches *matches;
    object_vector *found;      /* by worker: what has become the same, and is to be expanded */
    const object_vector *wave; /* what is expanded; NULL: all that is the same */
    move_vector *moves;        /* by worker */
    uint64_t *undecided;       /* by worker */
};

static inline unsigned state_of(const struct matches *matches, uint32_t object)
{
    return __atomic_load_n(&matches->states[object], __ATOMIC_RELAXED) & MATCH_STATES;
}

/* Says that an object is the same. Whether it was not known to be. */
static inline bool mark_same(struct matches *matches, uint32_t object)
{
    uint8_t *state = &matches->states[object], old = __atomic_load_n(state, __ATOMIC_RELAXED);
    while ((old & MATCH_STATES) == MATCH_CHANGED || (old & MATCH_STATES) == MATCH_EQUAL)
        if (__atomic_compare_exchange_n(state, &old, (uint8_t)((old & ~MATCH_STATES) | MATCH_SAME),
                                        false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return true;
    return false;
}

static inline bool is_open(unsigned state)
{
    return state == MATCH_CHANGED || state == MATCH_EQUAL;
}

/* The word at an offset of what was there before; 0 where it had none. */
static inline uint64_t word_before(const struct matches *matches, struct g2h_bytes was,
                                   uint64_t offset)
{
    const uint64_t word = matches->before->heap->params.pointer_size;
    return was.size >= word && offset <= was.size - word
               ? heap_word(matches->before->heap, was.data + offset)
               : 0;
}

/* Whether a class is of what maps are made of, and whether an object is a map itself. */
static inline bool is_map_part(const struct matches *matches, uint32_t class)
{
    return matches->is_map_part && matches->is_map_part[class];
}

static inline bool is_map(const struct matches *matches, uint32_t object)
{
    const struct typing *typing = matches->graph->typing;
    const uint32_t claim = typing ? typing->claims[object] & CLAIM_TYPE : 0;
    return claim != 0 && typing->types->list.data[claim - 1].role == ROLE_MAP;
}

static inline bool has_bit(const uint64_t *bits, uint32_t object)
{
    return (bits[object / 64] >> (object % 64) & 1) != 0;
}

/* An object that is open and held as before: it is the same, unless it is another string. False
 * where there is no memory. */
bool match_held(struct matches *matches, uint32_t object, object_vector *found);

/* A word of what was there, or of a root: what it was, what it is, and the object that leads to. */
struct matched_word {
    uint64_t was, is;
    uint32_t object;
};

/* An object to which a word led that has not changed is held still; if it has, what it led to may
 * have moved. False where there is no memory. */
bool match_word(struct matches *matches, const struct matched_word *word, object_vector *found,
                move_vector *moves);

/* Goes through what has moved; see moved.c. Adds to *found what is the same for it, and leaves in
 * *moves what is to be followed after that. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *moves_follow(struct matches *matches, move_vector *moves, object_vector *found);

/*
 * Finds what has changed and still has a pointer, in the same word, to a value in a block of small
 * values that is the same, if nothing else points to that very value; adds it to *found. Errors:
 * G2H_ERROR_MEMORY.
 */
struct g2h_error *blocks_find(struct matches *matches, object_vector *found);

#endif
