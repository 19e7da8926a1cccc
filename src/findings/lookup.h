/*
 * lookup: finds the class or the object that the user asks for.
 */
#ifndef FINDINGS_LOOKUP_H
#define FINDINGS_LOOKUP_H

#include "findings/findings.h"

struct lookup {
    bool is_class;
    uint32_t class;   /* of a class: a node of merged that has its name */
    uint32_t node;    /* of an object: its node of the view; of a class UINT32_MAX */
    uint64_t address; /* of an object: the address that was asked for, */
    uint64_t offset;  /* and its offset in the object */
};

/*
 * Finds an object by an address, 0xc000012345, which may be inside of it, or a class by its name,
 * else by its full name (net/http.conn), else by its name without the package; else an object by an
 * expression that leads to it (expression.h), main.cache.items["a"]; else a class by an end or a
 * part of its name that is unique. Errors: G2H_ERROR_NOT_FOUND, whose message names similar
 * classes; G2H_ERROR_MEMORY.
 */
struct g2h_error *lookup_find(const struct findings *findings, const char *asked,
                              struct lookup *ret);

#endif
