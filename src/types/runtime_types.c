/* runtime_types; see runtime_types.h. This file selects the structures for each type. */
#include "types/runtime_types.h"

#include <stdlib.h>
#include <string.h>

#include "types/structures.h"

/* Each map needs a dozen types. Kubernetes has a few thousand map types; an executable that has
 * more than STRUCTURES_MOST is damaged. */
enum { STRUCTURES_MOST = 100000 };

void runtime_types_init(struct runtime_types *runtime, struct types *types,
                        const struct go_release *release)
{
    *runtime = (struct runtime_types){.types = types, .release = *release};
}

void runtime_types_deinit(struct runtime_types *runtime)
{
    map_deinit(&runtime->by_name);
    map_deinit(&runtime->derived);
    free(runtime->traits.data);
    *runtime = (struct runtime_types){0};
}

/* The names are those of structures that do not know the types of keys and elements, unlike those
 * that this module makes for each map and channel type. */
bool runtime_is_generic(struct g2h_bytes name)
{
    static const char *const whole[] = {
        "runtime.hmap",
        "runtime.bmap",
        "runtime.mapextra",
        "runtime.hchan",
        "runtime.waitq",
        "runtime.sudog",
        "internal/runtime/maps.Map",
        "internal/runtime/maps.table",
        "internal/runtime/maps.groupReference",
        "internal/runtime/maps.groupsReference",
    };
    /* Types of the compiler and of DWARF: they have the same layouts as the types made here, but
     * their pointers have no target types. */
    static const char *const prefixes[] = {
        "map.bucket[",     "map.hdr[",         "map.group[", "noalg.map.bucket[",
        "noalg.map.hdr[",  "noalg.map.group[", "hash<",      "bucket<",
        "hchan<",          "waitq<",           "sudog<",     "table<",
        "groupReference<",
    };
    if (bytes_contain(name, "go.shape."))
        return true;
    for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++)
        if (bytes_are(name, whole[i]))
            return true;
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
        if (bytes_begin(name, prefixes[i]))
            return true;
    return false;
}

/* Adds the runtime's structures that a type implies: the header of a map or a channel, which has no
 * name in the program. Gives the types of package sync their real fields. */
static void add_structures(struct runtime_types *runtime, uint32_t number)
{
    const struct type *type = &runtime->types->list.data[number];
    const uint32_t count = (uint32_t)runtime->types->list.count;
    uint32_t header = TYPE_NONE;
    switch (type->kind) {
    case TYPE_MAP:
        if (type->header == TYPE_NONE && type->key < count && type->elem < count &&
            runtime->structures++ < STRUCTURES_MOST)
            header = runtime->release.minor >= 24 && !runtime->release.no_swiss_maps
                         ? swiss_header(runtime, number)
                         : maps_header(runtime, number);
        break;
    case TYPE_CHAN:
        if (type->header == TYPE_NONE && type->elem < count &&
            runtime->structures++ < STRUCTURES_MOST)
            header = chans_header(runtime, number);
        break;
    case TYPE_STRUCT:
        sync_retype(runtime, number);
        break;
    case TYPE_POINTER:
        sync_retype_pointer(runtime, number);
        break;
    }
    if (header != TYPE_NONE)
        runtime->types->list.data[number].header = header;
}

/* Registers all types by name before it derives structures, which find types by name. Both only
 * visit types that were added since the last call. */
bool runtime_types_add(struct runtime_types *runtime)
{
    struct types *types = runtime->types;
    if (runtime->release.minor == 0)
        return true;
    const uint32_t start = runtime->processed, end = (uint32_t)types->list.count;
    for (uint32_t i = start; i < end && !runtime->no_memory; i++) {
        build_register(runtime, i);
        if (types->list.data[i].role == ROLE_NONE)
            types->list.data[i].is_generic = runtime_is_generic(types_name(types, i));
    }
    for (uint32_t i = start; i < end && !runtime->no_memory; i++)
        add_structures(runtime, i);
    runtime->processed = (uint32_t)types->list.count;
    return !runtime->no_memory;
}
