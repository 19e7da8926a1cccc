/*
 * dwarf_info: what an executable's DWARF says of types, global variables, and captured variables of
 * closures; see dwarf_info.h. The parts: types that only DWARF has are made sound, so that a walk
 * down a value ends; an entry becomes a type, the same as that of its descriptor if the executable
 * has one (a type gets its number first and its parts later, since types may refer to themselves);
 * and the entries of each unit, a package of Go, are read, and all lists sorted by address. To
 * begin with: dwarf_info_init(), near the end; read_all() has the steps.
 */
#include "exe/dwarf/dwarf_info.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "base/error.h"
#include "types/runtime_types.h"

/* ==== types that only DWARF has are made sound ====
 *
 * Makes types sound that only DWARF has, so that, whatever the executable contains, a walk down a
 * value of such a type terminates; see dwarf_info_init().
 */

/* A size that DWARF does not have; for arrays only. */
#define DWARF_SIZE_UNKNOWN UINT64_MAX

enum { DWARF_DEPTH_MOST = 64 }; /* nesting of values; no program has types this deep */

/* Computes the size of an array of C if the size of its elements is known. DWARF does not have the
 * array's size. */
static void size_array(struct types *types, struct type *type)
{
    if (type->kind != TYPE_ARRAY || type->size != DWARF_SIZE_UNKNOWN || type->elem == TYPE_NONE)
        return;
    const uint64_t size = types_size(types, type->elem);
    if (size != DWARF_SIZE_UNKNOWN && __builtin_mul_overflow(size, type->length, &type->size))
        type->size = 0;
}

/* Orders fields by offset, then by name. */
static int compare_fields(const void *a, const void *b)
{
    const struct type_field *one = a;
    const struct type_field *other = b;
    if (one->offset != other->offset)
        return COMPARE(one->offset, other->offset);
    return COMPARE(one->name, other->name);
}

/* Sorts the fields of a struct by their offsets, and drops fields that overlap an earlier one, are
 * not inside the struct, or have no known type. A struct whose size is 0 loses all fields. */
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
    uint32_t good = 0;
    uint64_t end = 0;
    for (uint32_t i = 0; type->size > 0 && i < type->field_count; i++) {
        const struct type_field field = fields[i];
        if (field.type == TYPE_NONE)
            continue;
        const uint64_t size = types_size(types, field.type);
        if (field.offset < end || field.offset > type->size || size > type->size - field.offset)
            continue;
        end = field.offset + size;
        fields[good++] = field;
    }
    type->field_count = good;
}

/* Limits the length of an array to the elements that its size has space for; 0 if its elements have
 * no size, since such an array may claim any number. */
static void check_array(struct types *types, struct type *type)
{
    if (type->size == DWARF_SIZE_UNKNOWN)
        type->size = 0;
    const uint64_t size = type->elem == TYPE_NONE ? 0 : types_size(types, type->elem);
    /* An array may claim any number of elements that have no size. */
    if (size == 0 || size == DWARF_SIZE_UNKNOWN)
        type->length = 0;
    else if (type->length > type->size / size)
        type->length = type->size / size;
}

/* Returns whether only DWARF has the type. */
static bool is_dwarf_type(const struct type *type)
{
    return type->from_dwarf && type->address == 0;
}

/* Returns how deep values are nested in a value of a type (number). A type that is deeper than
 * DWARF_DEPTH_MOST, as is every type that contains itself, loses its parts. level: the depth of
 * this call, which is limited, too; the answers are cached. */
static unsigned check_depth(struct dwarf_reader *reader, struct types *types, uint32_t number,
                            unsigned level)
{
    struct type *type = &types->list.data[number];
    unsigned depth = 1;
    if (!is_dwarf_type(type) || (type->kind != TYPE_STRUCT && type->kind != TYPE_ARRAY))
        return 1;
    if (reader->depth.data[number] != 0)
        return reader->depth.data[number];
    if (level == DWARF_DEPTH_MOST)
        depth = DWARF_DEPTH_MOST + 1;
    else if (type->kind == TYPE_ARRAY && type->length > 0)
        depth = 1 + check_depth(reader, types, type->elem, level + 1);
    for (uint32_t i = 0; depth <= DWARF_DEPTH_MOST && i < type->field_count; i++) {
        const uint32_t part = types_fields(types, type)[i].type;
        const unsigned below = 1 + check_depth(reader, types, part, level + 1);
        depth = MAX(below, depth);
    }
    if (depth > DWARF_DEPTH_MOST) {
        type->kind = TYPE_INVALID;
        type->elem = TYPE_NONE;
        type->length = type->field_count = 0;
        depth = 1;
    }
    reader->depth.data[number] = (uint8_t)depth;
    return depth;
}

