/*
 * layout: the field offsets of the structures of Go's runtime, from Go 1.19 on.
 *
 * If the executable has DWARF, the layout comes from it: exact, and also right for releases that
 * are not known yet. Otherwise it comes from a table by release and machine (layout_table.c), which
 * tools/layouts generates from the DWARF of programs that each release has built. Only 64-bit
 * little-endian machines are supported.
 */
#ifndef PROCESS_LAYOUT_H
#define PROCESS_LAYOUT_H

#include "exe/exe.h"

/* ==== the fields, and the layout of a release ==== */

/*
 * All fields: the name here, then the structure and the field as named in DWARF. A "|" separates
 * alternatives: names of other releases, or paths through a structure that the field became part
 * of. A field of a field is path.path. An empty field name means the size of the structure.
 */
#define LAYOUT_FIELDS_OF(X) \
    X(MHEAP_SWEEPGEN, "runtime.mheap", "sweepgen") \
    X(MHEAP_ALLSPANS, "runtime.mheap", "allspans") \
    X(MHEAP_ARENAS, "runtime.mheap", "arenas") \
    X(MHEAP_HEAP_ARENAS, "runtime.mheap", "heapArenas|allArenas") \
    X(MSTATS_HEAP_STATS, "runtime.mstats", "heapStats.stats") \
    X(MSTATS_STACKS_SYS, "runtime.mstats", "stacks_sys") \
    X(MSTATS_MSPAN_SYS, "runtime.mstats", "mspan_sys") \
    X(MSTATS_MCACHE_SYS, "runtime.mstats", "mcache_sys") \
    X(MSTATS_BUCKHASH_SYS, "runtime.mstats", "buckhash_sys") \
    X(MSTATS_GC_MISC_SYS, "runtime.mstats", "gcMiscSys") \
    X(MSTATS_OTHER_SYS, "runtime.mstats", "other_sys") \
    X(GC_PERCENT, "runtime.gcControllerState", "gcPercent") \
    X(GC_MEMORY_LIMIT, "runtime.gcControllerState", "memoryLimit") \
    X(GC_PERCENT_HEAP_GOAL, "runtime.gcControllerState", "gcPercentHeapGoal") \
    X(GC_HEAP_MARKED, "runtime.gcControllerState", "heapMarked") \
    X(HEAP_STATS, "runtime.heapStatsDelta", "") \
    X(HEAP_STATS_COMMITTED, "runtime.heapStatsDelta", "committed") \
    X(HEAP_STATS_RELEASED, "runtime.heapStatsDelta", "released") \
    X(HEAP_STATS_IN_HEAP, "runtime.heapStatsDelta", "inHeap") \
    X(HEAP_STATS_IN_STACKS, "runtime.heapStatsDelta", "inStacks") \
    X(HEAP_STATS_IN_WORK_BUFS, "runtime.heapStatsDelta", "inWorkBufs") \
    X(HEAP_STATS_IN_PTR_SCALAR_BITS, "runtime.heapStatsDelta", "inPtrScalarBits") \
    X(MSPAN, "runtime.mspan", "") \
    X(MSPAN_START_ADDR, "runtime.mspan", "startAddr") \
    X(MSPAN_NPAGES, "runtime.mspan", "npages") \
    X(MSPAN_NELEMS, "runtime.mspan", "nelems") \
    X(MSPAN_FREEINDEX, "runtime.mspan", "freeindex") \
    X(MSPAN_ALLOC_BITS, "runtime.mspan", "allocBits") \
    X(MSPAN_GCMARK_BITS, "runtime.mspan", "gcmarkBits") \
    X(MSPAN_SWEEPGEN, "runtime.mspan", "sweepgen") \
    X(MSPAN_ALLOC_COUNT, "runtime.mspan", "allocCount") \
    X(MSPAN_SPANCLASS, "runtime.mspan", "spanclass") \
    X(MSPAN_STATE, "runtime.mspan", "state") \
    X(MSPAN_IS_USER_ARENA_CHUNK, "runtime.mspan", "isUserArenaChunk") \
    X(MSPAN_ELEMSIZE, "runtime.mspan", "elemsize") \
    X(MSPAN_SPECIALS, "runtime.mspan", "specials") \
    X(MSPAN_LARGE_TYPE, "runtime.mspan", "largeType") \
    X(SPAN_INLINE_MARK_BITS, "runtime.spanInlineMarkBits", "") \
    X(HEAP_ARENA_BITMAP, "runtime.heapArena", "bitmap|heapArenaPtrScalar.bitmap") \
    X(HEAP_ARENA_NO_MORE_PTRS, "runtime.heapArena", "noMorePtrs|heapArenaPtrScalar.noMorePtrs") \
    X(G, "runtime.g", "") \
    X(G_STACK_LO, "runtime.g", "stack.lo") \
    X(G_STACK_HI, "runtime.g", "stack.hi") \
    X(G_PANIC, "runtime.g", "_panic") \
    X(G_DEFER, "runtime.g", "_defer") \
    X(G_M, "runtime.g", "m") \
    X(G_SCHED_SP, "runtime.g", "sched.sp") \
    X(G_SCHED_PC, "runtime.g", "sched.pc") \
    X(G_SCHED_CTXT, "runtime.g", "sched.ctxt") \
    X(G_SCHED_LR, "runtime.g", "sched.lr") \
    X(G_SCHED_BP, "runtime.g", "sched.bp") \
    X(G_SYSCALLSP, "runtime.g", "syscallsp") \
    X(G_SYSCALLPC, "runtime.g", "syscallpc") \
    X(G_ATOMICSTATUS, "runtime.g", "atomicstatus") \
    X(G_GOID, "runtime.g", "goid") \
    X(G_WAITSINCE, "runtime.g", "waitsince") \
    X(G_WAITREASON, "runtime.g", "waitreason") \
    X(G_ASYNC_SAFE_POINT, "runtime.g", "asyncSafePoint") \
    X(G_RUNNING_CLEANUPS, "runtime.g", "runningCleanups") \
    X(G_GOPC, "runtime.g", "gopc") \
    X(G_STARTPC, "runtime.g", "startpc") \
    X(M_G0, "runtime.m", "g0") \
    X(M_PROCID, "runtime.m", "procid") \
    X(M_GSIGNAL, "runtime.m", "gsignal") \
    X(M_CURG, "runtime.m", "curg") \
    X(M_ID, "runtime.m", "id") \
    X(M_ALLLINK, "runtime.m", "alllink") \
    X(M_VDSO_SP, "runtime.m", "vdsoSP") \
    X(M_VDSO_PC, "runtime.m", "vdsoPC") \
    X(DEFER_HEAP, "runtime._defer", "heap") \
    X(DEFER_SP, "runtime._defer", "sp") \
    X(DEFER_PC, "runtime._defer", "pc") \
    X(DEFER_FN, "runtime._defer", "fn") \
    X(DEFER_LINK, "runtime._defer", "link") \
    X(PANIC_ARG, "runtime._panic", "arg") \
    X(PANIC_LINK, "runtime._panic", "link") \
    X(SPECIAL_NEXT, "runtime.special", "next") \
    X(SPECIAL_OFFSET, "runtime.special", "offset") \
    X(SPECIAL_KIND, "runtime.special", "kind") \
    X(SPECIALFINALIZER_FN, "runtime.specialfinalizer", "fn") \
    X(SPECIALFINALIZER_FINT, "runtime.specialfinalizer", "fint") \
    X(SPECIALFINALIZER_OT, "runtime.specialfinalizer", "ot") \
    X(SPECIALPROFILE_B, "runtime.specialprofile", "b") \
    X(SPECIAL_WEAK_HANDLE_HANDLE, "runtime.specialWeakHandle", "handle") \
    X(SPECIAL_CLEANUP_FN, "runtime.specialCleanup", "cleanup.fn|fn") \
    X(FIN_BLOCK_ALLLINK, "runtime.finBlock|runtime.finblock", "alllink") \
    X(FIN_BLOCK_CNT, "runtime.finBlock|runtime.finblock", "cnt") \
    X(FIN_BLOCK_FIN, "runtime.finBlock|runtime.finblock", "fin") \
    X(FINALIZER, "runtime.finalizer", "") \
    X(FINALIZER_FN, "runtime.finalizer", "fn") \
    X(FINALIZER_ARG, "runtime.finalizer", "arg") \
    X(FINALIZER_FINT, "runtime.finalizer", "fint") \
    X(FINALIZER_OT, "runtime.finalizer", "ot") \
    X(BUCKET, "runtime.bucket", "") \
    X(BUCKET_ALLNEXT, "runtime.bucket", "allnext") \
    X(BUCKET_TYP, "runtime.bucket", "typ") \
    X(BUCKET_SIZE, "runtime.bucket", "size") \
    X(BUCKET_NSTK, "runtime.bucket", "nstk") \
    X(MEM_RECORD_ALLOCS, "runtime.memRecord", "active.allocs") \
    X(MEM_RECORD_FREES, "runtime.memRecord", "active.frees") \
    X(ITAB_TABLE_SIZE, "runtime.itabTableType", "size") \
    X(ITAB_TABLE_COUNT, "runtime.itabTableType", "count") \
    X(ITAB_TABLE_ENTRIES, "runtime.itabTableType", "entries") \
    X(ITAB_TYPE, "internal/abi.ITab|runtime.itab", "Type|_type") \
    X(MODULEDATA, "runtime.moduledata", "") \
    X(MODULEDATA_FUNCNAMETAB, "runtime.moduledata", "funcnametab") \
    X(MODULEDATA_PCTAB, "runtime.moduledata", "pctab") \
    X(MODULEDATA_PCLNTABLE, "runtime.moduledata", "pclntable") \
    X(MODULEDATA_FTAB, "runtime.moduledata", "ftab") \
    X(MODULEDATA_MINPC, "runtime.moduledata", "minpc") \
    X(MODULEDATA_MAXPC, "runtime.moduledata", "maxpc") \
    X(MODULEDATA_TEXT, "runtime.moduledata", "text") \
    X(MODULEDATA_ETEXT, "runtime.moduledata", "etext") \
    X(MODULEDATA_NOPTRDATA, "runtime.moduledata", "noptrdata") \
    X(MODULEDATA_DATA, "runtime.moduledata", "data") \
    X(MODULEDATA_EDATA, "runtime.moduledata", "edata") \
    X(MODULEDATA_BSS, "runtime.moduledata", "bss") \
    X(MODULEDATA_EBSS, "runtime.moduledata", "ebss") \
    X(MODULEDATA_END, "runtime.moduledata", "end") \
    X(MODULEDATA_TYPES, "runtime.moduledata", "types") \
    X(MODULEDATA_ETYPES, "runtime.moduledata", "etypes") \
    X(MODULEDATA_RODATA, "runtime.moduledata", "rodata") \
    X(MODULEDATA_GOFUNC, "runtime.moduledata", "gofunc") \
    X(MODULEDATA_GCDATAMASK, "runtime.moduledata", "gcdatamask") \
    X(MODULEDATA_GCBSSMASK, "runtime.moduledata", "gcbssmask") \
    X(MODULEDATA_NEXT, "runtime.moduledata", "next") \
    X(FUNC, "runtime._func", "") \
    X(TYPE_SIZE, "internal/abi.Type|runtime._type", "Size_|size") \
    X(TYPE_PTR_BYTES, "internal/abi.Type|runtime._type", "PtrBytes|ptrdata") \
    X(TYPE_HASH, "internal/abi.Type|runtime._type", "Hash|hash") \
    X(TYPE_TFLAG, "internal/abi.Type|runtime._type", "TFlag|tflag") \
    X(TYPE_KIND, "internal/abi.Type|runtime._type", "Kind_|kind") \
    X(TYPE_GC_DATA, "internal/abi.Type|runtime._type", "GCData|gcdata") \
    X(TYPE_STR, "internal/abi.Type|runtime._type", "Str|str")

