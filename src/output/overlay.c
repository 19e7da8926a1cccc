/*
 * overlay: how the edges and the dominators of a snapshot differ from those of the view; see
 * overlay.h. Two things are different, since DevTools shows them better so:
 *
 * A stack is below its goroutine, and what the goroutine holds is moved below the stack (struct
 * overlay_move). The first element of a long list gets an edge to each other element, which is
 * called a fan (struct overlay_fan): otherwise DevTools shows a list of a million elements as a
 * path of a million steps.
 *
 * Both are lists, ascending by node; outputs read edges by overlay_edges_read(), which inserts
 * them. The last part of the file marks the goroutines that DevTools is told are detached.
 */
#include "output/overlay.h"

#include <stdlib.h>

#include "base/contract.h"
#include "base/error.h"

/* ==== edges ==== */

/* ---- moved edges ---- */

CLEANUP_POINTER(edges_cleanup, struct g2h_edges, g2h_edges_destroy);

/* Returns whether a node stays below its goroutine: the stack itself, and nodes that do not belong
 * to one goroutine, which are a go statement and a thread, below (OS threads). */
static bool stays(const struct overlay *overlay, uint32_t node)
{
    struct g2h_node target;
    if (node >= overlay->first_object)
        return false;
    g2h_view_brief(overlay->view, node, &target);
    return target.kind == G2H_NODE_STACK || target.kind == G2H_NODE_CREATION_SITE ||
           target.kind == G2H_NODE_OS_THREAD;
}

/* Returns whether an edge of a goroutine that has a stack is moved. */
static bool is_moved(const struct overlay *overlay, const struct g2h_edge *edge)
{
    return (edge->flags & G2H_EDGE_WEAK) == 0 && !stays(overlay, edge->target);
}

/* Gets the stack of a goroutine, UINT32_MAX if it has none or it is folded, and the number of the
 * edges that can be moved. */
static struct overlay_move find_move(const struct overlay *overlay, struct g2h_edges *edges,
                                     uint32_t goroutine)
{
    struct overlay_move move = {goroutine, UINT32_MAX, 0};
    struct g2h_node target;
    struct g2h_edge edge;
    g2h_edges_begin(edges, goroutine, goroutine + 1);
    while (g2h_edges_next(edges, &edge)) {
        if (is_moved(overlay, &edge)) {
            move.edges++;
        } else if (edge.target < overlay->first_object) {
            g2h_view_brief(overlay->view, edge.target, &target);
            if (target.kind == G2H_NODE_STACK)
                move.stack = edge.target;
        }
    }
    return move;
}

/* Lists the goroutines whose edges are moved to their stacks. */
static struct g2h_error *find_moves(struct overlay *overlay)
{
    _cleanup_(edges_cleanup) struct g2h_edges *edges = NULL;
    _asserted_ uint32_t last = 0;
    struct g2h_node node;
    TRY(g2h_edges_create(overlay->view, &edges));
    for (uint32_t i = 0; i < overlay->first_object; i++) {
        g2h_view_brief(overlay->view, i, &node);
        if (node.kind != G2H_NODE_GOROUTINE)
            continue;
        const struct overlay_move move = find_move(overlay, edges, i);
        if (move.stack == UINT32_MAX || move.edges == 0)
            continue;
        assert(move.stack > last); /* stacks have the order of their goroutines */
        last = move.stack;
        TRY_MEMORY(vector_push(&overlay->moves, move));
    }
    return NULL;
}

/* Lists the fans: for each first element of a list, where its edges to the other elements are in
 * links, which are sorted by first element. */
static struct g2h_error *find_fans(struct overlay *overlay)
{
    TRY(g2h_view_chains(overlay->view, &overlay->links, &overlay->link_count));
    for (size_t i = 0; i < overlay->link_count; i++) {
        const struct overlay_fan fresh = {overlay->links[i].first, i, i};
        if (i == 0 || overlay->links[i - 1].first != fresh.node)
            TRY_MEMORY(vector_push(&overlay->fans, fresh));
        overlay->fans.data[overlay->fans.count - 1].end = i + 1;
    }
    assert(IS_ORDERED(i, overlay->fans.count,
                      overlay->fans.data[i - 1].node < overlay->fans.data[i].node));
    return NULL;
}

/* Finds in which nodes the output differs from the view. Stacks are moved only if the view has any;
 * fans are looked for always. */
struct g2h_error *overlay_init(struct overlay *ret, const struct g2h_view *view)
{
    const struct g2h_view_account *account = g2h_view_account(view);
    *ret = (struct overlay){.view = view, .first_object = as_u32(account->first_object)};
    if (account->stacks > 0)
        TRY(find_moves(ret));
    return find_fans(ret);
}

