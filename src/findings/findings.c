/*
 * findings: computes what all findings start from: dominators, hashes of strings, what is stale,
 * and the merged tree; see findings.h. Besides, questions about a node of the merged tree that
 * several findings ask: its kind, its number of members, its weight.
 *
 * Weight is what nodes are ranked by: retained bytes or, with a base heap, growth. A place is a
 * node of the merged tree that is goroutines with the same functions on their stacks, in the same
 * state.
 */
#include "findings/findings.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "base/workers.h"
#include "findings/length.h"

/* ---- the basis ---- */

/* Computes the dominator tree unless the caller has passed one. */
static struct g2h_error *find_dominators(void *context)
{
    struct findings *findings = context;
    if (findings->dominators)
        return NULL;
    TRY(g2h_view_dominators(findings->view, &findings->own));
    findings->dominators = findings->own;
    return NULL;
}

/* Hashes all strings for the search for duplicates; runs beside find_dominators(), since neither
 * needs the other. */
static struct g2h_error *hash_strings(void *context)
{
    struct findings *findings = context;
    return equals_read(findings->view, &findings->waste.texts);
}

/* Finds the dominators, and what waste needs. Waste needs more than the tree: the strings' hashes,
 * and the windows of arrays with what is stale in them, which needs the dominators. */
struct g2h_error *findings_begin(struct findings *findings, bool has_waste)
{
    if (findings->threads == 0)
        findings->threads = workers_available();
    if (!has_waste)
        return find_dominators(findings);
    TRY(workers_beside(findings->threads, find_dominators, hash_strings, findings));
    TRY(g2h_windows_find(findings->view, findings->threads, &findings->windows));
    return stale_find(findings->view, findings->dominators, findings->windows, &findings->stale);
}

/* ---- goroutines by place ---- */

/* Returns the place of goroutines that a node belongs to, or MERGED_NONE. Goes up from the node:
 * the place of several goroutines, or else the uppermost goroutine that is alone in its place. */
uint32_t findings_place_of(const struct findings *findings, uint32_t node)
{
    uint32_t alone = MERGED_NONE;
    for (uint32_t i = node; i != MERGED_NONE; i = findings_node(findings, i)->parent) {
        if (findings_is_kind(findings, i, G2H_NODE_GOROUTINES_IN_PLACE))
            return i;
        if (findings_is_kind(findings, i, G2H_NODE_GOROUTINE))
            alone = i;
    }
    return alone;
}

/* Returns the place of a goroutine of the view, or MERGED_NONE. */
static uint32_t place_of_goroutine(const struct findings *findings, size_t number)
{
    struct g2h_view_goroutine goroutine;
    g2h_view_goroutine(findings->view, number, &goroutine);
    if (goroutine.node == UINT32_MAX)
        return MERGED_NONE;
    return findings_place_of(
        findings, findings->merged.of[g2h_dominators_number(findings->dominators, goroutine.node)]);
}

/* Lists the goroutines of each place, one place after another: counts them, and then puts each in
 * its place. Goroutines without a place are left out. Counts go two entries up in ret->first, so
 * that first[place + 1] is where the place's next goroutine goes, and in the end where its last one
 * ends. */
static struct g2h_error *stack_index_make(const struct findings *findings, struct stack_index *ret)
{
    const size_t count = g2h_view_goroutine_count(findings->view),
                 nodes = findings->merged.nodes.count;
    _cleanup_free_ uint32_t *places = calloc(count + 1, sizeof(*places));
    ret->first = calloc(nodes + 2, sizeof(*ret->first));
    ret->list = calloc(count + 1, sizeof(*ret->list));
    TRY_MEMORY(places && ret->first && ret->list);
    for (size_t i = 0; i < count; i++) {
        places[i] = place_of_goroutine(findings, i);
        if (places[i] != MERGED_NONE)
            ret->first[places[i] + 2]++;
    }
    for (size_t i = 2; i < nodes + 2; i++)
        ret->first[i] += ret->first[i - 1];
    for (size_t i = 0; i < count; i++)
        if (places[i] != MERGED_NONE)
            ret->list[ret->first[places[i] + 1]++] = as_u32(i);
    return NULL;
}

