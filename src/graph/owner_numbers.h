/*
 * owner_numbers: owners as numbers: the owner of a node is the only one that holds it; and
 * crossings, which are edges by which one owner holds a node that another owner owns.
 *
 * The crossings say who holds which nodes through other owners. Many crossings are alike: those
 * that were seen lately are left out, so that most heaps have few.
 */
#ifndef GRAPH_OWNER_NUMBERS_H
#define GRAPH_OWNER_NUMBERS_H

#include <string.h>

#include "base/contract.h"
#include "base/map.h"
#include "base/memory.h"

/* An owner: OWNER_NONE, none yet; OWNER_SEVERAL; or one of the owners that the caller numbers from
 * OWNER_FIRST on. */
typedef uint32_t owner_number;
enum { OWNER_NONE, OWNER_SEVERAL, OWNER_FIRST };

/* A bit of a node's known owner: the owner is fixed, whoever else holds the node. */
#define OWNER_FIXED ((owner_number)1 << 31)

/* Returns the new owner of a node when owner holds it, too; known is its owner so far. OWNER_NONE
 * as owner changes nothing. */
static inline owner_number owner_merge(owner_number known, owner_number owner)
{
    if (known == OWNER_NONE)
        return owner;
    if (known == owner || owner == OWNER_NONE || known > OWNER_FIXED)
        return known;
    return OWNER_SEVERAL;
}

/* The owners of all nodes of a graph; see owners.h. */
struct owners {
    owner_number *of_synthetic, *of_object;
    size_t synthetics; /* entries of of_synthetic */
    owner_number end;  /* all owners are lower; 0: some nodes have no known owner */
};

enum { CROSSINGS_SEEN = 256 };

/* From an owner to another owner; or to a node, as long as its owner is not known. */
struct crossing {
    uint32_t by, to;
};

struct crossings {
    VECTOR(struct crossing) all;
    struct crossing seen[CROSSINGS_SEEN]; /* by hash */
};

/* Adds a crossing that was not seen lately. by is not 0. Returns false if memory runs out. */
static inline bool crossings_add(struct crossings *crossings, uint32_t by, uint32_t to)
{
    struct crossing *seen = &crossings->seen[map_hash_pair(by, to) % CROSSINGS_SEEN];
    assert(by != 0); /* or what was not seen yet would look like it */
    if (seen->by == by && seen->to == to)
        return true;
    *seen = (struct crossing){by, to};
    return vector_push(&crossings->all, *seen);
}

/* Adds the crossing of an edge that leads from a node of owner to a node whose owner is in
 * known, if known is fixed and another owner, and owner is a single one. Returns false if memory
 * runs out. */
static inline bool crossings_look(struct crossings *crossings, owner_number owner,
                                  owner_number known)
{
    return known < OWNER_FIXED || known == (owner | OWNER_FIXED) || owner < OWNER_FIRST ||
           crossings_add(crossings, owner, known & ~OWNER_FIXED);
}

/* Moves all crossings to ret, without looking for them in ret->seen. Returns false if memory runs
 * out. */
static inline bool crossings_move(struct crossings *crossings, struct crossings *ret)
{
    const size_t count = crossings->all.count;
    if (count == 0)
        return true;
    if (!vector_grow(&ret->all, count))
        return false;
    memcpy(ret->all.data + ret->all.count, crossings->all.data, count * sizeof(struct crossing));
    ret->all.count += count;
    crossings->all.count = 0;
    return true;
}

static inline void crossings_deinit(struct crossings *crossings)
{
    free(crossings->all.data);
    *crossings = (struct crossings){0};
}

#endif
