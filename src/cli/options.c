/*
 * options: reads the command line; see options.h. The parts: the Go processes of the machine, for
 * --pid NAME; the words of the command line once more, for commands that messages suggest; names
 * that are nearly what a user typed; a take_… function for each option whose value must be read;
 * the table of options; and the whole. A function that refuses something prints why and returns
 * false.
 */
#include "cli/options.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/memory.h"
#include "cli/check.h"
#include "cli/messages.h"
#include "cli/usage.h"
#include "cli/watch.h"
#include "exe/exe.h"
#include "findings/variable_part.h"
#include "inspect/server.h"
#include "process/attach/procfs.h"

/* ==== the Go processes of this machine, for --pid NAME and --pid alone ====
 *
 * A process is a Go program if its executable is one. Executables are many times the same, so each
 * file is looked at once. Those of other users cannot be looked at: they are counted.
 */

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
    VECTOR_EACH(struct go_process, process, processes->list) {
        text_deinit(&process->name);
        text_deinit(&process->version);
    }
    free(processes->list.data);
    free(processes->files.data);
}

/* ---- one process ---- */

/* Returns what is known of the executable at a path; NULL: it cannot be read, or memory has run out
 * (processes->failed). Valid until the next call. Each file is looked at once, as many processes
 * may run it. */
static const struct looked_at *look_at(struct processes *processes, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return NULL;
    VECTOR_EACH(const struct looked_at, known, processes->files)
        if (known->device == status.st_dev && known->file == status.st_ino)
            return known;
    struct looked_at file = {.device = status.st_dev, .file = status.st_ino};
    _cleanup_(text_deinit) struct text version = {0};
    file.is_go = exe_go_version(path, &version);
    if (version.size > 0)
        snprintf(file.version, sizeof(file.version), "%.*s", as_width(version.size), version.data);
    if (version.failed || !vector_push(&processes->files, file)) {
        processes->failed = true;
        return NULL;
    }
    return &processes->files.data[processes->files.count - 1];
}

/* Returns when the machine has started, in seconds since 1970, by btime of proc(5); UINT64_MAX: not
 * known. */
static uint64_t machine_start(void)
{
    _cleanup_(text_deinit) struct text machine = {0};
    return procfs_read("/proc/stat", &machine) == 0 ? procfs_number(&machine, "btime") : UINT64_MAX;
}

/* Returns when a process has started, in seconds since 1970; 0: not known. The kernel has it as
 * ticks since the machine's start. */
static time_t start_of(const struct processes *processes, uint64_t pid)
{
    const uint64_t since = procfs_stat_number(pid, PROCFS_START);
    const long ticks = sysconf(_SC_CLK_TCK);
    if (since == UINT64_MAX || processes->boot == UINT64_MAX || ticks <= 0)
        return 0;
    return (time_t)(processes->boot + since / (uint64_t)ticks);
}

/* Appends the base name of a process's executable, also of one that has been removed, and a NUL.
 * Returns 0 or an errno value: then nothing is appended, as for a process of another user. */
static int append_executable(uint64_t pid, struct text *text)
{
    static const char deleted[] = " (deleted)";
    char path[PATH_MAX + 1];
    const ssize_t size = readlink(procfs_path(pid, "exe").text, path, sizeof(path) - 1);
    if (size < 0)
        return errno;
    path[size] = '\0';
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    size_t length = strlen(base);
    const size_t end = strlen(deleted);
    if (length > end && strcmp(base + length - end, deleted) == 0)
        length -= end;
    text_append(text, base, length);
    text_append(text, "", 1);
    return text->failed ? ENOMEM : 0;
}

/* Adds a process to the list if it is a Go program, another than this one, and has the name, unless
 * that is NULL: that of its executable, or its own (comm). One whose executable may not be looked
 * at is counted as hidden. */
