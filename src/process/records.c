/* records; see records.h. */
#include "process/records.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/elf_format.h"
#include "base/scope.h"
#include "dump/dump_facts.h"
#include "dump/stored.h"
#include "process/heap_bits.h"
#include "process/process_types.h"
#include "process/resident.h"

enum { WORD = 8 };

/* ---- params ---- */

static const char *name_of_machine(uint16_t machine)
{
    switch (machine) {
    case EM_X86_64:
        return "amd64";
    case EM_AARCH64:
        return "arm64";
    case EM_RISCV:
        return "riscv64";
    case EM_LOONGARCH:
        return "loong64";
    default:
        return "ppc64le";
    }
}

/* Finds the lowest and highest addresses of the heap's arenas. */
static void find_bounds(const struct runtime *runtime, uint64_t *ret_start, uint64_t *ret_end)
{
    struct runtime_arenas arenas;
    uint64_t base;
    *ret_start = *ret_end = 0;
    runtime_arenas_begin(runtime, &arenas);
    while (runtime_arenas_next(&arenas, &base)) {
        if (*ret_start == 0 || base < *ret_start)
            *ret_start = base;
        if (base + RUNTIME_ARENA_SIZE > *ret_end)
            *ret_end = base + RUNTIME_ARENA_SIZE;
    }
}

static struct g2h_error *put_params(struct records *records)
{
    struct runtime *runtime = records->runtime;
    uint64_t start, end, cpus = 0;
    find_bounds(runtime, &start, &end);
    if (runtime->cpus != 0)
        memory_read(runtime->memory, runtime->cpus, 4, &cpus);
    TRY_MEMORY(PUT(&records->buffer, G2H_RECORD_PARAMS, 0, WORD, start, end) &&
               put_bytes(&records->buffer, bytes_of(name_of_machine(runtime->process->machine))) &&
               put_bytes(&records->buffer, bytes_of(runtime->version)) &&
               put_number(&records->buffer, cpus));
    return NULL;
}

/* ---- types and itabs ---- */

/* The dumper remembers which types it has written: the last few for each hash. */
enum { TYPE_BUCKETS = 256, TYPE_ASSOC = 4 };

struct type_cache {
    uint64_t types[TYPE_BUCKETS][TYPE_ASSOC];
};

/* Makes a type the first of its bucket. Returns whether the bucket had it before. */
static bool records_remember(struct type_cache *cache, uint64_t hash, uint64_t type)
{
    uint64_t *types = cache->types[hash % TYPE_BUCKETS];
    size_t at = 0;
    while (at < TYPE_ASSOC - 1 && types[at] != type)
        at++;
    const bool is_known = types[at] == type;
    memmove(types + 1, types, at * sizeof(*types));
    types[0] = type;
    return is_known;
}

static bool put_type(struct records *records, struct type_cache *cache, uint64_t address)
{
    struct worker_buffer *buffer = &records->buffer;
    struct process_type type;
    if (!process_type_read(records->runtime, address, &type) ||
        !records_take_names(records, type.package.size + type.name.size)) {
        records->runtime->missing++;
        return true;
    }
    if (records_remember(cache, type.hash, address))
        return true;
    return PUT(buffer, G2H_RECORD_TYPE, address, type.size,
               type.name.size + (type.package.size > 0 ? type.package.size + 1 : 0)) &&
           worker_buffer_put(buffer, type.package.data, (size_t)type.package.size) &&
           worker_buffer_put(buffer, ".", type.package.size > 0) &&
           worker_buffer_put(buffer, type.name.data, (size_t)type.name.size) &&
           put_number(buffer, type.is_indirect);
}

static struct g2h_error *put_itabs(struct records *records)
{
    struct runtime *runtime = records->runtime;
    _cleanup_free_ struct type_cache *cache = calloc(1, sizeof(*cache));
    uint64_t table = 0;
    TRY_MEMORY(cache);
    if (runtime->itab_table != 0)
        runtime_word(runtime, runtime->itab_table, &table);
    const uint64_t size = table != 0 ? runtime_field(runtime, table, LAYOUT_ITAB_TABLE_SIZE) : 0,
                   entries = table + runtime_offset(runtime, LAYOUT_ITAB_TABLE_ENTRIES);
    for (uint64_t i = 0; i < size; i++) {
        uint64_t itab, type;
        if (!memory_read(runtime->memory, entries + WORD * i, WORD, &itab))
            break;
        if (itab == 0 || !runtime_peek(runtime, itab, LAYOUT_ITAB_TYPE, &type))
            continue;
        TRY_MEMORY(put_type(records, cache, type) &&
                   PUT(&records->buffer, G2H_RECORD_ITAB, itab, type));
    }
    return NULL;
}

