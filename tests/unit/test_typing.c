/*
 * Covers typing/propose and typing/judge, naming/texts and output/strings: which types are believed
 * of objects of hand-made dumps, and which of several types; the texts that strings give. There is
 * no executable: the types are hand-made, too.
 */
#include "dump_builder.h"
#include "type_builder.h"

#include "view/view.h"
#include "output/output_strings.h"
#include "typing/fit.h"
#include "typing/typer.h"

enum { HEAP = 0x10000 };

static struct dump dump;
static struct types types;
static struct typing typing;
static struct typer typer;
static uint32_t word, text, pointer, pair, list;

FIXTURE(start)
{
    types_init(&types, 8);
    word = type_add(&types, "int", TYPE_INT, 8, TYPE_NONE);
    text = type_add(&types, "string", TYPE_STRING, 16, TYPE_NONE);
    pointer = type_pointer(&types, "*int", word);
    pair = type_struct(&types, "main.pair", 16); /* a pointer and a number */
    type_field(&types, "p", pointer, 0);
    type_field(&types, "n", word, 8);
    const uint32_t next = type_pointer(&types, "*main.list", (uint32_t)types.list.count + 1);
    list = type_struct(&types, "main.list", 24);
    type_field(&types, "n", word, 0);
    type_field(&types, "next", next, 8);
    type_field(&types, "name", pointer, 16);
}

static void begin(const char *version)
{
    dump_start_modern(&dump, version);
}

static void add(uint64_t address, uint64_t size, const void *data, size_t count,
                const uint64_t *offsets)
{
    uint8_t *contents = calloc(1, size + 8);
    struct g2h_field *fields = calloc(count + 1, sizeof(*fields));
    assert_true(contents && fields);
    if (data)
        memcpy(contents, data, size);
    for (size_t i = 0; i < count; i++)
        fields[i].offset = offsets[i];
    const struct g2h_record record = {
        .kind = G2H_RECORD_OBJECT,
        .object = {.address = address, .size = size, .contents = {contents, size}}};
    dump_record(&dump, &record, fields, count);
    free(contents);
    free(fields);
}

/* Adds an object without pointers. */
#define ADD_TEXT(address, size, literal) \
    do { \
        char contents[size] = {0}; \
        _Static_assert(sizeof(literal) <= sizeof(contents), "fits"); \
        memcpy(contents, literal, sizeof(literal)); \
        add(address, size, contents, 0, NULL); \
    } while (0)

/* Loads the objects that were added; claims can be made from here on. */
static void load(void)
{
    dump_eof(&dump);
    typing.heap = dump_load(&dump, 1);
    typing.types = &types;
    typing.threads = 1;
    assert_no_error(pointer_maps_init(&typing.pointer_maps, &types));
    typing.claims = calloc(typing.heap->object_count + 1, sizeof(*typing.claims));
    typing.texts = calloc(typing.heap->object_count + 1, sizeof(*typing.texts));
    typing.has_parts = calloc(typing.heap->object_count / 64 + 1, sizeof(*typing.has_parts));
    typer.typing = &typing;
}

FIXTURE(end)
{
    for (size_t i = 0; i < SHARDS; i++) {
        struct shard *shard = &typing.shards[i];
        map_deinit(&shard->first);
        map_deinit(&shard->known);
        map_deinit(&shard->pointerless);
        map_deinit(&shard->index_of);
        for (size_t j = 0; j < shard->indexes.count; j++)
            field_index_destroy(shard->indexes.data[j]);
        free(shard->indexes.data);
        free(shard->parts.data);
    }
    pointer_maps_deinit(&typing.pointer_maps);
    free(typing.claims);
    free(typing.texts);
    free(typing.has_parts);
    free(typer.items.data);
    typing = (struct typing){.heap = NULL};
    typer = (struct typer){.typing = NULL};
    dump_deinit(&dump);
    types_deinit(&types);
}

static void refer(uint64_t address, uint32_t type, enum source source)
{
    typer_refer(&typer, REFERENCE_VALUE, address, 0, type, NO_TARGET, source);
    typer_flush(&typer);
}

static void refer_array(uint64_t address, uint32_t type, uint64_t count)
{
    typer_refer(&typer, REFERENCE_ARRAY, address, count, type, NO_TARGET, SOURCE_POINTER);
    typer_flush(&typer);
}

