/*
 * names: the names of objects, of types and of the contents of strings, as outputs show them; see
 * names.h. The parts: the pool of names with what each is used for (enum g2h_name_use); names of
 * objects, by their types, with the paths of all words of a type; what a name says in Go: its form,
 * the runtime's own classes; and the contents of Go's strings, which are read when they are shown.
 */
#include "naming/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "base/error.h"
#include "base/workers.h"
#include "naming/key_names.h"
#include "types/runtime_types.h"

/* ==== the names of objects ==== */

/* ---- the pool ---- */

/* Adds a use of a name. The form of a class, in the upper bits, is set once: the first one stays.
 * Returns false if memory runs out. */
bool name_uses_add(name_uses *uses, uint32_t name, unsigned use)
{
    while (uses->count <= name)
        if (!vector_push(uses, 0))
            return false;
    uint16_t *known = &uses->data[name];
    *known |=
        (uint16_t)(*known >> NAME_FORM_SHIFT == 0 ? use : use & ((1u << NAME_FORM_SHIFT) - 1));
    return true;
}

bool name_uses_copy(const name_uses *uses, name_uses *ret)
{
    *ret = (name_uses){memory_copy(uses->data, uses->count, sizeof(*uses->data)), uses->count,
                       uses->count};
    return ret->data || uses->count == 0;
}

/* Interns a name, and notes what it is used for. Returns false if memory runs out. */
static bool intern_for_use(struct names *names, const void *text, size_t size,
                           enum g2h_name_use use, uint32_t *ret)
{
    return string_pool_intern(&names->strings, text, size, ret) &&
           name_uses_add(&names->uses, *ret, use);
}

bool names_add_label(struct names *names, const char *text, size_t size, uint32_t *ret)
{
    return intern_for_use(names, text, size, G2H_NAME_OF_EDGE, ret);
}

/* Returns whether a name needs no conversion. Nearly all names of packages, types and functions are
 * ASCII. */
static bool is_short_ascii(const void *name, size_t size)
{
    return size <= NAME_LIMIT && text_ascii_run(name, size) == size;
}

/* Adds the name of a node. Most names are short ASCII, and are added as they are; others are made
 * valid UTF-8 of NAME_LIMIT characters. Returns false if memory runs out. */
bool names_add_node(struct names *names, const void *name, size_t size, uint32_t *ret)
{
    struct text text = {0};
    if (is_short_ascii(name, size))
        return intern_for_use(names, name, size, G2H_NAME_OF_NODE, ret);
    text_append_utf8(&text, name, size, NAME_LIMIT);
    const bool good =
        !text.failed && intern_for_use(names, text.data, text.size, G2H_NAME_OF_NODE, ret);
    text_deinit(&text);
    return good;
}

/* ---- packages ---- */

/* Returns whether a name may contain packages to shorten; most names contain no path. */
static bool has_paths(const struct names *names, const void *data, size_t size)
{
    return names->packages.paths.count > 0 && size > 0 && memchr(data, '/', size);
}

/* Appends the whole of a linker's name, with short package names if names are short. */
static void append_whole_name(struct text *text, const struct names *names, const void *data,
                              size_t size)
{
    struct text unescaped = {0};
    if (!has_paths(names, data, size)) {
        text_append_unescaped(text, data, size);
        return;
    }
    text_append_unescaped(&unescaped, data, size);
    text_append_short(text, &names->packages, unescaped.data, unescaped.size);
    text->failed = text->failed || unescaped.failed;
    text_deinit(&unescaped);
}

/* Appends a name that contains packages. Import paths in a name are shortened if that is
 * unambiguous. Returns the number of characters. */
size_t text_append_name(struct text *text, const struct names *names, const void *data, size_t size,
                        size_t limit)
{
    struct text whole = {0};
    if (!has_paths(names, data, size))
        return text_append_symbol(text, data, size, limit);
    append_whole_name(&whole, names, data, size);
    const size_t characters = text_append_utf8(text, whole.data, whole.size, limit);
    text->failed = text->failed || whole.failed;
    text_deinit(&whole);
    return characters;
}

/* ---- objects ---- */

/* Returns whether the name of a type record contains words that the program made up at run time:
 * fields and tags of a struct made by package reflect, whose descriptor is in the heap. */
static bool is_secret(const struct names *names, const struct heap_type *record)
{
    return names->redaction && heap_find(names->heap, record->address) != UINT32_MAX &&
           memmem(record->name.data, record->name.size, "struct {", 8) != NULL;
}

/* Appends the name that a dump has for a type, with import paths shortened as in other names; of
 * its first 8 * NAME_LIMIT bytes at most: more is never shown. */
static void append_record_name(struct text *text, const struct names *names, struct g2h_bytes name)
{
    if (name.size > 8 * NAME_LIMIT)
        name.size = 8 * NAME_LIMIT;
    if (has_paths(names, name.data, name.size))
        text_append_short(text, &names->packages, name.data, name.size);
    else
        text_append(text, name.data, name.size);
}

