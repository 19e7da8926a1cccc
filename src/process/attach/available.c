/*
 * available: how much memory there is, by the files of the kernel; see available.h. Three parts:
 * available asks the machine and all control groups (cgroups(7)) of a process for the memory that
 * is left to it; needs checks before a conversion whether memory, disk and addresses suffice, and
 * words the error; oom_count reads how many processes the kernel has killed.
 *
 * Version 1 and 2 of control groups have the same things in files of other names: a struct flavour.
 * A group is a directory; the limits of all groups above it count, too.
 */
#include "process/attach/available.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __linux__
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/text.h"
#include "input/input.h"
#include "process/attach/procfs.h"
#endif

/* ==== whether there is memory for the copy of a process ====
 *
 * Cgroups(7) and proc(5) describe the files.
 */

#ifdef __linux__

/* Bytes that a conversion of a process without objects takes, types included. */
#define LEAST (16ull << 20)

/* The names of each version of control groups for things that both versions have. */
struct flavour {
    const char *type, *option; /* of the mounted file system */
    const char *limit, *usage; /* files of a group */
    const char *inactive,
        *active;       /* keys of its memory.stat, for memory that holds files; NULL: none */
    const char *tasks; /* the file that lists its threads */
};

enum { FLAVOURS = 2 };

static const struct flavour of_memory[FLAVOURS] = {
    {"cgroup2", "", "memory.max", "memory.current", "inactive_file", "active_file",
     "cgroup.threads"},
    {"cgroup", "memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file",
     "total_active_file", "tasks"},
};

static const struct flavour of_tasks[FLAVOURS] = {
    {"cgroup2", "", "pids.max", "pids.current", NULL, NULL, "cgroup.threads"},
    {"cgroup", "pids", "pids.max", "pids.current", NULL, NULL, "tasks"},
};

/* The mount point of a flavour's groups, and the topmost group that is visible there. */
struct mount {
    char root[1000], point[1000];
};

/* ---- this program's groups ---- */

/* Returns whether a comma-separated list contains a word. */
static bool has_word(const char *list, const char *word)
{
    for (const char *at = list; *at; at += *at == ',') {
        const size_t size = strcspn(at, ",");
        if (size == strlen(word) && memcmp(at, word, size) == 0)
            return true;
        at += size;
    }
    return false;
}

/* Parses a line of /proc/self/mountinfo (proc(5)), and returns whether it is the mount of a flavour
 * of control groups: by the file system's type and, of version 1, the controller among its
 * options. */
static bool parse_mount(const char *line, const struct flavour *flavour, struct mount *ret)
{
    char type[32], options[1000];
    const char *tail = strstr(line, " - ");
    return tail && sscanf(line, "%*u %*u %*s %999s %999s", ret->root, ret->point) == 2 &&
           sscanf(tail, " - %31s %*s %999s", type, options) == 2 &&
           strcmp(type, flavour->type) == 0 &&
           (!*flavour->option || has_word(options, flavour->option));
}

/* Returns the beginning of the next line, or the end of the string after the last one. */
static const char *available_next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

/* Finds a flavour's mount in the lines of /proc/self/mountinfo. Returns false if it is not
 * mounted. */
static bool find_mount(const char *mounts, const struct flavour *flavour, struct mount *ret)
{
    for (const char *line = mounts; *line; line = available_next_line(line))
        if (parse_mount(line, flavour, ret))
            return true;
    return false;
}

/* Parses a line of /proc/self/cgroup: number:controllers:path, where version 2 has number 0 and no
 * controllers. Returns whether it is the flavour's group. */
static bool parse_group(const char *line, const struct flavour *flavour, char ret[1000])
{
    char controllers[256];
    if (!*flavour->option)
        return sscanf(line, "0::%999[^\n]", ret) == 1;
    return sscanf(line, "%*u:%255[^:\n]:%999[^\n]", controllers, ret) == 2 &&
           has_word(controllers, flavour->option);
}

/* Finds a flavour's group in the lines of /proc/PID/cgroup. Returns false if there is none. */
static bool find_group(const char *groups, const struct flavour *flavour, char ret[1000])
{
    for (const char *line = groups; *line; line = available_next_line(line))
        if (parse_group(line, flavour, ret))
            return true;
    return false;
}

