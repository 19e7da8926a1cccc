/*
 * Covers process/attach*.c and procfs.c: what is copied of a process and what is not, that it goes
 * on as if nothing had been, what is said where it cannot be read, and whether there is room.
 *
 * The processes are forked from this one. Where the system lets nobody trace, as under some seccomp
 * profiles, what needs that is skipped.
 */
#include "unit.h"

#include "process/attach.h"
#include "process/attach_copy.h"
#include "process/attach_refuse.h"
#include "process/attach_room.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SPARSE_PAGES = 1 << 15,
    SPARSE_STEP = 100, /* every 100th page of it is touched */
    GUARDED_PAGES = 16,
    GUARD_FIRST = 4,
    GUARD_END = 8,
    FILE_PAGES = 4,
    FILE_SIZE = 6000, /* beyond its second page nothing can be read */
    HEAP_SIZE = 300000,
    SPINNERS = 2,
    THREADS = 2 + SPINNERS, /* the first one, one that waits in read() */
};

/* What a child tells this process, in memory that both have. */
struct shared {
    uint8_t *heap, *sparse, *guarded, *of_file;
    uint64_t stacks[THREADS]; /* an address in each */
    int ids[THREADS];
    volatile unsigned ready, signals, failed_reads;
    uint8_t answer;
};

static struct shared *shared;
static size_t page;
static int requests[2], answers[2]; /* pipes to and from the child */

/* The byte that a child writes to so many bytes from the start of its memory. */
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

static void make_file(void)
{
    char path[] = "/tmp/go2heapsnapshot-unit.XXXXXX";
    uint8_t bytes[FILE_SIZE];
    const int fd = mkstemp(path);
    fill(bytes, 0, sizeof(bytes));
    if (fd < 0 || unlink(path) != 0 || write(fd, bytes, sizeof(bytes)) != sizeof(bytes))
        _exit(91);
    shared->of_file = map_private(FILE_PAGES, fd);
    shared->of_file[1] = 99; /* what was written is not in the file */
    close(fd);
}

static void note_thread(unsigned index, const void *on_stack)
{
    shared->stacks[index] = (uint64_t)(uintptr_t)on_stack;
    shared->ids[index] = gettid();
    __atomic_add_fetch(&shared->ready, 1, __ATOMIC_SEQ_CST);
}

static void *spin(void *argument)
{
    volatile uint64_t count = 0;
    note_thread((unsigned)(uintptr_t)argument, (const void *)&count);
    for (;;)
        count++;
    return NULL;
}

/* Answers each byte by the next one; a read() that gives anything else is counted. */
static void *answer(void *argument)
{
    uint8_t byte;
    note_thread((unsigned)(uintptr_t)argument, &byte);
    for (;;) {
        if (read(requests[0], &byte, 1) != 1)
            shared->failed_reads++;
        byte++;
        if (write(answers[1], &byte, 1) != 1)
            _exit(92);
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
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    shared->heap = malloc(HEAP_SIZE);
    fill(shared->heap, 0, HEAP_SIZE);
    make_sparse();
    make_guarded();
    make_file();
    sigaction(SIGRTMIN, &(struct sigaction){.sa_handler = count_signal, .sa_flags = SA_RESTART},
              NULL);
    for (unsigned i = 1; i < THREADS; i++)
        pthread_create(&thread, NULL, i == 1 ? answer : spin, (void *)(uintptr_t)i);
    note_thread(0, &thread);
    for (;;)
        pause();
}

/* ---- this process and its child ---- */

static pid_t start(void (*run)(void))
{
    *shared = (struct shared){0};
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        run();
        _exit(0);
    }
    return pid;
}

static void wait_ready(unsigned wanted)
{
    for (unsigned i = 0; i < 20000 && shared->ready < wanted; i++)
        usleep(1000);
    assert_int_equal(shared->ready, wanted);
}

