/*
 * capacities_visit: visits the slices, strings and maps of a heap; see
 * include/go2heapsnapshot/graph.h.
 *
 * The pointers of slices and strings are not followed. The entries of maps are counted in the
 * buckets and groups, by the bytes that say which slots are in use.
 */
#include "base/memory.h"
#include "graph/capacities.h"
#include "heap/pointers.h"

struct capacities_visitor {
    const struct g2h_capacities *capacities;
    uint32_t object;
    g2h_capacity_visit visit;
    void *context;
};

/* Reads the words of a slice (pointer, length, capacity) or of a string (pointer, length) and
 * passes them to visit. nil is skipped, and so are empty ones if everything is visited. Returns
 * false if the visit is to stop. */
static bool capacities_visit_slice(const struct capacities_visitor *visitor,
                                   const struct capacity_run *run, const uint8_t *at)
{
    const struct g2h_heap *heap = visitor->capacities->graph->heap;
    const uint64_t word = heap->params.pointer_size;
    const uint64_t address = heap_word(heap, at);
    if (address == 0)
        return true;
    struct g2h_capacity capacity = {.kind = G2H_CAPACITY_STRING,
                                    .declaration = run->declaration,
                                    .object = visitor->object,
                                    .address = address,
                                    .used = heap_word(heap, at + word),
                                    .size = run->element};
    capacity.all = capacity.used;
    if (!run->is_string) {
        capacity.kind = G2H_CAPACITY_SLICE;
        capacity.all = heap_word(heap, at + 2 * word);
    }
    const bool is_empty = capacity.all == 0 && visitor->capacities->of == OF_EVERYTHING;
    return is_empty || capacity.used > capacity.all || visitor->visit(visitor->context, &capacity);
}

/* Visits the slices and strings of count values in a row, each size bytes large; runs are those of
 * one value. Returns false if the visitor wants no more. */
static bool visit_slices(const struct capacities_visitor *visitor, const struct runs *runs,
                         const struct g2h_bytes *contents, uint64_t size, uint64_t count)
{
    const uint64_t word = visitor->capacities->graph->heap->params.pointer_size;
    for (uint64_t i = 0; i < count && (i == 0 || i <= contents->size / size); i++)
        for (uint32_t j = runs->first; j < runs->end; j++) {
            const struct capacity_run *run = &visitor->capacities->runs.data[j];
            const uint64_t header = (run->is_string ? 2 : 3) * word;
            uint64_t at = i * size + run->offset;
            for (uint64_t k = 0;
                 k < run->count && contents->size >= header && at <= contents->size - header;
                 k++, at += run->stride)
                if (!capacities_visit_slice(visitor, run, contents->data + at))
                    return false;
        }
    return true;
}

/* Visits a map's buckets or groups, unless the dump lacks a part of them: in how many slots there
 * are entries is not known then. The number of a table's groups is a power of two; the bytes after
 * them, which are the rest of the heap slot, would look like a full group. Returns false if the
 * visitor wants no more. */
static bool capacities_visit_slots(const struct capacities_visitor *visitor, uint32_t type,
                                   const struct g2h_bytes *contents, uint64_t count)
{
    const struct g2h_graph *graph = visitor->capacities->graph;
    const struct map_entries *entries = visitor->capacities->entries[type];
    struct g2h_capacity capacity = {.kind = G2H_CAPACITY_SLOTS,
                                    .declaration = visitor->capacities->map_of_type[type],
                                    .object = visitor->object};
    const struct slot_class *slot_class = heap_slot_class(graph->heap, visitor->object);
    if (!entries || slot_class->stored < slot_class->size)
        return true;
    /* Clears the lowest bit until a power of two is left. */
    while (entries->is_swiss && (count & (count - 1)) != 0)
        count &= count - 1;
    for (uint64_t i = 0; i < count && (i + 1) * entries->size <= contents->size; i++) {
        capacity.used += bits_of_word(
            map_entries_used(&graph->names, entries, contents->data + i * entries->size));
        capacity.all += SLOTS;
    }
    const struct types *types = visitor->capacities->typing->types;
    /* The strides of keys and elems differ if they are in arrays of their own; if not, both are a
     * whole slot's. */
    capacity.size = entries->key_stride != entries->elem_stride ||
                            entries->key_stride == types_size(types, entries->key)
                        ? entries->key_stride + entries->elem_stride
                        : entries->key_stride;
    return capacity.all == 0 || visitor->visit(visitor->context, &capacity);
}

