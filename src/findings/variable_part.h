/*
 * variable_part: the memory that a Go expression leads to, read value by value from a variable or
 * an object on: main.cache.limits.Max, which is no object of its own; and, if a step leads nowhere,
 * what there is instead.
 *
 * expression_read() (path.h) finds objects by the pointers to them. Here it is the values that
 * count: also nil pointers, numbers, structs inside of others, and keys that a map does not have.
 *
 * similar: names that are nearly the one that was asked for.
 */
#ifndef FINDINGS_VARIABLE_PART_H
#define FINDINGS_VARIABLE_PART_H

#include <go2heapsnapshot/values.h>

#include "base/error.h"
#include "base/text.h"

struct findings;

/* ---- similar ---- */

enum { SIMILAR_MOST = 3 };

/* The names nearest to one: few enough changes lead from it to them. */
struct similar {
    const char *asked;
    size_t asked_size, count;
    struct {
        struct text name;
        unsigned distance;
    } list[SIMILAR_MOST]; /* the nearest first; of equal ones the one that came first */
};

/* Adds a name, unless others are nearer. */
void similar_add(struct similar *similar, const char *name, size_t size);

/* The same for a name of which the first bytes are not compared. */
void similar_add_behind(struct similar *similar, const char *name, size_t size, size_t first);

/* Appends them: "a, b or c"; nothing if there are none. */
void similar_append(const struct similar *similar, struct text *text);

void similar_deinit(struct similar *similar);

/* Returns how many bytes have to be changed, added or left out to turn one name into the other;
 * letter case does not count. UINT_MAX: they are too long to be compared. */
unsigned similar_distance(const char *one, size_t one_size, const char *other, size_t other_size);

/* ---- variable_part ---- */

struct variable_part {
    struct text name;             /* the expression, with the package that was left out */
    struct g2h_location location; /* the variable, object, element or entry that has it */
    struct text path;       /* of the values of location those below this path; all if empty */
    bool is_value;          /* it is a single value: */
    struct g2h_value value; /* without a path */
    uint64_t offset, size;  /* of the part in location */
};

/*
 * Reads an expression that begins with a variable of a package, or of package main without "main.",
 * or with the address of an object. *ret_begins becomes false, and *ret is empty, if it does not
 * begin so. A pointer is shown as it is; the steps after it go to what it leads to. The caller
 * calls variable_part_deinit() in any case. Errors: G2H_ERROR_NOT_FOUND, with what there is
 * instead; G2H_ERROR_MEMORY.
 */
struct g2h_error *variable_part_read(const struct findings *findings, const char *expression,
                                     bool *ret_begins, struct variable_part *ret);

/* Begins with a location, whose expression is name. */
struct g2h_error *variable_part_begin(const struct findings *findings,
                                      const struct g2h_location *location, const char *name,
                                      struct variable_part *ret);

/* Goes on by steps: ".limits[3].Name". The same errors. */
struct g2h_error *variable_part_go_on(const struct findings *findings, struct variable_part *part,
                                      const char *steps);

/* Returns the address that a part, which is a single value, leads to; 0: nowhere. */
uint64_t variable_part_target(const struct findings *findings, const struct variable_part *part);

/* Returns whether a value of a part's location belongs to it; without is its path below the part's.
 */
bool variable_part_has(const struct variable_part *part, const struct g2h_value *value,
                       struct g2h_bytes *without);

void variable_part_deinit(struct variable_part *part);

#endif
