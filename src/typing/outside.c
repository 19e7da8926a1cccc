/*
 * outside: typed values outside of the heap, in data, bss, read-only data and on stacks; see
 * outside.h.
 *
 * First come the areas: the memory outside the heap that is read at all, and for each word of it
 * the number of the value that contains it (value_of_word; 0: none). Then the pointers that lead
 * there, in a queue, and the values at which they point, each with the shortest path from a
 * variable to it.
 */
#include "typing/outside.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "base/elf_format.h"
#include "base/error.h"
#include "base/memory.h"
#include "typing/fit.h"
#include "typing/typer.h"

/* How many words may be visited per word of the areas, and how many more in any program. */
enum { WORD_VISITS = 16, WORD_VISITS_MORE = 1 << 16 };

/* ---- areas ---- */

/* Orders areas by address. */
static int compare_areas(const void *a, const void *b)
{
    const struct area *one = a;
    const struct area *other = b;
    if (one->address != other->address)
        return COMPARE(one->address, other->address);
    /* The dump's area comes first, because it has the values of the process. */
    return COMPARE(one->first_word, other->first_word);
}

/* Adds an area unless it is empty. Returns false if memory runs out. */
static bool add_area(struct outside *outside, const struct area *area)
{
    return area->contents.size == 0 || vector_push(&outside->areas, *area);
}

/* Returns a bit for each word of a segment, which is set if the field list names the word, or NULL
 * if memory runs out. */
static uint64_t *listed_words(const struct g2h_heap *heap, const struct g2h_segment *segment)
{
    const uint64_t word = heap->params.pointer_size;
    uint64_t *listed =
        zeroed_alloc((size_t)(segment->contents.size / word / 64) + 1, sizeof(*listed));
    struct g2h_fields fields = segment->fields;
    struct g2h_field field;
    while (listed && g2h_fields_next(&fields, &field)) {
        if (field.offset < segment->contents.size)
            bits_add(listed, field.offset / word);
    }
    return listed;
}

/* Adds the data and bss segments of the dump, each of which owns its bits of listed words. *words
 * counts the words that get an entry in value_of_word. Returns false if memory runs out. */
static bool add_segments(struct outside *outside, const struct g2h_heap *heap, uint64_t *words)
{
    static const enum g2h_record_kind kinds[] = {G2H_RECORD_DATA, G2H_RECORD_BSS};
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < heap->records[kinds[i]].count; j++) {
            struct g2h_record record;
            g2h_heap_record(heap, kinds[i], j, &record);
            struct area area = {.address = record.segment.address,
                                .contents = record.segment.contents,
                                .frame = UINT32_MAX,
                                .first_word = *words,
                                .listed = listed_words(heap, &record.segment)};
            if (!area.listed || !add_area(outside, &area)) {
                free(area.listed);
                return false;
            }
            if (area.contents.size == 0) /* it has not been added, so nothing else frees them */
                free(area.listed);
            /* and one, for what is left of a word at the end */
            *words += area.contents.size / heap->params.pointer_size + 1;
        }
    return true;
}

/* Returns the first of the segments that overlaps a section, or NULL. */
static const struct area *segment_in(const struct outside *outside, size_t segments,
                                     const struct area *section)
{
    const struct area *first = NULL;
    for (size_t i = 0; i < segments; i++) {
        const struct area *segment = &outside->areas.data[i];
        if ((segment->address - section->address < section->contents.size ||
             section->address - segment->address < segment->contents.size) &&
            (!first || segment->address < first->address))
            first = segment;
    }
    return first;
}

/* Adds a section except for the parts that the dump has: C's linker merges Go's and C's data into
 * one section. Returns false if memory runs out. */
