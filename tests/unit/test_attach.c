/*
 * Covers process/attach/*.c, but for forks, and procfs.c: which memory of a process is copied, that
 * the process goes on as if nothing had happened, the message if it cannot be read, and whether
 * there is memory for the copy.
 *
 * The processes are forked from this one. If the system lets nobody trace, as under some seccomp
 * profiles, the tests that trace are skipped.
 */
#include "unit.h"

#include "process/attach/attach.h"
#include "process/attach/available.h"
#include "process/attach/copy.h"
#include "process/attach/death.h"
#include "process/attach/fork.h"
#include "process/attach/inject.h"
#include "process/attach/refuse.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SPARSE_PAGES = 1 << 15,
    SPARSE_STEP = 100, /* the child touches every 100th page */
    GUARDED_PAGES = 16,
    GUARD_FIRST = 4,
    GUARD_END = 8,
    FILE_PAGES = 4,
    FILE_SIZE = 6000,        /* the pages behind the file's second one cannot be read */
    LARGE_PAGES = 1 << 19,   /* a file mapping of 2 GiB … */
    LARGE_WRITTEN = 1 << 17, /* … and the only page of it that the child writes to */
    FAR_SIZE = 3 << 20,
    MAP_FAR = 200, /* a request to the answering thread: map more memory */
    HEAP_SIZE = 300000,
    SPINNERS = 2,
    THREADS = 2 + SPINNERS, /* the first one, the one in read(), the spinners */
    MAX_CHILDREN = 5,       /* of one test */
    NO_FILTERS = 77,        /* the exit status of a process that seccomp filters are refused to */
    PATIENCE = 600000,      /* how many milliseconds a test waits for something before it fails */
};

/* What a child tells this process, in memory that they share. */
struct shared {
    uint8_t *heap, *sparse, *guarded, *of_file, *of_large;
    uint8_t *read_only;       /* a page that the child has read, and never written to */
    uint8_t *far;             /* mapped after MAP_FAR, or NULL */
    uint64_t stacks[THREADS]; /* the address of a frame on each thread's stack */
    int ids[THREADS];
    volatile unsigned ready, signals, failed_reads;
    uint8_t answer;
};

static struct shared *shared;
static size_t page;
static int requests[2], answers[2];  /* pipes to and from the child */
static pid_t children[MAX_CHILDREN]; /* which the test has started */
static unsigned child_count;

/* Returns the byte that a child writes at an offset of its memory. */
static uint8_t pattern(size_t at)
{
    return (uint8_t)(at * 7 + at / 4096 + 1);
}

static void fill(uint8_t *data, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        data[i] = pattern(i);
}

/* ---- the child ---- */

static uint8_t *map_private(size_t pages, int fd)
{
    void *data = mmap(NULL, pages * page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
    if (data == MAP_FAILED)
        _exit(90);
    return data;
}

static void make_sparse(void)
{
    shared->sparse = map_private(SPARSE_PAGES, -1);
    madvise(shared->sparse, SPARSE_PAGES * page, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < SPARSE_PAGES; i += SPARSE_STEP)
        fill(shared->sparse, i * page, i * page + page);
}

static void make_guarded(void)
{
    shared->guarded = map_private(GUARDED_PAGES, -1);
    fill(shared->guarded, 0, GUARDED_PAGES * page);
    mprotect(shared->guarded + GUARD_FIRST * page, (GUARD_END - GUARD_FIRST) * page, PROT_NONE);
}

/* Makes a file without a name and returns its descriptor. */
static int make_file(void)
{
    char path[] = "/tmp/go2heapsnapshot-unit.XXXXXX";
    const int fd = mkstemp(path);
    if (fd < 0 || unlink(path) != 0)
        _exit(91);
    return fd;
}

static void make_files(void)
{
    uint8_t bytes[FILE_SIZE];
    const int fd = make_file(), large = make_file();
    fill(bytes, 0, sizeof(bytes));
    if (write(fd, bytes, sizeof(bytes)) != sizeof(bytes) ||
        ftruncate(large, (off_t)LARGE_PAGES * (off_t)page) != 0)
        _exit(92);
    shared->of_file = map_private(FILE_PAGES, fd);
    shared->of_file[1] = 99; /* a private mapping does not write this to the file */
    shared->of_large = map_private(LARGE_PAGES, large);
    fill(shared->of_large, LARGE_WRITTEN * page, (LARGE_WRITTEN + 1) * page);
    close(fd);
    close(large);
}

/* Maps memory at an address that is far from all other mappings. */
static void map_far(void)
{
    void *far = mmap((void *)(uintptr_t)0x300000000000, FAR_SIZE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (far == MAP_FAILED)
        _exit(93);
    fill(far, 0, FAR_SIZE);
    shared->far = far;
}

/* A frame is on the stack in any case; sanitizers may have moved the variables elsewhere. */
static void note_thread(unsigned index)
{
    shared->stacks[index] = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    shared->ids[index] = gettid();
    __atomic_add_fetch(&shared->ready, 1, __ATOMIC_SEQ_CST);
}

static void *spin(void *argument)
{
    volatile uint64_t count = 0;
    note_thread((unsigned)(uintptr_t)argument);
    for (;;)
        count++;
    return NULL;
}

/* Answers each byte with the byte plus one; counts the reads that do not return one byte. */
static void *answer(void *argument)
{
    uint8_t byte = 0;
    note_thread((unsigned)(uintptr_t)argument);
    for (;;) {
        if (read(requests[0], &byte, 1) != 1)
            shared->failed_reads++;
        if (byte == MAP_FAR)
            map_far();
        byte++;
        if (write(answers[1], &byte, 1) != 1)
            _exit(94);
    }
    return NULL;
}

static void count_signal(int number)
{
    (void)number;
    __atomic_add_fetch(&shared->signals, 1, __ATOMIC_SEQ_CST);
}

static void run_child(void)
{
    pthread_t thread;
    shared->heap = malloc(HEAP_SIZE);
    fill(shared->heap, 0, HEAP_SIZE);
    make_sparse();
    make_guarded();
    make_files();
    shared->read_only = map_private(1, -1);
    shared->answer = *(volatile uint8_t *)shared->read_only;
    sigaction(SIGRTMIN, &(struct sigaction){.sa_handler = count_signal, .sa_flags = SA_RESTART},
              NULL);
    for (unsigned i = 1; i < THREADS; i++)
        pthread_create(&thread, NULL, i == 1 ? answer : spin, (void *)(uintptr_t)i);
    note_thread(0);
    for (;;)
        pause();
}

/* ---- this process and its child ---- */

/* Forks a process, which ends with the test at the latest. */
static pid_t fork_child(void)
{
    assert_true(child_count < MAX_CHILDREN);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    else
        children[child_count++] = pid;
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, __WALL), pid);
}

/* Returns whether this process can trace others, of which only those are read that are of 64 bits
 * and little-endian. */
