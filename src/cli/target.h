/* target: where the snapshot goes. A named file appears only once it is complete. */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include <stdbool.h>

#include <go2heapsnapshot/error.h>

struct target {
    int fd;
    const char *name;     /* for messages */
    char *temporary_path; /* of a file that is renamed when it is complete; NULL otherwise */
    const char *path;     /* that it gets then */
    char *real_path;
    bool is_named; /* name is the file's own: no device, no pipe, no symbolic link */
};

/*
 * path NULL: standard output. input is the path of the dump, which is not overwritten. ret must be
 * given to target_deinit() also after an error. Errors: G2H_ERROR_SYSTEM, G2H_ERROR_MEMORY.
 */
struct g2h_error *target_open(const char *path, const char *input, struct target *ret);

/* Gives the file its name. */
struct g2h_error *target_complete(struct target *target);

/* Removes what target_complete() has not completed. */
void target_deinit(struct target *target);

/* Removes the file that is being written; may be called from a signal handler. */
void target_remove_unfinished(void);

#endif
