/* death_copy; see death_copy.h. */
#include "process/attach/death_copy.h"

#ifdef __linux__

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/contract.h"
#include "base/elf_format.h"
#include "base/scope.h"
#include "process/attach/available.h"
#include "process/attach/copied.h"
#include "process/attach/copy.h"
#include "process/attach/death_spill.h"
#include "process/attach/procfs.h"

/* This many bytes may be counted late (percpu counters of the kernel). */
#define FEW (4ull << 20)

/* No process that Go's runtime has started has less memory. */
#define LEAST_OF_GO (1ull << 20)

/* Of the memory for a copy this part remains to work with; and what writing a dump takes. */
enum { WORK_PART = 8 };
#define LEAST_AFTER (16ull << 20)

/* The pages that are copied together, one list after the other. */
enum { OUTSIDE, FIRST_OF_HEAP, SLOW = FIRST_OF_HEAP + DEATH_RANKS, ZEROS, LISTS };

struct dying {
    const struct death_watch *watch;
    const struct death_order *order;
    struct death_reserve *reserve;
    struct attach_pages all, lists[LISTS];
    struct death_parts parts; /* ascending */
    uint64_t left;            /* bytes that may still be copied */
    bool is_left_for_memory;  /* more may not be copied because there is no memory for more */
    uint64_t memory;          /* bytes that may still be copied to memory; UINT64_MAX: all */
    struct death_spill spill; /* where the rest goes */
    bool is_late;             /* as in struct death_loss: far fewer pages than expected */
    bool is_doubtful;         /* it may be late: see can_read_new_page() */
};

/* ---- whether it is too late ---- */

/* Returns whether a page that the process has never written to can still be read. As soon as the
 * kernel begins to reclaim pages it refuses that, because such a page may also be one that it has
 * reclaimed (MMF_UNSTABLE, check_stable_address_space() in mm/). A kernel that has no page of zeros
 * also refuses it if the process's group is full. */
static bool can_read_new_page(const struct dying *dying)
{
    const struct attach_run *largest = NULL;
    uint8_t byte;
    for (size_t i = 0; i < dying->all.runs.count; i++) {
        const struct attach_run *run = &dying->all.runs.data[i];
        if (run->kind == ATTACH_ZERO && (!largest || run->size > largest->size))
            largest = run;
    }
    if (!largest)
        return true;
    const int memory =
        open(procfs_path((uint64_t)dying->watch->thread, "mem").text, O_RDONLY | O_CLOEXEC);
    const bool can = memory >= 0 && pread(memory, &byte, sizeof(byte),
                                          (off_t)(largest->address + largest->size - 1)) == 1;
    if (memory >= 0)
        close(memory);
    return can;
}

/* Returns whether the kernel had begun to reclaim the process's pages before they were listed: some
 * of them then look as if they had never been written to. Here the number of pages that the process
 * had tells, which is known to within a few hundred; for the rest see note_loss(). */
static bool is_late(const struct dying *dying)
{
    enum { PART = 16 };
    const uint64_t found = dying->all.resident;
    return found + found / PART + FEW < dying->order->expected;
}

/* ---- the order of copying ---- */

/* Adds pages to a list. Returns false if memory runs out. */
static bool add_run(struct attach_pages *list, uint64_t address, uint64_t size,
                    enum attach_kind kind)
{
    const struct attach_run run = {address, size, kind};
    list->size += size;
    list->resident += kind == ATTACH_ZERO ? 0 : size;
    return size == 0 || vector_push(&list->runs, run);
}

/* Returns whether a run of pages is in the heap's range. */
static bool is_in_heap(const struct dying *dying, const struct attach_run *run)
{
    return run->address >= dying->order->heap.begin && run->address < dying->order->heap.end;
}

/* Lists the pages outside the heap, which are copied first. Returns false if memory runs out. */
static bool list_outside(struct dying *dying)
{
    for (size_t i = 0; i < dying->all.runs.count; i++) {
        const struct attach_run *run = &dying->all.runs.data[i];
        if (run->kind != ATTACH_ZERO && !is_in_heap(dying, run) &&
            !add_run(&dying->lists[OUTSIDE], run->address, run->size, run->kind))
            return false;
    }
    return true;
}

