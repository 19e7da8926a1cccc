/* beside: processes one item after the other in a thread of its own, in parallel with the
 * caller's. */
#ifndef CLI_BESIDE_H
#define CLI_BESIDE_H

#include <pthread.h>
#include <stdbool.h>

/* Processes an item and frees it. */
typedef void beside_work(void *context, void *item);

/* At most one item waits while another one is processed, so that memory is bounded. */
struct beside {
    beside_work *work;
    void *context;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void *waiting; /* NULL: none */
    bool is_busy;  /* an item is being processed */
    bool is_over;  /* no more items will come */
};

/* Starts the thread, in which signals are blocked. Returns 0 or an error number; after 0 the caller
 * calls beside_end(). */
int beside_begin(beside_work *work, void *context, struct beside *ret);

/* Returns whether beside_give() may be called: no item waits. */
bool beside_has_room(struct beside *beside);

/* Returns whether no item waits or is being processed. */
bool beside_is_idle(struct beside *beside);

/* Passes on an item, which is processed after those before. */
void beside_give(struct beside *beside, void *item);

/* Waits until all items have been processed. */
void beside_wait(struct beside *beside);

/* Waits likewise, and ends the thread. */
void beside_end(struct beside *beside);

#endif
