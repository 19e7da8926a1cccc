/*
 * at_death: --at-death, from the command line to the written heap; see at_death.h. at_death_run()
 * starts the command or seizes the running process, then waits for signals: SIGCHLD reports stops
 * and ends of threads (ptrace), SIGUSR1 is a request of the user, in a guard SIGUSR2 is one of
 * --watch, a timer lets it look at the process's memory. At the process's end meet_end() has it
 * copied (library/death_box.h), and write_copy() writes the file.
 *
 * If the process is a command that only starts others, as sh -c './server', the Go program among
 * these is watched in its place: its heir (child.h). The guard is a process of its own that does
 * the same beside --watch.
 */
#include "cli/at_death.h"

#include <string.h>
#include <sys/stat.h>

/* Returns whether an output is a directory: it is one, or ends with a slash. */
bool at_death_is_directory(const char *path)
{
    struct stat status;
    const size_t size = strlen(path);
    return (size > 0 && path[size - 1] == '/') ||
           (stat(path, &status) == 0 && S_ISDIR(status.st_mode));
}

#ifdef __linux__

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/port.h"
#include "cli/child.h"
#include "cli/hold.h"
#include "cli/messages.h"
#include "cli/outputs.h"
#include "cli/target.h"
#include "library/death_box.h"
#include "library/origin.h"
#include "process/attach/available.h"
#include "process/attach/inject.h"
#include "process/attach/procfs.h"
#include "process/attach/refuse.h"
#include "process/attach/stop.h"

/* How often the process is checked, in seconds: its memory, so that enough is reserved for the
 * copy; and what its limit leaves, also when that is nearly used up. */
#define LOOK       0.25
#define LOOK_CLOSE 0.01
enum { CLOSE = 80 /* % of the limit */ };

/* How long after execve() the program is opened, so that its runtime is ready; and how long to look
 * for another thread after the seized one has ended. */
#define START    0.1
#define PATIENCE 1.0

/* How long a process may seem to have no thread. */
#define PATIENCE_IN_EXEC 0.2

/* How often the processes that a command has started are searched for a Go program, which may end
 * soon; and how many seconds what the command has left behind has for becoming one. */
#define SEEK          0.05
#define PATIENCE_LEFT 1.0

/* Seconds between two dumps at a part of the limit; after one that failed. */
#define BETWEEN        3600.0
#define BETWEEN_FAILED 60.0

/* Seconds between two looks at the room for the temporary file and the output. */
#define BETWEEN_ROOM 5.0

/* The most seconds for which a process is held while its heap is written, if the kernel would end
 * this program together with the process (ends_with()). */
enum { HOLD_MOST = 300 };

/* gzip leaves a third of a dump, or less. */
enum { PACKED = 3 };

/* Bytes of a heap that are tried to write even if the disk seems to be full. */
#define LEAST_ROOM (16ull << 20)

/* Bytes whose reservation takes noticeable time. */
#define MUCH (256ull << 20)

struct at_death {
    const struct options *options;
    at_death_write *write;
    void *context;
    int answers;    /* for requests to let the process go; -1: there are none */
    bool is_let_go; /* the process is let go as requested */
    struct death_box box;
    struct child child;
    struct heirs heirs;
    double left;                       /* when the command ended; valid if it has */
    bool is_heir;                      /* box.pid is a process that the command has started */
    struct target_directory directory; /* of the output, if it is new */
    struct scratch scratch;
    double measured;          /* when the room was last measured; 0: never */
    sigset_t signals, before; /* those that are waited for, and those that were blocked before */
    double looked;            /* when the process was last checked */
    double next_before;       /* when the next dump at a part of the limit may be made */
    double changed;           /* when the process began another program; 0: never */
    bool is_near;             /* its limit is nearly used up */
    bool is_armed;            /* the user has been told that a thread is seized */
    bool is_asked;            /* a dump is requested now */
    bool is_over;
    bool is_short;      /* the user has been told that memory for the copy is short */
    bool is_full;       /* the user has been told that the disk has no room for a dump */
    bool is_tight;      /* the user has been told that there is no room at the end either */
    bool has_failed;    /* the user has been told why it is not ready any more */
    pid_t writer;       /* a process that writes a dump at a part of the limit; 0: none */
    struct death death; /* the copy */
    bool has_copy;      /* the copy exists */
    struct g2h_error *error;
    int status;
};

/* ---- messages ---- */

/* Returns the number of the process, for messages. */
static unsigned long long pid_of(const struct at_death *at)
{
    return at->box.pid;
}

static double in_mb(uint64_t bytes)
{
    return in_millions(bytes);
}

/* Warns if not all of the memory for the copy could be reserved, and why. */
static void say_reserve(struct at_death *at)
{
    const struct death_reserve *reserve = &at->box.reserve;
    if (at->is_short || !reserve->is_refused)
        return;
    at->is_short = true;
    say("go2heapsnapshot: warning: process %llu: only %.0f of %.0f MB could be reserved for the "
        "copy, by go2heapsnapshot's memory limit or the machine's memory; the rest is allocated "
        "when the process dies, if possible",
        pid_of(at), in_mb(reserve->touched), in_mb(reserve->wanted));
}

/* Warns if the process's limit is this program's, too: what is reserved would be missing there, and
 * memory cannot be allocated when the process dies for lack of it. */
static void say_group(const struct at_death *at)
{
    if (at->box.reserve.is_shared)
        say("go2heapsnapshot: warning: process %llu: its memory limit, %s, is also "
            "go2heapsnapshot's: when it is reached, there is no memory but these %.0f MB for the "
            "copy, which may be cut, or come too late; run go2heapsnapshot in another group",
            pid_of(at), at->box.limit, in_mb(at->box.reserve.touched));
}

