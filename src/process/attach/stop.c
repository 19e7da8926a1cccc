/*
 * stop: stops all threads of a process and lets them continue; see stop.h. Only the thread that has
 * seized others by ptrace(2) may use them, so a tracer thread does all of that (trace), and the
 * caller sets flags for it: may_go, may_end. The two parts before have the kernel end this program
 * if it stands still while it holds a process (watchdog), and give its threads real-time priority
 * meanwhile (attach_urgent).
 */
#include "process/attach/stop.h"

#include <stdbool.h>

#ifdef __linux__
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/elf_format.h"
#include "base/error.h"
#include "base/map.h"
#include "base/port.h"
#include "process/attach/procfs.h"
#endif

/* ==== has the kernel end this program if it stands still while it may hold a process ==== */

#ifdef __linux__

static struct {
    timer_t timer;
    bool is_set, is_last;
} watchdog;

static void watchdog_set(unsigned seconds)
{
    const struct itimerspec left = {.it_value = {.tv_sec = (time_t)seconds}};
    (void)timer_settime(watchdog.timer, 0, &left, NULL);
}

/* Starts a timer that ends this program if it hangs. The timer's signal is SIGKILL, so that this
 * program cannot hang while it stops others, and the kernel lets them go. Returns false if no timer
 * can be made. */
bool watchdog_begin(unsigned seconds)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    if (!watchdog.is_set)
        watchdog.is_set = timer_create(CLOCK_MONOTONIC, &event, &watchdog.timer) == 0;
    watchdog.is_last = false;
    if (watchdog.is_set)
        watchdog_set(seconds);
    return watchdog.is_set;
}

void watchdog_beat(void)
{
    if (watchdog.is_set && !watchdog.is_last)
        watchdog_set(WATCHDOG_SECONDS);
}

void watchdog_last(unsigned seconds)
{
    if (watchdog_begin(seconds))
        watchdog.is_last = true;
}

void watchdog_end(void)
{
    if (watchdog.is_set)
        (void)timer_delete(watchdog.timer);
    watchdog.is_set = false;
}

#else

bool watchdog_begin(unsigned seconds)
{
    (void)seconds;
    return false;
}

void watchdog_beat(void)
{
}

void watchdog_last(unsigned seconds)
{
    (void)seconds;
}

void watchdog_end(void)
{
}

#endif

#ifdef __linux__

/* ==== threads that do not wait for a processor while a process is stopped ==== */

/* Sets the scheduling policy of the calling thread. The C library's functions of these names are
 * for processes by POSIX, and musl does not implement them. The kernel's are for threads; 0 is the
 * caller's. Returns 0 or an errno value. */
static int set_policy(int policy, int priority)
{
    const struct sched_param parameters = {.sched_priority = priority};
    return syscall(SYS_sched_setscheduler, 0, policy, &parameters) < 0 ? errno : 0;
}

/* Reads the scheduling policy of the calling thread. Returns false if that fails. */
static bool read_policy(int *ret_policy, int *ret_priority)
{
    struct sched_param parameters;
    const long policy = syscall(SYS_sched_getscheduler, 0);
    if (policy < 0 || syscall(SYS_sched_getparam, 0, &parameters) < 0)
        return false;
    *ret_policy = (int)policy;
    *ret_priority = parameters.sched_priority;
    return true;
}

static int lowest(void)
{
    return sched_get_priority_min(SCHED_RR);
}

/* Returns whether a policy is one without urgency. A thread of another policy is already urgent, as
 * its user wished. */
static bool is_usual(int policy)
{
    const int kind = policy & ~SCHED_RESET_ON_FORK;
    return kind == SCHED_OTHER || kind == SCHED_BATCH || kind == SCHED_IDLE;
}

/* Gives this thread real-time priority, unless it has a policy of its own, so that it runs at once
 * when the process has been stopped, on a busy machine, too. SCHED_RESET_ON_FORK keeps it from
 * other threads. Returns 0 or an errno value: EPERM if it may not. */
int attach_urgent_begin(struct attach_urgent *ret)
{
    *ret = (struct attach_urgent){0};
    if (!read_policy(&ret->policy, &ret->priority))
        return errno;
    if (!is_usual(ret->policy))
        return 0;
    const int error = set_policy(SCHED_RR | SCHED_RESET_ON_FORK, lowest());
    ret->is_urgent = error == 0;
    return error;
}

