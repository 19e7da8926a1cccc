/* file: the state shared by all parts of the HPROF writer; see hprof.c. */
#ifndef OUTPUT_HPROF_FILE_H
#define OUTPUT_HPROF_FILE_H

#include <go2heapsnapshot/output.h>

#include "base/contract.h"
#include "output/hprof/hprof_classes.h"
#include "output/ids.h"

/* How many bytes of a node an HPROF file has. A dump may declare terabytes that it does not
 * contain; a file is not longer than the existing data. */
struct written {
    const struct g2h_view *view;
    uint64_t largest_array; /* as in struct g2h_output_options */
    bool cuts_objects; /* the dump lacks a part of some objects, or their last pages take no memory,
                          or there is a largest array: their arrays end there */
    bool cuts_stacks;  /* the space of all stacks is larger than the dump: each has 8 KB at most */
};

struct written written_begin(const struct g2h_view *view, const struct g2h_output_options *options);

/* Returns the bytes of an object, a stack, or a folded node. Those of a folded node take time for
 * each of its members if something is cut. */
uint64_t written_size(const struct written *written, uint32_t number, const struct g2h_node *node);

/* A node that is written in several pieces; first_id is the id of the second piece. */
struct pieces {
    uint32_t node, first_id, count;
};

struct file {
    const struct g2h_view *view;
    const struct g2h_heap *heap;
    const char *name; /* in messages */
    struct java_names names;
    struct classes classes;
    struct node_ids ids;
    struct written written;
    uint32_t nodes;
    uint32_t *id_of;       /* by node; 0: it is not written */
    uint32_t *shape_of;    /* by node that is written; UINT32_MAX: see shape_of_node() */
    uint32_t first_helper; /* id of the helper object written beside node 0; 2 more for each further
                            * node */
    uint32_t last_free;    /* id: all ids between the classes' ids and this one are free */
    VECTOR(struct pieces) pieces;       /* ascending by node; nodes with one piece are not in it */
    struct worker_buffer before, roots; /* records of frames and stacks; heap dump segments */
    bool is_redacted, swaps;            /* strings are redacted; the dump is little-endian */
};

/* Returns the shape of a node that is written, or NULL if it has none because the dump was written
 * to meanwhile. */
static inline const struct shape *shape_of_node(const struct file *file, uint32_t node)
{
    const uint32_t shape = file->shape_of[node];
    return shape != UINT32_MAX ? &file->classes.shapes.data[shape] : NULL;
}

/* Returns the id of a node's helper object. */
static inline uint32_t helper_id(const struct file *file, uint32_t node)
{
    return file->first_helper + 2 * node;
}

/* Allocates count free ids, which are 2 apart. Returns the first, or 0 if there are not enough. */
static inline uint32_t take_ids(struct file *file, uint32_t count)
{
    const uint32_t end = class_id(as_u32(file->classes.list.count));
    if (file->last_free <= end || (file->last_free - end) / 2 <= count)
        return 0;
    file->last_free -= 2 * count;
    return file->last_free;
}

/* The most elements of an object array in one piece. */
enum { PIECE_ELEMENTS = 1 << 28 };

/* Returns the number of elements of an object array that counts size bytes. */
static inline uint64_t array_elements(uint64_t size)
{
    return size > ARRAY_HEADER ? (size - ARRAY_HEADER + ID_SIZE - 1) / ID_SIZE : 0;
}

/* Returns the error for too few ids. */
struct g2h_error *file_is_too_large(const struct file *file);

/* A writer writes the objects of blocks of nodes. Each thread has one. */
struct writer;
struct g2h_error *writer_create(const struct file *file, struct writer **ret);
void writer_destroy(struct writer *writer);

/* Finds the shapes of a block's objects with edges that have no field, and sets them in ret, by
 * shape. Strings and bytes with such edges get another shape. */
void writer_find_rests(struct writer *writer, uint32_t first, uint32_t end, bool *ret);
struct g2h_error *writer_write(struct writer *writer, uint32_t first, uint32_t end,
                               struct worker_buffer *buffer);

#endif
