/* started: whether a live process has only just started its program; see
 * include/go2heapsnapshot/process.h. */
#include <go2heapsnapshot/process.h>

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/elf_format.h"
#include "base/map.h"
#include "base/port.h"
#include "base/scope.h"
#include "process/attach/procfs.h"

/* A program may take this many seconds before its runtime is ready, on a heavily overloaded
 * machine. */
#define NEW 3.0

bool g2h_process_is_new(uint64_t pid)
{
    const uint64_t start = procfs_stat_number(pid, PROCFS_START);
    struct timespec now;
    if (start == UINT64_MAX || clock_gettime(CLOCK_BOOTTIME, &now) != 0)
        return false;
    return (double)now.tv_sec - (double)start / (double)sysconf(_SC_CLK_TCK) < NEW;
}

/* Reads the random bytes that the kernel passes each program at its start (AT_RANDOM). Returns
 * false if they are missing. */
static bool read_random(uint64_t pid, uint64_t ret[2])
{
    const uint64_t address = procfs_auxv(pid, AT_RANDOM);
    const int fd = address != 0 ? open(procfs_path(pid, "mem").text, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return false;
    const bool good = pread(fd, ret, 16, (off_t)address) == 16;
    close(fd);
    return good;
}

/* Returns whether a process's first thread has exited, but others live on: one of them may be in
 * execve(), and will end the others. */
static bool may_be_in_exec(uint64_t pid)
{
    enum { THREADS = 20 };
    const uint64_t threads = procfs_stat_number(pid, THREADS);
    return procfs_living_thread(pid) != pid && threads > 1 && threads != UINT64_MAX;
}

/* Each execve() gives a program other random bytes (AT_RANDOM), so these identify the program that
 * a process runs. */
uint64_t g2h_process_image(uint64_t pid)
{
    enum { TRIES = 5, TRIES_IN_EXEC = 200 };
    const struct timespec pause = {.tv_nsec = 2000000};
    uint64_t random[2];
    /* In execve() a process has no memory for a moment. */
    for (int i = 1; !read_random(pid, random); i++) {
        if (i >= (may_be_in_exec(pid) ? TRIES_IN_EXEC : TRIES) || kill((pid_t)pid, 0) != 0)
            return 0;
        nanosleep(&pause, NULL);
    }
    const uint64_t image = map_hash(random[0] ^ random[1]);
    return image != 0 ? image : 1;
}
