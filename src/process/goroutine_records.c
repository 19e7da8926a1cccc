/*
 * goroutine_records: writes the records of goroutines, their frames, deferred calls and panics; see
 * goroutine_records.h. Three parts:
 *
 * stack_objects  variables on a stack whose address is taken: they live only if something alive
 *                points to them, so they are searched like a small heap
 * frames         walks the frames of a goroutine (unwind.h) and lists the words that are pointers,
 *                by the function's own tables; without these, any word may be one
 * goroutines     the records, and what of the process's copy is kept for them
 *
 * A budget (work_left and the like) bounds what a damaged process can make this do.
 */
#include "process/goroutine_records.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"

/* ==== the variables on a stack that are only live if something points to them ==== */

enum { WORD = 8 };

/*
 * Offsets in runtime.stackObjectRecord, which has: an offset, from varp if negative, otherwise from
 * argp; the size; the bytes up to the last pointer, negative if a GC program describes the
 * pointers; the mask or program, as an offset from moduledata.rodata.
 */
enum { RECORD = 16, RECORD_SIZE = 4, RECORD_POINTERS = 8, RECORD_MASK = 12 };

void stack_objects_init(struct stack_objects *objects, const struct runtime *runtime)
{
    *objects = (struct stack_objects){.runtime = runtime, .left = runtime->memory->bytes};
}

/* Frees the masks that were made for the objects of a stack. */
static void free_masks(struct stack_objects *objects)
{
    for (size_t i = 0; i < objects->masks.count; i++)
        free(objects->masks.data[i]);
    objects->masks.count = 0;
}

void stack_objects_deinit(struct stack_objects *objects)
{
    free(objects->list.data);
    free(objects->grey.data);
    free(objects->words.data);
    free_masks(objects);
    free(objects->masks.data);
}

/* Begins with another stack, which is [low, high). */
void stack_objects_begin(struct stack_objects *objects, uint64_t low, uint64_t high)
{
    objects->list.count = objects->grey.count = objects->words.count = 0;
    free_masks(objects);
    objects->conservative = 0;
    objects->is_incomplete = false;
    objects->low = low;
    objects->high = high;
}

/* Takes up to count from the budget of work. Returns how many there were. */
static uint64_t take_work(struct stack_objects *objects, uint64_t count)
{
    const uint64_t taken = MIN(count, objects->left);
    objects->left -= taken;
    return taken;
}

/* ---- finding stack objects ---- */

static int32_t stack_objects_number_at(const uint8_t *record, unsigned offset)
{
    return (int32_t)memory_number(record + offset, 4);
}

/* Finds the mask of a stack object at an address. If it is missing or invalid, the object has none,
 * which is counted. Returns false if memory runs out. is_program: the address is not that of a
 * mask, but of a program that writes it (a GC program). */
static bool find_mask(struct stack_objects *objects, uint64_t address, bool is_program,
                      struct stack_object *object)
{
    const struct runtime *runtime = objects->runtime;
    const uint64_t bytes = (object->words + 7) / 8;
    object->mask = NULL;
    if (!is_program) {
        object->mask = memory_at(runtime->memory, address, bytes);
    } else if (take_work(objects, bytes) == bytes) {
        uint8_t *mask = calloc(count_and_end(bytes), 1);
        if (!mask || !vector_push(&objects->masks, mask)) {
            free(mask);
            return false;
        }
        if (type_masks_run(runtime, address, object->words, mask))
            object->mask = mask;
    }
    objects->conservative += object->mask == NULL;
    return true;
}

/* Adds a stack object, a variable of a frame whose address is taken. record is its entry in the
 * function's table, a runtime.stackObjectRecord: see RECORD. *ret_good becomes false if it cannot
 * be on the stack. Returns false if memory runs out. */
