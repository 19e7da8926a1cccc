/*
 * hprof_classes: what Go's objects become in Java: names, strings, and the classes and shapes with
 * which objects are written.
 */
#ifndef HPROF_HPROF_CLASSES_H
#define HPROF_HPROF_CLASSES_H

#include <go2heapsnapshot/heap.h>
#include <go2heapsnapshot/view.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/strings.h"
#include "base/text.h"
#include "output/hprof/hprof_records.h"

/* ==== the strings of an HPROF file, each once, and the Java names of Go's types ==== */

struct java_names {
    const struct g2h_view *view;
    struct string_pool pool;
    uint32_t *of_view; /* by name of the view: the string's id; 0: it has none yet */
};

/* Returns false if memory runs out; even then *names must be passed to java_names_deinit(). */
bool java_names_init(struct java_names *names, const struct g2h_view *view);

void java_names_deinit(struct java_names *names);

/* Find the id of a string, or of a name of the view. It is not 0. They return false if memory runs
 * out. */
bool java_names_text(struct java_names *names, const char *text, size_t size, uint32_t *ret);

bool java_names_of_view(struct java_names *names, uint32_t name, uint32_t *ret);

/*
 * Appends the class name for instances of a Go type. Dots become slashes, which readers turn back.
 * Readers would take a name that begins with a bracket for an array, so the brackets go to the end:
 * [4]main.Bid becomes main/Bid[4]. A name that Java has itself gets a suffix.
 */
void java_class_name(const char *name, size_t size, struct text *ret);

/* ==== a string as Java stores it: a String and the array of its bytes ====
 *
 * The bytes are Latin-1 if all characters are in that set, otherwise UTF-16.
 */

/* A string, and how it is written. */
struct java_string {
    const char *text; /* UTF-8 */
    size_t size;
    uint32_t bytes; /* the size of the array; at most twice size */
    bool is_wide, is_ascii;
};

/* Finds out how a string is written. Only its first 2^30 bytes are used. */
struct java_string java_string_of(const char *text, size_t size);

/* Writes the bytes of the array, and returns the position after them. */
char *java_string_put(char *at, const struct java_string *string);

/* Writes the String with id id, and its array with id bytes, to a segment. Errors:
 * G2H_ERROR_MEMORY; those of worker_buffer_flush(). */
struct g2h_error *java_string_write(struct hprof_segment *segment, uint32_t id, uint32_t bytes,
                                    const char *text, size_t size);

/* The sizes of a String's fields and record, and the function that writes that record. */
enum { STRING_FIELDS = ID_SIZE + 1, STRING_RECORD = INSTANCE_HEADER + STRING_FIELDS };

char *java_string_put_instance(char *at, uint32_t id, uint32_t bytes, bool is_wide);

/* ==== the classes and shapes with which objects are written ====
 *
 * An HPROF class has a fixed list of fields, and all its instances have one size. Go's objects of
 * one class do not, so there is an HPROF class for each class and size, if need be several with one
 * name. Some objects are written as object arrays instead, whose elements are the pointers: arrays
 * of pointers, arrays that are not short, and objects with too many parts to be fields. There is
 * one class of object arrays for each name. An object's shape says how it is written.
 */

/* The numbers of classes that every file has. */
enum {
    CLASS_OBJECT,
    CLASS_CLASS,
    CLASS_LOADER,
    CLASS_STRING,
    CLASS_STRING_UTF16,
    CLASS_THREAD,
    CLASS_THREAD_GROUP,
    CLASS_REFERENCE,
    CLASS_WEAK,
    CLASS_SOFT,
    CLASS_FINAL,
    CLASS_PHANTOM,
    CLASS_OBJECTS,
    CLASS_FIRST_NUMBERS, /* arrays of TYPE_OF_BOOL … TYPE_OF_LONG */
    CLASSES_OF_JAVA = CLASS_FIRST_NUMBERS + 8
};

/* The ids of classes, and of everything else that has no id in a snapshot, are even and in this
 * range, which is otherwise unused: it ends at the ids of goroutines (output/ids.c). */
#define FIRST_FREE_ID 1024u

#define END_OF_FREE (1u << 30)

struct class_field {
    uint32_t name; /* id */
    enum field_type type;
};

struct class_static {
    uint32_t name, value; /* value: the id of an object, or a number */
    enum field_type type;
};

struct class
{
    uint32_t name;  /* id */
    uint32_t super; /* number of a class; UINT32_MAX: none */
    uint32_t size;  /* bytes of an instance */
    uint32_t first_field, fields, first_static, statics;
    bool is_root;
};

