/*
 * build: makes types that no executable describes, from tables of members; see build.h, which
 * explains the expressions that members' types are written in. type_of_expression() reads one,
 * build_struct() makes a struct and computes the offsets as Go does, and each type that is derived
 * from another one (a pointer, a slice) is made once. The second part has tables of structures by
 * their names: channels and others.
 */
#include "types/build.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "base/error.h"
#include "base/text.h"

/* ==== types from tables ==== */

#define BETWEEN(since, before, name, type) \
    { \
        name, type, since, before, false \
    }

#define MEMBERS_MAX 32

/* A value in by_name: several different types have the name. */
#define NAME_AMBIGUOUS (TYPE_NONE - 1)

/* Only damaged executables exceed these. */
#define SIZE_MOST (UINT64_C(1) << 40)

enum { DEPTH_MOST = 64 };

enum {
    ARRAY_LIMIT = 1000,          /* the length of arrays that are made */
    ARRAY_DIGITS = 4,            /* of a length in an expression */
    PART_MOST = 1000,            /* the most bytes of one type's name within another name */
    DESCRIPTOR_NAME_MOST = 2048, /* longer than the name of any descriptor */
};

/* Notes that memory has run out. Returns TYPE_NONE, for the caller to return. */
static uint32_t note_no_memory(struct runtime_types *runtime)
{
    runtime->no_memory = true;
    return TYPE_NONE;
}

/* Adds a type. Returns its number, or TYPE_NONE if memory runs out. */
static uint32_t type_builder_add(struct runtime_types *runtime, const struct type *type)
{
    uint32_t number;
    return types_add(runtime->types, type, &number) ? number : note_no_memory(runtime);
}

/* ---- names ---- */

/* Returns the number of a string, or TYPE_NONE if memory runs out. */
uint32_t build_intern(struct runtime_types *runtime, struct g2h_bytes text)
{
    uint32_t number;
    return types_intern(runtime->types, text.data, text.size, &number) ? number
                                                                       : note_no_memory(runtime);
}

bool build_has_prefix(const struct runtime_types *runtime, uint32_t type, const char *text)
{
    return bytes_begin(types_name(runtime->types, type), text);
}

bool build_is_named(const struct runtime_types *runtime, uint32_t type, const char *text)
{
    return bytes_are(types_name(runtime->types, type), text);
}

/* Appends the name of a type, cut if it is long. */
static void type_builder_append_type(struct text *name, const struct runtime_types *runtime,
                                     uint32_t type)
{
    const struct g2h_bytes own = types_name(runtime->types, type);
    size_t size = own.size;
    if (size > PART_MOST) /* cut before the start of a character */
        for (size = PART_MOST; size > 0 && (own.data[size] & 0xc0) == 0x80;)
            size--;
    text_append(name, own.data, size);
    text_append_string(name, size < own.size ? "…" : "");
}

/* Interns a name that was composed. Returns TYPE_NONE if memory runs out. */
static uint32_t intern_text(struct runtime_types *runtime, const struct text *name)
{
    if (name->failed)
        return note_no_memory(runtime);
    return build_intern(runtime, bytes_at(name->data, name->size));
}

/* Returns the name of a structure for two types. Composes the name that DWARF and the compiler give
 * such a structure: "bucket<string,int>". */
uint32_t build_name(struct runtime_types *runtime, const char *kind, uint32_t first,
                    uint32_t second)
{
    _cleanup_(text_deinit) struct text name = {0};
    text_append_string(&name, kind);
    text_append_string(&name, "<");
    type_builder_append_type(&name, runtime, first);
    if (second != TYPE_NONE) {
        text_append_string(&name, ",");
        type_builder_append_type(&name, runtime, second);
    }
    text_append_string(&name, ">");
    return intern_text(runtime, &name);
}

/*
 * Returns the string "chan T".
 *
 * "chan <-chan T" would read as a channel to which chan T is sent, so "chan (<-chan T)".
 */
static uint32_t build_channel_name(struct runtime_types *runtime, uint32_t elem)
{
    const bool is_ambiguous = build_has_prefix(runtime, elem, "<-chan ");
    _cleanup_(text_deinit) struct text name = {0};
    text_append_string(&name, is_ambiguous ? "chan (" : "chan ");
    type_builder_append_type(&name, runtime, elem);
    text_append_string(&name, is_ambiguous ? ")" : "");
    return intern_text(runtime, &name);
}

/* Returns the type with a name, or TYPE_NONE if there is none or several different ones. */
uint32_t build_find(const struct runtime_types *runtime, struct g2h_bytes name)
{
    const uint32_t found = map_get(&runtime->by_name, map_hash_text(name.data, name.size));
    if (found == MAP_NONE || found == NAME_AMBIGUOUS)
        return TYPE_NONE;
    return bytes_same(types_name(runtime->types, found), name) ? found : TYPE_NONE;
}

/* ---- types that are derived from others ---- */

