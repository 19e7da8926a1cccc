/*
 * loaded: whether a process has only just started its program, where it has loaded the executable,
 * the functions of it that a fork borrows, and whether it is the one that is given; see loaded.h.
 * The slide is the distance from the file's addresses to those of the process. same_build_check()
 * compares what both have, the cheapest first: build information and build IDs, read-only data,
 * code; breakpoints and live patches are no difference. same_build_moduledata() compares what the
 * linker has written to the moduledata.
 */
#include "process/loaded.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <go2heapsnapshot/process.h>

#include "base/bytes.h"
#include "base/elf_format.h"
#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/port.h"
#include "exe/go/build_info.h"
#include "process/attach/procfs.h"

/* ==== whether a live process has only just started its program ==== */

/* A program may take this many seconds before its runtime is ready, on a heavily overloaded
 * machine. */
#define NEW 3.0

/* Returns whether the process started less than NEW seconds ago; false if its start is not
 * known. */
bool g2h_process_is_new(uint64_t pid)
{
    const uint64_t start = procfs_stat_number(pid, PROCFS_START);
    struct timespec now;
    if (start == UINT64_MAX || clock_gettime(CLOCK_BOOTTIME, &now) != 0)
        return false;
    return (double)now.tv_sec - (double)start / (double)sysconf(_SC_CLK_TCK) < NEW;
}

/* Reads the random bytes that the kernel passes each program at its start (AT_RANDOM). Returns
 * false if they are missing. */
static bool read_random(uint64_t pid, uint64_t ret[2])
{
    const uint64_t address = procfs_auxv(pid, AT_RANDOM);
    const int fd = address != 0 ? open(procfs_path(pid, "mem").text, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return false;
    const bool good = pread(fd, ret, 16, (off_t)address) == 16;
    close(fd);
    return good;
}

/* Returns whether a process's first thread has exited, but others live on: one of them may be in
 * execve(), and will end the others. */
static bool may_be_in_exec(uint64_t pid)
{
    enum { THREADS = 20 /* num_threads of proc(5), stat */ };
    const uint64_t threads = procfs_stat_number(pid, THREADS);
    return procfs_living_thread(pid) != pid && threads > 1 && threads != UINT64_MAX;
}

/* Returns a number that tells the program which a process runs from others; 0: the process has
 * ended, or may not be read. Each execve() gives a program other random bytes (AT_RANDOM), so these
 * identify the program that a process runs. */
uint64_t g2h_process_image(uint64_t pid)
{
    enum { TRIES = 5, TRIES_IN_EXEC = 200 };
    const struct timespec pause = {.tv_nsec = 2000000}; /* 2 ms */
    uint64_t random[2];
    /* In execve() a process has no memory for a moment. */
    for (int i = 1; !read_random(pid, random); i++) {
        if (i >= (may_be_in_exec(pid) ? TRIES_IN_EXEC : TRIES) || !procfs_has_process(pid))
            return 0;
        nanosleep(&pause, NULL);
    }
    const uint64_t image = map_hash(random[0] ^ random[1]);
    return image != 0 ? image : 1;
}

/* ==== where a process has loaded an executable or a library ==== */

enum { WORD = 8 };

/* Offsets of fields in the header of ELF and in a program header. */
#define IN_HEADER(field) offsetof(Elf64_Ehdr, field)

#define IN_SEGMENT(field) offsetof(Elf64_Phdr, field)

/* Returns whether the dynamic linker may load the file anywhere (PIE): otherwise it is at its own
 * addresses. */
static bool is_movable(const struct image *image)
{
    return image->format == IMAGE_ELF && image->is_64 && image->file.size >= sizeof(Elf64_Ehdr) &&
           image_u16(image, image->file.data + IN_HEADER(e_type)) == ET_DYN;
}

/* Finds the address, in the file, of the segment that the file begins with. Returns false if there
 * is none. */
static bool find_start(const struct image *image, uint64_t *ret)
{
    const uint8_t *header = image->file.data;
    const uint64_t size = image->file.size;
    const uint64_t at = image_word(image, header + IN_HEADER(e_phoff));
    const uint64_t entry = image_u16(image, header + IN_HEADER(e_phentsize));
    const uint64_t count = image_u16(image, header + IN_HEADER(e_phnum));
    if (entry < sizeof(Elf64_Phdr) || at > size || entry * count > size - at)
        return false;
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *segment = header + at + i * entry;
        if (image_u32(image, segment + IN_SEGMENT(p_type)) != PT_LOAD ||
            image_word(image, segment + IN_SEGMENT(p_offset)) != 0)
            continue;
        *ret = image_word(image, segment + IN_SEGMENT(p_vaddr));
        return true;
    }
    return false;
}

