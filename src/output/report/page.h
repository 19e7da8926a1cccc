/*
 * page: the output of a report, as text for people or as JSON for machines.
 */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <go2heapsnapshot/output.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

/* ==== the output of a report, as text for people or as JSON for machines ====
 *
 * Sections state each fact once: a line is a template in which each % is replaced by the next
 * field, and JSON has the same fields under their keys, without the words between them. So both
 * have the same numbers, rounded to three digits for people and exact for machines.
 */

enum { PAGE_DEPTH = 64 /* the deepest nesting of objects and lists in JSON */ };

/* Limits of JSON that is a part of something else; 0: no limit. Beyond them, elements of lists are
 * left out. */
struct page_limits {
    size_t rows;       /* elements of a list */
    size_t bytes;      /* of a member of the outermost object, in HTML, which ends with the element
                          that reaches this limit */
    size_t characters; /* of a string, which is cut */
};

/*
 * A part of the JSON, for readers who get it in answers of a bounded size. Elements of lists are
 * numbered in the order in which they are opened, including those of nested lists. The part ends
 * before the first element that no longer fits; the next part has the elements from there on, with
 * the objects that contain them.
 */
struct page_window {
    size_t bytes;        /* that the page should have; 0: it has all elements */
    size_t first;        /* elements before this one are in earlier parts */
    size_t next;         /* the first one that did not fit; 0: all did */
    size_t opened, kept; /* elements so far, and those that are on the page */
};

enum { PAGE_MEMBERS = 16 /* members of the outermost object that have left something out */ };

struct page {
    struct text out;
    size_t columns; /* width of a line */
    bool is_json;
    bool is_colored;
    bool is_for_terminal; /* lines are cut to columns, and names in their middle */
    size_t top;           /* most rows of a list; 0: as many as usual */
    const char *only; /* NULL, or the key of the only object that members of the outermost object
                         have */
    bool hides_texts; /* leaves out the contents of strings where a report quotes some */
    struct page_limits limits;
    struct page_window window;
    struct {
        struct g2h_bytes key;    /* none: it is an element */
        size_t begin;            /* where it begins in out, */
        size_t number;           /* its number, if it is an element, else that of the next one */
        size_t kept;             /* window.kept before it */
        uint64_t missing;        /* elements of this list that are left out */
    } open[PAGE_DEPTH];          /* by depth, if there is a window */
    size_t depth;                /* of JSON: how many objects and lists are open, */
    bool lists[PAGE_DEPTH];      /* by depth: whether it is a list, */
    size_t elements[PAGE_DEPTH]; /* how many elements it has, */
    struct g2h_bytes member;     /* the member of the outermost object that was opened last, */
    size_t member_begin;         /* where it begins in out, how many bytes more it takes in HTML, */
    size_t member_markup;
    size_t skipped; /* and how many objects and lists are open that are left out */
    struct {
        struct g2h_bytes member;
        uint64_t rows;
    } left_out[PAGE_MEMBERS];
    uint64_t cut; /* strings that were cut */
};

static inline struct g2h_bytes page_key(const char *key)
{
    return key ? bytes_of(key) : (struct g2h_bytes){0};
}

/*
 * PUT() adds fields to the page: as text by a template, and as JSON by the fields' keys.
 *
 *   %s %n %b %c %d    a string, a count, bytes, a change of a count or of bytes
 *   %p %a %f          part and whole as a percentage, not in JSON; an address; a flag, in JSON only
 *   %9b %.40s %.1p    least width; most characters; digits (a star takes the number from a value)
 *   %#s %?n           highlighted; only if the value before it is true
 *   %b{key}           its key in JSON, {*}: the value after it; fields without a key are in text
 * only <key> <> [key]    opens an object, an element of a list, a list in JSON
 *   </>               closes what was opened last
 *   |                 begins or ends a part that is in JSON only
 *
 * The values must be as many as the template takes, strings where it says %s or {*}, else numbers:
 * asserts check those that are written, tests/layering/templates.mjs all that there are.
 */

/* clang-format on */
#define PUT(page, ...) page_put(page, true, PAGE_VALUES(__VA_ARGS__))

/* The same, in JSON only if is_said is false. */
#define PUT_IF(is_said, page, ...) page_put(page, is_said, PAGE_VALUES(__VA_ARGS__))

static inline struct g2h_bytes report_made(const struct g2h_text *text)
{
    return bytes_at(text->data, text->size);
}

static inline struct g2h_bytes report_bytes(const void *data, size_t size)
{
    return bytes_at(data, size);
}

enum page_value_kind { PAGE_VALUES_END, PAGE_VALUE_NUMBER, PAGE_VALUE_STRING };

/* A value for a template. The template is the first of them, one of kind PAGE_VALUES_END the last.
 */
struct page_value {
    enum page_value_kind kind;
    struct g2h_bytes text;
    uint64_t number;
    size_t most; /* characters of the text; 0: no limit */
};

static inline struct page_value page_value_number(uint64_t number)
{
    return (struct page_value){.kind = PAGE_VALUE_NUMBER, .number = number};
}

static inline struct page_value page_value_signed(int64_t number)
{
    return (struct page_value){.kind = PAGE_VALUE_NUMBER, .number = (uint64_t)number};
}

