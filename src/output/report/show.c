/*
 * show: what is in an object or a variable, and how values are spread over the objects of a class;
 * see sections.h.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/heap.h>
#include <go2heapsnapshot/values.h>

#include "base/scope.h"
#include "findings/class_rows.h"
#include "findings/distribution.h"
#include "findings/entries.h"
#include "findings/lookup.h"
#include "output/report/sections.h"
#include "output/report/table.h"

enum {
    MOST_VALUES = 1000, /* of an object, of which further ones are left out; */
    MOST_SHOWN = 100,   /* in text */
    VALUE_WIDTH = 48,   /* characters in text */
    TYPE_WIDTH = 28,
    LABEL_WIDTH = 32,
    MOST_PARTS = 16, /* values of a struct that is the key or the value of an entry */
};

struct show {
    const struct report *report;
    const struct g2h_view *view;
    struct g2h_values *values;
    struct g2h_text text, type;
};

static struct page_field made(const char *key, const struct g2h_text *text)
{
    return page_text(key, text->data, text->size);
}

/* ---- values ---- */

/* Returns the node that an address leads to; UINT32_MAX: none. */
static uint32_t node_at(const struct show *show, uint64_t address, struct g2h_node *ret)
{
    uint32_t object;
    if (!g2h_heap_find(g2h_view_heap(show->view), address, &object))
        return UINT32_MAX;
    const uint32_t number = g2h_view_object(show->view, object);
    if (number != UINT32_MAX)
        g2h_view_brief(show->view, number, ret);
    return number;
}

/* Appends what a value leads to, "0xc000012000  main.T  48 B"; the address only if it is not the
 * value, which show->text has. */
static void append_target(const struct show *show, const struct g2h_value *value,
                          const struct g2h_content *content, struct text *text)
{
    const bool is_said = value->kind == G2H_VALUE_POINTER && show->text.size > 2 &&
                         memcmp(show->text.data, "0x", 2) == 0;
    struct g2h_node node;
    if (content->target == 0)
        return;
    if (!is_said)
        text_printf(text, "0x%" PRIx64 "  ", content->target);
    if (node_at(show, content->target, &node) == UINT32_MAX)
        return;
    const struct page_field class =
        page_clipped(report_name_of(show->report, NULL, &node), TYPE_WIDTH),
                            bytes = page_bytes(NULL, node.size);
    page_append(text, &class);
    text_append(text, "  ", 2);
    page_append(text, &bytes);
}

/* Writes a struct or an array as its first values, {Name: "a", Count: 3}, in place of what
 * show->text has. */
static struct g2h_error *read_parts(struct show *show, const struct g2h_value *value)
{
    _cleanup_(text_deinit) struct text parts = {0};
    struct g2h_location location;
    struct g2h_value part;
    struct g2h_content content;
    size_t count = 0;
    g2h_location_of_value(value, &location);
    g2h_values_begin_at(show->values, &location);
    for (; g2h_values_next(show->values, &part) && count <= MOST_PARTS; count++) {
        if (count == MOST_PARTS)
            continue;
        text_printf(&parts, count > 0 ? ", " : "{");
        text_append(&parts, part.path, part.path_size);
        text_append(&parts, ": ", 2);
        g2h_value_content(show->view, &part, &show->text, &content);
        text_append(&parts, show->text.data, show->text.size);
    }
    text_printf(&parts, count == 0 ? "{}" : count > MOST_PARTS ? " …}" : "}");
    TRY_MEMORY(!parts.failed && !show->text.failed);
    g2h_text_deinit(&show->text);
    show->text = (struct g2h_text){parts.data, parts.size, parts.capacity, false};
    parts = (struct text){.data = NULL};
    return NULL;
}

