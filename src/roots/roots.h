/*
 * roots: the nodes above the objects, which hold them, and their edges.
 *
 *   root → (globals) → data, bss
 *        → (GC roots) → runtime   the package
 *                     → (goroutines) → goroutine 17 [select] main.run → its frames, its stack
 *                                    → 9,000 goroutines [chan send] main.f → each of them
 *                     → (finalizers), (queued finalizers), (defers and panics), (other roots)
 *                     → (cleanups)   see graph/cleanups.c
 *                     → (held by several)   see dominators/several.c
 *        → (unreachable)            see graph/reach.c
 *        → (OS threads), (allocation sites), (guesses), (parts), (functions),
 *          (mappings)
 *
 * The edges that begin at objects but are not pointers to objects are here as well: they lead to
 * allocation sites, to nodes for remarks on an object, and to mappings outside the heap. So are the
 * pointers to deferred calls, which are weak (heap/targets.h).
 *
 *   roots               the tree
 *   builder             how nodes and edges are added; functions; memory outside of the heap
 *   globals             packages and their variables
 *   goroutine_roots, places, runtime_g
 *                       goroutines, their deferred calls and panics; goroutines in one place, and
 *                       the functions that their frames are in; what they wait on, who has started
 *                       them, and labels
 *   remarks             weak edges that say more of an object: allocation sites, guesses
 */
#ifndef ROOTS_ROOTS_H
#define ROOTS_ROOTS_H

#include <go2heapsnapshot/memory.h>

#include "base/contract.h"
#include "heap/targets.h"
#include "naming/names.h"

/* A node, while the number of synthetic nodes is not known yet. */
struct node {
    uint32_t index;
    enum { OF_SYNTHETIC, OF_OBJECT } of;
};

/*
 * The owner of memory: first the variables of the program, then goroutines, then the rest of the
 * roots, of which (other roots), such as registers, come last. An edge between nodes of different
 * tiers holds nothing: see graph/tiers.h.
 */
enum tier { TIER_GARBAGE, TIER_OTHERS, TIER_REST, TIER_GOROUTINES, TIER_PROGRAM };

/* A node other than an object. */
struct synthetic {
    uint64_t key;  /* see struct g2h_node */
    uint32_t size; /* size of a stack in bytes; else 0 */
    uint32_t name; /* string */
    uint8_t kind;  /* enum g2h_node_kind */
    uint8_t tier;  /* enum tier: the owner of the objects that it leads to */
};

enum roots_edge_type {
    EDGE_ELEMENT,
    EDGE_PROPERTY,
    EDGE_INTERNAL,
    EDGE_SHORTCUT, /* from the root to (globals): what DevTools calls a user global */
    EDGE_WEAK,
    EDGE_GROUPS,    /* from a map to its entries: holds nothing either, but is part of paths */
    EDGE_TENTATIVE, /* graph_reach() makes it internal if nothing else holds its target, otherwise
                       weak */
    EDGE_LAST,      /* the same, once it is known what cleanups keep */
};

struct edge {
    struct node source, target;
    uint32_t name; /* string; for EDGE_ELEMENT the index */
    enum roots_edge_type type;
};

/* Returns whether an edge holds its target before graph_reach() has decided the others. */
static inline bool roots_edge_holds(const struct edge *edge)
{
    return edge->type != EDGE_WEAK && edge->type != EDGE_GROUPS && edge->type != EDGE_TENTATIVE &&
           edge->type != EDGE_LAST;
}

/* Counts of the pointers of roots. */
struct root_account {
    uint64_t pointers, pointers_hit, pointers_missed; /* of frames, segments and other roots */
    uint64_t conservative;            /* words of frames in no field list, treated as pointers */
    uint64_t samples, samples_missed; /* allocation samples of objects; samples of no object */
    uint64_t stacks, stack_bytes;
};

/* A function that a frame is in, and where: one that is inlined there, or the frame's own. */
struct root_call {
    struct g2h_bytes function, file;
    uint32_t line;   /* 0: not known */
    bool is_wrapper; /* the compiler has made it, as of a go statement */
};

/* All functions at a program counter of frames: count of them from first on, the innermost first.
 */
struct root_site {
    uint32_t first, count;
    uint32_t name; /* string: of the frames; UINT32_MAX: none yet */
};

/* A frame of a goroutine, and its node. */
struct root_frame {
    uint32_t node, frame; /* frame: number in the heap */
    uint32_t site;
};

struct root_goroutine {
    uint32_t node;
    uint32_t goroutine;                /* number in the heap */
    uint32_t first_frame, frame_count; /* among all frames; the topmost frame is first */
    uint32_t minutes;                  /* how long it has waited, in minutes, at least */
    bool dumps_heap;
    uint32_t at;               /* index in calls: see places_innermost() */
    struct g2h_bytes function; /* that it runs */
    uint64_t parent;           /* number of the goroutine that has started it; 0: not known */
    uint64_t labels;           /* address of its labels for profiles; 0: none */
    uint32_t first_starter, starter_count; /* the goroutine that has started it is first */
};

/* A goroutine that has started another one, and where it was then. */
struct root_starter {
    uint64_t goid;
    uint32_t first_frame, frame_count; /* in starter_frames */
};

