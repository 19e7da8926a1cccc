/* Covers exe/flow by small functions in machine code: which words of data they use, and what they
 * store there. */
#include "unit.h"

#include <elf.h>

#include "exe/go/code.h"
#include "exe/go/flow.h"
#include "exe/go/static_words.h"

enum {
    TEXT = 0x1000,
    SIZE = 0x100,     /* of each function */
    FUNCTIONS = 1000, /* at most */
    TYPE = 0x6000,
    DATA = 0x8000,
    RECORD = 32, /* words of the table after the functions' numbers: a name, and a record */
};

/* An executable of functions of the same size. */
struct program {
    uint8_t file[SIZE * FUNCTIONS + 4 * sizeof(Elf64_Ehdr)];
    uint32_t table[2 * FUNCTIONS + 1 + RECORD];
    struct image image;
    struct pclntab pclntab;
    uint8_t *rules;
    struct flow flow;
};

/* Makes an ELF file of one section, the text. Its headers have this host's byte order. */
static void make_image(struct program *program, uint16_t machine, size_t size)
{
    const uint8_t order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
    Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, order, EV_CURRENT},
        .e_type = ET_EXEC,
        .e_machine = machine,
        .e_version = EV_CURRENT,
        .e_shoff = sizeof(header),
        .e_ehsize = sizeof(header),
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = 2};
    const Elf64_Shdr text = {.sh_type = SHT_PROGBITS,
                             .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                             .sh_addr = TEXT,
                             .sh_offset = sizeof(header) + 2 * sizeof(text),
                             .sh_size = size};
    memcpy(program->file, &header, sizeof(header));
    memcpy(program->file + sizeof(header) + sizeof(text), &text, sizeof(text));
    assert_no_error(image_init(&program->image, "test",
                               (struct g2h_bytes){program->file, text.sh_offset + text.sh_size}));
}

static uint8_t *text_of(struct program *program)
{
    return program->file + sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Shdr);
}

/* Prepares for reading functions, which begin at these distances; the last one is the end. */
static void make_program(struct program *program, uint16_t machine, const uint32_t *entries,
                         uint64_t count, size_t size)
{
    const struct moduledata moduledata = {.minpc = TEXT, .data = DATA, .ebss = DATA + 0x1000};
    memset(program->table, 0, sizeof(program->table));
    make_image(program, machine, size);
    for (uint64_t i = 0; i <= count; i++)
        program->table[2 * i] = entries[i];
    program->pclntab =
        (struct pclntab){.image = &program->image,
                         .table = {(const uint8_t *)program->table, sizeof(program->table)},
                         .version = PCLNTAB_GO118,
                         .quantum = 1,
                         .pointer_size = 8,
                         .count = count,
                         .names = sizeof(program->table),
                         .record_size = 44,
                         .entry_size = 4};
    assert_no_error(callees_find(&program->pclntab, &program->rules));
    flow_init(&program->flow, &program->pclntab, &moduledata, program->rules);
    assert_true(flow_can_read(&program->flow));
}

static void free_program(struct program *program)
{
    flow_deinit(&program->flow);
    free(program->rules);
    image_deinit(&program->image);
}

static uint8_t *append(uint8_t *at, const char *hex)
{
    for (; *hex; hex += 2) {
        unsigned byte;
        assert_int_equal(sscanf(hex, "%2x", &byte), 1);
        *at++ = (uint8_t)byte;
    }
    return at;
}

/* Prepares for reading functions for amd64, one of SIZE bytes after the other. */
static void make_functions(struct program *program, const uint32_t *entries,
                           const char *const *functions, unsigned count)
{
    memset(text_of(program), 0xcc, count * SIZE);
    for (unsigned i = 0; i < count; i++)
        append(text_of(program) + entries[i], functions[i]);
    make_program(program, EM_X86_64, entries, count, count * SIZE);
}

/* Puts before some code: a new value of TYPE, in rax or x0, and the address DATA, in rcx or x1. */
static void make_function(struct program *program, uint16_t machine, const char *hex)
{
    static const uint32_t entries[] = {0, SIZE, 2 * SIZE};
    static const char *const before[] = {"488d05f94f0000" /* lea TYPE(%rip),%rax */
                                         "e8f4000000"     /* call newobject */
                                         "488d0ded6f0000" /* lea DATA(%rip),%rcx */,
                                         "200000b0" /* adrp x0, TYPE */
                                         "3f000094" /* bl newobject */
                                         "210000f0" /* adrp x1, DATA */};
    const bool is_arm = machine == EM_AARCH64;
    memset(text_of(program), is_arm ? 0 : 0xcc, 2 * SIZE);
    append(append(text_of(program), before[is_arm]), hex);
    make_program(program, machine, entries, 2, 2 * SIZE);
    for (uint8_t i = CALLEE_RULES; program->rules[1] == 0; i++)
        if (callees_rule(i)->says[0].fact == CALLEE_ONE)
            program->rules[1] = i; /* newobject has the first of the rules */
    assert_no_error(flow_read(&program->flow, 0, false));
    assert_true(program->flow.uses.count > 0);
}

