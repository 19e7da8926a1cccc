/*
 * exe: a Go executable: opens it, reads its tables, and answers questions about addresses; see
 * exe.h. The parts: the file and its separate debug file; what depends on the process that is read
 * (the slide, by which its addresses differ from the file's; types; variables); functions at an
 * address, with those that are inlined there; and inlining, which finds the calls behind a frame of
 * the heap profile that the dump shows as one.
 */
#include "exe/exe.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "base/elf_format.h"
#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"
#include "exe/dwarf/die.h"
#include "exe/go/code.h"
#include "exe/image/debugfile.h"

/* ==== opening an executable, and looking up addresses ====
 *
 * Opens the executable and its separate debug file, reads what depends on the process, and looks up
 * addresses.
 */

struct variable {
    uint64_t address, size; /* in the file */
    struct g2h_bytes name;
};

/* What exe_flow() and exe_static_words() have found. Threads may share an executable, which is
 * constant otherwise. */
struct exe_words {
    pthread_mutex_t lock;
    uint8_t *rules; /* by function: evidence of its calls; NULL: not found yet */
    bool is_found;
    struct static_words words;
    uint64_t left; /* what the flow may read afterwards */
};

struct g2h_exe {
    struct g2h_input *input;
    struct image image;
    struct g2h_input *debug_input; /* its separate debug file; NULL: there is none */
    struct image debug_image;
    struct pclntab pclntab;
    struct function_names function_names; /* if has_function_names */
    bool has_function_names;
    struct built_by built_by;
    VECTOR(struct variable) variables; /* ascending */
    struct moduledata moduledata;      /* all 0: not found */
    uint8_t wrapper;                   /* see exe_wrapper_id(); 0 before exe_bind() */
    struct exe_words *words;
    /* These fields depend on the process; see exe_bind(). */
    uint64_t read_for; /* hash of what file_types, types_start … and dwarf_info depend on; 0: they
                          are empty */
    bool has_text, has_data;
    uint64_t text;  /* address of the first function in the process, if has_text */
    uint64_t slide; /* from addresses of data in the file to those in the process, if has_data */
    struct types file_types; /* all but those that only variables in frames have */
    struct types types;
    uint64_t types_start;              /* runtime.types in the process */
    size_t types_checked, types_unfit; /* see g2h_exe_unfit_types() */
    struct dwarf_info dwarf_info;
    struct scopes scopes;
};

/* ---- recognition ---- */

/* Returns whether an executable has a section that only Go's linker writes. */
static bool has_go_section(const struct image *image)
{
    static const char *const names[] = {".go.buildinfo", ".note.go.buildid", ".gopclntab",
                                        ".data.rel.ro.gopclntab"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (image_section(image, names[i]))
            return true;
    return false;
}

/* Returns whether the file is a Go program, by its sections; its release comes from the build
 * information. Devices and pipes are not read. */
bool exe_go_version(const char *path, struct text *version)
{
    _cleanup_(image_deinit) struct image image = {0};
    struct g2h_input *input = NULL;
    struct stat status;
    struct g2h_bytes lines;
    struct g2h_bytes release = bytes_none;
    uint64_t address;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) /* reading a pipe might not end */
        return false;
    struct g2h_error *error = source_open(path, &input);
    if (error) {
        g2h_error_destroy(error);
        return false;
    }
    error = image_init(&image, path, bytes_at(input->data, input->size));
    const bool is_go = !error && has_go_section(&image);
    if (is_go && version && build_info_read(build_info_find(&image, &address), &release, &lines))
        text_append(version, release.data, release.size);
    g2h_error_destroy(error);
    g2h_input_close(input);
    return is_go;
}

bool exe_is_go(const char *path)
{
    return exe_go_version(path, NULL);
}

/* ---- opening ---- */

/* Returns whether an image has DWARF. */
static bool has_dwarf(const struct image *image)
{
    return image_section(image, ".debug_info") != NULL;
}

/* Returns the executable's image if it has symbols or there is no separate debug file; otherwise
 * that of the debug file. */
static const struct image *symbol_image(const struct g2h_exe *exe)
{
    return image_symbol_count(&exe->image) > 0 || !exe->debug_input ? &exe->image
                                                                    : &exe->debug_image;
}

/* Orders variables by address, then by size. */
static int compare_variables(const void *a, const void *b)
{
    const struct variable *one = a;
    const struct variable *other = b;
    if (one->address != other->address)
        return COMPARE(one->address, other->address);
    return COMPARE(one->size, other->size);
}

/* Returns whether a section is writable memory of the process. */
static bool is_data_section(const struct image *image, uint16_t index)
{
    if (index >= image->section_count)
        return false;
    const uint64_t flags = image->sections[index].flags;
    return (flags & SHF_ALLOC) != 0 && (flags & SHF_WRITE) != 0;
}

/* Lists the symbols of variables in data and bss, sorted by address. Those without a size are left
 * out. */
static struct g2h_error *collect_variables(struct g2h_exe *exe)
{
    const struct image *image = symbol_image(exe);
    const size_t count = image_symbol_count(image);
    for (size_t i = 0; i < count; i++) {
        struct image_symbol symbol;
        if (!image_symbol(image, i, &symbol) || symbol.type != STT_OBJECT || symbol.size == 0 ||
            !is_data_section(image, symbol.section))
            continue;
        struct variable variable = {symbol.address, symbol.size, symbol.name};
        if (!vector_push(&exe->variables, variable))
            return &error_no_memory;
    }
    vector_sort(&exe->variables, compare_variables);
    return NULL;
}

/* Opens the file and, if it lacks symbols or DWARF, its separate debug file, and reads what does
 * not depend on the process. */
