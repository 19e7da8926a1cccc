/*
 * runtime_types: adds, for each type of the program, the structures of the runtime that it implies;
 * see runtime_types.h. The parts: headers, buckets and groups of maps before and since Go 1.24; and
 * rules that replace unsafe.Pointers in types of the library by the types that they lead to
 * (retype_…): sync.Pool, sync.Map, atomic.Pointer, timers, and so on.
 */
#include "types/runtime_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "base/error.h"
#include "base/text.h"
#include "types/build.h"

/* ==== runtime.hmap, the maps of Go before 1.24 and of X:noswissmap ====
 *
 * A map has 2^B buckets of 8 elements each, in one array. Overflow buckets are chained to them; the
 * first overflow buckets are at the array's end. Keys and elements of more than 128 bytes are
 * allocated separately. If neither keys nor elements hold pointers, buckets are noscan, and
 * mapextra keeps the overflow buckets alive.
 */

/* $0 a pointer to the buckets, $1 a pointer to the overflow buckets of old releases, $2 a pointer
 * to mapextra */
static const struct member hmap[] = {
    FIELD("count", "int"),           FIELD("flags", "uint8"),       FIELD("B", "uint8"),
    SINCE(8, "noverflow", "uint16"), FIELD("hash0", "uint32"),      FIELD("buckets", "$0"),
    FIELD("oldbuckets", "$0"),       FIELD("nevacuate", "uintptr"), SINCE(24, "clearSeq", "uint64"),
    BEFORE(9, "overflow", "$1"),     SINCE(9, "extra", "$2"),
};

/* $0 the bucket, $1 [2]*[]*bucket */
static const struct member mapextra[] = {
    BEFORE(10, "overflow", "$1"),
    SINCE(10, "overflow", "*[]*$0"),
    SINCE(10, "oldoverflow", "*[]*$0"),
    FIELD("nextOverflow", "*$0"),
};

/* $0 key, $1 elem, $2 the bucket */
static const struct member bucket_members[] = {
    FIELD("tophash", "[8]uint8"),
    FIELD("keys", "[8]$0"),
    FIELD("elems", "[8]$1"),
    FIELD("overflow", "*$2"),
};

/* Returns the header of a map type before Go 1.24, runtime.hmap, or TYPE_NONE. Builds the types
 * from the bucket up: the bucket, mapextra, which points to overflow buckets, and hmap. The
 * bucket's type in the executable is unnamed, and its descriptor is moved. */
static uint32_t maps_header(struct runtime_types *runtime, uint32_t map)
{
    struct types *types = runtime->types;
    const uint32_t name = types_get(types, map)->name;
    uint32_t key = types_get(types, map)->key;
    uint32_t elem = types_get(types, map)->elem;
    const uint32_t bucket =
        build_struct(runtime, ROLE_MAP_BUCKET, map, build_name(runtime, "bucket", key, elem));
    const uint32_t extra =
        build_struct(runtime, ROLE_INTERNAL, map, build_name(runtime, "mapextra", key, elem));
    const uint32_t header = build_struct(runtime, ROLE_MAP, map, name);
    key = build_stored_type(runtime, key);
    elem = build_stored_type(runtime, elem);
    if (!BUILD_FILL(runtime, bucket, bucket_members, key, elem, bucket))
        return TYPE_NONE;
    if (!build_take_descriptor(
            runtime, bucket,
            "struct { topbits [8]uint8; keys [8]%; elems [8]%; overflow unsafe.Pointer }", key,
            elem))
        return TYPE_NONE;
    types->list.data[bucket].may_be_noscan =
        !build_has_pointers(runtime, key) && !build_has_pointers(runtime, elem);
    const uint32_t old = build_type(runtime, bytes_of("[2]*[]*$0"), &bucket);
    if (!BUILD_FILL(runtime, extra, mapextra, bucket, old))
        return TYPE_NONE;
    const uint32_t buckets = build_target(runtime, TARGET_MANY, bucket, TYPE_NONE, 0);
    return BUILD_FILL(runtime, header, hmap, buckets, build_pointer(runtime, old),
                      build_pointer(runtime, extra))
               ? header
               : TYPE_NONE;
}

