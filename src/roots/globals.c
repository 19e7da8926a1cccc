/*
 * globals: the pointers of the data and bss segments.
 *
 * The name of each word is its address, below its segment. If an executable with symbols is given,
 * it is the name of its variable, below the variable's package. A variable whose words point to
 * several objects, a struct or an array, has a node of its own, and so has one that leads to such a
 * value in data: what these words hold together, the variable holds. If the executable is stripped,
 * a word is called after the function that sets it, below that function's package; but the words of
 * the first thread's record, which is a variable, are the runtime's: m0.allpSnapshot leads to
 * everything that the runtime knows.
 */
#include "base/contract.h"
#include "roots/builder.h"

#include <string.h>

#include "base/memory.h"
#include "heap/pointers.h"

/* Returns the size of the package in a variable's symbol, which ends at the first dot after the
 * last slash; 0 if the symbol has no package. */
static size_t package_size(const struct g2h_bytes *name)
{
    size_t size = 0;
    for (size_t i = 0; i < name->size; i++) {
        if (name->data[i] == '/')
            size = 0;
        else if (name->data[i] == '.' && size == 0)
            size = i;
    }
    return size;
}

/*
 * Packages whose variables are not the program's, and why. The library's only remember: they point
 * to what other memory holds, often into the middle of a struct that owns half of the program, and
 * would take it away from the variable or frame that keeps it. What nothing else holds is still
 * theirs. Others were examined and do hold, because nothing but the program itself removes what
 * they have: children of a context, http.DefaultTransport and DefaultServeMux, net/rpc, expvar,
 * os/signal; or because they made it themselves: caches of reflect, encoding/json, encoding/gob,
 * mime, net; and the writers and handlers of log and log/slog.
 */
static const struct {
    const char *package; /* with a slash at its end: those below it */
    const char *why;
} remembering[] = {
    {"runtime", "the runtime itself"},
    {"runtime/internal/", "the runtime itself"},
    {"internal/runtime/", "the runtime itself"},
    {"sync", "allPools and oldPools list each sync.Pool in use, until two collections later"},
    {"unique", "uniqueMaps lists each value that has a Handle, until no Handle is left"},
    {"crypto/tls", "clientCertCache lists certificates, until no connection uses them"},
    {"flag", "CommandLine points into the structs that flags are parsed into"},
    {"runtime/pprof", "profiles list the objects that a profile of the program's own counts"},
};

/* Returns whether the variables of a package only remember, or are the runtime's. */
static bool globals_only_remember(const struct g2h_bytes *package)
{
    for (size_t i = 0; i < COUNT_OF(remembering); i++) {
        const char *listed = remembering[i].package;
        if (listed[strlen(listed) - 1] == '/' ? bytes_begin(*package, listed)
                                              : bytes_are(*package, listed))
            return true;
    }
    return false;
}

/* Adds the node of a package: below (globals), or directly below (GC roots) if its variables are
 * not the program's. Returns false if memory runs out. */
static bool add_package(struct builder *builder, const struct g2h_bytes *package, uint32_t name,
                        uint32_t *ret)
{
    struct roots *roots = builder->roots;
    const uint64_t key = id_hash_text(package->data, package->size);
    const bool is_rest = globals_only_remember(package);
    if (!roots_add_node(roots, G2H_NODE_PACKAGE, key, name, ret) ||
        !map_put(&builder->packages, name, *ret, ret))
        return false;
    uint32_t above = builder->globals;
    uint32_t first = root_group_index(G2H_NODE_BSS);
    if (is_rest) {
        roots->nodes.data[*ret].tier = TIER_REST;
        above = roots->gc_roots;
        first = root_group_index(G2H_NODE_MAPPINGS);
    }
    return builder_add_edge(builder, node_synthetic(above), EDGE_ELEMENT,
                            first + as_u32(builder->packages.count), node_synthetic(*ret));
}

/* Gets the node of a package; adds it if it is new. Returns false if memory runs out. */
static bool package_node(struct builder *builder, const struct g2h_bytes *package, uint32_t *ret)
{
    uint32_t name;
    struct text text = {0};
    text_append_name(&text, builder->names, package->data, package->size, NAME_LIMIT);
    const bool good = !text.failed && names_add_node(builder->names, text.data, text.size, &name) &&
                      (!bytes_are(*package, "runtime") ||
                       name_uses_add(&builder->names->uses, name, G2H_NAME_OF_RUNTIME));
    text_deinit(&text);
    if (!good)
        return false;
    *ret = map_get(&builder->packages, name);
    return *ret != MAP_NONE || add_package(builder, package, name, ret);
}

/* Notes that the text ends with the name of a variable, and where that variable begins. */
static void name_ends(struct builder *builder, uint64_t address)
{
    builder->named_at = address;
    builder->named_size = builder->text.size;
}

/* Splits a symbol into the variable's package and its name in the package, which is returned. */
static struct g2h_bytes split_name(struct g2h_bytes name, struct g2h_bytes *ret_package)
{
    const size_t size = package_size(&name);
    *ret_package = (struct g2h_bytes){name.data, size};
    return (struct g2h_bytes){name.data + size + (size > 0), name.size - size - (size > 0)};
}

/* Appends the name of a word by DWARF: the variable, and the path to the word in it. Returns false,
 * and appends nothing, if DWARF has no variable there. */
static bool append_typed_global(struct builder *builder, uint64_t address,
                                struct g2h_bytes *ret_package)
{
    const struct typing *typing = builder->typing;
    uint64_t offset;
    const struct dwarf_global *global = typing ? typing_global(typing, address, &offset) : NULL;
    if (!global)
        return false;
    const struct g2h_bytes variable =
        split_name(types_text(typing->types, global->name), ret_package);
    builder_append(builder, &variable);
    name_ends(builder, address - offset);
    builder_append_path(builder, global->type, offset);
    return true;
}

/* Returns whether the compiler generated the variable, such as main..stmp_4. */
static bool globals_is_made(const struct g2h_bytes *variable)
{
    return variable->size > 0 && variable->data[0] == '.';
}

/* Appends the name of a word by the symbol table: the variable, and the offset in it. made selects
 * whether compiler-generated variables, or only others, are used. */
static bool append_symbol(struct builder *builder, uint64_t address, bool made,
                          struct g2h_bytes *ret_package)
{
    struct g2h_bytes name;
    uint64_t offset;
    if (!builder->exe || !g2h_exe_variable(builder->exe, address, &name, &offset))
        return false;
    const struct g2h_bytes variable = split_name(name, ret_package);
    if (globals_is_made(&variable) != made)
        return false;
    builder_append(builder, &variable);
    name_ends(builder, address - offset);
    if (offset > 0)
        text_printf(&builder->text, ".f%llu", (unsigned long long)offset);
    return true;
}

