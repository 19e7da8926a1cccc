/*
 * ages: since when the objects of a suspect live, and what that says: docs/ages.md.
 *
 * How old the objects of a class are shows what happens to them. Those of a leak are evenly spread
 * over the time, and none of the old ones ends. A cache at its limit ends what is old, the data of
 * the start is older than everything else, and what requests use is young.
 */
#ifndef FINDINGS_AGES_H
#define FINDINGS_AGES_H

#include <stdbool.h>
#include <stdint.h>

#include <go2heapsnapshot/heap.h>

#include "base/error.h"
#include "base/memory.h"

struct findings;

enum ages_verdict {
    AGES_UNKNOWN,   /* the dump has no ages, or few of these objects have one */
    AGES_ONE_LOOK,  /* the process was not watched: only the last collection is known */
    AGES_FEW_LOOKS, /* too few collections were seen, or for too short a time */
    AGES_FEW,       /* too few objects */
    AGES_LEAKS,     /* evenly spread, and the old ones do not end */
    AGES_REPLACED,  /* the same, but as many old ones end as new ones come */
    AGES_UNCLEAR,   /* the same, but others of their size end, too: which ones is not known */
    AGES_BOUNDED,   /* none is old, and those that become old end */
    AGES_OTHERS,    /* the same, but most of their size are others: which ones end is not known */
    AGES_BEGUN,     /* none is old, but none ends: evenly spread since some moment of the watch */
    AGES_SHORT,     /* the same, but since so few collections that it is not known what ends */
    AGES_MOMENT,    /* nearly all are of one moment of the watch */
    AGES_START,     /* nearly all were there when the watch began */
    AGES_YOUNG,     /* nearly none has survived a collection */
    AGES_MIXED,     /* nothing of the above */
};

enum { AGES_BINS = 16 };

struct ages_found {
    enum ages_verdict verdict;
    uint32_t node;            /* of findings->merged: what these objects are */
    uint64_t count;           /* objects whose age is known: */
    uint64_t before;          /* those that were there when the watch began, */
    uint64_t born;            /* those of the watch that have survived a collection, */
    uint64_t young;           /* and those that have not */
    uint64_t seconds;         /* of the watch */
    uint64_t oldest;          /* seconds since which the oldest of born lives; 0: there is none */
    double per_second;        /* how many come, and stay */
    uint64_t bins[AGES_BINS]; /* of born, by equal parts of the watch, the oldest first */
    uint64_t seen, missed;    /* collections */
};

/* Finds the ages of the objects of an item, a node of findings->merged, and of those of its class
 * below it; or, if these are few, such as maps that hold all the rest, of what retains most below
 * it. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *ages_find(const struct findings *findings, uint32_t item, struct ages_found *ret);

/* Returns the ages of a heap whose process was watched; NULL: it was not. */
const struct g2h_ages_known *ages_watched(const struct g2h_heap *heap);

/* Returns an error if the ages are missing because the dump is cut: they are at its end. */
struct g2h_error *ages_check_cut(const struct g2h_heap *heap);

/* Returns the look since which an object of such a heap lives. NULL: it is not known, it has not
 * survived a collection, or object is UINT32_MAX. */
const struct g2h_age_look *ages_look(const struct g2h_heap *heap, uint32_t object);

/* ---- bytes by age ---- */

/* Bytes of objects by when they had survived a collection: before the watch, in each of its
 * quarters, or not at all yet. */
enum { AGES_BEFORE, AGES_QUARTERS = 4, AGES_NEW = AGES_BEFORE + AGES_QUARTERS + 1, AGES_GROUPS };

struct ages_groups {
    uint64_t bytes[AGES_GROUPS];
};

/* Finds these for each node of merged, without those below it. *ret, which the caller frees, is
 * NULL if the process was not watched. Error: G2H_ERROR_MEMORY. */
struct g2h_error *ages_find_groups(const struct findings *findings, struct ages_groups **ret);

/* ---- objects that are older than a time ---- */

/* Those of a class that are in one node of merged. */
struct ages_older_line {
    uint32_t node;
    uint64_t count;
    uint64_t retained; /* by those that no other old object of the class holds */
    uint32_t largest;  /* the one of these that retains most, a node of the view */
};

struct ages_older {
    uint64_t count, retained;
    VECTOR(struct ages_older_line) lines; /* those that retain most come first */
};

/*
 * Finds the objects of a class, the name of nodes of merged, that had survived a collection so many
 * seconds before the last one; not those that are garbage. The caller calls ages_older_deinit() in
 * any case. Errors: G2H_ERROR_NOT_FOUND: the process was not watched, or not for so long;
 * G2H_ERROR_MEMORY.
 */
struct g2h_error *ages_find_older(const struct findings *findings, uint32_t name, uint64_t seconds,
                                  struct ages_older *ret);
void ages_older_deinit(struct ages_older *older);

/* Returns the verdict's word for JSON: "leaks", "bounded" … */
const char *ages_word(enum ages_verdict verdict);

#endif
