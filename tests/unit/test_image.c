/* Covers exe/image on hand-made images: sections, addresses, relocations, compression, the debug
 * sections as ELF, separate debug files, versions; images that must be refused, and bytes that must
 * be left alone. */
#include "unit.h"

#include <elf.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "exe/image/debugfile.h"
#include "exe/exe.h"
#include "exe/image/image.h"

/* ---- making files ---- */

struct file {
    uint8_t *data;
    size_t size, capacity;
    bool wide, big_endian;
};

static void put(struct file *file, uint64_t value, size_t size)
{
    while (file->size + size > file->capacity) {
        file->capacity = 2 * file->capacity + 64;
        file->data = realloc(file->data, file->capacity);
        assert_non_null(file->data);
    }
    for (size_t i = 0; i < size; i++) {
        const size_t place = file->big_endian ? size - 1 - i : i;
        file->data[file->size++] = place < 8 ? (uint8_t)(value >> 8 * place) : 0;
    }
}

static void put_word(struct file *file, uint64_t value)
{
    put(file, value, file->wide ? 8 : 4);
}

static void put_bytes(struct file *file, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        put(file, ((const uint8_t *)bytes)[i], 1);
}

static void put_zeros(struct file *file, size_t to)
{
    while (file->size < to)
        put(file, 0, 1);
}

/* Appends a text in a field of a fixed size. */
static void put_text(struct file *file, const char *text, size_t size)
{
    const size_t end = file->size + size;
    put_bytes(file, text, strlen(text));
    put_zeros(file, end);
}

struct section {
    const char *name;
    uint32_t type;
    uint64_t flags, address;
    const void *data;
    size_t size;
    size_t given_size, given_offset; /* if not 0, the header gives these */
};

static void put_elf_section(struct file *file, uint32_t name, const struct section *section,
                            size_t offset)
{
    put(file, name, 4);
    put(file, section->type, 4);
    put_word(file, section->flags);
    put_word(file, section->address);
    put_word(file, section->given_offset ? section->given_offset : offset);
    put_word(file, section->given_size ? section->given_size : section->size);
    put(file, 0, 4);
    put(file, 0, 4);
    put_word(file, 1);
    put_word(file, 0);
}

/* Makes an ELF file of these sections, with .shstrtab behind them. */
static struct file make_elf(uint16_t machine, bool wide, bool big_endian,
                            const struct section *sections, size_t count)
{
    struct file file = {.wide = wide, .big_endian = big_endian}, names = {0};
    const size_t header = wide ? 64 : 52, entry = wide ? 64 : 40, all = count + 2;
    size_t offset = header + all * entry;
    const uint8_t ident[] = {0x7f,
                             'E',
                             'L',
                             'F',
                             wide ? ELFCLASS64 : ELFCLASS32,
                             big_endian ? ELFDATA2MSB : ELFDATA2LSB,
                             1,
                             0,
                             0,
                             0,
                             0,
                             0,
                             0,
                             0,
                             0,
                             0};
    put_bytes(&file, ident, sizeof(ident));
    put(&file, ET_DYN, 2);
    put(&file, machine, 2);
    put(&file, 1, 4);
    put_word(&file, 0);
    put_word(&file, 0);
    put_word(&file, header);
    put(&file, 0, 4);
    put(&file, header, 2);
    put(&file, 0, 4);
    put(&file, entry, 2);
    put(&file, all, 2);
    put(&file, all - 1, 2);
    put_elf_section(&file, 0, &(struct section){.type = SHT_NULL}, 0);
    put(&names, 0, 1);
    for (size_t i = 0; i < count; i++) {
        put_elf_section(&file, (uint32_t)names.size, &sections[i], offset);
        offset += sections[i].type == SHT_NOBITS ? 0 : sections[i].size;
        put_bytes(&names, sections[i].name, strlen(sections[i].name) + 1);
    }
    put_elf_section(&file, 0, &(struct section){.type = SHT_STRTAB, .size = names.size}, offset);
    for (size_t i = 0; i < count; i++)
        if (sections[i].type != SHT_NOBITS)
            put_bytes(&file, sections[i].data, sections[i].size);
    put_bytes(&file, names.data, names.size);
    free(names.data);
    return file;
}

static struct g2h_error *open_image(struct image *image, const struct file *file)
{
    return image_init(image, "a file", (struct g2h_bytes){file->data, file->size});
}

/* Cut anywhere, a file is refused or has less in it. Frees the file. */
static void cut_anywhere(const struct file *file)
{
    for (size_t size = 0; size < file->size; size++) {
        struct image image;
        uint8_t *part = malloc(size + 1);
        assert_non_null(part);
        memcpy(part, file->data, size);
        g2h_error_destroy(image_init(&image, "a part", (struct g2h_bytes){part, size}));
        image_deinit(&image);
        free(part);
    }
    free(file->data);
}

