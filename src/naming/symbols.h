/*
 * symbols: the linker's names in readable form, import paths in them, and the short names that may
 * replace these.
 */
#ifndef NAMING_SYMBOLS_H
#define NAMING_SYMBOLS_H

#include "base/redaction.h"
#include "base/strings.h"
#include "base/text.h"
#include "exe/exe.h"

/* ==== the linker's names in readable form ====
 *
 * The linker escapes import paths (cmd/internal/objabi, PathToPrefix): gopkg.in/yaml%2ev2.Node is
 * gopkg.in/yaml.v2.Node. Look-ups compare the escaped names; the functions here make the names that
 * are shown.
 */

/* Like text_append_utf8(), for a linker's name, which it unescapes. Returns the number of
 * characters. */
size_t text_append_symbol(struct text *text, const void *data, size_t size, size_t limit);

/* Appends the bytes of a linker's name without the linker's escapes. */
void text_append_unescaped(struct text *text, const void *name, size_t size);

/* Appends the replacement for bytes that must not be shown. */
void text_append_redacted(struct text *text, const struct g2h_redaction *redaction,
                          const uint8_t *data, size_t size);

/* ==== import paths in names, and the short names that may replace them ====
 *
 * Go writes a package in two ways: "http" in its source and in the output of %T, "net/http" where
 * the short form would be ambiguous. Here, the name that the package gives itself, usually the last
 * element of its path, replaces the path unless another package of the executable has the same
 * name. All packages of the executable count, not only those of the dump's objects, because two
 * dumps of a process are compared by name.
 */

struct packages {
    struct string_pool paths; /* unescaped */
    struct string_pool names;
    VECTOR(uint32_t) name_of;  /* by path */
    VECTOR(uint32_t) owner_of; /* by name: the path of its package, or PACKAGE_SEVERAL */
    struct text last;          /* the package of the previous function, in the linker's form */
};

/* Adds all packages of an executable: of its functions, and of its types that have descriptors.
 * Reads all their names. packages must be {0}. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *packages_init(struct packages *packages, const struct g2h_exe *exe);

void packages_deinit(struct packages *packages);

/* Adds a package by its path and the name that it gives itself. If a path is added again, the first
 * name stays. Returns false if memory runs out. */
bool packages_add(struct packages *packages, struct g2h_bytes path, struct g2h_bytes name);

/* Adds the package of a function, by the function's symbol; the package's name is guessed from its
 * path. Returns false if memory runs out. */
bool packages_add_function(struct packages *packages, struct g2h_bytes symbol);

/* Appends an unescaped name, replacing paths by short names. Paths that are not in the executable
 * stay, and so do quoted strings: tags of fields. */
void text_append_short(struct text *text, const struct packages *packages, const void *name,
                       size_t size);

#endif