/* Returns whether a process has the file's moduledata at its address plus slide. */
static bool is_at(const struct process *process, const struct g2h_exe *exe, uint64_t slide)
{
    const uint64_t moduledata = exe_moduledata(exe);
    uint64_t table;
    return moduledata != 0 && memory_read(&process->memory, moduledata + slide, WORD, &table) &&
           table == exe_pclntab(exe)->address + slide;
}

/* Finds where the process has mapped the file, as the slide. The entry point of the process shows
 * it for the program itself. A library is where the file is mapped from its start on: best where
 * its moduledata is, too, else where the mapped file has its name. Returns false if it is not
 * found. */
bool loaded_find(const struct process *process, const struct g2h_exe *exe, uint64_t *ret)
{
    const struct image *image = exe_image(exe);
    uint64_t start;
    *ret = 0;
    if (!is_movable(image))
        return true;
    const uint64_t entry = image_word(image, image->file.data + IN_HEADER(e_entry));
    bool is_found = entry != 0; /* libraries have none */
    unsigned best = 0;
    if (is_found && process->entry != 0)
        *ret = process->entry - entry;
    if (is_at(process, exe, *ret) || !find_start(image, &start))
        return true;
    VECTOR_EACH(const struct mapped_file, file, process->files) {
        const uint64_t slide = file->address - start;
        if (file->offset != 0)
            continue;
        /* Two builds may have all at the same addresses, as a stripped one and one that is not. */
        const bool has_name =
            bytes_same(bytes_base_name(file->path), bytes_base_name(bytes_of(g2h_exe_path(exe))));
        const unsigned worth = 2u * is_at(process, exe, slide) + has_name;
        if (worth <= best)
            continue;
        best = worth;
        *ret = slide;
        is_found = true;
    }
    return is_found;
}

/* ---- what a fork borrows ---- */

/* Finds the distance from the file's addresses to those of the process, by its mappings. Returns
 * false if it is not found. */
static bool find_slide(uint64_t pid, const struct g2h_exe *exe, uint64_t *ret)
{
    _cleanup_(process_deinit) struct process process = {.entry = procfs_auxv(pid, AT_ENTRY)};
    _cleanup_(text_deinit) struct text maps = {0};
    return procfs_read_of(pid, "maps", &maps) == 0 &&
           mapped_parse_maps(maps.data, &process.files) && loaded_find(&process, exe, ret);
}

static bool fork_code_is_named(const struct pclntab *pclntab, uint64_t index, const char *name)
{
    const struct g2h_bytes its = pclntab_name(pclntab, index);
    return its.size == strlen(name) && memcmp(its.data, name, its.size) == 0;
}

/* Finds the addresses, in the process, of the functions that a fork needs: a thread that sleeps in
 * runtime.futex can be borrowed, and runtime.exit ends the child. 0: not found. */
struct inject_code fork_code_find(uint64_t pid, const struct g2h_exe *exe)
{
    const struct pclntab *pclntab = exe_pclntab(exe);
    const uint64_t first = exe_module(exe)->minpc;
    struct inject_code code = {0, 0};
    uint64_t slide;
    if (first == 0 || !find_slide(pid, exe, &slide))
        return code;
    for (uint64_t i = 0; i < pclntab->count && (code.futex == 0 || code.exit == 0); i++)
        if (fork_code_is_named(pclntab, i, "runtime.futex"))
            code.futex = first + pclntab_entry(pclntab, i) + slide;
        else if (fork_code_is_named(pclntab, i, "runtime.exit"))
            code.exit = first + pclntab_entry(pclntab, i) + slide;
    return code;
}

/* ==== whether an executable is the build that a process runs ====
 *
 * The code of a live process is not in its copy: it is read from the process, unless the executable
 * is the very file that the process runs.
 */

/* Returns the error that the executable is another build than the one that ran. */
static struct g2h_error *same_build_refuse(const struct runtime *runtime, const char *why)
{
    return error_create(G2H_ERROR_NOT_EXE, "%s: is another build than the one %s ran: %s",
                        g2h_exe_path(runtime->exe), runtime->process->name, why);
}

/* ---- available parts ---- */

/* Consecutive bytes of a section that the process has, except those that are zero only because they
 * were never touched. */
struct same_build_part {
    uint64_t at;            /* its offset in the section */
    const uint8_t *process; /* NULL: they cannot be read */
    uint64_t size;
};

