/*
 * hprof_classes: the Java classes that Go's objects become; see hprof_classes.h. The parts, each of
 * which uses those before it:
 *
 * java_names   strings of the file, each once; names that Java allows for types of Go
 * java_string  a string as Java has it: a String and the array of its bytes
 * parts        the fields of an object, by its type or by its words
 * classes      the classes that all readers insist on, and records of classes
 * shapes       finds the shapes of all objects, and makes a class of fields for each
 *
 * A shape is what decides how an object is written: its class in Go, its layout and its size. The
 * objects of one shape have one Java class.
 */
#include "output/hprof/hprof_classes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "output/fields.h"

/* ==== the strings of an HPROF file, each once, and the Java names of Go's types ==== */

/* Begins with no name of the view. Returns false if memory runs out. */
bool java_names_init(struct java_names *names, const struct g2h_view *view)
{
    *names = (struct java_names){.view = view};
    names->of_view = calloc(count_and_end(g2h_view_name_count(view)), sizeof(*names->of_view));
    return names->of_view != NULL;
}

void java_names_deinit(struct java_names *names)
{
    string_pool_deinit(&names->pool);
    free(names->of_view);
}

/* Finds the ID of a string: its number in the pool, to which it is added on first use, plus 1.
 * Returns false if memory runs out. */
bool java_names_text(struct java_names *names, const char *text, size_t size, uint32_t *ret)
{
    uint32_t number;
    if (!string_pool_intern(&names->pool, text, size, &number))
        return false;
    *ret = number + 1;
    return true;
}

/* Finds the ID of a name of the view. Each name of the view is made once: names->of_view remembers
 * it, 0 for those that are not made yet. Returns false if memory runs out. */
bool java_names_of_view(struct java_names *names, uint32_t name, uint32_t *ret)
{
    size_t size;
    if (name == G2H_NAME_NONE)
        return java_names_text(names, "", 0, ret);
    const char *text = g2h_view_name(names->view, name, &size);
    if (names->of_view[name] == 0 && !java_names_text(names, text, size, &names->of_view[name]))
        return false;
    *ret = names->of_view[name];
    return true;
}

/* ---- names of classes ---- */

/* Returns where the brackets at the beginning of a type end: in "[4][]main.Bid" at "main". */
static size_t skip_brackets(const char *name, size_t size)
{
    size_t at = 0;
    while (at < size && name[at] == '[') {
        const char *end = memchr(name + at, ']', size - at);
        if (!end)
            break;
        at = as_size(end - name) + 1;
    }
    return at;
}

/* Appends a name with a slash for each dot, as Java writes packages. */
static void append_slashed(const char *name, size_t size, struct text *ret)
{
    for (size_t i = 0; i < size; i++)
        text_append(ret, name[i] == '.' ? "/" : name + i, 1);
}

/* Appends a type with its leading brackets moved to the end. A bracket that is not closed stays in
 * front, as a parenthesis. */
static void append_turned(const char *name, size_t size, struct text *ret)
{
    const size_t brackets = skip_brackets(name, size);
    const bool is_open = brackets < size && name[brackets] == '[';
    if (is_open)
        text_append_string(ret, "(");
    append_slashed(name + brackets + is_open, size - brackets - is_open, ret);
    text_append(ret, name, brackets);
}

/* Returns the bytes of a text from begin on. */
static struct g2h_bytes text_from(const struct text *text, size_t begin)
{
    assert(begin <= text->size);
    return text->size > begin ? bytes_at(text->data + begin, text->size - begin) : bytes_none;
}

/* Returns whether a name has a meaning in Java, so that a class of Go must not have it. */
static bool is_javas(struct g2h_bytes name)
{
    static const char *const primitives[] = {"boolean", "char",  "float", "double",
                                             "byte",    "short", "int",   "long"};
    if (bytes_begin(name, "java/"))
        return true;
    for (size_t i = 0; i < COUNT_OF(primitives); i++)
        if (bytes_are(name, primitives[i]))
            return true;
    return false;
}

/* Appends a name that is turned into a Java class's. What would be a class of Java itself, or an
 * array, or would be empty, gets " (Go)" after it. */
