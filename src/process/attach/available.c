/* available; see available.h. cgroups(7) and proc(5) describe the files. */
#include "process/attach/available.h"

#ifdef __linux__

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/scope.h"
#include "input/input.h"
#include "process/attach/procfs.h"

#define LEAST \
    (16ull << 20) /* memory of a conversion of a process without objects, types included */

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

/* Parses a line of /proc/self/mountinfo. Returns whether it is the flavour's mount. */
static bool parse_mount(const char *line, const struct flavour *flavour, struct mount *ret)
{
    char type[32], options[1000];
    const char *tail = strstr(line, " - ");
    return tail && sscanf(line, "%*u %*u %*s %999s %999s", ret->root, ret->point) == 2 &&
           sscanf(tail, " - %31s %*s %999s", type, options) == 2 &&
           strcmp(type, flavour->type) == 0 &&
           (!*flavour->option || has_word(options, flavour->option));
}

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

/* Parses a line of /proc/self/cgroup: number:controllers:path. Returns whether it is the flavour's
 * group. */
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
 * topmost mounted group. In a container the path may be the machine's, whose groups are not visible
 * there: then the directory is the topmost group's. Returns whether it is the group's own.
 */
static bool find_directory(const struct mount *mount, const char *group, char *ret, size_t size)
{
    const size_t root = strcmp(mount->root, "/") == 0 ? 0 : strlen(mount->root);
    const bool is_below = strncmp(group, mount->root, root) == 0 && strcmp(group, "/") != 0;
    const int length = snprintf(ret, size, "%s%s", mount->point, is_below ? group + root : "");
    const bool is_outside =
        strncmp(group, "/..", 3) == 0; /* of a namespace: cgroup_namespaces(7) */
    if ((size_t)length < size && !is_outside && access(ret, F_OK) == 0)
        return is_below || strcmp(group, mount->root) == 0;
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

/* Lowers *available to the memory left by a group, if that is less. Memory that holds files does
 * not count as used: the kernel can drop it. */
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

/* Lowers *available to the memory left by a group and the groups above it. If is_own is not set,
 * the group is that of another process, and must be visible: the topmost one need not be above
 * it. */
static void note_groups(const struct flavour *flavour, const struct mount *mount, const char *group,
                        bool is_own, struct attach_available *available)
{
    char directory[sizeof(available->limit) - 24];
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

void attach_available_find(struct attach_available *ret)
{
    _cleanup_(text_deinit) struct text groups = {0};
    procfs_read("/proc/self/cgroup", &groups);
    find_available(&groups, &groups, ret);
}

/* Lowers *available to the memory left by those groups of a process that only it sees. */
static void note_inside(uint64_t pid, const struct text *groups, const struct text *own,
                        struct attach_available *available)
{
    _cleanup_(text_deinit) struct text mounts = {0};
    char group[1000], of_this[1000], directory[sizeof(available->limit) - 24];
    struct mount mount;
    if (!groups->data || !own->data || procfs_read("/proc/self/mountinfo", &mounts) != 0)
        return;
    for (size_t i = 0; i < FLAVOURS; i++) {
        const struct flavour *flavour = &of_memory[i];
        if (!find_group(groups->data, flavour, group))
            continue;
        const bool is_own = find_group(own->data, flavour, of_this) && strcmp(group, of_this) == 0;
        const bool is_visible = find_mount(mounts.data, flavour, &mount) &&
                                find_directory(&mount, group, directory, sizeof(directory));
        if (!is_own && !is_visible && find_inside(pid, flavour, directory, sizeof(directory)))
            note_group(flavour, directory, available);
    }
}

void attach_available_find_of(uint64_t pid, struct attach_available *ret)
{
    _cleanup_(text_deinit) struct text groups = {0}, own = {0};
    procfs_read_of(pid, "cgroup", &groups);
    procfs_read("/proc/self/cgroup", &own);
    find_available(&groups, &own, ret);
    note_inside(pid, &groups, &own, ret);
}

/* Finds the directory of the group of a process or thread among those that are mounted here. */
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

bool attach_available_group_of(uint64_t pid, unsigned version, char *ret, size_t size)
{
    return version < FLAVOURS && (find_visible(pid, &of_memory[version], ret, size) ||
                                  find_inside(pid, &of_memory[version], ret, size));
}

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

/* The copy and the conversion are not needed at the same time, so the larger one counts. */
uint64_t attach_available_wanted(uint64_t bytes, unsigned after, bool is_in_memory)
{
    const uint64_t copy = bytes + bytes / 8; /* an eighth to work with */
    const uint64_t conversion = memory_after(bytes, after) + (is_in_memory ? bytes : 0);
    return conversion > copy ? conversion : copy;
}

struct g2h_error *attach_available_check(uint64_t pid, uint64_t bytes, unsigned after,
                                         const struct attach_available *available)
{
    /* Outside groups there are other programs and swap, and the OOM killer spares small programs: a
     * conversion is not refused for memory that it may not need. */
    const bool is_group = *available->limit != '\0',
               is_in_memory = is_group && is_spool_in_memory();
    const uint64_t wanted = attach_available_wanted(bytes, is_group ? after : 0, is_in_memory);
    const uint64_t of_dump = attach_available_wanted(bytes, 0, is_in_memory);
    const double wanted_mb = (double)(of_dump > available->left ? of_dump : wanted) / 1e6,
                 left_mb = (double)available->left / 1e6;
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

bool attach_available_has_window(uint64_t bytes, unsigned after,
                                 const struct attach_available *available)
{
    const bool is_group = *available->limit != '\0';
    const uint64_t window = bytes / PART_IN_WINDOW + LEAST_WINDOW;
    const uint64_t conversion = is_group ? memory_after(bytes, after) : 0;
    const uint64_t spool = is_group && is_spool_in_memory() ? bytes : 0;
    return (window > conversion ? window : conversion) + spool <= available->left;
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

/* Says which of the limits of addresses is in force: that of the shell, or strict overcommit. */
struct g2h_error *attach_available_refuse_addresses(uint64_t pid, uint64_t bytes)
{
    struct rlimit of_addresses, of_data;
    const uint64_t addresses = limit_of(getrlimit(RLIMIT_AS, &of_addresses), &of_addresses),
                   data = limit_of(getrlimit(RLIMIT_DATA, &of_data), &of_data);
    char limit[128] = "this machine does not give that many";
    if (addresses > 0)
        snprintf(limit, sizeof(limit), "the limit is %llu kB: raise it (ulimit -v)",
                 (unsigned long long)addresses);
    else if (data > 0)
        snprintf(limit, sizeof(limit), "the limit is %llu kB: raise it (ulimit -d)",
                 (unsigned long long)data);
    else if (is_strict())
        snprintf(limit, sizeof(limit), "%s is 2, and CommitLimit of /proc/meminfo leaves less",
                 OVERCOMMIT);
    return error_create(G2H_ERROR_SYSTEM,
                        "process %llu: a copy of it takes %.0f MB of addresses, also of memory "
                        "that it has never touched, and %s",
                        (unsigned long long)pid, (double)bytes / 1e6, limit);
}

#endif
