/* Covers how a suspect says what holds its objects (who_holders()): the holders of many lists, and
 * the one element on which a list hangs. */
#include "dump_builder.h"

#include <go2heapsnapshot/findings.h>

enum { COUNT = 400, SIZE = 64, NODE_TYPE = 0x400000, POINTER_TYPE = 0x400040 };

#define AT(i) (dump.heap_start + (uint64_t)(i)*SIZE)

/* Expects the sentence about the only suspect: the objects of lists equally long lists, which hang
 * on the first elements of a slice. */
static void expect(int lists, const char *sentence)
{
    struct dump dump;
    struct g2h_findings *findings;
    uint64_t heads[COUNT];
    size_t count;
    dump_start(&dump, DUMP_1_3, 8, false);
    const struct g2h_field pointer = {.kind = G2H_FIELD_POINTER};
    dump_type(&dump, NODE_TYPE, SIZE, "main.Node", true, &pointer, 1);
    dump_type(&dump, POINTER_TYPE, 8, "*main.Node", true, &pointer, 1);
    for (int i = 0; i < COUNT; i++) {
        const bool is_last = (i + 1) % (COUNT / lists) == 0;
        dump_typed_object(&dump, AT(i), NODE_TYPE, 0, SIZE, WORDS(is_last ? 0 : AT(i + 1)));
    }
    for (int i = 0; i < lists; i++)
        heads[i] = AT(i * (COUNT / lists));
    dump_typed_object(&dump, AT(COUNT), POINTER_TYPE, 1, sizeof(heads), (size_t)lists, heads);
    dump_bss(&dump, 0x560000, WORDS(AT(COUNT)));
    dump_eof(&dump);
    assert_no_error(g2h_findings_create(dump_view(&dump, 1, NULL), NULL, &findings));
    assert_no_error(g2h_findings_suspects(findings, &count));
    assert_int_equal(count, 1);
    assert_string_equal(g2h_findings_suspect(findings, 0)->sentence, sentence);
    g2h_findings_destroy(findings);
    dump_deinit(&dump);
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

int main(void)
{
    const struct CMUnitTest suspect_tests[] = {
        cmocka_unit_test(one_list), cmocka_unit_test(two_lists), cmocka_unit_test(no_list)};
    return cmocka_run_group_tests(suspect_tests, NULL, NULL);
}
