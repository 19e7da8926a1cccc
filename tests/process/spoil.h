/* spoil: the test of the comparison. */
#ifndef PROCESS_TESTS_SPOIL_H
#define PROCESS_TESTS_SPOIL_H

#include <go2heapsnapshot/input.h>

/*
 * Compares a dump with itself, and with what becomes of it if one record of each kind is changed in
 * one bit, for many bits, or left out, or written twice, or changes places with the next one. False
 * where something was not noticed, or found where nothing is; lines of TAP say what.
 */
bool spoil_test(const struct g2h_input *dump);

#endif
