/*
 * filters: the verdict of a thread's seccomp filters on a system call, before it is made.
 *
 * A filter may answer a call by killing the process. Suspending it (PTRACE_O_SUSPEND_SECCOMP) is
 * not enough: if this program is killed at the wrong moment, the filter is back before the call. So
 * the filters are read, and run here.
 */
#ifndef PROCESS_ATTACH_FILTERS_H
#define PROCESS_ATTACH_FILTERS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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

#endif
