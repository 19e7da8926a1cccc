/*
 * available: whether there is memory for the copy of a process.
 *
 * The copy must fit in the machine's available memory and in the limits of this program's control
 * groups: if this program runs in a container with the process, the process might be killed for
 * exceeding them. Page cache counts as available: the kernel reclaims it before it kills any
 * process.
 */
#ifndef PROCESS_ATTACH_AVAILABLE_H
#define PROCESS_ATTACH_AVAILABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct attach_available {
    uint64_t left;    /* bytes */
    char limit[1024]; /* the control group's file with this limit; "": the machine's memory */
    uint64_t bytes;   /* this limit, of a control group */
    bool ends_all;    /* if memory runs out, the kernel ends all processes of a group, not just the
                         one it chooses (memory.oom.group) */
};

/* Finds the memory left by the tightest limit; UINT64_MAX if unknown. */
void attach_available_find(struct attach_available *ret);

/*
 * Lowers *available to the memory left by control groups, if that is less: the group of a process,
 * according to the contents of /proc/self/mountinfo and of its /proc/PID/cgroup, and all visible
 * groups above it. own is the /proc/self/cgroup of this process. Groups whose directory this
 * process does not see do not change *available, unless they are its own.
 */
void attach_available_in_groups(const char *mounts, const char *groups, const char *own,
                                struct attach_available *available);

/* Finds the memory left by the tightest limit of a process, as attach_available_find() does for
 * this program. If the process is in another container, that is the limit which it sees itself. */
void attach_available_find_of(uint64_t pid, struct attach_available *ret);

/* Finds the directory of the memory group of a process or thread in version 2 (version 0 here) or 1
 * (version 1) of control groups. Returns false if neither this program nor the process sees it. */
bool attach_available_group_of(uint64_t pid, unsigned version, char *ret, size_t size);

/* Returns how many more threads and processes the control groups of a process allow; UINT64_MAX if
 * that is not limited, or not known. */
uint64_t attach_available_tasks_of(uint64_t pid);

/*
 * Returns the maximum of the memory needed for a copy of this many bytes and an eighth more to work
 * with, and of the memory needed afterwards: after percent of the bytes, 0 if that is less, and the
 * temporary dump if that is not on a disk.
 */
uint64_t attach_available_wanted(uint64_t bytes, unsigned after, bool is_in_memory);

/* Returns an error unless the needed memory is available. */
struct g2h_error *attach_available_check(uint64_t pid, uint64_t bytes, unsigned after,
                                         const struct attach_available *available);

/* Returns whether there is memory to read the child of a fork of this many bytes through a window
 * (window.h), for the processing afterwards, and for the pages that the process writes to
 * meanwhile. */
bool attach_available_has_window(uint64_t bytes, unsigned after,
                                 const struct attach_available *available);

/* Returns the error that the system does not provide enough address space, which names the
 * limit. */
struct g2h_error *attach_available_refuse_addresses(uint64_t pid, uint64_t bytes);

#endif
