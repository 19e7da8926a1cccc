/*
 * inject: has a thread of another process make one system call; see inject.h. The first part
 * interprets the thread's seccomp filters (programs of classic BPF) to know beforehand whether
 * these permit the call; the second replaces the thread's registers while it is stopped by
 * ptrace(2), lets it run through the call, and restores them. Only on amd64, and only threads that
 * sleep in runtime.futex, whose code is known.
 */
#include "process/attach/inject.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __linux__

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/elf_format.h"
#include "base/error.h"
#include "base/port.h"
#include "process/attach/procfs.h"

/* ==== the verdict of a thread's seccomp filters on a system call, before it is made ==== */

#define GET_FILTER 0x420cu /* PTRACE_SECCOMP_GET_FILTER, which not all C libraries have */

/* Of a filter, as in the kernel (BPF_MAXINSNS, BPF_MEMWORDS); and of a thread. */
enum { MOST_INSTRUCTIONS = 4096, CELLS = 16, MOST_FILTERS = 256 };

/* AUDIT_ARCH_X86_64: the machine, in 64 bits, little-endian. */
#define MACHINE_AMD64 (62u | 0x80000000u | 0x40000000u)

/* Fields of an instruction's code (linux/bpf_common.h). */
enum { LD, LDX, ST, STX, ALU, JMP, RET, MISC };

enum { IMM = 0x00, ABS = 0x20, MEM = 0x60, LEN = 0x80, MODE = 0xe0 };

enum { ADD = 0x00, SUB = 0x10, MUL = 0x20, DIV = 0x30, OR = 0x40, AND = 0x50, LSH = 0x60 };

enum { RSH = 0x70, NEG = 0x80, XOR = 0xa0, OPERATION = 0xf0 };

enum { JA = 0x00, JEQ = 0x10, JGT = 0x20, JGE = 0x30, JSET = 0x40 };

enum { CLASS = 0x07, BY_X = 0x08, TXA = 0x80, RET_A = 0x10 };

/* Actions, of which the kernel takes the lowest as a signed number (linux/seccomp.h). */
#define ACTION 0xffff0000u

#define ACTION_ERRNO 0x00050000u

#define ACTION_LOG 0x7ffc0000u

#define ACTION_ALLOW 0x7fff0000u

/* ---- a filter ---- */

struct filter_machine {
    uint32_t a, x, cells[CELLS];
    const struct filters_call *call;
};

/* Loads the value that an instruction names: a constant, a word of the call, a cell, or the call's
 * size. Returns false if there is no such value. */
static bool filters_load(const struct filter_machine *machine, const struct filters_instruction *at,
                         uint32_t *ret)
{
    switch (at->code & MODE) {
    case IMM:
        *ret = at->value;
        return true;
    case ABS:
        if (at->value % 4 != 0 || at->value > sizeof(*machine->call) - 4)
            return false;
        memcpy(ret, (const uint8_t *)machine->call + at->value, 4);
        return true;
    case MEM:
        if (at->value >= CELLS)
            return false;
        *ret = machine->cells[at->value];
        return true;
    case LEN:
        *ret = sizeof(*machine->call);
        return true;
    default:
        return false;
    }
}

/* Executes an arithmetic operation. Returns false if it is invalid, as a division by 0. */
static bool calculate(struct filter_machine *machine, unsigned code, uint32_t by)
{
    switch (code & OPERATION) {
    case ADD:
        machine->a += by;
        return true;
    case SUB:
        machine->a -= by;
        return true;
    case MUL:
        machine->a *= by;
        return true;
    case DIV:
        machine->a = by != 0 ? machine->a / by : 0;
        return by != 0;
    case OR:
        machine->a |= by;
        return true;
    case AND:
        machine->a &= by;
        return true;
    case XOR:
        machine->a ^= by;
        return true;
    case LSH:
        machine->a = by < 32 ? machine->a << by : 0;
        return by < 32;
    case RSH:
        machine->a = by < 32 ? machine->a >> by : 0;
        return by < 32;
    case NEG:
        machine->a = 0 - machine->a;
        return true;
    default:
        return false;
    }
}

/* Returns how many instructions a jump of a filter (BPF) passes over: a conditional one compares
 * the accumulator with `by`. UINT64_MAX: there is no such jump. */
static uint64_t jump(const struct filter_machine *machine, const struct filters_instruction *at,
                     uint32_t by)
{
    bool is_true;
    switch (at->code & OPERATION) {
    case JA:
        return at->value;
    case JEQ:
        is_true = machine->a == by;
        break;
    case JGT:
        is_true = machine->a > by;
        break;
    case JGE:
        is_true = machine->a >= by;
        break;
    case JSET:
        is_true = (machine->a & by) != 0;
        break;
    default:
        return UINT64_MAX;
    }
    return is_true ? at->if_true : at->if_false;
}

