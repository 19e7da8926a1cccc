/*
 * pointers: walks over the words of an object, a frame or a segment that the collector follows; see
 * pointers.h. A walk is begun for a field list, for all words, or for the fields of a type, and
 * pointers_next() then returns one word after the other. That function walks most objects itself;
 * the walks here are for dumps before Go 1.5, and for large objects of later ones, whose words are
 * decoded into bits, 64 at a time.
 */
#include "heap/pointers.h"

#include <string.h>

#include "base/contract.h"
#include "input/input.h"

/* Returns the first hole of the file after an offset in the contents, by offsets in these:
 * {UINT64_MAX, UINT64_MAX} if there is none, or they have fewer than LEAST_HOLE bytes. */
struct range pointers_hole(const struct g2h_heap *heap, struct g2h_bytes contents, uint64_t offset)
{
    const struct g2h_input *input = heap->input;
    const uint64_t begin = as_size(contents.data - input->data);
    const uint64_t end = begin + contents.size;
    struct range hole;
    return contents.size >= LEAST_HOLE &&
                   ranges_next(input_holes(input), begin + offset, end, &hole)
               ? (struct range){hole.begin - begin, hole.end - begin}
               : (struct range){UINT64_MAX, UINT64_MAX};
}

/* Begins a walk; its kind is set by the caller. */
static void pointers_begin(const struct g2h_heap *heap, struct g2h_bytes contents,
                           struct pointers *ret)
{
    *ret = (struct pointers){.heap = heap,
                             .contents = contents,
                             .hole = pointers_hole(heap, contents, 0),
                             .pending = UINT64_MAX};
}

/* Begins a walk over the pointers of other memory with a field list. */
void pointers_of_fields(const struct g2h_heap *heap, struct g2h_bytes contents,
                        struct g2h_fields fields, struct pointers *ret)
{
    pointers_begin(heap, contents, ret);
    ret->fields = fields;
    ret->walk = heap->pointer_form == POINTERS_LISTED ? WALK_POINTERS : WALK_FIELDS;
}

/* Passes each segment and each frame to each() as a walk that has just begun. */
void pointers_of_roots(const struct g2h_heap *heap,
                       void (*each)(void *context, struct pointers *pointers), void *context)
{
    static const enum g2h_record_kind segments[] = {G2H_RECORD_DATA, G2H_RECORD_BSS};
    struct pointers pointers;
    for (size_t i = 0; i < COUNT_OF(segments); i++)
        for (size_t j = 0; j < heap->records[segments[i]].count; j++) {
            struct g2h_record record;
            g2h_heap_record(heap, segments[i], j, &record);
            pointers_of_fields(heap, record.segment.contents, record.segment.fields, &pointers);
            each(context, &pointers);
        }
    for (size_t i = 0; i < heap->frames.count; i++) {
        const struct heap_stack_frame frame = heap_frame(heap, i);
        pointers_of_fields(heap, frame.contents, frame.fields, &pointers);
        each(context, &pointers);
    }
}

/* Begins a walk over every aligned word. */
void pointers_of_words(const struct g2h_heap *heap, struct g2h_bytes contents, struct pointers *ret)
{
    pointers_begin(heap, contents, ret);
    ret->walk = WALK_WORDS;
}

/* Begins a walk over the pointers of an object that has no bit per word. Objects of Go before 1.4
 * have a type record whose fields are walked, element by element of an array or of a channel's
 * buffer. Conservative ones count as words; others without a type record have no pointers, because
 * the runtime scans them by their type alone. */
void pointers_of_other(const struct g2h_heap *heap, const struct g2h_object *object,
                       const struct slot_class *slot_class, struct pointers *ret)
{
    assert(slot_class->words == 0);
    if (heap->pointer_form != POINTERS_TYPED) {
        pointers_of_fields(heap, object->contents, object->fields, ret);
        return;
    }
    pointers_begin(heap, object->contents, ret);
    if (slot_class->kind == G2H_OBJECT_CONSERVATIVE) {
        ret->walk = WALK_WORDS;
        return;
    }
    ret->walk = WALK_TYPE;
    if (slot_class->type == SLOT_CLASS_NO_TYPE)
        return;
    ret->type = &heap->types.data[slot_class->type];
    if (slot_class->kind != G2H_OBJECT_VALUE)
        ret->stride = ret->type->size;
    if (slot_class->kind == G2H_OBJECT_CHAN) /* the buffer follows the header */
        ret->element = heap->params.hchan_size;
}

