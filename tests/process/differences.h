/*
 * differences: finds the differences of two dumps of the same moment, record by record and byte by
 * byte.
 */
#ifndef PROCESS_TESTS_DIFFERENCES_H
#define PROCESS_TESTS_DIFFERENCES_H

#include <stdio.h>

#include "listing.h"

/* Memory that may have changed between the two dumps: words in it that differ are counted, but are
 * no differences. */
struct moving {
    uint64_t begin, end; /* addresses of the process */
    const char *name;
    uint64_t words; /* how many differ */
};

/* A symbol of the executable: for messages, and to find the variables that may change. */
struct symbol {
    uint64_t address, size; /* of the file; compare() changes the address to that in the process */
    const char *name;
};

struct comparison {
    /* The input. */
    struct listing ours, reference;
    VECTOR(struct symbol) symbols;  /* ascending */
    VECTOR(const char *) variables; /* names of variables that may change */
    bool threads_move;              /* the runtime's Ms and their g0s may change too */
    bool is_stripped;               /* ours lacks the number of processors */
    bool is_cut;                    /* the reference ends behind data and bss */
    bool both_by_program; /* WriteHeapDump wrote ours too: it has phantoms and all memstats */
    uint64_t most;        /* how many differences of a kind are reported */
    FILE *report;         /* NULL if none is reported */
    /* The results. */
    uint64_t differences[G2H_RECORD_KINDS], same[G2H_RECORD_KINDS];
    uint64_t stack_words; /* words of frames that only ours lists */
    uint64_t others;      /* differences that are in no record: the order, the sums */
    VECTOR(struct moving) moving;
};

/* Compares the dumps. Error: G2H_ERROR_MEMORY. */
struct g2h_error *compare(struct comparison *comparison);
void comparison_deinit(struct comparison *comparison);

/* Returns the number of differences. */
uint64_t comparison_differences(const struct comparison *comparison);

#endif
