/*
 * flow: data flow in the code of a function: the origins of the words that it moves, and evidence
 * of their types.
 *
 * The code of a function is interpreted once, from its start to its end. Each word in a register or
 * a slot of the frame is a value with an origin: it was loaded from a variable, or is a result of a
 * call. Where paths join, a value is kept if both agree on it; after the head of a loop, unless the
 * loop changes it. Types occur together with values in calls of the runtime ("make a map of this
 * type"), and in the names of methods.
 *
 * The results are evidence, not truth: the code of a hostile executable may be anything, and even
 * the compiler may move words in ways that are not followed here. So users of a fact must check
 * whether the word's target can match it.
 *
 * Supports programs of Go 1.18 and later, which pass arguments in registers, on amd64 and arm64.
 */
#ifndef EXE_GO_FLOW_H
#define EXE_GO_FLOW_H

#include "base/memory.h"
#include "exe/go/instructions.h"
#include "exe/go/pclntab.h"

enum flow_origin {
    FLOW_UNKNOWN,
    FLOW_PRODUCT, /* a multiple of `number`; 0: of an unknown factor. Not for indexes of words.
                     `base`: the value of which it is; 0: not known */
    FLOW_INDEX,   /* a number of which only its bound is known */
    FLOW_ZERO,    /* it is 0 */
    FLOW_ADDRESS, /* it is the address `number` in the file */
    FLOW_ELEMENT_ADDRESS, /* it is the address of an element of the array at the address `number`,
                             with `base` bytes between elements; 0: not known. `other`: of an
                             element in an array in that element, if it is not 0 */
    FLOW_WORD,            /* loaded from the address `number` in the file */
    FLOW_ELEMENT,  /* loaded from a word of an array: one of those every `base` bytes from the
                      address `number` on; plus a multiple of `other` besides */
    FLOW_FIELD,    /* loaded from the target of the value `base`, plus `number`, or plus a multiple
                      of `other` besides, in an array */
    FLOW_SLOT,     /* the address of slot `number` of the function's frame */
    FLOW_OFFSET,   /* the value `base`, plus `number`, or plus a multiple of `other` besides */
    FLOW_ARGUMENT, /* the function's own argument, by its register */
    FLOW_CLOSURE,  /* the func value through which the function was called */
    FLOW_RESULT,   /* result `number` of the call `base`; `other`: the index of the callee in the
                      pclntab, plus 1; 0: not known */
    FLOW_ASSERTED, /* the value `base`, which is an interface's data word, on a path where the
                      interface's type is known */
    FLOW_JOIN, /* the value `base`, which is earlier, or `other`, if known, depending on the path */
};

struct flow_value {
    uint8_t origin; /* enum flow_origin */
    uint32_t base, other;
    uint32_t first_fact; /* index in facts; UINT32_MAX: none */
    uint32_t count;      /* of an element at a multiple of base or other (of both: of other): the
                            elements that the array has at least; 0: not known */
    uint32_t bound;   /* it has been compared with this last, or with less before; 0: it has not */
    uint64_t bounded; /* where the array is of which it is an index since then; 0: of none yet */
    uint64_t number;
    uint64_t reach; /* the code uses the memory that it points to up to this offset, in bytes */
    uint64_t pool;  /* address in the file of the sync.Pool that it is put into; 0: none known */
};

enum flow_fact_kind {
    FLOW_POINTS_TO,         /* it points to a value of a type */
    FLOW_POINTS_TO_MANY,    /* it points to an array of values of a type */
    FLOW_POINTS_TO_ELEMENT, /* it points to an element of a map of a type */
    FLOW_IS,                /* it is a value of a type: a map or channel */
    FLOW_IS_DATA,           /* it is the data word of an interface */
    FLOW_IS_RECEIVER,       /* it is the first argument of a method */
    FLOW_IS_CLOSURE,        /* it is the func value through which a function was called */
};

struct flow_fact {
    uint8_t kind;  /* enum flow_fact_kind */
    uint32_t next; /* the value's next fact; UINT32_MAX: none */
    uint64_t what; /* for a receiver: the method's index in the pclntab; else an address in the
                      file: of a type or, for an interface, of a type or itab; of the function */
    uint64_t dictionary; /* for a receiver of a generic type: address in the file of the type's
                            dictionary, if the call has it; else 0 */
};

/* Elements of an array, of which code uses the one with an index. */
struct flow_array {
    uint32_t distance; /* between elements, in bytes; 0: it is no array */
    uint32_t count;    /* the elements that it has at least; 0: not known */
};

/* A word of data or bss that the code loads, stores, or takes the address of; or, with a base, a
 * word that it stores to the target of another value, if one of the two comes from data or bss, or
 * the other one from an argument. */
struct flow_use {
    uint64_t address;          /* in the file; with a base: offset from the target of that value */
    uint32_t base;             /* value; 0: none */
    uint32_t at;               /* of the instruction, as a distance from the function's start */
    uint32_t value;            /* the stored value; 0: not known, or not a store */
    struct flow_array array;   /* it may as well be the word in another element of an array */
    struct flow_array inner;   /* or in another element of an array in each element */
    bool is_store, is_address; /* its address is taken */
    bool is_by_callee;         /* a function that is called stores it: no instruction here does */
};

/* Whether the callee may have floating-point arguments: not if nothing set the register of the
 * first one since the last call. */
enum flow_floats {
    FLOATS_NONE,
    FLOATS_OF_CALLER, /* if the function itself has, and passes them on */
    FLOATS_MAY_BE,
};

