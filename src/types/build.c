/* build: struct types of tables, and the types that they need; see build.h. */
#include "types/build.h"

#include <stdio.h>
#include <string.h>

#include "types/structures.h"

/* In by_name: several types that differ have the name. */
#define NAME_AMBIGUOUS (TYPE_NONE - 1)

/* No structure of the runtime comes near; larger ones are damage. */
#define SIZE_LIMIT ((uint64_t)1 << 40)

/* Of a name within a name. */
#define NAME_LIMIT 1000

/* Types nest less deep, but in damaged executables. */
#define DEPTH_LIMIT 64

static uint32_t out_of_memory(struct runtime_types *runtime)
{
    runtime->no_memory = true;
    return TYPE_NONE;
}

static uint32_t add(struct runtime_types *runtime, const struct type *type)
{
    uint32_t number;
    return types_add(runtime->types, type, &number) ? number : out_of_memory(runtime);
}

/* ---- names ---- */

const char *build_text(const struct runtime_types *runtime, uint32_t type, size_t *ret_size)
{
    return string_pool_text(&runtime->types->names, runtime->types->list.data[type].name, ret_size);
}

bool build_has_prefix(const struct runtime_types *runtime, uint32_t type, const char *text)
{
    size_t size;
    const char *name = build_text(runtime, type, &size);
    return size >= strlen(text) && memcmp(name, text, strlen(text)) == 0;
}

bool build_is_named(const struct runtime_types *runtime, uint32_t type, const char *text)
{
    size_t size;
    build_text(runtime, type, &size);
    return size == strlen(text) && build_has_prefix(runtime, type, text);
}

/* Texts put one behind the other. */
struct name {
    char text[2 * NAME_LIMIT + 64];
    size_t size;
};

static void name_add(struct name *name, const char *text, size_t size)
{
    if (size > sizeof(name->text) - name->size)
        size = sizeof(name->text) - name->size;
    memcpy(name->text + name->size, text, size);
    name->size += size;
}

static void name_add_type(struct name *name, const struct runtime_types *runtime, uint32_t type)
{
    size_t size;
    const char *text = build_text(runtime, type, &size);
    if (size <= NAME_LIMIT) {
        name_add(name, text, size);
        return;
    }
    size = NAME_LIMIT;
    while (size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80)
        size--;
    name_add(name, text, size);
    name_add(name, "…", strlen("…"));
}

static uint32_t name_number(struct runtime_types *runtime, const struct name *name)
{
    uint32_t number;
    return types_intern(runtime->types, name->text, name->size, &number) ? number
                                                                         : out_of_memory(runtime);
}

uint32_t build_name(struct runtime_types *runtime, const char *kind, uint32_t first,
                    uint32_t second)
{
    struct name name = {.size = 0};
    name_add(&name, kind, strlen(kind));
    name_add(&name, "<", 1);
    name_add_type(&name, runtime, first);
    if (second != TYPE_NONE) {
        name_add(&name, ",", 1);
        name_add_type(&name, runtime, second);
    }
    name_add(&name, ">", 1);
    return name_number(runtime, &name);
}

uint32_t build_channel_name(struct runtime_types *runtime, uint32_t elem)
{
    const bool receive = build_has_prefix(runtime, elem, "<-chan ");
    struct name name = {.size = 0};
    name_add(&name, "chan (", receive ? 6 : 5);
    name_add_type(&name, runtime, elem);
    name_add(&name, ")", receive);
    return name_number(runtime, &name);
}

uint32_t build_find(struct runtime_types *runtime, const char *text, size_t size)
{
    const uint32_t found = map_get(&runtime->by_name, map_hash_text(text, size));
    if (found == MAP_NONE || found == NAME_AMBIGUOUS)
        return TYPE_NONE;
    size_t found_size;
    const char *found_text = build_text(runtime, found, &found_size);
    return found_size == size && memcmp(found_text, text, size) == 0 ? found : TYPE_NONE;
}

/* ---- what is made of a type ---- */

static uint64_t made_key(unsigned kind, uint32_t elem, uint64_t length)
{
    return (uint64_t)elem | (uint64_t)kind << 32 | length << 40;
}

uint32_t build_made(const struct runtime_types *runtime, unsigned kind, uint32_t elem,
                    uint64_t length)
{
    return map_get(&runtime->made_of, made_key(kind, elem, length));
}

bool build_keep(struct runtime_types *runtime, unsigned kind, uint32_t elem, uint64_t length,
                uint32_t type)
{
    uint32_t first;
    if (!map_put(&runtime->made_of, made_key(kind, elem, length), type, &first))
        runtime->no_memory = true;
    return !runtime->no_memory;
}

