/*
 * Covers process/attach/process.c: that pages come from their own addresses, whatever lies beside
 * them in the space, and that what was given back is read again.
 *
 * The process that is read is this one, by /proc/self/mem.
 */
#include "unit.h"

#include <sys/mman.h>
#include <unistd.h>

#include "process/attach/pages.h"
#include "process/attach/process.h"

/* The pages of the mapping; those in gap belong to no run. All of them have contents, also the gap,
 * which cannot be read as usual: /proc/PID/mem has such pages, too. */
enum { PAGES = 40 };

struct fixture {
    size_t page;
    uint8_t *memory;
    struct attach_pages pages;
    struct attach_space space;
    struct window *window;
};

static void add_run(struct fixture *fixture, size_t first, size_t end, enum attach_kind kind)
{
    const struct attach_run run = {(uint64_t)(uintptr_t)(fixture->memory + first * fixture->page),
                                   (end - first) * fixture->page, kind};
    assert_true(vector_push(&fixture->pages.runs, run));
}

static void setup_fixture(struct fixture *fixture)
{
    *fixture = (struct fixture){.page = (size_t)sysconf(_SC_PAGESIZE)};
    fixture->memory = mmap(NULL, PAGES * fixture->page, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(fixture->memory, MAP_FAILED);
    for (size_t i = 0; i < PAGES; i++)
        memset(fixture->memory + i * fixture->page, (int)i + 1, fixture->page);
}

static void open_window(struct fixture *fixture)
{
    assert_true(attach_space_make(&fixture->pages, 0, &fixture->space));
    fixture->window = window_create((uint64_t)getpid(), &fixture->pages, &fixture->space);
    assert_non_null(fixture->window);
}

static void end_fixture(struct fixture *fixture)
{
    window_destroy(fixture->window);
    attach_space_deinit(&fixture->space);
    attach_pages_deinit(&fixture->pages);
    munmap(fixture->memory, PAGES * fixture->page);
}

/* Returns the place of a page of the mapping. */
static const uint8_t *place_of(const struct fixture *fixture, size_t number)
{
    const struct attach_run run = {(uint64_t)(uintptr_t)(fixture->memory + number * fixture->page),
                                   fixture->page, 0};
    return attach_space_at(&fixture->space, &run);
}

/* Asks for a few bytes of a page, and requires that all of the page is what the process has. */
static void assert_page(const struct fixture *fixture, size_t number)
{
    const uint8_t *place = place_of(fixture, number);
    const uint8_t *page = fixture->memory + number * fixture->page;
    assert_true(window_fill(fixture->window, (uint64_t)(uintptr_t)page, 8, place));
    assert_memory_equal(place, page, fixture->page);
}

/* Runs of one page and of several, some next to each other in the process, some not: in the space
 * all are. */
static const size_t runs[][2] = {{0, 1},   {2, 5},   {6, 7},   {7, 8},  {9, 10},
                                 {12, 13}, {15, 22}, {23, 24}, {30, 40}};

static void open_with_gaps(struct fixture *fixture)
{
    setup_fixture(fixture);
    for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++)
        add_run(fixture, runs[i][0], runs[i][1], ATTACH_WRITTEN);
    for (size_t i = 1; i < sizeof(runs) / sizeof(*runs); i++)
        if (runs[i][0] > runs[i - 1][1])
            mprotect(fixture->memory + runs[i - 1][1] * fixture->page,
                     (runs[i][0] - runs[i - 1][1]) * fixture->page, PROT_NONE);
    open_window(fixture);
}

/* What is read ahead of one page must not be what lies beside the run's addresses. */
TEST(test_gaps)
{
    for (size_t begin = 0; begin < sizeof(runs) / sizeof(*runs); begin++) {
        struct fixture fixture;
        open_with_gaps(&fixture);
        assert_page(&fixture, runs[begin][0]);
        assert_page(&fixture, runs[begin][1] - 1);
        for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++)
            for (size_t number = runs[i][0]; number < runs[i][1]; number++)
                assert_page(&fixture, number);
        assert_int_equal(window_error(fixture.window), 0);
        end_fixture(&fixture);
    }
}

/* Inside of an area it is read ahead, but not beyond it. */
TEST(test_ahead)
{
    struct fixture fixture;
    open_with_gaps(&fixture);
    assert_page(&fixture, 3);
    assert_int_equal(window_read(fixture.window), 3 * fixture.page); /* 2, 3 and 4 */
    assert_page(&fixture, 7);
    assert_int_equal(window_read(fixture.window), 5 * fixture.page); /* 6 too */
    end_fixture(&fixture);
}

/* A request that does not lie in one area, or whose place is another one's, is refused. */
TEST(test_beyond)
{
    struct fixture fixture;
    open_with_gaps(&fixture);
    const uint64_t address = (uint64_t)(uintptr_t)fixture.memory;
    assert_false(window_fill(fixture.window, address, 2 * fixture.page, place_of(&fixture, 0)));
    assert_int_not_equal(window_error(fixture.window), 0);
    end_fixture(&fixture);
    open_with_gaps(&fixture);
    assert_false(window_fill(fixture.window, address, 8, place_of(&fixture, 2)));
    assert_int_not_equal(window_error(fixture.window), 0);
    end_fixture(&fixture);
}

/* Pages that were given back are zeros until they are asked for again; kept ones stay. */
TEST(test_drop)
{
    struct fixture fixture;
    open_with_gaps(&fixture);
    for (size_t number = 30; number < 40; number++)
        assert_page(&fixture, number);
    const uint64_t from = (uint64_t)(place_of(&fixture, 30) - fixture.space.data);
    window_keep(fixture.window, from, from + fixture.page);
    window_drop(fixture.window, from, from + 10 * fixture.page);
    assert_int_equal(*place_of(&fixture, 30), 31);
    assert_int_equal(*place_of(&fixture, 31), 0);
    for (size_t number = 30; number < 40; number++)
        assert_page(&fixture, number);
    end_fixture(&fixture);
}

UNIT_MAIN(NULL, NULL)
