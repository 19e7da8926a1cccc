/*
 * page: writes the output of a report, as text for people or as JSON for machines, from the same
 * templates; see page.h, which describes what a template may contain.
 *
 * strings    characters, clipping and ellipses
 * lines      breaks and cuts lines that are too wide for a terminal, when the page is complete
 * fields     one value of a template, as text
 * JSON       members, objects and lists; what limits or a window on the output leave out
 * templates  reads a template and takes its values one by one (page_put)
 * table      rows whose columns are as wide as their widest cells
 */
#include "output/report/page.h"

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "output/json.h"

/* ==== the output of a report, as text for people or as JSON for machines ==== */

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
    struct g2h_bytes key; /* in JSON; none: the field is not in JSON */
    enum page_kind kind;
    bool is_strong; /* highlighted if the page has colour */
    uint8_t width;  /* least number of characters; blanks before the field fill it up */
    uint8_t digits; /* of a percentage, after the point */
    size_t most;    /* most characters of a string; 0: no limit */
    uint64_t number, whole;
    const char *data; /* a string of size bytes */
    size_t size;
};

enum { PAGE_FIELDS = 12 /* of a row's template at most */ };

/* ---- strings ---- */

/* Returns whether a byte begins a character of UTF-8. */
static bool is_begin(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}

/* Returns the number of characters of a text in UTF-8: of the bytes that begin one. */
size_t page_characters(const void *text, size_t size)
{
    const char *data = text;
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += is_begin(data[i]);
    return count;
}

/* Appends a string with a blank for each control character, such as one that would end the line. */
static void append_clean(struct text *text, const char *data, size_t size)
{
    const size_t begin = text->size;
    for (size_t i = 0; i < size; i++)
        text_append(text, (unsigned char)data[i] < ' ' ? " " : &data[i], 1);
    if (text->size > begin) /* replaces what else a terminal would take for more than text */
        text->size = begin + g2h_printable(text->data + begin, text->size - begin);
}

/* Appends a text. Cuts the words to most characters, the last of which is an ellipsis then. most 0:
 * no limit. */
void page_append_clipped(struct text *text, const void *words, size_t size, size_t most)
{
    const char *data = words;
    size_t count = 0, end = 0;
    if (most == 0 || page_characters(data, size) <= most) {
        append_clean(text, data, size);
        return;
    }
    while (end < size && (!is_begin(data[end]) || ++count < most)) /* most - 1 whole characters */
        end++;
    append_clean(text, data, end);
    text_append_string(text, "…");
}

/* Appends a longer string cut to so many characters as `most` says: its begin and its end, with an
 * ellipsis between them. */
static void append_ends(struct text *text, const char *data, size_t size, size_t most)
{
    size_t head = 0;
    size_t tail = size;
    /* Half of the characters each, less one in all for the ellipsis; never a part of one. */
    for (size_t count = 0; head < size && (!is_begin(data[head]) || count++ < most / 2);)
        head++;
    for (size_t count = (most - 1) / 2; count > 0 && tail > head;)
        count -= is_begin(data[--tail]);
    text_append(text, data, head);
    text_append_string(text, "…");
    text_append(text, data + tail, size - tail);
}

/* Appends at most most characters of a string: on a terminal its begin and its end, elsewhere its
 * begin. */
static void append_cell(const struct page *page, struct text *text, const void *data, size_t size,
                        size_t most)
{
    struct text cut = {0};
    if (!page->is_for_terminal || page_characters(data, size) <= most) {
        page_append_clipped(text, data, size, most);
        return;
    }
    append_ends(&cut, data, size, most);
    append_clean(text, cut.data, cut.size);
    text->failed |= cut.failed;
    text_deinit(&cut);
}

/* Appends a text of at most most characters to a cell, cut at its end, or on a page for a terminal
 * in the middle, where the ellipsis is. */
static void page_append_cell(struct page *page, const void *data, size_t size, size_t most)
{
    append_cell(page, &page->out, data, size, most);
}

/* ---- lines that are too wide ---- */

/* Returns the size of the escape sequence here, which page_begin_strong() or page_end_strong() has
 * written; 0: it is not one. */
static size_t escape_size(const char *data, size_t size)
{
    const char *end = size > 0 && *data == '\033' ? memchr(data, 'm', size) : NULL;
    return end ? as_size(end + 1 - data) : 0;
}

/* Returns the number of characters of a line that are seen. */
static size_t visible(const char *data, size_t size)
{
    size_t count = 0;
    for (size_t at = 0, escape; at<size; at += escape> 0 ? escape : 1) {
        escape = escape_size(data + at, size - at);
        count += escape == 0 && is_begin(data[at]);
    }
    return count;
}

/* Finds the word of a line that has most characters; returns how many. Its begin and size go to
 * *ret_begin and *ret_size. Escape sequences end a word. */
