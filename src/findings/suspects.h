/*
 * suspects: the parts of a heap to look at first.
 *
 * From the root down the tree of merged dominators, each branch that retains much is followed to
 * the container where its objects become many (containers.h): if a map holds 300 previews, the
 * suspect is that map, with all that there is of each preview. Many goroutines in one place are one
 * suspect, with all that they hold.
 *
 * example: which object of a suspect to name, and whether one holder has most of them.
 *
 * Among similar objects the heaviest is named, because it is the one to look at. If one of several
 * holders (a room, a tenant, the longest of some lists) has most of the objects, that holder is to
 * blame, so the object is one of its own, and the report shows what it alone has.
 *
 * who: the details of a suspect: what it consists of, and who holds it.
 */
#ifndef FINDINGS_SUSPECTS_H
#define FINDINGS_SUSPECTS_H

#include "findings/containers.h"
#include "findings/findings.h"
#include "findings/goroutines.h"
#include "findings/keys.h"
#include "findings/length.h"
#include "findings/merged.h"
#include "findings/pinned.h"

/* ---- suspects ---- */

enum {
    WHO_SUSPECTS = 3, /* the most suspects with details */
    WHO_REST = 3,     /* the most classes of growth that is in no suspect */
    SUSPECT_PARTS = 4 /* the most classes that a suspect lists */
};

/* A class that a suspect has objects of. */
struct suspect_part {
    uint32_t node;  /* of merged: one of the class */
    uint64_t bytes; /* of all its objects in the suspect, without what these hold */
};

struct suspect {
    uint32_t item;  /* a node of merged: objects of a class, goroutines in one place, or the calls
                       that a function has deferred */
    uint32_t named; /* the class that says most about one of item: item, or one in it */
    struct container container; /* that item are the entries of; its node may be MERGED_NONE */
    uint32_t holder;  /* the node above item, whose objects are few; MERGED_NONE: it is not an
                       * object */
    uint32_t held_at; /* the tree of a sync.Map, or the list, above item; or MERGED_NONE */
    uint32_t inside;  /* of goroutines: the many objects that most of item is, or 0 */
    uint64_t inside_count;
    bool is_goroutines, is_deferred;
    struct pinned pinned; /* if item is arrays that pointers to elements keep */
    uint64_t count; /* objects of item, and those of its class that are below it: item contains
                       itself in a tree or the like */
    uint64_t own;   /* the size of these objects themselves */
    uint64_t bytes; /* of the container, or retained by item; with a base: their growth */
    uint64_t grown; /* with a base: by how many objects item has grown */
    /* By its own count, if it is one map, channel, list or sync.Map: how many entries the container
     * has, or else item; 0: not known. With a base: by how many these have grown. is_entries: they
     * are what is many, because the class of item does not say it: strings, or the map itself. */
    uint64_t entries;
    int64_t entries_grown;
    bool is_entries;
    /* Of the first WHO_SUSPECTS that are objects: the classes that it consists of, named first, and
     * then those with the most bytes; the slots of the container, if that is a map or slice; and
     * the sum, with classes that are not listed. */
    struct suspect_part parts[SUSPECT_PARTS];
    size_t part_count;
    uint64_t slots, all;
    struct pages_sum pages; /* what is free without it; zeros: not known */
    bool is_for_pages; /* it retains too little to be a suspect, but keeps many pages, most of which
                          are free slots */
};

typedef VECTOR(struct suspect) suspect_vector;

/*
 * Finds the suspects; those that retain most come first. A suspect must have its share of the
 * reachable bytes that take memory. With a base, suspects are by growth instead of size. Errors:
 * G2H_ERROR_MEMORY.
 */
struct g2h_error *suspects_find(const struct findings *findings, suspect_vector *ret);

/* Returns a container and its entries as a suspect, without bytes and numbers. */
struct suspect suspect_of_container(const struct merged *merged, const struct container *container);

/* Returns whether the entries of a suspect are spread over several sync.Maps: suspect->held_at, and
 * so suspect->holder, is these. */
bool suspect_is_in_maps(const struct merged *merged, const struct suspect *suspect);

/* Returns whether a node is one of the heaps in which the runtime keeps the timers: one per
 * processor, so which of them has a timer means nothing. node may be MERGED_NONE. */
bool suspects_are_timers(const struct merged *merged, uint32_t node);

/* ---- example ---- */

struct example {
    uint32_t node;      /* of the view: the heaviest object, or the heaviest of the holder below */
    uint32_t most;      /* of the view: the holder that alone has most, or UINT32_MAX */
    uint64_t holders;   /* how many of its kind hold objects of the suspect, at least one */
    uint64_t count;     /* objects of the suspect that it has, itself included; */
    uint64_t retained;  /* the bytes that these retain */
    uint64_t grown;     /* 0, or it is not the one that has most, but whose growth since the base is
                           most of that of all holders: by how much it has grown */
    uint64_t uppermost; /* objects of the suspect that no other one holds; 1: a list, a tree */
    uint64_t above; /* how many objects of the node above item hold objects of the suspect; 0: that
                       node is not of objects */
};

/*
 * Finds the example of item, a node of merged that is a class or goroutines in one place, as a
 * suspect names them: nodes of the same name below it count, too. One of several holders has most
 * if it has all, or if the objects that it alone holds retain more than half of the total, and more
 * than one and a half times a holder's average; with a base, rather the one of which the same is so
 * by its growth. Takes 7 bytes per node of the view while it runs.
 * Errors: G2H_ERROR_MEMORY.
 */
