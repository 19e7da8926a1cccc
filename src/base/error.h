/* error: makes errors. See include/go2heapsnapshot/error.h for what callers see. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <go2heapsnapshot/error.h>

/* The error for "no memory". It is static, so that it is available when memory has run out. */
extern struct g2h_error error_no_memory;

/* Makes an error whose message follows printf's rules. Returns &error_no_memory if memory runs
 * out. */
struct g2h_error *error_create(enum g2h_error_code code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Makes an error for a failed system call: the message, ": " and strerror(error_number). */
struct g2h_error *error_system(int error_number, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
