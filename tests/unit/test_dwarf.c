/* Covers exe/dwarf: entries, the forms of their attributes, expressions, lists and references of
 * DWARF 2 to 5, as the standard encodes them; the variables of functions, globals, captured
 * variables and types of C that are made of these. The sections are written by hand, by the
 * standard and not by the tables of src. What compilers write is tested by tests/exe. */
#include "unit.h"

#include "exe/dwarf/dwarf_info.h"
#include "exe/dwarf/scopes.h"

/* ---- sections ---- */

struct section {
    uint8_t data[4096];
    size_t size;
};

static struct section abbrev, addr, info, line_str, loc, loclists, ranges, rnglists, str,
    str_offsets;

static struct {
    const char *name;
    struct section *section;
} const all[] = {
    {".debug_abbrev", &abbrev},
    {".debug_addr", &addr},
    {".debug_info", &info},
    {".debug_line_str", &line_str},
    {".debug_loc", &loc},
    {".debug_loclists", &loclists},
    {".debug_ranges", &ranges},
    {".debug_rnglists", &rnglists},
    {".debug_str_offsets", &str_offsets},
    {".debug_str", &str},
};

enum { ALL = sizeof(all) / sizeof(*all) };

static bool is_big, is_wide; /* big-endian; 64-bit DWARF */
static size_t unit_start, unit_count;

static void put(struct section *to, unsigned size, uint64_t value)
{
    assert_true(to->size + size <= sizeof(to->data));
    for (unsigned i = 0; i < size; i++) {
        const unsigned at = is_big ? size - 1 - i : i;
        to->data[to->size++] = at < 8 ? (uint8_t)(value >> 8 * at) : 0;
    }
}

static void put_leb(struct section *to, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        put(to, 1, (value & 0x7f) | 0x80);
    put(to, 1, value);
}

static void put_signed(struct section *to, int64_t value)
{
    for (; value < -0x40 || value > 0x3f; value >>= 7)
        put(to, 1, ((uint64_t)value & 0x7f) | 0x80);
    put(to, 1, (uint64_t)value & 0x7f);
}

static void put_text(struct section *to, const char *text)
{
    do
        put(to, 1, (uint8_t)*text);
    while (*text++);
}

static void put_offset(struct section *to, uint64_t offset)
{
    put(to, is_wide ? 8 : 4, offset);
}

static void clear(void)
{
    for (size_t i = 0; i < ALL; i++)
        all[i].section->size = 0;
    is_big = is_wide = false;
    unit_count = 0;
}

/* Begins a unit whose abbreviations are at an offset of their section. */
static void begin_unit(unsigned version, unsigned type, uint64_t at)
{
    unit_start = info.size;
    if (is_wide)
        put(&info, 4, 0xffffffff);
    put_offset(&info, 0); /* end_unit() writes it */
    put(&info, 2, version);
    if (version >= 5) {
        put(&info, 1, type);
        put(&info, 1, 8);
    }
    put_offset(&info, at);
    if (version < 5)
        put(&info, 1, 8);
}

static void end_unit(void)
{
    const size_t end = info.size, head = is_wide ? 12 : 4;
    info.size = unit_start + head - (is_wide ? 8 : 4);
    put_offset(&info, end - unit_start - head);
    info.size = end;
    unit_count++;
}

/* Adds an abbreviation. Its attributes are names and forms; a zero ends them. The value of
 * DW_FORM_implicit_const follows the form. */
static void abbreviate(unsigned code, unsigned tag, int has_children, ...)
{
    va_list attributes;
    put_leb(&abbrev, code);
    put_leb(&abbrev, tag);
    put(&abbrev, 1, (unsigned)has_children);
    va_start(attributes, has_children);
    for (unsigned name; (name = va_arg(attributes, unsigned)) != 0;) {
        const unsigned form = va_arg(attributes, unsigned);
        put_leb(&abbrev, name);
        put_leb(&abbrev, form);
        if (form == DW_FORM_implicit_const)
            put_signed(&abbrev, va_arg(attributes, int));
    }
    va_end(attributes);
    put(&abbrev, 2, 0);
}

static void end_abbreviations(void)
{
    put(&abbrev, 1, 0);
}

/* ---- reading them ---- */

static struct image_section sections[ALL];
static struct image image;
static struct dies dies;

/* Each section is in memory of just its size, so that a sanitizer sees what is read behind it. */
static void make_image(void)
{
    static uint8_t *copies[ALL];
    image = (struct image){.is_64 = true,
                           .big_endian = is_big,
                           .stored = 1 << 20,
                           .sections = sections,
                           .section_count = ALL};
    for (size_t i = 0; i < ALL; i++) {
        const struct section *own = all[i].section;
        free(copies[i]);
        copies[i] = malloc(own->size > 0 ? own->size : 1);
        assert_non_null(copies[i]);
        memcpy(copies[i], own->data, own->size);
        sections[i] = (struct image_section){
            .name = bytes_of(all[i].name), .data = {copies[i], own->size}, .size = own->size};
    }
}

static void open_dies(void)
{
    make_image();
    assert_no_error(dies_init(&dies, &image));
    assert_int_equal(dies.units.count, unit_count);
    dies.work_left = 1 << 20;
}

/* Returns the first entry of the last unit. */
static struct die last_unit(void)
{
    struct die die;
    assert_true(die_of_unit(&dies, dies.units.count - 1, &die));
    return die;
}

static struct die child_of(const struct die *die)
{
    struct die child;
    assert_true(die_child(&dies, die, &child));
    return child;
}

static void assert_name(const struct die *die, const char *name)
{
    const struct g2h_bytes own = die_name(&dies, die);
    if (!bytes_are(own, name))
        fail_msg("%.*s is not %s", (int)own.size, own.data ? (const char *)own.data : "", name);
}

static void assert_number(const struct die *die, uint32_t name, uint64_t number)
{
    uint64_t own;
    assert_true(die_number(&dies, die, name, &own));
    assert_int_equal(own, number);
}

/* ---- attributes ---- */

enum { NAME = 0x3000 }; /* the names of attributes that have no meaning */

