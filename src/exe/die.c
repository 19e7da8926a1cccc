/* die: units, abbreviations, entries and their attributes; see die.h. DWARF 5, chapter 7. */
#include "exe/die.h"

#include <stdlib.h>
#include <string.h>

/* Of a form: what is not a number of bytes. */
enum {
    SIZE_NONE = 16, /* the most that a number of bytes is */
    SIZE_ADDRESS,
    SIZE_OFFSET,
    SIZE_REFERENCE, /* of DW_FORM_ref_addr: that of an address in DWARF 2 */
    SIZE_LEB,
    SIZE_TEXT,
    SIZE_BLOCK1,
    SIZE_BLOCK2,
    SIZE_BLOCK4,
    SIZE_BLOCK,
    SIZE_UNKNOWN, /* what follows cannot be read */
};

enum { LONGEST_NAME = 1 << 16, ORIGINS = 4 };

/* ---- numbers ---- */

bool die_read(const struct dies *dies, struct cursor *cursor, unsigned size, uint64_t *ret)
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

/* size bytes at an offset of a section. */
static bool read_at(const struct dies *dies, const struct g2h_bytes *section, uint64_t offset,
                    unsigned size, uint64_t *ret)
{
    if (offset > section->size)
        return false;
    struct cursor cursor = {section->data + offset, section->data + section->size};
    return die_read(dies, &cursor, size, ret);
}

/* Entry number index of a table of addresses or offsets. */
static bool read_index(const struct dies *dies, const struct g2h_bytes *section, uint64_t base,
                       uint64_t index, unsigned size, uint64_t *ret)
{
    return index <= section->size / size && base <= section->size &&
           read_at(dies, section, base + index * size, size, ret);
}

bool die_address(const struct dies *dies, const struct die_unit *unit, uint64_t index,
                 uint64_t *ret)
{
    return read_index(dies, &dies->addr, unit->addresses, index, unit->address_size, ret);
}

/* ---- forms ---- */

static uint8_t size_of_form(uint64_t form)
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
    default: /* of a vendor; DW_FORM_indirect, which nobody writes */
        return SIZE_UNKNOWN;
    }
}

static unsigned reference_size(const struct die_unit *unit)
{
    return unit->version == 2 ? unit->address_size : unit->offset_size;
}

/* Passes over a value. */
static bool skip(const struct dies *dies, const struct die_unit *unit, uint8_t size,
                 struct cursor *cursor)
{
    uint64_t length = 0;
    if (size <= SIZE_NONE)
        return cursor_skip(cursor, size);
    switch (size) {
    case SIZE_ADDRESS:
        return cursor_skip(cursor, unit->address_size);
    case SIZE_OFFSET:
        return cursor_skip(cursor, unit->offset_size);
    case SIZE_REFERENCE:
        return cursor_skip(cursor, reference_size(unit));
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

/* ---- abbreviations ---- */

static int compare_abbreviations(const void *a, const void *b)
{
    const struct die_abbreviation *one = a, *other = b;
    if (one->code != other->code)
        return one->code < other->code ? -1 : 1;
    return one->first < other->first ? -1 : one->first > other->first;
}

/* The attributes of one; false at the section's end. */
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
        const struct die_spec spec = {.name = name < UINT32_MAX ? (uint32_t)name : UINT32_MAX,
                                      .form = form < UINT16_MAX ? (uint16_t)form : UINT16_MAX,
                                      .size = size_of_form(form),
                                      .number = (int64_t)number};
        *ret_memory = dies->specs.count < UINT32_MAX && vector_push(&dies->specs, spec);
        if (!*ret_memory)
            return false;
        abbreviation->count++;
        abbreviation->has_sibling |= name == DW_AT_sibling;
        abbreviation->is_fixed &= spec.size <= SIZE_OFFSET;
        abbreviation->bytes += spec.size <= SIZE_NONE ? spec.size : 0;
        abbreviation->addresses += spec.size == SIZE_ADDRESS;
        abbreviation->offsets += spec.size == SIZE_OFFSET;
    }
}

/* The table at an offset of .debug_abbrev, as far as it can be read. False where there is no
 * memory. *left: bytes that may still be read, for tables may overlap. */
static bool read_table(struct dies *dies, uint64_t offset, uint64_t *left, struct die_table *ret)
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
    return true;
}

