/* What wasi-libc's time.h lacks. */
#ifndef WEB_LIBC_TIME_H
#define WEB_LIBC_TIME_H

#include_next <time.h>

/* The clock that counts from the system's start. */
#define CLOCK_BOOTTIME CLOCK_MONOTONIC

#endif