static bool add_section(struct outside *outside, size_t segments, struct area section)
{
    const struct area *found;
    while (section.contents.size > 0 && (found = segment_in(outside, segments, &section)) != NULL) {
        const struct area segment = *found;
        /* If the segment begins before the section, the difference wraps around, and nothing of
         * the section is before it. */
        const uint64_t begin = segment.address - section.address;
        struct area before = section;
        before.contents = bytes_before(before.contents, begin < section.contents.size ? begin : 0);
        if (!add_area(outside, &before))
            return false;
        const uint64_t end = segment.address + segment.contents.size - section.address;
        if (end >= section.contents.size)
            return true;
        section.address += end;
        section.contents.data += end;
        section.contents.size -= end;
    }
    return add_area(outside, &section);
}

/* Adds the sections of the executable, since no dump has data that the program does not change.
 * Returns false if memory runs out. Adds none if the dump has more than 2 * HEAP_SEGMENTS data
 * segments, as only a damaged one has. */
static bool add_image(struct outside *outside, const struct image *image, uint64_t slide)
{
    const size_t segments = outside->areas.count;
    for (size_t i = 0; i < image->section_count && segments <= 2 * HEAP_SEGMENTS; i++) {
        const struct image_section *section = &image->sections[i];
        const struct area area = {.address = section->address + slide,
                                  .contents = section->data,
                                  .slide = slide,
                                  .frame = UINT32_MAX,
                                  .first_word = UINT64_MAX};
        if ((section->flags & (SHF_ALLOC | SHF_EXECINSTR)) == SHF_ALLOC &&
            !add_section(outside, segments, area))
            return false;
    }
    return true;
}

/* Adds the frames of all goroutines. *words as in add_segments(). Returns false if memory runs
 * out. */
static bool add_frames(struct outside *outside, const struct g2h_heap *heap, uint64_t *words)
{
    for (size_t i = 0; i < heap->goroutines.count; i++)
        for (uint32_t j = 0; j < heap->goroutines.data[i].frame_count; j++) {
            const uint32_t frame = heap->goroutines.data[i].first_frame + j;
            const struct heap_stack_frame record = heap_frame(heap, frame);
            const struct area area = {.address = record.sp,
                                      .contents = record.contents,
                                      .frame = frame,
                                      .goroutine = as_u32(i),
                                      .first_word = *words};
            if (!add_area(outside, &area))
                return false;
            *words += area.contents.size / heap->params.pointer_size + 1;
        }
    return true;
}

/* Widens a range, empty at first, to include an area. */
static void widen_range(uint64_t *low, uint64_t *high, const struct area *area)
{
    if (*high == 0 || area->address < *low)
        *low = area->address;
    if (area->address + area->contents.size > *high)
        *high = area->address + area->contents.size;
}

/* Keeps only the first of overlapping areas, which happen only in damaged dumps, and finds the
 * ranges of static areas and stacks. */
static void drop_overlaps(struct outside *outside)
{
    size_t kept = 0;
    uint64_t end = 0;
    VECTOR_EACH(struct area, area, outside->areas) {
        /* The first condition: it goes on behind the last address, at 0. */
        if (area->address + area->contents.size < area->address || area->address < end) {
            free(area->listed);
            continue;
        }
        end = area->address + area->contents.size;
        if (area->frame == UINT32_MAX)
            widen_range(&outside->static_low, &outside->static_high, area);
        else
            widen_range(&outside->stack_low, &outside->stack_high, area);
        outside->areas.data[kept++] = *area;
    }
    outside->areas.count = kept;
    assert(IS_ORDERED(i, kept,
                      outside->areas.data[i].address - outside->areas.data[i - 1].address >=
                          outside->areas.data[i - 1].contents.size));
}

/* Collects the memory outside of the heap where values may be. Each pointer-sized word outside the
 * heap gets the number of the value that contains it; 0 is none. */
struct g2h_error *outside_init(struct outside *outside, const struct g2h_heap *heap,
                               const struct image *image, uint64_t slide)
{
    uint64_t words = 0;
    if (!add_segments(outside, heap, &words) || !add_image(outside, image, slide) ||
        !add_frames(outside, heap, &words))
        return &error_no_memory;
    outside->words = (size_t)words + 1;
    outside->value_of_word = large_alloc(outside->words, sizeof(*outside->value_of_word));
    TRY_MEMORY(outside->value_of_word); /* untouched memory costs nothing, so a large segment costs
                                           little */
    if (outside->areas.count > 0)
        qsort(outside->areas.data, outside->areas.count, sizeof(*outside->areas.data),
              compare_areas);
    drop_overlaps(outside);
    /* The number of words to be visited is limited, since values may overlap in damaged files. */
    VECTOR_EACH(const struct area, area, outside->areas)
        words += area->contents.size / heap->params.pointer_size;
    outside->words_left = WORD_VISITS * words + WORD_VISITS_MORE;
    return NULL;
}