static const struct die_abbreviation *find_abbreviation(const struct dies *dies,
                                                        const struct die_unit *unit, uint64_t code)
{
    const struct die_table *table = &dies->tables.data[unit->table];
    if (table->count == 0)
        return NULL;
    const struct die_abbreviation *list = dies->abbreviations.data + table->first;
    /* They mostly are 1, 2, 3 … */
    if (code - 1 < table->count && list[code - 1].code == code)
        return &list[code - 1];
    uint64_t from = 0, to = table->count;
    while (from < to) {
        const uint64_t middle = from + (to - from) / 2;
        if (list[middle].code < code)
            from = middle + 1;
        else
            to = middle;
    }
    return from < table->count && list[from].code == code ? &list[from] : NULL;
}

/* ---- units ---- */

/* A header; *ret_abbrev is where its abbreviations are. False where it cannot be read. */
static bool read_header(const struct dies *dies, uint64_t start, struct die_unit *ret,
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

/* Where its parts of other sections begin: behind their headers, unless it says so. */
static void read_bases(struct dies *dies, struct die_unit *unit, size_t index)
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

/* False where there is no memory. */
static bool add_unit(struct dies *dies, struct die_unit *unit, uint64_t abbrev, struct map *tables,
                     uint64_t *left)
{
    struct die_table table;
    unit->table = map_get(tables, abbrev);
    if (unit->table == MAP_NONE) {
        const uint32_t number = (uint32_t)dies->tables.count;
        if (!read_table(dies, abbrev, left, &table) || !vector_push(&dies->tables, table) ||
            !map_put(tables, abbrev, number, &unit->table))
            return false;
    }
    const size_t index = dies->units.count;
    uint32_t first;
    if (!vector_push(&dies->units, *unit) ||
        (unit->type != 0 && !map_put(&dies->type_units, unit->signature, (uint32_t)index, &first)))
        return false;
    read_bases(dies, &dies->units.data[index], index);
    return true;
}

static struct g2h_error *read_units(struct dies *dies)
{
    struct map tables = {0};
    struct die_unit unit;
    uint64_t abbrev, left = 2 * dies->abbrev.size;
    const struct die_spec none = {.size = 0}; /* so that there is an array */
    bool good = vector_push(&dies->specs, none);
    dies->steps_left = 4 * dies->info.size;
    for (uint64_t start = 0; good && start < dies->info.size && dies->units.count < MAP_NONE - 1 &&
                             read_header(dies, start, &unit, &abbrev);
         start = unit.end)
        good = add_unit(dies, &unit, abbrev, &tables, &left);
    map_deinit(&tables);
    return good ? NULL : &error_no_memory;
}

/* ---- opening ---- */

/* What a section holds; nothing where it is damaged, or has more than the *left bytes that are
 * believed. */
static struct g2h_error *read_section(struct image *image, const char *name, uint64_t *left,
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

struct g2h_error *dies_init(struct dies *dies, struct image *image)
{
    *dies = (struct dies){.big_endian = image->big_endian};
    const struct {
        const char *name;
        struct g2h_bytes *bytes;
    } sections[] = {
        {".debug_abbrev", &dies->abbrev},
        {".debug_addr", &dies->addr},
        {".debug_info", &dies->info},
        {".debug_line_str", &dies->line_str},
        {".debug_loc", &dies->loc},
        {".debug_loclists", &dies->loclists},
        {".debug_ranges", &dies->ranges},
        {".debug_rnglists", &dies->rnglists},
        {".debug_str_offsets", &dies->str_offsets},
        {".debug_str", &dies->str},
    };
    uint64_t left = image_debug_most(image);
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        struct g2h_error *error = read_section(image, sections[i].name, &left, sections[i].bytes);
        if (error)
            return error;
    }
    return read_units(dies);
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

/* The entry that begins at an offset of a unit; false where one ends there a list of others. */
static bool read_entry(struct dies *dies, const struct die_unit *unit, uint64_t offset,
                       struct die *ret)
{
    struct cursor cursor = {dies->info.data + offset, dies->info.data + unit->end};
    uint64_t code;
    if (!die_pay(dies, 1) || !cursor_uvarint(&cursor, &code) || code == 0)
        return false;
    *ret = (struct die){offset, unit, find_abbreviation(dies, unit, code), cursor.at};
    return ret->abbreviation != NULL;
}

bool die_of_unit(struct dies *dies, size_t index, struct die *ret)
{
    const struct die_unit *unit = &dies->units.data[index];
    return read_entry(dies, unit, unit->entry, ret);
}

bool die_at(struct dies *dies, uint64_t offset, struct die *ret)
{
    size_t from = 0, to = dies->units.count;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (dies->units.data[middle].start <= offset)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == 0)
        return false;
    const struct die_unit *unit = &dies->units.data[from - 1];
    return offset >= unit->entry && offset < unit->end && read_entry(dies, unit, offset, ret);
}

/* Where the entry behind the attributes of another begins. */
static bool behind(struct dies *dies, const struct die *die, uint64_t *ret)
{
    struct cursor cursor = {die->values, dies->info.data + die->unit->end};
    const struct die_abbreviation *own = die->abbreviation;
    if (own->is_fixed) {
        const uint64_t size = own->bytes + (uint64_t)own->addresses * die->unit->address_size +
                              (uint64_t)own->offsets * die->unit->offset_size;
        *ret = (uint64_t)(cursor.at - dies->info.data) + size;
        return size <= cursor_left(&cursor);
    }
    const struct die_spec *specs = dies->specs.data + own->first;
    if (!die_pay(dies, own->count))
        return false;
    for (uint32_t i = 0; i < own->count; i++)
        if (!skip(dies, die->unit, specs[i].size, &cursor))
            return false;
    *ret = (uint64_t)(cursor.at - dies->info.data);
    return true;
}

bool die_child(struct dies *dies, const struct die *die, struct die *ret)
{
    uint64_t place;
    return die->abbreviation->has_children && behind(dies, die, &place) &&
           read_entry(dies, die->unit, place, ret);
}

/* Where DW_AT_sibling says that the next one is: a short way past all that is below. */
static bool sibling(struct dies *dies, const struct die *die, uint64_t *ret)
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

bool die_next(struct dies *dies, struct die *die)
{
    const struct die_unit *unit = die->unit;
    uint64_t level = 0, place;
    struct die now = *die;
    for (;;) {
        const bool has_children = now.abbreviation->has_children;
        const bool is_passed = now.abbreviation->has_sibling && sibling(dies, &now, &place);
        if (!is_passed && !behind(dies, &now, &place))
            return false;
        level += has_children && !is_passed;
        /* Each zero ends a list. */
        while (level > 0 && place < unit->end && dies->info.data[place] == 0) {
            if (!die_pay(dies, 1))
                return false;
            level--;
            place++;
        }
        if (place >= unit->end || !read_entry(dies, unit, place, &now))
            return false;
        if (level == 0) {
            *die = now;
            return true;
        }
    }
}

/* ---- attributes ---- */

bool die_own(struct dies *dies, const struct die *die, uint32_t name, struct die_attribute *ret)
{
    struct cursor cursor = {die->values, dies->info.data + die->unit->end};
    const uint32_t count = die->abbreviation->count;
    const struct die_spec *specs = count > 0 ? dies->specs.data + die->abbreviation->first : NULL;
    uint32_t number = 0;
    while (number < count && specs[number].name != name)
        number++;
    if (!die_pay(dies, 1 + number / 4) || number == count)
        return false;
    if (!die_pay(dies, number))
        return false;
    for (uint32_t i = 0; i < number; i++)
        if (!skip(dies, die->unit, specs[i].size, &cursor))
            return false;
    *ret = (struct die_attribute){die->unit, &specs[number], cursor};
    return true;
}

/* Where a reference leads. */
static bool follow(struct dies *dies, struct die_attribute attribute, struct die *ret)
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
        return die_read(dies, &attribute.value, reference_size(unit), &number) &&
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

bool die_find(struct dies *dies, const struct die *die, uint32_t name, struct die_attribute *ret)
{
    struct die_attribute origin;
    struct die now = *die, next;
    for (int step = 0; step <= ORIGINS; step++) {
        if (die_own(dies, &now, name, ret))
            return true;
        /* An inlined instance has an abstract one, which may have a declaration. */
        if ((!die_own(dies, &now, DW_AT_abstract_origin, &origin) &&
             !die_own(dies, &now, DW_AT_specification, &origin)) ||
            !follow(dies, origin, &next))
            return false;
        now = next;
    }
    return false;
}

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
    return die_find(dies, die, name, &attribute) && follow(dies, attribute, ret);
}

/* Where a text begins; false where it is nowhere. */
static bool find_text(struct dies *dies, struct die_attribute attribute, struct cursor *ret)
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
            !read_index(dies, &dies->str_offsets, unit->texts, index, unit->offset_size, &number))
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
    if (!die_find(dies, die, DW_AT_name, &attribute) || !find_text(dies, attribute, &text))
        return none;
    const size_t left = cursor_left(&text), most = left < LONGEST_NAME ? left : LONGEST_NAME;
    const uint8_t *end = memchr(text.at, 0, most);
    const size_t size = end ? (size_t)(end - text.at) : most;
    /* Many may have the same text. */
    if (!die_pay(dies, size / 8))
        return none;
    return (struct g2h_bytes){text.at, size};
}
