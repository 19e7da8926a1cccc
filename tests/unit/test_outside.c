/*
 * Covers typing/outside: typed pointers are followed into data and stacks of hand-made dumps; some
 * are refused there; words have names by the ways that lead to them.
 */
#include "dump_builder.h"
#include "type_builder.h"

#include "base/elf_format.h"
#include "exe/image/image.h"
#include "typing/claims.h"
#include "typing/typer.h"

enum { HEAP = 0x10000, BSS = 0x1000, STACK = 0x18000, OTHER_STACK = 0x19000 };

static struct dump dump;
static struct types types;
static struct typing typing;
static struct typer typer;
static struct targets targets;
static uint32_t number, to_number, node, to_node;

/* A node has two pointers, to the next node and to a number. */
FIXTURE(start)
{
    types_init(&types, 8);
    number = type_add(&types, "int", TYPE_INT, 8, TYPE_NONE);
    to_number = type_pointer(&types, "*int", number);
    to_node = type_pointer(&types, "*main.node", (uint32_t)types.list.count + 1);
    node = type_struct(&types, "main.node", 16);
    type_field(&types, "next", to_node, 0);
    type_field(&types, "item", to_number, 8);
    dump_start_modern(&dump, "go1.21.0");
    dump_object(&dump, HEAP, 16, WORDS(0));
    dump_object(&dump, HEAP + 16, 16, WORDS(0));
}

static void load_with(const struct image *image)
{
    dump_eof(&dump);
    typing.heap = dump_load(&dump, 1);
    typing.types = &types;
    typing.threads = 1;
    assert_no_error(pointer_maps_init(&typing.pointer_maps, &types));
    typing.claims = calloc(typing.heap->object_count + 1, sizeof(*typing.claims));
    typing.texts = calloc(typing.heap->object_count + 1, sizeof(*typing.texts));
    typing.has_parts = calloc(typing.heap->object_count / 64 + 1, sizeof(*typing.has_parts));
    assert_no_error(outside_init(&typing.outside, typing.heap, image, 0));
    typer.typing = &typing;
}

static void load(void)
{
    static const struct image no_image;
    load_with(&no_image);
}

FIXTURE(end)
{
    for (size_t i = 0; i < SHARDS; i++) {
        map_deinit(&typing.shards[i].first);
        free(typing.shards[i].parts.data);
        shard_forget(&typing.shards[i]);
    }
    pointer_maps_deinit(&typing.pointer_maps);
    outside_deinit(&typing.outside);
    targets_deinit(&targets);
    targets = (struct targets){.block_count = 0};
    free(typing.claims);
    free(typing.texts);
    free(typing.has_parts);
    free(typer.items.data);
    free(typer.outside.data);
    map_deinit(&typer.outside_known);
    typing = (struct typing){.heap = NULL};
    typer = (struct typer){.typing = NULL};
    dump_deinit(&dump);
    types_deinit(&types);
}

/* Makes a variable at an address of bss point to a value, or to an array of count values. */
static void lead(uint64_t from, enum reference_form form, uint64_t to, uint32_t type,
                 uint64_t count)
{
    typer.holder = (struct outside_holder){.kind = HOLDER_WORD, .offset = from};
    typer_refer(&typer, form, to, count, type, NO_TARGET, SOURCE_POINTER);
    typer.holder = (struct outside_holder){.kind = HOLDER_OBJECT};
}

static void follow(void)
{
    typer_follow_outside(&typer);
    typer_flush(&typer);
    assert_false(typer.no_memory);
}

static const struct outside_value *value_at(uint64_t address)
{
    uint64_t offset;
    return outside_value_at(&typing.outside, typing.heap, address, &offset);
}

/* Returns the type that an object is said to have, or TYPE_NONE. */
static uint32_t type_of_object(uint32_t object)
{
    return typing.claims[object] == 0 ? TYPE_NONE : (typing.claims[object] & CLAIM_TYPE) - 1;
}

