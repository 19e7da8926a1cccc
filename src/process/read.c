/*
 * read: makes a dump of a core file or a live process; see read.h, which lists the files of the
 * module. The parts: core reads an ELF core into a struct process; modules lists the Go files that
 * are mapped, and which of them share the runtime that is read; read_process() finds the runtime,
 * checks that the executable is the same build, and writes all records; the last part does so for
 * cores, live processes, and copies of processes that have died.
 */
#include "process/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "base/elf_format.h"
#include "base/error.h"
#include "base/port.h"
#include "base/process_root.h"
#include "base/text.h"
#include "base/workers.h"
#include "exe/exe.h"
#include "input/input.h"
#include "input/magic.h"
#include "process/attach/attach.h"
#include "process/attach/available.h"
#include "process/attach/procfs.h"
#include "process/loaded.h"
#include "process/process_memory.h"
#include "process/records.h"
#include "process/runtime.h"

/* ==== ELF core files ==== */

/* If a core has more segments than its header can count, the first section has their number. */
enum { NUMBER_ELSEWHERE = 0xffff };

/* Offsets in struct elf_prstatus (linux/elfcore.h) on 64-bit machines: the thread's id (pr_pid) and
 * its registers (pr_reg). The registers are followed by a word that is set if there are other
 * registers (pr_fpvalid). */
enum { PRSTATUS_ID = 32, PRSTATUS_REGISTERS = 112 };

struct core_reading {
    const struct g2h_input *input;
    struct process *process;
    struct core_account *account;
    struct g2h_bytes files; /* NT_FILE */
    uint64_t left;          /* bytes that segments may still have: no two share bytes of the file */
};

/* Returns size bytes at an offset of the file, or NULL if the file does not have them. */
static const uint8_t *core_bytes_at(const struct core_reading *reading, uint64_t offset,
                                    uint64_t size)
{
    const struct g2h_input *input = reading->input;
    return offset <= input->size && size <= input->size - offset ? input->data + offset : NULL;
}

static uint64_t core_word_at(const uint8_t *bytes)
{
    return memory_number(bytes, 8);
}

static uint32_t core_number_at(const uint8_t *bytes)
{
    return (uint32_t)memory_number(bytes, 4);
}

/* ---- notes ---- */

/* Adds a thread with its number and registers, PROCESS_MOST_REGISTERS at most, from its note
 * (NT_PRSTATUS); none if the note is cut. */
static struct g2h_error *take_thread(struct core_reading *reading, struct g2h_bytes note)
{
    struct process_thread thread = {0};
    if (note.size < PRSTATUS_REGISTERS + 8)
        return NULL;
    const uint64_t words = (note.size - PRSTATUS_REGISTERS) / 8 - 1;
    thread.id = core_number_at(note.data + PRSTATUS_ID);
    thread.count = words < PROCESS_MOST_REGISTERS ? (unsigned)words : PROCESS_MOST_REGISTERS;
    for (unsigned i = 0; i < thread.count; i++)
        thread.registers[i] = core_word_at(note.data + PRSTATUS_REGISTERS + 8 * (size_t)i);
    TRY_MEMORY(vector_push(&reading->process->threads, thread));
    return NULL;
}

/* Finds the address of the program's entry point, by which its load address is known, in the
 * auxiliary vector. */
static void take_auxv(struct core_reading *reading, struct g2h_bytes note)
{
    for (uint64_t i = 0; i + 16 <= note.size; i += 16)
        if (core_word_at(note.data + i) == AT_ENTRY)
            reading->process->entry = core_word_at(note.data + i + 8);
}

/* Reads a note of one of the known types, and ignores others. */
static struct g2h_error *take_note(struct core_reading *reading, uint32_t type,
                                   struct g2h_bytes note)
{
    if (type == NT_PRSTATUS)
        return take_thread(reading, note);
    if (type == NT_AUXV)
        take_auxv(reading, note);
    if (type == NT_FILE)
        reading->files = note;
    return NULL;
}

/* Returns the size of a name or of a note's contents with its padding: both begin at multiples of
 * 4. */
static uint64_t padded(uint64_t size)
{
    return (size + 3) & ~UINT64_C(3);
}

