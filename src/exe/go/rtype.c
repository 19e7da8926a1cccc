/* rtype; see rtype.h. */
#include "exe/go/rtype.h"

#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "exe/go/descriptors.h"
#include "exe/go/type_names.h"

/* ---- from descriptors to types ---- */

/* Returns the name of an embedded field by its type: "Mutex" for "*sync.Mutex". Before 1.9 the
 * field has no name of its own. */
static struct g2h_bytes embedded_name(struct g2h_bytes type)
{
    uint64_t start = 0, end = type.size;
    const uint8_t *bracket = memchr(type.data, '[', (size_t)type.size);
    if (bracket)
        end = (uint64_t)(bracket - type.data);
    for (uint64_t i = 0; i < end; i++)
        if (type.data[i] == '.' || type.data[i] == '*')
            start = i + 1;
    return (struct g2h_bytes){type.data + start, end - start};
}

static bool rtype_add_fields(const struct descriptors *all, size_t index, struct types *types,
                             struct type *type)
{
    type->first_field = (uint32_t)types->fields.count;
    type->field_count = (uint32_t)descriptor_reference_count(all, index);
    for (size_t i = 0; i < type->field_count; i++) {
        const uint32_t part = descriptor_reference(all, index, i);
        struct descriptor_field from = descriptor_field(all, index, i);
        struct type_field field = {.type = part, .offset = from.offset, .embedded = from.embedded};
        if (from.name.size == 0)
            from.name = embedded_name(descriptor_name(all, part));
        if (!type_names_intern(all, types, from.name, &field.name) ||
            !vector_push(&types->fields, field))
            return false;
    }
    return true;
}

static bool rtype_add_type(const struct descriptors *all, size_t index, uint32_t name,
                           uint64_t slide, struct types *types)
{
    const uint8_t kind = descriptor_kind(all, index), flags = descriptor_flags(all, index);
    struct type type = {
        .name = name,
        .kind = kind & KIND_MASK,
        .direct_interface = (kind & KIND_DIRECT_IFACE) != 0 || (flags & TFLAG_DIRECT_IFACE) != 0,
        .size = descriptor_size(all, index),
        .pointer_bytes = descriptor_pointer_bytes(all, index),
        .gc_mask = descriptor_mask(all, index),
        .address = all->start + all->list.data[index].offset + slide,
        .elem = TYPE_NONE,
        .key = TYPE_NONE,
        .header = TYPE_NONE,
    };
    uint32_t number;
    switch (type.kind) {
    case TYPE_ARRAY:
        type.length = descriptor_length(all, index);
        /* fall through */
    case TYPE_CHAN:
    case TYPE_POINTER:
    case TYPE_SLICE:
        type.elem = descriptor_reference(all, index, 0);
        break;
    case TYPE_MAP:
        type.key = descriptor_reference(all, index, 0);
        type.elem = descriptor_reference(all, index, 1);
        break;
    case TYPE_INTERFACE:
        type.empty_interface = descriptor_reference_count(all, index) == 0;
        break;
    case TYPE_STRUCT:
        if (!rtype_add_fields(all, index, types, &type))
            return false;
        break;
    }
    return types_add(types, &type, &number);
}

static struct g2h_error *rtype_add_types(const struct descriptors *all, uint64_t slide,
                                         struct types *types)
{
    _cleanup_free_ uint32_t *names = NULL;
    TRY(type_names_init(all, types, &names));
    for (size_t i = 0; i < all->list.count; i++)
        if (!rtype_add_type(all, i, names[i], slide, types))
            return &error_no_memory;
    return NULL;
}

/* ---- checking ---- */

struct witnesses {
    const struct rtype_witness *data;
    size_t count;
};

/* Returns whether a type's name agrees with that of a witness. Either may have the path of the
 * package or not, so only the part of the witness's name after the last slash is compared. */
static bool rtype_fits(struct g2h_bytes name, struct g2h_bytes witness)
{
    uint64_t from = witness.size;
    const bool nameless = witness.size > 0 && witness.data[witness.size - 1] == '.';
    while (from > 0 && witness.data[from - 1] != '/')
        from--;
    const uint8_t *tail = witness.data + from;
    const size_t size = (size_t)(witness.size - from);
    if (nameless)
        return name.size > 0 && name.data[0] == '*' &&
               memmem(name.data, (size_t)name.size, tail, size) != NULL;
    return name.size >= size && memcmp(name.data + name.size - size, tail, size) == 0;
}

