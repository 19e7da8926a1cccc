/*
 * die: DWARF 2 to 5 as entries (DIEs) that have attributes.
 *
 * The sections of an image may be damaged, or crafted to cost time: a few bytes of DWARF can
 * request much work. So each request has a price in units of work, proportional to its cost, that
 * is subtracted from work_left. Once work_left is 0, no more entries, attributes and ranges are
 * found: a caller that sets it bounds the cost of all requests that follow.
 *
 * An entry is a position; nothing is stored for it. Abbreviations are read once, with the units.
 */
#ifndef DWARF_DIE_H
#define DWARF_DIE_H

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/ranges.h"
#include "exe/image/image.h"

/* ==== the constants of DWARF 2 to 5, and of Go's and GNU's extensions, under their names ==== */

enum {
    DW_UT_compile = 1,
    DW_UT_type = 2,
    DW_UT_partial = 3,
    DW_UT_skeleton = 4,
    DW_UT_split_compile = 5,
    DW_UT_split_type = 6,
};

enum {
    DW_TAG_array_type = 0x01,
    DW_TAG_class_type = 0x02,
    DW_TAG_enumeration_type = 0x04,
    DW_TAG_formal_parameter = 0x05,
    DW_TAG_lexical_block = 0x0b,
    DW_TAG_member = 0x0d,
    DW_TAG_pointer_type = 0x0f,
    DW_TAG_reference_type = 0x10,
    DW_TAG_structure_type = 0x13,
    DW_TAG_subroutine_type = 0x15,
    DW_TAG_typedef = 0x16,
    DW_TAG_union_type = 0x17,
    DW_TAG_inlined_subroutine = 0x1d,
    DW_TAG_subrange_type = 0x21,
    DW_TAG_base_type = 0x24,
    DW_TAG_const_type = 0x26,
    DW_TAG_subprogram = 0x2e,
    DW_TAG_variable = 0x34,
    DW_TAG_volatile_type = 0x35,
    DW_TAG_restrict_type = 0x37,
    DW_TAG_rvalue_reference_type = 0x42,
    DW_TAG_atomic_type = 0x47,
};

enum {
    DW_AT_sibling = 0x01,
    DW_AT_location = 0x02,
    DW_AT_name = 0x03,
    DW_AT_byte_size = 0x0b,
    DW_AT_low_pc = 0x11,
    DW_AT_high_pc = 0x12,
    DW_AT_upper_bound = 0x2f,
    DW_AT_abstract_origin = 0x31,
    DW_AT_count = 0x37,
    DW_AT_data_member_location = 0x38,
    DW_AT_encoding = 0x3e,
    DW_AT_external = 0x3f,
    DW_AT_frame_base = 0x40,
    DW_AT_specification = 0x47,
    DW_AT_type = 0x49,
    DW_AT_ranges = 0x55,
    DW_AT_bit_size = 0x0d,
    DW_AT_str_offsets_base = 0x72,
    DW_AT_addr_base = 0x73,
    DW_AT_rnglists_base = 0x74,
    DW_AT_loclists_base = 0x8c,
    /* cmd/internal/dwarf/dwarf.go */
    DW_AT_go_kind = 0x2900,
    DW_AT_go_key = 0x2901,
    DW_AT_go_elem = 0x2902,
    DW_AT_go_embedded_field = 0x2903,
    DW_AT_go_runtime_type = 0x2904,
    DW_AT_go_closure_offset = 0x2907,
};

