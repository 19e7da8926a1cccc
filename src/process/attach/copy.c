/*
 * copy: copies pages of another process, on several threads; see copy.h. The runs of pages are cut
 * into pieces and these into batches of some MB (plan_batches); each thread takes the next batch
 * and reads it by process_vm_readv(2) or /proc/PID/mem (read_batch). Pages that cannot be read are
 * listed, pages of zeros are given back to the system. The second part reads what else is known of
 * a process: its machine, its executable, and what a fork leaves out (MADV_WIPEONFORK: wiped).
 */
#include "process/attach/copy.h"

#ifdef __linux__

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/elf_format.h"
#include "base/error.h"
#include "base/ranges.h"
#include "base/workers.h"
#include "process/attach/procfs.h"
#include "process/attach/refuse.h"
#include "process/attach/stop.h"

/* ==== copies pages of another process ====
 *
 * Several threads read the pages, in batches of some MB each, because the process is stopped until
 * the last page is copied. They are as urgent as stop.h makes them, so this has its own threads,
 * not those of base/workers.h.
 */

#ifndef IOV_MAX

#define IOV_MAX 1024

#endif

enum {
    MOST_THREADS = 4,
    MOST_PIECES = MIN(IOV_MAX, 1024), /* in a batch */
};

#define MOST_BATCH (16ull << 20) /* bytes */

/* Adjacent bytes, which one entry of a batch reads. */
struct piece {
    uint64_t address, size;
    uint8_t *data;
    bool is_maybe; /* many of its pages may be zeros */
};

struct copy_batch {
    size_t first, count; /* its pieces */
};

struct copy {
    pid_t pid;
    int file;      /* /proc/PID/mem, or -1 */
    bool is_child; /* of a fork: see copy.h */
    uint64_t page, total;
    VECTOR(struct piece) pieces;
    VECTOR(struct copy_batch) batches;
    pthread_mutex_t lock; /* guards the fields below */
    size_t next;          /* the next batch to take */
    uint64_t bytes, reads;
    VECTOR(uint64_t) unreadable; /* addresses of pages */
    struct ranges zeros;         /* addresses */
    int error;
};

/* ---- planning ---- */

/* Adds a piece to the last batch, whose size is *batch_size, or to a new one if the last is full.
 * Returns false if memory runs out. */
static bool add_piece(struct copy *copy, struct piece piece, uint64_t *batch_size)
{
    const struct copy_batch next = {copy->pieces.count, 0};
    struct copy_batch *last =
        copy->batches.count > 0 ? &copy->batches.data[copy->batches.count - 1] : NULL;
    if (!last || last->count == MOST_PIECES || *batch_size + piece.size > MOST_BATCH) {
        if (!vector_push(&copy->batches, next))
            return false;
        last = &copy->batches.data[copy->batches.count - 1];
        *batch_size = 0;
    }
    last->count++;
    *batch_size += piece.size;
    return vector_push(&copy->pieces, piece);
}

/* Divides the runs that are read, rather than known to be zeros, into pieces of MOST_BATCH bytes at
 * most, and these into batches. Returns false if memory runs out. */
static bool plan_batches(struct copy *copy, const struct attach_pages *pages,
                         const struct attach_space *space)
{
    uint64_t batch_size = 0;
    VECTOR_EACH(const struct attach_run, run, pages->runs) {
        if (!attach_run_is_read(run))
            continue;
        uint8_t *data = attach_space_at(space, run);
        for (uint64_t at = 0; at < run->size;) {
            const uint64_t left = run->size - at;
            const uint64_t size = MIN(left, MOST_BATCH);
            const struct piece piece = {run->address + at, size, data + at,
                                        run->kind == ATTACH_MAYBE};
            if (!add_piece(copy, piece, &batch_size))
                return false;
            at += size;
        }
    }
    return true;
}

/* ---- reading ---- */

/* Reads pieces without the first skip bytes of the first one. Returns the number of bytes read,
 * which end at the first unreadable page, or -1 with errno set: EFAULT if that page is the first
 * one. */
static ssize_t read_pieces(const struct copy *copy, const struct piece *pieces, size_t count,
                           uint64_t skip)
{
    struct iovec here[MOST_PIECES], there[MOST_PIECES];
    for (size_t i = 0; i < count; i++) {
        const uint64_t from = i == 0 ? skip : 0;
        const size_t size = (size_t)(pieces[i].size - from);
        here[i] = (struct iovec){pieces[i].data + from, size};
        there[i] = (struct iovec){as_pointer(pieces[i].address + from), size};
    }
    ssize_t size;
    do
        size = process_vm_readv(copy->pid, here, count, there, count, 0);
    while (size < 0 && errno == EINTR);
    return size;
}

