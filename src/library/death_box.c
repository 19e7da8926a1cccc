/* death_box; see death_box.h. */
#include "library/death_box.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/scope.h"
#include "process/attach/available.h"
#include "process/attach/copied.h"
#include "process/attach/procfs.h"
#include "process/attach/refuse.h"
#include "process/attach/tracee.h"
#include "process/attach/urgent.h"

#ifdef __linux__

/* Of the memory of a process less than this part is freed between two looks. */
enum { LEAST_LEFT = 8 };

/* Memory is reserved anew once half of the margin for growth is used; if the system did not provide
 * everything, only after this many seconds. The margin is what the process has grown by in this
 * many looks, within these bounds, of which the last one is a part of the process's memory. */
#define RETRY        5.0
#define LEAST_MARGIN (16ull << 20)
#define MOST_MARGIN  (64ull << 20)
enum { MARGIN_LOOKS = 8, MARGIN_PART = 4 };

/* How often the heap is searched for in a process whose runtime is not ready yet. */
enum { MOST_LOOKS = 40 };

/* Memory for small blocks of the copy, such as lists of pages and spans: of these bytes, and of a
 * part of the process's memory. Seen were 12 MB for 730. */
enum { SMALL_BLOCKS = 1 << 20, SMALL_PART = 32, SMALL_MOST = 128 << 20 };

/* ---- preparation ---- */

static void close_program(struct death_box *box)
{
    g2h_exe_close(box->program.exe);
    origin_deinit(&box->program);
    box->program = (struct origin){0};
    box->is_ready = false;
}

static void note_name(uint64_t pid, char ret[64])
{
    _cleanup_(text_deinit) struct text name = {0};
    if (procfs_read_whole_name(pid, &name) == 0)
        snprintf(ret, 64, "%s", name.data);
}

/* Returns the resident bytes of a process. *ret_own, unless it is NULL, is how many of these are
 * not of files, or 0. */
static uint64_t death_box_resident_of(uint64_t pid, uint64_t *ret_own)
{
    _cleanup_(text_deinit) struct text statm = {0};
    uint64_t size, pages, shared;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const char *at = procfs_read_of(pid, "statm", &statm) == 0 ? statm.data : NULL;
    const bool is_known = at && procfs_take_number(&at, 10, &size) &&
                          procfs_take_number(&at, 10, &pages) &&
                          procfs_take_number(&at, 10, &shared);
    if (ret_own)
        *ret_own = is_known && shared < pages ? (pages - shared) * page : 0;
    return is_known ? pages * page : 0;
}

/* Returns whether a limit of a control group is this program's, too. */
static bool is_own_limit(const char *limit)
{
    char own[1000];
    const char *slash = strrchr(limit, '/');
    const size_t size = slash ? (size_t)(slash - limit) : 0;
    for (unsigned version = 0; size > 0 && version < 2; version++)
        if (attach_available_group_of((uint64_t)getpid(), version, own, sizeof(own)) &&
            strncmp(own, limit, size) == 0 && (own[size] == '/' || own[size] == '\0'))
            return true;
    return false;
}

/* Records the limit of the process, which it may have for this program as well. */
static void note_limit(struct death_box *box)
{
    struct attach_available available;
    attach_available_find_of(box->pid, &available);
    memcpy(box->limit, available.limit, sizeof(box->limit));
    box->reserve.enough = *available.limit ? available.bytes : 0;
    box->reserve.is_shared = is_own_limit(available.limit);
}

uint64_t death_box_resident(const struct death_box *box)
{
    return death_box_resident_of(box->watch.is_stopped ? (uint64_t)box->watch.thread : box->pid,
                                 NULL);
}

/* Returns how much the process may grow until memory is reserved again. */
static uint64_t margin_of(const struct death_box *box)
{
    const uint64_t part = box->resident / MARGIN_PART,
                   most = part > MOST_MARGIN ? part : MOST_MARGIN;
    uint64_t growth = most;
    if (box->growth < most / MARGIN_LOOKS)
        growth = MARGIN_LOOKS * box->growth;
    return growth > LEAST_MARGIN ? growth : LEAST_MARGIN;
}

static struct death_order order_of(struct death_box *box)
{
    return (struct death_order){.heap = box->heap.range,
                                .find = death_heap_parts,
                                .context = &box->heap,
                                .after = box->memory,
                                .spill = box->spill,
                                .spill_most = box->spill_most};
}

