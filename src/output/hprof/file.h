/* file: what all that write an HPROF file share; see hprof.c. */
#ifndef OUTPUT_HPROF_FILE_H
#define OUTPUT_HPROF_FILE_H

#include <go2heapsnapshot/output.h>

#include "output/hprof/classes.h"
#include "output/node_ids.h"

/* A node that is written in several pieces, and the id of its second one. */
struct pieces {
    uint32_t node, first_id, count;
};

struct file {
    const struct g2h_view *view;
    const struct g2h_heap *heap;
    const char *name; /* for messages */
    struct java_names names;
    struct classes classes;
    struct node_ids ids;
    uint32_t nodes;
    uint32_t *id_of;       /* by node; 0: it is not written */
    uint32_t *shape_of;    /* by node that is written; UINT32_MAX: none, see shape_of_node() */
    uint32_t first_helper; /* id: of what is written beside node 0; 2 more for each further one */
    uint32_t last_free;    /* id: below it those are free that no class has */
    VECTOR(struct pieces) pieces;       /* ascending by node; such with one piece are not in it */
    struct worker_buffer before, roots; /* records of frames; segments */
    bool is_redacted, swaps;            /* its texts; numbers of the dump are little-endian */
};

/* The shape of a node that is written; NULL where there is none, since the dump was written to
 * meanwhile. */
static inline const struct shape *shape_of_node(const struct file *file, uint32_t node)
{
    const uint32_t shape = file->shape_of[node];
    return shape != UINT32_MAX ? &file->classes.shapes.data[shape] : NULL;
}

/* The id of what is written beside a node. */
static inline uint32_t helper_id(const struct file *file, uint32_t node)
{
    return file->first_helper + 2 * node;
}

/* The first of so many free ids, which are 2 apart; 0: there are not so many. */
static inline uint32_t take_ids(struct file *file, uint32_t count)
{
    const uint32_t end = class_id((uint32_t)file->classes.list.count);
    if (file->last_free <= end || (file->last_free - end) / 2 <= count)
        return 0;
    file->last_free -= 2 * count;
    return file->last_free;
}

/* Elements of an object array in one piece. */
enum { PIECE_ELEMENTS = 1 << 28 };

/* How many elements an object array of so many bytes has. */
static inline uint64_t array_elements(uint64_t size)
{
    return size > ARRAY_HEADER ? (size - ARRAY_HEADER + ID_SIZE - 1) / ID_SIZE : 0;
}

/* The error for want of ids. */
struct g2h_error *file_is_too_large(const struct file *file);

/* Makes what the roots are written as, and what the classes of packages hold: classes' statics,
 * file->before and file->roots. Errors: G2H_ERROR_MEMORY; G2H_ERROR_LIMIT: there are not enough
 * ids.
 */
struct g2h_error *roots_make(struct file *file);

/* Writes the objects of a block of nodes; one for each thread. */
struct writer;
struct g2h_error *writer_create(const struct file *file, struct writer **ret);
void writer_destroy(struct writer *writer);

/* Finds the shapes of which an object of a block has edges that no field is for: *ret, by shape.
 * Texts and bytes with such get another shape. */
void writer_find_rests(struct writer *writer, uint32_t first, uint32_t end, bool *ret);
struct g2h_error *writer_write(struct writer *writer, uint32_t first, uint32_t end,
                               struct worker_buffer *buffer);

#endif
