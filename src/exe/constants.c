/* constants; see constants.h. */
#include "exe/constants.h"

#include <elf.h>

#include "exe/instructions.h"

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
    for (uint64_t at = 0; at < size;) {
        struct instruction instruction;
        if (!instruction_read((struct g2h_bytes){code + at, size - at}, address + at,
                              &instruction)) {
            at++; /* behind an instruction that is not known, others come soon */
            continue;
        }
        if (instruction.kind == INSTRUCTION_ADDRESS && !vector_push(ret, instruction.target))
            return false;
        at += instruction.size > 0 ? instruction.size : 1;
    }
    return true;
}
