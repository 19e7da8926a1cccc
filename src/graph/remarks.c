/*
 * remarks: what is said of an object beside its class.
 *
 * That its type is a guess, and what type a part of it has where no more is known, depends on what
 * points to it in this dump. In the name of its class it would make an object that is in two dumps
 * look deleted and new. So weak edges say it, to nodes that stand for all such objects.
 */
#include "graph/builder.h"

struct remarks {
    struct builder *builder;
    uint32_t guesses, parts;  /* groups; UINT32_MAX */
    uint32_t is_guess, holds; /* strings */
    struct map part_by_name;  /* of the type → node */
};

static bool add_guess(struct remarks *remarks, uint32_t object)
{
    struct builder *builder = remarks->builder;
    if (remarks->guesses == UINT32_MAX &&
        !builder_add_group(builder, builder->root, "(guesses)", ID_GUESSES, &remarks->guesses))
        return false;
    return graph_add_edge(builder->graph, node_object(object), EDGE_WEAK, remarks->is_guess,
                          node_synthetic(remarks->guesses));
}

/* The node of a type that parts of objects have. */
static bool part_node(struct remarks *remarks, uint32_t type, uint32_t *ret)
{
    struct builder *builder = remarks->builder;
    const struct types *types = builder->graph->typing->types;
    size_t size;
    const char *name = string_pool_text(&types->names, types->list.data[type].name, &size);
    *ret = map_get(&remarks->part_by_name, types->list.data[type].name);
    if (*ret != MAP_NONE)
        return true;
    if (remarks->parts == UINT32_MAX &&
        !builder_add_group(builder, builder->root, "(parts)", ID_PARTS, &remarks->parts))
        return false;
    builder->text.size = 0;
    text_append(&builder->text, name, size);
    return builder_add_member(builder, remarks->parts, (uint32_t)remarks->part_by_name.count + 1,
                              ID_PART, map_hash_text((const uint8_t *)name, size), ret) &&
           map_put(&remarks->part_by_name, types->list.data[type].name, *ret, ret);
}

static bool add_part(struct remarks *remarks, uint32_t object, uint32_t type)
{
    uint32_t node;
    return part_node(remarks, type, &node) &&
           graph_add_edge(remarks->builder->graph, node_object(object), EDGE_WEAK, remarks->holds,
                          node_synthetic(node));
}

static bool add_all(struct remarks *remarks)
{
    const struct typing *typing = remarks->builder->graph->typing;
    for (uint32_t object = 0; object < typing->heap->object_count; object++) {
        if (typing_is_plain(typing, object) ||
            (typing->claims[object] == 0 && !typing_is_parted(typing, object)))
            continue; /* nearly all */
        const struct object_type what = typing_object(typing, object);
        if (what.form == OBJECT_PART ? !add_part(remarks, object, what.type)
            : what.form == OBJECT_VALUE || what.form == OBJECT_ARRAY
                ? typing_is_guess(typing, object) && !add_guess(remarks, object)
                : false)
            return false;
    }
    return true;
}

struct g2h_error *builder_add_remarks(struct builder *builder)
{
    struct remarks remarks = {.builder = builder, .guesses = UINT32_MAX, .parts = UINT32_MAX};
    if (!builder->graph->typing)
        return NULL;
    const bool good = graph_intern(builder->graph, "type is a guess", &remarks.is_guess) &&
                      graph_intern(builder->graph, "holds", &remarks.holds) && add_all(&remarks);
    map_deinit(&remarks.part_by_name);
    return good ? NULL : &error_no_memory;
}
