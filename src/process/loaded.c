/* loaded; see loaded.h. */
#include "process/loaded.h"

#include <stddef.h>

#include "base/bytes.h"
#include "base/elf_format.h"
#include "base/scope.h"
#include "process/attach/procfs.h"

enum { WORD = 8 };

/* Offsets of fields in the header of ELF and in a program header. */
#define IN_HEADER(field)  offsetof(Elf64_Ehdr, field)
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
    const uint64_t size = image->file.size, at = image_word(image, header + IN_HEADER(e_phoff)),
                   entry = image_u16(image, header + IN_HEADER(e_phentsize)),
                   count = image_u16(image, header + IN_HEADER(e_phnum));
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

/* The entry point of the process shows it for the program itself. A library is where the file is
 * mapped from its start on: best where its moduledata is, too. */
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
    for (size_t i = 0; i < process->files.count; i++) {
        const struct mapped_file *file = &process->files.data[i];
        const uint64_t slide = file->address - start;
        if (file->offset != 0)
            continue;
        /* Two builds may have all at the same addresses, as a stripped one and one that is not. */
        const bool has_name =
            bytes_same(bytes_base_name(file->path), bytes_base_name(bytes_of(g2h_exe_path(exe))));
        const unsigned good = 2u * is_at(process, exe, slide) + has_name;
        if (good <= best)
            continue;
        best = good;
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
    return its.size == strlen(name) && memcmp(its.data, name, (size_t)its.size) == 0;
}

/* A thread that sleeps in runtime.futex can be borrowed, and runtime.exit ends the child. */
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
