/* writer: the objects of a view are written by one for each thread; objects.c has instances,
 * arrays.c arrays and what is too large for memory. */
#ifndef OUTPUT_HPROF_WRITER_H
#define OUTPUT_HPROF_WRITER_H

#include "output/hprof/file.h"

enum {
    MANY = 64,        /* nodes, or edges, that are read at a time */
    LARGE = 16 << 20, /* bytes of a record that is not put together in memory */
};

struct writer {
    const struct file *file;
    struct g2h_edges *edges;
    struct g2h_edge given[MANY];
    size_t count, at; /* of given */
    struct g2h_text text;
    struct segment segment;
    VECTOR(uint32_t) rest; /* ids of what an object points to and has no field for */
};

/* Begins with the edges of nodes. */
void writer_begin_edges(struct writer *writer, uint32_t first, uint32_t end);

/* Reads some more of them; false at the end. */
bool writer_read_more(struct writer *writer);

/* The next edge of a node that holds an object, whose id is *ret. */
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

/* Whether nothing has been written to a field or element. */
static inline bool is_empty_field(const char *field)
{
    return (field[0] | field[1] | field[2] | field[3]) == 0;
}

/* A segment with one large record of so many bytes, which are added one after the other. Errors of
 * all that follows: G2H_ERROR_MEMORY; what worker_buffer_flush() gives. */
struct g2h_error *large_begin(struct writer *writer, uint64_t size);
struct g2h_error *large_end(struct writer *writer);

/* More bytes of a large record; NULL: zeros. */
struct g2h_error *large_add(struct writer *writer, const void *data, uint64_t size);

/* Writes an object array, and one that is too large for memory; then the edges are to be begun
 * again. */
struct g2h_error *array_write(struct writer *writer, const struct shape *shape, uint32_t number,
                              const struct g2h_node *node);
struct g2h_error *array_write_large(struct writer *writer, const struct shape *shape,
                                    uint32_t number, const struct g2h_node *node);

#endif
