/*
 * Types from DIEs.
 *
 * A type gets its number with its name and size, and waits for its parts, so types may refer to
 * themselves. Maps, channels and functions are left as they are in Go: what they are to the runtime
 * is known better from elsewhere than from the structs that the linker makes up for debuggers. When
 * all parts are there, they are checked: whoever goes down a value of a type comes to its end.
 */
#include "exe/dwarf.h"

#include <stdlib.h>
#include <string.h>

/* Values in values: more of them than any program has. */
#define DEPTH 64
#define CHAIN 64 /* typedefs of typedefs, pointers to pointers */

#define AMBIGUOUS    (UINT32_MAX - 1)
#define SIZE_UNKNOWN UINT64_MAX

/* ---- one DIE ---- */

static bool is_qualifier(uint32_t tag)
{
    return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type || tag == DW_TAG_restrict_type ||
           tag == DW_TAG_atomic_type;
}

static unsigned go_kind(struct dies *dies, const struct die *die)
{
    uint64_t kind;
    return die_number(dies, die, DW_AT_go_kind, &kind) && kind < TYPE_KINDS ? (unsigned)kind
                                                                            : TYPE_INVALID;
}

static uint64_t byte_size(struct dies *dies, const struct die *die)
{
    uint64_t size;
    return die_number(dies, die, DW_AT_byte_size, &size) ? size : SIZE_UNKNOWN;
}

static unsigned kind_of_base(struct dies *dies, const struct die *die, uint64_t size)
{
    uint64_t encoding;
    const unsigned log = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
    if (!die_number(dies, die, DW_AT_encoding, &encoding) || (size != 1u << log && size != 16))
        return TYPE_INVALID;
    switch (encoding) {
    case DW_ATE_boolean:
        return TYPE_BOOL;
    case DW_ATE_float:
        return size == 4 ? TYPE_FLOAT32 : size == 8 ? TYPE_FLOAT64 : TYPE_INVALID;
    case DW_ATE_complex_float:
        return size == 8 ? TYPE_COMPLEX64 : size == 16 ? TYPE_COMPLEX128 : TYPE_INVALID;
    case DW_ATE_signed:
    case DW_ATE_signed_char:
        return size == 16 ? TYPE_INVALID : TYPE_INT8 + log;
    case DW_ATE_unsigned:
    case DW_ATE_unsigned_char:
    case DW_ATE_UTF:
        return size == 16 ? TYPE_INVALID : TYPE_UINT8 + log;
    default:
        return TYPE_INVALID;
    }
}

/* By Go's kind where there is one; types of C have none. */
static unsigned kind_of(struct dies *dies, const struct die *die, uint64_t size)
{
    const unsigned kind = go_kind(dies, die);
    struct die target;
    switch (die_tag(die)) {
    case DW_TAG_base_type:
        return kind >= TYPE_BOOL && kind <= TYPE_COMPLEX128 ? kind : kind_of_base(dies, die, size);
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        return die_reference(dies, die, DW_AT_type, &target) ? TYPE_POINTER : TYPE_UNSAFE_POINTER;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
        return kind == TYPE_STRING || kind == TYPE_SLICE ? kind : TYPE_STRUCT;
    case DW_TAG_array_type:
        return TYPE_ARRAY;
    case DW_TAG_subroutine_type:
        return kind == TYPE_FUNC ? TYPE_FUNC : TYPE_INVALID;
    case DW_TAG_enumeration_type:
        return size == 1 ? TYPE_INT8 : size == 2 ? TYPE_INT16 : size == 4 ? TYPE_INT32 : TYPE_INT64;
    case DW_TAG_typedef:
        return kind == TYPE_MAP || kind == TYPE_CHAN || kind == TYPE_INTERFACE ? kind
                                                                               : TYPE_INVALID;
    default:
        return TYPE_INVALID;
    }
}

