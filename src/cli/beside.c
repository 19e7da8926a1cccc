/* beside; see beside.h. */
#include "cli/beside.h"

#include <assert.h>
#include <signal.h>
#include <stddef.h>

/* Removes and returns the item that waits, or waits for one. Returns NULL if no more will come. */
static void *next(struct beside *beside)
{
    pthread_mutex_lock(&beside->lock);
    beside->is_busy = false;
    pthread_cond_broadcast(&beside->changed);
    while (!beside->waiting && !beside->is_over)
        pthread_cond_wait(&beside->changed, &beside->lock);
    void *item = beside->waiting;
    beside->waiting = NULL;
    beside->is_busy = item != NULL;
    pthread_mutex_unlock(&beside->lock);
    return item;
}

static void *beside_run(void *argument)
{
    struct beside *beside = argument;
    for (void *item; (item = next(beside));)
        beside->work(beside->context, item);
    return NULL;
}

/* Blocks the signals that processes send; the thread inherits that. */
static void beside_block_signals(sigset_t *ret_before)
{
    sigset_t signals;
    sigfillset(&signals);
    sigdelset(&signals, SIGBUS);
    sigdelset(&signals, SIGSEGV);
    pthread_sigmask(SIG_BLOCK, &signals, ret_before);
}

int beside_begin(beside_work *work, void *context, struct beside *ret)
{
    sigset_t before;
    *ret = (struct beside){.work = work, .context = context};
    pthread_mutex_init(&ret->lock, NULL);
    pthread_cond_init(&ret->changed, NULL);
    beside_block_signals(&before);
    const int error = pthread_create(&ret->thread, NULL, beside_run, ret);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        pthread_cond_destroy(&ret->changed);
        pthread_mutex_destroy(&ret->lock);
    }
    return error;
}

bool beside_has_room(struct beside *beside)
{
    pthread_mutex_lock(&beside->lock);
    const bool has_room = !beside->waiting;
    pthread_mutex_unlock(&beside->lock);
    return has_room;
}

bool beside_is_idle(struct beside *beside)
{
    pthread_mutex_lock(&beside->lock);
    const bool is_idle = !beside->waiting && !beside->is_busy;
    pthread_mutex_unlock(&beside->lock);
    return is_idle;
}

void beside_give(struct beside *beside, void *item)
{
    pthread_mutex_lock(&beside->lock);
    assert(!beside->waiting);
    beside->waiting = item;
    pthread_cond_broadcast(&beside->changed);
    pthread_mutex_unlock(&beside->lock);
}

void beside_wait(struct beside *beside)
{
    pthread_mutex_lock(&beside->lock);
    while (beside->waiting || beside->is_busy)
        pthread_cond_wait(&beside->changed, &beside->lock);
    pthread_mutex_unlock(&beside->lock);
}

void beside_end(struct beside *beside)
{
    beside_wait(beside);
    pthread_mutex_lock(&beside->lock);
    beside->is_over = true;
    pthread_cond_broadcast(&beside->changed);
    pthread_mutex_unlock(&beside->lock);
    pthread_join(beside->thread, NULL);
    pthread_cond_destroy(&beside->changed);
    pthread_mutex_destroy(&beside->lock);
}
