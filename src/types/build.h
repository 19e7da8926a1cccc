/*
 * build: makes struct types from tables, and the types that these need.
 *
 * A structure of the runtime is a table of members. The type of a member is an expression:
 *
 *     int              a type by its name: the executable's, if it has one; else the language's, or
 *                      one that named.c knows
 *     $1               the second of the types that the caller gives
 *     *X [8]X []X      a pointer, array or slice of X; a pointer to what is not known is an
 *                      unsafe.Pointer
 *
 * Functions that give a type give TYPE_NONE where there is none; where that is so for want of
 * memory, runtime->no_memory is set.
 */
#ifndef TYPES_BUILD_H
#define TYPES_BUILD_H

#include "base/bytes.h"
#include "types/runtime.h"

struct member {
    const char *name, *type;
    uint8_t since, before; /* minor releases of Go that have it; 0: no limit */
    bool embedded;
};

/* FIELD: a member in all releases; SINCE, BEFORE, BETWEEN: from a release on, up to the last one
 * before a release. */
#define FIELD(name, type) \
    { \
        name, type, 0, 0, false \
    }
#define SINCE(since, name, type) \
    { \
        name, type, since, 0, false \
    }
#define BEFORE(before, name, type) \
    { \
        name, type, 0, before, false \
    }
#define BETWEEN(since, before, name, type) \
    { \
        name, type, since, before, false \
    }
#define EMBEDDED(name, type) \
    { \
        name, type, 0, 0, true \
    }

#define MEMBERS_MAX 32

/* Adds a struct type; it has no fields before build_fill(). */
uint32_t build_struct(struct runtime_types *runtime, enum type_role role, uint32_t elem,
                      uint32_t name);

/* Gives a struct type the members that the release has. False where a member's type is unknown or
 * absurd. */
bool build_fill(struct runtime_types *runtime, uint32_t type, const struct member *members,
                size_t count, const uint32_t *arguments);

#define BUILD_FILL(runtime, type, members, ...) \
    build_fill(runtime, type, members, sizeof(members) / sizeof(*(members)), \
               (const uint32_t[]){__VA_ARGS__})

/* The type of an expression; arguments are the types $0, $1 …, NULL where it has none of these. */
uint32_t build_type(struct runtime_types *runtime, struct g2h_bytes expression,
                    const uint32_t *arguments);

uint32_t build_pointer(struct runtime_types *runtime, uint32_t elem);
uint32_t build_array(struct runtime_types *runtime, uint32_t elem, uint64_t length);

/* A pointer as only the runtime has them; target says what key and length are. */
uint32_t build_target(struct runtime_types *runtime, enum type_target target, uint32_t elem,
                      uint32_t key, uint64_t length);

/* A type by its name; TYPE_NONE where no type has it, or several that differ. */
uint32_t build_find(const struct runtime_types *runtime, struct g2h_bytes name);

/* The number of a string; TYPE_NONE where there is no memory. */
uint32_t build_intern(struct runtime_types *runtime, struct g2h_bytes text);

/* The string "kind<K,V>" or, without second, "kind<K>": so Go's DWARF names the types of maps and
 * channels. */
uint32_t build_name(struct runtime_types *runtime, const char *kind, uint32_t first,
                    uint32_t second);

/*
 * Makes a struct the type of a descriptor that the executable has for the same struct, but knows
 * less of. That is the struct without a name whose members are given; first and second are the
 * types whose names each % is replaced by, in turn. Nothing happens where there is no such
 * descriptor.
 */
bool build_take_descriptor(struct runtime_types *runtime, uint32_t type, const char *members,
                           uint32_t first, uint32_t second);

/* The string "chan T". */
uint32_t build_channel_name(struct runtime_types *runtime, uint32_t elem);

/* The type of what a map stores for a key or an element: a pointer to it where it is large. */
uint32_t build_stored_type(struct runtime_types *runtime, uint32_t type);

/* Whether the name of a type is, or begins with, a text. */
bool build_is_named(const struct runtime_types *runtime, uint32_t type, const char *text);
bool build_has_prefix(const struct runtime_types *runtime, uint32_t type, const char *text);

/* Makes a type known by its name and, if it is a pointer, slice or array, by what it is made of.
 * False where there is no memory. */
bool build_register(struct runtime_types *runtime, uint32_t type);

/* Whether values of a type hold pointers. */
bool build_has_pointers(struct runtime_types *runtime, uint32_t type);

/* The type that is derived from elem (a pointer to it, a slice of it …), if it has been noted;
 * MAP_NONE. */
uint32_t build_find_derived(const struct runtime_types *runtime, unsigned kind, uint32_t elem,
                            uint64_t length);
/* Notes such a type. False where there is no memory. */
bool build_note_derived(struct runtime_types *runtime, unsigned kind, uint32_t elem,
                        uint64_t length, uint32_t type);

#endif
