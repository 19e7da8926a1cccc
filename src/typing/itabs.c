/*
 * itabs: the runtime's table of itabs, which is an object of the heap once it has outgrown the
 * program's data.
 *
 * runtime.itabTableType is {size, count, entries}, with size entries, and its memory is allocated
 * as bytes (itabAdd). It is recognized by its contents: each entry is 0 or the address of an itab
 * that the dump lists.
 */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "typing/fit.h"

enum { FIRST_SIZE = 512 }; /* entries of the table in the program's data */

/* Returns the number of entries if an object is a table of itabs (runtime.itabTableType: size,
 * count, entries), else 0. The size is a power of 2 that explains the slot; each entry is 0 or the
 * address of an itab, as many of them as count says, and nothing follows the entries. */
static uint64_t table_size(const struct typing *typing, uint32_t object)
{
    const struct g2h_heap *heap = typing->heap;
    const uint64_t word = heap->params.pointer_size;
    const uint64_t slot = heap_object_size(heap, object);
    struct g2h_object record;
    if (slot < (2 + 2 * FIRST_SIZE) * word || heap_slot_class(heap, object)->has_pointers)
        return 0;
    heap_object(heap, object, &record);
    const struct g2h_bytes *contents = &record.contents;
    if (contents->size < slot)
        return 0;
    const uint64_t size = heap_word(heap, contents->data),
                   count = heap_word(heap, contents->data + word);
    if (size < 2 * FIRST_SIZE || (size & (size - 1)) != 0 || size > slot / word ||
        !fits_class(typing, (2 + size) * word, slot))
        return 0;
    uint64_t found = 0;
    for (uint64_t i = 0; i < slot / word - 2; i++) {
        const uint64_t itab = heap_word(heap, contents->data + (2 + i) * word);
        if (itab != 0 && (i >= size || map_get(&heap->itab_by_address, itab) == MAP_NONE))
            return 0;
        found += itab != 0;
    }
    return found == count && count > 0 ? size : 0;
}

/* Adds the type runtime.itabTableType {size, count, entries} for tables with this many entries.
 * Returns false if memory runs out. */
static bool itabs_add_type(struct types *types, uint64_t size, uint32_t *ret)
{
    static const char *const names[] = {"size", "count", "entries"};
    const char name[] = "runtime.itabTableType";
    const uint64_t word = types->pointer_size;
    /* The table's pointers lead out of the heap. */
    struct type uintptr = {.kind = TYPE_UINTPTR,
                           .size = word,
                           .elem = TYPE_NONE,
                           .key = TYPE_NONE,
                           .header = TYPE_NONE};
    uint32_t word_type, entries_type;
    if (!types_intern(types, "uintptr", 7, &uintptr.name) ||
        !types_add(types, &uintptr, &word_type))
        return false;
    struct type entries = uintptr;
    entries.kind = TYPE_ARRAY;
    entries.elem = word_type;
    entries.length = size;
    entries.size = size * word;
    if (!types_intern(types, "[]*runtime.itab", 15, &entries.name) ||
        !types_add(types, &entries, &entries_type))
        return false;
    struct type table = {.kind = TYPE_STRUCT,
                         .role = ROLE_RUNTIME,
                         .size = (2 + size) * word,
                         .elem = TYPE_NONE,
                         .key = TYPE_NONE,
                         .header = TYPE_NONE,
                         .first_field = as_u32(types->fields.count),
                         .field_count = 3};
    for (unsigned i = 0; i < 3; i++) {
        struct type_field field = {.type = i < 2 ? word_type : entries_type, .offset = i * word};
        if (!types_intern(types, names[i], strlen(names[i]), &field.name) ||
            !vector_push(&types->fields, field))
            return false;
    }
    return types_intern(types, name, sizeof(name) - 1, &table.name) &&
           types_add(types, &table, ret);
}

/* Finds the runtime's tables of itabs in the heap, and adds types for them. The runtime keeps
 * pointers to all itabs in a hash table (runtime.itabTableType), which it allocates anew when it
 * grows: the old ones may still be in the heap. */
struct g2h_error *typing_add_itab_tables(struct typing *typing, struct types *types)
{
    const struct g2h_heap *heap = typing->heap;
    uint32_t type_of_size[64]; /* by the exponent: sizes are powers of 2 */
    if (heap->itabs.count == 0)
        return NULL;
    memset(type_of_size, 0xff, sizeof(type_of_size));
    for (uint32_t object = 0; object < heap->object_count; object++) {
        const uint64_t size = table_size(typing, object);
        if (size == 0)
            continue;
        uint32_t *type = &type_of_size[__builtin_ctzll(size)];
        if (*type == TYPE_NONE && !itabs_add_type(types, size, type))
            return &error_no_memory;
        const struct itab_table table = {object, *type};
        if (!vector_push(&typing->itab_tables, table))
            return &error_no_memory;
    }
    return NULL;
}

/* Proposes for each table of itabs that was found its type; the source of this evidence is the
 * runtime. */
void typing_seed_itab_tables(struct typer *typer)
{
    VECTOR_EACH(const struct itab_table, table, typer->typing->itab_tables) {
        const struct reference reference = {.value =
                                                heap_address(typer->typing->heap, table->object),
                                            .type = table->type,
                                            .source = SOURCE_RUNTIME,
                                            .form = REFERENCE_VALUE};
        typer_propose(typer, table->object, 0, &reference);
    }
}
