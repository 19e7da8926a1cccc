/* The pointer masks that descriptors do not have: those that Go 1.24 and later make when they need
 * them, and the GC programs up to 1.23; of invalid processes, too. And objects whose mask is not
 * known, which are conservative. */
#include "unit.h"

#include "base/bytes.h"
#include "base/elf_format.h"
#include "process/goroutine_records.h"
#include "process/pointer_masks.h"

enum { START = 0x1000, SIZE = 0x8000, ON_DEMAND = 16, ARRAY = 17, STRUCT = 25, POINTER = 22 };

/* A process whose memory has type descriptors one after the other. */
struct descriptors {
    struct memory memory;
    struct runtime runtime;
    struct type_masks masks;
    uint64_t end; /* of the memory that is taken */
    uint8_t bytes[SIZE];
};

static struct descriptors types;

static void put_word(uint64_t address, uint64_t value, unsigned size)
{
    memcpy(types.bytes + (address - START), &value, size);
}

static uint64_t take(uint64_t size)
{
    const uint64_t address = types.end;
    types.end += size;
    assert_true(types.end <= START + SIZE);
    return address;
}

static void begin(const char *release, int minor)
{
    memset(&types, 0, sizeof(types));
    types.end = START;
    types.runtime.memory = &types.memory;
    types.runtime.minor = minor;
    assert_true(layout_of_release(bytes_of(release), false, EM_X86_64, &types.runtime.layout));
    assert_true(memory_add(&types.memory, START, SIZE, types.bytes));
    memory_sort(&types.memory);
    type_masks_init(&types.masks, &types.runtime);
}

static void end(void)
{
    type_masks_deinit(&types.masks);
    memory_deinit(&types.memory);
}

static void set_field(uint64_t type, enum layout_field field, uint64_t value)
{
    const struct layout_member place = types.runtime.layout.members[field];
    put_word(type + place.offset, value, place.size);
}

/* Adds a descriptor of sizes in words. */
static uint64_t add_type(uint64_t words, uint64_t pointers, uint64_t kind, uint64_t flags)
{
    const uint64_t type = take(80);
    set_field(type, LAYOUT_TYPE_SIZE, words * 8);
    set_field(type, LAYOUT_TYPE_PTR_BYTES, pointers * 8);
    set_field(type, LAYOUT_TYPE_KIND, kind);
    set_field(type, LAYOUT_TYPE_TFLAG, flags);
    return type;
}

/* Adds a type with a mask, of up to 64 words. */
static uint64_t add_masked(uint64_t words, uint64_t mask)
{
    const uint64_t type =
                       add_type(words, mask ? 64 - (uint64_t)__builtin_clzll(mask) : 0, STRUCT, 0),
                   at = take(8);
    put_word(at, mask, 8);
    set_field(type, LAYOUT_TYPE_GC_DATA, at);
    return type;
}

static uint64_t add_array(uint64_t element, uint64_t count, uint64_t words, uint64_t pointers)
{
    const uint64_t type = add_type(words, pointers, ARRAY, ON_DEMAND);
    put_word(type + 48, element, 8);
    put_word(type + 64, count, 8);
    return type;
}

/* Adds a struct of fields: types and offsets in words, up to a type of 0. */
static uint64_t add_struct(uint64_t words, uint64_t pointers, const uint64_t (*fields)[2])
{
    const uint64_t type = add_type(words, pointers, STRUCT, ON_DEMAND), at = types.end;
    uint64_t count = 0;
    for (; fields[count][0] != 0; count++) {
        const uint64_t field = take(24);
        put_word(field + 8, fields[count][0], 8);
        put_word(field + 16, fields[count][1] * 8, 8);
    }
    put_word(type + 56, at, 8);
    put_word(type + 64, count, 8);
    return type;
}

/* Gets a mask, of an object that is as large as memory may be. */
static struct type_mask get(uint64_t type)
{
    struct type_mask mask;
    assert_true(type_masks_get(&types.masks, type, UINT64_MAX, &mask));
    return mask;
}