/* ---- data and bss ---- */

/* Writes the pointers among the first words of a segment; for a large one without those that the
 * process has never touched. */
static bool put_pointers(const struct records *records, struct worker_buffer *buffer,
                         uint64_t start, uint64_t words, const struct runtime_mask *mask)
{
    const struct ranges *untouched = &records->runtime->memory->untouched;
    const uint64_t end = start + words * WORD;
    struct range hole = {end, end};
    uint64_t i = 0;
    for (uint64_t at = start; at < end; at = hole.end) {
        if (end - start >= RECORDS_LARGE)
            (void)ranges_next(untouched, at, end, &hole);
        const uint64_t first = (at - start) / WORD, last = (hole.begin - start + WORD - 1) / WORD;
        for (i = i > first ? i : first; i < last; i++)
            if ((mask->bits[i / 8] >> (i % 8) & 1) != 0 && !put_field(buffer, i * WORD))
                return false;
    }
    return put_number(buffer, 0);
}

static struct g2h_error *put_segment(struct records *records, struct worker_buffer *buffer,
                                     enum g2h_record_kind kind, uint64_t start, uint64_t end,
                                     const struct runtime_mask *mask)
{
    const struct memory *memory = records->runtime->memory;
    const uint8_t *contents = memory_at(memory, start, end - start);
    const uint64_t size = contents ? end - start : 0, words = size / WORD;
    records->account->missing_bytes += end - start - size;
    TRY_MEMORY(PUT(buffer, kind, start, size));
    TRY(records_put_contents(buffer, memory, start, contents, size));
    TRY_MEMORY(
        put_pointers(records, buffer, start, words < mask->count ? words : mask->count, mask));
    return NULL;
}

/* ---- memstats ---- */

/* Fills in the numbers of the runtime's own counters, as readmemstats_m() does. */
static void fill_counters(const struct counters *counters, uint64_t *numbers)
{
    numbers[G2H_MEMSTATS_HEAP_INUSE] = counters->heap_in_use;
    numbers[G2H_MEMSTATS_HEAP_IDLE] = counters->heap_free + counters->heap_released;
    numbers[G2H_MEMSTATS_HEAP_RELEASED] = counters->heap_released;
    numbers[G2H_MEMSTATS_HEAP_SYS] =
        numbers[G2H_MEMSTATS_HEAP_INUSE] + numbers[G2H_MEMSTATS_HEAP_IDLE];
    numbers[G2H_MEMSTATS_STACK_INUSE] = counters->in_stacks;
    numbers[G2H_MEMSTATS_STACK_SYS] = counters->in_stacks + counters->stacks_sys;
    numbers[G2H_MEMSTATS_MSPAN_SYS] = counters->mspan_sys;
    numbers[G2H_MEMSTATS_MCACHE_SYS] = counters->mcache_sys;
    numbers[G2H_MEMSTATS_BUCK_HASH_SYS] = counters->buckhash_sys;
    numbers[G2H_MEMSTATS_GC_SYS] = counters->gc_misc_sys + counters->in_gc;
    numbers[G2H_MEMSTATS_OTHER_SYS] = counters->other_sys;
    numbers[G2H_MEMSTATS_SYS] = numbers[G2H_MEMSTATS_HEAP_SYS] + numbers[G2H_MEMSTATS_STACK_SYS] +
                                numbers[G2H_MEMSTATS_MSPAN_SYS] + numbers[G2H_MEMSTATS_MCACHE_SYS] +
                                numbers[G2H_MEMSTATS_BUCK_HASH_SYS] + numbers[G2H_MEMSTATS_GC_SYS] +
                                numbers[G2H_MEMSTATS_OTHER_SYS];
}

/* Writes the numbers of runtime.MemStats that are known: sums of objects, the runtime's counters of
 * its memory, and the number of collections, each of which adds two to sweepgen. All other numbers
 * are 0. */
static struct g2h_error *put_memstats(struct records *records)
{
    uint64_t numbers[G2H_MEMSTATS_NUMBERS] = {0};
    numbers[G2H_MEMSTATS_ALLOC] = numbers[G2H_MEMSTATS_HEAP_ALLOC] = records->account->object_bytes;
    numbers[G2H_MEMSTATS_HEAP_OBJECTS] = records->account->objects;
    numbers[G2H_MEMSTATS_NUM_GC] = records->runtime->sweepgen / 2;
    fill_counters(records->counters, numbers);
    TRY_MEMORY(put_number(&records->buffer, G2H_RECORD_MEMSTATS) &&
               put_numbers(&records->buffer, numbers, G2H_MEMSTATS_NUMBERS));
    return NULL;
}

