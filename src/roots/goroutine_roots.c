/*
 * goroutine_roots: makes the nodes of goroutines, with their stacks, frames and the calls that they
 * have deferred, and edges to the objects that these hold.
 *
 * The first part lists deferred calls and panics of all goroutines, named by the function that
 * deferred them. The second makes the nodes "goroutine 17 [select] main.f", below a node of the
 * place if several goroutines are there, and names each pointer of a frame by the variable that
 * DWARF or the code knows there.
 */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "heap/pointers.h"
#include "naming/names.h"
#include "roots/builder.h"
#include "roots/places.h"

/* ==== the calls that goroutines have deferred, and their panics ====
 *
 * A leak of deferred calls is a loop in a function that does not return. So the calls that one
 * function has deferred share a node: "5,000 deferred calls of main.serve (serve.go:52, 57)". Those
 * of a loop that ranges over a function (Go 1.23) share a record, which has no function and leads
 * to a list: its node has the same name without their number.
 */

/* A function that has deferred calls. */
struct deferring {
    struct g2h_line line; /* of one of its statements */
    uint64_t pc, key;
    uint32_t calls;
    uint32_t statement; /* the statement found last */
    uint32_t node;      /* UINT32_MAX: none yet */
};

/* A defer statement. */
struct statement {
    uint32_t function, line;
    uint32_t next; /* of the same function; UINT32_MAX: none */
};

struct deferred {
    struct builder *builder;
    uint32_t group;
    VECTOR(struct deferring) functions;
    VECTOR(struct statement) statements;
    struct map function_by_key, statement_by_pc;
};

/* Frees the functions and statements that have deferred calls. */
static void deferred_deinit(struct deferred *deferred)
{
    free(deferred->functions.data);
    free(deferred->statements.data);
    map_deinit(&deferred->function_by_key);
    map_deinit(&deferred->statement_by_pc);
}

/* ---- which function has deferred a call ---- */

/* Finds the function that a defer statement is in, or adds it: *ret is its index. Returns false if
 * memory runs out. */
static bool add_function(struct deferred *deferred, uint64_t pc, const struct g2h_line *line,
                         uint32_t *ret)
{
    const struct deferring function = {.line = *line,
                                       .pc = pc,
                                       .key = line->entry != 0 ? line->entry : pc,
                                       .statement = UINT32_MAX,
                                       .node = UINT32_MAX};
    const uint32_t number = as_u32(deferred->functions.count);
    return map_put(&deferred->function_by_key, function.key, number, ret) &&
           (*ret != number || vector_push(&deferred->functions, function));
}

/* Gets the statement that has deferred a call, and adds it to its function on first use: pc is the
 * address that runtime.deferproc returned to. Without line numbers, its line is 0. Returns false if
 * memory runs out. */
static bool find_statement(struct deferred *deferred, uint64_t pc, uint32_t *ret)
{
    struct builder *builder = deferred->builder;
    const uint32_t number = as_u32(deferred->statements.count);
    struct g2h_line line = {0};
    if (!map_put(&deferred->statement_by_pc, pc, number, ret))
        return false;
    if (*ret != number)
        return true;
    /* pc - 1: in the call, not in what comes after it */
    if (!builder->exe || !exe_line(builder->exe, pc - 1, &builder->lines_left, &line))
        line = (struct g2h_line){0};
    struct statement statement = {.line = line.line};
    if (!add_function(deferred, pc, &line, &statement.function))
        return false;
    statement.next = deferred->functions.data[statement.function].statement;
    deferred->functions.data[statement.function].statement = number;
    return vector_push(&deferred->statements, statement);
}

/* Returns whether a record represents a list of calls. */
static bool is_list(const struct g2h_defer *record)
{
    return record->funcval == 0 && record->code == 0;
}

/* Counts the calls that each function has deferred, because a function's node needs their number in
 * its name; records that stand for a list of calls are left out. Returns false if memory runs out.
 */
static bool count_calls(struct deferred *deferred)
{
    const struct g2h_heap *heap = deferred->builder->heap;
    for (size_t i = 0; i < heap->records[G2H_RECORD_DEFER].count; i++) {
        struct g2h_record record;
        uint32_t statement;
        g2h_heap_record(heap, G2H_RECORD_DEFER, i, &record);
        if (is_list(&record.defer))
            continue;
        if (!find_statement(deferred, record.defer.pc, &statement))
            return false;
        deferred->functions.data[deferred->statements.data[statement].function].calls++;
    }
    return true;
}

/* ---- the name of a function's calls ---- */

enum { MOST_LINES = 3 };

/* Collects the lowest lines of a function's statements in lines, ascending, by insertion. Returns
 * their number: MOST_LINES + 1 if there are more than MOST_LINES. Lines that are not known (0) are
 * left out. */
