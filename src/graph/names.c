/* names; see names.h. */
#include "graph/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/workers.h"
#include "graph/keys.h"

/* ---- what the linker escapes ---- */

static int hex_digit(uint8_t c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that is escaped at data; -1: none is. */
static int unescaped(const uint8_t *data, uint64_t size)
{
    if (size < 3 || data[0] != '%' || hex_digit(data[1]) < 0 || hex_digit(data[2]) < 0)
        return -1;
    const int c = hex_digit(data[1]) << 4 | hex_digit(data[2]);
    return c <= ' ' || c == '.' || c == '%' || c == '"' || c >= 0x7f ? c : -1;
}

/* Appends a name of the linker's as it was before that escaped it. */
static void append_unescaped(struct text *text, const uint8_t *data, uint64_t size)
{
    while (size > 0) {
        const uint8_t *escape = memchr(data, '%', (size_t)size);
        const uint64_t plain = escape ? (uint64_t)(escape - data) : size;
        const int c = unescaped(data + plain, size - plain);
        const char byte = (char)c;
        text_append(text, (const char *)data, (size_t)plain + (escape && c < 0));
        if (c >= 0)
            text_append(text, &byte, 1);
        const uint64_t done = plain + (c >= 0 ? 3 : escape != NULL);
        data += done;
        size -= done;
    }
}

size_t text_append_symbol(struct text *text, const uint8_t *data, uint64_t size, size_t limit)
{
    struct text plain = {0};
    if (size == 0 || !memchr(data, '%', (size_t)size))
        return text_append_utf8(text, data, size, limit);
    append_unescaped(&plain, data, size);
    const size_t characters =
        text_append_utf8(text, (const uint8_t *)plain.data, plain.size, limit);
    text->failed = text->failed || plain.failed;
    text_deinit(&plain);
    return characters;
}

void text_append_redacted(struct text *text, const struct redaction *redaction, const uint8_t *data,
                          uint64_t size)
{
    char redacted[REDACTED_MOST];
    text_append(text, redacted, redaction_write(redaction, data, (size_t)size, redacted));
}

/* ---- what DevTools would misread ---- */

static bool has_prefix(const uint8_t *name, uint64_t size, const char *prefix)
{
    size_t length = strlen(prefix);
    return size >= length && memcmp(name, prefix, length) == 0;
}

/* Names that are V8's own: of classes that DevTools computes, or that it treats in a way of their
 * own. */
static bool is_reserved(const uint8_t *name, uint64_t size)
{
    static const char *const reserved[] = {
        "Object",
        "Array",
        "Function",
        "RegExp",
        "V8EventListener",
        "(string)",
        "(array)",
        "(system)",
        "(compiled code)",
        "(closure)",
        "(number)",
        "(symbol)",
        "(bigint)",
        "(object shape)",
        "(synthetic)",
        "(sliced string)",
        "(concatenated string)",
        "(map descriptors)",
        "(Document DOM trees)",
    };
    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
        if (size == strlen(reserved[i]) && memcmp(name, reserved[i], size) == 0)
            return true;
    return false;
}

/* Whether a name needs no care: most are those of packages, in lower case. */
static bool is_plain(const uint8_t *name, uint64_t size)
{
    return size > 0 && size <= NAME_LIMIT && name[0] >= 'a' && name[0] <= 'z' &&
           !has_prefix(name, size, "system / ") && text_ascii_run(name, size) == size;
}

bool name_intern(struct string_pool *strings, const uint8_t *name, uint64_t size, uint32_t *ret)
{
    struct text text = {0};
    const char *before = "", *behind = "";
    if (is_plain(name, size))
        return string_pool_intern(strings, (const char *)name, (size_t)size, ret);
    if (has_prefix(name, size, "<-chan ")) {
        before = "chan (<-) ";
        name += strlen("<-chan ");
        size -= strlen("<-chan ");
    } else if (has_prefix(name, size, "<") || has_prefix(name, size, "system / ") ||
               has_prefix(name, size, "Detached ") || has_prefix(name, size, "Window") ||
               has_prefix(name, size, "Object(") || has_prefix(name, size, "(closure")) {
        before = "Go ";
    } else if (is_reserved(name, size)) {
        behind = " (Go)";
    }
    text_append(&text, before, strlen(before));
    text_append_utf8(&text, name, size, NAME_LIMIT - strlen(before) - strlen(behind));
    text_append(&text, behind, strlen(behind));
    bool good =
        !text.failed && string_pool_intern(strings, text.data ? text.data : "", text.size, ret);
    text_deinit(&text);
    return good;
}

/* ---- objects ---- */

/* Whether the name of a type record has words that the program made up while it ran: fields and
 * tags of a struct of package reflect's, whose descriptor is in the heap. */
static bool is_secret(const struct names *names, const struct heap_type *record)
{
    return names->redaction && heap_find(names->heap, record->address) != UINT32_MAX &&
           memmem(record->name.data, (size_t)record->name.size, "struct {", 8) != NULL;
}

static bool slot_class_name(const struct names *names, const struct slot_class *slot_class,
                            struct string_pool *strings, uint32_t *ret)
{
    struct text text = {0};
    if (slot_class->type != SLOT_CLASS_NO_TYPE && slot_class->kind != G2H_OBJECT_CONSERVATIVE) {
        const struct heap_type *record = &names->heap->types.data[slot_class->type];
        const struct g2h_bytes *name = &record->name;
        if (slot_class->kind != G2H_OBJECT_VALUE)
            text_printf(&text, slot_class->kind == G2H_OBJECT_ARRAY ? "[]" : "chan ");
        if (is_secret(names, record))
            text_append_redacted(&text, names->redaction, name->data, name->size);
        else
            text_append(&text, (const char *)name->data,
                        name->size < 8 * NAME_LIMIT ? (size_t)name->size : 8 * NAME_LIMIT);
    } else {
        text_printf(&text, "%s%llu", slot_class->has_pointers ? "ptr" : "noptr",
                    (unsigned long long)slot_class->size);
    }
    bool good = !text.failed && name_intern(strings, (const uint8_t *)text.data, text.size, ret);
    text_deinit(&text);
    return good;
}

void text_append_interface(struct text *text, const struct names *names, uint32_t type)
{
    struct g2h_bytes known;
    if (type == UINT32_MAX)
        return;
    const struct heap_type *record = &names->heap->types.data[type];
    const struct g2h_bytes *name = &record->name;
    /* From 1.7 on the record of an unnamed type with methods has the name of its package and a dot
     * only: such a type nearly always is a pointer to a type of that package. */
    const bool nameless = name->data[name->size - 1] == '.';
    if (names->exe && g2h_exe_type_name(names->exe, record->address, &known)) {
        text_printf(text, " (");
        text_append_symbol(text, known.data, known.size, NAME_LIMIT / 2);
    } else if (is_secret(names, record)) {
        text_printf(text, " (");
        text_append_redacted(text, names->redaction, name->data, name->size);
    } else {
        text_printf(text, nameless ? " (*" : " (");
        text_append_symbol(text, name->data, name->size, NAME_LIMIT / 2);
        text_printf(text, nameless ? "?" : "");
    }
    text_printf(text, ")");
}

/* ---- names of types ---- */

/* Of the names of words in typed objects; and as many again as the dump has. */
#define PATH_BYTES ((uint64_t)64 << 20)

static void raise_to(uint64_t *number, uint64_t least)
{
    uint64_t now = __atomic_load_n(number, __ATOMIC_RELAXED);
    while (now < least && !__atomic_compare_exchange_n(number, &now, least, true, __ATOMIC_RELAXED,
                                                       __ATOMIC_RELAXED))
        ;
}

static void count_words_of(struct names *names, uint32_t object, uint32_t claim)
{
    struct type_names *of_type = &names->of_type[(claim & CLAIM_TYPE) - 1];
    const bool is_array = (claim & CLAIM_ARRAY) != 0;
    uint32_t *used = is_array ? &of_type->array : &of_type->value;
    const bool is_known = __atomic_load_n(used, __ATOMIC_RELAXED) == 0;
    if (is_known && !is_array)
        return; /* as many as in the one before */
    uint64_t bytes = is_array ? heap_object_size(names->heap, object)
                              : names->typing->types->list.data[(claim & CLAIM_TYPE) - 1].size;
    if (bytes > ELEMENT_OFFSET)
        bytes = ELEMENT_OFFSET;
    raise_to(is_array ? &of_type->array_words : &of_type->value_words, bytes >> names->word_shift);
    if (!is_known)
        __atomic_store_n(used, 0, __ATOMIC_RELAXED);
}

enum { COUNTED_PER_TASK = 1 << 16 };

static struct g2h_error *count_words_task(void *context, size_t task, unsigned worker)
{
    struct names *names = context;
    const uint32_t first = (uint32_t)task * COUNTED_PER_TASK,
                   left = names->heap->object_count - first,
                   end = first + (left < COUNTED_PER_TASK ? left : COUNTED_PER_TASK);
    (void)worker;
    for (uint32_t object = first; object < end; object++)
        if (names->typing->claims[object] != 0)
            count_words_of(names, object, names->typing->claims[object]);
    return NULL;
}

/* How many words a type's values take in the largest object that has it, as far as they have names;
 * a name that will be used is 0. */
static struct g2h_error *count_words(struct names *names)
{
    const size_t objects = names->heap->object_count;
    return workers_run(names->typing->threads, (objects + COUNTED_PER_TASK - 1) / COUNTED_PER_TASK,
                       count_words_task, names);
}

static bool intern_class(const struct names *names, struct string_pool *strings, const char *before,
                         uint32_t type, uint32_t *ret)
{
    const struct types *types = names->typing->types;
    struct text text = {0};
    size_t size;
    const char *name = string_pool_text(&types->names, types->list.data[type].name, &size);
    /* The runtime takes a sudog for one channel after the other: its class must not change with
     * them. */
    if (types->list.data[type].role == ROLE_INTERNAL &&
        has_prefix((const uint8_t *)name, size, "sudog<")) {
        name = "runtime.sudog";
        size = strlen(name);
    }
    text_append(&text, before, strlen(before));
    append_unescaped(&text, (const uint8_t *)name, size);
    bool good = !text.failed && name_intern(strings, (const uint8_t *)text.data, text.size, ret);
    text_deinit(&text);
    return good;
}

static uint32_t *new_paths(uint64_t words)
{
    uint32_t *paths = malloc((size_t)words * sizeof(*paths) + 1);
    return paths ? memset(paths, 0xff, (size_t)words * sizeof(*paths)) : NULL;
}

/* The names of fields are the executable's: what is not valid UTF-8 is damage. */
static void text_append_path(struct text *text, const char *path, size_t size)
{
    text_append_utf8(text, (const uint8_t *)path, size, NAME_LIMIT);
}

/* Paths may be long and arrays too: elements beyond the budget are known by their index. */
static bool intern_path(struct names *names, struct string_pool *strings, const struct text *text,
                        uint32_t *ret)
{
    if (text->failed)
        return false;
    if (names->path_bytes < text->size)
        return true;
    names->path_bytes -= text->size;
    return string_pool_intern(strings, text->data, text->size, ret);
}

/* Whether the word at offset of a type is the runtime's own: of a map's or channel's inside, or the
 * first of an interface. */
static bool is_internal_word(const struct types *types, uint32_t type,
                             const struct pointer_map *map, uint64_t offset)
{
    const uint8_t role = types->list.data[type].role;
    if (role == ROLE_MAP || role == ROLE_CHAN || role == ROLE_INTERNAL)
        return true;
    uint32_t from = 0, to = map->field_count;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (map->fields[middle].offset < offset)
            from = middle + 1;
        else
            to = middle;
    }
    return from < map->field_count && map->fields[from].offset == offset &&
           types->list.data[map->fields[from].type].kind == TYPE_INTERFACE;
}

