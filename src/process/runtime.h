/*
 * runtime: Go's runtime in the memory of a process: its variables and their values, which are found
 * by their names or, in a program without symbols, by their contents.
 */
#ifndef PROCESS_RUNTIME_H
#define PROCESS_RUNTIME_H

#include "process/attach/process.h"
#include "process/layout.h"

/* The unit of spans' sizes, and the size of an arena of the heap (malloc.go: _PageSize,
 * heapArenaBytes). */
enum { RUNTIME_PAGE_SIZE = 8192, RUNTIME_ARENA_SIZE = 64 << 20 };

/* Values of g.atomicstatus (runtime2.go: _Gidle and so on), as far as they matter here; and the bit
 * that is added while the goroutine's stack is being scanned. */
enum {
    STATUS_IDLE = 0,
    STATUS_RUNNING = 2,
    STATUS_SYSCALL = 3,
    STATUS_DEAD = 6,
    STATUS_COPYSTACK = 8,
    STATUS_DEADEXTRA = 11, /* the last one, since Go 1.26 */
    STATUS_SCAN = 0x1000
};

/* The size of a block of queued finalizers, and how many fit into it (mfinal.go: finBlock). */
enum { RUNTIME_FIN_BLOCK_SIZE = 4096, RUNTIME_FIN_BLOCK_ENTRIES = 101 };

/* Buckets of profiles (mprof.go): the type of those of the memory profile, and the most callers
 * that one has in any release (maxProfStackDepth). */
enum { RUNTIME_MEM_PROFILE = 1, RUNTIME_DEEPEST_STACK = 1024 };

/* A pointer, a length and a capacity. */
struct runtime_slice {
    uint64_t data, count, capacity;
};

/* A bit per word of a segment, as the linker made it. */
struct runtime_mask {
    const uint8_t *bits; /* NULL: not there */
    uint64_t count;
};

/* A separately linked part of the program: the program, or a plugin of it. */
struct runtime_module {
    struct g2h_exe *exe; /* of a plugin; NULL: of the program */
    const struct pclntab *pclntab;
    uint64_t minpc, types, etypes, rodata, gofunc;
};

/* A function: a module, and the function's index in the module's pclntab. */
struct runtime_code {
    const struct runtime_module *module;
    uint64_t index;
};

struct runtime {
    const struct process *process;
    const struct memory *memory;
    struct g2h_exe *exe;
    const struct pclntab *pclntab;
    VECTOR(struct runtime_module) modules; /* those whose files are known; first the program */
    struct layout layout;
    bool by_dwarf;  /* the layout is from DWARF */
    char *version;  /* "go1.26.1" */
    int minor;      /* the N of go1.N */
    uint64_t slide; /* from the executable's addresses to the process's */

    /* runtime.firstmoduledata */
    uint64_t minpc, maxpc, text, etext;
    uint64_t noptrdata, data, edata, bss, ebss, end;
    uint64_t types, etypes, rodata, gofunc;
    struct runtime_mask data_mask, bss_mask;

    /* Addresses of variables; 0 if they are not found. */
    uint64_t
        cleanup_blocks; /* the variable in runtime.gcCleanups that begins the chain of blocks */
    uint64_t mheap, allgs, allm, allfin, itab_table, mbuckets, wait_reasons, fing_status, cpus,
        memstats, gc_controller, rate;

    uint32_t sweepgen;
    struct runtime_slice allspans;
    uint64_t arena_base; /* the address from which arenas are counted */
    bool has_inline_marks;
    uint64_t missing; /* words that were needed but are missing */
    /* Specials that were visited; more than specials_most mean a cycle. */
    uint64_t specials, specials_most;
};

/*
 * Finds the runtime of a process in its memory. exe must be the executable that the process runs;
 * exe and the process must outlive *ret.
 *
 * Errors: G2H_ERROR_NOT_EXE: it is another executable, or its release or machine is not known;
 * G2H_ERROR_DAMAGED: too much memory is missing; G2H_ERROR_MEMORY.
 */
struct g2h_error *runtime_init(struct runtime *ret, struct process *process, struct g2h_exe *exe);

void runtime_deinit(struct runtime *runtime);

/* Returns an error about invalid contents of the process or, if the process is so new that they
 * need not be valid yet, the error that says this instead. Takes over the error. */
struct g2h_error *runtime_explain(const struct process *process, struct g2h_error *error);

/*
 * A block of queued cleanups (runtime/mcleanup.go: cleanupBlock, since Go 1.25): after a node of a
 * list come alllink, n and, after the header, n cleanups: a closure, or since 1.26 the adapter that
 * calls it, the closure and its argument. A cleanup that has been taken is nil.
 */
enum {
    CLEANUP_QUEUES_SINCE = 25,
    CLEANUP_BOXES_SINCE = 26,
    CLEANUP_BLOCK_ALLLINK = 16,
    CLEANUP_BLOCK_N = 24,
    CLEANUP_BLOCK_CLEANUPS = 32,
    CLEANUP_BLOCK_SIZE = 512,
};

