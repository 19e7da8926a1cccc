/*
 * search: the runtime's variables in a program without symbols, by their contents.
 *
 * The search visits all words of the module's data, from noptrdata (or from data, if another linker
 * has put that first) to end. The contents of each variable are distinctive enough to recognize.
 * Looking costs work, whose budget is proportional to the number of words, so that no forged memory
 * can make the search take long.
 */
#include "process/runtime.h"

enum {
    LOOKED_AT = 256,      /* entries of a slice that are examined */
    LONGEST_CHAIN = 4096, /* the longest chain of Ms that is counted */
    SPAN_STATES = 3,
    LAST_STATUS = 11, /* of a goroutine */
    SCAN = 0x1000,
    FIN_BLOCK_ENTRIES = 101,
    MEM_PROFILE = 1,
    DEEPEST_STACK = 1024,
    LEAST_ITABS = 64,
    CLEANUPS_AMONG_FINALIZERS = 24
};

static const char second_reason[] = "GC assist marking";

struct search {
    struct runtime *runtime;
    uint64_t work;                     /* remaining */
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

/* Returns whether an address may be that of an mspan, by the plausible values of its fields. */
static bool is_span(const struct runtime *runtime, uint64_t span)
{
    uint64_t state, start, pages, size, count, free_index;
    if (!runtime_peek(runtime, span, LAYOUT_MSPAN_STATE, &state) || state >= SPAN_STATES)
        return false;
    if (state == 0)
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
    return state != 1 || (size >= 8 && count > 0 && count <= pages * RUNTIME_PAGE_SIZE / size &&
                          free_index <= count);
}

/* Returns whether a slice of pointers to mspans is at an address, some of them in use. */
static bool is_allspans(struct search *search, uint64_t address)
{
    const struct runtime *runtime = search->runtime;
    struct runtime_slice slice;
    bool any_in_use = false;
    if (!runtime_slice_at(runtime, address, &slice) || slice.count < 8 ||
        slice.capacity > runtime->memory->bytes / 8)
        return false;
    for (uint64_t i = 0; i < slice.count && i < LOOKED_AT; i++) {
        uint64_t span, state;
        if (!pay(search, 1) || !memory_read(runtime->memory, slice.data + 8 * i, 8, &span) ||
            !is_span(runtime, span))
            return false;
        any_in_use |= runtime_peek(runtime, span, LAYOUT_MSPAN_STATE, &state) && state == 1;
    }
    return any_in_use;
}

/* Returns whether an address may be that of a g, by the plausible values of its fields. *ret_lives:
 * it has a stack and a function, which mostly zero memory does not have. */
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
    status &= ~(uint64_t)SCAN;
    *ret_lives = false;
    if (status > LAST_STATUS || goid >> 40 != 0)
        return false;
    if (status == 0 || status == 6 || status == LAST_STATUS)
        return true;
    *ret_lives = is_in_text(runtime, start);
    return low < high && (status == 2 || status == 3 || (sp >= low && sp <= high)) &&
           memory_range_at(runtime->memory, high - 1);
}

