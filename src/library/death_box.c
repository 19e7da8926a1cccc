/*
 * death_box: copies a process at its end, for --at-death; see death_box.h. The parts: names of the
 * files that are written, and the removal of old ones; which directory the temporary copy of a heap
 * fits in; and the box itself, which prepares for a process while it lives (executable, heap,
 * memory for the copy, kept up as the process grows), and copies it at its end (death_box_copy) or
 * before (death_box_copy_living).
 */
#include "library/death_box.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/port.h"
#include "base/text.h"
#include "process/attach/copy.h"
#include "process/attach/inject.h"
#include "process/attach/procfs.h"
#include "process/attach/refuse.h"
#include "process/attach/stop.h"

#ifdef __linux__
#include <sys/vfs.h>

#include "input/input.h"
#endif

/* ==== the files that --at-death writes into a directory ==== */

/* ---- names ---- */

/* Appends the name of a process as a part of a file's name, with "_" for each character that is not
 * allowed there, and a "-". */
static void file_append_program(struct text *name, const char *program)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    for (; *program; program++)
        text_append(name, strchr(allowed, *program) ? program : "_", 1);
    text_append(name, "-", 1);
}

/* Makes the path of a file for a process that has ended. PROGRAM-PID-TIME, with the remark and
 * suffix. NULL if memory runs out. */
char *death_file_path(const char *directory, const struct death_file *file)
{
    const time_t seconds = (time_t)file->seconds;
    const size_t size = strlen(directory);
    struct text path = {0};
    char when[32];
    struct tm tm;
    strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", gmtime_r(&seconds, &tm));
    text_printf(&path, "%s%s", directory, size > 0 && directory[size - 1] == '/' ? "" : "/");
    file_append_program(&path, file->program);
    text_printf(&path, "%llu-%s%s%s", (unsigned long long)file->pid, when, file->remark,
                file->suffix);
    text_append(&path, "", 1);
    if (path.failed)
        text_deinit(&path);
    return path.data;
}

/* Returns what follows the remark of a name, "-asked", "-90%" or none; NULL: it has another one, so
 * the file is not one of ours. */
static const char *file_skip_remark(const char *at)
{
    static const char asked[] = "-asked";
    if (*at != '-')
        return at;
    if (strncmp(at, asked, strlen(asked)) == 0)
        return at + strlen(asked);
    for (at++; isdigit((unsigned char)*at); at++)
        ;
    return at[0] == '%' && at[-1] != '-' ? at + 1 : NULL;
}

/* Returns where a file's name, "NAME-PID-20260102T030405Z…suffix", has its time: what follows sorts
 * by that. begin is "NAME-". NULL if the name has another form: it is another program's file. */
static const char *file_moment(const char *name, const struct text *begin, const char *suffix)
{
    static const char pattern[] = "ddddddddTddddddZ"; /* d: a digit */
    if (strncmp(name, begin->data, begin->size) != 0)
        return NULL;
    const char *at = name + begin->size;
    while (isdigit((unsigned char)*at))
        at++;
    if (at == name + begin->size || *at != '-')
        return NULL;
    const char *const moment = ++at;
    for (const char *want = pattern; *want; want++, at++)
        if (*want == 'd' ? !isdigit((unsigned char)*at) : *at != *want)
            return NULL;
    at = file_skip_remark(at);
    return at && strcmp(at, suffix) == 0 ? moment : NULL;
}

/* ---- how many there are ---- */

struct kept_file {
    char *name;         /* from malloc() */
    const char *moment; /* in it */
};

struct kept_files {
    VECTOR(struct kept_file) list;
};

static void kept_files_deinit(struct kept_files *files)
{
    VECTOR_EACH(struct kept_file, file, files->list)
        free(file->name);
    free(files->list.data);
}

/* Orders files by time, then by name. */
static int kept_files_compare(const void *a, const void *b)
{
    const struct kept_file *one = a;
    const struct kept_file *other = b;
    const int order = strcmp(one->moment, other->moment);
    return order != 0 ? order : strcmp(one->name, other->name);
}

/* What to look for in a directory. */
struct kept_search {
    int directory;
    const struct text *begin; /* of the names */
    const char *suffix, *last;
};

/* Adds a file of the directory if it is one of the program's, but not the last one. Returns false
 * if memory runs out. */