#define AW           (SHF_ALLOC | SHF_WRITE)
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* ---- addresses ---- */

TEST(addresses)
{
    uint8_t bytes[64];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)i;
    const struct section sections[] = {
        {".data", SHT_PROGBITS, AW, 0x2000, bytes, 32, 0, 0},
        {".bss", SHT_NOBITS, AW, 0x2020, NULL, 4096, 0, 0},
        {".text", SHT_PROGBITS, SHF_ALLOC, 0x1000, bytes + 32, 32, 0, 0},
        {".comment", SHT_PROGBITS, 0, 0x3000, bytes, 8, 0, 0}, /* not loaded into memory */
        {".last", SHT_PROGBITS, SHF_ALLOC, UINT64_MAX - 7, bytes, 8, 0, 0},
        {".wraps", SHT_PROGBITS, SHF_ALLOC, UINT64_MAX - 3, bytes, 8, 0, 0},
        {".outside", SHT_PROGBITS, SHF_ALLOC, 0x5000, bytes, 8, 1 << 20, 0},
    };
    struct file file = make_elf(EM_X86_64, true, false, sections, COUNT(sections));
    struct image image;
    assert_no_error(open_image(&image, &file));
    assert_int_equal(*image_at(&image, 0x2000, 32), 0);
    assert_int_equal(*image_at(&image, 0x201f, 1), 31);
    assert_int_equal(*image_at(&image, 0x1001, 31), 33);
    assert_int_equal(*image_at(&image, UINT64_MAX - 7, 8), 0);
    assert_null(image_at(&image, 0x2000, 33));
    assert_null(image_at(&image, 0x201f, 2));
    assert_null(image_at(&image, 0x2020, 1));
    assert_null(image_at(&image, 0x2001, UINT64_MAX));
    assert_null(image_at(&image, 0xfff, 2));
    assert_null(image_at(&image, 0, 1));
    assert_null(image_at(&image, 0x3000, 1));
    assert_null(image_at(&image, 0x5000, 1));
    assert_null(image_at(&image, 4, 1));
    image_deinit(&image);
    free(file.data);
}

/* Of sections that overlap, the later one has the addresses; those before them stay the first
 * one's. */
TEST(overlapping_sections)
{
    const struct section sections[] = {
        {".one", SHT_PROGBITS, SHF_ALLOC, 0x1000, "aaaaaaaa", 8, 0, 0},
        {".two", SHT_PROGBITS, SHF_ALLOC, 0x1004, "bbbb", 4, 0, 0},
        {".same", SHT_PROGBITS, SHF_ALLOC, 0x1004, "cccc", 4, 0, 0},
    };
    struct file file = make_elf(EM_X86_64, true, false, sections, COUNT(sections));
    struct image image;
    assert_no_error(open_image(&image, &file));
    assert_int_equal(*image_at(&image, 0x1003, 1), 'a');
    assert_int_equal(*image_at(&image, 0x1004, 4), 'c');
    assert_null(image_at(&image, 0x1003, 2));
    image_deinit(&image);
    free(file.data);

    /* Each section is the whole file: reading all of them would take long. */
    struct section whole[8];
    for (size_t i = 0; i < COUNT(whole); i++)
        whole[i] = (struct section){".data", SHT_PROGBITS, AW, 0x1000 + 0x1000 * i, "", 0, 600, 1};
    file = make_elf(EM_X86_64, true, false, whole, COUNT(whole));
    assert_error(open_image(&image, &file), G2H_ERROR_NOT_EXE, "larger than the file");
    image_deinit(&image);
    free(file.data);
}

/* As many sections as there can be: a million lookups must not take long. */
TEST(many_sections)
{
    const size_t count = 65533;
    struct section *sections = calloc(count, sizeof(*sections));
    assert_non_null(sections);
    for (size_t i = 0; i < count; i++)
        sections[i] = (struct section){
            "s", SHT_PROGBITS, SHF_ALLOC, 0x100000 + 16 * ((i * 7919) % count), "01234567", 8, 0,
            0};
    struct file file = make_elf(EM_X86_64, true, false, sections, count);
    struct image image;
    assert_no_error(open_image(&image, &file));
    const clock_t start = clock();
    for (uint64_t i = 0; i < 1000000; i++) {
        const uint8_t *at = image_at(&image, 0x100000 + 16 * (i % count) + i % 8, 1);
        assert_true(at && *at == '0' + i % 8);
        assert_null(image_at(&image, 0x100000 + 16 * (i % count) + 8, 1));
    }
    assert_true(clock() - start < 20 * CLOCKS_PER_SEC);
    image_deinit(&image);
    free(file.data);
    free(sections);
}

/* ---- relocations ---- */

