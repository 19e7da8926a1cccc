/*
 * room: whether there is room for the copy of a process.
 *
 * The copy must fit in the machine's available memory and in the limits of this program's control
 * groups: if this program runs in a container with the process, the process might be killed for
 * exceeding them. Memory that holds files counts as room: the kernel reclaims it before it kills
 * any process.
 */
#ifndef PROCESS_ATTACH_ROOM_H
#define PROCESS_ATTACH_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct attach_room {
    uint64_t left;    /* bytes */
    char limit[1024]; /* the control group's file with this limit; "": all of the machine's */
};

/* Finds the smallest room of all limits; UINT64_MAX if the system does not say. */
void attach_room_find(struct attach_room *ret);

/*
 * Lowers *room to what control groups leave, if that is less: the group of this process, according
 * to the contents of /proc/self/mountinfo and /proc/self/cgroup, and all groups above it that can
 * be seen.
 */
void attach_room_of_groups(const char *mounts, const char *groups, struct attach_room *room);

/*
 * Returns how much memory is wanted at the most, for a copy of this many bytes and an eighth more
 * to work with, or for what comes afterwards: after percent of the bytes, 0 if that is less, and
 * the temporary dump if that is not on a disk.
 */
uint64_t attach_room_wanted(uint64_t bytes, unsigned after, bool is_in_memory);

/* Returns an error unless what is wanted fits. */
struct g2h_error *attach_room_check(uint64_t pid, uint64_t bytes, unsigned after,
                                    const struct attach_room *room);

/* Returns the error that the system does not give as many addresses, which names the limit. */
struct g2h_error *attach_room_refuse_addresses(uint64_t pid, uint64_t bytes);

#endif