/* Returns whether a value is known to point to a value of TYPE. */
static bool is_new(const struct flow *flow, uint32_t value)
{
    const uint32_t fact = flow->values.data[value].first_fact;
    return fact != UINT32_MAX && flow->facts.data[fact].kind == FLOW_POINTS_TO &&
           flow->facts.data[fact].what == TYPE;
}

TEST(uses)
{
    static const struct {
        const char *hex;
        uint16_t machine;
        uint64_t address;
        enum { USE, STORE, STORE_OF_NEW } is;
        uint32_t distance;
    } all[] = {
        /* Words of an array have an index that counts in words. */
        {"488901", EM_X86_64, DATA, STORE_OF_NEW},       /* mov %rax,(%rcx) */
        {"488904d1", EM_X86_64, DATA, STORE_OF_NEW, 8},  /* mov %rax,(%rcx,%rdx,8) */
        {"488b04d1", EM_X86_64, DATA, USE, 8},           /* mov (%rcx,%rdx,8),%rax */
        {"200000f9", EM_AARCH64, DATA, STORE_OF_NEW},    /* str x0, [x1] */
        {"207822f8", EM_AARCH64, DATA, STORE_OF_NEW, 8}, /* str x0, [x1, x2, lsl #3] */
        {"207862f8", EM_AARCH64, DATA, USE, 8},          /* ldr x0, [x1, x2, lsl #3] */
        /* lea (%rcx,%rdx,8),%rdi; mov %rax,(%rdi) */
        {"488d3cd1488907", EM_X86_64, DATA, STORE_OF_NEW, 8},
        /* add x3, x1, x2, lsl #3; str x0, [x3] */
        {"230c028b600000f9", EM_AARCH64, DATA, STORE_OF_NEW, 8},
        /* Elements of other arrays: lea (%rdx,%rdx,2),%rdx; mov %rax,0x10(%rcx,%rdx,8) */
        {"488d1452488944d110", EM_X86_64, DATA + 16, STORE_OF_NEW, 24},
        /* imul $0x38,%rdx,%rdx; mov %rax,(%rcx,%rdx,8) */
        {"486bd238488904d1", EM_X86_64, DATA, STORE_OF_NEW, 448},
        /* imul %rdi,%rdx; mov %rdx,0x20(%rsp); mov 0x20(%rsp),%rsi; mov %rax,8(%rcx,%rsi,8) */
        {"480fafd74889542420488b742420488944f108", EM_X86_64, DATA + 8, STORE},
        /* shl $4,%rdx; sub %rbx,%rdx; mov %rax,(%rcx,%rdx,8) */
        {"48c1e2044829da488904d1", EM_X86_64, DATA, STORE},
        /* shl $4,%rdx; add %rdx,%rcx; mov %rax,8(%rcx) */
        {"48c1e2044801d148894108", EM_X86_64, DATA + 8, STORE_OF_NEW, 16},
        /* add x2, x2, x2, lsl #1; str x0, [x1, x2, lsl #3] */
        {"4204028b207822f8", EM_AARCH64, DATA, STORE_OF_NEW, 24},
        /* mul x2, x2, x4; sub x2, x2, x3; str x0, [x1, x2, lsl #3] */
        {"427c049b420003cb207822f8", EM_AARCH64, DATA, STORE},
        /* lsl x2, x2, #4; add x3, x1, x2; str x0, [x3, #8] */
        {"42ec7cd32300028b600400f9", EM_AARCH64, DATA + 8, STORE_OF_NEW, 16},
        /* i % 10: imul $10,%rdx,%rbx; sub %rbx,%rsi; lea (%rsi,%rsi,2),%rsi;
         * mov %rax,(%rcx,%rsi,8) */
        {"486bda0a4829de488d3476488904f1", EM_X86_64, DATA, STORE_OF_NEW, 24},
        /* mul x2, x2, x4; sub x5, x6, x2, or msub x5, x2, x4, x6; add x5, x5, x5, lsl #1;
         * str x0, [x1, x5, lsl #3] */
        {"427c049bc50002cba504058b207825f8", EM_AARCH64, DATA, STORE_OF_NEW, 24},
        {"4598049ba504058b207825f8", EM_AARCH64, DATA, STORE_OF_NEW, 24},
        /* Before an array: lea 0x10(%rcx),%rcx; mov %rax,-8(%rcx,%rdx,8) */
        {"488d4910488944d1f8", EM_X86_64, DATA + 16, USE},
        /* Parts of words are no words: mov %eax,(%rcx), of 2 bytes, of 1 byte */
        {"8901", EM_X86_64, DATA, USE},
        {"668901", EM_X86_64, DATA, USE},
        {"8801", EM_X86_64, DATA, USE},
        {"200000b9", EM_AARCH64, DATA, USE}, /* str w0, [x1] */
        {"20000079", EM_AARCH64, DATA, USE},
        {"20000039", EM_AARCH64, DATA, USE},
        /* mov %rax,(%rcx); mov (%rcx),%eax; mov %rax,8(%rcx) */
        {"4889018b0148894108", EM_X86_64, DATA + 8, STORE},
        /* str x0, [x1]; ldr w5, [x1]; str x5, [x1] */
        {"200000f9250040b9250000f9", EM_AARCH64, DATA, STORE},
        /* Other registers keep their values: neg, not, add, inc, test, shl of %rdx or %rcx */
        {"48f7da488901", EM_X86_64, DATA, STORE_OF_NEW},
        {"48f7d2488901", EM_X86_64, DATA, STORE_OF_NEW},
        {"4883c205488901", EM_X86_64, DATA, STORE_OF_NEW},
        {"48ffc2488901", EM_X86_64, DATA, STORE_OF_NEW},
        {"48f7c201000000488901", EM_X86_64, DATA, STORE_OF_NEW},
        {"0f1101488901", EM_X86_64, DATA, STORE_OF_NEW},      /* movups %xmm0,(%rcx) */
        {"48f7d8488901", EM_X86_64, DATA, STORE},             /* neg %rax */
        {"48f7e2488901", EM_X86_64, DATA, STORE},             /* mul %rdx */
        {"4128631e200000f9", EM_AARCH64, DATA, STORE_OF_NEW}, /* fadd d1, d2, d3 */
    };
    static struct program program;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        make_function(&program, all[i].machine, all[i].hex);
        const struct flow *flow = &program.flow;
        const struct flow_use *use = &flow->uses.data[flow->uses.count - 1];
        if (use->address != all[i].address || use->is_store != (all[i].is != USE) ||
            use->array.distance != all[i].distance ||
            is_new(flow, use->value) != (all[i].is == STORE_OF_NEW))
            fail_msg("%s: is %s at %#jx, of value %u", all[i].hex,
                     use->is_store ? "a store" : "a use", (uintmax_t)use->address, use->value);
        free_program(&program);
    }
}