static void check_relocations(uint16_t machine, uint32_t type, bool wide, bool big_endian)
{
    const uint64_t word = wide ? 8 : 4;
    struct file rela = {.wide = wide, .big_endian = big_endian};
    const struct {
        uint64_t address, type, addend;
    } entries[] = {
        {0x2008, type, 0x1234},         {0x2010, type + 1, 0x7777}, /* another type */
        {0x20fc, type, 0x7777},                                     /* ends behind the section */
        {0x9000, type, 0x7777},                                     /* in no section */
        {UINT64_MAX - 2, type, 0x7777}, {0x2020, type, wide ? 0xfedcba9876543210 : 0x76543210},
    };
    for (size_t i = 0; i < COUNT(entries); i++) {
        put_word(&rela, entries[i].address);
        put_word(&rela, entries[i].type);
        put_word(&rela, entries[i].addend);
    }
    put(&rela, 0xff, 1); /* an incomplete entry */
    uint8_t data[0x100 - 2] = {0};
    const struct section sections[] = {
        {".rela.dyn", SHT_RELA, SHF_ALLOC, 0x1000, rela.data, rela.size, 0, 0},
        {".data", SHT_PROGBITS, AW, 0x2000, data, sizeof(data), 0, 0},
        {".rodata", SHT_PROGBITS, SHF_ALLOC, 0x3000, data, sizeof(data), 0, 0},
    };
    struct file file = make_elf(machine, wide, big_endian, sections, COUNT(sections));
    uint8_t *before = malloc(file.size);
    assert_non_null(before);
    memcpy(before, file.data, file.size);
    struct image image;
    assert_no_error(open_image(&image, &file));
    for (uint64_t at = 0x2000; at + word <= 0x2000 + sizeof(data); at += word) {
        const uint64_t expected = at == 0x2008 ? 0x1234 : at == 0x2020 ? entries[5].addend : 0;
        assert_true(image_word(&image, image_at(&image, at, word)) == expected);
    }
    assert_ptr_equal(image_at(&image, 0x2000, 1), image_section(&image, ".data")->data.data);
    assert_memory_equal(before, file.data, file.size);
    /* a section without relocations is not copied */
    assert_true(image_at(&image, 0x3000, 1) > file.data &&
                image_at(&image, 0x3000, 1) < file.data + file.size);
    image_deinit(&image);
    free(before);
    free(file.data);
    free(rela.data);
}

TEST(relocations)
{
    check_relocations(EM_X86_64, 8, true, false);
    check_relocations(EM_AARCH64, 1027, true, false);
    check_relocations(EM_RISCV, 3, true, false);
    check_relocations(258, 3, true, false);
    check_relocations(EM_PPC64, 22, true, false);
    check_relocations(EM_PPC64, 22, true, true);
    check_relocations(EM_S390, 12, true, true);
    check_relocations(EM_PPC, 22, false, true);
}

/* A relocation section that relocates itself. */
TEST(relocations_of_themselves)
{
    struct file rela = {.wide = true};
    for (uint64_t i = 0; i < 64; i++) {
        put_word(&rela, 0x1000 + 24 * ((i * 5) % 64) + 8 * (i % 3));
        put_word(&rela, 8);
        put_word(&rela, 0x1000 + i);
    }
    const struct section sections[] = {
        {".rela", SHT_RELA, SHF_ALLOC, 0x1000, rela.data, rela.size, 0, 0}};
    struct file file = make_elf(EM_X86_64, true, false, sections, 1);
    struct image image;
    assert_no_error(open_image(&image, &file));
    image_deinit(&image);
    free(file.data);
    free(rela.data);
}

/* ---- compression ---- */

static const char plain[] = "a plain text, a plain text, a plain text, a plain text, a plain text";

/* Makes a section with the compressed text; claimed is the size that its header gives. */
static struct file compressed(bool gnu, bool wide, bool big_endian, uint64_t claimed)
{
    struct file file = {.wide = wide, .big_endian = big_endian};
    uint8_t packed[256];
    uLongf size = sizeof(packed);
    assert_int_equal(compress(packed, &size, (const Bytef *)plain, sizeof(plain)), Z_OK);
    if (gnu) {
        put_bytes(&file, "ZLIB", 4);
        file.big_endian = true;
        put(&file, claimed, 8);
    } else {
        put(&file, ELFCOMPRESS_ZLIB, 4);
        if (wide)
            put(&file, 0, 4);
        put_word(&file, claimed);
        put_word(&file, 1);
    }
    put_bytes(&file, packed, size);
    return file;
}

