/*
 * The development of one process's heap over a series of snapshots: which locations grow steadily,
 * which have stopped growing, which go up and down. docs/watch.md has the rules.
 *
 * Only names and numbers are kept for each heap, mostly less than 100 kB, so a program may watch a
 * process indefinitely: beyond a few hundred heaps every second one is discarded.
 */
#ifndef GO2HEAPSNAPSHOT_TREND_H
#define GO2HEAPSNAPSHOT_TREND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <go2heapsnapshot/error.h>
#include <go2heapsnapshot/memory.h>
#include <go2heapsnapshot/output.h>
#include <go2heapsnapshot/view.h>
#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

struct g2h_trend;

/* Errors: G2H_ERROR_MEMORY. */
G2H_PUBLIC struct g2h_error *g2h_trend_create(struct g2h_trend **ret);
G2H_PUBLIC void g2h_trend_destroy(struct g2h_trend *trend);

/* Adds the next heap, oldest first; its view is not needed afterwards. name is the heap's name in
 * the output. time is when it was taken, in milliseconds since 1970; 0: not known. threads may be
 * 0: one per processor. Errors: G2H_ERROR_MEMORY; those of g2h_view_dominators(). */
G2H_PUBLIC struct g2h_error *g2h_trend_add(struct g2h_trend *trend, const struct g2h_view *view,
                                           const char *name, int64_t time, unsigned threads);

/* Says whether others follow the next heap before the trend is written. Then what holds the places
 * that grow is not looked for in it, which would take as long as all heaps before it together. */
G2H_PUBLIC void g2h_trend_expect_more(struct g2h_trend *trend, bool more);

/* Records the memory limit of the last heap's process and how many bytes it leaves
 * (g2h_process_limit()): the output then estimates when steady growth reaches it. limit 0: there is
 * none. */
G2H_PUBLIC void g2h_trend_set_limit(struct g2h_trend *trend, uint64_t limit, uint64_t left);

/* Records the resident memory of the last heap's process, if it is known: the output then has RSS,
 * and how much of it is not objects. */
G2H_PUBLIC void g2h_trend_set_memory(struct g2h_trend *trend, const struct g2h_memory *memory);

/* Writes the trend as text or, by options->report, as JSON: docs/watch.md. *ret_steady receives the
 * number of locations that grew steadily, which is 0 for fewer than six heaps; it may be NULL.
 * Errors: those of g2h_write_report() but G2H_ERROR_NOT_FOUND. */
G2H_PUBLIC struct g2h_error *g2h_write_trend(const struct g2h_trend *trend,
                                             const struct g2h_output_options *options,
                                             size_t *ret_steady);

/* Writes a line about the last heap, as text or, by options->report, as JSON: its size, and for how
 * long its process was paused, in seconds; less than 0: not known. Errors: those of
 * g2h_write_trend(). */
G2H_PUBLIC struct g2h_error *g2h_write_trend_last(const struct g2h_trend *trend, double stopped,
                                                  const struct g2h_output_options *options);

/* Returns by how many bytes the last heap is larger than the first one, excluding garbage. */
G2H_PUBLIC int64_t g2h_trend_growth(const struct g2h_trend *trend);

G2H_END

#endif