/* Makes the name of a slot class: by its type in the dump, else by its size, "ptr48" or "noptr48".
 * Returns false if memory runs out. */
static bool slot_class_name(struct names *names, const struct slot_class *slot_class, uint32_t *ret)
{
    struct text text = {0};
    unsigned form = 0;
    if (slot_class->type != SLOT_CLASS_NO_TYPE && slot_class->kind != G2H_OBJECT_CONSERVATIVE) {
        const struct heap_type *record = &names->heap->types.data[slot_class->type];
        const struct g2h_bytes *name = &record->name;
        if (slot_class->kind != G2H_OBJECT_VALUE)
            text_printf(&text, slot_class->kind == G2H_OBJECT_ARRAY ? "[]" : "chan ");
        if (is_secret(names, record))
            text_append_redacted(&text, names->redaction, name->data, name->size);
        else
            append_record_name(&text, names, *name);
        enum g2h_class_form of = G2H_FORM_OTHER;
        if (slot_class->kind == G2H_OBJECT_ARRAY)
            of = G2H_FORM_SLICE;
        else if (slot_class->kind == G2H_OBJECT_CHAN)
            of = G2H_FORM_CHAN;
        form = form_of_type(*name, of);
    } else {
        text_printf(&text, "%s%llu", slot_class->has_pointers ? "ptr" : "noptr",
                    (unsigned long long)slot_class->size);
    }
    bool good = !text.failed && names_add_node(names, text.data, text.size, ret) &&
                name_uses_add(&names->uses, *ret, form);
    text_deinit(&text);
    return good;
}

/* Appends the type of an interface's value: " (main.T)" by the executable if it knows the type,
 * else by the dump's record of it, which may have no name: " (*main.?)". */
void text_append_interface(struct text *text, const struct names *names, uint32_t type)
{
    struct g2h_bytes known;
    if (type == UINT32_MAX)
        return;
    const struct heap_type *record = &names->heap->types.data[type];
    const struct g2h_bytes *name = &record->name;
    /* From 1.7 on the record of an unnamed type with methods has only its package's name and a dot;
     * such a type is nearly always a pointer to a type of that package. */
    const bool nameless = name->data[name->size - 1] == '.';
    if (names->exe && g2h_exe_type_name(names->exe, record->address, &known)) {
        text_append_string(text, " (");
        text_append_name(text, names, known.data, known.size, NAME_LIMIT / 2);
    } else if (is_secret(names, record)) {
        text_append_string(text, " (");
        text_append_redacted(text, names->redaction, name->data, name->size);
    } else {
        text_append(text, " (*", nameless ? 3 : 2);
        text_append_name(text, names, name->data, name->size, NAME_LIMIT / 2);
        text_append(text, "?", nameless ? 1 : 0);
    }
    text_append_string(text, ")");
}

/* ---- names of types ---- */

/* The budget for names of words in typed objects, in bytes; the size of the dump is added to it. */
#define PATH_BYTES (UINT64_C(64) << 20)

/* Notes that an object's type is used, and how many words its value or array has: names are made
 * for so many. Several threads do so. */
static void count_words_of(struct names *names, uint32_t object, uint32_t claim)
{
    struct type_names *of_type = &names->of_type[(claim & CLAIM_TYPE) - 1];
    const bool is_array = (claim & CLAIM_ARRAY) != 0;
    uint32_t *used = is_array ? &of_type->array : &of_type->value;
    const bool is_known = __atomic_load_n(used, __ATOMIC_RELAXED) == 0;
    if (is_known && !is_array)
        return; /* an earlier object of this type has as many words */
    uint64_t bytes = is_array ? heap_object_size(names->heap, object)
                              : types_size(names->typing->types, (claim & CLAIM_TYPE) - 1);
    if (bytes > ELEMENT_OFFSET)
        bytes = ELEMENT_OFFSET;
    workers_raise(is_array ? &of_type->array_words : &of_type->value_words,
                  bytes >> names->word_shift);
    if (!is_known)
        __atomic_store_n(used, 0, __ATOMIC_RELAXED);
}

enum { COUNTED_PER_TASK = 1 << 16 };

/* Counts the words of a task's objects that have types. */
static struct g2h_error *count_words_task(void *context, size_t task, unsigned worker)
{
    struct names *names = context;
    const uint32_t first = as_u32(task) * COUNTED_PER_TASK,
                   left = names->heap->object_count - first,
                   end = first + MIN(left, COUNTED_PER_TASK);
    (void)worker;
    for (uint32_t object = first; object < end; object++)
        if (names->typing->claims[object] != 0)
            count_words_of(names, object, names->typing->claims[object]);
    return NULL;
}

/* Counts how many words the values of each type take in the largest object that has the type, as
 * far as these words have names. Sets the names that will be used to 0. */
