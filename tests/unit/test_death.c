/*
 * Covers process/attach/death.c: a thread is watched without being disturbed, and of a process that
 * is killed the most useful memory is copied first, as far as there is room: in memory, in a file.
 *
 * The processes are forked from this one, and how much memory there is says the test. If the system
 * lets nobody trace, as under some seccomp profiles, the tests are skipped.
 */
#include "unit.h"

#include "process/attach/available.h"
#include "process/attach/death.h"
#include "process/attach/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    UNTOUCHED = 4, /* pages of the heap, in the order of their addresses … */
    OTHER = 2,     /* … in no part that find_parts() gives */
    STACKS = 8,
    POINTERS = 16,
    PATIENCE = 600000, /* milliseconds */
    WORD = 4242,
};

/* What a child tells this process, in memory that they share. */
struct shared {
    volatile unsigned ready, signals, beats;
    volatile bool ends_second, starts_another;
};

static struct shared *shared;
static uint64_t page, noscan;  /* bytes; objects without pointers, more than any program */
static uint64_t heap;          /* its address in the child */
static volatile uint64_t word; /* is WORD in the child: memory outside the heap */
static pid_t child;

/* A process that is killed, and what remains of it. */
static struct copy {
    struct death_watch watch;
    struct death_order order;
    struct death_reserve reserve;
    struct process process;
    struct attach_account account;
    struct death_loss loss;
    unsigned finds;
    bool sees_outside, sees_heap; /* in the last call of find_parts() */
} copy;

/* ---- how much memory there is ---- */

static struct attach_available room;

void __wrap_attach_available_find(struct attach_available *ret);
void __wrap_attach_available_find(struct attach_available *ret)
{
    *ret = room;
}

/* A control group that leaves a megabyte, all of which is to spare. */
static void make_tight(void)
{
    room = (struct attach_available){.left = 1 << 20, .limit = "/x/memory.max", .bytes = 4 << 20};
}

/* ---- the child ---- */

static size_t heap_size(void)
{
    return (size_t)((UNTOUCHED + OTHER + STACKS + POINTERS) * page + noscan);
}

static uint64_t at_other(void)
{
    return heap + UNTOUCHED * page + noscan;
}

static uint64_t at_stacks(void)
{
    return at_other() + OTHER * page;
}

static uint64_t at_pointers(void)
{
    return at_stacks() + STACKS * page;
}

static void run_child(void)
{
    for (uint64_t at = UNTOUCHED * page; at < heap_size(); at += page)
        *(uint64_t *)(uintptr_t)(heap + at) = at;
    word = WORD;
    shared->ready = 1;
    for (;;)
        pause();
}

