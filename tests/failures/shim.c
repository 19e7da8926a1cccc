/*
 * shim: a library to preload, which makes calls of libc's functions fail. $FAILURE names the call
 * as KIND:N: the Nth call of this kind, counted from 1; with KIND:N+ all calls of the kind from
 * that one on. At the end it writes how many calls there were, and which resources are left, to the
 * file $FAILURE_REPORT.
 *
 * With $FAILURE_TRACE the call that fails prints its stack trace. With $FAILURE_PLACES a number for
 * each call for memory is written to the file of that name: a hash of all the functions that it was
 * called through.
 */
#include "shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* glibc's own functions for memory. They need no dlsym(), which itself allocates. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *data);

static struct failure_report report;
static int failing_kind = -1;
static uint64_t failing_number;
static bool failing_on, is_ready;
static int first_files;  /* descriptors that were open at the start */
static uint64_t *places; /* a hash for each call for memory, in the order of the calls */
enum { MAX_PLACES = 1 << 20, DEPTH = 48 };

static int open_files(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += syscall(SYS_fcntl, fd, F_GETFD, 0) >= 0;
    return count;
}

__attribute__((constructor)) static void begin(void)
{
    static const char *const names[FAILURE_KINDS] = FAILURE_NAMES;
    const char *wanted = getenv("FAILURE");
    for (int i = 0; wanted && i < FAILURE_KINDS; i++) {
        const size_t size = strlen(names[i]);
        char *end;
        if (strncmp(wanted, names[i], size) != 0 || wanted[size] != ':')
            continue;
        failing_kind = i;
        failing_number = strtoull(wanted + size + 1, &end, 10);
        failing_on = *end == '+';
    }
    first_files = open_files();
    if (getenv("FAILURE_PLACES")) {
        void *frames[1];
        places = __libc_calloc(MAX_PLACES, sizeof(*places));
        backtrace(frames, 1); /* its first call allocates memory */
    }
    is_ready = true;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAILURE_REPORT");
    is_ready = false;
    report.files = open_files() - first_files;
    const long fd = path ? syscall(SYS_open, path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    if (fd >= 0)
        syscall(SYS_write, fd, &report, sizeof(report));
    const uint64_t count =
        report.calls[FAILURE_MEMORY] < MAX_PLACES ? report.calls[FAILURE_MEMORY] : MAX_PLACES;
    const long list =
        places ? syscall(SYS_open, getenv("FAILURE_PLACES"), O_WRONLY | O_CREAT | O_TRUNC, 0600)
               : -1;
    if (list >= 0)
        syscall(SYS_write, list, places, count * sizeof(*places));
}

/* Returns a hash of the functions through which this function is called. */
static uint64_t place(void)
{
    void *frames[DEPTH];
    uint64_t hash = 1;
    is_ready = false;
    const int depth = backtrace(frames, DEPTH);
    is_ready = true;
    for (int i = 0; i < depth; i++)
        hash = (hash ^ (uintptr_t)frames[i]) * 0x9e3779b97f4a7c15u;
    return hash;
}

/* Counts a call of this kind. Returns whether the call must fail. */
static bool fails(enum failure_kind kind)
{
    if (!is_ready)
        return false;
    const uint64_t number = __atomic_add_fetch(&report.calls[kind], 1, __ATOMIC_RELAXED);
    if (places && kind == FAILURE_MEMORY && number <= MAX_PLACES)
        places[number - 1] = place();
    if ((int)kind != failing_kind || number < failing_number ||
        (number > failing_number && !failing_on))
        return false;
    if (getenv("FAILURE_TRACE") && number == failing_number) {
        void *frames[32];
        is_ready = false;
        backtrace_symbols_fd(frames, backtrace(frames, 32), STDERR_FILENO);
        is_ready = true;
    }
    return true;
}

/* ---- memory ---- */

static void *count(void *data)
{
    if (data && is_ready)
        __atomic_add_fetch(&report.blocks, 1, __ATOMIC_RELAXED);
    return data;
}

static void *no_memory(void)
{
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t size)
{
    return fails(FAILURE_MEMORY) ? no_memory() : count(__libc_malloc(size));
}

void *calloc(size_t number, size_t size)
{
    return fails(FAILURE_MEMORY) ? no_memory() : count(__libc_calloc(number, size));
}

void *realloc(void *old, size_t size)
{
    if (fails(FAILURE_MEMORY))
        return no_memory();
    void *data = __libc_realloc(old, size);
    return old ? data : count(data);
}

void *reallocarray(void *old, size_t number, size_t size)
{
    size_t all;
    return __builtin_mul_overflow(number, size, &all) ? no_memory() : realloc(old, all);
}

void *memalign(size_t alignment, size_t size)
{
    return fails(FAILURE_MEMORY) ? no_memory() : count(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **ret, size_t alignment, size_t size)
{
    void *data = memalign(alignment, size);
    if (!data)
        return ENOMEM;
    *ret = data;
    return 0;
}

void free(void *data)
{
    if (data && is_ready)
        __atomic_sub_fetch(&report.blocks, 1, __ATOMIC_RELAXED);
    __libc_free(data);
}

/* ---- mappings ---- */

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (fails(FAILURE_MAP)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    void *data =
        (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset); /* sets errno */
    if (data != MAP_FAILED)
        __atomic_add_fetch(&report.mapped, (int64_t)((size + 4095) / 4096), __ATOMIC_RELAXED);
    return data;
}

/* The same under the names that programs with _FILE_OFFSET_BITS=64 call. */
void *mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    return mmap(address, size, protection, flags, fd, offset);
}

void *mremap(void *old, size_t old_size, size_t size, int flags, ...)
{
    if (fails(FAILURE_MAP)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    void *data = (void *)syscall(SYS_mremap, old, old_size, size, flags);
    if (data != MAP_FAILED)
        __atomic_add_fetch(&report.mapped,
                           (int64_t)((size + 4095) / 4096) - (int64_t)((old_size + 4095) / 4096),
                           __ATOMIC_RELAXED);
    return data;
}

int munmap(void *data, size_t size)
{
    __atomic_sub_fetch(&report.mapped, (int64_t)((size + 4095) / 4096), __ATOMIC_RELAXED);
    return (int)syscall(SYS_munmap, data, size);
}

/* ---- threads, writing, files ---- */

#define NEXT(function) \
    static __typeof__(&function) next; \
    if (!next) \
    next = (__typeof__(&function))dlsym(RTLD_NEXT, #function)

int pthread_create(pthread_t *ret, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *context)
{
    NEXT(pthread_create);
    return fails(FAILURE_THREAD) ? EAGAIN : next(ret, attributes, run, context);
}

/* Counts a call that writes, and sets errno if it must fail. Messages on standard error are no
 * output that must be complete: these calls are not counted, and do not fail. */
static bool write_fails(int fd)
{
    if (fd == STDERR_FILENO || !fails(FAILURE_WRITE))
        return false;
    errno = ENOSPC;
    return true;
}

ssize_t write(int fd, const void *data, size_t size)
{
    return write_fails(fd) ? -1 : syscall(SYS_write, fd, data, size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
    return write_fails(fd) ? -1 : syscall(SYS_pwrite64, fd, data, size, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off_t offset)
{
    return write_fails(fd) ? -1 : syscall(SYS_pwrite64, fd, data, size, offset);
}

#define FILE_CALL(type, name, parameters, arguments) \
    type name parameters \
    { \
        NEXT(name); \
        if (!fails(FAILURE_FILE)) \
            return next arguments; \
        errno = EIO; \
        return -1; \
    }

FILE_CALL(ssize_t, read, (int fd, void *data, size_t size), (fd, data, size))
FILE_CALL(ssize_t, pread, (int fd, void *data, size_t size, off_t at), (fd, data, size, at))
FILE_CALL(int, fstat, (int fd, struct stat *ret), (fd, ret))
FILE_CALL(int, stat, (const char *path, struct stat *ret), (path, ret))
FILE_CALL(int, lstat, (const char *path, struct stat *ret), (path, ret))
FILE_CALL(off_t, lseek, (int fd, off_t offset, int from), (fd, offset, from))
FILE_CALL(int, ftruncate, (int fd, off_t size), (fd, size))
FILE_CALL(int, fsync, (int fd), (fd))
FILE_CALL(int, fchmod, (int fd, mode_t mode), (fd, mode))
FILE_CALL(int, fchown, (int fd, uid_t user, gid_t group), (fd, user, group))
FILE_CALL(int, rename, (const char *from, const char *to), (from, to))
FILE_CALL(int, linkat, (int from_at, const char *from, int to_at, const char *to, int flags),
          (from_at, from, to_at, to, flags))
FILE_CALL(ssize_t, readlink, (const char *path, char *text, size_t size), (path, text, size))
FILE_CALL(int, mkostemp, (char *path, int flags), (path, flags))
FILE_CALL(int, mkstemp, (char *path), (path))
FILE_CALL(ssize_t, getrandom, (void *data, size_t size, unsigned flags), (data, size, flags))

int open(const char *path, int flags, ...)
{
    NEXT(open);
    va_list more;
    va_start(more, flags);
    const int mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(more, int) : 0;
    va_end(more);
    if (fails(FAILURE_FILE)) {
        errno = EMFILE;
        return -1;
    }
    return next(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const int mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(more, int) : 0;
    va_end(more);
    return open(path, flags, mode);
}
