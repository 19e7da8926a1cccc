/* outputs: the file of a format, or those of one that has several, in a directory. */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include "cli/options.h"
#include "cli/target.h"

struct outputs {
    struct target list[G2H_MOST_FILES];
    unsigned count;
    int fds[G2H_MOST_FILES];
    char *paths[G2H_MOST_FILES]; /* of files in a directory */
    const char *name;            /* of the file or of the directory */
    bool made_directory;         /* which is removed again unless it is completed */
};

/*
 * Opens the file at path, NULL for standard output, or the files of a format that has several in
 * the directory at path, which is made if there is none. What is added to a file (--append) opens
 * it when it is there. None of the count sources is overwritten. ret must be given to
 * outputs_deinit() also after an error. Errors: those of target_open().
 */
struct g2h_error *outputs_open(const struct options *options, const char *path,
                               const struct target_source *sources, size_t count,
                               struct outputs *ret);

/* target_check() of all. */
struct g2h_error *outputs_check(const struct outputs *outputs, const struct g2h_input *input,
                                const char *what);

/* target_complete_all(). */
struct g2h_error *outputs_complete(struct outputs *outputs, const struct g2h_input *dump);
void outputs_deinit(struct outputs *outputs);

/* Makes a directory that may be there already; *ret_made is whether it was not. what_for needs it,
 * in a message. Errors: G2H_ERROR_SYSTEM. */
struct g2h_error *directory_make(const char *path, const char *what_for, bool *ret_made);

#endif