/* Finds the next part at or after the offset part->at + part->size; *part is zeros before the first
 * call. Returns false if there is none. */
static bool same_build_next_part(const struct runtime *runtime, const struct image_section *section,
                                 struct same_build_part *part)
{
    enum { MOST = 1 << 20 /* bytes of a part */ };
    const struct memory *memory = runtime->memory;
    const uint64_t start = section->address + runtime->slide;
    const uint64_t end = start + section->data.size;
    uint64_t at = start + part->at + part->size;
    size_t i;
    BISECT(i, memory->ranges.count, memory->ranges.data[i].address <= at);
    /* From the range before on, which may reach to there. */
    for (i -= i > 0; i < memory->ranges.count && memory->ranges.data[i].address < end; i++) {
        const struct memory_range *range = &memory->ranges.data[i];
        const uint64_t range_end = range->address + range->size;
        const uint64_t last = MIN(range_end, end);
        at = MAX(range->address, at);
        while (at < last) {
            struct range hole;
            (void)ranges_next(&memory->untouched, at, last, &hole);
            if (at < hole.begin) {
                *part = (struct same_build_part){.at = at - start, .size = hole.begin - at};
                part->size = MIN(part->size, MOST);
                part->process = memory_at(memory, at, part->size);
                return true;
            }
            at = hole.end;
        }
    }
    return false;
}

/* ---- constants ---- */

/* Returns whether a section is the same in the file and in the process, as far as the process has
 * it. */
static bool same_bytes(const struct runtime *runtime, const struct image_section *section)
{
    struct same_build_part part = {0};
    while (same_build_next_part(runtime, section, &part))
        if (part.process &&
            memcmp(section->data.data + part.at, part.process, (size_t)part.size) != 0)
            return false;
    return true;
}

/* Returns whether count words of the file and the process are the same, or addresses that the
 * dynamic linker has moved by the slide. */
static bool same_words(const struct image *image, const uint8_t *file, const uint8_t *process,
                       uint64_t count, uint64_t slide)
{
    if (memcmp(file, process, (size_t)(count * WORD)) == 0)
        return true;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t its = memory_number(process + i * WORD, WORD),
                       ours = image_word(image, file + i * WORD);
        if (its != ours && its != ours + slide)
            return false;
    }
    return true;
}

/* Compares descriptors of types that the dynamic linker has moved, word by word. Returns false if
 * they differ. */
static bool same_types(const struct runtime *runtime)
{
    const struct moduledata *module = exe_module(runtime->exe);
    const struct image *image = exe_image(runtime->exe);
    const uint64_t size = (module->etypes - module->types) / WORD * WORD;
    const uint8_t *file = image_at(image, module->types, size);
    const struct image_section types = {.data = bytes_at(file, file ? size : 0),
                                        .address = module->types};
    struct same_build_part part = {0};
    while (same_build_next_part(runtime, &types, &part)) {
        const uint64_t skipped = (WORD - part.at % WORD) % WORD;
        if (part.process && part.size > skipped &&
            !same_words(image, file + part.at + skipped, part.process + skipped,
                        (part.size - skipped) / WORD, runtime->slide))
            return false;
    }
    return true;
}

/* Compares read-only data, which differs between any two builds. Sections that the file lacks, or
 * that are written to, are passed over. */
static struct g2h_error *check_constants(const struct runtime *runtime)
{
    /* The sections of Go's linker that contain no addresses of a PIE. */
    static const char *const names[] = {".rodata", ".gopclntab", ".typelink", ".go.type",
                                        ".go.func"};
    const struct image *image = exe_image(runtime->exe);
    char why[64];
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const struct image_section *section = image_section(image, names[i]);
        if (!section || (section->flags & SHF_WRITE) != 0 || same_bytes(runtime, section))
            continue;
        snprintf(why, sizeof(why), "its section %s differs from the process's", names[i]);
        return same_build_refuse(runtime, why);
    }
    return same_types(runtime)
               ? NULL
               : same_build_refuse(runtime, "its types differ from those of the process");
}

/* ---- build IDs and build information ---- */

/* Returns whether the notes with build IDs are the same in the process as in the executable's file.
 * A note that the file lacks, or whose memory cannot be read, counts as the same. */
static bool has_same_notes(const struct runtime *runtime, const struct image *image)
{
    static const char *const names[] = {".note.go.buildid", ".note.gnu.build-id"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const struct image_section *section = image_section(image, names[i]);
        const uint64_t address = section ? section->address + runtime->slide : 0;
        if (!section || !memory_range_at(runtime->memory, address))
            continue;
        const uint8_t *bytes = memory_at(runtime->memory, address, section->data.size);
        if (bytes && memcmp(bytes, section->data.data, section->data.size) != 0)
            return false;
    }
    return true;
}

