/*
 * page: what a report says, as text for people or as JSON for machines.
 *
 * Sections say each thing once: a line is a template in which each % is the next field, and JSON
 * has the same fields by their keys, without the words between them. So both have the same numbers,
 * people in three digits and machines all of them.
 */
#ifndef OUTPUT_REPORT_PAGE_H
#define OUTPUT_REPORT_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum { PAGE_DEPTH = 64 /* of objects and lists of JSON in each other */ };

struct page {
    struct text out;
    size_t columns; /* of a line */
    bool is_json;
    bool is_colored;
    size_t depth;            /* JSON: how many objects and lists are open, */
    bool lists[PAGE_DEPTH];  /* whether they are lists, */
    bool filled[PAGE_DEPTH]; /* and whether something is in them */
};

enum page_kind {
    PAGE_TEXT,
    PAGE_COUNT,
    PAGE_BYTES,        /* in three digits: 160 B, 1.32 MB, 701 kB */
    PAGE_CHANGE,       /* of a count, with its sign */
    PAGE_BYTES_CHANGE, /* of bytes */
    PAGE_PERCENT,      /* in text only */
    PAGE_ADDRESS,      /* 0xc000012000; in JSON a text, for its numbers end at 2^53 */
    PAGE_FLAG,         /* in JSON only */
};

/* What stands in a line. */
struct page_field {
    const char *key; /* in JSON; NULL: it is not there */
    enum page_kind kind;
    bool is_strong; /* stands out, where there is colour */
    uint8_t width;  /* characters at least, with blanks before it */
    uint8_t digits; /* of a percentage, behind the point */
    size_t room;    /* for so many characters of a text; 0: any number */
    uint64_t number, whole;
    const char *data; /* size bytes of text */
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

static inline struct page_field page_clipped(struct page_field field, size_t room)
{
    field.room = room;
    return field;
}

/* Of a percentage, with a digit behind the point. */
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

void page_deinit(struct page *page);

void page_put_fields(struct page *page, const char *template, const struct page_field *fields,
                     size_t count);

/* A line, or a part of one, with its fields; template NULL: these are in JSON only. */
#define PAGE_PUT(page, template, ...) \
    page_put_fields(page, template, (const struct page_field[]){__VA_ARGS__}, \
                    sizeof((const struct page_field[]){__VA_ARGS__}) / sizeof(struct page_field))

/* Fields that are in JSON only. */
#define PAGE_DATA(page, ...) PAGE_PUT(page, NULL, __VA_ARGS__)

/* Words that are in text only. */
void page_say(struct page *page, const char *words);
void page_blanks(struct page *page, size_t count);

/* The words that a section begins with, which stand out, behind an empty line. */
void page_head(struct page *page, const char *words);

/* In JSON what follows is in an object or a list, until it is closed. key NULL: it is in a list, or
 * is all of it. */
void page_open(struct page *page, const char *key);
void page_open_list(struct page *page, const char *key);
void page_close(struct page *page);

/* ---- parts of text ---- */

/* Appends a field to a text, as people read it: without its width, but clipped. */
void page_append(struct text *text, const struct page_field *field);

/* So many characters are in a text. */
size_t page_characters(const char *data, size_t size);

/* Appends a text without what a terminal would act upon; as many characters as there is room for,
 * with an ellipsis where that is not all. room 0: all. */
void page_append_clipped(struct text *text, const char *data, size_t size, size_t room);

/* Around what stands out. */
void page_begin_strong(struct page *page);
void page_end_strong(struct page *page);

#endif