void java_class_name(const char *name, size_t size, struct text *ret)
{
    const size_t begin = ret->size;
    append_turned(name, size, ret);
    if (ret->failed)
        return;
    const struct g2h_bytes made = text_from(ret, begin);
    if (made.size == 0 || bytes_begin(made, "java/") || bytes_end(made, "[]"))
        text_append_string(ret, " (Go)");
}

/* Appends the class name for arrays of this many bytes that are written as instances: main/Bid[][]
 * (48 bytes) for [][]main.Bid. */
static void java_sized_name(const char *name, size_t size, uint64_t bytes, struct text *ret)
{
    append_turned(name, size, ret);
    text_printf(ret, " (%" PRIu64 " bytes)", bytes);
}

/* Appends the class name for object arrays; name is that of an element. */
static void java_array_name(const char *name, size_t size, struct text *ret)
{
    text_append_string(ret, "[L");
    const size_t begin = ret->size;
    append_turned(name, size, ret);
    if (!ret->failed && is_javas(text_from(ret, begin)))
        text_append_string(ret, " (Go)");
    text_append_string(ret, ";");
}

/* ==== a string as Java stores it: a String and the array of its bytes ==== */

/* Returns the next character; U+FFFD for a byte that is not UTF-8. */
static uint32_t next_character(const struct java_string *string, size_t *at)
{
    const uint8_t *text = (const uint8_t *)string->text;
    uint32_t character = 0xfffd;
    const size_t size = utf8_read(text + *at, string->size - *at, &character);
    *at += size > 0 ? size : 1;
    return character;
}

/* Finds how a string is stored: in bytes if all its characters are in Latin-1, else in UTF-16; and
 * in how many bytes. What is beyond PIECE bytes is left out. */
struct java_string java_string_of(const char *text, size_t size)
{
    struct java_string string = {.text = text, .size = size < PIECE ? size : (size_t)PIECE};
    uint32_t count = 0, wide = 0;
    string.is_ascii = text_is_ascii(text, string.size);
    if (string.is_ascii) {
        string.bytes = (uint32_t)string.size;
        return string;
    }
    for (size_t at = 0; at < string.size; count++) {
        const uint32_t character = next_character(&string, &at);
        string.is_wide = string.is_wide || character > 0xff;
        wide += character > 0xffff ? 4 : 2;
    }
    string.bytes = string.is_wide ? wide : count;
    return string;
}

/* Writes a character of UTF-16 as two bytes or, as a pair of surrogates, four. */
static char *put_wide(char *at, uint32_t character)
{
    if (character <= 0xffff)
        return put_u2(at, character);
    character -= 0x10000;
    return put_u2(put_u2(at, 0xd800 | character >> 10), 0xdc00 | (character & 0x3ff));
}

/* Writes the bytes of a string. ASCII is copied; other texts are written character by character, in
 * one byte each (Latin-1) or, if wide, in UTF-16. */
char *java_string_put(char *at, const struct java_string *string)
{
    if (string->is_ascii) {
        if (string->size > 0)
            memcpy(at, string->text, string->size);
        return at + string->size;
    }
    for (size_t from = 0; from < string->size;) {
        const uint32_t character = next_character(string, &from);
        at = string->is_wide ? put_wide(at, character) : put_u1(at, character);
    }
    return at;
}

/* Writes an instance of String, and returns the position after it. */
char *java_string_put_instance(char *at, uint32_t id, uint32_t bytes, bool is_wide)
{
    at = put_instance(at, id, class_id(CLASS_STRING), STRING_FIELDS);
    return put_u1(put_u4(at, bytes), is_wide);
}

/* Writes the instance of String, and after it the array of its bytes. */
struct g2h_error *java_string_write(struct hprof_segment *segment, uint32_t id, uint32_t bytes,
                                    const char *text, size_t size)
{
    const struct java_string string = java_string_of(text, size);
    char *at;
    TRY(segment_reserve(segment, STRING_RECORD + NUMBERS_HEADER + string.bytes, &at));
    at = java_string_put_instance(at, id, bytes, string.is_wide);
    java_string_put(hprof_put_byte_array(at, bytes, string.bytes), &string);
    return NULL;
}

/* ==== the contents of an object, field by field ==== */

static void parts_deinit(struct parts *parts)
{
    free(parts->list.data);
}

/* Adds a part. Beyond FIELDS_MOST, or at an offset beyond 32 bits, notes parts->too_many
 * instead. */
