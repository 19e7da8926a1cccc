/* frames; see frames.h. */
#include "process/frames.h"

#include <stdlib.h>

#include "base/scope.h"

enum { WORD = 8 };

enum {
    FUNCDATA_ARGS_POINTER_MAPS = 0,
    FUNCDATA_LOCALS_POINTER_MAPS = 1,
    FUNCDATA_STACK_OBJECTS = 2
};

struct g2h_error *frames_init(struct frames *ret, struct records *records)
{
    *ret = (struct frames){.records = records, .stack_left = records->runtime->memory->bytes};
    stack_objects_init(&ret->objects, records->runtime);
    ret->unwinder = calloc(1, sizeof(*ret->unwinder));
    TRY_MEMORY(ret->unwinder);
    unwinder_init(ret->unwinder, records->runtime);
    return NULL;
}

void frames_deinit(struct frames *frames)
{
    free(frames->unwinder);
    free(frames->walked.data);
    free(frames->words.data);
    free(frames->listed.data);
    stack_objects_deinit(&frames->objects);
}

/* ---- functions' tables about their frames ---- */

/* Returns the address of a FUNCDATA table of a function, or 0 if the function has none. */
static uint64_t frames_table_of(const struct unwind_function *function, unsigned funcdata)
{
    if (funcdata >= function->record.funcdata_count)
        return 0;
    const uint64_t offset = memory_number(function->record.funcdata + 4 * (size_t)funcdata, 4);
    return offset == UINT32_MAX ? 0 : function->code.module->gofunc + offset;
}

/*
 * Reads the row function->map of a table of live words (runtime.stackmap), which consists of the
 * number of rows, the number of bits per row, and the rows. Returns false if the function has no
 * such table; or if it has, but the row is not there, which is counted: any word may then be a
 * pointer.
 */
static bool read_map(const struct frames *frames, const struct unwind_function *function,
                     unsigned funcdata, struct live_words *ret)
{
    const struct memory *memory = frames->records->runtime->memory;
    const uint64_t table = frames_table_of(function, funcdata);
    uint64_t rows, words = 0, bytes;
    *ret = (struct live_words){0};
    if (table == 0)
        return false;
    if (memory_read(memory, table, 4, &rows) && memory_read(memory, table + 4, 4, &words) &&
        rows <= INT32_MAX && words <= INT32_MAX) {
        if (words == 0)
            return true;
        bytes = (words + 7) / 8;
        if (function->map >= 0 && (uint64_t)function->map < rows)
            ret->bits = memory_at(memory, table + 8 + bytes * (uint64_t)function->map, bytes);
    }
    if (ret->bits)
        ret->count = words;
    else
        frames->records->account->frames_conservative++;
    return ret->bits != NULL;
}

/* ---- words of a frame ---- */

/* Adds the live words of a map that begins at an offset in a frame of size bytes. Returns false if
 * memory runs out. */
static bool add_live_words(struct frames *frames, const struct live_words *words, uint64_t offset,
                           uint64_t size)
{
    for (uint64_t i = 0; i < words->count && offset + i * WORD < size; i++)
        if ((words->bits[i / 8] >> (i % 8) & 1) != 0 &&
            !vector_push(&frames->words, offset + i * WORD))
            return false;
    return true;
}

/* Adds all words in [from, end) of a frame of size bytes. Returns false if memory runs out. */
static bool add_all_words(struct frames *frames, uint64_t from, uint64_t end, uint64_t size)
{
    for (uint64_t i = from; i < end && i < size; i += WORD)
        if (!vector_push(&frames->words, i))
            return false;
    return true;
}

/* Adds the live local variables of a frame, which end at varp; without a map, all its words.
 * Returns false if memory runs out. */
static bool add_locals(struct frames *frames, const struct unwind_frame *frame)
{
    const uint64_t varp = frame->varp - frame->sp;
    struct live_words words;
    if (varp <= frames->unwinder->pushed) /* before the function makes its frame: no locals yet */
        return true;
    bool has_map = read_map(frames, frame->function, FUNCDATA_LOCALS_POINTER_MAPS, &words);
    if (has_map && words.count * WORD > varp) { /* it is of another frame */
        frames->records->account->frames_conservative++;
        has_map = false;
    }
    return has_map ? add_live_words(frames, &words, varp - words.count * WORD, varp)
                   : add_all_words(frames, frames->child.arglen, varp, frame->fp - frame->sp);
}

/* Adds the callee's arguments, which are in this frame: the live ones or, if the callee has no map
 * of them, all. Returns false if memory runs out. */