static bool can_trace(void)
{
    if (sizeof(void *) < 8 || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
        return false;
    const pid_t pid = fork_child();
    if (pid == 0)
        for (;;)
            pause();
    const bool good = ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0;
    end(pid);
    return good;
}

/* Starts a child; skips the test if this process cannot trace others. */
static pid_t start(void (*run)(void))
{
    if (!can_trace())
        skip();
    const pid_t pid = fork_child();
    if (pid == 0) {
        run();
        _exit(0);
    }
    return pid;
}

static void wait_ready(unsigned wanted)
{
    for (unsigned i = 0; i < PATIENCE && shared->ready < wanted; i++)
        usleep(1000);
    assert_int_equal(shared->ready, wanted);
}

static pid_t start_child(void)
{
    const pid_t pid = start(run_child);
    wait_ready(THREADS);
    return pid;
}

/* Returns whether the child's thread in read() answers within this number of milliseconds. */
static bool answers_within(int milliseconds)
{
    const uint8_t request = 41;
    uint8_t byte = 0;
    assert_int_equal(write(requests[1], &request, 1), 1);
    for (int i = 0; i < milliseconds; i++) {
        if (read(answers[0], &byte, 1) == 1) {
            assert_int_equal(byte, request + 1);
            return true;
        }
        usleep(1000);
    }
    return false;
}

/* Returns whether the first thread of a process is stopped. */
static bool is_stopped(pid_t pid)
{
    char name[32];
    snprintf(name, sizeof(name), "/proc/%d/status", pid);
    struct text status = {0};
    const bool is_read = procfs_read(name, &status) == 0;
    const char *state = is_read ? procfs_value(&status, "State:") : NULL;
    const bool is = state && *state == 'T';
    text_deinit(&status);
    return is;
}

static void assert_goes_on(void)
{
    assert_true(answers_within(PATIENCE));
    assert_int_equal(shared->failed_reads, 0);
}

static void assert_attaches(pid_t pid, struct process *ret, struct attach_account *ret_account)
{
    assert_no_error(attach_copy((uint64_t)pid, NULL, ret, ret_account));
}

/* Attaches to the process and discards the copy. */
static void attach_once(pid_t pid)
{
    struct process process;
    struct attach_account account;
    assert_attaches(pid, &process, &account);
    process_deinit(&process);
}

/* Expects that attaching to the process gives an error whose message has words. */
static void assert_refused(uint64_t pid, const char *words)
{
    struct process process;
    struct attach_account account;
    struct g2h_error *error = attach_copy(pid, NULL, &process, &account);
    assert_non_null(error);
    assert_error(error, error->code, words);
}

/* Each test has memory, pipes and children of its own, so that none depends on how another ends. */
static int set_up(void **state)
{
    (void)state;
    page = (size_t)sysconf(_SC_PAGESIZE);
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    signal(SIGPIPE, SIG_IGN);
    return shared != MAP_FAILED && pipe(requests) == 0 && pipe2(answers, O_NONBLOCK) == 0 ? 0 : -1;
}

/* Ends the children that the test has left. */
static int tear_down(void **state)
{
    (void)state;
    /* The last ones first: one that traces another would be told of that one's end. */
    while (child_count > 0) {
        const pid_t pid = children[--child_count];
        if (waitpid(pid, NULL, WNOHANG | __WALL) == 0)
            end(pid);
    }
    for (unsigned i = 0; i < 2; i++) {
        close(requests[i]);
        close(answers[i]);
    }
    return munmap(shared, sizeof(*shared));
}

/* ---- what is copied ---- */

static void assert_pattern(const struct memory *memory, const uint8_t *start, size_t from,
                           size_t to)
{
    const uint8_t *bytes = memory_at(memory, (uint64_t)(uintptr_t)start + from, to - from);
    assert_non_null(bytes);
    for (size_t i = from; i < to; i++)
        if (bytes[i - from] != pattern(i))
            fail_msg("byte %zu is %u, not %u", i, bytes[i - from], pattern(i));
}

static bool is_there(const struct memory *memory, const void *address)
{
    return memory_range_at(memory, (uint64_t)(uintptr_t)address) != NULL;
}

/* Expects pages that the child has not touched to be zeros, in one piece with the touched pages. */
static void assert_sparse(const struct memory *memory)
{
    const uint64_t address = (uint64_t)(uintptr_t)shared->sparse;
    const uint8_t *bytes = memory_at(memory, address, SPARSE_PAGES * page);
    assert_non_null(bytes);
    for (size_t i = 0; i < SPARSE_PAGES; i++)
        for (size_t at = i * page; at < (i + 1) * page; at += 97)
            assert_int_equal(bytes[at], i % SPARSE_STEP == 0 ? pattern(at) : 0);
}

static void assert_guarded(const struct memory *memory)
{
    assert_pattern(memory, shared->guarded, 0, GUARD_FIRST * page);
    assert_pattern(memory, shared->guarded, GUARD_END * page, GUARDED_PAGES * page);
    for (size_t i = GUARD_FIRST; i < GUARD_END; i++)
        assert_false(is_there(memory, shared->guarded + i * page));
}

static void assert_of_file(const struct memory *memory)
{
    const size_t readable = (FILE_SIZE + page - 1) / page * page;
    const uint8_t *bytes = memory_at(memory, (uint64_t)(uintptr_t)shared->of_file, readable);
    assert_non_null(bytes);
    assert_int_equal(bytes[0], pattern(0));
    assert_int_equal(bytes[1], 99);
    assert_pattern(memory, shared->of_file, 2, FILE_SIZE);
    assert_int_equal(bytes[readable - 1], 0);
    for (size_t at = readable; at < FILE_PAGES * page; at += page)
        assert_false(is_there(memory, shared->of_file + at));
}

/* Expects that of a mapping that is too large for a program only the page is copied that is not in
 * the file. */
static void assert_of_large(const struct memory *memory)
{
    const size_t from = LARGE_WRITTEN * page;
    assert_pattern(memory, shared->of_large, from, from + page);
    assert_false(is_there(memory, shared->of_large + from - 1));
    assert_false(is_there(memory, shared->of_large + from + page));
}

TEST(test_memory)
{
    const pid_t pid = start_child();
    struct process process;
    struct attach_account account;
    assert_attaches(pid, &process, &account);
    assert_goes_on();
    assert_pattern(&process.memory, shared->heap, 0, HEAP_SIZE);
    assert_sparse(&process.memory);
    assert_guarded(&process.memory);
    assert_of_file(&process.memory);
    assert_of_large(&process.memory);
    assert_false(is_there(&process.memory, shared)); /* other processes share it */
    assert_true(is_there(&process.memory, &page));
    assert_true(account.bytes > HEAP_SIZE && account.bytes < process.memory.bytes);
    assert_true(account.reads > 0);
    assert_int_equal(account.unreadable, (FILE_PAGES - (FILE_SIZE + page - 1) / page) * page);
    assert_true(account.copy_seconds > 0 && account.copy_seconds < account.stopped_seconds);
    process_deinit(&process);
}

/* Makes the child map more memory; a function of struct g2h_progress. */
static void let_it_grow(void *context, const char *phase, uint64_t done, uint64_t total,
                        uint64_t objects)
{
    const uint8_t request = MAP_FAR;
    bool *has_asked = context;
    (void)done, (void)total, (void)objects;
    if (strcmp(phase, "preparing") != 0 || shared->far)
        return;
    *has_asked = true;
    assert_int_equal(write(requests[1], &request, 1), 1);
    while (!((volatile struct shared *)shared)->far)
        usleep(1000);
}

/* The copy also has memory that the process has mapped after the copy got its memory. */
TEST(test_growth)
{
    const pid_t pid = start_child();
    struct process process;
    struct attach_account account;
    bool has_asked = false;
    const struct g2h_progress progress = {let_it_grow, &has_asked};
    uint8_t byte;
    assert_no_error(attach_copy((uint64_t)pid, &(struct attach_options){.progress = &progress},
                                &process, &account));
    /* Without MADV_POPULATE_WRITE there is no phase in which to ask. */
    while (has_asked && read(answers[0], &byte, 1) != 1)
        usleep(1000);
    assert_goes_on();
    if (shared->far) /* NULL before Linux 5.14 */
        assert_pattern(&process.memory, shared->far, 0, FAR_SIZE);
    assert_pattern(&process.memory, shared->heap, 0, HEAP_SIZE);
    assert_sparse(&process.memory);
    process_deinit(&process);
}

/* Attaches with a limit on addresses, or on memory that may be written to; the exit status tells
 * which check failed. */
static void attach_with_limit(pid_t pid, int resource)
{
    const struct rlimit limit = {100 << 20, 100 << 20};
    struct process process;
    struct attach_account account;
    if (setrlimit(resource, &limit) != 0)
        _exit(1);
    struct g2h_error *error = attach_copy((uint64_t)pid, NULL, &process, &account);
    if (resource == RLIMIT_AS)
        _exit(error && strstr(error->message, "the limit is 102400 kB: raise it (ulimit -v)") ? 0
                                                                                              : 2);
    if (error)
        _exit(3);
    assert_sparse(&process.memory);
    assert_pattern(&process.memory, shared->heap, 0, HEAP_SIZE);
    _exit(0);
}

/* No object has a part that is missing: where the system counts memory that is only reserved, the
 * copy reserves less of it, or is refused if the addresses themselves are too many. */
TEST(test_limits)
{
    static const int resources[] = {RLIMIT_AS, RLIMIT_DATA};
    int status;
    if (UNIT_SANITIZED)
        skip(); /* sanitizers need many addresses themselves */
    const pid_t pid = start_child();
    for (size_t i = 0; i < sizeof(resources) / sizeof(*resources); i++) {
        const pid_t other = fork_child();
        if (other == 0)
            attach_with_limit(pid, resources[i]);
        assert_int_equal(waitpid(other, &status, 0), other);
        assert_int_equal(status, 0);
        assert_goes_on();
    }
}

/* ---- system calls that are forbidden ---- */

/* Makes a system call fail in this process from now on; ends it where that is not possible. */
static void forbid(int call, int error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(NO_FILTERS);
}

/* Expects that a process that the test has forked ends well; skips the test if the system has no
 * filters. */
static void assert_ends_well(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_FILTERS)
        skip();
    assert_int_equal(status, 0);
}

static void assert_copies_all(pid_t pid)
{
    struct process process;
    struct attach_account account;
    assert_attaches(pid, &process, &account);
    assert_pattern(&process.memory, shared->heap, 0, HEAP_SIZE);
    assert_sparse(&process.memory);
    assert_guarded(&process.memory);
    assert_of_file(&process.memory);
    assert_of_large(&process.memory);
    assert_int_equal(account.unreadable, (FILE_PAGES - (FILE_SIZE + page - 1) / page) * page);
    process_deinit(&process);
}