/* Reads the notes of a segment of a core, up to the first that is not, or not all, in the file. */
static struct g2h_error *read_notes(struct core_reading *reading, uint64_t offset, uint64_t size)
{
    const uint64_t end = offset + size;
    const uint8_t *header;
    while (offset < end && end - offset >= sizeof(Elf64_Nhdr) &&
           (header = core_bytes_at(reading, offset, sizeof(Elf64_Nhdr))) != NULL) {
        const uint64_t name = padded(core_number_at(header));
        const uint64_t count = core_number_at(header + offsetof(Elf64_Nhdr, n_descsz));
        offset += sizeof(Elf64_Nhdr) + name;
        const uint8_t *data =
            offset <= end && count <= end - offset ? core_bytes_at(reading, offset, count) : NULL;
        if (!data)
            return NULL;
        TRY(take_note(reading, core_number_at(header + offsetof(Elf64_Nhdr, n_type)),
                      bytes_at(data, count)));
        offset += padded(count);
    }
    return NULL;
}

/* Finds the files that were mapped, and the one that contains the program's entry point, if one
 * does. */
static struct g2h_error *find_files(const struct core_reading *reading)
{
    struct process *process = reading->process;
    TRY_MEMORY(mapped_parse_note(reading->files, &process->files));
    const struct mapped_file *file =
        process->entry != 0 ? mapped_at(&process->files, process->entry) : NULL;
    if (!file)
        return NULL;
    process->executable = bytes_copied(file->path);
    TRY_MEMORY(process->executable);
    return NULL;
}

/* ---- segments ---- */

/* Counts bytes that the core should have but does not: it is cut. The sum saturates. */
static void add_missing(struct core_account *account, uint64_t bytes)
{
    const uint64_t most = UINT64_MAX - account->missing;
    account->missing += MIN(bytes, most);
}

/* Reads a segment of the core: its notes, or its memory, as far as the file has it. What the
 * segment promises and the file lacks is counted as missing. reading->left limits overlapping
 * segments of a damaged core to the size of the file. Nothing for segments of other kinds. */
static struct g2h_error *take_segment(struct core_reading *reading, const uint8_t *header)
{
    const uint32_t type = core_number_at(header);
    const uint64_t offset = core_word_at(header + offsetof(Elf64_Phdr, p_offset));
    const uint64_t address = core_word_at(header + offsetof(Elf64_Phdr, p_vaddr));
    const uint64_t promised = core_word_at(header + offsetof(Elf64_Phdr, p_filesz));
    const uint64_t file = reading->input->size;
    const uint64_t rest_of_file = offset < file ? file - offset : 0;
    const uint64_t in_file = MIN(promised, rest_of_file);
    const uint64_t there = MIN(in_file, reading->left);
    if (type != PT_NOTE && type != PT_LOAD)
        return NULL;
    reading->left -= there;
    if (type == PT_NOTE)
        return read_notes(reading, offset, there);
    reading->account->segments++;
    add_missing(reading->account, promised - in_file);
    if (offset <= UINT64_MAX - promised && offset + promised > reading->account->size)
        reading->account->size = offset + promised;
    TRY_MEMORY(memory_add(&reading->process->memory, address, there,
                          there > 0 ? reading->input->data + offset : NULL));
    return NULL;
}

/* Returns the number of segments; NUMBER_ELSEWHERE if it is in a section that is not in the file.
 */
static uint64_t count_segments(const struct core_reading *reading)
{
    const uint8_t *header = reading->input->data;
    const uint64_t count = memory_number(header + offsetof(Elf64_Ehdr, e_phnum), 2);
    if (count != NUMBER_ELSEWHERE)
        return count;
    const uint64_t sections = core_word_at(header + offsetof(Elf64_Ehdr, e_shoff));
    const uint8_t *first = core_bytes_at(reading, sections, sizeof(Elf64_Shdr));
    return first ? core_number_at(first + offsetof(Elf64_Shdr, sh_info)) : count;
}

/* Finds the pages that the process has never touched: they are holes of the core that the kernel
 * writes (core(5)). Returns false if memory runs out. */
