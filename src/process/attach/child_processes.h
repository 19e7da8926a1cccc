/* child_processes: the descendants of a process. */
#ifndef PROCESS_ATTACH_CHILD_PROCESSES_H
#define PROCESS_ATTACH_CHILD_PROCESSES_H

#include <stddef.h>
#include <stdint.h>

/* Finds the descendants of a process by the parents in proc(5), children before grandchildren.
 * Stores at most most of them, and returns how many. Finds none if /proc cannot be read or memory
 * runs out. */
size_t children_find(uint64_t pid, uint64_t *ret, size_t most);

/* Does the same in a fraction of the time, by the lists of each process's children. It may miss
 * some when others end meanwhile (proc(5)). */
size_t children_find_quickly(uint64_t pid, uint64_t *ret, size_t most);

#endif
