/*
 * Covers naming/keys: the names of map entries, in hand-made buckets and groups: which slots are in
 * use, keys of each kind, keys that cannot be read. tests/keys looks entries up in real maps.
 */
#include "dump_builder.h"
#include "type_builder.h"

#include "graph/capacities.h"
#include "naming/key_names.h"
#include "naming/names.h"
#include "types/runtime_types.h"

enum { SIZE = 1040 };
#define BASE 0xc000000000

static struct dump dump;
static struct types types;
static struct typing typing;
static struct names names;
static struct text text;
static uint8_t value[4096];
static uint32_t map, word, string, leaf;

/* The object of 1040 bytes that the keys' strings point to. */
static const char memory[SIZE] =
    "alice"                                                                  /* 0 */
    "0123456789012345678901234567890123456789012345678901234567890123456789" /* 5 */
    "\xff\xc3("                                                              /* 75 */
    "\xc3\xa9";                                                              /* 78 */

static void begin(const char *version, uint64_t pointer_size, bool big_endian)
{
    dump_start(&dump, DUMP_1_7, pointer_size, big_endian);
    const struct g2h_record record = {
        .kind = G2H_RECORD_OBJECT,
        .object = {.address = BASE, .size = SIZE, .contents = {(const uint8_t *)memory, SIZE}}};
    dump_record(&dump, &record, NULL, 0);
    dump_eof(&dump);
    typing = (struct typing){.heap = dump_load(&dump, 1), .types = &types, .threads = 1};
    typing.release = go_release_parse(version);
    names = (struct names){
        .heap = typing.heap, .typing = &typing, .word_shift = pointer_size == 8 ? 3 : 2};
    types_init(&types, (unsigned)pointer_size);
    word = type_add(&types, "int", TYPE_INT, pointer_size, TYPE_NONE);
    string = type_add(&types, "string", TYPE_STRING, 2 * pointer_size, TYPE_NONE);
    leaf = type_pointer(&types, "*int", word);
    memset(value, 0, sizeof(value));
}

/* Returns the entries of the bucket or group type of map[key]elem. */
static struct map_entries *entries_of(const char *version, uint32_t key, uint32_t elem)
{
    const struct go_release release = go_release_parse(version);
    const bool is_swiss = release.minor >= 24;
    struct runtime_types runtime;
    struct map_entries *entries = NULL;
    map = type_add(&types, "map[K]V", TYPE_MAP, types.pointer_size, elem);
    types.list.data[map].key = key;
    runtime_types_init(&runtime, &types, &release);
    assert_true(runtime_types_add(&runtime));
    runtime_types_deinit(&runtime);
    for (uint32_t i = 0; i < types.list.count && !entries; i++)
        if (types.list.data[i].role == (is_swiss ? ROLE_MAP_GROUP : ROLE_MAP_BUCKET) &&
            types.list.data[i].elem == map)
            assert_true(map_entries_create(&types, i, &entries));
    assert_non_null(entries);
    assert_true(map_entries_add_paths(&types, entries, &names.paths));
    assert_int_equal(entries->is_swiss, is_swiss);
    assert_true(entries->size <= sizeof(value));
    return entries;
}

static void end(struct map_entries *entries)
{
    map_entries_destroy(entries);
    string_pool_deinit(&names.paths);
    text_deinit(&text);
    types_deinit(&types);
    dump_deinit(&dump);
}

static uint64_t key_offset(const struct map_entries *entries, unsigned slot)
{
    return entries->keys + slot * entries->key_stride;
}

static uint64_t elem_offset(const struct map_entries *entries, unsigned slot)
{
    return entries->elems + slot * entries->elem_stride;
}

static void put_string(const struct map_entries *entries, unsigned slot, uint64_t address,
                       uint64_t size)
{
    uint8_t *at = value + key_offset(entries, slot);
    dump_store(&dump, at, address);
    dump_store(&dump, at + dump.pointer_size, size);
}

