/*
 * follow: follows the pointers of objects and variables that have types to their targets.
 *
 * A claim is a candidate for the type of an object, or of a part of it (claims.h). A reference is a
 * pointer whose target has a type because of the pointer's own type; propose.c makes a claim of it
 * if the type fits there.
 */
#include <string.h>

#include "base/contract.h"
#include "typing/typer.h"

/* A pointer: its value and, if known, its target. */
struct pointer {
    uint64_t value;
    uint32_t target;
    uint8_t source;
};

/* Adds a reference to the target of a pointer, unless the pointer is nil or the type of the target
 * is needed but unknown. */
static void refer_if_known(struct typer *typer, enum reference_form form,
                           const struct pointer *pointer, uint32_t type, uint64_t count)
{
    if (pointer->value == 0 || (form != REFERENCE_TEXT && form != REFERENCE_CLOSURE &&
                                type >= typer->typing->types->list.count))
        return;
    typer_refer(typer, form, pointer->value, count, type, pointer->target,
                (enum source)pointer->source);
}

/* Adds a reference to an array whose length is not known. */
void typer_follow_array(struct typer *typer, uint64_t value, uint32_t elem, enum source source)
{
    const struct pointer pointer = {value, NO_TARGET, (uint8_t)source};
    refer_if_known(typer, REFERENCE_ARRAY, &pointer, elem, 0);
}

/* Returns the type of the pointer that a value consists of, or TYPE_NONE. An interface holds such a
 * value directly, in its data word. */
static uint32_t only_pointer_field(const struct types *types, uint32_t number)
{
    /* 64 stops at damaged types that contain themselves. */
    for (unsigned depth = 0; depth < 64 && number < types->list.count; depth++) {
        const struct type *type = types_get(types, number);
        if (type->kind == TYPE_ARRAY) {
            number = type->elem;
        } else if (type->kind == TYPE_STRUCT) {
            const struct type_field *field = types_field_at(types, type, 0);
            number = field ? field->type : TYPE_NONE; /* the other fields are empty */
        } else {
            return number;
        }
    }
    return TYPE_NONE;
}

/* Reads the word at a distance from at, which may be negative. Returns false if the word is outside
 * the extent. */
static bool word_near(const struct g2h_heap *heap, const uint8_t *at, const struct extent *extent,
                      uint64_t distance, uint64_t *ret)
{
    const uint64_t offset = as_size(at - extent->begin) + distance,
                   size = as_size(extent->end - extent->begin);
    if (size < heap->params.pointer_size || offset > size - heap->params.pointer_size)
        return false;
    *ret = heap_word(heap, extent->begin + offset);
    return true;
}

/* Follows the pointer of a reflect.Value. If flagIndir is not set, it is what an interface has. */
static void follow_reflected(struct typer *typer, const uint8_t *at, const struct extent *extent,
                             const struct pointer *pointer)
{
    enum { FLAG_INDIR = 1 << 7 };
    const struct g2h_heap *heap = typer->typing->heap;
    const uint64_t word = heap->params.pointer_size;
    uint64_t type, flags;
    if (!word_near(heap, at, extent, 0 - word, &type) || !word_near(heap, at, extent, word, &flags))
        return;
    if ((flags & FLAG_INDIR) != 0)
        refer_if_known(typer, REFERENCE_VALUE, pointer,
                       typing_interface_type(typer->typing, type, INTERFACE_EMPTY), 0);
    else
        typer_follow_interface(typer, type, pointer->value, INTERFACE_EMPTY, pointer->target,
                               (enum source)pointer->source);
}

/* Refers to the target of a pointer of type `number`. enum type_target says how its type follows
 * from the pointer's type: some of the runtime's pointers lead to arrays whose length is in a word
 * nearby. */
