/* outputs; see outputs.h. */
#include "cli/outputs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/scope.h"
#include "cli/messages.h"

/* Returns, by errno, why a directory could not be created; NULL: it exists already. */
static struct g2h_error *directory_explain(const char *path, const char *what_for)
{
    struct stat status;
    if (errno != EEXIST)
        return error_system(errno, "%s: cannot create the directory", path);
    if (stat(path, &status) < 0)
        return error_system(errno, "%s: cannot write", path);
    return S_ISDIR(status.st_mode)
               ? NULL
               : error_create(G2H_ERROR_SYSTEM, "%s: is not a directory, which %s needs", path,
                              what_for);
}

struct g2h_error *directory_make(const char *path, const char *what_for,
                                 struct target_directory *ret)
{
    return target_make_directory(path, ret) ? NULL : directory_explain(path, what_for);
}

char *directory_path(const char *directory, const char *name, bool gzip)
{
    const size_t end = strlen(directory);
    const char *between = end > 0 && directory[end - 1] == '/' ? "" : "/";
    char *path = NULL;
    return asprintf(&path, "%s%s%s%s", directory, between, name, gzip ? ".gz" : "") < 0 ? NULL
                                                                                        : path;
}

/* Opens the next target. It counts after an error, too: outputs_deinit() releases it. */
static struct g2h_error *open_next(struct outputs *outputs, const char *path,
                                   const struct target_source *sources, size_t count)
{
    struct target *target = &outputs->list[outputs->count];
    struct g2h_error *error = target_open(path, sources, count, target);
    outputs->fds[outputs->count++] = target->fd;
    return error;
}

static struct g2h_error *open_in_directory(struct outputs *outputs, const struct options *options,
                                           const struct target_source *sources, size_t count)
{
    const struct g2h_format *format = options->format;
    struct target_directory *directory = &outputs->directory;
    if (!target_make_directory_beside(outputs->name, directory))
        TRY(directory_explain(outputs->name, format->name));
    const char *path = directory->temporary_path ? directory->temporary_path : outputs->name;
    for (unsigned i = 0; i < G2H_MOST_FILES && format->files[i]; i++) {
        outputs->names[i] = directory_path(outputs->name, format->files[i], options->gzip);
        outputs->paths[i] = directory_path(path, format->files[i], options->gzip);
        TRY_MEMORY(outputs->names[i] && outputs->paths[i]);
        TRY(open_next(outputs, outputs->paths[i], sources, count));
        outputs->list[i].name = outputs->names[i];
    }
    return NULL;
}

/* Remembers the state of the file before something is added to it. */
static struct g2h_error *open_to_append(struct outputs *outputs, const char *path,
                                        const struct target_source *sources, size_t count)
{
    struct target *target = &outputs->list[0];
    *target = (struct target){.fd = -1, .name = path};
    target->exists = stat(path, &target->status) == 0;
    TRY(target_refuse(path, sources, count));
    if (target->exists && target_has_journal(path))
        say("go2heapsnapshot: note: %s-journal: a program that changed %s was killed, or changes "
            "it "
            "now; what it has not completed is undone",
            path, path);
    return NULL;
}

struct g2h_error *outputs_open(const struct options *options, const char *path,
                               const struct target_source *sources, size_t count,
                               struct outputs *ret)
{
    *ret = (struct outputs){.name = path ? path : "standard output"};
    if (!options->is_dump && options->format->is_file) /* SQLite opens its file by its name */
        ret->database = path;
    if (ret->database)
        TRY(target_refuse_database(path, !options->append, sources, count));
    if (options->append)
        return open_to_append(ret, path, sources, count);
    return path && !options->is_dump && options->format->files[0]
               ? open_in_directory(ret, options, sources, count)
               : open_next(ret, path, sources, count);
}

struct g2h_error *outputs_check(const struct outputs *outputs, const struct g2h_input *input,
                                const char *what)
{
    for (unsigned i = 0; i < outputs->count; i++)
        TRY(target_check(&outputs->list[i], input, what));
    return outputs->database ? target_check_database(outputs->database, input, what) : NULL;
}

struct g2h_error *outputs_complete(struct outputs *outputs, const struct target_read *read)
{
    return target_directory_complete(&outputs->directory, outputs->list, outputs->paths,
                                     outputs->count, read);
}

void outputs_deinit(struct outputs *outputs)
{
    for (unsigned i = 0; i < outputs->count; i++)
        target_deinit(&outputs->list[i]);
    for (unsigned i = 0; i < G2H_MOST_FILES; i++) {
        free(outputs->paths[i]);
        free(outputs->names[i]);
    }
    target_directory_deinit(&outputs->directory);
    *outputs = (struct outputs){.count = 0};
}