static void processes_add(struct processes *processes, uint64_t pid, const char *name)
{
    _cleanup_(text_deinit) struct text executable = {0}, comm = {0}, status = {0};
    const int error = append_executable(pid, &executable);
    const bool has_comm = procfs_read_whole_name(pid, &comm) == 0;
    const bool is_named = !name || (error == 0 && strcmp(executable.data, name) == 0) ||
                          (has_comm && strcmp(comm.data, name) == 0);
    if (pid == pid_number(getpid()) || !is_named)
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

/* Finds the Go processes with a name, or all if it is NULL. Returns false after printing that
 * memory has run out. */
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
    const char *plural = processes->hidden == 1 ? "" : "es";
    const unsigned long long count = processes->hidden;
    if (count > 0 && geteuid() == 0)
        say("go2heapsnapshot: note: %llu process%s may not be looked at, not even by root", count,
            plural);
    else if (count > 0)
        say("go2heapsnapshot: note: %llu process%s of other users may not be looked at: sudo "
            "go2heapsnapshot --pid",
            count, plural);
}

/* Prints the Go processes that may be read: their numbers, when they started, RSS, release of Go
 * and names. Returns the exit status. */
static int processes_print(void)
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
        printf("%.*s\n", as_width(line.size), line.data);
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
    VECTOR_EACH(const struct go_process, process, all.list)
        similar_add(&similar, process->name.data, process->name.size - 1);
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

/* Finds the only Go process with a name: that of its executable, or the one that its program has
 * set. Returns false after printing that there is none, or which ones there are. */
static bool processes_find(const char *name, uint64_t *ret)
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
    VECTOR_EACH(const struct go_process, process, found.list) {
        _cleanup_(text_deinit) struct text line = {0};
        append_process(process, &line);
        say("%.*s", as_width(line.size), line.size > 0 ? line.data : "");
    }
    return false;
}

/* ==== the command line ==== */

/* ---- the user's command line, for messages and reports that suggest the next command ---- */

/* Appends a blank and the path of a dump, quoted for a shell if it has to be; one that begins with
 * '-' as an option does is given as a path in this directory. */
static void repeat_input(struct text *command, const char *path)
{
    text_append(command, " ", 1);
    if (path[0] == '-' && path[1] != '\0')
        text_append(command, "./", 2);
    shell_append(command, path);
}

/* Appends a long option as a shell would need it; argument may be NULL. is_attached: it needs the
 * form --NAME=ARGUMENT, as arguments that begin with a dash do. */
static void repeat_option(struct text *command, const char *name, const char *argument,
                          bool is_attached)
{
    text_printf(command, " --%s", name);
    if (argument && !is_attached && *argument != '-')
        text_append(command, " ", 1);
    else if (argument)
        text_append(command, "=", 1);
    if (argument)
        shell_append(command, argument);
}

/* Returns whether a command can be shown and typed: it has no control characters, and memory has
 * not run out. Ends it with a NUL. */
static bool repeat_end(struct text *command)
{
    text_append(command, "", 1);
    return !command->failed && printable_is(command->data, command->size - 1);
}

/* ---- the name that was probably meant by a misspelled one ---- */

enum { LONGEST = 32 /* bytes of a name that is compared */ };

static size_t least(size_t a, size_t b)
{
    return MIN(a, b);
}

/* Returns how many edits turn one string into the other: bytes that are added, left out, replaced,
 * or swapped with the next one (optimal string alignment distance). rows[i][j] is that of the first
 * i and j bytes. Both strings have at most LONGEST bytes. */
static size_t distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
    size_t rows[LONGEST + 1][LONGEST + 1];
    for (size_t i = 0; i <= a_size; i++)
        for (size_t j = 0; j <= b_size; j++) {
            if (i == 0 || j == 0) {
                rows[i][j] = i + j;
                continue;
            }
            rows[i][j] = least(rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]),
                               least(rows[i - 1][j], rows[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                rows[i][j] = least(rows[i][j], rows[i - 2][j - 2] + 1);
        }
    return rows[a_size][b_size];
}

