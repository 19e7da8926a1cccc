/*
 * html_tree: puts the merged tree of dominators into the page's data, as columns with a number per
 * node, and then the subtrees that only the base has; see data.h.
 *
 * First nodes are chosen, those that retain most (html_tree_choose), and numbered in preorder; what
 * is not chosen below a node is summed up in a row "rest". Then each column is written: parent,
 * name, bytes and so on; with a base or ages also how they were before.
 */
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "findings/memory_use.h"
#include "findings/merged.h"
#include "output/html/data.h"

/* ==== the tree ====
 *
 * Branches are added from the largest on, until the limits are reached. The remaining ones of each
 * node are merged into one node, so that all sums stay exact.
 */

/* The page's kind of a node that stands for branches that are left out; the others are those of
 * merged. */
enum { KIND_MORE = MERGED_CLASS + 1 };

/* Stands for the branches of a node that are left out. */
struct html_tree_rest {
    uint64_t branches, bytes, objects, was, was_objects;
    struct pages_sum pages;
    struct ages_groups aged;
};

struct html_tree_choice {
    struct data *data;
    struct html_tree *tree;
    const struct merged *merged;
    uint16_t *depths;  /* by node */
    uint32_t *missing; /* by node in the tree: how many children are not */
    uint32_t open;     /* nodes in the tree with missing children */
};

/* ---- choosing nodes ---- */

/* Sets the depth of each node, no more than one beyond DATA_TREE_DEPTH, and counts its children. */
static void html_tree_count_children(const struct html_tree_choice *choice)
{
    const struct merged_node *nodes = choice->merged->nodes.data;
    for (uint32_t i = 1; i < choice->merged->nodes.count; i++) {
        const uint16_t depth = choice->depths[nodes[i].parent];
        choice->depths[i] = (uint16_t)(depth + (depth <= DATA_TREE_DEPTH));
        choice->missing[nodes[i].parent]++;
    }
}

/* Adds a node, whose parent is in the tree. Returns false if it does not fit: each node with
 * missing children (choice->open) needs a place for the node that stands for these, and adding a
 * node may open one more. */
static bool html_tree_add_node(struct html_tree_choice *choice, uint32_t node)
{
    struct html_tree *tree = choice->tree;
    const uint32_t parent = choice->merged->nodes.data[node].parent;
    size_t size;
    const char *name = merged_name(choice->merged, node, &size);
    if (tree->count + choice->open + 2 > DATA_TREE_NODES ||
        data_size(&choice->data->names_json) >= DATA_TREE_NAMES)
        return false;
    data_name(choice->data, name, size); /* the names of the largest branches come first */
    tree->numbers[node] = 0;             /* it is in the tree */
    tree->count++;
    choice->open += choice->missing[node] > 0;
    if (parent != MERGED_NONE)
        choice->open -= --choice->missing[parent] == 0;
    return true;
}

/* Chooses the nodes that retain most, as many as fit, and DATA_TREE_DEPTH levels deep at most. A
 * parent retains no less than its children, so it always comes before them. */
static struct g2h_error *html_tree_choose(struct html_tree_choice *choice)
{
    const struct merged *merged = choice->merged;
    _cleanup_vector_ ranking order = {0};
    for (uint32_t i = 0; i < merged->nodes.count; i++)
        TRY_MEMORY(vector_push(&order, ((struct ranked){merged->nodes.data[i].retained, i})));
    ranking_sort(&order);
    for (size_t i = 0; i < order.count; i++) {
        const uint32_t node = order.data[i].node;
        const uint32_t parent = merged->nodes.data[node].parent;
        const bool is_below = parent == MERGED_NONE || choice->tree->numbers[parent] != TREE_NONE;
        if (is_below && choice->depths[node] <= DATA_TREE_DEPTH &&
            !html_tree_add_node(choice, node))
            break;
    }
    return NULL;
}

/* Numbers the nodes, so that parents still come first, and finds the node in the tree above each of
 * the others. */
