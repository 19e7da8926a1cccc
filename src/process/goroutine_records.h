/*
 * goroutine_records: the records of goroutines, of their frames, and of their deferred functions
 * and panics.
 */
#ifndef PROCESS_GOROUTINE_RECORDS_H
#define PROCESS_GOROUTINE_RECORDS_H

#include "process/pointer_masks.h"
#include "process/records.h"
#include "process/unwind.h"

/* ==== the variables on a stack that are only live if something points to them ====
 *
 * From Go 1.12 on, a local variable whose address is taken is in no map of live words. The function
 * of its frame has a table of such variables (FUNCDATA_StackObjects). The collector treats them as
 * live if a live word of the stack points to them, directly or through other stack objects
 * (runtime/mgcstack.go). The dumper does not look for them.
 */

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
 * variables, argp the start of its arguments. If the table is missing or invalid, or the budget of
 * work is used up, *ret_good is false. Returns false if memory runs out. */
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

/* ==== the records of a goroutine's frames ====
 *
 * A frame's pointers are first those that the dumper lists: the live words of the frame's last
 * call, by its map, and the callee's arguments. They are followed by words that the dumper does not
 * list: those of live stack objects. A goroutine that was stopped at an arbitrary instruction has
 * no such map: then each word of its innermost frame, and each register, may be a pointer, as the
 * collector treats it.
 */

/* A bit per word. */
struct live_words {
    const uint8_t *bits; /* NULL: not known */
    uint64_t count;
};

/* The data of a callee's frame that its caller's frame needs. */
struct frame_child {
    uint64_t argoff, arglen;
    struct live_words args;
};

/* A frame that has been walked, until its record is made. There may be tens of millions, so it has
 * only what another walk would have to find again. */
struct frame_walked {
    uint64_t sp, fp, pc, continpc;
    const struct runtime_module *module;
    uint32_t function; /* index in the module's pclntab */
    uint32_t words;    /* number of its own words in frames->words */
};

/* The frames of one goroutine at a time. */
struct frames {
    struct records *records;
    struct unwinder *unwinder;
    struct frame_child child;
    VECTOR(struct frame_walked) walked; /* innermost first */
    VECTOR(uint64_t) words;             /* offsets of words in their frames, frame after frame */
    VECTOR(uint8_t) listed;             /* by word of a frame: 1 if it is listed */
    struct stack_objects objects;
    uint64_t stack_left; /* remaining bytes for frames: stacks do not overlap */
    bool is_incomplete;  /* frames of the goroutine were left out, or could not be found */
};

#endif
