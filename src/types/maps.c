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
