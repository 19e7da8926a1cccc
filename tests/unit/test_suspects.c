/* Covers how a suspect says what holds its objects (who_find_holders()): the holders of many lists,
 * and the one element on which a list hangs. And how a suspect grows that another variable holds
 * than in the base, or that two held together there. */
#include "dump_builder.h"

#include <unistd.h>

#include <go2heapsnapshot/findings.h>
#include <go2heapsnapshot/output.h>

#include "findings/goroutines.h"
#include "findings/memory_use.h"
#include "findings/suspects.h"

enum { COUNT = 400, SIZE = 64, NODE_TYPE = 0x400000, POINTER_TYPE = 0x400040 };

#define AT(i) (dump->heap_start + (uint64_t)(i)*SIZE)

/* Objects in equally long lists, or rings. An element of a slice holds each list, and another one
 * the first list if that is held twice. */
struct shape {
    int count, lists;
    bool is_ring, is_held_twice;
    int word; /* of bss, that holds the slice */
};

/* Makes a dump of a shape. Returns the dump's view. */
static struct g2h_view *make(struct dump *dump, const struct shape *shape)
{
    const int length = shape->count / shape->lists, elements = shape->lists + shape->is_held_twice;
    uint64_t heads[COUNT], words[2] = {0, 0};
    const struct g2h_field pointer = {.kind = G2H_FIELD_POINTER};
    dump_start(dump, DUMP_1_3, 8, false);
    dump_type(dump, NODE_TYPE, SIZE, "main.Node", true, &pointer, 1);
    dump_type(dump, POINTER_TYPE, 8, "*main.Node", true, &pointer, 1);
    for (int i = 0; i < shape->count; i++) {
        const uint64_t after = shape->is_ring ? AT(i + 1 - length) : 0;
        dump_typed_object(dump, AT(i), NODE_TYPE, 0, SIZE,
                          WORDS((i + 1) % length == 0 ? after : AT(i + 1)));
    }
    for (int i = 0; i < elements; i++)
        heads[i] = AT(i % shape->lists * length);
    dump_typed_object(dump, words[shape->word] = AT(COUNT), POINTER_TYPE, 1, sizeof(heads),
                      (size_t)elements, heads);
    dump_bss(dump, 0x560000, 2, words);
    dump_eof(dump);
    return dump_view(dump, 1, NULL);
}

/* Expects the sentence about the only suspect. */
static void expect(const struct shape *shape, const char *sentence)
{
    DUMP dump;
    struct g2h_findings *findings;
    size_t count;
    assert_no_error(g2h_findings_create(make(&dump, shape), NULL, &findings));
    assert_no_error(g2h_findings_suspects(findings, &count));
    assert_int_equal(count, 1);
    assert_string_equal(g2h_findings_suspect(findings, 0)->sentence, sentence);
    g2h_findings_destroy(findings);
}

/* Makes a dump of two slices, each with a range of the objects. Returns the dump's view. */
static struct g2h_view *make_two(struct dump *dump, const int first[2], const int count[2])
{
    const struct g2h_field pointer = {.kind = G2H_FIELD_POINTER};
    uint64_t words[2], elements[COUNT];
    dump_start(dump, DUMP_1_3, 8, false);
    dump_type(dump, NODE_TYPE, SIZE, "main.Node", true, &pointer, 1);
    dump_type(dump, POINTER_TYPE, 8, "*main.Node", true, &pointer, 1);
    for (int i = 0; i < first[0] + count[0]; i++)
        dump_typed_object(dump, AT(i), NODE_TYPE, 0, SIZE, WORDS(0));
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < count[i]; j++)
            elements[j] = AT(first[i] + j);
        dump_typed_object(dump, words[i] = AT(COUNT * (i + 1)), POINTER_TYPE, 1,
                          (size_t)count[i] * 8, (size_t)count[i], elements);
    }
    dump_bss(dump, 0x560000, 2, words);
    dump_eof(dump);
    return dump_view(dump, 1, NULL);
}

/* Expects that a suspect has grown by this many objects, none: that there is no suspect. Takes both
 * dumps. */
