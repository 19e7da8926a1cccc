/*
 * folded; see folded.h.
 *
 * The nodes that are kept have the lines that they have without folding, but for numbers of nodes
 * and what fold_target() says of their edges. A folded node has the edges of its members, each kind
 * of target once, by the name that the first of them has for it.
 */
#include "output/folded.h"

#include "graph/walk.h"
#include "output/lines.h"

/* ---- nodes ---- */

struct g2h_error *folded_write_synthetic_nodes(const struct g2h_graph *graph,
                                               struct worker_buffer *buffer)
{
    const struct fold *fold = graph->fold;
    for (uint32_t i = 0; i < graph->synthetics.count; i++) {
        if (fold->number_of[i] >= fold->kept)
            continue;
        struct g2h_error *error = make_room(buffer, NODE_LINE);
        if (error)
            return error;
        char *begin = buffer->data + buffer->size;
        char *at =
            write_node(begin, NODE_SYNTHETIC, graph->synthetics.data[i].name,
                       graph->synthetics.data[i].id, 0, fold->edge_counts[fold->number_of[i]]);
        if (i == 0) /* no comma before the first node */
            memmove(begin, begin + 1, (size_t)(--at - begin));
        buffer->size = (size_t)(at - buffer->data);
    }
    return NULL;
}

struct g2h_error *folded_write_object_nodes(const struct g2h_graph *graph, size_t number,
                                            struct worker_buffer *buffer)
{
    const struct fold *fold = graph->fold;
    const uint32_t first = (uint32_t)number << BLOCK_SHIFT,
                   count = graph->targets.blocks[number].objects;
    const uint32_t *number_of = fold->number_of + graph->synthetics.count;
    for (uint32_t object = first; object < first + count; object++) {
        if (fold_hides(fold, object))
            continue;
        struct g2h_error *error = make_room(buffer, NODE_LINE);
        if (error)
            return error;
        char *at = write_object_node(graph, buffer->data + buffer->size, object,
                                     fold->edge_counts[number_of[object]]);
        buffer->size = (size_t)(at - buffer->data);
    }
    return NULL;
}

struct g2h_error *folded_write_other_nodes(const struct g2h_graph *graph,
                                           struct worker_buffer *buffer)
{
    const struct fold *fold = graph->fold;
    const uint32_t first_part = fold->graph_nodes - (uint32_t)graph->parts.count;
    struct g2h_error *error = NULL;
    for (uint32_t i = 0; i < graph->parts.count && !error; i++) {
        const struct part *part = &graph->parts.data[i];
        if (fold->number_of[first_part + i] >= fold->kept)
            continue;
        error = make_room(buffer, NODE_LINE);
        if (!error)
            buffer->size = (size_t)(write_node(buffer->data + buffer->size, NODE_OBJECT, part->name,
                                               part->id, part->size, 0) -
                                    buffer->data);
    }
    for (uint32_t i = 0; i < fold->folded_count && !error; i++) {
        const struct folded *folded = &fold->folded[i];
        error = make_room(buffer, NODE_LINE);
        if (!error)
            buffer->size =
                (size_t)(write_node(buffer->data + buffer->size, folded->type, folded->name,
                                    folded->id, folded->size, fold->edge_counts[fold->kept + i]) -
                         buffer->data);
    }
    return error;
}

/* ---- edges ---- */

/* What the edges of a node are written with. */
struct edge_writer {
    const struct g2h_graph *graph;
    const struct fold *fold;
    uint32_t *seen;
    struct worker_buffer *buffer;
    uint32_t source; /* as written */
};

static struct g2h_error *write_one(struct edge_writer *writer, enum edge_type type, uint32_t name,
                                   uint32_t number)
{
    struct worker_buffer *buffer = writer->buffer;
    struct g2h_error *error = make_room(buffer, EDGE_LINE);
    if (!error)
        buffer->size =
            (size_t)(write_edge(buffer->data + buffer->size, type, name, number) - buffer->data);
    return error;
}

/* Edges that are no pointers. */
static struct g2h_error *write_children(struct edge_writer *writer, uint64_t from, uint64_t to)
{
    struct g2h_error *error = NULL;
    for (uint64_t i = from; i < to && !error; i++) {
        const struct edge *edge = &writer->graph->children[i];
        const uint32_t number =
            fold_target(writer->fold, writer->seen, writer->source,
                        graph_node_number(writer->graph, edge->target), edge->type == EDGE_WEAK);
        if (number != FOLD_LEFT_OUT)
            error = write_one(writer, edge->type, edge->name, number);
    }
    return error;
}

/*
 * The pointers of an object. entry_names: the block's, at the object's first; NULL: entries of maps
 * are called by their slots.
 */
static struct g2h_error *write_pointers(struct edge_writer *writer, uint32_t object,
                                        const uint32_t **entry_names)
{
    const struct g2h_graph *graph = writer->graph;
    const uint32_t synthetics = (uint32_t)graph->synthetics.count;
    struct object_walk walk;
    uint64_t offset;
    uint32_t hit;
    object_walk_begin(&walk, graph, object);
    while (object_walk_next(&walk, &offset, &hit)) {
        const bool is_weak = is_weak_pointer(graph, object, hit);
        struct edge_name name;
        namer_name(&walk.namer, offset, &name);
        const uint32_t entry =
            name.is_entry && entry_names ? next_entry_name(entry_names) : NAME_NONE;
        const uint32_t number =
            fold_target(writer->fold, writer->seen, writer->source, synthetics + hit, is_weak);
        if (number == FOLD_LEFT_OUT)
            continue;
        const struct edge_label label = label_pointer(graph, &name, entry, is_weak);
        struct g2h_error *error = write_one(writer, label.type, label.name, number);
        if (error)
            return error;
    }
    return NULL;
}