/* Compares the build information, which says best how two builds differ. Nothing is concluded if
 * either has none. */
static struct g2h_error *check_build_info(const struct runtime *runtime)
{
    _cleanup_(text_deinit) struct text why = {0};
    uint64_t address;
    const struct g2h_bytes info = build_info_find(exe_image(runtime->exe), &address);
    const struct image_section *section = image_section(exe_image(runtime->exe), ".go.buildinfo");
    const uint64_t at = address + runtime->slide;
    if (!section || info.size == 0 || !memory_range_at(runtime->memory, at))
        return NULL;
    const uint8_t *bytes = memory_at(runtime->memory, at, info.size);
    if (!bytes || memcmp(bytes, info.data, info.size) == 0)
        return NULL;
    build_info_describe(info, (struct g2h_bytes){bytes, info.size}, &why);
    text_append(&why, "", 1);
    TRY_MEMORY(!why.failed);
    return same_build_refuse(runtime, why.data);
}

/* ---- code ---- */

/* Returns the size, in bytes, of the breakpoint instruction of a machine that code begins with
 * (left bytes of it); 0: it begins with another one, or the machine is not known. */
static unsigned breakpoint_size(uint16_t machine, const uint8_t *at, uint64_t left)
{
    const uint32_t word = left >= 4 ? (uint32_t)memory_number(at, 4) : 0;
    switch (machine) {
    case EM_X86_64: /* INT3 */
        return at[0] == 0xcc;
    case EM_AARCH64: /* BRK #imm16 */
        return (word & 0xffe0001f) == 0xd4200000 ? 4 : 0;
    case EM_PPC64: /* trap */
        return word == 0x7fe00008 ? 4 : 0;
    case EM_LOONGARCH: /* break code */
        return (word & 0xffff8000) == 0x002a0000 ? 4 : 0;
    case EM_RISCV: /* ebreak, c.ebreak */
        if (word == 0x00100073)
            return 4;
        return (word & 0xffff) == 0x9002 ? 2 : 0;
    default:
        return 0;
    }
}

/* Returns how many bytes a jump may take that has been written over the beginning of a function; 0
 * if no function begins at the address. */
static uint64_t patch_bytes_at(const struct same_build_code *code, uint64_t address)
{
    enum { LONGEST = 24 }; /* an address is loaded, and jumped to */
    uint64_t function;
    return code->minpc != 0 && address >= code->minpc &&
                   pclntab_find(code->pclntab, address - code->minpc, &function) &&
                   pclntab_entry(code->pclntab, function) == address - code->minpc
               ? LONGEST
               : 0;
}

/* Returns the alignment of a machine's instructions. */
static unsigned alignment_of_code(uint16_t machine)
{
    if (machine == EM_X86_64)
        return 1;
    return machine == EM_RISCV ? 2 : 4;
}

/* Finds the first address at which code in the process differs from the file. Breakpoints of
 * debuggers, and jumps at the start of functions (live patches), are no difference: they begin
 * where the instruction with the first other byte does (first), which is known where instructions
 * are aligned. Returns false if there is none. */
bool same_build_code_differs(const struct same_build_code *code, uint64_t *ret)
{
    enum { BLOCK = 256 }; /* bytes that are compared at once */
    const unsigned aligned = alignment_of_code(code->machine);
    for (uint64_t i = 0; i < code->size;) {
        const uint64_t left = code->size - i;
        const uint64_t block = MIN(left, BLOCK);
        if (memcmp(code->file + i, code->process + i, (size_t)block) == 0) {
            i += block;
            continue;
        }
        while (code->file[i] == code->process[i])
            i++;
        const uint64_t within = (code->address + i) % aligned; /* bytes into the instruction */
        const uint64_t first = within <= i ? i - within : i;
        const uint64_t skipped =
            breakpoint_size(code->machine, code->process + first, code->size - first);
        const uint64_t patch = skipped == 0 ? patch_bytes_at(code, code->address + first) : 0;
        if (skipped == 0 && patch == 0) {
            *ret = code->address + i;
            return true;
        }
        i = first + skipped + patch;
    }
    return false;
}

/* Compares a part of the code; at is its offset in the section. If it differs, the error names the
 * function. */
