/*
 * attach_room: whether there is room for the copy of a process.
 *
 * In what the machine has, and in what the control groups of this process may use: in a container
 * with the process that is copied, that might be killed for it. What files have in memory counts as
 * room: the kernel takes it before it kills anybody.
 */
#ifndef PROCESS_ATTACH_ROOM_H
#define PROCESS_ATTACH_ROOM_H

#include <stdint.h>

#include "base/error.h"

struct attach_room {
    uint64_t left;    /* bytes */
    char limit[1024]; /* the file that says so: of a control group; "": all of the machine's */
};

/* The least that is left anywhere; UINT64_MAX where the system does not say. */
void attach_room_find(struct attach_room *ret);

/* Where control groups leave less than *room has, notes it there: our own, of which
 * /proc/self/mountinfo and /proc/self/cgroup have said these, and all above that can be seen. */
void attach_room_of_groups(const char *mounts, const char *groups, struct attach_room *room);

/* An error unless a copy of so many bytes fits, and an eighth more to work with. */
struct g2h_error *attach_room_check(uint64_t pid, uint64_t bytes, const struct attach_room *room);

#endif
