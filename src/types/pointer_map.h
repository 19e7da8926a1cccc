/*
 * pointer_map: the offsets of the pointers in a value of a type, and the type of each of them.
 *
 * Structs and arrays are flattened into a list of pointer fields: pointers, strings, slices,
 * interfaces, maps, channels, functions. The words of a pointer map are those that the garbage
 * collector scans. A dump's field lists contain these words, so they show whether a type fits an
 * object.
 *
 * A pointer map is made on first use and is constant from then on. Several threads may request it.
 */
#ifndef TYPES_POINTER_MAP_H
#define TYPES_POINTER_MAP_H

#include "types/types.h"

#define POINTER_FIELD_NONE UINT32_MAX

/* A part of a value that points elsewhere: its offset and its type, TYPE_POINTER, TYPE_STRING … */
struct pointer_field {
    uint64_t offset;
    uint32_t type;
    bool is_string;
};

/* A word that may be a pointer, described for code that follows it. */
struct pointer_word {
    uint32_t offset;
    uint32_t field; /* index of the field that contains it; POINTER_FIELD_NONE */
    uint32_t type;  /* type of its target, unless form says otherwise */
    enum word_form {
        WORD_NONE, /* nothing is known about its target */
        WORD_VALUE,
        WORD_SLICE, /* an array; the slice has its length */
        WORD_TEXT,
        WORD_INTERFACE, /* the data word of an interface; type is the interface type */
        WORD_OTHER,     /* its field determines the target */
    } form;
};

struct pointer_map {
    uint64_t size;                 /* size of a value in bytes */
    struct pointer_field *fields;  /* ascending */
    uint32_t *words;               /* offsets of the words that may be pointers, ascending */
    struct pointer_word *followed; /* the same words, with what they point to */
    uint32_t field_count, word_count;
    bool has_strings;     /* some fields are strings, which point to bytes only */
    bool has_non_strings; /* some fields are not strings */
    uint8_t *code;        /* the words encoded as in a dump's field list, without the end mark */
    uint32_t code_size;
    /* False if the contents of values are not known, or the map is too large, or it is large and
     * smaller maps have used up the budget (pointer_map.c). Then the map has no fields and no
     * words. */
    bool known;
};

struct pointer_maps {
    const struct types *types;
    size_t count;
    bool first_words;             /* the collector scans the first word of an interface, too */
    uint64_t *too_large;          /* a bit per type: its map would be too large */
    struct pointer_map **of_type; /* by type; NULL: not made yet */
    struct pointer_maps_state *state;
};

/* types must not change while the maps are in use. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *pointer_maps_init(struct pointer_maps *maps, const struct types *types);
void pointer_maps_deinit(struct pointer_maps *maps);

/* Returns whether memory ran out for a requested map. */
bool pointer_maps_failed(const struct pointer_maps *maps);

/* Makes the map of a type unless another thread has made it; returns NULL if memory runs out. */
const struct pointer_map *pointer_maps_make(const struct pointer_maps *maps, uint32_t type);

/* Returns the map of a type, or NULL if memory runs out. */
static inline const struct pointer_map *pointer_map_of(const struct pointer_maps *maps,
                                                       uint32_t type)
{
    const struct pointer_map *map = __atomic_load_n(&maps->of_type[type], __ATOMIC_ACQUIRE);
    return map ? map : pointer_maps_make(maps, type);
}

/* Returns the size of a pointer field in bytes: two words for a string or interface, three for a
 * slice, otherwise one. */
uint64_t pointer_field_size(const struct types *types, uint32_t type);

#endif
