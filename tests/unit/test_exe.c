/*
 * Covers exe/exe and typing/match: an executable that has been matched does not change, whatever
 * graphs are made with it, and it may be matched again. Uses the sample's executable.
 */
#include "dump_builder.h"

#include <pthread.h>

#include "../conversion.h"
#include "exe/exe.h"
#include "heap/heap.h"

static struct g2h_input *input;
static struct g2h_heap *heap;
static struct g2h_exe *exe;

FIXTURE(start)
{
    assert_no_error(g2h_input_open("samples/leakserver.1.dump.gz", NULL, &input));
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

static struct conversion make_graph(void)
{
    const struct conversion_options options = {.exe = exe, .threads = 2};
    struct conversion made;
    assert_no_error(conversion_init(&made, heap, &options));
    assert_non_null(made.typing);
    return made;
}

/* Expects that the conversion's snapshot is the wanted one, and destroys the conversion. */
static void is_same(struct conversion *made, const char *wanted, size_t wanted_size)
{
    size_t size;
    char *snapshot = view_snapshot(made->view, 1, false, &size);
    assert_int_equal(size, wanted_size);
    assert_memory_equal(snapshot, wanted, size);
    free(snapshot);
    conversion_deinit(made);
}

TEST(makes_several_graphs)
{
    const size_t count = g2h_exe_type_count(exe);
    struct conversion first = make_graph(), second = make_graph();
    size_t size;
    char *snapshot = view_snapshot(first.view, 1, false, &size);
    conversion_deinit(&first);
    struct conversion third = make_graph();
    is_same(&second, snapshot, size);
    is_same(&third, snapshot, size);
    free(snapshot);
    assert_int_equal(g2h_exe_type_count(exe), count);
}

TEST(names_of_types_stay_where_they_are)
{
    struct g2h_bytes name = {NULL, 0}, later;
    uint64_t address = 0;
    for (size_t i = 0; i < heap->itabs.count && !name.data; i++) {
        address = heap->itabs.data[i].type;
        if (!g2h_exe_type_name(exe, address, &name))
            name.data = NULL;
    }
    assert_non_null(name.data);
    char *copy = malloc((size_t)name.size);
    assert_non_null(copy);
    memcpy(copy, name.data, (size_t)name.size);
    struct conversion made = make_graph();
    assert_memory_equal(name.data, copy, name.size);
    assert_true(g2h_exe_type_name(exe, address, &later));
    assert_ptr_equal(later.data, name.data);
    conversion_deinit(&made);
    assert_memory_equal(name.data, copy, name.size);
    free(copy);
}

/* A function may have no variables: then no offset is added to a null pointer. */
TEST(frames_may_have_no_variables)
{
    struct scopes scopes = {.by_pc = {0}};
    const uint64_t pc = 0x401010;
    uint32_t number, count = 1;
    assert_true(map_put(&scopes.by_pc, pc, 0, &number));
    assert_true(vector_push(&scopes.list, ((struct scope){0, 0})));
    assert_null(scopes_locals(&scopes, pc, &count));
    assert_int_equal(count, 0);
    scopes_deinit(&scopes);
}

/* After a mismatch the executable tells nothing; matched again, it tells the same as before. */
TEST(may_be_matched_again)
{
    const size_t count = g2h_exe_type_count(exe);
    struct conversion made = make_graph(), again;
    size_t size;
    char *snapshot = view_snapshot(made.view, 1, false, &size);
    conversion_deinit(&made);
    struct g2h_record data;
    g2h_heap_record(heap, G2H_RECORD_DATA, 0, &data);
    uint64_t address = data.segment.address, offset;
    struct g2h_bytes name;
    while (!g2h_exe_variable(exe, address, &name, &offset))
        address += 8;
    const uint64_t entry = exe_function(exe, 0, &name);
    struct g2h_line line;
    assert_true(g2h_exe_line(exe, entry, &line));
    struct g2h_heap other = *heap;
    other.params.big_endian = true;
    struct g2h_error *error = g2h_exe_match(exe, &other);
    assert_non_null(error);
    assert_int_equal(error->code, G2H_ERROR_NOT_EXE);
    g2h_error_destroy(error);
    assert_int_equal(g2h_exe_type_count(exe), 0);
    assert_int_equal(exe_function_count(exe), 0);
    assert_false(g2h_exe_variable(exe, address, &name, &offset));
    assert_false(g2h_exe_line(exe, entry, &line));
    assert_no_error(g2h_exe_match(exe, heap));
    assert_int_equal(g2h_exe_type_count(exe), count);
    again = make_graph();
    is_same(&again, snapshot, size);
    free(snapshot);
}

static bool is_text(struct g2h_bytes text, const char *wanted)
{
    return text.size == strlen(wanted) && memcmp(text.data, wanted, text.size) == 0;
}

/* The outermost call at an address is the function of the frame there, and the others are inlined
 * in it: go s.value() runs a wrapper, in which main.ask is inlined. */
TEST(finds_inlined_calls)
{
    struct exe_call calls[EXE_MOST_CALLS];
    unsigned inlined = 0, asks = 0;
    for (size_t i = 0; i < heap->frames.count; i++) {
        const struct heap_stack_frame frame = heap_frame(heap, i);
        uint64_t left = exe_lines_most(exe);
        const size_t count = exe_calls(exe, frame.pc - 1, &left, calls);
        assert_true(count > 0 && count < EXE_MOST_CALLS && left < exe_lines_most(exe));
        assert_int_equal(calls[count - 1].function.size, frame.function.size);
        assert_memory_equal(calls[count - 1].function.data, frame.function.data,
                            frame.function.size);
        inlined += count > 1;
        if (!is_text(frame.function, "main.(*Server).value.gowrap1"))
            continue;
        assert_int_equal(count, 2);
        assert_true(is_text(calls[0].function, "main.ask") && calls[0].line == 178);
        assert_true(!calls[0].is_wrapper && calls[1].is_wrapper && calls[1].line == 166);
        struct g2h_bytes wrapped;
        assert_no_error(exe_wrapped(exe, frame.entry, &left, &wrapped));
        assert_true(is_text(wrapped, "main.ask"));
        asks++;
    }
    assert_true(asks >= 10 && inlined > asks);
}

/* Without work left there is the function, but no line; outside of the code there is nothing. */
TEST(calls_are_bounded)
{
    struct exe_call calls[EXE_MOST_CALLS];
    struct g2h_bytes name, wrapped;
    const uint64_t entry = exe_function(exe, exe_function_count(exe) / 2, &name);
    uint64_t left = 0;
    assert_int_equal(exe_calls(exe, entry, &left, calls), 1);
    assert_int_equal(calls[0].function.size, name.size);
    assert_memory_equal(calls[0].function.data, name.data, name.size);
    assert_int_equal(calls[0].line, 0);
    left = exe_lines_most(exe);
    assert_int_equal(exe_calls(exe, 0, &left, calls), 0);
    assert_int_equal(exe_calls(exe, UINT64_MAX, &left, calls), 0);
    assert_no_error(exe_wrapped(exe, 0, &left, &wrapped));
    assert_int_equal(wrapped.size, 0);
    assert_no_error(exe_wrapped(exe, entry, &left, &wrapped));
    assert_int_equal(wrapped.size, 0);
}

static void *make_other(void *ret)
{
    *(struct conversion *)ret = make_graph();
    return NULL;
}

TEST(makes_two_graphs_at_once)
{
    struct conversion one, other;
    pthread_t thread;
    size_t size;
    assert_int_equal(pthread_create(&thread, NULL, make_other, &other), 0);
    one = make_graph();
    assert_int_equal(pthread_join(thread, NULL), 0);
    char *snapshot = view_snapshot(one.view, 1, false, &size);
    conversion_deinit(&one);
    is_same(&other, snapshot, size);
    free(snapshot);
}

UNIT_MAIN(start, end)