static void numbers_of_all_forms(bool big, bool wide)
{
    clear();
    is_big = big;
    is_wide = wide;
    abbreviate(1, DW_TAG_variable, false, NAME + 0, DW_FORM_data1, NAME + 1, DW_FORM_data2,
               NAME + 2, DW_FORM_data4, NAME + 3, DW_FORM_data8, NAME + 4, DW_FORM_flag, NAME + 5,
               DW_FORM_flag_present, NAME + 6, DW_FORM_implicit_const, -70, NAME + 7, DW_FORM_sdata,
               NAME + 8, DW_FORM_udata, NAME + 9, DW_FORM_sec_offset, NAME + 10, DW_FORM_addr,
               NAME + 11, DW_FORM_addrx, NAME + 12, DW_FORM_addrx1, NAME + 13, DW_FORM_addrx2,
               NAME + 14, DW_FORM_addrx3, NAME + 15, DW_FORM_addrx4, NAME + 16, DW_FORM_string,
               NAME + 17, DW_FORM_data16, NAME + 18, DW_FORM_block1, NAME + 19, DW_FORM_block2,
               NAME + 20, DW_FORM_block4, NAME + 21, DW_FORM_exprloc, NAME + 22, DW_FORM_addrx1,
               NAME + 23, DW_FORM_data1, 0);
    end_abbreviations();
    put(&addr, wide ? 16 : 8, 0); /* its header */
    for (unsigned i = 0; i < 5; i++)
        put(&addr, 8, 0x401000 + i);
    begin_unit(5, DW_UT_compile, 0);
    put_leb(&info, 1);
    put(&info, 1, 0xfe);
    put(&info, 2, 0xfedc);
    put(&info, 4, 0xfedcba98);
    put(&info, 8, 0xfedcba9876543210);
    put(&info, 1, 2);
    put_signed(&info, -3000000000);
    put_leb(&info, 3000000000);
    put_offset(&info, 0x1234);
    put(&info, 8, 0x500000);
    put_leb(&info, 0);
    for (unsigned size = 1; size <= 4; size++)
        put(&info, size, size);
    put_text(&info, "text");
    put(&info, 8, 0), put(&info, 8, 0);
    put(&info, 1, 1), put(&info, 1, 0xee);
    put(&info, 2, 1), put(&info, 1, 0xee);
    put(&info, 4, 1), put(&info, 1, 0xee);
    put_leb(&info, 1), put(&info, 1, 0xee);
    put(&info, 1, 5); /* .debug_addr has fewer */
    put(&info, 1, 77);
    end_unit();
    open_dies();
    const struct die die = last_unit();
    const uint64_t numbers[] = {0xfe,       0xfedc,   0xfedcba98,    0xfedcba9876543210,
                                1,          1,        (uint64_t)-70, (uint64_t)-3000000000,
                                3000000000, 0x1234,   0x500000,      0x401000,
                                0x401001,   0x401002, 0x401003,      0x401004};
    const uint32_t count = sizeof(numbers) / sizeof(*numbers);
    for (uint32_t i = 0; i < count; i++)
        assert_number(&die, NAME + i, numbers[i]);
    for (uint32_t i = count; i < 23; i++)
        assert_false(die_number(&dies, &die, NAME + i, &(uint64_t){0}));
    assert_number(&die, NAME + 23, 77); /* what is before it has been skipped */
    assert_false(die_number(&dies, &die, NAME + 24, &(uint64_t){0}));
    dies_deinit(&dies);
}

TEST(numbers)
{
    for (unsigned i = 0; i < 4; i++)
        numbers_of_all_forms((i & 1) != 0, (i & 2) != 0);
}

TEST(names)
{
    for (unsigned wide = 0; wide < 2; wide++) {
        static const unsigned forms[] = {DW_FORM_string, DW_FORM_strp,  DW_FORM_line_strp,
                                         DW_FORM_strx,   DW_FORM_strx1, DW_FORM_strx2,
                                         DW_FORM_strx3,  DW_FORM_strx4};
        static const char *const texts[] = {"own", "first", "line",  "zero",
                                            "one", "two",   "three", "four"};
        enum { FORMS = sizeof(forms) / sizeof(*forms) };
        clear();
        is_wide = wide != 0;
        abbreviate(1, 0x11, true, 0);
        for (unsigned i = 0; i < FORMS; i++)
            abbreviate(2 + i, DW_TAG_variable, false, DW_AT_name, forms[i], 0);
        abbreviate(2 + FORMS, DW_TAG_variable, false, DW_AT_name, DW_FORM_data1, 0);
        end_abbreviations();
        put_text(&line_str, "line");
        put_text(&str, "first");
        put(&str_offsets, wide ? 16 : 8, 0); /* its header */
        for (unsigned i = 3; i < FORMS; i++) {
            put_offset(&str_offsets, str.size);
            put_text(&str, texts[i]);
        }
        begin_unit(5, DW_UT_compile, 0);
        put_leb(&info, 1);
        for (unsigned i = 0; i < FORMS; i++) {
            put_leb(&info, 2 + i);
            if (i == 0)
                put_text(&info, "own");
            else if (i < 3)
                put_offset(&info, 0);
            else
                put(&info, i < 5 ? 1 : i - 3, i - 3);
        }
        put_leb(&info, 4), put_offset(&info, line_str.size); /* behind the end */
        put_leb(&info, 3), put_offset(&info, str.size);
        put_leb(&info, 6), put(&info, 1, 5);
        put_leb(&info, 2 + FORMS), put(&info, 1, 1); /* a number is no name */
        put(&info, 1, 0);
        end_unit();
        open_dies();
        const struct die unit = last_unit();
        struct die die = child_of(&unit);
        for (unsigned i = 0; i < FORMS; i++) {
            assert_name(&die, texts[i]);
            assert_true(die_next(&dies, &die));
        }
        for (unsigned i = 0; i < 4; i++) {
            assert_null(die_name(&dies, &die).data);
            assert_int_equal(die_next(&dies, &die), i < 3);
        }
        dies_deinit(&dies);
    }
}

/* Writes units with entries that are referred to, and returns the first entry of the last unit,
 * whose attributes NAME … refer to them by each form. In both units the entry has the same offset.
 */
TEST(references)
{
    enum { FORMS = 6 };
    static const unsigned forms[FORMS] = {DW_FORM_ref1, DW_FORM_ref2,      DW_FORM_ref4,
                                          DW_FORM_ref8, DW_FORM_ref_udata, DW_FORM_ref_addr};
    struct die found;
    clear();
    abbreviate(1, DW_TAG_structure_type, false, DW_AT_name, DW_FORM_string, 0);
    abbreviate(2, DW_TAG_variable, false, NAME + 0, forms[0], NAME + 1, forms[1], NAME + 2,
               forms[2], NAME + 3, forms[3], NAME + 4, forms[4], NAME + 5, forms[5], NAME + 6,
               DW_FORM_ref_sig8, NAME + 7, DW_FORM_ref_sig8, NAME + 8, DW_FORM_ref4, NAME + 9,
               DW_FORM_data4, DW_AT_abstract_origin, DW_FORM_ref4, NAME + 10, DW_FORM_ref_addr, 0);
    end_abbreviations();
    begin_unit(5, DW_UT_type, 0);
    put(&info, 8, 0x1122334455667788);
    put(&info, 4, 12 + 12 + 1 + 2); /* the second entry */
    put_leb(&info, 1), put_text(&info, "");
    assert_int_equal(info.size, 26);
    put(&info, 1, 0); /* so that the next one is at 27 */
    put_leb(&info, 1), put_text(&info, "typed");
    end_unit();
    begin_unit(5, DW_UT_compile, 0);
    const size_t own = info.size, in_unit = own - unit_start;
    put_leb(&info, 1), put_text(&info, "own");
    const size_t at = info.size;
    put_leb(&info, 2);
    for (unsigned i = 0; i < 4; i++)
        put(&info, 1u << i, in_unit);
    put_leb(&info, in_unit);
    put_offset(&info, own);
    put(&info, 8, 0x1122334455667788);
    put(&info, 8, 0x1122334455667789);
    put(&info, 4, 1000000);
    put(&info, 4, in_unit);
    put(&info, 4, in_unit);
    put_offset(&info, 1000000);
    end_unit();
    open_dies();
    struct die die;
    assert_true(die_at(&dies, at, &die));
    for (unsigned i = 0; i < FORMS; i++) {
        assert_true(die_reference(&dies, &die, NAME + i, &found));
        assert_int_equal(found.offset, own);
        assert_name(&found, "own");
    }
    assert_true(die_reference(&dies, &die, NAME + 6, &found));
    assert_name(&found, "typed");
    for (unsigned i = 7; i < 11;
         i++) /* no such type, behind the end, no reference, behind the end */
        assert_false(die_reference(&dies, &die, NAME + i, &found));
    assert_name(&die, "own"); /* that of what it is an instance of */
    assert_false(die_at(&dies, info.size, &die));
    dies_deinit(&dies);
}

/* ---- siblings ---- */

/* Appends an entry with a name, without children, and one that begins a list of them. */
static void put_named(unsigned code, const char *name)
{
    put_leb(&info, code);
    put_text(&info, name);
}

