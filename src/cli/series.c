/* series; see series.h. */
#include "cli/series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/scope.h"
#include "cli/outputs.h"

/* Returns the size of a name without an ending, if it has that ending. */
static size_t without(const char *name, size_t size, const char *ending)
{
    const size_t length = strlen(ending);
    return size > length && memcmp(name + size - length, ending, length) == 0 ? size - length
                                                                              : size;
}

/* Returns the path of a dump's snapshot, or NULL if memory runs out. */
static char *snapshot_path(const struct options *options, const char *dump)
{
    const char *slash = strrchr(dump, '/'), *name = slash ? slash + 1 : dump;
    const size_t end = strlen(options->output);
    size_t size = without(name, strlen(name), ".gz");
    size = without(name, size, ".dump");
    char *path = NULL;
    const char *between = end > 0 && options->output[end - 1] == '/' ? "" : "/";
    if (asprintf(&path, "%s%s%.*s%s%s", options->output, between, (int)size, name,
                 options->json ? ".json" : options->format->suffix,
                 options->gzip && !options->format->is_compressed ? ".gz" : "") < 0)
        return NULL;
    return path;
}

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