static size_t find_word(const char *data, size_t size, size_t *ret_begin, size_t *ret_size)
{
    size_t most = 0;
    for (size_t at = 0, end; at<size; at = end> at ? end : at + 1) {
        for (end = at; end < size && data[end] != ' ' && data[end] != '\033';)
            end++;
        const size_t count = page_characters(data + at, end - at);
        if (count > most) {
            most = count;
            *ret_begin = at;
            *ret_size = end - at;
        }
        if (end == at)
            end = at + escape_size(data + at, size - at);
    }
    return most;
}

/* Appends the first characters of a line, up to the page's columns, and then an ellipsis. Escape
 * sequences take no column. */
static void append_begin(const struct page *page, struct text *out, const char *data, size_t size)
{
    size_t count = 0, at = 0;
    while (at < size && (!is_begin(data[at]) || count + 1 < page->columns)) {
        const size_t escape = escape_size(data + at, size - at);
        count += escape == 0 && is_begin(data[at]);
        text_append(out, data + at, escape > 0 ? escape : 1);
        at += escape > 0 ? escape : 1;
    }
    text_append_string(out, page->is_colored ? "…\033[m" : "…");
}

/* Appends a line that is too wide, so that it fits, by cutting words. The longest word is cut in
 * its middle, again and again, down to LEAST characters; then the line's end is cut. */
static void page_append_cut(const struct page *page, struct text *out, const char *data,
                            size_t size)
{
    enum { LEAST = 10 }; /* characters of a word that is cut */
    struct text line = {0}, cut = {0};
    size_t begin = 0, length = 0, wide, word;
    text_append(&line, data, size);
    while ((wide = visible(line.data, line.size)) > page->columns &&
           (word = find_word(line.data, line.size, &begin, &length)) > LEAST) {
        const size_t over = wide - page->columns;
        const size_t most = word > LEAST + over ? word - over : LEAST;
        cut.size = 0;
        text_append(&cut, line.data, begin);
        append_ends(&cut, line.data + begin, length, most);
        text_append(&cut, line.data + begin + length, line.size - begin - length);
        const struct text old = line;
        if (cut.failed || line.failed)
            break;
        line = cut;
        cut = old;
    }
    if (visible(line.data, line.size) > page->columns)
        append_begin(page, out, line.data, line.size);
    else
        text_append(out, line.data, line.size);
    out->failed |= line.failed || cut.failed;
    text_deinit(&line);
    text_deinit(&cut);
}

/* Returns how many blanks a line begins with. */
static size_t count_blanks(const char *data, size_t size)
{
    size_t count = 0;
    while (count < size && data[count] == ' ')
        count++;
    return count;
}

/*
 * Returns where a line that is too wide is broken: at the last blank that fits, after indent. A
 * break between facts, which have several blanks between them, or after a comma is better if it
 * leaves more than half of a line, or is in the head of a suspect. 0: no blank.
 */
static size_t find_break(const struct page *page, const char *data, size_t size, size_t indent,
                         bool is_head)
{
    size_t any = 0, after_comma = 0, between = 0; /* the last break of each kind; 0: none */
    size_t count = 0;                             /* characters before at */
    for (size_t at = 0, escape; at < size && count <= page->columns;
         at += escape > 0 ? escape : 1) {
        escape = escape_size(data + at, size - at);
        if (data[at] == ' ' && count > indent && at > 0 && data[at - 1] != ' ') { /* a first one */
            const bool is_good = is_head || count > page->columns / 2;
            any = at;
            after_comma = is_good && data[at - 1] == ',' ? at : after_comma;
            between = is_good && !is_head && at + 1 < size && data[at + 1] == ' ' ? at : between;
        }
        count += escape == 0 && is_begin(data[at]);
    }
    if (between > 0)
        return between;
    return after_comma > 0 ? after_comma : any;
}

/* Returns how many blanks a line is continued after, by how many it begins with. */
static size_t continued_indent(size_t blanks, bool is_head)
{
    /* Blanks before: the title of a detail, the detail, other lines that continue. */
    enum { OF_SUSPECT = 6, DETAILS = 18, OTHERS = 6 };
    if (blanks == OF_SUSPECT || is_head)
        return DETAILS;
    return blanks >= DETAILS ? blanks + 2 : OTHERS;
}

/* Appends a line so that it fits: it continues in the next lines, below its first words, or below
 * the details of a suspect if it is the suspect's head, which begins with its number. MOST lines
 * more at most; what is still too wide is cut. */
