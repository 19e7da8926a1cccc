/* dwarf_reader: declarations shared by the files dwarf_*.c; the rest of the program uses
 * dwarf_info.h. */
#ifndef EXE_DWARF_DWARF_READER_H
#define EXE_DWARF_DWARF_READER_H

#include "exe/dwarf/dwarf_info.h"
#include "exe/dwarf/die.h"

/* A range of addresses that is a function's code; a function of C may have several. */
struct dwarf_function {
    uint64_t low, high;
    uint64_t die; /* offset of its entry */
};

/* A type with a number whose parts have not been read yet. */
struct dwarf_pending {
    uint64_t die; /* offset of its entry */
    uint32_t type;
};

struct dwarf_reader {
    struct dies dies;
    VECTOR(struct dwarf_function) functions; /* ascending by low, once all units have been read */
    die_operation_vector operations;         /* of the current location */

    uint64_t types_start;
    struct map type_by_die;  /* offset of an entry → type */
    struct map type_by_name; /* of types with a descriptor: a hash of name, kind and size → type */
    bool has_names;
    VECTOR(struct dwarf_pending) pending;
    VECTOR(uint32_t) unchecked; /* types whose parts are known, but have not been checked */
    VECTOR(uint8_t) depth; /* by type: how deep values are nested in its values; 0: not known */

    /* Remaining budgets for damaged DWARF besides dies.work_left: types to add, bytes of strings to
     * add, and work for the variables of all functions. */
    uint64_t types_left, text_left, locals_left;
};

/* A size that DWARF does not have; for arrays only. */
#define DWARF_SIZE_UNKNOWN UINT64_MAX

/* Interns a string, or "" in its place once there have been more bytes of strings than a sound
 * executable has. Returns false if memory runs out. */
bool dwarf_intern(struct dwarf_reader *reader, struct types *types, struct g2h_bytes text,
                  uint32_t *ret);

/*
 * Finds the number of the type that an attribute of an entry refers to, or TYPE_NONE if it refers
 * to no type. The type has its parts after dwarf_types_complete(). Returns false if memory runs
 * out.
 */
bool dwarf_type(struct dwarf_reader *reader, struct types *types, const struct die *die,
                uint32_t name, uint32_t *ret);

/* Adds the parts of the new types, then the parts of the types that this adds, and so on; then
 * checks all of them. Returns false if memory runs out. */
bool dwarf_types_complete(struct dwarf_reader *reader, struct types *types);

/* Checks the types in reader->unchecked (dwarf_check.c). Returns false if memory runs out. */
bool dwarf_types_check(struct dwarf_reader *reader, struct types *types);

#endif