/*
 * Checks the types in reader->unchecked. Returns false if memory runs out.
 *
 * Sizes come first, since the other checks compare with them.
 */
static bool check_types(struct dwarf_reader *reader, struct types *types)
{
    const uint32_t *numbers = reader->unchecked.data;
    const size_t count = reader->unchecked.count;
    struct type *list = types->list.data;
    /* Usually an array comes before the arrays that are its elements. */
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = count; i > 0; i--)
            size_array(types, &list[numbers[i - 1]]);
    for (size_t i = 0; i < count; i++)
        if (list[numbers[i]].kind == TYPE_ARRAY)
            check_array(types, &list[numbers[i]]);
    for (size_t i = 0; i < count; i++)
        if (list[numbers[i]].kind == TYPE_STRUCT)
            check_struct(types, &list[numbers[i]]);
    while (reader->depth.count < types->list.count)
        if (!vector_push(&reader->depth, 0))
            return false;
    for (size_t i = 0; i < count; i++)
        check_depth(reader, types, numbers[i], 0);
    reader->unchecked.count = 0;
    return true;
}

/* ==== types from entries of DWARF ====
 *
 * A type gets a number when its name and size are known; its parts are added later, since types may
 * refer to themselves. Maps, channels and functions keep Go's kinds: src/types/ describes the
 * runtime's structs behind them better than the structs that the linker synthesizes for debuggers.
 */

enum { CHAIN_MOST = 64 }; /* of typedefs and qualifiers */

/* In type_by_name: several descriptors have the same name, kind and size. */
#define AMBIGUOUS (UINT32_MAX - 1)

/* ---- one entry ---- */

/* Returns whether an entry is a qualifier of a type of C: const and the like. */
static bool is_qualifier(uint32_t tag)
{
    return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type || tag == DW_TAG_restrict_type ||
           tag == DW_TAG_atomic_type;
}

/* Returns the kind of a Go type, or TYPE_INVALID for types of C. */
static unsigned go_kind(struct dies *dies, const struct die *die)
{
    uint64_t kind;
    return die_number(dies, die, DW_AT_go_kind, &kind) && kind < TYPE_KINDS ? (unsigned)kind
                                                                            : TYPE_INVALID;
}

/* Returns the size that DWARF has for a type, or DWARF_SIZE_UNKNOWN if it has none. */
static uint64_t recorded_size(struct dies *dies, const struct die *die)
{
    uint64_t size;
    return die_number(dies, die, DW_AT_byte_size, &size) ? size : DWARF_SIZE_UNKNOWN;
}

/* The kinds of numbers by their size in bytes; a size without such numbers has TYPE_INVALID, 0. */
enum { LARGEST_NUMBER = 16 };

typedef const uint8_t kinds_by_size[LARGEST_NUMBER + 1];

static kinds_by_size kinds_of_int = {
    [1] = TYPE_INT8, [2] = TYPE_INT16, [4] = TYPE_INT32, [8] = TYPE_INT64};

static kinds_by_size kinds_of_uint = {
    [1] = TYPE_UINT8, [2] = TYPE_UINT16, [4] = TYPE_UINT32, [8] = TYPE_UINT64};

static kinds_by_size kinds_of_bool = {
    [1] = TYPE_BOOL, [2] = TYPE_BOOL, [4] = TYPE_BOOL, [8] = TYPE_BOOL, [16] = TYPE_BOOL};

static kinds_by_size kinds_of_float = {[4] = TYPE_FLOAT32, [8] = TYPE_FLOAT64};

static kinds_by_size kinds_of_complex = {[8] = TYPE_COMPLEX64, [16] = TYPE_COMPLEX128};

/* Returns the kind of a basic type by its encoding and size. */
static unsigned kind_of_base(struct dies *dies, const struct die *die, uint64_t size)
{
    uint64_t encoding;
    if (!die_number(dies, die, DW_AT_encoding, &encoding) || size > LARGEST_NUMBER)
        return TYPE_INVALID;
    switch (encoding) {
    case DW_ATE_boolean:
        return kinds_of_bool[size];
    case DW_ATE_float:
        return kinds_of_float[size];
    case DW_ATE_complex_float:
        return kinds_of_complex[size];
    case DW_ATE_signed:
    case DW_ATE_signed_char:
        return kinds_of_int[size];
    case DW_ATE_unsigned:
    case DW_ATE_unsigned_char:
    case DW_ATE_UTF:
        return kinds_of_uint[size];
    default:
        return TYPE_INVALID;
    }
}