/* Starts a child; skips the test if this process cannot trace it. */
static void start(void (*run)(void))
{
    if (sizeof(void *) < 8 || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
        skip();
    shared->ready = 0;
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        run();
        _exit(1);
    }
    if (ptrace(PTRACE_SEIZE, child, NULL, NULL) != 0)
        skip();
    assert_int_equal(ptrace(PTRACE_INTERRUPT, child, NULL, NULL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(ptrace(PTRACE_DETACH, child, NULL, NULL), 0);
    for (unsigned i = 0; i < PATIENCE && shared->ready == 0; i++)
        usleep(1000);
    assert_int_equal(shared->ready, 1);
}

static int set_up(void **state)
{
    struct stat program;
    (void)state;
    page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (stat("/proc/self/exe", &program) != 0)
        return -1;
    noscan = ((uint64_t)program.st_size / page + 16) * page;
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint8_t *data =
        mmap(NULL, heap_size() + 2 * (size_t)page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || data == MAP_FAILED)
        return -1;
    heap = (uint64_t)(uintptr_t)data + page; /* between pages that cannot be read */
    if (mprotect(data + page, heap_size(), PROT_READ | PROT_WRITE) != 0)
        return -1;
    madvise(data + page, heap_size(), MADV_NOHUGEPAGE);
    room = (struct attach_available){.left = 1ull << 40};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    if (child > 0) {
        kill(child, SIGKILL);
        death_let_go(&copy.watch);
        waitpid(child, NULL, __WALL);
    }
    child = 0;
    copy = (struct copy){.order.spill = -1};
    return munmap(shared, sizeof(*shared)) |
           munmap((void *)(uintptr_t)(heap - page), heap_size() + 2 * (size_t)page);
}

/* ---- a process that is killed ---- */

/* Notes what happens to the thread until something is true. */
#define SERVE_UNTIL(watch, condition) \
    do { \
        int serve_status; \
        for (unsigned i = 0; i < PATIENCE && !(condition); i++) { \
            const pid_t id = waitpid(-1, &serve_status, __WALL | WNOHANG); \
            if (id > 0 && death_concerns(watch, id, serve_status)) \
                death_note(watch, id, serve_status); \
            else \
                usleep(1000); \
        } \
        assert_true(condition); \
    } while (0)

static bool find_parts(void *context, const struct memory *memory, struct death_parts *ret)
{
    const struct death_part parts[] = {{at_pointers(), POINTERS * page, DEATH_POINTERS},
                                       {heap + UNTOUCHED * page, noscan, DEATH_NOSCAN},
                                       {at_stacks(), STACKS * page, DEATH_STACKS}};
    (void)context;
    uint64_t value = 0;
    copy.finds++;
    copy.sees_outside =
        memory_read(memory, (uint64_t)(uintptr_t)&word, sizeof(word), &value) && value == WORD;
    copy.sees_heap = memory_read(memory, at_stacks(), sizeof(value), &value);
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (!vector_push(ret, parts[i]))
            return false;
    return true;
}

/* Starts a child, watches it, and reserves memory for it. */
static void reserve(void)
{
    start(run_child);
    copy = (struct copy){
        .watch = {.pid = (uint64_t)child},
        .order = {.heap = {heap, heap + heap_size()}, .find = find_parts, .spill = -1},
        .reserve = {.most = UINT64_MAX}};
    assert_int_equal(death_seize(&copy.watch), 0);
    assert_int_equal(death_reserve((uint64_t)child, &copy.order, &copy.reserve), 0);
}

/* Kills the child and copies what there is room for. */
static void take(void)
{
    assert_int_equal(kill(child, SIGKILL), 0);
    SERVE_UNTIL(&copy.watch, copy.watch.is_stopped);
    assert_false(copy.watch.is_alone);
    assert_int_equal(WTERMSIG(copy.watch.status), SIGKILL);
    assert_int_equal(death_copy(&copy.watch, &copy.order, &copy.reserve, &copy.process,
                                &copy.account, &copy.loss),
                     0);
    assert_true(copy.process.is_dead);
    assert_int_equal(copy.process.threads.count, 1);
}

static void end(void)
{
    death_let_go(&copy.watch);
    assert_int_equal(waitpid(child, NULL, __WALL), child);
    child = 0;
    process_deinit(&copy.process);
    death_reserve_deinit(&copy.reserve);
    if (copy.order.spill >= 0)
        close(copy.order.spill);
}

/* Returns how many bytes of the heap from an address on are as the child has written them; fails if
 * some are there and not the same. */
static uint64_t copied(uint64_t from, uint64_t size)
{
    uint64_t count = 0, value;
    for (uint64_t at = from; at < from + size; at += page) {
        if (!memory_read(&copy.process.memory, at, sizeof(value), &value))
            continue;
        assert_int_equal(value, at - heap);
        count += page;
    }
    return count;
}

/* Returns how many bytes of the pages are there that the child has not written to; they are 0. */
static uint64_t zeros(void)
{
    uint64_t count = 0, value;
    for (uint64_t i = 0; i < UNTOUCHED; i++)
        if (memory_read(&copy.process.memory, heap + i * page, sizeof(value), &value)) {
            assert_int_equal(value, 0);
            count += page;
        }
    return count;
}

static void expect_all(void)
{
    assert_int_equal(copied(heap + UNTOUCHED * page, heap_size() - UNTOUCHED * page),
                     heap_size() - UNTOUCHED * page);
    assert_int_equal(zeros(), UNTOUCHED * page);
    assert_int_equal(copy.loss.lost + copy.loss.limited + copy.loss.refused, 0);
    assert_false(copy.loss.is_late);
}

/* ---- tests ---- */

TEST(all_is_copied)
{
    reserve();
    assert_int_equal(copy.finds, 1);
    assert_true(copy.sees_outside && copy.sees_heap);
    assert_int_equal(copy.reserve.later, noscan + OTHER * page);
    assert_int_equal(copy.reserve.touched, copy.reserve.wanted);
    assert_false(copy.reserve.is_refused);
    take();
    assert_int_equal(copy.finds, 2);
    assert_true(copy.sees_outside && !copy.sees_heap);
    expect_all();
    end();
}

TEST(most_useful_is_first)
{
    reserve();
    copy.reserve.most = copy.reserve.wanted + noscan / 2;
    take();
    assert_int_equal(copied(at_stacks(), STACKS * page), STACKS * page);
    assert_int_equal(copied(at_pointers(), POINTERS * page), POINTERS * page);
    assert_int_equal(copied(at_other(), OTHER * page), OTHER * page);
    const uint64_t some = copied(heap + UNTOUCHED * page, noscan);
    assert_in_range(some, page, noscan - page);
    assert_int_equal(copied(heap + UNTOUCHED * page, some), some); /* the first of them */
    assert_in_range(copy.loss.limited, noscan - some, UINT64_MAX);
    assert_in_range(copy.account.bytes, copy.reserve.most - page + 1, copy.reserve.most);
    assert_int_equal(copy.loss.lost + copy.loss.refused, 0);
    end();
}

/* Without memory for it, all goes to a file, as much as may. */
TEST(spilled)
{
    struct stat file;
    for (unsigned i = 0; i < 3; i++) {
        make_tight();
        reserve();
        assert_true(copy.reserve.is_refused);
        assert_in_range(copy.reserve.touched, 0, copy.reserve.wanted - 1);
        copy.order.spill = i == 2 ? -1 : memfd_create("spill", 0);
        copy.order.spill_most = i == 0 ? UINT64_MAX : copy.reserve.wanted / 2;
        take();
        assert_int_equal(copy.loss.lost + copy.loss.limited, 0);
        if (i == 0)
            expect_all();
        else
            assert_in_range(copy.loss.refused, noscan, UINT64_MAX - 1);
        if (i < 2) {
            assert_int_equal(fstat(copy.order.spill, &file), 0);
            assert_in_range(file.st_size, 1, copy.order.spill_most);
        }
        end();
    }
}

/* Once the kernel may have taken pages, what was never written to is not known to be zeros. */
TEST(late)
{
    reserve();
    copy.order.expected = 1ull << 40;
    take();
    assert_true(copy.loss.is_late);
    assert_int_equal(zeros(), 0);
    assert_int_equal(copied(at_stacks(), STACKS * page), STACKS * page);
    end();
}

/* Memory is reserved for growth, but not more than is allowed, and not while an event waits. */
TEST(reserved)
{
    sigset_t term, before;
    int number;
    reserve();
    const uint64_t whole = copy.reserve.wanted;
    copy.reserve.margin = 64 * page;
    assert_int_equal(death_reserve((uint64_t)child, &copy.order, &copy.reserve), 0);
    assert_int_equal(copy.reserve.wanted, whole + 64 * page);
    assert_int_equal(copy.reserve.touched, copy.reserve.wanted);
    copy.reserve.enough = 32 * page;
    copy.reserve.is_shared = true;
    assert_int_equal(death_reserve((uint64_t)child, &copy.order, &copy.reserve), 0);
    assert_int_equal(copy.reserve.wanted, 2 * page);
    copy.reserve.is_shared = false;
    copy.reserve.enough = copy.reserve.most = 5 * page;
    assert_int_equal(death_reserve((uint64_t)child, &copy.order, &copy.reserve), 0);
    assert_int_equal(copy.reserve.wanted, 5 * page);
    death_reserve_deinit(&copy.reserve);
    copy.reserve = (struct death_reserve){.most = UINT64_MAX};
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, &before);
    raise(SIGTERM);
    assert_int_equal(death_reserve((uint64_t)child, &copy.order, &copy.reserve), 0);
    assert_int_equal(sigwait(&term, &number), 0);
    sigprocmask(SIG_SETMASK, &before, NULL);
    assert_in_range(copy.reserve.touched, 0, copy.reserve.wanted - 1);
    assert_false(copy.reserve.is_refused);
    take();
    expect_all();
    end();
    assert_int_equal(death_reserve(copy.watch.pid, &copy.order, &copy.reserve), ENOENT);
}

/* ---- what is watched goes on ---- */

static void count_signal(int number)
{
    (void)number;
    shared->signals++;
}

static void *second(void *unused)
{
    shared->ready = 1;
    while (!shared->ends_second)
        usleep(1000);
    return unused;
}

static void run_threads(void)
{
    pthread_t thread;
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = count_signal}, NULL);
    pthread_create(&thread, NULL, second, NULL);
    for (;; usleep(1000)) {
        shared->beats++;
        if (!shared->starts_another)
            continue;
        shared->starts_another = shared->ends_second = false;
        pthread_create(&thread, NULL, second, NULL);
    }
}

