/* A library to be loaded before the others (LD_PRELOAD), for at-death.sh: memory for a copy comes
 * slowly, after so many milliseconds as $SLOW_RESERVE says for each piece. */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int madvise(void *address, size_t size, int advice)
{
    const char *pause = getenv("SLOW_RESERVE");
    if (pause && advice == MADV_POPULATE_WRITE)
        usleep((useconds_t)atoi(pause) * 1000);
    return (int)syscall(SYS_madvise, address, size, advice);
}
