/*
 * die: DWARF 2 to 5 as entries (DIEs) that have attributes.
 *
 * Takes the debug sections of an image, which may be damaged, or made to cost time: a few bytes of
 * DWARF can ask for much. What is asked of it has a price in steps, about what it costs, and is
 * paid for from steps_left; once that is 0, there are no more entries, attributes and ranges. So
 * whoever sets it bounds all that follows.
 *
 * An entry is a position and nothing is kept of it. Abbreviations are read once, with the units.
 */
#ifndef EXE_DIE_H
#define EXE_DIE_H

#include "base/cursor.h"
#include "base/map.h"
#include "base/memory.h"
#include "exe/dwarf_constants.h"
#include "exe/image.h"

struct die_spec {
    uint32_t name;  /* DW_AT_… */
    uint16_t form;  /* DW_FORM_… */
    uint8_t size;   /* of a value, or SIZE_… of die.c */
    int64_t number; /* of DW_FORM_implicit_const */
};

struct die_abbreviation {
    uint32_t code, tag;
    uint32_t first, count; /* in specs */
    bool has_children, has_sibling;
    bool is_fixed; /* of a size that is known: of so many bytes, addresses and offsets */
    uint32_t bytes, addresses, offsets;
};

/* Abbreviations first to first + count, ascending by code. */
struct die_table {
    uint64_t first, count;
};

struct die_unit {
    uint64_t start, end; /* in .debug_info */
    uint64_t entry;      /* of its first entry */
    uint64_t signature;  /* of a type unit */
    uint64_t type;       /* the entry that this stands for; else 0 */
    uint64_t base;       /* address that lists begin with */
    /* of the parts of .debug_addr, .debug_str_offsets … that are its own */
    uint64_t addresses, texts, ranges, locations;
    uint32_t table;
    uint16_t version;
    uint8_t address_size, offset_size;
};

struct dies {
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
    uint64_t offset; /* in .debug_info: what tells it from others */
    const struct die_unit *unit;
    const struct die_abbreviation *abbreviation;
    const uint8_t *values; /* of its attributes */
};

struct die_attribute {
    const struct die_unit *unit;
    const struct die_spec *spec;
    struct cursor value; /* up to the unit's end */
};

/* Reads the headers of all units, and their abbreviations; those from a damaged one on are left
 * out. The image must outlive dies. Error: G2H_ERROR_MEMORY. */
struct g2h_error *dies_init(struct dies *dies, struct image *image);
void dies_deinit(struct dies *dies);

/* ---- entries ---- */

/* The entry at an offset of .debug_info; that of a unit, which all its others are below. */
bool die_at(struct dies *dies, uint64_t offset, struct die *ret);
bool die_of_unit(struct dies *dies, size_t index, struct die *ret);

/* The first one below an entry, and the next beside it; false where there is none. */
bool die_child(struct dies *dies, const struct die *die, struct die *ret);
bool die_next(struct dies *dies, struct die *die);

static inline uint32_t die_tag(const struct die *die)
{
    return die->abbreviation->tag;
}

/* ---- attributes ---- */

/* An attribute of this entry. */
bool die_own(struct dies *dies, const struct die *die, uint32_t name, struct die_attribute *ret);

/* The same, or that of the entry whose instance or completion this one is. */
bool die_find(struct dies *dies, const struct die *die, uint32_t name, struct die_attribute *ret);

/* A constant, flag or address. */
bool die_attribute_number(struct dies *dies, struct die_attribute attribute, uint64_t *ret);
bool die_number(struct dies *dies, const struct die *die, uint32_t name, uint64_t *ret);

/* A reference; false where it leads nowhere. */
bool die_reference(struct dies *dies, const struct die *die, uint32_t name, struct die *ret);

/* Its name, cut where it is very long; NULL and 0 where it has none. */
struct g2h_bytes die_name(struct dies *dies, const struct die *die);

/* ---- places and ranges (die_lists.c) ---- */

/* One operation of an expression. */
struct die_operation {
    uint8_t atom; /* DW_OP_… */
    uint64_t number, number2;
};
typedef VECTOR(struct die_operation) die_operation_vector;

/* The only operation of an attribute that is an expression, of this entry; false where it has more,
 * or less. */
bool die_operation(struct dies *dies, const struct die *die, uint32_t name,
                   struct die_operation *ret);

/*
 * The operations of DW_AT_location that are valid at an address; none where there are none. False
 * where there is no memory.
 */
bool die_location(struct dies *dies, const struct die *die, uint64_t address,
                  die_operation_vector *ret);

/* An address of .debug_addr. */
bool die_address(const struct dies *dies, const struct die_unit *unit, uint64_t index,
                 uint64_t *ret);

/* The ranges of addresses of an entry, one after the other, from {0} on. */
struct die_ranges {
    bool is_begun, is_list;
    struct cursor list;
    uint64_t base;
};
bool die_range(struct dies *dies, const struct die *die, struct die_ranges *ranges,
               uint64_t *ret_low, uint64_t *ret_high);

/* ---- numbers, for die_lists.c ---- */

/* size bytes, at most 8; an unsigned or signed LEB128. False where they are not there. */
bool die_read(const struct dies *dies, struct cursor *cursor, unsigned size, uint64_t *ret);
bool die_read_signed(struct cursor *cursor, uint64_t *ret);

static inline bool die_pay(struct dies *dies, uint64_t steps)
{
    const bool good = steps <= dies->steps_left;
    dies->steps_left -= good ? steps : dies->steps_left;
    return good;
}

#endif
