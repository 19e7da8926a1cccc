/*
 * process_memory: numbers of a process's memory; see process_memory.h. The parts: the limit of its
 * control groups; the runtime's own counters (runtime.memstats), found by symbol or by their
 * contents; an estimate of a live process before it is stopped; and RSS divided into objects, free
 * slots, stacks, the runtime, files and C, by mappings and spans.
 */
#include "process/process_memory.h"

#include <stdint.h>
#include <string.h>

#include <go2heapsnapshot/process.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/port.h"
#include "base/releases.h"
#include "process/attach/available.h"
#include "process/attach/procfs.h"
#include "process/spans.h"

#ifdef __linux__
#include "process/attach/copy.h"
#endif

/* ==== the memory limit that a live process is subject to ==== */

/* Returns the memory limit of the process's control groups in bytes, or 0 if there is none or it is
 * not known. *ret_left is what the tightest limit, also the machine's, leaves. */
uint64_t g2h_process_limit(uint64_t pid, uint64_t *ret_left)
{
#ifdef __linux__
    struct attach_available available;
    attach_available_find_of(pid, &available);
    *ret_left = available.left;
    return *available.limit ? available.bytes : 0;
#else
    (void)pid;
    *ret_left = 0;
    return 0;
#endif
}

/* ==== the runtime's own counters of its memory, as runtime.ReadMemStats reads them ==== */

enum { GENERATIONS = 3 }; /* of consistentHeapStats.stats */

struct heap_stats {
    uint64_t committed, released, in_heap, in_stacks, in_work_bufs, in_ptr_scalar_bits;
};

/* Adds up a field of all generations of consistentHeapStats, each of which has only what has
 * changed in it. Returns false if they are missing. */
static bool counters_add_up(const struct runtime *runtime, uint64_t stats, enum layout_field field,
                            uint64_t *ret)
{
    *ret = 0;
    for (uint64_t i = 0; i < GENERATIONS; i++) {
        uint64_t value;
        if (!runtime_peek(runtime, stats + i * runtime_size(runtime, LAYOUT_HEAP_STATS), field,
                          &value))
            return false;
        *ret += value;
    }
    return true;
}

/* Returns whether a sum is a plausible number of whole pages. */
static bool is_pages(uint64_t bytes)
{
    return bytes % RUNTIME_PAGE_SIZE == 0 && bytes >> 48 == 0;
}

/* Reads runtime.memstats.heapStats. Returns false if its values are not plausible. They are
 * plausible if all are whole pages, stacks have some, and the memory in use is no more than what is
 * committed. The first value is checked before the others are read, since search_memstats() tries
 * many addresses. */
static bool read_heap_stats(const struct runtime *runtime, uint64_t memstats,
                            struct heap_stats *ret)
{
    const uint64_t stats = memstats + runtime_offset(runtime, LAYOUT_MSTATS_HEAP_STATS);
    return counters_add_up(runtime, stats, LAYOUT_HEAP_STATS_IN_HEAP, &ret->in_heap) &&
           is_pages(ret->in_heap) &&
           counters_add_up(runtime, stats, LAYOUT_HEAP_STATS_COMMITTED, &ret->committed) &&
           counters_add_up(runtime, stats, LAYOUT_HEAP_STATS_RELEASED, &ret->released) &&
           counters_add_up(runtime, stats, LAYOUT_HEAP_STATS_IN_STACKS, &ret->in_stacks) &&
           counters_add_up(runtime, stats, LAYOUT_HEAP_STATS_IN_WORK_BUFS, &ret->in_work_bufs) &&
           counters_add_up(runtime, stats, LAYOUT_HEAP_STATS_IN_PTR_SCALAR_BITS,
                           &ret->in_ptr_scalar_bits) &&
           is_pages(ret->committed) && is_pages(ret->released) && is_pages(ret->in_stacks) &&
           is_pages(ret->in_work_bufs) && is_pages(ret->in_ptr_scalar_bits) && ret->in_stacks > 0 &&
           ret->committed >=
               ret->in_heap + ret->in_stacks + ret->in_work_bufs + ret->in_ptr_scalar_bits;
}