static void append_fitting(const struct page *page, struct text *out, const char *data, size_t size)
{
    enum { MOST = 2 };
    const size_t blanks = count_blanks(data, size);
    const bool is_head = blanks == 2 && blanks < size && data[2] >= '0' && data[2] <= '9';
    const size_t indent = continued_indent(blanks, is_head);
    struct text line = {0};
    text_append(&line, data, size);
    for (size_t i = 0; i < MOST && !line.failed; i++) {
        if (visible(line.data, line.size) <= page->columns)
            break;
        const size_t at = find_break(page, line.data, line.size, indent, is_head && i == 0);
        if (at == 0)
            break;
        const size_t rest = at + count_blanks(line.data + at, line.size - at);
        struct text next = {0};
        text_append(out, line.data, at);
        text_append_string(out, "\n");
        text_printf(&next, "%*s", (int)indent, "");
        text_append(&next, line.data + rest, line.size - rest);
        next.failed |= line.failed;
        text_deinit(&line);
        line = next;
    }
    if (visible(line.data, line.size) > page->columns)
        page_append_cut(page, out, line.data, line.size);
    else
        text_append(out, line.data, line.size);
    out->failed |= line.failed;
    text_deinit(&line);
}

/* Cuts the lines that are too wide for a terminal. Nothing for other pages. */
void page_fit(struct page *page)
{
    struct text out = {0};
    if (!page->is_for_terminal || page->out.failed)
        return;
    for (size_t at = 0, size; at < page->out.size; at += size + 1) {
        const char *line = page->out.data + at;
        const char *end = memchr(line, '\n', page->out.size - at);
        size = end ? as_size(end - line) : page->out.size - at;
        if (visible(line, size) > page->columns)
            append_fitting(page, &out, line, size);
        else
            text_append(&out, line, size);
        text_append(&out, "\n", end ? 1 : 0);
    }
    text_deinit(&page->out);
    page->out = out;
}

/* ---- fields ---- */

/* Appends a change of a count or of bytes, with its sign. is_bytes: it is a number of bytes. */
static void append_change(struct text *text, int64_t change, bool is_bytes)
{
    const uint64_t size = change < 0 ? -(uint64_t)change : (uint64_t)change;
    text_append_string(text, change < 0 ? "-" : "+");
    if (is_bytes)
        text_append_bytes(text, size);
    else
        text_append_grouped(text, size);
}

/* Appends a field in its form for people: without its width, but clipped to its most characters. A
 * flag, which only JSON has, appends nothing. */
static void page_append(struct text *text, const struct page_field *field)
{
    switch (field->kind) {
    case PAGE_TEXT:
        page_append_clipped(text, field->data, field->size, field->most);
        break;
    case PAGE_COUNT:
        text_append_grouped(text, field->number);
        break;
    case PAGE_BYTES:
        text_append_bytes(text, field->number);
        break;
    case PAGE_CHANGE:
    case PAGE_BYTES_CHANGE:
        append_change(text, (int64_t)field->number, field->kind == PAGE_BYTES_CHANGE);
        break;
    case PAGE_PERCENT:
        text_printf(text, "%.*f %%", field->digits,
                    field->whole > 0 ? 100 * (double)field->number / (double)field->whole : 0);
        break;
    case PAGE_ADDRESS:
        text_printf(text, "0x%" PRIx64, field->number);
        break;
    case PAGE_FLAG:
        break;
    }
}

/* Adds blanks, in text only. */
void page_blanks(struct page *page, size_t count)
{
    while (!page->is_json && count-- > 0)
        text_append_string(&page->out, " ");
}

/* This comes before words that are highlighted, and page_end_strong() after them: nothing without
 * colours. */
static void page_begin_strong(struct page *page)
{
    if (page->is_colored)
        text_append_string(&page->out, "\033[1m");
}

static void page_end_strong(struct page *page)
{
    if (page->is_colored)
        text_append_string(&page->out, "\033[m");
}

/* Writes a field as text: clipped, filled up to its width from the left, and highlighted if it is
 * strong. */
static void page_put_text(struct page *page, const struct page_field *field)
{
    struct text made = {0};
    if (page->is_for_terminal && field->kind == PAGE_TEXT && field->most > 0)
        append_cell(page, &made, field->data, field->size, field->most);
    else
        page_append(&made, field);
    const size_t count = page_characters(made.data, made.size);
    page_blanks(page, count < field->width ? field->width - count : 0);
    if (field->is_strong)
        page_begin_strong(page);
    text_append(&page->out, made.data, made.size);
    if (field->is_strong)
        page_end_strong(page);
    page->out.failed |= made.failed;
    text_deinit(&made);
}

/* Adds words that are not in JSON. */
void page_say(struct page *page, const char *words)
{
    if (!page->is_json)
        text_append_string(&page->out, words);
}