void overlay_deinit(struct overlay *overlay)
{
    free(overlay->moves.data);
    free(overlay->links);
    free(overlay->fans.data);
    *overlay = (struct overlay){0};
}

/* Returns the first move whose goroutine is node or a later one; NULL: none. */
static const struct overlay_move *from_goroutine(const struct overlay *overlay, uint32_t node)
{
    size_t at;
    BISECT(at, overlay->moves.count, overlay->moves.data[at].goroutine < node);
    return at < overlay->moves.count ? &overlay->moves.data[at] : NULL;
}

/* Returns the first move whose stack is node or a later one; NULL: none. */
static const struct overlay_move *from_stack(const struct overlay *overlay, uint32_t node)
{
    size_t at;
    BISECT(at, overlay->moves.count, overlay->moves.data[at].stack < node);
    return at < overlay->moves.count ? &overlay->moves.data[at] : NULL;
}

static const struct overlay_move *move_of_goroutine(const struct overlay *overlay, uint32_t node)
{
    const struct overlay_move *move = from_goroutine(overlay, node);
    return move && move->goroutine == node ? move : NULL;
}

static const struct overlay_move *move_of_stack(const struct overlay *overlay, uint32_t node)
{
    const struct overlay_move *move = from_stack(overlay, node);
    return move && move->stack == node ? move : NULL;
}

/* Returns the first fan, that is the first element of a long list with its edges to all others,
 * whose node is node or a later one; NULL: none. */
static const struct overlay_fan *from_fan(const struct overlay *overlay, uint32_t node)
{
    size_t at;
    BISECT(at, overlay->fans.count, overlay->fans.data[at].node < node);
    return at < overlay->fans.count ? &overlay->fans.data[at] : NULL;
}

/* ---- nodes ---- */

/* Returns the next node from first on whose edges differ from the view's, or UINT32_MAX. */
uint32_t overlay_next(const struct overlay *overlay, uint32_t first)
{
    const struct overlay_move *from = from_goroutine(overlay, first),
                              *to = from_stack(overlay, first);
    uint32_t next = from ? from->goroutine : UINT32_MAX;
    if (to && to->stack < next)
        next = to->stack;
    const struct overlay_fan *fan = from_fan(overlay, first);
    if (fan && fan->node < next)
        next = fan->node;
    return next;
}

/* Returns how many edges begin at a node, if the view has `edges`. A goroutine whose stack
 * has moved has the moved edges less, the stack has them more; a node that fans out has those to
 * elements, of its fan, more. */
uint32_t overlay_edge_count(const struct overlay *overlay, uint32_t node, uint32_t edges)
{
    if (node >= overlay->first_object && overlay->fans.count == 0)
        return edges; /* as most nodes: nothing is looked up for them */
    const struct overlay_move *from = move_of_goroutine(overlay, node),
                              *to = move_of_stack(overlay, node);
    if (from)
        edges -= from->edges;
    if (to)
        edges += to->edges;
    const struct overlay_fan *fan = from_fan(overlay, node);
    if (fan && fan->node == node)
        edges += as_u32(fan->end - fan->first);
    return edges;
}

/* Mends the dominator and the retained size of a node. What a goroutine dominates in the view, its
 * moved stack does here, but for what stays with the goroutine; and the stack retains as many bytes
 * as the goroutine does. Objects of another dominator, and of a goroutine with no moved stack, are
 * left as they are. */
void overlay_dominator(const struct overlay *overlay, const struct g2h_dominators *dominators,
                       uint32_t node, uint32_t *dominator, uint64_t *retained)
{
    const struct overlay_move *from =
        *dominator < overlay->first_object ? move_of_goroutine(overlay, *dominator) : NULL;
    if (!from)
        return;
    if (node == from->stack)
        *retained = g2h_dominators_retained_size(dominators, from->goroutine);
    else if (!stays(overlay, node))
        *dominator = from->stack;
}

/* Returns the node whose retained size is shown for a node. What a stack that edges were moved to
 * retains is what its goroutine retains. */
uint32_t overlay_retainer(const struct overlay *overlay, uint32_t node)
{
    const struct overlay_move *to =
        node < overlay->first_object ? move_of_stack(overlay, node) : NULL;
    return to ? to->goroutine : node;
}

/* ---- edges ---- */

struct g2h_error *overlay_edges_init(struct overlay_edges *ret, const struct overlay *overlay)
{
    *ret = (struct overlay_edges){.overlay = overlay};
    return g2h_edges_create(overlay->view, &ret->edges);
}

void overlay_edges_deinit(struct overlay_edges *reader)
{
    g2h_edges_destroy(reader->edges);
    *reader = (struct overlay_edges){0};
}