static bool stack_objects_add_one(struct stack_objects *objects, uint64_t rodata,
                                  const uint8_t *record, uint64_t varp, uint64_t argp,
                                  bool *ret_good)
{
    const int32_t offset = stack_objects_number_at(record, 0);
    const int32_t size = stack_objects_number_at(record, RECORD_SIZE);
    const int32_t pointers = stack_objects_number_at(record, RECORD_POINTERS);
    const int64_t bytes_with_pointers = pointers < 0 ? -(int64_t)pointers : pointers;
    /* Locals are below varp, and have negative offsets; arguments are from argp on. */
    struct stack_object object = {.address = (offset < 0 ? varp : argp) + (uint64_t)(int64_t)offset,
                                  .size = (uint64_t)size,
                                  .words = (uint64_t)bytes_with_pointers / WORD};
    if (size <= 0 || object.words > object.size / WORD || object.address % WORD != 0 ||
        object.address < objects->low || object.address >= objects->high ||
        object.size > objects->high - object.address) {
        *ret_good = false;
        return true;
    }
    const uint64_t mask = rodata + (uint32_t)stack_objects_number_at(record, RECORD_MASK);
    return (object.words == 0 || find_mask(objects, mask, pointers < 0, &object)) &&
           vector_push(&objects->list, object);
}

/* Adds the stack objects of a frame, by the function's table: their number, and a record of each.
 * rodata is that of the function's module, from which records have the offsets of masks. *ret_good
 * becomes false if the table is missing, has more objects than the stack has words, or has one that
 * cannot be on the stack, or if the budget of work is used up. Returns false if memory runs out. */
bool stack_objects_add(struct stack_objects *objects, uint64_t rodata, uint64_t table,
                       uint64_t varp, uint64_t argp, bool *ret_good)
{
    const struct memory *memory = objects->runtime->memory;
    uint64_t count;
    *ret_good =
        memory_read(memory, table, WORD, &count) && count <= (objects->high - objects->low) / WORD;
    const uint8_t *records = *ret_good ? memory_at(memory, table + WORD, count * RECORD) : NULL;
    *ret_good = records && take_work(objects, count) == count;
    for (uint64_t i = 0; *ret_good && i < count; i++)
        if (!stack_objects_add_one(objects, rodata, records + i * RECORD, varp, argp, ret_good))
            return false;
    return true;
}

static int compare_objects(const void *a, const void *b)
{
    const struct stack_object *one = a;
    const struct stack_object *other = b;
    return COMPARE(one->address, other->address);
}

void stack_objects_sort(struct stack_objects *objects)
{
    vector_sort(&objects->list, compare_objects);
}

/* ---- live stack objects ---- */

/* Marks the stack object at an address as live; nothing if there is none, or if it is live already.
 * An object that becomes live is scanned later (grey), as the collector does. Returns false if
 * memory runs out. */
bool stack_objects_point(struct stack_objects *objects, uint64_t value)
{
    struct stack_object *list = objects->list.data;
    size_t after;
    if (value < objects->low || value >= objects->high)
        return true;
    BISECT(after, objects->list.count, list[after].address <= value);
    if (after == 0 || value - list[after - 1].address >= list[after - 1].size ||
        list[after - 1].is_live)
        return true;
    list[after - 1].is_live = true;
    return vector_push(&objects->grey, (uint32_t)(after - 1));
}

/* Adds the pointer words of a live stack object, and makes the objects live that they point to.
 * Returns false if memory runs out. */
static bool scan_object(struct stack_objects *objects, struct stack_object object)
{
    const uint8_t *contents =
        memory_at(objects->runtime->memory, object.address, object.words * WORD);
    const uint64_t most = contents ? take_work(objects, object.words) : 0;
    objects->is_incomplete |= most < object.words;
    for (uint64_t i = 0; i < most; i++)
        if ((!object.mask || (object.mask[i / 8] >> (i % 8) & 1) != 0) &&
            !(vector_push(&objects->words, object.address + i * WORD) &&
              stack_objects_point(objects, memory_number(contents + i * WORD, WORD))))
            return false;
    return true;
}

static int compare_words(const void *a, const void *b)
{
    const uint64_t one = *(const uint64_t *)a;
    const uint64_t other = *(const uint64_t *)b;
    return COMPARE(one, other);
}

/* Finds the pointers in all live objects on the stack. Scans objects until none is grey (reached,
 * but not scanned yet); a scan may make others grey. The words are sorted at last. Returns false if
 * memory runs out. */