/* An array has as many elements as the index is compared with, or masked for, and so has an array
 * in its elements; but not if the index is that of the element before, of which code compares
 * another value with the number. */
TEST(elements)
{
    static const struct {
        const char *hex;
        uint16_t machine;
        struct flow_array array, inner;
    } all[] = {
        /* cmp $32,%rdx; jae behind; mov %rax,(%rcx,%rdx,8) */
        {"4883fa207304488904d1", EM_X86_64, {8, 32}, {0}},
        /* cmp $300,%edx; jae behind; imul $0x38,%rdx,%rdx; mov %rax,8(%rcx,%rdx,1) */
        {"81fa2c0100007309486bd23848894411089090", EM_X86_64, {56, 300}, {0}},
        /* and $63,%edx; lea (%rdx,%rdx,2),%rdx; mov %rax,(%rcx,%rdx,8) */
        {"83e23f488d1452488904d1", EM_X86_64, {24, 64}, {0}},
        /* and $62,%edx: is no index below 63 */
        {"83e23e488904d1", EM_X86_64, {8, 0}, {0}},
        /* Compared first with 1,000, then with 32; it changes afterwards: inc %rdx */
        {"4881fae80300004883fa20488904d1", EM_X86_64, {8, 32}, {0}},
        {"4883fa2048ffc2488904d1", EM_X86_64, {8, 0}, {0}},
        /* list[i+1]: cmp $32,%rdx; mov %rax,8(%rcx,%rdx,8) */
        {"4883fa20488944d108", EM_X86_64, {8, 0}, {0}},
        /* cmp $9,%rdx; mov %rdx,%r8; shl $4,%rdx; cmp $8,%r8: the multiple is less than 8, too */
        {"4883fa094989d048c1e2044983f80848890411", EM_X86_64, {16, 8}, {0}},
        /* The check for a second array may not be seen: cmp $32,%rdx; mov (%rcx,%rdx,8),%rsi;
         * lea 0x100(%rcx),%rcx; mov %rax,(%rcx,%rdx,8) */
        {"4883fa20488b34d1488d8900010000488904d1", EM_X86_64, {8, 0}, {0}},
        /* cmp $32,%rdx; imul $0x210,%rdx,%rdx; add %rdx,%rcx; cmp $64,%rsi;
         * mov %rax,(%rcx,%rsi,8) */
        {"4883fa204869d2100200004801d14883fe40488904f1", EM_X86_64, {528, 32}, {8, 64}},
        /* the same, mov %rax,8(%rcx,%rsi,8): the inner array may begin there, or one before */
        {"4883fa204869d2100200004801d14883fe40488944f108", EM_X86_64, {528, 32}, {8, 0}},
        /* cmp x2, #32; str x0, [x1, x2, lsl #3] */
        {"5f8000f1207822f8", EM_AARCH64, {8, 32}, {0}},
        /* and x3, x2, #7; str x0, [x1, x3, lsl #3] */
        {"43084092207823f8", EM_AARCH64, {8, 8}, {0}},
    };
    static struct program program;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        make_function(&program, all[i].machine, all[i].hex);
        const struct flow_use *use = &program.flow.uses.data[program.flow.uses.count - 1];
        if (use->array.distance != all[i].array.distance ||
            use->array.count != all[i].array.count ||
            use->inner.distance != all[i].inner.distance || use->inner.count != all[i].inner.count)
            fail_msg("%s: %u × %u, in each %u × %u", all[i].hex, use->array.count,
                     use->array.distance, use->inner.count, use->inner.distance);
        free_program(&program);
    }
}

