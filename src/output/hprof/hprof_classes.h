/*
 * hprof_classes: the classes and shapes with which objects are written.
 *
 * An HPROF class has a fixed list of fields, and all its instances have one size. Go's objects of
 * one class do not, so there is an HPROF class for each class and size, if need be several with one
 * name. Some objects are written as object arrays instead, whose elements are the pointers: arrays
 * of pointers, arrays that are not short, and objects with too many parts to be fields. There is
 * one class of object arrays for each name. An object's shape says how it is written.
 */
#ifndef OUTPUT_HPROF_HPROF_CLASSES_H
#define OUTPUT_HPROF_HPROF_CLASSES_H

#include <go2heapsnapshot/heap.h>
#include <go2heapsnapshot/view.h>

#include "base/map.h"
#include "base/memory.h"
#include "output/hprof/java_names.h"
#include "output/hprof/hprof_records.h"

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
#define END_OF_FREE   ((uint32_t)1 << 30)

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
#define PIECE ((uint64_t)1 << 30)

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

#endif