/* Returns the kind of an enumeration of C, which has the size of one of its integers. */
static unsigned kind_of_enumeration(uint64_t size)
{
    const unsigned kind = size <= LARGEST_NUMBER ? kinds_of_int[size] : TYPE_INVALID;
    return kind != TYPE_INVALID ? kind : TYPE_INT64;
}

/* Returns the kind of a type by its entry's tag and by DW_AT_go_kind, which entries of C do not
 * have. */
static unsigned kind_of_entry(struct dies *dies, const struct die *die, uint64_t size)
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
        return kind_of_enumeration(size);
    case DW_TAG_typedef:
        return kind == TYPE_MAP || kind == TYPE_CHAN || kind == TYPE_INTERFACE ? kind
                                                                               : TYPE_INVALID;
    default:
        return TYPE_INVALID;
    }
}

/* Returns the size of the values of a kind: Go's own size if all of them have the same size,
 * otherwise the size that DWARF has. */
static uint64_t size_of_kind(unsigned kind, unsigned pointer_size, uint64_t size)
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
        return size == DWARF_SIZE_UNKNOWN ? 0 : size;
    }
}

/* ---- typedefs ---- */

/* type_by_die has a type's number for each of the entries that name the type; UNREADABLE represents
 * TYPE_NONE. */
#define UNREADABLE (UINT32_MAX - 1)

/* Notes the type of an entry, or that it has none that can be read. Returns false if memory runs
 * out. */
static bool note_type(struct dwarf_reader *reader, uint64_t offset, uint32_t type)
{
    uint32_t first;
    return map_put(&reader->type_by_die, offset, type == TYPE_NONE ? UNREADABLE : type, &first);
}

/* Finds the type that has been noted for an entry. Returns false if none has been noted. */
static bool find_noted(const struct dwarf_reader *reader, uint64_t offset, uint32_t *ret)
{
    const uint32_t found = map_get(&reader->type_by_die, offset);
    *ret = found == UNREADABLE ? TYPE_NONE : found;
    return found != MAP_NONE;
}

/* The chain of typedefs and qualifiers from an entry to the type that it names. */
struct typedef_chain {
    struct die type;             /* the end of the chain, so far */
    struct g2h_bytes alias;      /* name of the last typedef in the chain */
    uint64_t passed[CHAIN_MOST]; /* offsets of the entries */
    int count;
};

/*
 * Follows a chain to its end, chain->type, or to an entry whose type is known already: then
 * *ret_known is true, and *ret is that type. Go's maps, channels and interfaces are typedefs as
 * well, of structs of the runtime: the chain ends at these typedefs. Returns false if there is no
 * end.
 */
static bool follow_typedefs(struct dwarf_reader *reader, struct typedef_chain *chain,
                            bool *ret_known, uint32_t *ret)
{
    struct dies *dies = &reader->dies;
    struct die next;
    for (chain->count = 0; chain->count < CHAIN_MOST;) {
        const uint32_t tag = die_tag(&chain->type);
        *ret_known = find_noted(reader, chain->type.offset, ret);
        if (*ret_known)
            return true;
        if (!is_qualifier(tag) &&
            (tag != DW_TAG_typedef || go_kind(dies, &chain->type) != TYPE_INVALID))
            return true;
        chain->passed[chain->count++] = chain->type.offset;
        if (tag == DW_TAG_typedef)
            chain->alias = die_name(dies, &chain->type);
        if (!die_reference(dies, &chain->type, DW_AT_type, &next))
            return false;
        chain->type = next;
    }
    return false;
}

/* Returns the name of the type that a pointer of C points to: its own name, or that of the type at
 * the end of its qualifiers and typedefs, which *die becomes. The name is empty if that type has
 * none. */
static struct g2h_bytes name_target(struct dies *dies, struct die *die)
{
    struct g2h_bytes name = die_name(dies, die);
    for (int step = 0; name.size == 0 && step < CHAIN_MOST; step++) {
        const uint32_t tag = die_tag(die);
        struct die next;
        if (!is_qualifier(tag) && (tag != DW_TAG_typedef || go_kind(dies, die) != TYPE_INVALID))
            return die_name(dies, die);
        if (!die_reference(dies, die, DW_AT_type, &next))
            return bytes_of("void");
        *die = next;
    }
    return name.size > 0 ? name : bytes_of("void");
}

/* Returns what stands for the name of a type of C that has none, and is not a pointer. */
static const char *name_of_nameless(unsigned tag)
{
    switch (tag) {
    case DW_TAG_array_type:
        return "array";
    case DW_TAG_union_type:
        return "union";
    case DW_TAG_subroutine_type:
        return "function";
    default:
        return "struct";
    }
}

