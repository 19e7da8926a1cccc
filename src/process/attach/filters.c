/* filters; see filters.h. */
#include "process/attach/filters.h"

#ifdef __linux__

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>

#include "base/scope.h"
#include "process/attach/procfs.h"

#define GET_FILTER 0x420cu /* PTRACE_SECCOMP_GET_FILTER, which not all C libraries have */

enum { MOST_INSTRUCTIONS = 4096, MOST_FILTERS = 256, CELLS = 16 };

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
#define ACTION       0xffff0000u
#define ACTION_ERRNO 0x00050000u
#define ACTION_LOG   0x7ffc0000u
#define ACTION_ALLOW 0x7fff0000u

/* ---- a filter ---- */

struct filter_machine {
    uint32_t a, x, cells[CELLS];
    const struct filters_call *call;
};

/* Loads a value to *ret. Returns false if there is no such value. */
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

/* Returns how many instructions a jump passes over, or UINT64_MAX if there is no such jump. */
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
        *ret = answer_for_action(filters_run(program, (size_t)count, call));
    return true;
}

/* The kernel runs all filters of a thread, and takes the strictest result. They are read until
 * there are no more; the first must exist if Seccomp: says so. */
enum filters_answer filters_ask(pid_t id, long number, uint64_t pointer,
                                const uint64_t arguments[6])
{
    struct filters_call call = {(uint32_t)number, MACHINE_AMD64, pointer, {0}};
    _cleanup_(text_deinit) struct text status = {0};
    enum filters_answer worst = FILTERS_ALLOW;
    enum { NO_FILTERS = 0, FILTERS = 2 }; /* Seccomp: of proc(5) */
    if (procfs_read_of((uint64_t)id, "status", &status) != 0)
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
        worst = answer > worst ? answer : worst;
    }
    return FILTERS_UNKNOWN;
}

#endif
