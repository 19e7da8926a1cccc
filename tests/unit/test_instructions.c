/* Covers exe/instructions, of amd64 and arm64: the instructions that are followed, the sizes of all
 * forms of operands, which registers may be written, and bytes that are no instruction or are cut
 * off. */
#include "unit.h"

#include <elf.h>

#include "exe/go/instructions.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10 };

/* Reads an instruction out of memory that ends with it, and checks that no part of it is enough. */
static struct instruction read_of(unsigned machine, const char *hex)
{
    uint8_t bytes[16];
    struct instruction instruction;
    const size_t size = strlen(hex) / 2;
    for (size_t i = 0; i < size; i++) {
        unsigned byte;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        bytes[i] = (uint8_t)byte;
    }
    for (size_t part = 0; part <= size; part++) {
        uint8_t *copy = malloc(part + 1);
        assert_non_null(copy);
        memcpy(copy + 1, bytes, part);
        const bool good =
            machine_of(machine)->read((struct g2h_bytes){copy + 1, part}, 0x1000, &instruction);
        free(copy);
        if (good != (part == size))
            fail_msg("%s: %zu bytes", hex, part);
    }
    if (instruction.size != size)
        fail_msg("%s: has %u bytes", hex, instruction.size);
    return instruction;
}

static struct instruction read(const char *hex)
{
    return read_of(EM_X86_64, hex);
}

TEST(frames)
{
    struct instruction one = read("488b4c2418"); /* mov 0x18(%rsp),%rcx */
    assert_int_equal(one.kind, INSTRUCTION_LOAD);
    assert_int_equal(one.to, RCX);
    assert_true(one.has_memory && !one.has_index && one.base == RSP);
    assert_int_equal(one.displacement, 0x18);
    one = read("4c899424f8feffff"); /* mov %r10,-0x108(%rsp) */
    assert_int_equal(one.kind, INSTRUCTION_STORE);
    assert_int_equal(one.from, R10);
    assert_int_equal(one.displacement, -0x108);
    one = read("488d442428"); /* lea 0x28(%rsp),%rax */
    assert_int_equal(one.kind, INSTRUCTION_LEA);
    one = read("8b4c2418"); /* mov 0x18(%rsp),%ecx: half of the word */
    assert_int_equal(one.kind, INSTRUCTION_OTHER);
    assert_int_equal(one.written_registers, 1 << RCX);
    one = read("488b0cc4"); /* mov (%rsp,%rax,8),%rcx */
    assert_int_equal(one.kind, INSTRUCTION_LOAD);
    assert_true(one.has_index && one.scale == 8);
    one = read("488905785634f2"); /* mov %rax,-0xdcba988(%rip) */
    assert_int_equal(one.kind, INSTRUCTION_STORE);
    assert_true(one.is_static && !one.has_memory);
    assert_int_equal(one.target, 0x1000 + 7 - 0xdcba988);
}

/* What is beside the bytes that an instruction writes stays: the compiler puts the bits of deferred
 * calls, and bools, directly before a pointer. */
TEST(bytes_written)
{
    static const struct {
        const char *code;
        unsigned written;
    } all[] = {
        {"c644242701", 1},         /* movb $1,0x27(%rsp) */
        {"88442427", 1},           /* mov %al,0x27(%rsp) */
        {"804c242702", 1},         /* orb $2,0x27(%rsp) */
        {"0f94442427", 1},         /* sete 0x27(%rsp) */
        {"66c74424260100", 2},     /* movw $1,0x26(%rsp) */
        {"66894c2426", 2},         /* mov %cx,0x26(%rsp) */
        {"c744242401000000", 4},   /* movl $1,0x24(%rsp) */
        {"ff442424", 4},           /* incl 0x24(%rsp) */
        {"48c744242001000000", 8}, /* movq $1,0x20(%rsp) */
        {"4889442420", 8},         /* mov %rax,0x20(%rsp) */
        {"8f442420", 8},           /* pop 0x20(%rsp) */
        {"440f117c2420", 16},      /* movups %xmm15,0x20(%rsp) */
        {"837c242400", 0},         /* cmpl $0,0x24(%rsp) */
        {"0fb6442427", 0},         /* movzbl 0x27(%rsp),%eax */
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        const struct instruction one = read(all[i].code);
        assert_true(one.has_memory && one.base == RSP);
        if (one.written_bytes != all[i].written)
            fail_msg("%s: writes %u bytes", all[i].code, one.written_bytes);
    }
}