static bool kept_files_add(struct kept_files *files, const struct kept_search *search,
                           const char *name)
{
    struct stat status;
    const char *moment = file_moment(name, search->begin, search->suffix);
    if (!moment || strcmp(name, search->last) == 0 ||
        fstatat(search->directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(status.st_mode))
        return true;
    char *copy = strdup(name);
    if (!copy)
        return false;
    if (vector_push(&files->list, ((struct kept_file){copy, copy + (moment - name)})))
        return true; /* which owns it now */
    free(copy);
    return false;
}

static void directory_close(DIR **directory)
{
    if (*directory)
        closedir(*directory);
}

/* Removes the oldest files of the program, until no more than most remain, with the last one; see
 * death_box.h. *ret counts the removed ones. */
struct g2h_error *death_files_trim(const char *path, const struct death_file *last, uint64_t most,
                                   uint64_t *ret)
{
    _cleanup_(directory_close) DIR *directory = opendir(path);
    _cleanup_(kept_files_deinit) struct kept_files files = {0};
    _cleanup_(text_deinit) struct text begin = {0};
    _cleanup_free_ char *last_path = death_file_path("", last);
    const struct dirent *entry;
    assert(most > 0); /* `last` stays */
    *ret = 0;
    if (!directory)
        return error_system(errno, "%s: cannot read the directory", path);
    file_append_program(&begin, last->program);
    TRY_MEMORY(!begin.failed && last_path);
    const char *const last_name = last_path + 1; /* after the slash */
    const struct kept_search search = {dirfd(directory), &begin, last->suffix, last_name};
    while ((errno = 0, entry = readdir(directory)))
        TRY_MEMORY(kept_files_add(&files, &search, entry->d_name));
    if (errno != 0)
        return error_system(errno, "%s: cannot read the directory", path);
    vector_sort(&files.list, kept_files_compare);
    for (; files.list.count - *ret + 1 > most && *ret < files.list.count; (*ret)++) {
        const char *name = files.list.data[*ret].name;
        if (unlinkat(dirfd(directory), name, 0) != 0 && errno != ENOENT)
            return error_system(errno, "%s/%s: cannot remove", path, name);
    }
    return NULL;
}

/* Returns how many bytes this user may still write into a directory; UINT64_MAX: not known. */
uint64_t death_files_room(const char *directory)
{
    struct statvfs status;
    return statvfs(directory, &status) == 0 ? (uint64_t)status.f_bavail * status.f_frsize
                                            : UINT64_MAX;
}

#ifdef __linux__

/* ==== where the temporary copy of a heap is ==== */

/* Of the room that a disk has, this is left to others: a twentieth, and so many bytes. */
enum { LEFT_PART = 20 };

#define LEFT_BYTES (1ull << 20)

/* What a directory is worth: the sum of those that apply. The best one is chosen, of equal ones the
 * first. */
enum { IS_ON_DISK = 1, HAS_ROOM = 2, CAN_WRITE = 4 };

/* Copies the directory of the output: the output itself if it is one, else what its path has before
 * the last slash, or "." without a slash. */
static void directory_of_output(const struct scratch *scratch, char *ret, size_t size)
{
    const char *slash = strrchr(scratch->output, '/');
    const size_t length = slash ? as_size(slash - scratch->output) : 0;
    if (scratch->is_directory)
        snprintf(ret, size, "%s", scratch->output);
    else if (!slash)
        snprintf(ret, size, ".");
    else
        snprintf(ret, size, "%.*s", as_width(length > 0 ? length : 1), scratch->output);
}

/* Returns whether the output takes room: a device, such as a terminal, does not. */
static bool takes_room(const struct scratch *scratch)
{
    struct stat status;
    return stat(scratch->output, &status) != 0 || S_ISREG(status.st_mode) ||
           S_ISDIR(status.st_mode);
}

/* Returns whether a directory is in memory (tmpfs); so is "", no directory. */
static bool is_in_memory(const char *directory)
{
    const uint32_t tmpfs = 0x01021994, ramfs = 0x858458f6; /* statfs(2): *_MAGIC */
    struct statfs status;
    return !*directory || (statfs(directory, &status) == 0 &&
                           ((uint32_t)status.f_type == tmpfs || (uint32_t)status.f_type == ramfs));
}

/* Returns whether two paths are on one file system. */
static bool are_on_one_disk(const char *one, const char *other)
{
    struct stat a, b;
    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev;
}

/* Returns how many bytes a directory has room for, without what is left to others (LEFT_PART,
 * LEFT_BYTES). In memory, this is also limited by the memory that is available. UINT64_MAX: not
 * known. */
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

/* Measures the room for a heap of so many bytes whose temporary file is in a directory, and for the
 * output, which is smaller if it is packed: on one disk they need room together. Sets the members
 * of scratch from needed on. */
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

/* Tries a directory, and chooses it if it is worth more (IS_ON_DISK, HAS_ROOM, CAN_WRITE) than
 * *best, the one chosen so far. One in which no file can be made is passed over. */
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

/* Chooses the directory for a temporary file. Tries TMPDIR, the output's directory, /tmp and
 * memory, in this order, and chooses the best of these, see try_directory(). */
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
    if (is_in_memory(scratch->directory))     /* scratch->file is only for a disk */
        scratch_deinit(scratch);
}