static void refer_text(uint64_t address, uint64_t length)
{
    typer_refer(&typer, REFERENCE_TEXT, address, length, 0, NO_TARGET, SOURCE_POINTER);
    typer_flush(&typer);
}

static void judged(uint32_t object, int form, uint32_t type)
{
    const struct object_type what = typing_object(&typing, object);
    assert_int_equal(what.form, form);
    if (form != OBJECT_UNTYPED && form != OBJECT_TEXT)
        assert_int_equal(what.type, type);
}

static void judge(void)
{
    assert_false(typer.no_memory);
    assert_no_error(typing_judge(&typing));
}

/* ---- propose ---- */

TEST(believes_what_fits)
{
    begin("go1.19");
    add(HEAP, 16, NULL, 1, (uint64_t[]){0});      /* fits a pair */
    add(HEAP + 16, 16, NULL, 1, (uint64_t[]){8}); /* does not fit a pair */
    add(HEAP + 32, 16, NULL, 0, NULL);            /* has no pointers */
    add(HEAP + 48, 64, NULL, 1, (uint64_t[]){0}); /* fits a pair, but Go has smaller slots for it */
    add(HEAP + 112, 8, NULL, 1, (uint64_t[]){0});
    load();
    for (uint32_t i = 0; i < 5; i++)
        refer(heap_address(typing.heap, i), pair, SOURCE_POINTER);
    judge();
    judged(0, OBJECT_VALUE, pair);
    judged(1, OBJECT_UNTYPED, 0);
    judged(2, OBJECT_UNTYPED, 0);
    judged(3, OBJECT_PART, pair);
    judged(4, OBJECT_UNTYPED, 0);
}

/* Slots of 16 bytes without pointers: values that are smaller than a slot share it. */
TEST(tiny_values_share_a_block)
{
    begin("go1.19");
    for (unsigned i = 0; i < 7; i++)
        add(HEAP + 16 * i, 16, NULL, 0, NULL);
    const uint32_t numbers = type_struct(&types, "main.numbers", 16);
    type_field(&types, "a", word, 0);
    type_field(&types, "b", word, 8);
    load();
    refer(HEAP, word, SOURCE_INTERFACE);        /* a value at the slot's start */
    refer(HEAP + 16 + 8, word, SOURCE_POINTER); /* a value behind the start */
    refer(HEAP + 32, numbers, SOURCE_POINTER);  /* a value as large as the slot … */
    refer(HEAP + 32, word, SOURCE_POINTER);     /* … and its first field */
    refer_array(HEAP + 48, word, 2);            /* an array as large as the slot */
    refer_array(HEAP + 64, word, 1);            /* a smaller array */
    refer(HEAP + 80, word, SOURCE_POINTER);     /* a value beside a string */
    refer_text(HEAP + 80 + 8, 5);
    judge();
    judged(0, OBJECT_TINY, word);
    judged(1, OBJECT_TINY, word);
    judged(2, OBJECT_VALUE, numbers);
    judged(3, OBJECT_ARRAY, word);
    judged(4, OBJECT_TINY, word);
    judged(5, OBJECT_TEXT, 0);
    judged(6, OBJECT_UNTYPED, 0);
}

/* From Go 1.22 on the field list of a value over 32 KB goes on as if more such values followed. */
TEST(large_values_are_repeated)
{
    enum { SIZE = 32768, SLOT = 40960 };
    uint64_t *header = calloc(1, SIZE);
    assert_non_null(header);
    for (int old = 0; old < 2; old++) {
        begin(old ? "go1.21.1" : "go1.22.1");
        const uint32_t large = type_struct(&types, "main.large", SIZE + 1000),
                       largest = type_struct(&types, "main.largest", SIZE);
        types.list.data[large].first_field = types.list.data[largest].first_field;
        type_field(&types, "p", pointer, 0);
        types.list.data[large].field_count = 1;
        add(HEAP, SLOT, NULL, 2, (uint64_t[]){0, SIZE + 1000});
        add(HEAP + SLOT, SLOT, NULL, 2, (uint64_t[]){0, SIZE + 1008});
        add(HEAP + 2 * SLOT, SIZE, NULL, 1, (uint64_t[]){0}); /* a size of slots with a header */
        header[0] = 0x4a0000;
        add(HEAP + 3 * SLOT, SIZE, header, 1, (uint64_t[]){8});
        load();
        refer(HEAP, large, SOURCE_POINTER);
        refer(HEAP + SLOT, large, SOURCE_POINTER);
        refer(HEAP + 2 * SLOT, largest, SOURCE_POINTER);
        judge();
        judged(0, old ? OBJECT_PART : OBJECT_VALUE, large);
        judged(1, OBJECT_PART, large);
        judged(2, OBJECT_VALUE, largest);
        assert_false(heap_has_malloc_header(typing.heap, heap_slot_class(typing.heap, 2)));
        assert_int_equal(heap_has_malloc_header(typing.heap, heap_slot_class(typing.heap, 3)),
                         !old);
        if (!old) {
            end(NULL);
            start(NULL);
        }
    }
    free(header);
}