/*
 * ---- internal/runtime/maps.Map, from Go 1.24 on ----
 *
 * Up to 8 elements are in one group. More elements are in tables of groups. A directory has a
 * pointer to a table for each value of some bits of the hash, so several of its pointers may point
 * to one table. Keys and elements of more than 128 bytes are allocated separately.
 */

/* $0 dirPtr */
static const struct member map_members[] = {
    FIELD("used", "uint64"),       FIELD("seed", "uintptr"),
    FIELD("dirPtr", "$0"),         FIELD("dirLen", "int"),
    FIELD("globalDepth", "uint8"), FIELD("globalShift", "uint8"),
    FIELD("writing", "uint8"),     SINCE(25, "tombstonePossible", "bool"),
    FIELD("clearSeq", "uint64"),
};

/* $0 groupsReference */
static const struct member table_members[] = {
    FIELD("used", "uint16"),      FIELD("capacity", "uint16"), FIELD("growthLeft", "uint16"),
    FIELD("localDepth", "uint8"), FIELD("index", "int"),       FIELD("groups", "$0"),
};

/* $0 a pointer to the groups */
static const struct member reference_members[] = {
    FIELD("data", "$0"),
    FIELD("lengthMask", "uint64"),
};

/* $0 key, $1 elem */
static const struct member slot_members[] = {
    FIELD("key", "$0"),
    FIELD("elem", "$1"),
};

/* $0 the slot */
static const struct member group_members[] = {
    FIELD("ctrl", "uint64"),
    FIELD("slots", "[8]$0"),
};

/* $0 key, $1 elem */
static const struct member split_members[] = {
    FIELD("ctrl", "uint64"),
    FIELD("keys", "[8]$0"),
    FIELD("elems", "[8]$1"),
};

/* Returns the type of a map's groups, or TYPE_NONE: 8 slots of key and elem or, in releases with
 * split groups, 8 keys followed by 8 elems. Keys and elems are pointers if they are large. */
static uint32_t build_group(struct runtime_types *runtime, uint32_t map, uint32_t key,
                            uint32_t elem)
{
    const uint32_t group =
        build_struct(runtime, ROLE_MAP_GROUP, map, build_name(runtime, "group", key, elem));
    if (runtime->release.split_groups) {
        key = build_stored_type(runtime, key);
        elem = build_stored_type(runtime, elem);
        return BUILD_FILL(runtime, group, split_members, key, elem) &&
                       build_take_descriptor(runtime, group,
                                             "struct { ctrl uint64; keys [8]%; elems [8]% }", key,
                                             elem)
                   ? group
                   : TYPE_NONE;
    }
    const uint32_t slot =
        build_struct(runtime, ROLE_RUNTIME, TYPE_NONE, build_name(runtime, "slot", key, elem));
    key = build_stored_type(runtime, key);
    elem = build_stored_type(runtime, elem);
    return BUILD_FILL(runtime, slot, slot_members, key, elem) &&
                   BUILD_FILL(runtime, group, group_members, slot) &&
                   build_take_descriptor(
                       runtime, group, "struct { ctrl uint64; slots [8]struct { key %; elem % } }",
                       key, elem)
               ? group
               : TYPE_NONE;
}

/* Returns the header of a map type since Go 1.24, internal/runtime/maps.Map, or TYPE_NONE. Builds
 * the types from the group up: groupsReference, table, and Map, whose dirPtr leads to a single
 * group while dirLen, the next word, is 0, else to a directory of tables. */
