/*
 * lookup: the class or the object that somebody asks for.
 */
#ifndef OUTPUT_REPORT_LOOKUP_H
#define OUTPUT_REPORT_LOOKUP_H

#include "output/report/sections.h"

struct lookup {
    bool is_class;
    uint32_t class;   /* a node of merged that has the name */
    uint32_t node;    /* of the view; UINT32_MAX: the object is left out */
    uint64_t address; /* that was asked for, */
    uint64_t offset;  /* and in the object */
};

/*
 * Looks an address up, 0xc000012345, which may be one inside of an object, or a class: by its name,
 * else by its full one (net/http.conn), else by an end or a part of it that only one class has.
 * Errors: G2H_ERROR_NOT_FOUND, which says what comes near; G2H_ERROR_MEMORY.
 */
struct g2h_error *lookup_find(const struct report *report, const char *asked, struct lookup *ret);

#endif