static bool find_untouched(struct core_reading *reading)
{
    struct memory *memory = &reading->process->memory;
    bool good = true;
    for (size_t i = 0; i < memory->ranges.count; i++) {
        const struct memory_range range = memory->ranges.data[i];
        const uint64_t begin = as_size(range.data - reading->input->data);
        const uint64_t end = begin + range.size;
        struct range hole;
        for (uint64_t at = begin; ranges_next(input_holes(reading->input), at, end, &hole) && good;
             at = hole.end)
            good = ranges_add(&memory->untouched, range.address + (hole.begin - begin),
                              range.address + (hole.end - begin));
    }
    return good;
}

/* Reads all segments, up to the first whose header is not in the file; sorts the memory, and finds
 * which files were mapped. */
static struct g2h_error *read_segments(struct core_reading *reading)
{
    const struct g2h_input *input = reading->input;
    const uint64_t first = core_word_at(input->data + offsetof(Elf64_Ehdr, e_phoff));
    const uint64_t count = count_segments(reading);
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *header =
            core_bytes_at(reading, first + i * sizeof(Elf64_Phdr), sizeof(Elf64_Phdr));
        if (!header)
            break;
        TRY(take_segment(reading, header));
    }
    memory_sort(&reading->process->memory);
    TRY_MEMORY(find_untouched(reading));
    return find_files(reading);
}

/* Reads a core as a process. A core that is cut in the middle is read as far as it goes; the
 * account says what is missing. */
struct g2h_error *core_read(const struct g2h_input *input, struct process *ret,
                            struct core_account *ret_account)
{
    struct core_reading reading = {
        .input = input, .process = ret, .account = ret_account, .left = input->size};
    const uint8_t *header = input->data;
    *ret = (struct process){.name = input->name};
    *ret_account = (struct core_account){0};
    if (input->size < sizeof(Elf64_Ehdr) || memcmp(header, ELFMAG, SELFMAG) != 0)
        return error_create(G2H_ERROR_NOT_DUMP,
                            "%s: a core file of this kind is not read: ELF cores of 64-bit "
                            "little-endian machines are",
                            input->name);
    const char *bits = header[EI_CLASS] == ELFCLASS64 ? "64" : "32";
    const char *order = header[EI_DATA] == ELFDATA2MSB ? "big" : "little";
    if (header[EI_CLASS] != ELFCLASS64 || header[EI_DATA] != ELFDATA2LSB)
        return error_create(G2H_ERROR_NOT_DUMP,
                            "%s: is the core of a %s-bit %s-endian process: only 64-bit "
                            "little-endian ones are read",
                            input->name, bits, order);
    ret->machine = (uint16_t)memory_number(header + offsetof(Elf64_Ehdr, e_machine), 2);
    TRY(read_segments(&reading));
    if (ret->memory.ranges.count == 0)
        return error_create(G2H_ERROR_NOT_DUMP, "%s: this core file has no memory in it%s",
                            input->name, ret_account->missing > 0 ? ": it is cut" : "");
    return NULL;
}

/* ==== which of the Go files mapped by a process share the runtime that is read ====
 *
 * The files with Go code that a process has mapped; see include/go2heapsnapshot/process.h.
 */

/* A process has a few hundred libraries, and at most this many mappings, unless vm.max_map_count is
 * raised; a forged core may name any number of files. */
enum { MOST_FILES = 1 << 16 };

static const char deleted[] = " (deleted)";

/* Returns whether the kernel says that a mapped file has been removed or replaced. */
static bool is_deleted(struct g2h_bytes path)
{
    const size_t size = sizeof(deleted) - 1;
    return path.size > size && memcmp(path.data + path.size - size, deleted, size) == 0;
}

/* Makes the path by which a file of a live process, or of a core if pid is 0, can be opened now. A
 * file that has been removed or replaced can only be opened by its mapping. Returns NULL if memory
 * runs out. */
static char *file_of(uint64_t pid, const struct mapped_file *file)
{
    char process[32], *path = NULL;
    if (pid == 0)
        return bytes_copied(file->path);
    snprintf(process, sizeof(process), "/proc/%llu", (unsigned long long)procfs_living_thread(pid));
    if (!is_deleted(file->path))
        return process_root_path(process, file->path);
    const int size =
        asprintf(&path, "%s/map_files/%llx-%llx", process, (unsigned long long)file->address,
                 (unsigned long long)(file->address + file->size));
    return size < 0 ? NULL : path;
}

