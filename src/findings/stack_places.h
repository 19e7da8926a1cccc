/*
 * stack_places: where the goroutines of a place are: one that is typical of them, the frames of its
 * stack that people know, and how long they have waited.
 */
#ifndef FINDINGS_STACK_PLACES_H
#define FINDINGS_STACK_PLACES_H

#include "findings/findings.h"

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
 * and, in front and at the end, those of the runtime are left out. */
struct stack_walk {
    const struct g2h_view *view;
    struct g2h_view_goroutine goroutine;
    uint32_t frame, call;
    bool is_inside; /* it is past the functions of the runtime in front */
    bool is_whole;  /* leaves nothing out but functions of the compiler */
};

void stack_walk_begin(struct stack_walk *walk, const struct g2h_view *view, uint32_t goroutine,
                      bool is_whole);
bool stack_walk_next(struct stack_walk *walk, struct g2h_view_call *ret);

#endif