enum shape_form {
    SHAPE_INSTANCE,
    SHAPE_OBJECTS, /* an object array: each element stands for stride bytes, by offset */
    SHAPE_ROW,     /* an object array of the edges' targets, in their order */
    SHAPE_BYTES,   /* a byte[] */
    SHAPE_TEXT,    /* a String and its byte[] */
};

/* A field for the edge of a pointer. */
struct shape_pointer {
    uint32_t offset, position; /* offset in the object; position in the instance's fields */
};

/* A field for a copied number. */
struct shape_number {
    uint32_t offset, position;
    uint16_t size;
    bool is_bool;
};

struct shape {
    enum shape_form form;
    uint32_t class;
    uint32_t fields_size, unpadded; /* bytes of an instance's fields, with and without padding */
    uint32_t base, stride;          /* where the first element begins; bytes per element */
    uint32_t first_pointer, pointers, first_number, numbers;
    bool may_have_rest; /* there may be an edge without a field */
    uint32_t rest;      /* position of the field for edges that have no other; UINT32_MAX: none */
};

struct classes {
    const struct g2h_view *view;
    struct java_names *names;
    uint64_t word;
    uint64_t largest_array; /* as in struct g2h_output_options */
    bool keeps_garbage;     /* the dump is incomplete, so that it is unknown what is garbage */
    uint32_t name_of_bytes; /* "[]uint8", or G2H_NAME_NONE */
    VECTOR(struct class) list;
    VECTOR(struct class_field) fields;
    VECTOR(struct class_static) statics;
    VECTOR(struct shape) shapes;
    VECTOR(struct shape_pointer) pointers;
    VECTOR(struct shape_number) numbers;
    uint32_t pointing_text, pointing_bytes; /* shapes of strings, and of bytes, that hold other
                                             * objects */
    struct map by_key;                      /* hash of a shape_key → shape */
    struct map by_name; /* id of a name → class of object arrays, or of a package */
    struct text text;   /* a name that is being made */
    struct g2h_edges *edges;
    struct g2h_values *values;
};

/* What the objects of one shape have in common. */
struct shape_key {
    uint64_t hash; /* of size, layout, name, is_text and is_folded */
    uint64_t size, layout;
    uint32_t name;
    uint32_t node; /* the first one that has edges, or else the first one */
    bool is_text, is_folded, has_edges;
};

/* Objects of PIECE bytes and more are written in several pieces, and have to be arrays. */
#define PIECE (UINT64_C(1) << 30)

/* classes must be passed to classes_deinit() also after an error. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *classes_init(struct classes *classes, const struct g2h_view *view,
                               struct java_names *names);

void classes_deinit(struct classes *classes);

/* Finds the shapes of all objects of the view, on this number of threads. Error:
 * G2H_ERROR_MEMORY. */
struct g2h_error *classes_find(struct classes *classes, unsigned threads);

/* Adds a field to a shape of instances for the edges that have no other field. For a shape of
 * strings or bytes, adds a class for those that hold other objects. Error: G2H_ERROR_MEMORY. */
struct g2h_error *classes_add_rest(struct classes *classes, size_t shape);

/* Finds the class of a name, or adds it, without instances. Error: G2H_ERROR_MEMORY. */
struct g2h_error *classes_named(struct classes *classes, uint32_t name, uint32_t *ret);

/* Adds another class of a name. Error: G2H_ERROR_MEMORY. */
struct g2h_error *classes_add(struct classes *classes, uint32_t name, uint32_t *ret);

/* Write the records of all classes: classes_write_loads() those that load them, classes_write()
 * those in the heap. Error: G2H_ERROR_MEMORY. */
struct g2h_error *classes_write_loads(const struct classes *classes, struct worker_buffer *buffer);

struct g2h_error *classes_write(const struct classes *classes, struct worker_buffer *buffer);

/* Returns the key of the shape of a node that is_written(). */
struct shape_key shape_key_of(const struct classes *classes, uint32_t number,
                              const struct g2h_node *node);

static inline uint32_t class_id(uint32_t class)
{
    return FIRST_FREE_ID + 2 * class;
}

/* Returns whether a node is written as an object of its own. */
bool is_written(const struct classes *classes, uint32_t number, const struct g2h_node *node);

/* ==== the contents of an object, field by field ====
 *
 * They come from its type if that is known as a whole; otherwise each word may be a pointer.
 */

/* A field, before it is known whether there will be a class for it. */
struct part {
    uint64_t offset;
    uint32_t name; /* id */
    uint16_t size; /* bytes of a number in the object */
    enum field_type type;
    bool is_bool;
};

struct parts {
    VECTOR(struct part) list;
    uint32_t pointers;
    bool too_many;
};

/* The elements of an array: where the first one begins, how far they are apart (0: there is only
 * one), how many values each has, and how many of these are pointers. */
struct element {
    uint64_t base, stride;
    uint32_t pointers, values;
};

#endif