/* Adds words, broken at blanks; lines but the first get the indent. Nothing in JSON. */
void page_wrap(struct page *page, const char *words, size_t indent)
{
    size_t column = indent; /* the caller has put what is before it */
    if (page->is_json)
        return;
    for (const char *end; *words; words = end + strspn(end, " ")) {
        end = words + strcspn(words, " ");
        const size_t size = page_characters(words, as_size(end - words));
        const bool is_first = column == indent;
        const bool fits = column + 1 + size <= page->columns;
        if (!is_first && !fits) {
            page_say(page, "\n");
            page_blanks(page, indent);
            column = indent;
        } else if (!is_first) {
            page_say(page, " ");
            column++;
        }
        text_append(&page->out, words, as_size(end - words));
        column += size;
    }
    page_say(page, "\n");
}

/* Adds a blank line, and words in bold. Nothing in JSON. */
void page_head(struct page *page, const char *words)
{
    page_say(page, "\n");
    if (page->is_json)
        return;
    page_begin_strong(page);
    page_say(page, words);
    page_end_strong(page);
}

/* ---- JSON ---- */

/* Adds a JSON string, which is valid UTF-8 whatever the bytes are. If the page has a limit of
 * bytes, those for quotes and escapes are counted as markup. */
static void page_put_string(struct page *page, const void *data, size_t size)
{
    struct text valid = {0};
    struct text *out = &page->out;
    text_append_utf8(&valid, data, size, SIZE_MAX);
    const size_t limit = json_string_limit(valid.size); /* json_string() does not check for space */
    if (!valid.failed && (out->capacity - out->size >= limit || text_grow(out, limit))) {
        char *begin = out->data + out->size;
        out->size += as_size(json_string(begin, valid.data, valid.size) - begin);
        if (page->limits.bytes > 0)
            page->member_markup += json_markup(valid.data, valid.size);
    }
    out->failed |= valid.failed;
    text_deinit(&valid);
}

/* Adds what comes before a value: comma, line break and key. Each member of the outermost object
 * begins a line; a value in a list has no key, and one outside of any object has nothing. */
static void put_key(struct page *page, struct g2h_bytes key)
{
    if (page->depth == 0)
        return;
    const char last = page->out.size > 0 ? page->out.data[page->out.size - 1] : '{';
    text_append_string(&page->out, last == '{' || last == '[' ? "" : ",");
    page->elements[page->depth - 1]++;
    text_append_string(&page->out, page->depth == 1 ? "\n" : "");
    if (page->lists[page->depth - 1])
        return;
    page_put_string(page, key.data, key.size);
    text_append_string(&page->out, ":");
}

/* Adds a JSON string, cut if it is longer than the limit. */
static void put_words(struct page *page, const char *data, size_t size)
{
    const size_t limit = page->limits.characters;
    struct text cut = {0};
    if (limit == 0 || page_characters(data, size) <= limit) {
        page_put_string(page, data, size);
        return;
    }
    page->cut++;
    text_append_utf8(&cut, data, size, limit - 1);
    text_append_string(&cut, "…");
    page->out.failed |= cut.failed;
    page_put_string(page, cut.data, cut.size);
    text_deinit(&cut);
}

/* Adds a field as a member of a JSON object, unless it has no key. */
static void put_member(struct page *page, const struct page_field *field)
{
    if (!field->key.data)
        return;
    put_key(page, field->key);
    switch (field->kind) {
    case PAGE_TEXT:
        put_words(page, field->data, field->size);
        break;
    case PAGE_COUNT:
    case PAGE_BYTES:
        text_printf(&page->out, "%" PRIu64, field->number);
        break;
    case PAGE_CHANGE:
    case PAGE_BYTES_CHANGE:
        text_printf(&page->out, "%" PRId64, (int64_t)field->number);
        break;
    case PAGE_ADDRESS:
        text_printf(&page->out, "\"0x%" PRIx64 "\"", field->number);
        break;
    case PAGE_FLAG:
        text_append_string(&page->out, field->number ? "true" : "false");
        break;
    case PAGE_PERCENT: /* no template gives one a key, but the key must have a value */
        text_append_string(&page->out, "null");
        break;
    }
}

/* Returns whether what is opened next is an element of a list, and not a member of an object. */
static bool is_element(const struct page *page)
{
    return page->depth > 0 && page->lists[page->depth - 1];
}

/* Returns whether the limits, or the end of the window, leave out what is opened next. Only
 * elements of a list are left out, by the number of them or by the bytes of the member that has
 * been written so far. */
static bool is_beyond(const struct page *page)
{
    const struct page_limits *limits = &page->limits;
    const size_t size = page->out.size - page->member_begin + page->member_markup;
    if (!is_element(page))
        return false;
    if (page->window.next > 0)
        return true;
    /* Limits are of lists in members: at depth 1 no member is open yet. */
    return page->depth > 1 &&
           ((limits->rows > 0 && page->elements[page->depth - 1] >= limits->rows) ||
            (limits->bytes > 0 && size >= limits->bytes));
}

