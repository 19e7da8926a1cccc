/*
 * owner_numbers: who alone holds something, as a number; and crossings, which are edges by which
 * one owner holds what is another's own.
 *
 * Who holds what through others follows from the crossings. Many are alike: those that were seen
 * lately are left out, so that most heaps have few.
 */
#ifndef GRAPH_OWNER_NUMBERS_H
#define GRAPH_OWNER_NUMBERS_H

#include <string.h>

#include "base/map.h"
#include "base/memory.h"

/* An owner: nobody yet; several; one of those that the caller counts from OWNER_FIRST on. */
typedef uint32_t owner_number;
enum { OWNER_NONE, OWNER_SEVERAL, OWNER_FIRST };

/* Of what is known of an owner: it stays, whoever else holds what it has. */
#define OWNER_FIXED ((owner_number)1 << 31)

/* Who owns what somebody held and another one holds, too; nobody holds nothing. */
static inline owner_number owner_merge(owner_number known, owner_number owner)
{
    return known == OWNER_NONE                                            ? owner
           : known == owner || owner == OWNER_NONE || known > OWNER_FIXED ? known
                                                                          : OWNER_SEVERAL;
}

/* The owners of all nodes of a graph; see owners.h. */
struct owners {
    owner_number *of_synthetic, *of_object;
    size_t synthetics; /* that of_synthetic has room for */
    owner_number end;  /* all numbers are lower; 0: of some nodes no owner was found */
};

enum { CROSSINGS_SEEN = 256 };

/* From an owner to another; or to a node, where it is not known yet which owner that will be. */
struct crossing {
    uint32_t by, to;
};

struct crossings {
    VECTOR(struct crossing) all;
    struct crossing seen[CROSSINGS_SEEN]; /* by hash */
};

/* Adds one; false where there is no memory. by is not 0. */
static inline bool crossings_add(struct crossings *crossings, uint32_t by, uint32_t to)
{
    struct crossing *seen = &crossings->seen[map_hash_pair(by, to) % CROSSINGS_SEEN];
    if (seen->by == by && seen->to == to)
        return true;
    *seen = (struct crossing){by, to};
    return vector_push(&crossings->all, *seen);
}

/* An edge leads from what owner has to something of whose owner this is known. False where there is
 * no memory. */
static inline bool crossings_look(struct crossings *crossings, owner_number owner,
                                  owner_number known)
{
    return known < OWNER_FIXED || known == (owner | OWNER_FIXED) || owner < OWNER_FIRST ||
           crossings_add(crossings, owner, known & ~OWNER_FIXED);
}

/* Moves all to others, which are not being looked for. False where there is no memory. */
static inline bool crossings_move(struct crossings *crossings, struct crossings *ret)
{
    const size_t count = crossings->all.count;
    if (count == 0)
        return true;
    if (ret->all.capacity - ret->all.count < count && !vector_grow(&ret->all, count))
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
