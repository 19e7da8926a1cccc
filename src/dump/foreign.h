/*
 * foreign: what is given in place of a dump, by its first bytes, and what to do about it.
 */
#ifndef DUMP_FOREIGN_H
#define DUMP_FOREIGN_H

#include <go2heapsnapshot/input.h>

/* The error for an input that is no Go heap dump: says what it is instead, where that can be told.
 */
struct g2h_error *foreign_refuse(const struct g2h_input *input);

/* Whether bytes begin as an executable does: ELF, but no core file; Mach-O, PE. */
bool foreign_is_executable(const uint8_t *data, uint64_t size);

#endif
