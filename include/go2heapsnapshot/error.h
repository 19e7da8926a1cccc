/*
 * Errors of libgo2heapsnapshot.
 *
 * A function that can fail returns a struct g2h_error *: NULL on success, otherwise an error that
 * the caller owns and passes to g2h_error_destroy(). Results go to the last parameter, named ret,
 * and are written on success only. Everything that a function creates, opens or loads has its own
 * function whose name ends in destroy or close; that function accepts NULL. Call these functions in
 * the reverse order of creation: what an object was made from must exist until the object is
 * destroyed.
 */
#ifndef GO2HEAPSNAPSHOT_ERROR_H
#define GO2HEAPSNAPSHOT_ERROR_H

#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

enum g2h_error_code {
    G2H_ERROR_MEMORY,     /* out of memory */
    G2H_ERROR_SYSTEM,     /* a system call failed; the message ends with the system's error text */
    G2H_ERROR_NOT_DUMP,   /* the input is not a Go heap dump: none of it can be read */
    G2H_ERROR_DAMAGED,    /* the input is cut off or damaged from some offset on; everything before
                             that was read */
    G2H_ERROR_LIMIT,      /* the heap exceeds the range of the output format's numbers */
    G2H_ERROR_NOT_EXE,    /* the file is not a Go executable, or did not write the dump */
    G2H_ERROR_NOT_FOUND,  /* the heap does not contain the requested name; the message suggests
                             similar ones */
    G2H_ERROR_NOT_SERIES, /* the dumps are not from one process, or are in the wrong order */
    G2H_ERROR_NO_PROFILE, /* the dump has no records of allocation sites */
    G2H_ERROR_STARTING,   /* the process has only just started: try again */
};

struct g2h_error {
    enum g2h_error_code code;
    char *message; /* one line without a full stop; names the file, byte offset and record if known.
                      Safe to show on a terminal: controls, and bytes of names that are not valid
                      UTF-8, are replaced with '?' */
};

/* Frees an error; NULL is allowed. */
G2H_PUBLIC void g2h_error_destroy(struct g2h_error *error);

G2H_END

#endif