static size_t collect_lines(const struct deferred *deferred, const struct deferring *function,
                            uint32_t *lines)
{
    size_t count = 0;
    for (uint32_t i = function->statement; i != UINT32_MAX; i = deferred->statements.data[i].next) {
        const uint32_t line = deferred->statements.data[i].line;
        size_t at = 0;
        while (at < count && lines[at] < line)
            at++;
        /* Not known, behind the lowest ones, or there already. */
        if (line == 0 || at > MOST_LINES || (at < count && lines[at] == line))
            continue;
        count += count <= MOST_LINES;
        memmove(&lines[at + 1], &lines[at], (count - at - 1) * sizeof(*lines));
        lines[at] = line;
    }
    assert(count <= MOST_LINES + 1 && IS_ORDERED(i, count, lines[i - 1] < lines[i]));
    return count;
}

/* Appends "deferred calls of main.serve (serve.go:52, 57)": up to MOST_LINES lines, and none if
 * they are not known. */
static void append_calls(struct deferred *deferred, const struct deferring *function)
{
    struct builder *builder = deferred->builder;
    uint32_t lines[MOST_LINES + 2];
    const size_t count = collect_lines(deferred, function, lines);
    text_printf(&builder->text, "deferred calls of ");
    if (function->line.function.size == 0) {
        builder_append_function(builder, function->pc, true);
        return;
    }
    builder_append(builder, &function->line.function);
    if (count == 0)
        return;
    const struct g2h_bytes file = bytes_base_name(function->line.file);
    text_printf(&builder->text, " (");
    text_append_utf8(&builder->text, file.data, file.size, NAME_LIMIT / 16);
    for (size_t i = 0; i < count && i < MOST_LINES; i++)
        text_printf(&builder->text, i == 0 ? ":%u" : ", %u", lines[i]);
    text_printf(&builder->text, count > MOST_LINES ? ", …)" : ")");
}

/* Gets the node below which a call is added: that of all calls of its function, or the group if the
 * function has deferred no other. Returns false if memory runs out. */
static bool node_above(struct deferred *deferred, const struct g2h_defer *record, uint32_t index,
                       uint32_t *ret)
{
    uint32_t statement;
    *ret = deferred->group;
    if (!find_statement(deferred, record->pc, &statement))
        return false;
    struct deferring *function =
        &deferred->functions.data[deferred->statements.data[statement].function];
    if (function->calls < 2) /* a node for one call says no more than the call */
        return true;
    if (function->node == UINT32_MAX) {
        deferred->builder->text.size = 0;
        text_append_grouped(&deferred->builder->text, function->calls);
        text_printf(&deferred->builder->text, " ");
        append_calls(deferred, function);
        if (!builder_add_member(deferred->builder, deferred->group, index, G2H_NODE_DEFERRED_CALLS,
                                function->key, &function->node))
            return false;
    }
    *ret = function->node;
    return true;
}

/* ---- nodes ---- */

/* Appends which goroutine has deferred a call, if that is in the dump. */
static void append_goroutine(struct builder *builder, uint64_t g)
{
    const uint32_t number = map_get(&builder->goroutine_by_g, g);
    if (number == MAP_NONE)
        return;
    text_append_string(&builder->text, " in goroutine ");
    text_append_number(&builder->text, builder->heap->goroutines.data[number].record.goid);
}

/* Adds the record of a range-over-func loop, which leads to a list of calls, as a node of its
 * own. */
static struct g2h_error *add_list(struct deferred *deferred, const struct g2h_defer *record,
                                  uint32_t index)
{
    struct builder *builder = deferred->builder;
    uint32_t statement, node;
    TRY_MEMORY(find_statement(deferred, record->pc, &statement) && builder_text(builder, ""));
    append_calls(deferred,
                 &deferred->functions.data[deferred->statements.data[statement].function]);
    TRY_MEMORY(builder_add_member(builder, deferred->group, index, G2H_NODE_DEFERRED_CALLS,
                                  record->address, &node) &&
               builder_add_named_pointer(builder, node, EDGE_INTERNAL, "record", record->address));
    return NULL;
}

/* Adds a deferred call, below the node of its function if that has several. */
static struct g2h_error *add_defer(struct deferred *deferred, const struct g2h_defer *record,
                                   uint32_t index)
{
    struct builder *builder = deferred->builder;
    uint32_t above, node;
    if (is_list(record))
        return add_list(deferred, record, index);
    TRY_MEMORY(node_above(deferred, record, index, &above));
    TRY_MEMORY(builder_text(builder, "defer "));
    builder_append_function(builder, record->code, false);
    append_goroutine(builder, record->g);
    TRY_MEMORY(builder_add_member(builder, above, index, G2H_NODE_DEFER, record->address, &node) &&
               builder_add_named_pointer(builder, node, EDGE_INTERNAL, "record", record->address) &&
               builder_add_named_pointer(builder, node, EDGE_INTERNAL, "fn", record->funcval));
    return NULL;
}