TEST(siblings)
{
    for (unsigned form = DW_FORM_ref1; form <= DW_FORM_ref_udata; form++) {
        clear();
        abbreviate(1, 0x11, true, 0);
        abbreviate(2, DW_TAG_subprogram, true, DW_AT_name, DW_FORM_string, 0);
        abbreviate(3, DW_TAG_variable, false, DW_AT_name, DW_FORM_string, 0);
        abbreviate(4, DW_TAG_subprogram, true, DW_AT_name, DW_FORM_string, DW_AT_sibling, form, 0);
        end_abbreviations();
        begin_unit(4, 0, 0);
        put_leb(&info, 1);
        put_named(2, "a");
        put_named(3, "a1");
        put_named(2, "a2");
        put_named(3, "a21");
        put(&info, 1, 0), put(&info, 1, 0);
        put_named(4, "b"); /* its sibling is behind what could not be passed */
        const size_t size = form == DW_FORM_ref_udata ? 1 : 1u << (form - DW_FORM_ref1);
        put(&info, (unsigned)size, info.size - unit_start + size + 2);
        put_leb(&info, 99); /* no abbreviation has this code */
        put(&info, 1, 0);
        put_named(3, "c");
        put(&info, 1, 0);
        end_unit();
        open_dies();
        const struct die unit = last_unit();
        struct die die = child_of(&unit), inner = child_of(&die), copy;
        assert_name(&die, "a");
        assert_name(&inner, "a1");
        assert_int_equal(inner.behind, 0);
        assert_true(die_next(&dies, &inner));
        assert_name(&inner, "a2");
        assert_false(die_next(&dies, &inner));
        copy = die;
        assert_true(die_next_behind(&dies, &copy, inner.behind));
        assert_name(&copy, "b");
        assert_true(die_next(&dies, &die));
        assert_name(&die, "b");
        assert_int_equal(die.offset, copy.offset);
        /* The value of DW_FORM_ref8 is not used as a shortcut. */
        assert_int_equal(die_next(&dies, &die), form != DW_FORM_ref8);
        if (form != DW_FORM_ref8)
            assert_name(&die, "c");
        dies_deinit(&dies);
    }
}

/* ---- expressions ---- */

/* Each operation whose operands have a form of their own, with the numbers that are read. */
static void put_operations(void)
{
    static const uint8_t ones[] = {DW_OP_const1u, DW_OP_pick, DW_OP_deref_size, DW_OP_xderef_size},
                         lebs[] = {DW_OP_constu,          DW_OP_plus_uconst, DW_OP_regx,
                                   DW_OP_piece,           DW_OP_addrx,       DW_OP_constx,
                                   DW_OP_convert,         DW_OP_reinterpret, DW_OP_GNU_addr_index,
                                   DW_OP_GNU_const_index, DW_OP_GNU_convert, DW_OP_GNU_reinterpret},
                         twos[] = {DW_OP_const2s, DW_OP_bra, DW_OP_skip, DW_OP_call2},
                         fours[] = {DW_OP_const4s, DW_OP_call4, DW_OP_GNU_parameter_ref},
                         pairs[] = {DW_OP_bit_piece, DW_OP_regval_type, DW_OP_GNU_regval_type},
                         typed[] = {DW_OP_deref_type, DW_OP_xderef_type, DW_OP_GNU_deref_type},
                         blocks[] = {DW_OP_implicit_value, DW_OP_entry_value,
                                     DW_OP_GNU_entry_value};
    put(&info, 1, DW_OP_addr), put(&info, 8, 0x500000);
    for (size_t i = 0; i < sizeof(ones); i++)
        put(&info, 1, ones[i]), put(&info, 1, 0xff);
    put(&info, 1, DW_OP_const1s), put(&info, 1, 0xff);
    put(&info, 1, DW_OP_const2u), put(&info, 2, 0xffff);
    put(&info, 1, DW_OP_const4u), put(&info, 4, 0xffffffff);
    for (size_t i = 0; i < sizeof(twos); i++)
        put(&info, 1, twos[i]), put(&info, 2, 0xfffe);
    for (size_t i = 0; i < sizeof(fours); i++)
        put(&info, 1, fours[i]), put(&info, 4, 0xfffffffd);
    put(&info, 1, DW_OP_const8u), put(&info, 8, UINT64_MAX);
    for (size_t i = 0; i < sizeof(lebs); i++)
        put(&info, 1, lebs[i]), put_leb(&info, 300);
    put(&info, 1, DW_OP_consts), put_signed(&info, -300);
    put(&info, 1, DW_OP_fbreg), put_signed(&info, -301);
    put(&info, 1, DW_OP_bregx), put_leb(&info, 7), put_signed(&info, -8);
    for (size_t i = 0; i < sizeof(pairs); i++)
        put(&info, 1, pairs[i]), put_leb(&info, 200), put_leb(&info, 201);
    for (size_t i = 0; i < sizeof(typed); i++)
        put(&info, 1, typed[i]), put(&info, 1, 200), put_leb(&info, 201);
    for (size_t i = 0; i < sizeof(blocks); i++)
        put(&info, 1, blocks[i]), put_leb(&info, 2), put(&info, 2, 0xffff);
    put(&info, 1, DW_OP_const_type), put_leb(&info, 9), put(&info, 1, 1), put(&info, 1, 0xff);
    put(&info, 1, DW_OP_call_ref), put_offset(&info, 10);
    put(&info, 1, DW_OP_implicit_pointer), put_offset(&info, 11), put_signed(&info, -12);
    put(&info, 1, DW_OP_breg0 + 31), put_signed(&info, -13);
    put(&info, 1, DW_OP_deref);
    put(&info, 1, DW_OP_lit0 + 31);
    put(&info, 1, DW_OP_stack_value);
    put(&info, 1, DW_OP_GNU_uninit);
}

static void expect_operations(const die_operation_vector *own)
{
    static const struct {
        int count;
        int64_t number, number2;
    } expected[] = {{1, 0x500000, 0},   {4, 0xff, 0}, {1, -1, 0},   {1, 0xffff, 0},
                    {1, 0xffffffff, 0}, {4, -2, 0},   {3, -3, 0},   {1, -1, 0},
                    {12, 300, 0},       {1, -300, 0}, {1, -301, 0}, {1, 7, -8},
                    {6, 200, 201},      {3, 2, 0},    {1, 9, 1},    {1, 10, 0},
                    {1, 11, -12},       {1, -13, 0},  {4, 0, 0}};
    size_t at = 0;
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
        for (int j = 0; j < expected[i].count; j++, at++) {
            assert_true(at < own->count);
            assert_int_equal(own->data[at].number, expected[i].number);
            assert_int_equal(own->data[at].number2, expected[i].number2);
        }
    assert_int_equal(own->count, at);
    assert_int_equal(own->data[0].atom, DW_OP_addr);
    assert_int_equal(own->data[at - 1].atom, DW_OP_GNU_uninit);
}

/* Writes the bytes that put gives as a block of a form, whose size is known only afterwards. */
static void put_block(unsigned form, void (*put_bytes)(void))
{
    const size_t before = info.size;
    put_bytes();
    const size_t size = info.size - before;
    info.size = before;
    if (form == DW_FORM_block1 || form == DW_FORM_block2)
        put(&info, form == DW_FORM_block1 ? 1 : 2, size);
    else if (form == DW_FORM_block4)
        put(&info, 4, size);
    else
        put_leb(&info, size);
    put_bytes();
}

static void put_unknown(void)
{
    put(&info, 1, DW_OP_deref);
    put(&info, 1, 0xff);
}

static void put_cut(void)
{
    put(&info, 1, DW_OP_deref);
    put(&info, 1, DW_OP_const4u);
    put(&info, 3, 0);
}

static void put_address(void)
{
    put(&info, 1, DW_OP_addr);
    put(&info, 8, 0x500000);
}

