/* copied; see copied.h. */
#include "process/attach/copied.h"

#ifdef __linux__

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/elf_format.h"
#include "base/error.h"
#include "base/scope.h"
#include "process/attach/copy.h"
#include "process/attach/procfs.h"
#include "process/attach/refuse.h"

/* ---- the header and the executable ---- */

/* Reads the header of an executable. Returns 0 or an errno value. */
static int copied_read_header(const char *path, Elf64_Ehdr *ret)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    *ret = (Elf64_Ehdr){0};
    const int error = pread(fd, ret, sizeof(*ret), 0) < 0 ? errno : 0;
    close(fd);
    return error;
}

static bool is_64_little(const Elf64_Ehdr *header)
{
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB;
}

/* Registers and structures of the kernel are those of this program's machine, so the process must
 * be of the same one. */
struct g2h_error *copied_check_machine(uint64_t pid, uint16_t *ret)
{
    Elf64_Ehdr its, ours;
    const int error = copied_read_header(procfs_path(pid, "exe").text, &its);
    if (error != 0)
        return attach_refuse(pid, error, true);
    if (!is_64_little(&its))
        return error_create(G2H_ERROR_NOT_DUMP,
                            "process %llu: 32-bit and big-endian processes are not read",
                            (unsigned long long)pid);
    if (copied_read_header("/proc/self/exe", &ours) == 0 && ours.e_machine != its.e_machine)
        return error_create(G2H_ERROR_NOT_DUMP,
                            "process %llu: is of another machine (ELF machine %u) than "
                            "go2heapsnapshot itself (%u): use a build of it for that one",
                            (unsigned long long)pid, its.e_machine, ours.e_machine);
    *ret = its.e_machine;
    return NULL;
}

char *copied_executable(uint64_t pid)
{
    char path[4096];
    const ssize_t size = readlink(procfs_path(pid, "exe").text, path, sizeof(path));
    return size > 0 && (size_t)size < sizeof(path) ? strndup(path, (size_t)size) : NULL;
}

/* ---- the copy ---- */

bool copied_make_space(const struct attach_pages *pages, struct attach_space *space)
{
    if (attach_space_holds(space, pages))
        return true;
    attach_space_deinit(space);
    return attach_space_make(pages, 0, space);
}

int copied_note_resident(const struct attach_pages *pages, struct process *ret)
{
    for (size_t i = 0; i < pages->runs.count; i++) {
        const struct attach_run *run = &pages->runs.data[i];
        const struct process_pages there = {run->address, run->size};
        if (run->kind != ATTACH_ZERO && !vector_push(&ret->resident, there))
            return ENOMEM;
    }
    return 0;
}

void copied_note_smaps(uint64_t pid, struct process *ret)
{
    _cleanup_(text_deinit) struct text smaps = {0};
    if (procfs_read_of(pid, "smaps", &smaps) == 0)
        ret->smaps = take_pointer(smaps.data);
}

/* ---- memory that a fork wipes ---- */

int copied_take_wiped(uint64_t pid, const struct ranges *ranges, struct copied_wiped *ret)
{
    struct memory memory = {0};
    struct attach_copied copied;
    if (ranges->list.count == 0)
        return 0;
    int error = attach_pages_find_in(pid, ranges, &ret->pages);
    if (error == 0 && ret->pages.resident == 0)
        return 0;
    if (error == 0)
        error = attach_space_make(&ret->pages, 0, &ret->space) ? 0 : ENOMEM;
    if (error == 0)
        error = attach_copy_pages((struct attach_source){pid, false}, &ret->pages, &ret->space,
                                  NULL, &memory, &copied);
    memory_deinit(&memory);
    return error;
}

void copied_wiped_deinit(struct copied_wiped *wiped)
{
    attach_pages_deinit(&wiped->pages);
    attach_space_deinit(&wiped->space);
}

bool copied_mark_wiped(const struct copied_wiped *wiped, struct attach_pages *pages)
{
    return wiped->pages.resident == 0 || attach_pages_give(pages, &wiped->pages);
}

void copied_fill_wiped(const struct copied_wiped *wiped, const struct attach_pages *pages,
                       const struct attach_space *space)
{
    for (size_t i = 0; i < pages->runs.count; i++) {
        const struct attach_run *run = &pages->runs.data[i];
        if (run->kind == ATTACH_GIVEN)
            memcpy(attach_space_at(space, run), attach_space_at(&wiped->space, run),
                   (size_t)run->size);
    }
}

/* ---- windows ---- */

/* The pages are not copied: memory_at() reads them from the child through the window when they are
 * used. */
int copied_open_child(uint64_t pid, const struct copied_wiped *wiped, struct attach_space *space,
                      struct process *ret)
{
    _cleanup_(attach_pages_deinit) struct attach_pages pages = {0};
    int error = attach_pages_find(pid, &pages);
    if (error == 0)
        error = copied_mark_wiped(wiped, &pages) ? 0 : ENOMEM;
    if (error == 0)
        error = copied_note_resident(&pages, ret);
    if (error != 0)
        return error;
    if (!attach_space_make(&pages, 0, space))
        return EOVERFLOW;
    copied_fill_wiped(wiped, &pages, space);
    for (size_t i = 0; i < pages.runs.count; i++) {
        const struct attach_run *run = &pages.runs.data[i];
        const struct range all = {run->address, run->address + run->size};
        if (!memory_add(&ret->memory, run->address, run->size, attach_space_at(space, run)) ||
            (run->kind == ATTACH_ZERO && !vector_push(&ret->memory.untouched.list, all)))
            return ENOMEM;
    }
    memory_sort(&ret->memory);
    ranges_sort(&ret->memory.untouched);
    ranges_drop_short(&ret->memory.untouched);
    ret->memory.window = window_create(pid, &pages, space);
    ret->entry = procfs_auxv(pid, AT_ENTRY);
    ret->maps = take_pointer(pages.maps);
    return ret->memory.window ? 0 : ENOMEM;
}

int copied_open_window(uint64_t pid, struct attach_space *space, struct process *ret)
{
    static const struct copied_wiped none;
    return copied_open_child(pid, &none, space, ret);
}

void copied_hand_over(struct attach_space *space, struct process *process)
{
    process->copy = take_pointer(space->data);
    process->copy_size = space->size;
}

#endif
