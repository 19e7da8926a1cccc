/* Covers graph/leaked: which goroutines can never run again, by what reaches the sudogs of the
 * blocked ones. tests/goroutines has the truth of real programs. */
#include "dump_builder.h"

#include <string.h>

#include "graph/leak_proof.h"
#include "heap/heap.h"

#define BASE     0xc000000000
#define G(i)     (BASE + (uint64_t)(i)*0x200)
#define SUDOG(i) (BASE + 0x10000 + (uint64_t)(i)*0x80)
#define CHAN(i)  (BASE + 0x20000 + (uint64_t)(i)*0x80)
#define PLAIN(i) (BASE + 0x30000 + (uint64_t)(i)*0x80)
#define STACK(i) (BASE + 0x40000 + (uint64_t)(i)*0x1000)
#define SLOT(i)  (BASE + 0x38000 + (uint64_t)(i)*0x10)
#define BSS      0x560000

enum { WAITING = 4, RUNNABLE = 1 };

/* Writes a goroutine, its runtime.g and a frame of one pointer. */
static void put_goroutine(struct dump *dump, unsigned i, uint64_t status, const char *reason,
                          uint64_t held)
{
    const struct g2h_record record = {
        .kind = G2H_RECORD_GOROUTINE,
        .goroutine = {.address = G(i),
                      .sp = STACK(i),
                      .goid = i,
                      .status = status,
                      .wait_reason = {(const uint8_t *)reason, strlen(reason)}}};
    dump_object(dump, G(i), 448, NO_WORDS);
    dump_record(dump, &record, NULL, 0);
    dump_frame(dump, "main.wait", STACK(i), 0, WORDS(held), 1);
}

/* Writes the sudog of a goroutine: it waits for a channel, or for a semaphore at elem. */
static void put_sudog(struct dump *dump, unsigned i, uint64_t prev, uint64_t elem, uint64_t channel)
{
    dump_object(dump, SUDOG(i), 96, WORDS(G(i), 0, prev, elem, 0, 0, 0, 0, 0, 0, channel));
}

/* Writes a channel: first is what recvq begins with. */
static void put_channel(struct dump *dump, unsigned i, uint64_t first)
{
    dump_object(dump, CHAN(i), 96, WORDS(0, 0, 0, 0, 0, 0, 0, first));
}

/* Writes an object of 16 bytes without pointers. */
static void put_slot(struct dump *dump, unsigned i, uint64_t first, uint64_t second)
{
    dump_tag(dump, G2H_RECORD_OBJECT);
    dump_uvarint(dump, SLOT(i));
    dump_memory(dump, 16, WORDS(first, second));
    dump_fields(dump, NULL, 0);
}

static void put_root(struct dump *dump, const char *description, uint64_t pointer)
{
    const struct g2h_record record = {
        .kind = G2H_RECORD_OTHERROOT,
        .otherroot = {{(const uint8_t *)description, strlen(description)}, pointer}};
    dump_record(dump, &record, NULL, 0);
}

/* Returns the node of a goroutine. */
static uint32_t node_of(const struct dump *dump, uint64_t goid)
{
    struct g2h_node node;
    for (uint32_t i = 0; i < g2h_view_node_count(dump->view); i++) {
        g2h_view_node(dump->view, i, &node);
        if (node.kind == G2H_NODE_GOROUTINE && node.key == goid)
            return i;
    }
    fail_msg("there is no goroutine %llu", (unsigned long long)goid);
    return 0;
}

static bool is_leaked(const struct dump *dump, uint64_t goid)
{
    return g2h_view_is_leaked(dump->view, node_of(dump, goid));
}

/* Ends a dump, and expects that so many of its goroutines are blocked, and leaked. */
static void expect(struct dump *dump, uint64_t blocked, uint64_t leaked)
{
    dump_eof(dump);
    dump_view(dump, 1, NULL);
    const struct g2h_leaks leaks = g2h_view_leaks(dump->view);
    assert_int_equal(leaks.proof, G2H_LEAKS_PROVED);
    assert_int_equal(leaks.blocked, blocked);
    assert_int_equal(leaks.leaked, leaked);
}

/* The goroutine 2 waits for a channel that only it holds; 3 for one that a variable holds; 4 for
 * one that 3 holds, and 5 for one that 2 holds. */
