/* hprof_classes; see hprof_classes.h. */
#include "output/hprof/hprof_classes.h"

#include <stdlib.h>

/* ---- classes that every file has ---- */

struct java_field {
    const char *name;
    enum field_type type;
};

/* Classes that readers insist on, or know by name. Their sizes result from their fields. */
static const struct java_class {
    const char *name;
    uint32_t super;
    struct java_field fields[10];
} java_classes[CLASSES_OF_JAVA] = {
    [CLASS_OBJECT] = {"java/lang/Object", UINT32_MAX, {{0}}},
    [CLASS_CLASS] = {"java/lang/Class", CLASS_OBJECT, {{0}}},
    [CLASS_LOADER] = {"java/lang/ClassLoader", CLASS_OBJECT, {{0}}},
    [CLASS_STRING] = {"java/lang/String",
                      CLASS_OBJECT,
                      {{"value", TYPE_OF_OBJECT}, {"coder", TYPE_OF_BYTE}}},
    [CLASS_STRING_UTF16] = {"java/lang/StringUTF16", CLASS_OBJECT, {{0}}},
    [CLASS_THREAD] = {"java/lang/Thread",
                      CLASS_OBJECT,
                      {{"name", TYPE_OF_OBJECT},
                       {"group", TYPE_OF_OBJECT},
                       {"stack", TYPE_OF_OBJECT},
                       {"others", TYPE_OF_OBJECT},
                       {"tid", TYPE_OF_LONG},
                       {"priority", TYPE_OF_INT},
                       {"threadStatus", TYPE_OF_INT},
                       {"daemon", TYPE_OF_BOOL}}},
    [CLASS_THREAD_GROUP] = {"java/lang/ThreadGroup", CLASS_OBJECT, {{"name", TYPE_OF_OBJECT}}},
    [CLASS_REFERENCE] = {"java/lang/ref/Reference", CLASS_OBJECT, {{"referent", TYPE_OF_OBJECT}}},
    [CLASS_WEAK] = {"java/lang/ref/WeakReference", CLASS_REFERENCE, {{0}}},
    [CLASS_SOFT] = {"java/lang/ref/SoftReference", CLASS_REFERENCE, {{0}}},
    [CLASS_FINAL] = {"java/lang/ref/FinalReference", CLASS_REFERENCE, {{0}}},
    [CLASS_PHANTOM] = {"java/lang/ref/PhantomReference", CLASS_REFERENCE, {{0}}},
    [CLASS_OBJECTS] = {"[Ljava/lang/Object;", CLASS_OBJECT, {{0}}},
    [CLASS_FIRST_NUMBERS + 0] = {"[Z", CLASS_OBJECT, {{0}}},
    [CLASS_FIRST_NUMBERS + 1] = {"[C", CLASS_OBJECT, {{0}}},
    [CLASS_FIRST_NUMBERS + 2] = {"[F", CLASS_OBJECT, {{0}}},
    [CLASS_FIRST_NUMBERS + 3] = {"[D", CLASS_OBJECT, {{0}}},
    [CLASS_FIRST_NUMBERS + 4] = {"[B", CLASS_OBJECT, {{0}}},
    [CLASS_FIRST_NUMBERS + 5] = {"[S", CLASS_OBJECT, {{0}}},
    [CLASS_FIRST_NUMBERS + 6] = {"[I", CLASS_OBJECT, {{0}}},
    [CLASS_FIRST_NUMBERS + 7] = {"[J", CLASS_OBJECT, {{0}}},
};

static uint32_t hprof_classes_size_of(enum field_type type)
{
    static const uint8_t sizes[] = {
        [TYPE_OF_OBJECT] = ID_SIZE, [TYPE_OF_BOOL] = 1,   [TYPE_OF_CHAR] = 2,
        [TYPE_OF_FLOAT] = 4,        [TYPE_OF_DOUBLE] = 8, [TYPE_OF_BYTE] = 1,
        [TYPE_OF_SHORT] = 2,        [TYPE_OF_INT] = 4,    [TYPE_OF_LONG] = 8};
    return sizes[type];
}

static struct g2h_error *add_java_class(struct classes *classes, const struct java_class *java)
{
    struct class class = {.super = java->super, .size = OBJECT_HEADER, .is_root = true};
    class.first_field = (uint32_t)classes->fields.count;
    TRY_MEMORY(java_names_text(classes->names, java->name, strlen(java->name), &class.name));
    if (java->super != UINT32_MAX)
        class.size = classes->list.data[java->super].size;
    for (const struct java_field *field = java->fields; field->name; field++) {
        struct class_field made = {.type = field->type};
        TRY_MEMORY(java_names_text(classes->names, field->name, strlen(field->name), &made.name) &&
                   vector_push(&classes->fields, made));
        class.size += hprof_classes_size_of(field->type);
        class.fields++;
    }
    class.size = (class.size + OBJECT_ALIGNMENT - 1) & ~(OBJECT_ALIGNMENT - 1u);
    TRY_MEMORY(vector_push(&classes->list, class));
    return NULL;
}

