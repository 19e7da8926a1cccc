/*
 * coded: the types of words according to the program's code (exe/go/flow.h).
 *
 * Different pieces of evidence must agree: if two disagree about a word, its type is unknown. A
 * receiver may be the first part of a larger value, which other evidence shows.
 */
#ifndef TYPING_CODED_H
#define TYPING_CODED_H

#include "exe/go/static_words.h"
#include "typing/typer.h"

/* What a word is, according to the code. */
struct word_type {
    enum word_is {
        WORD_IS_UNKNOWN,
        WORD_POINTS_TO,      /* a pointer to a value of the type */
        WORD_POINTS_TO_MANY, /* a pointer to an array of values */
        WORD_IS_VALUE,       /* a value of the type, or the first word of one */
    } is;
    uint32_t type;
    bool is_receiver; /* it is a receiver, or is stored as a pointer to the type: the value that it
                         points to may begin a larger one */
};

enum { SEVERAL_INSTANCES = TYPE_NONE - 1 }; /* no type has this number */

/* The code's evidence about words, in the form that this module needs. */
struct coded {
    const struct typing *typing;
    struct flow flow;
    struct map by_name;    /* string → type */
    struct map by_generic; /* hash of a name up to its arguments, "main.stack[" → the only such
                              type; or SEVERAL_INSTANCES */
};

/* Error: G2H_ERROR_MEMORY. */
struct g2h_error *coded_init(struct coded *coded, const struct typing *typing);
void coded_deinit(struct coded *coded);

/* Returns the meaning of one piece of evidence. */
struct word_type coded_type(const struct coded *coded, const struct code_evidence *evidence);

/* Combines two pieces of evidence about one word. *all is WORD_IS_UNKNOWN at first. Returns false
 * if they contradict each other. */
bool coded_agree(const struct typing *typing, struct word_type *all, struct word_type one);

/* Combines all evidence about one word, from an index in words->words on: *ret is unknown if two
 * pieces contradict each other. Returns the index after this evidence. */
size_t coded_together(const struct coded *coded, const struct static_words *words, size_t first,
                      struct word_type *ret);

/* Adds a reference to the target of a word. at is the word's position in an extent. */
void coded_refer(struct typer *typer, struct word_type type, const uint8_t *at,
                 const struct extent *extent);

#endif
