/* Covers naming/names, naming/forms and output/v8_names: names that DevTools would misread, invalid
 * UTF-8, cut names, types with the name "pkg.", classes, names of edges. */
#include "snapshot.h"

#include "naming/namer.h"
#include "naming/names.h"
#include "naming/symbols.h"
#include "output/output_strings.h"

#define BASE 0xc000000000

/* ---- names of nodes ---- */

/* Returns the name that a graph gives to a node with this name in the dump; shown_name() returns
 * the snapshot's name for it. */
static struct text neutral_name(const char *name, size_t size)
{
    struct names names = {0};
    struct text text = {0};
    uint32_t number;
    size_t found_size;
    assert_true(names_add_node(&names, (const uint8_t *)name, size, &number));
    assert_int_equal(names.uses.data[number], G2H_NAME_OF_NODE);
    const char *found = string_pool_text(&names.strings, number, &found_size);
    text_append(&text, found, found_size);
    names_deinit(&names);
    return text;
}

static struct text shown_name(const char *name, size_t size)
{
    struct text neutral = neutral_name(name, size), shown = {0};
    if (!v8_name_differs(neutral.data ? neutral.data : "", neutral.size, &shown)) {
        assert_int_equal(shown.size, 0);
        return neutral;
    }
    text_deinit(&neutral);
    return shown;
}

static void expect_name(const char *name, size_t size, const char *expected, size_t expected_size)
{
    struct text shown = shown_name(name, size);
    if (shown.size != expected_size ||
        (expected_size > 0 && memcmp(shown.data, expected, expected_size) != 0))
        fail_msg("%.*s became %.*s", (int)size, name, (int)shown.size, shown.data);
    text_deinit(&shown);
}

static void expect_text(const char *name, const char *expected)
{
    expect_name(name, strlen(name), expected, strlen(expected));
}

