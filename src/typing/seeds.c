/*
 * seeds: the first sources of types: malloc headers, the runtime's records, the program's variables
 * by DWARF, and interfaces in roots and in untyped objects.
 *
 * To seed is to propose a type that does not follow from another object's type: from here on
 * pointers are followed (follow.c). To sweep is to search words whose type is not known for
 * what can be recognized by itself: interfaces, and also closures and channels. A typer is the
 * state of one thread that finds types. find_types() calls, in this order: typer_seed_headers()
 * and, once, typer_seed_facts() (what the dump itself knows) and typing_seed_roots(); and at last,
 * for the objects that are still without a type, typer_sweep().
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "heap/pointers.h"
#include "typing/fit.h"
#include "typing/typer.h"

/* ---- objects ---- */

/* Proposes for an object, from offset on, the type whose descriptor is at an address. A value, or
 * several if there is space: a malloc header does not say which. */
static void seed_object(struct typer *typer, uint32_t object, uint64_t offset, uint64_t address)
{
    const struct typing *typing = typer->typing;
    const struct g2h_heap *heap = typing->heap;
    const uint32_t type = types_at(typing->types, address);
    if (type == TYPE_NONE)
        return;
    const uint64_t size = typer_type_of(typing, type)->size,
                   space = typing_room(typing, heap_object_size(heap, object) - offset);
    struct reference reference = {.value = heap_address(heap, object) + offset,
                                  .type = type,
                                  .source = SOURCE_HEADER,
                                  .form = REFERENCE_VALUE};
    if (size > 0 && space / size >= 2) {
        reference.form = REFERENCE_ARRAY;
        reference.count = space / size;
    }
    typer_propose(typer, object, offset, &reference);
}

/* Types objects by their malloc headers. Go 1.22 and later store the type of objects of more than
 * 512 bytes with pointers in the first word of their slot, the malloc header. No evidence is
 * better. */
void typer_seed_headers(struct typer *typer, uint32_t first, uint32_t end)
{
    const struct g2h_heap *heap = typer->typing->heap;
    for (uint32_t object = first; object < end; object++) {
        const struct slot_class *slot_class = heap_slot_class(heap, object);
        struct g2h_object record;
        if (!heap_has_malloc_header(heap, slot_class))
            continue;
        heap_object(heap, object, &record);
        if (record.contents.size >= slot_class->size)
            seed_object(typer, object, MALLOC_HEADER, heap_word(heap, record.contents.data));
    }
}

/* Proposes the types that the dump itself knows (facts), for objects that begin at the fact's
 * address. */
void typer_seed_facts(struct typer *typer)
{
    const struct g2h_heap *heap = typer->typing->heap;
    VECTOR_EACH(const struct fact_type, fact, heap->facts.types) {
        const uint32_t object = heap_find(heap, fact->address);
        if (object != UINT32_MAX && heap_address(heap, object) == fact->address)
            seed_object(typer, object, 0, fact->type);
    }
}

/* Returns whether the word at offset is the data word of an interface with methods, which begins
 * one word before it. A reflect.Type is one, and its data word is the address of a type: no
 * interface begins with that word, though it looks like it. */
static bool is_interface_data(const struct typing *typing, const struct g2h_bytes *contents,
                              uint64_t offset)
{
    const uint64_t word = typing->heap->params.pointer_size;
    return offset >= word &&
           typing_interface_type(typing, heap_word(typing->heap, contents->data + offset - word),
                                 INTERFACE_WITH_METHODS) != TYPE_NONE;
}

/* Follows pairs of words that look like interfaces: the second word is listed as a pointer, and the
 * first one is taken for an itab, else for the address of a type (an interface without methods);
 * not for the latter if the word before it is an itab: then it is the data word of a reflect.Type.
 * is_typed excludes words whose type is known. address is where a segment's contents are, by which
 * its words become the holders of what they lead to; 0 for an object or a frame. */
