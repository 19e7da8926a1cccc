/* urgent; see urgent.h. */
#include "process/attach/urgent.h"

#ifdef __linux__

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Sets the scheduling policy of the calling thread. The C library's functions of these names are
 * for processes by POSIX, and musl does not implement them. The kernel's are for threads; 0 is the
 * caller's. Returns 0 or an errno value. */
static int set_policy(int policy, int priority)
{
    const struct sched_param parameters = {.sched_priority = priority};
    return syscall(SYS_sched_setscheduler, 0, policy, &parameters) < 0 ? errno : 0;
}

/* Reads the scheduling policy of the calling thread. Returns false if that fails. */
static bool read_policy(int *ret_policy, int *ret_priority)
{
    struct sched_param parameters;
    const long policy = syscall(SYS_sched_getscheduler, 0);
    if (policy < 0 || syscall(SYS_sched_getparam, 0, &parameters) < 0)
        return false;
    *ret_policy = (int)policy;
    *ret_priority = parameters.sched_priority;
    return true;
}

static int lowest(void)
{
    return sched_get_priority_min(SCHED_RR);
}

/* Returns whether a policy is one without urgency. A thread of another policy is already urgent, as
 * its user wished. */
static bool is_usual(int policy)
{
    const int kind = policy & ~SCHED_RESET_ON_FORK;
    return kind == SCHED_OTHER || kind == SCHED_BATCH || kind == SCHED_IDLE;
}

/* Real-time priority lets this thread run at once when the process has been stopped, on a busy
 * machine, too. SCHED_RESET_ON_FORK keeps it from other threads. */
int attach_urgent_begin(struct attach_urgent *ret)
{
    *ret = (struct attach_urgent){0};
    if (!read_policy(&ret->policy, &ret->priority))
        return errno;
    if (!is_usual(ret->policy))
        return 0;
    const int error = set_policy(SCHED_RR | SCHED_RESET_ON_FORK, lowest());
    ret->is_urgent = error == 0;
    return error;
}

void attach_urgent_end(const struct attach_urgent *urgent)
{
    /* Without CAP_SYS_NICE, SCHED_RESET_ON_FORK cannot be removed; it does nothing to a thread that
     * is not urgent. */
    if (urgent->is_urgent && set_policy(urgent->policy, urgent->priority) != 0)
        (void)set_policy(urgent->policy | SCHED_RESET_ON_FORK, urgent->priority);
}

/* Starts a thread that has the policy before it runs. If it had to set the policy itself, it would
 * first wait for a processor like any other. Returns 0 or an errno value. */
static int start_urgent(pthread_t *ret, void *(*body)(void *), void *argument)
{
    const struct sched_param parameters = {.sched_priority = lowest()};
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error != 0)
        return error;
    error = pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    if (error == 0)
        error = pthread_attr_setschedpolicy(&attributes, SCHED_RR);
    if (error == 0)
        error = pthread_attr_setschedparam(&attributes, &parameters);
    if (error == 0)
        error = pthread_create(ret, &attributes, body, argument);
    pthread_attr_destroy(&attributes);
    return error;
}

int attach_urgent_start(pthread_t *ret, void *(*body)(void *), void *argument)
{
    return start_urgent(ret, body, argument) == 0 ? 0 : pthread_create(ret, NULL, body, argument);
}

void attach_urgent_confine(void)
{
    int policy, priority;
    if (read_policy(&policy, &priority) && policy == SCHED_RR)
        (void)set_policy(SCHED_RR | SCHED_RESET_ON_FORK, priority);
}

#endif