/*
 * Finds the directory of a group: the mount point and the part of the group's path below the
 * topmost mounted group, mount->root. In a container the path may be the machine's, whose groups
 * are not visible there: then the directory is the topmost group's. Returns whether it is the
 * group's own.
 */
static bool find_directory(const struct mount *mount, const char *group, char *ret, size_t size)
{
    const size_t root = strcmp(mount->root, "/") == 0 ? 0 : strlen(mount->root);
    const bool is_topmost = strcmp(group, mount->root) == 0;
    /* /kubelet is not below /kube */
    const bool is_below =
        !is_topmost && strncmp(group, mount->root, root) == 0 && group[root] == '/';
    const int length = snprintf(ret, size, "%s%s", mount->point, is_below ? group + root : "");
    const bool is_outside =
        strncmp(group, "/..", 3) == 0; /* of a namespace: cgroup_namespaces(7) */
    if ((size_t)length < size && !is_outside && access(ret, F_OK) == 0)
        return is_topmost || is_below;
    snprintf(ret, size, "%s", mount->point);
    return false;
}

/* Returns whether a file of a group lists a thread. */
static bool lists(const char *directory, const char *file, uint64_t id)
{
    char path[1100];
    uint64_t number;
    _cleanup_(text_deinit) struct text content = {0};
    snprintf(path, sizeof(path), "%s/%s", directory, file);
    const char *at = procfs_read(path, &content) == 0 ? content.data : "";
    for (; *at; at = available_next_line(at)) {
        const char *line = at;
        if (procfs_take_number(&line, 10, &number) && number == id)
            return true;
    }
    return false;
}

/*
 * Finds the directory of the group of a process or thread as that process sees it. From another
 * container its group is not visible, but it is the topmost one in its own. Returns false if that
 * is not its group.
 */
static bool find_inside(uint64_t pid, const struct flavour *flavour, char *ret, size_t size)
{
    _cleanup_(text_deinit) struct text mounts = {0};
    struct mount mount;
    if (procfs_read_of(pid, "mountinfo", &mounts) != 0 || !find_mount(mounts.data, flavour, &mount))
        return false;
    const int length =
        snprintf(ret, size, "/proc/%llu/root%s", (unsigned long long)pid, mount.point);
    return (size_t)length < size && lists(ret, flavour->tasks, pid);
}

/* ---- memory left by the groups ---- */

/* Returns the number after a key at the beginning of a line of a group's file, or UINT64_MAX if
 * there is none: "max" means no limit. */
static uint64_t number_in(const char *directory, const char *file, const char *key)
{
    char path[1100];
    _cleanup_(text_deinit) struct text content = {0};
    snprintf(path, sizeof(path), "%s/%s", directory, file);
    return procfs_read(path, &content) == 0 ? procfs_number(&content, key) : UINT64_MAX;
}

static uint64_t or_zero(uint64_t number)
{
    return number != UINT64_MAX ? number : 0;
}

/* Lowers *available to the memory left by a group, if that is less, and notes the group's limit.
 * Memory that holds files does not count as used: the kernel can drop it. Also notes whether the
 * kernel would end all processes of the group together (memory.oom.group). */
static void note_group(const struct flavour *flavour, const char *directory,
                       struct attach_available *available)
{
    const uint64_t limit = number_in(directory, flavour->limit, "");
    const uint64_t usage = number_in(directory, flavour->usage, "");
    if (flavour->inactive && number_in(directory, "memory.oom.group", "") == 1)
        available->ends_all = true;
    if (limit == UINT64_MAX || usage == UINT64_MAX)
        return; /* "max", or the topmost group, which has no limit */
    const uint64_t files = flavour->inactive
                               ? or_zero(number_in(directory, "memory.stat", flavour->inactive)) +
                                     or_zero(number_in(directory, "memory.stat", flavour->active))
                               : 0;
    const uint64_t used = files < usage ? usage - files : 0;
    const uint64_t left = used < limit ? limit - used : 0;
    if (left >= available->left)
        return;
    available->left = left;
    available->bytes = limit;
    snprintf(available->limit, sizeof(available->limit), "%s/%s", directory, flavour->limit);
}

enum { FILE_NAME = 24 }; /* more than "/" and the name of a limit's file */

/* Lowers *available to the memory left by a group and the groups above it. If is_own is not set,
 * the group is that of another process, and must be visible: the topmost one need not be above
 * it. */
