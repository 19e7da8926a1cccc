/*
 * open: opens a dump, without copying more of it than a reader can use.
 *
 * A file that is compressed or not regular is copied first. Neither reveals its size beforehand:
 * /dev/zero has no end, and gzip expands one byte to a thousand. So a reader reads the first bytes
 * that have been copied, and later a part of the further ones. If it cannot read on, it never will,
 * and copying ends. A core file is copied up to the size that its headers state.
 */
#include "input/input.h"

#include "base/error.h"
#include "dump/reader.h"
#include "input/magic.h"

enum {
    /* This much of a file that is not a dump is copied, so that foreign.c can identify its kind. */
    FOREIGN_SIZE = 1 << 24,
    /* This much is copied of a file whose first records can be read, and then TRUSTED_RATIO bytes
     * for each byte that the reader has read: reading all of it twice would be slow. */
    TRUSTED_SIZE = 1 << 26,
    TRUSTED_RATIO = 16,
};

struct open_watch {
    struct g2h_reader *reader;
    uint64_t offset; /* the reader's position */
};

/* Reads on to an offset. Returns false at the end of the dump, and if it is damaged. *ret_is_cut:
 * it may only look damaged because the rest has not been copied yet. */
static bool read_to(struct open_watch *watch, uint64_t offset, bool *ret_is_cut)
{
    struct g2h_reader *reader = watch->reader;
    struct g2h_record record;
    *ret_is_cut = false;
    while (watch->offset < offset) {
        if (reader->has_params && reader_next_object(reader, &record.object)) {
            watch->offset = reader_offset(reader);
            continue;
        }
        struct g2h_error *error = g2h_reader_next(reader, &record);
        if (error) {
            *ret_is_cut = error->code == G2H_ERROR_DAMAGED && reader->is_cut;
            g2h_error_destroy(error);
            return *ret_is_cut;
        }
        watch->offset = reader_offset(reader);
        if (reader->at_end)
            return false;
    }
    return true;
}

/* Decides, each time that more of a file has been copied, up to which size copying may go on; 0: no
 * further, since the reader has come to the end or cannot read on. A file that is not a dump is
 * copied only so far that its kind can be told. */
static uint64_t dump_open_look(void *context, const struct g2h_input *so_far, uint64_t taken)
{
    struct open_watch *watch = context;
    const uint64_t size = so_far->size, enough = 0;
    bool is_cut;
    (void)taken;
    if (watch->reader) {
        reader_seek_again(watch->reader, watch->offset);
    } else {
        struct g2h_error *error = g2h_reader_create(so_far, &watch->reader);
        if (error) {
            const uint64_t core = magic_core_size(so_far->data, size);
            g2h_error_destroy(error);
            return core > FOREIGN_SIZE ? core : FOREIGN_SIZE;
        }
        watch->offset = reader_offset(watch->reader);
    }
    const uint64_t begin = watch->offset;
    if (!read_to(watch, size / (TRUSTED_RATIO / 2), &is_cut)) {
        /* A dump of 2013 may be recognizable only by its end. */
        const bool is_unknown = watch->offset == begin && watch->reader->layout == &layout_1_3;
        return is_unknown && size < TRUSTED_SIZE ? TRUSTED_SIZE : enough;
    }
    uint64_t limit = watch->offset * TRUSTED_RATIO;
    if (is_cut && limit <= 2 * size)
        limit = 2 * size; /* a record is as long as the reader permits */
    return limit < TRUSTED_SIZE ? TRUSTED_SIZE : limit;
}

struct g2h_error *g2h_input_open(const char *path, const struct g2h_progress *progress,
                                 struct g2h_input **ret)
{
    struct open_watch watch = {0};
    const struct input_watcher watcher = {dump_open_look, &watch};
    struct g2h_error *error = input_open(path, progress, &watcher, ret);
    g2h_reader_destroy(watch.reader);
    return error;
}
