/* leaks; see leaks.h. */
#include "findings/leaks.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/scope.h"
#include "findings/goroutines.h"

/* Adds a leaked goroutine to its place. */
static struct g2h_error *add_leaked(struct leaks *leaks, const struct findings *findings,
                                    uint32_t goroutine)
{
    const uint32_t number = g2h_dominators_number(findings->dominators, goroutine),
                   place = goroutines_place_of(findings, findings->merged.of[number]);
    uint32_t at = (uint32_t)leaks->places.count;
    if (place == MERGED_NONE)
        return NULL;
    TRY_MEMORY(map_put(&leaks->by_node, place, at, &at));
    if (at == leaks->places.count)
        TRY_MEMORY(vector_push(&leaks->places,
                               ((struct leaks_place){.node = place, .example = goroutine})));
    leaks->places.data[at].count++;
    leaks->places.data[at].retained +=
        g2h_dominators_retained_size(findings->dominators, goroutine);
    return NULL;
}

/* If all goroutines of a place are leaked, the place retains more than each of them alone: also
 * what they hold together. */
struct g2h_error *leaks_find(const struct findings *findings, struct leaks *ret)
{
    const uint64_t synthetics = g2h_view_account(findings->view)->synthetic_nodes;
    ret->all = g2h_view_leaks(findings->view);
    for (uint32_t node = 0; node < synthetics && ret->all.leaked > 0; node++)
        if (g2h_view_is_leaked(findings->view, node))
            TRY(add_leaked(ret, findings, node));
    for (size_t i = 0; i < ret->places.count; i++) {
        struct leaks_place *place = &ret->places.data[i];
        if (place->count == findings_members(findings, place->node))
            place->retained = findings_node(findings, place->node)->retained;
        ret->retained += place->retained;
    }
    return NULL;
}

void leaks_deinit(struct leaks *leaks)
{
    free(leaks->places.data);
    map_deinit(&leaks->by_node);
}

const struct leaks_place *leaks_at(const struct leaks *leaks, const struct findings *findings,
                                   uint32_t node)
{
    const uint32_t place =
        leaks->places.count == 0 ? MERGED_NONE : goroutines_place_of(findings, node);
    const uint32_t at = place == MERGED_NONE ? MAP_NONE : map_get(&leaks->by_node, place);
    return at == MAP_NONE ? NULL : &leaks->places.data[at];
}

/* ---- why ---- */

/* Returns the state of a goroutine in its name: "chan receive" of "goroutine 7 [chan receive, 5
 * minutes] main.run". */
static struct g2h_bytes state_of(const struct findings *findings, uint32_t goroutine)
{
    size_t size;
    const char *name = findings_name_of(findings->view, goroutine, &size);
    const char *begin = memchr(name, '[', size);
    size_t end = 0;
    if (!begin)
        return (struct g2h_bytes){(const uint8_t *)"", 0};
    size -= (size_t)(++begin - name);
    while (end < size && begin[end] != ',' && begin[end] != ']')
        end++;
    return (struct g2h_bytes){(const uint8_t *)begin, end};
}

/* Derives the reason from the wait state in the goroutine's name. */
void leaks_append_reason(const struct findings *findings, uint32_t goroutine, bool are_many,
                         struct text *text)
{
    static const struct {
        const char *state, *what;
    } waits[] = {
        {"chan receive", "the channel"},
        {"chan send", "the channel"},
        {"select", "the channels"},
        {"sync.Mutex.Lock", "the sync.Mutex"},
        {"sync.RWMutex.Lock", "the sync.RWMutex"},
        {"sync.RWMutex.RLock", "the sync.RWMutex"},
        {"sync.WaitGroup.Wait", "the sync.WaitGroup"},
        {"sync.Cond.Wait", "the sync.Cond"},
        {"semacquire", "the lock or sync.WaitGroup"},
    };
    const struct g2h_bytes state = state_of(findings, goroutine);
    const char *what = "what";
    if (bytes_are(state, "chan receive (nil chan)") || bytes_are(state, "chan send (nil chan)")) {
        text_printf(text, are_many ? "their channel is nil" : "its channel is nil");
        return;
    }
    if (bytes_are(state, "select (no cases)")) {
        text_printf(text, are_many ? "their select has no cases" : "its select has no cases");
        return;
    }
    for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++)
        if (bytes_are(state, waits[i].state))
            what = waits[i].what;
    text_printf(text, "nothing alive reaches %s %s on", what, are_many ? "they wait" : "it waits");
}
