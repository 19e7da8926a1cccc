/*
 * The graph of a heap: nodes for roots, goroutines and objects, edges for pointers.
 *
 * Every object of the heap is a node; every pointer of a record that hits an object is an edge;
 * every node can be reached from the root. A graph is read through a view (view.h).
 */
#ifndef GO2HEAPSNAPSHOT_GRAPH_H
#define GO2HEAPSNAPSHOT_GRAPH_H

#include <go2heapsnapshot/memory.h>
#include <go2heapsnapshot/typing.h>
#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

struct g2h_graph;

struct g2h_graph_options {
    const struct g2h_exe *exe;       /* matched with the heap, supplies names; NULL: none */
    const struct g2h_typing *typing; /* typing of the same heap and executable; NULL: none */
    unsigned threads;                /* 0: one per processor */
    const struct g2h_redaction
        *redaction; /* strings are named by their length, rounded up, and a hash with the
                       redaction's key; names contain no numbers from the heap. NULL: strings and
                       numbers are shown */
    const struct g2h_memory *memory; /* of the process that the heap was read from: adds nodes for
                                        the mappings that pointers lead to. NULL: not known */
    bool no_stacks;                  /* leaves out the nodes of goroutines' stacks */
    bool full_names; /* calls packages by their full import paths everywhere. Otherwise packages are
                        called by their names, "mvcc.Watcher", except those whose name several
                        packages of exe share. Without exe, names are those of the dump */
    bool no_dominators; /* promises that dominators will not be computed, which saves 4 bytes of
                           memory per object. If they are computed nevertheless, one thread does it
                           instead of several */
};

/*
 * Builds the graph of a heap. The heap and everything in the options must outlive the graph.
 * Several graphs may be built from them, also at the same time. options may be NULL.
 * Errors: G2H_ERROR_MEMORY; G2H_ERROR_LIMIT: 2^32 nodes.
 */
G2H_PUBLIC struct g2h_error *g2h_graph_build(const struct g2h_heap *heap,
                                             const struct g2h_graph_options *options,
                                             struct g2h_graph **ret);
G2H_PUBLIC void g2h_graph_destroy(struct g2h_graph *graph);

/* How many pointers there are, and which of them are edges. */
struct g2h_graph_account {
    uint64_t pointers;        /* words of objects that may be pointers, except nil */
    uint64_t pointers_hit;    /* those of them that hit an object, each an edge */
    uint64_t pointers_missed; /* those that miss: they point to data, bss, read-only data, stacks, C
                                 memory, free slots */
    uint64_t root_pointers, root_pointers_hit,
        root_pointers_missed; /* the same counts for words of frames, segments and other roots */
    uint64_t conservative;    /* words of frames in no field list, treated as pointers */
    uint64_t samples, samples_missed; /* allocation samples of objects; samples whose address hits
                                         no object */
    uint64_t stacks, stack_bytes;     /* goroutine stacks that have a node, and their size */
    uint64_t shortcuts; /* weak edges that are not pointers: from maps to their groups or overflow
                           buckets, from weak pointers to objects; only with types */
    uint64_t unreachable_objects, unreachable_bytes;
    uint64_t shared, shared_bytes;   /* nodes that more than one group of roots reaches */
    uint64_t several, several_shown; /* shared nodes that no other shared node dominates, which
                                        together retain shared_bytes; and how many of these are
                                        below "(held by several)" */
    uint64_t several_shown_bytes;    /* bytes that the nodes below "(held by several)" retain */
};
G2H_PUBLIC const struct g2h_graph_account *g2h_graph_account(const struct g2h_graph *graph);

/* Returns how objects were typed; NULL if the graph was built without types. */
G2H_PUBLIC const struct g2h_type_account *g2h_graph_type_account(const struct g2h_graph *graph);

G2H_END

#endif
