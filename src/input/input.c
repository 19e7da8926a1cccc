/*
 * input: turns any source of bytes into one mapped range.
 *
 * A regular file that is not compressed is mapped directly. Everything else (pipes, gzip …) is
 * spooled to an unlinked temporary file: the modules above may read the bytes any number of times,
 * and the system may write them to disk if memory is short.
 */
#include "input/input.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/port.h"
#include "base/ranges.h"
#include "input/unpack.h"

enum { CHUNK = 1 << 18 /* bytes that are read or unpacked at a time */ };

/* Hints begin at multiples of this: of a page's size on all systems. */
enum { HINT_ALIGNMENT = 1 << 16 };

/* ---- mapping ---- */

/* The open inputs, for g2h_input_fault(), which runs in a signal handler. No program has more of
 * them open at a time. */
static struct g2h_input *mapped[16];

/* Lists an input as mapped, for g2h_input_fault(). If the list is full, the input is not listed,
 * and a fault in it has no explanation. */
static void register_mapped(struct g2h_input *input)
{
    for (size_t i = 0; i < COUNT_OF(mapped); i++) {
        struct g2h_input *none = NULL;
        if (__atomic_compare_exchange_n(&mapped[i], &none, input, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
            return;
    }
}

/* Unmaps an input's bytes and removes it from `mapped`; leaves borrowed bytes, which are the
 * caller's. */
static void unmap(struct g2h_input *input)
{
    if (input->borrowed || input->size == 0)
        return;
    for (size_t i = 0; i < COUNT_OF(mapped); i++)
        if (__atomic_load_n(&mapped[i], __ATOMIC_SEQ_CST) == input)
            __atomic_store_n(&mapped[i], NULL, __ATOMIC_SEQ_CST);
    munmap(not_const(input->data), (size_t)input->size);
    input->size = 0;
}

/* Returns why the bytes at an address of a mapped input cannot be read, or NULL if it is in none;
 * *ret_name is the input's name. Called by the handler of SIGBUS. */
const char *g2h_input_fault(const void *address, const char **ret_name)
{
    for (size_t i = 0; i < COUNT_OF(mapped); i++) {
        const struct g2h_input *input = __atomic_load_n(&mapped[i], __ATOMIC_SEQ_CST);
        const uint64_t offset = input ? (uint64_t)((uintptr_t)address - (uintptr_t)input->data) : 0;
        struct stat status;
        if (!input || offset >= input->size)
            continue;
        *ret_name = input->name;
        if (input->file->is_copy)
            return "its temporary copy cannot be read (set TMPDIR to where there is room)";
        if (fstat(input->file->fd, &status) == 0 && (uint64_t)status.st_size < input->size)
            return "became shorter while it was read";
        return "cannot be read any more";
    }
    return NULL;
}

/* Maps size bytes of a file as the input's bytes; an empty file is not mapped. Errors tell apart a
 * file too large for the machine's addresses, a limit of addresses that is too low (ulimit -v), and
 * others of mmap(). */
static struct g2h_error *map(struct g2h_input *input, int file, uint64_t size)
{
    input->data = (const uint8_t *)"";
    input->size = 0;
    if (size == 0)
        return NULL;
    void *data =
        size > SIZE_MAX ? MAP_FAILED : mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, file, 0);
    if (size > SIZE_MAX || (data == MAP_FAILED && errno == ENOMEM && size > SIZE_MAX / 8))
        return error_create(G2H_ERROR_LIMIT, "%s: too large for this machine's addresses",
                            input->name);
    if (data == MAP_FAILED && errno == ENOMEM)
        return error_create(G2H_ERROR_SYSTEM,
                            "%s: there are no addresses to map its %.0f MB: raise their limit "
                            "(ulimit -v)",
                            input->name, in_millions(size));
    if (data == MAP_FAILED)
        return error_system(errno, "%s: cannot map", input->name);
    input->data = data;
    input->size = size;
    register_mapped(input);
    return NULL;
}

/* Finds the first hole of a sparse file within [from, end), and cuts it to that. Returns false,
 * with an empty hole at end, if there is none. */
bool g2h_input_hole(const struct g2h_input *input, uint64_t from, uint64_t end, uint64_t *ret_begin,
                    uint64_t *ret_end)
{
    struct range hole;
    const bool any = ranges_next(input_holes(input), from, end, &hole);
    *ret_begin = hole.begin;
    *ret_end = hole.end;
    return any;
}

/* Finds the holes of an input's file, which is mapped and not packed. */
static struct g2h_error *input_find_holes(struct g2h_input *input)
{
    TRY_MEMORY(sparse_find_holes(input->file->fd, input->size, &input->file->holes));
    return NULL;
}

/* Returns the ranges of an input that are known to be zeros. */
const struct ranges *input_holes(const struct g2h_input *input)
{
    static const struct ranges none;
    return input->file ? &input->file->holes : &none;
}

/* Gives the system a hint about bytes of an input: if it is ignored, reading is only slower. */
static void input_advise(const struct g2h_input *input, uint64_t begin, uint64_t end, int advice)
{
    const uint64_t first = begin & ~(uint64_t)(HINT_ALIGNMENT - 1);
    if (first < end)
        (void)madvise((void *)((uintptr_t)input->data + first), (size_t)(end - first), advice);
}

/* Has the system read ahead what it lacks of an input, from one hole to the next. Holes, which
 * would become zeros in memory, stay out; after the last one, hole is empty and at the input's end.
 */
static void input_read_ahead(const struct g2h_input *input)
{
#ifdef MADV_WILLNEED
    struct range hole = {0, 0};
    for (uint64_t at = 0; at < input->size; at = hole.end) {
        (void)ranges_next(input_holes(input), at, input->size, &hole);
        input_advise(input, at, hole.begin, MADV_WILLNEED);
    }
#else
    (void)input;
#endif
}

/* Tells the kernel in which order the mapped file will be read; INPUT_ALL also reads it ahead. Does
 * nothing for borrowed bytes. */
void input_expect(const struct g2h_input *input, enum input_order order)
{
    if (input->borrowed)
        return;
    input_advise(input, 0, input->size, order == INPUT_HERE_AND_THERE ? MADV_RANDOM : MADV_NORMAL);
    if (order == INPUT_ALL)
        input_read_ahead(input);
}

/* ---- copying ---- */

struct spool {
    struct g2h_input *input;
    const struct input_watcher *watcher;
    uint64_t limit; /* the watcher is called when the copy has this size */
    bool is_enough; /* the watcher has ended the copying */
    const struct g2h_progress *progress;
    int source, target;
    uint64_t taken, total; /* bytes read from source, and its size; total is 0 if unknown */
    uint64_t size;         /* bytes written to target */
    size_t begin, end;     /* the bytes of buffer that are not used yet */
    size_t unpacked_size;  /* bytes in unpacked that are not written yet */
    uint64_t streams;      /* streams that have ended */
    uint8_t buffer[CHUNK], unpacked[CHUNK];
};

/* Reads more of the source after the unused bytes in the buffer. *ret is false at the end of the
 * file. */
static struct g2h_error *spool_fill(struct spool *spool, bool *ret)
{
    memmove(spool->buffer, spool->buffer + spool->begin, spool->end - spool->begin);
    spool->end -= spool->begin;
    spool->begin = 0;
    for (;;) {
        ssize_t count = read(spool->source, spool->buffer + spool->end, CHUNK - spool->end);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return error_system(errno, "%s: cannot read", spool->input->name);
        spool->end += as_size(count);
        spool->taken += (uint64_t)count;
        *ret = count > 0;
        if (spool->progress)
            spool->progress->update(spool->progress->context, "spooling", spool->taken,
                                    spool->total, 0);
        return NULL;
    }
}

/* Shows the watcher the copy so far; it sets the size at which it is asked again, or that there is
 * enough. */
static struct g2h_error *spool_look(struct spool *spool)
{
    const struct input_watcher *watcher = spool->watcher;
    TRY(map(spool->input, spool->target, spool->size));
    spool->limit = watcher->look(watcher->context, spool->input, spool->taken);
    spool->is_enough = spool->limit <= spool->size;
    unmap(spool->input);
    return NULL;
}

/* Appends bytes to the copy, and shows it to the watcher once it has the size that this waits
 * for. */
static struct g2h_error *spool_write(struct spool *spool, const uint8_t *data, size_t size)
{
    const int error = sparse_write(spool->target, data, size);
    if (error != 0)
        return error_system(error,
                            "%s: cannot write its temporary copy (set TMPDIR to where there is "
                            "room)",
                            spool->input->name);
    spool->size += size;
    return spool->size >= spool->limit ? spool_look(spool) : NULL;
}

/* Copies the source unchanged. A pipe delivers pieces of any size; they are collected, so that the
 * holes do not depend on how fast they came. */
static struct g2h_error *spool_unpacked(struct spool *spool)
{
    for (bool more = true; more && !spool->is_enough;) {
        while (more && spool->end < CHUNK)
            TRY(spool_fill(spool, &more));
        TRY(spool_write(spool, spool->buffer, spool->end));
        spool->begin = spool->end = 0;
    }
    return NULL;
}

/* Returns the method that unpacks bytes, or NULL if they are not packed, or in a way that was not
 * built in: then they are copied unchanged. */
static const struct unpack_method *method_of(const uint8_t *data, uint64_t size)
{
    const struct unpack_method *method = unpack_method_of(data, size);
    return method && method->begin ? method : NULL;
}

/* The stream of a packed file. */
struct unpacker {
    const struct unpack_method *method;
    void *state;
};

static void unpacker_deinit(struct unpacker *unpacker)
{
    if (unpacker->state)
        unpacker->method->end(unpacker->state);
}

/* Writes what has been unpacked. */
static struct g2h_error *write_unpacked(struct spool *spool)
{
    const size_t size = spool->unpacked_size;
    spool->unpacked_size = 0;
    return size > 0 ? spool_write(spool, spool->unpacked, size) : NULL;
}

/* Unpacks the bytes in buffer, as far as the result fits into unpacked, which is written when it is
 * full: streams may be tiny. *ret_moved is whether any bytes were consumed or produced. */
static struct g2h_error *unpack_some(struct spool *spool, const struct unpacker *unpacker,
                                     enum unpack_status *ret_status, bool *ret_moved,
                                     const char **ret_why)
{
    const size_t left = spool->end - spool->begin;
    const size_t space = CHUNK - spool->unpacked_size;
    assert(spool->begin <= spool->end && space > 0); /* what is full has been written */
    struct unpack_buffers buffers = {spool->buffer + spool->begin, left,
                                     spool->unpacked + spool->unpacked_size, space};
    *ret_why = NULL;
    *ret_status = unpacker->method->step(unpacker->state, &buffers, ret_why);
    assert(buffers.in_size <= left && buffers.out_size <= space);
    *ret_moved = buffers.in_size < left || buffers.out_size < space;
    spool->begin = spool->end - buffers.in_size;
    spool->unpacked_size = CHUNK - buffers.out_size;
    return spool->unpacked_size == CHUNK ? write_unpacked(spool) : NULL;
}

/* Reads more of the source, which may block: writes the output so far first, for the watcher. Reads
 * nothing if this has enough. *more becomes false at the end of the file. */
static struct g2h_error *fill_packed(struct spool *spool, bool *more)
{
    TRY(write_unpacked(spool));
    return spool->is_enough ? NULL : spool_fill(spool, more);
}

/* Reads on until there are enough bytes to recognize a stream, or no more come. */
static struct g2h_error *fill_magic(struct spool *spool, bool *more)
{
    while (spool->end - spool->begin < UNPACK_MAGIC && *more && !spool->is_enough)
        TRY(fill_packed(spool, more));
    return NULL;
}

/* Notes that the stream is damaged, and why (NULL: no more is known), or that it is_cut: it ends
 * before its end mark. The conversion goes on with what came before, so no error is returned. */
static struct g2h_error *note_damage(struct spool *spool, const struct unpack_method *method,
                                     bool is_cut, const char *why)
{
    const unsigned long long end = spool->taken;
    const unsigned long long at = end - (spool->end - spool->begin);
    struct g2h_input *input = spool->input;
    if (is_cut)
        input->damage = error_create(G2H_ERROR_DAMAGED, "%s: byte %llu: the %s stream is cut",
                                     input->name, end, method->name);
    else
        input->damage =
            error_create(G2H_ERROR_DAMAGED, "%s: byte %llu: the %s stream is damaged: %s",
                         input->name, at, method->name, why ? why : "bad data");
    return NULL;
}

/* Counts a stream that has ended. Returns whether there are more of them than output bytes, and not
 * just a few: each costs time but yields nothing. */
static bool count_stream_and_see_too_many(struct spool *spool)
{
    enum { FEW = 1 << 16 };
    return ++spool->streams > FEW && spool->streams > spool->size + spool->unpacked_size;
}

/* Begins the stream that follows one that has ended. *ret is false if none follows, the watcher has
 * enough, or too many streams had no contents, which is noted as damage. *more becomes false at the
 * end of the file. */
static struct g2h_error *begin_next_stream(struct spool *spool, const struct unpacker *unpacker,
                                           bool *more, bool *ret)
{
    const struct unpack_method *method = unpacker->method;
    *ret = false;
    TRY(fill_magic(spool, more));
    if (spool->is_enough)
        return NULL;
    if (count_stream_and_see_too_many(spool))
        return note_damage(spool, method, false, "too many streams have no contents");
    if (!method->is_it(spool->buffer + spool->begin, spool->end - spool->begin))
        return NULL; /* the end, or padding, which gzip ignores too */
    TRY_MEMORY(method->again(unpacker->state));
    *ret = true;
    return NULL;
}

/* Unpacks one stream after the other, as the method's own program does, until no more follow, or
 * the watcher has enough. Damage ends the spooling, not the conversion: it is noted. */
static struct g2h_error *unpack_all(struct spool *spool, const struct unpack_method *method)
{
    _cleanup_(unpacker_deinit) struct unpacker unpacker = {method, method->begin()};
    TRY_MEMORY(unpacker.state);
    for (bool more = true;;) {
        enum unpack_status status;
        bool moved;
        const char *why;
        if (spool->begin == spool->end && more)
            TRY(fill_packed(spool, &more));
        if (spool->is_enough)
            return NULL;
        TRY(unpack_some(spool, &unpacker, &status, &moved, &why));
        TRY_MEMORY(status != UNPACK_NO_MEMORY); /* some allocate their window when they need it */
        if (spool->is_enough)
            return NULL;
        if (status == UNPACK_ENDED) {
            bool follows;
            TRY(begin_next_stream(spool, &unpacker, &more, &follows));
            if (!follows)
                return NULL;
        } else if (status == UNPACK_DAMAGED || (!moved && spool->begin < spool->end)) {
            return note_damage(spool, method, false, why);
        } else if (!moved && !more) {
            return note_damage(spool, method, true, NULL);
        }
    }
}

/* Copies the source unpacked, to its end or until the watcher has enough (is_enough). */
static struct g2h_error *spool_packed(struct spool *spool, const struct unpack_method *method)
{
    TRY(unpack_all(spool, method));
    return spool->is_enough ? NULL : write_unpacked(spool);
}

static const char *chosen; /* by input_use_directory() */

void input_use_directory(const char *directory)
{
    chosen = directory;
}

/* Returns whether the user has named a directory for temporary files: by an option, or TMPDIR. */
bool input_has_directory(void)
{
    const char *directory = getenv("TMPDIR");
    return chosen || (directory && *directory);
}

/* Returns the directory of temporary files; "": they are in memory. */
const char *input_directory(void)
{
    if (!input_has_directory())
        return "/tmp";
    return chosen ? chosen : getenv("TMPDIR");
}

/* Makes an unlinked file that has a name for a moment. Returns its descriptor, or -1 and errno. */
static int make_named(const char *directory)
{
    static const char name[] = "/go2heapsnapshot.XXXXXX";
    _cleanup_free_ char *path = malloc(strlen(directory) + sizeof(name));
    if (!path)
        return -1;
    strcpy(path, directory);
    strcat(path, name);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* no signal may arrive before the file is
                                                  unlinked */
    const int fd = mkostemp(path, O_CLOEXEC);
    const int reason = errno;
    if (fd >= 0)
        unlink(path);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = reason;
    return fd;
}

/* Makes a file without a name: in memory if directory is "", else there. Returns its descriptor, or
 * -1 and errno. */
int input_temporary_file(const char *directory)
{
#ifdef MFD_CLOEXEC
    if (!*directory)
        return memfd_create("go2heapsnapshot", MFD_CLOEXEC);
#endif
#ifdef O_TMPFILE
    const int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
#endif
    return make_named(directory);
}

/* Makes a file without a name, as input_temporary_file() does, or returns an error. */
static struct g2h_error *temporary_file(const char *directory, int *ret)
{
    *ret = input_temporary_file(directory);
    TRY_MEMORY(*ret >= 0 || errno != ENOMEM);
    return *ret >= 0
               ? NULL
               : error_system(errno, "%s: cannot make a temporary file (set TMPDIR)", directory);
}

static bool is_same_time(const struct timespec *one, const struct timespec *other)
{
    return one->tv_sec == other->tv_sec && one->tv_nsec == other->tv_nsec;
}

/* Returns an error if the file of fd has changed since it was opened. */
static struct g2h_error *input_check(const struct g2h_input *input, int fd)
{
    const struct stat *then = &input->file->status;
    struct stat now;
    if (!S_ISREG(then->st_mode))
        return NULL;
    if (fstat(fd, &now) < 0)
        return error_system(errno, "%s: cannot read", input->name);
    const bool is_same =
        now.st_size == then->st_size && is_same_time(&now.st_mtim, &then->st_mtim) &&
        /* unlinking the file does no harm */
        (is_same_time(&now.st_ctim, &then->st_ctim) || now.st_nlink != then->st_nlink);
    return is_same
               ? NULL
               : error_create(G2H_ERROR_SYSTEM,
                              "%s: was changed while it was read; convert it again once nothing "
                              "writes to it",
                              input->name);
}

/* Returns an error if the file has changed since it was opened. */
struct g2h_error *g2h_input_check(const struct g2h_input *input)
{
    return input->file && !input->file->is_copy ? input_check(input, input->file->fd) : NULL;
}

static void close_file(const int *file)
{
    close(*file);
}

/* Copies or unpacks the file into a temporary one, which replaces it and is mapped. total is the
 * file's size, for the progress; 0: unknown. */
static struct g2h_error *spool_and_map(struct g2h_input *input, uint64_t total,
                                       const struct g2h_progress *progress,
                                       const struct input_watcher *watcher)
{
    _cleanup_free_ struct spool *spool = calloc(1, sizeof(*spool));
    if (!spool)
        return &error_no_memory;
    spool->input = input;
    spool->progress = progress;
    spool->watcher = watcher;
    spool->limit = watcher ? INPUT_FIRST_LOOK : UINT64_MAX;
    spool->source = input->file->fd;
    spool->total = total;
    TRY(temporary_file(input_directory(), &spool->target));
    _cleanup_(close_file) const int source = spool->source;
    input->file->fd = spool->target;
    input->file->is_copy = true;

    bool more = true;
    TRY(fill_magic(spool, &more));
    const struct unpack_method *method = method_of(spool->buffer, spool->end);
    input->unpacked = method != NULL;
    TRY(method ? spool_packed(spool, method) : spool_unpacked(spool));
    TRY(input_check(input, source)); /* checking the file again at the end would be useless */
    input->stored = spool->taken;
    TRY(map(input, spool->target, spool->size));
    return input_find_holes(input);
}

/* Opens a file or, for "-", standard input. A regular file that is not packed, and of which nothing
 * has been read yet, is mapped; everything else is copied first. */
static struct g2h_error *open_and_map(struct g2h_input *input, const char *path,
                                      const struct g2h_progress *progress,
                                      const struct input_watcher *watcher)
{
    const bool standard = strcmp(path, "-") == 0;
    const int fd =
        standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC);
    struct stat *status = &input->file->status;
    if (fd < 0)
        return error_system(errno, standard ? "%s: cannot read" : "%s: cannot open", input->name);
    input->file->fd = fd;
    if (fstat(fd, status) < 0)
        return error_system(errno, "%s: cannot read", input->name);
    if (S_ISDIR(status->st_mode))
        return error_create(G2H_ERROR_SYSTEM, "%s: is a directory", input->name);
    if (!S_ISREG(status->st_mode) || (standard && lseek(fd, 0, SEEK_CUR) != 0))
        return spool_and_map(input, 0, progress, watcher);
    const uint64_t size = input->stored = (uint64_t)status->st_size;
    TRY(map(input, fd, size));
    if (!method_of(input->data, input->size))
        return input_find_holes(input);
    unmap(input);
    return spool_and_map(input, size, progress, watcher);
}

