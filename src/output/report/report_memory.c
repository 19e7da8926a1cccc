/*
 * report_memory: the section of a report about the memory that the process had from the system: by
 * the runtime's own statistics (MemStats), by its resident memory if that is known (RSS), and how
 * both have grown since the base. If most of it is outside of the heap, that is the first suspect
 * (report_put_outside). See sections.h.
 */
#include "findings/growth.h"
#include "findings/memory_use.h"

#include "base/contract.h"
#include "base/error.h"
#include "output/report/sections.h"

enum {
    MOST_FILES = 3,         /* mapped files that a line names */
    LEAST_GROWTH = 1000000, /* bytes of RSS outside of the heap: less is noise */
    SHOWN_OF_RSS = 1,       /* percent of RSS that a part has at least to be shown */
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

/* Adds the runtime's MemStats to JSON. */
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
    PUT(report->page, "<memstats>");
    for (size_t i = 0; i < COUNT_OF(members); i++)
        PUT(report->page, "|%b{*}", numbers[members[i].number], members[i].key);
    PUT(report->page, "</>");
}

/* Reports the memory that the process had from the system and its uses, in text only if RSS does
 * not say the same. */
static void put_from_system(const struct report *report, const uint64_t *numbers)
{
    const struct memory_use use = memory_use_of(numbers);
    const bool is_complete = g2h_heap_is_complete(g2h_view_heap(report->findings->view));
    /* For a live process, RSS says the same in more detail, but not what is missing. */
    PUT_IF(
        !memory_has_resident(report->findings) || !is_complete, report->page,
        is_complete
            ? "  process has %b{bytes}: objects %b{objects}, free %b{free}, stacks %b{stacks}, "
              "runtime %b{runtime}\n"
            : "  process has %b{bytes}: objects %b{objects} or more, free %b{free} or less, stacks "
              "%b{stacks}, runtime %b{runtime}\n",
        use.bytes, use.objects, use.free, use.stacks, use.runtime);
    report_memory_put_memstats(report, numbers);
}

/* ---- RSS ---- */

/* Returns the name of a part: without the runtime's counters, its own memory is not known. */
static const char *name_of_part(const struct g2h_memory *memory, int part)
{
    return part == G2H_MEMORY_C && !memory->has_counters ? "runtime, C and other anonymous memory"
                                                         : parts[part].name;
}

/* Reports the largest MOST_FILES files: " (bolt.db 610 MB, index 2 MB)". Paths are private if
 * strings are. */
static void put_files(const struct report *report)
{
    const struct g2h_memory *memory = report->findings->memory;
    if (memory->file_count == 0 || g2h_view_is_redacted(report->findings->view))
        return;
    for (size_t i = 0; i < memory->file_count && i < MOST_FILES; i++)
        PUT(report->page, "%s%s %b", i == 0 ? " (" : ", ",
            bytes_base_name(bytes_of(memory->files[i].path)), memory->files[i].resident);
    PUT(report->page, memory->file_count > MOST_FILES ? ", …)" : ")");
}

/* Reports "RSS 678 MB: objects 2 MB, mapped files 610 MB (bolt.db 610 MB), …"; small parts are
 * merged. In JSON all parts and files are there, the files' names unless texts are hidden. */
static void report_memory_put_resident(const struct report *report)
{
    const struct g2h_memory *memory = report->findings->memory;
    struct page *page = report->page;
    uint64_t left = memory->resident;
    PUT(page, "<rss>  RSS %b{bytes}:", memory->resident);
    for (int i = 0, shown = 0; i < G2H_MEMORY_PARTS; i++) {
        if (i != G2H_MEMORY_OBJECTS &&
            memory_percent(memory->parts[i], memory->resident) < SHOWN_OF_RSS)
            continue;
        PUT(page, "%s %s %b", shown++ > 0 ? "," : "", name_of_part(memory, i), memory->parts[i]);
        if (i == G2H_MEMORY_FILES)
            put_files(report);
        left -= memory->parts[i];
    }
    PUT(page, "%s%?b\n<parts>", left > 0 ? ", else " : "", left > 0, left);
    for (int i = 0; i < G2H_MEMORY_PARTS; i++)
        PUT(page, "|%b{*}", memory->parts[i], parts[i].key);
    PUT(page, "</>[files]");
    for (size_t i = 0; i < memory->file_count && !g2h_view_is_redacted(report->findings->view); i++)
        PUT(page, "|<>%s{path}%b{bytes}</>", memory->files[i].path, memory->files[i].resident);
    PUT(page, "[/]</>");
}

/* Reports how much garbage the collector allows until it begins again, or that GOGC is off, and the
 * memory limit if there is one; nothing if the dump does not say. */
static void put_collector(const struct report *report)
{
    const struct g2h_collector *collector =
        g2h_heap_collector(g2h_view_heap(report->findings->view));
    struct page *page = report->page;
    if (!collector)
        return;
    PUT(page, "<collector>  collector   %b{live} alive after the last collection",
        collector->marked);
    if (collector->is_off)
        page_say(page, ", GOGC=off");
    else
        PUT(page, ", the next at %b{goal}: up to %b{garbage} of garbage, GOGC=%n{gogc}",
            collector->goal, collector->goal - collector->marked, collector->gogc);
    if (collector->limit > 0)
        PUT(page, ", GOMEMLIMIT %b{limit}", collector->limit);
    PUT(page, "</>\n");
}

/* Writes the memory that the process had from the system. Nothing if neither the resident memory
 * nor the runtime's numbers are known. */