static struct g2h_error *read_file(struct g2h_exe *exe, const char *path)
{
    TRY(source_open(path, &exe->input));
    TRY(image_init(&exe->image, exe->input->name, bytes_at(exe->input->data, exe->input->size)));
    exe->image.stored = exe->input->stored;
    TRY(pclntab_init(&exe->pclntab, &exe->image));
    if (image_symbol_count(&exe->image) == 0 || !has_dwarf(&exe->image))
        TRY(image_find_debug_file(&exe->image, DEBUGFILE_DIRECTORY, &exe->debug_input,
                                  &exe->debug_image));
    TRY(collect_variables(exe));
    moduledata_find(&exe->image, &exe->pclntab, &exe->moduledata);
    built_by_find(&exe->image, symbol_image(exe), &exe->pclntab, &exe->moduledata, &exe->built_by);
    return NULL;
}

/* Reads the file. The search for words in code has a lock of its own, as it may be done by several
 * threads later. */
struct g2h_error *g2h_exe_open(const char *path, struct g2h_exe **ret)
{
    struct g2h_exe *exe = calloc(1, sizeof(*exe));
    if (!exe)
        return &error_no_memory;
    exe->words = calloc(1, sizeof(*exe->words));
    if (exe->words)
        pthread_mutex_init(&exe->words->lock, NULL);
    struct g2h_error *error = exe->words ? read_file(exe, path) : &error_no_memory;
    if (error) {
        g2h_exe_close(exe);
        return error;
    }
    *ret = exe;
    return NULL;
}

void g2h_exe_close(struct g2h_exe *exe)
{
    if (!exe)
        return;
    if (exe->words) {
        static_words_deinit(&exe->words->words);
        free(exe->words->rules);
        pthread_mutex_destroy(&exe->words->lock);
        free(exe->words);
    }
    function_names_deinit(&exe->function_names);
    types_deinit(&exe->file_types);
    types_deinit(&exe->types);
    dwarf_info_deinit(&exe->dwarf_info);
    scopes_deinit(&exe->scopes);
    free(exe->variables.data);
    image_deinit(&exe->debug_image);
    g2h_input_close(exe->debug_input);
    image_deinit(&exe->image);
    g2h_input_close(exe->input);
    free(exe);
}

const struct image *exe_image(const struct g2h_exe *exe)
{
    return &exe->image;
}

const struct pclntab *exe_pclntab(const struct g2h_exe *exe)
{
    return &exe->pclntab;
}

/* Gets the index of the executable's functions by name, which is made at the first call. */
struct g2h_error *exe_function_names(struct g2h_exe *exe, const struct function_names **ret)
{
    if (!exe->has_function_names)
        TRY(function_names_init(&exe->function_names, &exe->pclntab));
    exe->has_function_names = true;
    exe->pclntab.name_sizes = exe->function_names.sizes;
    *ret = &exe->function_names;
    return NULL;
}

const struct moduledata *exe_module(const struct g2h_exe *exe)
{
    return &exe->moduledata;
}

struct g2h_bytes exe_version(const struct g2h_exe *exe)
{
    return exe->built_by.version;
}

const struct built_by *exe_built_by(const struct g2h_exe *exe)
{
    return &exe->built_by;
}

int g2h_exe_release(const struct g2h_exe *exe, bool *ret_is_guess)
{
    *ret_is_guess = exe->built_by.is_guess;
    return exe->built_by.minor;
}

/* Returns whether a function is the program's own. "main." is a program's own code, and so are the
 * packages of its main module, by their import path. */
bool g2h_exe_is_own(const struct g2h_exe *exe, struct g2h_bytes function)
{
    const struct g2h_bytes module = exe ? exe->built_by.module : bytes_none;
    if (bytes_begin(function, "main."))
        return true;
    return module.size > 0 && function.size > module.size &&
           memcmp(function.data, module.data, module.size) == 0 &&
           (function.data[module.size] == '.' || function.data[module.size] == '/');
}

bool g2h_exe_is_plugin(const struct g2h_exe *exe)
{
    return exe->built_by.is_plugin;
}

/* Returns the image that has DWARF: the executable's, or its debug file's; NULL if neither has. */
struct image *exe_dwarf_image(struct g2h_exe *exe)
{
    if (has_dwarf(&exe->image))
        return &exe->image;
    return has_dwarf(&exe->debug_image) ? &exe->debug_image : NULL;
}

bool exe_symbol(const struct g2h_exe *exe, const char *name, struct image_symbol *ret)
{
    return image_symbol_named(symbol_image(exe), name, ret);
}

/* Returns the address of runtime.firstmoduledata in the file, or 0. The file's bytes have been
 * found; their section has the address that they get in memory. */
uint64_t exe_moduledata(const struct g2h_exe *exe)
{
    const uint8_t *at = exe->moduledata.at;
    for (size_t i = 0; at && i < exe->image.section_count; i++) {
        const struct image_section *section = &exe->image.sections[i];
        const uintptr_t start = (uintptr_t)section->data.data;
        if ((section->flags & SHF_WRITE) != 0 && (uintptr_t)at >= start &&
            (uintptr_t)at - start < section->data.size)
            return section->address + ((uintptr_t)at - start);
    }
    return 0;
}

/* ---- the process ---- */

/* Finds the fields data, edata, bss and ebss of runtime.firstmoduledata, which are adjacent in all
 * releases, by the sizes of the segments. *ret is the address of data. Returns false if there are
 * none. */