/* Adds a panic, named by the type of its value. */
static struct g2h_error *add_panic(struct deferred *deferred, const struct g2h_panic *record,
                                   uint32_t index)
{
    struct builder *builder = deferred->builder;
    uint32_t node;
    TRY_MEMORY(builder_text(builder, "panic"));
    append_goroutine(builder, record->g);
    text_append_interface(&builder->text, builder->names,
                          interface_type_of(builder->heap, record->type));
    TRY_MEMORY(builder_add_member(builder, deferred->group, index, G2H_NODE_PANIC, record->address,
                                  &node) &&
               builder_add_named_pointer(builder, node, EDGE_INTERNAL, "record", record->address) &&
               builder_add_named_pointer(builder, node, EDGE_INTERNAL, "data", record->data));
    return NULL;
}

/* Adds the pointers that targets.h keeps in a separate list. Their names are the runtime's, if the
 * heap is typed. */
static struct g2h_error *add_deferred_pointers(struct builder *builder)
{
    const struct targets *targets = builder->targets;
    VECTOR_EACH(const struct deferred_pointer, pointer, targets->deferred) {
        uint32_t name;
        builder->text.size = 0;
        if (builder->typing)
            text_printf(&builder->text, pointer->is_first ? "_defer" : "link");
        else
            text_printf(&builder->text, "f%llu", (unsigned long long)pointer->offset);
        TRY_MEMORY(builder_label(builder, &name) &&
                   builder_add_edge(builder, node_object(pointer->source), EDGE_WEAK, name,
                                    node_object(pointer->target)));
    }
    return NULL;
}

/* Adds the group, the calls, the panics, and at last the pointers between the runtime's records. */
static struct g2h_error *add_deferred_calls(struct deferred *deferred, size_t defers, size_t panics)
{
    const struct g2h_heap *heap = deferred->builder->heap;
    struct g2h_record record;
    TRY_MEMORY(builder_add_group(deferred->builder, deferred->builder->roots->gc_roots,
                                 "(defers and panics)", G2H_NODE_DEFERS_AND_PANICS,
                                 &deferred->group));
    TRY_MEMORY(count_calls(deferred));
    for (size_t i = 0; i < defers; i++) {
        g2h_heap_record(heap, G2H_RECORD_DEFER, i, &record);
        TRY(add_defer(deferred, &record.defer, as_u32(i) + 1));
    }
    for (size_t i = 0; i < panics; i++) {
        g2h_heap_record(heap, G2H_RECORD_PANIC, i, &record);
        TRY(add_panic(deferred, &record.panic, (uint32_t)(defers + i) + 1));
    }
    return add_deferred_pointers(deferred->builder);
}

/* Adds the records of deferred calls and panics, if there are any. */
struct g2h_error *builder_add_defers_and_panics(struct builder *builder)
{
    const size_t defers = builder->heap->records[G2H_RECORD_DEFER].count,
                 panics = builder->heap->records[G2H_RECORD_PANIC].count;
    _cleanup_(deferred_deinit) struct deferred deferred = {.builder = builder};
    return defers + panics == 0 ? NULL : add_deferred_calls(&deferred, defers, panics);
}

/* ==== goroutine 17 [select] net/http.(*conn).serve, its frames ==== */

/* ---- frames ---- */

/* If a word points into a frame and not at an object, marks that frame, and adds it to work if it
 * is new. *good becomes false if memory runs out. */
static void note_pointed_frame(struct builder *builder, uint64_t value, offset_vector *work,
                               bool *good)
{
    uint32_t frame = heap_find(builder->heap, value) == UINT32_MAX
                         ? frame_index_find(&builder->targets->frames, value)
                         : UINT32_MAX;
    if (frame != UINT32_MAX && !builder->frame_pointed[frame]) {
        builder->frame_pointed[frame] = 1;
        *good = *good && vector_push(work, frame);
    }
}

/*
 * Finds the frames that something points into. Since Go 1.12 a local variable that is live only
 * through its address (a stack object) is in no field list, though the collector scans it. So if
 * something points into a frame, every word of the frame may be a pointer, which may point into
 * frames in turn.
 */
struct g2h_error *builder_find_pointed_frames(struct builder *builder)
{
    const struct g2h_heap *heap = builder->heap;
    offset_vector work = {0};
    struct pointers pointers;
    uint64_t offset, value;
    bool good = true;

