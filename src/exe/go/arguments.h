/*
 * arguments: the code's evidence about the arguments of functions and the words they point to, and
 * which words of data and bss are passed as these arguments: insert(&tree, key), counters.add(key).
 *
 * The receivers of all methods of a type count as one argument. Arguments that a function passes on
 * are followed through one more call.
 */
#ifndef EXE_GO_ARGUMENTS_H
#define EXE_GO_ARGUMENTS_H

#include "base/map.h"
#include "exe/go/static_words.h"

/* A word that comes from an argument. */
struct argument_source {
    uint32_t argument; /* its number, for all functions */
    enum argument_part {
        ARGUMENT_ADDRESS, /* the argument plus the offset */
        ARGUMENT_FIELD,   /* the word at the offset in the memory that the argument points to */
    } part;
    uint64_t offset;
};

struct argument_fact {
    struct argument_source source;
    struct code_evidence evidence;
};

/* An argument that is passed on as an argument. */
struct argument_pass {
    struct argument_source from;
    uint32_t to;
};

/* A word of data or bss that is passed, or whose address is. */
struct argument_word {
    struct static_word word; /* without evidence */
    uint32_t to;
};

struct arguments {
    const struct flow *flow;
    struct map first_method; /* hash of a type's name → index of its first method in the pclntab;
                                the names are compared */
    VECTOR(struct argument_fact) facts;
    VECTOR(struct argument_pass) passes;
    VECTOR(struct argument_word) words;
};

/* Adds the evidence in the function that was read last about its arguments, and its passes. *left:
 * how many pieces of evidence may still be added. Returns false if memory runs out. */
bool arguments_add(struct arguments *arguments, uint64_t *left);

/* Adds to words->words the evidence about the words that are passed, when all functions have been
 * read. Returns false if memory runs out. */
bool arguments_join(struct arguments *arguments, uint64_t *left, struct static_words *words);
void arguments_deinit(struct arguments *arguments);

#endif
