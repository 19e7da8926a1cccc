/*
 * foreign: what is given in place of a dump, by its first bytes, and what to do about it.
 */
#ifndef DUMP_FOREIGN_H
#define DUMP_FOREIGN_H

#include <go2heapsnapshot/input.h>

/* The error for an input that is no Go heap dump: says what it is instead, where that can be told.
 */
struct g2h_error *foreign_refuse(const struct g2h_input *input);

#endif