/* Orders files by path, byte by byte; a path that begins another one comes first. */
static int modules_compare_paths(const void *a, const void *b)
{
    const struct mapped_file *one = a;
    const struct mapped_file *other = b;
    const uint64_t size = MIN(one->path.size, other->path.size);
    const int order = memcmp(one->path.data, other->path.data, (size_t)size);
    return order != 0 ? order : (one->path.size > size) - (other->path.size > size);
}

/* Adds a module; *opened is the path by which it can be opened, which it takes over. */
static struct g2h_error *modules_add(struct g2h_modules *modules, const struct mapped_file *file,
                                     char **opened)
{
    struct g2h_module *list =
        reallocarray(modules->list, modules->count + 1, sizeof(*modules->list));
    TRY_MEMORY(list);
    modules->list = list;
    struct g2h_module *module = &list[modules->count++];
    *module = (struct g2h_module){.path = bytes_copied(file->path), .file = take_pointer(*opened)};
    TRY_MEMORY(module->path);
    return NULL;
}

/* Examines each file that is mapped from its start on, as programs and libraries are. Of several
 * mappings of a file the first counts. After MOST_FILES, others are only counted as left out. */
static struct g2h_error *modules_find(uint64_t pid, struct mapped_files *files,
                                      struct g2h_modules *ret)
{
    unsigned looked_at = 0;
    size_t last = SIZE_MAX;
    vector_sort(files, modules_compare_paths);
    for (size_t i = 0; i < files->count; i++) {
        const struct mapped_file *file = &files->data[i];
        _cleanup_free_ char *path = NULL;
        if (file->offset != 0 ||
            (last != SIZE_MAX && bytes_same(files->data[last].path, file->path)))
            continue;
        last = i;
        if (looked_at == MOST_FILES) {
            ret->left_out++;
            continue;
        }
        looked_at++;
        path = file_of(pid, file);
        TRY_MEMORY(path);
        if (exe_is_go(path))
            TRY(modules_add(ret, file, &path));
    }
    return NULL;
}

static void files_deinit(struct mapped_files *files)
{
    free(files->data);
}

/* Finds the Go files that a live process has mapped. Returns no modules, and no error, if the
 * process cannot be read. */
struct g2h_error *g2h_process_modules(uint64_t pid, struct g2h_modules *ret)
{
    _cleanup_(text_deinit) struct text maps = {0};
    _cleanup_(files_deinit) struct mapped_files files = {0};
    *ret = (struct g2h_modules){0};
    if (procfs_read_of(pid, "maps", &maps) != 0)
        return NULL;
    TRY_MEMORY(mapped_parse_maps(maps.data, &files));
    return modules_find(pid, &files, ret);
}

/* Reads the list of mapped files in the core, and finds the Go modules among them, as far as the
 * files are at their paths now. Errors: those of core_read(). */
struct g2h_error *g2h_core_modules(const struct g2h_input *core, struct g2h_modules *ret)
{
    _cleanup_(process_deinit) struct process process = {0};
    struct core_account account;
    *ret = (struct g2h_modules){0};
    TRY(core_read(core, &process, &account));
    return modules_find(0, &process.files, ret);
}

void g2h_modules_deinit(struct g2h_modules *modules)
{
    for (size_t i = 0; i < modules->count; i++) {
        free(modules->list[i].path);
        free(modules->list[i].file);
    }
    free(modules->list);
    *modules = (struct g2h_modules){0};
}

/* ---- which of them are read ---- */

/* Marks the module whose file is mapped at an address, and returns it, or NULL if it is not among
 * the modules. */
static struct g2h_module *modules_mark(const struct runtime *runtime, uint64_t address,
                                       struct g2h_modules *modules)
{
    const struct mapped_file *file = mapped_at(&runtime->process->files, address);
    for (size_t i = 0; file && i < modules->count; i++)
        if (bytes_are(file->path, modules->list[i].path)) {
            modules->list[i].is_read = true;
            return &modules->list[i];
        }
    return NULL;
}

/* Opens the file of a plugin whose moduledata is at an address. If that fails, the plugin's
 * functions stay unknown. */
