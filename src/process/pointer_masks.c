/*
 * pointer_masks: which words of an object are pointers, as the collector determines it; see
 * pointer_masks.h. The first part finds the mask of a type: a bit per word, from its descriptor, by
 * a GC program, or made from the types that it consists of. The second part, heap_bits, finds the
 * words of an object: by release and size, in its type, in a bitmap at the end of its span, or in
 * one of its arena.
 */
#include "base/contract.h"
#include "process/pointer_masks.h"

#include <assert.h>
#include <stdlib.h>

/* ==== the pointer masks that a type descriptor does not have ====
 *
 * Layouts: internal/abi/type.go, the same from Go 1.24 to 1.27.
 */

enum { WORD = 8 };

/* abi.TFlagGCMaskOnDemand, and the first release that has it. */
enum { MASK_ON_DEMAND = 16, FIRST_ON_DEMAND = 24 };

/* Kinds (abi.Kind), and the offsets of fields in abi.ArrayType, abi.StructType and
 * abi.StructField. */
enum { KIND_ARRAY = 17, KIND_STRUCT = 25, KIND_MASK = 31 };

enum { ARRAY_ELEM = 48, ARRAY_LEN = 64 };

enum { STRUCT_FIELDS = 56, STRUCT_COUNT = 64 };

enum { FIELD_TYPE = 8, FIELD_OFFSET = 16, FIELD_SIZE = 24 };

/* The deepest nesting of types in one another: no program's comes close. */
enum { MOST_DEPTH = 250 };

/* The words of a descriptor that matter. */
struct descriptor {
    uint64_t address, size, pointers, kind, data; /* pointers: bytes up to the last one */
    bool is_on_demand;
};

/* A mask that is being made. */
struct mask_build {
    const struct runtime *runtime;
    uint8_t *bits;
    uint64_t words; /* that bits has space for */
    /* Fields, and words of masks, that may still be visited: the descriptors of an invalid process
     * may be nested without end, or share fields. */
    uint64_t work_left;
};

/* ---- descriptors ---- */

/* Reads the descriptor of a type whose values have at most this many bytes. Returns false if it is
 * missing, or invalid: the values have more, or pointers beyond their end. */
static bool descriptor_read(const struct runtime *runtime, uint64_t address, uint64_t most,
                            struct descriptor *ret)
{
    uint64_t flags;
    *ret = (struct descriptor){.address = address};
    if (!runtime_peek(runtime, address, LAYOUT_TYPE_SIZE, &ret->size) ||
        !runtime_peek(runtime, address, LAYOUT_TYPE_PTR_BYTES, &ret->pointers) ||
        !runtime_peek(runtime, address, LAYOUT_TYPE_TFLAG, &flags) ||
        !runtime_peek(runtime, address, LAYOUT_TYPE_KIND, &ret->kind) ||
        !runtime_peek(runtime, address, LAYOUT_TYPE_GC_DATA, &ret->data))
        return false;
    ret->kind &= KIND_MASK;
    ret->is_on_demand = runtime->minor >= FIRST_ON_DEMAND && (flags & MASK_ON_DEMAND) != 0;
    return ret->size <= most && ret->pointers <= ret->size;
}

/* Subtracts from the work that may still be done. Returns false if it is too much. */
static bool mask_take_work(struct mask_build *build, uint64_t work)
{
    const bool can = work <= build->work_left;
    build->work_left = can ? build->work_left - work : 0;
    return can;
}

/* ---- bits ---- */

/* Returns count bits of a mask, at most 56, which are in eight bytes wherever they begin. */
static uint64_t mask_bits(const uint8_t *bits, uint64_t first, uint64_t count)
{
    const uint64_t bytes = (first % 8 + count + 7) / 8;
    return memory_number(bits + first / 8, (unsigned)bytes) >> (first % 8) &
           ((UINT64_C(1) << count) - 1);
}

/* Adds count bits of `from`, from bit `first` on, to a mask from a word on. The bits may be of the
 * same mask if they are before that word. Returns false if there are too many. */
