/*
 * memory: what the process had from the system, and where it was; see sections.h.
 *
 * The numbers of the dump's MemStats are the runtime's. RSS and its parts are known of a live
 * process only.
 */
#include <go2heapsnapshot/memory.h>

#include "base/scope.h"
#include "output/report/sections.h"

enum {
    MOST_FILES = 3,      /* mapped files that a line names */
    OUTSIDE_OF_RSS = 50, /* percent of RSS that all but objects has at least to be a suspect; */
    LARGE_PART = 20,     /* and its largest part */
    LEAST_OUTSIDE = 16000000, /* each process has some MB of programs and of the runtime */
    SHOWN_OF_RSS = 1,         /* percent of RSS that a part has at least to be shown */
};

#define MEANING "      meaning     "

/* What a part is called, in text and in JSON, and what it means that it is large. */
static const struct part {
    const char *key, *name, *meaning;
} parts[G2H_MEMORY_PARTS] = {
    [G2H_MEMORY_OBJECTS] = {"objects", "objects", NULL},
    [G2H_MEMORY_SLOTS] = {"free_slots", "free slots",
                          "few objects are left in the spans of many that are gone: those that "
                          "remain keep whole pages; spans in WASTE has their classes"},
    [G2H_MEMORY_FREE] = {"free", "free heap",
                         "a burst is over: the runtime returns it slowly, debug.FreeOSMemory() at "
                         "once; with GODEBUG=madvdontneed=0 it stays resident until the system "
                         "needs it"},
    [G2H_MEMORY_STACKS] = {"stacks", "stacks",
                           "many or deep goroutines: see GOROUTINES. The collector halves stacks "
                           "that are not used"},
    [G2H_MEMORY_BUCKETS] = {"buckets", "profile buckets",
                            "the profiles of memory, blocking and mutexes keep each stack forever: "
                            "runtime.MemProfileRate is too low, or there are too many stacks"},
    [G2H_MEMORY_SPANS] = {"spans", "spans",
                          "the heap had many spans once: their descriptions are never returned"},
    [G2H_MEMORY_GC] = {"gc", "GC",
                       "the collector's own: the heap was large once, or variables have gigabytes"},
    [G2H_MEMORY_RUNTIME] = {"runtime", "runtime and other", "the runtime's own"},
    [G2H_MEMORY_FILES] = {"files", "mapped files",
                          "the system's cache of these files: it takes the pages back when it "
                          "needs memory"},
    [G2H_MEMORY_C] = {"c", "C and other anonymous memory",
                      "malloc() of C (cgo) or mmap(), which the Go heap does not know"},
    [G2H_MEMORY_PROGRAM] = {"program", "executable and libraries", NULL},
};

/* ---- MemStats ---- */

static bool is_resident_known(const struct report *report)
{
    return report->memory && report->memory->resident > 0;
}

static void put_memstats(const struct report *report, const uint64_t *numbers)
{
    static const struct {
        const char *key;
        unsigned number;
    } members[] = {
        {"Sys", G2H_MEMSTATS_SYS},
        {"HeapAlloc", G2H_MEMSTATS_HEAP_ALLOC},
        {"HeapSys", G2H_MEMSTATS_HEAP_SYS},
        {"HeapIdle", G2H_MEMSTATS_HEAP_IDLE},
        {"HeapInuse", G2H_MEMSTATS_HEAP_INUSE},
        {"HeapReleased", G2H_MEMSTATS_HEAP_RELEASED},
        {"StackInuse", G2H_MEMSTATS_STACK_INUSE},
        {"StackSys", G2H_MEMSTATS_STACK_SYS},
        {"MSpanSys", G2H_MEMSTATS_MSPAN_SYS},
        {"MCacheSys", G2H_MEMSTATS_MCACHE_SYS},
        {"BuckHashSys", G2H_MEMSTATS_BUCK_HASH_SYS},
        {"GCSys", G2H_MEMSTATS_GC_SYS},
        {"OtherSys", G2H_MEMSTATS_OTHER_SYS},
    };
    page_open(report->page, "memstats");
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        PAGE_DATA(report->page, page_bytes(members[i].key, numbers[members[i].number]));
    page_close(report->page);
}

/* Returns the numbers of MemStats, or NULL if they are not known. */
static const uint64_t *numbers_of(const struct report *report)
{
    const struct g2h_memstats *memstats = g2h_heap_memstats(g2h_view_heap(report->view));
    const uint64_t *numbers = memstats ? memstats->numbers : NULL;
    return numbers && numbers[G2H_MEMSTATS_SYS] > 0 &&
                   numbers[G2H_MEMSTATS_HEAP_SYS] >= numbers[G2H_MEMSTATS_HEAP_RELEASED]
               ? numbers
               : NULL;
}

static void put_from_system(const struct report *report, const uint64_t *numbers)
{
    const uint64_t released = numbers[G2H_MEMSTATS_HEAP_RELEASED],
                   held = numbers[G2H_MEMSTATS_SYS] - released,
                   objects = numbers[G2H_MEMSTATS_HEAP_ALLOC],
                   heap = numbers[G2H_MEMSTATS_HEAP_SYS] - released,
                   unused = heap > objects ? heap - objects : 0,
                   stacks = numbers[G2H_MEMSTATS_STACK_SYS], known = objects + unused + stacks;
    /* Of a process that is there, RSS says the same in more detail. */
    PAGE_PUT(report->page,
             is_resident_known(report)
                 ? NULL
                 : "  process has %: objects %, free %, stacks %, runtime %\n",
             page_bytes("bytes", held), page_bytes("objects", objects), page_bytes("free", unused),
             page_bytes("stacks", stacks), page_bytes("runtime", held > known ? held - known : 0));
    put_memstats(report, numbers);
}

