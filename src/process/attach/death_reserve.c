/* death_reserve; see death_reserve.h. */
#include "process/attach/death_reserve.h"

#ifdef __linux__

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/scope.h"
#include "process/attach/available.h"
#include "process/attach/copied.h"
#include "process/attach/watchdog.h"

/* Addresses reserved around the pages of a process for those that it gets until its end: they cost
 * nothing. If the system does not provide as many, fewer. */
#define AROUND      (64ull << 30)
#define AROUND_LESS (256ull << 20)

/* Memory that a process may have beyond what its limit counts: files, most of which other processes
 * map as well. */
#define NOT_CHARGED (16ull << 20)

/* Memory that is left to other processes, and this part of a group's limit if that is less; but
 * more than is reserved between two looks at it. */
#define SPARE       (64ull << 20)
#define LEAST_SPARE (24ull << 20)
enum { SPARE_PART = 4 };

/* Of a limit that the process and this program have together, this part is reserved. */
enum { SHARED_PART = 16 };

/* Returns whether a signal is pending that reports an event of the process, or ends the wait. */
static bool has_pending_event(void)
{
    static const int numbers[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT};
    sigset_t waiting;
    if (sigpending(&waiting) != 0)
        return false;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        if (sigismember(&waiting, numbers[i]) > 0)
            return true;
    return false;
}

/* Returns how much of the memory that is left must remain. */
static uint64_t spare_of(const struct attach_available *available)
{
    const uint64_t part = available->bytes / SPARE_PART;
    return *available->limit && part < SPARE ? part : SPARE;
}

/* Returns whether memory may be allocated further: not if an event of the process waits, or if
 * little is left to others. A function of struct attach_guard; stores in *context how much is still
 * to be allocated. */
static bool reserve_may_go_on(void *context, uint64_t left)
{
    struct attach_available available;
    uint64_t *const ret_left = context;
    *ret_left = left;
    watchdog_beat();
    if (has_pending_event())
        return false;
    attach_available_find(&available);
    const uint64_t spare = spare_of(&available);
    return available.left > (spare > LEAST_SPARE ? spare : LEAST_SPARE);
}

static int compare_runs(const void *a, const void *b)
{
    const struct attach_run *one = a, *other = b;
    return (one->address > other->address) - (one->address < other->address);
}

bool death_reserve_space(struct death_reserve *reserve, const struct attach_pages *pages)
{
    static const uint64_t around[] = {AROUND, AROUND_LESS, 0};
    _cleanup_(attach_pages_deinit) struct attach_pages all = {0};
    if (!vector_grow(&all.runs, pages->runs.count + pages->slow.count + 1))
        return false;
    for (size_t i = 0; i < pages->runs.count; i++)
        all.runs.data[all.runs.count++] = pages->runs.data[i];
    for (size_t i = 0; i < pages->slow.count; i++)
        all.runs.data[all.runs.count++] = pages->slow.data[i];
    vector_sort(&all.runs, compare_runs);
    if (reserve->space.data && attach_space_holds(&reserve->space, &all))
        return true;
    reserve->touched = 0;
    for (size_t i = 0; i < sizeof(around) / sizeof(*around); i++) {
        attach_space_deinit(&reserve->space);
        if (attach_space_make(&all, around[i], &reserve->space))
            return true;
    }
    return false;
}

/* Returns the end of the last page of the heap that has been written to; 0: there is none. */
static uint64_t end_of_heap(const struct attach_pages *pages, const struct range *heap)
{
    for (size_t i = pages->runs.count; i > 0; i--) {
        const struct attach_run *run = &pages->runs.data[i - 1];
        if (run->kind != ATTACH_ZERO && run->address >= heap->begin && run->address < heap->end)
            return run->address + run->size;
    }
    return 0;
}

/* Cuts runs so that those that were written to have at most most bytes. */
static void cut_runs(struct attach_pages *pages, uint64_t most)
{
    uint64_t left = most;
    for (size_t i = 0; i < pages->runs.count; i++) {
        struct attach_run *run = &pages->runs.data[i];
        if (run->kind != ATTACH_WRITTEN)
            continue;
        if (run->size > left) {
            run->size = left & ~(uint64_t)(4096 - 1);
            pages->runs.count = i + (run->size > 0);
            return;
        }
        left -= run->size;
    }
}

int death_part_compare(const void *a, const void *b)
{
    const struct death_part *one = a, *other = b;
    return (one->address > other->address) - (one->address < other->address);
}

void death_parts_deinit(struct death_parts *parts)
{
    free(parts->data);
}

/* Finds the parts of the heap of a running process, which may change meanwhile: they are only worth
 * guessing. Leaves *ret empty if they are not known. */
static void find_living_parts(uint64_t pid, const struct death_order *order,
                              struct death_parts *ret)
{
    _cleanup_(attach_space_deinit) struct attach_space space = {0};
    struct process process = {.name = "process"};
    if (order->find && copied_open_window(pid, &space, &process) == 0)
        (void)order->find(order->context, &process.memory, ret);
    process_deinit(&process);
    vector_sort(ret, death_part_compare);
}

/* Appends the parts of a run that have a rank, and no others. Returns false if memory runs out. */
static bool append_rank(const struct attach_run *run, const struct death_parts *parts, size_t *next,
                        enum death_rank rank, struct attach_pages *ret)
{
    const uint64_t end = run->address + run->size;
    while (*next < parts->count &&
           parts->data[*next].address + parts->data[*next].size <= run->address)
        ++*next;
    for (size_t i = *next; i < parts->count && parts->data[i].address < end; i++) {
        const struct death_part *part = &parts->data[i];
        const uint64_t to = part->address + part->size, last = to < end ? to : end;
        uint64_t first = run->address;
        if (part->address > first)
            first = part->address;
        struct attach_run *before =
            ret->runs.count > 0 ? &ret->runs.data[ret->runs.count - 1] : NULL;
        if (part->rank != rank || first >= last)
            continue;
        if (before && before->kind == run->kind && before->address + before->size == first)
            before->size += last - first;
        else if (!vector_push(&ret->runs, ((struct attach_run){first, last - first, run->kind})))
            return false;
    }
    return true;
}

