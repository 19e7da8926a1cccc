/*
 * never_run: the objects that are never freed because their own finalizers or cleanups lead to
 * them.
 *
 * The collector keeps all that an object with a finalizer leads to, and the functions and arguments
 * of finalizers and cleanups. An object that is among that never becomes unreachable: its finalizer
 * and its cleanups never run. Code could only change that if something else led there; so each
 * object gets the finalized object whose finalizer and cleanups alone lead to it, and only for
 * those is a way back to the finalized object a proof. A pointer of an object to itself is none,
 * and what a weak pointer may lead to is not proved.
 */
#ifndef GRAPH_NEVER_RUN_H
#define GRAPH_NEVER_RUN_H

#include "graph/graph.h"

/* Sets *ret to a bit per object: it has a finalizer or a cleanup that never runs. *ret is NULL if
 * there is none, and is freed by the caller. Takes four bytes per object. Error:
 * G2H_ERROR_MEMORY. */
struct g2h_error *never_run_find(const struct g2h_graph *graph, uint64_t **ret);

#endif
