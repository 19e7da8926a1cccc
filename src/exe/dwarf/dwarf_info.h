/*
 * dwarf_info: the contents of an executable's DWARF: types, global variables, the variables of each
 * function, the captured variables of closures.
 *
 * It is empty if the executable has no DWARF. Addresses are those of the file; the caller adds the
 * slide.
 *
 *   die                 the entries of DWARF, and its constants
 *   dwarf_info, scopes  globals, captured variables, types; and locals at program counters
 */
#ifndef DWARF_DWARF_INFO_H
#define DWARF_DWARF_INFO_H

#include "exe/dwarf/die.h"
#include "exe/image/image.h"
#include "types/types.h"

/* ==== global variables, functions, and the variables that closures capture ==== */

/* A global variable. */
struct dwarf_global {
    uint64_t address;
    uint32_t name; /* string of types: "net/http.DefaultClient" */
    uint32_t type;
};

/* A part of a variable that is in memory: the variable's bytes [offset, offset + size) begin at the
 * frame's CFA + cfa_offset. */
struct dwarf_piece {
    uint64_t offset, size;
    int64_t cfa_offset;
};

/* A local variable or parameter that is, at least in part, in the stack frame at some pc. */
struct dwarf_local {
    uint32_t name, type;
    uint32_t function; /* string: the inlined function that it belongs to; UINT32_MAX: the frame's
                          own function */
    bool is_parameter;
    bool is_made; /* the compiler generated its name: ~r0, .autotmp_5, and list.ptr, a part of
                     list */
    uint32_t first_piece, piece_count; /* in ret_pieces of dwarf_info_locals() */
};

/* A captured variable of a closure: a field of the object that a func value points to. */
struct dwarf_captured {
    uint64_t entry;  /* address of the closure's function */
    uint64_t offset; /* in the closure object; DW_AT_go_closure_offset */
    uint32_t name, type;
};

typedef VECTOR(struct dwarf_piece) dwarf_piece_vector;

typedef VECTOR(struct dwarf_local) dwarf_local_vector;

struct dwarf_reader;

struct dwarf_info {
    VECTOR(struct dwarf_global) globals;    /* ascending by address */
    VECTOR(struct dwarf_captured) captured; /* ascending by entry, then offset */
    /* For Go before 1.23, which does not write DW_AT_go_closure_offset: all variables of closures'
     * functions, captured or not; offset is 0. Ascending by entry, then name. */
    VECTOR(struct dwarf_captured) maybe_captured;
    struct dwarf_reader *reader;
};

/*
 * Reads all units of the image that has the sections of DWARF; the image must outlive dwarf_info.
 * If DWARF is damaged, reads as much as possible. Error: G2H_ERROR_MEMORY only.
 *
 * types has the types of the descriptors already, and a type that has a descriptor is not added
 * again: DW_AT_go_runtime_type has the descriptor's offset from types_start, which is runtime.types
 * in the process. Of the other types, those that variables lead to are added.
 *
 * A walk down a value of an added type terminates, whatever the executable contains: fields ascend,
 * do not overlap and are inside their struct, elements are inside their array; no type contains
 * itself, and types are nested at most 64 deep; a type without a size has no fields and no
 * elements.
 */
struct g2h_error *dwarf_info_init(struct dwarf_info *dwarf_info, struct image *image,
                                  struct types *types, uint64_t types_start);

void dwarf_info_deinit(struct dwarf_info *dwarf_info);

/*
 * Makes *ret a reader of the variables at program counters for one process. What it finds, and the
 * work that it may do, does not depend on what others have read. types must be a copy of those that
 * dwarf_info_init() added to. It goes to dwarf_info_branch_end(), also after an error, before
 * dwarf_info_deinit(). Error: G2H_ERROR_MEMORY.
 */
struct g2h_error *dwarf_info_branch(const struct dwarf_info *dwarf_info, struct dwarf_info *ret);

void dwarf_info_branch_end(struct dwarf_info *branch);

/*
 * Appends the variables that a frame has in memory at pc, which is within a call (the return
 * address less one): those of the function that contains the pc, and of the functions that are
 * inlined there. May add types. The cost is proportional to the function, so callers call it once
 * per pc. *ret_inlined is the innermost function that is inlined at pc (string), or UINT32_MAX if
 * there is none; ret_inlined may be NULL.
 */
struct g2h_error *dwarf_info_locals(struct dwarf_info *dwarf_info, struct types *types, uint64_t pc,
                                    dwarf_local_vector *ret, dwarf_piece_vector *ret_pieces,
                                    uint32_t *ret_inlined);

/* ==== reading entries, also for scopes.c ==== */

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

#endif
