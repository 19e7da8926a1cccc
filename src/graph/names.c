/* names; see names.h. */
#include "graph/names.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- text ---- */

void text_append(struct text *text, const char *data, size_t size)
{
    if (text->capacity - text->size < size) {
        size_t wanted = text->size + size + text->capacity / 2 + 256;
        char *grown = realloc(text->data, wanted);
        if (!grown) {
            text->failed = true;
            return;
        }
        text->data = grown;
        text->capacity = wanted;
    }
    if (size > 0)
        memcpy(text->data + text->size, data, size);
    text->size += size;
}

void text_printf(struct text *text, const char *format, ...)
{
    char buffer[256];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(buffer, sizeof(buffer), format, arguments);
    va_end(arguments);
    text_append(text, buffer, (size_t)size < sizeof(buffer) ? (size_t)size : sizeof(buffer) - 1);
}

void text_deinit(struct text *text)
{
    free(text->data);
    *text = (struct text){0};
}

/* The length of the UTF-8 sequence at data, 0 where it is none (RFC 3629: no surrogates, shortest
 * form only). */
static size_t utf8_length(const uint8_t *data, uint64_t size)
{
    uint8_t first = data[0];
    if (first < 0x80)
        return 1;
    size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || size < length)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((data[i] & 0xc0) != 0x80)
            return 0;
    if ((first == 0xe0 && data[1] < 0xa0) || (first == 0xed && data[1] > 0x9f) ||
        (first == 0xf0 && data[1] < 0x90) || (first == 0xf4 && data[1] > 0x8f))
        return 0;
    return length;
}

size_t text_append_utf8(struct text *text, const uint8_t *data, uint64_t size, size_t limit)
{
    size_t characters = 0;
    for (uint64_t at = 0; at < size && characters < limit; characters++) {
        size_t length = utf8_length(data + at, size - at);
        if (length == 0)
            text_append(text, "\xef\xbf\xbd", 3);
        else
            text_append(text, (const char *)data + at, length);
        at += length ? length : 1;
    }
    return characters;
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

bool name_intern(struct string_pool *strings, const uint8_t *name, uint64_t size, uint32_t *ret)
{
    struct text text = {0};
    const char *before = "", *behind = "";
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

static bool shape_name(const struct g2h_heap *heap, const struct shape *shape,
                       struct string_pool *strings, uint32_t *ret)
{
    struct text text = {0};
    if (shape->type != SHAPE_NO_TYPE && shape->kind != G2H_OBJECT_CONSERVATIVE) {
        const struct g2h_bytes *name = &heap->types.data[shape->type].name;
        if (shape->kind != G2H_OBJECT_VALUE)
            text_printf(&text, shape->kind == G2H_OBJECT_ARRAY ? "[]" : "chan ");
        text_append(&text, (const char *)name->data,
                    name->size < 8 * NAME_LIMIT ? (size_t)name->size : 8 * NAME_LIMIT);
    } else {
        text_printf(&text, "%s%llu", shape->has_pointers ? "ptr" : "noptr",
                    (unsigned long long)shape->size);
    }
    bool good = !text.failed && name_intern(strings, (const uint8_t *)text.data, text.size, ret);
    text_deinit(&text);
    return good;
}

void text_append_interface(struct text *text, const struct g2h_heap *heap,
                           const struct g2h_exe *exe, uint32_t type)
{
    struct g2h_bytes known;
    if (type == UINT32_MAX)
        return;
    const struct g2h_bytes *name = &heap->types.data[type].name;
    /* From 1.7 on the record of an unnamed type with methods has the name of its package and a dot
     * only: such a type nearly always is a pointer to a type of that package. */
    const bool nameless = name->data[name->size - 1] == '.';
    if (exe && g2h_exe_type_name(exe, heap->types.data[type].address, &known)) {
        text_printf(text, " (");
        text_append_utf8(text, known.data, known.size, NAME_LIMIT / 2);
    } else {
        text_printf(text, nameless ? " (*" : " (");
        text_append_utf8(text, name->data, name->size, NAME_LIMIT / 2);
        text_printf(text, nameless ? "?" : "");
    }
    text_printf(text, ")");
}

struct g2h_error *names_init(struct names *names, const struct g2h_heap *heap,
                             const struct g2h_exe *exe, struct string_pool *strings)
{
    names->of_shape = calloc(heap->shapes.list.count + 1, sizeof(*names->of_shape));
    names->heap = heap;
    names->exe = exe;
    names->of_offset = malloc(ELEMENT_OFFSET / 4 * sizeof(*names->of_offset));
    if (!names->of_shape || !names->of_offset)
        return &error_no_memory;
    memset(names->of_offset, 0xff, ELEMENT_OFFSET / 4 * sizeof(*names->of_offset));
    for (size_t i = 0; i < heap->shapes.list.count; i++)
        if (!shape_name(heap, &heap->shapes.list.data[i], strings, &names->of_shape[i]))
            return &error_no_memory;
    return NULL;
}

void names_deinit(struct names *names)
{
    free(names->of_shape);
    free(names->of_offset);
    map_deinit(&names->of_key);
}

/* ---- edges ---- */

/* Keys: bits 62 and 63 tell the form; a plain offset has none of them. */
#define KEY_INTERFACE ((uint64_t)1 << 62) /* type << 20 | offset */
#define KEY_ELEMENT   ((uint64_t)2 << 62) /* index << 20 | offset in the element */

struct edge_name edge_name_of(const struct g2h_heap *heap, const struct shape *shape,
                              uint64_t offset, uint64_t word_before)
{
    const bool is_array = shape->type != SHAPE_NO_TYPE &&
                          (shape->kind == G2H_OBJECT_ARRAY || shape->kind == G2H_OBJECT_CHAN);
    const uint64_t size = is_array ? heap->types.data[shape->type].size : 0; /* of an element */
    const uint64_t start = is_array && shape->kind == G2H_OBJECT_CHAN ? heap->params.hchan_size : 0;
    if (is_array && size == heap->params.pointer_size)
        return (struct edge_name){true, (offset - start) / size};
    if (offset >= ELEMENT_OFFSET)
        return (struct edge_name){true, offset};
    if (size > 0)
        return (struct edge_name){false, KEY_ELEMENT | (offset - start) / size << 20 |
                                             (offset - start) % size};
    if (offset <= MALLOC_HEADER && heap_has_malloc_header(heap, shape))
        return (struct edge_name){
            false, offset}; /* the word before is the allocation's type, not an interface's */
    uint32_t type = interface_type_of(heap, word_before);
    if (type != UINT32_MAX)
        return (struct edge_name){false, KEY_INTERFACE | (uint64_t)type << 20 | offset};
    return (struct edge_name){false, offset};
}

static void append_key(const struct names *names, uint64_t key, struct text *text)
{
    if ((key & KEY_ELEMENT) != 0)
        text_printf(text, "[%llu].", (unsigned long long)((key & ~KEY_ELEMENT) >> 20));
    text_printf(text, "f%llu", (unsigned long long)(key & (ELEMENT_OFFSET - 1)));
    if ((key & KEY_INTERFACE) != 0)
        text_append_interface(text, names->heap, names->exe,
                              (uint32_t)((key & ~KEY_INTERFACE) >> 20));
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