/*
 * Returns the one of count names that is nearest to the first size bytes of wrong by characters
 * that were left out, added, replaced, or swapped with the next one: at most one in three. Returns
 * NULL if none is that near, or if one begins like wrong, which is an abbreviation then.
 */
static const char *nearest_name(const char *wrong, size_t size, const char *const *names,
                                size_t count)
{
    const char *nearest = NULL;
    size_t most = size / 3;
    if (size > LONGEST)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(names[i]);
        if (length >= size && memcmp(names[i], wrong, size) == 0)
            return NULL;
        const size_t edits = length > LONGEST ? SIZE_MAX : distance(wrong, size, names[i], length);
        if (edits <= most) {
            nearest = names[i];
            most = edits > 0 ? edits - 1 : 0;
        }
    }
    return nearest;
}

/* ---- values ---- */

/* Reads a whole number from low to high. Returns false after printing that the argument is not
 * one. */
static bool parse_number(const char *option, const char *text, uint64_t low, uint64_t high,
                         uint64_t *ret)
{
    char *end;
    *ret = strtoull(text, &end, 10);
    return (text[0] >= '0' && text[0] <= '9' && *end == '\0' && *ret >= low && *ret <= high) ||
           USAGE_REFUSE("%s takes a number from %llu to %llu, not '%s'", option,
                        (unsigned long long)low, (unsigned long long)high, text);
}

/* The functions take_…() take the argument of an option, text; NULL: it has none. They return false
 * after printing what is wrong. */

/* Takes the number or the name of a process. */
static bool take_pid(struct options *options, const char *text)
{
    return text[0] != '\0' && strspn(text, "0123456789") < strlen(text)
               ? processes_find(text, &options->pid)
               : parse_number("--pid", text, 1, INT32_MAX, &options->pid);
}

static bool take_fork(struct options *options, const char *text)
{
    options->fork = true;
    options->fork_huge = text != NULL;
    return !text || strcmp(text, "huge") == 0 || USAGE_REFUSE("--fork= takes huge, not '%s'", text);
}

static bool take_threads(struct options *options, const char *text)
{
    uint64_t number;
    if (!parse_number("-j", text, 1, 1024, &number))
        return false;
    options->threads = (unsigned)number;
    return true;
}

/* Takes the value of --max-nodes: a number from 1 to UINT32_MAX, such as 500000, or with a factor
 * of a thousand or a million, 500K or 2M. Returns false after printing what is wrong. */
static bool take_max_nodes(struct options *options, const char *text)
{
    char *end;
    const unsigned long long value = strtoull(text, &end, 10);
    uint64_t factor = 1;
    if (*end == 'K' || *end == 'k')
        factor = 1000;
    else if (*end == 'M' || *end == 'm')
        factor = 1000000;
    const char *const rest = factor > 1 ? end + 1 : end;
    if (text[0] < '0' || text[0] > '9' || value == 0 || value > UINT32_MAX || *rest != '\0')
        return USAGE_REFUSE("--max-nodes takes a number such as 500K or 2M, not '%s'", text);
    options->max_nodes = value * factor; /* less than 2^52 */
    return true;
}

static bool take_largest_array(struct options *options, const char *text)
{
    return (watch_parse_size(text, &options->largest_array) && options->largest_array >= 1024) ||
           USAGE_REFUSE("--largest-array takes a size of 1K or more, such as 64K or 1M, not '%s'",
                        text);
}

/* Takes the value of --sample: N or N,SEED, with N from 2 to 1000000. Returns false after printing
 * what is wrong. */
static bool take_sample(struct options *options, const char *text)
{
    const uint64_t most = 1000000;
    char *end;
    options->sample = isdigit((unsigned char)*text) ? strtoull(text, &end, 10) : 0;
    if (options->sample >= 2 && *end == ',' && isdigit((unsigned char)end[1]))
        options->sample_seed = strtoull(end + 1, &end, 10);
    return (options->sample >= 2 && options->sample <= most && *end == '\0') ||
           USAGE_REFUSE("--sample takes N or N,SEED, to read one span in N: 2 to 1000000, not '%s'",
                        text);
}