TEST(registers)
{
    struct instruction one = read("4889d8"); /* mov %rbx,%rax */
    assert_int_equal(one.kind, INSTRUCTION_MOVE);
    assert_true(one.to == RAX && one.from == RBX);
    one = read("498bd8"); /* mov %r8,%rbx */
    assert_int_equal(one.kind, INSTRUCTION_MOVE);
    assert_true(one.to == RBX && one.from == R8);
    one = read("488d0d61360c00"); /* lea 0xc3661(%rip),%rcx */
    assert_int_equal(one.kind, INSTRUCTION_ADDRESS);
    assert_int_equal(one.to, RCX);
    assert_int_equal(one.target, 0x1000 + 7 + 0xc3661);
    one = read("4839c8"); /* cmp %rcx,%rax */
    assert_int_equal(one.kind, INSTRUCTION_COMPARE);
    assert_true(one.to == RCX && one.from == RAX && one.written_registers == 0);
    assert_int_equal(read("4885c9").written_registers, 0);                   /* test %rcx,%rcx */
    assert_int_equal(read("4883f905").written_registers, 0);                 /* cmp $5,%rcx */
    assert_int_equal(read("48f7e1").written_registers, 1 << RAX | 1 << RDX); /* mul %rcx */
    assert_int_equal(read("48f7f9").written_registers, 1 << RAX | 1 << RDX); /* idiv %rcx */
    assert_int_equal(read("31c0").kind, INSTRUCTION_ZERO);                   /* xor %eax,%eax */
    assert_int_equal(read("664831c0").kind, INSTRUCTION_ZERO); /* REX.W prevails over 66 */
    one = read("6631c0");                                      /* xor %ax,%ax: 48 bits stay */
    assert_int_equal(one.kind, INSTRUCTION_OTHER);
    assert_int_equal(one.written_registers, 1 << RAX);
    assert_int_equal(read("31c8").kind, INSTRUCTION_OTHER);
    assert_int_equal(read("6690").kind, INSTRUCTION_NOTHING);
    assert_int_equal(read("0f1f440000").kind, INSTRUCTION_NOTHING); /* nopl 0(%rax,%rax,1) */
    assert_int_equal(read("4190").kind, INSTRUCTION_OTHER);         /* xchg %r8d,%eax */
    assert_int_equal(read("415a").written_registers, 1 << R10);     /* pop %r10 */
    assert_int_equal(read("49b90102030405060708").written_registers, 1 << R9);
    assert_int_equal(read("c7442408ffffffff").written_registers, 0); /* movl $-1,8(%rsp) */
    assert_int_equal(read("f3a4").written_registers & (1 << RSI | 1 << RDI), 1 << RSI | 1 << RDI);
    assert_int_equal(read("c5fe6f06").written_registers, 0xffff); /* vmovdqu (%rsi),%ymm0 */
}