static void expect_grown(struct dump *before, struct g2h_view *view_before, struct dump *now,
                         struct g2h_view *view_now, int grown)
{
    struct g2h_base *base;
    suspect_vector found = {.data = NULL};
    assert_no_error(g2h_base_create(view_before, "before", 1, &base));
    struct findings findings = {.view = view_now, .base = base, .threads = 1};
    assert_no_error(findings_begin(&findings, false));
    assert_no_error(findings_merge(&findings));
    assert_no_error(suspects_find(&findings, &found));
    assert_int_equal(found.count, grown > 0);
    if (grown > 0) {
        assert_int_equal(found.data[0].grown, grown);
        assert_in_range(found.data[0].bytes, grown * SIZE, grown * (SIZE + 16)); /* with slots */
    }
    free(found.data);
    findings_deinit(&findings);
    g2h_base_destroy(base);
    dump_deinit(now);
    dump_deinit(before);
}

/* The slice of the base has the others, and another word holds it. */
static void expect_growth(int grown)
{
    struct dump before, now;
    const struct shape few = {.count = COUNT - grown, .lists = COUNT - grown},
                       all = {.count = COUNT, .lists = COUNT, .word = 1};
    struct g2h_view *view = make(&before, &few);
    expect_grown(&before, view, &now, make(&now, &all), grown);
}

/* Makes a dump of a slice with objects, and of one that is a hundred times as large as all of them.
 */
static struct g2h_view *make_beside_large(struct dump *dump, int count)
{
    enum { LARGE = 100 * COUNT * SIZE };
    const struct g2h_field pointer = {.kind = G2H_FIELD_POINTER};
    uint64_t words[2], elements[COUNT];
    dump_start(dump, DUMP_1_3, 8, false);
    dump_type(dump, NODE_TYPE, SIZE, "main.Node", true, &pointer, 1);
    dump_type(dump, POINTER_TYPE, 8, "*main.Node", true, &pointer, 1);
    for (int i = 0; i < count; i++)
        dump_typed_object(dump, elements[i] = AT(i), NODE_TYPE, 0, SIZE, WORDS(0));
    dump_typed_object(dump, words[0] = AT(COUNT), POINTER_TYPE, 1, sizeof(elements), (size_t)count,
                      elements);
    dump_typed_object(dump, words[1] = AT(2 * COUNT), 0, 0, LARGE, NO_WORDS);
    dump_bss(dump, 0x560000, 2, words);
    dump_eof(dump);
    return dump_view(dump, 1, NULL);
}

/* Many objects that have grown are a suspect, though a single one would have to be larger. */
TEST(grown_a_little)
{
    struct dump before, now;
    struct g2h_view *view = make_beside_large(&before, 10);
    expect_grown(&before, view, &now, make_beside_large(&now, COUNT - 10), COUNT - 20);
}

TEST(one_list)
{
    expect(&(struct shape){.count = COUNT, .lists = 1},
           "400 main.Node, in one element of []*main.Node");
}

TEST(ring)
{
    expect(&(struct shape){.count = COUNT, .lists = 1, .is_ring = true},
           "400 main.Node, in one element of []*main.Node");
}

TEST(list_held_twice)
{
    expect(&(struct shape){.count = COUNT, .lists = 1, .is_held_twice = true},
           "400 main.Node, in []*main.Node");
}

TEST(two_lists)
{
    expect(&(struct shape){.count = COUNT, .lists = 2}, "400 main.Node, in []*main.Node");
}

TEST(no_list)
{
    expect(&(struct shape){.count = COUNT, .lists = COUNT}, "400 main.Node, in []*main.Node");
}

TEST(moved)
{
    expect_growth(0);
}

TEST(moved_and_grown)
{
    expect_growth(COUNT - 100);
}

/* Of the objects that both slices had, the first one has lost its pointers, but has got others. */
TEST(no_longer_shared)
{
    struct dump before, now;
    struct g2h_view *view = make_two(&before, (int[]){0, 0}, (int[]){200, 100});
    expect_grown(&before, view, &now, make_two(&now, (int[]){100, 0}, (int[]){300, 100}), 200);
}

/* ---- holders that move ---- */

enum { TENANTS = 40, EACH = 40, TENANT_TYPE = 0x400080, TENANTS_TYPE = 0x4000c0, LIST = 512 };

