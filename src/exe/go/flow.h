/*
 * flow: where the words come from that the code of a function moves, and what it says they are.
 *
 * The code of a function is gone through once, from its start to its end. Each word that a register
 * or a slot of the frame gets is a value, which has an origin: it has been loaded from a variable,
 * or is a result of a call. Where paths meet, a value remains if both agree on it; behind the head
 * of a loop, unless the loop changes it. Types stand beside values in calls of the runtime ("make a
 * map of this type"), and in the names of methods.
 *
 * What is found is evidence, not truth: the code of a hostile executable may say anything, and even
 * the compiler's may move words in ways that are not followed here. So whoever uses a fact must
 * look whether the word's target can be what the fact says.
 *
 * Programs of Go 1.18 and later are read, which pass arguments in registers; those of amd64 and
 * arm64.
 */
#ifndef EXE_GO_FLOW_H
#define EXE_GO_FLOW_H

#include "base/memory.h"
#include "exe/go/instructions.h"
#include "exe/go/moduledata.h"

enum flow_origin {
    FLOW_UNKNOWN,
    FLOW_PRODUCT, /* `number` times something; 0: not known how many times. No index of words */
    FLOW_ZERO,    /* it is 0 */
    FLOW_ADDRESS, /* it is the address `number` in the file */
    FLOW_ELEMENT_ADDRESS, /* it is the address of an element of the array at the address `number`,
                   whose elements are `base` bytes apart; 0: not known */
    FLOW_WORD,            /* loaded from the address `number` in the file */
    FLOW_ELEMENT, /* loaded from one of the words at each `base` bytes from the address `number` on:
                     an array's */
    FLOW_FIELD,   /* loaded from where the value `base` points to, plus `number` */
    FLOW_SLOT,    /* the address of slot `number` of the function's frame */
    FLOW_OFFSET,  /* the value `base`, plus `number` */
    FLOW_ARGUMENT, /* the function's own argument, by its register */
    FLOW_CLOSURE,  /* the func value by which the function was called */
    FLOW_RESULT,   /* result `number` of the call `base` */
    FLOW_ASSERTED, /* the value `base`, which is an interface's data word, on a path where the
                      interface's type is known */
    FLOW_JOIN, /* the value `base` or the later value `other`, if known, by which path led here */
};

struct flow_value {
    uint8_t origin; /* enum flow_origin */
    uint32_t base, other;
    uint64_t number;
    uint64_t reach; /* the code uses the memory that it points to up to here, in bytes */
    uint64_t pool;  /* address in the file of the sync.Pool that it is put into; 0: none is known */
    uint32_t first_fact; /* index in facts; UINT32_MAX: none */
};

enum flow_fact_kind {
    FLOW_POINTS_TO,         /* it points to a value of a type */
    FLOW_POINTS_TO_MANY,    /* it points to an array of values of a type */
    FLOW_POINTS_TO_ELEMENT, /* it points to an element of a map of a type */
    FLOW_IS,                /* it is a value of a type: a map or channel */
    FLOW_IS_DATA,           /* it is the data word of an interface */
    FLOW_IS_RECEIVER,       /* it is the first argument of a method */
};

struct flow_fact {
    uint8_t kind;  /* enum flow_fact_kind */
    uint32_t next; /* the value's next fact; UINT32_MAX: none */
    uint64_t what; /* of a receiver: the method's index in the pclntab; else an address in the file:
                      of a type or, of an interface, of a type or itab */
    uint64_t dictionary; /* of a receiver of a generic type: address in the file of the type's
                            dictionary, if the call has it; else 0 */
};

/* A word of data or bss that the code loads, stores, or takes the address of; or, with a base, a
 * word that it stores where another value points to, if one of the two comes from data or bss, or
 * the other one from an argument. */
struct flow_use {
    uint64_t address;  /* in the file; with a base: from where that value points to */
    uint32_t base;     /* value; 0: none */
    uint32_t at;       /* of the instruction, as a distance from the function's start */
    uint32_t value;    /* that is stored; 0: not known, or none is */
    uint32_t distance; /* it may as well be a word this many bytes behind, or more such steps: of a
                          later element of an array; 0: it is not known to be */
    bool is_store, is_address; /* its address is taken */
};

