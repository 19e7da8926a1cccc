/*
 * attach_refuse: why a process cannot be read, and what to do about it.
 *
 * The system says EPERM for a dozen reasons. Which one it is follows from facts that are looked up
 * then; what is said of these is a function of nothing else.
 */
#ifndef PROCESS_ATTACH_REFUSE_H
#define PROCESS_ATTACH_REFUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Where we run; in a container its settings have to change, not the machine's. */
enum attach_place { ATTACH_MACHINE, ATTACH_CONTAINER, ATTACH_KUBERNETES };

struct attach_facts {
    uint64_t pid;
    int error;      /* the number of the system's error; 0: none yet */
    bool was_there; /* when it was looked at first */
    bool is_self, is_there;
    bool is_hidden;     /* it is there, but /proc does not show it (its option hidepid) */
    bool has_no_memory; /* a thread of the kernel, or one that is about to end */
    char state;         /* as in ps: 'Z': it has ended */
    uint64_t leader;    /* the process, where pid is one of its threads */
    uint64_t parent, user;
    bool is_other_user; /* it runs, in part at least, as another user or group than we do */
    uint64_t tracer;    /* that has it already; 0: none */
    char tracer_name[32];
    bool may_trace; /* we have CAP_SYS_PTRACE */
    unsigned yama;  /* /proc/sys/kernel/yama/ptrace_scope; 0 without Yama */
    enum attach_place place;
};

/* The error for facts; NULL where error is 0 and nothing else is known against it. */
struct g2h_error *attach_refusal(const struct attach_facts *facts);

/* The same for a process, of which was_there says that it has been there before. */
struct g2h_error *attach_refuse(uint64_t pid, int error, bool was_there);

#endif
