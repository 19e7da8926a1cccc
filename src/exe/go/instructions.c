/*
 * instructions: decodes single machine instructions into the few kinds that flow.c follows: loads,
 * stores, moves, additions, calls and jumps; see instructions.h. The first part is arm64, whose
 * instructions have 32 bits; the second amd64, whose instructions have any number of bytes, so that
 * tables say which operands an opcode has and which registers it writes. If an instruction is not
 * known, flow.c learns nothing of its function; one that is only not followed says which registers
 * it writes.
 */
#include "exe/go/instructions.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "base/elf_format.h"

/* Makes an instruction one that compares a register with a number, or (is_mask) masks it by one, if
 * the number may be that of an array's elements, or one less. */
static void set_bound(struct instruction *ret, uint8_t to, bool is_mask, int64_t number)
{
    if (number < 1 || number > INSTRUCTION_MOST_BOUND || (is_mask && (number & (number + 1)) != 0))
        return;
    const int64_t bound = is_mask ? number + 1 : number;
    ret->kind = INSTRUCTION_BOUND;
    ret->to = ret->from = to;
    ret->factor = (uint32_t)bound;
}

/* ==== arm64's part of exe/go/instructions.h ====
 *
 * The encoding: Arm Architecture Reference Manual for A-profile, C4. Each instruction has 32 bits.
 */

/* Number 31 is the stack pointer in an address operand, and otherwise the zero register. */
enum { ARM64_SP = 31 };

enum { SIZE = 4, WORD = 8, ZERO = 31 };

/* Returns the number of count bits that begins at bit first. */
static unsigned bits(uint32_t word, unsigned first, unsigned count)
{
    return word >> first & ((1u << count) - 1);
}

/* Returns the signed number of count bits that begins at bit first. */
static int64_t signed_bits(uint32_t word, unsigned first, unsigned count)
{
    const int64_t number = bits(word, first, count);
    return number < INT64_C(1) << (count - 1) ? number : number - (INT64_C(1) << count);
}

/* Returns the number of a register that begins at bit first. */
static uint8_t register_at(uint32_t word, unsigned first)
{
    return (uint8_t)bits(word, first, 5);
}

/* The manual's Rd: the register that gets the result. */
static uint8_t rd(uint32_t word)
{
    return register_at(word, 0);
}

/* The manual's Rn: the register of the first operand, or of an address. */
static uint8_t rn(uint32_t word)
{
    return register_at(word, 5);
}

/* The manual's Rm: the register of the second operand. */
static uint8_t rm(uint32_t word)
{
    return register_at(word, 16);
}

/* ---- branches ---- */

/* Makes an instruction a branch or call to a distance, which counts instructions. */
static void set_target(struct instruction *ret, enum instruction_kind kind, uint64_t address,
                       int64_t words)
{
    ret->kind = kind;
    ret->has_target = true;
    ret->target = address + (uint64_t)(words * SIZE);
}

/* Reads a branch, an exception or a system instruction of arm64. What is none of those listed keeps
 * its kind, INSTRUCTION_OTHER. */
static void read_branch(uint32_t word, uint64_t address, struct instruction *ret)
{
    enum { EQUAL = 0, NOT_EQUAL = 1 };
    if (bits(word, 26, 5) == 5) { /* B, BL */
        set_target(ret, bits(word, 31, 1) ? INSTRUCTION_CALL : INSTRUCTION_JUMP, address,
                   signed_bits(word, 0, 26));
    } else if ((word & 0xff000010) == 0x54000000) { /* B.cond */
        set_target(ret, INSTRUCTION_BRANCH, address, signed_bits(word, 5, 19));
        ret->is_if_equal = bits(word, 0, 4) == EQUAL;
        ret->is_if_not_equal = bits(word, 0, 4) == NOT_EQUAL;
    } else if ((word & 0x7e000000) == 0x34000000) { /* CBZ, CBNZ */
        set_target(ret, INSTRUCTION_BRANCH, address, signed_bits(word, 5, 19));
    } else if ((word & 0x7e000000) == 0x36000000) { /* TBZ, TBNZ */
        set_target(ret, INSTRUCTION_BRANCH, address, signed_bits(word, 5, 14));
    } else if ((word & 0xffe00000) == 0xd6000000) { /* BR */
        ret->kind = INSTRUCTION_JUMP;
    } else if ((word & 0xffe00000) == 0xd6200000) { /* BLR */
        ret->kind = INSTRUCTION_CALL;
    } else if ((word & 0xfe000000) == 0xd6000000) { /* RET, ERET, DRPS */
        ret->kind = INSTRUCTION_END;
    } else if ((word & 0xffe0001f) == 0xd4200000) { /* BRK */
        ret->kind = INSTRUCTION_END;
    } else if ((word & 0xfff00000) == 0xd5300000) { /* MRS */
        ret->written_registers = 1u << rd(word);
    }
}

/* ---- memory ---- */

/* Decodes the memory operand of a load or store. Returns whether the instruction changes the base
 * register, too (pre- or post-index). */
static bool arm64_read_address(uint32_t word, unsigned log_size, struct instruction *ret)
{
    ret->has_memory = true;
    ret->base = rn(word);
    if (bits(word, 27, 3) == 5) { /* a pair */
        ret->displacement = signed_bits(word, 15, 7) * (INT64_C(1) << log_size);
        return bits(word, 23, 1) != 0 && bits(word, 23, 2) != 2;
    }
    if (bits(word, 24, 2) == 1) { /* an offset without a sign */
        ret->displacement = (int64_t)bits(word, 10, 12) << log_size;
        return false;
    }
    if (bits(word, 21, 1) != 0) { /* an index register, or an atomic operation without offset */
        ret->has_index = bits(word, 10, 2) == 2;
        ret->index = rm(word);
        ret->scale = (uint8_t)(bits(word, 12, 1) ? 1u << log_size : 1);
        return false;
    }
    ret->displacement = signed_bits(word, 12, 9); /* a signed offset, or pre- or post-index */
    return bits(word, 10, 1) != 0;
}

