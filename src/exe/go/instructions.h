/*
 * instructions: decodes the effect of machine instructions on words in registers, in the stack
 * frame and in memory, as far as it is evidence of the words' types.
 *
 * Supports the instructions of amd64 and arm64 that Go's compiler and assembler use. An instruction
 * with any other effect is INSTRUCTION_OTHER, which may write the registers that it names.
 */
#ifndef GO_INSTRUCTIONS_H
#define GO_INSTRUCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <go2heapsnapshot/bytes.h>

enum { INSTRUCTION_REGISTERS = 32, INSTRUCTION_MOST_BOUND = 1 << 20 };

enum instruction_kind {
    INSTRUCTION_OTHER,
    INSTRUCTION_NOTHING,  /* no effect */
    INSTRUCTION_LOAD,     /* to = the word at memory; is_pair: also second = the next word */
    INSTRUCTION_STORE,    /* the word at memory = from; is_pair: also the next word = second */
    INSTRUCTION_MOVE,     /* to = from */
    INSTRUCTION_ZERO,     /* to = 0 */
    INSTRUCTION_ADDRESS,  /* to = target, a constant */
    INSTRUCTION_LEA,      /* to = the address of memory, which is a sum, too */
    INSTRUCTION_MULTIPLY, /* to = a multiple of from, or of anything */
    INSTRUCTION_SUBTRACT, /* to = from - something */
    INSTRUCTION_COMPARE,  /* compares to with from */
    INSTRUCTION_BOUND,    /* compares to with factor; or, if it writes, to = from & (factor - 1) */
    INSTRUCTION_CALL,     /* of target, if it has one */
    INSTRUCTION_JUMP,     /* to target, if it has one */
    INSTRUCTION_BRANCH,   /* a jump to target on a condition */
    INSTRUCTION_END,      /* execution does not continue after it */
};

struct instruction {
    enum instruction_kind kind;
    uint32_t size;
    uint8_t to, from, second; /* registers */
    bool is_pair;
    bool has_target;      /* of a call or jump: the instruction contains it */
    bool is_if_equal;     /* of a branch: it is taken if what has been compared is equal, */
    bool is_if_not_equal; /* or if it is not */
    bool has_memory;      /* it has a memory operand, at base + displacement (+ an index) */
    bool is_static;       /* it has one at target */
    bool has_index;
    bool sets_float; /* it may write the register of the first floating-point argument */
    uint8_t base, index;
    uint8_t scale;         /* of the index, in bytes; 0: more than 128 */
    uint32_t factor;       /* of a multiple; 0: not known. Of a bound: the number */
    uint8_t written_bytes; /* how many it may write from the memory operand on */
    int64_t displacement;
    uint64_t target;            /* address in the file */
    uint32_t written_registers; /* a bit for each that it may write */
};

/* The instructions of a machine, and how Go uses its registers (cmd/compile/abi-internal.md). */
struct machine {
    /* Decodes the instruction at the start of code; address is its address in the file. Returns
     * false if it is not known. */
    bool (*read)(struct g2h_bytes code, uint64_t address, struct instruction *ret);
    uint8_t arguments[16]; /* registers of arguments and results, in order */
    unsigned argument_count;
    uint8_t sp;      /* has the frame's address */
    uint8_t closure; /* has the called func value */
    uint8_t barrier; /* has the buffer that runtime.gcWriteBarrier2 returns, since Go 1.21 */
};

/* Returns the machine of an executable (ELF's e_machine), or NULL if it is not supported. */
const struct machine *machine_of(unsigned number);

#endif
