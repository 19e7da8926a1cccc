/*
 * show_values: tables of values, of the entries of a map, and the contents of an object; see
 * show.h.
 */
#include <inttypes.h>
#include <string.h>

#include <go2heapsnapshot/heap.h>

#include "base/scope.h"
#include "findings/keys.h"
#include "findings/length.h"
#include "output/report/show.h"

enum { MOST_PARTS = 16 /* values of a struct that is the key or the value of an entry */ };

/* ---- values ---- */

/* Returns the node that an address leads to; UINT32_MAX: none. */
static uint32_t show_values_node_at(const struct show *show, uint64_t address, struct g2h_node *ret)
{
    uint32_t object;
    if (!g2h_heap_find(g2h_view_heap(show->view), address, &object))
        return UINT32_MAX;
    const uint32_t number = g2h_view_object(show->view, object);
    if (number != UINT32_MAX)
        g2h_view_brief(show->view, number, ret);
    return number;
}

/* What a value leads to, as words. */
struct show_target {
    struct text class, bytes, address; /* address: none if it is the value, which show->text has */
};

static void show_target_deinit(struct show_target *target)
{
    text_deinit(&target->class);
    text_deinit(&target->bytes);
    text_deinit(&target->address);
}

/* Returns whether a pointer leads to the beginning of an object of another type: if the program
 * does not use the pointer any more, the memory has been reused, unless that type begins with the
 * pointer's. show->type has the pointer's type. */
static bool show_values_is_other(const struct show *show, const struct g2h_value *value,
                                 const struct g2h_content *content)
{
    _cleanup_(g2h_text_deinit) struct g2h_text type = {0};
    const struct g2h_bytes pointer = report_made(&show->type);
    struct g2h_location location;
    uint32_t object;
    if (value->kind != G2H_VALUE_POINTER || pointer.size < 2 || pointer.data[0] != '*' ||
        !g2h_heap_find(g2h_view_heap(show->view), content->target, &object) ||
        content->target != g2h_heap_address(g2h_view_heap(show->view), object) ||
        !g2h_location_of_object(show->view, object, &location))
        return false;
    g2h_location_type(show->view, &location, &type);
    const struct g2h_bytes target = report_made(&type),
                           wanted = {pointer.data + 1, pointer.size - 1};
    return !type.failed && !bytes_same(target, wanted) &&
           !(bytes_begin(target, "[]") && bytes_end_with(target, wanted)) &&
           !bytes_begin(wanted, "runtime.");
}

static struct g2h_error *show_values_find_target(const struct show *show,
                                                 const struct g2h_value *value,
                                                 const struct g2h_content *content,
                                                 struct show_target *ret)
{
    const bool is_said = value->kind == G2H_VALUE_POINTER && show->text.size > 2 &&
                         memcmp(show->text.data, "0x", 2) == 0;
    struct g2h_node node;
    if (content->target == 0)
        return NULL;
    if (!is_said)
        text_printf(&ret->address, "0x%" PRIx64, content->target);
    if (show_values_node_at(show, content->target, &node) != UINT32_MAX) {
        const struct g2h_bytes class = report_name_of(show->report, &node);
        page_append_clipped(&ret->class, (const char *)class.data, (size_t) class.size,
                            SHOW_TYPE_WIDTH);
        if (show->is_doubtful && show_values_is_other(show, value, content))
            text_append_string(&ret->class, " (reused?)");
        text_append_bytes(&ret->bytes, node.size);
    }
    TRY_MEMORY(!ret->address.failed && !ret->class.failed && !ret->bytes.failed);
    return NULL;
}

/* Formats a struct or an array as its first values, {Name: "a", Count: 3}, and replaces
 * show->text. */
