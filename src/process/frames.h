/*
 * frames: the records of a goroutine's frames.
 *
 * A frame's pointers are first those that the dumper lists: the live words of the frame's last
 * call, by its map, and the callee's arguments. They are followed by words that the dumper does not
 * list: those of live stack objects. A goroutine that was stopped at an arbitrary instruction has
 * no such map: then each word of its innermost frame, and each register, may be a pointer, as the
 * collector treats it.
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

/* Prepares for the frames of records; *ret goes to frames_deinit(). Errors: G2H_ERROR_MEMORY. */
struct g2h_error *frames_init(struct frames *ret, struct records *records);
void frames_deinit(struct frames *frames);

/* Walks the frames of the goroutine at address g, beginning at *start. */
struct g2h_error *frames_walk(struct frames *frames, uint64_t g, const struct unwind_start *start);

/* Notes that something other than a frame of that goroutine points to an address: a register or a
 * deferred function. Returns false if memory runs out. */
bool frames_point(struct frames *frames, uint64_t address);

/* Adds the records of the frames of the last frames_walk(); writes the buffer periodically, because
 * the stack may be large. */
struct g2h_error *frames_put(struct frames *frames);

#endif