/* ---- facts, after the end of the dump ---- */

/* Writes the types of objects without a size class, which the mspan has from Go 1.22 on. */
static struct g2h_error *put_types_of_large(struct records *records)
{
    struct runtime *runtime = records->runtime;
    struct span span;
    for (uint64_t i = 0; i < runtime->allspans.count; i++)
        if (span_read_fields_of(runtime, i, &span) == SPAN_IN_USE && span.is_large &&
            heap_bits_are_of_types(runtime, &span) && span.large_type != 0)
            TRY_MEMORY(PUT(&records->buffer, FACT_TYPE, span.start, span.large_type));
    return NULL;
}

/* Writes the parts of large objects that the process has never touched. Stops at overlapping spans,
 * which are invalid, so that the number of facts is not spans times holes. */
static struct g2h_error *put_untouched(struct records *records)
{
    struct runtime *runtime = records->runtime;
    const struct ranges *untouched = &runtime->memory->untouched;
    uint64_t left = ranges_bytes(untouched, 0, UINT64_MAX);
    struct span span;
    struct range hole;
    for (uint64_t i = 0; i < runtime->allspans.count; i++) {
        if (span_read_fields_of(runtime, i, &span) != SPAN_IN_USE || !span.is_large)
            continue;
        const uint64_t end = span.start + span.elemsize;
        for (uint64_t at = span.start; ranges_next(untouched, at, end, &hole); at = hole.end) {
            const uint64_t size = hole.end - hole.begin;
            if (size > left)
                return NULL;
            left -= size;
            TRY_MEMORY(PUT(&records->buffer, FACT_UNTOUCHED, hole.begin, size));
        }
    }
    return NULL;
}

enum { DATA_MOST = 64 << 20, DATA_PIECE = 1 << 20 };

/* Writes a part of the program's data, in pieces so that the buffer stays small. */
static struct g2h_error *put_data(struct records *records, struct range part, const uint8_t *data)
{
    for (uint64_t at = part.begin, size; at < part.end; at += size) {
        size = part.end - at < DATA_PIECE ? part.end - at : DATA_PIECE;
        TRY_MEMORY(PUT(&records->buffer, FACT_DATA, at, size) &&
                   worker_buffer_put(&records->buffer, data + (at - part.begin), (size_t)size));
        TRY(records_flush(records));
    }
    return NULL;
}

/* Writes the bytes of the first module's data in [begin, end), and the ranges that have never been
 * written to. *left is how many more bytes may be written. */
static struct g2h_error *put_data_in(struct records *records, uint64_t begin, uint64_t end,
                                     uint64_t *left)
{
    const struct memory *memory = records->runtime->memory;
    struct runtime_part part = {.range = 0};
    struct range hole;
    while (runtime_next_part(records->runtime, &part)) {
        const struct range all = part.addresses;
        const struct range both = range_intersect(all, (struct range){begin, end});
        if (both.begin >= both.end)
            continue;
        if (both.end - both.begin > *left) {
            records->account->data_left_out += both.end - both.begin;
            continue;
        }
        *left -= both.end - both.begin;
        TRY(put_data(records, both, part.data + (both.begin - all.begin)));
    }
    for (uint64_t at = begin; ranges_next(&memory->untouched, at, end, &hole); at = hole.end)
        TRY_MEMORY(PUT(&records->buffer, FACT_ZEROS, hole.begin, hole.end - hole.begin));
    return NULL;
}

/* Writes the program's data without pointers, which is in no record: noptrdata and noptrbss. */
static struct g2h_error *put_pointerless(struct records *records)
{
    const struct runtime *runtime = records->runtime;
    uint64_t left = DATA_MOST;
    TRY(put_data_in(records, runtime_data_start(runtime), runtime->data, &left));
    return put_data_in(records, runtime->ebss, runtime->end, &left);
}

/* Returns the number of threads whose registers are not known, though a goroutine may be running
 * there. */
static uint64_t threads_unread(const struct g2h_process_account *account)
{
    return account->threads_stuck + account->goroutines_scanned;
}

/* Returns whether memory that holds objects may be missing, or its pointers are not known. */
static bool is_partial(const struct g2h_process_account *account)
{
    return account->file_missing + account->spans_missing + account->objects_missing +
               account->missing_bytes + account->masks_missing + account->frames_conservative +
               account->stacks_incomplete + threads_unread(account) + account->words_missing >
           0;
}

