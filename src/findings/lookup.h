/*
 * lookup: finds what a user asks for: everything that an output prints of a heap, by one reader for
 * --path-to, --show, MCP and the commands that reports suggest. Goroutines are found by
 * output/report, which prints them.
 */
#ifndef FINDINGS_LOOKUP_H
#define FINDINGS_LOOKUP_H

#include "base/error.h"
#include "findings/path.h"
#include "findings/variable_part.h"

struct findings;

enum lookup_kind {
    LOOKUP_CLASS,
    LOOKUP_OBJECT,
    LOOKUP_PART,  /* memory that is no object of its own: a variable, a field that is no pointer */
    LOOKUP_GROUP, /* a node of the tree of dominators that is not an object: a package */
};

struct lookup {
    enum lookup_kind kind;
    uint32_t class;   /* of a class: a node of merged that has its name */
    uint32_t node;    /* of an object: its node of the view; of a part, of the object that it is in;
                         else UINT32_MAX */
    uint64_t address; /* of an object: the address that was asked for, */
    uint64_t offset;  /* and its offset in the object */
    uint32_t group;   /* a node of merged */
    struct variable_part part;
};

/*
 * Finds, in this order: an object by an address, 0xc000012345, which may be inside of it; a class
 * by its name, else by its full name (net/http.conn), else by its name without the package; an
 * object or another value by an expression such as main.cache.items["a"], also without "main."; a
 * node of the tree by its name; a class by an end or a part of its name that is unique, or by one
 * of its fields (main.Cache.items). The caller calls lookup_deinit() in any case. Errors:
 * G2H_ERROR_NOT_FOUND, whose message says what there is instead; G2H_ERROR_MEMORY.
 */
struct g2h_error *lookup_find(const struct findings *findings, const char *asked,
                              struct lookup *ret);

/* Returns the error for a variable that g2h_location_of_variable() says is not in the dump. */
struct g2h_error *lookup_refuse_absent(const char *asked);

/* Finds what steps lead to from a location on, whose expression is name: ".items[3]" of a local
 * variable. The same errors. */
struct g2h_error *lookup_from(const struct findings *findings, const struct g2h_location *location,
                              const char *name, const char *steps, struct lookup *ret);

void lookup_deinit(struct lookup *lookup);

/* What a view is to be about, in the numbers of the whole graph: see struct g2h_view_options. */
struct under_nodes {
    node_vector under;
    node_vector holders; /* on a shortest path to each, unless they are too many */
};

/*
 * Finds what --under asks for, in a view of the graph in which nothing is folded: what
 * lookup_find() finds, a goroutine by its number, or those that run a function or wait in it. A
 * class stands for its objects, a variable for what it leads to. threads may be 0. The caller calls
 * under_nodes_deinit() in any case. Errors: those of lookup_find().
 */
struct g2h_error *lookup_under(const struct g2h_view *view, unsigned threads, const char *asked,
                               struct under_nodes *ret);

void under_nodes_deinit(struct under_nodes *nodes);

/* Adds the nodes of what pools in a variable cache, given by its node of merged: not the variable
 * holds that, but the group (sync.Pool). */
struct g2h_error *lookup_pooled(const struct findings *findings, uint32_t variable,
                                node_vector *ret);

/* Appends the expression of a node of merged that is a variable of a package, or a part of one.
 * Returns false, and appends nothing, for other nodes. */
bool lookup_append_variable(const struct findings *findings, uint32_t node, struct text *text);

#endif
