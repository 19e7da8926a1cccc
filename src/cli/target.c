/*
 * target: an output file that appears only when it is complete; see target.h. target_open() opens a
 * file without a name or with a temporary one, after checks that it is none of the inputs;
 * target_complete() gives it its name. Paths of temporary files are in a list, so that a signal's
 * handler can remove them. The last part has the handlers of signals, and descriptors that a caller
 * has left closed.
 */
#include "cli/target.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <go2heapsnapshot/output.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/port.h"
#include "base/process_root.h"
#include "base/text.h"
#include "cli/options.h"

/* ==== the file, pipe or device ====
 *
 * A snapshot has the secrets of its dump. So only the owner can read the unfinished file, and the
 * file has no name if the system supports that (O_TMPFILE): then it disappears however the program
 * ends, and even if the machine crashes.
 */

/* Paths of temporary files, for the signal handler; and after them those of new directories: of a
 * series, and of the files of one of its dumps. */
enum { FILES = G2H_MOST_FILES, DIRECTORIES = 2, UNFINISHED_SIZE = 4096 };

static char unfinished[FILES + DIRECTORIES][UNFINISHED_SIZE];

/* Removes what is unfinished when the program ends. Files first, then directories, the last made
 * first, since one may be in the other. */
void target_remove_unfinished(void)
{
    for (unsigned i = 0; i < FILES; i++)
        if (unfinished[i][0])
            unlink(unfinished[i]);
    for (unsigned i = FILES + DIRECTORIES; i-- > FILES;)
        if (unfinished[i][0])
            rmdir(unfinished[i]); /* fails if it contains complete files */
}

/* Stores a path for the signal handler to remove, in a slot from first up to end. Returns the slot,
 * or NULL if none is free or the path is too long. */
static char *keep_unfinished(const char *path, unsigned first, unsigned end)
{
    const size_t size = strlen(path) + 1;
    for (unsigned i = first; i < end && size <= UNFINISHED_SIZE; i++)
        if (!unfinished[i][0])
            return memcpy(unfinished[i], path, size);
    return NULL;
}

/* Blocks signals while a file has a name that the signal handler does not know yet. */
static void target_block_signals(sigset_t *ret_before)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, ret_before);
}

/* ---- directories ---- */

/* Creates a directory. Signals are blocked so that one that ends the program finds the directory in
 * the list of what is unfinished. Returns false, with errno set, if that fails. */
bool target_make_directory(const char *path, struct target_directory *ret)
{
    sigset_t before;
    target_block_signals(&before);
    ret->path = mkdir(path, 0777) == 0 ? path : NULL;
    const int reason = errno;
    ret->unfinished = ret->path ? keep_unfinished(path, FILES, FILES + DIRECTORIES) : NULL;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = reason;
    return ret->path != NULL;
}

/* Changes the permissions of a directory made by mkdtemp() to the usual ones. */
static void widen(const char *path)
{
    const mode_t mask = umask(0);
    umask(mask);
    chmod(path, 0777 & ~mask); /* fails if the file system has none */
}

/* Makes a directory PATH.XXXXXX, which gets the name PATH when it is complete. Returns false, with
 * errno set, if that fails: EEXIST if PATH exists already. */
