/*
 * watchdog: has the kernel end this program if it stands still while it may hold a process.
 *
 * A process that has come to its end stays there until its tracer lets it go (death.h). A tracer
 * that is stopped (SIGSTOP) or frozen (a control group's freezer) never does, and the process would
 * remain for ever. So a timer of the kernel's ends this program with SIGKILL unless it is set again
 * and again; then the process ends, or goes on if it lives. Only the freezer of version 1 of
 * control groups holds SIGKILL back, too, until it thaws the group.
 */
#ifndef PROCESS_ATTACH_WATCHDOG_H
#define PROCESS_ATTACH_WATCHDOG_H

#include <stdbool.h>

/* How long this program may stand still, in seconds. */
enum { WATCHDOG_SECONDS = 30 };

/* Starts the timer, with so many seconds until the first beat. Returns false if the system has no
 * such timers. */
bool watchdog_begin(unsigned seconds);

/* Shows that this program goes on, for another WATCHDOG_SECONDS. Does nothing without a timer. It
 * may be called by any thread. */
void watchdog_beat(void);

/* Ends this program after so many seconds, whatever it does until watchdog_end(). */
void watchdog_last(unsigned seconds);

void watchdog_end(void);

#endif