enum {
    DW_FORM_addr = 0x01,
    DW_FORM_block2 = 0x03,
    DW_FORM_block4 = 0x04,
    DW_FORM_data2 = 0x05,
    DW_FORM_data4 = 0x06,
    DW_FORM_data8 = 0x07,
    DW_FORM_string = 0x08,
    DW_FORM_block = 0x09,
    DW_FORM_block1 = 0x0a,
    DW_FORM_data1 = 0x0b,
    DW_FORM_flag = 0x0c,
    DW_FORM_sdata = 0x0d,
    DW_FORM_strp = 0x0e,
    DW_FORM_udata = 0x0f,
    DW_FORM_ref_addr = 0x10,
    DW_FORM_ref1 = 0x11,
    DW_FORM_ref2 = 0x12,
    DW_FORM_ref4 = 0x13,
    DW_FORM_ref8 = 0x14,
    DW_FORM_ref_udata = 0x15,
    DW_FORM_sec_offset = 0x17,
    DW_FORM_exprloc = 0x18,
    DW_FORM_flag_present = 0x19,
    DW_FORM_strx = 0x1a,
    DW_FORM_addrx = 0x1b,
    DW_FORM_ref_sup4 = 0x1c,
    DW_FORM_strp_sup = 0x1d,
    DW_FORM_data16 = 0x1e,
    DW_FORM_line_strp = 0x1f,
    DW_FORM_ref_sig8 = 0x20,
    DW_FORM_implicit_const = 0x21,
    DW_FORM_loclistx = 0x22,
    DW_FORM_rnglistx = 0x23,
    DW_FORM_ref_sup8 = 0x24,
    DW_FORM_strx1 = 0x25,
    DW_FORM_strx2 = 0x26,
    DW_FORM_strx3 = 0x27,
    DW_FORM_strx4 = 0x28,
    DW_FORM_addrx1 = 0x29,
    DW_FORM_addrx2 = 0x2a,
    DW_FORM_addrx3 = 0x2b,
    DW_FORM_addrx4 = 0x2c,
    DW_FORM_GNU_ref_alt = 0x1f20,
    DW_FORM_GNU_strp_alt = 0x1f21,
};

enum {
    DW_ATE_boolean = 0x02,
    DW_ATE_complex_float = 0x03,
    DW_ATE_float = 0x04,
    DW_ATE_signed = 0x05,
    DW_ATE_signed_char = 0x06,
    DW_ATE_unsigned = 0x07,
    DW_ATE_unsigned_char = 0x08,
    DW_ATE_UTF = 0x10,
};

enum {
    DW_OP_addr = 0x03,
    DW_OP_deref = 0x06,
    DW_OP_const1u = 0x08,
    DW_OP_const1s = 0x09,
    DW_OP_const2u = 0x0a,
    DW_OP_const2s = 0x0b,
    DW_OP_const4u = 0x0c,
    DW_OP_const4s = 0x0d,
    DW_OP_const8u = 0x0e,
    DW_OP_const8s = 0x0f,
    DW_OP_constu = 0x10,
    DW_OP_consts = 0x11,
    DW_OP_dup = 0x12,
    DW_OP_pick = 0x15,
    DW_OP_swap = 0x16,
    DW_OP_plus = 0x22,
    DW_OP_plus_uconst = 0x23,
    DW_OP_bra = 0x28,
    DW_OP_skip = 0x2f,
    DW_OP_lit0 = 0x30,
    DW_OP_reg0 = 0x50,
    DW_OP_breg0 = 0x70,
    DW_OP_breg31 = 0x8f,
    DW_OP_regx = 0x90,
    DW_OP_fbreg = 0x91,
    DW_OP_bregx = 0x92,
    DW_OP_piece = 0x93,
    DW_OP_deref_size = 0x94,
    DW_OP_xderef_size = 0x95,
    DW_OP_nop = 0x96,
    DW_OP_push_object_address = 0x97,
    DW_OP_call2 = 0x98,
    DW_OP_call4 = 0x99,
    DW_OP_call_ref = 0x9a,
    DW_OP_form_tls_address = 0x9b,
    DW_OP_call_frame_cfa = 0x9c,
    DW_OP_bit_piece = 0x9d,
    DW_OP_implicit_value = 0x9e,
    DW_OP_stack_value = 0x9f,
    DW_OP_implicit_pointer = 0xa0,
    DW_OP_addrx = 0xa1,
    DW_OP_constx = 0xa2,
    DW_OP_entry_value = 0xa3,
    DW_OP_const_type = 0xa4,
    DW_OP_regval_type = 0xa5,
    DW_OP_deref_type = 0xa6,
    DW_OP_xderef_type = 0xa7,
    DW_OP_convert = 0xa8,
    DW_OP_reinterpret = 0xa9,
    DW_OP_GNU_push_tls_address = 0xe0,
    DW_OP_GNU_uninit = 0xf0,
    DW_OP_GNU_implicit_pointer = 0xf2,
    DW_OP_GNU_entry_value = 0xf3,
    DW_OP_GNU_const_type = 0xf4,
    DW_OP_GNU_regval_type = 0xf5,
    DW_OP_GNU_deref_type = 0xf6,
    DW_OP_GNU_convert = 0xf7,
    DW_OP_GNU_reinterpret = 0xf9,
    DW_OP_GNU_parameter_ref = 0xfa,
    DW_OP_GNU_addr_index = 0xfb,
    DW_OP_GNU_const_index = 0xfc,
    DW_OP_GNU_variable_value = 0xfd,
};

