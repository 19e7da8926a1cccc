/*
 * functions: the function that contains a program counter.
 *
 * Without an executable, only the functions that have frames in the dump are known, each from its
 * entry to the highest program counter seen in it.
 */
#include <stdlib.h>

#include "base/bisect.h"
#include "roots/builder.h"

/* Orders functions by their entries. */
static int compare_functions(const void *a, const void *b)
{
    const struct function *one = a, *other = b;
    return one->entry < other->entry ? -1 : one->entry > other->entry;
}

/* Lists each function once, with the highest pc seen in it, sorted by entry. */
struct g2h_error *builder_collect_functions(struct builder *builder)
{
    for (size_t i = 0; i < builder->heap->frames.count; i++) {
        const struct heap_stack_frame frame = heap_frame(builder->heap, i);
        const struct function function = {frame.entry, frame.pc, frame.function};
        uint32_t number;
        TRY_MEMORY(map_put(&builder->function_by_entry, frame.entry,
                           (uint32_t)builder->functions.count, &number));
        if (number == builder->functions.count)
            TRY_MEMORY(vector_push(&builder->functions, function));
        else if (builder->functions.data[number].last_pc < frame.pc)
            builder->functions.data[number].last_pc = frame.pc;
    }
    if (builder->functions.count > 0)
        qsort(builder->functions.data, builder->functions.count, sizeof(*builder->functions.data),
              compare_functions);
    map_deinit(&builder->function_by_entry); /* its numbers are invalid after sorting */
    return NULL;
}

/* Appends a space, and the file and line. */
static void append_file_and_line(struct builder *builder, const struct g2h_line *line)
{
    if (line->line == 0)
        return;
    const struct g2h_bytes file = bytes_base_name(line->file);
    text_append_string(&builder->text, " ");
    text_append_utf8(&builder->text, file.data, file.size, NAME_LIMIT / 16);
    text_printf(&builder->text, ":%u", line->line);
}

void builder_append_line(struct builder *builder, uint64_t pc)
{
    struct g2h_line line;
    if (builder->exe && exe_line(builder->exe, pc, &builder->lines_left, &line))
        append_file_and_line(builder, &line);
}

/* Appends the function at pc and its line from the executable. Returns false if the executable does
 * not have them. */
static bool append_line(struct builder *builder, uint64_t pc)
{
    struct g2h_line line;
    if (!builder->exe || !exe_line(builder->exe, pc, &builder->lines_left, &line))
        return false;
    builder_append(builder, &line.function);
    append_file_and_line(builder, &line);
    return true;
}

/* A return address may be the first byte after the function if the call is its last instruction, so
 * the byte before it is looked up. */
void builder_append_function(struct builder *builder, uint64_t pc, bool is_return)
{
    if (append_line(builder, is_return ? pc - 1 : pc))
        return;
    const struct function *functions = builder->functions.data;
    size_t behind;
    BISECT(behind, builder->functions.count, functions[behind].entry <= pc);
    if (behind > 0 && pc <= functions[behind - 1].last_pc) {
        builder_append(builder, &functions[behind - 1].name);
        if (pc != functions[behind - 1].entry)
            text_printf(&builder->text, " (pc 0x%llx)", (unsigned long long)pc);
    } else {
        text_printf(&builder->text, "pc 0x%llx", (unsigned long long)pc);
    }
}
