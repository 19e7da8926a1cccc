/*
 * closures: the types of the closures that func values point to, by the code pointer that a closure
 * begins with.
 *
 * A closure is {code, captured variables …}. DWARF of Go 1.23 and later has the captured variables;
 * a method value, "main.(*T).M-fm", holds its receiver.
 *
 * Before 1.23 there are descriptors, since closures are allocated as "struct { F uintptr; x T; y *U
 * }": up to 1.20 with the names of the variables, then with X0, X1 …. The closure of a function has
 * one of the descriptors whose fields can be the function's variables; the object's size and
 * pointers select one. If several remain, or if there is no DWARF, only the function is known.
 *
 * DWARF does not describe what the compiler's own closures capture, those of go and defer
 * statements (main.f.gowrap1, main.f.deferwrap1), and often no structs that a closure captures by
 * value, such as a time.Time; and a stripped executable describes no closure.
 * But the code of the function that makes a closure has the address of such a descriptor, to
 * allocate the closure, and then that of the closure's function, to store it in there. All code is
 * searched: from 1.27 on, the name of a closure does not tell which function makes it, because a
 * closure of an inlined function is named after that function alone, which may not exist.
 *
 * A variable that DWARF calls "&x", a pointer, is a captured reference, or else a value that the
 * compiler does not keep in registers: then the pointer is the function's own, and the closure
 * holds all of x.
 */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "base/port.h"
#include "exe/go/code.h"
#include "typing/typer.h"

/* A descriptor with which closures may have been allocated. */
struct closure_layout {
    uint32_t type;
    uint32_t next; /* the next one with the same type of the first variable; TYPE_NONE */
};

struct closures_maker {
    struct typing *typing;
    struct types *types;
    struct map by_name; /* string → type */
    uint32_t code;      /* type: uintptr */
    uint32_t code_name, old_code_name;
    uint32_t receiver_name;
    VECTOR(struct closure_layout) layouts;
    struct map layouts_by_first; /* name of the first variable's type → layout */
    uint64_t layouts_left;       /* remaining layouts that may be tried */
    struct map is_layout;        /* type → 1: closures may have been allocated with it */
    struct map layout_of;        /* entry of a closure → the type that it is allocated with, or
                                    AMBIGUOUS */
};

#define AMBIGUOUS (MAP_NONE - 1)

/* ---- names and types, and the closures that DWARF describes ---- */

/* Returns whether a name ends with a dot and a number: main.g.1, a closure of main.g, which is
 * inlined in a closure. */
static bool ends_with_number(const struct g2h_bytes *name)
{
    uint64_t size = name->size;
    while (size > 0 && name->data[size - 1] >= '0' && name->data[size - 1] <= '9')
        size--;
    return size > 0 && size < name->size && name->data[size - 1] == '.';
}

/* Returns whether a function may be a closure, a method value or the wrapper of a go or defer
 * statement. */
static bool may_be_closure(const struct g2h_bytes *name)
{
    return bytes_contain(*name, ".func") || bytes_contain(*name, "wrap") ||
           bytes_contain(*name, "-fm") || bytes_contain(*name, "-range") || ends_with_number(name);
}

/* Maps the name of each type to the type, of several with one name to the first. Returns false if
 * memory runs out. */
static bool map_names(struct closures_maker *maker)
{
    if (!map_reserve(&maker->by_name, maker->types->list.count))
        return false;
    for (uint32_t i = 0; i < maker->types->list.count; i++) {
        uint32_t first;
        if (!map_put(&maker->by_name, types_get(maker->types, i)->name, i, &first))
            return false;
    }
    return true;
}

/* Returns the type with a name, or TYPE_NONE. */
static uint32_t closures_type_named(const struct closures_maker *maker, const char *text,
                                    size_t size)
{
    uint32_t name;
    if (!string_pool_find(&maker->types->names, text, size, &name))
        return TYPE_NONE;
    return map_get(&maker->by_name, name); /* MAP_NONE == TYPE_NONE */
}

