/*
 * goroutines: the records of goroutines, their frames, their deferred functions and panics.
 *
 * What a frame has of pointers is what the dumper lists: the map of live words of the last call,
 * and the callee's arguments. A goroutine that was stopped anywhere has no such map: each word of
 * its innermost frame, and each register, may be a pointer then, as the collector takes it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/scope.h"
#include "process/records.h"
#include "process/threads.h"

enum { WORD = 8, LONGEST_REASON = 64 };

/* atomicstatus: those that are not said, and one whose stack is being moved. */
enum {
    STATUS_IDLE = 0,
    STATUS_DEAD = 6,
    STATUS_COPYSTACK = 8,
    STATUS_DEADEXTRA = 11,
    SCAN = 0x1000
};

enum { FUNCDATA_ARGS_POINTER_MAPS = 0, FUNCDATA_LOCALS_POINTER_MAPS = 1 };

/* fingStatus: the finalizers' goroutine runs code of the program. */
enum { RUNNING_FINALIZER = 2 };

/* A bit per word. */
struct live_words {
    const uint8_t *bits; /* NULL: not known */
    uint64_t count;
};

/* What a frame says of the one that called it. */
struct child {
    uint64_t sp, depth;
    uint64_t argoff, arglen;
    struct live_words args;
};

struct dumping {
    struct records *records;
    struct threads threads;
    struct unwinder *unwinder;
    uint64_t stack_left;            /* bytes that frames may have yet: stacks do not overlap */
    struct worker_buffer registers; /* records of them, for behind the last goroutine */
};

/* ---- frames ---- */

/* A table of live words (runtime.stackmap): how many rows it has, how many bits each, and the rows.
 */
static bool read_map(const struct dumping *dumping, const struct unwind_function *function,
                     unsigned funcdata, bool *ret_has, struct live_words *ret)
{
    const struct runtime *runtime = dumping->records->runtime;
    uint64_t offset, rows, words;
    *ret = (struct live_words){0};
    *ret_has = false;
    if (funcdata >= function->record.funcdata_count)
        return true;
    offset = memory_number(function->record.funcdata + 4 * (size_t)funcdata, 4);
    if (offset == UINT32_MAX)
        return true;
    const uint64_t table = runtime->gofunc + offset;
    *ret_has = true;
    if (!memory_read(runtime->memory, table, 4, &rows) ||
        !memory_read(runtime->memory, table + 4, 4, &words) || words > INT32_MAX)
        return false;
    if (rows == 0 || rows > INT32_MAX || (uint64_t)function->map >= rows)
        return true;
    const uint64_t bytes = (words + 7) / 8;
    ret->bits = memory_at(runtime->memory, table + 8 + bytes * (uint64_t)function->map, bytes);
    ret->count = ret->bits ? words : 0;
    return ret->bits || words == 0;
}

/* Of words from an offset on, in a frame of size bytes. */
static bool put_live_words(struct worker_buffer *buffer, const struct live_words *words,
                           uint64_t offset, uint64_t size)
{
    for (uint64_t i = 0; i < words->count && offset + i * WORD < size; i++)
        if ((words->bits[i / 8] >> (i % 8) & 1) != 0 && !put_field(buffer, offset + i * WORD))
            return false;
    return true;
}

/* All words in [from, end) of a frame, which has size bytes. */
static bool put_all_words(struct worker_buffer *buffer, uint64_t from, uint64_t end, uint64_t size)
{
    for (uint64_t i = from; i < end && i < size; i += WORD)
        if (!put_field(buffer, i))
            return false;
    return true;
}

static bool put_locals(const struct dumping *dumping, const struct unwind_frame *frame,
                       const struct child *child)
{
    struct worker_buffer *buffer = &dumping->records->buffer;
    const uint64_t varp = frame->varp - frame->sp;
    struct live_words words;
    bool has_map;
    if (!read_map(dumping, frame->function, FUNCDATA_LOCALS_POINTER_MAPS, &has_map, &words))
        dumping->records->runtime->missing++;
    if (!has_map)
        return put_all_words(buffer, child->arglen, varp, frame->fp - frame->sp);
    return words.count * WORD > varp ||
           put_live_words(buffer, &words, varp - words.count * WORD, varp);
}