static void note_groups(const struct flavour *flavour, const struct mount *mount, const char *group,
                        bool is_own, struct attach_available *available)
{
    char directory[sizeof(available->limit) - FILE_NAME];
    if (!find_directory(mount, group, directory, sizeof(directory)) && !is_own)
        return;
    for (;;) {
        note_group(flavour, directory, available);
        char *slash = strrchr(directory, '/');
        if (!slash || strlen(directory) <= strlen(mount->point))
            return;
        *slash = '\0';
    }
}

/* Lowers *available to the memory left by the groups of a process, in the flavours of one
 * controller. */
static void note_flavours(const struct flavour flavours[FLAVOURS], const char *mounts,
                          const char *groups, const char *own, struct attach_available *available)
{
    for (size_t i = 0; i < FLAVOURS; i++) {
        struct mount mount;
        char group[1000], of_this[1000];
        if (find_mount(mounts, &flavours[i], &mount) && find_group(groups, &flavours[i], group))
            note_groups(&flavours[i], &mount, group,
                        find_group(own, &flavours[i], of_this) && strcmp(group, of_this) == 0,
                        available);
    }
}

void attach_available_in_groups(const char *mounts, const char *groups, const char *own,
                                struct attach_available *available)
{
    note_flavours(of_memory, mounts, groups, own, available);
}

/* Finds the memory left by the machine and the groups of a process, by the contents of its
 * /proc/PID/cgroup; own is that of this process. */
static void find_available(const struct text *groups, const struct text *own,
                           struct attach_available *ret)
{
    _cleanup_(text_deinit) struct text memory = {0}, mounts = {0};
    *ret = (struct attach_available){.left = UINT64_MAX};
    if (procfs_read("/proc/meminfo", &memory) == 0) {
        const uint64_t kilobytes = procfs_number(&memory, "MemAvailable:");
        ret->left = kilobytes < UINT64_MAX / 1024 ? kilobytes * 1024 : UINT64_MAX;
    }
    if (groups->data && own->data && procfs_read("/proc/self/mountinfo", &mounts) == 0)
        attach_available_in_groups(mounts.data, groups->data, own->data, ret);
}

/* Finds the memory left by the tightest limit; UINT64_MAX if unknown. */
void attach_available_find(struct attach_available *ret)
{
    _cleanup_(text_deinit) struct text groups = {0};
    procfs_read("/proc/self/cgroup", &groups);
    find_available(&groups, &groups, ret);
}

bool attach_available_has(uint64_t bytes)
{
    struct attach_available available;
    attach_available_find(&available);
    return available.left != UINT64_MAX && bytes <= available.left;
}

/* Lowers *available to the memory left by those groups of a process that only the process sees.
 * Nothing for groups that are this program's own, or that this program sees. */
static void note_inside(uint64_t pid, const struct text *groups, const struct text *own,
                        struct attach_available *available)
{
    _cleanup_(text_deinit) struct text mounts = {0};
    char group[1000], own_group[1000], directory[sizeof(available->limit) - FILE_NAME];
    struct mount mount;
    if (!groups->data || !own->data || procfs_read("/proc/self/mountinfo", &mounts) != 0)
        return;
    for (size_t i = 0; i < FLAVOURS; i++) {
        const struct flavour *flavour = &of_memory[i];
        if (!find_group(groups->data, flavour, group))
            continue;
        const bool is_own =
            find_group(own->data, flavour, own_group) && strcmp(group, own_group) == 0;
        const bool is_visible = find_mount(mounts.data, flavour, &mount) &&
                                find_directory(&mount, group, directory, sizeof(directory));
        if (!is_own && !is_visible && find_inside(pid, flavour, directory, sizeof(directory)))
            note_group(flavour, directory, available);
    }
}

/* Finds how much memory the limits of a process leave. Goes by the process's control groups, as
 * this program sees them, and then notes the limit that a process in another container sees itself.
 */
void attach_available_find_of(uint64_t pid, struct attach_available *ret)
{
    _cleanup_(text_deinit) struct text groups = {0}, own = {0};
    procfs_read_of(pid, "cgroup", &groups);
    procfs_read("/proc/self/cgroup", &own);
    find_available(&groups, &own, ret);
    note_inside(pid, &groups, &own, ret);
}

/* Finds the directory of the group of a process or thread among those that are mounted here.
 * Returns false if it is not found. */
