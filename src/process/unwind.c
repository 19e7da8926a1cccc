/* unwind; see unwind.h. */
#include "process/unwind.h"

#include "base/elf_format.h"
#include "base/map.h"

enum { WORD = 8 };

/* abi.FuncFlag… */
enum { TOP_FRAME = 1, SP_WRITE = 2 };

enum { PCDATA_STACK_MAP_INDEX = 1 };

/* Returns the bytes that the smallest frame of a function has. */
static unsigned least_frame(uint16_t machine)
{
    if (machine == EM_X86_64)
        return 0;
    return machine == EM_PPC64 ? 32 : WORD;
}

void unwinder_init(struct unwinder *unwinder, struct runtime *runtime)
{
    const uint16_t machine = runtime->process->machine;
    enum { WALKS = 4, PER_BYTE = 4 };
    const uint64_t bytes = runtime->memory->bytes;
    unwinder->runtime = runtime;
    unwinder->stack_left = WALKS * bytes;
    unwinder->table_left = exe_lines_most(runtime->exe) + PER_BYTE * bytes;
    unwinder->usual_lr = machine != EM_X86_64;
    unwinder->minimum = least_frame(machine);
    unwinder->pushed = machine == EM_AARCH64 ? 16 : unwinder->minimum;
}

/* ---- functions ---- */

/* Returns which of the runtime's functions that need special treatment has this name, or
 * UNWIND_GO. */