/* Returns whether the last value that some code stores in data is the new one. */
static bool stores_new(const char *hex)
{
    static struct program program;
    make_function(&program, EM_X86_64, hex);
    const struct flow *flow = &program.flow;
    const bool is = is_new(flow, flow->uses.data[flow->uses.count - 1].value);
    free_program(&program);
    return is;
}

/* A slot of the frame keeps its value unless something else is stored there, in a loop as well. */
TEST(frames)
{
#define KEEP       "4889442450"       /* mov %rax,0x50(%rsp) */
#define STORE_KEPT "488b5c2450488919" /* mov 0x50(%rsp),%rbx; mov %rbx,(%rcx) */
    assert_true(stores_new(KEEP STORE_KEPT));
    assert_true(stores_new(KEEP "88542423" STORE_KEPT));        /* mov %dl,0x23(%rsp) */
    assert_false(stores_new(KEEP "88542453" STORE_KEPT));       /* mov %dl,0x53(%rsp) */
    assert_true(stores_new(KEEP "440f117c2440" STORE_KEPT));    /* movups %xmm15,0x40(%rsp) */
    assert_false(stores_new(KEEP "440f117c2441" STORE_KEPT));   /* movups %xmm15,0x41(%rsp) */
    assert_true(stores_new(KEEP "440f107c2450" STORE_KEPT));    /* movups 0x50(%rsp),%xmm15 */
    assert_true(stores_new(KEEP "0fb6442450" STORE_KEPT));      /* movzbl 0x50(%rsp),%eax */
    assert_true(stores_new(KEEP "48837c245000" STORE_KEPT));    /* cmpq $0,0x50(%rsp) */
    assert_false(stores_new(KEEP "48ff442450" STORE_KEPT));     /* incq 0x50(%rsp) */
    assert_false(stores_new(KEEP "48895cd430" STORE_KEPT));     /* mov %rbx,0x30(%rsp,%rdx,8) */
    assert_true(stores_new(KEEP "88542423" STORE_KEPT "75f2")); /* jne to the second one */
    assert_false(stores_new(KEEP STORE_KEPT "4889542450"        /* mov %rdx,0x50(%rsp) */
                                            "75f1"));           /* jne to the second one */
    /* Of a loop that is entered behind its first instruction, to which only jumps from further
     * behind lead; a table of jumps might lead there, too. */
    assert_true(stores_new(KEEP "eb03"
                                "4889d0" STORE_KEPT "ebf3")); /* mov %rdx,%rax */
    assert_false(stores_new(KEEP "eb05"
                                 "4889542450" STORE_KEPT "ebf1")); /* mov %rdx,0x50(%rsp) */
    assert_false(stores_new(KEEP "eb03"
                                 "4889d0" STORE_KEPT "ebf3"
                                 "ffe2")); /* jmp *%rdx */
#undef KEEP
#undef STORE_KEPT
    /* A variable that a loop sets to the new value: mov (%rcx),%rsi; 1: mov 8(%rsi),%rdi;
     * test %rdi,%rdi; je 2f; mov %rax,%rsi; jmp 1b; 2: mov %rsi,(%rcx). Without the use of what it
     * points to, it may be the data of an interface. */
    assert_true(stores_new("488b31488b7e084885ff74054889c6ebf2488931"));
    assert_false(stores_new("488b314885ff74054889c6ebf6488931"));
    /* A literal of many maps makes a large frame: mov %rax,0x4000(%rsp); mov 0x4000(%rsp),%rbx;
     * mov %rbx,(%rcx) */
    assert_true(stores_new("4889842400400000488b9c2400400000488919"));
}

