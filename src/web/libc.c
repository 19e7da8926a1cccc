/*
 * libc: functions of libc/'s headers, which wasi-libc lacks. In a page there are no processes, no
 * signals and no disk: what would need them fails as on a system where that is not allowed. Later
 * releases of wasi-libc have some of them, which then count: each is weak.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define _weak_ __attribute__((weak))

_weak_ int madvise(void *memory, size_t size, int advice)
{
    (void)memory, (void)size, (void)advice;
    return 0;
}

_weak_ int sigaction(int number, const struct sigaction *action, struct sigaction *ret_before)
{
    (void)number, (void)action, (void)ret_before;
    errno = ENOSYS;
    return -1;
}

_weak_ int kill(pid_t process, int number)
{
    (void)process, (void)number;
    errno = ESRCH;
    return -1;
}

_weak_ int pthread_sigmask(int how, const sigset_t *set, sigset_t *ret_before)
{
    (void)how, (void)set, (void)ret_before;
    return 0;
}

_weak_ int statvfs(const char *path, struct statvfs *ret)
{
    (void)path, (void)ret;
    errno = ENOSYS;
    return -1;
}

_weak_ int fstatvfs(int file, struct statvfs *ret)
{
    (void)file, (void)ret;
    errno = ENOSYS;
    return -1;
}

/* Copies the path as it is, to ret or to memory that the caller frees: all files are in one
 * directory, without links. */
_weak_ char *realpath(const char *path, char *ret)
{
    return ret ? strcpy(ret, path) : strdup(path);
}

/* Opens a new file: replaces the last 6 characters of the path by digits, the first number for
 * which no file exists. Returns its descriptor, or -1 and errno. */
_weak_ int mkostemp(char *path, int flags)
{
    char *digits = path + strlen(path) - 6;
    for (unsigned number = 0; number < 1000000; number++) {
        for (unsigned i = 6, rest = number; i-- > 0; rest /= 10)
            digits[i] = (char)('0' + rest % 10);
        const int file = open(path, O_RDWR | O_CREAT | O_EXCL | flags, 0600);
        if (file >= 0 || errno != EEXIST)
            return file;
    }
    return -1;
}

/* Makes a file in the root directory, which is in memory, and removes its name at once. Returns its
 * descriptor, or -1 and errno. */
_weak_ int memfd_create(const char *name, unsigned flags)
{
    char path[] = "/memory.XXXXXX";
    (void)name, (void)flags;
    const int file = mkostemp(path, 0);
    if (file >= 0)
        unlink(path);
    return file;
}

/* ---- qsort_r(): a stable merge sort ---- */

struct order {
    size_t size; /* of an entry */
    compare_with *compare;
    void *context;
};

/* Merges two sorted lists, the second of which ends a range of entries; the first one is beside
 * them. */
static void merge(const struct order *order, char *first, size_t first_count, char *second,
                  size_t second_count, char *ret)
{
    while (first_count > 0 && second_count > 0) {
        const bool is_first = order->compare(first, second, order->context) <= 0;
        memmove(ret, is_first ? first : second, order->size);
        ret += order->size;
        *(is_first ? &first : &second) += order->size;
        --*(is_first ? &first_count : &second_count);
    }
    memcpy(ret, first, first_count * order->size);
}

/* Sorts entries; beside has room for half of them. */
static void sort(const struct order *order, char *entries, size_t count, char *beside)
{
    const size_t half = count / 2;
    char *second = entries + half * order->size;
    if (count < 2)
        return;
    sort(order, entries, half, beside);
    sort(order, second, count - half, beside);
    memcpy(beside, entries, half * order->size);
    merge(order, beside, half, second, count - half, entries);
}

/* Sorts by merging, with memory for half of the entries beside them. */
_weak_ void qsort_r(void *entries, size_t count, size_t size, compare_with *compare, void *context)
{
    const struct order order = {size, compare, context};
    char *beside = malloc(count / 2 * size + 1);
    if (!beside)
        abort(); /* qsort_r() cannot fail: the page says that memory is short */
    sort(&order, entries, count, beside);
    free(beside);
}
