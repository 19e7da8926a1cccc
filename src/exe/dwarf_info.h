/*
 * debug: what DWARF knows of an executable: types, global variables, the variables of each
 * function, the captured variables of closures.
 *
 * Filled by dwarf.c. Empty where the executable has no DWARF. Addresses are those of the file; the
 * caller adds the slide.
 */
#ifndef EXE_DEBUG_H
#define EXE_DEBUG_H

#include "exe/image.h"
#include "types/types.h"

/* A global variable. */
struct dwarf_global {
    uint64_t address;
    uint32_t name; /* string of types: "net/http.DefaultClient" */
    uint32_t type;
};

/* A part of a variable that is in memory: its bytes [offset, offset + size) are at cfa + place. */
struct dwarf_piece {
    uint64_t offset, size;
    int64_t place;
};

/* A local variable or parameter that is (partly) in the stack frame at some pc. */
struct dwarf_local {
    uint32_t name, type;
    uint32_t function; /* string: the inlined function it belongs to; UINT32_MAX: the frame's own */
    bool is_parameter;
    bool is_made; /* the compiler made its name up: ~r0, .autotmp_5, and list.ptr, a part of list */
    uint32_t first_piece, piece_count; /* in the vector that the caller gave */
};

/* A captured variable of a closure: a field of the object that a func value points to. */
struct dwarf_captured {
    uint64_t entry;  /* of the closure's function */
    uint64_t offset; /* in the closure object; DW_AT_go_closure_offset */
    uint32_t name, type;
};

typedef VECTOR(struct dwarf_piece) dwarf_piece_vector;
typedef VECTOR(struct dwarf_local) dwarf_local_vector;

struct dwarf; /* what is kept open for frames, until dwarf_info_close() */

struct dwarf_info {
    VECTOR(struct dwarf_global) globals;    /* ascending by address */
    VECTOR(struct dwarf_captured) captured; /* ascending by entry, then offset */
    /* Before Go 1.23, where nothing has DW_AT_go_closure_offset: all variables of closures'
     * functions, captured or not; offset is 0. Ascending by entry, then name. */
    VECTOR(struct dwarf_captured) maybe_captured;
    struct dwarf *dwarf; /* NULL: closed */
};

/*
 * Reads all units. types holds the descriptors' types already; types_start is runtime.types in the
 * process (for DW_AT_go_runtime_type, an offset from it), so a type that has a descriptor is the
 * descriptor's. Only types that globals, locals or captured variables lead to are added. Damaged
 * DWARF gives what could be read of it. The image is that which has the debug sections; it must
 * outlive debug. Error: G2H_ERROR_MEMORY only.
 *
 * A type from DWARF alone ends, whatever the executable says: fields ascend, do not overlap and lie
 * within their struct, elements within their array; none lies in itself, or more than 64 deep; what
 * has no size has no fields and no elements.
 */
struct g2h_error *dwarf_info_init(struct dwarf_info *debug, struct image *image,
                                  struct types *types, uint64_t types_start);
void dwarf_info_deinit(struct dwarf_info *debug);

/* Ends reading: what was read stays. */
void dwarf_info_close(struct dwarf_info *debug);

/*
 * Appends the variables that lie in the frame of the function that holds pc, at this pc (which is
 * in the call: the return address less one), those of functions inlined there included. May add
 * types. What it costs is in proportion to the function, so callers ask once per pc.
 */
struct g2h_error *dwarf_info_locals(struct dwarf_info *debug, struct types *types, uint64_t pc,
                                    dwarf_local_vector *ret, dwarf_piece_vector *ret_pieces);

#endif
