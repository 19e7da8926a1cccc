/*
 * unwind: walks the frames of a goroutine as the runtime's traceback does; see unwind.h. The first
 * part goes from frame to frame by the function's table of stack pointer changes (pcsp), from the
 * innermost one outwards. The second finds where a walk begins: in a system call, in g.sched for a
 * goroutine that waits, or at the registers of the thread that runs it, which may be in the frame
 * of a signal.
 */
#include "process/unwind.h"

#include <stdlib.h>

#include "base/contract.h"
#include "base/elf_format.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/port.h"

/* ==== the frames of a goroutine, as runtime/traceback.go walks them ==== */

enum { WORD = 8 };

/* Bits of a function's flag (internal/abi/symtab.go: FuncFlagTopFrame, FuncFlagSPWrite): the stack
 * ends with it; it changes the stack pointer otherwise than its table of changes says. */
enum { TOP_FRAME = 1, SP_WRITE = 2 };

/* Which of a function's tables of 32-bit numbers by pc has the index of its map of live words
 * (symtab.go: PCDATA_StackMapIndex). */
enum { PCDATA_STACK_MAP_INDEX = 1 };

/* Returns the bytes that the smallest frame of a function has (sys.MinFrameSize): on ppc64 the
 * caller's area of the ABI, on other machines with a link register its word. */
static unsigned least_frame(uint16_t machine)
{
    if (machine == EM_X86_64)
        return 0;
    return machine == EM_PPC64 ? 32 : WORD;
}

/* Prepares for walks over stacks. The work is limited by the size of the memory, as stacks may be
 * damaged: WALKS over as many bytes of stacks as there is memory, and PER_BYTE steps in tables for
 * each byte. usual_lr: the machine has a link register. pushed: what a signal's handler takes of
 * the stack for the link register of the function that it interrupts: on arm64 the stack pointer
 * stays at a multiple of 16. */
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
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
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
 * pointer changes (pcsp). *left limits the work. Returns false if that is not known. */
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

/* Finds the function at a pc and makes it the current one. Returns false if there is none, or its
 * frame is not known. seen caches functions by pc; pc 0 marks an empty place of it. */
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

/* Finds the function's return address: unwinder->lr; 0 if its frame is the last one. On
 * machines with a link register it is in that (unwinder->lr is not 0) while the innermost function
 * has no frame yet, or where pass_signal() has found it; otherwise it is on the stack. Returns
 * false if it is missing there. */
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
    const bool has_stored_lr = unwinder->is_innermost && frame->sp < frame->fp;
    return (!has_stored_lr && unwinder->lr != 0) || stack_word(unwinder, frame->sp, &unwinder->lr);
}

/* Returns where a frame continues: at its pc; but after a panic by a signal (sigpanic) only its
 * deferred calls are run, from the byte after deferreturn on (traceback.go), or 0 if it has none,
 * so that nothing in it lives. after_sigpanic: the frame that it called is sigpanic's. */
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

/* Completes the frame of the current function, from frame.sp: fp is after the frame, varp after its
 * variables, argp at its arguments. Between variables and fp are the return address (without a link
 * register) and, on machines that keep one, the caller's frame pointer. Returns false if the frame
 * does not fit in the stack, or its return address is missing. after_sigpanic as in
 * find_continpc(). */
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

/* Sets up the innermost frame from a start within the stack [low, high). The stack is walked as
 * runtime.unwinder does. Returns false if the frame's function is not known. */
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

/* Goes to the caller's frame. Returns false if there is none, or it is not known: is_complete tells
 * which. A return address that leads to the frame itself would loop. Functions that a signal has
 * injected have no call that put a return address where others do. */
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

/* ==== which thread of the process runs which M of Go's, and where a goroutine was stopped ==== */

/* ---- registers ---- */

#define NO_REGISTER UINT8_MAX

/* The indexes of registers of a machine, in NT_PRSTATUS (the kernel's struct user_regs_struct or
 * pt_regs: asm/ptrace.h) and in a signal's frame (struct sigcontext: asm/sigcontext.h). */
struct thread_machine {
    uint16_t machine; /* EM_… */
    uint8_t sp, pc, lr;
    /* In a signal's frame: bytes from uc_stack to the registers; 0: not known. */
    uint16_t signal_at;
    uint8_t signal_sp, signal_pc, signal_lr;
    uint8_t count, signal_count; /* numbers of general registers */
    const char *const *names, *const *signal_names;
};

static const char *const amd64_names[] = {"r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10",
                                          "r9",  "r8",  "rax", "rcx", "rdx", "rsi", "rdi"};

