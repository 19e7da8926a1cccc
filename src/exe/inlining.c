/* inlining: finds the calls behind the frames of an allocation site; see g2h_inlining_repair() of
 * include/go2heapsnapshot/exe.h. */
#include "base/bisect.h"
#include "base/bytes.h"
#include "base/map.h"
#include "base/scope.h"
#include "exe/go/code.h"
#include "exe/exe.h"

/* The most bytes that are read, and the most nodes that are visited, for each byte of the
 * pclntab. */
enum { MOST_READ = 16, MOST_WORK = 64 };

/* A function: its code, and its calls. */
struct body {
    struct code code;
    struct call_site_list calls;
};

struct g2h_inlining {
    const struct pclntab *pclntab;
    const struct moduledata *moduledata;
    struct map functions; /* hash of a name → index of the function in the pclntab */
    struct map numbers;   /* index of a function → index of its body */
    VECTOR(struct body) bodies;
    struct call_sites call_sites;
    uint64_t read_left, work_left;
    uint8_t wrapper; /* abi.FuncIDWrapper, the greatest of all ids, which compiler-generated
                        functions have */
};

/* Indexes functions by name, and finds the id of wrappers. Damaged names may be longer than the
 * table, so their bytes are limited. */
static struct g2h_error *inlining_find_names(struct g2h_inlining *inlining)
{
    const struct pclntab *pclntab = inlining->pclntab;
    struct pclntab_function function;
    uint64_t left = MOST_WORK * pclntab->table.size;
    for (uint64_t i = 0; i < pclntab->count && i < MAP_NONE; i++) {
        const struct g2h_bytes name = pclntab_name(pclntab, i);
        uint32_t number;
        if (name.size > left)
            break;
        left -= name.size;
        if (pclntab_function(pclntab, i, &function) && function.id > inlining->wrapper)
            inlining->wrapper = function.id;
        TRY_MEMORY(map_put(&inlining->functions, map_hash_text(name.data, (size_t)name.size),
                           (uint32_t)i, &number));
    }
    return NULL;
}

/* The limits are multiples of the table's size: enough for each good executable, so that only
 * damaged ones reach them. */
struct g2h_error *g2h_inlining_create(const struct g2h_exe *exe, struct g2h_inlining **ret)
{
    struct g2h_inlining *inlining = calloc(1, sizeof(*inlining));
    TRY_MEMORY(inlining);
    inlining->pclntab = exe_pclntab(exe);
    inlining->moduledata = exe_module(exe);
    inlining->read_left = MOST_READ * inlining->pclntab->table.size;
    inlining->work_left = MOST_WORK * inlining->pclntab->table.size;
    call_sites_init(&inlining->call_sites, inlining->pclntab, inlining->moduledata);
    struct g2h_error *error = inlining_find_names(inlining);
    if (error) {
        g2h_inlining_destroy(inlining);
        return error;
    }
    *ret = inlining;
    return NULL;
}

void g2h_inlining_destroy(struct g2h_inlining *inlining)
{
    if (!inlining)
        return;
    for (size_t i = 0; i < inlining->bodies.count; i++) {
        code_deinit(&inlining->bodies.data[i].code);
        free(inlining->bodies.data[i].calls.sites.data);
    }
    free(inlining->bodies.data);
    call_sites_deinit(&inlining->call_sites);
    map_deinit(&inlining->functions);
    map_deinit(&inlining->numbers);
    free(inlining);
}

/* ---- the code of a function ---- */

static void body_deinit(struct body *body)
{
    code_deinit(&body->code);
    free(body->calls.sites.data);
}

/* Reads the code and the calls of a function. */
static struct g2h_error *add_body(struct g2h_inlining *inlining, uint32_t function)
{
    _cleanup_(body_deinit) struct body body = {.calls = {{0}}};
    uint64_t *left = &inlining->read_left;
    TRY(code_read(&body.code, inlining->pclntab, inlining->moduledata, function, left));
    TRY(call_sites_find(&inlining->call_sites, function, left, &body.calls));
    TRY_MEMORY(vector_push(&inlining->bodies, body));
    body = (struct body){.calls = {{0}}}; /* the list owns it */
    return NULL;
}

/* Finds the body of the function with a name. *ret is NULL if there is no such function. */
static struct g2h_error *find_body(struct g2h_inlining *inlining, struct g2h_bytes name,
                                   const struct body **ret)
{
    const uint32_t function =
        map_get(&inlining->functions, map_hash_text(name.data, (size_t)name.size));
    *ret = NULL;
    if (function == MAP_NONE || !bytes_same(pclntab_name(inlining->pclntab, function), name))
        return NULL;
    uint32_t number = (uint32_t)inlining->bodies.count;
    TRY_MEMORY(map_put(&inlining->numbers, function, number, &number));
    if (number == inlining->bodies.count)
        TRY(add_body(inlining, function));
    *ret = &inlining->bodies.data[number];
    return NULL;
}

