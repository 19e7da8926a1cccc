/*
 * die_values: the encoding of attribute values, for the files die*.c; the rest of the program uses
 * die.h. DWARF 5, section 7.5.
 */
#ifndef EXE_DWARF_DIE_VALUES_H
#define EXE_DWARF_DIE_VALUES_H

#include "exe/dwarf/die.h"

/* The size of a form's values: a number of bytes, up to SIZE_BYTES_MOST, or one of the constants
 * after it. */
enum {
    SIZE_BYTES_MOST = 16,
    SIZE_ADDRESS,
    SIZE_OFFSET,
    SIZE_REFERENCE, /* of DW_FORM_ref_addr: see die_reference_size() */
    SIZE_LEB,
    SIZE_TEXT,
    SIZE_BLOCK1,
    SIZE_BLOCK2,
    SIZE_BLOCK4,
    SIZE_BLOCK,
    SIZE_UNKNOWN, /* not known, so the bytes after the value cannot be read */
};

/* Returns the size of the values of a form, DW_FORM_…. */
uint8_t die_size_of_form(uint64_t form);

/* Returns the size of a DW_FORM_ref_addr: in DWARF 2, that of an address. */
static inline unsigned die_reference_size(const struct die_unit *unit)
{
    return unit->version == 2 ? unit->address_size : unit->offset_size;
}

/* Reads a number of size bytes, at most 8. Returns false if there are fewer bytes. */
static inline bool die_read(const struct dies *dies, struct cursor *cursor, unsigned size,
                            uint64_t *ret)
{
    uint64_t value = 0;
    if (cursor_left(cursor) < size)
        return false;
    if (dies->big_endian)
        for (unsigned i = 0; i < size; i++)
            value = value << 8 | cursor->at[i];
    else
        for (unsigned i = size; i-- > 0;)
            value = value << 8 | cursor->at[i];
    cursor->at += size;
    *ret = value;
    return true;
}

/* Reads a signed LEB128. Returns false if it does not end, or is too long. */
bool die_read_signed(struct cursor *cursor, uint64_t *ret);

/* Reads a number by its index in a table, which begins at base in a section and has size bytes for
 * each number. Returns false if the section does not have the number. */
bool die_read_indexed(const struct dies *dies, const struct g2h_bytes *section, uint64_t base,
                      uint64_t index, unsigned size, uint64_t *ret);

/* Reads the headers of units, and the abbreviations (die_units.c). Error: G2H_ERROR_MEMORY. */
struct g2h_error *dies_read_units(struct dies *dies);

#endif
