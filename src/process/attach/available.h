/*
 * available: whether there is memory for the copy of a process.
 *
 * The copy must fit in the machine's available memory and in the limits of this program's control
 * groups: if this program runs in a container with the process, the process might be killed for
 * exceeding them. Memory that holds files counts as available: the kernel reclaims it before it
 * kills any process.
 */
#ifndef PROCESS_ATTACH_AVAILABLE_H
#define PROCESS_ATTACH_AVAILABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct attach_available {
    uint64_t left;    /* bytes */
    char limit[1024]; /* the control group's file with this limit; "": all of the machine's */
    uint64_t bytes;   /* this limit, of a control group */
    bool ends_all;    /* if memory runs out, the kernel ends all processes of a group, and not only
                         the one that it chooses (memory.oom.group) */
};

/* Finds what the tightest of all limits leaves; UINT64_MAX if the system does not say. */
void attach_available_find(struct attach_available *ret);

/*
 * Lowers *available to what control groups leave, if that is less: the group of this process,
 * according to the contents of /proc/self/mountinfo and /proc/self/cgroup, and all groups above it
 * that can be seen.
 */
void attach_available_in_groups(const char *mounts, const char *groups,
                                struct attach_available *available);

/* Does the same for another process, by its /proc/PID/cgroup. own is that of this process. Groups
 * of which this process does not see the directory leave *available as it is, unless they are its
 * own. */
void attach_available_in_groups_of(const char *mounts, const char *groups, const char *own,
                                   struct attach_available *available);

/* Finds what the tightest limit of a process leaves, as attach_available_find() does for this
 * program's. */
void attach_available_find_of(uint64_t pid, struct attach_available *ret);

/* Finds the directory of the memory group of a process or thread in version 2 (version 0 here) or 1
 * (version 1) of control groups. Returns false if it cannot be seen from here. */
bool attach_available_group_of(uint64_t pid, unsigned version, char *ret, size_t size);

/* Returns how many more threads and processes the control groups of a process let it have;
 * UINT64_MAX if that is not limited, or not known. */
uint64_t attach_available_tasks_of(uint64_t pid);

/*
 * Returns how much memory is wanted at the most, for a copy of this many bytes and an eighth more
 * to work with, or for what comes afterwards: after percent of the bytes, 0 if that is less, and
 * the temporary dump if that is not on a disk.
 */
uint64_t attach_available_wanted(uint64_t bytes, unsigned after, bool is_in_memory);

/* Returns an error unless what is wanted fits. */
struct g2h_error *attach_available_check(uint64_t pid, uint64_t bytes, unsigned after,
                                         const struct attach_available *available);

/* Returns whether there is memory to read the child of a fork of this many bytes through a window
 * (window.h), for what comes afterwards, and for what the process writes to meanwhile. */
bool attach_available_has_window(uint64_t bytes, unsigned after,
                                 const struct attach_available *available);

/* Returns the error that the system does not give as many addresses, which names the limit. */
struct g2h_error *attach_available_refuse_addresses(uint64_t pid, uint64_t bytes);

#endif
