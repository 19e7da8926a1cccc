/*
 * show_values: writes values for --show and --path-to; see sections.h. show.c finds what a query
 * names, and calls what writes that. The first part has the first lines about an object, a class or
 * a group, and who refers to it; the second tables of values, of the entries of a map, and the
 * contents of an object; the third the variables of a goroutine's frames, which a query may name.
 * To begin with: show_put_object(), which uses the first two, and show_put_goroutine().
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/heap.h>

#include "base/contract.h"
#include "base/error.h"
#include "findings/class_rows.h"
#include "findings/keys.h"
#include "findings/length.h"
#include "findings/lookup.h"
#include "findings/path.h"
#include "output/report/page.h"
#include "output/report/sections.h"

/* ==== the first lines about an object or a class, and who refers to it ==== */

/* Returns the class of an object, or the name of another node of the view. */
struct g2h_bytes report_name_of(const struct report *report, const struct g2h_node *node)
{
    size_t size;
    const char *name = findings_class_name(report->findings->view, node, &size);
    return report_bytes(name, size);
}

/* Reports how many bytes of pages could be freed without count objects: the objects of a class
 * (is_class: "without them"), or all that are shown as one node ("without all 12 like it"). Nothing
 * if the pages were not counted. */
static void put_pages_of(const struct report *report, const struct pages_sum *sum, uint64_t count,
                         bool is_class)
{
    if (!report->findings->pages.retained)
        return;
    PUT(report->page, "<pages>  pages       %b{bytes} could be freed without ", sum->bytes);
    if (is_class)
        page_say(report->page, count > 1 ? "them" : "it");
    else if (count > 1)
        PUT(report->page, "all %n like it", count);
    else
        page_say(report->page, "it");
    PUT(report->page, ", %b{free_slots} of that are free slots\n</>", sum->empty);
}

/* Writes the class, address, size and retained size; the share of the reachable bytes if it is 0.1
 * % or more; then what is special: an inner address, folded objects, garbage, pages. Leaves the
 * object of JSON open, for the caller to add to it and close it. */
void report_put_object(const struct report *report, uint32_t number, uint64_t offset)
{
    struct page *page = report->page;
    struct g2h_node node;
    g2h_view_brief(report->findings->view, number, &node);
    const uint64_t retained = g2h_dominators_retained_size(report->findings->dominators, number);
    const uint32_t number_of_it = g2h_dominators_number(report->findings->dominators, number);
    const bool is_garbage = findings_is_dead(report->findings->view, number);
    PUT(page, "<object>");
    page_head(page, "OBJECT");
    PUT(page, "   %#s{class} at %a{address}, %b{bytes} retains %b{retained}",
        report_name_of(report, &node), node.address, node.size, retained);
    if (!is_garbage && retained >= report->findings->reachable / 1000)
        PUT(page, " (%.1p)", retained, report->findings->reachable);
    PUT(page, "\n");
    if (offset > 0)
        PUT(page, "  the address is %n{offset} bytes into it\n", offset);
    if (node.members > 0)
        PUT(page, "  it is folded with others: %n{members} objects\n", node.members);
    PUT_IF(is_garbage, page,
           report_lacks_memory(report)
               ? "|%f{is_garbage}|  it looks like garbage, but a part of the heap may be missing\n"
               : "|%f{is_garbage}|  it is garbage: nothing that lives leads to it\n",
           is_garbage);
    const uint32_t merged = report->findings->merged.of[number_of_it];
    const struct pages_sum sum = pages_of(&report->findings->pages, merged);
    if (!is_garbage)
        put_pages_of(report, &sum, report_node(report, merged)->count, false);
}

/* Writes number, bytes and retained bytes, the garbage, which has no share of what is reachable,
 * and with a base how the number of live objects changed. What live ones retain, and the pages, are
 * summed over nodes that are in no other node of the class. Leaves the object of JSON open, for the
 * caller to add to it and close it. */