/* Reads a value into show->text and show->type. */
static struct g2h_error *read_value(struct show *show, const struct g2h_value *value,
                                    struct g2h_content *ret)
{
    g2h_value_content(show->view, value, &show->text, ret);
    show->type.size = 0;
    g2h_value_type(show->view, value, false, &show->type);
    TRY_MEMORY(!show->text.failed && !show->type.failed);
    return value->kind == G2H_VALUE_OTHER && !g2h_view_is_redacted(show->view)
               ? read_parts(show, value)
               : NULL;
}

/* Puts what there is to say of a value besides its text: in JSON only. */
static void put_content(const struct show *show, const struct g2h_content *content)
{
    struct page *page = show->report->page;
    struct g2h_node node;
    if (!g2h_view_is_redacted(show->view))
        PAGE_DATA(page, made("value", &show->text));
    if (content->has_length)
        PAGE_DATA(page, page_count("length", content->length),
                  page_count("capacity", content->capacity));
    if (content->is_nil)
        PAGE_DATA(page, page_flag("is_nil", true));
    if (content->target != 0)
        PAGE_DATA(page, page_address("target", content->target));
    if (content->target != 0 && node_at(show, content->target, &node) != UINT32_MAX)
        PAGE_DATA(page, report_name_of(show->report, "target_class", &node),
                  page_bytes("target_bytes", node.size));
}

/* Appends a value as text: cut, a string's length behind it if it is. */
static void append_value(const struct show *show, const struct g2h_value *value,
                         const struct g2h_content *content, struct text *text)
{
    page_append_clipped(text, show->text.data, show->text.size, VALUE_WIDTH);
    if (value->kind == G2H_VALUE_STRING && content->has_length &&
        page_characters(show->text.data, show->text.size) > VALUE_WIDTH)
        text_printf(text, " (%" PRIu64 ")", content->length);
}

static struct g2h_error *put_value(struct show *show, struct table *table,
                                   const struct g2h_value *value, uint64_t base)
{
    _cleanup_(text_deinit) struct text text = {0}, target = {0}, offset = {0};
    struct g2h_content content;
    TRY(read_value(show, value, &content));
    append_value(show, value, &content, &text);
    append_target(show, value, &content, &target);
    text_printf(&offset, "+%" PRIu64, value->offset - base);
    TRY_MEMORY(!text.failed && !target.failed && !offset.failed);
    const struct page_field fields[] = {
        page_text("name", value->path, value->path_size),
        page_clipped(made("type", &show->type), TYPE_WIDTH),
        page_made(NULL, &text),
        page_made(NULL, &offset),
        page_made(NULL, &target),
        page_count("offset", value->offset - base),
        page_count("size", value->size),
    };
    table_open_row(table, fields, sizeof(fields) / sizeof(*fields));
    put_content(show, &content);
    page_close(show->report->page);
    return NULL;
}

/* Puts the values in a location. */
static struct g2h_error *put_values(struct show *show, const struct g2h_location *location)
{
    static const struct table_column columns[] = {
        {"FIELD", false}, {"type", false}, {"value", false}, {"offset", true}, {"leads to", false}};
    struct page *page = show->report->page;
    _cleanup_(table_deinit) struct table table;
    struct g2h_value value;
    uint64_t count = 0;
    table_init(&table, page, "fields", columns, 5, MOST_SHOWN);
    g2h_values_begin_at(show->values, location);
    while (g2h_values_next(show->values, &value) && count++ < MOST_VALUES)
        TRY(put_value(show, &table, &value, location->base));
    TRY(table_end(&table));
    if (count > MOST_SHOWN)
        page_say(page, count > MOST_VALUES ? "  and more than 900 others\n" : "  and others\n");
    if (count > MOST_VALUES)
        PAGE_DATA(page, page_flag("is_cut", true));
    return NULL;
}

/* ---- entries of maps ---- */