/* Returns the word at offset, or 0 if it is not in the file. */
static uint64_t pointers_word_at(const struct pointers *pointers, uint64_t offset)
{
    const uint64_t size = pointers->heap->params.pointer_size;
    if (pointers->contents.size < size || offset > pointers->contents.size - size)
        return 0;
    return heap_word(pointers->heap, pointers->contents.data + offset);
}

/* Returns whether the data word after an itab or a type word is a pointer. It may be one if the
 * itab or type is unknown. */
static bool data_is_pointer(const struct g2h_heap *heap, enum g2h_field_kind kind, uint64_t first)
{
    if (heap->pointer_form != POINTERS_TYPED)
        return true;
    uint32_t found =
        map_get(kind == G2H_FIELD_IFACE ? &heap->itab_by_address : &heap->type_by_address, first);
    if (found == MAP_NONE)
        return true;
    return kind == G2H_FIELD_IFACE ? heap->itabs.data[found].data_is_pointer
                                   : heap->types.data[found].data_is_pointer;
}

/* Returns the word of a field that the collector follows, or 0 if there is none: the pointer of an
 * empty string or slice does not count. */
static uint64_t field_value(struct pointers *pointers, enum g2h_field_kind kind, uint64_t offset)
{
    const uint64_t word = pointers->heap->params.pointer_size;
    uint64_t first = pointers_word_at(pointers, offset);
    switch (kind) {
    case G2H_FIELD_STRING:
        return pointers_word_at(pointers, offset + word) ? first : 0;
    case G2H_FIELD_SLICE:
        return pointers_word_at(pointers, offset + 2 * word) ? first : 0;
    case G2H_FIELD_IFACE:
    case G2H_FIELD_EFACE:
        if (first != 0 && data_is_pointer(pointers->heap, kind, first))
            pointers->pending = offset + word;
        return first;
    case G2H_FIELD_POINTER:
        break;
    }
    return first;
}

/* Gets the next field of the walk: the next of the list, the next word, or the next field of the
 * type, which is repeated for each element. Returns false at the end. */
static bool next_field(struct pointers *pointers, struct g2h_field *ret)
{
    const struct heap_type *type = pointers->type;
    const uint64_t word = pointers->heap->params.pointer_size;
    if (pointers->walk == WALK_FIELDS)
        return g2h_fields_next(&pointers->fields, ret);
    if (pointers->walk == WALK_WORDS) {
        *ret = (struct g2h_field){G2H_FIELD_POINTER, pointers->element};
        pointers->element += word;
        return ret->offset + word <= pointers->contents.size;
    }
    if (!type || type->field_count == 0)
        return false;
    if (pointers->field == type->field_count) {
        if (pointers->stride == 0)
            return false;
        pointers->element += pointers->stride;
        pointers->field = 0;
    }
    /* A whole element must be inside the object. A single value is never shorter than its type in a
     * sane dump. */
    if (pointers->stride > 0 && pointers->element + pointers->stride > pointers->contents.size)
        return false;
    *ret = type->fields[pointers->field++];
    ret->offset += pointers->element;
    return true;
}

/* Returns whether a whole word is in a hole. */
static bool is_in_hole(struct pointers *pointers, uint64_t offset, uint64_t word)
{
    if (offset >= pointers->hole.end)
        pointers->hole = pointers_hole(pointers->heap, pointers->contents, offset);
    return offset >= pointers->hole.begin && offset + word <= pointers->hole.end;
}

/* Gets the offset of the next listed word that is in the file, and not in a hole; see stored_size()
 * for why a word may be missing. Returns false at the end of the list. */
static inline bool next_listed(struct pointers *pointers, struct g2h_fields *fields, uint64_t word,
                               uint64_t *ret)
{
    const uint64_t stored = pointers->contents.size;
    while (fields_next_pointer(fields, ret))
        if (stored >= word && *ret <= stored - word &&
            (*ret < pointers->hole.begin || !is_in_hole(pointers, *ret, word)))
            return true;
    return false;
}