enum {
    DW_LLE_end_of_list = 0,
    DW_LLE_base_addressx = 1,
    DW_LLE_startx_endx = 2,
    DW_LLE_startx_length = 3,
    DW_LLE_offset_pair = 4,
    DW_LLE_default_location = 5,
    DW_LLE_base_address = 6,
    DW_LLE_start_end = 7,
    DW_LLE_start_length = 8,
};

enum {
    DW_RLE_end_of_list = 0,
    DW_RLE_base_addressx = 1,
    DW_RLE_startx_endx = 2,
    DW_RLE_startx_length = 3,
    DW_RLE_offset_pair = 4,
    DW_RLE_base_address = 5,
    DW_RLE_start_end = 6,
    DW_RLE_start_length = 7,
};

/* ==== entries and their attributes ==== */

/* The specification of an attribute in an abbreviation. */
struct die_spec {
    uint32_t name;  /* DW_AT_… */
    uint16_t form;  /* DW_FORM_… */
    uint8_t size;   /* of the value: a number of bytes, or SIZE_… of die.c */
    int64_t number; /* the value, if the form is DW_FORM_implicit_const */
};

/* An abbreviation: the tag and the attributes of the entries that have its code. */
struct die_abbreviation {
    uint32_t code, tag;
    uint32_t first, count; /* its attributes, in specs */
    bool has_children, has_sibling;
    bool is_fixed; /* the size of an entry's values is fixed: the sum of the next fields */
    uint32_t bytes, addresses, offsets, references;
};

/* A table of abbreviations: those from first to first + count, ascending by code. */
struct die_table {
    uint64_t first, count;
};

struct die_unit {
    uint64_t start, end; /* in .debug_info */
    uint64_t entry;      /* offset of its first entry */
    uint64_t signature;  /* of a type unit */
    uint64_t type;       /* of a type unit: the offset of the type's entry in it; else 0 */
    uint64_t base;       /* the base of addresses in lists at the start of a list */
    /* The start of this unit's parts of .debug_addr, .debug_str_offsets, .debug_rnglists and
     * .debug_loclists. */
    uint64_t addresses, texts, ranges, locations;
    uint32_t table; /* index of its table of abbreviations */
    uint16_t version;
    uint8_t address_size, offset_size;
};

struct dies {
    /* The sections .debug_info …, uncompressed; a section that the image does not have is empty. */
    struct g2h_bytes info, abbrev, addr, line_str, loc, loclists, ranges, rnglists, str_offsets,
        str;
    bool big_endian;
    VECTOR(struct die_unit) units; /* ascending */
    VECTOR(struct die_table) tables;
    VECTOR(struct die_abbreviation) abbreviations;
    VECTOR(struct die_spec) specs;
    struct map type_units; /* signature → unit */
    size_t last_unit;      /* that die_at() has found */
    uint64_t work_left;
};

/* An entry. */
struct die {
    uint64_t offset; /* in .debug_info; no two entries have the same offset */
    const struct die_unit *unit;
    const struct die_abbreviation *abbreviation;
    const uint8_t *values; /* values of its attributes, one after the other */
    uint64_t behind; /* once die_next() has reached the end of the siblings: the offset after them,
                        where the next sibling of their parent begins; 0: not known */
};

