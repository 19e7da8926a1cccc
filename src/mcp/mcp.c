/* mcp; see mcp.h. */
#include "mcp/mcp.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/scope.h"
#include "mcp/line_io.h"
#include "mcp/protocol.h"

enum { RESERVED = 4096 /* bytes of an answer: enough for the error that memory has run out */ };

struct mcp {
    struct mcp_settings settings;
    int in, out;
    pthread_t thread;
    struct g2h_error *error; /* of the thread, when it has ended */
    pthread_mutex_t lock;
    pthread_cond_t is_there;
    struct answers *answers; /* NULL: the heap is not there yet; under the lock */
};

/* Waits for the heap, and returns its answers. */
static struct answers *mcp_await(void *context)
{
    struct mcp *mcp = context;
    pthread_mutex_lock(&mcp->lock);
    while (!mcp->answers)
        pthread_cond_wait(&mcp->is_there, &mcp->lock);
    struct answers *answers = mcp->answers;
    pthread_mutex_unlock(&mcp->lock);
    return answers;
}

/* Reads and answers messages until the client is gone. What this needs for any message it gets from
 * the system first; memory that runs out later fails only the answer that is being made. */
static struct g2h_error *mcp_talk(struct mcp *mcp)
{
    _cleanup_(lines_deinit) struct lines lines = {.fd = mcp->in};
    _cleanup_(text_deinit) struct text answer = {0};
    struct protocol protocol = {.settings = &mcp->settings, .await = mcp_await, .context = mcp};
    TRY_MEMORY(lines_reserve(&lines) && text_grow(&answer, RESERVED));
    for (enum lines_state state;; answer.size = 0) {
        TRY(lines_read(&lines, &state));
        if (state == LINES_END)
            return NULL;
        if (state == LINES_TOO_LONG)
            protocol_refuse_long(&answer);
        else
            protocol_answer(&protocol, lines.line, lines.size, &answer);
        if (answer.failed)
            protocol_refuse_memory(lines.line, lines.size, &answer);
        TRY(lines_write(mcp->out, &answer));
    }
}

static void *mcp_run(void *context)
{
    struct mcp *mcp = context;
    mcp->error = mcp_talk(mcp);
    return NULL;
}

struct g2h_error *mcp_begin(const struct mcp_settings *settings, int in, int out, struct mcp **ret)
{
    struct mcp *mcp = *ret = calloc(1, sizeof(*mcp));
    TRY_MEMORY(mcp);
    *mcp = (struct mcp){.settings = *settings,
                        .in = in,
                        .out = out,
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .is_there = PTHREAD_COND_INITIALIZER};
    signal(SIGPIPE, SIG_IGN); /* writing fails instead */
    const int number = pthread_create(&mcp->thread, NULL, mcp_run, mcp);
    return number == 0 ? NULL : error_system(number, "cannot start a thread");
}

struct g2h_error *mcp_serve(struct mcp *mcp, const struct answers_options *options)
{
    _cleanup_(answers_destroy) struct answers *answers = NULL;
    TRY(answers_create(options, &answers));
    pthread_mutex_lock(&mcp->lock);
    mcp->answers = answers;
    pthread_cond_signal(&mcp->is_there);
    pthread_mutex_unlock(&mcp->lock);
    pthread_join(mcp->thread, NULL);
    struct g2h_error *error = mcp->error;
    free(mcp);
    return error;
}
