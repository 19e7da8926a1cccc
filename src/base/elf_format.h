/*
 * elf_format: the ELF format, which not every system has as <elf.h>. Constants, structures and
 * their members have the names and the values of the System V ABI
 * (https://www.sco.com/developers/gabi/), of its supplements for each processor, and of Linux's
 * core files. Unused definitions are omitted.
 */
#ifndef BASE_ELF_FORMAT_H
#define BASE_ELF_FORMAT_H

#include <stdint.h>

/* ---- the header ---- */

#define ELFMAG "\177ELF" /* the start of e_ident */
enum { SELFMAG = 4 };    /* the size of ELFMAG */

/* Indices of e_ident, its size, and the values there. */
enum { EI_CLASS = 4, EI_DATA = 5, EI_VERSION = 6, EI_NIDENT = 16 };
enum { ELFCLASS32 = 1, ELFCLASS64 = 2 };
enum { ELFDATA2LSB = 1, ELFDATA2MSB = 2 };
enum { EV_CURRENT = 1 };

/* e_type */
enum { ET_REL = 1, ET_EXEC = 2, ET_DYN = 3, ET_CORE = 4 };

/* e_machine */
enum {
    EM_386 = 3,
    EM_PPC = 20,
    EM_PPC64 = 21,
    EM_S390 = 22,
    EM_ARM = 40,
    EM_X86_64 = 62,
    EM_AARCH64 = 183,
    EM_RISCV = 243,
    EM_LOONGARCH = 258,
};

typedef struct {
    unsigned char e_ident[EI_NIDENT];
    uint16_t e_type;
    uint16_t e_machine;
    uint32_t e_version;
    uint32_t e_entry;
    uint32_t e_phoff;
    uint32_t e_shoff;
    uint32_t e_flags;
    uint16_t e_ehsize;
    uint16_t e_phentsize;
    uint16_t e_phnum;
    uint16_t e_shentsize;
    uint16_t e_shnum;
    uint16_t e_shstrndx;
} Elf32_Ehdr;

typedef struct {
    unsigned char e_ident[EI_NIDENT];
    uint16_t e_type;
    uint16_t e_machine;
    uint32_t e_version;
    uint64_t e_entry;
    uint64_t e_phoff;
    uint64_t e_shoff;
    uint32_t e_flags;
    uint16_t e_ehsize;
    uint16_t e_phentsize;
    uint16_t e_phnum;
    uint16_t e_shentsize;
    uint16_t e_shnum;
    uint16_t e_shstrndx;
} Elf64_Ehdr;

/* ---- segments ---- */

/* p_type and p_flags */
enum { PT_LOAD = 1, PT_DYNAMIC = 2, PT_NOTE = 4 };
enum { PF_X = 1, PF_W = 2, PF_R = 4 };

typedef struct {
    uint32_t p_type;
    uint32_t p_offset;
    uint32_t p_vaddr;
    uint32_t p_paddr;
    uint32_t p_filesz;
    uint32_t p_memsz;
    uint32_t p_flags;
    uint32_t p_align;
} Elf32_Phdr;

typedef struct {
    uint32_t p_type;
    uint32_t p_flags;
    uint64_t p_offset;
    uint64_t p_vaddr;
    uint64_t p_paddr;
    uint64_t p_filesz;
    uint64_t p_memsz;
    uint64_t p_align;
} Elf64_Phdr;

/* Tags of the entries of PT_DYNAMIC. */
enum { DT_RELA = 7, DT_RELASZ = 8 };

/* ---- sections ---- */

/* sh_type and sh_flags */
enum {
    SHT_NULL = 0,
    SHT_PROGBITS = 1,
    SHT_SYMTAB = 2,
    SHT_STRTAB = 3,
    SHT_RELA = 4,
    SHT_NOTE = 7,
    SHT_NOBITS = 8,
};
enum { SHF_WRITE = 1, SHF_ALLOC = 2, SHF_EXECINSTR = 4, SHF_COMPRESSED = 0x800 };

