/* keep; see keep.h. */
#include "cli/keep.h"

#include <stdlib.h>

#include <go2heapsnapshot/output.h>

#include "base/scope.h"
#include "cli/outputs.h"

struct g2h_error *keep_begin(const char *path, const struct target_source *sources, size_t count,
                             unsigned threads, struct keep *ret)
{
    *ret =
        (struct keep){.path = path, .sources = sources, .source_count = count, .threads = threads};
    return directory_make(path, "--keep", &ret->directory);
}

static struct g2h_error *write_to(struct target *target, const struct keep *keep,
                                  const struct g2h_input *dump)
{
    const struct g2h_output_options options = {.size = sizeof(options),
                                               .fd = target->fd,
                                               .name = target->name,
                                               .gzip = true,
                                               .threads = keep->threads};
    TRY(g2h_write_dump(dump, &options));
    TRY(g2h_input_check(dump));
    return target_complete(target, dump);
}

static struct g2h_error *write_file(const struct keep *keep, const char *name,
                                    const struct g2h_input *dump)
{
    _cleanup_(target_deinit) struct target target = {.fd = -1};
    _cleanup_free_ char *path = directory_path(keep->path, name, true);
    TRY_MEMORY(path);
    TRY(target_open(path, keep->sources, keep->source_count, &target));
    return write_to(&target, keep, dump);
}

struct g2h_error *keep_first(const struct keep *keep, const struct g2h_input *dump)
{
    return write_file(keep, "first.dump", dump);
}

void keep_later(struct keep *keep, struct g2h_input *dump)
{
    g2h_input_close(keep->last);
    keep->last = dump;
}

struct g2h_error *keep_last(const struct keep *keep)
{
    return keep->last ? write_file(keep, "last.dump", keep->last) : NULL;
}

void keep_deinit(struct keep *keep)
{
    g2h_input_close(keep->last);
    target_directory_deinit(&keep->directory);
    keep->last = NULL;
}