static void html_tree_number_nodes(struct html_tree *tree, const struct merged *merged)
{
    tree->count = 0;
    for (uint32_t i = 0; i < merged->nodes.count; i++) {
        const uint32_t parent = merged->nodes.data[i].parent;
        if (tree->numbers[i] != TREE_NONE) {
            tree->kept[tree->count] = i;
            tree->numbers[i] = tree->count++;
        } else {
            tree->anchors[i] = tree->numbers[parent] != TREE_NONE ? parent : tree->anchors[parent];
        }
    }
}

/* Returns the number of a node in the page's tree. A node that is not in the tree is in the rest
 * below the one that is its anchor, whose number is in more. */
uint32_t tree_number(const struct html_tree *tree, uint32_t node)
{
    return tree->numbers[node] != TREE_NONE ? tree->numbers[node]
                                            : tree->more[tree->numbers[tree->anchors[node]]];
}

/* ---- sums ---- */

/* Returns the bytes that a node retained in the base. */
static uint64_t was(const struct findings *findings, uint32_t node)
{
    return findings_node(findings, node)->retained - (uint64_t)findings->growth.data[node].retained;
}

/* Returns how many objects a node had in the base. */
static uint64_t was_count(const struct findings *findings, uint32_t node)
{
    return findings_node(findings, node)->count - (uint64_t)findings->growth.data[node].count;
}

/* Adds a node that is left out to the sums of a branch: its own pages, ages and objects; and what
 * it retains, if its parent is in the tree, since then it is the top of a branch. */
static void html_tree_add_rest(const struct findings *findings, const struct html_tree *tree,
                               uint32_t node, struct html_tree_rest *rest)
{
    const struct merged_node *left_out = findings_node(findings, node);
    const struct pages_sum pages = pages_own(&findings->pages, node);
    rest->pages.bytes += pages.bytes;
    rest->pages.empty += pages.empty;
    for (unsigned i = 0; tree->aged && i < AGES_GROUPS; i++)
        rest->aged.bytes[i] += tree->aged[node].bytes[i];
    if (left_out->kind == MERGED_CLASS) {
        rest->objects += left_out->count;
        rest->was_objects += findings->base ? was_count(findings, node) : 0;
    }
    if (tree->numbers[left_out->parent] == TREE_NONE)
        return;
    rest->branches++;
    rest->bytes += left_out->retained;
    rest->was += findings->base ? was(findings, node) : 0;
}

/* Sums up the nodes that are left out, by number of the node that they are below, and numbers these
 * sums after all others. */
static void html_tree_sum_up(const struct findings *findings, struct html_tree *tree,
                             struct html_tree_rest *rests)
{
    uint32_t next = tree->count;
    for (uint32_t i = 0; i < findings->merged.nodes.count; i++)
        if (tree->numbers[i] == TREE_NONE)
            html_tree_add_rest(findings, tree, i, &rests[tree->numbers[tree->anchors[i]]]);
    for (uint32_t i = 0; i < tree->count; i++) {
        tree->more[i] = rests[i].branches > 0 ? next++ : TREE_NONE;
        tree->cut_branches += rests[i].branches;
        tree->cut_bytes += rests[i].bytes;
    }
}

/* ---- columns ---- */

enum column {
    PARENT,
    NAME,
    KIND,
    PACKAGE,
    BYTES,
    COUNT,
    PAGES,
    FREE_SLOTS,
    WAS,
    WAS_COUNT,
    COLUMNS
};

/* Returns whether the page has a column. */
static bool has_column(const struct findings *findings, enum column column)
{
    if (column == PAGES || column == FREE_SLOTS)
        return findings->pages.retained != NULL;
    return column < WAS || findings->base != NULL;
}

/* Returns the number of the name of a node's package: of a class its own, of a variable its parent,
 * unless that is a group of roots; else the empty name. */
static uint32_t html_tree_package_of(struct data *data, uint32_t node)
{
    const struct merged *merged = &data->findings->merged;
    const struct merged_node *nodes = merged->nodes.data;
    size_t size = 0;
    const char *name = "";
    if (nodes[node].kind == MERGED_CLASS) {
        name = merged_name(merged, node, &size);
        package_of_class(name, size, &name, &size);
    } else if (nodes[node].kind == MERGED_VARIABLE) {
        name = merged_name(merged, nodes[node].parent, &size);
        size = size > 0 && name[0] == '(' ? 0 : size;
    }
    return data_name(data, name, size);
}