/* What a function stores behind its argument is in the variable whose address it is passed. */
TEST(arguments)
{
    static const uint32_t entries[] = {0, SIZE, 2 * SIZE, 3 * SIZE, 4 * SIZE, 5 * SIZE};
    static const char *const functions[] = {
        /* lea DATA(%rip),%rax; call the next one; xor %edx,%edx; mov %rdx,DATA+0x20(%rip) */
        "488d05f96f0000e8f400000031d2488915126f0000",
        /* store(place + 8, …): add $8,%rax; jmp the next one */
        "4883c008e9f7000000",
        /* mov %rax,0x10(%rsp); lea TYPE(%rip),%rax; call newobject; mov 0x10(%rsp),%rcx;
         * mov (%rcx),%rdx; test %rdx,%rdx; je to the store; lea 0x10(%rdx),%rdx;
         * mov %rdx,0x10(%rsp); jmp to the load of it; mov %rax,8(%rcx) */
        "4889442410488d05f44d0000e8ef000000488b4c2410488b114885d2740b488d52104889542410ebe8"
        "48894108",
        "c3", "c3"};
    static struct program program;
    struct static_words words = {.words.count = 0};
    unsigned stored = 0;
    make_functions(&program, entries, functions, 5);
    for (uint8_t i = CALLEE_RULES; program.rules[3] == 0; i++)
        if (callees_rule(i)->says[0].fact == CALLEE_ONE)
            program.rules[3] = i;
    assert_no_error(static_words_find(&program.flow, &words));
    for (size_t i = 0; i < words.words.count; i++) {
        const struct static_word *word = &words.words.data[i];
        stored += word->address == DATA + 16 && word->kind == STATIC_WORD &&
                  word->evidence.kind == FLOW_POINTS_TO && word->evidence.what == TYPE;
    }
    assert_int_equal(stored, 1);
    assert_int_equal(words.words.count, 1);
    assert_int_equal(words.extents.count, 0); /* no function describes its arguments */
    static_words_deinit(&words);
    free_program(&program);
}

/* A variable that is set to what a function returns has the type of what that is. */
TEST(returned)
{
    static const uint32_t entries[] = {0, SIZE, 2 * SIZE, 3 * SIZE};
    static const char *const functions[] = {
        "e8fb000000488905f46f0000c3", /* call the next one; mov %rax,DATA(%rip); ret */
        "488d05f94e0000e8f4000000c3", /* lea TYPE(%rip),%rax; call newobject; ret */
        "c3"};
    static struct program program;
    struct static_words words = {.words.count = 0};
    make_functions(&program, entries, functions, 3);
    for (uint8_t i = CALLEE_RULES; program.rules[2] == 0; i++)
        if (callees_rule(i)->says[0].fact == CALLEE_ONE)
            program.rules[2] = i;
    assert_no_error(static_words_find(&program.flow, &words));
    assert_int_equal(words.words.count, 1);
    assert_int_equal(words.words.data[0].address, DATA);
    assert_int_equal(words.words.data[0].evidence.kind, FLOW_POINTS_TO);
    assert_int_equal(words.words.data[0].evidence.what, TYPE);
    static_words_deinit(&words);
    free_program(&program);
}

/* What a function says of its argument is known to those that pass it the address of a value on
 * their stacks: the header of a map that only other functions use. */
TEST(arguments_on_the_stack)
{
    static const uint32_t entries[] = {0, SIZE, 2 * SIZE, 3 * SIZE};
    static const char *const functions[] = {
        /* mov %rdx,0x30(%rsp); lea 0x10(%rsp),%rbx; call the next one; ret */ "4889542430488d5c241"
                                                                               "0e8f1000000c3",
        "488d05f94e0000e8f4000000c3", /* lea TYPE(%rip),%rax; call mapassign; ret */
        "c3"};
    static struct program program;
    struct static_words words = {.words.count = 0};
    unsigned passed = 0;
    make_functions(&program, entries, functions, 3);
    for (uint8_t i = CALLEE_RULES; program.rules[2] == 0; i++)
        if (callees_rule(i)->says[0].fact == CALLEE_SELF && callees_rule(i)->says[0].argument == 1)
            program.rules[2] = i;
    assert_no_error(static_words_find(&program.flow, &words));
    const size_t at = static_words_of_argument(&words, 1, 1);
    assert_int_equal(words.arguments.count, 1);
    assert_int_equal(at, 0);
    assert_int_equal(words.arguments.data[at].evidence.kind, FLOW_IS);
    assert_int_equal(words.arguments.data[at].evidence.what, TYPE);
    assert_int_equal(static_words_of_argument(&words, 1, 0), 0);
    assert_int_equal(static_words_of_argument(&words, 1, 2), 1);
    assert_no_error(flow_read(&program.flow, 0, true));
    for (size_t i = 0; i < program.flow.passes.count; i++) {
        const struct flow_pass *pass = &program.flow.passes.data[i];
        const struct flow_value *value = &program.flow.values.data[pass->value];
        passed += pass->callee == 1 && pass->argument == 1 && value->origin == FLOW_SLOT &&
                  value->number == 2;
    }
    assert_int_equal(passed, 1);
    static_words_deinit(&words);
    free_program(&program);
}