    builder->frame_pointed =
        memory_copy(builder->targets->frame_pointed, heap->frames.count + 1, 1);
    TRY_MEMORY(builder->frame_pointed);
    for (size_t i = 0; i < heap->frames.count && good; i++) {
        if (builder->frame_pointed[i])
            good = vector_push(&work, i); /* an object points into it */
        const struct heap_stack_frame frame = heap_frame(heap, i);
        pointers_of_fields(heap, frame.contents, frame.fields, &pointers);
        while (good && pointers_next(&pointers, &offset, &value))
            note_pointed_frame(builder, value, &work, &good);
    }
    while (work.count > 0 && good) {
        pointers_of_words(heap, heap_frame(heap, (size_t)work.data[--work.count]).contents,
                          &pointers);
        while (good && pointers_next(&pointers, &offset, &value))
            note_pointed_frame(builder, value, &work, &good);
    }
    free(work.data);
    return good ? NULL : &error_no_memory;
}

/* Appends the name of a word by the path to it from a variable of this frame, or of a frame that
 * got a pointer to it. Returns false if there is none. */
static bool append_frame_path(struct builder *builder, const struct heap_stack_frame *frame,
                              uint64_t offset)
{
    const struct outside_holder *holder =
        builder_append_path_to(builder, frame->sp + offset, HOLDER_LOCAL);
    if (!holder)
        return false;
    const struct heap_stack_frame owner = heap_frame(builder->heap, holder->frame);
    if (owner.sp != frame->sp) {
        text_printf(&builder->text, " (of ");
        builder_append(builder, &owner.function);
        text_printf(&builder->text, ")");
    }
    return true;
}

/* Appends the variable of type sync.Pool that a word of a frame will be put into, if there is one.
 */
static void append_pool(struct builder *builder, const struct heap_stack_frame *frame,
                        uint64_t offset)
{
    const uint64_t pool = builder->typing ? typing_pool(builder->typing, frame, offset) : 0;
    struct g2h_bytes name;
    uint64_t inside;
    if (pool == 0 || !g2h_exe_variable(builder->exe, pool, &name, &inside) || inside != 0)
        return;
    text_printf(&builder->text, " (for ");
    builder_append(builder, &name);
    text_printf(&builder->text, ")");
}

/*
 * Makes the name of the word at offset of a frame. It is the variable that DWARF has there: a
 * variable of the frame or, among the frame's outgoing arguments, of its callee (NULL: none).
 * Otherwise it is a variable that leads there, or the offset. Returns false if it is the offset.
 */
static bool goroutine_roots_name_word(struct builder *builder, const struct heap_stack_frame *frame,
                                      const struct heap_stack_frame *callee, uint64_t offset)
{
    const struct typing *typing = builder->typing;
    const struct dwarf_local *local = NULL;
    uint64_t within;
    builder->text.size = 0;
    if (typing)
        local = typing_local_at(typing, frame, offset, false, &within);
    if (local) {
        builder_append_local(builder, local, within);
        return true;
    }
    if (typing && callee)
        local = typing_local_at(typing, callee, offset, true, &within);
    if (local) {
        builder_append_local(builder, local, within);
        text_printf(&builder->text, " (argument of ");
        builder_append(builder, &callee->function);
        text_printf(&builder->text, ")");
        return true;
    }
    if (append_frame_path(builder, frame, offset))
        return true;
    const struct frame_value *value = typing ? typing_frame_value(typing, frame, offset) : NULL;
    if (value) {
        const uint64_t start = value->slot * builder->heap->params.pointer_size;
        text_append_string(&builder->text, "f");
        text_append_number(&builder->text, start);
        builder_append_path(builder, value->type, offset - start);
        return true;
    }
    text_append_string(&builder->text, "f");
    text_append_number(&builder->text, offset);
    append_pool(builder, frame, offset);
    if (!typing) /* with typing, the object's class shows the type */
        builder_append_dynamic_type(builder, &frame->contents, offset);
    return false;
}

/* Names a word without a variable, such as the compiler's own variables, by a variable of the frame
 * with the same value: "v?". That variable is dead or is in a register, and the word was copied
 * from it. If all pointers of a frame are known, the variable would not be shown otherwise. */
static void name_by_equal_variable(struct builder *builder, const struct heap_stack_frame *frame,
                                   uint64_t offset, uint64_t value)
{
    enum { MOST = 256 }; /* words to search */
    const struct typing *typing = builder->typing;
    struct pointers pointers;
    uint64_t other, other_value, within;
    pointers_of_words(builder->heap, frame->contents, &pointers);
    for (int i = 0; i < MOST && pointers_next(&pointers, &other, &other_value); i++) {
        const struct dwarf_local *local =
            other_value == value && other != offset
                ? typing_local_at(typing, frame, other, false, &within)
                : NULL;
        if (!local)
            continue;
        builder->text.size = 0;
        builder_append_local(builder, local, within);
        text_printf(&builder->text, "?");
        return;
    }
}

