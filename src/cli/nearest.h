/* nearest: finds the name that was probably meant by a misspelled one. */
#ifndef CLI_NEAREST_H
#define CLI_NEAREST_H

#include <stddef.h>

/*
 * Returns the one of count names that is nearest to the first size bytes of wrong by characters
 * that were left out, added, replaced, or swapped with the next one: at most one in three. Returns
 * NULL if none is that near, or if one begins like wrong, which is an abbreviation then.
 */
const char *nearest_name(const char *wrong, size_t size, const char *const *names, size_t count);

#endif