/* ---- RSS ---- */

static uint64_t percent(uint64_t bytes, uint64_t whole)
{
    return whole / 100 > 0 ? bytes / (whole / 100) : 0;
}

/* Returns what a part is called: without the runtime's counters, its own memory is not known. */
static struct page_field name_of(const struct g2h_memory *memory, int part)
{
    return page_words(NULL, part == G2H_MEMORY_C && !memory->has_counters
                                ? "runtime, C and other anonymous memory"
                                : parts[part].name);
}

/* Puts the files that have most: " (bolt.db 610 MB, index 2 MB)". Paths are private if texts are.
 */
static void put_files(const struct report *report)
{
    const struct g2h_memory *memory = report->memory;
    struct page *page = report->page;
    const bool is_private = g2h_view_is_redacted(report->view);
    if (memory->file_count == 0 || is_private)
        return;
    page_say(page, " (");
    for (size_t i = 0; i < memory->file_count && i < MOST_FILES; i++) {
        const struct g2h_mapped_file *file = &memory->files[i];
        const char *slash = __builtin_strrchr(file->path, '/');
        page_say(page, i > 0 ? ", " : "");
        PAGE_PUT(page, "% %", page_words(NULL, slash ? slash + 1 : file->path),
                 page_bytes(NULL, file->resident));
    }
    page_say(page, memory->file_count > MOST_FILES ? ", …)" : ")");
}

static void put_data(const struct report *report)
{
    const struct g2h_memory *memory = report->memory;
    struct page *page = report->page;
    page_open(page, "parts");
    for (int i = 0; i < G2H_MEMORY_PARTS; i++)
        PAGE_DATA(page, page_bytes(parts[i].key, memory->parts[i]));
    page_close(page);
    page_open_list(page, "files");
    for (size_t i = 0; i < memory->file_count && !g2h_view_is_redacted(report->view); i++) {
        page_open(page, NULL);
        PAGE_DATA(page, page_words("path", memory->files[i].path),
                  page_bytes("bytes", memory->files[i].resident));
        page_close(page);
    }
    page_close(page);
}

/* Puts "RSS 678 MB: objects 2 MB, mapped files 610 MB (bolt.db 610 MB), …"; parts that are small
 * are one. */
static void put_resident(const struct report *report)
{
    const struct g2h_memory *memory = report->memory;
    struct page *page = report->page;
    uint64_t left = memory->resident;
    bool is_first = true;
    page_open(page, "rss");
    PAGE_PUT(page, "  RSS %:", page_bytes("bytes", memory->resident));
    for (int i = 0; i < G2H_MEMORY_PARTS; i++) {
        if (i != G2H_MEMORY_OBJECTS && percent(memory->parts[i], memory->resident) < SHOWN_OF_RSS)
            continue;
        PAGE_PUT(page, is_first ? " % %" : ", % %", name_of(memory, i),
                 page_bytes(NULL, memory->parts[i]));
        if (i == G2H_MEMORY_FILES)
            put_files(report);
        left -= memory->parts[i];
        is_first = false;
    }
    if (left > 0)
        PAGE_PUT(page, ", else %", page_bytes(NULL, left));
    page_say(page, "\n");
    put_data(report);
    page_close(page);
}

void report_put_memory(const struct report *report)
{
    const uint64_t *numbers = numbers_of(report);
    if (!numbers && !is_resident_known(report))
        return;
    page_open(report->page, "process");
    if (is_resident_known(report))
        put_resident(report);
    if (numbers)
        put_from_system(report, numbers);
    page_close(report->page);
}

/* ---- the suspect ---- */

/* Returns the part that is largest but for objects and programs. */
static enum g2h_memory_part largest(const struct g2h_memory *memory)
{
    int most = G2H_MEMORY_SLOTS;
    for (int i = G2H_MEMORY_SLOTS; i < G2H_MEMORY_PARTS; i++)
        if (parts[i].meaning && memory->parts[i] > memory->parts[most])
            most = i;
    return (enum g2h_memory_part)most;
}

struct g2h_error *report_put_outside(const struct report *report, bool *ret)
{
    const struct g2h_memory *memory = report->memory;
    struct page *page = report->page;
    *ret = false;
    if (!is_resident_known(report) || report->base)
        return NULL;
    const enum g2h_memory_part part = largest(memory);
    const uint64_t bytes = memory->parts[part],
                   outside = memory->resident - memory->parts[G2H_MEMORY_OBJECTS];
    if (bytes < LEAST_OUTSIDE || percent(bytes, memory->resident) < LARGE_PART ||
        percent(outside, memory->resident) < OUTSIDE_OF_RSS)
        return NULL;
    page_open(page, NULL);
    PAGE_PUT(page, "  1  %  % of RSS        %", page_wide(page_bytes("bytes", bytes), 9),
             page_wide(page_percent(bytes, memory->resident), 5),
             page_strong(name_of(memory, (int)part)));
    if (part == G2H_MEMORY_FILES)
        put_files(report);
    PAGE_PUT(page, ", no objects: all objects are %\n",
             page_bytes(NULL, memory->parts[G2H_MEMORY_OBJECTS]));
    PAGE_DATA(page, page_words("meaning", parts[part].meaning));
    page_say(page, MEANING);
    page_wrap(page, parts[part].meaning, sizeof(MEANING) - 1);
    PAGE_DATA(page, page_words("part", parts[part].key), page_flag("is_outside", true));
    TRY(report_put_pointers(report, part));
    page_close(page);
    *ret = true;
    return NULL;
}