/* Returns the key of a type that is derived from elem: elem has 32 bits, the kind 8, and an array's
 * length, which is below ARRAY_LIMIT, the rest. */
static uint64_t derived_key(unsigned kind, uint32_t elem, uint64_t length)
{
    return (uint64_t)elem | (uint64_t)kind << 32 | length << 40;
}

/* Returns the type that is derived from elem (a pointer to it, a slice of it …), if it has been
 * recorded, or MAP_NONE. */
static uint32_t build_find_derived(const struct runtime_types *runtime, unsigned kind,
                                   uint32_t elem, uint64_t length)
{
    return map_get(&runtime->derived, derived_key(kind, elem, length));
}

/* Records a derived type. Returns false if memory runs out. */
static bool build_note_derived(struct runtime_types *runtime, unsigned kind, uint32_t elem,
                               uint64_t length, uint32_t type)
{
    uint32_t first;
    if (!map_put(&runtime->derived, derived_key(kind, elem, length), type, &first))
        runtime->no_memory = true;
    return !runtime->no_memory;
}

/* Makes a type findable by its name, and, if it has no name of its own, by what it is derived from:
 * *T, []T or [N]T for N below ARRAY_LIMIT. A name that two different types have finds neither.
 * Returns false if memory runs out. */
bool build_register(struct runtime_types *runtime, uint32_t number)
{
    const struct type *type = types_get(runtime->types, number);
    uint32_t first;
    const struct g2h_bytes name = types_name(runtime->types, number);
    const uint64_t key = map_hash_text(name.data, name.size);
    if (!map_put(&runtime->by_name, key, number, &first)) {
        runtime->no_memory = true;
        return false;
    }
    if (first != number && first != NAME_AMBIGUOUS) {
        const struct type *other = types_get(runtime->types, first);
        if (other->name != type->name || other->kind != type->kind || other->size != type->size)
            map_set(&runtime->by_name, key, NAME_AMBIGUOUS);
    }
    /* A named type is not a derived one. */
    if (type->elem >= runtime->types->list.count)
        return true;
    if ((type->kind == TYPE_POINTER && type->target == TARGET_ONE &&
         build_has_prefix(runtime, number, "*")) ||
        (type->kind == TYPE_SLICE && build_has_prefix(runtime, number, "[]")))
        return build_note_derived(runtime, type->kind, type->elem, 0, number);
    if (type->kind == TYPE_ARRAY && type->length < ARRAY_LIMIT &&
        build_has_prefix(runtime, number, "["))
        return build_note_derived(runtime, type->kind, type->elem, type->length, number);
    return true;
}

/* Returns the type of a kind that is derived from elem; its name is the prefix and elem's name. */
static uint32_t derive(struct runtime_types *runtime, enum type_kind kind, uint32_t elem,
                       uint64_t length, const char *prefix, uint64_t size)
{
    uint32_t type = build_find_derived(runtime, kind, elem, length);
    if (type != MAP_NONE)
        return type;
    _cleanup_(text_deinit) struct text name = {0};
    text_append_string(&name, prefix);
    type_builder_append_type(&name, runtime, elem);
    const uint32_t number = intern_text(runtime, &name);
    if (number == TYPE_NONE)
        return TYPE_NONE;
    type = type_builder_add(runtime, &(struct type){.name = number,
                                                    .kind = (uint8_t)kind,
                                                    .direct_interface = kind == TYPE_POINTER,
                                                    .size = size,
                                                    .pointer_bytes = UINT64_MAX,
                                                    .elem = elem,
                                                    .key = TYPE_NONE,
                                                    .header = TYPE_NONE,
                                                    .length = length});
    return type != TYPE_NONE && build_note_derived(runtime, kind, elem, length, type) ? type
                                                                                      : TYPE_NONE;
}

/* Returns the type *elem, or unsafe.Pointer if elem is not known. */
uint32_t build_pointer(struct runtime_types *runtime, uint32_t elem)
{
    return elem == TYPE_NONE
               ? build_type(runtime, bytes_of("unsafe.Pointer"), NULL)
               : derive(runtime, TYPE_POINTER, elem, 0, "*", runtime->types->pointer_size);
}

/* Makes the type [length]elem. Returns TYPE_NONE if elem is not known or too large, or the length
 * is ARRAY_LIMIT or more. */
uint32_t build_array(struct runtime_types *runtime, uint32_t elem, uint64_t length)
{
    char prefix[32];
    if (elem == TYPE_NONE || types_size(runtime->types, elem) > SIZE_MOST || length >= ARRAY_LIMIT)
        return TYPE_NONE;
    snprintf(prefix, sizeof(prefix), "[%u]", (unsigned)length);
    return derive(runtime, TYPE_ARRAY, elem, length, prefix,
                  length * types_size(runtime->types, elem));
}

/* Makes a pointer type that only the runtime has: a copy of *elem with another target, for a
 * pointer that leads to more than one value, or to one of two types. other and length are what the
 * target needs (enum type_target). The copy has no descriptor of its own. Returns TYPE_NONE if elem
 * is not known, or memory runs out. */
