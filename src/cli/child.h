/* child: a command that this program starts, watches from its first instruction, and whose exit
 * status it returns. */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

#include <signal.h>
#include <stdbool.h>

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