/* Makes a dump of tenants, each with a list of nodes. A slice has all of them, another one the
 * first ones. */
static struct g2h_view *make_tenants(struct dump *dump, int each, int listed)
{
    const struct g2h_field pointer = {.kind = G2H_FIELD_POINTER};
    uint64_t words[2], tenants[TENANTS], nodes[EACH], next;
    dump_start(dump, DUMP_1_3, 8, false);
    dump_type(dump, NODE_TYPE, SIZE, "main.Node", true, &pointer, 1);
    dump_type(dump, POINTER_TYPE, 8, "*main.Node", true, &pointer, 1);
    dump_type(dump, TENANT_TYPE, SIZE, "main.Tenant", true, &pointer, 1);
    dump_type(dump, TENANTS_TYPE, 8, "*main.Tenant", true, &pointer, 1);
    next = dump->heap_start;
    for (int i = 0; i < TENANTS; i++) {
        for (int j = 0; j < each; j++, next += SIZE)
            dump_typed_object(dump, nodes[j] = next, NODE_TYPE, 0, SIZE, WORDS(0));
        dump_typed_object(dump, next, POINTER_TYPE, 1, LIST, (size_t)each, nodes);
        dump_typed_object(dump, tenants[i] = next + LIST, TENANT_TYPE, 0, SIZE, WORDS(next));
        next += LIST + SIZE;
    }
    for (int i = 0; i < 2; i++, next += LIST)
        dump_typed_object(dump, words[i] = next, TENANTS_TYPE, 1, LIST,
                          (size_t)(i == 0 ? TENANTS : listed), tenants);
    dump_bss(dump, 0x560000, 2, words);
    dump_eof(dump);
    return dump_view(dump, 1, NULL);
}

/* A list gets nearly all tenants, so that another node holds them than in the base. The tenants are
 * as many as before: their nodes have grown. */
TEST(holders_moved)
{
    struct dump before, now;
    struct g2h_view *view = make_tenants(&before, EACH / 4, 12);
    expect_grown(&before, view, &now, make_tenants(&now, EACH, TENANTS - 1),
                 TENANTS * (EACH - EACH / 4));
    view = make_tenants(&before, EACH, 12);
    expect_grown(&before, view, &now, make_tenants(&now, EACH, TENANTS - 1), 0);
}

/* Of two tenants one has most of the nodes: what its nodes hold each other counts once. */
TEST(one_has_most)
{
    enum { MANY = 300, FEW = 20 };
    const struct g2h_field pointer = {.kind = G2H_FIELD_POINTER};
    struct findings findings = {.threads = 1};
    struct who_suspects found = {.count = 0};
    struct dump made, *dump = &made;
    uint64_t tenants[2], address;
    dump_start(dump, DUMP_1_3, 8, false);
    dump_type(dump, NODE_TYPE, SIZE, "main.Node", true, &pointer, 1);
    dump_type(dump, TENANT_TYPE, SIZE, "main.Tenant", true, &pointer, 1);
    dump_type(dump, TENANTS_TYPE, 8, "*main.Tenant", true, &pointer, 1);
    for (int i = 0, at = 0; i < 2; i++) {
        const int count = i == 0 ? MANY : FEW, first = at;
        for (int j = 0; j < count; j++, at++)
            dump_typed_object(dump, AT(at), NODE_TYPE, 0, SIZE,
                              WORDS(j + 1 < count ? AT(at + 1) : 0));
        dump_typed_object(dump, tenants[i] = AT(at++), TENANT_TYPE, 0, SIZE, WORDS(AT(first)));
    }
    dump_typed_object(dump, address = AT(2 * MANY), TENANTS_TYPE, 1, 16, 2, tenants);
    dump_bss(dump, 0x560000, 1, &address);
    dump_eof(dump);
    findings.view = dump_view(dump, 1, NULL);
    assert_no_error(findings_begin(&findings, false));
    assert_no_error(findings_merge(&findings));
    assert_no_error(who_find(&findings, &found));
    assert_true(found.count > 0);
    const struct example *example = &found.list[0].example;
    assert_int_not_equal(example->most, UINT32_MAX);
    assert_int_equal(example->holders, 2);
    assert_int_equal(example->count, MANY);
    assert_int_equal(example->retained, MANY * SIZE);
    who_suspects_deinit(&found);
    findings_deinit(&findings);
    dump_deinit(dump);
}

