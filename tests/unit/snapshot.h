/* snapshot: a heap snapshot's text back as nodes, edges and strings, for tests that look at what
 * was written. */
#ifndef UNIT_SNAPSHOT_H
#define UNIT_SNAPSHOT_H

#include "dump_builder.h"

struct snapshot_node {
    uint32_t type, name, id, size, edge_count;
    uint32_t first_edge;
};

struct snapshot_edge {
    uint32_t type, name, target; /* target: number of a node */
};

struct snapshot {
    char *text;
    struct snapshot_node *nodes;
    struct snapshot_edge *edges;
    char **strings; /* JSON's escapes are undone, but for \u */
    size_t node_count, edge_count, string_count;
};

/* Parses a snapshot and checks the header's counts, the targets and the names. Takes text, from
 * malloc(). */
void snapshot_parse(struct snapshot *snapshot, char *text);
/* Converts the dump, and parses what was written. */
void snapshot_of(struct snapshot *snapshot, struct dump *dump, unsigned threads);
void snapshot_deinit(struct snapshot *snapshot);

const char *snapshot_name(const struct snapshot *snapshot, uint32_t node);
/* The one node of a name; fails the test where there is none or more than one. */
uint32_t snapshot_find(const struct snapshot *snapshot, const char *name);
/* Whether there is a node of the name. */
bool snapshot_has(const struct snapshot *snapshot, const char *name);
/* The node of an object, of which the snapshot was made from the dump's view. */
uint32_t snapshot_object(const struct snapshot *snapshot, const struct dump *dump,
                         uint64_t address);
/* The first edge from one node to another; NULL where there is none. */
const struct snapshot_edge *snapshot_edge(const struct snapshot *snapshot, uint32_t from,
                                          uint32_t to);
/* The name of an edge that is no element. */
const char *snapshot_edge_name(const struct snapshot *snapshot, const struct snapshot_edge *edge);

/* Types of edges and of nodes. */
enum { S_ELEMENT = 1, S_PROPERTY = 2, S_INTERNAL = 3, S_WEAK = 6 };
enum { S_OBJECT = 3, S_SYNTHETIC = 9 };

#endif
