/*
 * timed: runs a command and writes what it cost, as "CENTISECONDS BEGIN END", to FILE: the
 * processors' time of the command and all its descendants, also of those whose parents ended before
 * them (a browser leaves many), and the seconds since 1970 when it began and ended. Then it kills
 * the processes that are left. Its exit status is the command's, or 128 + the signal that ended it.
 *
 *   timed FILE SECONDS COMMAND [ARGUMENT]...    SECONDS of processors are allowed; 0: any number
 *   timed --speed                               prints the processor time that a fixed piece of
 * work takes here, in percent of the reference: the machine that the budgets in tests/run were made
 * on
 *
 * No test depends on the time it takes. But a test that waits for ever would never be noticed. So a
 * command ends, with status 124, when it has used more processor time than allowed, when for
 * SILENCE seconds it has written nothing and has hardly used the processor, or after LONGEST
 * seconds: a program that waits and collects garbage now and then is neither idle nor expensive.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    EXPIRED = 124,
    SILENCE = 600,  /* seconds by the clock */
    LONGEST = 1500, /* seconds by the clock: twice what the longest part takes on a busy machine */
    IDLE = 300,     /* hundredths of a second of processors in that time: less is idle */
    REFERENCE =
        92, /* hundredths of a second that timed_calibrate() takes on the reference machine */
    PAGES = 4096,
    PROCESSES = 40,
};

/* What is known of the command at a moment. */
struct progress {
    long used;  /* processors' time, in hundredths of a second */
    off_t said; /* bytes on stdout and stderr, if these are files */
    time_t since;
    time_t begin;
};

/* Calls a function for each child of this process; returns false if there is none. */
static bool timed_each_child(long pid, void (*visit)(long child, void *data), void *data)
{
    char path[64];
    long child;
    bool any = false;
    snprintf(path, sizeof(path), "/proc/%ld/task/%ld/children", pid, pid);
    FILE *file = fopen(path, "r");
    while (file && fscanf(file, "%ld", &child) == 1) {
        any = true;
        visit(child, data);
    }
    if (file)
        fclose(file);
    return any;
}

static void timed_kill(long child, void *data)
{
    (void)data;
    kill((pid_t)child, SIGKILL);
}

/* Kills all children, including orphans that this process has inherited, until none is left. */
static void timed_kill_children(void)
{
    do {
        timed_each_child(getpid(), timed_kill, NULL);
    } while (waitpid(-1, NULL, 0) > 0 || errno == EINTR);
}

static long timed_hundredths(struct timeval user, struct timeval system)
{
    return (user.tv_sec + system.tv_sec) * 100 + (user.tv_usec + system.tv_usec) / 10000;
}

/* Adds the ticks of a process, of the children that it has waited for, and of its descendants. */
static void timed_add_ticks(long child, void *data)
{
    unsigned long user, system;
    long of_children[2];
    char path[64], line[1024];
    snprintf(path, sizeof(path), "/proc/%ld/stat", child);
    FILE *file = fopen(path, "r");
    const size_t length = file ? fread(line, 1, sizeof(line) - 1, file) : 0;
    line[length] = 0;
    if (file)
        fclose(file);
    const char *behind_name = strrchr(line, ')');
    if (behind_name &&
        sscanf(behind_name, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld", &user,
               &system, &of_children[0], &of_children[1]) == 4)
        *(long *)data += (long)(user + system) + of_children[0] + of_children[1];
    timed_each_child(child, timed_add_ticks, data);
}

/* The processors' time of all descendants, dead or alive, in hundredths of a second. */
static long timed_used(void)
{
    struct rusage usage;
    long ticks = 0;
    getrusage(RUSAGE_CHILDREN, &usage);
    timed_each_child(getpid(), timed_add_ticks, &ticks);
    return timed_hundredths(usage.ru_utime, usage.ru_stime) + ticks * 100 / sysconf(_SC_CLK_TCK);
}