static struct g2h_error *add_plugin(struct runtime *runtime, struct process *process,
                                    uint64_t address, const struct g2h_module *module)
{
    struct g2h_exe *exe;
    struct g2h_error *error = g2h_exe_open(module->file, &exe);
    if (!error)
        return runtime_add_module(runtime, process, address, exe);
    if (error->code == G2H_ERROR_MEMORY)
        return error;
    g2h_error_destroy(error);
    return NULL;
}

/* Sets is_read of each module that belongs to a runtime, and adds those other than the program to
 * it. Error: G2H_ERROR_MEMORY. */
static struct g2h_error *modules_read(struct runtime *runtime, struct process *process,
                                      struct g2h_modules *modules)
{
    enum { MOST = 1000 }; /* they may be linked in a cycle */
    struct runtime_segments segments;
    uint64_t address = 0;
    modules_mark(runtime, runtime->text, modules);
    for (int i = 0; i < MOST && runtime_next_module(runtime, &address, &segments); i++) {
        struct g2h_module *module = modules_mark(runtime, segments.data, modules);
        if (!module || segments.is_refused)
            continue;
        module->is_plugin = true;
        TRY(add_plugin(runtime, process, address, module));
    }
    return NULL;
}

/* ==== a dump of a process ====
 *
 * Makes a dump of a core file or a live process; see include/go2heapsnapshot/process.h.
 */

struct read_source {
    struct process *process;
    const struct stat *file; /* has its memory: only users who may read it may read outputs; NULL:
                                there is none */
    const struct g2h_ending
        *ending;    /* how the process ended; NULL: it lives, or that is not known */
    bool in_memory; /* the dump goes to memory, not to the directory of temporary files */
};

/* Writes the dump to a temporary file: for input_spooled(). */
static struct g2h_error *write_records(void *context, int fd)
{
    struct records *records = context;
    records->fd = fd;
    return records_write(records);
}

/* Writes the dump to the stream of the options, or else to a temporary file. */
static struct g2h_error *make_dump(const struct read_source *from, struct records *records,
                                   struct g2h_input **ret)
{
    const char *name = records->runtime->process->name;
    if (!records->stream)
        return input_spooled(name, from->file, from->in_memory, write_records, records, ret);
    TRY(input_without_bytes(name, from->file, ret));
    return records_write(records);
}

/* Returns an error if the chains of specials do not end. Unless the layout is from DWARF, which is
 * right, or a part of the memory is missing, which would explain wrong counts, also if more than a
 * hundredth of the spans, and one per thread and one more, have other numbers of objects than they
 * count, or if more stacks than a tenth of the goroutines, and those that were running, do not end
 * where stacks begin: then the layout is not the release's, and the dump is nonsense. */
static struct g2h_error *process_read_check(const struct records *records)
{
    const struct g2h_process_account *account = records->account;
    const struct runtime *runtime = records->runtime;
    const char *what = NULL;
    if (runtime->specials > runtime->specials_most)
        return error_create(G2H_ERROR_DAMAGED, "%s: the chains of specials do not end",
                            runtime->process->name);
    if (account->file_missing > 0 || runtime->by_dwarf)
        return NULL;
    if (account->spans_miscounted > account->spans / 100 + account->threads + 1)
        what = "spans have other numbers of objects than they count";
    else if (account->stacks_incomplete > account->goroutines / 10 + account->goroutines_running)
        what = "the stacks of goroutines do not end where stacks begin";
    return what ? error_create(G2H_ERROR_NOT_EXE,
                               "%s: %s: without DWARF it is not known where %s has its structures",
                               runtime->process->name, what, runtime->version)
                : NULL;
}

/* The bytes that a sample has of an array without pointers, unless something else is asked for. */
enum { SAMPLE_ARRAY = 64 << 10 };

/* Makes a dump of the memory of a process: finds its runtime, marks which of options->modules
 * belong to it, and writes all records. options may be NULL: nothing special is asked for. *ret is
 * the dump's input; *ret_memory receives RSS and its parts, unless ret_memory is NULL. Errors:
 * those of runtime_init() and records_write(); what it has read makes no sense
 * (process_read_check()). */
