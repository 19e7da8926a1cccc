/* command: a command whose standard output is a dump, for --inspect and --watch. */
#ifndef INSPECT_COMMAND_H
#define INSPECT_COMMAND_H

#include "base/error.h"

struct command {
    int output;   /* a descriptor; -1: it does not run */
    int problems; /* a file with what it has said on standard error */
    long pid;
};

/* Starts a command. Errors: G2H_ERROR_SYSTEM. */
struct g2h_error *command_start(const char *words, struct command *ret);

/* Waits for its end. Errors: G2H_ERROR_SYSTEM if it failed; the message is the last line of what it
 * has said. */
struct g2h_error *command_end(struct command *command, const char *words);

#endif
