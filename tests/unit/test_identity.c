/*
 * Covers identity: which objects of two hand-made dumps are the same, by each of the rules of
 * match.c, and which are not although they look so; the ids of a series; dumps that are no series.
 */
#include "dump_builder.h"

#include "heap/heap.h"

#define BASE  0xc000000000
#define STACK 0xc030000000
#define BSS   0x500000

enum { OBJECTS = 64, SLOT = 48 };

/* The address of object number i; tiny objects are in a place of their own. */
#define AT(i)   (BASE + (uint64_t)(i)*SLOT)
#define TINY(i) (BASE + 0x100000 + (uint64_t)(i)*16)

static struct dump dumps[16];
static struct g2h_identity *identity;
static size_t dump_count;

FIXTURE(start)
{
    assert_no_error(g2h_identity_create(2, &identity));
    dump_count = 0;
}

FIXTURE(end)
{
    g2h_identity_destroy(identity);
    for (size_t i = 0; i < 3; i++) {
        dump_deinit(&dumps[i]);
        dumps[i] = (struct dump){.data = NULL};
    }
}

/* Begins the next dump. */
static struct dump *next(void)
{
    struct dump *dump = &dumps[dump_count++];
    dump_start_modern(dump, "go1.21.0");
    return dump;
}

/* Makes the dump's graph and adds it to the series. */
static struct g2h_error *add(struct dump *dump)
{
    return g2h_identity_add(identity, dump_graph(dump, 2));
}

static uint32_t object_at(const struct dump *dump, uint64_t address)
{
    uint32_t object;
    assert_true(g2h_heap_find(dump->heap, address, &object));
    return object;
}

/* Returns the id of an object of the dump that was added last. */
static uint32_t id_of(uint64_t address)
{
    return g2h_identity_object(identity, object_at(&dumps[dump_count - 1], address));
}

/* Writes an object without pointers whose first word is given. */
static void plain_object(struct dump *dump, uint64_t address, uint64_t size, uint64_t first)
{
    const uint64_t words[OBJECTS] = {first};
    const struct g2h_record record = {
        .kind = G2H_RECORD_OBJECT,
        .object = {.address = address, .size = size, .contents = {(const uint8_t *)words, size}}};
    dump_record(dump, &record, NULL, 0);
}

/* ---- series ---- */

TEST(ids_are_a_sequence)
{
    uint32_t first, other, again;
    for (unsigned i = 0; i < 2; i++) {
        struct dump *dump = next();
        dump_object(dump, AT(0), SLOT, WORDS(AT(1)));
        dump_object(dump, AT(1), SLOT, WORDS(AT(0)));
        if (i == 1)
            dump_object(dump, AT(2), SLOT, WORDS(AT(0)));
        assert_no_error(add(dump));
        assert_int_equal(id_of(AT(0)), 1);
        assert_int_equal(id_of(AT(1)), 3);
        if (i == 0) {
            assert_true(g2h_identity_node(identity, G2H_NODE_FRAME, 7, &first));
            assert_true(g2h_identity_node(identity, G2H_NODE_FRAME, 7, &other));
            assert_int_equal(first, 5);
            assert_int_equal(other, 7);
            continue;
        }
        assert_int_equal(id_of(AT(2)), 9);
        assert_true(g2h_identity_node(identity, G2H_NODE_FRAME, 7, &again));
        assert_int_equal(again, first);
        assert_true(g2h_identity_node(identity, G2H_NODE_GOROUTINE, 7, &again));
        assert_int_equal(again, 11);
        assert_true(g2h_identity_node(identity, G2H_NODE_FRAME, 7, &again));
        assert_int_equal(again, other);
        assert_true(g2h_identity_node(identity, G2H_NODE_FRAME, 7, &again));
        assert_int_equal(again, 13);
    }
    const struct g2h_identity_account *account = g2h_identity_account(identity);
    assert_int_equal(account->objects, 3);
    assert_int_equal(account->survivors, 2);
    assert_int_equal(account->candidates, 2);
    assert_int_equal(account->reused_slots, 0);
    assert_int_equal(account->undecided, 0);
}