static void follow_pointer(struct typer *typer, const uint8_t *at, const struct extent *extent,
                           const struct pointer *pointer, uint32_t number)
{
    uint64_t word;
    const struct g2h_heap *heap = typer->typing->heap;
    const struct type *type = typer_type_of(typer->typing, number);
    switch ((enum type_target)type->target) {
    case TARGET_ONE:
        refer_if_known(typer, REFERENCE_VALUE, pointer, type->elem, 0);
        break;
    case TARGET_MANY:
        refer_if_known(typer, REFERENCE_ARRAY, pointer, type->elem, 0);
        break;
    case TARGET_COUNTED: /* not for 0, which as a count means that it is not known */
        if (word_near(heap, at, extent, type->length, &word) && word > 0)
            refer_if_known(typer, REFERENCE_ARRAY, pointer, type->elem, word);
        break;
    case TARGET_BY_WORD:
        if (word_near(heap, at, extent, type->length, &word) && word == 0)
            refer_if_known(typer, REFERENCE_VALUE, pointer, type->elem, 0);
        else
            refer_if_known(typer, REFERENCE_ARRAY, pointer, type->other, 0);
        break;
    case TARGET_BY_CONTENT:
        refer_if_known(typer, REFERENCE_CONTENT, pointer, number, 0);
        break;
    case TARGET_BY_TYPE:
        follow_reflected(typer, at, extent, pointer);
        break;
    }
}

/* Finds the form and target type of the reference that a word makes if it is a value of type
 * `number`. Returns false if such a value is not a pointer, map, channel or func. */
static bool word_reference(const struct types *types, uint32_t number, enum reference_form *ret,
                           uint32_t *ret_type)
{
    const struct type *type = types_get(types, number);
    *ret = REFERENCE_VALUE;
    *ret_type = 0;
    if (type->kind == TYPE_POINTER) {
        const bool by_content = type->target == TARGET_BY_CONTENT;
        if (by_content || type->target == TARGET_MANY)
            *ret = by_content ? REFERENCE_CONTENT : REFERENCE_ARRAY;
        *ret_type = by_content ? number : type->elem;
    } else if (type->kind == TYPE_MAP || type->kind == TYPE_CHAN) {
        *ret_type = type->header;
    } else if (type->kind == TYPE_FUNC) {
        *ret = REFERENCE_CLOSURE;
    } else {
        return false;
    }
    return *ret_type < types->list.count;
}

/* Follows a word that is a value of a type. */
static void follow_word(struct typer *typer, const struct pointer *pointer, uint32_t number)
{
    enum reference_form form;
    uint32_t type;
    if (word_reference(typer->typing->types, number, &form, &type))
        refer_if_known(typer, form, pointer, type, 0);
}

/* Finds what the data word of an interface refers to, by the interface's first word, for the
 * thread's cache. */
static void find_interface(const struct typing *typing, struct known_interface *known)
{
    enum reference_form form = REFERENCE_VALUE;
    uint32_t number = typing_interface_type(typing, known->first, known->is_empty);
    known->state = number == TYPE_NONE ? INTERFACE_OF_NONE : INTERFACE_LEADS;
    known->type = number;
    if (number != TYPE_NONE && typer_type_of(typing, number)->direct_interface) {
        /* The data word is the value itself, not a pointer to it. */
        number = only_pointer_field(typing->types, number);
        if (number == TYPE_NONE || !word_reference(typing->types, number, &form, &known->type))
            known->state = INTERFACE_LEADS_NOWHERE;
    }
    known->form = (uint8_t)form;
}

/* Follows an interface to its value. The same few types are in most interfaces, so what their first
 * words mean is kept in a small table that each thread has for itself. Returns false if the first
 * word determines no type. */
bool typer_follow_interface(struct typer *typer, uint64_t first, uint64_t data, bool is_empty,
                            uint32_t target, enum source source)
{
    struct known_interface *known =
        &typer->interfaces[(interface_hash(first) ^ is_empty) % INTERFACES];
    if (known->first != first || known->is_empty != is_empty || known->state == INTERFACE_UNKNOWN) {
        known->first = first;
        known->is_empty = is_empty;
        find_interface(typer->typing, known);
    }
    if (known->state == INTERFACE_LEADS && data != 0) /* a nil pointer has a type, too */
        typer_refer(typer, (enum reference_form)known->form, data, 0, known->type, target, source);
    return known->state != INTERFACE_OF_NONE;
}

