/*
 * expression_read: finds the node that a Go expression leads to; see expression.h.
 *
 * A name of a pointer may have dots and brackets in it, and may be the beginning of another name,
 * so the expression is not cut into names. Instead the names of edges, as expression_append()
 * writes them, are compared with the rest of the expression. A state is a node, and how much of the
 * expression has led there; from each, all edges whose names come next are tried.
 */
#include "findings/expression_parts.h"

#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/heap.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/scope.h"
#include "findings/findings.h"

enum { MOST_EDGES = 50000000 };

struct reached {
    uint32_t node;
    size_t at; /* characters of the expression that have led here */
};

struct reading {
    const struct g2h_view *view;
    struct g2h_edges *edges;
    const char *text, *owner; /* the expression, and the contents of the brackets after it */
    size_t size, owner_size;
    uint32_t synthetic;
    uint64_t followed;
    bool all_that_lead, any_owner;
    VECTOR(struct reached) reached;
    struct map seen;         /* hash of what is reached → its index */
    struct text name, whose; /* of the edge that is tried */
    uint32_t found;
    struct text *longer; /* NULL, or a path that begins with the expression, once there is one */
};

/* Cuts off the owner: "  (local of main.serve main.go:12)". */
static void split_owner(struct reading *reading, const char *expression)
{
    static const char bracket[] = "  (";
    const size_t size = strlen(expression);
    reading->text = expression;
    reading->size = size;
    for (size_t i = size; size > 0 && expression[size - 1] == ')' && i-- > 0;)
        if (strncmp(expression + i, bracket, strlen(bracket)) == 0) {
            reading->size = i;
            reading->owner = expression + i + strlen(bracket);
            reading->owner_size = size - 1 - i - strlen(bracket);
            return;
        }
}

/* Adds a state: a node, and how many characters of the expression have led there. A state that
 * matches the whole expression is the result; one that is known already is not followed again. */
static struct g2h_error *expression_add(struct reading *reading, uint32_t node, size_t at)
{
    uint32_t index = (uint32_t)reading->reached.count;
    if (at == reading->size) {
        reading->found = node;
        return NULL;
    }
    TRY_MEMORY(map_put(&reading->seen, map_hash_pair(node, at), index, &index));
    if (index == reading->reached.count)
        TRY_MEMORY(vector_push(&reading->reached, ((struct reached){node, at})));
    return NULL;
}

/* Returns the next edge to an object: a strong one or, with all_that_lead, see g2h_edge_leads(). */
static bool next_edge(struct reading *reading, struct g2h_edge *ret)
{
    while (reading->found == UINT32_MAX && reading->followed < MOST_EDGES &&
           g2h_edges_next(reading->edges, ret)) {
        reading->followed++;
        if ((reading->all_that_lead ? g2h_edge_leads(ret->flags)
                                    : (ret->flags & G2H_EDGE_WEAK) == 0) &&
            ret->target >= reading->synthetic)
            return true;
    }
    return false;
}

/* Remembers the name of an edge that goes on after the rest of the expression, from at on: then the
 * expression is a part of a variable or an object, such as a struct in it. */
static void note_longer(const struct reading *reading, size_t at, const char *name, size_t size)
{
    const size_t left = reading->size - at;
    if (!reading->longer || reading->longer->size > 0 || reading->owner_size > 0 || size <= left ||
        (name[left] != '.' && name[left] != '[') || memcmp(name, reading->text + at, left) != 0)
        return;
    text_append(reading->longer, reading->text, at);
    text_append(reading->longer, name, size);
}

/* ---- from a root ---- */

/* Returns whether no expression begins with a root: a package of another name, or a kind of root
 * that paths do not use. */
static bool cannot_begin(const struct reading *reading, uint32_t node)
{
    const enum g2h_node_kind kind = findings_kind_of(reading->view, node);
    size_t size;
    if (kind == G2H_NODE_STACK || kind == G2H_NODE_CREATION_SITE || kind == G2H_NODE_UNREACHABLE)
        return true;
    const char *name = findings_name_of(reading->view, node, &size);
    return kind == G2H_NODE_PACKAGE &&
           strncmp(reading->text, EXPRESSION_UNNAMED, strlen(EXPRESSION_UNNAMED)) != 0 &&
           (size >= reading->size || memcmp(reading->text, name, size) != 0 ||
            reading->text[size] != '.');
}

