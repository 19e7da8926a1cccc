/* spoil: tests the comparison of dumps. */
#ifndef PROCESS_TESTS_SPOIL_H
#define PROCESS_TESTS_SPOIL_H

#include <go2heapsnapshot/input.h>

/*
 * Compares a dump with itself, and with spoiled copies: in each, a record of each kind has one bit
 * changed (many bits are tried), or is left out, or is written twice, or changes places with the
 * next one. Returns false if a change was not noticed, or a difference was found where there is
 * none; lines of TAP say which.
 */
bool spoil_test(const struct g2h_input *dump);

#endif