static bool find_segments(const struct image *image, uint64_t data_size, uint64_t bss_size,
                          uint64_t *ret)
{
    const size_t word = image->is_64 ? 8 : 4;
    for (size_t i = 0; i < image->section_count; i++) {
        const struct image_section *section = &image->sections[i];
        if (!is_data_section(image, (uint16_t)i))
            continue;
        for (uint64_t at = 0; section->data.size - at >= 4 * word; at += word) {
            uint64_t field[4];
            for (size_t j = 0; j < 4; j++)
                field[j] = image_word(image, section->data.data + at + j * word);
            if (field[1] - field[0] == data_size && field[3] - field[2] == bss_size &&
                field[0] != 0 && field[1] >= field[0] && field[2] >= field[1] &&
                field[3] >= field[2]) {
                *ret = field[0];
                return true;
            }
        }
    }
    return false;
}

/* Finds the address of the data segment in the file. The moduledata or a symbol has it; else it is
 * sought by the sizes of the segments. At last Go's data is the section .data, unless the file is
 * PE: then .data begins with other data, and ends with the equivalent of .bss in the other formats.
 * Returns false if it is not found. */
bool exe_find_data(const struct g2h_exe *exe, uint64_t data_size, uint64_t bss_size, uint64_t *ret)
{
    const struct image_section *section = image_section(&exe->image, ".data");
    struct image_symbol symbol;
    if (exe->moduledata.data != 0)
        *ret = exe->moduledata.data;
    else if (image_symbol_named(symbol_image(exe), "runtime.data", &symbol))
        *ret = symbol.address;
    else if (!find_segments(&exe->image, data_size, bss_size, ret)) {
        if (!section || exe->image.format == IMAGE_PE)
            return false;
        *ret = section->address;
    }
    return true;
}

/* Forgets the types and variables that were read for a process. */
static void exe_forget(struct g2h_exe *exe)
{
    exe->read_for = 0;
    exe->types_start = 0;
    exe->types_checked = exe->types_unfit = 0;
    types_deinit(&exe->file_types);
    dwarf_info_deinit(&exe->dwarf_info);
    types_init(&exe->file_types, exe->image.is_64 ? 8 : 4);
}

/* Returns a hash of what the types and global variables depend on. */
static uint64_t exe_hash_process(const struct exe_process *process)
{
    uint64_t hash = map_hash_pair(process->slide, process->witnesses.count);
    VECTOR_EACH(const struct rtype_witness, witness, process->witnesses)
        hash = map_hash_pair(map_hash_pair(hash, witness->address),
                             map_hash_text(witness->name.data, witness->name.size));
    return hash | 1;
}

/* Reads the types and global variables: those of the descriptors, and then DWARF, which adds to
 * them. They are kept for the next process, which needs the same if it is of the same series. */
static struct g2h_error *exe_read_types(struct g2h_exe *exe, const struct exe_process *process)
{
    struct image *image = exe_dwarf_image(exe);
    const uint64_t hash = exe_hash_process(process);
    struct rtypes_found found;
    if (exe->read_for == hash)
        return NULL;
    exe_forget(exe);
    TRY(rtypes_init(&exe->file_types, &exe->image, &exe->moduledata, exe->slide, process->witnesses,
                    &found));
    exe->types_start = found.start;
    exe->types_unfit = found.unfit;
    exe->types_checked = process->witnesses.count;
    if (image) {
        TRY(dies_inflate(image, process->threads > 0 ? process->threads : 1));
        TRY(dwarf_info_init(&exe->dwarf_info, image, &exe->file_types, exe->types_start));
    }
    exe->read_for = hash;
    return NULL;
}

/* Makes the types of this process those of the file. Returns false if memory runs out. */
static bool exe_copy_types(struct g2h_exe *exe)
{
    const struct types *from = &exe->file_types;
    types_deinit(&exe->types);
    if (!types_copy(&exe->types, from))
        return false;
    exe->types.packages.data =
        memory_copy(from->packages.data, from->packages.count, sizeof(*from->packages.data));
    exe->types.packages.count = exe->types.packages.capacity =
        exe->types.packages.data ? from->packages.count : 0;
    return exe->types.packages.count == from->packages.count;
}

/* Reads the variables in the process's frames, which may add types. Later queries do not change the
 * executable. */
static struct g2h_error *exe_read_process(struct g2h_exe *exe, const struct exe_process *process)
{
    TRY(exe_read_types(exe, process));
    TRY_MEMORY(exe_copy_types(exe));
    if (!exe->dwarf_info.reader)
        return NULL;
    _cleanup_(dwarf_info_branch_end) struct dwarf_info branch;
    TRY(dwarf_info_branch(&exe->dwarf_info, &branch));
    return scopes_init(&exe->scopes, &branch, &exe->types, &process->frames, process->slide);
}

/* Binds the executable to the addresses of a process, and reads its types. Without the address of
 * data (slide), descriptors and DWARF cannot be used. An error leaves the executable unbound. */
struct g2h_error *exe_bind(struct g2h_exe *exe, const struct exe_process *process)
{
    exe_unbind(exe);
    exe->has_text = process->has_text;
    if (exe->wrapper == 0 && exe->has_text)
        exe->wrapper = pclntab_wrapper_id(&exe->pclntab);
    exe->text = process->text;
    exe->has_data = process->has_data;
    exe->slide = process->slide;
    struct g2h_error *error = exe->has_data ? exe_read_process(exe, process) : NULL;
    if (error) {
        exe_unbind(exe);
        exe_forget(exe);
    }
    return error;
}

/* Unbinds the executable from the process. */
void exe_unbind(struct g2h_exe *exe)
{
    exe->has_text = exe->has_data = false;
    types_deinit(&exe->types);
    scopes_deinit(&exe->scopes);
    types_init(&exe->types, exe->image.is_64 ? 8 : 4);
}