static struct g2h_error *count_words(struct names *names)
{
    const size_t objects = names->heap->object_count;
    return workers_run(names->typing->threads, (objects + COUNTED_PER_TASK - 1) / COUNTED_PER_TASK,
                       count_words_task, names);
}

/* Appends the name of a type as objects' names have it. */
static void names_append_type(struct text *text, const struct names *names, uint32_t type)
{
    const struct types *types = names->typing->types;
    struct g2h_bytes name = types_name(types, type);
    /* The runtime uses a sudog for one channel after another; its class must not change with the
     * channel. */
    if (types_get(types, type)->role == ROLE_INTERNAL && bytes_begin(name, SUDOG_TYPES))
        name = bytes_of("runtime.sudog");
    append_whole_name(text, names, name.data, name.size);
}

/*
 * Appends "map[K]V entries", because readers do not care how a release of Go lays out a map's
 * contents. Map types with the same key and element share their types of groups and buckets,
 * whatever the map types are called, so the name has the key and the element: the runtime cannot
 * say to which of these map types a group belongs.
 */
static void append_entries(struct text *text, const struct names *names, uint32_t map)
{
    const struct types *types = names->typing->types;
    static const char suffix[] = NAME_OF_ENTRIES;
    const struct g2h_bytes own = types_name(types, map);
    struct text name = {0};
    if (bytes_begin(own, "map[")) {
        append_whole_name(&name, names, own.data, own.size);
    } else {
        text_append_string(&name, "map[");
        names_append_type(&name, names, types_get(types, map)->key);
        text_append_string(&name, "]");
        names_append_type(&name, names, types_get(types, map)->elem);
    }
    /* If the name has to be cut, the suffix must stay: without it the name would be the map's. */
    text_append_utf8(text, name.data, name.size, NAME_LIMIT - strlen(suffix));
    text_append_string(text, suffix);
    text->failed = text->failed || name.failed;
    text_deinit(&name);
}

/* Returns whether a type's objects are the words that describe a string or a slice, whose bytes or
 * elements are another object: nodes of a string's bytes are named by their contents, and arrays
 * like the slices of them. A declared type has a name of its own. */
static bool is_header(const struct types *types, uint32_t type)
{
    const enum type_kind kind = types_get(types, type)->kind;
    return (kind == TYPE_STRING && bytes_are(types_name(types, type), "string")) ||
           (kind == TYPE_SLICE && bytes_begin(types_name(types, type), "[]"));
}

/* Returns the use of the name of a type's objects. Maps and channels of a declared type, as
 * http.Header, are maps and channels to who reads. */
static unsigned use_of_class(const struct types *types, uint32_t type)
{
    const struct type *read = types_get(types, type);
    const unsigned use = form_of_type(types_name(types, type), G2H_FORM_OTHER);
    unsigned form = use >> NAME_FORM_SHIFT & NAME_FORM_MASK;
    if (form != G2H_FORM_DECLARED || read->is_generic)
        return use;
    if (read->kind == TYPE_MAP || read->role == ROLE_MAP)
        form = G2H_FORM_MAP;
    else if (read->kind == TYPE_CHAN || read->role == ROLE_CHAN)
        form = G2H_FORM_CHAN;
    return (use & ~((unsigned)NAME_FORM_MASK << NAME_FORM_SHIFT)) | form << NAME_FORM_SHIFT;
}

/* Makes the name of a type's objects (is_array: of arrays of it), and notes its form: "main.T",
 * "[]main.T", or "map[K]V entries" for a map's buckets or groups. Returns false if memory runs
 * out. */
static bool intern_class(struct names *names, bool is_array, uint32_t type, uint32_t *ret)
{
    const struct types *types = names->typing->types;
    const uint32_t map = types_map_inside(types, type);
    struct text text = {0};
    if (map < types->list.count) {
        append_entries(&text, names, map);
    } else if (is_array) {
        text_append_string(&text, "[]");
        names_append_type(&text, names, type);
    } else {
        names_append_type(&text, names, type);
        if (is_header(types, type))
            text_append_string(&text, " header");
    }
    unsigned use;
    if (map < types->list.count)
        use = G2H_NAME_OF_ENTRIES | (unsigned)G2H_FORM_MAP << NAME_FORM_SHIFT;
    else if (is_array)
        use = form_of_type(types_name(types, type), G2H_FORM_SLICE);
    else
        use = use_of_class(types, type);
    bool good = !text.failed && names_add_node(names, text.data, text.size, ret) &&
                name_uses_add(&names->uses, *ret, use);
    text_deinit(&text);
    return good;
}

/* Allocates names for so many words, all NAME_NONE. Returns NULL if memory runs out. */
static uint32_t *new_paths(uint64_t words)
{
    uint32_t *paths = malloc((size_t)words * sizeof(*paths) + 1);
    return paths ? memset(paths, 0xff, (size_t)words * sizeof(*paths)) : NULL;
}

/* Appends a path of fields' names, NAME_LIMIT bytes at most. They come from the executable; invalid
 * UTF-8 in them is damage, and is replaced. */