/* The arguments of the callee, which lie in this frame. */
static bool put_arguments(const struct dumping *dumping, const struct unwind_frame *frame,
                          const struct child *child)
{
    struct worker_buffer *buffer = &dumping->records->buffer;
    return child->args.bits || child->args.count > 0
               ? put_live_words(buffer, &child->args, child->argoff, frame->fp - frame->sp)
               : put_all_words(buffer, child->argoff, child->argoff + child->arglen,
                               frame->fp - frame->sp);
}

static bool put_fields(const struct dumping *dumping, const struct unwind_frame *frame,
                       const struct child *child)
{
    struct worker_buffer *buffer = &dumping->records->buffer;
    if (frame->is_conservative)
        return put_all_words(buffer, 0, frame->varp - frame->sp, frame->fp - frame->sp) &&
               put_number(buffer, 0);
    return put_arguments(dumping, frame, child) && put_locals(dumping, frame, child) &&
           put_number(buffer, 0);
}

/* What is known of a frame when its caller is looked at. */
static void become_child(const struct dumping *dumping, const struct unwind_frame *frame,
                         struct child *child)
{
    const int32_t args = frame->function->record.args;
    bool has_map;
    child->sp = frame->sp;
    child->depth++;
    child->argoff = frame->argp - frame->fp;
    child->arglen = args > 0 ? (uint64_t)args : 0;
    if (!read_map(dumping, frame->function, FUNCDATA_ARGS_POINTER_MAPS, &has_map, &child->args))
        dumping->records->runtime->missing++;
    if (has_map && !child->args.bits)
        child->arglen = 0; /* there are none */
}

static struct g2h_error *put_frame(struct dumping *dumping, const struct unwind_frame *frame,
                                   struct child *child)
{
    const struct runtime *runtime = dumping->records->runtime;
    struct worker_buffer *buffer = &dumping->records->buffer;
    const struct g2h_bytes name = runtime_function_name(runtime, frame->function->index),
                           contents = {memory_at(runtime->memory, frame->sp, frame->fp - frame->sp),
                                       frame->fp - frame->sp},
                           unknown = {(const uint8_t *)"unknown function", 16};
    if ((!contents.data && contents.size > 0) || contents.size > dumping->stack_left)
        return NULL;
    dumping->stack_left -= contents.size;
    TRY_MEMORY(PUT(buffer, G2H_RECORD_STACKFRAME, frame->sp, child->depth, child->sp) &&
               put_bytes(buffer, contents) &&
               PUT(buffer, frame->function->entry, frame->pc, frame->continpc) &&
               records_put_name(dumping->records, name.size > 0 ? name : unknown) &&
               put_fields(dumping, frame, child));
    become_child(dumping, frame, child);
    dumping->records->account->frames++;
    return NULL;
}

static struct g2h_error *put_frames(struct dumping *dumping, uint64_t g,
                                    const struct unwind_start *start)
{
    struct runtime *runtime = dumping->records->runtime;
    struct unwinder *unwinder = dumping->unwinder;
    struct child child = {0};
    bool more = unwind_first(unwinder, runtime_field(runtime, g, LAYOUT_G_STACK_LO),
                             runtime_field(runtime, g, LAYOUT_G_STACK_HI), start);
    for (; more; more = unwind_next(unwinder))
        TRY(put_frame(dumping, &unwinder->frame, &child));
    dumping->records->account->stacks_incomplete += !unwinder->is_complete;
    return NULL;
}

/* ---- goroutines ---- */

static bool is_of_runtime(struct g2h_bytes function)
{
    static const char package[] = "runtime.";
    const size_t size = sizeof(package) - 1;
    return function.size >= size && memcmp(function.data, package, size) == 0;
}

/* Whether a frame of a goroutine is of another package than the runtime. */
static bool runs_program(const struct dumping *dumping, uint64_t g,
                         const struct unwind_start *start)
{
    struct runtime *runtime = dumping->records->runtime;
    struct unwinder *unwinder = dumping->unwinder;
    bool more = unwind_first(unwinder, runtime_field(runtime, g, LAYOUT_G_STACK_LO),
                             runtime_field(runtime, g, LAYOUT_G_STACK_HI), start);
    for (; more; more = unwind_next(unwinder))
        if (!is_of_runtime(runtime_function_name(runtime, unwinder->frame.function->index)))
            return true;
    return false;
}

