/*
 * at_death: --at-death, which waits for the end of a process and then writes its heap.
 *
 * It sleeps until something happens, checks a few times per second how much memory the process has,
 * and reserves as much for the copy. It never changes the process: whenever this program ends, the
 * process continues.
 */
#ifndef CLI_AT_DEATH_H
#define CLI_AT_DEATH_H

#include "cli/options.h"
#include "library/death_box.h"

/* Converts a process that was copied and writes it to a path. Reports errors. Returns an exit
 * status. */
typedef int at_death_write(void *context, struct death *death, uint64_t pid, const char *path);

/* What is answered when the process is seized, and to each request by SIGUSR2: the first of these
 * lets the process go, the next one seizes it again. */
enum {
    AT_DEATH_READY = 'r', /* done */
    AT_DEATH_ENDED = 'e', /* the process is ending; its heap has been copied if it is wanted */
};

/* Waits for the end of the process of the options, or of their command, which it starts. answers is
 * a descriptor for the answers to requests; -1: there are none. Returns the exit status: that of
 * the command, if there is one. */
int at_death_run(const struct options *options, at_death_write *write, void *context, int answers);

/* Returns whether an output is a directory: it is one, or ends with a slash. */
bool at_death_is_directory(const char *path);

#endif