/* Counts an element that limits or the window leave out: in its list, and for page_left_out() by
 * the member of the outermost object. */
static void page_leave_out(struct page *page)
{
    size_t i = 0;
    page->skipped = 1; /* until page_close() has come to its end */
    page->open[page->depth - 1].missing++;
    /* The members are literals of the templates, so that their addresses tell them apart. */
    while (i + 1 < PAGE_MEMBERS && page->left_out[i].member.data != NULL &&
           page->left_out[i].member.data != page->member.data)
        i++;
    page->left_out[i].member = page->member;
    page->left_out[i].rows++;
}

/* Returns how many rows of a member the limits left out. */
uint64_t page_left_out(const struct page *page, const char *member)
{
    for (size_t i = 0; i < PAGE_MEMBERS && page->left_out[i].member.data; i++)
        if (bytes_are(page->left_out[i].member, member))
            return page->left_out[i].rows;
    return 0;
}

/* ---- the window ---- */

/* Records where what is opened next begins. */
static void page_window_open(struct page *page, struct g2h_bytes key)
{
    page->open[page->depth].key = key;
    page->open[page->depth].begin = page->out.size;
    page->open[page->depth].number = page->window.opened;
    page->open[page->depth].kept = page->window.kept;
    page->open[page->depth].missing = 0;
    page->window.opened += is_element(page);
}

/* Removes what has been closed from the page if an earlier part has it, or if it does not fit. Each
 * page has at least one element, whatever its size; one that is partly there stays. */
static void page_window_close(struct page *page)
{
    struct page_window *window = &page->window;
    const size_t number = page->open[page->depth].number;
    const size_t kept = page->open[page->depth].kept;
    if (page->depth == 0 || window->bytes == 0)
        return;
    const bool is_single = window->opened == number; /* an object without lists: the first has it */
    const bool is_earlier = window->first > 0 && (is_single || window->opened <= window->first);
    const bool is_large =
        window->next == 0 && is_element(page) && kept > 0 && page->out.size > window->bytes;
    if (is_earlier || is_large) {
        page->out.size = page->open[page->depth].begin;
        window->kept = kept;
    } else if (is_element(page)) {
        window->kept++;
    }
    if (!is_earlier && is_large) {
        window->next = number;
        page->open[page->depth - 1].missing++;
    }
}

/* Adds how many elements of a list are left out, after the list. */
static void page_put_missing(struct page *page, uint64_t missing)
{
    _cleanup_(text_deinit) struct text key = {0};
    if (page->window.bytes == 0 || missing == 0 || page->depth == 0 || is_element(page))
        return;
    const struct g2h_bytes of = page->open[page->depth].key;
    text_append(&key, of.data, of.size);
    text_append_string(&key, "_left_out");
    page->out.failed |= key.failed;
    put_member(page, &(struct page_field){
                         .key = bytes_at(key.data, key.size), PAGE_COUNT, .number = missing});
}

/* Opens a list (is_list) or else an object of JSON. Nothing if the page is text, or if the limits,
 * the window or the wanted member (page->only) leave it out: page->skipped then counts how many
 * values inside of it are open, so that their ends match. */
static void open_value(struct page *page, struct g2h_bytes key, bool is_list)
{
    if (!page->is_json || page->depth >= PAGE_DEPTH)
        return;
    if (page->skipped > 0) {
        page->skipped++;
        return;
    }
    if (is_beyond(page)) {
        page_leave_out(page);
        return;
    }
    if (page->only && page->depth == 2 && !is_element(page) && !bytes_are(key, page->only)) {
        page->skipped = 1;
        return;
    }
    if (page->depth == 1) {
        page->member = key;
        page->member_begin = page->out.size;
        page->member_markup = 0;
    }
    page_window_open(page, key);
    put_key(page, key);
    text_append_string(&page->out, is_list ? "[" : "{");
    page->lists[page->depth] = is_list;
    page->elements[page->depth++] = 0;
}

/* Counts elements that the caller passed over as opened: the window begins after some. */
void page_pass(struct page *page, size_t count)
{
    page->window.opened += count;
}

/* Counts elements that were left out of the list that is open. */
void page_add_missing(struct page *page, size_t count)
{
    if (page->depth > 0)
        page->open[page->depth - 1].missing += count;
}

/* Passes over the next element of the list that was opened last, which contains no lists, if it is
 * not on the page: limits, or the end of the window, leave it out, or an earlier part has it.
 * Returns whether it did; otherwise the caller adds the element. */
static bool page_skip_element(struct page *page)
{
    if (!page->is_json || page->skipped > 0 || page->depth >= PAGE_DEPTH)
        return page->is_json;
    if (is_beyond(page)) {
        page_leave_out(page);
        page->skipped = 0; /* nothing is open that page_close() closes */
        return true;
    }
    if (page->window.bytes == 0 || page->window.opened >= page->window.first)
        return false;
    page->elements[page->depth - 1]++;
    page_pass(page, 1);
    return true;
}