/* Returns the receiver's type of a method value's function, or TYPE_NONE: T for "main.T.M-fm"; for
 * "main.(*T).M-fm" it is the type named "*main.T". Names without "-fm" are of no method value. */
static uint32_t closures_receiver_of(const struct closures_maker *maker,
                                     const struct g2h_bytes *name)
{
    const char *text = (const char *)name->data;
    size_t size = name->size;
    char buffer[512];
    /* The last condition: with a star before it, the name must fit into the buffer. */
    if (size < 4 || memcmp(text + size - 3, "-fm", 3) != 0 || size > sizeof(buffer) - 2)
        return TYPE_NONE;
    const char *dot = memrchr(text, '.', size);
    if (!dot || dot == text)
        return TYPE_NONE;
    size = as_size(dot - text);
    const char *star = memmem(text, size, "(*", 2);
    if (!star)
        return closures_type_named(maker, text, size);
    if (text[size - 1] != ')')
        return TYPE_NONE;
    const size_t package = as_size(star - text);
    const size_t rest = size - package - 3;
    buffer[0] = '*';
    memcpy(buffer + 1, text, package);
    memcpy(buffer + 1 + package, star + 2, rest);
    return closures_type_named(maker, buffer, 1 + package + rest);
}

/* Appends a field to a closure's type, which then ends after the field. Returns false if memory
 * runs out. */
static bool closures_add_field(struct closures_maker *maker, struct type *type, uint32_t name,
                               uint32_t field_type, uint64_t offset)
{
    if (field_type >= maker->types->list.count || offset < type->size || offset > UINT32_MAX ||
        types_size(maker->types, field_type) > UINT32_MAX)
        return true; /* damage: fields ascend, and a closure is small */
    struct type_field field = {.name = name, .type = field_type, .offset = offset};
    type->field_count++;
    type->size = offset + types_size(maker->types, field_type);
    return vector_push(&maker->types->fields, field);
}

/* Returns the type of x if DWARF names a captured variable "&x" and the closure may hold x itself,
 * else TYPE_NONE. The compiler captures variables that never change by value, up to 128 bytes. */
static uint32_t captured_value_type(const struct types *types,
                                    const struct dwarf_captured *captured)
{
    enum { MOST_BY_VALUE = 128 }; /* cmd/compile/internal/escape.(*batch).finish */
    const struct g2h_bytes name = types_text(types, captured->name);
    if (name.size < 2 || name.data[0] != '&' || captured->type >= types->list.count ||
        types_get(types, captured->type)->kind != TYPE_POINTER)
        return TYPE_NONE;
    const uint32_t value = types_get(types, captured->type)->elem;
    return value < types->list.count && types_size(types, value) <= MOST_BY_VALUE ? value
                                                                                  : TYPE_NONE;
}

/* Returns whether the closure holds the value of a captured variable rather than a reference to it:
 * if there is room for the value before the next variable. A value no larger than a pointer has the
 * room of a reference in any case, and counts as a reference. The last variable (is_last) has no
 * next one: last_is_value is the answer for it, and both answers are tried on the objects. */
static bool is_captured_by_value(const struct types *types, const struct dwarf_captured *captured,
                                 bool is_last, bool last_is_value)
{
    const uint32_t value = captured_value_type(types, captured);
    if (value == TYPE_NONE || is_last)
        return value != TYPE_NONE && last_is_value;
    const uint64_t size = types_size(types, value);
    return size > types->pointer_size && captured[1].offset - captured->offset >= size;
}

/* Adds the captured variables to a closure's type: with is_captured_by_value(), x by its own type,
 * not "&x". Returns false if memory runs out. last_is_value: the last variable is held by value. */
