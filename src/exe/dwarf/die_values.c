/* die_values; see die_values.h. */
#include "exe/dwarf/die_values.h"

/* Reads a signed LEB128: seven bits per byte, the lowest first; bit 6 of the last byte is the
 * sign. */
bool die_read_signed(struct cursor *cursor, uint64_t *ret)
{
    uint64_t value = 0;
    unsigned shift = 0;
    while (cursor->at < cursor->end && shift < 70) {
        const uint8_t byte = *cursor->at++;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
        if (byte < 0x80) {
            if (shift < 64 && (byte & 0x40) != 0)
                value |= UINT64_MAX << shift;
            *ret = value;
            return true;
        }
    }
    return false;
}

/* The size lets an entry be skipped without interpreting it. */
uint8_t die_size_of_form(uint64_t form)
{
    switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
        return 0;
    case DW_FORM_data1:
    case DW_FORM_flag:
    case DW_FORM_ref1:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
        return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
        return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
        return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_ref_sup4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
        return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
        return 8;
    case DW_FORM_data16:
        return 16;
    case DW_FORM_addr:
        return SIZE_ADDRESS;
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_sec_offset:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
        return SIZE_OFFSET;
    case DW_FORM_ref_addr:
        return SIZE_REFERENCE;
    case DW_FORM_sdata:
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
        return SIZE_LEB;
    case DW_FORM_string:
        return SIZE_TEXT;
    case DW_FORM_block1:
        return SIZE_BLOCK1;
    case DW_FORM_block2:
        return SIZE_BLOCK2;
    case DW_FORM_block4:
        return SIZE_BLOCK4;
    case DW_FORM_block:
    case DW_FORM_exprloc:
        return SIZE_BLOCK;
    default: /* forms of vendors, and DW_FORM_indirect, which is not used in practice */
        return SIZE_UNKNOWN;
    }
}

/* The order of the checks avoids overflow: index * size is computed only once index is known to be
 * small. */
bool die_read_indexed(const struct dies *dies, const struct g2h_bytes *section, uint64_t base,
                      uint64_t index, unsigned size, uint64_t *ret)
{
    if (index > section->size / size || base > section->size || index * size > section->size - base)
        return false;
    struct cursor cursor = {section->data + base + index * size, section->data + section->size};
    return die_read(dies, &cursor, size, ret);
}

bool die_address(const struct dies *dies, const struct die_unit *unit, uint64_t index,
                 uint64_t *ret)
{
    return die_read_indexed(dies, &dies->addr, unit->addresses, index, unit->address_size, ret);
}