bool build_register(struct runtime_types *runtime, uint32_t number)
{
    const struct type *type = &runtime->types->list.data[number];
    uint32_t first;
    size_t size;
    const char *text = build_text(runtime, number, &size);
    const uint64_t key = map_hash_text(text, size);
    if (!map_put(&runtime->by_name, key, number, &first)) {
        runtime->no_memory = true;
        return false;
    }
    if (first != number && first != NAME_AMBIGUOUS) {
        const struct type *other = &runtime->types->list.data[first];
        if (other->name != type->name || other->kind != type->kind || other->size != type->size)
            map_set(&runtime->by_name, key, NAME_AMBIGUOUS);
    }
    /* Named ones are types of their own. */
    if (type->elem >= runtime->types->list.count)
        return true;
    if ((type->kind == TYPE_POINTER && type->target == TARGET_ONE &&
         build_has_prefix(runtime, number, "*")) ||
        (type->kind == TYPE_SLICE && build_has_prefix(runtime, number, "[]")))
        return build_keep(runtime, type->kind, type->elem, 0, number);
    if (type->kind == TYPE_ARRAY && type->length < 1000 && build_has_prefix(runtime, number, "["))
        return build_keep(runtime, type->kind, type->elem, type->length, number);
    return true;
}

static uint32_t make(struct runtime_types *runtime, enum type_kind kind, uint32_t elem,
                     uint64_t length, const char *prefix, uint64_t size)
{
    uint32_t type = build_made(runtime, kind, elem, length);
    if (type != MAP_NONE)
        return type;
    struct name name = {.size = 0};
    name_add(&name, prefix, strlen(prefix));
    name_add_type(&name, runtime, elem);
    const uint32_t number = name_number(runtime, &name);
    if (number == TYPE_NONE)
        return TYPE_NONE;
    type = add(runtime, &(struct type){.name = number,
                                       .kind = (uint8_t)kind,
                                       .direct_interface = kind == TYPE_POINTER,
                                       .size = size,
                                       .pointer_bytes = UINT64_MAX,
                                       .elem = elem,
                                       .key = TYPE_NONE,
                                       .header = TYPE_NONE,
                                       .length = length});
    return type != TYPE_NONE && build_keep(runtime, kind, elem, length, type) ? type : TYPE_NONE;
}

uint32_t build_pointer(struct runtime_types *runtime, uint32_t elem)
{
    return elem == TYPE_NONE
               ? build_type(runtime, "unsafe.Pointer", 14, NULL)
               : make(runtime, TYPE_POINTER, elem, 0, "*", runtime->types->pointer_size);
}

uint32_t build_array(struct runtime_types *runtime, uint32_t elem, uint64_t length)
{
    char prefix[32];
    if (elem == TYPE_NONE || runtime->types->list.data[elem].size > SIZE_LIMIT || length >= 1000)
        return TYPE_NONE;
    snprintf(prefix, sizeof(prefix), "[%u]", (unsigned)length);
    return make(runtime, TYPE_ARRAY, elem, length, prefix,
                length * runtime->types->list.data[elem].size);
}

uint32_t build_target(struct runtime_types *runtime, enum type_target target, uint32_t elem,
                      uint32_t key, uint64_t length)
{
    const uint32_t one = elem == TYPE_NONE ? TYPE_NONE : build_pointer(runtime, elem);
    if (one == TYPE_NONE)
        return TYPE_NONE;
    struct type type = runtime->types->list.data[one];
    type.target = (uint8_t)target;
    type.key = key;
    type.length = length;
    type.address = 0;
    type.from_dwarf = false;
    return add(runtime, &type);
}

uint32_t build_inline(struct runtime_types *runtime, uint32_t type)
{
    const uint64_t limit = 128; /* abi.MapMaxKeyBytes, abi.MapMaxElemBytes; the same ever since */
    return runtime->types->list.data[type].size > limit ? build_pointer(runtime, type) : type;
}

/* ---- expressions ---- */

/* Of the language; a size of 0 is a word. */
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
    {"sync.eface", TYPE_INTERFACE, 0}, /* a struct there, but the words of an interface */
    {"string", TYPE_STRING, 0},
};