/* The size that Go's values of a kind have whatever DWARF says. */
static uint64_t size_of(unsigned kind, unsigned pointer_size, uint64_t size)
{
    switch (kind) {
    case TYPE_CHAN:
    case TYPE_FUNC:
    case TYPE_MAP:
    case TYPE_POINTER:
    case TYPE_UNSAFE_POINTER:
        return pointer_size;
    case TYPE_STRING:
    case TYPE_INTERFACE:
        return 2 * pointer_size;
    case TYPE_SLICE:
        return 3 * pointer_size;
    case TYPE_ARRAY:
        return size;
    default:
        return size == SIZE_UNKNOWN ? 0 : size;
    }
}

static bool starts_with(struct g2h_bytes text, const char *prefix)
{
    const size_t size = strlen(prefix);
    return text.size >= size && memcmp(text.data, prefix, size) == 0;
}

static bool is_text(struct g2h_bytes text, const char *expected)
{
    return text.size == strlen(expected) && starts_with(text, expected);
}

/* The runtime's own idea of what has a more exact type, and shapes that stand for many types. */
static bool is_generic(struct g2h_bytes name)
{
    static const char *const exact[] = {
        "runtime.hmap",
        "runtime.bmap",
        "runtime.hchan",
        "runtime.sudog",
        "runtime.waitq",
        "runtime.mapextra",
        "runtime.maptype",
        "internal/runtime/maps.Map",
        "internal/runtime/maps.table",
    };
    for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++)
        if (is_text(name, exact[i]))
            return true;
    static const char *const prefixes[] = {"internal/runtime/maps.group",
                                           "bucket<",
                                           "hash<",
                                           "table<",
                                           "group<",
                                           "groupReference<",
                                           "map<"};
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (starts_with(name, prefixes[i]))
            return true;
    return memmem(name.data, (size_t)name.size, "go.shape.", strlen("go.shape.")) != NULL;
}

/* ---- typedefs ---- */

/* A type's number is noted under each of the entries that name it; UNREADABLE where it has none. */
#define UNREADABLE (UINT32_MAX - 1)

static bool note(struct dwarf *dwarf, uint64_t offset, uint32_t type)
{
    uint32_t first;
    return map_put(&dwarf->type_by_die, offset, type == TYPE_NONE ? UNREADABLE : type, &first);
}

/* What is noted of an entry; false where nothing is. */
static bool find_noted(const struct dwarf *dwarf, uint64_t offset, uint32_t *ret)
{
    const uint32_t found = map_get(&dwarf->type_by_die, offset);
    *ret = found == UNREADABLE ? TYPE_NONE : found;
    return found != MAP_NONE;
}

/* The way from an entry to the type that it names. */
struct way {
    struct die type;
    struct g2h_bytes alias; /* the last name on the way */
    uint64_t passed[CHAIN]; /* entries */
    int count;
};

/*
 * Goes on from typedefs and qualifiers to what they name. Go's maps, channels and interfaces are
 * typedefs too, and what these name is the runtime's affair. False where there is no end; else the
 * entry where it ended is way->type, or the type is known, and *ret_known.
 */
static bool resolve(struct dwarf *dwarf, struct way *way, bool *ret_known, uint32_t *ret)
{
    struct dies *dies = &dwarf->dies;
    struct die next;
    for (way->count = 0; way->count < CHAIN;) {
        const uint32_t tag = die_tag(&way->type);
        *ret_known = find_noted(dwarf, way->type.offset, ret);
        if (*ret_known)
            return true;
        if (!is_qualifier(tag) &&
            (tag != DW_TAG_typedef || go_kind(dies, &way->type) != TYPE_INVALID))
            return true;
        way->passed[way->count++] = way->type.offset;
        if (tag == DW_TAG_typedef)
            way->alias = die_name(dies, &way->type);
        if (!die_reference(dies, &way->type, DW_AT_type, &next))
            return false;
        way->type = next;
    }
    return false;
}

