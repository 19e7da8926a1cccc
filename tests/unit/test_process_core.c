/* Covers process/core and process/memory on hand-made cores: segments that overlap, lie beyond the
 * end or wrap around, more segments than a header can count, damaged notes, files that are cut or
 * of another kind. The results of memory_at() are compared with a map of each byte. */
#include "unit.h"

#include "base/elf_format.h"
#include <go2heapsnapshot/process.h>

#include "process/read.h"

/* ---- making cores ---- */

enum { MOST_SEGMENTS = 64, HEADER = sizeof(Elf64_Ehdr), SEGMENT = sizeof(Elf64_Phdr) };

struct core {
    uint8_t *data;
    size_t size;
    struct g2h_input *input;
    struct process process;
    struct core_account account;
};

/* Makes a core with room for the headers of this number of segments, and size bytes behind them. */
static void make(struct core *core, size_t segments, size_t size)
{
    if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
        skip(); /* the structures are this host's, and only little-endian cores are read */
    *core = (struct core){.size = HEADER + segments * SEGMENT + size};
    core->data = malloc(core->size);
    assert_non_null(core->data);
    for (size_t i = 0; i < core->size; i++)
        core->data[i] = (uint8_t)(i * 7 + i / 256);
    const Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1},
                               .e_type = ET_CORE,
                               .e_machine = EM_X86_64,
                               .e_phoff = HEADER,
                               .e_phnum = (uint16_t)segments};
    memcpy(core->data, &header, sizeof(header));
    memset(core->data + HEADER, 0, segments * SEGMENT);
}

/* Returns where the bytes behind the headers of this number of segments begin. */
static size_t behind(size_t segments)
{
    return HEADER + segments * SEGMENT;
}

static void set_segment(struct core *core, size_t index, uint32_t type, uint64_t address,
                        uint64_t offset, uint64_t file_size)
{
    const Elf64_Phdr header = {.p_type = type,
                               .p_offset = offset,
                               .p_vaddr = address,
                               .p_filesz = file_size,
                               .p_memsz = file_size};
    memcpy(core->data + HEADER + index * SEGMENT, &header, sizeof(header));
}

/* Reads the first size bytes of the core, with nothing behind them. */
static struct g2h_error *try_part(struct core *core, size_t size)
{
    assert_null(core->input);
    assert_no_error(g2h_input_from_memory("core", core->data, size, &core->input));
    return core_read(core->input, &core->process, &core->account);
}

static void forget(struct core *core)
{
    process_deinit(&core->process);
    g2h_input_close(core->input);
    core->input = NULL;
}

static void discard(struct core *core)
{
    forget(core);
    free(core->data);
}

static void read_core(struct core *core)
{
    assert_no_error(try_part(core, core->size));
}

static void expect_error(struct core *core, size_t size, const char *message)
{
    assert_error(try_part(core, size), G2H_ERROR_NOT_DUMP, message);
    forget(core);
}

static void expect_at(const struct core *core, uint64_t address, uint64_t size, size_t offset)
{
    assert_ptr_equal(memory_at(&core->process.memory, address, size), core->data + offset);
}

static void expect_nothing(const struct core *core, uint64_t address, uint64_t size)
{
    assert_null(memory_at(&core->process.memory, address, size));
}

/* ---- segments ---- */

TEST(segments)
{
    struct core core;
    const size_t at = behind(4);
    make(&core, 4, 256);
    set_segment(&core, 0, PT_LOAD, 0x3000, at + 100, 10);
    set_segment(&core, 1, PT_LOAD, 0x1000, at, 40);
    set_segment(&core, 2, PT_LOAD, 0x1028, at + 40, 24); /* adjoins in memory and file */
    set_segment(&core, 3, PT_LOAD, 0x1040, at + 80, 16); /* adjoins in memory only */
    read_core(&core);
    assert_int_equal(core.process.memory.ranges.count, 3);
    assert_int_equal(core.process.memory.bytes, 90);
    assert_int_equal(core.account.segments, 4);
    assert_int_equal(core.account.missing, 0);
    assert_int_equal(core.account.size, at + 110);
    expect_at(&core, 0x1000, 64, at);
    expect_at(&core, 0x1027, 2, at + 39);
    expect_at(&core, 0x1040, 16, at + 80);
    expect_at(&core, 0x3000, 0, at + 100);
    expect_nothing(&core, 0x1000, 65);
    expect_nothing(&core, 0x1050, 0);
    expect_nothing(&core, 0xfff, 2);
    expect_nothing(&core, 0x3000, UINT64_MAX);
    expect_nothing(&core, 0x3009, 2);
    discard(&core);
}

