/*
 * exe_match: checks whether an executable is the one that wrote a dump, and finds its addresses in
 * the process.
 *
 * Nothing in an executable is trusted before this: the tables of another build yield plausible but
 * wrong names. g2h_exe_match() compares, in this order:
 *
 *   the word size, byte order and release of Go
 *   functions of the dump's frames, which have both name and address
 *   the sizes of the data; if this or the functions do not fit, as in a process with plugins, it
 *     looks for the module whose data and functions fit
 *   the addresses of constants in the data
 *
 * Then it gathers what exe_bind() needs: the types of the dump, by which that finds where their
 * descriptors are (witnesses, see rtype.h), and the calls on the stacks.
 */
#include "typing/exe_match.h"

#include "base/contract.h"
#include "base/bytes.h"
#include "base/elf_format.h"
#include "base/error.h"
#include "base/map.h"
#include "base/ranges.h"
#include "exe/exe.h"
#include "exe/go/pclntab.h"
#include "heap/heap.h"

/* Segments are loaded at other addresses than the file has by whole pages, of 4 KiB or multiples.
 */
enum { LEAST_PAGE = 4096 };

/* Returns the error that the executable did not write the dump. why and name say how they
 * differ. */
static struct g2h_error *mismatch(const struct g2h_exe *exe, const char *why, struct g2h_bytes name)
{
    return error_create(G2H_ERROR_NOT_EXE, "%s: is not the executable that wrote the dump: %s%.*s",
                        g2h_exe_path(exe), why, as_width(bytes_at_most(name, 200).size), name.data);
}

/* Checks that the executable has the word size, byte order and release of Go of the dump. */
static struct g2h_error *match_build(const struct g2h_exe *exe, const struct g2h_heap *heap)
{
    const struct image *image = exe_image(exe);
    const struct g2h_bytes built_by = exe_version(exe);
    const char *version = g2h_heap_go_version(heap);
    if (image->is_64 != (heap->params.pointer_size == 8) ||
        image->big_endian != heap->params.big_endian)
        return mismatch(exe, "it is of another architecture", bytes_none);
    /* A version that names no release may have replaced the true one in one place only. */
    if (heap->go_minor > 0 && !exe_built_by(exe)->is_guess && !bytes_are(built_by, version))
        return mismatch(exe, "it was built by ", built_by);
    return NULL;
}

/* ---- functions ---- */

/* Returns whether a frame has the name of its function. */
static bool has_function(const struct heap_stack_frame *frame)
{
    return frame->function.size > 0 && !bytes_are(frame->function, "unknown function");
}

/* Checks that all functions on the stacks are in the executable, all moved by the same distance,
 * and sets process->text. Functions whose name several have say nothing. Error: one is missing, or
 * moved by another distance. */
static struct g2h_error *match_functions(struct g2h_exe *exe, const struct g2h_heap *heap,
                                         struct exe_process *process)
{
    const struct function_names *names;
    TRY(exe_function_names(exe, &names));
    uint64_t last_entry = 0;
    for (size_t i = 0; i < heap->frames.count; i++) {
        const struct heap_stack_frame frame = heap_frame(heap, i);
        if (frame.entry == last_entry || !has_function(&frame))
            continue;
        last_entry = frame.entry;
        const uint32_t index = function_names_find(names, frame.function);
        if (index == MAP_NONE)
            return mismatch(exe, "it has no function ", frame.function);
        if (index == FUNCTION_AMBIGUOUS)
            continue;
        const uint64_t text = frame.entry - pclntab_entry(exe_pclntab(exe), index);
        if (process->has_text && text != process->text)
            return mismatch(exe, "it has a different address than the dump for ", frame.function);
        process->text = text;
        process->has_text = true;
    }
    return NULL;
}

/* Returns whether segments of the dump have the sizes that the executable has. */
static bool has_sizes(const struct moduledata *module, const struct g2h_record *data,
                      const struct g2h_record *bss)
{
    return module->data == 0 || (data->segment.contents.size == module->edata - module->data &&
                                 bss->segment.contents.size == module->ebss - module->bss);
}

/* ---- several modules ---- */

