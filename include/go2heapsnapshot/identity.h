/*
 * Which objects of several dumps of one process are the same.
 *
 * An address does not tell: what is freed makes room for what is new. So the dumps of a process are
 * added in the order in which they were written, and each object of one is held against what was at
 * its address in the one before (docs/identity.md has the rule). What has survived keeps its id;
 * what is new gets the next one, so that ids tell what was allocated before what.
 */
#ifndef GO2HEAPSNAPSHOT_IDENTITY_H
#define GO2HEAPSNAPSHOT_IDENTITY_H

#include <go2heapsnapshot/graph.h>
#include <go2heapsnapshot/view.h>
#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

struct g2h_identity;

/* A series without any dump. threads: 0: one per processor. Error: G2H_ERROR_MEMORY. */
G2H_PUBLIC struct g2h_error *g2h_identity_create(unsigned threads, struct g2h_identity **ret);
G2H_PUBLIC void g2h_identity_destroy(struct g2h_identity *identity);

/*
 * Whether a dump can be the next one, of which nothing needs to be known but its records. By
 * runtime.MemStats: each collection's pause is as long in all dumps of a process that still have
 * it, and what only grows does not shrink.
 * Error: G2H_ERROR_NOT_SERIES, which says why it can't.
 */
G2H_PUBLIC struct g2h_error *g2h_identity_check(const struct g2h_identity *identity,
                                                const struct g2h_heap *heap);

/*
 * Adds the next dump, once its graph is built. Its heap, and the input below, must be there until
 * another one has been added, or the series is destroyed; all else may go. The first one is all
 * new. Cost: linear in both dumps; 17 bytes and 3 bits per object, of which 12 bytes and a bit
 * stay. Errors: G2H_ERROR_NOT_SERIES as of g2h_identity_check(); G2H_ERROR_LIMIT: 2^31 ids;
 * G2H_ERROR_MEMORY.
 */
G2H_PUBLIC struct g2h_error *g2h_identity_add(struct g2h_identity *identity,
                                              const struct g2h_graph *graph);

/* What became of the objects of the dump that was added last. */
struct g2h_identity_account {
    uint64_t objects;
    uint64_t survivors;    /* have been in the dump before */
    uint64_t gone;         /* have only been in the dump before */
    uint64_t candidates;   /* have the address, the size and the class of an object there */
    uint64_t reused_slots; /* of these: are new all the same */
    uint64_t undecided;    /* of the candidates: nothing tells for sure, since they say nothing and
                              what holds them holds others now, or is new */
};
G2H_PUBLIC const struct g2h_identity_account *
g2h_identity_account(const struct g2h_identity *identity);

/* The id of an object of the dump that was added last: odd, and greater than all those that there
 * were before if the object is new. */
G2H_PUBLIC uint32_t g2h_identity_object(const struct g2h_identity *identity, uint32_t object);

/*
 * The id of what is no object, by its kind and key (g2h_node): the same as in the dump before, or
 * the next one. Of several of one kind and key each gets another one, in the order of the calls.
 * False: there is no memory, or no id is left.
 */
G2H_PUBLIC bool g2h_identity_node(struct g2h_identity *identity, enum g2h_node_kind kind,
                                  uint64_t key, uint32_t *ret);

G2H_END

#endif
