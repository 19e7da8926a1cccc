/* Covers base/limits: each limit, lowered, is said with what to do, and a heap that just fits is
 * converted. Objects of a heap: test_load.c. */
#include "dump_builder.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/limits.h"
#include "inspect/cdp_session.h"
#include "process/attach/available.h"

#define BASE 0xc000000000
#define BSS  0x500000

enum { OBJECTS = 100 };

static struct limits before;
static struct dump dump;

/* A list that leads in both directions, and one object that holds all of it. */
FIXTURE(start)
{
    uint64_t all[OBJECTS];
    before = limits;
    dump_start_modern(&dump, "go1.21.0");
    for (uint64_t i = 0; i < OBJECTS; i++) {
        all[i] = BASE + i * 64;
        dump_object(
            &dump, BASE + i * 64, 64,
            WORDS(i + 1 < OBJECTS ? BASE + (i + 1) * 64 : 0, i > 0 ? BASE + (i - 1) * 64 : 0));
    }
    dump_object(&dump, BASE + 0x10000, 1024, OBJECTS, all);
    dump_bss(&dump, BSS, WORDS(BASE + 0x10000, BASE));
}

FIXTURE(end)
{
    limits = before;
    dump_deinit(&dump);
    dump = (struct dump){.data = NULL};
}

/* Expects the error that a limit makes, and frees it. */
static void assert_limit(struct g2h_error *error, const char *part, const char *advice)
{
    assert_non_null(error);
    assert_int_equal(error->code, G2H_ERROR_LIMIT);
    if (!strstr(error->message, part) || !strstr(error->message, advice))
        fail_msg("%s", error->message);
    g2h_error_destroy(error);
}

TEST(nodes_of_a_graph)
{
    struct g2h_graph *graph;
    const struct g2h_heap *heap = dump_load(&dump, 1);
    limits.nodes = OBJECTS;
    assert_limit(g2h_graph_build(heap, NULL, &graph), "more than the 100 that a graph can have",
                 "; --no-stacks makes fewer of them");
}

/* Writes a view in a format to nowhere. */
static struct g2h_error *write_format(const char *name)
{
    const struct g2h_output_options options = {
        .size = sizeof(options), .fd = memfd_create(name, 0), .name = name};
    struct g2h_error *error = g2h_write(g2h_format_find(name, NULL), dump.view, &options);
    close(options.fd);
    return error;
}

TEST(nodes_and_edges_of_a_snapshot)
{
    const struct g2h_view_account *account = g2h_view_account(dump_view(&dump, 1, NULL));
    limits.snapshot_nodes = account->nodes / 2;
    assert_limit(write_format("heapsnapshot"), " nodes and ", "; --max-nodes 10M folds");
    limits.snapshot_nodes = 2 * account->nodes;
    assert_no_error(write_format("heapsnapshot"));
    limits.snapshot_edges = account->edges / 2;
    assert_limit(write_format("heapsnapshot"), " edges: more than the ", "; --max-nodes 10M folds");
}

TEST(edges_of_dominators)
{
    struct g2h_dominators *dominators;
    const struct g2h_view *view = dump_view(&dump, 1, NULL);
    limits.dominator_edges = 10;
    assert_limit(g2h_view_dominators(view, &dominators), "more than the 10 among which",
                 "; --format hprof needs none");
    assert_no_error(write_format("hprof"));
}

TEST(ids_of_a_java_heap)
{
    dump_view(&dump, 1, NULL);
    limits.hprof_ids = OBJECTS;
    assert_limit(write_format("hprof"), "identifiers of 4 bytes", "--max-nodes");
}

TEST(ids_of_a_series)
{
    struct g2h_identity *identity;
    const struct g2h_graph *graph = dump_graph(&dump, 1);
    assert_no_error(g2h_identity_create(1, &identity));
    limits.last_id = 99;
    assert_limit(g2h_identity_add(identity, graph), "more than the 50 objects that can have ids",
                 ": begin another one");
    g2h_identity_destroy(identity);
    assert_no_error(g2h_identity_create(1, &identity));
    limits.last_id = 2 * OBJECTS + 1;
    assert_no_error(g2h_identity_add(identity, graph));
    g2h_identity_destroy(identity);
}

static void say_nothing(const char *line)
{
    (void)line;
}

/* Writes a dump to a file in memory, and its path to ret. */
static void write_dump(struct dump *from, char ret[32])
{
    const int file = memfd_create("dump", 0);
    dump_eof(from);
    assert_int_equal(write(file, from->data, from->size), from->size);
    snprintf(ret, 32, "/proc/self/fd/%d", file);
}

/* When the objects of an --inspect session can have no more ids, it begins another series. */
TEST(ids_of_a_session)
{
    char paths[2][32];
    const char *const inputs[] = {paths[0], paths[1]};
    struct dump other;
    dump_start_modern(&other, "go1.21.0");
    dump_object(&other, BASE + 0x20000, 64, WORDS(0));
    dump_bss(&other, BSS, WORDS(BASE + 0x20000));
    write_dump(&dump, paths[0]);
    write_dump(&other, paths[1]);
    dump_deinit(&other);
    const struct session_options options = {.taken = {.threads = 1},
                                            .inputs = inputs,
                                            .input_count = 2,
                                            .title = "app",
                                            .path = "",
                                            .say = say_nothing};
    struct session session = {.options = &options, .count = 1};
    const int nowhere = memfd_create("snapshot", 0);
    assert_no_error(session_take(&session, NULL, nowhere));
    limits.last_id = OBJECTS;
    session.count = 2;
    assert_no_error(session_take(&session, NULL, nowhere));
    text_append(&session.lines, "", 1);
    assert_non_null(strstr(session.lines.data, "more than the 51 objects that can have ids"));
    assert_int_equal(
        taken_id(&session.taken, (uint32_t)g2h_view_account(session.taken.made.view)->first_object),
        1);
    taken_deinit(&session.taken);
    g2h_identity_destroy(session.identity);
    text_deinit(&session.lines);
    close(nowhere);
}

/* The ids of nodes that are not objects may run out while a snapshot is written. */
TEST(ids_of_other_nodes)
{
    char path[32];
    const char *const inputs[] = {path};
    write_dump(&dump, path);
    const struct session_options options = {.taken = {.threads = 1},
                                            .inputs = inputs,
                                            .input_count = 1,
                                            .title = "app",
                                            .path = "",
                                            .say = say_nothing};
    struct session session = {.options = &options, .count = 1};
    const int nowhere = memfd_create("snapshot", 0);
    limits.last_id = 2 * OBJECTS + 1;
    assert_limit(session_take(&session, NULL, nowhere), "objects and other nodes that can have ids",
                 ": begin another one");
    taken_deinit(&session.taken);
    g2h_identity_destroy(session.identity);
    text_deinit(&session.lines);
    close(nowhere);
}

/* What is known of a process before it is stopped, or of a dump once it is loaded. */
TEST(objects_that_are_too_many_at_once)
{
    struct needs needs = {
        .name = "process 7", .objects = 101, .most = 100, .beyond = "that fit; take fewer"};
    assert_limit(needs_check(&needs), "process 7: 101 objects: more than the 100 that fit",
                 "; take fewer");
    needs.objects = 100;
    assert_no_error(needs_check(&needs));
}

UNIT_MAIN(start, end)
