/*
 * layouts: how many bytes of their slots values need; see include/go2heapsnapshot/view.h.
 *
 * A struct's padding is the part of its size that its fields, including those of nested structs, do
 * not use. The fields in descending order of their alignment need no space between them, because
 * the size of each is a multiple of its alignment; so no order needs less. All this is reported for
 * a struct only if Go's rules place its fields at the offsets that they have: then all of its
 * fields are known.
 */
#include <stdlib.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/map.h"
#include "base/releases.h"
#include "naming/names.h"
#include "view/view.h"

enum { DEPTH = 64 /* of nested structs and arrays */ };

/* The layout of a type. */
struct type_layout {
    uint64_t padding, reordered;
    uint8_t align; /* 0: not known */
    bool is_found;
};

struct g2h_layouts {
    const struct g2h_view *view;
    VECTOR(struct g2h_layout_class) classes; /* the last one is that of strings */
    uint32_t *of_type[2];                    /* by is_array and type: its class; UINT32_MAX: none */
    struct map by_name;                      /* name and is_array → the first class with them */
};

/* ---- types ---- */

/* Rounds a size up to a multiple of an alignment. */
static uint64_t round_up(uint64_t size, uint64_t align)
{
    return (size + align - 1) / align * align;
}

/* Returns the alignment of a value that has no parts, in bytes: its size, of a complex number half
 * of it, if that is a power of two less than a word; else a word. 0: of an invalid type it is not
 * known. */
static uint8_t align_of_kind(const struct type *type, unsigned word)
{
    const bool is_complex = type->kind == TYPE_COMPLEX64 || type->kind == TYPE_COMPLEX128;
    const uint64_t part = is_complex ? type->size / 2 : type->size;
    if (type->kind == TYPE_INVALID)
        return 0;
    const bool has_own_align = part == 1 || part == 2 || part == 4 || part == 8;
    return (uint8_t)(has_own_align && part < word ? part : word);
}

static const struct type_layout *layouts_find(const struct types *types,
                                              struct type_layout *layouts, uint32_t number,
                                              unsigned depth);

/* Sums up a struct's fields. Returns false if they are not where Go would put them. ret->padding is
 * what lies between them, also in those of its fields; ret->reordered is the size that the struct
 * would have if the fields were ordered by alignment, unless a field _ fixes them. */
static bool layouts_find_fields(const struct types *types, struct type_layout *layouts,
                                const struct type *type, struct type_layout *ret, unsigned depth)
{
    uint64_t end = 0, sum = 0;
    bool is_fixed = false, is_empty = false;
    ret->align = 1;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const struct type_field *field = types_fields(types, type) + i;
        if (field->type >= types->list.count || depth == 0)
            return false;
        const struct type_layout *layout = layouts_find(types, layouts, field->type, depth - 1);
        const uint64_t size = types_size(types, field->type);
        if (layout->align == 0 || size > type->size ||
            round_up(end, layout->align) != field->offset)
            return false;
        const struct g2h_bytes name = types_text(types, field->name);
        is_fixed = is_fixed || (name.size == 1 && name.data[0] == '_');
        is_empty = size == 0;
        end = field->offset + size;
        sum += size;
        ret->padding += layout->padding;
        ret->align = MAX(layout->align, ret->align);
    }
    /* A pointer to an empty field at the end must not lead to the next object, so it has a byte. */
    if (round_up(end + (is_empty && end > 0), ret->align) != type->size)
        return false;
    ret->padding += type->size - sum;
    ret->reordered = is_fixed ? type->size : round_up(sum, ret->align);
    return true;
}

/* Returns the layout of a type, which is computed once: of arrays and structs by their parts, depth
 * levels deep; of other types by their size. A type that is being computed has an unknown layout,
 * because a damaged type may contain itself. */
static const struct type_layout *layouts_find(const struct types *types,
                                              struct type_layout *layouts, uint32_t number,
                                              unsigned depth)
{
    const struct type *type = types_get(types, number);
    struct type_layout found = {.reordered = type->size, .is_found = true};
    if (layouts[number].is_found)
        return &layouts[number];
    layouts[number] = found; /* a damaged type may contain itself */
    if (type->kind == TYPE_ARRAY && type->elem < types->list.count && depth > 0) {
        const struct type_layout *elem = layouts_find(types, layouts, type->elem, depth - 1);
        const uint64_t size = types_size(types, type->elem);
        const bool is_known = elem->align > 0 && (size == 0 || type->size / size == type->length);
        found.align = is_known ? elem->align : 0;
        found.padding = is_known && size > 0 ? elem->padding * type->length : 0;
    } else if (type->kind == TYPE_STRUCT) {
        if (!layouts_find_fields(types, layouts, type, &found, depth))
            found = (struct type_layout){.reordered = type->size, .is_found = true};
    } else {
        found.align = align_of_kind(type, types->pointer_size);
    }
    layouts[number] = found;
    return &layouts[number];
}

/* ---- classes ---- */

/* Adds the class of a type's values or arrays, if objects have it: name is NAME_NONE otherwise.
 * layout is that of the type; closures and the runtime's structures, whose order of fields is not
 * the program's, lose nothing by it. Types that are shown alike, with the same layout, are one
 * class, as all sudogs are; types without size have none. Returns false if memory runs out. */