static off_t timed_said(void)
{
    off_t sum = 0;
    struct stat file;
    for (int fd = 1; fd <= 2; fd++)
        if (fstat(fd, &file) == 0)
            sum += file.st_size;
    return sum;
}

/* Succeeds if the command is to be ended, and says why. */
static bool timed_expired(struct progress *progress, long allowed)
{
    const struct progress now = {timed_used(), timed_said(), time(NULL), progress->begin};
    if (allowed && now.used > allowed * 100) {
        fprintf(stderr, "timed: ended after %ld s of processors, where %ld are allowed\n",
                now.used / 100, allowed);
        return true;
    }
    if (now.since - now.begin > LONGEST) {
        fprintf(stderr, "timed: ended after %d s by the clock\n", LONGEST);
        return true;
    }
    if (now.said != progress->said || now.used >= progress->used + IDLE)
        *progress = now;
    if (now.since - progress->since <= SILENCE)
        return false;
    fprintf(stderr, "timed: ended, since it was silent and idle for %d s\n", SILENCE);
    return true;
}

static void timed_on_signal(int signal)
{
    (void)signal;
}

/* Waits for the command; returns its status, or EXPIRED as an exit status. */
static int timed_wait(pid_t child, long allowed)
{
    const struct sigaction action = {.sa_handler = timed_on_signal};
    struct progress progress = {0, 0, time(NULL), time(NULL)};
    int status = 0;
    sigaction(SIGALRM, &action, NULL);
    for (;;) {
        alarm(2);
        const pid_t ended = wait(&status);
        if (ended == child)
            return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        if (ended < 0 && errno != EINTR)
            return 127;
        if (timed_expired(&progress, allowed))
            return EXPIRED;
    }
}

/* Works as tests do: computes, touches fresh pages, starts processes; where the kernel is fast,
 * computing takes seven eighths of the time, as in tier check. Returns the processor time that it
 * takes, in hundredths of a second. */
static long timed_calibrate(const char *program)
{
    struct rusage self, children;
    uint64_t state = 1;
    for (long i = 0; i < 300000000; i++)
        state = state * 6364136223846793005u + 1442695040888963407u;
    for (int round = 0; round < 4 && state; round++) {
        char *memory =
            mmap(NULL, PAGES << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (size_t i = 0; memory != MAP_FAILED && i < PAGES; i++)
            memory[i << 12] = 1;
        munmap(memory, PAGES << 12);
    }
    for (int i = 0; i < PROCESSES; i++) {
        const pid_t child = fork();
        if (child == 0) {
            execl(program, program, "--nothing", (char *)NULL);
            _exit(127);
        }
        waitpid(child, NULL, 0);
    }
    getrusage(RUSAGE_SELF, &self);
    getrusage(RUSAGE_CHILDREN, &children);
    return timed_hundredths(self.ru_utime, self.ru_stime) +
           timed_hundredths(children.ru_utime, children.ru_stime);
}

int main(int argc, char **argv)
{
    const time_t begin = time(NULL);
    struct rusage usage;
    if (argc == 2 && strcmp(argv[1], "--speed") == 0) {
        printf("%ld\n", timed_calibrate(argv[0]) * 100 / REFERENCE);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "--nothing") == 0)
        return 0;
    if (argc < 4)
        return 2;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const pid_t child = fork();
    if (child == 0) {
        execvp(argv[3], argv + 3);
        perror(argv[3]);
        _exit(127);
    }
    const int status = timed_wait(child, atol(argv[2]));
    timed_kill_children();
    getrusage(RUSAGE_CHILDREN, &usage);
    FILE *file = fopen(argv[1], "w");
    if (!file || child < 0) {
        perror(argv[1]);
        return 2;
    }
    fprintf(file, "%ld %ld %ld\n", timed_hundredths(usage.ru_utime, usage.ru_stime), (long)begin,
            (long)time(NULL));
    fclose(file);
    return status;
}
