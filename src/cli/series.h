/* series: the names of a series' snapshots. */
#ifndef CLI_SERIES_H
#define CLI_SERIES_H

#include <stddef.h>

#include "cli/options.h"

/*
 * Gives the paths of a series' snapshots: each is named after its dump, "heap.1.dump.gz" gets
 * "DIRECTORY/heap.1.heapsnapshot", in options->output, which is made if it is not there. *ret:
 * options->input_count paths, for series_free_paths(). Errors: G2H_ERROR_SYSTEM, also where two
 * have the same path; G2H_ERROR_MEMORY.
 */
struct g2h_error *series_make_paths(const struct options *options, char ***ret);
void series_free_paths(const struct options *options, char **paths);

#endif