static struct g2h_bytes text_bytes(const char *text)
{
    return (struct g2h_bytes){(const uint8_t *)text, strlen(text)};
}

/* The name of what a pointer of C points to: its own, or else that of the type behind qualifiers
 * and typedefs. Empty where that has none. */
static struct g2h_bytes name_target(struct dies *dies, struct die *die)
{
    struct g2h_bytes name = die_name(dies, die);
    for (int step = 0; name.size == 0 && step < CHAIN; step++) {
        const uint32_t tag = die_tag(die);
        struct die next;
        if (!is_qualifier(tag) && (tag != DW_TAG_typedef || go_kind(dies, die) != TYPE_INVALID))
            return die_name(dies, die);
        if (!die_reference(dies, die, DW_AT_type, &next))
            return text_bytes("void");
        *die = next;
    }
    return name.size > 0 ? name : text_bytes("void");
}

/* The name of a type of C that has none: "*list_head", "**char". */
static struct g2h_bytes compose_name(struct dies *dies, const struct die *die, char *buffer,
                                     size_t size)
{
    struct die now = *die, next;
    size_t stars = 0;
    struct g2h_bytes name = {NULL, 0};
    while (name.size == 0 && stars < 8 && die_tag(&now) == DW_TAG_pointer_type) {
        buffer[stars++] = '*';
        if (!die_reference(dies, &now, DW_AT_type, &next))
            name = text_bytes("void");
        else
            name = name_target(dies, &next);
        if (name.size == 0)
            now = next;
    }
    if (name.size == 0)
        name = text_bytes(die_tag(&now) == DW_TAG_array_type        ? "array"
                          : die_tag(&now) == DW_TAG_union_type      ? "union"
                          : die_tag(&now) == DW_TAG_subroutine_type ? "function"
                                                                    : "struct");
    const size_t most = name.size < size - stars - 1 ? (size_t)name.size : size - stars - 1;
    memcpy(buffer + stars, name.data, most);
    return (struct g2h_bytes){(const uint8_t *)buffer, stars + most};
}

/* ---- descriptors ---- */

static uint64_t name_key(uint32_t name, unsigned kind, uint64_t size)
{
    return map_hash_pair((uint64_t)name << 32 | kind, size);
}

/* Descriptors by name: before Go 1.9 DWARF does not say which one is a type's. */
static bool index_names(struct dwarf *dwarf, const struct types *types)
{
    for (uint32_t i = 0; i < types->list.count; i++) {
        const struct type *type = &types->list.data[i];
        uint32_t first;
        if (type->address == 0)
            continue;
        const uint64_t key = name_key(type->name, type->kind, type->size);
        if (!map_put(&dwarf->type_by_name, key, i, &first))
            return false;
        if (first != i)
            map_set(&dwarf->type_by_name, key, AMBIGUOUS);
    }
    dwarf->has_names = true;
    return true;
}

static bool is_same(const struct type *descriptor, const struct type *type)
{
    return descriptor->kind == type->kind && descriptor->size == type->size;
}

/* The type of the descriptor that a DIE says it has. False where there is no memory. */
static bool find_descriptor(struct dwarf *dwarf, struct types *types, const struct die *die,
                            const struct type *type, uint32_t *ret)
{
    *ret = TYPE_NONE;
    if (types->by_address.count == 0)
        return true;
    uint64_t offset;
    if (die_number(&dwarf->dies, die, DW_AT_go_runtime_type, &offset)) {
        if (offset == 0)
            return true;
        *ret = types_at(types, dwarf->types_start + offset);
        if (*ret != TYPE_NONE && is_same(&types->list.data[*ret], type))
            return true;
        *ret = TYPE_NONE;
        /* What all of the linker's own types are made of has an address there instead. */
        if (type->kind > TYPE_COMPLEX128 && type->kind != TYPE_STRING)
            return true;
    }
    if (!dwarf->has_names && !index_names(dwarf, types))
        return false;
    *ret = map_get(&dwarf->type_by_name, name_key(type->name, type->kind, type->size));
    if (*ret >= types->list.count || types->list.data[*ret].name != type->name ||
        !is_same(&types->list.data[*ret], type))
        *ret = TYPE_NONE;
    return true;
}

