/*
 * example: which object of a suspect to name, and whether one holder has most of them.
 *
 * Among similar objects the heaviest is named, because it is the one to look at. If one of several
 * holders (a room, a tenant, the longest of some lists) has most of the objects, that holder is to
 * blame, so the object is one of its own, and the report shows what it alone has.
 */
#ifndef FINDINGS_EXAMPLE_H
#define FINDINGS_EXAMPLE_H

#include "findings/findings.h"

struct example {
    uint32_t node;      /* of the view: the heaviest object, or the heaviest of the holder below */
    uint32_t most;      /* of the view: the holder that alone has most, or UINT32_MAX */
    uint64_t holders;   /* how many of its kind hold objects of the suspect, at least one */
    uint64_t count;     /* objects of the suspect that it has, itself included; */
    uint64_t retained;  /* the bytes that these retain */
    uint64_t uppermost; /* objects of the suspect that no other one holds; 1: a list, a tree */
    uint64_t above; /* how many objects of the node above item hold objects of the suspect; 0: that
                       node is not of objects */
};

/*
 * Finds the example of item, a node of merged that is a class or goroutines in one place, as a
 * suspect names them: nodes of the same name below it count, too. One of several holders has most
 * if it has all, or if the objects that it alone holds retain more than half of the total, and more
 * than one and a half times a holder's average. Takes 7 bytes per node of the view while it runs.
 * Errors: G2H_ERROR_MEMORY.
 */
struct g2h_error *example_find(const struct findings *findings, uint32_t item, struct example *ret);

#endif
