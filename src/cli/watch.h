/*
 * watch: --watch, which takes snapshots of a process at regular moments.
 *
 * Each snapshot is taken in one thread and converted in another one, in which only its numbers and
 * names are kept. A signal ends the watch, as do the end of the process, --count, --until-growth
 * and several snapshots in a row that fail.
 */
#ifndef CLI_WATCH_H
#define CLI_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/conversion.h"

/* Reads a time such as 30s, 5m, 2h or 1d; a number alone is seconds. Returns false unless it is one
 * from 1 s to 30 days. */
bool watch_parse_time(const char *text, uint64_t *ret_seconds);

/* Reads a size such as 500K, 64M or 2G, of powers of 1,024. Returns false unless it is one above 0.
 */
bool watch_parse_size(const char *text, uint64_t *ret_bytes);

/* Watches the process of --pid, or runs a command again and again, adds each snapshot to the trend
 * of the series, and writes what the options want of each to the output. Errors: that of the first
 * snapshot; G2H_ERROR_MEMORY, G2H_ERROR_SYSTEM. */
struct g2h_error *watch_process(const struct options *options, struct series *series,
                                const struct g2h_output_options *output_options,
                                struct outcome *outcome);

#endif
