/*
 * mutate_exe: damages an executable in COUNT ways and asks each damaged one for all that a
 * conversion asks. A way is a number, so a failure can be repeated. Whatever an executable says,
 * the reader must not read beyond it; sanitizers check this. The dump need not be that of the
 * executable.
 *
 *   mutate_exe EXECUTABLE DUMP COUNT [FIRST]
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <go2heapsnapshot/go2heapsnapshot.h>

#include "../fuzz/dice.h"
#include "../hang.h"
#include "exe/exe.h"
#include "exe/go/pclntab.h"

/* Returns the offset of a byte in the header, in the section headers and names at the end, or
 * anywhere in the file. */
static uint64_t place(uint64_t size)
{
    switch (below(4)) {
    case 0:
        return below(64);
    case 1:
        return size - 1 - below(size < 8192 ? size : 8192);
    default:
        return below(size);
    }
}

/* Returns where the fields are that say where everything is: ELF's section headers, or the start
 * of a Mach-O or PE file. Sets *ret_size to their size, at most 4096 bytes. */
static uint64_t find_headers(const uint8_t *data, uint64_t size, uint64_t *ret_size)
{
    uint64_t start = 0, offset = 0;
    if (memcmp(data + 1, "ELF", 3) == 0) {
        const bool wide = data[4] == 2;
        memcpy(&offset, data + (wide ? 40 : 32), wide ? 8 : 4);
        start = offset < size ? offset : 0;
    }
    *ret_size = size - start < 4096 ? size - start : 4096;
    return start;
}

/* Gives fields of the headers the values of other fields, or extreme values: sections then
 * overlap, are elsewhere, or have the size of another section. */
static void damage_headers(uint8_t *data, uint64_t size)
{
    uint64_t headers_size, start = find_headers(data, size, &headers_size);
    for (uint64_t i = 0, count = 1 + below(8); i < count && headers_size >= 16; i++) {
        const uint64_t extremes[] = {0, size, size - 1, UINT64_MAX, UINT32_MAX, INT64_MAX};
        uint8_t *to = data + start + below(headers_size / 4 - 1) * 4,
                *from = data + start + below(headers_size / 4 - 1) * 4;
        const size_t width = below(2) ? 4 : 8;
        if (below(4))
            memmove(to, from, width);
        else
            memcpy(to, &extremes[below(6)], width);
    }
}

/* Damages the headers, or bytes of the whole file. Half of these bytes are near the table of
 * functions, which begins with a magic number. Returns the file's new size. */
static uint64_t damage(uint8_t *data, uint64_t size)
{
    static const uint8_t magics[][6] = {{0xf1, 0xff, 0xff, 0xff, 0, 0},
                                        {0xf0, 0xff, 0xff, 0xff, 0, 0}};
    uint8_t *table = NULL;
    if (below(3) == 0) {
        damage_headers(data, size);
        return size;
    }
    for (size_t i = 0; i < 2 && !table; i++)
        table = memmem(data, size, magics[i], sizeof(magics[i]));
    for (uint64_t i = 0, count = 1 + below(6); i < count; i++) {
        uint64_t at = table && below(2) ? (uint64_t)(table - data) + below(below(2) ? 128 : 65536)
                                        : place(size);
        if (at < size)
            data[at] = below(3) ? (uint8_t)below(256) : 0xff;
    }
    return below(8) ? size : below(size);
}

/* Asks an image for all that the readers of types ask, whether or not it is the dump's. */
static void ask_image(struct image *image)
{
    struct pclntab pclntab;
    struct g2h_bytes bytes;
    unsigned sum = 0;
    for (size_t i = 0; i < image->section_count; i++) {
        const struct image_section *section = &image->sections[i];
        g2h_error_destroy(image_section_contents(image, section, &bytes));
        for (unsigned j = 0; j < 8; j++) {
            const uint64_t size = below(32),
                           address = section->address + below(section->size / 2 + 9) * 2 - 8;
            const uint8_t *at = image_at(image, address, size);
            for (uint64_t k = 0; at && k < size; k++)
                sum += at[k];
        }
    }
    if (sum == 1) /* keeps the compiler from leaving out the reads */
        fputc('.', stderr);
    struct g2h_error *error = pclntab_init(&pclntab, image);
    for (unsigned i = 0; !error && i < 100; i++) {
        const uint64_t offset = below(pclntab_entry(&pclntab, pclntab.count) | 1);
        struct g2h_bytes file;
        uint64_t index, left = below(8) ? UINT64_MAX : below(64);
        uint32_t line;
        if (pclntab_find(&pclntab, offset, &index) && pclntab_name(&pclntab, index).size > 0)
            pclntab_line(&pclntab, index, offset, &left, &file, &line);
    }
    g2h_error_destroy(error);
}

static void ask(const struct g2h_exe *exe, const struct g2h_heap *heap)
{
    for (size_t i = 0; i < g2h_heap_record_count(heap, G2H_RECORD_GOROUTINE); i++) {
        struct g2h_record record;
        struct g2h_line line;
        g2h_heap_record(heap, G2H_RECORD_GOROUTINE, i, &record);
        g2h_exe_line(exe, record.goroutine.creation_pc, &line);
    }
    struct g2h_record bss; /* it has a list of fields, so reading it takes long */
    g2h_heap_record(heap, G2H_RECORD_BSS, 0, &bss);
    for (uint64_t i = 0; i < 2000; i++) {
        struct g2h_line line;
        struct g2h_bytes name;
        struct g2h_record record;
        uint64_t offset;
        g2h_heap_record(heap, G2H_RECORD_STACKFRAME,
                        i % g2h_heap_record_count(heap, G2H_RECORD_STACKFRAME), &record);
        g2h_exe_line(exe, record.stackframe.entry + below(1 << 20), &line);
        g2h_exe_variable(exe, bss.segment.address + below(bss.segment.contents.size), &name,
                         &offset);
    }
}

int main(int argc, char **argv)
{
    struct g2h_input *input, *original;
    struct g2h_heap *heap;
    if (argc < 4 || g2h_input_open(argv[1], NULL, &original))
        return 2;
    struct g2h_error *error = g2h_input_open(argv[2], NULL, &input);
    if (!error)
        error = g2h_heap_load(input, NULL, &heap);
    if (error)
        return 2;
    uint8_t *data = malloc(original->size);
    char path[64];
    int file = memfd_create("exe", MFD_CLOEXEC), opened = 0, matched = 0;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    unsigned long first = argc > 4 ? strtoul(argv[4], NULL, 10) : 1,
                  count = strtoul(argv[3], NULL, 10);
    for (unsigned long way = first; way < first + count; way++) {
        struct g2h_exe *exe = NULL;
        state = way;
        fprintf(stderr, "\rway %lu", way);
        memcpy(data, original->data, original->size);
        uint64_t size = damage(data, original->size);
        if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size)
            return 2;
        hang_limit(60);
        error = g2h_exe_open(path, &exe);
        opened += !error;
        if (!error)
            error = g2h_exe_match(exe, heap);
        matched += !error;
        if (!error) /* without a match, it answers nothing */
            ask(exe, heap);
        g2h_error_destroy(error);
        struct image image;
        error = image_init(&image, path, (struct g2h_bytes){data, size});
        if (!error)
            ask_image(&image);
        g2h_error_destroy(error);
        image_deinit(&image);
        g2h_exe_close(exe);
    }
    printf("ok - %lu damaged executables: %d open, %d match the dump, no crash, no hang\n", count,
           opened, matched);
    free(data);
    g2h_heap_destroy(heap);
    g2h_input_close(input);
    g2h_input_close(original);
    return 0;
}
