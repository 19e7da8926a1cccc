/*
 * exe; see exe.h. This file opens the executable and its separate debug file, reads the data that
 * depends on the process, and looks up addresses.
 */
#include "exe/exe.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bisect.h"
#include "base/bytes.h"
#include "base/elf_format.h"
#include "base/memory.h"
#include "base/scope.h"
#include "exe/dwarf/die.h"
#include "exe/image/debugfile.h"
#include "exe/image/image.h"
#include "exe/go/moduledata.h"
#include "exe/go/pclntab.h"
#include "exe/go/rtype.h"
#include "exe/image/source.h"

struct variable {
    uint64_t address, size; /* in the file */
    struct g2h_bytes name;
};

struct g2h_exe {
    struct g2h_input *input;
    struct image image;
    struct g2h_input *debug_input; /* its separate debug file; NULL: there is none */
    struct image debug_image;
    struct pclntab pclntab;
    struct built_by built_by;
    VECTOR(struct variable) variables; /* ascending */
    struct moduledata moduledata;      /* all 0: not found */
    uint8_t wrapper;                   /* see exe_wrapper_id(); 0 before exe_bind() */
    /* These fields depend on the process; see exe_bind(). */
    bool has_text, has_data;
    uint64_t text;  /* address of the first function in the process, if has_text */
    uint64_t slide; /* from addresses of data in the file to those in the process, if has_data */
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
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (image_section(image, names[i]))
            return true;
    return false;
}

bool exe_go_version(const char *path, struct text *version)
{
    _cleanup_(image_deinit) struct image image = {0};
    struct g2h_input *input = NULL;
    struct stat status;
    struct g2h_bytes release = bytes_none, lines;
    uint64_t address;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) /* reading a pipe might not end */
        return false;
    struct g2h_error *error = source_open(path, &input);
    if (error) {
        g2h_error_destroy(error);
        return false;
    }
    error = image_init(&image, path, (struct g2h_bytes){input->data, input->size});
    const bool is_go = !error && has_go_section(&image);
    if (is_go && version && build_info_read(build_info_find(&image, &address), &release, &lines))
        text_append(version, (const char *)release.data, (size_t)release.size);
    g2h_error_destroy(error);
    g2h_input_close(input);
    return is_go;
}

bool exe_is_go(const char *path)
{
    return exe_go_version(path, NULL);
}

/* ---- opening ---- */

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

static int compare_variables(const void *a, const void *b)
{
    const struct variable *one = a, *other = b;
    if (one->address != other->address)
        return one->address < other->address ? -1 : 1;
    return one->size < other->size ? -1 : one->size > other->size;
}

/* Returns whether a section is writable memory of the process. */
static bool is_data_section(const struct image *image, uint16_t index)
{
    if (index >= image->section_count)
        return false;
    const uint64_t flags = image->sections[index].flags;
    return (flags & SHF_ALLOC) != 0 && (flags & SHF_WRITE) != 0;
}

/* Lists the symbols of variables in data and bss, sorted by address. */
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
    TRY(image_init(&exe->image, exe->input->name,
                   (struct g2h_bytes){exe->input->data, exe->input->size}));
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

