/*
 * build: struct types of tables, and the types that they need.
 *
 * A structure of the runtime is a table of members; a member's type is an expression:
 *
 *     int              by name: of the executable where it has that type; else, the language's own,
 *                      and those that structures.h knows
 *     $1               the second of the types that the caller gives
 *     *X [8]X []X      made of X; a pointer to what is unknown is an unsafe.Pointer
 *
 * Functions that give a type give TYPE_NONE where there is none; runtime->no_memory tells why.
 */
#ifndef TYPES_BUILD_H
#define TYPES_BUILD_H

#include "types/runtime.h"

struct member {
    const char *name, *type;
    uint8_t since, before; /* minor releases; 0: no limit */
    bool embedded;
};

/* FIELD: of all releases; SINCE, BEFORE, BETWEEN: from one on, up to one that has it no more. */
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

/* Adds a struct type without fields, which build_fill() gives them. */
uint32_t build_struct(struct runtime_types *runtime, enum type_role role, uint32_t elem,
                      uint32_t name);

/* Lays the members out that the release has. False where a member's type is unknown or absurd. */
bool build_fill(struct runtime_types *runtime, uint32_t type, const struct member *members,
                size_t count, const uint32_t *arguments);

#define BUILD_FILL(runtime, type, members, ...) \
    build_fill(runtime, type, members, sizeof(members) / sizeof(*(members)), \
               (const uint32_t[]){__VA_ARGS__})

/* The type of an expression. */
uint32_t build_type(struct runtime_types *runtime, const char *text, size_t size,
                    const uint32_t *arguments);

uint32_t build_pointer(struct runtime_types *runtime, uint32_t elem);
uint32_t build_array(struct runtime_types *runtime, uint32_t elem, uint64_t length);

/* A pointer that is not Go's own; key and length as target says. */
uint32_t build_target(struct runtime_types *runtime, enum type_target target, uint32_t elem,
                      uint32_t key, uint64_t length);

/* A type of the executable by its name; TYPE_NONE where none or several different ones have it. */
uint32_t build_find(struct runtime_types *runtime, const char *text, size_t size);

/* "kind<K,V>", "kind<K>" without second: the names of types in the way of Go's DWARF. */
uint32_t build_name(struct runtime_types *runtime, const char *kind, uint32_t first,
                    uint32_t second);

/*
 * Takes a struct for what the executable has a descriptor of: the nameless struct of these members,
 * with their types' names in the place of each %. Nothing happens where there is no such
 * descriptor.
 */
bool build_alias(struct runtime_types *runtime, uint32_t type, const char *members, uint32_t first,
                 uint32_t second);

/* "chan T". */
uint32_t build_channel_name(struct runtime_types *runtime, uint32_t elem);

/* What a map has in its place: a pointer, where a type is large. */
uint32_t build_inline(struct runtime_types *runtime, uint32_t type);

/* The name of a type; not terminated. */
const char *build_text(const struct runtime_types *runtime, uint32_t type, size_t *ret_size);

/* Whether a type's name is, or begins with, a text. */
bool build_is_named(const struct runtime_types *runtime, uint32_t type, const char *text);
bool build_has_prefix(const struct runtime_types *runtime, uint32_t type, const char *text);

/* Types that were added by others, to be found by name and to be made use of. */
bool build_register(struct runtime_types *runtime, uint32_t type);

bool build_has_pointers(struct runtime_types *runtime, uint32_t type);

/* A type for a key made of kind and elem, in runtime->made_of. */
uint32_t build_made(const struct runtime_types *runtime, unsigned kind, uint32_t elem,
                    uint64_t length);
bool build_keep(struct runtime_types *runtime, unsigned kind, uint32_t elem, uint64_t length,
                uint32_t type);

#endif
