/*
 * page: the output of a report, as text for people or as JSON for machines.
 *
 * Sections state each fact once: a line is a template in which each % is replaced by the next
 * field, and JSON has the same fields under their keys, without the words between them. So both
 * have the same numbers, rounded to three digits for people and exact for machines.
 */
#ifndef OUTPUT_REPORT_PAGE_H
#define OUTPUT_REPORT_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <go2heapsnapshot/output.h>

#include "base/text.h"

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
        const char *key;         /* NULL: it is an element */
        size_t begin;            /* where it begins in out, */
        size_t number;           /* its number, if it is an element, else that of the next one */
        size_t kept;             /* window.kept before it */
        uint64_t missing;        /* elements of this list that are left out */
    } open[PAGE_DEPTH];          /* by depth, if there is a window */
    size_t depth;                /* of JSON: how many objects and lists are open, */
    bool lists[PAGE_DEPTH];      /* by depth: whether it is a list, */
    size_t elements[PAGE_DEPTH]; /* how many elements it has, */
    const char *member;          /* the member of the outermost object that was opened last, */
    size_t member_begin;         /* where it begins in out, how many bytes more it takes in HTML, */
    size_t member_markup;
    size_t skipped; /* and how many objects and lists are open that are left out */
    struct {
        const char *member;
        uint64_t rows;
    } left_out[PAGE_MEMBERS];
    uint64_t cut; /* strings that were cut */
};

enum page_kind {
    PAGE_TEXT,
    PAGE_COUNT,
    PAGE_BYTES,        /* rounded to three digits, except in JSON: 160 B, 1.32 MB, 701 kB */
    PAGE_CHANGE,       /* by how much a count has changed, with its sign */
    PAGE_BYTES_CHANGE, /* the same for a number of bytes */
    PAGE_PERCENT,      /* not in JSON */
    PAGE_ADDRESS,      /* 0xc000012000; a string in JSON, where numbers end at 2^53 */
    PAGE_FLAG,         /* in JSON only */
};

/* A field of a line. */
struct page_field {
    const char *key; /* in JSON; NULL: the field is not in JSON */
    enum page_kind kind;
    bool is_strong; /* highlighted if the page has colour */
    uint8_t width;  /* least number of characters; blanks before the field fill it up */
    uint8_t digits; /* of a percentage, after the point */
    size_t most;    /* most characters of a string; 0: no limit */
    uint64_t number, whole;
    const char *data; /* a string of size bytes */
    size_t size;
};

static inline struct page_field page_text(const char *key, const char *data, size_t size)
{
    return (struct page_field){.key = key, .kind = PAGE_TEXT, .data = data, .size = size};
}

static inline struct page_field page_made(const char *key, const struct text *text)
{
    return page_text(key, text->data, text->size);
}

static inline struct page_field page_words(const char *key, const char *words)
{
    return page_text(key, words, __builtin_strlen(words));
}

static inline struct page_field page_count(const char *key, uint64_t count)
{
    return (struct page_field){.key = key, .kind = PAGE_COUNT, .number = count};
}

static inline struct page_field page_bytes(const char *key, uint64_t bytes)
{
    return (struct page_field){.key = key, .kind = PAGE_BYTES, .number = bytes};
}

static inline struct page_field page_change(const char *key, int64_t change)
{
    return (struct page_field){.key = key, .kind = PAGE_CHANGE, .number = (uint64_t)change};
}

static inline struct page_field page_bytes_change(const char *key, int64_t change)
{
    return (struct page_field){.key = key, .kind = PAGE_BYTES_CHANGE, .number = (uint64_t)change};
}

static inline struct page_field page_percent(uint64_t part, uint64_t whole)
{
    return (struct page_field){.kind = PAGE_PERCENT, .number = part, .whole = whole};
}

static inline struct page_field page_address(const char *key, uint64_t address)
{
    return (struct page_field){.key = key, .kind = PAGE_ADDRESS, .number = address};
}

static inline struct page_field page_flag(const char *key, bool is_set)
{
    return (struct page_field){.key = key, .kind = PAGE_FLAG, .number = is_set};
}

static inline struct page_field page_wide(struct page_field field, size_t width)
{
    field.width = (uint8_t)width;
    return field;
}

static inline struct page_field page_clipped(struct page_field field, size_t most)
{
    field.most = most;
    return field;
}

/* Returns a percentage with one digit after the point. */
static inline struct page_field page_tenths(struct page_field field)
{
    field.digits = 1;
    return field;
}

static inline struct page_field page_strong(struct page_field field)
{
    field.is_strong = true;
    return field;
}

/* Begins a page as the options want it, which may be NULL. */
void page_begin(const struct g2h_report_options *given, struct page *ret);

void page_deinit(struct page *page);

/* Returns how many rows were left out of a member of the outermost object, by its key. */
uint64_t page_left_out(const struct page *page, const char *member);

void page_put_fields(struct page *page, const char *template, const struct page_field *fields,
                     size_t count);

/* Adds a line, or a part of one, with its fields; if template is NULL, the fields are in JSON
 * only. */
#define PAGE_PUT(page, template, ...) \
    page_put_fields(page, template, (const struct page_field[]){__VA_ARGS__}, \
                    sizeof((const struct page_field[]){__VA_ARGS__}) / sizeof(struct page_field))

/* Adds fields that are in JSON only. */
#define PAGE_DATA(page, ...) PAGE_PUT(page, NULL, __VA_ARGS__)

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

/* Passes over the next element of the list that was opened last, which contains no lists, if it is
 * not on the page: limits, or the end of the window, leave it out, or an earlier part has it.
 * Returns whether it did; otherwise the caller adds the element. */
bool page_skip_element(struct page *page);

/* ---- parts of lines ---- */

/* Appends a field in its form for people: without its width, but clipped. */
void page_append(struct text *text, const struct page_field *field);

/* Returns the number of characters in a string. */
size_t page_characters(const char *data, size_t size);

/* Appends a string, in which each character that a terminal would act upon is replaced. A string of
 * more than most characters is cut, and an ellipsis is its last character; if most is 0, there is
 * no limit. */
void page_append_clipped(struct text *text, const char *data, size_t size, size_t most);

/* Does the same for most > 0, but a page for a terminal has the ellipsis in the middle. */
void page_append_cell(struct page *page, const char *data, size_t size, size_t most);

/* Cuts the lines so far that are wider than the page, if it is for a terminal: their longest words
 * in the middle, and what is still too wide at its end. */
void page_fit(struct page *page);

/* Write these before and after words that are highlighted. */
void page_begin_strong(struct page *page);
void page_end_strong(struct page *page);

#endif
