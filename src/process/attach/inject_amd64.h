/*
 * inject_amd64: the processor-specific part of inject.c.
 *
 * On other processors the child of a fork would need another frame to end by: where a link register
 * has the return address, as on arm64, no frame on the stack leads to runtime.exit.
 */
#ifndef PROCESS_ATTACH_INJECT_AMD64_H
#define PROCESS_ATTACH_INJECT_AMD64_H

#include <stdint.h>
#include <sys/user.h>

#include "process/attach/inject.h"

typedef struct user_regs_struct machine_registers;

/*
 * runtime.futex and runtime.exit of sys_linux_amd64.s, the same in Go 1.19 to 1.27: they load their
 * arguments, from 8(SP) on, make the system call, and return.
 */
static const uint8_t machine_futex[] = {
    0x48, 0x8b, 0x7c, 0x24, 0x08, 0x8b, 0x74, 0x24, 0x10, 0x8b,
    0x54, 0x24, 0x14,                                           /* addr, op, val */
    0x4c, 0x8b, 0x54, 0x24, 0x18, 0x4c, 0x8b, 0x44, 0x24, 0x20, /* ts, addr2 */
    0x44, 0x8b, 0x4c, 0x24, 0x28, 0xb8, 0xca, 0x00, 0x00, 0x00, /* val3, AX */
    0x0f, 0x05, 0x89, 0x44, 0x24, 0x30, 0xc3,                   /* SYSCALL; MOVL AX, ret; RET */
};
static const uint8_t machine_exit[] = {
    0x8b, 0x7c, 0x24, 0x08, 0xb8, 0xe7, 0x00, 0x00, 0x00, /* code, AX */
    0x0f, 0x05, 0xc3,                                     /* SYSCALL; RET */
};
/* The size of SYSCALL, and the offset in runtime.futex after it. */
enum { MACHINE_CALL = 2, MACHINE_AFTER_CALL = 35 };

/* The kernel's codes, visible only to a tracer, for restarting a call (errno.h of the kernel). */
enum { MACHINE_RESTART = -512, MACHINE_RESTART_BLOCK = -516 };

enum { MACHINE_SYS_FUTEX = 202, MACHINE_FUTEX_OP = 0x7f /* without FUTEX_PRIVATE_FLAG */ };

/* Returns whether futex(2) is waiting, by its operation and value, as in runtime.notesleep. A
 * thread that waits for a lock of the runtime has another value. */
static inline bool machine_is_note(uint64_t operation, uint64_t value)
{
    return (operation & MACHINE_FUTEX_OP) == 0 && (uint32_t)value == 0;
}

/* Returns whether a stopped thread was in runtime.futex's call, which will be restarted. */
static inline bool machine_sleeps(const machine_registers *registers, uint64_t futex)
{
    const int64_t result = (int64_t)registers->rax;
    return registers->rip == futex + MACHINE_AFTER_CALL &&
           registers->orig_rax == MACHINE_SYS_FUTEX &&
           (result == MACHINE_RESTART || result == MACHINE_RESTART_BLOCK) &&
           machine_is_note(registers->rsi, registers->rdx);
}

/* Returns whether the sleep has a time limit, which the kernel keeps while it restarts the call. */
static inline bool machine_is_timed(const machine_registers *registers)
{
    return (int64_t)registers->rax == MACHINE_RESTART_BLOCK;
}

/* Sets the registers for a call that the thread is about to make. */
static inline void machine_call(machine_registers *registers, long call,
                                const uint64_t arguments[6])
{
    registers->rip -= MACHINE_CALL;
    registers->rax = (uint64_t)call;
    registers->orig_rax = UINT64_MAX; /* not in a call that could be restarted */
    registers->rdi = arguments[0];
    registers->rsi = arguments[1];
    registers->rdx = arguments[2];
    registers->r10 = arguments[3];
    registers->r8 = arguments[4];
    registers->r9 = arguments[5];
}

static inline long machine_result(const machine_registers *registers)
{
    return (long)registers->rax;
}

static inline uint64_t machine_pointer(const machine_registers *registers)
{
    return registers->rip;
}

/* Words of the frame: runtime.futex returns to the first, and runtime.exit finds its return address
 * and its code in the others. Its size leaves space for the result that runtime.futex stores. */
enum { MACHINE_FRAME_WORDS = 3, MACHINE_FRAME = 64, MACHINE_ALIGNMENT = 16 };

static inline uint64_t machine_frame(const machine_registers *registers, uint64_t leave,
                                     uint64_t words[MACHINE_FRAME_WORDS])
{
    words[0] = leave;
    words[1] = 0;
    words[2] = INJECT_STATUS;
    return (registers->rsp - MACHINE_FRAME) & ~(uint64_t)(MACHINE_ALIGNMENT - 1);
}

#endif
