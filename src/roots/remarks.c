/*
 * remarks: adds weak edges with facts about an object that are not in its class: where it was
 * allocated, if the profiler has sampled it; that its type is a guess; which parts of known type it
 * holds; and where the function of a closure is defined. Each fact is a node below a group, made at
 * first use.
 */
#include <string.h>

#include "base/contract.h"
#include "roots/builder.h"

/* ==== where sampled objects were allocated, as recorded by runtime.MemProfile ==== */

/* Returns whether a frame belongs to the runtime's allocator; up to 1.4 that was C code, whose
 * functions have no package. */
static bool is_allocator(const struct g2h_memprof_frame *frame)
{
    const struct g2h_bytes *file = &frame->file;
    return bytes_begin(frame->function, "runtime.") ||
           (file->size > 4 && memcmp(file->data + file->size - 4, ".goc", 4) == 0) ||
           !memchr(frame->function.data, '.', frame->function.size);
}

/* Makes the name of a site: the innermost function outside the runtime with its line, and up to
 * three of its callers. "(no stack)" if it has none. */
static void site_name(struct builder *builder, struct g2h_memprof memprof)
{
    enum { CALLERS = 3 };
    struct g2h_memprof_frame frame;
    unsigned shown = 0;
    builder->text.size = 0;
    while (shown <= CALLERS && g2h_memprof_next_frame(&memprof, &frame)) {
        const struct g2h_bytes file = bytes_base_name(frame.file);
        if (shown == 0 && memprof.frame_count > 0 && is_allocator(&frame))
            continue;
        if (shown++ > 0)
            text_append_string(&builder->text, " ← ");
        text_append_name(&builder->text, builder->names, frame.function.data, frame.function.size,
                         NAME_LIMIT / 8);
        text_printf(&builder->text, " ");
        text_append_utf8(&builder->text, file.data, file.size, NAME_LIMIT / 16);
        text_printf(&builder->text, ":%llu", (unsigned long long)frame.line);
    }
    if (shown == 0)
        text_printf(&builder->text, "(no stack)");
}

/* Adds weak edges from sampled objects to their allocation sites, which are named on first use.
 * There is one sample for every MemProfileRate bytes allocated. */
struct g2h_error *builder_add_allocation_sites(struct builder *builder)
{
    struct root_account *account = &builder->roots->account;
    const struct g2h_heap *heap = builder->heap;
    struct map profile_by_id = {0}, node_by_id = {0};
    uint32_t group = UINT32_MAX, node, name, number = 0;
    bool good = builder_label_of(builder, "allocated at", &name);

    for (size_t i = 0; i < heap->records[G2H_RECORD_MEMPROF].count && good; i++) {
        struct g2h_record record;
        g2h_heap_record(heap, G2H_RECORD_MEMPROF, i, &record);
        good = map_put(&profile_by_id, record.memprof.id, as_u32(i), &node);
    }
    for (size_t i = 0; i < heap->records[G2H_RECORD_ALLOCSAMPLE].count && good; i++) {
        struct g2h_record record, profile;
        g2h_heap_record(heap, G2H_RECORD_ALLOCSAMPLE, i, &record);
        uint32_t object = heap_find(heap, record.allocsample.object);
        uint32_t profile_index = map_get(&profile_by_id, record.allocsample.memprof);
        account->samples++;
        if (object == UINT32_MAX || profile_index == MAP_NONE) {
            account->samples_missed++;
            continue;
        }
        node = map_get(&node_by_id, record.allocsample.memprof);
        if (node == MAP_NONE) {
            if (group == UINT32_MAX)
                good = builder_add_group(builder, builder->root, "(allocation sites)",
                                         G2H_NODE_ALLOCATION_SITES, &group);
            g2h_heap_record(heap, G2H_RECORD_MEMPROF, profile_index, &profile);
            site_name(builder, profile.memprof);
            good = good &&
                   builder_add_member(builder, group, ++number, G2H_NODE_ALLOCATION_SITE,
                                      record.allocsample.memprof, &node) &&
                   map_put(&node_by_id, record.allocsample.memprof, node, &node);
        }
        good = good && builder_add_edge(builder, node_object(object), EDGE_WEAK, name,
                                        node_synthetic(node));
    }
    map_deinit(&profile_by_id);
    map_deinit(&node_by_id);
    return good ? NULL : &error_no_memory;
}

