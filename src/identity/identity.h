/*
 * identity: a series of dumps; see include/go2heapsnapshot/identity.h.
 *
 *   identity            whether the dumps are from one process; ids
 *   match               which objects of two dumps are the same
 */
#ifndef IDENTITY_IDENTITY_H
#define IDENTITY_IDENTITY_H

#include <go2heapsnapshot/identity.h>

#include "base/map.h"
#include "base/strings.h"
#include "graph/graph.h"

/* The object data of a dump. */
struct identified {
    const struct g2h_heap *heap; /* NULL: there is no dump */
    uint32_t *classes;           /* by object: index into the series' classes */
    uint32_t *ids;               /* by object */
    uint32_t *holders; /* by object: the object that points to it; HOLDER_NONE; or HOLDER_MANY */
    uint64_t *entries; /* a bit per object: it consists of buckets or groups of a map */
};

/* HOLDER_NONE: no object points to it. HOLDER_MANY: several objects do. */
#define HOLDER_NONE UINT32_MAX

#define HOLDER_MANY (UINT32_MAX - 1)

struct g2h_identity {
    unsigned threads;
    struct string_pool classes; /* of all dumps */
    struct identified last;
    struct map nodes, nodes_before; /* hash of kind, key and number among equal ones → id, of this
                                       dump and of the previous one */
    struct map likes;               /* hash of kind and key → how many such nodes this dump has */
    struct map held, held_before;   /* id → class, of objects that have one by what holds them */
    uint64_t first_new;             /* new objects of this dump have ids from here on */
    uint64_t next;                  /* the next id */
    struct g2h_identity_account account;
};

/* The state of an object and its partner, the object at its address in the previous dump. If an
 * object's own contents do not decide, its holders do: see match.c. */
enum match {
    MATCH_NONE,    /* no candidate: no object of its address, size and class was there */
    MATCH_CHANGED, /* may be its partner, with other contents */
    MATCH_EQUAL,   /* may be its partner: the contents are equal, but are weak evidence */
    MATCH_SAME,    /* is its partner, and so a survivor */
    MATCH_STATES = 3,
    MATCH_HELD = 4,             /* a bit: something not known to have been there holds it */
    MATCH_HELD_BY_SURVIVOR = 8, /* a bit: something that was there before holds it */
    MATCH_LISTED = 16, /* a bit: a block with values that match.c has listed (list_values()) */
    MATCH_UNLIKE = 32, /* a bit: its contents differ from its partner's */
};

struct matches {
    const struct identified *before, *after;
    const struct g2h_graph *graph; /* of the dump after */
    uint32_t *partners;            /* by object: its partner; only if its state is not MATCH_NONE */
    uint8_t *states;               /* by object: enum match */
    uint64_t undecided;
    unsigned threads;
    uint32_t text_class, *kept_classes; /* the class of strings, classes that are never freed */
    size_t kept_class_count;
    const bool *is_map_part;                  /* by class; NULL: there are no types */
    const struct map_entries *const *layouts; /* by class, of buckets or groups; NULL: none */
    uint64_t *seen_before, *seen_after;       /* see match.c */
};

/* Threads share the objects of a heap. Task number task has at most OBJECTS_PER_TASK of them, those
 * before identity_task_end(). */
enum { OBJECTS_PER_TASK = 1 << 14 };

static inline size_t object_tasks(const struct g2h_heap *heap)
{
    return ((size_t)heap->object_count + OBJECTS_PER_TASK - 1) / OBJECTS_PER_TASK;
}

static inline uint32_t identity_task_end(const struct g2h_heap *heap, size_t task)
{
    const uint64_t end = ((uint64_t)task + 1) * OBJECTS_PER_TASK;
    return end < heap->object_count ? (uint32_t)end : heap->object_count;
}

/* Finds the survivors. Error: G2H_ERROR_MEMORY. */
struct g2h_error *matches_find(struct matches *matches);

void matches_deinit(struct matches *matches);

#endif