/* Where process_vm_readv() is forbidden or does not exist, the same memory is copied by a file. */
TEST(test_forbidden)
{
    static const int errors[] = {EPERM, ENOSYS, EACCES};
    const pid_t pid = start_child();
    for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
        const pid_t other = fork_child();
        if (other == 0) {
            forbid(SYS_process_vm_readv, errors[i]);
            assert_copies_all(pid);
            _exit(0);
        }
        assert_ends_well(other);
        assert_goes_on();
    }
}

/* Returns the run of pages that an address is in; NULL if they are left out. */
static const struct attach_run *run_at(const struct attach_pages *pages, uint64_t address)
{
    for (size_t i = 0; i < pages->runs.count; i++)
        if (address - pages->runs.data[i].address < pages->runs.data[i].size)
            return &pages->runs.data[i];
    return NULL;
}

/* Returns the kind of pages at an address, or -1 if they are left out. */
static int kind_at(const struct attach_pages *pages, uint64_t address)
{
    const struct attach_run *run = run_at(pages, address);
    return run ? (int)run->kind : -1;
}

/* Expects that what one way of finding pages says agrees with the other: the pagemap does not tell
 * the page of zeros from others that several processes share. It goes from run to run, since a
 * sanitizer reserves terabytes. */
static void assert_agree(const struct attach_pages *by_scan, const struct attach_pages *by_pagemap)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < by_pagemap->runs.count; i++) {
        const struct attach_run *run = &by_pagemap->runs.data[i];
        const uint64_t end = run->address + run->size;
        for (uint64_t at = run->address, next; at < end; bytes += next - at, at = next) {
            const struct attach_run *other = run_at(by_scan, at);
            const int kind = other ? (int)other->kind : -1;
            if (kind < 0 || (run->kind != ATTACH_MAYBE && kind != (int)run->kind))
                fail_msg("page %" PRIx64 ": %d by the scan, %d by the pagemap", at, kind,
                         run->kind);
            next = other->address + other->size < end ? other->address + other->size : end;
        }
    }
    assert_int_equal(by_scan->size, by_pagemap->size);
    assert_int_equal(bytes, by_scan->size);
    assert_true(by_scan->resident <= by_pagemap->resident);
}

/* Returns whether memory that was read and never written to takes none: not all kernels have a page
 * of zeros. */
static bool has_zeros(void)
{
    enum { PAGES = 1 << 12 };
    struct rusage before, after;
    volatile uint8_t *memory = map_private(PAGES, -1);
    madvise((void *)memory, PAGES * page, MADV_NOHUGEPAGE);
    getrusage(RUSAGE_SELF, &before);
    for (size_t i = 0; i < PAGES; i++)
        (void)memory[i * page];
    getrusage(RUSAGE_SELF, &after);
    munmap((void *)memory, PAGES * page);
    return after.ru_maxrss - before.ru_maxrss < (long)(PAGES / 2 * page >> 10);
}

/* Finds the pages of a stopped process by the scan, if the system has it (Linux 6.7), and without,
 * by the pagemap. */
TEST(test_ways_to_find)
{
    const pid_t pid = start_child(), other = fork_child();
    if (other == 0) {
        struct attach_pages by_scan = {0}, by_pagemap = {0};
        kill(pid, SIGSTOP);
        while (!is_stopped(pid))
            usleep(1000);
        assert_int_equal(attach_pages_find((uint64_t)pid, &by_scan), 0);
        forbid(SYS_ioctl, ENOTTY);
        assert_int_equal(attach_pages_find((uint64_t)pid, &by_pagemap), 0);
        if (by_scan.is_guess)
            _exit(NO_FILTERS); /* not even a pagemap */
        const uint64_t read_only = (uint64_t)(uintptr_t)shared->read_only;
        const bool zeros = has_zeros();
        assert_int_equal(kind_at(&by_scan, read_only), zeros ? ATTACH_ZERO : ATTACH_WRITTEN);
        assert_int_equal(kind_at(&by_pagemap, read_only), zeros ? ATTACH_MAYBE : ATTACH_WRITTEN);
        assert_agree(&by_scan, &by_pagemap);
        _exit(0);
    }
    assert_ends_well(other);
    kill(pid, SIGCONT);
    assert_goes_on();
}

/* ---- how the threads are scheduled ---- */

/* Returns a number of /proc/PID/task/TID/stat by its place behind the name, as in proc(5). */
static long stat_of(const char *task, unsigned place)
{
    char path[300], line[1024];
    snprintf(path, sizeof(path), "/proc/self/task/%s/stat", task);
    FILE *file = fopen(path, "r");
    const size_t size = file ? fread(line, 1, sizeof(line) - 1, file) : 0;
    if (file)
        fclose(file);
    line[size] = '\0';
    char *at = strrchr(line, ')');
    for (unsigned i = 2; at && i < place; i++)
        at = strchr(at + 1, ' ');
    return at ? strtol(at, NULL, 10) : -1;
}

/* Counts the threads of this process that are under SCHED_RR. */
static unsigned count_urgent(void)
{
    enum { POLICY = 41 };
    unsigned count = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (const struct dirent *entry; (entry = readdir(tasks));)
        count += *entry->d_name != '.' && stat_of(entry->d_name, POLICY) == SCHED_RR;
    closedir(tasks);
    return count;
}

/* What is seen of the threads' policies while the process is copied. */
struct seen {
    unsigned urgent;  /* the most threads */
    bool is_early;    /* some were urgent before the process was stopped */
    bool is_confined; /* what these threads start is not urgent */
    pid_t kill;       /* a process that is to be killed, or 0 */
};

static void see(void *context, const char *phase, uint64_t done, uint64_t total, uint64_t objects)
{
    struct seen *seen = context;
    const unsigned urgent = count_urgent();
    (void)done, (void)total, (void)objects;
    if (strcmp(phase, "copying") != 0) {
        seen->is_early |= urgent > 0;
        return;
    }
    seen->urgent = urgent > seen->urgent ? urgent : seen->urgent;
    seen->is_confined = (sched_getscheduler(0) & SCHED_RESET_ON_FORK) != 0;
    if (seen->kill != 0)
        kill(seen->kill, SIGKILL);
}

/* Attaches with one policy after the other, and expects each to be there again afterwards. */
static void assert_urgent(pid_t pid, pid_t kill)
{
    static const int policies[] = {SCHED_BATCH, SCHED_OTHER};
    for (size_t i = 0; i < sizeof(policies) / sizeof(*policies); i++) {
        struct seen seen = {.kill = kill};
        const struct g2h_progress progress = {see, &seen};
        struct process process = {0};
        struct attach_account account = {0};
        assert_int_equal(sched_setscheduler(0, policies[i], &(struct sched_param){0}), 0);
        struct g2h_error *error = attach_copy(
            (uint64_t)pid, &(struct attach_options){.progress = &progress}, &process, &account);
        assert_true(!error || kill != 0);
        g2h_error_destroy(error);
        process_deinit(&process);
        assert_int_equal(sched_getscheduler(0), policies[i]);
        assert_int_equal(count_urgent(), 0);
        assert_false(seen.is_early);
        assert_true(seen.is_confined);
        assert_true(seen.urgent >= 2); /* at least what stops the process, and what copies it */
        assert_int_equal(account.urgent_error, 0);
        if (kill != 0)
            return;
    }
}

/* What stops and copies a process is under SCHED_RR until the process goes on, and no longer. */
TEST(test_urgent)
{
    const struct sched_param lowest = {.sched_priority = 1}, none = {0};
    const pid_t pid = start_child();
    if (sched_setscheduler(0, SCHED_RR, &lowest) != 0)
        skip(); /* who runs the test may not */
    assert_int_equal(sched_setscheduler(0, SCHED_OTHER, &none), 0);
    assert_urgent(pid, 0);
    assert_goes_on();
    assert_urgent(pid, pid);
}

/* Without that right it works as well. */
TEST(test_not_urgent)
{
    const pid_t pid = start_child(), other = fork_child();
    if (other == 0) {
        forbid(SYS_sched_setscheduler, EPERM);
        struct process process;
        struct attach_account account;
        assert_attaches(pid, &process, &account);
        assert_int_equal(account.urgent_error, EPERM);
        assert_pattern(&process.memory, shared->heap, 0, HEAP_SIZE);
        _exit(0);
    }
    assert_ends_well(other);
    assert_goes_on();
}

/* The copy has the process's executable, machine and entry. */
TEST(test_identity)
{
    const pid_t pid = start_child();
    struct process process;
    struct attach_account account;
    char path[4096] = {0}, name[32];
    assert_attaches(pid, &process, &account);
    assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
    assert_string_equal(process.executable, path);
    assert_true(process.machine != 0);
    snprintf(name, sizeof(name), "process %d", pid);
    assert_string_equal(process.name, name);
    FILE *maps = fopen("/proc/self/maps", "r"); /* the child has the same mappings */
    uint64_t from, to;
    bool found = false;
    for (char line[5000]; fgets(line, sizeof(line), maps);)
        found |= sscanf(line, "%" SCNx64 "-%" SCNx64 " r-x", &from, &to) == 2 &&
                 strstr(line, path) && process.entry - from < to - from;
    fclose(maps);
    assert_true(found);
    process_deinit(&process);
}

