/* tracee: a thread of another process that ptrace(2) was requested to stop. */
#ifndef PROCESS_ATTACH_TRACEE_H
#define PROCESS_ATTACH_TRACEE_H

#include <stdbool.h>
#include <sys/types.h>

enum tracee_state { TRACEE_RUNNING, TRACEE_STOPPED, TRACEE_STUCK, TRACEE_ENDED };

struct tracee {
    pid_t id;
    enum tracee_state state;
    int signal;         /* the signal at which it stopped, which is still to be delivered */
    bool is_group_stop; /* a signal such as SIGSTOP has stopped the process before */
};
#endif
