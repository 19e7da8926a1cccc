/* entries: the first entries of a map in the order of their keys. */
#ifndef FINDINGS_ENTRIES_H
#define FINDINGS_ENTRIES_H

#include <go2heapsnapshot/values.h>

#include "base/error.h"

enum { ENTRIES_FIRST = 20 };

struct entries {
    uint64_t count; /* of all entries that the dump has */
    size_t shown;
    struct g2h_entry first[ENTRIES_FIRST];
};

/* Gets the number of entries of a map, which its header has: also of those that the dump lacks.
 * values must be of the view. Returns false if it is not known, or if the graph is redacted. */
bool entries_length(const struct g2h_view *view, struct g2h_values *values,
                    const struct g2h_location *map, uint64_t *ret);

/* Finds the entries of a map: the ones that come first by numbers or by the bytes of strings; if
 * keys are neither, those that are first in memory. */
struct g2h_error *entries_find(const struct g2h_view *view, const struct g2h_location *map,
                               struct entries *ret);

#endif
