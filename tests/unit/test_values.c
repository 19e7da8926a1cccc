/*
 * Covers view/values, view/locations and view/stacks: the values in objects by their types, and
 * goroutines, of the sample's server; samples/leakserver/main.go says what there is.
 */
#include "dump_builder.h"
#include "type_builder.h"

#include <math.h>

#include <go2heapsnapshot/values.h>

#include "../conversion.h"
#include "findings/keys.h"
#include "findings/length.h"
#include "heap/heap.h"
#include "view/view.h"

static struct g2h_input *input;
static struct g2h_heap *heap;
static struct g2h_exe *exe;

FIXTURE(start)
{
    assert_no_error(g2h_input_open("samples/leakserver.2.dump.gz", NULL, &input));
    assert_no_error(g2h_heap_load(input, NULL, &heap));
    assert_no_error(g2h_exe_open("samples/leakserver.exe.gz", &exe));
    assert_no_error(g2h_exe_match(exe, heap));
}

FIXTURE(end)
{
    g2h_exe_close(exe);
    g2h_heap_destroy(heap);
    g2h_input_close(input);
}

static struct conversion make_view(bool redact, uint64_t max_nodes)
{
    const struct conversion_options options = {.exe = exe,
                                               .threads = 2,
                                               .redact = redact,
                                               .full_names =
                                                   true, /* the dump has full names of functions */
                                               .view = {.max_nodes = max_nodes}};
    struct conversion made;
    assert_no_error(conversion_init(&made, heap, &options));
    return made;
}

/* Returns whether a node is an object of this class. */
static bool is_of(const struct g2h_view *view, uint32_t number, const char *class)
{
    struct g2h_node node;
    size_t size;
    g2h_view_node(view, number, &node);
    const char *name = g2h_view_name(view, node.name, &size);
    return node.kind == G2H_NODE_OBJECT && size == strlen(class) && memcmp(name, class, size) == 0;
}

static bool is_text(const char *text, size_t size, const char *expected)
{
    return size == strlen(expected) && memcmp(text, expected, size) == 0;
}

/* Each session has a token of 16 digits, and the time when it began. */
TEST(fields_have_paths_types_and_values)
{
    struct conversion made = make_view(false, 0);
    struct g2h_values *values;
    struct g2h_value value;
    struct g2h_text text = {0};
    unsigned sessions = 0, tokens = 0, times = 0;
    assert_no_error(g2h_values_create(made.view, &values));
    for (uint32_t i = 0; i < g2h_view_node_count(made.view); i++) {
        if (!is_of(made.view, i, "main.Session"))
            continue;
        sessions++;
        uint64_t behind = 0;
        g2h_values_begin(values, i);
        while (g2h_values_next(values, &value)) {
            assert_true(value.offset >= behind); /* offsets ascend, and none is there twice */
            behind = value.offset + value.size;
            g2h_value_text(made.view, &value, &text);
            if (is_text(value.path, value.path_size, "Token")) {
                assert_int_equal(value.kind, G2H_VALUE_STRING);
                assert_true(is_text(value.type, value.type_size, "string"));
                assert_int_equal(text.size, 18);
                tokens++;
            }
            if (is_text(value.path, value.path_size, "Started.ext")) {
                assert_int_equal(value.kind, G2H_VALUE_INT);
                assert_true(strtoll(text.data, NULL, 10) > 0); /* ns since the start */
                times++;
            }
        }
    }
    assert_int_equal(sessions, 2000);
    assert_int_equal(tokens, sessions);
    assert_int_equal(times, sessions);
    g2h_values_destroy(values);
    g2h_text_deinit(&text);
    conversion_deinit(&made);
}

static bool count_entry(void *context, const struct g2h_entry *entry)
{
    unsigned *count = context;
    ++*count;
    return entry->key.kind == G2H_VALUE_STRING && entry->elem.kind == G2H_VALUE_POINTER;
}