/* Each thread's stack pointer is near a frame of its own. */
TEST(test_registers)
{
    const pid_t pid = start_child();
    struct process process;
    struct attach_account account;
    unsigned found = 0;
    assert_attaches(pid, &process, &account);
    assert_int_equal(process.threads.count, THREADS);
    assert_int_equal(account.threads, THREADS);
    assert_int_equal(account.stuck, 0);
    for (size_t i = 0; i < THREADS; i++) {
        const struct process_thread *thread = &process.threads.data[i];
        assert_true(thread->count > 19);
        for (size_t k = 0; k < THREADS; k++) {
            if (thread->id != (uint64_t)shared->ids[k])
                continue;
            found++;
#if defined(__x86_64__)
            assert_in_range(shared->stacks[k] - thread->registers[19] + 4096, 0, 65536);
#elif defined(__aarch64__)
            assert_in_range(shared->stacks[k] - thread->registers[31] + 4096, 0, 65536);
#endif
        }
    }
    assert_int_equal(found, THREADS);
    process_deinit(&process);
}

/* ---- the process goes on ---- */

TEST(test_again_and_again)
{
    const pid_t pid = start_child();
    for (unsigned i = 0; i < 20; i += unit_step()) {
        attach_once(pid);
        assert_goes_on();
    }
}

/* A sender queues signals while the child is attached to again and again; none of them is lost. */
TEST(test_signals)
{
    enum { SIGNALS = 3000 };
    const pid_t pid = start_child(), sender = fork_child();
    int status;
    if (sender == 0) {
        for (unsigned i = 0; i < SIGNALS; i++) {
            while (sigqueue(pid, SIGRTMIN, (union sigval){0}) != 0)
                usleep(100);
            usleep(10);
        }
        _exit(0);
    }
    for (unsigned i = 0; i < 3 || waitpid(sender, &status, WNOHANG) == 0; i++)
        attach_once(pid);
    for (unsigned i = 0; i < PATIENCE && shared->signals < SIGNALS; i++)
        usleep(1000);
    assert_int_equal(shared->signals, SIGNALS);
    assert_goes_on();
}

/* Sends the child a signal while it is copied; a function of struct g2h_progress. */
static void signal_it(void *context, const char *phase, uint64_t done, uint64_t total,
                      uint64_t objects)
{
    const int *what = context;
    (void)done, (void)total, (void)objects;
    if (strcmp(phase, "copying") == 0)
        kill(what[0], what[1]);
}

TEST(test_signal_while_stopped)
{
    const pid_t pid = start_child();
    struct process process;
    struct attach_account account;
    int what[] = {pid, SIGRTMIN};
    const struct g2h_progress progress = {signal_it, what};
    assert_no_error(attach_copy((uint64_t)pid, &(struct attach_options){.progress = &progress},
                                &process, &account));
    process_deinit(&process);
    for (unsigned i = 0; i < PATIENCE && shared->signals == 0; i++)
        usleep(1000);
    assert_true(shared->signals > 0);
    assert_goes_on();
}

/* A process that was stopped before stays stopped until somebody sends it SIGCONT. */
TEST(test_stopped_before)
{
    const pid_t pid = start_child();
    int status;
    kill(pid, SIGSTOP);
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(WIFSTOPPED(status));
    attach_once(pid);
    assert_false(answers_within(100));
    attach_once(pid);
    assert_false(answers_within(100));
    kill(pid, SIGCONT);
    for (unsigned i = 0; i < 2; i++) {
        uint8_t byte;
        while (read(answers[0], &byte, 1) != 1)
            usleep(1000);
    }
    assert_goes_on();
}

static void *end_at_once(void *argument)
{
    return argument;
}

static void run_churn(void)
{
    shared->ready = 1;
    for (;;) {
        pthread_t threads[8];
        for (unsigned i = 0; i < 8; i++)
            pthread_create(&threads[i], NULL, end_at_once, NULL);
        for (unsigned i = 0; i < 8; i++)
            pthread_join(threads[i], NULL);
        shared->signals++;
    }
}

/* Threads may begin and end while the process is being stopped. */
TEST(test_churn)
{
    const pid_t pid = start(run_churn);
    wait_ready(1);
    for (unsigned i = 0; i < 30; i += unit_step())
        attach_once(pid);
    const unsigned before = shared->signals;
    for (unsigned i = 0; i < PATIENCE && shared->signals == before; i++)
        usleep(1000);
    assert_true(shared->signals > before);
}

/* The new process has the memory of this one, whose thread stays in the kernel until it has ended:
 * until the test sends a byte, or has ended. */
static void run_vfork(void)
{
    close(requests[1]);
    if (vfork() == 0) {
        uint8_t byte;
        shared->ready = 1;
        _exit(read(requests[0], &byte, 1) == 1 ? 0 : 1);
    }
    shared->signals = 1;
    for (;;)
        pause();
}

/* If a thread is in the kernel and does not come out, the process is read without its registers. */
TEST(test_stuck)
{
    const pid_t pid = start(run_vfork);
    const uint8_t request = 0;
    struct process process;
    struct attach_account account;
    wait_ready(1);
    assert_attaches(pid, &process, &account);
    assert_int_equal(account.stuck, 1);
    assert_int_equal(account.in_vfork, 1);
    assert_int_equal(account.threads, 0);
    assert_int_equal(shared->signals, 0);
    process_deinit(&process);
    assert_int_equal(write(requests[1], &request, 1), 1);
    for (unsigned i = 0; i < PATIENCE && shared->signals == 0; i++)
        usleep(1000);
    assert_int_equal(shared->signals, 1);
}

static void run_large(void)
{
    fill(map_private(20000, -1), 0, 20000 * page);
    shared->ready = 1;
    for (;;)
        pause();
}

/* Ends the child while it is copied; a function of struct g2h_progress. */
static void kill_it(void *context, const char *phase, uint64_t done, uint64_t total,
                    uint64_t objects)
{
    const pid_t *pid = context;
    siginfo_t info;
    (void)done, (void)total, (void)objects;
    if (strcmp(phase, "copying") == 0 && kill(*pid, SIGKILL) == 0)
        waitid(P_PID, (id_t)*pid, &info, WEXITED | WNOWAIT);
}

/* The process is killed while it is copied. The copy uses one thread, because another one might be
 * done by then. */
