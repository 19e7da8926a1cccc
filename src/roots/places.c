/*
 * places: groups goroutines by where they are; see places.h. A place is the state of a goroutine,
 * the function that it runs, and the innermost functions on its stack that say something (not those
 * of the runtime): goroutines for which these are equal share a node. The first part finds the
 * functions of a frame, since the compiler inlines some; the second compares, names and counts
 * places.
 */
#include "base/bytes.h"
#include "base/contract.h"
#include "roots/places.h"

#include <stdlib.h>
#include <string.h>

#include "naming/names.h"

/* ==== the functions that the frames of goroutines are in ====
 *
 * Several may be in one frame, because an inlined function has none of its own; and tracebacks
 * leave out those that the compiler makes, as of a go statement with arguments.
 *
 * Without an executable it is one function for each frame, that of the dump, without a line.
 */

/* ---- the functions at a program counter ---- */

/* Adds the function that is inlined at a frame, if there is one. Go 1.17 and older ones have what
 * is inlined only in DWARF, and of that the innermost function, whose line is that of the frame.
 * Returns false if memory runs out. */
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
 * than the dump, or more of them than any program has, it is the dump's alone. Returns false if
 * memory runs out. */
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

/* Returns a pc within the instruction that a frame is executing. Of a call, pc is where it returns
 * to, so the line is that of the byte before; not if the runtime made the call look so (callee):
 * then pc is the very instruction. */
