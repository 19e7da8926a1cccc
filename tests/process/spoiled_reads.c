/*
 * spoiled_reads: a library to preload, which spoils what a program reads of another one's memory:
 * the first page that pread(2) gives of the addresses $SPOIL, FROM-END in hexadecimal, and that is
 * not all zeros, is zeros instead. What is read of it again is right. With $SPOIL_ALL all such
 * pages are zeros, whenever they are read. What is read of the process $SPOIL_NOT is right, as it
 * is before another process is forked from it.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096 };

static uint64_t from, end;
static char right[32]; /* the file that is read rightly */
static bool is_done, is_all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void begin(void)
{
    const char *range = getenv("SPOIL");
    char *dash = NULL;
    from = range ? strtoull(range, &dash, 16) : 0;
    const char *not = getenv("SPOIL_NOT");
    if (not )
        snprintf(right, sizeof(right), "/proc/%.16s/mem", not );
    is_all = getenv("SPOIL_ALL") != NULL;
    end = dash && *dash == '-' ? strtoull(dash + 1, NULL, 16) : 0;
}

static bool is_zero(const char *bytes)
{
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, PAGE - 1) == 0;
}

static void spoil(char *bytes, uint64_t size, uint64_t address)
{
    pthread_mutex_lock(&lock);
    for (uint64_t at = 0; at + PAGE <= size && !is_done; at += PAGE) {
        if (address + at < from || address + at >= end || is_zero(bytes + at))
            continue;
        memset(bytes + at, 0, PAGE);
        is_done = !is_all;
    }
    pthread_mutex_unlock(&lock);
}

static bool is_right(int file)
{
    char link[32], path[32] = "";
    snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
    return readlink(link, path, sizeof(path) - 1) > 0 && strcmp(path, right) == 0;
}

ssize_t pread(int file, void *data, size_t size, off_t offset)
{
    static ssize_t (*next)(int, void *, size_t, off_t);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "pread");
    const ssize_t count = next(file, data, size, offset);
    if (count > 0 && !is_right(file))
        spoil(data, (uint64_t)count, (uint64_t)offset);
    return count;
}

ssize_t pread64(int file, void *data, size_t size, off_t offset)
{
    return pread(file, data, size, offset);
}