/* Returns the logarithm of the size of one register that a load or store of a kind accesses. */
static unsigned log_size_of(uint32_t word, bool is_pair, bool is_vector)
{
    const unsigned size = bits(word, 30, 2);
    if (is_pair)
        return is_vector ? 2 + size : 2 + size / 2;
    return is_vector && bits(word, 23, 1) != 0 ? 4 : size;
}

/* Decodes a load or store of general registers or vectors of arm64 (manual, C4.1: loads and
 * stores). Only plain accesses of whole words that do not change their base register are followed:
 * these become INSTRUCTION_LOAD or INSTRUCTION_STORE. Of all others (literals, exclusive and atomic
 * ones, bytes, vectors) it is only noted which registers, and how many bytes, they may write. */
static void read_memory(uint32_t word, struct instruction *ret)
{
    const bool is_pair = bits(word, 27, 3) == 5;
    const bool is_vector = bits(word, 26, 1) != 0;
    const bool is_plain = bits(word, 27, 3) == 7;
    const uint32_t all = 1u << rd(word) | 1u << rn(word) | 1u << bits(word, 10, 5) | 1u << rm(word);
    if ((!is_pair && !is_plain) || (is_plain && bits(word, 24, 2) > 1)) {
        ret->written_registers = all; /* literals, exclusive and ordered accesses */
        if (bits(word, 24, 6) == 8) { /* exclusive and ordered: may write a pair */
            ret->has_memory = ret->has_index = true;
            ret->base = rn(word);
            ret->written_bytes = 2 * WORD;
        }
        return;
    }
    const unsigned size = bits(word, 30, 2); /* 3: words; of a pair 2 */
    const unsigned log_size = log_size_of(word, is_pair, is_vector);
    /* opc, bits 22 and 23: 0 is a store. Bit 21 without a register as offset, 2 in bits 10 and 11,
     * is an atomic operation. */
    const bool changes_base = arm64_read_address(word, log_size, ret),
               is_load = bits(word, 22, 1) != 0 || (is_plain && bits(word, 23, 1) != 0),
               is_atomic = is_plain && bits(word, 24, 2) == 0 && bits(word, 21, 1) != 0 &&
                           bits(word, 10, 2) != 2,
               is_word = !is_vector && !is_atomic &&
                         (is_pair ? size == 2 : size == 3 && bits(word, 23, 1) == 0);
    if (is_atomic) {
        ret->written_registers = all;
        return;
    }
    const bool writes_memory = !is_load || (is_vector && bits(word, 22, 1) == 0);
    ret->sets_float =
        is_vector && is_load && (rd(word) == 0 || (is_pair && bits(word, 10, 5) == 0));
    if (writes_memory)
        ret->written_bytes = (uint8_t)((is_pair ? 2u : 1u) << log_size);
    else
        ret->written_bytes = 0;
    if (is_load && !is_vector)
        ret->written_registers |= 1u << rd(word) | (is_pair ? 1u << bits(word, 10, 5) : 0);
    if (changes_base)
        ret->written_registers |= 1u << rn(word);
    if (!is_word || changes_base)
        return;
    ret->kind = is_load ? INSTRUCTION_LOAD : INSTRUCTION_STORE;
    ret->to = ret->from = rd(word);
    ret->is_pair = is_pair;
    ret->second = register_at(word, 10);
}

/* ---- registers ---- */

/* Decodes an operation on general registers: the ways in which Go computes addresses, moves and
 * compares. All others write their destination register, the lowest five bits. */
static void arm64_read_data(uint32_t word, uint64_t address, struct instruction *ret)
{
    ret->to = rd(word);
    ret->from = rm(word);
    ret->written_registers = 1u << rd(word);
    if ((word & 0x1f000000) == 0x10000000) { /* ADR, ADRP */
        const int64_t number = signed_bits(word, 5, 19) * 4 + (int64_t)bits(word, 29, 2);
        const bool is_page = bits(word, 31, 1) != 0;
        ret->kind = INSTRUCTION_ADDRESS;
        ret->is_static = true;
        ret->target = is_page ? (address & ~UINT64_C(0xfff)) + (uint64_t)(number * 4096)
                              : address + (uint64_t)number;
    } else if ((word & 0xff800000) == 0x91000000) { /* ADD (immediate) */
        ret->kind = INSTRUCTION_LEA;
        ret->has_memory = true;
        ret->base = rn(word);
        ret->displacement = (int64_t)bits(word, 10, 12) << (bits(word, 22, 1) ? 12 : 0);
    } else if ((word & 0xffe00000) == 0x8b000000) { /* ADD (shifted register), LSL */
        ret->kind = INSTRUCTION_LEA;
        ret->has_memory = ret->has_index = true;
        ret->base = rn(word);
        ret->index = rm(word);
        ret->scale = (uint8_t)(bits(word, 10, 6) < 8 ? 1u << bits(word, 10, 6) : 0);
    } else if ((word & 0xff200000) == 0xcb000000 || (word & 0xffe08000) == 0x9b008000) {
        ret->kind = INSTRUCTION_SUBTRACT; /* SUB (shifted register), MSUB */
        ret->from = (uint8_t)((word & 0xffe08000) == 0x9b008000 ? bits(word, 10, 5) : rn(word));
    } else if (((word & 0xffc00000) == 0xd3400000 && bits(word, 10, 6) != 63 &&
                bits(word, 10, 6) + 1 == bits(word, 16, 6)) || /* LSL (immediate) */
               (word & 0xffe00000) == 0x9b000000) {            /* MADD */
        ret->kind = INSTRUCTION_MULTIPLY;
        if ((word & 0xffc00000) == 0xd3400000) {
            ret->from = rn(word);
            ret->factor = bits(word, 10, 6) > 31 ? 1u << (63 - bits(word, 10, 6)) : 0;
        }
    } else if ((word & 0xffe0ffe0) == 0xaa0003e0) { /* MOV (register) */
        ret->kind = rm(word) == ZERO ? INSTRUCTION_ZERO : INSTRUCTION_MOVE;
    } else if ((word & 0xffffffe0) == 0xd2800000) { /* MOVZ of 0 */
        ret->kind = INSTRUCTION_ZERO;
    } else if ((word & 0xffe0fc1f) == 0xeb00001f) { /* CMP (register) */
        ret->kind = INSTRUCTION_COMPARE;
        ret->to = rn(word);
        ret->written_registers = 0;
    } else if ((word & 0x7f80001f) == 0x7100001f) { /* CMP (immediate) */
        set_bound(ret, rn(word), false,
                  (int64_t)bits(word, 10, 12) << (bits(word, 22, 1) ? 12 : 0));
        ret->written_registers = 0;
    } else if ((word & 0x7fbf8000) == 0x12000000 && bits(word, 31, 1) == bits(word, 22, 1)) {
        set_bound(ret, rd(word), true, (INT64_C(2) << bits(word, 10, 5)) - 1); /* AND (low bits) */
        ret->from = rn(word);
    } else if ((word & 0x1fe00000) == 0x1a400000) { /* CCMP, CCMN */
        ret->written_registers = 0;
    }
}