/* Returns the bytes of all spans that hold objects. */
static uint64_t bytes_of_spans(const struct runtime *runtime)
{
    uint64_t sum = 0;
    struct span span;
    for (uint64_t i = 0; i < runtime->allspans.count; i++)
        if (span_read_fields_of(runtime, i, &span) == SPAN_IN_USE)
            sum += span.size;
    return sum;
}

/* Returns whether the counters after heapStats may be the runtime's. If a generation is all zeros,
 * the sums are the same one generation earlier or later, where these counters are not. */
static bool has_neighbours(const struct runtime *runtime, uint64_t memstats)
{
    uint64_t spans, caches, other;
    return runtime_peek(runtime, memstats, LAYOUT_MSTATS_MSPAN_SYS, &spans) &&
           runtime_peek(runtime, memstats, LAYOUT_MSTATS_MCACHE_SYS, &caches) &&
           runtime_peek(runtime, memstats, LAYOUT_MSTATS_OTHER_SYS, &other) &&
           spans / runtime_size(runtime, LAYOUT_MSPAN) >= runtime->allspans.count &&
           spans <= runtime->memory->bytes && caches > 0 && other > 0;
}

/* Returns the address of runtime.memstats in a program without symbols, or 0: the first place where
 * the counters are plausible and inHeap is the sum of all spans. */
static uint64_t search_memstats(const struct runtime *runtime)
{
    const uint64_t in_heap = bytes_of_spans(runtime);
    const uint64_t reach = runtime_offset(runtime, LAYOUT_MSTATS_HEAP_STATS) +
                           GENERATIONS * runtime_size(runtime, LAYOUT_HEAP_STATS);
    struct runtime_part part = {.range = 0};
    struct heap_stats stats;
    while (runtime_next_part(runtime, &part)) {
        /* The memory before the sums may never have been written to. */
        const uint64_t begin = part.addresses.begin;
        const uint64_t end = part.addresses.end;
        const uint64_t first = begin > reach ? begin - reach : 0;
        for (uint64_t at = first - first % 8; at < end && end - at >= 8; at += 8)
            if (read_heap_stats(runtime, at, &stats) && stats.in_heap == in_heap &&
                has_neighbours(runtime, at))
                return at;
    }
    return 0;
}

/* Reads what runtime.gcController goes by. Nothing (ret->is_known stays false) if it is not found,
 * a part is missing or not plausible, or no collection has run; of Go 1.20 the offsets are known
 * from DWARF only. A limit of MaxInt64 is none; with GOGC=off there is no goal. */
static void read_collector(const struct runtime *runtime, struct g2h_collector *ret)
{
    const uint64_t at = runtime->gc_controller;
    uint64_t percent, limit, goal, marked;
    if (at == 0 || runtime->sweepgen < 2 || (runtime->minor == 20 && !runtime->by_dwarf) ||
        !runtime_peek(runtime, at, LAYOUT_GC_PERCENT, &percent) ||
        !runtime_peek(runtime, at, LAYOUT_GC_MEMORY_LIMIT, &limit) ||
        !runtime_peek(runtime, at, LAYOUT_GC_PERCENT_HEAP_GOAL, &goal) ||
        !runtime_peek(runtime, at, LAYOUT_GC_HEAP_MARKED, &marked) || marked > goal)
        return;
    *ret = (struct g2h_collector){.is_known = true, .marked = marked};
    ret->is_off = (int32_t)percent < 0;
    ret->limit = limit < INT64_MAX ? limit : 0;
    if (ret->is_off)
        return;
    ret->gogc = percent;
    ret->goal = goal;
}

