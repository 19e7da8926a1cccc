/* plain; see plain.h. */
#include "naming/plain.h"

#include <stdlib.h>

/* Small heaps have few such names, and remembering more names than the cache holds does not help
 * large heaps. */
struct plain_names *plain_create(const struct g2h_heap *heap)
{
    enum { LEAST = 6, MOST = 13 };
    unsigned bits = LEAST;
    while (bits < MOST && heap->object_count >> bits != 0)
        bits++;
    struct plain_names *names =
        calloc(1, sizeof(*names) + ((size_t)1 << bits) * sizeof(names->known[0]));
    if (names)
        names->shift = 64 - bits;
    return names;
}

void plain_finish(const struct names *names, struct plain_names *known)
{
    uint32_t places[PLAIN_WAITING];
    const size_t count = known->waiting_count;
    for (size_t i = 0; i < count; i++) {
        places[i] = number_set_find(&names->keys, known->waiting[i].key);
        if (places[i] != NUMBER_NONE)
            __builtin_prefetch(&names->of_key[places[i]]);
    }
    for (size_t i = 0; i < count; i++) {
        const struct plain_waiting *waiting = &known->waiting[i];
        const uint32_t name = places[i] != NUMBER_NONE ? names->of_key[places[i]] : NAME_NONE;
        *waiting->ret = name;
        *plain_place(known, waiting->first, waiting->offset) =
            (struct plain_name){waiting->first, waiting->offset, name};
    }
    known->waiting_count = 0;
}

void plain_interface_name(const struct names *names, struct plain_names *known,
                          const struct slot_class *slot_class, uint64_t first, uint64_t offset,
                          uint32_t *ret)
{
    const struct plain_name *name = plain_place(known, first, offset);
    const bool is_headed =
        offset <= MALLOC_HEADER && heap_has_malloc_header(names->heap, slot_class);
    if (!is_headed && name->first == first && name->offset == offset) {
        *ret = name->name;
        return;
    }
    const uint64_t key = plain_key(names->heap, slot_class, first, offset);
    if (key < ELEMENT_OFFSET) {
        *ret = names_of_offset(names, offset);
        return;
    }
    names_prefetch_key(names, key);
    known->waiting[known->waiting_count++] =
        (struct plain_waiting){ret, key, first, (uint32_t)offset};
    if (known->waiting_count == PLAIN_WAITING)
        plain_finish(names, known);
}
