/* command: a command whose standard output is a dump, for --inspect and --watch. */
#ifndef INSPECT_COMMAND_H
#define INSPECT_COMMAND_H

#include "library/origin.h"

/*
 * Opens the heap that a command prints. The options' path and pid are not used. If the command
 * fails, its own message is more useful than an error about the dump. After an error, too, the
 * caller closes what ret has, as after origin_open(). Errors: those of origin_open();
 * G2H_ERROR_SYSTEM if the command failed; the message is the last line of its standard error.
 */
struct g2h_error *command_open(const char *words, const struct origin_options *options,
                               struct origin *ret);

#endif
