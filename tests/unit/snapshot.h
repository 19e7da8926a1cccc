/* snapshot: parses a heap snapshot's text into nodes, edges and strings, for tests that look at
 * what was written. */
#ifndef UNIT_SNAPSHOT_H
#define UNIT_SNAPSHOT_H

#include "dump_builder.h"

struct snapshot_node {
    uint32_t type, name, id, size, edge_count;
    uint32_t first_edge;
};

struct snapshot_edge {
    uint32_t type, name, target; /* target: a node's number */
};

struct snapshot {
    char *text;
    struct snapshot_node *nodes;
    struct snapshot_edge *edges;
    char **strings; /* JSON's escapes are undone, except \u */
    size_t node_count, edge_count, string_count;
};

/* Parses a snapshot and checks the header's counts, the targets and the names. Takes over text,
 * which is from malloc(). */
void snapshot_parse(struct snapshot *snapshot, char *text);
/* Converts the dump and parses the snapshot. */
void snapshot_of(struct snapshot *snapshot, struct dump *dump, unsigned threads);
void snapshot_deinit(struct snapshot *snapshot);
/* A variable that ends with its block. */
#define SNAPSHOT __attribute__((cleanup(snapshot_deinit))) struct snapshot

const char *snapshot_name(const struct snapshot *snapshot, uint32_t node);
/* Returns the only node with the name; fails the test if there is none or more than one. */
uint32_t snapshot_find(const struct snapshot *snapshot, const char *name);
/* Returns whether there is a node with the name. */
bool snapshot_has(const struct snapshot *snapshot, const char *name);
/* Returns an object's node in a snapshot that was made from the dump's view. */
uint32_t snapshot_object(const struct snapshot *snapshot, const struct dump *dump,
                         uint64_t address);
/* Returns the first edge from one node to another, or NULL if there is none. */
const struct snapshot_edge *snapshot_edge(const struct snapshot *snapshot, uint32_t from,
                                          uint32_t to);
/* Returns the name of an edge that is not an element. */
const char *snapshot_edge_name(const struct snapshot *snapshot, const struct snapshot_edge *edge);

/* Returns by node whether DevTools takes it for the program's (HeapSnapshot.ts,
 * markPageOwnedNodes): shortcuts from the root lead there. From malloc(). */
bool *snapshot_program(const struct snapshot *snapshot);
/* Returns whether an edge of a node counts for dominators in DevTools (computeIsEssentialEdge). */
bool snapshot_holds(const struct snapshot *snapshot, const bool *program, uint32_t source,
                    const struct snapshot_edge *edge);

/* Types of edges and of nodes. */
enum { S_ELEMENT = 1, S_PROPERTY = 2, S_INTERNAL = 3, S_SHORTCUT = 5, S_WEAK = 6 };
enum { S_OBJECT = 3, S_SYNTHETIC = 9 };

#endif