/*
 * Adds edges for the words of a frame that are in no field list and hit an object: those of
 * variables, or the others. The others come first, because DevTools shows the last of several
 * equally short paths to an object first.
 */
static struct g2h_error *goroutine_roots_add_stack_objects(struct builder *builder, uint32_t node,
                                                           const struct heap_stack_frame *frame,
                                                           bool variables)
{
    const uint64_t word = builder->heap->params.pointer_size;
    struct g2h_fields fields = frame->fields;
    struct g2h_field field;
    struct pointers pointers;
    uint64_t offset, value;
    uint8_t *listed = calloc((size_t)(frame->contents.size / word) + 1, 1);
    bool good = listed != NULL;

    while (good && g2h_fields_next(&fields, &field))
        if (field.offset < frame->contents.size)
            listed[field.offset / word] = 1;
    pointers_of_words(builder->heap, frame->contents, &pointers);
    while (good && pointers_next(&pointers, &offset, &value)) {
        uint32_t object = listed[offset / word] ? UINT32_MAX : heap_find(builder->heap, value),
                 name;
        if (object == UINT32_MAX ||
            goroutine_roots_name_word(builder, frame, NULL, offset) != variables)
            continue;
        text_printf(&builder->text, "?");
        builder->roots->account.conservative++;
        good = !builder->text.failed && builder_label(builder, &name) &&
               builder_add_edge(builder, node_synthetic(node), EDGE_TENTATIVE, name,
                                node_object(object));
    }
    free(listed);
    return good ? NULL : &error_no_memory;
}

/* The position of a frame in its goroutine: the number of frames above it (depth) and below it
 * (height). */
struct frame_position {
    uint32_t goroutine; /* node */
    uint64_t goid;
    uint32_t depth, height;
};

/* Adds a frame and its pointers; callee is the frame above it on the stack, or NULL. The node's key
 * consists of the goroutine and the height, which is the same in later dumps as long as the frame
 * is there. In a dump that may lack stack objects, words that are in no field list count as
 * pointers too, if something points into the frame. */
static struct g2h_error *add_frame(struct builder *builder, const struct frame_position *position,
                                   uint32_t number, const struct heap_stack_frame *frame,
                                   const struct heap_stack_frame *callee)
{
    const struct g2h_heap *heap = builder->heap;
    struct pointers pointers;
    uint64_t offset, value;
    uint32_t node, first, name;

    const uint64_t key = position->goid << 24 | position->height;
    TRY_MEMORY(builder_site_name(builder, number, &name) &&
               roots_add_node(builder->roots, G2H_NODE_FRAME, key, name, &node) &&
               builder_join_group(builder, position->goroutine, position->depth, node));
    const struct root_frame root = {node, number, builder->site_of[number] - 1};
    TRY_MEMORY(vector_push(&builder->roots->frames, root));
    builder->named = builder_site_call(builder, builder_site(builder, number))->function;
    pointers_of_fields(heap, frame->contents, frame->fields, &pointers);
    while (pointers_next(&pointers, &offset, &value)) {
        if (!goroutine_roots_name_word(builder, frame, callee, offset) && builder->typing &&
            heap->facts.has_stack_objects)
            name_by_equal_variable(builder, frame, offset, value);
        TRY_MEMORY(builder_add_pointer(builder, node, EDGE_PROPERTY, value));
    }
    if (heap->records[G2H_RECORD_STACKROOT].count > 0)
        TRY_MEMORY(map_put(&builder->frame_by_sp, frame->sp, node, &first));
    if (!builder->frame_pointed[number] || !heap->reader->layout->may_lack_stack_objects ||
        heap->facts.has_stack_objects)
        return NULL;
    TRY(goroutine_roots_add_stack_objects(builder, node, frame, false));
    return builder->typing ? goroutine_roots_add_stack_objects(builder, node, frame, true) : NULL;
}

/* Adds all frames of a goroutine, topmost first. */
static struct g2h_error *goroutine_roots_add_frames(struct builder *builder, uint32_t goroutine,
                                                    uint64_t goid, const uint32_t *frames,
                                                    uint32_t count)
{
    struct heap_stack_frame callee;
    for (uint32_t i = 0; i < count; i++) {
        const struct frame_position position = {goroutine, goid, i, count - 1 - i};
        const struct heap_stack_frame frame = heap_frame(builder->heap, frames[i]);
        TRY(add_frame(builder, &position, frames[i], &frame, i > 0 ? &callee : NULL));
        callee = frame;
    }
    builder->named = bytes_none;
    return NULL;
}

