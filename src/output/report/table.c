/* table; see table.h. */
#include "output/report/table.h"

#include <string.h>

#include "base/scope.h"

enum { GAP = 3, LEAST_FIRST = 20 };

/* ---- numbers ---- */

void table_bytes(struct text *text, uint64_t bytes)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    double value = (double)bytes / 1000;
    size_t unit = 0;
    if (bytes < 1000) {
        text_printf(text, "%llu B", (unsigned long long)bytes);
        return;
    }
    for (; value >= 999.5 && unit + 1 < sizeof(units) / sizeof(*units); unit++)
        value /= 1000;
    text_printf(text,
                value < 9.995   ? "%.2f %s"
                : value < 99.95 ? "%.1f %s"
                                : "%.0f %s",
                value, units[unit]);
}

void table_pad(struct text *text, size_t blanks)
{
    while (blanks-- > 0)
        text_append(text, " ", 1);
}

void table_change(struct text *text, int64_t change, bool is_bytes)
{
    const uint64_t size = change < 0 ? -(uint64_t)change : (uint64_t)change;
    text_append(text, change < 0 ? "-" : "+", 1);
    if (is_bytes)
        table_bytes(text, size);
    else
        text_append_grouped(text, size);
}

void table_right(struct text *text, uint64_t bytes, bool is_growth, size_t width)
{
    struct text number = {0};
    if (is_growth)
        text_append(&number, "+", 1);
    table_bytes(&number, bytes);
    table_pad(text, number.size < width ? width - number.size : 0);
    text_append(text, number.data, number.size);
    text->failed |= number.failed;
    text_deinit(&number);
}

double table_percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100 * (double)part / (double)whole : 0;
}

/* ---- texts ---- */

static bool is_begin(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}

static size_t characters(const char *data, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += is_begin(data[i]);
    return count;
}

void table_clip(struct text *text, const char *data, size_t size, size_t room)
{
    static const char ellipsis[] = "…";
    if (characters(data, size) <= room) {
        text_append(text, data, size);
        return;
    }
    size_t count = 0, end = 0;
    while (end < size && (!is_begin(data[end]) || ++count < room))
        end++;
    text_append(text, data, end);
    text_append(text, ellipsis, sizeof(ellipsis) - 1);
}

/* ---- tables ---- */

void table_init(struct table *table, struct text *out, const struct table_column *columns,
                size_t count, size_t width)
{
    *table = (struct table){.out = out, .columns = columns, .count = count, .width = width};
}

static void end_cell(struct table *table)
{
    table->cells.failed |= !vector_push(&table->ends, table->cells.size);
}

/* What would end a line is a blank. */
void table_text(struct table *table, const char *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        text_append(&table->cells, (unsigned char)data[i] < ' ' ? " " : &data[i], 1);
    end_cell(table);
}

void table_count(struct table *table, uint64_t count)
{
    text_append_grouped(&table->cells, count);
    end_cell(table);
}

void table_size(struct table *table, uint64_t bytes)
{
    table_bytes(&table->cells, bytes);
    end_cell(table);
}

void table_growth(struct table *table, int64_t change, bool is_bytes)
{
    static const char none[] = "·";
    if (change == 0)
        text_append(&table->cells, none, sizeof(none) - 1);
    else
        table_change(&table->cells, change, is_bytes);
    end_cell(table);
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
        widths[i] = strlen(table->columns[i].title);
    for (size_t i = 0; i < table->ends.count; i++) {
        size_t size;
        const char *data = cell(table, i, &size);
        const size_t width = characters(data, size), column = i % table->count;
        widths[column] = width > widths[column] ? width : widths[column];
    }
    for (size_t i = 1; i < table->count; i++)
        others += GAP + widths[i];
    const size_t room =
        table->width > others + LEAST_FIRST + 2 ? table->width - others - 2 : LEAST_FIRST;
    widths[0] = room; /* so that numbers of all tables stand where they do in others */
}

static void put_cell(const struct table *table, size_t column, size_t width, const char *data,
                     size_t size)
{
    const size_t count = characters(data, size), blanks = count < width ? width - count : 0;
    if (size == 0 && column + 1 == table->count)
        return;
    if (column > 0)
        table_pad(table->out, GAP);
    if (table->columns[column].is_number)
        table_pad(table->out, blanks);
    table_clip(table->out, data, size, width);
    if (!table->columns[column].is_number && column + 1 < table->count)
        table_pad(table->out, blanks);
}

struct g2h_error *table_end(struct table *table)
{
    size_t widths[TABLE_COLUMNS];
    TRY_MEMORY(!table->cells.failed);
    find_widths(table, widths);
    text_printf(table->out, "\n");
    for (size_t i = 0; i < table->count; i++) {
        const char *title = table->columns[i].title;
        put_cell(table, i, widths[i] + (i == 0 ? 2 : 0), title, strlen(title));
    }
    for (size_t i = 0; i < table->ends.count; i++) {
        size_t size;
        const char *data = cell(table, i, &size);
        if (i % table->count == 0)
            text_printf(table->out, "\n  ");
        put_cell(table, i % table->count, widths[i % table->count], data, size);
    }
    text_printf(table->out, "\n");
    return NULL;
}

void table_deinit(struct table *table)
{
    text_deinit(&table->cells);
    free(table->ends.data);
}