static void sweep_words(struct typer *typer, const struct g2h_bytes *contents, uint64_t address,
                        struct g2h_fields fields, bool (*is_typed)(void *context, uint64_t offset),
                        void *context)
{
    const struct g2h_heap *heap = typer->typing->heap;
    const uint64_t word = heap->params.pointer_size;
    uint64_t offset;
    while (fields_next_pointer(&fields, &offset)) {
        if (offset < word || contents->size < word || offset > contents->size - word ||
            (is_typed && is_typed(context, offset)))
            continue;
        const uint64_t first = heap_word(heap, contents->data + offset - word),
                       data = heap_word(heap, contents->data + offset);
        if (address != 0)
            typer->holder =
                (struct outside_holder){.kind = HOLDER_WORD, .offset = address + offset};
        if (first != 0 && data != 0 &&
            !typer_follow_interface(typer, first, data, INTERFACE_WITH_METHODS, NO_TARGET,
                                    SOURCE_SWEEP) &&
            !is_interface_data(typer->typing, contents, offset - word))
            typer_follow_interface(typer, first, data, INTERFACE_EMPTY, NO_TARGET, SOURCE_SWEEP);
    }
    typer->holder = (struct outside_holder){.kind = HOLDER_OBJECT};
}

/* Proposes that an object is a closure if it begins with the address of a closure's code. */
static void sweep_closure(struct typer *typer, uint32_t object, const struct g2h_bytes *contents)
{
    const struct typing *typing = typer->typing;
    const struct reference reference = {.source = SOURCE_SWEEP, .form = REFERENCE_CLOSURE};
    if (contents->size >= typing->heap->params.pointer_size &&
        map_get(&typing->closure_by_entry, heap_word(typing->heap, contents->data)) != MAP_NONE)
        typer_propose(typer, object, 0, &reference);
}

/* Proposes that an object is a channel if it has the address of a type at the offset of a channel's
 * element type, and that type's size at the offset of the size of its elements. */
static void sweep_channel(struct typer *typer, uint32_t object, const struct g2h_bytes *contents)
{
    const struct typing *typing = typer->typing;
    const struct g2h_heap *heap = typing->heap;
    const uint64_t word = heap->params.pointer_size;
    const uint64_t offset = typing->elemtype_offset;
    if (offset == 0 || contents->size < offset + word) /* 0: it is not known */
        return;
    const uint64_t address = heap_word(heap, contents->data + offset),
                   count = heap_word(heap, contents->data),
                   most = heap_word(heap, contents->data + word);
    const uint32_t channel = map_get(&typing->channel_by_elem, address);
    if (channel == MAP_NONE || count > most)
        return;
    const uint8_t *size = contents->data + 3 * word; /* hchan.elemsize, a uint16 */
    const unsigned elem_size = heap->params.big_endian ? u16_big(size) : u16_little(size);
    const struct reference reference = {.type = channel, .source = SOURCE_SWEEP};
    if (elem_size == typer_type_of(typing, types_at(typing->types, address))->size)
        typer_propose(typer, object, 0, &reference);
}

/* Searches an object for words whose targets can be typed. Objects with a malloc header are typed
 * by it, and left out; the others are searched for words that give a type away, as those of
 * channels and closures do; those without pointers for channels only. */
void typer_sweep(struct typer *typer, uint32_t object)
{
    const struct g2h_heap *heap = typer->typing->heap;
    struct g2h_object record;
    if (heap_object_base(heap, object) != 0) /* it has a malloc header */
        return;
    heap_object(heap, object, &record);
    sweep_channel(typer, object, &record.contents);
    if (!object_has_pointers(heap, object))
        return;
    sweep_words(typer, &record.contents, 0, record.fields, NULL, NULL);
    sweep_closure(typer, object, &record.contents);
}

/* ---- the runtime's records ---- */

/* Proposes a type for the value at an address, which may be in the heap or outside of it. */
static void seed_value(struct typer *typer, uint64_t address, uint32_t type)
{
    if (type != TYPE_NONE)
        typer_refer(typer, REFERENCE_VALUE, address, 0, type, NO_TARGET, SOURCE_RUNTIME);
}

/* Proposes that a closure is at an address: its code gives the type. */
static void seed_closure(struct typer *typer, uint64_t address)
{
    typer_refer(typer, REFERENCE_CLOSURE, address, 0, 0, NO_TARGET, SOURCE_CLOSURE);
}

/* Seeds the types of what the runtime's records refer to: g, m, defers, panics' values, and objects
 * with finalizers, whose type the record has. */
