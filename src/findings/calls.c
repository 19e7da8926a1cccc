/* calls; see calls.h. */
#include "findings/calls.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/scope.h"

struct g2h_error *calls_init(struct calls *calls, const struct g2h_exe *exe)
{
    *calls = (struct calls){.inlining = NULL};
    return exe ? g2h_inlining_create(exe, &calls->inlining) : NULL;
}

void calls_deinit(struct calls *calls)
{
    g2h_inlining_destroy(calls->inlining);
    free(calls->list.data);
}

static bool is_runtime(const struct g2h_call *call)
{
    return bytes_begin(call->behind, "runtime.") || bytes_begin(call->behind, "internal/runtime/");
}

/* Returns the index of the first call outside of the runtime's own allocation functions (mallocgc,
 * growslice …), which would only say that memory is allocated; 0 if all calls are the runtime's. */
static size_t first_shown(const struct calls *calls)
{
    size_t first = 0;
    while (first < calls->list.count && is_runtime(&calls->list.data[first]))
        first++;
    return first < calls->list.count ? first : 0;
}

/* Copies the frames of the stack, and then repairs them: the dump's frames show inlined calls as
 * part of their callers. */
struct g2h_error *calls_read(struct calls *calls, struct g2h_memprof site)
{
    struct g2h_memprof_frame frame;
    calls->list.count = 0;
    while (g2h_memprof_next_frame(&site, &frame)) {
        const struct g2h_call call = {.function = frame.function,
                                      .file = frame.file,
                                      .behind = frame.function,
                                      .line = frame.line <= UINT32_MAX ? (uint32_t)frame.line : 0};
        TRY_MEMORY(vector_push(&calls->list, call));
    }
    /* The dump records inlined calls as calls of the function they are inlined in. */
    if (calls->inlining) {
        TRY_MEMORY(vector_grow(&calls->list, (size_t)G2H_MOST_INLINED));
        TRY(g2h_inlining_repair(calls->inlining, calls->list.data, &calls->list.count));
    }
    calls->first = first_shown(calls);
    return NULL;
}