/* The names of a word of a type: "Config.TLS"; and of those of all elements of arrays:
 * "[3].Config.TLS". */
static bool intern_word(struct names *names, struct string_pool *strings, uint32_t type,
                        const struct pointer_map *map, uint64_t offset)
{
    const struct types *types = names->typing->types;
    struct type_names *of_type = &names->of_type[type];
    const uint64_t word = types->pointer_size, first = offset / word;
    const uint32_t internal = is_internal_word(types, type, map, offset) ? PATH_INTERNAL : 0;
    char path[NAME_LIMIT - 32];
    const size_t size = types_path(types, type, offset, path, sizeof(path));
    struct text text = {0};
    bool good = true;
    if (first < of_type->value_words) {
        text_append_path(&text, size > 0 ? path : "value", size > 0 ? size : 5);
        good = intern_path(names, strings, &text, &of_type->value_paths[first]);
        of_type->value_paths[first] |= internal;
    }
    for (uint64_t j = first; size > 0 && j < of_type->array_words && good; j += map->size / word) {
        text.size = 0;
        text_printf(&text, "[%llu]%s", (unsigned long long)(j / (map->size / word)),
                    path[0] == '[' ? "" : ".");
        text_append_path(&text, path, size);
        good = intern_path(names, strings, &text, &of_type->array_paths[j]);
        of_type->array_paths[j] |= internal;
    }
    text_deinit(&text);
    return good;
}