/* Returns whether enough witnesses fit. With a wrong range, a name or two may fit by chance. */
static bool is_enough(size_t fitting, const struct witnesses *witnesses)
{
    return fitting >= witnesses->count - witnesses->count / 20;
}

static bool fits_witnesses(const struct types *types, const struct witnesses *witnesses)
{
    size_t fitting = 0;
    for (size_t i = 0; i < witnesses->count; i++) {
        const struct rtype_witness *witness = &witnesses->data[i];
        const uint32_t type = types_at(types, witness->address);
        fitting += type != TYPE_NONE && rtype_fits(types_name(types, type), witness->name);
    }
    return is_enough(fitting, witnesses);
}

/* ---- finding runtime.types ---- */

struct rtype_range {
    uint64_t start, size; /* in the file */
};

/* Adds the types of a range, or none if it turns out not to be the range of types. */
static struct g2h_error *read_range(struct types *types, const struct image *image,
                                    const struct rtype_range *range, uint64_t slide,
                                    const struct witnesses *witnesses)
{
    _cleanup_(descriptors_deinit) struct descriptors all;
    struct g2h_error *error = descriptors_init(&all, image, range->start, range->size);
    error = error ? error : rtype_add_types(&all, slide, types);
    if (error || !fits_witnesses(types, witnesses)) {
        const unsigned pointer_size = types->pointer_size;
        types_deinit(types);
        types_init(types, pointer_size);
    }
    return error;
}

/* Returns how many witnesses agree, if the range of types begins at an offset of a section. */
static size_t rtype_count_fitting(const struct image *image, const struct image_section *section,
                                  uint64_t offset, bool varint_names, uint64_t slide,
                                  const struct witnesses *witnesses)
{
    size_t fitting = 0;
    for (size_t i = 0; i < witnesses->count; i++) {
        const struct rtype_witness *witness = &witnesses->data[i];
        const struct g2h_bytes name =
            descriptors_peek(image, section->address + offset, section->data.data + offset,
                             section->data.size - offset, varint_names, witness->address - slide);
        fitting += name.size > 0 && rtype_fits(name, witness->name);
    }
    return fitting;
}

/* Finds the range of types without moduledata: it begins at the start of a section, or a few words
 * after it. Returns an empty range if the witnesses do not agree. */
static struct rtype_range try_sections(const struct image *image, uint64_t slide,
                                       const struct witnesses *witnesses)
{
    const size_t most_sections = 256; /* a Go executable has a few dozen */
    struct rtype_range best = {0};
    size_t most = 0;
    for (size_t i = 0; i < image->section_count && i < most_sections; i++) {
        const struct image_section *section = &image->sections[i];
        if (section->address == 0)
            continue;
        for (uint64_t offset = 0; offset <= 64 && offset < section->data.size; offset += 32)
            for (int varint_names = 0; varint_names < 2; varint_names++) {
                const size_t fitting = rtype_count_fitting(image, section, offset,
                                                           varint_names != 0, slide, witnesses);
                if (fitting > most) {
                    most = fitting;
                    best = (struct rtype_range){section->address + offset,
                                                section->data.size - offset};
                }
            }
    }
    return is_enough(most, witnesses) ? best : (struct rtype_range){0};
}

struct g2h_error *rtypes_init(struct types *types, const struct image *image,
                              const struct moduledata *moduledata, uint64_t slide,
                              const struct rtype_witness *witnesses, size_t witness_count,
                              uint64_t *ret_start)
{
    const struct witnesses all = {witnesses, witness_count};
    struct rtype_range range = {moduledata->types, moduledata->etypes - moduledata->types};
    *ret_start = 0;
    if (range.start != 0)
        TRY(read_range(types, image, &range, slide, &all));
    if (types->list.count == 0) {
        range = try_sections(image, slide, &all);
        if (range.start != 0)
            TRY(read_range(types, image, &range, slide, &all));
    }
    if (types->list.count > 0)
        *ret_start = range.start + slide;
    return NULL;
}
