/*
 * findings: analyses of a heap: who holds the memory, what grew, what is wasted.
 *
 * The module takes a view with its dominators, the public headers and nothing else, and returns
 * numbers, nodes and names in structures of its own; the module's users, first of all
 * output/report, choose and format them. Sizes are bytes. Two kinds of nodes occur: those of the
 * view, and those of the merged tree (merged.h), in which similar nodes of the view are one node.
 *
 *   containers          what has many of something, as a logical container with its entries and
 *                       parts
 *   length              how many entries a map, a slice, a channel … has by its own count
 *   merged              nodes of the view, rankings, the tree of dominators with similar nodes
 *                       merged, and the packages of classes
 *   suspects            the parts of it to look at first, and the details of each: its heaviest
 *                       object, whether one holder has most
 *   keys                which keys of maps hold most of it; the entries of a map by key; the spread
 *                       of a class's values
 *   pinned              what is only in slots that no slice uses; arrays that pointers to single
 *                       elements keep
 *   allocated           who allocated it, by the stacks of the heap profile
 *   growth              by how much each node has grown since another heap
 *   trend               the course of each place over a series of heaps
 *   estimates           sums of a sample of a heap, with their errors
 *   class_rows          sums by class, the objects that retain most, structs and their layouts;
 *                       indexes of a heap that is queried repeatedly
 *   goroutines          goroutines by place, their stacks; those that can never run again; what
 *                       deferred calls hold; finalizers and cleanups that never run, or wait for
 *                       others; labels, and what goroutines with each value retain
 *   ages                since when the objects of a suspect live, and what that says
 *   patterns            where goroutines of a place are, and what those at well-known locations
 *                       mean
 *   memory_use          what the process has from the system; what points to memory outside of the
 *                       heap
 *   retained_pages      what emptying a holder would give back
 *   waste               unused memory: in slices, maps, substrings, spans, duplicate strings,
 *                       rounding and padding
 *   path                the path to an object, as a Go expression, written and read, and who points
 *                       there
 *   lookup, lookup_under
 *                       what a user asks for: a class, an object, a part of one, a node of the
 *                       tree; the nodes that --under takes
 *   variable_part       the memory that a Go expression leads to, value by value; similar names
 *   public              what users of the library ask for
 *
 * All functions that return an error fail with G2H_ERROR_MEMORY only, unless their header says
 * otherwise. A structure with a _deinit() is passed to it in any case, once it is {0}.
 */
#ifndef FINDINGS_FINDINGS_H
#define FINDINGS_FINDINGS_H

#include <go2heapsnapshot/memory.h>
#include <go2heapsnapshot/output.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/text.h"
#include "findings/allocated.h"
#include "findings/growth.h"
#include "findings/merged.h"
#include "findings/path.h"
#include "findings/pinned.h"
#include "findings/retained_pages.h"
#include "findings/waste.h"

/* The goroutines by their places: patterns.h. */
struct stack_index {
    uint32_t
        *first;     /* by node of merged: where its goroutines begin in list; one more at the end */
    uint32_t *list; /* numbers of goroutines in the view */
};

/* The basis of all other findings, which is found first. */
struct findings {
    const struct g2h_view *view;             /* set these before findings_begin(); */
    const struct g2h_dominators *dominators; /* NULL: findings_begin() finds them */
    const struct g2h_base *base;             /* another heap to compare with, or NULL */
    const struct g2h_memory *memory;         /* of the process; NULL: not known */
    unsigned threads;  /* 0: as many as there are processors, which findings_begin() sets */
    bool is_of_series; /* what is found is compared with what other heaps have, place by place */