static void seed_records(struct typer *typer)
{
    const struct typing *typing = typer->typing;
    const struct g2h_heap *heap = typing->heap;
    const uint32_t g = types_find(typing->types, "runtime.g"),
                   m = types_find(typing->types, "runtime.m"),
                   defer = types_find(typing->types, "runtime._defer");
    static const enum g2h_record_kind kinds[] = {G2H_RECORD_OSTHREAD, G2H_RECORD_DEFER,
                                                 G2H_RECORD_PANIC, G2H_RECORD_FINALIZER,
                                                 G2H_RECORD_QUEUEDFINALIZER};
    for (size_t i = 0; i < heap->goroutines.count; i++) {
        const struct g2h_goroutine *goroutine = &heap->goroutines.data[i].record;
        seed_value(typer, goroutine->address, g);
        seed_value(typer, goroutine->m, m);
        seed_closure(typer, goroutine->ctxt);
    }
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        for (size_t j = 0; j < g2h_heap_record_count(heap, kinds[i]); j++) {
            struct g2h_record record;
            g2h_heap_record(heap, kinds[i], j, &record);
            if (kinds[i] == G2H_RECORD_OSTHREAD) {
                seed_value(typer, record.osthread.m, m);
            } else if (kinds[i] == G2H_RECORD_DEFER) {
                seed_value(typer, record.defer.address, defer);
                seed_closure(typer, record.defer.funcval);
            } else if (kinds[i] == G2H_RECORD_PANIC) {
                typer_follow_interface(typer, record.panic.type, record.panic.data, INTERFACE_EMPTY,
                                       NO_TARGET, SOURCE_INTERFACE);
            } else {
                const uint32_t type = types_at(typing->types, record.finalizer.object_type);
                if (type != TYPE_NONE && typer_type_of(typing, type)->kind == TYPE_POINTER)
                    seed_value(typer, record.finalizer.object, typer_type_of(typing, type)->elem);
                seed_closure(typer, record.finalizer.funcval);
            }
        }
}

/* ---- globals ---- */

struct segment_context {
    const struct typing *typing;
    uint64_t address;
};

/* Returns whether a word of a segment belongs to a variable of DWARF or to a value that pointers
 * led to. */
static bool has_known_type(void *context, uint64_t offset)
{
    const struct segment_context *segment = context;
    const struct typing *typing = segment->typing;
    const uint64_t address = segment->address + offset;
    uint64_t inside;
    return typing_global(typing, address, NULL) != NULL ||
           outside_value_at(&typing->outside, typing->heap, address, &inside) != NULL;
}

/* How many bytes of variables are visited per byte of a segment, and how many more in any segment:
 * variables overlap in damaged executables. */
enum { SEGMENT_VISITS = 8, SEGMENT_VISITS_MORE = 1 << 16 };

/* Follows the pointers of consecutive values of one type. Skips holes: parts of a large bss that
 * were never written to, and are not even in memory. */
static void seed_elements(struct typer *typer, const struct g2h_segment *segment, uint64_t offset,
                          const struct pointer_map *map, uint64_t count)
{
    const struct g2h_heap *heap = typer->typing->heap;
    const struct g2h_bytes *contents = &segment->contents;
    const struct extent extent = {contents->data, contents->data + contents->size};
    struct range hole = {0, 0};
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t begin = offset + i * map->size;
        if (begin >= hole.end)
            hole = pointers_hole(heap, *contents, begin);
        if (begin >= hole.begin && hole.end - begin >= map->size) {
            i += (hole.end - begin) / map->size - 1;
            continue;
        }
        for (uint32_t j = 0; j < map->field_count; j++) {
            const uint64_t at = begin + map->fields[j].offset;
            typer->holder =
                (struct outside_holder){.kind = HOLDER_WORD, .offset = segment->address + at};
            typer_follow(typer, contents->data + at, &extent, &map->fields[j], NO_TARGET,
                         SOURCE_POINTER);
        }
    }
}

/* Follows the pointers of DWARF's variables in a segment of data or bss, element by element of
 * arrays. Variables that do not fit are cut; the work is limited (left), since the variables of a
 * damaged file may overlap. */
