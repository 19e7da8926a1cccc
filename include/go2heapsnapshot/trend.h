/*
 * How the heap of one process goes on over a series of moments: which places grow steadily, which
 * have stopped growing, which go up and down. docs/watch.md has the rules.
 *
 * Of each heap only names and numbers are kept, mostly less than 100 kB, so a program may watch a
 * process for as long as it likes: of more than some hundred heaps every second one is forgotten.
 */
#ifndef GO2HEAPSNAPSHOT_TREND_H
#define GO2HEAPSNAPSHOT_TREND_H

#include <stddef.h>
#include <stdint.h>

#include <go2heapsnapshot/error.h>
#include <go2heapsnapshot/output.h>
#include <go2heapsnapshot/view.h>
#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

struct g2h_trend;

/* Errors: G2H_ERROR_MEMORY. */
G2H_PUBLIC struct g2h_error *g2h_trend_create(struct g2h_trend **ret);
G2H_PUBLIC void g2h_trend_destroy(struct g2h_trend *trend);

/* Adds the next heap, the oldest first, of which the view is not needed afterwards. name is the
 * heap's name in the output. time is when it was taken, in milliseconds since 1970; 0: not known.
 * threads may be 0: one per processor. Errors: G2H_ERROR_MEMORY; those of g2h_view_dominators(). */
G2H_PUBLIC struct g2h_error *g2h_trend_add(struct g2h_trend *trend, const struct g2h_view *view,
                                           const char *name, int64_t time, unsigned threads);

/* Notes that the process of the last heap has a memory limit, and how many bytes that leaves
 * (g2h_process_limit()): the output then says of what grows steadily when that much is full. limit
 * 0: there is none. */
G2H_PUBLIC void g2h_trend_set_limit(struct g2h_trend *trend, uint64_t limit, uint64_t left);

/* Writes what the trend knows, as text or, by options->report, as JSON: docs/watch.md. *ret_steady
 * gets the number of places that grew steadily, which is 0 for less than six heaps; it may be NULL.
 * Errors: those of g2h_write_report() but G2H_ERROR_NOT_FOUND. */
G2H_PUBLIC struct g2h_error *g2h_write_trend(const struct g2h_trend *trend,
                                             const struct g2h_output_options *options,
                                             size_t *ret_steady);

/* Writes a line about the last heap, as text or, by options->report, as JSON: how large it is, and
 * for how long its process stood still, in seconds; less than 0: not known. Errors: those of
 * g2h_write_trend(). */
G2H_PUBLIC struct g2h_error *g2h_write_trend_last(const struct g2h_trend *trend, double stopped,
                                                  const struct g2h_output_options *options);

/* Returns by how many bytes, garbage left out, the last heap is larger than the first one. */
G2H_PUBLIC int64_t g2h_trend_growth(const struct g2h_trend *trend);

G2H_END

#endif
