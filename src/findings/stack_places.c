/* stack_places; see stack_places.h. */
#include "findings/stack_places.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

/* ---- stacks ---- */

void stack_walk_begin(struct stack_walk *walk, const struct g2h_view *view, uint32_t goroutine,
                      bool is_whole)
{
    *walk = (struct stack_walk){.view = view, .is_whole = is_whole};
    g2h_view_goroutine(view, goroutine, &walk->goroutine);
}

/* Gets the next function, whichever it is. */
static bool stack_walk_step(struct stack_walk *walk, struct g2h_view_call *ret)
{
    while (walk->frame < walk->goroutine.frame_count) {
        if (g2h_view_call(walk->view, walk->goroutine.first_frame + (size_t)walk->frame,
                          walk->call++, ret))
            return true;
        walk->frame++;
        walk->call = 0;
    }
    return false;
}

/* A stack of the runtime alone has no function that it is at: nothing is left out of it. */
bool stack_walk_next(struct stack_walk *walk, struct g2h_view_call *ret)
{
    static const char *const ends[] = {"runtime.goexit", "runtime.main", "runtime.corostart"};
    while (stack_walk_step(walk, ret)) {
        bool is_end = false;
        walk->is_inside |=
            walk->goroutine.at == UINT32_MAX || ret->number == walk->goroutine.at || walk->is_whole;
        for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
            is_end |= bytes_are(ret->function, ends[i]);
        if (walk->is_inside && !ret->is_wrapper && (walk->is_whole || !is_end))
            return true;
    }
    return false;
}

/* Appends a frame after others. */
static void append_frame(const struct findings *findings, const struct g2h_view_call *call,
                         struct text *text)
{
    _cleanup_(g2h_text_deinit) struct g2h_text name = {0};
    g2h_view_call_text(findings->view, call, &name);
    text_append(text, name.data ? name.data : "", name.size);
    text->failed |= name.failed;
}

void stack_append_function(const struct findings *findings,
                           const struct g2h_view_goroutine *goroutine, struct text *text)
{
    const struct g2h_view_call call = {.function = goroutine->function};
    append_frame(findings, &call, text);
}

bool stack_append_frames(const struct findings *findings, uint32_t goroutine, struct text *text)
{
    enum { SHOWN = 4, READ = 200 };
    const struct g2h_exe *exe = g2h_view_exe(findings->view);
    struct stack_walk walk;
    struct g2h_view_call call;
    bool has_own = false;
    unsigned count = 0, shown = 0;
    stack_walk_begin(&walk, findings->view, goroutine, false);
    while (count < READ && (shown < SHOWN || !has_own) && stack_walk_next(&walk, &call)) {
        const bool is_own = g2h_exe_is_own(exe, call.function);
        if (shown < SHOWN || is_own) {
            if (shown > 0)
                text_append_string(text, count == shown ? " ← " : " ← … ← ");
            append_frame(findings, &call, text);
            shown++;
        }
        has_own |= is_own;
        count++;
    }
    return count > 0 && !text->failed;
}

/* ---- places ---- */

/* A stack and how many goroutines have it. */
struct stack_kind {
    uint32_t count, example;
};

static uint64_t hash_stack(const struct g2h_view *view, uint32_t number)
{
    struct g2h_view_goroutine goroutine;
    struct g2h_view_call call;
    uint64_t hash = 0;
    g2h_view_goroutine(view, number, &goroutine);
    for (uint32_t i = 0; i < goroutine.frame_count; i++)
        if (g2h_view_call(view, goroutine.first_frame + (size_t)i, 0, &call))
            hash = map_hash_pair(hash, call.number);
    return hash;
}

static int compare_minutes(const void *a, const void *b)
{
    const uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return one < other ? -1 : one > other;
}

/* Finds the most frequent stack, and the first goroutine that has it. */
static struct g2h_error *find_typical(const struct findings *findings, const uint32_t *list,
                                      uint32_t count, struct stack_place *ret)
{
    _cleanup_(map_deinit) struct map kinds = {0};
    VECTOR(struct stack_kind) all = {0};
    bool good = true;
    for (uint32_t i = 0; i < count && good; i++) {
        uint32_t at = (uint32_t)all.count;
        good = map_put(&kinds, hash_stack(findings->view, list[i]), at, &at) &&
               (at < all.count || vector_push(&all, ((struct stack_kind){0, list[i]})));
        if (!good)
            break;
        all.data[at].count++;
    }
    for (size_t i = 0; i < all.count; i++)
        if (all.data[i].count > ret->alike) {
            ret->alike = all.data[i].count;
            ret->example = all.data[i].example;
        }
    free(all.data);
    return good ? NULL : &error_no_memory;
}

struct g2h_error *stack_place_find(const struct findings *findings, uint32_t place,
                                   struct stack_place *ret)
{
    uint32_t count;
    const uint32_t *list = stack_index_of(findings, place, &count);
    struct g2h_view_goroutine goroutine;
    *ret = (struct stack_place){.example = UINT32_MAX, .of = count};
    if (count == 0)
        return NULL;
    TRY(find_typical(findings, list, count, ret));
    _cleanup_free_ uint32_t *minutes = calloc(count, sizeof(*minutes));
    TRY_MEMORY(minutes);
    for (uint32_t i = 0; i < count; i++) {
        g2h_view_goroutine(findings->view, list[i], &goroutine);
        minutes[i] = goroutine.minutes;
    }
    qsort(minutes, count, sizeof(*minutes), compare_minutes);
    ret->oldest = minutes[count - 1];
    ret->median = minutes[count / 2];
    g2h_view_goroutine(findings->view, ret->example, &goroutine);
    ret->goid = goroutine.record.goid;
    return NULL;
}