static void text_append_path(struct text *text, const void *path, size_t size)
{
    text_append_utf8(text, path, size, NAME_LIMIT);
}

/* Adds the name of a path; *ret stays as it is if the budget of bytes is used up. Paths may be
 * long, and arrays may have many elements: elements beyond the budget are known by their index.
 * Returns false if memory runs out. */
static bool intern_path(struct names *names, const struct text *text, uint32_t *ret)
{
    if (text->failed)
        return false;
    if (names->path_bytes < text->size)
        return true;
    names->path_bytes -= text->size;
    return names_add_label(names, text->data, text->size, ret);
}

/* Returns whether the word at an offset of a type belongs to the runtime: a word inside a map or
 * channel, or the first word of an interface. */
static bool is_internal_word(const struct types *types, uint32_t type,
                             const struct pointer_map *map, uint64_t offset)
{
    const uint8_t role = types_get(types, type)->role;
    if (role == ROLE_MAP || role == ROLE_CHAN || role == ROLE_INTERNAL)
        return true;
    uint32_t at;
    BISECT(at, map->field_count, map->fields[at].offset < offset);
    return at < map->field_count && map->fields[at].offset == offset &&
           types_get(types, map->fields[at].type)->kind == TYPE_INTERFACE;
}

/* Appends the name of the word of a value of which paths name no part: "value" of a pointer; the
 * field of a sync.Map (types_path()). */
static void append_whole_field(const struct types *types, uint32_t type, uint64_t offset,
                               struct text *text)
{
    const struct type *of = types_get(types, type);
    const struct type_field *field =
        of->kind == TYPE_STRUCT ? types_field_at(types, of, offset) : NULL;
    const struct g2h_bytes name = field ? types_text(types, field->name) : bytes_of("value");
    text_append_path(text, name.data, name.size);
}

/* Adds the name of a word of a type, "Config.TLS", and its names in all elements of arrays,
 * "[3].Config.TLS". Returns false if memory runs out. */
static bool intern_word(struct names *names, uint32_t type, const struct pointer_map *map,
                        uint64_t offset)
{
    const struct types *types = names->typing->types;
    struct type_names *of_type = &names->of_type[type];
    const uint64_t word = types->pointer_size;
    const uint64_t first = offset / word;
    const uint32_t internal = is_internal_word(types, type, map, offset) ? PATH_INTERNAL : 0;
    char path[NAME_LIMIT - 32];
    const size_t size = types_path(types, type, offset, path, sizeof(path));
    struct text text = {0};
    bool good = true;
    if (first < of_type->value_words) {
        if (size == 0)
            append_whole_field(types, type, offset, &text);
        else
            text_append_path(&text, path, size);
        good = intern_path(names, &text, &of_type->value_paths[first]);
        of_type->value_paths[first] |= internal;
    }
    for (uint64_t j = first; size > 0 && j < of_type->array_words && good; j += map->size / word) {
        text.size = 0;
        text_append_string(&text, "[");
        text_append_number(&text, j / (map->size / word));
        text_append(&text, "].", path[0] == '[' ? 1 : 2);
        text_append_path(&text, path, size);
        good = intern_path(names, &text, &of_type->array_paths[j]);
        of_type->array_paths[j] |= internal;
    }
    text_deinit(&text);
    return good;
}

/* Adds the names of a word of a map's entry: "[#3].TLS", where 3 counts the slots of the array.
 * Returns false if memory runs out. */
static bool intern_entry_word(struct names *names, const struct type_names *of_type,
                              uint64_t offset)
{
    const struct map_entries *entries = of_type->entries;
    const uint64_t word = names->heap->params.pointer_size;
    const uint64_t first = offset / word;
    const unsigned slot = entries->slot_of_word[first] & (SLOTS - 1);
    struct text text = {0};
    bool good = true;
    for (uint64_t j = first; j < of_type->value_words || j < of_type->array_words;
         j += entries->size / word) {
        uint32_t name = NAME_NONE;
        text.size = 0;
        map_entries_append_index(names->typing->types, entries, offset,
                                 j / (entries->size / word) * SLOTS + slot, &text);
        good = intern_path(names, &text, &name);
        if (!good)
            break;
        if (j < of_type->value_words)
            of_type->value_paths[j] = name;
        if (j < of_type->array_words)
            of_type->array_paths[j] = name;
    }
    text_deinit(&text);
    return good;
}

/* Returns whether a type is that of the entries of a HashTrieMap, which are objects with one key
 * and value. */
static bool is_trie_entry(const struct types *types, uint32_t type)
{
    const struct g2h_bytes name = types_name(types, type);
    return form_of_type(name, G2H_FORM_OTHER) >> NAME_RUNTIME_SHIFT == G2H_RUNTIME_TRIE_ENTRY &&
           memchr(name.data, '[', name.size);
}

