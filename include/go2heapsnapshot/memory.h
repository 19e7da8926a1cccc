/*
 * Breakdown of a live process's resident memory: RSS, as top shows it, and its parts.
 *
 * /proc/PID/smaps has the resident size of each mapping, the page map which pages of the Go heap
 * are resident, and the runtime's own counters (those of runtime.MemStats) how much of the rest is
 * the runtime's. The parts add up to RSS.
 */
#ifndef GO2HEAPSNAPSHOT_MEMORY_H
#define GO2HEAPSNAPSHOT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

enum g2h_memory_part {
    G2H_MEMORY_OBJECTS, /* objects of the Go heap, garbage too */
    G2H_MEMORY_SLOTS,   /* free slots in spans that have objects */
    G2H_MEMORY_FREE,    /* heap without objects that has not been returned to the system */
    G2H_MEMORY_STACKS,  /* goroutines' stacks, and the collector's spans */
    G2H_MEMORY_BUCKETS, /* stacks of the memory, block and mutex profiles: BuckHashSys */
    G2H_MEMORY_SPANS,   /* the descriptions of spans and caches: MSpanSys, MCacheSys */
    G2H_MEMORY_GC,      /* other memory of the collector */
    G2H_MEMORY_RUNTIME, /* other memory that the runtime got from the system: OtherSys */
    G2H_MEMORY_FILES,   /* mapped files and shared memory */
    G2H_MEMORY_C,       /* all other anonymous memory: malloc() of C, mmap() */
    G2H_MEMORY_PROGRAM, /* the executable, its variables, and libraries */
    G2H_MEMORY_PARTS
};

/* A mapped file other than a program. */
struct g2h_mapped_file {
    char *path;
    uint64_t resident;
};

/* A mapping outside of the Go heap and of programs, in addresses of the process. */
struct g2h_mapping {
    uint64_t start, end, resident;
    enum g2h_memory_part part; /* G2H_MEMORY_FILES or G2H_MEMORY_C */
    char *name; /* a file's base name, "[heap]", or NULL if the system has no name for it */
};

struct g2h_memory {
    uint64_t resident; /* RSS; 0: not known, for a core or a dump */
    uint64_t parts[G2H_MEMORY_PARTS];
    bool has_counters;             /* otherwise memory of the runtime counts as G2H_MEMORY_C */
    struct g2h_mapped_file *files; /* largest first */
    size_t file_count;
    struct g2h_mapping *mappings; /* ascending */
    size_t mapping_count;
};

/* What the collector goes by, since its last collection. */
struct g2h_collector {
    bool is_known;   /* only of processes and cores with symbols, after a collection */
    bool is_off;     /* GOGC=off */
    uint64_t gogc;   /* GOGC, in percent */
    uint64_t limit;  /* GOMEMLIMIT; 0: none */
    uint64_t marked; /* bytes that were alive then */
    uint64_t goal;   /* the size of the heap at which GOGC begins the next one; 0: is_off */
};

G2H_PUBLIC void g2h_memory_deinit(struct g2h_memory *memory);

G2H_END

#endif