/* Returns how many bytes of a heap have room if all of them need more than is free: as large a part
 * of them as is free of what is needed. */
static uint64_t scale(uint64_t bytes, uint64_t needed, uint64_t free)
{
    return needed <= free ? bytes : (uint64_t)((double)bytes * as_ratio(free, needed));
}

/* Measures the room again. Returns how many bytes of a heap of so many have room, both as the
 * temporary file and as the output. */
uint64_t scratch_measure(struct scratch *scratch, uint64_t bytes)
{
    measure(scratch, scratch->directory, bytes);
    const uint64_t one = scale(bytes, scratch->needed, scratch->free),
                   other = scale(bytes, scratch->output_needed, scratch->output_free);
    return MIN(one, other);
}

void scratch_use(const struct scratch *scratch)
{
    input_use_directory(scratch->directory);
}

/* ==== prepares to copy a Go process at its end, and copies it then ==== */

/* Of the memory of a process less than an eighth is freed between two looks. */
enum { LEAST_LEFT = 8 };

/* Memory is reserved anew once half of the margin for growth is used; if the system did not provide
 * everything, only RETRY seconds later. The margin is what the process has grown by in MARGIN_LOOKS
 * looks, but at least LEAST_MARGIN bytes, and at most MOST_MARGIN or, if that is more, a quarter
 * (MARGIN_PART) of the process's memory. */
#define RETRY 5.0

#define LEAST_MARGIN (16ull << 20)

#define MOST_MARGIN (64ull << 20)

enum { MARGIN_LOOKS = 8, MARGIN_PART = 4 };

/* How often the heap is searched for in a process whose runtime is not ready yet. */
enum { MOST_LOOKS = 40 };

/* Memory for small blocks of the copy, such as lists of pages and spans: SMALL_BLOCKS bytes and a
 * 32nd (SMALL_PART) of the process's memory, at most SMALL_MOST. Seen were 12 MB for 730. */
enum { SMALL_BLOCKS = 1 << 20, SMALL_PART = 32, SMALL_MOST = 128 << 20 };

/* ---- preparation ---- */

/* Closes the program that was prepared for, and ends the watch of its collections. */
static void close_program(struct death_box *box)
{
    ages_follow_deinit(&box->ages);
    g2h_exe_close(box->program.exe);
    origin_deinit(&box->program);
    box->program = (struct origin){0};
    box->is_ready = false;
}

/* Copies the name of a process; ret stays as it is if it is not known. */
static void note_name(uint64_t pid, char ret[64])
{
    _cleanup_(text_deinit) struct text name = {0};
    if (procfs_read_whole_name(pid, &name) == 0)
        snprintf(ret, 64, "%s", name.data);
}

/* Returns the resident bytes of a process, or 0 if they are not known. *ret_own, unless it is NULL,
 * is how many of these are not of files. proc(5): statm has pages in all, resident, and of files.
 */
static uint64_t death_box_resident_of(uint64_t pid, uint64_t *ret_own)
{
    _cleanup_(text_deinit) struct text statm = {0};
    uint64_t size, pages, shared;
    const uint64_t page = procfs_page_size();
    const char *at = procfs_read_of(pid, "statm", &statm) == 0 ? statm.data : NULL;
    const bool is_known = at && procfs_take_number(&at, 10, &size) &&
                          procfs_take_number(&at, 10, &pages) &&
                          procfs_take_number(&at, 10, &shared);
    if (ret_own)
        *ret_own = is_known && shared < pages ? (pages - shared) * page : 0;
    return is_known ? pages * page : 0;
}

/* Returns whether a limit of a control group (the path of its file) is this program's, too: whether
 * this program is in that group, or below it. */
