/*
 * The graph of a heap: nodes for roots, goroutines and objects, edges for pointers.
 *
 * Every object of the heap is a node; every pointer of a record that hits an object is an edge;
 * every node can be reached from the root. A graph is read through a view (view.h).
 */
#ifndef GO2HEAPSNAPSHOT_GRAPH_H
#define GO2HEAPSNAPSHOT_GRAPH_H

#include <go2heapsnapshot/memory.h>
#include <go2heapsnapshot/names.h>
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

/* Whether it is known which goroutines can never run again. */
enum g2h_leak_proof {
    G2H_LEAKS_PROVED,
    G2H_LEAKS_INCOMPLETE,         /* no: memory is missing that may hold what they wait on */
    G2H_LEAKS_OF_RELEASE_UNKNOWN, /* no: the release of Go is older than 1.19, or not known */
};

/* ---- capacities: how much of slices and maps is used ---- */

enum g2h_capacity_kind {
    G2H_CAPACITY_SLICE,  /* a slice: counts elements */
    G2H_CAPACITY_MAP,    /* a map: counts entries; the objects that contain them are of kind
                            G2H_CAPACITY_SLOTS */
    G2H_CAPACITY_SLOTS,  /* an object with slots for the entries of maps, if the dump has the whole
                            object: otherwise, it is not known how many are in use */
    G2H_CAPACITY_STRING, /* a string: counts bytes, all of which are in use */
};

/* The number of elements of a slice, or entries of a map, that there is space for, and how many of
 * them are in use. */
struct g2h_capacity {
    enum g2h_capacity_kind kind;
    uint32_t
        declaration;  /* where the slice, string or map is declared: g2h_capacities_declaration() */
    uint32_t object;  /* the object that contains it; UINT32_MAX: a variable contains it */
    uint64_t address; /* of a slice or string: address of its first element as the dump has it,
                         which may be any value; of a map in a frame: that of its memory; else 0 */
    uint64_t used, all; /* elements or slots, as the dump has them. Of slices used <= all; of
                           strings both are the length; of a map only used is set */
    uint64_t size;      /* size of one element or slot in bytes; 0 for a map */
};

/* Gets a capacity; returns false to stop the visit. */
typedef bool (*g2h_capacity_visit)(void *context, const struct g2h_capacity *capacity);

/* The declarations of slices, strings and maps: g2h_capacities_create() in view.h. */
struct g2h_capacities;
G2H_PUBLIC void g2h_capacities_destroy(struct g2h_capacities *capacities);

/* Visits the capacities in the heap's objects from first up to end (exclusive), in ascending order,
 * whether or not the objects are in the view; end may exceed the number of objects. Returns false
 * if the callback stopped the visit. */
G2H_PUBLIC bool g2h_capacities_of_objects(const struct g2h_capacities *capacities, uint32_t first,
                                          uint32_t end, g2h_capacity_visit visit, void *context);

/* Visits the capacities in the variables of packages, and in the data outside the heap that these
 * variables point to; and the maps whose headers are in frames, whose memory may be garbage. */
G2H_PUBLIC bool g2h_capacities_of_variables(const struct g2h_capacities *capacities,
                                            g2h_capacity_visit visit, void *context);

G2H_END

#endif