static struct g2h_error *put_entry(struct show *show, struct table *table,
                                   const struct g2h_entry *entry)
{
    _cleanup_(text_deinit) struct text key = {0}, key_text = {0}, elem = {0}, target = {0};
    struct g2h_content content;
    TRY(read_value(show, &entry->key, &content));
    append_value(show, &entry->key, &content, &key);
    text_append(&key_text, show->text.data, show->text.size);
    TRY(read_value(show, &entry->elem, &content));
    append_value(show, &entry->elem, &content, &elem);
    append_target(show, &entry->elem, &content, &target);
    TRY_MEMORY(!key.failed && !key_text.failed && !elem.failed && !target.failed);
    const struct page_field fields[] = {
        page_made(NULL, &key),       page_clipped(made("type", &show->type), TYPE_WIDTH),
        page_made(NULL, &elem),      page_made(NULL, &target),
        page_made("key", &key_text),
    };
    table_open_row(table, fields, g2h_view_is_redacted(show->view) ? 4 : 5);
    put_content(show, &content);
    page_close(show->report->page);
    return NULL;
}

static struct g2h_error *put_entries(struct show *show, const struct g2h_location *map)
{
    static const struct table_column columns[] = {
        {"KEY", false}, {"type", false}, {"value", false}, {"leads to", false}};
    struct page *page = show->report->page;
    _cleanup_(table_deinit) struct table table;
    struct entries entries;
    TRY(entries_find(show->view, map, &entries));
    if (!g2h_view_is_redacted(show->view))
        PAGE_PUT(page, entries.count == 1 ? "  % entry\n" : "  % entries\n",
                 page_count("entry_count", entries.count));
    table_init(&table, page, "entries", columns, 4, ENTRIES_FIRST);
    for (size_t i = 0; i < entries.shown; i++)
        TRY(put_entry(show, &table, &entries.first[i]));
    TRY(table_end(&table));
    if (entries.count > entries.shown && !g2h_view_is_redacted(show->view))
        PAGE_PUT(page, "  % more\n", page_count(NULL, entries.count - entries.shown));
    return NULL;
}

/* ---- an object, a variable ---- */

static struct g2h_error *put_layout(const struct show *show, uint32_t object)
{
    struct page *page = show->report->page;
    struct g2h_layouts *layouts;
    struct g2h_layout layout;
    TRY(g2h_layouts_create(show->view, &layouts));
    if (g2h_layouts_find(layouts, object, &layout) && layout.size > 0) {
        const struct g2h_layout_class class = g2h_layouts_class(layouts, layout.number);
        PAGE_PUT(page, "  size % B, padding % B, slot % B\n", page_count("size", layout.size),
                 page_count("padding", class.padding), page_count("slot", layout.slot));
    }
    g2h_layouts_destroy(layouts);
    return NULL;
}

static struct g2h_error *put_text(struct show *show, uint32_t number)
{
    struct page *page = show->report->page;
    size_t size;
    const char *text = g2h_view_text(show->view, number, &show->text, &size);
    TRY_MEMORY(!show->text.failed);
    if (g2h_view_is_redacted(show->view))
        return NULL;
    PAGE_PUT(page, "  % bytes of text: %\n",
             page_count("length", g2h_view_text_size(show->view, number)),
             page_text("value", text, size));
    return NULL;
}

static struct g2h_error *put_object(struct show *show, uint32_t number, uint64_t address,
                                    uint64_t offset)
{
    const struct report *report = show->report;
    struct g2h_location location;
    struct g2h_node node;
    uint32_t object;
    g2h_view_brief(show->view, number, &node);
    report_put_object(report, number, offset);
    if (node.kind == G2H_NODE_TEXT && node.members == 0)
        TRY(put_text(show, number));
    else if (!g2h_heap_find(g2h_view_heap(show->view), address, &object) ||
             !g2h_location_of_object(show->view, object, &location))
        page_say(report->page, "  its type is not known as a whole, so there are no values\n");
    else if (g2h_location_is_map(show->view, &location))
        TRY(put_entries(show, &location));
    else {
        TRY(put_values(show, &location));
        TRY(put_layout(show, object));
    }
    TRY(report_put_retainers(report, paths_edges(report->findings->paths), number));
    page_close(report->page);
    return NULL;
}