static bool mask_add(struct mask_build *build, uint64_t word, const uint8_t *from, uint64_t first,
                     uint64_t count)
{
    enum { AT_A_TIME = 56 };
    if (word > build->words || count > build->words - word ||
        !mask_take_work(build, 1 + count / AT_A_TIME))
        return false;
    for (uint64_t i = 0, part; i < count; i += part) {
        part = MIN(count - i, AT_A_TIME);
        const uint64_t at = word + i;
        uint64_t bits = mask_bits(from, first + i, part) << (at % 8);
        for (uint8_t *byte = build->bits + at / 8; bits != 0; bits >>= 8)
            *byte++ |= (uint8_t)bits;
    }
    return true;
}

/* Repeats the first `words` of the `period` words that begin at a word, until there are `count`
 * periods. Each step copies all periods that there are so far, so their number doubles, and the
 * work is in proportion to the mask's words. Returns false if the mask has no space for them. */
static bool mask_repeat(struct mask_build *build, uint64_t word, uint64_t words, uint64_t period,
                        uint64_t count)
{
    for (uint64_t done = 1, more; done < count; done += more) {
        more = MIN(count - done, done);
        if (!mask_add(build, word + done * period, build->bits, word, (more - 1) * period + words))
            return false;
    }
    return true;
}

/* ---- types ---- */

static bool mask_add_type(struct mask_build *build, const struct descriptor *type, uint64_t word,
                          unsigned depth);

/* Adds the mask of an array: that of an element, repeated. Returns false if the type is invalid: it
 * cannot be read, has no elements or more than fit into it, or its elements have no pointers, so
 * that there would be no mask. */
static bool mask_add_array(struct mask_build *build, const struct descriptor *type, uint64_t word,
                           unsigned depth)
{
    const struct runtime *runtime = build->runtime;
    struct descriptor element;
    uint64_t address, count;
    return memory_read(runtime->memory, type->address + ARRAY_ELEM, WORD, &address) &&
           memory_read(runtime->memory, type->address + ARRAY_LEN, WORD, &count) &&
           descriptor_read(runtime, address, type->size, &element) && count > 0 &&
           element.pointers > 0 && count <= type->size / element.size &&
           mask_add_type(build, &element, word, depth) &&
           mask_repeat(build, word, element.pointers / WORD, element.size / WORD, count);
}

/* Adds the masks of a struct's fields, from a word on. Returns false if one of their types is
 * invalid, lies beyond the struct, or has pointers that are not at a word; or if the work limit is
 * reached. */
static bool mask_add_struct(struct mask_build *build, const struct descriptor *type, uint64_t word,
                            unsigned depth)
{
    const struct runtime *runtime = build->runtime;
    uint64_t fields, count;
    if (!memory_read(runtime->memory, type->address + STRUCT_FIELDS, WORD, &fields) ||
        !memory_read(runtime->memory, type->address + STRUCT_COUNT, WORD, &count) ||
        !mask_take_work(build, count))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        struct descriptor field;
        uint64_t address, offset;
        if (!memory_read(runtime->memory, fields + i * FIELD_SIZE + FIELD_TYPE, WORD, &address) ||
            !memory_read(runtime->memory, fields + i * FIELD_SIZE + FIELD_OFFSET, WORD, &offset) ||
            offset > type->size ||
            !descriptor_read(runtime, address, type->size - offset, &field) ||
            (field.pointers > 0 &&
             (offset % WORD != 0 || !mask_add_type(build, &field, word + offset / WORD, depth))))
            return false;
    }
    return true;
}

/* Adds the mask of a type from a word on. Returns false if the type is invalid. It is, too, if it
 * is nested MOST_DEPTH levels deep, or its mask is missing. */
static bool mask_add_type(struct mask_build *build, const struct descriptor *type, uint64_t word,
                          unsigned depth)
{
    const uint64_t words = type->pointers / WORD;
    if (depth == MOST_DEPTH || type->size % WORD != 0)
        return false;
    if (!type->is_on_demand) {
        const uint8_t *bits = memory_at(build->runtime->memory, type->data, (words + 7) / 8);
        return bits && mask_add(build, word, bits, 0, words);
    }
    if (type->kind == KIND_ARRAY)
        return mask_add_array(build, type, word, depth + 1);
    return type->kind == KIND_STRUCT && mask_add_struct(build, type, word, depth + 1);
}