uint32_t build_target(struct runtime_types *runtime, enum type_target target, uint32_t elem,
                      uint32_t other, uint64_t length)
{
    const uint32_t one =
        elem == TYPE_NONE || target == TARGET_BY_TYPE ? elem : build_pointer(runtime, elem);
    if (one == TYPE_NONE)
        return TYPE_NONE;
    struct type type = runtime->types->list.data[one];
    type.target = (uint8_t)target;
    type.other = other;
    type.length = length;
    type.address = 0;
    type.from_dwarf = false;
    return type_builder_add(runtime, &type);
}

/* Returns the type that a map stores for a key or an element: the type itself, or a pointer to it
 * if it is large. */
uint32_t build_stored_type(struct runtime_types *runtime, uint32_t type)
{
    const uint64_t most = 128; /* abi.MapMaxKeyBytes, abi.MapMaxElemBytes, in all releases */
    return types_size(runtime->types, type) > most ? build_pointer(runtime, type) : type;
}

/* ---- expressions ---- */

/* The types of the language; a size of 0 means one word, or two for interfaces and strings. */
static const struct basic {
    const char *name;
    uint8_t kind, size;
} basics[] = {
    {"bool", TYPE_BOOL, 1},
    {"int", TYPE_INT, 0},
    {"int32", TYPE_INT32, 4},
    {"int64", TYPE_INT64, 8},
    {"uint", TYPE_UINT, 0},
    {"uint8", TYPE_UINT8, 1},
    {"uint16", TYPE_UINT16, 2},
    {"uint32", TYPE_UINT32, 4},
    {"uint64", TYPE_UINT64, 8},
    {"uintptr", TYPE_UINTPTR, 0},
    {"unsafe.Pointer", TYPE_UNSAFE_POINTER, 0},
    {"func()", TYPE_FUNC, 0},
    {"interface {}", TYPE_INTERFACE, 0},
    {"sync.eface", TYPE_INTERFACE, 0}, /* declared as a struct with the two words of an interface */
    {"string", TYPE_STRING, 0},
};

/* Returns a type of the language by its name, a row of basics, or TYPE_NONE if no such type exists.
 * It is the executable's own if that has the right kind and size; else one is made, and recorded as
 * derived from no type (UINT32_MAX) with the number of its row as length. */
static uint32_t build_language_type(struct runtime_types *runtime, struct g2h_bytes name)
{
    const struct basic *basic = NULL;
    for (size_t i = 0; i < COUNT_OF(basics) && !basic; i++)
        if (bytes_are(name, basics[i].name))
            basic = &basics[i];
    if (!basic)
        return TYPE_NONE;
    const unsigned word = runtime->types->pointer_size;
    const unsigned words = basic->kind == TYPE_INTERFACE || basic->kind == TYPE_STRING ? 2 : 1;
    struct type type = {.kind = basic->kind,
                        .direct_interface =
                            basic->kind == TYPE_UNSAFE_POINTER || basic->kind == TYPE_FUNC,
                        .empty_interface = basic->kind == TYPE_INTERFACE,
                        .size = basic->size ? basic->size : words * word,
                        .pointer_bytes = UINT64_MAX,
                        .elem = TYPE_NONE,
                        .key = TYPE_NONE,
                        .header = TYPE_NONE};
    uint32_t found = build_find(runtime, name);
    if (found != TYPE_NONE) {
        const struct type *there = types_get(runtime->types, found);
        if (there->kind == type.kind && there->size == type.size)
            return found;
    }
    /* The executable does not have this type, or has another type of this name. */
    const uint64_t row = as_size(basic - basics);
    found = build_find_derived(runtime, basic->kind, UINT32_MAX, row);
    if (found == MAP_NONE) {
        type.name = build_intern(runtime, name);
        if (type.name == TYPE_NONE)
            return TYPE_NONE;
        found = type_builder_add(runtime, &type);
        if (found != TYPE_NONE)
            build_note_derived(runtime, basic->kind, UINT32_MAX, row, found);
    }
    return found;
}

/* Returns a string without its first size bytes. */
static struct g2h_bytes bytes_after(struct g2h_bytes text, size_t size)
{
    return bytes_from(text, size);
}

static uint32_t type_of_expression(struct runtime_types *runtime, struct g2h_bytes expression,
                                   const uint32_t *arguments, unsigned depth);