static enum unwind_kind unwind_kind_of(struct g2h_bytes name)
{
    static const struct {
        const char *name;
        enum unwind_kind kind;
    } kinds[] = {
        {"runtime.sigpanic", UNWIND_SIGPANIC},
        {"runtime.asyncPreempt", UNWIND_ASYNC_PREEMPT},
        {"runtime.debugCallV2", UNWIND_DEBUG_CALL},
        {"runtime.cgocallback", UNWIND_CGOCALLBACK},
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (runtime_is_named(name, kinds[i].name))
            return kinds[i].kind;
    return UNWIND_GO;
}

/* Returns the index of the map of live words at a pc: that of the call before it. Returns 0, the
 * first map, at the function's entry and if the table has none. */
static int32_t map_at(const struct unwind_function *function, uint64_t *left)
{
    const struct runtime_module *module = function->code.module;
    int64_t value;
    const uint8_t *pcdata = function->record.pcdata; /* offsets of tables, of 32 bits each */
    const uint32_t table =
        function->record.pcdata_count > PCDATA_STACK_MAP_INDEX
            ? (uint32_t)memory_number(pcdata + 4 * (size_t)PCDATA_STACK_MAP_INDEX, 4)
            : 0;
    if (function->pc == function->entry || table == 0 ||
        !pclntab_value(module->pclntab, table, function->code.index,
                       function->pc - 1 - module->minpc, left, &value) ||
        value < 0 || value > INT32_MAX)
        return 0;
    return (int32_t)value;
}

/* Finds the function at a pc, and the size of its frame there (delta), by its table of stack
 * pointer changes (pcsp). Returns false if that is not known. */
static bool read_function(const struct runtime *runtime, uint64_t pc, uint64_t *left,
                          struct unwind_function *ret)
{
    int64_t delta;
    *ret = (struct unwind_function){.pc = pc};
    if (!runtime_function(runtime, pc, &ret->code))
        return false;
    const struct runtime_module *module = ret->code.module;
    if (!pclntab_function(module->pclntab, ret->code.index, &ret->record) ||
        ret->record.pcsp == 0 ||
        !pclntab_value(module->pclntab, ret->record.pcsp, ret->code.index, pc - module->minpc, left,
                       &delta) ||
        delta < 0)
        return false;
    ret->entry = runtime_function_entry(ret->code);
    ret->delta = (uint64_t)delta;
    ret->kind = unwind_kind_of(runtime_function_name(ret->code));
    ret->map = map_at(ret, left);
    return true;
}

/* Finds the function at a pc and makes it the current one. Returns false if there is none. */
static bool find_function(struct unwinder *unwinder, uint64_t pc)
{
    struct unwind_function *seen = &unwinder->seen[map_hash(pc) % UNWIND_FUNCTIONS];
    if ((pc == 0 || seen->pc != pc) &&
        !read_function(unwinder->runtime, pc, &unwinder->table_left, seen)) {
        seen->pc = 0;
        return false;
    }
    unwinder->current = *seen;
    return true;
}

/* ---- frames ---- */

/* Reads a word of the stack. Returns false if it is missing. */
static bool stack_word(const struct unwinder *unwinder, uint64_t address, uint64_t *ret)
{
    return address >= unwinder->low && address < unwinder->high &&
           unwinder->high - address >= WORD &&
           memory_read(unwinder->runtime->memory, address, WORD, ret);
}

/* Returns whether the stack ends with the current function: a goroutine's first one, or one that
 * has changed the stack pointer, below which nothing is known. */
static bool is_last(const struct unwinder *unwinder)
{
    const struct unwind_function *function = &unwinder->current;
    const bool writes_sp = (function->record.flag & SP_WRITE) != 0 &&
                           function->kind != UNWIND_CGOCALLBACK && !unwinder->is_syscall;
    return (function->record.flag & TOP_FRAME) != 0 || (writes_sp && !unwinder->is_innermost);
}

/* Finds the function's return address; 0 if its frame is the last one. Returns false if the address
 * is missing. */
static bool find_return(struct unwinder *unwinder)
{
    const struct unwind_frame *frame = &unwinder->frame;
    if (is_last(unwinder)) {
        unwinder->lr = 0;
        unwinder->is_complete = true;
        return true;
    }
    if (!unwinder->usual_lr)
        return stack_word(unwinder, frame->fp - WORD, &unwinder->lr);
    return (!(unwinder->is_innermost && frame->sp < frame->fp) && unwinder->lr != 0) ||
           stack_word(unwinder, frame->sp, &unwinder->lr);
}

/* Returns where a frame continues: after a panic by a signal (sigpanic) only its deferred calls are
 * run; 0 if it has none, so that nothing in it lives. */
static uint64_t find_continpc(const struct unwinder *unwinder, bool after_sigpanic)
{
    const struct unwind_function *function = &unwinder->current;
    if (!after_sigpanic)
        return function->pc;
    return function->record.deferreturn != 0 ? function->entry + function->record.deferreturn + 1
                                             : 0;
}

/* Subtracts the bytes of a frame from stack_left, so that many goroutines with one stack do not
 * take long. Returns false if there are too few. */
static bool take_stack(struct unwinder *unwinder, uint64_t size)
{
    const bool is_there = size <= unwinder->stack_left;
    unwinder->stack_left = is_there ? unwinder->stack_left - size : 0;
    return is_there;
}

/* Completes the frame of the current function, from frame.sp. Returns false if it does not fit in
 * the stack, or its return address is missing. */
static bool unwind_complete(struct unwinder *unwinder, bool after_sigpanic)
{
    struct unwind_frame *frame = &unwinder->frame;
    const struct unwind_function *function = &unwinder->current;
    frame->function = function;
    frame->fp = frame->sp + function->delta + (unwinder->usual_lr ? 0 : WORD);
    if (frame->sp < unwinder->low || frame->fp < frame->sp || frame->fp > unwinder->high ||
        !take_stack(unwinder, frame->fp - frame->sp + WORD))
        return false;
    frame->varp = frame->fp - (unwinder->usual_lr ? 0 : WORD);
    if (frame->varp > frame->sp &&
        (!unwinder->usual_lr || unwinder->runtime->process->machine == EM_AARCH64))
        frame->varp -= WORD; /* the frame pointer */
    frame->argp = frame->fp + unwinder->minimum;
    frame->continpc = find_continpc(unwinder, after_sigpanic);
    return find_return(unwinder);
}

/* Sets up the innermost frame. The stack is walked as runtime.unwinder does. */
bool unwind_first(struct unwinder *unwinder, uint64_t low, uint64_t high,
                  const struct unwind_start *start)
{
    struct unwind_frame *frame = &unwinder->frame;
    *frame = (struct unwind_frame){
        .sp = start->sp, .pc = start->pc, .is_conservative = start->at_registers};
    unwinder->low = low;
    unwinder->high = high;
    unwinder->lr = start->lr;
    unwinder->is_innermost = true;
    unwinder->is_syscall = start->is_syscall;
    unwinder->is_complete = false;
    if (frame->pc == 0) { /* a nil function was called: the caller is the innermost */
        if (!stack_word(unwinder, frame->sp, &frame->pc))
            return false;
        frame->sp += unwinder->usual_lr ? 0 : WORD;
        unwinder->lr = 0;
    }
    return find_function(unwinder, frame->pc) && unwind_complete(unwinder, false);
}

/*
 * Goes to a function that a signal has interrupted, on machines whose calls leave the return
 * address in a register: the signal's handler has saved the function's on its stack. Returns false
 * if that is missing, or no function has the pc.
 */
static bool pass_signal(struct unwinder *unwinder)
{
    uint64_t lr;
    if (!stack_word(unwinder, unwinder->frame.sp, &lr))
        return false;
    unwinder->frame.sp += unwinder->pushed;
    if (!find_function(unwinder, unwinder->frame.pc))
        return false;
    unwinder->lr = unwinder->current.delta == 0 ? lr : 0;
    return true;
}

/* A return address that leads to the frame itself would loop. Functions that a signal has injected
 * have no call that put a return address where others do. */
bool unwind_next(struct unwinder *unwinder)
{
    struct unwind_frame *frame = &unwinder->frame;
    const enum unwind_kind callee = unwinder->current.kind;
    const bool is_injected =
        callee == UNWIND_SIGPANIC || callee == UNWIND_ASYNC_PREEMPT || callee == UNWIND_DEBUG_CALL;
    if (unwinder->lr == 0 || (frame->pc == unwinder->lr && frame->sp == frame->fp))
        return false;
    *frame = (struct unwind_frame){
        .sp = frame->fp, .pc = unwinder->lr, .is_conservative = callee == UNWIND_ASYNC_PREEMPT};
    unwinder->lr = 0;
    unwinder->is_innermost = false;
    unwinder->is_syscall = false;
    unwinder->is_complete = false;
    if (unwinder->usual_lr && is_injected ? !pass_signal(unwinder)
                                          : !find_function(unwinder, frame->pc))
        return false;
    return unwind_complete(unwinder, callee == UNWIND_SIGPANIC);
}