/* Expects a name that is made of a key's bytes or number to be the same when it is made again. */
static void check_again(const struct map_entries *entries, const struct slot_key *key,
                        uint64_t offset)
{
    struct text again = {0};
    if (key->form != KEY_INTEGER && (key->object == UINT32_MAX || key->size > 127))
        return; /* the name would be made of the word of an object that is not there */
    key_append_again(&names,
                     key_origin(key, entries->path_of_word[offset >> names.word_shift], 0, offset),
                     &again);
    assert_int_equal(again.size, text.size);
    assert_memory_equal(again.data, text.data, text.size);
    text_deinit(&again);
}

static enum key_form form_at(const struct map_entries *entries, uint64_t offset, bool redact,
                             uint32_t *ret_integer)
{
    static const struct g2h_redaction redaction = {"any key will do"};
    const struct key_reader reader = {&names, UINT32_MAX};
    struct slot_key key = {0};
    names.redaction = redact ? &redaction : NULL;
    text.size = 0;
    key_read(&reader, entries, value, map_entries_slot(entries, &names, offset), &text, &key);
    enum key_form form = key.form;
    if (form != KEY_NONE) {
        const uint32_t path = entries->path_of_word[offset >> names.word_shift];
        key_append_path(&names, path, &text);
        form = form == KEY_INTEGER && path != PATH_EMPTY ? KEY_TEXT : form;
        check_again(entries, &key, offset);
    }
    *ret_integer = key.integer;
    if (form == KEY_INTEGER)
        text.size = 0;
    text_append(&text, "", 1);
    assert_false(text.failed);
    return form;
}

#define EXPECT(offset, expected) \
    do { \
        uint32_t integer; \
        assert_int_equal(form_at(entries, offset, false, &integer), KEY_TEXT); \
        assert_string_equal(text.data, expected); \
    } while (0)
#define EXPECT_NONE(offset) \
    do { \
        uint32_t integer; \
        assert_int_equal(form_at(entries, offset, false, &integer), KEY_NONE); \
        assert_string_equal(text.data, ""); \
    } while (0)

static void strings_of(const char *version, uint64_t pointer_size, bool big_endian)
{
    begin(version, pointer_size, big_endian);
    struct map_entries *entries = entries_of(version, string, leaf);
    put_string(entries, 0, BASE, 5);
    put_string(entries, 1, BASE + 5, 64);
    put_string(entries, 2, BASE + 5, 65);
    put_string(entries, 3, BASE + 75, 5);
    put_string(entries, 4, 0, 0);
    put_string(entries, 5, BASE + SIZE - 12, 13); /* one byte beyond the object's end */
    put_string(entries, 6, BASE - 8, 5);          /* in no object */
    put_string(entries, 7, BASE, UINT64_MAX);     /* longer than all memory */
    EXPECT(elem_offset(entries, 0), "[\"alice\"]");
    EXPECT(key_offset(entries, 0), "[\"alice\"] (key)");
    EXPECT(elem_offset(entries, 1),
           "[\"0123456789012345678901234567890123456789012345678901234567890123\"]");
    EXPECT(elem_offset(entries, 2),
           "[\"0123456789012345678901234567890123456789012345678901234567890123…\"]");
    EXPECT(elem_offset(entries, 3), "[\"\xef\xbf\xbd\xef\xbf\xbd(é\"]");
    EXPECT(elem_offset(entries, 4), "[\"\"]");
    for (unsigned slot = 5; slot < SLOTS; slot++)
        EXPECT_NONE(elem_offset(entries, slot));
    end(entries);
}

TEST(keys_that_are_strings)
{
    strings_of("go1.19", 8, false);
    strings_of("go1.27", 8, false);
    strings_of("go1.19", 8, true);
    strings_of("go1.27", 8, true);
}