/* Lists the pages that were never written to, which are zeros and need no copy. Returns false if
 * memory runs out. */
static bool list_zeros(struct dying *dying)
{
    for (size_t i = 0; i < dying->all.runs.count; i++) {
        const struct attach_run *run = &dying->all.runs.data[i];
        if (run->kind == ATTACH_ZERO &&
            !add_run(&dying->lists[ZEROS], run->address, run->size, run->kind))
            return false;
    }
    return true;
}

/* The process's executable, whose pages that the process has not written to are read from the file.
 * path is the one in /proc/PID/maps. */
struct dying_file {
    int descriptor; /* -1: none */
    char *path;
};

static void dying_file_open(uint64_t thread, struct dying_file *ret)
{
    ret->path = copied_executable(thread);
    ret->descriptor = ret->path ? open(procfs_path(thread, "exe").text, O_RDONLY | O_CLOEXEC) : -1;
}

/* Closes what dying_file_open() opened, if anything. */
static void dying_file_close(struct dying_file *file)
{
    if (file->descriptor >= 0)
        close(file->descriptor);
    free(file->path);
}

/* Reads pages that the process has not written to from the executable. *ret_size is how many bytes:
 * 0 if they are of another file, or if pages that it has written to may look like these because the
 * kernel has reclaimed them. Returns false if memory runs out. */
static bool read_clean(struct dying *dying, const struct dying_file *file, struct range pages,
                       struct process *ret, struct attach_account *account, uint64_t *ret_size)
{
    const struct attach_run run = {pages.begin, pages.end - pages.begin, ATTACH_WRITTEN};
    const struct mapped_file *mapped = mapped_at(&ret->files, pages.begin);
    *ret_size = 0;
    if (dying->is_late || dying->is_doubtful || file->descriptor < 0 || !mapped ||
        run.size > dying->left || run.size > mapped->size - (pages.begin - mapped->address) ||
        !bytes_same(mapped->path, bytes_of(file->path)) || run.size > dying->memory)
        return true;
    uint8_t *const to = attach_space_at(&dying->reserve->space, &run);
    const ssize_t size = pread(file->descriptor, to, (size_t)run.size,
                               (off_t)(mapped->offset + (pages.begin - mapped->address)));
    *ret_size = size > 0 ? (uint64_t)size & ~((uint64_t)sysconf(_SC_PAGESIZE) - 1) : 0;
    dying->left -= *ret_size;
    dying->memory -= *ret_size;
    account->bytes += *ret_size;
    account->reads++;
    return memory_add(&ret->memory, pages.begin, *ret_size, to);
}

/* Lists the pages of a mapping that the process has written to, among others. Returns false if
 * memory runs out. */
static bool list_changed(const struct attach_run *runs, size_t count,
                         const struct attach_run *mapping, struct ranges *ret)
{
    const uint64_t end = mapping->address + mapping->size;
    for (size_t i = 0; i < count; i++) {
        const struct range run = {runs[i].address, runs[i].address + runs[i].size};
        if (runs[i].kind != ATTACH_FILE && run.begin < end && run.end > mapping->address &&
            !vector_push(&ret->list, run))
            return false;
    }
    ranges_sort(ret);
    return true;
}

/* Reads the pages of a mapping that the process has not written to, or lists them to be copied.
 * Returns false if memory runs out. */
static bool list_clean(struct dying *dying, const struct dying_file *file,
                       const struct attach_run *mapping, struct process *ret,
                       struct attach_account *account)
{
    const struct attach_pages *all = &dying->all;
    const uint64_t end = mapping->address + mapping->size;
    _cleanup_(ranges_deinit) struct ranges changed = {0};
    struct range next;
    if (!list_changed(all->runs.data, all->runs.count, mapping, &changed) ||
        !list_changed(all->slow.data, all->slow.count, mapping, &changed))
        return false;
    for (uint64_t at = mapping->address, size; at < end; at = next.end) {
        (void)ranges_next(&changed, at, end, &next);
        const struct range pages = {at, next.begin};
        if (!read_clean(dying, file, pages, ret, account, &size) ||
            !add_run(&dying->lists[SLOW], at + size, next.begin - (at + size), ATTACH_FILE))
            return false;
    }
    return true;
}

