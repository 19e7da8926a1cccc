/*
 * fit: whether a type can be that of an object, or of a part of it.
 *
 * The dump's field list has a pointer wherever the type has one and nowhere else, as far as the
 * type reaches; and the slot has the size that Go takes for it.
 */
#ifndef TYPING_FIT_H
#define TYPING_FIT_H

#include "typing/typer.h"

/* ---- sizes ---- */

/* The size of the slot that Go takes for so many bytes; 0 where they have a span of their own. */
uint64_t size_class(uint64_t size);

/* Whether Go takes a slot of this size for so many bytes. */
bool fits_class(uint64_t size, uint64_t slot);

/* Whether so many bytes are all that an object of a slot class has. */
bool fills_slot(const struct slot_class *slot_class, uint64_t size);

/* ---- types within types ---- */

/* Whether a type has a value of another one at offset: then a claim on that says nothing new. */
bool type_holds(const struct types *types, uint32_t type, uint64_t offset, uint32_t wanted);

/* Whether what is said of an offset of an object follows from a claim on its start, which is at
 * base. */
bool claim_holds(const struct typing *typing, uint64_t base, uint32_t claimed, bool of_array,
                 uint64_t offset, uint32_t type, bool is_array);

/* ---- pointers ---- */

/*
 * Compares a field list with values of a pointer map that stand one behind the other from base on:
 * with at most count of them, 0 for as many as there are fields. Gives how many values agree in all
 * of their words (the list may end within the last one). *ret_rest is whether fields follow them.
 */
uint64_t count_fitting(struct g2h_fields fields, uint64_t base, uint64_t stride,
                       const struct pointer_map *map, uint64_t count, bool *ret_rest);

/* Whether a value at offset has its pointers where the object has some. *ret_rest is whether there
 * are pointers behind it. */
bool value_fits(const struct g2h_object *object, const struct field_index *index,
                const struct pointer_map *map, uint64_t offset, bool *ret_rest);

/*
 * Whether the fields behind a value are those of values that are not there: from Go 1.22 on, an
 * object that is too large for a bitmap lists its type's pointers over and over, up to the end of
 * the slot (typePointers.next in runtime/mbitmap.go). Behind a malloc header they always are.
 */
bool rest_repeats(const struct g2h_heap *heap, const struct slot_class *slot_class,
                  const struct g2h_object *object, const struct pointer_map *map);

/* ---- channels ---- */

/* The bytes of a channel's buffer that follow it in the same slot: elements without pointers
 * (runtime.makechan), as many as hchan.dataqsiz, the second word, says. */
uint64_t channel_buffer_size(struct typing *typing, const struct type *type,
                             const struct g2h_object *object, uint64_t offset);

/* Whether the channel at offset says itself that its elements are not those of a channel type. */
bool is_other_channel(const struct typing *typing, const struct type *type,
                      const struct g2h_object *object, uint64_t offset);

#endif
