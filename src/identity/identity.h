/* identity: a series of dumps; see include/go2heapsnapshot/identity.h. */
#ifndef IDENTITY_IDENTITY_H
#define IDENTITY_IDENTITY_H

#include <go2heapsnapshot/identity.h>

#include "base/map.h"
#include "base/strings.h"
#include "graph/graph.h"

/* What is known of the objects of a dump. */
struct identified {
    const struct g2h_heap *heap; /* NULL: there is no dump */
    uint32_t *classes;           /* by object: index in the series' classes */
    uint32_t *ids;               /* by object */
    uint32_t *holders;           /* by object: the only one that points to it, or one of these */
    uint64_t *entries;           /* a bit per object: it has buckets or groups of a map */
};

/* No object points to it; several do. */
#define HOLDER_NONE UINT32_MAX
#define HOLDER_MANY (UINT32_MAX - 1)

struct g2h_identity {
    unsigned threads;
    struct string_pool classes; /* of all dumps */
    struct identified last;
    struct map nodes, nodes_before; /* hash of kind, key and which of them → id, of this dump and
                                       the one before */
    struct map likes;               /* hash of kind and key → how many there are in this dump */
    uint64_t next;                  /* id */
    struct g2h_identity_account account;
};

/* Objects without information of their own are told by what holds them: see match.c. */
enum match {
    MATCH_NONE,    /* nothing was there, or something else */
    MATCH_CHANGED, /* may have been there, with other contents */
    MATCH_EQUAL,   /* may have been there: its contents are the same, but say little */
    MATCH_SAME,    /* was there */
    MATCH_STATES = 3,
    MATCH_HELD = 4,             /* a bit: something holds it */
    MATCH_HELD_BY_SURVIVOR = 8, /* a bit: what does was there */
    MATCH_ASKED = 16,           /* a bit: who points to values of this block is asked for */
    MATCH_UNLIKE = 32,          /* a bit: its contents are others */
};

struct matches {
    const struct identified *before, *after;
    const struct g2h_graph *graph; /* of what is after */
    uint32_t *partners; /* by object: what was there; only if its state is not MATCH_NONE */
    uint8_t *states;    /* by object: enum match */
    uint64_t undecided;
    unsigned threads;
    uint32_t text_class, *kept_classes; /* of texts; of what the runtime never frees */
    size_t kept_class_count;
    const bool *is_map_part;                  /* by class; NULL: nothing has types */
    const struct map_entries *const *layouts; /* by class, of buckets or groups; NULL: none */
    uint64_t *seen_before, *seen_after;       /* see moved.c */
};

/* Threads share out the objects of a heap: task number task has those before task_end(). */
enum { OBJECTS_PER_TASK = 1 << 14 };

static inline size_t object_tasks(const struct g2h_heap *heap)
{
    return ((size_t)heap->object_count + OBJECTS_PER_TASK - 1) / OBJECTS_PER_TASK;
}

static inline uint32_t task_end(const struct g2h_heap *heap, size_t task)
{
    const uint64_t end = ((uint64_t)task + 1) * OBJECTS_PER_TASK;
    return end < heap->object_count ? (uint32_t)end : heap->object_count;
}

/* Finds what holds each object of a graph. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *holders_find(const struct g2h_graph *graph, unsigned threads, uint32_t **ret);

/* Finds which objects were there before. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *matches_find(struct matches *matches);
void matches_deinit(struct matches *matches);

/* g2h_identity_check() of two heaps. */
struct g2h_error *identity_check_process(const struct g2h_heap *before,
                                         const struct g2h_heap *after);

#endif