static void check_compression(bool gnu, bool wide, bool big_endian, bool ahead)
{
    struct file good = compressed(gnu, wide, big_endian, sizeof(plain)),
                large = compressed(gnu, wide, big_endian, sizeof(plain) + 1),
                small = compressed(gnu, wide, big_endian, sizeof(plain) - 1),
                bomb = compressed(gnu, wide, big_endian, wide ? (uint64_t)1 << 40 : 1 << 30);
    const uint64_t flags = gnu ? 0 : SHF_COMPRESSED;
    const struct section sections[] = {
        {gnu ? ".zdebug_info" : ".debug_info", SHT_PROGBITS, flags, 0, good.data, good.size, 0, 0},
        {gnu ? ".zdebug_line" : ".debug_line", SHT_PROGBITS, flags, 0, large.data, large.size, 0,
         0},
        {gnu ? ".zdebug_loc" : ".debug_loc", SHT_PROGBITS, flags, 0, small.data, small.size, 0, 0},
        {gnu ? ".zdebug_str" : ".debug_str", SHT_PROGBITS, flags, 0, bomb.data, bomb.size, 0, 0},
        {gnu ? ".zdebug_abbrev" : ".debug_abbrev", SHT_PROGBITS, flags, 0, good.data, good.size - 9,
         0, 0},
        {gnu ? ".zdebug_addr" : ".debug_addr", SHT_PROGBITS, flags, 0, good.data, 7, 0, 0},
        {gnu ? ".zdebug_types" : ".debug_types", SHT_PROGBITS, flags, 0, "\2\0\0\2            ",
         24 - 8, 0, 0},
        {".debug_ranges", SHT_PROGBITS, 0, 0, plain, sizeof(plain), 0, 0},
    };
    struct file file =
        make_elf(wide ? EM_X86_64 : EM_386, wide, big_endian, sections, COUNT(sections));
    struct image image;
    static const char *const names[] = {".debug_info",  ".debug_line", ".debug_none",
                                        ".debug_str",   ".debug_loc",  ".debug_abbrev",
                                        ".debug_ranges"};
    assert_no_error(open_image(&image, &file));
    if (ahead) {
        assert_no_error(image_inflate(&image, names, COUNT(names), 2));
        assert_int_equal(image.inflated, sizeof(plain));
        assert_non_null(image_section(&image, ".debug_info")->inflated);
    }
    struct g2h_bytes contents, again;
    for (size_t i = 0; i < 2; i++) {
        const char *const whole[] = {".debug_info", ".debug_ranges"};
        const struct image_section *section = image_section(&image, whole[i]);
        assert_non_null(section);
        assert_no_error(image_section_contents(&image, section, &contents));
        assert_int_equal(contents.size, sizeof(plain));
        assert_memory_equal(contents.data, plain, sizeof(plain));
        assert_no_error(image_section_contents(&image, section, &again));
        assert_ptr_equal(contents.data, again.data);
    }
    static const struct {
        const char *name, *message;
    } bad[] = {{".debug_line", "it is damaged"},   {".debug_loc", "it is damaged"},
               {".debug_abbrev", "it is damaged"}, {".debug_str", "more than it can"},
               {".debug_addr", "too short"},       {".debug_types", ""}};
    for (size_t i = 0; i < COUNT(bad); i++) {
        const struct image_section *section = image_section(&image, bad[i].name);
        assert_non_null(section);
        assert_error(image_section_contents(&image, section, &contents), G2H_ERROR_DAMAGED,
                     bad[i].message);
    }
    assert_int_equal(image.inflated, sizeof(plain));

    image_deinit(&image);
    free(file.data);
    free(good.data);
    free(large.data);
    free(small.data);
    free(bomb.data);
}

TEST(compression)
{
    for (unsigned i = 0; i < 16; i++)
        check_compression((i & 1) != 0, (i & 2) != 0, (i & 4) != 0, (i & 8) != 0);
}

/* Each section holds what it claims, but together they hold far more than the file. */
TEST(compression_of_zeros)
{
    enum { BOMBS = 40, CLAIM = 1 << 20 };
    uint8_t *zeros = calloc(1, CLAIM), *packed = malloc(CLAIM);
    uLongf size = CLAIM;
    assert_true(zeros && packed);
    assert_int_equal(compress2(packed, &size, zeros, CLAIM, 9), Z_OK);
    struct file bomb = {.big_endian = true};
    put_bytes(&bomb, "ZLIB", 4);
    put(&bomb, CLAIM, 8);
    put_bytes(&bomb, packed, size);
    struct section sections[BOMBS];
    for (size_t i = 0; i < BOMBS; i++)
        sections[i] = (struct section){".zdebug_x", SHT_PROGBITS, 0, 0, bomb.data, bomb.size, 0, 0};
    struct file file = make_elf(EM_X86_64, true, false, sections, BOMBS);
    struct image image;
    assert_no_error(open_image(&image, &file));
    size_t refused = 0;
    for (size_t i = 1; i <= BOMBS; i++) {
        struct g2h_bytes contents;
        struct g2h_error *error = image_section_contents(&image, &image.sections[i], &contents);
        refused += error != NULL;
        g2h_error_destroy(error);
    }
    assert_true(refused > 0);
    assert_true((BOMBS - refused) * CLAIM <= 16 * file.size + (1 << 16));
    image_deinit(&image);
    free(file.data);
    free(bomb.data);
    free(zeros);
    free(packed);
}