/* As people see them, a time is one value, and a map has as many entries as its length says. */
TEST(places_have_what_people_see)
{
    struct conversion made = make_view(false, 0);
    struct g2h_values *values;
    struct g2h_value value;
    struct g2h_location location;
    struct g2h_content content;
    struct g2h_text text = {0};
    unsigned sessions = 0, fields = 0, times = 0, maps = 0;
    assert_no_error(g2h_values_create(made.view, &values));
    for (uint32_t i = 0; i < g2h_view_node_count(made.view); i++) {
        struct g2h_node node;
        unsigned entries = 0;
        g2h_view_node(made.view, i, &node);
        if (node.kind != G2H_NODE_OBJECT ||
            !g2h_location_of_object(made.view, node.object, &location))
            continue;
        if (is_of(made.view, i, "main.Session")) {
            sessions++;
            g2h_values_begin_at(values, &location);
            for (; g2h_values_next(values, &value); fields++) {
                g2h_value_content(made.view, &value, &text, &content);
                if (value.kind == G2H_VALUE_TIME) {
                    assert_memory_equal(text.data, "2026-11-20T17:11:4", 18);
                    times++;
                }
            }
        }
        if (!g2h_location_is_map(made.view, &location) ||
            !is_of(made.view, i, "map[string]*main.Preview"))
            continue;
        assert_no_error(g2h_location_entries(made.view, &location, count_entry, &entries));
        assert_int_equal(entries, 400);
        maps++;
    }
    assert_int_equal(sessions, 2000);
    assert_int_equal(fields, 5 * sessions);
    assert_int_equal(times, sessions);
    assert_int_equal(maps, 1);
    assert_int_equal(g2h_location_of_variable(made.view, "main.previews", &location),
                     G2H_VARIABLE_FOUND);
    assert_int_equal(g2h_location_of_variable(made.view, "main.no", &location), G2H_VARIABLE_NONE);
    g2h_values_destroy(values);
    g2h_text_deinit(&text);
    conversion_deinit(&made);
}

/* Returns whether each of some bytes is a character by itself, and one of them is not UTF-8. */
static bool has_invalid_bytes(const uint8_t *data, size_t size)
{
    bool has = false;
    for (size_t i = 0; i < size; i++) {
        if (data[i] >= 0xc2)
            return false;
        has |= data[i] >= 0x80;
    }
    return has;
}

/* A string of bytes that are not UTF-8 takes more bytes when it is shown than it has; it is marked
 * as cut nevertheless. */
TEST(long_strings_are_marked_as_cut)
{
    struct conversion made = make_view(false, 0);
    struct g2h_text text = {0};
    struct g2h_content content;
    unsigned count = 0;
    for (uint32_t i = 0; i < g2h_heap_object_count(heap); i++) {
        const struct g2h_object object = g2h_heap_object(heap, i);
        if (object.contents.size < G2H_CONTENT_LIMIT + 1 ||
            !has_invalid_bytes(object.contents.data, G2H_CONTENT_LIMIT))
            continue;
        uint64_t words[] = {object.address, G2H_CONTENT_LIMIT};
        const struct g2h_value value = {
            .kind = G2H_VALUE_STRING, .data = (const uint8_t *)words, .size = sizeof(words)};
        g2h_value_content(made.view, &value, &text, &content);
        assert_memory_equal(text.data + text.size - 1, "\"", 1);
        words[1]++;
        g2h_value_content(made.view, &value, &text, &content);
        assert_memory_equal(text.data + text.size - strlen("\"…"), "\"…", strlen("\"…"));
        count++;
    }
    assert_true(count > 0);
    g2h_text_deinit(&text);
    conversion_deinit(&made);
}

/* Every value of an object lies within it; if names are redacted, numbers have no text and strings
 * are redacted. */
TEST(values_lie_in_their_objects)
{
    struct conversion made = make_view(true, 0);
    struct g2h_values *values;
    struct g2h_value value;
    struct g2h_text text = {0};
    uint64_t count = 0;
    assert_no_error(g2h_values_create(made.view, &values));
    for (uint32_t i = 0; i < g2h_view_node_count(made.view); i++) {
        struct g2h_node node;
        g2h_view_node(made.view, i, &node);
        g2h_values_begin(values, i);
        for (; g2h_values_next(values, &value); count++) {
            assert_true(value.size <= node.size && value.offset <= node.size - value.size);
            g2h_value_text(made.view, &value, &text);
            if (value.kind <= G2H_VALUE_COMPLEX)
                assert_int_equal(text.size, 0);
            if (value.kind == G2H_VALUE_STRING && text.size > 0)
                assert_memory_equal(text.data, "(<=", 3);
        }
    }
    assert_true(count > 300000);
    g2h_values_destroy(values);
    g2h_text_deinit(&text);
    conversion_deinit(&made);
}

/* Complex numbers are printed as Go's fmt.Println() prints them. */
TEST(complex_numbers_are_as_go_has_them)
{
    static const struct {
        double real, imaginary;
        const char *text;
    } numbers[] = {
        {1, -2, "(1-2i)"},
        {1, 2, "(1+2i)"},
        {(double)NAN, (double)INFINITY, "(NaN+Infi)"},
        {0.5, -(double)INFINITY, "(0.5-Infi)"},
        {1e21, -0.0, "(1e+21-0i)"},
        {0, (double)NAN, "(0+NaNi)"},
    };
    struct conversion made = make_view(false, 0);
    struct g2h_text text = {0};
    for (size_t i = 0; i < 2 * sizeof(numbers) / sizeof(*numbers); i++) {
        const bool is_narrow = i % 2 != 0;
        const double wide[] = {numbers[i / 2].real, numbers[i / 2].imaginary};
        const float narrow[] = {(float)wide[0], (float)wide[1]};
        uint8_t data[sizeof(wide)]; /* the bytes of a dump of amd64 */
        const struct g2h_value value = {.kind = G2H_VALUE_COMPLEX,
                                        .size = is_narrow ? sizeof(narrow) : sizeof(wide),
                                        .data = data};
        for (size_t j = 0; j < 2; j++) {
            uint64_t bits = 0;
            const size_t size = (size_t)value.size / 2;
            if (is_narrow) {
                uint32_t narrow_bits;
                memcpy(&narrow_bits, &narrow[j], sizeof(narrow_bits));
                bits = narrow_bits;
            } else {
                memcpy(&bits, &wide[j], sizeof(bits));
            }
            for (size_t k = 0; k < size; k++)
                data[j * size + k] = (uint8_t)(bits >> 8 * k);
        }
        g2h_value_text(made.view, &value, &text);
        assert_true(is_text(text.data, text.size, numbers[i / 2].text));
    }
    g2h_text_deinit(&text);
    conversion_deinit(&made);
}

