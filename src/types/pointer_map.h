/*
 * pointer_map: where in a value of a type its pointers are, and what each of them is.
 *
 * A struct of structs and arrays is flattened into its pointer fields: pointers, strings, slices,
 * interfaces, maps, channels, functions. The words of a map are those that the garbage collector
 * looks at. A dump's field lists have these words, so they tell whether a type fits an object.
 *
 * A map is made when it is first asked for; from then on it is constant. Several threads may ask.
 */
#ifndef TYPES_POINTER_MAP_H
#define TYPES_POINTER_MAP_H

#include "types/types.h"

#define POINTER_FIELD_NONE UINT32_MAX

/* A part of a value that leads elsewhere, by its offset and its type: TYPE_POINTER, TYPE_STRING …
 */
struct pointer_field {
    uint64_t offset;
    uint32_t type;
    bool is_string;
};

/* What a word is that may be a pointer, for those who follow it. */
struct pointer_word {
    uint32_t offset;
    uint32_t field; /* whose pointer it is; POINTER_FIELD_NONE */
    uint32_t type;  /* of what it leads to, if the form says so */
    enum word_form {
        WORD_NONE, /* it leads to nothing of which anything is known */
        WORD_VALUE,
        WORD_SLICE, /* as many as the slice says */
        WORD_TEXT,
        WORD_INTERFACE, /* the type is the interface's, the word its data */
        WORD_OTHER,     /* the field says it */
    } form;
};

struct pointer_map {
    uint64_t size;                 /* of a value */
    struct pointer_field *fields;  /* ascending */
    uint32_t *words;               /* offsets of the words that may be pointers, ascending */
    struct pointer_word *followed; /* the same words */
    uint32_t field_count, word_count;
    bool has_strings; /* some fields are strings, which lead to bytes only */
    bool has_others;  /* some fields are none */
    uint8_t *code;    /* the words as a dump's field list has them, but for its end */
    uint32_t code_size;
    /* False where nothing is known of the inside of values, or the map is too large, or it is large
     * and there are too many smaller ones. Then it has no fields and no words. */
    bool known;
};

struct pointer_maps {
    const struct types *types;
    size_t count;
    bool first_words;             /* the collector looks at the first word of an interface, too */
    uint64_t *too_large;          /* a bit per type whose map would be too large */
    struct pointer_map **of_type; /* NULL: nobody has asked for it yet */
    struct pointer_maps_state *state;
};

/* types must not change while the maps are in use. Error: G2H_ERROR_MEMORY. */
struct g2h_error *pointer_maps_init(struct pointer_maps *maps, const struct types *types);
void pointer_maps_deinit(struct pointer_maps *maps);

/* Whether there was no memory for a map that was asked for. */
bool pointer_maps_failed(const struct pointer_maps *maps);

/* Makes the map of a type, unless another thread has; NULL where there is no memory. */
const struct pointer_map *pointer_maps_make(const struct pointer_maps *maps, uint32_t type);

/* The map of a type; NULL where there is no memory. */
static inline const struct pointer_map *pointer_map_of(const struct pointer_maps *maps,
                                                       uint32_t type)
{
    const struct pointer_map *map = __atomic_load_n(&maps->of_type[type], __ATOMIC_ACQUIRE);
    return map ? map : pointer_maps_make(maps, type);
}

/* How many bytes a pointer field has: one word, two of a string or interface, three of a slice. */
uint64_t pointer_field_size(const struct types *types, uint32_t type);

#endif
