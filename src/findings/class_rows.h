/*
 * class_index: the objects of each class, those that retain most first, for repeated queries, which
 * then need not walk all nodes of the view for one class.
 *
 * class_rows: the objects of each class, wherever they are in the merged tree.
 *
 * largest: the objects that retain most.
 *
 * Among objects that hold each other (a struct, its map, the memory of the map's entries) only the
 * outermost one is listed, unless it has half as much again as the next one: they are effectively
 * one object. The same is true for an object that holds others of its own class, such as the nodes
 * of a tree. Only a few objects per class are listed, to leave space for others.
 *
 * structs: the structs whose objects have most bytes of their own, and their layouts.
 *
 * estimates: how many objects of a sample of a heap belong to a set, such as a class, and how wrong
 * that may be.
 *
 * held: indexes for repeated queries of one heap: the retainers of each node, the objects of each
 * class, and the paths to all objects.
 */
#ifndef FINDINGS_CLASS_ROWS_H
#define FINDINGS_CLASS_ROWS_H

#include <go2heapsnapshot/output.h>
#include <go2heapsnapshot/view.h>

#include "base/error.h"
#include "base/map.h"
#include "findings/findings.h"
#include "findings/merged.h"

/* ---- class_index ---- */

struct class_index {
    struct map numbers; /* name in the view, UINT32_MAX for strings → number of the class */
    uint32_t *first;    /* by number: where its objects begin in nodes; one more at the end */
    uint32_t *nodes;    /* nodes of the view: by class, those that are not garbage first, then by
                         * retained size, then by number */
    uint32_t count;     /* of classes */
};

/* Returns the objects of a class, *ret_count of them, or NULL if it has none. name is that of the
 * class in the view, UINT32_MAX for strings. */
const uint32_t *class_index_find(const struct class_index *index, uint32_t name, size_t *ret_count);

/* ---- class_rows ---- */

struct class_row {
    uint32_t node; /* of merged: the first of the class's nodes */
    uint64_t count, bytes, retained;
    uint64_t held;    /* bytes that are not garbage, */
    uint64_t garbage; /* and objects that are */
    int64_t grown;    /* bytes that are held; 0 without a base */
};

struct class_rows {
    VECTOR(struct class_row) list; /* by growth, if there is a base, and then by bytes */
    struct map by_name;
};

/* Finds all classes and, if has_stacks is set, stacks of goroutines by their names. Errors:
 * G2H_ERROR_MEMORY. */
struct g2h_error *class_rows_find(const struct findings *findings, bool has_stacks,
                                  struct class_rows *ret);

void class_rows_deinit(struct class_rows *rows);

/* Sums up one class, and adds its nodes of merged to holders, those that retain most first. name is
 * that of the nodes in merged. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *class_rows_find_one(const struct findings *findings, uint32_t name,
                                      struct class_row *ret, ranking *holders);

/* Returns the object of a class that retains most, a node of the view: a live one if possible;
 * UINT32_MAX if the class has no objects. name is that of the class in the view, UINT32_MAX for
 * strings. line limits the search to the objects that are merged in one node of merged;
 * MERGED_NONE: all objects. */
uint32_t class_rows_find_largest(const struct findings *findings, uint32_t name, uint32_t line);

/* ---- largest ---- */

enum { LARGEST_OBJECTS = 60, LARGEST_OF_CLASS = 8 };

struct large_object {
    uint64_t retained;
    uint32_t node; /* of the view */
    uint32_t name; /* of the class, in the view */
};

typedef VECTOR(struct large_object) large_vector;

/* Finds these objects, those that retain most first; each has at least a thousandth of the heap, is
 * not garbage, and is not folded with others. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *largest_find(const struct findings *findings, large_vector *ret);

/* ---- structs ---- */

enum { STRUCTS = 24, STRUCT_FIELDS = 64 };

/* A struct by one of its objects. */
struct struct_layout {
    uint32_t class;      /* a node of merged */
    uint32_t object;     /* of the heap: one whose type is known as a whole and for sure */
    uint64_t objects;    /* of the class */
    uint64_t size, slot; /* bytes of the value, and of the memory that its object takes */
};

typedef VECTOR(struct struct_layout) struct_vector;

/* Finds at most STRUCTS of them, the one with most bytes first, each with at least a thousandth of
 * the heap; not those of the runtime, which users cannot change, and those without types. Findings
 * must have their merged tree. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *structs_find(const struct findings *findings, struct_vector *ret);

/* ---- estimates ---- */

/* What the errors are: an estimate is further off in one of 16,000 cases, if the spans that were
 * read are many. */
enum { ESTIMATE_ERRORS = 4 /* standard errors */ };

/* A set in which so few spans have objects has no error that can be relied on. */
enum { ESTIMATE_LEAST_SPANS = 8 };

struct estimate {
    uint64_t objects, bytes, objects_error, bytes_error;
    uint64_t read;  /* objects of the set that were read; those of kinds of which all spans are
                       read, and which are therefore exact, included */
    uint64_t spans; /* of kinds of which not all were read: in how many that were these are */
    bool is_vague;  /* the spans are too few: the errors may be larger */
};

/* The objects of a set in the spans of a kind. */
struct estimate_sums {
    uint32_t set, kind;
    uint32_t span; /* of the last object */
    uint64_t in_span, objects, bytes;
    uint64_t spans, mixed;    /* that have some; more of whose objects are others */
    double squares, products; /* of in_span; of in_span and the span's objects */
};

struct estimates {
    const struct g2h_heap *heap;
    const struct g2h_sample *sample;
    uint64_t *objects_of; /* by span: of all sets */
    double *squares_of;   /* by kind: of these */
    struct map by_key;    /* set and kind → index in sums */
    VECTOR(struct estimate_sums) sums;
    struct estimate *sets; /* by set, once estimates_finish() has run */
};

/* Begins without objects. The heap must be a sample. *ret goes to estimates_deinit(), after an
 * error, too. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *estimates_begin(const struct g2h_heap *heap, struct estimates *ret);

/* Adds an object to a set, a number below UINT32_MAX; those of a set in ascending order. Objects
 * that are not of the sample change nothing. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *estimates_add(struct estimates *estimates, uint32_t set, uint32_t object);

/* Makes the estimates of the sets 0 to count - 1: estimates->sets. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *estimates_finish(struct estimates *estimates, uint32_t count);

/* Returns how many bytes a set that no span has which was read has at most, as sure as the errors
 * are. */
uint64_t estimates_unseen(const struct g2h_sample *sample);

void estimates_deinit(struct estimates *estimates);

/* ---- held ---- */

struct held {
    struct class_index classes;
    struct g2h_retainers *retainers;
};

/* Builds the indexes after findings_merge(), and sets findings->held, so that findings use them
 * instead of walking all nodes or edges. They take some 14 bytes per object and 4 per pointer, and
 * the search for paths, which goes on where the last one ended, up to 12 per object. The caller
 * passes *ret, {0} before, to held_deinit() in any case. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *held_make(struct findings *findings, struct held *ret);

void held_deinit(struct held *held);

#endif
