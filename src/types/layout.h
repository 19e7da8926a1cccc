/*
 * layout: where in a value of a type its pointers are, and what each of them is.
 *
 * A struct of structs and arrays is flattened into its leaves: pointers, strings, slices,
 * interfaces, maps, channels, functions. The words of a layout are those that the garbage collector
 * looks at, which is what a dump's field lists name: they tell whether a type fits an object.
 * Layouts are made when they are first asked for, from then on constant; several threads may ask.
 */
#ifndef TYPES_LAYOUT_H
#define TYPES_LAYOUT_H

#include <pthread.h>

#include "types/types.h"

/* A part of a value that leads elsewhere. Its kind is that of its type: TYPE_POINTER, TYPE_STRING …
 */
struct leaf {
    uint64_t offset;
    uint32_t type;
};

struct layout {
    uint64_t size;
    struct leaf *leaves; /* ascending */
    uint32_t *words;     /* offsets of the words that may be pointers, ascending */
    uint32_t leaf_count, word_count;
    uint8_t *code;      /* the words as a dump's field list has them, without its end */
    uint32_t code_size; /* bytes */
    bool known; /* false: too large, or nothing is known of its inside; then it has no leaves and no
                   words */
};

struct layouts {
    const struct types *types;
    struct layout **of_type; /* NULL: not asked for yet */
    size_t count;
    pthread_mutex_t mutex;
};

/* types must not change while the layouts are in use. Error: G2H_ERROR_MEMORY. */
struct g2h_error *layouts_init(struct layouts *layouts, const struct types *types);
void layouts_deinit(struct layouts *layouts);

/* Makes the layout of a type; NULL where there is no memory. Called by layout_of(). */
const struct layout *layouts_make(struct layouts *layouts, uint32_t type);

/* The bytes of a leaf: one word, two of a string or interface, three of a slice. */
uint64_t leaf_size(const struct types *types, uint32_t type);

/* The layout of a type; NULL where there is no memory. */
static inline const struct layout *layout_of(struct layouts *layouts, uint32_t type)
{
    const struct layout *layout = __atomic_load_n(&layouts->of_type[type], __ATOMIC_ACQUIRE);
    return layout ? layout : layouts_make(layouts, type);
}

#endif