TEST(expressions)
{
    static const unsigned forms[] = {DW_FORM_exprloc, DW_FORM_block, DW_FORM_block2, DW_FORM_block4,
                                     DW_FORM_block1};
    die_operation_vector operations = {0};
    struct die_operation operation;
    for (unsigned i = 0; i < 5; i++) {
        clear();
        is_wide = i == 1;
        abbreviate(1, DW_TAG_variable, false, DW_AT_location, forms[i], NAME, DW_FORM_exprloc, 0);
        abbreviate(2, DW_TAG_variable, false, DW_AT_location, forms[i], 0);
        end_abbreviations();
        begin_unit(4, 0, 0);
        const size_t first = info.size;
        put_leb(&info, 1), put_block(forms[i], put_operations);
        put_block(DW_FORM_exprloc, put_address);
        const size_t unknown = info.size;
        put_leb(&info, 2), put_block(forms[i], put_unknown);
        const size_t cut = info.size;
        put_leb(&info, 2), put_block(forms[i], put_cut);
        end_unit();
        open_dies();
        struct die die;
        assert_true(die_at(&dies, first, &die));
        assert_true(die_location(&dies, &die, 0x401000, &operations));
        expect_operations(&operations);
        assert_false(die_operation(&dies, &die, DW_AT_location, &operation)); /* it has several */
        assert_true(die_operation(&dies, &die, NAME, &operation));
        assert_int_equal(operation.atom, DW_OP_addr);
        assert_int_equal(operation.number, 0x500000);
        assert_true(die_at(&dies, unknown, &die));
        assert_true(die_location(&dies, &die, 0x401000, &operations));
        assert_int_equal(operations.count, 0);
        assert_true(die_at(&dies, cut, &die));
        assert_true(die_location(&dies, &die, 0x401000, &operations));
        assert_int_equal(operations.count, 0);
        dies_deinit(&dies);
    }
    free(operations.data);
}

/* ---- lists ---- */

/* Expects that a variable is at a constant at an address of code, or nowhere if it is 0. */
static void expect_location(const struct die *die, uint64_t pc, uint64_t number)
{
    die_operation_vector operations = {0};
    assert_true(die_location(&dies, die, pc, &operations));
    assert_int_equal(operations.count, number == 0 ? 0 : 1);
    if (number != 0) {
        assert_int_equal(operations.data[0].atom, DW_OP_const1u);
        assert_int_equal(operations.data[0].number, number);
    }
    free(operations.data);
}

static void put_list_block(struct section *to, bool is_leb, uint8_t number)
{
    put(to, is_leb ? 1 : 2, 2);
    put(to, 1, DW_OP_const1u);
    put(to, 1, number);
}

TEST(old_lists)
{
    clear();
    abbreviate(1, 0x11, true, DW_AT_low_pc, DW_FORM_addr, 0);
    abbreviate(2, DW_TAG_variable, false, DW_AT_location, DW_FORM_sec_offset, DW_AT_ranges,
               DW_FORM_data4, 0);
    end_abbreviations();
    put(&loc, 3, 0), put(&ranges, 5, 0); /* what belongs to others */
    const uint64_t offsets[][2] = {{0x10, 0x20}, {UINT64_MAX, 0x600000}, {0x30, 0x38}};
    for (unsigned i = 0; i < 3; i++) {
        put(&loc, 8, offsets[i][0]), put(&loc, 8, offsets[i][1]);
        put(&ranges, 8, offsets[i][0]), put(&ranges, 8, offsets[i][1]);
        if (i != 1)
            put_list_block(&loc, false, (uint8_t)(1 + i));
    }
    put(&loc, 8, 0), put(&loc, 8, 0), put(&ranges, 8, 0), put(&ranges, 8, 0);
    begin_unit(3, 0, 0);
    put_leb(&info, 1), put(&info, 8, 0x400000);
    const size_t at = info.size;
    put_leb(&info, 2), put_offset(&info, 3), put(&info, 4, 5);
    put_leb(&info, 2), put_offset(&info, loc.size), put(&info, 4, ranges.size);
    put(&info, 1, 0);
    end_unit();
    open_dies();
    struct die die;
    struct die_ranges iterator = {.is_begun = false};
    struct range range;
    assert_true(die_at(&dies, at, &die));
    expect_location(&die, 0x40000f, 0);
    expect_location(&die, 0x400010, 1);
    expect_location(&die, 0x40001f, 1);
    expect_location(&die, 0x400020, 0);
    expect_location(&die, 0x400030, 0);
    expect_location(&die, 0x600030, 3);
    expect_location(&die, 0x600038, 0);
    assert_true(die_range(&dies, &die, &iterator, &range));
    assert_true(range.begin == 0x400010 && range.end == 0x400020);
    assert_true(die_range(&dies, &die, &iterator, &range));
    assert_true(range.begin == 0x600030 && range.end == 0x600038);
    assert_false(die_range(&dies, &die, &iterator, &range));
    assert_true(die_next(&dies, &die));
    expect_location(&die, 0x400010, 0);
    iterator = (struct die_ranges){.is_begun = false};
    assert_false(die_range(&dies, &die, &iterator, &range));
    dies_deinit(&dies);
}

/* Appends one entry of each kind that has bounds: the addresses 0x401000, 0x402000 … are 0, 1 … of
 * .debug_addr. */
static void put_list(struct section *to, bool is_location, const uint8_t *kinds)
{
    uint8_t number = 1;
    for (unsigned i = 0; kinds[i] != 0; i++) {
        put(to, 1, is_location || kinds[i] < DW_LLE_default_location ? kinds[i] : kinds[i] - 1u);
        switch (kinds[i]) {
        case DW_LLE_base_addressx:
            put_leb(to, 4);
            continue;
        case DW_LLE_base_address:
            put(to, 8, 0x406000);
            continue;
        case DW_LLE_startx_endx:
            put_leb(to, 0), put_leb(to, 1);
            break;
        case DW_LLE_startx_length:
            put_leb(to, 2), put_leb(to, 0x80);
            break;
        case DW_LLE_offset_pair:
            put_leb(to, 0x10), put_leb(to, 0x20);
            break;
        case DW_LLE_start_end:
            put(to, 8, 0x407000), put(to, 8, 0x407010);
            break;
        case DW_LLE_start_length:
            put(to, 8, 0x408000), put_leb(to, 0x10);
            break;
        default:
            break;
        }
        if (is_location)
            put_list_block(to, true, number++);
    }
    put(to, 1, 0);
}