/* Reads the first piece like read_pieces(), after skip bytes of it, by /proc/PID/mem. Returns how
 * many bytes, or -1 with errno: ESRCH if the process has no memory any more, EFAULT if the page
 * cannot be read. An interrupted call is made again. */
static ssize_t read_by_file(const struct copy *copy, const struct piece *piece, uint64_t skip)
{
    const size_t left = (size_t)(piece->size - skip);
    ssize_t size;
    do
        size = pread(copy->file, piece->data + skip, left, (off_t)(piece->address + skip));
    while (size < 0 && errno == EINTR);
    if (size == 0 || (size < 0 && errno == EIO))
        errno = size == 0 ? ESRCH : EFAULT; /* 0: the process has no memory any more */
    return size > 0 ? size : -1;
}

/* Reads at least the first page, by process_vm_readv(2), or by the file if a seccomp filter forbids
 * that call or the kernel does not have it, and always for a child (copy.h). Results as those of
 * read_pieces(). */
static ssize_t copy_read_some(const struct copy *copy, const struct piece *pieces, size_t count,
                              uint64_t skip)
{
    if (copy->is_child && copy->file >= 0)
        return read_by_file(copy, pieces, skip);
    const ssize_t size = read_pieces(copy, pieces, count, skip);
    const bool is_forbidden = size < 0 && (errno == EPERM || errno == ENOSYS || errno == EACCES);
    return is_forbidden && copy->file >= 0 ? read_by_file(copy, pieces, skip) : size;
}

/* Notes a page that cannot be read. Returns false if memory runs out. */
static bool copy_leave_out(struct copy *copy, uint64_t address)
{
    pthread_mutex_lock(&copy->lock);
    const bool good = vector_push(&copy->unreadable, address);
    pthread_mutex_unlock(&copy->lock);
    return good;
}

/* Returns pages of zeros to the system: they still read as zeros, and take no memory. Notes where
 * they are. Returns false if memory runs out. */
static bool copy_drop(struct copy *copy, const struct piece *piece, uint64_t from, uint64_t end)
{
    const struct range zeros = {piece->address + from, piece->address + end};
    (void)madvise(piece->data + from, (size_t)(end - from), MADV_DONTNEED);
    pthread_mutex_lock(&copy->lock);
    const bool good = vector_push(&copy->zeros.list, zeros);
    pthread_mutex_unlock(&copy->lock);
    return good;
}

/* Gives back (copy_drop()) the pages of a piece that were read as zeros. Returns false if memory
 * runs out. */
static bool drop_zeros(struct copy *copy, const struct piece *piece)
{
    for (uint64_t at = 0; at < piece->size; at += copy->page) {
        const uint64_t from = at;
        while (at < piece->size && sparse_is_zero(piece->data + at, (size_t)copy->page))
            at += copy->page;
        if (at > from && !copy_drop(copy, piece, from, at))
            return false;
    }
    return true;
}

/* Reads a batch, and notes the pages that cannot be read, which stay empty. Adds what was read to
 * *bytes, and the system calls to *reads. Pages of which the kernel could not say whether they were
 * ever written to (is_maybe) are given back if they are zeros. Returns 0 or an errno value. */
static int read_batch(struct copy *copy, const struct copy_batch *batch, uint64_t *bytes,
                      uint64_t *reads)
{
    const struct piece *piece = &copy->pieces.data[batch->first];
    const struct piece *const end = piece + batch->count;
    for (uint64_t done = 0; piece < end; ++*reads) {
        const ssize_t size = copy_read_some(copy, piece, as_size(end - piece), done);
        if (size < 0 && errno != EFAULT)
            return errno;
        if (size <= 0 && !copy_leave_out(copy, piece->address + done))
            return ENOMEM;
        *bytes += size > 0 ? (uint64_t)size : 0;
        done += size > 0 ? (uint64_t)size : copy->page;
        for (; piece < end && done >= piece->size; piece++)
            done -= piece->size;
    }
    for (size_t i = 0; i < batch->count; i++) {
        const struct piece *read = &copy->pieces.data[batch->first + i];
        if (read->is_maybe && !drop_zeros(copy, read))
            return ENOMEM;
    }
    return 0;
}

/* Takes the next batch. Returns false if there are no more, or an error has occurred. */
static bool take_batch(struct copy *copy, size_t *ret)
{
    pthread_mutex_lock(&copy->lock);
    const bool more = copy->error == 0 && copy->next < copy->batches.count;
    if (more)
        *ret = copy->next++;
    pthread_mutex_unlock(&copy->lock);
    return more;
}

