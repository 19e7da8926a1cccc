/*
 * runtime: finds Go's runtime in the memory of a process; see runtime.h. The first part, search,
 * recognizes the variables of a stripped program by their contents: allspans is a slice of pointers
 * to mspans, and so on. The second finds the release, the offsets of its fields (layout.h), the
 * moduledata of the program and its plugins, and the variables, by symbols or by that search. An
 * mspan, a g and an M are the runtime's records of a span, a goroutine and a thread.
 */
#include "process/runtime.h"

#include <stdlib.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "base/elf_format.h"
#include "base/error.h"
#include "base/releases.h"
#include "process/loaded.h"

/* ==== variables in a program without symbols ====
 *
 * The search visits all words of the module's data, from noptrdata (or from data, if another linker
 * has put that first) to end. The contents of each variable are distinctive enough to recognize.
 * Looking costs work, whose budget is proportional to the number of words, so that no forged memory
 * can make the search take long.
 */

enum {
    SEARCH_LOOKED_AT = 256, /* entries of a slice that are examined */
    LONGEST_CHAIN = 4096,   /* the longest chain of Ms that is counted */
    LEAST_SPANS = 8,        /* of a process: the runtime itself has more */
    LEAST_ITABS = 64,       /* slots of the table: the runtime begins with 512 (itabInitSize) */
    CLEANUPS_AMONG_FINALIZERS = 24 /* the minor release that queues both together */
};

/* mspan.state (mheap.go: mSpanDead and so on); SPAN_STATES is how many there are. */
enum { SPAN_STATE_DEAD = 0, SPAN_STATE_IN_USE = 1, SPAN_STATES = 3 };

/* What waitReasonStrings has after "" (runtime2.go). */
static const char second_reason[] = "GC assist marking", third_reason[] = "IO wait";

struct search {
    struct runtime *runtime;
    uint64_t work;                     /* remaining: about one unit per word that is looked at */
    uint64_t ms, finalizers, cleanups; /* lengths of the longest chains so far */
};

static bool is_in_text(const struct runtime *runtime, uint64_t pc)
{
    return pc >= runtime->text && pc < runtime->etext;
}

/* Subtracts work from the budget. Returns false if that is too little; then nothing is left. */
static bool pay(struct search *search, uint64_t work)
{
    const bool can = work <= search->work;
    search->work = can ? search->work - work : 0;
    return can;
}

/* ---- recognizing variables ---- */

/* Returns whether an address may be that of an mspan, by the plausible values of its fields. A dead
 * one has no more to check; others begin at a page and have pages; and one in use has slots, which
 * fit into its pages. */
static bool is_span(const struct runtime *runtime, uint64_t span)
{
    uint64_t state, start, pages, size, count, free_index;
    if (!runtime_peek(runtime, span, LAYOUT_MSPAN_STATE, &state) || state >= SPAN_STATES)
        return false;
    if (state == SPAN_STATE_DEAD)
        return true;
    if (!runtime_peek(runtime, span, LAYOUT_MSPAN_START_ADDR, &start) ||
        !runtime_peek(runtime, span, LAYOUT_MSPAN_NPAGES, &pages) ||
        !runtime_peek(runtime, span, LAYOUT_MSPAN_ELEMSIZE, &size) ||
        !runtime_peek(runtime, span, LAYOUT_MSPAN_NELEMS, &count) ||
        !runtime_peek(runtime, span, LAYOUT_MSPAN_FREEINDEX, &free_index))
        return false;
    if (start == 0 || start % RUNTIME_PAGE_SIZE != 0 || pages == 0 ||
        pages > UINT64_MAX / 2 / RUNTIME_PAGE_SIZE)
        return false;
    return state != SPAN_STATE_IN_USE ||
           (size >= 8 && count > 0 && count <= pages * RUNTIME_PAGE_SIZE / size &&
            free_index <= count);
}

/* Returns whether a slice of LEAST_SPANS or more pointers to mspans is at an address, of which some
 * are in use. Looks at the first SEARCH_LOOKED_AT. Also false if the search may work no more
 * (pay()). */
static bool is_allspans(struct search *search, uint64_t address)
{
    const struct runtime *runtime = search->runtime;
    struct runtime_slice slice;
    bool any_in_use = false;
    if (!runtime_slice_at(runtime, address, &slice) || slice.count < LEAST_SPANS ||
        slice.capacity > runtime->memory->bytes / 8)
        return false;
    for (uint64_t i = 0; i < slice.count && i < SEARCH_LOOKED_AT; i++) {
        uint64_t span, state;
        if (!pay(search, 1) || !memory_read(runtime->memory, slice.data + 8 * i, 8, &span) ||
            !is_span(runtime, span))
            return false;
        any_in_use |=
            runtime_peek(runtime, span, LAYOUT_MSPAN_STATE, &state) && state == SPAN_STATE_IN_USE;
    }
    return any_in_use;
}

/* Returns whether an address may be that of a g, by the plausible values of its fields. *ret_lives:
 * it has a stack and a function, which mostly zero memory does not have. An idle or dead one
 * needs no stack; one that runs, or is in a system call, has no stack pointer in it. */
