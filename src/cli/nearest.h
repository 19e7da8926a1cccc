/* nearest: finds what somebody probably meant who misspelled a name. */
#ifndef CLI_NEAREST_H
#define CLI_NEAREST_H

#include <stddef.h>

/*
 * Returns the one of count names that is nearest to the first size bytes of wrong by characters
 * that were left out, added, replaced, or swapped with the next one: at most one of three. Returns
 * NULL if none is that near, or if one begins like wrong, which is an abbreviation then.
 */
const char *nearest_name(const char *wrong, size_t size, const char *const *names, size_t count);

#endif