/* Schedules the thread as before; does nothing if it was not made urgent. */
void attach_urgent_end(const struct attach_urgent *urgent)
{
    /* Without CAP_SYS_NICE, SCHED_RESET_ON_FORK cannot be removed; it does nothing to a thread that
     * is not urgent. */
    if (urgent->is_urgent && set_policy(urgent->policy, urgent->priority) != 0)
        (void)set_policy(urgent->policy | SCHED_RESET_ON_FORK, urgent->priority);
}

/* Starts a thread that has the policy before it runs. If it had to set the policy itself, it would
 * first wait for a processor like any other. Returns 0 or an errno value. */
static int start_urgent(pthread_t *ret, void *(*body)(void *), void *argument)
{
    const struct sched_param parameters = {.sched_priority = lowest()};
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error != 0)
        return error;
    error = pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    if (error == 0)
        error = pthread_attr_setschedpolicy(&attributes, SCHED_RR);
    if (error == 0)
        error = pthread_attr_setschedparam(&attributes, &parameters);
    if (error == 0)
        error = pthread_create(ret, &attributes, body, argument);
    pthread_attr_destroy(&attributes);
    return error;
}

/* Starts a thread, urgent from its first instruction if the system allows that. Returns 0 or an
 * errno value. */
int attach_urgent_start(pthread_t *ret, void *(*body)(void *), void *argument)
{
    return start_urgent(ret, body, argument) == 0 ? 0 : pthread_create(ret, NULL, body, argument);
}

/* Makes the caller's thread, which attach_urgent_start() has started, start no urgent ones. */
void attach_urgent_confine(void)
{
    int policy, priority;
    if (read_policy(&policy, &priority) && policy == SCHED_RR)
        (void)set_policy(SCHED_RR | SCHED_RESET_ON_FORK, priority);
}

/* ==== stops all threads of a process, and lets them continue as if nothing had happened ====
 *
 * The terms are those of ptrace(2).
 */

/*
 * How long, in seconds, a thread may take to stop. Usually it takes microseconds; on a busy
 * machine, as long as the thread waits for a processor. A thread that waits for a disk or another
 * device ("D" in ps) may take forever; the process's memory does not change because of it, for the
 * thread stops before it returns from the kernel.
 */
#define PATIENCE_IN_KERNEL 0.5

#define PATIENCE 10.0

/* How often the tracer checks whether a child may stay, in nanoseconds. */
#define GUARD_PAUSE 10000000

/* Rounds without a new thread after which all are known: a thread that ends may hide another from
 * a listing of the directory. */
enum { QUIET_ROUNDS = 2 };

/* The state of a tracer; the lock guards the fields that both threads use. */
struct attach_tracer {
    uint64_t pid;
    struct attach_fork *fork; /* NULL: no fork requested */
    struct attach_stop *stop;
    VECTOR(struct tracee) tracees;
    struct map by_id; /* from a thread's id to its tracee */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_ready; /* the threads are stopped, or error says why not */
    bool may_go;   /* set by the caller: they may continue */
    bool has_gone; /* they do */
    bool may_end;  /* set by the caller: the child may end */
    int error;     /* valid once is_ready */
};

/* ---- threads of the process ---- */

/* Becomes the tracer of a thread, but does not stop it yet. Returns 0 or an errno value; 0 also if
 * the thread has ended. */
static int stop_seize(const struct attach_tracer *tracer, struct tracee *tracee)
{
    if (ptrace(PTRACE_SEIZE, tracee->id, NULL, NULL) == 0) {
        tracee->state = TRACEE_RUNNING;
        return 0;
    }
    const int error = errno;
    return error == ESRCH || procfs_has_exited(tracer->pid, (uint64_t)tracee->id) ? 0 : error;
}

/* Seizes a thread unless that has been done. A new thread may have the id of a thread that has
 * ended. Returns 0 or an errno value. */
static int seize_new(struct attach_tracer *tracer, pid_t id)
{
    const struct tracee fresh = {id, TRACEE_ENDED, 0, false};
    uint32_t index;
    if (!map_put(&tracer->by_id, (uint64_t)id, as_u32(tracer->tracees.count), &index) ||
        (index == tracer->tracees.count && !vector_push(&tracer->tracees, fresh)))
        return ENOMEM;
    struct tracee *tracee = &tracer->tracees.data[index];
    return tracee->state == TRACEE_ENDED ? stop_seize(tracer, tracee) : 0;
}