/* An object that is missing from a dump is forgotten, and has a new id when it is back. */
TEST(a_gap_makes_it_new)
{
    for (unsigned i = 0; i < 3; i++) {
        struct dump *dump = next();
        dump_object(dump, AT(0), SLOT, WORDS(AT(0)));
        if (i != 1)
            dump_object(dump, AT(1), SLOT, WORDS(AT(0)));
        assert_no_error(add(dump));
    }
    assert_int_equal(id_of(AT(0)), 1);
    assert_int_equal(id_of(AT(1)), 5);
}

/* ---- the rules ---- */

/* A case of a rule: make() writes the objects of a dump before and after. */
struct rule {
    const char *what;
    bool is_same; /* whether object 0 is the same in both dumps */
    void (*make)(struct dump *dump, bool after);
};

/* Writes object 0, whose contents differ between the dumps, and the objects that it points to. */
static void changed(struct dump *dump, bool after, uint64_t to)
{
    dump_object(dump, AT(0), SLOT, WORDS(after ? AT(40) : AT(41), to));
    dump_object(dump, AT(40), SLOT, WORDS(AT(41)));
    dump_object(dump, AT(41), SLOT, WORDS(AT(40)));
}

static void equal_with_pointer(struct dump *dump, bool after)
{
    (void)after;
    dump_object(dump, AT(0), SLOT, WORDS(AT(1)));
    plain_object(dump, AT(1), SLOT, 5);
}

static void changed_alone(struct dump *dump, bool after)
{
    changed(dump, after, 0);
}

static void global_still(struct dump *dump, bool after)
{
    changed(dump, after, 0);
    dump_bss(dump, BSS, WORDS(0, AT(0)));
}

/* A process with plugins has a segment of each kind per module. */
static void global_of_a_plugin(struct dump *dump, bool after)
{
    enum { PLUGINS = 100 };
    changed(dump, after, 0);
    for (uint64_t i = 0; i < PLUGINS; i++)
        dump_bss(dump, BSS + i * 64, WORDS(0, i + 1 == PLUGINS ? AT(0) : 0));
}

static void another_global(struct dump *dump, bool after)
{
    changed(dump, after, 0);
    dump_bss(dump, BSS, 2, (const uint64_t[]){after ? 0 : AT(0), after ? AT(0) : 0});
}

static void frame_of(struct dump *dump, bool after, uint64_t goid, uint64_t sp)
{
    changed(dump, after, 0);
    dump_goroutine(dump, goid, 0, sp);
    dump_frame(dump, "main.work", sp, 0, WORDS(0, AT(0)), 2);
}

static void frame_still(struct dump *dump, bool after)
{
    frame_of(dump, after, 1, STACK);
}

static void another_frame(struct dump *dump, bool after)
{
    frame_of(dump, after, 1, STACK + (after ? 0 : 64));
}

static void another_goroutine(struct dump *dump, bool after)
{
    frame_of(dump, after, after ? 1 : 2, STACK);
}

static void held_by_what_is_held(struct dump *dump, bool after)
{
    changed(dump, after, 0);
    dump_object(dump, AT(1), SLOT, WORDS(AT(2), after ? AT(40) : AT(41)));
    dump_object(dump, AT(2), SLOT, WORDS(AT(0), after ? AT(40) : AT(41)));
    dump_bss(dump, BSS, WORDS(AT(1)));
}

static void held_by_what_is_new(struct dump *dump, bool after)
{
    changed(dump, after, 0);
    dump_object(dump, AT(1), SLOT, WORDS(AT(0), after ? AT(40) : AT(41)));
}

static void holds_alone(struct dump *dump, bool after)
{
    changed(dump, after, AT(1));
    dump_object(dump, AT(1), SLOT, WORDS(AT(40)));
}

static void holds_with_another(struct dump *dump, bool after)
{
    holds_alone(dump, after);
    dump_object(dump, AT(2), SLOT, WORDS(AT(1)));
}

static void held_it_with_another(struct dump *dump, bool after)
{
    holds_alone(dump, after);
    if (!after)
        dump_object(dump, AT(2), SLOT, WORDS(AT(1)));
}

static void holds_it_with_a_frame(struct dump *dump, bool after)
{
    holds_alone(dump, after);
    dump_goroutine(dump, 1, 0, STACK);
    dump_frame(dump, "main.work", STACK + (after ? 0 : 64), 0, WORDS(AT(1)), 1);
}

static void plain_of_nobody(struct dump *dump, bool after)
{
    (void)after;
    plain_object(dump, AT(0), SLOT, 1);
}

