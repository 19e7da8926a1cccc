/*
 * lines: one node or one edge of a snapshot as text; for heapsnapshot.c and folded.c, which write
 * the same kind of lines of a whole graph and of one that is folded.
 */
#ifndef OUTPUT_LINES_H
#define OUTPUT_LINES_H

#include "graph/graph.h"
#include "output/text.h"

enum {
    NODE_FIELDS = 7,
    NODE_LINE = 7 * (TEXT_U32_MAX + 1) + 1,
    EDGE_LINE = 3 * (TEXT_U32_MAX + 1) + 1
};

/* Room for size bytes more. A buffer that has become large is written first. */
static inline struct g2h_error *make_room(struct worker_buffer *buffer, size_t size)
{
    const size_t large = 8u << 20;
    if (buffer->capacity - buffer->size >= size)
        return NULL;
    struct g2h_error *error = buffer->size > large ? worker_buffer_flush(buffer) : NULL;
    return error || worker_buffer_reserve(buffer, size + (1u << 18)) ? error : &error_no_memory;
}

static inline char *write_node(char *at, enum node_type type, uint32_t name, uint32_t id,
                               uint32_t size, uint32_t edge_count)
{
    *at++ = ',';
    *at++ = (char)('0' + type);
    *at++ = ',';
    at = text_u32(at, name);
    *at++ = ',';
    at = text_u32(at, id);
    *at++ = ',';
    at = text_u32(at, size);
    *at++ = ',';
    at = text_u32(at, edge_count);
    memcpy(at, ",0,0\n", 5);
    return at + 5;
}

/* The node of an object. */
static inline char *write_object_node(const struct g2h_graph *graph, char *at, uint32_t object,
                                      uint32_t edge_count)
{
    const uint64_t size = heap_object_size(graph->heap, object);
    const bool is_text = graph->typing && typing_is_text(graph->typing, object);
    return write_node(
        at, is_text ? NODE_STRING : NODE_OBJECT,
        is_text ? texts_of_object(graph->typing, object) : names_of_object(&graph->names, object),
        ids_object(&graph->ids, object), size < PART_SIZE ? (uint32_t)size : PART_SIZE, edge_count);
}

/* An edge to the node that is written as number node. */
static inline char *write_edge(char *at, enum edge_type type, uint32_t name, uint32_t node)
{
    *at++ = ',';
    *at++ = (char)('0' + type);
    *at++ = ',';
    at = text_u32(at, name);
    *at++ = ',';
    at = text_u32(at, node * NODE_FIELDS);
    *at++ = '\n';
    return at;
}

/* The next of a block's names of entries. Whether a pointer is of an entry is read of the dump once
 * more, which may say so more often if it has been written to. */
static inline uint32_t next_entry_name(const uint32_t **names)
{
    return *names && **names != ENTRY_NAMES_END ? *(*names)++ : NAME_NONE;
}

/* What an edge is called: a string, or an element's index. */
struct edge_label {
    enum edge_type type;
    uint32_t name;
};

/* Of a pointer of this name. entry: what names it as a map's entry, or NAME_NONE. */
static inline struct edge_label label_pointer(const struct g2h_graph *graph,
                                              const struct edge_name *name, uint32_t entry,
                                              bool is_weak)
{
    if (entry != NAME_NONE ? (entry & ENTRY_ELEMENT) != 0 : name->form == EDGE_NAME_INDEX) {
        const uint32_t index = entry != NAME_NONE ? entry & ~ENTRY_ELEMENT : (uint32_t)name->value;
        return is_weak ? (struct edge_label){EDGE_WEAK, graph->weak_element}
                       : (struct edge_label){EDGE_ELEMENT, index};
    }
    return (struct edge_label){is_weak             ? EDGE_WEAK
                               : name->is_internal ? EDGE_INTERNAL
                                                   : EDGE_PROPERTY,
                               entry != NAME_NONE ? entry
                               : name->form == EDGE_NAME_STRING
                                   ? (uint32_t)name->value
                                   : names_of_key(&graph->names, name->value)};
}

#endif
