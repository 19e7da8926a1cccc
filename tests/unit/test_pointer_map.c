/* Covers types/map and types_path: where values have pointers, for sane and absurd types. */
#include "type_builder.h"

#include "types/pointer_map.h"

static struct types types;
static struct pointer_maps pointer_maps;
static uint32_t word, text, pointer, slice, any;

FIXTURE(start)
{
    types_init(&types, 8);
    word = type_add(&types, "int", TYPE_INT, 8, TYPE_NONE);
    text = type_add(&types, "string", TYPE_STRING, 16, TYPE_NONE);
    pointer = type_pointer(&types, "*int", word);
    slice = type_add(&types, "[]int", TYPE_SLICE, 24, word);
    any = type_add(&types, "interface {}", TYPE_INTERFACE, 16, TYPE_NONE);
}

FIXTURE(end)
{
    pointer_maps_deinit(&pointer_maps);
    types_deinit(&types);
}

static const struct pointer_map *map(uint32_t type)
{
    if (!pointer_maps.of_type)
        assert_no_error(pointer_maps_init(&pointer_maps, &types));
    const struct pointer_map *made = pointer_map_of(&pointer_maps, type);
    assert_non_null(made);
    assert_ptr_equal(pointer_map_of(&pointer_maps, type), made);
    return made;
}

static void is_path(uint32_t type, uint64_t offset, const char *expected)
{
    char path[200];
    assert_int_equal(types_path(&types, type, offset, path, sizeof(path)), strlen(expected));
    assert_string_equal(path, expected);
}

TEST(finds_pointer_fields_of_nested_types)
{
    const uint32_t inner = type_struct(&types, "main.inner", 32);
    type_field(&types, "n", word, 0);
    type_field(&types, "list", slice, 8);
    const uint32_t two = type_array(&types, "[2]main.inner", inner, 2);
    const uint32_t outer = type_struct(&types, "main.outer", 96);
    type_field(&types, "name", text, 0);
    type_field(&types, "two", two, 16);
    type_field(&types, "any", any, 80);
    const struct pointer_map *made = map(outer);
    assert_true(made->known);
    assert_int_equal(made->field_count, 4);
    static const uint32_t fields[] = {0, 24, 56, 80}, words[] = {0, 24, 56, 88};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(made->fields[i].offset, fields[i]);
        assert_int_equal(made->words[i], words[i]);
    }
    static const uint8_t code[] = {1, 0, 1, 24, 1, 56, 1, 88};
    assert_int_equal(made->code_size, sizeof(code));
    assert_memory_equal(made->code, code, sizeof(code));
    is_path(outer, 56, "two[1].list");
    is_path(outer, 88, "any");
    is_path(outer, 96, "");
    is_path(inner, 0, "n");
    is_path(word, 0, "");
}

TEST(first_words_of_interfaces_are_told_by_a_mask)
{
    static const uint8_t both[] = {3};
    types.list.data[any].pointer_bytes = 16;
    types.list.data[any].gc_mask = both;
    const uint32_t pair = type_struct(&types, "main.pair", 32);
    type_field(&types, "one", any, 0);
    type_field(&types, "two", any, 16);
    const struct pointer_map *made = map(pair);
    assert_int_equal(made->word_count, 4);
    assert_int_equal(made->field_count, 2);
}

TEST(a_mask_is_believed_more_than_fields)
{
    static const uint8_t mask[] = {4};
    const uint32_t type = type_struct(&types, "main.masked", 24);
    types.list.data[type].pointer_bytes = 24;
    types.list.data[type].gc_mask = mask;
    type_field(&types, "hidden", pointer, 0);
    type_field(&types, "seen", pointer, 16);
    const struct pointer_map *made = map(type);
    assert_int_equal(made->word_count, 1);
    assert_int_equal(made->field_count, 1);
    assert_int_equal(made->fields[0].offset, 16);
}

TEST(pointers_to_what_is_never_in_the_heap_are_none)
{
    const uint32_t outside = type_pointer(&types, "*runtime.mspan", word);
    types.list.data[outside].pointer_bytes = 0;
    const uint32_t type = type_struct(&types, "main.T", 16);
    type_field(&types, "span", outside, 0);
    type_field(&types, "p", pointer, 8);
    assert_int_equal(map(type)->field_count, 1);
    assert_int_equal(map(type)->words[0], 8);
    assert_int_equal(map(outside)->field_count, 0);
}

