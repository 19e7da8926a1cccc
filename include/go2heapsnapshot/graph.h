/*
 * The graph of a heap: nodes for roots, goroutines and objects, edges for pointers, in the shape of
 * a V8 heap snapshot.
 *
 * docs/snapshot.md describes the nodes, their names and ids. Every object of the heap is a node;
 * every pointer of a record that hits an object is an edge; every node has a way from the root.
 */
#ifndef GO2HEAPSNAPSHOT_GRAPH_H
#define GO2HEAPSNAPSHOT_GRAPH_H

#include <go2heapsnapshot/exe.h>
#include <go2heapsnapshot/heap.h>

struct g2h_graph;

enum { G2H_REDACT_KEY = 16 /* bytes */ };

struct g2h_graph_options {
    const struct g2h_exe *exe; /* matched with the heap; NULL: none */
    unsigned threads;          /* 0: one per processor */
    bool redact;        /* strings are named by their length, rounded up, and a hash with a key;
                           numbers are in no name */
    bool reachable;     /* leaves out what the roots do not reach */
    uint64_t max_nodes; /* folds what retains least until there are at most so many nodes, or all
                           is folded that can be; 0: any number */
    const uint8_t *redact_key; /* G2H_REDACT_KEY random bytes: redacts with this key, so that equal
                                  texts have equal names in all graphs that have it; NULL: where
                                  redact is set, with a key that is made up for this graph */
};

/*
 * Builds the graph of a heap, which must outlive it, as must the executable: until then, that must
 * not be matched again. Several graphs may be built of both, at the same time too.
 * Errors: G2H_ERROR_MEMORY; G2H_ERROR_LIMIT where nodes or edges do not fit the 32-bit cells of a
 * snapshot; G2H_ERROR_SYSTEM where there are no random numbers to redact with.
 */
G2H_PUBLIC struct g2h_error *g2h_graph_build(const struct g2h_heap *heap,
                                             const struct g2h_graph_options *options,
                                             struct g2h_graph **ret);
G2H_PUBLIC void g2h_graph_destroy(struct g2h_graph *graph);

/* What became of every pointer. */
struct g2h_graph_account {
    uint64_t nodes, edges; /* of the snapshot */
    uint64_t synthetic_nodes, object_parts;
    uint64_t pointers;        /* words of objects that may be pointers and are not nil */
    uint64_t pointers_hit;    /* of them: they hit an object, and are an edge */
    uint64_t pointers_missed; /* they hit nothing: data, bss, read-only data, stacks, C memory, free
                                 slots */
    uint64_t root_pointers, root_pointers_hit,
        root_pointers_missed; /* the same of frames, segments and other roots */
    uint64_t conservative;    /* words of frames that are in no field list, taken as pointers */
    uint64_t samples, samples_missed; /* allocation samples: of objects, of none */
    uint64_t shortcuts; /* weak edges that are no pointers: from maps to their groups or overflow
                           buckets, from weak pointers to objects; with types only */
    uint64_t unreachable_objects, unreachable_bytes;
    uint64_t left_out_objects, left_out_bytes; /* of them: not in the snapshot */
    uint64_t folded_objects, folded_nodes; /* objects that are in nodes with others, and these */
};
G2H_PUBLIC const struct g2h_graph_account *g2h_graph_account(const struct g2h_graph *graph);

/* By what objects were typed; the first is trusted most. */
enum { G2H_TYPE_SOURCES = 7 };

/* Objects of one kind, how many and the bytes of their slots; and of them those that live, which
 * the roots reach. The others are garbage. */
struct g2h_type_sum {
    uint64_t objects, bytes;
    uint64_t living_objects, living_bytes;
};

/* What became of the objects' types, of the whole heap, whatever of it is left out or folded: the
 * sources, text, part and untyped add up to all. */
struct g2h_type_account {
    struct g2h_type_sum sources[G2H_TYPE_SOURCES]; /* malloc header, the runtime's records,
        interface, typed pointer, closure, words that look like an interface, guess */
    struct g2h_type_sum text;                      /* contents of strings */
    struct g2h_type_sum part;                      /* of which only a part is known */
    struct g2h_type_sum untyped;                   /* of which nothing is */
    struct g2h_type_sum
        typed; /* known as a whole and no guess: all sources but the last, and text */
    struct g2h_type_sum all;
};

/* NULL where there was no executable to tell types. */
G2H_PUBLIC const struct g2h_type_account *g2h_graph_type_account(const struct g2h_graph *graph);

/*
 * What holds each node alone, and how much memory would be free without it: the same as DevTools
 * computes, for every node.
 *
 * Nodes are numbered as in the snapshot: 0 is the root; the first synthetic_nodes are the synthetic
 * ones; then come the objects in the order of g2h_heap_object(), then the parts of large objects.
 * Of a graph that is folded or has garbage left out, they are those of the whole graph.
 */
struct g2h_dominators;

/*
 * Computes dominators and retained sizes, in near-linear time. It takes 28 bytes of memory per node
 * and 4 per edge, of which 20 per node stay. The graph is not needed afterwards.
 * Errors: G2H_ERROR_MEMORY.
 */
G2H_PUBLIC struct g2h_error *g2h_graph_dominators(const struct g2h_graph *graph,
                                                  struct g2h_dominators **ret);
G2H_PUBLIC void g2h_dominators_destroy(struct g2h_dominators *dominators);

/* The number of nodes. */
G2H_PUBLIC uint32_t g2h_dominators_node_count(const struct g2h_dominators *dominators);

/* The node that all strong ways from the root to node have last in common; the root's is itself. */
G2H_PUBLIC uint32_t g2h_dominators_of(const struct g2h_dominators *dominators, uint32_t node);

/* The size of node and of all that it dominates, in bytes. */
G2H_PUBLIC uint64_t g2h_dominators_retained_size(const struct g2h_dominators *dominators,
                                                 uint32_t node);

#endif
