/*
 * maps: runtime.hmap, the maps of Go before 1.24 and of X:noswissmap.
 *
 * A map has 2^B buckets of 8 elements each, in one array. Overflow buckets are chained to them; the
 * first overflow buckets are at the array's end. Keys and elements of more than 128 bytes are
 * allocated separately. If neither keys nor elements hold pointers, buckets are noscan, and
 * mapextra keeps the overflow buckets alive.
 */
#include "types/structures.h"

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

/* Builds the types from the bucket up: the bucket, mapextra, which points to overflow buckets, and
 * hmap. The bucket's type in the executable is unnamed, and its descriptor is moved. */
uint32_t maps_header(struct runtime_types *runtime, uint32_t map)
{
    struct types *types = runtime->types;
    const uint32_t name = types->list.data[map].name;
    uint32_t key = types->list.data[map].key, elem = types->list.data[map].elem;
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

/* Builds the types from the group up: groupsReference, table, and Map, whose dirPtr leads to a
 * single group while dirLen, the next word, is 0, else to a directory of tables. */
uint32_t swiss_header(struct runtime_types *runtime, uint32_t map)
{
    struct types *types = runtime->types;
    const uint32_t name = types->list.data[map].name;
    const uint32_t key = types->list.data[map].key, elem = types->list.data[map].elem;
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
