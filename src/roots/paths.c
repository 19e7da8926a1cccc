/*
 * paths: names of words outside the heap that belong to no variable.
 *
 * A global "var cache = &Cache{}" is one word, and the Cache is in data without a name of its own;
 * a local may point to values in its frame, or in a caller's. The name of such a word is the path
 * by which typing got there: cache.items, c.order[0].
 */
#include "roots/builder.h"

/* The most values in such a name, besides the first one; values before them are shown as
 * "…". */
enum { PATH_STEPS = 32 };

void builder_append_path(struct builder *builder, uint32_t type, uint64_t offset)
{
    char path[NAME_LIMIT];
    const size_t size = types_path(builder->typing->types, type, offset, path, sizeof(path));
    if (size > 0 && path[0] != '[' && builder->text.size > 0)
        text_append(&builder->text, ".", 1);
    text_append_utf8(&builder->text, (const uint8_t *)path, size, NAME_LIMIT / 4);
}

void builder_append_local(struct builder *builder, const struct dwarf_local *local, uint64_t offset)
{
    const struct types *types = builder->typing->types;
    size_t size;
    const char *name = string_pool_text(&types->names, local->name, &size);
    text_append_utf8(&builder->text, (const uint8_t *)name, size, NAME_LIMIT / 4);
    builder_append_path(builder, local->type, offset);
    if (local->function == UINT32_MAX)
        return;
    text_printf(&builder->text, " (inlined ");
    name = string_pool_text(&types->names, local->function, &size);
    text_append_name(&builder->text, builder->names, (const uint8_t *)name, size, NAME_LIMIT / 4);
    text_printf(&builder->text, ")");
}

/* Appends the path from a value to the word at an offset in it. */
static void append_step(struct builder *builder, const struct outside_value *value, uint64_t offset)
{
    const uint64_t size = builder->typing->types->list.data[value->type].size;
    if (value->is_array)
        text_printf(&builder->text, "[%llu]", (unsigned long long)(offset / size));
    builder_append_path(builder, value->type, offset % size);
}

/* Appends the variable that leads to a value. Returns false if there is none. */
static bool append_variable(struct builder *builder, const struct outside_words_holder *holder)
{
    const struct typing *typing = builder->typing;
    struct g2h_bytes package;
    if (holder->kind == HOLDER_WORD)
        return builder_append_global(builder, holder->offset, &package);
    if (holder->kind == HOLDER_LOCAL)
        builder_append_local(builder, &typing->scopes->locals.data[holder->local], holder->offset);
    return holder->kind == HOLDER_LOCAL;
}

const struct outside_words_holder *builder_append_path_to(struct builder *builder, uint64_t address,
                                                          enum holder_kind from)
{
    const struct typing *typing = builder->typing;
    const struct outside_value *values = typing ? typing->outside.values.data : NULL, *value;
    uint64_t offset, offsets[PATH_STEPS];
    uint32_t steps[PATH_STEPS], count = 0;
    value = typing ? outside_value_at(&typing->outside, builder->heap, address, &offset) : NULL;
    if (!value)
        return NULL;
    const struct outside_words_holder *first = &values[value->first].holder;
    const uint32_t depth = value->depth;
    if (first->kind != from || !append_variable(builder, first))
        return NULL;
    for (uint32_t number = (uint32_t)(value - values); count < PATH_STEPS && count <= depth;
         number = values[number].holder.value) {
        steps[count] = number;
        offsets[count++] = offset;
        offset = values[number].holder.offset;
    }
    if (depth >= PATH_STEPS)
        text_printf(&builder->text, "…");
    while (count-- > 0)
        append_step(builder, &values[steps[count]], offsets[count]);
    return first;
}