static void stack_index_deinit(struct stack_index *index)
{
    free(index->first);
    free(index->list);
}

/* ---- all of it ---- */

/* Builds the merged tree and its sums. Garbage is one subtree of the merged tree, so the sums of
 * reachable memory are those of the root without it. */
struct g2h_error *findings_merge(struct findings *findings)
{
    enum merged_islands which = findings->base ? MERGED_ISLANDS_ALL : MERGED_ISLANDS_SEVERAL;
    if (findings->is_of_series)
        which = MERGED_ISLANDS_NONE;
    TRY(merged_make(findings->view, findings->dominators, findings->threads, which,
                    &findings->merged));
    TRY(length_note_all(&findings->merged));
    const uint32_t garbage = findings_find_kind(findings, G2H_NODE_UNREACHABLE);
    const struct merged_node none = {0}, *root = findings_node(findings, 0),
                             *dead =
                                 garbage == MERGED_NONE ? &none : findings_node(findings, garbage);
    findings->total = root->retained;
    findings->garbage = dead->retained;
    findings->reachable = root->retained - dead->retained;
    findings->untouched = root->untouched - dead->untouched;
    findings->untouched_garbage = dead->untouched;
    TRY(paths_create(findings, &findings->paths));
    TRY(stack_index_make(findings, &findings->stacks));
    if (findings->base)
        findings->holders = growth_holders_of(findings->base);
    return findings->base ? growth_find(findings->base, &findings->merged, &findings->growth)
                          : NULL;
}

void findings_deinit(struct findings *findings)
{
    paths_destroy(findings->paths);
    merged_deinit(&findings->merged);
    allocated_deinit(&findings->allocated);
    stale_deinit(&findings->stale);
    g2h_windows_destroy(findings->windows);
    free(findings->growth.data);
    waste_deinit(&findings->waste);
    pages_deinit(&findings->pages);
    stack_index_deinit(&findings->stacks);
    g2h_dominators_destroy(findings->own);
}

/* ---- nodes ---- */

/* Returns whether a node is not an object but a synthetic node of a kind. */
bool findings_is_kind(const struct findings *findings, uint32_t node, enum g2h_node_kind kind)
{
    return findings_node(findings, node)->kind == MERGED_SYNTHETIC &&
           merged_kind_of(&findings->merged, node) == kind;
}

/* Returns the first node of a kind, which is the one nearest to the root, or MERGED_NONE. */
uint32_t findings_find_kind(const struct findings *findings, enum g2h_node_kind kind)
{
    for (uint32_t i = 0; i < findings->merged.nodes.count; i++)
        if (findings_is_kind(findings, i, kind))
            return i;
    return MERGED_NONE;
}

static int64_t findings_count_of(const struct findings *findings, uint32_t node)
{
    return (int64_t)findings_node(findings, node)->count;
}

static int64_t findings_growth_of(const struct findings *findings, uint32_t node)
{
    return findings->growth.data[node].count;
}

/* Returns the node after another one below top, those below a node right after it, or MERGED_NONE.
 */
static uint32_t next_below(const struct findings *findings, uint32_t top, uint32_t node)
{
    const uint32_t child = findings_node(findings, node)->child;
    if (child != MERGED_NONE)
        return child;
    while (node != top && findings_node(findings, node)->sibling == MERGED_NONE)
        node = findings_node(findings, node)->parent;
    return node == top ? MERGED_NONE : findings_node(findings, node)->sibling;
}

/* Returns the largest value that of() has for a record of a deferred call below node. It is for
 * groups of deferred calls that have no call nodes, but lead to a list of such records. The records
 * of a list are merged into one node, so its count is the number of calls. */
