/* held_classes; see held_classes.h. */
#include "output/held_classes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/heap.h>
#include <go2heapsnapshot/identity.h>

#include "base/error.h"
#include "base/scope.h"
#include "base/text.h"

/* Several declarations, or none that is worth a name. */
#define OF_SEVERAL (UINT32_MAX - 1)

/* An array, and the declaration of the slices that lead to it. */
struct held_array {
    uint32_t object, declaration;
};

/* A declaration, and the bytes of the arrays that only its slices lead to. */
struct held_declaration {
    uint64_t bytes;
    uint32_t number, type; /* type: the name of the arrays' class */
    uint32_t class;        /* index in classes; UINT32_MAX: none */
};

struct held_finder {
    const struct g2h_view *view;
    struct g2h_capacities *capacities;
    const struct held_classes *classes;
    VECTOR(struct held_array) arrays;
    struct map array_of; /* object → index in arrays */
    VECTOR(struct held_declaration) declarations;
    struct g2h_text text;
};

static void held_finder_deinit(struct held_finder *finder)
{
    g2h_capacities_destroy(finder->capacities);
    free(finder->arrays.data);
    free(finder->declarations.data);
    map_deinit(&finder->array_of);
    g2h_text_deinit(&finder->text);
}

static bool find_types(const struct g2h_view *view, struct held_classes *classes)
{
    static const char *const names[] = {
        "[]uint8",   "[]int8",  "[]uint16", "[]int16", "[]uint32",    "[]int32",
        "[]uint64",  "[]int64", "[]uint",   "[]int",   "[]uintptr",   "[]float32",
        "[]float64", "[]bool",  "[]rune",   "[]byte",  "[]complex64", "[]complex128"};
    char header[64];
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct held_type type;
        if (!g2h_view_find_name(view, names[i], strlen(names[i]), &type.name) ||
            (g2h_view_name_uses(view, type.name) & G2H_NAME_OF_NODE) == 0)
            continue;
        snprintf(header, sizeof(header), "%s header", names[i]);
        if (!g2h_view_find_name(view, header, strlen(header), &type.header))
            type.header = UINT32_MAX;
        if (!vector_push(&classes->types, type))
            return false;
    }
    return true;
}

/* Returns the type with a name; NULL: none. */
static const struct held_type *type_of(const struct held_classes *classes, uint32_t name)
{
    for (size_t i = 0; i < classes->types.count; i++)
        if (classes->types.data[i].name == name)
            return &classes->types.data[i];
    return NULL;
}

/* ---- what leads to each array ---- */

/* Notes a slice. Those of garbage do not count, unless they lead to garbage. */
static bool note_slice(void *context, const struct g2h_capacity *capacity)
{
    struct held_finder *finder = context;
    const struct held_type *type = NULL;
    uint32_t object, index = (uint32_t)finder->arrays.count;
    if (capacity->kind != G2H_CAPACITY_SLICE || capacity->all == 0 ||
        !g2h_heap_find(g2h_view_heap(finder->view), capacity->address, &object) ||
        !(type = type_of(finder->classes, g2h_view_class(finder->view, object))) ||
        (capacity->object != UINT32_MAX && g2h_view_is_garbage(finder->view, capacity->object) &&
         !g2h_view_is_garbage(finder->view, object)))
        return true;
    const bool is_alone = capacity->object != UINT32_MAX &&
                          g2h_view_class(finder->view, capacity->object) == type->header;
    const struct held_array fresh = {object, is_alone ? OF_SEVERAL : capacity->declaration};
    if (!map_put(&finder->array_of, object, index, &index))
        return false;
    if (index == finder->arrays.count)
        return vector_push(&finder->arrays, fresh);
    if (finder->arrays.data[index].declaration != fresh.declaration)
        finder->arrays.data[index].declaration = OF_SEVERAL;
    return true;
}

/* ---- the largest declarations ---- */

static int compare_declarations(const void *a, const void *b)
{
    const struct held_declaration *one = a, *other = b;
    if (one->bytes != other->bytes)
        return one->bytes > other->bytes ? -1 : 1;
    return one->number < other->number ? -1 : one->number > other->number;
}

static int compare_numbers(const void *a, const void *b)
{
    const struct held_declaration *one = a, *other = b;
    return one->number < other->number ? -1 : one->number > other->number;
}

static struct g2h_error *sum_declarations(struct held_finder *finder)
{
    const struct g2h_heap *heap = g2h_view_heap(finder->view);
    _cleanup_(map_deinit) struct map by_number = {0};
    for (size_t i = 0; i < finder->arrays.count; i++) {
        const struct held_array *array = &finder->arrays.data[i];
        const struct held_declaration fresh = {.number = array->declaration,
                                               .type = g2h_view_class(finder->view, array->object),
                                               .class = UINT32_MAX};
        uint32_t index = (uint32_t)finder->declarations.count;
        if (array->declaration == OF_SEVERAL)
            continue;
        TRY_MEMORY(map_put(&by_number, array->declaration, index, &index));
        if (index == finder->declarations.count)
            TRY_MEMORY(vector_push(&finder->declarations, fresh));
        finder->declarations.data[index].bytes += g2h_heap_size(heap, array->object);
    }
    return NULL;
}