static bool is_g(const struct runtime *runtime, uint64_t g, bool *ret_lives)
{
    uint64_t status, goid, low, high, sp, start;
    if (!runtime_peek(runtime, g, LAYOUT_G_ATOMICSTATUS, &status) ||
        !runtime_peek(runtime, g, LAYOUT_G_GOID, &goid) ||
        !runtime_peek(runtime, g, LAYOUT_G_STACK_LO, &low) ||
        !runtime_peek(runtime, g, LAYOUT_G_STACK_HI, &high) ||
        !runtime_peek(runtime, g, LAYOUT_G_SCHED_SP, &sp) ||
        !runtime_peek(runtime, g, LAYOUT_G_STARTPC, &start))
        return false;
    const bool is_plausible_id = goid >> 40 == 0; /* no process starts 2^40 goroutines */
    status &= ~(uint64_t)STATUS_SCAN;
    *ret_lives = false;
    if (status > STATUS_DEADEXTRA || !is_plausible_id)
        return false;
    if (status == STATUS_IDLE || status == STATUS_DEAD || status == STATUS_DEADEXTRA)
        return true;
    const bool is_sp_elsewhere = status == STATUS_RUNNING || status == STATUS_SYSCALL;
    *ret_lives = is_in_text(runtime, start);
    return low < high && (is_sp_elsewhere || (sp >= low && sp <= high)) &&
           memory_range_at(runtime->memory, high - 1);
}

/* Returns whether a slice of pointers to gs is at an address, some of them alive. Looks at the
 * first SEARCH_LOOKED_AT, as far as the search may work (pay()). */
static bool is_allgs(struct search *search, uint64_t address)
{
    const struct runtime *runtime = search->runtime;
    struct runtime_slice slice;
    bool any_lives = false; /* the first ones of all are those of the runtime, which never end */
    if (!runtime_slice_at(runtime, address, &slice) || slice.count == 0 ||
        slice.capacity > runtime->memory->bytes / 8)
        return false;
    for (uint64_t i = 0; i < slice.count && i < SEARCH_LOOKED_AT; i++) {
        uint64_t g;
        bool lives = false;
        if (!pay(search, 1) || !memory_read(runtime->memory, slice.data + 8 * i, 8, &g) || g == 0 ||
            !is_g(runtime, g, &lives))
            return false;
        any_lives |= lives;
    }
    return any_lives;
}

/* Returns the number of Ms in a chain, or 0 if it is not a chain of Ms: an M's g0 points back to
 * it. Counts to LONGEST_CHAIN and no further. 0 also if the search has spent its budget (pay()). */
static uint64_t count_chained_ms(struct search *search, uint64_t m)
{
    const struct runtime *runtime = search->runtime;
    uint64_t count = 0;
    for (; m != 0 && count < LONGEST_CHAIN; count++) {
        uint64_t g0, m_of_g0, next;
        if (!pay(search, 1) || !runtime_peek(runtime, m, LAYOUT_M_G0, &g0) || g0 == 0 ||
            !runtime_peek(runtime, g0, LAYOUT_G_M, &m_of_g0) || m_of_g0 != m ||
            !runtime_peek(runtime, m, LAYOUT_M_ALLLINK, &next))
            return 0;
        m = next;
    }
    return count;
}

/* Returns whether an address is that of a runtime.itabTableType with valid entries. Its size is a
 * power of two of LEAST_ITABS or more, as many entries as it counts are not nil, at least one, and
 * each leads to an itab whose type can be read. Returns false, too, if the search has spent its
 * budget (pay()). */
static bool is_itab_table(struct search *search, uint64_t table)
{
    const struct runtime *runtime = search->runtime;
    uint64_t size, count, found = 0;
    if (!runtime_peek(runtime, table, LAYOUT_ITAB_TABLE_SIZE, &size) || size < LEAST_ITABS ||
        (size & (size - 1)) != 0 || size > runtime->memory->bytes / 8 ||
        !runtime_peek(runtime, table, LAYOUT_ITAB_TABLE_COUNT, &count) || count > size ||
        count == 0 || !pay(search, size))
        return false;
    const uint64_t entries = table + runtime_offset(runtime, LAYOUT_ITAB_TABLE_ENTRIES);
    for (uint64_t i = 0; i < size; i++) {
        uint64_t itab, type;
        if (!memory_read(runtime->memory, entries + 8 * i, 8, &itab))
            return false;
        if (itab == 0)
            continue;
        if (++found > count || !runtime_peek(runtime, itab, LAYOUT_ITAB_TYPE, &type) ||
            !memory_at(runtime->memory, type, 8))
            return false;
    }
    return found == count;
}

/* Returns whether buckets of the memory profile are linked from an address on. Looks at the first
 * SEARCH_LOOKED_AT: each is of the memory profile, and has a stack that begins with an address of
 * code. Returns false, too, if the search has spent its budget (pay()). */
static bool is_bucket_chain(struct search *search, uint64_t bucket)
{
    const struct runtime *runtime = search->runtime;
    for (unsigned i = 0; bucket != 0 && i < SEARCH_LOOKED_AT; i++) {
        uint64_t kind, depth, pc, next;
        if (!pay(search, 1) || !runtime_peek(runtime, bucket, LAYOUT_BUCKET_TYP, &kind) ||
            !runtime_peek(runtime, bucket, LAYOUT_BUCKET_NSTK, &depth) ||
            !memory_read(runtime->memory, bucket + runtime_size(runtime, LAYOUT_BUCKET), 8, &pc) ||
            !runtime_peek(runtime, bucket, LAYOUT_BUCKET_ALLNEXT, &next))
            return false;
        if (kind != RUNTIME_MEM_PROFILE || depth == 0 || depth > RUNTIME_DEEPEST_STACK ||
            !is_in_text(runtime, pc))
            return false;
        bucket = next;
    }
    return true;
}

/* Returns whether all finalizers that are queued in a block have a function, an object and a type.
 * In Go 1.24 cleanups are queued among them, which have only a function. */
