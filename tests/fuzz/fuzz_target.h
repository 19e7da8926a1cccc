/* fuzz_target: a conversion within the process, as the program would do it. */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <go2heapsnapshot/input.h>

/*
 * Converts input on as many threads as told and writes the snapshot to fd, the program's messages
 * and its account (-v) to stderr. Gives the exit status that the program would give: 0, 1 or 3.
 * input remains the caller's.
 */
int fuzz_convert(const struct g2h_input *input, unsigned threads, int fd);

#endif