/* Follows the edges of a root whose names begin the expression. */
static struct g2h_error *expression_begin(struct reading *reading, uint32_t root)
{
    struct g2h_edge edge;
    g2h_edges_begin(reading->edges, root, root + 1);
    while (next_edge(reading, &edge)) {
        struct text *name = &reading->name, *whose = &reading->whose;
        name->size = whose->size = 0;
        expression_append_first(reading->view, reading->edges, &edge, name, whose);
        TRY_MEMORY(!name->failed && !whose->failed);
        const bool is_of_owner =
            whose->size == reading->owner_size &&
            memcmp(whose->size > 0 ? whose->data : "", reading->owner, whose->size) == 0;
        if ((is_of_owner || reading->any_owner) && name->size <= reading->size &&
            memcmp(name->size > 0 ? name->data : "", reading->text, name->size) == 0)
            TRY(expression_add(reading, edge.target, name->size));
        else if (whose->size == 0)
            note_longer(reading, 0, name->data, name->size);
    }
    return NULL;
}

/* ---- from an object ---- */

/* Returns the index that comes next in the expression, "[17]"; UINT64_MAX: none does. */
static uint64_t index_at(const char *at)
{
    enum { DIGITS = 18 };
    const size_t digits = *at == '[' ? strspn(at + 1, "0123456789") : 0;
    return digits > 0 && digits <= DIGITS && at[digits + 1] == ']' ? strtoull(at + 1, NULL, 10)
                                                                   : UINT64_MAX;
}

/* Returns whether an edge has another index as its name. An array may have millions of elements, so
 * these are not formatted. */
static bool is_other_index(const struct reading *reading, const struct g2h_edge *edge,
                           uint64_t index)
{
    const uint32_t of = G2H_EDGE_BY_INDEX | G2H_EDGE_OF_KEY | G2H_EDGE_OF_ELEM;
    return (edge->flags & of) == G2H_EDGE_BY_INDEX && edge->index != index &&
           !expression_hides(reading->view, edge->target);
}

/* Follows those edges of a reached node whose names come next in the expression. */
static struct g2h_error *expression_go_on(struct reading *reading, struct reached from)
{
    struct g2h_edge edge;
    struct text *name = &reading->name;
    const size_t before = from.at > 0;
    const uint64_t index = index_at(reading->text + from.at);
    g2h_edges_begin(reading->edges, from.node, from.node + 1);
    while (next_edge(reading, &edge)) {
        if (is_other_index(reading, &edge, index))
            continue;
        name->size = 0;
        text_append(name, reading->text + from.at - before, before); /* a dot depends on it */
        if (!expression_hides(reading->view, edge.target))
            expression_append_edge(reading->view, reading->edges, &edge, name);
        TRY_MEMORY(!name->failed);
        const size_t size = name->size - before;
        if (size <= reading->size - from.at &&
            memcmp(name->size > 0 ? name->data + before : "", reading->text + from.at, size) == 0)
            TRY(expression_add(reading, edge.target, from.at + size));
        else
            note_longer(reading, from.at, name->data + before, size);
    }
    return NULL;
}

static void reading_deinit(struct reading *reading)
{
    free(reading->reached.data);
    map_deinit(&reading->seen);
    text_deinit(&reading->name);
    text_deinit(&reading->whose);
}

/* A breadth-first search over states (node, characters matched): from all roots whose variable
 * begins the expression, along all edges whose names come next, until a state has matched it to its
 * end. */
static struct g2h_error *read_along(struct reading *reading)
{
    for (uint32_t i = 0; i < reading->synthetic && reading->found == UINT32_MAX; i++)
        if (!cannot_begin(reading, i))
            TRY(expression_begin(reading, i));
    for (size_t i = 0; i < reading->reached.count && reading->found == UINT32_MAX; i++)
        TRY(expression_go_on(reading, reading->reached.data[i]));
    return NULL;
}

/* Of many goroutines with a variable of one name, one that holds what the expression leads to is
 * meant, and not one whose variable leads there by a pointer that holds nothing. */
struct g2h_error *expression_read(const struct g2h_view *view, struct g2h_edges *edges,
                                  const char *expression, bool without_owner, uint32_t *ret,
                                  struct text *longer)
{
    _cleanup_(reading_deinit) struct reading reading = {
        .view = view,
        .edges = edges,
        .owner = "",
        .synthetic = (uint32_t)g2h_view_account(view)->synthetic_nodes,
        .found = UINT32_MAX,
        .longer = longer};
    split_owner(&reading, expression);
    reading.any_owner = without_owner && reading.owner_size == 0;
    for (int i = 0; i < 2 && reading.found == UINT32_MAX; i++) {
        reading.all_that_lead = i > 0;
        reading.reached.count = 0;
        map_deinit(&reading.seen);
        TRY(read_along(&reading));
    }
    *ret = reading.found;
    TRY_MEMORY(!longer || !longer->failed);
    return NULL;
}
