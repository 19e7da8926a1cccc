/*
 * releases: the release of Go that wrote a heap, and the slots and spans that all releases have.
 */
#ifndef BASE_RELEASES_H
#define BASE_RELEASES_H

#include <stdbool.h>
#include <stdint.h>

#include <go2heapsnapshot/bytes.h>

/* ==== the release of Go that runtime.Version() names ==== */

/* The properties of the runtime's structures that follow from a version. */
struct go_release {
    int minor;                                           /* the N of go1.N; 0 if unknown */
    bool no_swiss_maps, no_sync_hash_trie, split_groups; /* experiments (GOEXPERIMENT) */
};

/* Parses versions such as "go1.26.1", "devel go1.27-2f3a…" and "go1.24.1 X:noswissmap". */
struct go_release go_release_parse(const char *version);

/* Returns whether a version names an experiment: "go1.25.1 X:arenas,greenteagc" names
 * "greenteagc". */
bool go_release_has_experiment(const char *version, const char *name);

/* Returns a version that names no release, or "unknown" if it is empty, with the release that
 * it is read as: "unknown (read as go1.27)". The caller frees it; NULL if memory runs out. */
char *go_release_guessed(struct g2h_bytes version, int minor);

/* ==== the slots of Go's heap, and their spans ====
 *
 * An object of at most 32 KiB is in a slot of one of the sizes of runtime/sizeclasses.go (Go 1.27:
 * internal/runtime/gc/sizeclasses.go); the slots of a span have one size. Larger objects have a
 * span of their own. The table is the same from Go 1.16 on. Go 1.12 to 1.15 lack the slots of 24
 * bytes.
 */

/* The unit and alignment of spans (runtime/malloc.go: pageSize). */
enum { SPAN_UNIT = 8192 };

/* The first release of Go 1.x whose sources all this was compared with. */
enum { SIZE_CLASSES_SINCE = 12 };

/* Returns the size of the slot that Go allocates for size bytes, or 0 if Go allocates a span for
 * them. */
uint64_t size_class(uint64_t size);

/* Returns the size of the red zone that a program built with -asan allocates after size bytes
 * (runtime/malloc.go: redZoneSize()). */
uint64_t size_class_red_zone(uint64_t size);

/* Returns how many of size bytes can be used if a red zone follows them. */
uint64_t size_class_without_red_zone(uint64_t size);

/* Returns the size of a span with slots of this size, or 0 if no slots have it. */
uint64_t size_class_span(uint64_t slot);

#endif
