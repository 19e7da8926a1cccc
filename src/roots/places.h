/*
 * places: what many goroutines have in common: what they do, and the functions on their stacks.
 *
 * A leak of goroutines is thousands of them in one place. These have a node together, and their
 * stacks a class that says which place it is.
 */
#ifndef ROOTS_PLACES_H
#define ROOTS_PLACES_H

#include "roots/builder.h"

/* A goroutine before, and while, it gets nodes. */
struct goroutine {
    struct root_goroutine root; /* node, first_frame: once it has nodes */
    size_t first_frame;         /* of its frames in a list of them, the topmost one first */
    struct g2h_bytes function;  /* that it runs */
    struct g2h_bytes innermost; /* see places_innermost() */
    uint32_t place;
};

typedef VECTOR(uint32_t) frame_vector; /* of the heap */
typedef VECTOR(struct goroutine) goroutine_vector;

struct place {
    size_t first;        /* of the goroutines the first one in this place */
    uint32_t goroutines; /* how many are */
    uint32_t node;       /* that stands for all of them; UINT32_MAX: there is none, or none yet */
    uint32_t stack;      /* string: the class of their stacks; UINT32_MAX: none yet */
};

struct places {
    VECTOR(struct place) list;
    struct map by_hash; /* of state and functions */
};

void places_deinit(struct places *places);

static inline const struct g2h_goroutine *goroutine_record(const struct builder *builder,
                                                           const struct goroutine *goroutine)
{
    return &builder->heap->goroutines.data[goroutine->root.goroutine].record;
}

/* The frames of a goroutine. */
static inline const uint32_t *frames_of(const frame_vector *frames,
                                        const struct goroutine *goroutine)
{
    return frames->data ? frames->data + goroutine->first_frame : NULL;
}

/* The innermost function that a goroutine is in, inlined or not, and that is neither the runtime's
 * nor one by which packages sync and internal/… come to it; an empty one where there is none. */
struct g2h_bytes places_innermost(const struct builder *builder, const uint32_t *frames,
                                  uint32_t count);

/* Finds the place of a goroutine of the list, among those of all before it. False: no memory. */
bool places_find(struct places *places, const struct builder *builder, goroutine_vector *goroutines,
                 const frame_vector *frames, size_t number);

/* Gives the node to which a goroutine belongs, and adds it if it is the first one that does: that
 * of all in its place, or, if it is alone there, group. frames: its own. False: no memory. */
bool places_add_group(struct places *places, struct builder *builder, uint32_t group,
                      const struct goroutine *goroutine, const uint32_t *frames, uint32_t *ret);

/* Adds the stack of a goroutine that has a node, if the dump tells its size. False: no memory. */
bool places_add_stack(struct places *places, struct builder *builder,
                      const struct goroutine *goroutine);

#endif
