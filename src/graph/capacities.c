/*
 * capacities: how much of slices and maps is used, and where strings are; see
 * include/go2heapsnapshot/graph.h.
 *
 * The fields that are slices or strings are found once for each type that objects have, and stored
 * as runs: an array of structs with one slice each is one run. So an object that has none, as most,
 * costs capacities_visit.c one look-up.
 */
#include "base/contract.h"
#include "graph/capacities.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH = 64 /* of nested structs and arrays */ };

/* ---- where slices and strings are ---- */

/* The type or variable that the declarations of fields belong to. */
struct owner {
    enum declaration_of of;
    uint32_t number;
};

/* Returns whether values of a type may have pointers; a struct or an array may, unless its
 * descriptor says that it has none. */
static bool may_have_pointers(const struct type *type)
{
    return type->pointer_bytes > 0 && (type->kind < TYPE_BOOL || type->kind > TYPE_COMPLEX128);
}

/* Returns whether slices of a type, or strings, are among the kinds of values that capacities->of
 * asks for. */
static bool is_visited(const struct g2h_capacities *capacities, const struct type *type)
{
    const struct types *types = capacities->typing->types;
    if (capacities->of == OF_EVERYTHING)
        return true;
    return type->kind == TYPE_SLICE && type->elem < types->list.count &&
           may_have_pointers(types_get(types, type->elem)) == (capacities->of == OF_POINTER_SLICES);
}

/* Adds a field that is a slice or a string as a run of one value. Returns false if memory runs
 * out. */
static bool capacities_add_run(struct g2h_capacities *capacities, const struct owner *owner,
                               const struct type *type, uint64_t offset)
{
    const struct types *types = capacities->typing->types;
    const bool is_string = type->kind == TYPE_STRING;
    uint64_t size = 0; /* of an element; 0: not known */
    if (is_string)
        size = 1;
    else if (type->elem < types->list.count)
        size = types_size(types, type->elem);
    const struct capacity_run run = {
        offset, type->size, 1, size, as_u32(capacities->declarations.count), is_string};
    const struct declaration declaration = {owner->of, owner->number, offset};
    return size == 0 || (vector_push(&capacities->runs, run) &&
                         vector_push(&capacities->declarations, declaration));
}

static bool find_runs(struct g2h_capacities *capacities, const struct owner *owner, uint32_t number,
                      uint64_t offset, unsigned depth);

/* Extends the runs of an array's first element, which begin at index first, to all count elements,
 * each size bytes large. A run can be extended if it is one value, or if its values fill the
 * element without a gap; otherwise each element gets a run of its own. Returns false if memory runs
 * out. */
static bool repeat_runs(struct g2h_capacities *capacities, size_t first, uint64_t size,
                        uint64_t count)
{
    const size_t end = capacities->runs.count;
    bool all_extend = true;
    for (size_t i = first; i < end; i++) {
        struct capacity_run *run = &capacities->runs.data[i];
        if (run->count > 1 && run->stride * run->count != size) {
            all_extend = false;
            continue;
        }
        run->stride = run->count > 1 ? run->stride : size;
        run->count *= count;
    }
    for (uint64_t i = 1; !all_extend && i < count && capacities->left > 0; i++)
        for (size_t j = first; j < end && capacities->left > 0; j++, capacities->left--) {
            struct capacity_run run = capacities->runs.data[j];
            run.offset += i * size;
            /* The others have been extended to all elements. */
            if (run.count > 1 && run.stride * run.count < size &&
                !vector_push(&capacities->runs, run))
                return false;
        }
    return true;
}

/* Finds the slices and strings in the first element of an array, and extends what it finds to all
 * elements. Returns false if memory runs out. Types that contradict their sizes have none: the
 * executable may be damaged. */
static bool find_in_array(struct g2h_capacities *capacities, const struct owner *owner,
                          const struct type *type, uint64_t offset, unsigned depth)
{
    const struct types *types = capacities->typing->types;
    const size_t first = capacities->runs.count;
    const uint64_t size = type->elem < types->list.count ? types_size(types, type->elem) : 0;
    if (size == 0 || type->length == 0 || type->size / type->length < size)
        return true;
    return find_runs(capacities, owner, type->elem, offset, depth) &&
           repeat_runs(capacities, first, size, type->length);
}

/* Finds the slices and strings in each field of a struct; not in fields that overlap an earlier
 * one, or do not fit. Returns false if memory runs out. */
static bool find_in_struct(struct g2h_capacities *capacities, const struct owner *owner,
                           const struct type *type, uint64_t offset, unsigned depth)
{
    const struct types *types = capacities->typing->types;
    uint64_t end = 0;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const struct type_field *field = types_fields(types, type) + i;
        const uint64_t size = field->type < types->list.count ? types_size(types, field->type) : 0;
        if (field->offset < end || size == 0 || size > type->size ||
            field->offset > type->size - size)
            continue; /* the type is damaged: fields overlap or do not fit */
        end = field->offset + size;
        if (!find_runs(capacities, owner, field->type, offset + field->offset, depth))
            return false;
    }
    return true;
}

/* Finds the slices and strings in a value of a type. Returns false if memory runs out. Looks depth
 * levels deep, and at capacities->left values at most. */
static bool find_runs(struct g2h_capacities *capacities, const struct owner *owner, uint32_t number,
                      uint64_t offset, unsigned depth)
{
    const struct type *type = types_get(capacities->typing->types, number);
    const uint64_t word = capacities->graph->heap->params.pointer_size;
    if (depth == 0 || capacities->left == 0)
        return true;
    capacities->left--;
    if ((type->kind == TYPE_SLICE && type->size == 3 * word) ||
        (type->kind == TYPE_STRING && type->size == 2 * word))
        return !is_visited(capacities, type) || capacities_add_run(capacities, owner, type, offset);
    if (type->kind == TYPE_STRUCT)
        return find_in_struct(capacities, owner, type, offset, depth - 1);
    return type->kind != TYPE_ARRAY || find_in_array(capacities, owner, type, offset, depth - 1);
}

