/*
 * symbols: names of the linker's, as people know them.
 *
 * The linker escapes import paths (cmd/internal/objabi, PathToPrefix): gopkg.in/yaml%2ev2.Node is
 * gopkg.in/yaml.v2.Node. Names that are looked up are compared as they are; here is how they are
 * shown.
 */
#ifndef NAMING_SYMBOLS_H
#define NAMING_SYMBOLS_H

#include "base/redaction.h"
#include "base/text.h"

/* text_append_utf8() of a name of the linker's. */
size_t text_append_symbol(struct text *text, const uint8_t *data, uint64_t size, size_t limit);

/* Appends the bytes of a name of the linker's as they were before it escaped them. */
void text_append_unescaped(struct text *text, const uint8_t *data, uint64_t size);

/* Appends what stands for bytes that are not to be shown. */
void text_append_redacted(struct text *text, const struct g2h_redaction *redaction,
                          const uint8_t *data, uint64_t size);

#endif
