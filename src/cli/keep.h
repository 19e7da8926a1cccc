/* keep: the dumps of the first and the last snapshot of a process that is watched. */
#ifndef CLI_KEEP_H
#define CLI_KEEP_H

#include "cli/target.h"

/* The dump of the last snapshot is not written before the watch ends: until then its temporary file
 * is kept open. */
struct keep {
    const char *path; /* of the directory; NULL: nothing is kept */
    const struct target_source *sources;
    size_t source_count;
    unsigned threads;
    struct target_directory directory; /* if it is new */
    struct g2h_input *last; /* dump of the last snapshot; NULL: there is none but the first */
};

/* Makes the directory at path, unless it is there. The sources, which are not overwritten, and path
 * must live as long as ret, which goes to keep_deinit() after an error, too. Errors:
 * G2H_ERROR_SYSTEM. */
struct g2h_error *keep_begin(const char *path, const struct target_source *sources, size_t count,
                             unsigned threads, struct keep *ret);

/* Writes the dump of the first snapshot, first.dump.gz. Errors: those of target_open() and
 * g2h_write_dump(). */
struct g2h_error *keep_first(const struct keep *keep, const struct g2h_input *dump);

/* Takes the dump of a later snapshot, which may be the last one. */
void keep_later(struct keep *keep, struct g2h_input *dump);

/* Writes the dump of the last snapshot, last.dump.gz, if there is one. Errors: as above. */
struct g2h_error *keep_last(const struct keep *keep);
void keep_deinit(struct keep *keep);

#endif