static uint32_t swiss_header(struct runtime_types *runtime, uint32_t map)
{
    struct types *types = runtime->types;
    const uint32_t name = types_get(types, map)->name;
    const uint32_t key = types_get(types, map)->key;
    const uint32_t elem = types_get(types, map)->elem;
    const uint32_t group = build_group(runtime, map, key, elem);
    if (group == TYPE_NONE)
        return TYPE_NONE;
    const uint32_t reference = build_struct(runtime, ROLE_INTERNAL, map,
                                            build_name(runtime, "groupsReference", key, elem));
    const uint32_t table =
        build_struct(runtime, ROLE_INTERNAL, map, build_name(runtime, "table", key, elem));
    const uint32_t header = build_struct(runtime, ROLE_MAP, map, name);
    const uint32_t groups = build_target(runtime, TARGET_MANY, group, TYPE_NONE, 0);
    if (!BUILD_FILL(runtime, reference, reference_members, groups) ||
        !BUILD_FILL(runtime, table, table_members, reference))
        return TYPE_NONE;
    const uint32_t to_table = build_pointer(runtime, table);
    if (to_table == TYPE_NONE)
        return TYPE_NONE;
    types->list.data[to_table].role = ROLE_MAP_DIRECTORY;
    const uint32_t directory =
        build_target(runtime, TARGET_BY_WORD, group, to_table, types->pointer_size);
    return BUILD_FILL(runtime, header, map_members, directory) ? header : TYPE_NONE;
}

/* ==== types of the library with unsafe.Pointers whose targets are known ====
 *
 * A generic type has its arguments in its name: "sync/atomic.Pointer[net/http.response]". The type
 * of an argument is found by that name.
 */

enum { TEXT_MOST = 4096 }; /* limit for the names built here */

/* ---- fields ---- */

/* Returns the field with this name if it is an unsafe.Pointer or one of the runtime's atomic ones,
 * else NULL. */
static struct type_field *find_unsafe_pointer(struct runtime_types *runtime, uint32_t number,
                                              const char *name)
{
    const struct types *types = runtime->types;
    const struct type *type = types_get(types, number);
    for (uint32_t i = 0; i < type->field_count; i++) {
        struct type_field *field = &types->fields.data[type->first_field + i];
        if (!bytes_are(types_text(types, field->name), name) || field->type >= types->list.count)
            continue;
        if (types_get(types, field->type)->kind == TYPE_UNSAFE_POINTER ||
            build_is_named(runtime, field->type, "internal/runtime/atomic.UnsafePointer") ||
            build_is_named(runtime, field->type, "runtime/internal/atomic.UnsafePointer"))
            return field;
    }
    return NULL;
}

/* Sets the type of a field that find_unsafe_pointer() finds, unless type is TYPE_NONE. */
static void retype(struct runtime_types *runtime, uint32_t number, const char *name, uint32_t type)
{
    struct type_field *field =
        type == TYPE_NONE ? NULL : find_unsafe_pointer(runtime, number, name);
    if (field)
        field->type = type;
}

/* ---- arguments of generic types ---- */

/* Returns an argument in a generic type's name, by its index 0 or 1: "a" and "b" in "x[a,b]".
 * Commas within brackets of any kind do not separate arguments. Empty if there is no such argument.
 */
static struct g2h_bytes argument_name(const struct runtime_types *runtime, uint32_t type,
                                      unsigned index)
{
    const struct g2h_bytes name = types_name(runtime->types, type);
    const uint8_t *start = memchr(name.data, '[', name.size);
    const uint8_t *end = name.data + name.size;
    size_t depth = 0;
    if (!start || end[-1] != ']')
        return bytes_none;
    start++;
    for (const uint8_t *at = start; at < end; at++) {
        if (depth == 0 && (*at == ',' || at == end - 1)) {
            if (index-- == 0)
                return bytes_between(start, at);
            start = at + 1;
        } else if (*at == '[' || *at == '(' || *at == '{') {
            depth++;
        } else if ((*at == ']' || *at == ')' || *at == '}') && depth > 0) {
            depth--;
        }
    }
    return bytes_none;
}

/* Returns the bytes of a text. */
static struct g2h_bytes text_bytes(const struct text *text)
{
    return bytes_at(text->data, text->size);
}

/* Replaces "%2e" with a dot: arguments have dots in the last part of an import path escaped, as in
 * symbols. Returns false if nothing is escaped, or the name is too long. */