/* The registers that forms of operands write, as objdump tells of whole programs. */
TEST(writes)
{
    static const struct {
        const char *hex;
        uint32_t writes;
    } all[] = {
        {"48f7da", 1 << RDX},            /* neg %rdx */
        {"48f7d2", 1 << RDX},            /* not %rdx */
        {"48f7c201000000", 0},           /* test $1,%rdx */
        {"4883c105", 1 << RCX},          /* add $5,%rcx */
        {"4983f805", 0},                 /* cmp $5,%r8 */
        {"3d00050000", 0},               /* cmp $0x500,%eax */
        {"4829da", 1 << RDX},            /* sub %rbx,%rdx */
        {"482b10", 1 << RDX},            /* sub (%rax),%rdx */
        {"482910", 0},                   /* sub %rdx,(%rax) */
        {"48ffc1", 1 << RCX},            /* inc %rcx */
        {"48ff01", 0},                   /* incq (%rcx) */
        {"ff31", 0},                     /* push (%rcx) */
        {"49c1e004", 1 << R8},           /* shl $4,%r8 */
        {"486bd238", 1 << RDX},          /* imul $0x38,%rdx,%rdx */
        {"480fafd7", 1 << RDX},          /* imul %rdi,%rdx */
        {"0f95c4", 1 << RAX},            /* setne %ah */
        {"400f95c6", 1 << RSI},          /* setne %sil */
        {"88dc", 1 << RAX},              /* mov %bl,%ah */
        {"0fb6c8", 1 << RCX},            /* movzbl %al,%ecx */
        {"480fb131", 1 << RAX},          /* cmpxchg %rsi,(%rcx) */
        {"480fc131", 1 << RSI},          /* xadd %rsi,(%rcx) */
        {"4887f1", 1 << RCX | 1 << RSI}, /* xchg %rsi,%rcx */
        {"0f1101", 0},                   /* movups %xmm0,(%rcx) */
        {"f2480f2cd8", 1 << RBX},        /* cvttsd2si %xmm0,%rbx */
        {"66480f7ec3", 1 << RBX},        /* movq %xmm0,%rbx */
        {"480fbae105", 0},               /* bt $5,%rcx */
        {"480fbae905", 1 << RCX},        /* bts $5,%rcx */
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (read(all[i].hex).written_registers != all[i].writes)
            fail_msg("%s writes %x", all[i].hex, read(all[i].hex).written_registers);
    struct instruction one = read("4801d1"); /* add %rdx,%rcx */
    assert_int_equal(one.kind, INSTRUCTION_LEA);
    assert_true(one.to == RCX && one.base == RCX && one.index == RDX && one.scale == 1);
    assert_int_equal(one.written_registers, 1 << RCX);
    one = read("4903c8"); /* add %r8,%rcx */
    assert_true(one.to == RCX && one.base == RCX && one.index == R8);
    one = read("4883c1f8"); /* add $-8,%rcx */
    assert_int_equal(one.kind, INSTRUCTION_LEA);
    assert_true(one.to == RCX && one.base == RCX && one.displacement == -8 && !one.has_index);
    assert_int_equal(read("4881c100010000").displacement, 0x100); /* add $0x100,%rcx */
    assert_int_equal(read("4883c428").kind, INSTRUCTION_OTHER);   /* add $0x28,%rsp: a return */
    assert_int_equal(read("4883e928").kind, INSTRUCTION_OTHER);   /* sub $0x28,%rcx */
    assert_int_equal(read("4883412801").kind, INSTRUCTION_OTHER); /* addq $1,0x28(%rcx) */
    assert_int_equal(read("01d1").kind, INSTRUCTION_OTHER);       /* add %edx,%ecx */
    one = read("488d3cd1");                                       /* lea (%rcx,%rdx,8),%rdi */
    assert_int_equal(one.kind, INSTRUCTION_LEA);
    assert_true(one.has_index && one.base == RCX && one.index == RDX && one.scale == 8);
    assert_int_equal(read("48c1e204").kind, INSTRUCTION_MULTIPLY); /* shl $4,%rdx */
    assert_int_equal(read("48c1ea04").kind, INSTRUCTION_OTHER);    /* shr $4,%rdx */
    assert_int_equal(read("48c1e204").factor, 16);
    assert_int_equal(read("48d1e2").factor, 2); /* shl %rdx */
    assert_int_equal(read("486bd238").kind, INSTRUCTION_MULTIPLY);
    assert_int_equal(read("486bd238").factor, 0x38);
    assert_int_equal(read("480fafd7").factor, 0);
    assert_int_equal(read("480fafd7").kind, INSTRUCTION_MULTIPLY);
}

TEST(transfers)
{
    struct instruction one = read("e8ebffffff");
    assert_int_equal(one.kind, INSTRUCTION_CALL);
    assert_true(one.has_target && one.target == 0x1000 + 5 - 21);
    one = read("ffd1"); /* call *%rcx */
    assert_int_equal(one.kind, INSTRUCTION_CALL);
    assert_false(one.has_target);
    one = read("7505");
    assert_int_equal(one.kind, INSTRUCTION_BRANCH);
    assert_true(one.is_if_not_equal && one.target == 0x1007);
    one = read("0f8498000000");
    assert_int_equal(one.kind, INSTRUCTION_BRANCH);
    assert_true(one.is_if_equal && !one.is_if_not_equal && one.target == 0x1000 + 6 + 0x98);
    assert_int_equal(read("ebfe").target, 0x1000);
    assert_int_equal(read("ff2485e0104000").kind, INSTRUCTION_JUMP); /* a table of jumps */
    assert_int_equal(read("c3").kind, INSTRUCTION_END);
    assert_int_equal(read("0f0b").kind, INSTRUCTION_END);
}

TEST(sizes)
{
    static const char *const forms[] = {
        "90",
        "0f1f440000",
        "66c704240100",
        "66b90100",
        "6648c7c101000000", /* REX.W prevails over 66: 4 bytes of the number */
        "f6c101",
        "48f7c100000080",
        "f20f104c2408",
        "0fbae005",
        "660f3a0fc108",
        "f30f7f4c2410",
        "450f117c2410",
        "c4e2f1f7c2",
        "c4e37d39c101",
        "64488b0c25f8ffffff",
        "f0480fb10a",
        "4c8b0500000000",
        "0fb6040a",
        "d9ee",
        "488b8424000100ff",
    };
    for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
        read(forms[i]);
}

TEST(arm64)
{
    static const struct {
        const char *hex;
        struct instruction is;
    } all[] = {
        {"800000d0", /* adrp x0, 0x13000 */
         {INSTRUCTION_ADDRESS, .to = 0, .is_static = true, .target = 0x13000,
          .written_registers = 1 << 0}},
        {"018c0491", /* add x1, x0, #291 */
         {INSTRUCTION_LEA, .to = 1, .base = 0, .displacement = 291, .written_registers = 1 << 1}},
        {"220840f9", /* ldr x2, [x1, #16] */
         {INSTRUCTION_LOAD, .to = 2, .base = 1, .displacement = 16, .written_registers = 1 << 2}},
        {"e30f00f9", /* str x3, [sp, #24] */
         {INSTRUCTION_STORE, .from = 3, .base = 31, .displacement = 24}},
        {"e41742a9", /* ldp x4, x5, [sp, #32] */
         {INSTRUCTION_LOAD, .to = 4, .second = 5, .is_pair = true, .base = 31, .displacement = 32,
          .written_registers = 1 << 4 | 1 << 5}},
        {"061d3fa9", /* stp x6, x7, [x8, #-16] */
         {INSTRUCTION_STORE, .from = 6, .second = 7, .is_pair = true, .base = 8,
          .displacement = -16}},
        {"49815ff8", /* ldur x9, [x10, #-8] */
         {INSTRUCTION_LOAD, .to = 9, .base = 10, .displacement = -8, .written_registers = 1 << 9}},
        {"8b796df8", /* ldr x11, [x12, x13, lsl #3] */
         {INSTRUCTION_LOAD, .to = 11, .base = 12, .has_index = true, .scale = 8,
          .written_registers = 1 << 11}},
        {"8b792df8", /* str x11, [x12, x13, lsl #3] */
         {INSTRUCTION_STORE, .from = 11, .base = 12, .has_index = true, .scale = 8}},
        {"ee030faa", {INSTRUCTION_MOVE, .to = 14, .from = 15, .written_registers = 1 << 14}},
        {"f0031faa", {INSTRUCTION_ZERO, .to = 16, .written_registers = 1 << 16}}, /* mov x16, xzr */
        {"110080d2", {INSTRUCTION_ZERO, .to = 17, .written_registers = 1 << 17}}, /* mov x17, #0 */
        {"3f0002eb", {INSTRUCTION_COMPARE, .to = 1, .from = 2}},
        {"02000014", {INSTRUCTION_JUMP, .has_target = true, .target = 0x1008}},
        {"fcffff97", {INSTRUCTION_CALL, .has_target = true, .target = 0xff0}},
        {"60000054",
         {INSTRUCTION_BRANCH, .is_if_equal = true, .has_target = true, .target = 0x100c}},
        {"e1ffff54",
         {INSTRUCTION_BRANCH, .is_if_not_equal = true, .has_target = true, .target = 0xffc}},
        {"830000b4", {INSTRUCTION_BRANCH, .has_target = true, .target = 0x1010}}, /* cbz */
        {"a4001837", {INSTRUCTION_BRANCH, .has_target = true, .target = 0x1014}}, /* tbnz */
        {"c0035fd6", {INSTRUCTION_END}},
        {"a0001fd6", {INSTRUCTION_JUMP}}, /* br x5 */
        {"c0003fd6", {INSTRUCTION_CALL}}, /* blr x6 */
        {"000020d4", {INSTRUCTION_END}},  /* brk #0 */
        {"00000000", {INSTRUCTION_END}},  /* udf #0 */
        {"fe0f1ef8",                      /* str x30, [sp, #-32]! */
         {INSTRUCTION_OTHER, .base = 31, .displacement = -32, .written_registers = 1u << 31}},
        {"410440b9", /* ldr w1, [x2, #4] */
         {INSTRUCTION_OTHER, .base = 2, .displacement = 4, .written_registers = 1 << 1}},
        {"e1270039", {INSTRUCTION_OTHER, .base = 31, .displacement = 9}},  /* strb w1, [sp, #9] */
        {"e007803d", {INSTRUCTION_OTHER, .base = 31, .displacement = 16}}, /* str q0, [sp, #16] */
        {"4100038b",                                                       /* add x1, x2, x3 */
         {INSTRUCTION_LEA, .to = 1, .base = 2, .has_index = true, .scale = 1,
          .written_registers = 1 << 1}},
        {"230c028b", /* add x3, x1, x2, lsl #3 */
         {INSTRUCTION_LEA, .to = 3, .base = 1, .has_index = true, .scale = 8,
          .written_registers = 1 << 3}},
        /* lsl x2, x2, #4 */
        {"42ec7cd3",
         {INSTRUCTION_MULTIPLY, .to = 2, .from = 2, .factor = 16, .written_registers = 1 << 2}},
        {"427c049b",
         {INSTRUCTION_MULTIPLY, .to = 2, .written_registers = 1 << 2}}, /* mul x2, x2, x4 */
        {"62fc44d3", {INSTRUCTION_OTHER, .written_registers = 1 << 2}}, /* lsr x2, x3, #4 */
        {"420003cb",
         {INSTRUCTION_SUBTRACT, .from = 2, .written_registers = 1 << 2}}, /* sub x2, x2, x3 */
        {"4598049b",
         {INSTRUCTION_SUBTRACT, .from = 6, .written_registers = 1 << 5}}, /* msub x5, x2, x4, x6 */
        {"241042fa", {INSTRUCTION_OTHER}},                                /* ccmp x1, x2, #4, ne */
        {"4128631e", {INSTRUCTION_OTHER}},                                /* fadd d1, d2, d3 */
        {"2300669e", {INSTRUCTION_OTHER, .written_registers = 1 << 3}},   /* fmov x3, d1 */
        {"233c050e", {INSTRUCTION_OTHER, .written_registers = 1 << 3}},   /* umov w3, v1.b[2] */
        {"1f2003d5", {INSTRUCTION_OTHER}},                                /* nop */
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        const struct instruction one = read_of(EM_AARCH64, all[i].hex), *is = &all[i].is;
        const bool has_word = is->kind == INSTRUCTION_LOAD || is->kind == INSTRUCTION_STORE,
                   has_memory = is->base != 0 || is->displacement != 0;
        if (one.kind != is->kind || one.has_target != is->has_target ||
            (one.has_target && one.target != is->target) ||
            one.written_registers != is->written_registers || one.is_if_equal != is->is_if_equal ||
            one.is_if_not_equal != is->is_if_not_equal || one.is_static != is->is_static ||
            (is->is_static && one.target != is->target) || one.is_pair != is->is_pair ||
            one.has_index != is->has_index ||
            (has_memory && (!one.has_memory || one.base != is->base ||
                            (!is->has_index && one.displacement != is->displacement))) ||
            (is->has_index && one.scale != is->scale) || (is->to != 0 && one.to != is->to) ||
            (is->from != 0 && one.from != is->from) ||
            (has_word && is->is_pair && one.second != is->second))
            fail_msg("%s is read as kind %d, writes %x", all[i].hex, one.kind,
                     one.written_registers);
    }
    /* Whatever an atomic operation does, it may write all registers that it names. */
    assert_int_equal(read_of(EM_AARCH64, "41fc5fc8").written_registers & 1 << 1, 1 << 1);
    assert_int_equal(read_of(EM_AARCH64, "620021f8").written_registers & 1 << 2, 1 << 2);
    assert_null(machine_of(EM_386));
}

TEST(anything)
{
    uint64_t seed = 37;
    for (int i = 0; i < 200000; i++) {
        const size_t size = unit_random(&seed) % 17;
        uint8_t *bytes = malloc(size + 1);
        struct instruction instruction;
        assert_non_null(bytes);
        for (size_t j = 0; j < size; j++)
            bytes[j + 1] = (uint8_t)unit_random(&seed);
        if (machine_of(i % 2 ? EM_X86_64 : EM_AARCH64)
                ->read((struct g2h_bytes){bytes + 1, size}, 0, &instruction))
            assert_true(instruction.size > 0 && instruction.size <= size &&
                        instruction.to < INSTRUCTION_REGISTERS &&
                        instruction.from < INSTRUCTION_REGISTERS &&
                        instruction.base < INSTRUCTION_REGISTERS &&
                        instruction.index < INSTRUCTION_REGISTERS);
        free(bytes);
    }
}

UNIT_MAIN(NULL, NULL)
