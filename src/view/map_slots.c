/*
 * map_slots: the entries of maps; see include/go2heapsnapshot/values.h.
 *
 * A map before Go 1.24 has buckets, each with a list of overflow buckets. While it grows, the
 * entries that have not been moved are in its old buckets; the slots of entries that have been
 * moved look empty. A later map has one group of slots, or a directory of tables that have groups;
 * a table may be in the directory several times in a row. types/runtime_types.c has the
 * structures.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "naming/key_names.h"
#include "view/locations.h"

struct slots {
    const struct g2h_view *view;
    const struct map_entries *entries;
    uint32_t map;  /* the type of the map */
    uint64_t left; /* buckets and groups that may still be visited: more than fit into the dump */
    g2h_entry_visit visit;
    void *context;
};

CLEANUP_POINTER(destroy_entries, struct map_entries, map_entries_destroy);

/* Returns the element of a field that is a pointer, or TYPE_NONE. */
static uint32_t elem_of(const struct types *types, uint32_t type, const char *name)
{
    const struct type_field *field = types_field(types, type, name);
    return field && field->type < types->list.count ? types_get(types, field->type)->elem
                                                    : TYPE_NONE;
}

/* ---- slots ---- */

/* Gets a key or elem. It may be stored as a pointer, if it is large. Returns false if the dump does
 * not have it. */
static bool map_slots_value_of(const struct slots *slots, uint32_t stored, uint32_t type,
                               const struct g2h_bytes *bucket, uint64_t offset,
                               struct g2h_value *ret)
{
    const struct types *types = slots->view->graph->typing->types;
    struct view_memory memory;
    if (type >= types->list.count || stored == type ||
        types_get(types, stored)->kind != TYPE_POINTER || types_get(types, stored)->elem != type)
        return value_fill(slots->view, stored, bucket, offset, ret);
    return view_memory_at(slots->view, heap_word(slots->view->graph->heap, bucket->data + offset),
                          &memory) &&
           value_fill(slots->view, type, &memory.bytes, 0, ret);
}

/* Visits the entries of a bucket or group, which is a whole one. Returns false if the visitor wants
 * no more. */
static bool map_slots_visit(struct slots *slots, const struct g2h_bytes *bucket)
{
    const struct map_entries *entries = slots->entries;
    const struct type *map = types_get(slots->view->graph->typing->types, slots->map);
    const unsigned used = map_entries_used(&slots->view->graph->names, entries, bucket->data);
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        struct g2h_entry entry;
        if ((used >> slot & 1) != 0 &&
            map_slots_value_of(slots, entries->key, map->key, bucket,
                               entries->keys + slot * entries->key_stride, &entry.key) &&
            map_slots_value_of(slots, entries->elem, map->elem, bucket,
                               entries->elems + slot * entries->elem_stride, &entry.elem) &&
            !slots->visit(slots->context, &entry))
            return false;
    }
    return true;
}

/* ---- buckets ---- */

/* Visits the entries of count buckets in an array, and of the overflow buckets that hang on each.
 * Returns false to stop: if visit says so, or if more buckets were met than the dump has space for
 * (a damaged list may be circular). */
static bool visit_buckets(struct slots *slots, uint32_t type, uint64_t address, uint64_t count)
{
    const struct types *types = slots->view->graph->typing->types;
    const struct type_field *overflow = types_field(types, type, "overflow");
    const uint64_t size = slots->entries->size;
    struct view_memory array, bucket;
    if (address == 0 || !overflow || !view_memory_at(slots->view, address, &array))
        return true;
    for (uint64_t i = 0; i < count && (i + 1) * size <= array.bytes.size; i++) {
        bucket = array;
        bucket.bytes.data += i * size;
        bucket.bytes.size -= i * size;
        while (slots->left-- > 0) {
            if (!map_slots_visit(slots, &bucket.bytes))
                return false;
            const uint64_t next = view_memory_word(slots->view, &bucket, overflow->offset);
            if (next == 0 || !view_memory_at(slots->view, next, &bucket) ||
                bucket.bytes.size < size)
                break;
        }
        /* The loop has counted below 0. */
        if (slots->left > UINT64_MAX / 2)
            return false;
    }
    return true;
}

/* Visits a map of Go before 1.24: its buckets, 2^B, and while it grows also the old ones, half as
 * many unless it grows to the same size. Returns false to stop. */
static bool visit_classic(struct slots *slots, uint32_t header, uint32_t bucket,
                          const struct view_memory *map)
{
    enum { SAME_SIZE_GROW = 8 }; /* runtime/map.go: sameSizeGrow */
    const struct types *types = slots->view->graph->typing->types;
    const uint64_t log = view_memory_field(slots->view, map, header, "B") & 63,
                   flags = view_memory_field(slots->view, map, header, "flags"),
                   old_log = log > 0 && (flags & SAME_SIZE_GROW) == 0 ? log - 1 : log;
    const struct type_field *now = types_field(types, header, "buckets"),
                            *old = types_field(types, header, "oldbuckets");
    return !now || !old ||
           (visit_buckets(slots, bucket, view_memory_word(slots->view, map, now->offset),
                          UINT64_C(1) << log) &&
            visit_buckets(slots, bucket, view_memory_word(slots->view, map, old->offset),
                          UINT64_C(1) << old_log));
}