static struct g2h_error *parts_add(struct parts *parts, struct part part)
{
    if (parts->list.count >= FIELDS_MOST || part.offset > UINT32_MAX) {
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
    if (text->size == 0)
        text_append_string(text, "(value)");
    TRY_MEMORY(!text->failed &&
               java_names_text(classes->names, text->data, text->size, &part.name));
    part.offset += value->offset;
    return parts_add(parts, part);
}

/* Adds a bool, integer, or float as one part, and a complex number as two. A size that Java has no
 * type for is left out. */
static struct g2h_error *add_number(struct classes *classes, struct parts *parts,
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
        part.type = value->size < COUNT_OF(integers) ? integers[value->size] : 0;
    }
    return part.type != 0 ? add_named(classes, parts, value, "", part) : NULL;
}

/* Adds the words after a value's pointer, such as the length of a string. */
static struct g2h_error *add_words(struct classes *classes, struct parts *parts,
                                   const struct g2h_value *value, const char *const *names,
                                   size_t count)
{
    const uint16_t word = (uint16_t)classes->word;
    for (size_t i = 0; i < count && !g2h_view_is_redacted(classes->view); i++)
        TRY(add_named(classes, parts, value, names[i],
                      (struct part){.offset = (i + 1) * word,
                                    .size = word,
                                    .type = word == 8 ? TYPE_OF_LONG : TYPE_OF_INT}));
    return NULL;
}

/* Adds the parts of a value: a pointer for all that leads somewhere, with the length and capacity
 * after it, or a number; numbers are left out of redacted views. */
