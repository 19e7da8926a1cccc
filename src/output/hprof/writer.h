/* writer: each thread writes objects of a view with a writer of its own. hprof_objects.c writes
 * instances; arrays.c writes arrays, and records that are too large for memory. */
#ifndef OUTPUT_HPROF_WRITER_H
#define OUTPUT_HPROF_WRITER_H

#include "output/hprof/file.h"

enum {
    MANY = 64,        /* nodes or edges that are read at a time */
    LARGE = 16 << 20, /* bytes from which on a record is not assembled in memory */
};

struct writer {
    const struct file *file;
    struct g2h_edges *edges;
    struct g2h_edge given[MANY];
    size_t count, at; /* number of edges in given; index of the next one */
    struct g2h_text text;
    struct hprof_segment segment;
    VECTOR(uint32_t) rest; /* ids of objects to which an object points without a field for them */
};

/* Begins with the edges of the nodes from first to end. */
static inline void writer_begin_edges(struct writer *writer, uint32_t first, uint32_t end)
{
    g2h_edges_begin(writer->edges, first, end);
    writer->count = writer->at = 0;
}

/* Reads more edges; returns false at the end. */
static inline bool writer_read_more(struct writer *writer)
{
    writer->at = 0;
    writer->count = g2h_edges_read(writer->edges, writer->given, MANY);
    for (size_t i = 0; i < writer->count; i++)
        __builtin_prefetch(&writer->file->id_of[writer->given[i].target]);
    return writer->count > 0;
}

/* Returns the next edge of a node that holds an object, whose id it stores in *ret; or NULL if
 * there are no more. */
static inline const struct g2h_edge *writer_next_edge(struct writer *writer, uint32_t node,
                                                      uint32_t *ret)
{
    while (writer->at < writer->count || writer_read_more(writer)) {
        const struct g2h_edge *edge = &writer->given[writer->at];
        if (edge->source > node)
            return NULL;
        writer->at++;
        *ret = writer->file->id_of[edge->target];
        if (edge->source == node && (edge->flags & G2H_EDGE_WEAK) == 0 && *ret != 0)
            return edge;
    }
    return NULL;
}

/* Returns whether nothing has been written to a field or element. */
static inline bool is_empty_field(const char *field)
{
    return (field[0] | field[1] | field[2] | field[3]) == 0;
}

/* Begins a segment with one large record of size bytes, which large_add() adds piece by piece.
 * Errors of this and the following functions: G2H_ERROR_MEMORY; those of worker_buffer_flush(). */
struct g2h_error *large_begin(struct writer *writer, uint64_t size);
struct g2h_error *large_end(struct writer *writer);

/* Adds bytes to a large record; data NULL: zeros. */
struct g2h_error *large_add(struct writer *writer, const void *data, uint64_t size);

/* Write an object array. array_write_large() writes one that is too large for memory; after it the
 * edges have to be begun again. */
struct g2h_error *array_write(struct writer *writer, const struct shape *shape, uint32_t number,
                              const struct g2h_node *node);
struct g2h_error *array_write_large(struct writer *writer, const struct shape *shape,
                                    uint32_t number, const struct g2h_node *node);

#endif