#define LAYOUT_FIELD(name, structure, field) LAYOUT_##name,

enum layout_field { LAYOUT_FIELDS_OF(LAYOUT_FIELD) LAYOUT_FIELDS };

#undef LAYOUT_FIELD

/* The offset of a field in its structure and its size, which is 0 if the release has no such field.
 * For a whole structure both are its size. */
struct layout_member {
    uint32_t offset, size;
};

struct layout {
    struct layout_member members[LAYOUT_FIELDS];
};

/* Return the structure and the field of a layout_field, as LAYOUT_FIELDS_OF() has them. */
const char *layout_structure(enum layout_field field);

const char *layout_field(enum layout_field field);

/*
 * Finds the layout of a release in the table: "go1.26" or "go1.26.4" (the number after the second
 * dot does not matter) on a machine (EM_X86_64 …). With is_newest, takes the newest release in the
 * table instead. Returns false if the table does not have the release or the machine.
 */
bool layout_of_release(struct g2h_bytes release, bool is_newest, uint16_t machine,
                       struct layout *ret);

/*
 * Finds the layout in the DWARF of the executable, or of its separate debug file. *ret_found is
 * false if there is no DWARF, or if it lacks a field that the release has in the table (the newest
 * release, if the table does not have this one); even so, *ret has the fields that were found.
 * Error: G2H_ERROR_MEMORY; damaged DWARF is not an error.
 */
