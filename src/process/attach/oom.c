/* oom; see oom.h. cgroups(7), memory.txt of the kernel and proc(5) describe the files. */
#include "process/attach/oom.h"

#ifdef __linux__

#include <stdio.h>
#include <sys/stat.h>

#include "base/scope.h"
#include "process/attach/available.h"
#include "process/attach/procfs.h"

/* The files that have the counter in the two versions of control groups. */
static const char *const names[] = {"memory.events", "memory.oom_control"};

/* The group's own counter is better than the machine's: each version of control groups has it in a
 * file of its own. */
bool oom_count(uint64_t pid, struct oom_count *ret)
{
    static const char key[] = "oom_kill ";
    _cleanup_(text_deinit) struct text content = {0};
    char directory[1000], path[1100];
    struct stat status;
    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
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
