/*
 * show_image: prints what src/exe reads from an executable, as text to compare with the output of
 * other tools.
 *
 *   show_image EXECUTABLE
 *
 * Its lines are "version V"; "section NAME FLAGS ADDRESS SIZE SIZE CRC", where the second size is
 * that without compression and CRC is the CRC-32 of the uncompressed contents; "function OFFSET
 * NAME" with offsets from the first function; and "variable ADDRESS SIZE NAME".
 */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <zlib.h>

#include "exe/exe.h"
#include "exe/go/pclntab.h"

static int fail(struct g2h_error *error)
{
    fprintf(stderr, "%s\n", error->message);
    g2h_error_destroy(error);
    return 1;
}

int main(int argc, char **argv)
{
    struct g2h_exe *exe;
    struct pclntab pclntab;
    if (argc < 2)
        return 2;
    struct g2h_error *error = g2h_exe_open(argv[1], &exe);
    if (error)
        return fail(error);
    const struct g2h_input *input = g2h_exe_input(exe, 0);
    struct image own; /* the same file, but with its sections uncompressed */
    error = image_init(&own, argv[1], (struct g2h_bytes){input->data, input->size});
    if (error)
        return fail(error);
    own.stored = input->stored;
    const struct image *image = exe_image(exe), *debug = exe_dwarf_image(exe);
    struct g2h_bytes version = exe_version(exe);
    printf("version %.*s\n", (int)version.size, (const char *)version.data);
    for (size_t i = 0; i < image->section_count; i++) {
        const struct image_section *section = &own.sections[i];
        struct g2h_bytes contents;
        error = image_section_contents(&own, section, &contents);
        if (error)
            return fail(error);
        printf("section %.*s %s%s%s %" PRIx64 " %" PRIu64 " %" PRIu64 " %08lx\n",
               (int)section->name.size, (const char *)section->name.data,
               (section->flags & SHF_ALLOC) != 0 ? "a" : "-",
               (section->flags & SHF_WRITE) != 0 ? "w" : "-",
               (section->flags & SHF_EXECINSTR) != 0 ? "x" : "-", section->address, section->size,
               contents.size, crc32_z(0, contents.data, contents.size));
    }
    error = pclntab_init(&pclntab, image);
    if (error)
        return fail(error);
    for (uint64_t i = 0; i < pclntab.count; i++) {
        struct g2h_bytes name = pclntab_name(&pclntab, i);
        printf("function %" PRIx64 " %.*s\n", pclntab_entry(&pclntab, i), (int)name.size,
               (const char *)name.data);
    }
    const struct image *symbols = image_symbol_count(image) > 0 || !debug ? image : debug;
    for (size_t i = 0; i < image_symbol_count(symbols); i++) {
        struct image_symbol symbol;
        if (image_symbol(symbols, i, &symbol) && symbol.type == STT_OBJECT && symbol.size > 0 &&
            (symbols->sections[symbol.section].flags & SHF_WRITE) != 0)
            printf("variable %" PRIx64 " %" PRIu64 " %.*s\n", symbol.address, symbol.size,
                   (int)symbol.name.size, (const char *)symbol.name.data);
    }
    image_deinit(&own);
    g2h_exe_close(exe);
    return 0;
}
