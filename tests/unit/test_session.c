/* Covers session.h: what is opened is what the steps give, one by one; options by their size;
 * sources that cannot be opened; retainers, which are the edges backwards. Covers findings.h: what
 * the sample's leaks are; a path and an expression to one of them. */
#include "unit.h"

#include <string.h>
#include <unistd.h>

#include <go2heapsnapshot/go2heapsnapshot.h>

#define DUMP "samples/leakserver.2.dump.gz"
#define EXE  "samples/leakserver.exe.gz"

static void expect_failure(const char *source, const char *exe, enum g2h_error_code code,
                           const char *words)
{
    struct g2h_session *session = (struct g2h_session *)&code; /* must become NULL */
    struct g2h_error *error = g2h_open(source, exe, NULL, &session);
    assert_non_null(error);
    assert_null(session);
    assert_int_equal(error->code, code);
    assert_non_null(strstr(error->message, words));
    g2h_error_destroy(error);
}

TEST(sample)
{
    struct g2h_session *session;
    const struct g2h_dominators *dominators, *again;
    assert_no_error(g2h_open(DUMP, EXE, NULL, &session));
    const struct g2h_view *view = g2h_session_view(session);
    assert_true(g2h_view_is_typed(view));
    assert_ptr_equal(g2h_view_heap(view), g2h_session_heap(session));
    assert_ptr_equal(g2h_view_exe(view), g2h_session_exe(session));
    assert_null(g2h_session_process(session));
    assert_no_error(g2h_session_dominators(session, &dominators));
    assert_no_error(g2h_session_dominators(session, &again));
    assert_ptr_equal(dominators, again);
    assert_true(g2h_dominators_retained_size(dominators, 0) >=
                g2h_heap_account(g2h_session_heap(session))->object_bytes);
    g2h_close(session);
    g2h_close(NULL);
}

static uint32_t node_count(const struct g2h_open_options *options)
{
    struct g2h_session *session;
    assert_no_error(g2h_open(DUMP, EXE, options, &session));
    const uint32_t count = g2h_view_node_count(g2h_session_view(session));
    g2h_close(session);
    return count;
}

/* Options of a caller with a smaller struct are only those that it has. */
TEST(options_have_a_size)
{
    struct g2h_open_options options = {.size = sizeof(options), .max_nodes = 5000};
    const uint32_t all = node_count(NULL);
    assert_true(node_count(&options) <= 5000);
    options.size = offsetof(struct g2h_open_options, max_nodes);
    assert_int_equal(node_count(&options), all);
}

TEST(another_executable)
{
    const struct g2h_open_options options = {.size = sizeof(options), .untyped_ok = true};
    const char *other = "samples/dumps/go1.15-amd64.1.dump.gz";
    struct g2h_session *session;
    expect_failure(other, EXE, G2H_ERROR_NOT_EXE, "executable");
    assert_no_error(g2h_open(other, EXE, &options, &session));
    assert_null(g2h_session_exe(session));
    assert_false(g2h_view_is_typed(g2h_session_view(session)));
    g2h_close(session);
}

TEST(bad_sources)
{
    char self[32];
    snprintf(self, sizeof(self), "pid:%d", (int)getpid());
    expect_failure("build/there-is-none", NULL, G2H_ERROR_SYSTEM, "there-is-none");
    expect_failure("README.md", NULL, G2H_ERROR_NOT_DUMP, "README.md");
    expect_failure(DUMP, "README.md", G2H_ERROR_NOT_EXE, "README.md");
    expect_failure("pid:", NULL, G2H_ERROR_SYSTEM, "is not a process ID");
    expect_failure("pid:0", NULL, G2H_ERROR_SYSTEM, "is not a process ID");
    expect_failure("pid:12x", NULL, G2H_ERROR_SYSTEM, "is not a process ID");
    expect_failure("pid:99999999999999999999", NULL, G2H_ERROR_SYSTEM, "is not a process ID");
    expect_failure(self, NULL, G2H_ERROR_SYSTEM, "process");
}

/* Each edge is in the retainers of its target, and there is nothing else in them. */
TEST(retainers)
{
    const struct g2h_open_options folded = {.size = sizeof(folded), .max_nodes = 3000};
    for (int i = 0; i < 2; i++) {
        struct g2h_session *session;
        struct g2h_retainers *retainers;
        struct g2h_edges *edges;
        struct g2h_edge edge;
        uint64_t found = 0;
        assert_no_error(g2h_open(DUMP, EXE, i == 0 ? NULL : &folded, &session));
        const struct g2h_view *view = g2h_session_view(session);
        assert_no_error(g2h_retainers_create(view, &retainers));
        assert_no_error(g2h_edges_create(view, &edges));
        for (uint32_t node = 0; node < g2h_view_node_count(view); node++) {
            const uint32_t *sources;
            const uint64_t count = g2h_retainers_of(retainers, node, &sources);
            found += count;
            for (uint64_t j = 0; j < count; j++) {
                if (j == 0 || sources[j] != sources[j - 1])
                    g2h_edges_begin(edges, sources[j], sources[j] + 1);
                assert_true(j == 0 || sources[j] >= sources[j - 1]);
                assert_true(g2h_edges_next_to(edges, node, &edge));
                assert_int_equal(edge.source, sources[j]);
                assert_int_equal(edge.target, node);
            }
            if (count > 0)
                assert_false(g2h_edges_next_to(edges, node, &edge));
        }
        assert_int_equal(found, g2h_view_account(view)->edges);
        g2h_edges_destroy(edges);
        g2h_retainers_destroy(retainers);
        g2h_close(session);
    }
}

