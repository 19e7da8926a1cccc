/*
 * procfs: reads and parses files of /proc; see procfs.h. All of them are read as a whole, since
 * their sizes are not known before. The parts: files of a process or thread, and numbers in them;
 * the files that it has mapped, from /proc/PID/maps or the note NT_FILE of a core; and the
 * processes that it has started.
 */
#include "process/attach/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/error.h"
#include "process/attach/process.h"

/* ==== reads whole files of /proc and of control groups, and parses them ==== */

enum { PIECE = 4096 }; /* the files' sizes are not known in advance */

/* Returns the path of a file of a process or thread in /proc. */
static struct procfs_path procfs_path_of(uint64_t id, const char *name)
{
    struct procfs_path path;
    snprintf(path.text, sizeof(path.text), "/proc/%llu/%s", (unsigned long long)id, name);
    return path;
}

/* Returns whether a process exists that this program may send signals to; otherwise errno is EPERM
 * or ESRCH. */
bool procfs_has_process(uint64_t pid)
{
    if (pid <= INT32_MAX)
        return kill(as_pid(pid), 0) == 0;
    errno = ESRCH;
    return false;
}

uint64_t procfs_page_size(void)
{
    return as_size(sysconf(_SC_PAGESIZE));
}

/* Returns the letter of a thread's state. The name in parentheses may contain anything, so the
 * state follows the last one. */
char procfs_thread_state(uint64_t pid, uint64_t id)
{
    char path[64];
    _cleanup_(text_deinit) struct text stat = {0};
    snprintf(path, sizeof(path), "/proc/%llu/task/%llu/stat", (unsigned long long)pid,
             (unsigned long long)id);
    const char *name_end = procfs_read(path, &stat) == 0 ? strrchr(stat.data, ')') : NULL;
    return name_end && name_end[1] == ' ' ? name_end[2] : '\0';
}

/* Returns whether a thread has exited, or does not exist. */
bool procfs_has_exited(uint64_t pid, uint64_t id)
{
    const char state = procfs_thread_state(pid, id);
    return state == '\0' || state == 'Z' || state == 'X';
}

/* Returns a thread by which /proc shows the process's memory. A process whose first thread has
 * exited goes on, but /proc/PID then shows no memory: another thread does. */
uint64_t procfs_living_thread(uint64_t pid)
{
    if (!procfs_has_exited(pid, pid))
        return pid;
    _cleanup_(procfs_close) DIR *tasks = opendir(procfs_path_of(pid, "task").text);
    for (uint64_t id; (id = procfs_next_number(tasks)) != 0;)
        if (id != pid && !procfs_has_exited(pid, id))
            return id;
    return pid;
}

/* Returns whether a file of /proc/PID shows resources that a thread gives up when it exits: memory
 * and open files. */