static struct g2h_error *show_values_read_parts(struct show *show, const struct g2h_value *value)
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
        text_append_string(&parts, ": ");
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
static struct g2h_error *show_values_read(struct show *show, const struct g2h_value *value,
                                          struct g2h_content *ret)
{
    g2h_value_content(show->view, value, &show->text, ret);
    show->type.size = 0;
    g2h_value_type(show->view, value, false, &show->type);
    TRY_MEMORY(!show->text.failed && !show->type.failed);
    return value->kind == G2H_VALUE_OTHER && !g2h_view_is_redacted(show->view)
               ? show_values_read_parts(show, value)
               : NULL;
}

/* Adds what is known of a value besides its text: in JSON only. */
static void put_content(const struct show *show, const struct g2h_content *content)
{
    struct page *page = show->report->page;
    struct g2h_node node;
    PUT(page, "|%?s{value}%?n{length}%?n{capacity}%?f{is_nil}%?a{target}",
        !g2h_view_is_redacted(show->view), report_made(&show->text), content->has_length,
        content->length, content->has_length, content->capacity, content->is_nil, true,
        content->target != 0, content->target);
    if (content->target != 0 && show_values_node_at(show, content->target, &node) != UINT32_MAX)
        PUT(page, "|%s{target_class}%b{target_bytes}", report_name_of(show->report, &node),
            node.size);
}

/* Appends a value: cut, and followed by the length if it is a string that was cut. */
static void append_value(const struct show *show, const struct g2h_value *value,
                         const struct g2h_content *content, struct text *text)
{
    page_append_clipped(text, show->text.data, show->text.size, SHOW_VALUE_WIDTH);
    if (value->kind == G2H_VALUE_STRING && content->has_length &&
        page_characters(show->text.data, show->text.size) > SHOW_VALUE_WIDTH)
        text_printf(text, " (%" PRIu64 ")", content->length);
}

/* Formats the name of a value in show->name. */
static void show_values_append_name(struct show *show, const struct g2h_value *value)
{
    struct text *name = &show->name;
    name->size = 0;
    text_append(name, show->prefix, show->prefix_size);
    if (name->size > 0 && value->path_size > 0 && value->path[0] != '[')
        text_append_string(name, ".");
    text_append(name, value->path, value->path_size);
}

struct g2h_error *show_put_value(struct show *show, struct table *table,
                                 const struct g2h_value *value, uint64_t base)
{
    _cleanup_(text_deinit) struct text text = {0}, offset = {0};
    _cleanup_(show_target_deinit) struct show_target target = {.class = {0}};
    struct g2h_content content;
    TRY(show_values_read(show, value, &content));
    append_value(show, value, &content, &text);
    TRY(show_values_find_target(show, value, &content, &target));
    text_printf(&offset, "+%" PRIu64, value->offset - base);
    show_values_append_name(show, value);
    TRY_MEMORY(!text.failed && !offset.failed && !show->name.failed);
    TABLE_OPEN(table, "%s{name}%.*s{type}%s%s%s%s%s|%n{offset}%n{size}", &show->name,
               SHOW_TYPE_WIDTH, report_made(&show->type), &text, &offset, &target.class,
               &target.bytes, &target.address, value->offset - base, value->size);
    put_content(show, &content);
    if (show->is_doubtful && show_values_is_other(show, value, &content))
        PUT(show->report->page, "|%f{is_reused}", true);
    page_close(show->report->page);
    return NULL;
}

/* Adds the values in a location. */
struct g2h_error *show_put_values(struct show *show, const struct g2h_location *location)
{
    struct page *page = show->report->page;
    _cleanup_(table_deinit) struct table table;
    struct g2h_value value;
    uint64_t count = 0;
    table_init(&table, page, "fields", SHOW_COLUMNS, SHOW_ROWS);
    g2h_values_begin_at(show->values, location);
    while (g2h_values_next(show->values, &value) && count++ < SHOW_VALUES)
        TRY(show_put_value(show, &table, &value, location->base));
    TRY(table_end(&table));
    if (count > SHOW_ROWS)
        page_say(page, count > SHOW_VALUES ? "  and more than 900 others\n" : "  and others\n");
    if (count > SHOW_VALUES)
        PUT(page, "|%f{is_cut}", true);
    return NULL;
}