static bool is_fin_block(const struct runtime *runtime, uint64_t block, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t entry = block + runtime_offset(runtime, LAYOUT_FIN_BLOCK_FIN) +
                               i * runtime_size(runtime, LAYOUT_FINALIZER);
        uint64_t function, code, object, type;
        if (!runtime_peek(runtime, entry, LAYOUT_FINALIZER_FN, &function) ||
            !runtime_peek(runtime, entry, LAYOUT_FINALIZER_ARG, &object) ||
            !runtime_peek(runtime, entry, LAYOUT_FINALIZER_OT, &type) ||
            !memory_read(runtime->memory, function, 8, &code) || !is_in_text(runtime, code))
            return false;
        if (runtime->minor == CLEANUPS_AMONG_FINALIZERS && object == 0 && type == 0)
            continue;
        if (!memory_range_at(runtime->memory, object) || !memory_at(runtime->memory, type, 8))
            return false;
    }
    return true;
}

/* Returns the number of finalizers in a chain of blocks, or 0 if it is not such a chain. Looks at
 * SEARCH_LOOKED_AT blocks at most. */
static uint64_t count_chained_finalizers(struct search *search, uint64_t block)
{
    const struct runtime *runtime = search->runtime;
    uint64_t sum = 0;
    for (unsigned i = 0; block != 0 && i < SEARCH_LOOKED_AT; i++) {
        uint64_t count, next;
        if (!runtime_peek(runtime, block, LAYOUT_FIN_BLOCK_CNT, &count) ||
            count > RUNTIME_FIN_BLOCK_ENTRIES || !pay(search, count + 1) ||
            !is_fin_block(runtime, block, count) ||
            !runtime_peek(runtime, block, LAYOUT_FIN_BLOCK_ALLLINK, &next))
            return 0;
        sum += count;
        block = next;
    }
    return sum;
}

/* Returns the number of cleanups that are queued in a block, or UINT64_MAX if it is no such block:
 * each has functions, or is nil. */
static uint64_t count_cleanups(const struct runtime *runtime, uint64_t block)
{
    const uint64_t words = runtime_cleanup_words(runtime);
    uint64_t count, sum = 0;
    if (!memory_read(runtime->memory, block + CLEANUP_BLOCK_N, 4, &count) ||
        count > (CLEANUP_BLOCK_SIZE - CLEANUP_BLOCK_CLEANUPS) / 8 / words)
        return UINT64_MAX;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t entry = block + CLEANUP_BLOCK_CLEANUPS + i * words * 8;
        uint64_t call, code;
        if (!memory_read(runtime->memory, entry, 8, &call))
            return UINT64_MAX;
        if (call == 0)
            continue;
        if (!memory_read(runtime->memory, call, 8, &code) || !is_in_text(runtime, code))
            return UINT64_MAX;
        sum++;
    }
    return sum;
}

/* Returns the number of cleanups in a chain of blocks, or 0 if it is not such a chain. Looks at
 * SEARCH_LOOKED_AT blocks at most. 0 also for releases without such queues. */
static uint64_t count_chained_cleanups(struct search *search, uint64_t block)
{
    const struct runtime *runtime = search->runtime;
    uint64_t sum = 0;
    if (runtime->minor < CLEANUP_QUEUES_SINCE)
        return 0;
    for (unsigned i = 0; block != 0 && i < SEARCH_LOOKED_AT; i++) {
        const uint64_t count = count_cleanups(runtime, block);
        if (count == UINT64_MAX || !pay(search, count + 1) ||
            !memory_read(runtime->memory, block + CLEANUP_BLOCK_ALLLINK, 8, &block))
            return 0;
        sum += count;
    }
    return sum;
}

/* Returns whether the second and the third string of runtime.waitReasonStrings are at an address;
 * the first string, 16 bytes before, is empty. */
static bool is_second_reason(const struct runtime *runtime, uint64_t address)
{
    uint64_t size;
    return memory_read(runtime->memory, address + 8, 8, &size) && size == strlen(second_reason) &&
           runtime_is_named(runtime_string_at(runtime, address), second_reason) &&
           runtime_is_named(runtime_string_at(runtime, address + 16), third_reason);
}

/* ---- looking ---- */

/* Records a word if it begins the longest chain of blocks with queued cleanups so far. */
static void examine_cleanups(struct search *search, uint64_t address, uint64_t value)
{
    const uint64_t cleanups = count_chained_cleanups(search, value);
    if (cleanups <= search->cleanups)
        return;
    search->runtime->cleanup_blocks = address;
    search->cleanups = cleanups;
}

/*
 * Finds the chain of blocks with queued cleanups among the first words of runtime.gcCleanups.
 *
 * The words before the chain are padded to the size of a cache line, which depends on the
 * machine.
 */
static void runtime_search_cleanups(struct runtime *runtime, uint64_t queue)
{
    enum { CACHE_LINE = 256, WORDS = 3 * CACHE_LINE / 8, WORK = 1 << 20 }; /* the longest line */
    struct search search = {.runtime = runtime, .work = WORK};
    uint64_t value;
    for (uint64_t at = queue; at < queue + WORDS * 8; at += 8)
        if (memory_read(runtime->memory, at, 8, &value) && value != 0)
            examine_cleanups(&search, at, value);
}

/* Records the variables of the runtime that may begin with the word at an address, by what the word
 * leads to. Several words may begin chains of Ms or of finalizers, since each element points to the
 * next: the longest chain begins at the variable. Of the others the first one counts. Ends when the
 * work is used up. */
