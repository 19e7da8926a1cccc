/* magic; see magic.h. */
#include "input/magic.h"

#include <elf.h>
#include <string.h>

bool magic_begins(const uint8_t *data, uint64_t size, unsigned at, const void *bytes, size_t count)
{
    return size >= at + count && memcmp(data + at, bytes, count) == 0;
}

/* A number of the file's byte order. */
static unsigned number_at(const uint8_t *data, bool big_endian, unsigned at, unsigned size)
{
    unsigned number = 0;
    for (unsigned i = 0; i < size; i++)
        number = number << 8 | data[at + (big_endian ? i : size - 1 - i)];
    return number;
}

bool magic_is_core(const uint8_t *data, uint64_t size)
{
    enum { ELF_TYPE = EI_NIDENT, MACHO_TYPE = 12, MACHO_CORE = 4 };
    if (magic_begins(data, size, 0, ELFMAG, SELFMAG))
        return size >= ELF_TYPE + 2 &&
               number_at(data, data[EI_DATA] == ELFDATA2MSB, ELF_TYPE, 2) == ET_CORE;
    return magic_begins(data, size, 1, "\xfa\xed\xfe", 3) && size >= MACHO_TYPE + 4 &&
           number_at(data, false, MACHO_TYPE, 4) == MACHO_CORE;
}

bool magic_is_executable(const uint8_t *data, uint64_t size)
{
    static const char *const magics[] = {ELFMAG, "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe",
                                         "\xca\xfe\xba\xbe", "MZ"};
    for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++)
        if (magic_begins(data, size, 0, magics[i], strlen(magics[i])))
            return !magic_is_core(data, size);
    return false;
}
