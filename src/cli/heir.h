/* heir: the Go program among the processes that a command has started: sh -c './server; true'. */
#ifndef CLI_HEIR_H
#define CLI_HEIR_H

#include <stdbool.h>
#include <stdint.h>

enum { HEIR_KNOWN = 1024 };

struct heirs {
    uint64_t others[HEIR_KNOWN]; /* g2h_process_image() of processes that run no Go program */
    unsigned count;              /* of all that there were; the last ones are kept */
};

/* Makes this program the parent of what the command leaves behind, so that it can be found. */
void heir_begin(void);

/* Returns the nearest descendant of this program that runs a Go program, but not the go command; 0:
 * there is none. *ret_others: there are other descendants, except the given one. is_quick: it may
 * miss some, and is meant to be called several times a second. */
uint64_t heir_find(struct heirs *heirs, uint64_t except, bool is_quick, bool *ret_others);

#endif