struct g2h_error *death_box_reserve(struct death_box *box)
{
    const struct death_order order = order_of(box);
    box->resident = death_box_resident_of(box->pid, NULL);
    box->tried = clock_seconds();
    note_limit(box);
    box->reserve.margin = margin_of(box);
    const int error = death_reserve(box->pid, &order, &box->reserve);
    const uint64_t small = SMALL_BLOCKS + box->resident / SMALL_PART;
    memory_touch((size_t)(small < SMALL_MOST ? small : SMALL_MOST));
    (void)mlockall(MCL_CURRENT | MCL_ONFAULT); /* this program, too; failure is ignored */
    return error == 0 ? NULL : attach_refuse(box->pid, error, true);
}

/* Returns whether the process has been killed, but not ended yet. Its threads then have the signal,
 * until they take it; after that the seized one stops at its end, "t (tracing stop)". */
static bool is_killed(const struct death_box *box)
{
    _cleanup_(text_deinit) struct text status = {0};
    const uint64_t thread = box->watch.thread != 0 ? (uint64_t)box->watch.thread : box->pid;
    uint64_t signals;
    if (procfs_read_of(thread, "status", &status) != 0)
        return true;
    const char *state = procfs_value(&status, "State:"), *at = procfs_value(&status, "SigPnd:");
    return !state || *state == 't' || !at || !procfs_take_number(&at, 16, &signals) ||
           (signals >> (SIGKILL - 1) & 1) != 0;
}

/* The kernel counts this process before it sends the signal, so a count is valid as the one before
 * only if the process is still not killed the next time. */
void death_box_note_kills(struct death_box *box)
{
    struct oom_count now;
    if (!oom_count(box->pid, &now))
        return;
    const bool has_last = box->has_kills && box->last_kills.group == now.group;
    box->kills = has_last ? box->last_kills : now;
    box->last_kills = now;
    box->has_kills = true;
}

static void note_kills_of_living(struct death_box *box)
{
    if (!is_killed(box))
        death_box_note_kills(box);
}

struct g2h_error *death_box_prepare(struct death_box *box)
{
    const struct origin_options options = {.pid = box->pid, .exe = box->exe};
    close_program(box);
    note_name(box->pid, box->name);
    TRY(origin_open_program(&options, &box->program));
    TRY(death_heap_find(box->pid, box->program.exe, &box->heap));
    note_kills_of_living(box);
    box->resident = 0;
    box->looked = 0;
    box->own = 0;
    box->is_ready = true;
    return NULL;
}

/* Returns whether more memory is needed for a process that now has this many bytes. */
static bool wants_memory(const struct death_box *box, uint64_t resident)
{
    const struct death_reserve *reserve = &box->reserve;
    const bool was_disturbed =
        !reserve->is_refused &&
        reserve->touched<reserve->wanted, has_grown = resident> box->resident + reserve->margin / 2,
               may_help = !reserve->is_refused || clock_seconds() - box->tried > RETRY,
               has_less = reserve->touched < reserve->most &&
                          (reserve->enough == 0 || reserve->touched < reserve->enough);
    return !reserve->is_shared && has_less &&
           (was_disturbed || ((has_grown || reserve->is_refused) && may_help));
}

/* Records how fast the process grows: the fastest of the last looks, of which each counts less than
 * the one after it. */
static void note_growth(struct death_box *box, uint64_t resident)
{
    const uint64_t now = box->last > 0 && resident > box->last ? resident - box->last : 0;
    box->growth -= box->growth / (2 * MARGIN_LOOKS);
    box->growth = now > box->growth ? now : box->growth;
    box->last = resident;
}

struct g2h_error *death_box_keep_up(struct death_box *box)
{
    const uint64_t resident = death_box_resident_of(box->pid, &box->own);
    note_kills_of_living(box);
    note_growth(box, resident);
    if (box->is_ready && !box->heap.is_known && box->looked++ < MOST_LOOKS)
        TRY(death_heap_find(box->pid, box->program.exe, &box->heap));
    if (wants_memory(box, resident))
        TRY(death_box_reserve(box));
    return NULL;
}

/* ---- the copy ---- */

static int64_t death_box_now(void)
{
    return (int64_t)time(NULL);
}

