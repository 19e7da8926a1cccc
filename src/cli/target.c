/* target; see target.h. */
#include "cli/target.h"

#include <errno.h>
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

struct g2h_error *target_open(const char *path, struct target *ret)
{
    struct stat status;
    *ret = (struct target){.fd = STDOUT_FILENO, .name = "standard output", .path = path};
    if (!path)
        return NULL;
    ret->name = path;
    if (stat(path, &status) == 0 &&
        !S_ISREG(status.st_mode)) { /* a device or a pipe is written to, not replaced */
        FILE *file = fopen(path, "w");
        if (!file)
            return error_system(errno, "%s: cannot write", path);
        ret->fd = fileno(file);
        return NULL;
    }
    char *real = realpath(
        path, NULL); /* what a symbolic link points to; NULL where there is no such file yet */
    size_t size = strlen(real ? real : path) + sizeof(".XXXXXX");
    ret->path = ret->real_path = real ? real : strdup(path);
    ret->temporary_path = malloc(size);
    if (!ret->path || !ret->temporary_path) {
        target_deinit(ret);
        return &error_no_memory;
    }
    snprintf(ret->temporary_path, size, "%s.XXXXXX", ret->path);
    ret->fd = mkstemp(ret->temporary_path);
    if (ret->fd < 0) {
        struct g2h_error *error = error_system(errno, "%s: cannot write", path);
        free(ret->temporary_path);
        ret->temporary_path = NULL;
        target_deinit(ret);
        return error;
    }
    if (size <= sizeof(unfinished))
        memcpy(unfinished, ret->temporary_path, size);
    mode_t mask = umask(0); /* mkstemp() gives 0600 whatever the mask */
    umask(mask);
    fchmod(ret->fd, 0666 & ~mask);
    return NULL;
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