TEST(types_what_hangs_from_data)
{
    dump_bss(&dump, BSS, WORDS(BSS + 16, 0, 0, HEAP));
    load();
    lead(BSS, REFERENCE_VALUE, BSS + 16, node, 0);
    follow();
    const struct outside_value *value = value_at(BSS + 24);
    assert_non_null(value);
    assert_int_equal(value->type, node);
    assert_int_equal(value->depth, 0);
    assert_int_equal(value->holder.kind, HOLDER_WORD);
    assert_int_equal(value->holder.offset, BSS);
    assert_null(value_at(BSS));
}

TEST(needs_the_collectors_words)
{
    /* The field list does not have the last word, so a node does not fit there. */
    const uint64_t words[] = {BSS + 8, HEAP, HEAP};
    const struct g2h_field fields[] = {{.offset = 0}, {.offset = 8}};
    const struct g2h_record record = {
        .kind = G2H_RECORD_BSS,
        .segment = {.address = BSS, .contents = {(const uint8_t *)words, sizeof(words)}}};
    dump_record(&dump, &record, fields, 2);
    load();
    lead(BSS, REFERENCE_VALUE, BSS + 8, node, 0);
    follow();
    assert_null(value_at(BSS + 8));
    lead(BSS, REFERENCE_VALUE, BSS, node, 0);
    follow();
    assert_non_null(value_at(BSS));
}

TEST(takes_the_shortest_path)
{
    /* Two variables: the first leads to a node by way of another node, the second leads to it
     * directly. */
    dump_bss(&dump, BSS,
             WORDS(BSS + 16, BSS + 32, /* nodes: */ BSS + 32, 0, BSS + 48, HEAP, BSS + 16, 0));
    load();
    lead(BSS, REFERENCE_VALUE, BSS + 16, node, 0);
    lead(BSS + 8, REFERENCE_VALUE, BSS + 32, node, 0);
    follow();
    const struct outside_value *value = value_at(BSS + 40);
    assert_int_equal(value->depth, 0);
    assert_int_equal(value->holder.offset, BSS + 8);
    /* The nodes are a ring, which is followed once: the last node is two steps from a variable. */
    value = value_at(BSS + 48);
    assert_int_equal(value->depth, 1);
    assert_int_equal(value->holder.kind, HOLDER_VALUE);
    assert_int_equal(value->holder.offset, 0);
    assert_int_equal(typing.outside.values.data[value->first].holder.offset, BSS + 8);
    assert_int_equal(typing.outside.values.count, 3);
}

TEST(extends_arrays)
{
    dump_bss(&dump, BSS, WORDS(0, 0, HEAP, 0, HEAP + 16, 0));
    load();
    lead(BSS, REFERENCE_ARRAY, BSS + 16, to_number, 1);
    lead(BSS, REFERENCE_ARRAY, BSS + 16, to_number, 3);
    lead(BSS, REFERENCE_ARRAY, BSS + 16, to_number, 5); /* beyond the segment's end */
    lead(BSS, REFERENCE_ARRAY, BSS + 16, to_number, UINT64_MAX / 8);
    follow();
    assert_int_equal(typing.outside.values.count, 1);
    assert_int_equal(typing.outside.values.data[0].count, 3);
    assert_true(typing.outside.values.data[0].is_array);
    assert_non_null(value_at(BSS + 32));
    assert_null(value_at(BSS + 40));
    assert_int_equal(type_of_object(1), TYPE_NONE); /* an int in a slot with pointers */
}