/* Returns whether the dump's frames agree with the executable at this distance (slide) from its own
 * addresses: at least one frame is in its code, and each such frame has the name of the function
 * that the executable has there. */
static bool has_functions_at(const struct g2h_exe *exe, const struct g2h_heap *heap, uint64_t slide)
{
    const struct moduledata *module = exe_module(exe);
    const struct pclntab *pclntab = exe_pclntab(exe);
    const uint64_t start = module->minpc + slide;
    bool any = false;
    for (size_t i = 0; i < heap->frames.count; i++) {
        const struct heap_stack_frame frame = heap_frame(heap, i);
        uint64_t index;
        if (!has_function(&frame) ||
            frame.entry - (module->text + slide) >= module->ebss - module->text)
            continue;
        if (!pclntab_find(pclntab, frame.entry - start, &index) ||
            pclntab_entry(pclntab, index) != frame.entry - start ||
            !bytes_same(pclntab_name(pclntab, index), frame.function))
            return false;
        any = true;
    }
    return any;
}

/*
 * Finds the executable in a process that has several modules, a program and its plugins, by their
 * data: a plugin has a copy of each function of the runtime that it calls, so functions do not
 * identify a module. Returns false if it is not found.
 */
static bool match_module(const struct g2h_exe *exe, const struct g2h_heap *heap,
                         struct exe_process *process)
{
    const struct moduledata *module = exe_module(exe);
    const uint64_t data_count = g2h_heap_record_count(heap, G2H_RECORD_DATA),
                   bss_count = g2h_heap_record_count(heap, G2H_RECORD_BSS),
                   count = MIN(data_count, bss_count);
    for (uint64_t i = 0; module->data != 0 && i < count; i++) {
        struct g2h_record data, bss;
        g2h_heap_record(heap, G2H_RECORD_DATA, (size_t)i, &data);
        g2h_heap_record(heap, G2H_RECORD_BSS, (size_t)i, &bss);
        const uint64_t slide = data.segment.address - module->data;
        if (!has_sizes(module, &data, &bss) || slide % LEAST_PAGE != 0 ||
            !has_functions_at(exe, heap, slide))
            continue;
        *process = (struct exe_process){
            .has_text = true, .has_data = true, .text = module->minpc + slide, .slide = slide};
        return true;
    }
    return false;
}

/* ---- data ---- */

/* Checks the sizes of the data segments, and sets process->slide, how far the data lies from where
 * the file has it. Without records of data and bss, or if the file's data is not found, nothing is
 * checked; has_data says which. */
static struct g2h_error *match_data(const struct g2h_exe *exe, const struct g2h_heap *heap,
                                    struct exe_process *process)
{
    struct g2h_record data, bss;
    uint64_t start;
    if (g2h_heap_record_count(heap, G2H_RECORD_DATA) == 0 ||
        g2h_heap_record_count(heap, G2H_RECORD_BSS) == 0)
        return NULL;
    g2h_heap_record(heap, G2H_RECORD_DATA, 0, &data);
    g2h_heap_record(heap, G2H_RECORD_BSS, 0, &bss);
    if (!has_sizes(exe_module(exe), &data, &bss))
        return mismatch(exe, "its data has another size than in the dump", bytes_none);
    if (!exe_find_data(exe, data.segment.contents.size, bss.segment.contents.size, &start))
        return NULL;
    process->slide = data.segment.address - start;
    if (process->slide % LEAST_PAGE != 0)
        return mismatch(exe, "its data does not lie where the dump has it", bytes_none);
    process->has_data = true;
    return NULL;
}

/* Finds the addresses of the executable's functions and data in the process; if those do not fit,
 * as in a process with plugins, looks for its module by the data alone. */
static struct g2h_error *match_addresses(struct g2h_exe *exe, const struct g2h_heap *heap,
                                         struct exe_process *process)
{
    struct g2h_error *error = match_functions(exe, heap, process);
    if (!error)
        error = match_data(exe, heap, process);
    if (!error)
        return NULL;
    if (error->code != G2H_ERROR_NOT_EXE || !match_module(exe, heap, process))
        return error;
    g2h_error_destroy(error);
    return NULL;
}

