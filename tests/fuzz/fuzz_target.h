/* fuzz_target: the code that the targets share: a conversion within the process, done as the
 * program does it. */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

#include <go2heapsnapshot/input.h>
#include <go2heapsnapshot/view.h>

/* Writes a view to fd, on this number of threads. */
typedef struct g2h_error *fuzz_write(const struct g2h_view *view, unsigned threads, uint64_t choice,
                                     int fd);

/* Writes the snapshot to fd, and all other formats to nowhere. */
fuzz_write fuzz_write_all;

/*
 * Converts input on this number of threads. Writes the view to fd by write(), and the program's
 * messages and its account (-v) to stderr. Returns the exit status that the program would return:
 * 0, 1 or 3. input remains the caller's. exe is the path of its executable, or NULL for none.
 * choice is any number; it decides whether the view is folded, redacted and without garbage.
 */
int fuzz_convert(const struct g2h_input *input, const char *exe, unsigned threads, uint64_t choice,
                 fuzz_write *write, int fd);

/* Returns a choice for these bytes: their sum. */
uint64_t fuzz_choice(const uint8_t *data, size_t size);

/*
 * Calls fuzz_convert() on one thread. For one choice of 16 it does so on one thread and on three,
 * and aborts if the two do not write the same bytes.
 */
void fuzz_convert_any(const struct g2h_input *input, const char *exe, uint64_t choice,
                      fuzz_write *write);

/* Converts an input and a copy of it with some changed bytes as a series, in this or the other
 * order. */
void fuzz_series(const struct g2h_input *input, uint64_t choice);

/* Returns a descriptor of /dev/null, for writing. */
int fuzz_nowhere(void);

/*
 * Makes a file without a name that holds these bytes. Returns its descriptor, which the caller
 * closes, and in ret_path a path to open the file by.
 */
enum { FUZZ_PATH = 32 };
int fuzz_file(const void *data, size_t size, char ret_path[FUZZ_PATH]);

/* The entry points of libFuzzer; each target defines the first one. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size, const uint8_t *other,
                                 size_t other_size, uint8_t *ret, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

#endif