TEST(a_goroutine_runs_if_something_alive_reaches_its_channel)
{
    DUMP dump;
    dump_start_modern(&dump, "go1.22.1");
    for (unsigned i = 2; i <= 5; i++) {
        put_sudog(&dump, i, 0, 0, CHAN(i));
        put_channel(&dump, i, SUDOG(i));
    }
    put_goroutine(&dump, 2, WAITING, "chan receive", CHAN(5));
    put_goroutine(&dump, 3, WAITING, "chan receive", CHAN(4));
    put_goroutine(&dump, 4, WAITING, "select", CHAN(4));
    put_goroutine(&dump, 5, WAITING, "chan send", CHAN(5));
    dump_bss(&dump, BSS, WORDS(CHAN(3), G(2), G(5)));
    expect(&dump, 4, 2);
    assert_true(is_leaked(&dump, 2) && is_leaked(&dump, 5));
    assert_false(is_leaked(&dump, 3) || is_leaked(&dump, 4));
}

/* 4 and 5 run, and each has the channel that another goroutine waits for in a word of its second
 * frame that is not known to be a pointer: it is one only in a frame that preemption interrupted.
 */
TEST(a_preempted_frame_may_hold_anything)
{
    DUMP dump;
    dump_start_modern(&dump, "go1.22.1");
    for (unsigned i = 2; i <= 3; i++) {
        put_sudog(&dump, i, 0, 0, CHAN(i));
        put_channel(&dump, i, SUDOG(i));
        put_goroutine(&dump, i, WAITING, "chan receive", CHAN(i));
    }
    for (unsigned i = 4; i <= 5; i++) {
        const struct g2h_record record = {
            .kind = G2H_RECORD_GOROUTINE,
            .goroutine = {.address = G(i), .sp = STACK(i), .goid = i, .status = RUNNABLE}};
        dump_object(&dump, G(i), 448, NO_WORDS);
        dump_record(&dump, &record, NULL, 0);
        dump_frame(&dump, i == 4 ? "runtime.asyncPreempt" : "main.inner", STACK(i), 0, WORDS(0), 0);
        dump_frame(&dump, "main.work", STACK(i) + 64, 1, WORDS(0, CHAN(i - 2)), 0);
    }
    dump_bss(&dump, BSS, WORDS(G(2), G(3), G(4), G(5)));
    expect(&dump, 2, 1);
    assert_false(is_leaked(&dump, 2));
    assert_true(is_leaked(&dump, 3));
}

/* The treap of semaphores leads to all sudogs, and these to the locks. */
TEST(what_the_runtime_keeps_wakes_nobody)
{
    DUMP dump;
    dump_start_modern(&dump, "go1.22.1");
    put_sudog(&dump, 2, 0, PLAIN(2) + 4, 0);
    put_sudog(&dump, 3, 0, PLAIN(3) + 4, 0);
    dump_object(&dump, PLAIN(2), 64, NO_WORDS);
    dump_object(&dump, PLAIN(3), 64, NO_WORDS);
    put_goroutine(&dump, 2, WAITING, "sync.Mutex.Lock", PLAIN(2));
    put_goroutine(&dump, 3, WAITING, "semacquire", PLAIN(3));
    put_goroutine(&dump, 4, RUNNABLE, "", PLAIN(3));
    dump_bss(&dump, BSS, WORDS(SUDOG(2), SUDOG(3), G(2)));
    expect(&dump, 2, 1);
    assert_true(is_leaked(&dump, 2));
}

/* 2 has been taken from the queue of its channel; 3 is in there behind another one; 4 has no sudog
 * any more. */
TEST(a_goroutine_that_is_being_woken_runs)
{
    DUMP dump;
    dump_start_modern(&dump, "go1.22.1");
    put_sudog(&dump, 2, 0, 0, CHAN(2));
    put_sudog(&dump, 3, SUDOG(9), 0, CHAN(3));
    put_channel(&dump, 2, 0);
    put_channel(&dump, 3, 0);
    put_goroutine(&dump, 2, WAITING, "chan receive", CHAN(2));
    put_goroutine(&dump, 3, WAITING, "chan receive", CHAN(3));
    put_goroutine(&dump, 4, WAITING, "sync.WaitGroup.Wait", 0);
    put_goroutine(&dump, 5, WAITING, "select (no cases)", 0);
    put_goroutine(&dump, 6, WAITING, "sleep", 0);
    put_goroutine(&dump, 1, WAITING, "chan receive (nil chan)", 0);
    expect(&dump, 5, 2);
    assert_true(is_leaked(&dump, 3) && is_leaked(&dump, 5));
}

/* A sudog of an earlier wait, to which the runtime's pool leads, still has its goroutine, and
 * nothing else. */
