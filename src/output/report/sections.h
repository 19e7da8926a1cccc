/* sections: the parts of a report, and what they share. */
#ifndef OUTPUT_REPORT_SECTIONS_H
#define OUTPUT_REPORT_SECTIONS_H

#include <go2heapsnapshot/memory.h>

#include "output/merged.h"
#include "output/report/allocated.h"
#include "output/report/growth.h"
#include "output/report/page.h"
#include "output/report/shortest.h"
#include "output/report/stale.h"

struct waste;
struct report {
    const struct g2h_view *view;
    const struct g2h_dominators *dominators;
    struct merged merged;
    struct allocated allocated;
    struct g2h_windows *windows; /* NULL, unless objects are typed and the whole report is put */
    struct stale stale;          /* nothing, unless there are windows */
    struct page *page;
    uint64_t total, garbage, reachable; /* bytes */
    uint64_t untouched;                 /* of the reachable ones: they take no memory */
    const struct g2h_base *base;        /* NULL: there is none */
    const struct g2h_memory *memory;    /* of the process; NULL: not known */
    growth_vector growth;               /* since the base; by node of merged */
    unsigned threads;
};

/* The version of the JSON. It changes when a member changes its name or its meaning. */
enum { REPORT_VERSION = 1 };

/* Rows of a table that are shown in text. */
enum { REPORT_ROWS = 10 };

/* ---- sections: each puts itself on report->page. Errors: G2H_ERROR_MEMORY ---- */

/* Puts, as a part of the first lines, what the process had from the system, as far as it is known.
 */
void report_put_memory(const struct report *report);

/* Puts which part of the resident memory is large, and what that means, as the first suspect, if
 * objects are less than half of it. *ret says whether it did. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *report_put_outside(const struct report *report, bool *ret);

/* Puts which fields and variables point to mappings of a part of RSS (outside.c). Errors:
 * G2H_ERROR_MEMORY. */
struct g2h_error *report_put_pointers(const struct report *report, enum g2h_memory_part part);

struct g2h_error *report_put_suspects(const struct report *report);
struct g2h_error *report_put_goroutines(const struct report *report);
struct g2h_error *report_put_classes(const struct report *report);
struct g2h_error *report_put_tree(const struct report *report);
struct g2h_error *report_put_waste(const struct report *report, const struct waste *waste);

/* Puts which keys of maps hold most of what the objects of a node retain, if any do. Errors:
 * G2H_ERROR_MEMORY. */
struct g2h_error *report_put_keys(const struct report *report, uint32_t node);

/* Puts the way to one object, or to the objects of a class, in place of all sections. lookup.h has
 * the forms of asked, and the errors. */
struct g2h_error *report_put_path(const struct report *report, const char *asked);

/* ---- nodes of report->merged ---- */

/* Returns whether so much of some bytes takes no memory that it should be said. */
static inline bool report_is_untouched(uint64_t untouched, uint64_t all)
{
    return untouched >= all / 10 + 1;
}

static inline const struct merged_node *report_node(const struct report *report, uint32_t node)
{
    return &report->merged.nodes.data[node];
}

void report_append_name(const struct report *report, uint32_t node, struct text *text);

/* Returns the name of a node as a field of a line. */
struct page_field report_name(const struct report *report, const char *key, uint32_t node);

/* Returns whether a node is not an object but a synthetic node of a kind. */
bool report_is_kind(const struct report *report, uint32_t node, enum g2h_node_kind kind);

/* Returns the node of a kind that is nearest to the root, or MERGED_NONE. */
uint32_t report_find_kind(const struct report *report, enum g2h_node_kind kind);

/* Returns the weight that nodes are ranked by: the bytes that a node retains or, with a base, by
 * how much these have grown in the node or in one below it. */
uint64_t report_weight(const struct report *report, uint32_t node);

/* Return the number of goroutines in a group, or of deferred calls, and by how many it has grown.
 */
uint64_t report_members(const struct report *report, uint32_t node);
int64_t report_members_grown(const struct report *report, uint32_t node);

/* Returns the goroutine, a node of the view, that is the example of a place. */
uint32_t report_example_goroutine(const struct report *report, uint32_t place);

/* Appends the name of the node that an edge called label leads to from a node of the view; if label
 * is NULL, that of the node of kind that an edge leads to. Appends nothing if there is no such
 * edge. edges is any iterator over the edges of the report's view. */
void report_append_target(const struct report *report, struct g2h_edges *edges, uint32_t node,
                          const char *label, enum g2h_node_kind kind, struct text *text);

/* Puts what deferred calls hold, by class. node is a group of calls. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *report_put_deferred(const struct report *report, uint32_t node);

/* Puts how many frames a goroutine, a node of the view, has on its stack, and which function has
 * most of them; nothing if they are few. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *report_put_frames(const struct report *report, uint32_t goroutine);

/* The objects of class runtime.g that no goroutine has any more: the runtime keeps them. */
struct ended {
    uint64_t count, bytes;
};

/* Counts them. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *report_find_ended(const struct report *report, struct ended *ret);

/* If only a finalizer, or what is kept for a cleanup, holds an object, a node of the view, and can
 * never run, because the object with the finalizer reaches itself, or what is kept for the
 * finalizer or the cleanup reaches its object, puts that behind indent. Errors: G2H_ERROR_MEMORY.
 */
struct g2h_error *report_put_finalized(const struct report *report, uint32_t node,
                                       const char *indent);

/* Puts how many objects of a suspect lie in slots that no slice uses, and in which slices' arrays,
 * if they are more than a few. item is a node of merged, count how many objects the suspect has.
 * Errors: G2H_ERROR_MEMORY. */
struct g2h_error *report_put_stale(const struct report *report, uint32_t item, uint64_t count);

/* Returns a class by its name in the view, which may be G2H_NAME_NONE: the contents of strings. */
struct page_field report_class(const struct report *report, const char *key, uint32_t name);

/* ---- ranking ---- */

struct ranked {
    uint64_t weight;
    uint32_t node;
};
typedef VECTOR(struct ranked) ranking;

void report_free_ranking(ranking *list);

/* Compares two ranks for qsort(): the heaviest come first. */
int report_compare_ranks(const void *one, const void *other);

/* Adds the children of a node, those that retain most first. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *report_rank_children(const struct report *report, uint32_t node, ranking *ret);

#endif
