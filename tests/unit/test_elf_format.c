/* Compares base/elf_format.h with the system's <elf.h>, where there is one: each constant, and the
 * size of each structure and the place of each of its members. */
#include "unit.h"

#include "base/elf_format.h"

/* clang-format off */

/* Constants. EM_LOONGARCH and its relocations are not in every <elf.h>. */
#define CONSTANTS(X) \
    X(SELFMAG) X(EI_CLASS) X(EI_DATA) X(EI_VERSION) X(EI_NIDENT) X(ELFCLASS32) X(ELFCLASS64) \
    X(ELFDATA2LSB) X(ELFDATA2MSB) X(EV_CURRENT) X(ET_REL) X(ET_EXEC) X(ET_DYN) X(ET_CORE) X(EM_386) X(EM_PPC) \
    X(EM_PPC64) X(EM_S390) X(EM_ARM) X(EM_X86_64) X(EM_AARCH64) X(EM_RISCV) X(PT_LOAD) \
    X(PT_DYNAMIC) X(PT_NOTE) X(PF_X) X(PF_W) X(PF_R) X(DT_RELA) X(DT_RELASZ) X(SHT_NULL) \
    X(SHT_PROGBITS) X(SHT_SYMTAB) X(SHT_STRTAB) X(SHT_RELA) X(SHT_NOTE) X(SHT_NOBITS) X(SHF_WRITE) \
    X(SHF_ALLOC) X(SHF_EXECINSTR) X(SHF_COMPRESSED) X(SHN_UNDEF) X(ELFCOMPRESS_ZLIB) X(STT_OBJECT) \
    X(STT_FUNC) X(R_386_RELATIVE) X(R_386_32) X(R_X86_64_RELATIVE) X(R_X86_64_64) \
    X(R_ARM_RELATIVE) X(R_ARM_ABS32) X(R_AARCH64_RELATIVE) X(R_AARCH64_ABS64) X(R_PPC_RELATIVE) \
    X(R_PPC_ADDR32) X(R_PPC64_RELATIVE) X(R_PPC64_ADDR64) X(R_390_RELATIVE) X(R_390_64) \
    X(R_RISCV_RELATIVE) X(R_RISCV_64) X(NT_GNU_BUILD_ID) X(NT_PRSTATUS) X(NT_AUXV) X(NT_FILE) \
    X(AT_NULL) X(AT_PAGESZ) X(AT_ENTRY) X(AT_RANDOM)

/* Members of structures: those that 32 and 64 bits have alike. */
#define BOTH(X, type, member) X(Elf32_##type, member) X(Elf64_##type, member)
#define MEMBERS(X) \
    BOTH(X, Ehdr, e_ident) BOTH(X, Ehdr, e_type) BOTH(X, Ehdr, e_machine) BOTH(X, Ehdr, e_version) \
    BOTH(X, Ehdr, e_entry) BOTH(X, Ehdr, e_phoff) BOTH(X, Ehdr, e_shoff) BOTH(X, Ehdr, e_flags) \
    BOTH(X, Ehdr, e_ehsize) BOTH(X, Ehdr, e_phentsize) BOTH(X, Ehdr, e_phnum) \
    BOTH(X, Ehdr, e_shentsize) BOTH(X, Ehdr, e_shnum) BOTH(X, Ehdr, e_shstrndx) \
    BOTH(X, Phdr, p_type) BOTH(X, Phdr, p_offset) BOTH(X, Phdr, p_vaddr) BOTH(X, Phdr, p_paddr) \
    BOTH(X, Phdr, p_filesz) BOTH(X, Phdr, p_memsz) BOTH(X, Phdr, p_flags) BOTH(X, Phdr, p_align) \
    BOTH(X, Shdr, sh_name) BOTH(X, Shdr, sh_type) BOTH(X, Shdr, sh_flags) BOTH(X, Shdr, sh_addr) \
    BOTH(X, Shdr, sh_offset) BOTH(X, Shdr, sh_size) BOTH(X, Shdr, sh_link) BOTH(X, Shdr, sh_info) \
    BOTH(X, Shdr, sh_addralign) BOTH(X, Shdr, sh_entsize) \
    BOTH(X, Chdr, ch_type) BOTH(X, Chdr, ch_size) BOTH(X, Chdr, ch_addralign) \
    BOTH(X, Sym, st_name) BOTH(X, Sym, st_value) BOTH(X, Sym, st_size) BOTH(X, Sym, st_info) \
    BOTH(X, Sym, st_other) BOTH(X, Sym, st_shndx) \
    BOTH(X, Rela, r_offset) BOTH(X, Rela, r_info) BOTH(X, Rela, r_addend) \
    X(Elf64_Nhdr, n_namesz) X(Elf64_Nhdr, n_descsz) X(Elf64_Nhdr, n_type)