static const char *const amd64_signal_names[] = {"r8",  "r9",  "r10", "r11", "r12",
                                                 "r13", "r14", "r15", "rdi", "rsi",
                                                 "rbp", "rbx", "rdx", "rax", "rcx"};

static const char *const x_names[] = {"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",
                                      "x8",  "x9",  "x10", "x11", "x12", "x13", "x14", "x15",
                                      "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
                                      "x24", "x25", "x26", "x27", "x28", "x29", "x30", "x31"};

static const char *const r_names[] = {"r0",  "r1",  "r2",  "r3",  "r4",  "r5",  "r6",  "r7",
                                      "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15",
                                      "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23",
                                      "r24", "r25", "r26", "r27", "r28", "r29", "r30", "r31"};

static const struct thread_machine machines[] = {
    {EM_X86_64, 19, 16, NO_REGISTER, 24, 15, 16, NO_REGISTER, 15, 15, amd64_names,
     amd64_signal_names},
    /* In a signal's frame the fault's address comes before x0. */
    {EM_AARCH64, 31, 32, 30, 160 + WORD, 31, 32, 30, 31, 31, x_names, x_names},
    {EM_RISCV, 2, 0, 1, 0, 0, 0, 0, 32, 0, x_names, NULL},
    {EM_LOONGARCH, 3, 33, 1, 0, 0, 0, 0, 32, 0, r_names, NULL},
    {EM_PPC64, 1, 32, 36, 0, 0, 0, 0, 32, 0, r_names, NULL},
};

/* Returns what is known of the process's machine, or NULL. */
static const struct thread_machine *threads_machine_of(const struct runtime *runtime)
{
    for (size_t i = 0; i < COUNT_OF(machines); i++)
        if (machines[i].machine == runtime->process->machine)
            return &machines[i];
    return NULL;
}

/* Returns register number index. The registers of a signal's frame are little-endian bytes of the
 * process's memory, all others are words of this program. NO_REGISTER has the value 0. */
static uint64_t register_of(const uint8_t *registers, bool in_signal, unsigned index)
{
    const uint8_t *at = registers + WORD * (size_t)index;
    uint64_t value = 0;
    if (index == NO_REGISTER)
        return 0;
    if (in_signal)
        return memory_number(at, WORD);
    memcpy(&value, at, sizeof(value));
    return value;
}

/* Returns the stack pointer of a thread, or 0 if it has too few registers. */
static uint64_t sp_of(const struct thread_machine *machine, const struct process_thread *thread)
{
    return machine->sp < thread->count ? thread->registers[machine->sp] : 0;
}

/* ---- Ms ---- */

/* Orders threads by stack pointer, and equal ones by id. */
static int compare_sp(const void *a, const void *b, void *context)
{
    const struct process_thread *one = *(const struct process_thread *const *)a,
                                *other = *(const struct process_thread *const *)b;
    const uint64_t one_sp = sp_of(context, one);
    const uint64_t other_sp = sp_of(context, other);
    if (one_sp != other_sp)
        return COMPARE(one_sp, other_sp);
    return COMPARE(one->id, other->id);
}

/* Sorts the threads by stack pointer, and maps their ids, to find the thread of a goroutine or
 * M. */
static struct g2h_error *sort_threads(struct threads *threads)
{
    const struct process *process = threads->runtime->process;
    const struct thread_machine *machine = threads_machine_of(threads->runtime);
    threads->by_sp = malloc((process->threads.count + 1) * sizeof(*threads->by_sp));
    TRY_MEMORY(threads->by_sp);
    for (size_t i = 0; i < process->threads.count; i++)
        threads->by_sp[i] = &process->threads.data[i];
    for (uint32_t i = 0; i < process->threads.count; i++) {
        uint32_t known = i;
        if (process->threads.data[i].id != 0)
            TRY_MEMORY(map_put(&threads->thread_by_id, process->threads.data[i].id, i, &known));
    }
    if (machine)
        qsort_r(threads->by_sp, process->threads.count, sizeof(*threads->by_sp), compare_sp,
                not_const(machine));
    return NULL;
}

/* Returns the thread whose stack pointer is in [low, high), or NULL; also if this machine's
 * registers are not known. */
static const struct process_thread *thread_on(const struct threads *threads, uint64_t low,
                                              uint64_t high)
{
    const struct thread_machine *machine = threads_machine_of(threads->runtime);
    const size_t count = threads->runtime->process->threads.count;
    size_t at;
    if (!machine)
        return NULL;
    BISECT(at, count, sp_of(machine, threads->by_sp[at]) < low);
    return at < count && sp_of(machine, threads->by_sp[at]) < high ? threads->by_sp[at] : NULL;
}