const struct stat *g2h_input_status(const struct g2h_input *input)
{
    return input->file ? &input->file->status : NULL;
}

CLEANUP_POINTER(input_close, struct g2h_input, g2h_input_close);

/* Returns an input whose file is not open yet, or NULL if memory runs out. */
static struct g2h_input *input_create(const char *name)
{
    _cleanup_(input_close) struct g2h_input *input = calloc(1, sizeof(*input));
    if (!input)
        return NULL;
    input->name = strdup(name);
    input->file = input->name ? calloc(1, sizeof(*input->file)) : NULL;
    if (!input->file)
        return NULL;
    input->file->fd = -1;
    return take_pointer(input);
}

/* Opens a file, which the watcher sees while it is copied. */
struct g2h_error *input_open(const char *path, const struct g2h_progress *progress,
                             const struct input_watcher *watcher, struct g2h_input **ret)
{
    _cleanup_(input_close) struct g2h_input *input =
        input_create(strcmp(path, "-") == 0 ? "standard input" : path);
    TRY_MEMORY(input);
    TRY(open_and_map(input, path, progress, watcher));
    *ret = take_pointer(input);
    return NULL;
}

/* Gives an input another name: a copy takes the place of the name that it has. */
struct g2h_error *input_rename(struct g2h_input *input, const char *name)
{
    char *copy = strdup(name);
    TRY_MEMORY(copy);
    free(not_const(input->name));
    input->name = copy;
    return NULL;
}

