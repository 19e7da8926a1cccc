/* pager; see pager.h. */
#include "cli/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/scope.h"

extern char **environ;

int pager_collect(void)
{
#ifdef MFD_CLOEXEC
    const int memory = memfd_create("report", MFD_CLOEXEC);
    if (memory >= 0)
        return memory;
#endif
    FILE *file = tmpfile(); /* only this user may read it */
    const int fd = file ? fcntl(fileno(file), F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;
    if (file)
        fclose(file);
    return fd;
}

/* Returns the command of the pager; NULL: none. */
static const char *find_pager(void)
{
    const char *pager = getenv("PAGER"), *terminal = getenv("TERM");
    if (!terminal || *terminal == '\0' || strcmp(terminal, "dumb") == 0)
        return NULL;
    if (!pager)
        return "less";
    return *pager == '\0' || strcmp(pager, "cat") == 0 ? NULL : pager;
}

/* Starts a pager that reads a file. Returns false if it cannot be started. */
static bool pager_start(const char *pager, int fd, pid_t *ret)
{
    char *const words[] = {"sh", "-c", (char *)(uintptr_t)pager, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t usual;
    if (posix_spawn_file_actions_init(&files) != 0)
        return false;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return false;
    }
    sigemptyset(&usual);
    sigaddset(&usual, SIGINT);
    sigaddset(&usual, SIGQUIT);
    const bool is_started = posix_spawn_file_actions_adddup2(&files, fd, STDIN_FILENO) == 0 &&
                            posix_spawnattr_setsigdefault(&attributes, &usual) == 0 &&
                            posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF) == 0 &&
                            posix_spawnp(ret, words[0], &files, &attributes, words, environ) == 0;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return is_started;
}

/* Runs a pager on a file, and waits until it ends. Returns false if the pager does not exist. */
static bool page(const char *pager, int fd)
{
    enum { NOT_FOUND = 127, NOT_EXECUTABLE = 126 }; /* exit statuses of a shell */
    struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit;
    pid_t child;
    int status = 0;
    setenv("LESS", "FRX", 0);
    sigaction(SIGINT, &ignore, &interrupt); /* as the pager does, which is ended by q */
    sigaction(SIGQUIT, &ignore, &quit);
    const bool is_started = pager_start(pager, fd, &child);
    while (is_started && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    return is_started && !(WIFEXITED(status) && (WEXITSTATUS(status) == NOT_FOUND ||
                                                 WEXITSTATUS(status) == NOT_EXECUTABLE));
}

/* Writes size bytes to standard output. */
static struct g2h_error *put(const char *data, size_t size)
{
    for (ssize_t count; size > 0; data += count, size -= (size_t)count) {
        count = write(STDOUT_FILENO, data, size);
        if (count < 0 && errno != EINTR)
            return error_system(errno, "standard output: cannot write");
        if (count < 0)
            count = 0;
    }
    return NULL;
}

static struct g2h_error *copy(int fd)
{
    char block[1 << 14];
    for (;;) {
        const ssize_t count = read(fd, block, sizeof(block));
        if (count == 0)
            return NULL;
        if (count < 0 && errno != EINTR)
            return error_system(errno, "standard output: cannot read what it gets");
        if (count > 0)
            TRY(put(block, (size_t)count));
    }
}

struct g2h_error *pager_show(int fd)
{
    const char *pager = find_pager();
    struct g2h_error *error = NULL;
    if (lseek(fd, 0, SEEK_SET) != 0)
        error = error_system(errno, "standard output");
    else if (!pager || !page(pager, fd))
        error = copy(fd);
    close(fd);
    return error;
}