static int64_t most_in_defer_list(const struct findings *findings, uint32_t node,
                                  int64_t (*of)(const struct findings *findings, uint32_t node))
{
    int64_t most = 0;
    for (uint32_t i = next_below(findings, node, node); i != MERGED_NONE;
         i = next_below(findings, node, i))
        if (merged_runtime_class(&findings->merged, i) == G2H_RUNTIME_DEFER)
            most = MAX(most, of(findings, i));
    return most;
}

/* Returns of(node) or, if the node is a group of goroutines or of deferred calls, the sum of of()
 * over its members. */
static int64_t sum_members(const struct findings *findings, uint32_t node,
                           int64_t (*of)(const struct findings *findings, uint32_t node))
{
    const bool is_deferred = findings_is_kind(findings, node, G2H_NODE_DEFERRED_CALLS);
    const enum g2h_node_kind member = is_deferred ? G2H_NODE_DEFER : G2H_NODE_GOROUTINE;
    int64_t sum = 0;
    if (!is_deferred && !findings_is_kind(findings, node, G2H_NODE_GOROUTINES_IN_PLACE))
        return of(findings, node);
    for (uint32_t i = findings_node(findings, node)->child; i != MERGED_NONE;
         i = findings_node(findings, i)->sibling)
        if (findings_is_kind(findings, i, member))
            sum += of(findings, i);
    return is_deferred && sum == 0 ? most_in_defer_list(findings, node, of) : sum;
}

uint64_t findings_members(const struct findings *findings, uint32_t node)
{
    return (uint64_t)sum_members(findings, node, findings_count_of);
}

int64_t findings_members_grown(const struct findings *findings, uint32_t node)
{
    return sum_members(findings, node, findings_growth_of);
}

/* Returns the weight that nodes are ranked by: the bytes that a node retains or, with a base, by
 * how much these have grown in the node or in one below it. */
uint64_t findings_weight(const struct findings *findings, uint32_t node)
{
    return findings->base ? findings->growth.data[node].weight
                          : findings_node(findings, node)->retained;
}

/* Inserts a name into ascending ones, unless it is among them or after MOST of them. */
static void insert_name(struct g2h_bytes *names, size_t *count, size_t most, struct g2h_bytes name)
{
    size_t at = *count;
    int order = 1;
    while (at > 0 && (order = bytes_compare(names[at - 1], name)) > 0)
        at--;
    if ((at > 0 && order == 0) || at == most)
        return;
    *count += *count < most;
    memmove(&names[at + 1], &names[at], (*count - at - 1) * sizeof(*names));
    names[at] = name;
    assert(*count <= most);
    assert(IS_ORDERED(i, *count, bytes_compare(names[i - 1], names[i]) < 0));
}

/* Appends the names of up to MOST targets of a node's edges, each once and in order: of those with
 * the label, or, without one, of the targets of the kind. */
void findings_append_targets(const struct findings *findings, struct g2h_edges *edges,
                             uint32_t node, const char *label, enum g2h_node_kind kind,
                             struct text *text)
{
    enum { MOST = 4 };
    struct g2h_bytes names[MOST];
    struct g2h_edge edge;
    size_t count = 0;
    g2h_edges_begin(edges, node, node + 1);
    while (g2h_edges_next(edges, &edge)) {
        struct g2h_node target;
        size_t size;
        const char *name = g2h_view_name(findings->view, edge.name, &size);
        g2h_view_brief(findings->view, edge.target, &target);
        if (label ? size != strlen(label) || memcmp(name, label, size) != 0 : target.kind != kind)
            continue;
        name = g2h_view_name(findings->view, target.name, &size);
        insert_name(names, &count, MOST, bytes_at(name, size));
    }
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            text_append_string(text, ", ");
        text_append(text, names[i].data, names[i].size);
    }
}

/* Returns the goroutine that is the example of a place. */
uint32_t findings_example_goroutine(const struct findings *findings, uint32_t place)
{
    for (uint32_t i = findings_node(findings, place)->child; i != MERGED_NONE;
         i = findings_node(findings, i)->sibling)
        if (findings_is_kind(findings, i, G2H_NODE_GOROUTINE))
            return findings_node(findings, i)->example;
    return findings_node(findings, place)->example;
}