/* Makes the mask of a type that has none. *ret stays as it is if the type is invalid. Returns false
 * if memory runs out. */
static bool mask_make(struct type_masks *masks, const struct descriptor *type,
                      struct type_mask *ret)
{
    /* Each level of nesting visits a word at most once, and at most 8 fields in it. The limit is
     * the type's own, so that it does not matter which thread asks first for which type. */
    enum { LEAST_WORK = 1000, LEVELS = 16, FIELDS = 8 };
    const uint64_t words = type->pointers / WORD;
    struct mask_build build = {.runtime = masks->runtime,
                               .bits = calloc((size_t)(words / 8 + 1), 1),
                               .words = words,
                               .work_left =
                                   LEAST_WORK + type->size / WORD * (uint64_t)(LEVELS * FIELDS)};
    if (!build.bits)
        return false;
    if (mask_add_type(&build, type, 0, 0))
        *ret = (struct type_mask){type->address, type->size / WORD, words, build.bits};
    else
        free(build.bits);
    return true;
}

/* ---- GC programs ---- */

/* Reads a uvarint at *address, and moves that to what follows. Returns false if it is missing, or
 * does not fit into 56 bits. */
static bool program_number(const struct runtime *runtime, uint64_t *address, uint64_t *ret)
{
    enum { MOST_SHIFT = 49 }; /* 56 - 7 */
    uint64_t byte = 0x80;
    *ret = 0;
    for (unsigned shift = 0; (byte & 0x80) != 0; shift += 7) {
        if (shift > MOST_SHIFT || !memory_read(runtime->memory, (*address)++, 1, &byte))
            return false;
        *ret |= (byte & 0x7f) << shift;
    }
    return true;
}

/* Runs a GC program (runtime.runGCProg()), which makes a mask of pointers. Each instruction is a
 * byte: with the top bit the last bits are repeated, else as many bits follow as it says, and 0 is
 * the end. Before the program is its size, in 4 bytes. Returns false if the program is not all
 * there, or makes more than `words` bits. */
bool type_masks_run(const struct runtime *runtime, uint64_t address, uint64_t words, uint8_t *ret)
{
    enum { HEADER = 4, REPEAT = 0x80, COUNT = 0x7f, STEPS = 2 };
    struct mask_build build = {runtime, ret, words, 0};
    uint64_t done = 0, instruction;
    for (address += HEADER; memory_read(runtime->memory, address++, 1, &instruction);) {
        uint64_t count = instruction & COUNT;
        uint64_t times = 1;
        if (instruction == 0)
            return true;
        build.work_left = STEPS * words + STEPS; /* each bit is made once */
        if ((instruction & REPEAT) == 0) {
            const uint8_t *bits = memory_at(runtime->memory, address, (count + 7) / 8);
            if (!bits || !mask_add(&build, done, bits, 0, count))
                return false;
            address += (count + 7) / 8;
        } else if ((count == 0 && !program_number(runtime, &address, &count)) ||
                   !program_number(runtime, &address, &times) || count == 0 || count > done ||
                   times > (words - done) / count ||
                   !mask_repeat(&build, done - count, count, count, times + 1)) {
            return false;
        }
        done += count * times;
    }
    return false;
}

/* ---- all types ---- */

void type_masks_init(struct type_masks *ret, const struct runtime *runtime)
{
    *ret = (struct type_masks){.runtime = runtime, .lock = PTHREAD_MUTEX_INITIALIZER};
}

void type_masks_deinit(struct type_masks *masks)
{
    VECTOR_EACH(struct type_mask, mask, masks->list)
        free(not_const(mask->bits));
    free(masks->list.data);
    map_deinit(&masks->by_address);
    pthread_mutex_destroy(&masks->lock);
}

/* Finds the mask of a type that has none, or makes it. An invalid type is kept, too. Returns false
 * if memory runs out. */