/* Returns the type of "[8]X" or "[]X", or TYPE_NONE. A length has ARRAY_DIGITS digits at most. */
static uint32_t array_of_expression(struct runtime_types *runtime, struct g2h_bytes expression,
                                    const uint32_t *arguments, unsigned depth)
{
    uint64_t length = 0;
    size_t at = 1;
    for (; at < expression.size && at <= ARRAY_DIGITS && expression.data[at] >= '0' &&
           expression.data[at] <= '9';
         at++)
        length = 10 * length + (uint64_t)(expression.data[at] - '0');
    if (at == expression.size || expression.data[at] != ']')
        return TYPE_NONE;
    const uint32_t elem =
        type_of_expression(runtime, bytes_after(expression, at + 1), arguments, depth + 1);
    if (elem == TYPE_NONE)
        return TYPE_NONE;
    return at > 1 ? build_array(runtime, elem, length)
                  : derive(runtime, TYPE_SLICE, elem, 0, "[]",
                           3 * (uint64_t)runtime->types->pointer_size);
}

static uint32_t named_struct(struct runtime_types *runtime, struct g2h_bytes name);

/* Returns the type that an expression of the tables names, or TYPE_NONE: "$0" is the first
 * argument, "*X", "[]X" and "[8]X" are derived from X, and everything else is a name: of a type of
 * the language, of one that the executable has, or of a struct of the tables. TYPE_NONE, too, if it
 * is nested too deep or memory runs out. */
static uint32_t type_of_expression(struct runtime_types *runtime, struct g2h_bytes expression,
                                   const uint32_t *arguments, unsigned depth)
{
    if (expression.size == 0 || depth > 8)
        return TYPE_NONE;
    if (arguments && expression.data[0] == '$') {
        assert(expression.size == strlen("$0") && expression.data[1] >= '0');
        return arguments[expression.data[1] - '0'];
    }
    uint32_t found = build_language_type(runtime, expression);
    if (found == TYPE_NONE)
        found = build_find(runtime, expression);
    if (found != TYPE_NONE || runtime->no_memory)
        return found;
    if (expression.data[0] == '*') {
        const uint32_t elem =
            type_of_expression(runtime, bytes_after(expression, 1), arguments, depth + 1);
        return runtime->no_memory ? TYPE_NONE : build_pointer(runtime, elem);
    }
    return expression.data[0] == '[' ? array_of_expression(runtime, expression, arguments, depth)
                                     : named_struct(runtime, expression);
}

uint32_t build_type(struct runtime_types *runtime, struct g2h_bytes expression,
                    const uint32_t *arguments)
{
    return type_of_expression(runtime, expression, arguments, 0);
}

/* ---- traits that follow from a type's parts ---- */

enum {
    TRAIT_ALIGNMENT = 15, /* mask of the alignment, 1 … 8; 0: not known yet */
    TRAIT_POINTERS = 16,  /* values hold pointers */
    TRAIT_IN_WORK = 32,
};

static uint8_t traits_of(struct runtime_types *runtime, uint32_t number, unsigned depth);

/* Returns the traits of a struct: the largest alignment of its fields, and whether one of them has
 * pointers. depth: of the fields. */
static uint8_t traits_of_struct(struct runtime_types *runtime, uint32_t number, unsigned depth)
{
    const struct types *types = runtime->types;
    const struct type *type = types_get(types, number);
    uint8_t traits = 1;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const uint8_t field = traits_of(runtime, types_fields(types, type)[i].type, depth);
        if ((field & TRAIT_ALIGNMENT) > (traits & TRAIT_ALIGNMENT))
            traits = (uint8_t)((traits & ~TRAIT_ALIGNMENT) | (field & TRAIT_ALIGNMENT));
        traits |= field & TRAIT_POINTERS;
    }
    /* With this field the compiler aligns 64-bit atomic values on 32-bit processors. */
    if (type->size == 0 && (build_is_named(runtime, number, "sync/atomic.align64") ||
                            build_is_named(runtime, number, "runtime/internal/atomic.align64") ||
                            build_is_named(runtime, number, "internal/runtime/atomic.align64")))
        traits = 8;
    return traits;
}

/* Returns the traits of a number: it is aligned to its size, up to one word. */
static uint8_t traits_of_number(const struct type *type, uint8_t word)
{
    uint8_t alignment = 1;
    while (alignment < word && type->size && type->size % (2u * alignment) == 0)
        alignment = (uint8_t)(2 * alignment);
    return alignment;
}

/* Returns the alignment of a type, and whether its values hold pointers (TRAIT_POINTERS): the two
 * facts that the offsets of a struct's fields and the noscan property depend on. Arrays and structs
 * have those of their parts. A type that is not known, is nested too deep, or contains itself has
 * those of a word without pointers. The answer is cached by type. */
