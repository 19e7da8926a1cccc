/*
 * declarations: numbers where slices, strings and maps are declared, and names these places:
 * "main.Cache.items", "main.buffers", "map[string]int". A declaration is a field of a type, a
 * variable of a package, or a type of maps; see include/go2heapsnapshot/view.h.
 */
#include <string.h>

#include "base/contract.h"
#include "graph/capacities.h"
#include "view/view.h"

struct g2h_error *g2h_capacities_create(const struct g2h_view *view, struct g2h_capacities **ret)
{
    return capacities_create(view->graph, OF_EVERYTHING, ret);
}

struct g2h_error *g2h_capacities_create_noscan(const struct g2h_view *view,
                                               struct g2h_capacities **ret)
{
    return capacities_create(view->graph, OF_NOSCAN_SLICES, ret);
}

uint32_t g2h_capacities_declaration_count(const struct g2h_capacities *capacities)
{
    return as_u32(capacities->declarations.count);
}

/* ---- names ---- */

static void capacities_append_type(const struct g2h_capacities *capacities, uint32_t type,
                                   struct text *text)
{
    const struct g2h_bytes name = types_name(capacities->typing->types, type);
    text_append_name(text, &capacities->graph->names, name.data, name.size, NAME_LIMIT);
}

/* Appends "map[Key]Elem". */
static void append_map(const struct g2h_capacities *capacities, const struct type *map,
                       struct text *text)
{
    text_append_string(text, "map[");
    capacities_append_type(capacities, map->key, text);
    text_append_string(text, "]");
    capacities_append_type(capacities, map->elem, text);
}

/* Appends the path to an offset of a type without indices: "[3].Name" becomes "[].Name", for all
 * elements. In the memory of a map, "slots[].elem" becomes "[]", and "slots[].key" " (key)". */
static void capacities_append_path(const struct g2h_capacities *capacities, uint32_t type,
                                   uint64_t offset, struct text *text)
{
    static const char *const parts[][2] = {
        {"slots[].elem", "[]"}, {"elems[]", "[]"}, {"slots[].key", " (key)"}, {"keys[]", " (key)"}};
    char path[NAME_LIMIT];
    size_t size = types_path(capacities->typing->types, type, offset, path, sizeof(path));
    size_t kept = 0;
    bool in_brackets = false;
    for (size_t i = 0; i < size; i++) {
        if (path[i] == '[' || path[i] == ']')
            in_brackets = path[i] == '[';
        if (!in_brackets || path[i] == '[')
            path[kept++] = path[i];
    }
    const char *at = path;
    const bool is_map =
        types_map_inside(capacities->typing->types, type) < capacities->typing->types->list.count;
    for (size_t i = 0; is_map && i < COUNT_OF(parts); i++)
        if (kept >= strlen(parts[i][0]) && memcmp(path, parts[i][0], strlen(parts[i][0])) == 0) {
            text_append_string(text, parts[i][1]);
            at += strlen(parts[i][0]);
            kept -= strlen(parts[i][0]);
            break;
        }
    if (kept > 0 && at[0] != '[' && at[0] != '.')
        text_append_string(text, ".");
    text_append_utf8(text, at, kept, NAME_LIMIT);
}

/* Appends where a slice or map is declared. A field in a map's bucket or group is called by the
 * map, as the program declares it. */
void g2h_capacities_declaration(const struct g2h_capacities *capacities, uint32_t number,
                                struct g2h_text *text)
{
    const struct types *types = capacities->typing->types;
    const struct declaration *declaration = &capacities->declarations.data[number];
    struct text made = view_borrow(text);
    made.size = 0;
    if (declaration->of == DECLARATION_OF_MAP) {
        append_map(capacities, types_get(types, declaration->number), &made);
    } else if (declaration->of == DECLARATION_OF_TYPE) {
        const uint32_t map = types_map_inside(types, declaration->number);
        if (map < types->list.count)
            append_map(capacities, types_get(types, map), &made);
        else
            capacities_append_type(capacities, declaration->number, &made);
        capacities_append_path(capacities, declaration->number, declaration->offset, &made);
    } else {
        const struct dwarf_global *global =
            &capacities->typing->dwarf_info->globals.data[declaration->number];
        const struct g2h_bytes name = types_text(types, global->name);
        text_append_name(&made, &capacities->graph->names, name.data, name.size, NAME_LIMIT);
        capacities_append_path(capacities, global->type, declaration->offset, &made);
    }
    view_give_back(text, &made);
}
