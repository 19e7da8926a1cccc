/*
 * exe: an executable, and whether it is the one that wrote a dump.
 *
 * Nothing of an executable is believed before it has been matched: a table of another build gives
 * names that look right and are wrong. The functions of the dump's frames are the witnesses, since
 * frames have both name and address.
 */
#include "exe/exe.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "exe/moduledata.h"
#include "exe/pclntab.h"
#include "exe/rtype.h"
#include "heap/heap.h"

struct variable {
    uint64_t address, size; /* in the file */
    struct g2h_bytes name;
};

struct g2h_exe {
    struct g2h_input *input;
    struct image image;
    struct pclntab pclntab;
    struct g2h_bytes version;          /* empty where the build information has none in place */
    VECTOR(struct variable) variables; /* ascending */
    bool has_text, has_data;
    uint64_t text;  /* address of the first function in the process */
    uint64_t slide; /* of data, from the file to the process */
    struct moduledata moduledata;
    struct types types;
    uint64_t types_start; /* runtime.types in the process */
};

/* ---- opening ---- */

/* runtime/debug/buildinfo: from 1.18 on the version is behind the 32-byte header, as a uvarint and
 * text. */
static struct g2h_bytes build_version(const struct image *image)
{
    static const char magic[] = "\xff Go buildinf:";
    const struct image_section *section = image_section(image, ".go.buildinfo");
    struct g2h_bytes version = {(const uint8_t *)"", 0};
    if (!section || section->data.size < 34 ||
        memcmp(section->data.data, magic, sizeof(magic) - 1) != 0 ||
        (section->data.data[15] & 2) == 0)
        return version;
    struct cursor cursor = {section->data.data + 32, section->data.data + section->data.size};
    uint64_t size;
    if (!cursor_uvarint(&cursor, &size) || size > cursor_left(&cursor))
        return version;
    return (struct g2h_bytes){cursor.at, size};
}

static int compare_variables(const void *a, const void *b)
{
    const struct variable *one = a, *other = b;
    if (one->address != other->address)
        return one->address < other->address ? -1 : 1;
    return one->size < other->size ? -1 : one->size > other->size;
}

static bool is_data_section(const struct image *image, uint16_t index)
{
    if (index >= image->section_count)
        return false;
    const uint64_t flags = image->sections[index].flags;
    return (flags & SHF_ALLOC) != 0 && (flags & SHF_WRITE) != 0;
}

static struct g2h_error *collect_variables(struct g2h_exe *exe)
{
    const size_t count = image_symbol_count(&exe->image);
    for (size_t i = 0; i < count; i++) {
        struct image_symbol symbol;
        if (!image_symbol(&exe->image, i, &symbol) || symbol.type != STT_OBJECT ||
            symbol.size == 0 || !is_data_section(&exe->image, symbol.section))
            continue;
        struct variable variable = {symbol.address, symbol.size, symbol.name};
        if (!vector_push(&exe->variables, variable))
            return &error_no_memory;
    }
    if (exe->variables.count > 0)
        qsort(exe->variables.data, exe->variables.count, sizeof(*exe->variables.data),
              compare_variables);
    return NULL;
}

struct g2h_error *g2h_exe_open(const char *path, struct g2h_exe **ret)
{
    struct g2h_exe *exe = calloc(1, sizeof(*exe));
    if (!exe)
        return &error_no_memory;
    struct g2h_error *error = g2h_input_open(path, NULL, &exe->input);
    if (!error)
        error = image_init(&exe->image, exe->input->name,
                           (struct g2h_bytes){exe->input->data, exe->input->size});
    if (!error)
        error = pclntab_init(&exe->pclntab, &exe->image);
    if (!error)
        error = collect_variables(exe);
    if (error) {
        g2h_exe_close(exe);
        return error;
    }
    exe->version = build_version(&exe->image);
    moduledata_find(&exe->image, &exe->pclntab, &exe->moduledata);
    *ret = exe;
    return NULL;
}

void g2h_exe_close(struct g2h_exe *exe)
{
    if (!exe)
        return;
    types_deinit(&exe->types);
    free(exe->variables.data);
    image_deinit(&exe->image);
    g2h_input_close(exe->input);
    free(exe);
}

/* ---- matching ---- */

/* By name; AMBIGUOUS where several functions have it, as instances of a generic function do. */
#define AMBIGUOUS (UINT32_MAX - 1)

static struct g2h_error *map_functions(const struct g2h_exe *exe, struct map *ret)
{
    for (uint64_t i = 0; i < exe->pclntab.count && i < AMBIGUOUS; i++) {
        struct g2h_bytes name = pclntab_name(&exe->pclntab, i);
        uint32_t number;
        uint64_t key = map_hash_bytes(name.data, name.size);
        if (!map_put(ret, key, (uint32_t)i, &number))
            return &error_no_memory;
        if (number != i)
            map_set(ret, key, AMBIGUOUS);
    }
    return NULL;
}

static struct g2h_error *mismatch(const struct g2h_exe *exe, const char *what,
                                  const struct g2h_bytes *name)
{
    return error_create(G2H_ERROR_NOT_EXE, "%s: is not the executable that wrote the dump: %s%.*s",
                        exe->image.path, what, name->size < 200 ? (int)name->size : 200,
                        (const char *)name->data);
}

