/* Covers findings/retained_pages: random objects in spans of several sizes, compared with the spans
 * whose objects are all below a node, found one by one; and that nothing is known of a dump of
 * WriteHeapDump. */
#include "dump_builder.h"

#include "dump/dump_facts.h"
#include "findings/findings.h"

enum { UNIT = 8192, MOST = 700, WORDS_OF_EACH = 3 };

/* Kinds of spans; the last one is one large object. */
static const struct {
    uint64_t slot, span;
} kinds[] = {{64, UNIT}, {3072, 3 * UNIT}, {112, UNIT}, {40960, 5 * UNIT}};
enum { KINDS = sizeof(kinds) / sizeof(*kinds), SPANS = 24 };

struct random_heap {
    uint64_t address[MOST], size[MOST], span[MOST]; /* ascending; span: its begin */
    uint64_t bytes[MOST];                           /* of the span */
    unsigned count;
};

/* Fills each span with some objects. */
static void fill(uint64_t start, uint64_t *random, struct random_heap *ret)
{
    uint64_t at = start;
    ret->count = 0;
    for (unsigned i = 0; i < SPANS; i++) {
        const unsigned kind = unit_random(random) % KINDS,
                       slots = (unsigned)(kinds[kind].span / kinds[kind].slot),
                       some = 1 + unit_random(random) % 8;
        for (unsigned slot = 0; slot < slots && ret->count < MOST; slot++) {
            if (slots > 1 && unit_random(random) % 16 >= some)
                continue;
            ret->address[ret->count] = at + slot * kinds[kind].slot;
            ret->size[ret->count] = kinds[kind].slot;
            ret->bytes[ret->count] = kinds[kind].span;
            ret->span[ret->count++] = at;
        }
        at += kinds[kind].span;
    }
}

/* Each object but the first ones has a pointer from one in any place, and sometimes another. */
static struct g2h_view *write(struct dump *dump, uint64_t *random, const struct random_heap *heap)
{
    enum { ROOTS = 5 };
    static uint64_t order[MOST], words[MOST][WORDS_OF_EACH];
    size_t counts[MOST] = {0};
    uint64_t roots[ROOTS + 1];
    for (unsigned i = 0; i < heap->count; i++) {
        const unsigned other = unit_random(random) % (i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    for (unsigned i = 0; i < heap->count; i++) {
        const uint64_t target = heap->address[order[i]];
        if (i < ROOTS)
            roots[i] = target;
        for (unsigned j = 0; i >= ROOTS && j < 1 + unit_random(random) % 8 / 7; j++) {
            uint64_t from = order[unit_random(random) % i];
            for (unsigned tried = 0; counts[from] == WORDS_OF_EACH && tried < 50; tried++)
                from = order[unit_random(random) % i];
            if (counts[from] < WORDS_OF_EACH)
                words[from][counts[from]++] = target;
        }
    }
    for (unsigned i = 0; i < heap->count; i++)
        dump_object(dump, heap->address[i], heap->size[i], counts[i], words[i]);
    dump_bss(dump, 0x560000, ROOTS, roots);
    dump_eof(dump);
    dump_bytes(dump, FACTS_TEXT, sizeof(FACTS_TEXT) - 1);
    dump_bytes(dump, "", 1);
    return dump_view(dump, 1, NULL);
}

static bool is_below(const struct findings *findings, uint32_t node, uint32_t above)
{
    while (node != MERGED_NONE && node != above)
        node = findings_node(findings, node)->parent;
    return node == above;
}

/* Returns what goes with a node, span by span. */
static struct pages_sum expected(const struct findings *findings, const struct random_heap *heap,
                                 uint32_t node)
{
    struct pages_sum sum = {0};
    for (unsigned i = 0, end; i < heap->count; i = end) {
        uint64_t used = 0;
        bool all = true, has_some = false;
        for (end = i; end < heap->count && heap->span[end] == heap->span[i]; end++) {
            uint32_t object;
            if (!g2h_heap_find(g2h_view_heap(findings->view), heap->address[end], &object))
                continue; /* the reader takes some for slots that hold no object */
            used += heap->size[end];
            if (g2h_view_is_garbage(findings->view, object))
                continue;
            const uint32_t own = findings->merged.of[g2h_dominators_number(
                findings->dominators, g2h_view_object(findings->view, object))];
            all = all && is_below(findings, own, node);
            has_some = true;
        }
        if (all && has_some) {
            sum.bytes += heap->bytes[i];
            sum.empty += heap->bytes[i] - used;
        }
    }
    return sum;
}

TEST(random_heaps)
{
    uint64_t random = 88172645463325252;
    for (unsigned round = 0; round < 30; round += unit_step()) {
        static struct random_heap heap;
        DUMP dump;
        dump_start_modern(&dump, round % 2 == 0 ? "go1.22.1" : "go1.27");
        fill(dump.heap_start, &random, &heap);
        struct findings findings = {.view = write(&dump, &random, &heap), .threads = 1 + round % 3};
        assert_no_error(findings_begin(&findings, false));
        assert_no_error(findings_merge(&findings));
        assert_no_error(pages_find(&findings));
        assert_non_null(findings.pages.retained);
        for (uint32_t node = 0; node < findings.merged.nodes.count; node++) {
            const struct pages_sum wanted = expected(&findings, &heap, node),
                                   found = pages_of(&findings.pages, node);
            assert_int_equal(found.bytes, wanted.bytes);
            assert_int_equal(found.empty, wanted.empty);
        }
        findings_deinit(&findings);
    }
}

/* Objects of WriteHeapDump may be anywhere. */
TEST(other_dumps)
{
    DUMP dump;
    dump_start_modern(&dump, "go1.27");
    dump_object(&dump, dump.heap_start, 64, 0, NULL);
    dump_bss(&dump, 0x560000, 1, &dump.heap_start);
    dump_eof(&dump);
    struct findings findings = {.view = dump_view(&dump, 1, NULL), .threads = 1};
    assert_no_error(findings_begin(&findings, false));
    assert_no_error(findings_merge(&findings));
    assert_no_error(pages_find(&findings));
    assert_null(findings.pages.retained);
    assert_int_equal(pages_of(&findings.pages, 0).bytes, 0);
    findings_deinit(&findings);
}

UNIT_MAIN(NULL, NULL)