/* ---- containers ---- */

enum { INDEX_TYPE = 0x400100, OTHER_TYPE = 0x400140, OTHERS_TYPE = 0x400180, BLOCK = 4096 };

/* Makes a dump of a struct that has two slices with pointers to the same nodes, and, if there are
 * others, a third one with these. The nodes of each slice are in a block. */
static struct g2h_view *make_index(struct dump *dump, int count, int others)
{
    const struct g2h_field pointers[] = {{.kind = G2H_FIELD_POINTER, .offset = 0},
                                         {.kind = G2H_FIELD_POINTER, .offset = 8},
                                         {.kind = G2H_FIELD_POINTER, .offset = 16}};
    uint64_t nodes[COUNT], slices[3], next;
    dump_start(dump, DUMP_1_3, 8, false);
    dump_type(dump, NODE_TYPE, SIZE, "main.Node", true, pointers, 1);
    dump_type(dump, POINTER_TYPE, 8, "*main.Node", true, pointers, 1);
    dump_type(dump, INDEX_TYPE, SIZE, "main.Index", true, pointers, 3);
    dump_type(dump, OTHER_TYPE, SIZE, "main.Other", true, pointers, 1);
    dump_type(dump, OTHERS_TYPE, 8, "*main.Other", true, pointers, 1);
    next = dump->heap_start;
    for (int i = 0; i < count; i++, next += SIZE)
        dump_typed_object(dump, nodes[i] = next, NODE_TYPE, 0, SIZE, WORDS(0));
    for (int i = 0; i < 2; i++, next += BLOCK)
        dump_typed_object(dump, slices[i] = next, POINTER_TYPE, 1, BLOCK, (size_t)count, nodes);
    for (int i = 0; i < others; i++, next += SIZE)
        dump_typed_object(dump, nodes[i] = next, OTHER_TYPE, 0, SIZE, WORDS(0));
    const uint64_t list = others <= LIST / 8 ? LIST : BLOCK;
    dump_typed_object(dump, slices[2] = next, OTHERS_TYPE, 1, list, (size_t)others, nodes);
    next += list;
    dump_typed_object(dump, next, INDEX_TYPE, 0, SIZE, WORDS(slices[0], slices[1], slices[2]));
    dump_bss(dump, 0x560000, 1, &next);
    dump_eof(dump);
    return dump_view(dump, 1, NULL);
}

/* Expects that no node of merged is in two suspects, and that the classes of each suspect add up to
 * its bytes. */
static void expect_parts(const struct findings *findings, const suspect_vector *found)
{
    const size_t count = findings->merged.nodes.count;
    struct containers containers;
    bool *is_in = calloc(count, sizeof(*is_in)), *is_known = calloc(count, sizeof(*is_known));
    assert_non_null(is_in);
    assert_non_null(is_known);
    assert_no_error(containers_init(findings, NULL, &containers));
    for (size_t i = 0; i < found->count; i++) {
        uint64_t sum = 0;
        container_mark(&containers, &found->data[i].container, is_in);
        for (size_t j = 0; j < count; j++) {
            assert_false(is_in[j] && is_known[j]);
            is_known[j] = is_known[j] || is_in[j];
            sum += is_in[j] ? findings->merged.nodes.data[j].bytes : 0;
        }
        assert_int_equal(sum, found->data[i].bytes);
        assert_int_equal(sum, found->data[i].all);
    }
    containers_deinit(&containers);
    free(is_known);
    free(is_in);
}

static void expect_index(int count, int others, size_t suspects, uint64_t bytes)
{
    DUMP dump;
    suspect_vector found = {.data = NULL};
    struct findings findings = {.view = make_index(&dump, count, others), .threads = 1};
    assert_no_error(findings_begin(&findings, false));
    assert_no_error(findings_merge(&findings));
    assert_no_error(suspects_find(&findings, &found));
    assert_int_equal(found.count, suspects);
    assert_int_equal(found.data[0].count, count);
    assert_int_equal(found.data[0].bytes, bytes);
    expect_parts(&findings, &found);
    free(found.data);
    findings_deinit(&findings);
}