TEST(what_waits_for_nothing_has_no_sudog)
{
    DUMP dump;
    dump_start_modern(&dump, "go1.22.1");
    for (unsigned i = 2; i <= 4; i++)
        put_sudog(&dump, i, 0, 0, 0);
    put_goroutine(&dump, 2, WAITING, "chan send (nil chan)", 0);
    put_goroutine(&dump, 3, WAITING, "chan receive (nil chan)", 0);
    put_goroutine(&dump, 4, WAITING, "select (no cases)", 0);
    dump_bss(&dump, BSS, WORDS(SUDOG(2), SUDOG(3), SUDOG(4)));
    expect(&dump, 3, 3);
}

/* Returns the address of what a goroutine waits on, by its edges; 0: of nothing. */
static uint64_t waited_by(const struct dump *dump, uint64_t goid)
{
    static const char label[] = "waiting on";
    const uint32_t goroutine = node_of(dump, goid);
    struct g2h_node target;
    struct g2h_edges *edges;
    struct g2h_edge edge;
    uint64_t address = 0;
    size_t size;
    assert_null(g2h_edges_create(dump->view, &edges));
    g2h_edges_begin(edges, goroutine, goroutine + 1);
    while (g2h_edges_next(edges, &edge)) {
        const char *name = g2h_view_name(dump->view, edge.name, &size);
        g2h_view_node(dump->view, edge.target, &target);
        if (size == strlen(label) && memcmp(name, label, size) == 0)
            address = target.address;
    }
    g2h_edges_destroy(edges);
    return address;
}

/* Only the list of the sync.Cond, which begins at the 40th byte of PLAIN(2), leads to the sudogs of
 * 2, 3 and 4. PLAIN(1) has old pointers to two of them, but no list; nor has PLAIN(3), which has
 * pooled ones of earlier waits, as a runtime.p. */
TEST(a_condition_wakes_by_its_list)
{
    for (int is_held = 0; is_held < 2; is_held++) {
        DUMP dump;
        dump_start_modern(&dump, "go1.22.1");
        dump_object(&dump, SUDOG(2), 96, WORDS(G(2), SUDOG(3)));
        dump_object(&dump, SUDOG(3), 96, WORDS(G(3), SUDOG(4)));
        dump_object(&dump, SUDOG(4), 96, WORDS(G(4)));
        dump_object(&dump, PLAIN(2), 64, WORDS(0, 0, 0, 3, 0, SUDOG(2), SUDOG(4)));
        dump_object(&dump, PLAIN(1), 64, WORDS(0, 0, 0, 0, 0, SUDOG(2), SUDOG(4)));
        dump_object(&dump, SUDOG(5), 96, WORDS(G(2)));
        dump_object(&dump, SUDOG(6), 96, WORDS(G(3)));
        dump_object(&dump, SUDOG(7), 96, WORDS(G(4)));
        dump_object(&dump, PLAIN(3), 64, WORDS(0, 0, SUDOG(5), SUDOG(6), SUDOG(7)));
        for (unsigned i = 2; i <= 4; i++)
            put_goroutine(&dump, i, WAITING, "sync.Cond.Wait", PLAIN(2));
        dump_bss(&dump, BSS, WORDS(is_held ? PLAIN(2) : 0, G(2), G(3)));
        expect(&dump, 3, is_held ? 0 : 3);
        for (unsigned i = 2; i <= 4; i++)
            assert_int_equal(waited_by(&dump, i), PLAIN(2));
    }
}

/* A variable of a package has the list, so what the goroutines wait on is an address or a name. */
TEST(a_condition_may_be_a_variable)
{
    DUMP dump;
    size_t size;
    dump_start_modern(&dump, "go1.22.1");
    dump_object(&dump, SUDOG(2), 96, WORDS(G(2), SUDOG(3)));
    dump_object(&dump, SUDOG(3), 96, WORDS(G(3)));
    put_goroutine(&dump, 2, WAITING, "sync.Cond.Wait", 0);
    put_goroutine(&dump, 3, WAITING, "sync.Cond.Wait", 0);
    dump_bss(&dump, BSS, WORDS(G(2), G(3), 0, 2, 0, SUDOG(2), SUDOG(3)));
    expect(&dump, 2, 0);
    for (uint64_t goid = 2; goid <= 3; goid++) {
        const char *name = g2h_view_waits_on(dump.view, node_of(&dump, goid), &size);
        assert_non_null(name);
        assert_memory_equal(name, "0x560028", size);
    }
}