TEST(integers)
{
    static const struct {
        enum type_kind kind;
        uint64_t size, value;
        const char *expected; /* NULL: the edge is an element */
    } cases[] = {
        {TYPE_INT, 8, 0, NULL},
        {TYPE_INT, 8, INT32_MAX - 1, NULL},
        {TYPE_INT, 8, INT32_MAX, "[2147483647]"},
        {TYPE_INT, 8, UINT64_MAX, "[-1]"},
        {TYPE_INT64, 8, (uint64_t)1 << 63, "[-9223372036854775808]"},
        {TYPE_UINT64, 8, UINT64_MAX, "[18446744073709551615]"},
        {TYPE_UINT32, 4, UINT32_MAX, "[4294967295]"},
        {TYPE_INT32, 4, UINT32_MAX, "[-1]"},
        {TYPE_INT16, 2, 0x8000, "[-32768]"},
        {TYPE_UINT16, 2, 0x8000, NULL},
        {TYPE_INT8, 1, 0xff, "[-1]"},
        {TYPE_UINT8, 1, 0xff, NULL},
        {TYPE_UINTPTR, 8, 5, NULL},
        {TYPE_BOOL, 1, 0, "[false]"},
        {TYPE_BOOL, 1, 1, "[true]"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int big = 0; big < 2; big++) {
            begin("go1.27", 8, big);
            const uint32_t key =
                type_add(&types, "main.key", cases[i].kind, cases[i].size, TYPE_NONE);
            struct map_entries *entries = entries_of("go1.27", key, leaf);
            uint8_t *at = value + key_offset(entries, 6);
            uint32_t integer = UINT32_MAX;
            for (uint64_t j = 0; j < cases[i].size; j++)
                at[big ? cases[i].size - 1 - j : j] = (uint8_t)(cases[i].value >> 8 * j);
            assert_int_equal(form_at(entries, elem_offset(entries, 6), false, &integer),
                             cases[i].expected ? KEY_TEXT : KEY_INTEGER);
            assert_string_equal(text.data, cases[i].expected ? cases[i].expected : "");
            if (!cases[i].expected)
                assert_int_equal(integer, cases[i].value);
            /* redacted, the entry has no name that depends on the value */
            assert_int_equal(form_at(entries, elem_offset(entries, 6), true, &integer), KEY_NONE);
            assert_string_equal(text.data, "");
            end(entries);
        }
}

TEST(ways_into_elems_and_keys)
{
    begin("go1.19", 8, false);
    const uint32_t two = type_array(&types, "[2]*int", leaf, 2);
    const uint32_t pair = type_struct(&types, "main.pair", 24);
    type_field(&types, "first", leaf, 0);
    type_field(&types, "rest", two, 8);
    struct map_entries *entries = entries_of("go1.19", word, pair);
    dump_store(&dump, value + key_offset(entries, 1), 42);
    dump_store(&dump, value + key_offset(entries, 2), (uint64_t)-42);
    EXPECT(elem_offset(entries, 1), "[42].first");
    EXPECT(elem_offset(entries, 1) + 16, "[42].rest[1]");
    EXPECT(elem_offset(entries, 2) + 8, "[-42].rest[0]");
    end(entries);

    begin("go1.27", 8, false);
    const uint32_t key = type_struct(&types, "main.key", 16);
    type_field(&types, "n", word, 0);
    type_field(&types, "leaf", leaf, 8);
    entries = entries_of("go1.27", key, type_array(&types, "[3]*int", leaf, 3));
    assert_int_equal(entries->kind, KEYS_WITHOUT_TEXT);
    EXPECT_NONE(elem_offset(entries, 1));
    text.size = 0;
    map_entries_append_index(&types, entries, key_offset(entries, 5) + 8, 13, &text);
    map_entries_append_index(&types, entries, elem_offset(entries, 5) + 8, 13, &text);
    text_append(&text, "", 1);
    assert_string_equal(text.data, "[#13] (key.leaf)[#13][1]");
    end(entries);
}

/* Keys that are structs and arrays of what can be shown, as in a literal. */
TEST(composite_keys)
{
    static const struct g2h_redaction redaction;
    uint32_t integer;
    begin("go1.27", 8, false);
    const uint32_t byte = type_add(&types, "uint8", TYPE_UINT8, 1, TYPE_NONE),
                   bytes = type_array(&types, "[4]uint8", byte, 4),
                   key = type_struct(&types, "main.id", 40);
    type_field(&types, "n", word, 0);
    type_field(&types, "name", string, 8);
    type_field(&types, "bytes", bytes, 24);
    type_field(&types, "last", word, 32);
    struct map_entries *entries = entries_of("go1.27", key, leaf);
    assert_int_equal(entries->kind, KEYS_TEXTUAL);
    dump_store(&dump, value + key_offset(entries, 1), (uint64_t)-42);
    dump_store(&dump, value + key_offset(entries, 1) + 8, BASE);
    dump_store(&dump, value + key_offset(entries, 1) + 16, 5);
    memcpy(value + key_offset(entries, 1) + 24, "\x01\xfe\x00\x10", 4);
    EXPECT(elem_offset(entries, 1), "[{-42, \"alice\", 01fe0010, 0}]");
    dump_store(&dump, value + key_offset(entries, 1) + 16, 75);
    EXPECT(elem_offset(entries, 1),
           "[{-42, \"alice01234567890123456789012345678901234567890123456789012345678…\", …}]");
    dump_store(&dump, value + key_offset(entries, 1) + 8, 1); /* no string is there */
    EXPECT_NONE(elem_offset(entries, 1));
    names.redaction = &redaction;
    EXPECT_NONE(elem_offset(entries, 1));
    assert_int_equal(form_at(entries, elem_offset(entries, 1), true, &integer), KEY_NONE);
    end(entries);
}

TEST(redacted_strings)
{
    uint32_t integer;
    char first[100];
    begin("go1.27", 8, false);
    struct map_entries *entries = entries_of("go1.27", string, leaf);
    put_string(entries, 0, BASE, 5);
    put_string(entries, 1, BASE + 75, 5);
    put_string(entries, 2, 0, 0);
    put_string(entries, 3, BASE, 1024);
    put_string(entries, 4, BASE, 1025);
    assert_int_equal(form_at(entries, elem_offset(entries, 0), true, &integer), KEY_TEXT);
    assert_true(text.size < sizeof(first));
    memcpy(first, text.data, text.size);
    assert_memory_equal(first, "[(<=16 bytes, #", 15);
    assert_null(strstr(first, "alice"));
    form_at(entries, key_offset(entries, 0), true, &integer);
    assert_memory_equal(text.data, first, strlen(first));
    assert_string_equal(text.data + strlen(first), " (key)");
    form_at(entries, elem_offset(entries, 1), true, &integer);
    assert_string_not_equal(text.data, first);
    form_at(entries, elem_offset(entries, 2), true, &integer);
    assert_memory_equal(text.data, "[(<=16 bytes, #", 15);
    assert_int_equal(form_at(entries, elem_offset(entries, 3), true, &integer), KEY_TEXT);
    assert_memory_equal(text.data, "[(<=1024 bytes, #", 17);
    /* the whole key would have to be hashed, for each map that has it */
    assert_int_equal(form_at(entries, elem_offset(entries, 4), true, &integer), KEY_NONE);
    assert_int_equal(form_at(entries, elem_offset(entries, 4), false, &integer), KEY_TEXT);
    end(entries);
}

TEST(slots_in_use)
{
    static const uint8_t tops[SLOTS] = {0, 1, 2, 3, 4, 5, 6, 255};
    static const uint8_t ctrl[SLOTS] = {0x80, 0xfe, 0xff, 0, 0x7f, 1, 0x80, 2};
    begin("go1.19", 8, false);
    struct map_entries *entries = entries_of("go1.19", string, leaf);
    for (unsigned slot = 0; slot < SLOTS; slot++)
        assert_int_equal((map_entries_used(&names, entries, tops) >> slot & 1), tops[slot] >= 5);
    dump.heap->go_minor = 0; /* so old a dump does not give the release, its executable does */
    typing.release = go_release_parse("go1.11.6");
    assert_true((map_entries_used(&names, entries, tops) >> 4 & 1));
    assert_false((map_entries_used(&names, entries, tops) >> 3 & 1));
    end(entries);
    for (int big = 0; big < 2; big++) {
        begin("go1.27", 8, big);
        entries = entries_of("go1.27", string, leaf);
        for (unsigned slot = 0; slot < SLOTS; slot++)
            assert_int_equal((map_entries_used(&names, entries, ctrl) >> slot & 1),
                             ctrl[big ? 7 - slot : slot] < 0x80);
        end(entries);
    }
}

static bool note_capacity(void *context, const struct g2h_capacity *capacity)
{
    *(struct g2h_capacity *)context = *capacity;
    return true;
}

/* Of the groups of a map that the dump has only a part of, it is not known how many slots are in
 * use. */
TEST(slots_of_shortened_groups)
{
    begin("go1.27", 8, false);
    struct map_entries *entries = entries_of("go1.27", word, word);
    struct map_entries *of_type[64] = {NULL};
    struct runs none[64] = {{0, 0}};
    uint32_t group = 0, of_map[64], claim, no_text = 0;
    assert_true(types.list.count <= sizeof(of_map) / sizeof(*of_map));
    while (types.list.data[group].role != ROLE_MAP_GROUP)
        of_map[group++] = UINT32_MAX;
    of_type[group] = entries;
    of_map[group] = 0;
    claim = (group + 1) | CLAIM_ARRAY | CLAIM_EXACT;
    typing.claims = &claim;
    typing.texts = &no_text;
    const struct g2h_graph graph = {.heap = typing.heap, .names = names};
    const struct g2h_capacities capacities = {.graph = &graph,
                                              .typing = &typing,
                                              .of_type = none,
                                              .map_of_type = of_map,
                                              .entries = of_type};
    struct g2h_capacity found = {.all = 0};
    assert_true(g2h_capacities_of_objects(&capacities, 0, 1, note_capacity, &found));
    assert_int_equal(found.kind, G2H_CAPACITY_SLOTS);
    assert_int_equal(found.all, 4 * SLOTS);
    found.all = 0;
    dump.heap->slot_classes.list.data[0].stored = SIZE - 8;
    assert_true(g2h_capacities_of_objects(&capacities, 0, 1, note_capacity, &found));
    assert_int_equal(found.all, 0);
    end(entries);
}

/* A shortened string is as long as its program's, but only a part of it can be shown. */
TEST(shortened_string)
{
    uint32_t extent = 70;
    begin("go1.27", 8, false);
    typing.texts = &extent;
    dump.heap->slot_classes.list.data[0].stored = 5;
    assert_int_equal(names_text_size(&names, 0), extent);
    names_append_text(&names, 0, &text);
    assert_int_equal(text.size, 5);
    assert_memory_equal(text.data, "alice", 5);
    end(NULL);
}

/* A type with that role but without its fields has no entries, nor has a type that is no map's. */
TEST(types_that_are_none)
{
    struct map_entries *entries;
    begin("go1.27", 8, false);
    const uint32_t slots = type_array(&types, "[8]int", word, 8);
    const uint32_t strange = type_struct(&types, "group<a,b>", 72);
    type_field(&types, "ctrl", word, 0);
    type_field(&types, "slots", slots, 8);
    assert_true(map_entries_create(&types, strange, &entries));
    assert_null(entries);
    types.list.data[strange].role = ROLE_MAP_GROUP;
    assert_true(map_entries_create(&types, strange, &entries));
    assert_null(entries);
    end(NULL);
}

UNIT_MAIN(NULL, NULL)