/* ---- parts of variables and objects ---- */

static struct g2h_error *show_put_part_values(struct show *show, const struct variable_part *part)
{
    struct page *page = show->report->page;
    _cleanup_(table_deinit) struct table table;
    struct g2h_value value;
    struct g2h_bytes rest;
    uint64_t count = 0;
    table_init(&table, page, "fields", SHOW_COLUMNS, SHOW_ROWS);
    g2h_values_begin_at(show->values, &part->location);
    while (count < SHOW_VALUES && g2h_values_next(show->values, &value)) {
        if (!variable_part_has(part, &value, &rest)) {
            if (count > 0)
                break;
            continue;
        }
        static const char whole[] = "(value)";
        value.path = rest.size > 0 ? (const char *)rest.data : whole;
        value.path_size = rest.size > 0 ? (size_t)rest.size : strlen(whole);
        count++;
        TRY(show_put_value(show, &table, &value, part->offset));
    }
    TRY(table_end(&table));
    if (count > SHOW_ROWS)
        page_say(page, "  and others\n");
    if (count == SHOW_VALUES)
        PUT(page, "|%f{is_cut}", true);
    return NULL;
}

struct g2h_error *show_put_part_head(const struct report *report, const struct variable_part *part)
{
    const struct g2h_view *view = report->findings->view;
    const bool is_variable = part->location.object == UINT32_MAX && part->path.size == 0;
    _cleanup_(g2h_text_deinit) struct g2h_text type = {0}, shown = {0};
    struct g2h_content content = {.is_nil = false};
    struct page *page = report->page;
    if (part->is_value)
        g2h_value_type(view, &part->value, false, &type);
    else if (part->path.size == 0)
        g2h_location_type(view, &part->location, &type);
    if (part->is_value)
        g2h_value_content(view, &part->value, &shown, &content);
    TRY_MEMORY(!type.failed && !shown.failed);
    page_head(page, is_variable ? "VARIABLE" : "VALUE");
    PUT(page, "   %#s{name}", &part->name);
    if (type.size > 0)
        PUT(page, " of type %s{type}", report_made(&type));
    if (part->location.address != 0)
        PUT(page, " at address %a{address}", part->location.address + part->offset);
    PUT(page, ", %n{bytes} B", part->size);
    if (shown.size > 0 && !page->hides_texts)
        PUT(page, ": %.*s{value}", SHOW_VALUE_WIDTH, report_made(&shown));
    PUT(page, "\n");
    return NULL;
}

struct g2h_error *show_put_part(struct show *show, const struct variable_part *part)
{
    page_open(show->report->page, "variable");
    TRY(show_put_part_head(show->report, part));
    TRY(show_put_part_values(show, part));
    page_close(show->report->page);
    return NULL;
}

/* ---- entries of maps ---- */

static struct g2h_error *put_entry(struct show *show, struct table *table,
                                   const struct g2h_entry *entry)
{
    _cleanup_(text_deinit) struct text key = {0}, key_text = {0}, elem = {0};
    _cleanup_(show_target_deinit) struct show_target target = {.class = {0}};
    struct g2h_content content;
    TRY(show_values_read(show, &entry->key, &content));
    append_value(show, &entry->key, &content, &key);
    text_append(&key_text, show->text.data, show->text.size);
    TRY(show_values_read(show, &entry->elem, &content));
    append_value(show, &entry->elem, &content, &elem);
    TRY(show_values_find_target(show, &entry->elem, &content, &target));
    TRY_MEMORY(!key.failed && !key_text.failed && !elem.failed);
    TABLE_OPEN(table, "%s%.*s{type}%s%s%s%s|%?s{key}", &key, SHOW_TYPE_WIDTH,
               report_made(&show->type), &elem, &target.class, &target.bytes, &target.address,
               !g2h_view_is_redacted(show->view), &key_text);
    put_content(show, &content);
    page_close(show->report->page);
    return NULL;
}

