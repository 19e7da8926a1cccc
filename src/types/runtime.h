/*
 * runtime: the structures behind maps, channels and other values that Go's types do not show.
 *
 * The runtime's own layouts, release by release, as struct types: what a map value points to, its
 * buckets, tables and groups, a channel and those who wait on it, and so on. Made once all types of
 * the executable are known.
 */
#ifndef TYPES_RUNTIME_H
#define TYPES_RUNTIME_H

#include "types/types.h"

/* What layouts depend on. */
struct go_release {
    int minor;              /* N of go1.N */
    bool no_swiss_maps;     /* X:noswissmap */
    bool no_sync_hash_trie; /* X:nosynchashtriemap */
};

/* By a version string as params has it: "go1.25.12 X:greenteagc", "go1.26.11-X:noswissmap". */
struct go_release go_release_parse(const char *version);

/*
 * Gives all map and channel types their headers, and the types of the library whose pointers are
 * untyped (sync/atomic.Pointer[T], sync.Pool, weak.Pointer[T], HashTrieMap) typed ones. Runs after
 * the types of an executable have been read, and again over those that were added since: done tells
 * up to which number it has been done, 0 at first. False where there is no memory.
 */
bool runtime_types_add(struct types *types, const struct go_release *release, uint32_t *done);

#endif
