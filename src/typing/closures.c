/*
 * closures: what func values point to, by the code they begin with.
 *
 * A closure is {code, captured variables …}. DWARF of Go 1.23 and later has the captured variables;
 * a method value, "main.(*T).M-fm", holds its receiver. Of others only the function is known.
 *
 * What DWARF calls "&x", a pointer, is a captured reference, or else a value that the compiler does
 * not keep in registers: then the pointer is the function's own, and the closure has all of x.
 */
#include <stdlib.h>
#include <string.h>

#include "typing/typer.h"

struct maker {
    struct typing *typing;
    struct types *types;
    struct map by_name; /* string → type */
    uint32_t code;      /* type: uintptr */
    uint32_t code_name;
    uint32_t receiver_name;
};

static bool contains(const struct g2h_bytes *text, const char *part)
{
    return memmem(text->data, (size_t)text->size, part, strlen(part)) != NULL;
}

/* A function that is a closure, a method value or a wrapper of a go or defer statement. */
static bool may_be_closure(const struct g2h_bytes *name)
{
    return contains(name, ".func") || contains(name, "wrap") || contains(name, "-fm") ||
           contains(name, "-range");
}

static bool map_names(struct maker *maker)
{
    for (size_t i = 0; i < maker->types->list.count; i++) {
        uint32_t first;
        if (!map_put(&maker->by_name, maker->types->list.data[i].name, (uint32_t)i, &first))
            return false;
    }
    return true;
}

static uint32_t find_name(const struct maker *maker, const char *text, size_t size)
{
    uint32_t name;
    if (!string_pool_find(&maker->types->names, text, size, &name))
        return TYPE_NONE;
    return map_get(&maker->by_name, name); /* MAP_NONE == TYPE_NONE */
}

/* The receiver's type of "main.(*T).M-fm" or "main.T.M-fm"; TYPE_NONE. */
static uint32_t receiver_of(const struct maker *maker, const struct g2h_bytes *name)
{
    const char *text = (const char *)name->data;
    size_t size = (size_t)name->size;
    char buffer[512];
    if (size < 4 || memcmp(text + size - 3, "-fm", 3) != 0 || size > sizeof(buffer) - 2)
        return TYPE_NONE;
    const char *dot = memrchr(text, '.', size);
    if (!dot || dot == text)
        return TYPE_NONE;
    size = (size_t)(dot - text);
    const char *star = memmem(text, size, "(*", 2);
    if (!star)
        return find_name(maker, text, size);
    if (text[size - 1] != ')')
        return TYPE_NONE;
    const size_t package = (size_t)(star - text), rest = size - package - 3;
    buffer[0] = '*';
    memcpy(buffer + 1, text, package);
    memcpy(buffer + 1 + package, star + 2, rest);
    return find_name(maker, buffer, 1 + package + rest);
}

static bool add_field(struct maker *maker, struct type *type, uint32_t name, uint32_t number,
                      uint64_t offset)
{
    if (number >= maker->types->list.count || offset < type->size || offset > UINT32_MAX ||
        maker->types->list.data[number].size > UINT32_MAX)
        return true; /* damage: fields ascend, and a closure is small */
    struct type_field field = {.name = name, .type = number, .offset = offset};
    type->field_count++;
    type->size = offset + maker->types->list.data[number].size;
    return vector_push(&maker->types->fields, field);
}

/* The type of x, if DWARF has "&x" of a captured variable; TYPE_NONE. */
static uint32_t value_of(const struct types *types, const struct debug_captured *captured)
{
    enum { MOST_BY_VALUE = 128 }; /* cmd/compile/internal/escape.(*batch).finish */
    size_t size;
    const char *name = string_pool_text(&types->names, captured->name, &size);
    if (size < 2 || name[0] != '&' || captured->type >= types->list.count ||
        types->list.data[captured->type].kind != TYPE_POINTER)
        return TYPE_NONE;
    const uint32_t value = types->list.data[captured->type].elem;
    return value < types->list.count && types->list.data[value].size <= MOST_BY_VALUE ? value
                                                                                      : TYPE_NONE;
}