static uint32_t build_basic(struct runtime_types *runtime, const char *text, size_t size)
{
    const struct basic *basic = NULL;
    for (size_t i = 0; i < sizeof(basics) / sizeof(*basics) && !basic; i++)
        if (size == strlen(basics[i].name) && memcmp(text, basics[i].name, size) == 0)
            basic = &basics[i];
    if (!basic)
        return TYPE_NONE;
    const unsigned word = runtime->types->pointer_size;
    const bool two = basic->kind == TYPE_INTERFACE || basic->kind == TYPE_STRING;
    struct type type = {.kind = basic->kind,
                        .direct_interface =
                            basic->kind == TYPE_UNSAFE_POINTER || basic->kind == TYPE_FUNC,
                        .empty_interface = basic->kind == TYPE_INTERFACE,
                        .size = basic->size ? basic->size
                                : two       ? 2 * word
                                            : word,
                        .pointer_bytes = UINT64_MAX,
                        .elem = TYPE_NONE,
                        .key = TYPE_NONE,
                        .header = TYPE_NONE};
    uint32_t found = build_find(runtime, text, size);
    if (found != TYPE_NONE) {
        const struct type *there = &runtime->types->list.data[found];
        if (there->kind == type.kind && there->size == type.size)
            return found;
    }
    /* The executable has none, or a thing that only has its name. */
    const uint64_t row = (uint64_t)(basic - basics);
    found = build_made(runtime, basic->kind, UINT32_MAX, row);
    if (found == MAP_NONE) {
        if (!types_intern(runtime->types, text, size, &type.name))
            return out_of_memory(runtime);
        found = add(runtime, &type);
        if (found != TYPE_NONE)
            build_keep(runtime, basic->kind, UINT32_MAX, row, found);
    }
    return found;
}

static uint32_t type_of(struct runtime_types *runtime, const char *text, size_t size,
                        const uint32_t *arguments, unsigned depth)
{
    if (size == 0 || depth > 8)
        return TYPE_NONE;
    if (arguments && text[0] == '$')
        return arguments[text[1] - '0'];
    uint32_t found = build_basic(runtime, text, size);
    if (found == TYPE_NONE)
        found = build_find(runtime, text, size);
    if (found != TYPE_NONE || runtime->no_memory)
        return found;
    if (text[0] == '*') {
        const uint32_t elem = type_of(runtime, text + 1, size - 1, arguments, depth + 1);
        return runtime->no_memory ? TYPE_NONE : build_pointer(runtime, elem);
    }
    if (text[0] == '[') {
        uint64_t length = 0;
        size_t at = 1;
        for (; at < size && at < 5 && text[at] >= '0' && text[at] <= '9'; at++)
            length = 10 * length + (uint64_t)(text[at] - '0');
        if (at == size || text[at] != ']')
            return TYPE_NONE;
        const uint32_t elem = type_of(runtime, text + at + 1, size - at - 1, arguments, depth + 1);
        if (elem == TYPE_NONE)
            return TYPE_NONE;
        return at > 1 ? build_array(runtime, elem, length)
                      : make(runtime, TYPE_SLICE, elem, 0, "[]",
                             3 * (uint64_t)runtime->types->pointer_size);
    }
    return named_struct(runtime, text, size);
}

uint32_t build_type(struct runtime_types *runtime, const char *text, size_t size,
                    const uint32_t *arguments)
{
    return type_of(runtime, text, size, arguments, 0);
}

/* ---- what follows from a type's parts ---- */

enum {
    FACT_ALIGNMENT = 15, /* 1 … 8; 0: not known yet */
    FACT_POINTERS = 16,
    FACT_IN_WORK = 32,
};

static uint8_t facts_of(struct runtime_types *runtime, uint32_t number, unsigned depth)
{
    struct types *types = runtime->types;
    const uint8_t word = (uint8_t)types->pointer_size;
    if (number >= types->list.count || depth > DEPTH_LIMIT)
        return word;
    while (runtime->facts.count <= number)
        if (!vector_push(&runtime->facts, 0)) {
            runtime->no_memory = true;
            return word;
        }
    uint8_t facts = runtime->facts.data[number];
    if (facts == FACT_IN_WORK) /* it holds itself: damage */
        return word;
    if (facts)
        return facts;
    runtime->facts.data[number] = FACT_IN_WORK;

    const struct type *type = &types->list.data[number];
    switch (type->kind) {
    case TYPE_ARRAY:
        facts = facts_of(runtime, type->elem, depth + 1);
        if (type->length == 0)
            facts &= FACT_ALIGNMENT;
        break;
    case TYPE_STRUCT:
        facts = 1;
        for (uint32_t i = 0; i < type->field_count; i++) {
            const uint8_t field =
                facts_of(runtime, types->fields.data[type->first_field + i].type, depth + 1);
            if ((field & FACT_ALIGNMENT) > (facts & FACT_ALIGNMENT))
                facts = (uint8_t)((facts & ~FACT_ALIGNMENT) | (field & FACT_ALIGNMENT));
            facts |= field & FACT_POINTERS;
        }
        /* The compiler's mark of 64-bit values that are atomic on 32-bit processors too. */
        if (type->size == 0 &&
            (build_is_named(runtime, number, "sync/atomic.align64") ||
             build_is_named(runtime, number, "runtime/internal/atomic.align64") ||
             build_is_named(runtime, number, "internal/runtime/atomic.align64")))
            facts = 8;
        break;
    case TYPE_POINTER:
    case TYPE_UNSAFE_POINTER:
    case TYPE_CHAN:
    case TYPE_MAP:
    case TYPE_FUNC:
    case TYPE_INTERFACE:
    case TYPE_SLICE:
    case TYPE_STRING:
        facts = word | FACT_POINTERS;
        break;
    case TYPE_COMPLEX64:
        facts = 4;
        break;
    default:
        for (facts = 1; facts < word && type->size && type->size % (2u * facts) == 0;)
            facts = (uint8_t)(2 * facts);
    }
    if (type->pointer_bytes != UINT64_MAX)
        facts = (uint8_t)((facts & FACT_ALIGNMENT) | (type->pointer_bytes ? FACT_POINTERS : 0));
    return runtime->facts.data[number] = facts;
}

