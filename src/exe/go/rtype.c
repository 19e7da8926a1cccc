/*
 * rtype: makes types (types.h) of the type descriptors that descriptors.c finds; see rtype.h. The
 * parts: names, which are composed for unnamed types and get the full path of their package; one
 * type per descriptor; and where runtime.types begins, which is tried by the dump's own names of
 * types, the witnesses.
 */
#include "exe/go/rtype.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "base/error.h"
#include "base/text.h"
#include "exe/go/descriptors.h"

/*
 * ---- names of types ----
 *
 * A descriptor's own name contains only the names of packages ("*http.conn"), so two types may
 * share it. The descriptor of a named type has the package's path as well, which makes
 * "net/http.conn". The names of all other types are composed of the names of their parts.
 */

enum { DEPTH_MOST = 64 }; /* nesting of types without names: "[][]*T" is three deep */

/* Values in place of a name's number. */
#define UNKNOWN UINT32_MAX       /* not made yet */
#define BUSY    (UINT32_MAX - 1) /* being made: only a damaged executable leads here again */

struct composer {
    const struct descriptors *all;
    struct types *types;
    uint32_t *names;
    struct text text;
    const uint8_t *package; /* the string of the path that was noted last */
    bool failed;            /* the name is too long, or has a part without a name */
};

/* Interns a string, or "?" in its place once there are more bytes of strings than a sound
 * executable has. Returns false if memory runs out. */
static bool type_names_intern(const struct descriptors *all, struct types *types,
                              struct g2h_bytes text, uint32_t *ret)
{
    const uint64_t most = 4 * all->size + (1 << 20);
    if (types->names.text_size > most)
        text = bytes_of("?");
    return types_intern(types, text.data, text.size, ret);
}

/* ---- composed names ---- */

/* Appends to the name that is being composed; it fails if the name becomes too long. */
static void type_names_append(struct composer *composer, struct g2h_bytes text)
{
    if (text.size > NAME_MOST - composer->text.size)
        composer->failed = true;
    else
        text_append(&composer->text, text.data, text.size);
}

/* Appends a string to the name that is being composed. */
static void type_names_append_text(struct composer *composer, const char *text)
{
    type_names_append(composer, bytes_of(text));
}

/* Appends the name of another type, which must have been made before. */
static void type_names_append_type(struct composer *composer, uint32_t index)
{
    if (composer->names[index] >= BUSY)
        composer->failed = true;
    else
        type_names_append(composer, types_text(composer->types, composer->names[index]));
}

/* Appends the name of one of the types that a type is composed of, by its number. */
static void type_names_append_part(struct composer *composer, size_t index, size_t number)
{
    type_names_append_type(composer, descriptor_reference(composer->all, index, number));
}

/* Appends "[N]T". */
static void append_array(struct composer *composer, size_t index)
{
    type_names_append_text(composer, "[");
    text_append_number(&composer->text, descriptor_length(composer->all, index));
    type_names_append_text(composer, "]");
    type_names_append_part(composer, index, 0);
}

/* Appends the name of a channel type with its direction. An element that is a receive-only channel
 * without name is put in parentheses, as Go reads "chan <-chan T" as another type. */
static void append_chan(struct composer *composer, size_t index)
{
    enum { RECEIVE = 1, SEND = 2 };
    const uint32_t element = descriptor_reference(composer->all, index, 0);
    const unsigned direction = descriptor_direction(composer->all, index);
    /* "chan <-chan T" would be read as a channel to send on */
    const bool ambiguous = direction == (RECEIVE | SEND) &&
                           (descriptor_kind(composer->all, element) & KIND_MASK) == TYPE_CHAN &&
                           (descriptor_flags(composer->all, element) & TFLAG_NAMED) == 0 &&
                           descriptor_direction(composer->all, element) == RECEIVE;
    if (direction == RECEIVE)
        type_names_append_text(composer, "<-chan ");
    else
        type_names_append_text(composer, direction == SEND ? "chan<- " : "chan ");
    type_names_append_text(composer, ambiguous ? "(" : "");
    type_names_append_type(composer, element);
    type_names_append_text(composer, ambiguous ? ")" : "");
}

