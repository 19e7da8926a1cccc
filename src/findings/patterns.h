/*
 * patterns: what goroutines at well-known locations mean, where goroutines of a place are, and what
 * only they can reach.
 */
#ifndef FINDINGS_PATTERNS_H
#define FINDINGS_PATTERNS_H

#include "findings/findings.h"

/* ==== where goroutines of a place are ====
 *
 * Where the goroutines of a place are: one that is typical of them, the frames of its stack that
 * people know, and how long they have waited.
 */

/* Returns the goroutines of a place, *ret_count of them. */
static inline const uint32_t *stack_index_of(const struct findings *findings, uint32_t place,
                                             uint32_t *ret_count)
{
    const struct stack_index *index = &findings->stacks;
    *ret_count = index->first[place + 1] - index->first[place];
    return index->list + index->first[place];
}

/* What is said of the goroutines of a place. */
struct stack_place {
    uint32_t example;   /* number of a goroutine in the view: one of those with the most frequent
                           stack; UINT32_MAX: none */
    uint64_t goid;      /* of the example */
    uint64_t alike, of; /* how many have that stack; all */
    uint32_t oldest, median; /* minutes that they have waited, at least; 0: not known */
};

struct g2h_error *stack_place_find(const struct findings *findings, uint32_t place,
                                   struct stack_place *ret);

/* Appends the frames of a goroutine, from where it waits outwards: "main.step main.go:31 ←
 * main.worker main.go:20". Those of the runtime are left out, and all but the first few; but the
 * first one of the program's own code is among them. Returns false if there is none, or memory runs
 * out. */
bool stack_append_frames(const struct findings *findings, uint32_t goroutine, struct text *text);

/* Appends the function that a goroutine runs, as names of frames have it. */
void stack_append_function(const struct findings *findings,
                           const struct g2h_view_goroutine *goroutine, struct text *text);

/* Gets the functions on a goroutine's stack, the innermost first; those that the compiler has made
 * and those that tracebacks leave out are left out, unless the stack has no others. */
struct stack_walk {
    const struct g2h_view *view;
    struct g2h_view_goroutine goroutine;
    uint32_t frame, call;
    bool has_arrived; /* it has come to where the goroutine is, or need not wait for that */
    bool is_whole;    /* leaves nothing out but functions of the compiler */
};

void stack_walk_begin(struct stack_walk *walk, const struct g2h_view *view, uint32_t goroutine,
                      bool is_whole);

bool stack_walk_next(struct stack_walk *walk, struct g2h_view_call *ret);

/* ==== what goroutines at well-known locations mean ====
 *
 * What goroutines at a well-known location, or objects in a well-known container, mean, where the
 * heap proves it: those of packages of the standard library and of gRPC that a forgotten call
 * leaves behind.
 */

/* A pattern that the goroutines of a place, or objects, have. */
struct pattern {
    const char *meaning; /* in words; NULL: none is known */
    uint64_t count;      /* of how many goroutines or objects it is true */
};

/* Finds the pattern of a place, a node of merged, and checks its condition. Errors:
 * G2H_ERROR_MEMORY. */
struct g2h_error *pattern_find(const struct findings *findings, uint32_t place,
                               struct pattern *ret);

/* Does the same for objects, a node of merged. */
struct g2h_error *pattern_find_objects(const struct findings *findings, uint32_t node,
                                       struct pattern *ret);

#endif
