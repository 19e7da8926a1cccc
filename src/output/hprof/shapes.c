/*
 * shapes: finds the shapes of a view's objects, and makes the fields of their classes; see
 * hprof_classes.h.
 *
 * Fields come from the type of an object if that is known as a whole. In other objects each word
 * may be a pointer, and has the name that it has in the first object of the shape. Padding follows
 * the fields, so that readers which add them up come to the slot's size.
 */
#include <stdlib.h>

#include "output/hprof/hprof_parts.h"

enum {
    MOST_PADDING = 1024, /* the most padding fields of 8 bytes in an instance */
    MOST_SHORT = 256,    /* the most bytes of an array whose elements' parts become fields */
    LEAST_ARRAY = 24,    /* an object array of this many bytes has space for all 8-byte pointers */
    BLOCK = 1 << 14,     /* nodes of a task */
    MANY = 64
};

/* ---- shapes ---- */

static bool is_array_name(const char *name, size_t size)
{
    return size > 2 && name[0] == '[' && name[1] == ']';
}

static struct g2h_error *shape_of_objects(struct classes *classes, const char *name, size_t size,
                                          struct shape *shape)
{
    struct text *text = &classes->text;
    uint32_t id;
    text->size = 0;
    if (is_array_name(name, size))
        java_array_name(name + 2, size - 2, text);
    else
        java_array_name(name, size, text);
    TRY_MEMORY(!text->failed && java_names_text(classes->names, text->data, text->size, &id));
    return classes_named(classes, id, &shape->class);
}

/* Adds fields that fill an instance up to the size of its slot, unless its other fields do. */
static struct g2h_error *add_padding(struct classes *classes, struct shape *shape)
{
    struct class *class = &classes->list.data[shape->class];
    if (class->size <= shape->fields_size + OBJECT_HEADER)
        return NULL;
    uint32_t size = class->size - OBJECT_HEADER - shape->fields_size;
    shape->fields_size += size;
    static const enum field_type types[] = {TYPE_OF_LONG, TYPE_OF_INT, TYPE_OF_SHORT, TYPE_OF_BYTE};
    static const char name[] = "(padding)";
    struct class_field field;
    TRY_MEMORY(java_names_text(classes->names, name, sizeof(name) - 1, &field.name));
    for (uint32_t i = 0, width = 8; width > 0; i++, width /= 2)
        for (field.type = types[i]; size >= width; size -= width, class->fields++)
            TRY_MEMORY(vector_push(&classes->fields, field));
    return NULL;
}

static struct g2h_error *shapes_add_field(struct classes *classes, struct shape *shape,
                                          const struct part *part)
{
    const struct class_field field = {part->name, part->type};
    const uint32_t offset = (uint32_t)part->offset;
    TRY_MEMORY(vector_push(&classes->fields, field));
    if (part->type == TYPE_OF_OBJECT) {
        const struct shape_pointer pointer = {offset, shape->fields_size};
        TRY_MEMORY(vector_push(&classes->pointers, pointer));
        shape->pointers++;
        shape->fields_size += ID_SIZE;
    } else {
        const struct shape_number number = {offset, shape->fields_size, part->size, part->is_bool};
        TRY_MEMORY(vector_push(&classes->numbers, number));
        shape->numbers++;
        shape->fields_size += part->size;
    }
    return NULL;
}

/* Returns whether some word of an object that could be a pointer is in no field, such as the first
 * word of an interface, or a word after the value. A folded view has edges that are not pointers,
 * so that the result is true. */
static bool has_gap(const struct classes *classes, const struct shape_key *key,
                    const struct parts *parts)
{
    uint64_t word = 0;
    if (g2h_view_account(classes->view)->folded_nodes > 0)
        return true;
    for (size_t i = 0; i < parts->list.count; i++) {
        const struct part *part = &parts->list.data[i];
        const uint64_t size = part->type == TYPE_OF_OBJECT ? classes->word : part->size;
        if (part->offset / classes->word > word)
            return true;
        word = (part->offset + size + classes->word - 1) / classes->word;
    }
    return word < key->size / classes->word;
}

static struct g2h_error *shape_of_instance(struct classes *classes, const struct shape_key *key,
                                           const char *name, size_t size, struct parts *parts,
                                           struct shape *shape)
{
    struct text *text = &classes->text;
    uint32_t id;
    text->size = 0;
    if (is_array_name(name, size))
        java_sized_name(name, size, key->size, text);
    else
        java_class_name(name, size, text);
    TRY_MEMORY(!text->failed && java_names_text(classes->names, text->data, text->size, &id));
    TRY(classes_add(classes, id, &shape->class));
    shape->form = SHAPE_INSTANCE;
    shape->may_have_rest = key->has_edges && has_gap(classes, key, parts);
    for (size_t i = 0; i < parts->list.count; i++)
        TRY(shapes_add_field(classes, shape, &parts->list.data[i]));
    struct class *class = &classes->list.data[shape->class];
    shape->unpadded = shape->fields_size;
    class->fields = (uint32_t)parts->list.count;
    class->size = (uint32_t)key->size;
    return add_padding(classes, shape);
}