/* Executes an instruction that neither jumps nor returns. Returns false if it is invalid. */
static bool execute(struct filter_machine *machine, const struct filters_instruction *at)
{
    const unsigned class = at->code & CLASS;
    switch (class) {
    case LD:
        return filters_load(machine, at, &machine->a);
    case LDX:
        return filters_load(machine, at, &machine->x);
    case ST:
    case STX:
        if (at->value >= CELLS)
            return false;
        machine->cells[at->value] = class == ST ? machine->a : machine->x;
        return true;
    case ALU:
        return calculate(machine, at->code, (at->code & BY_X) ? machine->x : at->value);
    default:
        if (at->code & TXA)
            machine->a = machine->x;
        else
            machine->x = machine->a;
        return true;
    }
}

/* Interprets a filter, a program of classic BPF with two registers and 16 cells, as the kernel
 * does. An invalid one returns 0, which kills. */
uint32_t filters_run(const struct filters_instruction *program, size_t count,
                     const struct filters_call *call)
{
    struct filter_machine machine = {.call = call};
    for (uint64_t i = 0; i < count; i++) {
        const struct filters_instruction *at = &program[i];
        if ((at->code & CLASS) == RET)
            return (at->code & RET_A) ? machine.a : at->value;
        if ((at->code & CLASS) == JMP) {
            const uint64_t over = jump(&machine, at, (at->code & BY_X) ? machine.x : at->value);
            if (over >= count - i)
                return 0;
            i += over;
        } else if (!execute(&machine, at)) {
            return 0;
        }
    }
    return 0;
}

/* ---- the filters of a thread ---- */

/* Returns what a filter's result means for a call: it happens, it fails without harm, or anything
 * else. */
static enum filters_answer answer_for_action(uint32_t returned)
{
    switch (returned & ACTION) {
    case ACTION_ALLOW:
    case ACTION_LOG:
        return FILTERS_ALLOW;
    case ACTION_ERRNO:
        return FILTERS_REFUSE;
    default:
        return FILTERS_HARM;
    }
}

/* Runs one filter of a thread. Returns false if there is none with this number. */
static bool filters_ask_one(pid_t id, uintptr_t number, const struct filters_call *call,
                            enum filters_answer *ret)
{
    struct filters_instruction program[MOST_INSTRUCTIONS];
    const long count = ptrace(GET_FILTER, id, (void *)number, NULL);
    *ret = FILTERS_UNKNOWN;
    if (count < 0)
        return errno != ENOENT;
    if (count <= MOST_INSTRUCTIONS && ptrace(GET_FILTER, id, (void *)number, program) == count)
        *ret = answer_for_action(filters_run(program, as_size(count), call));
    return true;
}

/* Finds what the seccomp filters of a thread say to a system call. The kernel runs all filters of a
 * thread, and takes the strictest result. They are read until there are no more; the first must
 * exist if Seccomp: says so. */
enum filters_answer filters_ask(pid_t id, long number, uint64_t pointer,
                                const uint64_t arguments[6])
{
    struct filters_call call = {(uint32_t)number, MACHINE_AMD64, pointer, {0}};
    _cleanup_(text_deinit) struct text status = {0};
    enum filters_answer worst = FILTERS_ALLOW;
    enum { NO_FILTERS = 0, FILTERS = 2 }; /* Seccomp: of proc(5) */
    if (procfs_read_of(pid_number(id), "status", &status) != 0)
        return FILTERS_UNKNOWN;
    const uint64_t mode = procfs_number(&status, "Seccomp:");
    if (mode == NO_FILTERS || mode == UINT64_MAX) /* the kernel may have been built without them */
        return FILTERS_ALLOW;
    if (mode != FILTERS)
        return FILTERS_HARM;
    memcpy(call.arguments, arguments, sizeof(call.arguments));
    for (uintptr_t i = 0; i < MOST_FILTERS; i++) {
        enum filters_answer answer;
        if (!filters_ask_one(id, i, &call, &answer))
            return i > 0 ? worst : FILTERS_UNKNOWN;
        worst = MAX(answer, worst);
    }
    return FILTERS_UNKNOWN;
}

/* ==== one system call in a thread of a Go process that sleeps in runtime.futex ====
 *
 * The terms are those of ptrace(2).
 */

/* How long a call may take, in seconds. A fork takes some 20 to 60 ms per GB, and longer if the
 * process has few processors; a thread in a frozen control group never responds. All other threads
 * are stopped meanwhile. */