#define SIZE_OF(type, member) sizeof(type), offsetof(type, member), sizeof(((type *)NULL)->member),
#define VALUE_OF(constant)    constant,

/* The parts of the numbers that have several, for numbers in which all bits differ. */
#define PARTS \
    {ELF32_ST_TYPE(0x5a), ELF64_ST_TYPE(0x5a), ELF32_R_SYM(0x12345678), ELF32_R_TYPE(0x12345678), \
     ELF64_R_SYM(0x123456789abcdef0), ELF64_R_TYPE(0x123456789abcdef0)}

/* clang-format on */

static const uint64_t our_constants[] = {CONSTANTS(VALUE_OF)};
static const size_t our_members[] = {MEMBERS(SIZE_OF)};
static const char our_magic[] = ELFMAG;

static const uint64_t our_parts[] = PARTS;

#if __has_include(<elf.h>)

/* From here on, the names mean what <elf.h> says. */
#undef ELFMAG
#undef ELF32_ST_TYPE
#undef ELF64_ST_TYPE
#undef ELF32_R_SYM
#undef ELF32_R_TYPE
#undef ELF64_R_SYM
#undef ELF64_R_TYPE
#define Elf32_Ehdr system_Elf32_Ehdr
#define Elf64_Ehdr system_Elf64_Ehdr
#define Elf32_Phdr system_Elf32_Phdr
#define Elf64_Phdr system_Elf64_Phdr
#define Elf32_Shdr system_Elf32_Shdr
#define Elf64_Shdr system_Elf64_Shdr
#define Elf32_Chdr system_Elf32_Chdr
#define Elf64_Chdr system_Elf64_Chdr
#define Elf32_Sym  system_Elf32_Sym
#define Elf64_Sym  system_Elf64_Sym
#define Elf32_Rela system_Elf32_Rela
#define Elf64_Rela system_Elf64_Rela
#define Elf64_Nhdr system_Elf64_Nhdr
#include <elf.h>

#define NAME_OF(constant)      #constant,
#define PLACE_OF(type, member) #type "." #member,

TEST(is_that_of_the_system)
{
    static const char *const constant_names[] = {CONSTANTS(NAME_OF)}, *const member_names[] = {
                                                                          MEMBERS(PLACE_OF)};
    static const uint64_t constants[] = {CONSTANTS(VALUE_OF)}, parts[] = PARTS;
    static const size_t members[] = {MEMBERS(SIZE_OF)};
    for (size_t i = 0; i < sizeof(constants) / sizeof(*constants); i++)
        if (our_constants[i] != constants[i])
            fail_msg("%s", constant_names[i]);
    for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
        if (our_members[i] != members[i])
            fail_msg("%s", member_names[i / 3]);
    assert_memory_equal(our_parts, parts, sizeof(parts));
    assert_string_equal(our_magic, ELFMAG);
#ifdef SELFMAG
    assert_int_equal(strlen(ELFMAG), SELFMAG);
#else
    fail_msg("the constants are still our own");
#endif
}

#else

TEST(is_that_of_the_system)
{
    (void)our_constants, (void)our_members, (void)our_parts, (void)our_magic;
    skip();
}

#endif

UNIT_MAIN(NULL, NULL)