/* ---- numbers ---- */

static bool add_type(struct dwarf *dwarf, struct types *types, const struct die *die,
                     struct g2h_bytes alias, uint32_t *ret)
{
    struct dies *dies = &dwarf->dies;
    const uint64_t said = byte_size(dies, die);
    struct type type = {
        .kind = (uint8_t)kind_of(dies, die, said),
        .from_dwarf = true,
        .pointer_bytes = UINT64_MAX,
        .elem = TYPE_NONE,
        .key = TYPE_NONE,
        .header = TYPE_NONE,
    };
    type.size = size_of(type.kind, types->pointer_size, said);
    /* Composites may be as well, but no interface holds a type without a descriptor. */
    type.direct_interface = type.kind == TYPE_POINTER || type.kind == TYPE_MAP ||
                            type.kind == TYPE_CHAN || type.kind == TYPE_FUNC ||
                            type.kind == TYPE_UNSAFE_POINTER;
    char composed[256];
    struct g2h_bytes name = die_name(dies, die);
    if (name.size == 0)
        name = alias.size > 0 ? alias : compose_name(dies, die, composed, sizeof(composed));
    type.is_generic = is_generic(name);
    if (!dwarf_intern(dwarf, types, name, &type.name) ||
        !find_descriptor(dwarf, types, die, &type, ret))
        return false;
    if (*ret != TYPE_NONE) {
        types->list.data[*ret].from_dwarf = true;
        types->list.data[*ret].is_generic |= type.is_generic;
        return true;
    }
    if (dwarf->types_left == 0)
        return true;
    dwarf->types_left--;
    struct dwarf_pending pending = {.die = die->offset};
    if (!types_add(types, &type, &pending.type) || !vector_push(&dwarf->pending, pending))
        return false;
    *ret = pending.type;
    return true;
}

bool dwarf_type(struct dwarf *dwarf, struct types *types, const struct die *die, uint32_t name,
                uint32_t *ret)
{
    struct way way = {.alias = {NULL, 0}};
    bool is_known = false;
    *ret = TYPE_NONE;
    if (!die_reference(&dwarf->dies, die, name, &way.type))
        return true;
    const bool found = resolve(dwarf, &way, &is_known, ret);
    if (!is_known)
        *ret = TYPE_NONE;
    if (found && !is_known &&
        (!add_type(dwarf, types, &way.type, way.alias, ret) || !note(dwarf, way.type.offset, *ret)))
        return false;
    for (int i = 0; i < way.count; i++)
        if (!note(dwarf, way.passed[i], *ret))
            return false;
    return true;
}

/* ---- parts ---- */

/* A constant, or, up to Go 1.8, the expression "plus it". */
static bool member_offset(struct dies *dies, const struct die *die, uint64_t *ret)
{
    struct die_attribute attribute;
    struct die_operation operation;
    if (die_number(dies, die, DW_AT_data_member_location, ret))
        return true;
    *ret = 0;
    if (!die_own(dies, die, DW_AT_data_member_location, &attribute))
        return !die_own(dies, die, DW_AT_external, &attribute); /* a variable of a class of C++ */
    if (!die_operation(dies, die, DW_AT_data_member_location, &operation) ||
        operation.atom != DW_OP_plus_uconst)
        return false;
    *ret = operation.number;
    return true;
}

