/* option_size: structs of options that begin with their size, so that a program may have been
 * compiled with fewer members than the library has. */
#ifndef BASE_OPTION_SIZE_H
#define BASE_OPTION_SIZE_H

#include <stddef.h>
#include <string.h>

/* Copies as many bytes of given as its size member covers; the rest becomes 0. given may be NULL.
 * Both begin with a size_t. Returns ret. */
static inline void *options_copy(void *ret, size_t size, const void *given)
{
    size_t known = 0;
    memset(ret, 0, size);
    if (given)
        memcpy(&known, given, sizeof(known));
    if (known > 0)
        memcpy(ret, given, known < size ? known : size);
    return ret;
}

/* Copies *given into *ret, which is of the library's own type. */
#define OPTIONS_COPY(ret, given) options_copy(ret, sizeof(*(ret)), given)

#endif
