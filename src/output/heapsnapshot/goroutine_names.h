/*
 * goroutine_names: the names of goroutines that the program has given labels (pprof.Do): the view's
 * name and the labels, "goroutine 17 [select] main.work main.go:9 {tenant=acme}", or of a group
 * "30 goroutines [select] main.work main.go:9 {tenant=acme 27, globex 3}" where these are few.
 */
#ifndef OUTPUT_HEAPSNAPSHOT_GOROUTINE_NAMES_H
#define OUTPUT_HEAPSNAPSHOT_GOROUTINE_NAMES_H

#include "base/map.h"
#include "output/output_strings.h"

struct goroutine_names {
    struct map by_node; /* node of the view → number of its string */
};

/* Makes the names, before the heap's strings are numbered; none if the heap is redacted. The caller
 * calls goroutine_names_deinit() in any case. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *goroutine_names_init(const struct g2h_view *view, struct strings *strings,
                                       struct goroutine_names *ret);
void goroutine_names_deinit(struct goroutine_names *names);

/* Returns the number of a node's name: its own, or the one that was made for it. */
static inline uint32_t goroutine_names_of(const struct goroutine_names *names, uint32_t node,
                                          uint32_t own)
{
    const uint32_t made = names->by_node.count > 0 ? map_get(&names->by_node, node) : MAP_NONE;
    return made == MAP_NONE ? own : made;
}

#endif