bool build_has_pointers(struct runtime_types *runtime, uint32_t type)
{
    return facts_of(runtime, type, 0) & FACT_POINTERS;
}

/* ---- structs ---- */

uint32_t build_struct(struct runtime_types *runtime, enum type_role role, uint32_t elem,
                      uint32_t name)
{
    if (name == UINT32_MAX)
        return TYPE_NONE;
    return add(runtime, &(struct type){.name = name,
                                       .kind = TYPE_STRUCT,
                                       .role = (uint8_t)role,
                                       .pointer_bytes = UINT64_MAX,
                                       .elem = elem,
                                       .key = TYPE_NONE,
                                       .header = TYPE_NONE});
}

bool build_fill(struct runtime_types *runtime, uint32_t number, const struct member *members,
                size_t count, const uint32_t *arguments)
{
    struct types *types = runtime->types;
    const int minor = runtime->release.minor;
    struct type_field fields[MEMBERS_MAX];
    uint32_t field_count = 0;
    uint64_t offset = 0, last = 0, alignment = 1;

    if (number == TYPE_NONE)
        return false;
    /* All types first: making them adds fields to types->fields. */
    for (size_t i = 0; i < count; i++) {
        const struct member *member = &members[i];
        if ((member->since && minor < member->since) || (member->before && minor >= member->before))
            continue;
        struct type_field *field = &fields[field_count++];
        field->embedded = member->embedded;
        field->type = build_type(runtime, member->type, strlen(member->type), arguments);
        if (field->type == TYPE_NONE)
            return false;
        if (!types_intern(types, member->name, strlen(member->name), &field->name)) {
            runtime->no_memory = true;
            return false;
        }
        const uint64_t own = facts_of(runtime, field->type, 0) & FACT_ALIGNMENT;
        alignment = own > alignment ? own : alignment;
        last = types->list.data[field->type].size;
        if (last > SIZE_LIMIT)
            return false;
        field->offset = offset = (offset + own - 1) / own * own;
        offset += last;
    }
    /* The address of an empty field at the end must not be that of another object. */
    if (last == 0 && offset > 0)
        offset++;
    struct type *type = &types->list.data[number];
    type->size = (offset + alignment - 1) / alignment * alignment;
    type->first_field = (uint32_t)types->fields.count;
    type->field_count = field_count;
    for (uint32_t i = 0; i < field_count; i++)
        if (!vector_push(&types->fields, fields[i])) {
            type->field_count = 0;
            runtime->no_memory = true;
            return false;
        }
    return true;
}

bool build_alias(struct runtime_types *runtime, uint32_t type, const char *members, uint32_t first,
                 uint32_t second)
{
    struct types *types = runtime->types;
    const uint32_t arguments[] = {first, second};
    char text[2048];
    size_t done = 0, argument = 0;
    for (; *members && done < sizeof(text); members++) {
        size_t size;
        if (*members != '%') {
            text[done++] = *members;
            continue;
        }
        const char *name = build_text(runtime, arguments[argument++ % 2], &size);
        if (size >= sizeof(text) - done)
            return true;
        memcpy(text + done, name, size);
        done += size;
    }
    const uint32_t found = build_find(runtime, text, done);
    if (found == TYPE_NONE || found == type || types->list.data[found].address == 0 ||
        types->list.data[found].size != types->list.data[type].size)
        return true;
    types->list.data[type].address = types->list.data[found].address;
    types->list.data[type].pointer_bytes = types->list.data[found].pointer_bytes;
    types->list.data[type].gc_mask = types->list.data[found].gc_mask;
    types->list.data[found].address = 0;
    map_set(&types->by_address, types->list.data[type].address, type);
    return true;
}