static struct g2h_error *put_variable(struct show *show, const char *name,
                                      const struct g2h_location *location)
{
    struct page *page = show->report->page;
    show->type.size = 0;
    g2h_location_type(show->view, location, &show->type);
    TRY_MEMORY(!show->type.failed);
    page_open(page, "variable");
    page_head(page, "VARIABLE");
    PAGE_PUT(page, "   % of type % at %, % B\n", page_strong(page_words("name", name)),
             made("type", &show->type), page_address("address", location->address),
             page_count("bytes", location->bytes.size));
    TRY(put_values(show, location));
    page_close(page);
    return NULL;
}

/* ---- a class ---- */

/* Puts a number that occurs, under a key. */
static struct g2h_error *put_sample(struct show *show, const struct field_distribution *field,
                                    const char *key, const struct sample *sample, struct text *text)
{
    struct g2h_value value = field->value;
    struct g2h_content content;
    show->text.size = 0;
    if (sample->data) {
        value.data = sample->data;
        g2h_value_content(show->view, &value, &show->text, &content);
        TRY_MEMORY(!show->text.failed);
        PAGE_DATA(show->report->page, made(key, &show->text));
        text_append(text, show->text.data, show->text.size);
    } else {
        PAGE_DATA(show->report->page, page_count(key, sample->order));
        text_append_grouped(text, sample->order);
    }
    return NULL;
}

/* Puts how many different values there are. */
static void put_distinct(const struct show *show, const struct tally *tally, struct text *text)
{
    PAGE_DATA(show->report->page, page_count("distinct", tally->counts.count),
              page_flag("is_distinct_at_least", tally->others > 0));
    if (text->size > 0)
        text_append(text, "; ", 2);
    text_printf(text, tally->others > 0 ? "at least " : "");
    text_append_grouped(text, tally->counts.count);
    text_printf(text, " distinct");
}

/* Puts least, median and largest of numbers: "1 … 17 … 42", or "1" if all are equal; "1 … ~17 … 42"
 * if there are so many that the median is that of a sample. */
static struct g2h_error *put_numbers(struct show *show, const struct field_distribution *field,
                                     struct numbers *numbers, struct text *text)
{
    const size_t before = text->size;
    TRY(put_sample(show, field, "min", &numbers->least, text));
    const size_t behind = text->size;
    text_append(text, " … ", strlen(" … "));
    if (numbers->count > DISTRIBUTION_SAMPLE)
        text_append(text, "~", 1); /* of a sample */
    TRY(put_sample(show, field, "median", numbers_median(numbers), text));
    text_append(text, " … ", strlen(" … "));
    TRY(put_sample(show, field, "max", &numbers->most, text));
    if (!text->failed && numbers->least.order == numbers->most.order && before < behind)
        text->size = behind; /* they are all the same */
    return NULL;
}

static struct g2h_error *put_lengths_of(struct show *show, const struct field_distribution *field,
                                        const char *key, const char *title, struct numbers *numbers,
                                        struct text *text)
{
    if (numbers->count == 0)
        return NULL;
    text_printf(text, "%s%s ", text->size > 0 ? "; " : "", title);
    page_open(show->report->page, key);
    TRY(put_numbers(show, field, numbers, text));
    page_close(show->report->page);
    return NULL;
}

