/*
 * type_names: the names of the types of descriptors, with full import paths.
 *
 * A descriptor's own name contains only the names of packages ("*http.conn"), so two types may
 * share it. The descriptor of a named type has the package's path as well, which makes
 * "net/http.conn". The names of all other types are composed of the names of their parts.
 */
#ifndef EXE_GO_TYPE_NAMES_H
#define EXE_GO_TYPE_NAMES_H

#include "exe/go/descriptors.h"

/*
 * Interns the name of each descriptor's type in types; *ret is an array of the names' numbers,
 * which the caller frees. Long names, and those of interfaces without a name, are the descriptors'
 * own names. Error: G2H_ERROR_MEMORY.
 */
struct g2h_error *type_names_init(const struct descriptors *descriptors, struct types *types,
                                  uint32_t **ret);

/* Interns a string, or "?" in its place once there are more bytes of strings than a sound
 * executable has. Returns false if memory runs out. */
bool type_names_intern(const struct descriptors *descriptors, struct types *types,
                       struct g2h_bytes text, uint32_t *ret);

#endif