/* Two indexes of the same nodes are one container, with all that is theirs, and with the few other
 * objects of its struct. */
TEST(two_indexes)
{
    expect_index(COUNT, 1, 1, COUNT * SIZE + 2 * BLOCK + LIST + 2 * SIZE);
}

/* What else the struct has is not theirs. */
TEST(two_indexes_and_others)
{
    expect_index(COUNT, LIST / 8 - 4, 2, COUNT * SIZE + 2 * BLOCK + SIZE);
}

/* Nor is it if it is as many by chance: nothing points from one to the other. */
TEST(equal_by_chance)
{
    expect_index(COUNT, COUNT, 2, COUNT * SIZE + 2 * BLOCK + SIZE);
}

/* What has not grown is not a part of what has, though all that grew in their struct is the nodes.
 */
TEST(beside_what_stays)
{
    enum { OTHERS = LIST / 8 - 4 };
    struct dump before, now;
    struct g2h_base *base;
    suspect_vector found = {.data = NULL};
    assert_no_error(g2h_base_create(make_index(&before, COUNT / 2, OTHERS), "before", 1, &base));
    struct findings findings = {
        .view = make_index(&now, COUNT, OTHERS), .base = base, .threads = 1};
    assert_no_error(findings_begin(&findings, false));
    assert_no_error(findings_merge(&findings));
    assert_no_error(suspects_find(&findings, &found));
    assert_int_equal(found.count, 1);
    assert_int_equal(found.data[0].bytes, COUNT / 2 * SIZE);
    assert_in_range(found.data[0].all, COUNT * SIZE, COUNT * SIZE + 2 * BLOCK + SIZE);
    free(found.data);
    findings_deinit(&findings);
    g2h_base_destroy(base);
    dump_deinit(&now);
    dump_deinit(&before);
}

/* ---- growth that has no single place ---- */

enum { CLASSES = 60, FEW = 10 };

/* Makes a dump of some objects of each class, which variables hold. */
static struct g2h_view *make_diffuse(struct dump *dump, int each)
{
    const struct g2h_field pointer = {.kind = G2H_FIELD_POINTER};
    uint64_t words[CLASSES], objects[4 * FEW], next;
    char name[32];
    dump_start(dump, DUMP_1_3, 8, false);
    next = dump->heap_start;
    for (int i = 0; i < CLASSES; i++) {
        const uint64_t type = NODE_TYPE + (uint64_t)i * 0x80;
        snprintf(name, sizeof(name), "*main.C%d", i);
        dump_type(dump, type, SIZE, name + 1, true, &pointer, 1);
        dump_type(dump, type + 0x40, 8, name, true, &pointer, 1);
        for (int j = 0; j < each; j++, next += SIZE)
            dump_typed_object(dump, objects[j] = next, type, 0, SIZE, WORDS(0));
        dump_typed_object(dump, words[i] = next, type + 0x40, 1, LIST, (size_t)each, objects);
        next += LIST;
    }
    dump_bss(dump, 0x560000, CLASSES, words);
    dump_eof(dump);
    return dump_view(dump, 1, NULL);
}

/* What has grown in no suspect is said, with the classes that have grown most. */
TEST(no_single_place)
{
    DUMP before, now;
    struct g2h_base *base;
    struct who_suspects suspects = {.count = 0};
    assert_no_error(g2h_base_create(make_diffuse(&before, FEW), "before", 1, &base));
    struct findings findings = {.view = make_diffuse(&now, 4 * FEW), .base = base, .threads = 1};
    assert_no_error(findings_begin(&findings, false));
    assert_no_error(findings_merge(&findings));
    assert_no_error(who_find(&findings, &suspects));
    assert_int_equal(suspects.all, 0);
    assert_int_equal(suspects.rest.bytes, CLASSES * 3 * FEW * SIZE);
    assert_int_equal(suspects.rest.count, WHO_REST);
    for (int i = 0; i < WHO_REST; i++)
        assert_int_equal(suspects.rest.classes[i].grown, 3 * FEW * SIZE);
    who_suspects_deinit(&suspects);
    findings_deinit(&findings);
    g2h_base_destroy(base);
}

