/*
 * hold: what signals do while --at-death holds the only copy of a heap; see hold.h. Handlers run at
 * any moment, so the messages that they print are made before (set_message) and written by write(2)
 * alone.
 */
#include "cli/hold.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/port.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/target.h"

/* These end a program that writes, if they come twice. */
static const int ending[] = {SIGTERM, SIGINT};
enum { ENDING = COUNT_OF(ending) };

/* A message that is made before the signal comes. */
struct hold_message {
    char text[300];
    size_t size;
};

static struct {
    struct hold_message first, second, late;
    pid_t but;   /* a process whose signals do not count; 0: none */
    double when; /* of the first signal, as clock_seconds(); 0: there was none */
} hold;

/* Blocks signals, so that sigtimedwait() gets them: *ret becomes all but those of errors in this
 * program and those that are ignored (of these SIGCHLD counts all the same). *ret_before: those
 * that were blocked before. */
void hold_signals(sigset_t *ret, sigset_t *ret_before)
{
    static const int errors[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    struct sigaction action;
    sigfillset(ret);
    for (size_t i = 0; i < COUNT_OF(errors); i++)
        sigdelset(ret, errors[i]);
    for (int number = 1; number < NSIG; number++)
        if (number != SIGCHLD && sigaction(number, NULL, &action) == 0 &&
            action.sa_handler == SIG_IGN)
            sigdelset(ret, number);
    signal(SIGCHLD, SIG_DFL);
    pthread_sigmask(SIG_BLOCK, ret, ret_before);
}

/* Writes a message that was made before, from a signal's handler; nothing if that would wait. */
static void hold_say(const struct hold_message *message)
{
    if (!messages_can_print())
        return;
    const ssize_t written = write(STDERR_FILENO, message->text, message->size);
    (void)written; /* the reader may have gone */
}

/* Ends the program without its file. */
static void hold_give_up(const struct hold_message *message)
{
    target_remove_unfinished();
    hold_say(message);
    _exit(EXIT_FAILED);
}

/* Handles the signals of `ending`. Several threads may run this at once. A second signal that comes
 * HOLD_FIRST to HOLD_LAST seconds after the first ends the program; one that comes later counts as
 * a first one again. Those of the process `but` do not count. A sender outside of this PID
 * namespace, as docker stop is for a container, has the ID 0 here. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    const double now = clock_seconds();
    const double since = now - hold.when;
    (void)number, (void)context;
    if (info->si_code <= 0 && hold.but != 0 && info->si_pid == hold.but)
        return;
    if (hold.when > 0 && since < HOLD_FIRST)
        return;
    if (hold.when > 0 && since <= HOLD_LAST)
        hold_give_up(&hold.second);
    hold.when = now;
    hold_say(&hold.first);
}

/* Handles SIGALRM, by which hold_for() says that time is up: gives up. One that a process has sent
 * (si_code <= 0) is ignored. */
static void on_late(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    if (info->si_code > 0)
        hold_give_up(&hold.late);
}

/* Makes a message; one that is too long becomes empty. */
static void set_message(struct hold_message *message, const char *format, unsigned long long pid)
{
    const int size = snprintf(message->text, sizeof(message->text), format, pid);
    message->size = size > 0 && as_size(size) < sizeof(message->text) ? as_size(size) : 0;
}

/* Lets the ending signals and SIGALRM through (SIG_UNBLOCK), or blocks them again (SIG_BLOCK). */
static void hold_mask(int how)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    for (size_t i = 0; i < ENDING; i++)
        sigaddset(&set, ending[i]);
    pthread_sigmask(how, &set, NULL);
}

/* Begins to write the heap of a process. From now on the first ending signal only prints what is at
 * stake, and a second one ends the program. The messages are made now, as signal handlers may not
 * format text. */
void hold_begin(uint64_t pid, pid_t but)
{
    struct sigaction old;
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    hold.but = but;
    hold.when = 0;
    set_message(&hold.first,
                "go2heapsnapshot: note: the heap of process %llu is being written; a second signal "
                "within 2 s ends this, and the heap is lost\n",
                pid);
    set_message(&hold.second,
                "go2heapsnapshot: ended by a second signal: the heap of process %llu is lost\n",
                pid);
    set_message(&hold.late,
                "go2heapsnapshot: process %llu is not held any longer, and the kernel ends "
                "go2heapsnapshot with it: its heap is lost\n",
                pid);
    for (size_t i = 0; i < ENDING; i++)
        if (sigaction(ending[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(ending[i], &action, NULL);
    action.sa_sigaction = on_late;
    sigaction(SIGALRM, &action, NULL);
    hold_mask(SIG_UNBLOCK);
}

void hold_for(unsigned seconds)
{
    alarm(seconds);
}

/* Ends what hold_begin() began: no more messages, and signals wait again. */
void hold_end(void)
{
    alarm(0);
    hold_mask(SIG_BLOCK);
}
