/*
 * match: checks whether an executable is the one that wrote a dump, and finds where the process had
 * it.
 *
 * Nothing in an executable is trusted before this: tables of another build give names that look
 * right and are wrong. The functions of the dump's frames are the witnesses, since frames have both
 * name and address.
 */
#include "typing/match.h"

#include "base/bytes.h"
#include "base/scope.h"
#include "exe/exe.h"
#include "exe/go/function_names.h"
#include "heap/heap.h"

static struct g2h_error *mismatch(const struct g2h_exe *exe, const char *why, struct g2h_bytes name)
{
    return error_create(G2H_ERROR_NOT_EXE, "%s: is not the executable that wrote the dump: %s%.*s",
                        g2h_exe_path(exe), why, name.size < 200 ? (int)name.size : 200,
                        (const char *)name.data);
}

static struct g2h_error *match_build(const struct g2h_exe *exe, const struct g2h_heap *heap)
{
    const struct image *image = exe_image(exe);
    const struct g2h_bytes built_by = exe_version(exe);
    const char *version = g2h_heap_go_version(heap);
    if (image->is_64 != (heap->params.pointer_size == 8) ||
        image->big_endian != heap->params.big_endian)
        return mismatch(exe, "it is of another architecture", bytes_none);
    /* A version that names no release may have been put over the true one in one place only. */
    if (heap->go_minor > 0 && !exe_built_by(exe)->is_guess && !bytes_are(built_by, version))
        return mismatch(exe, "it was built by ", built_by);
    return NULL;
}

/* ---- functions ---- */

static bool has_function(const struct frame *frame)
{
    return frame->function.size > 0 && !bytes_are(frame->function, "unknown function");
}

static struct g2h_error *match_functions(const struct g2h_exe *exe, const struct g2h_heap *heap,
                                         struct exe_process *process)
{
    _cleanup_(function_names_deinit) struct function_names names = {.index_of = {0}};
    TRY(function_names_init(&names, exe_pclntab(exe)));
    uint64_t last_entry = 0;
    for (size_t i = 0; i < heap->frames.count; i++) {
        const struct frame frame = heap_frame(heap, i);
        if (frame.entry == last_entry || !has_function(&frame))
            continue;
        last_entry = frame.entry;
        const uint32_t index = function_names_find(&names, frame.function);
        if (index == MAP_NONE)
            return mismatch(exe, "it has no function ", frame.function);
        if (index == FUNCTION_AMBIGUOUS)
            continue;
        const uint64_t text = frame.entry - pclntab_entry(exe_pclntab(exe), index);
        if (process->has_text && text != process->text)
            return mismatch(exe, "elsewhere than in the dump is its function ", frame.function);
        process->text = text;
        process->has_text = true;
    }
    return NULL;
}

/* ---- several modules ---- */

/* Returns whether all frames with code of the executable, if the process has it at a distance, have
 * functions that it has there, and whether there are any. */
