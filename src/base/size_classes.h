/*
 * size_classes: the slots of Go's heap, and their spans.
 *
 * An object of at most 32 KiB is in a slot of one of the sizes of runtime/sizeclasses.go (Go 1.27:
 * internal/runtime/gc/sizeclasses.go); the slots of a span have one size. Larger objects have a
 * span of their own. The table is the same from Go 1.16 on. Go 1.12 to 1.15 lack the slots of 24
 * bytes.
 */
#ifndef BASE_SIZE_CLASSES_H
#define BASE_SIZE_CLASSES_H

#include <stdint.h>

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