/* ---- memory that is not objects ---- */

/* Stacks of goroutines count for the suspects that hold them, not also as memory without objects.
 */
TEST(stacks_once)
{
    enum { MB = 1000000 };
    const uint64_t g = 0xc000000000, low = 0xc010000000, high = low + 50 * MB;
    struct g2h_memory memory = {.resident = 100 * MB, .parts = {[G2H_MEMORY_STACKS] = 70 * MB}};
    DUMP dump;
    enum g2h_memory_part part;
    dump_start_modern(&dump, "go1.22");
    dump_object(&dump, g, 448, WORDS(low, high));
    dump_goroutine(&dump, 1, g, high - 4096);
    dump_frame(&dump, "main.deep", high - 4096, 0, NO_WORDS, 0);
    dump_eof(&dump);
    struct findings findings = {.view = dump_view(&dump, 1, NULL), .memory = &memory};
    assert_int_equal(g2h_view_account(findings.view)->stack_bytes, 50 * MB);
    assert_int_equal(memory_beside(&findings, G2H_MEMORY_STACKS), 20 * MB);
    assert_true(memory_is_outside(&findings, &part));
    assert_int_equal(part, G2H_MEMORY_STACKS);
    assert_true(memory_is_mostly_outside(&findings, &part));
    memory.parts[G2H_MEMORY_STACKS] = 50 * MB; /* all of them are goroutines' */
    assert_int_equal(memory_beside(&findings, G2H_MEMORY_STACKS), 0);
    assert_false(memory_is_outside(&findings, &part));
}

/* The stack of a recursion is a suspect, of which the report says how deep it is, and of what. */
TEST(deep_stack)
{
    enum { FRAMES = 150, FRAME = 128 };
    const uint64_t g = 0xc000000000, low = 0xc010000000, high = low + (1 << 20);
    const uint64_t sp = high - (FRAMES + 1) * FRAME;
    static char text[1 << 16];
    DUMP dump;
    FILE *file = tmpfile();
    const struct g2h_format *format = NULL;
    assert_non_null(file);
    dump_start_modern(&dump, "go1.22");
    dump_object(&dump, g, 448, WORDS(low, high));
    dump_goroutine(&dump, 1, g, sp);
    for (unsigned i = 0; i <= FRAMES; i++)
        dump_frame(&dump, i < FRAMES ? "main.walk" : "main.main", sp + i * FRAME, i, NO_WORDS, 0);
    dump_eof(&dump);
    for (size_t i = 0; (format = g2h_format(i)) && strcmp(format->name, "report") != 0; i++)
        ;
    const struct g2h_output_options options = {
        .size = sizeof(options), .fd = fileno(file), .name = "report", .threads = 1};
    assert_non_null(format);
    assert_no_error(g2h_write(format, dump_view(&dump, 1, NULL), &options));
    assert_true(pread(options.fd, text, sizeof(text) - 1, 0) > 0);
    assert_non_null(strstr(text, "frames      151, 150 of them of main.walk\n"));
    fclose(file);
}

/* ---- holders of a part ---- */

/* Expects that the path of the first suspect goes by one that has so many of its objects. */
static void expect_held(struct g2h_view *view, uint64_t held)
{
    struct findings findings = {.view = view, .threads = 1};
    struct who_suspects found = {.count = 0};
    assert_no_error(findings_begin(&findings, false));
    assert_no_error(findings_merge(&findings));
    assert_no_error(who_find(&findings, &found));
    assert_true(found.count > 0);
    assert_int_equal(found.list[0].path_of, COUNT);
    assert_int_equal(found.list[0].path_count, held);
    who_suspects_deinit(&found);
    findings_deinit(&findings);
}