    struct g2h_dominators *own; /* if findings_begin() has found dominators */
    struct merged merged;
    uint64_t total, garbage, reachable; /* bytes */
    uint64_t untouched;                 /* of the reachable ones: they take no memory */
    uint64_t untouched_garbage;         /* the same of garbage */
    struct stack_index stacks;
    growth_vector growth;                 /* since the base; by node of merged */
    const struct growth_holders *holders; /* of an earlier heap, or NULL */
    struct allocated allocated;           /* empty until allocated_find() */
    struct g2h_windows *windows;          /* NULL, unless waste is wanted */
    struct stale stale;                   /* nothing, unless there are windows */
    struct waste waste;
    struct pages pages;      /* nothing until pages_find() */
    struct paths *paths;     /* for one thread at a time */
    const struct held *held; /* NULL, unless the heap is queried repeatedly: held_make() */
};

/* Finds the dominators and, if has_waste is set, the strings, the windows of slices, and what is
 * stale: everything that findings_merge() and waste_find() need, which may then run in parallel.
 * has_waste needs a view whose objects are typed. */
struct g2h_error *findings_begin(struct findings *findings, bool has_waste);

/* Builds the merged tree, its sums, the growth since the base, and paths. */
struct g2h_error *findings_merge(struct findings *findings);

void findings_deinit(struct findings *findings);

/* ---- nodes of findings->merged ---- */

CLEANUP_POINTER(findings_destroy_edges, struct g2h_edges, g2h_edges_destroy);

static inline const struct merged_node *findings_node(const struct findings *findings,
                                                      uint32_t node)
{
    assert(node < findings->merged.nodes.count);
    return &findings->merged.nodes.data[node];
}

/* Returns whether a node is not an object but a synthetic node of a kind. */
bool findings_is_kind(const struct findings *findings, uint32_t node, enum g2h_node_kind kind);

/* Returns the node of a kind that is nearest to the root, or MERGED_NONE. */
uint32_t findings_find_kind(const struct findings *findings, enum g2h_node_kind kind);

/* Returns the weight that nodes are ranked by: the bytes that a node retains or, with a base, by
 * how much these have grown in the node or in one below it. */
uint64_t findings_weight(const struct findings *findings, uint32_t node);

/* Return the number of goroutines in a group, or of deferred calls, and by how many it has grown.
 */
uint64_t findings_members(const struct findings *findings, uint32_t node);

int64_t findings_members_grown(const struct findings *findings, uint32_t node);

/* Returns the place that a node of merged is, or is below of: a group of goroutines, or one that is
 * alone; or MERGED_NONE. */
uint32_t findings_place_of(const struct findings *findings, uint32_t node);

/* Returns the goroutine, a node of the view, that is the example of a place. */
uint32_t findings_example_goroutine(const struct findings *findings, uint32_t place);

/* ---- nodes of the view ---- */

/* Returns whether an object of the heap is not what findings are about: it is garbage, or beside
 * what the view is about. */
static inline bool findings_leaves_out(const struct g2h_view *view, uint32_t object)
{
    return g2h_view_is_garbage(view, object) || g2h_view_is_else(view, object);
}

/* Return the kind and the name of a node. */
enum g2h_node_kind findings_kind_of(const struct g2h_view *view, uint32_t node);

const char *findings_name_of(const struct g2h_view *view, uint32_t node, size_t *ret_size);

/* Returns the class of an object, or the name of another node: (string), (roots), net/http.conn.
 * The string is valid as long as the view. */
const char *findings_class_name(const struct g2h_view *view, const struct g2h_node *node,
                                size_t *ret_size);

/* Returns whether a name is that of memory with the entries of a map; g2h_view_map_of() then
 * returns the name of the map. */
bool findings_is_entries(const struct g2h_view *view, uint32_t name);

/* Returns whether a node of the view is garbage; of a folded node, whether its first member is. */
bool findings_is_dead(const struct g2h_view *view, uint32_t number);

/* Appends the names of the targets of a node's edges called label, as the channels of a select; if
 * label is NULL, of those that lead to nodes of kind. Each name is appended once, at most four, in
 * ascending order; nothing if there is no such edge. edges is any iterator over the edges of the
 * view. */
void findings_append_targets(const struct findings *findings, struct g2h_edges *edges,
                             uint32_t node, const char *label, enum g2h_node_kind kind,
                             struct text *text);

#endif