/* A word of an object that points into a mapping outside the heap. */
struct mapped_word {
    uint64_t offset;
    uint32_t object, node; /* node: of the mapping */
};

struct roots {
    VECTOR(struct synthetic) nodes; /* the first one is the root */
    VECTOR(struct edge) edges;
    uint32_t gc_roots; /* node */
    VECTOR(struct root_goroutine) goroutines;
    VECTOR(struct root_frame) frames;
    VECTOR(struct root_site) sites;
    VECTOR(struct root_call) calls;
    VECTOR(struct root_starter) starters;
    VECTOR(uint32_t) starter_frames;   /* indexes in calls */
    VECTOR(struct mapped_word) mapped; /* in the order of objects, until they are edges */
    struct root_account account;
};

/* The inputs from which the roots are made. roots_init() adds names to names. */
struct root_sources {
    const struct g2h_heap *heap;
    const struct g2h_exe *exe;   /* may be NULL */
    const struct typing *typing; /* may be NULL */
    const struct targets *targets;
    struct names *names;
    const struct g2h_memory *memory; /* of the process; may be NULL */
    bool no_stacks;                  /* makes no nodes for goroutines' stacks */
};

/* Appends the goroutine's state, as a traceback shows it: "select". */
void root_goroutine_append_state(const struct g2h_heap *heap,
                                 const struct root_goroutine *goroutine, struct text *text);

/* Appends a function and, if it is known, the line: main.walk walk.go:17. */
void root_call_append(const struct names *names, const struct root_call *call, struct text *text);

/* Makes all root nodes and their edges. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *roots_init(struct roots *roots, const struct root_sources *sources);
void roots_deinit(struct roots *roots);

/*
 * Returns a pc in the instruction that a frame is executing. The frame's own pc is the address
 * after a call, unless a signal injected the callee (runtime/traceback.go: unwinder.symPC). callee
 * is that function's name; NULL: the frame is the topmost one.
 */
uint64_t roots_position_pc(uint64_t pc, uint64_t entry, const struct g2h_bytes *callee);

/* Adds edges for the objects' words that point into mappings, once names has the data for names of
 * elements. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *roots_name_mapped(struct roots *roots, const struct g2h_heap *heap,
                                    struct names *names);

/* Appends the path from a variable of a package to the lock, outside of the heap, that has an
 * address: "main.cond" of var cond = sync.NewCond(&mu). Returns false, and appends nothing, if none
 * with a name of its own leads there. */
bool roots_append_lock(const struct root_sources *sources, uint64_t address, struct text *text);

/* Finds the mapping outside the heap that contains an address. Returns false if there is none.
 * memory may be NULL. */
bool mappings_find(const struct g2h_memory *memory, uint64_t address, uint32_t *ret);

static inline struct node node_synthetic(uint32_t index)
{
    return (struct node){index, OF_SYNTHETIC};
}

static inline struct node node_object(uint32_t index)
{
    return (struct node){index, OF_OBJECT};
}

/* Adds an edge. Returns false if memory runs out. */
static inline bool roots_add_edge(struct roots *roots, struct node source,
                                  enum roots_edge_type type, uint32_t name, struct node target)
{
    struct edge edge = {source, target, name, type};
    return vector_push(&roots->edges, edge);
}

/* Returns the tier of a node's objects by its kind. Packages of the runtime are of TIER_REST. */
static inline enum tier tier_of_kind(enum g2h_node_kind kind)
{
    switch (kind) {
    case G2H_NODE_GLOBALS:
    case G2H_NODE_DATA:
    case G2H_NODE_BSS:
    case G2H_NODE_PACKAGE:
    case G2H_NODE_VARIABLE:
        return TIER_PROGRAM;
    case G2H_NODE_GC_ROOTS: /* words of stacks whose frame is not known */
    case G2H_NODE_GOROUTINES:
    case G2H_NODE_GOROUTINES_IN_PLACE:
    case G2H_NODE_GOROUTINE:
    case G2H_NODE_FRAME:
    case G2H_NODE_STACK:
    case G2H_NODE_CREATION_SITE:
    case G2H_NODE_DEFERS_AND_PANICS:
    case G2H_NODE_DEFERRED_CALLS:
    case G2H_NODE_DEFER:
    case G2H_NODE_PANIC:
        return TIER_GOROUTINES;
    case G2H_NODE_UNREACHABLE:
        return TIER_GARBAGE;
    case G2H_NODE_OTHER_ROOTS:
        return TIER_OTHERS;
    default:
        return TIER_REST;
    }
}

/* Adds a node whose name has been interned. Returns false if memory runs out. */
static inline bool roots_add_node(struct roots *roots, enum g2h_node_kind kind, uint64_t key,
                                  uint32_t name, uint32_t *ret)
{
    const struct synthetic synthetic = {key, 0, name, (uint8_t)kind, (uint8_t)tier_of_kind(kind)};
    *ret = as_u32(roots->nodes.count);
    return vector_push(&roots->nodes, synthetic);
}

/* Returns a group's index in its parent: groups are in the order of their kinds. */
static inline uint32_t root_group_index(enum g2h_node_kind kind)
{
    return (uint32_t)kind + 1;
}

#endif