/* Returns whether a function is of a package whose variables are not the program's: they only
 * remember, or are the runtime's. */
static bool only_remembers(const struct builder *builder, uint32_t function)
{
    struct g2h_bytes name, package;
    exe_function(builder->exe, function, &name);
    split_name(name, &package);
    return globals_only_remember(&package);
}

/* Appends the field of a variable without type that a word is: ".f40"; or ".f40[2]", or "[2]", if
 * the like is at equal distances. */
static void append_field(struct builder *builder, uint64_t start, uint64_t address)
{
    const uint32_t index = map_get(&builder->word_at, address);
    const struct variable_word *word = index != MAP_NONE ? &builder->words.data[index] : NULL;
    const bool is_of_array = word && word->first >= start;
    const uint64_t field = is_of_array ? word->first : address;
    if (!is_of_array || field > start)
        text_printf(&builder->text, ".f%llu", (unsigned long long)(field - start));
    if (is_of_array)
        text_printf(&builder->text, "[%llu]",
                    (unsigned long long)((address - word->first) / word->distance));
}

/* Returns where the variable begins that a value is in: at the address that code takes last before
 * it, if only by that address does code reach it. If a value begins there, too, both are fields,
 * unless it has no pointers: a lock is no variable beside pointers, but begins a struct. */
static uint64_t variable_of_value(const struct builder *builder, const struct static_value *value)
{
    const struct static_user *last = typing_last_user(builder->typing, value->address);
    const uint64_t start = last && last->is_address && value->is_reached
                               ? last->address + exe_slide(builder->exe)
                               : value->address;
    const struct static_value *first = typing_static_value(builder->typing, start);
    const struct pointer_map *map =
        first ? pointer_map_of(&builder->typing->pointer_maps, first->type) : NULL;
    return map && map->field_count > 0 ? value->address : start;
}

/* Appends the position of a word in a value. */
static void append_in_value(struct builder *builder, const struct static_value *value,
                            uint64_t address)
{
    uint64_t offset = address - value->address;
    if (value->distance != 0) {
        text_printf(&builder->text, "[%llu]", (unsigned long long)(offset / value->distance));
        offset %= value->distance;
    }
    builder_append_path(builder, value->type, offset);
}

/* Returns the function that code shows to use a word, or NULL: the word itself; the value that it
 * is in; the array whose bounds code checks; and, unless is_exact, the address before that array or
 * before the word, or the variable of the array that it is an element of. */
static const struct static_user *user_of_word(const struct builder *builder, uint64_t address,
                                              const struct static_value *value, bool is_exact)
{
    const struct typing *typing = builder->typing;
    const struct static_user *user = typing_user(typing, address, is_exact);
    if (!user && value)
        user = typing_user(typing, variable_of_value(builder, value), true);
    const uint64_t bounded = typing_bounded_array_at(typing, address);
    if (!user && bounded != 0)
        user = typing_user(typing, bounded, true);
    if (!user && !is_exact)
        user = typing_user_before(typing, bounded != 0 ? bounded : address);
    const uint32_t element = user ? MAP_NONE : map_get(&builder->word_at, address);
    return element != MAP_NONE && !is_exact
               ? typing_user(typing, builder->words.data[element].start, true)
               : user;
}

/* Appends the position of a word in an array of which only code is known that uses it: "[3].f8[2]".
 */
static void append_in_array(struct builder *builder, uint64_t array, uint64_t offset,
                            uint32_t distance)
{
    uint64_t field = offset % distance, start;
    uint32_t inner;
    text_printf(&builder->text, "[%llu]", (unsigned long long)(offset / distance));
    if (typing_array_in_element(builder->typing, array, field, &start, &inner)) {
        if (start > 0)
            text_printf(&builder->text, ".f%llu", (unsigned long long)start);
        text_printf(&builder->text, "[%llu]", (unsigned long long)((field - start) / inner));
        field = (field - start) % inner;
    }
    if (field > 0)
        text_printf(&builder->text, ".f%llu", (unsigned long long)field);
}

/* Returns whether the function at entry is of the runtime though its name is in another package, by
 * linkname: reflect.addReflectOff is in runtime/runtime1.go. Only packages of the library are: the
 * program may have a directory src/runtime of its own. */
static bool is_linked_from_runtime(struct builder *builder, const struct g2h_bytes *package,
                                   uint64_t entry)
{
    struct g2h_line line;
    return !bytes_are(*package, "main") && !bytes_contain(*package, ".") &&
           exe_line(builder->exe, entry, &builder->lines_left, &line) &&
           pclntab_is_runtime_file(line.file);
}

/* Appends the function that uses a word, if the executable has no symbols, and the position of the
 * word in its variable, if it is known where that begins: "global set by main.add cache.go:31
 * (0x574f20)[5]". *ret_package becomes that of the function. is_exact: only if code uses this very
 * word, or shows the type of the variable; otherwise the word may belong to another variable.
 * Returns false if no code is known to use it. */
static bool append_using_function(struct builder *builder, uint64_t address, bool is_exact,
                                  struct g2h_bytes *ret_package)
{
    static const char *const how[] = {"used", "initialized", "used", "set"};
    const struct typing *typing = builder->typing;
    if (!typing)
        return false;
    const struct static_value *value = typing_static_value(typing, address);
    const struct static_user *user = user_of_word(builder, address, value, is_exact);
    struct g2h_bytes name;
    if (!user)
        return false;
    /* What uses flag.CommandLine may be inlined in functions of the program. */
    const bool is_listing = user->is_initialized && !only_remembers(builder, user->function) &&
                            only_remembers(builder, user->initializer);
    const uint32_t function = is_listing ? user->initializer : user->function;
    const uint32_t at = is_listing ? user->initialized_at : user->at;
    const uint64_t entry = exe_function(builder->exe, function, &name);
    uint32_t distance = 0;
    const uint64_t array = value ? 0 : typing_array_at(typing, address, &distance);
    uint64_t start = user->address + exe_slide(builder->exe);
    if (array != 0)
        start = array;
    else if (value)
        start = variable_of_value(builder, value);
    const uint64_t offset = address - start;
    split_name(name, ret_package);
    if (is_linked_from_runtime(builder, ret_package, entry))
        *ret_package = bytes_of("runtime");
    text_printf(&builder->text, "global %s by ", how[is_listing ? STATIC_INITIALIZED : user->how]);
    builder_append(builder, &name);
    builder_append_line(builder, entry + at);
    text_printf(&builder->text, " (0x%llx)", (unsigned long long)start);
    name_ends(builder, start);
    if (value) {
        if (value->address > start)
            text_printf(&builder->text, ".f%llu", (unsigned long long)(value->address - start));
        append_in_value(builder, value, address);
    } else if (array != 0) {
        append_in_array(builder, array, offset, distance);
    } else if (offset > 0)
        append_field(builder, start, address);
    return true;
}