#define PATIENCE 15.0

/* Waits until a thread has stopped. Returns the status of its stop as waitid(2) has it, or -1 if it
 * has ended, or does not stop within PATIENCE seconds. Polls with a growing pause, since waitid(2)
 * has no time limit. WNOWAIT leaves the status for whoever needs it. */
int inject_await(pid_t id)
{
    enum { SHORTEST = 20 * 1000, LONGEST = 200 * 1000 }; /* ns */
    const double start = clock_seconds();
    for (long pause = SHORTEST; clock_seconds() - start < PATIENCE;) {
        siginfo_t info = {0};
        const int flags = WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL;
        if (waitid(P_PID, (id_t)id, &info, flags) != 0)
            return -1;
        if (info.si_pid != 0)
            return info.si_code == CLD_TRAPPED ? info.si_status : -1;
        nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
        pause = pause < LONGEST ? pause + pause / 8 : pause;
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
    return ptrace(PTRACE_GETREGSET, id, as_pointer(NT_PRSTATUS), &part) == 0 &&
           part.iov_len == sizeof(*ret);
}

static bool write_registers(pid_t id, const machine_registers *registers)
{
    struct iovec part = {not_const(registers), sizeof(*registers)};
    return ptrace(PTRACE_SETREGSET, id, as_pointer(NT_PRSTATUS), &part) == 0;
}

/* Returns the registers that the thread had before. */
static machine_registers kept_registers(const struct injection *injection)
{
    machine_registers registers;
    memcpy(&registers, injection->registers, sizeof(registers));
    return registers;
}

/* Returns whether a stopped thread has these bytes at an address; false for the address 0. */
static bool thread_has_code(pid_t id, uint64_t address, const uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at < size; at += sizeof(long)) {
        errno = 0;
        const long word = ptrace(PTRACE_PEEKTEXT, id, as_pointer(address + at), NULL);
        const size_t left = size - at;
        if (errno != 0 || memcmp(&word, bytes + at, MIN(left, sizeof(word))) != 0)
            return false;
    }
    return address != 0;
}

/* Prepares to have a stopped thread run calls. Returns false if it cannot: the thread must sleep in
 * runtime.futex, and the code there and in runtime.exit must be what is expected; then its
 * registers may be replaced safely. */
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

/* Returns whether a running thread seems to be one that may be borrowed. /proc shows without
 * stopping a thread in which system call it is. It must have been made by runtime.futex, whose code
 * is known. */
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
           call == MACHINE_SYS_FUTEX && words[7] == code->futex + MACHINE_AFTER_CALL &&
           machine_is_note(words[1], words[2]);
}

uint64_t inject_exit_frame(const struct injection *injection, const struct inject_code *code)
{
    const machine_registers registers = kept_registers(injection);
    uint64_t words[MACHINE_FRAME_WORDS];
    const uint64_t stack = machine_frame(&registers, code->exit, words);
    for (uint64_t i = 0; i < MACHINE_FRAME_WORDS; i++)
        if (ptrace(PTRACE_POKEDATA, injection->tracee->id, as_pointer(stack + 8 * i),
                   as_pointer(words[i])) != 0)
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

/* Makes a process the OOM killer's first choice, if that is possible. */
static void prefer_for_oom_killer(pid_t id)
{
    const int fd = open(procfs_path(pid_number(id), "oom_score_adj").text, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)!write(fd, "1000", 4); /* the most, by proc(5) */
    close(fd);
}

/* Records the process that the call has made, once it has stopped, which it does before its first
 * instruction. That it can be waited for shows that it is a tracee of this thread. If not, none is
 * recorded. */
static void take_child(struct injection *injection)
{
    unsigned long child = 0;
    if (ptrace(PTRACE_GETEVENTMSG, injection->tracee->id, NULL, &child) != 0 || child <= 1 ||
        child > INT32_MAX || inject_await(as_pid(child)) < 0)
        return;
    injection->child = as_pid(child);
    (void)ptrace(PTRACE_SETOPTIONS, injection->child, NULL,
                 as_pointer(PTRACE_O_EXITKILL)); /* fails if it is already dead */
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
        const int event = status >> EVENT_SHIFT;
        const int stop = status & 0xff;
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

/* Sets the thread's registers for the call, and lets it run to the end of the call. Returns the
 * call's result, a negative errno value if the call failed or the thread's options cannot be set,
 * INJECT_AGAIN if it was interrupted, or INJECT_LOST if the thread has ended or does not answer. */
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

/* Calls are injected on amd64 only. */
bool inject_is_possible(void)
{
    return false;
}

/* Refuses: elsewhere than on amd64, no thread can be borrowed. */
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