static struct g2h_error *put_entries(struct show *show, const struct g2h_location *map)
{
    struct page *page = show->report->page;
    _cleanup_(table_deinit) struct table table;
    struct entries entries;
    TRY(entries_find(show->view, map, &entries));
    uint64_t all;
    if (!entries_length(show->view, show->values, map, &all) || all < entries.count)
        all = entries.count;
    if (!g2h_view_is_redacted(show->view)) {
        PUT(page, all == 1 ? "  %n{entry_count} entry" : "  %n{entry_count} entries", all);
        if (all > entries.count)
            PUT(page, "; %n{entries_in_dump} of them in the dump", entries.count);
        PUT(page, "\n");
    }
    table_init(&table, page, "entries", "KEY,type,value,leads to,>bytes,@at", ENTRIES_FIRST);
    for (size_t i = 0; i < entries.shown; i++)
        TRY(put_entry(show, &table, &entries.first[i]));
    TRY(table_end(&table));
    if (all > entries.shown && !g2h_view_is_redacted(show->view))
        PUT(page, "  %n more\n", all - entries.shown);
    return NULL;
}

/* ---- an object ---- */

static struct g2h_error *show_values_put_layout(const struct show *show, uint32_t object)
{
    struct page *page = show->report->page;
    struct g2h_layouts *layouts;
    struct g2h_layout layout;
    TRY(g2h_layouts_create(show->view, &layouts));
    if (g2h_layouts_find(layouts, object, &layout) && layout.size > 0) {
        const struct g2h_layout_class class = g2h_layouts_class(layouts, layout.number);
        PUT(page, "  size %n{size} B, padding %n{padding} B, slot %n{slot} B\n", layout.size,
            class.padding, layout.slot);
    }
    g2h_layouts_destroy(layouts);
    return NULL;
}

static struct g2h_error *show_values_put_text(struct show *show, uint32_t number)
{
    struct page *page = show->report->page;
    size_t size;
    const char *text = g2h_view_text(show->view, number, &show->text, &size);
    TRY_MEMORY(!show->text.failed);
    if (g2h_view_is_redacted(show->view))
        return NULL;
    PUT(page, "  %n{length} bytes of text: %s{value}\n", g2h_view_text_size(show->view, number),
        report_bytes(text, size));
    return NULL;
}

struct g2h_error *show_put_object(struct show *show, uint32_t number, uint64_t address,
                                  uint64_t offset)
{
    const struct report *report = show->report;
    struct g2h_location location;
    struct g2h_node node;
    uint32_t object;
    g2h_view_brief(show->view, number, &node);
    report_put_object(report, number, offset);
    if (node.kind == G2H_NODE_TEXT && node.members == 0)
        TRY(show_values_put_text(show, number));
    else if (!g2h_heap_find(g2h_view_heap(show->view), address, &object) ||
             !g2h_location_of_object(show->view, object, &location))
        page_say(report->page, "  its type is not known as a whole, so there are no values\n");
    else if (g2h_location_is_map(show->view, &location))
        TRY(put_entries(show, &location));
    else {
        TRY(show_put_values(show, &location));
        TRY(show_values_put_layout(show, object));
    }
    TRY(report_put_retainers(report, paths_edges(report->findings->paths), number));
    page_close(report->page);
    return NULL;
}

uint64_t show_leads_to(struct show *show, const struct g2h_location *location)
{
    struct g2h_value value;
    struct g2h_content content;
    uint32_t object;
    g2h_values_begin_at(show->values, location);
    if (!g2h_values_next(show->values, &value) || value.path_size > 0 ||
        value.kind != G2H_VALUE_POINTER)
        return 0;
    g2h_value_content(show->view, &value, &show->text, &content);
    return g2h_heap_find(g2h_view_heap(show->view), content.target, &object) ? content.target : 0;
}