TEST(follows_the_own_stack_only)
{
    dump_goroutine(&dump, 1, 0x500, STACK);
    dump_frame(&dump, "main.work", STACK, 0, WORDS(STACK + 16, OTHER_STACK, 0, HEAP), 2);
    dump_goroutine(&dump, 2, 0x600, OTHER_STACK);
    dump_frame(&dump, "main.work", OTHER_STACK, 0, WORDS(0, HEAP + 16), 1);
    load();
    for (uint64_t i = 0; i < 2; i++) {
        typer.holder =
            (struct outside_holder){.kind = HOLDER_LOCAL, .frame = 0, .local = 0, .offset = 8 * i};
        typer_refer(&typer, REFERENCE_VALUE, i == 0 ? STACK + 16 : OTHER_STACK, 0, node, NO_TARGET,
                    SOURCE_POINTER);
    }
    lead(BSS, REFERENCE_VALUE, STACK, node, 0); /* no global variable may point to a stack */
    follow();
    const struct outside_value *value = value_at(STACK + 24);
    assert_non_null(value);
    assert_int_equal(value->holder.kind, HOLDER_LOCAL);
    assert_null(value_at(OTHER_STACK));
    assert_null(value_at(STACK));
    /* An object points to a value that waits on a channel. */
    typer.holder = (struct outside_holder){.kind = HOLDER_OBJECT};
    typer_refer(&typer, REFERENCE_VALUE, OTHER_STACK, 0, node, NO_TARGET, SOURCE_POINTER);
    typer_refer(&typer, REFERENCE_VALUE, OTHER_STACK, 0, node, NO_TARGET, SOURCE_POINTER);
    typer_flush(&typer);
    assert_int_equal(typer.outside.count, 1); /* it is there once */
    assert_true(typer_take_outside(&typer, &typer));
    typer_sort_outside(&typing);
    follow();
    assert_non_null(value_at(OTHER_STACK + 8));
}

/* The heap of a new process grows, so that its last goroutines' stacks lie behind all objects. */
TEST(follows_to_stacks_around_the_heap)
{
    enum { BELOW = HEAP - 0x100, BETWEEN = HEAP + 0x100, BEHIND = HEAP + 0x300 };
    static const uint64_t stacks[] = {BELOW, BETWEEN, BEHIND};
    for (uint64_t i = 0; i < 3; i++) {
        dump_goroutine(&dump, i + 1, 0x500, stacks[i]);
        dump_frame(&dump, "main.work", stacks[i], 0, WORDS(0, HEAP + 16), 1);
        dump_object(&dump, HEAP + 0x200 + 16 * i, 16, WORDS(stacks[i], 0));
    }
    load();
    assert_no_error(targets_init(&targets, typing.heap, 1, NULL));
    typing.targets = &targets;
    for (uint32_t i = 0; i < 3; i++) {
        typing.claims[2 + i] = claim_pack(false, true, SOURCE_POINTER, node);
        typer_follow_item(&typer, &(struct item){2 + i, ITEM_START});
    }
    typer_flush(&typer);
    assert_true(typer_take_outside(&typer, &typer));
    typer_sort_outside(&typing);
    follow();
    for (size_t i = 0; i < 3; i++)
        assert_non_null(value_at(stacks[i] + 8));
}

TEST(survives_frames_that_overlap)
{
    dump_goroutine(&dump, 1, 0x500, STACK);
    for (uint64_t i = 0; i < 3; i++)
        dump_frame(&dump, "main.work", STACK + 8 * i, i, WORDS(STACK, STACK, STACK, STACK), 4);
    dump_bss(&dump, STACK + 16, WORDS(STACK, STACK));
    load();
    assert_int_equal(typing.outside.areas.count, 1);
    lead(BSS, REFERENCE_VALUE, STACK + 8, node, 0);
    follow();
}

/* A damaged dump says that bss goes on at address 0, where the executable has a section. Only what
 * is behind it is the section's. */
TEST(survives_a_segment_that_wraps)
{
    static const uint8_t bytes[64];
    struct image_section section = {
        .data = {bytes, sizeof(bytes)}, .flags = SHF_ALLOC, .address = 8, .size = sizeof(bytes)};
    const struct image image = {.sections = &section, .section_count = 1};
    dump_bss(&dump, UINT64_MAX - 15, WORDS(1, 2, 3, 4));
    load_with(&image);
    assert_int_equal(typing.outside.areas.count, 1); /* of those that overlap one is kept */
    const struct area *area = &typing.outside.areas.data[0];
    assert_true(area->contents.data >= bytes &&
                area->contents.data + area->contents.size <= bytes + sizeof(bytes));
}

UNIT_MAIN(start, end)
