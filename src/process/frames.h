/*
 * frames: the records of a goroutine's frames.
 *
 * What a frame has of pointers is what the dumper lists, the map of live words of the last call and
 * the callee's arguments; and behind these, what it does not: the words of stack objects that are
 * alive. A goroutine that was stopped anywhere has no such map: each word of its innermost frame,
 * and each register, may be a pointer then, as the collector takes it.
 */
#ifndef PROCESS_FRAMES_H
#define PROCESS_FRAMES_H

#include "process/records.h"
#include "process/stack_objects.h"
#include "process/unwind.h"

/* A bit per word. */
struct live_words {
    const uint8_t *bits; /* NULL: not known */
    uint64_t count;
};

/* What a frame says of the one that called it. */
struct frame_child {
    uint64_t sp, depth;
    uint64_t argoff, arglen;
    struct live_words args;
};

/* A frame that has been walked over, until its record is made. */
struct frame_walked {
    uint64_t sp, fp, depth, child_sp;
    uint64_t entry, pc, continpc;
    struct g2h_bytes name;
    size_t first_word, words; /* in frames->words */
};

/* One goroutine after the other. */
struct frames {
    struct records *records;
    struct unwinder *unwinder;
    struct frame_child child;
    VECTOR(struct frame_walked) walked;
    VECTOR(uint64_t) words; /* offsets in their frames */
    VECTOR(uint8_t) listed; /* by word of a frame */
    struct stack_objects objects;
    uint64_t stack_left; /* bytes that frames may have yet: stacks do not overlap */
};

/* Prepares for the frames of records; *ret goes to frames_deinit(). Errors: G2H_ERROR_MEMORY. */
struct g2h_error *frames_init(struct frames *ret, struct records *records);
void frames_deinit(struct frames *frames);

/* Walks over the frames of the goroutine at an address, which begin where *start says. */
struct g2h_error *frames_walk(struct frames *frames, uint64_t g, const struct unwind_start *start);

/* Of that goroutine something else than a frame points to an address: a register, a deferred
 * function. False where there is no memory. */
bool frames_point(struct frames *frames, uint64_t address);

/* Puts the records of the frames that were walked over last. */
struct g2h_error *frames_put(struct frames *frames);

#endif