/* Appends "func(A, ...B) (C, D)": the references are the parameters, then the results. */
static void append_func(struct composer *composer, size_t index)
{
    const size_t count = descriptor_reference_count(composer->all, index);
    bool variadic;
    const size_t parameters = descriptor_parameters(composer->all, index, &variadic);
    type_names_append_text(composer, "func(");
    for (size_t i = 0; i < parameters; i++) {
        uint32_t type = descriptor_reference(composer->all, index, i);
        type_names_append_text(composer, i > 0 ? ", " : "");
        if (variadic && i + 1 == parameters &&
            (descriptor_kind(composer->all, type) & KIND_MASK) == TYPE_SLICE) {
            type_names_append_text(composer, "...");
            type = descriptor_reference(composer->all, type, 0);
        }
        type_names_append_type(composer, type);
    }
    type_names_append_text(composer, ")");
    if (count > parameters)
        type_names_append_text(composer, count == parameters + 1 ? " " : " (");
    for (size_t i = parameters; i < count; i++) {
        type_names_append_text(composer, i > parameters ? ", " : "");
        type_names_append_part(composer, index, i);
    }
    type_names_append_text(composer, count > parameters + 1 ? ")" : "");
}

/* Appends "struct { A B; C }", where C is embedded. */
static void append_struct(struct composer *composer, size_t index)
{
    const size_t count = descriptor_reference_count(composer->all, index);
    type_names_append_text(composer, "struct {");
    for (size_t i = 0; i < count; i++) {
        struct descriptor_field field = descriptor_field(composer->all, index, i);
        type_names_append_text(composer, i > 0 ? "; " : " ");
        if (!field.embedded) {
            type_names_append(composer, field.name);
            type_names_append_text(composer, " ");
        }
        type_names_append_part(composer, index, i);
    }
    type_names_append_text(composer, count > 0 ? " }" : "}");
}

/* Composes the name of an unnamed type from those of its parts, as Go writes it: descriptors have
 * only the name of each part's package, not its path. */
static void compose_name(struct composer *composer, size_t index)
{
    composer->text.size = 0;
    composer->failed = false;
    switch (descriptor_kind(composer->all, index) & KIND_MASK) {
    case TYPE_POINTER:
        type_names_append_text(composer, "*");
        type_names_append_part(composer, index, 0);
        break;
    case TYPE_SLICE:
        type_names_append_text(composer, "[]");
        type_names_append_part(composer, index, 0);
        break;
    case TYPE_ARRAY:
        append_array(composer, index);
        break;
    case TYPE_CHAN:
        append_chan(composer, index);
        break;
    case TYPE_MAP:
        type_names_append_text(composer, "map[");
        type_names_append_part(composer, index, 0);
        type_names_append_text(composer, "]");
        type_names_append_part(composer, index, 1);
        break;
    case TYPE_FUNC:
        append_func(composer, index);
        break;
    case TYPE_STRUCT:
        append_struct(composer, index);
        break;
    default:
        composer->failed = true;
    }
}

/* Returns whether a name begins with a package's path and a dot. */
static bool is_qualified(struct g2h_bytes name, struct g2h_bytes package)
{
    return name.size > package.size && name.data[package.size] == '.' &&
           bytes_same((struct g2h_bytes){name.data, package.size}, package);
}

/* Records the name that a package declares. The types of a package are mostly adjacent, and share
 * the string of its path. Returns false if memory runs out. */
static bool note_package(struct composer *composer, size_t index)
{
    const struct g2h_bytes name = descriptor_name(composer->all, index),
                           path = descriptor_package(composer->all, index);
    const uint8_t *dot = memchr(name.data, '.', name.size),
                  *bracket = memchr(name.data, '[', name.size);
    struct type_package package;
    if (path.size == 0 || path.data == composer->package || !dot || dot == name.data ||
        (bracket && bracket < dot))
        return true;
    composer->package = path.data;
    const struct g2h_bytes own = bytes_between(name.data, dot);
    if (path.size > NAME_MOST || own.size > NAME_MOST) /* damaged: many may share a long string */
        return true;
    return type_names_intern(composer->all, composer->types, path, &package.path) &&
           type_names_intern(composer->all, composer->types, own, &package.name) &&
           vector_push(&composer->types->packages, package);
}

