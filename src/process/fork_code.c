/* fork_code; see fork_code.h. */
#include "process/fork_code.h"

#include "base/elf_format.h"
#include "base/scope.h"
#include "process/attach/procfs.h"
#include "process/loaded.h"

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
