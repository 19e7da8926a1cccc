/* die_lists: expressions, location lists and range lists; see die.h. DWARF 5, sections 2.5, 2.6 and
 * 2.17. */
#include "exe/dwarf/die_values.h"

/* ---- expressions ---- */

/* Reads one operation and its operands (DWARF 5, section 7.7). Returns false if it cannot be read,
 * or is not known. */
static bool read_operation(const struct dies *dies, const struct die_unit *unit,
                           struct cursor *cursor, struct die_operation *ret)
{
    uint64_t atom = 0;
    if (!die_read(dies, cursor, 1, &atom))
        return false;
    *ret = (struct die_operation){.atom = (uint8_t)atom};
    switch (ret->atom) {
    case DW_OP_addr:
        return die_read(dies, cursor, unit->address_size, &ret->number);
    case DW_OP_const1u:
    case DW_OP_pick:
    case DW_OP_deref_size:
    case DW_OP_xderef_size:
        return die_read(dies, cursor, 1, &ret->number);
    case DW_OP_const1s:
        if (!die_read(dies, cursor, 1, &ret->number))
            return false;
        ret->number = (uint64_t)(int8_t)ret->number;
        return true;
    case DW_OP_const2u:
        return die_read(dies, cursor, 2, &ret->number);
    case DW_OP_const2s:
    case DW_OP_bra:
    case DW_OP_skip:
    case DW_OP_call2:
        if (!die_read(dies, cursor, 2, &ret->number))
            return false;
        ret->number = (uint64_t)(int16_t)ret->number;
        return true;
    case DW_OP_const4u:
        return die_read(dies, cursor, 4, &ret->number);
    case DW_OP_const4s:
    case DW_OP_call4:
    case DW_OP_GNU_parameter_ref:
        if (!die_read(dies, cursor, 4, &ret->number))
            return false;
        ret->number = (uint64_t)(int32_t)ret->number;
        return true;
    case DW_OP_const8u:
    case DW_OP_const8s:
        return die_read(dies, cursor, 8, &ret->number);
    case DW_OP_constu:
    case DW_OP_plus_uconst:
    case DW_OP_regx:
    case DW_OP_piece:
    case DW_OP_addrx:
    case DW_OP_constx:
    case DW_OP_convert:
    case DW_OP_reinterpret:
    case DW_OP_GNU_addr_index:
    case DW_OP_GNU_const_index:
    case DW_OP_GNU_convert:
    case DW_OP_GNU_reinterpret:
        return cursor_uvarint(cursor, &ret->number);
    case DW_OP_consts:
    case DW_OP_fbreg:
        return die_read_signed(cursor, &ret->number);
    case DW_OP_bregx:
        return cursor_uvarint(cursor, &ret->number) && die_read_signed(cursor, &ret->number2);
    case DW_OP_bit_piece:
    case DW_OP_regval_type:
    case DW_OP_GNU_regval_type:
        return cursor_uvarint(cursor, &ret->number) && cursor_uvarint(cursor, &ret->number2);
    case DW_OP_deref_type:
    case DW_OP_xderef_type:
    case DW_OP_GNU_deref_type:
        return die_read(dies, cursor, 1, &ret->number) && cursor_uvarint(cursor, &ret->number2);
    case DW_OP_implicit_value:
    case DW_OP_entry_value:
    case DW_OP_GNU_entry_value:
        return cursor_uvarint(cursor, &ret->number) && cursor_skip(cursor, ret->number);
    case DW_OP_const_type:
    case DW_OP_GNU_const_type:
        return cursor_uvarint(cursor, &ret->number) && die_read(dies, cursor, 1, &ret->number2) &&
               cursor_skip(cursor, ret->number2);
    case DW_OP_call_ref:
    case DW_OP_GNU_variable_value:
        return die_read(dies, cursor, unit->offset_size, &ret->number);
    case DW_OP_implicit_pointer:
    case DW_OP_GNU_implicit_pointer:
        return die_read(dies, cursor, unit->offset_size, &ret->number) &&
               die_read_signed(cursor, &ret->number2);
    default:
        break;
    }
    if (ret->atom >= DW_OP_breg0 && ret->atom <= DW_OP_breg31)
        return die_read_signed(cursor, &ret->number);
    /* All other operations of DWARF, and the following two of GNU, have no operands. */
    return ret->atom == DW_OP_deref || (ret->atom >= DW_OP_dup && ret->atom < DW_OP_breg0) ||
           (ret->atom >= DW_OP_nop && ret->atom <= DW_OP_stack_value) ||
           ret->atom == DW_OP_GNU_push_tls_address || ret->atom == DW_OP_GNU_uninit;
}