static void plain_of_something_new(struct dump *dump, bool after)
{
    plain_object(dump, AT(0), SLOT, 1);
    if (after)
        dump_object(dump, AT(1), SLOT, WORDS(AT(0)));
}

static void plain_of_a_survivor(struct dump *dump, bool after)
{
    plain_object(dump, AT(0), SLOT, 1);
    dump_object(dump, AT(1), SLOT, 2, (const uint64_t[]){after ? AT(0) : 0, AT(2)});
    dump_object(dump, AT(2), SLOT, WORDS(AT(2)));
    dump_bss(dump, BSS, WORDS(AT(1)));
}

static void plain_of_both(struct dump *dump, bool after)
{
    plain_of_a_survivor(dump, after);
    if (after)
        dump_object(dump, AT(3), SLOT, WORDS(AT(0)));
}

static void changed_plain(struct dump *dump, bool after)
{
    plain_object(dump, AT(0), SLOT, after);
}

static void another_size(struct dump *dump, bool after)
{
    dump_object(dump, AT(0), after ? SLOT : SLOT - 16, WORDS(AT(1)));
    plain_object(dump, AT(1), SLOT, 5);
}

static void a_goroutines_g(struct dump *dump, bool after)
{
    changed(dump, after, 0);
    dump_goroutine(dump, after ? 1 : 2, AT(0), STACK);
    dump_frame(dump, "main.work", STACK, 0, WORDS(0), 1);
}

static void small_value(struct dump *dump, bool after)
{
    changed(dump, after, TINY(0) + 8);
    plain_object(dump, TINY(0), 16, 5);
    dump_object(dump, AT(3), SLOT, WORDS(TINY(0)));
}

static void shared_small_value(struct dump *dump, bool after)
{
    changed(dump, after, TINY(0) + 8);
    plain_object(dump, TINY(0), 16, 5);
    dump_object(dump, AT(3), SLOT, WORDS(TINY(0) + 8));
    dump_object(dump, AT(4), SLOT, WORDS(TINY(0)));
}

static void another_small_value(struct dump *dump, bool after)
{
    changed(dump, after, TINY(0) + (after ? 8 : 4));
    plain_object(dump, TINY(0), 16, 5);
    dump_object(dump, AT(3), SLOT, WORDS(TINY(0)));
}

TEST(the_same_are_known)
{
    static const struct rule rules[] = {
        {"equal contents with a pointer", true, equal_with_pointer},
        {"changed, held by nothing", false, changed_alone},
        {"changed, of the same word of a global", true, global_still},
        {"changed, of the same word of a global of a plugin", true, global_of_a_plugin},
        {"changed, of another word of a global", false, another_global},
        {"changed, of the same word of a frame", true, frame_still},
        {"changed, of another frame", false, another_frame},
        {"changed, of another goroutine's frame", false, another_goroutine},
        {"changed, at the end of a chain from a global", true, held_by_what_is_held},
        {"changed, held by something new", false, held_by_what_is_new},
        {"changed, the only one to hold a survivor", true, holds_alone},
        {"changed, holds a survivor with another", false, holds_with_another},
        {"changed, held a survivor with another", false, held_it_with_another},
        {"changed, holds a survivor that a frame knows", true, holds_it_with_a_frame},
        {"equal and plain, of nobody", true, plain_of_nobody},
        {"equal and plain, of something new", false, plain_of_something_new},
        {"equal and plain, of a survivor", true, plain_of_a_survivor},
        {"equal and plain, of a survivor and something new", true, plain_of_both},
        {"changed and plain", false, changed_plain},
        {"of another size", false, another_size},
        {"the g of another goroutine", true, a_goroutines_g},
        {"changed, the only one to hold a small value", true, small_value},
        {"changed, holds a small value with another", false, shared_small_value},
        {"changed, holds another value of a block", false, another_small_value},
    };
    for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
        uint32_t ids[2];
        end(NULL);
        start(NULL);
        for (unsigned after = 0; after < 2; after++) {
            struct dump *dump = next();
            rules[i].make(dump, after != 0);
            assert_no_error(add(dump));
            ids[after] = id_of(AT(0));
        }
        if ((ids[0] == ids[1]) != rules[i].is_same)
            fail_msg("%s: is %s", rules[i].what, ids[0] == ids[1] ? "the same" : "new");
        const struct g2h_identity_account *account = g2h_identity_account(identity);
        assert_int_equal(account->candidates, account->survivors + account->reused_slots);
        assert_int_equal(account->survivors + account->gone, g2h_heap_object_count(dumps[0].heap));
    }
}

