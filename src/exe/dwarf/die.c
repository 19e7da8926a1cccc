/*
 * die: reads the entries of DWARF 2 to 5 and their attributes; see die.h. The parts: forms, the
 * encodings of values; units and their abbreviations, which are read once; entries, which are
 * positions and are decoded each time; and what attributes may lead to: expressions, lists of
 * locations, lists of ranges. Each request takes its price from work_left, so that damaged DWARF
 * takes bounded time.
 */
#include "exe/dwarf/die.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"

/* ==== the encoding of attribute values: DWARF 5, section 7.5 ==== */

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

/* Reads a signed LEB128: seven bits per byte, the lowest first; bit 6 of the last byte is the sign.
 * Returns false if it does not end, or has more than ten bytes. */
static bool die_read_signed(struct cursor *cursor, uint64_t *ret)
{
    uint64_t value = 0;
    unsigned shift = 0;
    while (cursor->at < cursor->end && shift < 10 * 7) {
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

/* Returns the size of the values of a form, DW_FORM_…, by which an entry can be skipped without
 * interpreting it: a number of bytes, or one of the constants SIZE_…. */
static uint8_t die_size_of_form(uint64_t form)
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

/*
 * Reads a number by its index in a table, which begins at base in a section and has size bytes for
 * each number. Returns false if the section does not have the number.
 *
 * The order of the checks avoids overflow: index * size is computed only once index is known to be
 * small.
 */
static bool die_read_indexed(const struct dies *dies, const struct g2h_bytes *section,
                             uint64_t base, uint64_t index, unsigned size, uint64_t *ret)
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

/* ==== reads the headers of units, and their abbreviations ====
 *
 * DWARF 5, section 7.5.
 */

/* ---- abbreviations ---- */

/* Sorts by code; of abbreviations with the same code, the one that was read first comes first. */
static int compare_abbreviations(const void *a, const void *b)
{
    const struct die_abbreviation *one = a;
    const struct die_abbreviation *other = b;
    if (one->code != other->code)
        return COMPARE(one->code, other->code);
    return COMPARE(one->first, other->first);
}

/* Reads the attributes of an abbreviation. Returns false if the section ends before they do, or if
 * memory runs out; in the latter case it sets *ret_memory to false, too. */
static bool read_specs(struct dies *dies, struct cursor *cursor,
                       struct die_abbreviation *abbreviation, bool *ret_memory)
{
    abbreviation->first = as_u32(dies->specs.count);
    for (;;) {
        uint64_t name, form, number = 0;
        if (!cursor_uvarint(cursor, &name) || !cursor_uvarint(cursor, &form) ||
            (form == DW_FORM_implicit_const && !die_read_signed(cursor, &number)))
            return false;
        if (name == 0 && form == 0)
            return true;
        struct die_spec spec = {.name = UINT32_MAX,
                                .form = UINT16_MAX, /* of numbers that no attribute has */
                                .size = die_size_of_form(form),
                                .number = (int64_t)number};
        if (name < UINT32_MAX)
            spec.name = (uint32_t)name;
        if (form < UINT16_MAX)
            spec.form = (uint16_t)form;
        *ret_memory = dies->specs.count < UINT32_MAX && vector_push(&dies->specs, spec);
        if (!*ret_memory)
            return false;
        abbreviation->count++;
        abbreviation->has_sibling |= name == DW_AT_sibling;
        /* Sums of sizes: find_end() gets the size of an entry from these. */
        abbreviation->is_fixed &= spec.size <= SIZE_REFERENCE;
        abbreviation->bytes += spec.size <= SIZE_BYTES_MOST ? spec.size : 0;
        abbreviation->addresses += spec.size == SIZE_ADDRESS;
        abbreviation->offsets += spec.size == SIZE_OFFSET;
        abbreviation->references += spec.size == SIZE_REFERENCE;
    }
}

/* Reads the table of abbreviations at an offset of .debug_abbrev, as far as it can be read. Tables
 * may overlap, so *left is the number of bytes that may still be read. Returns false if memory runs
 * out. */
static bool read_abbreviations(struct dies *dies, uint64_t offset, uint64_t *left,
                               struct die_table *ret)
{
    const uint64_t size = dies->abbrev.size - offset;
    const uint8_t *start = dies->abbrev.data + offset;
    struct cursor cursor = {start, start + MIN(size, *left)};
    bool is_sorted = true, memory = true;
    uint64_t last = 0, code, tag, children;
    *ret = (struct die_table){.first = dies->abbreviations.count};
    while (cursor_uvarint(&cursor, &code) && code != 0 && code <= UINT32_MAX &&
           cursor_uvarint(&cursor, &tag) && die_read(dies, &cursor, 1, &children)) {
        struct die_abbreviation own = {.code = (uint32_t)code,
                                       .tag = tag < UINT32_MAX ? (uint32_t)tag : UINT32_MAX,
                                       .has_children = children != 0,
                                       .is_fixed = true};
        const size_t before = dies->specs.count;
        const bool good = read_specs(dies, &cursor, &own, &memory);
        if (!good)
            dies->specs.count = before;
        if (!memory || (good && !vector_push(&dies->abbreviations, own)))
            return false;
        if (!good)
            break;
        is_sorted = is_sorted && code > last;
        last = code;
        ret->count++;
    }
    *left -= as_size(cursor.at - start);
    if (!is_sorted)
        qsort(dies->abbreviations.data + ret->first, (size_t)ret->count,
              sizeof(*dies->abbreviations.data), compare_abbreviations);
    _asserted_ const struct die_abbreviation *list = dies->abbreviations.data;
    assert(IS_ORDERED(i, ret->count,
                      list[ret->first + i - 1].code <= list[ret->first + i].code)); /* for
                                                                      find_abbreviation() */
    return true;
}

/* ---- units ---- */

/* Reads the header of a unit (DWARF 5, section 7.5.1); *ret_abbrev is the offset of its
 * abbreviations in .debug_abbrev. Its length is 32 bits, or ffffffff and 64 bits in 64-bit DWARF.
 * Returns false if the header cannot be read, or is not of DWARF 2 to 5 with addresses of 4 or 8
 * bytes. */
static bool read_unit_header(const struct dies *dies, uint64_t start, struct die_unit *ret,
                             uint64_t *ret_abbrev)
{
    struct cursor cursor = {dies->info.data + start, dies->info.data + dies->info.size};
    uint64_t length, version, type = DW_UT_compile, address_size;
    *ret = (struct die_unit){.start = start, .offset_size = 4};
    if (!die_read(dies, &cursor, 4, &length))
        return false;
    if (length == 0xffffffff) {
        ret->offset_size = 8;
        if (!die_read(dies, &cursor, 8, &length))
            return false;
    }
    if (length > cursor_left(&cursor))
        return false;
    cursor.end = cursor.at + length;
    ret->end = as_size(cursor.end - dies->info.data);
    if (!die_read(dies, &cursor, 2, &version) || version < 2 || version > 5)
        return false;
    if (version >= 5) {
        if (!die_read(dies, &cursor, 1, &type) || !die_read(dies, &cursor, 1, &address_size) ||
            !die_read(dies, &cursor, ret->offset_size, ret_abbrev))
            return false;
    } else if (!die_read(dies, &cursor, ret->offset_size, ret_abbrev) ||
               !die_read(dies, &cursor, 1, &address_size)) {
        return false;
    }
    if (address_size != 4 && address_size != 8)
        return false;
    if (type == DW_UT_type || type == DW_UT_split_type) {
        if (!die_read(dies, &cursor, 8, &ret->signature) ||
            !die_read(dies, &cursor, ret->offset_size, &ret->type))
            return false;
    } else if ((type == DW_UT_skeleton || type == DW_UT_split_compile) &&
               !cursor_skip(&cursor, 8 /* dwo_id */)) {
        return false;
    }
    ret->version = (uint16_t)version;
    ret->address_size = (uint8_t)address_size;
    ret->entry = as_size(cursor.at - dies->info.data);
    return *ret_abbrev <= dies->abbrev.size;
}

/* Finds the start of the unit's parts of other sections: after the sections' headers (DWARF 5,
 * sections 7.26 to 7.29), unless the unit's first entry has other offsets. The headers begin with
 * the length, which has 8 bytes more in 64-bit DWARF, and have 8 or 12 bytes otherwise. */
static void read_unit_bases(struct dies *dies, struct die_unit *unit, size_t index)
{
    struct die die;
    struct die_attribute attribute;
    const uint64_t wide = unit->offset_size == 8 ? 8 : 0;
    struct {
        uint32_t name;
        uint64_t *base;
    } bases[] = {{DW_AT_addr_base, &unit->addresses},
                 {DW_AT_str_offsets_base, &unit->texts},
                 {DW_AT_rnglists_base, &unit->ranges},
                 {DW_AT_loclists_base, &unit->locations},
                 {DW_AT_low_pc, &unit->base}};
    unit->addresses = unit->texts = 8 + wide;   /* .debug_addr, .debug_str_offsets */
    unit->ranges = unit->locations = 12 + wide; /* .debug_rnglists, .debug_loclists */
    if (!die_of_unit(dies, index, &die))
        return;
    for (size_t i = 0; i < COUNT_OF(bases); i++)
        if (die_own(dies, &die, bases[i].name, &attribute))
            die_attribute_number(dies, attribute, bases[i].base);
}

/* Adds a unit, and its abbreviations unless an earlier unit has the same table: tables has these by
 * their offsets. *left: see read_abbreviations(). Returns false if memory runs out. */
static bool add_unit(struct dies *dies, struct die_unit *unit, uint64_t abbrev, struct map *tables,
                     uint64_t *left)
{
    struct die_table table;
    unit->table = map_get(tables, abbrev);
    if (unit->table == MAP_NONE) {
        const uint32_t number = as_u32(dies->tables.count);
        if (!read_abbreviations(dies, abbrev, left, &table) || !vector_push(&dies->tables, table) ||
            !map_put(tables, abbrev, number, &unit->table))
            return false;
    }
    const size_t index = dies->units.count;
    uint32_t first;
    if (!vector_push(&dies->units, *unit) ||
        (unit->type != 0 && !map_put(&dies->type_units, unit->signature, as_u32(index), &first)))
        return false;
    read_unit_bases(dies, &dies->units.data[index], index);
    return true;
}

/*
 * Reads the headers of units, and the abbreviations. Error: G2H_ERROR_MEMORY.
 *
 * Units share tables of abbreviations, so each table is read once. The limits keep damaged files
 * from taking long.
 */
static struct g2h_error *dies_read_units(struct dies *dies)
{
    _cleanup_(map_deinit) struct map tables = {0};
    struct die_unit unit;
    uint64_t abbrev;
    uint64_t left = 2 * dies->abbrev.size;
    const struct die_spec none = {.size = 0}; /* so that specs.data is never NULL */
    if (!vector_push(&dies->specs, none))
        return &error_no_memory;
    dies->work_left = 4 * dies->info.size;
    for (uint64_t start = 0; start < dies->info.size && dies->units.count < MAP_NONE - 1 &&
                             read_unit_header(dies, start, &unit, &abbrev);
         start = unit.end)
        if (!add_unit(dies, &unit, abbrev, &tables, &left))
            return &error_no_memory;
    return NULL;
}

/* ==== entries and their attributes ====
 *
 * Opens DWARF, and reads entries and their attributes. DWARF 5, chapter 2.
 */

enum {
    NAME_MOST = 1 << 16, /* bytes of a name */
    ORIGINS_MOST = 4,    /* steps from an entry to its origin or declaration */
};

/* ---- opening ---- */

/* Reads the contents of a section. They are empty if there is no such section, it is damaged, or it
 * is larger than *left, the number of bytes that all sections may still have. */
static struct g2h_error *die_read_section(struct image *image, const char *name, uint64_t *left,
                                          struct g2h_bytes *ret)
{
    const struct image_section *section = image_section(image, name);
    struct g2h_bytes contents = {(const uint8_t *)"", 0};
    *ret = contents;
    struct g2h_error *error = section ? image_section_contents(image, section, &contents) : NULL;
    if (error && error->code == G2H_ERROR_MEMORY)
        return error;
    if (!error && contents.size <= *left) {
        *left -= contents.size;
        *ret = contents;
    }
    g2h_error_destroy(error);
    return NULL;
}

/* In the order in which they are read. */
static const char *const section_names[] = {
    ".debug_abbrev",   ".debug_addr",   ".debug_info",     ".debug_line_str",    ".debug_loc",
    ".debug_loclists", ".debug_ranges", ".debug_rnglists", ".debug_str_offsets", ".debug_str",
};

enum { SECTIONS = COUNT_OF(section_names) };

struct g2h_error *dies_inflate(struct image *image, unsigned threads)
{
    return image_inflate(image, section_names, SECTIONS, threads);
}

/* Reads all sections before the units: entries refer to strings, addresses and lists in the
 * others. */
struct g2h_error *dies_init(struct dies *dies, struct image *image)
{
    *dies = (struct dies){.big_endian = image->big_endian};
    struct g2h_bytes *const sections[SECTIONS] = {
        &dies->abbrev,   &dies->addr,   &dies->info,     &dies->line_str,    &dies->loc,
        &dies->loclists, &dies->ranges, &dies->rnglists, &dies->str_offsets, &dies->str,
    };
    uint64_t left = image_debug_most(image);
    for (size_t i = 0; i < SECTIONS; i++)
        TRY(die_read_section(image, section_names[i], &left, sections[i]));
    return dies_read_units(dies);
}

void dies_deinit(struct dies *dies)
{
    free(dies->units.data);
    free(dies->tables.data);
    free(dies->abbreviations.data);
    free(dies->specs.data);
    map_deinit(&dies->type_units);
    *dies = (struct dies){0};
}

/* ---- entries ---- */

/* Returns the abbreviation with a code in the table of a unit, or NULL. An abbreviation says which
 * attributes an entry has, and in which form. */
static inline const struct die_abbreviation *
find_abbreviation(const struct dies *dies, const struct die_unit *unit, uint64_t code)
{
    const struct die_table *table = &dies->tables.data[unit->table];
    if (table->count == 0)
        return NULL;
    const struct die_abbreviation *list = dies->abbreviations.data + table->first;
    /* Usually the codes are 1, 2, 3 … */
    if (code - 1 < table->count && list[code - 1].code == code)
        return &list[code - 1];
    uint64_t at;
    BISECT(at, table->count, list[at].code < code);
    return at < table->count && list[at].code == code ? &list[at] : NULL;
}

/* Reads the code that the entry at an offset begins with. Returns NULL if a list of siblings ends
 * there, or the entry cannot be read. */
static inline const struct die_abbreviation *read_code(struct dies *dies,
                                                       const struct die_unit *unit, uint64_t offset,
                                                       const uint8_t **ret_values)
{
    struct cursor cursor = {dies->info.data + offset, dies->info.data + unit->end};
    uint64_t code = 0;
    if (!die_pay(dies, 1))
        return NULL;
    if (cursor.at < cursor.end && *cursor.at < 0x80)
        code = *cursor.at++;
    else if (!cursor_uvarint(&cursor, &code))
        return NULL;
    *ret_values = cursor.at;
    return code != 0 ? find_abbreviation(dies, unit, code) : NULL;
}

/* Reads the entry that begins at an offset. Returns false if a list of siblings ends there, or the
 * entry cannot be read. */
static inline bool read_entry(struct dies *dies, const struct die_unit *unit, uint64_t offset,
                              struct die *ret)
{
    const uint8_t *values;
    const struct die_abbreviation *abbreviation = read_code(dies, unit, offset, &values);
    if (abbreviation)
        *ret = (struct die){offset, unit, abbreviation, values, 0};
    return abbreviation != NULL;
}

/* Finds the first entry of a unit, the ancestor of all its other entries. Returns false if it
 * cannot be read. */
bool die_of_unit(struct dies *dies, size_t index, struct die *ret)
{
    const struct die_unit *unit = &dies->units.data[index];
    return read_entry(dies, unit, unit->entry, ret);
}

/* Reads the entry at an offset of .debug_info. Returns false if it is in no unit, or cannot be
 * read. Most references lead to the unit that the one before led to, which has the types. */
bool die_at(struct dies *dies, uint64_t offset, struct die *ret)
{
    const struct die_unit *unit = &dies->units.data[dies->last_unit];
    size_t after;
    if (dies->units.count == 0)
        return false;
    if (offset < unit->start || offset >= unit->end) {
        BISECT(after, dies->units.count, dies->units.data[after].start <= offset);
        if (after == 0)
            return false;
        dies->last_unit = after - 1;
        unit = &dies->units.data[after - 1];
    }
    return offset >= unit->entry && offset < unit->end && read_entry(dies, unit, offset, ret);
}

/* Skips a block whose length has size bytes. Returns where it ends, or NULL if it does not. */
static const uint8_t *skip_block(const struct dies *dies, unsigned size, struct cursor cursor)
{
    uint64_t length;
    return die_read(dies, &cursor, size, &length) && cursor_skip(&cursor, length) ? cursor.at
                                                                                  : NULL;
}

/* Skips a text. Returns where it ends, or NULL if it does not. Most are names of a few characters:
 * eight bytes are looked at before memchr() is called for the rest. */
static inline const uint8_t *skip_text(const uint8_t *at, const uint8_t *end)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t eight;
    if (end - at >= 8) {
        memcpy(&eight, at, 8);
        /* The lowest bit that is set belongs to the first byte that is 0. */
        const uint64_t zeros = (eight - 0x0101010101010101) & ~eight & 0x8080808080808080;
        if (zeros != 0)
            return at + __builtin_ctzll(zeros) / 8 + 1;
        at += 8;
    }
#endif
    const uint8_t *zero = memchr(at, 0, as_size(end - at));
    return zero ? zero + 1 : NULL;
}

/* Skips the values of the first count attributes that specs says. Returns where they end, or NULL
 * if one does not end before the unit does, or its size is not known. */
static inline const uint8_t *skip_values(const struct dies *dies, const struct die_unit *unit,
                                         const struct die_spec *specs, uint32_t count,
                                         const uint8_t *at)
{
    const uint8_t *const end = dies->info.data + unit->end;
    for (const struct die_spec *spec = specs; spec < specs + count; spec++) {
        uint64_t size = spec->size;
        struct cursor cursor = {at, end};
        switch (spec->size) {
        case SIZE_ADDRESS:
            size = unit->address_size;
            break;
        case SIZE_OFFSET:
            size = unit->offset_size;
            break;
        case SIZE_REFERENCE:
            size = die_reference_size(unit);
            break;
        case SIZE_LEB:
            while (at < end && *at >= 0x80)
                at++;
            size = 1;
            break;
        case SIZE_TEXT:
            at = skip_text(at, end);
            size = 0;
            break;
        case SIZE_BLOCK1:
        case SIZE_BLOCK2:
        case SIZE_BLOCK4:
            at = skip_block(dies, UINT32_C(1) << (spec->size - SIZE_BLOCK1), cursor);
            size = 0;
            break;
        case SIZE_BLOCK:
            at = cursor_uvarint(&cursor, &size) ? cursor.at : NULL;
            break;
        case SIZE_UNKNOWN:
            return NULL;
        default:
            break;
        }
        if (!at || size > as_size(end - at))
            return NULL;
        at += size;
    }
    return at;
}

/* Finds the end of the values of an entry's attributes, where the next entry begins. Returns false
 * if the entry is damaged or too much has been read. */
static inline bool find_end(struct dies *dies, const struct die_unit *unit,
                            const struct die_abbreviation *own, const uint8_t *values,
                            uint64_t *ret)
{
    const uint64_t start = as_size(values - dies->info.data);
    /* Attributes of known sizes need not be read one by one. */
    if (own->is_fixed) {
        const uint64_t size = own->bytes + (uint64_t)own->addresses * unit->address_size +
                              (uint64_t)own->offsets * unit->offset_size +
                              (uint64_t)own->references * die_reference_size(unit);
        *ret = start + size;
        return size <= unit->end - start;
    }
    if (!die_pay(dies, own->count))
        return false;
    const uint8_t *end = skip_values(dies, unit, dies->specs.data + own->first, own->count, values);
    *ret = end ? as_size(end - dies->info.data) : 0;
    return end != NULL;
}

/* Finds the first child of an entry. Returns false if it has none. */
bool die_child(struct dies *dies, const struct die *die, struct die *ret)
{
    uint64_t offset;
    return die->abbreviation->has_children &&
           find_end(dies, die->unit, die->abbreviation, die->values, &offset) &&
           read_entry(dies, die->unit, offset, ret);
}

/* Finds an entry's next sibling by DW_AT_sibling, which is a shortcut past all entries below.
 * Returns false if it has none in this form. */
static bool find_sibling(struct dies *dies, const struct die *die, uint64_t *ret)
{
    struct die_attribute attribute;
    uint64_t number;
    if (!die_own(dies, die, DW_AT_sibling, &attribute) ||
        (attribute.spec->form != DW_FORM_ref4 && attribute.spec->form != DW_FORM_ref_udata &&
         attribute.spec->form != DW_FORM_ref1 && attribute.spec->form != DW_FORM_ref2))
        return false;
    if (attribute.spec->size == SIZE_LEB
            ? !cursor_uvarint(&attribute.value, &number)
            : !die_read(dies, &attribute.value, attribute.spec->size, &number))
        return false;
    *ret = die->unit->start + number;
    return *ret > die->offset && *ret < die->unit->end;
}

/* Goes on to the next sibling of an entry; false if there is none. Entries follow each other in
 * preorder: without DW_AT_sibling all entries below must be read to get to the next sibling. level
 * is how deep they are. */
bool die_next(struct dies *dies, struct die *die)
{
    const struct die_unit *unit = die->unit;
    const struct die_abbreviation *now = die->abbreviation;
    const uint8_t *values = die->values;
    uint64_t level = 0, offset = die->offset;
    for (;;) {
        const bool is_past_children =
            now->has_sibling &&
            find_sibling(dies, &(struct die){offset, unit, now, values, 0}, &offset);
        if (!is_past_children && !find_end(dies, unit, now, values, &offset))
            return false;
        level += now->has_children && !is_past_children;
        /* Each zero ends a list of siblings. */
        while (level > 0 && offset < unit->end && dies->info.data[offset] == 0) {
            if (!die_pay(dies, 1))
                return false;
            level--;
            offset++;
        }
        if (offset >= unit->end)
            return false;
        if (level == 0 && dies->info.data[offset] == 0)
            die->behind = offset + 1;
        now = read_code(dies, unit, offset, &values);
        if (!now)
            return false;
        if (level == 0) {
            *die = (struct die){offset, unit, now, values, 0};
            return true;
        }
    }
}

/* Goes on to the next sibling of an entry, as die_next() does. The caller has read the entry's
 * children and knows where they end, so they are not read again. Returns false if there is none. */
bool die_next_behind(struct dies *dies, struct die *die, uint64_t behind)
{
    const struct die_unit *unit = die->unit;
    if (behind == 0 || die->abbreviation->has_sibling)
        return die_next(dies, die);
    return behind < unit->end && read_entry(dies, unit, behind, die);
}

/* ---- attributes ---- */

/* Finds an attribute of an entry itself. Attributes have no index: to get to one, all before it
 * must be skipped. die_pay() limits the work that damaged files may cause. Returns false if the
 * entry has none of that name. */
bool die_own(struct dies *dies, const struct die *die, uint32_t name, struct die_attribute *ret)
{
    const uint8_t *const end = dies->info.data + die->unit->end;
    const uint32_t count = die->abbreviation->count;
    const struct die_spec *specs = count > 0 ? dies->specs.data + die->abbreviation->first : NULL;
    uint32_t number = 0;
    while (number < count && specs[number].name != name)
        number++;
    if (!die_pay(dies, 1 + number / 4) || number == count || !die_pay(dies, number))
        return false;
    const uint8_t *at = skip_values(dies, die->unit, specs, number, die->values);
    if (!at)
        return false;
    *ret = (struct die_attribute){die->unit, &specs[number], {at, end}};
    return true;
}

/* Finds the entry that a reference leads to: by its offset in the unit, in the section, or by the
 * signature of a type unit. Returns false if there is none. */
static bool die_follow(struct dies *dies, struct die_attribute attribute, struct die *ret)
{
    const struct die_unit *unit = attribute.unit;
    uint64_t number;
    switch (attribute.spec->form) {
    case DW_FORM_ref1:
    case DW_FORM_ref2:
    case DW_FORM_ref4:
    case DW_FORM_ref8:
        if (!die_read(dies, &attribute.value, attribute.spec->size, &number))
            return false;
        break;
    case DW_FORM_ref_udata:
        if (!cursor_uvarint(&attribute.value, &number))
            return false;
        break;
    case DW_FORM_ref_addr:
        return die_read(dies, &attribute.value, die_reference_size(unit), &number) &&
               die_at(dies, number, ret);
    case DW_FORM_ref_sig8: {
        if (!die_read(dies, &attribute.value, 8, &number))
            return false;
        const uint32_t found = map_get(&dies->type_units, number);
        if (found == MAP_NONE)
            return false;
        unit = &dies->units.data[found];
        number = unit->type;
        break;
    }
    default:
        return false;
    }
    return number < unit->end - unit->start && unit->start + number >= unit->entry &&
           read_entry(dies, unit, unit->start + number, ret);
}

/* Finds an attribute of the entry itself or, if it has none of that name, of the entry that it is
 * an instance or the completion of (DW_AT_abstract_origin, DW_AT_specification), ORIGINS_MOST steps
 * at most. Returns false if none has it. */
static bool die_find(struct dies *dies, const struct die *die, uint32_t name,
                     struct die_attribute *ret)
{
    struct die_attribute origin;
    struct die next;
    struct die now = *die;
    for (int step = 0; step <= ORIGINS_MOST; step++) {
        if (die_own(dies, &now, name, ret))
            return true;
        /* An inlined instance has an abstract origin, which may have a declaration. */
        if ((!die_own(dies, &now, DW_AT_abstract_origin, &origin) &&
             !die_own(dies, &now, DW_AT_specification, &origin)) ||
            !die_follow(dies, origin, &next))
            return false;
        now = next;
    }
    return false;
}

/* Reads the value of an attribute that is a number; false if it is none. Each form encodes a number
 * differently (DWARF 5, section 7.5.6). */
bool die_attribute_number(struct dies *dies, struct die_attribute attribute, uint64_t *ret)
{
    struct cursor *value = &attribute.value;
    const struct die_unit *unit = attribute.unit;
    uint64_t index;
    switch (attribute.spec->form) {
    case DW_FORM_data1:
    case DW_FORM_data2:
    case DW_FORM_data4:
    case DW_FORM_data8:
        return die_read(dies, value, attribute.spec->size, ret);
    case DW_FORM_flag:
        if (!die_read(dies, value, 1, ret))
            return false;
        *ret = *ret != 0;
        return true;
    case DW_FORM_flag_present:
        *ret = 1;
        return true;
    case DW_FORM_implicit_const:
        *ret = (uint64_t)attribute.spec->number;
        return true;
    case DW_FORM_sdata:
        return die_read_signed(value, ret);
    case DW_FORM_udata:
        return cursor_uvarint(value, ret);
    case DW_FORM_sec_offset:
        return die_read(dies, value, unit->offset_size, ret);
    case DW_FORM_addr:
        return die_read(dies, value, unit->address_size, ret);
    case DW_FORM_addrx:
        return cursor_uvarint(value, &index) && die_address(dies, unit, index, ret);
    case DW_FORM_addrx1:
    case DW_FORM_addrx2:
    case DW_FORM_addrx3:
    case DW_FORM_addrx4:
        return die_read(dies, value, attribute.spec->size, &index) &&
               die_address(dies, unit, index, ret);
    default:
        return false;
    }
}

bool die_number(struct dies *dies, const struct die *die, uint32_t name, uint64_t *ret)
{
    struct die_attribute attribute;
    return die_find(dies, die, name, &attribute) && die_attribute_number(dies, attribute, ret);
}

/* Finds the entry that an attribute refers to. Returns false if there is none. */
bool die_reference(struct dies *dies, const struct die *die, uint32_t name, struct die *ret)
{
    struct die_attribute attribute;
    return die_find(dies, die, name, &attribute) && die_follow(dies, attribute, ret);
}

/* Finds the string that is the value of an attribute. *ret reaches to the end of the section or
 * unit that contains it. Returns false if there is none. */
static bool find_string_value(struct dies *dies, struct die_attribute attribute, struct cursor *ret)
{
    const struct die_unit *unit = attribute.unit;
    const struct g2h_bytes *section = &dies->str;
    uint64_t number, index;
    switch (attribute.spec->form) {
    case DW_FORM_string:
        *ret = attribute.value;
        return true;
    case DW_FORM_line_strp:
        section = &dies->line_str;
        /* fall through */
    case DW_FORM_strp:
        if (!die_read(dies, &attribute.value, unit->offset_size, &number))
            return false;
        break;
    case DW_FORM_strx:
    case DW_FORM_strx1:
    case DW_FORM_strx2:
    case DW_FORM_strx3:
    case DW_FORM_strx4:
        if (!(attribute.spec->size == SIZE_LEB
                  ? cursor_uvarint(&attribute.value, &index)
                  : die_read(dies, &attribute.value, attribute.spec->size, &index)) ||
            !die_read_indexed(dies, &dies->str_offsets, unit->texts, index, unit->offset_size,
                              &number))
            return false;
        break;
    default:
        return false;
    }
    if (number >= section->size)
        return false;
    *ret = (struct cursor){section->data + number, section->data + section->size};
    return true;
}

/* Returns the name of an entry, cut at NAME_MOST bytes; NULL and 0 if it has none, or the work that
 * damaged files may cause is used up. */
struct g2h_bytes die_name(struct dies *dies, const struct die *die)
{
    const struct g2h_bytes none = {NULL, 0};
    struct die_attribute attribute;
    struct cursor text;
    if (!die_find(dies, die, DW_AT_name, &attribute) || !find_string_value(dies, attribute, &text))
        return none;
    const size_t left = cursor_left(&text);
    const size_t most = MIN(left, NAME_MOST);
    const uint8_t *end = memchr(text.at, 0, most);
    const size_t size = end ? as_size(end - text.at) : most;
    /* Many entries may share one long string. */
    if (!die_pay(dies, size / 8))
        return none;
    return (struct g2h_bytes){text.at, size};
}

/* ==== expressions, location lists and range lists ====
 *
 * DWARF 5, sections 2.5, 2.6 and 2.17.
 */

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

/* Reads an expression that consists of one operation, such as the address of a global variable.
 * Returns false if it is none. */
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
 * which offsets are relative to. A default location has all addresses as its bounds. Returns false
 * at the list's end, and if it cannot be read on or takes too much work. */
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

/* Reads the next range of a list of DWARF 2 to 4: pairs of offsets from *base, in which two zeros
 * are the end, and the largest number is followed by a new base. Returns false at the end. */
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

/* Reads where a variable is for code at an address; nothing if it is nowhere there. The location is
 * an expression, or a list of expressions with the addresses of code where each is valid. Returns
 * false if memory runs out. */
bool die_location(struct dies *dies, const struct die *die, uint64_t address,
                  die_operation_vector *ret)
{
    const struct die_unit *unit = die->unit;
    struct die_attribute attribute;
    struct cursor list;
    struct range code;
    uint64_t size;
    uint64_t base = unit->base;
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

/* Finds DW_AT_high_pc of an entry, which usually follows DW_AT_low_pc. Returns false if it has
 * none. */
static bool find_high(struct dies *dies, const struct die *die, struct die_attribute low,
                      struct die_attribute *ret)
{
    const struct die_spec *specs = dies->specs.data + die->abbreviation->first;
    const struct die_spec *next = low.spec + 1;
    if (next == specs + die->abbreviation->count || next->name != DW_AT_high_pc)
        return die_own(dies, die, DW_AT_high_pc, ret);
    const uint8_t *at = skip_values(dies, low.unit, low.spec, 1, low.value.at);
    if (!at)
        return false;
    *ret = (struct die_attribute){low.unit, next, {at, low.value.end}};
    return true;
}

/* Reads the bounds of an entry that has a single range (DW_AT_low_pc and DW_AT_high_pc). Returns
 * false if it does not have both. */
static bool read_bounds(struct dies *dies, const struct die *die, struct range *ret)
{
    struct die_attribute low, high;
    if (!die_own(dies, die, DW_AT_low_pc, &low) || !find_high(dies, die, low, &high) ||
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

/* Finds the next range of an entry's code; false if there are no more. The first call reads the
 * entry's single range, if it has one; otherwise each call reads the next range of its list. */
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