/* Finds the slices and strings of a type, once. Returns false if memory runs out. */
static bool capacities_add_type(struct g2h_capacities *capacities, uint32_t number)
{
    const struct owner owner = {DECLARATION_OF_TYPE, number};
    struct runs *runs = &capacities->of_type[number];
    if (runs->end > 0) /* found already, or it has none */
        return true;
    runs->first = as_u32(capacities->runs.count);
    const bool good = find_runs(capacities, &owner, number, 0, DEPTH);
    runs->end = as_u32(capacities->runs.count);
    return good;
}

/* Finds the slices and strings of a package's variable, none if its type is not known. Returns
 * false if memory runs out. */
static bool add_global(struct g2h_capacities *capacities, uint32_t number)
{
    const struct dwarf_global *global = &capacities->typing->dwarf_info->globals.data[number];
    const struct owner owner = {DECLARATION_OF_GLOBAL, number};
    struct runs runs = {as_u32(capacities->runs.count), 0};
    if (global->type < capacities->typing->types->list.count &&
        !find_runs(capacities, &owner, global->type, 0, DEPTH))
        return false;
    runs.end = as_u32(capacities->runs.count);
    return vector_push(&capacities->of_global, runs);
}

/* Adds a map's type, or that of its buckets or groups. Map types with the same key and element
 * types share one declaration, whatever their names. Returns false if memory runs out. */
static bool capacities_add_map(struct g2h_capacities *capacities, uint32_t number)
{
    const struct types *types = capacities->typing->types;
    const uint32_t map = types_get(types, number)->elem;
    uint32_t declaration = as_u32(capacities->declarations.count);
    if (map >= types->list.count || types_get(types, map)->kind != TYPE_MAP)
        return true;
    const struct type *type = types_get(types, map);
    if (!map_entries_create(types, number, &capacities->entries[number]) ||
        !map_put(&capacities->maps, map_hash_pair(type->key, type->elem), declaration,
                 &declaration))
        return false;
    capacities->map_of_type[number] = declaration;
    return declaration < capacities->declarations.count ||
           vector_push(&capacities->declarations,
                       ((struct declaration){DECLARATION_OF_MAP, map, 0}));
}

/* Finds the slices, strings and maps in all types that objects have, and in variables; maps only if
 * everything is asked for. Returns false if memory runs out. */
static bool add_types(struct g2h_capacities *capacities)
{
    const struct typing *typing = capacities->typing;
    const struct types *types = typing->types;
    const struct type_names *names = capacities->graph->names.of_type;
    for (uint32_t i = 0; i < types->list.count; i++) {
        const uint8_t role = types_get(types, i)->role;
        capacities->map_of_type[i] = UINT32_MAX;
        if (names[i].value == NAME_NONE && names[i].array == NAME_NONE)
            continue; /* no object has this type */
        if (!capacities_add_type(capacities, i) ||
            (capacities->of == OF_EVERYTHING &&
             (role == ROLE_MAP || role == ROLE_MAP_BUCKET || role == ROLE_MAP_GROUP) &&
             !capacities_add_map(capacities, i)))
            return false;
    }
    VECTOR_EACH(const struct outside_value, value, typing->outside.values)
        if (value->type < types->list.count && !capacities_add_type(capacities, value->type))
            return false;
    for (uint32_t i = 0; i < typing->dwarf_info->globals.count; i++)
        if (!add_global(capacities, i))
            return false;
    return true;
}

/* Allocates the tables by type, limits the work (a damaged type may contain itself many times), and
 * fills them. Returns false if memory runs out. */
static bool capacities_fill(struct g2h_capacities *capacities)
{
    enum { VISITS = 16, VISITS_MORE = 1 << 20 };
    const struct types *types = capacities->typing->types;
    capacities->left = VISITS * (uint64_t)types->fields.count + VISITS_MORE;
    capacities->of_type = calloc(types->list.count + 1, sizeof(*capacities->of_type));
    capacities->map_of_type = malloc((types->list.count + 1) * sizeof(*capacities->map_of_type));
    capacities->entries = calloc(types->list.count + 1, sizeof(*capacities->entries));
    return capacities->of_type && capacities->map_of_type && capacities->entries &&
           add_types(capacities);
}

/* Finds where slices, strings and maps are in types and variables, as far as `of` asks for them.
 * Without types nothing is visited: the runs stay empty. */
struct g2h_error *capacities_create(const struct g2h_graph *graph, enum capacities_of of,
                                    struct g2h_capacities **ret)
{
    *ret = calloc(1, sizeof(**ret));
    if (!*ret)
        return &error_no_memory;
    (*ret)->graph = graph;
    (*ret)->typing = graph->typing;
    (*ret)->of = of;
    if (!(*ret)->typing || capacities_fill(*ret))
        return NULL;
    g2h_capacities_destroy(*ret);
    *ret = NULL;
    return &error_no_memory;
}

void g2h_capacities_destroy(struct g2h_capacities *capacities)
{
    if (!capacities)
        return;
    for (size_t i = 0; capacities->entries && i < capacities->typing->types->list.count; i++)
        map_entries_destroy(capacities->entries[i]);
    free(capacities->entries);
    free(capacities->runs.data);
    free(capacities->declarations.data);
    free(capacities->of_type);
    free(capacities->map_of_type);
    free(capacities->of_global.data);
    map_deinit(&capacities->maps);
    free(capacities);
}