static void new_lists_of(bool has_bases, bool wide)
{
    static const uint8_t kinds[] = {DW_LLE_startx_endx,  DW_LLE_startx_length,
                                    DW_LLE_offset_pair,  DW_LLE_base_addressx,
                                    DW_LLE_offset_pair,  DW_LLE_base_address,
                                    DW_LLE_offset_pair,  DW_LLE_start_end,
                                    DW_LLE_start_length, 0};
    static const struct range bounds[] = {
        {0x401000, 0x402000}, {0x403000, 0x403080}, {0x400010, 0x400020}, {0x405010, 0x405020},
        {0x406010, 0x406020}, {0x407000, 0x407010}, {0x408000, 0x408010}};
    /* Without DW_AT_addr_base … the parts of the unit begin after the header of the section. */
    const unsigned head = wide ? 20 : 12, addr_head = wide ? 16 : 8, before = has_bases ? 3 : 0;
    clear();
    is_wide = wide;
    put(&addr, addr_head, 0), put(&loclists, head, 0), put(&rnglists, head, 0);
    for (unsigned i = 0; i < before; i++)
        put(&addr, 8, 0), put(&loclists, 1, 0), put(&rnglists, 1, 0);
    const size_t base = addr.size, lists = loclists.size;
    for (unsigned i = 0; i < 5; i++)
        put(&addr, 8, 0x401000 + 0x1000 * i);
    put_offset(&loclists, wide ? 8 : 4), put_offset(&rnglists, wide ? 8 : 4);
    const size_t list = loclists.size;
    put_list(&loclists, true, kinds);
    put_list(&rnglists, false, kinds);
    const size_t other = loclists.size;
    put_list(&loclists, true, (const uint8_t[]){DW_LLE_start_end, DW_LLE_default_location, 0});
    abbreviate(1, 0x11, true, DW_AT_low_pc, DW_FORM_addr, 0);
    abbreviate(2, 0x11, true, DW_AT_low_pc, DW_FORM_addr, DW_AT_addr_base, DW_FORM_sec_offset,
               DW_AT_loclists_base, DW_FORM_sec_offset, DW_AT_rnglists_base, DW_FORM_sec_offset, 0);
    abbreviate(3, DW_TAG_variable, false, DW_AT_location, DW_FORM_loclistx, DW_AT_ranges,
               DW_FORM_rnglistx, 0);
    abbreviate(4, DW_TAG_variable, false, DW_AT_location, DW_FORM_sec_offset, DW_AT_ranges,
               DW_FORM_sec_offset, 0);
    end_abbreviations();
    begin_unit(5, DW_UT_compile, 0);
    put_leb(&info, has_bases ? 2 : 1), put(&info, 8, 0x400000);
    if (has_bases)
        put_offset(&info, base), put_offset(&info, lists), put_offset(&info, lists);
    put_leb(&info, 3), put_leb(&info, 0), put_leb(&info, 0);
    put_leb(&info, 4), put_offset(&info, list), put_offset(&info, list);
    put_leb(&info, 4), put_offset(&info, other), put_offset(&info, rnglists.size);
    put(&info, 1, 0);
    end_unit();
    open_dies();
    const struct die unit = last_unit();
    struct die die = child_of(&unit);
    for (unsigned i = 0; i < 2; i++) {
        struct die_ranges iterator = {.is_begun = false};
        struct range range;
        for (unsigned j = 0; j < sizeof(bounds) / sizeof(*bounds); j++) {
            expect_location(&die, bounds[j].begin - 1, 0);
            expect_location(&die, bounds[j].begin, j + 1);
            expect_location(&die, bounds[j].end - 1, j + 1);
            expect_location(&die, bounds[j].end, 0);
            assert_true(die_range(&dies, &die, &iterator, &range));
            assert_int_equal(range.begin, bounds[j].begin);
            assert_int_equal(range.end, bounds[j].end);
        }
        assert_false(die_range(&dies, &die, &iterator, &range));
        assert_true(die_next(&dies, &die));
    }
    expect_location(&die, 0x407000, 1);
    expect_location(&die, 0x407010, 2); /* everywhere else */
    expect_location(&die, 1, 2);
    dies_deinit(&dies);
}

TEST(new_lists)
{
    for (unsigned i = 0; i < 4; i++)
        new_lists_of((i & 1) != 0, (i & 2) != 0);
}

TEST(bounds)
{
    clear();
    abbreviate(1, DW_TAG_subprogram, false, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_addr,
               0);
    abbreviate(2, DW_TAG_subprogram, false, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc,
               DW_FORM_data2, 0);
    abbreviate(3, DW_TAG_subprogram, false, DW_AT_low_pc, DW_FORM_addrx, DW_AT_high_pc,
               DW_FORM_addrx1, 0);
    abbreviate(4, DW_TAG_subprogram, false, DW_AT_low_pc, DW_FORM_addr, 0);
    end_abbreviations();
    put(&addr, 8, 0), put(&addr, 8, 0x403000), put(&addr, 8, 0x403040);
    begin_unit(5, DW_UT_compile, 0);
    put_leb(&info, 1), put(&info, 8, 0x401000), put(&info, 8, 0x401040);
    put_leb(&info, 2), put(&info, 8, 0x402000), put(&info, 2, 0x40);
    put_leb(&info, 3), put_leb(&info, 0), put(&info, 1, 1);
    put_leb(&info, 4), put(&info, 8, 0x404000);
    end_unit();
    open_dies();
    struct die die = last_unit();
    for (unsigned i = 1; i <= 3; i++) {
        struct die_ranges iterator = {.is_begun = false};
        struct range range;
        assert_true(die_range(&dies, &die, &iterator, &range));
        assert_int_equal(range.begin, 0x400000 + 0x1000 * i);
        assert_int_equal(range.end, 0x400040 + 0x1000 * i);
        assert_false(die_range(&dies, &die, &iterator, &range));
        assert_true(die_next(&dies, &die));
    }
    assert_false(
        die_range(&dies, &die, &(struct die_ranges){.is_begun = false}, &(struct range){0}));
    dies_deinit(&dies);
}

/* ---- variables of functions ---- */

static struct types types;
static struct dwarf_info dwarf;

static void open_dwarf(void)
{
    make_image();
    types_init(&types, 8);
    assert_no_error(dwarf_info_init(&dwarf, &image, &types, 0));
}

static void close_dwarf(void)
{
    dwarf_info_deinit(&dwarf);
    types_deinit(&types);
}

/* Codes of the abbreviations of what Go writes. */
enum {
    UNIT = 1,
    BASE,
    SLICE,
    FUNCTION,
    PARAMETER,
    VARIABLE,
    BLOCK,
    INLINED,
    LISTED,
    CAPTURED,
    GLOBAL
};

static void abbreviate_go(void)
{
    abbreviate(UNIT, 0x11, true, DW_AT_low_pc, DW_FORM_addr, 0);
    abbreviate(BASE, DW_TAG_base_type, false, DW_AT_name, DW_FORM_string, DW_AT_encoding,
               DW_FORM_data1, DW_AT_byte_size, DW_FORM_data1, 0);
    abbreviate(SLICE, DW_TAG_structure_type, false, DW_AT_name, DW_FORM_string, DW_AT_byte_size,
               DW_FORM_data1, DW_AT_go_kind, DW_FORM_data1, DW_AT_go_elem, DW_FORM_ref_addr, 0);
    abbreviate(FUNCTION, DW_TAG_subprogram, true, DW_AT_name, DW_FORM_string, DW_AT_low_pc,
               DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4, DW_AT_frame_base, DW_FORM_block1, 0);
    abbreviate(PARAMETER, DW_TAG_formal_parameter, false, DW_AT_name, DW_FORM_string, DW_AT_type,
               DW_FORM_ref_addr, DW_AT_location, DW_FORM_block1, 0);
    abbreviate(VARIABLE, DW_TAG_variable, false, DW_AT_name, DW_FORM_string, DW_AT_type,
               DW_FORM_ref_addr, DW_AT_location, DW_FORM_block1, 0);
    abbreviate(BLOCK, DW_TAG_lexical_block, true, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc,
               DW_FORM_data4, 0);
    abbreviate(INLINED, DW_TAG_inlined_subroutine, true, DW_AT_abstract_origin, DW_FORM_ref_addr,
               DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4, 0);
    abbreviate(LISTED, DW_TAG_variable, false, DW_AT_name, DW_FORM_string, DW_AT_type,
               DW_FORM_ref_addr, DW_AT_location, DW_FORM_sec_offset, 0);
    abbreviate(CAPTURED, DW_TAG_variable, false, DW_AT_name, DW_FORM_string, DW_AT_type,
               DW_FORM_ref_addr, DW_AT_go_closure_offset, DW_FORM_udata, 0);
    abbreviate(GLOBAL, DW_TAG_variable, false, DW_AT_name, DW_FORM_string, DW_AT_location,
               DW_FORM_block1, DW_AT_type, DW_FORM_ref_addr, 0);
    end_abbreviations();
}