void page_open(struct page *page, const char *key)
{
    open_value(page, page_key(key), false);
}

void page_open_list(struct page *page, const char *key)
{
    open_value(page, page_key(key), true);
}

/* Ends the object or list that was opened last; one that was left out has nothing to end. In JSON,
 * a list of which elements were left out is followed by how many, and the outermost object by a
 * newline. */
void page_close(struct page *page)
{
    if (page->skipped > 0) {
        page->skipped--;
        return;
    }
    if (page->is_json && page->depth > 0) {
        text_append_string(&page->out, page->lists[--page->depth] ? "]" : "}");
        page_window_close(page);
        page_put_missing(page, page->open[page->depth].missing);
    }
    if (page->is_json && page->depth == 0)
        text_append_string(&page->out, "\n");
}

/* ---- templates ---- */

/* Takes the next value of a template, which must be of this kind. */
static const struct page_value *take_value(const struct page_value **next,
                                           enum page_value_kind kind)
{
    (void)kind; /* without asserts */
    assert((*next)->kind == kind);
    return (*next)++;
}

/* Returns a number that it reads, or takes from the values if it is a star; 0 if it is neither. */
static size_t read_number(const char **at, const struct page_value **next)
{
    size_t number = 0;
    if (**at == '*') {
        ++*at;
        return (size_t)take_value(next, PAGE_VALUE_NUMBER)->number;
    }
    for (; **at >= '0' && **at <= '9'; ++*at)
        number = number * 10 + (size_t)(**at - '0');
    return number;
}

/* Reads a key up to the character after it. */
static struct g2h_bytes read_key(const char **at, char end)
{
    const char *begin = *at;
    const char *last = strchr(begin, end);
    assert(last);
    *at = last + 1;
    return bytes_between(begin, *at - 1);
}

/* Reads a field after its percent sign. Returns whether it is to be written; its values are taken
 * in any case. The parts, all optional but the letter: ? (written only if the next value is not 0),
 * # (bold), width, .precision, the letter of its kind, {key}. */
static bool read_field(const char **at, const struct page_value **next, struct page_field *ret)
{
    static const char kinds[] = "snbcdpaf"; /* as in enum page_kind */
    const bool is_there = **at != '?' || take_value(next, PAGE_VALUE_NUMBER)->number != 0;
    *ret = (struct page_field){.key = {0}};
    *at += **at == '?';
    ret->is_strong = **at == '#';
    *at += ret->is_strong;
    ret->width = (uint8_t)read_number(at, next);
    if (**at == '.') {
        ++*at;
        ret->most = read_number(at, next);
    }
    assert(**at && strchr(kinds, **at));
    ret->kind = (enum page_kind)(strchr(kinds, *(*at)++) - kinds);
    const struct page_value *value =
        take_value(next, ret->kind == PAGE_TEXT ? PAGE_VALUE_STRING : PAGE_VALUE_NUMBER);
    ret->number = value->number;
    ret->data = (const char *)value->text.data;
    ret->size = value->text.size;
    if (value->most > 0)
        ret->most = value->most;
    if (ret->kind == PAGE_PERCENT) {
        ret->whole = take_value(next, PAGE_VALUE_NUMBER)->number;
        ret->digits = (uint8_t)ret->most;
    }
    if (**at == '{') {
        ++*at;
        ret->key = read_key(at, '}');
    }
    if (ret->key.size == 1 && *ret->key.data == '*')
        ret->key = take_value(next, PAGE_VALUE_STRING)->text;
    return is_there;
}

/* Opens or closes what a bracket at the beginning of *at says. */
static void open_or_close(struct page *page, const char **at)
{
    const bool is_list = *(*at)++ == '[';
    const struct g2h_bytes key = read_key(at, is_list ? ']' : '>');
    if (key.size == 1 && *key.data == '/')
        page_close(page);
    else
        open_value(page, key, is_list);
}

/* Adds text and JSON to the page. A template says both what text and what JSON get: "%" begins a
 * field, "<" and "[" open an object or a list, and what is between two "|" is in JSON only. Unless
 * is_said, all of it is. */
void page_put(struct page *page, bool is_said, const struct page_value *values)
{
    const struct page_value *next = values + 1;
    bool is_text = is_said && !page->is_json;
    for (const char *at = (const char *)values->text.data; *at;) {
        struct page_field field;
        const size_t plain = strcspn(at, "%<[|");
        text_append(&page->out, at, is_text ? plain : 0);
        at += plain;
        if (*at == '%') {
            at++;
            if (!read_field(&at, &next, &field))
                continue;
            if (is_text)
                page_put_text(page, &field);
            else if (page->is_json && page->skipped == 0)
                put_member(page, &field);
        } else if (*at == '|') {
            is_text = is_said && !page->is_json && !is_text;
            at++;
        } else if (*at) {
            open_or_close(page, &at);
        }
    }
    assert(next->kind == PAGE_VALUES_END);
}

