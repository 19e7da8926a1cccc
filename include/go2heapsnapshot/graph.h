/*
 * The graph of a heap: nodes for roots, goroutines and objects, edges for pointers.
 *
 * Every object of the heap is a node; every pointer of a record that hits an object is an edge;
 * every node has a way from the root. What is in a graph is read through a view (view.h).
 */
#ifndef GO2HEAPSNAPSHOT_GRAPH_H
#define GO2HEAPSNAPSHOT_GRAPH_H

#include <go2heapsnapshot/typing.h>
#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

struct g2h_graph;

struct g2h_graph_options {
    const struct g2h_exe *exe;       /* matched with the heap, for names; NULL: none */
    const struct g2h_typing *typing; /* of that heap and executable; NULL: none */
    unsigned threads;                /* 0: one per processor */
    const struct g2h_redaction
        *redaction;     /* strings are named by their length, rounded up, and a hash with its key;
                           numbers are in no name. NULL: they are shown */
    bool no_stacks;     /* leaves out the nodes of goroutines' stacks */
    bool full_names;    /* packages are called by their full import paths everywhere; otherwise by
                           their names, "mvcc.Watcher", but for those of which exe has several that
                           call themselves the same. Without exe names are as the dump has them. */
    bool no_dominators; /* nobody will ask for dominators: 4 bytes of memory fewer per object. Who
                           does ask waits for one thread to find them, not several */
};

/*
 * Builds the graph of a heap, which must outlive it, as must all that the options have. Several
 * graphs may be built of them, at the same time too. options may be NULL.
 * Errors: G2H_ERROR_MEMORY; G2H_ERROR_LIMIT: 2^32 nodes.
 */
G2H_PUBLIC struct g2h_error *g2h_graph_build(const struct g2h_heap *heap,
                                             const struct g2h_graph_options *options,
                                             struct g2h_graph **ret);
G2H_PUBLIC void g2h_graph_destroy(struct g2h_graph *graph);

/* What became of every pointer. */
struct g2h_graph_account {
    uint64_t pointers;        /* words of objects that may be pointers and are not nil */
    uint64_t pointers_hit;    /* of them: they hit an object, and are an edge */
    uint64_t pointers_missed; /* they hit nothing: data, bss, read-only data, stacks, C memory, free
                                 slots */
    uint64_t root_pointers, root_pointers_hit,
        root_pointers_missed; /* the same of frames, segments and other roots */
    uint64_t conservative;    /* words of frames that are in no field list, taken as pointers */
    uint64_t samples, samples_missed; /* allocation samples: of objects, of none */
    uint64_t stacks, stack_bytes;     /* of goroutines, that have nodes */
    uint64_t shortcuts; /* weak edges that are no pointers: from maps to their groups or overflow
                           buckets, from weak pointers to objects; with types only */
    uint64_t unreachable_objects, unreachable_bytes;
    uint64_t shared, shared_bytes; /* nodes that more than one group of the roots reaches */
    uint64_t several,
        several_shown;            /* of them those that no other one dominates: these retain all
                                     of shared_bytes; and how many are below "(held by several)" */
    uint64_t several_shown_bytes; /* what those retain */
};
G2H_PUBLIC const struct g2h_graph_account *g2h_graph_account(const struct g2h_graph *graph);

/* NULL where there was no executable to tell types. */
G2H_PUBLIC const struct g2h_type_account *g2h_graph_type_account(const struct g2h_graph *graph);

G2H_END

#endif
