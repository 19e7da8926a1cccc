/* who: the details of a suspect: what it consists of, and who holds it. */
#ifndef FINDINGS_WHO_H
#define FINDINGS_WHO_H

#include "findings/example.h"
#include "findings/findings.h"
#include "findings/keys.h"
#include "findings/leaks.h"
#include "findings/ranking.h"
#include "findings/suspects.h"

enum { WHO_SUSPECTS = 3 /* the most suspects with details */ };

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
    struct text path;    /* to the example, as path_append() has it, */
    uint32_t path_end;   /* or to this node */
    struct text sharers; /* variables of one package that hold them together, or empty */
    uint64_t entries;    /* of maps that have grown, but not in number; or 0 */
};

struct who_suspects {
    struct who list[WHO_SUSPECTS];
    size_t count, all; /* all: suspects, with those that are not in list */
    struct leaks leaks;
};

/* Finds the suspects, and the details of the first ones. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *who_find(const struct findings *findings, struct who_suspects *ret);
void who_suspects_deinit(struct who_suspects *suspects);

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

/* The timers of a suspect's class in all of the runtime's heaps of timers, one per processor. */
struct who_timers {
    uint64_t count, retained, heaps;
};

/* Returns whether a suspect is timers of only some of these heaps. With a base it never is. */
bool who_are_timers(const struct findings *findings, const struct suspect *suspect,
                    struct who_timers *ret);

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