/* Replaces the package's name with its path, which may differ: "yaml.Node" is in
 * "gopkg.in/yaml.v3". Type arguments have paths already, and so have the types of go.shape. */
static void qualify_name(struct composer *composer, size_t index)
{
    const struct g2h_bytes name = descriptor_name(composer->all, index),
                           package = descriptor_package(composer->all, index);
    const uint8_t *dot = memchr(name.data, '.', name.size),
                  *bracket = memchr(name.data, '[', name.size);
    composer->text.size = 0;
    composer->failed =
        package.size == 0 || !dot || (bracket && bracket < dot) || is_qualified(name, package);
    type_names_append(composer, package);
    if (!composer->failed)
        type_names_append(composer, bytes_between(dot, name.data + name.size));
}

/* Returns how many of the types that a type is composed of have their names in its name. */
static size_t named_parts(const struct descriptors *all, size_t index)
{
    switch (descriptor_kind(all, index) & KIND_MASK) {
    case TYPE_ARRAY:
        return 1; /* not its slice */
    case TYPE_MAP:
        return 2; /* not its bucket or group */
    case TYPE_INTERFACE:
        return 0;
    default:
        return descriptor_reference_count(all, index);
    }
}

/* Makes the name of a type, after those of its parts. Returns false if memory runs out. Types
 * nested more than DEPTH_MOST levels deep keep the name of their descriptor. */
static bool make_name(struct composer *composer, size_t index, unsigned depth)
{
    const struct descriptors *all = composer->all;
    const bool named = (descriptor_flags(all, index) & TFLAG_NAMED) != 0;
    if (composer->names[index] != UNKNOWN)
        return true;
    composer->names[index] = BUSY;
    const size_t parts = named || depth == DEPTH_MOST ? 0 : named_parts(all, index);
    for (size_t i = 0; i < parts; i++)
        if (!make_name(composer, descriptor_reference(all, index, i), depth + 1))
            return false;
    if (named)
        qualify_name(composer, index);
    else if (depth < DEPTH_MOST)
        compose_name(composer, index);
    struct g2h_bytes text = bytes_at(composer->text.data, composer->text.size);
    if (composer->failed || (!named && depth == DEPTH_MOST))
        text = descriptor_name(all, index);
    return !composer->text.failed &&
           type_names_intern(all, composer->types, text, &composer->names[index]) &&
           (!named || note_package(composer, index));
}

/*
 * Interns the name of each descriptor's type in types; *ret is an array of the names' numbers,
 * which the caller frees. Long names, and those of interfaces without a name, are the descriptors'
 * own names. Error: G2H_ERROR_MEMORY.
 */
static struct g2h_error *type_names_init(const struct descriptors *all, struct types *types,
                                         uint32_t **ret)
{
    const size_t count = all->list.count;
    _cleanup_free_ uint32_t *names = malloc((count + 1) * sizeof(*names));
    if (!names)
        return &error_no_memory;
    memset(names, 0xff, (count + 1) * sizeof(*names));
    struct composer composer = {.all = all, .types = types, .names = names};
    bool good = true;
    for (size_t i = 0; good && i < count; i++)
        good = make_name(&composer, i, 0);
    text_deinit(&composer.text);
    if (!good)
        return &error_no_memory;
    *ret = take_pointer(names);
    return NULL;
}

/* ---- from descriptors to types ---- */

/* Returns the name of an embedded field by its type: "Mutex" for "*sync.Mutex". Before 1.9 the
 * field has no name of its own. */
static struct g2h_bytes embedded_name(struct g2h_bytes type)
{
    uint64_t start = 0;
    uint64_t end = type.size;
    const uint8_t *bracket = memchr(type.data, '[', type.size);
    if (bracket)
        end = as_size(bracket - type.data);
    for (uint64_t i = 0; i < end; i++)
        if (type.data[i] == '.' || type.data[i] == '*')
            start = i + 1;
    return bytes_part(type, start, end - start);
}

