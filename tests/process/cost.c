/*
 * cost: runs a command, and prints what it cost: milliseconds of processors outside of the kernel,
 * the most memory that it had, in kilobytes, and how often the kernel had to give it a page.
 *
 *   cost COMMAND [ARGUMENT]...
 *
 * Its exit status is 0 if the command's is. The memory is that of the command alone: a child of a
 * large process would begin with the peak of its parent.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long milliseconds(const struct timeval *time)
{
    return time->tv_sec * 1000 + time->tv_usec / 1000;
}

int main(int argc, char **argv)
{
    struct rusage usage;
    int status;
    const pid_t child = argc > 1 ? fork() : -1;
    if (child == 0) {
        execvp(argv[1], argv + 1);
        perror(argv[1]);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 1;
    getrusage(RUSAGE_CHILDREN, &usage);
    printf("%ld %ld %ld\n", milliseconds(&usage.ru_utime), usage.ru_maxrss, usage.ru_minflt);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}
