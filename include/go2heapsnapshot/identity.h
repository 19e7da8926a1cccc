/*
 * Matches the objects of several dumps of one process.
 *
 * An address alone does not identify an object, because freed slots are reused. So the dumps of a
 * process are added in the order in which they were written, and each object is compared with the
 * object at its address in the previous dump (docs/identity.md has the rule). A surviving object
 * keeps its id; a new one gets the next id, so that ids show the order in which objects were
 * allocated.
 */
#ifndef GO2HEAPSNAPSHOT_IDENTITY_H
#define GO2HEAPSNAPSHOT_IDENTITY_H

#include <go2heapsnapshot/graph.h>
#include <go2heapsnapshot/view.h>
#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

struct g2h_identity;

/* Creates a series without any dump. threads may be 0: one per processor. Errors:
 * G2H_ERROR_MEMORY. */
G2H_PUBLIC struct g2h_error *g2h_identity_create(unsigned threads, struct g2h_identity **ret);
G2H_PUBLIC void g2h_identity_destroy(struct g2h_identity *identity);

/*
 * Checks whether a dump can be the next one of the series; needs only the dump's records. Compares
 * runtime.MemStats: the pause of each collection must be equal in all dumps of a process that still
 * list it, and counters must not decrease. Errors: G2H_ERROR_NOT_SERIES, whose message says why the
 * dump cannot be the next one.
 */
G2H_PUBLIC struct g2h_error *g2h_identity_check(const struct g2h_identity *identity,
                                                const struct g2h_heap *heap);

/*
 * Adds the next dump, after its graph has been built. Its heap, and the heap's input, must exist
 * until another dump has been added or the series is destroyed; everything else may be freed. All
 * objects of the first dump are new. Cost: linear in both dumps; 17 bytes and 3 bits per object, of
 * which 12 bytes and a bit stay allocated. Errors: G2H_ERROR_NOT_SERIES as for
 * g2h_identity_check(); G2H_ERROR_LIMIT: 2^31 ids; G2H_ERROR_MEMORY.
 */
G2H_PUBLIC struct g2h_error *g2h_identity_add(struct g2h_identity *identity,
                                              const struct g2h_graph *graph);

/* The fate of the objects of the dump that was added last. */
struct g2h_identity_account {
    uint64_t objects;
    uint64_t survivors;    /* were in the previous dump too */
    uint64_t gone;         /* were only in the previous dump */
    uint64_t candidates;   /* have the address, size and class of an object of the previous dump */
    uint64_t reused_slots; /* candidates that are new objects nonetheless */
    uint64_t undecided; /* candidates without conclusive evidence: their contents do not decide, and
                           the object that holds them holds other objects now, or is new */
};
G2H_PUBLIC const struct g2h_identity_account *
g2h_identity_account(const struct g2h_identity *identity);

/* Returns the id of an object of the dump that was added last. Ids are odd; a new object's id is
 * greater than all ids that existed before. */
G2H_PUBLIC uint32_t g2h_identity_object(const struct g2h_identity *identity, uint32_t object);

/*
 * Gets the class of an object of the dump that was added last, if outputs list objects of its type
 * by what holds them. A new object has the given class, size bytes of name; name may be NULL: its
 * type. One that was in the previous dump keeps the class that it had there, whatever holds it now:
 * in a comparison an object of another class would be a deleted and a new one. *ret is NULL if the
 * class is the type, and valid until another dump is added. Returns false if memory runs out.
 */
G2H_PUBLIC bool g2h_identity_class(struct g2h_identity *identity, uint32_t object, const char *name,
                                   size_t size, const char **ret, size_t *ret_size);

/*
 * Gets the id of a node that is not an object, by its kind and key (g2h_node): its id in the
 * previous dump, or the next free one. If several nodes have the same kind and key, each gets an id
 * of its own, in the order of the calls. Returns false if memory runs out or no id is left.
 */
G2H_PUBLIC bool g2h_identity_node(struct g2h_identity *identity, enum g2h_node_kind kind,
                                  uint64_t key, uint32_t *ret);

/* Returns whether no id is left for another node: the next dump needs another series. */
G2H_PUBLIC bool g2h_identity_is_full(const struct g2h_identity *identity);

/* Finds the id that a node other than an object got in the dump that was added last; the first id
 * if several nodes have the same kind and key. Returns false if none was requested. */
G2H_PUBLIC bool g2h_identity_find_node(const struct g2h_identity *identity, enum g2h_node_kind kind,
                                       uint64_t key, uint32_t *ret);

G2H_END

#endif