static void examine_word(struct search *search, uint64_t address, uint64_t value)
{
    struct runtime *runtime = search->runtime;
    if (!pay(search, 1))
        return;
    if (runtime->wait_reasons == 0 && is_second_reason(runtime, address))
        runtime->wait_reasons = address - 16;
    if (!memory_range_at(runtime->memory, value))
        return;
    if (runtime->mheap == 0 && is_allspans(search, address))
        runtime->mheap = address - runtime_offset(runtime, LAYOUT_MHEAP_ALLSPANS);
    if (runtime->allgs == 0 && is_allgs(search, address))
        runtime->allgs = address;
    const uint64_t ms = count_chained_ms(search, value);
    if (ms > search->ms) {
        runtime->allm = address;
        search->ms = ms;
    }
    if (runtime->itab_table == 0 && is_itab_table(search, value))
        runtime->itab_table = address;
    if (runtime->mbuckets == 0 && is_bucket_chain(search, value))
        runtime->mbuckets = address;
    const uint64_t finalizers = count_chained_finalizers(search, value);
    if (finalizers > search->finalizers) {
        runtime->allfin = address;
        search->finalizers = finalizers;
    }
    examine_cleanups(search, address, value);
}

/* Examines the words that are wholly in a part, but those that are 0. */
static void examine_part(struct search *search, const struct runtime_part *part)
{
    const struct range in = part->addresses;
    for (uint64_t at = in.begin - in.begin % 8; at < in.end && in.end - at >= 8; at += 8) {
        if (at < in.begin)
            continue;
        const uint64_t value = memory_number(part->data + (at - in.begin), 8);
        if (value != 0)
            examine_word(search, at, value);
    }
}

/* Finds the variables of a stripped program by their contents. Variables that are not found stay 0.
 * The work is in proportion to the words of data that the process has, and a little more. */
static void runtime_search(struct runtime *runtime)
{
    enum { WORK_PER_WORD = 64, LEAST_WORK = 1 << 20 };
    const uint64_t words = (runtime->end - runtime_data_start(runtime)) / 8,
                   most = runtime->memory->bytes / 8;
    struct search search = {.runtime = runtime,
                            .work = WORK_PER_WORD * MIN(words, most) + LEAST_WORK};
    struct runtime_part part = {.range = 0};
    while (runtime_next_part(runtime, &part))
        examine_part(&search, &part);
}

/* Returns whether the words at an address may be runtime.mheap_.allspans. */
static bool runtime_is_allspans(struct runtime *runtime, uint64_t address)
{
    struct search search = {.runtime = runtime, .work = SEARCH_LOOKED_AT};
    return is_allspans(&search, address);
}

/* Returns whether the words at an address may be runtime.allgs. */
static bool runtime_is_allgs(struct runtime *runtime, uint64_t address)
{
    struct search search = {.runtime = runtime, .work = SEARCH_LOOKED_AT};
    return is_allgs(&search, address);
}

/* ==== variables and their values ==== */

/* ---- reading ---- */

/* Reads the slice at an address. Returns false if it is missing, or is longer than its capacity. */
bool runtime_slice_at(const struct runtime *runtime, uint64_t address, struct runtime_slice *ret)
{
    return memory_read(runtime->memory, address, 8, &ret->data) &&
           memory_read(runtime->memory, address + 8, 8, &ret->count) &&
           memory_read(runtime->memory, address + 16, 8, &ret->capacity) &&
           ret->count <= ret->capacity;
}

/* Begins with mheap.heapArenas, a slice of indexes of arenas; none if it cannot be read. */
void runtime_arenas_begin(const struct runtime *runtime, struct runtime_arenas *ret)
{
    *ret = (struct runtime_arenas){.runtime = runtime};
    if (!runtime_slice_at(runtime,
                          runtime->mheap + runtime_offset(runtime, LAYOUT_MHEAP_HEAP_ARENAS),
                          &ret->indexes))
        ret->indexes.count = 0;
}

/* Finds the address of the next arena. Returns false after the last one, or if its index cannot be
 * read. */
bool runtime_arenas_next(struct runtime_arenas *arenas, uint64_t *ret)
{
    uint64_t index;
    if (arenas->indexes.count == 0 ||
        !memory_read(arenas->runtime->memory, arenas->indexes.data, 8, &index))
        return false;
    arenas->indexes.count--;
    arenas->indexes.data += 8;
    *ret = index * RUNTIME_ARENA_SIZE + arenas->runtime->arena_base;
    return true;
}

/* Returns the bytes of the string at an address: empty if it is empty, or cannot be read. */
struct g2h_bytes runtime_string_at(const struct runtime *runtime, uint64_t address)
{
    uint64_t data, size;
    if (!memory_read(runtime->memory, address, 8, &data) ||
        !memory_read(runtime->memory, address + 8, 8, &size) || size == 0)
        return (struct g2h_bytes){(const uint8_t *)"", 0};
    const uint8_t *text = memory_at(runtime->memory, data, size);
    return text ? bytes_at(text, size) : bytes_none;
}

/* ---- functions ---- */

/* Finds the module and the function that contain a pc. Returns false if none does; *ret is then of
 * no use. */
bool runtime_function(const struct runtime *runtime, uint64_t pc, struct runtime_code *ret)
{
    VECTOR_EACH(const struct runtime_module, module, runtime->modules) {
        ret->module = module;
        if (pc >= module->minpc && pclntab_find(module->pclntab, pc - module->minpc, &ret->index))
            return true;
    }
    return false;
}

struct g2h_bytes runtime_function_name(struct runtime_code function)
{
    return pclntab_name(function.module->pclntab, function.index);
}

uint64_t runtime_function_entry(struct runtime_code function)
{
    return function.module->minpc + pclntab_entry(function.module->pclntab, function.index);
}

/* ---- errors ---- */

/* Returns an error about invalid contents of the process or, if the process is so new that they
 * need not be valid yet, the error that says this instead. */