static bool unescape_dots(struct g2h_bytes name, struct text *ret)
{
    for (uint64_t at = 0; at < name.size && name.size <= TEXT_MOST;) {
        const struct g2h_bytes rest = bytes_from(name, at);
        const bool is_dot = bytes_begin(rest, "%2e");
        text_append(ret, is_dot ? "." : (const char *)rest.data, 1);
        at += is_dot ? 3 : 1;
    }
    return ret->size > 0 && ret->size < name.size;
}

/* Returns the type that is an argument of a generic type, by its index, or TYPE_NONE. */
static uint32_t argument_type(struct runtime_types *runtime, uint32_t type, unsigned index)
{
    const struct g2h_bytes name = argument_name(runtime, type, index);
    _cleanup_(text_deinit) struct text unescaped = {0};
    const bool is_escaped = unescape_dots(name, &unescaped); /* first: adding types may move name */
    const uint32_t found = build_type(runtime, name, NULL);
    runtime->no_memory |= unescaped.failed;
    if (found != TYPE_NONE || !is_escaped || runtime->no_memory)
        return found;
    return build_type(runtime, text_bytes(&unescaped), NULL);
}

/* Returns the target type of a generic pointer: by its field _ [0]*T or, if it has none, by its
 * name. TYPE_NONE if neither tells it. */
static uint32_t generic_pointer_target(struct runtime_types *runtime, uint32_t number)
{
    const struct types *types = runtime->types;
    const struct type *type = types_get(types, number);
    for (uint32_t i = 0; i < type->field_count; i++) {
        const uint32_t array = types_fields(types, type)[i].type;
        if (array >= types->list.count || types_get(types, array)->kind != TYPE_ARRAY ||
            types_get(types, array)->length != 0)
            continue;
        const uint32_t pointer = types_get(types, array)->elem;
        if (pointer < types->list.count && types_get(types, pointer)->kind == TYPE_POINTER &&
            types_get(types, pointer)->elem < types->list.count)
            return types_get(types, pointer)->elem;
    }
    return argument_type(runtime, number, 0);
}

/* ---- weak.Pointer ---- */

/* $0 bytes that fill it up to 16 */
static const struct member weak_handle[] = {
    FIELD("h", "uintptr"),
    SINCE(26, "_", "$0"),
};

/* $0 a pointer to the handle */
static const struct member weak_pointer_members[] = {
    FIELD("u", "$0"),
};

/* Makes an empty struct of the runtime with a name. TYPE_NONE: memory has run out. */
static uint32_t new_struct(struct runtime_types *runtime, struct g2h_bytes name)
{
    return build_struct(runtime, ROLE_RUNTIME, TYPE_NONE, build_intern(runtime, name));
}

/* Returns the type of a pointer to a handle, the word with the object's address that weak pointers
 * share (runtime.getOrAddWeakHandle). The word is a uintptr, since the collector does not follow
 * it, in a block of 16 bytes (maxTinySize). */
static uint32_t weak_handle_pointer(struct runtime_types *runtime)
{
    enum { TINY_SIZE = 16 };
    const struct g2h_bytes name = bytes_of(WEAK_HANDLE_TYPE);
    uint32_t handle = build_find(runtime, name);
    if (handle == TYPE_NONE) {
        const uint32_t number = build_intern(runtime, name);
        if (number == TYPE_NONE)
            return TYPE_NONE;
        const uint32_t rest = build_array(runtime, build_type(runtime, bytes_of("uint8"), NULL),
                                          TINY_SIZE - runtime->types->pointer_size);
        handle = build_struct(runtime, ROLE_RUNTIME, TYPE_NONE, number);
        if (handle == TYPE_NONE || !BUILD_FILL(runtime, handle, weak_handle, rest) ||
            !build_register(runtime, handle))
            return TYPE_NONE;
    }
    return build_pointer(runtime, handle);
}

/* In weak.Pointer: u points to the object's handle. */
static void retype_weak_pointer(struct runtime_types *runtime, uint32_t type)
{
    retype(runtime, type, "u", weak_handle_pointer(runtime));
}

/* ---- HashTrieMap, of sync.Map and unique ---- */

