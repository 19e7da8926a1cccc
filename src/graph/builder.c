/* builder: nodes and edges; see builder.h. */
#include "graph/builder.h"

#include <string.h>

bool builder_text(struct builder *builder, const char *text)
{
    builder->text.size = 0;
    text_append(&builder->text, text, strlen(text));
    return !builder->text.failed;
}

bool builder_add_node(struct builder *builder, uint32_t id, uint32_t *ret)
{
    return !builder->text.failed &&
           graph_add_synthetic(builder->graph, builder->text.data, builder->text.size, id, ret);
}

/* A group below parent, an element whose index tells the groups' order. */
bool builder_add_group(struct builder *builder, uint32_t parent, const char *name, uint32_t id,
                       uint32_t *ret)
{
    return builder_text(builder, name) && builder_add_node(builder, id, ret) &&
           graph_add_edge(builder->graph, node_synthetic(parent), EDGE_ELEMENT, id / 2,
                          node_synthetic(*ret));
}

/* A node of some kind, numbered index in its group. */
bool builder_add_member(struct builder *builder, uint32_t group, uint32_t index, enum id_kind kind,
                        uint64_t key, uint32_t *ret)
{
    uint32_t id;
    return ids_synthetic(&builder->graph->ids, kind, key, &id) &&
           builder_add_node(builder, id, ret) &&
           graph_add_edge(builder->graph, node_synthetic(group), EDGE_ELEMENT, index,
                          node_synthetic(*ret));
}

bool builder_add_named_member(struct builder *builder, uint32_t group, uint32_t index,
                              enum id_kind kind, uint64_t key, uint32_t name, uint32_t *ret)
{
    struct g2h_graph *graph = builder->graph;
    struct synthetic synthetic = {.name = name};
    *ret = (uint32_t)graph->synthetics.count;
    return ids_synthetic(&graph->ids, kind, key, &synthetic.id) &&
           vector_push(&graph->synthetics, synthetic) &&
           graph_add_edge(graph, node_synthetic(group), EDGE_ELEMENT, index, node_synthetic(*ret));
}

/* An edge to the object that value points to, if there is one; the edge's name is the builder's
 * text. */
bool builder_add_pointer(struct builder *builder, uint32_t source, enum edge_type type,
                         uint64_t value)
{
    struct g2h_graph *graph = builder->graph;
    uint32_t name, object;
    if (value == 0)
        return true;
    graph->account.root_pointers++;
    object = heap_find(builder->heap, value);
    if (object == UINT32_MAX) {
        graph->account.root_pointers_missed++;
        return true;
    }
    graph->account.root_pointers_hit++;
    return !builder->text.failed &&
           string_pool_intern(&graph->strings, builder->text.data, builder->text.size, &name) &&
           graph_add_edge(graph, node_synthetic(source), type, name, node_object(object));
}

bool builder_add_named_pointer(struct builder *builder, uint32_t source, enum edge_type type,
                               const char *name, uint64_t value)
{
    return builder_text(builder, name) && builder_add_pointer(builder, source, type, value);
}

/* The builder's text gets the dynamic type behind it where the word before offset is the first of
 * an interface. */
void builder_append_dynamic_type(struct builder *builder, const struct g2h_bytes *contents,
                                 uint64_t offset)
{
    const uint64_t word = builder->heap->params.pointer_size;
    if (offset >= word && offset <= contents->size)
        text_append_interface(
            &builder->text, &builder->graph->names,
            interface_type_of(builder->heap,
                              heap_word(builder->heap, contents->data + offset - word)));
}

void builder_append(struct builder *builder, const struct g2h_bytes *bytes)
{
    text_append_symbol(&builder->text, bytes->data, bytes->size, NAME_LIMIT);
}

bool bytes_equal(const struct g2h_bytes *bytes, const char *text)
{
    return bytes->size == strlen(text) && memcmp(bytes->data, text, bytes->size) == 0;
}

bool bytes_start_with(const struct g2h_bytes *bytes, const char *text)
{
    return bytes->size >= strlen(text) && memcmp(bytes->data, text, strlen(text)) == 0;
}

/* The last part of a path. */
const char *bytes_base_name(const struct g2h_bytes *file, size_t *ret_size)
{
    uint64_t at = file->size;
    while (at > 0 && file->data[at - 1] != '/')
        at--;
    *ret_size = (size_t)(file->size - at);
    return (const char *)file->data + at;
}
