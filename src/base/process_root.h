/*
 * process_root: opens the files of another process by the paths that /proc has for them.
 *
 * The process may have another root directory than this program. Such paths begin at this program's
 * root if it can see the file from there (chroot), and otherwise at the process's own (in a
 * container).
 */
#ifndef BASE_PROCESS_ROOT_H
#define BASE_PROCESS_ROOT_H

#include <go2heapsnapshot/bytes.h>

/* Returns the path by which this program can open a file of a process: "/proc/1234/root/opt/app" of
 * the process "/proc/1234"; the caller frees it. Returns NULL if memory runs out. */
char *process_root_path(const char *process, struct g2h_bytes path);

#endif