/* runtime.isSystemGoroutine() */
static bool is_system(const struct dumping *dumping, uint64_t g, const struct unwind_start *start)
{
    struct runtime *runtime = dumping->records->runtime;
    uint64_t index, status;
    if (!runtime_function(runtime, runtime_field(runtime, g, LAYOUT_G_STARTPC), &index))
        return false;
    const struct g2h_bytes name = runtime_function_name(runtime, index);
    if (!is_of_runtime(name) || runtime_is_named(name, "runtime.main") ||
        runtime_is_named(name, "runtime.corostart") ||
        runtime_is_named(name, "runtime.handleAsyncEvent"))
        return false;
    if (runtime_is_named(name, "runtime.runCleanups"))
        return runtime_field(runtime, g, LAYOUT_G_RUNNING_CLEANUPS) == 0;
    if (!runtime_is_named(name, "runtime.runfinq") &&
        !runtime_is_named(name, "runtime.runFinalizers"))
        return true;
    if (runtime->fing_status == 0)
        return !runs_program(dumping, g, start);
    if (runtime->minor < 20) /* fingRunning is a bool */
        return !memory_read(runtime->memory, runtime->fing_status, 1, &status) || status == 0;
    return !memory_read(runtime->memory, runtime->fing_status, 4, &status) ||
           (status & RUNNING_FINALIZER) == 0;
}

static struct g2h_bytes wait_reason(struct runtime *runtime, uint64_t g)
{
    const uint64_t reason = runtime_field(runtime, g, LAYOUT_G_WAITREASON);
    const struct g2h_bytes none = {(const uint8_t *)"", 0};
    if (runtime->wait_reasons == 0)
        return none;
    const struct g2h_bytes text = runtime_string_at(runtime, runtime->wait_reasons + 16 * reason);
    return text.size <= LONGEST_REASON ? text : none;
}

static bool put_goroutine(const struct dumping *dumping, uint64_t g, uint64_t status,
                          const struct unwind_start *start)
{
    struct runtime *runtime = dumping->records->runtime;
    struct worker_buffer *buffer = &dumping->records->buffer;
    return PUT(buffer, G2H_RECORD_GOROUTINE, g, start->sp, runtime_field(runtime, g, LAYOUT_G_GOID),
               runtime_field(runtime, g, LAYOUT_G_GOPC), status, is_system(dumping, g, start), 0,
               runtime_field(runtime, g, LAYOUT_G_WAITSINCE)) &&
           put_bytes(buffer, wait_reason(runtime, g)) &&
           PUT(buffer, runtime_field(runtime, g, LAYOUT_G_SCHED_CTXT),
               runtime_field(runtime, g, LAYOUT_G_M), runtime_field(runtime, g, LAYOUT_G_DEFER),
               runtime_field(runtime, g, LAYOUT_G_PANIC));
}

/* ---- defers and panics ---- */

/* A chain has no more links than there is memory for; one in a circle ends. */
static uint64_t longest_chain(const struct runtime *runtime)
{
    return runtime->memory->bytes / 32;
}

static struct g2h_error *put_defers(const struct dumping *dumping, uint64_t g, uint64_t *left)
{
    struct runtime *runtime = dumping->records->runtime;
    uint64_t defer = runtime_field(runtime, g, LAYOUT_G_DEFER);
    for (; defer != 0 && *left > 0; (*left)--) {
        const uint64_t function = runtime_field(runtime, defer, LAYOUT_DEFER_FN),
                       link = runtime_field(runtime, defer, LAYOUT_DEFER_LINK);
        uint64_t code = 0;
        if (function != 0)
            runtime_word(runtime, function, &code);
        TRY_MEMORY(PUT(&dumping->records->buffer, G2H_RECORD_DEFER, defer, g,
                       runtime_field(runtime, defer, LAYOUT_DEFER_SP),
                       runtime_field(runtime, defer, LAYOUT_DEFER_PC), function, code, link));
        defer = link;
    }
    return NULL;
}

static struct g2h_error *put_panics(const struct dumping *dumping, uint64_t g, uint64_t *left)
{
    struct runtime *runtime = dumping->records->runtime;
    uint64_t panic = runtime_field(runtime, g, LAYOUT_G_PANIC);
    for (; panic != 0 && *left > 0; (*left)--) {
        const uint64_t arg = panic + runtime_offset(runtime, LAYOUT_PANIC_ARG),
                       link = runtime_field(runtime, panic, LAYOUT_PANIC_LINK);
        uint64_t type = 0, data = 0;
        runtime_word(runtime, arg, &type);
        runtime_word(runtime, arg + WORD, &data);
        TRY_MEMORY(PUT(&dumping->records->buffer, G2H_RECORD_PANIC, panic, g, type, data, 0, link));
        panic = link;
    }
    return NULL;
}

