/* table; see table.h. */
#include "output/report/table.h"

#include <string.h>

#include "base/scope.h"

enum { GAP = 3, LEAST_FIRST = 20 };

void table_init(struct table *table, struct page *page, const char *key, const char *titles,
                size_t most)
{
    *table = (struct table){.page = page, .most = most};
    for (const char *at = titles; *at && table->count < TABLE_COLUMNS; table->count++) {
        const bool is_number = *at == '>', is_below = *at == '_';
        const char *title = at + (is_number || is_below);
        const size_t size = strcspn(title, ",");
        table->columns[table->count] =
            (struct table_column){{(const uint8_t *)title, size}, is_number, is_below};
        at = title + size;
        at += *at == ',';
    }
    page_open_list(page, key);
}

static void add_cell(struct table *table, const struct page_field *field)
{
    static const char none[] = "·";
    const bool is_change = field->kind == PAGE_CHANGE || field->kind == PAGE_BYTES_CHANGE;
    if (is_change && field->number == 0)
        text_append(&table->cells, none, sizeof(none) - 1);
    else
        page_append(&table->cells, field);
    table->cells.failed |= !vector_push(&table->ends, table->cells.size);
}

static bool table_is_full(const struct table *table)
{
    return table->ends.count / table->count >= table->most;
}

bool table_skip_row(struct table *table)
{
    return table->page->is_json ? page_skip_element(table->page) : table_is_full(table);
}

void table_open(struct table *table, const struct page_value *values)
{
    const bool is_shown = !table->page->is_json && !table_is_full(table);
    static const struct page_field empty = {.kind = PAGE_TEXT};
    struct page_field fields[PAGE_FIELDS];
    const size_t count = page_read_fields(values, fields);
    page_open(table->page, NULL);
    page_put_data(table->page, fields, count);
    for (size_t i = 0; i < table->count && is_shown; i++)
        add_cell(table, i < count ? &fields[i] : &empty);
}

void table_put(struct table *table, const struct page_value *values)
{
    table_open(table, values);
    page_close(table->page);
}

static const char *cell(const struct table *table, size_t number, size_t *ret_size)
{
    const size_t begin = number > 0 ? table->ends.data[number - 1] : 0;
    *ret_size = table->ends.data[number] - begin;
    return table->cells.data + begin;
}

static void find_widths(const struct table *table, size_t widths[TABLE_COLUMNS])
{
    size_t others = 0;
    for (size_t i = 0; i < table->count; i++)
        widths[i] = (size_t)table->columns[i].title.size;
    for (size_t i = 0; i < table->ends.count; i++) {
        size_t size;
        const char *data = cell(table, i, &size);
        const size_t width = page_characters(data, size), column = i % table->count;
        widths[column] = width > widths[column] ? width : widths[column];
    }
    for (size_t i = 1; i < table->count; i++)
        others += table->columns[i].is_below ? 0 : GAP + widths[i];
    const size_t columns = table->page->columns,
                 width = columns > others + LEAST_FIRST + 2 ? columns - others - 2 : LEAST_FIRST;
    widths[0] = width; /* always all of it, so that the numbers of all tables line up */
}

/* Removes the blanks at the end of a line. */
static void end_line(struct page *page)
{
    while (page->out.size > 0 && page->out.data[page->out.size - 1] == ' ')
        page->out.size--;
}

/* Puts what is in a column that is below its row. */
static void put_below(const struct table *table, size_t column, const char *data, size_t size)
{
    enum { INDENT = 6, LINES = 2 };
    struct page *page = table->page;
    const struct g2h_bytes title = table->columns[column].title;
    if (size == 0)
        return;
    end_line(page);
    page_say(page, "\n");
    page_blanks(page, INDENT);
    text_append(&page->out, (const char *)title.data, (size_t)title.size);
    page_blanks(page, 2);
    page_append_cell(page, data, size, LINES * page->columns);
}

static void put_cell(const struct table *table, size_t column, size_t width, const char *data,
                     size_t size)
{
    struct page *page = table->page;
    _cleanup_(text_deinit) struct text fitting = {0};
    if (column == 0 && table->fit && page_characters(data, size) > width) {
        table->fit(&fitting, data, size, width);
        page->out.failed |= fitting.failed;
        data = fitting.data ? fitting.data : "";
        size = fitting.size;
    }
    const size_t count = page_characters(data, size), blanks = count < width ? width - count : 0;
    if (column > 0)
        page_blanks(page, GAP);
    if (table->columns[column].is_number)
        page_blanks(page, blanks);
    page_append_cell(page, data, size, width);
    if (!table->columns[column].is_number)
        page_blanks(page, blanks);
}

static void put_titles(const struct table *table, const size_t *widths)
{
    page_say(table->page, "\n");
    for (size_t i = 0; i < table->count; i++) {
        const struct g2h_bytes title = table->columns[i].title;
        if (table->columns[i].is_below)
            continue;
        if (i == 0)
            page_begin_strong(table->page);
        put_cell(table, i, widths[i] + (i == 0 ? 2 : 0), (const char *)title.data,
                 (size_t)title.size);
        if (i == 0)
            page_end_strong(table->page);
    }
}

struct g2h_error *table_end(struct table *table)
{
    size_t widths[TABLE_COLUMNS];
    page_close(table->page);
    TRY_MEMORY(!table->cells.failed);
    if (table->ends.count == 0)
        return NULL;
    find_widths(table, widths);
    put_titles(table, widths);
    for (size_t i = 0; i < table->ends.count; i++) {
        const size_t column = i % table->count;
        size_t size;
        const char *data = cell(table, i, &size);
        if (column == 0) {
            end_line(table->page);
            page_say(table->page, "\n  ");
        }
        if (table->columns[column].is_below)
            put_below(table, column, data, size);
        else
            put_cell(table, column, widths[column], data, size);
    }
    end_line(table->page);
    page_say(table->page, "\n");
    return NULL;
}

void table_deinit(struct table *table)
{
    text_deinit(&table->cells);
    free(table->ends.data);
}