struct g2h_error *runtime_explain(const struct process *process, struct g2h_error *error)
{
    if (!error || !process->is_new || error->code == G2H_ERROR_MEMORY)
        return error;
    g2h_error_destroy(error);
    return error_create(G2H_ERROR_STARTING, "%s: has only just started, and is not ready",
                        process->name);
}

/* ---- the executable ---- */

/* Checks that the executable can be what the process ran: format, machine and build. */
static struct g2h_error *check_executable(struct runtime *runtime, const struct image *image)
{
    const struct process *process = runtime->process;
    if (image->format != IMAGE_ELF || !image->is_64 || image->big_endian)
        return error_create(G2H_ERROR_NOT_EXE,
                            "%s: is not a 64-bit little-endian ELF file, so it is not what %s ran",
                            image->path, process->name);
    if (image->machine != process->machine)
        return error_create(G2H_ERROR_NOT_EXE, "%s: is for another machine than %s ran on",
                            image->path, process->name);
    return same_build_check(runtime);
}

/* Sets the release. If the version does not name it, version says so and names the assumed
 * release. */
static struct g2h_error *set_release(struct runtime *runtime, int minor)
{
    const struct g2h_bytes version = bytes_at_most(exe_version(runtime->exe), 256);
    free(runtime->version);
    runtime->version = exe_built_by(runtime->exe)->is_guess ? go_release_guessed(version, minor)
                                                            : bytes_copied(version);
    runtime->minor = minor;
    return runtime->version ? NULL : &error_no_memory;
}

/* ---- the layout ---- */

/* Finds the offsets of the runtime's fields: by DWARF, else from the table for the release, else
 * for the newest one. */
static struct g2h_error *runtime_find_layout(struct runtime *runtime)
{
    const struct g2h_bytes version = bytes_of(runtime->version);
    const uint16_t machine = runtime->process->machine;
    TRY(layout_by_dwarf(runtime->exe, version, &runtime->layout, &runtime->by_dwarf));
    if (runtime->minor != 0 && runtime->minor < layout_oldest)
        return error_create(G2H_ERROR_NOT_EXE,
                            "%s: is of %s; heaps of processes are read from Go 1.19 on",
                            g2h_exe_path(runtime->exe), runtime->version);
    if (runtime->by_dwarf || layout_of_release(version, false, machine, &runtime->layout) ||
        layout_of_release(version, true, machine, &runtime->layout))
        return NULL;
    return error_create(G2H_ERROR_NOT_EXE,
                        "%s: has no DWARF, and it is not known where %s has its structures on this "
                        "machine",
                        g2h_exe_path(runtime->exe),
                        runtime->version[0] ? runtime->version : "this release of Go");
}

/* ---- moduledata ---- */

/* Reads the mask of a segment that has this many bytes: the runtime.bitvector at an address, a
 * number of bits (int32) and a pointer to them. Returns false if the mask is missing, or does not
 * have a bit for each word of the segment. */
static bool runtime_read_mask(const struct runtime *runtime, uint64_t address, uint64_t bytes,
                              struct runtime_mask *ret)
{
    uint64_t count, bits;
    *ret = (struct runtime_mask){0};
    if (!memory_read(runtime->memory, address, 4, &count) ||
        !memory_read(runtime->memory, address + 8, 8, &bits) || count != bytes / 8)
        return false;
    if (count == 0)
        return true;
    ret->bits = memory_at(runtime->memory, bits, (count + 7) / 8);
    ret->count = count;
    return ret->bits != NULL;
}

/* Reads the addresses of sections in the process's moduledata. Returns whether the sections are in
 * their order. */
static bool read_sections(struct runtime *runtime, uint64_t address)
{
    const struct {
        enum layout_field field;
        uint64_t *value;
    } words[] = {
        {LAYOUT_MODULEDATA_MINPC, &runtime->minpc},
        {LAYOUT_MODULEDATA_MAXPC, &runtime->maxpc},
        {LAYOUT_MODULEDATA_TEXT, &runtime->text},
        {LAYOUT_MODULEDATA_ETEXT, &runtime->etext},
        {LAYOUT_MODULEDATA_NOPTRDATA, &runtime->noptrdata},
        {LAYOUT_MODULEDATA_DATA, &runtime->data},
        {LAYOUT_MODULEDATA_EDATA, &runtime->edata},
        {LAYOUT_MODULEDATA_BSS, &runtime->bss},
        {LAYOUT_MODULEDATA_EBSS, &runtime->ebss},
        {LAYOUT_MODULEDATA_END, &runtime->end},
        {LAYOUT_MODULEDATA_TYPES, &runtime->types},
        {LAYOUT_MODULEDATA_ETYPES, &runtime->etypes},
        {LAYOUT_MODULEDATA_RODATA, &runtime->rodata},
        {LAYOUT_MODULEDATA_GOFUNC, &runtime->gofunc},
    };
    for (size_t i = 0; i < COUNT_OF(words); i++)
        *words[i].value = runtime_field(runtime, address, words[i].field);
    return runtime->data <= runtime->edata && runtime->edata <= runtime->bss &&
           runtime->bss <= runtime->ebss && runtime->ebss <= runtime->end &&
           runtime->text < runtime->etext && runtime->types < runtime->etypes;
}

/* Reads the fields of the process's moduledata, and the pointer masks of its data and bss. Error:
 * its sections are not in their order, it differs from the file's, or the masks have other sizes
 * than data and bss. */
