/*
 * classes: what objects are written as.
 *
 * An HPROF class has a fixed list of fields, and all its instances are of one size. Go's objects of
 * one class are not: so there is an HPROF class for each class and size, if need be several of one
 * name. Arrays of pointers, arrays that are not short, and what has more parts than can be looked
 * at as fields, are object arrays, whose elements are the pointers; of these there is one class
 * for each name. An object's shape says which of that it is.
 */
#ifndef OUTPUT_HPROF_CLASSES_H
#define OUTPUT_HPROF_CLASSES_H

#include <go2heapsnapshot/heap.h>
#include <go2heapsnapshot/view.h>

#include "base/map.h"
#include "base/memory.h"
#include "output/hprof/java_names.h"
#include "output/hprof/records.h"

/* What every file has, by number. */
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

/* Ids of classes and of whatever else has no id in a snapshot are even: from this one on up to that
 * of the first goroutine, none is taken (output/ids.c). */
#define FIRST_FREE_ID 1024u
#define END_OF_FREE   ((uint32_t)1 << 30)

struct class_field {
    uint32_t name; /* id */
    enum field_type type;
};

struct class_static {
    uint32_t name, value; /* id of what it leads to, or a number */
    enum field_type type;
};

struct class
{
    uint32_t name;  /* id */
    uint32_t super; /* number; UINT32_MAX: none */
    uint32_t size;  /* of an instance */
    uint32_t first_field, fields, first_static, statics;
    bool is_root;
};

enum shape_form {
    SHAPE_INSTANCE,
    SHAPE_OBJECTS, /* an object array; its elements stand for so many bytes each, by offset */
    SHAPE_ROW,     /* an object array; its elements are the edges, in their order */
    SHAPE_BYTES,   /* a byte[] */
    SHAPE_TEXT,    /* a String and its byte[] */
};

/* A field that an edge is written to, by the offset of its pointer. */
struct shape_pointer {
    uint32_t offset, position; /* in the object; in the instance's fields */
};

/* A field that a number is copied to. */
struct shape_number {
    uint32_t offset, position;
    uint16_t size;
    bool is_bool;
};

struct shape {
    enum shape_form form;
    uint32_t class;
    uint32_t fields_size, unpadded; /* bytes of an instance, and without padding */
    uint32_t base, stride;          /* where the first element begins, and bytes per element */
    uint32_t first_pointer, pointers, first_number, numbers;
    bool may_have_rest; /* an edge may have no field */
    uint32_t rest; /* position of the field for edges that no other field has; UINT32_MAX: none */
};

struct classes {
    const struct g2h_view *view;
    struct java_names *names;
    uint64_t word;
    bool keeps_garbage;     /* of a dump that is not whole nobody knows what is garbage */
    uint32_t name_of_bytes; /* "[]uint8"; G2H_NAME_NONE */
    VECTOR(struct class) list;
    VECTOR(struct class_field) fields;
    VECTOR(struct class_static) statics;
    VECTOR(struct shape) shapes;
    VECTOR(struct shape_pointer) pointers;
    VECTOR(struct shape_number) numbers;
    uint32_t pointing_text, pointing_bytes; /* shapes of those that hold something */
    struct map by_key;                      /* key of a shape → shape */
    struct map by_name; /* id of a name → class of object arrays, or of a package */
    struct text text;   /* a name that is being made */
    struct g2h_edges *edges;
    struct g2h_values *values;
};

/* What objects with one shape have in common. */
struct shape_key {
    uint64_t hash; /* of the others */
    uint64_t size, layout;
    uint32_t name;
    uint32_t node; /* the first one */
    bool is_text, is_folded, has_edges;
};

/* Objects of PIECE bytes and more are written in several pieces, and have to be arrays. */
#define PIECE ((uint64_t)1 << 30)

/* On errors, too, *classes goes to classes_deinit(). Errors: G2H_ERROR_MEMORY. */
struct g2h_error *classes_init(struct classes *classes, const struct g2h_view *view,
                               struct java_names *names);
void classes_deinit(struct classes *classes);

/* Makes the shapes that a view's objects have, on so many threads. Error: G2H_ERROR_MEMORY. */
struct g2h_error *classes_find(struct classes *classes, unsigned threads);

/* Gives a shape, which is one of instances, a field for edges that it has none for; of texts and
 * bytes, a class to the shape of those that hold something. Error: G2H_ERROR_MEMORY. */
struct g2h_error *classes_add_rest(struct classes *classes, size_t shape);

/* The class of a name, which is made if there is none; it has no instances. Error:
 * G2H_ERROR_MEMORY. */
struct g2h_error *classes_named(struct classes *classes, uint32_t name, uint32_t *ret);

/* Another class of a name. */
struct g2h_error *classes_add(struct classes *classes, uint32_t name, uint32_t *ret);

/* The records of all classes: those that load them, and those in the heap. Error: G2H_ERROR_MEMORY.
 */
struct g2h_error *classes_write_loads(const struct classes *classes, struct worker_buffer *buffer);
struct g2h_error *classes_write(const struct classes *classes, struct worker_buffer *buffer);

/* The key of an object's shape: of a node that has bytes. */
struct shape_key shape_key_of(const struct classes *classes, uint32_t number,
                              const struct g2h_node *node);

static inline uint32_t class_id(uint32_t class)
{
    return FIRST_FREE_ID + 2 * class;
}

/* Whether a node is written as an object of its own. */
bool is_written(const struct classes *classes, uint32_t number, const struct g2h_node *node);

#endif
