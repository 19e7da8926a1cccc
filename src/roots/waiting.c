/*
 * waiting: the channels that a goroutine waits on.
 *
 * A blocked goroutine has a list of sudogs, one for each channel of its select. The layout of a
 * sudog comes from the executable's DWARF; without DWARF the channels are not known.
 */
#include "roots/builder.h"

/* A select has at most 65,536 cases. In a damaged dump lists may be circular, or of many
 * goroutines: beyond OWN_CHANNELS, all goroutines together have no more sudogs than there are
 * objects. */
enum { MOST_CHANNELS = 1 << 16, OWN_CHANNELS = 256 };

/* Since Go 1.26 the field c has two words: a pointer for the collector, which may be nil, and the
 * address. So this reads the second word if the first one is 0. */
uint64_t builder_read_field(const struct builder *builder, uint64_t address,
                            const struct type_field *field)
{
    const struct g2h_heap *heap = builder->heap;
    const struct types *types = builder->typing->types;
    const uint64_t word = heap->params.pointer_size;
    const uint32_t number = heap_find(heap, address);
    struct g2h_object object;
    if (number == UINT32_MAX)
        return 0;
    heap_object(heap, number, &object);
    const uint64_t offset = address - heap_address(heap, number) + field->offset,
                   size = types->list.data[field->type].size;
    uint64_t value = 0;
    for (uint64_t at = 0; at + word <= size && at <= word && value == 0; at += word)
        if (object.contents.size >= word && offset + at <= object.contents.size - word)
            value = heap_word(heap, object.contents.data + offset + at);
    return value;
}

/* Returns a field whose type is known, or NULL. */
static const struct type_field *known_field(const struct types *types, uint32_t type,
                                            const char *name)
{
    const struct type_field *field = types_field(types, type, name);
    return field && field->type < types->list.count ? field : NULL;
}

/* Looks up the fields that lead from a goroutine's record to the channels it waits on. Without all
 * three, fields.waiting is NULL. */
static struct waiting_fields waiting_find_fields(const struct types *types, uint32_t type)
{
    struct waiting_fields fields = {.type = type + 1};
    const struct type_field *waiting = known_field(types, type, "waiting");
    const uint32_t sudog = waiting ? types->list.data[waiting->type].elem : TYPE_NONE;
    if (sudog >= types->list.count)
        return fields;
    fields.channel = known_field(types, sudog, "c");
    fields.next = known_field(types, sudog, "waitlink");
    if (fields.channel && fields.next)
        fields.waiting = waiting;
    return fields;
}

/* The edges are tentative: they hold the channel only if nothing else does, since the goroutine
 * does not own it. */
struct g2h_error *builder_add_waiting(struct builder *builder, uint32_t node, uint64_t g)
{
    const struct typing *typing = builder->typing;
    const uint32_t object = heap_find(builder->heap, g);
    struct waiting_fields *fields = &builder->waiting;
    struct typed_location location;
    if (!typing || object == UINT32_MAX ||
        !typing_locate(typing, object, g - heap_address(builder->heap, object), &location) ||
        location.offset != 0)
        return NULL;
    if (fields->type != location.type + 1) /* nearly always runtime.g, as before */
        *fields = waiting_find_fields(typing->types, location.type);
    if (!fields->waiting)
        return NULL;
    uint64_t at = builder_read_field(builder, g, fields->waiting);
    uint32_t name;
    for (unsigned i = 0; at != 0 && i < MOST_CHANNELS; i++) {
        if (i >= OWN_CHANNELS && builder->channels++ >= builder->heap->object_count)
            break;
        const uint32_t target =
            heap_find(builder->heap, builder_read_field(builder, at, fields->channel));
        if (target != UINT32_MAX) /* not a pointer of the goroutine, so it is not counted */
            TRY_MEMORY(builder_label_of(builder, "waiting on", &name) &&
                       builder_add_edge(builder, node_synthetic(node), EDGE_TENTATIVE, name,
                                        node_object(target)));
        at = builder_read_field(builder, at, fields->next);
    }
    return NULL;
}