static bool add_arguments(struct frames *frames, const struct unwind_frame *frame)
{
    const struct frame_child *child = &frames->child;
    return child->args.bits || child->args.count > 0
               ? add_live_words(frames, &child->args, child->argoff, frame->fp - frame->sp)
               : add_all_words(frames, child->argoff, child->argoff + child->arglen,
                               frame->fp - frame->sp);
}

/* Adds the words of a frame that may be pointers. A goroutine that was stopped at an arbitrary
 * instruction has no map there, so all its words count. Returns false if memory runs out. */
static bool frames_add_words(struct frames *frames, const struct unwind_frame *frame)
{
    if (frame->is_conservative)
        return add_all_words(frames, 0, frame->varp - frame->sp, frame->fp - frame->sp);
    return add_arguments(frames, frame) && add_locals(frames, frame);
}

/* Makes a frame the callee of the next frame of the walk. */
static void become_child(struct frames *frames, const struct unwind_frame *frame)
{
    struct frame_child *child = &frames->child;
    const int32_t args = frame->function->record.args;
    child->argoff = frame->argp - frame->fp;
    child->arglen = args > 0 ? (uint64_t)args : 0;
    if (read_map(frames, frame->function, FUNCDATA_ARGS_POINTER_MAPS, &child->args) &&
        !child->args.bits)
        child->arglen = 0; /* no argument is a pointer */
}

/* ---- walking ---- */

/* Adds the stack objects of a frame. A frame that is not at a call is left out, because its stack
 * objects cannot be distinguished from stale data; a dead frame has none. If the frame's stack
 * objects are not known, all its words may be pointers; those from first_word on are of this frame.
 * Returns false if memory runs out. */
static bool frames_add_stack_objects(struct frames *frames, const struct unwind_frame *frame,
                                     size_t first_word)
{
    const uint64_t table = frames_table_of(frame->function, FUNCDATA_STACK_OBJECTS);
    bool is_good = true;
    if (table != 0 && !frame->is_conservative && frame->continpc != 0 &&
        !stack_objects_add(&frames->objects, frame->function->code.module->rodata, table,
                           frame->varp, frame->argp, &is_good))
        return false;
    if (is_good)
        return true;
    frames->records->account->frames_conservative++;
    frames->words.count = first_word;
    return add_all_words(frames, 0, frame->varp - frame->sp, frame->fp - frame->sp);
}

/* Leaves out a frame whose bytes are missing. Its caller becomes the caller of the frame before it,
 * but has none of that frame's arguments. */
static void frames_leave_out(struct frames *frames)
{
    frames->child.args = (struct live_words){0};
    frames->child.arglen = 0;
    frames->is_incomplete = true;
}

/* Records a frame of the walk, with its words and stack objects. */
static struct g2h_error *walk_over(struct frames *frames, const struct unwind_frame *frame)
{
    const struct runtime *runtime = frames->records->runtime;
    struct frame_walked walked = {.sp = frame->sp,
                                  .fp = frame->fp,
                                  .pc = frame->pc,
                                  .continpc = frame->continpc,
                                  .module = frame->function->code.module,
                                  .function = (uint32_t)frame->function->code.index};
    const size_t first_word = frames->words.count;
    const uint64_t size = frame->fp - frame->sp;
    if ((size > 0 && !memory_at(runtime->memory, frame->sp, size)) || size > frames->stack_left) {
        frames_leave_out(frames);
        return NULL;
    }
    frames->stack_left -= size;
    TRY_MEMORY(frames_add_words(frames, frame) &&
               frames_add_stack_objects(frames, frame, first_word));
    walked.words = (uint32_t)(frames->words.count - first_word);
    TRY_MEMORY(vector_push(&frames->walked, walked));
    become_child(frames, frame);
    return NULL;
}

/* Walks a goroutine's stack from its innermost frame outwards, and collects frames, words and stack
 * objects. */
struct g2h_error *frames_walk(struct frames *frames, uint64_t g, const struct unwind_start *start)
{
    struct runtime *runtime = frames->records->runtime;
    struct unwinder *unwinder = frames->unwinder;
    const uint64_t low = runtime_field(runtime, g, LAYOUT_G_STACK_LO),
                   high = runtime_field(runtime, g, LAYOUT_G_STACK_HI);
    frames->child = (struct frame_child){0};
    frames->walked.count = frames->words.count = 0;
    frames->is_incomplete = false;
    stack_objects_begin(&frames->objects, low, high > low ? high : low);
    for (bool more = unwind_first(unwinder, low, high, start); more; more = unwind_next(unwinder))
        TRY(walk_over(frames, &unwinder->frame));
    stack_objects_sort(&frames->objects);
    frames->is_incomplete |= !unwinder->is_complete;
    return NULL;
}

bool frames_point(struct frames *frames, uint64_t address)
{
    return stack_objects_point(&frames->objects, address);
}

