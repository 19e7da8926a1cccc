/*
 * fit: whether an object, or a part of it, can have a type.
 *
 * It can if the dump's field list has pointers exactly where the type has them, as far as the type
 * reaches, and if the slot has the size that Go allocates for the type.
 */
#ifndef TYPING_FIT_H
#define TYPING_FIT_H

#include "typing/typer.h"

/* ---- sizes ---- */

/* Returns the slot size that the program allocates for size bytes; 0: a span of their own. With
 * -asan a red zone follows them. */
uint64_t typing_slot(const struct typing *typing, uint64_t size);

/* Returns how many of size bytes in a slot can hold values: all but a red zone. */
uint64_t typing_room(const struct typing *typing, uint64_t size);

/* Returns whether the program allocates a slot of this size for size bytes. */
bool fits_class(const struct typing *typing, uint64_t size, uint64_t slot);

/* Returns whether a value of size bytes is all that an object of a slot class holds. */
bool fills_slot(const struct typing *typing, const struct slot_class *slot_class, uint64_t size);

/* ---- closures ---- */

/* Returns whether the last captured variable of a closure, which begins with contents, cannot be
 * held by reference, as a type says that it is: a variable that a closure refers to has a slot of
 * its own, and the object to which the word leads is too large for that. */
bool closure_last_is_value(const struct typing *typing, struct g2h_bytes contents, uint32_t type);

/* ---- types within types ---- */

/* Returns whether a type has a value of the wanted type at offset: then a claim on that value adds
 * nothing. */
bool type_holds(const struct types *types, uint32_t type, uint64_t offset, uint32_t wanted);

/* Returns whether a claim to a type at an offset of an object follows from the claim on the
 * object's start, which is at base. */
bool claim_holds(const struct typing *typing, uint64_t base, uint32_t claimed, bool of_array,
                 uint64_t offset, uint32_t type, bool is_array);

/* ---- arrays within structs ---- */

/* Returns whether a type (number) has an array of elem at offset, with count or more values from
 * there on. elem is not empty. */
bool type_has_array(const struct types *types, uint32_t number, uint64_t offset, uint32_t elem,
                    uint64_t count);

/* Finds the structs that contain arrays, for is_array_field(). Error: G2H_ERROR_MEMORY. */
struct g2h_error *typing_find_arrays(struct typing *typing);

/*
 * Returns whether count values of a type at an offset of a slot may be a part of an array that is a
 * field: some struct for which Go allocates such a slot has that array there. offset is relative to
 * the slot's value, which begins base bytes after the slot's begin. If there is no such struct, a
 * slice of the values leads into an array that is an object of its own, however short the slice's
 * capacity is.
 */
bool is_array_field(const struct typing *typing, uint64_t slot, uint64_t base, uint64_t offset,
                    uint32_t type, uint64_t count);

/* ---- pointers ---- */

/*
 * Compares a field list with consecutive values of a pointer map from base on: with at most count
 * values, or with as many as there are fields if count is 0. Returns how many values agree in all
 * of their words (if count is 0, the list may end within the last value). *ret_rest: fields follow
 * them.
 */
uint64_t count_fitting(struct g2h_fields fields, uint64_t base, uint64_t stride,
                       const struct pointer_map *map, uint64_t count, bool *ret_rest);

/* Returns whether a value at offset has its pointers exactly where the object has pointers.
 * *ret_rest: the object has pointers after the value. */
bool value_fits(const struct g2h_object *object, const struct field_index *index,
                const struct pointer_map *map, uint64_t offset, bool *ret_rest);

/*
 * Returns whether the fields after a value only repeat its pointers and belong to no further
 * values: from Go 1.22 on, the field list of an object that is too large for a bitmap repeats its
 * type's pointers up to the end of the slot (typePointers.next in runtime/mbitmap.go). This is
 * always so after a malloc header, and with -asan up to the end of the red zone.
 */
bool rest_repeats(const struct typing *typing, const struct slot_class *slot_class,
                  const struct g2h_object *object, const struct pointer_map *map);

/* ---- channels ---- */

/* Returns the size of the channel's buffer if it follows the channel in the same slot, else 0. It
 * does if the elements have no pointers (runtime.makechan); hchan.dataqsiz, the second word, is
 * their number. */
uint64_t channel_buffer_size(struct typing *typing, const struct type *type,
                             const struct g2h_object *object, uint64_t offset);

/* Returns whether the channel at offset itself names an element type that differs from the channel
 * type's. */
bool is_other_channel(const struct typing *typing, const struct type *type,
                      const struct g2h_object *object, uint64_t offset);

#endif
