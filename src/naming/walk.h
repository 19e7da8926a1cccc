/*
 * walk: the pointers of an object that hit an object, in the order of its field list, each with its
 * offset, its target and its name.
 *
 * Targets are stored in that order (heap/targets.h), so all code that walks the pointers of an
 * object uses this iterator.
 */
#ifndef NAMING_WALK_H
#define NAMING_WALK_H

#include "heap/pointers.h"
#include "heap/targets.h"
#include "naming/namer.h"

struct object_walk {
    const struct g2h_heap *heap;
    struct pointers pointers;
    struct namer namer; /* names of the object's words */
    const uint32_t *target, *end;
};

struct walk_pointer {
    uint64_t offset;
    uint32_t target; /* the object that it hits */
    struct edge_name name;
};

/* Begins a walk over the pointers of an object. */
static inline void object_walk_begin(struct object_walk *walk, const struct names *names,
                                     const struct targets *targets, uint32_t object)
{
    const struct g2h_heap *heap = names->heap;
    const struct slot_class *slot_class = heap_slot_class(heap, object);
    walk->heap = heap;
    walk->target = targets_of(targets, object, &walk->end);
    pointers_of(heap, object, slot_class, &walk->pointers);
    namer_init(&walk->namer, names, object, slot_class, &walk->pointers.contents);
}

/* Gets the next pointer; returns false at the end. */
static inline bool object_walk_next(struct object_walk *walk, struct walk_pointer *ret)
{
    uint64_t value;
    while (walk->target < walk->end && pointers_next(&walk->pointers, &ret->offset, &value)) {
        if (!in_heap_range(walk->heap, value))
            continue;
        ret->target = *walk->target++;
        if (ret->target == NO_TARGET)
            continue;
        ret->name = namer_name(&walk->namer, ret->offset);
        return true;
    }
    /* After the dump was overwritten there may be fewer pointers than targets. */
    walk->target = walk->end;
    return false;
}

#endif
