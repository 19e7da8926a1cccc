/*
 * dwarf: what the files dwarf*.c share; the rest of the program knows debug.h only.
 *
 * libdw reads DWARF; what it is told to read may be damaged. It never sees the executable itself,
 * only the well-formed ELF file that image_as_elf() makes of the sections that are needed.
 */
#ifndef EXE_DWARF_H
#define EXE_DWARF_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>

#include "exe/debug.h"

/* Go's own attributes, cmd/internal/dwarf/dwarf.go. */
enum {
    DW_AT_go_kind = 0x2900,
    DW_AT_go_key = 0x2901,
    DW_AT_go_elem = 0x2902,
    DW_AT_go_embedded_field = 0x2903,
    DW_AT_go_runtime_type = 0x2904,
    DW_AT_go_closure_offset = 0x2907,
};

/* A range of code of a function; a function of C may have several. */
struct dwarf_function {
    uint64_t low, high;
    Dwarf_Off die;
};

/* A type that has its number, but not yet those of its parts. */
struct dwarf_pending {
    Dwarf_Off die;
    uint32_t type;
};

struct dwarf {
    struct g2h_bytes info; /* .debug_info */
    Elf *elf;
    Dwarf *libdw;
    VECTOR(struct dwarf_function) functions; /* ascending by low, once all units have been read */

    uint64_t types_start;
    struct map type_by_die;  /* its offset → type */
    struct map type_by_name; /* of descriptors: a hash of name, kind and size → type */
    bool has_names;
    VECTOR(struct dwarf_pending) pending;
    VECTOR(uint32_t) unsealed; /* types whose parts are known, but have not been checked */
    VECTOR(uint8_t) depth;     /* by type: how deep values lie in values; 0: not known */

    /* What damaged DWARF may cost: bytes to pass over, types and bytes of text to add. */
    uint64_t walk_left, types_left, text_left;
    uint64_t locals_left; /* bytes to pass over for the variables of all functions */
};

/* ---- DIEs: all of it bounded ---- */

/* Moves to the next sibling; false where there is none. */
bool dwarf_next(struct dwarf *dwarf, Dwarf_Die *die);

/* An attribute of a DIE, or of the DIE whose instance or completion it is. */
bool dwarf_find(Dwarf_Die *die, unsigned name, Dwarf_Attribute *ret);

/* A constant, flag or address. */
bool dwarf_number(Dwarf_Die *die, unsigned name, uint64_t *ret);

/* A reference; false where it leads nowhere. */
bool dwarf_reference(Dwarf_Die *die, unsigned name, Dwarf_Die *ret);

/* Its name; NULL where it has none. */
const char *dwarf_name(Dwarf_Die *die);

/* An attribute that is an expression or a list of them, of this DIE only. */
bool dwarf_location(Dwarf_Die *die, unsigned name, Dwarf_Attribute *ret);

/* The only operation of an expression; NULL where there are more, or less. */
const Dwarf_Op *dwarf_operation(Dwarf_Attribute *attribute);

/* The number of a text, "" where there has been too much of it. False where there is no memory. */
bool dwarf_intern(struct dwarf *dwarf, struct types *types, const char *text, uint32_t *ret);

/* ---- types ---- */

/*
 * The number of the type that an attribute of a DIE refers to; TYPE_NONE where there is none. Its
 * parts have numbers, but are not there before dwarf_types_complete(). False where there is no
 * memory.
 */
bool dwarf_type(struct dwarf *dwarf, struct types *types, Dwarf_Die *die, unsigned name,
                uint32_t *ret);

/* Adds what the new types lead to. False where there is no memory. */
bool dwarf_types_complete(struct dwarf *dwarf, struct types *types);

#endif
