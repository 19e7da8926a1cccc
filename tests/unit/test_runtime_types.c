/* Covers types/runtime: layouts of releases for which there is no toolchain at hand, names that are
 * no names, types that cannot be. tests/structures compares with real programs. */
#include "unit.h"

#include <inttypes.h>

#include "types/runtime_types.h"

static struct types types;
static struct runtime_types runtime;

static uint32_t name(const char *text)
{
    uint32_t number;
    assert_true(types_intern(&types, text, strlen(text), &number));
    return number;
}

static uint32_t add(const char *text, enum type_kind kind, uint64_t size, uint32_t elem,
                    uint32_t key)
{
    uint32_t number;
    const struct type type = {.name = name(text),
                              .kind = (uint8_t)kind,
                              .size = size,
                              .pointer_bytes = UINT64_MAX,
                              .elem = elem,
                              .key = key,
                              .header = TYPE_NONE,
                              .first_field = (uint32_t)types.fields.count};
    assert_true(types_add(&types, &type, &number));
    return number;
}

/* Adds a field to the struct that was added last. */
static void add_field(const char *text, uint32_t type, uint64_t offset)
{
    const struct type_field field = {.name = name(text), .type = type, .offset = offset};
    assert_true(vector_push(&types.fields, field));
    types.list.data[types.list.count - 1].field_count++;
}

static void start(unsigned pointer_size, const char *version)
{
    const struct go_release release = go_release_parse(version);
    types_init(&types, pointer_size);
    runtime_types_init(&runtime, &types, &release);
}

static void end(void)
{
    runtime_types_deinit(&runtime);
    types_deinit(&types);
}

static const struct type *type_at(uint32_t number)
{
    assert_true(number < types.list.count);
    return &types.list.data[number];
}

/* Returns a field's type; fails if the field is at another offset. */
static const struct type *field(const struct type *type, const char *text, uint64_t offset)
{
    for (uint32_t i = 0; i < type->field_count; i++) {
        const struct type_field *at = &types.fields.data[type->first_field + i];
        size_t size;
        const char *own = string_pool_text(&types.names, at->name, &size);
        if (size == strlen(text) && memcmp(own, text, size) == 0) {
            if (at->offset != offset)
                fail_msg("%s is at %" PRIu64 ", not %" PRIu64, text, at->offset, offset);
            return type_at(at->type);
        }
    }
    fail_msg("no %s", text);
    return NULL;
}

static bool has_field(const struct type *type, const char *text)
{
    for (uint32_t i = 0; i < type->field_count; i++)
        if (types.fields.data[type->first_field + i].name == name(text))
            return true;
    return false;
}

static void assert_name(const struct type *type, const char *text)
{
    size_t size;
    const char *own = string_pool_text(&types.names, type->name, &size);
    if (size != strlen(text) || memcmp(own, text, size) != 0)
        fail_msg("%.*s is no %s", (int)size, own, text);
}

/* Expects the type to be one from inside the map that has the header, or not to be one. */
static void inside(const struct type *header, const struct type *type, bool is_inside)
{
    assert_int_equal(types_map_inside(&types, (uint32_t)(type - types.list.data)),
                     is_inside ? header->elem : TYPE_NONE);
}

/* Returns the header of map[string]int. */
static const struct type *map_string_int(unsigned word, const char *version)
{
    start(word, version);
    const uint32_t key = add("string", TYPE_STRING, 2 * word, TYPE_NONE, TYPE_NONE);
    const uint32_t elem = add("int", TYPE_INT, word, TYPE_NONE, TYPE_NONE);
    const uint32_t map = add("map[string]int", TYPE_MAP, word, elem, key);
    assert_true(runtime_types_add(&runtime));
    const struct type *header = type_at(type_at(map)->header);
    assert_name(header, "map[string]int");
    assert_int_equal(header->role, ROLE_MAP);
    assert_int_equal(header->elem, map);
    return header;
}

