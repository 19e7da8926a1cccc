/*
 * watch: --watch, from the first snapshot to the report; see watch.h. The parts: values of options;
 * moments, when the next snapshot is due, and what ends the watch; beside, a second thread with
 * room for one waiting item; and snapshots: watch_take_snapshot() runs on the first thread,
 * convert_snapshot() on the second, so that a process can be read again while the last snapshot is
 * being converted.
 */
#include "cli/watch.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <go2heapsnapshot/go2heapsnapshot.h>

#include "base/error.h"
#include "base/port.h"
#include "cli/at_death.h"
#include "cli/messages.h"
#include "cli/terminal.h"

/* ---- values of options ---- */

/* Reads a number that may be followed by one letter, which multiplies it by its factor. Returns
 * false if there is none, anything follows, or the result is 0 or more than most. */
static bool parse_multiple(const char *text, const char *letters, const uint64_t *factors,
                           uint64_t most, uint64_t *ret)
{
    char *end;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    uint64_t factor = 1;
    if (text[0] < '0' || text[0] > '9' || errno != 0)
        return false;
    const char *letter = *end ? strchr(letters, *end) : NULL;
    if (letter) {
        factor = factors[letter - letters];
        end++;
    }
    if (*end || number == 0 || number > most / factor)
        return false;
    *ret = number * factor;
    return true;
}

/* Reads a time such as 30s, 5m, 2h or 1d, at most 30 days; a number alone is seconds. Returns false
 * if it is none. */
bool watch_parse_time(const char *text, uint64_t *ret_seconds)
{
    enum { MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR };
    static const uint64_t factors[] = {1, MINUTE, HOUR, DAY};
    return parse_multiple(text, "smhd", factors, 30 * DAY, ret_seconds);
}

/* Reads a size such as 500K, 64M or 2G, of powers of 1,024. Returns false if it is none. */
bool watch_parse_size(const char *text, uint64_t *ret_bytes)
{
    static const uint64_t factors[] = {1 << 10, 1 << 20, 1 << 30, 1 << 10, 1 << 20, 1 << 30};
    return parse_multiple(text, "KMGkmg", factors, INT64_MAX, ret_bytes);
}

/* ---- moments ---- */

/* When snapshots of a process are taken. */
struct moments {
    uint64_t pid, every;     /* pid: 0: a command is run; every: seconds */
    uint64_t image;          /* g2h_process_image() when it began */
    double begin;            /* of clock_seconds() */
    uint64_t due;            /* moments that have come so far */
    uint64_t missed;         /* those at which no snapshot was taken */
    struct g2h_ages *ages;   /* whose collections are watched meanwhile; NULL: they are not */
    struct g2h_error *error; /* of that; NULL: none */
};

static volatile sig_atomic_t is_stopped;

/* The handler of signals that end the watch: notes that one has come. The next signal of this kind
 * ends the program as usual. */
static void on_stop(int number)
{
    (void)number;
    is_stopped = 1;
}

/* Catches a signal once; after that its previous handler is back. */
static void catch_once(int number)
{
    struct sigaction before;
    struct sigaction own = {.sa_handler = on_stop, .sa_flags = SA_RESTART};
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &own, NULL);
}

/* Begins to watch a process every so often, in seconds. From now on SIGINT and SIGTERM do not end
 * the program, the first time, but moments_wait() returns false. Signals that the caller ignores
 * stay ignored. */
static void moments_begin(uint64_t pid, uint64_t every, struct moments *ret)
{
    *ret = (struct moments){.pid = pid, .every = every, .begin = clock_seconds(), .due = 1};
    if (pid != 0)
        ret->image = g2h_process_image(pid);
    catch_once(SIGINT);
    catch_once(SIGTERM);
}

/* Returns whether the process has ended, or runs another program. */
static bool moments_have_ended(const struct moments *moments)
{
    return moments->pid != 0 && g2h_process_image(moments->pid) != moments->image;
}

/* Waits for less than a second, or until a signal comes; meanwhile the collections are watched, if
 * they are, whose error becomes moments->error. */
static void moments_pause(struct moments *moments, double seconds)
{
    const struct timespec pause = {.tv_nsec = (long)(seconds * 1e9)};
    assert(seconds < 1);
    if (moments->ages)
        moments->error = g2h_ages_watch(moments->ages, seconds, NULL);
    else
        nanosleep(&pause, NULL);
}