/* ---- queries ---- */

/* Prepares to read functions. The evidence of calls is found at the first call, under a lock. */
struct g2h_error *exe_flow(const struct g2h_exe *exe, struct flow *ret)
{
    struct exe_words *words = exe->words;
    struct g2h_error *error = NULL;
    pthread_mutex_lock(&words->lock);
    if (!words->rules && machine_of(exe->image.machine))
        error = callees_find(&exe->pclntab, &words->rules);
    flow_init(ret, &exe->pclntab, &exe->moduledata, words->rules);
    pthread_mutex_unlock(&words->lock);
    return error;
}

/* Finds the words, if they have not been found yet. What an error leaves is found again. */
static struct g2h_error *words_find(struct exe_words *words, struct flow *flow)
{
    if (words->is_found) {
        flow->left = words->left;
        return NULL;
    }
    static_words_deinit(&words->words);
    words->words = (struct static_words){0};
    TRY(static_words_find(flow, &words->words));
    words->left = flow->left;
    words->is_found = true;
    return NULL;
}

/* Finds the words at the first call, under a lock. *ret is valid as long as the executable. */
struct g2h_error *exe_static_words(const struct g2h_exe *exe, struct flow *flow,
                                   const struct static_words **ret)
{
    pthread_mutex_lock(&exe->words->lock);
    struct g2h_error *error = words_find(exe->words, flow);
    pthread_mutex_unlock(&exe->words->lock);
    *ret = &exe->words->words;
    return error;
}

/* Finds the line of an address. If *left is used up, the function is still found, but not the line.
 * Returns false if no function has the address. */
bool exe_line(const struct g2h_exe *exe, uint64_t address, uint64_t *left, struct g2h_line *ret)
{
    uint64_t index;
    if (!exe->has_text || !pclntab_find(&exe->pclntab, address - exe->text, &index))
        return false;
    *ret = (struct g2h_line){.function = pclntab_name(&exe->pclntab, index),
                             .entry = exe->text + pclntab_entry(&exe->pclntab, index)};
    if (*left > 0 &&
        !pclntab_line(&exe->pclntab, index, address - exe->text, left, &ret->file, &ret->line))
        ret->line = 0;
    return ret->function.size > 0;
}

/* Gets the distance of an address of the process from the first function. Returns false if it is
 * not known where the process has the code. */
static bool exe_text_offset(const struct g2h_exe *exe, uint64_t address, uint64_t *ret)
{
    *ret = address - exe->text;
    return exe->has_text;
}

uint8_t exe_wrapper_id(const struct g2h_exe *exe)
{
    return exe->wrapper;
}

bool g2h_exe_line(const struct g2h_exe *exe, uint64_t address, struct g2h_line *ret)
{
    uint64_t left = UINT64_MAX;
    return exe_line(exe, address, &left, ret);
}

/* Finds the symbol whose variable has the address. Returns false if there is none, or if it is not
 * known where data is in the process. */
bool g2h_exe_variable(const struct g2h_exe *exe, uint64_t address, struct g2h_bytes *ret_name,
                      uint64_t *ret_offset)
{
    const uint64_t in_file = address - exe->slide;
    size_t after;
    BISECT(after, exe->variables.count, exe->variables.data[after].address <= in_file);
    if (!exe->has_data || after == 0)
        return false;
    const struct variable *variable = &exe->variables.data[after - 1];
    if (in_file - variable->address >= variable->size)
        return false;
    *ret_name = variable->name;
    *ret_offset = in_file - variable->address;
    return true;
}

/* Finds the name of the type at an address of the process. Returns false if none is there, or the
 * addresses are not known (exe_bind()). */
bool g2h_exe_type_name(const struct g2h_exe *exe, uint64_t address, struct g2h_bytes *ret)
{
    const uint32_t type = exe->has_data ? types_at(&exe->types, address) : TYPE_NONE;
    if (type == TYPE_NONE)
        return false;
    *ret = types_name(&exe->types, type);
    return true;
}

size_t g2h_exe_variable_count(const struct g2h_exe *exe)
{
    return exe->variables.count;
}

enum g2h_exe_dwarf g2h_exe_dwarf(const struct g2h_exe *exe)
{
    return has_dwarf(&exe->image) || has_dwarf(&exe->debug_image) ? G2H_EXE_DWARF_READ
                                                                  : G2H_EXE_DWARF_NONE;
}

/* Returns how many types were left out because the memory contradicts them, of how many. */
size_t g2h_exe_unfit_types(const struct g2h_exe *exe, size_t *ret_all)
{
    *ret_all = exe->has_data ? exe->types_checked : 0;
    return exe->has_data ? exe->types_unfit : 0;
}

size_t g2h_exe_type_count(const struct g2h_exe *exe)
{
    return exe->has_data ? exe->types.list.count : 0;
}

const char *g2h_exe_path(const struct g2h_exe *exe)
{
    return exe->input->name;
}

/* Returns the file of the executable (0) or of its debug file (1), NULL if there is none. */
const struct g2h_input *g2h_exe_input(const struct g2h_exe *exe, unsigned index)
{
    return index == 0 ? exe->input : exe->debug_input;
}

/* ---- for the modules above ---- */

/* Checks that the executable and its debug file have not changed since they were opened. */
struct g2h_error *exe_check_inputs(const struct g2h_exe *exe)
{
    for (unsigned i = 0; i < 2; i++)
        if (g2h_exe_input(exe, i))
            TRY(g2h_input_check(g2h_exe_input(exe, i)));
    return NULL;
}

