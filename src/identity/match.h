/* match: declarations that the steps of matching share; see match.c. */
#ifndef IDENTITY_MATCH_H
#define IDENTITY_MATCH_H

#include "base/bits.h"
#include "base/workers.h"
#include "heap/pointers.h"
#include "identity/identity.h"

typedef VECTOR(uint32_t) object_vector;

/* Objects of the two dumps that the same word pointed to. */
struct move {
    uint32_t before, after;
};

typedef VECTOR(struct move) move_vector;

/* The data of the threads while they match. */
struct matching {
    struct matches *matches;
    object_vector *found;      /* by worker: new survivors, still to be expanded */
    const object_vector *wave; /* the objects being expanded; NULL: all survivors */
    move_vector *moves;        /* by worker */
    uint64_t *undecided;       /* by worker */
};

static inline unsigned match_state_of(const struct matches *matches, uint32_t object)
{
    return __atomic_load_n(&matches->states[object], __ATOMIC_RELAXED) & MATCH_STATES;
}

/* Marks an object as a survivor. Returns whether it was undecided before. */
static inline bool mark_same(struct matches *matches, uint32_t object)
{
    uint8_t *state = &matches->states[object], old = __atomic_load_n(state, __ATOMIC_RELAXED);
    while ((old & MATCH_STATES) == MATCH_CHANGED || (old & MATCH_STATES) == MATCH_EQUAL)
        if (__atomic_compare_exchange_n(state, &old, (uint8_t)((old & ~MATCH_STATES) | MATCH_SAME),
                                        false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return true;
    return false;
}

static inline bool match_is_open(unsigned state)
{
    return state == MATCH_CHANGED || state == MATCH_EQUAL;
}

/* Returns the word at an offset of the previous contents, or 0 if they do not have it. */
static inline uint64_t word_before(const struct matches *matches, struct g2h_bytes was,
                                   uint64_t offset)
{
    const uint64_t word = matches->before->heap->params.pointer_size;
    return was.size >= word && offset <= was.size - word
               ? heap_word(matches->before->heap, was.data + offset)
               : 0;
}

/* Return whether a class is a part of maps, and whether an object is a map itself. */
static inline bool is_map_part(const struct matches *matches, uint32_t class)
{
    return matches->is_map_part && matches->is_map_part[class];
}

static inline bool match_is_map(const struct matches *matches, uint32_t object)
{
    const struct typing *typing = matches->graph->typing;
    const uint32_t claim = typing ? typing->claims[object] & CLAIM_TYPE : 0;
    return claim != 0 && typing->types->list.data[claim - 1].role == ROLE_MAP;
}

/* Handles an object that is held as before: if it is undecided, it is a survivor, unless it is
 * another string. Returns false if memory runs out. */
bool match_held(struct matches *matches, uint32_t object, object_vector *found);

/* A word of a survivor or of a root: its value before, its value now, and the object that it points
 * to now. */
struct matched_word {
    uint64_t was, is;
    uint32_t object;
};

/* Handles a word. If it has not changed, it still holds the object; if it has, the object that it
 * pointed to may have moved. Returns false if memory runs out. */
bool match_word(struct matches *matches, const struct matched_word *word, object_vector *found,
                move_vector *moves);

/* Goes through the moves; see moved.c. Adds the survivors found to *found, and leaves in *moves
 * further moves to be followed afterwards. Error: G2H_ERROR_MEMORY. */
struct g2h_error *moves_follow(struct matches *matches, move_vector *moves, object_vector *found);

/*
 * Finds changed objects that still have a pointer, in the same word, to a value in a block of small
 * values that is a survivor, if nothing else points to that very value. Adds them to *found. Error:
 * G2H_ERROR_MEMORY.
 */
struct g2h_error *blocks_find(struct matches *matches, object_vector *found);

#endif
