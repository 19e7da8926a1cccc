/* goroutines: the places where goroutines are, their stacks, and goroutines that have ended. */
#ifndef FINDINGS_GOROUTINES_H
#define FINDINGS_GOROUTINES_H

#include "findings/findings.h"

/* The goroutines in one place: in one state, with the same functions on their stacks. */
struct goroutine_place {
    uint32_t node;   /* of merged: a group, or a goroutine that is alone */
    uint64_t weight; /* findings_weight(), the rank of the place */
    uint64_t count, retained;
    int64_t grown; /* by how many goroutines since the base; 0 without one */
};
typedef VECTOR(struct goroutine_place) goroutine_place_vector;

/* Finds all places, the heaviest first. The caller frees ret->data. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *goroutines_find_places(const struct findings *findings,
                                         goroutine_place_vector *ret);

/* Returns the place that a node of merged is, or is below of: a group, or a goroutine that is
 * alone; or MERGED_NONE. */
uint32_t goroutines_place_of(const struct findings *findings, uint32_t node);

/* Returns the bytes of the stacks of the goroutines in a place, a node of merged. */
uint64_t goroutines_stack_bytes(const struct findings *findings, uint32_t place);

/* The frames on the stack of a goroutine, and the function that has most of them: its name is that
 * of the view, not terminated. */
struct goroutine_frames {
    uint64_t count, most;
    const char *function;
    size_t function_size;
};

/* Counts the frames of a goroutine, a node of the view. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *goroutines_find_frames(const struct findings *findings, uint32_t goroutine,
                                         struct goroutine_frames *ret);

/* Finds the object by which iter.Pull resumes a goroutine, a node of the view. *ret becomes
 * UINT32_MAX if there is none, or if the goroutine alone holds it. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *goroutines_find_coroutine(const struct findings *findings, uint32_t goroutine,
                                            uint32_t *ret);

/* What the goroutines in one place wait on. */
struct goroutines_waited {
    uint32_t goroutine; /* a node of the view: one of those that wait on what most do, or UINT32_MAX
                           if none has an edge "waiting on" */
    struct text paths;  /* to what this one waits on, first to what most do, as path_append() has
                           them; classes take the place of what no variable of a package leads to:
                           "main.stop, chan int"; empty if these are all */
    uint64_t count, of; /* how many goroutines wait on what most do; all of the place */
};

/* Finds this for a place, a node of merged. The caller calls text_deinit() for ret->paths in any
 * case. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *goroutines_find_waited(const struct findings *findings, uint32_t place,
                                         struct goroutines_waited *ret);

/* The objects of class runtime.g that no goroutine has any more: the runtime keeps them for reuse.
 */
struct goroutines_ended {
    uint64_t count, bytes;
};

/* Counts them. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *goroutines_find_ended(const struct findings *findings,
                                        struct goroutines_ended *ret);

#endif
