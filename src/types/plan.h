/*
 * plan: where in a value of a type its pointers are, and what each of them is.
 *
 * A struct of structs and arrays is flattened into its leaves: pointers, strings, slices,
 * interfaces, maps, channels, functions. The words of a plan are those that the garbage collector
 * looks at, which is what a dump's field lists name: they tell whether a type fits an object.
 * Plans are made when they are first asked for, from then on constant; several threads may ask.
 */
#ifndef TYPES_PLAN_H
#define TYPES_PLAN_H

#include <pthread.h>

#include "types/types.h"

#define LEAF_NONE UINT32_MAX

/* A part of a value that leads elsewhere. Its kind is that of its type: TYPE_POINTER, TYPE_STRING …
 */
struct leaf {
    uint64_t offset;
    uint32_t type;
    bool is_string;
};

struct plan {
    uint64_t size;
    struct leaf *leaves;    /* ascending */
    uint32_t *words;        /* offsets of the words that may be pointers, ascending */
    uint32_t *leaf_of_word; /* by word: the leaf that it is the pointer of, LEAF_NONE */
    uint32_t leaf_count, word_count;
    bool has_strings, has_others; /* among the leaves: strings, which lead to bytes only; others */
    uint8_t *code;                /* the words as a dump's field list has them, without its end */
    uint32_t code_size;           /* bytes */
    bool known; /* false: too large, or too many types are smaller and large as well, or nothing is
                   known of its inside; then it has no leaves and no words */
};

struct plans {
    const struct types *types;
    struct plan **of_type; /* NULL: not asked for yet */
    size_t count;
    bool first_words; /* the first word of an interface is one of those that the collector looks at
                       */
    uint64_t *unplanned; /* a bit per type whose plan would be too large */
    bool failed;         /* there was no memory for one that was asked for */
    pthread_mutex_t mutex;
};

/* types must not change while the plans are in use. Error: G2H_ERROR_MEMORY. */
struct g2h_error *plans_init(struct plans *plans, const struct types *types);
void plans_deinit(struct plans *plans);

/* Makes the plan of a type; NULL where there is no memory. Called by plan_of(). */
const struct plan *plans_make(struct plans *plans, uint32_t type);

/* The bytes of a leaf: one word, two of a string or interface, three of a slice. */
uint64_t leaf_size(const struct types *types, uint32_t type);

/* The plan of a type; NULL where there is no memory. */
static inline const struct plan *plan_of(struct plans *plans, uint32_t type)
{
    const struct plan *plan = __atomic_load_n(&plans->of_type[type], __ATOMIC_ACQUIRE);
    return plan ? plan : plans_make(plans, type);
}

#endif
