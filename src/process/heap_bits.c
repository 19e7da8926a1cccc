/* heap_bits; see heap_bits.h. */
#include "process/heap_bits.h"

#include <stdlib.h>

#include "base/map.h"

/* Slots of up to this many bytes have their bits in the span; larger slots of a size class begin
 * with their type. */
enum { MOST_IN_SPAN = 512 };

/* The bytes of inline marks at the end of a span, after its bitmap, and the smallest slots of spans
 * that have them. */
enum { INLINE_MARK_BITS = 128, LEAST_INLINE = 16 };

enum { WORD = 8 };

/* ---- unknown pointers ---- */

/* Counts an object whose mask is missing or invalid: all its words from an offset on may be
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

/* Uses the mask of the type at an address for an object. An object that is still being made has no
 * type, and so no pointers. Returns false if memory runs out. */
static bool take_type(struct heap_bits *bits, const struct span *span, uint64_t object,
                      uint64_t address, struct heap_mask *ret)
{
    const uint64_t offset = !span->is_large;
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

/* Returns the address of an address's heapArena, or 0 if there is none. */
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
    const bool is_pairs = !runtime_has(runtime, LAYOUT_HEAP_ARENA_NO_MORE_PTRS);
    const uint64_t arena = arena_of(runtime, address), per_byte = is_pairs ? 4 : 8,
                   bitmap = arena + runtime_offset(runtime, LAYOUT_HEAP_ARENA_BITMAP),
                   last = arena + runtime_offset(runtime, LAYOUT_HEAP_ARENA_NO_MORE_PTRS);
    ret->first = (address - runtime->arena_base) % RUNTIME_ARENA_SIZE / WORD;
    ret->words = words < RUNTIME_ARENA_SIZE / WORD - ret->first
                     ? words
                     : RUNTIME_ARENA_SIZE / WORD - ret->first;
    const uint64_t end = ret->first + ret->words - 1;
    ret->bitmap = arena == 0 ? NULL
                             : memory_at(runtime->memory, bitmap + ret->first / per_byte,
                                         end / per_byte - ret->first / per_byte + 1);
    ret->last = is_pairs || arena == 0 ? NULL
                                       : memory_at(runtime->memory, last + ret->first / 512,
                                                   end / 512 - ret->first / 512 + 1);
    return ret->bitmap && (is_pairs || ret->last);
}

/* Returns whether word i of a piece is a pointer. Clears *more if no pointer follows; with two bits
 * per word, also if the word itself is after the last pointer. */
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

bool heap_bits_are_of_types(const struct runtime *runtime, const struct span *span)
{
    return !span->noscan && !runtime_has(runtime, LAYOUT_HEAP_ARENA_BITMAP) &&
           !span->is_user_arena && span->elemsize > MOST_IN_SPAN;
}

uint64_t heap_bits_type(const struct runtime *runtime, const struct span *span, uint64_t address)
{
    if (span->is_large)
        return span->large_type;
    const uint8_t *type = span_bytes(span, runtime->memory, address - span->start, WORD);
    return type ? memory_number(type, WORD) : 0;
}

/* Where the bits are depends on the release and on the size of the objects: in the arena, at the
 * end of the span, or in the type. */
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