/* If a claim is known for an object's start, a guess may still be the object's class, if its type
 * begins with the claimed type. It makes no difference which of the two comes first. */
TEST(guesses_complete_what_is_known)
{
    begin("go1.19");
    for (unsigned i = 0; i < 3; i++)
        add(HEAP + 24 * i, 24, NULL, 2, (uint64_t[]){8, 16});
    load();
    refer(HEAP, word, SOURCE_POINTER);
    refer(HEAP, list, SOURCE_GUESS);
    refer(HEAP + 24, list, SOURCE_GUESS);
    refer(HEAP + 24, word, SOURCE_POINTER);
    refer(HEAP + 48, list, SOURCE_GUESS);
    judge();
    for (uint32_t i = 0; i < 3; i++) {
        judged(i, OBJECT_VALUE, list);
        assert_true(typing_is_guess(&typing, i));
    }
}

/* If only one type fits, it is a guess; a slice that leads to an array in the middle of the object,
 * where the type has just this array, makes it known. */
TEST(slices_of_fields_confirm_guesses)
{
    enum { SIZE = 48 };
    struct guesses guesses = {.by_pattern = {0}};
    struct map cache = {0};
    begin("go1.19");
    for (unsigned i = 0; i < 4; i++)
        add(HEAP + SIZE * i, SIZE, NULL, 1, (uint64_t[]){0});
    add(HEAP + SIZE * 4, SIZE, NULL, 2, (uint64_t[]){0, 16}); /* has a pointer in the array */
    const uint32_t runes = type_add(&types, "[2]int", TYPE_ARRAY, 16, word),
                   regexp = type_struct(&types, "main.regexp", SIZE);
    types.list.data[runes].length = 2;
    type_field(&types, "p", pointer, 0);
    type_field(&types, "runes", runes, 16);
    type_field(&types, "n", word, 32);
    types.list.data[regexp].address = 0x500000;
    load();
    assert_no_error(typing_find_arrays(&typing));
    refer_array(HEAP + 16, word, 2);
    refer_array(HEAP + SIZE + 24, word, 1);
    refer_array(HEAP + SIZE * 2 + 16, word, 3); /* the array is not as large */
    refer_array(HEAP + SIZE * 4 + 16, word, 2);
    assert_no_error(guesses_init(&guesses, &typing));
    for (uint32_t i = 0; i < 5; i++)
        assert_true(typer_guess(&typer, &guesses, &cache, i));
    typer_flush(&typer);
    judge();
    for (uint32_t i = 0; i < 4; i++) {
        judged(i, OBJECT_VALUE, regexp);
        assert_int_equal(typing_is_guess(&typing, i), i >= 2);
    }
    judged(4, OBJECT_UNTYPED, 0);
    guesses_deinit(&guesses);
    map_deinit(&cache);
    free(typing.with_arrays.data);
}

TEST(arrays_may_end_within_an_element)
{
    begin("go1.19");
    add(HEAP, 48, NULL, 3, (uint64_t[]){0, 16, 32});
    add(HEAP + 48, 48, NULL, 2, (uint64_t[]){0, 16}); /* the last pair's pointer is nil */
    add(HEAP + 96, 48, NULL, 3, (uint64_t[]){0, 16, 40});
    load();
    refer_array(HEAP, pair, 3);
    refer_array(HEAP + 48 + 16, pair, 2);
    refer_array(HEAP + 96, pair, 3);
    refer_array(HEAP + 96, pair, 1000000); /* more than fit */
    refer_array(HEAP + 96, pair, UINT64_MAX);
    judge();
    judged(0, OBJECT_ARRAY, pair);
    judged(1, OBJECT_ARRAY, pair);
    assert_int_not_equal(typing_object(&typing, 2).form, OBJECT_ARRAY);
}