/* ---- constants ---- */

/* The addresses of an executable between which its code, strings and descriptors are. A damaged
 * executable may have very many sections. */
struct constants {
    struct ranges sections;
    uint64_t begin, end;
};

static void constants_deinit(struct constants *constants)
{
    ranges_deinit(&constants->sections);
}

/* Returns whether the program cannot change a section: .data.rel.ro is writable only until the
 * dynamic linker has relocated it. */
static bool is_constant_section(const struct image_section *section)
{
    return (section->flags & SHF_ALLOC) != 0 &&
           ((section->flags & SHF_WRITE) == 0 || bytes_begin(section->name, ".data.rel.ro"));
}

/* Lists the constant sections, and finds the range of addresses that encloses them: is_constant()
 * excludes most words by it. Empty sections are left out. Returns false if memory runs out. */
static bool constants_init(struct constants *ret, const struct image *image)
{
    *ret = (struct constants){.begin = UINT64_MAX};
    for (size_t i = 0; i < image->section_count; i++) {
        const struct image_section *section = &image->sections[i];
        const struct range range = {section->address, section->address + section->size};
        if (!is_constant_section(section) || range.end <= range.begin)
            continue;
        if (!vector_push(&ret->sections.list, range))
            return false;
        if (range.begin == 0)
            continue;
        ret->begin = MIN(range.begin, ret->begin);
        ret->end = MAX(range.end, ret->end);
    }
    ranges_sort(&ret->sections);
    return true;
}

/* Returns whether an address is in a section that the program does not change. */
static bool is_constant(const struct constants *constants, uint64_t address)
{
    struct range found;
    return address >= constants->begin && address < constants->end &&
           ranges_next(&constants->sections, address, address + 1, &found);
}

/* Counts the words of the data that are addresses of constants in the file and in the dump
 * (*ret_count), by which another build is recognized. *ret_foreign is the number of those whose
 * address in the dump is one that no word of the data in the file has: tables of the same build may
 * only have been sorted. */
static struct g2h_error *count_constants(const struct image *image, const uint8_t *file,
                                         const struct g2h_record *data, uint64_t slide,
                                         uint64_t *ret_count, uint64_t *ret_foreign)
{
    _cleanup_(map_deinit) struct map known = {0};
    const uint64_t word = image->is_64 ? 8 : 4;
    const uint64_t count = data->segment.contents.size / word;
    const uint64_t mask = image->is_64 ? UINT64_MAX : UINT32_MAX;
    _cleanup_(constants_deinit) struct constants constants = {.begin = 0};
    uint32_t first;
    TRY_MEMORY(constants_init(&constants, image));
    *ret_count = *ret_foreign = 0;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t ours = image_word(image, file + i * word);
        if (is_constant(&constants, ours) && !map_put(&known, ours, 1, &first))
            return &error_no_memory;
    }
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t ours = image_word(image, file + i * word),
                       its = (image_word(image, data->segment.contents.data + i * word) - slide) &
                             mask;
        if (map_get(&known, ours) == MAP_NONE || !is_constant(&constants, its))
            continue;
        ++*ret_count;
        *ret_foreign += map_get(&known, its) == MAP_NONE;
    }
    return NULL;
}

/* Finds the data in the process at the address of the executable's data. Returns false if the dump
 * does not have it. */
static bool find_module_data(const struct g2h_exe *exe, const struct g2h_heap *heap, uint64_t slide,
                             struct g2h_record *ret)
{
    const struct moduledata *module = exe_module(exe);
    const uint64_t count = g2h_heap_record_count(heap, G2H_RECORD_DATA);
    /* A process with plugins has several data segments. */
    for (uint64_t i = 0; module->data != 0 && i < count; i++) {
        g2h_heap_record(heap, G2H_RECORD_DATA, (size_t)i, ret);
        if (ret->segment.address == module->data + slide)
            return true;
    }
    return false;
}

/* Compares the addresses of constants in the data with those in the dump. A program may change
 * them, but most variables with nonzero initial values never change. */