static void put_function(const char *name, uint64_t low, uint64_t size)
{
    put_named(FUNCTION, name);
    put(&info, 8, low), put(&info, 4, size);
    put(&info, 1, 1), put(&info, 1, DW_OP_call_frame_cfa);
}

/* Appends DW_OP_fbreg with an offset of one byte, and DW_OP_piece if it is one. */
static void put_piece(int offset, unsigned size)
{
    put(&info, 1, DW_OP_fbreg), put_signed(&info, offset);
    if (size > 0)
        put(&info, 1, DW_OP_piece), put_leb(&info, size);
}

/* Appends a variable that is whole in the frame. */
static void put_variable(unsigned code, const char *name, size_t type, int offset)
{
    put_named(code, name);
    put_offset(&info, type);
    put(&info, 1, 2);
    put_piece(offset, 0);
}

/* Appends the function main.f, whose code is at 0x401000. */
static void put_main_f(size_t type, size_t slice, size_t inlined)
{
    put_function("main.f", 0x401000, 0x100);
    put_variable(PARAMETER, "a", type, -8);
    put_named(VARIABLE, "s"), put_offset(&info, slice);
    put(&info, 1, 4 * 4 - 1);
    put_piece(-32, 8), put_piece(-32, 8); /* Go 1.19 writes the pointer twice */
    put(&info, 1, DW_OP_reg0), put(&info, 1, DW_OP_piece), put_leb(&info, 8);
    put_piece(-16, 8);
    put_named(VARIABLE, "twice"), put_offset(&info, type); /* not the same piece twice: unknown */
    put(&info, 1, 2 * 4);
    put_piece(-32, 8), put_piece(-24, 8);
    put_named(VARIABLE, "register"), put_offset(&info, type);
    put(&info, 1, 1), put(&info, 1, DW_OP_reg0);
    put_named(LISTED, "saved"), put_offset(&info, type), put_offset(&info, 0);
    put_leb(&info, BLOCK), put(&info, 8, 0x401040), put(&info, 4, 0x40);
    put_variable(VARIABLE, "inner", type, -40);
    put_leb(&info, INLINED), put_offset(&info, inlined);
    put(&info, 8, 0x401050), put(&info, 4, 0x10);
    put_named(VARIABLE, "~r0"), put_offset(&info, type);
    put(&info, 1, 4);
    put(&info, 1, DW_OP_call_frame_cfa), put(&info, 1, DW_OP_consts), put_signed(&info, -48);
    put(&info, 1, DW_OP_plus);
    put(&info, 1, 0), put(&info, 1, 0), put(&info, 1, 0);
}

static void put_go(void)
{
    clear();
    abbreviate_go();
    /* The pc of a call still has the register, the next one the frame. */
    put(&loc, 8, 0x10), put(&loc, 8, 0x11);
    put(&loc, 2, 1), put(&loc, 1, DW_OP_reg0);
    put(&loc, 8, 0x11), put(&loc, 8, 0x20);
    put(&loc, 2, 2), put(&loc, 1, DW_OP_fbreg), put_signed(&loc, -56);
    put(&loc, 8, 0), put(&loc, 8, 0);
    begin_unit(4, 0, 0);
    put_leb(&info, UNIT), put(&info, 8, 0x401000);
    const size_t type = info.size;
    put_named(BASE, "int"), put(&info, 1, DW_ATE_signed), put(&info, 1, 8);
    const size_t slice = info.size;
    put_named(SLICE, "[]int"), put(&info, 1, 24), put(&info, 1, TYPE_SLICE);
    put_offset(&info, type);
    const size_t inlined = info.size;
    put_function("main.g", 0, 0), put(&info, 1, 0);
    put_main_f(type, slice, inlined);
    put_function("main.f.func1", 0x402000, 0x10);
    put_named(CAPTURED, "t"), put_offset(&info, slice), put_leb(&info, 16);
    put_named(CAPTURED, "n"), put_offset(&info, type), put_leb(&info, 8);
    put_variable(VARIABLE, "own", type, -8);
    put(&info, 1, 0);
    for (unsigned i = 2; i > 0; i--) {
        put_named(GLOBAL, i == 2 ? "main.second" : "main.first");
        put(&info, 1, 9), put(&info, 1, DW_OP_addr), put(&info, 8, 0x500000 + 8 * i);
        put_offset(&info, type);
    }
    put_named(GLOBAL, "main.nowhere");
    put(&info, 1, 1), put(&info, 1, DW_OP_reg0), put_offset(&info, type);
    put(&info, 1, 0);
    end_unit();
}

struct expected_local {
    const char *name, *function; /* NULL: the frame's own */
    bool is_parameter, is_made;
    unsigned count;
    struct dwarf_piece pieces[2];
};

static void assert_text(uint32_t string, const char *text)
{
    assert_true(bytes_are(types_text(&types, string), text));
}

static void expect_locals(uint64_t pc, size_t count, const struct expected_local *expected,
                          const char *inlined)
{
    dwarf_local_vector locals = {0};
    dwarf_piece_vector pieces = {0};
    uint32_t innermost;
    assert_no_error(dwarf_info_locals(&dwarf, &types, pc, &locals, &pieces, &innermost));
    assert_int_equal(locals.count, count);
    for (size_t i = 0; i < count; i++) {
        const struct dwarf_local *own = &locals.data[i];
        assert_text(own->name, expected[i].name);
        assert_int_equal(own->is_parameter, expected[i].is_parameter);
        assert_int_equal(own->is_made, expected[i].is_made);
        if (expected[i].function)
            assert_text(own->function, expected[i].function);
        else
            assert_int_equal(own->function, UINT32_MAX);
        assert_int_equal(own->piece_count, expected[i].count);
        for (unsigned j = 0; j < expected[i].count; j++) {
            const struct dwarf_piece *piece = &pieces.data[own->first_piece + j];
            assert_int_equal(piece->offset, expected[i].pieces[j].offset);
            assert_int_equal(piece->size, expected[i].pieces[j].size);
            assert_int_equal(piece->cfa_offset, expected[i].pieces[j].cfa_offset);
        }
    }
    if (inlined)
        assert_text(innermost, inlined);
    else
        assert_int_equal(innermost, UINT32_MAX);
    free(locals.data);
    free(pieces.data);
}

TEST(locals)
{
    static const struct expected_local a = {"a", NULL, true, false, 1, {{0, 8, -8}}},
                                       s = {"s",   NULL, false,
                                            false, 2,    {{0, 8, -32}, {16, 8, -16}}},
                                       saved = {"saved", NULL, false, false, 1, {{0, 8, -56}}},
                                       inner = {"inner", NULL, false, false, 1, {{0, 8, -40}}},
                                       result = {"~r0", "main.g", false, true, 1, {{0, 8, -48}}};
    put_go();
    open_dwarf();
    expect_locals(0x401008, 2, (struct expected_local[]){a, s}, NULL);
    expect_locals(0x401010, 3, (struct expected_local[]){a, s, saved}, NULL);
    expect_locals(0x401012, 3, (struct expected_local[]){a, s, saved}, NULL);
    expect_locals(0x401045, 3, (struct expected_local[]){a, s, inner}, NULL);
    expect_locals(0x40105f, 4, (struct expected_local[]){a, s, inner, result}, "main.g");
    expect_locals(0x4010ff, 2, (struct expected_local[]){a, s}, NULL);
    expect_locals(0x401100, 0, NULL, NULL);
    expect_locals(0x400fff, 0, NULL, NULL);
    close_dwarf();
}

