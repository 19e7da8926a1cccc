/* goroutine_records: the records of goroutines, their deferred functions and panics. */
#include <stdio.h>
#include <stdlib.h>

#include "base/scope.h"
#include "process/frames.h"
#include "process/threads.h"

enum { WORD = 8, LONGEST_REASON = 64 };

/* Values of atomicstatus: goroutines that get no record, one that runs, and one whose stack is
 * being moved. */
enum {
    STATUS_IDLE = 0,
    STATUS_RUNNING = 2,
    STATUS_DEAD = 6,
    STATUS_COPYSTACK = 8,
    STATUS_DEADEXTRA = 11,
    SCAN = 0x1000
};

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

/* Returns whether a frame of a goroutine is outside package runtime. */
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

/* Returns whether a goroutine is a system goroutine, as runtime.isSystemGoroutine() does. */
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

/* Returns why a goroutine waits, as stack traces say it; empty if that is not known. */
static struct g2h_bytes wait_reason(struct runtime *runtime, uint64_t g)
{
    const uint64_t reason = runtime_field(runtime, g, LAYOUT_G_WAITREASON);
    const struct g2h_bytes none = {(const uint8_t *)"", 0};
    if (runtime->wait_reasons == 0)
        return none;
    const struct g2h_bytes text = runtime_string_at(runtime, runtime->wait_reasons + 16 * reason);
    return text.size <= LONGEST_REASON ? text : none;
}

/* Writes the record of a goroutine. Returns false if memory runs out. */
static bool put_goroutine(const struct goroutines *goroutines, uint64_t g, uint64_t status,
                          const struct unwind_start *start)
{
    struct runtime *runtime = goroutines->records->runtime;
    struct worker_buffer *buffer = &goroutines->records->buffer;
    return PUT(buffer, G2H_RECORD_GOROUTINE, g, start->sp, runtime_field(runtime, g, LAYOUT_G_GOID),
               runtime_field(runtime, g, LAYOUT_G_GOPC), status, is_system(goroutines, g, start), 0,
               runtime_field(runtime, g, LAYOUT_G_WAITSINCE)) &&
           put_bytes(buffer, wait_reason(runtime, g)) &&
           PUT(buffer, runtime_field(runtime, g, LAYOUT_G_SCHED_CTXT),
               runtime_field(runtime, g, LAYOUT_G_M), runtime_field(runtime, g, LAYOUT_G_DEFER),
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
        const uint64_t function = runtime_field(runtime, defer, LAYOUT_DEFER_FN),
                       link = runtime_field(runtime, defer, LAYOUT_DEFER_LINK);
        uint64_t code = 0;
        if (function != 0)
            runtime_word(runtime, function, &code);
        TRY_MEMORY(PUT(&goroutines->records->buffer, G2H_RECORD_DEFER, defer, g,
                       runtime_field(runtime, defer, LAYOUT_DEFER_SP),
                       runtime_field(runtime, defer, LAYOUT_DEFER_PC), function, code, link));
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
        const uint64_t arg = panic + runtime_offset(runtime, LAYOUT_PANIC_ARG),
                       link = runtime_field(runtime, panic, LAYOUT_PANIC_LINK);
        uint64_t type = 0, data = 0;
        runtime_word(runtime, arg, &type);
        runtime_word(runtime, arg + WORD, &data);
        TRY_MEMORY(
            PUT(&goroutines->records->buffer, G2H_RECORD_PANIC, panic, g, type, data, 0, link));
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
    enum { LEAST = 4096 };
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
        const struct g2h_bytes description = {(const uint8_t *)text, (uint64_t)size};
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
 * are among them. Returns false if memory runs out. */
static bool put_stack(struct goroutines *goroutines, uint64_t g)
{
    struct runtime *runtime = goroutines->records->runtime;
    const struct memory *memory = runtime->memory;
    const uint64_t high = runtime_field(runtime, g, LAYOUT_G_STACK_HI);
    uint64_t value, at = runtime_field(runtime, g, LAYOUT_G_STACK_LO);
    char text[64];
    const int size = snprintf(text, sizeof(text), "stack of goroutine %llu",
                              (unsigned long long)runtime_field(runtime, g, LAYOUT_G_GOID));
    const struct g2h_bytes description = {(const uint8_t *)text, (uint64_t)size};
    for (; at < high && goroutines->words_left > 0; at += WORD, goroutines->words_left--)
        if (memory_read(memory, at, WORD, &value) && memory_range_at(memory, value) &&
            !(put_number(&goroutines->registers, G2H_RECORD_OTHERROOT) &&
              put_bytes(&goroutines->registers, description) &&
              put_number(&goroutines->registers, value)))
            return false;
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
 * have none. */
static struct g2h_error *put_goroutine_records(struct goroutines *goroutines, uint64_t g,
                                               uint64_t *left)
{
    enum { LEAST_G = 256 };
    struct runtime *runtime = goroutines->records->runtime;
    struct g2h_process_account *account = goroutines->records->account;
    const uint64_t status = runtime_field(runtime, g, LAYOUT_G_ATOMICSTATUS) & ~(uint64_t)SCAN;
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

/* The records of registers, which are roots, come after all goroutines; those of threads (Ms)
 * last. */
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
    for (size_t i = 0; i < goroutines->threads.ms.count; i++) {
        const struct thread_m *m = &goroutines->threads.ms.data[i];
        TRY_MEMORY(PUT(&records->buffer, G2H_RECORD_OSTHREAD, m->address, m->id, m->procid));
    }
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

/* Keeps memory in the copy, as long as the budget lasts. */
static void keep_bytes(struct keeping *keeping, uint64_t address, uint64_t size)
{
    if (address == 0 || size > keeping->bytes_left)
        return;
    keeping->bytes_left -= size;
    release_keep(keeping->release, address, size);
}

/* Keeps a chain of defers with their closures, or of panics. */
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

/* Keeps the memory that the records of all goroutines are read from: their stacks, defers and
 * panics. */
static void keep_all(struct keeping *keeping, const struct threads *threads)
{
    const struct runtime *runtime = keeping->runtime;
    struct runtime_slice allgs;
    for (size_t i = 0; i < threads->ms.count; i++)
        if (threads->ms.data[i].gsignal != 0)
            keep_g(keeping, threads->ms.data[i].gsignal);
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

struct g2h_error *records_begin_goroutines(struct records *records, struct release *release,
                                           struct goroutines **ret)
{
    enum { KEPT = 2 };
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

void records_end_goroutines(struct goroutines *goroutines)
{
    if (!goroutines)
        return;
    threads_deinit(&goroutines->threads);
    frames_deinit(&goroutines->frames);
    worker_buffer_deinit(&goroutines->registers);
    free(goroutines);
}
