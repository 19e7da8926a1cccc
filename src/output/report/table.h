/* table: rows of a report in columns as wide as the page allows; in JSON a list with an
 * object for each row. */
#ifndef OUTPUT_REPORT_TABLE_H
#define OUTPUT_REPORT_TABLE_H

#include "base/error.h"
#include "base/memory.h"
#include "output/report/page.h"

enum { TABLE_COLUMNS = 8 };

/* Appends a cell so that it has at most most characters. */
typedef void (*table_fit)(struct text *text, const char *data, size_t size, size_t most);

/* A table gets its fields row by row, from the left. table_end() writes its lines to the page, when
 * the widths of the columns are known. The keys in JSON are those of the fields. */
struct table {
    struct page *page;
    struct table_column {
        struct g2h_bytes title;
        bool is_number;  /* aligned to the right */
        bool is_address; /* left out if a terminal is too narrow */
        bool is_below;   /* has no width: what is in it is a line of its own below the row */
        table_fit fit;   /* cuts cells that are too long; NULL: as others are cut */
        size_t most;     /* characters of a cell, but for the first column; 0: as many as it has */
    } columns[TABLE_COLUMNS];
    size_t count;        /* of columns; the first one gets the width that the others leave */
    bool is_by_content;  /* but if there are addresses, each column is as wide as its content */
    bool has_long_names; /* on a terminal, a first cell that is too wide has a line of its own */
    size_t most;         /* most rows outside of JSON, which has all rows */
    struct text cells;
    VECTOR(size_t) ends; /* end of each cell in cells */
};

/* Begins a table; key is the key of its list in JSON. titles are those of its columns, with commas
 * between them; those of numbers begin with '>', those of addresses with '@', or with "@>"; one
 * that begins with '_' is of a line below each row, which begins with the title. */
void table_init(struct table *table, struct page *page, const char *key, const char *titles,
                size_t most);

/* Passes over the next row if it is not shown, so that it need not be formatted. Returns whether it
 * did; otherwise the caller adds the row. */
bool table_skip_row(struct table *table);

/* Adds a row by a template, as PUT() has it: a field for each column, then those in JSON only. The
 * last columns of a row may have none. A change of 0 is shown as a dot. */
void table_put(struct table *table, const struct page_value *values);
#define TABLE_PUT(table, ...) table_put(table, PAGE_VALUES(__VA_ARGS__))

/* Adds a row whose object in JSON gets more members; the caller closes it. */
void table_open(struct table *table, const struct page_value *values);
#define TABLE_OPEN(table, ...) table_open(table, PAGE_VALUES(__VA_ARGS__))

/* Writes the table to the page. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *table_end(struct table *table);
void table_deinit(struct table *table);

#endif
