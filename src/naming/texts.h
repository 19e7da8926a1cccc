/*
 * texts: the contents of Go's strings, as names of the objects that hold them.
 *
 * There may be millions of strings, so they are not stored: a string is read from the dump each
 * time it is needed. If names are redacted, strings are too.
 */
#ifndef NAMING_TEXTS_H
#define NAMING_TEXTS_H

#include "naming/names.h"

/* Appends the string of an object that holds string data: typing_is_text(). */
void names_append_text(const struct names *names, uint32_t object, struct text *text);

/* Returns how many bytes of such an object its strings take, from the object's start to the end of
 * the last one, without any limit, also if the dump has not all of them. */
uint64_t names_text_size(const struct names *names, uint32_t object);

/* Returns whether such an object has several strings. */
bool names_text_is_shared(const struct names *names, uint32_t object);

/* Gets the bytes of such an object if its string can be shown as it is: ASCII, a single string, and
 * not cut. Otherwise returns false. */
bool names_text_bytes(const struct names *names, uint32_t object, const uint8_t **ret,
                      uint64_t *ret_size);

#endif