uint64_t roots_position_pc(uint64_t pc, uint64_t entry, const struct g2h_bytes *callee)
{
    static const char *const injected[] = {"runtime.sigpanic", "runtime.asyncPreempt",
                                           "runtime.debugCallV1", "runtime.debugCallV2"};
    for (size_t i = 0; callee && i < COUNT_OF(injected); i++)
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

/* Finds the functions, inlined ones included, at the position of a frame, and remembers them as its
 * site. Thousands of goroutines are in the same places, so a site is made once per pc. callee is
 * the frame that this one has called, or UINT32_MAX. Returns false if memory runs out. */
bool builder_find_site(struct builder *builder, uint32_t number, uint32_t callee)
{
    struct roots *roots = builder->roots;
    const struct heap_stack_frame frame = heap_frame(builder->heap, number);
    struct g2h_bytes above = {0};
    if (callee != UINT32_MAX)
        above = heap_frame(builder->heap, callee).function;
    const uint64_t pc =
        roots_position_pc(frame.pc, frame.entry, callee != UINT32_MAX ? &above : NULL);
    const struct root_site fresh = {.first = as_u32(roots->calls.count), .name = UINT32_MAX};
    uint32_t site = as_u32(roots->sites.count);
    if (!map_put(&builder->site_by_pc, map_hash_pair(frame.entry, pc), site, &site))
        return false;
    if (site < roots->sites.count && !is_site_of(builder, site, &frame))
        site = as_u32(roots->sites.count); /* of a damaged dump */
    builder->site_of[number] = site + 1;
    if (site < roots->sites.count)
        return true;
    if (!add_calls(builder, &frame, pc) || !vector_push(&roots->sites, fresh))
        return false;
    roots->sites.data[site].count = as_u32(roots->calls.count - fresh.first);
    return true;
}

/* Returns the function that a site is named by: the outermost that is no wrapper. Calls are listed
 * from the innermost to the outermost; is_wrapper: the compiler has made it. */
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

/* Appends a function and, if it is known, the line: main.walk walk.go:17. */
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

/* Makes the name of a frame when it is first needed. Returns false if memory runs out. */
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

/* Returns whether a function is between C's that calls Go and the function that it calls: on a
 * thread of C these are the outermost ones. */
static bool stack_is_callback(struct g2h_bytes function)
{
    return bytes_begin(function, "runtime.cgocallback") || bytes_begin(function, "_cgoexp_");
}

/* Finds the function that a goroutine began with: the outermost that is not of the runtime's start
 * of goroutines, nor a callback from C, nor a wrapper. Of the main goroutine it is what
 * runtime.main calls. */
struct g2h_error *builder_find_entry(struct builder *builder, const uint32_t *frames,
                                     uint32_t count, struct g2h_bytes *ret)
{
    *ret = bytes_none;
    while (count > 0) {
        count--;
        TRY(find_outermost(builder, frames[count], count == 0, ret));
        if (!bytes_are(*ret, "runtime.goexit") && !stack_is_callback(*ret) &&
            (count == 0 || !is_wrapper(builder, frames[count])))
            break;
    }
    if (count == 0 || !bytes_are(*ret, "runtime.main"))
        return NULL;
    const struct g2h_bytes called = heap_frame(builder->heap, frames[count - 1]).function;
    *ret = bytes_begin(called, "runtime.") ? *ret : called;
    return NULL;
}

/* ==== goroutines in one place ==== */

void places_deinit(struct places *places)
{
    free(places->list.data);
    free(places->alike.data);
    map_deinit(&places->by_hash);
    map_deinit(&places->by_name);
}

/* ---- finding the place ---- */

/*
 * Returns whether a function adds nothing to the state: a function of the runtime, which other
 * packages may link under a name of their own, or one of the functions of sync, poll and others
 * that call it.
 */
static bool is_below_program(struct g2h_bytes function)
{
    static const char linked[] = "runtime_";
    const size_t size = sizeof(linked) - 1;
    uint64_t dot = function.size;
    while (dot > 0 && function.data[dot - 1] != '.')
        dot--;
    return bytes_begin(function, "runtime.") || bytes_begin(function, "runtime/") ||
           bytes_begin(function, "internal/") || bytes_begin(function, "sync.") ||
           bytes_are(function, "time.Sleep") ||
           (function.size - dot > size && memcmp(function.data + dot, linked, size) == 0);
}

/* Returns whether a function reads or writes for whoever calls it, or accepts: it says no more than
 * "IO wait" does. */
static bool is_of_io(struct g2h_bytes function)
{
    static const char *const packages[] = {"net.", "bufio.", "io.", "os.", "crypto/tls."};
    for (size_t i = 0; i < COUNT_OF(packages); i++)
        if (bytes_begin(function, packages[i]))
            return true;
    return false;
}

/* Returns the index of the function that a place is named by. The runtime's functions on top of a
 * stack are the same wherever a goroutine waits, so the first one below them says more; and one
 * below those that read or write, if there is any. */
uint32_t places_innermost(const struct builder *builder, const uint32_t *frames, uint32_t count)
{
    uint32_t of_io = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        const struct root_site *site = builder_site(builder, frames[i]);
        for (uint32_t j = site->first; j < site->first + site->count; j++) {
            const struct root_call *call = &builder->roots->calls.data[j];
            if (call->is_wrapper || is_below_program(call->function))
                continue;
            if (!is_of_io(call->function))
                return j;
            if (of_io == UINT32_MAX)
                of_io = j;
        }
    }
    return of_io;
}

/* Returns the innermost function of a goroutine; it is empty if there is none. */
static struct root_call innermost_of(const struct builder *builder,
                                     const struct goroutine *goroutine)
{
    return goroutine->root.at == UINT32_MAX ? (struct root_call){.function = bytes_none}
                                            : builder->roots->calls.data[goroutine->root.at];
}

/* What identifies a place. Names are cut for comparison, because any number of goroutines may be in
 * a function of the executable with a long name. A goroutine that is not waiting has a stale wait
 * reason, which does not count. */
enum { PLACE_STATE, PLACE_RUNS, PLACE_FUNCTION, PLACE_FILE, PLACE_STATEMENT, PLACE_TEXTS };

struct place_texts {
    struct g2h_bytes of[PLACE_TEXTS];
    uint32_t line;
};

/* Returns what places are compared by: the state, the function that the goroutine runs, the
 * innermost one with its line, and the go statement. */