/* Decodes an operation on vectors or floating-point numbers of arm64. Few write a general register:
 * conversions to whole numbers, and copies of an element. */
static void read_vector(uint32_t word, struct instruction *ret)
{
    ret->sets_float = rd(word) == 0;
    const unsigned opcode = bits(word, 16, 3);
    const bool is_conversion = (word & 0x7f20fc00) == 0x1e200000 && /* FCVT*, FMOV */
                               opcode != 2 && opcode != 3 && opcode != 7,
               is_fixed = (word & 0x7f200000) == 0x1e000000 && opcode < 2, /* FCVTZ*, fixed-point */
        is_copy = (word & 0xbfe0fc00) == 0x0e003c00 ||                     /* UMOV, SMOV */
                  (word & 0xbfe0fc00) == 0x0e002c00;
    if (is_conversion || is_fixed || is_copy)
        ret->written_registers = 1u << rd(word);
}

/* Decodes an instruction of arm64: see struct machine in exe/go/instructions.h for what it gets and
 * returns. Bits 25 to 28 of the word select the instruction's group. */
static bool instruction_read_arm64(struct g2h_bytes code, uint64_t address, struct instruction *ret)
{
    *ret = (struct instruction){.kind = INSTRUCTION_OTHER, .size = SIZE};
    if (code.size < SIZE)
        return false;
    const uint32_t word = u32_little(code.data);
    const unsigned group = bits(word, 25, 4);
    if (word >> 16 == 0) /* UDF */
        ret->kind = INSTRUCTION_END;
    else if ((group & 14) == 10)
        read_branch(word, address, ret);
    else if ((group & 5) == 4)
        read_memory(word, ret);
    else if ((group & 7) == 7)
        read_vector(word, ret);
    else
        arm64_read_data(word, address, ret);
    return true;
}

/* ==== instructions of amd64, and of both ====
 *
 * Amd64's encoding: Intel's Software Developer's Manual, volume 2.
 */

enum { RAX = 0, RCX = 1, RDX = 2, RBX = 3, RSP = 4, RSI = 6, RDI = 7, ALL = 0xffff };

enum { INSTRUCTIONS_WORD = 8, VECTOR = 16, WIDEST = 64 }; /* bytes */

/* The operands of an opcode: whether a ModRM byte follows, and an immediate. */
enum operands {
    NONE = 0,
    MODRM = 1,
    IMM8 = 2,
    IMM32 = 4, /* or 16 bits: is_of_16_bits() */
    IMM64 = 8, /* 64 bits with REX.W, else IMM32 */
    TEST = 16, /* an immediate if ModRM.reg is 0 or 1: IMM8 or IMM32 */
    BAD = 32,  /* not known here */
    REL8 = 64, /* a distance */
    REL32 = 128,
};

struct decoding {
    struct g2h_bytes code;
    uint64_t at;
    bool has_rex, is_wide, has_66; /* the prefixes REX, with REX.W, and 66 */
    uint8_t rex;
    uint8_t mod, reg, rm; /* of ModRM, with the bits of REX */
    bool is_relative;     /* the memory operand is relative to the next instruction */
};

/* Returns whether an instruction with the usual operands has such of 16 bits. REX.W, 64 bits,
 * prevails over the prefix 66. */
static bool is_of_16_bits(const struct decoding *decoding)
{
    return decoding->has_66 && !decoding->is_wide;
}

/* Takes the next byte of the code. Returns false if there is none. */
static bool take_byte(struct decoding *decoding, uint8_t *ret)
{
    if (decoding->at >= decoding->code.size)
        return false;
    *ret = decoding->code.data[decoding->at++];
    return true;
}

/* Takes a little-endian number of size bytes, and extends its sign. Returns false if the code ends
 * before. */
static bool take_signed(struct decoding *decoding, unsigned size, int64_t *ret)
{
    const uint8_t *at = decoding->code.data + decoding->at;
    uint64_t value = 0;
    if (decoding->code.size - decoding->at < size)
        return false;
    decoding->at += size;
    if (size == 4) /* most are */
        value = u32_little(at);
    else
        for (unsigned i = 0; i < size; i++)
            value |= (uint64_t)at[i] << 8 * i;
    const unsigned shift = 64 - 8 * size;
    *ret = (int64_t)(value << shift) >> shift;
    return true;
}

