/*
 * remote: values and nodes as RemoteObjects; see remote.h.
 *
 * A member is shown by its description. Only objects that have parts get an objectId. Arrays of the
 * heap are not "array" here: the front end asks for the elements of those by JavaScript.
 */
#include "inspect/remote.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "findings/length.h"
#include "inspect/json_write.h"

enum {
    PARTS_SHOWN = 4,      /* of a struct, in its description; */
    PART_CHARACTERS = 24, /* of each part */
    TEXT_BYTES = 10000    /* of a string */
};

/* ---- members ---- */

static void append_member(struct text *text, const char *name, const char *words, size_t size)
{
    text_printf(text, ",\"%s\":", name);
    json_write(text, words, size);
}

static struct g2h_error *append_id(const struct taken *taken, const struct remote_place *place,
                                   struct text *text)
{
    _cleanup_(text_deinit) struct text id = {0};
    place_append(taken, place, &id);
    TRY_MEMORY(!id.failed);
    append_member(text, "objectId", id.data, id.size);
    return NULL;
}

/* Appends an object with a class and a description; place is NULL if it has no parts. */
static struct g2h_error *remote_append_object(const struct taken *taken,
                                              const struct remote_place *place,
                                              const struct text *class,
                                              const struct text *description, struct text *text)
{
    TRY_MEMORY(!class->failed && !description->failed);
    text_append_string(text, "{\"type\":\"object\"");
    append_member(text, "className", class->data, class->size);
    append_member(text, "description", description->data, description->size);
    if (place)
        TRY(append_id(taken, place, text));
    text_append_string(text, "}");
    return NULL;
}

static void append_plain(struct text *text, const char *type, const char *words, size_t size)
{
    text_printf(text, "{\"type\":\"%s\",\"value\":", type);
    json_write(text, words, size);
    text_append_string(text, "}");
}

/* ---- what values lead to ---- */

static uint32_t node_at(const struct taken *taken, uint64_t address)
{
    uint32_t object;
    return address != 0 && g2h_heap_find(taken->made.heap, address, &object)
               ? g2h_view_object(taken->made.view, object)
               : UINT32_MAX;
}

static void read_content(struct taken *taken, const struct g2h_value *value, struct text *text,
                         struct g2h_content *ret)
{
    struct g2h_text made = {0};
    g2h_value_content(taken->made.view, value, &made, ret);
    text->failed = text->failed || made.failed;
    text_append(text, made.data, made.size);
    g2h_text_deinit(&made);
}

static void append_type(const struct taken *taken, const struct g2h_value *value, bool is_dynamic,
                        struct text *text)
{
    struct g2h_text made = {0};
    g2h_value_type(taken->made.view, value, is_dynamic, &made);
    text->failed = text->failed || made.failed;
    text_append(text, made.data, made.size);
    g2h_text_deinit(&made);
}

/* Appends the class of an object, or the name of another node. */
static void append_class(const struct taken *taken, uint32_t number, struct text *text)
{
    struct g2h_node node;
    size_t size;
    g2h_view_brief(taken->made.view, number, &node);
    const char *name = g2h_view_name(taken->made.view, node.name, &size);
    if (node.kind == G2H_NODE_TEXT)
        text_append_string(text, "string");
    else if (size == 0)
        text_append_string(text, "(root)");
    else
        text_append(text, name, size);
}