/* Finds the record of the first thread among those of the dump: the only one that is not in the
 * heap. */
static void find_first_thread(struct builder *builder)
{
    const struct g2h_heap *heap = builder->heap;
    builder->first_thread.type = TYPE_NONE;
    for (size_t i = 0; builder->typing && i < heap->records[G2H_RECORD_OSTHREAD].count; i++) {
        struct g2h_record record;
        g2h_heap_record(heap, G2H_RECORD_OSTHREAD, i, &record);
        if (heap_find(heap, record.osthread.m) == UINT32_MAX)
            builder->first_thread = (struct first_thread){
                record.osthread.m, types_find(builder->typing->types, "runtime.m")};
    }
}

/* Appends the name of a word in the record of the first thread. Returns false if it is not
 * there. */
static bool append_first_thread(struct builder *builder, uint64_t address,
                                struct g2h_bytes *ret_package)
{
    const struct first_thread *thread = &builder->first_thread;
    const uint64_t offset = address - thread->address;
    if (thread->type == TYPE_NONE || offset >= types_size(builder->typing->types, thread->type))
        return false;
    *ret_package = bytes_of("runtime");
    text_printf(&builder->text, "m0");
    name_ends(builder, thread->address);
    builder_append_path(builder, thread->type, offset);
    return true;
}

/* Appends the variable that contains the word at an address of data or bss, without its package,
 * and sets *ret_package to the package's name. Returns false, and appends nothing, if none is
 * known. */
bool builder_append_global(struct builder *builder, uint64_t address, struct g2h_bytes *ret_package)
{
    return append_typed_global(builder, address, ret_package) ||
           append_symbol(builder, address, false, ret_package) ||
           append_first_thread(builder, address, ret_package) ||
           append_using_function(builder, address, true, ret_package);
}

/* Orders pointers by value, then by their own address. */
static int compare_static_pointers(const void *a, const void *b)
{
    const struct static_pointer *one = a;
    const struct static_pointer *other = b;
    if (one->value != other->value)
        return COMPARE(one->value, other->value);
    return COMPARE(one->address, other->address);
}

/* Adds the pointers of data or bss that do not lead to objects, if the executable has no symbols.
 * Returns false if memory runs out. */
static bool find_static_pointers(struct builder *builder, enum g2h_record_kind kind)
{
    const struct g2h_heap *heap = builder->heap;
    struct pointers pointers;
    uint64_t offset, value;
    if (!builder->typing || builder->typing->static_words->users.count == 0)
        return true;
    for (size_t i = 0; i < heap->records[kind].count; i++) {
        struct g2h_record record;
        g2h_heap_record(heap, kind, i, &record);
        pointers_of_fields(heap, record.segment.contents, record.segment.fields, &pointers);
        while (pointers_next(&pointers, &offset, &value)) {
            const struct static_pointer added = {value, record.segment.address + offset};
            if (heap_find(heap, value) == UINT32_MAX &&
                !vector_push(&builder->static_pointers, added))
                return false;
        }
    }
    return true;
}

/* Returns whether code uses a word only to initialize its package: it may be a part of the value of
 * var cache = &Cache{items: map[K]V{}}, which other code uses by the pointer. */
static bool is_only_initialized(const struct builder *builder, uint64_t address)
{
    const struct static_user *user =
        builder->typing ? typing_user(builder->typing, address, true) : NULL;
    return user && user->how <= STATIC_INITIALIZED;
}

/* Returns whether only a function of the runtime uses a word, or words before it: these may belong
 * to an array of the runtime, and this one to the value that a variable points to. */
static bool is_near_runtime(const struct builder *builder, uint64_t address)
{
    const struct static_user *user =
        builder->typing ? typing_user(builder->typing, address, false) : NULL;
    struct g2h_bytes name;
    if (!user || user->address + exe_slide(builder->exe) == address)
        return false;
    exe_function(builder->exe, user->function, &name);
    return bytes_begin(name, "runtime.");
}

/* The most bytes after the target of a pointer that may be of the value there, and the most
 * pointers that are tried to get from a word to the variable that leads there. */
enum { MOST_OF_VALUE = 4096, MOST_POINTERS = 16 };

/* Returns whether code uses what is between the beginning of a value and a word behind it, other
 * than to initialize a package, or at all if the word is far behind: then another variable may
 * begin there. */
static bool is_used_between(const struct builder *builder, uint64_t value, uint64_t address)
{
    enum { NEAR = 256 };
    const struct static_user *user =
        builder->typing ? typing_last_user(builder->typing, address) : NULL;
    return user && user->address + exe_slide(builder->exe) > value &&
           (address - value >= NEAR || user->how > STATIC_INITIALIZED);
}

/* Returns where the value begins that a word is in, in an executable without symbols: where code
 * shows that one begins, or where the nearest pointer leads that is before the word, as to the
 * Cache of var cache = &Cache{}. Returns 0 if neither is near. */
static uint64_t unnamed_value_at(const struct builder *builder, uint64_t address)
{
    const struct static_pointer *list = builder->static_pointers.data;
    const struct static_value *known =
        builder->typing ? typing_static_value(builder->typing, address) : NULL;
    size_t i;
    BISECT(i, builder->static_pointers.count, list[i].value <= address);
    assert(i == 0 || i == builder->static_pointers.count || list[i - 1].value <= list[i].value);
    const bool is_near = i > 0 && address - list[i - 1].value < MOST_OF_VALUE;
    const uint64_t begin = known ? known->address : address;
    const uint64_t extent = builder->typing ? typing_extent_at(builder->typing, begin) : 0;
    if (!is_near || extent > list[i - 1].value || begin - list[i - 1].value >= MOST_OF_VALUE ||
        is_used_between(builder, list[i - 1].value, begin))
        return known ? variable_of_value(builder, known) : 0;
    const struct static_user *user =
        builder->typing ? typing_user(builder->typing, begin, false) : NULL;
    if (!user && builder->typing)
        user = typing_user_before(builder->typing, begin);
    /* What code uses by its own address, or by one before it, is a variable, and not a field of the
     * value before that, unless code only initializes it, as the fields of var cache =
     * &Cache{...}. */
    if (!user || user->how <= STATIC_INITIALIZED ||
        user->address + exe_slide(builder->exe) <= list[i - 1].value)
        return list[i - 1].value;
    return known ? variable_of_value(builder, known) : 0;
}

