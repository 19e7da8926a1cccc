/* corpus_heap: the heap of the corpus, with its types, that all inputs of a target ask about. */
#ifndef CORPUS_HEAP_H
#define CORPUS_HEAP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../conversion.h"
#include "check.h"
#include "fuzz_target.h"
#include "pair.h"

struct corpus_heap {
    struct g2h_input *input;
    struct g2h_exe *exe;
    struct g2h_heap *heap;
    struct conversion conversion;
};

/* Ends the process, with what it says, if there is an error. */
static inline void must(struct g2h_error *error)
{
    if (error)
        fprintf(stderr, "%s\n", error->message);
    CHECK(!error);
}

/* Opens the heap, which stays. */
static inline void corpus_heap_open(struct corpus_heap *ret)
{
    enum { LARGEST = 1 << 20 };
    char path[FUZZ_PATH];
    FILE *from = fopen(FUZZ_CORPUS "/exe/elf-64-1.27", "rb");
    uint8_t *data = malloc(LARGEST); /* the input is in it */
    CHECK(from && data);
    const size_t size = fread(data, 1, LARGEST, from), exe_size = pair_split(data, size);
    fclose(from);
    const int file = fuzz_file(data, exe_size, path);
    must(g2h_input_from_memory("fuzz", data + exe_size, size - exe_size, &ret->input));
    must(g2h_heap_load(ret->input, &(struct g2h_heap_options){.threads = 1}, &ret->heap));
    must(g2h_exe_open(path, &ret->exe));
    must(g2h_exe_match(ret->exe, ret->heap));
    close(file);
    must(conversion_init(&ret->conversion, ret->heap,
                         &(struct conversion_options){.exe = ret->exe, .threads = 1}));
}

#endif
