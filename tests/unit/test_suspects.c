/* Covers how a suspect says what holds its objects (who_holders()): the holders of many lists, and
 * the one element on which a list hangs. And how a suspect grows that another variable holds than
 * in the base. */
#include "dump_builder.h"

#include <go2heapsnapshot/findings.h>
#include <go2heapsnapshot/output.h>

#include "findings/suspects.h"

enum { COUNT = 400, SIZE = 64, NODE_TYPE = 0x400000, POINTER_TYPE = 0x400040 };

#define AT(i) (dump->heap_start + (uint64_t)(i)*SIZE)

/* Makes a dump of count objects that are lists equally long lists, which hang on the first elements
 * of a slice. A word of bss holds the slice. Returns the dump's view. */
static struct g2h_view *make(struct dump *dump, int count, int lists, int word)
{
    uint64_t heads[COUNT], words[2] = {0, 0};
    const struct g2h_field pointer = {.kind = G2H_FIELD_POINTER};
    dump_start(dump, DUMP_1_3, 8, false);
    dump_type(dump, NODE_TYPE, SIZE, "main.Node", true, &pointer, 1);
    dump_type(dump, POINTER_TYPE, 8, "*main.Node", true, &pointer, 1);
    for (int i = 0; i < count; i++) {
        const bool is_last = (i + 1) % (count / lists) == 0;
        dump_typed_object(dump, AT(i), NODE_TYPE, 0, SIZE, WORDS(is_last ? 0 : AT(i + 1)));
    }
    for (int i = 0; i < lists; i++)
        heads[i] = AT(i * (count / lists));
    dump_typed_object(dump, words[word] = AT(COUNT), POINTER_TYPE, 1, sizeof(heads), (size_t)lists,
                      heads);
    dump_bss(dump, 0x560000, 2, words);
    dump_eof(dump);
    return dump_view(dump, 1, NULL);
}

/* Expects the sentence about the only suspect. */
static void expect(int lists, const char *sentence)
{
    struct dump dump;
    struct g2h_findings *findings;
    size_t count;
    assert_no_error(g2h_findings_create(make(&dump, COUNT, lists, 0), NULL, &findings));
    assert_no_error(g2h_findings_suspects(findings, &count));
    assert_int_equal(count, 1);
    assert_string_equal(g2h_findings_suspect(findings, 0)->sentence, sentence);
    g2h_findings_destroy(findings);
    dump_deinit(&dump);
}

/* Expects that a suspect has grown by this many objects, none: that there is no suspect, if the
 * slice of the base has the others and another word holds it. */
static void expect_growth(int grown)
{
    struct dump before, now;
    struct g2h_base *base;
    suspect_vector found = {.data = NULL};
    const int count = COUNT - grown;
    assert_no_error(g2h_base_create(make(&before, count, count, 0), "before", 1, &base));
    struct findings findings = {.view = make(&now, COUNT, COUNT, 1), .base = base, .threads = 1};
    assert_no_error(findings_begin(&findings, false));
    assert_no_error(findings_merge(&findings));
    assert_no_error(suspects_find(&findings, &found));
    assert_int_equal(found.count, grown > 0);
    if (grown > 0) {
        assert_int_equal(found.data[0].grown, grown);
        assert_int_equal(found.data[0].bytes, grown * SIZE);
    }
    free(found.data);
    findings_deinit(&findings);
    g2h_base_destroy(base);
    dump_deinit(&now);
    dump_deinit(&before);
}

static void one_list(void **state)
{
    (void)state;
    expect(1, "400 main.Node, in one element of []*main.Node");
}

static void two_lists(void **state)
{
    (void)state;
    expect(2, "400 main.Node, in []*main.Node");
}

static void no_list(void **state)
{
    (void)state;
    expect(COUNT, "400 main.Node, in []*main.Node");
}

static void moved(void **state)
{
    (void)state;
    expect_growth(0);
}

static void moved_and_grown(void **state)
{
    (void)state;
    expect_growth(COUNT - 100);
}

int main(void)
{
    const struct CMUnitTest suspect_tests[] = {
        cmocka_unit_test(one_list), cmocka_unit_test(two_lists), cmocka_unit_test(no_list),
        cmocka_unit_test(moved), cmocka_unit_test(moved_and_grown)};
    return cmocka_run_group_tests(suspect_tests, NULL, NULL);
}
