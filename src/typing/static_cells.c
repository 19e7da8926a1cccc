/*
 * static_cells: which words of data and bss are of one variable, in an executable without symbols.
 *
 * Go's linker sorts the variables of data, and those of bss, by size, and aligns those of 16 and of
 * 32 bytes and more to as many (cmd/link/internal/ld/data.go: dodataSect, symalign). So after two
 * variables that have 32 bytes at least others only begin at multiples of 32, and words between
 * these that code uses are of one: the maps and the slice of var reg = registry{byID: …}, whose
 * address no code takes. Values of literals, []T{…}, which only code uses that initializes a
 * package, may begin at any word, and are left out. A word without pointer is in a variable with
 * one, since others are in other segments: that has 16 bytes at least.
 */
#include "typing/typer.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/ranges.h"
#include "heap/heap.h"

enum { WORD = 8, SMALL = 16, SLICE = 24, LARGE = 32 };

struct cells {
    struct typing *typing;
    static_cell_vector items; /* of a segment: words that code uses, and extents of variables */
    uint64_t sizes[2];        /* the largest two that variables of the segment have at least */
    size_t first;             /* in typing->static_cells: of the segment */
    bool has_order;           /* all variables of the segment are sorted */
};

/* Returns the alignment of variables of a size. */
static uint64_t alignment_of(uint64_t size)
{
    if (size >= LARGE)
        return LARGE;
    return size >= SMALL ? SMALL : WORD;
}

/* Adds the part of a variable at an address, if it is in the segment, and code uses it not only to
 * initialize a package. Returns false if memory runs out. */
static bool add_item(struct cells *cells, const struct g2h_segment *segment, uint64_t address,
                     uint64_t end)
{
    const struct static_cell item = {address / WORD * WORD, end, true};
    if (address < segment->address || end <= address ||
        end - segment->address > segment->contents.size)
        return true;
    const struct static_user *user = typing_user(cells->typing, address, true);
    return !user || user->how <= STATIC_INITIALIZED || vector_push(&cells->items, item);
}

/* Orders cells by address. */
static int compare_cells(const void *a, const void *b)
{
    const struct static_cell *one = a;
    const struct static_cell *other = b;
    return COMPARE(one->address, other->address);
}

/* Returns whether one function sets a word, of a pointer to an array, and the next two: a slice's.
 */
static bool is_slice(const struct typing *typing, uint64_t address)
{
    enum { WORDS = 3 };
    const struct static_user *user[WORDS];
    for (unsigned i = 0; i < WORDS; i++) {
        user[i] = typing_user(typing, address + (uint64_t)i * WORD, true);
        if (!user[i] || user[i]->how != STATIC_SET || user[i]->function != user[0]->function)
            return false;
    }
    return true;
}

/* Lists what is known of the segment, ascending. Returns false if memory runs out. */
static bool add_items(struct cells *cells, const struct g2h_segment *segment)
{
    const struct typing *typing = cells->typing;
    const struct static_words *words = typing->static_words;
    const uint64_t slide = exe_slide(typing->exe);
    cells->items.count = 0;
    VECTOR_EACH(const struct static_user, user, words->users) {
        const uint64_t address = user->address + slide;
        if (!add_item(cells, segment, address, address / WORD * WORD + WORD))
            return false;
    }
    VECTOR_EACH(const struct static_extent, extent, words->extents)
        if (!add_item(cells, segment, extent->address + slide, extent->end + slide))
            return false;
    VECTOR_EACH(const struct static_array, array, words->arrays)
        if (!add_item(cells, segment, array->address + slide, array->end + slide))
            return false;
    VECTOR_EACH(const struct static_pointer_type, pointer, typing->static_pointers)
        if (pointer->is_slice && is_slice(typing, pointer->address) &&
            !add_item(cells, segment, pointer->address, pointer->address + SLICE))
            return false;
    VECTOR_EACH(const struct static_value, value, typing->static_values)
        if (value->is_reached && !add_item(cells, segment, value->address,
                                           value->address + types_size(typing->types, value->type)))
            return false;
    vector_sort(&cells->items, compare_cells);
    return true;
}

/* Finds the items that begin with a word without pointer, by the pointers, which ascend. */
static void mark_others(struct cells *cells, const struct g2h_segment *segment)
{
    struct g2h_fields fields = segment->fields;
    struct g2h_field field;
    size_t at = 0;
    while (g2h_fields_next(&fields, &field)) {
        const uint64_t address = segment->address + field.offset;
        for (; at < cells->items.count && cells->items.data[at].address <= address; at++)
            cells->items.data[at].only_pointers = cells->items.data[at].address == address;
    }
}