/* A value from data, bss, the arguments or a call, or any known value if frames are wanted, that is
 * in an argument register when a function is called, which may have fewer arguments. */
struct flow_pass {
    uint32_t callee;  /* index in the pclntab */
    uint32_t value;   /* as it was before paths joined */
    uint8_t argument; /* as the number of a FLOW_ARGUMENT */
    uint8_t floats;   /* enum flow_floats */
};

/* The contents of the frame's slots during a call, and those of the registers of arguments. */
struct flow_frame {
    uint32_t behind;     /* the return address, as a distance from the function's start */
    uint32_t first_slot; /* index in slots; there are slot_count of them, then the registers */
};

struct flow {
    const struct pclntab *pclntab;
    const struct machine *machine;
    uint64_t text; /* address of the first function in the file; 0: unknown */
    uint64_t text_size;
    uint64_t gofunc;
    uint64_t static_low, static_high; /* addresses of data and bss in the file */
    const uint8_t *rules;             /* by function: evidence of its calls (code.h) */
    uint64_t left;                    /* bytes of code that may still be read */

    /* Results for the function that was read last. Value 0 is unknown, and 1 a product about which
     * no more is known. */
    VECTOR(struct flow_value) values;
    VECTOR(struct flow_fact) facts;
    VECTOR(struct flow_use) uses;
    VECTOR(struct flow_pass) passes;
    VECTOR(uint32_t) returned;        /* values in the register of the first result where it ends */
    VECTOR(struct flow_frame) frames; /* ascending */
    VECTOR(uint32_t) slots;           /* values, by frame and offset / 8 */
    uint32_t slot_count;
    VECTOR(uint32_t)
    homes; /* by slot: value, the argument that was stored there first, if the code
              takes the slot's address; else 0. The data of an interface, whose
              type may change, has none */

    /* State while a function is read. */
    uint64_t start, end; /* its addresses */
    uint64_t function;
    VECTOR(struct instruction) code;
    VECTOR(uint32_t) offsets;  /* of code: distances from the start */
    VECTOR(uint32_t) index_at; /* by offset: index in code, or UINT32_MAX */
    VECTOR(uint32_t) entries;  /* by index in code: state in blocks + 1, if a jump leads here */
    VECTOR(uint32_t) heads;    /* by index in code: the last jump back to here, or 0 */
    VECTOR(uint32_t) kills;    /* index in killed of each head, in the order of the code */
    VECTOR(uint64_t) killed;
    VECTOR(uint32_t) loops;       /* the state at the head of each loop, */
    VECTOR(uint32_t) loop_states; /* and by index in code: where it is there, plus 1; or 0 */
    VECTOR(uint32_t) blocks, free_blocks, state, next_write;
    VECTOR(bool) is_taken; /* by slot: the code takes its address */
    VECTOR(bool) is_late;  /* by index in code: only jumps from later code lead here */
    bool has_late;
    bool is_again;   /* this is the second pass */
    bool is_nowhere; /* no path has reached the present instruction yet */
    bool has_table;  /* a jump table, whose targets are not known */
    uint32_t width;
    uint32_t call_count;
    enum flow_floats floats;
    size_t kill_count; /* remaining entries of kills in this pass */
    uint64_t most_values;
    bool is_too_large; /* the limit of values was reached */
    bool wants_frames;
};

/* Prepares for reading the functions of an executable. If they cannot be read,
 * flow_can_read() is false. rules: those of callees_find(), which the caller keeps. */
void flow_init(struct flow *flow, const struct pclntab *pclntab,
               const struct moduledata *moduledata, const uint8_t *rules);
void flow_deinit(struct flow *flow);

static inline bool flow_can_read(const struct flow *flow)
{
    return flow->text != 0;
}

/* Returns whether an address is in data or bss. */
static inline bool flow_is_static(const struct flow *flow, uint64_t address)
{
    return address - flow->static_low < flow->static_high - flow->static_low;
}

/* Returns the value as it was before paths joined, on the first of them. Since a variable has one
 * type, what it points to has the type of the value's target. */
static inline uint32_t flow_before(const struct flow *flow, uint32_t value)
{
    enum { MOST = 8 };
    for (unsigned i = 0; i < MOST && flow->values.data[value].origin == FLOW_JOIN; i++)
        value = flow->values.data[value].base;
    return value;
}

/*
 * Reads the function with an index. wants_frames: also records the slots of its frame at each call.
 * A function with unsupported instructions has no values. The time is proportional to the size of
 * the code. Functions of a damaged table may overlap: the total is limited to reading each function
 * three times. Error: G2H_ERROR_MEMORY.
 */
struct g2h_error *flow_read(struct flow *flow, uint64_t function, bool wants_frames);

/* Returns whether the argument with an index is the first of two words that are one argument of a
 * function: an interface or a string. */
bool flow_is_pair(const struct flow *flow, uint64_t function, unsigned index);

/* Returns whether the argument with an index is described, and is no part of a larger one, as the
 * pointer of a slice is. */
bool flow_is_alone(const struct flow *flow, uint64_t function, unsigned index);

/* Returns the number of words, or parts of words, that the arguments of a function are at least,
 * or 0 if it is not known. */
unsigned flow_argument_count(const struct flow *flow, uint64_t function);

/* Returns the slots of the frame during the call that returns to a distance from the start of the
 * function that was read last, and after them the arguments that are in registers, or NULL if there
 * is no such call. */
const uint32_t *flow_frame_at(const struct flow *flow, uint64_t behind);

#endif
