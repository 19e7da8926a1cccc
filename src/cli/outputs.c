/*
 * outputs: the files that a conversion writes; see outputs.h. The parts: the one file of a format,
 * or the several that it has in a directory, which appear when all are complete (target.h); the
 * first and last dump that --watch keeps; and the paths of the snapshots of a series.
 */
#include "cli/outputs.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <go2heapsnapshot/output.h>

#include "base/error.h"
#include "cli/messages.h"

/* ==== the file of a format or, for a format that has several files, the files in a directory ====
 */

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

/* Creates a directory unless it exists. what_for names its user, for a message. */
struct g2h_error *directory_make(const char *path, const char *what_for,
                                 struct target_directory *ret)
{
    return target_make_directory(path, ret) ? NULL : directory_explain(path, what_for);
}

/* Returns the path of a file in a directory. Joins both with one slash; ".gz" is appended if gzip
 * is set. NULL: memory has run out. */
char *directory_path(const char *directory, const char *name, bool gzip)
{
    const size_t end = strlen(directory);
    const char *between = end > 0 && directory[end - 1] == '/' ? "" : "/";
    char *path = NULL;
    const int size = asprintf(&path, "%s%s%s%s", directory, between, name, gzip ? ".gz" : "");
    return size < 0 ? NULL : path;
}

/* Opens a path (NULL: standard output) as the next target, which must be none of the sources. It
 * counts after an error, too: outputs_deinit() releases it. */
static struct g2h_error *open_next(struct outputs *outputs, const char *path,
                                   const struct target_source *sources, size_t count)
{
    struct target *target = &outputs->list[outputs->count];
    struct g2h_error *error = target_open(path, sources, count, target);
    outputs->fds[outputs->count++] = target->fd;
    return error;
}

/* Makes a temporary directory beside the output's name and opens the format's files in it; if there
 * is a directory already, the files are opened there. */
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

/* Records the state of a database before something is added to it, for message_narrowed(); the
 * library opens it. Refuses one that is a source, and notes a journal of a program that was
 * killed. */
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

/* Opens the output: of a format with several files a directory, else one file. A database gets a
 * temporary file as well, and ret->database, because SQLite opens files by name; with --append the
 * one that exists is used. */
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

/* Checks that no output is the file of the input. */
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

/* ==== the dumps of the first and the last snapshot of a watched process ==== */

/* Begins to keep dumps in the directory at path, which is created unless it exists. */
struct g2h_error *keep_begin(const char *path, const struct target_source *sources, size_t count,
                             unsigned threads, uint64_t largest_array, struct keep *ret)
{
    *ret = (struct keep){.path = path,
                         .sources = sources,
                         .source_count = count,
                         .threads = threads,
                         .largest_array = largest_array};
    return directory_make(path, "--keep", &ret->directory);
}

/* Writes a dump to an open file, and gives the file its name. A damaged dump is written as far as
 * it goes. gzip is whether it is compressed. */
static struct g2h_error *write_to(struct target *target, const struct keep *keep, bool gzip,
                                  const struct g2h_input *dump)
{
    const struct g2h_output_options options = {.size = sizeof(options),
                                               .fd = target->fd,
                                               .name = target->name,
                                               .gzip = gzip,
                                               .threads = keep->threads,
                                               .largest_array = keep->largest_array};
    struct g2h_error *error = g2h_write_dump(dump, &options);
    if (error && error->code != G2H_ERROR_DAMAGED) /* which its conversion reports */
        return error;
    g2h_error_destroy(error);
    TRY(g2h_input_check(dump));
    return target_complete(target, dump);
}

/* Writes a dump under a name in the directory that is kept; with gzip compressed, which the name's
 * suffix then says. */
static struct g2h_error *write_file(const struct keep *keep, const char *name, bool gzip,
                                    const struct g2h_input *dump)
{
    _cleanup_(target_deinit) struct target target = {.fd = -1};
    _cleanup_free_ char *path = directory_path(keep->path, name, gzip);
    TRY_MEMORY(path);
    TRY(target_open(path, keep->sources, keep->source_count, &target));
    return write_to(&target, keep, gzip, dump);
}