/* Waits for the next moment; those that have passed since the last one count as missed. Returns
 * false, within a tenth of a second, if the process ends or runs another program, if its
 * collections cannot be watched any more, if a signal came, or if *is_over, which another thread
 * may set. */
static bool moments_wait(struct moments *moments, const atomic_bool *is_over)
{
    const double every = (double)moments->every;
    const double passed = clock_seconds() - moments->begin;
    const uint64_t next = (uint64_t)(passed / every) + 1;
    if (next > moments->due) {
        moments->missed += next - moments->due;
        moments->due = next;
    }
    const double until = moments->begin + (double)moments->due * every;
    for (double left; !is_stopped && !*is_over && (left = until - clock_seconds()) > 0;) {
        moments_pause(moments, MIN(left, 0.1));
        if (moments->error || moments_have_ended(moments))
            return false;
    }
    moments->due++;
    return !is_stopped && !*is_over;
}

/* ---- a second thread ---- */

/* Processes an item and frees it. */
typedef void beside_work(void *context, void *item);

/* A thread that processes one item after the other, in parallel with the caller's. At most one item
 * waits while another one is processed, so that memory is bounded. */
struct beside {
    beside_work *work;
    void *context;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void *waiting; /* NULL: none */
    bool is_busy;  /* an item is being processed */
    bool is_over;  /* no more items will come */
};

/* Removes and returns the item that waits, or waits for one. Returns NULL if no more will come. */
static void *beside_next(struct beside *beside)
{
    pthread_mutex_lock(&beside->lock);
    beside->is_busy = false;
    pthread_cond_broadcast(&beside->changed);
    while (!beside->waiting && !beside->is_over)
        pthread_cond_wait(&beside->changed, &beside->lock);
    void *item = beside->waiting;
    beside->waiting = NULL;
    beside->is_busy = item != NULL;
    pthread_mutex_unlock(&beside->lock);
    return item;
}

/* The body of the second thread: processes items until no more will come. */
static void *beside_run(void *argument)
{
    struct beside *beside = argument;
    for (void *item; (item = beside_next(beside));)
        beside->work(beside->context, item);
    return NULL;
}

/* Blocks all signals but those of errors, so that the thread that is created next inherits that,
 * and signals of users go to the first thread. */
static void beside_block_signals(sigset_t *ret_before)
{
    sigset_t signals;
    sigfillset(&signals);
    sigdelset(&signals, SIGBUS);
    sigdelset(&signals, SIGSEGV);
    pthread_sigmask(SIG_BLOCK, &signals, ret_before);
}

/* Starts the thread, in which signals are blocked. Returns 0 or an error number; after 0 the caller
 * calls beside_end(). */
static int beside_begin(beside_work *work, void *context, struct beside *ret)
{
    sigset_t before;
    *ret = (struct beside){.work = work, .context = context};
    pthread_mutex_init(&ret->lock, NULL);
    pthread_cond_init(&ret->changed, NULL);
    beside_block_signals(&before);
    const int error = pthread_create(&ret->thread, NULL, beside_run, ret);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        pthread_cond_destroy(&ret->changed);
        pthread_mutex_destroy(&ret->lock);
    }
    return error;
}

/* Returns whether an item can be given: none waits. */
static bool beside_has_room(struct beside *beside)
{
    pthread_mutex_lock(&beside->lock);
    const bool has_room = !beside->waiting;
    pthread_mutex_unlock(&beside->lock);
    return has_room;
}

/* Returns whether no item waits or is being processed. */
static bool beside_is_idle(struct beside *beside)
{
    pthread_mutex_lock(&beside->lock);
    const bool is_idle = !beside->waiting && !beside->is_busy;
    pthread_mutex_unlock(&beside->lock);
    return is_idle;
}

/* Gives an item to the second thread, which must have room for it. */
static void beside_give(struct beside *beside, void *item)
{
    pthread_mutex_lock(&beside->lock);
    assert(!beside->waiting);
    beside->waiting = item;
    pthread_cond_broadcast(&beside->changed);
    pthread_mutex_unlock(&beside->lock);
}

