/*
 * snapshot: reads a V8 heap snapshot, whichever program wrote it: the snapshot's own meta says
 * which fields it has, and its types are known by their names.
 */
#ifndef HEAPQUERY_SNAPSHOT_H
#define HEAPQUERY_SNAPSHOT_H

#include "base/map.h"
#include "base/memory.h"
#include "json.h"
#include "output/sqlite/tables.h"

/* The fields of a node that are needed once the edges have been read. */
struct snapshot_node {
    uint64_t id, self_size;
    uint32_t name, edges, type;
    uint32_t trace_node_id, detachedness;
};

struct snapshot_edge {
    uint32_t to, name_or_index;
    uint8_t type;
};

/* The number of a field, type or string that the snapshot does not have. */
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

/* The numbers of the edge types, and of the node type, that need special treatment. */
struct snapshot_types {
    uint32_t element, hidden, internal, shortcut, weak; /* SNAPSHOT_NONE: no such type */
    uint32_t synthetic;
    uint32_t nodes, edges; /* how many types of nodes and of edges there are */
};

enum { SNAPSHOT_MOST_TYPES = 256 };

/* A section that comes before what it needs: it is read in the end. */
struct snapshot_later {
    const uint8_t *begin, *end; /* NULL: it came in its place, or not at all */
};

struct snapshot {
    struct json json;
    struct tables *tables;
    uint32_t node_fields, edge_fields;      /* how many numbers a node and an edge have */
    uint32_t node_field[NODE_FIELDS_KNOWN]; /* index of each field among them; SNAPSHOT_NONE */
    uint32_t edge_field[EDGE_FIELDS_KNOWN];
    struct snapshot_types types;
    uint64_t root;                   /* the index of the root's first number, by the header */
    uint64_t node_count, edge_count; /* by the header; UINT64_MAX: the header does not say */
    VECTOR(struct snapshot_node) nodes;
    VECTOR(struct snapshot_edge) edges;
    uint32_t largest_name; /* the largest number of a string that is a name */
    uint64_t strings;
    bool has_meta, has_nodes, has_edges, has_strings;
    struct snapshot_later nodes_later, edges_later;
    bool has_node_type[SNAPSHOT_MOST_TYPES], has_edge_type[SNAPSHOT_MOST_TYPES]; /* are used */
    unsigned kinds;        /* KIND_… of kinds.h: keys that files of other kinds have */
    uint32_t dom_trees;    /* the number of the string "(Document DOM trees)"; SNAPSHOT_NONE */
    struct map ephemerons; /* name of a WeakMap's pair (number of a string) → index in tables_of */
    VECTOR(uint64_t) tables_of; /* ids of the WeakMaps' tables */
};

/* Reads a snapshot. Types, strings and edges are added to the tables; nodes and edges are kept in
 * snapshot, which must be given to snapshot_deinit() also after an error. Errors:
 * G2H_ERROR_DAMAGED with the byte, G2H_ERROR_MEMORY, those of the tables. */
struct g2h_error *snapshot_read(struct snapshot *snapshot, const struct json *json,
                                struct tables *tables);
void snapshot_deinit(struct snapshot *snapshot);

#endif