/* Returns the bit of a listed word, or 0 if the word is nil, as most listed words of large objects
 * are. is_usual: words have 8 bytes in the byte order of this machine. */
static inline uint64_t pointers_bit_of(const struct pointers *pointers, uint64_t offset,
                                       uint64_t bit, bool is_usual)
{
    const uint8_t *at = pointers->contents.data + offset;
    uint64_t value;
    if (is_usual)
        memcpy(&value, at, sizeof(value));
    else
        value = heap_word(pointers->heap, at);
    return (uint64_t)(value != 0) << bit;
}

/* Decodes the words after base that are listed in usual pairs (see fields_peek_pair()), up to a
 * pair that is not usual, or has a word for the next 64 or one that is not whole before the hole
 * and the end of the contents. *next becomes the number after the last decoded word. */
static inline void decode_pairs(const struct pointers *pointers, uint64_t base,
                                struct g2h_fields *fields, uint64_t *next, uint64_t *words)
{
    enum { WORD = 8, WORDS = 64 };
    const uint64_t size = pointers->contents.size;
    const uint64_t hole = pointers->hole.begin;
    const uint64_t before = MIN(size, hole); /* may be less than the word at base */
    while (fields->end - fields->at >= 8) {
        uint64_t offsets[2];
        size_t taken;
        fields_peek_pair(fields->at, offsets, &taken);
        if (taken == 0)
            return;
        const uint64_t one = offsets[0] - base;
        const uint64_t other = offsets[1] - base;
        if (((one | other) & (WORD - 1)) != 0 || one < *next * WORD || other <= one ||
            other >= WORDS * WORD || offsets[1] + WORD > before)
            return;
        *words |= pointers_bit_of(pointers, offsets[0], one / WORD, true) |
                  pointers_bit_of(pointers, offsets[1], other / WORD, true);
        *next = other / WORD + 1;
        fields->at += taken;
    }
}

/* Decodes up to 64 words into bits; nil words get none. A word that is too far away or out of order
 * begins the next 64. is_usual: words have this machine's size and byte order, so that they are
 * read faster. Returns false at the end. */
static inline bool decode(struct pointers *pointers, bool is_usual)
{
    const uint64_t word = is_usual ? 8 : pointers->heap->params.pointer_size;
    const unsigned shift = word == 8 ? 3 : 2;
    struct g2h_fields ahead = pointers->fields;
    uint64_t words = 0, base;
    while (words == 0 && next_listed(pointers, &ahead, word, &base)) {
        uint64_t offset, next = 1;
        words = pointers_bit_of(pointers, base, 0, is_usual);
        if (is_usual)
            decode_pairs(pointers, base, &ahead, &next, &words);
        const uint8_t *behind = ahead.at;
        while (next_listed(pointers, &ahead, word, &offset)) {
            const uint64_t distance = offset - base;
            const uint64_t bit = distance >> shift;
            if (bit < next || bit >= 64 || (distance & (word - 1)) != 0)
                break;
            words |= pointers_bit_of(pointers, offset, bit, is_usual);
            next = bit + 1;
            behind = ahead.at;
        }
        ahead.at = behind;
        pointers->base = base;
    }
    pointers->fields.at = ahead.at;
    pointers->words = words;
    return words != 0;
}

/* Decodes the next fields of a walk; false at the end. Two calls with constants, so that the
 * compiler makes a decode() for each of both. */
bool pointers_decode(struct pointers *pointers)
{
    assert(pointers->walk == WALK_POINTERS);
    return heap_words_are_usual(pointers->heap) ? decode(pointers, true) : decode(pointers, false);
}

/* Gets the next pointer of such a walk that is not nil. An interface is two words: the second one
 * waits in pending until the next call. Returns false at the end. */
bool pointers_next_other(struct pointers *pointers, uint64_t *ret_offset, uint64_t *ret_value)
{
    for (;;) {
        struct g2h_field field;
        if (pointers->pending != UINT64_MAX) {
            *ret_offset = pointers->pending;
            *ret_value = pointers_word_at(pointers, pointers->pending);
            pointers->pending = UINT64_MAX;
        } else {
            if (!next_field(pointers, &field))
                return false;
            *ret_offset = field.offset;
            *ret_value = field_value(pointers, field.kind, field.offset);
        }
        if (*ret_value != 0)
            return true;
    }
}
