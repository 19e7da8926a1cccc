/*
 * once: the types of the objects held by the functions that sync.OnceValue and sync.OnceValues
 * return.
 *
 * They are instances of generic functions, whose code is the same for all types of one shape, so
 * neither the code nor its DWARF has the type of the result. But the closure ends with the
 * instance's dictionary (cmd/compile/internal/noder), which begins with the type of the function
 * that is called once, "func() T".
 *
 * Until Go 1.24 the closure's captured variables are references to a sync.Once, the function that
 * calls, a bool, an interface, and the one or two results, in this order. Since 1.25 there is one
 * reference, to a struct that begins with the function, and the dictionary has its type.
 */
#include <string.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "typing/fit.h"

enum {
    MOST_RESULTS = 2,
    BEFORE_RESULTS = 5,   /* words of a closure before the results, until Go 1.24 */
    DICTIONARY_WORDS = 6, /* of a dictionary, which has the types twice at most */
};

/* Returns whether a function is the closure of an instance, by its name:
 * "sync.OnceValue[go.shape.*uint8].func1" or, if the call is inlined in main.init,
 * "main.init.OnceValue[go.shape.*uint8].func3". */
static bool is_once_closure(struct g2h_bytes name)
{
    static const char begin[] = ".OnceValue";
    static const char shape[] = "[go.shape.";
    const uint8_t *end = name.data + name.size;
    const uint8_t *at = bytes_find(name, begin);
    if (!at)
        return false;
    at += sizeof(begin) - 1;
    at += at < end && *at == 's';
    return as_size(end - at) >= sizeof(shape) - 1 && memcmp(at, shape, sizeof(shape) - 1) == 0;
}

/* Finds the functions of sync.OnceValue and OnceValues. Looks at all functions, by their names. */
struct g2h_error *typing_find_once(struct typing *typing)
{
    const uint64_t functions = exe_function_count(typing->exe);
    for (uint64_t i = 0; i < functions; i++) {
        struct g2h_bytes name;
        const uint64_t entry = exe_function(typing->exe, i, &name);
        uint32_t first;
        if (is_once_closure(name) && !map_put(&typing->once_by_entry, entry, 1, &first))
            return &error_no_memory;
    }
    return NULL;
}

/* ---- dictionaries ---- */

/* The types of a dictionary, and the names of the results of the function that it begins with. */
struct dictionary {
    uint32_t types[DICTIONARY_WORDS]; /* or TYPE_NONE */
    uint32_t results[MOST_RESULTS];   /* names */
    uint32_t result_count;
};

/* Adds a result by its name. Returns false if no type has the name. */
static bool add_result_name(const struct types *types, struct dictionary *dictionary,
                            const char *name, size_t size)
{
    return dictionary->result_count < MOST_RESULTS &&
           string_pool_find(&types->names, name, size,
                            &dictionary->results[dictionary->result_count++]);
}

/* Finds the results of a type "func() T" or "func() (T, U)". Returns false if it is no such type,
 * or a result is not a known type. */
static bool find_results(const struct types *types, struct dictionary *dictionary)
{
    static const char begin[] = "func() ";
    const struct type *type = types_get(types, dictionary->types[0]);
    size_t size;
    size_t from = sizeof(begin) - 1;
    size_t depth = 0;
    const char *name = string_pool_text(&types->names, type->name, &size);
    if (type->kind != TYPE_FUNC || size <= from || memcmp(name, begin, from) != 0)
        return false;
    if (name[from] != '(')
        return add_result_name(types, dictionary, name + from, size - from);
    /* Splits "(T, U)" at the comma that is outside all brackets: T may be "map[[2]int]func(a, b
     * int)". */
    from++;
    size--;
    for (size_t i = from; i < size; i++) {
        depth += strchr("([{", name[i]) != NULL;
        depth -= strchr(")]}", name[i]) != NULL;
        if (depth == 0 && name[i] == ',') {
            if (!add_result_name(types, dictionary, name + from, i - from))
                return false;
            from = i + 2; /* after ", " */
        }
    }
    return from < size && add_result_name(types, dictionary, name + from, size - from);
}

