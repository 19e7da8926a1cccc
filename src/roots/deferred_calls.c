/*
 * deferred_calls: the calls that goroutines have deferred, and their panics.
 *
 * A leak of deferred calls is a loop in a function that does not return. So the calls that one
 * function has deferred share a node: "5,000 deferred calls of main.serve (serve.go:52, 57)". Those
 * of a loop that ranges over a function (Go 1.23) share a record, which has no function and leads
 * to a list: its node has the same name without their number.
 */
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "roots/builder.h"

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
    const uint32_t number = (uint32_t)deferred->functions.count;
    return map_put(&deferred->function_by_key, function.key, number, ret) &&
           (*ret != number || vector_push(&deferred->functions, function));
}

/* Gets the statement that has deferred a call: pc is the address that runtime.deferproc returned
 * to. Returns false if memory runs out. */
static bool find_statement(struct deferred *deferred, uint64_t pc, uint32_t *ret)
{
    struct builder *builder = deferred->builder;
    const uint32_t number = (uint32_t)deferred->statements.count;
    struct g2h_line line = {0};
    if (!map_put(&deferred->statement_by_pc, pc, number, ret))
        return false;
    if (*ret != number)
        return true;
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
 * its name. */
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
 * their number: MOST_LINES + 1 if there are more than MOST_LINES. */
static size_t collect_lines(const struct deferred *deferred, const struct deferring *function,
                            uint32_t *lines)
{
    size_t count = 0;
    for (uint32_t i = function->statement; i != UINT32_MAX; i = deferred->statements.data[i].next) {
        const uint32_t line = deferred->statements.data[i].line;
        size_t at = 0;
        while (at < count && lines[at] < line)
            at++;
        if (line == 0 || at > MOST_LINES || (at < count && lines[at] == line))
            continue;
        count += count <= MOST_LINES;
        memmove(&lines[at + 1], &lines[at], (count - at - 1) * sizeof(*lines));
        lines[at] = line;
    }
    return count;
}

/* Appends "deferred calls of main.serve (serve.go:52, 57)". */
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
 * function has deferred no other. */
static bool node_above(struct deferred *deferred, const struct g2h_defer *record, uint32_t index,
                       uint32_t *ret)
{
    uint32_t statement;
    *ret = deferred->group;
    if (!find_statement(deferred, record->pc, &statement))
        return false;
    struct deferring *function =
        &deferred->functions.data[deferred->statements.data[statement].function];
    if (function->calls < 2)
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
    for (size_t i = 0; i < targets->deferred.count; i++) {
        const struct deferred_pointer *pointer = &targets->deferred.data[i];
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
static struct g2h_error *deferred_calls_add_all(struct deferred *deferred, size_t defers,
                                                size_t panics)
{
    const struct g2h_heap *heap = deferred->builder->heap;
    struct g2h_record record;
    TRY_MEMORY(builder_add_group(deferred->builder, deferred->builder->roots->gc_roots,
                                 "(defers and panics)", G2H_NODE_DEFERS_AND_PANICS,
                                 &deferred->group));
    TRY_MEMORY(count_calls(deferred));
    for (size_t i = 0; i < defers; i++) {
        g2h_heap_record(heap, G2H_RECORD_DEFER, i, &record);
        TRY(add_defer(deferred, &record.defer, (uint32_t)i + 1));
    }
    for (size_t i = 0; i < panics; i++) {
        g2h_heap_record(heap, G2H_RECORD_PANIC, i, &record);
        TRY(add_panic(deferred, &record.panic, (uint32_t)(defers + i) + 1));
    }
    return add_deferred_pointers(deferred->builder);
}

struct g2h_error *builder_add_defers_and_panics(struct builder *builder)
{
    const size_t defers = builder->heap->records[G2H_RECORD_DEFER].count,
                 panics = builder->heap->records[G2H_RECORD_PANIC].count;
    _cleanup_(deferred_deinit) struct deferred deferred = {.builder = builder};
    return defers + panics == 0 ? NULL : deferred_calls_add_all(&deferred, defers, panics);
}