/* ---- goroutines ---- */

/* Returns whether a goroutine is the one that writes the heap dump: one of the INNERMOST functions
 * on its stack is WriteHeapDump. */
static bool dumps_heap(const struct builder *builder, const uint32_t *frames, uint32_t count)
{
    enum { INNERMOST = 16 };
    for (uint32_t i = 0; i < count && i < INNERMOST; i++) {
        const struct g2h_bytes function = heap_frame(builder->heap, frames[i]).function;
        if (bytes_are(function, "runtime/debug.WriteHeapDump"))
            return true;
    }
    return false;
}

/* Returns how many minutes a goroutine has waited, at least; 0 if it does not wait, or not for a
 * known time. Times are in nanoseconds. The dump does not record when it was written, so the newest
 * time in it counts as the end. */
static uint32_t minutes_of(const struct builder *builder, const struct g2h_goroutine *goroutine)
{
    const uint64_t minute = UINT64_C(60000000000);
    if (goroutine->status == GOROUTINE_RUNNABLE || goroutine->status == GOROUTINE_RUNNING ||
        goroutine->wait_since == 0)
        return 0;
    const uint64_t minutes = (builder->newest_wait - goroutine->wait_since) / minute;
    return minutes < UINT32_MAX ? (uint32_t)minutes : UINT32_MAX;
}

/* Makes the name that a traceback shows, goroutine 17 [select, 5 minutes], followed by the function
 * that the goroutine runs. If it is alone in its place, the innermost function of the program comes
 * before that; otherwise the node above has both. */
static void goroutine_name(const struct places *places, struct builder *builder,
                           const struct goroutine *goroutine, bool is_alone)
{
    const struct g2h_goroutine *record = goroutine_record(builder, goroutine);
    struct text *text = &builder->text;
    text->size = 0;
    text_append_string(text, "goroutine ");
    text_append_number(text, record->goid);
    text_append_string(text, " [");
    root_goroutine_append_state(builder->heap, &goroutine->root, text);
    if (goroutine->root.minutes > 0)
        text_printf(text, ", %u minutes", goroutine->root.minutes);
    if (record->is_system || record->is_background)
        text_printf(text, record->is_system ? ", system" : ", background");
    text_append_string(text, "]");
    if (is_alone) {
        places_append_functions(places, builder, goroutine);
        return;
    }
    text_append_string(text, " ");
    builder_append(builder, &goroutine->root.function);
}

/* Returns the function that called the one with the go statement of a goroutine: an index in
 * roots->calls, or UINT32_MAX if the stack of its starter is not known. */
static uint32_t caller_of_statement(const struct builder *builder,
                                    const struct root_goroutine *goroutine)
{
    enum { CALLER = 1 };
    const struct roots *roots = builder->roots;
    if (goroutine->starter_count == 0 ||
        roots->starters.data[goroutine->first_starter].frame_count <= CALLER)
        return UINT32_MAX;
    return roots->starter_frames
        .data[roots->starters.data[goroutine->first_starter].first_frame + CALLER];
}

/* Finds the name of the go statement that has created a goroutine, which is UINT32_MAX if it is not
 * known; with the function that called its function, if that is known. The runtime creates the main
 * goroutine. Returns false if memory runs out. */
static bool goroutine_roots_find_statement(struct builder *builder,
                                           const struct g2h_goroutine *record,
                                           struct goroutine *goroutine)
{
    enum { MAIN = 1 };
    const uint32_t caller = caller_of_statement(builder, &goroutine->root);
    uint32_t *ret = &goroutine->statement;
    *ret = UINT32_MAX;
    if (record->creation_pc == 0)
        return true;
    goroutine->statement_key = map_hash_pair(record->creation_pc, caller);
    *ret = map_get(&builder->statements, goroutine->statement_key);
    if (*ret != MAP_NONE)
        return true;
    if (!builder_text(builder, record->goid == MAIN ? "main.main" : "go statement in "))
        return false;
    if (record->goid != MAIN)
        builder_append_function(builder, record->creation_pc, true);
    if (caller != UINT32_MAX) {
        text_append_string(&builder->text, " ← ");
        root_call_append(builder->names, &builder->roots->calls.data[caller], &builder->text);
    }
    return builder_node_name(builder, ret) &&
           map_put(&builder->statements, goroutine->statement_key, *ret, ret);
}

/* Adds an edge to the go statement that has created a goroutine; those of one statement share its
 * node. Nothing if the statement is not known. */