struct g2h_error *g2h_exe_open(const char *path, struct g2h_exe **ret)
{
    struct g2h_exe *exe = calloc(1, sizeof(*exe));
    if (!exe)
        return &error_no_memory;
    struct g2h_error *error = read_file(exe, path);
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

/* "main." is a program's own code, and so are the packages of its main module, by their import
 * path. */
bool g2h_exe_is_own(const struct g2h_exe *exe, struct g2h_bytes function)
{
    const struct g2h_bytes module = exe ? exe->built_by.module : bytes_none;
    if (bytes_begin(function, "main."))
        return true;
    return module.size > 0 && function.size > module.size &&
           memcmp(function.data, module.data, (size_t)module.size) == 0 &&
           (function.data[module.size] == '.' || function.data[module.size] == '/');
}

bool g2h_exe_is_plugin(const struct g2h_exe *exe)
{
    return exe->built_by.is_plugin;
}

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

/* The file's bytes have been found; their section has the address that they get in memory. */
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

/*
 * Go's data is the section .data, unless another linker has merged C's data into it, or the file is
 * PE: then .data begins with other data and ends with the equivalent of .bss in the other formats.
 */
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

/* Reads all parts of DWARF that will be needed, so that later queries do not change the
 * executable. */
static struct g2h_error *read_dwarf(struct g2h_exe *exe, const struct exe_process *process)
{
    struct image *image = exe_dwarf_image(exe);
    if (!image)
        return NULL;
    TRY(dies_inflate(image, process->threads > 0 ? process->threads : 1));
    TRY(dwarf_info_init(&exe->dwarf_info, image, &exe->types, exe->types_start));
    struct g2h_error *error =
        scopes_init(&exe->scopes, &exe->dwarf_info, &exe->types, &process->frames, process->slide);
    dwarf_info_close(&exe->dwarf_info);
    return error;
}

/* Reads the types: the descriptors, and then DWARF, which adds to them. */
static struct g2h_error *exe_read_process(struct g2h_exe *exe, const struct exe_process *process)
{
    struct rtypes_found found;
    TRY(rtypes_init(&exe->types, &exe->image, &exe->moduledata, exe->slide, process->witnesses,
                    &found));
    exe->types_start = found.start;
    exe->types_unfit = found.unfit;
    exe->types_checked = process->witnesses.count;
    return read_dwarf(exe, process);
}

/* Without the address of data (slide), descriptors and DWARF cannot be used. An error leaves the
 * executable unbound. */
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
    if (error)
        exe_unbind(exe);
    return error;
}

void exe_unbind(struct g2h_exe *exe)
{
    exe->has_text = exe->has_data = false;
    exe->types_start = 0;
    exe->types_checked = exe->types_unfit = 0;
    types_deinit(&exe->types);
    dwarf_info_deinit(&exe->dwarf_info);
    scopes_deinit(&exe->scopes);
    types_init(&exe->types, exe->image.is_64 ? 8 : 4);
}

/* ---- queries ---- */

/* If *left is used up, the function is still found, but not the line. */
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

bool exe_text_offset(const struct g2h_exe *exe, uint64_t address, uint64_t *ret)
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

bool g2h_exe_type_name(const struct g2h_exe *exe, uint64_t address, struct g2h_bytes *ret)
{
    const uint32_t type = types_at(&exe->types, address);
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

size_t g2h_exe_unfit_types(const struct g2h_exe *exe, size_t *ret_all)
{
    *ret_all = exe->types_checked;
    return exe->types_unfit;
}

size_t g2h_exe_type_count(const struct g2h_exe *exe)
{
    return exe->types.list.count;
}

const char *g2h_exe_path(const struct g2h_exe *exe)
{
    return exe->input->name;
}

const struct g2h_input *g2h_exe_input(const struct g2h_exe *exe, unsigned index)
{
    return index == 0 ? exe->input : exe->debug_input;
}

/* ---- for the modules above ---- */

struct g2h_error *exe_check_inputs(const struct g2h_exe *exe)
{
    for (unsigned i = 0; i < 2; i++)
        if (g2h_exe_input(exe, i))
            TRY(g2h_input_check(g2h_exe_input(exe, i)));
    return NULL;
}

uint64_t exe_lines_most(const struct g2h_exe *exe)
{
    return exe ? 64 * exe->pclntab.table.size : 0;
}

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

uint64_t exe_function(const struct g2h_exe *exe, uint64_t index, struct g2h_bytes *ret_name)
{
    *ret_name = pclntab_name(&exe->pclntab, index);
    return exe->text + pclntab_entry(&exe->pclntab, index);
}

uint64_t exe_slide(const struct g2h_exe *exe)
{
    return exe->slide;
}

uint64_t exe_types_start(const struct g2h_exe *exe)
{
    return exe->types_start;
}
