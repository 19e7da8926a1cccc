/* die_units: reads the headers of units, and their abbreviations; see die.h. DWARF 5, section
 * 7.5. */
#include <stdlib.h>

#include "base/contract.h"
#include "base/scope.h"
#include "exe/dwarf/die_values.h"

/* ---- abbreviations ---- */

/* Sorts by code; of abbreviations with the same code, the one that was read first comes first. */
static int compare_abbreviations(const void *a, const void *b)
{
    const struct die_abbreviation *one = a, *other = b;
    if (one->code != other->code)
        return one->code < other->code ? -1 : 1;
    return one->first < other->first ? -1 : one->first > other->first;
}

/* Reads the attributes of an abbreviation. Returns false if the section ends before they do, or if
 * memory runs out; in the latter case it sets *ret_memory to false, too. */
static bool read_specs(struct dies *dies, struct cursor *cursor,
                       struct die_abbreviation *abbreviation, bool *ret_memory)
{
    abbreviation->first = (uint32_t)dies->specs.count;
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
        /* Sums of sizes: find_end() in die.c gets the size of an entry from these. */
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
    struct cursor cursor = {start, start + (size < *left ? size : *left)};
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
    *left -= (uint64_t)(cursor.at - start);
    if (!is_sorted)
        qsort(dies->abbreviations.data + ret->first, (size_t)ret->count,
              sizeof(*dies->abbreviations.data), compare_abbreviations);
    _asserted_ const struct die_abbreviation *list = dies->abbreviations.data;
    assert(IS_ORDERED(i, ret->count,
                      list[ret->first + i - 1].code <= list[ret->first + i].code)); /* die.c
                                                                                     searches it */
    return true;
}

/* ---- units ---- */

/* Reads the header of a unit; *ret_abbrev is the offset of its abbreviations in .debug_abbrev.
 * Returns false if the header cannot be read. */
static bool die_units_read_header(const struct dies *dies, uint64_t start, struct die_unit *ret,
                                  uint64_t *ret_abbrev)
{
    struct cursor cursor = {dies->info.data + start, dies->info.data + dies->info.size};
    uint64_t length, version, type = DW_UT_compile, address_size;
    *ret = (struct die_unit){.start = start, .offset_size = 4};
    if (!die_read(dies, &cursor, 4, &length))
        return false;
    /* 64-bit DWARF. */
    if (length == 0xffffffff) {
        ret->offset_size = 8;
        if (!die_read(dies, &cursor, 8, &length))
            return false;
    }
    if (length > cursor_left(&cursor))
        return false;
    cursor.end = cursor.at + length;
    ret->end = (uint64_t)(cursor.end - dies->info.data);
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
               !cursor_skip(&cursor, 8)) {
        return false;
    }
    ret->version = (uint16_t)version;
    ret->address_size = (uint8_t)address_size;
    ret->entry = (uint64_t)(cursor.at - dies->info.data);
    return *ret_abbrev <= dies->abbrev.size;
}

/* Finds the start of the unit's parts of other sections: after the sections' headers, unless the
 * unit's first entry has other offsets. */
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
    unit->addresses = unit->texts = 8 + wide;
    unit->ranges = unit->locations = 12 + wide;
    if (!die_of_unit(dies, index, &die))
        return;
    for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++)
        if (die_own(dies, &die, bases[i].name, &attribute))
            die_attribute_number(dies, attribute, bases[i].base);
}

/* Adds a unit, and its abbreviations unless an earlier unit has the same table. Returns false if
 * memory runs out. */
static bool add_unit(struct dies *dies, struct die_unit *unit, uint64_t abbrev, struct map *tables,
                     uint64_t *left)
{
    struct die_table table;
    unit->table = map_get(tables, abbrev);
    if (unit->table == MAP_NONE) {
        const uint32_t number = (uint32_t)dies->tables.count;
        if (!read_abbreviations(dies, abbrev, left, &table) || !vector_push(&dies->tables, table) ||
            !map_put(tables, abbrev, number, &unit->table))
            return false;
    }
    const size_t index = dies->units.count;
    uint32_t first;
    if (!vector_push(&dies->units, *unit) ||
        (unit->type != 0 && !map_put(&dies->type_units, unit->signature, (uint32_t)index, &first)))
        return false;
    read_unit_bases(dies, &dies->units.data[index], index);
    return true;
}

/* Units share tables of abbreviations, so each table is read once. The limits keep damaged files
 * from taking long. */
struct g2h_error *dies_read_units(struct dies *dies)
{
    _cleanup_(map_deinit) struct map tables = {0};
    struct die_unit unit;
    uint64_t abbrev, left = 2 * dies->abbrev.size;
    const struct die_spec none = {.size = 0}; /* so that specs.data is never NULL */
    if (!vector_push(&dies->specs, none))
        return &error_no_memory;
    dies->work_left = 4 * dies->info.size;
    for (uint64_t start = 0; start < dies->info.size && dies->units.count < MAP_NONE - 1 &&
                             die_units_read_header(dies, start, &unit, &abbrev);
         start = unit.end)
        if (!add_unit(dies, &unit, abbrev, &tables, &left))
            return &error_no_memory;
    return NULL;
}