static bool is_given_up(const char *name)
{
    static const char *const names[] = {"auxv",    "exe",  "fd",    "maps",  "mem",
                                        "pagemap", "root", "smaps", "status"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Returns the path of a file below /proc/PID, or of a thread that lives if the first has exited and
 * the file is one that it then lacks. */
struct procfs_path procfs_path(uint64_t pid, const char *name)
{
    return procfs_path_of(is_given_up(name) ? procfs_living_thread(pid) : pid, name);
}

/* Reads a file to its end, and terminates the string. Returns 0 or an errno value. */
static int procfs_read_all(int fd, struct text *ret)
{
    for (;;) {
        if (ret->capacity - ret->size < PIECE && !text_grow(ret, PIECE))
            return ENOMEM;
        const ssize_t count = read(fd, ret->data + ret->size, PIECE - 1);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return errno;
        ret->size += as_size(count);
        ret->data[ret->size] = '\0';
        if (count == 0)
            return 0;
    }
}

/* Reads a file, NUL-terminated, and replaces the text's contents. Returns 0 or an errno value. */
int procfs_read(const char *path, struct text *ret)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    ret->size = 0;
    if (fd < 0)
        return errno;
    const int error = procfs_read_all(fd, ret);
    close(fd);
    return error;
}

int procfs_read_of(uint64_t pid, const char *name, struct text *ret)
{
    return procfs_read(procfs_path(pid, name).text, ret);
}

/* Reads the name of a process, which its program may set to anything: /proc/PID/comm, without the
 * newline. Returns 0 or an errno value. */
int procfs_read_name(uint64_t pid, struct text *ret)
{
    const int error = procfs_read_of(pid, "comm", ret);
    if (error == 0 && ret->size > 0 && ret->data[ret->size - 1] == '\n')
        ret->data[--ret->size] = '\0';
    return error;
}

/* Reads the name of a process's program. The kernel cuts a process's name to 15 characters; the
 * name of its executable completes it if it begins with them. Returns 0 or an errno value. */
int procfs_read_whole_name(uint64_t pid, struct text *ret)
{
    enum { CUT = 15 /* the kernel's TASK_COMM_LEN without the null */ };
    char exe[4096];
    const int error = procfs_read_name(pid, ret);
    if (error != 0 || ret->size != CUT)
        return error;
    const ssize_t size = readlink(procfs_path(pid, "exe").text, exe, sizeof(exe) - 1);
    exe[MAX(size, 0)] = '\0';
    const char *slash = strrchr(exe, '/');
    const char *name = slash ? slash + 1 : exe;
    const size_t length = strcspn(name, " "); /* "server (deleted)" */
    if (length <= CUT || strncmp(name, ret->data, CUT) != 0)
        return 0;
    ret->size = 0;
    text_append(ret, name, length);
    text_append(ret, "", 1);
    ret->size = length;
    return ret->failed ? ENOMEM : 0;
}

/* Returns the next entry whose name is a number, or 0 at the end. */
uint64_t procfs_next_number(DIR *directory)
{
    const struct dirent *entry;
    uint64_t number;
    while (directory && (entry = readdir(directory)) != NULL) {
        const char *at = entry->d_name;
        if (procfs_take_number(&at, 10, &number) && *at == '\0')
            return number;
    }
    return 0;
}

void procfs_close(DIR **directory)
{
    if (*directory)
        closedir(*directory);
}

/* Returns what follows the key at the begin of a line, without blanks, or NULL if no line has
 * it. */
const char *procfs_value(const struct text *file, const char *key)
{
    const size_t size = strlen(key);
    for (const char *line = file->size > 0 ? file->data : NULL; line;) {
        if (strncmp(line, key, size) == 0)
            return line + size + strspn(line + size, " \t");
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return NULL;
}

/* Returns the number after a key, or UINT64_MAX if there is none. */
uint64_t procfs_number(const struct text *file, const char *key)
{
    const char *at = procfs_value(file, key);
    uint64_t number;
    return at && procfs_take_number(&at, 10, &number) ? number : UINT64_MAX;
}

/* Reads a number of /proc/PID/stat, by the number of its field in proc(5). Counts fields from the
 * end of the name, which may have blanks itself. UINT64_MAX: not known. */
uint64_t procfs_stat_number(uint64_t pid, unsigned field)
{
    _cleanup_(text_deinit) struct text stat = {0};
    const char *at = procfs_read_of(pid, "stat", &stat) == 0 ? strrchr(stat.data, ')') : NULL;
    uint64_t value;
    for (unsigned i = 2; at && i < field; i++) {
        at = strchr(at, ' ');
        at += at != NULL;
    }
    return at && procfs_take_number(&at, 10, &value) ? value : UINT64_MAX;
}

/* Returns the value of an entry of the auxiliary vector (getauxval(3)) by its key, or 0. */
uint64_t procfs_auxv(uint64_t pid, uint64_t type)
{
    _cleanup_(text_deinit) struct text vector = {0};
    uint64_t entry[2];
    if (procfs_read_of(pid, "auxv", &vector) != 0)
        return 0;
    for (size_t at = 0; vector.size - at >= sizeof(entry); at += sizeof(entry)) {
        memcpy(entry, vector.data + at, sizeof(entry));
        if (entry[0] == type)
            return entry[1];
    }
    return 0;
}

/* Returns the value of a digit, or 255 if the character is not a digit. */
static unsigned digit(char character)
{
    if (character >= '0' && character <= '9')
        return (unsigned)(character - '0');
    if (character >= 'a' && character <= 'f')
        return (unsigned)(character - 'a') + 10;
    return 255;
}

/* Parses a number in base 10 or 16, and moves *at to what follows it and the blanks after it.
 * Returns false, and moves nothing, if there is none, or if it needs more than 64 bits. */
bool procfs_take_number(const char **at, unsigned base, uint64_t *ret)
{
    const char *next = *at;
    uint64_t value = 0;
    for (; digit(*next) < base; next++) {
        if (value > (UINT64_MAX - digit(*next)) / base)
            return false;
        value = value * base + digit(*next);
    }
    if (next == *at)
        return false;
    *at = next + strspn(next, " \t");
    *ret = value;
    return true;
}

/* ==== the files that a process has mapped: its executable, shared libraries, and data ==== */

/* Parses a line of maps: start-end perms offset device inode path. Returns whether it maps a file:
 * the path begins with a slash. Addresses and the offset are in bytes. */
static bool mapped_parse_line(const char *at, struct mapped_file *ret)
{
    uint64_t start, end, offset, inode;
    if (!procfs_take_number(&at, 16, &start) || *at++ != '-' ||
        !procfs_take_number(&at, 16, &end) || start >= end)
        return false;
    at += strcspn(at, " \n");
    at += strspn(at, " ");
    if (!procfs_take_number(&at, 16, &offset))
        return false;
    at += strcspn(at, " \n");
    at += strspn(at, " ");
    if (!procfs_take_number(&at, 10, &inode) || *at != '/')
        return false;
    *ret =
        (struct mapped_file){start, end - start, offset, {(const uint8_t *)at, strcspn(at, "\n")}};
    return true;
}

/* Lists the mapped files of /proc/PID/maps, of which ret's paths are parts. Returns false if memory
 * runs out. */
bool mapped_parse_maps(const char *maps, struct mapped_files *ret)
{
    for (const char *line = maps; line && *line;) {
        struct mapped_file file;
        if (mapped_parse_line(line, &file) && !vector_push(ret, file))
            return false;
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return true;
}

static int mapped_compare(const void *a, const void *b)
{
    const struct mapped_file *one = a;
    const struct mapped_file *other = b;
    return COMPARE(one->address, other->address);
}

/* Finds the mapped files in a core's note. NT_FILE has a count and the size of a page, three words
 * for each mapping, the last of which counts pages, and then all names. None if the count does not
 * fit into the note; as many as have names if that is cut. Returns false if memory runs out. */
bool mapped_parse_note(struct g2h_bytes note, struct mapped_files *ret)
{
    enum { HEADER = 16, ENTRY = 24 }; /* bytes: two words, and three */
    const uint64_t count = note.size >= HEADER ? memory_number(note.data, 8) : 0;
    if (count == 0 || count > (note.size - HEADER) / ENTRY)
        return true;
    const uint64_t page = memory_number(note.data + 8, 8);
    uint64_t name = HEADER + count * ENTRY;
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *mapping = note.data + HEADER + i * ENTRY;
        const uint8_t *path = note.data + name;
        const uint8_t *path_end =
            name < note.size ? memchr(path, 0, (size_t)(note.size - name)) : NULL;
        const uint64_t start = memory_number(mapping, 8);
        const uint64_t end = memory_number(mapping + 8, 8);
        if (!path_end)
            break;
        const struct mapped_file file = {start,
                                         end - start,
                                         memory_number(mapping + 16, 8) * page,
                                         {path, as_size(path_end - path)}};
        if (start < end && !vector_push(ret, file))
            return false;
        name = as_size(path_end - note.data) + 1;
    }
    vector_sort(ret, mapped_compare);
    return true;
}

/* Returns the mapping that contains an address, or NULL. files are ascending by address, as maps
 * has them. */
const struct mapped_file *mapped_at(const struct mapped_files *files, uint64_t address)
{
    size_t after;
    BISECT(after, files->count, files->data[after].address <= address);
    const struct mapped_file *file = after > 0 ? &files->data[after - 1] : NULL;
    return file && address - file->address < file->size ? file : NULL;
}

/* ==== the descendants of a process ==== */

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

/* Finds the descendants of a process, at most so many, and returns their number. Searches breadth
 * first: the list of those found is the queue as well. */
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

/* Appends the children of a process to ret, which has *found entries, up to `most` in all. Returns
 * false if the system has no lists of them (CONFIG_PROC_CHILDREN). */
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

/* Finds the descendants of a process, at most `most`. Returns how many. Follows the kernel's lists
 * of children; where there are none, children_find() looks at all processes. */
size_t children_find_quickly(uint64_t pid, uint64_t *ret, size_t most)
{
    size_t found = 0;
    for (size_t at = 0; at <= found && found < most; at++)
        if (!children_list(at == 0 ? pid : ret[at - 1], ret, most, &found))
            return children_find(pid, ret, most);
    return found;
}