/* $0 node, $1 key, $2 value, $3 the entry */
static const struct member trie_entry[] = {
    EMBEDDED("node", "$0"),
    FIELD("overflow", "*$3"),
    FIELD("key", "$1"),
    FIELD("value", "$2"),
};

/* $0 node, $1 weak.Pointer[T], $2 the entry */
static const struct member unique_entry[] = {
    EMBEDDED("node", "$0"),
    FIELD("overflow", "*$2"),
    FIELD("key", "$1"),
    FIELD("hash", "uintptr"),
};

/* Returns the package of a node of a HashTrieMap, with its dot, or NULL for other types. */
static const char *trie_package(const struct runtime_types *runtime, uint32_t type)
{
    static const char *const packages[] = {"internal/sync.", "internal/concurrent.", "unique."};
    char prefix[64];
    for (size_t i = 0; i < COUNT_OF(packages); i++) {
        snprintf(prefix, sizeof(prefix), "%snode[", packages[i]);
        if (build_has_prefix(runtime, type, prefix))
            return packages[i];
    }
    return NULL;
}

/* Appends "internal/sync.entry[K,V]" with the K and V of a node; word is "entry" or another
 * sibling. Returns false if the name is too long or memory runs out. */
static bool sibling_name(struct runtime_types *runtime, uint32_t node, const char *package,
                         const char *word, struct text *ret)
{
    const struct g2h_bytes name = types_name(runtime->types, node);
    const size_t skipped = strlen(package) + strlen("node");
    if (name.size + strlen(word) > TEXT_MOST)
        return false;
    text_append_string(ret, package);
    text_append_string(ret, word);
    text_append(ret, name.data + skipped, (size_t)name.size - skipped);
    runtime->no_memory |= ret->failed;
    return !ret->failed;
}

/* Returns the type weak.Pointer[T] for a node[T], which it makes if the program does not have it;
 * TYPE_NONE if that fails. */
static uint32_t weak_pointer_type(struct runtime_types *runtime, uint32_t node)
{
    const struct g2h_bytes own = argument_name(runtime, node, 0);
    _cleanup_(text_deinit) struct text name = {0};
    if (own.size == 0 || own.size > TEXT_MOST)
        return TYPE_NONE;
    text_append_string(&name, "weak.Pointer[");
    text_append(&name, own.data, own.size);
    text_append_string(&name, "]");
    runtime->no_memory |= name.failed;
    if (name.failed)
        return TYPE_NONE;
    const uint32_t found = build_find(runtime, text_bytes(&name));
    if (found != TYPE_NONE)
        return found;
    const uint32_t handle = weak_handle_pointer(runtime);
    const uint32_t type = handle == TYPE_NONE ? TYPE_NONE : new_struct(runtime, text_bytes(&name));
    return BUILD_FILL(runtime, type, weak_pointer_members, handle) && build_register(runtime, type)
               ? type
               : TYPE_NONE;
}

/* Returns the type of the entry that belongs to a node of a HashTrieMap, the executable's own or a
 * new one, or TYPE_NONE. package is the one whose map it is: the entries of unique have a weak
 * pointer as key and no value, others key and value of the node's type arguments. */
static uint32_t trie_entry_type(struct runtime_types *runtime, uint32_t node, const char *package)
{
    _cleanup_(text_deinit) struct text name = {0};
    if (!sibling_name(runtime, node, package, "entry", &name))
        return TYPE_NONE;
    const uint32_t found = build_find(runtime, text_bytes(&name));
    if (found != TYPE_NONE)
        return found;
    const bool of_unique = strcmp(package, "unique.") == 0;
    const uint32_t key =
        of_unique ? weak_pointer_type(runtime, node) : argument_type(runtime, node, 0);
    const uint32_t value = of_unique ? TYPE_NONE : argument_type(runtime, node, 1);
    if (key == TYPE_NONE || (!of_unique && value == TYPE_NONE))
        return TYPE_NONE;
    const uint32_t entry = new_struct(runtime, text_bytes(&name));
    const bool is_filled = of_unique
                               ? BUILD_FILL(runtime, entry, unique_entry, node, key, entry)
                               : BUILD_FILL(runtime, entry, trie_entry, node, key, value, entry);
    return is_filled && build_register(runtime, entry) ? entry : TYPE_NONE;
}