/* The same of an entry of a map: "[#3].TLS", where 3 counts the slots of the array. */
static bool intern_entry_word(struct names *names, struct string_pool *strings,
                              const struct type_names *of_type, uint64_t offset)
{
    const struct map_entries *entries = of_type->entries;
    const uint64_t word = names->heap->params.pointer_size, first = offset / word;
    const unsigned slot = entries->place_of_word[first] & (SLOTS - 1);
    struct text text = {0};
    bool good = true;
    for (uint64_t j = first; j < of_type->value_words || j < of_type->array_words;
         j += entries->size / word) {
        uint32_t name = NAME_NONE;
        text.size = 0;
        map_entries_append_index(names->typing->types, entries, offset,
                                 j / (entries->size / word) * SLOTS + slot, &text);
        good = intern_path(names, strings, &text, &name);
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

static bool intern_paths(struct names *names, struct string_pool *strings, uint32_t type)
{
    struct typing *typing =
        (struct typing *)names->typing; /* pointer maps are made when asked for */
    struct type_names *of_type = &names->of_type[type];
    const struct pointer_map *map = pointer_map_of(&typing->pointer_maps, type);
    const uint64_t word = names->heap->params.pointer_size;
    if (!map)
        return false;
    if (map->size < word || map->size % word != 0 || map->word_count == 0)
        of_type->value_words = of_type->array_words = 0;
    else if (!map_entries_create(typing->types, type, &of_type->entries))
        return false;
    of_type->value_paths = new_paths(of_type->value_words);
    of_type->array_paths = new_paths(of_type->array_words);
    if (!of_type->value_paths || !of_type->array_paths)
        return false;
    for (uint32_t i = 0; i < map->word_count; i++) {
        const uint64_t offset = map->words[i];
        const bool is_entry =
            of_type->entries && of_type->entries->place_of_word[offset / word] != PLACE_NONE;
        if (!(is_entry ? intern_entry_word(names, strings, of_type, offset)
                       : intern_word(names, strings, type, map, offset)))
            return false;
        of_type->has_gaps = of_type->has_gaps || offset / word >= of_type->value_words ||
                            of_type->value_paths[offset / word] == NAME_NONE;
    }
    return true;
}

static struct g2h_error *intern_types(struct names *names, struct string_pool *strings)
{
    names->path_bytes = PATH_BYTES + names->heap->input->size;
    const size_t count = names->typing->types->list.count;
    names->of_type = calloc(count + 1, sizeof(*names->of_type));
    if (!names->of_type)
        return &error_no_memory;
    for (size_t i = 0; i < count; i++)
        names->of_type[i].value = names->of_type[i].array = NAME_NONE;
    struct g2h_error *error = count_words(names);
    if (error)
        return error;
    for (uint32_t i = 0; i < count; i++) {
        struct type_names *of_type = &names->of_type[i];
        if (of_type->value == NAME_NONE && of_type->array == NAME_NONE)
            continue;
        if ((of_type->value == 0 && !intern_class(names, strings, "", i, &of_type->value)) ||
            (of_type->array == 0 && !intern_class(names, strings, "[]", i, &of_type->array)) ||
            !intern_paths(names, strings, i))
            return &error_no_memory;
    }
    return NULL;
}

uint32_t names_of_object(const struct names *names, uint32_t object)
{
    const uint32_t slot_class = heap_slot_class_number(names->heap, object);
    if (!names->typing)
        return names->of_slot_class[slot_class];
    if (typing_is_plain(names->typing, object) && names->typing->texts[object] == 0) { /* most */
        const uint32_t claim = names->typing->claims[object];
        const struct type_names *of_type = &names->of_type[(claim & CLAIM_TYPE) - 1];
        return (claim & CLAIM_ARRAY) != 0 ? of_type->array : of_type->value;
    }
    const struct object_type what = typing_object(names->typing, object);
    switch (what.form) {
    case OBJECT_VALUE:
        return names->of_type[what.type].value;
    case OBJECT_ARRAY:
        return names->of_type[what.type].array;
    case OBJECT_TINY:
        return names->tiny;
    default:
        return names->of_slot_class[slot_class];
    }
}

struct g2h_error *names_init(struct names *names, const struct g2h_heap *heap,
                             const struct g2h_exe *exe, const struct redaction *redaction,
                             struct string_pool *strings)
{
    names->of_slot_class = calloc(heap->slot_classes.list.count + 1, sizeof(*names->of_slot_class));
    names->heap = heap;
    names->exe = exe;
    names->redaction = redaction;
    names->word_shift = heap->params.pointer_size == 8 ? 3 : 2;
    names->of_offset = malloc(ELEMENT_OFFSET / 4 * sizeof(*names->of_offset));
    if (!names->of_slot_class || !names->of_offset)
        return &error_no_memory;
    memset(names->of_offset, 0xff, ELEMENT_OFFSET / 4 * sizeof(*names->of_offset));
    for (size_t i = 0; i < heap->slot_classes.list.count; i++)
        if (!slot_class_name(names, &heap->slot_classes.list.data[i], strings,
                             &names->of_slot_class[i]))
            return &error_no_memory;
    return NULL;
}

struct g2h_error *names_add_types(struct names *names, const struct typing *typing,
                                  struct string_pool *strings)
{
    static const char tiny[] = "(tiny block)";
    names->typing = typing;
    if (!string_pool_intern(strings, tiny, sizeof(tiny) - 1, &names->tiny))
        return &error_no_memory;
    return intern_types(names, strings);
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
    map_deinit(&names->of_key);
}

/* ---- edges ---- */

/* Keys: bits 62 and 63 tell the form; a plain offset has no bit from ELEMENT_OFFSET on. */
#define KEY_FORM      ((uint64_t)3 << 62)
#define KEY_SLOT      ((uint64_t)0 << 62) /* type + 1 << 36 | element + 1, or 0 << 16 | offset */
#define KEY_INTERFACE ((uint64_t)1 << 62) /* type << 20 | offset */
#define KEY_ELEMENT   ((uint64_t)2 << 62) /* index << 20 | offset in the element */
#define KEY_PART      ((uint64_t)3 << 62) /* type << 32 | offset of the part << 16 | offset in it */

/* Field by field: a struct that is put together on the stack, and then copied as a whole, waits for
 * its small parts. */
static inline void set_name(struct edge_name *ret, enum edge_name_form form, bool is_internal,
                            uint64_t value)
{
    ret->form = form;
    ret->is_internal = is_internal;
    ret->is_entry = false;
    ret->value = value;
}

static inline void set_path(struct edge_name *ret, uint32_t path)
{
    set_name(ret, EDGE_NAME_STRING, (path & PATH_INTERNAL) != 0, path & ~PATH_INTERNAL);
}

bool names_need_keys(const struct names *names, uint32_t object)
{
    const struct typing *typing = names->typing;
    const uint32_t claim = typing ? typing->claims[object] : 0;
    if (claim == 0 || !typing_is_plain(typing, object) ||
        heap_has_malloc_header(names->heap, heap_slot_class(names->heap, object)))
        return true;
    const struct type_names *of_type = &names->of_type[(claim & CLAIM_TYPE) - 1];
    if (of_type->entries)
        return true;
    /* Behind what is known of a closure there may be more. */
    return (claim & CLAIM_ARRAY) == 0 &&
           (of_type->has_gaps ||
            typing->types->list.data[(claim & CLAIM_TYPE) - 1].role == ROLE_CLOSURE);
}

void namer_init_other(struct namer *namer)
{
    const struct names *names = namer->names;
    const uint32_t claim = names->typing ? names->typing->claims[namer->object] : 0;
    *namer = (struct namer){.names = names,
                            .slot_class = namer->slot_class,
                            .contents = namer->contents,
                            .object = namer->object,
                            .type = TYPE_NONE};
    if (claim == 0)
        return;
    const uint32_t type = (claim & CLAIM_TYPE) - 1;
    const struct type_names *of_type = &names->of_type[type];
    namer->type = type;
    namer->is_array = (claim & CLAIM_ARRAY) != 0;
    namer->size = names->typing->types->list.data[type].size;
    namer->base = heap_has_malloc_header(names->heap, namer->slot_class) ? MALLOC_HEADER : 0;
    namer->end = namer->is_array && namer->size > 0 ? UINT64_MAX : namer->base + namer->size;
    namer->entries = of_type->entries;
    namer->paths = namer->is_array ? of_type->array_paths : of_type->value_paths;
    namer->path_count = namer->is_array ? of_type->array_words : of_type->value_words;
    namer->value = namer->base;
}

/* Goes to the value of an array that has the word at offset. */
static inline void find_value(struct namer *namer, uint64_t offset)
{
    if (!namer->is_array || offset - namer->value < namer->size)
        return;
    namer->value += namer->size;
    namer->element++;
    if (offset - namer->value < namer->size)
        return; /* the next one */
    namer->element = (offset - namer->base) / namer->size;
    namer->value = namer->base + namer->element * namer->size;
}

static inline uint8_t entry_place(const struct namer *namer, uint64_t offset)
{
    return namer->entries->place_of_word[(offset - namer->value) >> namer->names->word_shift];
}

/* Whether a word of a bucket or group is of an entry; false where its slot is not in use. */
static inline bool finds_slot(const struct namer *namer, uint64_t offset, unsigned *ret_slot)
{
    const uint8_t place = entry_place(namer, offset);
    *ret_slot = place & (SLOTS - 1);
    return place != PLACE_NONE && namer->contents.size >= namer->size &&
           namer->value <= namer->contents.size - namer->size &&
           map_entries_is_used(namer->names, namer->entries, namer->contents.data + namer->value,
                               *ret_slot);
}

static inline bool is_typed(const struct namer *namer, uint64_t offset)
{
    return offset - namer->base < namer->end - namer->base &&
           (offset & (namer->names->heap->params.pointer_size - 1)) == 0;
}

bool namer_finds_entry(struct namer *namer, uint64_t offset, unsigned *ret_slot)
{
    if (!namer->entries || namer->entries->kind == KEYS_PLAIN || !is_typed(namer, offset))
        return false;
    find_value(namer, offset);
    return finds_slot(namer, offset, ret_slot);
}

/*
 * In a map's bucket or group. The slots that are not in use may hold pointers, of an entry that has
 * been moved; they have the names of any other field.
 */
static void entry_name(struct namer *namer, uint64_t offset, uint32_t path, struct edge_name *ret)
{
    unsigned slot;
    find_value(namer, offset);
    if (finds_slot(namer, offset, &slot)) {
        if (path != NAME_NONE)
            set_path(ret, path);
        else
            set_name(ret, EDGE_NAME_INDEX, false, namer->element * SLOTS + slot);
        ret->is_entry = namer->entries->kind != KEYS_PLAIN;
        return;
    }
    const bool is_overflow = entry_place(namer, offset) == PLACE_NONE;
    const uint64_t element = namer->is_array ? namer->element + 1 : 0;
    if (is_overflow && path != NAME_NONE)
        set_path(ret, path | PATH_INTERNAL);
    else if (element >= (uint64_t)1 << 20)
        set_name(ret, EDGE_NAME_INDEX, false, offset);
    else
        set_name(ret, EDGE_NAME_KEY, is_overflow,
                 KEY_SLOT | ((uint64_t)namer->type + 1) << 36 | element << 16 |
                     (offset - namer->value));
}

/* By a type that some other part of the object has. */
static bool region_name(const struct namer *namer, uint64_t offset, struct edge_name *ret)
{
    const struct typing *typing = namer->names->typing;
    struct typed_location location;
    if ((offset & (namer->names->heap->params.pointer_size - 1)) != 0 ||
        !typing_locate(typing, namer->object, offset, &location))
        return false;
    const uint64_t region =
        location.region_offset + location.element * typing->types->list.data[location.type].size;
    if (region > UINT16_MAX || location.offset > UINT16_MAX)
        return false;
    set_name(ret, EDGE_NAME_KEY, false,
             KEY_PART | (uint64_t)location.type << 32 | region << 16 | location.offset);
    return true;
}

/* By the type that the object, or the part of it, has. */
static inline bool typed_name(struct namer *namer, uint64_t offset, struct edge_name *ret)
{
    if (!is_typed(namer, offset))
        return region_name(namer, offset, ret);
    const uint64_t index = (offset - namer->base) >> namer->names->word_shift;
    const uint32_t path = index < namer->path_count ? namer->paths[index] : NAME_NONE;
    if (namer->entries) {
        entry_name(namer, offset, path, ret);
    } else if (path != NAME_NONE) {
        set_path(ret, path);
    } else if (!namer->is_array) {
        return false;
    } else {
        set_name(ret, EDGE_NAME_INDEX, false, offset);
        if (index < namer->path_count) {
            find_value(namer, offset);
            ret->value = namer->element;
        }
    }
    return true;
}

/* Without a type from the executable. */
static void untyped_name(const struct namer *namer, uint64_t offset, struct edge_name *ret)
{
    const struct g2h_heap *heap = namer->names->heap;
    const struct slot_class *slot_class = namer->slot_class;
    const uint64_t word = heap->params.pointer_size;
    const bool is_array =
        slot_class->type != SLOT_CLASS_NO_TYPE &&
        (slot_class->kind == G2H_OBJECT_ARRAY || slot_class->kind == G2H_OBJECT_CHAN);
    const uint64_t size =
        is_array ? heap->types.data[slot_class->type].size : 0; /* of an element */
    const uint64_t start =
        is_array && slot_class->kind == G2H_OBJECT_CHAN ? heap->params.hchan_size : 0;
    if (is_array && size == word) {
        set_name(ret, EDGE_NAME_INDEX, false, (offset - start) / size);
        return;
    }
    set_name(ret, offset >= ELEMENT_OFFSET ? EDGE_NAME_INDEX : EDGE_NAME_KEY, false, offset);
    if (offset >= ELEMENT_OFFSET)
        return;
    if (size > 0) {
        ret->value = KEY_ELEMENT | (offset - start) / size << 20 | (offset - start) % size;
        return;
    }
    if (offset <= MALLOC_HEADER && heap_has_malloc_header(heap, slot_class))
        return; /* the word before is the allocation's type, not an interface's */
    const uint32_t type =
        offset < word
            ? UINT32_MAX
            : interface_type_of(heap, heap_word(heap, namer->contents.data + offset - word));
    if (type != UINT32_MAX)
        ret->value = KEY_INTERFACE | (uint64_t)type << 20 | offset;
}

void namer_name_other(struct namer *namer, uint64_t offset, struct edge_name *ret)
{
    if (!namer->names->typing || !typed_name(namer, offset, ret))
        untyped_name(namer, offset, ret);
}

/* The way to the word at offset of a type, behind what leads to the value. */
static void append_way(const struct names *names, uint32_t type, uint64_t offset, struct text *text)
{
    char path[NAME_LIMIT];
    const size_t size = types_path(names->typing->types, type, offset, path, sizeof(path));
    if (size > 0 && path[0] != '[' && text->size > 0)
        text_append(text, ".", 1);
    text_append_path(text, path, size);
}

static void append_key(const struct names *names, uint64_t key, struct text *text)
{
    const uint64_t form = key & KEY_FORM;
    if (form == KEY_PART) {
        text_printf(text, "f%llu", (unsigned long long)(key >> 16 & UINT16_MAX));
        append_way(names, (uint32_t)((key & ~KEY_FORM) >> 32), key & UINT16_MAX, text);
        return;
    }
    if (form == KEY_SLOT && key >= ELEMENT_OFFSET) {
        const uint64_t element = key >> 16 & ((1 << 20) - 1);
        if (element > 0)
            text_printf(text, "[%llu]", (unsigned long long)element - 1);
        append_way(names, (uint32_t)(key >> 36) - 1, key & UINT16_MAX, text);
        return;
    }
    if (form == KEY_ELEMENT)
        text_printf(text, "[%llu].", (unsigned long long)((key & ~KEY_FORM) >> 20));
    text_printf(text, "f%llu", (unsigned long long)(key & (ELEMENT_OFFSET - 1)));
    if (form == KEY_INTERFACE)
        text_append_interface(text, names, (uint32_t)((key & ~KEY_FORM) >> 20));
}

struct g2h_error *names_intern_keys(struct names *names, struct string_pool *strings,
                                    const uint64_t *keys, size_t count)
{
    struct text text = {0};
    struct g2h_error *error = NULL;
    for (size_t i = 0; i < count && !error; i++) {
        uint32_t number, value;
        text.size = 0;
        append_key(names, keys[i], &text);
        if (text.failed || !string_pool_intern(strings, text.data, text.size, &number))
            error = &error_no_memory;
        else if (keys[i] < ELEMENT_OFFSET)
            names->of_offset[keys[i] / 4] = number;
        else if (!map_put(&names->of_key, keys[i], number, &value))
            error = &error_no_memory;
    }
    text_deinit(&text);
    return error;
}