/* Returns how many bytes of tables may be read for lines. */
uint64_t exe_lines_most(const struct g2h_exe *exe)
{
    return exe ? 64 * exe->pclntab.table.size : 0;
}

/* Finds the function that contains an address of the process, by name and address. Returns false if
 * no function is there. */
bool exe_function_at(const struct g2h_exe *exe, uint64_t address, struct g2h_bytes *ret_name,
                     uint64_t *ret_entry)
{
    struct g2h_line line;
    uint64_t left = 0;
    if (!exe_line(exe, address, &left, &line))
        return false;
    *ret_name = line.function;
    *ret_entry = line.entry;
    return true;
}

const struct types *exe_types(const struct g2h_exe *exe)
{
    return &exe->types;
}

const struct dwarf_info *exe_dwarf_info(const struct g2h_exe *exe)
{
    return &exe->dwarf_info;
}

const struct scopes *exe_scopes(const struct g2h_exe *exe)
{
    return &exe->scopes;
}

uint64_t exe_function_count(const struct g2h_exe *exe)
{
    return exe->has_text ? exe->pclntab.count : 0;
}

/* Returns the address of a function in the process, and gets its name. */
uint64_t exe_function(const struct g2h_exe *exe, uint64_t index, struct g2h_bytes *ret_name)
{
    *ret_name = pclntab_name(&exe->pclntab, index);
    return exe->text + pclntab_entry(&exe->pclntab, index);
}

/* Returns whether the program has a function of this name: by the index of names if that was made,
 * else by looking at all. */
bool exe_has_function(const struct g2h_exe *exe, const char *name)
{
    const struct g2h_bytes wanted = bytes_of(name);
    if (exe->has_function_names) {
        const uint32_t index = function_names_find(&exe->function_names, wanted);
        return index == FUNCTION_AMBIGUOUS ||
               (index != MAP_NONE && bytes_same(pclntab_name(&exe->pclntab, index), wanted));
    }
    for (uint64_t i = 0; i < exe->pclntab.count; i++)
        if (bytes_same(pclntab_name(&exe->pclntab, i), wanted))
            return true;
    return false;
}

uint64_t exe_slide(const struct g2h_exe *exe)
{
    return exe->slide;
}

uint64_t exe_types_start(const struct g2h_exe *exe)
{
    return exe->types_start;
}

/* ==== the functions at an address of code ====
 *
 * See exe.h.
 */

/* ---- what is inlined at an address ---- */

/* Returns whether a function is a wrapper that the compiler has made. Go 1.17 calls the closures
 * that it makes of go statements "main.run·dwrap·1"; later releases, whose records have a size that
 * is known, give wrappers an id. */
static bool calls_is_wrapper(const struct pclntab *pclntab, uint8_t wrapper, uint8_t id,
                             struct g2h_bytes function)
{
    return pclntab->record_size > 0 ? id == wrapper && wrapper > 0
                                    : bytes_contain(function, "·dwrap·");
}

/* The tables of a function. */
struct calls_tables {
    struct code code; /* only what code_inlined() reads */
    struct pclntab_function function;
    uint32_t nodes; /* the table of nodes of the inline tree; 0: none */
};

/* Opens the tables that say what is inlined in a function. */
static void calls_open(const struct pclntab *pclntab, const struct moduledata *module,
                       uint64_t index, struct calls_tables *ret)
{
    *ret = (struct calls_tables){.code = {.pclntab = pclntab, .index = index}};
    if (pclntab_function(pclntab, index, &ret->function))
        code_find_tree(&ret->code, &ret->function, module, &ret->nodes);
}

/* Returns the node of the inline tree at an offset of the code, or -1. */
static int32_t calls_node_at(const struct calls_tables *tables, uint64_t offset, uint64_t *left)
{
    int64_t node = -1;
    if (tables->nodes == 0 || *left == 0 ||
        !pclntab_value(tables->code.pclntab, tables->nodes, tables->code.index, offset, left,
                       &node))
        return -1;
    return node >= 0 && node <= INT32_MAX ? (int32_t)node : -1;
}

/* Gets the functions at an address, the innermost first, and returns how many. A node's caller is
 * at an offset of the code that has the line of the call. In a damaged executable callers may be
 * circular, which the limit ends. */
size_t exe_calls(const struct g2h_exe *exe, uint64_t address, uint64_t *left,
                 struct exe_call ret[EXE_MOST_CALLS])
{
    const struct pclntab *pclntab = exe_pclntab(exe);
    struct calls_tables tables;
    uint64_t index, offset;
    size_t count = 0;
    if (!exe_text_offset(exe, address, &offset) || !pclntab_find(pclntab, offset, &index))
        return 0;
    const uint64_t entry = pclntab_entry(pclntab, index);
    calls_open(pclntab, exe_module(exe), index, &tables);
    while (count < EXE_MOST_CALLS) {
        struct exe_call *call = &ret[count++];
        struct inlined_call inlined;
        const bool is_inlined =
            code_inlined(&tables.code, calls_node_at(&tables, offset, left), &inlined);
        *call = (struct exe_call){.function =
                                      is_inlined ? inlined.function : pclntab_name(pclntab, index)};
        call->is_wrapper =
            calls_is_wrapper(pclntab, exe_wrapper_id(exe),
                             is_inlined ? inlined.id : tables.function.id, call->function);
        if (*left == 0 || !pclntab_line(pclntab, index, offset, left, &call->file, &call->line))
            call->line = 0;
        if (!is_inlined)
            break;
        offset = entry + inlined.caller;
    }
    return count;
}

/* ---- what a wrapper calls ---- */

