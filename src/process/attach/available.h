/*
 * available: what there is: memory for the copy of a process and for a conversion, and how many
 * processes the kernel has killed for lack of it.
 */
#ifndef ATTACH_AVAILABLE_H
#define ATTACH_AVAILABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* ==== whether there is memory for the copy of a process ====
 *
 * The copy must fit in the machine's available memory and in the limits of this program's control
 * groups: if this program runs in a container with the process, the process might be killed for
 * exceeding them. Page cache counts as available: the kernel reclaims it before it kills any
 * process.
 */

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

/* Returns whether so many bytes are known to be available: false if that is not known, as on
 * systems other than Linux. */
bool attach_available_has(uint64_t bytes);

/*
 * Returns the maximum of the memory needed for a copy of this many bytes and an eighth more to work
 * with, and of the memory needed afterwards: after percent of the bytes, 0 if that is less, and the
 * temporary dump if that is not on a disk.
 */
uint64_t attach_available_wanted(uint64_t bytes, unsigned after, bool is_in_memory);

/* What follows a copy. */
struct attach_after {
    unsigned percent; /* memory for it, in percent of the copy's bytes; 0: less than the copy */
    bool spools;      /* the dump goes to a temporary file, which may be in memory */
};

/* Returns an error unless the needed memory is available. */
struct g2h_error *attach_available_check(uint64_t pid, uint64_t bytes, struct attach_after after,
                                         const struct attach_available *available);

/* Returns whether there is memory to read the child of a fork of this many bytes through a window
 * (process.h), for the processing afterwards, and for the pages that the process writes to
 * meanwhile. */
bool attach_available_has_window(uint64_t bytes, struct attach_after after,
                                 const struct attach_available *available);

/* Says which limit of addresses is in force: that of the shell, strict overcommit, or the
 * machine's. */
enum { ATTACH_LIMIT_TEXT = 128 };

void attach_available_address_limit(char ret[ATTACH_LIMIT_TEXT]);

/* Returns the error that the system does not provide enough address space, which names the
 * limit. */
struct g2h_error *attach_available_refuse_addresses(uint64_t pid, uint64_t bytes);

/* ==== whether this machine has what the conversion of a heap takes ====
 *
 * Where it has not, an error says so in figures, and what else is possible, before a process is
 * stopped or much time has passed. What is needed is as little as any heap was measured with: a
 * conversion that might succeed is not refused.
 */

struct needs {
    const char *name;      /* "process 1234", or that of a dump */
    uint64_t objects;      /* 0: not known */
    uint64_t memory;       /* bytes that the conversion still allocates */
    uint64_t dump;         /* bytes of the dump that is mapped; 0: none */
    uint64_t disk;         /* bytes of it that are written, without holes; 0: none */
    const char *directory; /* where the dump is written; NULL: nowhere, or not known */
    const char *ways;      /* what is possible with less memory */
    uint64_t most;         /* objects that the conversion can have; 0: not limited here */
    const char *beyond;    /* what that limit is, and what is possible with more objects */
    uint64_t beside;       /* addresses beside memory and dump: buffers, and what varies */
};

/* Errors: G2H_ERROR_LIMIT: there are too many objects; G2H_ERROR_SYSTEM: something is short. On
 * systems other than Linux nothing is known to be. */
struct g2h_error *needs_check(const struct needs *needs);

/* Returns whether so many bytes can be mapped beside what has been mapped. */
bool needs_have_addresses(uint64_t bytes);

/* Returns whether there is twice as much memory that no limit is on: enough not to use a disk. */
bool needs_have_memory(uint64_t bytes);

/* ==== counts the processes that the kernel has killed for lack of memory ==== */

struct oom_count {
    uint64_t kills;
    uint64_t group; /* whose processes: a control group, by the number of its directory's inode; 0:
                       all of the machine */
};

/* Reads the counter of the control group of a process or thread, or that of the machine
 * (/proc/vmstat) if the group is not visible from here. Returns false if there is neither. */
bool oom_count(uint64_t pid, struct oom_count *ret);

#endif