/* The word of the finalizer's object is not enough, what the object points to is. */
TEST(a_finalizer_keeps_what_its_object_points_to)
{
    DUMP dump;
    dump_start_modern(&dump, "go1.22.1");
    put_sudog(&dump, 2, 0, 0, CHAN(2));
    put_channel(&dump, 2, SUDOG(2));
    put_sudog(&dump, 3, 0, PLAIN(3), 0);
    dump_object(&dump, PLAIN(3), 64, WORDS(0, CHAN(2)));
    put_goroutine(&dump, 2, WAITING, "chan receive", CHAN(2));
    put_goroutine(&dump, 3, WAITING, "semacquire", PLAIN(3));
    dump_finalizer(&dump, G2H_RECORD_FINALIZER, PLAIN(3), 0);
    expect(&dump, 2, 1);
    assert_true(is_leaked(&dump, 3));
}

/* What a weak pointer points to is an object without pointers, which has the address. A process
 * names these objects by records; in a dump of WriteHeapDump each small one may be of this kind. */
TEST(a_weak_handle_leads_to_its_object)
{
    static const struct {
        bool is_process, is_named, is_held, is_older, is_live;
    } cases[] = {
        {false, false, true, false, true}, {false, false, false, false, false},
        {false, false, true, true, false}, {true, true, true, false, true},
        {true, true, false, false, false}, {true, false, true, false, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        DUMP dump;
        dump_start_modern(&dump, cases[i].is_older ? "go1.22.1" : "go1.23.1");
        put_sudog(&dump, 2, 0, 0, CHAN(2));
        put_channel(&dump, 2, SUDOG(2));
        put_slot(&dump, 1, 0, CHAN(2) + 8);
        put_goroutine(&dump, 2, WAITING, "chan receive", CHAN(2));
        if (cases[i].is_named)
            put_root(&dump, "weak handle", SLOT(1) + 8);
        dump_bss(&dump, BSS, WORDS(cases[i].is_held ? SLOT(1) + 8 : 0));
        dump_eof(&dump);
        if (cases[i].is_process)
            dump_bytes(&dump, "go2heapsnapshot facts 1\n\x01", 26);
        dump_view(&dump, 1, NULL);
        assert_int_equal(g2h_view_leaks(dump.view).proof, G2H_LEAKS_PROVED);
        assert_int_equal(is_leaked(&dump, 2), !cases[i].is_live);
    }
}

/* A lock of 8 bytes shares a slot with another value. What points behind the lock does not lead to
 * it; what points before it may, as no type says how large the value there is. */
TEST(a_pointer_to_a_neighbour_does_not_lead_to_a_lock)
{
    enum { BY_VARIABLE, BY_OBJECT, BY_GOROUTINE, BY_LEAKED, BY_WEAK, WAYS };
    static const struct {
        unsigned semaphore, pointer;
        bool is_live;
    } cases[] = {{4, 0, true},   {4, 4, true},  {4, 7, true},  {4, 8, false},
                 {4, 12, false}, {12, 0, true}, {12, 8, true}, {12, 15, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int way = 0; way < WAYS; way++) {
            const uint64_t pointer = SLOT(1) + cases[i].pointer;
            DUMP dump;
            dump_start_modern(&dump, "go1.23.1");
            put_sudog(&dump, 2, 0, SLOT(1) + cases[i].semaphore, 0);
            put_sudog(&dump, 3, 0, 0, CHAN(3));
            put_channel(&dump, 3, SUDOG(3));
            put_slot(&dump, 1, 0, 0);
            put_slot(&dump, 2, way == BY_WEAK ? pointer : 0, 0);
            dump_object(&dump, PLAIN(1), 64, WORDS(0, way == BY_OBJECT ? pointer : 0));
            put_goroutine(&dump, 2, WAITING, "sync.Mutex.Lock", SLOT(1));
            put_goroutine(&dump, 3, WAITING, "chan receive", way == BY_LEAKED ? pointer : CHAN(3));
            put_goroutine(&dump, 4, RUNNABLE, "", way == BY_GOROUTINE ? pointer : 0);
            dump_bss(&dump, BSS,
                     WORDS(PLAIN(1), SLOT(2), way == BY_VARIABLE ? pointer : 0, G(2), SUDOG(2)));
            dump_eof(&dump);
            dump_view(&dump, 1, NULL);
            assert_int_equal(is_leaked(&dump, 2), way == BY_LEAKED || (!cases[i].is_live));
            assert_true(is_leaked(&dump, 3));
        }
}

/* A goroutine that runs again by a lock in a slot makes another run; and a root whose words are not
 * known may lead anywhere in a slot. */
TEST(a_lock_in_a_slot_wakes_others)
{
    for (int is_held = 0; is_held < 2; is_held++) {
        DUMP dump;
        dump_start_modern(&dump, "go1.23.1");
        put_sudog(&dump, 2, 0, SLOT(1) + 4, 0);
        put_sudog(&dump, 3, 0, SLOT(2) + 4, 0);
        put_slot(&dump, 1, 0, 0);
        put_slot(&dump, 2, 0, 0);
        put_goroutine(&dump, 2, WAITING, "sync.Mutex.Lock", SLOT(2));
        put_goroutine(&dump, 3, WAITING, "sync.Mutex.Lock", SLOT(1));
        if (is_held)
            put_root(&dump, "rax of goroutine 7", SLOT(1) + 8);
        expect(&dump, 2, is_held ? 0 : 2);
    }
}

/* Each way in which something may be missing from a heap or unknown spoils the proof, and is told.
 * Only a heap of which nothing is missing has one. */
TEST(a_proof_needs_a_complete_heap)
{
    DUMP dump;
    const char *reason, *last = NULL;
    struct g2h_error error = {0};
    dump_start_modern(&dump, "go1.22.1");
    dump_object(&dump, PLAIN(1), 64, WORDS(PLAIN(1)));
    put_goroutine(&dump, 2, WAITING, "select (no cases)", 0);
    dump_eof(&dump);
    struct g2h_heap *heap = dump_load(&dump, 1);
    const struct g2h_heap whole = *heap;
    struct g2h_input input = *heap->input;
    input.damage = &error;
    assert_int_equal(leak_proof_of(heap, NULL, &reason), G2H_LEAKS_PROVED);
    assert_null(reason);
    for (unsigned i = 0; i <= 13; i++) {
        *heap = whole;
        switch (i) {
        case 0:
            heap->damage = &error;
            break;
        case 1:
            heap->input = &input;
            break;
        case 2:
            heap->account.misplaced = 1;
            break;
        case 3:
            heap->account.overlapping = 1;
            break;
        case 4:
            heap->facts.is_damaged = true;
            break;
        case 5:
            heap->facts.is_cut = true;
            break;
        case 6:
            heap->facts.is_partial = true;
            break;
        case 7:
            heap->facts.conservative_objects = 1;
            break;
        case 8:
            heap->facts.conservative_frames = 1;
            break;
        case 9:
            heap->facts.incomplete_stacks = 1;
            break;
        case 10:
            heap->facts.unread_threads = 1;
            break;
        case 11:
            heap->facts.unread_words = 1;
            break;
        case 12:
            heap->account.short_objects = 1;
            break;
        case 13:
            heap->go_minor = 0;
            break;
        }
        for (size_t j = 0; j < heap->slot_classes.list.count; j++)
            heap->slot_classes.list.data[j].stored -= i == 12 ? 8 : 0;
        assert_int_equal(leak_proof_of(heap, NULL, &reason),
                         i == 13 ? G2H_LEAKS_OF_RELEASE_UNKNOWN : G2H_LEAKS_INCOMPLETE);
        assert_non_null(reason);
        assert_true(i == 1 || i == 3 || i == 8 || !last || strcmp(reason, last) != 0);
        last = reason;
        for (size_t j = 0; j < heap->slot_classes.list.count; j++)
            heap->slot_classes.list.data[j].stored += i == 12 ? 8 : 0;
    }
    *heap = whole;
}

TEST(there_is_no_proof_for_older_releases_or_without_the_end)
{
    for (int is_old = 0; is_old < 2; is_old++) {
        DUMP dump;
        dump_start_modern(&dump, is_old ? "go1.18.1" : "go1.22.1");
        put_goroutine(&dump, 2, WAITING, "select (no cases)", 0);
        if (is_old)
            dump_eof(&dump);
        dump_view(&dump, 1, NULL);
        const struct g2h_leaks leaks = g2h_view_leaks(dump.view);
        assert_int_equal(leaks.proof, is_old ? G2H_LEAKS_OF_RELEASE_UNKNOWN : G2H_LEAKS_INCOMPLETE);
        assert_int_equal(leaks.blocked, 1);
        assert_int_equal(leaks.leaked, 0);
        assert_non_null(leaks.reason);
        assert_false(is_leaked(&dump, 2));
    }
}

UNIT_MAIN(NULL, NULL)
