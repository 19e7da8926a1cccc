/*
 * alike: a slot of a frame points to values of one type in all goroutines that are in the same
 * call.
 *
 * Among many goroutines in one place, some hold objects that are typed through another pointer as
 * well: the closure that a goroutine began with, a map. If there are LEAST of these, and they are
 * of one type, objects of the same size class that the slot points to in other goroutines get it,
 * too, as a guess: the slot may be the data word of an interface.
 */
#include <stdlib.h>

#include "base/contract.h"
#include "base/error.h"
#include "typing/claims.h"
#include "typing/fit.h"

enum { LEAST = 2, CONFLICT = UINT32_MAX };

/* A slot of a call: a program counter and an offset in the frame. */
struct alike_slot {
    uint32_t type;  /* of the typed objects; CONFLICT: they differ */
    uint32_t count; /* their number, */
    uint64_t size;  /* and the size of their slots */
};

struct alike {
    struct typer *typer;
    struct map by_key; /* hash of the program counter and offset → index in slots */
    VECTOR(struct alike_slot) slots;
};

static void alike_deinit(struct alike *alike)
{
    map_deinit(&alike->by_key);
    free(alike->slots.data);
}

/* Returns the object that a word of a frame points to, or UINT32_MAX. Pointers into the middle of a
 * value do not count: they show the type of a part only. */
static uint32_t value_pointed_to(const struct typing *typing, const struct heap_stack_frame *frame,
                                 uint64_t offset)
{
    const uint64_t value = heap_word(typing->heap, frame->contents.data + offset);
    const uint32_t object = heap_find(typing->heap, value);
    return object != UINT32_MAX && value == heap_address(typing->heap, object) +
                                                heap_object_base(typing->heap, object)
               ? object
               : UINT32_MAX;
}

/* Records under key, which identifies a slot, the type of an object that the slot points to. Skips
 * untyped and guessed objects. An array, another type or another size turns the slot into a
 * CONFLICT, from which nothing is guessed. Returns false if memory runs out. */
static bool alike_note(struct alike *alike, uint64_t key, uint32_t object)
{
    const struct typing *typing = alike->typer->typing;
    const uint32_t claim = typing->claims[object];
    const uint32_t added = as_u32(alike->slots.count);
    const uint64_t size = heap_slot_class(typing->heap, object)->size;
    uint32_t number;
    if ((claim & CLAIM_EXACT) == 0 || (claim & CLAIM_SOURCE) >> CLAIM_SOURCE_SHIFT == SOURCE_GUESS)
        return true;
    const uint32_t type = (claim & CLAIM_ARRAY) != 0 ? CONFLICT : (claim & CLAIM_TYPE) - 1;
    if (!map_put(&alike->by_key, key, added, &number))
        return false;
    if (number == added)
        return vector_push(&alike->slots, ((struct alike_slot){type, 1, size}));
    struct alike_slot *slot = &alike->slots.data[number];
    slot->count++;
    if (slot->type != type || slot->size != size)
        slot->type = CONFLICT;
    return true;
}

/* Proposes for an untyped object the type that the slot's other targets have, if enough of them
 * agree and the object has their size. */
static void alike_propose(const struct alike *alike, uint64_t key, uint32_t object)
{
    const struct typing *typing = alike->typer->typing;
    const uint32_t number = map_get(&alike->by_key, key);
    if (number == MAP_NONE || typing->claims[object] != 0 || typing_has_parts(typing, object))
        return;
    const struct alike_slot *slot = &alike->slots.data[number];
    if (slot->type == CONFLICT || slot->count < LEAST ||
        heap_slot_class(typing->heap, object)->size != slot->size)
        return;
    const struct reference reference = {
        .type = slot->type, .source = SOURCE_GUESS, .form = REFERENCE_VALUE};
    typer_propose(alike->typer, object, heap_object_base(typing->heap, object), &reference);
}

/* Visits the pointers in all frames that lead to the start of an object. A first pass records the
 * types of typed targets; a second pass (is_proposing) proposes them for untyped targets of the
 * same slots. Returns false if memory runs out. */
static bool visit_frame_words(struct alike *alike, bool is_proposing)
{
    const struct typing *typing = alike->typer->typing;
    const uint64_t size = typing->heap->params.pointer_size;
    for (size_t i = 0; i < typing->heap->frames.count && !alike->typer->no_memory; i++) {
        const struct heap_stack_frame frame = heap_frame(typing->heap, i);
        struct g2h_fields fields = frame.fields;
        uint64_t offset;
        while (fields_next_pointer(&fields, &offset)) {
            if (frame.contents.size < size || offset > frame.contents.size - size)
                continue;
            const uint64_t key = map_hash_pair(frame.pc, offset);
            const uint32_t object = value_pointed_to(typing, &frame, offset);
            if (object == UINT32_MAX)
                continue;
            if (is_proposing)
                alike_propose(alike, key, object);
            else if (!alike_note(alike, key, object))
                return false;
        }
    }
    return true;
}

void typing_seed_alike(struct typer *typer)
{
    _cleanup_(alike_deinit) struct alike alike = {.typer = typer};
    if (!visit_frame_words(&alike, false)) {
        typer->no_memory = true;
        return;
    }
    if (alike.slots.count > 0)
        visit_frame_words(&alike, true);
    typer_flush(typer);
}