/* Seizes all threads that are not seized yet. Returns 0 or an errno value. */
static int seize_all(struct attach_tracer *tracer)
{
    _cleanup_(procfs_close) DIR *tasks = opendir(procfs_path(tracer->pid, "task").text);
    int error = 0;
    if (!tasks)
        return errno == ENOENT ? ESRCH : errno;
    for (uint64_t id; error == 0 && (id = procfs_next_number(tasks)) != 0;)
        error = id <= INT32_MAX ? seize_new(tracer, as_pid(id)) : 0;
    return error;
}

/* ---- stopping ---- */

/*
 * Checks whether a thread has stopped or ended. WNOWAIT leaves a signal at which the thread has
 * stopped with the kernel; otherwise only this program would have it, and it would be lost if this
 * program were killed. But a thread that has ended must be reaped: if it ended because of an
 * execve(2), that call waits for it. The end of the first thread is left to the process's parent.
 */
static void check_thread(const struct attach_tracer *tracer, struct tracee *tracee)
{
    siginfo_t info = {0};
    const int flags = WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL;
    const int result = waitid(P_PID, (id_t)tracee->id, &info, flags);
    if (result == 0 && info.si_pid == 0)
        return;
    if (result == 0 && info.si_code == CLD_TRAPPED) {
        tracee->state = TRACEE_STOPPED;
        /* With an event, the thread was stopped by PTRACE_INTERRUPT or before; without one, it
         * stopped at a signal. */
        tracee->signal = info.si_status >> 8 == 0 ? info.si_status : 0;
        tracee->is_group_stop = info.si_status >> 8 != 0 && (info.si_status & 0xff) != SIGTRAP;
        return;
    }
    tracee->state = TRACEE_ENDED;
    if ((uint64_t)tracee->id != tracer->pid)
        (void)waitid(P_PID, (id_t)tracee->id, &info, WEXITED | WNOHANG | __WALL);
}

/* Checks the threads that still run. Returns how many are left. */
static size_t check_running_threads(struct attach_tracer *tracer)
{
    size_t running = 0;
    VECTOR_EACH(struct tracee, tracee, tracer->tracees) {
        if (tracee->state == TRACEE_RUNNING)
            check_thread(tracer, tracee);
        running += tracee->state == TRACEE_RUNNING;
    }
    return running;
}

/* Returns whether a thread waits in the kernel until a child has called exec or ended: only
 * vfork(2) waits this way, among the calls that make children. */
static bool is_in_vfork(const struct attach_tracer *tracer, pid_t id)
{
    char path[64];
    _cleanup_(text_deinit) struct text call = {0};
    uint64_t number;
    snprintf(path, sizeof(path), "/proc/%llu/task/%d/syscall", (unsigned long long)tracer->pid, id);
    const char *at = procfs_read(path, &call) == 0 ? call.data : NULL;
    if (!at || !procfs_take_number(&at, 10, &number))
        return false;
#ifdef SYS_vfork
    if (number == SYS_vfork)
        return true;
#endif
#ifdef SYS_clone3
    if (number == SYS_clone3)
        return true;
#endif
    return number == SYS_clone;
}

/* Gives up the threads that are in an uninterruptible wait in the kernel. */
static void give_up_stuck(struct attach_tracer *tracer)
{
    VECTOR_EACH(struct tracee, tracee, tracer->tracees) {
        if (tracee->state == TRACEE_RUNNING &&
            procfs_thread_state(tracer->pid, (uint64_t)tracee->id) == 'D') {
            tracee->state = TRACEE_STUCK;
            tracer->stop->stuck++;
            tracer->stop->in_vfork += is_in_vfork(tracer, tracee->id);
        }
    }
}

/* Waits until all threads have stopped. Returns 0 or ETIMEDOUT. Threads that do not stop in the
 * kernel are given up after PATIENCE_IN_KERNEL seconds. */
static int await_stops(struct attach_tracer *tracer)
{
    const double start = clock_seconds();
    for (long pause = 10000; check_running_threads(tracer) > 0;) {
        const double waited = clock_seconds() - start;
        if (waited > PATIENCE)
            return ETIMEDOUT;
        if (waited > PATIENCE_IN_KERNEL)
            give_up_stuck(tracer);
        nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
        pause = pause < 1000000 ? pause * 2 : pause;
    }
    return 0;
}