/* Writes the first dump packed, and each other one as the last one, unpacked, as it may be replaced
 * soon: keep_last() packs it. Nothing if none are kept. */
struct g2h_error *keep_dump(struct keep *keep, const struct g2h_input *dump)
{
    const bool is_first = !keep->has_first;
    if (!keep->path)
        return NULL;
    TRY(write_file(keep, is_first ? "first.dump" : "last.dump", is_first, dump));
    keep->has_first = true;
    keep->has_last = !is_first;
    return NULL;
}

/* Packs last.dump into last.dump.gz, and removes it. Nothing if it does not exist. */
struct g2h_error *keep_last(const struct keep *keep)
{
    struct g2h_input *dump;
    if (!keep->has_last)
        return NULL;
    _cleanup_free_ char *path = directory_path(keep->path, "last.dump", false);
    TRY_MEMORY(path);
    TRY(g2h_input_open(path, NULL, &dump));
    struct g2h_error *error = write_file(keep, "last.dump", true, dump);
    g2h_input_close(dump);
    if (!error && unlink(path) != 0)
        error = error_system(errno, "%s: cannot remove", path);
    return error;
}

void keep_deinit(struct keep *keep)
{
    target_directory_deinit(&keep->directory);
}

/* ==== the paths of a series' snapshots ==== */

/* Returns the size of a name without an ending or, if it does not have that, its size. */
static size_t without(const char *name, size_t size, const char *ending)
{
    const size_t length = strlen(ending);
    return size > length && memcmp(name + size - length, ending, length) == 0 ? size - length
                                                                              : size;
}

/* Returns the path of a dump's snapshot: in the directory of -o, the dump's name without ".dump"
 * and ".gz", and with the suffix of the format. NULL if memory runs out. */
static char *snapshot_path(const struct options *options, const char *dump)
{
    const char *slash = strrchr(dump, '/');
    const char *name = slash ? slash + 1 : dump;
    const size_t end = strlen(options->output);
    size_t size = without(name, strlen(name), ".gz");
    size = without(name, size, ".dump");
    char *path = NULL;
    const char *between = end > 0 && options->output[end - 1] == '/' ? "" : "/";
    const char *suffix = options->json ? ".json" : options->format->suffix;
    const bool is_packed = options->gzip && !options->format->is_compressed;
    if (asprintf(&path, "%s%s%.*s%s%s", options->output, between, as_width(size), name, suffix,
                 is_packed ? ".gz" : "") < 0)
        return NULL;
    return path;
}

/* Orders paths, so that equal ones follow each other. */
static int compare_paths(const void *one, const void *other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

/* Returns an error if two dumps would have the same path. */
static struct g2h_error *check_different(const struct options *options, char *const *paths)
{
    const size_t count = options->input_count;
    _cleanup_free_ char **sorted = malloc(count * sizeof(*sorted));
    TRY_MEMORY(sorted);
    memcpy(sorted, paths, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), compare_paths);
    for (size_t i = 1; i < count; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            return error_create(G2H_ERROR_SYSTEM,
                                "%s: two of the dumps would have this snapshot; give them "
                                "different names",
                                sorted[i]);
    return NULL;
}

/* Makes the paths of a series' snapshots in the directory options->output, which is created if it
 * does not exist. */
struct g2h_error *series_make_paths(const struct options *options, struct series_paths *ret)
{
    ret->list = calloc(options->input_count, sizeof(*ret->list));
    TRY_MEMORY(ret->list);
    for (; ret->count < options->input_count; ret->count++)
        TRY_MEMORY(ret->list[ret->count] = snapshot_path(options, options->inputs[ret->count]));
    TRY(check_different(options, ret->list));
    return directory_make(options->output, "a series of snapshots", &ret->directory);
}

void series_paths_deinit(struct series_paths *paths)
{
    target_directory_deinit(&paths->directory);
    for (size_t i = 0; i < paths->count; i++)
        free(paths->list[i]);
    free(paths->list);
}
