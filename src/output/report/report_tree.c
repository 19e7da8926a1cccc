/* report_tree: the tree of retainers; see sections.h. */
#include "base/scope.h"
#include "findings/merged.h"
#include "output/report/sections.h"
#include "output/report/table.h"

enum {
    MOST_LINES = 50,
    MOST_CHILDREN = 8, /* most children of a node that are shown */
    MOST_DEPTH = 16,
    LEAST_NAME = 20, /* characters */
};

struct report_tree {
    const struct report *report;
    uint64_t least; /* bytes that a line has at least */
    size_t lines;
};

/* Widths of the columns before the names. */
enum { OF_BYTES = 9, OF_PERCENT = 8, OF_COUNT = 11 };

static void put_branch(const struct report *report, uint32_t node, size_t depth)
{
    const struct merged_node *of = report_node(report, node);
    const size_t used = 2 + OF_BYTES + OF_PERCENT + OF_COUNT + 2 + 2 * depth,
                 columns = report->page->columns,
                 width = columns > used + LEAST_NAME ? columns - used : LEAST_NAME;
    const bool has_base = report->findings->base != NULL;
    const int64_t within =
                      has_base ? report->findings->growth.data[node].within : (int64_t)of->retained,
                  grown = has_base ? report->findings->growth.data[node].count : 0;
    struct page *page = report->page;
    /* A dash is for a node that as a whole has shrunk. */
    PUT(page,
        within < 0 ? "  %*s"
        : has_base ? "  %*d"
                   : "  %*b",
        OF_BYTES, within < 0 ? page_value_words("-") : page_value_signed(within));
    PUT(page, " %*p ", OF_PERCENT - 2, within > 0 ? within : 0, report->findings->reachable);
    /* The count is for several objects; with a base, how many more there are. */
    if (of->kind != MERGED_CLASS || (has_base ? grown == 0 : of->count < 2))
        page_blanks(page, OF_COUNT);
    else
        PUT(page, has_base ? "%*c" : "%*n", OF_COUNT, has_base ? (uint64_t)grown : of->count);
    page_blanks(page, 2 + 2 * depth);
    PUT(page, "%.*s{name}\n|%b{retained}%b{bytes}%n{count}", width, report_name(report, node),
        of->retained, of->bytes, of->count);
    if (has_base)
        PUT(page, "|%d{retained_grown}%c{count_grown}", within, grown);
}

/* Adds a node to those that get a branch, if it is large enough. */
static bool report_tree_add(const struct report_tree *tree, uint32_t node, ranking *children)
{
    const uint64_t weight = findings_weight(tree->report->findings, node);
    return weight < tree->least || vector_push(children, ((struct ranked){weight, node}));
}

/* Adds those children of a node that are large enough. The groups of (GC roots) are shown beside
 * (globals), not below it; garbage and threads are left out. */
static bool add_children(const struct report_tree *tree, uint32_t node, ranking *children)
{
    const struct findings *findings = tree->report->findings;
    const uint32_t gc_roots =
        node == 0 ? findings_find_kind(findings, G2H_NODE_GC_ROOTS) : MERGED_NONE;
    if (gc_roots != MERGED_NONE) {
        const uint32_t globals = findings_find_kind(findings, G2H_NODE_GLOBALS);
        if (globals != MERGED_NONE && !report_tree_add(tree, globals, children))
            return false;
        node = gc_roots;
    }
    for (uint32_t i = report_node(tree->report, node)->child; i != MERGED_NONE;
         i = report_node(tree->report, i)->sibling)
        if (!report_tree_add(tree, i, children))
            return false;
    return true;
}

/* Adds the largest branches below a node, as many and as deep as the limits allow. */
static struct g2h_error *put_below(struct report_tree *tree, uint32_t node, size_t depth)
{
    const struct report *report = tree->report;
    ranking children = {0};
    struct g2h_error *error = add_children(tree, node, &children) ? NULL : &error_no_memory;
    ranking_sort(&children);
    for (size_t i = 0; !error && i < children.count && i < report_rows(report, MOST_CHILDREN);
         i++) {
        if (tree->lines++ >= MOST_LINES)
            break;
        PUT(report->page, "<>");
        put_branch(report, children.data[i].node, depth);
        PUT(report->page, "[holds]");
        if (depth + 1 < MOST_DEPTH)
            error = put_below(tree, children.data[i].node, depth + 1);
        PUT(report->page, "[/]</>");
    }
    free(children.data);
    return error;
}

static uint64_t report_tree_weight_of(const struct findings *findings, enum g2h_node_kind kind)
{
    const uint32_t node = findings_find_kind(findings, kind);
    return node == MERGED_NONE ? 0 : findings_weight(findings, node);
}

struct g2h_error *report_put_tree(const struct report *report)
{
    enum { OF_ALL = 50, LEAST = 4096 };
    const uint64_t all = report_tree_weight_of(report->findings, G2H_NODE_GLOBALS) +
                         report_tree_weight_of(report->findings, G2H_NODE_GC_ROOTS),
                   least = all / OF_ALL;
    struct report_tree tree = {.report = report,
                               .least = report->findings->base && least < LEAST ? LEAST : least};
    if (all >= tree.least) {
        page_head(report->page, report->findings->base ? "WHERE IT GREW" : "WHAT HOLDS WHAT");
        page_say(report->page,
                 "   tree of dominators, down to 2 % of the heap; equal children are merged\n");
    }
    PUT(report->page, "[tree]");
    TRY(put_below(&tree, 0, 0));
    PUT(report->page, "[/]");
    return NULL;
}