static bool has(const struct type_mask *mask, uint64_t word)
{
    return (mask->bits[word / 8] >> (word % 8) & 1) != 0;
}

TEST(arrays)
{
    begin("go1.27.1", 27);
    /* [700]struct{n; p}: bits at the odd words. */
    const uint64_t pair = add_masked(2, 2), array = add_array(pair, 700, 1400, 1400),
                   nested = add_array(array, 3, 4200, 4200), one = add_array(nested, 1, 4200, 4200);
    const struct type_mask mask = get(one);
    assert_int_equal(mask.period, 4200);
    assert_int_equal(mask.words, 4200);
    for (uint64_t i = 0; i < 4200; i++)
        assert_int_equal(has(&mask, i), i % 2);
    /* Elements that end without pointers, over odd numbers of bits. */
    const uint64_t sparse = add_array(add_masked(13, 0x805), 301, 13 * 301, 13 * 301 - 1);
    const struct type_mask other = get(sparse);
    for (uint64_t i = 0; i < other.words; i++)
        assert_int_equal(has(&other, i), i % 13 == 0 || i % 13 == 2 || i % 13 == 11);
    assert_int_equal(other.words, 13 * 301 - 1);
    end();
}

/* Fields with masks of their own, with none, without pointers and of no size; each type is built
 * once. */
TEST(structs)
{
    begin("go1.24.1", 24);
    const uint64_t pointer = add_masked(1, 1), numbers = add_masked(5, 0), none = add_masked(0, 0),
                   array = add_array(pointer, 200, 200, 200);
    const uint64_t fields[][2] = {{none, 0},    {numbers, 0},   {pointer, 5}, {array, 7},
                                  {array, 300}, {numbers, 500}, {none, 505},  {0}};
    const uint64_t type = add_struct(505, 500, fields), list = add_array(type, 2, 1010, 1005);
    const struct type_mask mask = get(list);
    for (uint64_t i = 0; i < 1005; i++) {
        const uint64_t at = i % 505;
        assert_int_equal(has(&mask, i),
                         at == 5 || (at >= 7 && at < 207) || (at >= 300 && at < 500));
    }
    assert_ptr_equal(get(list).bits, mask.bits);
    assert_int_equal(types.masks.list.count, 1);
    /* An object that is smaller than its type has another type. */
    struct type_mask small;
    assert_true(type_masks_get(&types.masks, list, 1010 * 8 - 1, &small));
    assert_int_equal(small.period, 0);
    /* Up to 1.23 the flag means something else, and the mask is there. */
    types.runtime.minor = 23;
    const uint64_t unrolled = add_masked(3, 5);
    set_field(unrolled, LAYOUT_TYPE_TFLAG, ON_DEMAND);
    assert_int_equal(get(unrolled).words, 3);
    end();
}

/* Descriptors that contain themselves, are nested without end, do not fit into one another, or are
 * not there. None takes long, and none of them has a mask. */
TEST(invalid)
{
    begin("go1.27.1", 27);
    const uint64_t pointer = add_masked(1, 1), self = add_array(0, 1, 1000, 1000);
    put_word(self + 48, self, 8);
    uint64_t fields[][2] = {{1, 0}, {1, 0}, {1, 0}, {0}};
    const uint64_t tree = add_struct(1000, 1000, fields);
    for (uint64_t i = 0; i < 3; i++)
        put_word(tree + 80 + i * 24 + 8, tree, 8);
    uint64_t deep = add_array(pointer, 200, 200, 200);
    for (int i = 0; i < 300; i++)
        deep = add_array(deep, 1, 200, 200);
    const uint64_t many = add_array(pointer, 1001, 1000, 1000),
                   beyond = add_array(pointer, 1000, 1000, 999),
                   nothing = add_array(pointer, 0, 1000, 1000),
                   empty = add_array(add_masked(0, 0), 1000, 1000, 1000),
                   missing = add_array(START + SIZE - 8, 1000, 1000, 1000),
                   basic = add_type(1000, 1000, POINTER, ON_DEMAND);
    const uint64_t late[][2] = {{pointer, 1000}, {0}};
    const uint64_t outside = add_struct(1000, 1000, late), lost = add_struct(1000, 1000, late),
                   endless = add_struct(1000, 1000, late);
    put_word(lost + 56, START + SIZE, 8);
    put_word(endless + 64, UINT64_MAX / 24, 8);
    const uint64_t all[] = {self,    tree,  deep,    many, beyond,  nothing,     empty,
                            missing, basic, outside, lost, endless, START + SIZE};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        const struct type_mask mask = get(all[i]);
        assert_int_equal(mask.period, 0);
        assert_int_equal(mask.words, 0);
        assert_null(mask.bits);
    }
    end();
}