static bool type_masks_find(struct type_masks *masks, const struct descriptor *type,
                            struct type_mask *ret)
{
    struct type_mask made = {.address = type->address};
    uint32_t index = map_get(&masks->by_address, type->address);
    if (index == MAP_NONE) {
        index = as_u32(masks->list.count);
        if (!mask_make(masks, type, &made) || !vector_push(&masks->list, made) ||
            !map_put(&masks->by_address, type->address, index, &index))
            return false;
        assert(index == masks->list.count - 1);
    }
    *ret = masks->list.data[index];
    return true;
}

/* Gets the mask of a type's pointers. ret->bits stays NULL if the type is invalid, or its mask is
 * missing. Returns false if memory runs out. */
bool type_masks_get(struct type_masks *masks, uint64_t address, uint64_t most,
                    struct type_mask *ret)
{
    struct descriptor type;
    *ret = (struct type_mask){.address = address};
    if (!descriptor_read(masks->runtime, address, most, &type) || type.size < WORD)
        return true;
    if (type.is_on_demand) {
        pthread_mutex_lock(&masks->lock);
        const bool good = type_masks_find(masks, &type, ret);
        pthread_mutex_unlock(&masks->lock);
        return good;
    }
    const uint64_t words = type.pointers / WORD;
    const uint8_t *bits = memory_at(masks->runtime->memory, type.data, (words + 7) / 8);
    if (bits || words == 0)
        *ret = (struct type_mask){address, type.size / WORD, words, bits};
    return true;
}

/* ==== which words of an object the collector treats as pointers ==== */

/* Slots of up to this many bytes have their bits in the span; larger slots of a size class begin
 * with their type (runtime.heapBitsInSpan(), since Go 1.22). */
enum { MOST_IN_SPAN = 512 };

/* The bytes of inline marks at the end of a span, after its bitmap (runtime.spanInlineMarkBits,
 * green tea), and the smallest slots of spans that have them. */
enum { INLINE_MARK_BITS = 128, LEAST_INLINE = 16 };

/* ---- unknown pointers ---- */

/* Counts an object whose mask is missing or invalid: all its words but the first `offset` may be
 * pointers. */
static void take_all(struct heap_bits *bits, uint64_t offset, struct heap_mask *ret)
{
    static const uint64_t ones[] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    enum { WORDS = sizeof(ones) * 8 };
    bits->missing++;
    *ret = (struct heap_mask){(const uint8_t *)ones, 0, WORDS, offset, WORDS};
}

/* ---- types ---- */

/* Finds the mask of the type at an address, which is not 0, in a small cache: consecutive objects
 * mostly have the same one. A type that is invalid, or larger than the object, has no period.
 * Returns false if memory runs out. */
static bool heap_bits_find_type(struct heap_bits *bits, uint64_t address, uint64_t most,
                                struct type_mask *ret)
{
    struct type_mask *seen = &bits->seen[map_hash(address) % HEAP_TYPES];
    if ((seen->address != address || seen->period == 0) &&
        !type_masks_get(bits->masks, address, most, seen))
        return false;
    *ret = *seen;
    if (ret->period > most / WORD)
        ret->period = 0;
    return true;
}

/* Returns whether an object is the one that was last taken from its span: a thread that was stopped
 * at this moment may not have cleared it yet, so that it begins with what was there before. */
static bool is_last_made(const struct span *span, uint64_t object)
{
    return !span->is_large && (object - span->start) / span->elemsize + 1 == span->freeindex;
}

/* Uses the mask of the type at an address for an object: it begins after the malloc header, a word
 * that only small objects have. Without a type (address 0) an object is still being made, and has
 * no pointers. An invalid type counts as missing, but not of an object that may begin with what was
 * there before. Returns false if memory runs out. */
static bool take_type(struct heap_bits *bits, const struct span *span, uint64_t object,
                      uint64_t address, struct heap_mask *ret)
{
    const uint64_t offset = span->is_large ? 0 : 1; /* words */
    struct type_mask type;
    if (address == 0)
        return true;
    if (!heap_bits_find_type(bits, address, span->elemsize - offset * WORD, &type))
        return false;
    if (type.period > 0) {
        *ret = (struct heap_mask){type.bits, 0, type.words, offset, type.period};
    } else {
        take_all(bits, offset, ret);
        bits->missing -= is_last_made(span, object);
    }
    return true;
}