static bool find_visible(uint64_t pid, const struct flavour *flavour, char *ret, size_t size)
{
    _cleanup_(text_deinit) struct text groups = {0}, mounts = {0};
    struct mount mount;
    char group[1000];
    return procfs_read_of(pid, "cgroup", &groups) == 0 &&
           procfs_read("/proc/self/mountinfo", &mounts) == 0 &&
           find_mount(mounts.data, flavour, &mount) && find_group(groups.data, flavour, group) &&
           find_directory(&mount, group, ret, size);
}

/* Finds the directory of the memory group of a process or thread. version 0: in version 2 of
 * control groups; 1: in version 1, as in of_memory[]. Returns false if it is not found. */
bool attach_available_group_of(uint64_t pid, unsigned version, char *ret, size_t size)
{
    return version < FLAVOURS && (find_visible(pid, &of_memory[version], ret, size) ||
                                  find_inside(pid, &of_memory[version], ret, size));
}

/* Returns how many more threads and processes the control groups of a process allow; UINT64_MAX if
 * that is not limited, or not known. */
uint64_t attach_available_tasks_of(uint64_t pid)
{
    _cleanup_(text_deinit) struct text groups = {0}, own = {0}, mounts = {0};
    struct attach_available available = {.left = UINT64_MAX};
    if (procfs_read_of(pid, "cgroup", &groups) == 0 &&
        procfs_read("/proc/self/cgroup", &own) == 0 &&
        procfs_read("/proc/self/mountinfo", &mounts) == 0)
        note_flavours(of_tasks, mounts.data, groups.data, own.data, &available);
    return available.left;
}

/* Returns whether the temporary dump is in memory, as in a tmpfs: then the kernel cannot write it
 * to a disk. */
static bool is_spool_in_memory(void)
{
    const uint32_t tmpfs = 0x01021994, ramfs = 0x858458f6; /* statfs(2): *_MAGIC */
    struct statfs status;
    const char *directory = input_directory();
    return !*directory || (statfs(directory, &status) == 0 &&
                           ((uint32_t)status.f_type == tmpfs || (uint32_t)status.f_type == ramfs));
}

/* Returns the memory for what follows the copy: after percent of it, 0 if nothing does. */
static uint64_t memory_after(uint64_t bytes, unsigned after)
{
    return after > 0 ? bytes / 100 * after + LEAST : 0;
}

/* Returns how much memory a copy of so many bytes, and a conversion that takes `after` percent of
 * it, need; is_in_memory: the temporary dump is in memory, too. Both are not needed at the same
 * time, so the larger one counts. */
uint64_t attach_available_wanted(uint64_t bytes, unsigned after, bool is_in_memory)
{
    const uint64_t copy = bytes + bytes / 8; /* an eighth to work with */
    const uint64_t conversion = memory_after(bytes, after) + (is_in_memory ? bytes : 0);
    return MAX(conversion, copy);
}

/* Returns an error unless there is enough memory. The messages differ in what helps: if the dump
 * fits but its conversion does not, convert elsewhere; if the machine is short, take a core; if the
 * limit of a group is, raise it. */
struct g2h_error *attach_available_check(uint64_t pid, uint64_t bytes, struct attach_after after,
                                         const struct attach_available *available)
{
    /* Outside groups there are other programs and swap, and the OOM killer spares small programs: a
     * conversion is not refused for memory that it may not need. */
    const bool is_group = *available->limit != '\0',
               is_in_memory = is_group && after.spools && is_spool_in_memory();
    const uint64_t wanted =
        attach_available_wanted(bytes, is_group ? after.percent : 0, is_in_memory);
    const uint64_t of_dump = attach_available_wanted(bytes, 0, is_in_memory);
    const double wanted_mb = (double)(of_dump > available->left ? of_dump : wanted) / 1e6,
                 left_mb = in_millions(available->left);
    if (wanted <= available->left)
        return NULL;
    if (of_dump <= available->left)
        return error_create(G2H_ERROR_SYSTEM,
                            "process %llu: its conversion takes some %.0f MB, and %s leaves %.0f "
                            "MB: take only the dump here (--format dump -z), and convert that "
                            "elsewhere",
                            (unsigned long long)pid, wanted_mb, available->limit, left_mb);
    if (!is_group)
        return error_create(
            G2H_ERROR_SYSTEM,
            "process %llu: a copy of it takes %.0f MB, and this machine has %.0f MB "
            "left: stop what else takes memory, or take a core (gcore %llu) "
            "and convert that, elsewhere if need be",
            (unsigned long long)pid, wanted_mb, left_mb, (unsigned long long)pid);
    return error_create(
        G2H_ERROR_SYSTEM,
        "process %llu: a copy of it takes %.0f MB, and %s leaves %.0f MB: raise that "
        "limit, or run this where it does not apply, as outside of the container",
        (unsigned long long)pid, wanted_mb, available->limit, left_mb);
}

