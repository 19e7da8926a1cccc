/*
 * coded: the types of words by what the program's code says of them (exe/go/flow.h).
 *
 * Evidence of different places must agree: of words about which two places disagree no type is
 * known. A receiver may be the first part of a larger value, which other evidence tells.
 */
#ifndef TYPING_CODED_H
#define TYPING_CODED_H

#include "exe/go/static_words.h"
#include "typing/typer.h"

/* What a word is. */
struct word_type {
    enum word_is {
        WORD_IS_UNKNOWN,
        WORD_POINTS_TO,      /* a pointer to a value of the type */
        WORD_POINTS_TO_MANY, /* a pointer to an array of values */
        WORD_IS_VALUE,       /* a value of the type, or the first word of one */
    } is;
    uint32_t type;
    bool is_receiver; /* it is one, or is stored as a pointer to the type: the value that it points
                         to may begin a larger one */
};

/* Words of the code, as this module sees them. */
struct coded {
    const struct typing *typing;
    struct flow flow;
    struct map by_name; /* string → type */
};

/* Error: G2H_ERROR_MEMORY. */
struct g2h_error *coded_init(struct coded *coded, const struct typing *typing);
void coded_deinit(struct coded *coded);

/* Returns what one piece of evidence says. */
struct word_type coded_type(const struct coded *coded, const struct code_evidence *evidence);

/* Combines what two pieces of evidence say of one word. *all is WORD_IS_UNKNOWN at first. Returns
 * false if they contradict each other. */
bool coded_agree(const struct typing *typing, struct word_type *all, struct word_type one);

/* Takes together all evidence of one word, from an index in words->words on: *ret is unknown if two
 * pieces contradict each other. Returns the index behind this evidence. */
size_t coded_together(const struct coded *coded, const struct static_words *words, size_t first,
                      struct word_type *ret);

/* Adds a reference to what a word points to. at is the word's place in an extent. */
void coded_refer(struct typer *typer, struct word_type type, const uint8_t *at,
                 const struct extent *extent);

#endif