/* Where the next variable is tells references from values; of the last one the object will. */
static bool is_value(const struct types *types, const struct debug_captured *captured, bool is_last,
                     bool last_is_value)
{
    const uint32_t value = value_of(types, captured);
    if (value == TYPE_NONE || is_last)
        return value != TYPE_NONE && last_is_value;
    const uint64_t size = types->list.data[value].size;
    return size > types->pointer_size && captured[1].offset - captured->offset >= size;
}

static bool add_captured(struct maker *maker, struct type *type,
                         const struct debug_captured *captured, size_t count, bool last_is_value)
{
    struct types *types = maker->types;
    for (size_t i = 0; i < count; i++) {
        uint32_t name = captured[i].name, number = captured[i].type;
        if (is_value(types, &captured[i], i + 1 == count, last_is_value)) {
            size_t size;
            char text[256];
            const char *all = string_pool_text(&types->names, name, &size);
            size = size - 1 < sizeof(text) ? size - 1 : sizeof(text);
            memcpy(text, all + 1, size); /* the pool may move when it grows */
            if (!types_intern(types, text, size, &name))
                return false;
            number = value_of(types, &captured[i]);
        }
        if (!add_field(maker, type, name, number, captured[i].offset))
            return false;
    }
    return true;
}

/* last_is_value: what a closure is where the last captured variable is no reference. */
static bool add_closure(struct maker *maker, uint64_t entry, const struct g2h_bytes *name,
                        const struct debug_captured *captured, size_t count, bool last_is_value)
{
    struct types *types = maker->types;
    const uint64_t word = types->pointer_size;
    struct type type = {.kind = TYPE_STRUCT,
                        .role = ROLE_CLOSURE,
                        .pointer_bytes = UINT64_MAX,
                        .elem = TYPE_NONE,
                        .key = TYPE_NONE,
                        .header = TYPE_NONE,
                        .first_field = (uint32_t)types->fields.count};
    char text[1024];
    const size_t size = name->size < sizeof(text) - 5 ? (size_t)name->size : sizeof(text) - 5;
    uint32_t number, first;
    memcpy(text, "func ", 5);
    memcpy(text + 5, name->data, size);
    if (!types_intern(types, text, size + 5, &type.name) ||
        !add_field(maker, &type, maker->code_name, maker->code, 0))
        return false;
    const uint32_t receiver = count == 0 ? receiver_of(maker, name) : TYPE_NONE;
    if (receiver != TYPE_NONE && !add_field(maker, &type, maker->receiver_name, receiver, word))
        return false;
    if (!add_captured(maker, &type, captured, count, last_is_value))
        return false;
    type.size = (type.size + word - 1) / word * word;
    return types_add(types, &type, &number) &&
           map_put(last_is_value ? &maker->typing->closure_of_value
                                 : &maker->typing->closure_by_entry,
                   entry, number, &first);
}

static bool add_all(struct maker *maker)
{
    const struct g2h_exe *exe = maker->typing->exe;
    const struct debug *debug = maker->typing->debug;
    const uint64_t slide = exe_slide(exe);
    for (size_t i = 0; i < debug->captured.count;) {
        const struct debug_captured *captured = &debug->captured.data[i];
        size_t count = 1;
        struct g2h_line line;
        while (i + count < debug->captured.count && captured[count].entry == captured->entry)
            count++;
        i += count;
        if (!g2h_exe_line(exe, captured->entry + slide, &line))
            continue;
        if (!add_closure(maker, captured->entry + slide, &line.function, captured, count, false) ||
            (value_of(maker->types, &captured[count - 1]) != TYPE_NONE &&
             !add_closure(maker, captured->entry + slide, &line.function, captured, count, true)))
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

struct g2h_error *typing_add_closures(struct typing *typing, struct types *types)
{
    struct maker maker = {.typing = typing, .types = types};
    struct type code = {.kind = TYPE_UINTPTR,
                        .size = types->pointer_size,
                        .elem = TYPE_NONE,
                        .key = TYPE_NONE,
                        .header = TYPE_NONE};
    bool good = map_names(&maker) && types_intern(types, "uintptr", 7, &code.name) &&
                types_add(types, &code, &maker.code) &&
                types_intern(types, "F", 1, &maker.code_name) &&
                types_intern(types, "R", 1, &maker.receiver_name) && add_all(&maker);
    map_deinit(&maker.by_name);
    return good ? NULL : &error_no_memory;
}