struct g2h_error *report_put_class(const struct report *report, uint32_t class, ranking *ret_nodes)
{
    static const char *const verbs[][2] = {{"are", "is"}, {"look like", "looks like"}};
    struct page *page = report->page;
    const struct g2h_bytes name = report_name(report, class);
    struct class_row row;
    struct pages_sum sum = {0};
    uint64_t alive = 0;
    TRY(class_rows_find_one(report->findings, report_node(report, class)->name, &row, ret_nodes));
    for (size_t i = 0; i < ret_nodes->count; i++) {
        const uint32_t node = ret_nodes->data[i].node;
        const struct pages_sum pages = pages_of(&report->findings->pages, node);
        if (report_node(report, node)->outermost == node &&
            !report_node(report, node)->is_garbage) {
            alive += report_node(report, node)->retained;
            sum.bytes += pages.bytes;
            sum.empty += pages.empty;
        }
    }
    const char *verb = verbs[report_lacks_memory(report)][row.garbage == 1];
    PUT(page, "<class>");
    page_head(page, "CLASS");
    PUT(page, "   %#s{class}: %n{objects} %s of %b{bytes} %s %b{retained}", name, row.count,
        row.count == 1 ? "object" : "objects", row.bytes, row.count == 1 ? "retains" : "retain",
        row.retained);
    if (row.garbage == 0)
        PUT(page, " (%.1p)", row.retained, report->findings->reachable);
    else if (row.garbage == row.count)
        PUT(page, "; %s %s garbage", row.count == 1 ? "it" : "all", verb);
    else
        PUT(page, "; %n %s garbage, the others retain %b (%.1p)", row.garbage, verb, alive, alive,
            report->findings->reachable);
    PUT(page, "|%n{garbage}", row.garbage);
    if (report->findings->base) {
        const struct growth_class before =
            growth_class_before(report->findings->base, (const char *)name.data, name.size);
        PUT(page, "; %c{objects_grown} since then", row.count - row.garbage - before.count);
    }
    PUT(page, "\n");
    put_pages_of(report, &sum, row.count, true);
    return NULL;
}

/* Appends the names of the nodes above a node, the uppermost first, without those that only group
 * roots, and without those further up than REPORT_ASKED_ROWS. */
void report_append_holders(const struct report *report, uint32_t node, struct text *text)
{
    uint32_t chain[REPORT_ASKED_ROWS];
    size_t count = 0;
    for (uint32_t i = report_node(report, node)->parent; i != MERGED_NONE;
         i = report_node(report, i)->parent)
        if (count < REPORT_ASKED_ROWS && report_node(report, i)->parent != MERGED_NONE &&
            !findings_is_kind(report->findings, i, G2H_NODE_GC_ROOTS) &&
            !findings_is_kind(report->findings, i, G2H_NODE_GLOBALS) &&
            !findings_is_kind(report->findings, i, G2H_NODE_GOROUTINES) &&
            !findings_is_kind(report->findings, i, G2H_NODE_SEVERAL))
            chain[count++] = i;
    while (count-- > 0) {
        const struct g2h_bytes name = report_name(report, chain[count]);
        text_append(text, name.data, name.size);
        text_append_string(text, count > 0 ? " › " : "");
    }
}

/* Shows a node that is not of objects. Below it is a table of the children by retained bytes, with
 * the address of an example if that is an object. */
struct g2h_error *report_put_group(const struct report *report, uint32_t node)
{
    struct page *page = report->page;
    _cleanup_vector_ ranking children = {0};
    _cleanup_(text_deinit) struct text holders = {0};
    _cleanup_(table_deinit) struct table table = {0};
    const uint64_t retained = report_node(report, node)->retained;
    PUT(page, "<group>");
    page_head(page, "GROUP");
    PUT(page, "   %#s{name} retains %b{retained}", report_name(report, node), retained);
    if (!report_node(report, node)->is_garbage && retained <= report->findings->reachable)
        PUT(page, " (%.1p)", retained, report->findings->reachable);
    PUT(page, "\n");
    report_append_holders(report, node, &holders);
    TRY_MEMORY(!holders.failed);
    if (holders.size > 0)
        PUT(page, "  below       %s{holders}\n", &holders);
    TRY(ranking_of_children(report->findings, node, &children));
    table_init(&table, page, "holds", "HOLDS,>objects,>retained,@one of them at",
               report_rows(report, REPORT_ASKED_ROWS));
    for (size_t i = 0; i < children.count; i++) {
        if (table_skip_row(&table))
            continue;
        const struct merged_node *child = report_node(report, children.data[i].node);
        struct g2h_node example;
        g2h_view_brief(report->findings->view, child->example, &example);
        TABLE_PUT(&table, "%s{name}%n{objects}%b{retained}%?a{address}",
                  report_name(report, children.data[i].node), child->count, child->retained,
                  example.object != UINT32_MAX, example.address);
    }
    TRY(table_end(&table));
    page_close(page);
    return NULL;
}

