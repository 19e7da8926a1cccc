/*
 * Errors of libgo2heapsnapshot.
 *
 * A function that can fail returns a struct g2h_error *: NULL for success, otherwise an error that
 * the caller owns and hands to g2h_error_destroy(). Results go to the last parameter, named ret,
 * and are written on success only. What has been created, opened or loaded goes to the function of
 * its own whose name ends in destroy or close, and to which NULL is fine, in the reverse order:
 * what it was made of must be there until then.
 */
#ifndef GO2HEAPSNAPSHOT_ERROR_H
#define GO2HEAPSNAPSHOT_ERROR_H

#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

enum g2h_error_code {
    G2H_ERROR_MEMORY,    /* no memory */
    G2H_ERROR_SYSTEM,    /* a system call failed; the message ends with the system's words */
    G2H_ERROR_NOT_DUMP,  /* the input is no Go heap dump, nothing of it can be read */
    G2H_ERROR_DAMAGED,   /* the input is cut or damaged from some offset on; what is before was read
                          */
    G2H_ERROR_LIMIT,     /* the heap does not fit the numbers of the output's format */
    G2H_ERROR_NOT_EXE,   /* the executable is none, or not the one that wrote the dump */
    G2H_ERROR_NOT_FOUND, /* what is asked for is not in the heap; the message says what is like it
                          */
    G2H_ERROR_NOT_SERIES, /* the dumps are not of one process, or not in their order */
    G2H_ERROR_NO_PROFILE, /* the dump has no records of where memory was allocated */
};

struct g2h_error {
    enum g2h_error_code code;
    char *message; /* one line without a full stop; names the file, byte offset and record where
                      known. May be shown on a terminal: what are no characters but controls in a
                      name is '?' in it */
};

/* Frees an error. NULL is fine. */
G2H_PUBLIC void g2h_error_destroy(struct g2h_error *error);

G2H_END

#endif