/* Returns the number of words of a queued cleanup. */
static inline uint64_t runtime_cleanup_words(const struct runtime *runtime)
{
    return runtime->minor >= CLEANUP_BOXES_SINCE ? 3 : 1;
}

/* ---- reading ---- */

/* Returns whether the release has a field. */
static inline bool runtime_has(const struct runtime *runtime, enum layout_field field)
{
    return runtime->layout.members[field].size > 0;
}

static inline uint64_t runtime_offset(const struct runtime *runtime, enum layout_field field)
{
    return runtime->layout.members[field].offset;
}

/* Returns the size of a structure. */
static inline uint64_t runtime_size(const struct runtime *runtime, enum layout_field structure)
{
    return runtime->layout.members[structure].size;
}

/* Reads the word at an address. If it is missing, counts that and returns false. */
static inline bool runtime_word(struct runtime *runtime, uint64_t address, uint64_t *ret)
{
    const bool is_there = memory_read(runtime->memory, address, 8, ret);
    runtime->missing += !is_there;
    return is_there;
}

/* Reads the number in a field of the structure at an address; 0 if the release has no such field.
 * Returns false if the field's bytes are missing. */
static inline bool runtime_peek(const struct runtime *runtime, uint64_t address,
                                enum layout_field field, uint64_t *ret)
{
    const struct layout_member member = runtime->layout.members[field];
    *ret = 0;
    return member.size == 0 ||
           memory_read(runtime->memory, address + member.offset, MIN(member.size, 8), ret);
}

/* Returns the number in a field of the structure at an address; 0 if the release has no such field.
 * If the field's bytes are missing, counts that and returns 0. */
static inline uint64_t runtime_field(struct runtime *runtime, uint64_t address,
                                     enum layout_field field)
{
    uint64_t value;
    if (runtime_peek(runtime, address, field, &value))
        return value;
    runtime->missing++;
    return 0;
}

/* Reads the slice at an address. Returns false if it is missing, or is longer than its capacity. */
bool runtime_slice_at(const struct runtime *runtime, uint64_t address, struct runtime_slice *ret);

/* The segments of a module that have variables. */
struct runtime_segments {
    uint64_t data, edata, bss, ebss;
    struct runtime_mask data_mask, bss_mask;
    bool is_refused; /* a plugin that the runtime does not use: the segments are empty, as the
                        collector does not see them */
};

/* A part of the first module's data, which is consecutive here as well. */
struct runtime_part {
    struct range addresses;
    const uint8_t *data;
    size_t range; /* of the memory: where the search for the next part continues */
};

/* Returns the start of the first module's data, those without pointers included. */
uint64_t runtime_data_start(const struct runtime *runtime);

/* Finds the next part of the first module's data that the process may have written to, ascending.
 * *part is zeros before the first call. Returns false if there is no next part. */
bool runtime_next_part(const struct runtime *runtime, struct runtime_part *part);

/*
 * Finds the next module after the first one, and its segments: these modules are plugins and shared
 * libraries. *module is 0 before the first call. Returns false if there is no next module; or if it
 * is missing or invalid, which is counted.
 */
bool runtime_next_module(struct runtime *runtime, uint64_t *module, struct runtime_segments *ret);

/* A walk over the arenas of the heap. */
struct runtime_arenas {
    const struct runtime *runtime;
    struct runtime_slice indexes; /* of the remaining arenas */
};

void runtime_arenas_begin(const struct runtime *runtime, struct runtime_arenas *ret);

/* Finds the address of the next arena. Returns false if there is none, or it is not known. */
bool runtime_arenas_next(struct runtime_arenas *arenas, uint64_t *ret);

/* Returns the contents of the Go string at an address, or an empty string if they are missing. */
struct g2h_bytes runtime_string_at(const struct runtime *runtime, uint64_t address);

/* Adds a plugin, whose moduledata is at an address; exe is its file, which the runtime closes, also
 * after an error. Error: G2H_ERROR_MEMORY. Adds nothing if the plugin is of another build. */
struct g2h_error *runtime_add_module(struct runtime *runtime, struct process *process,
                                     uint64_t address, struct g2h_exe *exe);

/* Returns the start of the types of the module that contains a type. */
uint64_t runtime_types_of(const struct runtime *runtime, uint64_t type);

/* ---- functions ---- */

/* Finds the function that contains an address. Returns false if there is none. */
bool runtime_function(const struct runtime *runtime, uint64_t pc, struct runtime_code *ret);

struct g2h_bytes runtime_function_name(struct runtime_code function);

uint64_t runtime_function_entry(struct runtime_code function);

/* Returns whether name equals wanted, which is NUL-terminated. */
static inline bool runtime_is_named(struct g2h_bytes name, const char *wanted)
{
    return name.size == strlen(wanted) && memcmp(name.data, wanted, (size_t)name.size) == 0;
}

#endif
