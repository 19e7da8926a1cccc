/* hprof_parts; see hprof_parts.h. */
#include "output/hprof/hprof_parts.h"

#include <stdio.h>
#include <stdlib.h>

void parts_deinit(struct parts *parts)
{
    free(parts->list.data);
}

static struct g2h_error *hprof_parts_add(struct parts *parts, struct part part)
{
    if (parts->list.count >= MOST_FIELDS || part.offset > UINT32_MAX) {
        parts->too_many = true;
        return NULL;
    }
    parts->pointers += part.type == TYPE_OF_OBJECT;
    TRY_MEMORY(vector_push(&parts->list, part));
    return NULL;
}

/* ---- parts by the type ---- */

/* Adds a part of a value. Its name is the value's path and a suffix. */
static struct g2h_error *add_named(struct classes *classes, struct parts *parts,
                                   const struct g2h_value *value, const char *suffix,
                                   struct part part)
{
    struct text *text = &classes->text;
    text->size = 0;
    text_append(text, value->path, value->path_size);
    text_append_string(text, suffix);
    TRY_MEMORY(!text->failed &&
               java_names_text(classes->names, text->size > 0 ? text->data : "(value)",
                               text->size > 0 ? text->size : 7, &part.name));
    part.offset += value->offset;
    return hprof_parts_add(parts, part);
}

static struct g2h_error *hprof_parts_add_number(struct classes *classes, struct parts *parts,
                                                const struct g2h_value *value)
{
    static const enum field_type integers[] = {
        [1] = TYPE_OF_BYTE, [2] = TYPE_OF_SHORT, [4] = TYPE_OF_INT, [8] = TYPE_OF_LONG};
    const uint16_t half = (uint16_t)(value->size / 2);
    struct part part = {.size = (uint16_t)value->size};
    switch (value->kind) {
    case G2H_VALUE_BOOL:
        part.type = TYPE_OF_BOOL;
        part.is_bool = true;
        break;
    case G2H_VALUE_FLOAT:
        part.type = value->size == 4 ? TYPE_OF_FLOAT : TYPE_OF_DOUBLE;
        break;
    case G2H_VALUE_COMPLEX:
        part.type = half == 4 ? TYPE_OF_FLOAT : TYPE_OF_DOUBLE;
        part.size = half;
        TRY(add_named(classes, parts, value, ".real", part));
        part.offset = half;
        return add_named(classes, parts, value, ".imag", part);
    default:
        part.type = value->size < sizeof(integers) / sizeof(*integers) ? integers[value->size] : 0;
    }
    return part.type != 0 ? add_named(classes, parts, value, "", part) : NULL;
}

/* Adds the words after a value's pointer, such as the length of a string. */
static struct g2h_error *hprof_parts_add_words(struct classes *classes, struct parts *parts,
                                               const struct g2h_value *value,
                                               const char *const *names, size_t count)
{
    const uint16_t word = (uint16_t)classes->word;
    for (size_t i = 0; i < count && !g2h_view_is_redacted(classes->view); i++)
        TRY(add_named(classes, parts, value, names[i],
                      (struct part){.offset = (i + 1) * word,
                                    .size = word,
                                    .type = word == 8 ? TYPE_OF_LONG : TYPE_OF_INT}));
    return NULL;
}

static struct g2h_error *hprof_parts_add_value(struct classes *classes, struct parts *parts,
                                               const struct g2h_value *value)
{
    static const char *const lengths[] = {".len", ".cap"};
    const struct part pointer = {.type = TYPE_OF_OBJECT};
    switch (value->kind) {
    case G2H_VALUE_STRING:
        TRY(add_named(classes, parts, value, "", pointer));
        return hprof_parts_add_words(classes, parts, value, lengths, 1);
    case G2H_VALUE_SLICE:
        TRY(add_named(classes, parts, value, "", pointer));
        return hprof_parts_add_words(classes, parts, value, lengths, 2);
    case G2H_VALUE_INTERFACE:
        return add_named(classes, parts, value, "",
                         (struct part){.offset = classes->word, .type = TYPE_OF_OBJECT});
    case G2H_VALUE_POINTER:
        return add_named(classes, parts, value, "", pointer);
    default:
        return g2h_view_is_redacted(classes->view) ? NULL
                                                   : hprof_parts_add_number(classes, parts, value);
    }
}

/* Returns how many bytes are written of the objects of a shape: fields after them would be zeros.
 */
static uint64_t written_of(const struct classes *classes, const struct shape_key *key)
{
    const struct g2h_heap *heap = g2h_view_heap(classes->view);
    struct g2h_node node;
    if (classes->largest_array == 0 || g2h_view_nodes(classes->view, key->node, 1, &node) == 0 ||
        node.object == UINT32_MAX)
        return key->size;
    const uint64_t written = g2h_heap_written_size(heap, node.object, classes->largest_array);
    return written < g2h_heap_written_size(heap, node.object, 0) ? written : key->size;
}

struct g2h_error *parts_by_values(struct classes *classes, const struct shape_key *key,
                                  struct parts *parts)
{
    const uint64_t written = written_of(classes, key);
    struct g2h_value value;
    g2h_values_begin(classes->values, key->node);
    while (!parts->too_many && g2h_values_next(classes->values, &value))
        if (value.offset + value.size <= written)
            TRY(hprof_parts_add_value(classes, parts, &value));
    return NULL;
}

void parts_element(struct classes *classes, const struct shape_key *key, struct element *ret)
{
    struct g2h_value value;
    *ret = (struct element){0};
    g2h_values_begin(classes->values, key->node);
    while (ret->values < MOST_FIELDS && g2h_values_next(classes->values, &value)) {
        if (ret->values == 0)
            ret->base = value.offset;
        if (value.path_size >= 3 && memcmp(value.path, "[1]", 3) == 0) {
            ret->stride = value.offset - ret->base;
            return;
        }
        ret->pointers += value.kind >= G2H_VALUE_STRING;
        ret->values++;
    }
}

/* ---- parts by words ---- */

/* Finds the names of an object's pointers, by the numbers of their words. */
static struct g2h_error *find_word_names(struct classes *classes, uint32_t node, uint32_t *ret,
                                         uint64_t words)
{
    struct g2h_edge edge;
    g2h_edges_begin(classes->edges, node, node + 1);
    while (g2h_edges_next(classes->edges, &edge)) {
        const uint64_t word = edge.offset / classes->word;
        if (edge.offset != UINT64_MAX && word < words && edge.name != G2H_NAME_NONE)
            TRY_MEMORY(java_names_of_view(classes->names, edge.name, &ret[word]));
    }
    return NULL;
}

struct g2h_error *parts_by_words(struct classes *classes, const struct shape_key *key,
                                 struct parts *parts)
{
    const uint64_t words = key->size / classes->word;
    char name[32];
    if (words > MOST_FIELDS) {
        parts->too_many = true;
        return NULL;
    }
    _cleanup_free_ uint32_t *names = calloc((size_t)words + 1, sizeof(*names));
    TRY_MEMORY(names);
    TRY(find_word_names(classes, key->node, names, words));
    for (uint64_t i = 0; i < words; i++) {
        const uint64_t offset = i * classes->word;
        const int length = snprintf(name, sizeof(name), "f%u", (unsigned)offset);
        TRY_MEMORY(names[i] != 0 ||
                   java_names_text(classes->names, name, (size_t)length, &names[i]));
        TRY(hprof_parts_add(
            parts, (struct part){.offset = offset, .name = names[i], .type = TYPE_OF_OBJECT}));
    }
    return NULL;
}