/* ---- bitmaps of arenas ---- */

/* Returns the address of the runtime.heapArena of a heap address, or 0 if there is none. */
static uint64_t arena_of(const struct runtime *runtime, uint64_t address)
{
    const uint64_t index = (address - runtime->arena_base) / RUNTIME_ARENA_SIZE;
    uint64_t arenas, arena;
    return memory_read(runtime->memory,
                       runtime->mheap + runtime_offset(runtime, LAYOUT_MHEAP_ARENAS), WORD,
                       &arenas) &&
                   memory_read(runtime->memory, arenas + WORD * index, WORD, &arena)
               ? arena
               : 0;
}

/* The words of an object in one arena, and the arena's bitmaps for them. */
struct arena_piece {
    uint64_t first, words; /* the first one's index in the arena; their number */
    /* From the byte that has the first word on; last: NULL, or a bit per 64 words. */
    const uint8_t *bitmap, *last;
};

/*
 * Finds the words of an object in the arena of an address, and their bitmaps. Returns false if the
 * bitmaps are missing.
 *
 * Up to Go 1.19 a byte has two bits for each of four words: whether the word is a pointer, and
 * whether more pointers follow. In 1.20 and 1.21 there is a bit per word, and a bit per 64 words
 * that is set if no more pointers follow in this object.
 */
static bool find_piece(const struct runtime *runtime, uint64_t address, uint64_t words,
                       struct arena_piece *ret)
{
    enum { PER_BYTE_OF_LAST = 64 * 8 }; /* words: a bit for each 64 */
    const bool is_pairs = !runtime_has(runtime, LAYOUT_HEAP_ARENA_NO_MORE_PTRS);
    const uint64_t arena = arena_of(runtime, address);
    const uint64_t per_byte = is_pairs ? 4 : 8;
    const uint64_t bitmap = arena + runtime_offset(runtime, LAYOUT_HEAP_ARENA_BITMAP);
    const uint64_t last = arena + runtime_offset(runtime, LAYOUT_HEAP_ARENA_NO_MORE_PTRS);
    ret->first = (address - runtime->arena_base) % RUNTIME_ARENA_SIZE / WORD;
    ret->words = MIN(words, RUNTIME_ARENA_SIZE / WORD - ret->first);
    const uint64_t end = ret->first + ret->words - 1;
    ret->bitmap = ret->last = NULL;
    if (arena == 0)
        return false;
    const uint64_t byte = ret->first / per_byte;
    ret->bitmap = memory_at(runtime->memory, bitmap + byte, end / per_byte - byte + 1);
    if (is_pairs)
        return ret->bitmap != NULL;
    const uint64_t byte_of_last = ret->first / PER_BYTE_OF_LAST;
    ret->last =
        memory_at(runtime->memory, last + byte_of_last, end / PER_BYTE_OF_LAST - byte_of_last + 1);
    return ret->bitmap && ret->last;
}

/* Returns whether word i of a piece is a pointer. Clears *more if no pointer follows; with two bits
 * per word (no piece->last: up to Go 1.19), also if the word itself is after the last pointer.
 * There a byte has in its low half whether each of four words is a pointer, in its high half
 * whether more follow. Otherwise there is a bit per word, and one per 64, which the last of these
 * words reads.
 */
static bool piece_word(const struct arena_piece *piece, uint64_t i, bool *more)
{
    const uint64_t word = piece->first + i;
    if (!piece->last) {
        const unsigned byte = piece->bitmap[word / 4 - piece->first / 4];
        *more = (byte >> (4 + word % 4) & 1) != 0;
        return *more && (byte >> (word % 4) & 1) != 0;
    }
    *more = word % 64 != 63 ||
            (piece->last[word / 512 - piece->first / 512] >> (word / 64 % 8) & 1) == 0;
    return (piece->bitmap[word / 8 - piece->first / 8] >> (word % 8) & 1) != 0;
}

/* Collects the bits of an object's first words, which may be in more than one arena. Returns false
 * if memory runs out. */
