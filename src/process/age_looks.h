/*
 * age_looks: since which collection each slot of the heap has held its object.
 *
 * Go does not move objects, and each collection leaves a mark for each slot whose object survived
 * it. A slot that was marked by a collection, but not by the one before, has an object that was
 * allocated between the two. So whoever reads the marks after each collection knows the age of
 * every object, without any help of the program. docs/ages.md says what this is good for.
 *
 *   age_looks      the table of all slots, and the fact that a dump gets (dump/dump_facts.h)
 *   ages_read      one look at a live process, which is not stopped
 *   ages_watch     one look after each collection
 */
#ifndef PROCESS_AGE_LOOKS_H
#define PROCESS_AGE_LOOKS_H

#include <pthread.h>
#include <stdatomic.h>

#include <go2heapsnapshot/process.h>

#include "dump/dump_facts.h"
#include "process/spans.h"

struct worker_buffer;

/* What a slot's byte is: 0: its object has not survived a collection; otherwise the number of the
 * look at which its object was seen first. Looks that are long ago share a number. */
typedef uint8_t age;

enum { AGES_MOST = FACT_AGES_MOST_LOOKS, AGES_CLASSES = 256 };

/* Consecutive collections that share a look: those since the look before. */
struct ages_look {
    uint64_t first, last; /* numbers of collections, as runtime.NumGC() counts */
    int64_t time;         /* when it was seen that the last one had ended: ms since 1970 */
};

/* The slots of a span. */
struct ages_shape {
    uint64_t start, elemsize;
    uint16_t nelems; /* 0: the span is not in use */
    uint8_t class;   /* mspan.spanclass */
};

struct aged_span {
    struct ages_shape shape;
    uint64_t bits;   /* address of the marks at the last look; 0: not known */
    uint64_t *marks; /* a bit for each slot, and then an age for each */
};

struct ages_live;

/*
 * A watch without an end is one of the last so many milliseconds, up to twice as many, or longer,
 * so that a window has at least 16 looks: what is older was there when it began. So the look at
 * which the next window begins is chosen one window ahead, and what ends is counted for both.
 */
struct ages_window {
    uint64_t length;       /* ms; 0: all of the watch */
    unsigned next;         /* the look with which the next one begins; 0: not chosen yet */
    uint64_t seen, missed; /* collections before that look, and with it */
    uint32_t ended_first[AGES_CLASSES][AGES_MOST + 1]; /* as in struct g2h_ages, of that window */
};

struct g2h_ages {
    uint64_t mheap;                 /* of the process: its address; 0: not known yet */
    uint64_t pid, image;            /* of a live process; image: g2h_process_image() */
    VECTOR(struct aged_span) spans; /* by their index in allspans, to which Go only appends */
    struct ages_look looks[AGES_MOST + 1]; /* 1 is the first one */
    unsigned look_count;
    /* Of the collections of each look: how many objects ended, by class, that had survived two
     * looks before; and those of them that the first look found. */
    uint32_t ended[AGES_CLASSES][AGES_MOST + 1], ended_first[AGES_CLASSES][AGES_MOST + 1];
    struct ages_window window;
    int64_t begin;          /* of the first look: ms since 1970 */
    uint64_t seen, missed;  /* collections since the first look: those with a look, and others */
    uint64_t unread;        /* spans that a look could not read, all looks together */
    uint64_t again;         /* looks that were repeated, since the process changed what they read */
    uint64_t bytes;         /* that were read */
    double seconds;         /* of this program's processor time */
    double next;            /* when the next look may begin, by clock_seconds() */
    bool is_left_out;       /* see struct g2h_ages_account */
    struct ages_live *live; /* NULL: not of a live process */
};

/* Returns whether a runtime that was read now may be the one that was looked at. */
bool ages_is_of(const struct g2h_ages *ages, const struct runtime *runtime);

/* Begins the next look, after this collection, now: milliseconds since 1970. If the collection is
 * the same as that of the last look, that is continued. Returns false if it is before that. */
bool ages_look_begin(struct g2h_ages *ages, uint64_t collection, int64_t now);

/* Returns the entry of the span with an index in allspans; NULL: memory ran out. */
struct aged_span *ages_span(struct g2h_ages *ages, uint64_t index);

/* Records the marks of a span, a bit per slot, of which none is set after the last slot. bits is
 * their address. Returns false if memory runs out. */
bool ages_put_marks(struct g2h_ages *ages, struct aged_span *span, const struct ages_shape *shape,
                    uint64_t bits, const uint64_t *marks);

/* Records that a span is not in use. */
void ages_put_unused(struct g2h_ages *ages, struct aged_span *span);

static inline bool ages_same_shape(const struct ages_shape *one, const struct ages_shape *other)
{
    return one->start == other->start && one->elemsize == other->elemsize &&
           one->nelems == other->nelems && one->class == other->class;
}

/* Returns the size of a span's marks in bytes. */
static inline uint64_t ages_mark_bytes(uint64_t nelems)
{
    return (nelems + 7) / 8;
}

/* Looks at a process that is stopped, or was copied, or at a core. Returns false if memory runs
 * out. */
bool ages_look_at_copy(struct g2h_ages *ages, struct runtime *runtime);

/* Appends the fact. Returns false if memory runs out. */
bool ages_put_fact(const struct g2h_ages *ages, struct worker_buffer *buffer);

/* ---- a live process (ages_read.c) ---- */

/* A thread that looks at a process for as long as that lives. */
struct ages_follow {
    struct g2h_ages *ages;   /* NULL: none is followed */
    struct g2h_error *error; /* why the thread has ended by itself; NULL: it has not */
    pthread_t thread;
    pthread_mutex_t lock; /* of ages and error, while the thread runs */
    atomic_bool is_held, is_over;
    bool has_thread;
};

/* Starts a thread that looks at a process, whose runtime is ready; the ages are those of the last
 * so many seconds or more. If it ends with an error, the caller may ask for it while it holds the
 * thread. Errors: those of g2h_ages_begin(); *ret goes to ages_follow_deinit() in any case. */
struct g2h_error *ages_follow_begin(uint64_t pid, struct g2h_exe *exe, uint64_t seconds,
                                    struct ages_follow *ret);

/* Keeps the thread from looking, so that the caller may use the ages; and lets it go on. */
void ages_follow_hold(struct ages_follow *follow);
void ages_follow_go_on(struct ages_follow *follow);

/* Has the thread end soon, and waits for that: ages and error are the caller's from then on. */
void ages_follow_stop(struct ages_follow *follow);
void ages_follow_end(struct ages_follow *follow);

void ages_follow_deinit(struct ages_follow *follow);

#endif