TEST(absurd_types_have_no_pointer_map)
{
    const uint32_t huge = type_array(&types, "[]huge", pointer, UINT64_C(1) << 40);
    const uint32_t itself = type_array(&types, "[1]itself", word, 1);
    types.list.data[itself].elem = itself;
    const uint32_t none = type_array(&types, "[9]none", word, 9);
    types.list.data[none].elem = TYPE_NONE;
    const uint32_t invalid = type_add(&types, "invalid", TYPE_INVALID, 8, TYPE_NONE);
    uint32_t doubled = type_array(&types, "[2]*int", pointer, 2);
    for (int i = 0; i < 40; i++)
        doubled = type_array(&types, "doubled", doubled, 2);
    const uint32_t lost = type_struct(&types, "main.lost", 8);
    type_field(&types, "gone", 1234567, 0);
    static const uint32_t kinds = 6;
    const uint32_t all[] = {huge, itself, none, invalid, doubled, lost};
    for (uint32_t i = 0; i < kinds; i++) {
        assert_false(map(all[i])->known);
        assert_int_equal(map(all[i])->field_count, 0);
        assert_int_equal(map(all[i])->word_count, 0);
    }
    char path[64];
    types_path(&types, itself, 0, path, sizeof(path)); /* this must come to an end */
    types_path(&types, lost, 0, path, sizeof(path));
    types_path(&types, doubled, 8, path, sizeof(path));
    assert_true(strlen(path) < sizeof(path));
}

TEST(arrays_without_pointers_cost_nothing)
{
    const uint32_t bytes = type_array(&types, "[n]int", word, UINT64_C(1) << 50);
    const uint32_t empty = type_array(&types, "[0]*int", pointer, 0);
    assert_true(map(bytes)->known);
    assert_int_equal(map(bytes)->field_count, 0);
    assert_int_equal(map(empty)->field_count, 0);
    assert_int_equal(map(empty)->size, 0);
}

TEST(fields_beyond_the_end_are_dropped)
{
    const uint32_t type = type_struct(&types, "main.short", 16);
    type_field(&types, "p", pointer, 0);
    type_field(&types, "list", slice, 8);
    const uint32_t far = type_struct(&types, "main.far", 16);
    type_field(&types, "p", pointer, UINT64_MAX - 3);
    const uint32_t overlapping = type_struct(&types, "main.overlapping", 16);
    type_field(&types, "a", text, 0);
    type_field(&types, "b", text, 0);
    type_field(&types, "c", pointer, 4);
    const struct pointer_map *made = map(type);
    for (uint32_t i = 0; i < made->field_count; i++)
        assert_in_range(made->fields[i].offset + pointer_field_size(&types, made->fields[i].type),
                        8, 16);
    assert_int_equal(made->field_count, 1);
    assert_false(map(far)->known);
    assert_non_null(map(overlapping));
}

TEST(many_large_pointer_maps_are_too_many)
{
    uint32_t list[200];
    size_t known = 0;
    for (size_t i = 0; i < 200; i++)
        list[i] = type_array(&types, "[60000]*int", pointer, 60000);
    const uint32_t small = type_struct(&types, "main.small", 16);
    type_field(&types, "p", pointer, 0);
    for (size_t i = 0; i < 200; i++)
        known += map(list[i])->known;
    assert_in_range(known, 20, 100);
    assert_true(map(small)->known);
}

TEST(which_pointer_maps_are_too_many_depends_on_types_only)
{
    enum { TYPES = 200 };
    bool known[TYPES];
    size_t count = 0;
    uint32_t first = 0;
    for (uint32_t i = 0; i < TYPES; i++) {
        const uint32_t type = type_array(&types, "[]*int", pointer, 60000 - 100 * i);
        first = i == 0 ? type : first;
    }
    for (uint32_t i = 0; i < TYPES; i++) {
        known[i] = map(first + i)->known;
        count += known[i];
    }
    assert_in_range(count, 20, TYPES - 20);
    pointer_maps_deinit(&pointer_maps);
    for (uint32_t i = TYPES; i-- > 0;)
        assert_int_equal(map(first + i)->known, known[i]);
}

TEST(fields_are_found_behind_empty_ones)
{
    const uint32_t empty = type_struct(&types, "struct {}", 0);
    const uint32_t type = type_struct(&types, "main.T", 24);
    type_field(&types, "a", pointer, 0);
    type_field(&types, "e", empty, 8);
    type_field(&types, "b", text, 8);
    type_field(&types, "f", empty, 24);
    is_path(type, 0, "a");
    is_path(type, 8, "b");
    is_path(type, 16, "b");
    assert_null(types_field_at(&types, &types.list.data[type], 24));
    assert_null(types_field_at(&types, &types.list.data[empty], 0));
}

TEST(long_paths_are_cut)
{
    char name[300], path[100];
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    const uint32_t type = type_struct(&types, "main.T", 8);
    type_field(&types, name, pointer, 0);
    assert_int_equal(types_path(&types, type, 0, path, sizeof(path)), sizeof(path) - 1);
    assert_int_equal(strlen(path), sizeof(path) - 1);
}

UNIT_MAIN(start, end)
