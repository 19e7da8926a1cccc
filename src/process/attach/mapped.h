/*
 * mapped: the files that a process has mapped: its executable, shared libraries, and data.
 *
 * /proc/PID/maps of a live process and the note NT_FILE of a core list them. They show where a
 * library is in the process; the program's entry point (AT_ENTRY) shows it only for the executable.
 */
#ifndef PROCESS_ATTACH_MAPPED_H
#define PROCESS_ATTACH_MAPPED_H

#include <go2heapsnapshot/bytes.h>

#include "base/memory.h"

struct mapped_file {
    uint64_t address, size;
    uint64_t offset;       /* in the file */
    struct g2h_bytes path; /* in the parsed text or note; may end with " (deleted)" */
};

struct mapped_files {
    struct mapped_file *data;
    size_t count, capacity;
};

/* Adds the files in the contents of /proc/PID/maps. Returns false if memory runs out. */
bool mapped_parse_maps(const char *maps, struct mapped_files *ret);

/* Adds the files in the contents of NT_FILE, as far as these are valid. Returns false if memory
 * runs out. */
bool mapped_parse_note(struct g2h_bytes note, struct mapped_files *ret);

/* Returns the mapping that contains an address, or NULL. */
const struct mapped_file *mapped_at(const struct mapped_files *files, uint64_t address);

#endif
