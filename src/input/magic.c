/*
 * magic: recognizes core files and executables by their first bytes; see magic.h. ELF has both,
 * which its header tells apart; Mach-O begins with one of several numbers, and PE with "MZ".
 * magic_core_size() says how large a core is that is still being copied.
 */
#include "input/magic.h"

#include <string.h>

#include "base/contract.h"
#include "base/elf_format.h"

/* Returns whether data, of size bytes, has the given count bytes at offset at. */
bool magic_begins(const uint8_t *data, uint64_t size, unsigned at, const void *bytes, size_t count)
{
    return size >= at + count && memcmp(data + at, bytes, count) == 0;
}

/* Reads a number of size bytes at an offset in the file's byte order, which is little endian unless
 * big_endian. */
static unsigned magic_number_at(const uint8_t *data, bool big_endian, unsigned at, unsigned size)
{
    unsigned number = 0;
    for (unsigned i = 0; i < size; i++)
        number = number << 8 | data[at + (big_endian ? i : size - 1 - i)];
    return number;
}

/* Returns whether a file is a core file, of ELF or Mach-O: by e_type after e_ident, or by filetype
 * in the mach_header, MH_CORE. The four magic numbers of Mach-O in little endian end with the same
 * three bytes; the first one tells 32 and 64 bits apart. */
bool magic_is_core(const uint8_t *data, uint64_t size)
{
    enum { ELF_TYPE = EI_NIDENT, MACHO_TYPE = 12, MACHO_CORE = 4 };
    if (magic_begins(data, size, 0, ELFMAG, SELFMAG))
        return size >= ELF_TYPE + 2 &&
               magic_number_at(data, data[EI_DATA] == ELFDATA2MSB, ELF_TYPE, 2) == ET_CORE;
    return magic_begins(data, size, 1, "\xfa\xed\xfe", 3) && size >= MACHO_TYPE + 4 &&
           magic_number_at(data, false, MACHO_TYPE, 4) == MACHO_CORE;
}

/* Returns whether data begins like an executable: ELF or Mach-O (of 64 and 32 bits, or for several
 * architectures) but not a core file, or PE. */
bool magic_is_executable(const uint8_t *data, uint64_t size)
{
    static const char *const magics[] = {ELFMAG, "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe",
                                         "\xca\xfe\xba\xbe", "MZ"};
    for (size_t i = 0; i < COUNT_OF(magics); i++)
        if (magic_begins(data, size, 0, magics[i], strlen(magics[i])))
            return !magic_is_core(data, size);
    return false;
}

/* Returns the little-endian 8-byte number at data. */
static uint64_t magic_word_at(const uint8_t *data)
{
    return magic_number_at(data, false, 0, 4) | (uint64_t)magic_number_at(data, false, 4, 4) << 32;
}

/* Returns how many bytes a core file of ELF has according to those program headers that are in
 * data; 0 if it is not one, or not of 64 bits and little endian. */
uint64_t magic_core_size(const uint8_t *data, uint64_t size)
{
    enum {
        FIRST_AT = offsetof(Elf64_Ehdr, e_phoff),
        COUNT_AT = offsetof(Elf64_Ehdr, e_phnum),
        OFFSET_AT = offsetof(Elf64_Phdr, p_offset),
        SIZE_AT = offsetof(Elf64_Phdr, p_filesz),
        HEADER = sizeof(Elf64_Phdr),
    };
    const uint64_t longest = UINT64_C(1) << 46; /* so that no sum overflows */
    uint64_t end = 0;
    if (!magic_is_core(data, size) || data[EI_CLASS] != ELFCLASS64 ||
        data[EI_DATA] != ELFDATA2LSB || size < sizeof(Elf64_Ehdr))
        return 0;
    const uint64_t first = magic_word_at(data + FIRST_AT);
    const uint64_t count = magic_number_at(data, false, COUNT_AT, 2);
    const uint64_t there = first <= size ? (size - first) / HEADER : 0; /* headers in data */
    for (uint64_t i = 0; i < MIN(count, there); i++) {
        const uint8_t *header = data + first + i * HEADER;
        const uint64_t offset = magic_word_at(header + OFFSET_AT);
        const uint64_t bytes = magic_word_at(header + SIZE_AT);
        if (offset < longest && bytes < longest && offset + bytes > end)
            end = offset + bytes;
    }
    return end;
}
