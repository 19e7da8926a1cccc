/* processes: the Go processes of this machine, for --pid NAME and --pid alone. */
#ifndef CLI_PROCESSES_H
#define CLI_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

/* Prints the Go processes that may be read: their numbers, when they started, RSS, release of Go
 * and names. Returns the exit status. */
int processes_print(void);

/* Finds the only Go process with a name: that of its executable, or the one that its program has
 * set. Returns false after printing that there is none, or which ones there are. */
bool processes_find(const char *name, uint64_t *ret);

#endif