static pid_t start_child(void)
{
    const pid_t pid = start(run_child);
    wait_ready(THREADS);
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Whether the child's thread in read() answers within so many milliseconds. */
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

static void assert_goes_on(void)
{
    assert_true(answers_within(20000));
    assert_int_equal(shared->failed_reads, 0);
}

static void assert_attaches(pid_t pid, struct process *ret, struct attach_account *ret_account)
{
    assert_no_error(attach_copy((uint64_t)pid, NULL, ret, ret_account));
}

/* Attaches to it, and forgets what was copied. */
static void attach_once(pid_t pid)
{
    struct process process;
    struct attach_account account;
    assert_attaches(pid, &process, &account);
    process_deinit(&process);
}

/* Attaching to it gives an error whose message has words. */
static void assert_refused(uint64_t pid, const char *words)
{
    struct process process;
    struct attach_account account;
    struct g2h_error *error = attach_copy(pid, NULL, &process, &account);
    assert_non_null(error);
    if (!strstr(error->message, words))
        fail_msg("'%s' is not in: %s", words, error->message);
    g2h_error_destroy(error);
}

/* Whether processes can be traced here. */
static bool can_trace(void)
{
    int status = 0;
    const pid_t pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    const bool good = ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0;
    kill(pid, SIGKILL);
    waitpid(pid, &status, __WALL);
    return good;
}

static int set_up(void **state)
{
    (void)state;
    page = (size_t)sysconf(_SC_PAGESIZE);
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    signal(SIGPIPE, SIG_IGN);
    return shared != MAP_FAILED && pipe(requests) == 0 && pipe2(answers, O_NONBLOCK) == 0 ? 0 : -1;
}

static int need_trace(void **state)
{
    (void)state;
    if (can_trace())
        return 0;
    print_message("# SKIP: ptrace is forbidden here\n");
    return -1;
}

/* ---- what is copied ---- */

static void assert_pattern(const struct memory *memory, const uint8_t *start, size_t from, size_t to)
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

/* Pages that nobody has touched are zeros, and in one piece with those that somebody has. */
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

static void test_memory(void **state)
{
    const pid_t pid = start_child();
    struct process process;
    struct attach_account account;
    (void)state;
    assert_attaches(pid, &process, &account);
    assert_goes_on();
    assert_pattern(&process.memory, shared->heap, 0, HEAP_SIZE);
    assert_sparse(&process.memory);
    assert_guarded(&process.memory);
    assert_of_file(&process.memory);
    assert_false(is_there(&process.memory, shared)); /* others have it too */
    assert_true(is_there(&process.memory, &page));
    assert_true(account.bytes > HEAP_SIZE && account.bytes < process.memory.bytes);
    assert_true(account.reads > 0);
    assert_int_equal(account.unreadable, (FILE_PAGES - (FILE_SIZE + page - 1) / page) * page);
    assert_true(account.copy_seconds > 0 && account.copy_seconds < account.stopped_seconds);
    process_deinit(&process);
    end(pid);
}

/* The executable of this process, its machine, and where it begins. */
static void test_identity(void **state)
{
    const pid_t pid = start_child();
    struct process process;
    struct attach_account account;
    char path[4096] = {0}, name[32];
    (void)state;
    assert_attaches(pid, &process, &account);
    assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
    assert_string_equal(process.executable, path);
    assert_true(process.machine != 0);
    snprintf(name, sizeof(name), "process %d", pid);
    assert_string_equal(process.name, name);
    FILE *maps = fopen("/proc/self/maps", "r"); /* the child has the same */
    uint64_t from, to;
    bool found = false;
    for (char line[5000]; fgets(line, sizeof(line), maps);)
        found |= sscanf(line, "%" SCNx64 "-%" SCNx64 " r-x", &from, &to) == 2 &&
                 strstr(line, path) && process.entry - from < to - from;
    fclose(maps);
    assert_true(found);
    process_deinit(&process);
    end(pid);
}

/* Each thread's stack pointer is near a variable of its own. */
static void test_registers(void **state)
{
    const pid_t pid = start_child();
    struct process process;
    struct attach_account account;
    unsigned found = 0;
    (void)state;
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
    end(pid);
}

/* ---- it goes on ---- */

static void test_again_and_again(void **state)
{
    const pid_t pid = start_child();
    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        attach_once(pid);
        assert_goes_on();
    }
    end(pid);
}

/* Sends signals, each of which is queued, as long as they are attached to. */
static void test_signals(void **state)
{
    enum { SIGNALS = 3000 };
    const pid_t pid = start_child(), sender = fork();
    int status;
    (void)state;
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
    for (unsigned i = 0; i < 10000 && shared->signals < SIGNALS; i++)
        usleep(1000);
    assert_int_equal(shared->signals, SIGNALS);
    assert_goes_on();
    end(pid);
}

/* Sends it a signal while it is copied; a function of struct g2h_progress. */
static void signal_it(void *context, const char *phase, uint64_t done, uint64_t total,
                      uint64_t objects)
{
    const int *what = context;
    (void)done, (void)total, (void)objects;
    if (strcmp(phase, "copying") == 0)
        kill(what[0], what[1]);
}

static void test_signal_while_stopped(void **state)
{
    const pid_t pid = start_child();
    struct process process;
    struct attach_account account;
    int what[] = {pid, SIGRTMIN};
    const struct g2h_progress progress = {signal_it, what};
    (void)state;
    assert_no_error(attach_copy((uint64_t)pid, &progress, &process, &account));
    process_deinit(&process);
    for (unsigned i = 0; i < 10000 && shared->signals == 0; i++)
        usleep(1000);
    assert_true(shared->signals > 0);
    assert_goes_on();
    end(pid);
}

/* One that was stopped before stays so, until somebody lets it go on. */
static void test_stopped_before(void **state)
{
    const pid_t pid = start_child();
    int status;
    (void)state;
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
    end(pid);
}

/* Starts threads that end at once, for as long as it lives. */
static void *start_threads(void *argument)
{
    pthread_t threads[8];
    (void)argument;
    note_thread(0, threads);
    for (;;) {
        for (unsigned i = 0; i < 8; i++)
            pthread_create(&threads[i], NULL, (void *(*)(void *))usleep, (void *)(uintptr_t)i);
        for (unsigned i = 0; i < 8; i++)
            pthread_join(threads[i], NULL);
    }
    return NULL;
}