static const struct type *chan_int(unsigned word, const char *version)
{
    start(word, version);
    const uint32_t elem = add("int", TYPE_INT, word, TYPE_NONE, TYPE_NONE);
    const uint32_t channel = add("<-chan int", TYPE_CHAN, word, elem, TYPE_NONE);
    const uint32_t other = add("chan int", TYPE_CHAN, word, elem, TYPE_NONE);
    assert_true(runtime_types_add(&runtime));
    assert_int_equal(type_at(channel)->header, type_at(other)->header);
    const struct type *header = type_at(type_at(channel)->header);
    assert_name(header, "chan int");
    assert_true(header->may_be_noscan);
    return header;
}

TEST(test_release)
{
    struct go_release release = go_release_parse("go1.25.12 X:greenteagc,noswissmap");
    assert_int_equal(release.minor, 25);
    assert_true(release.no_swiss_maps);
    assert_false(release.split_groups);
    release = go_release_parse("go1.26.11-X:nosynchashtriemap");
    assert_true(release.minor == 26 && release.no_sync_hash_trie && !release.no_swiss_maps);
    release = go_release_parse("devel go1.27-a1b2c3 X:mapsplitgroup");
    assert_true(release.minor == 27 && release.split_groups);
    assert_false(go_release_parse("go1.25 X:notnoswissmap,noswissmaps").no_swiss_maps);
    assert_int_equal(go_release_parse("go1.7").minor, 7);
    assert_int_equal(go_release_parse("go1.22rc1").minor, 22);
    assert_int_equal(go_release_parse("devel +a1b2c3 Mon").minor, 0);
    assert_int_equal(go_release_parse("").minor, 0);
}

TEST(test_hmap)
{
    const struct type *header = map_string_int(8, "go1.7.6");
    assert_int_equal(header->size, 48);
    assert_false(has_field(header, "noverflow"));
    field(header, "hash0", 12);
    const struct type *overflow = type_at(field(header, "overflow", 40)->elem);
    assert_int_equal(overflow->kind, TYPE_ARRAY);
    assert_int_equal(overflow->size, 16);
    end();

    header = map_string_int(8, "go1.9");
    field(header, "noverflow", 10);
    const struct type *extra = type_at(field(header, "extra", 40)->elem);
    field(extra, "nextOverflow", 16);
    assert_false(has_field(extra, "oldoverflow"));
    end();

    header = map_string_int(4, "go1.19.8");
    assert_int_equal(header->size, 28);
    const struct type *buckets = field(header, "buckets", 12);
    assert_int_equal(buckets->target, TARGET_MANY);
    const struct type *bucket = type_at(buckets->elem);
    assert_name(bucket, "bucket<string,int>");
    assert_int_equal(bucket->role, ROLE_MAP_BUCKET);
    assert_int_equal(bucket->size, 8 + 64 + 32 + 4);
    assert_false(bucket->may_be_noscan);
    assert_name(field(bucket, "keys", 8), "[8]string");
    assert_ptr_equal(type_at(field(bucket, "overflow", 104)->elem), bucket);
    inside(header, bucket, true);
    inside(header, field(bucket, "overflow", 104), true);
    inside(header, field(bucket, "keys", 8), false);
    inside(header, type_at(field(header, "extra", 24)->elem), true);
    inside(header, type_at(field(type_at(field(header, "extra", 24)->elem), "overflow", 0)->elem),
           true);
    inside(header, header, false);
    end();

    header = map_string_int(8, "go1.24 X:noswissmap");
    field(header, "clearSeq", 40);
    field(header, "extra", 48);
    end();
}

TEST(test_swiss)
{
    const struct type *header = map_string_int(8, "go1.24.4");
    inside(header, header, false);
    assert_int_equal(header->size, 48);
    assert_false(has_field(header, "tombstonePossible"));
    const struct type *directory = field(header, "dirPtr", 16);
    assert_int_equal(directory->target, TARGET_BY_WORD);
    assert_int_equal(directory->length, 8);
    const struct type *group = type_at(directory->elem);
    assert_name(group, "group<string,int>");
    assert_int_equal(group->size, 8 + 8 * 24);
    field(group, "slots", 8);
    const struct type *table = type_at(type_at(directory->key)->elem);
    assert_int_equal(table->size, 32);
    const struct type *groups = field(field(table, "groups", 16), "data", 0);
    assert_int_equal(groups->target, TARGET_MANY);
    assert_ptr_equal(type_at(groups->elem), group);
    inside(header, group, true);
    inside(header, table, true);
    inside(header, type_at(directory->key), true);
    inside(header, type_at(type_at(header->elem)->key), false);
    end();

    header = map_string_int(4, "go1.27.4 X:mapsplitgroup");
    assert_int_equal(header->size, 32);
    field(header, "tombstonePossible", 23);
    group = type_at(field(header, "dirPtr", 12)->elem);
    field(group, "keys", 8);
    field(group, "elems", 8 + 64);
    end();
}