bool stack_objects_find(struct stack_objects *objects)
{
    while (objects->grey.count > 0)
        if (!scan_object(objects, objects->list.data[objects->grey.data[--objects->grey.count]]))
            return false;
    vector_sort(&objects->words, compare_words);
    return true;
}

/* ==== the records of a goroutine's frames ==== */

/* Indexes into the FUNCDATA tables of a function (internal/abi/symtab.go). */
enum {
    FUNCDATA_ARGS_POINTER_MAPS = 0,
    FUNCDATA_LOCALS_POINTER_MAPS = 1,
    FUNCDATA_STACK_OBJECTS = 2
};

/* Prepares for the frames of records; *ret goes to frames_deinit(). Errors: G2H_ERROR_MEMORY. */
static struct g2h_error *frames_init(struct frames *ret, struct records *records)
{
    *ret = (struct frames){.records = records, .stack_left = records->runtime->memory->bytes};
    stack_objects_init(&ret->objects, records->runtime);
    ret->unwinder = calloc(1, sizeof(*ret->unwinder));
    TRY_MEMORY(ret->unwinder);
    unwinder_init(ret->unwinder, records->runtime);
    return NULL;
}

static void frames_deinit(struct frames *frames)
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

/* Records a frame of the walk, with its words and stack objects. One that cannot be read, or is
 * more than all stacks together may have, is left out. */
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
    walked.words = as_u32(frames->words.count - first_word);
    TRY_MEMORY(vector_push(&frames->walked, walked));
    become_child(frames, frame);
    return NULL;
}

/* Walks the stack of the goroutine at address g from its innermost frame, *start, outwards, and
 * collects frames, words and stack objects. Errors: G2H_ERROR_MEMORY. */
static struct g2h_error *frames_walk(struct frames *frames, uint64_t g,
                                     const struct unwind_start *start)
{
    struct runtime *runtime = frames->records->runtime;
    struct unwinder *unwinder = frames->unwinder;
    const uint64_t low = runtime_field(runtime, g, LAYOUT_G_STACK_LO),
                   high = runtime_field(runtime, g, LAYOUT_G_STACK_HI);
    frames->child = (struct frame_child){0};
    frames->walked.count = frames->words.count = 0;
    frames->is_incomplete = false;
    stack_objects_begin(&frames->objects, low, MAX(high, low));
    for (bool more = unwind_first(unwinder, low, high, start); more; more = unwind_next(unwinder))
        TRY(walk_over(frames, &unwinder->frame));
    stack_objects_sort(&frames->objects);
    frames->is_incomplete |= !unwinder->is_complete;
    return NULL;
}

/* Marks the stack object at an address as live, because a register, or a deferred function of the
 * goroutine whose frames are read, points there. Returns false if memory runs out. */
static bool frames_point(struct frames *frames, uint64_t address)
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
    VECTOR_EACH(const struct frame_walked, walked, frames->walked) {
        const uint8_t *contents = contents_of(frames, walked);
        for (const uint64_t *end = word + walked->words; word < end; word++)
            if (*word + WORD <= walked->fp - walked->sp &&
                !frames_point(frames, memory_number(contents + *word, WORD)))
                return false;
    }
    return true;
}

/* Records in listed which words of a frame are listed: words has their offsets, of which those
 * beyond the frame are left out. Returns false if memory runs out. */
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
 * first word that is not before the frame. Returns false if memory runs out. listed has those of
 * the frame's field list. */
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
    const struct g2h_bytes contents =
        bytes_at(contents_of(frames, walked), walked->fp - walked->sp);
    const struct g2h_bytes unknown = bytes_of("unknown function");
    const struct g2h_bytes name = runtime_function_name(code);
    const uint64_t child = depth > 0 ? walked[-1].sp : 0;
    bool good = PUT_NUMBERS(buffer, G2H_RECORD_STACKFRAME, walked->sp, depth, child) &&
                put_bytes(buffer, contents) &&
                PUT_NUMBERS(buffer, runtime_function_entry(code), walked->pc, walked->continpc) &&
                records_put_name(frames->records, name.size > 0 ? name : unknown);
    for (size_t i = 0; good && i < walked->words; i++)
        good = put_field(buffer, words[i]);
    frames->records->account->frames++;
    return good;
}