/* Warns if a part of the memory limit is asked for, and the process has none. */
static void say_no_limit(const struct at_death *at)
{
    const unsigned percent = (unsigned)at->options->at_death_percent;
    uint64_t left;
    if (percent > 0 && g2h_process_limit(at->box.pid, &left) == 0)
        say("go2heapsnapshot: warning: process %llu: has no memory limit, so nothing is written at "
            "%u %% of it unless it gets one",
            pid_of(at), percent);
}

/* Reports once why the process can no longer be followed, and frees the error. If it has ended, a
 * signal reports that. */
static void say_failed(struct at_death *at, struct g2h_error *error)
{
    if (error && !at->has_failed && death_is_alive(at->box.pid, 0)) {
        at->has_failed = true;
        say("go2heapsnapshot: warning: %s: its heap may be lost when it is killed", error->message);
    }
    g2h_error_destroy(error);
}

/* Warns if the kernel ends this program with the process, which is held until its heap is written,
 * therefore. */
static void say_holds(const struct at_death *at)
{
    if (at->box.holds)
        say("go2heapsnapshot: warning: process %llu: with it this PID namespace may end, and the "
            "kernel would end go2heapsnapshot, too: so at its end it is held until the file is "
            "complete, for at most %u s; in the PID namespace of the host (--pid=host, hostPID) it "
            "is held only while it is copied",
            pid_of(at), (unsigned)HOLD_MOST);
}

/* Has the ages of objects watched, and warns if that is not possible. */
static void keep_ages(struct at_death *at)
{
    struct g2h_error *error = death_box_keep_ages(&at->box);
    if (error && death_is_alive(at->box.pid, 0))
        say("go2heapsnapshot: warning: %s: since when objects live is not watched", error->message);
    g2h_error_destroy(error);
}

/* Says that memory is being reserved, if that takes a while. */
static void say_reserving(const struct at_death *at)
{
    const uint64_t resident = death_box_resident(&at->box);
    if (resident > MUCH)
        say("go2heapsnapshot: note: process %llu (%s): %.0f MB are being reserved for a copy; if "
            "it is killed before, as much as there is memory for is copied",
            pid_of(at), at->box.name, in_mb(resident));
}

/* Warns if the room for a heap as large as that of the process is short, again if it was not
 * meanwhile. */
static void look_at_room(struct at_death *at)
{
    struct scratch *scratch = &at->scratch;
    scratch_choose(scratch, death_box_resident(&at->box));
    at->measured = clock_seconds();
    const bool was_tight = at->is_tight;
    at->is_tight = !scratch->has_room || !scratch->has_output_room;
    if (!at->is_tight || was_tight)
        return;
    if (!scratch->has_room)
        say("go2heapsnapshot: warning: process %llu: its heap may take %.0f MB for a temporary "
            "file, and %.0f MB are free in %s (TMPDIR: another directory): what has no room at its "
            "end is left out",
            pid_of(at), in_mb(scratch->needed), in_mb(scratch->free),
            *scratch->directory ? scratch->directory : "memory");
    if (!scratch->has_output_room)
        say("go2heapsnapshot: warning: process %llu: its heap may take %.0f MB, and %.0f MB are "
            "free in %s: what has no room at its end is left out",
            pid_of(at), in_mb(scratch->output_needed), in_mb(scratch->output_free),
            at->options->output);
}

/* Reports that the process is watched now, and what may go wrong when it dies. Tries for a moment
 * whether this program may be scheduled first (SCHED_RR). */
static void say_armed(struct at_death *at)
{
    struct attach_urgent urgent;
    const int error = attach_urgent_begin(&urgent);
    attach_urgent_end(&urgent);
    char refused[128] = "";
    if (error != 0)
        snprintf(refused, sizeof(refused), "; SCHED_RR: %s", strerror(error));
    say("go2heapsnapshot: note: process %llu (%s): its heap is written when it is killed; %.0f MB "
        "are reserved for a copy, and %.0f MB are allocated when it dies%s",
        pid_of(at), at->box.name, in_mb(at->box.reserve.touched), in_mb(at->box.reserve.later),
        refused);
    if (error != 0)
        say("go2heapsnapshot: warning: on a busy machine the copy may come too late; CAP_SYS_NICE "
            "or ulimit -r 1 allows SCHED_RR");
    say_group(at);
    say_no_limit(at);
    say_reserve(at);
    say_holds(at);
    look_at_room(at);
    at->is_armed = true;
}

/* Reports what ended the process, when, and what memory it had. */
static void say_death(const struct at_death *at)
{
    const struct g2h_ending *ending = &at->death.copy.ending;
    char how[G2H_ENDING_WORDS], when[G2H_ENDING_TIME];
    char limit[48] = "";
    g2h_ending_words(ending, how, when);
    if (ending->limit != 0)
        snprintf(limit, sizeof(limit), ", limit %.0f MB", in_mb(ending->limit));
    say("go2heapsnapshot: note: process %llu (%s) %s%s at %s, with %.0f MB resident%s", pid_of(at),
        at->death.name, WIFSIGNALED(ending->status) ? "was " : "", how, when,
        in_mb(ending->resident), limit);
    if (at->death.copy.loss.refused > 0)
        say("go2heapsnapshot: warning: process %llu: there was no memory to copy %.0f MB of it, by "
            "go2heapsnapshot's memory limit or the machine's memory",
            pid_of(at), in_mb(at->death.copy.loss.refused));
}

/* ---- files ---- */

/* Returns whether the output is compressed by gzip: -z, and not a format that compresses itself. */
static bool is_packed(const struct options *options)
{
    return options->gzip && (options->is_dump || !options->format->is_compressed);
}

/* Returns the parts of the name that the copy's file gets in a directory; remark and suffix must
 * live as long. */
