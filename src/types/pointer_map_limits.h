/* pointer_map_limits: the maximum size of pointer maps, for pointer_map*.c. */
#ifndef TYPES_POINTER_MAP_LIMITS_H
#define TYPES_POINTER_MAP_LIMITS_H

#include "types/pointer_map.h"

/* A type may claim to be an array of 2^60 structs. A type that exceeds these limits has no map; but
 * a value of such an array can still be treated as an array of its elements. Work is
 * measured in words of maps that are made. */
enum {
    MAP_FIELDS_MOST = 1 << 16,
    MAP_WORDS_MOST = 1 << 18,
    MAP_WORK_MOST = 1 << 18,
    MAP_DEPTH_MOST = 64,
};

/* Finds the types whose maps would be too large, and sets their bits in maps->too_large. Returns
 * false if memory runs out. */
bool pointer_map_limits_find(struct pointer_maps *maps);

#endif