/* Follows a pointer of a typed value. What a pointer leads to depends on the kind of its field: a
 * string to bytes, a slice to as many elements as its capacity, an interface to a value of its
 * dynamic type. */
void typer_follow(struct typer *typer, const uint8_t *at, const struct extent *extent,
                  const struct pointer_field *field, uint32_t target, enum source source)
{
    const struct g2h_heap *heap = typer->typing->heap;
    const struct type *type = typer_type_of(typer->typing, field->type);
    const uint64_t word = heap->params.pointer_size;
    const struct pointer pointer = {heap_word(heap, at), target, (uint8_t)source};
    if (pointer.value == 0)
        return;
    switch ((enum type_kind)type->kind) {
    case TYPE_POINTER:
    case TYPE_UNSAFE_POINTER:
        follow_pointer(typer, at, extent, &pointer, field->type);
        break;
    case TYPE_STRING:
        refer_if_known(typer, REFERENCE_TEXT, &pointer, 0, heap_word(heap, at + word));
        break;
    case TYPE_SLICE: {
        const uint64_t capacity = heap_word(heap, at + 2 * word);
        if (capacity > 0) /* as a count, 0 means that it is not known */
            refer_if_known(typer, REFERENCE_ARRAY, &pointer, type->elem, capacity);
        break;
    }
    case TYPE_INTERFACE:
        typer_follow_interface(typer, pointer.value, heap_word(heap, at + word),
                               type->empty_interface, target, SOURCE_INTERFACE);
        break;
    case TYPE_MAP:
    case TYPE_CHAN:
    case TYPE_FUNC:
        follow_word(typer, &pointer, field->type);
        break;
    default:
        break;
    }
}

/* ---- claims ---- */

/* The part of an object that is followed because of a claim. */
struct claimed {
    uint64_t offset, count; /* values */
    uint32_t type;
    const struct pointer_map *map;
    struct extent extent; /* of the object, as far as it is in the file */
};

/* Follows the pointer fields of a claim, read one by one from the object's contents: for claims
 * that the targets of the field list do not help with. A value that is only partly in the file ends
 * it. */
static void follow_fields(struct typer *typer, const struct claimed *claimed)
{
    const struct pointer_map *map = claimed->map;
    const uint64_t stored = as_size(claimed->extent.end - claimed->extent.begin);
    for (uint64_t i = 0; i < claimed->count; i++) {
        const uint64_t start = claimed->offset + i * map->size;
        if (start > stored || map->size > stored - start)
            break;
        for (uint32_t j = 0; j < map->field_count; j++)
            if (map->fields[j].is_string == typer->texts_only) /* strings in a pass of their own */
                typer_follow(typer, claimed->extent.begin + start + map->fields[j].offset,
                             &claimed->extent, &map->fields[j], NO_TARGET, SOURCE_POINTER);
    }
}

/* Follows a word, which points to the object hit, of a value that begins at `at`. Nearly all words
 * have the forms that are handled here without typer_follow(). */
static inline void follow_hit(struct typer *typer, const struct claimed *claimed, const uint8_t *at,
                              const struct pointer_word *word, uint64_t value, uint32_t hit,
                              uint64_t (*word_at)(const struct g2h_heap *, const uint8_t *))
{
    const struct g2h_heap *heap = typer->typing->heap;
    const uint64_t size = heap->params.pointer_size;
    uint64_t count;
    switch (word->form) {
    case WORD_NONE:
    case WORD_TEXT:
        break;
    case WORD_VALUE:
        typer_refer(typer, REFERENCE_VALUE, value, 0, word->type, hit, SOURCE_POINTER);
        break;
    case WORD_SLICE:
        count = word_at(heap, at + word->offset + 2 * size);
        if (count > 0) /* as in typer_follow() */
            typer_refer(typer, REFERENCE_ARRAY, value, count, word->type, hit, SOURCE_POINTER);
        break;
    case WORD_INTERFACE:
        typer_follow_interface(typer, word_at(heap, at + word->offset - size), value,
                               typer_type_of(typer->typing, word->type)->empty_interface, hit,
                               SOURCE_INTERFACE);
        break;
    case WORD_OTHER:
        typer_follow(typer, at + claimed->map->fields[word->field].offset, &claimed->extent,
                     &claimed->map->fields[word->field], hit, SOURCE_POINTER);
        break;
    }
}