/* Appends the variable that points to the value that a word is in, as in var cache = &Cache{}, if
 * the executable has no symbols, and the position of the word in the value. Of the values before
 * the word it is the nearest. What points there may be in such a value itself. Returns false if
 * none is near, or no code uses what leads there. *left is how many of those are still tried. */
static bool append_static_pointer(struct builder *builder, uint64_t address, unsigned *left,
                                  struct g2h_bytes *ret_package)
{
    const struct static_pointer *list = builder->static_pointers.data;
    size_t i;
    BISECT(i, builder->static_pointers.count, list[i].value <= address);
    const uint64_t offset = i > 0 ? address - list[i - 1].value : UINT64_MAX;
    if (i == 0 || unnamed_value_at(builder, address) != list[i - 1].value)
        return false; /* code shows that another variable begins in between */
    for (; offset < MOST_OF_VALUE && i > 0 && list[i - 1].value == address - offset; i--) {
        const uint64_t pointer = list[i - 1].address;
        const bool is_exact = is_near_runtime(builder, pointer), /* else it may be an element */
            is_used = !is_only_initialized(builder, pointer) &&
                      append_using_function(builder, pointer, is_exact, ret_package);
        if (!is_used) {
            const bool may_try = *left > 0;
            *left -= may_try;
            if (!may_try || (!append_static_pointer(builder, pointer, left, ret_package) &&
                             !append_using_function(builder, pointer, true, ret_package)))
                continue;
        }
        name_ends(builder, address - offset);
        const struct static_value *value = typing_static_value(builder->typing, address);
        const uint64_t begin =
            value && value->address > list[i - 1].value ? value->address - list[i - 1].value : 0;
        if (begin == 0 && offset > 0)
            append_field(builder, address - offset, address);
        if (begin > 0) {
            text_printf(&builder->text, ".f%llu", (unsigned long long)begin);
            append_in_value(builder, value, address);
        }
        return true;
    }
    return false;
}

/* Returns whether a pointer leads to a value that begins between a word and what code uses before
 * it: the &Cache{} of var hub = &Hub{cache: &Cache{}}, which no code names, is often directly after
 * a variable of one word whose address code takes. */
static bool is_after_pointer_target(const struct builder *builder, uint64_t address)
{
    const struct typing *typing = builder->typing;
    uint32_t distance;
    if (!typing || typing_static_value(typing, address) ||
        typing_array_at(typing, address, &distance) != 0)
        return false;
    const struct static_user *user = typing_user(typing, address, false);
    if (!user)
        user = typing_user_before(typing, address);
    return user && unnamed_value_at(builder, address) > user->address + exe_slide(builder->exe);
}

/* Returns the package of the variable at an address, or an empty one if it has none. */
static struct g2h_bytes package_of(struct builder *builder, uint64_t address)
{
    struct g2h_bytes package = {(const uint8_t *)"", 0};
    const size_t size = builder->text.size;
    const size_t named_size = builder->named_size;
    const uint64_t named_at = builder->named_at;
    builder_append_global(builder, address, &package);
    builder->text.size = size;
    builder->named_size = named_size;
    builder->named_at = named_at;
    return package;
}

/* Makes the name of the word at an address, and gets the node below which it is added: the
 * variable, below its package; or the path from a variable that leads there, below that variable's
 * package; or, below the package of what it is about, what a symbol, a pointer that the file has
 * there, or the function that uses it says; or the address, below its segment. Returns false if
 * memory runs out. */
static bool name_global(struct builder *builder, uint64_t address, uint32_t segment,
                        uint32_t *ret_parent)
{
    struct g2h_bytes package = {(const uint8_t *)"", 0};
    const struct outside_holder *holder;
    unsigned left = MOST_POINTERS;
    builder->text.size = 0;
    *ret_parent = segment;
    name_ends(builder, address);
    if ((is_only_initialized(builder, address) || is_near_runtime(builder, address)) &&
        append_static_pointer(builder, address, &left, &package))
        return package_node(builder, &package, ret_parent);
    if (!builder_append_global(builder, address, &package)) {
        if ((holder = builder_append_path_to(builder, address, HOLDER_WORD)) != NULL)
            package = package_of(builder, holder->offset);
        else if (!append_symbol(builder, address, true, &package) &&
                 !(is_after_pointer_target(builder, address) &&
                   append_static_pointer(builder, address, &left, &package)) &&
                 !append_using_function(builder, address, false, &package) &&
                 !append_static_pointer(builder, address, &left, &package))
            text_printf(&builder->text, "0x%llx", (unsigned long long)address);
    }
    return package.size == 0 || package_node(builder, &package, ret_parent);
}

/* ---- variables of several words ---- */

/* Returns where the variable begins that a word is in, in an executable without symbols: an array
 * of which code uses elements, or a struct of which code takes the address, if no code uses the
 * word itself. Returns 0 if there is none. */
static uint64_t unnamed_variable_at(const struct builder *builder, uint64_t address)
{
    uint32_t distance;
    const uint64_t array = typing_array_at(builder->typing, address, &distance);
    const struct static_user *user = typing_user_before(builder->typing, address);
    const uint32_t index = map_get(&builder->word_at, address);
    if (array == 0 && !user && index != MAP_NONE)
        return builder->words.data[index].start;
    return array == 0 && user ? user->address + exe_slide(builder->exe) : array;
}

/* Returns where the variable begins that has a word of data or bss, or 0 if it is not known. Asks,
 * in this order: DWARF, the symbols, the values that the linker laid out without a name, and the
 * code that uses it. */