/* ---- records ---- */

/* Returns the bytes of a frame. */
static const uint8_t *contents_of(const struct frames *frames, const struct frame_walked *walked)
{
    return memory_at(frames->records->runtime->memory, walked->sp, walked->fp - walked->sp);
}

/* Marks the stack objects that those words of the frames point to that the dumper would list.
 * Returns false if memory runs out. */
static bool point_from_all(struct frames *frames)
{
    const uint64_t *word = frames->words.data;
    if (frames->objects.list.count == 0)
        return true;
    for (size_t i = 0; i < frames->walked.count; i++) {
        const struct frame_walked *walked = &frames->walked.data[i];
        const uint8_t *contents = contents_of(frames, walked);
        for (const uint64_t *end = word + walked->words; word < end; word++)
            if (*word + WORD <= walked->fp - walked->sp &&
                !frames_point(frames, memory_number(contents + *word, WORD)))
                return false;
    }
    return true;
}

/* Records which words of a frame are listed. Returns false if memory runs out. */
static bool frames_list_words(struct frames *frames, const struct frame_walked *walked,
                              const uint64_t *words)
{
    const size_t count = (size_t)((walked->fp - walked->sp) / WORD);
    frames->listed.count = 0;
    if (!vector_grow(&frames->listed, count + 1))
        return false;
    memset(frames->listed.data, 0, count + 1);
    for (size_t i = 0; i < walked->words; i++)
        if (words[i] / WORD < count)
            frames->listed.data[words[i] / WORD] = 1;
    return true;
}

/* Writes the words of stack objects in a frame that are not listed yet; *next is the index of the
 * first word that is not before the frame. Returns false if memory runs out. */
static bool put_object_words(struct frames *frames, const struct frame_walked *walked,
                             const uint64_t *listed, size_t *next)
{
    const uint64_t *words = frames->objects.words.data;
    const size_t count = frames->objects.words.count;
    for (; *next < count && words[*next] < walked->sp; ++*next) {
    }
    if (*next == count || words[*next] >= walked->fp)
        return true;
    if (!frames_list_words(frames, walked, listed))
        return false;
    for (; *next < count && words[*next] < walked->fp; ++*next) {
        const uint64_t offset = words[*next] - walked->sp;
        if (offset + WORD > walked->fp - walked->sp || frames->listed.data[offset / WORD])
            continue;
        frames->listed.data[offset / WORD] = 1;
        frames->records->account->stack_words++;
        if (!put_field(&frames->records->buffer, offset))
            return false;
    }
    return true;
}

/* Writes the record of frame number depth without the words of stack objects; words are those of
 * the frame. Returns false if memory runs out. */
static bool put_frame(struct frames *frames, size_t depth, const uint64_t *words)
{
    const struct frame_walked *walked = &frames->walked.data[depth];
    const struct runtime_code code = {walked->module, walked->function};
    struct worker_buffer *buffer = &frames->records->buffer;
    const struct g2h_bytes contents = {contents_of(frames, walked), walked->fp - walked->sp},
                           unknown = {(const uint8_t *)"unknown function", 16},
                           name = runtime_function_name(code);
    const uint64_t child = depth > 0 ? walked[-1].sp : 0;
    bool good = PUT(buffer, G2H_RECORD_STACKFRAME, walked->sp, depth, child) &&
                put_bytes(buffer, contents) &&
                PUT(buffer, runtime_function_entry(code), walked->pc, walked->continpc) &&
                records_put_name(frames->records, name.size > 0 ? name : unknown);
    for (size_t i = 0; good && i < walked->words; i++)
        good = put_field(buffer, words[i]);
    frames->records->account->frames++;
    return good;
}

/* Pointers in frames make stack objects live, so these are found after all frames are known. */
struct g2h_error *frames_put(struct frames *frames)
{
    struct records *records = frames->records;
    const uint64_t *words = frames->words.data;
    size_t next = 0;
    TRY_MEMORY(point_from_all(frames) && stack_objects_find(&frames->objects));
    records->account->frames_conservative += frames->objects.conservative;
    records->account->stacks_incomplete += frames->is_incomplete || frames->objects.is_incomplete;
    for (size_t i = 0; i < frames->walked.count; i++) {
        const struct frame_walked *walked = &frames->walked.data[i];
        TRY_MEMORY(put_frame(frames, i, words) && put_object_words(frames, walked, words, &next) &&
                   put_number(&records->buffer, 0));
        if (walked->words > 0) /* the list has no memory while it is empty */
            words += walked->words;
        if (records->buffer.size >= RECORDS_FLUSHED_AT)
            TRY(records_flush(records));
    }
    return NULL;
}