static uint8_t traits_of(struct runtime_types *runtime, uint32_t number, unsigned depth)
{
    struct types *types = runtime->types;
    const uint8_t word = (uint8_t)types->pointer_size;
    if (number >= types->list.count || depth > DEPTH_MOST)
        return word;
    while (runtime->traits.count <= number)
        if (!vector_push(&runtime->traits, 0)) {
            runtime->no_memory = true;
            return word;
        }
    uint8_t traits = runtime->traits.data[number];
    if (traits == TRAIT_IN_WORK) /* damage: the type contains itself */
        return word;
    if (traits)
        return traits;
    runtime->traits.data[number] = TRAIT_IN_WORK;

    const struct type *type = types_get(types, number);
    switch (type->kind) {
    case TYPE_ARRAY:
        traits = traits_of(runtime, type->elem, depth + 1);
        if (type->length == 0) /* without elements there are no pointers */
            traits &= TRAIT_ALIGNMENT;
        break;
    case TYPE_STRUCT:
        traits = traits_of_struct(runtime, number, depth + 1);
        break;
    case TYPE_POINTER:
    case TYPE_UNSAFE_POINTER:
    case TYPE_CHAN:
    case TYPE_MAP:
    case TYPE_FUNC:
    case TYPE_INTERFACE:
    case TYPE_SLICE:
    case TYPE_STRING:
        traits = word | TRAIT_POINTERS;
        break;
    case TYPE_COMPLEX64: /* two numbers of 4 bytes */
        traits = 4;
        break;
    default:
        traits = traits_of_number(type, word);
    }
    /* A descriptor says it by itself: not all pointers lead into the heap. */
    if (type->pointer_bytes != UINT64_MAX)
        traits = (uint8_t)((traits & TRAIT_ALIGNMENT) | (type->pointer_bytes ? TRAIT_POINTERS : 0));
    return runtime->traits.data[number] = traits;
}

bool build_has_pointers(struct runtime_types *runtime, uint32_t type)
{
    return traits_of(runtime, type, 0) & TRAIT_POINTERS;
}

/* ---- structs ---- */

/* Adds a struct type without fields, which the caller adds, and returns its number; or TYPE_NONE if
 * memory runs out, also if it already has: name is a result of build_intern(). elem is the type
 * that the role is about, such as the map of a bucket, or TYPE_NONE: see enum type_role. A name
 * with "go.shape." is one of a type that the compiler uses in code for several types at once: no
 * value has it (is_generic). */
uint32_t build_struct(struct runtime_types *runtime, enum type_role role, uint32_t elem,
                      uint32_t name)
{
    if (name == TYPE_NONE)
        return TYPE_NONE;
    const bool is_generic = bytes_contain(types_text(runtime->types, name), "go.shape.");
    return type_builder_add(runtime, &(struct type){.name = name,
                                                    .is_generic = is_generic,
                                                    .kind = TYPE_STRUCT,
                                                    .role = (uint8_t)role,
                                                    .pointer_bytes = UINT64_MAX,
                                                    .elem = elem,
                                                    .key = TYPE_NONE,
                                                    .header = TYPE_NONE});
}

/* Adds the members to a struct that build_struct() has made (number; TYPE_NONE if it could not).
 * Places the members that the release has one after the other, each aligned, as the Go compiler
 * does. arguments: the types that the members' types call $0, $1 ….
 * Returns false, and leaves the struct without fields, if a member's type is unknown or absurdly
 * large, or if memory runs out. */
bool build_fill(struct runtime_types *runtime, uint32_t number, const struct member *members,
                size_t count, const uint32_t *arguments)
{
    struct types *types = runtime->types;
    const int minor = runtime->release.minor;
    struct type_field fields[MEMBERS_MAX];
    uint32_t field_count = 0;
    uint64_t offset = 0, last_size = 0, alignment = 1;

    if (number == TYPE_NONE)
        return false;
    /* All types are built first, because building them adds fields to types->fields. */
    for (size_t i = 0; i < count; i++) {
        const struct member *member = &members[i];
        if ((member->since && minor < member->since) || (member->before && minor >= member->before))
            continue;
        assert(field_count < MEMBERS_MAX);
        struct type_field *field = &fields[field_count++];
        field->embedded = member->embedded;
        field->type = build_type(runtime, bytes_of(member->type), arguments);
        if (field->type == TYPE_NONE)
            return false;
        field->name = build_intern(runtime, bytes_of(member->name));
        if (field->name == TYPE_NONE)
            return false;
        const uint64_t of_field = traits_of(runtime, field->type, 0) & TRAIT_ALIGNMENT;
        alignment = MAX(of_field, alignment);
        last_size = types_size(types, field->type);
        if (last_size > SIZE_MOST)
            return false;
        field->offset = offset = (offset + of_field - 1) / of_field * of_field;
        offset += last_size;
    }
    /* The address of an empty field at the end must not be the address of another object. */
    if (last_size == 0 && offset > 0)
        offset++;
    struct type *type = &types->list.data[number];
    type->size = (offset + alignment - 1) / alignment * alignment;
    type->first_field = as_u32(types->fields.count);
    type->field_count = field_count;
    for (uint32_t i = 0; i < field_count; i++)
        if (!vector_push(&types->fields, fields[i])) {
            type->field_count = 0;
            runtime->no_memory = true;
            return false;
        }
    return true;
}

/* Moves the descriptor of a struct of the executable to a more exact type. Composes the name that
 * the compiler gives the structure's type (members, with a type's name for each %), and moves the
 * descriptor of the type with this name to the type that was built: then malloc headers lead to the
 * built one, which knows more. Returns false if memory runs out. */