TEST(test_killed)
{
    pid_t pid = start(run_large);
    struct process process;
    struct attach_account account;
    const struct g2h_progress progress = {kill_it, &pid};
    cpu_set_t all, one;
    wait_ready(1);
    CPU_ZERO(&one);
    sched_getaffinity(0, sizeof(all), &all);
    for (unsigned i = 0; CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    sched_setaffinity(0, sizeof(one), &one);
    struct g2h_error *error = attach_copy(
        (uint64_t)pid, &(struct attach_options){.progress = &progress}, &process, &account);
    sched_setaffinity(0, sizeof(all), &all);
    assert_error(error, G2H_ERROR_SYSTEM, "has ended");
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Ends the child when the first memory for its copy has been got; how much is got of how much. */
struct ending {
    pid_t pid;
    uint64_t done, total;
};

static void kill_prepared(void *context, const char *phase, uint64_t done, uint64_t total,
                          uint64_t objects)
{
    struct ending *ending = context;
    siginfo_t info;
    (void)objects;
    assert_string_equal(phase, "preparing");
    if (ending->done == 0 && kill(ending->pid, SIGKILL) == 0)
        waitid(P_PID, (id_t)ending->pid, &info, WEXITED | WNOWAIT);
    ending->done = done;
    ending->total = total;
}

/* The process is killed while memory for its copy is got: that is said before more is got. */
TEST(test_killed_prepared)
{
    struct ending ending = {.pid = start(run_large)};
    struct process process;
    struct attach_account account;
    const struct g2h_progress progress = {kill_prepared, &ending};
    wait_ready(1);
    assert_error(attach_copy((uint64_t)ending.pid, &(struct attach_options){.progress = &progress},
                             &process, &account),
                 G2H_ERROR_SYSTEM, "has ended");
    assert_in_range(ending.done, 1, 32 << 20); /* a piece, and one in which it began */
    assert_true(ending.total > 64 << 20);
    assert_int_equal(waitpid(ending.pid, NULL, 0), ending.pid);
}

struct refusing {
    uint64_t least;
    unsigned asked;
};

static bool refuses_rest(void *context, uint64_t left)
{
    struct refusing *refusing = context;
    refusing->asked++;
    refusing->least = left < refusing->least ? left : refusing->least;
    return left > 60ull << 20;
}

/* Memory is got in pieces, until the guard says that it is enough. It is not asked for each of many
 * small runs: an answer reads files of the control groups. */
TEST(test_guard)
{
    enum { SIZE = 128 << 20, SMALL_RUNS = 1000 };
    struct attach_pages pages = {.resident = SIZE + SMALL_RUNS * page};
    struct attach_space space = {0};
    struct refusing refusing = {.least = UINT64_MAX};
    const struct attach_guard guard = {refuses_rest, &refusing};
    for (uint64_t i = 0; i < SMALL_RUNS; i++) {
        const struct attach_run small = {0x80000000 + 2 * i * page, page, ATTACH_WRITTEN};
        assert_true(vector_push(&pages.runs, small));
    }
    const struct attach_run run = {0x100000000, SIZE, ATTACH_WRITTEN};
    assert_true(vector_push(&pages.runs, run));
    assert_true(attach_space_make(&pages, 0, &space));
    assert_false(attach_space_fill(&space, &pages, &guard, NULL));
    assert_in_range(refusing.least, 40ull << 20, 60ull << 20);
    assert_in_range(refusing.asked, 4, 12);
    attach_space_deinit(&space);
    attach_pages_deinit(&pages);
}

/* ---- processes that cannot be read ---- */

TEST(test_nobody)
{
    int status;
    const pid_t pid = fork_child();
    if (pid == 0)
        _exit(0);
    assert_refused((uint64_t)getpid(), "is this very program");
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_refused((uint64_t)pid, "has exited (zombie of process");
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_refused((uint64_t)pid, "no such process");
    assert_refused(0, "no such process");
    assert_refused(UINT64_MAX, "no such process");
    assert_refused(((uint64_t)1 << 32) + (uint64_t)getpid(), "no such process");
}

TEST(test_thread)
{
    const pid_t pid = start_child();
    char words[64];
    snprintf(words, sizeof(words), "is a thread of process %d", pid);
    assert_refused((uint64_t)shared->ids[1], words);
}

TEST(test_traced)
{
    const pid_t pid = start_child(), tracer = fork_child();
    char words[64];
    if (tracer == 0) {
        shared->failed_reads = ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0 ? 1 : 2;
        for (;;)
            pause();
    }
    while (shared->failed_reads == 0)
        usleep(1000);
    assert_int_equal(shared->failed_reads, 1);
    snprintf(words, sizeof(words), "process %d (test_attach) traces it already", tracer);
    assert_refused((uint64_t)pid, words);
    end(tracer);
    attach_once(pid);
}

/* A process is alive as long as a thread of it is: not one that is left out, and not what is to be
 * waited for. */
TEST(test_alive)
{
    const pid_t pid = start_child(), alone = fork_child();
    siginfo_t info;
    if (alone == 0)
        for (;;)
            pause();
    assert_true(death_is_alive((uint64_t)pid, 0));
    assert_true(death_is_alive((uint64_t)pid, pid)); /* its other threads */
    assert_true(death_is_alive((uint64_t)alone, 0));
    assert_false(death_is_alive((uint64_t)alone, alone));
    assert_int_equal(kill(alone, SIGKILL), 0);
    assert_int_equal(waitid(P_PID, (id_t)alone, &info, WEXITED | WNOWAIT), 0);
    assert_false(death_is_alive((uint64_t)alone, 0)); /* though it is still there */
    assert_int_equal(waitpid(alone, NULL, 0), alone);
    assert_false(death_is_alive((uint64_t)alone, 0));
}

/* Expects that attaching as a user without rights gives an error whose message has words. */
static void assert_refused_as_nobody(pid_t pid, const char *words)
{
    const pid_t other = fork_child();
    if (other == 0) {
        struct process process;
        struct attach_account account;
        if (setgid(65534) != 0 || setuid(65534) != 0)
            _exit(3);
        struct g2h_error *error = attach_copy((uint64_t)pid, NULL, &process, &account);
        _exit(error && strstr(error->message, words) ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(other, &status, 0), other);
    assert_int_equal(status, 0);
}

TEST(test_other_user)
{
    if (getuid() != 0)
        skip();
    const pid_t pid = start_child();
    assert_refused_as_nobody(pid, "runs as another user");
    assert_goes_on();
}

static void run_protected(void)
{
    if (setgid(65534) != 0 || setuid(65534) != 0)
        _exit(97);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* another user's process has lost this */
    prctl(PR_SET_DUMPABLE, 0);
    run_child();
}

TEST(test_protected)
{
    if (getuid() != 0)
        skip();
    const pid_t pid = start(run_protected);
    wait_ready(THREADS);
    assert_refused_as_nobody(pid, "is protected");
    attach_once(pid);
    assert_goes_on();
}

/* A 32-bit program that waits: mov $29, %eax; int $0x80; jmp to the start. */
static const uint8_t program_32[] =
    {
        0x7f, 'E',  'L', 'F',  1,    1,    1,    0,    0,    0,
        0,    0,    0,   0,    0,    0, /* identification */
        2,    0,    3,   0,    1,    0,    0,    0,    0x54, 0x80,
        0x04, 0x08, 52,  0,    0,    0, /* i386, entry */
        0,    0,    0,   0,    0,    0,    0,    0,    52,   0,
        32,   0,    1,   0,    0,    0,    0,    0,    0,    0, /* one program header */
        1,    0,    0,   0,    0,    0,    0,    0,    0,    0x80,
        0x04, 0x08, 0,   0x80, 0x04, 0x08, /* PT_LOAD */
        0x5d, 0,    0,   0,    0x5d, 0,    0,    0,    5,    0,
        0,    0,    0,   0x10, 0,    0, /* r-x */
        0xb8, 29,   0,   0,    0,    0xcd, 0x80, 0xeb, 0xf7,
};

static void run_32(void)
{
    char path[] = "/tmp/go2heapsnapshot-unit.XXXXXX";
    const int fd = mkstemp(path);
    if (fd < 0 || write(fd, program_32, sizeof(program_32)) != sizeof(program_32))
        _exit(95);
    fchmod(fd, 0700);
    close(fd);
    const int again = open(path, O_RDONLY | O_CLOEXEC);
    unlink(path);
    char *const none[] = {NULL};
    fexecve(again, (char *[]){path, NULL}, none);
    _exit(96);
}

TEST(test_32_bits)
{
    const pid_t pid = start(run_32);
    char exe[64], target[4096] = {0};
    int status;
    snprintf(exe, sizeof(exe), "/proc/%d/exe", pid);
    for (unsigned i = 0; i < PATIENCE && !strstr(target, "go2heapsnapshot-unit"); i++) {
        if (waitpid(pid, &status, WNOHANG) == pid)
            skip(); /* the system does not run 32-bit programs */
        usleep(1000);
        if (readlink(exe, target, sizeof(target) - 1) < 0)
            target[0] = '\0';
    }
    assert_refused((uint64_t)pid, "32-bit and big-endian processes are not read");
}

/* ---- messages, and memory for the copy ---- */

TEST(test_refusals)
{
    static const struct {
        struct attach_facts facts;
        const char *words;
    } rows[] = {
        {{.is_self = true}, "process 7: is this very program"},
        {{.error = 0}, "process 7: no such process"},
        {{.environment = ATTACH_CONTAINER}, "no such process (PIDs differ inside this container"},
        {{.was_there = true, .error = ESRCH}, "has ended while it was read"},
        {{.is_there = true, .was_there = true, .has_no_memory = true}, "has ended while it was"},
        {{.is_there = true,
          .was_there = true,
          .state = 't',
          .tracer = 5,
          .tracer_name = "go2heapsnapshot",
          .error = ESRCH},
         "has ended while it was"},
        {{.is_there = true, .leader = 5}, "is a thread of process 5: give that number"},
        {{.is_there = true, .state = 'Z', .parent = 3}, "has exited (zombie of process 3)"},
        {{.is_there = true, .has_no_memory = true, .parent = 2}, "is a thread of the kernel"},
        {{.is_there = true, .has_no_memory = true, .parent = 3}, "is exiting"},
        {{.is_there = true, .tracer = 9, .tracer_name = "gdb"}, "process 9 (gdb) traces it"},
        {{.is_there = true, .error = ETIMEDOUT}, "does not stop"},
        {{.is_there = true, .error = EPIPE}, "cannot be read: Broken pipe"},
        {{.error = EMFILE}, "no file descriptor is left for this program: raise ulimit -n"},
        {{.error = ENFILE, .is_there = true}, "no file descriptor is left on this system"},
        {{.has_no_proc = true, .is_there = true, .is_hidden = true}, "/proc is not mounted here"},
        {{.is_other_proc = true, .error = ESRCH, .is_there = true}, "of another pid namespace"},
        {{.is_there = true, .error = EPERM, .tracer = 9, .tracer_name = "strace", .traced = 8},
         "process 9 (strace) traces its thread 8 already"},
        {{.is_there = true, .error = EPERM, .has_more = true},
         "has capabilities (CapPrm in /proc/7"},
        {{.is_there = true, .error = ENOSYS}, "there is no ptrace here"},
        {{.is_there = true, .error = EPERM, .yama = 3}, "until it is restarted"},
        {{.is_there = true, .error = EPERM, .yama = 3, .may_trace = true}, "take a core instead"},
        {{.is_there = true, .error = EPERM, .yama = 2}, "ptrace_scope is 2): run this with sudo"},
        {{.is_there = true, .error = EPERM, .yama = 2, .is_other_user = true}, "is 2): run"},
        {{.is_there = true, .error = EPERM, .yama = 1}, "ptrace_scope is 1): run this with sudo"},
        {{.is_there = true, .error = EPERM, .yama = 1, .is_other_user = true, .user = 33},
         "runs as another user or group (uid 33)"},
        {{.is_there = true, .error = EACCES, .is_other_user = true},
         "run this as that user, or run"},
        {{.is_there = true, .error = EPERM}, "PR_SET_DUMPABLE off; run this with sudo"},
        {{.is_there = true, .error = EPERM, .environment = ATTACH_CONTAINER},
         "--cap-add SYS_PTRACE"},
        {{.is_there = true, .error = EPERM, .environment = ATTACH_KUBERNETES}, "kubectl debug"},
        {{.is_there = true, .error = EPERM, .may_trace = true},
         "although go2heapsnapshot has CAP_SYS_PTRACE"},
        {{.is_there = true, .is_hidden = true, .error = ENOENT}, "runs as another user: run"},
        {{.is_there = true, .error = ENOMEM}, "not enough memory"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct attach_facts facts = rows[i].facts;
        facts.pid = 7;
        facts.leader = facts.leader ? facts.leader : 7;
        struct g2h_error *error = attach_refusal(&facts);
        assert_non_null(error);
        if (!strstr(error->message, rows[i].words))
            fail_msg("row %zu: '%s' is not in: %s", i, rows[i].words, error->message);
        if (error->message[strlen(error->message) - 1] == '.' || strchr(error->message, '\n'))
            fail_msg("row %zu: no line without a full stop: %s", i, error->message);
        g2h_error_destroy(error);
    }
    const struct attach_facts good = {.pid = 7, .leader = 7, .is_there = true, .state = 'S'};
    assert_null(attach_refusal(&good));
}

TEST(test_room)
{
    const struct attach_after dump_alone = {.spools = true};
    struct attach_available available;
    attach_available_find(&available);
    assert_in_range(available.left, 1, 1ull << 50);
    assert_no_error(
        attach_available_check(7, 8000, dump_alone, &(struct attach_available){.left = 9000}));
    assert_error(attach_available_check(7, 8000000000, dump_alone,
                                        &(struct attach_available){.left = 8999000000}),
                 G2H_ERROR_SYSTEM, "takes 9000 MB, and this machine has 8999 MB left");
    assert_error(attach_available_check(7, 8000000000, dump_alone,
                                        &(struct attach_available){1000000, "/x/memory.max"}),
                 G2H_ERROR_SYSTEM, "takes 9000 MB, and /x/memory.max leaves 1 MB");
}

/* What a conversion takes counts, if it is more than the copy, and a dump that is not on a disk. */
TEST(test_room_of_conversion)
{
    const struct attach_available available = {1200000000, "/x/memory.max"};
    const struct attach_after dump_alone = {.spools = true}, report = {200, true};
    assert_int_equal(attach_available_wanted(800, 0, false), 900);
    assert_int_equal(attach_available_wanted(800000000, 100, false), 900000000);
    assert_int_equal(attach_available_wanted(800000000, 200, false), 1600000000 + (16 << 20));
    assert_int_equal(attach_available_wanted(800000000, 200, true), 2400000000 + (16 << 20));
    assert_no_error(attach_available_check(7, 800000000, dump_alone, &available));
    assert_error(attach_available_check(7, 800000000, report, &available), G2H_ERROR_SYSTEM,
                 "leaves 1200 MB: take only the dump here");
}

/* Expects that something is short, and that the error says so with this end. */
static void expect_shortage(const struct needs *needs, const char *takes, const char *end)
{
    struct g2h_error *error = needs_check(needs);
    assert_non_null(error);
    assert_int_equal(error->code, G2H_ERROR_SYSTEM);
    assert_non_null(strstr(error->message, takes));
    assert_non_null(strstr(error->message, end));
    g2h_error_destroy(error);
}

/* What a conversion takes is said in figures if it is not there. */
TEST(test_needs)
{
    const uint64_t much = 1ull << 50;
    const struct needs nothing = {.name = "a.dump"}, little = {"a.dump", 7, 7, 7, 7, "/tmp", "x"};
    assert_no_error(needs_check(&nothing));
    assert_no_error(needs_check(&little));
    expect_shortage(&(struct needs){"a.dump", 59100000, much, 0, 0, NULL, "go elsewhere"},
                    "a.dump: 59.1 million objects: this takes 1.13 PB of memory or more; ",
                    ": go elsewhere");
    expect_shortage(&(struct needs){"process 7", 5, 1000, much, much, "/tmp", "go elsewhere"},
                    "process 7: 5 objects: this takes 1.00 kB of memory or more, and 1.13 PB or "
                    "more in /tmp; ",
                    " are free there: set TMPDIR to where there is room, or write only the dump");
    expect_shortage(&(struct needs){"process 7", 0, 0, 0, much, "/tmp", NULL},
                    "process 7: this takes 1.13 PB or more in /tmp; ", "-z writes a fraction");
    expect_shortage(&(struct needs){"process 7", 0, 0, much, 0, NULL, NULL},
                    "process 7: this takes 1.13 PB of addresses; ",
                    "so many addresses are not available: ");
    expect_shortage(&(struct needs){.name = "process 7", .memory = 1000, .beside = much},
                    "process 7: this takes 1.00 kB of memory or more; ",
                    "so many addresses are not available: ");
}

/* Why there are no addresses is said by the limit that there is. */
TEST(test_limit_of_addresses)
{
    static const struct {
        rlim_t addresses, data;
        const char *says;
    } cases[] = {
        {1ull << 46, 1ull << 45, "the limit is 68719476736 kB: raise it (ulimit -v)"},
        {RLIM_INFINITY, 1ull << 45, "the limit is 34359738368 kB: raise it (ulimit -d)"},
        {RLIM_INFINITY, RLIM_INFINITY, NULL},
    };
    struct rlimit addresses, data;
    assert_int_equal(getrlimit(RLIMIT_AS, &addresses), 0);
    assert_int_equal(getrlimit(RLIMIT_DATA, &data), 0);
    if (addresses.rlim_max != RLIM_INFINITY || data.rlim_max != RLIM_INFINITY)
        skip();
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char limit[ATTACH_LIMIT_TEXT];
        setrlimit(RLIMIT_AS, &(struct rlimit){cases[i].addresses, RLIM_INFINITY});
        setrlimit(RLIMIT_DATA, &(struct rlimit){cases[i].data, RLIM_INFINITY});
        attach_available_address_limit(limit);
        setrlimit(RLIMIT_AS, &addresses);
        setrlimit(RLIMIT_DATA, &data);
        if (cases[i].says)
            assert_string_equal(limit, cases[i].says);
        else
            assert_null(strstr(limit, "ulimit"));
    }
}

/* Makes a file in a directory, or a subdirectory if content is NULL. */
static void make_file_of(const char *directory, const char *name, const char *content)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    FILE *file = content ? fopen(path, "w") : NULL;
    if (content && (!file || fputs(content, file) < 0 || fclose(file) != 0))
        fail_msg("%s", path);
    if (!content)
        assert_int_equal(mkdir(path, 0700), 0);
}

static void assert_room(const char *top, const char *mounts, const char *groups, uint64_t left,
                        const char *limit)
{
    char lines[1024], path[256] = "";
    struct attach_available available = {.left = 5000000};
    snprintf(lines, sizeof(lines), mounts, top);
    attach_available_in_groups(lines, groups, groups, &available);
    if (*limit)
        snprintf(path, sizeof(path), "%s%s", top, limit);
    assert_int_equal(available.left, left);
    assert_string_equal(available.limit, path);
}

/* Of a control group and those above it, the one that leaves the least memory counts. */
TEST(test_groups)
{
    static const char *const files[][2] = {
        {"a", NULL},
        {"a/memory.max", "1000000\n"},
        {"a/memory.current", "400000\n"},
        {"a/memory.stat", "anon 1\ninactive_file 30000\nactive_file 20000\n"},
        {"a/b", NULL},
        {"a/b/memory.max", "max\n"},
        {"a/b/memory.current", "300000\n"},
        {"ab", NULL},
        {"ab/memory.max", "1000000\n"},
        {"ab/memory.current", "900000\n"},
        {"memory.limit_in_bytes", "700000\n"},
        {"memory.usage_in_bytes", "800000\n"},
        {"memory.stat", "inactive_file 9\ntotal_inactive_file 200000\ntotal_active_file 1\n"},
    };
    static const char one[] = "30 24 0:26 / %s rw - cgroup2 cgroup2 rw,nsdelegate\n";
    static const char one_below[] = "30 24 0:26 /pods/x %s rw shared:9 - cgroup2 none rw\n";
    static const char one_of_two[] = "30 24 0:26 /pod %s/a rw - cgroup2 cgroup2 rw\n";
    static const char other[] = "30 24 0:26 / /sys/fs/x rw - cgroup cgroup rw,memory_too\n"
                                "31 24 0:26 /x %s rw - cgroup cgroup rw,cpu,memory\n";
    char top[] = "/tmp/go2heapsnapshot-unit.XXXXXX", command[64];
    assert_non_null(mkdtemp(top));
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        make_file_of(top, files[i][0], files[i][1]);
    assert_room(top, one, "0::/a/b\n", 650000, "/a/memory.max");
    assert_room(top, one, "1:memory:/\n0::/a\n", 650000, "/a/memory.max");
    assert_room(top, one, "0::/\n", 5000000, "");
    assert_room(top, one_below, "0::/pods/x/a/b\n", 650000, "/a/memory.max");
    assert_room(top, one_below, "0::/pods/y/a/b\n", 5000000, "");
    assert_room(top, one_of_two, "0::/podb\n", 650000, "/a/memory.max");
    assert_room(top, other, "5:cpu,memory:/elsewhere\n0::/a\n", 100001, "/memory.limit_in_bytes");
    assert_room(top, other, "5:cpu:/elsewhere\n0::/a", 5000000, "");
    snprintf(command, sizeof(command), "rm -r %s", top);
    assert_int_equal(system(command), 0);
}

/* Of another process's groups those count that can be seen, and none that only may be above them.
 */
TEST(test_groups_of_others)
{
    static const struct {
        const char *root, *groups, *own;
        uint64_t left;
    } cases[] = {
        {"/", "0::/a/b\n", "0::/\n", 600000},
        {"/", "0::/a\n", "0::/a/b\n", 600000},
        {"/", "0::/gone\n", "0::/a\n", 5000000},
        {"/", "0::/gone\n", "0::/gone\n", 650000},
        {"/", "0::/../b\n", "0::/\n", 5000000},
        {"/pods/x", "0::/pods/x\n", "0::/pods/x/a\n", 650000},
        {"/pods/x", "0::/pods/y\n", "0::/pods/x\n", 5000000},
        {"/pods/x", "0::/pods/y\n", "1:memory:/\n", 5000000},
    };
    static const char *const files[][2] = {
        {"memory.max", "1050000\n"},
        {"memory.current", "400000\n"},
        {"a", NULL},
        {"a/memory.max", "1000000\n"},
        {"a/b", NULL},
        {"a/memory.current", "400000\n"},
    };
    char top[] = "/tmp/go2heapsnapshot-unit.XXXXXX", command[64], mounts[128];
    assert_non_null(mkdtemp(top));
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        make_file_of(top, files[i][0], files[i][1]);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct attach_available available = {.left = 5000000};
        snprintf(mounts, sizeof(mounts), "30 24 0:26 %s %s rw - cgroup2 cgroup2 rw\n",
                 cases[i].root, top);
        attach_available_in_groups(mounts, cases[i].groups, cases[i].own, &available);
        assert_int_equal(available.left, cases[i].left);
        assert_int_equal(available.bytes, available.left == 5000000 ? 0 : available.left + 400000);
    }
    snprintf(command, sizeof(command), "rm -r %s", top);
    assert_int_equal(system(command), 0);
}

/* ---- the parts of attach ---- */

TEST(test_mappings)
{
    static const char maps[] =
        "00400000-00401000 r-xp 00000000 fe:00 17                         /bin/x\n"
        "00401000-00403000 r--p 00001000 fe:00 17                         /bin/x\n"
        "00403000-00404000 rw-p 00003000 fe:00 17                         /bin/x (deleted)\n"
        "00404000-00405000 rwxp 00003000 fe:00 17                         /bin/x\n"
        "00500000-00600000 rw-p 00000000 00:00 0                          [heap]\n"
        "00600000-00700000 ---p 00000000 00:00 0 \n"
        "c000000000-c000400000 rw-p 00000000 00:00 0 \n"
        "c000400000-c000500000 r-xp 00000000 00:00 0 \n"
        "7f0000000000-7f0000001000 rw-s 00000000 00:01 99                 /dev/zero (deleted)\n"
        "7f0000001000-7f0000002000 r--s 00000000 fe:00 18                 /tmp/a\\012b\n"
        "7f0000002000-7f0000003000 rw-p 00000000 00:06 5                  /dev/zero\n"
        "7f0000200000-7f0000400000 rw-p 00000000 00:10 77    /anon_hugepage (deleted)\n"
        "7ffff0000000-7ffff0002000 r--p 00000000 00:00 0                  [vvar]\n"
        "7ffff0002000-7ffff0003000 r--p 00000000 00:00 0                  [vvar_vclock]\n"
        "7ffff0003000-7ffff0005000 r-xp 00000000 00:00 0                  [vdso]\n"
        "no line of that kind\n"
        "123456789012345678-0 rw-p 00000000 00:00 0 \n"
        "ffffffffff600000-ffffffffff601000 r-xp 00000000 00:00 0          [vsyscall]";
    static const struct attach_mapping wanted[] = {
        {0x401000, 0x2000, true},        {0x403000, 0x1000, true},
        {0x404000, 0x1000, true},        {0x500000, 0x100000, false},
        {0xc000000000, 0x400000, false}, {0xc000400000, 0x100000, false},
        {0x7f0000002000, 0x1000, false}, {0x7f0000200000, 0x200000, false},
        {0x7ffff0003000, 0x2000, false},
    };
    struct attach_mappings mappings = {0};
    assert_true(attach_mappings_parse(maps, &mappings));
    assert_int_equal(mappings.count, sizeof(wanted) / sizeof(*wanted));
    for (size_t i = 0; i < mappings.count; i++) {
        assert_int_equal(mappings.data[i].address, wanted[i].address);
        assert_int_equal(mappings.data[i].size, wanted[i].size);
        assert_int_equal(mappings.data[i].is_file, wanted[i].is_file);
    }
    free(mappings.data);
}

/* What a fork would lack: memory of MADV_DONTFORK (dc) forbids it, that of MADV_WIPEONFORK (wf) is
 * taken from the process. */
TEST(test_fork_mappings)
{
    static const char smaps[] =
        "00400000-00401000 r-xp 00000000 fe:00 17    /bin/x dc wf\n"
        "Rss:                   4 kB\n"
        "VmFlags: rd ex mr mw me sd \n"
        "c000000000-c000400000 rw-p 00000000 00:00 0 \n"
        "Size:               4096 kB\n"
        "Rss:                2048 kB\n"
        "Swap:               1024 kB\n"
        "VmFlags: rd wr mr mw me ac wf \n"
        "c000400000-c000500000 rw-p 00000000 00:00 0 \n"
        "Rss:                 512 kB\n"
        "VmFlags: rd wr mr mw me ac \n"
        "7f0000000000-7f0000001000 rw-s 00000000 00:01 99    /dev/infiniband\n"
        "VmFlags: rd wr sh mr mw me ms dc io sd\n";
    struct attach_fork fork = {0}, refused = {0};
    assert_true(attach_fork_check_mappings(&fork, smaps));
    assert_int_equal(fork.wiped.list.count, 1);
    assert_int_equal(fork.wiped.list.data[0].begin, 0xc000000000);
    assert_int_equal(fork.wiped.list.data[0].end, 0xc000400000);
    assert_int_equal(fork.wiped_bytes, 3 << 20);
    assert_false(attach_fork_check_mappings(
        &refused, "1000-2000 rw-p 00000000 00:00 0 \nVmFlags: rd wr mr dc wf\n"));
    assert_non_null(strstr(refused.refused, "MADV_DONTFORK"));
    ranges_deinit(&fork.wiped);
}

/* The time is linear in the mappings: with a search to the end of smaps at each of them this would
 * take hours. */
TEST(test_fork_many_mappings)
{
    struct text smaps = {0};
    struct attach_fork fork = {0};
    for (uint64_t i = 1; i <= 200000; i++)
        text_printf(&smaps,
                    "%" PRIx64 "-%" PRIx64 " rw-p 00000000 00:00 0 \nRss: 4 kB\n"
                    "VmFlags: rd wr mr mw me ac sd \n",
                    i << 16, (i << 16) + 4096);
    assert_false(smaps.failed);
    assert_true(attach_fork_check_mappings(&fork, smaps.data));
    assert_int_equal(fork.wiped.list.count, 0);
    text_deinit(&smaps);
}

/* Pages of another process take the place of zeros, and only as far as both have them. */
TEST(test_given_pages)
{
    struct attach_run runs[] = {{0x10000, 0x4000, ATTACH_WRITTEN},
                                {0x14000, 0x8000, ATTACH_ZERO},
                                {0x30000, 0x2000, ATTACH_ZERO},
                                {0x40000, 0x1000, ATTACH_WRITTEN}};
    struct attach_run given_runs[] = {{0x8000, 0x1000, ATTACH_WRITTEN},
                                      {0x14000, 0x1000, ATTACH_ZERO},
                                      {0x15000, 0x2000, ATTACH_WRITTEN},
                                      {0x18000, 0x1000, ATTACH_MAYBE},
                                      {0x31000, 0x4000, ATTACH_WRITTEN}};
    static const struct attach_run wanted[] = {
        {0x10000, 0x4000, ATTACH_WRITTEN}, {0x14000, 0x1000, ATTACH_ZERO},
        {0x15000, 0x2000, ATTACH_GIVEN},   {0x17000, 0x1000, ATTACH_ZERO},
        {0x18000, 0x1000, ATTACH_GIVEN},   {0x19000, 0x3000, ATTACH_ZERO},
        {0x30000, 0x1000, ATTACH_ZERO},    {0x31000, 0x1000, ATTACH_GIVEN},
        {0x40000, 0x1000, ATTACH_WRITTEN}};
    const struct attach_pages given = {.runs = {given_runs, 5, 5}};
    struct attach_pages pages = {0};
    for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++)
        assert_true(vector_push(&pages.runs, runs[i]));
    assert_true(attach_pages_give(&pages, &given));
    assert_int_equal(pages.runs.count, sizeof(wanted) / sizeof(*wanted));
    for (size_t i = 0; i < pages.runs.count; i++) {
        assert_int_equal(pages.runs.data[i].address, wanted[i].address);
        assert_int_equal(pages.runs.data[i].size, wanted[i].size);
        assert_int_equal(pages.runs.data[i].kind, wanted[i].kind);
    }
    attach_pages_deinit(&pages);
}

