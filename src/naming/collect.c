/* collect; see collect.h. */
#include "naming/collect.h"

#include <stdlib.h>

#include "base/scope.h"
#include "base/workers.h"
#include "naming/untyped.h"
#include "naming/walk.h"

/* This many keys wait until the part of the set that they need is in the cache. */
enum { KEYS_WAITING = 16 };

/* The keys that one thread has collected. */
struct key_collector {
    struct number_set keys; /* the keys of edges' names, other than plain offsets */
    uint64_t waiting[KEYS_WAITING];
    size_t waiting_count;
    uint64_t *offsets;             /* a bit for each offset / 4 that is the name of an edge */
    struct untyped_names *untyped; /* the pointers collected last, without their names; NULL if
                                  objects have types, or words are not this machine's */
};

/* Adds the keys that wait to the set; the part of it that each needs has been prefetched. Returns
 * false if memory runs out. */
static bool add_waiting(struct key_collector *collector)
{
    bool good = true;
    for (size_t i = 0; i < collector->waiting_count && good; i++)
        good = number_set_add(&collector->keys, collector->waiting[i]);
    collector->waiting_count = 0;
    return good;
}

static inline void collect_offset(struct key_collector *collector, uint64_t offset)
{
    collector->offsets[offset / 256] |= (uint64_t)1 << (offset / 4 % 64);
}

/* Collects a key: a plain offset by its bit; others wait until KEYS_WAITING of them can be added
 * together. Returns false if memory runs out. */
static inline bool collect_key(struct key_collector *collector, uint64_t key)
{
    if (key < ELEMENT_OFFSET) {
        collect_offset(collector, key);
        return true;
    }
    number_set_prefetch(&collector->keys, key);
    collector->waiting[collector->waiting_count++] = key;
    return collector->waiting_count < KEYS_WAITING || add_waiting(collector);
}

static inline bool collect_name(struct key_collector *collector, const struct edge_name *name)
{
    return name->form != EDGE_NAME_KEY || collect_key(collector, name->value);
}

/* Collects the name of a pointer for listen_untyped(), if the word before it may be the first of an
 * interface. */
static bool collect_interface(struct key_collector *collector, const struct g2h_heap *heap,
                              const struct slot_class *slot_class, uint64_t first, uint64_t offset)
{
    struct untyped_known *known = untyped_slot(collector->untyped, first, offset);
    const bool is_headed = offset <= MALLOC_HEADER && heap_has_malloc_header(heap, slot_class);
    if (!is_headed && known->first == first && known->offset == offset)
        return true;
    if (!is_headed)
        *known = (struct untyped_known){first, (uint32_t)offset, 0};
    return collect_key(collector, untyped_key(heap, slot_class, first, offset));
}

/* The listener if nothing has types and heap_names_untyped(). */
static bool listen_untyped(void *context, unsigned worker, uint32_t object,
                           const struct g2h_bytes *contents, const uint64_t *offsets, size_t count)
{
    const struct collection *collection = context;
    const struct g2h_heap *heap = collection->names->heap;
    struct key_collector *collector = &collection->collectors[worker];
    for (size_t i = 0; i < count; i++) {
        const uint64_t offset = offsets[i];
        if (offset >= ELEMENT_OFFSET) /* its name will be an index */
            continue;
        if (!untyped_maybe_interface(heap, contents->data, offset))
            collect_offset(collector, offset);
        else if (!collect_interface(collector, heap, heap_slot_class(heap, object),
                                    untyped_word(contents->data + offset - sizeof(uint64_t)),
                                    offset))
            return false;
    }
    return true;
}

/* The listener if objects have types, or if untyped.h cannot find all names: collects the keys that
 * the names of an object's pointers need. */
static bool listen_by_namer(void *context, unsigned worker, uint32_t object,
                            const struct g2h_bytes *contents, const uint64_t *offsets, size_t count)
{
    const struct collection *collection = context;
    struct key_collector *collector = &collection->collectors[worker];
    struct namer namer;
    namer_init(&namer, collection->names, object, heap_slot_class(collection->names->heap, object),
               contents);
    for (size_t i = 0; i < count; i++) {
        const struct edge_name name = namer_name(&namer, offsets[i]);
        if (!collect_name(collector, &name))
            return false;
    }
    return true;
}

/* Returns the number of words for a collector's bits. */
static size_t offset_words(const struct names *names)
{
    return (size_t)(names->offset_end / 256) + 1;
}

