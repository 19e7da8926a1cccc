/*
 * scratch: where --at-death puts the temporary copy of a heap, and whether there is room for it and
 * for the output.
 *
 * A heap is written to a temporary file first, uncompressed. What is wrong with its directory, such
 * as a root file system that is read-only, must be known before the process ends. So the directory
 * is the best of several: $TMPDIR, if that is set, that of the output, /tmp, and memory.
 */
#ifndef LIBRARY_SCRATCH_H
#define LIBRARY_SCRATCH_H

#include <stdbool.h>
#include <stdint.h>

struct scratch {
    const char *output; /* a file or a directory */
    bool is_directory;
    unsigned part;         /* the output takes this part of the heap's bytes: 1, or 3 for a third */
    int file;              /* an empty one in the directory, if that is on a disk; -1: none */
    char directory[4096];  /* the one chosen; "": memory */
    uint64_t needed, free; /* bytes in the directory, with the output if that is there as well */
    bool has_room;
    uint64_t output_needed, output_free; /* the same of the output; 0 if it is in the directory */
    bool has_output_room;
};

/* Chooses the directory for a heap of so many bytes, by creating a file that has no name in each of
 * them, and measures the room. ret->output, is_directory, part
 * and file, -1 at first, are the caller's. */
void scratch_choose(struct scratch *scratch, uint64_t bytes);

void scratch_deinit(struct scratch *scratch);

/* Measures the room again. Returns how many bytes of a heap of so many have room. */
uint64_t scratch_measure(struct scratch *scratch, uint64_t bytes);

/* Has this program create its temporary files in the directory. */
void scratch_use(const struct scratch *scratch);

#endif
