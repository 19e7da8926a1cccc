/*
 * target: the file, pipe or device that the snapshot goes to, and how the program ends. A named
 * file appears only once it is complete.
 */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include <go2heapsnapshot/input.h>

/* ==== the file, pipe or device ====
 *
 * A named file appears only once it is complete.
 */

struct target {
    int fd;
    const char *name; /* for messages */
    char *path; /* final path, symbolic links resolved; NULL: the output has its name already, or
                 * has none */
    char *temporary_path; /* temporary name; NULL: the file has none, if the system supports that */
    bool is_named;        /* name is the file's own: not a device, a pipe or a symbolic link */
    bool exists;          /* the file, device or pipe exists already */
    struct stat status;   /* its status, if it exists */
    char *unfinished;     /* where the signal handler finds temporary_path; NULL: none */
};

/* A file that the program reads, and its description in a message. */
struct target_source {
    const char *path; /* "-": standard input; NULL: none */
    const char *what;
};

/*
 * Opens the target at path, or standard output if path is NULL. Does not overwrite any of the count
 * sources, whatever name or descriptor leads to it. The caller passes ret to target_deinit() after
 * an error, too. Errors: G2H_ERROR_SYSTEM, G2H_ERROR_MEMORY.
 */
struct g2h_error *target_open(const char *path, const struct target_source *sources, size_t count,
                              struct target *ret);

/* Returns an error if path is one of the sources, which must not be written to. */
struct g2h_error *target_refuse(const char *path, const struct target_source *sources,
                                size_t count);

/*
 * Returns an error if one of the sources has a name that belongs to SQLite beside the database at
 * path, where it would be deleted; or if the database is new, and the journal of an earlier one of
 * that name exists, which would be applied to it.
 */
struct g2h_error *target_refuse_database(const char *path, bool is_new,
                                         const struct target_source *sources, size_t count);

/* Does the same for the file of an input that has been opened; see target_check(). */
struct g2h_error *target_check_database(const char *path, const struct g2h_input *input,
                                        const char *what);

/* Returns whether the database at path has a journal that is not empty: the program that changed it
 * was killed, or changes it now. */
bool target_has_journal(const char *path);

/* Returns an error if the target is the file of an input that has been opened, and whose path the
 * caller does not have. */
struct g2h_error *target_check(const struct target *target, const struct g2h_input *input,
                               const char *what);

/* Returns whether a descriptor is that of one of the sources. */
bool target_is_source(int fd, const struct target_source *sources, size_t count);

/* Returns the directory of a target that has a path, from malloc(); NULL: memory has run out. */
char *target_directory_of(const struct target *target);

/* The results of fstat() for the files whose contents a target shows; NULL: no file, or one without
 * permissions. */
struct target_read {
    const struct stat *dump;
    const struct stat *bases; /* base_count elements */
    size_t base_count;
};

/* Renames the file to its final name, with permissions that are no wider than those of the files
 * whose contents it shows. */
struct g2h_error *target_complete(struct target *target, const struct g2h_input *dump);

/* A new directory. If a signal ends the program, it is removed unless it contains complete
 * files. */
struct target_directory {
    const char *path;     /* NULL: it existed before */
    char *temporary_path; /* temporary name, until it is complete; NULL: it has its name */
    char *unfinished;     /* where the signal handler finds path; NULL: none */
};

/* Creates a directory, whose path must live as long as ret. Returns false, with errno set, if it
 * cannot be created. */
bool target_make_directory(const char *path, struct target_directory *ret);

/* Creates a directory that gets its name, path, by target_directory_complete(); otherwise as above.
 * It fails if something of that name exists. */
bool target_make_directory_beside(const char *path, struct target_directory *ret);

/* Completes the files in a directory by target_complete_all(), and renames the directory if it has
 * a temporary name; paths are those of the files. After an error no files are left in a directory
 * without its name. */
struct g2h_error *target_directory_complete(struct target_directory *directory,
                                            struct target *targets, char *const *paths,
                                            unsigned count, const struct target_read *read);

/* Removes the directory if it is empty. */
void target_directory_deinit(struct target_directory *directory);

/* Closes the target, and removes its file unless target_complete() has completed it. */
void target_deinit(struct target *target);

/* Removes the files that are being written, and new directories that are empty. It may be called
 * from a signal handler. */
void target_remove_unfinished(void);

/* ==== the descriptors and signals that the process gets from its caller, and how it ends ==== */

/*
 * Opens the descriptors below 3 that the caller has closed: otherwise the next file that is opened
 * would get one of them, and messages would go into the snapshot. Reading from and writing to these
 * descriptors still fails. Returns false if one cannot be opened.
 */
bool signals_occupy_descriptors(void);

/* Catches the signals that would end the program, so that it leaves no unfinished files. Signals
 * that the caller ignores, as nohup does, stay ignored, and those that a sanitizer catches are left
 * to the sanitizer. If bytes of a mapped file cannot be read, the program ends with a message,
 * which begins with the program's name. */
void signals_catch(const char *program);

#endif
