/* child_processes; see child_processes.h. */
#include "process/attach/child_processes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/scope.h"
#include "process/attach/procfs.h"

struct attach_child {
    uint64_t pid, parent;
};

typedef VECTOR(struct attach_child) child_vector;

/* Reads the parents of all processes. Returns false if memory runs out. */
static bool child_vector_read(child_vector *ret)
{
    _cleanup_(procfs_close) DIR *processes = opendir("/proc");
    _cleanup_(text_deinit) struct text status = {0};
    for (uint64_t pid; (pid = procfs_next_number(processes)) != 0;) {
        if (procfs_read_of(pid, "status", &status) != 0)
            continue; /* it has ended */
        const struct attach_child child = {pid, procfs_number(&status, "PPid:")};
        if (!vector_push(ret, child))
            return false;
    }
    return true;
}

/* Searches breadth first: the list of those found is the queue as well. */
size_t children_find(uint64_t pid, uint64_t *ret, size_t most)
{
    _cleanup_vector_ child_vector all = {0};
    size_t found = 0;
    if (!child_vector_read(&all))
        return 0;
    for (size_t at = 0; at <= found && found < most; at++)
        for (size_t i = 0; i < all.count && found < most; i++)
            if (all.data[i].parent == (at == 0 ? pid : ret[at - 1]))
                ret[found++] = all.data[i].pid;
    return found;
}

/* Appends the children of a process. Returns false if the system has no lists of them
 * (CONFIG_PROC_CHILDREN). */
static bool children_list(uint64_t pid, uint64_t *ret, size_t most, size_t *found)
{
    _cleanup_(procfs_close) DIR *tasks = opendir(procfs_path(pid, "task").text);
    _cleanup_(text_deinit) struct text children = {0};
    char path[96];
    for (uint64_t id; (id = procfs_next_number(tasks)) != 0;) {
        snprintf(path, sizeof(path), "/proc/%llu/task/%llu/children", (unsigned long long)pid,
                 (unsigned long long)id);
        const int error = procfs_read(path, &children);
        if (error == ENOENT && !procfs_has_exited(pid, id))
            return false;
        const char *at = error == 0 ? children.data : "";
        while (*found < most && procfs_take_number(&at, 10, &ret[*found]))
            ++*found;
    }
    return true;
}

size_t children_find_quickly(uint64_t pid, uint64_t *ret, size_t most)
{
    size_t found = 0;
    for (size_t at = 0; at <= found && found < most; at++)
        if (!children_list(at == 0 ? pid : ret[at - 1], ret, most, &found))
            return children_find(pid, ret, most);
    return found;
}