/* Finds the outermost function that is inlined in a function's code, first in its order. Functions
 * of the runtime do not count. Returns false if there is none. */
static bool calls_find_inlined(const struct code *code, struct g2h_bytes *ret)
{
    VECTOR_EACH(const struct code_part, part, code->parts) {
        struct inlined_call inlined;
        unsigned depth = 0;
        while (part && depth < EXE_MOST_CALLS && code_inlined(code, part->node, &inlined)) {
            *ret = inlined.function;
            part = code_at(code, inlined.caller);
            depth++;
        }
        if (depth > 0 && !bytes_begin(*ret, "runtime."))
            return true;
    }
    return false;
}

/* Finds the first function outside the runtime that a function calls. *ret must be empty, and stays
 * so if there is none. *left: how many bytes of code may still be read. */
static struct g2h_error *calls_find_called(const struct g2h_exe *exe, uint64_t index,
                                           uint64_t *left, struct g2h_bytes *ret)
{
    struct call_sites sites;
    struct call_site_list list = {{0}};
    call_sites_init(&sites, exe_pclntab(exe), exe_module(exe));
    struct g2h_error *error = call_sites_find(&sites, index, left, &list);
    for (size_t i = 0; !error && ret->size == 0 && i < list.sites.count; i++) {
        const struct g2h_bytes callee = pclntab_name(exe_pclntab(exe), list.sites.data[i].callee);
        if (!bytes_begin(callee, "runtime."))
            *ret = callee;
    }
    free(list.sites.data);
    call_sites_deinit(&sites);
    return error;
}

/* Finds the function that a wrapper calls: one that is inlined in it, else the one that its code
 * calls. *ret is empty if the address is in no wrapper. */
struct g2h_error *exe_wrapped(const struct g2h_exe *exe, uint64_t address, uint64_t *left,
                              struct g2h_bytes *ret)
{
    const struct pclntab *pclntab = exe_pclntab(exe);
    struct pclntab_function function;
    _cleanup_(code_deinit) struct code code = {0};
    uint64_t index, offset;
    *ret = bytes_none;
    if (!exe_text_offset(exe, address, &offset) || !pclntab_find(pclntab, offset, &index) ||
        !pclntab_function(pclntab, index, &function) ||
        !calls_is_wrapper(pclntab, exe_wrapper_id(exe), function.id, pclntab_name(pclntab, index)))
        return NULL;
    TRY(code_read(&code, pclntab, exe_module(exe), index, left));
    if (calls_find_inlined(&code, ret))
        return NULL;
    *ret = bytes_none;
    return calls_find_called(exe, index, left, ret);
}

/* ==== the calls behind the frames of an allocation site ==== */

/* The most bytes that are read, and the most nodes that are visited, for each byte of the
 * pclntab. */
enum { MOST_READ = 16, MOST_WORK = 64 };

/* A function: its code, and its calls. */
struct body {
    struct code code;
    struct call_site_list calls;
};

struct g2h_inlining {
    const struct pclntab *pclntab;
    const struct moduledata *moduledata;
    struct map functions; /* hash of a name → index of the function in the pclntab */
    struct map numbers;   /* index of a function → index of its body */
    VECTOR(struct body) bodies;
    struct call_sites call_sites;
    uint64_t read_left, work_left;
    uint8_t wrapper; /* abi.FuncIDWrapper, the greatest of all ids, which compiler-generated
                        functions have */
};

/* Indexes functions by name, and finds the id of wrappers. Damaged names may be longer than the
 * table, so their bytes are limited. */
static struct g2h_error *inlining_find_names(struct g2h_inlining *inlining)
{
    const struct pclntab *pclntab = inlining->pclntab;
    struct pclntab_function function;
    uint64_t left = MOST_WORK * pclntab->table.size;
    for (uint64_t i = 0; i < pclntab->count && i < MAP_NONE; i++) {
        const struct g2h_bytes name = pclntab_name(pclntab, i);
        uint32_t number;
        if (name.size > left)
            break;
        left -= name.size;
        if (pclntab_function(pclntab, i, &function) && function.id > inlining->wrapper)
            inlining->wrapper = function.id;
        TRY_MEMORY(
            map_put(&inlining->functions, map_hash_text(name.data, name.size), as_u32(i), &number));
    }
    return NULL;
}

/* Prepares to repair stacks. The limits are multiples of the table's size: enough for each good
 * executable, so that only damaged ones reach them. */
struct g2h_error *g2h_inlining_create(const struct g2h_exe *exe, struct g2h_inlining **ret)
{
    struct g2h_inlining *inlining = calloc(1, sizeof(*inlining));
    TRY_MEMORY(inlining);
    inlining->pclntab = exe_pclntab(exe);
    inlining->moduledata = exe_module(exe);
    inlining->read_left = MOST_READ * inlining->pclntab->table.size;
    inlining->work_left = MOST_WORK * inlining->pclntab->table.size;
    call_sites_init(&inlining->call_sites, inlining->pclntab, inlining->moduledata);
    struct g2h_error *error = inlining_find_names(inlining);
    if (error) {
        g2h_inlining_destroy(inlining);
        return error;
    }
    *ret = inlining;
    return NULL;
}

void g2h_inlining_destroy(struct g2h_inlining *inlining)
{
    if (!inlining)
        return;
    VECTOR_EACH(struct body, body, inlining->bodies) {
        code_deinit(&body->code);
        free(body->calls.sites.data);
    }
    free(inlining->bodies.data);
    call_sites_deinit(&inlining->call_sites);
    map_deinit(&inlining->functions);
    map_deinit(&inlining->numbers);
    free(inlining);
}

/* ---- the code of a function ---- */