/* Returns how many objects are memory that the runtime keeps for maps, or parts of sync.Maps. */
static uint64_t entries(const struct g2h_view *view)
{
    struct g2h_node node;
    uint64_t count = 0;
    for (uint32_t i = 0; i < g2h_view_node_count(view); i++) {
        g2h_view_brief(view, i, &node);
        count += node.kind == G2H_NODE_OBJECT &&
                 ((g2h_view_name_uses(view, node.name) & G2H_NAME_OF_ENTRIES) != 0 ||
                  g2h_view_runtime_class(view, node.name) == G2H_RUNTIME_TRIE ||
                  g2h_view_runtime_class(view, node.name) == G2H_RUNTIME_TRIE_ENTRY);
    }
    return count;
}

/* The sums of all classes are those of the heap; memory with the entries of a map that
 * alone holds them is of the map. */
TEST(classes)
{
    struct g2h_session *session;
    struct g2h_findings *findings, *again;
    const struct g2h_class *row;
    size_t count, index = 0;
    uint64_t objects = 0, bytes = 0, before = UINT64_MAX;
    assert_no_error(g2h_open(DUMP, EXE, NULL, &session));
    const struct g2h_view_account *account = g2h_view_account(g2h_session_view(session));
    assert_no_error(g2h_session_findings(session, &findings));
    assert_no_error(g2h_session_findings(session, &again));
    assert_ptr_equal(findings, again);
    assert_null(g2h_findings_class(findings, 0)); /* nobody has asked yet */
    assert_no_error(g2h_findings_classes(findings, &count));
    assert_no_error(g2h_findings_classes(findings, &count));
    for (; (row = g2h_findings_class(findings, index)) != NULL; index++) {
        assert_int_equal(row->size, sizeof(*row));
        assert_true(row->retained <= before && row->retained >= row->bytes / row->objects);
        before = row->retained;
        objects += row->objects;
        bytes += row->bytes;
    }
    assert_int_equal(index, count);
    const uint64_t all = g2h_heap_object_count(g2h_session_heap(session)) + account->stacks;
    assert_true(objects < all && objects >= all - entries(g2h_session_view(session)));
    assert_int_equal(bytes, g2h_heap_account(g2h_session_heap(session))->object_bytes +
                                account->stack_bytes);
    g2h_close(session);
}

/* What is garbage counts as such in its class. */
TEST(garbage_of_classes)
{
    struct g2h_session *session;
    struct g2h_findings *findings;
    const struct g2h_class *row;
    size_t count, index = 0;
    uint64_t garbage = 0;
    assert_no_error(g2h_open("samples/dumps/go1.15-amd64.2.dump.gz", NULL, NULL, &session));
    assert_no_error(g2h_session_findings(session, &findings));
    assert_no_error(g2h_findings_classes(findings, &count));
    for (; (row = g2h_findings_class(findings, index)) != NULL; index++) {
        assert_true(row->garbage <= row->objects);
        garbage += row->garbage;
    }
    assert_int_equal(garbage, 2930); /* what -v says that nothing holds */
    g2h_close(session);
}

TEST(suspects)
{
    struct g2h_session *session;
    struct g2h_findings *findings;
    const struct g2h_suspect *suspect;
    const struct g2h_step *step;
    const char *expression;
    size_t count, length;
    assert_no_error(g2h_open(DUMP, EXE, NULL, &session));
    assert_no_error(
        g2h_findings_create(g2h_session_view(session), NULL, &findings)); /* of its own */
    assert_no_error(g2h_findings_suspects(findings, &count));
    assert_int_equal(count, 3);
    assert_null(g2h_findings_suspect(findings, count));
    suspect = g2h_findings_suspect(findings, 0);
    assert_int_equal(suspect->size, sizeof(*suspect));
    assert_string_equal(suspect->sentence, "2,000 main.Watcher, in 4 × map[uint64]*main.Watcher");
    assert_true(suspect->share > 0.46 && suspect->share < 0.47);
    suspect = g2h_findings_suspect(findings, 1);
    assert_int_equal(suspect->objects, 80);
    assert_string_equal(suspect->held_by, "");
    suspect = g2h_findings_suspect(findings, 2);
    assert_string_equal(suspect->name, "main.Preview");
    assert_int_equal(suspect->objects, 400);
    assert_no_error(g2h_findings_expression(findings, suspect->example, &expression));
    assert_string_equal(suspect->held_by, "main.previews.byName");
    assert_string_equal(expression, suspect->held_by);
    assert_no_error(g2h_findings_path(findings, suspect->example, &length));
    step = g2h_findings_step(findings, 0);
    assert_string_equal(step->name, "(root)");
    assert_string_equal(step->edge, "");
    step = g2h_findings_step(findings, length - 1);
    assert_int_equal(step->node, suspect->example);
    assert_string_equal(step->edge, suspect->held_by + strlen("main."));
    assert_null(g2h_findings_step(findings, length));
    assert_no_error(g2h_findings_path(findings, 0, &length));
    assert_int_equal(length, 1);
    g2h_findings_destroy(findings);
    g2h_findings_destroy(NULL);
    g2h_close(session);
}

TEST(version)
{
    assert_string_equal(g2h_version(), G2H_VERSION);
}

UNIT_MAIN(NULL, NULL)
