/*
 * queued_cleanup: the roots by which a dump that is made from outside has what the cleanups of
 * runtime.AddCleanup that wait to be run keep: docs/dump-formats.md, "Dumps of processes". Go's own
 * dumper writes none.
 */
#ifndef DUMP_QUEUED_CLEANUP_H
#define DUMP_QUEUED_CLEANUP_H

#include <string.h>

#include <go2heapsnapshot/dump.h>

/* The parts of a cleanup in the runtime's queue, and their descriptions. Before Go 1.26 it is
 * QUEUED_FUNCTION only. */
enum queued_part { QUEUED_CALLER, QUEUED_FUNCTION, QUEUED_ARGUMENT, QUEUED_PARTS };

static inline const char *queued_description(enum queued_part part)
{
    static const char *const descriptions[QUEUED_PARTS] = {
        "queued cleanup's caller", "queued cleanup", "argument of a queued cleanup"};
    return descriptions[part];
}

/* Returns whether a root's description is one of these. */
static inline bool says_queued_cleanup(struct g2h_bytes description)
{
    for (unsigned i = 0; i < QUEUED_PARTS; i++) {
        const char *one = queued_description((enum queued_part)i);
        if (description.size == strlen(one) && memcmp(description.data, one, strlen(one)) == 0)
            return true;
    }
    return false;
}

#endif