/* Writes a table with a row per class and field that refer to the node: how many times, and the
 * address of one. */
struct g2h_error *report_put_retainers(const struct report *report, struct g2h_edges *edges,
                                       uint32_t node)
{
    _cleanup_(table_deinit) struct table table = {0};
    _cleanup_(retainers_deinit) struct retainers retainers = {.list = {0}};
    table_init(&table, report->page, "referrers", "REFERRED TO BY,>times,@one of them at",
               report_rows(report, REPORT_ASKED_ROWS));
    TRY(retainers_find(report->findings, edges, node, &retainers));
    for (size_t i = 0; i < retainers.list.count; i++) {
        if (table_skip_row(&table))
            continue;
        const struct retainer *retainer = &retainers.list.data[i];
        struct g2h_node source;
        size_t size;
        const char *name = string_pool_text(&retainers.names, retainer->name, &size);
        g2h_view_brief(report->findings->view, retainer->node, &source);
        TABLE_PUT(&table, "%s{field}%n{times}%?a{address}", report_bytes(name, size),
                  retainer->count, source.object != UINT32_MAX, source.address);
    }
    return table_end(&table);
}

/* ==== tables of values, of the entries of a map, and the contents of an object ==== */

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
    const struct g2h_bytes target = report_made(&type);
    const struct g2h_bytes wanted = {pointer.data + 1, pointer.size - 1};
    const bool is_element = bytes_begin(target, "[]") && bytes_end_with(target, wanted);
    return !type.failed && !bytes_same(target, wanted) && !is_element &&
           !bytes_begin(wanted, "runtime.");
}

/* Finds what a value leads to: class, bytes, and address (unless the value's text is the address
 * itself); nothing if it leads nowhere. A variable that may be dead may lead to memory that has
 * been reused: then the class says so if it is another one. */
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
        page_append_clipped(&ret->class, class.data, class.size, SHOW_TYPE_WIDTH);
        if (show->is_doubtful && show_values_is_other(show, value, content))
            text_append_string(&ret->class, " (reused?)");
        text_append_bytes(&ret->bytes, node.size);
    }
    TRY_MEMORY(!ret->address.failed && !ret->class.failed && !ret->bytes.failed);
    return NULL;
}

/* Formats a struct or an array as its first MOST_PARTS values, {Name: "a", Count: 3}, which
 * replaces show->text. */
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
        if (count == MOST_PARTS) /* it is only counted, for the ellipsis */
            continue;
        text_printf(&parts, count > 0 ? ", " : "{");
        text_append(&parts, part.path, part.path_size);
        text_append_string(&parts, ": ");
        g2h_value_content(show->view, &part, &show->text, &content);
        text_append(&parts, show->text.data, show->text.size);
    }
    if (count == 0)
        text_printf(&parts, "{}");
    else
        text_printf(&parts, count > MOST_PARTS ? " …}" : "}");
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

/* Makes the name of a value in show->name: a path of fields and indexes, after show->prefix. */
static void show_values_make_name(struct show *show, const struct g2h_value *value)
{
    struct text *name = &show->name;
    name->size = 0;
    text_append(name, show->prefix, show->prefix_size);
    if (name->size > 0 && value->path_size > 0 && value->path[0] != '[')
        text_append_string(name, ".");
    text_append(name, value->path, value->path_size);
}

/* Adds a value's row to a table with SHOW_COLUMNS; base is the offset of the first value of the
 * location. Overwrites show->text, show->type and show->name. */