struct g2h_error *example_find(const struct findings *findings, uint32_t item, struct example *ret);

/* ---- who ---- */

/* The holders of a suspect. */
struct who_holders {
    uint64_t count;   /* of those that hold any of its objects */
    const char *part; /* "entry" of a map or "element" of a slice: all objects hang on one,
                         because they are a list or a tree to which one pointer leads; else NULL */
};

/* A suspect, and the details that take long to find. */
struct who {
    struct suspect suspect;
    struct example example;     /* of objects or goroutines */
    struct who_holders holders; /* if the suspect has a holder */
    /* Of objects: */
    struct held_keys keys;
    struct text path;     /* to the container, or to the example, as path_append() has it, */
    uint32_t path_end;    /* or to this node */
    struct text entry;    /* the path to the example, if path leads to the container; or empty */
    struct length length; /* of the container, if path leads to it */
    uint64_t map_entries; /* if its objects are several maps: of all of them; 0: not known */
    /* If several hold the objects together: how many of them the holder that the path goes by has;
     * it is one that has most. path_of: of how many objects; 0: not counted */
    uint64_t path_count, path_of;
    bool is_container;  /* the path leads to one map or slice, which has all of them */
    struct views views; /* if it is arrays or strings that short slices or substrings keep */
    uint64_t small_count, small_bytes; /* of strings: those that are small, and do not count */
    struct text sharers; /* variables of one package that hold them together, or empty */
};

/* The growth since the base that is in no suspect: the classes that have grown most there. */
struct who_rest {
    int64_t bytes; /* 0: there is no base, or the heap has not grown by more than the suspects */
    struct {
        uint32_t node; /* of merged: one of the class; MERGED_NONE: these are stacks */
        int64_t grown;
    } classes[WHO_REST];
    size_t count;
};

struct who_suspects {
    struct who list[WHO_SUSPECTS];
    size_t count, all; /* all: suspects, with those that are not in list; */
    uint64_t bytes;    /* of all of them: what they retain or, with a base, have grown by */
    struct who_rest rest;
    struct leaks leaks;
};

/* Finds the suspects, the details of the first ones, and the growth that is in none of them.
 * Errors: G2H_ERROR_MEMORY. */
struct g2h_error *who_find(const struct findings *findings, struct who_suspects *ret);

void who_suspects_deinit(struct who_suspects *suspects);

/* Finds the example of a suspect that is objects, the path to it or to its container, and how many
 * entries this has by its own count. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *who_find_path(const struct findings *findings, struct who *who);

/* Returns the container whose own count of entries is what a suspect has many of, a node of merged;
 * MERGED_NONE: these are the objects of item. The suspect must have been counted. */
uint32_t suspect_node_of_entries(const struct merged *merged, const struct suspect *suspect);

/* Returns how many of what a suspect has many of there are: entries, or objects. */
uint64_t suspect_entries(const struct suspect *suspect);

/* Returns how many objects, goroutines or deferred calls a suspect has, and by how many it has
 * grown since the base. */
uint64_t who_count(const struct findings *findings, const struct suspect *suspect);

int64_t who_grown(const struct findings *findings, const struct suspect *suspect);

/* Finds the holders of a suspect that has one, given its example. Goes over all edges if the
 * objects may hang on one entry. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *who_find_holders(const struct findings *findings, const struct suspect *suspect,
                                   const struct example *example, struct who_holders *ret);

/* Appends the path to a suspect's example, or to the container that holds it if all objects are in
 * one (suspect->held_at), as path_append() does. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *who_append_path(const struct findings *findings, const struct suspect *suspect,
                                  const struct example *example, struct text *text,
                                  uint32_t *ret_end);

/* Returns the node of merged that names those who hold an item together, or MERGED_NONE if the item
 * is not below such a node. */
uint32_t who_shares(const struct findings *findings, uint32_t item);

/* Appends what a holder, a node of the view, is called: the path to it, or else its own name, and
 * its address if it has one. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *who_append_holder(const struct findings *findings, uint32_t holder,
                                    struct text *text);

/* Appends what has all objects of an item, a node of merged: the path to the nearest single object
 * above it, or the variable, main.cache; main.tables, if elements of that array have them. Appends
 * nothing if there is none below packages and goroutines. *ret_end becomes the node of the view
 * that the path leads to; UINT32_MAX: to an array, which is none. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *who_append_holder_of_all(const struct findings *findings, uint32_t item,
                                           struct text *text, uint32_t *ret_end);

/* A variable of the goroutines in one place, or objects of a class that several of a goroutine's
 * variables hold together. */
struct who_local {
    uint32_t node;     /* of merged: a variable or a class */
    uint64_t retained; /* by it, and by the variables whose objects only have been read from its: by
                          the slot of a channel that is a field of its object */
    uint32_t part_of;  /* the variable that it is such a slot of; MERGED_NONE: it is none */
};

enum { WHO_LOCALS = 8 };

/* Finds the variables of the goroutines in a place that retain most: the heaviest first, then those
 * that are part of others. *ret_count becomes their number. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *who_find_locals(const struct findings *findings, uint32_t place,
                                  struct who_local ret[WHO_LOCALS], size_t *ret_count);

/* Counts, if an item is objects of class runtime.g most of which belong to goroutines that have
 * ended, these goroutines; otherwise 0. Memory that the other ones hold, like labels of the
 * profiler, is in use. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *who_find_ended(const struct findings *findings, uint32_t item, uint64_t *ret);

#endif