/* Interrupts all running threads. Returns their number. */
static size_t interrupt_all(struct attach_tracer *tracer)
{
    size_t running = 0;
    VECTOR_EACH(const struct tracee, tracee, tracer->tracees) {
        if (tracee->state != TRACEE_RUNNING)
            continue;
        running++;
        /* This fails for a thread that has ended meanwhile, which check_thread() notices. */
        (void)ptrace(PTRACE_INTERRUPT, tracee->id, NULL, NULL);
    }
    return running;
}

/* Stops all threads. Running threads may start others, and hide some from the directory's listing:
 * the rounds go on until no new ones are found. Returns 0 or an errno value. */
static int stop_all(struct attach_tracer *tracer)
{
    int error = 0;
    for (unsigned quiet = 0; quiet < QUIET_ROUNDS && error == 0;) {
        error = seize_all(tracer);
        if (error == 0 && interrupt_all(tracer) > 0) {
            quiet = 0;
            error = await_stops(tracer);
        } else {
            quiet++;
        }
    }
    return error;
}

/* ---- registers ---- */

/* Reads the registers of a stopped thread. Returns false if memory runs out. */
static bool stop_read_registers(struct tracee *tracee, struct attach_threads *threads)
{
    struct process_thread thread = {.id = (uint64_t)tracee->id};
    struct iovec registers = {thread.registers, sizeof(thread.registers)};
    if (ptrace(PTRACE_GETREGSET, tracee->id, as_pointer(NT_PRSTATUS), &registers) < 0) {
        tracee->state = TRACEE_ENDED; /* the thread was killed: nothing else ends a stop */
        return true;
    }
    thread.count = (unsigned)(registers.iov_len / sizeof(*thread.registers));
    return vector_push(threads, thread);
}

/* Reads the registers of all stopped threads. Returns 0, or an errno value: ESRCH if there are
 * none. */
static int read_all_registers(struct attach_tracer *tracer)
{
    struct attach_stop *stop = tracer->stop;
    VECTOR_EACH(struct tracee, tracee, tracer->tracees)
        if (tracee->state == TRACEE_STOPPED && !stop_read_registers(tracee, &stop->threads))
            return ENOMEM;
    return stop->threads.count + stop->stuck > 0 ? 0 : ESRCH;
}

/* ---- the tracer ---- */

/* Sets a flag of the tracer, and signals the other thread. */
static void stop_set(struct attach_tracer *tracer, bool *flag)
{
    pthread_mutex_lock(&tracer->lock);
    *flag = true;
    pthread_cond_broadcast(&tracer->changed);
    pthread_mutex_unlock(&tracer->lock);
}

/* Waits until a flag is set. */
static void stop_await(struct attach_tracer *tracer, const bool *flag)
{
    pthread_mutex_lock(&tracer->lock);
    while (!*flag)
        pthread_cond_wait(&tracer->changed, &tracer->lock);
    pthread_mutex_unlock(&tracer->lock);
}

/* Waits until the end is near, at most for GUARD_PAUSE. Returns whether it is. */
static bool await_end_briefly(struct attach_tracer *tracer)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += GUARD_PAUSE;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&tracer->lock);
    if (!tracer->may_end)
        pthread_cond_timedwait(&tracer->changed, &tracer->lock, &until);
    const bool may_end = tracer->may_end;
    pthread_mutex_unlock(&tracer->lock);
    return may_end;
}

/* Detaches from all stopped threads. Threads that have not stopped cannot be detached in this way:
 * the end of the tracer thread does that. */
static void stop_let_go(const struct attach_tracer *tracer)
{
    VECTOR_EACH(const struct tracee, tracee, tracer->tracees)
        if (tracee->state == TRACEE_STOPPED)
            (void)ptrace(PTRACE_DETACH, tracee->id, NULL, (void *)(intptr_t)tracee->signal);
}

/* Forks the process if requested. Failure to fork is not an error, unless a thread does not answer
 * any more. Returns 0 or an errno value. */
static int make_child(struct attach_tracer *tracer)
{
    struct attach_fork *fork = tracer->fork;
    if (!fork || attach_fork_make(fork, tracer->tracees.data, tracer->tracees.count) ||
        !fork->is_lost)
        return 0;
    return procfs_has_exited(tracer->pid, tracer->pid) ? ESRCH : ETIMEDOUT;
}