static struct g2h_error *read_process(const struct read_source *source, struct g2h_exe *exe,
                                      const struct g2h_process_options *options,
                                      struct g2h_process_account *account,
                                      struct g2h_memory *ret_memory, struct g2h_input **ret)
{
    static const struct g2h_process_options none = {.threads = 0};
    struct process *process = source->process;
    options = options ? options : &none;
    _cleanup_(runtime_deinit) struct runtime runtime = {0};
    TRY(runtime_init(&runtime, process, exe));
    if (options->modules)
        TRY(modules_read(&runtime, process, options->modules));
    account->by_dwarf = runtime.by_dwarf;
    account->threads = process->threads.count;
    if (account->memory_bytes == 0)
        account->memory_bytes = process->memory.bytes;
    struct counters counters;
    _cleanup_(resident_spans_deinit) struct resident_spans spans = {0};
    counters_read(&runtime, &counters);
    TRY_MEMORY(resident_find_spans(&runtime, &spans));
    struct records records = {.runtime = &runtime,
                              .counters = &counters,
                              .spans = &spans,
                              .memory = ret_memory,
                              .threads =
                                  options->threads > 0 ? options->threads : workers_available(),
                              .progress = options->progress,
                              .account = account,
                              .ending = source->ending,
                              .ages = options->ages,
                              .largest_array = options->sample > 0 && options->largest_array == 0
                                                   ? SAMPLE_ARRAY
                                                   : options->largest_array,
                              .sample = options->sample,
                              .sample_seed = options->sample_seed,
                              .stream = options->stream,
                              .stream_context = options->stream_context};
    struct g2h_input *dump = NULL;
    struct g2h_error *error = make_dump(source, &records, &dump);
    if (!error)
        error = runtime_explain(process, process_read_check(&records));
    if (error)
        g2h_input_close(dump);
    else
        *ret = dump;
    return error;
}

bool g2h_input_is_core(const struct g2h_input *input)
{
    return magic_is_core(input->data, input->size);
}

/* ---- cores ---- */

/* Finds the executable of a core. *ret is the path of the executable, to be freed, or NULL if the
 * core does not name it. */
struct g2h_error *g2h_core_executable(const struct g2h_input *core, char **ret)
{
    _cleanup_(process_deinit) struct process process = {0};
    struct core_account account;
    TRY(core_read(core, &process, &account));
    *ret = take_pointer(process.executable);
    return NULL;
}

/* Appends "3.00 MB of 10.0 MB are missing". */
static void append_missing(struct text *text, uint64_t missing, uint64_t size, const char *more)
{
    text_append_bytes(text, missing);
    text_printf(text, "%s of ", more);
    text_append_bytes(text, size);
    text_append_string(text, " are missing");
}

/* Adds to an error that the core is truncated, which may be the reason for it. Takes over the
 * error. */
static struct g2h_error *process_read_explain(struct g2h_error *error,
                                              const struct core_account *account)
{
    if (!error || account->missing == 0 || error->code == G2H_ERROR_MEMORY)
        return error;
    _cleanup_(text_deinit) struct text missing = {0};
    append_missing(&missing, account->missing, account->size, "");
    struct g2h_error *better = error_create(
        error->code,
        "%s; the core is cut: %.*s (ulimit -c; systemd-coredump: ProcessSizeMax, ExternalSizeMax)",
        error->message, as_width(missing.size), missing.data);
    g2h_error_destroy(error);
    return better;
}

/* Reads the core's memory and threads, and then its heap as that of a process. */
struct g2h_error *g2h_process_read_core(const struct g2h_input *core, struct g2h_exe *exe,
                                        const struct g2h_process_options *options,
                                        struct g2h_process_account *ret_account,
                                        struct g2h_input **ret)
{
    _cleanup_(process_deinit) struct process process = {0};
    struct core_account account;
    *ret_account = (struct g2h_process_account){0};
    TRY(core_read(core, &process, &account));
    ret_account->file_missing = account.missing;
    ret_account->file_size = account.size;
    const struct read_source source = {.process = &process, .file = g2h_input_status(core)};
    struct g2h_error *error = read_process(&source, exe, options, ret_account, NULL, ret);
    return process_read_explain(error, &account);
}

/* ---- live processes ---- */

