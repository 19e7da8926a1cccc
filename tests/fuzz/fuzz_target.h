/* fuzz_target: what the targets have in common: a conversion within the process, as the program
 * would do it. */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

#include <go2heapsnapshot/input.h>

/*
 * Converts input on as many threads as told and writes the snapshot to fd, the program's messages
 * and its account (-v) to stderr. Gives the exit status that the program would give: 0, 1 or 3.
 * input remains the caller's. exe is the path of its executable, NULL: none. choice says what is
 * folded, redacted and left out: any number.
 */
int fuzz_convert(const struct g2h_input *input, const char *exe, unsigned threads, uint64_t choice,
                 int fd);

/* A choice for such bytes: their sum. */
uint64_t fuzz_choice(const uint8_t *data, size_t size);

/*
 * The same once, or for one choice of 16 on one thread and on three, which must come to the same
 * bytes: ends the process where they do not.
 */
void fuzz_convert_any(const struct g2h_input *input, const char *exe, uint64_t choice);

/* Converts an input and a copy of it in which some bytes have changed, or the other way round, as a
 * series. */
void fuzz_series(const struct g2h_input *input, uint64_t choice);

/* /dev/null, to be written to. */
int fuzz_nowhere(void);

/*
 * A new file without a name that has such bytes; its descriptor, and in ret_path the path to open
 * it by. The caller closes it.
 */
enum { FUZZ_PATH = 32 };
int fuzz_file(const void *data, size_t size, char ret_path[FUZZ_PATH]);

/* The entry points of libFuzzer; each target has the first one. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size, const uint8_t *other,
                                 size_t other_size, uint8_t *ret, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

#endif