static uint64_t variable_with_word(const struct builder *builder, uint64_t address)
{
    const struct typing *typing = builder->typing;
    struct g2h_bytes name, package;
    uint64_t offset;
    if (typing && typing_global(typing, address, &offset))
        return address - offset;
    if (builder->exe && g2h_exe_variable(builder->exe, address, &name, &offset)) {
        const struct g2h_bytes variable = split_name(name, &package);
        if (!globals_is_made(&variable))
            return address - offset;
    }
    const uint64_t array = typing && !typing_static_value(typing, address)
                               ? typing_bounded_array_at(typing, address)
                               : 0;
    if (array != 0)
        return array;
    const uint64_t value =
        builder->static_pointers.count > 0 ? unnamed_value_at(builder, address) : 0;
    const uint64_t start = value != 0 || !typing ? value : unnamed_variable_at(builder, address);
    const bool is_alone = typing && (start == 0 || start == address) && /* as far as is known */
                          !typing_static_value(typing, address);
    const uint64_t together = is_alone ? typing_used_together(typing, address) : 0;
    return together != 0 ? together : start;
}

/* Returns where the variable begins that has a word, as variable_with_word(); or, if the word is in
 * a value to which a variable leads, where that variable begins: a field of the Cache of var cache
 * = &Cache{} belongs to cache. Returns 0 if neither is known. */
static uint64_t variable_of_word(const struct builder *builder, uint64_t address)
{
    const struct typing *typing = builder->typing;
    uint64_t offset;
    uint64_t start = variable_with_word(builder, address);
    if (start != 0 || !typing)
        return start;
    const struct outside *outside = &typing->outside;
    const struct outside_value *value = outside_value_at(outside, builder->heap, address, &offset);
    if (!value)
        return 0;
    const struct outside_holder *first = &outside->values.data[value->first].holder;
    return first->kind == HOLDER_WORD ? variable_with_word(builder, first->offset) : 0;
}

/* Returns where the variable begins whose address code takes last before a word, however far that
 * is, if no variable is known to have the word; or 0. */
static uint64_t variable_far_before(const struct builder *builder, uint64_t address)
{
    struct g2h_bytes name;
    const struct static_user *user = builder->static_pointers.count > 0 && builder->typing
                                         ? typing_last_user(builder->typing, address)
                                         : NULL;
    if (!user || !user->is_address)
        return 0;
    exe_function(builder->exe, user->function, &name);
    return bytes_begin(name, "runtime.") ? 0 : user->address + exe_slide(builder->exe);
}

/* Returns whether the first pointer of a variable is that of a sync.Map of before Go 1.24: only
 * these lead to a sync.readOnly, after a lock or, in an interface, after a lock and a type. */
static bool begins_map(const struct builder *builder, uint32_t object, uint64_t offset)
{
    const struct typing *typing = builder->typing;
    if (!typing || offset > 2 * typing->types->pointer_size)
        return false;
    const struct object_type of = typing_object(typing, object);
    return of.form == OBJECT_VALUE &&
           bytes_are(types_name(typing->types, of.type), "sync.readOnly");
}

/* Returns whether the type of the variable is known that a word is in. */
static bool has_type(const struct builder *builder, uint64_t address)
{
    uint64_t offset;
    return builder->typing && (typing_global(builder->typing, address, &offset) ||
                               typing_static_value(builder->typing, address));
}

/* Notes a word of a variable whose type is not known. is_far: it may be another variable's. Returns
 * false if memory runs out. */
static bool note_word(struct builder *builder, uint64_t start, uint64_t address, uint32_t object,
                      bool is_far)
{
    if (builder->static_pointers.count == 0)
        return true;
    const struct object_type of = typing_object(builder->typing, object);
    const uint64_t size = heap_object_size(builder->heap, object),
                   like = of.form == OBJECT_VALUE ? (uint64_t)of.type << 1 : size << 1 | 1;
    const struct variable_word word = {
        .start = start, .address = address, .like = like, .is_far = is_far};
    return vector_push(&builder->words, word);
}

/* Orders words by variable, then those alike by address, with those at last that may be of another
 * variable. */
static int compare_words(const void *a, const void *b)
{
    const struct variable_word *one = a;
    const struct variable_word *other = b;
    if (one->start != other->start)
        return COMPARE(one->start, other->start);
    if (one->like != other->like)
        return COMPARE(one->like, other->like);
    if (one->is_far != other->is_far)
        return one->is_far - other->is_far;
    return COMPARE(one->address, other->address);
}

/* Returns whether two words may be of one array. */
static bool is_like(const struct variable_word *one, const struct variable_word *other)
{
    return one->start == other->start && one->like == other->like && one->is_far == other->is_far;
}

/* Returns the end of the words that go on with an array, at its distance but for a few that are
 * nil: those that may be another variable's come right after the others, which end before end. */
static size_t end_of_far(const struct builder *builder, size_t end, uint64_t distance)
{
    enum { GAP = 4 };
    const struct variable_word *words = builder->words.data;
    assert(end > 0);
    while (end < builder->words.count && words[end].is_far &&
           words[end].start == words[end - 1].start && words[end].like == words[end - 1].like &&
           (words[end].address - words[end - 1].address) % distance == 0 &&
           words[end].address - words[end - 1].address <= GAP * distance)
        end++;
    return end;
}

/* Returns the greatest common divisor of two numbers. */
static uint64_t greatest_divisor(uint64_t one, uint64_t other)
{
    while (other != 0) {
        const uint64_t rest = one % other;
        one = other;
        other = rest;
    }
    return one;
}

/* Finds arrays among the words of variables without types. If words of one variable lead to objects
 * of one type, or of one size if that is not known, and are at equal distances but for a few that
 * are nil, they are of an array: the shards of var cache = &Cache{}, where m is in shards
 * [16]struct{ mu; m }. Its end is where another variable is used. Returns false if memory runs out.
 */
static bool find_arrays(struct builder *builder)
{
    enum { MANY = 4, MANY_SMALL = 8, SMALL = 3 /* words: fields may be strings or slices */ };
    const uint64_t small = (uint64_t)SMALL * builder->heap->params.pointer_size;
    const size_t count = builder->words.count;
    size_t end;
    vector_sort(&builder->words, compare_words);
    for (size_t begin = 0; begin < count; begin = end) {
        struct variable_word *words = builder->words.data;
        uint64_t distance = 0;
        uint64_t first = words[begin].address;
        const uint64_t start = words[begin].start;
        for (end = begin + 1; end < count && is_like(&words[begin], &words[end]); end++)
            distance = greatest_divisor(words[end].address - first, distance);
        const size_t many = distance > small ? MANY : MANY_SMALL;
        /* Not one that only may belong to the variable; too few; or (last) with too many gaps. */
        if (words[begin].is_far || end - begin < many ||
            distance == 0 || /* a damaged dump has one word several times */
            (words[end - 1].address - first) / distance >= 2 * (end - begin))
            continue;
        end = end_of_far(builder, end, distance);
        if (first - start == distance && map_get(&builder->word_at, start) == MAP_NONE) {
            first = start; /* code takes the address of this one, which is no word before it */
            if (!vector_push(&builder->words,
                             ((struct variable_word){start, start, start, distance, 0, false})) ||
                !map_put(&builder->word_at, start, (uint32_t)builder->words.count - 1,
                         &(uint32_t){0}))
                return false;
        }
        for (size_t i = begin; i < end; i++) {
            builder->words.data[i].first = first;
            builder->words.data[i].distance = distance;
            if (!map_put(&builder->word_at, builder->words.data[i].address, (uint32_t)i,
                         &(uint32_t){0}))
                return false;
        }
    }
    return true;
}