static bool take_names(struct options *options, const char *text)
{
    options->full_names = strcmp(text, "full") == 0;
    return options->full_names || strcmp(text, "short") == 0 ||
           USAGE_REFUSE("--names takes short or full, not '%s'", text);
}

static bool take_output(struct options *options, const char *text)
{
    if (*text == '\0')
        return USAGE_REFUSE("-o takes a file's name, not ''");
    options->output = strcmp(text, "-") == 0 ? NULL : text; /* standard output */
    return true;
}

/* Takes KEY=VALUE of --label, UTF-8 whose key is not empty. */
static bool take_label(struct options *options, const char *text)
{
    const char *value = strchr(text, '=');
    if (!value || value == text)
        return USAGE_REFUSE("--label takes KEY=VALUE, not '%s'", text);
    if (!printable_is(text, strlen(text)))
        return USAGE_REFUSE("--label takes UTF-8 without control characters, not '%s'", text);
    options->labels[options->label_count++] = text;
    return true;
}

static bool take_numbers(struct options *options, const char *text)
{
    options->numbers = true;
    options->numbers_of = text;
    return !text || *text != '\0' || USAGE_REFUSE("--numbers= takes names of classes, not ''");
}

/* Takes the address of --inspect; NULL: the usual one. */
static bool take_inspect(struct options *options, const char *text)
{
    struct server_address address;
    options->inspect = true;
    options->inspect_at = text;
    return server_parse(text, &address) ||
           USAGE_REFUSE("--inspect takes a port or an address and a port, 9230 or 127.0.0.1:9230, "
                        "not '%s'",
                        text);
}

/* Takes one name of --json=. They are in the order of enum g2h_report_section. */
static bool take_section(struct options *options, const char *name)
{
    static const char *const names[] = {"heap",    "suspects", "goroutines",
                                        "classes", "tree",     "waste"};
    for (unsigned i = 0; i < COUNT_OF(names); i++)
        if (strcmp(name, names[i]) == 0) {
            options->sections |= 1u << i;
            return true;
        }
    return USAGE_REFUSE(
        "--json= takes heap, suspects, goroutines, classes, tree, waste, or several "
        "of these with commas, not '%s'",
        name);
}

/* Calls take for each of the words that are separated by commas, until it returns false; text NULL:
 * no words. Returns false then, or if memory runs out. */
static bool take_words(struct options *options, const char *text,
                       bool (*take)(struct options *options, const char *word))
{
    _cleanup_free_ char *words = strdup(text ? text : "");
    char *rest = words;
    if (!words)
        message_error(&error_no_memory);
    for (const char *word; text && rest && (word = strsep(&rest, ",")) != NULL;)
        if (!take(options, word))
            return false;
    return words != NULL;
}

static bool take_json(struct options *options, const char *text)
{
    options->json = true;
    return take_words(options, text, take_section);
}

static bool take_ages(struct options *options, const char *text)
{
    return watch_parse_time(text, &options->ages) ||
           USAGE_REFUSE("--ages takes a time such as 30s or 5m, not '%s'", text);
}

static bool take_older(struct options *options, const char *text)
{
    return watch_parse_time(text, &options->older) ||
           USAGE_REFUSE("--older takes a time such as 30s or 5m, not '%s'", text);
}

static bool take_watch(struct options *options, const char *text)
{
    return watch_parse_time(text, &options->watch) ||
           USAGE_REFUSE("--watch takes a time from 1 s to 30 days such as 30s, 5m or 1h, not '%s'",
                        text);
}

static bool take_until_growth(struct options *options, const char *text)
{
    return watch_parse_size(text, &options->until_growth) ||
           USAGE_REFUSE("--until-growth takes a size such as 500K, 64M or 2G, not '%s'", text);
}

/* Applies one word of --at-death: "exit", "90%", "keep=5", or a size such as "2G". Returns false
 * after printing what is wrong. */