void outside_deinit(struct outside *outside)
{
    VECTOR_EACH(const struct area, area, outside->areas)
        free(area->listed);
    free(outside->areas.data);
    free(outside->values.data);
    large_free(outside->value_of_word, outside->words, sizeof(*outside->value_of_word));
    free(outside->pointers.data);
    map_deinit(&outside->seen);
}

/* Returns the area that contains an address, or NULL. */
static const struct area *area_at(const struct outside *outside, uint64_t address)
{
    size_t not_after;
    if (!outside_is_static(outside, address) && !outside_is_stack(outside, address))
        return NULL;
    BISECT(not_after, outside->areas.count, outside->areas.data[not_after].address <= address);
    if (not_after == 0)
        return NULL;
    const struct area *area = &outside->areas.data[not_after - 1];
    return address - area->address < area->contents.size ? area : NULL;
}

/* Returns the dump's bytes from an address in data or bss to the end of its segment; empty if it is
 * in no segment. */
struct g2h_bytes outside_segment_at(const struct outside *outside, uint64_t address)
{
    const struct area *area = area_at(outside, address);
    if (!area || area->frame != UINT32_MAX || area->first_word == UINT64_MAX)
        return (struct g2h_bytes){(const uint8_t *)"", 0};
    const uint64_t offset = address - area->address;
    return bytes_from(area->contents, offset);
}

/* Returns the value outside of the heap that has a word, or NULL if none is known. *ret_offset:
 * where in the value. */
const struct outside_value *outside_value_at(const struct outside *outside,
                                             const struct g2h_heap *heap, uint64_t address,
                                             uint64_t *ret_offset)
{
    const struct area *area = area_at(outside, address);
    if (!area || area->first_word == UINT64_MAX)
        return NULL;
    const uint32_t number =
        outside->value_of_word[area->first_word +
                               (address - area->address) / heap->params.pointer_size];
    if (number == 0)
        return NULL;
    *ret_offset = address - outside->values.data[number - 1].address;
    return &outside->values.data[number - 1];
}

/* ---- pointers that lead outside ---- */

/* Returns whether a value of a type has pointers to follow. */
static bool leads_on(struct typer *typer, uint32_t type)
{
    const struct pointer_map *map = pointer_map_of(&typer->typing->pointer_maps, type);
    if (!map)
        typer->no_memory = true;
    return map && map->known && map->size > 0 && map->field_count > 0;
}

/* Orders pointers by target, the longer array first: then its values need not be followed again. */
static int compare_pointers(const void *a, const void *b)
{
    const struct outside_pointer *one = a;
    const struct outside_pointer *other = b;
    if (one->address != other->address)
        return COMPARE(one->address, other->address);
    if (one->type != other->type)
        return COMPARE(one->type, other->type);
    if (one->form != other->form)
        return COMPARE(one->form, other->form);
    return COMPARE(other->count, one->count);
}

/* Adds a pointer that was found in an object to the thread's own list, once. If the key of another
 * pointer collides, a duplicate may get into the list; typer_sort_outside() drops it. */
static void remember_pointer(struct typer *typer, const struct outside_pointer *pointer)
{
    const uint64_t key =
        map_hash_pair(map_hash_pair(pointer->address, (uint64_t)pointer->type << 2 | pointer->form),
                      pointer->count);
    const uint32_t number = as_u32(typer->outside.count);
    uint32_t known;
    if (!map_put(&typer->outside_known, key, number, &known)) {
        typer->no_memory = true;
        return;
    }
    if (known != number && compare_pointers(&typer->outside.data[known], pointer) == 0)
        return;
    if (!vector_push(&typer->outside, *pointer))
        typer->no_memory = true;
}