/* Returns the type of pointers to a node, or TYPE_NONE. A node is the first field of either an
 * indirect, an inner node of the trie, or an entry, and its first byte, isEntry, says of which. */
static uint32_t node_pointer(struct runtime_types *runtime, uint32_t node, const char *package)
{
    _cleanup_(text_deinit) struct text name = {0};
    if (!sibling_name(runtime, node, package, "indirect", &name))
        return TYPE_NONE;
    const uint32_t indirect = build_find(runtime, text_bytes(&name));
    const uint32_t entry = trie_entry_type(runtime, node, package);
    if (indirect == TYPE_NONE || entry == TYPE_NONE)
        return TYPE_NONE;
    return build_target(runtime, TARGET_BY_CONTENT, indirect, entry, 0);
}

/* ---- sync/atomic.Pointer ---- */

/* Sets the target of the unsafe.Pointer in an atomic.Pointer[T] to T, or to the more exact type of
 * a node if T is one of a HashTrieMap. Does nothing if T is not known. */
static void retype_atomic_pointer(struct runtime_types *runtime, uint32_t type)
{
    const uint32_t elem = generic_pointer_target(runtime, type);
    if (elem == TYPE_NONE)
        return;
    const char *package = trie_package(runtime, elem);
    uint32_t pointer = package ? node_pointer(runtime, elem, package) : TYPE_NONE;
    if (pointer == TYPE_NONE)
        pointer = build_pointer(runtime, elem);
    retype(runtime, type, "v", pointer);
    retype(runtime, type, "u", pointer); /* the field in the runtime's own atomic.Pointer */
}

/* ---- sync ---- */

/* $0 bytes that fill it up to a cache line */
static const struct member pool_local[] = {
    EMBEDDED("poolLocalInternal", "sync.poolLocalInternal"),
    FIELD("pad", "$0"),
};

/* Sets the targets of local and victim in sync.Pool: arrays of sync.poolLocal, one for each P
 * (processor). */
static void retype_pool(struct runtime_types *runtime, uint32_t pool)
{
    uint32_t local = build_find(runtime, bytes_of("sync.poolLocal"));
    if (local == TYPE_NONE) {
        const uint32_t inner = build_type(runtime, bytes_of("sync.poolLocalInternal"), NULL);
        if (inner == TYPE_NONE)
            return;
        /* sync.poolLocal is padded to multiples of these bytes, so that no two share a cache line.
         */
        enum { PADDED = 128 };
        const uint64_t pad = PADDED - types_size(runtime->types, inner) % PADDED;
        local = new_struct(runtime, bytes_of("sync.poolLocal"));
        const uint32_t bytes =
            build_array(runtime, build_type(runtime, bytes_of("uint8"), NULL), pad);
        if (!BUILD_FILL(runtime, local, pool_local, bytes) || !build_register(runtime, local))
            return;
    }
    /* local and victim are each followed by their length. The length of victim becomes 0 when no
     * victim is left, so victim's type does not use it. */
    const uint32_t many =
        build_target(runtime, TARGET_COUNTED, local, TYPE_NONE, runtime->types->pointer_size);
    retype(runtime, pool, "local", many);
    retype(runtime, pool, "victim", build_target(runtime, TARGET_MANY, local, TYPE_NONE, 0));
}

/* Changes a struct of the two words of an interface to an interface. Unlike for other interfaces,
 * the collector scans both words. */
static void retype_eface(struct runtime_types *runtime, uint32_t number)
{
    static const uint8_t both = 3;
    struct type *type = &runtime->types->list.data[number];
    if (type->size != 2 * (uint64_t)runtime->types->pointer_size)
        return;
    type->role = ROLE_RUNTIME;
    type->gc_mask = &both;
    type->pointer_bytes = type->size;
    type->kind = TYPE_INTERFACE;
    type->empty_interface = true;
    type->field_count = 0;
}

