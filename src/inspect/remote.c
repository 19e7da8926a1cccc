/*
 * remote: shows the contents of a heap as objects of the Chrome DevTools Protocol; see remote.h.
 * The parts:
 *
 * place       an objectId says where something is: a node, a value in an object, an entry of a map
 * remote      writes a node or a value as a RemoteObject, with its class and a description
 * properties  visits what a place has: fields, elements, entries, edges, variables; each visitor
 *            gets a name and a struct remote
 */
#include "inspect/remote.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/map.h"
#include "findings/length.h"
#include "inspect/inspect_json.h"

/* ==== objectIds, "o:3:1234:0:0:0:Config" ====
 *
 * They say where something is in a snapshot, and nothing needs to be kept for them.
 */

/* Appends an objectId. */
static void place_append(const struct taken *taken, const struct remote_place *place,
                         struct text *text)
{
    text_printf(text, "%c:%u:%u:%" PRIu64 ":%" PRIu64 ":%zu:", (char)place->kind, taken->number,
                place->node, place->first, place->second, place->name_size);
    text_append(text, place->name, place->name_size);
    text_append(text, place->path, place->path_size);
}

/* Reads a number of at most `most` and the colon after it, and moves *at to what follows. Returns
 * false if these do not come next. */
static bool read_number(const char **at, uint64_t most, uint64_t *ret)
{
    char *end;
    errno = 0;
    if (**at < '0' || **at > '9')
        return false;
    *ret = strtoull(*at, &end, 10);
    if (errno != 0 || *ret > most || *end != ':')
        return false;
    *at = end + 1;
    return true;
}

/* Reads what an objectId has, see place_append(). Returns false if it has another form, or its node
 * is not in this snapshot; *ret_is_old: it is of an older one. */
bool place_read(const struct taken *taken, const char *text, struct remote_place *ret,
                bool *ret_is_old)
{
    static const char kinds[] = {PLACE_NODE,     PLACE_OBJECT,  PLACE_SLICE,
                                 PLACE_VARIABLE, PLACE_LOCAL,   PLACE_ENTRY,
                                 PLACE_CLASS,    PLACE_PACKAGE, PLACE_GOROUTINES};
    uint64_t number, node, name;
    *ret_is_old = false;
    *ret = (struct remote_place){.kind = (enum place_kind)text[0]};
    if (text[0] == '\0' || !memchr(kinds, text[0], sizeof(kinds)) || text[1] != ':')
        return false;
    const char *at = text + 2;
    if (!read_number(&at, UINT32_MAX, &number) || !read_number(&at, UINT32_MAX, &node) ||
        !read_number(&at, UINT64_MAX, &ret->first) || !read_number(&at, UINT64_MAX, &ret->second) ||
        !read_number(&at, PLACE_TEXT - 1, &name))
        return false;
    const size_t left = strlen(at);
    if (name > left || left - name >= PLACE_TEXT)
        return false;
    ret->node = (uint32_t)node;
    ret->name_size = (size_t)name;
    ret->path_size = left - (size_t)name;
    memcpy(ret->name, at, ret->name_size);
    memcpy(ret->path, at + name, ret->path_size);
    *ret_is_old = number != taken->number;
    return taken->made.view && ret->node < g2h_view_node_count(taken->made.view);
}

/* ==== values and nodes as RemoteObjects ====
 *
 * A member is shown by its description. Only objects that have parts get an objectId. Arrays of the
 * heap are not "array" here: the front end asks for the elements of those by JavaScript.
 */

enum {
    PARTS_SHOWN = 4,      /* of a struct, in its description; */
    PART_CHARACTERS = 24, /* of each part */
    TEXT_BYTES = 10000    /* of a string */
};

/* ---- members ---- */

/* Appends a member that is a string. */
static void append_member(struct text *text, const char *name, const char *words, size_t size)
{
    text_printf(text, ",\"%s\":", name);
    json_write(text, words, size);
}

/* Appends the member objectId. */
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