/* Follows a word that points to no object. It may point to a stack, which is between the objects or
 * after all of them, or to data that the linker laid out. is_inside: the address is between the
 * objects, where no such data is. */
static inline void follow_miss(struct typer *typer, const struct claimed *claimed,
                               const uint8_t *at, const struct pointer_word *word, uint64_t value,
                               bool is_inside)
{
    const struct outside *outside = &typer->typing->outside;
    if (word->form != WORD_NONE &&
        (outside_is_stack(outside, value) || (!is_inside && outside_is_static(outside, value))))
        typer_follow(typer, at + claimed->map->fields[word->field].offset, &claimed->extent,
                     &claimed->map->fields[word->field], NO_TARGET, SOURCE_POINTER);
}

/*
 * Follows the words of a claim on the object's start. The words of its values are those of the
 * field list, so the next word in the heap's range has the next target. leaves_heap: other words
 * may lead out of the heap. texts: only strings are followed.
 */
static inline void follow_words_of(struct typer *typer, const struct claimed *claimed,
                                   const uint32_t *target, const uint32_t *end, bool leaves_heap,
                                   bool texts,
                                   uint64_t (*word_at)(const struct g2h_heap *, const uint8_t *))
{
    const struct g2h_heap *heap = typer->typing->heap;
    const struct pointer_map *map = claimed->map;
    const struct pointer_word *words = map->followed;
    const struct pointer_word *words_end = words + map->word_count;
    const uint64_t stored = as_size(claimed->extent.end - claimed->extent.begin);
    const uint64_t size = map->size;
    const uint64_t low = heap->index.low;
    const uint64_t span = heap->index.high - low;
    uint64_t start = claimed->offset;
    for (uint64_t i = 0; i < claimed->count && (target < end || leaves_heap); i++, start += size) {
        const uint8_t *at = claimed->extent.begin + start;
        if (start > stored || size > stored - start)
            break;
        for (const struct pointer_word *word = words;
             word < words_end && (target < end || leaves_heap); word++) {
            const uint64_t value = word_at(heap, at + word->offset);
            const bool is_inside = value - low < span;
            const uint32_t hit = is_inside && target < end ? *target++ : NO_TARGET;
            if (texts) {
                if (word->form == WORD_TEXT && hit != NO_TARGET)
                    typer_refer(typer, REFERENCE_TEXT, value,
                                word_at(heap, at + word->offset + heap->params.pointer_size), 0,
                                hit, SOURCE_POINTER);
            } else if (hit != NO_TARGET) {
                follow_hit(typer, claimed, at, word, value, hit, word_at);
            } else {
                follow_miss(typer, claimed, at, word, value, is_inside);
            }
        }
    }
}

/* Reads a word of the machine's own size and byte order, as nearly all dumps have. */
static inline uint64_t usual_word(const struct g2h_heap *heap, const uint8_t *at)
{
    uint64_t word;
    (void)heap;
    memcpy(&word, at, sizeof(word));
    return word;
}

/* Calls follow_words_of() with constants, so that the compiler makes a fast version for the byte
 * order and word size of nearly all dumps. */
static void follow_words(struct typer *typer, const struct claimed *claimed, const uint32_t *target,
                         const uint32_t *end, bool leaves_heap)
{
    if (!heap_words_are_usual(typer->typing->heap))
        follow_words_of(typer, claimed, target, end, leaves_heap, typer->texts_only, heap_word);
    else if (typer->texts_only)
        follow_words_of(typer, claimed, target, end, leaves_heap, true, usual_word);
    else
        follow_words_of(typer, claimed, target, end, leaves_heap, false, usual_word);
}

/* Returns whether the field list contains the word of the malloc header and the word is in the
 * heap's range: it points to a type that was made at run time. */