/* Counts the bytes and the reads of a batch, and keeps the first error. Returns the bytes of all
 * batches so far. */
static uint64_t note_read(struct copy *copy, int error, uint64_t bytes, uint64_t reads)
{
    pthread_mutex_lock(&copy->lock);
    if (copy->error == 0)
        copy->error = error;
    copy->bytes += bytes;
    copy->reads += reads;
    bytes = copy->bytes;
    pthread_mutex_unlock(&copy->lock);
    return bytes;
}

/* Reads batches until there are no more, or an error has occurred. */
static void read_batches(struct copy *copy, const struct g2h_progress *progress)
{
    for (size_t i; take_batch(copy, &i);) {
        uint64_t bytes = 0, reads = 0;
        const int error = read_batch(copy, &copy->batches.data[i], &bytes, &reads);
        bytes = note_read(copy, error, bytes, reads);
        watchdog_beat();
        if (progress)
            progress->update(progress->context, "copying", bytes, copy->total, 0);
    }
}

/* Reads batches on a thread of its own. */
static void *run_helper(void *argument)
{
    attach_urgent_confine();
    read_batches(argument, NULL);
    return NULL;
}

/* Starts a thread that reads batches; an urgent one if the process itself waits, not its child.
 * Returns 0 or an errno value. */
static int start_helper(struct copy *copy, pthread_t *ret)
{
    return copy->is_child ? pthread_create(ret, NULL, run_helper, copy)
                          : attach_urgent_start(ret, run_helper, copy);
}

/* Reads all batches, on the caller's thread and on others. MOST_THREADS at most, and no more than
 * there are batches or processors; fewer if they cannot be started. */
static void copy_read_all(struct copy *copy, const struct g2h_progress *progress)
{
    const unsigned available = workers_available();
    pthread_t helpers[MOST_THREADS];
    unsigned count = 0;
    while (count + 1 < MOST_THREADS && count + 1 < available && count + 1 < copy->batches.count &&
           start_helper(copy, &helpers[count]) == 0)
        count++;
    read_batches(copy, progress);
    while (count > 0)
        pthread_join(helpers[--count], NULL);
}

/* ---- the copied memory ---- */

static int copy_compare_addresses(const void *a, const void *b)
{
    const uint64_t one = *(const uint64_t *)a;
    const uint64_t other = *(const uint64_t *)b;
    return COMPARE(one, other);
}

/* Adds a run to memory, except its pages that could not be read: those are in the list of
 * unreadable pages from *next on. Returns false if memory runs out. */
static bool copy_add_run(const struct copy *copy, const struct attach_run *run, const uint8_t *data,
                         size_t *next, struct memory *memory)
{
    uint64_t from = 0;
    for (; *next < copy->unreadable.count; ++*next) {
        const uint64_t hole = copy->unreadable.data[*next] - run->address;
        if (hole >= run->size)
            break;
        if (!memory_add(memory, run->address + from, hole - from, data + from))
            return false;
        from = hole + copy->page;
    }
    return from >= run->size ||
           memory_add(memory, run->address + from, run->size - from, data + from);
}

/* Adds the pages that were copied to memory, and notes those that are zeros. Returns false if
 * memory runs out. */
static bool add_runs(struct copy *copy, const struct attach_pages *pages,
                     const struct attach_space *space, struct memory *memory)
{
    size_t next = 0;
    assert(copy->next >= copy->batches.count); /* all have been read */
    vector_sort(&copy->unreadable, copy_compare_addresses);
    VECTOR_EACH(const struct attach_run, run, pages->runs) {
        const struct range zeros = {run->address, run->address + run->size};
        if (!copy_add_run(copy, run, attach_space_at(space, run), &next, memory) ||
            (run->kind == ATTACH_ZERO && !vector_push(&copy->zeros.list, zeros)))
            return false;
    }
    VECTOR_EACH(const struct range, zeros, copy->zeros.list)
        if (!vector_push(&memory->untouched.list, *zeros))
            return false;
    memory_sort(memory);
    ranges_sort(&memory->untouched);
    ranges_drop_short(&memory->untouched);
    return true;
}

/* ---- all of it ---- */

/* Copies all runs. Returns 0 or an errno value. */
static int copy_all(struct copy *copy, const struct attach_pages *pages,
                    const struct attach_space *space, const struct g2h_progress *progress,
                    struct memory *memory)
{
    if (!plan_batches(copy, pages, space))
        return ENOMEM;
    copy_read_all(copy, progress);
    if (copy->error != 0)
        return copy->error;
    return add_runs(copy, pages, space, memory) ? 0 : ENOMEM;
}

