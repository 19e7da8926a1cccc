/*
 * waste: what is allocated, reachable, and of no use: room in slices beyond their length, slots of
 * maps without entries, texts of which strings have a small part, texts that are there more than
 * once.
 */
#ifndef OUTPUT_REPORT_WASTE_H
#define OUTPUT_REPORT_WASTE_H

#include "base/memory.h"
#include "output/report/sections.h"

/* Of slices in one place, or of maps of one type. */
struct waste_row {
    uint32_t place; /* of capacities */
    uint64_t wasted;
    uint64_t count;             /* of arrays, or of maps */
    uint64_t bytes;             /* of arrays, or of what maps have their entries in */
    uint64_t used, all;         /* of maps: slots */
    uint64_t empty, empty_size; /* maps without entries, and what these retain */
};

struct waste_rows {
    VECTOR(struct waste_row) list; /* those that waste most first; only where something is wasted */
    struct waste_row sums;         /* of all, also of those that waste nothing */
};

/* Adds one more to the row of a place; by_place has their numbers. False where there is no memory.
 */
bool waste_add(struct waste_rows *rows, struct map *by_place, uint32_t place, uint64_t wasted,
               uint64_t bytes);

/* Puts a line for each place that wastes much; counted: what is counted there, in JSON. */
void waste_put_places(const struct report *report, const struct g2h_capacities *capacities,
                      struct g2h_text *name, const struct waste_rows *rows, const char *counted);

/* ---- slices.c ---- */

/* A slice that is not full. */
struct open_slice {
    uint32_t array; /* object */
    uint32_t place;
    uint64_t used_end, end; /* of what is used, and of all, in the array */
};
typedef VECTOR(struct open_slice) open_slice_vector;

/* Where a slice is, if it is in an object, whatever the dump says of its length. */
bool slices_locate(const struct report *report, const struct g2h_capacity *capacity,
                   struct open_slice *ret);

/* Sums slices up: each array counts once, for the one that uses most of it. lists: count of them;
 * full: a bit for each object that slices are in which are full, and so use it, too. Errors:
 * G2H_ERROR_MEMORY. */
struct g2h_error *slices_sum(const struct report *report, const struct g2h_capacities *capacities,
                             const open_slice_vector *lists, size_t count, const uint64_t *full,
                             struct waste_rows *ret);

/* ---- substrings.c ---- */

/* Bytes of a text of which less than half is no matter of size classes. */
enum { WASTE_LEAST_TEXT = 64 };

/* A string that has less than half of a text, in bytes from its begin; or all that have. */
struct part {
    uint32_t text; /* object */
    uint32_t place;
    uint64_t begin, end;
    uint64_t bytes;   /* of all strings */
    uint64_t longest; /* of the one in place */
};
typedef VECTOR(struct part) part_vector;

/* Adds a string to the parts if it is one; used: a bit for each object of which one has more.
 * False where there is no memory. */
bool substrings_add(const struct report *report, const struct g2h_capacity *capacity,
                    part_vector *parts, uint64_t *used);

/* Sums parts up, count lists of them. used has a bit also for what is not to be told of, and gets
 * more. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *substrings_sum(const struct report *report, const part_vector *lists,
                                 size_t count, uint64_t *used, struct waste_rows *ret);
void substrings_put(const struct report *report, const struct g2h_capacities *capacities,
                    struct g2h_text *name, const struct waste_rows *rows);

/* ---- strings.c ---- */

struct equal;
struct equals {
    VECTOR(struct equal) list; /* those that waste most first, so many as are shown */
    uint64_t count, bytes, different, wasted; /* wasted: all but one of those that are equal */
    uint64_t *objects; /* a bit for each object whose text is there more than once */
};

/* Finds texts that are there more than once, but garbage, and objects of which strings have less
 * than half. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *equals_find(const struct g2h_view *view, struct equals *ret);
void equals_put(const struct report *report, struct g2h_text *text, const struct equals *equals);
void equals_deinit(struct equals *strings);

/* ---- all of it ---- */

struct waste {
    struct equals texts;
    struct g2h_capacities *capacities;
    struct waste_rows slices, maps, substrings;
};

/* Finds what slices, maps and substrings waste, once texts were found; of the report it needs the
 * view, its dominators and threads. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *waste_find(const struct report *report, struct waste *ret);
void waste_deinit(struct waste *waste);

static inline void waste_set_bit(uint64_t *bits, uint32_t object)
{
    const uint64_t bit = (uint64_t)1 << object % 64;
    if ((__atomic_load_n(&bits[object / 64], __ATOMIC_RELAXED) & bit) == 0)
        __atomic_fetch_or(&bits[object / 64], bit, __ATOMIC_RELAXED);
}

/* Whether it is worth a line in text: a thousandth of the heap. */
static inline bool waste_is_much(const struct report *report, uint64_t wasted)
{
    return wasted > 0 && wasted >= report->reachable / 1000;
}

/* Of a section a line is shown in text if it is a hundredth of it, and much, and there are few
 * before it. */
enum { WASTE_LINES = 5 };
static inline bool waste_is_shown(const struct report *report, size_t line, uint64_t wasted,
                                  uint64_t all)
{
    return wasted > 0 && (report->page->is_json || (line < WASTE_LINES && wasted >= all / 100 &&
                                                    wasted >= report->reachable / 1000));
}

#endif