TEST(globals_and_captured)
{
    put_go();
    open_dwarf();
    assert_int_equal(dwarf.globals.count, 2);
    for (unsigned i = 0; i < 2; i++) {
        assert_text(dwarf.globals.data[i].name, i == 0 ? "main.first" : "main.second");
        assert_int_equal(dwarf.globals.data[i].address, 0x500008 + 8 * i);
        assert_int_equal(types.list.data[dwarf.globals.data[i].type].kind, TYPE_INT64);
    }
    assert_int_equal(dwarf.captured.count, 2);
    assert_int_equal(dwarf.maybe_captured.count, 0);
    for (unsigned i = 0; i < 2; i++) {
        const struct dwarf_captured *own = &dwarf.captured.data[i];
        assert_text(own->name, i == 0 ? "n" : "t");
        assert_int_equal(own->entry, 0x402000);
        assert_int_equal(own->offset, 8 + 8 * i);
        assert_true(bytes_are(types_name(&types, own->type), i == 0 ? "int" : "[]int"));
    }
    const struct type *slice = &types.list.data[dwarf.captured.data[1].type];
    assert_int_equal(slice->kind, TYPE_SLICE);
    assert_int_equal(slice->size, 24);
    assert_int_equal(slice->elem, dwarf.captured.data[0].type);
    close_dwarf();
}

/* ---- types of C ---- */

enum {
    C_UNIT = 1,
    C_BASE,
    C_POINTER,
    C_VOID,
    C_CONST,
    C_ARRAY,
    C_UPPER,
    C_COUNT,
    C_STRUCT,
    C_UNION,
    C_MEMBER,
    C_BITS,
    C_TYPEDEF,
    C_ENUM,
    C_FUNCTION,
    C_GLOBAL,
    C_NAMELESS
};

static void abbreviate_c(void)
{
    abbreviate(C_UNIT, 0x11, true, 0);
    abbreviate(C_BASE, DW_TAG_base_type, false, DW_AT_name, DW_FORM_string, DW_AT_encoding,
               DW_FORM_data1, DW_AT_byte_size, DW_FORM_data1, 0);
    abbreviate(C_POINTER, DW_TAG_pointer_type, false, DW_AT_type, DW_FORM_ref4, 0);
    abbreviate(C_VOID, DW_TAG_pointer_type, false, 0);
    abbreviate(C_CONST, DW_TAG_const_type, false, DW_AT_type, DW_FORM_ref4, 0);
    abbreviate(C_ARRAY, DW_TAG_array_type, true, DW_AT_type, DW_FORM_ref4, 0);
    abbreviate(C_UPPER, DW_TAG_subrange_type, false, DW_AT_upper_bound, DW_FORM_data1, 0);
    abbreviate(C_COUNT, DW_TAG_subrange_type, false, DW_AT_count, DW_FORM_data1, 0);
    abbreviate(C_STRUCT, DW_TAG_structure_type, true, DW_AT_name, DW_FORM_string, DW_AT_byte_size,
               DW_FORM_data1, 0);
    abbreviate(C_UNION, DW_TAG_union_type, true, DW_AT_byte_size, DW_FORM_data1, 0);
    abbreviate(C_MEMBER, DW_TAG_member, false, DW_AT_name, DW_FORM_string, DW_AT_type, DW_FORM_ref4,
               DW_AT_data_member_location, DW_FORM_data1, 0);
    abbreviate(C_BITS, DW_TAG_member, false, DW_AT_name, DW_FORM_string, DW_AT_type, DW_FORM_ref4,
               DW_AT_data_member_location, DW_FORM_data1, DW_AT_bit_size, DW_FORM_data1, 0);
    abbreviate(C_TYPEDEF, DW_TAG_typedef, false, DW_AT_name, DW_FORM_string, DW_AT_type,
               DW_FORM_ref4, 0);
    abbreviate(C_ENUM, DW_TAG_enumeration_type, false, DW_AT_name, DW_FORM_string, DW_AT_byte_size,
               DW_FORM_data1, 0);
    abbreviate(C_FUNCTION, DW_TAG_subroutine_type, false, 0);
    abbreviate(C_GLOBAL, DW_TAG_variable, false, DW_AT_name, DW_FORM_string, DW_AT_location,
               DW_FORM_block1, DW_AT_type, DW_FORM_ref4, 0);
    abbreviate(C_NAMELESS, DW_TAG_structure_type, true, DW_AT_byte_size, DW_FORM_data1, 0);
    end_abbreviations();
}

/* Appends a type that another one is a part of; returns its offset in the unit. */
static size_t put_type(unsigned code, size_t of)
{
    const size_t at = info.size - unit_start;
    put_leb(&info, code);
    put(&info, 4, of);
    return at;
}

static size_t put_base(const char *name, unsigned encoding, unsigned size)
{
    const size_t at = info.size - unit_start;
    put_named(C_BASE, name), put(&info, 1, encoding), put(&info, 1, size);
    return at;
}

static void put_member(unsigned code, const char *name, size_t type, unsigned offset)
{
    put_named(code, name), put(&info, 4, type), put(&info, 1, offset);
    if (code == C_BITS)
        put(&info, 1, 3);
}

/* Adds a global variable of a type. */
static void put_global(const char *name, size_t type)
{
    put_named(C_GLOBAL, name);
    put(&info, 1, 9), put(&info, 1, DW_OP_addr), put(&info, 8, 0x500000);
    put(&info, 4, type);
}

/* Returns the type of a global variable, which must have a name, a kind and a size. */
static const struct type *type_of(const char *global, const char *name, unsigned kind,
                                  uint64_t size)
{
    for (size_t i = 0; i < dwarf.globals.count; i++) {
        const struct dwarf_global *own = &dwarf.globals.data[i];
        if (!bytes_are(types_text(&types, own->name), global))
            continue;
        const struct g2h_bytes text = types_name(&types, own->type);
        if (!bytes_are(text, name))
            fail_msg("%s is a %.*s", global, (int)text.size, (const char *)text.data);
        assert_int_equal(types.list.data[own->type].kind, kind);
        assert_int_equal(types.list.data[own->type].size, size);
        return &types.list.data[own->type];
    }
    fail_msg("no %s", global);
    return NULL;
}

TEST(bases_of_c)
{
    static const struct {
        const char *name;
        unsigned encoding, size;
        enum type_kind kind;
    } bases[] = {
        {"_Bool", DW_ATE_boolean, 1, TYPE_BOOL},
        {"char", DW_ATE_signed_char, 1, TYPE_INT8},
        {"short", DW_ATE_signed, 2, TYPE_INT16},
        {"int", DW_ATE_signed, 4, TYPE_INT32},
        {"long", DW_ATE_signed, 8, TYPE_INT64},
        {"__int128", DW_ATE_signed, 16, TYPE_INVALID},
        {"unsigned char", DW_ATE_unsigned_char, 1, TYPE_UINT8},
        {"char16_t", DW_ATE_UTF, 2, TYPE_UINT16},
        {"unsigned", DW_ATE_unsigned, 4, TYPE_UINT32},
        {"unsigned long", DW_ATE_unsigned, 8, TYPE_UINT64},
        {"float", DW_ATE_float, 4, TYPE_FLOAT32},
        {"double", DW_ATE_float, 8, TYPE_FLOAT64},
        {"long double", DW_ATE_float, 16, TYPE_INVALID},
        {"float _Complex", DW_ATE_complex_float, 8, TYPE_COMPLEX64},
        {"double _Complex", DW_ATE_complex_float, 16, TYPE_COMPLEX128},
        {"odd", DW_ATE_signed, 3, TYPE_INVALID},
        {"decimal", 0x0f, 8, TYPE_INVALID},
        {"huge", DW_ATE_signed, 32, TYPE_INVALID},
    };
    enum { BASES = sizeof(bases) / sizeof(*bases) };
    clear();
    abbreviate_c();
    begin_unit(4, 0, 0);
    put_leb(&info, C_UNIT);
    for (unsigned i = 0; i < BASES; i++)
        put_global(bases[i].name, put_base(bases[i].name, bases[i].encoding, bases[i].size));
    put(&info, 1, 0);
    end_unit();
    open_dwarf();
    for (unsigned i = 0; i < BASES; i++)
        type_of(bases[i].name, bases[i].name, bases[i].kind, bases[i].size);
    close_dwarf();
}