static struct g2h_error *read_moduledata(struct runtime *runtime, uint64_t address)
{
    if (!read_sections(runtime, address))
        return error_create(G2H_ERROR_NOT_EXE,
                            "%s: runtime.firstmoduledata of %s makes no sense: it is from "
                            "another executable, or from an unknown release of Go",
                            g2h_exe_path(runtime->exe), runtime->process->name);
    if (!same_build_moduledata(runtime, address))
        return error_create(G2H_ERROR_NOT_EXE,
                            "%s: is another build than the one %s ran: its "
                            "runtime.firstmoduledata differs from the process's",
                            g2h_exe_path(runtime->exe), runtime->process->name);
    if (!runtime_read_mask(runtime, address + runtime_offset(runtime, LAYOUT_MODULEDATA_GCDATAMASK),
                           runtime->edata - runtime->data, &runtime->data_mask) ||
        !runtime_read_mask(runtime, address + runtime_offset(runtime, LAYOUT_MODULEDATA_GCBSSMASK),
                           runtime->ebss - runtime->bss, &runtime->bss_mask))
        return error_create(G2H_ERROR_NOT_EXE,
                            "%s: runtime.firstmoduledata has masks of another size than data and "
                            "bss in %s: it is from an unknown release of Go",
                            g2h_exe_path(runtime->exe), runtime->process->name);
    return NULL;
}

uint64_t runtime_data_start(const struct runtime *runtime)
{
    return MIN(runtime->noptrdata, runtime->data);
}

/* Finds the next part of the data that may have been written to. Memory that was never touched is
 * zeros, so it is skipped; parts end at the ends of the memory's ranges. Returns false if there is
 * none. */
bool runtime_next_part(const struct runtime *runtime, struct runtime_part *part)
{
    const struct memory *memory = runtime->memory;
    const uint64_t start = runtime_data_start(runtime);
    for (; part->range < memory->ranges.count; part->range++) {
        const struct memory_range *range = &memory->ranges.data[part->range];
        const uint64_t range_end = range->address + range->size;
        const uint64_t end = MIN(range_end, runtime->end);
        uint64_t at = MAX(range->address, start);
        at = MAX(part->addresses.end, at);
        while (at < end) {
            struct range hole;
            (void)ranges_next(&memory->untouched, at, end, &hole);
            if (at < hole.begin) {
                part->addresses = (struct range){at, hole.begin};
                part->data = memory_at(memory, at, hole.begin - at);
                if (part->data)
                    return true;
            }
            at = hole.end;
        }
    }
    return false;
}

/* Finds the segments of a module. A plugin that was built with another version of a package, or is
 * loaded already, is refused by the runtime, which makes no masks for it: they have no bits.
 * Returns false if something is missing or invalid. */
static bool find_segments(const struct runtime *runtime, uint64_t module,
                          struct runtime_segments *ret)
{
    const uint64_t mask = module + runtime_offset(runtime, LAYOUT_MODULEDATA_GCDATAMASK);
    uint64_t bits;
    if (!runtime_peek(runtime, module, LAYOUT_MODULEDATA_DATA, &ret->data) ||
        !runtime_peek(runtime, module, LAYOUT_MODULEDATA_EDATA, &ret->edata) ||
        !runtime_peek(runtime, module, LAYOUT_MODULEDATA_BSS, &ret->bss) ||
        !runtime_peek(runtime, module, LAYOUT_MODULEDATA_EBSS, &ret->ebss) ||
        !memory_read(runtime->memory, mask + 8, 8, &bits) || /* bytedata of a bitvector */
        ret->data > ret->edata || ret->bss > ret->ebss)
        return false;
    ret->is_refused = bits == 0;
    if (ret->is_refused) {
        ret->edata = ret->data;
        ret->ebss = ret->bss;
    }
    return runtime_read_mask(runtime, mask, ret->edata - ret->data, &ret->data_mask) &&
           runtime_read_mask(runtime, module + runtime_offset(runtime, LAYOUT_MODULEDATA_GCBSSMASK),
                             ret->ebss - ret->bss, &ret->bss_mask);
}

/* Finds the next module and its segments. Returns false at the end, or if it is invalid, which is
 * counted. */
bool runtime_next_module(struct runtime *runtime, uint64_t *module, struct runtime_segments *ret)
{
    *ret = (struct runtime_segments){0};
    if (*module == 0)
        *module = exe_moduledata(runtime->exe) + runtime->slide;
    *module = runtime_field(runtime, *module, LAYOUT_MODULEDATA_NEXT);
    const bool is_last = *module == 0;
    const bool is_found = !is_last && find_segments(runtime, *module, ret);
    runtime->missing += !is_last && !is_found;
    return is_found;
}

/* Finds the moduledata of the process, whose first word is the address of the pclntab there:
 * otherwise the executable is another one. If the process has only just started, the error may say
 * that instead: also if the word is still 0, or as it is in the file (is_raw), because the dynamic
 * linker has not come this far yet. */
static struct g2h_error *find_moduledata(struct runtime *runtime)
{
    const uint64_t in_file = exe_moduledata(runtime->exe);
    const uint64_t address = in_file + runtime->slide;
    uint64_t table = 0;
    if (in_file == 0)
        return error_create(G2H_ERROR_NOT_EXE, "%s: has no runtime.firstmoduledata",
                            g2h_exe_path(runtime->exe));
    if (!memory_range_at(runtime->memory, address) && runtime->process->copy)
        return error_create(G2H_ERROR_NOT_EXE, "%s: is not what %s runs",
                            g2h_exe_path(runtime->exe), runtime->process->name);
    if (!memory_range_at(runtime->memory, address))
        return error_create(
            G2H_ERROR_DAMAGED,
            "%s: has no memory at the address of the executable's data: either it is cut, or "
            "without "
            "anonymous private memory (bit 0 of /proc/PID/coredump_filter), or %s is not what ran",
            runtime->process->name, g2h_exe_path(runtime->exe));
    if (memory_read(runtime->memory, address, 8, &table) &&
        table == runtime->pclntab->address + runtime->slide)
        return runtime_explain(runtime->process, read_moduledata(runtime, address));
    struct g2h_error *error =
        error_create(G2H_ERROR_NOT_EXE, "%s: is another build than the one %s ran",
                     g2h_exe_path(runtime->exe), runtime->process->name);
    const bool is_raw = table == 0 || table == runtime->pclntab->address;
    return is_raw ? runtime_explain(runtime->process, error) : error;
}