TEST(test_procfs)
{
    static const char status[] = "Name:\tx\nPid:\t 12\nBig: 18446744073709551616\nLast:";
    struct text file = {0};
    uint64_t number;
    const char *at = "18446744073709551615 0ff";
    text_append(&file, status, sizeof(status));
    assert_int_equal(procfs_number(&file, "Pid:"), 12);
    assert_int_equal(procfs_number(&file, "Name:"), UINT64_MAX);
    assert_int_equal(procfs_number(&file, "Big:"), UINT64_MAX);
    assert_int_equal(procfs_number(&file, "id:"), UINT64_MAX);
    assert_string_equal(procfs_value(&file, "Last:"), "");
    assert_null(procfs_value(&file, "None:"));
    assert_true(procfs_take_number(&at, 10, &number) && number == UINT64_MAX);
    assert_true(procfs_take_number(&at, 16, &number) && number == 0xff);
    assert_false(procfs_take_number(&at, 16, &number));
    assert_int_equal(procfs_read("/nonexistent", &file), ENOENT);
    text_deinit(&file);
}

/* A run may grow into the gaps that the space has around it, but not beyond. */
TEST(test_space)
{
    struct attach_run runs[] = {{0x10000, 0x2000, ATTACH_WRITTEN},
                                {0x12000, 0x1000, ATTACH_ZERO},
                                {0x20000, 0x1000, ATTACH_WRITTEN},
                                {0x7f0000000000, 0x4000, ATTACH_WRITTEN}};
    struct attach_pages pages = {.runs = {runs, 4, 4}};
    struct attach_space space = {0};
    assert_true(attach_space_make(&pages, 0x8000, &space));
    assert_true(attach_space_holds(&space, &pages));
    assert_true(attach_space_fill(&space, &pages, NULL, NULL));
    assert_ptr_equal(attach_space_at(&space, &runs[0]) + 0x10000,
                     attach_space_at(&space, &runs[2]));
    runs[3].size = 0xc000;
    assert_true(attach_space_holds(&space, &pages));
    runs[3].size = 0xd000;
    assert_false(attach_space_holds(&space, &pages));
    attach_space_deinit(&space);
    assert_false(attach_space_holds(&space, &pages));
}

