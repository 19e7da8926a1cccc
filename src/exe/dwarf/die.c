/* die: opens DWARF, and reads entries and their attributes; see die.h. DWARF 5, chapter 2. */
#include "exe/dwarf/die.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/scope.h"
#include "exe/dwarf/die_values.h"

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

enum { SECTIONS = sizeof(section_names) / sizeof(section_names[0]) };

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
static const struct die_abbreviation *find_abbreviation(const struct dies *dies,
                                                        const struct die_unit *unit, uint64_t code)
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

/* Reads the entry that begins at an offset. Returns false if a list of siblings ends there, or the
 * entry cannot be read. */
static bool read_entry(struct dies *dies, const struct die_unit *unit, uint64_t offset,
                       struct die *ret)
{
    struct cursor cursor = {dies->info.data + offset, dies->info.data + unit->end};
    uint64_t code;
    if (!die_pay(dies, 1) || !cursor_uvarint(&cursor, &code) || code == 0)
        return false;
    *ret = (struct die){offset, unit, find_abbreviation(dies, unit, code), cursor.at, 0};
    return ret->abbreviation != NULL;
}

bool die_of_unit(struct dies *dies, size_t index, struct die *ret)
{
    const struct die_unit *unit = &dies->units.data[index];
    return read_entry(dies, unit, unit->entry, ret);
}

bool die_at(struct dies *dies, uint64_t offset, struct die *ret)
{
    size_t after;
    BISECT(after, dies->units.count, dies->units.data[after].start <= offset);
    if (after == 0)
        return false;
    const struct die_unit *unit = &dies->units.data[after - 1];
    return offset >= unit->entry && offset < unit->end && read_entry(dies, unit, offset, ret);
}

/* Skips a value; size is a number of bytes, or SIZE_…. Returns false if the value does not end, or
 * its size is not known. */
static bool die_skip_value(const struct dies *dies, const struct die_unit *unit, uint8_t size,
                           struct cursor *cursor)
{
    uint64_t length = 0;
    if (size <= SIZE_BYTES_MOST)
        return cursor_skip(cursor, size);
    switch (size) {
    case SIZE_ADDRESS:
        return cursor_skip(cursor, unit->address_size);
    case SIZE_OFFSET:
        return cursor_skip(cursor, unit->offset_size);
    case SIZE_REFERENCE:
        return cursor_skip(cursor, die_reference_size(unit));
    case SIZE_LEB:
        while (cursor->at < cursor->end)
            if (*cursor->at++ < 0x80)
                return true;
        return false;
    case SIZE_TEXT: {
        const uint8_t *end = memchr(cursor->at, 0, cursor_left(cursor));
        cursor->at = end ? end + 1 : cursor->end;
        return end != NULL;
    }
    case SIZE_BLOCK1:
        return die_read(dies, cursor, 1, &length) && cursor_skip(cursor, length);
    case SIZE_BLOCK2:
        return die_read(dies, cursor, 2, &length) && cursor_skip(cursor, length);
    case SIZE_BLOCK4:
        return die_read(dies, cursor, 4, &length) && cursor_skip(cursor, length);
    case SIZE_BLOCK:
        return cursor_uvarint(cursor, &length) && cursor_skip(cursor, length);
    default:
        return false;
    }
}

/* Finds the end of an entry's attributes, where the next entry begins. Returns false if the entry
 * is damaged or too much has been read. */
static bool find_end(struct dies *dies, const struct die *die, uint64_t *ret)
{
    struct cursor cursor = {die->values, dies->info.data + die->unit->end};
    const struct die_abbreviation *own = die->abbreviation;
    /* Attributes of known sizes need not be read one by one. */
    if (own->is_fixed) {
        const uint64_t size = own->bytes + (uint64_t)own->addresses * die->unit->address_size +
                              (uint64_t)own->offsets * die->unit->offset_size +
                              (uint64_t)own->references * die_reference_size(die->unit);
        *ret = (uint64_t)(cursor.at - dies->info.data) + size;
        return size <= cursor_left(&cursor);
    }
    const struct die_spec *specs = dies->specs.data + own->first;
    if (!die_pay(dies, own->count))
        return false;
    for (uint32_t i = 0; i < own->count; i++)
        if (!die_skip_value(dies, die->unit, specs[i].size, &cursor))
            return false;
    *ret = (uint64_t)(cursor.at - dies->info.data);
    return true;
}

bool die_child(struct dies *dies, const struct die *die, struct die *ret)
{
    uint64_t offset;
    return die->abbreviation->has_children && find_end(dies, die, &offset) &&
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

/* Entries follow each other in preorder: without DW_AT_sibling all entries below must be read to
 * get to the next sibling. level is how deep they are. */
bool die_next(struct dies *dies, struct die *die)
{
    const struct die_unit *unit = die->unit;
    uint64_t level = 0, offset;
    struct die now = *die;
    for (;;) {
        const bool has_children = now.abbreviation->has_children;
        const bool is_past_children =
            now.abbreviation->has_sibling && find_sibling(dies, &now, &offset);
        if (!is_past_children && !find_end(dies, &now, &offset))
            return false;
        level += has_children && !is_past_children;
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
        if (!read_entry(dies, unit, offset, &now))
            return false;
        if (level == 0) {
            *die = now;
            return true;
        }
    }
}

/* The caller has read the entry's children and knows where they end, so they are not read again. */
bool die_next_behind(struct dies *dies, struct die *die, uint64_t behind)
{
    const struct die_unit *unit = die->unit;
    if (behind == 0 || die->abbreviation->has_sibling)
        return die_next(dies, die);
    return behind < unit->end && read_entry(dies, unit, behind, die);
}

/* ---- attributes ---- */

/* Attributes have no index: to get to one, all before it must be skipped. die_pay() limits the work
 * that damaged files may cause. */
bool die_own(struct dies *dies, const struct die *die, uint32_t name, struct die_attribute *ret)
{
    struct cursor cursor = {die->values, dies->info.data + die->unit->end};
    const uint32_t count = die->abbreviation->count;
    const struct die_spec *specs = count > 0 ? dies->specs.data + die->abbreviation->first : NULL;
    uint32_t number = 0;
    while (number < count && specs[number].name != name)
        number++;
    if (!die_pay(dies, 1 + number / 4) || number == count || !die_pay(dies, number))
        return false;
    for (uint32_t i = 0; i < number; i++)
        if (!die_skip_value(dies, die->unit, specs[i].size, &cursor))
            return false;
    *ret = (struct die_attribute){die->unit, &specs[number], cursor};
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

/* Looks for the attribute in the entry, then in the entries that complete it. */
bool die_find(struct dies *dies, const struct die *die, uint32_t name, struct die_attribute *ret)
{
    struct die_attribute origin;
    struct die now = *die, next;
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

/* Each form encodes a number differently (DWARF 5, section 7.5.6). */
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

struct g2h_bytes die_name(struct dies *dies, const struct die *die)
{
    const struct g2h_bytes none = {NULL, 0};
    struct die_attribute attribute;
    struct cursor text;
    if (!die_find(dies, die, DW_AT_name, &attribute) || !find_string_value(dies, attribute, &text))
        return none;
    const size_t left = cursor_left(&text), most = left < NAME_MOST ? left : NAME_MOST;
    const uint8_t *end = memchr(text.at, 0, most);
    const size_t size = end ? (size_t)(end - text.at) : most;
    /* Many entries may share one long string. */
    if (!die_pay(dies, size / 8))
        return none;
    return (struct g2h_bytes){text.at, size};
}