/* Returns the thread that runs on the stack of a g, or NULL. */
static const struct process_thread *thread_on_stack_of(const struct threads *threads, uint64_t g)
{
    uint64_t low, high;
    return g != 0 && runtime_peek(threads->runtime, g, LAYOUT_G_STACK_LO, &low) &&
                   runtime_peek(threads->runtime, g, LAYOUT_G_STACK_HI, &high)
               ? thread_on(threads, low, high)
               : NULL;
}

/* Returns the thread with an id of the system, or NULL. */
static const struct process_thread *thread_by_id(const struct threads *threads, uint64_t id)
{
    const uint32_t index = id != 0 ? map_get(&threads->thread_by_id, id) : MAP_NONE;
    return index != MAP_NONE ? &threads->runtime->process->threads.data[index] : NULL;
}

/* Returns the thread of an M, or NULL. Looks at the stacks first, because procid is the id in the
 * process's own PID namespace, which need not be this program's. */
static const struct process_thread *thread_of(const struct threads *threads,
                                              const struct thread_m *m, uint64_t g0, uint64_t curg)
{
    const struct process_thread *thread = thread_on_stack_of(threads, g0);
    if (!thread)
        thread = thread_on_stack_of(threads, m->gsignal);
    if (!thread)
        thread = thread_on_stack_of(threads, curg);
    return thread ? thread : thread_by_id(threads, m->procid);
}

/* Adds an M, the runtime's thread, with the thread of the system that it is. */
static struct g2h_error *add_m(struct threads *threads, uint64_t address)
{
    struct runtime *runtime = threads->runtime;
    struct thread_m m = {.address = address,
                         .id = runtime_field(runtime, address, LAYOUT_M_ID),
                         .procid = runtime_field(runtime, address, LAYOUT_M_PROCID),
                         .gsignal = runtime_field(runtime, address, LAYOUT_M_GSIGNAL),
                         .vdso_sp = runtime_field(runtime, address, LAYOUT_M_VDSO_SP),
                         .vdso_pc = runtime_field(runtime, address, LAYOUT_M_VDSO_PC)};
    m.thread = thread_of(threads, &m, runtime_field(runtime, address, LAYOUT_M_G0),
                         runtime_field(runtime, address, LAYOUT_M_CURG));
    TRY_MEMORY(vector_push(&threads->ms, m));
    return NULL;
}

/* Lists all Ms, the runtime's records of operating-system threads, which are linked (allm). Ends at
 * a cycle, as damaged memory may have, or once there are more Ms than pages. */
static struct g2h_error *list_ms(struct threads *threads)
{
    struct runtime *runtime = threads->runtime;
    uint64_t m = 0;
    if (runtime->allm != 0)
        runtime_word(runtime, runtime->allm, &m);
    while (m != 0) {
        const uint32_t number = as_u32(threads->ms.count);
        uint32_t known = number;
        TRY_MEMORY(map_put(&threads->m_by_address, m, number, &known));
        if (known != number || threads->ms.count > runtime->memory->bytes / RUNTIME_PAGE_SIZE)
            break;
        TRY(add_m(threads, m));
        m = runtime_field(runtime, m, LAYOUT_M_ALLLINK);
    }
    return NULL;
}

/* Lists the Ms and finds their threads. Error: G2H_ERROR_MEMORY. */
struct g2h_error *threads_init(struct threads *threads, struct runtime *runtime)
{
    *threads = (struct threads){.runtime = runtime, .words_left = runtime->memory->bytes / WORD};
    TRY(sort_threads(threads));
    return list_ms(threads);
}

void threads_deinit(struct threads *threads)
{
    free(threads->by_sp);
    free(threads->ms.data);
    map_deinit(&threads->m_by_address);
    map_deinit(&threads->thread_by_id);
    *threads = (struct threads){0};
}

/* ---- the position of a goroutine ---- */

static bool is_in(uint64_t address, uint64_t low, uint64_t high)
{
    return address >= low && address < high;
}

/* Sets where a stack walk begins: at registers, which are a thread's own or those in a signal's
 * frame. in_signal: the latter. */
static void start_at(const struct thread_machine *machine, const uint8_t *registers, bool in_signal,
                     struct unwind_start *ret)
{
    unsigned sp = machine->sp;
    unsigned pc = machine->pc;
    unsigned lr = machine->lr;
    if (in_signal) {
        sp = machine->signal_sp;
        pc = machine->signal_pc;
        lr = machine->signal_lr;
    }
    *ret = (struct unwind_start){.sp = register_of(registers, in_signal, sp),
                                 .pc = register_of(registers, in_signal, pc),
                                 .lr = register_of(registers, in_signal, lr),
                                 .at_registers = true,
                                 .registers = registers,
                                 .in_signal = in_signal};
}