TEST(parts_are_known_by_their_place)
{
    struct typed_location location;
    begin("go1.19");
    add(HEAP, 64, NULL, 3, (uint64_t[]){8, 16, 48});
    load();
    refer(HEAP + 16, pair, SOURCE_POINTER);
    refer(HEAP + 48, pair, SOURCE_POINTER);
    refer(HEAP + 32, pair, SOURCE_POINTER); /* the object has no pointer there */
    refer(HEAP + 52, pair, SOURCE_POINTER); /* between words */
    refer(HEAP + 56, pair, SOURCE_POINTER); /* does not fit */
    judge();
    judged(0, OBJECT_PART, pair);
    assert_true(typing_locate(&typing, 0, 16, &location));
    assert_int_equal(location.part_offset, 16);
    assert_true(typing_locate(&typing, 0, 48, &location));
    assert_int_equal(location.part_offset, 48);
    assert_false(typing_locate(&typing, 0, 8, &location));
    assert_false(typing_locate(&typing, 0, 40, &location));
}

TEST(values_stand_behind_a_malloc_header)
{
    begin("go1.22.1");
    const uint64_t base = 0x100000;
    /* 8 bytes of header, then 1016 / 16 = 63 pairs, all of them in use. */
    uint64_t offsets[63];
    for (size_t i = 0; i < 63; i++)
        offsets[i] = 8 + 16 * i;
    add(base, 1024, NULL, 63, offsets);
    load();
    assert_int_equal(heap_object_base(typing.heap, 0), 8);
    refer_array(base, pair, 63); /* an array does not begin in front of the header's end */
    assert_int_equal(typing.claims[0], 0);
    refer_array(base + 8, pair, 63);
    judge();
    judged(0, OBJECT_ARRAY, pair);
}

TEST(many_pointers_into_a_large_object_are_cheap)
{
    enum { VALUES = 1 << 16 };
    uint64_t *offsets = calloc(VALUES + 1, sizeof(*offsets));
    begin("go1.19");
    for (uint64_t i = 0; i < VALUES; i++)
        offsets[i] = 16 * i;
    offsets[VALUES] = 16 * VALUES + 8; /* so that the whole object is no array */
    add(1 << 24, 16 * VALUES + 8192, NULL, VALUES + 1, offsets);
    load();
    for (uint64_t round = 0; round < 2; round++)
        for (uint64_t i = 1; i < VALUES; i++) {
            refer((1 << 24) + 16 * i, pair, SOURCE_POINTER);
            refer((1 << 24) + 16 * i, text, SOURCE_POINTER);
            refer_array((1 << 24) + 16 * i, pair, VALUES - i);
        }
    judge();
    size_t parts = 0;
    for (size_t i = 0; i < SHARDS; i++)
        parts += typing.shards[i].parts.count;
    assert_in_range(parts, 16, 64 + (16 * VALUES + 8192) / 64);
    struct typed_location location;
    assert_true(typing_locate(&typing, 0, 16, &location));
    assert_int_equal(location.type, pair);
    free(offsets);
}

TEST(many_values_make_an_array)
{
    enum { VALUES = 256 };
    uint64_t offsets[VALUES];
    begin("go1.19");
    for (uint64_t i = 0; i < VALUES; i++)
        offsets[i] = 16 * i;
    add(1 << 24, 16 * VALUES, NULL, VALUES, offsets);
    load();
    for (uint64_t i = 0; i < 40; i++)
        refer((1 << 24) + 16 * (i * 7 % 40), pair, SOURCE_POINTER);
    judge();
    judged(0, OBJECT_ARRAY, pair);
}

/* ---- judge ---- */

/* The result is the same for any order of claims. */
TEST(the_order_of_claims_does_not_matter)
{
    const uint32_t wrapped = type_struct(&types, "main.wrapped", 16);
    type_field(&types, "pair", pair, 0);
    const uint32_t twin = type_struct(&types, "main.a", 16);
    type_field(&types, "p", pointer, 0);
    const uint32_t generic = type_struct(&types, "runtime.generic", 16);
    type_field(&types, "p", pointer, 0);
    types.list.data[generic].is_generic = true;
    const uint32_t all[] = {pair, wrapped, twin, generic, pointer};
    enum { COUNT = 5, WAYS = 120 };
    begin("go1.19");
    for (uint64_t i = 0; i < WAYS; i++)
        add(HEAP + 16 * i, 16, NULL, 1, (uint64_t[]){0});
    load();
    for (uint32_t i = 0; i < WAYS; i++) {
        uint32_t left[COUNT], number = i;
        memcpy(left, all, sizeof(left));
        for (uint32_t j = COUNT; j > 0; j--) {
            const uint32_t chosen = number % j;
            number /= j;
            refer(HEAP + 16 * i, left[chosen],
                  left[chosen] == pair ? SOURCE_RUNTIME : SOURCE_POINTER);
            left[chosen] = left[j - 1];
        }
    }
    judge();
    for (uint32_t i = 0; i < WAYS; i++)
        judged(i, OBJECT_VALUE, wrapped); /* it is deeper than pair, and pair than the others */
}

