/*
 * properties: the contents of a place; see remote.h.
 *
 * The values of a location come one after the other, with their paths: "Config.Limits[3].Name". A
 * value with a path of several steps is a part of its first step, which is one property.
 */
#include "inspect/json_write.h"
#include "inspect/remote.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/map.h"
#include "base/scope.h"

enum { MOST_PROPERTIES = 1000, MOST_BYTES = 900000 };

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

/* Passes a step of a path to the visitor: a value, or a part with values of its own. */
static bool give_step(const struct walk *walk, const struct g2h_value *value, const char *step,
                      size_t size, bool is_whole)
{
    const struct remote_place *place = walk->place;
    struct remote remote = {.kind = is_whole ? REMOTE_VALUE : REMOTE_PARTS, .value = *value};
    remote.place = *place;
    const size_t path = (size_t)(step + size - value->path);
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

/* Visits the values of a location that are at the place's path. */
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
        const char *step = value.path + place->path_size;
        size_t left = value.path_size - place->path_size;
        const size_t dot = left > 0 && *step == '.' && place->path_size > 0;
        if (left > 0 && place->path_size > 0 && !dot && *step != '[')
            continue; /* "Names" is not a part of "Name" */
        step += dot;
        left -= dot;
        const size_t size = step_size(step, left);
        if (last_size > 0 && size == last_size && memcmp(last, step, size) == 0)
            continue;
        if (count++ >= walk->most)
            return;
        last_size = size < left && size < PLACE_TEXT ? size : 0;
        memcpy(last, step, last_size);
        const bool is_whole = size == left;
        const bool goes_on = size > 0 ? give_step(walk, &value, step, size, is_whole)
                                      : give_step(walk, &value, "value", strlen("value"), is_whole);
        if (!goes_on)
            return;
    }
}

void properties_of_location(struct taken *taken, const struct g2h_location *location,
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
                                      : walk->visit(walk->context, number, (size_t)size, &remote);
    g2h_text_deinit(&key);
    return goes_on && !entries->failed;
}

static struct g2h_error *walk_entries(const struct walk *walk, const struct g2h_location *map)
{
    struct entry_walk entries = {.walk = walk, .wanted = UINT64_MAX};
    TRY(g2h_location_entries(walk->taken->made.view, map, give_entry, &entries));
    TRY_MEMORY(!entries.failed);
    return NULL;
}

/* Finds the location of an entry's key or element. */
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

/* Visits the variables of a package. The names of its edges may lead into a variable, cache.items,
 * and several may lead into the same one. */
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
        const size_t begin = name.size, before = known.count;
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

/* Visits the variables of a frame. */
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

/* Visits the variables of the frame, or of all frames of the goroutine, that a node is. */
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

static struct g2h_error *walk_class(const struct walk *walk)
{
    const struct g2h_view *view = walk->taken->made.view;
    const uint32_t count = g2h_view_node_count(view);
    uint32_t name;
    uint64_t found = 0;
    if (!g2h_view_find_name(view, walk->place->name, walk->place->name_size, &name))
        return NULL;
    for (uint32_t i = (uint32_t)g2h_view_account(view)->first_object; i < count; i++) {
        struct g2h_node node;
        char index[24];
        g2h_view_brief(view, i, &node);
        if (node.name != name)
            continue;
        const struct remote remote = {.kind = REMOTE_NODE, .node = i};
        const int size = snprintf(index, sizeof(index), "%" PRIu64, found++);
        if (!walk->visit(walk->context, index, (size_t)size, &remote))
            return NULL;
    }
    return NULL;
}

/* Visits the goroutines: those in a place are one node, or each is one. */
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
        if (!walk->visit(walk->context, number, (size_t)size, &remote))
            return NULL;
    }
    return NULL;
}

/* ---- places ---- */

static struct g2h_error *walk_object(const struct walk *walk, const struct g2h_location *location)
{
    if (g2h_location_is_map(walk->taken->made.view, location) && walk->place->path_size == 0)
        return walk_entries(walk, location);
    walk_values(walk, location);
    return NULL;
}

struct g2h_error *properties_visit(struct taken *taken, const struct remote_place *place,
                                   property_visit visit, void *context)
{
    struct walk walk = {taken, visit, context, place, UINT64_MAX};
    struct g2h_location location;
    struct g2h_node node;
    uint32_t object;
    bool found = false;
    g2h_view_brief(taken->made.view, place->node, &node);
    switch (place->kind) {
    case PLACE_NODE:
        return node.kind != G2H_NODE_FRAME || walk_frames(&walk, place->node, false)
                   ? walk_edges(&walk, place->node)
                   : NULL;
    case PLACE_LOCALS:
        walk_frames(&walk, place->node, true);
        return NULL;
    case PLACE_OBJECT:
        found = node.object != UINT32_MAX &&
                g2h_location_of_object(taken->made.view, node.object, &location);
        return found ? walk_object(&walk, &location) : walk_edges(&walk, place->node);
    case PLACE_SLICE:
        if (!g2h_heap_find(taken->made.heap, place->first, &object) ||
            !g2h_location_of_object(taken->made.view, object, &location))
            return NULL;
        walk.most = place->second;
        location.base = place->first - location.address;
        break;
    case PLACE_VARIABLE:
        found = g2h_view_is_typed(taken->made.view) &&
                g2h_location_of_variable(taken->made.view, place->name, &location) ==
                    G2H_VARIABLE_FOUND;
        return found ? walk_object(&walk, &location) : NULL;
    case PLACE_LOCAL:
        if (!find_local(taken->made.view, place, &location))
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

static void begin_property(struct text *text, bool is_first, const char *name, size_t size)
{
    text_printf(text, "%s{\"name\":", is_first ? "" : ",");
    json_write(text, name, size);
    text_printf(text, ",\"value\":");
}

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
    char words[64], when[16] = "";
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
