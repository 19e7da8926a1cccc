/*
 * static_words: what the code of all functions says of the words of data and bss, for executables
 * that have no symbols: of which types they are, and which functions set and use them.
 */
#ifndef EXE_GO_STATIC_WORDS_H
#define EXE_GO_STATIC_WORDS_H

#include "base/map.h"
#include "exe/go/flow.h"

/* Evidence of what a word is: what enum flow_fact_kind says of a value; or, of such a value, the
 * word at an offset in the memory that it points to, and so on for each step. */
enum { CODE_STEPS = 2 };

struct code_evidence {
    uint8_t kind; /* enum flow_fact_kind */
    uint8_t step_count;
    bool is_stored;            /* the value is stored into the word that the steps lead to */
    uint64_t what, dictionary; /* as in struct flow_fact */
    uint64_t steps[CODE_STEPS];
};

/* Gets the evidence on a value of the function that was read last. fact: the first of the value's
 * own facts, as an index; NONE: the value comes from another one that has facts. Returns false if
 * there is none. */
bool flow_evidence(const struct flow *flow, uint32_t value, uint32_t fact,
                   struct code_evidence *ret);

int compare_evidence(const void *a, const void *b);

struct static_word {
    uint64_t address; /* in the file */
    enum static_word_kind {
        STATIC_WORD,    /* the evidence is about the word */
        STATIC_ELEMENT, /* about the word in each element of an array, of which this is the first */
        STATIC_FIELD,   /* about the word at an offset in the memory that the word points to */
        STATIC_VALUE,   /* the word's address is a value of which is said to what it points */
    } kind;
    uint64_t offset; /* STATIC_FIELD; STATIC_ELEMENT: distance of the elements */
    struct code_evidence evidence;
};

/* Gets the word of data or bss that a value comes from, or that it is the address of. Returns false
 * if there is none. */
bool static_word_of(const struct flow *flow, uint32_t value, struct static_word *ret);

/* Compares by address, kind, offset and evidence. */
int compare_static_words(const void *a, const void *b);

/* The function that tells best whose variable a word is: one that sets it, rather than one that
 * initializes or uses it. */
struct static_user {
    uint64_t address;  /* of the word */
    uint32_t function; /* index in the pclntab */
    uint32_t at;       /* of the instruction, as a distance from the function's start */
    uint32_t distance; /* some code uses the word as one in an element of an array, whose elements
                          are this many bytes apart; 0: none does */
    bool is_address;   /* some code takes the word's address, so that it begins a variable */
    enum { STATIC_USED, STATIC_INITIALIZED, STATIC_SET } how;
};

struct static_words {
    VECTOR(struct static_word)
    words; /* ascending by address; all evidence that there is, each once */
    VECTOR(struct static_user) users; /* ascending by address, one for each word */
};

/* Reads all functions. The cost is in proportion to the text. Error: G2H_ERROR_MEMORY. */
struct g2h_error *static_words_find(struct flow *flow, struct static_words *ret);
void static_words_deinit(struct static_words *words);

#endif