bool build_take_descriptor(struct runtime_types *runtime, uint32_t type, const char *members,
                           uint32_t first, uint32_t second)
{
    struct types *types = runtime->types;
    const uint32_t arguments[] = {first, second};
    _cleanup_(text_deinit) struct text name = {0};
    for (size_t argument = 0; *members; members++) {
        const struct g2h_bytes part =
            *members == '%' ? types_name(types, arguments[argument++ % 2]) : bytes_at(members, 1);
        if (part.size > DESCRIPTOR_NAME_MOST - name.size)
            return true;
        text_append(&name, part.data, part.size);
    }
    if (name.failed) {
        runtime->no_memory = true;
        return false;
    }
    const uint32_t found = build_find(runtime, bytes_at(name.data, name.size));
    if (found == TYPE_NONE || found == type || types_get(types, found)->address == 0 ||
        types_size(types, found) != types_size(types, type))
        return true;
    types->list.data[type].address = types_get(types, found)->address;
    types->list.data[type].pointer_bytes = types_get(types, found)->pointer_bytes;
    types->list.data[type].gc_mask = types_get(types, found)->gc_mask;
    types->list.data[found].address = 0;
    map_set(&types->by_address, types_get(types, type)->address, type);
    return true;
}

/* ==== structures by their names ====
 *
 * Structures of the runtime and the library that are built by their names, for executables that
 * have no types of these names: channels, and others.
 */

/*
 * ---- channels ----
 *
 * runtime.hchan is the header of a channel, and a goroutine has a runtime.sudog while it waits on a
 * channel. If the elements hold no pointers, header and buffer are one noscan object. If there is
 * no buffer, the header is noscan as well, and its buf is its own address.
 */

/* $0 a pointer to the buffer, $1 waitq */
static const struct member hchan[] = {
    FIELD("qcount", "uint"),
    FIELD("dataqsiz", "uint"),
    FIELD("buf", "$0"),
    FIELD("elemsize", "uint16"),
    BETWEEN(24, 25, "synctest", "bool"),
    FIELD("closed", "uint32"),
    SINCE(23, "timer", "*runtime.timer"),
    FIELD("elemtype", "unsafe.Pointer"),
    FIELD("sendx", "uint"),
    FIELD("recvx", "uint"),
    FIELD("recvq", "$1"),
    FIELD("sendq", "$1"),
    SINCE(25, "bubble", "*runtime.synctestBubble"),
    FIELD("lock", "runtime.mutex"),
};

/* $0 sudog */
static const struct member waitq[] = {
    FIELD("first", "*$0"),
    FIELD("last", "*$0"),
};

/* $0 sudog, $1 a pointer to the element, $2 a pointer to the channel; from 1.26 on $1 and $2 are
 * wrapped in structs */
static const struct member sudog_members[] = {
    FIELD("g", "*runtime.g"),
    BEFORE(10, "selectdone", "*uint32"),
    BETWEEN(10, 15, "isSelect", "bool"),
    FIELD("next", "*$0"),
    FIELD("prev", "*$0"),
    FIELD("elem", "$1"),
    SINCE(8, "acquiretime", "int64"),
    FIELD("releasetime", "int64"),
    FIELD("ticket", "uint32"),
    SINCE(15, "isSelect", "bool"),
    SINCE(16, "success", "bool"),
    SINCE(22, "waiters", "uint16"),
    SINCE(9, "parent", "*$0"),
    FIELD("waitlink", "*runtime.sudog"), /* its type is that of any sudog: in a select, the next one
                                            waits on another channel */
    SINCE(9, "waittail", "*$0"),
    FIELD("c", "$2"),
};

/* $0 the pointer */
static const struct member traceable_ptr[] = {
    FIELD("vp", "$0"),
    FIELD("vu", "uintptr"),
};

static const struct member traceable_chan[] = {
    EMBEDDED("maybeTraceablePtr", "$0"),
};

/* Returns a new struct type with these members, whose $0 is a type, or TYPE_NONE if memory runs
 * out. */
static uint32_t wrap_in_struct(struct runtime_types *runtime, const char *name,
                               const struct member *members, size_t count, uint32_t type)
{
    const uint32_t wrapped =
        build_struct(runtime, ROLE_INTERNAL, TYPE_NONE, build_intern(runtime, bytes_of(name)));
    return build_fill(runtime, wrapped, members, count, &type) ? wrapped : TYPE_NONE;
}

/* Returns the type of a pointer in a sudog: from 1.26 on it has two words, because it may be hidden
 * from the collector. */
static uint32_t sudog_pointer(struct runtime_types *runtime, uint32_t pointer)
{
    return runtime->release.minor < 26 || pointer == TYPE_NONE
               ? pointer
               : wrap_in_struct(runtime, "runtime.maybeTraceablePtr", traceable_ptr,
                                COUNT_OF(traceable_ptr), pointer);
}