/* Three slices hold the objects: the first one only a few, of which it has many pointers to one. */
TEST(few_of_them)
{
    enum { FEW = 10, POINTERS = COUNT };
    const struct g2h_field pointer = {.kind = G2H_FIELD_POINTER};
    struct dump made, *dump = &made;
    uint64_t words[3], elements[3][COUNT];
    dump_start(dump, DUMP_1_3, 8, false);
    dump_type(dump, NODE_TYPE, SIZE, "main.Node", true, &pointer, 1);
    dump_type(dump, POINTER_TYPE, 8, "*main.Node", true, &pointer, 1);
    for (int i = 0; i < COUNT; i++) {
        dump_typed_object(dump, AT(i), NODE_TYPE, 0, SIZE, WORDS(0));
        elements[0][i] = AT(i < FEW ? i : 0);
        elements[1][i] = elements[2][i] = AT(i);
    }
    for (int i = 0; i < 3; i++)
        dump_typed_object(dump, words[i] = AT(COUNT * (i + 1)), POINTER_TYPE, 1, COUNT * 8, COUNT,
                          elements[i]);
    dump_bss(dump, 0x560000, 3, words);
    dump_eof(dump);
    expect_held(dump_view(dump, 1, NULL), COUNT);
    dump_deinit(dump);
}

/* One object holds objects of so many classes that each of these is small: it is a suspect itself.
 */
TEST(many_small_siblings)
{
    enum { PARTS = 100 };
    struct dump made, *dump = &made;
    struct g2h_field fields[PARTS];
    struct g2h_findings *findings;
    uint64_t parts[PARTS];
    size_t count;
    dump_start(dump, DUMP_1_3, 8, false);
    for (unsigned i = 0; i < PARTS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "main.Part%u", i);
        dump_type(dump, NODE_TYPE + 64 * i, SIZE, name, false, NULL, 0);
        fields[i] = (struct g2h_field){.kind = G2H_FIELD_POINTER, .offset = 8 * i};
        dump_typed_object(dump, parts[i] = AT(i), NODE_TYPE + 64 * i, 0, SIZE, WORDS(0));
    }
    dump_type(dump, NODE_TYPE + 64 * PARTS, sizeof(parts), "main.Whole", true, fields, PARTS);
    dump_typed_object(dump, AT(COUNT), NODE_TYPE + 64 * PARTS, 0, sizeof(parts), PARTS, parts);
    dump_bss(dump, 0x560000, 1, (const uint64_t[]){AT(COUNT)});
    dump_eof(dump);
    assert_no_error(g2h_findings_create(dump_view(dump, 1, NULL), NULL, &findings));
    assert_no_error(g2h_findings_suspects(findings, &count));
    assert_int_equal(count, 1);
    assert_int_equal(g2h_findings_suspect(findings, 0)->retained, PARTS * SIZE + sizeof(parts));
    g2h_findings_destroy(findings);
    dump_deinit(dump);
}

/* Of the objects of class runtime.g those have ended that no goroutine has. */
TEST(ended_goroutines)
{
    enum { ALL = 12, ALIVE = 3 };
    const struct g2h_field pointer = {.kind = G2H_FIELD_POINTER};
    struct findings findings = {.threads = 1};
    struct goroutines_ended ended;
    struct dump made, *dump = &made;
    uint64_t all[ALL + 1];
    dump_start(dump, DUMP_1_3, 8, false);
    dump_type(dump, NODE_TYPE, SIZE, "runtime.g", true, &pointer, 1);
    dump_type(dump, POINTER_TYPE, SIZE, "main.other", true, &pointer, 1);
    for (int i = 0; i <= ALL; i++)
        dump_typed_object(dump, all[i] = AT(i), i < ALL ? NODE_TYPE : POINTER_TYPE, 0, SIZE,
                          WORDS(0));
    for (uint64_t i = 0; i < ALIVE; i++)
        dump_goroutine(dump, i + 1, AT(i), 0x700000 + i * 0x1000);
    dump_bss(dump, 0x560000, ALL + 1, all);
    dump_eof(dump);
    findings.view = dump_view(dump, 1, NULL);
    assert_no_error(findings_begin(&findings, false));
    assert_no_error(findings_merge(&findings));
    assert_no_error(goroutines_find_ended(&findings, &ended));
    assert_int_equal(ended.count, ALL - ALIVE);
    assert_int_equal(ended.bytes, (ALL - ALIVE) * SIZE);
    findings_deinit(&findings);
    dump_deinit(dump);
}

UNIT_MAIN(NULL, NULL)