TEST(test_hchan)
{
    const struct type *header = chan_int(8, "go1.22");
    assert_int_equal(header->size, 96);
    const struct type *buffer = field(header, "buf", 16);
    assert_int_equal(buffer->target, TARGET_COUNTED);
    assert_true(buffer->length == UINT64_MAX - 7); /* dataqsiz is the word before */
    assert_name(type_at(buffer->elem), "int");
    end();
    header = chan_int(8, "go1.23");
    field(header, "timer", 32);
    end();
    header = chan_int(8, "go1.24");
    field(header, "synctest", 26);
    field(header, "closed", 28);
    end();
    header = chan_int(8, "go1.25");
    assert_false(has_field(header, "synctest"));
    field(header, "bubble", 96);
    end();
}

TEST(test_sudog)
{
    static const struct {
        const char *version;
        uint64_t size, elem, c;
    } cases[] = {
        {"go1.7", 72, 32, 64},   {"go1.8", 80, 32, 72},  {"go1.9", 96, 32, 88},
        {"go1.14", 96, 32, 88},  {"go1.15", 88, 24, 80}, {"go1.22", 88, 24, 80},
        {"go1.26", 104, 24, 88},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct type *header = chan_int(8, cases[i].version);
        const uint64_t recvq = strcmp(cases[i].version, "go1.26") == 0 ? 64 : 56;
        const struct type *sudog = type_at(field(field(header, "recvq", recvq), "first", 0)->elem);
        assert_name(sudog, "sudog<int>");
        assert_int_equal(sudog->size, cases[i].size);
        field(sudog, "elem", cases[i].elem);
        field(sudog, "c", cases[i].c);
        end();
    }
}

/* Keys and elems of more than 128 bytes are pointers; those of 128 bytes are stored in place. */
TEST(test_indirect)
{
    start(8, "go1.19");
    const uint32_t small = add("main.small", TYPE_STRUCT, 128, TYPE_NONE, TYPE_NONE);
    const uint32_t large = add("main.large", TYPE_STRUCT, 129, TYPE_NONE, TYPE_NONE);
    const uint32_t absurd = add("main.absurd", TYPE_STRUCT, UINT64_MAX - 3, TYPE_NONE, TYPE_NONE);
    const uint32_t map = add("map[main.small]main.large", TYPE_MAP, 8, large, small);
    const uint32_t other = add("map[main.absurd]main.small", TYPE_MAP, 8, small, absurd);
    assert_true(runtime_types_add(&runtime));
    const struct type *bucket = type_at(field(type_at(type_at(map)->header), "buckets", 16)->elem);
    assert_int_equal(bucket->size, 8 + 8 * 128 + 8 * 8 + 8);
    assert_false(bucket->may_be_noscan);
    bucket = type_at(field(type_at(type_at(other)->header), "buckets", 16)->elem);
    assert_int_equal(bucket->size, 8 + 8 * 8 + 8 * 128 + 8);
    end();
}

TEST(test_no_pointers)
{
    start(8, "go1.19");
    const uint32_t byte = add("uint8", TYPE_UINT8, 1, TYPE_NONE, TYPE_NONE);
    const uint32_t map = add("map[uint8]uint8", TYPE_MAP, 8, byte, byte);
    assert_true(runtime_types_add(&runtime));
    const struct type *bucket = type_at(field(type_at(type_at(map)->header), "buckets", 16)->elem);
    assert_true(bucket->may_be_noscan);
    assert_int_equal(bucket->size, 8 + 8 + 8 + 8);
    end();
}

