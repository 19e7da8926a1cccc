/* Covers exe/instructions: the instructions that are followed, the sizes of all forms of operands,
 * which registers may be written, and bytes that are no instruction or are cut off. */
#include "unit.h"

#include "exe/instructions.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10 };

/* Reads an instruction out of memory that ends with it, and checks that no part of it is enough. */
static struct instruction read(const char *hex)
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
            instruction_read((struct g2h_bytes){copy + 1, part}, 0x1000, &instruction);
        free(copy);
        if (good != (part == size))
            fail_msg("%s: %zu bytes", hex, part);
    }
    if (instruction.size != size)
        fail_msg("%s: has %u bytes", hex, instruction.size);
    return instruction;
}

static void frames(void **state)
{
    (void)state;
    struct instruction one = read("488b4c2418"); /* mov 0x18(%rsp),%rcx */
    assert_int_equal(one.kind, INSTRUCTION_LOAD);
    assert_int_equal(one.to, RCX);
    assert_true(one.has_memory && !one.has_index && one.base == INSTRUCTION_SP);
    assert_int_equal(one.displacement, 0x18);
    one = read("4c899424f8feffff"); /* mov %r10,-0x108(%rsp) */
    assert_int_equal(one.kind, INSTRUCTION_STORE);
    assert_int_equal(one.from, R10);
    assert_int_equal(one.displacement, -0x108);
    one = read("488d442428"); /* lea 0x28(%rsp),%rax */
    assert_int_equal(one.kind, INSTRUCTION_LEA);
    one = read("8b4c2418"); /* mov 0x18(%rsp),%ecx: half of the word */
    assert_int_equal(one.kind, INSTRUCTION_OTHER);
    assert_int_equal(one.writes, 1 << RCX);
    one = read("488b0cc4"); /* mov (%rsp,%rax,8),%rcx */
    assert_int_equal(one.kind, INSTRUCTION_OTHER);
    assert_true(one.has_index);
}

static void registers(void **state)
{
    (void)state;
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
    assert_true(one.to == RCX && one.from == RAX && one.writes == 0);
    assert_int_equal(read("4885c9").writes, 0);                     /* test %rcx,%rcx */
    assert_int_equal(read("4883f905").writes, 0);                   /* cmp $5,%rcx */
    assert_int_equal(read("4883c105").writes & 1 << RCX, 1 << RCX); /* add $5,%rcx */
    assert_int_equal(read("48f7e1").writes & (1 << RAX | 1 << RDX), 1 << RAX | 1 << RDX);
    assert_int_equal(read("415a").writes, 1 << R10); /* pop %r10 */
    assert_int_equal(read("49b90102030405060708").writes, 1 << R9);
    assert_int_equal(read("c7442408ffffffff").writes, 0); /* movl $-1,8(%rsp) */
    assert_int_equal(read("f3a4").writes & (1 << RSI | 1 << RDI), 1 << RSI | 1 << RDI);
    assert_int_equal(read("c5fe6f06").writes, 0xffff); /* vmovdqu (%rsi),%ymm0 */
}

static void transfers(void **state)
{
    (void)state;
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
    assert_true(!one.is_if_not_equal && one.target == 0x1000 + 6 + 0x98);
    assert_int_equal(read("ebfe").target, 0x1000);
    assert_int_equal(read("ff2485e0104000").kind, INSTRUCTION_JUMP); /* a table of jumps */
    assert_int_equal(read("c3").kind, INSTRUCTION_END);
    assert_int_equal(read("0f0b").kind, INSTRUCTION_END);
}

static void sizes(void **state)
{
    (void)state;
    static const char *const forms[] = {
        "90",
        "0f1f440000",
        "66c704240100",
        "66b90100",
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

static void anything(void **state)
{
    uint64_t seed = 37;
    (void)state;
    for (int i = 0; i < 200000; i++) {
        const size_t size = unit_random(&seed) % 17;
        uint8_t *bytes = malloc(size + 1);
        struct instruction instruction;
        assert_non_null(bytes);
        for (size_t j = 0; j < size; j++)
            bytes[j + 1] = (uint8_t)unit_random(&seed);
        if (instruction_read((struct g2h_bytes){bytes + 1, size}, 0, &instruction))
            assert_true(instruction.size > 0 && instruction.size <= size &&
                        instruction.to < INSTRUCTION_REGISTERS &&
                        instruction.from < INSTRUCTION_REGISTERS &&
                        instruction.base < INSTRUCTION_REGISTERS);
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest instructions[] = {
        cmocka_unit_test(frames), cmocka_unit_test(registers), cmocka_unit_test(transfers),
        cmocka_unit_test(sizes),  cmocka_unit_test(anything),
    };
    return UNIT_RUN(instructions);
}