static struct g2h_error *add_creation_site(struct builder *builder,
                                           const struct goroutine *goroutine)
{
    const uint64_t pc = goroutine_record(builder, goroutine)->creation_pc;
    const uint32_t caller = caller_of_statement(builder, &goroutine->root);
    uint32_t node, name;
    if (goroutine->statement == UINT32_MAX)
        return NULL;
    node = map_get(&builder->creation_sites, goroutine->statement_key);
    if (node == MAP_NONE) {
        const uint32_t line = caller == UINT32_MAX ? 0 : builder->roots->calls.data[caller].line;
        TRY_MEMORY(roots_add_node(builder->roots, G2H_NODE_CREATION_SITE,
                                  line == 0 ? pc : id_hash(pc ^ (uint64_t)line << 40),
                                  goroutine->statement, &node) &&
                   map_put(&builder->creation_sites, goroutine->statement_key, node, &node));
    }
    TRY_MEMORY(builder_label_of(builder, "created by", &name) &&
               builder_add_edge(builder, node_synthetic(goroutine->root.node), EDGE_INTERNAL, name,
                                node_synthetic(node)));
    return NULL;
}

/* Adds a goroutine with its frames (frames: their numbers) below group: (goroutines), or the node
 * of its place. Its edges lead to its go statement, its context (ctxt), its record (g), what it
 * waits for, and its thread, if that has a node. */
static struct g2h_error *add_goroutine(struct places *places, struct builder *builder,
                                       uint32_t group, struct goroutine *goroutine,
                                       const uint32_t *frames)
{
    const bool is_alone = places->list.data[goroutine->place].goroutines == 1;
    const struct g2h_goroutine *record = goroutine_record(builder, goroutine);
    struct root_goroutine *root = &goroutine->root;
    uint32_t name, thread;
    goroutine_name(places, builder, goroutine, is_alone);
    TRY_MEMORY(builder_add_member(builder, group, (uint32_t)record->goid, G2H_NODE_GOROUTINE,
                                  record->goid, &root->node) &&
               places_note_runtime(builder, goroutine, is_alone, root->node));
    root->first_frame = as_u32(builder->roots->frames.count);
    TRY_MEMORY(vector_push(&builder->roots->goroutines, *root));
    TRY(goroutine_roots_add_frames(builder, root->node, record->goid, frames, root->frame_count));
    TRY(add_creation_site(builder, goroutine));
    TRY_MEMORY(builder_add_named_pointer(builder, root->node, EDGE_INTERNAL, "ctxt", record->ctxt));
    TRY_MEMORY(builder_add_named_pointer(builder, root->node, EDGE_INTERNAL, "g", record->address));
    TRY(builder_add_waiting(builder, root->node, record->address));
    thread = map_get(&builder->threads, record->m);
    if (thread != MAP_NONE)
        TRY_MEMORY(builder_label_of(builder, "thread", &name) &&
                   builder_add_edge(builder, node_synthetic(root->node), EDGE_INTERNAL, name,
                                    node_synthetic(thread)));
    TRY_MEMORY(map_put(&builder->goroutine_by_g, record->address, root->goroutine, &thread));
    return NULL;
}

/*
 * Lists the frames of a goroutine in a dump of 2013. In all other formats frames follow their
 * goroutine; in this one that is not guaranteed, but each frame has its caller's sp. Returns false
 * if memory runs out.
 */
static bool list_chain_of_2013(const struct builder *builder, const struct map *by_sp, uint64_t sp,
                               bool *claimed, frame_vector *ret)
{
    for (uint32_t frame = map_get(by_sp, sp); frame != MAP_NONE && !claimed[frame];) {
        struct g2h_record record;
        g2h_heap_record(builder->heap, G2H_RECORD_STACKFRAME, frame, &record);
        if (!vector_push(ret, frame))
            return false;
        claimed[frame] = true; /* a frame belongs to one goroutine only */
        frame = map_get(by_sp, record.stackframe.child_sp);
    }
    return true;
}

/* Lists all goroutines with the data that is needed before they get nodes, and the frames of all of
 * them; then finds the goroutines' places. In dumps of 2013, frames need not follow their
 * goroutine: then they are found by their stack pointers. */