/* Waits until all items have been processed. */
static void beside_wait(struct beside *beside)
{
    pthread_mutex_lock(&beside->lock);
    while (beside->waiting || beside->is_busy)
        pthread_cond_wait(&beside->changed, &beside->lock);
    pthread_mutex_unlock(&beside->lock);
}

/* Waits until all items have been processed, and ends the thread. */
static void beside_end(struct beside *beside)
{
    beside_wait(beside);
    pthread_mutex_lock(&beside->lock);
    beside->is_over = true;
    pthread_cond_broadcast(&beside->changed);
    pthread_mutex_unlock(&beside->lock);
    pthread_join(beside->thread, NULL);
    pthread_cond_destroy(&beside->changed);
    pthread_mutex_destroy(&beside->lock);
}

/* ---- snapshots ---- */

enum { MOST_FAILED = 3 /* in a row */ };

/* A watched process. Its snapshots are converted in another thread than they are taken in. */
struct watching {
    const struct options *options;
    struct options first, quiet; /* the same, of the first snapshot, and of all others */
    struct origin origin;        /* of the process, if its ages are watched: its executable; */
    struct g2h_ages *ages;       /* and the ages; NULL: they are not */
    struct series *series;
    const struct g2h_output_options *output_options;
    struct outcome *outcome;
    struct moments moments;
    struct beside beside;
    uint64_t taken;      /* snapshots that were passed on */
    bool said_missed;    /* that moments are missed has been said */
    bool said_interval;  /* and which interval would do */
    atomic_uint longest; /* milliseconds that a snapshot, or its conversion, took at most */
    atomic_ullong done;  /* snapshots that were converted */
    atomic_uint failed;  /* that failed since the last one that did not */
    atomic_bool is_over; /* the snapshots so far end the watch */
    pthread_mutex_t lock;
    struct g2h_error *error; /* that ends the watch, under the lock; NULL: none */
};

/* A snapshot that waits for its conversion. */
struct snapshot {
    const struct options *options;
    struct pipeline conversion;
    int64_t now;
    uint64_t limit, left; /* of memory */
};

/* Returns the source of a snapshot of a watched process. */
static const char *snapshot_name(const struct options *options, const struct pipeline *conversion)
{
    return options->command ? options->command : conversion->origin.input->name;
}

/* Forgets every second heap of a page with trends if there are as many as a page can have. */
static void thin_out(struct series *series)
{
    enum { MOST_TRENDS = 200 }; /* as check_series() allows */
    size_t kept = 0;
    if (series->bases.count < MOST_TRENDS)
        return;
    for (size_t i = 0; i < series->bases.count; i++)
        if (i % 2 == 0) {
            series->times.data[kept] = series->times.data[i];
            series->bases.data[kept++] = series->bases.data[i];
        } else {
            g2h_base_destroy(series->bases.data[i]);
        }
    series->bases.count = series->times.count = kept;
}

/* Reports the last snapshot of a watched process: as JSON in the output, else on standard error. */
static struct g2h_error *write_last(const struct options *options, const struct g2h_trend *trend,
                                    const struct g2h_output_options *output_options,
                                    const struct pipeline *conversion)
{
    struct g2h_output_options to = *output_options;
    if (!options->json) {
        to.fd = STDERR_FILENO;
        to.name = "standard error";
        to.gzip = false;
    }
    progress_clear();
    return g2h_write_trend_last(trend, options->pid != 0 ? conversion->origin.account.stopped : -1,
                                &to);
}

/* Replaces the page of a watch by its current state, and keeps the heap's names and numbers for the
 * next one. */
static struct g2h_error *write_page(const struct options *options, struct series *series,
                                    const struct g2h_output_options *output_options,
                                    const struct pipeline *conversion, int64_t time)
{
    struct g2h_html_options html = {.size = sizeof(html)};
    struct g2h_output_options to = *output_options;
    struct g2h_report_options report = *output_options->report;
    struct g2h_base *base;
    TRY_MEMORY(series_set_html(series, time, &html));
    if (series->bases.count > 0)
        report.base = series->bases.data[0];
    to.html = &html;
    to.report = &report;
    to.source = snapshot_name(options, conversion);
    to.program = options->exe;
    to.memory = &conversion->origin.memory;
    if (ftruncate(to.fd, 0) != 0 || lseek(to.fd, 0, SEEK_SET) != 0)
        return error_system(errno, "%s", to.name);
    TRY(g2h_write(options->format, conversion->view, &to));
    TRY_MEMORY(vector_grow(&series->bases, 1));
    TRY(g2h_base_create(conversion->view, to.source, options->threads, &base));
    series->bases.data[series->bases.count++] = base;
    series->times.count++; /* series_set_html() has put it there */
    thin_out(series);
    return NULL;
}