/* In sync.Map before 1.24: p is a pointer to the value. */
static void retype_map_entry(struct runtime_types *runtime, uint32_t type)
{
    retype(runtime, type, "p", build_type(runtime, bytes_of("*interface {}"), NULL));
}

/* Sets the types of head and tail in the list of a sync.Cond (sync.notifyList): pointers to sudogs.
 */
static void retype_notify_list(struct runtime_types *runtime, uint32_t type)
{
    const uint32_t sudog = build_type(runtime, bytes_of("*runtime.sudog"), NULL);
    retype(runtime, type, "head", sudog);
    retype(runtime, type, "tail", sudog);
}

/* ---- runtime.g ---- */

/* Gives the labels of a goroutine (runtime.g) the type that package runtime/pprof sets them with;
 * nothing else sets them. */
static void retype_labels(struct runtime_types *runtime, uint32_t type)
{
    retype(runtime, type, "labels", build_type(runtime, bytes_of("*runtime/pprof.labelMap"), NULL));
}

/* ---- time ---- */

/* Sets the type of a timer's channel, by which the program receives the time. */
static void retype_time_channel(struct runtime_types *runtime, uint32_t type)
{
    uint32_t channel = build_find(runtime, bytes_of("chan time.Time"));
    if (channel == TYPE_NONE)
        channel = build_find(runtime, bytes_of("<-chan time.Time"));
    retype(runtime, type, "c", channel);
}

/* Gives the field r of a time.Timer the type runtime.timer. Before 1.23 a time.Timer contains a
 * struct of package time that the runtime treats as a runtime.timer, and points to. */
static void retype_timer(struct runtime_types *runtime, uint32_t type)
{
    const struct types *types = runtime->types;
    const struct type_field *field = types_field(types, type, "r");
    const uint32_t timer = build_find(runtime, bytes_of("runtime.timer"));
    if (field && timer != TYPE_NONE && field->type < types->list.count &&
        build_is_named(runtime, field->type, "time.runtimeTimer") &&
        types_size(types, field->type) == types_size(types, timer))
        runtime->types->fields.data[field - types->fields.data].type = timer;
}

/*
 * Corrects the target of a pointer type that points to a timer or a coroutine.
 *
 * Since Go 1.23 pointers to time.Timer and iter.coro lead to larger structures of the runtime, so
 * their target is changed to these.
 */
static void sync_retype_pointer(struct runtime_types *runtime, uint32_t number)
{
    const uint32_t elem = types_get(runtime->types, number)->elem;
    if (runtime->release.minor < 23 || elem >= runtime->types->list.count)
        return;
    if (build_is_named(runtime, elem, "iter.coro")) { /* to package iter it is an empty struct */
        const uint32_t coro = build_type(runtime, bytes_of("runtime.coro"), NULL);
        if (coro != TYPE_NONE)
            runtime->types->list.data[number].elem = coro;
        return;
    }
    if (!build_is_named(runtime, elem, "time.Timer") &&
        !build_is_named(runtime, elem, "time.Ticker"))
        return;
    const uint32_t timer = build_type(runtime, bytes_of("runtime.timeTimer"), NULL);
    if (timer == TYPE_NONE)
        return;
    retype_time_channel(runtime, timer);
    runtime->types->list.data[number].elem = timer;
}

/* ---- reflect ---- */

/* Gives the pointer of a reflect.Value its exact type, which the word before it tells. A
 * reflect.Value has the address of a type, a pointer and, since Go 1.5, a word of flags. */
static void retype_reflected(struct runtime_types *runtime, uint32_t type)
{
    const uint64_t word = runtime->types->pointer_size;
    const struct type_field *pointer = types_field(runtime->types, type, "ptr");
    if (runtime->release.minor < 5 || !pointer || pointer->offset != word ||
        types_size(runtime->types, type) != 3 * word)
        return;
    retype(runtime, type, "ptr",
           build_target(runtime, TARGET_BY_TYPE, pointer->type, TYPE_NONE, 0));
}

/* ---- the rules for all types ---- */