/* Finds the registers of a goroutine that a signal's handler will restore. They follow uc_stack
 * (stack_t: start, flags, size), which has the bounds of the handler's stack, gsignal's. A handler
 * that ends the program by a signal is interrupted itself, so there may be two such frames: the
 * wanted one has a stack pointer in [g_low, g_high). Returns false if it is not found.
 */
static bool find_signal_frame(struct threads *threads, const struct thread_m *m, uint64_t g_low,
                              uint64_t g_high, struct unwind_start *ret)
{
    const struct thread_machine *machine = threads_machine_of(threads->runtime);
    const struct memory *memory = threads->runtime->memory;
    enum { LARGEST_STACK = 1 << 20 }; /* gsignal's: the runtime's has 32 KB */
    uint64_t low, high;
    if (!machine || machine->signal_at == 0 || !m->thread || m->gsignal == 0 ||
        !runtime_peek(threads->runtime, m->gsignal, LAYOUT_G_STACK_LO, &low) ||
        !runtime_peek(threads->runtime, m->gsignal, LAYOUT_G_STACK_HI, &high) ||
        !is_in(sp_of(machine, m->thread), low, high) || high - low > LARGEST_STACK)
        return false;
    for (uint64_t at = sp_of(machine, m->thread) & ~UINT64_C(7);
         at < high && high - at >= WORD && threads->words_left > 0;
         at += WORD, threads->words_left--) {
        uint64_t start, size;
        const uint8_t *registers =
            memory_at(memory, at + machine->signal_at, WORD * ((uint64_t)machine->signal_pc + 1));
        if (!registers || !memory_read(memory, at, WORD, &start) || start != low ||
            !memory_read(memory, at + 2 * WORD, WORD, &size) || size != high - low)
            continue;
        start_at(machine, registers, true, ret);
        if (is_in(ret->sp, g_low, g_high))
            return true;
    }
    return false;
}

/* Returns what is known of the M at an address, or NULL. */
static const struct thread_m *m_of(const struct threads *threads, uint64_t address)
{
    const uint32_t index = address != 0 ? map_get(&threads->m_by_address, address) : MAP_NONE;
    return index != MAP_NONE ? &threads->ms.data[index] : NULL;
}

/* Finds the innermost frame of a goroutine. A goroutine in a system call has saved its position.
 * One that runs is where its thread's registers say, or where those were when a signal or a call of
 * the vDSO interrupted it. All others have been descheduled, and g.sched has their position. */
void threads_find_start(struct threads *threads, uint64_t g, struct unwind_start *ret)
{
    struct runtime *runtime = threads->runtime;
    const uint64_t low = runtime_field(runtime, g, LAYOUT_G_STACK_LO),
                   high = runtime_field(runtime, g, LAYOUT_G_STACK_HI),
                   syscallsp = runtime_field(runtime, g, LAYOUT_G_SYSCALLSP);
    const struct process_thread *thread = thread_on(threads, low, high);
    const struct thread_m *m = m_of(threads, runtime_field(runtime, g, LAYOUT_G_M));
    if (syscallsp != 0) {
        *ret = (struct unwind_start){.sp = syscallsp,
                                     .pc = runtime_field(runtime, g, LAYOUT_G_SYSCALLPC),
                                     .is_syscall = true};
        return;
    }
    if (thread) {
        start_at(threads_machine_of(runtime), (const uint8_t *)thread->registers, false, ret);
        return;
    }
    if (m && find_signal_frame(threads, m, low, high, ret))
        return;
    if (m && is_in(m->vdso_sp, low, high)) {
        *ret = (struct unwind_start){.sp = m->vdso_sp, .pc = m->vdso_pc};
        return;
    }
    *ret = (struct unwind_start){.sp = runtime_field(runtime, g, LAYOUT_G_SCHED_SP),
                                 .pc = runtime_field(runtime, g, LAYOUT_G_SCHED_PC),
                                 .lr = runtime_field(runtime, g, LAYOUT_G_SCHED_LR),
                                 .is_saved = true};
}

/* Gets the name and value of register number index. Returns false after the last one. */
bool threads_register(const struct threads *threads, const struct unwind_start *start,
                      unsigned index, const char **ret_name, uint64_t *ret)
{
    const struct thread_machine *machine = threads_machine_of(threads->runtime);
    if (!machine || !start->registers ||
        index >= (start->in_signal ? machine->signal_count : machine->count))
        return false;
    *ret_name = start->in_signal ? machine->signal_names[index] : machine->names[index];
    *ret = register_of(start->registers, start->in_signal, index);
    return true;
}
