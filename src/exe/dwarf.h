/* dwarf: what the files dwarf*.c share; the rest of the program knows debug.h only. */
#ifndef EXE_DWARF_H
#define EXE_DWARF_H

#include "exe/dwarf_info.h"
#include "exe/die.h"

/* A range of code of a function; a function of C may have several. */
struct dwarf_function {
    uint64_t low, high;
    uint64_t die;
};

/* A type that has its number, but not yet those of its parts. */
struct dwarf_pending {
    uint64_t die;
    uint32_t type;
};

struct dwarf {
    struct dies dies;
    VECTOR(struct dwarf_function) functions; /* ascending by low, once all units have been read */
    die_operation_vector operations;         /* of the place that is looked at */

    uint64_t types_start;
    struct map type_by_die;  /* its offset → type */
    struct map type_by_name; /* of descriptors: a hash of name, kind and size → type */
    bool has_names;
    VECTOR(struct dwarf_pending) pending;
    VECTOR(uint32_t) unsealed; /* types whose parts are known, but have not been checked */
    VECTOR(uint8_t) depth;     /* by type: how deep values lie in values; 0: not known */

    /* What damaged DWARF may cost beside dies.steps_left: types and bytes of text to add; steps for
     * the variables of all functions. */
    uint64_t types_left, text_left, locals_left;
};

/* The number of a text, "" where there has been too much of it. False where there is no memory. */
bool dwarf_intern(struct dwarf *dwarf, struct types *types, struct g2h_bytes text, uint32_t *ret);

/*
 * The number of the type that an attribute of a DIE refers to; TYPE_NONE where there is none. Its
 * parts have numbers, but are not there before dwarf_types_complete(). False where there is no
 * memory.
 */
bool dwarf_type(struct dwarf *dwarf, struct types *types, const struct die *die, uint32_t name,
                uint32_t *ret);

/* Adds what the new types lead to. False where there is no memory. */
bool dwarf_types_complete(struct dwarf *dwarf, struct types *types);

#endif