/* Opens the process's memory through a thread that lives, since the first one may have ended, and
 * copies on several threads. What was read is counted in *ret also after an error. Returns 0 or an
 * errno value. Memory that cannot be opened is no error, as process_vm_readv() may read it. */
int attach_copy_pages(struct attach_source source, const struct attach_pages *pages,
                      const struct attach_space *space, const struct g2h_progress *progress,
                      struct memory *memory, struct attach_copied *ret)
{
    struct copy copy = {.pid = as_pid(procfs_living_thread(source.pid)),
                        .file = open(procfs_path(source.pid, "mem").text, O_RDONLY | O_CLOEXEC),
                        .is_child = source.is_child,
                        .page = procfs_page_size(),
                        .total = pages->resident,
                        .lock = PTHREAD_MUTEX_INITIALIZER};
    const int error = copy_all(&copy, pages, space, progress, memory);
    *ret = (struct attach_copied){copy.bytes, copy.reads, copy.unreadable.count * copy.page};
    if (copy.file >= 0)
        close(copy.file);
    free(copy.pieces.data);
    free(copy.batches.data);
    free(copy.unreadable.data);
    ranges_deinit(&copy.zeros);
    pthread_mutex_destroy(&copy.lock);
    return error;
}

/* ==== the data of a process's copy besides its bytes, whether the process goes on or dies ==== */

/* ---- the header and the executable ---- */

/* Reads the header of an executable. Returns 0 or an errno value. */
static int copied_read_header(const char *path, Elf64_Ehdr *ret)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    *ret = (Elf64_Ehdr){0};
    const int error = pread(fd, ret, sizeof(*ret), 0) < 0 ? errno : 0;
    close(fd);
    return error;
}

/* Returns whether an ELF header is of a 64-bit little-endian machine. */
static bool is_64_little(const Elf64_Ehdr *header)
{
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB;
}

/* Checks that a process is of this program's machine. Registers and structures of the kernel are
 * those of this program's machine, so the process must be of the same one. */
struct g2h_error *copied_check_machine(uint64_t pid, uint16_t *ret)
{
    Elf64_Ehdr its, ours;
    const int error = copied_read_header(procfs_path(pid, "exe").text, &its);
    if (error != 0)
        return attach_refuse(pid, error, true);
    if (!is_64_little(&its))
        return error_create(G2H_ERROR_NOT_DUMP,
                            "process %llu: 32-bit and big-endian processes are not read",
                            (unsigned long long)pid);
    if (copied_read_header("/proc/self/exe", &ours) == 0 && ours.e_machine != its.e_machine)
        return error_create(G2H_ERROR_NOT_DUMP,
                            "process %llu: is of another machine (ELF machine %u) than "
                            "go2heapsnapshot itself (%u): use a build of it for that one",
                            (unsigned long long)pid, its.e_machine, ours.e_machine);
    *ret = its.e_machine;
    return NULL;
}

/* Returns the path that the process's executable had, or NULL. */
char *copied_executable(uint64_t pid)
{
    char path[4096];
    const ssize_t size = readlink(procfs_path(pid, "exe").text, path, sizeof(path));
    return size > 0 && as_size(size) < sizeof(path) ? strndup(path, as_size(size)) : NULL;
}

/* ---- the copy ---- */

/* Makes another space if the prepared one does not hold all pages, because the process has grown
 * far meanwhile. Returns false if there is no memory for it. */
bool copied_make_space(const struct attach_pages *pages, struct attach_space *space)
{
    if (attach_space_holds(space, pages))
        return true;
    attach_space_deinit(space);
    return attach_space_make(pages, 0, space);
}

/* Records which pages are resident. Returns 0 or ENOMEM. */
int copied_note_resident(const struct attach_pages *pages, struct process *ret)
{
    VECTOR_EACH(const struct attach_run, run, pages->runs) {
        const struct process_pages there = {run->address, run->size};
        if (run->kind != ATTACH_ZERO && !vector_push(&ret->resident, there))
            return ENOMEM;
    }
    return 0;
}

/* Records the kernel's counts of the process's pages by mapping (/proc/PID/smaps); nothing if they
 * cannot be read. */
void copied_note_smaps(uint64_t pid, struct process *ret)
{
    _cleanup_(text_deinit) struct text smaps = {0};
    if (procfs_read_of(pid, "smaps", &smaps) == 0)
        ret->smaps = take_pointer(smaps.data);
}