/* Reads the runtime's counters of memory. The numbers are those of runtime.ReadMemStats, computed
 * from the same counters. If these are not found, or not plausible, only those of the collector are
 * set, and is_known is false. */
void counters_read(struct runtime *runtime, struct counters *ret)
{
    struct heap_stats stats;
    *ret = (struct counters){.is_known = false};
    read_collector(runtime, &ret->collector);
    if (!runtime_has(runtime, LAYOUT_MSTATS_HEAP_STATS) || !runtime_has(runtime, LAYOUT_HEAP_STATS))
        return;
    const uint64_t memstats = runtime->memstats != 0 ? runtime->memstats : search_memstats(runtime);
    if (memstats == 0 || !read_heap_stats(runtime, memstats, &stats))
        return;
    const uint64_t in_gc = stats.in_work_bufs + stats.in_ptr_scalar_bits;
    *ret = (struct counters){
        .is_known = true,
        .collector = ret->collector,
        .heap_in_use = stats.in_heap,
        .heap_free = stats.committed - stats.in_heap - stats.in_stacks - in_gc,
        .heap_released = stats.released,
        .in_stacks = stats.in_stacks,
        .in_gc = in_gc,
        .stacks_sys = runtime_field(runtime, memstats, LAYOUT_MSTATS_STACKS_SYS),
        .mspan_sys = runtime_field(runtime, memstats, LAYOUT_MSTATS_MSPAN_SYS),
        .mcache_sys = runtime_field(runtime, memstats, LAYOUT_MSTATS_MCACHE_SYS),
        .buckhash_sys = runtime_field(runtime, memstats, LAYOUT_MSTATS_BUCKHASH_SYS),
        .gc_misc_sys = runtime_field(runtime, memstats, LAYOUT_MSTATS_GC_MISC_SYS),
        .other_sys = runtime_field(runtime, memstats, LAYOUT_MSTATS_OTHER_SYS),
    };
}

/* ==== how much a live process has, before it is stopped ==== */

#ifdef __linux__

/* Bytes of an object's record beside its contents: the tag, an address in the heap, the size, and
 * the end of the fields. */
enum { LEAST_RECORD = 9 };

/* Adds up the spans of objects. What an mspan says may be out of date or, while the runtime changes
 * it, nonsense: no span counts for more objects than it has slots. */
static void add_spans(const struct runtime *runtime, struct estimate *ret)
{
    struct span span;
    for (uint64_t i = 0; i < runtime->allspans.count; i++) {
        if (span_read_fields_of(runtime, i, &span) != SPAN_IN_USE)
            continue;
        const uint64_t objects = MIN(span.alloc_count, span.nelems);
        ret->objects += objects;
        ret->dump_bytes += objects * (LEAST_RECORD + span.elemsize);
        if (span.elemsize < LEAST_HOLE)
            ret->disk_bytes += objects * (LEAST_RECORD + span.elemsize);
    }
}

/* Finds the runtime in the memory of a live process, without stopping it, and sums up its spans. */
static struct g2h_error *estimate_read(uint64_t pid, struct g2h_exe *exe, struct estimate *ret)
{
    _cleanup_(process_deinit) struct process process = {.name = "process"};
    _cleanup_(runtime_deinit) struct runtime runtime = {0};
    TRY(copied_check_machine(pid, &process.machine));
    const int error = copied_open_live(pid, &process);
    if (error != 0)
        return error_system(error, "%s", process.name);
    process.pid = pid;
    process.is_new = g2h_process_is_new(pid);
    TRY(runtime_init(&runtime, &process, exe));
    add_spans(&runtime, ret);
    return NULL;
}

/* Fills in what is known of a live process's memory. An error is left to the reading of the
 * process, which says what to do about it. */
void estimate_live(uint64_t pid, struct g2h_exe *exe, struct estimate *ret)
{
    *ret = (struct estimate){0};
    struct g2h_error *error = estimate_read(pid, exe, ret);
    if (error)
        *ret = (struct estimate){0};
    g2h_error_destroy(error);
}