/* Adds the value that a node in the tree has in a column; a node without parent has -1 for it. */
static void html_tree_put_kept(struct data *data, const struct html_tree *tree, uint32_t node,
                               enum column column)
{
    const struct merged_node *of = findings_node(data->findings, node);
    size_t size;
    const char *name;
    switch (column) {
    case PARENT:
        if (of->parent == MERGED_NONE)
            data_words(data, "-1");
        else
            data_number(data, tree->numbers[of->parent]);
        break;
    case NAME:
        name = merged_name(&data->findings->merged, node, &size);
        data_number(data, data_name(data, name, size));
        break;
    case KIND:
        data_number(data, of->kind);
        break;
    case PACKAGE:
        data_number(data, html_tree_package_of(data, node));
        break;
    case BYTES:
        data_number(data, of->bytes);
        break;
    case COUNT:
        data_number(data, of->count);
        break;
    case PAGES:
        data_number(data, pages_own(&data->findings->pages, node).bytes);
        break;
    case FREE_SLOTS:
        data_number(data, pages_own(&data->findings->pages, node).empty);
        break;
    case WAS:
        data_number(data, was(data->findings, node));
        break;
    case WAS_COUNT:
        data_number(data, was_count(data->findings, node));
        break;
    case COLUMNS:
        break;
    }
}

/* Adds what the node "(more)" has in a column. It stands for the branches that are left out below
 * parent. */
static void html_tree_put_rest(struct data *data, const struct html_tree_rest *rest,
                               uint32_t parent, enum column column)
{
    static const char more[] = "(more)";
    const uint64_t numbers[COLUMNS] = {
        [PARENT] = parent,
        [NAME] = column == NAME ? data_name(data, more, sizeof(more) - 1) : 0,
        [KIND] = KIND_MORE,
        [PACKAGE] = column == PACKAGE ? data_name(data, "", 0) : 0,
        [BYTES] = rest->bytes,
        [COUNT] = rest->objects,
        [PAGES] = rest->pages.bytes,
        [FREE_SLOTS] = rest->pages.empty,
        [WAS] = rest->was,
        [WAS_COUNT] = rest->was_objects};
    data_number(data, numbers[column]);
}

/* Adds a column: of all nodes in the tree, and then of the nodes "(more)". */
static void put_column(struct data *data, const struct html_tree *tree,
                       const struct html_tree_rest *rests, enum column column)
{
    for (uint32_t i = 0; i < tree->count; i++) {
        data_comma(data, i);
        html_tree_put_kept(data, tree, tree->kept[i], column);
    }
    for (uint32_t i = 0; i < tree->count; i++)
        if (rests[i].branches > 0) {
            data_words(data, ",");
            html_tree_put_rest(data, &rests[i], i, column);
        }
}

/* Adds, for each group of ages, how many bytes each node has in it. */
static void put_aged(struct data *data, const struct html_tree *tree,
                     const struct html_tree_rest *rests)
{
    const struct g2h_ages_known *known = ages_watched(g2h_view_heap(data->findings->view));
    assert(known);
    data_key(data, "watched_ms");
    data_number(data, (uint64_t)(known->looks[known->look_count].time - known->looks[1].time));
    data_words(data, ",");
    data_key(data, "aged");
    data_words(data, "[");
    for (unsigned group = 0; group < AGES_GROUPS; group++) {
        data_words(data, group > 0 ? ",\n[" : "[");
        for (uint32_t i = 0; i < tree->count; i++) {
            data_comma(data, i);
            data_number(data, tree->aged[tree->kept[i]].bytes[group]);
        }
        for (uint32_t i = 0; i < tree->count; i++)
            if (rests[i].branches > 0) {
                data_words(data, ",");
                data_number(data, rests[i].aged.bytes[group]);
            }
        data_words(data, "]");
    }
    data_words(data, "],\n");
}