TEST(names_that_are_fine)
{
    static const char *const names[] = {"",
                                        "main.T",
                                        "*main.T",
                                        "[]uint8",
                                        "map[string]interface {}",
                                        "func() (int)",
                                        "struct { x int }",
                                        "github.com/foo/bar.T",
                                        "main.G[int]",
                                        "hmap.bucket<string,*T>",
                                        "chan<- int",
                                        "[]<-chan int",
                                        "main.Object",
                                        "main.Array",
                                        "*Object",
                                        "ptr64",
                                        "objects",
                                        "Object ",
                                        "(strings)"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        expect_text(names[i], names[i]);
}

TEST(receiving_channels)
{
    expect_text("<-chan int", "chan (<-) int");
    expect_text("<-chan struct {}", "chan (<-) struct {}");
    expect_text("<-chan <-chan int", "chan (<-) <-chan int");
}

/* DEVTOOLS.md §3 and §5: no node may have one of these names, or begin like this. */
TEST(reserved_names)
{
    static const char *const names[] = {"Object",
                                        "Array",
                                        "(string)",
                                        "(array)",
                                        "(system)",
                                        "(compiled code)",
                                        "(number)",
                                        "(symbol)",
                                        "(bigint)",
                                        "(object shape)",
                                        "(synthetic)",
                                        "(concatenated string)",
                                        "(sliced string)",
                                        "Function",
                                        "RegExp",
                                        "(closure)",
                                        "(closure 17)",
                                        "(map descriptors)",
                                        "system / NativeContext",
                                        "system / NativeContext / goroutine 17",
                                        "system / Context",
                                        "system / Context / scope",
                                        "system / ExternalStringData",
                                        "system / JSArrayBufferData",
                                        "V8EventListener",
                                        "(Document DOM trees)",
                                        "Detached ",
                                        "Detached <div>",
                                        "Detached HTMLElement",
                                        "Window",
                                        "Window / https://x",
                                        "<",
                                        "<symbol x>",
                                        "<-chan",
                                        "Object(",
                                        "Object(x)"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct text neutral = neutral_name(names[i], strlen(names[i])),
                    shown = shown_name(names[i], strlen(names[i]));
        char text[100];
        snprintf(text, sizeof(text), "%.*s", (int)shown.size, shown.data);
        if (strcmp(text, names[i]) == 0 || text[0] == '<' || strncmp(text, "Detached ", 9) == 0 ||
            strncmp(text, "system / ", 9) == 0 || strncmp(text, "Window", 6) == 0 ||
            strncmp(text, "Object(", 7) == 0)
            fail_msg("%s became %s", names[i], text);
        assert_non_null(strstr(text, names[i]));          /* the name can still be recognised */
        assert_int_equal(neutral.size, strlen(names[i])); /* only the snapshot changes it */
        assert_memory_equal(neutral.data, names[i], neutral.size);
        text_deinit(&neutral);
        text_deinit(&shown);
    }
}

/* The first byte of an invalid sequence becomes one U+FFFD; the bytes behind it are read afresh. */
TEST(invalid_utf8)
{
#define BAD "\xef\xbf\xbd"
    expect_text("\x80", BAD);
    expect_text("a\xff"
                "b",
                "a" BAD "b");
    expect_text("\xc3\xa4\xe2\x86\x90\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x86\x90\xf0\x9f\x98\x80");
    expect_text("\xc3", BAD);
    expect_text("\xc3x", BAD "x");
    expect_text("\xe2\x86", BAD BAD);
    expect_text("\xf0\x9f\x98", BAD BAD BAD);
    expect_text("\xc0\x80", BAD BAD); /* not the shortest encoding */
    expect_text("\xc1\xbf", BAD BAD);
    expect_text("\xe0\x9f\xbf", BAD BAD BAD);
    expect_text("\xe0\xa0\x80", "\xe0\xa0\x80");
    expect_text("\xed\xa0\x80", BAD BAD BAD); /* a surrogate */
    expect_text("\xed\x9f\xbf", "\xed\x9f\xbf");
    expect_text("\xee\x80\x80", "\xee\x80\x80");
    expect_text("\xf0\x8f\xbf\xbf", BAD BAD BAD BAD);
    expect_text("\xf0\x90\x80\x80", "\xf0\x90\x80\x80");
    expect_text("\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf");
    expect_text("\xf4\x90\x80\x80", BAD BAD BAD BAD); /* above U+10FFFF */
    expect_text("\xf5\x80\x80\x80", BAD BAD BAD BAD);
    expect_name("a\0b", 3, "a\0b", 3);
}

/* A sequence that the name's end cuts, in memory that ends there. */
TEST(cut_utf8)
{
    static const char sequence[] = "\xf0\x9f\x98\x80";
    for (size_t size = 1; size < 4; size++) {
        char *name = malloc(size);
        char expected[16] = "";
        memcpy(name, sequence, size);
        for (size_t i = 0; i < size; i++)
            strcat(expected, BAD);
        expect_name(name, size, expected, 3 * size);
        free(name);
    }
}

/* The limit is 1024 characters, not bytes, with the text that is put before or behind the name. */
TEST(long_names)
{
    char name[5000], expected[5000];
    for (size_t size = 1022; size <= 1026; size++) {
        memset(name, 'x', size);
        expect_name(name, size, name, size < 1024 ? size : 1024);
    }
    for (size_t i = 0; i < 1100; i++)
        memcpy(name + 4 * i, "\xf0\x9f\x98\x80", 4);
    expect_name(name, 4400, name, 4096);
    memset(name, 'x', sizeof(name));
    memcpy(name, "<-chan ", 7);
    memset(expected, 'x', sizeof(expected));
    memcpy(expected, "chan (<-) ", 10);
    expect_name(name, sizeof(name), expected, 1024);
}

/* Two names that differ only beyond the limit are one string: DevTools groups by text. */
TEST(cut_names_are_one_string)
{
    struct names names = {0};
    uint8_t name[2000];
    uint32_t one, other;
    memset(name, 'x', sizeof(name));
    assert_true(names_add_node(&names, name, 2000, &one));
    name[1024] = 'y';
    assert_true(names_add_node(&names, name, 1999, &other));
    assert_int_equal(one, other);
    assert_int_equal(names.strings.count, 1);
    names_deinit(&names);
}

TEST(limits_of_text)
{
    struct text text = {0};
    assert_int_equal(text_append_utf8(&text, (const uint8_t *)"abc", 3, 2), 2);
    assert_int_equal(text_append_utf8(&text, (const uint8_t *)"abc", 3, 0), 0);
    assert_int_equal(text_append_utf8(&text, (const uint8_t *)"", 0, 10), 0);
    text_printf(&text, "%d", 17);
    assert_int_equal(text.size, 4);
    assert_memory_equal(text.data, "ab17", 4);
    text_deinit(&text);
}

/* Import paths as Go's linker escapes them; nothing else looks like that. */
TEST(escaped_paths)
{
    static const struct {
        const char *name, *shown;
    } cases[] = {
        {"gopkg.in/yaml%2ev2.(*Decoder).Decode", "gopkg.in/yaml.v2.(*Decoder).Decode"},
        {"main.Box[*a.b/c%2ed.T,e%2ef.U]", "main.Box[*a.b/c.d.T,e.f.U]"},
        {"a%20b%22%25%0a.f", "a b\"%\n.f"},
        {"a/%c3%a9.f", "a/\xc3\xa9.f"},
        {"a/%ff.f", "a/\xef\xbf\xbd.f"},
        {"%", "%"},
        {"100%", "100%"},
        {"%2", "%2"},
        {"%2E%41%zz%%2e", "%2E%41%zz%."},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text text = {0};
        text_append_symbol(&text, (const uint8_t *)cases[i].name, strlen(cases[i].name), 100);
        assert_int_equal(text.size, strlen(cases[i].shown));
        if (text.size > 0)
            assert_memory_equal(text.data, cases[i].shown, text.size);
        text_deinit(&text);
    }
}

/* ---- classes of objects ---- */

TEST(classes_without_types)
{
    DUMP dump;
    SNAPSHOT snapshot;
    dump_start_modern(&dump, "go1.19.8");
    dump_object(&dump, BASE, 48, NO_WORDS);
    dump_object(&dump, BASE + 64, 64, WORDS(BASE));
    dump_eof(&dump);
    snapshot_of(&snapshot, &dump, 1);
    assert_string_equal(snapshot_name(&snapshot, snapshot_object(&snapshot, &dump, BASE)),
                        "noptr48");
    assert_string_equal(snapshot_name(&snapshot, snapshot_object(&snapshot, &dump, BASE + 64)),
                        "ptr64");
}

TEST(classes_of_1_3)
{
    const struct g2h_field field = {G2H_FIELD_POINTER, 0};
    DUMP dump;
    SNAPSHOT snapshot;
    static const struct {
        uint64_t type, kind;
        const char *name;
    } cases[] = {{0x4a0000, 0, "main.T"},
                 {0x4a0000, 1, "[]main.T"},
                 {0x4a0000, 2, "chan main.T"},
                 {0x4a1000, 0, "chan (<-) int"},
                 {0x4a1000, 1, "[]<-chan int"},
                 {0x4a2000, 0, "Object (Go)"},
                 {0, 0, "noptr64"},
                 {0, 127, "ptr64"},
                 {0x4a9999, 0, "noptr64"}};
    dump_start(&dump, DUMP_1_3, 8, false);
    dump_type(&dump, 0x4a0000, 16, "main.T", true, &field, 1);
    dump_type(&dump, 0x4a1000, 8, "<-chan int", true, &field, 1);
    dump_type(&dump, 0x4a2000, 8, "Object", true, &field, 1);
    for (uint64_t i = 0; i < 9; i++)
        dump_typed_object(&dump, BASE + i * 64, cases[i].type, cases[i].kind, 64, NO_WORDS);
    dump_eof(&dump);
    snapshot_of(&snapshot, &dump, 1);
    for (uint64_t i = 0; i < 9; i++)
        assert_string_equal(
            snapshot_name(&snapshot, snapshot_object(&snapshot, &dump, BASE + i * 64)),
            cases[i].name);
}

/* ---- edges ---- */

/* Returns the name of the edge from one object to another. */
static const char *edge_between(const struct snapshot *snapshot, const struct dump *dump,
                                uint64_t from, uint64_t to)
{
    const struct snapshot_edge *edge = snapshot_edge(
        snapshot, snapshot_object(snapshot, dump, from), snapshot_object(snapshot, dump, to));
    if (!edge)
        fail_msg("no edge from 0x%llx to 0x%llx", (unsigned long long)from, (unsigned long long)to);
    return snapshot_edge_name(snapshot, edge);
}

TEST(edges_by_offset)
{
    DUMP dump;
    SNAPSHOT snapshot;
    dump_start_modern(&dump, "go1.19.8");
    dump_object(&dump, BASE, 64, WORDS(0, BASE + 64, 0, BASE + 130));
    dump_object(&dump, BASE + 64, 64, NO_WORDS);
    dump_object(&dump, BASE + 128, 64, NO_WORDS);
    dump_eof(&dump);
    snapshot_of(&snapshot, &dump, 1);
    assert_string_equal(edge_between(&snapshot, &dump, BASE, BASE + 64), "f8");
    assert_string_equal(edge_between(&snapshot, &dump, BASE, BASE + 128), "f24"); /* interior */
}

/* An interface's first word gives the dynamic type: by its itab or, in an eface, by the type
 * itself. */
TEST(edges_of_interfaces)
{
    DUMP dump;
    SNAPSHOT snapshot;
    dump_start_modern(&dump, "go1.19.8");
    dump_type(&dump, 0x4a0000, 8, "main.T", true, NULL, 0);
    dump_type(&dump, 0x4a1000, 8, "main.", true, NULL,
              0); /* an unnamed type with methods: FORMATS.md §3.3 */
    dump_type(&dump, 0x4a2000, 8, "", true, NULL, 0);
    dump_itab(&dump, 0x4b0000, 0x4a0000);
    dump_itab(&dump, 0x4b1000, 0x4a1000);
    dump_itab(&dump, 0x4b2000, 0);
    dump_object(&dump, BASE, 128,
                WORDS(0x4b0000, BASE + 256, 0x4b1000, BASE + 320, 0x4a0000, BASE + 384, 0x4a2000,
                      BASE + 448, 0x4b2000, BASE + 512, 0x4c0000, BASE + 576));
    for (uint64_t i = 0; i < 6; i++)
        dump_object(&dump, BASE + 256 + 64 * i, 64, NO_WORDS);
    dump_eof(&dump);
    snapshot_of(&snapshot, &dump, 1);
    static const char *const names[] = {"f8 (main.T)", "f24 (*main.?)", "f40 (main.T)",
                                        "f56",         "f72",           "f88"};
    for (uint64_t i = 0; i < 6; i++)
        assert_string_equal(edge_between(&snapshot, &dump, BASE, BASE + 256 + 64 * i), names[i]);
}

/*
 * Since Go 1.22 slots of more than 512 bytes with pointers begin with the type of the allocation,
 * or with that of the elements if it is a slice: no field list has this word, and the word behind
 * it is not an interface's.
 */
TEST(malloc_header_is_no_interface)
{
    DUMP dump;
    SNAPSHOT snapshot;
    dump_start_modern(&dump, "go1.26.1");
    dump_type(&dump, 0x4a0000, 8, "main.T", true, NULL, 0);
    dump_tag(&dump, G2H_RECORD_OBJECT);
    dump_uvarint(&dump, BASE);
    dump_memory(&dump, 1024, WORDS(0x4a0000, BASE + 8192, 0x4a0000, BASE + 8256));
    dump_fields(&dump,
                (const struct g2h_field[]){
                    {G2H_FIELD_POINTER, 8}, {G2H_FIELD_POINTER, 16}, {G2H_FIELD_POINTER, 24}},
                3);
    dump_object(&dump, BASE + 8192, 64, NO_WORDS);
    dump_object(&dump, BASE + 8256, 64, NO_WORDS);
    dump_eof(&dump);
    snapshot_of(&snapshot, &dump, 1);
    assert_string_equal(edge_between(&snapshot, &dump, BASE, BASE + 8256), "f24 (main.T)");
    assert_string_equal(edge_between(&snapshot, &dump, BASE, BASE + 8192), "f8");
}

/* In 1.3, arrays of pointers have elements, and arrays of structs have "[2].f8"; in a channel, both
 * are counted from its buffer. */
TEST(edges_of_arrays)
{
    const struct g2h_field first = {G2H_FIELD_POINTER, 0}, second = {G2H_FIELD_POINTER, 8};
    DUMP dump;
    SNAPSHOT snapshot;
    uint64_t words[13] = {0};
    dump_start(&dump, DUMP_1_3, 8, false);
    dump_type(&dump, 0x4a0000, 8, "*int", true, &first, 1);
    dump_type(&dump, 0x4a1000, 16, "main.T", true, &second, 1);
    dump_typed_object(&dump, BASE, 0x4a0000, G2H_OBJECT_ARRAY, 64, WORDS(0, 0, 0, BASE + 4096));
    dump_typed_object(&dump, BASE + 64, 0x4a1000, G2H_OBJECT_ARRAY, 64,
                      WORDS(0, 0, 0, 0, 0, BASE + 4096));
    words[12] = BASE + 4096;
    dump_typed_object(&dump, BASE + 128, 0x4a0000, G2H_OBJECT_CHAN, 128, 13,
                      words); /* the header has 88 bytes */
    dump_typed_object(&dump, BASE + 256, 0x4a1000, G2H_OBJECT_CHAN, 128, 13, words);
    dump_typed_object(&dump, BASE + 4096, 0, 0, 64, NO_WORDS);
    dump_eof(&dump);
    snapshot_of(&snapshot, &dump, 1);
    uint32_t target = snapshot_object(&snapshot, &dump, BASE + 4096);
    const struct snapshot_edge *edge =
        snapshot_edge(&snapshot, snapshot_object(&snapshot, &dump, BASE), target);
    assert_non_null(edge);
    assert_int_equal(edge->type, S_ELEMENT);
    assert_int_equal(edge->name, 3);
    assert_string_equal(edge_between(&snapshot, &dump, BASE + 64, BASE + 4096), "[2].f8");
    edge = snapshot_edge(&snapshot, snapshot_object(&snapshot, &dump, BASE + 128), target);
    assert_non_null(edge);
    assert_int_equal(edge->type, S_ELEMENT);
    assert_int_equal(edge->name, 1);
    assert_string_equal(edge_between(&snapshot, &dump, BASE + 256, BASE + 4096), "[0].f8");
}

/* A large array of pointers must not make a string per offset. */
TEST(edges_far_into_an_object)
{
    enum { COUNT = 400000 };
    struct dump dump;
    struct snapshot snapshot;
    uint64_t *words = malloc(COUNT * sizeof(*words));
    assert_non_null(words);
    for (uint64_t i = 0; i < COUNT; i++)
        words[i] = BASE + (8 << 20);
    dump_start_modern(&dump, "go1.19.8");
    dump_object(&dump, BASE, 8 * COUNT, COUNT, words);
    dump_object(&dump, BASE + (8 << 20), 64, NO_WORDS);
    dump_eof(&dump);
    snapshot_of(&snapshot, &dump, 2);
    const struct snapshot_node *node = &snapshot.nodes[snapshot_object(&snapshot, &dump, BASE)];
    assert_int_equal(node->edge_count, COUNT);
    assert_true(snapshot.string_count < ELEMENT_OFFSET / 8 + 100);
    const struct snapshot_edge *edges = &snapshot.edges[node->first_edge];
    for (uint32_t i = 0; i < COUNT; i++) {
        char name[32];
        snprintf(name, sizeof(name), "f%u", 8 * i);
        if (8 * i < ELEMENT_OFFSET)
            assert_string_equal(snapshot_edge_name(&snapshot, &edges[i]), name);
        else
            assert_true(edges[i].type == S_ELEMENT && edges[i].name == 8 * i);
    }
    snapshot_deinit(&snapshot);
    dump_deinit(&dump);
    free(words);
}

/* ---- what names say ---- */

TEST(forms_of_types)
{
    static const struct {
        const char *type;
        enum g2h_class_form of, form;
        enum g2h_runtime_class class;
        bool is_runtime;
    } types[] = {
        {"main.T", G2H_FORM_OTHER, G2H_FORM_DECLARED, G2H_RUNTIME_NONE, false},
        {"main.T", G2H_FORM_SLICE, G2H_FORM_SLICE, G2H_RUNTIME_NONE, false},
        {"main.T", G2H_FORM_CHAN, G2H_FORM_CHAN, G2H_RUNTIME_NONE, false},
        {"main.Pair[int,string]", G2H_FORM_OTHER, G2H_FORM_DECLARED, G2H_RUNTIME_NONE, false},
        {"k8s.io/util/runtime.g", G2H_FORM_OTHER, G2H_FORM_DECLARED, G2H_RUNTIME_NONE, false},
        {"functions.T", G2H_FORM_OTHER, G2H_FORM_DECLARED, G2H_RUNTIME_NONE, false},
        {"string", G2H_FORM_OTHER, G2H_FORM_OTHER, G2H_RUNTIME_NONE, false},
        {"", G2H_FORM_OTHER, G2H_FORM_OTHER, G2H_RUNTIME_NONE, false},
        {"*main.T", G2H_FORM_OTHER, G2H_FORM_POINTER, G2H_RUNTIME_NONE, false},
        {"[4]main.T", G2H_FORM_OTHER, G2H_FORM_SLICE, G2H_RUNTIME_NONE, false},
        {"map[main.K]main.V", G2H_FORM_OTHER, G2H_FORM_MAP, G2H_RUNTIME_NONE, false},
        {"chan main.T", G2H_FORM_OTHER, G2H_FORM_CHAN, G2H_RUNTIME_NONE, false},
        {"<-chan main.T", G2H_FORM_OTHER, G2H_FORM_CHAN, G2H_RUNTIME_NONE, false},
        {"chan<- main.T", G2H_FORM_OTHER, G2H_FORM_CHAN, G2H_RUNTIME_NONE, false},
        {"func(main.T)", G2H_FORM_OTHER, G2H_FORM_FUNC, G2H_RUNTIME_NONE, false},
        {"func main.f.func1", G2H_FORM_OTHER, G2H_FORM_CLOSURE, G2H_RUNTIME_NONE, false},
        {"struct { T main.T }", G2H_FORM_OTHER, G2H_FORM_STRUCT, G2H_RUNTIME_NONE, false},
        {"interface { M() }", G2H_FORM_OTHER, G2H_FORM_INTERFACE, G2H_RUNTIME_NONE, false},
        {"runtime.g", G2H_FORM_OTHER, G2H_FORM_DECLARED, G2H_RUNTIME_G, true},
        {"runtime.p", G2H_FORM_OTHER, G2H_FORM_DECLARED, G2H_RUNTIME_P, true},
        {"runtime.sudog", G2H_FORM_OTHER, G2H_FORM_DECLARED, G2H_RUNTIME_SUDOG, true},
        {"sudog<main.T>", G2H_FORM_OTHER, G2H_FORM_DECLARED, G2H_RUNTIME_SUDOG, false},
        {"runtime.g", G2H_FORM_SLICE, G2H_FORM_SLICE, G2H_RUNTIME_NONE, false},
        {"runtime.gList", G2H_FORM_OTHER, G2H_FORM_DECLARED, G2H_RUNTIME_NONE, true},
        {"runtime.mPadded", G2H_FORM_OTHER, G2H_FORM_DECLARED, G2H_RUNTIME_M, true},
        {"runtime._defer", G2H_FORM_OTHER, G2H_FORM_DECLARED, G2H_RUNTIME_DEFER, true},
        {"internal/runtime/atomic.Pointer[runtime._defer]", G2H_FORM_OTHER, G2H_FORM_DECLARED,
         G2H_RUNTIME_DEFER_LIST, false},
        {"runtime.timeTimer", G2H_FORM_OTHER, G2H_FORM_DECLARED, G2H_RUNTIME_TIMER, true},
        {"time.Timer", G2H_FORM_OTHER, G2H_FORM_DECLARED, G2H_RUNTIME_TIMER, false},
        {"time.Ticker", G2H_FORM_OTHER, G2H_FORM_DECLARED, G2H_RUNTIME_TIMER, false},
        {"*runtime.timer", G2H_FORM_SLICE, G2H_FORM_SLICE, G2H_RUNTIME_TIMERS, false},
        {"runtime.timerWhen", G2H_FORM_SLICE, G2H_FORM_SLICE, G2H_RUNTIME_TIMERS, false},
        {"internal/sync.indirect[interface {},interface {}]", G2H_FORM_OTHER, G2H_FORM_DECLARED,
         G2H_RUNTIME_TRIE, false},
        {"internal/sync.indirect[int,int]", G2H_FORM_POINTER, G2H_FORM_POINTER, G2H_RUNTIME_NONE,
         false},
        {"unique.entry[string]", G2H_FORM_OTHER, G2H_FORM_DECLARED, G2H_RUNTIME_TRIE_ENTRY, false},
        {"sync.entry", G2H_FORM_OTHER, G2H_FORM_DECLARED, G2H_RUNTIME_TRIE_ENTRY, false},
        {"sync.readOnly", G2H_FORM_OTHER, G2H_FORM_DECLARED, G2H_RUNTIME_TRIE, false},
        {"map[interface {}]*sync.entry", G2H_FORM_OTHER, G2H_FORM_MAP, G2H_RUNTIME_TRIE, false},
        {"sync.entryPool", G2H_FORM_OTHER, G2H_FORM_DECLARED, G2H_RUNTIME_NONE, false},
        {"container/list.Element", G2H_FORM_OTHER, G2H_FORM_DECLARED, G2H_RUNTIME_ENTRY, false},
    };
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        const unsigned says = form_of_type(bytes_of(types[i].type), types[i].of);
        if ((says >> NAME_FORM_SHIFT & NAME_FORM_MASK) != (unsigned)types[i].form ||
            says >> NAME_RUNTIME_SHIFT != (unsigned)types[i].class ||
            ((says & G2H_NAME_OF_RUNTIME) != 0) != types[i].is_runtime)
            fail_msg("%s, %d: %#x", types[i].type, (int)types[i].of, says);
    }
}

