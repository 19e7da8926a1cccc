/*
 * map: where in a value of a type its pointers are, and what each of them is.
 *
 * A struct of structs and arrays is flattened into its fields: pointers, strings, slices,
 * interfaces, maps, channels, functions. The words of a pointer map are those that the garbage
 * collector looks at, which is what a dump's field lists name: they tell whether a type fits an
 * object. Plans are made when they are first asked for, from then on constant; several threads may
 * ask.
 */
#ifndef TYPES_POINTER_MAP_H
#define TYPES_POINTER_MAP_H

#include <pthread.h>

#include "types/types.h"

#define POINTER_FIELD_NONE UINT32_MAX

/* A part of a value that leads elsewhere. Its kind is that of its type: TYPE_POINTER, TYPE_STRING …
 */
struct pointer_field {
    uint64_t offset;
    uint32_t type;
    bool is_string;
};

struct pointer_map {
    uint64_t size;
    struct pointer_field *fields; /* ascending */
    uint32_t *words;              /* offsets of the words that may be pointers, ascending */
    uint32_t *field_of_word; /* by word: the field that it is the pointer of, POINTER_FIELD_NONE */
    uint32_t field_count, word_count;
    bool has_strings, has_others; /* among the fields: strings, which lead to bytes only; others */
    uint8_t *code;                /* the words as a dump's field list has them, without its end */
    uint32_t code_size;           /* bytes */
    bool known; /* false: too large, or too many types are smaller and large as well, or nothing is
                   known of its inside; then it has no fields and no words */
};

struct pointer_maps {
    const struct types *types;
    struct pointer_map **of_type; /* NULL: not asked for yet */
    size_t count;
    bool first_words; /* the first word of an interface is one of those that the collector looks at
                       */
    uint64_t *too_large; /* a bit per type whose map would be too large */
    bool failed;         /* there was no memory for one that was asked for */
    pthread_mutex_t mutex;
};

/* types must not change while the pointer maps are in use. Error: G2H_ERROR_MEMORY. */
struct g2h_error *pointer_maps_init(struct pointer_maps *maps, const struct types *types);
void pointer_maps_deinit(struct pointer_maps *maps);

/* Makes the map of a type; NULL where there is no memory. Called by pointer_map_of(). */
const struct pointer_map *pointer_maps_make(struct pointer_maps *maps, uint32_t type);

/* The bytes of a field: one word, two of a string or interface, three of a slice. */
uint64_t pointer_field_size(const struct types *types, uint32_t type);

/* The map of a type; NULL where there is no memory. */
static inline const struct pointer_map *pointer_map_of(struct pointer_maps *maps, uint32_t type)
{
    const struct pointer_map *map = __atomic_load_n(&maps->of_type[type], __ATOMIC_ACQUIRE);
    return map ? map : pointer_maps_make(maps, type);
}

#endif