/* Visits a map. The field "used" has the number of its entries, before Go 1.24 "count". address:
 * that of its memory, if its header is in a frame. Returns false if the visitor wants no more. */
static bool capacities_visit_map(const struct capacities_visitor *visitor, uint32_t type,
                                 uint32_t declaration, const struct g2h_bytes *contents,
                                 uint64_t address)
{
    const struct g2h_graph *graph = visitor->capacities->graph;
    const struct types *types = visitor->capacities->typing->types;
    const struct type_field *used = types_field(types, type, "used"),
                            *field = used ? used : types_field(types, type, "count");
    struct g2h_capacity capacity = {.kind = G2H_CAPACITY_MAP,
                                    .declaration = declaration,
                                    .object = visitor->object,
                                    .address = address};
    const uint64_t size =
        field && field->type < types->list.count ? types_size(types, field->type) : 0;
    if (size == 0 || size > 8 || contents->size < size || field->offset > contents->size - size)
        return true;
    capacity.used = heap_number(graph->heap, contents->data + field->offset, size);
    return visitor->visit(visitor->context, &capacity);
}

/* Visits what is in an object whose type is known: the map that it is, or is a part of, and the
 * slices and strings in its value or elements. Returns false if the visit is to stop. */
static bool visit_object(struct capacities_visitor *visitor, uint32_t object, uint32_t number)
{
    const struct g2h_capacities *capacities = visitor->capacities;
    const struct g2h_heap *heap = capacities->graph->heap;
    const struct object_type known = typing_object(capacities->typing, object);
    const struct type *type = types_get(capacities->typing->types, number);
    struct g2h_bytes contents = heap_contents(heap, object);
    const uint64_t base = heap_object_base(heap, object);
    if ((known.form != OBJECT_VALUE && known.form != OBJECT_ARRAY) || type->size == 0 ||
        contents.size < base)
        return true;
    contents.data += base;
    contents.size -= base;
    visitor->object = object;
    const uint64_t count = known.form == OBJECT_ARRAY ? contents.size / type->size : 1;
    if (capacities->map_of_type[number] != UINT32_MAX &&
        !(type->role == ROLE_MAP
              ? capacities_visit_map(visitor, number, capacities->map_of_type[number], &contents, 0)
              : capacities_visit_slots(visitor, number, &contents, count)))
        return false;
    return visit_slices(visitor, &capacities->of_type[number], &contents, type->size, count);
}

/* Returns whether an object leads to an array. Contents of objects that do not, such as those whose
 * slices are nil, need not be read from the dump for slices alone: all that ask for these look for
 * arrays. */
static bool leads_to_array(const struct g2h_capacities *capacities, uint32_t object)
{
    const uint32_t *claims = capacities->typing->claims;
    const uint32_t *end;
    const uint32_t *target = object_targets(capacities->graph, object, &end);
    while (target < end && (*target == NO_TARGET || (claims[*target] & CLAIM_ARRAY) == 0))
        target++;
    return target < end;
}

/* Visits the slices and maps in a range of objects. Most objects have neither slices nor maps, so
 * their types are looked up here before anything of them is read. Returns false if the visit was
 * stopped. */
