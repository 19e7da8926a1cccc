/*
 * code: what a function's code comes from: of each part the file, the line, and who has been
 * inlined there.
 *
 * Three tables of the pclntab say of each part the file, the line and the node of the function's
 * inline tree (FUNCDATA_InlTree); a node says who is called, and at which place
 * of the code: where that belongs to, is the caller. Layouts: runtime/symtab.go of Go 1.18 and
 * 1.19, runtime/symtabinl.go from 1.20 on.
 */
#ifndef EXE_CODE_H
#define EXE_CODE_H

#include "base/memory.h"
#include "exe/moduledata.h"

/* A part of a function's code, all of one call. */
struct code_part {
    uint32_t start; /* from the function's */
    uint32_t line;  /* 0: not known */
    int32_t file;   /* for pclntab_file() */
    int32_t node;   /* of the inline tree; -1: the function itself */
};

/* The code of a function. */
struct code {
    const struct pclntab *pclntab;
    uint64_t index; /* the function's */
    uint32_t start_line;
    uint8_t id;                     /* abi.FuncID… */
    uint64_t tree;                  /* address of the inline tree; 0: none */
    VECTOR(struct code_part) parts; /* ascending */
    VECTOR(uint32_t) by_line;       /* of parts that differ in line, file or node the first */
};

/* A node of an inline tree. */
struct inlined_call {
    struct g2h_bytes function;
    uint32_t start_line; /* 0: not known */
    uint8_t id;          /* abi.FuncID… */
    uint32_t caller; /* a place in the code, from the function's start, whose line is the call's */
};

/*
 * Reads the code of a function; *left is how many bytes of the table may be read, and is lowered by
 * those that were. A function that is damaged, or of before Go 1.18, has no parts. code_deinit() in
 * any case. Error: G2H_ERROR_MEMORY.
 */
struct g2h_error *code_read(struct code *code, const struct pclntab *pclntab,
                            const struct moduledata *moduledata, uint64_t index, uint64_t *left);
void code_deinit(struct code *code);

/* The part that has a place; NULL where none has. */
const struct code_part *code_at(const struct code *code, uint32_t place);

/* A node of its inline tree; false where there is no such node. */
bool code_inlined(const struct code *code, int32_t node, struct inlined_call *ret);

#endif