/* Without a pagemap all pages are read, and pages of zeros take no memory in the copy. */
TEST(test_guess)
{
    enum { PAGES = 64 };
    const uint64_t address = (uint64_t)(uintptr_t)map_private(PAGES, -1);
    uint8_t *data = (uint8_t *)(uintptr_t)address;
    struct attach_run run = {address, PAGES * page, ATTACH_MAYBE};
    const struct attach_pages pages = {
        .runs = {&run, 1, 1}, .size = run.size, .resident = run.size, .is_guess = true};
    struct attach_space space = {0};
    struct memory memory = {0};
    struct attach_copied copied;
    unsigned char resident[PAGES];
    fill(data + 8 * page, 0, page);
    data[9 * page - 1] = data[20 * page] = data[31 * page - 1] = 1;
    munmap(data + 40 * page, 2 * page);
    assert_true(attach_space_make(&pages, 0, &space));
    if (attach_copy_pages((struct attach_source){(uint64_t)getpid(), false}, &pages, &space, NULL,
                          &memory, &copied) == EPERM)
        skip();
    assert_int_equal(copied.bytes, (PAGES - 2) * page);
    assert_int_equal(copied.unreadable, 2 * page);
    assert_memory_equal(memory_at(&memory, address, 40 * page), data, 40 * page);
    assert_null(memory_at(&memory, address, 41 * page));
    assert_non_null(memory_at(&memory, address + 42 * page, (PAGES - 42) * page));
    memory_deinit(&memory);
    attach_space_deinit(&space);
    attach_space_make(&pages, 0, &space);
    assert_int_equal(attach_copy_pages((struct attach_source){(uint64_t)getpid(), false}, &pages,
                                       &space, NULL, &memory, &copied),
                     0);
    assert_int_equal(mincore(space.data, PAGES * page, resident), 0);
    for (size_t i = 0; i < PAGES; i++)
        assert_int_equal(resident[i] & 1, i == 8 || i == 20 || i == 30);
    memory_deinit(&memory);
    attach_space_deinit(&space);
    munmap(data, PAGES * page);
}

