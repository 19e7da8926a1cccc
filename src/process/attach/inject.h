/*
 * inject: one system call in a thread of a Go process that sleeps in runtime.futex, if the thread's
 * seccomp filters permit it.
 */
#ifndef ATTACH_INJECT_H
#define ATTACH_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ==== a thread of another process that ptrace(2) was requested to stop ==== */

enum tracee_state { TRACEE_RUNNING, TRACEE_STOPPED, TRACEE_STUCK, TRACEE_ENDED };

struct tracee {
    pid_t id;
    enum tracee_state state;
    int signal;         /* the signal at which it stopped, which is still to be delivered */
    bool is_group_stop; /* a signal such as SIGSTOP has stopped the process before */
};

/* ==== the verdict of a thread's seccomp filters on a system call, before it is made ====
 *
 * A filter may answer a call by killing the process. Suspending it (PTRACE_O_SUSPEND_SECCOMP) is
 * not enough: if this program is killed at the wrong moment, the filter is back before the call. So
 * the filters are read, and run here.
 */

/* An instruction of the classic BPF (struct sock_filter of linux/filter.h). */
struct filters_instruction {
    uint16_t code;
    uint8_t if_true, if_false;
    uint32_t value;
};

/* The input of filters (struct seccomp_data of linux/seccomp.h). */
struct filters_call {
    uint32_t number, machine;
    uint64_t pointer, arguments[6];
};

enum filters_answer {
    FILTERS_ALLOW,  /* the call is made; there may be no filter */
    FILTERS_REFUSE, /* it is not made, and returns an error: no harm */
    FILTERS_HARM, /* the thread or process is killed or gets a signal, or another program decides */
    FILTERS_UNKNOWN /* they cannot be read: that takes CAP_SYS_ADMIN */
};

/* Runs one filter. Returns its result (SECCOMP_RET_…), or 0, the code for killing, if the kernel
 * would not have accepted it. */
uint32_t filters_run(const struct filters_instruction *program, size_t count,
                     const struct filters_call *call);

/* Finds the combined verdict of a stopped tracee's filters on a call of amd64; pointer is its
 * instruction pointer. */
enum filters_answer filters_ask(pid_t id, long number, uint64_t pointer,
                                const uint64_t arguments[6]);

/* ==== one system call in a thread of a Go process that sleeps in runtime.futex ====
 *
 * The thread is borrowed: its registers are saved, it makes the call by the instruction after which
 * it sleeps, and gets its registers back. It is then in its previous state, and the kernel restarts
 * the futex(2) that the stop has interrupted. A thread that sleeps there waits for another one
 * (runtime.notesleep), checks after each return whether the other has woken it, and otherwise
 * sleeps again; the runtime ignores the result of futex(2). So if this program ends in between, at
 * any instruction, the thread returns from the injected call as from a spurious wakeup.
 *
 * All of these functions must be called on the tracer's thread. The waiting calls of ptrace(2)
 * leave each stop with the kernel (WNOWAIT), so that no signal is lost if this program ends.
 */

/* Addresses of functions of the Go runtime in the process; 0: not found. */
struct inject_code {
    uint64_t futex, exit; /* runtime.futex, runtime.exit (sys_linux_*.s) */
};

/* Returns whether calls can be injected into processes of this machine: it is amd64. */
bool inject_is_possible(void);

/* The results of inject() besides those of the call itself. */
enum {
    INJECT_AGAIN = -10000, /* a signal came first: nothing has happened */
    INJECT_LOST = -10001,  /* the thread has ended, or does not respond: only the end of the
                              tracer's thread lets the others continue in time */
};

/* A borrowed thread. */
struct injection {
    struct tracee *tracee;  /* stopped; gets the signal at which it has stopped meanwhile */
    bool suspends_filters;  /* PTRACE_O_SUSPEND_SECCOMP: takes CAP_SYS_ADMIN */
    bool traces_child;      /* a process that the call makes becomes a tracee of this thread, is
                               stopped, is killed when this thread ends, and is the first choice of
                               the OOM killer */
    bool is_timed;          /* the thread's sleep has a time limit */
    pid_t child;            /* that process, certain to be a tracee; 0: none */
    uint64_t registers[32]; /* those to be restored */
};

/*
 * Prepares for injecting calls into a stopped thread. Returns whether it sleeps where it may be
 * borrowed, and the process's code of both functions is as expected.
 */
bool inject_begin(struct tracee *tracee, const struct inject_code *code, struct injection *ret);

/* Returns whether a running thread seems to sleep where it may be borrowed, by
 * /proc/PID/task/ID/syscall. */
bool inject_is_sleeping(uint64_t pid, pid_t id, const struct inject_code *code);

/* The exit status of a process that ends through the exit frame, by which it is recognized
 * later. */
enum { INJECT_STATUS = 71 };

/*
 * Writes a frame below the thread's stack such that a process that begins after runtime.futex's
 * system call with the returned stack would return into runtime.exit(INJECT_STATUS), and end.
 * Returns that stack, or 0 if it cannot be written.
 */
uint64_t inject_exit_frame(const struct injection *injection, const struct inject_code *code);

/* Returns the thread's instruction pointer during the call, for filters. */
uint64_t inject_pointer(const struct injection *injection);

/* Makes the thread call. Returns the result of the call, a negative errno value included,
 * INJECT_AGAIN or INJECT_LOST. */
long inject(struct injection *injection, long call, const uint64_t arguments[6]);

/* Waits until a tracee has stopped or ended, for at most some seconds. Returns its state: si_status
 * of the stop, or -1. */
int inject_await(pid_t id);

#endif