/* Lists the pages that may have to be read from a disk. They come last: a page that has to be read
 * in counts for the process's control group, and if that is full, waits until the kernel reclaims
 * the process's memory. Those of the executable are read from the file at once, because without all
 * of the program's data there are no types. Returns false if memory runs out. */
static bool list_slow(struct dying *dying, struct process *ret, struct attach_account *account)
{
    _cleanup_(dying_file_close) struct dying_file file;
    dying_file_open((uint64_t)dying->watch->thread, &file);
    for (size_t i = 0; i < dying->all.slow.count; i++) {
        const struct attach_run *run = &dying->all.slow.data[i];
        if (!(run->kind == ATTACH_FILE
                  ? list_clean(dying, &file, run, ret, account)
                  : add_run(&dying->lists[SLOW], run->address, run->size, run->kind)))
            return false;
    }
    memory_sort(&ret->memory);
    return true;
}

/* Divides a run of the heap among the lists by the parts in it; *next is the first part that ends
 * after its start. Returns false if memory runs out. */
static bool list_run(struct dying *dying, const struct attach_run *run, size_t *next)
{
    const uint64_t end = run->address + run->size;
    for (uint64_t at = run->address; at < end;) {
        const struct death_part *parts = dying->parts.data;
        while (*next < dying->parts.count && parts[*next].address + parts[*next].size <= at)
            ++*next;
        const struct death_part *part = *next < dying->parts.count ? &parts[*next] : NULL;
        const bool is_part = part && part->address <= at;
        enum death_rank rank = DEATH_OTHER;
        uint64_t last = end; /* of the part, or of what is before the next part */
        if (is_part) {
            rank = part->rank;
            last = part->address + part->size;
        } else if (part) {
            last = part->address;
        }
        const uint64_t to = last < end ? last : end;
        if (!add_run(&dying->lists[FIRST_OF_HEAP + rank], at, to - at, run->kind))
            return false;
        at = to;
    }
    return true;
}

/* Lists the pages of the heap, once the memory outside it is known. Returns false if memory runs
 * out. */
static bool list_heap(struct dying *dying, const struct memory *memory)
{
    size_t next = 0;
    if (dying->order->find && !dying->order->find(dying->order->context, memory, &dying->parts))
        return false;
    vector_sort(&dying->parts, death_part_compare);
    for (size_t i = 0; i < dying->all.runs.count; i++) {
        const struct attach_run *run = &dying->all.runs.data[i];
        if (run->kind != ATTACH_ZERO && is_in_heap(dying, run) && !list_run(dying, run, &next))
            return false;
    }
    return true;
}

/* Cuts a list to the bytes that may still be copied. */
static void cut_to_limit(struct dying *dying, struct attach_pages *list, struct death_loss *loss)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->runs.count; i++) {
        struct attach_run run = list->runs.data[i];
        if (run.kind != ATTACH_ZERO && run.size > dying->left) {
            const uint64_t size = dying->left & ~(uint64_t)(4096 - 1);
            *(dying->is_left_for_memory ? &loss->refused : &loss->limited) += run.size - size;
            run.size = size;
        }
        if (run.kind != ATTACH_ZERO)
            dying->left -= run.size;
        if (run.size > 0)
            list->runs.data[kept++] = run;
    }
    list->runs.count = kept;
}

/* Divides a list into the pages for which there is memory, which remain, and the others. Returns
 * false if memory runs out. */