/* Keeps the child as long as it is needed and may stay. Nothing if there is none. */
static void keep_child(struct attach_tracer *tracer)
{
    if (!tracer->fork || tracer->fork->child == 0)
        return;
    while (!await_end_briefly(tracer) && attach_fork_may_stay(tracer->fork))
        continue;
    attach_fork_end(tracer->fork);
}

/* The body of the tracer thread: stops all threads, and lets them continue when may_go is set. */
static void *trace(void *argument)
{
    struct attach_tracer *tracer = argument;
    attach_urgent_confine();
    const double start = clock_seconds();
    tracer->error = stop_all(tracer);
    if (tracer->error == 0)
        tracer->error = read_all_registers(tracer);
    if (tracer->error == 0)
        tracer->error = make_child(tracer);
    const bool is_good = tracer->error == 0;
    stop_set(tracer, &tracer->is_ready);
    if (is_good)
        stop_await(tracer, &tracer->may_go);
    stop_let_go(tracer);
    tracer->stop->seconds = clock_seconds() - start;
    stop_set(tracer, &tracer->has_gone);
    if (is_good)
        keep_child(tracer);
    return NULL;
}

static void stop_destroy(struct attach_tracer *tracer)
{
    pthread_mutex_destroy(&tracer->lock);
    pthread_cond_destroy(&tracer->changed);
    map_deinit(&tracer->by_id);
    free(tracer->tracees.data);
    free(tracer);
}

/* Stops all threads of a process. Only the thread that has seized others may use them (ptrace(2)),
 * so a thread of its own does all of that and waits for flags. Returns 0 or an errno value. */
int attach_stop(uint64_t pid, struct attach_fork *fork, struct attach_stop *ret)
{
    struct attach_tracer *tracer = calloc(1, sizeof(*tracer));
    if (!tracer)
        return ENOMEM;
    tracer->pid = pid;
    tracer->fork = fork;
    tracer->stop = ret;
    pthread_mutex_init(&tracer->lock, NULL);
    pthread_cond_init(&tracer->changed, NULL);
    const int error = attach_urgent_start(&tracer->thread, trace, tracer);
    if (error != 0) {
        stop_destroy(tracer);
        return error;
    }
    ret->tracer = tracer;
    stop_await(tracer, &tracer->is_ready);
    return tracer->error;
}

/* Lets the threads continue, and waits until they do; nothing if they were not stopped. */
void attach_stop_let_go(struct attach_stop *stop)
{
    if (!stop->tracer)
        return;
    stop_set(stop->tracer, &stop->tracer->may_go);
    stop_await(stop->tracer, &stop->tracer->has_gone);
}

/* Lets the threads continue and the tracer thread end, and waits for its end. Does nothing if no
 * process is stopped. */
void attach_stop_end(struct attach_stop *stop)
{
    struct attach_tracer *tracer = stop->tracer;
    if (!tracer)
        return;
    stop_set(tracer, &tracer->may_go);
    stop_set(tracer, &tracer->may_end);
    pthread_join(tracer->thread, NULL);
    stop_destroy(tracer);
    stop->tracer = NULL;
}

void attach_stop_deinit(struct attach_stop *stop)
{
    attach_stop_end(stop);
    free(stop->threads.data);
    *stop = (struct attach_stop){0};
}

/* ---- control groups ---- */

/* Returns whether the process's threads cannot be stopped because their control group is frozen or
 * freezing. Only version 1 of control groups freezes threads so that they never stop for a
 * tracer. */
bool attach_is_frozen(uint64_t pid)
{
    static const char freezer[] = ":freezer:";
    _cleanup_(text_deinit) struct text groups = {0}, path = {0}, state = {0};
    if (procfs_read_of(pid, "cgroup", &groups) != 0)
        return false;
    const char *group = strstr(groups.data, freezer);
    if (!group)
        return false;
    group += sizeof(freezer) - 1;
    text_printf(&path, "/sys/fs/cgroup/freezer%.*s/freezer.state", as_width(strcspn(group, "\n")),
                group);
    return !path.failed && procfs_read(path.data, &state) == 0 && strncmp(state.data, "FR", 2) == 0;
}

#endif