static bool add_captured(struct closures_maker *maker, struct type *type,
                         const struct dwarf_captured *captured, size_t count, bool last_is_value)
{
    struct types *types = maker->types;
    for (size_t i = 0; i < count; i++) {
        uint32_t name = captured[i].name;
        uint32_t number = captured[i].type;
        if (is_captured_by_value(types, &captured[i], i + 1 == count, last_is_value)) {
            size_t size;
            char text[256];
            const char *all = string_pool_text(&types->names, name, &size);
            size = MIN(size - 1, sizeof(text));
            memcpy(text, all + 1, size); /* the pool may move when it grows */
            if (!types_intern(types, text, size, &name))
                return false;
            number = captured_value_type(types, &captured[i]);
        }
        if (!closures_add_field(maker, type, name, number, captured[i].offset))
            return false;
    }
    return true;
}

/* Begins the type of a function's closure with its first field, the code pointer. Returns false if
 * memory runs out. */
static bool begin_closure(struct closures_maker *maker, const struct g2h_bytes *name,
                          struct type *ret)
{
    char text[1024];
    const size_t size = MIN(name->size, sizeof(text) - 5);
    memcpy(text, "func ", 5);
    memcpy(text + 5, name->data, size);
    /* UINT64_MAX: no descriptor says which words are pointers, so the fields do. */
    *ret = (struct type){.kind = TYPE_STRUCT,
                         .role = ROLE_CLOSURE,
                         .pointer_bytes = UINT64_MAX,
                         .elem = TYPE_NONE,
                         .key = TYPE_NONE,
                         .header = TYPE_NONE,
                         .first_field = as_u32(maker->types->fields.count)};
    return types_intern(maker->types, text, size + 5, &ret->name) &&
           closures_add_field(maker, ret, maker->code_name, maker->code, 0);
}

/* Adds the type of a function's closure. DWARF does not tell whether the last captured variable is
 * held by value, so there is a type for either case: last_is_value. A function that captures
 * nothing may be a method value (T.M-fm), whose closure has the receiver. Returns false if memory
 * runs out. */
static bool add_closure(struct closures_maker *maker, uint64_t entry, const struct g2h_bytes *name,
                        const struct dwarf_captured *captured, size_t count, bool last_is_value)
{
    struct types *types = maker->types;
    const uint64_t word = types->pointer_size;
    struct type type;
    uint32_t number, first;
    if (!begin_closure(maker, name, &type))
        return false;
    const uint32_t receiver = count == 0 ? closures_receiver_of(maker, name) : TYPE_NONE;
    if (receiver != TYPE_NONE &&
        !closures_add_field(maker, &type, maker->receiver_name, receiver, word))
        return false;
    if (!add_captured(maker, &type, captured, count, last_is_value))
        return false;
    type.size = (type.size + word - 1) / word * word; /* as Go aligns a struct with a pointer */
    return types_add(types, &type, &number) &&
           map_put(last_is_value ? &maker->typing->closure_of_value
                                 : &maker->typing->closure_by_entry,
                   entry, number, &first);
}

/* ---- before Go 1.23 ---- */

/* Finds the descriptors with which closures may have been allocated, by their fields. Returns false
 * if memory runs out. These are structs whose first field is the code (a uintptr of either of its
 * names); a list by the type of the first variable leads to them. */
static bool find_layouts(struct closures_maker *maker)
{
    const struct types *types = maker->types;
    for (uint32_t i = 0; i < types->list.count; i++) {
        const struct type *type = types_get(types, i);
        if (type->kind != TYPE_STRUCT || type->address == 0 || type->field_count < 2)
            continue;
        const struct type_field *fields = types_fields(types, type);
        if ((fields[0].name != maker->code_name && fields[0].name != maker->old_code_name) ||
            fields[1].type >= types->list.count ||
            types_get(types, fields[0].type)->kind != TYPE_UINTPTR)
            continue;
        const uint32_t key = types_get(types, fields[1].type)->name,
                       number = as_u32(maker->layouts.count);
        struct closure_layout layout = {as_u32(i), map_get(&maker->layouts_by_first, key)};
        uint32_t known;
        if (!vector_push(&maker->layouts, layout) ||
            !map_put(&maker->layouts_by_first, key, number, &known))
            return false;
        map_set(&maker->layouts_by_first, key, number); /* it leads to the one that was there */
        if (!map_put(&maker->is_layout, i, 1, &known))
            return false;
    }
    return true;
}