static struct g2h_error *check_code_part(const struct runtime *runtime,
                                         const struct image_section *section, uint64_t at,
                                         const uint8_t *process, uint64_t size)
{
    const struct same_build_code code = {.file = section->data.data + at,
                                         .process = process,
                                         .size = size,
                                         .address = section->address + at,
                                         .machine = exe_image(runtime->exe)->machine,
                                         .pclntab = runtime->pclntab,
                                         .minpc = exe_module(runtime->exe)->minpc};
    _cleanup_(text_deinit) struct text why = {0};
    uint64_t address, function;
    if (!same_build_code_differs(&code, &address))
        return NULL;
    text_printf(&why, "its code differs from the process's");
    if (code.minpc != 0 && address >= code.minpc &&
        pclntab_find(code.pclntab, address - code.minpc, &function)) {
        const struct g2h_bytes name = pclntab_name(code.pclntab, function);
        text_printf(&why, ", first in %.*s", as_width(bytes_at_most(name, 150).size), name.data);
    }
    text_append(&why, "", 1);
    TRY_MEMORY(!why.failed);
    return same_build_refuse(runtime, why.data);
}

/* Compares the code, as far as a core has it. */
static struct g2h_error *check_code_in_core(const struct runtime *runtime,
                                            const struct image_section *section)
{
    struct same_build_part part = {0};
    while (same_build_next_part(runtime, section, &part))
        if (part.process)
            TRY(check_code_part(runtime, section, part.at, part.process, part.size));
    return NULL;
}

/* Compares the code of a live process, read through memory (/proc/PID/mem). A process that has
 * ended meanwhile has no code any more, which is no error. Errors: those of check_code_part(). */
static struct g2h_error *check_live_code(const struct runtime *runtime,
                                         const struct image_section *section, int memory)
{
    enum { MOST = 1 << 20 /* bytes that are read at a time */ };
    _cleanup_free_ uint8_t *bytes = malloc(MOST);
    TRY_MEMORY(bytes);
    for (uint64_t at = 0; at < section->data.size;) {
        const uint64_t left = section->data.size - at;
        const ssize_t size = pread(memory, bytes, left < MOST ? (size_t)left : MOST,
                                   (off_t)(section->address + runtime->slide + at));
        if (size <= 0)
            break;
        TRY(check_code_part(runtime, section, at, bytes, (uint64_t)size));
        at += (uint64_t)size;
    }
    return NULL;
}

/* Compares the section of code with that of the process. Nothing is concluded if it cannot be
 * read. */
static struct g2h_error *check_code(const struct runtime *runtime)
{
    const struct image_section *section = image_section(exe_image(runtime->exe), ".text");
    const uint64_t pid = runtime->process->pid;
    if (!section || pid == 0)
        return section ? check_code_in_core(runtime, section) : NULL;
    const int memory = open(procfs_path(pid, "mem").text, O_RDONLY | O_CLOEXEC);
    if (memory < 0)
        return NULL;
    struct g2h_error *error = check_live_code(runtime, section, memory);
    close(memory);
    return error;
}

/* ---- all of it ---- */

/* Returns whether the executable is the file that a live process runs. */
static bool is_file_of_process(const struct runtime *runtime)
{
    const struct stat *file = g2h_input_status(g2h_exe_input(runtime->exe, 0));
    struct stat its;
    return runtime->process->pid != 0 && file &&
           stat(procfs_path(runtime->process->pid, "exe").text, &its) == 0 &&
           its.st_dev == file->st_dev && its.st_ino == file->st_ino;
}

/* Checks that the executable is the build that runs. The cheapest checks come first; if the file is
 * the very one that runs, the rest is not needed. */
struct g2h_error *same_build_check(const struct runtime *runtime)
{
    TRY(check_build_info(runtime));
    if (!has_same_notes(runtime, exe_image(runtime->exe)))
        return same_build_refuse(runtime, "build IDs differ");
    if (is_file_of_process(runtime))
        return NULL;
    TRY(check_constants(runtime));
    return check_code(runtime);
}

/* Returns whether the moduledata of the process and the file agree. Compares the words before
 * gcdatamask, but for the last. True as well if one of both cannot be read. */
bool same_build_moduledata(const struct runtime *runtime, uint64_t address)
{
    const struct image *image = exe_image(runtime->exe);
    const uint64_t end = runtime_offset(runtime, LAYOUT_MODULEDATA_GCDATAMASK),
                   count = end / WORD - (end >= WORD); /* the last word is hasmain and bad */
    const uint8_t *file = image_at(image, exe_moduledata(runtime->exe), count * WORD),
                  *process = memory_at(runtime->memory, address, count * WORD);
    return !file || !process || same_words(image, file, process, count, runtime->slide);
}
