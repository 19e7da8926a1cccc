/* space; see space.h. */
#include "process/attach/space.h"

#include <sys/mman.h>

#include "base/bisect.h"
#include "base/contract.h"

/* The amount populated at once: the guard is called between the pieces, so that it can react within
 * about a tenth of a second, even if memory is tight. */
#define FILL_AT_ONCE (16ull << 20)

/* Runs of at least this size get huge pages, all of which they need: the system provides these
 * faster, and scattered reads through them are faster. */
#define HUGE_RUN (32ull << 20)

#define NEAR (128ull << 10)

/* Adds an address range to the areas, which ascend; overlapping ones are merged. Returns false if
 * memory runs out. */
static bool space_add_area(struct attach_space *space, uint64_t from, uint64_t to)
{
    struct attach_area *last =
        space->areas.count > 0 ? &space->areas.data[space->areas.count - 1] : NULL;
    if (last && to <= last->address + last->size)
        return true;
    if (last && from <= last->address + last->size) {
        space->size += to - (last->address + last->size);
        last->size = to - last->address;
        return true;
    }
    const struct attach_area area = {from, to - from, space->size};
    space->size += area.size;
    return vector_push(&space->areas, area);
}

const struct attach_area *attach_space_area(const struct attach_space *space, uint64_t address,
                                            uint64_t size)
{
    const struct attach_area *areas = space->areas.data;
    size_t after;
    BISECT(after, space->areas.count, areas[after].address <= address);
    const struct attach_area *area = after > 0 ? &areas[after - 1] : NULL;
    const uint64_t from = area ? address - area->address : 0;
    return area && from <= area->size && size <= area->size - from ? area : NULL;
}

static const struct attach_area *area_of_run(const struct attach_space *space,
                                             const struct attach_run *run)
{
    return attach_space_area(space, run->address, run->size);
}

uint8_t *attach_space_at(const struct attach_space *space, const struct attach_run *run)
{
    const struct attach_area *area = area_of_run(space, run);
    assert(area);
    return space->data + area->offset + (run->address - area->address);
}

/* Makes the runs that have something to copy writable. There may be more of them than the system
 * allows mappings, so the gaps between near ones may become writable too. Returns false if the
 * system refuses. */
static bool allow_runs(const struct attach_space *space, const struct attach_pages *pages)
{
    for (size_t i = 0; i < pages->runs.count;) {
        const struct attach_run *run = &pages->runs.data[i++];
        if (run->kind == ATTACH_ZERO)
            continue;
        uint8_t *const from = attach_space_at(space, run);
        uint8_t *to = from + run->size;
        for (; i < pages->runs.count; i++) {
            const struct attach_run *next = &pages->runs.data[i];
            const uint8_t *at = attach_space_at(space, next);
            if (at < to || (uint64_t)(at - to) > NEAR)
                break;
            if (next->kind != ATTACH_ZERO)
                to = from + (at - from) + next->size;
        }
        if (mprotect(from, (size_t)(to - from), PROT_READ | PROT_WRITE) != 0)
            return false;
    }
    return true;
}

/* Reserves addresses for all areas, without memory. Returns false if the system does not provide
 * that many. */
static bool space_reserve(struct attach_space *space, int protection)
{
    void *data = space->size > 0 && space->size <= SIZE_MAX
                     ? mmap(NULL, (size_t)space->size, protection,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                     : MAP_FAILED;
    space->data = data != MAP_FAILED ? data : NULL;
    return space->data != NULL;
}

/* All areas are in one mapping, so that it takes one call, and one number of bytes counts. */
bool attach_space_make(const struct attach_pages *pages, uint64_t around, struct attach_space *ret)
{
    for (size_t i = 0; i < pages->runs.count; i++) {
        const struct attach_run *run = &pages->runs.data[i];
        const uint64_t from = run->address > around ? run->address - around : 0;
        if (!space_add_area(ret, from, run->address + run->size + around))
            return false;
    }
    if (space_reserve(ret, PROT_READ | PROT_WRITE))
        return true;
    /* Some systems count writable memory as used: overcommit_memory 2, ulimit -d. */
    if (around > 0 || !space_reserve(ret, PROT_READ))
        return false;
    ret->is_lean = true;
    if (allow_runs(ret, pages))
        return true;
    munmap(ret->data, (size_t)ret->size);
    ret->data = NULL;
    return false;
}

bool attach_space_holds(const struct attach_space *space, const struct attach_pages *pages)
{
    for (size_t i = 0; i < pages->runs.count; i++)
        if (!area_of_run(space, &pages->runs.data[i]))
            return false;
    return space->data && (!space->is_lean || allow_runs(space, pages));
}

#ifdef MADV_POPULATE_WRITE /* since Linux 5.14; before that, the memory comes with the copy */

/* Getting the memory from the system in small parts lets the guard stop this before memory is
 * short. */
bool attach_space_fill(const struct attach_space *space, const struct attach_pages *pages,
                       const struct attach_guard *guard, const struct g2h_progress *progress)
{
    uint64_t done = 0, next_look = 0; /* calling the guard costs as much as a few hundred pages */
    for (size_t i = 0; i < pages->runs.count; i++) {
        const struct attach_run *run = &pages->runs.data[i];
        uint8_t *data = attach_space_at(space, run);
        if (run->kind == ATTACH_WRITTEN && run->size >= HUGE_RUN)
            (void)madvise(data, (size_t)run->size, MADV_HUGEPAGE);
        for (uint64_t at = 0, size; at < run->size && run->kind == ATTACH_WRITTEN; at += size) {
            size = run->size - at < FILL_AT_ONCE ? run->size - at : FILL_AT_ONCE;
            if (guard && done >= next_look) {
                if (!guard->may_go_on(guard->context, pages->resident - done))
                    return false;
                next_look = done + FILL_AT_ONCE;
            }
            (void)madvise(data + at, (size_t)size, MADV_POPULATE_WRITE);
            done += size;
            if (progress)
                progress->update(progress->context, "preparing", done, pages->resident, 0);
        }
    }
    return !guard || guard->may_go_on(guard->context, pages->resident - done);
}

#else

bool attach_space_fill(const struct attach_space *space, const struct attach_pages *pages,
                       const struct attach_guard *guard, const struct g2h_progress *progress)
{
    (void)space, (void)pages, (void)guard, (void)progress;
    return true;
}

#endif

void attach_space_deinit(struct attach_space *space)
{
    if (space->data)
        munmap(space->data, (size_t)space->size);
    free(space->areas.data);
    *space = (struct attach_space){0};
}