/* Frees what is known of a function's code. */
static void body_deinit(struct body *body)
{
    code_deinit(&body->code);
    free(body->calls.sites.data);
}

/* Reads the code and the calls of a function. */
static struct g2h_error *add_body(struct g2h_inlining *inlining, uint32_t function)
{
    _cleanup_(body_deinit) struct body body = {.calls = {{0}}};
    uint64_t *left = &inlining->read_left;
    TRY(code_read(&body.code, inlining->pclntab, inlining->moduledata, function, left));
    TRY(call_sites_find(&inlining->call_sites, function, left, &body.calls));
    TRY_MEMORY(vector_push(&inlining->bodies, body));
    body = (struct body){.calls = {{0}}}; /* the list owns it */
    return NULL;
}

/* Finds the body of the function with a name. *ret is NULL if there is no such function. */
static struct g2h_error *find_body(struct g2h_inlining *inlining, struct g2h_bytes name,
                                   const struct body **ret)
{
    const uint32_t function = map_get(&inlining->functions, map_hash_text(name.data, name.size));
    *ret = NULL;
    if (function == MAP_NONE || !bytes_same(pclntab_name(inlining->pclntab, function), name))
        return NULL;
    uint32_t number = as_u32(inlining->bodies.count);
    TRY_MEMORY(map_put(&inlining->numbers, function, number, &number));
    if (number == inlining->bodies.count)
        TRY(add_body(inlining, function));
    *ret = &inlining->bodies.data[number];
    return NULL;
}

/* ---- calls ---- */

/* The calls that a part of the code represents, innermost first. */
struct chain {
    size_t count;  /* of calls */
    size_t shared; /* how many of them the stack has; 0: the stack has other calls */
    struct g2h_call calls[G2H_MOST_INLINED];
};

/* The rest of the stack that is being repaired. */
struct stack {
    const struct g2h_call *calls;
    size_t count;
};

/* Returns whether a part of the code has the file and line of a call of the stack. */
static bool inlining_is_at(const struct code *code, const struct code_part *part,
                           const struct g2h_call *call)
{
    return part->line == call->line &&
           bytes_same(pclntab_file(code->pclntab, code->index, part->file), call->file);
}

/* Returns the name of the innermost function of a part of the code. */
static struct g2h_bytes inlining_function_at(const struct code *code, const struct code_part *part)
{
    struct inlined_call inlined;
    return part && code_inlined(code, part->node, &inlined)
               ? inlined.function
               : pclntab_name(code->pclntab, code->index);
}

/* Adds a call of a part of the code to a chain; behind is the part that it returns to, inlined is
 * NULL if the function is not inlined. */
static void add_call(struct chain *chain, const struct code *code, const struct code_part *part,
                     const struct code_part *behind, const struct inlined_call *inlined)
{
    struct g2h_call call = {
        .function = pclntab_name(code->pclntab, code->index),
        .file = pclntab_file(code->pclntab, code->index, part->file),
        .line = part->line,
        .start_line = code->start_line,
        .behind = inlining_function_at(code, behind),
        .is_inlined = inlined != NULL,
    };
    if (inlined) {
        call.function = inlined->function;
        call.start_line = inlined->start_line;
    }
    chain->calls[chain->count++] = call;
}

/* Collects the calls from a part of the code, which is that of the stack's first call, to its
 * outermost caller. behind is the part that the call returns to. ret->shared is 0 if the stack has
 * other calls. */
static void inlining_follow(struct g2h_inlining *inlining, const struct code *code,
                            const struct code_part *part, const struct code_part *behind,
                            const struct stack *stack, struct chain *ret)
{
    size_t shared = 0;
    ret->count = ret->shared = 0;
    while (part && ret->count < G2H_MOST_INLINED && inlining->work_left > 0) {
        struct inlined_call inlined;
        const bool is_inlined = code_inlined(code, part->node, &inlined);
        const bool is_wrapper = (is_inlined ? inlined.id : code->id) == inlining->wrapper;
        inlining->work_left--;
        const bool is_next =
            shared == 0 ||
            (shared < stack->count && inlining_is_at(code, part, &stack->calls[shared]) &&
             bytes_same(stack->calls[shared].function, stack->calls[0].function));
        if (is_next || (shared == stack->count && !is_wrapper))
            add_call(ret, code, part, behind, is_inlined ? &inlined : NULL);
        else if (!is_wrapper)
            return; /* stacks do not have wrappers */
        shared += is_next;
        if (!is_inlined) {
            ret->calls[ret->count - 1].is_inlined = false; /* its callers are wrappers */
            ret->shared = shared;
            return;
        }
        part = code_at(code, inlined.caller);
        behind = code_at(code, inlined.caller + 1);
    }
}

/* Returns whether a chain agrees better with the stack than another: best is one that the stack has
 * as a whole, and then the one that has more calls of the stack. A chain of which the stack has no
 * call is never better, and any other is better than it. */
static bool inlining_is_better(const struct chain *chain, const struct chain *than)
{
    const bool is_whole = chain->shared == chain->count;
    const bool was_whole = than->shared == than->count;
    if (chain->shared == 0 || than->shared == 0)
        return chain->shared > 0;
    return is_whole != was_whole ? is_whole : chain->shared > than->shared;
}

/* Follows the calls of a part of the code, and makes them the best if they agree better with the
 * stack. */
static void try_part(struct g2h_inlining *inlining, const struct code *code,
                     const struct code_part *part, const struct code_part *behind,
                     const struct stack *stack, struct chain *best)
{
    struct chain chain;
    inlining_follow(inlining, code, part, behind, stack, &chain);
    if (inlining_is_better(&chain, best))
        *best = chain;
}