static struct g2h_error *match_constants(const struct g2h_exe *exe, const struct g2h_heap *heap,
                                         const struct exe_process *process)
{
    struct g2h_record data;
    if (!process->has_data || !find_module_data(exe, heap, process->slide, &data))
        return NULL;
    const uint8_t *file =
        image_at(exe_image(exe), exe_module(exe)->data, data.segment.contents.size);
    uint64_t count, foreign;
    if (!file)
        return NULL;
    TRY(count_constants(exe_image(exe), file, &data, process->slide, &count, &foreign));
    /* A program may assign other constants to a few variables; another build differs in most. */
    return foreign > 4 + count / 100
               ? mismatch(exe, "its data points to other constants than in the dump", bytes_none)
               : NULL;
}

/* ---- types and variables ---- */

struct match_witnesses {
    VECTOR(struct rtype_witness) list;
};

static void witnesses_deinit(struct match_witnesses *witnesses)
{
    free(witnesses->list.data);
}

/* Returns whether an address is outside all parts of the program: it is in a plugin. */
static bool is_of_plugin(const struct g2h_exe *exe, const struct exe_process *process,
                         uint64_t address)
{
    const struct moduledata *module = exe_module(exe);
    const uint64_t start = MIN(module->text, module->types);
    const uint64_t end = MAX(module->ebss, module->etypes);
    return module->text != 0 && process->has_data &&
           address - (start + process->slide) >= end - start;
}

/* Lists the type records whose descriptor is in the executable. The descriptor of a type that
 * package reflect made is in the heap. */
static struct g2h_error *find_witnesses(const struct g2h_exe *exe, const struct g2h_heap *heap,
                                        const struct exe_process *process,
                                        struct match_witnesses *ret)
{
    VECTOR_EACH(const struct heap_type, type, heap->types) {
        const struct rtype_witness witness = {type->address, type->name};
        if (heap_find(heap, witness.address) == UINT32_MAX &&
            !is_of_plugin(exe, process, witness.address))
            TRY_MEMORY(vector_push(&ret->list, witness));
    }
    return NULL;
}

static void pcs_deinit(struct match_pcs *pcs)
{
    free(pcs->list.data);
}

/* Lists the program counters of calls on the stacks, each once. */
struct g2h_error *match_find_pcs(const struct g2h_heap *heap, struct match_pcs *ret)
{
    _cleanup_(map_deinit) struct map known = {0};
    for (size_t i = 0; i < heap->frames.count; i++) {
        const struct heap_stack_frame frame = heap_frame(heap, i);
        const uint64_t pc = match_call_pc(&frame);
        const uint32_t number = as_u32(ret->list.count);
        uint32_t first;
        if (!map_put(&known, pc, number, &first) ||
            (first == number && !vector_push(&ret->list, pc)))
            return &error_no_memory;
    }
    return NULL;
}

/* Checks that the executable is the one of the heap, and finds where it was loaded: each of the
 * match_…() refuses another build. Then passes on to exe_bind() what was found. */
struct g2h_error *g2h_exe_match(struct g2h_exe *exe, const struct g2h_heap *heap)
{
    struct exe_process process = {.has_text = false};
    _cleanup_(witnesses_deinit) struct match_witnesses witnesses = {.list = {0}};
    _cleanup_(pcs_deinit) struct match_pcs pcs = {.list = {0}};
    exe_unbind(exe);
    TRY(match_build(exe, heap));
    TRY(match_addresses(exe, heap, &process));
    TRY(match_constants(exe, heap, &process));
    TRY(find_witnesses(exe, heap, &process, &witnesses));
    process.witnesses = (struct rtype_witnesses){witnesses.list.data, witnesses.list.count};
    /* Before 1.5 objects have other lists of pointers, and are not typed by the executable: the
     * variables of their frames are not needed. */
    if (process.has_data && heap->pointer_form == POINTERS_LISTED)
        TRY(match_find_pcs(heap, &pcs));
    process.frames = (struct scopes_frames){pcs.list.data, pcs.list.count, heap->frames.count};
    process.threads = heap->threads;
    return exe_bind(exe, &process);
}