static bool divide_list(struct dying *dying, struct attach_pages *list, struct attach_pages *ret)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->runs.count; i++) {
        struct attach_run run = list->runs.data[i], rest;
        const uint64_t most =
            run.kind != ATTACH_ZERO ? dying->memory & ~(uint64_t)(4096 - 1) : UINT64_MAX;
        rest = run;
        run.size = run.size < most ? run.size : most;
        rest.address += run.size;
        rest.size -= run.size;
        if (run.kind != ATTACH_ZERO)
            dying->memory -= run.size;
        if (rest.size > 0 && !add_run(ret, rest.address, rest.size, rest.kind))
            return false;
        if (run.size > 0)
            list->runs.data[kept++] = run;
    }
    list->runs.count = kept;
    return true;
}

/* Copies the pages of a list, as many as may still be copied. Returns 0 or an errno value. */
static int copy_list(struct dying *dying, struct attach_pages *list, struct process *ret,
                     struct attach_account *account, struct death_loss *loss)
{
    _cleanup_(attach_pages_deinit) struct attach_pages others = {0};
    struct attach_copied copied = {0};
    int error = 0;
    cut_to_limit(dying, list, loss);
    if (dying->memory != UINT64_MAX && !divide_list(dying, list, &others))
        return ENOMEM;
    if (list->runs.count > 0)
        error = attach_copy_pages((struct attach_source){(uint64_t)dying->watch->thread, false},
                                  list, &dying->reserve->space, NULL, &ret->memory, &copied);
    account->bytes += copied.bytes;
    account->reads += copied.reads;
    account->unreadable += copied.unreadable;
    if (error != 0 || others.runs.count == 0)
        return error;
    loss->refused +=
        death_spill(&dying->spill, (uint64_t)dying->watch->thread, &others, &ret->memory, &copied);
    account->bytes += copied.bytes;
    account->reads += copied.reads;
    account->unreadable += copied.unreadable;
    return 0;
}

/* ---- lost pages ---- */

/* Returns how many of the bytes of a run are missing in the copy. */
static uint64_t missing_of(const struct attach_run *run, const struct memory *memory)
{
    const uint64_t end = run->address + run->size, page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t missing = 0;
    for (uint64_t at = run->address; run->kind != ATTACH_ZERO && at < end;) {
        const struct memory_range *range = memory_range_at(memory, at);
        missing += range ? 0 : page;
        at = range ? range->address + range->size : at + page;
    }
    return missing;
}

/* Returns how many of the bytes that existed are missing in the copy. */
static uint64_t count_missing(const struct attach_pages *pages, const struct memory *memory)
{
    uint64_t missing = 0;
    for (size_t i = 0; i < pages->runs.count; i++)
        missing += missing_of(&pages->runs.data[i], memory);
    for (size_t i = 0; i < pages->slow.count; i++)
        missing += missing_of(&pages->slow.data[i], memory);
    return missing;
}

/* ---- all of it ---- */

/* Copies the pages in the order of their importance: those outside the heap say which pages of the
 * heap matter most. Returns 0 or an errno value. */
static int copy_lists(struct dying *dying, struct process *ret, struct attach_account *account,
                      struct death_loss *loss)
{
    int error = list_outside(dying) && list_slow(dying, ret, account) ? 0 : ENOMEM;
    if (error == 0)
        error = copy_list(dying, &dying->lists[OUTSIDE], ret, account, loss);
    if (error == 0 && !list_heap(dying, &ret->memory))
        error = ENOMEM;
    for (size_t i = FIRST_OF_HEAP; i < ZEROS && error == 0; i++)
        error = copy_list(dying, &dying->lists[i], ret, account, loss);
    return error;
}

/* Counts the bytes missing in the copy, and adds the pages that were never written to as zeros:
 * which ones these are is known if the kernel had not begun to reclaim pages when they were listed,
 * whatever it has reclaimed since. If that is in doubt, no page must be lost: once the kernel has
 * begun, it takes all of them within a fraction of a second. Returns 0 or an errno value. */
static int note_loss(struct dying *dying, struct process *ret, struct attach_account *account,
                     struct death_loss *loss)
{
    const uint64_t missing = count_missing(&dying->all, &ret->memory);
    const uint64_t left_out = loss->limited + loss->refused;
    loss->lost = missing > left_out ? missing - left_out : 0;
    loss->is_late = dying->is_late ||
                    (dying->is_doubtful && (loss->lost > 0 || dying->all.resident < LEAST_OF_GO));
    if (loss->is_late)
        return 0;
    return list_zeros(dying) ? copy_list(dying, &dying->lists[ZEROS], ret, account, loss) : ENOMEM;
}

