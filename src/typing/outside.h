/*
 * outside: values that are not in the heap, but in data, bss and read-only data, where the linker
 * put them, or on stacks, because they do not escape.
 *
 * Variables have a type by DWARF, but what they point to need not be an object: in "var c =
 * &Cache{}" the Cache is in data, without a symbol. So typed pointers are followed there too, from
 * the variables breadth first: a word has its name by the shortest way that leads to it. One thread
 * does it, and what the other threads find in objects is sorted first, so the result does not
 * depend on them.
 */
#ifndef TYPING_OUTSIDE_H
#define TYPING_OUTSIDE_H

#include "heap/heap.h"

struct image;
struct typing;
struct typer;

/* What holds the pointer to a value. */
enum holder {
    HOLDER_OBJECT, /* an object of the heap: there is no name for the way */
    HOLDER_WORD,   /* a word of data or bss, by its address: of a variable, if anything is there */
    HOLDER_LOCAL,  /* a variable of a frame */
    HOLDER_VALUE,  /* another value that is not in the heap */
};

struct way {
    uint8_t holder;
    uint32_t value;  /* HOLDER_VALUE: its index */
    uint32_t frame;  /* HOLDER_LOCAL: its index in heap->frames, */
    uint32_t local;  /* and that of the variable in scopes->locals */
    uint64_t offset; /* of the pointer: in the value or variable; HOLDER_WORD: its address */
};

/* A pointer that says what it points to, which is outside. */
struct outside_pointer {
    uint64_t address, count; /* count: of an array, its values; 0: not known */
    struct way way;
    uint32_t type;
    uint8_t form; /* enum reference_form */
};

/* A value, or several in a row. */
struct outside_value {
    uint64_t address, count; /* of the values behind one another */
    uint32_t type;
    bool is_array;  /* a slice leads here, or so: the values are elements */
    uint32_t depth; /* how many other values are on the way here */
    uint32_t first; /* the first of these; this one where depth is 0 */
    struct way way;
};

/* Memory outside of the heap. */
struct area {
    uint64_t address;
    struct g2h_bytes contents;
    uint64_t slide;      /* to be added to its words */
    uint32_t frame;      /* index in heap->frames; UINT32_MAX: none */
    uint32_t goroutine;  /* of the frame */
    uint64_t first_word; /* index in value_of_word; UINT64_MAX: its words need no names */
    uint64_t *listed;    /* a bit per word that the collector looks at; NULL: any may be one */
};

struct outside {
    VECTOR(struct area) areas;        /* ascending, apart from each other */
    uint64_t static_low, static_high; /* of those that are no frames */
    uint64_t stack_low, stack_high;   /* of frames */
    VECTOR(struct outside_value) values;
    uint32_t *value_of_word; /* the value that a word belongs to, by the shortest way; UINT32_MAX */
    struct map seen;         /* of address and type → value */
    VECTOR(struct outside_pointer) pointers; /* to be followed, from next on */
    size_t next;
    uint64_t left; /* words that may still be gone through: more than sane programs have */
};

/* The areas of a heap and of what the executable has beside. Error: G2H_ERROR_MEMORY. */
struct g2h_error *outside_init(struct outside *outside, const struct g2h_heap *heap,
                               const struct image *image, uint64_t slide);
void outside_deinit(struct outside *outside);

/* The value that has the word at an address, and the offset of the word from it; NULL. */
const struct outside_value *outside_value_at(const struct outside *outside,
                                             const struct g2h_heap *heap, uint64_t address,
                                             uint64_t *ret_offset);

static inline bool outside_is_static(const struct outside *outside, uint64_t address)
{
    return address - outside->static_low < outside->static_high - outside->static_low;
}

static inline bool outside_is_stack(const struct outside *outside, uint64_t address)
{
    return address - outside->stack_low < outside->stack_high - outside->stack_low;
}

#endif
