/* show: shared by the files that answer --show; see sections.h. */
#ifndef OUTPUT_REPORT_SHOW_H
#define OUTPUT_REPORT_SHOW_H

#include <go2heapsnapshot/values.h>

#include "findings/variable_part.h"
#include "output/report/sections.h"
#include "output/report/table.h"

enum {
    SHOW_VALUES = 1000,    /* of an object; further ones are left out; */
    SHOW_ROWS = 100,       /* outside of JSON */
    SHOW_VALUE_WIDTH = 48, /* characters, outside of JSON */
    SHOW_TYPE_WIDTH = 28,
};

struct show {
    const struct report *report;
    const struct g2h_view *view;
    struct g2h_values *values;
    struct g2h_text text, type; /* of the last value */
    struct text name;           /* its name: the prefix and its path */
    const char *prefix;         /* prefix_size bytes that precede the paths of values */
    size_t prefix_size;
    bool is_doubtful; /* values of a variable that the program may not use any more */
};

/* ---- show_values.c ---- */

/* The columns of a table of values. */
#define SHOW_COLUMNS "FIELD,type,value,@>offset,leads to,>bytes,@at"

/* Adds a row to such a table; base is the offset of the first value of the location. */
struct g2h_error *show_put_value(struct show *show, struct table *table,
                                 const struct g2h_value *value, uint64_t base);

/* Adds the values in a location, as a table. */
struct g2h_error *show_put_values(struct show *show, const struct g2h_location *location);

/* Reports the contents of an object: a node, and an address at an offset in it. */
struct g2h_error *show_put_object(struct show *show, uint32_t number, uint64_t address,
                                  uint64_t offset);

/* Returns the address of the object that a variable, which is a pointer, leads to, and which is
 * shown instead of the variable; 0: the variable is none, or leads to no object. */
uint64_t show_leads_to(struct show *show, const struct g2h_location *location);

/* Reports a part of a variable or an object, with its values, as "variable". */
struct g2h_error *show_put_part(struct show *show, const struct variable_part *part);

/* Reports the name, the type and the size of a part, to the object that is open: of a single value
 * also the value. */
struct g2h_error *show_put_part_head(const struct report *report, const struct variable_part *part);

/* ---- show_locals.c ---- */

/* Returns whether a query is about a goroutine, or one of its variables. */
bool show_is_of_goroutine(const char *asked);

/* Returns whether a query is about a whole goroutine. */
bool show_is_goroutine(const char *asked);

/* Reports the variables of its frames, or the contents of the one in the query. Errors:
 * G2H_ERROR_NOT_FOUND. */
struct g2h_error *show_put_goroutine(struct show *show, const char *asked);

#endif