static void seed_segment(struct typer *typer, const struct g2h_segment *segment)
{
    struct typing *typing = typer->typing;
    const struct dwarf_info *dwarf = typing->dwarf_info;
    const uint64_t slide = exe_slide(typing->exe);
    uint64_t left = SEGMENT_VISITS * segment->contents.size + SEGMENT_VISITS_MORE;
    for (size_t i = typing_first_global(typing, segment->address - slide); i < dwarf->globals.count;
         i++) {
        const struct dwarf_global *global = &dwarf->globals.data[i];
        const uint64_t offset = global->address + slide - segment->address;
        if (offset >= segment->contents.size)
            break; /* variables ascend */
        if (global->type >= typing->types->list.count)
            continue;
        uint32_t number = global->type;
        uint64_t count = 1;
        /* Arrays are followed element by element: each has the same pointer fields. */
        for (unsigned depth = 0;
             depth < 64 && typer_type_of(typing, number)->kind == TYPE_ARRAY &&
             typer_type_of(typing, number)->elem < typing->types->list.count && count < UINT32_MAX;
             depth++) {
            if (__builtin_mul_overflow(count, typer_type_of(typing, number)->length, &count))
                count = UINT64_MAX;
            number = typer_type_of(typing, number)->elem;
        }
        const struct pointer_map *map = pointer_map_of(&typing->pointer_maps, number);
        if (!map) {
            typer->no_memory = true;
            return;
        }
        if (map->field_count == 0 || map->size == 0)
            continue;
        if (count > (segment->contents.size - offset) / map->size)
            count = (segment->contents.size - offset) / map->size;
        if (count * map->size > left) /* a smaller one may follow */
            continue;
        left -= count * map->size;
        seed_elements(typer, segment, offset, map, count);
    }
}

/* Sweeps a segment of data or bss, except for the words whose type is known. */
static void sweep_segment(struct typer *typer, const struct g2h_segment *segment)
{
    struct segment_context context = {typer->typing, segment->address};
    sweep_words(typer, &segment->contents, segment->address, segment->fields, has_known_type,
                &context);
}

/* Calls seed for each segment of data and bss, and then follows the pointers that lead to values
 * outside the heap. */
static void seed_all_segments(struct typer *typer,
                              void (*seed)(struct typer *typer, const struct g2h_segment *segment))
{
    const struct g2h_heap *heap = typer->typing->heap;
    static const enum g2h_record_kind kinds[] = {G2H_RECORD_DATA, G2H_RECORD_BSS};
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < heap->records[kinds[i]].count; j++) {
            struct g2h_record record;
            g2h_heap_record(heap, kinds[i], j, &record);
            seed(typer, &record.segment);
        }
    typer_follow_outside(typer);
}

/* ---- frames ---- */

/* Returns whether the type of a word of the frame is known, as a word of a variable. */
static bool is_local_word(void *context, uint64_t offset)
{
    const uint8_t *typed = context;
    return typed[offset / 4] != 0;
}

/* A frame whose variables are followed, or its caller's frame, which has the arguments. */
struct stack_part {
    struct heap_stack_frame frame;
    uint32_t number;       /* index in heap->frames */
    uint8_t *listed;       /* by offset / 4: the field list has it; NULL: no such frame */
    VECTOR(uint8_t) flags; /* the memory for these */
};

/* The frames being followed, and their memory, which all frames reuse. */
struct stack_parts {
    struct stack_part of[2];
    VECTOR(uint8_t) typed; /* by offset / 4 of the first one: the type is known */
};

static void stack_parts_deinit(struct stack_parts *parts)
{
    free(parts->of[0].flags.data);
    free(parts->of[1].flags.data);
    free(parts->typed.data);
}

/* Makes the first part the second one, and loads a frame as the first. Returns false if memory runs
 * out. */
static bool load_frame(struct typer *typer, struct stack_parts *parts, size_t number)
{
    struct stack_part *part = &parts->of[0];
    struct stack_part caller = *part;
    struct g2h_field field;
    *part = parts->of[1];
    parts->of[1] = caller;
    part->frame = heap_frame(typer->typing->heap, number);
    part->number = as_u32(number);
    const size_t flags = (size_t)(part->frame.contents.size / 4) + 1;
    if ((part->flags.capacity < flags && !vector_grow(&part->flags, flags)) ||
        (parts->typed.capacity < flags && !vector_grow(&parts->typed, flags)))
        return false;
    part->listed = part->flags.data;
    memset(part->listed, 0, flags);
    memset(parts->typed.data, 0, flags);
    struct g2h_fields fields = part->frame.fields;
    while (g2h_fields_next(&fields, &field))
        if (field.offset < part->frame.contents.size)
            part->listed[field.offset / 4] = 1;
    return true;
}

