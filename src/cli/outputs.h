/*
 * outputs: the files of outputs: that of a format or the several of a directory, those of a series,
 * and the dumps that --watch keeps.
 */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include <stddef.h>

#include "cli/options.h"
#include "cli/target.h"

/* ==== the file of a format or, for a format that has several files, the files in a directory ====
 */

struct outputs {
    struct target list[G2H_MOST_FILES];
    unsigned count;
    int fds[G2H_MOST_FILES];
    char *paths[G2H_MOST_FILES];       /* of files in a directory, which may be temporary */
    char *names[G2H_MOST_FILES];       /* their final names */
    const char *name;                  /* name of the file or of the directory */
    const char *database;              /* path of an SQLite database, or NULL */
    struct target_directory directory; /* that the files are in, if it is new */
};

/*
 * Opens the file at path, or standard output if path is NULL, or the files of a format that has
 * several in the directory at path, which is created if it does not exist. Does not open a file
 * that --append adds to: the format opens it when the rows are ready. Does not overwrite any of the
 * count sources. The caller passes ret to outputs_deinit() after an error, too. Errors: those of
 * target_open().
 */
struct g2h_error *outputs_open(const struct options *options, const char *path,
                               const struct target_source *sources, size_t count,
                               struct outputs *ret);

/* Calls target_check() for each file. */
struct g2h_error *outputs_check(const struct outputs *outputs, const struct g2h_input *input,
                                const char *what);

/* Completes all files by target_complete_all(). */
struct g2h_error *outputs_complete(struct outputs *outputs, const struct target_read *read);

void outputs_deinit(struct outputs *outputs);

/* Returns the path of a file in a directory, from malloc(), with .gz appended if gzip is set; NULL:
 * memory has run out. */
char *directory_path(const char *directory, const char *name, bool gzip);

/* Creates a directory unless it exists. what_for names its user, for a message. Errors:
 * G2H_ERROR_SYSTEM. */
struct g2h_error *directory_make(const char *path, const char *what_for,
                                 struct target_directory *ret);

/* ==== the dumps of the first and the last snapshot of a watched process ==== */

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

/* ==== the paths of a series' snapshots ==== */

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
