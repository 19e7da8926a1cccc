/*
 * fork_steps: a library to preload, which ends or holds up go2heapsnapshot --fork at a step of its
 * protocol. $FORK_STEP is STEP:MICROSECONDS: the program is killed so long after the step. With
 * STEP:wait it writes a byte to descriptor 3 there, and goes on when descriptor 4 has one, or has
 * ended; with reading:hold it goes on when the child that it reads has ended. $FORK_BLIND is a
 * number of a process: as soon as that is forked, its control groups cannot be seen any more, which
 * the guard looks at.
 *
 * Steps are named by the calls of ptrace(2) and kill(2), in the order of the protocol. Before
 * "setregs" and behind "reaped" no step is of interest: nothing has happened, or is left to happen.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static char wanted[64];
static long microseconds;
static bool holds, waits;
static pid_t blind;

/* How far the program has come: the borrowed thread's registers were set so many times, it was
 * resumed so many times since. */
static int registers_set, resumed;
static bool has_child, is_restored, is_killed;

__attribute__((constructor)) static void begin(void)
{
    const char *step = getenv("FORK_STEP"), *colon = step ? strchr(step, ':') : NULL;
    if (colon && (size_t)(colon - step) < sizeof(wanted)) {
        memcpy(wanted, step, (size_t)(colon - step));
        microseconds = atol(colon + 1);
        holds = strcmp(step, "reading:hold") == 0;
        waits = strcmp(colon, ":wait") == 0;
    }
    blind = getenv("FORK_BLIND") ? atoi(getenv("FORK_BLIND")) : 0;
}

enum { SAYS = 3, HEARS = 4 };

/* Waits until the test says that the program may go on. */
static void wait_for_test(void)
{
    char byte = 0;
    if (write(SAYS, &byte, 1) != 1)
        abort();
    while (read(HEARS, &byte, 1) < 0 && errno == EINTR)
        continue;
}

static void step(const char *name)
{
    const struct timespec pause = {microseconds / 1000000, microseconds % 1000000 * 1000};
    if (strcmp(name, wanted) != 0)
        return;
    wanted[0] = '\0'; /* once */
    if (waits) {
        wait_for_test();
        return;
    }
    if (microseconds > 0)
        nanosleep(&pause, NULL);
    syscall(SYS_kill, getpid(), SIGKILL);
}

static void before(int request, void *data)
{
    if (request == PTRACE_SYSCALL && resumed == 1 && registers_set == 1)
        step("entry");
    if (request == PTRACE_SETOPTIONS && ((unsigned long)data & PTRACE_O_EXITKILL))
        step("unguarded");
    if (request == PTRACE_INTERRUPT && registers_set == 1 && has_child)
        step("exit");
    if (request == PTRACE_SETREGSET && registers_set == 1)
        step("beforerestore");
    if (request == PTRACE_SETREGSET && registers_set == 3)
        step("beforereaprestore");
}

static void after(int request, void *data)
{
    if (request == PTRACE_SETREGSET) {
        static const char *const names[] = {"setregs", "restoring", "reapsetregs", "reaprestoring"};
        if (registers_set < 4)
            step(names[registers_set]);
        registers_set++;
        resumed = 0;
    }
    if (request == PTRACE_SYSCALL) {
        resumed++;
        if (registers_set == 1)
            step(resumed == 1 ? "running" : resumed == 2 ? "infork" : "leaving");
        if (registers_set == 3)
            step(resumed == 1 ? "reaprunning" : "inwait");
    }
    if (request == PTRACE_GETEVENTMSG)
        step("event");
    if (request == PTRACE_SETOPTIONS && ((unsigned long)data & PTRACE_O_EXITKILL)) {
        has_child = true;
        step("guarded");
    }
    if (request == PTRACE_SETOPTIONS && !data && registers_set == 2)
        step("restored");
    if (request == PTRACE_DETACH && registers_set == 2) {
        if (!is_restored)
            step("detaching");
        else
            step("detached");
        is_restored = true;
    }
    if (request == PTRACE_DETACH && registers_set == 4)
        step("reaped");
}

long ptrace(enum __ptrace_request request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    const pid_t pid = va_arg(arguments, pid_t);
    void *const address = va_arg(arguments, void *), *const data = va_arg(arguments, void *);
    va_end(arguments);
    const bool is_peek = request == PTRACE_PEEKTEXT || request == PTRACE_PEEKDATA;
    long word = 0;
    before((int)request, data);
    errno = 0;
    const long result =
        syscall(SYS_ptrace, (long)request, (long)pid, address, is_peek ? (void *)&word : data);
    const int error = errno;
    after((int)request, data);
    errno = error;
    return is_peek && result == 0 ? word : result;
}

int kill(pid_t pid, int number)
{
    if (number == SIGKILL && has_child && !is_killed)
        step("holding");
    const int result = (int)syscall(SYS_kill, pid, number);
    if (number == SIGKILL && has_child && !is_killed) {
        is_killed = true;
        step("killed");
    }
    return result;
}

static ssize_t read_at(int fd, void *data, size_t size, long long offset)
{
    char byte;
    if (has_child && size > 1 << 20 && holds)
        while (syscall(SYS_pread64, fd, &byte, 1, offset) == 1)
            usleep(10000);
    return syscall(SYS_pread64, fd, data, size, offset);
}

ssize_t pread(int fd, void *data, size_t size, off_t offset)
{
    return read_at(fd, data, size, offset);
}

ssize_t pread64(int fd, void *data, size_t size, off64_t offset)
{
    return read_at(fd, data, size, offset);
}

int open(const char *path, int flags, ...)
{
    char groups[64];
    va_list arguments;
    va_start(arguments, flags);
    const int mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, int) : 0;
    va_end(arguments);
    snprintf(groups, sizeof(groups), "/proc/%d/cgroup", (int)blind);
    if (blind != 0 && has_child && strcmp(path, groups) == 0) {
        errno = ENOENT;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
