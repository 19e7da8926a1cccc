/*
 * trend: the course of the places of a merged tree over a series of heaps.
 *
 * A place is a node of the merged tree, identified by all names on its path from the root, as in
 * growth.h; where goroutines are meant that are at one location in code (patterns.h), this file
 * says so. Classes alone do not reveal a leak: strings and bytes grow and shrink everywhere, and
 * hide what leaks. By places, objects that are held in one way are evaluated separately. Garbage
 * never counts.
 */
#ifndef FINDINGS_TREND_H
#define FINDINGS_TREND_H

#include <go2heapsnapshot/trend.h>

#include "base/text.h"
#include "findings/ages.h"
#include "findings/growth.h"
#include "findings/length.h"
#include "findings/merged.h"

/* The course of a number. */
enum trend_kind {
    TREND_LEVEL,   /* none of the others; or it shrinks */
    TREND_STEADY,  /* it grows in every interval and still does */
    TREND_SLOWING, /* the same, but ever less, or hardly any more */
    TREND_STOPPED, /* it has grown, and then has stayed where it is */
    TREND_UNEVEN,  /* it has grown, in some intervals */
    TREND_WAVES,   /* it goes up and down */
    TREND_KINDS
};

/* TREND_LEAST heaps are needed before growth is called steady: six numbers in random order ascend
 * once in 720 times, five once in 120. TREND_MOST heaps are kept. */
enum { TREND_LEAST = 6, TREND_MOST = 200 };

struct trend_course {
    enum trend_kind kind;
    unsigned intervals, ups; /* the number of intervals, and of those in which it has grown */
    uint64_t least, most;
    int64_t grown, tail;   /* from the first to the last number; in the last third of the time */
    unsigned straightness; /* 100: it is on a line; 0: as far from a line as it has grown */
    size_t since; /* if it has stopped growing: the index of the first number of the level part */
};

/* Classifies count numbers, the oldest first. */
void trend_classify(const uint64_t *numbers, size_t count, struct trend_course *ret);

/* The values of a place in one heap; entries: as struct merged_node has them. */
struct trend_value {
    uint64_t retained, count, entries;
};

struct trend_place {
    uint32_t parent, child, sibling; /* places, or MERGED_NONE */
    enum merged_kind kind;
    bool is_goroutines;
    bool is_plumbing;  /* the internal nodes of sync.Map or container/list, or above these */
    bool is_pooled;    /* what the runtime keeps for reuse, which is not a leak */
    uint32_t name;     /* in names */
    uint32_t anywhere; /* of objects: the place that sums up this class, and the class above it,
                        * wherever they are; MERGED_NONE: no such place, or this is one */
};

struct trend_heap {
    char *name;
    int64_t time; /* milliseconds since 1970; 0: not known */
    uint64_t reachable, objects, goroutines;
    uint64_t resident, beside;         /* RSS, and what of it is not objects; 0: not known */
    uint64_t outside;                  /* what of that is not free memory of the Go heap either */
    VECTOR(struct trend_value) values; /* by place; places that came later have no value: 0 */
};

/* How one of the objects of a place is held in the last heap, or the container that these are in,
 * as path.h writes it. */
struct trend_held {
    uint32_t place;
    struct text path;
    struct text example;  /* if path leads to the container: one of the objects; or empty */
    struct length length; /* of the container */
    bool is_example;      /* path leads to one of several objects */
    uint64_t containers;  /* if it leads to a container, how many there are: 1, or one per tenant */
    /* Of goroutines: where they wait, on what, which go statement has started them, and how many of
     * them can never run again, and why. */
    struct text waits_at, wait_on, started_by, reason;
    uint64_t goroutines, leaked, each; /* each: bytes that one retains; 0 goroutines: none */
    uint64_t alike, wait_alike; /* how many wait at waits_at; on wait_on: 0 if that is not known */
    struct ages_found age;      /* of the objects, if the process was watched */
    struct text aged;           /* their class, if they are of another one */
};

/* What of a place counts for what was found: the bytes of a container are those of all places that
 * it consists of. */