static inline struct page_value page_value_bytes(struct g2h_bytes text)
{
    return (struct page_value){.kind = PAGE_VALUE_STRING, .text = text};
}

static inline struct page_value page_value_text(const struct text *text)
{
    return (struct page_value){.kind = PAGE_VALUE_STRING, .text = bytes_at(text->data, text->size)};
}

static inline struct page_value page_value_words(const char *words)
{
    return (struct page_value){.kind = PAGE_VALUE_STRING, .text = bytes_of(words)};
}

static inline struct page_value page_value_same(struct page_value value)
{
    return value;
}

/* clang-format off */
#define PAGE_VALUE(value) _Generic((value), const char *: page_value_words, char *: page_value_words, \
    const struct text *: page_value_text, struct text *: page_value_text, int: page_value_signed, \
    int64_t: page_value_signed, struct g2h_bytes: page_value_bytes, \
    struct page_value: page_value_same, default: page_value_number)(value)

#define PAGE_1(a) PAGE_VALUE(a)

#define PAGE_2(a, ...) PAGE_VALUE(a), PAGE_1(__VA_ARGS__)

#define PAGE_3(a, ...) PAGE_VALUE(a), PAGE_2(__VA_ARGS__)

#define PAGE_4(a, ...) PAGE_VALUE(a), PAGE_3(__VA_ARGS__)

#define PAGE_5(a, ...) PAGE_VALUE(a), PAGE_4(__VA_ARGS__)

#define PAGE_6(a, ...) PAGE_VALUE(a), PAGE_5(__VA_ARGS__)

#define PAGE_7(a, ...) PAGE_VALUE(a), PAGE_6(__VA_ARGS__)

#define PAGE_8(a, ...) PAGE_VALUE(a), PAGE_7(__VA_ARGS__)

#define PAGE_9(a, ...) PAGE_VALUE(a), PAGE_8(__VA_ARGS__)

#define PAGE_10(a, ...) PAGE_VALUE(a), PAGE_9(__VA_ARGS__)

#define PAGE_11(a, ...) PAGE_VALUE(a), PAGE_10(__VA_ARGS__)

#define PAGE_12(a, ...) PAGE_VALUE(a), PAGE_11(__VA_ARGS__)

#define PAGE_13(a, ...) PAGE_VALUE(a), PAGE_12(__VA_ARGS__)

#define PAGE_14(a, ...) PAGE_VALUE(a), PAGE_13(__VA_ARGS__)

#define PAGE_15(a, ...) PAGE_VALUE(a), PAGE_14(__VA_ARGS__)

#define PAGE_16(a, ...) PAGE_VALUE(a), PAGE_15(__VA_ARGS__)

#define PAGE_PICK(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, pick, ...) pick

#define PAGE_VALUES(...) (const struct page_value[]){PAGE_PICK(__VA_ARGS__, PAGE_16, PAGE_15, PAGE_14, \
    PAGE_13, PAGE_12, PAGE_11, PAGE_10, PAGE_9, PAGE_8, PAGE_7, PAGE_6, PAGE_5, PAGE_4, PAGE_3, PAGE_2, \
    PAGE_1, 0)(__VA_ARGS__), {.kind = PAGE_VALUES_END}}

/* clang-format on */

void page_put(struct page *page, bool is_said, const struct page_value *values);

/* Begins a page as the options want it, which may be NULL. */
void page_begin(const struct g2h_report_options *given, struct page *ret);

void page_deinit(struct page *page);

/* Returns how many rows were left out of a member of the outermost object, by its key. */
uint64_t page_left_out(const struct page *page, const char *member);

/* Adds words that are not in JSON. */
void page_say(struct page *page, const char *words);

/* Adds words that are not in JSON, and ends the line; what does not fit into the page's columns
 * continues in further lines, which are indented by indent blanks like the first. */
void page_wrap(struct page *page, const char *words, size_t indent);

void page_blanks(struct page *page, size_t count);

/* Adds the title of a section, which is highlighted, after an empty line. */
void page_head(struct page *page, const char *words);

/* Opens an object or a list in JSON, which holds what follows until it is closed. key is NULL for
 * an element of a list and for the outermost object. */
void page_open(struct page *page, const char *key);

void page_open_list(struct page *page, const char *key);

void page_close(struct page *page);

/* Pass over elements of the list that was opened last, which may be many: those that earlier parts
 * have, before the first one is added, and those that are left out, after the last one. */
void page_pass(struct page *page, size_t count);

void page_add_missing(struct page *page, size_t count);

/* ---- parts of lines ---- */

/* Returns the number of characters in a string. */
size_t page_characters(const void *text, size_t size);

/* Appends a string, in which each character that a terminal would act upon is replaced. A string of
 * more than most characters is cut, and an ellipsis is its last character; if most is 0, there is
 * no limit. */
void page_append_clipped(struct text *text, const void *words, size_t size, size_t most);

/* Cuts the lines so far that are wider than the page, if it is for a terminal: their longest words
 * in the middle, and what is still too wide at its end. */
void page_fit(struct page *page);

/* ==== rows in columns as wide as the page allows ==== */

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
