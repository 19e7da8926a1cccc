/* inject; see inject.h. The terms are those of ptrace(2). */
#include "process/attach/inject.h"

#ifdef __linux__

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/elf_format.h"
#include "base/scope.h"
#include "process/attach/procfs.h"

/* How long a call may take, in seconds. A fork takes some 20 to 60 ms per GB, and longer if the
 * process has few processors; a thread in a frozen control group never responds. All other threads
 * are stopped meanwhile. */
#define PATIENCE 15.0

/* Polls with a growing pause, since waitid(2) has no time limit. WNOWAIT leaves the status for
 * whoever needs it. */
int inject_await(pid_t id)
{
    const double start = clock_seconds();
    for (long pause = 20000; clock_seconds() - start < PATIENCE;) {
        siginfo_t info = {0};
        const int flags = WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL;
        if (waitid(P_PID, (id_t)id, &info, flags) != 0)
            return -1;
        if (info.si_pid != 0)
            return info.si_code == CLD_TRAPPED ? info.si_status : -1;
        nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
        pause = pause < 200000 ? pause + pause / 8 : pause;
    }
    return -1;
}

#if defined(__x86_64__) && defined(__LP64__)

#include "process/attach/inject_amd64.h"

#ifndef PTRACE_O_SUSPEND_SECCOMP
#define PTRACE_O_SUSPEND_SECCOMP (1 << 21)
#endif

#ifdef __GLIBC__
typedef enum __ptrace_request ptrace_request;
#else
typedef int ptrace_request;
#endif

enum { EVENT_SHIFT = 8, SYSCALL_STOP = SIGTRAP | 0x80 /* by PTRACE_O_TRACESYSGOOD */ };

_Static_assert(sizeof(machine_registers) <= sizeof(((struct injection *)NULL)->registers), "space");

bool inject_is_possible(void)
{
    return true;
}

/* ---- registers and code ---- */

/* Reads all general registers of a stopped thread. Returns false if that fails. */
static bool inject_read_registers(pid_t id, machine_registers *ret)
{
    struct iovec part = {ret, sizeof(*ret)};
    return ptrace(PTRACE_GETREGSET, id, (void *)(uintptr_t)NT_PRSTATUS, &part) == 0 &&
           part.iov_len == sizeof(*ret);
}

static bool write_registers(pid_t id, const machine_registers *registers)
{
    struct iovec part = {(void *)(uintptr_t)registers, sizeof(*registers)};
    return ptrace(PTRACE_SETREGSET, id, (void *)(uintptr_t)NT_PRSTATUS, &part) == 0;
}

/* Returns the registers that the thread had before. */
static machine_registers kept_registers(const struct injection *injection)
{
    machine_registers registers;
    memcpy(&registers, injection->registers, sizeof(registers));
    return registers;
}

/* Returns whether a stopped thread has these bytes at an address. */
static bool thread_has_code(pid_t id, uint64_t address, const uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at < size; at += sizeof(long)) {
        errno = 0;
        const long word = ptrace(PTRACE_PEEKTEXT, id, (void *)(uintptr_t)(address + at), NULL);
        const size_t left = size - at;
        if (errno != 0 || memcmp(&word, bytes + at, left < sizeof(word) ? left : sizeof(word)) != 0)
            return false;
    }
    return address != 0;
}

/* The thread must sleep in runtime.futex, and the code there and in runtime.exit must be what is
 * expected: then its registers may be replaced safely. */
bool inject_begin(struct tracee *tracee, const struct inject_code *code, struct injection *ret)
{
    machine_registers registers;
    *ret = (struct injection){.tracee = tracee};
    if (tracee->state != TRACEE_STOPPED || tracee->signal != 0 || tracee->is_group_stop ||
        !inject_read_registers(tracee->id, &registers) ||
        !machine_sleeps(&registers, code->futex) ||
        !thread_has_code(tracee->id, code->futex, machine_futex, sizeof(machine_futex)) ||
        !thread_has_code(tracee->id, code->exit, machine_exit, sizeof(machine_exit)))
        return false;
    memcpy(ret->registers, &registers, sizeof(registers));
    ret->is_timed = machine_is_timed(&registers);
    return true;
}

/* /proc shows without stopping a thread in which system call it is. It must have been made by
 * runtime.futex, whose code is known. */
bool inject_is_sleeping(uint64_t pid, pid_t id, const struct inject_code *code)
{
    char path[64];
    _cleanup_(text_deinit) struct text line = {0};
    long call;
    unsigned long long words[8]; /* six arguments, the stack, the instruction pointer */
    snprintf(path, sizeof(path), "/proc/%llu/task/%d/syscall", (unsigned long long)pid, id);
    return procfs_read(path, &line) == 0 &&
           sscanf(line.data, "%ld %llx %llx %llx %llx %llx %llx %llx %llx", &call, &words[0],
                  &words[1], &words[2], &words[3], &words[4], &words[5], &words[6],
                  &words[7]) == 9 &&
           call == MACHINE_SYS_FUTEX && words[7] == code->futex + MACHINE_BEHIND &&
           machine_is_note(words[1], words[2]);
}

uint64_t inject_exit_frame(const struct injection *injection, const struct inject_code *code)
{
    const machine_registers registers = kept_registers(injection);
    uint64_t words[MACHINE_FRAME_WORDS];
    const uint64_t stack = machine_frame(&registers, code->exit, words);
    for (uint64_t i = 0; i < MACHINE_FRAME_WORDS; i++)
        if (ptrace(PTRACE_POKEDATA, injection->tracee->id, (void *)(uintptr_t)(stack + 8 * i),
                   (void *)(uintptr_t)words[i]) != 0)
            return 0;
    return stack;
}