/* ---- GC programs ---- */

/* Runs a program of n bytes. Returns whether it is valid. */
static bool run(const void *program, size_t n, uint64_t words, uint8_t *ret)
{
    const uint64_t at = START + SIZE - n;
    memset(ret, 0, words / 8 + 2);
    memcpy(types.bytes + (at - START), program, n);
    return type_masks_run(&types.runtime, at, words, ret);
}

TEST(programs)
{
    uint8_t bits[64];
    begin("go1.22.1", 22);
    /* 5 bits; the last 3 of them 20 times; the last 65 once more, by a number of two bytes. */
    static const uint8_t good[] = "\0\0\0\0\x05\x16\x83\x14\x80\x41\x01\x01\x01\x00";
    assert_true(run(good, 14, 131, bits));
    for (uint64_t i = 0; i < 131; i++) {
        const uint64_t at = i < 65 ? i : i < 130 ? i - 65 : 130;
        const bool expected =
            at == 130 || (at < 5 ? (0x16 >> at & 1) != 0 : (0x16 >> (2 + (at - 5) % 3) & 1) != 0);
        assert_int_equal(bits[i / 8] >> (i % 8) & 1, expected);
    }
    for (size_t n = 4; n < 13; n++) { /* cut: nothing behind it is there */
        assert_false(run(good, n, 131, bits));
        assert_false(run(good, 14, 130 * (n - 4) / 9, bits)); /* more bits than words */
    }
    assert_false(run("\0\0\0\0\x81\x01\x00", 7, 10, bits));              /* no bits to repeat */
    assert_false(run("\0\0\0\0\x01\x01\x80\x00\x05\x00", 10, 10, bits)); /* none to repeat */
    assert_false(
        run("\0\0\0\0\x01\x01\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00", 18, 10, bits));
    end();
}

/* ---- objects ---- */

/* All words of an object may be pointers if its type is invalid, but for the last one that was
 * taken from the span this is not counted: it may be that it has not been cleared yet. */
