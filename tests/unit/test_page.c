/* Covers lists of which a page has a few rows: rows that are not on it need not be formatted, and
 * the page is the same as if they had been (table_skip_row()); and how lines fit a terminal. */
#include "unit.h"

#include "output/report/page.h"

enum { ROWS = 100000, TEXT_ROWS = 40 };

/* Writes a page with two lists. Returns how many rows were formatted. */
static size_t write_page(struct page *page, bool may_skip)
{
    static const char *const keys[] = {"one", "other"};
    size_t formatted = 0;
    page_open(page, NULL);
    page_open(page, "object");
    for (size_t i = 0; i < 2; i++) {
        struct table table;
        table_init(&table, page, keys[i], "ROWS,>number", TEXT_ROWS);
        for (uint64_t row = 0; row < ROWS; row++) {
            if (may_skip && table_skip_row(&table))
                continue;
            formatted++;
            TABLE_PUT(&table, "%s{row}%n{number}", "a row", row);
        }
        assert_no_error(table_end(&table));
        table_deinit(&table);
    }
    page_close(page);
    page_close(page);
    assert_false(page->out.failed);
    return formatted;
}

/* Expects the same page without the rows that are not on it, of which no more are formatted than
 * given. Returns where the next page begins; 0: nowhere. */
static size_t expect(const struct page *like, size_t most)
{
    struct page one = *like, other = *like;
    assert_int_equal(write_page(&one, false), 2 * ROWS);
    assert_in_range(write_page(&other, true), 1, most);
    assert_int_equal(one.out.size, other.out.size);
    assert_memory_equal(one.out.data, other.out.data, one.out.size);
    assert_int_equal(one.window.next, other.window.next);
    assert_int_equal(page_left_out(&one, "object"), page_left_out(&other, "object"));
    text_deinit(&one.out);
    text_deinit(&other.out);
    return other.window.next;
}

TEST(windows)
{
    struct page page = {.is_json = true, .window.bytes = 4000};
    for (int i = 0; i < 3; i++)
        assert_true((page.window.first = expect(&page, 200)) > 0);
    page.window.first = ROWS - 1; /* a page with the end of one list and the begin of the other */
    expect(&page, 200);
    page.window.first = 2 * ROWS - 1;
    assert_int_equal(expect(&page, 1), 0);
}

TEST(limits)
{
    struct page page = {.is_json = true, .window.bytes = 4000, .limits.rows = 10};
    assert_int_equal(expect(&page, 20), 0);
    page.window.bytes = 300;
    const size_t next = expect(&page, 20);
    assert_in_range(next, 1, 19);
    page.window.first = next;
    expect(&page, 20);
    expect(&(struct page){.is_json = true, .limits.bytes = 1000}, 100);
}

TEST(text)
{
    expect(&(struct page){.columns = 80}, 2 * TEXT_ROWS);
}

TEST(all)
{
    expect(&(struct page){.is_json = true}, 2 * ROWS);
}

/* A terminal's lines: what does not fit continues below the details, and what has no blank where it
 * could be broken is cut in its longest word. */
TEST(fits_a_terminal)
{
    static const char *const lines[][2] = {
        {"  1     191 kB    6 % of the heap   60 main.session, in []*main.session\n",
         "  1     191 kB    6 % of the heap   60\n"
         "                  main.session, in []*main.session\n"},
        {"      each        3.18 kB = main.session 24 B + []int64 2.69 kB + slots 8 B\n",
         "      each        3.18 kB = main.session 24 B +\n"
         "                  []int64 2.69 kB + slots 8 B\n"},
        {"                    4.44 kB in all of these objects together, and 2.40 kB more\n",
         "                    4.44 kB in all of these\n"
         "                      objects together,\n"
         "                      and 2.40 kB more\n"},
        {"RSS 6.67 MB: objects 2.48 MB, free slots 437 kB, free heap 381 kB\n",
         "RSS 6.67 MB: objects 2.48 MB, free slots 437 kB,\n"
         "      free heap 381 kB\n"},
        {"      held by     main.cache.aNameThatIsLongerThanAllThatFitsOnALine.end alone\n",
         "      held by     main.cache.aN\xe2\x80\xa6sOnALine.end alone\n"},
        {"      held by     \xc3\xa4 short line\n", "      held by     \xc3\xa4 short line\n"},
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        struct page page = {.is_for_terminal = true, .columns = 50};
        text_append_string(&page.out, lines[i][0]);
        page_fit(&page);
        text_append(&page.out, "", 1);
        assert_false(page.out.failed);
        assert_string_equal(page.out.data, lines[i][1]);
        text_deinit(&page.out);
    }
}

UNIT_MAIN(NULL, NULL)
