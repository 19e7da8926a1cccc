/*
 * build: makes struct types from tables of their members, and knows some of them by their names.
 *
 * A structure of the runtime is a table of members. The type of a member is an expression:
 *
 *     int              a type by its name: the executable's type, if it has one; else a type of the
 *                      language, or one that this file has a table of
 *     $1               the second of the types that the caller passes as arguments
 *     *X [8]X []X      a pointer, array or slice of X; a pointer to an unknown type is an
 *                      unsafe.Pointer
 *
 * Functions that return a type return TYPE_NONE if there is none; if the reason is that memory ran
 * out, they set runtime->no_memory.
 */
#ifndef TYPES_BUILD_H
#define TYPES_BUILD_H

#include "base/bytes.h"
#include "types/runtime_types.h"

/* ==== types from tables ==== */

struct member {
    const char *name, *type;
    uint8_t since, before; /* the range of Go's minor releases that have it; 0: no limit */
    bool embedded;
};

/* FIELD: a member in all releases. SINCE, BEFORE, BETWEEN: a member from a release on, up to but
 * not including a release, or both. */
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

#define EMBEDDED(name, type) \
    { \
        name, type, 0, 0, true \
    }

/* Adds a struct type; it has no fields before build_fill(). name is a result of build_intern(),
 * elem what the role is about: see enum type_role. */
uint32_t build_struct(struct runtime_types *runtime, enum type_role role, uint32_t elem,
                      uint32_t name);

/* Adds the members that the release has to a struct type. Returns false if a member's type is
 * unknown or absurdly large, or if memory runs out, also if it did in build_struct(): number is
 * TYPE_NONE. */
bool build_fill(struct runtime_types *runtime, uint32_t type, const struct member *members,
                size_t count, const uint32_t *arguments);

#define BUILD_FILL(runtime, type, members, ...) \
    build_fill(runtime, type, members, COUNT_OF(members), (const uint32_t[]){__VA_ARGS__})

/* Returns the type of an expression. arguments are the types $0, $1 …; NULL if the expression uses
 * none. */
uint32_t build_type(struct runtime_types *runtime, struct g2h_bytes expression,
                    const uint32_t *arguments);

uint32_t build_pointer(struct runtime_types *runtime, uint32_t elem);

uint32_t build_array(struct runtime_types *runtime, uint32_t elem, uint64_t length);

/* Returns a pointer of a kind that only the runtime has, to elem or, with TARGET_BY_TYPE, an
 * unsafe.Pointer, which is elem; target determines the meaning of other and length. */
uint32_t build_target(struct runtime_types *runtime, enum type_target target, uint32_t elem,
                      uint32_t other, uint64_t length);

/* Returns the type with a name, or TYPE_NONE if there is none or several different ones. */
uint32_t build_find(const struct runtime_types *runtime, struct g2h_bytes name);

/* Returns the number of a string, or TYPE_NONE if memory runs out. */
uint32_t build_intern(struct runtime_types *runtime, struct g2h_bytes text);

/* Returns the string "kind<K,V>" or, if second is TYPE_NONE, "kind<K>": Go's DWARF names the types
 * of maps and channels in this way. */
uint32_t build_name(struct runtime_types *runtime, const char *kind, uint32_t first,
                    uint32_t second);

/*
 * Moves the executable's descriptor of the same struct to a more specific type that was built here.
 * The descriptor's type is an unnamed struct whose name is members; each % is a placeholder for the
 * name of first or second, in turn. Does nothing if there is no such descriptor. Returns false if
 * memory runs out.
 */
bool build_take_descriptor(struct runtime_types *runtime, uint32_t type, const char *members,
                           uint32_t first, uint32_t second);

/* Returns the type that a map stores for a key or an element: the type itself, or a pointer to it
 * if it is large. */
uint32_t build_stored_type(struct runtime_types *runtime, uint32_t type);

/* Return whether the name of a type is text, or begins with it. */
bool build_is_named(const struct runtime_types *runtime, uint32_t type, const char *text);

bool build_has_prefix(const struct runtime_types *runtime, uint32_t type, const char *text);

/* Makes a type findable by its name and, if it is a pointer, slice or array, by its element type.
 * Returns false if memory runs out. */
bool build_register(struct runtime_types *runtime, uint32_t type);

/* Returns whether values of a type hold pointers. */
bool build_has_pointers(struct runtime_types *runtime, uint32_t type);

/* ==== the functions that make the runtime's structures, by file ==== */

/* Returns the header of a channel type. */
uint32_t chans_header(struct runtime_types *runtime, uint32_t channel);

/* Returns the name of such a structure by its index; NULL after the last one. */
const char *named_struct_name(size_t i);

#endif
