/*
 * length: how many entries a container has by its own count, as len() says it: that of a map, a
 * slice, a channel, a sync.Map or a list.
 */
#ifndef FINDINGS_LENGTH_H
#define FINDINGS_LENGTH_H

#include <go2heapsnapshot/values.h>

#include "base/text.h"
#include "findings/findings.h"

/* Gets the number of entries of a map, which its header has: also of those that the dump lacks.
 * values must be of the view. Returns false if it is not known, or if the graph is redacted. */
bool entries_length(const struct g2h_view *view, struct g2h_values *values,
                    const struct g2h_location *map, uint64_t *ret);

struct length {
    const char *kind; /* "map", "sync.Map", "slice", "channel" or "list"; NULL: not known */
    uint64_t count;
};

/* Finds the length of a container, a node of the view to which the path leads that was appended
 * last (path_append()); path is this path. Nothing is known of a redacted graph, of one without
 * types, and of slices that several pointers lead to. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *length_find(const struct findings *findings, uint32_t node,
                              const struct text *path, struct length *ret);

/* Finds the only list.List that is a field of a struct, at the end of a path, and has so many
 * entries: appends the field to the path. Nothing if there is none, or more than one. Errors:
 * G2H_ERROR_MEMORY. */
struct g2h_error *length_find_list(const struct findings *findings, uint32_t node, uint64_t entries,
                                   struct text *path, struct length *ret);

/* Sums up the entries of all maps that are merged in a node. *ret becomes 0 if it is not of maps,
 * or if one of them does not say how many it has. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *length_of_maps(const struct findings *findings, uint32_t line, uint64_t *ret);

/* Notes in each node of merged that is one container how many entries that has. Errors:
 * G2H_ERROR_MEMORY. */
struct g2h_error *length_note_all(struct merged *merged);

#endif