/* Appends an object of a type that has its value itself. */
static void append_plain(struct text *text, const char *type, const char *words, size_t size)
{
    text_printf(text, "{\"type\":\"%s\",\"value\":", type);
    json_write(text, words, size);
    text_append_string(text, "}");
}

/* ---- what values lead to ---- */

/* Returns the node that an address leads to; UINT32_MAX: none. */
static uint32_t node_at(const struct taken *taken, uint64_t address)
{
    uint32_t object;
    return address != 0 && g2h_heap_find(taken->made.heap, address, &object)
               ? g2h_view_object(taken->made.view, object)
               : UINT32_MAX;
}

/* Appends a value as it is formatted, and gets what it leads to, its length, and whether it is nil:
 * see struct g2h_content. */
static void read_content(struct taken *taken, const struct g2h_value *value, struct text *text,
                         struct g2h_content *ret)
{
    struct g2h_text made = {0};
    g2h_value_content(taken->made.view, value, &made, ret);
    text->failed = text->failed || made.failed;
    text_append(text, made.data, made.size);
    g2h_text_deinit(&made);
}

/* Appends the type of a value; of an interface the dynamic one if is_dynamic. */
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

/* Returns whether a value is a slice of bytes. */
static bool is_bytes(const struct g2h_value *value)
{
    static const char *const names[] = {"[]uint8", "[]byte"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (value->type_size == strlen(names[i]) &&
            memcmp(value->type, names[i], value->type_size) == 0)
            return true;
    return false;
}

/* Gets the location of the whole object that a node is. Returns false if the node is no object with
 * a known type. */
static bool location_of_node(const struct taken *taken, uint32_t number, struct g2h_location *ret)
{
    struct g2h_node node;
    g2h_view_brief(taken->made.view, number, &node);
    return node.object != UINT32_MAX && g2h_location_of_object(taken->made.view, node.object, ret);
}

/* Makes the place that a node is: an object with values, or a node with edges only. */
static void place_of_node(const struct taken *taken, uint32_t node, struct remote_place *ret)
{
    struct g2h_location location;
    *ret = (struct remote_place){.kind = PLACE_NODE, .node = node};
    if (location_of_node(taken, node, &location))
        ret->kind = PLACE_OBJECT;
}

/* Returns the node that it is, or that it leads to, or UINT32_MAX: of parts, the node whose parts
 * they are; of a value, the node it points to. */
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

/* Finds where the properties of a remote object are: in its node or parts, in the array of a slice,
 * or in what a pointer or interface leads to. Returns false if it has none, as texts and numbers.
 */
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

/* Finds the length of a value that is a string, slice, map or channel (of nil: 0), of a node that
 * is a text, or of one that is a map. Returns false if it has none. */
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

/* Appends a node that is a string. */
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

/* Appends a node: its class, and how many entries or folded objects it has. */
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

/* Appends a number, whose description is as Go prints it. JSON has no infinities and no NaN: these
 * are unserializableValue. */
static struct g2h_error *write_number(struct taken *taken, const struct g2h_value *value,
                                      const struct text *shown, struct text *text)
{
    struct g2h_text exact = {0};
    g2h_value_text(taken->made.view, value, &exact);
    const bool is_number =
        exact.size > 0 &&
        (exact.data[0] == '-' || (exact.data[0] >= '0' && exact.data[0] <= '9')) &&
        !memchr(exact.data, 'I', exact.size); /* -Inf */
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

/* Appends a string: its bytes in the heap, at most TEXT_BYTES, or else as it is formatted, without
 * quotes. */
static struct g2h_error *write_string(struct taken *taken, const struct text *shown,
                                      const struct g2h_content *content, struct text *text)
{
    _cleanup_(text_deinit) struct text whole = {0};
    uint32_t object;
    if (content->target != 0 && g2h_heap_find(taken->made.heap, content->target, &object)) {
        const struct g2h_object found = g2h_heap_object(taken->made.heap, object);
        const uint64_t from = content->target - found.address;
        if (from <= found.contents.size && content->length <= found.contents.size - from) {
            const uint64_t size = MIN(content->length, TEXT_BYTES);
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

/* Appends nil of a type. */
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
 * value. A pointer to an object of the snapshot becomes that object; others are described by their
 * class and what is shown, an interface that is not nil by the latter alone. */
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

/* Appends a value by its kind; of a kind that DevTools has not, as an object. With --redact,
 * strings and numbers are hidden, but not what a pointer leads to. */
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

/* Adds a part to a description: Name: "a". Returns false, which ends the visit, when the
 * description is long enough. */
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
    if (text_append_clipped(&summary->text, shown.data, shown.size, PART_CHARACTERS))
        text_append_string(&summary->text, "…");
    return true;
}

/* Frees a description that is being made. */
static void summary_deinit(struct remote_summary *summary)
{
    text_deinit(&summary->text);
}

/* Appends a struct, array or list, whose description shows its first parts. */
static struct g2h_error *write_parts(struct taken *taken, const struct remote *remote,
                                     struct text *text)
{
    _cleanup_(summary_deinit) struct remote_summary summary = {.taken = taken};
    char list[] = "list";
    char class[] = "struct";
    struct text name = {.data = class, .size = strlen(class)};
    if (remote->words.size > 0) {
        name = (struct text){.data = list, .size = strlen(list)};
        text_append(&summary.text, remote->words.data, remote->words.size);
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

/* Appends a RemoteObject of CDP, by its kind: a struct or array, or a list, with its parts; other
 * values; a node; a number; words; else undefined. A redacted struct is a value. */
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
        append_plain(text, "string", (const char *)remote->words.data, remote->words.size);
        return NULL;
    default:
        text_append_string(text, "{\"type\":\"undefined\"}");
        return NULL;
    }
}

/* ==== the contents of a place ====
 *
 * The values of a location come one after the other, with their paths: "Config.Limits[3].Name". A
 * value with a path of several steps is a part of its first step, which is one property.
 */

enum {
    MOST_PROPERTIES = 1000, /* that are shown of one place */
    MOST_BYTES = 900000     /* of their JSON: less than CHANNEL_MOST */
};

/* ---- the values of a location ---- */

/* Returns how many characters the first step of a path takes: "Config" of "Config.Limits", "[3]" of
 * "[3].Name". */
static size_t step_size(const char *path, size_t size)
{
    size_t at = size > 0 && path[0] == '[' ? 1 : 0;
    while (at < size && path[at] != '.' && path[at] != '[')
        at++;
    return at;
}

struct walk {
    struct taken *taken;
    property_visit visit;
    void *context;
    const struct remote_place *place;
    uint64_t most; /* properties */
};

/* Passes a step of a value's path to the visitor: the value itself if is_whole, else a part with
 * values of its own; its place has the path up to the end of the step. An index is passed without
 * its brackets. Passes over a part whose path is too long for a place. Returns false if the visitor
 * wants no more. */
static bool give_step(const struct walk *walk, const struct g2h_value *value, const char *step,
                      size_t size, bool is_whole)
{
    const struct remote_place *place = walk->place;
    struct remote remote = {.kind = is_whole ? REMOTE_VALUE : REMOTE_PARTS, .value = *value};
    remote.place = *place;
    const size_t path = as_size(step + size - value->path);
    if (!is_whole || value->kind == G2H_VALUE_OTHER) {
        if (path >= PLACE_TEXT)
            return true; /* too deep to be opened */
        memcpy(remote.place.path, value->path, path);
        remote.place.path_size = path;
    }
    const bool is_index = size > 2 && step[0] == '[';
    if (is_index) {
        step++;
        size -= strlen("[]");
    }
    return walk->visit(walk->context, step, size, &remote);
}

/* Finds what a value's path has after that of the place, which it begins with: "Limits[3]" of
 * "Config.Limits[3]" in "Config"; empty if both are the same. Returns false if the path only begins
 * with the same characters: "Names" is not a part of "Name". */
static bool path_below(const struct remote_place *place, const struct g2h_value *value,
                       const char **ret, size_t *ret_size)
{
    const char *rest = value->path + place->path_size;
    const size_t size = value->path_size - place->path_size;
    const bool has_both = size > 0 && place->path_size > 0;
    const size_t dot = has_both && *rest == '.';
    if (has_both && !dot && *rest != '[')
        return false;
    *ret = rest + dot;
    *ret_size = size - dot;
    return true;
}

/* Visits the values of a location that are at the place's path or below it: these follow each
 * other. Passes each next step of their paths once, walk->most of them at most, and stops if the
 * visitor wants no more. */
static void walk_values(const struct walk *walk, const struct g2h_location *location)
{
    const struct remote_place *place = walk->place;
    struct g2h_values *values = walk->taken->values;
    char last[PLACE_TEXT] = "";
    size_t last_size = 0;
    uint64_t count = 0;
    bool was_there = false;
    struct g2h_value value;
    g2h_values_begin_at(values, location);
    while (g2h_values_next(values, &value)) {
        const bool is_there = value.path_size >= place->path_size &&
                              memcmp(value.path, place->path, place->path_size) == 0;
        if (!is_there && was_there)
            return;
        was_there = is_there;
        if (!is_there)
            continue;
        const char *step;
        size_t left;
        if (!path_below(place, &value, &step, &left))
            continue;
        const size_t size = step_size(step, left);
        if (last_size > 0 && size == last_size && memcmp(last, step, size) == 0)
            continue; /* a value below a step that has been passed */
        if (count++ >= walk->most)
            return;
        /* Only below a step that the path goes on after can there be others. */
        last_size = size < left && size < PLACE_TEXT ? size : 0;
        memcpy(last, step, last_size);
        const bool is_whole = size == left;
        const bool goes_on = size > 0 ? give_step(walk, &value, step, size, is_whole)
                                      : give_step(walk, &value, "value", strlen("value"), is_whole);
        if (!goes_on)
            return;
    }
}

/* Gets what is at a location, whose place is given: a value, or parts if it has several values. */
static void properties_of_location(struct taken *taken, const struct g2h_location *location,
                                   const struct remote_place *place, struct remote *ret)
{
    struct g2h_value value;
    g2h_values_begin_at(taken->values, location);
    *ret = (struct remote){.kind = REMOTE_PARTS, .place = *place};
    if (!g2h_values_next(taken->values, &value) || value.path_size > 0)
        return;
    ret->kind = REMOTE_VALUE;
    ret->value = value;
}

/* ---- entries of maps ---- */

struct entry_walk {
    const struct walk *walk;
    uint64_t index, wanted; /* wanted: the only one to find; UINT64_MAX: all */
    bool failed;
    struct g2h_entry found;
};

/* A visitor of entries: passes one on by the name of its key or, if that has none, of its index; or
 * if one is wanted, only keeps the entry with its index. Returns false to end the visit. */
static bool give_entry(void *context, const struct g2h_entry *entry)
{
    struct entry_walk *entries = context;
    const struct walk *walk = entries->walk;
    const uint64_t index = entries->index++;
    struct g2h_text key = {0};
    struct g2h_content content;
    if (entries->wanted != UINT64_MAX) {
        entries->found = *entry;
        return index != entries->wanted;
    }
    g2h_value_content(walk->taken->made.view, &entry->key, &key, &content);
    struct remote remote = {.kind = REMOTE_VALUE, .value = entry->elem};
    remote.place = (struct remote_place){
        .kind = PLACE_ENTRY, .node = walk->place->node, .first = index, .second = 1};
    char number[24];
    const int size = snprintf(number, sizeof(number), "#%" PRIu64, index);
    entries->failed = entries->failed || key.failed;
    const bool goes_on = key.size > 0 ? walk->visit(walk->context, key.data, key.size, &remote)
                                      : walk->visit(walk->context, number, as_size(size), &remote);
    g2h_text_deinit(&key);
    return goes_on && !entries->failed;
}

/* Visits the entries of a map. */
static struct g2h_error *walk_entries(const struct walk *walk, const struct g2h_location *map)
{
    struct entry_walk entries = {.walk = walk, .wanted = UINT64_MAX};
    TRY(g2h_location_entries(walk->taken->made.view, map, give_entry, &entries));
    TRY_MEMORY(!entries.failed);
    return NULL;
}

/* Finds the location of an entry's key or element (place->first, ->second). *ret_found becomes
 * whether the place's node is a map and has such an entry. */
static struct g2h_error *find_entry(struct taken *taken, const struct remote_place *place,
                                    bool *ret_found, struct g2h_location *ret)
{
    const struct walk walk = {.taken = taken, .place = place};
    struct entry_walk entries = {.walk = &walk, .wanted = place->first};
    struct g2h_location map;
    struct g2h_node node;
    *ret_found = false;
    g2h_view_brief(taken->made.view, place->node, &node);
    if (node.object == UINT32_MAX || !g2h_location_of_object(taken->made.view, node.object, &map) ||
        !g2h_location_is_map(taken->made.view, &map))
        return NULL;
    TRY(g2h_location_entries(taken->made.view, &map, give_entry, &entries));
    *ret_found = entries.index > place->first;
    if (*ret_found)
        g2h_location_of_value(place->second ? &entries.found.elem : &entries.found.key, ret);
    return NULL;
}

/* ---- edges ---- */

/* Appends the name of an edge: the key of a map's entry, an index, or its own. */
static void append_edge(struct taken *taken, const struct g2h_edge *edge, struct text *text)
{
    struct g2h_key_name key;
    size_t size;
    const enum g2h_key form = g2h_edges_key(taken->edges, edge, &key);
    if (form == G2H_KEY_TEXT) {
        text_append(text, key.text, key.size);
    } else if (form == G2H_KEY_INDEX || (edge->flags & G2H_EDGE_BY_INDEX) != 0) {
        text_append_number(text, form == G2H_KEY_INDEX ? key.index : edge->index);
    } else {
        const char *name = g2h_view_name(taken->made.view, edge->name, &size);
        text_append(text, name, size);
    }
}

/* Visits the targets of a node's edges. */
static struct g2h_error *walk_edges(const struct walk *walk, uint32_t node)
{
    struct taken *taken = walk->taken;
    _cleanup_(text_deinit) struct text name = {0};
    struct g2h_edge edge;
    g2h_edges_begin(taken->edges, node, node + 1);
    while (g2h_edges_next(taken->edges, &edge)) {
        const struct remote remote = {.kind = REMOTE_NODE, .node = edge.target};
        name.size = 0;
        append_edge(taken, &edge, &name);
        TRY_MEMORY(!name.failed);
        if (!walk->visit(walk->context, name.data, name.size, &remote))
            return NULL;
    }
    return NULL;
}

/* ---- variables ---- */

/* Finds a variable by its full name; ret->kind is REMOTE_NOTHING unless the result is
 * G2H_VARIABLE_FOUND. None is found without types, or if the name is longer than a place can have.
 */
enum g2h_variable properties_variable(struct taken *taken, const char *name, size_t size,
                                      struct remote *ret)
{
    struct g2h_location location;
    struct remote_place place = {.kind = PLACE_VARIABLE, .name_size = size};
    *ret = (struct remote){.kind = REMOTE_NOTHING};
    if (size >= PLACE_TEXT || !g2h_view_is_typed(taken->made.view))
        return G2H_VARIABLE_NONE;
    memcpy(place.name, name, size);
    const enum g2h_variable found =
        g2h_location_of_variable(taken->made.view, place.name, &location);
    if (found == G2H_VARIABLE_FOUND)
        properties_of_location(taken, &location, &place, ret);
    return found;
}

/* Visits the variables of a package, each once, until a visit returns false: the names of its edges
 * may lead into a variable, cache.items, and several may lead into the same one. A variable whose
 * type is not known has the target of its edge as its value. Edges that are no pointers are left
 * out. */
static struct g2h_error *walk_package(const struct walk *walk)
{
    struct taken *taken = walk->taken;
    _cleanup_(text_deinit) struct text name = {0};
    _cleanup_(map_deinit) struct map known = {0};
    struct g2h_node package;
    struct g2h_edge edge;
    size_t prefix;
    g2h_view_brief(taken->made.view, walk->place->node, &package);
    const char *words = g2h_view_name(taken->made.view, package.name, &prefix);
    g2h_edges_begin(taken->edges, walk->place->node, walk->place->node + 1);
    while (g2h_edges_next(taken->edges, &edge)) {
        struct remote remote;
        uint32_t first;
        name.size = 0;
        text_append(&name, words, prefix);
        text_append_string(&name, ".");
        const size_t begin = name.size;
        const size_t before = known.count;
        append_edge(taken, &edge, &name);
        TRY_MEMORY(!name.failed);
        const size_t size = step_size(name.data + begin, name.size - begin);
        if (!g2h_edge_leads(edge.flags) || size == 0)
            continue;
        TRY_MEMORY(map_put(&known, map_hash_text(name.data + begin, size), 1, &first));
        if (known.count == before)
            continue;
        properties_variable(taken, name.data, begin + size, &remote);
        if (remote.kind == REMOTE_NOTHING)
            remote = (struct remote){.kind = REMOTE_NODE, .node = edge.target};
        if (!walk->visit(walk->context, name.data + begin, size, &remote))
            return NULL;
    }
    return NULL;
}

/* Visits the variables of a frame. Returns false if the visitor wants no more. */
static bool walk_frame(const struct walk *walk, size_t number, size_t caller)
{
    struct g2h_local local;
    for (uint32_t i = 0; g2h_view_local(walk->taken->made.view, number, caller, i, &local); i++) {
        const bool has_escaped = local.name_size > 1 && local.name[0] == '&';
        const struct remote_place place = {.kind = PLACE_LOCAL, .first = number, .second = i};
        struct remote remote;
        if (local.is_made || !local.is_there)
            continue;
        properties_of_location(walk->taken, &local.location, &place, &remote);
        if (!walk->visit(walk->context, local.name + has_escaped, local.name_size - has_escaped,
                         &remote))
            return false;
    }
    return true;
}

/* Finds the caller of a frame, which has its parameters; SIZE_MAX: none. Returns false if no frame
 * has that number. */
static bool find_caller(const struct g2h_view *view, uint64_t frame, size_t *ret)
{
    for (size_t i = 0; i < g2h_view_goroutine_count(view); i++) {
        struct g2h_view_goroutine goroutine;
        g2h_view_goroutine(view, i, &goroutine);
        if (frame < goroutine.first_frame || frame - goroutine.first_frame >= goroutine.frame_count)
            continue;
        *ret = frame + 1 < (uint64_t)goroutine.first_frame + goroutine.frame_count
                   ? (size_t)frame + 1
                   : SIZE_MAX;
        return true;
    }
    return false;
}

/* Finds the location of a variable of a frame. Returns false if the place is none, or the variable
 * is not in memory. */
static bool find_local(const struct g2h_view *view, const struct remote_place *place,
                       struct g2h_location *ret)
{
    struct g2h_local local;
    size_t caller;
    if (place->second > UINT32_MAX || !find_caller(view, place->first, &caller) ||
        !g2h_view_local(view, (size_t)place->first, caller, (uint32_t)place->second, &local))
        return false;
    *ret = local.location;
    return local.is_there;
}

/* Visits the variables of the frame that a node is, or, if is_goroutine, of all frames of the
 * goroutine that it is. Returns false if the visitor wants no more. */
static bool walk_frames(const struct walk *walk, uint32_t node, bool is_goroutine)
{
    const struct g2h_view *view = walk->taken->made.view;
    for (size_t i = 0; i < g2h_view_goroutine_count(view); i++) {
        struct g2h_view_goroutine goroutine;
        struct g2h_view_frame frame;
        g2h_view_goroutine(view, i, &goroutine);
        if (is_goroutine && goroutine.node != node)
            continue;
        for (uint32_t j = 0; j < goroutine.frame_count; j++) {
            const size_t number = goroutine.first_frame + (size_t)j;
            const size_t caller = j + 1 < goroutine.frame_count ? number + 1 : SIZE_MAX;
            g2h_view_frame(view, number, &frame);
            if ((is_goroutine || frame.node == node) && !walk_frame(walk, number, caller))
                return false;
        }
    }
    return true;
}

/* ---- lists ---- */

/* Visits the objects of a class, which have indexes as names; none if the view has no class of that
 * name. Stops if the visitor wants no more. */
static struct g2h_error *walk_class(const struct walk *walk)
{
    const struct g2h_view *view = walk->taken->made.view;
    const uint32_t count = g2h_view_node_count(view);
    uint32_t name;
    uint64_t found = 0;
    if (!g2h_view_find_name(view, walk->place->name, walk->place->name_size, &name))
        return NULL;
    for (uint32_t i = as_u32(g2h_view_account(view)->first_object); i < count; i++) {
        struct g2h_node node;
        char index[24];
        g2h_view_brief(view, i, &node);
        if (node.name != name)
            continue;
        const struct remote remote = {.kind = REMOTE_NODE, .node = i};
        const int size = snprintf(index, sizeof(index), "%" PRIu64, found++);
        if (!walk->visit(walk->context, index, as_size(size), &remote))
            return NULL;
    }
    return NULL;
}

/* Visits the goroutines, until visit() returns false: those in a place are one node, or each is
 * one. One that has no node is left out. */
static struct g2h_error *walk_goroutines(const struct walk *walk)
{
    const struct g2h_view *view = walk->taken->made.view;
    for (size_t i = 0; i < g2h_view_goroutine_count(view); i++) {
        struct g2h_view_goroutine goroutine;
        char number[24];
        g2h_view_goroutine(view, i, &goroutine);
        if (goroutine.node == UINT32_MAX)
            continue;
        const struct remote remote = {.kind = REMOTE_NODE, .node = goroutine.node};
        const int size = snprintf(number, sizeof(number), "%" PRIu64, goroutine.record.goid);
        if (!walk->visit(walk->context, number, as_size(size), &remote))
            return NULL;
    }
    return NULL;
}

/* ---- places ---- */

/* Visits the values of an object, or of a part of one; if it is a map as a whole, the entries. */
static struct g2h_error *walk_object(const struct walk *walk, const struct g2h_location *location)
{
    if (g2h_location_is_map(walk->taken->made.view, location) && walk->place->path_size == 0)
        return walk_entries(walk, location);
    walk_values(walk, location);
    return NULL;
}

/* Visits the properties of a place, by its kind: edges of a node, of a frame after those of its
 * locals; the values of an object or variable, or of a part of it; the members of a class, a
 * package, or all goroutines. An object of unknown type has its edges. Visits nothing if what the
 * place names is not there. */
struct g2h_error *properties_visit(struct taken *taken, const struct remote_place *place,
                                   property_visit visit, void *context)
{
    struct walk walk = {taken, visit, context, place, UINT64_MAX};
    const struct g2h_view *view = taken->made.view;
    struct g2h_location location;
    struct g2h_node node;
    uint32_t object;
    bool found = false;
    g2h_view_brief(view, place->node, &node);
    switch (place->kind) {
    case PLACE_NODE:
        return node.kind != G2H_NODE_FRAME || walk_frames(&walk, place->node, false)
                   ? walk_edges(&walk, place->node)
                   : NULL;
    case PLACE_LOCALS:
        walk_frames(&walk, place->node, true);
        return NULL;
    case PLACE_OBJECT:
        found = node.object != UINT32_MAX && g2h_location_of_object(view, node.object, &location);
        return found ? walk_object(&walk, &location) : walk_edges(&walk, place->node);
    case PLACE_SLICE:
        if (!g2h_heap_find(taken->made.heap, place->first, &object) ||
            !g2h_location_of_object(view, object, &location))
            return NULL;
        walk.most = place->second;
        location.base = place->first - location.address;
        break;
    case PLACE_VARIABLE:
        found = g2h_view_is_typed(view) &&
                g2h_location_of_variable(view, place->name, &location) == G2H_VARIABLE_FOUND;
        return found ? walk_object(&walk, &location) : NULL;
    case PLACE_LOCAL:
        if (!find_local(view, place, &location))
            return NULL;
        break;
    case PLACE_ENTRY:
        TRY(find_entry(taken, place, &found, &location));
        if (!found)
            return NULL;
        break;
    case PLACE_CLASS:
        return walk_class(&walk);
    case PLACE_PACKAGE:
        return walk_package(&walk);
    case PLACE_GOROUTINES:
        return walk_goroutines(&walk);
    }
    walk_values(&walk, &location);
    return NULL;
}

/* ---- the result of Runtime.getProperties ---- */

struct writing {
    struct taken *taken;
    struct text *text;
    unsigned count;
    struct g2h_error *error;
};

/* Begins a property with its name; the value follows. Comes after a comma unless it is_first. */
static void begin_property(struct text *text, bool is_first, const char *name, size_t size)
{
    text_printf(text, "%s{\"name\":", is_first ? "" : ",");
    json_write(text, name, size);
    text_printf(text, ",\"value\":");
}

/* A visitor: appends a property. Returns false, which ends the visit, after MOST_PROPERTIES, or
 * MOST_BYTES, or an error. */
static bool write_property(void *context, const char *name, size_t size,
                           const struct remote *property)
{
    static const char end[] =
        ",\"writable\":false,\"configurable\":false,\"enumerable\":true,\"isOwn\":true}";
    struct writing *writing = context;
    if (writing->count == MOST_PROPERTIES || writing->text->size > MOST_BYTES)
        return false;
    begin_property(writing->text, writing->count++ == 0, name, size);
    writing->error = remote_write(writing->taken, property, writing->text);
    text_append_string(writing->text, end);
    return !writing->error;
}

/* Appends an internal property, which is a string. Comes after a comma unless it is_first. */
static void write_internal(struct text *text, bool is_first, const char *name, const char *words)
{
    begin_property(text, is_first, name, strlen(name));
    text_printf(text, "{\"type\":\"string\",\"value\":");
    json_write(text, words, strlen(words));
    text_printf(text, "}}");
}

/* Adds a node's location, and the snapshot that all this is from: the front end does not know. */
static void write_about(const struct taken *taken, const struct remote_place *place,
                        struct text *text)
{
    const time_t seconds = (time_t)(taken->time / 1000);
    char words[64];
    char when[16] = "";
    struct tm local;
    struct g2h_node node;
    if (localtime_r(&seconds, &local))
        strftime(when, sizeof(when), "%H:%M:%S", &local);
    snprintf(words, sizeof(words), "snapshot %u, %s", taken->number, when);
    write_internal(text, true, "[[as of]]", words);
    if (place->kind != PLACE_OBJECT && place->kind != PLACE_NODE)
        return;
    g2h_view_brief(taken->made.view, place->node, &node);
    if (node.object != UINT32_MAX && place->path_size == 0) {
        snprintf(words, sizeof(words), "0x%" PRIx64, node.address);
        write_internal(text, false, "[[address]]", words);
        snprintf(words, sizeof(words), "%" PRIu64 " B", node.size);
        write_internal(text, false, "[[size]]", words);
    }
}

/* Writes what DevTools shows below an opened object: {"result": [fields], "internalProperties":
 * [facts about the object]}. */
struct g2h_error *properties_write(struct taken *taken, const struct remote_place *place,
                                   struct text *text)
{
    struct writing writing = {.taken = taken, .text = text};
    text_printf(text, "{\"result\":[");
    TRY(properties_visit(taken, place, write_property, &writing));
    TRY(writing.error);
    text_printf(text, "],\"internalProperties\":[");
    write_about(taken, place, text);
    text_printf(text, "]}");
    return NULL;
}