/* Makes a name for a type of C that has none: "*list_head", "**char". As many characters as the
 * buffer has space for. Returns it. */
static struct g2h_bytes compose_name(struct dies *dies, const struct die *die, char *buffer,
                                     size_t size)
{
    struct die next;
    struct die now = *die;
    size_t stars = 0;
    struct g2h_bytes name = {NULL, 0};
    while (name.size == 0 && stars < 8 && die_tag(&now) == DW_TAG_pointer_type) {
        buffer[stars++] = '*';
        if (!die_reference(dies, &now, DW_AT_type, &next))
            name = bytes_of("void");
        else
            name = name_target(dies, &next);
        if (name.size == 0)
            now = next;
    }
    if (name.size == 0)
        name = bytes_of(name_of_nameless(die_tag(&now)));
    const size_t most = MIN(name.size, size - stars - 1);
    memcpy(buffer + stars, name.data, most);
    return bytes_at(buffer, stars + most);
}

/* ---- descriptors ---- */

/* Returns the key of a descriptor's type by its name, kind and size. */
static uint64_t key_of_name(uint32_t name, unsigned kind, uint64_t size)
{
    return map_hash_pair(pair_key(name, kind), size);
}

/* Makes an index of descriptors by name: before Go 1.9, DWARF does not record which one a type has.
 * Returns false if memory runs out. */
static bool index_names(struct dwarf_reader *reader, const struct types *types)
{
    for (uint32_t i = 0; i < types->list.count; i++) {
        const struct type *type = types_get(types, i);
        uint32_t first;
        if (type->address == 0)
            continue;
        const uint64_t key = key_of_name(type->name, type->kind, type->size);
        if (!map_put(&reader->type_by_name, key, i, &first))
            return false;
        if (first != i)
            map_set(&reader->type_by_name, key, AMBIGUOUS);
    }
    reader->has_names = true;
    return true;
}

/* Returns whether a descriptor's type has the kind and size of another one. */
static bool has_kind_and_size_of(const struct type *descriptor, const struct type *type)
{
    return descriptor->kind == type->kind && descriptor->size == type->size;
}

/* Finds the type that was read from the descriptor of an entry's type, by the descriptor's offset
 * or else by name, kind and size; TYPE_NONE if there is none, or it is another type. Returns false
 * if memory runs out. */
static bool find_descriptor(struct dwarf_reader *reader, struct types *types, const struct die *die,
                            const struct type *type, uint32_t *ret)
{
    *ret = TYPE_NONE;
    if (types->by_address.count == 0)
        return true;
    uint64_t offset;
    if (die_number(&reader->dies, die, DW_AT_go_runtime_type, &offset)) {
        if (offset == 0)
            return true;
        *ret = types_at(types, reader->types_start + offset);
        if (*ret != TYPE_NONE && has_kind_and_size_of(types_get(types, *ret), type))
            return true;
        *ret = TYPE_NONE;
        /* Basic types, for which the linker makes its own entries, have an address there
         * instead. */
        if (type->kind > TYPE_COMPLEX128 && type->kind != TYPE_STRING)
            return true;
    }
    if (!reader->has_names && !index_names(reader, types))
        return false;
    *ret = map_get(&reader->type_by_name, key_of_name(type->name, type->kind, type->size));
    if (*ret >= types->list.count || types_get(types, *ret)->name != type->name ||
        !has_kind_and_size_of(types_get(types, *ret), type))
        *ret = TYPE_NONE;
    return true;
}

/* ---- adding types ---- */

/* Finds the type of an entry: that of its descriptor, if the executable has one, else a new one
 * without parts, which is listed as pending. alias: the typedef that names it, if it has no name.
 * *ret is TYPE_NONE if there are too many types. Returns false if memory runs out. */
