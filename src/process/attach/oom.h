/* oom: counts the processes that the kernel has killed for lack of memory. */
#ifndef PROCESS_ATTACH_OOM_H
#define PROCESS_ATTACH_OOM_H

#include <stdbool.h>
#include <stdint.h>

struct oom_count {
    uint64_t kills;
    uint64_t group; /* whose processes: a control group, by the number of its directory's inode; 0:
                       all of the machine */
};

/* Reads the counter of the control group of a process or thread, or that of the machine
 * (/proc/vmstat) if the group is not visible from here. Returns false if there is neither. */
bool oom_count(uint64_t pid, struct oom_count *ret);

#endif