/* ==== facts about an object that are not in its class ====
 *
 * Whether the type of an object is a guess, and which type a part of it has if no more is known,
 * depends on what points to it in this dump. If the name of its class showed this, an object in two
 * dumps could look deleted and new. So weak edges show it; they lead to nodes shared by all such
 * objects. In the same way, closures have edges to the location of their function.
 */

struct remarks {
    struct builder *builder;
    uint32_t guesses, parts, functions;   /* groups; UINT32_MAX: not added yet */
    uint32_t is_guess, holds, defined_at; /* strings */
    struct map function_of_code;          /* address of code → node, or NO_FUNCTION */
    struct map part_by_name;              /* name of the type → node */
};

/* Adds an edge from an object whose type is a guess to "(guesses)". Returns false if memory runs
 * out. */
static bool add_guess(struct remarks *remarks, uint32_t object)
{
    struct builder *builder = remarks->builder;
    if (remarks->guesses == UINT32_MAX && !builder_add_group(builder, builder->root, "(guesses)",
                                                             G2H_NODE_GUESSES, &remarks->guesses))
        return false;
    return builder_add_edge(builder, node_object(object), EDGE_WEAK, remarks->is_guess,
                            node_synthetic(remarks->guesses));
}

/* Gets the node of a type that parts of objects have; adds it if it is new. Returns false if memory
 * runs out. */
static bool part_node(struct remarks *remarks, uint32_t type, uint32_t *ret)
{
    struct builder *builder = remarks->builder;
    const struct types *types = builder->typing->types;
    const struct g2h_bytes name = types_name(types, type);
    *ret = map_get(&remarks->part_by_name, types_get(types, type)->name);
    if (*ret != MAP_NONE)
        return true;
    if (remarks->parts == UINT32_MAX &&
        !builder_add_group(builder, builder->root, "(parts)", G2H_NODE_PARTS, &remarks->parts))
        return false;
    builder->text.size = 0;
    text_append_name(&builder->text, builder->names, name.data, name.size, NAME_LIMIT);
    return builder_add_member(builder, remarks->parts, as_u32(remarks->part_by_name.count) + 1,
                              G2H_NODE_PART, id_hash_text(name.data, name.size), ret) &&
           map_put(&remarks->part_by_name, types_get(types, type)->name, *ret, ret);
}

/* Adds an edge from an object, of which only a part has a known type, to that type's node. Returns
 * false if memory runs out. */
static bool remarks_add_part(struct remarks *remarks, uint32_t object, uint32_t type)
{
    uint32_t node;
    return part_node(remarks, type, &node) &&
           builder_add_edge(remarks->builder, node_object(object), EDGE_WEAK, remarks->holds,
                            node_synthetic(node));
}

#define NO_FUNCTION (MAP_NONE - 1)

/* Gets the node for a function's location, by the address of its code; NO_FUNCTION if the location
 * is not known. Returns false if memory runs out. */