/* Each thread has a collector of its own, so that they need no locks. */
struct g2h_error *collection_init(struct collection *collection, struct names *names,
                                  unsigned threads, struct pointer_listener *ret)
{
    const bool is_untyped = !names->typing && heap_names_untyped(names->heap);
    *collection = (struct collection){.names = names, .threads = threads};
    *ret = (struct pointer_listener){is_untyped ? listen_untyped : listen_by_namer, collection};
    collection->collectors = calloc(threads, sizeof(*collection->collectors));
    TRY_MEMORY(collection->collectors);
    for (unsigned i = 0; i < threads; i++) {
        struct key_collector *collector = &collection->collectors[i];
        collector->offsets = calloc(offset_words(names), sizeof(*collector->offsets));
        TRY_MEMORY(collector->offsets);
        if (!is_untyped)
            continue;
        collector->untyped = untyped_create(names->heap);
        TRY_MEMORY(collector->untyped);
    }
    return NULL;
}

static void collector_deinit(struct key_collector *collector)
{
    number_set_deinit(&collector->keys);
    free(collector->offsets);
    free(collector->untyped);
}

void collection_deinit(struct collection *collection)
{
    for (unsigned i = 0; i < collection->threads && collection->collectors; i++)
        collector_deinit(&collection->collectors[i]);
    free(collection->collectors);
}

/* ---- with types ---- */

/* Collects the keys of the names of an object's pointers. Returns false if memory runs out. */
static bool collect_object(struct key_collector *collector, const struct collection *collection,
                           uint32_t object)
{
    struct object_walk walk;
    struct walk_pointer pointer;
    object_walk_begin(&walk, collection->names, collection->targets, object);
    while (object_walk_next(&walk, &pointer))
        if (!collect_name(collector, &pointer.name))
            return false;
    return true;
}

/* Collects the keys of a block's objects; most have none. */
static struct g2h_error *collect_block(void *context, size_t task, unsigned worker)
{
    const struct collection *collection = context;
    const struct target_block *block = &collection->targets->blocks[task];
    struct key_collector *collector = &collection->collectors[worker];
    for (uint32_t i = 0; i < block->objects; i++) {
        const uint32_t object = ((uint32_t)task << BLOCK_SHIFT) + i;
        if (block->starts[i] < block->starts[i + 1] && names_need_keys(collection->names, object) &&
            !collect_object(collector, collection, object))
            return &error_no_memory;
    }
    return NULL;
}

/* ---- interning ---- */

/* Orders keys ascending. */
static int compare_keys(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return one < other ? -1 : one > other;
}

typedef VECTOR(uint64_t) key_vector;

/* Appends the keys of all threads to those in keys; afterwards all are ascending and unique. */
static bool collect_gather(const struct collection *collection, key_vector *keys)
{
    for (unsigned i = 0; i < collection->threads; i++) {
        struct key_collector *collector = &collection->collectors[i];
        if (!add_waiting(collector) || !vector_grow(keys, collector->keys.count))
            return false;
        if (collector->keys.count > 0) /* else keys->data may be NULL */
            number_set_members(&collector->keys, keys->data + keys->count);
        keys->count += collector->keys.count;
    }
    if (keys->count > 0)
        qsort(keys->data, keys->count, sizeof(*keys->data), compare_keys);
    size_t unique = 0;
    for (size_t i = 0; i < keys->count; i++)
        if (i == 0 || keys->data[i] != keys->data[i - 1])
            keys->data[unique++] = keys->data[i];
    keys->count = unique;
    return true;
}

/* Adds the plain offsets that any thread has collected, ascending. Most bits are not set. */
static bool gather_offsets(const struct collection *collection, key_vector *keys)
{
    for (size_t i = 0; i < offset_words(collection->names); i++) {
        uint64_t used = 0;
        for (unsigned j = 0; j < collection->threads; j++)
            used |= collection->collectors[j].offsets[i];
        for (; used != 0; used &= used - 1)
            if (!vector_push(keys, i * 256 + (uint64_t)__builtin_ctzll(used) * 4))
                return false;
    }
    return true;
}

/* Interns the names in an order that does not depend on the threads. */
struct g2h_error *collection_finish(struct collection *collection)
{
    key_vector keys = {0};
    const bool good = gather_offsets(collection, &keys) && collect_gather(collection, &keys);
    struct g2h_error *error =
        good ? names_intern_keys(collection->names, keys.data, keys.count) : &error_no_memory;
    free(keys.data);
    return error;
}

/* Collects in a walk of its own: types are known only after the targets, so no listener could do
 * it. */
struct g2h_error *names_collect(struct names *names, const struct targets *targets,
                                unsigned threads)
{
    struct pointer_listener listener;
    struct collection collection;
    struct g2h_error *error = collection_init(&collection, names, threads, &listener);
    collection.targets = targets;
    if (!error)
        error = workers_run(threads, targets->block_count, collect_block, &collection);
    if (!error)
        error = collection_finish(&collection);
    collection_deinit(&collection);
    return error;
}