/* ---- modules ---- */

/* Adds the program as the first module, from the moduledata that has been read. */
static struct g2h_error *add_program(struct runtime *runtime)
{
    const struct runtime_module program = {.pclntab = runtime->pclntab,
                                           .minpc = runtime->minpc,
                                           .types = runtime->types,
                                           .etypes = runtime->etypes,
                                           .rodata = runtime->rodata,
                                           .gofunc = runtime->gofunc};
    TRY_MEMORY(vector_push(&runtime->modules, program));
    return NULL;
}

/* Adds the module of a plugin, after a check that the file is the one that the process has at this
 * address; if not, nothing is added, without an error. Takes over exe. */
struct g2h_error *runtime_add_module(struct runtime *runtime, struct process *process,
                                     uint64_t address, struct g2h_exe *exe)
{
    struct runtime_module module = {.exe = exe, .pclntab = exe_pclntab(exe)};
    uint64_t slide;
    if (!loaded_find(process, exe, &slide) || exe_moduledata(exe) + slide != address ||
        !runtime_peek(runtime, address, LAYOUT_MODULEDATA_MINPC, &module.minpc) ||
        !runtime_peek(runtime, address, LAYOUT_MODULEDATA_TYPES, &module.types) ||
        !runtime_peek(runtime, address, LAYOUT_MODULEDATA_ETYPES, &module.etypes) ||
        !runtime_peek(runtime, address, LAYOUT_MODULEDATA_RODATA, &module.rodata) ||
        !runtime_peek(runtime, address, LAYOUT_MODULEDATA_GOFUNC, &module.gofunc)) {
        g2h_exe_close(exe);
        return NULL;
    }
    if (!vector_push(&runtime->modules, module)) {
        g2h_exe_close(exe);
        return &error_no_memory;
    }
    /* The list owns exe now. */
    TRY_MEMORY(memory_add_image(&process->memory, exe_image(exe), slide));
    return NULL;
}

/* Returns the start of the types of the module that contains a type. */
uint64_t runtime_types_of(const struct runtime *runtime, uint64_t type)
{
    VECTOR_EACH(const struct runtime_module, module, runtime->modules)
        if (type >= module->types && type < module->etypes)
            return module->types;
    return runtime->types;
}

/* ---- variables ---- */

/* Returns the address of a symbol in the process, or 0 if the executable does not have it. */
static uint64_t symbol_at(const struct runtime *runtime, const char *name)
{
    struct image_symbol symbol;
    return exe_symbol(runtime->exe, name, &symbol) ? symbol.address + runtime->slide : 0;
}

/* Finds the runtime's variables by their symbols; without symbols all are 0. */
static void find_symbols(struct runtime *runtime)
{
    runtime->mheap = symbol_at(runtime, "runtime.mheap_");
    runtime->allgs = symbol_at(runtime, "runtime.allgs");
    runtime->allm = symbol_at(runtime, "runtime.allm");
    runtime->allfin = symbol_at(runtime, "runtime.allfin");
    runtime->itab_table = symbol_at(runtime, "runtime.itabTable");
    runtime->mbuckets = symbol_at(runtime, "runtime.mbuckets");
    runtime->rate = symbol_at(runtime, "runtime.MemProfileRate");
    runtime->memstats = symbol_at(runtime, "runtime.memstats");
    runtime->gc_controller = symbol_at(runtime, "runtime.gcController");
    runtime->wait_reasons = symbol_at(runtime, "runtime.waitReasonStrings");
    runtime->fing_status =
        symbol_at(runtime, runtime->minor >= 20 ? "runtime.fingStatus" : "runtime.fingRunning");
    if (symbol_at(runtime, "runtime.gcCleanups") != 0)
        runtime_search_cleanups(runtime, symbol_at(runtime, "runtime.gcCleanups"));
    runtime->cpus = symbol_at(runtime, "runtime.numCPUStartup");
    if (runtime->cpus == 0)
        runtime->cpus = symbol_at(runtime, "runtime.ncpu");
}

/* Returns the error that a variable of the runtime is not found. */
static struct g2h_error *missing_variable(const struct runtime *runtime, const char *name)
{
    return error_create(G2H_ERROR_DAMAGED, "%s: %s is not found: the memory is cut%s",
                        runtime->process->name, name,
                        runtime->by_dwarf ? "" : ", or from an unknown release of Go");
}

/* Finds the runtime's variables by symbols, else by their contents, and checks the two that
 * everything depends on: allspans and allgs. Their absence is an error. */