/* An argument whose address the code takes has a home, unless it is the data of an interface, which
 * a description of the arguments would say; another word that is stored there later changes
 * nothing. What the code stores to other slots first has none. */
TEST(homes_of_arguments)
{
    static const uint32_t entries[] = {0, SIZE, 2 * SIZE};
    static const char *const functions[] = {
        "4889442430" /* mov %rax,0x30(%rsp) */
        "48895c2438" /* mov %rbx,0x38(%rsp) */
        "4889542440" /* mov %rdx,0x40(%rsp), which is no argument */
        "488d442438" /* lea 0x38(%rsp),%rax */
        "e8e7000000" /* call the next one */
        "488d442440" /* lea 0x40(%rsp),%rax */
        "e8dd000000" /* call the next one */
        "4889442438c3" /* mov %rax,0x38(%rsp); ret */,
        "c3"};
    static struct program program;
    make_functions(&program, entries, functions, 2);
    assert_no_error(flow_read(&program.flow, 0, true));
    const uint32_t *homes = program.flow.homes.data, *slots = flow_frame_at(&program.flow, 0x19);
    assert_non_null(slots);
    assert_true(program.flow.slot_count > 8);
    assert_int_not_equal(slots[6], 0); /* followed, so that no home is needed */
    assert_int_equal(homes[6], 0);
    assert_int_equal(slots[7], 0);
    assert_int_equal(program.flow.values.data[homes[7]].origin, FLOW_ARGUMENT);
    assert_int_equal(program.flow.values.data[homes[7]].number, 1);
    assert_int_equal(homes[8], 0);
    free_program(&program);
}

/* Describes the arguments of a function, in the bytes of FUNCDATA_ArgInfo, and gives it a name. The
 * functions must be in front of the last 16 bytes of the text. Only one function is described. */
static void describe(struct program *program, unsigned function, const char *hex)
{
    enum { NAME = 2 * FUNCTIONS + 1, AT = NAME + 2, NUMBERS = 11, ARG_INFO = 5 };
    const size_t at = program->pclntab.count * SIZE - 16;
    uint32_t *record = program->table + AT;
    uint8_t *counts = (uint8_t *)(record + NUMBERS - 1);
    memcpy(program->table + NAME, "main.f", sizeof("main.f"));
    program->pclntab.names = NAME * sizeof(*record);
    counts[3] = ARG_INFO + 1;
    record[NUMBERS + ARG_INFO] = (uint32_t)at;
    program->table[2 * function + 1] = AT * sizeof(*record);
    program->flow.gofunc = TEXT;
    append(text_of(program) + at, hex);
}

/* Code uses a variable as far as the functions use it that get its address as one argument, not as
 * the start of a slice, whose length they check. */
TEST(extents)
{
    static const struct {
        const char *arguments;
        uint64_t size;                    /* 0: not known */
    } all[] = {{"0008ff", 0x18},          /* a word */
               {"00080808ff", 0x18},      /* two */
               {"fe000808081008fdff", 0}, /* a slice */
               {"fe00080808fdff", 0}};    /* a string */
    static const uint32_t entries[] = {0, SIZE, 2 * SIZE};
    static const char *const functions[] = {
        "488d05f96f0000e8f4000000c3", /* lea DATA(%rip),%rax; call the next one; ret */
        "488b08488b5010c3",           /* mov (%rax),%rcx; mov 0x10(%rax),%rdx; ret */
    };
    static struct program program;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct static_words words = {.words.count = 0};
        make_functions(&program, entries, functions, 2);
        describe(&program, 1, all[i].arguments);
        assert_no_error(static_words_find(&program.flow, &words));
        assert_int_equal(words.extents.count, all[i].size != 0);
        if (all[i].size != 0) {
            assert_int_equal(words.extents.data[0].address, DATA);
            assert_int_equal(words.extents.data[0].end, DATA + all[i].size);
        }
        static_words_deinit(&words);
        free_program(&program);
    }
}

/* Returns how many pieces of evidence there are about DATA, which is passed to a function with two
 * described arguments, as the second word, after a new value was. before comes before that call. */
static unsigned evidence_of_passed(const char *before, const char *arguments)
{
    enum { NEW = 2 };
    static const uint32_t entries[] = {0, SIZE, 2 * SIZE, 3 * SIZE};
    static struct program program;
    struct static_words words = {.words.count = 0};
    static char first[128];
    /* lea TYPE(%rip),%rax; call the third one; mov %rax,%rbx; before; call the next one;
     * mov DATA(%rip),%rbx; call the next one */
    const unsigned size = 15 + (unsigned)strlen(before) / 2, next = SIZE - size - 5,
                   data = DATA - TEXT - size - 12, again = SIZE - size - 17;
    unsigned found = 0;
    snprintf(first, sizeof(first),
             "488d05f94f0000e8f40100004889c3%se8%02x%02x0000488b1d%02x%02x0000e8%02x%02x0000c3",
             before, next & 255, next >> 8, data & 255, data >> 8, again & 255, again >> 8);
    const char *const functions[] = {first, "c3", "c3"};
    make_functions(&program, entries, functions, 3);
    describe(&program, 1, arguments);
    for (uint8_t i = CALLEE_RULES; program.rules[NEW] == 0; i++)
        if (callees_rule(i)->says[0].fact == CALLEE_ONE)
            program.rules[NEW] = i;
    assert_no_error(static_words_find(&program.flow, &words));
    for (size_t i = 0; i < words.words.count; i++)
        found += words.words.data[i].address == DATA && words.words.data[i].evidence.what == TYPE;
    static_words_deinit(&words);
    free_program(&program);
    return found;
}