/*
 * Finds a byte range of a variable in the frame or its caller's frame. Returns NULL if no piece of
 * the variable has all of it. The memory of dead variables is reused; the field list shows which
 * words are live. If must_be_listed, returns NULL for a word that the list does not have.
 * *ret_offset is where it is in the function's own frame, or UINT64_MAX if it is in the caller's.
 */
static const uint8_t *find_local_bytes(const struct typing *typing, const struct dwarf_local *local,
                                       const struct stack_part *parts, uint64_t offset,
                                       uint64_t size, bool must_be_listed, uint64_t *ret_offset)
{
    for (uint32_t i = 0; i < local->piece_count; i++) {
        const struct dwarf_piece *piece = &typing->scopes->pieces.data[local->first_piece + i];
        if (offset < piece->offset || piece->size < size ||
            offset - piece->offset > piece->size - size)
            continue;
        /* The CFA is the end of the frame: locals are before it, arguments in the caller's frame
         * after it. */
        uint64_t at =
            parts[0].frame.contents.size + (uint64_t)piece->cfa_offset + (offset - piece->offset);
        const struct stack_part *part = &parts[0];
        if (at >= part->frame.contents.size && piece->cfa_offset >= 0) {
            at -= part->frame.contents.size;
            part = &parts[1];
        }
        if (!part->listed || part->frame.contents.size < size ||
            at > part->frame.contents.size - size || at % 4 != 0)
            return NULL;
        *ret_offset = part == &parts[0] ? at : UINT64_MAX;
        return must_be_listed && !part->listed[at / 4] ? NULL : part->frame.contents.data + at;
    }
    return NULL;
}

/*
 * Returns whether three words can be a slice if only the first of them is known to be live. If the
 * compiler knows a slice's length and capacity, it may describe neither, but give the location of
 * the pointer as that of the whole slice. Then the other two words can be anything, and are usually
 * more than there is space for.
 */
static bool is_plausible_slice(const struct typing *typing, const uint8_t *words, uint32_t elem)
{
    const struct g2h_heap *heap = typing->heap;
    const uint64_t word = heap->params.pointer_size;
    const uint64_t value = heap_word(heap, words);
    const uint64_t length = heap_word(heap, words + word);
    const uint64_t capacity = heap_word(heap, words + 2 * word);
    if (capacity == 0 || length > capacity || capacity >= heap->index.high - heap->index.low)
        return false;
    const uint32_t object = heap_find(heap, value);
    const uint64_t size = elem < typing->types->list.count ? typer_type_of(typing, elem)->size : 0;
    return object == UINT32_MAX || size == 0 ||
           capacity <=
               (heap_object_size(heap, object) - (value - heap_address(heap, object))) / size;
}

/* Follows a variable of a frame, and marks its words in typed, so that the sweep skips them. A live
 * variable has its pointer word in the frame's field list (an interface: its second word). left:
 * how many words of the frame's variables may still be searched. */
