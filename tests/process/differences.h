/*
 * differences: what two dumps of the same moment do not have in common, record by record and byte
 * by byte.
 */
#ifndef PROCESS_TESTS_DIFFERENCES_H
#define PROCESS_TESTS_DIFFERENCES_H

#include <stdio.h>

#include "listing.h"

/* Memory that may have changed between the two: words of it count, and are no differences. */
struct moving {
    uint64_t begin, end; /* addresses of the process */
    const char *name;
    uint64_t words; /* that differ */
};

/* A symbol of the executable: for what is said, and for which variables may change. */
struct symbol {
    uint64_t address, size; /* of the file */
    const char *name;
};

struct comparison {
    /* What is asked for. */
    struct listing ours, reference;
    VECTOR(struct symbol) symbols;  /* ascending */
    VECTOR(const char *) variables; /* names of those that may change */
    bool threads_move;              /* so may the runtime's threads: Ms, and their own stacks' gs */
    bool is_stripped;               /* ours does not know the number of processors */
    bool is_cut;                    /* the reference ends behind data and bss */
    bool both_by_program; /* ours is one of WriteHeapDump's too, with phantoms and all memstats */
    uint64_t most;        /* differences of a kind that are told */
    FILE *report;         /* NULL: none is told */
    /* What comes out. */
    uint64_t differences[G2H_RECORD_KINDS], same[G2H_RECORD_KINDS];
    uint64_t stack_words; /* of frames, that only ours lists */
    uint64_t others;      /* of what is no record's: their order, the sums */
    VECTOR(struct moving) moving;
};

/* Compares. Error: G2H_ERROR_MEMORY. */
struct g2h_error *compare(struct comparison *comparison);
void comparison_deinit(struct comparison *comparison);

/* How many differences there are. */
uint64_t comparison_differences(const struct comparison *comparison);

#endif
