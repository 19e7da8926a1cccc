/* Covers graph/never_run: which finalizers never run, by what leads to their objects. */
#include "dump_builder.h"

#include <stdlib.h>

#include "base/memory.h"
#include "heap/heap.h"

#define BASE  0xc000000000
#define AT(i) (BASE + (uint64_t)(i)*64)

enum { OBJECTS = 16 };

/* Ends a dump, and expects of which of its objects the finalizers never run. */
static void expect(struct dump *dump, unsigned count, const bool *expected)
{
    uint64_t *bits;
    dump_eof(dump);
    dump_view(dump, 1, NULL);
    assert_null(g2h_view_never_run(dump->view, &bits));
    assert_non_null(bits);
    for (unsigned i = 0; i < count; i++) {
        uint32_t object;
        assert_true(g2h_heap_find(dump->heap, AT(i), &object));
        if (bits_have(bits, object) != expected[i])
            fail_msg("object %u", i);
    }
    free(bits);
}

/* Writes objects that point to each other, and says of which the finalizers never run. */
TEST(finalizers_lead_back)
{
    enum { RING, LINK, HELD, INNER, OUTER, CAUGHT, CLOSURE, FREE, QUEUED, LAST };
    static const bool expected[OBJECTS] = {[RING] = true, [CAUGHT] = true};
    const uint64_t words[OBJECTS] = {
        [RING] = AT(LINK),   [LINK] = AT(RING),      [HELD] = AT(HELD),   [INNER] = AT(INNER),
        [OUTER] = AT(INNER), [CLOSURE] = AT(CAUGHT), [QUEUED] = AT(LAST), [LAST] = AT(LAST)};
    DUMP dump;
    dump_start_modern(&dump, "go1.22.1");
    for (unsigned i = 0; i < OBJECTS; i++)
        dump_object(&dump, AT(i), 64, WORDS(0, words[i]));
    dump_bss(&dump, 0x560000, WORDS(AT(HELD)));
    dump_finalizer(&dump, G2H_RECORD_FINALIZER, AT(RING), 0);
    dump_finalizer(&dump, G2H_RECORD_FINALIZER, AT(HELD), 0);  /* a variable leads there */
    dump_finalizer(&dump, G2H_RECORD_FINALIZER, AT(INNER), 0); /* and here that of OUTER, */
    dump_finalizer(&dump, G2H_RECORD_FINALIZER, AT(OUTER), 0); /* which will run */
    dump_finalizer(&dump, G2H_RECORD_FINALIZER, AT(CAUGHT), AT(CLOSURE));
    dump_finalizer(&dump, G2H_RECORD_FINALIZER, AT(FREE), 0);
    dump_finalizer(&dump, G2H_RECORD_QUEUEDFINALIZER, AT(QUEUED), 0);
    dump_finalizer(&dump, G2H_RECORD_FINALIZER, AT(LAST), 0); /* QUEUED is about to run */
    expect(&dump, OBJECTS, expected);
}

/* The collector ignores a pointer of an object to itself; and what the handle of a weak pointer has
 * the address of, code can reach. */
TEST(weak_ways_are_no_proof)
{
    enum { RING, LINK, SELF, WEAK, OTHER, COUNT };
    static const bool expected[COUNT] = {[RING] = true};
    const uint64_t words[COUNT] = {AT(LINK), AT(RING), AT(SELF), AT(OTHER), AT(WEAK)};
    DUMP dump;
    dump_start_modern(&dump, "go1.24.1");
    for (unsigned i = 0; i < COUNT; i++)
        dump_object(&dump, AT(i), 64, WORDS(0, words[i]));
    dump_tag(&dump, G2H_RECORD_OBJECT); /* a handle */
    dump_uvarint(&dump, AT(COUNT));
    dump_memory(&dump, 8, WORDS(AT(WEAK)));
    dump_fields(&dump, NULL, 0);
    for (unsigned i = 0; i < COUNT - 1; i++)
        if (i != LINK)
            dump_finalizer(&dump, G2H_RECORD_FINALIZER, AT(i), 0);
    expect(&dump, COUNT, expected);
}

/* Nothing is proved if something is missing that may lead to the object. */
TEST(a_cut_dump_proves_nothing)
{
    uint64_t *bits;
    DUMP dump;
    dump_start_modern(&dump, "go1.22.1");
    dump_object(&dump, AT(0), 64, WORDS(AT(0)));
    dump_finalizer(&dump, G2H_RECORD_FINALIZER, AT(0), 0);
    dump_view(&dump, 1, NULL); /* without the end */
    assert_null(g2h_view_never_run(dump.view, &bits));
    assert_null(bits);
}

UNIT_MAIN(NULL, NULL)