/* Returns the type of a sudog's pointer to a channel: as sudog_pointer() has it, in one more struct
 * since Go 1.26 (runtime.maybeTraceableChan). */
static uint32_t sudog_channel_pointer(struct runtime_types *runtime, uint32_t pointer)
{
    const uint32_t inner = sudog_pointer(runtime, pointer);
    return runtime->release.minor < 26 || inner == TYPE_NONE
               ? inner
               : wrap_in_struct(runtime, "runtime.maybeTraceableChan", traceable_chan,
                                COUNT_OF(traceable_chan), inner);
}

/* Adds to a struct the members of the runtime.sudog of a goroutine that waits on a channel. elem is
 * the channel's element type, header its header; each is TYPE_NONE if unknown. Returns false if the
 * members cannot be built. */
static bool chans_sudog(struct runtime_types *runtime, uint32_t sudog, uint32_t elem,
                        uint32_t header)
{
    const uint32_t to_elem = sudog_pointer(runtime, build_pointer(runtime, elem));
    const uint32_t to_channel = sudog_channel_pointer(runtime, build_pointer(runtime, header));
    return to_elem != TYPE_NONE && to_channel != TYPE_NONE &&
           BUILD_FILL(runtime, sudog, sudog_members, sudog, to_elem, to_channel);
}

/* Returns the name of a channel's header, which is that of the channel with both directions.
 * *ret_unnamed: all channels of elem share the header. */
static uint32_t header_name(struct runtime_types *runtime, uint32_t channel, uint32_t elem,
                            bool *ret_unnamed)
{
    const bool receive = build_has_prefix(runtime, channel, "<-chan ");
    const bool send = build_has_prefix(runtime, channel, "chan<- ");
    *ret_unnamed = receive || send || build_has_prefix(runtime, channel, "chan ");
    if (!receive && !send)
        return types_get(runtime->types, channel)->name;
    return build_channel_name(runtime, elem);
}

/* Makes the type of a channel's header, runtime.hchan. The header's type depends on the element
 * type: it has pointers to the buffer and, through the queues, to the sudogs of waiting goroutines,
 * which point to an element. */
uint32_t chans_header(struct runtime_types *runtime, uint32_t channel)
{
    struct types *types = runtime->types;
    const uint32_t elem = types_get(types, channel)->elem;
    const uint64_t word = types->pointer_size;
    bool unnamed;
    const uint32_t name = header_name(runtime, channel, elem, &unnamed);
    uint32_t header = unnamed ? build_find_derived(runtime, TYPE_CHAN, elem, 0) : TYPE_NONE;
    if (header != TYPE_NONE)
        return header;
    header = build_struct(runtime, ROLE_CHAN, channel, name);
    const uint32_t sudog = build_struct(runtime, ROLE_INTERNAL, TYPE_NONE,
                                        build_name(runtime, "sudog", elem, TYPE_NONE));
    const uint32_t queue = build_struct(runtime, ROLE_INTERNAL, TYPE_NONE,
                                        build_name(runtime, "waitq", elem, TYPE_NONE));
    if (header == TYPE_NONE || sudog == TYPE_NONE || queue == TYPE_NONE ||
        !chans_sudog(runtime, sudog, elem, header) || !BUILD_FILL(runtime, queue, waitq, sudog))
        return TYPE_NONE;
    /* The word before buf is dataqsiz. */
    const uint32_t buffer = build_target(runtime, TARGET_COUNTED, elem, TYPE_NONE, 0 - word);
    if (!BUILD_FILL(runtime, header, hchan, buffer, queue))
        return TYPE_NONE;
    types->list.data[header].may_be_noscan = true;
    if (unnamed)
        build_note_derived(runtime, TYPE_CHAN, elem, 0, header);
    return header;
}

/* ---- other structures ---- */

/* In the tables below, $0 is the structure itself. */

static const struct member mutex[] = {
    FIELD("key", "uintptr"),
};

static const struct member atomic_uint8[] = {
    FIELD("value", "uint8"),
};

static const struct member atomic_int32[] = {
    FIELD("value", "int32"),
};

static const struct member atomic_uint64[] = {
    FIELD("_", "sync/atomic.align64"),
    FIELD("v", "uint64"),
};

/* time.NewTimer() and others return its address as the address of a time.Timer, which is
 * shorter. */
static const struct member time_timer[] = {
    FIELD("c", "unsafe.Pointer"),
    FIELD("init", "bool"),
    EMBEDDED("timer", "runtime.timer"),
};