/* A value from data, bss or the arguments that a register of arguments has when a function is
 * called, which may have fewer arguments. */
struct flow_pass {
    uint32_t callee;  /* index in the pclntab */
    uint32_t value;   /* as it was before paths met */
    uint8_t argument; /* as the number of a FLOW_ARGUMENT */
};

/* What the slots of the frame have during a call. */
struct flow_frame {
    uint32_t behind;     /* the return address, as a distance from the function's start */
    uint32_t first_slot; /* index in slots; there are slot_count of them */
};

struct flow {
    const struct pclntab *pclntab;
    const struct machine *machine;
    uint64_t text; /* address of the first function in the file; 0: unknown */
    uint64_t gofunc;
    uint64_t static_low, static_high; /* addresses of data and bss in the file */
    uint8_t *rules;                   /* by function: what a call of it says */
    uint64_t left;                    /* bytes of code that may still be read */

    /* Of the function that was read last. Value 0 is unknown, and 1 a product of which no more is
     * known. */
    VECTOR(struct flow_value) values;
    VECTOR(struct flow_fact) facts;
    VECTOR(struct flow_use) uses;
    VECTOR(struct flow_pass) passes;
    VECTOR(struct flow_frame) frames; /* ascending */
    VECTOR(uint32_t) slots;           /* values, by frame and offset / 8 */
    uint32_t slot_count;

    /* While a function is read. */
    uint64_t start, end; /* its addresses */
    uint64_t function;
    VECTOR(struct instruction) code;
    VECTOR(uint32_t) offsets;  /* of code: distances from the start */
    VECTOR(uint32_t) index_at; /* by offset: index in code, or UINT32_MAX */
    VECTOR(uint32_t) entries;  /* by index in code: state in blocks + 1, if a jump leads here */
    VECTOR(uint32_t) heads;    /* by index in code: the last jump back to here, or 0 */
    VECTOR(uint32_t) kills;    /* index in killed of each head, in the order of the code */
    VECTOR(uint64_t) killed;
    VECTOR(uint32_t) blocks, free_blocks, state, next_write;
    VECTOR(bool) is_taken; /* by slot: the program has its address */
    VECTOR(bool) is_late;  /* by index in code: only jumps from further behind lead here */
    bool has_late;
    bool is_again;   /* the code is gone through for the second time */
    bool is_nowhere; /* nothing has led yet to where the code is gone through */
    bool has_table;  /* of jumps, whose targets are not known */
    uint32_t width;
    uint32_t call_count;
    size_t kill_count; /* of kills: those that are ahead */
    uint64_t most_values;
    bool is_too_large; /* there would be more values */
    bool wants_frames;
};

/* Prepares for reading the functions of an executable. Error: G2H_ERROR_MEMORY. If the functions
 * cannot be read, flow_can_read() is false. */
struct g2h_error *flow_init(struct flow *flow, const struct pclntab *pclntab,
                            const struct moduledata *moduledata);
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

/* Returns what a value was before paths met, on the first of them. Since a variable has one type,
 * what it points to is what the value points to. */
static inline uint32_t flow_before(const struct flow *flow, uint32_t value)
{
    enum { MOST = 8 };
    for (unsigned i = 0; i < MOST && flow->values.data[value].origin == FLOW_JOIN; i++)
        value = flow->values.data[value].base;
    return value;
}

/*
 * Reads the function of an index. wants_frames: also gets the slots of its frame at each call. A
 * function whose instructions are not understood up to its end has no values. The cost is in
 * proportion to the size of the code. Functions of a damaged table overlap: no more is read in all
 * than each function could be read thrice. Error: G2H_ERROR_MEMORY.
 */
struct g2h_error *flow_read(struct flow *flow, uint64_t function, bool wants_frames);

/* Returns whether the argument of an index is the first of two words that are one argument of a
 * function: an interface or a string. */
bool flow_is_pair(const struct flow *flow, uint64_t function, unsigned index);

/* Returns the slots of the frame during the call that returns to a distance from the start of the
 * function that was read last, or NULL if there is no such call. */
const uint32_t *flow_frame_at(const struct flow *flow, uint64_t behind);

#endif