/* Memory for a process that is read through a window, at any time: the description of the heap, at
 * most a 25th of it, the stacks, and the working sets of several threads; and the margin of the
 * child's guard. */
#define LEAST_WINDOW (96ull << 20)

enum { PART_IN_WINDOW = 25 };

/* Returns whether there is memory for a window, and for what comes after it: in a control group,
 * the conversion, and the dump if that is in memory. */
bool attach_available_has_window(uint64_t bytes, struct attach_after after,
                                 const struct attach_available *available)
{
    const bool is_group = *available->limit != '\0';
    const uint64_t window = bytes / PART_IN_WINDOW + LEAST_WINDOW;
    const uint64_t conversion = is_group ? memory_after(bytes, after.percent) : 0;
    const uint64_t spool = is_group && after.spools && is_spool_in_memory() ? bytes : 0;
    return MAX(window, conversion) + spool <= available->left;
}

#define OVERCOMMIT "/proc/sys/vm/overcommit_memory"

/* Returns whether the system counts all writable memory as used (strict overcommit). */
static bool is_strict(void)
{
    _cleanup_(text_deinit) struct text mode = {0};
    return procfs_read(OVERCOMMIT, &mode) == 0 && procfs_number(&mode, "") == 2;
}

/* Returns a limit of setrlimit(2) in kB, as ulimit shows it, or 0 if there is none. status is the
 * result of getrlimit(): libraries disagree about the type of its first parameter. */
static uint64_t limit_of(int status, const struct rlimit *limit)
{
    return status == 0 && limit->rlim_cur != RLIM_INFINITY ? (uint64_t)limit->rlim_cur / 1024 : 0;
}

/* Says which limit there is of addresses, and how to raise it. */
void attach_available_address_limit(char ret[ATTACH_LIMIT_TEXT])
{
    struct rlimit of_addresses, of_data;
    const uint64_t addresses = limit_of(getrlimit(RLIMIT_AS, &of_addresses), &of_addresses),
                   data = limit_of(getrlimit(RLIMIT_DATA, &of_data), &of_data);
    if (addresses > 0)
        snprintf(ret, ATTACH_LIMIT_TEXT, "the limit is %llu kB: raise it (ulimit -v)",
                 (unsigned long long)addresses);
    else if (data > 0)
        snprintf(ret, ATTACH_LIMIT_TEXT, "the limit is %llu kB: raise it (ulimit -d)",
                 (unsigned long long)data);
    else if (is_strict())
        snprintf(ret, ATTACH_LIMIT_TEXT, "%s is 2, and CommitLimit of /proc/meminfo leaves less",
                 OVERCOMMIT);
    else
        snprintf(ret, ATTACH_LIMIT_TEXT, "this machine does not give that many");
}

/* Returns the error that the system does not provide enough address space, which names the
 * limit. */
struct g2h_error *attach_available_refuse_addresses(uint64_t pid, uint64_t bytes)
{
    char limit[ATTACH_LIMIT_TEXT];
    attach_available_address_limit(limit);
    return error_create(G2H_ERROR_SYSTEM,
                        "process %llu: a copy of it takes %.0f MB of addresses, also of memory "
                        "that it has never touched, and %s",
                        (unsigned long long)pid, in_millions(bytes), limit);
}

#else

bool attach_available_has(uint64_t bytes)
{
    (void)bytes;
    return false;
}

#endif

/* ==== whether this machine has what the conversion of a heap takes ==== */

/* Returns an error if there are too many objects. */
static struct g2h_error *check_most(const struct needs *needs)
{
    if (needs->most == 0 || needs->objects <= needs->most)
        return NULL;
    return error_create(G2H_ERROR_LIMIT, "%s: %llu objects: more than the %llu %s", needs->name,
                        (unsigned long long)needs->objects, (unsigned long long)needs->most,
                        needs->beyond);
}