struct g2h_error *layout_by_dwarf(struct g2h_exe *exe, struct g2h_bytes release, struct layout *ret,
                                  bool *ret_found);

/* ==== the table of releases ====
 *
 * The offsets of the fields of layout.h in releases of Go, for layout.c. The lists are in
 * layout_table.c, which tools/layouts generates.
 *
 * Most fields have the same offset as in the previous release, and as on amd64; so these are lists
 * of changes.
 */

/* The offset and size of a field from a release on, up to the next change of the field. */
struct layout_change {
    uint16_t field;
    uint8_t minor;    /* the N of go1.N */
    uint16_t machine; /* EM_…; 0: on all of them */
    struct layout_member member;
};

/* The offset and size of a field in one release, if that was built with an experiment
 * (GOEXPERIMENT). */
struct layout_experiment {
    uint16_t field;
    uint8_t minor;
    const char *name;
    struct layout_member member;
};

/* The changes of a field on all machines come before its changes on one machine; both are ascending
 * by release. */
extern const struct layout_change layout_changes[];

extern const size_t layout_change_count;

extern const struct layout_experiment layout_experiments[];

extern const size_t layout_experiment_count;

/* The machines, and the oldest and newest release. The lists have each release on each machine. */
extern const uint16_t layout_machines[];

extern const size_t layout_machine_count;

extern const uint8_t layout_oldest, layout_newest;

#endif
