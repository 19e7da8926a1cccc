/*
 * process_root: files of other processes: where they are, and who may read what shows their
 * contents.
 */
#ifndef BASE_PROCESS_ROOT_H
#define BASE_PROCESS_ROOT_H

#include <stdbool.h>
#include <sys/stat.h>

#include <go2heapsnapshot/bytes.h>

/* ==== opens the files of another process by the paths that /proc has for them ====
 *
 * The process may have another root directory than this program. Such paths begin at this program's
 * root if it can see the file from there (chroot), and otherwise at the process's own (in a
 * container).
 */

/* Returns the path by which this program can open a file of a process: "/proc/1234/root/opt/app" of
 * the process "/proc/1234"; the caller frees it. Returns NULL if memory runs out. */
char *process_root_path(const char *process, struct g2h_bytes path);

/* ==== who may read a file that shows the contents of another one ==== */

/* Removes the group's permissions that others do not have. A file that gets another group keeps
 * only the result. */
static inline mode_t permissions_of_other_group(mode_t mode)
{
    return mode & (0707 | (mode & 7) << 3);
}

/*
 * Returns the widest permissions that a file of a group may have if it shows the contents of a
 * dump, given what fstat() reported for the dump: those of the dump. If the dump's group differs,
 * the file's group gets no more than others. Only regular files have permissions that count; a pipe
 * allows everything, and so does NULL.
 */
static inline mode_t permissions_most(const struct stat *dump, gid_t group)
{
    if (!dump || !S_ISREG(dump->st_mode))
        return 0777;
    const mode_t most = 0700 | (dump->st_mode & 077);
    return group == dump->st_gid ? most : permissions_of_other_group(most);
}

#endif
