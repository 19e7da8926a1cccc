/*
 * processes; see processes.h.
 *
 * A process is a Go program if its executable is one. Executables are many times the same, so each
 * file is looked at once. Those of other users cannot be looked at: they are counted.
 */
#include "cli/processes.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/scope.h"
#include "base/text.h"
#include "cli/messages.h"
#include "cli/usage.h"
#include "exe/exe.h"
#include "findings/variable_part.h"
#include "process/attach/procfs.h"

struct go_process {
    uint64_t pid, rss;
    time_t started; /* 0: not known */
    struct text name, version;
};

/* An executable that has been looked at. */
struct looked_at {
    dev_t device;
    ino_t file;
    bool is_go;
    char version[24];
};

struct processes {
    VECTOR(struct go_process) list; /* ascending */
    VECTOR(struct looked_at) files;
    uint64_t boot;   /* machine_start() */
    uint64_t hidden; /* processes whose executables may not be read */
    bool failed;     /* memory has run out */
};

static void processes_deinit(struct processes *processes)
{
    for (size_t i = 0; i < processes->list.count; i++) {
        text_deinit(&processes->list.data[i].name);
        text_deinit(&processes->list.data[i].version);
    }
    free(processes->list.data);
    free(processes->files.data);
}

/* ---- one process ---- */

/* Returns what is known of the executable at a path; NULL: it cannot be read. */
static const struct looked_at *look_at(struct processes *processes, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return NULL;
    for (size_t i = 0; i < processes->files.count; i++)
        if (processes->files.data[i].device == status.st_dev &&
            processes->files.data[i].file == status.st_ino)
            return &processes->files.data[i];
    struct looked_at file = {.device = status.st_dev, .file = status.st_ino};
    _cleanup_(text_deinit) struct text version = {0};
    file.is_go = exe_go_version(path, &version);
    if (version.size > 0)
        snprintf(file.version, sizeof(file.version), "%.*s", (int)version.size, version.data);
    if (version.failed || !vector_push(&processes->files, file)) {
        processes->failed = true;
        return NULL;
    }
    return &processes->files.data[processes->files.count - 1];
}

/* Returns when the machine has started, in seconds since 1970; UINT64_MAX: not known. */
static uint64_t machine_start(void)
{
    _cleanup_(text_deinit) struct text machine = {0};
    return procfs_read("/proc/stat", &machine) == 0 ? procfs_number(&machine, "btime") : UINT64_MAX;
}

/* Returns when a process has started; 0: not known. */
static time_t start_of(const struct processes *processes, uint64_t pid)
{
    const uint64_t since = procfs_stat_number(pid, PROCFS_START);
    const long ticks = sysconf(_SC_CLK_TCK);
    if (since == UINT64_MAX || processes->boot == UINT64_MAX || ticks <= 0)
        return 0;
    return (time_t)(processes->boot + since / (uint64_t)ticks);
}

/* Appends the base name of a process's executable; nothing if it may not be known. Returns 0 or an
 * errno value. */
static int append_executable(uint64_t pid, struct text *text)
{
    static const char deleted[] = " (deleted)";
    char path[PATH_MAX + 1];
    const ssize_t size = readlink(procfs_path(pid, "exe").text, path, sizeof(path) - 1);
    if (size < 0)
        return errno;
    path[size] = '\0';
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t length = strlen(base);
    const size_t end = strlen(deleted);
    if (length > end && strcmp(base + length - end, deleted) == 0)
        length -= end;
    text_append(text, base, length);
    text_append(text, "", 1);
    return text->failed ? ENOMEM : 0;
}

/* Adds a process if it is a Go program, and has the name unless that is NULL. */
static void processes_add(struct processes *processes, uint64_t pid, const char *name)
{
    _cleanup_(text_deinit) struct text executable = {0}, own = {0}, status = {0};
    const int error = append_executable(pid, &executable);
    const bool has_own = procfs_read_whole_name(pid, &own) == 0;
    const bool is_named = !name || (error == 0 && strcmp(executable.data, name) == 0) ||
                          (has_own && strcmp(own.data, name) == 0);
    if (pid == (uint64_t)getpid() || !is_named)
        return;
    processes->hidden += error == EACCES || error == EPERM;
    const struct looked_at *file =
        error == 0 ? look_at(processes, procfs_path(pid, "exe").text) : NULL;
    if (!file || !file->is_go)
        return;
    struct go_process process = {.pid = pid, .started = start_of(processes, pid)};
    if (procfs_read_of(pid, "status", &status) == 0) {
        const uint64_t kilobytes = procfs_number(&status, "VmRSS:");
        process.rss = kilobytes != UINT64_MAX ? kilobytes * 1024 : 0;
    }
    text_append(&process.name, executable.data, executable.size);
    text_append(&process.version, file->version, strlen(file->version) + 1);
    processes->failed |=
        process.name.failed || process.version.failed || !vector_push(&processes->list, process);
}