void report_put_memory(const struct report *report)
{
    const uint64_t *numbers = memory_stats(report->findings);
    if (!numbers && !memory_has_resident(report->findings))
        return;
    PUT(report->page, "<process>");
    if (memory_has_resident(report->findings))
        report_memory_put_resident(report);
    if (numbers)
        put_from_system(report, numbers);
    put_collector(report);
    PUT(report->page, "</>");
}

/* ---- growth ---- */

/* Returns the bytes of RSS that are the Go heap: objects, and memory for more of them. */
static uint64_t in_heap(const struct g2h_memory *memory)
{
    return memory->parts[G2H_MEMORY_OBJECTS] + memory->parts[G2H_MEMORY_SLOTS] +
           memory->parts[G2H_MEMORY_FREE];
}

/* Names the parts outside of the heap that grew by LEAST_GROWTH or more, the one that grew most
 * first. */
static void put_grown_parts(const struct report *report, const struct g2h_memory *before)
{
    const struct g2h_memory *memory = report->findings->memory;
    bool is_named[G2H_MEMORY_PARTS] = {false};
    const char *between = ": ";
    for (;;) {
        int most = -1;
        int64_t growth = LEAST_GROWTH - 1;
        for (int i = G2H_MEMORY_STACKS; i < G2H_MEMORY_PARTS; i++) {
            const int64_t grown = as_growth(before->parts[i], memory->parts[i]);
            if (!is_named[i] && grown > growth) {
                most = i;
                growth = grown;
            }
        }
        if (most < 0)
            break;
        is_named[most] = true;
        PUT(report->page, "%s%s %d", between, name_of_part(memory, most), growth);
        between = ", ";
    }
}

/* Returns by how much the memory outside of the Go heap has grown since the base; 0: by less than
 * LEAST_GROWTH, or not known. */
uint64_t report_grown_outside(const struct report *report)
{
    const struct g2h_memory *before = &growth_totals(report->findings->base)->memory;
    if (!memory_has_resident(report->findings) || before->resident == 0)
        return 0;
    const struct g2h_memory *memory = report->findings->memory;
    const int64_t grown =
        as_growth(in_heap(memory), memory->resident) - as_growth(in_heap(before), before->resident);
    return grown >= LEAST_GROWTH ? (uint64_t)grown : 0;
}

/* Reports how the memory has grown since the base. Returns false, and reports nothing, unless the
 * resident memory of both is known. */
bool report_put_memory_growth(const struct report *report)
{
    const struct g2h_memory *memory = report->findings->memory,
                            *before = &growth_totals(report->findings->base)->memory;
    struct page *page = report->page;
    if (!memory_has_resident(report->findings) || before->resident == 0)
        return false;
    const uint64_t outside = memory->resident - in_heap(memory),
                   outside_before = before->resident - in_heap(before);
    PUT(page, "<rss_growth>  RSS %d{bytes}, to %b: objects %d{objects}, free heap %d{free}\n",
        memory->resident - before->resident, memory->resident,
        memory->parts[G2H_MEMORY_OBJECTS] - before->parts[G2H_MEMORY_OBJECTS],
        in_heap(memory) - memory->parts[G2H_MEMORY_OBJECTS] - in_heap(before) +
            before->parts[G2H_MEMORY_OBJECTS]);
    PUT(page, "|%d{outside}|", outside - outside_before);
    if (report_grown_outside(report) > 0) {
        PUT(page, "  outside the Go heap grew by %b", report_grown_outside(report));
        put_grown_parts(report, before);
        page_say(page, "\n");
    }
    PUT(page, "<parts>");
    for (int i = 0; i < G2H_MEMORY_PARTS; i++)
        PUT(page, "|%d{*}", memory->parts[i] - before->parts[i], parts[i].key);
    PUT(page, "</></>");
    return true;
}

/* ---- the suspect ---- */

/* Reports which fields and variables point to mappings of a part. Nothing for parts other than
 * files and memory of C. */
static struct g2h_error *report_memory_put_pointers(const struct report *report,
                                                    enum g2h_memory_part part)
{
    _cleanup_(outside_holders_deinit) struct outside_holders holders = {.count = 0};
    if (part != G2H_MEMORY_FILES && part != G2H_MEMORY_C)
        return NULL;
    TRY(outside_holders_find(report->findings, part, &holders));
    PUT(report->page, "[pointed_to_by]");
    for (size_t i = 0; i < holders.count; i++)
        PUT(report->page, "%s<>%s{place} (%b{bytes})</>", i == 0 ? "      pointed to by " : ", ",
            &holders.list[i].name, holders.list[i].bytes);
    PUT(report->page, holders.count > 0 ? "[/]\n" : "[/]");
    return NULL;
}

/* If most of the resident memory is outside of the heap, reports that as the first suspect; *ret
 * becomes whether it is. */
struct g2h_error *report_put_outside(const struct report *report, bool *ret)
{
    const struct g2h_memory *memory = report->findings->memory;
    struct page *page = report->page;
    enum g2h_memory_part part;
    *ret = memory_is_outside(report->findings, &part);
    if (!*ret)
        return NULL;
    const uint64_t bytes = memory_beside(report->findings, part);
    PUT(page, "<>  1  %9b{bytes}  %5p of RSS        %#s", bytes, bytes, memory->resident,
        name_of_part(memory, (int)part));
    if (part == G2H_MEMORY_FILES)
        put_files(report);
    PUT(page, ", no objects: all objects are %b\n|%s{meaning}|" MEANING,
        memory->parts[G2H_MEMORY_OBJECTS], parts[part].meaning);
    page_wrap(page, parts[part].meaning, sizeof(MEANING) - 1);
    PUT(page, "|%s{part}%f{is_outside}", parts[part].key, true);
    TRY(report_memory_put_pointers(report, part));
    PUT(page, "</>");
    return NULL;
}
