/*
 * waste: what is allocated, reachable, and of no use: room in slices beyond their length, slots of
 * maps without entries, texts that are there more than once.
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

/* ---- strings.c ---- */

struct equal;
struct equals {
    VECTOR(struct equal) list; /* those that waste most first, so many as are shown */
    uint64_t count, bytes, different, wasted; /* wasted: all but one of those that are equal */
};

/* Finds texts that are there more than once, garbage aside. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *equals_find(const struct g2h_view *view, struct equals *ret);
void equals_put(const struct report *report, struct g2h_text *text, const struct equals *equals);
void equals_deinit(struct equals *strings);

/* ---- all of it ---- */

struct waste {
    struct equals texts;
    struct g2h_capacities *capacities;
    struct waste_rows slices, maps;
};

/* Finds what slices and maps waste; of the report it needs the view, its dominators and threads.
 * Errors: G2H_ERROR_MEMORY. */
struct g2h_error *waste_find(const struct report *report, struct waste *ret);
void waste_deinit(struct waste *waste);

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