/* To what the source dominates and has no edge to; and, of (folded), to all that is. */
static struct g2h_error *write_extras(struct edge_writer *writer)
{
    const struct fold *fold = writer->fold;
    struct g2h_error *error = NULL;
    for (uint32_t i = fold->first_extra[writer->source];
         i < fold->first_extra[writer->source + 1] && !error; i++)
        error = write_one(writer, EDGE_INTERNAL, fold->folded_name, fold->extra[i]);
    if (fold->group == UINT32_MAX || writer->source != fold->number_of[fold->group])
        return error;
    for (uint32_t i = 0; i < fold->folded_count && !error; i++)
        error = write_one(writer, EDGE_WEAK, fold->folded[i].count_name, fold->kept + i);
    return error;
}

struct g2h_error *folded_write_synthetic_edges(const struct g2h_graph *graph, uint32_t *seen,
                                               struct worker_buffer *buffer)
{
    struct edge_writer writer = {
        .graph = graph, .fold = graph->fold, .seen = seen, .buffer = buffer};
    /* all of the root's at once: the comma before the first one is taken away below */
    struct g2h_error *error = make_room(buffer, (size_t)graph->fold->edge_counts[0] * EDGE_LINE);
    const size_t begin = buffer->size;
    for (uint32_t i = 0; i < graph->synthetics.count && !error; i++) {
        writer.source = graph->fold->number_of[i];
        if (writer.source >= graph->fold->kept)
            continue;
        error = write_children(&writer, graph->first_child[i], graph->first_child[i + 1]);
        if (!error)
            error = write_extras(&writer);
        if (i == 0 && !error) { /* the root has edges */
            memmove(buffer->data + begin, buffer->data + begin + 1, buffer->size - begin - 1);
            buffer->size--;
        }
    }
    return error;
}

struct g2h_error *folded_write_object_edges(const struct g2h_graph *graph, uint32_t *seen,
                                            size_t number, struct worker_buffer *buffer)
{
    const struct fold *fold = graph->fold;
    const struct target_block *block = &graph->targets.blocks[number];
    const uint32_t first = (uint32_t)number << BLOCK_SHIFT;
    const uint32_t *entry_names = graph->entry_names ? graph->entry_names[number] : NULL;
    struct edge_writer writer = {.graph = graph, .fold = fold, .seen = seen, .buffer = buffer};
    uint64_t child = graph_object_child(graph, first);
    for (uint32_t i = 0; i < block->objects; i++) {
        const uint32_t object = first + i;
        const uint64_t own = child;
        struct g2h_error *error = NULL;
        while (graph_is_child_of(graph, child, object))
            child++;
        if (fold_hides(fold, object))
            continue;
        writer.source = fold->number_of[graph->synthetics.count + object];
        if (block->starts[i] < block->starts[i + 1])
            error = write_pointers(&writer, object, &entry_names);
        if (!error)
            error = write_children(&writer, own, child);
        if (!error)
            error = write_extras(&writer);
        if (error)
            return error;
    }
    return NULL;
}

/* ---- of folded nodes ---- */

/* Whether a member has an edge that is to be written: most have none, and need not be read. */
static bool has_news(const struct edge_writer *writer, uint32_t object)
{
    const struct g2h_graph *graph = writer->graph;
    const struct fold *fold = writer->fold;
    const uint32_t *number_of = fold->number_of + graph->synthetics.count;
    const uint32_t *end, *target = object_targets(graph, object, &end);
    for (; target < end; target++) {
        if (*target == NO_TARGET || is_weak_pointer(graph, object, *target))
            continue;
        const uint32_t number = number_of[*target];
        if (number != FOLD_LEFT_OUT && number != writer->source &&
            writer->seen[number] != writer->source * 2 + 1)
            return true;
    }
    return false;
}

struct g2h_error *folded_write_folded_edges(const struct g2h_graph *graph, uint32_t *seen,
                                            size_t task, struct worker_buffer *buffer)
{
    const struct fold *fold = graph->fold;
    const uint32_t synthetics = (uint32_t)graph->synthetics.count,
                   objects = graph->heap->object_count, group = fold->number_of[fold->group],
                   first = (uint32_t)task * FOLDED_PER_TASK;
    struct edge_writer writer = {.graph = graph, .fold = fold, .seen = seen, .buffer = buffer};
    for (uint32_t i = first; i < fold->folded_count && i - first < FOLDED_PER_TASK; i++) {
        writer.source = fold->kept + i;
        struct g2h_error *error = write_one(&writer, EDGE_WEAK, fold->folded[i].count_name, group);
        for (uint32_t j = fold->first_member[i]; j < fold->first_member[i + 1] && !error; j++) {
            const uint32_t node = fold->members[j];
            if (node < synthetics)
                error =
                    write_children(&writer, graph->first_child[node], graph->first_child[node + 1]);
            else if (node - synthetics < objects && has_news(&writer, node - synthetics))
                error = write_pointers(&writer, node - synthetics, NULL);
        }
        if (error)
            return error;
    }
    return NULL;
}
