/*
 * port: functions of the GNU C library and Linux, for systems that lack them or have variants; and
 * the time.
 */
#ifndef BASE_PORT_H
#define BASE_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* ==== functions of the system ==== */

/* Fills bytes with random ones. Unless they must be secret, does not wait for the entropy pool of a
 * system that has just booted. Returns 0, or an errno value. */
int port_random(void *bytes, size_t size, bool secret);

/* Returns the most bytes of memory that this process has had, mapped files included; 0: the system
 * does not say. */
uint64_t port_peak_memory(void);

/* Returns how often this process has waited for a page to come from a disk; 0: never, or the system
 * does not say. */
uint64_t port_disk_faults(void);

#ifdef __APPLE__

void *port_memrchr(const void *bytes, int byte, size_t size);
#define memrchr port_memrchr

void *port_reallocarray(void *block, size_t count, size_t size);
#define reallocarray port_reallocarray

void port_bzero(void *bytes, size_t size);
#define explicit_bzero port_bzero

/* BSD's function of this name takes its arguments in another order. */
typedef int port_compare(const void *one, const void *other, void *context);
void port_qsort_r(void *entries, size_t count, size_t size, port_compare *compare, void *context);
#define qsort_r port_qsort_r

/* The clock that counts from the system's start. */
#define CLOCK_BOOTTIME CLOCK_MONOTONIC

/* Members of struct stat, to which POSIX has given GNU's names. */
#define st_mtim st_mtimespec
#define st_ctim st_ctimespec

#endif

/* ==== the time, as numbers ==== */

/* Returns the seconds of a clock of the system. */
static inline double clock_of(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Returns the seconds since an unspecified moment. */
static inline double clock_seconds(void)
{
    return clock_of(CLOCK_MONOTONIC);
}

/* Returns a time to wait, of which the system's calls take whole seconds and the rest. */
static inline struct timespec clock_wait(double seconds)
{
    const time_t whole = (time_t)seconds;
    return (struct timespec){.tv_sec = whole, .tv_nsec = (long)((seconds - (double)whole) * 1e9)};
}

/* Returns the milliseconds since 1970. */
static inline int64_t clock_since_1970(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

#endif