/* Makes the names of all words of a type, for single values and elements of arrays. A type without
 * pointers, or whose size is not whole words, has none. Also makes what is known of its entries, if
 * it is a part of a map, and notes whether some words have no name (has_gaps). Returns false if
 * memory runs out. */
static bool intern_paths(struct names *names, uint32_t type)
{
    const struct typing *typing = names->typing;
    struct type_names *of_type = &names->of_type[type];
    const struct pointer_map *map = pointer_map_of(&typing->pointer_maps, type);
    const uint64_t word = names->heap->params.pointer_size;
    if (!map)
        return false;
    if (map->size < word || map->size % word != 0 || map->word_count == 0)
        of_type->value_words = of_type->array_words = 0;
    else if (!(is_trie_entry(typing->types, type)
                   ? map_entries_create_single(typing->types, type, &of_type->entries)
                   : map_entries_create(typing->types, type, &of_type->entries)))
        return false;
    if (of_type->entries &&
        (!map_entries_add_paths(typing->types, of_type->entries, &names->paths) ||
         !map_entries_add_pointers(of_type->entries, map->words, map->word_count,
                                   names->word_shift)))
        return false;
    of_type->value_paths = new_paths(of_type->value_words);
    of_type->array_paths = new_paths(of_type->array_words);
    if (!of_type->value_paths || !of_type->array_paths)
        return false;
    /* A closure may have more words than its type shows, even if the type shows none. */
    of_type->has_gaps = types_get(typing->types, type)->role == ROLE_CLOSURE;
    for (uint32_t i = 0; i < map->word_count; i++) {
        const uint64_t offset = map->words[i];
        const bool is_entry =
            of_type->entries && of_type->entries->slot_of_word[offset / word] != SLOT_NONE;
        if (!(is_entry ? intern_entry_word(names, of_type, offset)
                       : intern_word(names, type, map, offset)))
            return false;
        of_type->has_gaps = of_type->has_gaps || offset / word >= of_type->value_words ||
                            of_type->value_paths[offset / word] == NAME_NONE;
    }
    return true;
}

/* Notes which names of objects are those of maps, with the names of their entries, if there are
 * such objects. Two maps may have one name if names are short. Returns false if memory runs out. */
static bool note_map_classes(struct names *names)
{
    const struct types *types = names->typing->types;
    _cleanup_(text_deinit) struct text text = {0};
    for (uint32_t i = 0; i < types->list.count; i++) {
        const struct type *type = types_get(types, i);
        const uint32_t class = names->of_type[i].value;
        uint32_t entries, known;
        if (class == NAME_NONE || type->role != ROLE_MAP || type->elem >= types->list.count)
            continue;
        text.size = 0;
        append_entries(&text, names, type->elem);
        if (text.failed)
            return false;
        if (string_pool_find(&names->strings, text.data, text.size, &entries) &&
            !map_put(&names->map_classes, (uint64_t) class << 32 | entries, 1, &known))
            return false;
    }
    return true;
}

/* Makes the names of all types that objects have: 0 stands for one that is to be made, NAME_NONE
 * for a type without objects. First the words of each type are counted, which its paths need. */
static struct g2h_error *intern_types(struct names *names)
{
    names->path_bytes = PATH_BYTES + names->heap->input->size;
    const size_t count = names->typing->types->list.count;
    names->of_type = calloc(count + 1, sizeof(*names->of_type));
    if (!names->of_type)
        return &error_no_memory;
    for (uint32_t i = 0; i < count; i++)
        names->of_type[i] = (struct type_names){
            .value = NAME_NONE, .array = NAME_NONE, .size = types_size(names->typing->types, i)};
    struct g2h_error *error = count_words(names);
    if (error)
        return error;
    for (uint32_t i = 0; i < count; i++) {
        struct type_names *of_type = &names->of_type[i];
        if (of_type->value == NAME_NONE && of_type->array == NAME_NONE)
            continue;
        if ((of_type->value == 0 && !intern_class(names, false, i, &of_type->value)) ||
            (of_type->array == 0 && !intern_class(names, true, i, &of_type->array)) ||
            !intern_paths(names, i))
            return &error_no_memory;
    }
    return note_map_classes(names) ? NULL : &error_no_memory;
}

/* Returns the string of the name of an object's node, in a heap with types. */
uint32_t names_of_typed(const struct names *names, uint32_t object)
{
    /* This is so for most objects. */
    if (typing_is_sure(names->typing, object) && names->typing->texts[object] == 0) {
        const uint32_t claim = names->typing->claims[object];
        const struct type_names *of_type = &names->of_type[(claim & CLAIM_TYPE) - 1];
        return (claim & CLAIM_ARRAY) != 0 ? of_type->array : of_type->value;
    }
    if (typing_is_shared(names->typing, object))
        return names->tiny;
    const struct object_type what = typing_object(names->typing, object);
    switch (what.form) {
    case OBJECT_VALUE:
        return names->of_type[what.type].value;
    case OBJECT_ARRAY:
        return names->of_type[what.type].array;
    case OBJECT_TINY:
        return names->tiny;
    default:
        return names->of_slot_class[heap_slot_class_number(names->heap, object)];
    }
}