static bool add_type(struct dwarf_reader *reader, struct types *types, const struct die *die,
                     struct g2h_bytes alias, uint32_t *ret)
{
    struct dies *dies = &reader->dies;
    const uint64_t byte_size = recorded_size(dies, die);
    struct type type = {
        .kind = (uint8_t)kind_of_entry(dies, die, byte_size),
        .from_dwarf = true,
        .pointer_bytes = UINT64_MAX,
        .elem = TYPE_NONE,
        .key = TYPE_NONE,
        .header = TYPE_NONE,
    };
    type.size = size_of_kind(type.kind, types->pointer_size, byte_size);
    /* Structs and arrays of one pointer are direct as well; but no interface holds a value of a
     * type that has no descriptor. */
    type.direct_interface = type.kind == TYPE_POINTER || type.kind == TYPE_MAP ||
                            type.kind == TYPE_CHAN || type.kind == TYPE_FUNC ||
                            type.kind == TYPE_UNSAFE_POINTER;
    char composed[256];
    struct g2h_bytes name = die_name(dies, die);
    if (name.size == 0)
        name = alias.size > 0 ? alias : compose_name(dies, die, composed, sizeof(composed));
    type.is_generic = runtime_is_generic(name);
    if (!dwarf_intern(reader, types, name, &type.name) ||
        !find_descriptor(reader, types, die, &type, ret))
        return false;
    if (*ret != TYPE_NONE) {
        types->list.data[*ret].from_dwarf = true;
        types->list.data[*ret].is_generic |= type.is_generic;
        return true;
    }
    if (reader->types_left == 0)
        return true;
    reader->types_left--;
    struct dwarf_pending pending = {.die = die->offset};
    if (!types_add(types, &type, &pending.type) || !vector_push(&reader->pending, pending))
        return false;
    *ret = pending.type;
    return true;
}

/* Finds the type that an attribute refers to, or TYPE_NONE. All entries that the chain of typedefs
 * passes get the type as well, so that each is followed once. Returns false if memory runs out. */
bool dwarf_type(struct dwarf_reader *reader, struct types *types, const struct die *die,
                uint32_t name, uint32_t *ret)
{
    struct typedef_chain chain = {.alias = {NULL, 0}};
    bool is_known = false;
    *ret = TYPE_NONE;
    if (!die_reference(&reader->dies, die, name, &chain.type))
        return true;
    const bool found = follow_typedefs(reader, &chain, &is_known, ret);
    if (!is_known)
        *ret = TYPE_NONE;
    if (found && !is_known &&
        (!add_type(reader, types, &chain.type, chain.alias, ret) ||
         !note_type(reader, chain.type.offset, *ret)))
        return false;
    for (int i = 0; i < chain.count; i++)
        if (!note_type(reader, chain.passed[i], *ret))
            return false;
    return true;
}

/* ---- parts ---- */

/* Finds the offset of a field, which is a constant or, up to Go 1.8, an expression that adds one.
 * Returns false if the offset cannot be read, or the member is not a field. */
static bool member_offset(struct dies *dies, const struct die *die, uint64_t *ret)
{
    struct die_attribute attribute;
    struct die_operation operation;
    if (die_number(dies, die, DW_AT_data_member_location, ret))
        return true;
    *ret = 0;
    if (!die_own(dies, die, DW_AT_data_member_location, &attribute))
        return !die_own(dies, die, DW_AT_external, &attribute); /* C++: a static member */
    if (!die_operation(dies, die, DW_AT_data_member_location, &operation) ||
        operation.atom != DW_OP_plus_uconst)
        return false;
    *ret = operation.number;
    return true;
}

/* Adds the fields of a struct or of a class of C++. Returns false if memory runs out. Bit fields,
 * and members without an offset, are left out. */
static bool add_fields(struct dwarf_reader *reader, struct types *types, const struct die *die,
                       struct type *type)
{
    struct dies *dies = &reader->dies;
    struct die member;
    const size_t first = types->fields.count;
    if (first >= UINT32_MAX || !die_child(dies, die, &member))
        return true;
    do {
        struct type_field field = {.embedded = false};
        struct die_attribute bits;
        uint64_t embedded;
        /* A bit field does not consist of whole bytes. */
        if (die_tag(&member) != DW_TAG_member || die_own(dies, &member, DW_AT_bit_size, &bits) ||
            !member_offset(dies, &member, &field.offset))
            continue;
        field.embedded =
            die_number(dies, &member, DW_AT_go_embedded_field, &embedded) && embedded != 0;
        if (!dwarf_type(reader, types, &member, DW_AT_type, &field.type) ||
            !dwarf_intern(reader, types, die_name(dies, &member), &field.name) ||
            !vector_push(&types->fields, field))
            return false;
    } while (die_next(dies, &member));
    type->first_field = (uint32_t)first;
    type->field_count = as_u32(types->fields.count - first);
    return true;
}

/* Returns the number of elements of an array, over all dimensions: in C it may have several. The
 * number is 0 if it cannot be read. */
