/* instructions_arm64; see instructions_arm64.h. The encoding: Arm Architecture Reference Manual for
 * A-profile, C4. Each instruction has 32 bits. */
#include "exe/go/instructions_arm64.h"

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
    return number < (int64_t)1 << (count - 1) ? number : number - ((int64_t)1 << count);
}

static unsigned rd(uint32_t word)
{
    return bits(word, 0, 5);
}

static unsigned rn(uint32_t word)
{
    return bits(word, 5, 5);
}

static unsigned rm(uint32_t word)
{
    return bits(word, 16, 5);
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

/* Reads a branch, an exception or a system instruction. */
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
        ret->writes = 1u << rd(word);
    }
}

/* ---- memory ---- */

/* Decodes the memory operand of a load or store. Returns whether the instruction changes the base
 * register, too (pre- or post-index). */
static bool arm64_read_address(uint32_t word, unsigned log_size, struct instruction *ret)
{
    ret->has_memory = true;
    ret->base = (uint8_t)rn(word);
    if (bits(word, 27, 3) == 5) { /* a pair */
        ret->displacement = signed_bits(word, 15, 7) * ((int64_t)1 << log_size);
        return bits(word, 23, 1) != 0 && bits(word, 23, 2) != 2;
    }
    if (bits(word, 24, 2) == 1) { /* an offset without a sign */
        ret->displacement = (int64_t)bits(word, 10, 12) << log_size;
        return false;
    }
    if (bits(word, 21, 1) != 0) { /* an index register, or an atomic operation without offset */
        ret->has_index = bits(word, 10, 2) == 2;
        ret->index = (uint8_t)rm(word);
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

/* Decodes a load or store of general registers or vectors. Only plain accesses of whole words are
 * followed; of all others it is noted what they may write. */
static void read_memory(uint32_t word, struct instruction *ret)
{
    const bool is_pair = bits(word, 27, 3) == 5, is_vector = bits(word, 26, 1) != 0,
               is_plain = bits(word, 27, 3) == 7;
    const uint32_t all = 1u << rd(word) | 1u << rn(word) | 1u << bits(word, 10, 5) | 1u << rm(word);
    if ((!is_pair && !is_plain) || (is_plain && bits(word, 24, 2) > 1)) {
        ret->writes = all; /* literals, exclusive and ordered accesses */
        if (bits(word, 24, 6) == 8) {
            ret->has_memory = ret->has_index = true;
            ret->base = (uint8_t)rn(word);
            ret->written = 2 * WORD;
        }
        return;
    }
    const unsigned size = bits(word, 30, 2), log_size = log_size_of(word, is_pair, is_vector);
    const bool changes_base = arm64_read_address(word, log_size, ret),
               is_load = bits(word, 22, 1) != 0 || (is_plain && bits(word, 23, 1) != 0),
               is_atomic = is_plain && bits(word, 24, 2) == 0 && bits(word, 21, 1) != 0 &&
                           bits(word, 10, 2) != 2,
               is_word = !is_vector && !is_atomic &&
                         (is_pair ? size == 2 : size == 3 && bits(word, 23, 1) == 0);
    if (is_atomic) {
        ret->writes = all;
        return;
    }
    const bool writes_memory = !is_load || (is_vector && bits(word, 22, 1) == 0);
    if (writes_memory)
        ret->written = (uint8_t)((is_pair ? 2u : 1u) << log_size);
    else
        ret->written = 0;
    if (is_load && !is_vector)
        ret->writes |= 1u << rd(word) | (is_pair ? 1u << bits(word, 10, 5) : 0);
    if (changes_base)
        ret->writes |= 1u << rn(word);
    if (!is_word || changes_base)
        return;
    ret->kind = is_load ? INSTRUCTION_LOAD : INSTRUCTION_STORE;
    ret->to = ret->from = (uint8_t)rd(word);
    ret->is_pair = is_pair;
    ret->second = (uint8_t)bits(word, 10, 5);
}

/* ---- registers ---- */

/* Decodes an operation on general registers: the ways in which Go computes addresses, moves and
 * compares. All others write their destination register, the lowest five bits. */
static void arm64_read_data(uint32_t word, uint64_t address, struct instruction *ret)
{
    ret->to = (uint8_t)rd(word);
    ret->from = (uint8_t)rm(word);
    ret->writes = 1u << rd(word);
    if ((word & 0x1f000000) == 0x10000000) { /* ADR, ADRP */
        const int64_t number = signed_bits(word, 5, 19) * 4 + (int64_t)bits(word, 29, 2);
        const bool is_page = bits(word, 31, 1) != 0;
        ret->kind = INSTRUCTION_ADDRESS;
        ret->is_static = true;
        ret->target = is_page ? (address & ~(uint64_t)0xfff) + (uint64_t)(number * 4096)
                              : address + (uint64_t)number;
    } else if ((word & 0xff800000) == 0x91000000) { /* ADD (immediate) */
        ret->kind = INSTRUCTION_LEA;
        ret->has_memory = true;
        ret->base = (uint8_t)rn(word);
        ret->displacement = (int64_t)bits(word, 10, 12) << (bits(word, 22, 1) ? 12 : 0);
    } else if ((word & 0xffe00000) == 0x8b000000) { /* ADD (shifted register), LSL */
        ret->kind = INSTRUCTION_LEA;
        ret->has_memory = ret->has_index = true;
        ret->base = (uint8_t)rn(word);
        ret->index = (uint8_t)rm(word);
        ret->scale = (uint8_t)(bits(word, 10, 6) < 8 ? 1u << bits(word, 10, 6) : 0);
    } else if (((word & 0xffc00000) == 0xd3400000 && bits(word, 10, 6) != 63 &&
                bits(word, 10, 6) + 1 == bits(word, 16, 6)) || /* LSL (immediate) */
               (word & 0xffe00000) == 0x9b000000) {            /* MADD, MSUB */
        ret->kind = INSTRUCTION_MULTIPLY;
        if ((word & 0xffc00000) == 0xd3400000) {
            ret->from = (uint8_t)rn(word);
            ret->factor = bits(word, 10, 6) > 31 ? 1u << (63 - bits(word, 10, 6)) : 0;
        }
    } else if ((word & 0xffe0ffe0) == 0xaa0003e0) { /* MOV (register) */
        ret->kind = rm(word) == ZERO ? INSTRUCTION_ZERO : INSTRUCTION_MOVE;
    } else if ((word & 0xffffffe0) == 0xd2800000) { /* MOVZ of 0 */
        ret->kind = INSTRUCTION_ZERO;
    } else if ((word & 0xffe0fc1f) == 0xeb00001f) { /* CMP (register) */
        ret->kind = INSTRUCTION_COMPARE;
        ret->to = (uint8_t)rn(word);
        ret->writes = 0;
    } else if ((word & 0x1fe00000) == 0x1a400000) { /* CCMP, CCMN */
        ret->writes = 0;
    }
}

/* Decodes an operation on vectors or floating-point numbers, few of which write a general
 * register. */
static void read_vector(uint32_t word, struct instruction *ret)
{
    const unsigned opcode = bits(word, 16, 3);
    const bool is_conversion = (word & 0x7f20fc00) == 0x1e200000 && /* FCVT*, FMOV */
                               opcode != 2 && opcode != 3 && opcode != 7,
               is_fixed = (word & 0x7f200000) == 0x1e000000 && opcode < 2, /* FCVTZ*, fixed-point */
        is_copy = (word & 0xbfe0fc00) == 0x0e003c00 ||                     /* UMOV, SMOV */
                  (word & 0xbfe0fc00) == 0x0e002c00;
    if (is_conversion || is_fixed || is_copy)
        ret->writes = 1u << rd(word);
}

/* Bits 25 to 28 select the group of an instruction. */
bool instruction_read_arm64(struct g2h_bytes code, uint64_t address, struct instruction *ret)
{
    *ret = (struct instruction){.kind = INSTRUCTION_OTHER, .size = SIZE};
    if (code.size < SIZE)
        return false;
    const uint32_t word = (uint32_t)code.data[0] | (uint32_t)code.data[1] << 8 |
                          (uint32_t)code.data[2] << 16 | (uint32_t)code.data[3] << 24;
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