/* Takes account of the size that a variable has at least. */
static void note_size(struct cells *cells, const struct static_cell *cell)
{
    const uint64_t size =
        MAX(cell->end - cell->address, cell->only_pointers ? (uint64_t)WORD : (uint64_t)SMALL);
    const uint64_t first = cells->sizes[0];
    if (!cells->has_order)
        return;
    cells->sizes[0] = MAX(first, size);
    cells->sizes[1] = MAX(cells->sizes[1], MIN(first, size));
}

/* Begins a cell where a variable of its size may begin: at or before its first word. It may have
 * those before then. */
static void align_cell(struct cells *cells)
{
    static_cell_vector *list = &cells->typing->static_cells;
    struct static_cell *cell = &list->data[list->count - 1];
    for (;;) {
        const uint64_t start = cell->address / alignment_of(cell->end - cell->address) *
                               alignment_of(cell->end - cell->address);
        struct static_cell *before = list->count - cells->first > 1 ? cell - 1 : NULL;
        if (start == cell->address)
            return;
        cell->address = start;
        if (!before || before->end <= start)
            continue;
        before->end = MAX(before->end, cell->end);
        before->only_pointers = before->only_pointers && cell->only_pointers;
        list->count--;
        cell = before;
    }
}

/* Joins the items of a segment to cells. Returns false if memory runs out. */
static bool join_items(struct cells *cells)
{
    static_cell_vector *list = &cells->typing->static_cells;
    cells->first = list->count;
    cells->sizes[0] = cells->sizes[1] = WORD;
    VECTOR_EACH(const struct static_cell, item, cells->items) {
        const uint64_t alignment = alignment_of(cells->sizes[1]);
        struct static_cell *last = list->count > cells->first ? &list->data[list->count - 1] : NULL;
        if (last && (item->address < last->end ||
                     (last->end + alignment - 1) / alignment * alignment > item->address)) {
            last->end = MAX(last->end, item->end);
            last->only_pointers = last->only_pointers && item->only_pointers;
        } else {
            if (last)
                note_size(cells, last);
            if (!vector_push(list, *item))
                return false;
        }
        align_cell(cells);
    }
    return true;
}

/* Returns whether functions use variables that are in data, but apart from others, by FIPS 140. */
static bool has_others_apart(const struct typing *typing)
{
    VECTOR_EACH(const struct static_user, user, typing->static_words->users) {
        struct g2h_bytes name;
        exe_function(typing->exe, user->function, &name);
        if (bytes_begin(name, "crypto/internal/fips140"))
            return true;
    }
    return false;
}

/* Finds the cells of data and bss. The values that code shows must be known. */
struct g2h_error *typing_find_cells(struct typing *typing)
{
    static const enum g2h_record_kind kinds[] = {G2H_RECORD_DATA, G2H_RECORD_BSS};
    struct cells cells = {.typing = typing};
    bool good = true;
    for (size_t i = 0; i < 2; i++) {
        cells.has_order = kinds[i] == G2H_RECORD_BSS || !has_others_apart(typing);
        const size_t count = MIN(typing->heap->records[kinds[i]].count, (size_t)HEAP_SEGMENTS);
        for (size_t j = 0; good && j < count; j++) {
            struct g2h_record record;
            g2h_heap_record(typing->heap, kinds[i], j, &record);
            good = add_items(&cells, &record.segment);
            mark_others(&cells, &record.segment);
            good = good && join_items(&cells);
        }
    }
    free(cells.items.data);
    TRY_MEMORY(good);
    vector_sort(&typing->static_cells, compare_cells);
    return NULL;
}

/* Words that different functions use are told apart, although they are of one variable: each says
 * more of what its function uses. Looks at MOST users at most. The segment of a damaged dump may go
 * on where the file's addresses begin anew, so that the word's user is before those of the cell. */
uint64_t typing_used_together(const struct typing *typing, uint64_t address)
{
    enum { MOST = 1024 };
    const struct static_cell *cells = typing->static_cells.data;
    const struct static_words *words = typing->static_words;
    const struct static_user *user = typing_user(typing, address, true);
    const uint64_t slide = exe_slide(typing->exe);
    size_t not_after, at;
    BISECT(not_after, typing->static_cells.count, cells[not_after].address <= address);
    if (!user || not_after == 0 || address >= cells[not_after - 1].end)
        return 0;
    BISECT(at, words->users.count,
           words->users.data[at].address < cells[not_after - 1].address - slide);
    const struct static_user *first = &words->users.data[at];
    for (unsigned i = 0; first < user && first->function != user->function; i++, first++)
        if (i == MOST)
            return 0;
    return first <= user ? first->address / WORD * WORD + slide : 0;
}