/* The entries of unique's map have weak pointers of the type that the map is of. */
TEST(test_unique)
{
    static const char *const names[] = {"string", "main.name"};
    start(8, "go1.25.1");
    const uint32_t pointer = add("unsafe.Pointer", TYPE_UNSAFE_POINTER, 8, TYPE_NONE, TYPE_NONE);
    add("bool", TYPE_BOOL, 1, TYPE_NONE, TYPE_NONE);
    add("uintptr", TYPE_UINTPTR, 8, TYPE_NONE, TYPE_NONE);
    uint32_t atomics[2];
    for (unsigned i = 0; i < 2; i++) {
        char text[64];
        add(names[i], TYPE_STRING, 16, TYPE_NONE, TYPE_NONE);
        snprintf(text, sizeof(text), "unique.node[%s]", names[i]);
        const uint32_t node = add(text, TYPE_STRUCT, 1, TYPE_NONE, TYPE_NONE);
        snprintf(text, sizeof(text), "*unique.node[%s]", names[i]);
        add(text, TYPE_POINTER, 8, node, TYPE_NONE);
        snprintf(text, sizeof(text), "unique.indirect[%s]", names[i]);
        add(text, TYPE_STRUCT, 152, TYPE_NONE, TYPE_NONE);
        snprintf(text, sizeof(text), "sync/atomic.Pointer[unique.node[%s]]", names[i]);
        atomics[i] = add(text, TYPE_STRUCT, 8, TYPE_NONE, TYPE_NONE);
        add_field("v", pointer, 0);
    }
    assert_true(runtime_types_add(&runtime));
    for (unsigned i = 0; i < 2; i++) {
        char text[64];
        snprintf(text, sizeof(text), "unique.entry[%s]", names[i]);
        const struct type *entry = NULL;
        for (uint32_t j = 0; j < types.list.count; j++)
            if (types.list.data[j].name == name(text))
                entry = type_at(j);
        assert_non_null(entry);
        snprintf(text, sizeof(text), "weak.Pointer[%s]", names[i]);
        assert_name(field(entry, "key", 16), text);
        assert_int_equal(field(type_at(atomics[i]), "v", 0)->kind, TYPE_POINTER);
    }
    end();
}

/* Types that contain themselves, that do not exist, that are deep. */
TEST(test_damage)
{
    start(8, "go1.26");
    const uint32_t self = add("main.self", TYPE_STRUCT, 8, TYPE_NONE, TYPE_NONE);
    add_field("self", self, 0);
    uint32_t deep = self;
    for (unsigned i = 0; i < 100000; i++)
        deep = add("main.deep", TYPE_ARRAY, 8, deep, TYPE_NONE);
    add("map[main.self]main.deep", TYPE_MAP, 8, deep, self);
    add("map[?]?", TYPE_MAP, 8, 123456789, TYPE_NONE);
    add("chan ?", TYPE_CHAN, 8, TYPE_NONE, TYPE_NONE);
    const uint32_t pointer = add("unsafe.Pointer", TYPE_UNSAFE_POINTER, 8, TYPE_NONE, TYPE_NONE);
    static char stars[60000];
    memset(stars, '*', sizeof(stars) - 1);
    memcpy(stars, "sync/atomic.Pointer[", 20);
    stars[sizeof(stars) - 2] = ']';
    const char *const names[] = {stars,
                                 "sync/atomic.Pointer[",
                                 "sync/atomic.Pointer[]",
                                 "sync/atomic.Pointer[]]]",
                                 "sync/atomic.Pointer[internal/sync.node[",
                                 "sync/atomic.Pointer[internal/sync.node[]]",
                                 "sync.Pool",
                                 "weak.Pointer[",
                                 "sync.eface",
                                 "sync.notifyList"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        add(names[i], TYPE_STRUCT, 8, TYPE_NONE, TYPE_NONE);
        add_field("v", pointer, 0);
        add_field("v", 123456789, 0);
    }
    add("*time.Timer", TYPE_POINTER, 8, 123456789, TYPE_NONE);
    assert_true(runtime_types_add(&runtime));
    end();
}

