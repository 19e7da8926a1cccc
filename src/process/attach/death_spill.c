/* death_spill; see death_spill.h. */
#include "process/attach/death_spill.h"

#ifdef __linux__

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/scope.h"
#include "process/attach/procfs.h"
#include "process/attach/watchdog.h"

/* Bytes that are copied to a file at once, and after how many they are dropped from memory. */
#define SPILL_AT_ONCE (1ull << 20)
#define SPILL_BEHIND  (8ull << 20)

/* Reads a page or more of the process. Returns the bytes read; 0: the page cannot be read. */
static uint64_t spill_read(int from, uint64_t address, uint8_t *to, uint64_t size)
{
    ssize_t count;
    do
        count = pread(from, to, (size_t)size, (off_t)address);
    while (count < 0 && errno == EINTR);
    return count > 0 ? (uint64_t)count & ~(uint64_t)(4096 - 1) : 0;
}

static bool spill_write(int to, uint64_t offset, const uint8_t *data, uint64_t size)
{
    for (uint64_t at = 0; at < size;) {
        const ssize_t count = pwrite(to, data + at, (size_t)(size - at), (off_t)(offset + at));
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        at += (uint64_t)count;
    }
    return true;
}

/* Copies a piece of the process to the file, and maps it where its copy would be. *ret is how many
 * bytes that are. Returns false if the file takes no more. */
static bool spill_piece(struct death_spill *spill, int from, uint8_t *buffer,
                        const struct attach_run *piece, struct memory *ret, uint64_t *ret_size)
{
    const int to = spill->file;
    const off_t offset = (off_t)spill->size;
    *ret_size = spill_read(from, piece->address, buffer, piece->size);
    if (*ret_size == 0)
        return true;
    if (*ret_size > spill->most - spill->size || !spill_write(to, spill->size, buffer, *ret_size))
        return false;
    /* Pages of the file that are on the disk are not needed in memory. */
    (void)sync_file_range(to, offset, (off_t)*ret_size, SYNC_FILE_RANGE_WRITE);
    if (spill->size >= SPILL_BEHIND)
        (void)posix_fadvise(to, 0, offset - (off_t)SPILL_BEHIND, POSIX_FADV_DONTNEED);
    uint8_t *const data = attach_space_at(spill->space, piece);
    if (mmap(data, (size_t)*ret_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, to,
             offset) == MAP_FAILED)
        return false;
    spill->size += *ret_size;
    return memory_add(ret, piece->address, *ret_size, data);
}

/* Copies a run to the file, piece by piece. Returns how many bytes of it the file does not take. */
static uint64_t spill_run(struct death_spill *spill, int from, uint8_t *buffer,
                          const struct attach_run *run, struct memory *memory,
                          struct attach_copied *ret)
{
    for (uint64_t at = 0, size; at<run->size; at += size> 0 ? size : 4096) {
        const uint64_t left = run->size - at;
        const struct attach_run piece = {run->address + at,
                                         left < SPILL_AT_ONCE ? left : SPILL_AT_ONCE, run->kind};
        watchdog_beat();
        if (!spill_piece(spill, from, buffer, &piece, memory, &size))
            return left;
        ret->bytes += size;
        ret->reads++;
        ret->unreadable += size == 0 ? 4096 : 0;
    }
    return 0;
}

uint64_t death_spill(struct death_spill *spill, uint64_t thread, const struct attach_pages *pages,
                     struct memory *memory, struct attach_copied *ret)
{
    const int from = open(procfs_path(thread, "mem").text, O_RDONLY | O_CLOEXEC);
    _cleanup_free_ uint8_t *buffer = malloc(SPILL_AT_ONCE);
    bool can = from >= 0 && buffer && spill->file >= 0;
    uint64_t refused = 0;
    *ret = (struct attach_copied){0};
    for (size_t i = 0; i < pages->runs.count; i++) {
        const struct attach_run *run = &pages->runs.data[i];
        const uint64_t rest = can ? spill_run(spill, from, buffer, run, memory, ret) : run->size;
        refused += rest;
        can = can && rest == 0;
    }
    if (from >= 0)
        close(from);
    memory_sort(memory);
    return refused;
}

#endif
