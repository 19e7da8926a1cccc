/*
 * collect: the names that pointers of objects need, interned before any is asked for.
 *
 * Which keys there are is found on all threads, by a walk over the pointers: by the one that looks
 * them up, while these are at hand, or, where objects are typed after that, by one of its own over
 * those objects that have keys.
 */
#ifndef NAMING_COLLECT_H
#define NAMING_COLLECT_H

#include "heap/targets.h"
#include "naming/names.h"

struct key_collector;

struct collection {
    struct names *names;
    const struct targets *targets;
    struct key_collector *collectors; /* by thread */
    unsigned threads;
};

/* Begins; gives the listener for targets_init(). Error: G2H_ERROR_MEMORY. */
struct g2h_error *collection_init(struct collection *collection, struct names *names,
                                  unsigned threads, struct pointer_listener *ret);

/* Interns the names of the keys that the listener was told of. Error: G2H_ERROR_MEMORY. */
struct g2h_error *collection_finish(struct collection *collection);
void collection_deinit(struct collection *collection);

/* Does all of it where the targets are known. Error: G2H_ERROR_MEMORY. */
struct g2h_error *names_collect(struct names *names, const struct targets *targets,
                                unsigned threads);

#endif
