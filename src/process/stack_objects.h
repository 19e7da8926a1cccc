/*
 * stack_objects: the variables on a stack that are only alive if something points to them.
 *
 * From Go 1.12 on a local variable whose address is taken is in no map of live words. Its frame's
 * function has a table of such (FUNCDATA_StackObjects), and the collector takes those for living
 * that a living word of the stack points to, directly or by others (runtime/mgcstack.go). The
 * dumper does not look for them.
 */
#ifndef PROCESS_STACK_OBJECTS_H
#define PROCESS_STACK_OBJECTS_H

#include "process/runtime.h"

struct stack_object {
    uint64_t address, words; /* as many as may be pointers */
    uint64_t size;
    const uint8_t *mask; /* a bit per word; NULL: any may be one */
    bool is_live;
};

/* Those of one stack after the other. */
struct stack_objects {
    const struct runtime *runtime;
    VECTOR(struct stack_object) list;
    VECTOR(uint32_t) grey;
    VECTOR(uint64_t) words; /* what comes out: addresses of words that are pointers, ascending */
    uint64_t low, high;     /* of the stack */
    uint64_t left; /* objects, and words of them, that may be looked at yet: they do not overlap */
};

/* Nothing is known yet, of no stack. */
void stack_objects_init(struct stack_objects *objects, const struct runtime *runtime);
void stack_objects_deinit(struct stack_objects *objects);

/* Begins with another stack, in [low, high). */
void stack_objects_begin(struct stack_objects *objects, uint64_t low, uint64_t high);

/* Adds those of a frame, by the table at an address; varp and argp are where its variables end and
 * its arguments begin. False where there is no memory. */
bool stack_objects_add(struct stack_objects *objects, uint64_t table, uint64_t varp, uint64_t argp);

/* To be called once all are there, and before any of the following. */
void stack_objects_sort(struct stack_objects *objects);

/* A living word has a value, which may be the address of one. False where there is no memory. */
bool stack_objects_point(struct stack_objects *objects, uint64_t value);

/* Finds objects->words. False where there is no memory. */
bool stack_objects_find(struct stack_objects *objects);

#endif