/* Narrows an attribute to the bytes of its expression. Go writes blocks where DWARF 4 requires
 * DW_FORM_exprloc. Returns false if it is not an expression. */
static bool find_block(const struct dies *dies, struct die_attribute *attribute)
{
    struct cursor *value = &attribute->value;
    uint64_t size;
    bool good = false;
    switch (attribute->spec->form) {
    case DW_FORM_exprloc:
    case DW_FORM_block:
        good = cursor_uvarint(value, &size);
        break;
    case DW_FORM_block1:
        good = die_read(dies, value, 1, &size);
        break;
    case DW_FORM_block2:
        good = die_read(dies, value, 2, &size);
        break;
    case DW_FORM_block4:
        good = die_read(dies, value, 4, &size);
        break;
    default:
        break;
    }
    if (!good || size > cursor_left(value))
        return false;
    value->end = value->at + size;
    return true;
}

/* Reads an expression that consists of one operation, such as the address of a global variable. */
bool die_operation(struct dies *dies, const struct die *die, uint32_t name,
                   struct die_operation *ret)
{
    struct die_attribute attribute;
    return die_own(dies, die, name, &attribute) && find_block(dies, &attribute) &&
           read_operation(dies, die->unit, &attribute.value, ret) &&
           cursor_left(&attribute.value) == 0;
}

/* ---- lists ---- */

/* Finds the bytes of a section from an offset to the section's end. Returns false if the section is
 * shorter. */
static bool list_at(const struct g2h_bytes *section, uint64_t offset, struct cursor *ret)
{
    if (offset >= section->size)
        return false;
    *ret = (struct cursor){section->data + offset, section->data + section->size};
    return true;
}

/*
 * Finds the list that an attribute refers to. Up to DWARF 4 the attribute is an offset in
 * section_4. From DWARF 5 on it is either an offset in section_5 or an index into the unit's
 * table of offsets, which begins at base in section_5. Returns false if there is none, or it is
 * damaged.
 */
static bool find_list(struct dies *dies, struct die_attribute attribute,
                      const struct g2h_bytes *section_4, const struct g2h_bytes *section_5,
                      uint64_t base, struct cursor *ret)
{
    const struct die_unit *unit = attribute.unit;
    uint64_t number, index;
    switch (attribute.spec->form) {
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
        if (!cursor_uvarint(&attribute.value, &index) ||
            !die_read_indexed(dies, section_5, base, index, unit->offset_size, &number))
            return false;
        number += base;
        break;
    case DW_FORM_data4:
    case DW_FORM_data8:
    case DW_FORM_sec_offset:
        if (!die_attribute_number(dies, attribute, &number))
            return false;
        break;
    default:
        return false;
    }
    return list_at(unit->version < 5 ? section_4 : section_5, number, ret);
}

/* The kinds of entries in location lists and range lists. DWARF 5 has different numbers for them in
 * the two kinds of lists. */
enum list_entry {
    ENTRY_END,
    ENTRY_BASEX,
    ENTRY_STARTX_ENDX,
    ENTRY_STARTX_LENGTH,
    ENTRY_OFFSETS,
    ENTRY_DEFAULT,
    ENTRY_BASE,
    ENTRY_START_END,
    ENTRY_START_LENGTH,
    ENTRY_UNKNOWN,
};