/* What callers pass as an argument has one type, but not if it is the data of an interface.
 * Floating point arguments are described like others, but are not in these registers: f(1.5,
 * value). */
TEST(passed_types)
{
    assert_int_equal(evidence_of_passed("", "00080808ff"), 1);
    assert_int_equal(evidence_of_passed("", "fe00080808fdff"), 0); /* an interface or a string */
    assert_int_equal(evidence_of_passed("", "0008ff"), 0);         /* there is no such argument */
    assert_int_equal(evidence_of_passed("f20f100511000000", "0008fe08081008fdff"),
                     0); /* movsd 0x11(%rip),%xmm0 */
    assert_int_equal(evidence_of_passed("0f57c0", "0008fe08081008fdff"), 0); /* xorps */
    assert_int_equal(evidence_of_passed("f20f1005110000004889d1", "00080808ff"), 0);
    assert_int_equal(evidence_of_passed("440f117c2408", "00080808ff"),
                     1); /* movups %xmm15,8(%rsp) */
}

/* Makes a program of functions, of which the last one is of the runtime and makes a new value, or
 * an array of values, and returns how many pieces of evidence of TYPE there are about a word of
 * this address, kind and offset. */
static unsigned evidence_about(const char *const *functions, unsigned count, enum callee_fact made,
                               struct static_word word)
{
    static const uint32_t entries[] = {0, SIZE, 2 * SIZE, 3 * SIZE, 4 * SIZE};
    static struct program program;
    struct static_words words = {.words.count = 0};
    unsigned found = 0;
    make_functions(&program, entries, functions, count);
    for (uint8_t i = CALLEE_RULES; program.rules[count - 1] == 0; i++)
        if (callees_rule(i)->says[0].fact == made)
            program.rules[count - 1] = i;
    assert_no_error(static_words_find(&program.flow, &words));
    for (size_t i = 0; i < words.words.count; i++)
        found += words.words.data[i].address == word.address &&
                 words.words.data[i].kind == word.kind &&
                 words.words.data[i].array.distance == word.array.distance &&
                 words.words.data[i].evidence.what == TYPE;
    static_words_deinit(&words);
    free_program(&program);
    return found;
}

static unsigned evidence_of(const char *const *functions, unsigned count, enum callee_fact made,
                            uint64_t address)
{
    return evidence_about(functions, count, made,
                          (struct static_word){.address = address, .kind = STATIC_WORD});
}

/* heap.Push(&s.queue, x) in a method that gets the address of a variable: the field has the type of
 * the interface's data. */
TEST(interface_of_a_field)
{
    static const char *const functions[] = {
        "488d05f96f0000e8f4000000c3", /* lea DATA(%rip),%rax; call the next one; ret */
        /* lea 8(%rax),%rbx; lea TYPE(%rip),%rcx; mov %rcx,0x10(%rsp); mov %rbx,0x18(%rsp); ret */
        "488d5808488d0df54e000048894c241048895c2418c3", "c3"};
    assert_int_equal(
        evidence_about(functions, 3, CALLEE_ONE,
                       (struct static_word){.address = DATA + 8, .kind = STATIC_VALUE}),
        1);
}

/* heap.Push(&s.queues[i], x) in such a method: so have the elements of an array of 48 bytes each.
 */
TEST(elements_of_a_field)
{
    static const char *const functions[] = {
        "488d05f96f0000e8f4000000c3", /* lea DATA(%rip),%rax; call the next one; ret */
        /* lea (%rbx,%rbx,2),%rcx; shl $4,%rcx; lea 8(%rax,%rcx,1),%rbx; lea TYPE(%rip),%rcx;
         * mov %rcx,0x10(%rsp); mov %rbx,0x18(%rsp); ret */
        "488d0c5b48c1e104488d5c0808488d0dec4e000048894c241048895c2418c3", "c3"};
    assert_int_equal(evidence_about(functions, 3, CALLEE_ONE,
                                    (struct static_word){.address = DATA + 8,
                                                         .kind = STATIC_ELEMENT_VALUE,
                                                         .array = {48, 0}}),
                     1);
}