static bool take_at_death_word(struct options *options, const char *word)
{
    char *end;
    const uint64_t number = strtoull(word, &end, 10);
    if (strcmp(word, "exit") == 0)
        return options->at_death_exit = true;
    if (word[0] >= '0' && word[0] <= '9' && strcmp(end, "%") == 0 && number >= 1 && number <= 99) {
        const bool is_first = options->at_death_percent == 0;
        options->at_death_percent = number;
        return is_first || USAGE_REFUSE("--at-death= takes one part of the memory limit, and '%s' "
                                        "is a second one",
                                        word);
    }
    if (strncmp(word, "keep=", strlen("keep=")) == 0)
        return parse_number("--at-death=keep", word + strlen("keep="), 1, INT32_MAX,
                            &options->at_death_keep);
    return watch_parse_size(word, &options->at_death_most) ||
           USAGE_REFUSE(
               "--at-death= takes a part of the memory limit (90%%), a size (2G), exit, keep=5, "
               "or several of these with commas, not '%s'",
               word);
}

static bool take_at_death(struct options *options, const char *text)
{
    options->at_death = true;
    return take_words(options, text, take_at_death_word);
}

static bool take_format(struct options *options, const char *text)
{
    options->has_format = true;
    return format_choose(options, text);
}

/* ---- the known options ---- */

/* An option: it sets a flag, a string or a number, passes its argument to take(), or prints
 * something and ends the program. */
struct known {
    const char *name;
    char letter;               /* 0: none */
    size_t flag, text, number; /* offsets in struct options; 0, that of inputs, stands for none */
    uint64_t most;             /* of the number, which is 1 or more */
    bool (*take)(struct options *, const char *);
    int (*print)(void);
    bool is_optional; /* its argument is */
    bool is_other;    /* it determines what is written, not its source: hints replace it */
};

#define AT(member) offsetof(struct options, member)

static const struct known known[] = {
    {"pid", .take = take_pid},
    {"fork", .take = take_fork, .is_optional = true},
    {"ages", .take = take_ages},
    {"exe", 'e', .text = AT(exe)},
    {"untyped-ok", .flag = AT(untyped_ok)},
    {"base", .text = AT(base)},
    {"base-exe", .text = AT(base_exe)},
    {"watch", .take = take_watch},
    {"count", .number = AT(count), .most = INT32_MAX},
    {"until-growth", .take = take_until_growth},
    {"keep", .text = AT(keep)},
    {"at-death", .take = take_at_death, .is_optional = true},
    {"inspect", .take = take_inspect, .is_optional = true},
    {"mcp", .flag = AT(mcp), .is_other = true},
    {"values", .flag = AT(values), .is_other = true},
    {"command", .text = AT(command)},
    {"source", .text = AT(source)},
    {"format", .take = take_format, .is_other = true},
    {"by", .text = AT(by)},
    {"output", 'o', .take = take_output, .is_other = true},
    {"gzip", 'z', .flag = AT(gzip), .is_other = true},
    {"redact", 'r', .flag = AT(redact)},
    {"redact-key", .text = AT(redact_key)},
    {"reachable", .flag = AT(reachable)},
    {"garbage", .flag = AT(garbage)},
    {"no-stacks", .flag = AT(no_stacks)},
    {"no-contexts", .flag = AT(no_contexts)},
    {"names", .take = take_names},
    {"numbers", .take = take_numbers, .is_optional = true},
    {"max-nodes", .take = take_max_nodes},
    {"largest-array", .take = take_largest_array},
    {"sample", .take = take_sample},
    {"under", .text = AT(under)},
    {"path-to", .text = AT(path_to), .is_other = true},
    {"older", .take = take_older, .is_other = true},
    {"show", .text = AT(show), .is_other = true},
    {"json", .take = take_json, .is_optional = true, .is_other = true},
    {"top", .number = AT(top), .most = INT32_MAX, .is_other = true},
    {"full", .flag = AT(full), .is_other = true},
    {"memprofile-rate", .number = AT(memprofile_rate), .most = INT64_MAX},
    {"summary", .flag = AT(summary)},
    {"append", .flag = AT(append)},
    {"label", .take = take_label},
    {"threads", 'j', .take = take_threads},
    {"verbose", 'v', .flag = AT(verbose)},
    {"help", 'h', .print = usage_print_help},
    {"version", 'V', .print = usage_print_version},
};