/* If a segment has more bytes in the file than in memory, all of them are read: gdb may write such
 * segments. */
TEST(file_size_above_memory_size)
{
    struct core core;
    const uint64_t none = 0;
    make(&core, 1, 64);
    set_segment(&core, 0, PT_LOAD, 0x1000, behind(1), 64);
    memcpy(core.data + HEADER + offsetof(Elf64_Phdr, p_memsz), &none, sizeof(none));
    read_core(&core);
    expect_at(&core, 0x1000, 64, behind(1));
    discard(&core);
}

TEST(at_the_end_of_addresses)
{
    struct core core;
    const size_t at = behind(3);
    make(&core, 3, 256);
    set_segment(&core, 0, PT_LOAD, UINT64_MAX - 15, at, 64);
    set_segment(&core, 1, PT_LOAD, UINT64_MAX, at + 64, 64);
    set_segment(&core, 2, PT_LOAD, UINT64_MAX - 7, at + 128, 128);
    read_core(&core);
    for (size_t i = 0; i < core.process.memory.ranges.count; i++) {
        const struct memory_range *range = &core.process.memory.ranges.data[i];
        assert_true(range->size <= UINT64_MAX - range->address);
    }
    expect_at(&core, UINT64_MAX - 15, 15, at);
    expect_nothing(&core, UINT64_MAX - 15, 16);
    expect_nothing(&core, UINT64_MAX, 1);
    expect_nothing(&core, UINT64_MAX - 15, UINT64_MAX);
    expect_nothing(&core, 0, 1);
    discard(&core);
}

TEST(beyond_the_end)
{
    struct core core;
    const size_t at = behind(5);
    make(&core, 5, 32);
    set_segment(&core, 0, PT_LOAD, 0x1000, at, 32);
    set_segment(&core, 1, PT_LOAD, 0x2000, at + 32, 8);        /* right behind the file's end */
    set_segment(&core, 2, PT_LOAD, 0x3000, UINT64_MAX - 1, 2); /* the sum wraps */
    read_core(&core);
    assert_int_equal(core.account.missing, 10);
    expect_at(&core, 0x1000, 32, at);
    expect_nothing(&core, 0x2000, 1);
    forget(&core);

    /* The number of missing bytes has more than 64 bits. */
    set_segment(&core, 3, PT_LOAD, 0x4000, at, UINT64_MAX);
    set_segment(&core, 4, PT_LOAD, 0x5000, at + 32, UINT64_MAX);
    read_core(&core);
    assert_true(core.account.missing == UINT64_MAX);
    discard(&core);
}

/* Many segments with the same bytes of the file do not have more memory than the file. */
TEST(shared_bytes)
{
    struct core core;
    const size_t at = behind(MOST_SEGMENTS);
    make(&core, MOST_SEGMENTS, 1 << 14);
    for (size_t i = 0; i < MOST_SEGMENTS; i++)
        set_segment(&core, i, PT_LOAD, 0x10000 * (i + 1), at, 1 << 14);
    read_core(&core);
    assert_true(core.process.memory.bytes <= core.size);
    expect_at(&core, 0x10000, 1 << 14, at);
    expect_nothing(&core, (uint64_t)0x10000 * MOST_SEGMENTS, 1);
    discard(&core);
}

/* ---- overlapping ---- */

enum { ADDRESSES = 256, NOT_THERE = 0 };

struct load {
    uint64_t address, offset, size;
};

/* Maps each byte to its place in the file: of the segments that have it the one that begins first
 * counts, and of several that begin there the longest. */
static void map_bytes(const struct load *loads, size_t count, size_t ret[ADDRESSES])
{
    for (uint64_t address = 0; address < ADDRESSES; address++) {
        const struct load *best = NULL;
        for (size_t i = 0; i < count; i++) {
            const struct load *load = &loads[i];
            if (address < load->address || address - load->address >= load->size)
                continue;
            if (!best || load->address < best->address ||
                (load->address == best->address && load->size > best->size))
                best = load;
        }
        ret[address] = best ? (size_t)(best->offset + address - best->address) : NOT_THERE;
    }
}

