/*
 * drive: runs a conversion again and again; in each run another call fails.
 *
 *   drive SHIM DIRECTORY KIND[+] STEP COMMAND...
 *
 * There is a run for every STEPth call of the kind, in which that call fails; with +, all calls of
 * the kind after it fail, too. If STEP is 0, there are runs for the calls for memory: of those that
 * come from one place through the same functions, for the first and the last. COMMAND writes
 * DIRECTORY/out/file, and has DIRECTORY/tmp as $TMPDIR. Each run must end with status 1 and one
 * line that says why, and leave nothing: no file, no memory, no descriptor. If the conversion can
 * do without the call, it may also end well: then the file must be that of a run in which nothing
 * fails. The result is a line of TAP on standard output; the runs that went wrong are listed on
 * standard error.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../hang.h"
#include "shim.h"

struct run {
    char *directory;
    char **command;
    const char *shim;
    int status; /* of waitpid() */
    char said[4096];
    struct failure_report report;
};

static void die(const char *what)
{
    perror(what);
    exit(2);
}

static char *path_of(const struct run *run, const char *name)
{
    char *path;
    if (asprintf(&path, "%s/%s", run->directory, name) < 0)
        die("asprintf");
    return path;
}

/* Removes the files in a folder of the directory, and returns how many there were. */
static int empty(const struct run *run, const char *name)
{
    char *path = path_of(run, name);
    DIR *folder = opendir(path);
    int count = 0;
    if (!folder)
        die(path);
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        count++;
        unlinkat(dirfd(folder), entry->d_name, 0);
    }
    closedir(folder);
    free(path);
    return count;
}

/* Reads up to size bytes of a file of the directory. Returns how many it read, or -1 if the file
 * cannot be opened. */
static ssize_t read_file(const struct run *run, const char *name, void *data, size_t size)
{
    char *path = path_of(run, name);
    const int fd = open(path, O_RDONLY);
    const ssize_t count = fd < 0 ? -1 : read(fd, data, size);
    if (fd >= 0)
        close(fd);
    free(path);
    return count;
}

/* Runs the command with failure as $FAILURE; NULL: no call fails. */
static void run_command(struct run *run, const char *failure)
{
    char *said = path_of(run, "said"), *report = path_of(run, "report"), *tmp = path_of(run, "tmp");
    unlink(report);
    const pid_t child = fork();
    if (child < 0)
        die("fork");
    if (child == 0) {
        const int fd = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        setenv("LD_PRELOAD", run->shim, 1);
        setenv("TMPDIR", tmp, 1);
        setenv("FAILURE_REPORT", report, 1);
        if (failure)
            setenv("FAILURE", failure, 1);
        if (fd < 0 || dup2(fd, STDERR_FILENO) < 0 || close(fd) < 0)
            _exit(126);
        hang_limit(60);
        execv(run->command[0], run->command);
        _exit(127);
    }
    if (waitpid(child, &run->status, 0) < 0)
        die("waitpid");
    const ssize_t size = read_file(run, "said", run->said, sizeof(run->said) - 1);
    run->said[size > 0 ? size : 0] = '\0';
    memset(&run->report, 0, sizeof(run->report));
    read_file(run, "report", &run->report, sizeof(run->report));
    free(said);
    free(report);
    free(tmp);
}

/* Returns whether the run wrote the same file as the run in which nothing failed. */
static bool is_as_expected(const struct run *run)
{
    char *command;
    if (asprintf(&command, "cmp -s '%s/out/file' '%s/expected'", run->directory, run->directory) <
        0)
        die("asprintf");
    const bool is = system(command) == 0;
    free(command);
    return is;
}

/* Returns whether an error is one line, which notes may follow, each with the figures it is for. */
static bool is_one_error(const char *said)
{
    static const char note[] = "go2heapsnapshot: note: ";
    const char *line = strchr(said, '\n');
    while (line && line[1] != '\0' && strncmp(line + 1, note, strlen(note)) == 0)
        line = strchr(line + 1, '\n');
    return line && line[1] == '\0' && !strstr(said, "up to  of");
}

/* Returns what is wrong with a run; NULL: nothing. Sets *ret_went_on to whether the run ended well
 * and wrote the expected file although a call failed. */
