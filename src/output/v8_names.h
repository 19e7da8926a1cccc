/*
 * v8_names: names of nodes in a form that DevTools does not misunderstand (docs/snapshot-format.md,
 * "Names").
 */
#ifndef OUTPUT_V8_NAMES_H
#define OUTPUT_V8_NAMES_H

#include "base/text.h"

/*
 * Returns whether DevTools would misinterpret a node's name. If so, appends the name to use instead
 * to *ret, which must be empty: <-chan T becomes chan (<-) T, V8's own class names end in " (Go)",
 * and so on. It has at most 1024 characters, at which V8 cuts names as well.
 */
bool v8_name_differs(const char *name, size_t size, struct text *ret);

#endif