/* Frees a snapshot with all steps that it has taken. */
static void snapshot_destroy(struct snapshot *snapshot)
{
    pipeline_deinit(&snapshot->conversion);
    free(snapshot);
}

static void snapshot_cleanup(struct snapshot **snapshot)
{
    if (*snapshot)
        snapshot_destroy(*snapshot);
}

/* Takes a snapshot of a watched process. */
static struct g2h_error *watch_take_snapshot(const struct options *options, struct snapshot **ret)
{
    _cleanup_(snapshot_cleanup) struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
    TRY_MEMORY(snapshot);
    snapshot->options = options;
    snapshot->now = clock_since_1970();
    if (options->pid != 0)
        snapshot->limit = g2h_process_limit(options->pid, &snapshot->left);
    TRY(conversion_capture(options, NULL, progress_start(), NULL, &snapshot->conversion));
    *ret = take_pointer(snapshot);
    return NULL;
}

/* Converts a snapshot, adds it to the trend, and reports it, with the page anew if there is one.
 * Only its numbers and names are kept, unless the user wants the first and the last dump. */
static struct g2h_error *add_snapshot(const struct watching *watching, struct snapshot *snapshot)
{
    static const struct outputs none = {.name = "standard output"};
    const struct options *options = snapshot->options;
    struct series *series = watching->series;
    const struct conversion_context context = {&none, NULL};
    const struct pipeline_options steps = conversion_options(options, series, &context);
    struct pipeline *conversion = &snapshot->conversion;
    TRY(keep_dump(&series->keep, conversion->origin.input));
    TRY(pipeline_load(conversion, options->threads, NULL));
    if (!options->is_quiet)
        message_warnings(&conversion->origin, conversion->heap);
    TRY(conversion_match(options, series, &steps, conversion));
    TRY(conversion_build(options, series, &steps, conversion));
    if (series->base_files.count == 0)
        TRY_MEMORY(vector_push(&series->base_files, *g2h_input_status(conversion->origin.input)));
    TRY(g2h_trend_add(series->trend, conversion->view, snapshot_name(options, conversion),
                      snapshot->now, options->threads));
    g2h_trend_set_limit(series->trend, snapshot->limit, snapshot->left);
    g2h_trend_set_memory(series->trend, &snapshot->conversion.origin.memory);
    watching->outcome->complete = watching->outcome->complete && conversion_is_whole(conversion);
    TRY(write_last(options, series->trend, watching->output_options, conversion));
    return options_show_trends(options)
               ? write_page(options, series, watching->output_options, conversion, snapshot->now)
               : NULL;
}

/* Returns whether a watched process has grown by the bytes of --until-growth. */
static bool has_grown(const struct options *options, const struct g2h_trend *trend)
{
    return options->until_growth > 0 && g2h_trend_growth(trend) >= (int64_t)options->until_growth;
}

/* Ends the watch with an error. Takes over the error. */
static void end_watch(struct watching *watching, struct g2h_error *error)
{
    pthread_mutex_lock(&watching->lock);
    if (watching->error)
        g2h_error_destroy(error);
    else
        watching->error = error;
    pthread_mutex_unlock(&watching->lock);
    watching->is_over = true;
}

/* Records that a snapshot failed, and takes over the error. The snapshot is left out, because the
 * process may be short of memory at this moment. Only if it is the first one, or this program is
 * out of memory, does the watch end with the error. If it counts, it is one more in a row, and
 * after MOST_FAILED of them the watch ends too, without an error. */
static void note_failed(struct watching *watching, struct g2h_error *error, bool is_first,
                        bool counts)
{
    if (is_first || error->code == G2H_ERROR_MEMORY) {
        end_watch(watching, error);
        return;
    }
    message_error(error);
    g2h_error_destroy(error);
    if (counts && ++watching->failed >= MOST_FAILED)
        watching->is_over = true;
}

