/*
 * measure: runs a command with its output thrown away, and prints one line: wall clock seconds, processor seconds, the
 * peak of its anonymous memory (RssAnon, read from /proc a few hundred times a second) and of all its memory, in kB.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static long rss_anon(pid_t process)
{
    char path[64], text[4096];
    snprintf(path, sizeof(path), "/proc/%d/status", (int)process);
    int file = open(path, O_RDONLY);
    if (file < 0)
        return 0;
    ssize_t size = read(file, text, sizeof(text) - 1);
    close(file);
    if (size <= 0)
        return 0;
    text[size] = '\0';
    const char *at = strstr(text, "RssAnon:");
    return at ? strtol(at + strlen("RssAnon:"), NULL, 10) : 0;
}

int main(int argc, char **argv)
{
    struct rusage usage;
    const struct timespec pause = {0, 3000000};
    long anon = 0;
    int status = 0;
    if (argc < 2) {
        fprintf(stderr, "usage: measure COMMAND [ARGUMENT]...\n");
        return 2;
    }
    double start = now();
    pid_t process = fork();
    if (process == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        execvp(argv[1], argv + 1);
        perror(argv[1]);
        _exit(127);
    }
    while (process > 0 && wait4(process, &status, WNOHANG, &usage) == 0) {
        long now_anon = rss_anon(process);
        anon = now_anon > anon ? now_anon : anon;
        nanosleep(&pause, NULL);
    }
    double wall = now() - start;
    double processor = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    printf("%.3f %.3f %ld %ld\n", wall, processor, anon, usage.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
