/*
 * stack_calls: the functions that the frames of goroutines are in. Several may be in one frame,
 * because an inlined function has none of its own; and tracebacks leave out those that the compiler
 * makes, as of a go statement with arguments.
 *
 * Without an executable it is one function for each frame, that of the dump, without a line.
 */
#include <stdlib.h>

#include "naming/forms.h"
#include "roots/builder.h"

/* ---- the functions at a program counter ---- */

/* Go 1.17 and older ones have what is inlined only in DWARF, and of that the innermost function,
 * whose line is that of the frame. */
static bool add_inlined(struct builder *builder, const struct heap_stack_frame *frame,
                        struct exe_call *call)
{
    struct g2h_bytes inlined;
    if (!builder->typing || exe_wrapper_id(builder->exe) > 0 ||
        !typing_inlined_at(builder->typing, frame, &inlined))
        return true;
    const struct root_call inner = {.function = inlined, .file = call->file, .line = call->line};
    call->line = 0;
    return vector_push(&builder->roots->calls, inner);
}

/* Adds the functions at a program counter of a frame. If the executable has another function there
 * than the dump, or more of them than any program has, it is the dump's alone. */
static bool add_calls(struct builder *builder, const struct heap_stack_frame *frame, uint64_t pc)
{
    enum { MANY = 1 << 12, EACH = 16 };
    struct roots *roots = builder->roots;
    struct exe_call calls[EXE_MOST_CALLS];
    size_t count = roots->calls.count < MANY + EACH * builder->heap->frames.count && builder->exe
                       ? exe_calls(builder->exe, pc, &builder->lines_left, calls)
                       : 0;
    if (count == 0 || !bytes_same(calls[count - 1].function, frame->function)) {
        calls[0] = (struct exe_call){.function = frame->function};
        count = 1;
    } else if (count == 1 && !add_inlined(builder, frame, &calls[0])) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const struct root_call call = {.function = calls[i].function,
                                       .file = calls[i].file,
                                       .line = calls[i].line,
                                       .is_wrapper = calls[i].is_wrapper};
        if (!vector_push(&roots->calls, call))
            return false;
    }
    return true;
}

uint64_t roots_position_pc(uint64_t pc, uint64_t entry, const struct g2h_bytes *callee)
{
    static const char *const injected[] = {"runtime.sigpanic", "runtime.asyncPreempt",
                                           "runtime.debugCallV1", "runtime.debugCallV2"};
    for (size_t i = 0; callee && i < sizeof(injected) / sizeof(injected[0]); i++)
        if (bytes_are(*callee, injected[i]))
            return pc;
    return pc > entry ? pc - 1 : pc;
}

/* Returns whether the functions of a site are those of a frame. */
static bool is_site_of(const struct builder *builder, uint32_t site,
                       const struct heap_stack_frame *frame)
{
    const struct root_site *of = &builder->roots->sites.data[site];
    return bytes_same(builder->roots->calls.data[of->first + of->count - 1].function,
                      frame->function);
}

/* Thousands of goroutines are in the same places, so what was found is kept. */
bool builder_find_site(struct builder *builder, uint32_t number, uint32_t callee)
{
    struct roots *roots = builder->roots;
    const struct heap_stack_frame frame = heap_frame(builder->heap, number);
    struct g2h_bytes above = {0};
    if (callee != UINT32_MAX)
        above = heap_frame(builder->heap, callee).function;
    const uint64_t pc =
        roots_position_pc(frame.pc, frame.entry, callee != UINT32_MAX ? &above : NULL);
    const struct root_site fresh = {.first = (uint32_t)roots->calls.count, .name = UINT32_MAX};
    uint32_t site = (uint32_t)roots->sites.count;
    if (!map_put(&builder->site_by_pc, map_hash_pair(frame.entry, pc), site, &site))
        return false;
    if (site < roots->sites.count && !is_site_of(builder, site, &frame))
        site = (uint32_t)roots->sites.count; /* of a damaged dump */
    builder->site_of[number] = site + 1;
    if (site < roots->sites.count)
        return true;
    if (!add_calls(builder, &frame, pc) || !vector_push(&roots->sites, fresh))
        return false;
    roots->sites.data[site].count = (uint32_t)(roots->calls.count - fresh.first);
    return true;
}

const struct root_call *builder_site_call(const struct builder *builder,
                                          const struct root_site *site)
{
    const struct root_call *calls = &builder->roots->calls.data[site->first];
    uint32_t at = site->count - 1;
    while (at > 0 && calls[at].is_wrapper)
        at--;
    return &calls[calls[at].is_wrapper ? site->count - 1 : at];
}

/* ---- names ---- */

void root_call_append(const struct names *names, const struct root_call *call, struct text *text)
{
    text_append_name(text, names, call->function.data, call->function.size, NAME_LIMIT);
    if (call->line == 0)
        return;
    const struct g2h_bytes file = bytes_base_name(call->file);
    text_append_string(text, " ");
    text_append_utf8(text, file.data, file.size, NAME_LIMIT / 16);
    text_printf(text, ":%u", call->line);
}

bool builder_site_name(struct builder *builder, uint32_t frame, uint32_t *ret)
{
    const uint32_t number = builder->site_of[frame] - 1;
    struct root_site *site = &builder->roots->sites.data[number];
    const struct root_call *call = builder_site_call(builder, site);
    *ret = site->name;
    if (*ret != UINT32_MAX)
        return true;
    builder->text.size = 0;
    root_call_append(builder->names, call, &builder->text);
    return builder_node_name(builder, &site->name) &&
           name_uses_add(&builder->names->uses, *ret = site->name,
                         form_of_function(call->function));
}

/* ---- the function that a goroutine runs ---- */

/* Gets the outermost function of a frame. If that is a wrapper which has called nothing yet, it is
 * the function that it will call. */
static struct g2h_error *find_outermost(struct builder *builder, uint32_t frame, bool is_innermost,
                                        struct g2h_bytes *ret)
{
    const struct root_call *call = builder_site_call(builder, builder_site(builder, frame));
    *ret = call->function;
    if (!call->is_wrapper || !is_innermost)
        return NULL;
    struct g2h_bytes wrapped;
    const uint64_t pc = heap_frame(builder->heap, frame).entry;
    TRY(exe_wrapped(builder->exe, pc, &builder->lines_left, &wrapped));
    *ret = wrapped.size > 0 ? wrapped : *ret;
    return NULL;
}

/* Returns whether a frame is only a wrapper: nothing of the program is inlined there. */
static bool is_wrapper(const struct builder *builder, uint32_t frame)
{
    return builder_site_call(builder, builder_site(builder, frame))->is_wrapper;
}

struct g2h_error *builder_find_entry(struct builder *builder, const uint32_t *frames,
                                     uint32_t count, struct g2h_bytes *ret)
{
    *ret = bytes_none;
    while (count > 0) {
        count--;
        TRY(find_outermost(builder, frames[count], count == 0, ret));
        if (!bytes_are(*ret, "runtime.goexit") &&
            (count == 0 || !is_wrapper(builder, frames[count])))
            break;
    }
    if (count == 0 || !bytes_are(*ret, "runtime.main"))
        return NULL;
    const struct g2h_bytes called = heap_frame(builder->heap, frames[count - 1]).function;
    *ret = bytes_begin(called, "runtime.") ? *ret : called;
    return NULL;
}