/* Notes for how long a snapshot was taken or converted: the longer of both is what the interval
 * needs, as they run side by side. */
static void note_duration(struct watching *watching, double begin)
{
    const unsigned milliseconds = (unsigned)((clock_seconds() - begin) * 1e3);
    unsigned longest = watching->longest;
    while (longest < milliseconds &&
           !atomic_compare_exchange_weak(&watching->longest, &longest, milliseconds))
        ;
}

/* Converts a snapshot, in parallel with the thread that takes them. If it comes after the end of
 * the watch, only the dump is kept, unless the process had grown as much as --until-growth says:
 * then the one before is the last. */
static void convert_snapshot(void *context, void *item)
{
    struct watching *watching = context;
    struct snapshot *snapshot = item;
    const bool is_late = watching->is_over;
    const double begin = clock_seconds();
    struct g2h_error *error = NULL;
    if (!is_late)
        error = add_snapshot(watching, snapshot);
    else if (!has_grown(watching->options, watching->series->trend))
        error = keep_dump(&watching->series->keep, snapshot->conversion.origin.input);
    if (error) {
        note_failed(watching, error, watching->done == 0, true);
    } else if (!is_late) {
        watching->failed = 0;
        watching->done++;
        if (has_grown(watching->options, watching->series->trend))
            watching->is_over = true;
    }
    series_end(watching->series, &snapshot->conversion);
    snapshot_destroy(snapshot);
    note_duration(watching, begin);
}

/* Returns whether the process has ended. While the guard of --at-death copies it, it is still
 * there. */
static bool watching_have_ended(const struct watching *watching)
{
    const struct guard *guard = watching->options->guard;
    return moments_have_ended(&watching->moments) || (guard && guard_has_ended(guard));
}

/* Takes the snapshot of this moment, and passes it on to be converted. Returns false if the process
 * has ended; after another failure true, as note_failed() decides whether the watch goes on. */
static bool take_next(struct watching *watching)
{
    const bool is_alone = beside_is_idle(&watching->beside);
    const double begin = clock_seconds();
    struct snapshot *snapshot = NULL;
    struct g2h_error *error =
        watch_take_snapshot(watching->taken > 0 ? &watching->quiet : &watching->first, &snapshot);
    note_duration(watching, begin);
    if (!error) {
        watching->taken++;
        beside_give(&watching->beside, snapshot);
        return true;
    }
    if (watching->taken > 0 && watching_have_ended(watching)) {
        g2h_error_destroy(error);
        return false;
    }
    note_failed(watching, error, watching->taken == 0, is_alone);
    return true;
}

/* Returns whether there are as many snapshots as --count asks for. Those that are not converted yet
 * may fail: waits for them if all are needed. */
static bool has_all(struct watching *watching)
{
    const uint64_t count = watching->options->count;
    if (count == 0 || watching->taken < count)
        return false;
    beside_wait(&watching->beside);
    return watching->done >= count;
}

/* Returns an interval in seconds at which no snapshot that takes so many milliseconds is missed,
 * with half of that to spare, rounded up: below 10 s to seconds, below a minute to 5 s, below ten
 * minutes to 30 s, else to minutes. */
static unsigned long long enough_seconds(unsigned milliseconds)
{
    enum { MINUTE = 60, SECOND = 1000 };
    const unsigned long long seconds = milliseconds * 3ull / 2 / SECOND + 1;
    unsigned long long step = MINUTE;
    if (seconds < MINUTE / 6)
        step = 1;
    else if (seconds < MINUTE)
        step = MINUTE / 12;
    else if (seconds < 10ull * MINUTE)
        step = MINUTE / 2;
    return (seconds + step - 1) / step * step;
}

/* Says once that moments were missed, and once which interval would do, when a snapshot has taken
 * longer than the interval. */
static void say_missed(struct watching *watching)
{
    const unsigned milliseconds = watching->longest;
    if (watching->moments.missed == 0)
        return;
    if (!watching->said_missed)
        say("go2heapsnapshot: note: a snapshot was missed: the one before took longer than %llu s",
            (unsigned long long)watching->options->watch);
    watching->said_missed = true;
    if (watching->said_interval || milliseconds < watching->options->watch * 1000)
        return;
    say("go2heapsnapshot: note: a snapshot takes %.0f s here: use --watch %llus",
        (double)milliseconds / 1e3, enough_seconds(milliseconds));
    watching->said_interval = true;
}

