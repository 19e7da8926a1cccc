/* untyped; see untyped.h. */
#include "naming/untyped.h"

#include <stdlib.h>

/* Small heaps have few such names, and remembering more names than the cache holds does not help
 * large heaps. */
struct untyped_names *untyped_create(const struct g2h_heap *heap)
{
    enum { LEAST = 6, MOST = 13 };
    unsigned bits = LEAST;
    while (bits < MOST && heap->object_count >> bits != 0)
        bits++;
    struct untyped_names *names =
        calloc(1, sizeof(*names) + ((size_t)1 << bits) * sizeof(names->known[0]));
    if (names)
        names->shift = 64 - bits;
    return names;
}

/* First prefetches the names' places in the table, and then reads them: the table is larger than a
 * cache. */
void untyped_finish(const struct names *names, struct untyped_names *known)
{
    uint32_t ranks[UNTYPED_WAITING];
    const size_t count = known->waiting_count;
    for (size_t i = 0; i < count; i++) {
        ranks[i] = number_set_find(&names->keys, known->waiting[i].key);
        if (ranks[i] != NUMBER_NONE)
            __builtin_prefetch(&names->of_key[ranks[i]]);
    }
    for (size_t i = 0; i < count; i++) {
        const struct untyped_waiting *waiting = &known->waiting[i];
        const uint32_t name = ranks[i] != NUMBER_NONE ? names->of_key[ranks[i]] : NAME_NONE;
        *waiting->ret = name;
        *untyped_slot(known, waiting->first, waiting->offset) =
            (struct untyped_known){waiting->first, waiting->offset, name};
    }
    known->waiting_count = 0;
}

/* Words after a malloc header are never remembered: there the same offset has another meaning. */
void untyped_interface_name(const struct names *names, struct untyped_names *known,
                            const struct slot_class *slot_class, uint64_t first, uint64_t offset,
                            uint32_t *ret)
{
    const struct untyped_known *name = untyped_slot(known, first, offset);
    const bool is_headed =
        offset <= MALLOC_HEADER && heap_has_malloc_header(names->heap, slot_class);
    if (!is_headed && name->first == first && name->offset == offset) {
        *ret = name->name;
        return;
    }
    const uint64_t key = untyped_key(names->heap, slot_class, first, offset);
    if (key < ELEMENT_OFFSET) {
        *ret = names_of_offset(names, offset);
        return;
    }
    names_prefetch_key(names, key);
    known->waiting[known->waiting_count++] =
        (struct untyped_waiting){ret, key, first, (uint32_t)offset};
    if (known->waiting_count == UNTYPED_WAITING)
        untyped_finish(names, known);
}
