/* patterns; see patterns.h. */
#include "findings/patterns.h"

#include <string.h>

#include "base/bytes.h"
#include "findings/stack_places.h"

/* ---- net/http ---- */

/* Returns whether a goroutine runs a function and waits in it, not in what it calls. */
static bool waits_in(const struct findings *findings, uint32_t number, const char *function)
{
    struct stack_walk walk;
    struct g2h_view_call call;
    stack_walk_begin(&walk, findings->view, number, false);
    return bytes_are(walk.goroutine.function, function) && walk.goroutine.at != UINT32_MAX &&
           stack_walk_next(&walk, &call) && bytes_are(call.function, function);
}

/* Counts the bodies of responses that a program can still read or close: not garbage, and not held
 * by the goroutine alone that waits for their end. */
static uint64_t count_bodies(const struct findings *findings)
{
    static const char class[] = "http.bodyEOFSignal", loop[] = ".readLoop";
    uint64_t count = 0;
    for (uint32_t i = 0; i < findings->merged.nodes.count; i++) {
        const struct merged_node *node = findings_node(findings, i);
        size_t size;
        const char *name = merged_name(&findings->merged, i, &size);
        if (node->kind != MERGED_CLASS || node->is_garbage || size < strlen(class) ||
            memcmp(name + size - strlen(class), class, strlen(class)) != 0)
            continue;
        const uint32_t place = findings_place_of(findings, i);
        name = place == MERGED_NONE ? "" : merged_name(&findings->merged, place, &size);
        if (place == MERGED_NONE || !memmem(name, size, loop, strlen(loop)))
            count += node->count;
    }
    return count;
}

/* The goroutine that reads a connection waits until the body of the response has been read or
 * closed. If nothing else leads to the body, nothing can do that any more. */
static uint64_t count_unclosed(const struct findings *findings, uint32_t place)
{
    const size_t all = g2h_view_goroutine_count(findings->view);
    const uint64_t bodies = count_bodies(findings);
    uint64_t waiting = 0;
    uint32_t count;
    stack_index_of(findings, place, &count);
    for (uint32_t i = 0; i < all; i++)
        waiting += waits_in(findings, i, "net/http.(*persistConn).readLoop");
    waiting -= bodies < waiting ? bodies : waiting;
    return waiting < count ? waiting : count;
}

/* ---- database/sql ---- */

/* Each sql.DB has one such goroutine until it is closed. Few programs have many of these. */
static uint64_t count_databases(const struct findings *findings, uint32_t place)
{
    enum { MANY = 10 };
    uint32_t count;
    stack_index_of(findings, place, &count);
    return count >= MANY ? count : 0;
}

/* ---- all patterns ---- */

static const struct {
    const char *function; /* that the goroutines run, and wait in, not in what it calls */
    uint64_t (*count)(const struct findings *findings, uint32_t place);
    const char *meaning;
} patterns[] = {
    {"net/http.(*persistConn).readLoop", count_unclosed,
     "the body of a response from http.Client was not read to its end and closed: net/http keeps "
     "the connection"},
    {"net/http.(*persistConn).writeLoop", count_unclosed,
     "the body of a response from http.Client was not read to its end and closed: net/http keeps "
     "the connection"},
    {"database/sql.(*DB).connectionOpener", count_databases,
     "each belongs to a sql.DB that is open: sql.Open makes one for the whole program, Close ends "
     "it"},
};

void pattern_find(const struct findings *findings, uint32_t place, struct pattern *ret)
{
    uint32_t count;
    const uint32_t *list = stack_index_of(findings, place, &count);
    *ret = (struct pattern){.meaning = NULL};
    for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns) && count > 0; i++) {
        if (!waits_in(findings, list[0], patterns[i].function))
            continue;
        ret->count = patterns[i].count(findings, place);
        ret->meaning = ret->count > 0 ? patterns[i].meaning : NULL;
        return;
    }
}
