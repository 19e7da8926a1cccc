/* table: rows of a report in columns as wide as there is room; in JSON a list with an object for
 * each. */
#ifndef OUTPUT_REPORT_TABLE_H
#define OUTPUT_REPORT_TABLE_H

#include "base/error.h"
#include "base/memory.h"
#include "output/report/page.h"

struct table_column {
    const char *title;
    bool is_number; /* stands to the right */
};

enum { TABLE_COLUMNS = 8 };

/* Fields row by row, from the left; it is put at its end, when the widths are known. The keys are
 * those of the fields. */
struct table {
    struct page *page;
    const struct table_column *columns;
    size_t count; /* of columns, of which the first gives way */
    size_t most;  /* rows in text; JSON has all of them */
    struct text cells;
    VECTOR(size_t) ends; /* of each cell in cells */
};

/* key: of the list. */
void table_init(struct table *table, struct page *page, const char *key,
                const struct table_column *columns, size_t count, size_t most);

/* A row: as many fields as there are columns, and behind them those that are in JSON only. Of no
 * change there is a dot. */
void table_row(struct table *table, const struct page_field *fields, size_t count);
#define TABLE_ROW(table, ...) \
    table_row(table, (const struct page_field[]){__VA_ARGS__}, \
              sizeof((const struct page_field[]){__VA_ARGS__}) / sizeof(struct page_field))

/* Errors: G2H_ERROR_MEMORY. */
struct g2h_error *table_end(struct table *table);
void table_deinit(struct table *table);

#endif