/* Copies what is known of the copy to the account that users see. */
static void note_copied(const struct attach_account *account, struct g2h_process_account *ret)
{
    ret->stopped = account->stopped_seconds;
    ret->urgent_error = account->urgent_error;
    ret->threads_stuck = account->stuck;
    ret->threads_in_vfork = account->in_vfork;
    ret->is_frozen = account->is_frozen;
    ret->memory_bytes = account->bytes;
    ret->is_forked = account->is_forked;
    ret->is_window = account->is_window;
    ret->collapsed = account->collapsed;
    ret->collapse_error = account->collapse_error;
    memcpy(ret->not_forked, account->not_forked, sizeof(ret->not_forked));
}

/* While a process is estimated, its objects change by less than a hundredth. */
enum { PART_OF_CHANGE = 100 };

/* Returns how many of some objects or bytes a sample of one of every so many takes at most: of each
 * that is chosen HOLDERS that hold it, and a few that are found from the roots. */
static uint64_t part_of_sample(uint64_t all, uint64_t every, uint64_t few)
{
    enum { HOLDERS = 4 };
    const uint64_t part = all / every * (1 + HOLDERS) + few;
    return MIN(part, all);
}

/* The most that a sample has from the roots, of objects and of bytes (more than MOST_DOWN and
 * MOST_DOWN_BYTES of sampled_spans.c); and the bytes of buffers that the conversion may have. */
enum { FEW_OBJECTS = 2000000, FEW_BYTES = 512 << 20, MOST_BUFFERS = 64 << 20 };

/* Returns the directory that the dump goes to: the caller's if it takes a stream, else the one for
 * temporary files; "" stands for memory (in_memory). */
static const char *dump_directory(const struct g2h_process_options *options, bool in_memory)
{
    if (options->stream)
        return options->stream_directory;
    return in_memory ? "" : input_directory();
}

/* Estimates, before the process is stopped, how much memory and disk its dump and the conversion
 * need, and checks that they are there. The estimates also go to ret->after_most and ret->dump,
 * according to which the copy leaves memory free. If there is memory for twice the copy, the dump
 * and the conversion, and nobody has said where temporary files go, no disk is needed:
 * *ret_in_memory. Errors: those of needs_check(). */
static struct g2h_error *check_needs(uint64_t pid, struct g2h_exe *exe,
                                     const struct g2h_process_options *options,
                                     struct attach_options *ret, bool *ret_in_memory)
{
    char name[32];
    struct estimate estimate = {0};
    const bool is_analysed = options->object_memory > 0; /* converted here, not only dumped */
    const bool spools = !options->stream;                /* the dump goes to a temporary file */
    if (!exe || (!is_analysed && !spools && !options->stream_directory))
        return NULL;
    estimate_live(pid, exe, &estimate);
    if (options->sample > 0) {
        estimate.objects = part_of_sample(estimate.objects, options->sample, FEW_OBJECTS);
        estimate.dump_bytes = part_of_sample(estimate.dump_bytes, options->sample, FEW_BYTES);
        estimate.disk_bytes = part_of_sample(estimate.disk_bytes, options->sample, FEW_BYTES);
    }
    const uint64_t memory = estimate.objects * options->object_memory;
    snprintf(name, sizeof(name), "process %llu", (unsigned long long)pid);
    ret->after_most = memory + memory / 4; /* the most that was measured is a seventh more */
    if (spools)
        ret->dump = estimate.objects > 0 ? estimate.dump_bytes : ATTACH_LIKE_COPY;
    *ret_in_memory = spools && is_analysed && estimate.objects > 0 && !input_has_directory() &&
                     needs_have_memory(2 * estimate.dump_bytes + memory);
    const struct needs needs = {
        .name = name,
        .objects = estimate.objects,
        .memory = memory,
        .dump = spools ? estimate.dump_bytes : 0,
        .disk = estimate.disk_bytes,
        .directory = dump_directory(options, *ret_in_memory),
        .ways = "take only the dump here (--format dump -z), and convert that elsewhere",
        .most = options->most_objects + options->most_objects / PART_OF_CHANGE,
        .beyond = options->beyond,
        .beside = is_analysed ? memory / 4 + MIN(estimate.dump_bytes / 4, MOST_BUFFERS) : 0};
    return needs_check(&needs);
}

/* Makes a dump of a live process: checks memory and disk, finds the code that a fork needs, copies
 * or forks the process, reads the copy, and lets the process go. With a window the memory is read
 * while the dump is written, so only attach_finish() knows whether all of it could be read: its
 * error takes the place of another one. Error, too: the executable is not there. */