/* Records a reference to memory outside of the heap, if something can follow from it: the text of a
 * string has no pointers, and neither have values of some types. Pointers found in objects come in
 * an order that depends on the threads, so they are only listed until typer_sort_outside(); all
 * others are queued at once. */
void typer_refer_outside(struct typer *typer, const struct outside_holder *holder,
                         enum reference_form form, uint64_t value, uint64_t count, uint32_t type)
{
    struct outside *outside = &typer->typing->outside;
    const struct outside_pointer pointer = {value, count, *holder, type, (uint8_t)form};
    if (form == REFERENCE_TEXT || !area_at(outside, value))
        return;
    /* Of the other forms, `type` is not that of the value: resolve_type() finds it later. */
    if ((form == REFERENCE_VALUE || form == REFERENCE_ARRAY) && !leads_on(typer, type))
        return;
    if (holder->kind == HOLDER_OBJECT)
        remember_pointer(typer, &pointer);
    else if (!vector_push(&outside->pointers, pointer))
        typer->no_memory = true;
}

/* ---- values ---- */

/* Returns the goroutine in whose frames a pointer was found, or UINT32_MAX if it was found
 * elsewhere. Only a goroutine's own frames can point into its stack. */
static uint32_t goroutine_of_holder(const struct typing *typing,
                                    const struct outside_holder *holder)
{
    const struct outside *outside = &typing->outside;
    const struct area *area = NULL;
    if (holder->kind == HOLDER_LOCAL)
        area = area_at(outside, typing->heap->frames.data[holder->frame].sp);
    else if (holder->kind == HOLDER_VALUE)
        area = area_at(outside, outside->values.data[holder->value].address);
    return area && area->frame != UINT32_MAX ? area->goroutine : UINT32_MAX;
}

/* Finds the type of a pointer whose target determines it: a closure's by its code, or one of two by
 * the first byte. Returns false if the target determines none. */
static bool resolve_type(const struct typing *typing, const struct area *area,
                         struct outside_pointer *pointer)
{
    const uint64_t word = typing->heap->params.pointer_size;
    const struct g2h_bytes target = bytes_from(area->contents, pointer->address - area->address);
    const uint8_t *at = target.data;
    if (pointer->form == REFERENCE_CLOSURE) {
        if (target.size < word)
            return false;
        const uint64_t code = heap_word(typing->heap, at) + area->slide;
        const uint32_t other = map_get(&typing->closure_of_value, code);
        pointer->type = map_get(&typing->closure_by_entry, code);
        /* The function may capture its last variable by reference or by value: the word there tells
         * which (closures.c). */
        if (pointer->type != MAP_NONE && other != MAP_NONE &&
            closure_last_is_value(typing, target, pointer->type))
            pointer->type = other;
    } else if (pointer->form == REFERENCE_CONTENT) {
        const struct type *type = typer_type_of(typing, pointer->type);
        pointer->type = *at == 0 ? type->elem : type->other;
    }
    return pointer->type < typing->types->list.count;
}

/* Returns whether the words at offset that the collector scans are exactly the type's pointers.
 * Where these are not known, any do. */
static bool has_pointers_of(const struct typing *typing, const struct area *area, uint64_t offset,
                            const struct pointer_map *map)
{
    const uint64_t size = typing->heap->params.pointer_size;
    const uint64_t first = offset / size;
    uint32_t next = 0;
    if (!area->listed)
        return true;
    if (offset % size != 0) /* no word of the list, which a pointer would be */
        return false;
    for (uint64_t i = 0; i < map->size / size; i++) {
        const bool wanted = next < map->word_count && map->words[next] == i * size;
        if (bits_have(area->listed, first + i) != wanted)
            return false;
        next += wanted;
    }
    return true;
}

/* Assigns a value's pointer words to the value, unless they belong to an earlier one, which names
 * them. */