bool g2h_capacities_of_objects(const struct g2h_capacities *capacities, uint32_t first,
                               uint32_t end, g2h_capacity_visit visit, void *context)
{
    const struct typing *typing = capacities->typing;
    if (!typing)
        return true;
    const uint32_t objects = capacities->graph->heap->object_count;
    const uint32_t *claims = typing->claims;
    const uint32_t *map_of_type = capacities->map_of_type;
    const struct runs *of_type = capacities->of_type;
    struct capacities_visitor visitor = {
        .capacities = capacities, .visit = visit, .context = context};
    end = MIN(end, objects);
    for (uint32_t i = first; i < end; i++) {
        if (claims[i] == 0)
            continue;
        const uint32_t type = (claims[i] & CLAIM_TYPE) - 1;
        if ((of_type[type].first < of_type[type].end || map_of_type[type] != UINT32_MAX) &&
            (capacities->of == OF_EVERYTHING || leads_to_array(capacities, i)) &&
            !visit_object(&visitor, i, type))
            return false;
    }
    return true;
}

/* Visits the maps whose headers are in a frame, by the words of it that lead to their memory: dumps
 * do not list the headers as alive. Each map counts once, although several of its words may lead
 * there. Returns false if the visitor wants no more. */
static bool visit_frame(const struct capacities_visitor *visitor,
                        const struct heap_stack_frame *frame)
{
    const struct g2h_capacities *capacities = visitor->capacities;
    const struct typing *typing = capacities->typing;
    const struct types *types = typing->types;
    struct pointers pointers;
    uint64_t offset, value, start, last = UINT64_MAX;
    pointers_of_words(capacities->graph->heap, frame->contents, &pointers);
    while (pointers_next(&pointers, &offset, &value)) {
        const uint32_t type = heap_find(capacities->graph->heap, value) != UINT32_MAX
                                  ? typing_value_in_frame(typing, frame, offset, &start)
                                  : TYPE_NONE;
        if (type == TYPE_NONE || start == last || types_get(types, type)->role != ROLE_MAP ||
            types_get(types, type)->elem >= types->list.count)
            continue;
        /* No object may have the type of the header, but objects have that of its memory. */
        const struct type *map = types_get(types, types_get(types, type)->elem);
        const uint32_t declaration = map_get(&capacities->maps, map_hash_pair(map->key, map->elem));
        if (declaration == MAP_NONE)
            continue;
        const struct g2h_bytes contents = {frame->contents.data + start,
                                           (size_t)types_size(types, type)};
        last = start;
        if (!capacities_visit_map(visitor, type, declaration, &contents, value))
            return false;
    }
    return true;
}

/* Visits the slices and strings in variables: those that DWARF describes, then those whose types
 * were inferred, and then the maps in frames. Returns false if the visitor stops it. */
bool g2h_capacities_of_variables(const struct g2h_capacities *capacities, g2h_capacity_visit visit,
                                 void *context)
{
    const struct typing *typing = capacities->typing;
    const struct capacities_visitor visitor = {capacities, UINT32_MAX, visit, context};
    for (size_t i = 0; i < capacities->of_global.count; i++) {
        const struct runs *runs = &capacities->of_global.data[i];
        if (runs->first == runs->end)
            continue;
        const uint64_t address =
            typing->dwarf_info->globals.data[i].address + exe_slide(typing->exe);
        const struct g2h_bytes contents = outside_segment_at(&typing->outside, address);
        if (!visit_slices(&visitor, runs, &contents, 0, 1))
            return false;
    }
    for (size_t i = 0; typing && i < typing->outside.values.count; i++) {
        const struct outside_value *value = &typing->outside.values.data[i];
        if (value->type >= typing->types->list.count ||
            !outside_is_static(&typing->outside, value->address))
            continue;
        const struct runs *runs = &capacities->of_type[value->type];
        const uint64_t size = types_size(typing->types, value->type);
        if (runs->first == runs->end || size == 0)
            continue;
        const struct g2h_bytes contents = outside_segment_at(&typing->outside, value->address);
        if (!visit_slices(&visitor, runs, &contents, size, value->count > 0 ? value->count : 1))
            return false;
    }
    const struct g2h_graph *graph = capacities->graph;
    const bool has_maps = capacities->maps.count > 0; /* frames are visited for maps only */
    for (size_t i = 0; has_maps && i < graph->roots.frames.count; i++) {
        const struct heap_stack_frame frame =
            heap_frame(graph->heap, graph->roots.frames.data[i].frame);
        if (!visit_frame(&visitor, &frame))
            return false;
    }
    return true;
}