/*
 * Sets the types of the untyped pointers in a struct of sync, atomic, weak, time or the runtime.
 *
 * These structs hold words, mostly unsafe.Pointer, whose real type is known from the struct's name
 * or its type argument: the rules give the field that type. A name that ends with [ is a generic
 * type's. The runtime's own generic structs (is_generic), which stand for many types, stay as they
 * are.
 */
static void sync_retype(struct runtime_types *runtime, uint32_t type)
{
    static const struct rule {
        const char *name;
        void (*apply)(struct runtime_types *runtime, uint32_t type);
    } rules[] = {
        {"sync/atomic.Pointer[", retype_atomic_pointer},
        {"internal/runtime/atomic.Pointer[", retype_atomic_pointer},
        {"runtime/internal/atomic.Pointer[", retype_atomic_pointer},
        {"weak.Pointer[", retype_weak_pointer},
        {"internal/weak.Pointer[", retype_weak_pointer},
        {"sync.Pool", retype_pool},
        {"sync.eface", retype_eface},
        {"sync.entry", retype_map_entry},
        {"sync.notifyList", retype_notify_list},
        {"runtime.g", retype_labels},
        {"runtime.timeTimer", retype_time_channel},
        {"time.Timer", retype_timer},
        {"time.Ticker", retype_timer},
        {"reflect.Value", retype_reflected},
    };
    if (types_get(runtime->types, type)->is_generic)
        return;
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        const bool is_prefix = rules[i].name[strlen(rules[i].name) - 1] == '[';
        if (is_prefix ? build_has_prefix(runtime, type, rules[i].name)
                      : build_is_named(runtime, type, rules[i].name))
            rules[i].apply(runtime, type);
    }
}

/* ==== all of them ====
 *
 * This file selects the structures for each type.
 */

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

/* Returns whether a type's name is one of a type that describes values less well than others of the
 * same size: a structure that does not know the types of keys and elements, unlike those that this
 * module makes for each map and channel type; or one of code that several types share, go.shape. */
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
    static const char initials[] = "rimnhbwstg"; /* of all these: few names begin with one */
    if (bytes_contain(name, "go.shape."))
        return true;
    if (name.size == 0 || !memchr(initials, name.data[0], sizeof(initials) - 1))
        return false;
    for (size_t i = 0; i < COUNT_OF(whole); i++)
        if (bytes_are(name, whole[i]))
            return true;
    for (size_t i = 0; i < COUNT_OF(prefixes); i++)
        if (bytes_begin(name, prefixes[i]))
            return true;
    return false;
}

/* Adds the runtime's structures that a type implies: the header of a map or a channel, which has no
 * name in the program. Gives the types of package sync their real fields. STRUCTURES_MOST headers
 * at most. */
static void add_structures(struct runtime_types *runtime, uint32_t number)
{
    const struct type *type = types_get(runtime->types, number);
    const uint32_t count = as_u32(runtime->types->list.count);
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
        if (build_is_named(runtime, number, "sync.readOnly"))
            build_type(runtime, bytes_of("sync.Map"), NULL);
        break;
    case TYPE_POINTER:
        sync_retype_pointer(runtime, number);
        break;
    }
    if (header != TYPE_NONE)
        runtime->types->list.data[number].header = header;
}

/* Adds the types of the runtime's structures, such as those of maps. First registers all types by
 * name, since structures find types by name, and then adds the structures. Both only visit types
 * that were there before this call and that no earlier call has visited or made. Nothing if the
 * release is not known. Returns false if memory runs out. */
bool runtime_types_add(struct runtime_types *runtime)
{
    struct types *types = runtime->types;
    if (runtime->release.minor == 0)
        return true;
    const uint32_t start = runtime->processed;
    const uint32_t end = as_u32(types->list.count);
    for (uint32_t i = start; i < end && !runtime->no_memory; i++) {
        build_register(runtime, i);
        if (types_get(types, i)->role == ROLE_NONE)
            types->list.data[i].is_generic = runtime_is_generic(types_name(types, i));
    }
    for (uint32_t i = start; i < end && !runtime->no_memory; i++)
        add_structures(runtime, i);
    runtime->processed = as_u32(types->list.count);
    return !runtime->no_memory;
}