static bool add_fields(struct dwarf *dwarf, struct types *types, const struct die *die,
                       struct type *type)
{
    struct dies *dies = &dwarf->dies;
    struct die member;
    const size_t first = types->fields.count;
    if (first >= UINT32_MAX || !die_child(dies, die, &member))
        return true;
    do {
        struct type_field field = {.embedded = false};
        struct die_attribute bits;
        uint64_t embedded;
        /* Fields of bits do not begin at a byte. */
        if (die_tag(&member) != DW_TAG_member || die_own(dies, &member, DW_AT_bit_size, &bits) ||
            !member_offset(dies, &member, &field.offset))
            continue;
        field.embedded =
            die_number(dies, &member, DW_AT_go_embedded_field, &embedded) && embedded != 0;
        if (!dwarf_type(dwarf, types, &member, DW_AT_type, &field.type) ||
            !dwarf_intern(dwarf, types, die_name(dies, &member), &field.name) ||
            !vector_push(&types->fields, field))
            return false;
    } while (die_next(dies, &member));
    type->first_field = (uint32_t)first;
    type->field_count = (uint32_t)(types->fields.count - first);
    return true;
}

/* How many elements an array has; those of C may have several dimensions. */
static uint64_t array_length(struct dwarf *dwarf, const struct die *die)
{
    struct dies *dies = &dwarf->dies;
    struct die range;
    uint64_t length = 1, count;
    bool found = false;
    if (!die_child(dies, die, &range))
        return 0;
    do {
        if (die_tag(&range) != DW_TAG_subrange_type)
            continue;
        if (!die_number(dies, &range, DW_AT_count, &count)) {
            if (!die_number(dies, &range, DW_AT_upper_bound, &count))
                return 0;
            count++;
        }
        if (__builtin_mul_overflow(length, count, &length))
            return 0;
        found = true;
    } while (die_next(dies, &range));
    return found ? length : 0;
}

static bool is_eface(struct dies *dies, const struct die *die)
{
    struct die target;
    return die_reference(dies, die, DW_AT_type, &target) &&
           is_text(die_name(dies, &target), "runtime.eface");
}

static bool add_parts(struct dwarf *dwarf, struct types *types, struct dwarf_pending pending)
{
    struct type type = types->list.data[pending.type];
    struct die die;
    if (!die_at(&dwarf->dies, pending.die, &die))
        return true;
    bool good = true;
    switch (type.kind) {
    case TYPE_ARRAY:
        type.length = array_length(dwarf, &die);
        good = dwarf_type(dwarf, types, &die, DW_AT_type, &type.elem);
        break;
    case TYPE_POINTER:
        good = dwarf_type(dwarf, types, &die, DW_AT_type, &type.elem);
        break;
    case TYPE_MAP:
        good = dwarf_type(dwarf, types, &die, DW_AT_go_key, &type.key) &&
               dwarf_type(dwarf, types, &die, DW_AT_go_elem, &type.elem);
        break;
    case TYPE_CHAN:
    case TYPE_SLICE:
        good = dwarf_type(dwarf, types, &die, DW_AT_go_elem, &type.elem);
        break;
    case TYPE_INTERFACE:
        type.empty_interface = is_eface(&dwarf->dies, &die);
        break;
    case TYPE_STRUCT:
        good = add_fields(dwarf, types, &die, &type);
        break;
    default:
        break;
    }
    types->list.data[pending.type] = type;
    return good && vector_push(&dwarf->unsealed, pending.type);
}

/* ---- checks ---- */

/* Arrays of C do not say their size; those in them mostly come after them. */
static void size_array(struct types *types, struct type *type)
{
    if (type->kind != TYPE_ARRAY || type->size != SIZE_UNKNOWN || type->elem == TYPE_NONE)
        return;
    const uint64_t size = types->list.data[type->elem].size;
    if (size != SIZE_UNKNOWN && __builtin_mul_overflow(size, type->length, &type->size))
        type->size = 0;
}

static int compare_fields(const void *a, const void *b)
{
    const struct type_field *one = a, *other = b;
    if (one->offset != other->offset)
        return one->offset < other->offset ? -1 : 1;
    return one->name < other->name ? -1 : one->name > other->name;
}