/* Returns the end of the offsets of all words that objects have, at most ELEMENT_OFFSET. */
static uint64_t find_offset_end(const struct g2h_heap *heap)
{
    uint64_t end = 0;
    VECTOR_EACH(const struct slot_class, slot_class, heap->slot_classes.list)
        if (end < slot_class->stored)
            end = slot_class->stored;
    return MIN(end, ELEMENT_OFFSET);
}

/* Makes the names of all slot classes. Without types, a name depends only on the slot class, of
 * which there are few. */
struct g2h_error *names_init(struct names *names, const struct g2h_heap *heap,
                             const struct names_options *options)
{
    names->of_slot_class = calloc(heap->slot_classes.list.count + 1, sizeof(*names->of_slot_class));
    names->heap = heap;
    names->exe = options->exe;
    names->redaction = options->redaction;
    names->word_shift = heap->params.pointer_size == 8 ? 3 : 2;
    names->offset_end = find_offset_end(heap);
    names->of_offset = calloc((size_t)names->offset_end / 4 + 1, sizeof(*names->of_offset));
    if (!names->of_slot_class || !names->of_offset)
        return &error_no_memory;
    if (names->exe && options->is_short)
        TRY(packages_init(&names->packages, names->exe));
    for (size_t i = 0; i < heap->slot_classes.list.count; i++)
        if (!slot_class_name(names, &heap->slot_classes.list.data[i], &names->of_slot_class[i]))
            return &error_no_memory;
    return NULL;
}

/* Adds the names of all types that objects have as a whole and for certain. */
struct g2h_error *names_add_types(struct names *names, const struct typing *typing)
{
    static const char tiny[] = "(tiny block)";
    names->typing = typing;
    if (!names_add_node(names, tiny, sizeof(tiny) - 1, &names->tiny))
        return &error_no_memory;
    return intern_types(names);
}

void names_deinit(struct names *names)
{
    free(names->of_slot_class);
    free(names->of_offset);
    for (size_t i = 0; names->of_type && i < names->typing->types->list.count; i++) {
        free(names->of_type[i].value_paths);
        free(names->of_type[i].array_paths);
        map_entries_destroy(names->of_type[i].entries);
    }
    free(names->of_type);
    packages_deinit(&names->packages);
    windows_deinit(&names->windows);
    number_set_deinit(&names->keys);
    free(names->of_key);
    map_deinit(&names->map_classes);
    string_pool_deinit(&names->paths);
    string_pool_deinit(&names->strings);
    free(names->uses.data);
}

/* ==== what the names of types and functions say in Go ==== */

/* How a type is written that no package declares. */
static const struct literal {
    const char *begin;
    enum g2h_class_form form;
} literals[] = {
    {"[", G2H_FORM_SLICE},         {"*", G2H_FORM_POINTER},
    {"map[", G2H_FORM_MAP},        {"chan ", G2H_FORM_CHAN},
    {"chan<- ", G2H_FORM_CHAN},    {"<-chan ", G2H_FORM_CHAN},
    {"func(", G2H_FORM_FUNC},      {"func ", G2H_FORM_CLOSURE},
    {"struct {", G2H_FORM_STRUCT}, {"interface {", G2H_FORM_INTERFACE},
};

static const struct {
    const char *type;
    enum g2h_runtime_class class;
} structures[] = {
    {"runtime.g", G2H_RUNTIME_G},
    {"runtime.m", G2H_RUNTIME_M},
    {"runtime.mPadded", G2H_RUNTIME_M},
    {"runtime.p", G2H_RUNTIME_P},
    {"runtime.sudog", G2H_RUNTIME_SUDOG},
    {"runtime._defer", G2H_RUNTIME_DEFER},
    {"runtime.timeTimer", G2H_RUNTIME_TIMER}, /* from Go 1.23; until Go 1.22: */
    {"time.Timer", G2H_RUNTIME_TIMER},
    {"time.Ticker", G2H_RUNTIME_TIMER},
    {"sync.readOnly", G2H_RUNTIME_TRIE}, /* of sync.Map until Go 1.23, as are these two: */
    {"map[interface {}]*sync.entry", G2H_RUNTIME_TRIE},
    {"sync.entry", G2H_RUNTIME_TRIE_ENTRY},
    {"container/list.Element", G2H_RUNTIME_ENTRY},
    {"container/ring.Ring", G2H_RUNTIME_ENTRY},
};

/* Generic types, HashTrieMap's: without their arguments. */
static const struct {
    const char *begin;
    enum g2h_runtime_class class;
} generics[] = {
    {"internal/sync.indirect[", G2H_RUNTIME_TRIE},
    {"internal/sync.entry[", G2H_RUNTIME_TRIE_ENTRY},
    {"internal/concurrent.indirect[", G2H_RUNTIME_TRIE}, /* Go 1.23 */
    {"internal/concurrent.entry[", G2H_RUNTIME_TRIE_ENTRY},
    {"unique.indirect[", G2H_RUNTIME_TRIE},
    {"unique.entry[", G2H_RUNTIME_TRIE_ENTRY},
};

