/* Covers lists of which a page has a few rows: rows that are not on it need not be formatted, and
 * the page is the same as if they had been (table_skip_row()). */
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

UNIT_MAIN(NULL, NULL)