/* ---- tables ---- */

/* Returns the operands of a one-byte opcode: they determine the instruction's length. */
static enum operands operands_of(uint8_t opcode)
{
    if (opcode < 0x40) { /* add, or, adc, sbb, and, sub, xor, cmp */
        static const enum operands forms[] = {MODRM, MODRM, MODRM, MODRM, IMM8, IMM32, BAD, BAD};
        return forms[opcode & 7];
    }
    if (opcode >= 0x50 && opcode < 0x60) /* push, pop */
        return NONE;
    if (opcode >= 0x70 && opcode < 0x80) /* conditional jumps */
        return REL8;
    if (opcode >= 0x84 && opcode <= 0x8b) /* test, xchg, mov */
        return MODRM;
    if (opcode >= 0xb0 && opcode < 0xb8) /* mov of a byte */
        return IMM8;
    if (opcode >= 0xb8 && opcode < 0xc0) /* mov */
        return IMM64;
    if (opcode >= 0xd0 && opcode < 0xe0) /* shifts, floating point */
        return opcode >= 0xd4 && opcode < 0xd8 ? BAD : MODRM;
    if ((opcode >= 0x90 && opcode < 0x9a) || (opcode >= 0xa4 && opcode < 0xa8) ||
        (opcode >= 0xaa && opcode < 0xb0))
        return NONE;
    switch (opcode) {
    case 0x63: /* movsxd */
    case 0x8d: /* lea */
    case 0x8f: /* pop */
    case 0xfe:
    case 0xff: /* inc, dec, call, jmp, push */
        return MODRM;
    case 0x69: /* imul */
    case 0x81: /* arithmetic, cmp */
    case 0xc7: /* mov */
        return MODRM | IMM32;
    case 0x6b: /* imul */
    case 0x80:
    case 0x83: /* arithmetic, cmp */
    case 0xc0:
    case 0xc1: /* shifts */
    case 0xc6: /* mov */
        return MODRM | IMM8;
    case 0x68: /* push */
    case 0xa9: /* test */
        return IMM32;
    case 0x6a: /* push */
    case 0xa8: /* test */
    case 0xcd: /* int */
        return IMM8;
    case 0xf6:
    case 0xf7: /* test, not, neg, mul, div */
        return MODRM | TEST;
    case 0xe8: /* call */
    case 0xe9: /* jmp */
        return REL32;
    case 0xeb: /* jmp */
        return REL8;
    case 0xc3: /* ret */
    case 0xcc: /* int3 */
    case 0xf4: /* hlt */
        return NONE;
    default:
        return BAD;
    }
}

/* Returns the operands of an opcode that follows the byte 0F; BAD if it is not known. */
static enum operands operands_of_0f(uint8_t opcode)
{
    if (opcode >= 0x80 && opcode < 0x90) /* conditional jumps */
        return REL32;
    if (opcode >= 0xc8 && opcode < 0xd0)
        return NONE; /* bswap */
    switch (opcode) {
    case 0x05: /* syscall */
    case 0x0b: /* ud2 */
    case 0x31: /* rdtsc */
    case 0x77: /* emms */
    case 0xa2: /* cpuid */
        return NONE;
    case 0x70: /* pshuf */
    case 0x71:
    case 0x72:
    case 0x73: /* shifts of vectors */
    case 0xa4: /* shld */
    case 0xac: /* shrd */
    case 0xba: /* bt */
    case 0xc2: /* cmpps */
    case 0xc4: /* pinsrw */
    case 0xc5: /* pextrw */
    case 0xc6: /* shufps */
        return MODRM | IMM8;
    default:
        return opcode == 0x0d || (opcode >= 0x10 && opcode < 0x20) ||
                       (opcode >= 0x28 && opcode < 0x30) || opcode >= 0x40
                   ? MODRM
                   : BAD;
    }
}

/* The operands of ModRM that an opcode writes. */
enum written_operands { WRITES_NOTHING = 0, WRITES_REG = 1, WRITES_RM = 2 };

/* Returns which operands of ModRM a one-byte opcode of amd64 writes: the register, the register or
 * memory (rm), both or neither. What is not listed counts as a write of rm. */
static enum written_operands operands_written(const struct decoding *decoding, uint8_t opcode)
{
    const unsigned extension = decoding->reg & 7;
    if (opcode >= 0x38 && opcode < 0x40) /* cmp */
        return WRITES_NOTHING;
    if (opcode < 0x38) /* arithmetic */
        return (opcode & 2) != 0 ? WRITES_REG : WRITES_RM;
    switch (opcode) {
    case 0x63: /* movsxd */
    case 0x69:
    case 0x6b: /* imul */
    case 0x8a:
    case 0x8b: /* mov */
    case 0x8d: /* lea */
        return WRITES_REG;
    case 0x80:
    case 0x81:
    case 0x83:
        return extension == 7 ? WRITES_NOTHING : WRITES_RM; /* cmp */
    case 0x86:
    case 0x87: /* xchg */
        return WRITES_REG | WRITES_RM;
    case 0xf6:
    case 0xf7:
        return extension == 2 || extension == 3 ? WRITES_RM : WRITES_NOTHING; /* not, neg */
    case 0xfe:
    case 0xff:
        return extension < 2 ? WRITES_RM : WRITES_NOTHING; /* inc, dec */
    default: /* test and floating-point operations write neither */
        return opcode == 0x84 || opcode == 0x85 || opcode >= 0xd8 ? WRITES_NOTHING : WRITES_RM;
    }
}

/* Returns how many bytes of memory a one-byte opcode writes. A byte beside a pointer, such as the
 * bits of deferred calls, leaves the pointer as it is. */