/* Returns whether a name is X and a number, a generated name that does not identify the
 * variable. */
static bool is_numbered_name(const struct types *types, uint32_t name)
{
    const struct g2h_bytes text = types_text(types, name);
    return text.size >= 2 && text.data[0] == 'X' &&
           strspn((const char *)text.data + 1, "0123456789") >= text.size - 1;
}

/* Returns whether two types are the same. One type may have two numbers with the same name, one
 * from its descriptor and one from DWARF. */
static bool is_same_type(const struct types *types, uint32_t number, uint32_t wanted)
{
    return number < types->list.count &&
           (number == wanted || types_get(types, number)->name == types_get(types, wanted)->name);
}

/* Returns whether a field of a layout can hold a captured variable. The types must agree: a
 * variable "&x" is held as it is, or x is held itself. So must the names, unless the compiler has
 * numbered the fields. */
static bool field_may_be_variable(const struct types *types, const struct type_field *field,
                                  const struct dwarf_captured *variable)
{
    if (!is_same_type(types, variable->type, field->type) &&
        !is_same_type(types, captured_value_type(types, variable), field->type))
        return false;
    if (variable->name == field->name || is_numbered_name(types, field->name))
        return true;
    const struct g2h_bytes name = types_text(types, variable->name);
    return bytes_begin(name, "&") &&
           bytes_same(bytes_from(name, 1), types_text(types, field->name));
}

enum { MOST_VARIABLES = 64 }; /* of a closure that is looked for among layouts: bits of a word */

/* Adds the type of a closure that was allocated with a layout, if each field of the layout can be a
 * variable. The type is put before the existing alternatives: *ret_alternatives is the first of
 * these, and becomes the new one. Returns false if memory runs out. */
static bool add_by_layout(struct closures_maker *maker, const struct g2h_bytes *name,
                          uint32_t layout, const struct dwarf_captured *variables, size_t count,
                          uint32_t *ret_alternatives)
{
    struct types *types = maker->types;
    const uint32_t first = types_get(types, layout)->first_field,
                   fields = types_get(types, layout)->field_count;
    uint32_t names[MOST_VARIABLES];
    /* A bit per variable that a field has already. */
    uint64_t taken = 0;
    if (count > MOST_VARIABLES || fields > count + 1) /* and 1: the code pointer */
        return true;
    for (uint32_t i = 1; i < fields; i++) {
        const struct type_field *field = &types->fields.data[first + i];
        size_t found = count;
        size_t candidates = 0;
        for (size_t j = 0; j < count; j++)
            if (field_may_be_variable(types, field, &variables[j])) {
                candidates++;
                if (found == count && (taken >> j & 1) == 0)
                    found = j;
            }
        if (found == count) /* no variable is left for the field */
            return true;
        taken |= UINT64_C(1) << found;
        /* If several variables have the type, it is not known which of them the field is. */
        names[i - 1] = candidates == 1 ? variables[found].name : field->name;
    }
    struct type type;
    if (!begin_closure(maker, name, &type))
        return false;
    for (uint32_t i = 1; i < fields; i++) {
        const struct type_field field = types->fields.data[first + i]; /* a copy: fields may move */
        if (!closures_add_field(maker, &type, names[i - 1], field.type, field.offset))
            return false;
    }
    type.size = types_size(types, layout);
    type.alternative = *ret_alternatives;
    return types_add(types, &type, ret_alternatives);
}

/* Adds the types that a function's closure may have, as alternatives to its existing type: those of
 * other closures whose first word has the type of one of this function's captured variables. The
 * work is limited (layouts_left). Returns false if memory runs out. */