/* If one of two dumps lacks a part of an object, the part that both have is compared. */
TEST(a_part_is_enough)
{
    for (uint64_t i = 0; i < 4; i++) {
        const unsigned shortened = i % 2;
        const bool is_changed = i / 2 == 1;
        uint32_t ids[2];
        end(NULL);
        start(NULL);
        for (unsigned after = 0; after < 2; after++) {
            struct dump *dump = next();
            plain_object(dump, AT(0), SLOT, is_changed && after);
            dump_object(dump, AT(1), SLOT, 2, (const uint64_t[]){after ? AT(0) : 0, AT(2)});
            dump_object(dump, AT(2), SLOT, WORDS(AT(2)));
            dump_bss(dump, BSS, WORDS(AT(1)));
            struct g2h_graph *graph = dump_graph(dump, 2);
            const uint32_t class = heap_slot_class_number(dump->heap, object_at(dump, AT(0)));
            if (after == shortened)
                dump->heap->slot_classes.list.data[class].stored = 8;
            assert_no_error(g2h_identity_add(identity, graph));
            ids[after] = id_of(AT(0));
        }
        assert_int_equal(ids[0] == ids[1], !is_changed);
    }
}

/* ---- many objects ---- */

/* Writes a heap in which half of all objects have changed; the ids must be the same for any number
 * of threads. */
static void make_random(struct dump *dump, uint64_t seed, bool after)
{
    enum { MANY = 40000 };
    uint64_t random = seed, change = seed + 1;
    for (uint64_t i = 0; i < MANY; i++) {
        uint64_t words[4];
        const size_t count = 1 + unit_random(&random) % 4;
        for (size_t j = 0; j < count; j++) {
            words[j] = AT(unit_random(&random) % MANY);
            if (unit_random(&change) % 4 == 0 && after)
                words[j] = AT(unit_random(&change) % MANY);
        }
        if (unit_random(&random) % 5 == 0)
            plain_object(dump, AT(i), SLOT, unit_random(&change) % 4 == 0 ? after : 0);
        else
            dump_object(dump, AT(i), SLOT, count, words);
    }
    dump_bss(dump, BSS, WORDS(AT(1), AT(2), AT(3)));
}

TEST(threads_make_no_difference)
{
    uint64_t survivors = 0;
    uint32_t *ids = NULL;
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        struct g2h_error *error;
        g2h_identity_destroy(identity);
        assert_no_error(g2h_identity_create(threads, &identity));
        for (unsigned after = 0; after < 2; after++) {
            struct dump *dump = next();
            make_random(dump, 77, after != 0);
            error = add(dump);
            assert_no_error(error);
        }
        const struct g2h_identity_account *account = g2h_identity_account(identity);
        assert_true(account->survivors > 0 && account->reused_slots > 0);
        if (!ids) {
            survivors = account->survivors;
            ids = malloc(account->objects * sizeof(*ids));
            assert_non_null(ids);
            for (uint32_t i = 0; i < account->objects; i++)
                ids[i] = g2h_identity_object(identity, i);
        }
        assert_int_equal(account->survivors, survivors);
        for (uint32_t i = 0; i < account->objects; i++)
            assert_int_equal(g2h_identity_object(identity, i), ids[i]);
        g2h_identity_destroy(identity);
        identity = NULL;
        end(NULL);
        dump_count = 0;
    }
    free(ids);
}

/* ---- dumps that are no series ---- */

enum { TOTAL_ALLOC = 1, MALLOCS = 4, FREES = 5, PAUSES = 24, NUM_GC = 280 };

static struct g2h_error *add_with(uint64_t collections, uint64_t mallocs, int pause, uint64_t value)
{
    uint64_t numbers[G2H_MEMSTATS_NUMBERS] = {0};
    struct dump *dump = next();
    dump_object(dump, AT(0), SLOT, WORDS(AT(0)));
    for (size_t i = 0; i < 256; i++)
        numbers[PAUSES + i] = i < collections ? 1000 + i : 0;
    numbers[NUM_GC] = collections;
    numbers[MALLOCS] = mallocs;
    if (pause >= 0)
        numbers[PAUSES + pause] = value;
    dump_tag(dump, G2H_RECORD_MEMSTATS);
    dump_uvarints(dump, G2H_MEMSTATS_NUMBERS, numbers);
    return add(dump);
}

