/* procfs: what the files of /proc and of control groups say, read wholly and taken apart. */
#ifndef PROCESS_PROCFS_H
#define PROCESS_PROCFS_H

#include "base/text.h"

/* The path of a file of a process: "/proc/1234/maps". */
struct procfs_path {
    char text[64];
};

struct procfs_path procfs_path(uint64_t pid, const char *name);

/* Reads a file, and a 0 behind its end, in place of what the text had. Gives 0, or the number of
 * the error. */
int procfs_read(const char *path, struct text *ret);

/* The same for a file of a process. */
int procfs_read_of(uint64_t pid, const char *name, struct text *ret);

/* What is behind a key and blanks in the first line that begins with the key: "TracerPid:". NULL
 * where no line does. */
const char *procfs_value(const struct text *file, const char *key);

/* The number behind a key, UINT64_MAX where there is none. */
uint64_t procfs_number(const struct text *file, const char *key);

/* Takes the digits of a number, and the blanks behind them. False where there are none, or more
 * than 64 bits hold. */
bool procfs_take_number(const char **at, unsigned base, uint64_t *ret);

#endif