/* Finds the chain of inlined calls that led to the stack's first call, of which a sample has the
 * function and the line only, in all code of that line. best->shared is 0 if no part fits. */
static void find_in_code(struct g2h_inlining *inlining, const struct code *code,
                         const struct stack *stack, struct chain *best)
{
    const struct code_part *parts = code->parts.data;
    size_t at;
    BISECT(at, code->by_line.count, parts[code->by_line.data[at]].line < stack->calls[0].line);
    for (; at < code->by_line.count && inlining->work_left > 0; at++) {
        const struct code_part *part = &parts[code->by_line.data[at]];
        if (part->line != stack->calls[0].line)
            return;
        inlining->work_left--;
        if (inlining_is_at(code, part, &stack->calls[0]))
            try_part(inlining, code, part, part, stack, best);
    }
}

/* Tries the places in a function where it calls callee, the function of the frame before, as
 * explanations of the stack's first calls; *best becomes the chain of inlined calls that agrees
 * with most of them. Ends when inlining->work_left is used up. */
static void inlining_find_caller(struct g2h_inlining *inlining, const struct body *body,
                                 uint32_t callee, const struct stack *stack, struct chain *best)
{
    for (size_t i = 0; i < body->calls.sites.count && inlining->work_left > 0; i++) {
        const struct call_site *site = &body->calls.sites.data[i];
        inlining->work_left--;
        if (site->callee != callee)
            continue;
        const struct code_part *part = code_at(&body->code, site->behind - 1);
        if (part && inlining_is_at(&body->code, part, &stack->calls[0]))
            try_part(inlining, &body->code, part, code_at(&body->code, site->behind), stack, best);
    }
}

/* Tries the places in a function where it calls one that allocates in a way, as explanations of the
 * stack's first calls; *best becomes the best one. For the innermost frame, a dump has the line at
 * the return address, which may be the next line already, so the line behind the call is compared.
 */
static struct g2h_error *find_allocation(struct g2h_inlining *inlining, const struct body *body,
                                         enum call_sites_allocator way, const struct stack *stack,
                                         struct chain *best)
{
    for (size_t i = 0; i < body->calls.sites.count && inlining->work_left > 0; i++) {
        const struct call_site *site = &body->calls.sites.data[i];
        const struct code_part *behind = code_at(&body->code, site->behind);
        enum call_sites_allocator allocator;
        inlining->work_left--;
        if (!behind || !inlining_is_at(&body->code, behind, &stack->calls[0]))
            continue;
        TRY(call_sites_allocator(&inlining->call_sites, site->callee, &inlining->read_left,
                                 &allocator));
        if (allocator == way)
            try_part(inlining, &body->code, code_at(&body->code, site->behind - 1), behind, stack,
                     best);
    }
    return NULL;
}

/* Tries the places in the innermost function where it allocates. Stacks do not have
 * runtime.mallocgc, and older ones not even newobject and the like, which call it for others. So
 * the innermost function either calls mallocgc itself, as code of Go 1.27 does, or it calls one of
 * these. */
static struct g2h_error *find_innermost(struct g2h_inlining *inlining, const struct body *body,
                                        const struct stack *stack, struct chain *best)
{
    TRY(find_allocation(inlining, body, ALLOCATES_ITSELF, stack, best));
    if (best->shared == 0)
        TRY(find_allocation(inlining, body, ALLOCATES_BY_CALL, stack, best));
    return NULL;
}

/* Finds the calls that the stack's first call represents. callee is the function of the frame
 * before, or MAP_NONE if it is not known. An indirect call does not have the callee in its
 * instruction, so all of the code is searched if no call of callee fits. */
static struct g2h_error *inlining_find_chain(struct g2h_inlining *inlining, const struct body *body,
                                             bool is_innermost, uint32_t callee,
                                             const struct stack *stack, struct chain *best)
{
    if (is_innermost)
        TRY(find_innermost(inlining, body, stack, best));
    else if (callee != MAP_NONE)
        inlining_find_caller(inlining, body, callee, stack, best);
    if (best->shared == 0)
        find_in_code(inlining, &body->code, stack, best);
    return NULL;
}

/* Completes a call that was not found in the code as it is: it is not inlined, and the function
 * that it returns to (behind) is its own. body: the function's code, or NULL. Returns the number of
 * calls, 1. */
static size_t keep_call(struct g2h_call *call, const struct body *body)
{
    call->start_line = body ? body->code.start_line : 0;
    call->behind = call->function;
    call->is_inlined = false;
    return 1;
}

/* Repairs a stack in which inlined calls are parts of their callers. Each frame of the stack that
 * the code explains is replaced by the calls that it represents: an inlined call has no frame of
 * its own. */
struct g2h_error *g2h_inlining_repair(struct g2h_inlining *inlining, struct g2h_call *calls,
                                      size_t *count)
{
    struct chain chain;
    uint32_t callee = MAP_NONE;
    for (size_t at = 0; at < *count;) {
        const struct stack stack = {calls + at, *count - at};
        const struct body *body;
        TRY(find_body(inlining, calls[at].function, &body));
        chain.count = chain.shared = 0;
        if (body)
            TRY(inlining_find_chain(inlining, body, at == 0, callee, &stack, &chain));
        callee = body ? (uint32_t)body->code.index : MAP_NONE;
        if (chain.shared == 0) {
            at += keep_call(&calls[at], body);
            continue;
        }
        memcpy(calls + at, chain.calls, chain.count * sizeof(*calls));
        at += chain.count;
        *count += chain.count - chain.shared;
    }
    return NULL;
}