static uint64_t array_length(struct dwarf_reader *reader, const struct die *die)
{
    struct dies *dies = &reader->dies;
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

/* Returns whether an interface type has no methods: its values are those of runtime.eface. */
static bool is_eface(struct dies *dies, const struct die *die)
{
    struct die target;
    return die_reference(dies, die, DW_AT_type, &target) &&
           bytes_are(die_name(dies, &target), "runtime.eface");
}

/* Adds the parts of a pending type: its elements, key, fields or length. This comes later than the
 * type itself, since types may contain pointers to themselves. Returns false if memory runs out. */
static bool add_parts(struct dwarf_reader *reader, struct types *types,
                      struct dwarf_pending pending)
{
    struct type type = types->list.data[pending.type];
    struct die die;
    if (!die_at(&reader->dies, pending.die, &die))
        return true;
    bool good = true;
    switch (type.kind) {
    case TYPE_ARRAY:
        type.length = array_length(reader, &die);
        good = dwarf_type(reader, types, &die, DW_AT_type, &type.elem);
        break;
    case TYPE_POINTER:
        good = dwarf_type(reader, types, &die, DW_AT_type, &type.elem);
        break;
    case TYPE_MAP:
        good = dwarf_type(reader, types, &die, DW_AT_go_key, &type.key) &&
               dwarf_type(reader, types, &die, DW_AT_go_elem, &type.elem);
        break;
    case TYPE_CHAN:
    case TYPE_SLICE:
        good = dwarf_type(reader, types, &die, DW_AT_go_elem, &type.elem);
        break;
    case TYPE_INTERFACE:
        type.empty_interface = is_eface(&reader->dies, &die);
        break;
    case TYPE_STRUCT:
        good = add_fields(reader, types, &die, &type);
        break;
    default:
        break;
    }
    types->list.data[pending.type] = type;
    return good && vector_push(&reader->unchecked, pending.type);
}

/* Adds the parts of the types that were added. The parts of a type may be further pending types; a
 * loop instead of recursion bears any nesting. Returns false if memory runs out. */
bool dwarf_types_complete(struct dwarf_reader *reader, struct types *types)
{
    while (reader->pending.count > 0)
        if (!add_parts(reader, types, reader->pending.data[--reader->pending.count]))
            return false;
    return check_types(reader, types);
}

/* ==== global variables, functions, and the variables that closures capture ====
 *
 * Reads the children of each unit's first entry, and the children of its functions.
 */

/* The work that DWARF may cost for each byte of .debug_info. Reading sound DWARF takes 0.6, and
 * reading the variables of each function once would take about as much. */
enum { WORK = 16, WORK_OF_LOCALS = 16 };

/* Interns a string. A string that exceeds the limit becomes empty: damaged DWARF may refer to one
 * long string often. Returns false if memory runs out. */
bool dwarf_intern(struct dwarf_reader *reader, struct types *types, struct g2h_bytes text,
                  uint32_t *ret)
{
    const uint32_t before = types->names.count;
    if (text.size > reader->text_left)
        text.size = 0;
    if (!types_intern(types, text.size > 0 ? (const char *)text.data : "", text.size, ret))
        return false;
    if (types->names.count > before)
        reader->text_left -= text.size;
    return true;
}

/* ---- units ---- */

/* Adds a global variable with its name, address and type. Variables whose location is not one
 * address are left out. */
static struct g2h_error *read_variable(struct dwarf_info *dwarf_info, struct types *types,
                                       const struct die *die)
{
    struct dies *dies = &dwarf_info->reader->dies;
    struct die_operation operation;
    struct dwarf_global global;
    if (!die_operation(dies, die, DW_AT_location, &operation))
        return NULL;
    if (operation.atom == DW_OP_addr)
        global.address = operation.number;
    else if (operation.atom != DW_OP_addrx ||
             !die_address(dies, die->unit, operation.number, &global.address))
        return NULL;
    if (!dwarf_intern(dwarf_info->reader, types, die_name(dies, die), &global.name) ||
        !dwarf_type(dwarf_info->reader, types, die, DW_AT_type, &global.type) ||
        !vector_push(&dwarf_info->globals, global))
        return &error_no_memory;
    return NULL;
}

/* Adds the type of a method's receiver, given by the first entry below the method: a value that is
 * only ever in a frame may have no descriptor and, if the compiler knows its address all the time,
 * no variable that leads to it. Then its methods tell its type. Returns false if memory runs out.
 */
static bool read_receiver(struct dwarf_info *dwarf_info, struct types *types,
                          const struct die *first)
{
    uint32_t type;
    return die_tag(first) != DW_TAG_formal_parameter ||
           dwarf_type(dwarf_info->reader, types, first, DW_AT_type, &type);
}

/* Reads the captured variables of the closure whose function begins at entry: they have
 * DW_AT_go_closure_offset. While no variable of the executable has had it, reads all variables of a
 * closure's function instead, into maybe_captured. *ret_behind is die.behind of the last child. */
static struct g2h_error *read_captured(struct dwarf_info *dwarf_info, struct types *types,
                                       uint64_t entry, const struct die *function,
                                       uint64_t *ret_behind)
{
    struct dies *dies = &dwarf_info->reader->dies;
    struct die die;
    if (!die_child(dies, function, &die))
        return NULL;
    /* main.f.func1 and main.f.func1.2 are closures; main.f and other handwritten names are not. */
    const struct g2h_bytes name = die_name(dies, function);
    const bool is_closure = bytes_contain(name, ".func");
    bool is_receiver = bytes_contain(name, ".(*");
    do {
        struct dwarf_captured captured = {.entry = entry};
        struct die_attribute attribute;
        if (is_receiver && !read_receiver(dwarf_info, types, &die))
            return &error_no_memory;
        is_receiver = false;
        if (die_tag(&die) != DW_TAG_variable)
            continue;
        const bool is_captured = die_own(dies, &die, DW_AT_go_closure_offset, &attribute) &&
                                 die_attribute_number(dies, attribute, &captured.offset);
        if (!is_captured && (!is_closure || dwarf_info->captured.count > 0))
            continue;
        if (!dwarf_intern(dwarf_info->reader, types, die_name(dies, &die), &captured.name) ||
            !dwarf_type(dwarf_info->reader, types, &die, DW_AT_type, &captured.type) ||
            !(is_captured ? vector_push(&dwarf_info->captured, captured)
                          : vector_push(&dwarf_info->maybe_captured, captured)))
            return &error_no_memory;
    } while (die_next(dies, &die));
    *ret_behind = die.behind;
    return NULL;
}

/* Adds a function with each of its address ranges, for the lookup of local variables, and reads
 * what its closure captures. *ret_behind as in read_captured(). */
static struct g2h_error *read_function(struct dwarf_info *dwarf_info, struct types *types,
                                       const struct die *die, uint64_t *ret_behind)
{
    struct dies *dies = &dwarf_info->reader->dies;
    struct dwarf_function function = {.die = die->offset};
    struct die_ranges ranges = {.is_begun = false};
    struct range code;
    bool first = true;
    while (die_range(dies, die, &ranges, &code)) {
        if (code.begin >= code.end)
            continue;
        function.low = code.begin;
        function.high = code.end;
        /* Entries may share a list of ranges, so the size of the lists does not bound the number of
         * ranges. */
        if (!die_pay(dies, sizeof(function)))
            return NULL;
        if (!vector_push(&dwarf_info->reader->functions, function))
            return &error_no_memory;
        if (first)
            TRY(read_captured(dwarf_info, types, function.low, die, ret_behind));
        first = false;
    }
    return NULL;
}

/* Reads the variables and functions of a unit (a package of Go). The entries below a function are
 * read once: `behind` says where they end. */
static struct g2h_error *read_unit(struct dwarf_info *dwarf_info, struct types *types, size_t index)
{
    struct dies *dies = &dwarf_info->reader->dies;
    struct die unit, die;
    uint64_t behind;
    if (!die_of_unit(dies, index, &unit) || !die_child(dies, &unit, &die))
        return NULL;
    do {
        behind = 0;
        if (die_tag(&die) == DW_TAG_variable)
            TRY(read_variable(dwarf_info, types, &die));
        else if (die_tag(&die) == DW_TAG_subprogram)
            TRY(read_function(dwarf_info, types, &die, &behind));
    } while (die_next_behind(dies, &die, behind));
    return NULL;
}

/* Reads all units, and then the parts of the types that they named. */
static struct g2h_error *read_units(struct dwarf_info *dwarf_info, struct types *types)
{
    for (size_t i = 0; i < dwarf_info->reader->dies.units.count; i++)
        TRY(read_unit(dwarf_info, types, i));
    return dwarf_types_complete(dwarf_info->reader, types) ? NULL : &error_no_memory;
}

/* ---- opening ---- */

/* Orders variables by address, then by name. */
static int compare_globals(const void *a, const void *b)
{
    const struct dwarf_global *one = a;
    const struct dwarf_global *other = b;
    if (one->address != other->address)
        return COMPARE(one->address, other->address);
    return COMPARE(one->name, other->name);
}

/* Orders captured variables by the closure's function, then by offset and name. */
static int compare_captured(const void *a, const void *b)
{
    const struct dwarf_captured *one = a;
    const struct dwarf_captured *other = b;
    if (one->entry != other->entry)
        return COMPARE(one->entry, other->entry);
    if (one->offset != other->offset)
        return COMPARE(one->offset, other->offset);
    return COMPARE(one->name, other->name);
}

/* Orders functions by address. */
static int compare_functions(const void *a, const void *b)
{
    const struct dwarf_function *one = a;
    const struct dwarf_function *other = b;
    if (one->low != other->low)
        return COMPARE(one->low, other->low);
    return COMPARE(one->die, other->die);
}

/* Opens DWARF, and sets the limits on the work that damaged DWARF can cause. */
static struct g2h_error *open_reader(struct dwarf_reader *reader, struct image *image)
{
    TRY(dies_init(&reader->dies, image));
    const struct dies *dies = &reader->dies;
    reader->dies.work_left = dies->info.size * WORK;
    reader->locals_left = dies->info.size * WORK_OF_LOCALS;
    reader->types_left = dies->info.size / 4;
    reader->text_left = 2 * (dies->info.size + dies->str.size + dies->line_str.size);
    return NULL;
}

/* Reads all units, and sorts the results by address. If any variable has DW_AT_go_closure_offset,
 * closures need no guesses (maybe_captured). */
static struct g2h_error *read_all(struct dwarf_info *dwarf_info, struct image *image,
                                  struct types *types)
{
    TRY(open_reader(dwarf_info->reader, image));
    TRY(read_units(dwarf_info, types));
    if (dwarf_info->captured.count > 0)
        dwarf_info->maybe_captured.count = 0;
    vector_sort(&dwarf_info->globals, compare_globals);
    vector_sort(&dwarf_info->captured, compare_captured);
    vector_sort(&dwarf_info->maybe_captured, compare_captured);
    vector_sort(&dwarf_info->reader->functions, compare_functions);
    return NULL;
}

/* Reads all units. The reader stays, for the variables at program counters, until
 * dwarf_info_deinit(), which has been called after an error. */
struct g2h_error *dwarf_info_init(struct dwarf_info *dwarf_info, struct image *image,
                                  struct types *types, uint64_t types_start)
{
    *dwarf_info = (struct dwarf_info){.reader = calloc(1, sizeof(*dwarf_info->reader))};
    if (!dwarf_info->reader)
        return &error_no_memory;
    dwarf_info->reader->types_start = types_start;
    struct g2h_error *error = read_all(dwarf_info, image, types);
    if (error)
        dwarf_info_deinit(dwarf_info);
    return error;
}

/* Makes a reader for one process. The units, abbreviations and functions are shared, which nothing
 * changes. */
struct g2h_error *dwarf_info_branch(const struct dwarf_info *dwarf_info, struct dwarf_info *ret)
{
    const struct dwarf_reader *from = dwarf_info->reader;
    struct dwarf_reader *own = calloc(1, sizeof(*own));
    *ret = (struct dwarf_info){.reader = own};
    TRY_MEMORY(own);
    own->dies = from->dies;
    own->functions.data = from->functions.data;
    own->functions.count = from->functions.count;
    own->types_start = from->types_start;
    own->has_names = from->has_names;
    own->types_left = from->types_left;
    own->text_left = from->text_left;
    own->locals_left = from->locals_left;
    own->depth.data = memory_copy(from->depth.data, from->depth.count, sizeof(*own->depth.data));
    own->depth.count = own->depth.capacity = own->depth.data ? from->depth.count : 0;
    TRY_MEMORY(own->depth.count == from->depth.count &&
               map_copy(&own->type_by_die, &from->type_by_die) &&
               map_copy(&own->type_by_name, &from->type_by_name));
    assert(from->pending.count == 0 && from->unchecked.count == 0); /* all types are complete */
    return NULL;
}

/* Frees what the branch's reader has for itself; the rest is the main reader's. */
void dwarf_info_branch_end(struct dwarf_info *branch)
{
    struct dwarf_reader *reader = branch->reader;
    if (!reader)
        return;
    free(reader->operations.data);
    free(reader->pending.data);
    free(reader->unchecked.data);
    free(reader->depth.data);
    map_deinit(&reader->type_by_die);
    map_deinit(&reader->type_by_name);
    free(reader);
    branch->reader = NULL;
}

void dwarf_info_deinit(struct dwarf_info *dwarf_info)
{
    if (dwarf_info->reader) {
        dies_deinit(&dwarf_info->reader->dies);
        free(dwarf_info->reader->functions.data);
    }
    dwarf_info_branch_end(dwarf_info);
    free(dwarf_info->globals.data);
    free(dwarf_info->captured.data);
    free(dwarf_info->maybe_captured.data);
    *dwarf_info = (struct dwarf_info){.reader = NULL};
}