TEST(a_header_is_certain)
{
    const uint32_t group = type_struct(&types, "group<int,*int>", 16);
    type_field(&types, "p", pointer, 0);
    types.list.data[group].role = ROLE_MAP_GROUP;
    const uint32_t bucket = type_struct(&types, "bucket<int,*int>", 16);
    type_field(&types, "p", pointer, 0);
    types.list.data[bucket].role = ROLE_MAP_BUCKET;
    const uint32_t large = type_struct(&types, "main.large", 1016);
    type_field(&types, "p", pair, 0);
    const uint64_t base = 0x100000;
    uint64_t offsets[63];
    for (size_t i = 0; i < 63; i++)
        offsets[i] = 8 + 16 * i;
    begin("go1.22.1");
    add(base, 1024, NULL, 63, offsets);
    add(base + 1024, 1024, NULL, 63, offsets);
    add(base + 2048, 1024, NULL, 63, offsets);
    load();
    for (uint32_t i = 0; i < 3; i++) {
        const struct reference header = {.type = i < 2 ? pair : bucket,
                                         .count = 63,
                                         .source = SOURCE_HEADER,
                                         .form = REFERENCE_ARRAY};
        typer_propose(&typer, i, 8, &header);
        refer_array(heap_address(typing.heap, i) + 8, list, 0);
        refer(heap_address(typing.heap, i) + 8, large, SOURCE_RUNTIME);
    }
    refer_array(base + 8, group, 63);
    refer(base + 2048 + 8, bucket, SOURCE_POINTER); /* the pointer of the last overflow bucket */
    judge();
    judged(0, OBJECT_ARRAY, group); /* the group gives the same, but more exactly */
    judged(1, OBJECT_ARRAY, pair);
    judged(2, OBJECT_ARRAY, bucket); /* the whole array, not only its first bucket */
}

/* ---- texts ---- */

/* A view of a graph without roots, so that an object's node has the object's number, and the
 * strings of the view's snapshot. */
static struct g2h_graph graph;
static struct targets targets;
static struct g2h_view *view;
static struct strings strings;

static void number_texts(bool redact)
{
    static const struct g2h_redaction redaction = {"any key will do"};
    uint32_t name;
    graph = (struct g2h_graph){.heap = typing.heap, .typing = &typing, .targets = &targets};
    assert_no_error(targets_init(&targets, typing.heap, 1, NULL));
    const struct names_options options = {.redaction = redact ? &redaction : NULL};
    assert_no_error(names_init(&graph.names, typing.heap, &options));
    assert_no_error(names_add_types(&graph.names, &typing));
    assert_true(names_add_label(&graph.names, "known", 5, &name));
    assert_no_error(g2h_view_create(&graph, NULL, &view));
    assert_no_error(strings_init(&strings, view, NULL));
    assert_no_error(strings_number_texts(&strings, 1));
}

static void forget_texts(void)
{
    strings_deinit(&strings);
    g2h_view_destroy(view);
    names_deinit(&graph.names);
    targets_deinit(&targets);
}

/* Returns the number of the string that a text's node has as its name in the snapshot. */
static uint32_t string_of(uint32_t object)
{
    struct g2h_node node;
    size_t place = 0;
    for (uint32_t i = 0; i < object; i++) {
        g2h_view_node(view, i, &node);
        place += node.kind == G2H_NODE_TEXT;
    }
    g2h_view_node(view, object, &node);
    assert_int_equal(node.kind, G2H_NODE_TEXT);
    assert_int_equal(node.name, G2H_NAME_NONE);
    assert_true(place < g2h_view_account(view)->texts);
    return strings.node_texts[0][place];
}

/* Returns an object's text, which must be the same in the view and in the snapshot. Of a text that
 * is cut the snapshot has the beginning, and how long it is. */