static struct g2h_error *add_value(struct classes *classes, struct parts *parts,
                                   const struct g2h_value *value)
{
    static const char *const lengths[] = {".len", ".cap"};
    const struct part pointer = {.type = TYPE_OF_OBJECT};
    switch (value->kind) {
    case G2H_VALUE_STRING:
        TRY(add_named(classes, parts, value, "", pointer));
        return add_words(classes, parts, value, lengths, 1);
    case G2H_VALUE_SLICE:
        TRY(add_named(classes, parts, value, "", pointer));
        return add_words(classes, parts, value, lengths, 2);
    case G2H_VALUE_INTERFACE:
        return add_named(classes, parts, value, "",
                         (struct part){.offset = classes->word, .type = TYPE_OF_OBJECT});
    case G2H_VALUE_POINTER:
        return add_named(classes, parts, value, "", pointer);
    default:
        return g2h_view_is_redacted(classes->view) ? NULL : add_number(classes, parts, value);
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

/* Adds the parts of the first object of a shape by its type: each value that is written as a whole,
 * until there are too many. */
static struct g2h_error *parts_by_values(struct classes *classes, const struct shape_key *key,
                                         struct parts *parts)
{
    const uint64_t written = written_of(classes, key);
    struct g2h_value value;
    g2h_values_begin(classes->values, key->node);
    while (!parts->too_many && g2h_values_next(classes->values, &value))
        if (value.offset + value.size <= written)
            TRY(add_value(classes, parts, &value));
    return NULL;
}

/* Finds how the first object of a shape is an array: where the second element begins (the stride),
 * and how many values and pointers the first one has. A stride of 0: there is no second element. */
static void parts_element(struct classes *classes, const struct shape_key *key, struct element *ret)
{
    struct g2h_value value;
    *ret = (struct element){0};
    g2h_values_begin(classes->values, key->node);
    while (ret->values < FIELDS_MOST && g2h_values_next(classes->values, &value)) {
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

/* Adds a pointer for each word of the first object of a shape, with the name of the pointer that is
 * there, or "f16" by its offset. Sets parts->too_many if there are more than FIELDS_MOST. */
static struct g2h_error *parts_by_words(struct classes *classes, const struct shape_key *key,
                                        struct parts *parts)
{
    const uint64_t words = key->size / classes->word;
    char name[32];
    if (words > FIELDS_MOST) {
        parts->too_many = true;
        return NULL;
    }
    _cleanup_free_ uint32_t *names = calloc(count_and_end(words), sizeof(*names));
    TRY_MEMORY(names);
    TRY(find_word_names(classes, key->node, names, words));
    for (uint64_t i = 0; i < words; i++) {
        const uint64_t offset = i * classes->word;
        const int length = snprintf(name, sizeof(name), "f%u", (unsigned)offset);
        TRY_MEMORY(names[i] != 0 ||
                   java_names_text(classes->names, name, as_size(length), &names[i]));
        TRY(parts_add(parts,
                      (struct part){.offset = offset, .name = names[i], .type = TYPE_OF_OBJECT}));
    }
    return NULL;
}

/* ==== the classes and shapes with which objects are written ==== */

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

/* Returns the bytes of a field of this type in the file. */
static uint32_t size_of(enum field_type type)
{
    static const uint8_t sizes[] = {
        [TYPE_OF_OBJECT] = ID_SIZE, [TYPE_OF_BOOL] = 1,   [TYPE_OF_CHAR] = 2,
        [TYPE_OF_FLOAT] = 4,        [TYPE_OF_DOUBLE] = 8, [TYPE_OF_BYTE] = 1,
        [TYPE_OF_SHORT] = 2,        [TYPE_OF_INT] = 4,    [TYPE_OF_LONG] = 8};
    return sizes[type];
}

/* Adds a class that every file has, with its fields. Its size is that of its superclass and of
 * these, rounded up. */
static struct g2h_error *add_java_class(struct classes *classes, const struct java_class *java)
{
    struct class class = {.super = java->super, .size = OBJECT_HEADER, .is_root = true};
    class.first_field = as_u32(classes->fields.count);
    TRY_MEMORY(java_names_text(classes->names, java->name, strlen(java->name), &class.name));
    if (java->super != UINT32_MAX)
        class.size = classes->list.data[java->super].size;
    for (const struct java_field *field = java->fields; field->name; field++) {
        struct class_field made = {.type = field->type};
        TRY_MEMORY(java_names_text(classes->names, field->name, strlen(field->name), &made.name) &&
                   vector_push(&classes->fields, made));
        class.size += size_of(field->type);
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
    } shifts[] = {{"HI_BYTE_SHIFT", 8}, {"LO_BYTE_SHIFT", 0}}; /* big-endian, as the file */
    struct class *class = &classes->list.data[CLASS_STRING_UTF16];
    class->first_static = as_u32(classes->statics.count);
    for (size_t i = 0; i < COUNT_OF(shifts); i++, class->statics++) {
        struct class_static made = {.value = shifts[i].value, .type = TYPE_OF_INT};
        TRY_MEMORY(
            java_names_text(classes->names, shifts[i].name, strlen(shifts[i].name), &made.name) &&
            vector_push(&classes->statics, made));
    }
    return NULL;
}

/* Adds the classes that any Java heap has. */
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

/* Adds a class without fields. The class begins where the lists of fields and statics end now, so
 * its own are to be added next. */
struct g2h_error *classes_add(struct classes *classes, uint32_t name, uint32_t *ret)
{
    const struct class class = {.name = name,
                                .super = CLASS_OBJECT,
                                .size = OBJECT_HEADER,
                                .first_field = as_u32(classes->fields.count),
                                .first_static = as_u32(classes->statics.count)};
    *ret = as_u32(classes->list.count);
    TRY_MEMORY(vector_push(&classes->list, class));
    return NULL;
}

/* Finds the class of a name, or adds it, without instances. */
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

/* Writes HPROF_LOAD_CLASS per class: serial number, ID, serial number of a stack trace (0), and the
 * ID of the name. */
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

/* Writes a static of a class, and returns the position after it. */
static char *put_static(char *at, const struct class_static *of)
{
    at = put_u1(put_u4(at, of->name), of->type);
    return put_u4(at, of->value);
}

/* Writes the record of a class (HPROF_GC_CLASS_DUMP): id, stack trace (0), superclass, five more
 * ids (0: loader, signers, domain, reserved), size, constants (none), statics and fields. */
static struct g2h_error *write_class(const struct classes *classes, uint32_t number,
                                     struct hprof_segment *segment)
{
    enum { NO_IDS = 5 * ID_SIZE, FIXED = 1 + ID_SIZE + 4 + ID_SIZE + NO_IDS + 4 + 3 * 2 };
    enum { STATIC = ID_SIZE + 1 + 4, FIELD = ID_SIZE + 1 };
    const struct class *class = &classes->list.data[number];
    char *at;
    TRY(segment_reserve(segment, FIXED + (size_t) class->statics * STATIC + class->fields * FIELD,
                        &at));
    at = put_u4(put_u4(put_u1(at, HEAP_CLASS), class_id(number)), 0);
    at = put_u4(at, class->super == UINT32_MAX ? 0 : class_id(class->super));
    memset(at, 0, NO_IDS);
    at = put_u2(put_u4(at + NO_IDS, class->size), 0);
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

/* Writes a class dump for each class, and then, for those that are roots (is_root), that they
 * are. */
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

/* ==== finds the shapes of a view's objects, and makes the fields of their classes ====
 *
 * Fields come from the type of an object if that is known as a whole. In other objects each word
 * may be a pointer, and has the name that it has in the first object of the shape. Padding follows
 * the fields, so that readers which add them up come to the slot's size.
 */

enum {
    MOST_PADDING = 1024, /* the most padding fields of 8 bytes in an instance */

    LEAST_ARRAY = 24, /* an object array of this many bytes has space for all 8-byte pointers */
    BLOCK = 1 << 14,  /* nodes of a task */
    MANY = 64
};

/* ---- shapes ---- */

/* Returns whether a name is that of an array in Go: it begins with "[]". */
static bool is_array_name(const char *name, size_t size)
{
    return size > 2 && name[0] == '[' && name[1] == ']';
}

/* Sets the class of objects that are written as an object array, by their name in Go. Their base
 * and stride are the caller's matter. */
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

/* Adds a part as the next field of a shape's class, and where in the object it comes from. */
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
    VECTOR_EACH(const struct part, part, parts->list) {
        const uint64_t size = part->type == TYPE_OF_OBJECT ? classes->word : part->size;
        if (part->offset / classes->word > word)
            return true;
        word = (part->offset + size + classes->word - 1) / classes->word;
    }
    return word < key->size / classes->word;
}

/* Makes objects of a shape instances, with a field for each part, and padding up to the size of the
 * slot. */
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
    VECTOR_EACH(const struct part, part, parts->list)
        TRY(shapes_add_field(classes, shape, part));
    struct class *class = &classes->list.data[shape->class];
    shape->unpadded = shape->fields_size;
    class->fields = as_u32(parts->list.count);
    class->size = (uint32_t)key->size;
    return add_padding(classes, shape);
}

/* Adds a class of object arrays for strings, or bytes, that hold other objects. */
static struct g2h_error *add_pointing(struct classes *classes, enum shape_form form)
{
    static const char text[] = "(string)";
    static const char bytes[] = "[]uint8";
    struct shape *shapes = classes->shapes.data;
    if (form == SHAPE_TEXT)
        return shape_of_objects(classes, text, sizeof(text) - 1, &shapes[classes->pointing_text]);
    return shape_of_objects(classes, bytes, sizeof(bytes) - 1, &shapes[classes->pointing_bytes]);
}

/* Adds a field to a shape's class, for the edges that no other field has: before the padding, which
 * is made anew. The fields of a class are in a row, so all are copied to the end of the list.
 * Strings and byte slices get classes of their own instead. */
struct g2h_error *classes_add_rest(struct classes *classes, size_t number)
{
    static const char name[] = "(others)";
    struct shape *shape = &classes->shapes.data[number];
    struct class *class = &classes->list.data[shape->class];
    if (shape->form == SHAPE_TEXT || shape->form == SHAPE_BYTES)
        return add_pointing(classes, shape->form);
    const uint32_t first = class->first_field;
    const uint32_t count = shape->pointers + shape->numbers;
    struct class_field field = {.type = TYPE_OF_OBJECT};
    TRY_MEMORY(java_names_text(classes->names, name, sizeof(name) - 1, &field.name));
    class->first_field = as_u32(classes->fields.count);
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

/* Returns whether an array is written as an object array, since its elements are pointers, or not
 * known, or it is long; sets the shape's base and stride. A short one (LEAST_ARRAY) never is. */
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
    return key->size > FIELDS_MOST_ARRAY ||
           (element.pointers == 1 && element.stride == classes->word);
}

/* Returns whether an instance would need more than MOST_PADDING fields of padding. */
static bool is_padding_long(const struct shape_key *key, const struct parts *parts)
{
    uint64_t filled = OBJECT_HEADER;
    VECTOR_EACH(const struct part, part, parts->list)
        filled += part->type == TYPE_OF_OBJECT ? ID_SIZE : part->size;
    return key->size > filled && (key->size - filled) / 8 > MOST_PADDING;
}

/* Makes objects of a shape an object array with an element for each word. */
static struct g2h_error *shape_of_words(struct classes *classes, const char *name, size_t size,
                                        struct shape *shape)
{
    shape->form = SHAPE_OBJECTS;
    shape->base = 0;
    shape->stride = (uint32_t)classes->word;
    return shape_of_objects(classes, name, size, shape);
}

/* Makes the shape of objects that are neither text, nor bytes, nor folded: an array of elements for
 * "[]T" that are pointers or long; else an instance with a field for each value or edge; or an
 * array of words, for what has too many bytes or fields, or too much padding, for an instance. */
static struct g2h_error *make_object_shape(struct classes *classes, const struct shape_key *key,
                                           const char *name, size_t size, struct shape *shape)
{
    _cleanup_(parts_deinit) struct parts parts = {0};
    shape->form = SHAPE_OBJECTS;
    if (key->size >= PIECE)
        return shape_of_words(classes, name, size, shape);
    if (is_array_name(name, size) && is_object_array(classes, key, shape))
        return shape_of_objects(classes, name, size, shape);
    if (key->layout != 0)
        TRY(parts_by_values(classes, key, &parts));
    else if (key->has_edges)
        TRY(parts_by_words(classes, key, &parts));
    if (!parts.too_many && !is_padding_long(key, &parts))
        return shape_of_instance(classes, key, name, size, &parts, shape);
    return shape_of_words(classes, name, size, shape);
}

/* Makes a shape from its key, by what the objects are: rows of folded nodes, strings, arrays of
 * bytes, or other objects. */
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

/* Returns the key of a node's shape. What nodes of one shape have in common: the class, and of a
 * single object also its size and layout. */
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

/* Returns whether a node is written as an object. Objects, texts, stacks and the rest of a view
 * are; garbage only if the heap is not complete, as it may not be any. */
bool is_written(const struct classes *classes, uint32_t number, const struct g2h_node *node)
{
    struct g2h_node member;
    if (node->kind == G2H_NODE_STACK || node->kind == G2H_NODE_ELSE)
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
    const uint32_t first = as_u32(task) * BLOCK;
    size_t count = MANY;
    for (uint32_t node = first; node - first < BLOCK && count == MANY; node += MANY) {
        count = g2h_view_nodes(view, node, MANY, nodes);
        for (size_t i = 0; i < count; i++) {
            uint32_t known;
            if (!is_written(finding->classes, node + as_u32(i), &nodes[i]))
                continue;
            const struct shape_key key =
                shape_key_of(finding->classes, node + as_u32(i), &nodes[i]);
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
            map_put(&finding->classes->by_key, key.hash, as_u32(finding->keys.count), &number));
        if (number == finding->keys.count)
            TRY_MEMORY(vector_push(&finding->keys, key));
        else if (key.has_edges && !finding->keys.data[number].has_edges)
            finding->keys.data[number] = key;
    }
    return NULL;
}

/* Makes all shapes that were found, and two for strings and arrays of bytes that hold objects. */
static struct g2h_error *make_shapes(struct shapes_finding *finding)
{
    struct classes *classes = finding->classes;
    VECTOR_EACH(const struct shape_key, key, finding->keys) {
        struct shape shape = {.stride = 1, .rest = UINT32_MAX};
        shape.first_pointer = as_u32(classes->pointers.count);
        shape.first_number = as_u32(classes->numbers.count);
        TRY(make_shape(classes, key, &shape));
        TRY_MEMORY(vector_push(&classes->shapes, shape));
    }
    const struct shape pointing = {.form = SHAPE_OBJECTS,
                                   .stride = (uint32_t)classes->word,
                                   .rest = UINT32_MAX,
                                   .class = CLASS_OBJECTS};
    classes->pointing_text = as_u32(classes->shapes.count);
    classes->pointing_bytes = classes->pointing_text + 1;
    TRY_MEMORY(vector_push(&classes->shapes, pointing) && vector_push(&classes->shapes, pointing));
    return NULL;
}

/* Finds the classes of the file. Collects the shapes on all threads, and then makes them and their
 * classes. */
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
