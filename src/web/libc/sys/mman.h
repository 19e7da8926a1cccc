/* What wasi-libc's mman.h lacks. Its mmap() copies a file into memory. */
#ifndef WEB_LIBC_SYS_MMAN_H
#define WEB_LIBC_SYS_MMAN_H

#include_next <sys/mman.h>

/* See web/libc.c. */
int madvise(void *memory, size_t size, int advice);

#endif