uint64_t inject_pointer(const struct injection *injection)
{
    const machine_registers registers = kept_registers(injection);
    return machine_pointer(&registers);
}

/* ---- the call ---- */

/* Restores the thread's registers and options. Returns false if that fails. */
static bool restore_thread(const struct injection *injection)
{
    const machine_registers registers = kept_registers(injection);
    const bool good = write_registers(injection->tracee->id, &registers);
    return ptrace(PTRACE_SETOPTIONS, injection->tracee->id, NULL, NULL) == 0 && good;
}

/* Makes a process the OOM killer's first choice. */
static void prefer_for_oom_killer(pid_t id)
{
    const int fd = open(procfs_path((uint64_t)id, "oom_score_adj").text, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)!write(fd, "1000", 4); /* the most, by proc(5) */
    close(fd);
}

/* Records the process that the call has made, once it has stopped, which it does before its first
 * instruction. That it can be waited for shows that it is a tracee of this thread. */
static void take_child(struct injection *injection)
{
    unsigned long child = 0;
    if (ptrace(PTRACE_GETEVENTMSG, injection->tracee->id, NULL, &child) != 0 || child <= 1 ||
        child > INT32_MAX || inject_await((pid_t)child) < 0)
        return;
    injection->child = (pid_t)child;
    (void)ptrace(PTRACE_SETOPTIONS, injection->child, NULL,
                 (void *)(uintptr_t)PTRACE_O_EXITKILL); /* fails if it is already dead */
    prefer_for_oom_killer(injection->child);
}

/* Lets the thread run up to its next stop in or after the call. Returns false if it is lost. */
static bool resume(pid_t id, ptrace_request request)
{
    return ptrace(request, id, NULL, NULL) == 0;
}

/* Follows the thread through the call: the stop at its entry, the event of a new process, the stop
 * at its exit, and the stop that PTRACE_INTERRUPT makes after that. Only there the registers are
 * restored, because there, on its way out of the kernel, the kernel looks for a call to restart; at
 * the exit's stop the program would see the kernel-internal restart code. Returns the call's
 * result, INJECT_AGAIN or INJECT_LOST. */
static long inject_follow(struct injection *injection)
{
    struct tracee *tracee = injection->tracee;
    const pid_t id = tracee->id;
    bool has_entered = false, has_left = false;
    long result = INJECT_AGAIN;
    if (!resume(id, PTRACE_SYSCALL))
        return INJECT_LOST;
    for (;;) {
        const int status = inject_await(id);
        machine_registers registers;
        if (status < 0)
            return INJECT_LOST;
        const int event = status >> EVENT_SHIFT, stop = status & 0xff;
        if (event == 0 && stop == SYSCALL_STOP && !has_entered) {
            has_entered = true;
            if (!resume(id, PTRACE_SYSCALL))
                return INJECT_LOST;
        } else if (event == 0 && stop == SYSCALL_STOP) {
            if (!inject_read_registers(id, &registers))
                return INJECT_LOST;
            result = machine_result(&registers);
            has_left = true;
            if (!resume(id, PTRACE_INTERRUPT) || !resume(id, PTRACE_CONT))
                return INJECT_LOST;
        } else if (event == PTRACE_EVENT_CLONE) {
            take_child(injection);
            if (!resume(id, PTRACE_SYSCALL))
                return INJECT_LOST;
        } else if (event == PTRACE_EVENT_STOP && stop == SIGTRAP && !has_left) {
            if (!resume(id, PTRACE_SYSCALL)) /* an earlier interrupt of ours */
                return INJECT_LOST;
        } else {
            /* The requested stop; a signal, which stays for the detach; or the process is being
             * stopped by one. */
            tracee->signal = event == 0 ? stop : 0;
            tracee->is_group_stop = event == PTRACE_EVENT_STOP && stop != SIGTRAP;
            return restore_thread(injection) ? result : INJECT_LOST;
        }
    }
}

long inject(struct injection *injection, long call, const uint64_t arguments[6])
{
    assert(injection->tracee); /* inject_begin() has been called */
    uintptr_t options = PTRACE_O_TRACESYSGOOD;
    if (injection->traces_child)
        options |= PTRACE_O_TRACECLONE;
    if (injection->suspends_filters)
        options |= PTRACE_O_SUSPEND_SECCOMP;
    machine_registers registers = kept_registers(injection);
    injection->child = 0;
    machine_call(&registers, call, arguments);
    if (ptrace(PTRACE_SETOPTIONS, injection->tracee->id, NULL, (void *)options) != 0)
        return -errno;
    if (!write_registers(injection->tracee->id, &registers))
        return INJECT_LOST;
    return inject_follow(injection);
}

#else

bool inject_is_possible(void)
{
    return false;
}

bool inject_begin(struct tracee *tracee, const struct inject_code *code, struct injection *ret)
{
    (void)tracee, (void)code, (void)ret;
    return false;
}

bool inject_is_sleeping(uint64_t pid, pid_t id, const struct inject_code *code)
{
    (void)pid, (void)id, (void)code;
    return false;
}

uint64_t inject_exit_frame(const struct injection *injection, const struct inject_code *code)
{
    (void)injection, (void)code;
    return 0;
}

uint64_t inject_pointer(const struct injection *injection)
{
    (void)injection;
    return 0;
}

long inject(struct injection *injection, long call, const uint64_t arguments[6])
{
    (void)injection, (void)call, (void)arguments;
    return INJECT_LOST;
}

#endif
#endif
