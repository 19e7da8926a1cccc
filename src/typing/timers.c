/*
 * timers: types the objects that contain the runtime's timers.
 *
 * Until Go 1.22 time.NewTimer, time.After and the like allocate a time.Timer, and the runtime keeps
 * a pointer to the runtime.timer inside it, which follows its channel. Often nothing else points to
 * the object: time.After in a loop leaks this way. A time.Ticker has the same layout, but its timer
 * has a period.
 */
#include <string.h>

#include "typing/claims.h"

/* The types of timers, and the offsets of their fields. */
struct timer_types {
    uint32_t timer, ticker; /* time.Timer; time.Ticker, or TYPE_NONE */
    uint32_t runtime_timer;
    uint64_t offset; /* of the runtime.timer in a time.Timer */
    uint64_t period; /* of the runtime.timer's period in a time.Timer */
};

/* Finds the types of timers and of their lists. Returns false if there are no such types, or if a
 * timer differs from those until Go 1.22. */
static bool find_timer_types(const struct types *types, struct timer_types *ret)
{
    ret->timer = types_find(types, "time.Timer");
    ret->ticker = types_find(types, "time.Ticker");
    ret->runtime_timer = types_find(types, "runtime.timer");
    if (ret->timer == TYPE_NONE || ret->runtime_timer == TYPE_NONE)
        return false;
    const struct type_field *inner = types_field(types, ret->timer, "r"),
                            *period = types_field(types, ret->runtime_timer, "period");
    if (!inner || inner->type != ret->runtime_timer || !period)
        return false;
    ret->offset = inner->offset;
    ret->period = inner->offset + period->offset;
    return true;
}

/* Returns whether the timer of an object that may be a time.Timer repeats. */
static bool has_period(const struct typing *typing, uint32_t object, uint64_t period)
{
    static const uint8_t none[8] = {0}; /* an int64 of 0, in any byte order */
    const struct g2h_bytes contents = heap_contents(typing->heap, object);
    return contents.size >= sizeof(none) && period <= contents.size - sizeof(none) &&
           memcmp(contents.data + period, none, sizeof(none)) != 0;
}

/* Finds the parts of type runtime.timer at the offset that they have in a time.Timer: the runtime's
 * pointers lead there, so the object is a time.Timer or, if the timer repeats, a time.Ticker. */
void typing_seed_timers(struct typer *typer)
{
    struct typing *typing = typer->typing;
    struct timer_types types;
    if (!find_timer_types(typing->types, &types))
        return;
    for (size_t i = 0; i < SHARDS; i++) {
        const struct shard *shard = &typing->shards[i];
        const size_t count = shard->parts.count; /* proposing may add some */
        for (size_t j = 0; j < count && !typer->no_memory; j++) {
            const struct typed_part part = shard->parts.data[j];
            if (part.type != types.runtime_timer || part.offset != types.offset || part.is_array)
                continue;
            const bool is_ticker =
                types.ticker != TYPE_NONE && has_period(typing, part.object, types.period);
            const struct reference reference = {.type = is_ticker ? types.ticker : types.timer,
                                                .source = SOURCE_POINTER,
                                                .form = REFERENCE_VALUE};
            typer_propose(typer, part.object, 0, &reference);
        }
    }
}