static uint8_t bytes_written(const struct decoding *decoding, uint8_t opcode)
{
    enum { POP = 0x8f };
    if (decoding->is_wide || opcode == POP)
        return INSTRUCTIONS_WORD;
    if ((opcode & 1) == 0) /* those with an even number that write to rm are for bytes */
        return 1;
    return is_of_16_bits(decoding) ? 2 : 4;
}

/* Returns what operands_written() does, for opcodes after the byte 0F. Most operate on vectors:
 * what is not listed writes neither operand. */
static enum written_operands operands_written_0f(const struct decoding *decoding, uint8_t opcode)
{
    if (opcode >= 0x40 && opcode < 0x50) /* cmov */
        return WRITES_REG;
    if (opcode >= 0x90 && opcode < 0xa0) /* setcc */
        return WRITES_RM;
    switch (opcode) {
    case 0x2c:
    case 0x2d: /* conversions to integers */
    case 0x50: /* movmskps */
    case 0xaf: /* imul */
    case 0xb6:
    case 0xb7: /* movzx */
    case 0xb8: /* popcnt */
    case 0xbc:
    case 0xbd: /* bsf, bsr */
    case 0xbe:
    case 0xbf: /* movsx */
    case 0xc5: /* pextrw */
    case 0xd7: /* pmovmskb */
        return WRITES_REG;
    case 0xba:
        return (decoding->reg & 7) == 4 ? WRITES_NOTHING : WRITES_RM; /* bt */
    case 0x7e:                                                        /* movd */
    case 0xa4:
    case 0xa5: /* shld */
    case 0xab: /* bts */
    case 0xac:
    case 0xad: /* shrd */
    case 0xae: /* saves of state, fences */
    case 0xb0:
    case 0xb1: /* cmpxchg */
    case 0xb3: /* btr */
    case 0xbb: /* btc */
    case 0xc7: /* cmpxchg16b */
        return WRITES_RM;
    case 0xc0:
    case 0xc1: /* xadd */
        return WRITES_REG | WRITES_RM;
    default:
        return WRITES_NOTHING;
    }
}

/* Returns whether an opcode after the byte 0F is known to only read its memory operand. */
static bool only_reads_0f(const struct decoding *decoding, uint8_t opcode)
{
    /* loads of vectors and conversions, comisd, nop, pxor */
    static const uint8_t vectors[] = {0x10, 0x12, 0x16, 0x1f, 0x28, 0x2a,
                                      0x2e, 0x2f, 0x6e, 0x6f, 0xef};
    return operands_written_0f(decoding, opcode) == WRITES_REG ||
           (opcode >= 0x51 && opcode < 0x60) || memchr(vectors, opcode, sizeof(vectors));
}

/* Returns the bit of a register. Without REX, a byte of a number from 4 on is the second one of the
 * register four before. */
static uint32_t instructions_bit_of(const struct decoding *decoding, uint8_t number, bool is_byte)
{
    return 1u << (is_byte && !decoding->has_rex && number >= 4 ? number - 4 : number);
}

/* Returns the bits of the registers that an instruction writes through ModRM. With mod 3, rm is a
 * register, otherwise memory. */
static uint32_t registers_written(const struct decoding *decoding, enum written_operands operands,
                                  bool is_byte)
{
    uint32_t written = 0;
    if ((operands & WRITES_REG) != 0)
        written |= instructions_bit_of(decoding, decoding->reg, is_byte);
    if ((operands & WRITES_RM) != 0 && decoding->mod == 3)
        written |= instructions_bit_of(decoding, decoding->rm, is_byte);
    return written;
}

/* Returns the registers that an opcode of amd64 writes beside those that ModRM names. The last ones
 * are cwde, fnstsw, arithmetic of rax and a number, and cdq. */
static uint32_t writes_besides(const struct decoding *decoding, uint8_t opcode)
{
    const uint8_t number = (uint8_t)((opcode & 7) | (decoding->rex & 1) << 3);
    if (opcode >= 0x50 && opcode < 0x60) /* push, pop */
        return opcode < 0x58 ? 0 : 1u << number;
    if (opcode >= 0xb0 && opcode < 0xc0) /* mov of a number */
        return instructions_bit_of(decoding, number, opcode < 0xb8);
    if (opcode == 0x90 && number == 0)
        return 0;                        /* no operation */
    if (opcode >= 0x90 && opcode < 0x98) /* xchg */
        return 1u << RAX | 1u << number;
    if (opcode >= 0xa4 && opcode < 0xb0 && opcode != 0xa8 &&
        opcode != 0xa9) /* movs, cmps, stos, lods, scas */
        return 1u << RAX | 1u << RCX | 1u << RSI | 1u << RDI;
    if (opcode == 0xf6 || opcode == 0xf7) /* multiplications and divisions */
        return (decoding->reg & 7) >= 4 ? 1u << RAX | 1u << RDX : 0;
    if (opcode == 0x98 || opcode == 0xdf || (opcode < 0x38 && (opcode & 7) >= 4))
        return 1u << RAX;
    return opcode == 0x99 ? 1u << RDX : 0;
}

/* ---- operands ---- */

/* Reads the operands that ModRM describes: a register, and another one (mod 3) or memory: base +
 * index * scale + displacement. ret->has_memory is for memory with a base register only, not for
 * such as is relative to RIP (decoding->is_relative). Returns false if the code ends before. */