/* Reads the fields of a template that are there, with their values. Returns how many. */
static size_t page_read_fields(const struct page_value *values, struct page_field ret[PAGE_FIELDS])
{
    const struct page_value *next = values + 1;
    size_t count = 0;
    for (const char *at = (const char *)values->text.data; *at && count < PAGE_FIELDS;)
        if (*at++ == '%')
            count += read_field(&at, &next, &ret[count]);
    assert(next->kind == PAGE_VALUES_END);
    return count;
}

/* ---- both ---- */

/* Adds fields to JSON. */
static void page_put_data(struct page *page, const struct page_field *fields, size_t count)
{
    if (!page->is_json || page->skipped > 0) /* skipped: they are in what is left out */
        return;
    for (size_t i = 0; i < count; i++)
        put_member(page, &fields[i]);
}

/* Begins a page as the options want it. A width is at least LEAST and at most MOST columns; 0:
 * USUAL. JSON has no colours, and its lists end after `top` elements. */
void page_begin(const struct g2h_report_options *given, struct page *ret)
{
    enum { USUAL = 100, LEAST = 60, MOST = 400 };
    struct g2h_report_options known;
    const struct g2h_report_options *wanted = OPTIONS_COPY(&known, given);
    const unsigned columns = wanted->columns > 0 ? wanted->columns : USUAL;
    *ret = (struct page){.is_json = wanted->json,
                         .is_colored = wanted->color && !wanted->json,
                         .is_for_terminal = wanted->is_for_terminal && !wanted->json,
                         .top = wanted->top,
                         .limits.rows = wanted->json ? wanted->top : 0,
                         .columns = columns < LEAST ? LEAST : MIN(columns, MOST)};
}

void page_deinit(struct page *page)
{
    text_deinit(&page->out);
}

/* ==== rows in columns as wide as the page allows ==== */

/* Blanks between columns; and characters of the first column, however wide the others are. */
enum { GAP = 3, LEAST_FIRST = 20 };

/* Begins a table of at most `most` rows, but in JSON of all. A title may begin with "@" (an
 * address), ">" (a number) or "_" (on a line of its own below the row). */
void table_init(struct table *table, struct page *page, const char *key, const char *titles,
                size_t most)
{
    *table = (struct table){.page = page, .most = most};
    for (const char *at = titles; *at && table->count < TABLE_COLUMNS; table->count++) {
        struct table_column *column = &table->columns[table->count];
        column->is_address = *at == '@';
        table->is_by_content |= *at == '@';
        at += *at == '@';
        column->is_number = *at == '>';
        column->is_below = *at == '_';
        at += *at == '>' || *at == '_';
        const size_t size = strcspn(at, ",");
        column->title = bytes_at(at, size);
        at += size;
        at += *at == ',';
    }
    page_open_list(page, key);
}

/* Adds a cell to a row: a field as text, a middle dot for no change, or a string made to fit by the
 * column's own function. */
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

/* Returns whether the table has as many rows as text shows; JSON has all. */
static bool table_is_full(const struct table *table)
{
    return table->ends.count / table->count >= table->most;
}

/* Passes over the next row if it is not shown, so that it need not be formatted. Returns whether it
 * did. */
bool table_skip_row(struct table *table)
{
    return table->page->is_json ? page_skip_element(table->page) : table_is_full(table);
}

/* Adds a row to a table. In JSON a row is an object; in text its cells are kept until all widths
 * are known. */
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

/* Adds a row by a template like that of PUT: a field for each column, then those in JSON only. */
void table_put(struct table *table, const struct page_value *values)
{
    table_open(table, values);
    page_close(table->page);
}

