/* Random bytes as Linux has them. */
#ifndef WEB_LIBC_SYS_RANDOM_H
#define WEB_LIBC_SYS_RANDOM_H

#include <sys/types.h>

enum { GRND_NONBLOCK = 1 };

/* See web/libc.c. */
ssize_t getrandom(void *bytes, size_t size, unsigned flags);

#endif
