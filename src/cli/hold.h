/*
 * hold: what signals do to --at-death, which may have the only copy of a heap.
 *
 * All signals that can be blocked are, from the start: those that matter while it waits are taken
 * one by one, and none of them comes before the end of the process. From that end until the file is
 * complete they do nothing, except that a second SIGTERM or SIGINT soon after a first one ends this
 * program, with a message that the heap is lost.
 */
#ifndef CLI_HOLD_H
#define CLI_HOLD_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

/* How long after a first signal a second one ends the program, in seconds. timeout(1) sends one to
 * a command and then to its group, so two at once count as one. */
#define HOLD_FIRST 0.2
#define HOLD_LAST  2.0

/* Blocks signals, except those that report an error of the program itself, and that the caller
 * ignores, which stay ignored. *ret are those that are blocked now, *ret_before those that were
 * before. */
void hold_signals(sigset_t *ret, sigset_t *ret_before);

/* Begins to write the heap of a process: see above. Signals of the process `but` do not count. */
void hold_begin(uint64_t pid, pid_t but);
void hold_end(void);

/* Has the program end after so many seconds, with the message that the heap is lost, unless
 * hold_end() is called. To be called after hold_begin(), for a process that waits for the file and
 * that the kernel ends this program with. */
void hold_for(unsigned seconds);

#endif