/* Returns whether a slice of pointers to gs is at an address, some of them alive. */
static bool is_allgs(struct search *search, uint64_t address)
{
    const struct runtime *runtime = search->runtime;
    struct runtime_slice slice;
    bool any_lives = false; /* the first ones of all are those of the runtime, which never end */
    if (!runtime_slice_at(runtime, address, &slice) || slice.count == 0 ||
        slice.capacity > runtime->memory->bytes / 8)
        return false;
    for (uint64_t i = 0; i < slice.count && i < LOOKED_AT; i++) {
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
 * it. */
static uint64_t count_chained_ms(struct search *search, uint64_t m)
{
    const struct runtime *runtime = search->runtime;
    uint64_t count = 0;
    for (; m != 0; count++) {
        uint64_t g0, of_g0, next;
        if (count == LONGEST_CHAIN || !pay(search, 1) ||
            !runtime_peek(runtime, m, LAYOUT_M_G0, &g0) || g0 == 0 ||
            !runtime_peek(runtime, g0, LAYOUT_G_M, &of_g0) || of_g0 != m ||
            !runtime_peek(runtime, m, LAYOUT_M_ALLLINK, &next))
            return count == LONGEST_CHAIN ? count : 0;
        m = next;
    }
    return count;
}

/* Returns whether an address is that of a runtime.itabTableType with valid entries. */
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

/* Returns whether buckets of the memory profile are linked from an address on. */
static bool is_bucket_chain(struct search *search, uint64_t bucket)
{
    const struct runtime *runtime = search->runtime;
    for (unsigned i = 0; bucket != 0 && i < LOOKED_AT; i++) {
        uint64_t kind, depth, pc, next;
        if (!pay(search, 1) || !runtime_peek(runtime, bucket, LAYOUT_BUCKET_TYP, &kind) ||
            !runtime_peek(runtime, bucket, LAYOUT_BUCKET_NSTK, &depth) ||
            !memory_read(runtime->memory, bucket + runtime_size(runtime, LAYOUT_BUCKET), 8, &pc) ||
            !runtime_peek(runtime, bucket, LAYOUT_BUCKET_ALLNEXT, &next))
            return false;
        if (kind != MEM_PROFILE || depth == 0 || depth > DEEPEST_STACK || !is_in_text(runtime, pc))
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

/* Returns the number of finalizers in a chain of blocks, or 0 if it is not such a chain. */
static uint64_t count_chained_finalizers(struct search *search, uint64_t block)
{
    const struct runtime *runtime = search->runtime;
    uint64_t sum = 0;
    for (unsigned i = 0; block != 0 && i < LOOKED_AT; i++) {
        uint64_t count, next;
        if (!runtime_peek(runtime, block, LAYOUT_FIN_BLOCK_CNT, &count) ||
            count > FIN_BLOCK_ENTRIES || !pay(search, count + 1) ||
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

/* Returns the number of cleanups in a chain of blocks, or 0 if it is not such a chain. */
static uint64_t count_chained_cleanups(struct search *search, uint64_t block)
{
    const struct runtime *runtime = search->runtime;
    uint64_t sum = 0;
    if (runtime->minor < CLEANUP_QUEUES_SINCE)
        return 0;
    for (unsigned i = 0; block != 0 && i < LOOKED_AT; i++) {
        const uint64_t count = count_cleanups(runtime, block);
        if (count == UINT64_MAX || !pay(search, count + 1) ||
            !memory_read(runtime->memory, block + CLEANUP_BLOCK_ALLLINK, 8, &block))
            return 0;
        sum += count;
    }
    return sum;
}

/* Returns whether the second string of runtime.waitReasonStrings is at an address; the first string
 * is empty. */
static bool is_second_reason(const struct runtime *runtime, uint64_t address)
{
    uint64_t size;
    return memory_read(runtime->memory, address + 8, 8, &size) && size == strlen(second_reason) &&
           runtime_is_named(runtime_string_at(runtime, address), second_reason) &&
           runtime_is_named(runtime_string_at(runtime, address + 16), "IO wait");
}

/* ---- looking ---- */

/* Records a word that begins the longest chain of blocks with queued cleanups so far. */
static void examine_cleanups(struct search *search, uint64_t address, uint64_t value)
{
    const uint64_t cleanups = count_chained_cleanups(search, value);
    if (cleanups <= search->cleanups)
        return;
    search->runtime->cleanup_blocks = address;
    search->cleanups = cleanups;
}

/* The words before the chain are padded to the size of a cache line, which depends on the
 * machine. */
void runtime_search_cleanups(struct runtime *runtime, uint64_t queue)
{
    enum { WORDS = 3 * 256 / 8, WORK = 1 << 20 };
    struct search search = {.runtime = runtime, .work = WORK};
    uint64_t value;
    for (uint64_t at = queue; at < queue + WORDS * 8; at += 8)
        if (memory_read(runtime->memory, at, 8, &value) && value != 0)
            examine_cleanups(&search, at, value);
}

/* Records the variables that may begin with the word at an address. Several words may begin chains
 * of Ms or of finalizers, since each element points to the next: the longest chain begins at the
 * variable. */
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

/* Examines the words that are wholly in a part. */
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

void runtime_search(struct runtime *runtime)
{
    enum { WORK_PER_WORD = 64 };
    const uint64_t words = (runtime->end - runtime_data_start(runtime)) / 8,
                   most = runtime->memory->bytes / 8;
    struct search search = {.runtime = runtime,
                            .work = WORK_PER_WORD * (words < most ? words : most) + (1 << 20)};
    struct runtime_part part = {.range = 0};
    while (runtime_next_part(runtime, &part))
        examine_part(&search, &part);
}

bool runtime_is_allspans(struct runtime *runtime, uint64_t address)
{
    struct search search = {.runtime = runtime, .work = LOOKED_AT};
    return is_allspans(&search, address);
}

bool runtime_is_allgs(struct runtime *runtime, uint64_t address)
{
    struct search search = {.runtime = runtime, .work = LOOKED_AT};
    return is_allgs(&search, address);
}