TEST(types_of_c)
{
    clear();
    abbreviate_c();
    begin_unit(4, 0, 0);
    put_leb(&info, C_UNIT);
    const size_t number = put_base("int", DW_ATE_signed, 4),
                 character = put_base("char", DW_ATE_signed_char, 1),
                 text = put_type(C_POINTER, put_type(C_CONST, character)),
                 texts = put_type(C_POINTER, text), function = info.size - unit_start;
    put_leb(&info, C_FUNCTION);
    const size_t call = put_type(C_POINTER, function), nothing = info.size - unit_start;
    put_leb(&info, C_VOID);
    const size_t matrix = put_type(C_ARRAY, number);
    put_leb(&info, C_UPPER), put(&info, 1, 1);
    put_leb(&info, C_COUNT), put(&info, 1, 3);
    put(&info, 1, 0);
    const size_t open = put_type(C_ARRAY, number);
    put(&info, 1, 0);
    const size_t either = info.size - unit_start;
    put_leb(&info, C_UNION), put(&info, 1, 8), put(&info, 1, 0);
    const size_t pair = info.size - unit_start;
    put_named(C_STRUCT, "pair"), put(&info, 1, 32);
    put_member(C_MEMBER, "number", number, 0);
    put_member(C_BITS, "bits", number, 4);
    put_member(C_MEMBER, "either", either, 8);
    const size_t next = info.size; /* of a type behind it */
    put_member(C_MEMBER, "next", 0, 16);
    put_member(C_MEMBER, "text", text, 24);
    put(&info, 1, 0);
    const size_t of_pair = put_type(C_POINTER, pair), after = info.size;
    info.size = next + 1 + sizeof("next");
    put(&info, 4, of_pair);
    info.size = after;
    const size_t nameless = info.size - unit_start;
    put_leb(&info, C_NAMELESS), put(&info, 1, 4);
    put_member(C_MEMBER, "only", number, 0);
    put(&info, 1, 0);
    const size_t alias = info.size - unit_start;
    put_named(C_TYPEDEF, "alias_t"), put(&info, 4, nameless);
    const size_t color = info.size - unit_start;
    put_named(C_ENUM, "color"), put(&info, 1, 4);
    put_global("text", text), put_global("texts", texts), put_global("call", call);
    put_global("nothing", nothing), put_global("matrix", matrix), put_global("open", open);
    put_global("either", either), put_global("pair", pair), put_global("alias", alias);
    put_global("color", color), put_global("constant", put_type(C_CONST, pair));
    put(&info, 1, 0);
    end_unit();
    open_dwarf();
    const struct type *type = type_of("text", "*char", TYPE_POINTER, 8);
    assert_int_equal(types.list.data[type->elem].kind, TYPE_INT8);
    type = type_of("texts", "**char", TYPE_POINTER, 8);
    assert_int_equal(types.list.data[type->elem].kind, TYPE_POINTER);
    type_of("call", "*function", TYPE_POINTER, 8);
    type_of("nothing", "*void", TYPE_UNSAFE_POINTER, 8);
    type = type_of("matrix", "array", TYPE_ARRAY, 24);
    assert_int_equal(type->length, 6);
    assert_int_equal(type_of("open", "array", TYPE_ARRAY, 0)->length, 0);
    type_of("either", "union", TYPE_INVALID, 8);
    type_of("color", "color", TYPE_INT32, 4);
    assert_int_equal(type_of("alias", "alias_t", TYPE_STRUCT, 4)->field_count, 1);
    type = type_of("pair", "pair", TYPE_STRUCT, 32);
    assert_ptr_equal(type_of("constant", "pair", TYPE_STRUCT, 32), type);
    static const char *const names[] = {"number", "either", "next", "text"};
    static const unsigned offsets[] = {0, 8, 16, 24};
    assert_int_equal(type->field_count, 4); /* bits is not whole bytes */
    for (unsigned i = 0; i < 4; i++) {
        const struct type_field *field = &types.fields.data[type->first_field + i];
        assert_text(field->name, names[i]);
        assert_int_equal(field->offset, offsets[i]);
    }
    const struct type_field *field = &types.fields.data[type->first_field + 2];
    assert_ptr_equal(&types.list.data[types.list.data[field->type].elem], type);
    close_dwarf();
}

/* A type that contains itself, or others too deep, has no parts: what reads values would not end.
 */
TEST(types_too_deep)
{
    enum { DEEP = 64 }; /* as in dwarf_info.c */
    size_t of[DEEP + 1];
    char name[16];
    clear();
    abbreviate_c();
    begin_unit(4, 0, 0);
    put_leb(&info, C_UNIT);
    of[0] = put_base("int", DW_ATE_signed, 4);
    const size_t self = info.size - unit_start;
    put_named(C_STRUCT, "self"), put(&info, 1, 8);
    put_member(C_MEMBER, "self", self, 0);
    put(&info, 1, 0);
    for (unsigned i = 1; i <= DEEP; i++) {
        of[i] = info.size - unit_start;
        snprintf(name, sizeof(name), "s%u", i);
        put_named(C_STRUCT, name), put(&info, 1, 8);
        put_member(C_MEMBER, "part", of[i - 1], 0);
        put(&info, 1, 0);
    }
    put_global("self", self), put_global("least", of[1]), put_global("deepest", of[DEEP - 1]);
    put_global("deeper", of[DEEP]);
    put(&info, 1, 0);
    end_unit();
    open_dwarf();
    assert_int_equal(type_of("self", "self", TYPE_INVALID, 8)->field_count, 0);
    assert_int_equal(type_of("least", "s1", TYPE_STRUCT, 8)->field_count, 1);
    assert_int_equal(type_of("deepest", "s63", TYPE_STRUCT, 8)->field_count, 1);
    assert_int_equal(type_of("deeper", "s64", TYPE_INVALID, 8)->field_count, 0);
    close_dwarf();
}

/* ---- damage ---- */

/* Reads everything of DWARF that is cut, or has another byte somewhere. */
static void read_everything(void)
{
    dwarf_local_vector found = {0};
    dwarf_piece_vector pieces = {0};
    open_dwarf();
    for (uint64_t pc = 0x401000; pc < 0x401100; pc += 0x10)
        assert_no_error(dwarf_info_locals(&dwarf, &types, pc, &found, &pieces, NULL));
    for (size_t i = 0; i < found.count; i++)
        assert_true(found.data[i].first_piece + found.data[i].piece_count <= pieces.count);
    for (size_t i = 0; i < dwarf.globals.count; i++)
        assert_true(dwarf.globals.data[i].type == TYPE_NONE ||
                    dwarf.globals.data[i].type < types.list.count);
    free(found.data);
    free(pieces.data);
    close_dwarf();
}

TEST(damage)
{
    static struct section *const damaged[] = {&abbrev, &info, &loc};
    for (unsigned i = 0; i < 3; i++) {
        put_go();
        const size_t size = damaged[i]->size;
        for (size_t at = 0; at < size; at += unit_step()) {
            const uint8_t before = damaged[i]->data[at];
            damaged[i]->size = at;
            read_everything();
            damaged[i]->size = size;
            for (unsigned j = 0; j < 2; j++) {
                damaged[i]->data[at] = j == 0 ? 0xff : (uint8_t)(before + 1);
                read_everything();
            }
            damaged[i]->data[at] = before;
        }
    }
    locals(NULL); /* nothing has remained */
}

UNIT_MAIN(NULL, NULL)