#ifdef __linux__

/* ---- what there is ---- */

/* Returns the bytes of swap that are free. */
static uint64_t free_swap(void)
{
    _cleanup_(text_deinit) struct text memory = {0};
    const uint64_t kilobytes =
        procfs_read("/proc/meminfo", &memory) == 0 ? procfs_number(&memory, "SwapFree:") : 0;
    return kilobytes < UINT64_MAX / 1024 ? kilobytes * 1024 : 0;
}

/* Returns the memory that is left by the tightest limit, which *available gets; the machine's has
 * swap as well. UINT64_MAX: not known. */
static uint64_t memory_left(struct attach_available *available)
{
    attach_available_find(available);
    if (available->left == UINT64_MAX || *available->limit)
        return available->left;
    return available->left + free_swap();
}

/* Returns whether a file system may compress what is written: a dump then takes a fraction of its
 * bytes. */
static bool may_compress(uint32_t type)
{
    /* statfs(2): of btrfs, zfs, f2fs, bcachefs */
    static const uint32_t types[] = {0x9123683e, 0x2fc12fc1, 0xf2f52010, 0xca451a4e};
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (type == types[i])
            return true;
    return false;
}

/* Returns the room in a directory for this user; UINT64_MAX: not known, as in file systems that do
 * not count. */
static uint64_t room_left(const char *directory)
{
    struct statfs status;
    if (!directory || !*directory || statfs(directory, &status) != 0 || status.f_blocks == 0 ||
        may_compress((uint32_t)status.f_type))
        return UINT64_MAX;
    const uint64_t blocks = geteuid() == 0 ? status.f_bfree : status.f_bavail;
    const uint64_t size = (uint64_t)(status.f_frsize != 0 ? status.f_frsize : status.f_bsize);
    return blocks * size;
}

