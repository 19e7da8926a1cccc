/*
 * stack_objects: the variables on a stack that are only live if something points to them.
 *
 * From Go 1.12 on, a local variable whose address is taken is in no map of live words. The function
 * of its frame has a table of such variables (FUNCDATA_StackObjects). The collector treats them as
 * live if a live word of the stack points to them, directly or through other stack objects
 * (runtime/mgcstack.go). The dumper does not look for them.
 */
#ifndef PROCESS_STACK_OBJECTS_H
#define PROCESS_STACK_OBJECTS_H

#include "process/type_masks.h"

struct stack_object {
    uint64_t address, words; /* words: up to the last pointer */
    uint64_t size;
    const uint8_t *mask; /* a bit per word; NULL: it is not known, so any word may be a pointer */
    bool is_live;
};

/* The stack objects of one stack at a time. */
struct stack_objects {
    const struct runtime *runtime;
    VECTOR(struct stack_object) list;
    VECTOR(uint32_t) grey;
    VECTOR(uint64_t) words;  /* the result: addresses of words that are pointers, ascending */
    VECTOR(uint8_t *) masks; /* those that GC programs made */
    uint64_t conservative;   /* objects of this stack whose mask is not known */
    bool is_incomplete;      /* pointers in objects of this stack were left out */
    uint64_t low, high;      /* of the stack */
    /* Remaining objects, and words in them, that may be processed: they do not overlap. */
    uint64_t left;
};

/* Prepares for stacks; none has been begun. */
void stack_objects_init(struct stack_objects *objects, const struct runtime *runtime);
void stack_objects_deinit(struct stack_objects *objects);

/* Begins with another stack, which is [low, high). */
void stack_objects_begin(struct stack_objects *objects, uint64_t low, uint64_t high);

/* Adds the stack objects of a frame, from the table at an address. varp is the end of the frame's
 * variables, argp the start of its arguments. If the table is missing or invalid, *ret_good is
 * false. Returns false if memory runs out. */
bool stack_objects_add(struct stack_objects *objects, uint64_t rodata, uint64_t table,
                       uint64_t varp, uint64_t argp, bool *ret_good);

/* Sorts the stack objects; call it once all are added, and before any of the following. */
void stack_objects_sort(struct stack_objects *objects);

/* Marks the stack object at the address value as live, if there is one; value is that of a live
 * word. Returns false if memory runs out. */
bool stack_objects_point(struct stack_objects *objects, uint64_t value);

/* Finds objects->words, the pointers in all live stack objects. Returns false if memory runs
 * out. */
bool stack_objects_find(struct stack_objects *objects);

#endif
