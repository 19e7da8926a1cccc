/*
 * timed: runs a command and writes what it cost, as "CENTISECONDS BEGIN END", to FILE: the
 * processors' time of the command and all its descendants, also of those whose parents ended before
 * them (a browser leaves many), and the seconds since 1970 when it began and ended. Then it kills
 * the processes that are left. Its exit status is the command's, or 128 + the signal that ended it.
 *
 *   timed FILE COMMAND [ARGUMENT]...
 *
 * No test depends on the time it takes. But a test that waits for ever would never be noticed, so
 * after HOURS all its processes are killed.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { HOURS = 4 };

static volatile sig_atomic_t too_late;

static void on_alarm(int signal)
{
    (void)signal;
    too_late = 1;
}

/* Kills all children, including orphans that this process has inherited, until none is left. */
static void kill_children(void)
{
    char path[64];
    long child;
    snprintf(path, sizeof(path), "/proc/self/task/%ld/children", (long)getpid());
    do {
        FILE *file = fopen(path, "r");
        while (file && fscanf(file, "%ld", &child) == 1)
            kill((pid_t)child, SIGKILL);
        if (!file)
            return;
        fclose(file);
    } while (waitpid(-1, NULL, 0) > 0 || errno == EINTR);
}

int main(int argc, char **argv)
{
    const struct sigaction action = {.sa_handler = on_alarm};
    const time_t begin = time(NULL);
    struct rusage usage;
    int status = 0;
    if (argc < 3)
        return 2;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigaction(SIGALRM, &action, NULL);
    const pid_t child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    alarm(HOURS * 3600);
    for (pid_t ended; child > 0 && !too_late;)
        if ((ended = wait(&status)) == child || (ended < 0 && errno != EINTR))
            break;
    if (too_late) {
        fprintf(stderr, "timed: killed after %d hours\n", HOURS);
        status = SIGKILL;
    }
    kill_children();
    getrusage(RUSAGE_CHILDREN, &usage);
    FILE *file = fopen(argv[1], "w");
    if (!file || child < 0) {
        perror(argv[1]);
        return 2;
    }
    fprintf(file, "%ld %ld %ld\n",
            (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 100 +
                (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 10000,
            (long)begin, (long)time(NULL));
    fclose(file);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