static bool has_functions_at(const struct g2h_exe *exe, const struct g2h_heap *heap, uint64_t slide)
{
    const struct moduledata *module = exe_module(exe);
    const struct pclntab *pclntab = exe_pclntab(exe);
    const uint64_t start = module->minpc + slide;
    bool any = false;
    for (size_t i = 0; i < heap->frames.count; i++) {
        const struct frame frame = heap_frame(heap, i);
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
 * data: a plugin has a copy of each function of the runtime that it calls, so that functions do not
 * tell where a module is. Returns false if it is not found.
 */
static bool match_module(const struct g2h_exe *exe, const struct g2h_heap *heap,
                         struct exe_process *process)
{
    const struct moduledata *module = exe_module(exe);
    const uint64_t count = g2h_heap_record_count(heap, G2H_RECORD_DATA);
    for (uint64_t i = 0; module->data != 0 && i < count; i++) {
        struct g2h_record data;
        g2h_heap_record(heap, G2H_RECORD_DATA, (size_t)i, &data);
        const uint64_t slide = data.segment.address - module->data;
        if (data.segment.contents.size != module->edata - module->data || slide % 4096 != 0 ||
            !has_functions_at(exe, heap, slide))
            continue;
        *process = (struct exe_process){
            .has_text = true, .has_data = true, .text = module->minpc + slide, .slide = slide};
        return true;
    }
    return false;
}

/* ---- data ---- */

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
    if (!exe_find_data(exe, data.segment.contents.size, bss.segment.contents.size, &start))
        return NULL;
    process->slide = data.segment.address - start;
    if (process->slide % 4096 != 0)
        return mismatch(exe, "its data does not lie where the dump has it", bytes_none);
    process->has_data = true;
    return NULL;
}

/* Finds where the process has the executable's functions and data. */
static struct g2h_error *match_addresses(const struct g2h_exe *exe, const struct g2h_heap *heap,
                                         struct exe_process *process)
{
    struct g2h_error *error = match_functions(exe, heap, process);
    if (!error)
        return match_data(exe, heap, process);
    if (error->code != G2H_ERROR_NOT_EXE || !match_module(exe, heap, process))
        return error;
    g2h_error_destroy(error);
    return NULL;
}

/* ---- types and variables ---- */

enum { WITNESSES = 256 }; /* this many types are enough to recognize the others by */

/* Returns whether an address is outside of all parts of the program: a plugin has it. */
static bool is_of_plugin(const struct g2h_exe *exe, const struct exe_process *process,
                         uint64_t address)
{
    const struct moduledata *module = exe_module(exe);
    const uint64_t start = module->text < module->types ? module->text : module->types,
                   end = module->ebss > module->etypes ? module->ebss : module->etypes;
    return module->text != 0 && process->has_data &&
           address - (start + process->slide) >= end - start;
}

/* Finds the first type records whose descriptor is in the executable. The descriptor of a type that
 * package reflect made is in the heap. Returns their number. */
static size_t find_witnesses(const struct g2h_exe *exe, const struct g2h_heap *heap,
                             const struct exe_process *process, struct rtype_witness *ret)
{
    size_t count = 0;
    for (size_t i = 0; i < heap->types.count && count < WITNESSES; i++) {
        const uint64_t address = heap->types.data[i].address;
        if (heap_find(heap, address) == UINT32_MAX && !is_of_plugin(exe, process, address))
            ret[count++] = (struct rtype_witness){address, heap->types.data[i].name};
    }
    return count;
}

static void pcs_deinit(struct match_pcs *pcs)
{
    free(pcs->list.data);
}

struct g2h_error *match_find_pcs(const struct g2h_heap *heap, struct match_pcs *ret)
{
    _cleanup_(map_deinit) struct map known = {0};
    for (size_t i = 0; i < heap->frames.count; i++) {
        const struct frame frame = heap_frame(heap, i);
        const uint64_t pc = match_call_pc(&frame);
        const uint32_t number = (uint32_t)ret->list.count;
        uint32_t first;
        if (!map_put(&known, pc, number, &first) ||
            (first == number && !vector_push(&ret->list, pc)))
            return &error_no_memory;
    }
    return NULL;
}

struct g2h_error *g2h_exe_match(struct g2h_exe *exe, const struct g2h_heap *heap)
{
    struct exe_process process = {.has_text = false};
    struct rtype_witness witnesses[WITNESSES];
    _cleanup_(pcs_deinit) struct match_pcs pcs = {.list = {0}};
    exe_unbind(exe);
    TRY(match_build(exe, heap));
    TRY(match_addresses(exe, heap, &process));
    process.witnesses = witnesses;
    process.witness_count = find_witnesses(exe, heap, &process, witnesses);
    /* Other dumps are not typed, so nobody asks for the variables of their frames. */
    if (process.has_data && heap->pointer_form == POINTERS_LISTED)
        TRY(match_find_pcs(heap, &pcs));
    process.pcs = pcs.list.data;
    process.pc_count = pcs.list.count;
    process.frame_count = heap->frames.count;
    return exe_bind(exe, &process);
}