/* Writes how the process ended. */
static bool put_ending(struct worker_buffer *buffer, const struct g2h_ending *ending)
{
    const uint64_t by_oom = ending->by_oom ? FACT_BY_OOM : 0;
    const uint64_t flags = by_oom | (ending->by_group ? FACT_BY_GROUP : 0);
    return PUT(buffer, FACT_ENDING, (uint64_t)ending->seconds, ending->status, flags,
               ending->resident, ending->peak, ending->limit);
}

/* Writes what memory was missing: the dump is then not complete, as origin_is_complete(). */
static bool put_cut(struct worker_buffer *buffer, const struct g2h_process_account *account)
{
    const uint64_t bytes =
        account->file_missing > 0 ? account->file_missing : account->missing_bytes;
    return bytes + account->objects_missing + account->spans_missing == 0 ||
           PUT(buffer, FACT_CUT, bytes, account->objects_missing, account->spans_missing);
}

/* Writes what else of that which holds objects could not be read: heap_is_exact(). */
static bool put_unread(struct worker_buffer *buffer, const struct g2h_process_account *account)
{
    return account->masks_missing + account->frames_conservative + account->stacks_incomplete +
                   threads_unread(account) + account->words_missing ==
               0 ||
           PUT(buffer, FACT_UNREAD, account->masks_missing, account->frames_conservative,
               account->stacks_incomplete, threads_unread(account), account->words_missing);
}

/* Finds RSS and its parts, and writes them, so that this dump can be the base of a later one. */
static struct g2h_error *put_resident(struct records *records)
{
    struct g2h_memory *memory = records->memory;
    if (!memory)
        return NULL;
    TRY(resident_find(records->runtime, records->counters, records->spans, memory));
    if (memory->resident == 0)
        return NULL;
    TRY_MEMORY(PUT(&records->buffer, FACT_RESIDENT, memory->resident, memory->has_counters,
                   G2H_MEMORY_PARTS));
    for (unsigned i = 0; i < G2H_MEMORY_PARTS; i++)
        TRY_MEMORY(put_number(&records->buffer, memory->parts[i]));
    return NULL;
}

static struct g2h_error *put_facts(struct records *records, const struct worker_buffer *secrets)
{
    records->account->words_missing = records->runtime->missing;
    TRY_MEMORY(worker_buffer_put(&records->buffer, FACTS_TEXT, sizeof(FACTS_TEXT) - 1) &&
               put_number(&records->buffer, FACT_STACK_OBJECTS));
    TRY_MEMORY(worker_buffer_put(&records->buffer, secrets->data, secrets->size));
    TRY(put_types_of_large(records));
    TRY(put_untouched(records));
    TRY(put_pointerless(records));
    if (is_partial(records->account))
        TRY_MEMORY(put_number(&records->buffer, FACT_PARTIAL));
    if (records->ending)
        TRY_MEMORY(put_ending(&records->buffer, records->ending));
    TRY_MEMORY(put_cut(&records->buffer, records->account) &&
               put_unread(&records->buffer, records->account));
    TRY_MEMORY(records_put_rate(records));
    TRY(put_resident(records));
    TRY_MEMORY(put_number(&records->buffer, FACT_END));
    return NULL;
}

/* ---- all of it ---- */

/* Records that follow the objects, but have to be read from the heap before its memory is
 * returned. */
struct behind {
    struct goroutines *goroutines;
    struct worker_buffer finalizers, profile, kept, secrets;
};

static void behind_deinit(struct behind *behind)
{
    records_end_goroutines(behind->goroutines);
    worker_buffer_deinit(&behind->finalizers);
    worker_buffer_deinit(&behind->profile);
    worker_buffer_deinit(&behind->kept);
    worker_buffer_deinit(&behind->secrets);
}

/* Runs put() to make records, and moves them to *ret. */
static struct g2h_error *set_aside(struct records *records,
                                   struct g2h_error *(*put)(struct records *),
                                   struct worker_buffer *ret)
{
    TRY(put(records));
    *ret = records->buffer;
    records->buffer = (struct worker_buffer){0};
    return NULL;
}

/* Returns whether an object has more bytes than the runtime's dumper would write. Data and bss of
 * Go's linker are never as large. */
static bool has_long_object(const struct runtime *runtime)
{
    struct span span;
    for (uint64_t i = 0; i < runtime->allspans.count; i++)
        if (span_read_fields_of(runtime, i, &span) == SPAN_IN_USE &&
            stored_size(span.elemsize) < span.elemsize)
            return true;
    return false;
}

