/*
 * die: DWARF 2 to 5 as entries (DIEs) that have attributes.
 *
 * The sections of an image may be damaged, or made to cost time: a few bytes of DWARF can ask for
 * much. So each request has a price in steps, in proportion to what it costs, that is paid from
 * steps_left. Once that is 0, there are no more entries, attributes and ranges: whoever sets it
 * bounds the cost of all that follows.
 *
 * An entry is a position; nothing is stored for it. Abbreviations are read once, with the units.
 */
#ifndef EXE_DIE_H
#define EXE_DIE_H

#include "base/cursor.h"
#include "base/map.h"
#include "base/memory.h"
#include "exe/dwarf_constants.h"
#include "exe/image.h"

/* What an abbreviation says of an attribute. */
struct die_spec {
    uint32_t name;  /* DW_AT_… */
    uint16_t form;  /* DW_FORM_… */
    uint8_t size;   /* of the value: a number of bytes, or SIZE_… of die_values.h */
    int64_t number; /* the value, if the form is DW_FORM_implicit_const */
};

/* What entries with a code have in common. */
struct die_abbreviation {
    uint32_t code, tag;
    uint32_t first, count; /* its attributes, in specs */
    bool has_children, has_sibling;
    bool is_fixed; /* all values together have so many bytes, addresses and offsets */
    uint32_t bytes, addresses, offsets;
};

/* A table of abbreviations: first to first + count, ascending by code. */
struct die_table {
    uint64_t first, count;
};

struct die_unit {
    uint64_t start, end; /* in .debug_info */
    uint64_t entry;      /* where its first entry is */
    uint64_t signature;  /* of a type unit */
    uint64_t type;       /* of a type unit: the offset of the type's entry in it; else 0 */
    uint64_t base;       /* the address that addresses in lists are relative to, at first */
    /* Where the parts of .debug_addr, .debug_str_offsets … begin that belong to this unit. */
    uint64_t addresses, texts, ranges, locations;
    uint32_t table; /* of abbreviations */
    uint16_t version;
    uint8_t address_size, offset_size;
};

struct dies {
    /* The sections .debug_info …, without compression; empty where there are none. */
    struct g2h_bytes info, abbrev, addr, line_str, loc, loclists, ranges, rnglists, str_offsets,
        str;
    bool big_endian;
    VECTOR(struct die_unit) units; /* ascending */
    VECTOR(struct die_table) tables;
    VECTOR(struct die_abbreviation) abbreviations;
    VECTOR(struct die_spec) specs;
    struct map type_units; /* signature → unit */
    uint64_t steps_left;
};

/* An entry. */
struct die {
    uint64_t offset; /* in .debug_info: no two entries have the same */
    const struct die_unit *unit;
    const struct die_abbreviation *abbreviation;
    const uint8_t *values; /* of its attributes, one after the other */
};

/* An attribute of an entry. */
struct die_attribute {
    const struct die_unit *unit;
    const struct die_spec *spec;
    struct cursor value; /* from its value to the unit's end */
};

/* Reads the headers of all units, and their abbreviations, up to the first damaged unit. The image
 * must outlive dies. Error: G2H_ERROR_MEMORY. */
struct g2h_error *dies_init(struct dies *dies, struct image *image);
void dies_deinit(struct dies *dies);

/* Pays for so many steps; false where that many are not left. */
static inline bool die_pay(struct dies *dies, uint64_t steps)
{
    const bool good = steps <= dies->steps_left;
    dies->steps_left -= good ? steps : dies->steps_left;
    return good;
}

/* ---- entries ---- */

/* The entry at an offset of .debug_info; false where none is there. */
bool die_at(struct dies *dies, uint64_t offset, struct die *ret);

/* The entry that all others of a unit are below; false where it cannot be read. */
bool die_of_unit(struct dies *dies, size_t index, struct die *ret);

/* The first entry below another; false where there is none. */
bool die_child(struct dies *dies, const struct die *die, struct die *ret);

/* Goes on to the next entry that is below the same one; false where there is none. */
bool die_next(struct dies *dies, struct die *die);

static inline uint32_t die_tag(const struct die *die)
{
    return die->abbreviation->tag;
}

/* ---- attributes ---- */

/* An attribute that an entry has itself; false where it has none of that name. */
bool die_own(struct dies *dies, const struct die *die, uint32_t name, struct die_attribute *ret);

/* The same; where an entry has it not itself, that of the entry which it is an instance or the
 * completion of. */
bool die_find(struct dies *dies, const struct die *die, uint32_t name, struct die_attribute *ret);

/* The value of an attribute that is a constant, flag or address; false where it is none of these.
 */
bool die_attribute_number(struct dies *dies, struct die_attribute attribute, uint64_t *ret);

/* The same of the attribute that die_find() finds. */
bool die_number(struct dies *dies, const struct die *die, uint32_t name, uint64_t *ret);

/* The entry that an attribute refers to; false where there is none. */
bool die_reference(struct dies *dies, const struct die *die, uint32_t name, struct die *ret);

/* The name of an entry, cut where it is very long; NULL and 0 where it has none. */
struct g2h_bytes die_name(struct dies *dies, const struct die *die);

/* ---- locations and ranges (die_lists.c) ---- */

/* One operation of an expression. */
struct die_operation {
    uint8_t atom; /* DW_OP_… */
    uint64_t number, number2;
};
typedef VECTOR(struct die_operation) die_operation_vector;

/* The operation that an attribute consists of, which the entry has itself; false where the
 * attribute is no expression, or one of more operations. */
bool die_operation(struct dies *dies, const struct die *die, uint32_t name,
                   struct die_operation *ret);

/* The operations of DW_AT_location that hold at an address: none where the entry has no location
 * there. False where there is no memory. */
bool die_location(struct dies *dies, const struct die *die, uint64_t address,
                  die_operation_vector *ret);

/* An address of .debug_addr, by its index in the unit's part; false where there is none. */
bool die_address(const struct dies *dies, const struct die_unit *unit, uint64_t index,
                 uint64_t *ret);

/* Goes through the ranges of addresses that an entry has; begins as {0}. */
struct die_ranges {
    bool is_begun, is_list;
    struct cursor list;
    uint64_t base;
};

/* The next range; false where there are no more. */
bool die_range(struct dies *dies, const struct die *die, struct die_ranges *ranges,
               uint64_t *ret_low, uint64_t *ret_high);

#endif