/* Notes the variables of a segment, and which of them point to several objects. Returns false if
 * memory runs out. A word whose variable is not known counts for one that begins far before it, if
 * there is one. */
static bool find_variables(struct builder *builder, const struct g2h_segment *segment)
{
    struct pointers pointers;
    uint64_t offset, value;
    if (!builder->exe && !builder->typing)
        return true; /* no variable is known */
    pointers_of_fields(builder->heap, segment->contents, segment->fields, &pointers);
    while (pointers_next(&pointers, &offset, &value)) {
        const uint32_t object = heap_find(builder->heap, value);
        const uint64_t start =
            object != UINT32_MAX ? variable_of_word(builder, segment->address + offset) : 0;
        uint32_t index = as_u32(builder->variables.count);
        const uint64_t address = segment->address + offset,
                       far = object != UINT32_MAX && start == 0
                                 ? variable_far_before(builder, address)
                                 : 0;
        if (far != 0 && !note_word(builder, far, address, object, true))
            return false;
        if (start == 0)
            continue;
        const struct variable added = {.object = object,
                                       .node = UINT32_MAX,
                                       .first = address,
                                       .is_map = begins_map(builder, object, address - start)};
        /* index becomes that of the variable if one of its words has come before. */
        if (!map_put(&builder->variable_at, start, index, &index) ||
            (index == builder->variables.count && !vector_push(&builder->variables, added)))
            return false;
        if (!note_word(builder, start, address, object, false))
            return false;
        struct variable *variable = &builder->variables.data[index];
        variable->has_several = variable->has_several || variable->object != object;
        /* A sync.Map has two pointers, one after the other: to its readOnly, and to the map of
         * entries that are not in that (dirty). */
        if (address != variable->first &&
            address != variable->first + builder->heap->params.pointer_size)
            variable->is_map = false;
    }
    return true;
}

/* Adds the node of a variable, which builder->text names, below its package. The package's name and
 * a dot are put before a name unless that begins with "global " (the variable is known by the code
 * only). Of a sync.Map (is_map), paths leave out the pointers inside of it. Returns false if memory
 * runs out. */
static bool add_variable(struct builder *builder, uint32_t package, bool is_map,
                         struct variable *variable)
{
    static const char of_code[] = "global ";
    const struct text *text = &builder->text;
    const bool has_symbol =
        text->size < strlen(of_code) || memcmp(text->data, of_code, strlen(of_code)) != 0;
    struct roots *roots = builder->roots;
    struct text full = {0};
    uint32_t label, name;
    size_t size;
    const char *of =
        string_pool_text(&builder->names->strings, roots->nodes.data[package].name, &size);
    if (has_symbol) {
        text_append(&full, of, size);
        text_append_string(&full, ".");
    }
    text_append(&full, text->data, text->size);
    const bool good = !full.failed && builder_label(builder, &label) &&
                      names_add_node(builder->names, full.data, full.size, &name) &&
                      (!is_map || name_uses_add(&builder->names->uses, name, G2H_NAME_OF_LINKS)) &&
                      roots_add_node(roots, G2H_NODE_VARIABLE, id_hash_text(full.data, full.size),
                                     name, &variable->node) &&
                      builder_add_edge(builder, node_synthetic(package), EDGE_PROPERTY, label,
                                       node_synthetic(variable->node));
    text_deinit(&full);
    return good;
}

/* Appends to path what a word is called in its variable, which begins at start, without a dot at
 * the begin: "items" of cache.items. *ret_is_map is whether the path is a field of a sync.Map. The
 * words of one whose fields no type names are called read and dirty, as its fields are; others
 * without a name in builder->text, because that is the name of another variable or of this very
 * word, are called by their offset. */
static void path_in_variable(struct builder *builder, uint64_t address, uint64_t start,
                             const struct variable *variable, struct text *path, bool *ret_is_map)
{
    struct text *text = &builder->text;
    const size_t dot = text->size > builder->named_size && text->data[builder->named_size] == '.';
    if (builder->named_at == start)
        text_append(path, text->data + builder->named_size + dot,
                    text->size - builder->named_size - dot);
    *ret_is_map = variable->is_map && (path->size == 0 || !has_type(builder, address));
    if (*ret_is_map) {
        path->size = 0;
        text_append_string(path, address == variable->first ? "read" : "dirty");
    } else if (path->size == 0) {
        const size_t end = text->size;
        append_field(builder, start, address);
        const size_t has_dot = text->size > end && text->data[end] == '.';
        if (!text->failed)
            text_append(path, text->data + end + has_dot, text->size - end - has_dot);
    }
}

/*
 * Names a word within its variable. name_global() has made builder->text, the word's name, whose
 * first named_size bytes name the variable that begins at named_at; and *ret_parent, its package or
 * segment. If the word is one of several of its variable that point to different objects, makes the
 * variable's node *ret_parent, adding that node if this is the first such word, and leaves the path
 * in the variable in builder->text: "items" of cache.items. Otherwise changes nothing; nor does it
 * if the package is not the program's (TIER_REST), whose variables have no nodes. Returns false if
 * memory runs out.
 */
