/*
 * runtime: Go's runtime in the memory of a process: where its variables are and what they say.
 *
 * Names are those of the runtime's sources. Nothing that the process has is believed: each address
 * is looked up, each chain has an end that is known beforehand. Words that are not there are
 * counted, not taken for zeros.
 */
#ifndef PROCESS_RUNTIME_H
#define PROCESS_RUNTIME_H

#include "process/layout.h"
#include "process/process.h"

/* The unit of spans, and what an arena of the heap has (malloc.go: _PageSize, heapArenaBytes). */
enum { PAGE_SIZE = 8192, ARENA_SIZE = 64 << 20 };

/* A pointer, a length and a capacity. */
struct runtime_slice {
    uint64_t data, count, capacity;
};

/* A bit per word of a segment, as the linker made it. */
struct runtime_mask {
    const uint8_t *bits; /* NULL: not there */
    uint64_t count;
};

struct runtime {
    const struct process *process;
    const struct memory *memory;
    struct g2h_exe *exe;
    const struct pclntab *pclntab;
    struct layout layout;
    bool by_dwarf;  /* layout */
    char *version;  /* "go1.26.1" */
    int minor;      /* the N of go1.N */
    uint64_t slide; /* from the executable's addresses to the process's */

    /* runtime.firstmoduledata */
    uint64_t minpc, maxpc, text, etext;
    uint64_t noptrdata, data, edata, bss, ebss, end;
    uint64_t types, etypes, rodata, gofunc;
    struct runtime_mask data_mask, bss_mask;

    /* Addresses of variables; 0 where there are none. */
    uint64_t mheap, allgs, allm, allfin, itab_table, mbuckets, wait_reasons, fing_status, cpus;

    uint32_t sweepgen;
    struct runtime_slice allspans;
    uint64_t arena_base; /* the address that arenas count from */
    bool has_inline_marks;
    uint64_t missing;                 /* words that were wanted and are not there */
    uint64_t specials, specials_most; /* that were looked at; more than that means a circle */
};

/*
 * Finds the runtime of a process in its memory. The executable must be the one it runs; it and the
 * process must outlive *ret.
 * Errors: G2H_ERROR_NOT_EXE: it is another one, or none of a release and machine that are known;
 * G2H_ERROR_DAMAGED: what there is of the memory does not suffice; G2H_ERROR_MEMORY.
 */
struct g2h_error *runtime_init(struct runtime *ret, struct process *process, struct g2h_exe *exe);
void runtime_deinit(struct runtime *runtime);

/* Finds the variables of a stripped program by what they hold (search.c). Those that are not found
 * stay 0. */
void runtime_search(struct runtime *runtime);

/* Whether the words at an address may be those of runtime.mheap_.allspans, of runtime.allgs. */
bool runtime_is_allspans(struct runtime *runtime, uint64_t address);
bool runtime_is_allgs(struct runtime *runtime, uint64_t address);

/* ---- reading ---- */

/* Whether the release has a field. */
static inline bool runtime_has(const struct runtime *runtime, enum layout_field field)
{
    return runtime->layout.places[field].size > 0;
}

static inline uint64_t runtime_offset(const struct runtime *runtime, enum layout_field field)
{
    return runtime->layout.places[field].offset;
}

/* The size of a structure. */
static inline uint64_t runtime_size(const struct runtime *runtime, enum layout_field structure)
{
    return runtime->layout.places[structure].size;
}

/* A word at an address; false, counted, where it is not there. */
static inline bool runtime_word(struct runtime *runtime, uint64_t address, uint64_t *ret)
{
    const bool is_there = memory_read(runtime->memory, address, 8, ret);
    runtime->missing += !is_there;
    return is_there;
}

/* A number in a field of the structure at an address; 0 where the release has no such field. False
 * where it is not there. */
static inline bool runtime_peek(const struct runtime *runtime, uint64_t address,
                                enum layout_field field, uint64_t *ret)
{
    const struct layout_place place = runtime->layout.places[field];
    *ret = 0;
    return place.size == 0 || memory_read(runtime->memory, address + place.offset,
                                          place.size > 8 ? 8 : place.size, ret);
}

/* The same; 0, and counted, where it is not there. */
static inline uint64_t runtime_field(struct runtime *runtime, uint64_t address,
                                     enum layout_field field)
{
    uint64_t value;
    if (runtime_peek(runtime, address, field, &value))
        return value;
    runtime->missing++;
    return 0;
}

/* A slice at an address; false where it is not there, or has more than its capacity. */
bool runtime_slice_at(const struct runtime *runtime, uint64_t address, struct runtime_slice *ret);

/* What has variables, of a module. */
struct runtime_segments {
    uint64_t data, edata, bss, ebss;
    struct runtime_mask data_mask, bss_mask;
};

/* The segments of the modules behind the first one, which are plugins and shared libraries. *module
 * is 0 before the first call. False where there is no other. */
bool runtime_next_module(const struct runtime *runtime, uint64_t *module,
                         struct runtime_segments *ret);

/* The arenas of the heap. */
struct runtime_arenas {
    const struct runtime *runtime;
    struct runtime_slice indexes; /* those that are left */
};

void runtime_arenas_begin(const struct runtime *runtime, struct runtime_arenas *ret);

/* The address of the next one; false where there is none, or not known. */
bool runtime_arenas_next(struct runtime_arenas *arenas, uint64_t *ret);

/* The contents of a Go string at an address; empty where they are not there. */
struct g2h_bytes runtime_string_at(const struct runtime *runtime, uint64_t address);

/* ---- functions ---- */

/* The function that has an address, by its index in the pclntab; false where none has. */
bool runtime_function(const struct runtime *runtime, uint64_t pc, uint64_t *ret);
struct g2h_bytes runtime_function_name(const struct runtime *runtime, uint64_t index);
uint64_t runtime_function_entry(const struct runtime *runtime, uint64_t index);

/* Whether a text is another one, which a 0 ends. */
static inline bool runtime_is_named(struct g2h_bytes name, const char *wanted)
{
    return name.size == strlen(wanted) && memcmp(name.data, wanted, name.size) == 0;
}

#endif
