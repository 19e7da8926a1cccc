/*
 * collect: interns the names that pointers of objects need, before any of them is used.
 *
 * A walk over the pointers on all threads finds the keys. If types are not known, this is the walk
 * that looks up the pointers' targets, while the pointers are in the cache. If objects are typed
 * after that, it is a separate walk over the objects that need keys.
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

/* Begins a collection and sets the listener for targets_init(). Errors: G2H_ERROR_MEMORY. */
struct g2h_error *collection_init(struct collection *collection, struct names *names,
                                  unsigned threads, struct pointer_listener *ret);

/* Interns the names of the keys that the listener has collected. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *collection_finish(struct collection *collection);
void collection_deinit(struct collection *collection);

/* Does the whole collection after the targets have been found. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *names_collect(struct names *names, const struct targets *targets,
                                unsigned threads);

#endif
