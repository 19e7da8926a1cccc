/* walk: the edges of an object that are pointers, in the order of its field list. */
#ifndef GRAPH_WALK_H
#define GRAPH_WALK_H

#include "graph/graph.h"
#include "heap/pointers.h"

struct object_walk {
    const struct g2h_heap *heap;
    struct pointers pointers;
    struct namer namer; /* of the object's words */
    const uint32_t *target, *end;
};

static inline void object_walk_begin(struct object_walk *walk, const struct g2h_graph *graph,
                                     uint32_t object)
{
    const struct slot_class *slot_class = heap_slot_class(graph->heap, object);
    struct g2h_object record;
    walk->heap = graph->heap;
    walk->target = object_targets(graph, object, &walk->end);
    heap_object(graph->heap, object, &record);
    pointers_of_object(graph->heap, &record, slot_class, &walk->pointers);
    namer_init(&walk->namer, &graph->names, object, slot_class, &record.contents);
}

/* The next pointer that hits an object: its offset, and the object. False at the end. */
static inline bool object_walk_next(struct object_walk *walk, uint64_t *ret_offset,
                                    uint32_t *ret_target)
{
    uint64_t value;
    while (walk->target < walk->end && pointers_next(&walk->pointers, ret_offset, &value)) {
        if (!in_heap_range(walk->heap, value))
            continue;
        *ret_target = *walk->target++;
        if (*ret_target != NO_TARGET)
            return true;
    }
    return false;
}

#endif