static const char *name_of(uint32_t object, char *buffer, size_t size)
{
    enum { CUT = 1024, KEPT = 980 };
    struct g2h_text made = {0};
    size_t length, other_length;
    const char *data = g2h_view_text(view, object, &made, &length);
    assert_true(length < size);
    memcpy(buffer, data, length);
    buffer[length] = '\0';
    data = strings_text(&strings, string_of(object), &made, &other_length);
    assert_int_equal(other_length == length, length != CUT);
    assert_true(other_length > KEPT || length != CUT);
    assert_memory_equal(data, buffer, length == CUT ? KEPT : length);
    g2h_text_deinit(&made);
    return buffer;
}

TEST(texts_are_what_strings_say)
{
    char buffer[8000], large[2048];
    uint32_t known;
    begin("go1.19");
    memset(large, 'x', sizeof(large));
    ADD_TEXT(HEAP, 16, "one\0two\0three");
    ADD_TEXT(HEAP + 16, 16,
             "\xff"
             "bad\xc3(\xe2\x82");
    ADD_TEXT(HEAP + 32, 32, "known already, and here it is..");
    ADD_TEXT(HEAP + 64, 16, "one\0two\0three");
    ADD_TEXT(HEAP + 80, 16, "nothing here   ");
    add(HEAP + 96, 16, NULL, 1, (uint64_t[]){0});
    add(HEAP + 4096, 2048, large, 0, NULL);
    ADD_TEXT(HEAP + 8192, 48, "<dummy>");
    load();
    refer_text(HEAP, 3);
    refer_text(HEAP + 4, 3);
    refer_text(HEAP + 8, 5);
    refer_text(HEAP + 16, 8);
    refer_text(HEAP + 32, 5);
    refer_text(HEAP + 32, 4);
    refer_text(HEAP + 64 + 8, 5);
    refer_text(HEAP + 64 + 4, 3);
    refer_text(HEAP + 64, 3);
    refer_text(HEAP + 80 + 7, 0);          /* an empty string is in no object */
    refer_text(HEAP + 80, 17);             /* beyond the end */
    refer_text(HEAP + 80 + 8, UINT64_MAX); /* and far beyond */
    refer_text(HEAP + 96, 8);              /* this object has pointers */
    refer_text(HEAP + 4096, 2000);
    refer_text(HEAP + 8192, 7);
    number_texts(false);
    assert_string_equal(name_of(0, buffer, sizeof(buffer)), "one | two | three");
    assert_string_equal(name_of(1, buffer, sizeof(buffer)),
                        "\xef\xbf\xbd"
                        "bad\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd");
    assert_true(g2h_view_find_name(view, "known", 5, &known));
    assert_int_equal(string_of(2), known + 1); /* no string is there twice */
    assert_int_equal(string_of(3), string_of(0));
    judged(4, OBJECT_UNTYPED, 0);
    judged(5, OBJECT_UNTYPED, 0);
    assert_int_equal(strlen(name_of(6, buffer, sizeof(buffer))), NAME_LIMIT);
    judged(7, OBJECT_TEXT, 0);
    assert_int_equal(string_of(7), 0); /* the snapshot's first string */
    assert_int_equal(g2h_view_account(view)->texts, 6);
    forget_texts();
}

TEST(redacted_texts_tell_nothing)
{
    char buffer[200], other[200];
    begin("go1.19");
    ADD_TEXT(HEAP, 32, "secret and so on, for ever more");
    ADD_TEXT(HEAP + 32, 48, "secret and so on, for ever more");
    ADD_TEXT(HEAP + 80, 16, "a\0secret and so");
    load();
    refer_text(HEAP, 31);
    refer_text(HEAP + 32, 31);
    refer_text(HEAP + 80, 1);
    refer_text(HEAP + 82, 13);
    number_texts(true);
    assert_int_equal(string_of(0), string_of(1)); /* equal texts have one string */
    assert_null(strstr(name_of(0, buffer, sizeof(buffer)), "secret"));
    assert_non_null(strstr(buffer, "(<=32 bytes, #"));
    assert_null(strstr(name_of(2, other, sizeof(other)), "secret"));
    assert_memory_equal(other, "(<=16 bytes, #", 14);
    assert_non_null(strstr(other, " | (<=16 bytes, #"));
    forget_texts();
}

UNIT_MAIN(start, end)