enum {
    KNOWN = COUNT_OF(known),
    FIRST = 256 /* above all letters of short options */
};

static bool has_argument(const struct known *option)
{
    return option->text != 0 || option->number != 0 || option->take;
}

/* The options as getopt_long() takes them. For a long option it returns FIRST plus the option's
 * index in known. */
struct for_getopt {
    struct option options[KNOWN + 1];
    char letters[2 * KNOWN + 1];
};

/* Describes the known options to getopt_long(): FIRST and on are the values of long options, and
 * letters has each letter, with ":" after those that take an argument. */
static void describe(struct for_getopt *ret)
{
    size_t count = 0;
    *ret = (struct for_getopt){.letters = ""};
    for (int i = 0; i < KNOWN; i++) {
        const bool takes = has_argument(&known[i]);
        const int needs = takes ? required_argument : no_argument;
        ret->options[i] = (struct option){
            known[i].name, known[i].is_optional ? optional_argument : needs, NULL, FIRST + i};
        if (known[i].letter != 0)
            ret->letters[count++] = known[i].letter;
        if (known[i].letter != 0 && takes)
            ret->letters[count++] = ':';
    }
}

/* Returns the option that getopt_long() has found, or NULL if it is unknown. */
static const struct known *options_find(int given)
{
    for (int i = 0; i < KNOWN; i++)
        if (given == FIRST + i || given == known[i].letter)
            return &known[i];
    return NULL;
}

/* ---- the whole command line ---- */

/* Suggests an option that is spelled almost like the first unknown long one. */
static void say_nearest(int argc, char **argv)
{
    const char *names[KNOWN], *nearest = NULL;
    for (int i = 0; i < KNOWN; i++)
        names[i] = known[i].name;
    for (int i = 1; i < argc && !nearest && strcmp(argv[i], "--") != 0; i++)
        if (strncmp(argv[i], "--", 2) == 0)
            nearest = nearest_name(argv[i] + 2, strcspn(argv[i] + 2, "="), names, KNOWN);
    if (nearest)
        say("Did you mean '--%s'?", nearest);
}

/* Runs getopt over the command line once more, up to the option that it refuses, to have it print
 * its message; then suggests what may be meant. It prints arguments as they are, so characters that
 * a terminal would act upon are replaced first. */
static void refuse_option(int argc, char **argv, const struct for_getopt *described)
{
    for (int i = 1; i < argc; i++)
        argv[i][g2h_printable(argv[i], strlen(argv[i]))] = '\0';
    opterr = 1;
    optind = 0; /* from the start */
    for (int option = 0; option != '?' && option != -1;)
        option = getopt_long(argc, argv, described->letters, described->options, NULL);
    say_nearest(argc, argv);
    usage_say_hint();
}

/* Applies an option, as its row of known[] says. Returns false after printing what is wrong, or the
 * text of --help or --version, whose exit status is *ret_status. */
static bool take(struct options *options, const struct known *option, char *argument,
                 int *ret_status)
{
    char *const all = (char *)options;
    char name[32];
    snprintf(name, sizeof(name), "--%s", option->name);
    if (option->print)
        *ret_status = option->print();
    else if (option->take)
        return option->take(options, argument);
    else if (option->number != 0)
        return parse_number(name, argument, 1, option->most,
                            (uint64_t *)(void *)(all + option->number));
    else if (option->text != 0 && argument[0] == '\0')
        return USAGE_REFUSE("the argument of %s is empty", name);
    else if (option->text != 0)
        *(const char **)(void *)(all + option->text) = argument;
    else
        *(bool *)(all + option->flag) = true;
    return !option->print;
}

/* Allocates space for as many dumps and labels as there are words. Returns false if memory runs
 * out.
 */
