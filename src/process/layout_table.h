/*
 * layout_table: the offsets of the fields of layout.h in releases of Go, for layout.c. The lists
 * are in layout_table.c, which tools/layouts generates.
 *
 * Most fields have the same offset as in the previous release, and as on amd64; so these are lists
 * of changes.
 */
#ifndef PROCESS_LAYOUT_TABLE_H
#define PROCESS_LAYOUT_TABLE_H

#include "process/layout.h"

/* The offset and size of a field from a release on, up to the next change of the field. */
struct layout_change {
    uint16_t field;
    uint8_t minor;    /* the N of go1.N */
    uint16_t machine; /* EM_…; 0: on all of them */
    struct layout_member member;
};

/* The offset and size of a field in one release, if that was built with an experiment
 * (GOEXPERIMENT). */
struct layout_experiment {
    uint16_t field;
    uint8_t minor;
    const char *name;
    struct layout_member member;
};

/* The changes of a field on all machines come before its changes on one machine; both are ascending
 * by release. */
extern const struct layout_change layout_changes[];
extern const size_t layout_change_count;

extern const struct layout_experiment layout_experiments[];
extern const size_t layout_experiment_count;

/* The machines, and the oldest and newest release. The lists have each release on each machine. */
extern const uint16_t layout_machines[];
extern const size_t layout_machine_count;
extern const uint8_t layout_oldest, layout_newest;

#endif
