/* series: the paths of a series' snapshots. */
#ifndef CLI_SERIES_H
#define CLI_SERIES_H

#include <stddef.h>

#include "cli/options.h"
#include "cli/target.h"

/*
 * Makes the paths of a series' snapshots in the directory options->output, which is created if it
 * does not exist; *ret_directory goes to target_directory_deinit(). Each snapshot is named after
 * its dump: for "heap.1.dump.gz" it is "DIRECTORY/heap.1.heapsnapshot". *ret gets
 * options->input_count paths, and goes to series_free_paths(), after an error, too. Errors:
 * G2H_ERROR_SYSTEM, also if two dumps have the same path; G2H_ERROR_MEMORY.
 */
struct g2h_error *series_make_paths(const struct options *options, char ***ret,
                                    struct target_directory *ret_directory);
void series_free_paths(const struct options *options, char **paths);

#endif