static void name_words(struct typing *typing, const struct area *area, uint64_t offset,
                       const struct pointer_map *map, uint32_t number)
{
    const uint64_t size = typing->heap->params.pointer_size;
    if (area->first_word == UINT64_MAX)
        return;
    for (uint32_t i = 0; i < map->word_count; i++) {
        uint32_t *value =
            &typing->outside.value_of_word[area->first_word + (offset + map->words[i]) / size];
        if (*value == 0)
            *value = number + 1;
    }
}

/* Words of the executable's file are relocated to those of the process in a copy of at most this
 * size. */
enum { SLID_SIZE = 4096 };

/* Returns a value as the process had it. The file has addresses without the slide (ASLR), so a copy
 * gets the slide added to each word that may be an address. Returns NULL if the value is too large
 * for that, or its words are not those of this machine, which are changed in place here. */
static const uint8_t *slide_words(const struct typing *typing, const struct area *area,
                                  const uint8_t *at, const struct pointer_map *map, uint8_t *copy)
{
    const struct g2h_heap *heap = typing->heap;
    const uint64_t word = heap->params.pointer_size;
    if (area->slide == 0)
        return at;
    if (map->size > SLID_SIZE || word != 8 || !heap_words_are_usual(heap))
        return NULL;
    memcpy(copy, at, (size_t)map->size);
    for (uint64_t i = 0; i + word <= map->size; i += word) {
        uint64_t value;
        memcpy(&value, copy + i, sizeof(value));
        /* What is no address in a section after that may be a length, say, and stays. */
        if (value != 0 && outside_is_static(&typing->outside, value + area->slide)) {
            value += area->slide;
            memcpy(copy + i, &value, sizeof(value));
        }
    }
    return copy;
}

/* Follows the pointers of a value, which becomes the holder of what they lead to. */
static void follow_value(struct typer *typer, const struct area *area, uint64_t offset,
                         const struct pointer_map *map, uint32_t number)
{
    struct typing *typing = typer->typing;
    uint8_t copy[SLID_SIZE];
    const struct outside_value *value = &typing->outside.values.data[number];
    /* Not 0 in the elements after the first one, which are one value with it. */
    const uint64_t inside = area->address + offset - value->address;
    const uint8_t *at = slide_words(typing, area, area->contents.data + offset, map, copy);
    if (!at)
        return;
    const struct extent extent = {at, at + map->size};
    for (uint32_t i = 0; i < map->field_count; i++) {
        typer->holder = (struct outside_holder){
            .kind = HOLDER_VALUE, .value = number, .offset = inside + map->fields[i].offset};
        typer_follow(typer, at + map->fields[i].offset, &extent, &map->fields[i], NO_TARGET,
                     SOURCE_POINTER);
    }
    typer->holder = (struct outside_holder){.kind = HOLDER_OBJECT};
}

/* Returns the value that a pointer leads to, which is added if it is new, or UINT32_MAX if there is
 * nothing new to follow. *ret_from: how many of its values have been visited already, through a
 * shorter slice. A value whose hash is that of another one is not followed: it stays without a
 * type. */
static uint32_t enter_value(struct typer *typer, const struct outside_pointer *pointer,
                            uint64_t count, uint64_t *ret_from)
{
    struct outside *outside = &typer->typing->outside;
    const bool is_array = pointer->form == REFERENCE_ARRAY;
    const uint64_t key = map_hash_pair(pointer->address, (uint64_t)pointer->type << 1 | is_array);
    const uint32_t added = as_u32(outside->values.count);
    uint32_t number;
    *ret_from = 0;
    if (added == UINT32_MAX || !map_put(&outside->seen, key, added, &number)) {
        typer->no_memory = true;
        return UINT32_MAX;
    }
    if (number != added) {
        struct outside_value *known = &outside->values.data[number];
        /* Another value with the same hash, or this one, of which all has been visited. */
        if (known->address != pointer->address || known->type != pointer->type ||
            known->is_array != is_array || known->count >= count)
            return UINT32_MAX;
        *ret_from = known->count;
        known->count = count;
        return number;
    }
    struct outside_value value = {.address = pointer->address,
                                  .count = count,
                                  .type = pointer->type,
                                  .is_array = is_array,
                                  .first = added,
                                  .holder = pointer->holder};
    if (pointer->holder.kind == HOLDER_VALUE) {
        const struct outside_value *holder = &outside->values.data[pointer->holder.value];
        value.depth = holder->depth + 1;
        value.first = holder->first;
    }
    if (!vector_push(&outside->values, value)) {
        typer->no_memory = true;
        return UINT32_MAX;
    }
    return added;
}

