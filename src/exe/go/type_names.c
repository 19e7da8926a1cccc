/* type_names; see type_names.h. Names are spelled as package reflect spells them. */
#include "exe/go/type_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/scope.h"
#include "base/text.h"

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

bool type_names_intern(const struct descriptors *all, struct types *types, struct g2h_bytes text,
                       uint32_t *ret)
{
    const uint64_t most = 4 * all->size + (1 << 20);
    if (types->names.text_size > most)
        text = bytes_of("?");
    return types_intern(types, (const char *)text.data, (size_t)text.size, ret);
}

/* ---- composed names ---- */

static void type_names_append(struct composer *composer, struct g2h_bytes text)
{
    if (text.size > NAME_MOST - composer->text.size)
        composer->failed = true;
    else
        text_append(&composer->text, (const char *)text.data, (size_t)text.size);
}

static void type_names_append_text(struct composer *composer, const char *text)
{
    type_names_append(composer, bytes_of(text));
}

static void type_names_append_type(struct composer *composer, uint32_t index)
{
    if (composer->names[index] >= BUSY)
        composer->failed = true;
    else
        type_names_append(composer, types_text(composer->types, composer->names[index]));
}

static void type_names_append_part(struct composer *composer, size_t index, size_t number)
{
    type_names_append_type(composer, descriptor_reference(composer->all, index, number));
}

static void append_array(struct composer *composer, size_t index)
{
    type_names_append_text(composer, "[");
    text_append_number(&composer->text, descriptor_length(composer->all, index));
    type_names_append_text(composer, "]");
    type_names_append_part(composer, index, 0);
}

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
    type_names_append_text(composer, direction == RECEIVE ? "<-chan "
                                     : direction == SEND  ? "chan<- "
                                                          : "chan ");
    type_names_append_text(composer, ambiguous ? "(" : "");
    type_names_append_type(composer, element);
    type_names_append_text(composer, ambiguous ? ")" : "");
}

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
    type_names_append_text(composer, count == parameters       ? ""
                                     : count == parameters + 1 ? " "
                                                               : " (");
    for (size_t i = parameters; i < count; i++) {
        type_names_append_text(composer, i > parameters ? ", " : "");
        type_names_append_part(composer, index, i);
    }
    type_names_append_text(composer, count > parameters + 1 ? ")" : "");
}

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

/* Composes the name of an unnamed type from those of its parts. */
static void compose(struct composer *composer, size_t index)
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
    const uint8_t *dot = memchr(name.data, '.', (size_t)name.size),
                  *bracket = memchr(name.data, '[', (size_t)name.size);
    struct type_package package;
    if (path.size == 0 || path.data == composer->package || !dot || dot == name.data ||
        (bracket && bracket < dot))
        return true;
    composer->package = path.data;
    const struct g2h_bytes own = {name.data, (uint64_t)(dot - name.data)};
    if (path.size > NAME_MOST || own.size > NAME_MOST) /* damaged: many may share a long string */
        return true;
    return type_names_intern(composer->all, composer->types, path, &package.path) &&
           type_names_intern(composer->all, composer->types, own, &package.name) &&
           vector_push(&composer->types->packages, package);
}

/* Replaces the package's name with its path, which may differ: "yaml.Node" is in
 * "gopkg.in/yaml.v3". Type arguments have paths already, and so have the types of go.shape. */
static void qualify(struct composer *composer, size_t index)
{
    const struct g2h_bytes name = descriptor_name(composer->all, index),
                           package = descriptor_package(composer->all, index);
    const uint8_t *dot = memchr(name.data, '.', (size_t)name.size),
                  *bracket = memchr(name.data, '[', (size_t)name.size);
    composer->text.size = 0;
    composer->failed =
        package.size == 0 || !dot || (bracket && bracket < dot) || is_qualified(name, package);
    type_names_append(composer, package);
    if (!composer->failed)
        type_names_append(composer,
                          (struct g2h_bytes){dot, (uint64_t)(name.data + name.size - dot)});
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

/* Makes the name of a type, after those of its parts. Returns false if memory runs out. */
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
        qualify(composer, index);
    else if (depth < DEPTH_MOST)
        compose(composer, index);
    struct g2h_bytes text = {(const uint8_t *)composer->text.data, composer->text.size};
    if (composer->failed || (!named && depth == DEPTH_MOST))
        text = descriptor_name(all, index);
    return !composer->text.failed &&
           type_names_intern(all, composer->types, text, &composer->names[index]) &&
           (!named || note_package(composer, index));
}

struct g2h_error *type_names_init(const struct descriptors *all, struct types *types,
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
