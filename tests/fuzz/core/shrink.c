/*
 * shrink: makes a small pair for target_core.c out of an executable and the core that it left.
 *
 *   shrink EXECUTABLE CORE OUTPUT
 *
 * Parts that are never read are left out: parts of the core, and all of the executable except its
 * table of functions, which keeps only the functions that are looked up. Which parts are read is
 * found by trying: a part is not needed if without it the account is the same and the dump's
 * records are as long. Data and bss are declared to be short, as they would be most of the pair.
 * The executable must be a stripped ELF file of Go 1.20 or later for amd64.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <go2heapsnapshot/process.h>

#include "../pair.h"
#include "base/elf_format.h"
#include "dump/dump_facts.h"
#include "exe/exe.h"
#include "process/layout.h"
#include "process/read.h"

enum { CHUNK = 128, SHORT = 512, RECORD = 44, WORD = 8, HEADER = 72, MODULEDATA_SIZE = 1024 };

struct bytes {
    uint8_t *data;
    size_t size, capacity;
};

static struct {
    struct g2h_exe *exe;
    const struct image *image;
    const struct pclntab *pclntab;
    struct process process;
    uint8_t *patched;    /* a changed copy of the core's runtime.firstmoduledata */
    uint64_t patched_at; /* its address */
    struct bytes notes;
    struct memory_range *ranges;
    size_t range_count;
    bool **kept;     /* whether a chunk is kept, by range and chunk */
    bool *functions; /* whether a function is kept */
    struct g2h_process_account wanted;
    uint64_t wanted_size;
    unsigned tries;
} own;

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "shrink: %s\n", what);
    exit(1);
}

static void check(struct g2h_error *error)
{
    must(!error, error ? error->message : "");
}