/* Fields ascend, do not overlap and lie within; one that does not is dropped. */
static void check_struct(struct types *types, struct type *type)
{
    if (type->field_count == 0)
        return;
    struct type_field *fields = types->fields.data + type->first_field;
    for (uint32_t i = 1; i < type->field_count; i++)
        if (fields[i].offset < fields[i - 1].offset) {
            qsort(fields, type->field_count, sizeof(*fields), compare_fields);
            break;
        }
    uint32_t kept = 0;
    uint64_t end = 0;
    for (uint32_t i = 0; type->size > 0 && i < type->field_count; i++) {
        if (fields[i].type == TYPE_NONE)
            continue;
        const uint64_t size = types->list.data[fields[i].type].size;
        if (fields[i].offset < end || fields[i].offset > type->size ||
            size > type->size - fields[i].offset)
            continue;
        end = fields[i].offset + size;
        fields[kept++] = fields[i];
    }
    type->field_count = kept;
}

static void check_array(struct types *types, struct type *type)
{
    if (type->size == SIZE_UNKNOWN)
        type->size = 0;
    const uint64_t size = type->elem == TYPE_NONE ? 0 : types->list.data[type->elem].size;
    /* With nothing in an element, there is nothing in any number of them. */
    if (size == 0 || size == SIZE_UNKNOWN)
        type->length = 0;
    else if (type->length > type->size / size)
        type->length = type->size / size;
}

static bool is_own(const struct type *type)
{
    return type->from_dwarf && type->address == 0;
}

/* How deep values lie in a value of a type: bounded, so a type that contains itself is found out
 * and loses its parts. */
static unsigned check_depth(struct dwarf *dwarf, struct types *types, uint32_t number,
                            unsigned level)
{
    struct type *type = &types->list.data[number];
    unsigned depth = 1;
    if (!is_own(type) || (type->kind != TYPE_STRUCT && type->kind != TYPE_ARRAY))
        return 1;
    if (dwarf->depth.data[number] != 0)
        return dwarf->depth.data[number];
    if (level == DEPTH)
        depth = DEPTH + 1;
    else if (type->kind == TYPE_ARRAY && type->length > 0)
        depth = 1 + check_depth(dwarf, types, type->elem, level + 1);
    for (uint32_t i = 0; depth <= DEPTH && i < type->field_count; i++) {
        const uint32_t part = types->fields.data[type->first_field + i].type;
        const unsigned below = 1 + check_depth(dwarf, types, part, level + 1);
        depth = below > depth ? below : depth;
    }
    if (depth > DEPTH) {
        type->kind = TYPE_INVALID;
        type->elem = TYPE_NONE;
        type->length = type->field_count = 0;
        depth = 1;
    }
    dwarf->depth.data[number] = (uint8_t)depth;
    return depth;
}

static bool check(struct dwarf *dwarf, struct types *types)
{
    const uint32_t *numbers = dwarf->unsealed.data;
    const size_t count = dwarf->unsealed.count;
    struct type *list = types->list.data;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = count; i > 0; i--)
            size_array(types, &list[numbers[i - 1]]);
    for (size_t i = 0; i < count; i++)
        if (list[numbers[i]].kind == TYPE_ARRAY)
            check_array(types, &list[numbers[i]]);
    for (size_t i = 0; i < count; i++)
        if (list[numbers[i]].kind == TYPE_STRUCT)
            check_struct(types, &list[numbers[i]]);
    while (dwarf->depth.count < types->list.count)
        if (!vector_push(&dwarf->depth, 0))
            return false;
    for (size_t i = 0; i < count; i++)
        check_depth(dwarf, types, numbers[i], 0);
    dwarf->unsealed.count = 0;
    return true;
}

bool dwarf_types_complete(struct dwarf *dwarf, struct types *types)
{
    while (dwarf->pending.count > 0)
        if (!add_parts(dwarf, types, dwarf->pending.data[--dwarf->pending.count]))
            return false;
    return check(dwarf, types);
}