/* Makes an input of what a function writes. Has the writer write a temporary file, and maps
 * that. */
struct g2h_error *input_spooled(const char *name, const struct stat *source, bool in_memory,
                                input_writer *write, void *context, struct g2h_input **ret)
{
    _cleanup_(input_close) struct g2h_input *input = input_create(name);
    struct stat status;
    TRY_MEMORY(input);
    TRY(temporary_file(in_memory ? "" : input_directory(), &input->file->fd));
    input->file->is_copy = true;
    if (source)
        input->file->status = *source;
    TRY(write(context, input->file->fd));
    if (fstat(input->file->fd, &status) < 0)
        return error_system(errno, "%s: cannot read its temporary copy", name);
    input->stored = (uint64_t)status.st_size;
    TRY(map(input, input->file->fd, (uint64_t)status.st_size));
    TRY(input_find_holes(input));
    *ret = take_pointer(input);
    return NULL;
}

/* Makes an input that has only a name and, if source is not NULL, a file's status. Counts as a
 * copy, so that no file is looked at again. */
struct g2h_error *input_without_bytes(const char *name, const struct stat *source,
                                      struct g2h_input **ret)
{
    _cleanup_(input_close) struct g2h_input *input = input_create(name);
    TRY_MEMORY(input);
    input->data = (const uint8_t *)"";
    input->file->is_copy = true;
    if (source)
        input->file->status = *source;
    *ret = take_pointer(input);
    return NULL;
}

/* Makes an input of bytes in memory. The bytes are borrowed: they are neither copied nor freed, and
 * must live as long. The name is copied. */
struct g2h_error *g2h_input_from_memory(const char *name, const void *data, uint64_t size,
                                        struct g2h_input **ret)
{
    _cleanup_(input_close) struct g2h_input *input = calloc(1, sizeof(*input));
    if (!input)
        return &error_no_memory;
    input->borrowed = true;
    input->data = data;
    input->size = input->stored = size;
    input->name = strdup(name);
    if (!input->name)
        return &error_no_memory;
    *ret = take_pointer(input);
    return NULL;
}

void g2h_input_close(struct g2h_input *input)
{
    if (!input)
        return;
    unmap(input);
    if (input->file && input->file->fd >= 0)
        close(input->file->fd);
    if (input->file)
        ranges_deinit(&input->file->holes);
    free(input->file);
    g2h_error_destroy(input->damage);
    free(not_const(input->name));
    free(input);
}