static const char *judge(struct run *run, const struct failure_report *good, bool *ret_went_on)
{
    *ret_went_on = false;
    if (WIFSIGNALED(run->status))
        return is_hang(WTERMSIG(run->status)) ? "it did not end" : "it crashed";
    if (run->report.blocks > good->blocks) /* some blocks of threads stay */
        return "memory was not freed";
    if (run->report.mapped > good->mapped)
        return "memory was not unmapped";
    if (run->report.files > good->files)
        return "descriptors were not closed";
    if (WEXITSTATUS(run->status) == 0) {
        *ret_went_on = is_as_expected(run);
        empty(run, "out");
        if (empty(run, "tmp") > 0)
            return "a temporary file is left";
        return *ret_went_on ? NULL : "it ended well, with another file";
    }
    if (WEXITSTATUS(run->status) != 1)
        return "its status is not 1";
    if (empty(run, "out") > 0)
        return "a file is left";
    if (empty(run, "tmp") > 0)
        return "a temporary file is left";
    if (strncmp(run->said, "go2heapsnapshot: ", strlen("go2heapsnapshot: ")) != 0)
        return "it did not say why";
    return is_one_error(run->said) ? NULL : "it said more than one line besides notes";
}

/* ---- which calls fail ---- */

/* A number for the place that each call for memory comes from. The program has one thread. */
struct places {
    uint64_t *hashes;
    uint64_t count;
};

static void find_places(struct run *run, struct places *ret)
{
    char *path = path_of(run, "places");
    setenv("FAILURE_PLACES", path, 1);
    run_command(run, NULL);
    unsetenv("FAILURE_PLACES");
    empty(run, "out");
    ret->count = run->report.calls[FAILURE_MEMORY];
    ret->hashes = calloc(ret->count + 1, sizeof(*ret->hashes));
    const size_t size = (size_t)ret->count * sizeof(*ret->hashes);
    if (!ret->hashes || read_file(run, "places", ret->hashes, size) != (ssize_t)size)
        die("places");
    free(path);
}

/* Returns whether a call, counted from 1, is the first from its place, or the last. */
static bool is_chosen(const struct places *places, uint64_t number)
{
    const uint64_t place = places->hashes[number - 1];
    bool is_first = true, is_last = true;
    for (uint64_t i = 1; i <= places->count; i++)
        if (i != number && places->hashes[i - 1] == place)
            *(i < number ? &is_first : &is_last) = false;
    return is_first || is_last;
}

int main(int argc, char **argv)
{
    static const char *const names[FAILURE_KINDS] = FAILURE_NAMES;
    if (argc < 6)
        return 2;
    struct run run = {.shim = argv[1], .directory = argv[2], .command = argv + 5};
    const char *kind_name = argv[3], *plus = strchr(kind_name, '+') ? "+" : "";
    const uint64_t step = strtoull(argv[4], NULL, 10);
    int kind = 0;
    while (kind < FAILURE_KINDS &&
           strncmp(kind_name, names[kind], strlen(kind_name) - strlen(plus)) != 0)
        kind++;
    if (kind == FAILURE_KINDS || (step == 0 && kind != FAILURE_MEMORY))
        return 2;
    empty(&run, "out");
    empty(&run, "tmp");
    run_command(&run, NULL);
    char *command;
    if (run.status != 0 ||
        asprintf(&command, "mv '%s/out/file' '%s/expected'", run.directory, run.directory) < 0 ||
        system(command) != 0) {
        fprintf(stderr, "without failures: status %d: %s\n", run.status, run.said);
        return 2;
    }
    free(command);
    const struct failure_report good = run.report;
    uint64_t runs = 0, wrong = 0, went_on = 0;
    struct places places = {0};
    if (step == 0)
        find_places(&run, &places);
    for (uint64_t number = 1; number <= good.calls[kind]; number += step ? step : 1) {
        char failure[64];
        bool on;
        if (step == 0 && (number > places.count || !is_chosen(&places, number)))
            continue;
        snprintf(failure, sizeof(failure), "%s:%llu%s", names[kind], (unsigned long long)number,
                 plus);
        run_command(&run, failure);
        const char *what = judge(&run, &good, &on);
        runs++;
        went_on += on;
        wrong += what != NULL;
        if (what && wrong <= 20)
            fprintf(stderr, "FAILURE=%s: %s: status %d, %lld blocks, %lld pages, %lld files: %s\n",
                    failure, what, run.status, (long long)(run.report.blocks - good.blocks),
                    (long long)(run.report.mapped - good.mapped),
                    (long long)(run.report.files - good.files), run.said);
    }
    printf("%s - %llu of %llu calls fail: %llu wrong, %llu make no difference\n",
           wrong || runs == 0 ? "not ok" : "ok", (unsigned long long)runs,
           (unsigned long long)good.calls[kind], (unsigned long long)wrong,
           (unsigned long long)went_on);
    free(places.hashes);
    return 0;
}