static bool add_candidates(struct closures_maker *maker, uint64_t entry,
                           const struct dwarf_captured *variables, size_t count)
{
    struct types *types = maker->types;
    const uint32_t type = map_get(&maker->typing->closure_by_entry, entry);
    struct g2h_bytes function;
    uint64_t start;
    if (type == MAP_NONE || !exe_function_at(maker->typing->exe, entry, &function, &start))
        return true;
    uint32_t alternatives = TYPE_NONE;
    /* Layouts are indexed by the type of their first variable. Any of the variables may come first,
     * by its own type (even i) or by the type that it points to (odd i). Each type is looked up
     * once. */
    for (size_t i = 0; i < 2 * count; i++) {
        const struct dwarf_captured *variable = &variables[i / 2];
        const uint32_t held_type =
            i % 2 == 0 ? variable->type : captured_value_type(types, variable);
        bool is_repeated = held_type >= types->list.count;
        for (size_t j = 0; j < i && !is_repeated; j++)
            is_repeated = is_same_type(types,
                                       j % 2 == 0 ? variables[j / 2].type
                                                  : captured_value_type(types, &variables[j / 2]),
                                       held_type);
        if (is_repeated)
            continue;
        uint32_t number = map_get(&maker->layouts_by_first, types_get(types, held_type)->name);
        while (number != MAP_NONE && maker->layouts_left > 0) {
            const struct closure_layout layout = maker->layouts.data[number];
            maker->layouts_left--;
            if (!add_by_layout(maker, &function, layout.type, variables, count, &alternatives))
                return false;
            number = layout.next;
        }
    }
    types->list.data[type].alternative = alternatives;
    return true;
}

/* Adds the possible types of the closures of all functions for which DWARF has variables but not
 * their offsets. These variables are sorted by function. Returns false if memory runs out. */
static bool add_all_candidates(struct closures_maker *maker)
{
    const struct dwarf_info *dwarf = maker->typing->dwarf_info;
    const uint64_t slide = exe_slide(maker->typing->exe);
    assert(
        IS_ORDERED(i, dwarf->maybe_captured.count,
                   dwarf->maybe_captured.data[i - 1].entry <= dwarf->maybe_captured.data[i].entry));
    maker->layouts_left = 1 << 22; /* a large program tries some 10,000 */
    for (size_t i = 0; i < dwarf->maybe_captured.count;) {
        const struct dwarf_captured *first = &dwarf->maybe_captured.data[i];
        size_t count = 1;
        while (i + count < dwarf->maybe_captured.count && first[count].entry == first->entry)
            count++;
        i += count;
        if (!add_candidates(maker, first->entry + slide, first, MIN(count, MOST_VARIABLES)))
            return false;
    }
    return true;
}

/* ---- by the code that makes a closure ---- */

/* Returns the type of the closure with this code if no descriptor has described its captured
 * variables so far, else MAP_NONE. */
static uint32_t undescribed_closure(const struct closures_maker *maker, uint64_t entry)
{
    const uint32_t type = map_get(&maker->typing->closure_by_entry, entry);
    return type != MAP_NONE && types_get(maker->types, type)->alternative == TYPE_NONE ? type
                                                                                       : MAP_NONE;
}

/* Records that code makes a closure with a layout. If it seems to be made with several, none of
 * them counts. Returns false if memory runs out. */
static bool note_made(struct closures_maker *maker, uint64_t closure, uint32_t layout)
{
    uint32_t known;
    if (!map_put(&maker->layout_of, closure, layout, &known))
        return false;
    if (known != layout)
        map_set(&maker->layout_of, closure, AMBIGUOUS);
    return true;
}

/* Finds the layouts of the closures that a function makes. addresses are the constants in its code,
 * in order: that of a descriptor (the closure is allocated with it), later that of the closure's
 * function (its address is stored there). Returns false if memory runs out. */
