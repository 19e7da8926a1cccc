/*
 * callees: the evidence of a call about its arguments and its result, by the name of the callee.
 *
 * Functions of the runtime are passed the address of a type, and a value that is of this type or
 * points to such values (cmd/compile/internal/typecheck/_builtin/runtime.go of each release). The
 * first argument of a method is its receiver.
 */
#ifndef EXE_GO_CALLEES_H
#define EXE_GO_CALLEES_H

#include "exe/go/pclntab.h"

enum {
    CALLEE_USUAL,           /* no evidence */
    CALLEE_METHOD,          /* its first argument is the receiver */
    CALLEE_GENERIC_METHOD,  /* the same; its second one is the dictionary of the receiver's type */
    CALLEE_KEEPS_REGISTERS, /* it clobbers no register that has a value of the caller */
    CALLEE_POOL_PUT,        /* (*sync.Pool).Put, which is a method as well */
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