/* Reads the next entry of a list of DWARF 5 that has bounds. Entries without bounds change *base,
 * which offsets are relative to. Returns false at the list's end. */
static bool read_entry_5(struct dies *dies, const struct die_unit *unit, struct cursor *list,
                         bool is_location, uint64_t *base, struct range *ret)
{
    static const uint8_t of_locations[] = {
        [DW_LLE_end_of_list] = ENTRY_END,           [DW_LLE_base_addressx] = ENTRY_BASEX,
        [DW_LLE_startx_endx] = ENTRY_STARTX_ENDX,   [DW_LLE_startx_length] = ENTRY_STARTX_LENGTH,
        [DW_LLE_offset_pair] = ENTRY_OFFSETS,       [DW_LLE_default_location] = ENTRY_DEFAULT,
        [DW_LLE_base_address] = ENTRY_BASE,         [DW_LLE_start_end] = ENTRY_START_END,
        [DW_LLE_start_length] = ENTRY_START_LENGTH,
    };
    static const uint8_t of_ranges[] = {
        [DW_RLE_end_of_list] = ENTRY_END,         [DW_RLE_base_addressx] = ENTRY_BASEX,
        [DW_RLE_startx_endx] = ENTRY_STARTX_ENDX, [DW_RLE_startx_length] = ENTRY_STARTX_LENGTH,
        [DW_RLE_offset_pair] = ENTRY_OFFSETS,     [DW_RLE_base_address] = ENTRY_BASE,
        [DW_RLE_start_end] = ENTRY_START_END,     [DW_RLE_start_length] = ENTRY_START_LENGTH,
    };
    const uint8_t *kinds = is_location ? of_locations : of_ranges;
    const size_t count = is_location ? sizeof(of_locations) : sizeof(of_ranges);
    const unsigned size = unit->address_size;
    uint64_t kind, low, high, length;
    while (die_pay(dies, 1) && die_read(dies, list, 1, &kind)) {
        switch (kind < count ? (enum list_entry)kinds[kind] : ENTRY_UNKNOWN) {
        case ENTRY_BASEX:
            if (!cursor_uvarint(list, &low) || !die_address(dies, unit, low, base))
                return false;
            continue;
        case ENTRY_BASE:
            if (!die_read(dies, list, size, base))
                return false;
            continue;
        case ENTRY_STARTX_ENDX:
            return cursor_uvarint(list, &low) && cursor_uvarint(list, &high) &&
                   die_address(dies, unit, low, &ret->begin) &&
                   die_address(dies, unit, high, &ret->end);
        case ENTRY_STARTX_LENGTH:
            if (!cursor_uvarint(list, &low) || !cursor_uvarint(list, &length) ||
                !die_address(dies, unit, low, &ret->begin))
                return false;
            ret->end = ret->begin + length;
            return true;
        case ENTRY_OFFSETS:
            if (!cursor_uvarint(list, &low) || !cursor_uvarint(list, &high))
                return false;
            *ret = (struct range){*base + low, *base + high};
            return true;
        case ENTRY_DEFAULT:
            *ret = (struct range){0, UINT64_MAX};
            return true;
        case ENTRY_START_END:
            return die_read(dies, list, size, &ret->begin) && die_read(dies, list, size, &ret->end);
        case ENTRY_START_LENGTH:
            if (!die_read(dies, list, size, &ret->begin) || !cursor_uvarint(list, &length))
                return false;
            ret->end = ret->begin + length;
            return true;
        default:
            return false;
        }
    }
    return false;
}

/* Does the same for a list of DWARF 2 to 4: pairs of offsets, in which two zeros are the end, and
 * the largest number is followed by a new base. Returns false at the end. */
