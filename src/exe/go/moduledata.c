/* moduledata; see moduledata.h. Layouts: runtime/symtab.go of each release. */
#include "exe/go/moduledata.h"

#include <string.h>

#include "base/elf_format.h"

/* A layout of the moduledata: the index of each field's word. The words from text to end are pairs
 * of a start and an end. */
struct moduledata_layout {
    uint8_t text, data, bss, end, gcdata, types, etypes, gofunc; /* gofunc 0: there is none */
    uint8_t since;                                               /* the first release: go1.N */
};

/* The newest first: where a newer layout fits, an older one may seem to fit as well, but not the
 * other way round. */
static const struct moduledata_layout layouts[] = {
    {22, 26, 28, 34, 35, 37, 39, 43, 27}, /* 1.27: typedesclen before etypes */
    {22, 26, 28, 34, 35, 37, 38, 40, 20}, /* 1.20 to 1.26: covctrs before end */
    {22, 26, 28, 32, 33, 35, 36, 38,
     16},                               /* 1.16 to 1.19: pclntab in five parts; gofunc from 1.18 */
    {12, 16, 18, 22, 23, 25, 26, 0, 7}, /* 1.7 to 1.15 */
};
enum { WORDS = 44 }; /* all fields that are read are among these first words */

/* Reads the moduledata in a layout. Returns false if its fields are not valid in it. */
static bool read_as(const struct moduledata_layout *layout, const uint64_t *words,
                    struct moduledata *ret)
{
    *ret = (struct moduledata){
        .minpc = words[layout->text - 2],
        .text = words[layout->text],
        .etext = words[layout->text + 1],
        .data = words[layout->data],
        .edata = words[layout->data + 1],
        .bss = words[layout->bss],
        .ebss = words[layout->bss + 1],
        .since = layout->since,
        .types = words[layout->types],
        .etypes = words[layout->etypes],
        .gofunc = layout->gofunc > 0 ? words[layout->gofunc] : 0,
    };
    const uint64_t minpc = ret->minpc, maxpc = words[layout->text - 1];
    for (size_t i = layout->text; i < layout->end; i += 2)
        if (words[i] > words[i + 1])
            return false;
    if (ret->text > minpc || minpc >= maxpc || ret->edata > ret->bss ||
        ret->ebss > words[layout->end] || ret->types == 0 || ret->types >= ret->etypes)
        return false;
    for (size_t i = layout->gcdata; i < layout->gcdata + 2u; i++) /* gcdata, gcbss: read-only */
        if (words[i] >= ret->data && words[i] < words[layout->end])
            return false;
    /* The word between types and etypes, if there is one, is a length, not an address. */
    return layout->etypes == layout->types + 1 ||
           words[layout->types + 1] < ret->etypes - ret->types;
}

/* Reads the moduledata at a position of the file, in the newest layout that its fields are valid
 * in. Returns false if there is none. */
static bool read_at(const struct image *image, const uint8_t *at, struct moduledata *ret)
{
    const size_t word = image->is_64 ? 8 : 4;
    uint64_t words[WORDS];
    for (size_t i = 0; i < WORDS; i++)
        words[i] = image_word(image, at + i * word);
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
        if (read_as(&layouts[i], words, ret)) {
            ret->at = at;
            return true;
        }
    return false;
}

/* The first field is the address of the pclntab: words with this address are candidates. */
bool moduledata_find(const struct image *image, const struct pclntab *pclntab,
                     struct moduledata *ret)
{
    const uint64_t table = pclntab->address;
    const size_t word = image->is_64 ? 8 : 4;
    uint8_t wanted[8];
    for (size_t i = 0; i < word; i++)
        wanted[i] = (uint8_t)(table >> 8 * (image->big_endian ? word - 1 - i : i));
    unsigned candidates = 64; /* other words may have the pclntab's address, but not this many */
    for (size_t i = 0; table != 0 && i < image->section_count; i++) {
        const struct image_section *section = &image->sections[i];
        if ((section->flags & SHF_ALLOC) == 0 || (section->flags & SHF_WRITE) == 0)
            continue;
        for (uint64_t at = 0; candidates > 0 && at + WORDS * word <= section->data.size;
             at += word) {
            if (memcmp(section->data.data + at, wanted, word) != 0)
                continue;
            if (read_at(image, section->data.data + at, ret))
                return true;
            candidates--;
        }
    }
    *ret = (struct moduledata){0};
    return false;
}