static bool read_modrm(struct decoding *decoding, struct instruction *ret)
{
    uint8_t modrm, sib;
    if (!take_byte(decoding, &modrm))
        return false;
    decoding->mod = modrm >> 6;
    decoding->reg = (uint8_t)((modrm >> 3 & 7) | (decoding->rex & 4) << 1);
    decoding->rm = (uint8_t)((modrm & 7) | (decoding->rex & 1) << 3);
    if (decoding->mod == 3)
        return true;
    ret->has_memory = true;
    ret->base = decoding->rm;
    bool has_base = true;
    /* 4: a SIB byte follows, with base and index. 5 without displacement: relative to RIP. */
    if ((modrm & 7) == 4) {
        if (!take_byte(decoding, &sib))
            return false;
        ret->scale = (uint8_t)(1 << (sib >> 6));
        ret->index = (uint8_t)((sib >> 3 & 7) | (decoding->rex & 2) << 2);
        ret->has_index = ret->index != RSP;
        ret->base = (uint8_t)((sib & 7) | (decoding->rex & 1) << 3);
        has_base = (sib & 7) != 5 || decoding->mod != 0;
    } else if ((modrm & 7) == 5 && decoding->mod == 0) {
        decoding->is_relative = true;
        has_base = false;
    }
    ret->has_memory = has_base;
    if (decoding->mod == 1)
        return take_signed(decoding, 1, &ret->displacement);
    if (decoding->mod == 2 || !has_base)
        return take_signed(decoding, 4, &ret->displacement);
    return true;
}

/* Reads the operands of an opcode of amd64, ModRM and immediates; *ret_number is the last
 * immediate, which has 2 bytes instead of 4 if the operands have 16 bits. Returns false if the
 * opcode is one that is not known (BAD) or the instruction is cut. */
static bool read_operands(struct decoding *decoding, enum operands operands, bool is_byte,
                          struct instruction *ret, int64_t *ret_number)
{
    const unsigned usual = is_of_16_bits(decoding) ? 2 : 4; /* bytes of an immediate */
    if ((operands & BAD) != 0 || ((operands & MODRM) != 0 && !read_modrm(decoding, ret)))
        return false;
    if ((operands & TEST) != 0 && (decoding->reg & 7) < 2)
        return take_signed(decoding, is_byte ? 1 : usual, ret_number);
    if ((operands & (IMM8 | REL8)) != 0)
        return take_signed(decoding, 1, ret_number);
    if ((operands & IMM64) != 0)
        return take_signed(decoding, decoding->is_wide ? 8 : usual, ret_number);
    if ((operands & IMM32) != 0)
        return take_signed(decoding, usual, ret_number);
    return (operands & REL32) == 0 || take_signed(decoding, 4, ret_number);
}

/* ---- instructions ---- */

/* Returns the operands of a vector instruction: map 1 has the opcodes that follow the byte 0F, 2
 * those that follow 0F 38, and 3 those that follow 0F 3A. */
static enum operands operands_of_map(uint8_t map, uint8_t opcode)
{
    if (map == 1)
        return operands_of_0f(opcode);
    return map == 3 ? MODRM | IMM8 : MODRM;
}

/* Reads a vector instruction with a VEX prefix. Such instructions are not followed: it may write
 * any register. The prefix has the bits of REX, inverted. Returns false if the instruction is not
 * known or is cut. */
static bool read_vex(struct decoding *decoding, bool is_long, struct instruction *ret)
{
    uint8_t byte, map = 1, opcode;
    int64_t number;
    if (!take_byte(decoding, &byte))
        return false;
    decoding->rex = (byte & 0x80) != 0 ? 0 : 4; /* VEX.R, which the short prefix has alone */
    if (is_long) {
        map = byte & 0x1f;
        decoding->rex = (uint8_t)(~byte >> 5 & 7);
        if (!take_byte(decoding, &byte))
            return false;
    }
    if (!take_byte(decoding, &opcode) || map < 1 || map > 3)
        return false;
    ret->written_registers = ALL;
    ret->sets_float = true;
    /* ret->written_bytes stays WIDEST: read_amd64() */
    return read_operands(decoding, operands_of_map(map, opcode), false, ret, &number);
}

/* Makes an instruction one without effect, whatever its operands are. Returns true, for the caller
 * to return. */
static bool make_nothing(struct instruction *ret)
{
    ret->kind = INSTRUCTION_NOTHING;
    ret->has_memory = false;
    ret->written_bytes = 0;
    return true;
}

/* Returns whether an opcode after the byte 0F may write the vector register that ModRM names:
 * loads, moves, conversions and arithmetic. */
static bool sets_vector(uint8_t opcode)
{
    static const uint8_t others[] = {0x10, 0x12, 0x14, 0x15, 0x16, 0x28,
                                     0x2a, 0x6e, 0x6f, 0x7e, 0xef};
    return (opcode >= 0x51 && opcode < 0x60) || memchr(others, opcode, sizeof(others));
}

/* Reads an instruction of amd64 whose opcode follows the byte 0F: sets what it writes, registers
 * and bytes of memory, and its kind if it is a conditional branch, a multiplication, or the end of
 * the code (ud2). Those of three bytes (0F 38, 0F 3A) are taken to write all registers. *ret_number
 * becomes the immediate, if there is one. Returns false if the instruction is not known or is
 * cut. */