static const struct member timer[] = {
    FIELD("mu", "runtime.mutex"),
    FIELD("astate", "internal/runtime/atomic.Uint8"),
    FIELD("state", "uint8"),
    FIELD("isChan", "bool"),
    SINCE(24, "isFake", "bool"),
    FIELD("blocked", "uint32"),
    SINCE(25, "rand", "uint32"),
    FIELD("when", "int64"),
    FIELD("period", "int64"),
    FIELD("f", "func()"),
    FIELD("arg", "interface {}"),
    FIELD("seq", "uintptr"),
    FIELD("ts", "*runtime.timers"),
    FIELD("sendLock", "runtime.mutex"),
    FIELD("isSending", "internal/runtime/atomic.Int32"),
};

/* The part of a sync.Pool that belongs to one processor. */
static const struct member pool_local_internal[] = {
    FIELD("private", "interface {}"),
    BEFORE(13, "shared", "[]interface {}"),
    SINCE(13, "shared", "sync.poolChain"),
    BEFORE(13, "Mutex", "uint64"),
};

static const struct member pool_chain[] = {
    FIELD("head", "*sync.poolChainElt"),
    FIELD("tail", "*sync.poolChainElt"),
};

static const struct member pool_chain_elt[] = {
    EMBEDDED("poolDequeue", "sync.poolDequeue"),
    FIELD("next", "*$0"),
    FIELD("prev", "*$0"),
};

static const struct member pool_dequeue[] = {
    BEFORE(22, "headTail", "uint64"),
    SINCE(22, "headTail", "sync/atomic.Uint64"),
    FIELD("vals", "[]sync.eface"),
};

/* Until Go 1.23 no descriptor of it may be in the executable, because the program has no value of
 * it but variables. */
static const struct member sync_map[] = {
    FIELD("mu", "uint64"),
    BEFORE(20, "read", "interface {}"),
    SINCE(20, "read", "*sync.readOnly"),
    FIELD("dirty", "map[interface {}]*sync.entry"),
    FIELD("misses", "int"),
};

static const struct member coro[] = {
    FIELD("gp", "uintptr"),       FIELD("f", "func(*runtime.coro)"), FIELD("mp", "*runtime.m"),
    FIELD("lockedExt", "uint32"), FIELD("lockedInt", "uint32"),
};

static const struct named {
    const char *name;
    const struct member *members;
    size_t count;
    int since, before; /* as those of a member */
} all[] = {
#define NAMED(name, members, since, before) \
    { \
        name, members, COUNT_OF(members), since, before \
    }
    NAMED("runtime.mutex", mutex, 0, 0),
    NAMED("internal/runtime/atomic.Uint8", atomic_uint8, 0, 0),
    NAMED("internal/runtime/atomic.Int32", atomic_int32, 0, 0),
    {"sync/atomic.align64", NULL, 0, 0, 0},
    NAMED("sync/atomic.Uint64", atomic_uint64, 0, 0),
    NAMED("runtime.timer", timer, 23, 0),
    NAMED("runtime.timeTimer", time_timer, 23, 0),
    NAMED("runtime.coro", coro, 23, 0),
    NAMED("sync.Map", sync_map, 9, 24),
    NAMED("sync.poolDequeue", pool_dequeue, 13, 0),
    NAMED("sync.poolChainElt", pool_chain_elt, 13, 0),
    NAMED("sync.poolChain", pool_chain, 13, 0),
    NAMED("sync.poolLocalInternal", pool_local_internal, 9, 0),
};

/* Returns the name of a structure of the runtime by its index; NULL after the last one. */
const char *named_struct_name(size_t i)
{
    return i < COUNT_OF(all) ? all[i].name : NULL;
}

/* Returns the type of a sudog that waits in sync.Cond or on a semaphore, not on a channel. */
static uint32_t named_sudog(struct runtime_types *runtime, struct g2h_bytes name)
{
    const uint32_t type =
        build_struct(runtime, ROLE_INTERNAL, TYPE_NONE, build_intern(runtime, name));
    return type != TYPE_NONE && build_register(runtime, type) &&
                   chans_sudog(runtime, type, TYPE_NONE, TYPE_NONE)
               ? type
               : TYPE_NONE;
}

/* Builds a structure of the runtime that is identified by its name alone, one of the table all[];
 * the sudog is built apart, since its types depend on what it waits for. Returns TYPE_NONE if the
 * name is not in the table, the release does not have it, or memory runs out. */
static uint32_t named_struct(struct runtime_types *runtime, struct g2h_bytes name)
{
    if (bytes_are(name, "runtime.sudog"))
        return named_sudog(runtime, name);
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        const struct named *named = &all[i];
        if (!bytes_are(name, named->name))
            continue;
        if (runtime->release.minor < named->since ||
            (named->before != 0 && runtime->release.minor >= named->before))
            return TYPE_NONE;
        const uint32_t type =
            build_struct(runtime, ROLE_RUNTIME, TYPE_NONE, build_intern(runtime, name));
        /* The type is registered before it has members, because the members may point to the same
         * type. */
        if (type == TYPE_NONE || !build_register(runtime, type) ||
            !build_fill(runtime, type, named->members, named->count, &type))
            return TYPE_NONE;
        return type;
    }
    return TYPE_NONE;
}
