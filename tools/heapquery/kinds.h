/* kinds: files of other kinds that look like a heap snapshot: JSON with sections. */
#ifndef HEAPQUERY_KINDS_H
#define HEAPQUERY_KINDS_H

#include "base/text.h"

/* Returns a bit for a key that an outermost object has, by which its kind is known; 0: the key
 * tells nothing. */
unsigned kinds_of_key(const struct text *key);

/* Returns the name of the kind of file that has these keys, such as "a CPU profile"; NULL: it is
 * not known. */
const char *kinds_name(unsigned keys);

#endif
