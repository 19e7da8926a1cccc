/* What wasi-libc's stdlib.h lacks. */
#ifndef WEB_LIBC_STDLIB_H
#define WEB_LIBC_STDLIB_H

#include_next <stdlib.h>

/* See web/libc.c. */
typedef int compare_with(const void *one, const void *other, void *context);
void qsort_r(void *entries, size_t count, size_t size, compare_with *compare, void *context);
char *realpath(const char *path, char *ret);
int mkostemp(char *path, int flags);

#endif
