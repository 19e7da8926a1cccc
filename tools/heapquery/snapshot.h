/*
 * snapshot: a V8 heap snapshot as it is read, whoever wrote it: the fields that it has are told by
 * its own meta, and the types by their names.
 */
#ifndef HEAPQUERY_SNAPSHOT_H
#define HEAPQUERY_SNAPSHOT_H

#include "base/map.h"
#include "base/memory.h"
#include "json.h"
#include "output/sqlite/tables.h"

/* Of a node what has to be known when the edges are there. */
struct snapshot_node {
    uint64_t id, self_size;
    uint32_t name, edges, type;
    uint32_t trace_node_id, detachedness;
};

struct snapshot_edge {
    uint32_t to, name_or_index;
    uint8_t type;
};

/* What has no field of its own, or no type. */
#define SNAPSHOT_NONE UINT32_MAX

enum node_field {
    NODE_TYPE,
    NODE_NAME,
    NODE_ID,
    NODE_SELF_SIZE,
    NODE_EDGE_COUNT,
    NODE_FIELDS_NEEDED,
    NODE_TRACE = NODE_FIELDS_NEEDED,
    NODE_DETACHEDNESS,
    NODE_FIELDS_KNOWN
};
enum edge_field { EDGE_TYPE, EDGE_NAME, EDGE_TO, EDGE_FIELDS_KNOWN };

/* Types of edges that are not like the others, and the one of nodes. */
struct snapshot_types {
    uint32_t element, hidden, internal, shortcut, weak; /* SNAPSHOT_NONE: there is none */
    uint32_t synthetic;
    uint32_t nodes, edges; /* how many there are */
};

struct snapshot {
    struct json json;
    struct tables *tables;
    uint32_t node_fields, edge_fields;      /* how many numbers a node and an edge have */
    uint32_t node_field[NODE_FIELDS_KNOWN]; /* which of them is which; SNAPSHOT_NONE */
    uint32_t edge_field[EDGE_FIELDS_KNOWN];
    struct snapshot_types types;
    uint64_t root;                   /* the index of its first number, as the header has it */
    uint64_t node_count, edge_count; /* as the header has them; UINT64_MAX: it does not */
    VECTOR(struct snapshot_node) nodes;
    VECTOR(struct snapshot_edge) edges;
    uint32_t largest_name; /* string */
    uint64_t strings;
    bool has_meta, has_nodes, has_edges, has_strings;
    uint32_t dom_trees;    /* string: "(Document DOM trees)"; SNAPSHOT_NONE */
    struct map ephemerons; /* string: how a pair of a WeakMap is called → place in tables_of */
    VECTOR(uint64_t) tables_of; /* ids of the WeakMaps' tables */
};

/* Reads a snapshot. Types, strings and edges go to the tables; nodes are kept. snapshot must be
 * given to snapshot_deinit() also after an error. Errors: G2H_ERROR_DAMAGED with the byte,
 * G2H_ERROR_MEMORY, those of the tables. */
struct g2h_error *snapshot_read(struct snapshot *snapshot, const struct json *json,
                                struct tables *tables);
void snapshot_deinit(struct snapshot *snapshot);

#endif