/*
 * Adds the records of the frames of the last frames_walk(); writes the buffer periodically, because
 * the stack may be large.
 *
 * Pointers in frames make stack objects live, so these are found after all frames are known.
 */
static struct g2h_error *frames_put(struct frames *frames)
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

/* ==== goroutines, their deferred functions and panics ==== */

enum { LONGEST_REASON = 64 };

/* A bit of fingStatus: the finalizers' goroutine runs the program's code. */
enum { RUNNING_FINALIZER = 2 };

struct goroutines {
    struct records *records;
    struct threads threads;
    struct frames frames;
    uint64_t defers_left;           /* defers whose pointers may still be visited */
    uint64_t words_left;            /* words of stacks that may still be scanned */
    struct worker_buffer registers; /* records of registers, which follow the last goroutine */
};

/* ---- goroutines ---- */

/* Returns whether a function is in package runtime, by its name. */
static bool is_in_package_runtime(struct g2h_bytes function)
{
    static const char package[] = "runtime.";
    const size_t size = sizeof(package) - 1;
    return function.size >= size && memcmp(function.data, package, size) == 0;
}

/* Returns whether one of a goroutine's frames is of a function outside package runtime. */
static bool runs_program(const struct goroutines *goroutines, uint64_t g,
                         const struct unwind_start *start)
{
    struct runtime *runtime = goroutines->records->runtime;
    struct unwinder *unwinder = goroutines->frames.unwinder;
    bool more = unwind_first(unwinder, runtime_field(runtime, g, LAYOUT_G_STACK_LO),
                             runtime_field(runtime, g, LAYOUT_G_STACK_HI), start);
    for (; more; more = unwind_next(unwinder))
        if (!is_in_package_runtime(runtime_function_name(unwinder->frame.function->code)))
            return true;
    return false;
}

/* Returns whether a goroutine is a system goroutine, as runtime.isSystemGoroutine() does: one that
 * a function of the runtime runs, except for main, coroutines and what handles async events. Those
 * that run finalizers or cleanups are so only while they do not run the program's. */
static bool is_system(const struct goroutines *goroutines, uint64_t g,
                      const struct unwind_start *start)
{
    struct runtime *runtime = goroutines->records->runtime;
    struct runtime_code function;
    uint64_t status = 0;
    if (!runtime_function(runtime, runtime_field(runtime, g, LAYOUT_G_STARTPC), &function))
        return false;
    const struct g2h_bytes name = runtime_function_name(function);
    if (!is_in_package_runtime(name) || runtime_is_named(name, "runtime.main") ||
        runtime_is_named(name, "runtime.corostart") ||
        runtime_is_named(name, "runtime.handleAsyncEvent"))
        return false;
    if (runtime_is_named(name, "runtime.runCleanups"))
        return runtime_field(runtime, g, LAYOUT_G_RUNNING_CLEANUPS) == 0;
    if (!runtime_is_named(name, "runtime.runfinq") &&
        !runtime_is_named(name, "runtime.runFinalizers"))
        return true;
    if (runtime->fing_status == 0)
        return !runs_program(goroutines, g, start);
    if (runtime->minor < 20) /* fingRunning is a bool */
        return !memory_read(runtime->memory, runtime->fing_status, 1, &status) || status == 0;
    return !memory_read(runtime->memory, runtime->fing_status, 4, &status) ||
           (status & RUNNING_FINALIZER) == 0;
}

/* Returns why a goroutine waits, as stack traces say it (runtime.waitReasonStrings); empty if that
 * is not known, or is longer than LONGEST_REASON. */
static struct g2h_bytes wait_reason(struct runtime *runtime, uint64_t g)
{
    enum { STRING_SIZE = 16 }; /* address and length */
    const uint64_t reason = runtime_field(runtime, g, LAYOUT_G_WAITREASON);
    const struct g2h_bytes none = {(const uint8_t *)"", 0};
    if (runtime->wait_reasons == 0)
        return none;
    const struct g2h_bytes text =
        runtime_string_at(runtime, runtime->wait_reasons + STRING_SIZE * reason);
    return text.size <= LONGEST_REASON ? text : none;
}

