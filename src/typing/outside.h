/*
 * outside: values outside the heap: in data, bss and read-only data, where the linker put them, or
 * on stacks, because they do not escape.
 *
 * Variables have a type by DWARF, but they need not point to an object of the heap: in "var c =
 * &Cache{}" the Cache is in data, without a symbol. So typed pointers are followed there too, from
 * the variables breadth first: a word gets its name from the shortest path that leads to it. One
 * thread does this, and the pointers that the other threads find in objects are sorted first, so
 * the result does not depend on the threads.
 */
#ifndef TYPING_OUTSIDE_H
#define TYPING_OUTSIDE_H

#include "heap/heap.h"

struct image;
struct typing;
struct typer;

/* The holder of the pointer to a value. */
enum holder_kind {
    HOLDER_OBJECT, /* an object of the heap: the path has no name */
    HOLDER_WORD,   /* a word of data or bss, by its address; may belong to a variable */
    HOLDER_LOCAL,  /* a variable of a frame */
    HOLDER_VALUE,  /* another value outside the heap */
};

struct outside_holder {
    uint8_t kind;
    uint32_t value;  /* HOLDER_VALUE: its index */
    uint32_t frame;  /* HOLDER_LOCAL: its index in heap->frames, */
    uint32_t local;  /* and that of the variable in scopes->locals */
    uint64_t offset; /* of the pointer: in the value or variable; HOLDER_WORD: its address */
};

/* A typed pointer out of the heap. */
struct outside_pointer {
    uint64_t address, count; /* count: an array's number of values; 0: unknown */
    struct outside_holder holder;
    uint32_t type;
    uint8_t form; /* enum reference_form */
};

/* A value outside the heap, or several consecutive values. */
struct outside_value {
    uint64_t address, count; /* count: number of consecutive values */
    uint32_t type;
    bool is_array;  /* reached through a slice or the like: the values are elements */
    uint32_t depth; /* number of other values on the path here */
    uint32_t first; /* the first value on that path; this one if depth is 0 */
    struct outside_holder holder;
};

/* Memory outside the heap. */
struct area {
    uint64_t address;
    struct g2h_bytes contents;
    uint64_t slide;      /* to be added to its words */
    uint32_t frame;      /* index in heap->frames; UINT32_MAX: none */
    uint32_t goroutine;  /* of the frame */
    uint64_t first_word; /* index in value_of_word; UINT64_MAX: its words need no names */
    uint64_t *listed;    /* a bit per word that the collector scans; NULL: it may scan any */
};

struct outside {
    VECTOR(struct area) areas;        /* ascending, without overlaps */
    uint64_t static_low, static_high; /* the range of the areas other than frames */
    uint64_t stack_low, stack_high;   /* the range of frames */
    VECTOR(struct outside_value) values;
    size_t words;            /* length of value_of_word */
    uint32_t *value_of_word; /* by word: its value + 1, by the shortest path; 0: none */
    struct map seen;         /* hash of address, type and form → value */
    VECTOR(struct outside_pointer) pointers; /* to be followed, from next on */
    size_t next;
    uint64_t words_left; /* that may still be visited: more than sane programs have */
};

/* Collects the areas in the dump, and those only in the executable. Error: G2H_ERROR_MEMORY. */
struct g2h_error *outside_init(struct outside *outside, const struct g2h_heap *heap,
                               const struct image *image, uint64_t slide);
void outside_deinit(struct outside *outside);

/* Returns the value that contains the word at an address, and the word's offset from the value's
 * start, or NULL. */
const struct outside_value *outside_value_at(const struct outside *outside,
                                             const struct g2h_heap *heap, uint64_t address,
                                             uint64_t *ret_offset);

/* Returns the dump's bytes from an address in data or bss to the end of its segment; empty if it is
 * in no segment. */
struct g2h_bytes outside_segment_at(const struct outside *outside, uint64_t address);

static inline bool outside_is_static(const struct outside *outside, uint64_t address)
{
    return address - outside->static_low < outside->static_high - outside->static_low;
}

static inline bool outside_is_stack(const struct outside *outside, uint64_t address)
{
    return address - outside->stack_low < outside->stack_high - outside->stack_low;
}

#endif