static void expect_map(const struct core *core, const size_t map[ADDRESSES])
{
    uint64_t there = 0;
    for (uint64_t address = 0; address < ADDRESSES; address++) {
        const size_t offset = map[address];
        size_t run = 0;
        while (offset != NOT_THERE && address + run < ADDRESSES &&
               map[address + run] == offset + run)
            run++;
        there += offset != NOT_THERE;
        for (size_t size = 1; size <= run; size++)
            expect_at(core, address, size, offset);
        expect_nothing(core, address, run + 1);
    }
    assert_int_equal(core->process.memory.bytes, there);
}

TEST(overlapping)
{
    enum { ROUNDS = 2000, MOST = 8, LARGEST = 64, CONTENTS = 1024 };
    uint64_t random = 1;
    for (unsigned round = 0; round < ROUNDS; round += unit_step()) {
        struct load loads[MOST];
        struct core core;
        size_t map[ADDRESSES];
        const size_t count = 1 + unit_random(&random) % MOST;
        make(&core, count, CONTENTS);
        for (size_t i = 0; i < count; i++) {
            struct load *load = &loads[i];
            *load = (struct load){unit_random(&random) % (ADDRESSES - LARGEST), 0,
                                  1 + unit_random(&random) % LARGEST};
            load->offset = behind(count) + unit_random(&random) % (CONTENTS - LARGEST);
            if (i > 0 && round % 2 == 0) { /* adjoins the one before */
                load->address = loads[i - 1].address + loads[i - 1].size;
                load->offset = loads[i - 1].offset + loads[i - 1].size;
                if (load->address + load->size > ADDRESSES || load->offset + load->size > core.size)
                    *load = loads[0];
            }
            for (size_t other = 0; other < i; other++) /* of two alike, either may count */
                if (loads[other].address == load->address && loads[other].size == load->size)
                    load->offset = loads[other].offset;
            set_segment(&core, i, PT_LOAD, load->address, load->offset, load->size);
        }
        map_bytes(loads, count, map);
        read_core(&core);
        expect_map(&core, map);
        discard(&core);
    }
}

/* ---- how many segments ---- */

static void set_number_elsewhere(struct core *core, uint64_t section, uint32_t number)
{
    Elf64_Ehdr header;
    memcpy(&header, core->data, sizeof(header));
    header.e_phnum = 0xffff;
    header.e_shoff = section;
    memcpy(core->data, &header, sizeof(header));
    if (section <= core->size - sizeof(Elf64_Shdr)) {
        const Elf64_Shdr first = {.sh_info = number};
        memcpy(core->data + section, &first, sizeof(first));
    }
}

TEST(number_in_section)
{
    enum { COUNT = 3 };
    const size_t at = behind(COUNT);
    static const struct {
        uint64_t section; /* counted from the end of the headers */
        uint32_t number;
        size_t found;
    } cases[] = {
        {64, 2, 2},
        {64, COUNT, COUNT},
        {64, UINT32_MAX, COUNT}, /* the bytes behind the headers are no segment */
        {64, 0, 0},              /* no segments */
        {1 << 20, COUNT, COUNT}, /* there is no section: 0xffff may be the number itself */
        {UINT64_MAX - 400, COUNT, COUNT},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct core core;
        make(&core, COUNT, 256);
        memset(core.data + at, 0, 256);
        for (size_t segment = 0; segment < COUNT; segment++)
            set_segment(&core, segment, PT_LOAD, 0x1000 * (segment + 1), at, 16);
        set_number_elsewhere(&core, at + cases[i].section, cases[i].number);
        if (cases[i].found == 0) {
            expect_error(&core, core.size, "no memory in it");
        } else {
            read_core(&core);
            assert_int_equal(core.account.segments, cases[i].found);
        }
        discard(&core);
    }
}

TEST(headers_elsewhere)
{
    static const uint64_t places[] = {1 << 20, UINT64_MAX, UINT64_MAX - 55, UINT64_MAX / 2};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        struct core core;
        make(&core, 1, 64);
        set_segment(&core, 0, PT_LOAD, 0x1000, behind(1), 64);
        memcpy(core.data + offsetof(Elf64_Ehdr, e_phoff), &places[i], sizeof(places[i]));
        expect_error(&core, core.size, "no memory in it");
        discard(&core);
    }
}

/* ---- notes ---- */

struct notes {
    uint8_t data[2048];
    size_t size;
};

static void add(struct notes *notes, const void *data, size_t size)
{
    assert_true(size <= sizeof(notes->data) - notes->size);
    memcpy(notes->data + notes->size, data, size);
    notes->size += size;
}

