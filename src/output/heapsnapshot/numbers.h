/*
 * numbers: the numbers, bools and times in objects, as V8 has them in a snapshot: nodes of type
 * "number" whose name is the value, to which the objects have edges with the names of fields.
 *
 * Equal names are one node, which has no size, and whose id comes from the name: so two dumps agree
 * on it. Lengths and capacities are left out, and so are the elements of arrays of numbers. The
 * edges cost much more than the nodes: an object has some five numbers, but two pointers.
 */
#ifndef OUTPUT_HEAPSNAPSHOT_NUMBERS_H
#define OUTPUT_HEAPSNAPSHOT_NUMBERS_H

#include <go2heapsnapshot/values.h>

#include "base/map.h"
#include "base/memory.h"
#include "output/ids.h"
#include "output/output_strings.h"

struct number_node {
    uint32_t name, id; /* name: a string's number */
};

/* An edge to a number. */
struct number_edge {
    uint32_t name;   /* a string's number, or an element's index with KEY_NUMBER_ELEMENT */
    uint32_t number; /* of nodes below */
};

/* A node that has such edges: those from first up to the next one's first. */
struct numbered {
    uint32_t node;
    uint64_t first;
};

struct numbers {
    VECTOR(struct number_node) nodes;
    VECTOR(struct numbered) list; /* ascending by node, with an end marker that is not a node */
    VECTOR(struct number_edge) edges;
};

/* Finds the numbers of the objects of some classes: of has their names, separated by commas, which
 * do not count in brackets; NULL: of all objects. Objects of a redacted view have none. Errors:
 * G2H_ERROR_MEMORY; G2H_ERROR_NOT_FOUND if there are no types, or no such class; the latter only if
 * must_exist is set. */
struct g2h_error *numbers_init(struct numbers *numbers, const struct g2h_view *view, const char *of,
                               bool must_exist, struct ids *ids, struct strings *strings);
void numbers_deinit(struct numbers *numbers);

/* Returns the index in list of the first node from node on. */
size_t numbers_from(const struct numbers *numbers, uint32_t node);

/* Returns how many edges the node at an index of list has, and sets *ret to the first. */
static inline uint32_t numbers_of(const struct numbers *numbers, size_t index,
                                  const struct number_edge **ret)
{
    const struct numbered *numbered = &numbers->list.data[index];
    *ret = numbers->edges.data + numbered[0].first;
    return (uint32_t)(numbered[1].first - numbered[0].first);
}

#endif