/* Writes the record of a goroutine. Returns false if memory runs out. */
static bool put_goroutine(const struct goroutines *goroutines, uint64_t g, uint64_t status,
                          const struct unwind_start *start)
{
    struct runtime *runtime = goroutines->records->runtime;
    struct worker_buffer *buffer = &goroutines->records->buffer;
    return PUT_NUMBERS(
               buffer, G2H_RECORD_GOROUTINE, g, start->sp, runtime_field(runtime, g, LAYOUT_G_GOID),
               runtime_field(runtime, g, LAYOUT_G_GOPC), status, is_system(goroutines, g, start), 0,
               runtime_field(runtime, g, LAYOUT_G_WAITSINCE)) &&
           put_bytes(buffer, wait_reason(runtime, g)) &&
           PUT_NUMBERS(buffer, runtime_field(runtime, g, LAYOUT_G_SCHED_CTXT),
                       runtime_field(runtime, g, LAYOUT_G_M),
                       runtime_field(runtime, g, LAYOUT_G_DEFER),
                       runtime_field(runtime, g, LAYOUT_G_PANIC));
}

/* ---- defers and panics ---- */

/* Returns the most links that a chain can have in the memory; a circular chain ends after them. */
static uint64_t longest_chain(const struct runtime *runtime)
{
    return runtime->memory->bytes / 32;
}

/* Writes the deferred calls of a goroutine. *left: how many links may still be followed. */
static struct g2h_error *put_defers(const struct goroutines *goroutines, uint64_t g, uint64_t *left)
{
    struct runtime *runtime = goroutines->records->runtime;
    uint64_t defer = runtime_field(runtime, g, LAYOUT_G_DEFER);
    for (; defer != 0 && *left > 0; (*left)--) {
        const uint64_t function = runtime_field(runtime, defer, LAYOUT_DEFER_FN);
        const uint64_t link = runtime_field(runtime, defer, LAYOUT_DEFER_LINK);
        uint64_t code = 0;
        if (function != 0)
            runtime_word(runtime, function, &code);
        TRY_MEMORY(PUT_NUMBERS(&goroutines->records->buffer, G2H_RECORD_DEFER, defer, g,
                               runtime_field(runtime, defer, LAYOUT_DEFER_SP),
                               runtime_field(runtime, defer, LAYOUT_DEFER_PC), function, code,
                               link));
        defer = link;
    }
    runtime->missing += defer != 0; /* the chain does not end */
    return NULL;
}

/* Writes the panics of a goroutine. *left: how many links may still be followed. */
static struct g2h_error *put_panics(const struct goroutines *goroutines, uint64_t g, uint64_t *left)
{
    struct runtime *runtime = goroutines->records->runtime;
    uint64_t panic = runtime_field(runtime, g, LAYOUT_G_PANIC);
    for (; panic != 0 && *left > 0; (*left)--) {
        const uint64_t arg = panic + runtime_offset(runtime, LAYOUT_PANIC_ARG);
        const uint64_t link = runtime_field(runtime, panic, LAYOUT_PANIC_LINK);
        uint64_t type = 0, data = 0;
        runtime_word(runtime, arg, &type);
        runtime_word(runtime, arg + WORD, &data);
        TRY_MEMORY(PUT_NUMBERS(&goroutines->records->buffer, G2H_RECORD_PANIC, panic, g, type, data,
                               0, link));
        panic = link;
    }
    runtime->missing += panic != 0; /* the chain does not end */
    return NULL;
}

/* ---- registers ---- */

/*
 * Writes the registers of a goroutine that was stopped at an arbitrary instruction: they are roots,
 * as its frames are. There are no more such goroutines than threads. Returns false if memory runs
 * out.
 */