/* Adds a class of object arrays for strings, or bytes, that hold other objects. */
static struct g2h_error *add_pointing(struct classes *classes, enum shape_form form)
{
    static const char text[] = "(string)", bytes[] = "[]uint8";
    const bool is_text = form == SHAPE_TEXT;
    return shape_of_objects(
        classes, is_text ? text : bytes, is_text ? sizeof(text) - 1 : sizeof(bytes) - 1,
        &classes->shapes.data[is_text ? classes->pointing_text : classes->pointing_bytes]);
}

struct g2h_error *classes_add_rest(struct classes *classes, size_t number)
{
    static const char name[] = "(others)";
    struct shape *shape = &classes->shapes.data[number];
    struct class *class = &classes->list.data[shape->class];
    if (shape->form == SHAPE_TEXT || shape->form == SHAPE_BYTES)
        return add_pointing(classes, shape->form);
    const uint32_t first = class->first_field, count = shape->pointers + shape->numbers;
    struct class_field field = {.type = TYPE_OF_OBJECT};
    TRY_MEMORY(java_names_text(classes->names, name, sizeof(name) - 1, &field.name));
    class->first_field = (uint32_t)classes->fields.count;
    class->fields = count + 1;
    for (uint32_t i = 0; i < count; i++) {
        const struct class_field copy = classes->fields.data[first + i];
        TRY_MEMORY(vector_push(&classes->fields, copy));
    }
    TRY_MEMORY(vector_push(&classes->fields, field));
    shape->rest = shape->unpadded;
    shape->fields_size = shape->unpadded + ID_SIZE;
    return add_padding(classes, shape);
}

/* Returns whether an array is written as an object array, since its elements are pointers or it is
 * long; sets the shape's base and stride. */
static bool is_object_array(struct classes *classes, const struct shape_key *key,
                            struct shape *shape)
{
    struct element element;
    if (key->size < LEAST_ARRAY)
        return false;
    shape->stride = (uint32_t)classes->word;
    if (key->layout == 0)
        return true;
    parts_element(classes, key, &element);
    if (element.pointers <= 1 && element.stride >= classes->word && element.stride < UINT32_MAX) {
        shape->base = (uint32_t)element.base;
        shape->stride = (uint32_t)element.stride;
    }
    return key->size > MOST_SHORT || (element.pointers == 1 && element.stride == classes->word);
}

static bool is_padding_long(const struct shape_key *key, const struct parts *parts)
{
    uint64_t filled = OBJECT_HEADER;
    for (size_t i = 0; i < parts->list.count; i++)
        filled += parts->list.data[i].type == TYPE_OF_OBJECT ? ID_SIZE : parts->list.data[i].size;
    return key->size > filled && (key->size - filled) / 8 > MOST_PADDING;
}

static struct g2h_error *make_object_shape(struct classes *classes, const struct shape_key *key,
                                           const char *name, size_t size, struct shape *shape)
{
    _cleanup_(parts_deinit) struct parts parts = {0};
    shape->form = SHAPE_OBJECTS;
    if (key->size >= PIECE) {
        shape->stride = (uint32_t)classes->word;
        return shape_of_objects(classes, name, size, shape);
    }
    if (is_array_name(name, size) && is_object_array(classes, key, shape))
        return shape_of_objects(classes, name, size, shape);
    if (key->layout != 0)
        TRY(parts_by_values(classes, key, &parts));
    else if (key->has_edges)
        TRY(parts_by_words(classes, key, &parts));
    if (!parts.too_many && !is_padding_long(key, &parts))
        return shape_of_instance(classes, key, name, size, &parts, shape);
    shape->base = 0;
    shape->stride = (uint32_t)classes->word;
    return shape_of_objects(classes, name, size, shape);
}

static struct g2h_error *make_shape(struct classes *classes, const struct shape_key *key,
                                    struct shape *shape)
{
    static const char texts[] = "(string)";
    size_t size = sizeof(texts) - 1;
    const char *name = key->is_text ? texts : g2h_view_name(classes->view, key->name, &size);
    if (key->is_folded) {
        shape->form = SHAPE_ROW;
        return shape_of_objects(classes, name, size, shape);
    }
    if (key->size < PIECE && (key->is_text || key->name == classes->name_of_bytes)) {
        shape->form = key->is_text ? SHAPE_TEXT : SHAPE_BYTES;
        shape->may_have_rest = key->has_edges;
        shape->class = CLASS_STRING;
        return NULL;
    }
    return make_object_shape(classes, key, name, size, shape);
}

