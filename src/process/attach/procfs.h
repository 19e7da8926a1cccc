/*
 * procfs: reads whole files of /proc and of control groups, and parses them: also which files a
 * process has mapped, and which processes it has started.
 */
#ifndef ATTACH_PROCFS_H
#define ATTACH_PROCFS_H

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>

#include <go2heapsnapshot/bytes.h>

#include "base/contract.h"
#include "base/memory.h"
#include "base/text.h"

/* ==== reads whole files of /proc and of control groups, and parses them ==== */

/* The path of a file of a process: "/proc/1234/maps". */
struct procfs_path {
    char text[64];
};

/* A process continues when its first thread exits (pthread_exit() in a C program), but then
 * /proc/PID has no memory and no open files: such files are read from a living thread,
 * /proc/TID/maps. */
struct procfs_path procfs_path(uint64_t pid, const char *name);

/* Returns the number of a process or thread as the calls of the system take it, which give none
 * that is above INT32_MAX. */
static inline int32_t as_pid(uint64_t id)
{
    assert(id <= INT32_MAX);
    return (int32_t)id;
}

/* Returns a number that a call of the system has given, which is none of its errors. */
static inline uint64_t pid_number(int32_t id)
{
    assert(id >= 0);
    return (uint64_t)id;
}

/* Returns whether a process exists that this program may send signals to; otherwise errno is EPERM
 * or ESRCH. Any number may be asked for. */
bool procfs_has_process(uint64_t pid);

/* Returns the size of a page of memory in bytes. */
uint64_t procfs_page_size(void);

/* Returns the letter of a thread's state, or '\0' if the process has no such thread. */
char procfs_thread_state(uint64_t pid, uint64_t id);

/* Returns whether a thread has exited, or does not exist. */
bool procfs_has_exited(uint64_t pid, uint64_t id);

/* Returns a thread of a process that has not exited: the first one, whose id is pid, if possible.
 * Returns pid if none lives. */
uint64_t procfs_living_thread(uint64_t pid);

/* Reads a file, NUL-terminated, and replaces the text's contents. Returns 0 or an errno value. */
int procfs_read(const char *path, struct text *ret);

/* Does the same for a file of a process. */
int procfs_read_of(uint64_t pid, const char *name, struct text *ret);

/* Reads the name of a process, which its program may set to anything: /proc/PID/comm, without the
 * newline. Returns 0 or an errno value. */
int procfs_read_name(uint64_t pid, struct text *ret);

/* Does the same, but if the kernel has cut the name of the executable to that, which it does after
 * 15 bytes, the text is the whole name. */
int procfs_read_whole_name(uint64_t pid, struct text *ret);

/* Returns the next number among the names in a directory, such as /proc and /proc/PID/task; 0:
 * there is none, or the directory is NULL. */
uint64_t procfs_next_number(DIR *directory);

/* Closes a directory, unless it is NULL; for _cleanup_(). */
void procfs_close(DIR **directory);

/* Returns the value after a key, such as "TracerPid:", and blanks, in the first line that begins
 * with the key, or NULL if no line does. */
const char *procfs_value(const struct text *file, const char *key);

/* Returns the number after a key, or UINT64_MAX if there is none. */
uint64_t procfs_number(const struct text *file, const char *key);

/* Fields of /proc/PID/stat. */
enum { PROCFS_START = 22 /* when the process started, in ticks since the machine did */ };

/* Returns the number in a field of /proc/PID/stat, which are counted from 1 (proc(5)), or
 * UINT64_MAX. The name, field 2, may have blanks and parentheses. */
uint64_t procfs_stat_number(uint64_t pid, unsigned field);

/* Returns the value of a type (AT_…) in the auxiliary vector of a 64-bit process, or 0 if it is
 * missing. */
uint64_t procfs_auxv(uint64_t pid, uint64_t type);

/* Parses the digits of a number, and the blanks after them, from *at. Returns false if there are no
 * digits, or if the number does not fit in 64 bits. */
bool procfs_take_number(const char **at, unsigned base, uint64_t *ret);

/* ==== the files that a process has mapped: its executable, shared libraries, and data ====
 *
 * /proc/PID/maps of a live process and the note NT_FILE of a core list them. They show where a
 * library is in the process; the program's entry point (AT_ENTRY) shows it only for the executable.
 */

struct mapped_file {
    uint64_t address, size;
    uint64_t offset;       /* in the file */
    struct g2h_bytes path; /* in the parsed text or note; may end with " (deleted)" */
};

struct mapped_files {
    struct mapped_file *data;
    size_t count, capacity;
};

/* Sets the files in the contents of /proc/PID/maps. Returns false if memory runs out. */
bool mapped_parse_maps(const char *maps, struct mapped_files *ret);

/* Sets the files in the contents of NT_FILE, ascending, as far as these are valid. Returns false if
 * memory runs out. */
bool mapped_parse_note(struct g2h_bytes note, struct mapped_files *ret);

/* Returns the mapping that contains an address, or NULL. files are ascending by address, as maps
 * has them. */
const struct mapped_file *mapped_at(const struct mapped_files *files, uint64_t address);

/* ==== the descendants of a process ==== */

/* Finds the descendants of a process by the parents in proc(5), children before grandchildren.
 * Stores at most most of them, and returns how many. Finds none if /proc cannot be read or memory
 * runs out. */
size_t children_find(uint64_t pid, uint64_t *ret, size_t most);

/* Does the same in a fraction of the time, by the lists of each process's children. It may miss
 * some when others end meanwhile (proc(5)). */
size_t children_find_quickly(uint64_t pid, uint64_t *ret, size_t most);

#endif