static bool reserve(struct options *options, int words)
{
    options->inputs = malloc((as_size(words) + 1) * sizeof(*options->inputs));
    options->labels = malloc((as_size(words) + 1) * sizeof(*options->labels));
    if (!options->inputs || !options->labels)
        message_error(&error_no_memory);
    return options->inputs && options->labels;
}

/* Stores the dumps; that of --base comes first if the format does not take a base itself. */
static void take_inputs(struct options *options, char **files, int count)
{
    const bool is_first = options->base && (options->format->takes & G2H_TAKES_BASE) == 0;
    if (is_first)
        options->inputs[options->input_count++] = options->base;
    for (int i = 0; i < count; i++)
        options->inputs[options->input_count++] = files[i];
    if (is_first)
        options->base = NULL;
}

/* Completes the command of hints (options->again) with the inputs, or clears it if it cannot be
 * shown, or could not read the same input again, as from a pipe. */
static void repeat_inputs(struct options *options, char **files, int count)
{
    bool is_pipe = false;
    for (int i = 0; i < count; i++) {
        repeat_input(&options->again, files[i]);
        is_pipe |= strcmp(files[i], "-") == 0;
    }
    if (!repeat_end(&options->again) || is_pipe)
        options->again.size = 0;
}

/* Reads --by label and --by label:KEY, which choose a report and not a format. */
static void choose_label(struct options *options)
{
    static const char label[] = "label";
    const size_t size = sizeof(label) - 1;
    if (!options->by || strncmp(options->by, label, size) != 0 ||
        (options->by[size] != '\0' && options->by[size] != ':'))
        return;
    options->by_label = options->by + size + (options->by[size] == ':');
    options->by = NULL;
}

/* Reads and checks the command line. getopt_long() reads the options; then a format that others
 * imply is chosen, the options are checked against each other, and the other words are taken as
 * inputs, or with --at-death as the command to run. "--pid" without a value lists the processes of
 * Go. Returns false if there is nothing to convert: *ret_status is then the exit status. */
bool options_parse(int argc, char **argv, struct options *ret, int *ret_status)
{
    static char name[] = "go2heapsnapshot";
    struct for_getopt described;
    int given;
    describe(&described);
    if (argc > 0)
        argv[0] = name; /* getopt's messages begin with it, whatever argv[0] was */
    *ret = (struct options){.format = g2h_format(0)};
    text_printf(&ret->again, "%s", name);
    *ret_status = EXIT_FAILED;
    if (!reserve(ret, argc))
        return false;
    /* For a missing argument, musl's getopt_long() reorders the words wrongly: it is called again
     * with these. */
    _cleanup_free_ char **as_given = memory_copy(argv, as_size(argc) + 1, sizeof(*argv));
    if (!as_given) {
        message_error(&error_no_memory);
        return false;
    }
    if (argc == 2 && strcmp(argv[1], "--pid") == 0) {
        *ret_status = processes_print();
        return false;
    }
    *ret_status = EXIT_USAGE;
    opterr = 0;
    while ((given = getopt_long(argc, argv, described.letters, described.options, NULL)) != -1) {
        const struct known *option = options_find(given);
        if (!option)
            refuse_option(argc, as_given, &described);
        if (!option || !take(ret, option, optarg, ret_status))
            return false;
        if (!option->is_other)
            repeat_option(&ret->again, option->name, optarg, option->is_optional);
    }
    choose_label(ret);
    if (!implied_format(ret) || (ret->by && !format_choose_by(ret, ret->by)) || !check_options(ret))
        return false;
    if (ret->at_death && ret->pid == 0 && optind < argc) {
        ret->run = argv + optind;
        return true;
    }
    take_inputs(ret, argv + optind, argc - optind);
    repeat_inputs(ret, argv + optind, argc - optind);
    return check_inputs(ret);
}

void options_deinit(struct options *options)
{
    free(options->inputs);
    free(options->labels);
    text_deinit(&options->again);
}