struct shape_key shape_key_of(const struct classes *classes, uint32_t number,
                              const struct g2h_node *node)
{
    struct shape_key key = {.name = node->name,
                            .node = number,
                            .is_text = node->kind == G2H_NODE_TEXT,
                            .is_folded = node->members > 0,
                            .has_edges = node->edges > 0};
    const bool is_one = !key.is_folded && (!key.is_text || node->size >= PIECE);
    if (is_one) {
        key.size = node->size;
        if (node->object != UINT32_MAX)
            key.layout = g2h_values_layout(classes->view, node->object);
    }
    if (key.is_text)
        key.name = G2H_NAME_NONE;
    const uint64_t flags = (uint64_t)key.name << 2 | (key.is_text ? 2u : 0u) | key.is_folded;
    key.hash = map_hash_pair(map_hash_pair(key.layout, key.size), flags);
    return key;
}

/* ---- shapes of all objects ---- */

bool is_written(const struct classes *classes, uint32_t number, const struct g2h_node *node)
{
    struct g2h_node member;
    if (node->kind == G2H_NODE_STACK)
        return true;
    if (node->kind != G2H_NODE_OBJECT && node->kind != G2H_NODE_TEXT)
        return false;
    if (classes->keeps_garbage)
        return true;
    if (node->object != UINT32_MAX)
        return !g2h_view_is_garbage(classes->view, node->object);
    g2h_view_member(classes->view, number, 0, &member);
    return !g2h_view_is_garbage(classes->view, member.object);
}

struct shapes_finding {
    struct classes *classes;
    struct map *seen; /* by thread: keys that it has passed on already */
    VECTOR(struct shape_key) keys;
};

/* Collects the shapes of a task's objects, each once per thread. */
static struct g2h_error *find_keys(void *context, size_t task, unsigned worker,
                                   struct worker_buffer *buffer)
{
    struct shapes_finding *finding = context;
    const struct g2h_view *view = finding->classes->view;
    struct g2h_node nodes[MANY];
    const uint32_t first = (uint32_t)task * BLOCK;
    size_t count = MANY;
    for (uint32_t node = first; node - first < BLOCK && count == MANY; node += MANY) {
        count = g2h_view_nodes(view, node, MANY, nodes);
        for (size_t i = 0; i < count; i++) {
            uint32_t known;
            if (!is_written(finding->classes, node + (uint32_t)i, &nodes[i]))
                continue;
            const struct shape_key key =
                shape_key_of(finding->classes, node + (uint32_t)i, &nodes[i]);
            struct map *seen = &finding->seen[worker];
            const uint64_t hash = key.hash ^ key.has_edges;
            if (map_get(seen, hash) != MAP_NONE)
                continue;
            TRY_MEMORY(map_put(seen, hash, 0, &known) &&
                       worker_buffer_put(buffer, &key, sizeof(key)));
        }
    }
    return NULL;
}

/* Numbers the keys. Of equal keys the first one counts, or the first one that has edges. */
static struct g2h_error *shapes_number_keys(void *context, const struct worker_buffer *buffer)
{
    struct shapes_finding *finding = context;
    for (size_t at = 0; at < buffer->size; at += sizeof(struct shape_key)) {
        struct shape_key key;
        uint32_t number;
        memcpy(&key, buffer->data + at, sizeof(key));
        TRY_MEMORY(
            map_put(&finding->classes->by_key, key.hash, (uint32_t)finding->keys.count, &number));
        if (number == finding->keys.count)
            TRY_MEMORY(vector_push(&finding->keys, key));
        else if (key.has_edges && !finding->keys.data[number].has_edges)
            finding->keys.data[number] = key;
    }
    return NULL;
}

static struct g2h_error *make_shapes(struct shapes_finding *finding)
{
    struct classes *classes = finding->classes;
    for (size_t i = 0; i < finding->keys.count; i++) {
        struct shape shape = {.stride = 1, .rest = UINT32_MAX};
        shape.first_pointer = (uint32_t)classes->pointers.count;
        shape.first_number = (uint32_t)classes->numbers.count;
        TRY(make_shape(classes, &finding->keys.data[i], &shape));
        TRY_MEMORY(vector_push(&classes->shapes, shape));
    }
    const struct shape pointing = {.form = SHAPE_OBJECTS,
                                   .stride = (uint32_t)classes->word,
                                   .rest = UINT32_MAX,
                                   .class = CLASS_OBJECTS};
    classes->pointing_text = (uint32_t)classes->shapes.count;
    classes->pointing_bytes = classes->pointing_text + 1;
    TRY_MEMORY(vector_push(&classes->shapes, pointing) && vector_push(&classes->shapes, pointing));
    return NULL;
}

struct g2h_error *classes_find(struct classes *classes, unsigned threads)
{
    struct shapes_finding finding = {.classes = classes};
    const size_t tasks = ((size_t)g2h_view_node_count(classes->view) + BLOCK - 1) / BLOCK;
    finding.seen = calloc(threads, sizeof(*finding.seen));
    TRY_MEMORY(finding.seen);
    struct g2h_error *error =
        workers_run_ordered(threads, tasks, find_keys, NULL, shapes_number_keys, &finding);
    if (!error)
        error = make_shapes(&finding);
    for (unsigned i = 0; i < threads; i++)
        map_deinit(&finding.seen[i]);
    free(finding.seen);
    free(finding.keys.data);
    return error;
}
