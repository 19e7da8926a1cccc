/*
 * mappings: the memory outside the heap that objects, variables and frames point into.
 *
 * Mapped files, memory from mmap(), and C's memory are not in objects. A mapping that a pointer
 * leads into has a node, with its resident size in the name; its own size is 0, because it is not
 * the heap's. The edges to it are weak: pointers do not keep a mapping. Only for a live process are
 * the mappings known.
 */
#include <string.h>

#include "base/bisect.h"
#include "base/contract.h"
#include "base/scope.h"
#include "heap/pointers.h"
#include "naming/namer.h"
#include "roots/builder.h"

enum { NUMBERED = 1024 /* elements of an array with edges of their own */ };

/* Mappings are sorted, and most addresses are below or above all of them. */
bool mappings_find(const struct g2h_memory *memory, uint64_t address, uint32_t *ret)
{
    const size_t count = memory ? memory->mapping_count : 0;
    const struct g2h_mapping *mappings = count > 0 ? memory->mappings : NULL;
    size_t after;
    if (count == 0 || address < mappings[0].start || address >= mappings[count - 1].end)
        return false;
    BISECT(after, count, mappings[after].start <= address);
    assert(after > 0 && (after == count || mappings[after - 1].end <= mappings[after].start));
    *ret = (uint32_t)after - 1;
    return address < mappings[after - 1].end;
}

bool builder_find_mapping(const struct builder *builder, uint64_t value, uint32_t *ret)
{
    return mappings_find(builder->memory, value, ret) &&
           map_get(&builder->heap->itab_by_address, value) == MAP_NONE;
}

/* Returns the name of a mapping's file, or what it is. File names are redacted if strings are. */
static const char *file_of_mapping(const struct builder *builder, const struct g2h_mapping *mapping)
{
    if (mapping->name && !builder->names->redaction)
        return mapping->name;
    return mapping->part == G2H_MEMORY_FILES ? "file" : "anonymous";
}

/* Makes the name of a mapping: "610 MB bolt.db", "400 MB anonymous". */
static void name_mapping(struct builder *builder, const struct g2h_mapping *mapping)
{
    struct text *text = &builder->text;
    const char *name = file_of_mapping(builder, mapping);
    text->size = 0;
    text_append_bytes(text, mapping->resident);
    text_append_string(text, " ");
    text_append_utf8(text, (const uint8_t *)name, strlen(name), NAME_LIMIT / 4);
}

/* Gets the node of a mapping; adds it if it is new. */
static bool mapping_node(struct builder *builder, uint32_t mapping, uint32_t *ret)
{
    const struct g2h_mapping *of = &builder->memory->mappings[mapping];
    *ret = map_get(&builder->mapping_nodes, mapping);
    if (*ret != MAP_NONE)
        return true;
    if (builder->mappings == UINT32_MAX &&
        !builder_add_group(builder, builder->root, "(mappings)", G2H_NODE_MAPPINGS,
                           &builder->mappings))
        return false;
    name_mapping(builder, of);
    return builder_add_member(builder, builder->mappings, mapping + 1, G2H_NODE_MAPPING, of->start,
                              ret) &&
           map_put(&builder->mapping_nodes, mapping, *ret, ret);
}

bool builder_point_at_mapping(struct builder *builder, uint32_t source, uint32_t name,
                              uint32_t mapping)
{
    uint32_t node;
    return mapping_node(builder, mapping, &node) &&
           builder_add_edge(builder, node_synthetic(source), EDGE_WEAK, name, node_synthetic(node));
}

/* ---- pointers of roots ---- */

/* Counts the pointer, and whether it hits an object, for messages. A word that hits nothing may
 * point into a mapping. */
bool builder_add_pointer(struct builder *builder, uint32_t source, enum roots_edge_type type,
                         uint64_t value)
{
    struct root_account *account = &builder->roots->account;
    uint32_t name, object, mapping;
    assert(source < builder->roots->nodes.count);
    if (value == 0)
        return true;
    account->pointers++;
    object = heap_find(builder->heap, value);
    if (object == UINT32_MAX) {
        account->pointers_missed++;
        return !builder_find_mapping(builder, value, &mapping) ||
               (builder_label(builder, &name) &&
                builder_point_at_mapping(builder, source, name, mapping));
    }
    account->pointers_hit++;
    return builder_label(builder, &name) &&
           builder_add_edge(builder, node_synthetic(source), type, name, node_object(object));
}