/* ---- memory that a fork wipes ---- */

/* Copies the memory of these ranges, which a child would get as zeros, from the process. Without
 * ranges, or resident pages in them, ret stays empty. Returns 0 or an errno value. */
int copied_take_wiped(uint64_t pid, const struct ranges *ranges, struct copied_wiped *ret)
{
    struct memory memory = {0};
    struct attach_copied copied;
    if (ranges->list.count == 0)
        return 0;
    int error = attach_pages_find_in(pid, ranges, &ret->pages);
    if (error == 0 && ret->pages.resident == 0)
        return 0;
    if (error == 0)
        error = attach_space_make(&ret->pages, 0, &ret->space) ? 0 : ENOMEM;
    if (error == 0)
        error = attach_copy_pages((struct attach_source){pid, false}, &ret->pages, &ret->space,
                                  NULL, &memory, &copied);
    memory_deinit(&memory);
    return error;
}

void copied_wiped_deinit(struct copied_wiped *wiped)
{
    attach_pages_deinit(&wiped->pages);
    attach_space_deinit(&wiped->space);
}

/* Marks the pages that are wiped in the child, whose bytes copied_fill_wiped() gives. Returns false
 * if memory runs out. */
bool copied_mark_wiped(const struct copied_wiped *wiped, struct attach_pages *pages)
{
    return wiped->pages.resident == 0 || attach_pages_give(pages, &wiped->pages);
}

/* Copies what a child gets as zeros (MADV_WIPEONFORK), and what was therefore read from the process
 * itself, to its places in the copy of the child. */
void copied_fill_wiped(const struct copied_wiped *wiped, const struct attach_pages *pages,
                       const struct attach_space *space)
{
    VECTOR_EACH(const struct attach_run, run, pages->runs)
        if (run->kind == ATTACH_GIVEN)
            memcpy(attach_space_at(space, run), attach_space_at(&wiped->space, run),
                   (size_t)run->size);
}

/* ---- windows ---- */

/* Opens the memory of the child of a fork. The pages are not copied: memory_at() reads them from
 * the child through the window when they are used. Returns 0 or an errno value: EOVERFLOW if there
 * are too few addresses. */
int copied_open_child(uint64_t pid, const struct copied_wiped *wiped, struct attach_space *space,
                      struct process *ret)
{
    _cleanup_(attach_pages_deinit) struct attach_pages pages = {0};
    int error = attach_pages_find(pid, &pages);
    if (error == 0)
        error = copied_mark_wiped(wiped, &pages) ? 0 : ENOMEM;
    if (error == 0)
        error = copied_note_resident(&pages, ret);
    if (error != 0)
        return error;
    if (!attach_space_make(&pages, 0, space))
        return EOVERFLOW;
    copied_fill_wiped(wiped, &pages, space);
    VECTOR_EACH(const struct attach_run, run, pages.runs) {
        const struct range all = {run->address, run->address + run->size};
        if (!memory_add(&ret->memory, run->address, run->size, attach_space_at(space, run)) ||
            (run->kind == ATTACH_ZERO && !vector_push(&ret->memory.untouched.list, all)))
            return ENOMEM;
    }
    memory_sort(&ret->memory);
    ranges_sort(&ret->memory.untouched);
    ranges_drop_short(&ret->memory.untouched);
    ret->memory.window = window_create(pid, &pages, space);
    ret->entry = procfs_auxv(pid, AT_ENTRY);
    ret->maps = take_pointer(pages.maps);
    return ret->memory.window ? 0 : ENOMEM;
}

/* Opens a window (process.h) to the memory of a process in place of a copy in *ret. space is empty,
 * and must outlive it. Returns 0 or an errno value. */
int copied_open_window(uint64_t pid, struct attach_space *space, struct process *ret)
{
    static const struct copied_wiped none;
    return copied_open_child(pid, &none, space, ret);
}

/* Makes the process the owner of the space, which has its copy. */
void copied_hand_over(struct attach_space *space, struct process *process)
{
    process->copy = take_pointer(space->data);
    process->copy_size = space->size;
}

/* Opens a window to a running process, and reads the list of files mapped by it. Returns 0 or an
 * errno value. */
int copied_open_live(uint64_t pid, struct process *ret)
{
    _cleanup_(attach_space_deinit) struct attach_space space = {0};
    const int error = copied_open_window(pid, &space, ret);
    if (error != 0)
        return error;
    copied_hand_over(&space, ret);
    return mapped_parse_maps(ret->maps, &ret->files) ? 0 : ENOMEM;
}

#endif