static void add_note(struct notes *notes, uint32_t type, const void *data, size_t size)
{
    static const uint8_t zeros[4];
    const Elf64_Nhdr header = {5, (uint32_t)size, type};
    add(notes, &header, sizeof(header));
    add(notes, "CORE\0\0\0", 8);
    add(notes, data, size);
    add(notes, zeros, (4 - size % 4) % 4);
}

enum { PRSTATUS = 336, ID_AT = 32, REGISTERS_AT = 112 };
static const char path[] = "/opt/app";

/* Adds notes of a thread, the entry, and the files, of which the executable is the second; count is
 * the number of files that the note gives. */
static void add_usual(struct notes *notes, uint64_t count)
{
    uint8_t thread[PRSTATUS] = {0};
    const uint32_t id = 1234;
    memcpy(thread + ID_AT, &id, sizeof(id));
    for (uint64_t i = 0; i < 27; i++)
        memcpy(thread + REGISTERS_AT + 8 * i, &(uint64_t){1000 + i}, 8);
    add_note(notes, NT_PRSTATUS, thread, sizeof(thread));
    const uint64_t auxv[] = {AT_PAGESZ, 4096, AT_ENTRY, 0x401234, AT_NULL, 0};
    add_note(notes, NT_AUXV, auxv, sizeof(auxv));
    struct notes files = {.size = 0};
    const uint64_t words[] = {count, 4096, 0x300000, 0x301000, 0, 0x400000, 0x402000, 0};
    add(&files, words, sizeof(words));
    add(&files, "/lib", 5);
    add(&files, path, sizeof(path));
    add_note(notes, NT_FILE, files.data, files.size);
}

/* Makes a core with these notes, in a segment of size bytes, and a bit of memory. */
static void make_noted(struct core *core, const struct notes *notes, size_t size)
{
    const size_t at = behind(2);
    make(core, 2, notes->size + 16);
    memcpy(core->data + at, notes->data, notes->size);
    set_segment(core, 0, PT_NOTE, 0, at, size);
    set_segment(core, 1, PT_LOAD, 0x1000, at + notes->size, 16);
}

TEST(usual_notes)
{
    struct notes notes = {.size = 0};
    struct core core;
    add_usual(&notes, 2);
    make_noted(&core, &notes, notes.size);
    read_core(&core);
    assert_int_equal(core.process.threads.count, 1);
    const struct process_thread *thread = &core.process.threads.data[0];
    assert_int_equal(thread->id, 1234);
    assert_int_equal(thread->count, 27);
    assert_int_equal(thread->registers[0], 1000);
    assert_int_equal(thread->registers[26], 1026);
    assert_int_equal(thread->registers[27], 0);
    assert_int_equal(core.process.entry, 0x401234);
    assert_string_equal(core.process.executable, path);
    discard(&core);
}

/* The segment's size cuts the notes anywhere. */
TEST(cut_notes)
{
    struct notes notes = {.size = 0};
    const size_t padding = 2;
    add_usual(&notes, 2);
    for (size_t size = 0; size <= notes.size; size++) {
        struct core core;
        make_noted(&core, &notes, size);
        read_core(&core);
        assert_true(core.process.threads.count <= 1);
        if (core.process.executable)
            assert_string_equal(core.process.executable, path);
        assert_true((core.process.executable != NULL) == (size + padding >= notes.size));
        discard(&core);
    }
}

TEST(wrong_counts_of_files)
{
    static const uint64_t counts[] = {
        0, 1, 3, 4, 100, UINT64_MAX, UINT64_MAX / 24, UINT64_MAX / 24 + 1, UINT64_MAX / 3 * 2,
    };
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct notes notes = {.size = 0};
        struct core core;
        add_usual(&notes, counts[i]);
        make_noted(&core, &notes, notes.size);
        read_core(&core);
        assert_null(core.process.executable);
        discard(&core);
    }
}