/* Finds the processes with a name, or all if it is NULL. Returns false after printing that memory
 * has run out. */
static bool processes_read(struct processes *ret, const char *name)
{
    _cleanup_(procfs_close) DIR *directory = opendir("/proc");
    ret->boot = machine_start();
    for (uint64_t pid; (pid = procfs_next_number(directory)) != 0;)
        processes_add(ret, pid, name);
    if (ret->failed)
        message_error(&error_no_memory);
    return !ret->failed;
}

/* ---- the list ---- */

/* Appends the line of a process: "1234  2026-11-28 23:10  10.0 MB  go1.27.4  shop". */
static void append_process(const struct go_process *process, struct text *text)
{
    _cleanup_(text_deinit) struct text rss = {0};
    char started[24] = "";
    struct tm local;
    if (process->started > 0 && localtime_r(&process->started, &local))
        strftime(started, sizeof(started), "%Y-%m-%d %H:%M", &local);
    text_append_bytes(&rss, process->rss);
    text_append(&rss, "", 1);
    if (!rss.failed)
        text_printf(text, "%8" PRIu64 "  %-16s  %7s  %-9s  %s", process->pid, started, rss.data,
                    process->version.data, process->name.data);
    text->failed |= rss.failed;
}

static const char heading[] = "     PID  started               RSS  Go         name";

/* Says how many processes could not be looked at. */
static void say_hidden(const struct processes *processes)
{
    if (processes->hidden > 0)
        say("go2heapsnapshot: note: %llu process%s of other users may not be looked at: sudo "
            "go2heapsnapshot --pid",
            (unsigned long long)processes->hidden, processes->hidden == 1 ? "" : "es");
}

int processes_print(void)
{
    _cleanup_(processes_deinit) struct processes processes = {.failed = false};
    if (!processes_read(&processes, NULL))
        return EXIT_FAILED;
    if (processes.list.count == 0)
        say("go2heapsnapshot: no Go process may be read");
    for (size_t i = 0; i < processes.list.count; i++) {
        _cleanup_(text_deinit) struct text line = {0};
        append_process(&processes.list.data[i], &line);
        if (line.failed) {
            message_error(&error_no_memory);
            return EXIT_FAILED;
        }
        line.size = g2h_printable(line.data, line.size);
        if (i == 0)
            puts(heading);
        printf("%.*s\n", (int)line.size, line.data);
    }
    say_hidden(&processes);
    if (fflush(stdout) == 0)
        return processes.list.count > 0 ? EXIT_FINE : EXIT_FAILED;
    say("go2heapsnapshot: standard output: cannot write: %s", strerror(errno));
    return EXIT_FAILED;
}

/* ---- a name ---- */

/* Prints that no process has a name, with names of those that there are. */
static void refuse_name(const char *name)
{
    _cleanup_(processes_deinit) struct processes all = {.failed = false};
    _cleanup_(similar_deinit) struct similar similar = {.asked = name, .asked_size = strlen(name)};
    _cleanup_(text_deinit) struct text near = {0};
    if (!processes_read(&all, NULL))
        return;
    for (size_t i = 0; i < all.list.count; i++)
        similar_add(&similar, all.list.data[i].name.data, all.list.data[i].name.size - 1);
    text_append_string(&near, similar.count > 0
                                  ? "did you mean "
                                  : "go2heapsnapshot --pid lists those that there are");
    similar_append(&similar, &near);
    text_append(&near, "", 1);
    if (near.failed)
        message_error(&error_no_memory);
    else
        say("go2heapsnapshot: no Go process is called '%s'; %s", name, near.data);
    say_hidden(&all);
}

bool processes_find(const char *name, uint64_t *ret)
{
    _cleanup_(processes_deinit) struct processes found = {.failed = false};
    if (!processes_read(&found, name))
        return false;
    if (found.list.count == 0) {
        refuse_name(name);
        return false;
    }
    *ret = found.list.data[0].pid;
    if (found.list.count == 1)
        return true;
    say("go2heapsnapshot: %zu Go processes are called '%s': choose one by its number",
        found.list.count, name);
    say("%s", heading);
    for (size_t i = 0; i < found.list.count; i++) {
        _cleanup_(text_deinit) struct text line = {0};
        append_process(&found.list.data[i], &line);
        say("%.*s", (int)line.size, line.size > 0 ? line.data : "");
    }
    return false;
}
