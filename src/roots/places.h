/*
 * places: goroutines in one place, by the functions that their frames are in.
 */
#ifndef ROOTS_PLACES_H
#define ROOTS_PLACES_H

#include "roots/builder.h"

/* A goroutine before and while its nodes are made. */
struct goroutine {
    struct root_goroutine root; /* node and first_frame are set when it has nodes */
    size_t first_frame; /* index of its first frame in a frame_vector; the topmost frame is first */
    uint32_t statement; /* string: its go statement; UINT32_MAX: none */
    uint64_t statement_key; /* hash of it and of its caller */
    uint32_t place;
};

typedef VECTOR(uint32_t) frame_vector; /* numbers of frames in the heap */

typedef VECTOR(struct goroutine) goroutine_vector;

struct place {
    size_t first;        /* the first goroutine in this place */
    uint32_t goroutines; /* the number of goroutines in this place */
    uint32_t node;       /* the node for all of them; UINT32_MAX: none, or none yet */
    uint32_t stack;      /* string: the class of their stacks; UINT32_MAX: none yet */
    uint32_t alike;      /* index in alike */
};

struct places {
    VECTOR(struct place) list;
    struct map by_hash;     /* hash of state, functions, line and go statement */
    struct map by_name;     /* the same without go statement → index in alike */
    VECTOR(uint32_t) alike; /* how many places differ only by their go statements */
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

/* Returns the innermost function of a goroutine, inlined or not, that belongs neither to the
 * runtime nor to the functions of packages sync and internal/… that call it, and is no wrapper: an
 * index in roots->calls; UINT32_MAX: there is none. */
uint32_t places_innermost(const struct builder *builder, const uint32_t *frames, uint32_t count);

/* Appends a blank, the innermost function of the program with its line, and the function that the
 * goroutine runs: main.fetch fetch.go:12 ← main.handle; and, if other goroutines differ only by
 * that, the go statement: (go main.go:17). */
void places_append_functions(const struct places *places, struct builder *builder,
                             const struct goroutine *goroutine);

/* Notes whether goroutines are the runtime's, by the function that comes first in the name of their
 * node: the innermost one, if the name has it. Returns false if memory runs out. */
bool places_note_runtime(struct builder *builder, const struct goroutine *goroutine,
                         bool has_innermost, uint32_t node);

/* Finds the place of a goroutine of the list among the places of all goroutines before it, or adds
 * a new one. Returns false if memory runs out. */
bool places_find(struct places *places, const struct builder *builder, goroutine_vector *goroutines,
                 size_t number);

/* Gets the node below which a goroutine is added: the node of its place, which is added for the
 * first goroutine there, or group if no other goroutine is there. Returns false if memory runs out.
 */
bool places_add_group(struct places *places, struct builder *builder, uint32_t group,
                      const struct goroutine *goroutine, uint32_t *ret);

/* Adds the stack of a goroutine that has a node, if the dump has the stack's size. Returns false if
 * memory runs out. */
bool places_add_stack(struct places *places, struct builder *builder,
                      const struct goroutine *goroutine);

#endif
