/* A library to be loaded before the others (LD_PRELOAD), for at-death.sh: the disk is full unless
 * the file $FULL_DISK_ROOM exists, each question about it adds a byte to the file $FULL_DISK_ASKED,
 * and after each answer that it is full a minute passes at once. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LATER = 3 /* looks at the clock after an answer */ };
static unsigned left;

int statvfs(const char *path, struct statvfs *ret)
{
    const char *asked = getenv("FULL_DISK_ASKED"), *room = getenv("FULL_DISK_ROOM");
    const int fd = open(asked, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    (void)path;
    if (fd < 0 || write(fd, "?", 1) != 1)
        abort();
    close(fd);
    const int is_full = access(room, F_OK) != 0;
    *ret = (struct statvfs){.f_frsize = 4096, .f_bavail = is_full ? 0 : 1 << 30};
    left = is_full ? LATER : 0;
    return 0;
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
    static time_t passed;
    if (syscall(SYS_clock_gettime, clock, ret) != 0)
        return -1;
    if (clock == CLOCK_MONOTONIC && left > 0 && --left == 0)
        passed += 61;
    if (clock == CLOCK_MONOTONIC)
        ret->tv_sec += passed;
    return 0;
}
