/* sections: the parts of a report, and what they have in common. */
#ifndef OUTPUT_REPORT_SECTIONS_H
#define OUTPUT_REPORT_SECTIONS_H

#include "output/merged.h"
#include "output/report/growth.h"
#include "output/report/page.h"
#include "output/report/shortest.h"

struct waste;
struct report {
    const struct g2h_view *view;
    const struct g2h_dominators *dominators;
    struct merged merged;
    struct page *page;
    uint64_t total, garbage, reachable; /* bytes */
    const struct g2h_base *base;        /* NULL: none */
    growth_vector growth;               /* since then; by node */
    unsigned threads;
};

/* Of the JSON: it changes where what is there changes its name or its meaning. */
enum { REPORT_VERSION = 1 };

/* So many rows of a table are shown. */
enum { REPORT_ROWS = 10 };

/* ---- sections: each puts itself on report->page. Errors: G2H_ERROR_MEMORY ---- */

struct g2h_error *report_put_suspects(const struct report *report);
struct g2h_error *report_put_goroutines(const struct report *report);
struct g2h_error *report_put_classes(const struct report *report);
struct g2h_error *report_put_tree(const struct report *report);
struct g2h_error *report_put_waste(const struct report *report, const struct waste *waste);

/* In place of all sections: how to get to an object, or those of a class: lookup.h, also for
 * errors.
 */
struct g2h_error *report_put_path(const struct report *report, const char *asked);

/* ---- nodes of report->merged ---- */

static inline const struct merged_node *report_node(const struct report *report, uint32_t node)
{
    return &report->merged.nodes.data[node];
}

void report_append_name(const struct report *report, uint32_t node, struct text *text);

/* The same as a field of a line. */
struct page_field report_name(const struct report *report, const char *key, uint32_t node);

/* Whether a node is no object, but of a kind. */
bool report_is_kind(const struct report *report, uint32_t node, enum g2h_node_kind kind);

/* The node of a kind that is nearest to the root; MERGED_NONE. */
uint32_t report_find_kind(const struct report *report, enum g2h_node_kind kind);

/* What nodes are ranked by: what they retain, or by how much that has grown. */
uint64_t report_weight(const struct report *report, uint32_t node);

/* The number of a group of goroutines, and by how many it has grown. */
uint64_t report_goroutines(const struct report *report, uint32_t node);
int64_t report_goroutines_grown(const struct report *report, uint32_t node);

/* The goroutine, a node of the view, of a place that is its example. */
uint32_t report_example_goroutine(const struct report *report, uint32_t place);

/* Appends the name of what an edge of the name label leads to from a node of the view; label NULL:
 * an edge to a node of that kind. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *report_append_target(const struct report *report, uint32_t node,
                                       const char *label, enum g2h_node_kind kind,
                                       struct text *text);

/* ---- ranking ---- */

struct ranked {
    uint64_t weight;
    uint32_t node;
};
typedef VECTOR(struct ranked) ranking;

void report_free_ranking(ranking *list);

/* The heaviest come first; for qsort(). */
int report_compare_ranks(const void *one, const void *other);

/* Adds the children of a node, those that retain most first. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *report_rank_children(const struct report *report, uint32_t node, ranking *ret);

#endif
