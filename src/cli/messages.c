/*
 * messages: all lines that the program prints on standard error; see messages.h. say() prints one,
 * made safe for a terminal. message_… and warn_… print about one subject each, if there is
 * something to say; account_… print the tables of --verbose.
 */
#include "cli/messages.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/port.h"
#include "base/releases.h"
#include "base/text.h"
#include "cli/terminal.h"
#include "process/attach/available.h"

static bool never_waits;  /* messages_never_wait(): lines are left out rather than waited for */
static unsigned left_out; /* lines since the last one that was printed */

void messages_never_wait(void)
{
    never_waits = true;
}

/* Returns whether a line may be printed now: always, unless nothing may be waited for and standard
 * error takes nothing for 0.1 s, as a pipe whose reader is stopped. */
bool messages_can_print(void)
{
    enum { PATIENCE = 100 /* ms */ };
    struct pollfd error = {STDERR_FILENO, POLLOUT, 0};
    return !never_waits || poll(&error, 1, PATIENCE) > 0;
}

/* Prints a line on standard error, unless it would have to wait: then it is only counted, and the
 * next line says so. */
static void print_line(const char *line, size_t size)
{
    if (!messages_can_print()) {
        left_out++;
        return;
    }
    if (left_out > 0)
        fprintf(stderr, "go2heapsnapshot: note: %u lines before this one could not be printed\n",
                left_out);
    left_out = 0;
    fwrite(line, 1, size, stderr);
}

/* Prints a line on standard error, with characters that are not plain text replaced. A long line is
 * formatted twice: first into a buffer on the stack, and if that is too small, into memory of its
 * size. */
void say(const char *format, ...)
{
    char usual[1024];
    char *text = usual;
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(usual, sizeof(usual), format, arguments);
    va_end(arguments);
    size_t size = length < 0 ? 0 : as_size(length);
    if (size >= sizeof(usual)) {
        text = malloc(size + 1);
        va_start(arguments, format);
        if (text)
            vsnprintf(text, size + 1, format, arguments);
        va_end(arguments);
        if (!text) { /* without memory for a long line, its beginning is printed */
            text = usual;
            size = sizeof(usual) - 1;
        }
    }
    size = g2h_printable(text, size);
    text[size] = '\n'; /* replaces the NUL */
    progress_clear();
    print_line(text, size + 1);
    if (text != usual)
        free(text);
}

void message_error(const struct g2h_error *error)
{
    say("go2heapsnapshot: %s", error->message);
}

/* Explains how to handle an executable that did not write the dump. */
void message_no_exe(void)
{
    say("Give --exe the executable that wrote the dump, or build the same commit with the same Go "
        "and flags.");
    say("--untyped-ok converts without types where it does not fit.");
}

/* Suggests the same command with a file for the output. */
void message_not_for_terminal(const struct options *options)
{
    const struct text *command = &options->again;
    const char *suffix = options->is_dump ? ".dump" : options->format->suffix;
    const bool is_packed = options->gzip && !options->format->is_compressed;
    say("go2heapsnapshot: a terminal cannot show the format %s; write it to a file:",
        options->is_dump ? "dump" : options->format->name);
    const char *packed = is_packed ? ".gz" : "";
    if (command->size > 0)
        say("  %s -o app%s%s", command->data, suffix, packed);
    else
        say("  -o app%s%s", suffix, packed);
}

/* Explains why the output is a report, and how to get a snapshot. */
void message_default(void)
{
    say("go2heapsnapshot: note: a terminal gets a report; -o app.heapsnapshot writes a snapshot");
}

void message_piped(void)
{
    say("go2heapsnapshot: note: a pipe gets a snapshot for DevTools; --format report writes a "
        "report");
}

void message_no_base_exe(void)
{
    say("That is the dump of --base: if another build of the program wrote it, give that one with "
        "--base-exe.");
}

/* Prints that the executable is not used, and why. */
void message_untyped(const struct g2h_error *error)
{
    say("go2heapsnapshot: warning: %s; going on without types", error->message);
}

/* Hints to users at a terminal where a dump's types come from; nothing if they want it untyped. */
void message_untyped_hint(const struct options *options, const struct g2h_input *input)
{
    if (options->untyped_ok || !isatty(STDERR_FILENO))
        return;
    say("go2heapsnapshot: note: %s: has no types; the executable that wrote it has them: --exe app",
        input->name);
}

/* Notes what an executable lacks, and what that costs: a version that names a release; DWARF; or
 * both DWARF and names of variables (stripped). Nothing if it has them. */
void message_missing_in_exe(const struct g2h_exe *exe, const struct g2h_heap *heap)
{
    const int named = go_release_parse(g2h_heap_go_version(heap)).minor;
    bool is_guess;
    const int release = g2h_exe_release(exe, &is_guess);
    if (is_guess)
        say("go2heapsnapshot: note: %s: its version names no release of Go; types are read as "
            "go1.%d "
            "has them, by its runtime",
            g2h_exe_path(exe), named > 0 ? named : release);
    const bool has_names = g2h_exe_variable_count(exe) > 0;
    const char *missing = NULL;
    const char *cost = "what only they point to may stay untyped";
    if (g2h_exe_dwarf(exe) == G2H_EXE_DWARF_NONE && has_names)
        missing = "it has no DWARF: no types of global variables, no names of locals";
    else if (g2h_exe_dwarf(exe) == G2H_EXE_DWARF_NONE)
        missing = "it is stripped: global and local variables are inferred from the machine code";
    if (!missing)
        return;
    say("go2heapsnapshot: note: %s: %s; %s", g2h_exe_path(exe), missing, cost);
}

