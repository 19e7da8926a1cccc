/*
 * contract: asserts of what modules promise each other: what a caller must keep, in which order a
 * list is, which fields are set when. All builds for tests have them, releases do not (NDEBUG).
 *
 * Input is not trusted, so no assert may depend on it: that is checked, and is an error. Some
 * asserts go over whole lists, in linear time.
 */
#ifndef BASE_CONTRACT_H
#define BASE_CONTRACT_H

#include <assert.h>

/* Marks a function or a variable that only asserts use. */
#define _asserted_ __attribute__((unused))

#endif
