/*
 * symbols: the linker's names in readable form.
 *
 * The linker escapes import paths (cmd/internal/objabi, PathToPrefix): gopkg.in/yaml%2ev2.Node is
 * gopkg.in/yaml.v2.Node. Look-ups compare the escaped names; the functions here make the names that
 * are shown.
 */
#ifndef NAMING_SYMBOLS_H
#define NAMING_SYMBOLS_H

#include "base/redaction.h"
#include "base/text.h"

/* Like text_append_utf8(), for a linker's name, which it unescapes. Returns the number of
 * characters. */
size_t text_append_symbol(struct text *text, const uint8_t *data, uint64_t size, size_t limit);

/* Appends the bytes of a linker's name without the linker's escapes. */
void text_append_unescaped(struct text *text, const uint8_t *data, uint64_t size);

/* Appends the replacement for bytes that must not be shown. */
void text_append_redacted(struct text *text, const struct g2h_redaction *redaction,
                          const uint8_t *data, uint64_t size);

#endif
