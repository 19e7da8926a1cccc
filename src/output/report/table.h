/* table: numbers and tables of a report, as wide as there is room. */
#ifndef OUTPUT_REPORT_TABLE_H
#define OUTPUT_REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

/* Appends a size in three digits: 160 B, 1.32 MB, 701 kB. */
void table_bytes(struct text *text, uint64_t bytes);

/* The same, behind blanks up to a width, and a plus where it has grown by so much. */
void table_right(struct text *text, uint64_t bytes, bool is_growth, size_t width);

/* Appends a change, with its sign: of bytes, or of a number of others. */
void table_change(struct text *text, int64_t change, bool is_bytes);

void table_pad(struct text *text, size_t blanks);

/* Appends as many characters of a text as there is room for, with an ellipsis where that is not
 * all. */
void table_clip(struct text *text, const char *data, size_t size, size_t room);

double table_percent(uint64_t part, uint64_t whole);

struct table_column {
    const char *title;
    bool is_number; /* stands to the right */
};

enum { TABLE_COLUMNS = 6 };

/* Cells row by row, from the left; it is appended at its end, when the widths are known. */
struct table {
    struct text *out;
    const struct table_column *columns;
    size_t count, width; /* columns; characters of a row, of which the first column gives way */
    struct text cells;
    VECTOR(size_t) ends; /* of each cell in cells */
};

void table_init(struct table *table, struct text *out, const struct table_column *columns,
                size_t count, size_t width);
void table_text(struct table *table, const char *data, size_t size);
void table_count(struct table *table, uint64_t count);
void table_size(struct table *table, uint64_t bytes);

/* A change as above; of nothing a dot. */
void table_growth(struct table *table, int64_t change, bool is_bytes);

/* Errors: G2H_ERROR_MEMORY. */
struct g2h_error *table_end(struct table *table);
void table_deinit(struct table *table);

#endif