/* Adds the fields of a struct type. Returns false if memory runs out. */
static bool rtype_add_fields(const struct descriptors *all, size_t index, struct types *types,
                             struct type *type)
{
    type->first_field = as_u32(types->fields.count);
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

/* Adds a type of which only the name and the size are known, and which no address leads to. Returns
 * false if memory runs out. */
static bool rtype_add_opaque(const struct descriptors *all, size_t index, uint32_t name,
                             struct types *types)
{
    const struct type type = {
        .name = name,
        .kind = TYPE_INVALID,
        .size = descriptor_size(all, index),
        .pointer_bytes = UINT64_MAX,
        .elem = TYPE_NONE,
        .key = TYPE_NONE,
        .header = TYPE_NONE,
    };
    uint32_t number;
    return types_add(types, &type, &number);
}

/* Adds the type of a descriptor. References are indexes of descriptors, and types are added in the
 * same order, so they are the types' numbers as well. Returns false if memory runs out. */
static bool rtype_add_type(const struct descriptors *all, size_t index, uint32_t name,
                           uint64_t slide, struct types *types)
{
    const uint8_t kind = descriptor_kind(all, index);
    const uint8_t flags = descriptor_flags(all, index);
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

/* Adds the types of all descriptors; slide makes their addresses those of the process. doubted has
 * the descriptors whose addresses have other types in the process. */
static struct g2h_error *rtype_add_types(const struct descriptors *all, uint64_t slide,
                                         const bool *doubted, struct types *types)
{
    _cleanup_free_ uint32_t *names = NULL;
    TRY(type_names_init(all, types, &names));
    for (size_t i = 0; i < all->list.count; i++)
        if (!(doubted[i] ? rtype_add_opaque(all, i, names[i], types)
                         : rtype_add_type(all, i, names[i], slide, types)))
            return &error_no_memory;
    return NULL;
}

/*
 * ---- checking ----
 *
 * The runtime writes the string of a type to a dump or, if the type's descriptor has a package, the
 * path of the package, a dot, and the type's own name, which a type without a name does not have
 * (dumptype() of runtime/heapdump.go). All three are in the descriptor. So the names are compared
 * as they are there: the composed names above contain paths where the string has only the names of
 * packages, and these two need not have a part in common ("client_model/go" is
 * "io_prometheus_client").
 */

/* Returns whether a name of a dump is one that was read from a descriptor, and may have been cut.
 */
static bool is_read_name(struct g2h_bytes name, struct g2h_bytes read)
{
    return read.size < NAME_MOST ? bytes_same(name, read) : bytes_begin_with(name, read);
}

/* Returns the part of a type's string after the package: after the last dot that is in no type
 * argument. */
static struct g2h_bytes own_name(struct g2h_bytes string)
{
    uint64_t at = string.size;
    int brackets = 0;
    for (; at > 0 && (string.data[at - 1] != '.' || brackets != 0); at--)
        brackets += (string.data[at - 1] == ']') - (string.data[at - 1] == '[');
    return bytes_from(string, at);
}

/* Returns whether a name of a dump consists of a package's path, a dot, and a type's own name. */
static bool is_path_and_name(struct g2h_bytes name, struct g2h_bytes path, struct g2h_bytes own)
{
    if (path.size >= NAME_MOST) /* the path was cut: the dot is somewhere behind it */
        return bytes_begin_with(name, path);
    return is_qualified(name, path) &&
           is_read_name((struct g2h_bytes){name.data + path.size + 1, name.size - path.size - 1},
                        own);
}

/* Returns whether the runtime writes this name for a descriptor. */
static bool descriptor_fits(const struct descriptors *all, size_t index, struct g2h_bytes witness)
{
    const struct g2h_bytes string = descriptor_name(all, index),
                           path = descriptor_package(all, index);
    if (path.size == 0)
        return is_read_name(witness, string);
    const bool named = (descriptor_flags(all, index) & TFLAG_NAMED) != 0;
    return is_path_and_name(witness, path, named ? own_name(string) : bytes_none);
}

/* Returns whether the runtime may write this name for a type of which only the string is known. A
 * witness that ends in a dot is the path of a package, of which any name fits. */
static bool string_fits(struct g2h_bytes string, struct g2h_bytes witness)
{
    const struct g2h_bytes own = own_name(string);
    if (string.size == 0 || witness.size == 0)
        return false;
    if (witness.data[witness.size - 1] == '.') { /* a type of a package without a name */
        const struct g2h_bytes path = {witness.data, witness.size - 1};
        return path.size > 0 && string.data[0] == '*';
    }
    return is_read_name(witness, string) ||
           (own.size < witness.size && own.size < string.size && bytes_end_with(witness, own) &&
            witness.data[witness.size - own.size - 1] == '.');
}

/* ---- finding runtime.types ---- */

struct rtype_range {
    uint64_t start, size; /* in the file */
};

/* Finds the witnesses whose descriptor is missing or has another name. doubted gets true for each
 * of these descriptors. Returns how many witnesses fit. */
static size_t find_doubted(const struct descriptors *all, uint64_t slide,
                           const struct rtype_witnesses *witnesses, bool *doubted)
{
    size_t fitting = 0;
    VECTOR_EACH(const struct rtype_witness, witness, *witnesses) {
        const size_t index = descriptors_find(all, witness->address - slide);
        if (index == all->list.count)
            continue;
        if (descriptor_fits(all, index, witness->name))
            fitting++;
        else
            doubted[index] = true;
    }
    return fitting;
}

/*
 * Adds the types of a range. Types that the dump has by other names than the executable are left
 * out, each by itself: *ret_unfit is their number. None is added if no witness fits: then this is
 * not the range of types.
 */
static struct g2h_error *read_range(struct types *types, const struct image *image,
                                    const struct rtype_range *range, uint64_t slide,
                                    const struct rtype_witnesses *witnesses, size_t *ret_unfit)
{
    _cleanup_(descriptors_deinit) struct descriptors all;
    TRY(descriptors_init(&all, image, range->start, range->size));
    _cleanup_free_ bool *doubted = calloc(all.list.count + 1, sizeof(*doubted));
    TRY_MEMORY(doubted);
    const size_t fitting = find_doubted(&all, slide, witnesses, doubted);
    *ret_unfit = witnesses->count - fitting;
    if (witnesses->count > 0 && fitting == 0)
        return NULL;
    struct g2h_error *error = rtype_add_types(&all, slide, doubted, types);
    if (error) {
        const unsigned pointer_size = types->pointer_size;
        types_deinit(types);
        types_init(types, pointer_size);
    }
    return error;
}

/* Returns how many witnesses agree, if the range of types begins at an offset of a section. */
static size_t rtype_count_fitting(const struct image *image, const struct image_section *section,
                                  uint64_t offset, bool varint_names, uint64_t slide,
                                  const struct rtype_witnesses *witnesses)
{
    size_t fitting = 0;
    VECTOR_EACH(const struct rtype_witness, witness, *witnesses) {
        const struct g2h_bytes name =
            descriptors_peek(image, section->address + offset, section->data.data + offset,
                             section->data.size - offset, varint_names, witness->address - slide);
        fitting += string_fits(name, witness->name);
    }
    return fitting;
}

/* Finds the range of types without moduledata: it begins at the start of a section, or a few words
 * after it. Tries both encodings of names. Returns an empty range if no witness fits. */
static struct rtype_range try_sections(const struct image *image, uint64_t slide,
                                       const struct rtype_witnesses *witnesses)
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
    return best;
}

/* Adds the types of all descriptors. The moduledata says where the types are; if it is missing or
 * wrong, sections are tried. */
struct g2h_error *rtypes_init(struct types *types, const struct image *image,
                              const struct moduledata *moduledata, uint64_t slide,
                              struct rtype_witnesses witnesses, struct rtypes_found *ret)
{
    struct rtype_range range = {moduledata->types, moduledata->etypes - moduledata->types};
    assert(types->list.count == 0);
    *ret = (struct rtypes_found){.unfit = witnesses.count};
    if (range.start != 0)
        TRY(read_range(types, image, &range, slide, &witnesses, &ret->unfit));
    if (types->list.count == 0) {
        range = try_sections(image, slide, &witnesses);
        if (range.start != 0)
            TRY(read_range(types, image, &range, slide, &witnesses, &ret->unfit));
    }
    if (types->list.count > 0)
        ret->start = range.start + slide;
    return NULL;
}