/* Maps bytes that are not used, and unmaps them. Returns whether that was possible. */
static bool can_map(uint64_t bytes, int protection)
{
    if (bytes == 0)
        return true;
    void *data = bytes <= SIZE_MAX ? mmap(NULL, (size_t)bytes, protection,
                                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                                   : MAP_FAILED;
    if (data != MAP_FAILED)
        munmap(data, (size_t)bytes);
    return data != MAP_FAILED;
}

bool needs_have_addresses(uint64_t bytes)
{
    return can_map(bytes, PROT_NONE);
}

/* Returns whether the addresses of a conversion can be had: those of the memory also count where
 * only memory that can be written is limited (ulimit -d). */
static bool has_addresses(const struct needs *needs)
{
    return can_map(needs->memory, PROT_READ | PROT_WRITE) &&
           needs_have_addresses(needs->memory + needs->dump + needs->beside);
}

/* ---- what is said ---- */

/* Appends what a conversion takes: "59.1 million objects: this takes 5.70 GB of memory or more, and
 * 4.80 GB or more in /tmp". What is 0 or NULL is left out: objects, memory, the directory of the
 * copy. A dump that is only mapped takes addresses instead. */
static void append_needs(struct text *text, const struct needs *needs)
{
    const double million = 1e6;
    if ((double)needs->objects >= million)
        text_printf(text, "%.1f million objects: ", (double)needs->objects / million);
    else if (needs->objects > 0)
        text_printf(text, "%llu objects: ", (unsigned long long)needs->objects);
    text_append_string(text, "this takes ");
    if (needs->memory > 0) {
        text_append_bytes(text, needs->memory);
        text_append_string(text, " of memory or more");
    }
    if (needs->memory == 0 && !needs->directory) {
        text_append_bytes(text, needs->dump);
        text_append_string(text, " of addresses");
    }
    if (needs->memory > 0 && needs->directory)
        text_append_string(text, ", and ");
    if (needs->directory) {
        text_append_bytes(text, needs->disk);
        text_printf(text, " or more in %s", *needs->directory ? needs->directory : "memory");
    }
}

/* Makes the error that something is short: what it is, and what to do. */
static struct g2h_error *refuse(const struct needs *needs, const struct text *shortage,
                                const char *advice)
{
    _cleanup_(text_deinit) struct text all = {0};
    append_needs(&all, needs);
    TRY_MEMORY(!all.failed && !shortage->failed);
    return error_create(G2H_ERROR_SYSTEM, "%s: %.*s; %.*s: %s", needs->name, as_width(all.size),
                        all.data, as_width(shortage->size), shortage->data, advice);
}

/* Makes the error that memory is short: how much the limit leaves, or the machine. */
static struct g2h_error *refuse_memory(const struct needs *needs, uint64_t left,
                                       const struct attach_available *available)
{
    _cleanup_(text_deinit) struct text shortage = {0};
    if (*available->limit)
        text_printf(&shortage, "%s leaves ", available->limit);
    text_append_bytes(&shortage, left);
    if (!*available->limit)
        text_append_string(&shortage, " of memory are free");
    return refuse(needs, &shortage, needs->ways);
}

/* Makes the error that a directory has too little room, and where else the file may go. */
static struct g2h_error *refuse_room(const struct needs *needs, uint64_t room)
{
    _cleanup_(text_deinit) struct text shortage = {0};
    text_append_bytes(&shortage, room);
    text_append_string(&shortage, " are free there");
    return refuse(needs, &shortage,
                  needs->memory > 0 ? "set TMPDIR to where there is room, or write only the dump "
                                      "(--format dump -z), which needs no temporary file"
                                    : "-z writes a fraction of that");
}

/* Returns the error about too few addresses, which names the limit. */
static struct g2h_error *refuse_addresses(const struct needs *needs)
{
    _cleanup_(text_deinit) struct text shortage = {0};
    char limit[ATTACH_LIMIT_TEXT];
    attach_available_address_limit(limit);
    text_append_string(&shortage, "so many addresses are not available");
    return refuse(needs, &shortage, limit);
}

/* Returns whether so many bytes can be in memory rather than on a disk: they take at most half of
 * what is left. Swap does not count, and in a control group with a limit, which may end the
 * process, the answer is no. */
bool needs_have_memory(uint64_t bytes)
{
    struct attach_available available;
    attach_available_find(&available);
    return !*available.limit && available.left != UINT64_MAX && bytes <= available.left / 2;
}

/* Checks that a conversion has what it needs. Checks in this order: the number of objects, memory,
 * room on the disk, and address space. Returns the first error. */
struct g2h_error *needs_check(const struct needs *needs)
{
    struct attach_available available;
    TRY(check_most(needs));
    const uint64_t left = memory_left(&available);
    const uint64_t room = room_left(needs->directory);
    if (needs->memory > left)
        return refuse_memory(needs, left, &available);
    if (needs->disk > room)
        return refuse_room(needs, room);
    return has_addresses(needs) ? NULL : refuse_addresses(needs);
}

#else

struct g2h_error *needs_check(const struct needs *needs)
{
    return check_most(needs);
}

bool needs_have_addresses(uint64_t bytes)
{
    (void)bytes;
    return true;
}

bool needs_have_memory(uint64_t bytes)
{
    (void)bytes;
    return false;
}

#endif

#ifdef __linux__

/* ==== counts the processes that the kernel has killed for lack of memory ====
 *
 * Cgroups(7), memory.txt of the kernel and proc(5) describe the files.
 */

/* The files that have the counter in the two versions of control groups. */
static const char *const names[] = {"memory.events", "memory.oom_control"};

/* Reads how many processes were killed for lack of memory: by the counter of the process's group,
 * whose inode ret->group becomes, or by the machine's, and then ret->group is 0. Returns false if
 * neither is known. */
bool oom_count(uint64_t pid, struct oom_count *ret)
{
    static const char key[] = "oom_kill ";
    _cleanup_(text_deinit) struct text content = {0};
    char directory[1000], path[1100];
    struct stat status;
    for (unsigned i = 0; i < COUNT_OF(names); i++) {
        if (!attach_available_group_of(pid, i, directory, sizeof(directory)) ||
            stat(directory, &status) != 0)
            continue;
        snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
        ret->kills = procfs_read(path, &content) == 0 ? procfs_number(&content, key) : UINT64_MAX;
        ret->group = status.st_ino;
        if (ret->kills != UINT64_MAX)
            return true;
    }
    ret->kills =
        procfs_read("/proc/vmstat", &content) == 0 ? procfs_number(&content, key) : UINT64_MAX;
    ret->group = 0;
    return ret->kills != UINT64_MAX;
}

#endif