#else

void estimate_live(uint64_t pid, struct g2h_exe *exe, struct estimate *ret)
{
    (void)pid, (void)exe;
    *ret = (struct estimate){0};
}

#endif

/* ==== the breakdown of a live process's resident memory ====
 *
 * Mappings separate the Go heap, whose arenas are known, from files, the executable and all other
 * anonymous memory. In the arenas, the resident pages of spans are counted. Outside them the
 * runtime's counters show how much is the runtime's own, all of which it uses; the rest belongs to
 * C or mmap().
 */

/* ---- the heap ---- */

/* Returns how many bytes of an address range are resident. */
static uint64_t resident_of(const struct process *process, uint64_t address, uint64_t size)
{
    const struct process_pages *pages = process->resident.data;
    uint64_t sum = 0;
    size_t i;
    BISECT(i, process->resident.count, pages[i].address + pages[i].size <= address);
    for (; i < process->resident.count && pages[i].address < address + size; i++) {
        const uint64_t end = pages[i].address + pages[i].size,
                       from = MAX(pages[i].address, address);
        sum += MIN(end, address + size) - from;
    }
    return sum;
}

/* Adds up the resident pages of spans: of a span with objects as many bytes are objects as it has
 * allocated, the rest are free slots; spans of stacks and of the runtime count as manual. Spans of
 * small objects that are not resident as a whole are listed (absent). Returns false if memory runs
 * out. */
bool resident_find_spans(const struct runtime *runtime, struct resident_spans *ret)
{
    struct span span;
    *ret = (struct resident_spans){0};
    for (uint64_t i = 0; i < runtime->allspans.count; i++) {
        uint64_t address, start;
        if (span_read_fields_of(runtime, i, &span) == SPAN_IN_USE) {
            const uint64_t there = resident_of(runtime->process, span.start, span.size);
            const uint64_t allocated = span.alloc_count * span.elemsize;
            const uint64_t objects = MIN(allocated, there);
            ret->objects += objects;
            ret->slots += there - objects;
            if (!span.is_large && there < span.size && runtime->process->resident.count > 0 &&
                !vector_push(&ret->absent,
                             ((struct resident_absent){span.start, span.size - there})))
                return false;
            continue;
        }
        if (!memory_read(runtime->memory, runtime->allspans.data + 8 * i, 8, &address))
            continue;
        const uint64_t size = span_manual_bytes(runtime, address);
        if (size > 0 && runtime_peek(runtime, address, LAYOUT_MSPAN_START_ADDR, &start))
            ret->manual += resident_of(runtime->process, start, size);
    }
    return true;
}

void resident_spans_deinit(struct resident_spans *spans)
{
    free(spans->absent.data);
}

typedef VECTOR(uint64_t) address_vector;

static int resident_compare_addresses(const void *a, const void *b)
{
    const uint64_t one = *(const uint64_t *)a;
    const uint64_t other = *(const uint64_t *)b;
    return COMPARE(one, other);
}

/* Adds the arenas of user arenas (GOEXPERIMENT=arenas), which are not in the heap's list: they are
 * found by their spans. Returns false if memory runs out. */
static bool list_user_arenas(const struct runtime *runtime, address_vector *ret)
{
    struct span span;
    if (!go_release_has_experiment(runtime->version, "arenas"))
        return true;
    for (uint64_t i = 0; i < runtime->allspans.count; i++) {
        if (span_read_fields_of(runtime, i, &span) != SPAN_IN_USE || !span.is_user_arena)
            continue;
        const uint64_t base = span.start - span.start % RUNTIME_ARENA_SIZE;
        if ((ret->count == 0 || ret->data[ret->count - 1] != base) && !vector_push(ret, base))
            return false;
    }
    return true;
}

