/*
 * measure: runs a command and prints one line: wall clock seconds, processor seconds, the peak of
 * its anonymous memory (RssAnon, read from /proc a few hundred times a second) in kB, the bytes
 * that it wrote, and the blocks that had to be read from a disk.
 *
 * The command's output goes to /dev/null, so that no disk and no reader at the other end of a pipe
 * is measured with it; the number of bytes is then unknown, and printed as 0. With -o FILE the
 * output goes to a file, so that its bytes can be counted; the times then say more about the file
 * system.
 *
 * With -w MEGABYTES it first allocates this much memory, and gives it back. A virtual machine may
 * have to ask its host for memory that was free for some seconds, which took ten times as long as
 * clearing it (2.1 s per GB against 0.18). Without -w, the time of a command that needs much memory
 * would be mostly that.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double seconds(const struct timeval *time)
{
    return (double)time->tv_sec + (double)time->tv_usec / 1e6;
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

static int fail(const char *what)
{
    fprintf(stderr, "measure: %s: %s\n", what, strerror(errno));
    return 1;
}

static void warm(const char *megabytes)
{
    const size_t size = strtoul(megabytes, NULL, 10) << 20;
    char *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED)
        return;
    madvise(data, size, MADV_HUGEPAGE);
    for (size_t i = 0; i < size; i += 4096)
        data[i] = 1;
    munmap(data, size);
}

int main(int argc, char **argv)
{
    const struct timespec pause = {0, 3000000};
    const char *output = "/dev/null";
    struct rusage usage;
    struct stat written;
    sigset_t child, before;
    long anon = 0;
    int status = 0;
    for (int option; (option = getopt(argc, argv, "+o:w:")) != -1;)
        switch (option) {
        case 'o': output = optarg; break;
        case 'w': warm(optarg); break;
        default: optind = argc; break;
        }
    if (optind >= argc) {
        fprintf(stderr, "usage: measure [-o FILE] [-w MEGABYTES] COMMAND [ARGUMENT]...\n");
        return 2;
    }
    argv += optind;
    int file = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0)
        return fail(output);

    /* While SIGCHLD is blocked, it ends the pause below at once. Commands may take less time than
     * a pause. */
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &before);
    double start = now();
    pid_t process = fork();
    if (process < 0)
        return fail("fork");
    if (process == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        dup2(file, STDOUT_FILENO);
        execvp(argv[0], argv);
        fail(argv[0]);
        _exit(127);
    }
    while (wait4(process, &status, WNOHANG, &usage) == 0) {
        long now_anon = rss_anon(process);
        anon = now_anon > anon ? now_anon : anon;
        sigtimedwait(&child, NULL, &pause);
    }
    double wall = now() - start;
    if (fstat(file, &written) != 0)
        return fail(output);
    printf("%.4f %.4f %ld %lld %ld\n", wall, seconds(&usage.ru_utime) + seconds(&usage.ru_stime), anon,
           S_ISREG(written.st_mode) ? (long long)written.st_size : 0LL, usage.ru_inblock);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