TEST(forms_of_functions)
{
    static const struct {
        const char *function;
        unsigned says;
    } functions[] = {
        {"runtime.gopark", G2H_NAME_OF_RUNTIME | G2H_NAME_OF_LIBRARY},
        {"internal/poll.(*FD).Read", G2H_NAME_OF_LIBRARY},
        {"sync.(*Mutex).Lock", G2H_NAME_OF_LIBRARY},
        {"crypto/tls.(*Conn).Read", G2H_NAME_OF_LIBRARY},
        {"net.(*conn).Read", G2H_NAME_OF_LIBRARY},
        {"net/http.(*conn).serve", 0},
        {"main.runtime.gopark", 0},
        {"example.com/runtime.f", 0},
        {"runtime", 0},
        {"iox.f", 0},
        {"", 0},
    };
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
        assert_int_equal(form_of_function(bytes_of(functions[i].function)), functions[i].says);
}

/* A name may be used by several types, the first of which says what it is. */
TEST(forms_are_kept)
{
    name_uses uses = {0};
    assert_true(name_uses_add(&uses, 3, G2H_NAME_OF_NODE));
    assert_true(name_uses_add(&uses, 3, form_of_type(bytes_of("*main.T"), G2H_FORM_OTHER)));
    assert_true(name_uses_add(&uses, 3,
                              G2H_NAME_OF_EDGE | form_of_type(bytes_of("main.T"), G2H_FORM_SLICE)));
    assert_int_equal(uses.count, 4);
    assert_int_equal(uses.data[2], 0);
    assert_int_equal(uses.data[3], G2H_NAME_OF_NODE | G2H_NAME_OF_EDGE |
                                       (unsigned)G2H_FORM_POINTER << NAME_FORM_SHIFT);
    free(uses.data);
}

/* The forms of an edge's name that need no object. */
TEST(names_of_edges)
{
    struct names names = {0};
    const struct namer namer = {.names = &names};
    struct text text = {0};
    uint32_t number;
    assert_true(string_pool_intern(&names.strings, "other", 5, &number));
    assert_true(string_pool_intern(&names.strings, "field", 5, &number));
    const struct edge_name edges[] = {{.value = number, .form = EDGE_NAME_STRING},
                                      {.value = 4000000000, .form = EDGE_NAME_INDEX}};
    for (size_t i = 0; i < sizeof(edges) / sizeof(*edges); i++)
        namer_append(&namer, &edges[i], &text);
    assert_int_equal(text.size, strlen("field[4000000000]"));
    assert_memory_equal(text.data, "field[4000000000]", text.size);
    text_deinit(&text);
    names_deinit(&names);
}

UNIT_MAIN(NULL, NULL)
