/*
 * texts: the contents of Go's strings, as names of the objects that hold them.
 *
 * There may be millions, so they are not kept: a text is read from the dump again whenever it is
 * wanted. Where names redact, texts do.
 */
#ifndef NAMING_TEXTS_H
#define NAMING_TEXTS_H

#include "naming/names.h"

/* Appends the text of an object that is one: typing_is_text(). */
void names_append_text(const struct names *names, uint32_t object, struct text *text);

/* How many bytes of such an object are its text: all of them. */
uint64_t names_text_size(const struct names *names, uint32_t object);

/* The bytes of such an object where they are its text as they stand: ASCII, of a
 * single string, and not cut. */
bool names_text_bytes(const struct names *names, uint32_t object, const uint8_t **ret,
                      uint64_t *ret_size);

#endif
