/* core; see core.h. */
#include "process/core.h"

#include <stdlib.h>

#include "base/elf_format.h"
#include "base/scope.h"
#include "input/input.h"

/* If a core has more segments than its header can count, the first section has their number. */
enum { NUMBER_ELSEWHERE = 0xffff };

/* Offsets in elf_prstatus on 64-bit machines: the thread's id and its registers. The registers are
 * followed by a word that is set if there are other registers. */
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

/* Adds a thread with its registers from its note (NT_PRSTATUS). */
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
    return (size + 3) & ~(uint64_t)3;
}

/* Reads the notes of a segment, as far as they are in the file. */
static struct g2h_error *read_notes(struct core_reading *reading, uint64_t offset, uint64_t size)
{
    const uint64_t end = offset + size;
    const uint8_t *header;
    while (offset < end && end - offset >= sizeof(Elf64_Nhdr) &&
           (header = core_bytes_at(reading, offset, sizeof(Elf64_Nhdr))) != NULL) {
        const uint64_t name = padded(core_number_at(header)), count = core_number_at(header + 4);
        offset += sizeof(Elf64_Nhdr) + name;
        const uint8_t *data =
            offset <= end && count <= end - offset ? core_bytes_at(reading, offset, count) : NULL;
        if (!data)
            return NULL;
        TRY(take_note(reading, core_number_at(header + 8), (struct g2h_bytes){data, count}));
        offset += padded(count);
    }
    return NULL;
}

/* Finds the files that were mapped, and the one that contains the program's entry point. */
static struct g2h_error *find_files(const struct core_reading *reading)
{
    struct process *process = reading->process;
    TRY_MEMORY(mapped_parse_note(reading->files, &process->files));
    const struct mapped_file *file =
        process->entry != 0 ? mapped_at(&process->files, process->entry) : NULL;
    if (!file)
        return NULL;
    process->executable = strndup((const char *)file->path.data, (size_t)file->path.size);
    TRY_MEMORY(process->executable);
    return NULL;
}

/* ---- segments ---- */

/* Counts bytes that the core should have but does not: it is cut. The sum saturates. */
static void add_missing(struct core_account *account, uint64_t bytes)
{
    const uint64_t most = UINT64_MAX - account->missing;
    account->missing += bytes < most ? bytes : most;
}

/* Reads a segment of the core: its notes, or its memory. */
static struct g2h_error *take_segment(struct core_reading *reading, const uint8_t *header)
{
    const uint32_t type = core_number_at(header);
    const uint64_t offset = core_word_at(header + 8), address = core_word_at(header + 16),
                   promised = core_word_at(header + 32), file = reading->input->size;
    const uint64_t behind = offset < file ? file - offset : 0;
    const uint64_t in_file = promised < behind ? promised : behind;
    const uint64_t there = in_file < reading->left ? in_file : reading->left;
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

/* Returns the number of segments. */
static uint64_t count_segments(const struct core_reading *reading)
{
    const uint8_t *header = reading->input->data;
    const uint16_t count = (uint16_t)(header[56] | header[57] << 8);
    if (count != NUMBER_ELSEWHERE)
        return count;
    const uint8_t *section = core_bytes_at(reading, core_word_at(header + 40), sizeof(Elf64_Shdr));
    return section ? core_number_at(section + 44) : count;
}

/* Finds the pages that the process has never touched: they are holes of the core that the kernel
 * writes (core(5)). Returns false if memory runs out. */
static bool find_untouched(struct core_reading *reading)
{
    struct memory *memory = &reading->process->memory;
    bool good = true;
    for (size_t i = 0; i < memory->ranges.count; i++) {
        const struct memory_range range = memory->ranges.data[i];
        const uint64_t begin = (uint64_t)(range.data - reading->input->data),
                       end = begin + range.size;
        struct range hole;
        for (uint64_t at = begin; ranges_next(input_holes(reading->input), at, end, &hole) && good;
             at = hole.end)
            good = ranges_add(&memory->untouched, range.address + (hole.begin - begin),
                              range.address + (hole.end - begin));
    }
    return good;
}

/* Reads all segments, sorts the memory, and finds which files were mapped. */
static struct g2h_error *read_segments(struct core_reading *reading)
{
    const struct g2h_input *input = reading->input;
    const uint64_t first = core_word_at(input->data + 32), count = count_segments(reading);
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

/* A core that is cut in the middle is read as far as it goes; the account says what is missing. */
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
    ret->machine = (uint16_t)(header[18] | header[19] << 8);
    TRY(read_segments(&reading));
    if (ret->memory.ranges.count == 0)
        return error_create(G2H_ERROR_NOT_DUMP, "%s: this core file has no memory in it%s",
                            input->name, ret_account->missing > 0 ? ": it is cut" : "");
    return NULL;
}