static bool read_0f(struct decoding *decoding, struct instruction *ret, int64_t *ret_number)
{
    uint8_t opcode, more;
    if (!take_byte(decoding, &opcode))
        return false;
    if (opcode == 0x38 || opcode == 0x3a) {
        ret->written_registers = ALL;
        return take_byte(decoding, &more) &&
               read_operands(decoding, opcode == 0x3a ? MODRM | IMM8 : MODRM, false, ret,
                             ret_number);
    }
    if (!read_operands(decoding, operands_of_0f(opcode), false, ret, ret_number))
        return false;
    if (opcode >= 0x80 && opcode < 0x90) {
        ret->kind = INSTRUCTION_BRANCH;
        ret->is_if_equal = opcode == 0x84;
        ret->is_if_not_equal = opcode == 0x85;
        return true;
    }
    if (opcode == 0x0b) /* ud2 */
        ret->kind = INSTRUCTION_END;
    if (opcode == 0x1f || opcode == 0x0d || opcode == 0x18) /* nop, prefetches */
        return make_nothing(ret);
    const bool is_byte = (opcode >= 0x90 && opcode < 0xa0) || opcode == 0xb0 || opcode == 0xc0;
    ret->written_bytes = is_byte ? 1 : VECTOR;
    if (only_reads_0f(decoding, opcode))
        ret->written_bytes = 0;
    if (opcode >= 0xc8 && opcode < 0xd0) /* bswap */
        ret->written_registers = 1u << ((opcode & 7) | (decoding->rex & 1) << 3);
    else if ((operands_of_0f(opcode) & MODRM) ==
             0) /* syscall, rdtsc, cpuid: no operand says which */
        ret->written_registers = ALL;
    else
        ret->written_registers =
            registers_written(decoding, operands_written_0f(decoding, opcode), is_byte);
    if (opcode == 0xb0 || opcode == 0xb1 || opcode == 0xc7) /* cmpxchg, cmpxchg16b */
        ret->written_registers |= 1u << RAX | (opcode == 0xc7 ? 1u << RDX : 0);
    ret->to = decoding->reg;
    ret->sets_float = decoding->reg == 0 && sets_vector(opcode);
    if (opcode == 0xaf) /* imul */
        ret->kind = INSTRUCTION_MULTIPLY;
    return true;
}

/* Classifies a one-byte opcode that the analysis models: moves, loads, stores, comparisons, and the
 * additions and multiplications by which Go computes addresses. number: its immediate. */
static void classify_opcode(const struct decoding *decoding, uint8_t opcode, int64_t number,
                            struct instruction *ret)
{
    const bool is_memory = decoding->mod != 3;
    ret->to = decoding->reg;
    ret->from = decoding->rm;
    if (opcode == 0x89) { /* mov to rm */
        ret->kind = is_memory ? INSTRUCTION_STORE : INSTRUCTION_MOVE;
        ret->to = decoding->rm;
        ret->from = decoding->reg;
    } else if (opcode == 0x8b) { /* mov to a register */
        ret->kind = is_memory ? INSTRUCTION_LOAD : INSTRUCTION_MOVE;
    } else if (opcode == 0x8d) { /* lea */
        ret->kind = decoding->is_relative ? INSTRUCTION_ADDRESS : INSTRUCTION_LEA;
    } else if ((opcode == 0x39 || opcode == 0x3b) && !is_memory) { /* cmp */
        ret->kind = INSTRUCTION_COMPARE;
    } else if ((opcode == 0x01 || opcode == 0x03) && !is_memory) { /* add */
        ret->kind = INSTRUCTION_LEA;
        ret->has_memory = ret->has_index = true;
        ret->to = ret->base = opcode == 0x01 ? decoding->rm : decoding->reg;
        ret->index = opcode == 0x01 ? decoding->reg : decoding->rm;
        ret->scale = 1;
    } else if ((opcode == 0x29 || opcode == 0x2b) && !is_memory) { /* sub */
        ret->kind = INSTRUCTION_SUBTRACT;
        ret->to = ret->from = opcode == 0x29 ? decoding->rm : decoding->reg;
    } else if (opcode == 0x69 || opcode == 0x6b) { /* imul */
        ret->kind = INSTRUCTION_MULTIPLY;
        ret->factor = !is_memory && number > 0 ? (uint32_t)number : 0;
    } else if ((opcode == 0xc1 || opcode == 0xd1) && (decoding->reg & 7) == 4 && !is_memory) {
        ret->kind = INSTRUCTION_MULTIPLY; /* a left shift */
        ret->to = decoding->rm;
        ret->factor = opcode == 0xc1 ? 1u << (number & 31) : 2;
    } else if ((opcode == 0x81 || opcode == 0x83) && (decoding->reg & 7) == 0 && !is_memory &&
               decoding->rm != RSP) {
        ret->kind = INSTRUCTION_LEA; /* addition of a constant */
        ret->has_memory = true;
        ret->to = ret->base = decoding->rm;
        ret->displacement = number;
    }
    /* Without a base register, there is no value from which to follow it. */
    if ((ret->kind == INSTRUCTION_LOAD || ret->kind == INSTRUCTION_STORE) && !ret->has_memory &&
        !decoding->is_relative)
        ret->kind = INSTRUCTION_OTHER;
}

/* Classifies a call (E8, FF /2, /3), jump (E9, EB, FF /4, /5), conditional branch (70 to 7F, of
 * which 74 and 75 are JE and JNE), or end of a path: return, breakpoint, halt. 90 without REX does
 * nothing. */
static void classify_transfer(const struct decoding *decoding, uint8_t opcode,
                              struct instruction *ret)
{
    const unsigned reg = decoding->reg & 7;
    if (opcode == 0xe8 || (opcode == 0xff && (reg == 2 || reg == 3)))
        ret->kind = INSTRUCTION_CALL;
    else if (opcode == 0xe9 || opcode == 0xeb || (opcode == 0xff && (reg == 4 || reg == 5)))
        ret->kind = INSTRUCTION_JUMP;
    else if (opcode >= 0x70 && opcode < 0x80)
        ret->kind = INSTRUCTION_BRANCH;
    else if (opcode == 0xc3 || opcode == 0xcc || opcode == 0xf4)
        ret->kind = INSTRUCTION_END;
    else if (opcode == 0x90 && (decoding->rex & 1) == 0)
        ret->kind = INSTRUCTION_NOTHING;
    ret->is_if_equal = opcode == 0x74;
    ret->is_if_not_equal = opcode == 0x75;
}

/* Classifies a comparison of a register with a number (81 /7, 83 /7, 3D), and an AND of both (/4,
 * 25): of 32 or 64 bits. */
