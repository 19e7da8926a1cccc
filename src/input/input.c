/*
 * input: any source of bytes becomes one mapped range.
 *
 * A regular file that is not compressed is mapped as it is. Everything else (pipes, gzip) is
 * spooled to a temporary file without a name: the rooms above may go over the bytes as often as
 * they like, and the system may write them to disk where memory is short.
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
#include <zlib.h>

#include "base/error.h"

enum { CHUNK = 1 << 18 };

/* ---- what is mapped ---- */

/* For g2h_input_fault(), in a signal handler: more than are open at a time. */
static struct g2h_input *mapped[16];

static void register_mapped(struct g2h_input *input)
{
    for (size_t i = 0; i < sizeof(mapped) / sizeof(*mapped); i++) {
        struct g2h_input *none = NULL;
        if (__atomic_compare_exchange_n(&mapped[i], &none, input, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
            return;
    }
}

static void unmap(struct g2h_input *input)
{
    if (input->borrowed || input->size == 0)
        return;
    for (size_t i = 0; i < sizeof(mapped) / sizeof(*mapped); i++)
        if (__atomic_load_n(&mapped[i], __ATOMIC_SEQ_CST) == input)
            __atomic_store_n(&mapped[i], NULL, __ATOMIC_SEQ_CST);
    munmap((void *)(uintptr_t)input->data, (size_t)input->size);
    input->size = 0;
}

const char *g2h_input_fault(const void *address, const char **ret_name)
{
    for (size_t i = 0; i < sizeof(mapped) / sizeof(*mapped); i++) {
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

static struct g2h_error *map(struct g2h_input *input, int file, uint64_t size)
{
    input->data = (const uint8_t *)"";
    input->size = 0;
    if (size == 0)
        return NULL;
    if (size > SIZE_MAX)
        return error_create(G2H_ERROR_LIMIT, "%s: too large for this machine's addresses",
                            input->name);
    void *data = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED)
        return error_system(errno, "%s: cannot map", input->name);
    input->data = data;
    input->size = size;
    register_mapped(input);
    return NULL;
}

/* ---- what is copied ---- */

struct spool {
    struct g2h_input *input;
    const struct input_watcher *watcher;
    uint64_t limit; /* the size from which on the watcher wants to look */
    bool is_enough; /* he has said so */
    const struct g2h_progress *progress;
    int source, target;
    uint64_t taken, total; /* bytes read from source; total 0 where unknown */
    uint64_t size;         /* bytes written to target */
    size_t begin, end;     /* what of buffer is not used yet */
    struct g2h_error *damage;
    uint8_t buffer[CHUNK], inflated[CHUNK];
};

/* Reads more of the source behind what is left in the buffer. *ret is false at the end of the file.
 */
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
        spool->end += (size_t)count;
        spool->taken += (uint64_t)count;
        *ret = count > 0;
        if (spool->progress)
            spool->progress->update(spool->progress->context, "spooling", spool->taken,
                                    spool->total, 0);
        return NULL;
    }
}

/* Lets the watcher see what there is. */
static struct g2h_error *spool_look(struct spool *spool)
{
    const struct input_watcher *watcher = spool->watcher;
    struct g2h_error *error = map(spool->input, spool->target, spool->size);
    if (error)
        return error;
    spool->limit = watcher->look(watcher->context, spool->input, spool->taken);
    spool->is_enough = spool->limit <= spool->size;
    unmap(spool->input);
    return NULL;
}

static struct g2h_error *spool_write(struct spool *spool, const uint8_t *data, size_t size)
{
    while (size > 0) {
        ssize_t count = write(spool->target, data, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return error_system(
                errno, "%s: cannot write its temporary copy (set TMPDIR to where there is room)",
                spool->input->name);
        data += count;
        size -= (size_t)count;
        spool->size += (uint64_t)count;
    }
    return spool->size >= spool->limit ? spool_look(spool) : NULL;
}

static struct g2h_error *spool_plain(struct spool *spool)
{
    bool more = true;
    while ((more || spool->begin < spool->end) && !spool->is_enough) {
        struct g2h_error *error =
            spool_write(spool, spool->buffer + spool->begin, spool->end - spool->begin);
        spool->begin = spool->end = 0;
        if (!error && more && !spool->is_enough)
            error = spool_fill(spool, &more);
        if (error)
            return error;
    }
    return NULL;
}

static bool is_gzip(const uint8_t *data, uint64_t size)
{
    return size >= 2 && data[0] == 0x1f && data[1] == 0x8b;
}

/* Inflates member after member, as gzip does. Damage ends the spooling, not the conversion. */
static struct g2h_error *spool_gzip(struct spool *spool)
{
    z_stream stream = {0};
    if (inflateInit2(&stream, 15 + 16) != Z_OK)
        return &error_no_memory;
    struct g2h_error *error = NULL;
    bool more = true;
    for (;;) {
        if (spool->begin == spool->end && more) {
            error = spool_fill(spool, &more);
            if (error)
                break;
        }
        stream.next_in = spool->buffer + spool->begin;
        stream.avail_in = (uInt)(spool->end - spool->begin);
        stream.next_out = spool->inflated;
        stream.avail_out = CHUNK;
        int status = inflate(&stream, Z_NO_FLUSH);
        spool->begin = spool->end - stream.avail_in;
        error = spool_write(spool, spool->inflated, CHUNK - stream.avail_out);
        if (error || spool->is_enough)
            break;
        if (status == Z_STREAM_END) {
            while (spool->end - spool->begin < 2 && more && !error)
                error = spool_fill(spool, &more);
            if (error || !is_gzip(spool->buffer + spool->begin, spool->end - spool->begin))
                break; /* the end, or padding that gzip ignores too */
            inflateReset(&stream);
        } else if (status == Z_BUF_ERROR && !more) {
            spool->damage = error_create(G2H_ERROR_DAMAGED, "%s: byte %llu: the gzip stream is cut",
                                         spool->input->name, (unsigned long long)spool->taken);
            break;
        } else if (status != Z_OK && status != Z_BUF_ERROR) {
            spool->damage =
                error_create(G2H_ERROR_DAMAGED, "%s: byte %llu: the gzip stream is damaged: %s",
                             spool->input->name,
                             (unsigned long long)(spool->taken - (spool->end - spool->begin)),
                             stream.msg ? stream.msg : "bad data");
            break;
        }
    }
    inflateEnd(&stream);
    return error;
}

/* A file without a name in $TMPDIR. */
static struct g2h_error *temporary_file(int *ret)
{
    const char *directory = getenv("TMPDIR");
    if (!directory || !*directory)
        directory = "/tmp";
#ifdef O_TMPFILE
    *ret = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (*ret >= 0)
        return NULL;
#endif
    size_t size = strlen(directory) + sizeof("/go2heapsnapshot.XXXXXX");
    char *path = malloc(size);
    if (!path)
        return &error_no_memory;
    strcpy(path, directory);
    strcat(path, "/go2heapsnapshot.XXXXXX");
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* none may come before its name is gone */
    *ret = mkostemp(path, O_CLOEXEC);
    struct g2h_error *error = NULL;
    if (*ret < 0)
        error = error_system(errno, "%s: cannot make a temporary file (set TMPDIR)", directory);
    else
        unlink(path);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    free(path);
    return error;
}

static bool is_same_time(const struct timespec *one, const struct timespec *other)
{
    return one->tv_sec == other->tv_sec && one->tv_nsec == other->tv_nsec;
}

/* Whether the file of fd is as it was when it was opened. */
static struct g2h_error *check(const struct g2h_input *input, int fd)
{
    const struct stat *then = &input->file->status;
    struct stat now;
    if (!S_ISREG(then->st_mode))
        return NULL;
    if (fstat(fd, &now) < 0)
        return error_system(errno, "%s: cannot read", input->name);
    const bool is_same =
        now.st_size == then->st_size && is_same_time(&now.st_mtim, &then->st_mtim) &&
        /* To remove it is no harm. */
        (is_same_time(&now.st_ctim, &then->st_ctim) || now.st_nlink != then->st_nlink);
    return is_same
               ? NULL
               : error_create(G2H_ERROR_SYSTEM,
                              "%s: was changed while it was read; convert it again once nothing "
                              "writes to it",
                              input->name);
}

struct g2h_error *g2h_input_check(const struct g2h_input *input)
{
    return input->file && !input->file->is_copy ? check(input, input->file->fd) : NULL;
}

/* What is read of the file goes into a temporary one, which is mapped. */
static struct g2h_error *spool_and_map(struct g2h_input *input, int fd, uint64_t total,
                                       const struct g2h_progress *progress,
                                       const struct input_watcher *watcher)
{
    struct spool *spool = calloc(1, sizeof(*spool));
    if (!spool)
        return &error_no_memory;
    spool->input = input;
    spool->progress = progress;
    spool->watcher = watcher;
    spool->limit = watcher ? INPUT_FIRST_LOOK : UINT64_MAX;
    spool->source = fd;
    spool->total = total;
    struct g2h_error *error = temporary_file(&spool->target);
    if (error) {
        free(spool);
        return error;
    }
    input->file->fd = spool->target;
    input->file->is_copy = true;

    bool more = true;
    while (!error && more && spool->end < 2)
        error = spool_fill(spool, &more);
    input->unpacked = is_gzip(spool->buffer, spool->end);
    if (!error)
        error = input->unpacked ? spool_gzip(spool) : spool_plain(spool);
    if (!error)
        error = check(input, fd); /* once more at the end would be of no use */
    if (!error)
        error = map(input, spool->target, spool->size);
    input->stored = spool->taken;
    input->damage = spool->damage;
    free(spool);
    return error;
}

static struct g2h_error *open_and_map(struct g2h_input *input, const char *path,
                                      const struct g2h_progress *progress,
                                      const struct input_watcher *watcher)
{
    const bool standard = strcmp(path, "-") == 0;
    const int fd =
        standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_system(errno, standard ? "%s: cannot read" : "%s: cannot open", input->name);
    struct g2h_error *error = NULL;
    struct stat *status = &input->file->status;
    input->file->fd = fd;
    if (fstat(fd, status) < 0)
        return error_system(errno, "%s: cannot read", input->name);
    if (S_ISDIR(status->st_mode))
        return error_create(G2H_ERROR_SYSTEM, "%s: is a directory", input->name);
    if (S_ISREG(status->st_mode) && (!standard || lseek(fd, 0, SEEK_CUR) == 0)) {
        const uint64_t size = input->stored = (uint64_t)status->st_size;
        error = map(input, fd, size);
        if (error || !is_gzip(input->data, input->size))
            return error;
        unmap(input);
        error = spool_and_map(input, fd, size, progress, watcher);
    } else {
        error = spool_and_map(input, fd, 0, progress, watcher);
    }
    if (fd != input->file->fd)
        close(fd);
    return error;
}

const struct stat *g2h_input_status(const struct g2h_input *input)
{
    return input->file ? &input->file->status : NULL;
}

struct g2h_error *input_open(const char *path, const struct g2h_progress *progress,
                             const struct input_watcher *watcher, struct g2h_input **ret)
{
    struct g2h_input *input = calloc(1, sizeof(*input));
    struct input_file *file = calloc(1, sizeof(*file));
    char *name = strdup(strcmp(path, "-") == 0 ? "standard input" : path);
    if (!input || !file || !name) {
        free(input);
        free(file);
        free(name);
        return &error_no_memory;
    }
    file->fd = -1;
    input->file = file;
    input->name = name;
    struct g2h_error *error = open_and_map(input, path, progress, watcher);
    if (error) {
        g2h_input_close(input);
        return error;
    }
    *ret = input;
    return NULL;
}

struct g2h_error *g2h_input_from_memory(const char *name, const void *data, uint64_t size,
                                        struct g2h_input **ret)
{
    struct g2h_input *input = calloc(1, sizeof(*input));
    char *copy = strdup(name);
    if (!input || !copy) {
        free(input);
        free(copy);
        return &error_no_memory;
    }
    input->name = copy;
    input->data = data;
    input->size = input->stored = size;
    input->borrowed = true;
    *ret = input;
    return NULL;
}

void g2h_input_close(struct g2h_input *input)
{
    if (!input)
        return;
    unmap(input);
    if (input->file && input->file->fd >= 0)
        close(input->file->fd);
    free(input->file);
    g2h_error_destroy(input->damage);
    free((char *)(uintptr_t)input->name);
    free(input);
}
