/* locations: memory of the process whose type is known, and the values in it, for the files of this
 * module that format them for people; see include/go2heapsnapshot/values.h. */
#ifndef VIEW_LOCATIONS_H
#define VIEW_LOCATIONS_H

#include <go2heapsnapshot/values.h>

#include "view/view.h"

/* ---- memory: locations.c ---- */

/* The memory at an address: an object, data or bss, a frame, or the executable's file. */
struct view_memory {
    struct g2h_bytes bytes; /* from the address to the end of the object, segment, frame or file */
    uint64_t slide;         /* to be added to its words: they are those of the file */
    uint32_t object;        /* UINT32_MAX: none */
    bool is_of_file;        /* it is what the file begins with: the process may have changed it */
};
bool view_memory_at(const struct g2h_view *view, uint64_t address, struct view_memory *ret);

/* Returns the word at an offset of memory, as the process has it; 0 if it is beyond the end. */
uint64_t view_memory_word(const struct g2h_view *view, const struct view_memory *memory,
                          uint64_t offset);

/* Returns the number in a field of a struct, at most 8 bytes; 0 if the field does not exist. */
uint64_t view_memory_field(const struct g2h_view *view, const struct view_memory *memory,
                           uint32_t type, const char *name);

/* ---- values: values.c ---- */

/* Reads the value of a type at an offset of some bytes. Returns false if it is not in them as a
 * whole. */
bool value_fill(const struct g2h_view *view, uint32_t type, const struct g2h_bytes *contents,
                uint64_t offset, struct g2h_value *ret);

bool value_kind_of(const struct types *types, uint32_t type, enum g2h_value_kind *ret);

/* Returns whether a type is that of bytes. */
bool value_is_byte(const struct types *types, uint32_t type);

/* Returns whether a value is part of an object that secret.Do has allocated, and not a pointer. */
bool value_is_secret(const struct g2h_heap *heap, const struct g2h_value *value);

/* Appends a value as g2h_value_text() has it. */
void value_append(const struct g2h_graph *graph, const struct g2h_value *value, struct text *text);

/* Returns a float32 or float64. */
double value_float(const struct g2h_heap *heap, const uint8_t *at, uint64_t size);

/* ---- time: times.c ---- */

bool times_is_time(const struct types *types, uint32_t type);

/* Appends a time.Time as RFC 3339, in its own zone if that is known, else in UTC. */
void times_append(const struct g2h_view *view, const uint8_t *at, struct text *text);

/* Returns a sort key for times; those more than 292 years from 1970 have the same one. */
uint64_t times_order(const struct g2h_view *view, const uint8_t *at);

/* Appends a time.Duration as its String() has it: 1h15m30.918s. */
void times_append_duration(uint64_t nanoseconds, struct text *text);

#endif