/* Returns the text of a cell, by its number in the order in which cells were added. */
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
        widths[i] = table->columns[i].title.size;
    widths[0] = widths[0] > 2 ? widths[0] - 2 : 0; /* cells are indented */
    for (size_t i = 0; i < table->ends.count; i++) {
        size_t size;
        const char *data = cell(table, i, &size);
        const size_t width = page_characters(data, size);
        const size_t column = i % table->count;
        widths[column] = MAX(width, widths[column]);
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
 * column of words until all are about equally wide. Columns of numbers are never cut, words not
 * below LEAST characters: lines may remain too wide. */
static void fit_terminal(const struct table *table, size_t widths[TABLE_COLUMNS])
{
    enum { LEAST = 10 };
    const size_t columns = table->page->columns;
    for (size_t i = table->count; i-- > 1 && find_line(table, widths) > columns;)
        if (table->columns[i].is_address)
            widths[i] = 0;
    for (size_t line; (line = find_line(table, widths)) > columns;) {
        size_t widest = 0;
        size_t next = LEAST; /* the width of the next one, down to which this turn may cut */
        for (size_t i = 1; i < table->count; i++)
            if (!table->columns[i].is_number && widths[i] > widths[widest])
                widest = i;
        if (widths[widest] <= LEAST)
            return;
        for (size_t i = 0; i < table->count; i++)
            if (!table->columns[i].is_number && i != widest && widths[i] > next &&
                widths[i] < widths[widest])
                next = widths[i];
        const size_t over = line - columns;
        const size_t difference = widths[widest] > next ? widths[widest] - next : 1;
        widths[widest] -= MIN(difference, over);
    }
}

/* Sets the width of each column. The first one gets what the others leave, so that the numbers of
 * all tables line up; or, if only content counts, no more than its own widest cell. */
static void find_widths(const struct table *table, size_t widths[TABLE_COLUMNS])
{
    const size_t columns = table->page->columns;
    find_contents(table, widths);
    if (table->is_by_content && table->page->is_for_terminal) {
        fit_terminal(table, widths);
        return;
    }
    const size_t first = widths[0];
    const size_t others = find_line(table, widths) - first;
    widths[0] = columns > others + LEAST_FIRST ? columns - others : LEAST_FIRST;
    if (table->is_by_content && first < widths[0])
        widths[0] = first;
}

/* Writes a cell, numbers to the right and words to the left, with a gap before it. A column without
 * width, and an empty cell at the end of a line, are left out. */
static void put_cell(const struct table *table, size_t column, const size_t *widths, size_t width,
                     struct g2h_bytes data)
{
    const size_t count = page_characters(data.data, data.size);
    const size_t blanks = count < width ? width - count : 0;
    struct page *page = table->page;
    bool is_last = true; /* of those that are shown */
    for (size_t i = column + 1; i < table->count; i++)
        is_last &= widths[i] == 0;
    if ((data.size == 0 && is_last) || (column > 0 && widths[column] == 0))
        return;
    if (column > 0)
        page_blanks(page, GAP);
    if (table->columns[column].is_number)
        page_blanks(page, blanks);
    page_append_cell(page, data.data, data.size, width);
    if (!table->columns[column].is_number && !is_last)
        page_blanks(page, blanks);
}

/* Removes the blanks at the end of a line. */
static void end_line(struct page *page)
{
    while (page->out.size > 0 && page->out.data[page->out.size - 1] == ' ')
        page->out.size--;
}

/* Puts what is in a column that is below its row: the title and, clipped to LINES lines, the text;
 * nothing if it is empty. */
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
    text_append(&page->out, title.data, title.size);
    page_blanks(page, 2);
    page_append_cell(page, data.data, data.size, LINES * page->columns);
}

/* Puts the first cell of a row. If it is too wide, it has a line of its own on a terminal, or is
 * made to fit. */
static void put_first(const struct table *table, const size_t *widths, struct g2h_bytes data)
{
    struct page *page = table->page;
    _cleanup_(text_deinit) struct text fitting = {0};
    const size_t characters = page_characters(data.data, data.size);
    const bool is_alone = characters > widths[0] && table->has_long_names && page->is_for_terminal;
    const size_t most = is_alone ? page->columns - 2 : widths[0];
    if (characters > most && table->columns[0].fit) {
        table->columns[0].fit(&fitting, bytes_text(data), data.size, most);
        assert(page_characters(fitting.data, fitting.size) <= most);
        page->out.failed |= fitting.failed;
        data = report_bytes(fitting.data ? fitting.data : "", fitting.size);
    }
    if (is_alone) {
        page_append_cell(page, data.data, data.size, most);
        page_say(page, "\n  ");
        data.size = 0; /* the other cells are below it */
    }
    put_cell(table, 0, widths, widths[0], data);
}

/* Writes the titles of the columns; the first is highlighted, and begins two characters to the
 * left. */
static void put_titles(const struct table *table, const size_t *widths)
{
    page_say(table->page, "\n");
    for (size_t i = 0; i < table->count; i++) {
        const struct g2h_bytes title = table->columns[i].title;
        if (i == 0)
            page_begin_strong(table->page);
        put_cell(table, i, widths, widths[i] + (i == 0 ? 2 : 0),
                 title); /* rows are indented by 2 */
        if (i == 0)
            page_end_strong(table->page);
    }
}

/* Writes the table. Now that all widths are known, adds the titles and the rows. Nothing more in
 * JSON. */
struct g2h_error *table_end(struct table *table)
{
    struct page *page = table->page;
    size_t widths[TABLE_COLUMNS] = {0};
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