/* Reports at the end how many moments were missed in all. */
static void say_all_missed(const struct watching *watching)
{
    const uint64_t missed = watching->moments.missed;
    if (missed > 0)
        say("go2heapsnapshot: note: %llu snapshot%s missed", (unsigned long long)missed,
            missed == 1 ? " was" : "s were");
}

/* Takes snapshots of a process until there are enough, or a signal comes, or the process ends. A
 * snapshot is missed if another one is still waiting to be converted. */
static void take_snapshots(struct watching *watching)
{
    do {
        say_missed(watching);
        if (!beside_has_room(&watching->beside)) {
            watching->moments.missed++;
            say_missed(watching);
        } else if (!take_next(watching)) {
            return;
        }
    } while (!watching->is_over && !has_all(watching) &&
             moments_wait(&watching->moments, &watching->is_over));
}

static void watching_deinit(struct watching *watching)
{
    g2h_ages_destroy(watching->ages);
    g2h_exe_close(watching->origin.exe);
    origin_deinit(&watching->origin);
}

/* Begins to watch the collections of the process, for as long as --ages says before the first
 * snapshot. */
static struct g2h_error *watching_begin_ages(struct watching *watching)
{
    const struct options *options = watching->options;
    const struct origin_options origin = {.pid = options->pid, .exe = options->exe};
    TRY(origin_open_program(&origin, &watching->origin));
    TRY(g2h_ages_begin(options->pid, watching->origin.exe, &watching->ages));
    watching->first.aged = watching->quiet.aged = watching->ages;
    struct g2h_error *error =
        g2h_ages_watch(watching->ages, (double)options->ages, progress_start());
    progress_clear();
    return error;
}

/* Ends the watch of collections. Their error matters only if the process goes on. */
static struct g2h_error *watching_end_ages(struct watching *watching)
{
    struct g2h_error *error = watching->moments.error;
    _cleanup_(text_deinit) struct text name = {0};
    if (error && watching_have_ended(watching)) {
        g2h_error_destroy(error);
        error = NULL;
    }
    text_printf(&name, "process %llu", (unsigned long long)watching->options->pid);
    text_append(&name, "", 1);
    if (!name.failed)
        message_ages(watching->ages, name.data);
    return error;
}

/* Watches a process, and takes snapshots until the watch ends. Snapshots are taken by this thread,
 * and converted by a second one beside it, so that a conversion does not delay the next snapshot.
 * An error of either ends the watch as long as no snapshot has succeeded, or if memory has run out;
 * others are said, and end the watch if there are MOST_FAILED in a row. */
struct g2h_error *watch_process(const struct options *options, struct series *series,
                                const struct g2h_output_options *output_options,
                                struct outcome *outcome)
{
    _cleanup_(watching_deinit) struct watching watching = {.options = options,
                                                           .first = *options,
                                                           .quiet = *options,
                                                           .series = series,
                                                           .output_options = output_options,
                                                           .outcome = outcome,
                                                           .lock = PTHREAD_MUTEX_INITIALIZER};
    watching.quiet.is_quiet = true;
    if (options->ages > 0)
        TRY(watching_begin_ages(&watching));
    moments_begin(options->pid, options->watch, &watching.moments);
    watching.moments.ages = watching.ages;
    const int number = beside_begin(convert_snapshot, &watching, &watching.beside);
    if (number != 0)
        return error_system(number, "cannot start a thread");
    take_snapshots(&watching);
    beside_end(&watching.beside);
    say_missed(&watching);
    say_all_missed(&watching);
    struct g2h_error *error = watching_end_ages(&watching);
    if (watching.error) {
        g2h_error_destroy(error);
        return watching.error;
    }
    TRY(error);
    if (watching.failed >= MOST_FAILED) {
        say("go2heapsnapshot: %d snapshots in a row have failed, which ends the watch",
            MOST_FAILED);
        outcome->is_failed = true;
    }
    if (moments_have_ended(&watching.moments))
        say("go2heapsnapshot: note: process %llu has ended, or runs another program",
            (unsigned long long)options->pid);
    return NULL;
}
