/*
 * sections: the parts of a report, and the code that they share.
 *
 *   report              all of it, in order, with its short sections: classes, the tree of
 *                       retainers, the values of a label, and suggested commands
 *   report_memory, report_who, report_goroutines, report_waste
 *                       a section each; who: the suspects
 *   show, show_values   the answer to --path-to and --show
 *   page                writes each line and each table as text or as JSON
 *   sections            names as fields, and lines that several sections have
 *   report_sample       another report: about a sample of a heap
 *   report_trend        another report: the course of a series of heaps
 */
#ifndef REPORT_SECTIONS_H
#define REPORT_SECTIONS_H

#include <go2heapsnapshot/values.h>

#include "findings/ages.h"
#include "findings/findings.h"
#include "findings/merged.h"
#include "findings/suspects.h"
#include "findings/variable_part.h"
#include "output/report/page.h"

/* ==== the sections ==== */

struct report {
    const struct findings *findings;
    const struct who_suspects *suspects; /* none if the report is about one object or class */
    struct page *page;
};

/* The version of the JSON. It changes when a member changes its name or its meaning. */
enum { REPORT_VERSION = 2 };

/* Rows of a table, and lines of a section of waste, that are shown unless --top says how many. */
enum { REPORT_ROWS = 10, REPORT_LINES = 5 };

/* Returns how many rows or lines are shown, where usual is the usual number. */
static inline size_t report_rows(const struct report *report, size_t usual)
{
    return report->page->top > 0 ? report->page->top : usual;
}

/* ---- sections: each puts itself on report->page. Errors: G2H_ERROR_MEMORY ---- */

/* Writes the first lines: the sums of the heap and by how much they have grown. name is what the
 * heap was read from; is_base_other says that another build of the program wrote the base. */
void report_put_totals(const struct report *report, const char *name, bool is_base_other);

/* Writes, as a part of the first lines, the memory that the process had from the system, as far as
 * it is known. */
void report_put_memory(const struct report *report);

/* Writes, after the first lines, who keeps the spans that are mostly free slots. Errors:
 * G2H_ERROR_MEMORY. */
struct g2h_error *report_put_free_slots(const struct report *report);

/* Adds, in JSON only, what would be free without a node of merged, if spans are known. */
void report_put_pages(const struct report *report, uint32_t node);

/* Reports which part of the resident memory is large, and what that means, as the first suspect, if
 * objects are less than half of it. *ret says whether it did. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *report_put_outside(const struct report *report, bool *ret);

/* Returns by how many bytes memory outside of the Go heap grew since the base, if it did by much
 * and RSS of both is known, else 0. */
uint64_t report_grown_outside(const struct report *report);

/* Reports how RSS grew since the base, and what of it is outside of the Go heap. Returns false if
 * RSS of one of the two is not known. */
bool report_put_memory_growth(const struct report *report);

struct g2h_error *report_put_suspects(const struct report *report);

struct g2h_error *report_put_goroutines(const struct report *report);

struct g2h_error *report_put_classes(const struct report *report);

struct g2h_error *report_put_waste(const struct report *report);

/* Writes a report about a sample of a heap, in place of all sections; name is what the heap was
 * read from. */
struct g2h_error *report_put_sample(const struct report *report, const char *name);

/* Reports how old objects are, and what that means, in a line that begins with head; nothing if it
 * is not known. class: what they are, if that is not what the line is about; or empty. */
void report_put_age(struct page *page, const char *head, struct g2h_bytes class,
                    const struct ages_found *found);

/* Writes the path to one object, or to the objects of a class, in place of all sections.
 * findings/lookup.h has the forms of asked, and the errors. older: of a class only the objects that
 * are older than so many seconds, with the errors of ages_find_older(); 0: all. */
struct g2h_error *report_put_path(const struct report *report, const char *asked, uint64_t older);

/* Writes the contents of an object or a variable, or how the values of each field are spread over
 * the objects of a class. The same forms and errors, and G2H_ERROR_NOT_FOUND for a variable that no
 * dump has. */