/* A core may name any number of files, of which so many are examined. */
TEST(many_files)
{
    enum { FILES = (1 << 16) + 3, NAME = 8 };
    const uint64_t size = 16 + FILES * (24 + NAME);
    struct core core;
    struct g2h_modules modules;
    uint64_t *words = calloc(1, size);
    assert_non_null(words);
    words[0] = FILES;
    words[1] = 4096;
    for (uint64_t i = 0; i < FILES; i++) {
        char name[NAME + 1];
        words[2 + 3 * i] = 0x400000 + i * 8192;
        words[2 + 3 * i + 1] = 0x400000 + i * 8192 + 4096;
        snprintf(name, sizeof(name), "/-%05x", (unsigned)i & 0xfffff);
        memcpy((char *)words + 16 + FILES * 24 + i * NAME, name, NAME);
    }
    const Elf64_Nhdr header = {5, (uint32_t)size, NT_FILE};
    const size_t at = behind(2), notes = sizeof(header) + 8 + size;
    make(&core, 2, notes + 16);
    memcpy(core.data + at, &header, sizeof(header));
    memcpy(core.data + at + sizeof(header), "CORE\0\0\0", 8);
    memcpy(core.data + at + sizeof(header) + 8, words, size);
    set_segment(&core, 0, PT_NOTE, 0, at, notes);
    set_segment(&core, 1, PT_LOAD, 0x1000, at + notes, 16);
    free(words);
    read_core(&core);
    assert_no_error(g2h_core_modules(core.input, &modules));
    assert_int_equal(modules.count, 0);
    assert_int_equal(modules.left_out, 3);
    g2h_modules_deinit(&modules);
    discard(&core);
}

/* Notes give all kinds of sizes for their names and contents, also sizes larger than the file. */
TEST(wrong_sizes_of_notes)
{
    static const uint32_t sizes[] = {
        0, 1, 111, 112, 119, 120, 4096, INT32_MAX, UINT32_MAX - 3, UINT32_MAX};
    enum { COUNT = sizeof(sizes) / sizeof(sizes[0]) };
    for (size_t i = 0; i < COUNT * COUNT; i++) {
        struct notes notes = {.size = 0};
        struct core core;
        add_usual(&notes, 2);
        memcpy(notes.data, &sizes[i % COUNT], 4);
        memcpy(notes.data + 4, &sizes[i / COUNT], 4);
        make_noted(&core, &notes, notes.size);
        read_core(&core);
        assert_true(core.process.threads.count <= 2);
        discard(&core);
    }
}

/* Many segments with the same notes do not have more threads than the file. */
TEST(shared_notes)
{
    struct notes notes = {.size = 0};
    struct core core;
    const size_t at = behind(MOST_SEGMENTS);
    add_usual(&notes, 2);
    make(&core, MOST_SEGMENTS, notes.size);
    memcpy(core.data + at, notes.data, notes.size);
    set_segment(&core, 0, PT_LOAD, 0x1000, at, 16);
    for (size_t i = 1; i < MOST_SEGMENTS; i++)
        set_segment(&core, i, PT_NOTE, 0, at, notes.size);
    read_core(&core);
    assert_in_range(core.process.threads.count, 1, core.size / PRSTATUS);
    discard(&core);
}

/* ---- other files ---- */

TEST(other_kinds)
{
    struct core core;
    make(&core, 1, 64);
    set_segment(&core, 0, PT_LOAD, 0x1000, behind(1), 64);
    core.data[EI_CLASS] = ELFCLASS32;
    expect_error(&core, core.size, "32-bit little-endian");
    core.data[EI_CLASS] = ELFCLASS64;
    core.data[EI_DATA] = ELFDATA2MSB;
    expect_error(&core, core.size, "64-bit big-endian");
    core.data[EI_DATA] = 0;
    expect_error(&core, core.size, "only 64-bit");
    core.data[EI_DATA] = ELFDATA2LSB;
    core.data[0] = 0;
    expect_error(&core, core.size, "ELF cores");
    discard(&core);
    make(&core, 0, 64);
    expect_error(&core, core.size, "no memory in it");
    discard(&core);
}

/* A file that is cut anywhere gives the bytes that it has, and the missing ones are counted. */
TEST(cut_anywhere)
{
    struct notes notes = {.size = 0};
    struct core core;
    add_usual(&notes, 2);
    make_noted(&core, &notes, notes.size);
    for (size_t size = 0; size <= core.size; size++) {
        struct core part = core;
        part.data = size > 0 ? malloc(size) : NULL;
        if (size > 0)
            memcpy(part.data, core.data, size);
        struct g2h_error *error =
            g2h_input_from_memory("core", part.data ? part.data : core.data, size, &part.input);
        assert_null(error);
        error = core_read(part.input, &part.process, &part.account);
        assert_true((error == NULL) == (size > core.size - 16));
        if (!error) {
            assert_int_equal(part.account.missing, core.size - size);
            assert_int_equal(part.account.size, core.size);
            assert_int_equal(part.process.memory.bytes, 16 - (core.size - size));
        } else if (size >= behind(2)) {
            assert_non_null(strstr(error->message, "it is cut"));
        }
        g2h_error_destroy(error);
        discard(&part);
    }
    discard(&core);
}

UNIT_MAIN(NULL, NULL)