/* The header of a map has its length: an int until Go 1.23, a uint64 since. */
TEST(maps_have_their_length)
{
    static const uint8_t header[16] = {[8] = 0x90, 0x5f, 1}; /* 90,000, as a dump of amd64 has it */
    static const char *const names[] = {"count", "used"};
    static const enum type_kind kinds[] = {TYPE_INT, TYPE_UINT64};
    struct conversion made = make_view(false, 0);
    struct types *types = not_const(made.view->graph->typing->types);
    const size_t count = types->list.count;
    for (size_t i = 0; i < 2; i++) {
        const uint32_t number = type_add(types, "number", kinds[i], 8, TYPE_NONE);
        const struct g2h_location map = {.type = type_struct(types, "header", sizeof(header)),
                                         .bytes = {header, sizeof(header)},
                                         .object = UINT32_MAX};
        struct g2h_values *values;
        uint64_t length;
        type_field(types, "seed", number, 0);
        type_field(types, names[i], number, 8);
        assert_no_error(g2h_values_create(made.view, &values));
        assert_true(entries_length(made.view, values, &map, &length));
        assert_int_equal(length, 90000);
        g2h_values_destroy(values);
    }
    types->list.count = count;
    conversion_deinit(&made);
}

/* Returns the function that a frame is named after: its own, unless the compiler has made that of a
 * go statement, and has inlined the one that the statement calls. */
static struct g2h_bytes named(const struct g2h_view *view, size_t frame)
{
    struct g2h_view_call call = {.is_wrapper = true};
    struct g2h_bytes function = {NULL, 0};
    for (uint32_t i = 0; g2h_view_call(view, frame, i, &call); i++)
        if (!call.is_wrapper || function.size == 0)
            function = call.function;
    return function;
}

/* Expects the name of a goroutine's node to begin with its number and state, and the names of its
 * frames' nodes with their functions. */
static void check_goroutines(const struct g2h_view *view)
{
    struct g2h_text text = {0};
    assert_int_equal(g2h_view_goroutine_count(view),
                     g2h_heap_record_count(heap, G2H_RECORD_GOROUTINE));
    for (size_t i = 0; i < g2h_view_goroutine_count(view); i++) {
        struct g2h_view_goroutine goroutine;
        struct g2h_node node;
        char begin[128];
        size_t size;
        g2h_view_goroutine(view, i, &goroutine);
        g2h_view_state(view, i, &text);
        g2h_view_node(view, goroutine.node, &node);
        if (node.members > 0)
            continue;
        assert_int_equal(node.kind, G2H_NODE_GOROUTINE);
        assert_int_equal(node.key, goroutine.record.goid);
        const int length =
            snprintf(begin, sizeof(begin), "goroutine %llu [%.*s",
                     (unsigned long long)goroutine.record.goid, (int)text.size, text.data);
        const char *name = g2h_view_name(view, node.name, &size);
        assert_true(size > (size_t)length);
        assert_memory_equal(name, begin, (size_t)length);
        for (uint32_t j = 0; j < goroutine.frame_count; j++) {
            struct g2h_view_frame frame;
            g2h_view_frame(view, goroutine.first_frame + j, &frame);
            g2h_view_node(view, frame.node, &node);
            name = g2h_view_name(view, node.name, &size);
            if (node.members > 0)
                continue;
            assert_int_equal(node.kind, G2H_NODE_FRAME);
            const struct g2h_bytes function = named(view, goroutine.first_frame + j);
            assert_true(size >= function.size);
            assert_memory_equal(name, function.data, function.size);
        }
    }
    g2h_text_deinit(&text);
}

TEST(goroutines_are_their_nodes)
{
    struct conversion made = make_view(false, 0);
    check_goroutines(made.view);
    conversion_deinit(&made);
    made = make_view(false, 1000);
    check_goroutines(made.view);
    conversion_deinit(&made);
}

UNIT_MAIN_ONCE(start, end)
