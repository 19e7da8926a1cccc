/*
 * port: what the GNU C library and Linux have, for systems that lack it or have it in another way.
 *
 * Where that is possible, this has GNU's names, and does what GNU's manual says of them, so that no
 * caller needs to know of other systems. A file that uses one of these names includes this header.
 */
#ifndef BASE_PORT_H
#define BASE_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Fills bytes with random ones. If they need not be secret, does not wait for a system that has
 * just started to have enough of them. Returns 0, or an errno value. */
int port_random(void *bytes, size_t size, bool secret);

#ifdef __APPLE__

void *port_memrchr(const void *bytes, int byte, size_t size);
#define memrchr port_memrchr

void *port_reallocarray(void *block, size_t count, size_t size);
#define reallocarray port_reallocarray

void port_bzero(void *bytes, size_t size);
#define explicit_bzero port_bzero

/* BSD's function of this name has its arguments in another order. */
void port_qsort_r(void *entries, size_t count, size_t size,
                  int (*compare)(const void *one, const void *other, void *context), void *context);
#define qsort_r port_qsort_r

/* Members of struct stat, which POSIX has given GNU's names. */
#define st_mtim st_mtimespec
#define st_ctim st_ctimespec

#endif

#endif
