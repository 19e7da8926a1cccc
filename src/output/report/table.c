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
        table->columns[table->count].is_address = *at == '@';
        table->is_by_content |= *at == '@';
        at += *at == '@';
        table->columns[table->count].is_number = *at == '>';
        table->columns[table->count].is_below = *at == '_';
        at += *at == '>' || *at == '_';
        const size_t size = strcspn(at, ",");
        table->columns[table->count].title = (struct g2h_bytes){(const uint8_t *)at, size};
        at += size;
        at += *at == ',';
    }
    page_open_list(page, key);
}

static void add_cell(struct table *table, size_t number, const struct page_field *field)
{
    const struct table_column *column = &table->columns[number];
    static const char none[] = "·";
    const bool is_change = field->kind == PAGE_CHANGE || field->kind == PAGE_BYTES_CHANGE;
    if (is_change && field->number == 0)
        text_append(&table->cells, none, sizeof(none) - 1);
    else if (column->most > 0 && field->kind == PAGE_TEXT &&
             page_characters(field->data, field->size) > column->most)
        column->fit(&table->cells, field->data, field->size, column->most);
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
        add_cell(table, i, i < count ? &fields[i] : &empty);
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

/* Sets the width of each column to that of its widest cell; if only content counts, columns without
 * content have none, nor have those below the row. */
static void find_contents(const struct table *table, size_t widths[TABLE_COLUMNS])
{
    bool is_used[TABLE_COLUMNS] = {false};
    for (size_t i = 0; i < table->count; i++)
        widths[i] = (size_t)table->columns[i].title.size;
    widths[0] = widths[0] > 2 ? widths[0] - 2 : 0; /* cells are indented */
    for (size_t i = 0; i < table->ends.count; i++) {
        size_t size;
        const char *data = cell(table, i, &size);
        const size_t width = page_characters(data, size), column = i % table->count;
        widths[column] = width > widths[column] ? width : widths[column];
        is_used[column] |= width > 0;
    }
    for (size_t i = 1; i < table->count; i++)
        if ((table->is_by_content && !is_used[i]) || table->columns[i].is_below)
            widths[i] = 0;
}

/* Returns the number of characters of a line; columns without width are left out. */
static size_t find_line(const struct table *table, const size_t widths[TABLE_COLUMNS])
{
    size_t line = 2 + widths[0];
    for (size_t i = 1; i < table->count; i++)
        line += widths[i] > 0 ? GAP + widths[i] : 0;
    return line;
}

/* Makes lines fit a terminal: leaves out addresses, the last ones first, and then cuts the widest
 * column of words until all are about equally wide. */
static void fit_terminal(const struct table *table, size_t widths[TABLE_COLUMNS])
{
    enum { LEAST = 10 };
    const size_t columns = table->page->columns;
    for (size_t i = table->count; i-- > 1 && find_line(table, widths) > columns;)
        if (table->columns[i].is_address)
            widths[i] = 0;
    for (size_t line; (line = find_line(table, widths)) > columns;) {
        size_t widest = 0, next = LEAST;
        for (size_t i = 1; i < table->count; i++)
            if (!table->columns[i].is_number && widths[i] > widths[widest])
                widest = i;
        for (size_t i = 0; i < table->count; i++)
            if (!table->columns[i].is_number && i != widest && widths[i] > next &&
                widths[i] < widths[widest])
                next = widths[i];
        const size_t over = line - columns;
        size_t less = widths[widest] > next ? widths[widest] - next : 1;
        if (widths[widest] <= LEAST)
            return;
        if (less > over)
            less = over;
        widths[widest] -= less;
    }
}

static void find_widths(const struct table *table, size_t widths[TABLE_COLUMNS])
{
    const size_t columns = table->page->columns;
    find_contents(table, widths);
    if (table->is_by_content && table->page->is_for_terminal) {
        fit_terminal(table, widths);
        return;
    }
    const size_t first = widths[0], others = find_line(table, widths) - first;
    widths[0] = columns > others + LEAST_FIRST ? columns - others : LEAST_FIRST;
    if (table->is_by_content && first < widths[0])
        widths[0] = first;
    /* Otherwise it is always all of it, so that the numbers of all tables line up. */
}

static void put_cell(const struct table *table, size_t column, const size_t *widths, size_t width,
                     struct g2h_bytes data)
{
    const size_t count = page_characters((const char *)data.data, (size_t)data.size),
                 blanks = count < width ? width - count : 0;
    struct page *page = table->page;
    bool is_last = true;
    for (size_t i = column + 1; i < table->count; i++)
        is_last &= widths[i] == 0;
    if ((data.size == 0 && is_last) || (column > 0 && widths[column] == 0))
        return;
    if (column > 0)
        page_blanks(page, GAP);
    if (table->columns[column].is_number)
        page_blanks(page, blanks);
    page_append_cell(page, (const char *)data.data, (size_t)data.size, width);
    if (!table->columns[column].is_number && !is_last)
        page_blanks(page, blanks);
}

/* Removes the blanks at the end of a line. */
static void end_line(struct page *page)
{
    while (page->out.size > 0 && page->out.data[page->out.size - 1] == ' ')
        page->out.size--;
}

/* Puts what is in a column that is below its row. */
static void put_below(const struct table *table, size_t column, struct g2h_bytes data)
{
    enum { INDENT = 6, LINES = 2 };
    struct page *page = table->page;
    const struct g2h_bytes title = table->columns[column].title;
    if (data.size == 0)
        return;
    end_line(page);
    page_say(page, "\n");
    page_blanks(page, INDENT);
    text_append(&page->out, (const char *)title.data, (size_t)title.size);
    page_blanks(page, 2);
    page_append_cell(page, (const char *)data.data, (size_t)data.size, LINES * page->columns);
}

/* Puts the first cell of a row. If it is too wide, it has a line of its own on a terminal, or is
 * made to fit. */
static void put_first(const struct table *table, const size_t *widths, struct g2h_bytes data)
{
    struct page *page = table->page;
    _cleanup_(text_deinit) struct text fitting = {0};
    const bool is_long = page_characters((const char *)data.data, (size_t)data.size) > widths[0];
    if (is_long && table->has_long_names && page->is_for_terminal) {
        page_append_cell(page, (const char *)data.data, (size_t)data.size, page->columns - 2);
        page_say(page, "\n  ");
        data.size = 0; /* the other cells are below it */
    } else if (is_long && table->columns[0].fit) {
        table->columns[0].fit(&fitting, (const char *)data.data, (size_t)data.size, widths[0]);
        page->out.failed |= fitting.failed;
        data = report_bytes(fitting.data ? fitting.data : "", fitting.size);
    }
    put_cell(table, 0, widths, widths[0], data);
}

static void put_titles(const struct table *table, const size_t *widths)
{
    page_say(table->page, "\n");
    for (size_t i = 0; i < table->count; i++) {
        const struct g2h_bytes title = table->columns[i].title;
        if (i == 0)
            page_begin_strong(table->page);
        put_cell(table, i, widths, widths[i] + (i == 0 ? 2 : 0), title);
        if (i == 0)
            page_end_strong(table->page);
    }
}

struct g2h_error *table_end(struct table *table)
{
    struct page *page = table->page;
    size_t widths[TABLE_COLUMNS];
    page_close(page);
    TRY_MEMORY(!table->cells.failed);
    if (table->ends.count == 0)
        return NULL;
    find_widths(table, widths);
    put_titles(table, widths);
    for (size_t i = 0; i < table->ends.count; i++) {
        size_t size;
        const char *data = cell(table, i, &size);
        const size_t column = i % table->count;
        if (column == 0) {
            end_line(page);
            page_say(page, "\n  ");
            put_first(table, widths, report_bytes(data, size));
        } else if (table->columns[column].is_below) {
            put_below(table, column, report_bytes(data, size));
        } else {
            put_cell(table, column, widths, widths[column], report_bytes(data, size));
        }
    }
    end_line(page);
    page_say(page, "\n");
    return NULL;
}

void table_deinit(struct table *table)
{
    text_deinit(&table->cells);
    free(table->ends.data);
}
