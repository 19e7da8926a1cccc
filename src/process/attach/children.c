/* children; see children.h. */
#include "process/attach/children.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/scope.h"
#include "process/attach/procfs.h"

struct child {
    uint64_t pid, parent;
};

typedef VECTOR(struct child) child_vector;

static void child_vector_deinit(child_vector *children)
{
    free(children->data);
}

static void close_directory(DIR **directory)
{
    if (*directory)
        closedir(*directory);
}

/* Reads the number of the parent: the second field behind the name in /proc/PID/stat, which ends
 * with the last bracket. Returns 0 if the process has ended. */
static uint64_t parent_of(uint64_t pid, struct text *stat)
{
    uint64_t parent = 0;
    if (procfs_read_of(pid, "stat", stat) != 0)
        return 0;
    const char *at = strrchr(stat->data, ')');
    if (!at || strlen(at) < strlen(") S 1"))
        return 0;
    at += strlen(") S ");
    return procfs_take_number(&at, 10, &parent) ? parent : 0;
}

/* Reads all processes. */
static void read_all(child_vector *ret)
{
    _cleanup_(close_directory) DIR *directory = opendir("/proc");
    _cleanup_(text_deinit) struct text stat = {0};
    const struct dirent *entry;
    while (directory && (entry = readdir(directory)) != NULL) {
        const char *name = entry->d_name;
        struct child child;
        if (!procfs_take_number(&name, 10, &child.pid) || *name != '\0')
            continue;
        child.parent = parent_of(child.pid, &stat);
        if (!vector_push(ret, child))
            return;
    }
}

size_t children_find(uint64_t pid, uint64_t *ret, size_t most)
{
    _cleanup_(child_vector_deinit) child_vector all = {0};
    size_t found = 0;
    read_all(&all);
    for (size_t at = 0; at <= found && found < most; at++)
        for (size_t i = 0; i < all.count && found < most; i++)
            if (all.data[i].parent == (at == 0 ? pid : ret[at - 1]))
                ret[found++] = all.data[i].pid;
    return found;
}