static void classify_bound(const struct decoding *decoding, uint8_t opcode, int64_t number,
                           struct instruction *ret)
{
    enum { AND = 4, COMPARE = 7 };
    const unsigned extension = decoding->reg & 7;
    if (decoding->has_66)
        return;
    if (opcode == 0x25 || opcode == 0x3d)
        set_bound(ret, RAX, opcode == 0x25, number);
    else if ((opcode == 0x81 || opcode == 0x83) && decoding->mod == 3 &&
             (extension == AND || extension == COMPARE))
        set_bound(ret, decoding->rm, extension == AND, number);
}

/* Reads an instruction with a one-byte opcode: its kind, registers and bytes that it writes; a
 * register that is combined with itself by XOR becomes zero. *ret_number is its immediate or
 * distance. Returns false if it is not known or is cut. */
static bool read_one_byte_opcode(struct decoding *decoding, uint8_t opcode, struct instruction *ret,
                                 int64_t *ret_number)
{
    const enum operands operands = operands_of(opcode);
    if (!read_operands(decoding, operands, opcode == 0xf6, ret, ret_number))
        return false;
    classify_transfer(decoding, opcode, ret);
    /* Only whole words are followed: half of a pointer is none. */
    if ((operands & MODRM) != 0 && decoding->is_wide)
        classify_opcode(decoding, opcode, *ret_number, ret);
    if ((operands & (IMM8 | IMM32)) != 0)
        classify_bound(decoding, opcode, *ret_number, ret);
    ret->written_registers = writes_besides(decoding, opcode);
    if ((operands & MODRM) != 0) {
        const enum written_operands by = operands_written(decoding, opcode);
        ret->written_registers |= registers_written(decoding, by, (opcode & 1) == 0);
        /* operands_written() does not know the memory that x87's instructions write. */
        const bool is_float = opcode >= 0xd8 && opcode < 0xe0;
        ret->written_bytes = is_float ? WIDEST : 0;
        if ((by & WRITES_RM) != 0)
            ret->written_bytes = bytes_written(decoding, opcode);
    }
    /* XOR of a register with itself. One of 32 bits makes the upper half zero, too; one of 16 bits
     * leaves the others as they are. */
    if ((opcode == 0x31 || opcode == 0x33) && decoding->mod == 3 && decoding->reg == decoding->rm &&
        !is_of_16_bits(decoding)) {
        ret->kind = INSTRUCTION_ZERO;
        ret->to = decoding->reg;
    }
    return true;
}

/* Returns whether a byte is a prefix other than REX: operand size, repetition, lock, or segment. */
static bool instructions_is_prefix(uint8_t byte)
{
    switch (byte) {
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
    case 0x66:
    case 0xf0:
    case 0xf2:
    case 0xf3:
        return true;
    default:
        return false;
    }
}

/* Reads the prefixes and the first byte of the opcode, *ret. Of the prefixes only 66 (operands of
 * 16 bits) and REX matter. Returns false if the code ends before. */
static bool read_prefixes(struct decoding *decoding, uint8_t *ret)
{
    while (take_byte(decoding, ret)) {
        if (!instructions_is_prefix(*ret))
            break;
        decoding->has_66 = decoding->has_66 || *ret == 0x66;
    }
    /* 40 to 4F is a REX prefix, directly before the opcode. */
    if (decoding->at == 0 || *ret < 0x40 || *ret >= 0x50)
        return decoding->at > 0;
    decoding->has_rex = true;
    decoding->rex = *ret & 15;
    decoding->is_wide = (*ret & 8) != 0;
    return take_byte(decoding, ret);
}

/* Decodes one instruction. Returns false if it is not known: where the next one begins is not known
 * either then. Until it is classified, it may write any memory. */
static bool read_amd64(struct g2h_bytes code, uint64_t address, struct instruction *ret)
{
    struct decoding decoding = {.code = code};
    uint8_t opcode = 0;
    int64_t number = 0;
    *ret = (struct instruction){.kind = INSTRUCTION_OTHER, .written_bytes = WIDEST};
    if (!read_prefixes(&decoding, &opcode))
        return false;
    const bool is_vex = (opcode == 0xc4 || opcode == 0xc5) && decoding.rex == 0;
    bool good;
    if (is_vex)
        good = read_vex(&decoding, opcode == 0xc4, ret);
    else if (opcode == 0x0f)
        good = read_0f(&decoding, ret, &number);
    else
        good = read_one_byte_opcode(&decoding, opcode, ret, &number);
    ret->is_static = decoding.is_relative;
    const bool is_indirect = opcode == 0xff;
    ret->size = (uint32_t)decoding.at;
    ret->has_target =
        !is_indirect && (ret->kind == INSTRUCTION_CALL || ret->kind == INSTRUCTION_JUMP ||
                         ret->kind == INSTRUCTION_BRANCH);
    ret->target =
        address + decoding.at + (uint64_t)(decoding.is_relative ? ret->displacement : number);
    return good;
}

/* ---- machines ---- */

/* Returns the machine of an executable, or NULL if its code is not read. The registers are those of
 * Go's own calling convention (ABIInternal, cmd/compile/abi-internal.md), in the order of
 * arguments; barrier is the one in which runtime.gcWriteBarrier returns its buffer. */
const struct machine *machine_of(unsigned number)
{
    static const struct machine amd64 = {.read = read_amd64,
                                         .arguments = {RAX, RBX, RCX, RDI, RSI, 8, 9, 10, 11},
                                         .argument_count = 9,
                                         .sp = RSP,
                                         .closure = RDX,
                                         .barrier = 11};
    static const struct machine arm64 = {
        .read = instruction_read_arm64,
        .arguments = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
        .argument_count = 16,
        .sp = ARM64_SP,
        .closure = 26,
        .barrier = 25};
    if (number == EM_X86_64)
        return &amd64;
    return number == EM_AARCH64 ? &arm64 : NULL;
}