static void put_top(const struct show *show, const struct tally *tally, struct text *text)
{
    struct page *page = show->report->page;
    uint32_t top[TALLY_TOP];
    const size_t count = tally_top(tally, top);
    page_open_list(page, "top");
    for (size_t i = 0; i < count; i++) {
        size_t size;
        const char *value = string_pool_text(&tally->texts, top[i], &size);
        const uint64_t times = tally->counts.data[top[i]];
        const bool is_said = times > 1 || tally->counts.count <= TALLY_TOP;
        page_open(page, NULL);
        PAGE_DATA(page, page_text("value", value, size), page_count("count", times));
        page_close(page);
        if (!is_said)
            continue; /* nearly all are different */
        text_printf(text, text->size > 0 ? ", " : "");
        page_append_clipped(text, value, size, VALUE_WIDTH);
        text_append(text, " ", 1);
        text_append_grouped(text, times);
    }
    page_close(page);
}

static void append_share(struct text *text, const char *what, uint64_t part, uint64_t whole)
{
    text_printf(text, "%s%s in ", text->size > 0 ? "; " : "", what);
    text_append_grouped(text, part);
    text_printf(text, " of ");
    text_append_grouped(text, whole);
}

/* Puts how the values of a field are spread, in JSON and as text. */
static struct g2h_error *put_spread(struct show *show, struct field_distribution *field,
                                    struct text *text)
{
    struct page *page = show->report->page;
    const enum g2h_value_kind kind = field->value.kind;
    if (g2h_view_is_redacted(show->view))
        return NULL;
    if (kind == G2H_VALUE_BOOL) {
        PAGE_DATA(page, page_count("true", field->trues));
        append_share(text, "true", field->trues, field->count);
    }
    if (field->numbers.count > 0) {
        TRY(put_numbers(show, field, &field->numbers, text));
        put_distinct(show, &field->numbers.tally, text);
    }
    if (kind == G2H_VALUE_POINTER || kind == G2H_VALUE_INTERFACE || kind == G2H_VALUE_SLICE) {
        PAGE_DATA(page, page_count("nil", field->nils));
        append_share(text, "nil", field->nils, field->count);
    }
    if (field->texts.counts.count > 0) {
        put_top(show, &field->texts, text);
        put_distinct(show, &field->texts, text);
    }
    TRY(put_lengths_of(show, field, "lengths", "len", &field->lengths, text));
    return put_lengths_of(show, field, "capacities", "cap", &field->capacities, text);
}

/* Appends a text and blanks up to a width. */
static void append_padded(struct text *text, const struct g2h_bytes *words, size_t width)
{
    const char *data = (const char *)words->data;
    const size_t count = page_characters(data, (size_t)words->size);
    page_append_clipped(text, data, (size_t)words->size, width);
    for (size_t i = count < width ? count : width; i < width + 2; i++)
        text_append(text, " ", 1);
}

static struct g2h_bytes name_of(const struct distribution *distribution, uint32_t name)
{
    size_t size;
    const char *text = string_pool_text(&distribution->names, name, &size);
    return (struct g2h_bytes){(const uint8_t *)text, size};
}

/* Returns the width of the widest text, or the most that is shown. */
static size_t wider(struct g2h_bytes words, size_t width, size_t most)
{
    const size_t count = page_characters((const char *)words.data, (size_t)words.size);
    return count < width ? width : count < most ? count : most;
}

static struct g2h_error *put_fields(struct show *show, struct distribution *distribution)
{
    struct page *page = show->report->page;
    size_t names = 0, types = 0;
    for (size_t i = 0; i < distribution->fields.count; i++) {
        const struct field_distribution *field = &distribution->fields.data[i];
        names = wider(name_of(distribution, field->path), names, LABEL_WIDTH);
        types = wider(name_of(distribution, field->type), types, TYPE_WIDTH);
    }
    page_open_list(page, "fields");
    for (size_t i = 0; i < distribution->fields.count; i++) {
        struct field_distribution *field = &distribution->fields.data[i];
        const struct g2h_bytes name = name_of(distribution, field->path),
                               type = name_of(distribution, field->type);
        _cleanup_(text_deinit) struct text line = {0}, spread = {0};
        append_padded(&line, &name, names);
        append_padded(&line, &type, types);
        page_open(page, NULL);
        PAGE_DATA(page, page_text("name", (const char *)name.data, (size_t)name.size),
                  page_text("type", (const char *)type.data, (size_t)type.size),
                  page_count("offset", field->value.offset), page_count("size", field->value.size),
                  page_count("objects", field->count));
        TRY(put_spread(show, field, &spread));
        page_close(page);
        text_append(&line, spread.data, spread.size);
        TRY_MEMORY(!line.failed && !spread.failed);
        PAGE_PUT(page, "  %\n", page_made(NULL, &line));
    }
    page_close(page);
    return NULL;
}