TEST(unknown_types)
{
    static struct heap_bits bits;
    const uint64_t slot = START + 0x4000;
    struct span span = {.start = slot, .size = 0x2000, .elemsize = 2048, .nelems = 4};
    struct heap_mask mask;
    begin("go1.27.1", 27);
    bits = (struct heap_bits){.runtime = &types.runtime, .masks = &types.masks};
    const uint64_t good = add_masked(2, 1), large = add_masked(60, 1);
    put_word(slot, good, 8);
    span.freeindex = 4;
    assert_true(heap_bits_of(&bits, &span, slot, 2048, &mask));
    assert_int_equal(mask.words, 1);
    assert_int_equal(mask.period, 2);
    assert_int_equal(mask.offset, 1);
    for (uint64_t invalid = 0; invalid < 3; invalid++) {
        const uint64_t types_of[] = {0x123456789, START + SIZE - 8, large};
        span.elemsize = invalid == 2 ? 60 * 8 : 2048;
        if (invalid == 2) { /* too large for the slot; slots of up to 512 bytes have no types */
            span.is_large = true;
            span.large_type = large;
            span.elemsize = 59 * 8 + 512;
            set_field(large, LAYOUT_TYPE_SIZE, 0x10000);
        }
        put_word(slot + 2048, types_of[invalid], 8);
        bits.missing = 0;
        assert_true(heap_bits_of(&bits, &span, slot + 2048, 2048, &mask));
        assert_int_equal(bits.missing, 1);
        assert_int_equal(mask.words, mask.period); /* without gaps */
        for (uint64_t i = 0; i < mask.words; i++)
            assert_int_equal(mask.bits[i / 8] >> (i % 8) & 1, 1);
        assert_int_equal(mask.offset, invalid != 2);
    }
    span.is_large = false;
    span.elemsize = 2048;
    span.freeindex = 2;
    put_word(slot + 2048, 0x123456789, 8);
    bits.missing = 0;
    assert_true(heap_bits_of(&bits, &span, slot + 2048, 2048, &mask));
    assert_int_equal(bits.missing, 0);
    assert_true(mask.words > 0);
    /* It has no type yet. */
    put_word(slot + 2048, 0, 8);
    assert_true(heap_bits_of(&bits, &span, slot + 2048, 2048, &mask));
    assert_int_equal(mask.words, 0);
    assert_int_equal(bits.missing, 0);
    heap_bits_deinit(&bits);
    end();
}

/* ---- stack objects ---- */

/* Adds a record of a variable of 4 words at an offset from varp, whose mask is at an address. */
static void add_record(int32_t offset, int32_t pointers, uint64_t mask)
{
    const uint64_t at = take(16);
    put_word(at, (uint32_t)offset, 4);
    put_word(at + 4, 32, 4);
    put_word(at + 8, (uint32_t)pointers, 4);
    put_word(at + 12, (uint32_t)(mask - START), 4);
}

/* Variables on stacks: with a mask, with a program, with one that is not there, so that all words
 * count; and tables that are not there, or have a variable that is not on the stack. */
TEST(stack_variables)
{
    struct stack_objects objects;
    bool is_good;
    begin("go1.22.1", 22);
    const uint64_t low = START + 0x4000, high = low + 0x1000, varp = high - 0x100, mask = take(8),
                   program = take(8), table = take(8);
    put_word(mask, 5, 8);
    memcpy(types.bytes + (program + 4 - START), "\x03\x06", 2);
    put_word(table, 3, 8);
    add_record(-96, 24, mask);
    add_record(-64, -24, program);
    add_record(-32, -32, START + SIZE - 4);
    const uint64_t off = take(8);
    put_word(off, 1, 8);
    add_record(-0x2000, 24, mask);
    stack_objects_init(&objects, &types.runtime);
    stack_objects_begin(&objects, low, high);
    assert_true(stack_objects_add(&objects, START, table, varp, high, &is_good));
    assert_true(is_good);
    stack_objects_sort(&objects);
    assert_int_equal(objects.conservative, 1);
    for (int i = 1; i <= 3; i++)
        assert_true(stack_objects_point(&objects, varp - 32 * (uint64_t)i));
    assert_true(stack_objects_find(&objects));
    const uint64_t expected[] = {96, 80, 56, 48, 32, 24, 16, 8};
    assert_int_equal(objects.words.count, 8);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(objects.words.data[i], varp - expected[i]);
    assert_false(objects.is_incomplete);
    const uint64_t bad[] = {START + SIZE, START + SIZE - 8, off, mask};
    put_word(START + SIZE - 8, 1, 8); /* its record is not there */
    put_word(mask, UINT64_MAX, 8);
    for (size_t i = 0; i < 4; i++) {
        stack_objects_begin(&objects, low, high);
        assert_int_equal(objects.conservative, 0);
        assert_true(stack_objects_add(&objects, START, bad[i], varp, high, &is_good));
        assert_false(is_good);
    }
    stack_objects_deinit(&objects);
    end();
}

UNIT_MAIN(NULL, NULL)