static struct g2h_error *runtime_find_variables(struct runtime *runtime)
{
    find_symbols(runtime);
    if (runtime->mheap == 0)
        runtime_search(runtime);
    const uint64_t allspans = runtime->mheap + runtime_offset(runtime, LAYOUT_MHEAP_ALLSPANS);
    if (runtime->mheap == 0 || !runtime_slice_at(runtime, allspans, &runtime->allspans) ||
        runtime->allspans.count > runtime->memory->bytes / 8 ||
        !runtime_is_allspans(runtime, allspans))
        return missing_variable(runtime, "runtime.mheap_.allspans");
    if (runtime->allgs == 0 || !runtime_is_allgs(runtime, runtime->allgs))
        return missing_variable(runtime, "runtime.allgs");
    runtime->sweepgen = (uint32_t)runtime_field(runtime, runtime->mheap, LAYOUT_MHEAP_SWEEPGEN);
    return NULL;
}

/* ---- all of it ---- */

/* Returns whether spans have inline marks, as with the Green Tea collector, which is an experiment
 * or the default depending on the release: in a program with it, the structure of these marks has
 * WITH_MARKS bytes. */
static bool has_inline_marks(const struct runtime *runtime)
{
    enum { WITH_MARKS = 128 };
    const bool is_off = go_release_has_experiment(runtime->version, "nogreenteagc"),
               is_on = !is_off && go_release_has_experiment(runtime->version, "greenteagc");
    return is_on || (!is_off && runtime_size(runtime, LAYOUT_SPAN_INLINE_MARK_BITS) == WITH_MARKS);
}

/* Finds the runtime, assuming a release (go1.minor). Errors: as those of runtime_init(). */
static struct g2h_error *find_for_release(struct runtime *runtime, int minor)
{
    runtime->missing = 0;
    runtime->modules.count = 0;
    TRY(set_release(runtime, minor));
    TRY(runtime_find_layout(runtime));
    TRY(find_moduledata(runtime));
    TRY(add_program(runtime));
    return runtime_explain(runtime->process, runtime_find_variables(runtime));
}

/* Returns whether all goroutines with a known start function started with functions. Looks at the
 * first LOOKED_AT. False also if there is no list of goroutines. */
static bool goroutines_start_at_functions(struct runtime *runtime)
{
    enum { LOOKED_AT = 64 };
    struct runtime_slice allgs;
    if (!runtime_slice_at(runtime, runtime->allgs, &allgs))
        return false;
    for (uint64_t i = 0; i < allgs.count && i < LOOKED_AT; i++) {
        uint64_t g, start;
        struct runtime_code function;
        if (!memory_read(runtime->memory, allgs.data + 8 * i, 8, &g) ||
            !runtime_peek(runtime, g, LAYOUT_G_STARTPC, &start) || start == 0)
            continue;
        if (!runtime_function(runtime, start, &function) ||
            runtime_function_entry(function) != start)
            return false;
    }
    return true;
}

/* Finds the runtime of a program whose version and functions name no release: tries releases from
 * the newest one down, until the layout of one makes the variables valid, and its goroutines start
 * at functions. If goroutines nowhere do, the runtime is that of the last release that was tried;
 * if no variables are valid, the error is that of the first. Tries only the newest one if DWARF has
 * the layout, since then the release does not matter. */
static struct g2h_error *find_by_layout(struct runtime *runtime, int oldest, int newest)
{
    struct g2h_error *first = find_for_release(runtime, newest);
    for (int minor = newest - 1;
         (first || !goroutines_start_at_functions(runtime)) && minor >= oldest; minor--) {
        if (runtime->by_dwarf || (first && first->code == G2H_ERROR_MEMORY))
            break;
        struct g2h_error *error = find_for_release(runtime, minor);
        g2h_error_destroy(error && first ? error : first);
        first = error && first ? first : error;
    }
    return first;
}

/* Finds the runtime by its release, or by trying releases if that is not known. */
static struct g2h_error *runtime_find_all(struct runtime *runtime)
{
    const struct image *image = exe_image(runtime->exe);
    const struct built_by *built_by = exe_built_by(runtime->exe);
    TRY(check_executable(runtime, image));
    const int oldest = MAX(built_by->minor, layout_oldest);
    const int newest = MIN(built_by->newest, layout_newest);
    TRY(newest > oldest ? find_by_layout(runtime, oldest, newest)
                        : find_for_release(runtime, built_by->minor));
    /* malloc.go: arenaBaseOffset, as amd64 sign-extends addresses */
    runtime->arena_base = runtime->process->machine == EM_X86_64 ? 0xffff800000000000 : 0;
    runtime->has_inline_marks = has_inline_marks(runtime);
    runtime->specials_most = runtime->memory->bytes / 8;
    return NULL;
}

/* Finds the runtime in the memory of a process. Error: the executable is not the one that the
 * process runs, or the runtime's variables are not found in it. */
struct g2h_error *runtime_init(struct runtime *ret, struct process *process, struct g2h_exe *exe)
{
    *ret = (struct runtime){
        .process = process, .memory = &process->memory, .exe = exe, .pclntab = exe_pclntab(exe)};
    if (g2h_exe_is_plugin(exe))
        return error_create(G2H_ERROR_NOT_EXE, "%s: is a plugin, whose runtime is its program's",
                            g2h_exe_path(exe));
    if (!loaded_find(process, exe, &ret->slide))
        return error_create(G2H_ERROR_NOT_EXE, "%s: is a library that %s has not loaded",
                            g2h_exe_path(exe), process->name);
    TRY_MEMORY(memory_add_image(&process->memory, exe_image(exe), ret->slide));
    struct g2h_error *error = runtime_find_all(ret);
    if (error)
        runtime_deinit(ret);
    return error;
}

void runtime_deinit(struct runtime *runtime)
{
    VECTOR_EACH(struct runtime_module, module, runtime->modules)
        g2h_exe_close(module->exe);
    free(runtime->modules.data);
    free(runtime->version);
    runtime->modules.data = NULL;
    runtime->modules.count = 0;
    runtime->version = NULL;
}