static struct g2h_error *show_put_value(struct show *show, struct table *table,
                                        const struct g2h_value *value, uint64_t base)
{
    _cleanup_(text_deinit) struct text text = {0}, offset = {0};
    _cleanup_(show_target_deinit) struct show_target target = {.class = {0}};
    struct g2h_content content;
    TRY(show_values_read(show, value, &content));
    append_value(show, value, &content, &text);
    TRY(show_values_find_target(show, value, &content, &target));
    text_printf(&offset, "+%" PRIu64, value->offset - base);
    show_values_make_name(show, value);
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

/* Adds the values in a location as a table: SHOW_VALUES at most in JSON, of which the text shows
 * SHOW_ROWS and says that there are others. */
struct g2h_error *show_put_values(struct show *show, const struct g2h_location *location)
{
    struct page *page = show->report->page;
    _cleanup_(table_deinit) struct table table = {0};
    struct g2h_value value;
    uint64_t count = 0;
    table_init(&table, page, "fields", SHOW_COLUMNS, SHOW_ROWS);
    g2h_values_begin_at(show->values, location);
    while (g2h_values_next(show->values, &value) && count++ < SHOW_VALUES)
        TRY(show_put_value(show, &table, &value, location->base));
    TRY(table_end(&table));
    if (count > SHOW_ROWS)
        page_say(page, count > SHOW_VALUES ? "  and more than 900 others\n" : "  and others\n");
    static_assert(SHOW_VALUES - SHOW_ROWS == 900, "the text above says so");
    if (count > SHOW_VALUES)
        PUT(page, "|%f{is_cut}", true);
    return NULL;
}

/* ---- parts of variables and objects ---- */

/* Writes the values below a part's path, SHOW_VALUES at most. They follow each other, so the first
 * one that is not below it ends the table. */
static struct g2h_error *show_put_part_values(struct show *show, const struct variable_part *part)
{
    struct page *page = show->report->page;
    _cleanup_(table_deinit) struct table table = {0};
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
        value.path_size = rest.size > 0 ? rest.size : strlen(whole);
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

/* Shows name, type and size of a part. The name counts as that of a variable if the part is the
 * whole of a location outside of objects. The type and the value are left out if they are not
 * known, the value also if texts are hidden. */
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

/* Reports a part of a variable or an object, with its values, as "variable". */
struct g2h_error *show_put_part(struct show *show, const struct variable_part *part)
{
    page_open(show->report->page, "variable");
    TRY(show_put_part_head(show->report, part));
    TRY(show_put_part_values(show, part));
    page_close(show->report->page);
    return NULL;
}

/* ---- entries of maps ---- */

/* Writes the row of an entry: key, value, and what the value leads to. */
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

/* Shows a map: how many entries it has by its own count, how many of them are in the dump, and the
 * first ones by key. */
static struct g2h_error *put_entries(struct show *show, const struct g2h_location *map)
{
    struct page *page = show->report->page;
    _cleanup_(table_deinit) struct table table = {0};
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

/* Reports size, padding and slot of an object; nothing if its layout is not known. */
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

/* Shows a string and its length; nothing if the view is redacted. */
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

/* Reports an object: its values, entries or text, if its type is known, and what refers to it. */
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

/* Returns the address of the object that a variable points to, or 0 if it is no pointer, or points
 * to none. */
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

/* ==== the variables of a goroutine's frames, by their names ====
 *
 * DWARF says which variables are in memory at the frame's program counter. Without it, a frame has
 * no variables.
 */

/* A goroutine that is asked for, and which of its variables. */
struct asked_goroutine {
    uint64_t number;             /* goid */
    const char *function, *name; /* of function_size and name_size bytes; none: any, all */
    size_t function_size, name_size;
};

/* Leaves out the blanks at both ends of a string. */
static void show_locals_trim(const char **text, size_t *size)
{
    for (; *size > 0 && **text == ' '; ++*text)
        --*size;
    while (*size > 0 && (*text)[*size - 1] == ' ')
        --*size;
}

/* Reads "goroutine 17", also with the state that reports print after it, "goroutine 17 · v" and
 * "goroutine 17 · main.serve · v"; a colon may replace the dot. Returns false if the query has none
 * of these forms. */
static bool show_locals_read_goroutine(const char *asked, struct asked_goroutine *ret)
{
    static const char word[] = "goroutine ";
    static const char dot[] = "·";
    char *end;
    *ret = (struct asked_goroutine){.name = ""};
    if (strncmp(asked, word, strlen(word)) != 0 || asked[strlen(word)] < '0' ||
        asked[strlen(word)] > '9')
        return false;
    ret->number = strtoull(asked + strlen(word), &end, 10);
    const char *at = end;
    at += strspn(at, " ");
    if (*at == ':')
        at++;
    else if (strncmp(at, dot, strlen(dot)) == 0)
        at += strlen(dot);
    else
        return *at == '\0' || *at == '['; /* the state, in brackets */
    const char *second_dot = strstr(at, dot);
    if (second_dot) {
        ret->function = at;
        ret->function_size = as_size(second_dot - at);
        show_locals_trim(&ret->function, &ret->function_size);
        at = second_dot + strlen(dot);
    }
    ret->name = at;
    ret->name_size = strlen(at);
    show_locals_trim(&ret->name, &ret->name_size);
    return ret->name_size > 0;
}

/* A frame whose variables are shown. */
struct shown_frame {
    size_t number, caller; /* caller: SIZE_MAX: none */
    const char *name;      /* size bytes: main.serve server.go:80 */
    size_t size;
};

/* A function of a frame: an inlined one, or the frame's own. */
struct shown_call {
    const struct shown_frame *frame;
    struct g2h_view_call call;
    bool is_last; /* it has the variables of functions that are not among the frame's, too */
};

/* Returns a frame of a goroutine by its index from the innermost one, which is 0. */
static struct shown_frame frame_at(const struct show *show,
                                   const struct g2h_view_goroutine *goroutine, size_t index)
{
    struct shown_frame ret = {.number = goroutine->first_frame + index};
    struct g2h_view_frame frame;
    ret.caller = index + 1 < goroutine->frame_count ? ret.number + 1 : SIZE_MAX;
    g2h_view_frame(show->view, ret.number, &frame);
    ret.name = findings_name_of(show->view, frame.node, &ret.size);
    return ret;
}

static bool show_locals_is_text(const char *one, size_t size, const char *other, size_t other_size)
{
    return size == other_size && memcmp(one, other, size) == 0;
}

/* Returns whether a variable has a name. One that has escaped to the heap is &name in DWARF. */
static bool show_locals_is_called(const struct g2h_local *local,
                                  const struct asked_goroutine *asked)
{
    const bool has_escaped = local->name_size > 0 && local->name[0] == '&' && asked->name[0] != '&';
    return show_locals_is_text(local->name + has_escaped, local->name_size - has_escaped,
                               asked->name, asked->name_size);
}

/* Finds the goroutine with a number. Returns false if there is none. */
static bool find_goroutine(const struct show *show, uint64_t number, struct g2h_view_goroutine *ret,
                           size_t *ret_index)
{
    for (size_t i = 0; i < g2h_view_goroutine_count(show->view); i++) {
        struct g2h_node node;
        g2h_view_goroutine(show->view, i, ret);
        g2h_view_brief(show->view, ret->node, &node);
        *ret_index = i;
        if (node.kind == G2H_NODE_GOROUTINE && node.key == number)
            return true;
    }
    return false;
}

/* Finds a variable by its name, in the innermost frame that has one of that name in memory. Returns
 * false if there is none. asked may name the function as well, with or without its line. */
static bool show_locals_find(const struct show *show, const struct asked_goroutine *asked,
                             const struct g2h_view_goroutine *goroutine,
                             struct shown_frame *ret_frame, struct g2h_local *ret)
{
    for (size_t i = 0; i < goroutine->frame_count; i++) {
        const struct shown_frame frame = frame_at(show, goroutine, i);
        const size_t function = expression_without_line(frame.name, frame.size);
        const bool is_asked =
            asked->function_size == 0 ||
            show_locals_is_text(frame.name, frame.size, asked->function, asked->function_size) ||
            show_locals_is_text(frame.name, function, asked->function, asked->function_size);
        for (uint32_t j = 0; g2h_view_local(show->view, frame.number, frame.caller, j, ret); j++)
            if (ret->is_there && show_locals_is_called(ret, asked) &&
                (is_asked || show_locals_is_text(ret->function, ret->function_size, asked->function,
                                                 asked->function_size))) {
                *ret_frame = frame;
                return true;
            }
    }
    return false;
}

/* Shows a variable of a frame: its type, address, size, whether it may be dead, and its values. */
static struct g2h_error *show_locals_put(struct show *show, uint64_t goroutine,
                                         const struct shown_frame *frame,
                                         const struct g2h_local *local)
{
    _cleanup_(text_deinit) struct text number = {0};
    struct page *page = show->report->page;
    show->type.size = 0;
    g2h_location_type(show->view, &local->location, &show->type);
    TRY_MEMORY(!show->type.failed);
    page_open(page, "variable");
    page_head(page, "LOCAL");
    PUT(page, "   %#s{name} of type %s{type} at %a{address}, %n{bytes} B\n",
        report_bytes(local->name, local->name_size), report_made(&show->type),
        local->location.address, local->location.bytes.size);
    text_append_number(&number, goroutine);
    TRY_MEMORY(!number.failed);
    PUT(page, "  of %s{of}, goroutine %s\n|%n{goroutine}", report_bytes(frame->name, frame->size),
        &number, goroutine);
    if (local->is_doubtful) {
        PUT(page, "|%f{is_doubtful}", true);
        page_say(page, "  it may be dead: its pointers are not among those that are alive\n");
    }
    show->is_doubtful = local->is_doubtful;
    struct g2h_error *error = show_put_values(show, &local->location);
    show->is_doubtful = false;
    TRY(error);
    page_close(page);
    return NULL;
}

/* Returns whether a variable belongs to a function that is inlined in a frame. */
static bool show_locals_is_of(const struct g2h_local *local, const struct g2h_view_call *call)
{
    return show_locals_is_text(local->function, local->function_size,
                               (const char *)call->function.data, call->function.size);
}

/* Returns whether a variable is shown below a function of a frame, which may have several: inlined
 * ones come before the function that they are inlined in (the last). A variable is shown below its
 * own function; without one, or if that is not in the frame, below the last. Variables that the
 * compiler made are not shown. */
static bool show_locals_is_below(const struct show *show, const struct shown_call *shown,
                                 const struct g2h_local *local)
{
    struct g2h_view_call call;
    if (local->is_made)
        return false;
    if (local->function_size == 0 || show_locals_is_of(local, &shown->call))
        return local->function_size > 0 || !shown->call.is_inlined || shown->is_last;
    for (uint32_t i = 0;
         shown->is_last && g2h_view_call(show->view, shown->frame->number, i, &call); i++)
        if (!call.is_wrapper && show_locals_is_of(local, &call))
            return false;
    return shown->is_last;
}

/* Adds the values of a variable as rows of its frame's table. *left is how many more the table
 * takes. A variable of an inlined function has that function's name after its own, unless the row
 * is about that call; a question mark after the name says that the value is doubtful. One that is
 * not in memory has a row that says so. */
static struct g2h_error *put_row_of_local(struct show *show, struct table *table,
                                          const struct shown_call *shown,
                                          const struct g2h_local *local, uint64_t *left)
{
    _cleanup_(text_deinit) struct text name = {0};
    struct g2h_value value;
    text_append(&name, local->name, local->name_size);
    if (local->function_size > 0 && !show_locals_is_of(local, &shown->call)) {
        text_printf(&name, " (inlined ");
        text_append(&name, local->function, local->function_size);
        text_append_string(&name, ")");
    }
    if (local->is_doubtful)
        text_append_string(&name, "?");
    TRY_MEMORY(!name.failed);
    show->prefix = name.data;
    show->prefix_size = name.size;
    show->is_doubtful = local->is_doubtful;
    struct g2h_error *error = NULL;
    if (local->is_there) {
        g2h_values_begin_at(show->values, &local->location);
        while (!error && *left > 0 && g2h_values_next(show->values, &value)) {
            error = show_put_value(show, table, &value, 0);
            --*left;
        }
    } else {
        TABLE_PUT(table, "%s{name}%s%s%s%s", &name, "", "(not in memory as a whole)", "", "");
    }
    show->prefix_size = 0;
    show->is_doubtful = false;
    return error;
}

/* Reports a function of a frame, and its variables: SHOW_VALUES values of them at most, and none if
 * texts are hidden. */
static struct g2h_error *show_locals_put_call(struct show *show, const struct shown_call *shown)
{
    struct page *page = show->report->page;
    const struct shown_frame *frame = shown->frame;
    _cleanup_(table_deinit) struct table table = {0};
    struct g2h_local local;
    uint64_t left = SHOW_VALUES;
    show->text.size = 0;
    g2h_view_call_text(show->view, &shown->call, &show->text);
    TRY_MEMORY(!show->text.failed);
    page_open(page, NULL);
    PUT(page, "\n%#s{function}", report_made(&show->text));
    PUT_IF(shown->call.is_inlined && !shown->is_last, page, " (inlined)|%f{is_inlined}",
           shown->call.is_inlined);
    PUT(page, "\n");
    if (shown->call.line > 0)
        PUT(page, "|%s{file}%n{line}", shown->call.file, shown->call.line);
    table_init(&table, page, "fields", SHOW_COLUMNS, SHOW_ROWS);
    for (uint32_t i = 0; left > 0 && !page->hides_texts &&
                         g2h_view_local(show->view, frame->number, frame->caller, i, &local);
         i++)
        if (show_locals_is_below(show, shown, &local))
            TRY(put_row_of_local(show, &table, shown, &local, &left));
    TRY(table_end(&table));
    page_close(page);
    return NULL;
}

/* Reports the functions of a frame, the innermost first, but those that the compiler has made. */
static struct g2h_error *show_locals_put_frame(struct show *show, const struct shown_frame *frame)
{
    struct shown_call shown = {.frame = frame};
    uint32_t last = UINT32_MAX, count = 0;
    for (; g2h_view_call(show->view, frame->number, count, &shown.call); count++)
        last = shown.call.is_wrapper ? last : count;
    for (uint32_t i = 0; i < count; i++) {
        g2h_view_call(show->view, frame->number, i, &shown.call);
        shown.is_last = last == UINT32_MAX ? i + 1 == count : i == last;
        if (!shown.call.is_wrapper || shown.is_last)
            TRY(show_locals_put_call(show, &shown));
    }
    return NULL;
}

/* Adds a label of a goroutine to JSON, and to a line. */
struct shown_labels {
    struct page *page;
    struct text text;
};

/* Adds a label to the list in JSON, and to the line of text. Always returns true: the visit goes
 * on. */
static bool show_locals_put_label(void *context, const struct g2h_label *label)
{
    struct shown_labels *labels = context;
    PUT(labels->page, "|<>%s{key}%s{value}</>", report_bytes(label->key, label->key_size),
        report_bytes(label->value, label->value_size));
    text_append_string(&labels->text, labels->text.size > 0 ? ", " : "");
    text_append(&labels->text, label->key, label->key_size);
    text_append_string(&labels->text, "=");
    text_append(&labels->text, label->value, label->value_size);
    return true;
}

/* Reports the labels that the program has set on a goroutine for its profiles; none if texts are
 * hidden (--redact). */
static struct g2h_error *show_locals_put_labels(const struct show *show, size_t goroutine)
{
    struct shown_labels labels = {.page = show->report->page};
    if (labels.page->hides_texts)
        return NULL;
    page_open_list(labels.page, "labels");
    struct g2h_error *error =
        g2h_view_labels(show->view, goroutine, show_locals_put_label, &labels);
    page_close(labels.page);
    if (labels.text.size > 0)
        PUT(labels.page, "  labels      %.*s\n", 2 * labels.page->columns, &labels.text);
    text_deinit(&labels.text);
    return error;
}

/* Reports the go statement that has started a goroutine, and the goroutine that was in it, if its
 * number (parent) is not 0; nothing if the statement is not known. */
static struct g2h_error *show_locals_put_start(const struct show *show, uint32_t node,
                                               uint64_t parent)
{
    _cleanup_(text_deinit) struct text site = {0}, number = {0};
    _cleanup_(findings_destroy_edges) struct g2h_edges *edges = NULL;
    TRY(g2h_edges_create(show->view, &edges));
    findings_append_targets(show->report->findings, edges, node, NULL, G2H_NODE_CREATION_SITE,
                            &site);
    text_append_number(&number, parent);
    TRY_MEMORY(!site.failed && !number.failed);
    if (site.size == 0)
        return NULL;
    PUT(show->report->page, "  started by  %s{started_by}", &site);
    if (parent != 0)
        PUT(show->report->page, ", in goroutine %s|%n{parent}|", &number, parent);
    PUT(show->report->page, "\n");
    return NULL;
}

/* Shows a goroutine: who started it, its labels, and its frames with their variables. */
static struct g2h_error *show_locals_put_goroutine(struct show *show, uint64_t number, size_t index,
                                                   const struct g2h_view_goroutine *goroutine)
{
    struct page *page = show->report->page;
    size_t size;
    const char *name = findings_name_of(show->view, goroutine->node, &size);
    page_open(page, "goroutine");
    page_head(page, "GOROUTINE");
    PUT(page, "   %#s{name}\n|%n{number}", report_bytes(name, size), number);
    TRY(show_locals_put_start(show, goroutine->node, goroutine->parent));
    TRY(show_locals_put_labels(show, index));
    page_open_list(page, "frames");
    for (size_t i = 0; i < goroutine->frame_count; i++) {
        const struct shown_frame frame = frame_at(show, goroutine, i);
        TRY(show_locals_put_frame(show, &frame));
    }
    page_close(page);
    page_close(page);
    return NULL;
}

/* Returns whether a query is about a goroutine, or one of its variables. */
bool show_is_of_goroutine(const char *asked)
{
    struct asked_goroutine ignored;
    return show_locals_read_goroutine(asked, &ignored);
}

/* Finds the variable that a name begins with: v of v.items[3]. Since a variable's name may have
 * dots itself, the whole is tried as one first, then each beginning of it that is before a "." or
 * "[". Returns the size of the variable's name; 0: there is none. */
static size_t show_locals_find_begin(const struct show *show, const struct asked_goroutine *asked,
                                     const struct g2h_view_goroutine *goroutine,
                                     struct shown_frame *ret_frame, struct g2h_local *ret)
{
    struct asked_goroutine part = *asked;
    if (show_locals_find(show, &part, goroutine, ret_frame, ret))
        return asked->name_size;
    for (size_t i = 1; i < asked->name_size; i++) {
        part.name_size = i;
        if ((asked->name[i] == '.' || asked->name[i] == '[') &&
            show_locals_find(show, &part, goroutine, ret_frame, ret))
            return i;
    }
    return 0;
}

/* Shows the field or the element of a variable, whose name are the first variable_size bytes of
 * what is asked for: an object, if the field leads to one. */
static struct g2h_error *show_locals_put_field(struct show *show,
                                               const struct asked_goroutine *asked,
                                               size_t variable_size, const struct g2h_local *local)
{
    _cleanup_(text_deinit) struct text name = {0}, steps = {0};
    _cleanup_(lookup_deinit) struct lookup lookup = {.node = UINT32_MAX};
    text_append(&name, asked->name, variable_size);
    text_append(&name, "", 1);
    text_append(&steps, asked->name + variable_size, asked->name_size - variable_size);
    text_append(&steps, "", 1);
    TRY_MEMORY(!name.failed && !steps.failed);
    TRY(lookup_from(show->report->findings, &local->location, name.data, steps.data, &lookup));
    return lookup.kind == LOOKUP_PART
               ? show_put_part(show, &lookup.part)
               : show_put_object(show, lookup.node, lookup.address, lookup.offset);
}

/* Shows the variables of a goroutine, or one of them. The query is a goroutine, "12", or a variable
 * of it, "12 v", or a field of that, "12 v.items[3]". A variable that leads to an object is shown
 * as that object. Errors: G2H_ERROR_NOT_FOUND: there is no such goroutine or variable. */
struct g2h_error *show_put_goroutine(struct show *show, const char *text)
{
    struct asked_goroutine asked;
    struct g2h_view_goroutine goroutine;
    struct shown_frame frame;
    struct g2h_local local;
    _cleanup_(lookup_deinit) struct lookup lookup = {.node = UINT32_MAX};
    char address[sizeof("0x0123456789abcdef")];
    size_t index;
    show_locals_read_goroutine(text, &asked);
    if (!find_goroutine(show, asked.number, &goroutine, &index))
        return error_create(G2H_ERROR_NOT_FOUND, "'%s': there is no such goroutine", text);
    if (asked.name_size == 0)
        return show_locals_put_goroutine(show, asked.number, index, &goroutine);
    const size_t variable_size = show_locals_find_begin(show, &asked, &goroutine, &frame, &local);
    if (variable_size == 0)
        return error_create(G2H_ERROR_NOT_FOUND,
                            "'%s': the goroutine has no such variable in memory; 'goroutine %llu' "
                            "shows those that it has",
                            text, (unsigned long long)asked.number);
    if (variable_size < asked.name_size)
        return show_locals_put_field(show, &asked, variable_size, &local);
    const uint64_t target = show_leads_to(show, &local.location);
    if (target == 0)
        return show_locals_put(show, asked.number, &frame, &local);
    snprintf(address, sizeof(address), "0x%llx", (unsigned long long)target);
    TRY(lookup_find(show->report->findings, address, &lookup));
    return show_put_object(show, lookup.node, lookup.address, lookup.offset);
}