/* Adds, for each node with omitted branches, the number of the node that stands for these, and how
 * many there are. */
static void put_more(struct data *data, const struct html_tree *tree,
                     const struct html_tree_rest *rests)
{
    size_t count = 0;
    data_key(data, "more");
    data_words(data, "[");
    for (uint32_t i = 0; i < tree->count; i++) {
        if (rests[i].branches == 0)
            continue;
        data_words(data, count++ > 0 ? ",[" : "[");
        data_number(data, tree->more[i]);
        data_words(data, ",");
        data_number(data, rests[i].branches);
        data_words(data, "]");
    }
    data_words(data, "]");
}

/* Adds the tree, column by column; only the columns that the heap has values for. */
static void put_columns(struct data *data, const struct html_tree *tree,
                        const struct html_tree_rest *rests)
{
    static const char *const keys[COLUMNS] = {
        [PARENT] = "parent", [NAME] = "name",
        [KIND] = "kind",     [PACKAGE] = "package",
        [BYTES] = "bytes",   [COUNT] = "count",
        [PAGES] = "pages",   [FREE_SLOTS] = "free_slots",
        [WAS] = "was",       [WAS_COUNT] = "was_count",
    };
    data_key(data, "tree");
    data_words(data, "{");
    for (enum column column = PARENT; column < COLUMNS; column++) {
        if (!has_column(data->findings, column))
            continue;
        data_key(data, keys[column]);
        data_words(data, "[");
        put_column(data, tree, rests, column);
        data_words(data, "],\n");
    }
    if (tree->aged)
        put_aged(data, tree, rests);
    put_more(data, tree, rests);
    data_words(data, "},\n");
}

/* ---- the whole tree ---- */

/* Allocates what is needed by node; no node is in the tree yet. Returns false if memory runs
 * out. */
static bool html_tree_allocate(struct html_tree_choice *choice)
{
    const size_t count = choice->merged->nodes.count + 1;
    struct html_tree *tree = choice->tree;
    tree->numbers = malloc(count * sizeof(*tree->numbers));
    tree->anchors = malloc(count * sizeof(*tree->anchors));
    tree->more = malloc((DATA_TREE_NODES + 1) * sizeof(*tree->more));
    tree->kept = malloc((DATA_TREE_NODES + 1) * sizeof(*tree->kept));
    choice->depths = calloc(count, sizeof(*choice->depths));
    choice->missing = calloc(count, sizeof(*choice->missing));
    if (!tree->numbers || !tree->anchors || !tree->more || !tree->kept || !choice->depths ||
        !choice->missing)
        return false;
    for (size_t i = 0; i < count; i++)
        tree->numbers[i] = tree->anchors[i] = TREE_NONE;
    return true;
}

static void html_tree_choice_deinit(struct html_tree_choice *choice)
{
    free(choice->depths);
    free(choice->missing);
}

/* Chooses the nodes, numbers them, sums up the rest below each, and adds all by column. */
struct g2h_error *data_put_tree(struct data *data, struct html_tree *tree)
{
    const struct findings *findings = data->findings;
    _cleanup_(html_tree_choice_deinit) struct html_tree_choice choice = {
        .data = data, .tree = tree, .merged = &findings->merged};
    TRY_MEMORY(html_tree_allocate(&choice));
    TRY(ages_find_groups(findings, &tree->aged));
    html_tree_count_children(&choice);
    TRY(html_tree_choose(&choice));
    html_tree_number_nodes(tree, &findings->merged);
    _cleanup_free_ struct html_tree_rest *rests =
        calloc(count_and_end(tree->count), sizeof(*rests));
    TRY_MEMORY(rests);
    html_tree_sum_up(findings, tree, rests);
    put_columns(data, tree, rests);
    TRY_MEMORY(!data->out.text.failed);
    return NULL;
}

/* ---- the same tree at other times ---- */