/* The section index of a symbol that another file defines. */
enum { SHN_UNDEF = 0 };

typedef struct {
    uint32_t sh_name;
    uint32_t sh_type;
    uint32_t sh_flags;
    uint32_t sh_addr;
    uint32_t sh_offset;
    uint32_t sh_size;
    uint32_t sh_link;
    uint32_t sh_info;
    uint32_t sh_addralign;
    uint32_t sh_entsize;
} Elf32_Shdr;

typedef struct {
    uint32_t sh_name;
    uint32_t sh_type;
    uint64_t sh_flags;
    uint64_t sh_addr;
    uint64_t sh_offset;
    uint64_t sh_size;
    uint32_t sh_link;
    uint32_t sh_info;
    uint64_t sh_addralign;
    uint64_t sh_entsize;
} Elf64_Shdr;

/* The header of a compressed section, and ch_type. */
enum { ELFCOMPRESS_ZLIB = 1 };

typedef struct {
    uint32_t ch_type;
    uint32_t ch_size;
    uint32_t ch_addralign;
} Elf32_Chdr;

typedef struct {
    uint32_t ch_type;
    uint32_t ch_reserved;
    uint64_t ch_size;
    uint64_t ch_addralign;
} Elf64_Chdr;

/* ---- symbols ---- */

/* The type, a part of st_info. */
enum { STT_OBJECT = 1, STT_FUNC = 2 };
#define ELF32_ST_TYPE(info) ((info)&0xf)
#define ELF64_ST_TYPE(info) ((info)&0xf)

typedef struct {
    uint32_t st_name;
    uint32_t st_value;
    uint32_t st_size;
    unsigned char st_info;
    unsigned char st_other;
    uint16_t st_shndx;
} Elf32_Sym;

typedef struct {
    uint32_t st_name;
    unsigned char st_info;
    unsigned char st_other;
    uint16_t st_shndx;
    uint64_t st_value;
    uint64_t st_size;
} Elf64_Sym;

/* ---- relocations ---- */

typedef struct {
    uint32_t r_offset;
    uint32_t r_info;
    int32_t r_addend;
} Elf32_Rela;

typedef struct {
    uint64_t r_offset;
    uint64_t r_info;
    int64_t r_addend;
} Elf64_Rela;

/* The parts of r_info. */
#define ELF32_R_SYM(info)  ((info) >> 8)
#define ELF32_R_TYPE(info) ((info)&0xff)
#define ELF64_R_SYM(info)  ((info) >> 32)
#define ELF64_R_TYPE(info) ((info)&0xffffffff)

/* Types that write an address of the file itself, and of a symbol, into a word. */
enum {
    R_386_RELATIVE = 8,
    R_386_32 = 1,
    R_X86_64_RELATIVE = 8,
    R_X86_64_64 = 1,
    R_ARM_RELATIVE = 23,
    R_ARM_ABS32 = 2,
    R_AARCH64_RELATIVE = 1027,
    R_AARCH64_ABS64 = 257,
    R_PPC_RELATIVE = 22,
    R_PPC_ADDR32 = 1,
    R_PPC64_RELATIVE = 22,
    R_PPC64_ADDR64 = 38,
    R_390_RELATIVE = 12,
    R_390_64 = 22,
    R_RISCV_RELATIVE = 3,
    R_RISCV_64 = 2,
    R_LARCH_RELATIVE = 3,
    R_LARCH_64 = 2,
};

/* ---- notes ---- */

/* n_type: of executables, and of core files, which Linux writes. */
enum { NT_GNU_BUILD_ID = 3 };
enum { NT_PRSTATUS = 1, NT_AUXV = 6, NT_FILE = 0x46494c45 };

typedef struct {
    uint32_t n_namesz;
    uint32_t n_descsz;
    uint32_t n_type;
} Elf64_Nhdr;

/* Keys of the auxiliary vector, which a process gets from the kernel when it starts. */
enum { AT_NULL = 0, AT_PAGESZ = 6, AT_ENTRY = 9, AT_RANDOM = 25 };

#endif