/* Lists the addresses of all arenas, ascending. Returns false if memory runs out. */
static bool list_arenas(const struct runtime *runtime, address_vector *ret)
{
    struct runtime_arenas arenas;
    uint64_t base;
    runtime_arenas_begin(runtime, &arenas);
    while (runtime_arenas_next(&arenas, &base))
        if (!vector_push(ret, base))
            return false;
    if (!list_user_arenas(runtime, ret))
        return false;
    vector_sort(ret, resident_compare_addresses);
    assert(IS_ORDERED(i, ret->count, ret->data[i - 1] <= ret->data[i]));
    return true;
}

/* Returns whether an address is in an arena of the heap. */
static bool is_in_arenas(const address_vector *arenas, uint64_t address)
{
    size_t after;
    BISECT(after, arenas->count, arenas->data[after] <= address);
    return after > 0 && address - arenas->data[after - 1] < RUNTIME_ARENA_SIZE;
}

/* ---- mappings ---- */

/* A mapping of /proc/PID/smaps. */
struct mapping {
    uint64_t start, end, resident;
    bool is_file, is_code;
    const char *path;
    size_t path_size;
};

typedef VECTOR(struct mapping) mapping_vector;

/* Parses the line of /proc/PID/smaps that begins a mapping: start-end perms offset device inode
 * path. It is of a file if it has an inode and a path, but not that of anonymous huge pages.
 * Returns false for other lines, and for empty mappings. */
static bool parse_mapping_line(const char *at, struct mapping *ret)
{
    enum { PERMISSIONS = sizeof("rwxp ") - 1, HEX = 16, DECIMAL = 10 };
    static const char huge[] = "/anon_hugepage";
    uint64_t offset, inode;
    if (!procfs_take_number(&at, HEX, &ret->start) || *at++ != '-' ||
        !procfs_take_number(&at, HEX, &ret->end) || strnlen(at, PERMISSIONS) < PERMISSIONS)
        return false;
    ret->is_code = at[2] == 'x'; /* blanks after a number are taken with it */
    at += PERMISSIONS;
    if (!procfs_take_number(&at, HEX, &offset))
        return false;
    at += strcspn(at, " \n");
    at += strspn(at, " ");
    if (!procfs_take_number(&at, DECIMAL, &inode))
        return false;
    ret->path = at;
    ret->path_size = strcspn(at, "\n");
    ret->is_file = inode != 0 && *at == '/' && strncmp(at, huge, strlen(huge)) != 0;
    return ret->start < ret->end;
}

/* Reads the mappings and their resident bytes: a line Rss: belongs to the last mapping. Returns
 * false if memory runs out. */
