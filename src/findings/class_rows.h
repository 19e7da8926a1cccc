/* class_rows: the objects of each class, wherever they are in the merged tree. */
#ifndef FINDINGS_CLASS_ROWS_H
#define FINDINGS_CLASS_ROWS_H

#include "findings/findings.h"
#include "findings/ranking.h"

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

#endif
