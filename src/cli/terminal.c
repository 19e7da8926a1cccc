/*
 * terminal: what a terminal shows; see terminal.h. The parts: a line of progress that overwrites
 * itself, which any thread may update, and which is removed before other output; colours and width;
 * and a pager for long output, which is collected in a file first.
 */
#include "cli/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/port.h"

/* ==== a line on the terminal that shows how far the conversion is ====
 *
 * The line overwrites itself, ten times a second at most.
 *
 * The percentage is that of the whole, not of a step: reading a dump is a tenth of it. The shares
 * of the steps are those of a heap of 2 million objects; a step that knows how much it has to do
 * moves within its share, the others stay at its beginning.
 */

/* --watch captures and converts at the same time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
    double last_shown;
    const char *phase;
    bool visible;
    enum progress_plan plan;
} line;

enum { STEPS = 7, PLANS = PROGRESS_DATABASE_UNTYPED + 1 };

/* The steps of a conversion after a process has been copied, and at which percentage each ends. */
static const struct {
    const char *phase;
    unsigned end;
} plans[PLANS][STEPS] = {
    [PROGRESS_NONE] = {{NULL, 0}},
    [PROGRESS_REPORT] = {{"reading", 10}, {"types", 40}, {"graph", 55}, {"report", 100}},
    [PROGRESS_REPORT_UNTYPED] = {{"reading", 5}, {"graph", 18}, {"report", 100}},
    [PROGRESS_FILE] = {{"reading", 8}, {"types", 30}, {"graph", 73}, {"writing", 100}},
    [PROGRESS_FILE_UNTYPED] = {{"reading", 10}, {"graph", 65}, {"writing", 100}},
    [PROGRESS_PAGE] = {{"reading", 6}, {"types", 30}, {"graph", 44}, {"dominators", 100}},
    [PROGRESS_PAGE_UNTYPED] = {{"reading", 8}, {"graph", 26}, {"dominators", 100}},
    [PROGRESS_DATABASE] = {{"reading", 1},
                           {"types", 6},
                           {"graph", 9},
                           {"dominators", 18},
                           {"writing", 59},
                           {"indexing", 100}},
    [PROGRESS_DATABASE_UNTYPED] =
        {{"reading", 1}, {"graph", 4}, {"dominators", 13}, {"writing", 56}, {"indexing", 100}},
};

/* Prints which step of how many this is, and how much of the whole is done: the phase moves from
 * the end of the one before it to its own. Steps that are not planned, such as copying a process,
 * have a percentage of their own. */
static void show_share(const char *phase, uint64_t done, uint64_t total)
{
    const double part = total > 0 ? as_ratio(done, total) : 0;
    unsigned begin = 0, end = 0, number = 0, count = 0;
    for (unsigned last = 0; count < STEPS && plans[line.plan][count].phase; count++) {
        if (strcmp(plans[line.plan][count].phase, phase) == 0) {
            number = count + 1;
            begin = last;
            end = plans[line.plan][count].end;
        }
        last = plans[line.plan][count].end;
    }
    if (number > 0)
        fprintf(stderr, ", step %u of %u, %3.0f %%", number, count,
                begin + part * (double)(end - begin));
    else if (total > 0)
        fprintf(stderr, " %3.0f %%", 100 * part);
}

/* Shows a step and how much of it is done, at most ten times a second unless the step is new. done
 * and total are bytes when reading or copying a dump. */
static void show(const char *phase, uint64_t done, uint64_t total, uint64_t objects)
{
    double time = clock_seconds();
    const bool is_new = !line.phase || strcmp(line.phase, phase) != 0;
    line.phase = phase;
    if (!is_new && time - line.last_shown < 0.1)
        return;
    line.last_shown = time;
    line.visible = true;
    fprintf(stderr, "\r\033[K%s", phase);
    show_share(phase, done, total);
    if (strcmp(phase, "reading") == 0 || strcmp(phase, "spooling") == 0)
        fprintf(stderr, ", %.0f MB", in_millions(done));
    if (objects > 0)
        fprintf(stderr, ", %.1f M objects", in_millions(objects));
}

/* Shows how far a phase is; several threads may report it. */
static void update(void *context, const char *phase, uint64_t done, uint64_t total,
                   uint64_t objects)
{
    (void)context;
    pthread_mutex_lock(&lock);
    show(phase, done, total, objects);
    pthread_mutex_unlock(&lock);
}

/* Returns the progress to pass to the library, or NULL if stderr is not a terminal. */
const struct g2h_progress *progress_start(void)
{
    static const struct g2h_progress progress = {update, NULL};
    return isatty(STDERR_FILENO) ? &progress : NULL;
}

void progress_set_plan(enum progress_plan plan)
{
    line.plan = plan;
}

/* Shows a phase whose progress is unknown. progress may be NULL. */
void progress_begin(const struct g2h_progress *progress, const char *phase)
{
    if (progress)
        progress->update(progress->context, phase, 0, 0, 0);
}

/* Removes the line, before anything else is printed. */
void progress_clear(void)
{
    pthread_mutex_lock(&lock);
    if (line.visible)
        fprintf(stderr, "\r\033[K");
    line.visible = false;
    pthread_mutex_unlock(&lock);
}

/* ==== properties of the terminal for text output ==== */

/* Returns whether the output goes to a terminal. */
bool terminal_is_output(const struct options *options)
{
    return !options->output && isatty(STDOUT_FILENO);
}

