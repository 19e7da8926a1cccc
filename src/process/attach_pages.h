/*
 * attach_pages: which pages of a process are worth a copy.
 *
 * Of /proc/PID/maps the private mappings that it can read. Those of files are taken wholly, for
 * what is not in memory there is in the file; but neither code nor what is too large for a program.
 * Of anonymous ones, most of which are reserves that nobody has touched, /proc/PID/pagemap says
 * which pages there are; all others are zeros.
 */
#ifndef PROCESS_ATTACH_PAGES_H
#define PROCESS_ATTACH_PAGES_H

#include "base/memory.h"
#include "process/procfs.h"

struct attach_mapping {
    uint64_t address, size;
    bool is_file;
};

struct attach_mappings {
    struct attach_mapping *data;
    size_t count, capacity;
};

/* Pages one after the other. */
struct attach_run {
    uint64_t address, size;
    bool is_zero; /* nobody has touched them: they need not be read */
};

struct attach_pages {
    VECTOR(struct attach_run) runs; /* ascending */
    uint64_t size, resident;        /* of all of them; of those that are not zero */
    bool is_guess; /* the system has no pagemap: many of what is resident here may be zero */
};

/* The mappings of /proc/PID/maps whose pages are wanted. False where there is no memory. */
bool attach_mappings_parse(const char *maps, struct attach_mappings *ret);

/* Finds the pages of a process, which had better be stopped. Gives 0, or the number of the system's
 * error. *ret goes to attach_pages_deinit() in any case. */
int attach_pages_find(uint64_t pid, struct attach_pages *ret);

/* Forgets those that are zero. */
void attach_pages_drop_zeros(struct attach_pages *pages);
void attach_pages_deinit(struct attach_pages *pages);

#endif
