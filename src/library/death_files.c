/* death_files; see death_files.h. */
#include "library/death_files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/scope.h"
#include "base/text.h"

/* ---- names ---- */

/* Appends the name of a process as a part of a file's name, and a "-". */
static void file_append_program(struct text *name, const char *program)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    for (; *program; program++)
        text_append(name, strchr(allowed, *program) ? program : "_", 1);
    text_append(name, "-", 1);
}

char *death_file_path(const char *directory, const struct death_file *file)
{
    const time_t seconds = (time_t)file->seconds;
    const size_t size = strlen(directory);
    struct text path = {0};
    char when[32];
    struct tm tm;
    strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", gmtime_r(&seconds, &tm));
    text_printf(&path, "%s%s", directory, size > 0 && directory[size - 1] == '/' ? "" : "/");
    file_append_program(&path, file->program);
    text_printf(&path, "%llu-%s%s%s", (unsigned long long)file->pid, when, file->remark,
                file->suffix);
    text_append(&path, "", 1);
    if (path.failed)
        text_deinit(&path);
    return path.data;
}

/* Skips the remark of a name; NULL: it is not one of ours. */
static const char *file_skip_remark(const char *at)
{
    static const char asked[] = "-asked";
    if (*at != '-')
        return at;
    if (strncmp(at, asked, strlen(asked)) == 0)
        return at + strlen(asked);
    for (at++; isdigit((unsigned char)*at); at++)
        ;
    return at[0] == '%' && at[-1] != '-' ? at + 1 : NULL;
}

/* Returns the timestamp in a file's name, which sorts by time, if the name begins and ends like the
 * program's; NULL: another file. */
static const char *file_moment(const char *name, const struct text *begin, const char *suffix)
{
    static const char pattern[] = "ddddddddTddddddZ"; /* d: a digit */
    if (strncmp(name, begin->data, begin->size) != 0)
        return NULL;
    const char *at = name + begin->size;
    while (isdigit((unsigned char)*at))
        at++;
    if (at == name + begin->size || *at != '-')
        return NULL;
    const char *const moment = ++at;
    for (const char *want = pattern; *want; want++, at++)
        if (*want == 'd' ? !isdigit((unsigned char)*at) : *at != *want)
            return NULL;
    at = file_skip_remark(at);
    return at && strcmp(at, suffix) == 0 ? moment : NULL;
}

/* ---- how many there are ---- */

struct kept_file {
    char *name;         /* from malloc() */
    const char *moment; /* in it */
};

struct kept_files {
    VECTOR(struct kept_file) list;
};

static void kept_files_deinit(struct kept_files *files)
{
    for (size_t i = 0; i < files->list.count; i++)
        free(files->list.data[i].name);
    free(files->list.data);
}

static int kept_files_compare(const void *a, const void *b)
{
    const struct kept_file *one = a, *other = b;
    const int order = strcmp(one->moment, other->moment);
    return order != 0 ? order : strcmp(one->name, other->name);
}

/* What to look for in a directory. */
struct kept_search {
    int directory;
    const struct text *begin; /* of the names */
    const char *suffix, *last;
};

/* Adds a file of the directory if it is one of the program's, but not the last one. */
static bool kept_files_add(struct kept_files *files, const struct kept_search *search,
                           const char *name)
{
    struct stat status;
    const char *moment = file_moment(name, search->begin, search->suffix);
    if (!moment || strcmp(name, search->last) == 0 ||
        fstatat(search->directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(status.st_mode))
        return true;
    char *own = strdup(name);
    if (!own)
        return false;
    if (vector_push(&files->list, ((struct kept_file){own, own + (moment - name)})))
        return true;
    free(own);
    return false;
}

static void directory_close(DIR **directory)
{
    if (*directory)
        closedir(*directory);
}

struct g2h_error *death_files_trim(const char *path, const struct death_file *last, uint64_t most,
                                   uint64_t *ret)
{
    _cleanup_(directory_close) DIR *directory = opendir(path);
    _cleanup_(kept_files_deinit) struct kept_files files = {0};
    _cleanup_(text_deinit) struct text begin = {0};
    _cleanup_free_ char *last_path = death_file_path("", last);
    const struct dirent *entry;
    assert(most > 0); /* `last` stays */
    *ret = 0;
    if (!directory)
        return error_system(errno, "%s: cannot read the directory", path);
    file_append_program(&begin, last->program);
    TRY_MEMORY(!begin.failed && last_path);
    const struct kept_search search = {dirfd(directory), &begin, last->suffix, last_path + 1};
    while ((errno = 0, entry = readdir(directory)))
        TRY_MEMORY(kept_files_add(&files, &search, entry->d_name));
    if (errno != 0)
        return error_system(errno, "%s: cannot read the directory", path);
    vector_sort(&files.list, kept_files_compare);
    for (; files.list.count - *ret + 1 > most && *ret < files.list.count; (*ret)++) {
        const char *name = files.list.data[*ret].name;
        if (unlinkat(dirfd(directory), name, 0) != 0 && errno != ENOENT)
            return error_system(errno, "%s/%s: cannot remove", path, name);
    }
    return NULL;
}

uint64_t death_files_room(const char *directory)
{
    struct statvfs status;
    return statvfs(directory, &status) == 0 ? (uint64_t)status.f_bavail * status.f_frsize
                                            : UINT64_MAX;
}
