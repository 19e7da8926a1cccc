/* process_root: the path by which a file of another process, which may be in a container, can be
 * opened here: below /proc/PID/root; see process_root.h. */
#include "base/contract.h"
#include "base/process_root.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Returns the path by which this program can open what another process has at a path:
 * process, "/proc/1234", then "/root" and the path. The caller frees it; NULL if memory runs
 * out. */
char *process_root_path(const char *process, struct g2h_bytes path)
{
    char link[64], root[PATH_MAX], *whole = NULL;
    snprintf(link, sizeof(link), "%s/root", process);
    const ssize_t size = readlink(link, root, sizeof(root));
    /* A path from this program's root begins with the process's root if that is a directory of
     * ours (chroot): it is cut off, because link adds it. */
    if (size > 1 && path.size > (uint64_t)size && path.data[size] == '/' &&
        memcmp(path.data, root, as_size(size)) == 0) {
        path.data += size;
        path.size -= (uint64_t)size;
    }
    return asprintf(&whole, "%s%.*s", link, as_width(path.size), path.data) < 0 ? NULL : whole;
}