/* ---- groups ---- */

/* Visits the entries of count groups in an array. Returns false to stop. Ends at groups that are
 * not in the dump, and after slots->left ones in all. */
static bool visit_groups(struct slots *slots, uint64_t address, uint64_t count)
{
    const uint64_t size = slots->entries->size;
    struct view_memory groups;
    if (!view_memory_at(slots->view, address, &groups))
        return true;
    for (uint64_t i = 0; i < count && (i + 1) * size <= groups.bytes.size; i++) {
        const struct g2h_bytes group = bytes_from(groups.bytes, i * size);
        if (slots->left-- == 0 || !map_slots_visit(slots, &group))
            return false;
    }
    return true;
}

/* Visits the groups of a table. Returns false to stop; a table that cannot be read has no
 * groups. */
static bool visit_table(struct slots *slots, uint32_t table, uint64_t address)
{
    const struct types *types = slots->view->graph->typing->types;
    const struct type_field *groups = types_field(types, table, "groups");
    struct view_memory memory;
    if (!groups || groups->type >= types->list.count ||
        !view_memory_at(slots->view, address, &memory) || memory.bytes.size < groups->offset)
        return true;
    memory.bytes.data += groups->offset;
    memory.bytes.size -= groups->offset;
    return visit_groups(slots, view_memory_word(slots->view, &memory, 0),
                        view_memory_field(slots->view, &memory, groups->type, "lengthMask") + 1);
}

/* Visits a map of Go 1.24 and later. A small one has a single group and no directory (dirLen 0). In
 * a directory, a table that has not been split as often as others is listed several times in a row.
 * Returns false to stop. */
static bool visit_swiss(struct slots *slots, uint32_t header, const struct view_memory *map)
{
    const struct types *types = slots->view->graph->typing->types;
    const struct type_field *field = types_field(types, header, "dirPtr");
    const uint64_t count = view_memory_field(slots->view, map, header, "dirLen"),
                   word = types->pointer_size,
                   address = view_memory_word(slots->view, map, field->offset);
    const uint32_t to_table = types_get(types, field->type)->other,
                   table =
                       to_table < types->list.count ? types_get(types, to_table)->elem : TYPE_NONE;
    struct view_memory directory;
    uint64_t last = 0;
    if (count == 0 && view_memory_field(slots->view, map, header, "used") > 0)
        return visit_groups(slots, address, 1);
    if (count == 0 || table >= types->list.count ||
        !view_memory_at(slots->view, address, &directory))
        return true;
    for (uint64_t i = 0; i < count && (i + 1) * word <= directory.bytes.size; i++) {
        const uint64_t next = view_memory_word(slots->view, &directory, i * word);
        if (next != last && !visit_table(slots, table, next))
            return false;
        last = next;
    }
    return true;
}

/* ---- maps ---- */

bool g2h_location_is_map(const struct g2h_view *view, const struct g2h_location *location)
{
    return !location->is_array &&
           types_get(view->graph->typing->types, location->type)->role == ROLE_MAP;
}

/* Visits the entries of a map. The map's type says which structure it has, and leads to the type of
 * its buckets or groups. */
struct g2h_error *g2h_location_entries(const struct g2h_view *view,
                                       const struct g2h_location *location, g2h_entry_visit visit,
                                       void *context)
{
    const struct types *types = view->graph->typing->types;
    if (!g2h_location_is_map(view, location) || location->bytes.size < location->base)
        return NULL;
    const struct view_memory map = {.bytes = bytes_from(location->bytes, location->base)};
    const bool is_swiss = types_field(types, location->type, "dirPtr") != NULL;
    const uint32_t unit = elem_of(types, location->type, is_swiss ? "dirPtr" : "buckets");
    _cleanup_(destroy_entries) struct map_entries *entries = NULL;
    if (unit >= types->list.count)
        return NULL;
    TRY_MEMORY(map_entries_create(types, unit, &entries));
    if (!entries || entries->size == 0)
        return NULL;
    struct slots slots = {.view = view,
                          .entries = entries,
                          .map = types_get(types, unit)->elem,
                          .left = view->graph->heap->input->size / entries->size + 1,
                          .visit = visit,
                          .context = context};
    if (slots.map >= types->list.count)
        return NULL;
    if (is_swiss)
        visit_swiss(&slots, location->type, &map);
    else
        visit_classic(&slots, location->type, unit, &map);
    return NULL;
}