/* Follows a pointer out of the heap: if the memory there can hold all its values, adds them as one
 * value outside the heap and follows their pointers. Does nothing for memory that the dump lacks,
 * types without pointers, stale pointers into another goroutine's stack, or once the work is used
 * up (outside->words_left). */
static void follow_outside_pointer(struct typer *typer, struct outside_pointer pointer)
{
    struct typing *typing = typer->typing;
    struct outside *outside = &typing->outside;
    const struct area *area = area_at(outside, pointer.address);
    uint64_t from;
    if (!area || !resolve_type(typing, area, &pointer))
        return;
    if (area->frame != UINT32_MAX && pointer.holder.kind != HOLDER_OBJECT &&
        goroutine_of_holder(typing, &pointer.holder) != area->goroutine)
        return; /* a stale pointer into memory that is another goroutine's now */
    const struct pointer_map *map = pointer_map_of(&typing->pointer_maps, pointer.type);
    if (!map) {
        typer->no_memory = true;
        return;
    }
    const uint64_t offset = pointer.address - area->address,
                   space = map->size > 0 ? (area->contents.size - offset) / map->size : 0;
    const bool is_array = pointer.form == REFERENCE_ARRAY;
    uint64_t count = is_array && pointer.count > 0 ? pointer.count : 1;
    if (!map->known || map->field_count == 0 || count > space)
        return;
    /* All values must fit before any of them names words: one that does not shows that the pointer
     * is stale, or its type wrong. */
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t cost = map->size / typing->heap->params.pointer_size + 1;
        if (cost > outside->words_left)
            return;
        outside->words_left -= cost;
        if (!has_pointers_of(typing, area, offset + i * map->size, map))
            return;
    }
    const uint32_t number = enter_value(typer, &pointer, count, &from);
    for (uint64_t i = from; number != UINT32_MAX && i < count && !typer->no_memory; i++) {
        name_words(typing, area, offset + i * map->size, map, number);
        follow_value(typer, area, offset + i * map->size, map, number);
    }
}

/* Follows the pointers out of the heap, and all pointers found there. */
void typer_follow_outside(struct typer *typer)
{
    struct outside *outside = &typer->typing->outside;
    while (outside->next < outside->pointers.count && !typer->no_memory)
        follow_outside_pointer(typer, outside->pointers.data[outside->next++]);
    outside->next = outside->pointers.count = 0;
}

/* ---- pointers that threads have found in objects ---- */

/* Takes over the pointers out of the heap that another thread has found. Returns false if memory
 * runs out. */
bool typer_take_outside(struct typer *alone, struct typer *other)
{
    VECTOR_EACH(const struct outside_pointer, pointer, other->outside)
        if (!vector_push(&alone->typing->outside.pointers, *pointer))
            return false;
    other->outside.count = 0;
    map_deinit(&other->outside_known);
    other->outside_known = (struct map){0};
    return true;
}

/* Sorts the pointers that lie outside of the heap, and removes those that several threads found. */
void typer_sort_outside(struct typing *typing)
{
    struct outside *outside = &typing->outside;
    struct outside_pointer *pointers = outside->pointers.data;
    size_t kept = 0;
    if (outside->pointers.count > 0)
        qsort(pointers, outside->pointers.count, sizeof(*pointers), compare_pointers);
    for (size_t i = 0; i < outside->pointers.count; i++) /* threads may have found the same one */
        if (kept == 0 || compare_pointers(&pointers[kept - 1], &pointers[i]) != 0)
            pointers[kept++] = pointers[i];
    outside->pointers.count = kept;
}