/* Records the state of the process, and moves the executable to ret. id is a thread that exists. */
static void death_box_note_process(struct death_box *box, uint64_t id, struct death *ret)
{
    _cleanup_(text_deinit) struct text status = {0};
    *ret = (struct death){.program = box->program};
    struct g2h_ending *ending = &ret->copy.ending;
    ending->seconds = death_box_now();
    box->program = (struct origin){0};
    box->is_ready = false;
    memcpy(ret->name, box->name, sizeof(ret->name));
    snprintf(ret->copy.account.name, sizeof(ret->copy.account.name), "process %llu",
             (unsigned long long)box->pid);
    (void)stat(procfs_path(id, "mem").text, &ret->copy.source);
    if (procfs_read_of(id, "status", &status) == 0 && procfs_value(&status, "VmRSS:")) {
        ending->resident = procfs_number(&status, "VmRSS:") * 1024;
        ending->peak = procfs_number(&status, "VmHWM:") * 1024;
    }
}

/* Records the memory limit, and whether the kernel ended the process for lack of memory: it counts
 * before it kills. */
static void note_limits(const struct death_box *box, struct g2h_ending *ret)
{
    struct oom_count count;
    uint64_t left;
    ret->limit = g2h_process_limit((uint64_t)box->watch.thread, &left);
    ret->by_oom = WIFSIGNALED(box->watch.status) && WTERMSIG(box->watch.status) == SIGKILL &&
                  box->has_kills && oom_count((uint64_t)box->watch.thread, &count) &&
                  count.group == box->kills.group && count.kills > box->kills.kills;
    ret->by_group = ret->by_oom && count.group != 0;
}

static struct g2h_error *death_box_explain(const struct death_box *box, int error)
{
    TRY_MEMORY(error != ENOMEM);
    return error == 0 ? NULL
                      : error_system(error, "process %llu: could not be copied at its end",
                                     (unsigned long long)box->pid);
}

/* Returns how many bytes a process that has stopped at its end has, or had at the last look: it may
 * have freed some meanwhile, but not many. */
static uint64_t expected_of(const struct death_box *box)
{
    uint64_t own;
    (void)death_box_resident_of((uint64_t)box->watch.thread, &own);
    const uint64_t before = box->own - box->own / LEAST_LEFT;
    return own > before ? own : before;
}

struct g2h_error *death_box_copy(struct death_box *box, struct death *ret)
{
    struct death_order order = order_of(box);
    _cleanup_(attach_urgent_end) struct attach_urgent urgent;
    const int urgent_error = attach_urgent_begin(&urgent);
    death_box_note_process(box, (uint64_t)box->watch.thread, ret);
    order.expected = expected_of(box);
    const int error = death_copy(&box->watch, &order, &box->reserve, &ret->copy.process,
                                 &ret->copy.account, &ret->copy.loss);
    ret->copy.process.machine = box->heap.machine;
    ret->copy.account.urgent_error = urgent_error;
    ret->copy.ending.status = (unsigned)box->watch.status;
    note_limits(box, &ret->copy.ending);
    if (!box->holds)
        death_let_go(&box->watch);
    (void)munlockall();
    return death_box_explain(box, error);
}

struct g2h_error *death_box_copy_living(struct death_box *box, struct death *ret)
{
    const struct attach_options options = {.space = &box->reserve.space};
    uint64_t left;
    (void)munlockall(); /* the writer frees memory bit by bit */
    death_box_note_process(box, box->pid, ret);
    struct g2h_error *error =
        attach_copy(box->pid, &options, &ret->copy.process, &ret->copy.account);
    ret->copy.ending.limit = g2h_process_limit(box->pid, &left);
    death_reserve_deinit(&box->reserve);
    box->resident = 0;
    return error;
}

void death_box_deinit(struct death_box *box)
{
    if (!box->holds)
        death_let_go(&box->watch);
    death_reserve_deinit(&box->reserve);
    g2h_exe_close(box->program.exe);
    origin_deinit(&box->program);
    *box = (struct death_box){0};
}

void death_box_take_back(struct death_box *box, struct death *death)
{
    box->program = death->program;
    death->program = (struct origin){0};
    box->is_ready = box->program.exe != NULL;
    death_deinit(death);
}

void death_deinit(struct death *death)
{
    process_deinit(&death->copy.process);
    g2h_exe_close(death->program.exe);
    origin_deinit(&death->program);
    *death = (struct death){0};
}

#endif