/* The structures of sync.Map and HashTrieMap, up to what has a key: G2H_NAME_OF_LINKS. A name that
 * ends with [ is a generic type's. */
static const char *const links[] = {
    "sync.Map",
    "sync.readOnly", /* until Go 1.23, as is sync.entry */
    "sync.entry",
    "internal/sync.HashTrieMap[",
    "internal/sync.indirect[",
    "internal/concurrent.HashTrieMap[",
    "internal/concurrent.indirect[",
    "unique.indirect[",
};

/* Returns whether a type is one of the links of a list, ring or tree of the library. */
static bool is_link(struct g2h_bytes type)
{
    for (size_t i = 0; i < COUNT_OF(links); i++)
        if (links[i][strlen(links[i]) - 1] == '[' ? bytes_begin(type, links[i])
                                                  : bytes_are(type, links[i]))
            return true;
    return false;
}

/* Packages whose functions wait, call back or copy for those that call them. */
static const char *const libraries[] = {
    "runtime", "sync", "syscall", "net",        "os",        "io",
    "bufio",   "time", "context", "crypto/tls", "os/signal", "reflect",
};

/* Returns the part of a type's name up to the arguments of a generic type. */
static struct g2h_bytes without_arguments(struct g2h_bytes type)
{
    for (size_t i = 0; i < type.size; i++)
        if (memchr("[](){}* ", type.data[i], 8))
            return bytes_before(type, i);
    return type;
}

/* Returns how a type is written: as a literal ("[]T", "map[K]V"), or by a declared name, which has
 * a package and a dot. */
static enum g2h_class_form form_of(struct g2h_bytes type)
{
    for (size_t i = 0; i < COUNT_OF(literals); i++)
        if (bytes_begin(type, literals[i].begin))
            return literals[i].form;
    const struct g2h_bytes name = without_arguments(type);
    return name.size > 0 && memchr(name.data, '.', name.size) ? G2H_FORM_DECLARED : G2H_FORM_OTHER;
}

/* Returns which of the runtime's own types that findings treat specially a class is: slices of
 * timers; structures and generic types by name, if the class has no form of its own; what contains
 * runtime._defer in its name. G2H_RUNTIME_NONE: none of them. */
static enum g2h_runtime_class runtime_class_of(struct g2h_bytes type, enum g2h_class_form of)
{
    static const char call[] = "runtime._defer";
    if (of == G2H_FORM_SLICE)
        return bytes_are(type, "*runtime.timer") /* until Go 1.22 */ ||
                       bytes_are(type, "runtime.timerWhen")
                   ? G2H_RUNTIME_TIMERS
                   : G2H_RUNTIME_NONE;
    for (size_t i = 0; of == G2H_FORM_OTHER && i < COUNT_OF(structures); i++)
        if (bytes_are(type, structures[i].type))
            return structures[i].class;
    for (size_t i = 0; of == G2H_FORM_OTHER && i < COUNT_OF(generics); i++)
        if (bytes_begin(type, generics[i].begin))
            return generics[i].class;
    if (of == G2H_FORM_OTHER && bytes_begin(type, SUDOG_TYPES)) /* shown as runtime.sudog */
        return G2H_RUNTIME_SUDOG;
    return type.size > 0 && memmem(type.data, type.size, call, sizeof(call) - 1)
               ? G2H_RUNTIME_DEFER_LIST
               : G2H_RUNTIME_NONE;
}

/* Returns the form of a type's class, whether the runtime is special about it, and where its name
 * is from, as bits. */
unsigned form_of_type(struct g2h_bytes type, enum g2h_class_form of)
{
    const enum g2h_class_form form = of != G2H_FORM_OTHER ? of : form_of(type);
    unsigned ret = (unsigned)form << NAME_FORM_SHIFT | (unsigned)runtime_class_of(type, of)
                                                           << NAME_RUNTIME_SHIFT;
    if (of == G2H_FORM_OTHER && bytes_begin(type, "runtime."))
        ret |= G2H_NAME_OF_RUNTIME;
    if (of == G2H_FORM_OTHER && is_link(type))
        ret |= G2H_NAME_OF_LINKS;
    return ret;
}

/* Returns whether a function is of the runtime, or of a library that serves others (internal/… and
 * the packages in libraries), as bits; 0: neither. */
unsigned form_of_function(struct g2h_bytes function)
{
    if (bytes_begin(function, "runtime."))
        return G2H_NAME_OF_RUNTIME | G2H_NAME_OF_LIBRARY;
    if (bytes_begin(function, "internal/"))
        return G2H_NAME_OF_LIBRARY;
    for (size_t i = 0; i < COUNT_OF(libraries); i++)
        if (bytes_begin(function, libraries[i]) && function.size > strlen(libraries[i]) &&
            function.data[strlen(libraries[i])] == '.')
            return G2H_NAME_OF_LIBRARY;
    return 0;
}