/* If two different types have the same name, it names neither of them. */
TEST(test_names)
{
    start(8, "go1.22");
    const uint32_t pointer = add("unsafe.Pointer", TYPE_UNSAFE_POINTER, 8, TYPE_NONE, TYPE_NONE);
    add("main.one", TYPE_STRUCT, 8, TYPE_NONE, TYPE_NONE);
    add("main.two", TYPE_STRUCT, 8, TYPE_NONE, TYPE_NONE);
    add("main.two", TYPE_STRUCT, 16, TYPE_NONE, TYPE_NONE);
    add("gopkg.in/yaml.v3.Node", TYPE_STRUCT, 16, TYPE_NONE, TYPE_NONE);
    const char *const names[] = {"sync/atomic.Pointer[main.one]", "sync/atomic.Pointer[main.two]",
                                 "sync/atomic.Pointer[gopkg.in/yaml%2ev3.Node]"};
    uint32_t numbers[3];
    for (size_t i = 0; i < 3; i++) {
        numbers[i] = add(names[i], TYPE_STRUCT, 8, TYPE_NONE, TYPE_NONE);
        add_field("v", pointer, 0);
    }
    assert_true(runtime_types_add(&runtime));
    assert_name(field(type_at(numbers[0]), "v", 0), "*main.one");
    assert_name(field(type_at(numbers[1]), "v", 0), "unsafe.Pointer");
    assert_name(field(type_at(numbers[2]), "v", 0), "*gopkg.in/yaml.v3.Node");
    end();
}

/* A type argument that the executable has no type for is only a part of a name: adding its type
 * moves all names. */
TEST(test_moving_names)
{
    start(8, "go1.22");
    const uint32_t pointer = add("unsafe.Pointer", TYPE_UNSAFE_POINTER, 8, TYPE_NONE, TYPE_NONE),
                   atomic =
                       add("sync/atomic.Pointer[uint16]", TYPE_STRUCT, 8, TYPE_NONE, TYPE_NONE);
    add_field("v", pointer, 0);
    struct string_pool *names = &types.names;
    char *text = realloc(names->text, names->text_size);
    assert_non_null(text);
    names->text = text;
    names->text_capacity = names->text_size;
    assert_true(runtime_types_add(&runtime));
    assert_name(field(type_at(atomic), "v", 0), "*uint16");
    end();
}

TEST(test_generic)
{
    start(8, "go1.22");
    const uint32_t generic = add("runtime.hmap", TYPE_STRUCT, 48, TYPE_NONE, TYPE_NONE);
    const uint32_t shape = add("main.list[go.shape.int]", TYPE_STRUCT, 8, TYPE_NONE, TYPE_NONE);
    const uint32_t plain = add("runtime.hmapper", TYPE_STRUCT, 8, TYPE_NONE, TYPE_NONE);
    assert_true(runtime_types_add(&runtime));
    assert_true(type_at(generic)->is_generic && type_at(shape)->is_generic);
    assert_false(type_at(plain)->is_generic);
    end();
}

/* A second call handles the new types and changes nothing else. */
TEST(test_again)
{
    map_string_int(8, "go1.25");
    const size_t count = types.list.count;
    assert_true(runtime_types_add(&runtime));
    assert_int_equal(types.list.count, count);
    const uint32_t map = add("map[int]string", TYPE_MAP, 8, 0, 1);
    assert_true(runtime_types_add(&runtime));
    assert_name(type_at(type_at(map)->header), "map[int]string");
    const size_t more = types.list.count;
    assert_true(runtime_types_add(&runtime));
    assert_int_equal(types.list.count, more);
    end();
}

/* Without a known release there are no layouts. */
TEST(test_unknown)
{
    start(8, "devel +a1b2c3");
    const uint32_t byte = add("uint8", TYPE_UINT8, 1, TYPE_NONE, TYPE_NONE);
    const uint32_t map = add("map[uint8]uint8", TYPE_MAP, 8, byte, byte);
    assert_true(runtime_types_add(&runtime));
    assert_int_equal(type_at(map)->header, TYPE_NONE);
    end();
}

UNIT_MAIN(NULL, NULL)
