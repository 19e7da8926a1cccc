/*
 * instructions: what a machine instruction does with registers and the stack frame, as far as it
 * tells what a word of the frame is.
 *
 * Only amd64 is read, and of it the instructions that Go's compiler and assembler use. Whatever
 * else an instruction does is INSTRUCTION_OTHER, which may write the registers that it names.
 */
#ifndef EXE_INSTRUCTIONS_H
#define EXE_INSTRUCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <go2heapsnapshot/bytes.h>

enum { INSTRUCTION_REGISTERS = 16 };

/* The register that holds the address of the frame. */
enum { INSTRUCTION_SP = 4 };

enum instruction_kind {
    INSTRUCTION_OTHER,
    INSTRUCTION_LOAD,    /* to = the word at memory */
    INSTRUCTION_STORE,   /* the word at memory = from */
    INSTRUCTION_MOVE,    /* to = from */
    INSTRUCTION_ADDRESS, /* to = target, a constant */
    INSTRUCTION_LEA,     /* to = the address of memory */
    INSTRUCTION_COMPARE, /* compares to with from */
    INSTRUCTION_CALL,    /* of target, if it has one */
    INSTRUCTION_JUMP,    /* to target, if it has one */
    INSTRUCTION_BRANCH,  /* a jump to target on a condition */
    INSTRUCTION_END,     /* execution does not go on behind it */
};

struct instruction {
    enum instruction_kind kind;
    uint32_t size;
    uint8_t to, from;     /* registers */
    bool has_target;      /* of a call or jump: the instruction contains it */
    bool is_if_not_equal; /* of a branch */
    bool has_memory;      /* it has a memory operand, at base + displacement (+ an index) */
    bool has_index;
    uint8_t base;
    int64_t displacement;
    uint64_t target; /* address in the file */
    uint32_t writes; /* a bit for each register that it may write */
};

/* Reads the instruction that code begins with; address is its address in the file. Returns false
 * if it is not known. */
bool instruction_read(struct g2h_bytes code, uint64_t address, struct instruction *ret);

/* Returns the register in which Go passes the argument, and gets the result, of an index, or
 * INSTRUCTION_REGISTERS if it is on the stack (cmd/compile/abi-internal.md). */
unsigned instruction_argument(unsigned index);

#endif