static struct death_file file_of(const struct at_death *at, const char *remark, char suffix[32])
{
    const struct options *options = at->options;
    const char *format = options->is_dump ? ".dump" : options->format->suffix;
    snprintf(suffix, 32, "%s%s", format, is_packed(options) ? ".gz" : "");
    return (struct death_file){at->death.name, at->box.pid, at->death.copy.ending.seconds, remark,
                               suffix};
}

/* Removes the oldest files if there are more than the user wants; the one just written stays.
 * Returns an exit status. */
static int trim_files(const struct at_death *at, const struct death_file *last)
{
    uint64_t removed;
    if (at->options->at_death_keep == 0)
        return EXIT_FINE;
    struct g2h_error *error =
        death_files_trim(at->options->output, last, at->options->at_death_keep, &removed);
    if (removed > 0)
        say("go2heapsnapshot: note: %llu of the oldest files of %s in %s removed",
            (unsigned long long)removed, at->death.name, at->options->output);
    if (error)
        message_error(error);
    const int status = error ? EXIT_FAILED : EXIT_FINE;
    g2h_error_destroy(error);
    return status;
}

/* Writes the copy to the file, or to a new one in the directory, that -o gives, says which, and
 * removes the oldest files beyond --at-death=keep. Returns an exit status. */
static int write_copy(struct at_death *at, const char *remark)
{
    char suffix[32];
    const struct death_file file = file_of(at, remark, suffix);
    const char *output = at->options->output;
    _cleanup_free_ char *path =
        at_death_is_directory(output) ? death_file_path(output, &file) : strdup(output);
    if (!path) {
        message_error(&error_no_memory);
        return EXIT_FAILED;
    }
    scratch_use(&at->scratch);
    const int status = at->write(at->context, &at->death, at->box.pid, path);
    message_ages(at->death.ages, at->death.copy.account.name);
    if (status != EXIT_FINE && status != EXIT_DAMAGED)
        return status;
    say("go2heapsnapshot: note: process %llu: %s is written", pid_of(at), path);
    return trim_files(at, &file) == EXIT_FINE ? status : EXIT_FAILED;
}

/* Records the exit status of a write: a failure counts more than a cut dump. */
static void note_status(struct at_death *at, int status)
{
    if (at->status != EXIT_FAILED && status != EXIT_FINE)
        at->status = status;
}

/* ---- ends ---- */

/* Returns whether a process is the first one of its PID namespace (its number there, the last one
 * of NStgid, is 1): when it ends, the kernel kills all others there. */
static bool is_first(uint64_t pid)
{
    _cleanup_(text_deinit) struct text status = {0};
    const char *numbers =
        procfs_read_of(pid, "status", &status) == 0 ? procfs_value(&status, "NStgid:") : NULL;
    const size_t size = numbers ? strcspn(numbers, "\n") : 0;
    return size > 0 && numbers[size - 1] == '1' &&
           (size == 1 || !isdigit((unsigned char)numbers[size - 2]));
}

/* Returns the signal that ended the process, or 0. The first process of a PID namespace gets no
 * signal that it sends itself: Go's runtime, since 1.27, then exits with the status 128 + signal,
 * as shells show it. That counts only if no other thread goes on (is_alone: just this one ends). */
static int signal_of_end(const struct at_death *at)
{
    const struct death_watch *watch = &at->box.watch;
    if (WIFSIGNALED(watch->status))
        return WTERMSIG(watch->status);
    const int status = WEXITSTATUS(watch->status);
    return status > 128 && !watch->is_alone && is_first(at->box.pid) ? status - 128 : 0;
}

/* Returns whether the heap of a process that ends like this is wanted: if a signal ended it that is
 * not one of those that ask for an end (SIGTERM and the like); with --at-death=exit also if it
 * exited with a status other than 0. */
static bool is_wanted(const struct at_death *at)
{
    const struct death_watch *watch = &at->box.watch;
    const int number = signal_of_end(at);
    if (!WIFSIGNALED(watch->status) && at->options->at_death_exit)
        return !watch->is_alone && watch->status != 0;
    return number != 0 && number != SIGTERM && number != SIGINT && number != SIGHUP &&
           number != SIGPIPE;
}

/* Records that what was watched has ended. The whole watch is over with it if this program has no
 * child (the process was one of --pid), if its child has ended, or if the process was one that the
 * child had started (is_heir), and is copied. */
static void at_death_end(struct at_death *at)
{
    at->is_over = at->child.id == 0 || at->child.has_ended || (at->is_heir && at->has_copy);
}

/* Reports how a process ended whose heap is not written. The caller sees how a command ended, and
 * need not be told if its heap was not wanted. */
static void say_unwritten(const struct at_death *at)
{
    const int status = at->box.watch.status;
    const char *why = at->box.is_ready ? "" : ": it was not recognized as a Go program yet";
    if (at->child.id != 0 && !is_wanted(at))
        return;
    if (WIFSIGNALED(status))
        say("go2heapsnapshot: note: process %llu ended by signal %d (%s); nothing is written%s",
            pid_of(at), WTERMSIG(status), strsignal(WTERMSIG(status)), why);
    else
        say("go2heapsnapshot: note: process %llu ended with status %d; nothing is written%s",
            pid_of(at), WEXITSTATUS(status), why);
}

/* Returns whether the process continues with a thread other than but (0: any). In execve() it may
 * have none for a moment, so waits up to PATIENCE_IN_EXEC seconds for one. */