static bool read_maker(struct closures_maker *maker, const address_vector *addresses)
{
    const uint64_t slide = exe_slide(maker->typing->exe);
    uint32_t layout = TYPE_NONE; /* by the last descriptor before addresses->data[next] */
    size_t next = 0;
    for (size_t i = 0; i < addresses->count; i++) {
        const uint64_t closure = addresses->data[i] + slide;
        if (undescribed_closure(maker, closure) == MAP_NONE)
            continue;
        for (; next < i; next++) {
            const uint32_t type = types_at(maker->types, addresses->data[next] + slide);
            if (type != TYPE_NONE)
                layout = map_get(&maker->is_layout, type) != MAP_NONE ? type : TYPE_NONE;
        }
        if (layout != TYPE_NONE && !note_made(maker, closure, layout))
            return false;
    }
    return true;
}

/* Reads the code of all functions. Returns false if memory runs out. */
static bool read_makers(struct closures_maker *maker)
{
    const struct g2h_exe *exe = maker->typing->exe;
    const struct pclntab *pclntab = exe_pclntab(exe);
    uint64_t left = pclntab_entry(pclntab, pclntab->count); /* each function is read once */
    address_vector addresses = {0};
    bool good = true;
    for (uint64_t i = 0; i < pclntab->count && good; i++) {
        addresses.count = 0;
        good = constants_find(pclntab, exe_module(exe), i, &left, &addresses) &&
               read_maker(maker, &addresses);
    }
    free(addresses.data);
    return good;
}

/* Returns the name of the variable that a closure's type has at an offset, or TYPE_NONE. */
static uint32_t closure_variable_at(const struct types *types, uint32_t type, uint64_t offset)
{
    const struct type *closure = types_get(types, type);
    const struct type_field *fields = types_fields(types, closure);
    for (uint32_t i = 1; i < closure->field_count; i++)
        if (fields[i].offset == offset)
            return fields[i].name;
    return TYPE_NONE;
}

/* Adds to a closure's type an alternative that has the fields of the layout. Returns false if
 * memory runs out. */
static bool add_made(struct closures_maker *maker, uint32_t type, const struct g2h_bytes *name,
                     uint32_t layout)
{
    struct types *types = maker->types;
    const uint32_t first = types_get(types, layout)->first_field,
                   fields = types_get(types, layout)->field_count;
    struct type made;
    uint32_t number;
    if (!begin_closure(maker, name, &made))
        return false;
    for (uint32_t i = 1; i < fields; i++) {
        const struct type_field field = types->fields.data[first + i];
        const uint32_t variable = closure_variable_at(types, type, field.offset);
        if (!closures_add_field(maker, &made, variable != TYPE_NONE ? variable : field.name,
                                field.type, field.offset))
            return false;
    }
    made.size = types_size(types, layout);
    if (!types_add(types, &made, &number))
        return false;
    types->list.data[type].alternative = number;
    return true;
}

/* Returns whether two closures have as many variables, one or more, and the last ones are at one
 * place and of one type. The first field is the function. */
static bool have_one_last(const struct types *types, uint32_t a, uint32_t b)
{
    const struct type *one = types_get(types, a);
    const struct type *other = types_get(types, b);
    if (one->field_count < 2 || one->field_count != other->field_count)
        return false;
    const struct type_field *last = &types->fields.data[one->first_field + one->field_count - 1],
                            *with = &types->fields.data[other->first_field + one->field_count - 1];
    return last->offset == with->offset &&
           types_get(types, last->type)->name == types_get(types, with->type)->name;
}

/* Decides whether the last variable of a closure is held by value, which DWARF does not tell, by
 * the layout with which code makes the closure. */
static void decide_how_last_is_held(struct closures_maker *maker, uint64_t entry, uint32_t layout)
{
    struct typing *typing = maker->typing;
    const uint32_t by_reference = map_get(&typing->closure_by_entry, entry),
                   by_value = map_get(&typing->closure_of_value, entry);
    if (by_reference == MAP_NONE || by_value == MAP_NONE)
        return;
    if (have_one_last(maker->types, by_value, layout))
        map_set(&typing->closure_by_entry, entry, by_value);
    else if (have_one_last(maker->types, by_reference, layout))
        map_set(&typing->closure_of_value, entry, by_reference);
}

