/*
 * refuse: why a process cannot be read, and what to do about it.
 *
 * The system returns EPERM for a dozen reasons. The facts that distinguish them are looked up after
 * the error, and the message depends only on these facts.
 */
#ifndef PROCESS_ATTACH_REFUSE_H
#define PROCESS_ATTACH_REFUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* This program's environment: in a container, the container's settings must change, not the
 * machine's. */
enum attach_environment { ATTACH_MACHINE, ATTACH_CONTAINER, ATTACH_KUBERNETES };

struct attach_facts {
    uint64_t pid;
    int error;      /* an errno value; 0: no error so far */
    bool was_there; /* the process existed at the first look */
    bool is_self, is_there;
    bool has_no_proc;   /* nothing, or something else, is mounted at /proc */
    bool is_other_proc; /* /proc is that of another pid namespace, whose numbers differ */
    bool is_hidden;     /* the process exists, but /proc does not show it (mount option hidepid) */
    bool has_no_memory; /* a kernel thread, or a process that is about to end */
    char state;         /* as ps shows it; 'Z': the process has ended */
    uint64_t leader;    /* the process's id, if pid is one of its threads */
    uint64_t parent, user;
    bool is_other_user; /* at least part of it runs as another user or group than this program */
    uint64_t tracer;    /* the process that traces it already; 0: none */
    char tracer_name[32];
    uint64_t
        traced;    /* the thread that the tracer traces, if it is not the first one; 0: the first */
    bool has_more; /* it has capabilities that this program lacks */
    bool may_trace; /* this program has CAP_SYS_PTRACE */
    unsigned yama;  /* /proc/sys/kernel/yama/ptrace_scope; 0 without Yama */
    enum attach_environment environment;
};

/* Returns the error for facts, or NULL if error is 0 and no other fact prevents reading. */
struct g2h_error *attach_refusal(const struct attach_facts *facts);

/* Looks up the facts of a process and returns the error for them, or NULL. was_there: the process
 * has been found before. */
struct g2h_error *attach_refuse(uint64_t pid, int error, bool was_there);

#endif
