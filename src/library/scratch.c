/* scratch; see scratch.h. */
#include "library/scratch.h"

#ifdef __linux__ /* as at_death.c */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "input/input.h"
#include "library/death_files.h"
#include "process/attach/available.h"

/* Of the room that a disk has, this is left to others: a part, and so many bytes. */
enum { LEFT_PART = 20 };
#define LEFT_BYTES (1ull << 20)

/* What a directory is worth, the sum of these: the best one is chosen, of equal ones the first. */
enum { IS_ON_DISK = 1, HAS_ROOM = 2, CAN_WRITE = 4 };

/* Copies the directory that a path of the output is in. */
static void directory_of_output(const struct scratch *scratch, char *ret, size_t size)
{
    const char *slash = strrchr(scratch->output, '/');
    const size_t length = slash ? (size_t)(slash - scratch->output) : 0;
    if (scratch->is_directory)
        snprintf(ret, size, "%s", scratch->output);
    else if (!slash)
        snprintf(ret, size, ".");
    else
        snprintf(ret, size, "%.*s", (int)(length > 0 ? length : 1), scratch->output);
}

/* Returns whether the output takes room: a device, such as a terminal, does not. */
static bool takes_room(const struct scratch *scratch)
{
    struct stat status;
    return stat(scratch->output, &status) != 0 || S_ISREG(status.st_mode) ||
           S_ISDIR(status.st_mode);
}

static bool is_in_memory(const char *directory)
{
    const uint32_t tmpfs = 0x01021994, ramfs = 0x858458f6; /* statfs(2): *_MAGIC */
    struct statfs status;
    return !*directory || (statfs(directory, &status) == 0 &&
                           ((uint32_t)status.f_type == tmpfs || (uint32_t)status.f_type == ramfs));
}

static bool are_on_one_disk(const char *one, const char *other)
{
    struct stat a, b;
    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev;
}

/* Returns how many bytes a directory has room for. A file in memory takes memory. */
static uint64_t room_of(const char *directory)
{
    struct attach_available available = {.left = UINT64_MAX};
    uint64_t room = *directory ? death_files_room(directory) : UINT64_MAX;
    if (is_in_memory(directory))
        attach_available_find(&available);
    if (available.left < room)
        room = available.left;
    if (room == UINT64_MAX)
        return room;
    room -= room / LEFT_PART;
    return room > LEFT_BYTES ? room - LEFT_BYTES : 0;
}

/* Measures the room for a heap whose temporary file is in a directory. */
static void measure(struct scratch *scratch, const char *directory, uint64_t bytes)
{
    char output[sizeof(scratch->directory)];
    directory_of_output(scratch, output, sizeof(output));
    const uint64_t of_output = takes_room(scratch) ? bytes / scratch->part : 0;
    const bool is_one = of_output > 0 && *directory && are_on_one_disk(directory, output);
    scratch->needed = bytes + (is_one ? of_output : 0);
    scratch->free = room_of(directory);
    scratch->has_room = scratch->needed <= scratch->free;
    scratch->output_needed = is_one ? 0 : of_output;
    scratch->output_free = scratch->output_needed > 0 ? room_of(output) : UINT64_MAX;
    scratch->has_output_room = scratch->output_needed <= scratch->output_free;
}

/* Tries a directory, and chooses it if it is better than the one chosen so far. */
static void try_directory(struct scratch *scratch, const char *directory, uint64_t bytes,
                          unsigned *best)
{
    struct scratch its = *scratch;
    if (strlen(directory) >= sizeof(its.directory) ||
        (its.file = input_temporary_file(directory)) < 0)
        return;
    measure(&its, directory, bytes);
    unsigned worth = CAN_WRITE;
    if (its.has_room)
        worth += HAS_ROOM;
    if (!is_in_memory(directory))
        worth += IS_ON_DISK;
    if (worth <= *best) {
        close(its.file);
        return;
    }
    *best = worth;
    scratch_deinit(scratch);
    snprintf(its.directory, sizeof(its.directory), "%s", directory);
    *scratch = its;
}

void scratch_deinit(struct scratch *scratch)
{
    if (scratch->file >= 0)
        close(scratch->file);
    scratch->file = -1;
}

void scratch_choose(struct scratch *scratch, uint64_t bytes)
{
    const char *wished = getenv("TMPDIR");
    char output[sizeof(scratch->directory)];
    unsigned best = 0;
    directory_of_output(scratch, output, sizeof(output));
    scratch->directory[0] = '\0';
    if (wished && *wished)
        try_directory(scratch, wished, bytes, &best);
    if (takes_room(scratch))
        try_directory(scratch, output, bytes, &best);
    try_directory(scratch, "/tmp", bytes, &best);
    try_directory(scratch, "", bytes, &best); /* memory */
    if (is_in_memory(scratch->directory))
        scratch_deinit(scratch);
}

/* Scales the bytes of a heap to the room that there is. */
static uint64_t scale(uint64_t bytes, uint64_t needed, uint64_t free)
{
    return needed <= free ? bytes : (uint64_t)((double)bytes * ((double)free / (double)needed));
}

uint64_t scratch_measure(struct scratch *scratch, uint64_t bytes)
{
    measure(scratch, scratch->directory, bytes);
    const uint64_t one = scale(bytes, scratch->needed, scratch->free),
                   other = scale(bytes, scratch->output_needed, scratch->output_free);
    return one < other ? one : other;
}

void scratch_use(const struct scratch *scratch)
{
    input_use_directory(scratch->directory);
}

#endif
