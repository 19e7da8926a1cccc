/*
 * packages: import paths in names, and the short names that may stand for them.
 *
 * Go writes one package in two ways: "http" in its source and in what %T prints, "net/http" where
 * nothing else will do. Here the last element of a path, or rather the name that the package gives
 * itself, takes the place of the path wherever no other package of the executable has it. All that
 * the executable has count, not those that objects of the dump are of: two dumps of a process are
 * compared by name.
 */
#ifndef NAMING_PACKAGES_H
#define NAMING_PACKAGES_H

#include "base/strings.h"
#include "base/text.h"
#include "exe/exe.h"

struct packages {
    struct string_pool paths; /* as people know them */
    struct string_pool names;
    VECTOR(uint32_t) name_of;  /* by path */
    VECTOR(uint32_t) owner_of; /* by name: the path that has it, or PACKAGE_SEVERAL */
    struct text last;          /* the package of the function before, as the linker has it */
};

#define PACKAGE_SEVERAL (UINT32_MAX - 1)

/* Those of an executable: of its functions, and of its types that have descriptors. Goes through
 * all their names. packages is {0}. Error: G2H_ERROR_MEMORY. */
struct g2h_error *packages_init(struct packages *packages, const struct g2h_exe *exe);
void packages_deinit(struct packages *packages);

/* Adds a package by its path and what it calls itself; the first to say that is believed. False
 * where there is no memory. */
bool packages_add(struct packages *packages, struct g2h_bytes path, struct g2h_bytes name);

/* Adds the package of a function, by its symbol; what it calls itself is guessed by its path. False
 * where there is no memory. */
bool packages_add_function(struct packages *packages, struct g2h_bytes symbol);

/* Appends a name that is no longer escaped, with short names in place of paths. Paths that are none
 * of the executable's stay, and so does what is between quotes: tags of fields. */
void text_append_short(struct text *text, const struct packages *packages, const uint8_t *data,
                       uint64_t size);

#endif