/* Returns whether standard output is a pipe or a socket. */
bool terminal_output_is_pipe(void)
{
    struct stat status;
    return fstat(STDOUT_FILENO, &status) == 0 &&
           (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

/* Returns the width of a report in characters: COLUMNS, else what the terminal says; 0: no
 * terminal, so no limit. */
unsigned terminal_columns(const struct options *options)
{
    const char *columns = getenv("COLUMNS");
    const unsigned long number = columns ? strtoul(columns, NULL, 10) : 0;
    struct winsize size = {.ws_col = 0};
    if (number > 0)
        return number < UINT_MAX ? (unsigned)number : UINT_MAX;
    return terminal_is_output(options) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col
                                                                                       : 0;
}

/* Returns whether the output may have colour. Not if NO_COLOR is set, the output is compressed, or
 * the terminal is dumb. */
bool terminal_has_color(const struct options *options)
{
    const char *never = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    return terminal_is_output(options) && !options->gzip && (!never || *never == '\0') &&
           terminal && *terminal != '\0' && strcmp(terminal, "dumb") != 0;
}

/* ==== shows output on a terminal, by a pager if it is longer than the screen ==== */

extern char **environ;

/* Returns a file without a name for output that a pager will show; -1 if there is none. Prefers a
 * file in memory (memfd_create), else takes a temporary file that has no name any more. */
int pager_collect(void)
{
#ifdef MFD_CLOEXEC
    const int memory = memfd_create("report", MFD_CLOEXEC);
    if (memory >= 0)
        return memory;
#endif
    FILE *file = tmpfile(); /* only this user may read it */
    const int fd = file ? fcntl(fileno(file), F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;
    if (file)
        fclose(file);
    return fd;
}

/* Returns the command of the pager: that of PAGER, or less; NULL: none, if PAGER is empty or cat,
 * or the terminal cannot page. */
static const char *find_pager(void)
{
    const char *pager = getenv("PAGER");
    const char *terminal = getenv("TERM");
    if (!terminal || *terminal == '\0' || strcmp(terminal, "dumb") == 0)
        return NULL;
    if (!pager)
        return "less";
    return *pager == '\0' || strcmp(pager, "cat") == 0 ? NULL : pager;
}

/* Starts a pager, by the shell, whose standard input is the file, and which can be interrupted
 * though this program ignores that. Returns false if it cannot be started. */
static bool pager_start(const char *pager, int fd, pid_t *ret)
{
    char *const words[] = {"sh", "-c", (char *)(uintptr_t)pager, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t usual;
    if (posix_spawn_file_actions_init(&files) != 0)
        return false;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return false;
    }
    sigemptyset(&usual);
    sigaddset(&usual, SIGINT);
    sigaddset(&usual, SIGQUIT);
    const bool is_started = posix_spawn_file_actions_adddup2(&files, fd, STDIN_FILENO) == 0 &&
                            posix_spawnattr_setsigdefault(&attributes, &usual) == 0 &&
                            posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF) == 0 &&
                            posix_spawnp(ret, words[0], &files, &attributes, words, environ) == 0;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return is_started;
}

/* Runs a pager on a file, and waits until it ends. Returns false if the pager does not exist. */
static bool page(const char *pager, int fd)
{
    enum { NOT_FOUND = 127, NOT_EXECUTABLE = 126 }; /* exit statuses of a shell */
    struct sigaction interrupt, quit;
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    pid_t child;
    int status = 0;
    setenv("LESS", "FRX", 0); /* as git does: quit if it fits, colours, no other screen */
    sigaction(SIGINT, &ignore, &interrupt); /* as the pager does, which is ended by q */
    sigaction(SIGQUIT, &ignore, &quit);
    const bool is_started = pager_start(pager, fd, &child);
    while (is_started && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    return is_started && !(WIFEXITED(status) && (WEXITSTATUS(status) == NOT_FOUND ||
                                                 WEXITSTATUS(status) == NOT_EXECUTABLE));
}

/* Writes all bytes to standard output; a write that a signal interrupts is repeated. */
static struct g2h_error *put(const char *data, size_t size)
{
    for (ssize_t count; size > 0; data += count, size -= as_size(count)) {
        count = write(STDOUT_FILENO, data, size);
        if (count < 0 && errno != EINTR)
            return error_system(errno, "standard output: cannot write");
        if (count < 0)
            count = 0;
    }
    return NULL;
}

/* Copies a file, from its position on, to standard output. */
static struct g2h_error *copy(int fd)
{
    char block[1 << 14];
    for (;;) {
        const ssize_t count = read(fd, block, sizeof(block));
        if (count == 0)
            return NULL;
        if (count < 0 && errno != EINTR)
            return error_system(errno, "standard output: cannot read what it gets");
        if (count > 0)
            TRY(put(block, as_size(count)));
    }
}

/* Shows the file of pager_collect() on standard output, and closes it: by $PAGER, else by less;
 * directly if there is no pager, or the terminal is dumb. */
struct g2h_error *pager_show(int fd)
{
    const char *pager = find_pager();
    struct g2h_error *error = NULL;
    if (lseek(fd, 0, SEEK_SET) != 0)
        error = error_system(errno, "standard output");
    else if (!pager || !page(pager, fd))
        error = copy(fd);
    close(fd);
    return error;
}