static bool function_node(struct remarks *remarks, uint64_t code, uint32_t *ret)
{
    struct builder *builder = remarks->builder;
    struct g2h_line line;
    *ret = map_get(&remarks->function_of_code, code);
    if (*ret != MAP_NONE)
        return true;
    *ret = NO_FUNCTION;
    if (exe_line(builder->exe, code, &builder->lines_left, &line) && line.line > 0 &&
        /* <autogenerated>: made by the compiler */
        line.file.size > 0 && line.file.data[0] != '<') {
        const struct g2h_bytes file = bytes_base_name(line.file);
        if (remarks->functions == UINT32_MAX &&
            !builder_add_group(builder, builder->root, "(functions)", G2H_NODE_FUNCTIONS,
                               &remarks->functions))
            return false;
        builder->text.size = 0;
        text_append_utf8(&builder->text, file.data, file.size, NAME_LIMIT / 16);
        text_printf(&builder->text, ":%u", line.line);
        if (!builder_add_member(builder, remarks->functions,
                                as_u32(remarks->function_of_code.count) + 1, G2H_NODE_FUNCTION,
                                code, ret))
            return false;
    }
    return map_put(&remarks->function_of_code, code, *ret, ret);
}

/* Adds a weak edge from a closure to its function's location; none if it is too small for a
 * pointer, or if its function is not known. Returns false if memory runs out. */
static bool add_definition(struct remarks *remarks, uint32_t object)
{
    const struct g2h_heap *heap = remarks->builder->heap;
    struct g2h_object record;
    uint32_t node;
    heap_object(heap, object, &record);
    if (record.contents.size < heap->params.pointer_size)
        return true;
    if (!function_node(remarks, heap_word(heap, record.contents.data), &node))
        return false;
    return node == NO_FUNCTION || builder_add_edge(remarks->builder, node_object(object), EDGE_WEAK,
                                                   remarks->defined_at, node_synthetic(node));
}

/* Returns whether an object has the type of a closure. */
static bool is_closure(const struct typing *typing, uint32_t object)
{
    const uint32_t claim = typing->claims[object];
    return claim != 0 && (claim & CLAIM_ARRAY) == 0 &&
           types_get(typing->types, (claim & CLAIM_TYPE) - 1)->role == ROLE_CLOSURE &&
           !typing_is_text(typing, object);
}

/* Adds the remark on an object whose type is not sure. Returns false if memory runs out. */
static bool remarks_add_doubt(struct remarks *remarks, uint32_t object)
{
    const struct typing *typing = remarks->builder->typing;
    const struct object_type what = typing_object(typing, object);
    switch (what.form) {
    case OBJECT_PART:
        return remarks_add_part(remarks, object, what.type);
    case OBJECT_VALUE:
    case OBJECT_ARRAY:
        return !typing_is_guess(typing, object) || add_guess(remarks, object);
    default:
        return true;
    }
}

/* Adds the remarks on all objects; most have none. Returns false if memory runs out. Remarks are on
 * closures, where they are defined, and on objects whose type is in doubt. */
static bool remarks_add_all(struct remarks *remarks)
{
    const struct typing *typing = remarks->builder->typing;
    for (uint32_t object = 0; object < typing->heap->object_count; object++) {
        if (is_closure(typing, object) && !add_definition(remarks, object))
            return false;
        if (typing_is_sure(typing, object) ||
            (typing->claims[object] == 0 && !typing_has_parts(typing, object)) ||
            typing_is_shared(typing, object))
            continue; /* nearly all objects */
        if (!remarks_add_doubt(remarks, object))
            return false;
    }
    return true;
}

/* Adds the edges that tell in DevTools what is known about an object beside its fields: that its
 * type is a guess, which parts it holds, and where its function is defined. Remarks are about
 * types, so without types there are none. */
struct g2h_error *builder_add_remarks(struct builder *builder)
{
    struct remarks remarks = {
        .builder = builder, .guesses = UINT32_MAX, .parts = UINT32_MAX, .functions = UINT32_MAX};
    if (!builder->typing)
        return NULL;
    const bool good = builder_label_of(builder, "type is a guess", &remarks.is_guess) &&
                      builder_label_of(builder, "holds", &remarks.holds) &&
                      builder_label_of(builder, "defined at", &remarks.defined_at) &&
                      remarks_add_all(&remarks);
    map_deinit(&remarks.part_by_name);
    map_deinit(&remarks.function_of_code);
    return good ? NULL : &error_no_memory;
}