/* ---- calls ---- */

/* The calls that a part of the code represents, innermost first. */
struct chain {
    size_t count;  /* of calls */
    size_t shared; /* how many of them the stack has; 0: the stack has other calls */
    struct g2h_call calls[G2H_MOST_INLINED];
};

/* The rest of the stack that is being repaired. */
struct stack {
    const struct g2h_call *calls;
    size_t count;
};

/* Returns whether a part of the code has the file and line of a call of the stack. */
static bool inlining_is_at(const struct code *code, const struct code_part *part,
                           const struct g2h_call *call)
{
    return part->line == call->line &&
           bytes_same(pclntab_file(code->pclntab, code->index, part->file), call->file);
}

/* Returns the name of the innermost function of a part of the code. */
static struct g2h_bytes inlining_function_at(const struct code *code, const struct code_part *part)
{
    struct inlined_call inlined;
    return part && code_inlined(code, part->node, &inlined)
               ? inlined.function
               : pclntab_name(code->pclntab, code->index);
}

/* Adds a call of a part of the code to a chain; behind is the part that it returns to, inlined is
 * NULL if the function is not inlined. */
static void add_call(struct chain *chain, const struct code *code, const struct code_part *part,
                     const struct code_part *behind, const struct inlined_call *inlined)
{
    struct g2h_call call = {
        .function = pclntab_name(code->pclntab, code->index),
        .file = pclntab_file(code->pclntab, code->index, part->file),
        .line = part->line,
        .start_line = code->start_line,
        .behind = inlining_function_at(code, behind),
        .is_inlined = inlined != NULL,
    };
    if (inlined) {
        call.function = inlined->function;
        call.start_line = inlined->start_line;
    }
    chain->calls[chain->count++] = call;
}

/* Collects the calls from a part of the code, which is that of the stack's first call, to its
 * outermost caller. behind is the part that the call returns to. ret->shared is 0 if the stack has
 * other calls. */
static void inlining_follow(struct g2h_inlining *inlining, const struct code *code,
                            const struct code_part *part, const struct code_part *behind,
                            const struct stack *stack, struct chain *ret)
{
    size_t shared = 0;
    ret->count = ret->shared = 0;
    while (part && ret->count < G2H_MOST_INLINED && inlining->work_left > 0) {
        struct inlined_call inlined;
        const bool is_inlined = code_inlined(code, part->node, &inlined);
        const bool is_wrapper = (is_inlined ? inlined.id : code->id) == inlining->wrapper;
        inlining->work_left--;
        const bool is_next =
            shared == 0 ||
            (shared < stack->count && inlining_is_at(code, part, &stack->calls[shared]) &&
             bytes_same(stack->calls[shared].function, stack->calls[0].function));
        if (is_next || (shared == stack->count && !is_wrapper))
            add_call(ret, code, part, behind, is_inlined ? &inlined : NULL);
        else if (!is_wrapper)
            return; /* stacks do not have wrappers */
        shared += is_next;
        if (!is_inlined) {
            ret->calls[ret->count - 1].is_inlined = false; /* its callers are wrappers */
            ret->shared = shared;
            return;
        }
        part = code_at(code, inlined.caller);
        behind = code_at(code, inlined.caller + 1);
    }
}

/* Returns whether a chain agrees better with the stack than another: best is one that the stack has
 * as a whole, and then the one that has more calls of the stack. */
static bool inlining_is_better(const struct chain *chain, const struct chain *than)
{
    const bool is_whole = chain->shared == chain->count, was_whole = than->shared == than->count;
    if (chain->shared == 0 || than->shared == 0)
        return chain->shared > 0;
    return is_whole != was_whole ? is_whole : chain->shared > than->shared;
}

/* Follows the calls of a part of the code, and makes them the best if they agree better with the
 * stack. */
static void try_part(struct g2h_inlining *inlining, const struct code *code,
                     const struct code_part *part, const struct code_part *behind,
                     const struct stack *stack, struct chain *best)
{
    struct chain chain;
    inlining_follow(inlining, code, part, behind, stack, &chain);
    if (inlining_is_better(&chain, best))
        *best = chain;
}

/* Finds the chain of inlined calls that led to the stack's first call, of which a sample has the
 * function and the line only, in all code of that line. best->shared is 0 if no part fits. */