/* Adds the statics that give the byte order of a String's two-byte characters. */
static struct g2h_error *add_byte_order(struct classes *classes)
{
    static const struct {
        const char *name;
        uint32_t value;
    } shifts[] = {{"HI_BYTE_SHIFT", 8}, {"LO_BYTE_SHIFT", 0}};
    struct class *class = &classes->list.data[CLASS_STRING_UTF16];
    class->first_static = (uint32_t)classes->statics.count;
    for (size_t i = 0; i < sizeof(shifts) / sizeof(*shifts); i++, class->statics++) {
        struct class_static made = {.value = shifts[i].value, .type = TYPE_OF_INT};
        TRY_MEMORY(
            java_names_text(classes->names, shifts[i].name, strlen(shifts[i].name), &made.name) &&
            vector_push(&classes->statics, made));
    }
    return NULL;
}

struct g2h_error *classes_init(struct classes *classes, const struct g2h_view *view,
                               struct java_names *names)
{
    static const char bytes[] = "[]uint8";
    *classes = (struct classes){
        .view = view, .names = names, .word = g2h_heap_params(g2h_view_heap(view))->pointer_size};
    classes->keeps_garbage = !g2h_heap_is_complete(g2h_view_heap(view));
    if (!g2h_view_find_name(view, bytes, sizeof(bytes) - 1, &classes->name_of_bytes))
        classes->name_of_bytes = G2H_NAME_NONE;
    TRY(g2h_edges_create(view, &classes->edges));
    TRY(g2h_values_create(view, &classes->values));
    for (uint32_t i = 0; i < CLASSES_OF_JAVA; i++)
        TRY(add_java_class(classes, &java_classes[i]));
    return add_byte_order(classes);
}

void classes_deinit(struct classes *classes)
{
    free(classes->list.data);
    free(classes->fields.data);
    free(classes->statics.data);
    free(classes->shapes.data);
    free(classes->pointers.data);
    free(classes->numbers.data);
    map_deinit(&classes->by_key);
    map_deinit(&classes->by_name);
    text_deinit(&classes->text);
    g2h_edges_destroy(classes->edges);
    g2h_values_destroy(classes->values);
}

struct g2h_error *classes_add(struct classes *classes, uint32_t name, uint32_t *ret)
{
    const struct class class = {.name = name,
                                .super = CLASS_OBJECT,
                                .size = OBJECT_HEADER,
                                .first_field = (uint32_t)classes->fields.count,
                                .first_static = (uint32_t)classes->statics.count};
    *ret = (uint32_t)classes->list.count;
    TRY_MEMORY(vector_push(&classes->list, class));
    return NULL;
}

struct g2h_error *classes_named(struct classes *classes, uint32_t name, uint32_t *ret)
{
    uint32_t known;
    *ret = map_get(&classes->by_name, name);
    if (*ret != MAP_NONE)
        return NULL;
    TRY(classes_add(classes, name, ret));
    TRY_MEMORY(map_put(&classes->by_name, name, *ret, &known));
    return NULL;
}

/* ---- records ---- */

struct g2h_error *classes_write_loads(const struct classes *classes, struct worker_buffer *buffer)
{
    enum { LOAD = 4 + ID_SIZE + 4 + ID_SIZE };
    for (uint32_t i = 0; i < classes->list.count; i++) {
        char *at = worker_buffer_reserve(buffer, RECORD_HEADER + LOAD);
        TRY_MEMORY(at);
        at = put_record(at, RECORD_LOAD_CLASS, LOAD);
        at = put_u4(put_u4(at, i + 1), class_id(i)); /* the serial number comes first */
        put_u4(put_u4(at, 0), classes->list.data[i].name);
        buffer->size += RECORD_HEADER + LOAD;
    }
    return NULL;
}

static char *put_static(char *at, const struct class_static *of)
{
    at = put_u1(put_u4(at, of->name), of->type);
    return put_u4(at, of->value);
}

static struct g2h_error *write_class(const struct classes *classes, uint32_t number,
                                     struct hprof_segment *segment)
{
    enum { FIXED = 1 + 4 + 7 * ID_SIZE + 4 + 3 * 2, STATIC = ID_SIZE + 1 + 4, FIELD = ID_SIZE + 1 };
    const struct class *class = &classes->list.data[number];
    char *at;
    TRY(segment_reserve(segment, FIXED + (size_t) class->statics * STATIC + class->fields * FIELD,
                        &at));
    at = put_u4(put_u4(put_u1(at, HEAP_CLASS), class_id(number)), 0);
    at = put_u4(at, class->super == UINT32_MAX ? 0 : class_id(class->super));
    memset(at, 0, 5 * ID_SIZE); /* the class loader and further ids, all 0 */
    at = put_u2(put_u4(at + 5 * ID_SIZE, class->size), 0);
    at = put_u2(at, class->statics);
    for (uint32_t i = 0; i < class->statics; i++)
        at = put_static(at, &classes->statics.data[class->first_static + i]);
    at = put_u2(at, class->fields);
    for (uint32_t i = 0; i < class->fields; i++) {
        const struct class_field *field = &classes->fields.data[class->first_field + i];
        at = put_u1(put_u4(at, field->name), field->type);
    }
    return NULL;
}

struct g2h_error *classes_write(const struct classes *classes, struct worker_buffer *buffer)
{
    struct hprof_segment segment;
    TRY(segment_open(&segment, buffer));
    for (uint32_t i = 0; i < classes->list.count; i++)
        TRY(write_class(classes, i, &segment));
    for (uint32_t i = 0; i < classes->list.count; i++) {
        char *at;
        if (!classes->list.data[i].is_root)
            continue;
        TRY(segment_reserve(&segment, 1 + ID_SIZE, &at));
        put_u4(put_u1(at, HEAP_ROOT_CLASS), class_id(i));
    }
    segment_close(&segment);
    return NULL;
}
