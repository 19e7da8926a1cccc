/* keep: the dumps of the first and the last snapshot of a watched process. */
#ifndef CLI_KEEP_H
#define CLI_KEEP_H

#include "cli/target.h"

/* Each dump is written before anything else happens to it, so that it survives if the program is
 * killed: the first one as first.dump, each later one as last.dump, replacing the one before. The
 * end of the watch packs that. */
struct keep {
    const char *path; /* of the directory; NULL: nothing is kept */
    const struct target_source *sources;
    size_t source_count;
    unsigned threads;
    uint64_t largest_array;            /* as in struct g2h_output_options */
    struct target_directory directory; /* if it is new */
    bool has_first, has_last;          /* which dumps have been written */
};

/* Creates the directory at path, unless it exists. The sources, which are not overwritten, and path
 * must live as long as ret, which goes to keep_deinit() after an error, too. Errors:
 * G2H_ERROR_SYSTEM. */
struct g2h_error *keep_begin(const char *path, const struct target_source *sources, size_t count,
                             unsigned threads, uint64_t largest_array, struct keep *ret);

/* Writes the dump of a snapshot: the first one to first.dump.gz, a later one to last.dump. Does
 * nothing if nothing is kept. Errors: those of target_open() and g2h_write_dump(). */
struct g2h_error *keep_dump(struct keep *keep, const struct g2h_input *dump);

/* Packs the dump of the last snapshot, if there is one: last.dump.gz replaces last.dump. Errors: as
 * above; those of g2h_input_open(). */
struct g2h_error *keep_last(const struct keep *keep);
void keep_deinit(struct keep *keep);

#endif
