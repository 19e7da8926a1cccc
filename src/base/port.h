/*
 * port: functions of the GNU C library and Linux, for systems that lack them or have variants.
 *
 * Where possible, they have GNU's names and do what GNU's manual says, so that no caller needs to
 * know other systems. A file that uses one of these names includes this header.
 */
#ifndef BASE_PORT_H
#define BASE_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Fills bytes with random ones. Unless they must be secret, does not wait for the entropy pool of a
 * system that has just booted. Returns 0, or an errno value. */
int port_random(void *bytes, size_t size, bool secret);

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

#endif