static bool goes_on(const struct at_death *at, pid_t but)
{
    const struct timespec pause = {.tv_nsec = 5 * 1000 * 1000}; /* 5 ms */
    const double start = clock_seconds();
    while (!death_is_alive(at->box.pid, but)) {
        if (clock_seconds() - start > PATIENCE_IN_EXEC || !procfs_has_process(at->box.pid))
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

/* Seizes another thread of the process, trying again for up to PATIENCE seconds as long as the
 * process goes on. If none can be seized, the watch is over, with an error unless the process has
 * ended; a command that this program has started may still start others, and the watch waits for
 * that. */
static void seize_another(struct at_death *at)
{
    const struct timespec pause = {.tv_nsec = 5 * 1000 * 1000}; /* 5 ms */
    const double start = clock_seconds();
    int error;
    while ((error = death_seize(&at->box.watch)) != 0 && clock_seconds() - start < PATIENCE &&
           goes_on(at, 0))
        nanosleep(&pause, NULL);
    if (error == 0 || at->child.id != 0)
        return;
    if (error != ESRCH)
        at->error = attach_refuse(at->box.pid, error, true);
    at->is_over = true;
}

/* Notes how the process that wrote a dump has ended. After a failure the next one waits for
 * BETWEEN_FAILED. */
static void note_writer(struct at_death *at, int status)
{
    at->writer = 0;
    if (!WIFEXITED(status))
        say("go2heapsnapshot: warning: the process that wrote the dump was killed by signal %d",
            WTERMSIG(status));
    const int exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
    note_status(at, exit_status);
    if (exit_status == EXIT_FAILED)
        at->next_before = clock_seconds() + BETWEEN_FAILED;
}

/* Waits, for at most HOLD_MOST seconds, until the dump is complete that at->writer writes: with the
 * end of the process the kernel would end the writer, too. */
static void await_writer(struct at_death *at)
{
    const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000}; /* 20 ms */
    const double start = clock_seconds();
    int status;
    while (at->writer != 0 && clock_seconds() - start < HOLD_MOST) {
        watchdog_beat();
        if (waitpid(at->writer, &status, WNOHANG) == at->writer)
            note_writer(at, status);
        else
            nanosleep(&pause, NULL);
    }
}

/* Limits the copy to what the disk has room for: a part of the heap is better than none. What the
 * disk has beyond that may take what memory has no room for (spill). */
static void cut_to_room(struct at_death *at)
{
    struct death_reserve *reserve = &at->box.reserve;
    const uint64_t all = death_box_resident(&at->box);
    const uint64_t room = scratch_measure(&at->scratch, all);
    if (room < all && room < reserve->most)
        reserve->most = MAX(room, LEAST_ROOM);
    at->box.spill = at->scratch.file;
    at->box.spill_most = room == all ? at->scratch.free - at->scratch.needed : 0;
}

/* Handles the stop of the watched thread just before it ends. If the end is one that is wanted (see
 * is_wanted()), copies the process, which ends the watch (at_death_end()). Otherwise lets the
 * thread go on; if the process goes on without it, as after execve() by another thread, watches
 * another thread, and if not, that ends the watch. */
static void meet_end(struct at_death *at)
{
    struct death_watch *watch = &at->box.watch;
    const bool was_killed = WIFSIGNALED(watch->status);
    const pid_t thread = watch->thread;
    const double start = clock_seconds();
    watchdog_beat();
    if (is_wanted(at) && (!at->box.is_ready || at->changed != 0)) /* it had only just started */
        g2h_error_destroy(death_box_prepare(&at->box));
    if (is_wanted(at) && at->box.is_ready) {
        at->has_copy = true;
        cut_to_room(at);
        at->error = death_box_copy(&at->box, &at->death);
        at->death.copy.account.stopped_seconds = clock_seconds() - start;
        at_death_end(at);
        return;
    }
    const bool was_alone = watch->is_alone;
    if (at->box.holds && !was_alone)
        await_writer(at);
    death_let_go(watch);
    if (!was_alone && watch->status != 0)
        say_unwritten(at);
    if (!was_killed && (was_alone || watch->status == 0) && goes_on(at, thread)) {
        at->changed = was_alone ? at->changed : clock_seconds(); /* perhaps by execve() */
        seize_another(at);
    } else {
        at_death_end(at);
    }
}

/* ---- events ---- */

/* Seizes another thread after the seized one has ended without a stop, as a kernel may have it. If
 * there is none, the process has ended without a copy, which is reported: an error if its end was
 * one that the user wants a dump of. */
static void follow_lost(struct at_death *at)
{
    seize_another(at);
    if (!at->is_over || at->error)
        return;
    if (!is_wanted(at)) {
        if (at->box.watch.status != 0)
            say_unwritten(at);
        return;
    }
    say("go2heapsnapshot: process %llu ended without a stop, and could not be copied", pid_of(at));
    at->status = EXIT_FAILED;
}

/* Notes that the command has ended. What it has started may go on: sh -c './server &'. So unless it
 * is the command itself that is watched (box.is_ready, not is_heir), all is over only if it has
 * left no process; a Go program among those is found later (seek_heir()). */
static void end_command(struct at_death *at, int status)
{
    bool has_left = false;
    child_end(&at->child, status);
    at->left = clock_seconds();
    if (!at->box.is_ready || at->is_heir)
        (void)heir_find(&at->heirs, pid_number(at->writer), false, &has_left);
    at->is_over = at->has_copy || at->error || !has_left;
}

/* Handles a result of waitpid(): id may be the child that writes a dump, a thread of the watched
 * process, the command, or several of these. At the stop of a thread that ends, copies the process;
 * if the process was lost without a stop, looks whether it goes on. */
static void note(struct at_death *at, pid_t id, int status)
{
    const bool has_ended = WIFEXITED(status) || WIFSIGNALED(status);
    struct death_watch *watch = &at->box.watch;
    if (has_ended && id == at->writer)
        note_writer(at, status);
    if (death_concerns(watch, id, status)) {
        if (death_is_exec(status)) { /* still stopped, perhaps moved to another control group */
            death_box_note_kills(&at->box);
            at->changed = clock_seconds();
        }
        death_note(watch, id, status);
        if (watch->is_stopped)
            meet_end(at);
        else if (watch->thread == 0 && id != at->child.id && !at->is_over)
            follow_lost(at);
    }
    if (has_ended && id == at->child.id)
        end_command(at, status);
}

/* Writes the answer to a request of the parent, AT_DEATH_READY or _ENDED. If the parent has ended,
 * another signal says so. */
static void answer(const struct at_death *at, char byte)
{
    while (write(at->answers, &byte, 1) < 0 && errno == EINTR)
        continue;
}

/* Does in a guard what its parent, --watch, requests by SIGUSR2: lets the process go before a
 * snapshot, and seizes it again at the next request. If the thread cannot be let go, it has stopped
 * at its end, which is handled first; that may seize another thread, which is let go then. The
 * answer to the parent says whether the process goes on. */
static void let_go_or_seize(struct at_death *at)
{
    struct death_watch *watch = &at->box.watch;
    at->is_let_go = !at->is_let_go;
    while (at->is_let_go && watch->thread != 0 && !death_let_run(watch) && !at->is_over)
        meet_end(at);
    if (!at->is_let_go && !at->is_over)
        seize_another(at);
    if (!at->is_let_go && at->is_over && !at->has_copy && !at->error)
        say("go2heapsnapshot: note: process %llu ended while a snapshot was taken; nothing is "
            "written at its end",
            pid_of(at));
    answer(at, at->is_over ? AT_DEATH_ENDED : AT_DEATH_READY);
}

/* Lets the process go, unless it is copied already. One that has come to its end is copied
 * first. */
static void release(struct at_death *at)
{
    while (!at->has_copy && at->box.watch.thread != 0 && !death_let_run(&at->box.watch))
        meet_end(at);
}

/* Handles the results of all threads and processes that have any. */
static void note_all(struct at_death *at)
{
    int status;
    pid_t id;
    while ((id = waitpid(-1, &status, WNOHANG | __WALL)) > 0)
        note(at, id, status);
}

/* Stops this program together with its command, when a terminal stops both. A stopped program must
 * not hold the command at its end, so it is not watched meanwhile. */
static void stop_with_command(struct at_death *at)
{
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    release(at);
    if (at->is_over)
        return;
    watchdog_end();
    raise(SIGTSTP);
    pthread_sigmask(SIG_UNBLOCK, &stop, NULL); /* until somebody continues it */
    pthread_sigmask(SIG_BLOCK, &stop, NULL);
    (void)watchdog_begin(WATCHDOG_SECONDS);
    seize_another(at);
}

/* Handles a signal while the process lives. What a terminal sends for output in the background, and
 * SIGPIPE, are ignored. SIGTSTP stops this program with its command, but not if it watches
 * another's process. All others are passed to the command; without a command SIGUSR1 asks for a
 * copy now, SIGUSR2 in a guard is a request of its parent, and any other ends the watch. */
static void handle(struct at_death *at, const siginfo_t *info)
{
    const int number = info->si_signo;
    const bool is_own = info->si_code <= 0 && info->si_pid == getpid(); /* EPIPE */
    if (number == SIGTTIN || number == SIGTTOU || (number == SIGPIPE && is_own))
        return;
    if (number == SIGTSTP && at->child.id != 0)
        stop_with_command(at);
    else if (number == SIGTSTP)
        say("go2heapsnapshot: note: not stopped: process %llu would have to wait for it at its end",
            pid_of(at));
    else if (at->child.id != 0)
        child_forward(&at->child, info);
    else if (number == SIGUSR1)
        at->is_asked = true;
    else if (number == SIGUSR2 && at->answers >= 0)
        let_go_or_seize(at);
    else if (number != SIGPIPE)
        at->is_over = true;
}

/* Waits for a signal, for at most this many seconds, and handles it; but the end of the process
 * first, if that has come meanwhile. */
static void await(struct at_death *at, double seconds)
{
    _cleanup_(attach_urgent_end) struct attach_urgent urgent;
    const struct timespec most = clock_wait(seconds);
    siginfo_t info;
    (void)attach_urgent_begin(&urgent); /* so that the copy begins at once, on a busy machine too */
    const int number = sigtimedwait(&at->signals, &info, &most);
    watchdog_beat();
    if (number > 0)
        note_all(at);
    if (number > 0 && number != SIGCHLD && !at->is_over)
        handle(at, &info);
}

/* ---- checking the process ---- */

/* Returns an error if the command is go run, which starts the program that is meant. */
static struct g2h_error *check_command(const struct at_death *at)
{
    return at->child.id != 0 && origin_is_go_command(at->box.pid)
               ? error_create(G2H_ERROR_NOT_EXE, "process %llu: is the go command", pid_of(at))
               : NULL;
}

/* Prepares for the program that the process runs now. If that cannot be watched, such as a shell, a
 * note says that the first Go program which it starts will be, and the watch goes on. */
static void begin_program(struct at_death *at)
{
    struct g2h_error *error = check_command(at);
    if (!error)
        error = death_box_prepare(&at->box);
    if (!error)
        error = death_box_reserve(&at->box);
    at->changed = 0;
    at->is_armed = false; /* say_armed() when its runtime is ready */
    if (!error)
        return;
    if (death_is_alive(at->box.pid, 0))
        say("go2heapsnapshot: note: %s: the first Go program that it runs or starts is watched",
            error->message);
    g2h_error_destroy(error);
}

/* Watches a process that the command has started, in place of the command. Does nothing if it has
 * ended meanwhile; another error ends the watch. */
static void follow_heir(struct at_death *at, uint64_t pid)
{
    struct death_watch watch = {.pid = pid};
    const int error = death_seize(&watch);
    if (error != 0 && error != ESRCH)
        at->error = attach_refuse(pid, error, true);
    at->is_over = at->error != NULL;
    if (error != 0)
        return;
    death_let_go(&at->box.watch);
    at->box.watch = watch;
    at->box.pid = pid;
    at->child.heir = as_pid(pid);
    at->is_heir = true;
    at->changed = clock_seconds() - START; /* begin_program() comes next */
    death_box_note_kills(&at->box);
}

/* Looks for a Go program among the processes that the command has started, as long as none is
 * watched. The watch is over when the command has ended and has left no process, or, after
 * PATIENCE_LEFT seconds, only others than Go programs. */
static void seek_heir(struct at_death *at)
{
    bool has_others;
    if (at->child.id == 0 || at->has_copy || (at->box.is_ready && at->box.watch.thread != 0))
        return;
    const uint64_t pid =
        heir_find(&at->heirs, pid_number(at->writer), !at->child.has_ended, &has_others);
    if (pid != 0 && pid != at->box.pid) {
        follow_heir(at, pid);
        return;
    }
    const bool is_late = clock_seconds() - at->left > PATIENCE_LEFT;
    at->is_over = at->child.has_ended && at->box.watch.thread == 0 && (!has_others || is_late);
    if (at->is_over && has_others)
        say("go2heapsnapshot: note: the command has ended, and what it has left behind is not a Go "
            "program: nothing is watched any more");
}

/* Returns after how many seconds to look again: sooner as long as a Go program is searched for. */
static double next_look(const struct at_death *at)
{
    const bool seeks = at->child.id != 0 && (!at->box.is_ready || at->box.watch.thread == 0);
    return seeks ? SEEK : LOOK;
}

/* Copies the living process, and starts another process that writes the copy to a file whose name
 * has a remark. Returns false if it could not, or if the process has come to its end, which is met
 * instead. */
static bool copy_living(struct at_death *at, const char *remark)
{
    if (!death_let_run(&at->box.watch)) {
        meet_end(at);
        return false;
    }
    struct g2h_error *error = death_box_copy_living(&at->box, &at->death);
    seize_another(at);
    if (error) {
        message_error(error);
        g2h_error_destroy(error);
        note_status(at, EXIT_FAILED);
        death_box_take_back(&at->box, &at->death);
        return false;
    }
    at->writer = fork();
    if (at->writer == 0) {
        hold_begin(at->box.pid, at->answers >= 0 ? getppid() : 0);
        _exit(write_copy(at, remark));
    }
    const bool is_started = at->writer > 0;
    if (!is_started) {
        say("go2heapsnapshot: cannot start a process: %s", strerror(errno));
        at->writer = 0;
        note_status(at, EXIT_FAILED);
    }
    death_box_take_back(&at->box, &at->death);
    return is_started;
}

/* What a dump of the process takes on the disk, and what the disk has, in bytes. */
struct disk_room {
    uint64_t needed, free;
};

/* Returns whether a dump of the process fits on the disk, which others use as well. gzip leaves a
 * third of a dump or less. */
static bool has_room(const struct at_death *at, struct disk_room *ret)
{
    ret->needed = death_box_resident(&at->box) / (is_packed(at->options) ? PACKED : 1);
    ret->free = death_files_room(at->options->output);
    return ret->needed < ret->free;
}

/* Warns that a dump of the process does not fit. */
static void say_full(const struct at_death *at, const struct disk_room *room)
{
    say("go2heapsnapshot: warning: process %llu: no dump is written while it lives: it may take "
        "%.0f MB, and %.0f MB are free in %s",
        pid_of(at), in_mb(room->needed), in_mb(room->free), at->options->output);
}

/* Copies the process at a part of its limit, if the disk has room for the dump. The next copy may
 * be made BETWEEN seconds later, or after a failure BETWEEN_FAILED; a full disk is reported once
 * until it has room. */
static void copy_before(struct at_death *at, uint64_t limit)
{
    const unsigned percent = (unsigned)at->options->at_death_percent;
    struct disk_room room;
    char remark[32];
    snprintf(remark, sizeof(remark), "-%u%%", percent);
    const bool was_full = at->is_full;
    at->is_full = !has_room(at, &room);
    if (!at->is_full || !was_full)
        say("go2heapsnapshot: note: process %llu (%s) has used %u %% of its memory limit of %.0f "
            "MB",
            pid_of(at), at->box.name, percent, in_mb(limit));
    if (at->is_full && !was_full)
        say_full(at, &room);
    const bool is_copied = !at->is_full && copy_living(at, remark);
    at->next_before = clock_seconds() + (is_copied ? BETWEEN : BETWEEN_FAILED);
}

/* Copies the process when the user asks for it by SIGUSR1. Says why not if -o is no directory, a
 * dump is being written already, or the disk has no room for another one. */
static void copy_asked(struct at_death *at)
{
    struct disk_room room;
    at->is_asked = false;
    if (!at_death_is_directory(at->options->output))
        say("go2heapsnapshot: SIGUSR1: the file of -o is for the end of the process: give a "
            "directory for several dumps");
    else if (at->writer != 0)
        say("go2heapsnapshot: SIGUSR1: a dump is being written already");
    else if (!has_room(at, &room))
        say_full(at, &room);
    else
        (void)copy_living(at, "-asked");
}

/* Checks how much of its memory limit the process has used, and copies it if that is the part of
 * --at-death=PERCENT or more, unless a dump is being written, or was a short time ago. From CLOSE
 * percent on, it is looked at more often. */
static void look_at_limit(struct at_death *at)
{
    uint64_t left;
    const uint64_t limit = g2h_process_limit(at->box.pid, &left);
    const uint64_t percent = limit >= 100 && left < limit ? (limit - left) / (limit / 100) : 0;
    at->is_near = percent >= CLOSE;
    if (percent >= at->options->at_death_percent && at->writer == 0 &&
        clock_seconds() >= at->next_before)
        copy_before(at, limit);
}

/* The work to be done a few times per second, in order: look for a process to watch, meet an end
 * that has been noted, prepare a program that began more than START seconds ago, keep what is known
 * of the heap, the ages and the memory reserved up to date, say when all is ready (is_armed), and
 * look whether the disk has room for a copy. */
static void look(struct at_death *at)
{
    struct death_watch *watch = &at->box.watch;
    at->looked = clock_seconds();
    seek_heir(at);
    if (at->is_over || watch->thread == 0)
        return;
    death_prefer_second(watch);
    if (watch->is_stopped)
        meet_end(at);
    if (at->is_over || watch->thread == 0)
        return;
    if (at->changed != 0 && at->looked - at->changed > START)
        begin_program(at);
    if (!at->box.is_ready || at->changed != 0)
        return;
    say_failed(at, death_box_keep_up(&at->box));
    keep_ages(at);
    const struct death_reserve *reserve = &at->box.reserve;
    const bool has_memory = reserve->touched > 0 || reserve->is_refused || reserve->is_shared;
    if (!at->is_armed && has_memory && (at->box.heap.is_known || !g2h_process_is_new(at->box.pid)))
        say_armed(at);
    say_reserve(at);
    if (at->is_armed && at->looked - at->measured >= BETWEEN_ROOM)
        look_at_room(at);
}

/* Waits, and looks at intervals, until the watch is over: the process has ended, or a signal ends
 * it. In between makes copies that are asked for (SIGUSR1), or that are due at a part of the memory
 * limit, whose use is looked at more often when it is near. */
static void watch_process(struct at_death *at)
{
    const bool has_part = at->options->at_death_percent > 0;
    while (!at->is_over) {
        const double next = next_look(at);
        await(at, has_part && at->is_near ? LOOK_CLOSE : next);
        if (!at->is_over && clock_seconds() - at->looked >= next)
            look(at);
        if (!at->is_over && at->is_asked && at->box.is_ready && at->box.watch.thread != 0)
            copy_asked(at);
        if (!at->is_over && has_part && at->box.is_ready && at->box.watch.thread != 0)
            look_at_limit(at);
    }
}

/* ---- the whole of --at-death ---- */

/* Blocks the signals that are waited for. Those that do nothing by default are left alone unless a
 * command gets them. */
static void at_death_block_signals(struct at_death *at)
{
    static const int harmless[] = {SIGCONT, SIGWINCH, SIGURG};
    hold_signals(&at->signals, &at->before);
    for (size_t i = 0; i < COUNT_OF(harmless) && !at->options->run; i++)
        sigdelset(&at->signals, harmless[i]);
}

/* Returns the error of a file or directory that cannot be written to, which should be known before
 * the process ends. */
static struct g2h_error *at_death_try_output(const char *output)
{
    _cleanup_(target_deinit) struct target target = {.fd = -1};
    struct stat status;
    _cleanup_free_ char *path =
        at_death_is_directory(output) ? directory_path(output, "dump", false) : strdup(output);
    TRY_MEMORY(path);
    const bool is_device = stat(path, &status) == 0 && !S_ISREG(status.st_mode);
    return is_device ? NULL : target_open(path, NULL, 0, &target);
}

/* Waits for the command's end, if it has not come, and passes signals on to it. */
static void await_command(struct at_death *at)
{
    const struct timespec most = {.tv_nsec = 250000000};
    siginfo_t info;
    note_all(at);
    while (at->child.id != 0 && !at->child.has_ended) {
        const int number = sigtimedwait(&at->signals, &info, &most);
        if (number > 0 && number != SIGCHLD)
            child_forward(&at->child, &info);
        note_all(at);
    }
}

/* Prepares the output: makes its directory, tries to write to it, and chooses where the temporary
 * file goes. With a command, an output that cannot be written to is only a warning. */
static struct g2h_error *at_death_open(struct at_death *at)
{
    const struct options *options = at->options;
    if (at_death_is_directory(options->output))
        TRY(directory_make(options->output, "--at-death", &at->directory));
    struct g2h_error *error = at_death_try_output(options->output);
    scratch_choose(&at->scratch, 0);
    if (!error || !options->run)
        return error;
    say("go2heapsnapshot: warning: %s: no heap can be written", error->message);
    g2h_error_destroy(error);
    return NULL;
}

/* Starts the command, and watches it from its first instruction if possible. */
static struct g2h_error *at_death_start(struct at_death *at)
{
    heir_begin();
    int error = child_start(at->options->run, &at->before, &at->child);
    if (error != 0)
        return error_system(error, "cannot start a process");
    at->box.pid = at->box.watch.pid = pid_number(at->child.id);
    death_box_note_kills(&at->box);
    error = death_seize_child(&at->box.watch);
    if (error != 0)
        say("go2heapsnapshot: warning: process %llu: cannot be traced (%s): its heap will not be "
            "written",
            pid_of(at), strerror(error));
    child_go(&at->child);
    return NULL;
}

/* Returns the error for a process that could not be prepared for: if it has ended, or may not be
 * traced, that explains all other errors. Takes over the error. was_there is whether the process
 * was found at first: only then "it has ended" can be the reason. */
static struct g2h_error *explain(struct at_death *at, bool was_there, struct g2h_error *failed)
{
    int error = was_there && !death_is_alive(at->box.pid, 0) ? ESRCH : 0;
    if (error == 0 && failed->code == G2H_ERROR_SYSTEM) {
        error = death_seize(&at->box.watch);
        death_let_go(&at->box.watch);
    }
    struct g2h_error *better = error != 0 ? attach_refuse(at->box.pid, error, was_there) : NULL;
    if (better)
        g2h_error_destroy(failed);
    return better ? better : failed;
}

/* Returns whether the kernel ends this program when a process ends: the first one of a PID
 * namespace, or one whose end that may be waiting for, such as a shell. The first process of the
 * machine does not end. */
static bool ends_with(uint64_t pid)
{
    static const char machine[] = "pid:[4026531836]"; /* PROC_PID_INIT_INO of the kernel */
    enum { MOST_ABOVE = 64 };
    char space[sizeof(machine) + 1];
    const ssize_t size = readlink("/proc/self/ns/pid", space, sizeof(space) - 1);
    if (getpid() == 1 || size <= 0)
        return false;
    space[size] = '\0';
    for (unsigned i = 0; i < MOST_ABOVE && pid > 1; i++) {
        _cleanup_(text_deinit) struct text status = {0};
        pid = procfs_read_of(pid, "status", &status) == 0 ? procfs_number(&status, "PPid:") : 0;
    }
    return pid == 1 && strcmp(space, machine) != 0;
}

/* Prepares for a process that is seized. If it ends meanwhile, that is handled by meet_end(). */
static struct g2h_error *prepare_seized(struct at_death *at)
{
    struct g2h_error *error = death_box_prepare(&at->box);
    if (!error) {
        say_reserving(at);
        error = death_box_reserve(&at->box);
    }
    note_all(at);
    if (!at->is_over && !error)
        return NULL;
    if (!at->is_over)
        release(at);
    if (!at->is_over)
        return error;
    g2h_error_destroy(error);
    return NULL;
}

/* Begins to watch a running process: it is seized first, so that its end is not missed; then its
 * program, heap and the reserve are prepared. It is an error if the process may not be seized; if
 * it cannot be prepared for either, explain() chooses which of both errors is reported. Says that
 * it is armed once the heap is known and memory reserved. */
static struct g2h_error *at_death_begin(struct at_death *at)
{
    at->box.pid = at->box.watch.pid = at->options->pid;
    const bool was_there = death_is_alive(at->box.pid, 0);
    at->box.holds = was_there && ends_with(at->box.pid);
    const int error = was_there ? death_seize(&at->box.watch) : ESRCH;
    struct g2h_error *failed = error == 0 ? prepare_seized(at) : death_box_prepare(&at->box);
    if (failed)
        return explain(at, was_there, failed);
    if (error != 0)
        return attach_refuse(at->box.pid, error, true);
    if (!at->is_over && at->box.heap.is_known &&
        (at->box.reserve.touched > 0 || at->box.reserve.is_shared))
        say_armed(at);
    return NULL;
}

/* Sets how long the process is held while its heap is written, if it is: HOLD_MOST seconds, by a
 * timer of this program, and if that is stuck, by the watchdog some seconds later. */
static void hold_while_written(const struct at_death *at)
{
    enum { IF_FROZEN = 10 };
    if (at->box.holds) {
        watchdog_last(HOLD_MOST + IF_FROZEN);
        hold_for(HOLD_MOST);
    } else {
        watchdog_end(); /* nothing is held any more */
    }
}

/* Writes the copy that was made at the end, and waits for dumps that are still being written. The
 * exit status is that of the command, if there is one. */
static void at_death_finish(struct at_death *at)
{
    int status;
    if (at->has_copy && !at->error) {
        hold_begin(at->box.pid, at->answers >= 0 ? getppid() : 0);
        hold_while_written(at);
        say_death(at);
        note_status(at, write_copy(at, ""));
        hold_end();
    }
    if (at->error) {
        message_error(at->error);
        at->status = EXIT_FAILED;
    }
    while (at->writer != 0) {
        if (waitpid(at->writer, &status, 0) == at->writer)
            note_writer(at, status);
        else if (errno != EINTR)
            break;
    }
    await_command(at);
    if (at->child.id != 0)
        at->status = child_exit_status(&at->child);
}

/* Waits for the end of a process and writes its heap. Blocks the signals, opens the output, starts
 * the command or attaches to the process, and waits for its end (watch_process). answers gets
 * AT_DEATH_READY when the waiting begins, unless it is negative. Returns this program's exit
 * status. */
int at_death_run(const struct options *options, at_death_write *write, void *context, int answers)
{
    struct at_death at = {
        .options = options,
        .answers = answers,
        .write = write,
        .context = context,
        .box = {
            .exe = options->exe,
            .ages_seconds = options->ages,
            .threads = options->threads,
            .memory = options->is_dump ? 0 : options->format->memory,
            .reserve = {.most = options->at_death_most > 0 ? options->at_death_most : UINT64_MAX}}};
    at.scratch = (struct scratch){.output = options->output,
                                  .file = -1,
                                  .is_directory = at_death_is_directory(options->output),
                                  .part = is_packed(options) ? PACKED : 1};
    messages_never_wait();
    at_death_block_signals(&at);
    (void)watchdog_begin(WATCHDOG_SECONDS);
    at.error = at_death_open(&at);
    if (!at.error)
        at.error = options->run ? at_death_start(&at) : at_death_begin(&at);
    signals_catch("go2heapsnapshot");
    if (!at.error && answers >= 0)
        answer(&at, AT_DEATH_READY);
    if (!at.error)
        watch_process(&at);
    release(&at);
    at_death_finish(&at);
    g2h_error_destroy(at.error);
    death_deinit(&at.death);
    death_box_deinit(&at.box);
    scratch_deinit(&at.scratch);
    target_directory_deinit(&at.directory);
    return at.status;
}

#else

int at_death_run(const struct options *options, at_death_write *write, void *context, int answers)
{
    struct g2h_error *error = g2h_process_check(options->pid);
    (void)write, (void)context, (void)answers;
    if (error)
        message_error(error);
    g2h_error_destroy(error);
    return EXIT_FAILED;
}

#endif