/* Finds out whether there is memory for the copy and for what follows it. This program has the only
 * copy, so it must not be ended for lack of memory. If there is too little, less is copied to
 * memory, and what is converted to more than a dump is less. */
static void find_memory(struct dying *dying)
{
    uint64_t all = dying->all.resident;
    bool is_group;
    for (size_t i = 0; i < dying->all.slow.count; i++)
        all += dying->all.slow.data[i].size;
    const uint64_t needed = all < dying->left ? all : dying->left,
                   before = death_reserve_left(&is_group);
    const unsigned after = is_group ? dying->order->after : 0;
    const uint64_t wanted = attach_available_wanted(needed, after, false) + LEAST_AFTER;
    dying->memory = UINT64_MAX;
    if (before >= wanted || before + death_reserve_present(dying->reserve, &dying->all) >= wanted)
        return;
    const uint64_t touched = dying->reserve->touched;
    death_reserve_give_back(dying->reserve);
    const uint64_t now = death_reserve_left(&is_group);
    uint64_t left = touched;
    if (now > LEAST_AFTER && now - LEAST_AFTER > left)
        left = now - LEAST_AFTER;
    const uint64_t followed = after > 0 ? left / after * 100 : UINT64_MAX;
    dying->memory = left - left / WORK_PART;
    dying->is_left_for_memory = followed < dying->left;
    if (dying->is_left_for_memory)
        dying->left = followed;
}

/* Copies the memory of a process that is stopped at its end. Returns 0 or an errno value. */
static int death_copy_all(struct dying *dying, struct process *ret, struct attach_account *account,
                          struct death_loss *loss)
{
    const uint64_t thread = (uint64_t)dying->watch->thread;
    int error = attach_pages_find_apart(thread, &dying->all);
    if (error != 0)
        return error;
    dying->is_late = is_late(dying);
    dying->is_doubtful = !can_read_new_page(dying);
    if (!death_reserve_space(dying->reserve, &dying->all))
        return ENOMEM;
    find_memory(dying);
    ret->maps = take_pointer(dying->all.maps);
    if (!mapped_parse_maps(ret->maps, &ret->files))
        return ENOMEM;
    error = copied_note_resident(&dying->all, ret);
    if (error == 0)
        error = copy_lists(dying, ret, account, loss);
    if (error != 0)
        return error;
    ret->entry = procfs_auxv(thread, AT_ENTRY);
    error = note_loss(dying, ret, account, loss);
    if (error == 0 && !loss->is_late && loss->lost == 0)
        copied_note_smaps(thread, ret);
    return error;
}

/* At its end a process has one thread's registers left: those of the thread that is watched. */
int death_copy(const struct death_watch *watch, const struct death_order *order,
               struct death_reserve *reserve, struct process *ret, struct attach_account *account,
               struct death_loss *loss)
{
    struct dying dying = {.watch = watch,
                          .order = order,
                          .reserve = reserve,
                          .left = reserve->most,
                          .spill = {order->spill, order->spill_most, 0, &reserve->space}};
    struct process_thread thread;
    assert(watch->thread != 0); /* it has stopped */
    const double start = clock_seconds();
    *ret = (struct process){.name = account->name};
    *loss = (struct death_loss){0};
    ret->is_dead = true;
    int error = death_copy_all(&dying, ret, account, loss);
    if (error == 0 && death_registers(watch, &thread) && !vector_push(&ret->threads, thread))
        error = ENOMEM;
    account->threads = (unsigned)ret->threads.count;
    account->copy_seconds = account->stopped_seconds = clock_seconds() - start;
    if (error == 0)
        copied_hand_over(&reserve->space, ret);
    attach_pages_deinit(&dying.all);
    for (size_t i = 0; i < LISTS; i++)
        attach_pages_deinit(&dying.lists[i]);
    death_parts_deinit(&dying.parts);
    return error;
}

#endif