static bool name_in_variable(struct builder *builder, uint64_t address, uint32_t *ret_parent)
{
    const struct synthetic *package = &builder->roots->nodes.data[*ret_parent];
    if (package->kind != G2H_NODE_PACKAGE || package->tier == TIER_REST)
        return true;
    const uint64_t start = variable_of_word(builder, address);
    const uint32_t index = start != 0 ? map_get(&builder->variable_at, start) : MAP_NONE;
    if (index == MAP_NONE || !builder->variables.data[index].has_several)
        return true;
    if (builder->named_at != start && variable_with_word(builder, address) != start)
        return true; /* the path that names it begins elsewhere, and no offset leads there */
    struct text path = {0};
    struct text *text = &builder->text;
    struct variable *variable = &builder->variables.data[index];
    bool is_map;
    path_in_variable(builder, address, start, variable, &path, &is_map);
    text->size = builder->named_size;
    /* The name may be that of this very word, with its address: "global read by main.f (0x5a3c48)".
     * The variable is called by its own. */
    const char *bracket =
        builder->named_at != start && text->size > 0 ? memrchr(text->data, '(', text->size) : NULL;
    if (bracket) {
        text->size = as_size(bracket - text->data);
        text_printf(text, "(0x%llx)", (unsigned long long)start);
    }
    const bool good = !path.failed && (variable->node != UINT32_MAX ||
                                       add_variable(builder, *ret_parent, is_map, variable));
    *ret_parent = variable->node;
    text->size = 0;
    text_append(text, path.data, path.size);
    text_deinit(&path);
    return good && !text->failed;
}

/* Adds an edge for each pointer of data or bss: from its variable, if several of the variable's
 * words lead to objects; or from the variable's package, if that is known; or else from the
 * segment. */
static struct g2h_error *add_segment(struct builder *builder, uint32_t node,
                                     const struct g2h_segment *segment)
{
    struct pointers pointers;
    uint64_t offset, value;
    pointers_of_fields(builder->heap, segment->contents, segment->fields, &pointers);
    while (pointers_next(&pointers, &offset, &value)) {
        uint32_t mapping;
        uint32_t parent = node;
        if (heap_find(builder->heap, value) != UINT32_MAX ||
            builder_find_mapping(builder, value, &mapping)) /* others do not need a package node */
            TRY_MEMORY(name_global(builder, segment->address + offset, node, &parent) &&
                       name_in_variable(builder, segment->address + offset, &parent));
        if (!builder->typing)
            builder_append_dynamic_type(builder, &segment->contents, offset);
        TRY_MEMORY(builder_add_pointer(builder, parent, EDGE_PROPERTY, value));
    }
    return NULL;
}

/* Adds (globals) below the root, by the edge by which DevTools recognizes the program's memory.
 * Returns false if memory runs out. */
static bool globals_add_group(struct builder *builder)
{
    uint32_t name;
    return builder_text(builder, "(globals)") &&
           builder_add_node(builder, G2H_NODE_GLOBALS, 0, &builder->globals) &&
           builder_label_of(builder, "program", &name) &&
           builder_add_edge(builder, node_synthetic(builder->root), EDGE_SHORTCUT, name,
                            node_synthetic(builder->globals));
}

/* A kind of records whose pointers are globals, and the node that these are below. */
struct segment_kind {
    enum g2h_record_kind kind;
    const char *name;
    enum g2h_node_kind node;
};

/* Adds the node of a kind of segments, and the pointers of all of these. DATAROOT records, of dumps
 * of 2013, are single words instead of segments, named by their address. */
static struct g2h_error *add_segments(struct builder *builder, const struct segment_kind *segments)
{
    uint32_t node;
    TRY_MEMORY(builder_text(builder, segments->name) &&
               builder_add_node(builder, segments->node, 0, &node) &&
               builder_add_edge(builder, node_synthetic(builder->globals), EDGE_ELEMENT,
                                root_group_index(segments->node), node_synthetic(node)));
    for (size_t i = 0; i < builder->heap->records[segments->kind].count; i++) {
        struct g2h_record record;
        g2h_heap_record(builder->heap, segments->kind, i, &record);
        if (segments->kind == G2H_RECORD_DATAROOT) {
            builder->text.size = 0;
            text_printf(&builder->text, "0x%llx", (unsigned long long)record.dataroot.address);
            TRY_MEMORY(builder_add_pointer(builder, node, EDGE_PROPERTY, record.dataroot.pointer));
            continue;
        }
        TRY(add_segment(builder, node, &record.segment));
    }
    return NULL;
}

/* Adds the pointers in data and bss, named by their variables, below one node per kind of segment;
 * all variables and arrays of all segments are found first, because names of one may lead into
 * another. */
struct g2h_error *builder_add_globals(struct builder *builder)
{
    static const struct segment_kind segments[] = {{G2H_RECORD_DATA, "data", G2H_NODE_DATA},
                                                   {G2H_RECORD_BSS, "bss", G2H_NODE_BSS},
                                                   {G2H_RECORD_DATAROOT, "data", G2H_NODE_DATA}};
    const struct g2h_heap *heap = builder->heap;

    find_first_thread(builder);
    TRY_MEMORY(find_static_pointers(builder, G2H_RECORD_DATA) &&
               find_static_pointers(builder, G2H_RECORD_BSS));
    vector_sort(&builder->static_pointers, compare_static_pointers);
    for (size_t i = 0; i < COUNT_OF(segments); i++)
        for (size_t j = 0;
             segments[i].kind != G2H_RECORD_DATAROOT && j < heap->records[segments[i].kind].count;
             j++) {
            struct g2h_record record;
            g2h_heap_record(heap, segments[i].kind, j, &record);
            TRY_MEMORY(find_variables(builder, &record.segment));
        }
    TRY_MEMORY(find_arrays(builder));
    for (size_t i = 0; i < COUNT_OF(segments); i++) {
        if (heap->records[segments[i].kind].count == 0)
            continue;
        if (builder->globals == UINT32_MAX) /* the group is there only if something is in it */
            TRY_MEMORY(globals_add_group(builder));
        TRY(add_segments(builder, &segments[i]));
    }
    return NULL;
}

/*
 * ---- names of words that belong to no variable ----
 *
 * A global "var cache = &Cache{}" is one word, and the Cache is in data without a name of its own;
 * a local may point to values in its frame, or in a caller's. The name of such a word is the path
 * by which typing got there: cache.items, c.order[0].
 */

/* The most values in such a name, besides the first one; values before them are shown as "…". */
enum { PATH_STEPS = 32 };

/* Returns whether the word at an offset of a type is a map's pointer to its entries, which the map
 * is all about: nobody writes users.dirPtr. */
static bool is_of_entries(const struct types *types, uint32_t type, uint64_t offset)
{
    if (type >= types->list.count || types_get(types, type)->role != ROLE_MAP)
        return false;
    const struct type_field *buckets = types_field(types, type, "buckets"),
                            *directory = types_field(types, type, "dirPtr");
    return (buckets && buckets->offset == offset) || (directory && directory->offset == offset);
}

/* Appends the path to an offset of a type: ".items[3]". Nothing for a map's pointer to its
 * entries. */