static bool layouts_add_class(struct g2h_layouts *layouts, uint32_t number, bool is_array,
                              uint32_t name, const struct type_layout *layout)
{
    const struct type *type = types_get(layouts->view->graph->typing->types, number);
    /* the order of the fields of a closure or of the runtime's structures is not the program's */
    const bool is_own = type->role == ROLE_NONE;
    layouts->of_type[is_array][number] = UINT32_MAX;
    if (name == NAME_NONE || type->size == 0)
        return true;
    struct g2h_layout_class added = {name, is_array, type->size, 0, type->size};
    if (is_own) {
        added.padding = layout->padding;
        added.reordered = layout->reordered;
    }
    uint32_t class = as_u32(layouts->classes.count);
    if (!map_put(&layouts->by_name, (uint64_t)name << 1 | is_array, class, &class))
        return false;
    const struct g2h_layout_class *known =
        class < layouts->classes.count ? &layouts->classes.data[class] : NULL;
    if (known && (known->size != added.size || known->padding != added.padding ||
                  known->reordered != added.reordered))
        known = NULL;
    layouts->of_type[is_array][number] = known ? class : as_u32(layouts->classes.count);
    return known || vector_push(&layouts->classes, added);
}

/* Makes two classes of each type that objects have, of single values and of arrays, and one of
 * strings. Returns false if memory runs out. */
static bool add_classes(struct g2h_layouts *layouts)
{
    const struct g2h_graph *graph = layouts->view->graph;
    const struct types *types = graph->typing->types;
    _cleanup_free_ struct type_layout *found = calloc(types->list.count + 1, sizeof(*found));
    for (size_t i = 0; i < 2; i++)
        layouts->of_type[i] = malloc((types->list.count + 1) * sizeof(*layouts->of_type[i]));
    if (!found || !layouts->of_type[0] || !layouts->of_type[1])
        return false;
    for (uint32_t i = 0; i < types->list.count; i++) {
        const struct type_names *names = &graph->names.of_type[i];
        const bool is_used = names->value != NAME_NONE || names->array != NAME_NONE;
        const struct type_layout *layout = is_used ? layouts_find(types, found, i, DEPTH) : NULL;
        if (!layouts_add_class(layouts, i, false, names->value, layout) ||
            !layouts_add_class(layouts, i, true, names->array, layout))
            return false;
    }
    return vector_push(&layouts->classes,
                       ((struct g2h_layout_class){G2H_NAME_NONE, .size = 1, .reordered = 1}));
}

/* Lists the classes of the heap's types, for their layouts. Without types there are no classes. */
struct g2h_error *g2h_layouts_create(const struct g2h_view *view, struct g2h_layouts **ret)
{
    *ret = calloc(1, sizeof(**ret));
    TRY_MEMORY(*ret);
    (*ret)->view = view;
    if (!view->graph->typing || add_classes(*ret))
        return NULL;
    g2h_layouts_destroy(*ret);
    *ret = NULL;
    return &error_no_memory;
}

void g2h_layouts_destroy(struct g2h_layouts *layouts)
{
    if (!layouts)
        return;
    free(layouts->classes.data);
    free(layouts->of_type[0]);
    free(layouts->of_type[1]);
    map_deinit(&layouts->by_name);
    free(layouts);
}

uint32_t g2h_layouts_count(const struct g2h_layouts *layouts)
{
    return as_u32(layouts->classes.count);
}

struct g2h_layout_class g2h_layouts_class(const struct g2h_layouts *layouts, uint32_t number)
{
    return layouts->classes.data[number];
}

/* ---- objects ---- */

/* Finds the layout of an object; false if its type is not sure. Tiny blocks are left out, since
 * several small values share one. */
bool g2h_layouts_find(const struct g2h_layouts *layouts, uint32_t object, struct g2h_layout *ret)
{
    const struct g2h_graph *graph = layouts->view->graph;
    if (!graph->typing)
        return false;
    const struct slot_class *slot_class = heap_slot_class(graph->heap, object);
    const uint32_t claim = graph->typing->claims[object];
    ret->slot = slot_class->size;
    if (slot_class->size == TINY_BLOCK && !slot_class->has_pointers)
        return false;
    if (typing_is_text(graph->typing, object)) {
        ret->number = as_u32(layouts->classes.count) - 1;
        ret->header = 0;
        ret->size = names_text_size(&graph->names, object);
        return true;
    }
    if (!typing_is_sure(graph->typing, object))
        return false;
    const bool is_array = (claim & CLAIM_ARRAY) != 0;
    ret->number = layouts->of_type[is_array][(claim & CLAIM_TYPE) - 1];
    ret->header = heap_value_base(graph->heap, slot_class);
    if (ret->number == UINT32_MAX)
        return false;
    ret->size = is_array ? 0 : layouts->classes.data[ret->number].size;
    return true;
}

/* Returns the bytes of the slot for an object of this size, with pointers; header is the size of
 * the malloc header, 0 if the release has none. Only small objects too large for bits at the end of
 * their span have one. */
uint64_t g2h_layouts_slot(const struct g2h_layouts *layouts, uint64_t header, uint64_t size)
{
    const uint64_t word = layouts->view->graph->heap->params.pointer_size;
    /* runtime/mbitmap.go: heapBitsInSpan(); runtime/malloc.go: maxSmallSize - mallocHeaderSize */
    const uint64_t bits_in_span = word == 8 ? 512 : 128;
    const bool has_header = header > 0 && size > bits_in_span && size <= LARGEST_SMALL - header;
    const uint64_t all = size + (has_header ? header : 0);
    const uint64_t class = size_class(all);
    return class > 0 ? class : round_up(all, SPAN_UNIT);
}