static bool put_registers(struct goroutines *goroutines, uint64_t g,
                          const struct unwind_start *start)
{
    enum { LEAST = 4096 /* the first page is never mapped: lower values are no pointers */ };
    struct runtime *runtime = goroutines->records->runtime;
    const char *name;
    uint64_t value;
    if (goroutines->records->account->goroutines_running > runtime->process->threads.count) {
        runtime->missing++;
        return true;
    }
    for (unsigned i = 0; threads_register(&goroutines->threads, start, i, &name, &value); i++) {
        char text[64];
        const int size = snprintf(text, sizeof(text), "%s of goroutine %llu", name,
                                  (unsigned long long)runtime_field(runtime, g, LAYOUT_G_GOID));
        const struct g2h_bytes description = bytes_at(text, as_size(size));
        if (value >= LEAST && !(put_number(&goroutines->registers, G2H_RECORD_OTHERROOT) &&
                                put_bytes(&goroutines->registers, description) &&
                                put_number(&goroutines->registers, value)))
            return false;
    }
    return true;
}

/* ---- goroutines that were running when their process died ---- */

/* Returns whether a goroutine was running in a thread whose registers are not known: when a process
 * dies, only those of one thread are. The position saved by the runtime may be from the goroutine's
 * last system call, or from before it was resumed. */
static bool is_scanned(const struct goroutines *goroutines, uint64_t status,
                       const struct unwind_start *start)
{
    return goroutines->records->runtime->process->is_dead && status == STATUS_RUNNING &&
           start->is_saved;
}

/* Writes all words of a stack that may be pointers as roots: those that the goroutine still used
 * are among them. Ends when words_left is used up, which counts as missing. Returns false if memory
 * runs out. */
static bool put_stack(struct goroutines *goroutines, uint64_t g)
{
    struct runtime *runtime = goroutines->records->runtime;
    const struct memory *memory = runtime->memory;
    const uint64_t high = runtime_field(runtime, g, LAYOUT_G_STACK_HI);
    uint64_t value;
    uint64_t at = runtime_field(runtime, g, LAYOUT_G_STACK_LO);
    char text[64];
    const int size = snprintf(text, sizeof(text), "stack of goroutine %llu",
                              (unsigned long long)runtime_field(runtime, g, LAYOUT_G_GOID));
    const struct g2h_bytes description = bytes_at(text, as_size(size));
    for (; at < high && goroutines->words_left > 0; at += WORD, goroutines->words_left--) {
        if (!memory_read(memory, at, WORD, &value) || !memory_range_at(memory, value))
            continue; /* it points to no memory that is there */
        if (!put_number(&goroutines->registers, G2H_RECORD_OTHERROOT) ||
            !put_bytes(&goroutines->registers, description) ||
            !put_number(&goroutines->registers, value))
            return false;
    }
    runtime->missing += at < high;
    return true;
}

/* ---- pointers to stack objects from outside frames ---- */

/* Marks the stack objects that a goroutine's defers point to, as the collector does
 * (runtime.scanstack). Returns false if memory runs out. */
static bool point_from_defers(struct goroutines *goroutines, uint64_t g)
{
    struct runtime *runtime = goroutines->records->runtime;
    struct frames *frames = &goroutines->frames;
    uint64_t defer = runtime_field(runtime, g, LAYOUT_G_DEFER);
    for (; defer != 0 && goroutines->defers_left > 0; goroutines->defers_left--) {
        const uint64_t link = runtime_field(runtime, defer, LAYOUT_DEFER_LINK);
        if (!frames_point(frames, runtime_field(runtime, defer, LAYOUT_DEFER_FN)) ||
            !frames_point(frames, link))
            return false;
        defer = link;
    }
    runtime->missing += defer != 0;
    return true;
}

/* Marks the stack objects that a goroutine's registers, its context, panics and defers point to.
 * Returns false if memory runs out. */
static bool point_from_others(struct goroutines *goroutines, uint64_t g,
                              const struct unwind_start *start)
{
    struct runtime *runtime = goroutines->records->runtime;
    struct frames *frames = &goroutines->frames;
    const char *name;
    uint64_t value;
    for (unsigned i = 0; threads_register(&goroutines->threads, start, i, &name, &value); i++)
        if (!frames_point(frames, value))
            return false;
    return frames_point(frames, runtime_field(runtime, g, LAYOUT_G_SCHED_CTXT)) &&
           frames_point(frames, runtime_field(runtime, g, LAYOUT_G_PANIC)) &&
           point_from_defers(goroutines, g);
}

