/*
 * code: for each part of a function's code, its source file and line and the functions inlined
 * there; and what a call says of its arguments and its result.
 */
#ifndef GO_CODE_H
#define GO_CODE_H

#include "base/map.h"
#include "base/memory.h"
#include "exe/go/pclntab.h"

/* ==== files, lines and inlined functions ====
 *
 * For each part of a function's code, its source file and line, and the functions inlined there.
 *
 * Three tables of the pclntab have each part's file, line and node of the function's inline tree
 * (FUNCDATA_InlTree). A node has the called function, and an offset in the code that belongs to the
 * caller. Layouts: runtime/symtab.go of Go 1.18 and 1.19, runtime/symtabinl.go from 1.20 on.
 */

/* A part of a function's code that has one file, one line and one node. */
struct code_part {
    uint32_t start; /* distance from the function's start */
    uint32_t line;  /* 0: not known */
    int32_t file;   /* for pclntab_file() */
    int32_t node;   /* index in the inline tree; -1: the function itself */
};

/* The code of a function. */
struct code {
    const struct pclntab *pclntab;
    uint64_t index; /* index of the function in the pclntab */
    uint32_t start_line;
    uint8_t id;                     /* abi.FuncID… */
    uint64_t tree;                  /* address of the inline tree; 0: none */
    VECTOR(struct code_part) parts; /* ascending */
    VECTOR(uint32_t) by_line;       /* parts by line, file, node; the first of equal parts */
};

/* A node of an inline tree. */
struct inlined_call {
    struct g2h_bytes function;
    uint32_t start_line; /* 0: not known */
    uint8_t id;          /* abi.FuncID… */
    uint32_t caller;     /* an offset from the function's start that has the line of the call */
};

/*
 * Reads the code of a function. *left is the number of bytes of the table that may still be read;
 * the bytes read are subtracted from it. A function that is damaged, or older than Go 1.18, has no
 * parts. The caller calls code_deinit() in any case. Error: G2H_ERROR_MEMORY.
 */
struct g2h_error *code_read(struct code *code, const struct pclntab *pclntab,
                            const struct moduledata *moduledata, uint64_t index, uint64_t *left);

void code_deinit(struct code *code);

/* Finds a function's inline tree, and its table of nodes for pclntab_value(): 0 if it has none.
 * Sets nothing else of code. */
void code_find_tree(struct code *code, const struct pclntab_function *function,
                    const struct moduledata *moduledata, uint32_t *ret_nodes);

/* Returns the part of the code that contains an offset, or NULL if there is none. */
const struct code_part *code_at(const struct code *code, uint32_t offset);

/* Reads a node of the function's inline tree. Returns false if there is no such node. */
bool code_inlined(const struct code *code, int32_t node, struct inlined_call *ret);

/*
 * ---- calls ----
 *
 * The functions that a function's code calls, by its instructions. Only calls whose instruction
 * contains the callee are found, on amd64, 386 and arm64.
 */

struct call_sites {
    const struct pclntab *pclntab;
    uint64_t text;         /* address of the first function in the file; 0: not known */
    struct map allocators; /* function → enum call_sites_allocator */
};

struct call_site {
    uint32_t behind; /* the return address, as a distance from the function's start */
    uint32_t callee; /* the called function, by its index in the pclntab */
};

struct call_site_list {
    VECTOR(struct call_site) sites; /* ascending */
};

void call_sites_init(struct call_sites *sites, const struct pclntab *pclntab,
                     const struct moduledata *moduledata);

void call_sites_deinit(struct call_sites *sites);

/* Appends the calls of a function. *left is the number of bytes of code that may still be read; the
 * bytes read are subtracted from it. Error: G2H_ERROR_MEMORY. */
struct g2h_error *call_sites_find(struct call_sites *sites, uint64_t function, uint64_t *left,
                                  struct call_site_list *ret);

/* How a function allocates memory for its caller. */
enum call_sites_allocator {
    ALLOCATES_NOT,
    ALLOCATES_BY_CALL, /* a function of the runtime that calls mallocgc: runtime.newobject */
    ALLOCATES_ITSELF,  /* runtime.mallocgc and its variants */
};

struct g2h_error *call_sites_allocator(struct call_sites *sites, uint64_t function, uint64_t *left,
                                       enum call_sites_allocator *ret);

/* ---- the addresses that code contains, in its order: only of amd64 ---- */

typedef VECTOR(uint64_t) address_vector;

/* Appends the addresses, in the file, that instructions of a function load into registers. function
 * is its index in the pclntab. *left is the number of bytes of code that may still be read; the
 * bytes that are read are subtracted from it. Returns false if memory runs out. */
bool constants_find(const struct pclntab *pclntab, const struct moduledata *moduledata,
                    uint64_t function, uint64_t *left, address_vector *ret);

/* ==== the evidence of a call about its arguments and its result, by the name of the callee ====
 *
 * Functions of the runtime are passed the address of a type, and a value that is of this type or
 * points to such values (cmd/compile/internal/typecheck/_builtin/runtime.go of each release). The
 * first argument of a method is its receiver.
 */

enum {
    CALLEE_USUAL,           /* no evidence */
    CALLEE_METHOD,          /* its first argument is the receiver */
    CALLEE_GENERIC_METHOD,  /* the same; its second one is the dictionary of the receiver's type */
    CALLEE_KEEPS_REGISTERS, /* it clobbers no register that has a value of the caller */
    CALLEE_POOL_PUT,        /* (*sync.Pool).Put, which is a method as well */
    CALLEE_STORE,           /* it stores its second argument where the first one points */
    CALLEE_STORE_IF,        /* the same with its third argument: a compare and swap */
    CALLEE_RULES,           /* from here on: the index of a rule */
};

enum { CALLEE_SAYS = 3, CALLEE_RESULT = 0xff };

struct callee_rule {
    uint8_t type; /* the argument that is a type's address */
    struct {
        enum callee_fact {
            CALLEE_NOTHING,
            CALLEE_ONE,     /* points to a value of the type */
            CALLEE_MANY,    /* points to an array of values */
            CALLEE_ELEMENT, /* points to an element of the type, which is a map's */
            CALLEE_SELF,    /* is a value of the type */
        } fact;
        uint8_t argument; /* or CALLEE_RESULT */
    } says[CALLEE_SAYS];
};

/* Gets the evidence of calls, as a number for each function; free(*ret) frees them. Error:
 * G2H_ERROR_MEMORY. */
struct g2h_error *callees_find(const struct pclntab *pclntab, uint8_t **ret);

/* Returns the rule with a number, or NULL. */
const struct callee_rule *callees_rule(uint8_t number);

#endif