static bool is_bytes(const struct g2h_value *value)
{
    static const char *const names[] = {"[]uint8", "[]byte"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (value->type_size == strlen(names[i]) &&
            memcmp(value->type, names[i], value->type_size) == 0)
            return true;
    return false;
}

/* Gets the location of the whole object that a node is. */
static bool location_of_node(const struct taken *taken, uint32_t number, struct g2h_location *ret)
{
    struct g2h_node node;
    g2h_view_brief(taken->made.view, number, &node);
    return node.object != UINT32_MAX && g2h_location_of_object(taken->made.view, node.object, ret);
}

static void place_of_node(const struct taken *taken, uint32_t node, struct remote_place *ret)
{
    struct g2h_location location;
    *ret = (struct remote_place){.kind = PLACE_NODE, .node = node};
    if (location_of_node(taken, node, &location))
        ret->kind = PLACE_OBJECT;
}

uint32_t remote_node(struct taken *taken, const struct remote *remote)
{
    _cleanup_(text_deinit) struct text text = {0};
    struct g2h_content content;
    if (remote->kind == REMOTE_NODE)
        return remote->node;
    if (remote->kind == REMOTE_PARTS)
        return remote->place.kind == PLACE_OBJECT || remote->place.kind == PLACE_NODE
                   ? remote->place.node
                   : UINT32_MAX;
    if (remote->kind != REMOTE_VALUE)
        return UINT32_MAX;
    read_content(taken, &remote->value, &text, &content);
    return node_at(taken, content.target);
}

bool remote_place(struct taken *taken, const struct remote *remote, struct remote_place *ret)
{
    _cleanup_(text_deinit) struct text text = {0};
    struct g2h_content content;
    *ret = remote->place;
    if (remote->kind == REMOTE_NODE) {
        struct g2h_node node;
        g2h_view_brief(taken->made.view, remote->node, &node);
        place_of_node(taken, remote->node, ret);
        if (node.kind == G2H_NODE_PACKAGE)
            ret->kind = PLACE_PACKAGE;
        return node.kind != G2H_NODE_TEXT;
    }
    if (remote->kind != REMOTE_VALUE)
        return remote->kind == REMOTE_PARTS;
    if (remote->value.kind == G2H_VALUE_OTHER)
        return true;
    read_content(taken, &remote->value, &text, &content);
    const uint32_t node = node_at(taken, content.target);
    if (node == UINT32_MAX)
        return false;
    switch (remote->value.kind) {
    case G2H_VALUE_SLICE:
        *ret = (struct remote_place){
            .kind = PLACE_SLICE, .first = content.target, .second = content.length};
        return !is_bytes(&remote->value) && !g2h_view_is_redacted(taken->made.view);
    case G2H_VALUE_POINTER:
    case G2H_VALUE_INTERFACE:
        place_of_node(taken, node, ret);
        return true;
    default:
        return false;
    }
}

bool remote_length(struct taken *taken, const struct remote *remote, uint64_t *ret)
{
    _cleanup_(text_deinit) struct text text = {0};
    struct g2h_content content;
    struct g2h_location location;
    if (remote->kind == REMOTE_VALUE) {
        read_content(taken, &remote->value, &text, &content);
        *ret = content.is_nil ? 0 : content.length;
        return content.has_length || content.is_nil;
    }
    if (remote->kind != REMOTE_NODE)
        return false;
    struct g2h_node node;
    g2h_view_brief(taken->made.view, remote->node, &node);
    if (node.kind == G2H_NODE_TEXT) {
        *ret = g2h_view_text_size(taken->made.view, remote->node);
        return true;
    }
    return location_of_node(taken, remote->node, &location) &&
           g2h_location_is_map(taken->made.view, &location) &&
           entries_length(taken->made.view, taken->inner, &location, ret);
}

/* ---- nodes ---- */

static struct g2h_error *write_text_node(struct taken *taken, uint32_t number, struct text *text)
{
    struct g2h_text made = {0};
    size_t size;
    const char *words = g2h_view_text(taken->made.view, number, &made, &size);
    append_plain(text, "string", words, size);
    text->failed = text->failed || made.failed;
    g2h_text_deinit(&made);
    return NULL;
}

static struct g2h_error *write_node(struct taken *taken, uint32_t number,
                                    const struct remote_place *place, struct text *text)
{
    _cleanup_(text_deinit) struct text class = {0}, description = {0};
    const struct remote remote = {.kind = REMOTE_NODE, .node = number};
    struct g2h_node node;
    uint64_t length;
    g2h_view_brief(taken->made.view, number, &node);
    if (node.kind == G2H_NODE_TEXT && node.members == 0)
        return write_text_node(taken, number, text);
    append_class(taken, number, &class);
    text_append_string(&description, node.kind == G2H_NODE_PACKAGE ? "package " : "");
    text_append(&description, class.data, class.size);
    if (!g2h_view_is_redacted(taken->made.view) && remote_length(taken, &remote, &length))
        text_printf(&description, " (%" PRIu64 ")", length);
    if (node.members > 0)
        text_printf(&description, ", folded: %" PRIu32 " objects", node.members);
    return remote_append_object(taken, place, &class, &description, text);
}

/* ---- values ---- */

static struct g2h_error *write_number(struct taken *taken, const struct g2h_value *value,
                                      const struct text *shown, struct text *text)
{
    struct g2h_text exact = {0};
    g2h_value_text(taken->made.view, value, &exact);
    const bool is_number =
        exact.size > 0 &&
        (exact.data[0] == '-' || (exact.data[0] >= '0' && exact.data[0] <= '9')) &&
        !memchr(exact.data, 'I', exact.size);
    text_append_string(text, "{\"type\":\"number\",");
    text_append_string(text, is_number ? "\"value\":" : "\"unserializableValue\":");
    if (is_number)
        text_append(text, exact.data, exact.size);
    else if (exact.size > 0 && exact.data[0] == 'N')
        text_append_string(text, "\"NaN\"");
    else
        text_append_string(text, exact.size > 0 && exact.data[0] == '-' ? "\"-Infinity\""
                                                                        : "\"Infinity\"");
    append_member(text, "description", shown->data, shown->size);
    text_append_string(text, "}");
    text->failed = text->failed || exact.failed;
    g2h_text_deinit(&exact);
    return NULL;
}

static struct g2h_error *write_string(struct taken *taken, const struct text *shown,
                                      const struct g2h_content *content, struct text *text)
{
    _cleanup_(text_deinit) struct text whole = {0};
    uint32_t object;
    if (content->target != 0 && g2h_heap_find(taken->made.heap, content->target, &object)) {
        const struct g2h_object found = g2h_heap_object(taken->made.heap, object);
        const uint64_t from = content->target - found.address;
        if (from <= found.contents.size && content->length <= found.contents.size - from) {
            const uint64_t size = content->length < TEXT_BYTES ? content->length : TEXT_BYTES;
            text_append_utf8(&whole, found.contents.data + from, size, SIZE_MAX);
            text_printf(&whole, content->length > size ? "…" : "");
            append_plain(text, "string", whole.data, whole.size);
            text->failed = text->failed || whole.failed;
            return NULL;
        }
    }
    const bool is_quoted = shown->size >= 2 && shown->data[0] == '"';
    if (is_quoted && shown->data[shown->size - 1] == '"')
        append_plain(text, "string", shown->data + 1, shown->size - 2);
    else
        append_plain(text, "string", shown->data, shown->size);
    return NULL;
}

static struct g2h_error *write_nil(const struct taken *taken, const struct g2h_value *value,
                                   struct text *text)
{
    _cleanup_(text_deinit) struct text type = {0};
    append_type(taken, value, false, &type);
    text_append_string(text, "{\"type\":\"object\",\"subtype\":\"null\",\"value\":null");
    append_member(text, "description", "nil", 3);
    append_member(text, "className", type.data, type.size);
    text_append_string(text, "}");
    TRY_MEMORY(!type.failed);
    return NULL;
}

/* Appends a value that leads somewhere: a pointer, slice, interface, map …; shown is its formatted
 * value. */
static struct g2h_error *write_reference(struct taken *taken, const struct remote *remote,
                                         const struct text *shown,
                                         const struct g2h_content *content, struct text *text)
{
    const struct g2h_value *value = &remote->value;
    _cleanup_(text_deinit) struct text class = {0}, description = {0};
    struct remote_place place;
    const bool is_placed = remote_place(taken, remote, &place);
    const uint32_t node = node_at(taken, content->target);
    const bool is_address = shown->size > 2 && memcmp(shown->data, "0x", 2) == 0;
    append_type(taken, value, value->kind == G2H_VALUE_INTERFACE, &class);
    if (value->kind == G2H_VALUE_POINTER && is_address && node != UINT32_MAX)
        return write_node(taken, node, is_placed ? &place : NULL, text);
    if (value->kind != G2H_VALUE_INTERFACE || shown->size == 0)
        text_append(&description, class.data, class.size);
    if (description.size > 0 && shown->size > 0)
        text_append_string(&description, " ");
    text_append(&description, shown->data, shown->size);
    return remote_append_object(taken, is_placed ? &place : NULL, &class, &description, text);
}

/* Appends a replacement for a value that is not shown: for a string, one that shows whether it
 * equals others. */
static struct g2h_error *write_redacted(struct taken *taken, const struct g2h_value *value,
                                        struct text *text)
{
    static const char hidden[] = "(redacted)";
    struct g2h_text made = {0};
    if (value->kind == G2H_VALUE_STRING)
        g2h_value_text(taken->made.view, value, &made);
    if (made.size > 0)
        append_plain(text, "string", made.data, made.size);
    else
        append_plain(text, "string", hidden, strlen(hidden));
    text->failed = text->failed || made.failed;
    g2h_text_deinit(&made);
    return NULL;
}

static struct g2h_error *write_value(struct taken *taken, const struct remote *remote,
                                     struct text *text)
{
    const struct g2h_value *value = &remote->value;
    _cleanup_(text_deinit) struct text shown = {0}, class = {0};
    struct g2h_content content;
    read_content(taken, value, &shown, &content);
    TRY_MEMORY(!shown.failed);
    if (g2h_view_is_redacted(taken->made.view) &&
        (content.target == 0 || value->kind == G2H_VALUE_STRING))
        return write_redacted(taken, value, text);
    if (content.is_nil)
        return write_nil(taken, value, text);
    switch (value->kind) {
    case G2H_VALUE_BOOL:
        text_append_string(text, "{\"type\":\"boolean\",\"value\":");
        text_append(text, shown.data, shown.size);
        text_append_string(text, "}");
        return NULL;
    case G2H_VALUE_INT:
    case G2H_VALUE_UINT:
    case G2H_VALUE_FLOAT:
        return write_number(taken, value, &shown, text);
    case G2H_VALUE_STRING:
        return write_string(taken, &shown, &content, text);
    case G2H_VALUE_SLICE:
    case G2H_VALUE_INTERFACE:
    case G2H_VALUE_POINTER:
        return write_reference(taken, remote, &shown, &content, text);
    default:
        append_type(taken, value, false, &class);
        return remote_append_object(taken, NULL, &class, &shown, text);
    }
}

/* ---- structs, arrays, lists ---- */

struct remote_summary {
    struct taken *taken;
    struct text text;
    size_t count;
};

/* Adds a part to a description: Name: "a". */
static bool add_part(void *context, const char *name, size_t size, const struct remote *part)
{
    struct remote_summary *summary = context;
    _cleanup_(text_deinit) struct text shown = {0};
    struct g2h_content content;
    if (summary->count++ == PARTS_SHOWN) {
        text_append_string(&summary->text, ", …");
        return false;
    }
    text_printf(&summary->text, summary->count > 1 ? ", " : "{");
    text_append(&summary->text, name, size);
    text_append_string(&summary->text, ": ");
    if (part->kind != REMOTE_VALUE) {
        text_append_string(&summary->text, "{…}");
        return true;
    }
    read_content(summary->taken, &part->value, &shown, &content);
    if (text_append_clipped(&summary->text, (const uint8_t *)shown.data, shown.size,
                            PART_CHARACTERS))
        text_append_string(&summary->text, "…");
    return true;
}

static void summary_deinit(struct remote_summary *summary)
{
    text_deinit(&summary->text);
}

static struct g2h_error *write_parts(struct taken *taken, const struct remote *remote,
                                     struct text *text)
{
    _cleanup_(summary_deinit) struct remote_summary summary = {.taken = taken};
    char list[] = "list", class[] = "struct";
    struct text name = {.data = class, .size = strlen(class)};
    if (remote->words.size > 0) {
        name = (struct text){.data = list, .size = strlen(list)};
        text_append(&summary.text, (const char *)remote->words.data, (size_t)remote->words.size);
    } else {
        /* the caller may be iterating over taken->values */
        struct g2h_values *values = taken->values;
        taken->values = taken->inner;
        struct g2h_error *error = properties_visit(taken, &remote->place, add_part, &summary);
        taken->values = values;
        TRY(error);
        text_append_string(&summary.text, summary.count == 0 ? "{}" : "}");
    }
    return remote_append_object(taken, &remote->place, &name, &summary.text, text);
}

struct g2h_error *remote_write(struct taken *taken, const struct remote *remote, struct text *text)
{
    struct remote_place place;
    switch (remote->kind) {
    case REMOTE_VALUE:
        if (remote->value.kind == G2H_VALUE_OTHER && !g2h_view_is_redacted(taken->made.view))
            return write_parts(taken, remote, text);
        return write_value(taken, remote, text);
    case REMOTE_NODE:
        remote_place(taken, remote, &place);
        return write_node(taken, remote->node, &place, text);
    case REMOTE_PARTS:
        return write_parts(taken, remote, text);
    case REMOTE_NUMBER:
        text_printf(text,
                    "{\"type\":\"number\",\"value\":%" PRIu64 ",\"description\":\"%" PRIu64 "\"}",
                    remote->number, remote->number);
        return NULL;
    case REMOTE_WORDS:
        append_plain(text, "string", (const char *)remote->words.data, (size_t)remote->words.size);
        return NULL;
    default:
        text_append_string(text, "{\"type\":\"undefined\"}");
        return NULL;
    }
}