/* ---- all of them ---- */

/* Writes the records of a goroutine: itself, its frames, defers, panics and registers. Dead ones
 * have none. *left: how many links of defers and panics may still be followed. Error
 * G2H_ERROR_DAMAGED if there are more goroutines than the memory can have. */
static struct g2h_error *put_goroutine_records(struct goroutines *goroutines, uint64_t g,
                                               uint64_t *left)
{
    enum { LEAST_G = 256 /* bytes: no release has a smaller runtime.g */ };
    struct runtime *runtime = goroutines->records->runtime;
    struct g2h_process_account *account = goroutines->records->account;
    const uint64_t status =
        runtime_field(runtime, g, LAYOUT_G_ATOMICSTATUS) & ~(uint64_t)STATUS_SCAN;
    struct unwind_start start;
    if (status == STATUS_IDLE || status == STATUS_DEAD || status == STATUS_DEADEXTRA)
        return NULL;
    if (account->goroutines >= runtime->memory->bytes / LEAST_G)
        return error_create(G2H_ERROR_DAMAGED, "%s: runtime.allgs has goroutines many times",
                            runtime->process->name);
    threads_find_start(&goroutines->threads, g, &start);
    account->goroutines++;
    account->goroutines_running += start.at_registers;
    TRY_MEMORY(put_goroutine(goroutines, g, status, &start));
    if (status == STATUS_COPYSTACK) {
        account->stacks_incomplete++;
    } else if (is_scanned(goroutines, status, &start)) {
        account->goroutines_scanned++;
        TRY_MEMORY(put_stack(goroutines, g));
    } else {
        TRY(frames_walk(&goroutines->frames, g, &start));
        TRY_MEMORY(point_from_others(goroutines, g, &start));
        TRY(frames_put(&goroutines->frames));
    }
    TRY(put_defers(goroutines, g, left));
    TRY(put_panics(goroutines, g, left));
    TRY_MEMORY(put_registers(goroutines, g, &start));
    return NULL;
}

/* Writes the records of all goroutines and their frames. The records of registers, which are roots,
 * come after all goroutines; those of threads (Ms) last. */
struct g2h_error *records_put_goroutines(struct goroutines *goroutines)
{
    struct records *records = goroutines->records;
    struct runtime *runtime = records->runtime;
    struct runtime_slice allgs;
    uint64_t left = longest_chain(runtime);
    if (!runtime_slice_at(runtime, runtime->allgs, &allgs)) {
        runtime->missing++;
        allgs.count = 0;
    }
    for (uint64_t i = 0; i < allgs.count; i++) {
        uint64_t g = 0;
        if (!runtime_word(runtime, allgs.data + WORD * i, &g))
            break;
        if (g != 0)
            TRY(put_goroutine_records(goroutines, g, &left));
        if (records->buffer.size >= RECORDS_FLUSHED_AT)
            TRY(records_flush(records));
    }
    TRY_MEMORY(worker_buffer_put(&records->buffer, goroutines->registers.data,
                                 goroutines->registers.size));
    VECTOR_EACH(const struct thread_m, m, goroutines->threads.ms)
        TRY_MEMORY(
            PUT_NUMBERS(&records->buffer, G2H_RECORD_OSTHREAD, m->address, m->id, m->procid));
    return NULL;
}

/* ---- memory that is read once the objects have been written ---- */

/* The parts of a process's copy that are kept for its goroutines. */
struct keeping {
    const struct runtime *runtime;
    struct release *release;
    uint64_t links_left; /* of defers and panics */
    uint64_t bytes_left; /* of everything that may still be kept: goroutines' stacks do not
                            overlap */
};

/* Keeps memory in the copy, as long as keeping->bytes_left lasts: a piece larger than that, and
 * nil, are left out. */