static bool parse_smaps(const char *smaps, mapping_vector *ret)
{
    static const char key[] = "Rss:";
    for (const char *line = smaps; line && *line;) {
        struct mapping mapping = {0};
        const char *at = line + sizeof(key) - 1;
        if (strncmp(line, key, sizeof(key) - 1) == 0 && ret->count > 0) {
            at += strspn(at, " ");
            struct mapping *last = &ret->data[ret->count - 1];
            if (procfs_take_number(&at, 10, &last->resident) && last->resident < UINT64_MAX >> 10)
                last->resident <<= 10;
        } else if (parse_mapping_line(line, &mapping) && !vector_push(ret, mapping)) {
            return false;
        }
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return true;
}

/* Orders mappings by path, so that those of one file follow each other. */
static int resident_compare_paths(const void *a, const void *b)
{
    const struct mapping *one = a;
    const struct mapping *other = b;
    const size_t least = MIN(one->path_size, other->path_size);
    const int order = memcmp(one->path, other->path, least);
    return order != 0 ? order
                      : (one->path_size > other->path_size) - (one->path_size < other->path_size);
}

/* Orders files by resident bytes, the most first. */
static int resident_compare_sizes(const void *a, const void *b)
{
    const struct g2h_mapped_file *one = a;
    const struct g2h_mapped_file *other = b;
    if (one->resident != other->resident)
        return one->resident < other->resident ? 1 : -1;
    return strcmp(one->path, other->path);
}

/* Lists a mapping, if any of it is resident. Returns false if memory runs out. */
static bool resident_keep(const struct mapping *mapping, enum g2h_memory_part part,
                          struct g2h_memory *ret)
{
    const char *slash = memrchr(mapping->path, '/', mapping->path_size);
    const char *name = slash ? slash + 1 : mapping->path;
    const char *end = mapping->path + mapping->path_size;
    struct g2h_mapping new = {mapping->start, mapping->end, mapping->resident, part, NULL};
    if (mapping->resident == 0)
        return true;
    if (name < end && !(new.name = strndup(name, as_size(end - name))))
        return false;
    ret->mappings[ret->mapping_count++] = new;
    return true;
}

static int compare_starts(const void *a, const void *b)
{
    const struct g2h_mapping *one = a;
    const struct g2h_mapping *other = b;
    return COMPARE(one->start, other->start);
}

/* Adds a file that is mapped several times or in several pieces: count mappings of one path. A
 * file with code is a program, and is only counted, as is one without resident pages. */
static struct g2h_error *add_file(const struct mapping *mappings, size_t count,
                                  struct g2h_memory *memory)
{
    struct g2h_mapped_file file = {0};
    bool is_code = false;
    for (size_t i = 0; i < count; i++) {
        is_code |= mappings[i].is_code;
        file.resident += mappings[i].resident;
    }
    memory->parts[is_code ? G2H_MEMORY_PROGRAM : G2H_MEMORY_FILES] += file.resident;
    if (is_code || file.resident == 0)
        return NULL;
    for (size_t i = 0; i < count; i++)
        TRY_MEMORY(resident_keep(&mappings[i], G2H_MEMORY_FILES, memory));
    file.path = strndup(mappings->path, mappings->path_size);
    TRY_MEMORY(file.path);
    memory->files[memory->file_count++] = file;
    return NULL;
}

/* Adds all files, which are sorted by path. Mappings of one path are one file; then sorts the files
 * by size. */
static struct g2h_error *add_files(mapping_vector *files, struct g2h_memory *memory)
{
    if (files->count == 0)
        return NULL;
    vector_sort(files, resident_compare_paths);
    memory->files = calloc(files->count, sizeof(*memory->files));
    TRY_MEMORY(memory->files);
    for (size_t first = 0, end; first < files->count; first = end) {
        for (end = first + 1; end < files->count &&
                              resident_compare_paths(&files->data[first], &files->data[end]) == 0;)
            end++;
        TRY(add_file(&files->data[first], end - first, memory));
    }
    if (memory->file_count > 0)
        qsort(memory->files, memory->file_count, sizeof(*memory->files), resident_compare_sizes);
    return NULL;
}

/* ---- parts ---- */

/* Subtracts at most bytes from *left, and returns the amount. */
static uint64_t take_at_most(uint64_t *left, uint64_t bytes)
{
    const uint64_t taken = MIN(bytes, *left);
    *left -= taken;
    return taken;
}

/* Divides the resident bytes of the arenas into objects, stacks, free slots and the rest, which is
 * free. */
static void divide_heap(const struct resident_spans *spans, uint64_t heap,
                        struct g2h_memory *memory)
{
    uint64_t *parts = memory->parts;
    parts[G2H_MEMORY_OBJECTS] = take_at_most(&heap, spans->objects);
    parts[G2H_MEMORY_STACKS] = take_at_most(&heap, spans->manual);
    parts[G2H_MEMORY_SLOTS] = take_at_most(&heap, spans->slots);
    parts[G2H_MEMORY_FREE] = heap;
}

/* Divides the resident bytes outside the arenas by the runtime's own counters: what these do not
 * explain belongs to C or mmap(). What is most likely touched comes first. */
static void divide_rest(const struct runtime *runtime, const struct counters *counters,
                        uint64_t rest, struct g2h_memory *memory)
{
    uint64_t *parts = memory->parts;
    uint64_t buckets = counters->buckhash_sys;
    /* buckhash_sys also has the masks of data and bss, which are the collector's (mbitmap.go:
     * progToPointerMask). */
    const uint64_t masks =
        take_at_most(&buckets, (runtime->data_mask.count + runtime->bss_mask.count) / 8);
    parts[G2H_MEMORY_SPANS] = take_at_most(&rest, counters->mspan_sys + counters->mcache_sys);
    parts[G2H_MEMORY_GC] = take_at_most(&rest, counters->gc_misc_sys + masks);
    parts[G2H_MEMORY_RUNTIME] = take_at_most(&rest, counters->other_sys + counters->stacks_sys);
    parts[G2H_MEMORY_BUCKETS] = take_at_most(&rest, buckets); /* most of it is untouched */
    parts[G2H_MEMORY_C] = rest;
}

/* The state of the classification of mappings. */
struct resident_sorting {
    const struct runtime *runtime;
    mapping_vector mappings, files;
    address_vector arenas;
    uint64_t heap, rest; /* resident bytes of arenas, and of other anonymous memory */
};

static void resident_sorting_deinit(struct resident_sorting *sorting)
{
    free(sorting->mappings.data);
    free(sorting->files.data);
    free(sorting->arenas.data);
}

/* Adds a mapping to its part: bss to the program's, arenas to the heap, files to a list for later,
 * and all else to the rest. Returns false if memory runs out. */
static bool sort_out(struct resident_sorting *sorting, const struct mapping *mapping,
                     struct g2h_memory *ret)
{
    const struct runtime *runtime = sorting->runtime;
    ret->resident += mapping->resident;
    if (mapping->is_file)
        return vector_push(&sorting->files, *mapping);
    if (mapping->start < runtime->end && mapping->end > runtime->noptrdata) {
        ret->parts[G2H_MEMORY_PROGRAM] += mapping->resident; /* bss */
    } else if (is_in_arenas(&sorting->arenas, mapping->start)) {
        sorting->heap += mapping->resident;
    } else {
        sorting->rest += mapping->resident;
        return resident_keep(mapping, G2H_MEMORY_C, ret);
    }
    return true;
}

/* Divides the resident memory into parts. Each mapping belongs to one part; the arenas and the rest
 * are then divided by the counters and spans. All parts are 0 if the process's smaps are not known.
 */
struct g2h_error *resident_find(const struct runtime *runtime, const struct counters *counters,
                                const struct resident_spans *spans, struct g2h_memory *ret)
{
    _cleanup_(resident_sorting_deinit) struct resident_sorting sorting = {.runtime = runtime};
    *ret = (struct g2h_memory){.has_counters = counters->is_known};
    if (!runtime->process->smaps)
        return NULL;
    TRY_MEMORY(parse_smaps(runtime->process->smaps, &sorting.mappings) &&
               list_arenas(runtime, &sorting.arenas));
    ret->mappings = calloc(sorting.mappings.count + 1, sizeof(*ret->mappings));
    TRY_MEMORY(ret->mappings);
    VECTOR_EACH(const struct mapping, mapping, sorting.mappings)
        TRY_MEMORY(sort_out(&sorting, mapping, ret));
    divide_heap(spans, sorting.heap, ret);
    divide_rest(sorting.runtime, counters, sorting.rest, ret);
    TRY(add_files(&sorting.files, ret));
    qsort(ret->mappings, ret->mapping_count, sizeof(*ret->mappings), compare_starts);
    return NULL;
}

void g2h_memory_deinit(struct g2h_memory *memory)
{
    for (size_t i = 0; i < memory->file_count; i++)
        free(memory->files[i].path);
    for (size_t i = 0; i < memory->mapping_count; i++)
        free(memory->mappings[i].name);
    free(memory->files);
    free(memory->mappings);
    *memory = (struct g2h_memory){0};
}
