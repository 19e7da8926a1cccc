/* keep; see keep.h. */
#include "cli/keep.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <go2heapsnapshot/output.h>

#include "base/scope.h"
#include "cli/outputs.h"

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

static struct g2h_error *write_file(const struct keep *keep, const char *name, bool gzip,
                                    const struct g2h_input *dump)
{
    _cleanup_(target_deinit) struct target target = {.fd = -1};
    _cleanup_free_ char *path = directory_path(keep->path, name, gzip);
    TRY_MEMORY(path);
    TRY(target_open(path, keep->sources, keep->source_count, &target));
    return write_to(&target, keep, gzip, dump);
}

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
