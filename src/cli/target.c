/* target; see target.h. */
#include "cli/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

static char unfinished[4096]; /* path of the temporary file, for the signal handler */

void target_remove_unfinished(void)
{
    if (unfinished[0])
        unlink(unfinished);
}

/* A new file beside path, or beside what a symbolic link at path points to. */
static struct g2h_error *open_temporary(const char *path, mode_t mode, struct target *ret)
{
    struct stat status;
    char *real = realpath(path, NULL); /* NULL where there is no such file yet */
    size_t size = strlen(real ? real : path) + sizeof(".XXXXXX");
    ret->path = ret->real_path = real ? real : strdup(path);
    char *temporary = malloc(size);
    if (!ret->path || !temporary) {
        free(temporary);
        return &error_no_memory;
    }
    snprintf(temporary, size, "%s.XXXXXX", ret->path);
    ret->fd = mkstemp(temporary);
    if (ret->fd < 0) {
        free(temporary);
        return error_system(errno, "%s: cannot create", path);
    }
    ret->temporary_path = temporary;
    ret->is_named = lstat(path, &status) < 0 || !S_ISLNK(status.st_mode);
    if (size <= sizeof(unfinished))
        memcpy(unfinished, temporary, size);
    fchmod(ret->fd, mode); /* mkstemp() gives 0600 */
    return NULL;
}

struct g2h_error *target_open(const char *path, const char *input, struct target *ret)
{
    struct stat status, input_status;
    mode_t mask = umask(0);
    umask(mask);
    *ret = (struct target){.fd = STDOUT_FILENO, .name = "standard output", .path = path};
    if (!path)
        return NULL;
    ret->name = path;
    if (stat(path, &status) < 0)
        return open_temporary(path, 0666 & ~mask, ret);
    if (stat(input, &input_status) == 0 && status.st_dev == input_status.st_dev &&
        status.st_ino == input_status.st_ino)
        return error_create(G2H_ERROR_SYSTEM,
                            "%s: is the dump itself; give the snapshot another name", path);
    if (S_ISREG(status.st_mode)) /* who may read the file stays as it was */
        return open_temporary(path, status.st_mode & 0777, ret);
    ret->fd = open(path, O_WRONLY | O_CLOEXEC); /* a device or a pipe is written to, not replaced */
    return ret->fd < 0 ? error_system(errno, "%s: cannot write", path) : NULL;
}

struct g2h_error *target_complete(struct target *target)
{
    if (!target->temporary_path)
        return NULL;
    if (close(target->fd) < 0)
        return error_system(errno, "%s: cannot write", target->path);
    target->fd = -1;
    if (rename(target->temporary_path, target->path) < 0)
        return error_system(errno, "%s: cannot write", target->path);
    unfinished[0] = '\0';
    free(target->temporary_path);
    target->temporary_path = NULL;
    return NULL;
}

void target_deinit(struct target *target)
{
    free(target->real_path);
    target->real_path = NULL;
    if (!target->temporary_path)
        return;
    if (target->fd >= 0)
        close(target->fd);
    unlink(target->temporary_path);
    unfinished[0] = '\0';
    free(target->temporary_path);
    target->temporary_path = NULL;
}