/* ---- registers ---- */

/* Registers of a goroutine that was stopped anywhere are roots as its frames are. There are no more
 * such than threads. */
static bool put_registers(struct dumping *dumping, uint64_t g, const struct unwind_start *start)
{
    enum { LEAST = 4096 };
    struct runtime *runtime = dumping->records->runtime;
    const char *name;
    uint64_t value;
    if (dumping->records->account->goroutines_running > runtime->process->threads.count)
        return true;
    for (unsigned i = 0; threads_register(&dumping->threads, start, i, &name, &value); i++) {
        char text[64];
        const int size = snprintf(text, sizeof(text), "%s of goroutine %llu", name,
                                  (unsigned long long)runtime_field(runtime, g, LAYOUT_G_GOID));
        const struct g2h_bytes description = {(const uint8_t *)text, (uint64_t)size};
        if (value >= LEAST && !(put_number(&dumping->registers, G2H_RECORD_OTHERROOT) &&
                                put_bytes(&dumping->registers, description) &&
                                put_number(&dumping->registers, value)))
            return false;
    }
    return true;
}

/* ---- all of them ---- */

static struct g2h_error *put_one(struct dumping *dumping, uint64_t g, uint64_t *left)
{
    enum { LEAST_G = 256 };
    struct runtime *runtime = dumping->records->runtime;
    struct g2h_process_account *account = dumping->records->account;
    const uint64_t status = runtime_field(runtime, g, LAYOUT_G_ATOMICSTATUS) & ~(uint64_t)SCAN;
    struct unwind_start start;
    if (status == STATUS_IDLE || status == STATUS_DEAD || status == STATUS_DEADEXTRA)
        return NULL;
    if (account->goroutines >= runtime->memory->bytes / LEAST_G)
        return error_create(G2H_ERROR_DAMAGED, "%s: runtime.allgs has goroutines many times",
                            runtime->process->name);
    threads_find_start(&dumping->threads, g, &start);
    account->goroutines++;
    account->goroutines_running += start.at_registers;
    TRY_MEMORY(put_goroutine(dumping, g, status, &start));
    if (status == STATUS_COPYSTACK)
        account->stacks_incomplete++;
    else
        TRY(put_frames(dumping, g, &start));
    TRY(put_defers(dumping, g, left));
    TRY(put_panics(dumping, g, left));
    TRY_MEMORY(put_registers(dumping, g, &start));
    return NULL;
}

static struct g2h_error *put_all(struct dumping *dumping)
{
    struct records *records = dumping->records;
    struct runtime *runtime = records->runtime;
    struct runtime_slice allgs;
    uint64_t left = longest_chain(runtime);
    if (!runtime_slice_at(runtime, runtime->allgs, &allgs))
        return NULL;
    for (uint64_t i = 0; i < allgs.count; i++) {
        uint64_t g = 0;
        if (!memory_read(runtime->memory, allgs.data + WORD * i, WORD, &g))
            break;
        if (g != 0)
            TRY(put_one(dumping, g, &left));
    }
    TRY_MEMORY(put_raw(&records->buffer, dumping->registers.data, dumping->registers.size));
    for (size_t i = 0; i < dumping->threads.ms.count; i++) {
        const struct thread_m *m = &dumping->threads.ms.data[i];
        TRY_MEMORY(PUT(&records->buffer, G2H_RECORD_OSTHREAD, m->address, m->id, m->procid));
    }
    return NULL;
}

static void dumping_deinit(struct dumping *dumping)
{
    threads_deinit(&dumping->threads);
    free(dumping->unwinder);
    worker_buffer_deinit(&dumping->registers);
}

struct g2h_error *records_put_goroutines(struct records *records)
{
    _cleanup_(dumping_deinit) struct dumping dumping = {
        .records = records, .stack_left = records->runtime->memory->bytes};
    dumping.unwinder = calloc(1, sizeof(*dumping.unwinder));
    TRY_MEMORY(dumping.unwinder);
    unwinder_init(dumping.unwinder, records->runtime);
    TRY(threads_init(&dumping.threads, records->runtime));
    return put_all(&dumping);
}