enum trend_counted {
    TREND_RETAINED, /* what the place retains */
    TREND_OWN,      /* what it retains besides the places below it */
    TREND_OBJECTS,  /* its objects are the entries */
    TREND_ENTRIES,  /* its entries, by its own count */
};

struct trend_part {
    uint32_t found, place; /* found: the place that was found */
    enum trend_counted counted;
};

/* A place that was found, and the first one that was found in the same container of the last heap
 * (containers.h): only that one is named, by the container. */
struct trend_contained {
    uint32_t place, first;
};

struct g2h_trend {
    VECTOR(struct trend_heap) heaps;
    size_t added;  /* heaps, with those that were forgotten */
    size_t stride; /* one heap in this many is kept, and the last one */
    VECTOR(struct trend_place)
    places;                   /* parents before their children; the first is the root, the
                                 second TREND_ANYWHERE */
    struct map numbers;       /* key of a place → place */
    struct string_pool names; /* of places, without numbers unless they are classes */
    uint64_t left_out;        /* places beyond the limit, whose values were not kept */
    VECTOR(struct trend_held) held;
    VECTOR(struct trend_contained) contained; /* places that were found last, in containers; */
    VECTOR(struct trend_part) parts;          /* and what these consist of */
    struct growth_holders holders;            /* of the first heap */
    bool is_more_expected;                    /* g2h_trend_expect_more() */
    uint64_t limit, left; /* bytes: the memory limit of the process when the last heap was taken,
                           * and what was left; limit 0: none */
};

/* A place to be named, with the course of its bytes and its objects. */
struct trend_found {
    uint32_t place;
    bool is_container; /* the courses are of the container that place is in, and of its entries */
    bool has_entries;  /* count is that of the entries of place: a map that holds nothing */
    struct trend_course retained, count;
};

typedef VECTOR(struct trend_found) trend_found_vector;

struct trend_founds {
    trend_found_vector by_kind[TREND_KINDS];
};

void trend_founds_deinit(struct trend_founds *founds);

/* Finds for each kind but TREND_LEVEL the places to be named, which do not contain each other.
 * Those that have grown or changed most come first. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *trend_find(const struct g2h_trend *trend, trend_found_vector ret[TREND_KINDS]);

/* Returns the courses of the resident memory that is not objects, and of that outside of the Go
 * heap: without its free slots and free heap. Of what is not known in all heaps, TREND_LEVEL
 * without any growth. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *trend_beside(const struct g2h_trend *trend, struct trend_course *ret,
                               struct trend_course *ret_outside);

/* Returns the value of a place in a heap. */
struct trend_value trend_value_of(const struct g2h_trend *trend, size_t heap, uint32_t place);

/* Returns the value of what was found in a heap: of the container, if it is one. */
struct trend_value trend_found_value(const struct g2h_trend *trend, size_t heap,
                                     const struct trend_found *found);

/* Returns the place in the last heap with most of the bytes that a place below TREND_ANYWHERE sums
 * up; MERGED_NONE: it is not such a place, or has no bytes any more. */
uint32_t trend_last_holder(const struct g2h_trend *trend, uint32_t place);

/* Returns the Go expression for one of the objects of a place that grows, steadily or not, in the
 * last heap, and what is known of the goroutines that it is, or that hold it; NULL: none was found,
 * or the place is not among the first TREND_HELD ones of its kind. */
const struct trend_held *trend_held_of(const struct g2h_trend *trend, uint32_t place);

/* Estimates in how many milliseconds continued growth by this many bytes per elapsed time fills the
 * rest of the process's memory limit; 0: no limit, times not known, or more than a year. */
int64_t trend_full_in(const struct g2h_trend *trend, int64_t grown);

/* Returns the milliseconds from the first time to the last; 0: not known, because times are
 * missing, not in order, or too near to each other, as after a copy of the files. */
int64_t trend_times_elapsed(const int64_t *times, size_t count);

/* The same for the heaps of a trend. */
int64_t trend_elapsed(const struct g2h_trend *trend);

/* Returns the name of a place: UTF-8, not terminated. */
const char *trend_name(const struct g2h_trend *trend, uint32_t place, size_t *ret_size);

#endif