static bool follow_is_header_listed(const struct g2h_heap *heap, uint32_t number)
{
    struct g2h_object object;
    uint64_t offset;
    heap_object(heap, number, &object);
    return fields_next_pointer(&object.fields, &offset) && offset < MALLOC_HEADER &&
           object.contents.size >= MALLOC_HEADER &&
           in_heap_range(heap, heap_word(heap, object.contents.data));
}

/* Finds the type, map and extent of a claim that is to be followed. Returns false if there is
 * nothing to follow. */
static inline bool begin_claim(struct typer *typer, uint32_t type, const struct slot_class *class,
                               uint32_t object, struct claimed *ret)
{
    const struct pointer_map *map = pointer_map_of(&typer->typing->pointer_maps, type);
    typer->no_memory = typer->no_memory || !map;
    if (!map || (typer->texts_only ? !map->has_strings : !map->has_non_strings))
        return false;
    const uint8_t *contents =
        typer->typing->heap->input->data + heap_offset(typer->typing->heap, object);
    ret->type = type;
    ret->map = map;
    ret->extent.begin = contents;
    ret->extent.end = contents + MIN(class->stored, class->size);
    return true;
}

/* Follows the claim on an object's start. Its words are those of the object's field list, whose
 * targets are known already; objects without pointers for the collector have no such list, and are
 * read field by field. */
static void follow_start(struct typer *typer, uint32_t object)
{
    const struct typing *typing = typer->typing;
    const struct g2h_heap *heap = typing->heap;
    const struct slot_class *slot_class = heap_slot_class(heap, object);
    const uint32_t claim = __atomic_load_n(&typing->claims[object], __ATOMIC_RELAXED);
    const uint32_t *end;
    const uint32_t *target = targets_of(typing->targets, object, &end);
    struct claimed claimed;
    const bool leaves_heap = !typer->texts_only && targets_leave_heap(typing->targets, object);
    if (slot_class->has_pointers && target == end && !leaves_heap)
        return; /* it has no pointers to follow */
    if (!begin_claim(typer, (claim & CLAIM_TYPE) - 1, slot_class, object, &claimed))
        return;
    claimed.offset = heap_value_base(heap, slot_class);
    claimed.count =
        (claim & CLAIM_ARRAY) == 0 ? 1 : (slot_class->size - claimed.offset) / claimed.map->size;
    if (!slot_class->has_pointers) {
        follow_fields(typer, &claimed);
        return;
    }
    /* The malloc header may be the first pointer of the list; the claim begins after it. */
    target += claimed.offset > 0 && follow_is_header_listed(heap, object);
    follow_words(typer, &claimed, target, end, leaves_heap);
}

/* Follows the pointers of a claim on a part of an object, unless none of the object's pointers
 * leads anywhere. An array without a count (0) goes up to the end of the slot. */
static void follow_part(struct typer *typer, const struct item *item)
{
    struct typing *typing = typer->typing;
    const struct slot_class *slot_class = heap_slot_class(typing->heap, item->object);
    const struct typed_part *part = &shard_of(typing, item->object)->parts.data[item->part];
    const uint32_t *end;
    const uint32_t *target = targets_of(typing->targets, item->object, &end);
    struct claimed claimed;
    if (slot_class->has_pointers && target == end &&
        (typer->texts_only || !targets_leave_heap(typing->targets, item->object)))
        return;
    if (!begin_claim(typer, part->type, slot_class, item->object, &claimed))
        return;
    claimed.offset = part->offset;
    if (!part->is_array)
        claimed.count = 1;
    else if (part->count != 0)
        claimed.count = part->count;
    else
        claimed.count = (slot_class->size - claimed.offset) / claimed.map->size;
    follow_fields(typer, &claimed);
}

/* Follows the pointer fields of a claim: if typer->texts_only is set, its strings, which lead no
 * further, else all other fields. */
void typer_follow_item(struct typer *typer, const struct item *item)
{
    if (item->part == ITEM_START)
        follow_start(typer, item->object);
    else
        follow_part(typer, item);
}