/* Two variables that are set to the result of one function have one type. */
TEST(results)
{
    static const char *const functions[] = {
        /* call the third one; mov %rax,DATA(%rip); ret */
        "e8fb010000488905f46f0000c3",
        /* call it; mov %rax,DATA+8(%rip); lea TYPE(%rip),%rax; call newobject;
         * mov %rax,DATA+8(%rip); ret */
        "e8fb000000488905fc6e0000488d05ed4e0000e8e8010000488905e96e0000c3", "c3", "c3"};
    /* The second one stores a type's address and the result side by side, as in an interface, but
     * also by chance: lea TYPE(%rip),%rcx; mov %rcx,0x10(%rsp); mov %rax,0x18(%rsp) */
    static const char *const beside[] = {
        "e8fb010000488905f46f0000c3", "e8fb000000488d0df44e000048894c24104889442418c3", "c3", "c3"};
    assert_int_equal(evidence_of(beside, 4, CALLEE_ONE, DATA), 0);
    assert_int_equal(evidence_of(functions, 4, CALLEE_ONE, DATA), 1);
    assert_int_equal(evidence_of(functions, 4, CALLEE_ONE, DATA + 8), 1);
}

/* A variable that is set to one of two values, one of which points to a new array, has the type of
 * both; but the data word of an interface may point to a new value of another type. */
TEST(ways)
{
    static const char *const functions[] = {
        /* mov DATA(%rip),%rax; test %rax,%rax; jne to the store; lea TYPE(%rip),%rax; call the
         * next one; mov %rax,DATA+8(%rip); ret */
        "488b05f96f00004885c0750c488d05ed4f0000e8e8000000488905e96f0000c3", "c3"};
    assert_int_equal(evidence_of(functions, 2, CALLEE_MANY, DATA + 8), 1);
    assert_int_equal(evidence_of(functions, 2, CALLEE_ONE, DATA + 8), 0);
}

/* A call passes on what the function's closure holds, also at the head of a loop. */
TEST(captured)
{
    static const uint32_t entries[] = {0, SIZE, 2 * SIZE};
    static const char *const functions[] = {
        "488b4208e8f7000000",     /* mov 8(%rdx),%rax; call the next one */
        "488b4208e8f7000000ebf5", /* jmp to the start */
    };
    static struct program program;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        struct code_evidence evidence;
        memset(text_of(&program), 0xcc, 2 * SIZE);
        append(text_of(&program), functions[i]);
        make_program(&program, EM_X86_64, entries, 2, 2 * SIZE);
        assert_no_error(flow_read(&program.flow, 0, true));
        const uint32_t *words = flow_frame_at(&program.flow, 9);
        assert_non_null(words);
        assert_true(
            flow_evidence(&program.flow, words[program.flow.slot_count], UINT32_MAX, &evidence));
        assert_int_equal(evidence.kind, FLOW_IS_CLOSURE);
        assert_int_equal(evidence.what, TEXT);
        assert_int_equal(evidence.step_count, 1);
        assert_int_equal(evidence.steps[0], 8);
        free_program(&program);
    }
}

/* Of functions that overlap, no more code is read than all functions could have. */
TEST(overlapping)
{
    enum { END = SIZE * FUNCTIONS };
    static struct program program;
    static uint32_t entries[FUNCTIONS + 1];
    uint64_t read = 0, values = 0;
    memset(text_of(&program), 0x90, END);
    for (unsigned i = 0; i <= FUNCTIONS; i++)
        entries[i] = i % 2 == 0 ? i : END;
    entries[FUNCTIONS] = END;
    make_program(&program, EM_X86_64, entries, FUNCTIONS, END);
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        assert_no_error(flow_read(&program.flow, i, true));
        read += program.flow.values.count > 0 ? entries[i + 1] - entries[i] : 0;
        values += program.flow.values.count;
    }
    assert_true(read > END && read <= 3 * END);
    assert_true(values <= 100 * FUNCTIONS);
    free_program(&program);
}

/* The first byte of all tables belongs to none of them: a function without a table has no lines. */
TEST(values_of_code)
{
    struct program program;
    const uint32_t entries[] = {0, 16};
    const uint8_t tables[] = {0, 2, 5, 0}; /* table 1: 0 for five bytes */
    uint64_t left = 100;
    int64_t value;
    make_program(&program, EM_X86_64, entries, 1, 16);
    program.pclntab.pcs = 32;
    memcpy((uint8_t *)program.table + program.pclntab.pcs, tables, sizeof(tables));
    assert_true(pclntab_value(&program.pclntab, 1, 0, 4, &left, &value));
    assert_int_equal(value, 0);
    assert_false(pclntab_value(&program.pclntab, 1, 0, 5, &left, &value));
    assert_false(pclntab_value(&program.pclntab, 0, 0, 1, &left, &value));
    free_program(&program);
}

UNIT_MAIN(NULL, NULL)