/* Lists the pages for which memory is reserved, those that matter most first: all pages outside the
 * heap, and of the heap stacks and what has pointers. Objects without pointers come last, and get
 * memory when the process dies. Returns false if memory runs out. */
static bool list_reserved(const struct attach_pages *pages, const struct death_order *order,
                          const struct death_parts *parts, struct attach_pages *ret)
{
    for (int rank = -1; rank <= DEATH_POINTERS; rank++) {
        size_t next = 0;
        for (size_t i = 0; i < pages->runs.count; i++) {
            const struct attach_run *run = &pages->runs.data[i];
            const bool is_in_heap =
                run->address >= order->heap.begin && run->address < order->heap.end;
            if (run->kind == ATTACH_ZERO || is_in_heap != (rank >= 0))
                continue;
            if (!(rank < 0 ? vector_push(&ret->runs, *run)
                           : append_rank(run, parts, &next, (enum death_rank)rank, ret)))
                return false;
        }
    }
    for (size_t i = 0; i < ret->runs.count; i++)
        ret->resident += ret->runs.data[i].size;
    return true;
}

/* Memory is allocated now for what the process has and for how far it may grow until the next call,
 * since at its end there may be none. The heap grows upwards, so the space behind it counts as
 * pages of it. */
int death_reserve(uint64_t pid, const struct death_order *order, struct death_reserve *reserve)
{
    uint64_t left = 0;
    const struct attach_guard guard = {reserve_may_go_on, &left};
    _cleanup_(attach_pages_deinit) struct attach_pages pages = {0}, listed = {0};
    _cleanup_(death_parts_deinit) struct death_parts parts = {0};
    const int error = attach_pages_find_apart(pid, &pages);
    if (error != 0 || pages.runs.count == 0)
        return error != 0 ? error : ESRCH;
    if (!death_reserve_space(reserve, &pages))
        return ENOMEM;
    find_living_parts(pid, order, &parts);
    struct attach_pages *wanted = &pages;
    if (parts.count > 0) {
        if (!list_reserved(&pages, order, &parts, &listed))
            return ENOMEM;
        wanted = &listed;
    }
    reserve->later =
        pages.resident - (wanted->resident < pages.resident ? wanted->resident : pages.resident);
    const uint64_t margin = reserve->margin, all = wanted->resident + margin,
                   end = end_of_heap(&pages, &order->heap);
    const struct attach_run growth = {end, margin, ATTACH_WRITTEN};
    reserve->wanted = all < reserve->most ? all : reserve->most;
    if (reserve->is_shared && reserve->wanted > reserve->enough / SHARED_PART)
        reserve->wanted = reserve->enough / SHARED_PART;
    if (reserve->enough > 0 && reserve->wanted > reserve->enough + NOT_CHARGED)
        reserve->wanted = reserve->enough + NOT_CHARGED;
    if (end > 0 && attach_space_area(&reserve->space, end, margin) &&
        !vector_push(&wanted->runs, growth))
        return ENOMEM;
    cut_runs(wanted, reserve->wanted);
    wanted->resident = reserve->wanted;
    const bool is_full = attach_space_fill(&reserve->space, wanted, &guard, NULL);
    reserve->is_refused = !is_full && left > 0 && !has_pending_event();
    reserve->touched = is_full ? reserve->wanted : reserve->wanted - left;
    return 0;
}

void death_reserve_deinit(struct death_reserve *reserve)
{
    attach_space_deinit(&reserve->space);
    reserve->touched = 0;
}

uint64_t death_reserve_left(bool *ret_is_group)
{
    struct attach_available available;
    attach_available_find(&available);
    const uint64_t spare = spare_of(&available);
    *ret_is_group = *available.limit != '\0';
    return available.left > spare ? available.left - spare : 0;
}

/* Returns how many bytes of a run are in memory that was reserved. */
static uint64_t present_of(const struct attach_space *space, const struct attach_run *run)
{
    enum { AT_ONCE = 4096 };
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint8_t *const data = attach_space_at(space, run);
    unsigned char there[AT_ONCE];
    uint64_t pages = 0;
    for (uint64_t at = 0, size; at < run->size; at += size) {
        size = run->size - at < AT_ONCE * page ? run->size - at : AT_ONCE * page;
        if (mincore(data + at, (size_t)size, there) != 0)
            continue;
        for (uint64_t i = 0; i < size / page; i++)
            pages += there[i] & 1;
    }
    return pages * page;
}

uint64_t death_reserve_present(const struct death_reserve *reserve,
                               const struct attach_pages *pages)
{
    uint64_t present = 0;
    for (size_t i = 0; i < pages->runs.count; i++)
        if (pages->runs.data[i].kind != ATTACH_ZERO)
            present += present_of(&reserve->space, &pages->runs.data[i]);
    return present;
}

void death_reserve_give_back(struct death_reserve *reserve)
{
    (void)munlockall();
    (void)madvise(reserve->space.data, (size_t)reserve->space.size, MADV_DONTNEED);
    (void)madvise(reserve->space.data, (size_t)reserve->space.size, MADV_NOHUGEPAGE);
    reserve->touched = 0;
}

#endif