/* An attribute of an entry. */
struct die_attribute {
    const struct die_unit *unit;
    const struct die_spec *spec;
    struct cursor value; /* from its value to the unit's end */
};

/* Uncompresses the sections that dies_init() reads, on several threads; without this, dies_init()
 * does so itself. Error: G2H_ERROR_MEMORY. */
struct g2h_error *dies_inflate(struct image *image, unsigned threads);

/* Reads the headers of all units, and their abbreviations, up to the first damaged unit. The image
 * must outlive dies. Error: G2H_ERROR_MEMORY. */
struct g2h_error *dies_init(struct dies *dies, struct image *image);

void dies_deinit(struct dies *dies);

/* Pays for work. Returns false, and leaves nothing, if less is left. */
static inline bool die_pay(struct dies *dies, uint64_t work)
{
    const bool good = work <= dies->work_left;
    dies->work_left -= good ? work : dies->work_left;
    return good;
}

/* ---- entries ---- */

/* Finds the entry at an offset of .debug_info. Returns false if there is none. */
bool die_at(struct dies *dies, uint64_t offset, struct die *ret);

/* Finds the first entry of a unit, the ancestor of all its other entries. Returns false if it
 * cannot be read. */
bool die_of_unit(struct dies *dies, size_t index, struct die *ret);

/* Finds the first child of an entry. Returns false if there is none. */
bool die_child(struct dies *dies, const struct die *die, struct die *ret);

/* Goes on to the next sibling of an entry. Returns false if there is none. */
bool die_next(struct dies *dies, struct die *die);

/* Goes on to the next sibling of an entry, like die_next(), but without passing the entry's
 * children once more: behind is that of its last child. */
bool die_next_behind(struct dies *dies, struct die *die, uint64_t behind);

static inline uint32_t die_tag(const struct die *die)
{
    return die->abbreviation->tag;
}

/* ---- attributes ---- */

/* Finds an attribute of the entry itself. Returns false if it has no attribute of that name. */
bool die_own(struct dies *dies, const struct die *die, uint32_t name, struct die_attribute *ret);

/* Reads the value of an attribute that is a constant, flag, address or offset of a section. Returns
 * false if it is none of these. */
bool die_attribute_number(struct dies *dies, struct die_attribute attribute, uint64_t *ret);

/* Does the same for the attribute that die_find() finds. */
bool die_number(struct dies *dies, const struct die *die, uint32_t name, uint64_t *ret);

/* Finds the entry that an attribute refers to. Returns false if there is none. */
bool die_reference(struct dies *dies, const struct die *die, uint32_t name, struct die *ret);

/* Returns the name of an entry, cut if it is very long, or NULL and 0 if the entry has none. */
struct g2h_bytes die_name(struct dies *dies, const struct die *die);

/* ---- locations and ranges ---- */

/* One operation of an expression. */
struct die_operation {
    uint8_t atom; /* DW_OP_… */
    uint64_t number, number2;
};

typedef VECTOR(struct die_operation) die_operation_vector;

/* Reads the only operation of an expression, an attribute of the entry itself. Returns false if the
 * attribute is not an expression, or has more than one operation. */
bool die_operation(struct dies *dies, const struct die *die, uint32_t name,
                   struct die_operation *ret);

/* Reads the operations of DW_AT_location that are valid at an address, or none if the entry has no
 * location there. Returns false if memory runs out. */
bool die_location(struct dies *dies, const struct die *die, uint64_t address,
                  die_operation_vector *ret);

/* Reads an address of .debug_addr by its index in the unit's part. Returns false if there is
 * none. */
bool die_address(const struct dies *dies, const struct die_unit *unit, uint64_t index,
                 uint64_t *ret);

/* An iterator over the ranges of addresses that an entry has; it begins as {0}. */
struct die_ranges {
    bool is_begun, is_list;
    struct cursor list;
    uint64_t base;
};

/* Finds the next range. Returns false if there are no more. */
bool die_range(struct dies *dies, const struct die *die, struct die_ranges *ranges,
               struct range *ret);

#endif