static struct g2h_error *goroutine_roots_list(struct builder *builder, struct places *places,
                                              goroutine_vector *ret, frame_vector *ret_frames)
{
    const struct g2h_heap *heap = builder->heap;
    const bool is_2013 = strcmp(g2h_heap_format(heap), "2013") == 0;
    _cleanup_(map_deinit) struct map by_sp = {0};
    _cleanup_free_ bool *claimed = calloc(heap->frames.count + 1, sizeof(*claimed));
    uint32_t frame;
    TRY_MEMORY(claimed);
    for (size_t i = 0; is_2013 && i < heap->frames.count; i++)
        TRY_MEMORY(map_put(&by_sp, heap->frames.data[i].sp, as_u32(i), &frame));
    for (size_t i = 0; i < heap->goroutines.count; i++) {
        const struct heap_goroutine *listed = &heap->goroutines.data[i];
        const uint32_t first = listed->first_frame;
        const uint32_t count = listed->frame_count;
        struct goroutine goroutine = {.first_frame = ret_frames->count};
        if (is_2013 && (count == 0 || heap->frames.data[first].sp != listed->record.sp))
            TRY_MEMORY(list_chain_of_2013(builder, &by_sp, listed->record.sp, claimed, ret_frames));
        else
            for (frame = first; frame < first + count; frame++)
                TRY_MEMORY(vector_push(ret_frames, frame));
        const uint32_t *frames = frames_of(ret_frames, &goroutine);
        goroutine.root = (struct root_goroutine){
            .goroutine = as_u32(i),
            .frame_count = as_u32(ret_frames->count - goroutine.first_frame)};
        goroutine.root.minutes = minutes_of(builder, &listed->record);
        goroutine.root.dumps_heap = dumps_heap(builder, frames, goroutine.root.frame_count);
        for (uint32_t j = 0; j < goroutine.root.frame_count; j++)
            TRY_MEMORY(builder_find_site(builder, frames[j], j > 0 ? frames[j - 1] : UINT32_MAX));
        if (!builder_coroutine_function(builder, listed->record.address, frames,
                                        goroutine.root.frame_count, &goroutine.root.function))
            TRY(builder_find_entry(builder, frames, goroutine.root.frame_count,
                                   &goroutine.root.function));
        goroutine.root.at = places_innermost(builder, frames, goroutine.root.frame_count);
        TRY_MEMORY(builder_find_starters(builder, listed->record.address, &goroutine.root) &&
                   goroutine_roots_find_statement(builder, &listed->record, &goroutine) &&
                   vector_push(ret, goroutine));
    }
    for (size_t i = 0; i < ret->count; i++)
        TRY_MEMORY(places_find(places, builder, ret, i));
    return NULL;
}

/* Adds the stackroot records of a dump of 2013, below their frames. */
static struct g2h_error *add_stackroots(struct builder *builder)
{
    for (size_t i = 0; i < builder->heap->records[G2H_RECORD_STACKROOT].count; i++) {
        struct g2h_record record;
        g2h_heap_record(builder->heap, G2H_RECORD_STACKROOT, i, &record);
        const struct g2h_stackroot *root = &record.stackroot;
        uint32_t node = map_get(&builder->frame_by_sp, root->frame_sp);
        builder->text.size = 0;
        if (node == MAP_NONE)
            text_printf(&builder->text, "stack 0x%llx", (unsigned long long)root->address);
        else
            text_printf(&builder->text, "f%llu",
                        (unsigned long long)(root->address - root->frame_sp));
        TRY_MEMORY(builder_add_pointer(builder, node == MAP_NONE ? builder->roots->gc_roots : node,
                                       EDGE_PROPERTY, root->pointer));
    }
    return NULL;
}

/* Goroutines are all listed before the first gets a node, because only then is it known which
 * places have several. */
struct g2h_error *builder_add_goroutines(struct builder *builder)
{
    const struct g2h_heap *heap = builder->heap;
    _cleanup_(places_deinit) struct places places = {0};
    _cleanup_vector_ goroutine_vector goroutines = {0};
    _cleanup_vector_ frame_vector frames = {0};
    uint32_t group, parent;
    if (heap->goroutines.count == 0)
        return add_stackroots(builder);
    VECTOR_EACH(const struct heap_goroutine, goroutine, heap->goroutines)
        if (goroutine->record.wait_since > builder->newest_wait)
            builder->newest_wait = goroutine->record.wait_since;
    TRY_MEMORY(builder_add_group(builder, builder->roots->gc_roots, "(goroutines)",
                                 G2H_NODE_GOROUTINES, &group));
    builder->site_of = calloc(heap->frames.count + 1, sizeof(*builder->site_of));
    TRY_MEMORY(builder->site_of);
    TRY(goroutine_roots_list(builder, &places, &goroutines, &frames));
    VECTOR_EACH(struct goroutine, goroutine, goroutines) {
        const uint32_t *own = frames_of(&frames, goroutine);
        TRY_MEMORY(places_add_group(&places, builder, group, goroutine, &parent));
        TRY(add_goroutine(&places, builder, parent, goroutine, own));
        TRY_MEMORY(places_add_stack(&places, builder, goroutine));
    }
    return add_stackroots(builder);
}
