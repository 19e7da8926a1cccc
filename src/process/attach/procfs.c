/* procfs; see procfs.h. */
#include "process/attach/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/scope.h"

enum { PIECE = 4096 }; /* the files' sizes are not known in advance */

/* Returns the path of a file of a process or thread in /proc. */
static struct procfs_path procfs_path_of(uint64_t id, const char *name)
{
    struct procfs_path path;
    snprintf(path.text, sizeof(path.text), "/proc/%llu/%s", (unsigned long long)id, name);
    return path;
}

/* The name in parentheses may contain anything, so the state follows the last one. */
char procfs_thread_state(uint64_t pid, uint64_t id)
{
    char path[64];
    _cleanup_(text_deinit) struct text stat = {0};
    snprintf(path, sizeof(path), "/proc/%llu/task/%llu/stat", (unsigned long long)pid,
             (unsigned long long)id);
    const char *name_end = procfs_read(path, &stat) == 0 ? strrchr(stat.data, ')') : NULL;
    return name_end && name_end[1] == ' ' ? name_end[2] : '\0';
}

bool procfs_has_exited(uint64_t pid, uint64_t id)
{
    const char state = procfs_thread_state(pid, id);
    return state == '\0' || state == 'Z' || state == 'X';
}

/* A process whose first thread has exited goes on, but /proc/PID then shows no memory: another
 * thread does. */
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
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

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
        ret->size += (size_t)count;
        ret->data[ret->size] = '\0';
        if (count == 0)
            return 0;
    }
}

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

int procfs_read_name(uint64_t pid, struct text *ret)
{
    const int error = procfs_read_of(pid, "comm", ret);
    if (error == 0 && ret->size > 0 && ret->data[ret->size - 1] == '\n')
        ret->data[--ret->size] = '\0';
    return error;
}

/* The kernel cuts a process's name to 15 characters; the name of its executable completes it if it
 * begins with them. */
int procfs_read_whole_name(uint64_t pid, struct text *ret)
{
    enum { CUT = 15 };
    char exe[4096];
    const int error = procfs_read_name(pid, ret);
    if (error != 0 || ret->size != CUT)
        return error;
    const ssize_t size = readlink(procfs_path(pid, "exe").text, exe, sizeof(exe) - 1);
    exe[size > 0 ? size : 0] = '\0';
    const char *slash = strrchr(exe, '/'), *name = slash ? slash + 1 : exe;
    const size_t length = strcspn(name, " "); /* "server (deleted)" */
    if (length <= CUT || strncmp(name, ret->data, CUT) != 0)
        return 0;
    ret->size = 0;
    text_append(ret, name, length);
    text_append(ret, "", 1);
    ret->size = length;
    return ret->failed ? ENOMEM : 0;
}

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

uint64_t procfs_number(const struct text *file, const char *key)
{
    const char *at = procfs_value(file, key);
    uint64_t number;
    return at && procfs_take_number(&at, 10, &number) ? number : UINT64_MAX;
}

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

/* Skips blanks after the number, too. A number that overflows is refused. */
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