static bool is_own_limit(const char *limit)
{
    char own[1000];
    const char *slash = strrchr(limit, '/');
    const size_t size = slash ? as_size(slash - limit) : 0;
    for (unsigned version = 0; size > 0 && version < 2; version++)
        if (attach_available_group_of(pid_number(getpid()), version, own, sizeof(own)) &&
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

/* Returns the resident bytes of the process, by the thread that has stopped, if any: at the end the
 * others may be gone. */
uint64_t death_box_resident(const struct death_box *box)
{
    return death_box_resident_of(box->watch.is_stopped ? pid_number(box->watch.thread) : box->pid,
                                 NULL);
}

/* Returns the margin, by how many bytes the process may grow while the copy still has room: see
 * MARGIN_LOOKS. */
static uint64_t margin_of(const struct death_box *box)
{
    const uint64_t part = box->resident / MARGIN_PART;
    const uint64_t most = MAX(part, MOST_MARGIN);
    uint64_t growth = most;
    if (box->growth < most / MARGIN_LOOKS)
        growth = MARGIN_LOOKS * box->growth;
    return MAX(growth, LEAST_MARGIN);
}

/* Returns in which order, and where to, the heap is copied. */
static struct death_order order_of(struct death_box *box)
{
    return (struct death_order){.heap = box->heap.range,
                                .find = death_heap_parts,
                                .context = &box->heap,
                                .after = box->memory,
                                .spill = box->spill,
                                .spill_most = box->spill_most};
}

/* Reserves memory for a copy of the process. The reserve has the size of the process now, and a
 * margin. Memory for small blocks is touched, and this program is locked in memory as well, as far
 * as it is there, because memory may be short when the process dies. Error: the process cannot be
 * read. */
struct g2h_error *death_box_reserve(struct death_box *box)
{
    const struct death_order order = order_of(box);
    box->resident = death_box_resident_of(box->pid, NULL);
    box->tried = clock_seconds();
    note_limit(box);
    box->reserve.margin = margin_of(box);
    const int error = death_reserve(box->pid, &order, &box->reserve);
    const uint64_t small = SMALL_BLOCKS + box->resident / SMALL_PART;
    memory_touch((size_t)MIN(small, SMALL_MOST));
    (void)mlockall(MCL_CURRENT | MCL_ONFAULT); /* this program, too; failure is ignored */
    return error == 0 ? NULL : attach_refuse(box->pid, error, true);
}

/* Returns whether the process has been killed, or has ended, so that its state cannot be read. The
 * threads of one that has been killed have the signal until they take it; after that the seized one
 * stops at its end, "t (tracing stop)". */
static bool is_killed(const struct death_box *box)
{
    _cleanup_(text_deinit) struct text status = {0};
    const uint64_t thread = box->watch.thread != 0 ? pid_number(box->watch.thread) : box->pid;
    uint64_t signals;
    if (procfs_read_of(thread, "status", &status) != 0)
        return true;
    const char *state = procfs_value(&status, "State:");
    const char *at = procfs_value(&status, "SigPnd:");
    return !state || *state == 't' || !at || !procfs_take_number(&at, 16, &signals) ||
           (signals >> (SIGKILL - 1) & 1) != 0;
}

/* Records how many processes the kernel has killed for lack of memory. The kernel counts this
 * process before it sends the signal, so a count is valid as the one before only if the process is
 * still not killed the next time. */
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

/* Opens the program, and finds what is needed of its heap; all that was known of another program is
 * forgotten. */
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

/* Returns whether more memory is to be reserved for a process that now has this many bytes: if the
 * reserve is smaller than it should be, and either was disturbed, or the process has grown by half
 * of the margin; after a refusal every RETRY seconds, and only then. */
static bool wants_memory(const struct death_box *box, uint64_t resident)
{
    const struct death_reserve *reserve = &box->reserve;
    const bool was_disturbed = !reserve->is_refused && (reserve->touched < reserve->wanted);
    const bool has_grown = resident > box->resident + reserve->margin / 2;
    const bool may_help = !reserve->is_refused || clock_seconds() - box->tried > RETRY;
    const bool has_less = reserve->touched < reserve->most &&
                          (reserve->enough == 0 || reserve->touched < reserve->enough);
    return !reserve->is_shared && has_less &&
           (was_disturbed || ((has_grown || reserve->is_refused) && may_help));
}

/* Records how many bytes the process grows by from look to look: the most of the last looks, where
 * each earlier one counts a sixteenth (2 * MARGIN_LOOKS) less than the one after it. */
static void note_growth(struct death_box *box, uint64_t resident)
{
    const uint64_t now = box->last > 0 && resident > box->last ? resident - box->last : 0;
    box->growth -= box->growth / (2 * MARGIN_LOOKS);
    box->growth = MAX(now, box->growth);
    box->last = resident;
}

/* Keeps what is known of the watched process up to date. Looks at the process: how it has grown,
 * where its heap is if that was not known (MOST_LOOKS times), and whether more memory is to be
 * reserved for the copy. */
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

/* Begins to watch the collections when the heap is known or, later, returns the error of that watch
 * if there is one, which ends it for good. Does nothing if ages are not wanted. */
struct g2h_error *death_box_keep_ages(struct death_box *box)
{
    if (box->ages_seconds == 0 || !box->is_ready || !box->heap.is_known)
        return NULL;
    struct ages_follow *ages = &box->ages;
    struct g2h_error *error = NULL;
    if (!ages->ages) {
        error = ages_follow_begin(box->pid, box->program.exe, box->ages_seconds, ages);
    } else {
        ages_follow_hold(ages);
        error = take_pointer(ages->error);
        ages_follow_go_on(ages);
    }
    if (error) {
        box->ages_seconds = 0;
        ages_follow_end(ages);
    }
    return error;
}

/* ---- the copy ---- */

static int64_t death_box_now(void)
{
    return (int64_t)time(NULL);
}

/* Records the time, the process's name and its memory in ret, and moves the executable there, so
 * that the box is not ready any more. id is a thread that exists. */
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
        /* proc(5): both are in kB */
        ending->resident = procfs_number(&status, "VmRSS:") * 1024;
        ending->peak = procfs_number(&status, "VmHWM:") * 1024;
    }
}

