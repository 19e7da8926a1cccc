/*
 * written: how many bytes of a node an HPROF file has. A dump may declare terabytes that it does
 * not contain; a file is not longer than the existing data.
 */
#ifndef OUTPUT_HPROF_WRITTEN_H
#define OUTPUT_HPROF_WRITTEN_H

#include <go2heapsnapshot/output.h>

struct written {
    const struct g2h_view *view;
    bool cuts_objects; /* the dump lacks a part of some objects: their arrays end where it ends */
    bool cuts_stacks;  /* the space of all stacks is larger than the dump: each has 8 KB at most */
};

struct written written_begin(const struct g2h_view *view);

/* Returns the bytes of an object, a stack, or a folded node. Those of a folded node take time for
 * each of its members if something is cut. */
uint64_t written_size(const struct written *written, uint32_t number, const struct g2h_node *node);

#endif
