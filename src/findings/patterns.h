/*
 * patterns: what goroutines at a well-known location mean, where the heap proves it: those of
 * packages of the standard library that a forgotten call leaves behind.
 */
#ifndef FINDINGS_PATTERNS_H
#define FINDINGS_PATTERNS_H

#include "findings/findings.h"

/* A pattern that the goroutines of a place have. */
struct pattern {
    const char *meaning; /* in words; NULL: none is known */
    uint64_t count;      /* of how many goroutines it is true */
};

/* Finds the pattern of a place, a node of merged, and checks its condition. */
void pattern_find(const struct findings *findings, uint32_t place, struct pattern *ret);

#endif