static struct g2h_error *put_class(struct show *show, const struct lookup *lookup)
{
    const struct report *report = show->report;
    const uint32_t name = report_node(report, lookup->class)->name;
    _cleanup_(ranking_deinit) ranking nodes = {0};
    _cleanup_(distribution_deinit) struct distribution distribution = {.objects = 0};
    TRY(report_put_class(report, lookup->class, &nodes));
    TRY(distribution_find(report->findings, name, &distribution));
    PAGE_DATA(report->page, page_count("counted", distribution.objects));
    if (distribution.objects > 0 && distribution.others > 0)
        PAGE_PUT(report->page,
                 "  % others have another type, or one that is not known as a whole\n",
                 page_count("others", distribution.others));
    if (distribution.objects > 0)
        TRY(put_fields(show, &distribution));
    if (distribution.is_cut)
        PAGE_PUT(report->page, "  and more fields\n", page_flag("is_cut", true));
    page_close(report->page);
    if (distribution.objects > 0)
        return NULL;
    struct g2h_node example;
    g2h_view_brief(show->view, report_node(report, lookup->class)->example, &example);
    const uint32_t largest = class_rows_find_largest(
        report->findings, example.kind == G2H_NODE_TEXT ? UINT32_MAX : name);
    if (largest == UINT32_MAX)
        return NULL;
    g2h_view_brief(show->view, largest, &example);
    return put_object(show, largest, example.address, 0);
}

/* ---- what is asked for ---- */

/* Returns whether a variable is a pointer to an object, which is shown instead of it. */
static bool leads_to_object(struct show *show, const struct g2h_location *location)
{
    struct g2h_value value;
    struct g2h_content content;
    uint32_t object;
    g2h_values_begin_at(show->values, location);
    if (!g2h_values_next(show->values, &value) || value.path_size > 0 ||
        value.kind != G2H_VALUE_POINTER)
        return false;
    g2h_value_content(show->view, &value, &show->text, &content);
    return content.target != 0 && g2h_heap_find(g2h_view_heap(show->view), content.target, &object);
}

static void show_deinit(struct show *show)
{
    g2h_values_destroy(show->values);
    g2h_text_deinit(&show->text);
    g2h_text_deinit(&show->type);
}

struct g2h_error *report_put_shown(const struct report *report, const char *asked)
{
    _cleanup_(show_deinit) struct show show = {.report = report, .view = report->findings->view};
    struct g2h_location location;
    struct lookup lookup;
    if (!g2h_view_is_typed(show.view))
        return error_create(G2H_ERROR_NOT_FOUND,
                            "without types there are no values to show: --exe gives them");
    TRY(g2h_values_create(show.view, &show.values));
    const enum g2h_variable found = g2h_location_of_variable(show.view, asked, &location);
    if (found == G2H_VARIABLE_NOT_IN_DUMP)
        return error_create(G2H_ERROR_NOT_FOUND,
                            "'%s' is not in the dump: Go writes only those variables that may "
                            "have pointers in them",
                            asked);
    if (found == G2H_VARIABLE_FOUND && !leads_to_object(&show, &location))
        return put_variable(&show, asked, &location);
    TRY(lookup_find(report->findings, asked, &lookup));
    return lookup.is_class ? put_class(&show, &lookup)
                           : put_object(&show, lookup.node, lookup.address, lookup.offset);
}
