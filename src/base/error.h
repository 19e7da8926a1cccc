/* Making errors. See include/go2heapsnapshot/error.h for what callers see. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <go2heapsnapshot/error.h>

/* The error for "no memory"; a constant, so it can always be had. */
extern struct g2h_error error_no_memory;

/* An error with a message by printf's rules. Gives &error_no_memory where there is no memory for
 * it. */
struct g2h_error *error_create(enum g2h_error_code code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* An error of a system call: the message, ": " and strerror(error_number). */
struct g2h_error *error_system(int error_number, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
