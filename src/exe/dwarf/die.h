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
#ifndef EXE_DWARF_DIE_H
#define EXE_DWARF_DIE_H

#include "base/cursor.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/ranges.h"
#include "exe/dwarf/dwarf_constants.h"
#include "exe/image/image.h"

/* The specification of an attribute in an abbreviation. */
struct die_spec {
    uint32_t name;  /* DW_AT_… */
    uint16_t form;  /* DW_FORM_… */
    uint8_t size;   /* of the value: a number of bytes, or SIZE_… of die_values.h */
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

/* Finds an attribute of the entry itself or, if it has none of that name, the attribute of the
 * entry that it is an instance or the completion of (DW_AT_abstract_origin,
 * DW_AT_specification). */
bool die_find(struct dies *dies, const struct die *die, uint32_t name, struct die_attribute *ret);

/* Reads the value of an attribute that is a constant, flag, address or offset of a section. Returns
 * false if it is none of these. */
bool die_attribute_number(struct dies *dies, struct die_attribute attribute, uint64_t *ret);

/* Does the same for the attribute that die_find() finds. */
bool die_number(struct dies *dies, const struct die *die, uint32_t name, uint64_t *ret);

/* Finds the entry that an attribute refers to. Returns false if there is none. */
bool die_reference(struct dies *dies, const struct die *die, uint32_t name, struct die *ret);

/* Returns the name of an entry, cut if it is very long, or NULL and 0 if the entry has none. */
struct g2h_bytes die_name(struct dies *dies, const struct die *die);

/* ---- locations and ranges (die_lists.c) ---- */

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