bool builder_add_named_pointer(struct builder *builder, uint32_t source, enum roots_edge_type type,
                               const char *name, uint64_t value)
{
    return builder_text(builder, name) && builder_add_pointer(builder, source, type, value);
}

/* ---- objects ---- */

/* Lists the words of an object that point into mappings. */
static bool mappings_list_words(struct builder *builder, uint32_t object)
{
    const struct g2h_heap *heap = builder->heap;
    struct pointers pointers;
    uint64_t offset, value;
    uint32_t mapping, node;
    pointers_of(heap, object, heap_slot_class(heap, object), &pointers);
    while (pointers_next(&pointers, &offset, &value)) {
        if (!builder_find_mapping(builder, value, &mapping) ||
            (in_heap_range(heap, value) && heap_find(heap, value) != UINT32_MAX))
            continue;
        if (!mapping_node(builder, mapping, &node) ||
            !vector_push(&builder->roots->mapped, ((struct mapped_word){offset, object, node})))
            return false;
    }
    return true;
}

/* Returns whether a mapping has addresses in the range of the heap's. */
static bool is_among_heap(const struct builder *builder)
{
    const struct g2h_memory *memory = builder->memory;
    const uint64_t low = builder->heap->index.low, high = builder->heap->index.high;
    for (size_t i = 0; i < memory->mapping_count; i++)
        if (memory->mappings[i].start < high && memory->mappings[i].end > low)
            return true;
    return false;
}

/* If no mapping is among the heap's addresses, only objects with a pointer that leaves the heap can
 * point into one. */
struct g2h_error *builder_add_mappings(struct builder *builder)
{
    const struct g2h_heap *heap = builder->heap;
    if (!builder->memory || builder->memory->mapping_count == 0)
        return NULL;
    const bool is_any = is_among_heap(builder);
    for (uint32_t object = 0; object < heap->object_count; object++)
        if (heap_slot_class(heap, object)->has_pointers &&
            (is_any || targets_leave_heap(builder->targets, object)))
            TRY_MEMORY(mappings_list_words(builder, object));
    return NULL;
}

/* Gets the name of an object's word. Names with numbers are numerous: only those of the first
 * elements are distinguished. */
static bool mappings_name_word(struct names *names, struct namer *namer, uint64_t offset,
                               struct text *text, uint32_t *ret)
{
    const struct edge_name name = namer_name(namer, offset);
    if (name.form == EDGE_NAME_STRING) {
        *ret = (uint32_t)name.value;
        return true;
    }
    text->size = 0;
    if (name.form == EDGE_NAME_INDEX && name.value >= NUMBERED)
        text_append_string(text, "[…]");
    else
        namer_append(namer, &name, text);
    return !text->failed && names_add_label(names, text->data, text->size, ret);
}

/* Words of one object follow each other, so each object's namer is made once. */
struct g2h_error *roots_name_mapped(struct roots *roots, const struct g2h_heap *heap,
                                    struct names *names)
{
    _cleanup_(text_deinit) struct text text = {0};
    uint32_t named = UINT32_MAX, name;
    struct g2h_object object;
    struct namer namer;
    for (size_t i = 0; i < roots->mapped.count; i++) {
        const struct mapped_word *word = &roots->mapped.data[i];
        if (word->object != named) {
            heap_object(heap, word->object, &object);
            namer_init(&namer, names, word->object, heap_slot_class(heap, word->object),
                       &object.contents);
        }
        named = word->object;
        TRY_MEMORY(mappings_name_word(names, &namer, word->offset, &text, &name) &&
                   roots_add_edge(roots, node_object(word->object), EDGE_WEAK, name,
                                  node_synthetic(word->node)));
    }
    free(roots->mapped.data);
    roots->mapped.data = NULL;
    return NULL;
}
