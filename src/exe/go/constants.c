/* constants; see constants.h. */
#include "exe/go/constants.h"

#include <string.h>

#include "base/elf_format.h"

/* The code of a function. */
struct constants_code_bytes {
    const struct image *image;
    const uint8_t *data;
    uint64_t size, address;
};

/* Finds the instructions LEA register, [RIP + distance], by which Go's code loads all addresses. It
 * is not known where instructions begin, so some bytes may belong to another instruction; but then
 * they rarely lead to the start of a function or a type. */
static bool find_addresses(const struct constants_code_bytes *code, address_vector *ret)
{
    enum { SIZE = 7, LEA = 0x8d, REX_W = 0x48, REX_R = 0x04, MODRM = 0xc7, RIP = 0x05 };
    const uint8_t *at = code->data + 1, *const end = code->data + code->size;
    while (end - at >= SIZE - 1 &&
           (at = memchr(at, LEA, (size_t)(end - at - (SIZE - 2)))) != NULL) {
        if ((at[-1] & ~REX_R) == REX_W && (at[1] & MODRM) == RIP) {
            const uint64_t behind = code->address + (uint64_t)(at - 1 - code->data) + SIZE,
                           distance = (uint64_t)(int64_t)(int32_t)image_u32(code->image, at + 2);
            if (!vector_push(ret, behind + distance))
                return false;
        }
        at++;
    }
    return true;
}

bool constants_find(const struct pclntab *pclntab, const struct moduledata *moduledata,
                    uint64_t function, uint64_t *left, address_vector *ret)
{
    const struct image *image = pclntab->image;
    const uint64_t start = pclntab_entry(pclntab, function),
                   size = pclntab_entry(pclntab, function + 1) - start;
    if (image->machine != EM_X86_64 || moduledata->minpc == 0 || size > *left)
        return true;
    const uint64_t address = moduledata->minpc + start;
    const uint8_t *code = image_at(image, address, size);
    if (!code)
        return true;
    *left -= size;
    return find_addresses(&(struct constants_code_bytes){image, code, size, address}, ret);
}