static struct place_texts place_texts(const struct builder *builder,
                                      const struct goroutine *goroutine)
{
    enum { LONGEST = 4096 };
    const struct g2h_goroutine *record = goroutine_record(builder, goroutine);
    const struct root_call innermost = innermost_of(builder, goroutine);
    struct place_texts texts = {{record->wait_reason, goroutine->root.function, innermost.function,
                                 innermost.line > 0 ? bytes_base_name(innermost.file) : bytes_none,
                                 bytes_none},
                                innermost.line};
    size_t size;
    if (record->status != GOROUTINE_WAITING || goroutine->root.dumps_heap)
        texts.of[PLACE_STATE].size = 0;
    if (goroutine->statement != UINT32_MAX) {
        const char *statement =
            string_pool_text(&builder->names->strings, goroutine->statement, &size);
        texts.of[PLACE_STATEMENT] = bytes_at(statement, size);
    }
    for (size_t i = 0; i < PLACE_TEXTS; i++)
        if (texts.of[i].size > LONGEST)
            texts.of[i].size = LONGEST;
    return texts;
}

/* The hash functions for the identity of a place: those of hash tables, which have a seed, or those
 * of ids, which must be the same in another dump of the process. */
typedef uint64_t pair_hash(uint64_t one, uint64_t other);

typedef uint64_t text_hash(const void *data, size_t size);

/* Returns a hash of all that identifies a place, or of the first count strings of it. */
static uint64_t hash_place(const struct builder *builder, const struct goroutine *goroutine,
                           size_t count, pair_hash *of_pair, text_hash *of_text)
{
    const struct g2h_goroutine *record = goroutine_record(builder, goroutine);
    const struct place_texts texts = place_texts(builder, goroutine);
    uint64_t hash = of_pair(record->status << 1 | goroutine->root.dumps_heap, texts.line);
    for (size_t i = 0; i < count; i++)
        hash = of_pair(hash, of_text(texts.of[i].data, texts.of[i].size));
    return hash;
}

/* Returns an id made of two, in whichever order they are given. */
static uint64_t id_pair(uint64_t one, uint64_t other)
{
    return id_hash(one ^ other);
}

/* Returns whether two goroutines are in one place, for hashes may collide: compares all that
 * hash_place() reads. */
static bool is_same_place(const struct builder *builder, const struct goroutine *one,
                          const struct goroutine *other)
{
    const struct place_texts texts = place_texts(builder, one),
                             others = place_texts(builder, other);
    if (one->root.dumps_heap != other->root.dumps_heap ||
        goroutine_record(builder, one)->status != goroutine_record(builder, other)->status ||
        texts.line != others.line)
        return false;
    for (size_t i = 0; i < PLACE_TEXTS; i++)
        if (!bytes_same(texts.of[i], others.of[i]))
            return false;
    return true;
}

/* Adds a place for the first goroutine there, and counts those that have the same name. Returns
 * false if memory runs out. */
static bool add_place(struct places *places, const struct builder *builder,
                      const struct goroutine *goroutine, size_t number)
{
    struct place fresh = {number, 1, UINT32_MAX, UINT32_MAX, as_u32(places->alike.count)};
    const uint64_t hash =
        hash_place(builder, goroutine, PLACE_STATEMENT, map_hash_pair, map_hash_text);
    if (!map_put(&places->by_name, hash, fresh.alike, &fresh.alike) ||
        (fresh.alike == places->alike.count && !vector_push(&places->alike, 0)))
        return false;
    places->alike.data[fresh.alike]++;
    return vector_push(&places->list, fresh);
}

/* Finds the place of a goroutine, or adds one. Each goroutine is looked up by its hash, and
 * compared with the first one there. Returns false if memory runs out. */
bool places_find(struct places *places, const struct builder *builder, goroutine_vector *goroutines,
                 size_t number)
{
    struct goroutine *goroutine = &goroutines->data[number];
    const uint32_t count = as_u32(places->list.count);
    const uint64_t hash = hash_place(builder, goroutine, PLACE_TEXTS, map_hash_pair, map_hash_text);
    if (!map_put(&places->by_hash, hash, count, &goroutine->place))
        return false;
    if (goroutine->place < count) {
        struct place *place = &places->list.data[goroutine->place];
        if (is_same_place(builder, &goroutines->data[place->first], goroutine)) {
            place->goroutines++;
            return true;
        }
        /* Two places have the same hash: this goroutine gets a place of its own. */
        goroutine->place = count;
    }
    return add_place(places, builder, goroutine, number);
}