static void keep_bytes(struct keeping *keeping, uint64_t address, uint64_t size)
{
    if (address == 0 || size > keeping->bytes_left)
        return;
    keeping->bytes_left -= size;
    release_keep(keeping->release, address, size);
}

/* Keeps a chain of defers with their closures, or of panics. Only defers (is_defer) have closures.
 * Ends at nil, at memory that cannot be read, or after keeping->links_left links. */
static void keep_chain(struct keeping *keeping, uint64_t g, enum layout_field first,
                       enum layout_field link, bool is_defer)
{
    uint64_t at;
    enum { LINK = 128 /* no release has larger ones */ };
    if (!runtime_peek(keeping->runtime, g, first, &at))
        return;
    for (; at != 0 && keeping->links_left > 0; keeping->links_left--) {
        uint64_t closure, next;
        keep_bytes(keeping, at, LINK);
        if (is_defer && runtime_peek(keeping->runtime, at, LAYOUT_DEFER_FN, &closure))
            keep_bytes(keeping, closure, WORD);
        at = runtime_peek(keeping->runtime, at, link, &next) ? next : 0;
    }
}

/* Keeps a g and its stack. */
static void keep_g(struct keeping *keeping, uint64_t g)
{
    const struct runtime *runtime = keeping->runtime;
    uint64_t low, high;
    keep_bytes(keeping, g, runtime_size(runtime, LAYOUT_G));
    if (runtime_peek(runtime, g, LAYOUT_G_STACK_LO, &low) &&
        runtime_peek(runtime, g, LAYOUT_G_STACK_HI, &high) && low < high)
        keep_bytes(keeping, low, high - low);
}

/* Keeps the memory that the records of all goroutines are read from: those for signals of threads,
 * allgs, and each goroutine's stack, defers and panics. Stops where allgs cannot be read. */
static void keep_all(struct keeping *keeping, const struct threads *threads)
{
    const struct runtime *runtime = keeping->runtime;
    struct runtime_slice allgs;
    VECTOR_EACH(const struct thread_m, m, threads->ms)
        if (m->gsignal != 0)
            keep_g(keeping, m->gsignal);
    if (!runtime_slice_at(runtime, runtime->allgs, &allgs))
        return;
    keep_bytes(keeping, allgs.data, WORD * allgs.count);
    for (uint64_t i = 0; i < allgs.count; i++) {
        uint64_t g = 0;
        if (!memory_read(runtime->memory, allgs.data + WORD * i, WORD, &g))
            break;
        if (g == 0)
            continue;
        keep_g(keeping, g);
        keep_chain(keeping, g, LAYOUT_G_DEFER, LAYOUT_DEFER_LINK, true);
        keep_chain(keeping, g, LAYOUT_G_PANIC, LAYOUT_PANIC_LINK, false);
    }
}

/* Prepares writing, and keeps the memory that goroutines need if the rest is given back meanwhile
 * (release). Errors: G2H_ERROR_MEMORY. */
struct g2h_error *records_begin_goroutines(struct records *records, struct release *release,
                                           struct goroutines **ret)
{
    enum { KEPT = 2 /* times all memory at most, should damaged goroutines share theirs */ };
    struct runtime *runtime = records->runtime;
    struct keeping keeping = {.runtime = runtime,
                              .release = release,
                              .links_left = longest_chain(runtime),
                              .bytes_left = KEPT * runtime->memory->bytes};
    struct goroutines *goroutines = *ret = calloc(1, sizeof(*goroutines));
    TRY_MEMORY(goroutines);
    goroutines->records = records;
    goroutines->defers_left = longest_chain(runtime);
    goroutines->words_left = runtime->memory->bytes / WORD;
    TRY(frames_init(&goroutines->frames, records));
    TRY(threads_init(&goroutines->threads, runtime));
    if (release->blocks > 0)
        keep_all(&keeping, &goroutines->threads);
    return NULL;
}

/* Frees goroutines; they may be NULL. */
void records_end_goroutines(struct goroutines *goroutines)
{
    if (!goroutines)
        return;
    threads_deinit(&goroutines->threads);
    frames_deinit(&goroutines->frames);
    worker_buffer_deinit(&goroutines->registers);
    free(goroutines);
}