struct g2h_error *report_put_shown(const struct report *report, const char *asked);

/* Writes the goroutines that run a function, or wait in it, or that the report calls so, by their
 * location, stack or go statement. ret_example, empty before, gets what report_put_goroutine()
 * takes to write the stack of one of them; it stays empty, and nothing is written, if there are
 * none. */
struct g2h_error *report_put_goroutines_of(const struct report *report, const char *asked,
                                           struct text *ret_example);

/* ---- parts of sections ---- */

/* Most rows of a table about the queried object or class. */
enum { REPORT_ASKED_ROWS = 24 };

/* Returns the class of an object, or the name of another node of the view. */
struct g2h_bytes report_name_of(const struct report *report, const struct g2h_node *node);

/* Opens "object" and describes an object: offset is that of the address in the query. */
void report_put_object(const struct report *report, uint32_t node, uint64_t offset);

/* Opens "class" and sums up a class; class is a node of merged. Adds its nodes, as
 * class_rows_find_one() does. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *report_put_class(const struct report *report, uint32_t class, ranking *ret_nodes);

/* Writes a node of merged that is not of objects, such as a package: what it retains, and what is
 * directly below it. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *report_put_group(const struct report *report, uint32_t node);

/* Appends the names of what is above a node of merged: "main › previews.byName ›
 * map[string]*main.Preview"; nothing if that is only groups of roots. */
void report_append_holders(const struct report *report, uint32_t node, struct text *text);

/* Reports who refers to a node of the view, by class and field. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *report_put_retainers(const struct report *report, struct g2h_edges *edges,
                                       uint32_t node);

/* If only a finalizer or a cleanup that can never run holds an object, a node of the view, reports
 * that after indent. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *report_put_finalized(const struct report *report, uint32_t node,
                                       const char *indent);

/* Adds an allocator under the key "allocated_by": in text, if is_line, as a line. Errors:
 * G2H_ERROR_MEMORY. */
struct g2h_error *report_put_allocator(const struct report *report,
                                       const struct allocator *allocator, bool is_line);

/* Adds how long the goroutines of a place have waited, if that is a minute or more: "4 to 41
 * minutes", between two words. JSON has the median and the longest time. */
struct stack_place;

void report_put_minutes(const struct report *report, const struct stack_place *place,
                        const char *before, const char *behind);

/* ---- thresholds ---- */

/* Returns whether the untouched part of some bytes is large enough to be mentioned. */
static inline bool report_is_untouched(uint64_t untouched, uint64_t all)
{
    return untouched >= all / 10 + 1;
}

/* Returns whether parts of the heap are missing, which may hold what looks like garbage. */
bool report_lacks_memory(const struct report *report);

/* Returns whether waste is worth a line outside of JSON: a thousandth of the heap. */
bool report_is_much(const struct report *report, uint64_t wasted);

/* Returns whether a line of a section of waste is shown. In JSON each line with waste is; otherwise
 * a line needs a hundredth of the section's waste and a thousandth of the heap, and only the first
 * report_rows() lines are shown. */
bool report_is_shown(const struct report *report, size_t line, uint64_t wasted, uint64_t all);

/* ---- names ---- */

static inline const struct merged_node *report_node(const struct report *report, uint32_t node)
{
    return findings_node(report->findings, node);
}

/* Returns the name of a node of merged. */
struct g2h_bytes report_name(const struct report *report, uint32_t node);

/* Returns a class by its name in the view, which may be G2H_NAME_NONE: the contents of strings. */
struct g2h_bytes report_class(const struct report *report, uint32_t name);

/* ==== shared by the files that answer --show ==== */

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

/* ---- show_values.c: the variables of a goroutine ---- */

/* Returns whether a query is about a goroutine, or one of its variables. */
bool show_is_of_goroutine(const char *asked);

/* Reports the variables of its frames, or the contents of the one in the query. Errors:
 * G2H_ERROR_NOT_FOUND. */
struct g2h_error *show_put_goroutine(struct show *show, const char *text);

#endif
