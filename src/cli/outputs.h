/* outputs: the file of a format or, for a format that has several files, the files in a directory.
 */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include "cli/options.h"
#include "cli/target.h"

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

#endif
