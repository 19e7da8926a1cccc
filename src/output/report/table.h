/* table: rows of a report in columns as wide as the page allows; in JSON a list with an
 * object for each row. */
#ifndef OUTPUT_REPORT_TABLE_H
#define OUTPUT_REPORT_TABLE_H

#include "base/error.h"
#include "base/memory.h"
#include "output/report/page.h"

struct table_column {
    const char *title;
    bool is_number; /* aligned to the right */
};

enum { TABLE_COLUMNS = 8 };

/* A table gets its fields row by row, from the left. table_end() writes its lines to the page, when
 * the widths of the columns are known. The keys in JSON are those of the fields. */
struct table {
    struct page *page;
    const struct table_column *columns;
    size_t count; /* of columns; the first one gets the width that the others leave */
    size_t most;  /* most rows outside of JSON, which has all rows */
    struct text cells;
    VECTOR(size_t) ends; /* end of each cell in cells */
};

/* Begins a table; key is the key of its list in JSON. */
void table_init(struct table *table, struct page *page, const char *key,
                const struct table_column *columns, size_t count, size_t most);

/* Passes over the next row if it is not shown, so that it need not be formatted. Returns whether it
 * did; otherwise the caller adds the row. */
bool table_skip_row(struct table *table);

/* Adds a row. The first fields are those of the columns, one each; fields after these are in JSON
 * only. A change of 0 is shown as a dot. */
void table_row(struct table *table, const struct page_field *fields, size_t count);
#define TABLE_ROW(table, ...) \
    table_row(table, (const struct page_field[]){__VA_ARGS__}, \
              sizeof((const struct page_field[]){__VA_ARGS__}) / sizeof(struct page_field))

/* Adds a row whose object in JSON gets more members; the caller closes it. */
void table_open_row(struct table *table, const struct page_field *fields, size_t count);

/* Writes the table to the page. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *table_end(struct table *table);
void table_deinit(struct table *table);

#endif