/* Makes the name of a class, "[]uint8 (main.Block.Body)"; "[]uint8 (in [][]uint8)" of slices that
 * are declared only as elements. */
static void make_name(struct held_finder *finder, const struct held_declaration *declaration,
                      struct text *ret)
{
    size_t size;
    const char *type = g2h_view_name(finder->view, declaration->type, &size);
    g2h_capacities_declaration(finder->capacities, declaration->number, &finder->text);
    ret->size = 0;
    const bool is_element = finder->text.size == size && memcmp(finder->text.data, type, size) == 0;
    text_append(ret, type, size);
    text_append_string(ret, is_element ? " (in []" : " (");
    text_append_utf8(ret, (const uint8_t *)finder->text.data, finder->text.size, 800);
    text_append_string(ret, ")");
}

/* ---- classes ---- */

/* Gives an array its class: that of its declaration, or in a series the one that it had before. */
static struct g2h_error *held_classes_set(struct held_classes *classes, struct g2h_identity *series,
                                          uint32_t object, const struct text *name,
                                          held_classes_add *add, void *context)
{
    const char *class = name ? name->data : NULL;
    size_t size = name ? name->size : 0;
    uint32_t number;
    if (series)
        TRY_MEMORY(g2h_identity_class(series, object, class, size, &class, &size));
    if (class)
        TRY_MEMORY(add(context, class, size, &number) &&
                   map_put(&classes->class_of, object, number, &number));
    return NULL;
}

/* The names of the largest declarations. */
struct held_names {
    struct text list[HELD_CLASSES_MOST];
    size_t count;
};

static void held_names_deinit(struct held_names *names)
{
    for (size_t i = 0; i < HELD_CLASSES_MOST; i++)
        text_deinit(&names->list[i]);
}

static struct g2h_error *choose_names(struct held_finder *finder, struct held_names *names)
{
    vector_sort(&finder->declarations, compare_declarations);
    for (size_t i = 0; i < finder->declarations.count && names->count < HELD_CLASSES_MOST; i++) {
        struct text *name = &names->list[names->count];
        make_name(finder, &finder->declarations.data[i], name);
        TRY_MEMORY(!name->failed);
        finder->declarations.data[i].class = (uint32_t)names->count++;
    }
    vector_sort(&finder->declarations, compare_numbers);
    return NULL;
}

/* Returns the name of an array's class; NULL: its type. */
static const struct text *name_of(const struct held_finder *finder, const struct held_names *names,
                                  const struct held_array *array)
{
    const struct held_declaration key = {.number = array->declaration},
                                  *found = finder->declarations.count == 0
                                               ? NULL
                                               : bsearch(&key, finder->declarations.data,
                                                         finder->declarations.count, sizeof(key),
                                                         compare_numbers);
    return found && found->class != UINT32_MAX ? &names->list[found->class] : NULL;
}

/* Arrays that no slice leads to are not among those that slices do lead to, but may have had a
 * class in the dump before; so a series asks for all of them. */
static struct g2h_error *set_others(struct held_finder *finder, struct held_classes *classes,
                                    struct g2h_identity *series, held_classes_add *add,
                                    void *context)
{
    const uint32_t objects = g2h_heap_object_count(g2h_view_heap(finder->view));
    for (uint32_t i = 0; series && i < objects; i++)
        if (type_of(classes, g2h_view_class(finder->view, i)) &&
            map_get(&finder->array_of, i) == MAP_NONE)
            TRY(held_classes_set(classes, series, i, NULL, add, context));
    return NULL;
}

struct g2h_error *held_classes_init(struct held_classes *ret, const struct g2h_view *view,
                                    struct g2h_identity *series, held_classes_add *add,
                                    void *context)
{
    _cleanup_(held_finder_deinit) struct held_finder finder = {.view = view, .classes = ret};
    _cleanup_(held_names_deinit) struct held_names names = {.count = 0};
    *ret = (struct held_classes){.class_of = {0}};
    if (!g2h_view_is_typed(view) || g2h_view_account(view)->folded_nodes > 0)
        return NULL;
    TRY_MEMORY(find_types(view, ret));
    if (ret->types.count == 0)
        return NULL;
    TRY(g2h_capacities_create_noscan(view, &finder.capacities));
    TRY_MEMORY(g2h_capacities_of_variables(finder.capacities, note_slice, &finder) &&
               g2h_capacities_of_objects(finder.capacities, 0, UINT32_MAX, note_slice, &finder));
    TRY(sum_declarations(&finder));
    TRY(choose_names(&finder, &names));
    for (size_t i = 0; i < finder.arrays.count; i++)
        TRY(held_classes_set(ret, series, finder.arrays.data[i].object,
                             name_of(&finder, &names, &finder.arrays.data[i]), add, context));
    return set_others(&finder, ret, series, add, context);
}

void held_classes_deinit(struct held_classes *classes)
{
    free(classes->types.data);
    map_deinit(&classes->class_of);
    *classes = (struct held_classes){.class_of = {0}};
}