/* Prints a warning about an input. */
static void warn(const struct g2h_input *input, const char *text)
{
    say("go2heapsnapshot: warning: %s: %s", input->name, text);
}

/* Returns the plural's end: "1 object", "2 objects". */
static const char *plural_of(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* Warns of a number of objects, unless it is 0: "3 objects TEXT". */
static void warn_count(const struct g2h_input *input, uint64_t count, const char *text)
{
    char line[256];
    if (count == 0)
        return;
    snprintf(line, sizeof(line), "%" PRIu64 " object%s %s", count, plural_of(count), text);
    warn(input, line);
}

/* Warns of objects and frames of a process whose pointers are not known. */
static void warn_conservative(const struct g2h_input *input, uint64_t objects, uint64_t frames)
{
    if (objects + frames > 0)
        say("go2heapsnapshot: warning: %s: the pointers of %" PRIu64 " object%s and %" PRIu64
            " stack frame%s are not known: each of their words counts as a pointer, so some "
            "garbage may look reachable",
            input->name, objects, plural_of(objects), frames, plural_of(frames));
}

/* Reports which Go library is read, and which heaps of the process are not. */
static void message_modules(const struct origin *origin)
{
    if (origin->library)
        say("go2heapsnapshot: note: %s: its program is not Go: the heap of its library %s is read",
            origin->input->name, origin->library->path);
    for (size_t i = 0; i < origin->modules.count; i++) {
        const struct g2h_module *module = &origin->modules.list[i];
        if (!module->is_read)
            say("go2heapsnapshot: note: %s: %s has a Go heap of its own, which --exe %s reads",
                origin->input->name, module->path, module->file);
        if (module->is_plugin && !g2h_exe_is_plugin(origin->exe))
            say("go2heapsnapshot: note: %s: types and variables of the plugin %s have names with "
                "--exe %s instead",
                origin->input->name, module->path, module->file);
    }
}

/* Bytes with their unit, for a message: "61.9 MB". */
struct in_units {
    char text[24];
};

/* Returns a number of bytes as people read it. */
static struct in_units in_units(uint64_t bytes)
{
    struct in_units ret = {""};
    _cleanup_(text_deinit) struct text text = {0};
    text_append_bytes(&text, bytes);
    if (!text.failed)
        snprintf(ret.text, sizeof(ret.text), "%.*s", as_width(text.size), text.data);
    return ret;
}

/* Reports for how long a live process was paused, and how to reduce that. --fork is suggested only
 * where it works (x86-64), and after a pause of more than a second. */
static void message_stopped(const struct origin *origin, uint64_t threads)
{
    const double long_stop = 1; /* seconds: leases and probes end that soon */
#ifdef __x86_64__
    const bool is_possible = true;
#else
    const bool is_possible = false;
#endif
    const struct g2h_process_account *account = &origin->account;
    const char *name = origin->input->name;
    const struct in_units copied = in_units(account->memory_bytes);
    const char *plural = plural_of(threads);
    const bool helps = is_possible && account->stopped > long_stop && !account->not_forked[0];
    if (account->is_forked)
        say("go2heapsnapshot: note: %s was paused for %.3f s while it was forked; %s of %" PRIu64
            " thread%s were %s",
            name, account->stopped, copied.text, threads, plural,
            account->is_window ? "read without a copy" : "copied meanwhile");
    else
        say("go2heapsnapshot: note: %s was paused for %.3f s while %s of %" PRIu64
            " thread%s were copied%s",
            name, account->stopped, copied.text, threads, plural,
            helps ? "; --fork stops it for a fifth of that or less" : "");
}

/* Reports how a process was copied at its end, and what the copy lacks. */
static void message_dead(const struct origin *origin)
{
    const struct g2h_process_account *account = &origin->account;
    const char *name = origin->input->name;
    say("go2heapsnapshot: note: %s: its end was delayed by %.3f s while %s were copied (%.2f GB/s)",
        name, account->stopped, in_units(account->memory_bytes).text,
        account->stopped > 0 ? (double)account->memory_bytes / account->stopped / 1e9 : 0);
    if (account->goroutines_scanned > 0)
        say("go2heapsnapshot: note: %s: %" PRIu64 " goroutine%s running: the frames are not known, "
            "and every word of the stack that looks "
            "like a pointer counts as one",
            name, account->goroutines_scanned,
            account->goroutines_scanned == 1 ? " was" : "s were");
    if (account->file_missing > 0)
        say("go2heapsnapshot: warning: %s: the copy is cut: %s or more of %s are "
            "missing: the kernel took them first, there was no memory or room on the "
            "disk for them, or --at-death=SIZE leaves them out",
            name, in_units(account->file_missing).text, in_units(account->file_size).text);
}

/* Reports the outcome of a fork. Nothing if it succeeded as usual. */
static void message_fork(const struct origin *origin)
{
    const struct g2h_process_account *account = &origin->account;
    if (account->not_forked[0])
        say("go2heapsnapshot: note: %s was copied and not forked: %s", origin->input->name,
            account->not_forked);
    if (account->collapsed > 0)
        say("go2heapsnapshot: note: %s has %s in huge pages, for the fork", origin->input->name,
            in_units(account->collapsed).text);
    else if (account->collapse_error != 0)
        say("go2heapsnapshot: note: %s did not get huge pages: %s%s", origin->input->name,
            strerror(account->collapse_error),
            account->collapse_error == EPERM ? " (it takes CAP_SYS_NICE)"
                                             : " (it takes Linux 6.1)");
    if (account->is_left)
        say("go2heapsnapshot: warning: %s did not wait for its fork, which has ended, but stays a "
            "zombie until the process ends or is forked again",
            origin->input->name);
}

/* Notes that the process is the go command, and which child of it runs the program, if there is
 * one. */
void message_go_command(uint64_t pid)
{
    _cleanup_(text_deinit) struct text name = {0};
    const uint64_t child = origin_is_go_command(pid) ? origin_find_child(pid, &name) : 0;
    if (child != 0)
        say("go2heapsnapshot: note: process %" PRIu64 " is the go command; its child %" PRIu64
            " (%s) runs the program: --pid %" PRIu64,
            pid, child, name.data, child);
}

/* Returns why threads of a process did not stop. */
static const char *why_stuck(const struct g2h_process_account *account)
{
    if (account->is_frozen)
        return "their control group is frozen (thaw it to have them: docker unpause, "
               "freezer.state)";
    if (account->threads_in_vfork == account->threads_stuck)
        return "they wait for a child of vfork() to call exec or to end";
    if (account->threads_in_vfork > 0)
        return "they wait in the kernel for children of vfork(), or for a disk or another device";
    return "they wait in the kernel for a disk or another device";
}

/* Notes how the collections of the process were watched; nothing if they were not. */
void message_ages(const struct g2h_ages *ages, const char *process)
{
    struct g2h_ages_account account;
    if (!ages)
        return;
    g2h_ages_get(ages, &account);
    if (account.is_left_out) {
        say("go2heapsnapshot: warning: %s: runs another program than the one that was watched, so "
            "there are no ages but those of the last collection",
            process);
        return;
    }
    const uint64_t all = account.seen + account.missed;
    char missed[80] = "";
    if (account.missed > 0)
        snprintf(missed, sizeof(missed),
                 ", which follow each other so quickly that it saw %" PRIu64, account.seen);
    say("go2heapsnapshot: note: %s was watched for %" PRIu64 " collection%s%s, without a stop; %s "
        "were read in %.3f s of processor time",
        process, all, plural_of(all), missed, in_units(account.bytes).text, account.seconds);
    if (account.unread > 0)
        say("go2heapsnapshot: warning: %s: after collections, %" PRIu64
            " span%s could not be read: their objects may be older than they look",
            process, account.unread, plural_of(account.unread));
}

/* Reports how a process was read, and warns of all that is missing or doubtful. Nothing for a
 * dump. */
void message_process(const struct origin *origin, bool says_stopped)
{
    const struct g2h_process_account *account = &origin->account;
    const struct g2h_input *input = origin->input;
    const uint64_t threads = account->threads + account->threads_stuck;
    if (!origin->is_process)
        return;
    message_modules(origin);
    if (account->is_dead)
        message_dead(origin);
    else if (says_stopped && account->stopped > 0)
        message_stopped(origin, threads);
    message_ages(origin->ages, origin->input->name);
    message_fork(origin);
    if (account->threads_stuck > 0)
        say("go2heapsnapshot: warning: %s: of %" PRIu64 " threads %" PRIu64
            " did not stop, because %s; what only their registers hold looks unreachable",
            input->name, threads, account->threads_stuck, why_stuck(account));
    if (account->file_missing > 0 && !account->is_dead)
        say("go2heapsnapshot: warning: %s: the core is cut: %s of %s are missing (ulimit -c; "
            "systemd-coredump: ProcessSizeMax, ExternalSizeMax)",
            input->name, in_units(account->file_missing).text, in_units(account->file_size).text);
    warn_count(input, account->objects_missing, "left out: their contents are not there");
    if (account->spans_missing > 0)
        say("go2heapsnapshot: warning: %s: %" PRIu64
            " spans of the heap left out: their descriptions are missing",
            input->name, account->spans_missing);
    if (origin_is_miscounted(origin))
        say("go2heapsnapshot: warning: %s: %" PRIu64 " of %" PRIu64
            " spans hold a different number of objects than the runtime counted: their memory "
            "was misread, or the program overwrote it",
            input->name, account->spans_miscounted, account->spans);
    warn_conservative(input, account->masks_missing, account->frames_conservative);
    if (account->data_left_out > 0)
        say("go2heapsnapshot: warning: %s: %s of variables without pointers are not in the dump, "
            "as they are too many: their "
            "values cannot be shown",
            input->name, in_units(account->data_left_out).text);
    if (origin->modules.left_out > 0)
        say("go2heapsnapshot: warning: %s: %zu mapped files were not examined, as there are too "
            "many: Go code in them is not found",
            input->name, origin->modules.left_out);
    if (account->stacks_incomplete > 0)
        say("go2heapsnapshot: warning: %s: of %" PRIu64 " goroutines %" PRIu64
            " have frames that could not be found; what only these hold looks unreachable",
            input->name, account->goroutines, account->stacks_incomplete);
}

/* Warns that a dump was made from a part of a process's memory. */
static void warn_missing(const struct g2h_input *input, const struct g2h_account *account)
{
    if (account->missing_bytes + account->missing_objects + account->missing_spans > 0)
        say("go2heapsnapshot: warning: %s: made from a part of the process's memory, without "
            "%s or more: %" PRIu64 " object%s and %" PRIu64 " span%s are left out",
            input->name, in_units(account->missing_bytes).text, account->missing_objects,
            plural_of(account->missing_objects), account->missing_spans,
            plural_of(account->missing_spans));
}

/* Warns of damage, and of all that a dump lacks: records, objects that were left out, contents of
 * arrays and of secret.Do; of a process, message_process() says what is missing. */
void message_warnings(const struct origin *origin, const struct g2h_heap *heap)
{
    const struct g2h_input *input = origin->input;
    const struct g2h_account *account = g2h_heap_account(heap);
    if (g2h_heap_warning(heap))
        warn(input, g2h_heap_warning(heap));
    if (input->damage)
        say("go2heapsnapshot: warning: %s", input->damage->message);
    if (g2h_heap_damage(heap)) {
        say("go2heapsnapshot: warning: %s; everything before it is used",
            g2h_heap_damage(heap)->message);
        if (account->records[G2H_RECORD_DATA] == 0 || account->records[G2H_RECORD_BSS] == 0)
            warn(input, "without its data and bss records, objects that only globals hold look "
                        "unreachable");
    }
    warn_count(input, account->misplaced,
               "left out: not where an allocation slot can be, or larger than the heap");
    warn_count(input, account->overlapping, "left out: overlapping the next object");
    if (!origin->is_process) { /* message_process() says more */
        warn_missing(input, account);
        warn_conservative(input, account->conservative_objects, account->conservative_frames);
    }
    if (account->secret_objects > 0)
        say("go2heapsnapshot: note: %s: of %" PRIu64
            " object%s that secret.Do has allocated only the pointers are there",
            input->name, account->secret_objects, plural_of(account->secret_objects));
    if (account->bytes_behind > 0)
        warn(input, "the bytes after the EOF record are ignored");
    if (account->shortened_arrays > 0)
        say("go2heapsnapshot: note: %s: only the beginning of %" PRIu64 " array%s is there "
            "(--largest-array); free slots of maps in them are not counted, nor strings that are "
            "the same",
            input->name, account->shortened_arrays, plural_of(account->shortened_arrays));
}

/* Reports damage of an input that was written as a dump: that of its stream, and that at which
 * writing ended; NULL: none. */
void message_dump_damage(const struct g2h_input *input, const struct g2h_error *damage)
{
    if (input->damage)
        say("go2heapsnapshot: warning: %s", input->damage->message);
    if (damage)
        say("go2heapsnapshot: warning: %s; everything before it is written", damage->message);
}

/* Prints a line of a table: a label, a number, its unit, and a remark; both may be empty. */
static void line(const char *label, uint64_t value, const char *unit, const char *remark)
{
    const char *before_remark = *remark ? "  " : "";
    say("  %-34s %14" PRIu64 "%s%s%s%s", label, value, *unit ? " " : "", unit, before_remark,
        remark);
}

/* Returns the remark on a number that memstats have, too. */
static const char *agreement(uint64_t found, uint64_t expected)
{
    return found == expected ? "as memstats say" : "NOT what memstats say";
}

/* Returns whether the dump itself has the types of its objects, as the oldest formats do. */
static bool has_own_types(const struct g2h_heap *heap)
{
    const char *format = g2h_heap_format(heap);
    return strncmp(format, "1.3", 3) == 0 || strcmp(format, "2013") == 0;
}

/* Prints how many objects there are, compared with memstats where these count the same, and what
 * was left out. */
static void account_objects(const struct g2h_heap *heap)
{
    const struct g2h_account *account = g2h_heap_account(heap);
    const struct g2h_memstats *memstats = g2h_heap_memstats(heap);
    bool exact = memstats && !has_own_types(heap);
    say("objects");
    line("in the snapshot", account->objects, "",
         exact ? agreement(account->objects, memstats->numbers[G2H_MEMSTATS_HEAP_OBJECTS]) : "");
    line("their size", account->object_bytes, "bytes",
         exact ? agreement(account->object_bytes, memstats->numbers[G2H_MEMSTATS_HEAP_ALLOC]) : "");
    if (memstats && !exact) {
        line("memstats HeapObjects", memstats->numbers[G2H_MEMSTATS_HEAP_OBJECTS], "",
             "counts stack spans too");
        line("memstats HeapAlloc", memstats->numbers[G2H_MEMSTATS_HEAP_ALLOC], "bytes",
             "counts stack spans too");
    }
    line("phantoms left out", account->phantoms, "",
         "span tails that the dumper takes for objects");
    line("their size", account->phantom_bytes, "bytes", "");
    line("left out as damaged", account->misplaced + account->overlapping, "", "");
    if (account->shortened_arrays > 0)
        line("shortened arrays", account->shortened_arrays, "", "by --largest-array");
    if (account->short_objects > account->shortened_arrays)
        line("not wholly in the file", account->short_objects - account->shortened_arrays, "",
             "Go writes at most 2 GiB of each");
    if (account->repairs > 0)
        line("corrupt type records passed over", account->repairs, "", "a bug of Go 1.5's dumper");
}

/* Prints what the executable has: types, and names of variables. */
static void account_exe(const struct g2h_exe *exe)
{
    static const char *const dwarf[] = {
        [G2H_EXE_DWARF_NONE] = "of descriptors; there is no DWARF",
        [G2H_EXE_DWARF_READ] = "of descriptors and DWARF",
    };
    const size_t variables = g2h_exe_variable_count(exe);
    size_t checked;
    const size_t unfit = g2h_exe_unfit_types(exe, &checked);
    say("executable");
    line("types", g2h_exe_type_count(exe), "", dwarf[g2h_exe_dwarf(exe)]);
    line("types of the dump that do not fit", unfit, "", unfit > 0 ? "they are left out" : "");
    line("global variables with names", variables, "", variables == 0 ? "it is stripped" : "");
}

/* Prints a line with the objects and bytes that are alive, and with those that are garbage. */
static void line_of_types(const char *label, const struct g2h_type_sum *sum)
{
    say("  %-34s %10" PRIu64 " %15" PRIu64 "  %10" PRIu64 " %15" PRIu64, label, sum->living_objects,
        sum->living_bytes, sum->objects - sum->living_objects, sum->bytes - sum->living_bytes);
}

/* Prints how many objects have a type, by how it was found; nothing without types. */
static void account_types(const struct g2h_graph *graph)
{
    const struct g2h_type_account *account = g2h_graph_type_account(graph);
    static const char *const sources[G2H_TYPE_SOURCES] = {
        "  by their malloc header",          "  by the runtime's own records",
        "  by an interface that holds them", "  by a typed pointer to them",
        "  closures, by their function",     "  by words that look like interfaces",
        "guessed: no other type fits",
    };
    enum { GUESSED = G2H_TYPE_SOURCES - 1 };
    if (!account)
        return;
    say("%-36s %10s %15s  %10s %15s", "types of objects", "living", "bytes", "garbage", "bytes");
    line_of_types("typed", &account->typed);
    for (int i = 0; i < GUESSED; i++)
        if (account->sources[i].objects > 0)
            line_of_types(sources[i], &account->sources[i]);
    if (account->text.objects > 0)
        line_of_types("  contents of strings", &account->text);
    line_of_types(sources[GUESSED], &account->sources[GUESSED]);
    line_of_types("known of a part", &account->part);
    line_of_types("not known", &account->untyped);
}

/* Prints the stacks of goroutines; nothing if the dump has none. */
static void account_stacks(const struct g2h_heap *heap, const struct g2h_graph *graph)
{
    const struct g2h_graph_account *account = g2h_graph_account(graph);
    const struct g2h_memstats *memstats = g2h_heap_memstats(heap);
    if (account->stacks == 0)
        return;
    say("stacks of goroutines");
    line("goroutines that have one", account->stacks, "", "");
    line("their size", account->stack_bytes, "bytes", "");
    if (memstats && memstats->numbers[G2H_MEMSTATS_STACK_INUSE] > 0) /* 0 if read from outside */
        line("memstats StackInuse", memstats->numbers[G2H_MEMSTATS_STACK_INUSE], "bytes",
             "with free ones and the runtime's");
}

/* Returns whether cleanups may hold some of the objects that look like garbage. Since Go 1.24 the
 * runtime holds such objects by records that are in no dump; with types these objects are known. */
static bool may_have_cleanups(const struct g2h_heap *heap, const struct g2h_graph *graph)
{
    return go_release_parse(g2h_heap_go_version(heap)).minor >= 24 &&
           g2h_graph_account(graph)->unreachable_objects > 0 && !g2h_graph_type_account(graph);
}

/* Returns the nodes and edges that DevTools' filters need, in the format that has them. */
static struct g2h_contexts_account messages_contexts_of(const struct options *options,
                                                        const struct g2h_view *view)
{
    struct g2h_contexts_account account = {0};
    if (options->format->is_for_devtools && !options->no_contexts)
        g2h_heapsnapshot_contexts(view, &account);
    return account;
}

/* Prints how many pointers lead to objects, and how many do not. */
static void account_pointers(const struct g2h_graph_account *account)
{
    say("pointers that are not nil");
    line("in objects", account->pointers, "", "");
    line("  to objects: edges", account->pointers_hit, "", "");
    line("  to nothing in the heap", account->pointers_missed, "",
         "data, code, stacks, C memory, free slots");
    line("in roots", account->root_pointers, "", "");
    line("  to objects: edges", account->root_pointers_hit, "", "");
    line("  to nothing in the heap", account->root_pointers_missed, "", "");
    line("found in stack objects", account->conservative, "",
         "words of frames that no field list has");
    line("allocation samples", account->samples, "", "");
    line("  of no object in the dump", account->samples_missed, "", "");
}

/* Prints what is garbage, and what several groups of roots hold. */
static void account_reachability(const struct g2h_graph *graph, const struct g2h_heap *heap)
{
    const struct g2h_graph_account *account = g2h_graph_account(graph);
    say("reachability");
    line("objects that nothing holds", account->unreachable_objects, "",
         may_have_cleanups(heap, graph) ? "garbage since the last collection, or cleanups"
                                        : "garbage since the last collection");
    line("their size", account->unreachable_bytes, "bytes", "");
    line("held by several groups of roots", account->shared_bytes, "bytes",
         "packages, goroutines in a place ...");
    line("  directly: no other such holds it", account->several, "", "");
    line("  shown below (held by several)", account->several_shown, "", "");
    line("    their retained size", account->several_shown_bytes, "bytes", "");
}

/* Prints how many nodes and edges the output has. Lines for what is optional (objects left out or
 * folded, contexts, numbers, short cuts) are there only if there are any, or if the option is
 * given. */
static void account_nodes(const struct options *options, const struct g2h_graph *graph,
                          const struct g2h_view *view, const struct g2h_numbers_account *numbers)
{
    const struct g2h_view_account *seen = g2h_view_account(view);
    const struct g2h_contexts_account contexts = messages_contexts_of(options, view);
    const uint64_t shortcuts = g2h_graph_account(graph)->shortcuts;
    say("snapshot");
    if (seen->left_out_objects > 0)
        line("objects left out as garbage", seen->left_out_objects, "", "");
    if (seen->folded_nodes > 0) {
        line("objects folded", seen->folded_objects, "", "");
        line("  into nodes", seen->folded_nodes, "", "");
    }
    line("nodes", seen->nodes + contexts.nodes + numbers->nodes, "", "");
    line("  of them synthetic", seen->synthetic_nodes + contexts.nodes, "", "");
    if (contexts.nodes > 0)
        line("  of these contexts", contexts.nodes, "", "for DevTools' filters");
    if (options->numbers)
        line("  of them numbers", numbers->nodes, "", "distinct ones");
    line("edges", seen->edges + contexts.edges + numbers->edges, "", "");
    if (options->numbers)
        line("  of them to numbers", numbers->edges, "", "");
    if (shortcuts > 0)
        line("  of them short cuts", shortcuts, "", "weak: from maps and weak pointers");
}

enum { DEVTOOLS_COMFORTABLE = 20000000 /* nodes */ };

/* Warns of a snapshot of more than 20 million nodes, which DevTools takes long to load. Measured
 * with Chromium 156: 27 s and 1.15 GB for 4 million nodes of a typed heap, 164 s and 3.8 GB for 20
 * million, which then can be used; for more, as many times that. */
static void warn_of_size(const struct g2h_input *input, uint64_t nodes)
{
    const uint64_t comfortable = DEVTOOLS_COMFORTABLE;
    char text[256];
    if (nodes <= comfortable)
        return;
    snprintf(text, sizeof(text),
             "%" PRIu64 " nodes: DevTools will take some %" PRIu64 " seconds and %" PRIu64
             ".%" PRIu64 " GB of memory to load them; --max-nodes 10M folds what retains least",
             nodes, nodes * 164 / comfortable, nodes * 38 / comfortable / 10,
             nodes * 38 / comfortable % 10);
    warn(input, text);
}

/* Returns how many nodes the output has. Those of contexts are counted only if they may matter, as
 * counting takes a percent of a conversion: there are far fewer of them than of others. */
static uint64_t messages_nodes(const struct options *options, const struct g2h_view *view)
{
    const struct g2h_view_account *account = g2h_view_account(view);
    const bool is_said = options->max_nodes > 0 || account->folded_nodes > 0;
    return is_said || account->nodes > DEVTOOLS_COMFORTABLE / 2
               ? account->nodes + messages_contexts_of(options, view).nodes
               : account->nodes;
}

/* Notes how much garbage the output leaves out, if it does, and which option keeps it; nothing if
 * the format never has any. */
static void message_garbage(const struct options *options, const struct g2h_input *input,
                            const struct g2h_graph *graph, const struct g2h_view *view)
{
    const struct g2h_graph_account *garbage = g2h_graph_account(graph);
    const bool is_complete = g2h_heap_is_complete(g2h_view_heap(view)),
               never_has = options->format->leaves_out_garbage && is_complete;
    const bool has_cleanups = may_have_cleanups(g2h_view_heap(view), graph);
    const char *option = never_has || options->reachable ? "" : ", which --garbage keeps";
    if (never_has || options_leave_out_garbage(options, is_complete))
        say("go2heapsnapshot: note: %s: left out as garbage: %" PRIu64 " object%s, %s%s%s",
            input->name, garbage->unreachable_objects, plural_of(garbage->unreachable_objects),
            in_units(garbage->unreachable_bytes).text, option,
            has_cleanups ? "; what cleanups hold may be among them, which --exe would tell" : "");
}

/* Notes what the output leaves out or folds: garbage, what is not below --under, or else objects
 * that were folded, and bytes of arrays that are cut. Warns if DevTools would need much memory for
 * it, or if --max-nodes cannot be met. */
void message_size(const struct options *options, const struct g2h_input *input,
                  const struct g2h_graph *graph, const struct g2h_view *view)
{
    const struct g2h_view_account *account = g2h_view_account(view);
    const uint64_t nodes = messages_nodes(options, view);
    message_garbage(options, input, graph, view);
    if (account->is_under && !options->format->is_text)
        say("go2heapsnapshot: note: %s: under %s: %" PRIu64 " object%s, %s; held by %" PRIu64
            " object%s, %s; everything else: %" PRIu64 " object%s, %s",
            input->name, g2h_view_under(view), account->under_objects,
            plural_of(account->under_objects), in_units(account->under_bytes).text,
            account->holder_objects, plural_of(account->holder_objects),
            in_units(account->holder_bytes).text, account->else_objects,
            plural_of(account->else_objects), in_units(account->else_bytes).text);
    else if (account->folded_nodes > 0 && !account->is_under)
        say("go2heapsnapshot: note: %s: folded: %" PRIu64 " objects into %" PRIu64
            " nodes; there are %" PRIu64 " nodes now",
            input->name, account->folded_objects, account->folded_nodes, nodes);
    const struct g2h_output_options output = {sizeof(output),
                                              .largest_array = options->largest_array};
    const uint64_t cut = options->format->cut ? options->format->cut(view, &output) : 0;
    if (cut > 0)
        say("go2heapsnapshot: note: %s: left out: %s of arrays and stacks that %sthe dump lacks or "
            "the process never wrote to",
            input->name, in_units(cut).text,
            options->largest_array > 0 ? "are beyond --largest-array, or that " : "");
    if (options->max_nodes == 0 && options->format->is_for_devtools)
        warn_of_size(input, nodes);
    if (options->max_nodes > 0 && nodes > options->max_nodes) {
        char text[128];
        snprintf(text, sizeof(text), "it cannot be folded to fewer than %" PRIu64 " nodes", nodes);
        warn(input, text);
    }
}

/* Prints the sections of the account in the order of the steps: records, objects, stacks, the
 * executable, types, and the graph. */
void message_account(const struct options *options, const struct g2h_input *input,
                     const struct g2h_exe *exe, const struct g2h_graph *graph,
                     const struct g2h_view *view, const struct g2h_numbers_account *numbers)
{
    const struct g2h_heap *heap = g2h_view_heap(view);
    const struct g2h_account *account = g2h_heap_account(heap);
    const struct g2h_params *params = g2h_heap_params(heap);
    const char *version = g2h_heap_go_version(heap);
    const char *arch = *params->arch ? params->arch : "unknown architecture";
    const char *order = params->big_endian ? "big" : "little";
    say("%s: format go%s, %s%s%s, %u-bit %s-endian", input->name, g2h_heap_format(heap), version,
        *version ? " " : "", arch, (unsigned)params->pointer_size * 8, order);
    say("records");
    for (int kind = 0; kind < G2H_RECORD_KINDS; kind++)
        if (account->records[kind] > 0)
            line(g2h_record_kind_name((enum g2h_record_kind)kind), account->records[kind], "", "");
    line("bytes read", account->bytes_read, "bytes",
         account->bytes_read == input->size ? "all" : "");
    account_objects(heap);
    account_stacks(heap, graph);
    if (exe)
        account_exe(exe);
    account_types(graph);
    account_pointers(g2h_graph_account(graph));
    account_reachability(graph, heap);
    account_nodes(options, graph, view, numbers);
}

/* Adds to an error about memory how much there was and what limits it. Where nothing limits
 * addresses, malloc() does not fail: the kernel ends a program instead. */
void message_memory(void)
{
    char limit[ATTACH_LIMIT_TEXT] = "the machine has no more";
    const uint64_t peak = port_peak_memory();
    const struct in_units had = in_units(peak);
#ifdef __linux__
    attach_available_address_limit(limit);
#endif
    if (peak > 0 && had.text[0] != '\0') /* the text takes memory, too */
        say("go2heapsnapshot: note: it had up to %s of memory, mapped files included; for more "
            "addresses, %s. A dump alone (--format dump -z) takes least, without types (no --exe) "
            "it is half",
            had.text, limit);
}

/* Prints how often this program has waited for a page from a disk since it had done so `before`
 * times. */
void message_disk_faults(uint64_t before)
{
    say("memory");
    line("pages that a disk was waited for", port_disk_faults() - before, "", "major page faults");
}

/* Returns the reason why many bytes may have no type. */
static const char *why_untyped(const struct g2h_exe *exe)
{
    switch (g2h_exe_dwarf(exe)) {
    case G2H_EXE_DWARF_NONE:
        return g2h_exe_variable_count(exe) > 0
                   ? "an executable with DWARF would tell more"
                   : "an executable that is not stripped would tell more";
    default:
        return "-v says what is known of the others";
    }
}

/* Says how many types of the dump have other names in the executable. */
static void message_unfit(const struct g2h_input *input, const struct g2h_exe *exe)
{
    size_t all;
    const size_t unfit = g2h_exe_unfit_types(exe, &all);
    if (unfit > 0)
        say("go2heapsnapshot: warning: %s: %zu of %zu types have another name in %s, or are not in "
            "it: these are left out",
            input->name, unfit, all, g2h_exe_path(exe));
}

/* Reports which share of the live bytes has a type. Says why nothing is typed if there is no
 * account of types. The share is in tenths of a percent, rounded down; below 95 % the reason
 * follows. */
void message_typed(const struct g2h_input *input, const struct g2h_heap *heap,
                   const struct g2h_exe *exe, const struct g2h_graph *graph)
{
    const uint64_t much = 950; /* per mille */
    const struct g2h_type_account *account = g2h_graph_type_account(graph);
    if (!account) {
        if (!g2h_heap_is_complete(heap))
            say("go2heapsnapshot: %s: nothing typed: it is cut before what types are found by",
                input->name);
        else if (!has_own_types(heap))
            say("go2heapsnapshot: %s: nothing typed: %s has no types that can be read", input->name,
                g2h_exe_path(exe));
        return;
    }
    message_unfit(input, exe);
    const uint64_t all = account->all.living_bytes;
    const uint64_t typed = account->typed.living_bytes;
    const uint64_t share = all > 0 ? typed * 1000 / all : 0; /* rounded down: 100.0 is all */
    char reason[256] = "";
    if (share < much)
        snprintf(reason, sizeof(reason), "; %s", why_untyped(exe));
    say("go2heapsnapshot: %s: %" PRIu64 ".%" PRIu64 " %% of live bytes typed%s", input->name,
        share / 10, share % 10, reason);
}

/* Notes that fewer users may read the file now than before; nothing if it is new, or as before. */
void message_narrowed(const struct target *target)
{
    struct stat status;
    if (!target->exists || stat(target->name, &status) < 0 ||
        (target->status.st_mode & ~status.st_mode & 0777) == 0)
        return;
    say("go2heapsnapshot: note: %s: had permissions %03o and has %03o now, as no more users may "
        "read it than the dump",
        target->name, (unsigned)target->status.st_mode & 0777, (unsigned)status.st_mode & 0777);
}

/* Notes that a file has a name with which DevTools, which goes by the suffix, will not load it.
 * Says nothing of formats that are not for DevTools. */
void message_name(const struct g2h_format *format, const char *path, bool gzip)
{
    if (!format->is_for_devtools)
        return;
    char suffix[32];
    snprintf(suffix, sizeof(suffix), "%s%s", format->suffix, gzip ? ".gz" : "");
    if (bytes_end(bytes_of(path), suffix))
        return;
    say("go2heapsnapshot: note: %s: %s*%s", path,
        gzip ? "is compressed: DevTools wants it unpacked, and called "
             : "DevTools loads only what is called ",
        format->suffix);
}

/* Warns if the base is newer than the dump: by the times of their last collections or, if these are
 * not known and both are of one build, by how many collections there were. */
void message_base_order(const char *base, const struct g2h_input *input,
                        const struct collections *of_base, const struct collections *of_dump,
                        bool is_other)
{
    const bool has_times = of_base->last != 0 && of_dump->last != 0;
    if (has_times && of_base->last > of_dump->last)
        say("go2heapsnapshot: warning: %s: the base, %s, is newer: its last collection was %.1f s "
            "later; what is called growth is the reverse of what has happened",
            input->name, base, (double)(of_base->last - of_dump->last) / 1e9);
    else if (!has_times && !is_other && of_base->count > of_dump->count)
        say("go2heapsnapshot: warning: %s: the base, %s, is newer, or of another process: %" PRIu64
            " collections so far, here %" PRIu64,
            input->name, base, of_base->count, of_dump->count);
}

/* Says how many objects survived since the snapshot before. If more than MUCH percent are garbage,
 * notes that this is less certain of them. */
void message_survivors(const struct g2h_input *input, const struct g2h_input *before,
                       const struct g2h_identity *identity, const struct g2h_graph *graph,
                       const struct g2h_view *view)
{
    enum { MUCH = 25 /* percent */ };
    const struct g2h_identity_account *account = g2h_identity_account(identity);
    const uint64_t garbage =
        g2h_graph_account(graph)->unreachable_objects - g2h_view_account(view)->left_out_objects;
    say("go2heapsnapshot: %s: since %s %" PRIu64 " objects have survived, %" PRIu64
        " are gone, %" PRIu64 " are new, of these %" PRIu64 " in reused slots; %" PRIu64
        " undecided",
        input->name, before->name, account->survivors, account->gone,
        account->objects - account->survivors, account->reused_slots, account->undecided);
    if (garbage > account->objects / 100 * MUCH)
        say("go2heapsnapshot: note: %s: %" PRIu64 " of %" PRIu64 " objects are garbage, of which "
            "it is less certain what is new; runtime.GC() before WriteHeapDump() frees it",
            input->name, garbage, account->objects);
}

/* Prints how much memory of the process is resident, which is the number that top shows, and how
 * much of it objects take. */
static void account_memory(const struct g2h_process_account *account)
{
    const uint64_t slots = account->span_bytes - account->object_bytes,
                   spans = account->span_bytes + account->manual_bytes;
    say("memory of the process");
    line("read", account->memory_bytes, "bytes", "what is resident of it, but for code");
    line("objects", account->object_bytes, "bytes", "memstats HeapAlloc");
    line("free slots beside them", slots, "bytes", "in spans that have objects");
    line("stacks and the like", account->manual_bytes, "bytes", "with free ones");
    line("all else", account->memory_bytes > spans ? account->memory_bytes - spans : 0, "bytes",
         "free spans, the runtime, C, files");
}

/* Prints whether the copying threads had to wait for processors while a live process was paused. */
static void account_urgent(const struct g2h_process_account *account)
{
    static const char label[] = "SCHED_RR for what copies";
    if (account->stopped > 0 && account->urgent_error == 0)
        say("  %-34s %14s  no other program delays it", label, "granted");
    else if (account->stopped > 0)
        say("  %-34s %14s  %s: on a busy machine the process is paused for longer; "
            "CAP_SYS_NICE or ulimit -r 1 allows it",
            label, "refused", strerror(account->urgent_error));
}

/* Prints how a process was read, line by line. A line has a number, and a remark on what it means,
 * if there is one. */
void message_process_account(const struct origin *origin)
{
    const struct g2h_process_account *account = &origin->account;
    account_memory(account);
    say("how it was read");
    line("threads", account->threads, "", "");
    account_urgent(account);
    line("spans with objects", account->spans, "",
         account->by_dwarf ? "by DWARF" : "by the table of releases");
    line("  not swept yet", account->spans_unswept, "", "their objects are those that are marked");
    line("  not there", account->spans_missing, "", "");
    line("  with another count", account->spans_miscounted, "",
         "of objects than the runtime has: threads were in malloc");
    line("objects not there", account->objects_missing, "", "");
    line("objects scanned conservatively", account->masks_missing, "",
         "their pointers are not known: all words count");
    line("stack frames scanned so", account->frames_conservative, "", "or variables in them");
    line("goroutines that were running", account->goroutines_running, "",
         "their registers are (other roots)");
    if (account->is_dead)
        line("goroutines whose stack was scanned", account->goroutines_scanned, "",
             "their words are (other roots)");
    line("stacks that are not complete", account->stacks_incomplete, "", "");
    line("pointers in stack objects", account->stack_words, "",
         "that are alive; dumps do not list them");
    line("other words not there", account->words_missing, "", "");
}