void builder_append_path(struct builder *builder, uint32_t type, uint64_t offset)
{
    char path[NAME_LIMIT];
    if (is_of_entries(builder->typing->types, type, offset))
        return;
    const size_t size = types_path(builder->typing->types, type, offset, path, sizeof(path));
    if (size > 0 && path[0] != '[' && builder->text.size > 0)
        text_append_string(&builder->text, ".");
    text_append_utf8(&builder->text, path, size, NAME_LIMIT / 4);
}

/* Appends the name of a frame's variable, and the path in it. A variable of an inlined function is
 * in the frame of its caller: the function's name, unless it is the one that was named last, tells
 * it from the caller's own. */
void builder_append_local(struct builder *builder, const struct dwarf_local *local, uint64_t offset)
{
    const struct types *types = builder->typing->types;
    const struct g2h_bytes name = types_text(types, local->name);
    text_append_utf8(&builder->text, name.data, name.size, NAME_LIMIT / 4);
    builder_append_path(builder, local->type, offset);
    if (local->function == UINT32_MAX)
        return;
    const struct g2h_bytes function = types_text(types, local->function);
    if (builder->named.size > 0 && bytes_same(function, builder->named))
        return;
    text_printf(&builder->text, " (inlined ");
    text_append_name(&builder->text, builder->names, function.data, function.size, NAME_LIMIT / 4);
    text_printf(&builder->text, ")");
}

/* Appends the path from a value to the word at an offset in it. */
static void append_step(struct builder *builder, const struct outside_value *value, uint64_t offset)
{
    const uint64_t size = types_size(builder->typing->types, value->type);
    if (value->is_array)
        text_printf(&builder->text, "[%llu]", (unsigned long long)(offset / size));
    builder_append_path(builder, value->type, offset % size);
}

/* Appends the variable that leads to a value. Returns false if there is none. */
static bool append_variable(struct builder *builder, const struct outside_holder *holder)
{
    const struct typing *typing = builder->typing;
    struct g2h_bytes package;
    if (holder->kind == HOLDER_WORD)
        return builder_append_global(builder, holder->offset, &package);
    if (holder->kind == HOLDER_LOCAL)
        builder_append_local(builder, &typing->scopes->locals.data[holder->local], holder->offset);
    return holder->kind == HOLDER_LOCAL;
}

/* Appends the name of a word outside of the heap by the pointers that lead to it. Follows the
 * holders from the word's value up to the variable, at most PATH_STEPS, and then appends the steps
 * in the other order, after "…" if there are more. Returns NULL, and appends nothing, if the
 * address is in no value or the value is not held by a holder of the kind. */
const struct outside_holder *builder_append_path_to(struct builder *builder, uint64_t address,
                                                    enum holder_kind from)
{
    const struct typing *typing = builder->typing;
    const struct outside_value *value;
    const struct outside_value *values = typing ? typing->outside.values.data : NULL;
    uint64_t offset, offsets[PATH_STEPS];
    uint32_t steps[PATH_STEPS], count = 0;
    value = typing ? outside_value_at(&typing->outside, builder->heap, address, &offset) : NULL;
    if (!value)
        return NULL;
    const struct outside_holder *first = &values[value->first].holder;
    const uint32_t depth = value->depth;
    if (first->kind != from || !append_variable(builder, first))
        return NULL;
    for (uint32_t number = (uint32_t)(value - values); count < PATH_STEPS && count <= depth;
         number = values[number].holder.value) {
        steps[count] = number;
        offsets[count++] = offset;
        offset = values[number].holder.offset;
    }
    if (depth >= PATH_STEPS)
        text_printf(&builder->text, "…");
    while (count-- > 0)
        append_step(builder, &values[steps[count]], offsets[count]);
    return first;
}

/* ---- locks outside of the heap ---- */

/* Removes the path to an address in a value of the package sync from the end of the text: the field
 * of a sync.Cond on which goroutines wait says less than the sync.Cond. */
static void cut_path_in_sync(struct builder *builder, uint64_t address)
{
    const struct types *types = builder->typing->types;
    char path[NAME_LIMIT];
    uint64_t offset;
    const struct outside_value *value =
        outside_value_at(&builder->typing->outside, builder->heap, address, &offset);
    uint32_t type = value->type;
    offset %= types_size(types, type);
    while (!bytes_begin(types_text(types, types_get(types, type)->name), "sync."))
        if (!types_step_into(types, &type, &offset))
            return;
    const size_t size = types_path(types, type, offset, path, sizeof(path));
    struct text *text = &builder->text;
    if (size > 0 && text->size > size && memcmp(text->data + text->size - size, path, size) == 0 &&
        text->data[text->size - size - 1] == '.')
        text->size -= size + 1;
}

/* Returns the first word with a pointer, at an address or behind it, of a value that contains the
 * address and to which a variable leads, or 0: since Go 1.26 goroutines wait on the begin of the
 * list in a sync.Cond, which is two words before its pointers. */
static uint64_t word_of_lock(const struct root_sources *sources, uint64_t address)
{
    enum { MOST = 2 };
    uint64_t offset;
    for (uint64_t i = 0; sources->typing && i <= MOST; i++) {
        const uint64_t after = i * sources->heap->params.pointer_size;
        const struct outside_value *value =
            outside_value_at(&sources->typing->outside, sources->heap, address + after, &offset);
        if (value)
            return offset >= after ? address + after : 0;
    }
    return 0;
}

/* Begins with "package.", and cuts off the part of the path that is within package sync. Appends
 * nothing, and returns false, if no word leads to the lock, or there are no symbols: the path then
 * has a space. */
bool roots_append_lock(const struct root_sources *sources, uint64_t address, struct text *text)
{
    const uint64_t word = word_of_lock(sources, address);
    _cleanup_(builder_deinit) struct builder builder;
    builder_init(&builder, NULL, sources);
    const struct outside_holder *holder =
        word != 0 ? builder_append_path_to(&builder, word, HOLDER_WORD) : NULL;
    if (!holder || memchr(builder.text.data, ' ', builder.text.size))
        return false; /* without symbols a variable is named by functions */
    cut_path_in_sync(&builder, word);
    const struct g2h_bytes package = package_of(&builder, holder->offset);
    if (package.size > 0) {
        text_append_name(text, builder.names, package.data, package.size, NAME_LIMIT);
        text_append_string(text, ".");
    }
    text_append(text, builder.text.data, builder.text.size);
    text->failed |= builder.text.failed;
    return true;
}
