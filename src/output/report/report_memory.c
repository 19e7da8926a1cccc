/* report_memory: the memory that the process had from the system, and its uses; see sections.h. */
#include "findings/memory_use.h"

#include "base/scope.h"
#include "findings/outside_holders.h"
#include "output/report/sections.h"

enum {
    MOST_FILES = 3,   /* mapped files that a line names */
    SHOWN_OF_RSS = 1, /* percent of RSS that a part has at least to be shown */
};

#define MEANING "      meaning     "

/* The name of a part, in text and in JSON, and what it means if it is large. */
static const struct report_memory_part {
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

static void report_memory_put_memstats(const struct report *report, const uint64_t *numbers)
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

static void put_from_system(const struct report *report, const uint64_t *numbers)
{
    const struct memory_use use = memory_use_of(numbers);
    const bool is_complete = g2h_heap_is_complete(g2h_view_heap(report->findings->view));
    /* For a live process, RSS says the same in more detail. */
    PAGE_PUT(report->page,
             memory_has_resident(report->findings) ? NULL
             : is_complete
                 ? "  process has %: objects %, free %, stacks %, runtime %\n"
                 : "  process has %: objects % or more, free % or less, stacks %, runtime %\n",
             page_bytes("bytes", use.bytes), page_bytes("objects", use.objects),
             page_bytes("free", use.free), page_bytes("stacks", use.stacks),
             page_bytes("runtime", use.runtime));
    report_memory_put_memstats(report, numbers);
}

/* ---- RSS ---- */

/* Returns the name of a part: without the runtime's counters, its own memory is not known. */
static struct page_field report_memory_name_of(const struct g2h_memory *memory, int part)
{
    return page_words(NULL, part == G2H_MEMORY_C && !memory->has_counters
                                ? "runtime, C and other anonymous memory"
                                : parts[part].name);
}

/* Reports the largest files: " (bolt.db 610 MB, index 2 MB)". Paths are private if strings are. */
static void put_files(const struct report *report)
{
    const struct g2h_memory *memory = report->findings->memory;
    struct page *page = report->page;
    const bool is_private = g2h_view_is_redacted(report->findings->view);
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

static void report_memory_put_data(const struct report *report)
{
    const struct g2h_memory *memory = report->findings->memory;
    struct page *page = report->page;
    page_open(page, "parts");
    for (int i = 0; i < G2H_MEMORY_PARTS; i++)
        PAGE_DATA(page, page_bytes(parts[i].key, memory->parts[i]));
    page_close(page);
    page_open_list(page, "files");
    for (size_t i = 0; i < memory->file_count && !g2h_view_is_redacted(report->findings->view);
         i++) {
        page_open(page, NULL);
        PAGE_DATA(page, page_words("path", memory->files[i].path),
                  page_bytes("bytes", memory->files[i].resident));
        page_close(page);
    }
    page_close(page);
}

/* Reports "RSS 678 MB: objects 2 MB, mapped files 610 MB (bolt.db 610 MB), …"; small parts are
 * merged. */
static void report_memory_put_resident(const struct report *report)
{
    const struct g2h_memory *memory = report->findings->memory;
    struct page *page = report->page;
    uint64_t left = memory->resident;
    bool is_first = true;
    page_open(page, "rss");
    PAGE_PUT(page, "  RSS %:", page_bytes("bytes", memory->resident));
    for (int i = 0; i < G2H_MEMORY_PARTS; i++) {
        if (i != G2H_MEMORY_OBJECTS &&
            memory_percent(memory->parts[i], memory->resident) < SHOWN_OF_RSS)
            continue;
        PAGE_PUT(page, is_first ? " % %" : ", % %", report_memory_name_of(memory, i),
                 page_bytes(NULL, memory->parts[i]));
        if (i == G2H_MEMORY_FILES)
            put_files(report);
        left -= memory->parts[i];
        is_first = false;
    }
    if (left > 0)
        PAGE_PUT(page, ", else %", page_bytes(NULL, left));
    page_say(page, "\n");
    report_memory_put_data(report);
    page_close(page);
}

void report_put_memory(const struct report *report)
{
    const uint64_t *numbers = memory_stats(report->findings);
    if (!numbers && !memory_has_resident(report->findings))
        return;
    page_open(report->page, "process");
    if (memory_has_resident(report->findings))
        report_memory_put_resident(report);
    if (numbers)
        put_from_system(report, numbers);
    page_close(report->page);
}

/* ---- the suspect ---- */

/* Reports which fields and variables point to mappings of a part. */
static struct g2h_error *report_memory_put_pointers(const struct report *report,
                                                    enum g2h_memory_part part)
{
    _cleanup_(outside_holders_deinit) struct outside_holders holders = {.count = 0};
    struct page *page = report->page;
    if (part != G2H_MEMORY_FILES && part != G2H_MEMORY_C)
        return NULL;
    TRY(outside_holders_find(report->findings, part, &holders));
    page_open_list(page, "pointed_to_by");
    for (size_t i = 0; i < holders.count; i++) {
        page_say(page, i == 0 ? "      pointed to by " : ", ");
        page_open(page, NULL);
        PAGE_PUT(page, "% (%)", page_made("place", &holders.list[i].name),
                 page_bytes("bytes", holders.list[i].bytes));
        page_close(page);
    }
    page_close(page);
    page_say(page, holders.count > 0 ? "\n" : "");
    return NULL;
}

struct g2h_error *report_put_outside(const struct report *report, bool *ret)
{
    const struct g2h_memory *memory = report->findings->memory;
    struct page *page = report->page;
    enum g2h_memory_part part;
    *ret = false;
    if (!memory_is_outside(report->findings, &part))
        return NULL;
    const uint64_t bytes = memory->parts[part];
    page_open(page, NULL);
    PAGE_PUT(page, "  1  %  % of RSS        %", page_wide(page_bytes("bytes", bytes), 9),
             page_wide(page_percent(bytes, memory->resident), 5),
             page_strong(report_memory_name_of(memory, (int)part)));
    if (part == G2H_MEMORY_FILES)
        put_files(report);
    PAGE_PUT(page, ", no objects: all objects are %\n",
             page_bytes(NULL, memory->parts[G2H_MEMORY_OBJECTS]));
    PAGE_DATA(page, page_words("meaning", parts[part].meaning));
    page_say(page, MEANING);
    page_wrap(page, parts[part].meaning, sizeof(MEANING) - 1);
    PAGE_DATA(page, page_words("part", parts[part].key), page_flag("is_outside", true));
    TRY(report_memory_put_pointers(report, part));
    page_close(page);
    *ret = true;
    return NULL;
}