static bool take_arena(struct heap_bits *bits, uint64_t address, uint64_t words,
                       struct heap_mask *ret)
{
    struct arena_piece piece;
    uint64_t done = 0;
    bool more = true;
    bits->scratch.count = 0;
    while (done < words && more) {
        if (!find_piece(bits->runtime, address + done * WORD, words - done, &piece)) {
            take_all(bits, 0, ret);
            return true;
        }
        for (uint64_t i = 0; i < piece.words && more; i++, done++) {
            if (done % 8 == 0 && !vector_push(&bits->scratch, 0))
                return false;
            bits->scratch.data[done / 8] |=
                (uint8_t)((unsigned)piece_word(&piece, i, &more) << (done % 8));
        }
    }
    *ret = (struct heap_mask){bits->scratch.data, 0, done, 0, 0};
    return true;
}

/* ---- bitmaps of spans ---- */

/* Uses the bitmap at the end of a span of small objects, a bit per word, before the marks if it has
 * any. */
static void take_span(struct heap_bits *bits, const struct span *span, uint64_t address,
                      struct heap_mask *ret)
{
    const bool has_marks = bits->runtime->has_inline_marks && span->elemsize >= LEAST_INLINE;
    const uint64_t size = span->size / WORD / 8,
                   at = span->size - size - (has_marks ? INLINE_MARK_BITS : 0);
    const uint8_t *bitmap = span_bytes(span, bits->runtime->memory, at, size);
    if (bitmap)
        *ret =
            (struct heap_mask){bitmap, (address - span->start) / WORD, span->elemsize / WORD, 0, 0};
    else
        take_all(bits, 0, ret);
}

/* Uses the mask of a user arena's chunk, which is one slot and has the bits of all its words at its
 * end. */
static void take_user_arena(struct heap_bits *bits, const struct span *span, struct heap_mask *ret)
{
    const uint64_t size = span->size / WORD / 8;
    const uint8_t *bitmap = memory_at(bits->runtime->memory, span->start + span->size - size, size);
    if (bitmap)
        *ret = (struct heap_mask){bitmap, 0, span->elemsize / WORD, 0, 0};
    else
        take_all(bits, 0, ret);
}

/* Returns whether the objects of a span have their masks from types: they have pointers, the
 * release has no bitmaps of arenas, the slots are too large for bits in the span, and it is not a
 * user arena's, which has bitmaps. */
bool heap_bits_are_of_types(const struct runtime *runtime, const struct span *span)
{
    return !span->noscan && !runtime_has(runtime, LAYOUT_HEAP_ARENA_BITMAP) &&
           !span->is_user_arena && span->elemsize > MOST_IN_SPAN;
}

/* Returns the address of the type of an object whose mask is its type's, or 0 if it has none. */
uint64_t heap_bits_type(const struct runtime *runtime, const struct span *span, uint64_t address)
{
    if (span->is_large)
        return span->large_type;
    const uint8_t *type = span_bytes(span, runtime->memory, address - span->start, WORD);
    return type ? memory_number(type, WORD) : 0;
}

/* Finds the pointers of an object, of which `listed` bytes go to the dump. Where the bits are
 * depends on the release and on the size of the objects: in the arena, at the end of the span, or
 * in the type. Returns false if memory runs out. */
bool heap_bits_of(struct heap_bits *bits, const struct span *span, uint64_t address,
                  uint64_t listed, struct heap_mask *ret)
{
    *ret = (struct heap_mask){0};
    if (span->noscan)
        return true;
    if (runtime_has(bits->runtime, LAYOUT_HEAP_ARENA_BITMAP))
        return take_arena(bits, address, listed / WORD, ret);
    if (span->is_user_arena)
        take_user_arena(bits, span, ret);
    else if (!heap_bits_are_of_types(bits->runtime, span))
        take_span(bits, span, address, ret);
    else
        return take_type(bits, span, address, heap_bits_type(bits->runtime, span, address), ret);
    return true;
}

void heap_bits_deinit(struct heap_bits *bits)
{
    free(bits->scratch.data);
    bits->scratch.data = NULL;
}