/* ---- Mach-O ---- */

static void put_macho_section(struct file *file, const char *name, const char *segment,
                              uint64_t address, uint64_t size, uint32_t offset, uint32_t flags)
{
    put_text(file, name, 16);
    put_text(file, segment, 16);
    put(file, address, 8);
    put(file, size, 8);
    put(file, offset, 4);
    put(file, 0, 12);
    put(file, flags, 4);
    put(file, 0, 12);
}

static void put_segment(struct file *file, const char *name, uint64_t address, uint32_t protection,
                        uint32_t sections)
{
    put(file, 0x19, 4);
    put(file, 72 + 80 * sections, 4);
    put_text(file, name, 16);
    put(file, address, 8);
    put(file, 0x1000, 8);
    put(file, 0, 16);
    put(file, protection, 4);
    put(file, protection, 4);
    put(file, sections, 4);
    put(file, 0, 4);
}

/* Reads names, kinds of sections, symbols, and words of a fixup chain. */
TEST(macho)
{
    const uint64_t base = 0x100000000, data = base + 0x4000;
    struct file file = {.wide = true};
    enum { DATA = 0x400, FIXUPS = 0x500, SYMBOLS = 0x600, TEXTS = 0x700, END = 0x800 };
    put(&file, 0xfeedfacf, 4);
    put(&file, 0x0100000c, 4);
    put(&file, 0, 4);
    put(&file, 2, 4);
    put(&file, 5, 4);
    put(&file, 3 * 72 + 7 * 80 + 16 + 24, 4);
    put(&file, 0, 8);
    put_segment(&file, "__TEXT", base, 5, 2);
    put_macho_section(&file, "__text", "__TEXT", base + 0x1000, 16, DATA, 0x80000400);
    put_macho_section(&file, "__rodata", "__TEXT", base + 0x1010, 16, DATA, 0);
    put_segment(&file, "__DATA", data, 3, 3);
    put_macho_section(&file, "__rodata", "__DATA_CONST", data, 64, DATA, 0);
    put_macho_section(&file, "__go_buildinfo", "__DATA", data + 64, 16, DATA + 64, 0);
    put_macho_section(&file, "__noptrbss", "__DATA", data + 80, 0x1000, 0, 1);
    put_segment(&file, "__DWARF", data + 0x2000, 7, 2);
    put_macho_section(&file, "__zdebug_rnglist", "__DWARF", data + 0x2000, 16, DATA, 0);
    put_macho_section(&file, "__debug_info", "__DWARF", data + 0x2010, 16, DATA, 0);
    put(&file, 0x80000034, 4); /* LC_DYLD_CHAINED_FIXUPS */
    put(&file, 16, 4);
    put(&file, FIXUPS, 4);
    put(&file, 0x80, 4);
    put(&file, 2, 4); /* LC_SYMTAB */
    put(&file, 24, 4);
    put(&file, SYMBOLS, 4);
    put(&file, 4, 4);
    put(&file, TEXTS, 4);
    put(&file, 64, 4);
    put_zeros(&file, DATA);
    /* a chain of three at 8, 24, 40: a pointer, an import, a pointer with a high byte */
    put_zeros(&file, DATA + 8);
    put(&file, (uint64_t)4 << 51 | 0x1234, 8);
    put_zeros(&file, DATA + 24);
    put(&file, (uint64_t)1 << 63 | (uint64_t)4 << 51 | 7, 8);
    put_zeros(&file, DATA + 40);
    put(&file, (uint64_t)0xab << 36 | 0x10, 8);
    put_zeros(&file, FIXUPS);
    put(&file, 0, 4);
    put(&file, 32, 4);
    put_zeros(&file, FIXUPS + 32);
    put(&file, 2, 4);
    put(&file, 0, 4); /* __TEXT has no fixups */
    put(&file, 16, 4);
    put_zeros(&file, FIXUPS + 32 + 16);
    put(&file, 24, 4);
    put(&file, 0x1000, 2);
    put(&file, 6, 2); /* DYLD_CHAINED_PTR_64_OFFSET */
    put(&file, 0x4000, 8);
    put(&file, 0, 4);
    put(&file, 2, 2);
    put(&file, 8, 2);
    put(&file, 0xffff, 2);
    put_zeros(&file, SYMBOLS);
    static const struct {
        uint32_t name;
        uint8_t type, section;
        uint64_t offset;
    } symbols[] = {{1, 0x0e, 3, 32}, {8, 0x0e, 3, 8}, {8, 0x64, 3, 9}, {16, 0x0e, 5, 80}};
    for (size_t i = 0; i < COUNT(symbols); i++) {
        put(&file, symbols[i].name, 4);
        put(&file, symbols[i].type, 1);
        put(&file, symbols[i].section, 1);
        put(&file, 0, 2);
        put(&file, data + symbols[i].offset, 8);
    }
    put_zeros(&file, TEXTS);
    put_bytes(&file, "\0main.b\0_main.a\0main.c", 23);
    put_zeros(&file, END);

    struct image image;
    assert_no_error(open_image(&image, &file));
    assert_int_equal(image.format, IMAGE_MACHO);
    assert_int_equal(image.machine, EM_AARCH64);
    static const char *const names[] = {".text",         ".rodata",   ".data.rel.ro",
                                        ".go.buildinfo", ".noptrbss", ".debug_rnglists",
                                        ".debug_info"};
    assert_int_equal(image.section_count, COUNT(names));
    for (size_t i = 0; i < COUNT(names); i++)
        assert_ptr_equal(image_section(&image, names[i]), &image.sections[i]);
    assert_int_equal(image.sections[0].flags, SHF_ALLOC | SHF_EXECINSTR);
    assert_int_equal(image.sections[1].flags, SHF_ALLOC);
    assert_int_equal(image.sections[3].flags, AW);
    assert_int_equal(image.sections[4].type, SHT_NOBITS);
    assert_true(image.sections[5].gnu_compressed && !image.sections[6].gnu_compressed);
    assert_null(image_at(&image, data + 0x2000, 1));
    assert_true(image_word(&image, image_at(&image, data + 8, 8)) == base + 0x1234);
    assert_true(image_word(&image, image_at(&image, data + 24, 8)) >> 63 == 1);
    assert_true(image_word(&image, image_at(&image, data + 40, 8)) ==
                ((uint64_t)0xab << 56 | (base + 0x10)));
    struct image_symbol symbol;
    assert_int_equal(image_symbol_count(&image), 3);
    assert_true(image_symbol_named(&image, "main.a", &symbol));
    assert_true(symbol.address == data + 8 && symbol.size == 24 && symbol.type == STT_OBJECT);
    assert_true(image_symbol_named(&image, "main.b", &symbol));
    assert_int_equal(symbol.size, 32); /* up to the end of its section */
    assert_true(image_symbol_named(&image, "main.c", &symbol));
    assert_int_equal(symbol.size, 0x1000);
    image_deinit(&image);
    cut_anywhere(&file);
}