static void seed_local(struct typer *typer, const struct dwarf_local *local,
                       const struct stack_part *parts, uint8_t *typed, uint64_t *left)
{
    struct typing *typing = typer->typing;
    const uint64_t word = typing->heap->params.pointer_size;
    const struct pointer_map *map = local->type < typing->types->list.count
                                        ? pointer_map_of(&typing->pointer_maps, local->type)
                                        : NULL;
    if (!map)
        return;
    const uint64_t cost = (uint64_t)map->field_count * local->piece_count;
    if (cost > *left)
        return;
    *left -= cost;
    for (uint32_t i = 0; i < map->field_count; i++) {
        const struct pointer_field *field = &map->fields[i];
        const enum type_kind kind = typer_type_of(typing, field->type)->kind;
        const uint32_t elem = typer_type_of(typing, field->type)->elem;
        const uint64_t size = pointer_field_size(typing->types, field->type);
        uint64_t offsets[3] = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
        uint8_t copy[24]; /* a slice's three words may be in three locations */
        unsigned found = 0;
        for (uint64_t at = 0; at < size; at += word) {
            /* The pointer word; the list has no lengths, and no types of interfaces. */
            const bool must_be_listed = at == (kind == TYPE_INTERFACE ? word : 0);
            const uint8_t *bytes = find_local_bytes(typing, local, parts, field->offset + at, word,
                                                    must_be_listed, &offsets[at / word]);
            if (bytes) {
                memcpy(copy + at, bytes, (size_t)word);
                found |= 1u << at / word;
            }
        }
        /* A bit per word: all of them were found. */
        const bool is_whole = found == (1u << size / word) - 1;
        typer->holder =
            (struct outside_holder){.kind = HOLDER_LOCAL,
                                    .frame = parts[0].number,
                                    .local = (uint32_t)(local - typing->scopes->locals.data),
                                    .offset = field->offset};
        if (is_whole && (kind != TYPE_SLICE || is_plausible_slice(typing, copy, elem)))
            typer_follow(typer, copy, &(struct extent){copy, copy + size}, field, NO_TARGET,
                         SOURCE_POINTER);
        else if (kind == TYPE_SLICE &&
                 (found & 1) != 0) /* its capacity is in a register, or the compiler knows it */
            typer_follow_array(typer, heap_word(typing->heap, copy), elem, SOURCE_POINTER);
        else
            continue;
        for (size_t j = 0; j < size / word; j++)
            if (offsets[j] != UINT64_MAX)
                typed[offsets[j] / 4] = 1;
    }
    typer->holder = (struct outside_holder){.kind = HOLDER_OBJECT};
}

/* How many words of variables are searched per byte of a frame, and how many more in any frame.
 * Variables share memory, but not without limit. */
enum { LOCAL_VISITS = 8, LOCAL_VISITS_MORE = 512 };

/* Follows the variables of a frame, and sweeps the words that belong to none. */
static void seed_frame(struct typer *typer, const struct stack_parts *all)
{
    struct typing *typing = typer->typing;
    const struct stack_part *parts = all->of;
    uint32_t count;
    const struct dwarf_local *locals = typing_locals(typing, &parts[0].frame, &count);
    uint64_t left = LOCAL_VISITS * (parts[0].frame.contents.size +
                                    (parts[1].listed ? parts[1].frame.contents.size : 0)) +
                    LOCAL_VISITS_MORE;
    for (unsigned made = 0; made < 2; made++) /* the program's own names first */
        for (uint32_t k = 0; k < count; k++)
            if (locals[k].is_made == (made != 0))
                seed_local(typer, &locals[k], parts, all->typed.data, &left);
    sweep_words(typer, &parts[0].frame.contents, 0, parts[0].frame.fields, is_local_word,
                all->typed.data);
}

/* Follows the variables of all frames. The frames of a goroutine are visited from the outermost one
 * on, so that each frame's caller, which has its arguments, is loaded already. */
static void seed_frames(struct typer *typer)
{
    const struct g2h_heap *heap = typer->typing->heap;
    struct stack_parts parts = {0};
    for (size_t i = 0; i < heap->goroutines.count && !typer->no_memory; i++) {
        const struct heap_goroutine *goroutine = &heap->goroutines.data[i];
        parts.of[0].listed = NULL;
        for (uint32_t j = goroutine->frame_count; j-- > 0 && !typer->no_memory;)
            if (load_frame(typer, &parts, goroutine->first_frame + j))
                seed_frame(typer, &parts);
            else
                typer->no_memory = true;
    }
    stack_parts_deinit(&parts);
}

/* Seeds in this order: the runtime's records, variables in data and bss, frames, then what these
 * reach outside of the heap; last the words that no symbol describes. */
void typing_seed_roots(struct typer *typer)
{
    seed_records(typer);
    seed_all_segments(typer, seed_segment);
    seed_frames(typer);
    typer_follow_outside(typer);
    /* Values that no variable leads to get their path from this sweep. */
    seed_all_segments(typer, sweep_segment);
    typer_flush(typer);
}