/* ---- the name of a place ---- */

/* Appends the line of a go statement: " (go main.go:17)"; with the caller of its function, if the
 * name has that; or all of the name if the line is not known. */
static void append_statement(struct builder *builder, uint32_t statement)
{
    static const char arrow[] = " ← ";
    size_t size;
    const char *name = string_pool_text(&builder->names->strings, statement, &size),
               *caller = memmem(name, size, arrow, sizeof(arrow) - 1);
    const size_t end = caller ? as_size(caller - name) : size;
    size_t at = end;
    while (at > 0 && name[at - 1] != ' ')
        at--;
    const bool has_line = memchr(name + at, ':', end - at) != NULL;
    at = has_line ? at : 0;
    text_append_string(&builder->text, has_line ? " (go " : " (");
    text_append(&builder->text, name + at, size - at);
    text_append_string(&builder->text, ")");
}

/* Appends where the goroutines are, and what they run: " main.f main.go:17 ← main.g". If both
 * functions are the same, it is shown once; the go statement follows if places differ only by it.
 */
void places_append_functions(const struct places *places, struct builder *builder,
                             const struct goroutine *goroutine)
{
    const struct root_call innermost = innermost_of(builder, goroutine);
    const struct g2h_bytes *function = &goroutine->root.function;
    struct text *text = &builder->text;
    if (innermost.function.size > 0) {
        text_printf(text, " ");
        root_call_append(builder->names, &innermost, text);
    }
    if (function->size > 0 && !bytes_same(*function, innermost.function)) {
        text_printf(text, innermost.function.size > 0 ? " ← " : " ");
        builder_append(builder, function);
    }
    if (goroutine->statement != UINT32_MAX &&
        places->alike.data[places->list.data[goroutine->place].alike] > 1)
        append_statement(builder, goroutine->statement);
}

/* Notes whether goroutines are the runtime's, by the function that comes first in the name of their
 * node: the innermost one, if the name has it. Returns false if memory runs out. */
bool places_note_runtime(struct builder *builder, const struct goroutine *goroutine,
                         bool has_innermost, uint32_t node)
{
    const struct g2h_bytes innermost = innermost_of(builder, goroutine).function,
                           function = has_innermost && innermost.size > 0
                                          ? innermost
                                          : goroutine->root.function;
    return name_uses_add(&builder->names->uses, builder->roots->nodes.data[node].name,
                         form_of_function(function) & G2H_NAME_OF_RUNTIME);
}

/* Appends the state of a goroutine. Only a waiting goroutine has a wait reason that is true; that
 * of all others is left over from an earlier wait. */
void root_goroutine_append_state(const struct g2h_heap *heap,
                                 const struct root_goroutine *goroutine, struct text *text)
{
    static const char *const states[] = {
        [GOROUTINE_RUNNABLE] = "runnable",   [GOROUTINE_RUNNING] = "running",
        [GOROUTINE_SYSCALL] = "syscall",     [GOROUTINE_COPYSTACK] = "copystack",
        [GOROUTINE_PREEMPTED] = "preempted", [GOROUTINE_LEAKED] = "leaked",
    };
    const struct g2h_goroutine *record = &heap->goroutines.data[goroutine->goroutine].record;
    if (goroutine->dumps_heap) /* in most versions its own wait reason is stale */
        text_printf(text, "dumping heap");
    else if (record->status < COUNT_OF(states) && states[record->status])
        text_printf(text, "%s", states[record->status]);
    else if (record->status != GOROUTINE_WAITING)
        text_printf(text, "status %llu", (unsigned long long)record->status);
    else if (record->wait_reason.size > 0)
        text_append_utf8(text, record->wait_reason.data, record->wait_reason.size, 64);
    else
        text_printf(text, "waiting");
}

