/*
 * waste: memory that is allocated, reachable, and of no use: room in slices beyond their length,
 * what is only in slots of arrays that no slice uses, slots of maps without entries, texts that
 * strings use a small part of, texts that are there more than once.
 */
#ifndef OUTPUT_REPORT_WASTE_H
#define OUTPUT_REPORT_WASTE_H

#include "base/memory.h"
#include "output/report/fragmentation.h"
#include "output/report/layout.h"
#include "output/report/sections.h"

/* The waste of slices in one place, of maps of one type, or of strings in one place. */
struct waste_row {
    uint32_t place; /* see g2h_capacities_place() */
    uint64_t wasted;
    uint64_t count;             /* of arrays, maps or texts */
    uint64_t bytes;             /* of these arrays or texts, or of the memory for maps' entries; 0
                                   of what is stale, all of which is wasted */
    uint64_t used, all;         /* of maps: slots in use, and all slots */
    uint64_t elements;          /* of slices: bytes of elements in use */
    uint64_t outside;           /* of slices: bytes before their start and behind their capacity */
    uint64_t empty, empty_size; /* maps without entries, and the bytes that these retain */
};

struct waste_rows {
    VECTOR(struct waste_row) list; /* most waste first; no rows without waste, except of maps */
    struct waste_row sums;         /* of all rows in list */
};

/* Adds one array or text to the row of a place; by_place leads from a place to its row's index.
 * Returns the row, or NULL if memory runs out. */
struct waste_row *waste_add(struct waste_rows *rows, struct map *by_place, uint32_t place,
                            uint64_t wasted, uint64_t bytes);

/* Puts a line for each place that wastes much; counted is the key of the row's count in JSON. */
void waste_put_places(const struct report *report, const struct g2h_capacities *capacities,
                      struct g2h_text *name, const struct waste_rows *rows, const char *counted);

/* ---- slices.c ---- */

/* A slice that is not full. */
struct open_slice {
    uint32_t array; /* number of the object */
    uint32_t place;
    uint64_t used_end, end; /* offsets in the array: the end of the part in use, and of the slice */
};
typedef VECTOR(struct open_slice) open_slice_vector;

/* Finds the part of an object that a slice covers; its ends are inside of the object, whatever the
 * dump says of the slice's length. Returns false if the slice is in no object of the view. */
bool slices_locate(const struct report *report, const struct g2h_capacity *capacity,
                   struct open_slice *ret);

/* Sums up count lists of slices. Each array counts once, at the place of the slice that uses most
 * of it. full has a bit for each object that a full slice is in, and so uses, too. Of an array that
 * has a window all counts that the window leaves out, at the window's place, which is in places.
 * Errors: G2H_ERROR_MEMORY. */
struct g2h_error *slices_sum(const struct report *report, const struct g2h_capacities *capacities,
                             const open_slice_vector *lists, size_t count, const uint64_t *full,
                             const uint32_t *places, struct waste_rows *ret);

/* The place of a window of which no slice is in an object or a package's variable. */
#define PLACE_OF_LOCAL UINT32_MAX

/* Sums up what lives only because it is in slots that no slice uses, at the places of the slices.
 * Errors: G2H_ERROR_MEMORY. */
struct g2h_error *slices_sum_stale(const struct report *report, const uint32_t *places,
                                   struct waste_rows *ret);

/* ---- substrings.c ---- */

/* The least bytes of a text for which size classes cannot explain that less than half is in use. */
enum { WASTE_LEAST_TEXT = 64 };

/* A string that uses less than half of a text, or all such strings of one text; offsets are in
 * bytes from the text's begin. */
struct part {
    uint32_t text; /* number of the object */
    uint32_t place;
    uint64_t begin, end;
    uint64_t bytes;   /* sum of all these strings' lengths */
    uint64_t longest; /* length of the string at place, which is the longest */
};
typedef VECTOR(struct part) part_vector;

/* Adds a string to the parts if it uses less than half of its text. used has a bit for each text of
 * which a string uses half or more, and gets more bits. Returns false if memory runs out. */
bool substrings_add(const struct report *report, const struct g2h_capacity *capacity,
                    part_vector *parts, uint64_t *used);

/* Sums up count lists of parts, except texts that have a bit in used. used also gets bits for the
 * texts of roots whose use is not known. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *substrings_sum(const struct report *report, const part_vector *lists,
                                 size_t count, uint64_t *used, struct waste_rows *ret);
void substrings_put(const struct report *report, const struct g2h_capacities *capacities,
                    struct g2h_text *name, const struct waste_rows *rows);

/* ---- strings.c ---- */

struct equal;
struct equals {
    VECTOR(uint64_t) hashes;   /* of all texts that were read; */
    VECTOR(uint32_t) nodes;    /* their nodes */
    VECTOR(struct equal) list; /* those that waste most first; only as many as are shown */
    uint64_t count, bytes, different, wasted; /* wasted: all but one of several equal texts */
    uint64_t *objects; /* a bit for each object whose text is there more than once */
};

/* Reads all texts, except garbage, and except objects that strings use less than half of. Errors:
 * G2H_ERROR_MEMORY. */
struct g2h_error *equals_read(const struct g2h_view *view, struct equals *ret);

/* Finds the texts that are there more than once among those that were read. What is stale counts as
 * waste already, so it is none of them. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *equals_find(const struct report *report, struct equals *ret);
void equals_put(const struct report *report, struct g2h_text *text, const struct equals *equals);
void equals_deinit(struct equals *strings);

/* ---- all of it ---- */

struct waste {
    struct equals texts;
    struct g2h_capacities *capacities;
    struct waste_rows slices, stale, maps, substrings;
    struct fragmentation fragmentation;
    struct layout layout;
};

/* Finds the waste, after equals_read() has filled ret->texts. Of the
 * report it needs the view, the dominators and the threads. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *waste_find(const struct report *report, struct waste *ret);
void waste_deinit(struct waste *waste);

static inline void waste_set_bit(uint64_t *bits, uint32_t object)
{
    const uint64_t bit = (uint64_t)1 << object % 64;
    if ((__atomic_load_n(&bits[object / 64], __ATOMIC_RELAXED) & bit) == 0)
        __atomic_fetch_or(&bits[object / 64], bit, __ATOMIC_RELAXED);
}

/* Returns whether waste is worth a line in text: a thousandth of the heap. */
static inline bool waste_is_much(const struct report *report, uint64_t wasted)
{
    return wasted > 0 && wasted >= report->reachable / 1000;
}

/* Returns whether a line of a section is shown. In JSON each line with waste is; in text a line
 * needs a hundredth of the section's waste and a thousandth of the heap, and fewer than WASTE_LINES
 * lines before it. */
enum { WASTE_LINES = 5 };
static inline bool waste_is_shown(const struct report *report, size_t line, uint64_t wasted,
                                  uint64_t all)
{
    return wasted > 0 && (report->page->is_json || (line < WASTE_LINES && wasted >= all / 100 &&
                                                    wasted >= report->reachable / 1000));
}

#endif