static bool read_entry_4(struct dies *dies, const struct die_unit *unit, struct cursor *list,
                         uint64_t *base, struct range *ret)
{
    const unsigned size = unit->address_size;
    const uint64_t base_marker = size == 8 ? UINT64_MAX : UINT32_MAX;
    uint64_t low, high;
    while (die_pay(dies, 1) && die_read(dies, list, size, &low) &&
           die_read(dies, list, size, &high)) {
        if (low == 0 && high == 0)
            return false;
        if (low == base_marker) {
            *base = high;
            continue;
        }
        *ret = (struct range){*base + low, *base + high};
        return true;
    }
    return false;
}

/* ---- locations ---- */

/* Reads all operations of an expression; if one is not known, there are none. Returns false if
 * memory runs out. */
static bool read_operations(struct dies *dies, const struct die_unit *unit, struct cursor block,
                            die_operation_vector *ret)
{
    struct die_operation operation;
    while (cursor_left(&block) > 0) {
        if (!die_pay(dies, 1) || !read_operation(dies, unit, &block, &operation)) {
            ret->count = 0;
            break;
        }
        if (!vector_push(ret, operation))
            return false;
    }
    return true;
}

/* The location is an expression, or a list of expressions with the addresses of code where each is
 * valid. */
bool die_location(struct dies *dies, const struct die *die, uint64_t address,
                  die_operation_vector *ret)
{
    const struct die_unit *unit = die->unit;
    struct die_attribute attribute;
    struct cursor list;
    struct range code;
    uint64_t size, base = unit->base;
    ret->count = 0;
    if (!die_own(dies, die, DW_AT_location, &attribute))
        return true;
    if (find_block(dies, &attribute))
        return read_operations(dies, unit, attribute.value, ret);
    if (!find_list(dies, attribute, &dies->loc, &dies->loclists, unit->locations, &list))
        return true;
    while (unit->version < 5 ? read_entry_4(dies, unit, &list, &base, &code)
                             : read_entry_5(dies, unit, &list, true, &base, &code)) {
        if (!(unit->version < 5 ? die_read(dies, &list, 2, &size) : cursor_uvarint(&list, &size)) ||
            size > cursor_left(&list))
            return true;
        if (address >= code.begin && address < code.end) {
            list.end = list.at + size;
            return read_operations(dies, unit, list, ret);
        }
        list.at += size;
    }
    return true;
}

/* ---- ranges ---- */

/* Reads the bounds of an entry that has a single range (DW_AT_low_pc and DW_AT_high_pc). Returns
 * false if it does not have both. */
static bool read_bounds(struct dies *dies, const struct die *die, struct range *ret)
{
    struct die_attribute low, high;
    if (!die_own(dies, die, DW_AT_high_pc, &high) || !die_own(dies, die, DW_AT_low_pc, &low) ||
        !die_attribute_number(dies, low, &ret->begin) ||
        !die_attribute_number(dies, high, &ret->end))
        return false;
    switch (high.spec->form) {
    case DW_FORM_addr:
    case DW_FORM_addrx:
    case DW_FORM_addrx1:
    case DW_FORM_addrx2:
    case DW_FORM_addrx3:
    case DW_FORM_addrx4:
        break;
    default: /* an offset, from DWARF 4 on */
        ret->end += ret->begin;
    }
    return true;
}

/* The first call reads the entry's single range, if it has one; otherwise each call reads the next
 * range of its list. */
bool die_range(struct dies *dies, const struct die *die, struct die_ranges *ranges,
               struct range *ret)
{
    const struct die_unit *unit = die->unit;
    struct die_attribute attribute;
    if (!ranges->is_begun) {
        ranges->is_begun = true;
        if (read_bounds(dies, die, ret))
            return true;
        ranges->base = unit->base;
        ranges->is_list =
            die_own(dies, die, DW_AT_ranges, &attribute) &&
            find_list(dies, attribute, &dies->ranges, &dies->rnglists, unit->ranges, &ranges->list);
    }
    if (!ranges->is_list)
        return false;
    return unit->version < 5 ? read_entry_4(dies, unit, &ranges->list, &ranges->base, ret)
                             : read_entry_5(dies, unit, &ranges->list, false, &ranges->base, ret);
}
