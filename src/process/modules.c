/* modules: the files with Go code that a process has mapped; see
 * include/go2heapsnapshot/process.h. */
#include "process/modules.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/port.h"
#include "base/process_root.h"
#include "base/scope.h"
#include "exe/exe.h"
#include "process/core.h"
#include "process/attach/procfs.h"

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
        return strndup((const char *)file->path.data, (size_t)file->path.size);
    snprintf(process, sizeof(process), "/proc/%llu", (unsigned long long)procfs_living_thread(pid));
    if (!is_deleted(file->path))
        return process_root_path(process, file->path);
    const int size =
        asprintf(&path, "%s/map_files/%llx-%llx", process, (unsigned long long)file->address,
                 (unsigned long long)(file->address + file->size));
    return size < 0 ? NULL : path;
}

static int modules_compare_paths(const void *a, const void *b)
{
    const struct mapped_file *one = a, *other = b;
    const uint64_t size = one->path.size < other->path.size ? one->path.size : other->path.size;
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
    *module =
        (struct g2h_module){.path = strndup((const char *)file->path.data, (size_t)file->path.size),
                            .file = take_pointer(*opened)};
    TRY_MEMORY(module->path);
    return NULL;
}

/* Examines each file that is mapped from its start on, as programs and libraries are. */
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

struct g2h_error *modules_read(struct runtime *runtime, struct process *process,
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