/* ==== the contents of Go's strings, as names of the objects that hold them ==== */

/* Separates the strings that share a block of 16 bytes. */
static const char separator[] = " | ";

/* Returns how many bytes of an object its strings take, from its beginning to the end of the last
 * one, also if it is a block that several strings share. */
uint64_t names_text_size(const struct names *names, uint32_t object)
{
    const uint32_t extent = names->typing->texts[object];
    const uint64_t size = heap_object_size(names->heap, object),
                   end = (extent & TEXT_TINY) != 0 ? text_tiny_end(extent) : extent;
    return MIN(end, size);
}

/* Sets *ret_data to the object's contents and returns how many bytes of its string the dump has. */
static size_t text_names_read_bytes(const struct names *names, uint32_t number,
                                    const uint8_t **ret_data)
{
    const struct g2h_bytes contents = heap_contents(names->heap, number);
    const uint64_t size = names_text_size(names, number);
    *ret_data = contents.data;
    return size < contents.size ? (size_t)size : contents.size;
}

/* Hashes the bytes of a string, eight at a time. */
uint64_t names_text_hash(const struct names *names, uint32_t object)
{
    const uint8_t *data;
    const size_t size = text_names_read_bytes(names, object, &data);
    uint64_t word;
    uint64_t hash = size;
    size_t at = 0;
    for (; at + sizeof(word) <= size; at += sizeof(word)) {
        memcpy(&word, data + at, sizeof(word));
        hash = id_hash(hash ^ word);
    }
    word = 0;
    memcpy(&word, data + at, size - at);
    return id_hash(hash ^ word);
}

/* Appends a string, or a part of a block, redacted if strings are. */
static void append_part(const struct names *names, const uint8_t *data, size_t size,
                        struct text *text)
{
    if (names->redaction)
        text_append_redacted(text, names->redaction, data, size);
    else if (text->size < NAME_LIMIT)
        text_append_utf8(text, data, size, NAME_LIMIT - text->size);
}

/* Appends the contents of a block that several strings share (see extent: a bit for each byte where
 * one begins), without the zeros between them. */
static void append_tiny(const struct names *names, uint32_t extent, const uint8_t *data,
                        size_t size, struct text *text)
{
    size_t begin = 0;
    bool any = false;
    for (size_t at = 0; at <= size; at++) {
        const bool starts = at < 16 && (extent >> at & 1) != 0;
        if (at < size && !starts)
            continue;
        if (at > begin && any) {
            size_t end = at;
            while (at < size && end > begin + 1 && data[end - 1] == 0)
                end--; /* padding before the next string */
            append_part(names, data + begin, end - begin, text);
            if (at < size)
                text_append(text, separator, sizeof(separator) - 1);
        }
        begin = at;
        any = true;
    }
}

/* Appends the text of an object that is a Go string. A text in a tiny block shares its object with
 * other values; any other is a part of an object. */
void names_append_text(const struct names *names, uint32_t object, struct text *text)
{
    const uint32_t extent = names->typing->texts[object];
    const uint8_t *data;
    const size_t size = text_names_read_bytes(names, object, &data);
    if ((extent & TEXT_TINY) != 0)
        append_tiny(names, extent, data, size, text);
    else
        append_part(names, data, size, text);
}

/* Returns whether an object has several strings. A block that has several strings has a bit for the
 * begin of each. */
bool names_text_is_shared(const struct names *names, uint32_t object)
{
    const uint32_t extent = names->typing->texts[object];
    const uint32_t starts = extent & UINT16_MAX;
    return (extent & TEXT_TINY) != 0 && (starts & (starts - 1)) != 0;
}

/* Gets the bytes of a string that can be shown as they are; else returns false. Anything that needs
 * conversion, cutting or redaction is left to names_append_text(). Of a tiny block the extent has a
 * bit for each byte where a string begins, and where the last one ends (typing.h: TEXT_TINY). */
bool names_text_bytes(const struct names *names, uint32_t object, const uint8_t **ret,
                      size_t *ret_size)
{
    const uint32_t extent = names->typing->texts[object];
    const uint32_t starts = extent & UINT16_MAX;
    if (names->redaction || ((extent & TEXT_TINY) == 0 && extent > NAME_LIMIT) ||
        names_text_is_shared(names, object))
        return false;
    *ret_size = text_names_read_bytes(names, object, ret);
    if ((extent & TEXT_TINY) != 0) { /* a single string */
        const size_t begin = as_size(__builtin_ctz(starts | 1u << 16));
        *ret += MIN(begin, *ret_size);
        *ret_size -= MIN(begin, *ret_size);
    }
    return text_is_ascii(*ret, *ret_size);
}