static struct g2h_error *match_functions(struct g2h_exe *exe, const struct g2h_heap *heap,
                                         const struct map *functions)
{
    uint64_t last_entry = 0;
    for (size_t i = 0; i < heap->frames.count; i++) {
        struct g2h_record record;
        g2h_heap_record(heap, G2H_RECORD_STACKFRAME, i, &record);
        const struct g2h_stackframe *frame = &record.stackframe;
        static const char unknown[] = "unknown function";
        if (frame->entry == last_entry || frame->function.size == 0 ||
            (frame->function.size == sizeof(unknown) - 1 &&
             memcmp(frame->function.data, unknown, sizeof(unknown) - 1) == 0))
            continue;
        last_entry = frame->entry;
        uint32_t index =
            map_get(functions, map_hash_bytes(frame->function.data, frame->function.size));
        if (index == MAP_NONE)
            return mismatch(exe, "it has no function ", &frame->function);
        if (index == AMBIGUOUS)
            continue;
        uint64_t text = frame->entry - pclntab_entry(&exe->pclntab, index);
        if (exe->has_text && text != exe->text)
            return mismatch(exe, "elsewhere than in the dump is its function ", &frame->function);
        exe->text = text;
        exe->has_text = true;
    }
    return NULL;
}

/* The data segment of the dump is runtime.data to edata: the section .data, unless a C linker has
 * put its own before. */
static struct g2h_error *match_data(struct g2h_exe *exe, const struct g2h_heap *heap)
{
    const struct image_section *section = image_section(&exe->image, ".data");
    struct g2h_record record;
    const uint64_t data = exe->moduledata.data ? exe->moduledata.data
                          : section            ? section->address
                                               : 0;
    if (data == 0 || g2h_heap_record_count(heap, G2H_RECORD_DATA) == 0)
        return NULL;
    g2h_heap_record(heap, G2H_RECORD_DATA, 0, &record);
    exe->slide = record.segment.address - data;
    if (exe->slide % 4096 != 0)
        return mismatch(exe, "its data does not lie where the dump has it",
                        &(struct g2h_bytes){(const uint8_t *)"", 0});
    exe->has_data = true;
    return NULL;
}

struct g2h_error *g2h_exe_match(struct g2h_exe *exe, const struct g2h_heap *heap)
{
    const char *version = g2h_heap_go_version(heap);
    struct map functions = {0};
    exe->has_text = exe->has_data = false;
    exe->types_start = 0;
    types_deinit(&exe->types);
    types_init(&exe->types, exe->image.is_64 ? 8 : 4);
    if (exe->image.is_64 != (heap->params.pointer_size == 8) ||
        exe->image.big_endian != heap->params.big_endian)
        return mismatch(exe, "it is of another architecture",
                        &(struct g2h_bytes){(const uint8_t *)"", 0});
    if (*version && exe->version.size > 0 &&
        (exe->version.size != strlen(version) ||
         memcmp(exe->version.data, version, exe->version.size) != 0))
        return mismatch(exe, "it was built by ", &exe->version);
    struct g2h_error *error = map_functions(exe, &functions);
    if (!error)
        error = match_functions(exe, heap, &functions);
    if (!error)
        error = match_data(exe, heap);
    map_deinit(&functions);
    if (!error && exe->has_data)
        error = rtypes_init(&exe->types, &exe->image, &exe->moduledata, exe->slide, heap,
                            &exe->types_start);
    if (error)
        exe->has_text = exe->has_data = false;
    return error;
}

/* ---- asking ---- */

bool g2h_exe_line(const struct g2h_exe *exe, uint64_t address, struct g2h_line *ret)
{
    uint64_t index;
    if (!exe->has_text || !pclntab_find(&exe->pclntab, address - exe->text, &index))
        return false;
    *ret = (struct g2h_line){.function = pclntab_name(&exe->pclntab, index),
                             .entry = exe->text + pclntab_entry(&exe->pclntab, index)};
    if (!pclntab_line(&exe->pclntab, index, address - exe->text, &ret->file, &ret->line))
        ret->line = 0;
    return ret->function.size > 0;
}

bool g2h_exe_variable(const struct g2h_exe *exe, uint64_t address, struct g2h_bytes *ret_name,
                      uint64_t *ret_offset)
{
    const uint64_t place = address - exe->slide;
    size_t from = 0, to = exe->variables.count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (exe->variables.data[middle].address <= place)
            from = middle + 1;
        else
            to = middle;
    }
    if (!exe->has_data || from == 0 ||
        place - exe->variables.data[from - 1].address >= exe->variables.data[from - 1].size)
        return false;
    *ret_name = exe->variables.data[from - 1].name;
    *ret_offset = place - exe->variables.data[from - 1].address;
    return true;
}

bool g2h_exe_type_name(const struct g2h_exe *exe, uint64_t address, struct g2h_bytes *ret)
{
    const uint32_t type = types_at(&exe->types, address);
    size_t size;
    if (type == TYPE_NONE)
        return false;
    const char *name = string_pool_text(&exe->types.names, exe->types.list.data[type].name, &size);
    *ret = (struct g2h_bytes){(const uint8_t *)name, size};
    return true;
}

size_t g2h_exe_variable_count(const struct g2h_exe *exe)
{
    return exe->variables.count;
}

/* ---- for the rooms above ---- */

struct types *exe_types(struct g2h_exe *exe)
{
    return &exe->types;
}

uint64_t exe_slide(const struct g2h_exe *exe)
{
    return exe->slide;
}

uint64_t exe_types_start(const struct g2h_exe *exe)
{
    return exe->types_start;
}

const struct image *exe_image(const struct g2h_exe *exe)
{
    return &exe->image;
}