struct g2h_error *g2h_process_read_live(uint64_t pid, struct g2h_exe *exe,
                                        const struct g2h_process_options *options,
                                        struct g2h_process_account *ret_account,
                                        struct g2h_memory *ret_memory, struct g2h_input **ret)
{
    _cleanup_(process_deinit) struct process process = {0};
    struct attach_account account = {0};
    struct stat memory;
    const bool is_there = stat(procfs_path(pid, "mem").text, &memory) == 0;
    *ret_account = (struct g2h_process_account){0};
    *ret_memory = (struct g2h_memory){0};
    const bool is_sample = options && options->sample > 0;
    struct attach_options attach_options = {.after = 0};
    bool in_memory = false;
    if (options)
        attach_options = (struct attach_options){.after = is_sample ? 0 : options->memory,
                                                 .progress = options->progress,
                                                 .forks = options->forks,
                                                 .collapses = options->collapses,
                                                 .around = options->around,
                                                 .context = options->context};
    if (options)
        TRY(check_needs(pid, exe, options, &attach_options, &in_memory));
    if (attach_options.forks && exe)
        attach_options.code = fork_code_find(pid, exe);
    TRY(attach_copy(pid, &attach_options, &process, &account));
    process.pid = pid;
    if (!exe)
        return error_create(G2H_ERROR_NOT_EXE,
                            "%s: its executable cannot be read: --exe takes a copy", process.name);
    note_copied(&account, ret_account);
    const struct read_source source = {
        .process = &process, .file = is_there ? &memory : NULL, .in_memory = in_memory};
    struct g2h_error *error = read_process(&source, exe, options, ret_account, ret_memory, ret);
    struct g2h_error *lost = attach_finish(&process, &account);
    ret_account->is_left = account.is_left;
    if (account.bytes > 0)
        ret_account->memory_bytes = account.bytes;
    if (!lost)
        return error;
    if (!error) {
        g2h_input_close(*ret);
        *ret = NULL;
    }
    g2h_error_destroy(error);
    return lost;
}

/* Adds to an error that the copy is truncated, which may be the reason for it; if the kernel took
 * memory away before it was copied, that is the reason. Takes over the error. */
static struct g2h_error *explain_cut(struct g2h_error *error, const struct process_copy *copy,
                                     const struct g2h_process_account *account)
{
    if (!error || account->file_missing == 0 || error->code == G2H_ERROR_MEMORY)
        return error;
    _cleanup_(text_deinit) struct text missing = {0};
    append_missing(&missing, account->file_missing, account->file_size, " or more");
    struct g2h_error *better =
        copy->loss.is_late || copy->loss.lost > 0
            ? error_create(G2H_ERROR_DAMAGED,
                           "%s: the kernel took memory of the process before it could be copied, "
                           "and too little is left to read its heap",
                           copy->process.name)
            : error_create(error->code, "%s; the copy is cut: %.*s", error->message,
                           as_width(missing.size), missing.data);
    g2h_error_destroy(error);
    return better;
}

/* Makes a dump of the copy of a process. Counts what the copy lost as bytes that the file misses:
 * at least 1 if the copy came too late, so that the dump counts as incomplete. Then reads it as a
 * process, and explains errors by the loss. */
struct g2h_error *process_read_copy(struct process_copy *copy, struct g2h_exe *exe,
                                    const struct g2h_process_options *options,
                                    struct g2h_process_account *ret_account,
                                    struct g2h_memory *ret_memory, struct g2h_input **ret)
{
    const struct death_loss *loss = &copy->loss;
    const uint64_t missing = loss->lost + loss->limited + loss->refused;
    *ret_account = (struct g2h_process_account){.is_dead = copy->process.is_dead};
    *ret_memory = (struct g2h_memory){0};
    note_copied(&copy->account, ret_account);
    ret_account->file_missing = loss->is_late && missing == 0 ? 1 : missing;
    ret_account->file_size = copy->account.bytes + missing;
    copy->process.name = copy->account.name;
    const struct read_source source = {
        .process = &copy->process, .file = &copy->source, .ending = &copy->ending};
    struct g2h_error *error = read_process(&source, exe, options, ret_account, ret_memory, ret);
    return explain_cut(error, copy, ret_account);
}
