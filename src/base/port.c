/* port: functions that Linux with the GNU C library has and other systems lack or have in other
 * forms; see port.h. Each has one version per system. */
#include "base/contract.h"
#include "base/port.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

#if defined(__APPLE__) || defined(__wasi__)

/* Fills bytes with random ones. Returns 0 or an errno value. The system gives at most 256 bytes at
 * a time. */
int port_random(void *bytes, size_t size, bool secret)
{
    enum { MOST = 256 }; /* getentropy() returns no more at a time */
    (void)secret;        /* no program starts before the system's entropy pool is initialized */
    for (size_t at = 0; at < size;) {
        const size_t count = MIN(size - at, MOST);
        if (getentropy((uint8_t *)bytes + at, count) < 0)
            return errno;
        at += count;
    }
    return 0;
}

#else

/* Fills bytes with random ones. Returns 0 or an errno value. If they need not be secret, fails
 * rather than wait for the system's entropy pool. */
int port_random(void *bytes, size_t size, bool secret)
{
    for (size_t at = 0; at < size;) {
        const ssize_t count =
            getrandom((uint8_t *)bytes + at, size - at, secret ? 0 : GRND_NONBLOCK);
        if (count < 0 && errno != EINTR)
            return errno;
        at += count > 0 ? as_size(count) : 0;
    }
    return 0;
}

#endif

#ifdef __wasi__

uint64_t port_peak_memory(void)
{
    return 0;
}

uint64_t port_disk_faults(void)
{
    return 0;
}

#else

/* Returns the most bytes of memory that this process has had; 0 if that is not known. The system
 * counts in KiB, macOS in bytes. */
uint64_t port_peak_memory(void)
{
#ifdef __APPLE__
    const uint64_t unit = 1;
#else
    const uint64_t unit = 1024;
#endif
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0 || usage.ru_maxrss <= 0)
        return 0;
    return (uint64_t)usage.ru_maxrss * unit;
}

/* Returns how many accesses to memory have waited for a disk; 0 if that is not known. */
uint64_t port_disk_faults(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0 || usage.ru_majflt <= 0)
        return 0;
    return (uint64_t)usage.ru_majflt;
}

#endif

#ifdef __APPLE__

/* Returns where the last byte of this value is, or NULL. */
void *port_memrchr(const void *bytes, int byte, size_t size)
{
    const uint8_t *begin = bytes;
    while (size > 0)
        if (begin[--size] == (uint8_t)byte)
            return (uint8_t *)(uintptr_t)begin + size;
    return NULL;
}

/* Like realloc() of count * size bytes; NULL and ENOMEM if that overflows. */
void *port_reallocarray(void *block, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(block, bytes);
}

/* Overwrites bytes with 0, such as a key that is not needed any more. */
void port_bzero(void *bytes, size_t size)
{
    volatile uint8_t *at =
        bytes; /* volatile keeps the writes, though the bytes are not read again */
    for (; size > 0; size--)
        *at++ = 0;
}

struct order {
    port_compare *compare;
    void *context;
};

/* Compares by the caller's function, whose context it gets last. */
static int compare_by(void *order, const void *one, const void *other)
{
    const struct order *by = order;
    return by->compare(one, other, by->context);
}

void port_qsort_r(void *entries, size_t count, size_t size, port_compare *compare, void *context)
{
    struct order order = {compare, context};
#undef qsort_r
    qsort_r(entries, count, size, &order, compare_by);
}

#endif
