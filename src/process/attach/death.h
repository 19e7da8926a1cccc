/*
 * death: stops a process at its end, while its memory still exists.
 *
 * One thread of the process is seized with PTRACE_O_TRACEEXIT, and nothing else changes: the thread
 * runs on, and stops only for signals that are delivered to it. When the process is killed, by any
 * sender, that thread stops in PTRACE_EVENT_EXIT before it gives up the memory, which all threads
 * share. It is normally the second thread, which runs no goroutines and gets no signals of the
 * scheduler (sysmon). If the tracer ends, the kernel detaches the thread and the process lives on.
 *
 * All functions must be called by the same thread of this program: the tracer.
 */
#ifndef PROCESS_ATTACH_DEATH_H
#define PROCESS_ATTACH_DEATH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/attach/process.h"

struct death_watch {
    uint64_t pid;
    pid_t thread;               /* the seized one; 0: none */
    bool is_stopped;            /* it has stopped at its end */
    int status;                 /* its exit status, as in waitpid(); valid if is_stopped, or if it
                                   has ended without that */
    bool is_alone;              /* only the thread ends: the process continues; valid if
                                   is_stopped */
    unsigned long signal_stops; /* how often it stopped for a signal */
};

/* Seizes a thread of watch->pid that is not about to end. Returns 0 or an errno value: ESRCH: the
 * process has ended, or is about to; EPERM: it may not be traced. */
int death_seize(struct death_watch *watch);

/* Seizes the first thread of a child of this program that has not called execve() yet. Returns 0 or
 * an errno value. */
int death_seize_child(struct death_watch *watch);

/* Seizes the second thread instead of the first one, if there is a second one by now. The first one
 * may turn out to have stopped at its end, as after death_note(). */
void death_prefer_second(struct death_watch *watch);

/* Returns whether a status of waitpid() reports an execve(), after which the process is still
 * stopped. */
bool death_is_exec(int wait_status);

/* Returns whether a result of waitpid() concerns the seized thread, which execve() may have given
 * another number. */
bool death_concerns(const struct death_watch *watch, pid_t id, int wait_status);

/* Processes a result of waitpid() for the thread, and lets it run on unless it has stopped at its
 * end: then watch->is_stopped. If it has ended without that, watch->thread is 0. */
void death_note(struct death_watch *watch, pid_t id, int wait_status);

/* Reads the registers of the thread, which has stopped at its end. Returns false if it cannot. */
bool death_registers(const struct death_watch *watch, struct process_thread *ret);

/* Lets the thread run untraced; watch->thread becomes 0. If the thread has stopped at its end, does
 * nothing and returns false. */
bool death_let_run(struct death_watch *watch);

/* Lets the thread end, or run, untraced. watch->thread becomes 0. */
void death_let_go(struct death_watch *watch);

/* Returns whether the process has a thread that is not about to end, other than the given one,
 * which may be 0. */
bool death_is_alive(uint64_t pid, pid_t but);

#endif