/* ---- PE ---- */

static void put_pe_section(struct file *file, const char *name, uint32_t virtual_size,
                           uint32_t address, uint32_t raw_size, uint32_t offset, uint32_t flags)
{
    put_text(file, name, 8);
    put(file, virtual_size, 4);
    put(file, address, 4);
    put(file, raw_size, 4);
    put(file, offset, 4);
    put(file, 0, 12);
    put(file, flags, 4);
}

static void put_pe_symbol(struct file *file, const char *name, uint32_t value, uint16_t section,
                          uint8_t aux)
{
    put_text(file, name, 8);
    put(file, value, 4);
    put(file, section, 2);
    put(file, 0, 2);
    put(file, 2, 1);
    put(file, aux, 1);
    for (unsigned i = 0; i < aux; i++)
        put_text(file, "junk", 18);
}

TEST(pe)
{
    struct file file = {0};
    enum { HEADER = 0x80, DATA = 0x400, SYMBOLS = 0x600, END = 0x800 };
    put_text(&file, "MZ", 0x3c);
    put(&file, HEADER, 4);
    put_zeros(&file, HEADER);
    put_text(&file, "PE", 4);
    put(&file, 0x8664, 2);
    put(&file, 4, 2);
    put(&file, 0, 4);
    put(&file, SYMBOLS, 4);
    put(&file, 5, 4);
    put(&file, 240, 2);
    put(&file, 0, 2);
    put(&file, 0x20b, 2);
    put_zeros(&file, HEADER + 24 + 24);
    put(&file, 0x140000000, 8);
    put_zeros(&file, HEADER + 24 + 240);
    put_pe_section(&file, ".text", 10, 0x1000, 0x200, DATA, 0x60000020);
    put_pe_section(&file, ".data", 0x3000, 0x2000, 0x100, DATA, 0xc0000040);
    put_pe_section(&file, "/4", 0x20, 0x5000, 0x20, DATA, 0x42000040);
    put_pe_section(&file, ".bss", 0x20, 0x6000, 0, 0, 0xc0000080);
    put_zeros(&file, SYMBOLS);
    put_pe_symbol(&file, "main.a", 0x10, 2, 1);
    put_pe_symbol(&file, "main.b", 0x2ff8, 2, 0);
    put_pe_symbol(&file, "absolute", 0, 0xffff, 0);
    put(&file, 0, 4); /* a long name, in the string table */
    put(&file, 17, 4);
    put(&file, 0, 4);
    put(&file, 1, 2);
    put(&file, 0x20, 2);
    put(&file, 2, 1);
    put(&file, 0, 1);
    static const char texts[] = ".zdebug_info\0runtime.text";
    put(&file, 4 + sizeof(texts), 4);
    put_bytes(&file, texts, sizeof(texts));
    put_zeros(&file, END);

    struct image image;
    assert_no_error(open_image(&image, &file));
    assert_int_equal(image.format, IMAGE_PE);
    assert_int_equal(image.machine, EM_X86_64);
    assert_true(image.is_64);
    const struct image_section *section = image_section(&image, ".text");
    assert_int_equal(section->data.size, 10); /* without the padding */
    assert_int_equal(section->flags, SHF_ALLOC | SHF_EXECINSTR);
    section = image_section(&image, ".data");
    assert_int_equal(section->size, 0x3000);
    assert_int_equal(section->data.size, 0x100);
    assert_int_equal(section->flags, AW);
    assert_non_null(image_at(&image, 0x1400020ff, 1));
    assert_null(image_at(&image, 0x140002100, 1));
    section = image_section(&image, ".debug_info");
    assert_true(section && section->gnu_compressed && (section->flags & SHF_ALLOC) == 0);
    assert_int_equal(image_section(&image, ".bss")->type, SHT_NOBITS);
    struct image_symbol symbol;
    assert_int_equal(image_symbol_count(&image), 3);
    assert_true(image_symbol_named(&image, "main.a", &symbol));
    assert_true(symbol.address == 0x140002010 && symbol.size == 0x2fe8 && symbol.section == 1);
    assert_true(image_symbol_named(&image, "main.b", &symbol));
    assert_int_equal(symbol.size, 8);
    assert_true(image_symbol_named(&image, "runtime.text", &symbol));
    assert_int_equal(symbol.type, STT_FUNC);
    image_deinit(&image);
    cut_anywhere(&file);
}