/* A test with the above set_up() and tear_down(). */
/* ---- seccomp filters ---- */

#define ALLOWED (uint32_t) SECCOMP_RET_ALLOW

static uint32_t run_filter(const struct filters_instruction *program, size_t count)
{
    const struct filters_call call = {56, 0xc000003e, 0x401000, {0x600, 7}};
    return filters_run(program, count, &call);
}

/* Instructions compute what the kernel has them compute, and a program that the kernel would not
 * take kills, in doubt. */
TEST(test_filters)
{
    const struct filters_instruction arguments[] = {
        {BPF_LD | BPF_W | BPF_ABS, 0, 0, 16}, /* the first one: 0x600 */
        {BPF_ALU | BPF_RSH | BPF_K, 0, 0, 8}, /* 6 */
        {BPF_MISC | BPF_TAX, 0, 0, 0},        /* to X */
        {BPF_LD | BPF_W | BPF_ABS, 0, 0, 24}, /* the second one: 7 */
        {BPF_ALU | BPF_MUL | BPF_X, 0, 0, 0}, /* 42 */
        {BPF_ST, 0, 0, 15},                   /* to the last cell */
        {BPF_LDX | BPF_MEM, 0, 0, 15},        /* and to X */
        {BPF_LD | BPF_IMM, 0, 0, 42},         /* 42 */
        {BPF_JMP | BPF_JEQ | BPF_X, 1, 0, 0}, /* passes over the next one */
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS},
        {BPF_ALU | BPF_NEG, 0, 0, 0},
        {BPF_RET | BPF_A, 0, 0, 0},
    };
    const struct filters_instruction by_zero[] = {{BPF_ALU | BPF_DIV | BPF_K, 0, 0, 0},
                                                  {BPF_RET | BPF_K, 0, 0, ALLOWED}};
    const struct filters_instruction far_off[] = {{BPF_JMP | BPF_JA, 0, 0, UINT32_MAX},
                                                  {BPF_RET | BPF_K, 0, 0, ALLOWED}};
    const struct filters_instruction behind[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, 64},
                                                 {BPF_RET | BPF_K, 0, 0, ALLOWED}};
    const struct filters_instruction cell[] = {{BPF_STX, 0, 0, 16},
                                               {BPF_RET | BPF_K, 0, 0, ALLOWED}};
    const struct filters_instruction no_end[] = {{BPF_LD | BPF_IMM, 0, 0, 1}};
    assert_int_equal(run_filter(arguments, 12), (uint32_t)-42);
    assert_int_equal(run_filter(by_zero, 2), 0);
    assert_int_equal(run_filter(far_off, 2), 0);
    assert_int_equal(run_filter(behind, 2), 0);
    assert_int_equal(run_filter(cell, 2), 0);
    assert_int_equal(run_filter(no_end, 1), 0);
}

/* A thread that has ended without a stop tells how the process ended. */
TEST(test_end_without_stop)
{
    struct death_watch watch = {.pid = 7, .thread = 8, .is_alone = true};
    death_note(&watch, 8, 3 << 8);
    assert_int_equal(watch.thread, 0);
    assert_false(watch.is_stopped || watch.is_alone);
    assert_int_equal(watch.status, 3 << 8);
}

UNIT_MAIN(set_up, tear_down)