/* Writes the mark that the contents in this dump are whole, if it matters; see WHOLE_CONTENTS. */
static struct g2h_error *put_whole(struct records *records)
{
    const struct g2h_bytes text = bytes_of(WHOLE_CONTENTS);
    if (has_long_object(records->runtime))
        TRY_MEMORY(put_number(&records->buffer, G2H_RECORD_OTHERROOT) &&
                   put_bytes(&records->buffer, text) && put_number(&records->buffer, 0));
    return NULL;
}

static struct g2h_error *put_begin(struct records *records)
{
    static const char header[] = "go1.7 heap dump\n";
    TRY_MEMORY(worker_buffer_put(&records->buffer, header, sizeof(header) - 1));
    TRY(put_params(records));
    TRY(put_whole(records));
    TRY(put_itabs(records));
    return records_flush(records);
}

static struct g2h_error *put_module(struct records *records, const struct runtime_segments *module,
                                    struct worker_buffer *buffer)
{
    TRY(put_segment(records, buffer, G2H_RECORD_DATA, module->data, module->edata,
                    &module->data_mask));
    return put_segment(records, buffer, G2H_RECORD_BSS, module->bss, module->ebss,
                       &module->bss_mask);
}

/* Writes the segments of all modules; WriteHeapDump has those of the first module only. The number
 * of modules is limited, because they may be linked in a cycle. */
static struct g2h_error *produce_segments(void *context, size_t task, unsigned worker,
                                          struct worker_buffer *buffer)
{
    enum { MOST = 1000 };
    struct records *records = context;
    struct runtime *runtime = records->runtime;
    const struct runtime_segments first = {runtime->data, runtime->edata,     runtime->bss,
                                           runtime->ebss, runtime->data_mask, runtime->bss_mask,
                                           false};
    struct runtime_segments other;
    uint64_t module = 0;
    (void)task, (void)worker;
    TRY(put_module(records, &first, buffer));
    for (int i = 0; runtime_next_module(runtime, &module, &other); i++) {
        if (i == MOST) {
            runtime->missing++;
            break;
        }
        TRY(put_module(records, &other, buffer));
    }
    return NULL;
}

static struct g2h_error *consume_segments(void *context, const struct worker_buffer *buffer)
{
    const struct records *records = context;
    return records_put(records->fd, buffer);
}

static struct g2h_error *put_segments(struct records *records)
{
    return workers_run_ordered(1, 1, produce_segments, NULL, consume_segments, records);
}

/* Writes all records. Those that are made from objects and follow them are prepared first, because
 * writing the objects returns their memory; segments are not in the heap, and memstats are counted
 * meanwhile. What WriteHeapDump's records have no place for, such as the causes of kept objects
 * and, after EOF, where other readers stop, facts (dump/dump_facts.h), comes last. */
static struct g2h_error *put_all(struct records *records)
{
    _cleanup_(behind_deinit) struct behind behind = {0};
    _cleanup_(release_deinit) struct release release = {0};
    TRY(put_begin(records));
    TRY(release_init(&release, &records->masks));
    TRY(records_begin_goroutines(records, &release, &behind.goroutines));
    TRY(set_aside(records, records_put_finalizers, &behind.finalizers));
    TRY(set_aside(records, records_put_profile, &behind.profile));
    TRY(set_aside(records, records_put_kept, &behind.kept));
    TRY(set_aside(records, records_put_secrets, &behind.secrets));
    TRY(records_put_objects(records, &release));
    TRY(records_put_goroutines(behind.goroutines));
    TRY(records_flush(records));
    TRY(put_segments(records));
    TRY(records_put(records->fd, &behind.finalizers));
    TRY(put_memstats(records));
    TRY(records_flush(records));
    TRY(records_put(records->fd, &behind.profile));
    TRY(records_put(records->fd, &behind.kept));
    TRY_MEMORY(put_number(&records->buffer, G2H_RECORD_EOF));
    TRY(put_facts(records, &behind.secrets));
    return records_flush(records);
}

struct g2h_error *records_write(struct records *records)
{
    enum { NAMES = 2, FEW_NAMES = 1 << 20 };
    records->names_left = NAMES * records->runtime->memory->bytes + FEW_NAMES;
    records->pcs_left = records->runtime->memory->bytes / WORD;
    type_masks_init(&records->masks, records->runtime);
    struct g2h_error *error = put_all(records);
    type_masks_deinit(&records->masks);
    worker_buffer_deinit(&records->buffer);
    return error;
}
