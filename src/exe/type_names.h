/*
 * type_names: the names of runtime types with full import paths.
 *
 * A descriptor's own text has the names of packages only ("*http.conn"), so two types may share it.
 * The path is beside the text of a named type ("net/http.conn"); all other names are made of those.
 */
#ifndef EXE_TYPE_NAMES_H
#define EXE_TYPE_NAMES_H

#include "exe/descriptors.h"

/*
 * Interns in types the name of each descriptor; *ret has a number for each, and is freed by the
 * caller. Long names are cut; interfaces without a name have the descriptor's own text. Error:
 * G2H_ERROR_MEMORY.
 */
struct g2h_error *type_names_init(const struct descriptors *descriptors, struct types *types,
                                  uint32_t **ret);

/* Interns a text, as "?" once there is more than a sound executable has. False where there is no
 * memory. */
bool type_names_intern(const struct descriptors *descriptors, struct types *types,
                       struct g2h_bytes text, uint32_t *ret);

#endif