/* Appends the state and the functions: [chan send] main.fetch fetch.go:12 ← main.handle. */
static void append_place(const struct places *places, struct builder *builder,
                         const struct goroutine *goroutine)
{
    text_printf(&builder->text, "[");
    root_goroutine_append_state(builder->heap, &goroutine->root, &builder->text);
    text_printf(&builder->text, "]");
    places_append_functions(places, builder, goroutine);
}

/* ---- nodes ---- */

/* Gets the node below which a goroutine is added. The node is added with the first goroutine of a
 * place that has several, so that groups are in the order of goroutines. Returns false if memory
 * runs out. */
bool places_add_group(struct places *places, struct builder *builder, uint32_t group,
                      const struct goroutine *goroutine, uint32_t *ret)
{
    struct place *place = &places->list.data[goroutine->place];
    *ret = group;
    if (place->goroutines == 1)
        return true;
    if (place->node == UINT32_MAX) {
        builder->text.size = 0;
        text_append_grouped(&builder->text, place->goroutines);
        text_printf(&builder->text, " goroutines ");
        append_place(places, builder, goroutine);
        const uint64_t key = hash_place(builder, goroutine, PLACE_TEXTS, id_pair, id_hash_text);
        if (!builder_add_member(builder, group,
                                (uint32_t)goroutine_record(builder, goroutine)->goid,
                                G2H_NODE_GOROUTINES_IN_PLACE, key, &place->node) ||
            !places_note_runtime(builder, goroutine, true, place->node))
            return false;
    }
    *ret = place->node;
    return true;
}

/*
 * Returns the size of a goroutine's stack, hi - lo, whose addresses are the first two words of
 * runtime.g; 0 if the dump lacks these words or they are not a valid stack. SetMaxStack() allows up
 * to twice 1 GB (runtime/proc.go: maxstackceiling).
 */
static uint32_t stack_size(const struct builder *builder, const struct g2h_goroutine *record)
{
    const struct g2h_heap *heap = builder->heap;
    const uint64_t word = heap->params.pointer_size;
    const uint64_t most = UINT64_C(2000000000);
    const uint32_t object = heap_find(heap, record->address);
    if (!heap->reader->layout->g_has_stack || object == UINT32_MAX)
        return 0;
    const struct g2h_bytes contents = heap_contents(heap, object);
    const uint64_t offset = record->address - heap_address(heap, object);
    if (contents.size < 2 * word || offset > contents.size - 2 * word)
        return 0;
    const uint64_t lo = heap_word(heap, contents.data + offset),
                   hi = heap_word(heap, contents.data + offset + word);
    return lo < hi && hi - lo <= most && lo <= record->sp && record->sp <= hi ? (uint32_t)(hi - lo)
                                                                              : 0;
}

/* Adds a node for the goroutine's stack, with the stack's size: stacks are not heap objects, but
 * take memory. None if that is not known, or stacks are left out. Returns false if memory runs out.
 */
bool places_add_stack(struct places *places, struct builder *builder,
                      const struct goroutine *goroutine)
{
    const struct g2h_goroutine *record = goroutine_record(builder, goroutine);
    const uint32_t size = builder->no_stacks ? 0 : stack_size(builder, record);
    struct place *place = &places->list.data[goroutine->place];
    struct roots *roots = builder->roots;
    uint32_t node, name;
    if (size == 0)
        return true;
    if (place->stack == UINT32_MAX) {
        builder->text.size = 0;
        text_printf(&builder->text, "goroutine stack ");
        append_place(places, builder, goroutine);
        if (!builder_node_name(builder, &place->stack))
            return false;
    }
    if (!roots_add_node(roots, G2H_NODE_STACK, record->goid, place->stack, &node) ||
        !builder_label_of(builder, "stack", &name) ||
        !builder_add_edge(builder, node_synthetic(goroutine->root.node), EDGE_INTERNAL, name,
                          node_synthetic(node)))
        return false;
    roots->nodes.data[node].size = size;
    roots->account.stacks++;
    roots->account.stack_bytes += size;
    return true;
}