static void add(struct bytes *bytes, const void *data, size_t size)
{
    if (bytes->capacity - bytes->size < size) {
        bytes->capacity = 2 * bytes->capacity + size + 64;
        bytes->data = realloc(bytes->data, bytes->capacity);
        must(bytes->data != NULL, "no memory");
    }
    if (size > 0)
        memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

static void add_number(struct bytes *bytes, uint64_t number, size_t size)
{
    add(bytes, &number, size); /* in this machine's byte order, little endian too */
}

static void align(struct bytes *bytes, size_t to)
{
    static const uint8_t zeros[64];
    add(bytes, zeros, (to - bytes->size % to) % to);
}

static void put(uint8_t *at, uint64_t number, size_t size)
{
    memcpy(at, &number, size);
}

/* ---- the executable ---- */

/* Adds a copy of a table of pairs. Returns its offset, or 0 if there is no table. */
static uint32_t add_pairs(struct bytes *pairs, uint64_t table)
{
    const uint32_t at = (uint32_t)pairs->size;
    const uint8_t *start = own.pclntab->table.data + own.pclntab->pcs + table, *end = start;
    if (table == 0)
        return 0;
    for (bool is_first = true; *end != 0 || is_first; is_first = false)
        for (int number = 0; number < 2; number++)
            while ((*end++ & 0x80) != 0)
                ;
    add(pairs, start, (size_t)(end - start) + 1);
    return at;
}

static void add_function(struct bytes *records, struct bytes *names, struct bytes *pairs,
                         uint64_t index)
{
    enum { NAME = 4, PCSP = 16, PCFILE = 20, PCLN = 24, STACK_MAP = RECORD + 4 };
    struct pclntab_function function;
    const struct g2h_bytes name = pclntab_name(own.pclntab, index);
    must(pclntab_function(own.pclntab, index, &function), "a function has no record");
    const size_t at = records->size, tables = 4 * (size_t)function.pcdata_count;
    add(records, function.pcdata - RECORD, RECORD + tables + 4 * (size_t)function.funcdata_count);
    uint8_t *record = records->data + at;
    put(record + NAME, names->size, 4);
    put(record + PCSP, add_pairs(pairs, function.pcsp), 4);
    put(record + PCFILE, 0, 4);
    put(record + PCLN, 0, 4);
    uint32_t map = 0;
    if (function.pcdata_count > 1)
        memcpy(&map, function.pcdata + 4, 4);
    memset(record + RECORD, 0, tables);
    if (function.pcdata_count > 1)
        put(record + STACK_MAP, add_pairs(pairs, map), 4);
    add(names, name.data, (size_t)name.size);
    add(names, "", 1);
}

/* Adds a table with the functions that are kept, to replace the original one. */
static void add_table(struct bytes *ret)
{
    struct bytes names = {0}, pairs = {0}, index = {0}, records = {0};
    uint64_t count = 0;
    add_number(&pairs, 0, 1);
    for (uint64_t i = 0; i < own.pclntab->count; i++)
        count += own.functions[i];
    for (uint64_t i = 0; i < own.pclntab->count; i++) {
        if (!own.functions[i])
            continue;
        add_number(&index, pclntab_entry(own.pclntab, i), 4);
        add_number(&index, 8 * count + 4 + records.size, 4);
        add_function(&records, &names, &pairs, i);
    }
    add_number(&index, pclntab_entry(own.pclntab, own.pclntab->count), 4);
    align(&names, 8);
    align(&pairs, 8);
    add(ret, own.pclntab->table.data, 8);
    const uint64_t words[] = {count,
                              0,
                              0,
                              HEADER,
                              HEADER + names.size,
                              HEADER + names.size,
                              HEADER + names.size,
                              HEADER + names.size + pairs.size};
    add(ret, words, sizeof(words));
    add(ret, names.data, names.size);
    add(ret, pairs.data, pairs.size);
    add(ret, index.data, index.size);
    add(ret, records.data, records.size);
    free(names.data);
    free(pairs.data);
    free(index.data);
    free(records.data);
}

struct sections {
    Elf64_Shdr headers[8];
    unsigned count;
    struct bytes names, contents;
};

static void add_section(struct sections *sections, const char *name, uint32_t type, uint64_t flags,
                        uint64_t address, uint64_t size, const void *data)
{
    align(&sections->contents, 8);
    sections->headers[sections->count++] =
        (Elf64_Shdr){.sh_name = (uint32_t)sections->names.size,
                     .sh_type = type,
                     .sh_flags = flags,
                     .sh_addr = address,
                     .sh_offset = sizeof(Elf64_Ehdr) + sections->contents.size,
                     .sh_size = size};
    add(&sections->names, name, strlen(name) + 1);
    if (data)
        add(&sections->contents, data, (size_t)size);
}

static void copy_section(struct sections *sections, const char *name)
{
    const struct image_section *section = image_section(own.image, name);
    if (section)
        add_section(sections, name, section->type, section->flags, section->address,
                    section->data.size, section->data.data);
}

static struct bytes make_exe(void)
{
    struct sections all = {.count = 0};
    struct bytes table = {0}, ret = {0};
    uint8_t module[MODULEDATA_SIZE];
    const uint64_t module_at = exe_moduledata(own.exe);
    const struct image_section *text = image_section(own.image, ".text");
    Elf64_Ehdr header;
    memcpy(module, own.patched, sizeof(module));
    add_table(&table);
    add_section(&all, "", 0, 0, 0, 0, NULL);
    copy_section(&all, ".note.go.buildid");
    add_section(&all, ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, text->address,
                text->data.size, NULL);
    add_section(&all, ".gopclntab", SHT_PROGBITS, SHF_ALLOC, own.pclntab->address, table.size,
                table.data);
    copy_section(&all, ".go.buildinfo");
    add_section(&all, ".noptrdata", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, module_at, 400, module);
    add_section(&all, ".shstrtab", SHT_STRTAB, 0, 0, 0, NULL);
    all.headers[all.count - 1].sh_size = all.names.size;
    add(&all.contents, all.names.data, all.names.size);
    align(&all.contents, 8);
    memcpy(&header, own.image->file.data, sizeof(header));
    header.e_phnum = 0;
    header.e_phoff = 0;
    header.e_shoff = sizeof(header) + all.contents.size;
    header.e_shnum = (uint16_t)all.count;
    header.e_shstrndx = (uint16_t)(all.count - 1);
    add(&ret, &header, sizeof(header));
    add(&ret, all.contents.data, all.contents.size);
    add(&ret, all.headers, all.count * sizeof(all.headers[0]));
    pair_set_size(ret.data, ret.size);
    free(table.data);
    free(all.names.data);
    free(all.contents.data);
    return ret;
}

/* ---- the core ---- */

static void add_bytes_of(struct bytes *bytes, uint64_t address, uint64_t size, const uint8_t *data)
{
    const size_t at = bytes->size;
    add(bytes, data, (size_t)size);
    for (uint64_t i = 0; i < MODULEDATA_SIZE; i++)
        if (own.patched_at + i - address < size)
            bytes->data[at + (own.patched_at + i - address)] = own.patched[i];
}

static struct bytes make_core(void)
{
    struct bytes headers = {0}, contents = {0}, ret = {0};
    size_t count = 1;
    for (size_t i = 0; i < own.range_count; i++) {
        const struct memory_range *range = &own.ranges[i];
        const size_t chunks = (range->size + CHUNK - 1) / CHUNK;
        for (size_t chunk = 0, end; chunk < chunks; chunk = end + 1) {
            for (end = chunk; end < chunks && own.kept[i][end]; end++)
                ;
            const uint64_t start = chunk * CHUNK,
                           size = (end * CHUNK < range->size ? end * CHUNK : range->size) - start;
            if (end == chunk)
                continue;
            const Elf64_Phdr header = {.p_type = PT_LOAD,
                                       .p_flags = PF_R | PF_W,
                                       .p_offset = contents.size,
                                       .p_vaddr = range->address + start,
                                       .p_filesz = size,
                                       .p_memsz = size};
            add(&headers, &header, sizeof(header));
            add_bytes_of(&contents, header.p_vaddr, size, range->data + start);
            count++;
        }
    }
    const uint64_t notes_at = sizeof(Elf64_Ehdr) + count * sizeof(Elf64_Phdr),
                   contents_at = notes_at + own.notes.size;
    Elf64_Ehdr header = {.e_type = ET_CORE,
                         .e_machine = own.process.machine,
                         .e_version = EV_CURRENT,
                         .e_phoff = sizeof(header),
                         .e_ehsize = sizeof(header),
                         .e_phentsize = sizeof(Elf64_Phdr),
                         .e_phnum = (uint16_t)count};
    memcpy(header.e_ident, own.image->file.data, EI_VERSION + 1);
    const Elf64_Phdr notes = {.p_type = PT_NOTE, .p_offset = notes_at, .p_filesz = own.notes.size};
    for (size_t i = 0; i + 1 < count; i++) {
        Elf64_Phdr *load = (Elf64_Phdr *)(void *)(headers.data + i * sizeof(Elf64_Phdr));
        load->p_offset += contents_at;
    }
    add(&ret, &header, sizeof(header));
    add(&ret, &notes, sizeof(notes));
    add(&ret, headers.data, headers.size);
    add(&ret, own.notes.data, own.notes.size);
    add(&ret, contents.data, contents.size);
    free(headers.data);
    free(contents.data);
    return ret;
}

/* Copies the notes that are read. */
static void take_notes(const struct g2h_input *core)
{
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    Elf64_Nhdr note;
    memcpy(&header, core->data, sizeof(header));
    for (unsigned i = 0; i < header.e_phnum; i++) {
        memcpy(&segment, core->data + header.e_phoff + i * sizeof(segment), sizeof(segment));
        if (segment.p_type != PT_NOTE)
            continue;
        for (uint64_t at = segment.p_offset, size; at < segment.p_offset + segment.p_filesz;
             at += size) {
            memcpy(&note, core->data + at, sizeof(note));
            size = sizeof(note) + (note.n_namesz + 3) / 4 * 4 + (note.n_descsz + 3) / 4 * 4;
            if (note.n_type == NT_PRSTATUS || note.n_type == NT_AUXV || note.n_type == NT_FILE)
                add(&own.notes, core->data + at, (size_t)size);
        }
    }
    align(&own.notes, 8);
}

/* ---- trying ---- */

/* Returns the bytes of a dump before its facts: most of these are data without pointers, which no
 * record has, so they need not be whole. */
static uint64_t size_of_records(const struct g2h_input *dump)
{
    const size_t text = sizeof(FACTS_TEXT) - 1;
    uint64_t at = dump->size - text;
    while (at > 0 && memcmp(dump->data + at, FACTS_TEXT, text) != 0)
        at--;
    return at;
}

/* Reads the core with the kept parts of both files. Returns false if that fails. */
static bool try(struct g2h_process_account *ret, uint64_t *ret_size)
{
    struct bytes exe_bytes = make_exe(), core_bytes = make_core();
    struct g2h_input *core = NULL, *dump = NULL;
    struct g2h_exe *exe = NULL;
    char path[64];
    const struct g2h_process_options options = {.threads = 1};
    const int file = memfd_create("exe", MFD_CLOEXEC);
    must(write(file, exe_bytes.data, exe_bytes.size) == (ssize_t)exe_bytes.size, "memfd_create");
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    struct g2h_error *error = g2h_exe_open(path, &exe);
    if (!error)
        error = g2h_input_from_memory("core", core_bytes.data, core_bytes.size, &core);
    if (!error)
        error = g2h_process_read_core(core, exe, &options, ret, &dump);
    const bool is_good = !error;
    *ret_size = is_good ? size_of_records(dump) : 0;
    ret->memory_bytes = ret->file_size = 0;
    if (error && own.tries == 0)
        fprintf(stderr, "shrink: %s\n", error->message);
    own.tries++;
    g2h_error_destroy(error);
    g2h_input_close(dump);
    g2h_input_close(core);
    g2h_exe_close(exe);
    close(file);
    free(exe_bytes.data);
    free(core_bytes.data);
    return is_good;
}

/* Clears the flags of [first, first + count) that are not needed, least or more at a time. */
static void minimize(bool *flags, size_t first, size_t count, size_t least)
{
    struct g2h_process_account account;
    uint64_t size;
    bool any = false;
    for (size_t i = 0; i < count; i++)
        any |= flags[first + i];
    if (!any)
        return;
    bool *saved = malloc(count);
    must(saved != NULL, "no memory");
    memcpy(saved, flags + first, count);
    memset(flags + first, 0, count);
    const bool is_needed = !try(&account, &size) || size != own.wanted_size ||
                           memcmp(&account, &own.wanted, sizeof(account)) != 0;
    if (is_needed)
        memcpy(flags + first, saved, count);
    free(saved);
    if (is_needed && count > least) {
        minimize(flags, first, count / 2, least);
        minimize(flags, first + count / 2, count - count / 2, least);
    }
}

/* Leaves out large pieces first: most of the core is not needed, and trying is quick without it. */
static void minimize_all(void)
{
    enum { COARSE = 1024 };
    for (size_t least = COARSE; least > 0; least /= COARSE)
        for (size_t i = 0; i < own.range_count; i++)
            minimize(own.kept[i], 0, (own.ranges[i].size + CHUNK - 1) / CHUNK, least);
    minimize(own.functions, 1, own.pclntab->count - 1, 1);
}

/* Makes data and bss short in the copy of the moduledata. */
static void shorten(void)
{
    struct layout layout;
    must(layout_of_release(exe_version(own.exe), false, own.process.machine, &layout),
         "a release that is not known");
    static const enum layout_field fields[][3] = {
        {LAYOUT_MODULEDATA_DATA, LAYOUT_MODULEDATA_EDATA, LAYOUT_MODULEDATA_GCDATAMASK},
        {LAYOUT_MODULEDATA_BSS, LAYOUT_MODULEDATA_EBSS, LAYOUT_MODULEDATA_GCBSSMASK}};
    own.patched_at = exe_moduledata(own.exe);
    const uint8_t *module = memory_at(&own.process.memory, own.patched_at, MODULEDATA_SIZE);
    must(module != NULL, "there is no runtime.firstmoduledata");
    own.patched = malloc(MODULEDATA_SIZE);
    must(own.patched != NULL, "no memory");
    memcpy(own.patched, module, MODULEDATA_SIZE);
    for (size_t i = 0; i < 2; i++) {
        uint64_t start;
        memcpy(&start, own.patched + layout.members[fields[i][0]].offset, WORD);
        put(own.patched + layout.members[fields[i][1]].offset, start + SHORT, WORD);
        put(own.patched + layout.members[fields[i][2]].offset, SHORT / WORD, 4);
    }
}

/* Adds the tables of functions about their frames (moduledata.gofunc), which from Go 1.26 or so on
 * are in the section of the table of functions, that is replaced. */
static void add_gofunc(void)
{
    struct layout layout;
    uint64_t gofunc;
    const uint64_t module = exe_moduledata(own.exe);
    must(layout_of_release(exe_version(own.exe), false, own.process.machine, &layout) &&
             memory_read(&own.process.memory,
                         module + layout.members[LAYOUT_MODULEDATA_GOFUNC].offset, WORD, &gofunc),
         "there is no moduledata.gofunc");
    for (size_t i = 0; i < own.image->section_count; i++) {
        const struct image_section *section = &own.image->sections[i];
        const uint64_t offset = gofunc - section->address;
        if (section->address == own.pclntab->address && offset < section->data.size)
            must(memory_add(&own.process.memory, gofunc, section->data.size - offset,
                            section->data.data + offset),
                 "no memory");
    }
    memory_sort(&own.process.memory);
}

static void read_all(const char *exe_path, const struct g2h_input *core)
{
    struct core_account account;
    check(g2h_exe_open(exe_path, &own.exe));
    own.image = exe_image(own.exe);
    own.pclntab = exe_pclntab(own.exe);
    must(own.pclntab->record_size == RECORD, "the executable is of an old release of Go");
    check(core_read(core, &own.process, &account));
    /* Sections that the executable has and the core has not go to the core that is written. */
    for (size_t i = 0; i < own.image->section_count; i++) {
        const struct image_section *section = &own.image->sections[i];
        if ((section->flags & SHF_ALLOC) != 0 && (section->flags & SHF_EXECINSTR) == 0 &&
            section->data.size > 0 && section->address != own.pclntab->address)
            must(memory_add(&own.process.memory, section->address, section->data.size,
                            section->data.data),
                 "no memory");
    }
    memory_sort(&own.process.memory);
    add_gofunc();
    own.ranges = own.process.memory.ranges.data;
    own.range_count = own.process.memory.ranges.count;
    take_notes(core);
    shorten();
}

int main(int argc, char **argv)
{
    struct g2h_input *core;
    must(argc == 4, "usage: shrink EXECUTABLE CORE OUTPUT");
    check(g2h_input_open(argv[2], NULL, &core));
    read_all(argv[1], core);
    own.functions = malloc(own.pclntab->count);
    own.kept = calloc(own.range_count, sizeof(*own.kept));
    must(own.functions && own.kept, "no memory");
    memset(own.functions, 1, own.pclntab->count);
    for (size_t i = 0; i < own.range_count; i++) {
        const size_t chunks = (own.ranges[i].size + CHUNK - 1) / CHUNK;
        own.kept[i] = malloc(chunks);
        must(own.kept[i] != NULL, "no memory");
        memset(own.kept[i], 1, chunks);
    }
    must(try(&own.wanted, &own.wanted_size), "the core cannot be read");
    minimize_all();
    const struct bytes exe = make_exe(), small = make_core();
    FILE *output = fopen(argv[3], "wb");
    must(output && fwrite(exe.data, 1, exe.size, output) == exe.size &&
             fwrite(small.data, 1, small.size, output) == small.size && fclose(output) == 0,
         "cannot write");
    fprintf(stderr, "%zu + %zu bytes, %u tries, %llu objects, %llu frames\n", exe.size, small.size,
            own.tries, (unsigned long long)own.wanted.objects,
            (unsigned long long)own.wanted.frames);
    return 0;
}
