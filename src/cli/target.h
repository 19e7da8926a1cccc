/* target: the file, pipe or device that the snapshot goes to. A named file appears only once it is
 * complete. */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include <go2heapsnapshot/input.h>

struct target {
    int fd;
    const char *name; /* for messages */
    char *path; /* that the file gets when it is complete, with symbolic links resolved; NULL: the
                   output has its name already, or has none */
    char *temporary_path; /* that the file has until then; NULL: it has none, if the system supports
                             that */
    bool is_named;        /* name is the file's own: it is no device, no pipe, no symbolic link */
    bool exists;          /* the file, device or pipe is there already */
    struct stat status;   /* its status, if it is there */
    char *unfinished;     /* the place where the signal handler finds temporary_path; NULL: none */
};

/* A file that the program reads, and its description in a message. */
struct target_source {
    const char *path; /* "-": standard input; NULL: none */
    const char *what;
};

/*
 * Opens the target at path, or standard output if path is NULL. Does not overwrite any of the count
 * sources, whatever name or descriptor leads to it. The caller gives ret to target_deinit() after
 * an error, too. Errors: G2H_ERROR_SYSTEM, G2H_ERROR_MEMORY.
 */
struct g2h_error *target_open(const char *path, const struct target_source *sources, size_t count,
                              struct target *ret);

/* Returns an error if path is one of the sources, which must not be written to. */
struct g2h_error *target_refuse(const char *path, const struct target_source *sources,
                                size_t count);

/* Returns an error if the target is the file of an input that has been opened, and whose path the
 * caller does not have. */
struct g2h_error *target_check(const struct target *target, const struct g2h_input *input,
                               const char *what);

/* Returns whether a descriptor is that of one of the sources. */
bool target_is_source(int fd, const struct target_source *sources, size_t count);

/* Returns the widest permissions that a file of a group may have if it shows the contents of a
 * dump: those of the dump. If the dump's group is another one, the file's group gets no more than
 * everybody. */
mode_t target_most(const struct stat *dump, gid_t group);

/* Gives the file its name, and permissions that are no wider than those of the dump. */
struct g2h_error *target_complete(struct target *target, const struct g2h_input *dump);

/* Completes several files; none gets its name before all are written. After an error none of the
 * temporary files is left. */
struct g2h_error *target_complete_all(struct target *targets, unsigned count,
                                      const struct g2h_input *dump);

/* Closes the target, and removes its file unless target_complete() has completed it. */
void target_deinit(struct target *target);

/* Removes the files that are being written. It may be called from a signal handler. */
void target_remove_unfinished(void);

#endif