/* Begins with the edges of the view up to the next node whose edges differ; or with those of that
 * node, if it comes first. */
static void begin_next(struct overlay_edges *reader)
{
    const uint32_t first = reader->next;
    const uint32_t differs = overlay_next(reader->overlay, first);
    uint32_t end = MIN(differs, reader->end);
    reader->from = reader->to = NULL;
    reader->link = reader->link_end = 0;
    if (differs == first) {
        reader->from = move_of_goroutine(reader->overlay, first);
        reader->to = move_of_stack(reader->overlay, first);
        end = first + 1;
        const struct overlay_fan *fan = from_fan(reader->overlay, first);
        if (fan && fan->node == first) {
            reader->link = fan->first;
            reader->link_end = fan->end;
        }
    }
    const uint32_t source = reader->to ? reader->to->goroutine : first;
    g2h_edges_begin(reader->edges, source, reader->to ? source + 1 : end);
    reader->next = end;
}

/* Begins with the edges of the nodes [first, end). */
void overlay_edges_begin(struct overlay_edges *reader, uint32_t first, uint32_t end)
{
    const uint32_t count = g2h_view_node_count(reader->overlay->view);
    reader->next = first;
    reader->end = MIN(end, count);
    begin_next(reader);
}

/* Keeps of the edges of a goroutine those that are moved, or those that are not, and returns how
 * many these are. */
static size_t keep_edges(const struct overlay_edges *reader, struct g2h_edge *edges, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_moved(reader->overlay, &edges[i]) != (reader->to != NULL))
            continue;
        edges[kept] = edges[i];
        if (reader->to)
            edges[kept].source = reader->to->stack;
        kept++;
    }
    return kept;
}

/* Makes the next edges to elements of a list, at most most. Returns how many. */
static size_t read_links(struct overlay_edges *reader, struct g2h_edge *ret, size_t most)
{
    size_t count = 0;
    for (; count < most && reader->link < reader->link_end; reader->link++) {
        const struct g2h_chain_link *link = &reader->overlay->links[reader->link];
        ret[count++] = (struct g2h_edge){.source = link->first,
                                         .target = link->element,
                                         .flags = G2H_EDGE_SHORTCUT | OVERLAY_LINK,
                                         .name = G2H_NAME_NONE,
                                         .offset = UINT64_MAX};
    }
    return count;
}

/* Reads a range of nodes at a time: its edges in the view that are kept, and then those that are
 * added. Returns 0 at the end. */
size_t overlay_edges_read(struct overlay_edges *reader, struct g2h_edge *ret, size_t most)
{
    for (;;) {
        size_t count = g2h_edges_read(reader->edges, ret, most);
        const bool is_end = count == 0;
        if (!is_end && (reader->from || reader->to))
            count = keep_edges(reader, ret, count);
        if (count > 0)
            return count;
        if (!is_end)
            continue;
        count = read_links(reader, ret, most);
        if (count > 0)
            return count;
        if (reader->next >= reader->end)
            return 0;
        begin_next(reader);
    }
}

/* ==== nodes that DevTools is told are detached: goroutines that are leaked ==== */

/* Marks a goroutine and its stack. */
static void add_goroutine(struct detached *detached, const struct g2h_view *view,
                          struct g2h_edges *edges, uint32_t goroutine)
{
    struct g2h_edge edge;
    struct g2h_node target;
    bits_add(detached->nodes, goroutine);
    g2h_edges_begin(edges, goroutine, goroutine + 1);
    while (g2h_edges_next(edges, &edge)) {
        if (edge.target >= detached->count)
            continue;
        g2h_view_brief(view, edge.target, &target);
        if (target.kind == G2H_NODE_STACK)
            bits_add(detached->nodes, edge.target);
    }
}

/* Marks the goroutines that are leaked, with their stacks. None are if no goroutine is. */
struct g2h_error *detached_init(const struct g2h_view *view, struct detached *ret)
{
    _cleanup_(edges_cleanup) struct g2h_edges *edges = NULL;
    *ret = (struct detached){0};
    if (g2h_view_leaks(view).leaked == 0)
        return NULL;
    const uint32_t count = as_u32(g2h_view_account(view)->first_object);
    TRY(g2h_edges_create(view, &edges));
    ret->nodes = calloc((size_t)count / 64 + 1, sizeof(*ret->nodes));
    TRY_MEMORY(ret->nodes);
    ret->count = count;
    for (uint32_t node = 0; node < count; node++)
        if (g2h_view_is_leaked(view, node))
            add_goroutine(ret, view, edges, node);
    return NULL;
}

void detached_deinit(struct detached *detached)
{
    free(detached->nodes);
    *detached = (struct detached){0};
}