bool target_make_directory_beside(const char *path, struct target_directory *ret)
{
    sigset_t before;
    struct stat status;
    size_t size = strlen(path);
    *ret = (struct target_directory){.path = NULL};
    errno = EEXIST;
    if (lstat(path, &status) == 0)
        return false;
    while (size > 1 && path[size - 1] == '/')
        size--;
    _cleanup_free_ char *temporary = malloc(size + sizeof(".XXXXXX"));
    if (!temporary)
        return false;
    memcpy(temporary, path, size);
    memcpy(temporary + size, ".XXXXXX", sizeof(".XXXXXX"));
    target_block_signals(&before);
    const bool is_made = mkdtemp(temporary) != NULL;
    const int reason = errno;
    if (is_made) {
        widen(temporary);
        *ret = (struct target_directory){path, NULL,
                                         keep_unfinished(temporary, FILES, FILES + DIRECTORIES)};
        ret->temporary_path = take_pointer(temporary);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = reason;
    return is_made;
}

void target_directory_deinit(struct target_directory *directory)
{
    if (directory->path)
        rmdir(directory->temporary_path ? directory->temporary_path : directory->path);
    if (directory->unfinished)
        directory->unfinished[0] = '\0';
    free(directory->temporary_path);
    *directory = (struct target_directory){.path = NULL};
}

/* ---- files that must not be overwritten ---- */

/* Returns whether two statuses are of one file that must not be both read and written. Pipes and
 * terminals may be both. */
static bool is_same_file(const struct stat *one, const struct stat *other)
{
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino &&
           (S_ISREG(one->st_mode) || S_ISBLK(one->st_mode));
}

/* Gets the status of a source. Returns false if it has no path, or is not there. */
static bool find_status(const struct target_source *source, struct stat *ret)
{
    if (!source->path)
        return false;
    return (strcmp(source->path, "-") == 0 ? fstat(STDIN_FILENO, ret) : stat(source->path, ret)) ==
           0;
}

/* Returns whether a status is that of a source's file. */
static bool is_source(const struct stat *status, const struct target_source *source)
{
    struct stat own;
    return find_status(source, &own) && is_same_file(status, &own);
}

/* Returns whether a descriptor is that of one of the sources. */
bool target_is_source(int fd, const struct target_source *sources, size_t count)
{
    struct stat status;
    bool is = false;
    for (size_t i = 0; i < count && fstat(fd, &status) == 0; i++)
        is = is || is_source(&status, &sources[i]);
    return is;
}

static struct g2h_error *target_refuse_file(const struct target *target, const char *what)
{
    return error_create(G2H_ERROR_SYSTEM, "%s: is the %s itself; give the snapshot another name",
                        target->name, what);
}

/* Returns an error if the target is the file of the input. No error if there is no input, or it is
 * no file. */
struct g2h_error *target_check(const struct target *target, const struct g2h_input *input,
                               const char *what)
{
    const struct stat *status = input ? g2h_input_status(input) : NULL;
    return status && target->exists && is_same_file(&target->status, status)
               ? target_refuse_file(target, what)
               : NULL;
}

/* ---- the unfinished file ---- */

/* Returns the path that symbolic links lead to, whether or not the file exists; NULL, with errno
 * set, if it cannot be found out. */
static char *follow_links(const char *path)
{
    enum { MOST_LINKS = 40 /* as Linux follows (MAXSYMLINKS) */ };
    char link[4096];
    char *at = strdup(path);
    for (int i = 0; at; i++) {
        const ssize_t size = readlink(at, link, sizeof(link) - 1);
        if (size < 0) /* not a link, or nothing exists yet */
            return at;
        link[size] = '\0';
        const char *slash = link[0] == '/' ? NULL : strrchr(at, '/');
        const int head = slash ? as_width(as_size(slash + 1 - at)) : 0;
        char *next = NULL;
        if (i == MOST_LINKS)
            errno = ELOOP;
        else if (asprintf(&next, "%.*s%s", head, at, link) < 0)
            next = NULL;
        free(at);
        at = next;
    }
    return NULL;
}

/* Returns the directory that the file is in, from malloc(); "." if its path has none. NULL: memory
 * has run out. */
char *target_directory_of(const struct target *target)
{
    const char *slash = target->path ? strrchr(target->path, '/') : NULL;
    return slash ? strndup(target->path, as_size(slash - target->path) + 1) : strdup(".");
}

/* Opens a file without a name in the directory of the target's path. Returns false if the system
 * does not have such files, or could not give them a name later. */
static bool target_open_nameless(struct target *target)
{
#ifdef O_TMPFILE
    char proc[64];
    struct stat status;
    char *directory = target_directory_of(target);
    if (!directory)
        return false;
    target->fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    free(directory);
    snprintf(proc, sizeof(proc), "/proc/self/fd/%d", target->fd);
    if (target->fd >= 0 && stat(proc, &status) < 0) {
        close(target->fd);
        target->fd = -1;
    }
#endif
    return target->fd >= 0;
}

/* Opens a file without a name or, if the system has none, one with a temporary name. */
static struct g2h_error *open_temporary(struct target *target)
{
    sigset_t before;
    const size_t size = strlen(target->path) + sizeof(".XXXXXX");
    target->fd = -1;
    if (target_open_nameless(target))
        return NULL;
    target->temporary_path = malloc(size);
    if (!target->temporary_path)
        return &error_no_memory;
    snprintf(target->temporary_path, size, "%s.XXXXXX", target->path);
    target_block_signals(&before);
    target->fd = mkostemp(target->temporary_path, O_CLOEXEC); /* with mode 0600 */
    const int reason = errno;
    if (target->fd >= 0)
        target->unfinished = keep_unfinished(target->temporary_path, 0, FILES);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (target->fd >= 0)
        return NULL;
    free(target->temporary_path);
    target->temporary_path = NULL;
    return error_system(reason, "%s: cannot create", target->name);
}

/* Opens the output: instead of a regular file, or one that does not exist, a temporary one that
 * replaces it when it is complete; a device, a pipe, or a file that has no name any more
 * (/proc/self/fd/N) itself. */
static struct g2h_error *open_path(struct target *target)
{
    struct stat status;
    target->is_named = lstat(target->name, &status) < 0 || !S_ISLNK(status.st_mode);
    if (!target->exists || S_ISREG(target->status.st_mode)) {
        target->path = follow_links(target->name);
        if (!target->path)
            return errno == ENOMEM ? &error_no_memory
                                   : error_system(errno, "%s: cannot create", target->name);
        if (!target->exists ||
            (stat(target->path, &status) == 0 && is_same_file(&target->status, &status)))
            return open_temporary(target);
        free(target->path); /* the name is that of a descriptor below /proc, and its file was
                               removed */
        target->path = NULL;
    }
    target->is_named = false;
    target->fd = open(target->name, O_WRONLY | O_TRUNC | O_CLOEXEC);
    return target->fd < 0 ? error_system(errno, "%s: cannot write", target->name) : NULL;
}

/* Returns an error if path is one of the sources, which must not be written to. */
struct g2h_error *target_refuse(const char *path, const struct target_source *sources, size_t count)
{
    const struct target target = {.name = path};
    struct stat status;
    const bool exists = stat(path, &status) == 0;
    for (size_t i = 0; exists && i < count; i++)
        if (is_source(&status, &sources[i]))
            return target_refuse_file(&target, sources[i].what);
    return NULL;
}

/* The files that SQLite has beside a database, and whether it applies an existing one to the
 * database. It deletes all of them. */
static const struct {
    const char *ending;
    bool is_applied;
} database_files[] = {{"-journal", true}, {"-wal", true}, {"-shm", false}};

/* Returns an error if a file of SQLite's beside a database has the status of a source, or, if the
 * status is NULL, if one exists that would be applied to a new database. */
static struct g2h_error *check_beside(const char *database, const struct stat *source,
                                      const char *what)
{
    for (size_t i = 0; i < COUNT_OF(database_files); i++) {
        _cleanup_free_ char *path = NULL;
        struct stat status;
        TRY_MEMORY(asprintf(&path, "%s%s", database, database_files[i].ending) >= 0);
        if (stat(path, &status) < 0)
            continue;
        if (source && is_same_file(&status, source))
            return error_create(G2H_ERROR_SYSTEM,
                                "%s: is the %s, and SQLite deletes a file of this name beside %s; "
                                "give one of them another name",
                                path, what, database);
        if (!source && database_files[i].is_applied && status.st_size > 0)
            return error_create(G2H_ERROR_SYSTEM,
                                "%s: is of an earlier database, and SQLite would apply it to the "
                                "new one; remove it, or give the new one another name",
                                path);
    }
    return NULL;
}

/* Calls check_beside() for the path, and for what it leads to if it is a symbolic link. */
static struct g2h_error *check_database(const char *path, const struct stat *source,
                                        const char *what)
{
    _cleanup_free_ char *followed = follow_links(path);
    TRY(check_beside(path, source, what));
    return followed ? check_beside(followed, source, what) : NULL;
}

/* Returns whether a database is being written, or its writer was killed. A journal that is not
 * empty is of a writer that has not come to its end. */
bool target_has_journal(const char *path)
{
    _cleanup_free_ char *journal = NULL;
    struct stat status;
    return asprintf(&journal, "%s%s", path, database_files[0].ending) >= 0 &&
           stat(journal, &status) == 0 && status.st_size > 0;
}

/* Returns an error if the input is a file that SQLite keeps beside the database. */
struct g2h_error *target_check_database(const char *path, const struct g2h_input *input,
                                        const char *what)
{
    const struct stat *status = input ? g2h_input_status(input) : NULL;
    return status ? check_database(path, status, what) : NULL;
}

/* Returns an error if SQLite would delete one of the sources, or apply a journal of an earlier
 * database. A source that does not exist cannot be deleted, so it is not checked. */
struct g2h_error *target_refuse_database(const char *path, bool is_new,
                                         const struct target_source *sources, size_t count)
{
    struct stat status;
    for (size_t i = 0; i < count; i++)
        if (find_status(&sources[i], &status))
            TRY(check_database(path, &status, sources[i].what));
    return is_new ? check_database(path, NULL, NULL) : NULL;
}

/* Opens the target. Refuses an output that is one of the sources, also by another name. path NULL:
 * standard output. */
struct g2h_error *target_open(const char *path, const struct target_source *sources, size_t count,
                              struct target *ret)
{
    *ret = (struct target){.fd = STDOUT_FILENO, .name = path ? path : "standard output"};
    ret->exists = (path ? stat(path, &ret->status) : fstat(STDOUT_FILENO, &ret->status)) == 0;
    for (size_t i = 0; ret->exists && i < count; i++)
        if (is_source(&ret->status, &sources[i]))
            return target_refuse_file(ret, sources[i].what);
    return path ? open_path(ret) : NULL;
}

/* ---- completing the file ---- */

/*
 * Returns the permissions of the finished file. A new file has those of the umask, and an existing
 * file keeps its own; but neither grants its group or others more than the dump does, and the dump
 * that it is compared with. If the group is another one, it gets no more than others do.
 */
static mode_t permissions(const struct target *target, const struct target_read *read)
{
    const struct stat *old = &target->status;
    struct stat written; /* the temporary file */
    mode_t mode;
    mode_t mask = umask(0);
    umask(mask);
    if (target->exists) {
        const int failed = fchown(target->fd, (uid_t)-1, old->st_gid);
        (void)failed; /* then the file's group is another one, see below */
    }
    if (fstat(target->fd, &written) < 0)
        return 0600;
    mode = target->exists ? old->st_mode & 0777 : 0666 & ~mask;
    if (target->exists && written.st_gid != old->st_gid)
        mode = permissions_of_other_group(mode);
    for (size_t i = 0; i < read->base_count; i++)
        mode &= permissions_most(&read->bases[i], written.st_gid);
    return mode & permissions_most(read->dump, written.st_gid);
}

/* Links a file without a name to a temporary name beside its own, PATH.1234abcd, which a rename can
 * then turn into that. Returns false, with errno set, if that fails. */
static bool name_temporarily(struct target *target)
{
    enum { TRIES = 100 /* names that exist already */ };
    const size_t size = strlen(target->path) + sizeof(".XXXXXXXX");
    char proc[64];
    target->temporary_path = malloc(size);
    if (!target->temporary_path) {
        errno = ENOMEM;
        return false;
    }
    snprintf(proc, sizeof(proc), "/proc/self/fd/%d", target->fd);
    for (unsigned i = 0; i < TRIES; i++) {
        unsigned number = i;
        if (port_random(&number, sizeof(number), false) != 0)
            number += (unsigned)getpid() * TRIES;
        snprintf(target->temporary_path, size, "%s.%08x", target->path, number);
        if (linkat(AT_FDCWD, proc, AT_FDCWD, target->temporary_path, AT_SYMLINK_FOLLOW) == 0)
            return true;
        if (errno != EEXIST)
            break;
    }
    free(target->temporary_path);
    target->temporary_path = NULL;
    return false;
}

/* Sets the permissions, makes sure that the file has a temporary name, and closes it, which reports
 * errors of writing. Returns false, with errno set, if any of that fails. */
static bool settle(struct target *target, const struct target_read *read)
{
    fchmod(target->fd, permissions(target, read)); /* fails if the file system has none */
    if (!target->temporary_path && !name_temporarily(target))
        return false;
    const int fd = target->fd;
    target->fd = -1;
    return close(fd) == 0;
}

/* Renames the temporary file to its final name. Returns false, with errno set, if that fails. */
static bool give_name(struct target *target)
{
    if (rename(target->temporary_path, target->path) < 0)
        return false;
    free(target->temporary_path);
    target->temporary_path = NULL;
    return true;
}

/* Completes several files; none gets its name before all are written. After an error no temporary
 * files are left. */
static struct g2h_error *target_complete_all(struct target *targets, unsigned count,
                                             const struct target_read *read)
{
    sigset_t before;
    struct g2h_error *error = NULL;
    target_block_signals(&before);
    for (unsigned i = 0; i < count && !error; i++) /* path NULL: it has its name, or has none */
        if (targets[i].path && !settle(&targets[i], read))
            error = error_system(errno, "%s: cannot write", targets[i].name);
    for (unsigned i = 0; i < count && !error; i++)
        if (targets[i].path && !give_name(&targets[i]))
            error = error_system(errno, "%s: cannot write", targets[i].name);
    for (unsigned i = 0; i < count; i++)
        target_deinit(&targets[i]);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* Renames a directory to its final name. */
static struct g2h_error *name_directory(struct target_directory *directory)
{
    if (rename(directory->temporary_path, directory->path) < 0)
        return error_system(errno, "%s: cannot create the directory", directory->path);
    free(directory->temporary_path);
    directory->temporary_path = NULL;
    return NULL;
}

/* Gives the files, and then the directory, their names. If that fails, removes the files. */
struct g2h_error *target_directory_complete(struct target_directory *directory,
                                            struct target *targets, char *const *paths,
                                            unsigned count, const struct target_read *read)
{
    sigset_t before;
    target_block_signals(&before);
    struct g2h_error *error = target_complete_all(targets, count, read);
    if (!error && directory->temporary_path)
        error = name_directory(directory);
    for (unsigned i = 0; i < count && error && directory->temporary_path; i++)
        unlink(paths[i]);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* Renames the file to its final name, with permissions that are no wider than those of the files
 * whose contents it shows. */
struct g2h_error *target_complete(struct target *target, const struct g2h_input *dump)
{
    const struct target_read read = {.dump = g2h_input_status(dump)};
    return target_complete_all(target, 1, &read);
}

/* Removes the temporary file of an output that has not been completed, and forgets its name; frees
 * the rest. */
void target_deinit(struct target *target)
{
    if (target->path && target->fd >= 0)
        close(target->fd);
    if (target->temporary_path)
        unlink(target->temporary_path);
    if (target->unfinished)
        target->unfinished[0] = '\0';
    free(target->temporary_path);
    free(target->path);
    target->unfinished = target->temporary_path = target->path = NULL;
}

/* ==== the descriptors and signals that the process gets from its caller, and how it ends ==== */

/* Opens the standard descriptors that are closed, so that no file that is opened later gets their
 * numbers, and messages are not written into it. They are opened the wrong way round, so that
 * reading or writing fails, without /dev/null as a directory. Returns false if that is not
 * possible. */
bool signals_occupy_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            continue;
        const int mode = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        if (open("/dev/null", mode) != fd && open("/", O_RDONLY | O_DIRECTORY) != fd)
            return false;
    }
    return true;
}

static const char *program; /* for messages */

/* Handles SIGBUS. If it is for unreadable bytes of a mapped input, says so and ends the program,
 * without unfinished files; otherwise ends it as the signal does. Several threads may hit such
 * bytes: the first one says so, and the others wait for the end. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
    static bool is_told;
    char text[8192];
    const bool is_fault = info->si_code > 0; /* no process has sent it */
    const char *name = "";
    const char *why = is_fault ? g2h_input_fault(info->si_addr, &name) : NULL;
    (void)context;
    if (!why) { /* the address is in no input */
        target_remove_unfinished();
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    while (__atomic_exchange_n(&is_told, true, __ATOMIC_SEQ_CST))
        pause();
    target_remove_unfinished();
    const char *const parts[] = {program, ": ", name, ": ", why};
    size_t size = 0;
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        for (const char *at = parts[i]; *at && size < sizeof(text) - 1; at++)
            text[size++] = *at;
    size = g2h_printable(text, size);
    text[size++] = '\n';
    if (write(STDERR_FILENO, text, size) < 0)
        _exit(EXIT_FAILED);
    _exit(EXIT_FAILED);
}

/* Handles a signal that ends the program: removes the unfinished files, and then ends as the signal
 * does by itself. */
static void on_end(int number)
{
    target_remove_unfinished();
    signal(number, SIG_DFL);
    raise(number);
}

/* Sets a handler for each signal from 1 to 31 that has its usual effect now, except for those that
 * cannot be caught or do not end a program. SIGBUS has a handler of its own, on_bus_error(), for
 * inputs that cannot be read any more. */
void signals_catch(const char *name)
{
    enum { SIGNALS = 31 }; /* numbers above are real-time signals, which are not sent here */
    static const int others[] = {SIGKILL, SIGSTOP, SIGCHLD, SIGCONT,  SIGTSTP,
                                 SIGTTIN, SIGTTOU, SIGURG,  SIGWINCH, SIGBUS};
    struct sigaction old;
    struct sigaction bus = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
    program = name;
    signal(SIGXFSZ, SIG_IGN); /* so writing fails with a message instead */
    for (int number = 1; number <= SIGNALS; number++) {
        bool is_other = sigaction(number, NULL, &old) < 0 || old.sa_handler != SIG_DFL;
        for (size_t i = 0; i < COUNT_OF(others); i++)
            is_other = is_other || number == others[i];
        if (!is_other)
            signal(number, on_end);
    }
    sigaction(SIGBUS, &bus, NULL);
}
