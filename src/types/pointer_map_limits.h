/* pointer_map_limits: how large pointer maps may be, for pointer_map*.c. */
#ifndef TYPES_POINTER_MAP_LIMITS_H
#define TYPES_POINTER_MAP_LIMITS_H

#include "types/pointer_map.h"

/* A type may claim to be an array of 2^60 structs. What is larger than this has no map; but a value
 * of such an array can still be taken for many of its elements. Steps are what a map takes to
 * make. */
enum {
    MAP_FIELDS_MOST = 1 << 16,
    MAP_WORDS_MOST = 1 << 18,
    MAP_STEPS_MOST = 1 << 18,
    MAP_DEPTH_MOST = 64,
};

/* Finds the types whose maps would be too large: fills maps->too_large. False where there is no
 * memory. */
bool pointer_map_limits_find(struct pointer_maps *maps);

#endif
