/*
 * patterns: what goroutines at a well-known location, or objects in a well-known container, mean,
 * where the heap proves it: those of packages of the standard library and of gRPC that a forgotten
 * call leaves behind.
 */
#ifndef FINDINGS_PATTERNS_H
#define FINDINGS_PATTERNS_H

#include "findings/findings.h"

/* A pattern that the goroutines of a place, or objects, have. */
struct pattern {
    const char *meaning; /* in words; NULL: none is known */
    uint64_t count;      /* of how many goroutines or objects it is true */
};

/* Finds the pattern of a place, a node of merged, and checks its condition. Errors:
 * G2H_ERROR_MEMORY. */
struct g2h_error *pattern_find(const struct findings *findings, uint32_t place,
                               struct pattern *ret);

/* Does the same for objects, a node of merged. */
struct g2h_error *pattern_find_objects(const struct findings *findings, uint32_t node,
                                       struct pattern *ret);

#endif