/* ---- separate debug files, versions ---- */

static void write_file(const char *folder, const char *name, const struct file *file)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(file->data, 1, file->size, stream), file->size);
    assert_int_equal(fclose(stream), 0);
}

static void make_folder(const char *folder, const char *name)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

/* Returns whether the debug file is found; it must be the one with this text in .debug_info. */
static bool finds(const char *folder, const struct file *executable, const char *text)
{
    char path[256];
    struct image image, debug;
    struct g2h_input *input;
    snprintf(path, sizeof(path), "%s/app", folder);
    assert_no_error(
        image_init(&image, path, (struct g2h_bytes){executable->data, executable->size}));
    assert_no_error(image_find_debug_file(&image, folder, &input, &debug));
    const bool found = input != NULL;
    if (found)
        assert_memory_equal(image_section(&debug, ".debug_info")->data.data, text, strlen(text));
    image_deinit(&debug);
    g2h_input_close(input);
    image_deinit(&image);
    return found;
}

TEST(debug_files)
{
    char folder[] = "/tmp/test_image.XXXXXX", command[64];
    static const char id[] = "\4\0\0\0\4\0\0\0\3\0\0\0GNU\0\xab\xcd\xef\1",
                      other[] = "\4\0\0\0\4\0\0\0\3\0\0\0GNU\0\xab\xcd\xef\2";
    assert_non_null(mkdtemp(folder));
    struct section sections[] = {{".note", SHT_NOTE, SHF_ALLOC, 0x1000, id, 20, 0, 0},
                                 {".debug_info", SHT_PROGBITS, 0, 0, "one", 3, 0, 0}};
    struct file executable = make_elf(EM_X86_64, true, false, sections, 1);
    struct file debug = make_elf(EM_X86_64, true, false, sections, 2);
    assert_false(finds(folder, &executable, ""));
    make_folder(folder, ".build-id");
    make_folder(folder, ".build-id/ab");
    write_file(folder, ".build-id/ab/cdef01.debug", &debug);
    assert_true(finds(folder, &executable, "one"));
    write_file(folder, ".build-id/ab/cdef01.debug", &executable); /* has nothing to tell */
    assert_false(finds(folder, &executable, ""));
    /* only its name matches: its build ID is another one */
    sections[0].data = other;
    struct file stranger = make_elf(EM_X86_64, true, false, sections, 2);
    write_file(folder, ".build-id/ab/cdef01.debug", &stranger);
    assert_false(finds(folder, &executable, ""));
    free(executable.data);
    free(stranger.data);
    free(debug.data);

    /* by .gnu_debuglink: without build IDs the CRC decides */
    struct section own = {".debug_info", SHT_PROGBITS, 0, 0, "two", 3, 0, 0};
    debug = make_elf(EM_X86_64, true, false, &own, 1);
    struct file link = {0};
    put_text(&link, "app.debug", 12);
    put(&link, crc32_z(0, debug.data, debug.size), 4);
    struct section by_link = {".gnu_debuglink", SHT_PROGBITS, 0, 0, link.data, link.size, 0, 0};
    executable = make_elf(EM_X86_64, true, false, &by_link, 1);
    own.data = "too";
    stranger = make_elf(EM_X86_64, true, false, &own, 1);
    assert_false(finds(folder, &executable, ""));
    write_file(folder, "app.debug", &stranger);
    assert_false(finds(folder, &executable, ""));
    make_folder(folder, ".debug");
    write_file(folder, ".debug/app.debug", &debug);
    assert_true(finds(folder, &executable, "two"));
    write_file(folder, "app.debug", &debug);
    write_file(folder, ".debug/app.debug", &stranger);
    assert_true(finds(folder, &executable, "two"));
    /* a name must not lead out of the folder, and must have an end */
    memcpy(link.data, "./app.debug", 12);
    struct file slash = make_elf(EM_X86_64, true, false, &by_link, 1);
    assert_false(finds(folder, &slash, ""));
    by_link.size = 11;
    struct file cut = make_elf(EM_X86_64, true, false, &by_link, 1);
    assert_false(finds(folder, &cut, ""));
    free(slash.data);
    free(cut.data);
    free(executable.data);
    free(stranger.data);
    free(debug.data);
    free(link.data);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* Makes the smallest function table that there can be. */
static struct file make_pclntab(void)
{
    struct file table = {.wide = true};
    put(&table, 0xfffffff1, 4);
    put(&table, 0x08010000, 4);
    put_word(&table, 1);
    put(&table, 0, 16);
    for (size_t i = 0; i < 5; i++)
        put_word(&table, 72);
    put(&table, 0, 4);
    put(&table, 0, 4);
    put(&table, 16, 4);
    put_zeros(&table, 160);
    return table;
}

TEST(versions)
{
    char path[] = "/tmp/test_image.XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    struct file table = make_pclntab(), inlined = {.wide = true}, pointers = {.wide = true},
                text = {.wide = true};
    static const char modules[] = "path\tapp\nmod\texample.org/app\tv1\n";
    put_text(&inlined, "\xff Go buildinf:\x08\x02", 32);
    put_bytes(&inlined, "\x08go1.99.9 and what follows", 26);
    put_text(&pointers, "\xff Go buildinf:\x08", 16);
    put_word(&pointers, 0x3000);
    put_word(&pointers, 0x3018); /* the section ends here, after 32 bytes */
    put_word(&text, 0x3028);
    put_word(&text, 6);
    put_text(&text, "", 8);
    put_word(&text, 0x3030);
    put_word(&text, strlen(modules));
    put_bytes(&text, "go1.13.8", 8);
    put_bytes(&text, modules, strlen(modules));
    static const struct {
        const char *expected;
        bool is_inlined;
        uint64_t text_at;
    } cases[] = {{"go1.99.9", true, 0}, {"go1.13", false, 0x3000}, {"", false, 0x4000}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct file *info = cases[i].is_inlined ? &inlined : &pointers;
        const struct section sections[] = {
            {".gopclntab", SHT_PROGBITS, SHF_ALLOC, 0x1000, table.data, table.size, 0, 0},
            {".go.buildinfo", SHT_PROGBITS, AW, 0x2000, info->data, info->size, 0, 0},
            {".data", SHT_PROGBITS, AW, cases[i].text_at, text.data, text.size, 0, 0},
        };
        struct file file = make_elf(EM_X86_64, true, false, sections, COUNT(sections));
        struct g2h_exe *exe;
        write_file("", path, &file);
        assert_no_error(g2h_exe_open(path, &exe));
        struct g2h_bytes version = exe_version(exe);
        assert_int_equal(version.size, strlen(cases[i].expected));
        assert_memory_equal(version.data, cases[i].expected, version.size);
        assert_int_equal(g2h_exe_is_own(exe, bytes_of("example.org/app/part.Run")), i == 1);
        g2h_exe_close(exe);
        free(file.data);
    }
    /* what objcopy --only-keep-debug makes */
    const struct section sections[] = {
        {".gopclntab", SHT_NOBITS, SHF_ALLOC, 0x1000, NULL, table.size, 0, 0}};
    struct file file = make_elf(EM_X86_64, true, false, sections, COUNT(sections));
    struct g2h_exe *exe;
    write_file("", path, &file);
    assert_error(g2h_exe_open(path, &exe), G2H_ERROR_NOT_EXE, "holds debug information only");
    free(file.data);
    unlink(path);
    free(table.data);
    free(inlined.data);
    free(pointers.data);
    free(text.data);
}

UNIT_MAIN(NULL, NULL)
