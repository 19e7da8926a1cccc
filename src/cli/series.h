/* series: the paths of a series' snapshots. */
#ifndef CLI_SERIES_H
#define CLI_SERIES_H

#include <stddef.h>

#include "cli/options.h"
#include "cli/target.h"

/* The paths of the snapshots of a series. */
struct series_paths {
    char **list; /* one for each dump */
    size_t count;
    struct target_directory directory;
};

/*
 * Makes the paths of a series' snapshots in the directory options->output, which is created if it
 * does not exist. Each snapshot is named after its dump: for "heap.1.dump.gz" it is
 * "DIRECTORY/heap.1.heapsnapshot". *ret, which is zero, goes to series_paths_deinit(), after an
 * error, too. Errors: G2H_ERROR_SYSTEM, also if two dumps have the same path; G2H_ERROR_MEMORY.
 */
struct g2h_error *series_make_paths(const struct options *options, struct series_paths *ret);
void series_paths_deinit(struct series_paths *paths);

#endif