/* Adds up, by the tree's numbers, what its nodes and the rests below these had in the past. */
struct g2h_error *tree_past_find(const struct findings *then, const struct html_tree *tree,
                                 struct html_tree_past *ret)
{
    const struct merged *merged = &then->merged;
    uint32_t size = tree->count;
    for (uint32_t i = 0; i < tree->count; i++)
        size += tree->more[i] != TREE_NONE;
    free(ret->was);
    free(ret->was_count);
    ret->size = size;
    ret->was = calloc(count_and_end(size), sizeof(*ret->was));
    ret->was_count = calloc(count_and_end(size), sizeof(*ret->was_count));
    TRY_MEMORY(ret->was && ret->was_count);
    for (uint32_t i = 0; i < merged->nodes.count; i++) {
        const uint32_t number = tree_number(tree, i);
        const uint32_t parent = merged->nodes.data[i].parent;
        const bool is_kept = tree->numbers[i] != TREE_NONE;
        if (is_kept || tree->numbers[parent] != TREE_NONE)
            ret->was[number] += was(then, i);
        if (is_kept || merged->nodes.data[i].kind == MERGED_CLASS)
            ret->was_count[number] += was_count(then, i);
    }
    return NULL;
}

void tree_past_deinit(struct html_tree_past *past)
{
    free(past->was);
    free(past->was_count);
}

/* Adds the number in the tree of each suspect; -1 for what is outside of the heap, which comes
 * first in the report. */
void data_put_suspects(struct data *data, const struct html_tree *tree,
                       const struct who_suspects *suspects)
{
    enum g2h_memory_part part;
    const bool is_outside = memory_is_outside(data->findings, &part);
    data_key(data, "suspect_nodes");
    data_words(data, is_outside ? "[-1" : "[");
    for (size_t i = 0; i < suspects->count; i++) {
        data_comma(data, is_outside + i);
        data_number(data, tree_number(tree, suspects->list[i].suspect.named));
    }
    data_words(data, "],\n");
}

void tree_deinit(struct html_tree *tree)
{
    free(tree->numbers);
    free(tree->anchors);
    free(tree->more);
    free(tree->kept);
    free(tree->aged);
}

/* ==== subtrees that only the base has ==== */

enum {
    MOST_GONE = 500,
    LEAST_SHARE = 1000 /* each has at least a thousandth */
};

/* Adds a subtree that only the base has, below the lowest node above it that there still is. */
static void put_gone(struct data *data, const struct html_tree *tree,
                     const struct growth_gone *gone, size_t number)
{
    data_words(data, number > 0 ? ",\n{" : "\n{");
    data_key(data, "below");
    data_number(data, tree_number(tree, gone->parent));
    data_words(data, ",");
    data_key(data, "name");
    data_string(data, gone->name, gone->name_size);
    data_words(data, ",");
    data_key(data, "kind");
    data_number(data, gone->kind);
    data_words(data, ",");
    data_key(data, "was");
    data_number(data, gone->retained);
    data_words(data, ",");
    data_key(data, "was_count");
    data_number(data, gone->count);
    data_words(data, "}");
}

/* Adds what has gone since the base, the most first: MOST_GONE at most, each at least 1/LEAST_SHARE
 * of all. What does not fit is counted. */
struct g2h_error *data_put_gone(struct data *data, const struct html_tree *tree)
{
    const struct findings *findings = data->findings;
    _cleanup_vector_ gone_vector list = {0};
    const size_t begin = data_size(&data->out);
    uint64_t all = 0;
    if (!findings->base)
        return NULL;
    TRY(growth_find_gone(findings->base, &findings->growth, &list));
    VECTOR_EACH(const struct growth_gone, gone, list)
        all += gone->retained;
    data_key(data, "gone");
    data_words(data, "[");
    /* Those after the first small one are smaller still, and are not even counted. */
    for (size_t i = 0; i < list.count && list.data[i].retained >= all / LEAST_SHARE; i++) {
        if (i < MOST_GONE && data_size(&data->out) - begin < DATA_GONE_BYTES)
            put_gone(data, tree, &list.data[i], i);
        else
            data->cut_gone++;
    }
    data_words(data, "],\n");
    TRY_MEMORY(!data->out.text.failed);
    return NULL;
}