static void find_in_code(struct g2h_inlining *inlining, const struct code *code,
                         const struct stack *stack, struct chain *best)
{
    const struct code_part *parts = code->parts.data;
    size_t at;
    BISECT(at, code->by_line.count, parts[code->by_line.data[at]].line < stack->calls[0].line);
    for (; at < code->by_line.count && inlining->work_left > 0; at++) {
        const struct code_part *part = &parts[code->by_line.data[at]];
        if (part->line != stack->calls[0].line)
            return;
        inlining->work_left--;
        if (inlining_is_at(code, part, &stack->calls[0]))
            try_part(inlining, code, part, part, stack, best);
    }
}

/* Does the same with the function's calls of callee, the function of the frame before. */
static void inlining_find_caller(struct g2h_inlining *inlining, const struct body *body,
                                 uint32_t callee, const struct stack *stack, struct chain *best)
{
    for (size_t i = 0; i < body->calls.sites.count && inlining->work_left > 0; i++) {
        const struct call_site *site = &body->calls.sites.data[i];
        inlining->work_left--;
        if (site->callee != callee)
            continue;
        const struct code_part *part = code_at(&body->code, site->behind - 1);
        if (part && inlining_is_at(&body->code, part, &stack->calls[0]))
            try_part(inlining, &body->code, part, code_at(&body->code, site->behind), stack, best);
    }
}

/* Does the same with the function's calls of functions that allocate in one way. For the innermost
 * frame, a dump has the line at the return address, which may be the next line already. */
static struct g2h_error *find_allocation(struct g2h_inlining *inlining, const struct body *body,
                                         enum call_sites_allocator way, const struct stack *stack,
                                         struct chain *best)
{
    for (size_t i = 0; i < body->calls.sites.count && inlining->work_left > 0; i++) {
        const struct call_site *site = &body->calls.sites.data[i];
        const struct code_part *behind = code_at(&body->code, site->behind);
        enum call_sites_allocator allocator;
        inlining->work_left--;
        if (!behind || !inlining_is_at(&body->code, behind, &stack->calls[0]))
            continue;
        TRY(call_sites_allocator(&inlining->call_sites, site->callee, &inlining->read_left,
                                 &allocator));
        if (allocator == way)
            try_part(inlining, &body->code, code_at(&body->code, site->behind - 1), behind, stack,
                     best);
    }
    return NULL;
}

/* Does the same for the innermost frame. Stacks do not have runtime.mallocgc, and older ones not
 * even newobject and the like, which call it for others. So the innermost function either calls
 * mallocgc itself, as code of Go 1.27 does, or it calls one of these. */
static struct g2h_error *find_innermost(struct g2h_inlining *inlining, const struct body *body,
                                        const struct stack *stack, struct chain *best)
{
    TRY(find_allocation(inlining, body, ALLOCATES_ITSELF, stack, best));
    if (best->shared == 0)
        TRY(find_allocation(inlining, body, ALLOCATES_BY_CALL, stack, best));
    return NULL;
}

/* Finds the calls that the stack's first call represents. callee is the function of the frame
 * before, or MAP_NONE if it is not known. An indirect call does not have the callee in its
 * instruction, so all of the code is searched if no call of callee fits. */
static struct g2h_error *inlining_find_chain(struct g2h_inlining *inlining, const struct body *body,
                                             bool is_innermost, uint32_t callee,
                                             const struct stack *stack, struct chain *best)
{
    if (is_innermost)
        TRY(find_innermost(inlining, body, stack, best));
    else if (callee != MAP_NONE)
        inlining_find_caller(inlining, body, callee, stack, best);
    if (best->shared == 0)
        find_in_code(inlining, &body->code, stack, best);
    return NULL;
}

/* Leaves a call unchanged that was not found in the code. Returns the number of calls, 1. */
static size_t keep_call(struct g2h_call *call, const struct body *body)
{
    call->start_line = body ? body->code.start_line : 0;
    call->behind = call->function;
    call->is_inlined = false;
    return 1;
}

/* Each frame of the stack that the code explains is replaced by the calls that it represents: an
 * inlined call has no frame of its own. */
struct g2h_error *g2h_inlining_repair(struct g2h_inlining *inlining, struct g2h_call *calls,
                                      size_t *count)
{
    struct chain chain;
    uint32_t callee = MAP_NONE;
    for (size_t at = 0; at < *count;) {
        const struct stack stack = {calls + at, *count - at};
        const struct body *body;
        TRY(find_body(inlining, calls[at].function, &body));
        chain.count = chain.shared = 0;
        if (body)
            TRY(inlining_find_chain(inlining, body, at == 0, callee, &stack, &chain));
        callee = body ? (uint32_t)body->code.index : MAP_NONE;
        if (chain.shared == 0) {
            at += keep_call(&calls[at], body);
            continue;
        }
        memcpy(calls + at, chain.calls, chain.count * sizeof(*calls));
        at += chain.count;
        *count += chain.count - chain.shared;
    }
    return NULL;
}