/* Records the memory limit, and whether the kernel ended the process for lack of memory: by
 * SIGKILL, and with a count of such kills that is higher than the last one before it. */
static void note_limits(const struct death_box *box, struct g2h_ending *ret)
{
    struct oom_count count;
    uint64_t left;
    ret->limit = g2h_process_limit(pid_number(box->watch.thread), &left);
    ret->by_oom = WIFSIGNALED(box->watch.status) && WTERMSIG(box->watch.status) == SIGKILL &&
                  box->has_kills && oom_count(pid_number(box->watch.thread), &count) &&
                  count.group == box->kills.group && count.kills > box->kills.kills;
    ret->by_group = ret->by_oom && count.group != 0;
}

/* Returns the error for an errno value of the copy; NULL for 0. */
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
    (void)death_box_resident_of(pid_number(box->watch.thread), &own);
    const uint64_t before = box->own - box->own / LEAST_LEFT;
    return MAX(own, before);
}

/* Copies the process at its end, with the ages known so far, and then lets it go, unless it is held
 * until the dump is written. */
struct g2h_error *death_box_copy(struct death_box *box, struct death *ret)
{
    struct death_order order = order_of(box);
    _cleanup_(attach_urgent_end) struct attach_urgent urgent;
    const int urgent_error = attach_urgent_begin(&urgent);
    ages_follow_stop(&box->ages);
    death_box_note_process(box, pid_number(box->watch.thread), ret);
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
    ages_follow_end(&box->ages);
    ret->ages = box->ages.ages;
    return death_box_explain(box, error);
}

/* Copies the process while it lives. Holds the watch of ages (death_box_take_back() lets it go on),
 * copies, and gives back what of the reserve the copy did not take. */
struct g2h_error *death_box_copy_living(struct death_box *box, struct death *ret)
{
    const struct attach_options options = {.space = &box->reserve.space};
    uint64_t left;
    (void)munlockall();           /* the writer frees memory bit by bit */
    ages_follow_hold(&box->ages); /* so that no look is later than the copy */
    death_box_note_process(box, box->pid, ret);
    ret->ages = box->ages.ages;
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
    ages_follow_deinit(&box->ages);
    death_reserve_deinit(&box->reserve);
    g2h_exe_close(box->program.exe);
    origin_deinit(&box->program);
    *box = (struct death_box){0};
}

/* Takes back what the copy has borrowed. After a copy that was made while the process goes on: the
 * program, which the copy has had, is the box's again. */
void death_box_take_back(struct death_box *box, struct death *death)
{
    box->program = death->program;
    death->program = (struct origin){0};
    ages_follow_go_on(&box->ages);
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
