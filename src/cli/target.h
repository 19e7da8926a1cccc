/* target: where the snapshot goes. A named file appears only once it is complete. */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include <go2heapsnapshot/input.h>

struct target {
    int fd;
    const char *name; /* for messages */
    char *path;       /* that the file gets when it is complete, symbolic links followed; NULL: what
                         is written to has its name, or none */
    char
        *temporary_path; /* that it has until then; NULL: none, as long as the system can do that */
    bool is_named;       /* name is the file's own: no device, no pipe, no symbolic link */
    bool exists;         /* there is such a file, device or pipe already */
    struct stat status;  /* of it */
    char *unfinished;    /* where the signal handler finds temporary_path; NULL: nowhere */
};

/* A file that is read, and what it is called in a message. */
struct target_source {
    const char *path; /* "-": standard input; NULL: none */
    const char *what;
};

/*
 * path NULL: standard output. None of the count sources is overwritten, by whatever name or
 * descriptor. ret must be given to target_deinit() also after an error. Errors: G2H_ERROR_SYSTEM,
 * G2H_ERROR_MEMORY.
 */
struct g2h_error *target_open(const char *path, const struct target_source *sources, size_t count,
                              struct target *ret);

/* The error where path is one of the sources, which are not to be written to. */
struct g2h_error *target_refuse(const char *path, const struct target_source *sources,
                                size_t count);

/* The same of an input that has been opened, whose path the caller has not. */
struct g2h_error *target_check(const struct target *target, const struct g2h_input *input,
                               const char *what);

/* Whether a descriptor is that of one of the sources. */
bool target_is_source(int fd, const struct target_source *sources, size_t count);

/* The widest permissions that a file of a group may have which shows what is in a dump: no more
 * than the dump has. What is for another group is for none. */
mode_t target_most(const struct stat *dump, gid_t group);

/* Gives the file its name, and permissions that are no wider than those of the dump. */
struct g2h_error *target_complete(struct target *target, const struct g2h_input *dump);

/* The same of several, none before all are whole. After an error none is left. */
struct g2h_error *target_complete_all(struct target *targets, unsigned count,
                                      const struct g2h_input *dump);

/* Removes what target_complete() has not completed. */
void target_deinit(struct target *target);

/* Removes the files that are being written; may be called from a signal handler. */
void target_remove_unfinished(void);

#endif