/* Finds the layouts of closures of which DWARF describes nothing or not all, in the code that makes
 * them, and adds these as alternatives. Returns false if memory runs out. */
static bool add_all_made(struct closures_maker *maker)
{
    const struct g2h_exe *exe = maker->typing->exe;
    const uint64_t functions = exe_function_count(exe);
    struct g2h_bytes name;
    if (!read_makers(maker))
        return false;
    for (uint64_t i = 0; i < functions; i++) {
        const uint64_t entry = exe_function(exe, i, &name);
        const uint32_t layout = map_get(&maker->layout_of, entry);
        if (layout == MAP_NONE || layout == AMBIGUOUS)
            continue;
        decide_how_last_is_held(maker, entry, layout);
        const uint32_t type = undescribed_closure(maker, entry);
        const struct type *list = maker->types->list.data;
        if (type != MAP_NONE && list[type].field_count < list[layout].field_count &&
            !add_made(maker, type, &name, layout))
            return false;
    }
    return true;
}

/* ---- all functions ---- */

/* Adds a type for each function that may be a closure: by DWARF's captured variables, which are
 * sorted by function, or with the code pointer alone. Returns false if memory runs out. Where the
 * last variable may be held by value, the closure has two types. */
static bool closures_add_all(struct closures_maker *maker)
{
    const struct g2h_exe *exe = maker->typing->exe;
    const struct dwarf_info *dwarf = maker->typing->dwarf_info;
    const uint64_t slide = exe_slide(exe);
    assert(IS_ORDERED(i, dwarf->captured.count,
                      dwarf->captured.data[i - 1].entry <= dwarf->captured.data[i].entry));
    for (size_t i = 0; i < dwarf->captured.count;) {
        const struct dwarf_captured *captured = &dwarf->captured.data[i];
        size_t count = 1;
        struct g2h_bytes function;
        uint64_t start;
        while (i + count < dwarf->captured.count && captured[count].entry == captured->entry)
            count++;
        i += count;
        if (!exe_function_at(exe, captured->entry + slide, &function, &start))
            continue;
        if (!add_closure(maker, captured->entry + slide, &function, captured, count, false) ||
            (captured_value_type(maker->types, &captured[count - 1]) != TYPE_NONE &&
             !add_closure(maker, captured->entry + slide, &function, captured, count, true)))
            return false;
    }
    const uint64_t functions = exe_function_count(exe);
    for (uint64_t i = 0; i < functions; i++) {
        struct g2h_bytes name;
        const uint64_t entry = exe_function(exe, i, &name);
        if (may_be_closure(&name) && map_get(&maker->typing->closure_by_entry, entry) == MAP_NONE &&
            !add_closure(maker, entry, &name, NULL, 0, false))
            return false;
    }
    return true;
}

/* Adds a type per closure, by DWARF's captured variables or with the code alone; then, as
 * alternatives, the descriptors that fit a closure's variables, and those that the code which makes
 * closures uses. */
struct g2h_error *typing_add_closures(struct typing *typing, struct types *types)
{
    struct closures_maker maker = {.typing = typing, .types = types};
    struct type code = {.kind = TYPE_UINTPTR,
                        .size = types->pointer_size,
                        .elem = TYPE_NONE,
                        .key = TYPE_NONE,
                        .header = TYPE_NONE};
    bool good = map_names(&maker) && types_intern(types, "uintptr", 7, &code.name) &&
                types_add(types, &code, &maker.code) &&
                types_intern(types, "F", 1, &maker.code_name) &&
                types_intern(types, ".F", 2, &maker.old_code_name) &&
                types_intern(types, "R", 1, &maker.receiver_name) && closures_add_all(&maker) &&
                find_layouts(&maker) && add_all_candidates(&maker) && add_all_made(&maker);
    map_deinit(&maker.by_name);
    map_deinit(&maker.layouts_by_first);
    map_deinit(&maker.is_layout);
    map_deinit(&maker.layout_of);
    free(maker.layouts.data);
    return good ? NULL : &error_no_memory;
}
