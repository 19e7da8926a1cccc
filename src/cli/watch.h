/* watch: the moments at which --watch takes snapshots, and the conditions that end it. */
#ifndef CLI_WATCH_H
#define CLI_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Reads a time such as 30s, 5m, 2h or 1d; a number alone is seconds. Returns false unless it is one
 * from 1 s to 30 days. */
bool watch_parse_time(const char *text, uint64_t *ret_seconds);

/* Reads a size such as 500K, 64M or 2G, of powers of 1,024. Returns false unless it is one above 0.
 */
bool watch_parse_size(const char *text, uint64_t *ret_bytes);

struct watch {
    uint64_t pid, every; /* pid: 0: a command is run; every: seconds */
    uint64_t image;      /* g2h_process_image() when it began */
    double begin;        /* of the monotonic clock, seconds */
    uint64_t due;        /* moments that have come so far */
    uint64_t missed;     /* those at which no snapshot was taken */
};

/* Begins to watch a process every so often, in seconds. From now on SIGINT and SIGTERM do not end
 * the program, the first time, but watch_wait() returns false. Signals that the caller ignores stay
 * ignored. */
void watch_begin(uint64_t pid, uint64_t every, struct watch *ret);

/* Waits for the next moment; those that have passed since the last one count as missed. Returns
 * false at once if the process ends or runs another program, if a signal came, or if *is_over,
 * which another thread may set. */
bool watch_wait(struct watch *watch, const atomic_bool *is_over);

/* Returns whether the process has ended, or runs another program. */
bool watch_has_ended(const struct watch *watch);

#endif
