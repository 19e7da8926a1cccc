/*
 * child: a command that --at-death starts, and the Go program among the processes that this starts.
 */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* ==== the Go program among the processes that a command has started: sh -c './server; true' ====
 */

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

/* ==== a command that this program starts ==== */

struct child {
    pid_t id; /* 0: no command */
    int go;   /* a pipe: the command starts once a byte arrives */
    bool has_ended;
    int status; /* as waitpid() has it; valid if has_ended */
    pid_t heir; /* a process that the command has started, and that may outlive it; 0: none */
    int passed; /* the last signal that was passed on to the command */
};

/* Forks a process that will run a command, with the signal mask given, once child_go() is called.
 * Returns 0 or an errno value. */
int child_start(char **command, const sigset_t *mask, struct child *ret);

void child_go(struct child *child);

/* Passes a signal on to the command or, if that has ended, to its heir, unless a terminal has sent
 * it, which has sent it to the command as well. The hangup of a terminal, of which the kernel tells
 * only the leader of the session, is passed on to the process group. */
void child_forward(struct child *child, const siginfo_t *info);

/* Notes how the command has ended. If a signal that was passed on has ended it, its heir gets that,
 * too: a shell does not pass it on to a program that it waits for. */
void child_end(struct child *child, int status);

/* Returns the exit status of this program for that of a command that has ended, as shells have it:
 * 128 and the number of the signal that ended it. */
int child_exit_status(const struct child *child);

#endif
