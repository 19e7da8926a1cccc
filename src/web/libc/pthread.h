/* POSIX threads where there is one thread: wasi-libc has none. Locks are free, nothing is waited
 * for, and no thread starts (EAGAIN), after which its work is done by the caller: base/workers.c.
 */
#ifndef WEB_LIBC_PTHREAD_H
#define WEB_LIBC_PTHREAD_H

#include <errno.h>
#include <signal.h>
#include <sys/types.h>

/* Some of wasi-libc's headers have types of these names, which nothing can be done with. */
#define pthread_t       int
#define pthread_attr_t  int
#define pthread_mutex_t int
#define pthread_cond_t  int

#define PTHREAD_MUTEX_INITIALIZER 0
#define PTHREAD_COND_INITIALIZER  0

static inline int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                                 void *(*start)(void *), void *context)
{
    (void)thread, (void)attributes, (void)start, (void)context;
    return EAGAIN;
}

static inline int pthread_join(pthread_t thread, void **ret)
{
    (void)thread, (void)ret;
    return ESRCH;
}

static inline int pthread_mutex_init(pthread_mutex_t *mutex, const void *attributes)
{
    (void)attributes;
    return *mutex = 0;
}

static inline int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    return *mutex = 0;
}

static inline int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    return *mutex = 0;
}

static inline int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    return *mutex = 0;
}

static inline int pthread_cond_init(pthread_cond_t *condition, const void *attributes)
{
    (void)attributes;
    return *condition = 0;
}

static inline int pthread_cond_destroy(pthread_cond_t *condition)
{
    return *condition = 0;
}

/* Nobody else could signal the condition: to wait for it would be to wait for ever. */
static inline int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    (void)condition, (void)mutex;
    __builtin_trap();
}

static inline int pthread_cond_signal(pthread_cond_t *condition)
{
    return *condition = 0;
}

static inline int pthread_cond_broadcast(pthread_cond_t *condition)
{
    return *condition = 0;
}

#endif
