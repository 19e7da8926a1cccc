/*
 * static_words: the evidence in the code of all functions about the words of data and bss, for
 * executables that have no symbols: their types, and the functions that set and use them.
 */
#ifndef EXE_GO_STATIC_WORDS_H
#define EXE_GO_STATIC_WORDS_H

#include "base/map.h"
#include "exe/go/flow.h"

/* Evidence of the type of a word: a fact of enum flow_fact_kind about the word or, with steps,
 * about the word at an offset in the memory that it points to, and so on for each step. */
enum { CODE_STEPS = 2 };

struct code_evidence {
    uint8_t kind; /* enum flow_fact_kind */
    uint8_t step_count;
    bool is_stored;            /* the value is stored into the word that the steps lead to */
    uint64_t what, dictionary; /* as in struct flow_fact */
    uint64_t steps[CODE_STEPS];
};

/* Gets the evidence about a value of the function that was read last. fact: the first of the
 * value's own facts, as an index; NONE: the value comes from another one that has facts. Returns
 * false if there is none. */
bool flow_evidence(const struct flow *flow, uint32_t value, uint32_t fact,
                   struct code_evidence *ret);

int compare_evidence(const void *a, const void *b);

struct static_word {
    uint64_t address; /* in the file */
    enum static_word_kind {
        STATIC_WORD,    /* the evidence is about the word */
        STATIC_ELEMENT, /* about the word in each element of an array, of which this is the first */
        STATIC_FIELD,   /* about the word at an offset in the memory that the word points to */
        STATIC_VALUE,   /* about the value that begins at the word, by a pointer to it */
        STATIC_ELEMENT_VALUE, /* about such a value in each element of an array */
        STATIC_INNER, /* about the value at an offset in the memory that the word points to */
    } kind;
    uint64_t offset;         /* STATIC_FIELD, STATIC_INNER */
    struct flow_array array; /* of STATIC_ELEMENT, STATIC_ELEMENT_VALUE; of STATIC_FIELD and
                                STATIC_INNER if it is one that begins at the offset */
    struct flow_array inner; /* in each element: it is about each word or value in that, too */
    struct code_evidence evidence;
};

/* Gets the word of data or bss that a value was loaded from or is the address of. Returns false if
 * there is none. */
bool static_word_of(const struct flow *flow, uint32_t value, struct static_word *ret);

/* Compares by address, kind, offset, distances in arrays, and evidence. */
int compare_static_words(const void *a, const void *b);

/* The function that best identifies the variable of a word: one that sets it, rather than one that
 * uses it, and that rather than one that initializes it, as every "var m = map[K]V{}" is; last, one
 * that only uses it during initialization. Of equal ones the first, but rather none in main.main.
 */
struct static_user {
    uint64_t address;        /* of the word */
    uint32_t function;       /* index in the pclntab */
    uint32_t at;             /* of the instruction, as a distance from the function's start */
    struct flow_array array; /* some code uses the word as one in an element of an array, */
    struct flow_array inner; /* and as one in an element of an array in that */
    bool is_main;            /* the function is main.main, or in it */
    bool is_address;         /* some code takes the word's address, so that it begins a variable */
    enum static_use { STATIC_USED_BY_INIT, STATIC_INITIALIZED, STATIC_USED, STATIC_SET } how;
    bool is_initialized; /* a function that initializes a package uses the word: this is the first,
                            which is most likely of the variable's own package */
    uint32_t initializer, initialized_at; /* as function and at */
};

/* An array of data or bss of which code uses elements by an index, which it compares with the
 * number of them. */
struct static_array {
    uint64_t address; /* in the file; of the first word in the first element that code uses so */
    uint64_t end;     /* the words before it are in the array */
    struct flow_array array;
};

typedef VECTOR(struct static_array) static_array_vector;

/* What the code of a function, and of those that it passes the argument on to, says of an
 * argument. */
struct argument_evidence {
    uint64_t function; /* index in the pclntab */
    uint32_t argument; /* as the number of a FLOW_ARGUMENT */
    struct code_evidence evidence;
};

/* Memory that one variable has at least, because code uses it by one address in data or bss. */
struct static_extent {
    uint64_t address, end; /* in the file */
};

struct static_words {
    VECTOR(struct static_word)
    words;                            /* ascending by address; all evidence, without duplicates */
    VECTOR(struct static_user) users; /* ascending by address, one for each word */
    static_array_vector arrays;       /* ascending, none begins in another */
    static_array_vector inner_arrays; /* the same: those in the first element of an array */
    VECTOR(struct argument_evidence)
    arguments; /* ascending by function and argument; without those of the receivers of methods,
                  whose names say the type */
    VECTOR(struct static_extent)
    extents; /* ascending, none overlaps another: of variables whose
                address is passed to functions */
};

/* Returns the index of the first evidence of an argument, or of what comes after it. */
size_t static_words_of_argument(const struct static_words *words, uint64_t function,
                                uint32_t argument);

/* Reads all functions, in time proportional to the text. Error: G2H_ERROR_MEMORY. */
struct g2h_error *static_words_find(struct flow *flow, struct static_words *ret);
void static_words_deinit(struct static_words *words);

#endif