/* Reads a dictionary: the function's type and those of its results. Returns false if there is none
 * at the address, which must be outside of the heap, and begin with a function type that has such
 * results. */
static bool read_dictionary(const struct typing *typing, uint64_t address, struct dictionary *ret)
{
    const uint64_t word = typing->heap->params.pointer_size;
    *ret = (struct dictionary){.result_count = 0};
    if (address == 0 || in_heap_range(typing->heap, address))
        return false;
    for (unsigned i = 0; i < DICTIONARY_WORDS; i++) {
        ret->types[i] = types_at(typing->types, typing_word(typing, address + i * word));
        if (i == 0 && (ret->types[0] == TYPE_NONE || !find_results(typing->types, ret)))
            return false;
    }
    return true;
}

/* Returns the type of the struct that the closure refers to since Go 1.25, or TYPE_NONE: the type
 * in the dictionary whose first field is the function. */
static uint32_t struct_in_dictionary(const struct typing *typing,
                                     const struct dictionary *dictionary)
{
    for (unsigned i = 1; i < DICTIONARY_WORDS; i++) {
        if (dictionary->types[i] == TYPE_NONE)
            continue;
        const struct type *type = typer_type_of(typing, dictionary->types[i]);
        if (type->kind == TYPE_STRUCT && type->field_count > 0 &&
            typing->types->fields.data[type->first_field].type == dictionary->types[0])
            return dictionary->types[i];
    }
    return TYPE_NONE;
}

/* Returns the type of a result, which the dictionary has under the name of the result, or
 * TYPE_NONE. */
static uint32_t result_type(const struct typing *typing, const struct dictionary *dictionary,
                            uint32_t number)
{
    for (unsigned i = 1; i < DICTIONARY_WORDS; i++)
        if (dictionary->types[i] != TYPE_NONE &&
            typer_type_of(typing, dictionary->types[i])->name == dictionary->results[number])
            return dictionary->types[i];
    return TYPE_NONE;
}

/* ---- closures ---- */

/* Proposes a type, if there is one, for the object that a word of a closure refers to. */
static void propose_captured(struct typer *typer, const struct g2h_object *closure, unsigned index,
                             uint32_t type)
{
    const struct g2h_heap *heap = typer->typing->heap;
    const uint64_t value =
        heap_word(heap, closure->contents.data + index * (uint64_t)heap->params.pointer_size);
    const uint32_t target = heap_find(heap, value);
    const struct reference reference = {
        .value = value, .type = type, .source = SOURCE_CLOSURE, .form = REFERENCE_VALUE};
    if (type != TYPE_NONE && target != NO_TARGET)
        typer_propose(typer, target, value - heap_address(heap, target), &reference);
}

/* Types what the closures of sync.OnceValue and OnceValues hold. The closure does not say which
 * release's form it has, so each possible position of the dictionary is tried: no other word is the
 * address of one. */
void typer_follow_once(struct typer *typer, const struct g2h_object *closure, uint64_t code)
{
    const struct typing *typing = typer->typing;
    const uint64_t word = typing->heap->params.pointer_size;
    const uint64_t words = closure->contents.size / word;
    struct dictionary dictionary;
    if (!typing->once_by_entry.entries || map_get(&typing->once_by_entry, code) == MAP_NONE)
        return;
    if (words > 2 &&
        read_dictionary(typing, heap_word(typing->heap, closure->contents.data + 2 * word),
                        &dictionary))
        propose_captured(typer, closure, 1, struct_in_dictionary(typing, &dictionary));
    for (unsigned i = 1; i <= MOST_RESULTS && words > BEFORE_RESULTS + i; i++) {
        const uint64_t at = (BEFORE_RESULTS + i) * word;
        if (!read_dictionary(typing, heap_word(typing->heap, closure->contents.data + at),
                             &dictionary) ||
            dictionary.result_count != i)
            continue;
        for (unsigned j = 0; j < i; j++)
            propose_captured(typer, closure, BEFORE_RESULTS + j,
                             result_type(typing, &dictionary, j));
    }
}