static void assert_refused(struct g2h_error *error, const char *part)
{
    assert_error(error, G2H_ERROR_NOT_SERIES, part);
}

TEST(pauses_are_those_of_one_process)
{
    assert_no_error(add_with(3, 10, -1, 0));
    assert_no_error(add_with(5, 20, -1, 0));
    assert_refused(add_with(7, 30, 4, 1), "its collection number 5 paused it for 1 ns, there 1004");
}

TEST(old_pauses_are_gone)
{
    assert_no_error(add_with(3, 10, -1, 0));
    assert_no_error(add_with(258, 20, 1, 7)); /* collection 258 has replaced number 2 */
    assert_refused(add_with(259, 20, 100, 7), "its collection number 101 ");
}

TEST(dumps_have_their_order)
{
    assert_no_error(add_with(3, 20, -1, 0));
    assert_refused(add_with(3, 10, -1, 0), "is older than ");
    g2h_identity_destroy(identity);
    identity = NULL;
    end(NULL);
    start(NULL);
    assert_no_error(add_with(3, 20, -1, 0));
    assert_refused(add_with(2, 20, -1, 0), "2 collections so far, there 3");
}

/* Adds a dump of a process that is read from outside: it has no other numbers than these. */
static struct g2h_error *add_outside(uint64_t collections, uint64_t first_thread,
                                     uint64_t bss_address, const uint64_t bss[4])
{
    uint64_t numbers[G2H_MEMSTATS_NUMBERS] = {0};
    struct dump *dump = next();
    dump_object(dump, AT(0), SLOT, WORDS(AT(0)));
    dump_tag(dump, G2H_RECORD_OSTHREAD);
    dump_uvarints(dump, 3, (const uint64_t[]){0x600000, 1, first_thread + 7});
    dump_tag(dump, G2H_RECORD_OSTHREAD);
    dump_uvarints(dump, 3, (const uint64_t[]){0x500000, 0, first_thread});
    dump_bss(dump, bss_address, 4, bss);
    numbers[NUM_GC] = collections;
    dump_tag(dump, G2H_RECORD_MEMSTATS);
    dump_uvarints(dump, G2H_MEMSTATS_NUMBERS, numbers);
    return add(dump);
}

TEST(from_outside_too)
{
    static const uint64_t bss[] = {0x7ffc00001000, 0x7f1200000000, 0x7f1234560000, AT(0)},
                          moved[] = {0x7ffc00001000, 0x7f1300000000, 0x7f1334560000, AT(0)},
                          other[] = {0x7ffd00001000, 0x7f9900000000, 0x7f9934560000, AT(0)};
    assert_no_error(add_outside(3, 1234, 0x560000, bss));
    assert_no_error(add_outside(3, 1234, 0x560000, moved));
    assert_refused(add_outside(4, 1235, 0x560000, moved), "its first thread is 1235, there 1234");
    assert_refused(add_outside(4, 1234, 0x560000, other), "nothing that its variables point to");
    assert_refused(add_outside(4, 1234, 0x570000, moved), "its variables are at other addresses");
    assert_refused(add_outside(2, 1234, 0x560000, moved), "2 collections so far, there 3");
}

/* If one dump has all numbers and the other is from outside, the numbers that both have are
 * compared. */
TEST(inside_and_outside)
{
    assert_no_error(add_with(5, 20, -1, 0));
    assert_no_error(add_with(7, 0, 3, 0));
    assert_refused(add_with(6, 0, 3, 0), "6 collections so far, there 7");
}

TEST(programs_are_the_same)
{
    struct dump *dump = next();
    dump_object(dump, AT(0), SLOT, WORDS(AT(0)));
    assert_no_error(add(dump));
    dump = &dumps[dump_count++];
    dump_start_modern(dump, "go1.22.0");
    dump_object(dump, AT(0), SLOT, WORDS(AT(0)));
    assert_refused(add(dump), "that is of another release of Go");
    dump = &dumps[dump_count++];
    dump_start(dump, DUMP_1_7, 4, false);
    assert_refused(add(dump), "that has another architecture");
}

UNIT_MAIN(start, end)