static bool is_traced(pid_t thread)
{
    struct text status = {0};
    assert_int_equal(procfs_read_of((uint64_t)thread, "status", &status), 0);
    const char *tracer = procfs_value(&status, "TracerPid:");
    assert_non_null(tracer);
    const bool is = *tracer != '0';
    text_deinit(&status);
    return is;
}

static bool goes_on(void)
{
    const unsigned before = shared->beats;
    for (unsigned i = 0; i < PATIENCE && shared->beats == before; i++)
        usleep(1000);
    return shared->beats != before;
}

TEST(watched_goes_on)
{
    start(run_threads);
    struct death_watch *const watch = &copy.watch;
    *watch = (struct death_watch){.pid = (uint64_t)child};
    assert_int_equal(death_seize(watch), 0);
    assert_int_not_equal(watch->thread, child);
    assert_int_equal(syscall(SYS_tgkill, child, watch->thread, SIGUSR1), 0);
    SERVE_UNTIL(watch, shared->signals == 1);
    assert_int_equal(watch->signal_stops, 1);
    shared->ends_second = true; /* the thread ends, and the process does not */
    SERVE_UNTIL(watch, watch->is_stopped);
    assert_true(watch->is_alone);
    assert_false(death_let_run(watch));
    death_let_go(watch);
    assert_int_equal(watch->thread, 0);
    assert_false(watch->is_stopped);
    while (kill(child, 0) == 0 && death_is_alive((uint64_t)child, child))
        usleep(1000); /* the thread is on its way out */
    assert_int_equal(death_seize(watch), 0);
    assert_int_equal(watch->thread, child);
    death_prefer_second(watch);
    assert_int_equal(watch->thread, child); /* there is no other */
    shared->ready = 0;
    shared->starts_another = true;
    SERVE_UNTIL(watch, shared->ready == 1);
    death_prefer_second(watch);
    assert_int_not_equal(watch->thread, child);
    assert_true(is_traced(watch->thread));
    assert_false(is_traced(child));
    const pid_t thread = watch->thread;
    assert_true(death_let_run(watch));
    assert_int_equal(watch->thread, 0);
    assert_false(is_traced(thread));
    assert_true(goes_on());
}

static int from_parent[2];

static void run_exec(void)
{
    char byte;
    shared->ready = 1;
    if (read(from_parent[0], &byte, 1) == 1)
        execl("/bin/sh", "sh", "-c", "kill -TERM $$", NULL);
}

/* A command is watched from before its execve() on. */
TEST(command_is_watched)
{
    assert_int_equal(pipe(from_parent), 0);
    start(run_exec);
    struct death_watch *const watch = &copy.watch;
    *watch = (struct death_watch){.pid = (uint64_t)child};
    int status;
    assert_int_equal(death_seize_child(watch), 0);
    assert_int_equal(write(from_parent[1], "x", 1), 1);
    assert_int_equal(waitpid(child, &status, __WALL), child);
    assert_true(death_is_exec(status) && death_concerns(watch, child, status));
    death_note(watch, child, status);
    SERVE_UNTIL(watch, watch->is_stopped);
    assert_false(watch->is_alone);
    assert_int_equal(WTERMSIG(watch->status), SIGTERM);
    assert_int_equal(watch->signal_stops, 1);
    death_let_go(watch);
    close(from_parent[0]);
    close(from_parent[1]);
}

UNIT_MAIN(set_up, tear_down)
