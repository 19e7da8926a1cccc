/*
 * spilled: types of objects that only a word of a frame leads to of which nothing but the
 * function's code says what it is (exe/spills.h).
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "exe/spills.h"
#include "heap/pointers.h"
#include "typing/fit.h"
#include "typing/typer.h"

/* What is known of a word of a function's frame during a call. */
struct spilled_word {
    uint32_t type;   /* of the value that it points to; TYPE_NONE: not known */
    bool is_certain; /* else the value may begin a larger one */
};

struct spiller {
    struct typer *typer;
    struct spills spills;
    uint64_t text;      /* address of the first function in the process */
    struct map by_name; /* string → type */
    struct map words;   /* hash of program counter and offset → index in known */
    VECTOR(struct spilled_word) known;
};

/* ---- types ---- */

/* Returns the type of the values that values of a pointer type, or the data words of interfaces
 * that hold a type, point to, or TYPE_NONE. */
static uint32_t pointed_at(const struct typing *typing, uint32_t number)
{
    if (number == TYPE_NONE || !type_of(typing, number)->direct_interface)
        return number;
    const struct type *type = type_of(typing, number);
    return type->kind == TYPE_POINTER && type->target == TARGET_ONE &&
                   type->elem < typing->types->list.count
               ? type->elem
               : TYPE_NONE;
}

/* Returns the type T of the method "net/http.(*T).Close", or TYPE_NONE. */
static uint32_t receiver_of(const struct spiller *spiller, struct g2h_bytes method)
{
    char name[512];
    uint32_t number;
    const uint8_t *star = memmem(method.data, (size_t)method.size, ".(*", 3);
    const uint8_t *close =
        star ? memchr(star, ')', (size_t)(method.data + method.size - star)) : NULL;
    if (!close || (size_t)(close - method.data) > sizeof(name))
        return TYPE_NONE;
    const size_t package = (size_t)(star - method.data) + 1, rest = (size_t)(close - star) - 3;
    memcpy(name, method.data, package);
    memcpy(name + package, star + 3, rest);
    return string_pool_find(&spiller->typer->typing->types->names, name, package + rest, &number)
               ? map_get(&spiller->by_name, number)
               : TYPE_NONE;
}

static uint32_t type_of_fact(const struct spiller *spiller, const struct spill_fact *fact)
{
    const struct typing *typing = spiller->typer->typing;
    const uint64_t address = fact->what + exe_slide(typing->exe);
    uint32_t number;
    switch (fact->kind) {
    case SPILL_RECEIVER:
        return receiver_of(spiller, pclntab_name(spiller->spills.pclntab, fact->what));
    case SPILL_NEW:
        return types_at(typing->types, address);
    case SPILL_INTERFACE:
        number = typing_interface_type(typing, address, false);
        return pointed_at(
            typing, number != TYPE_NONE ? number : typing_interface_type(typing, address, true));
    }
    return TYPE_NONE;
}

/* Finds the type on which the facts of one kind agree: all of them are certain, or all are
 * receivers. Of receivers, one may be what a larger one begins with. Returns false if they do not
 * agree. */
static bool agree(const struct spiller *spiller, bool is_certain, uint32_t *ret)
{
    const struct types *types = spiller->typer->typing->types;
    *ret = TYPE_NONE;
    for (size_t i = 0; i < spiller->spills.facts.count; i++) {
        const struct spill_fact *fact = &spiller->spills.facts.data[i];
        if ((fact->kind != SPILL_RECEIVER) != is_certain)
            continue;
        const uint32_t type = type_of_fact(spiller, fact);
        if (type == TYPE_NONE)
            return false;
        if (*ret == TYPE_NONE || (!is_certain && type_holds(types, type, 0, *ret)))
            *ret = type;
        else if (*ret != type && (is_certain || !type_holds(types, *ret, 0, type)))
            return false;
    }
    return true;
}

static struct spilled_word judge(const struct spiller *spiller)
{
    const struct typing *typing = spiller->typer->typing;
    struct spilled_word word = {.is_certain = true};
    if (!agree(spiller, true, &word.type))
        return (struct spilled_word){.type = TYPE_NONE};
    if (word.type != TYPE_NONE)
        return word;
    if (!agree(spiller, false, &word.type) || word.type == TYPE_NONE ||
        type_of(typing, word.type)->size < spiller->spills.reach)
        word.type = TYPE_NONE;
    word.is_certain = false;
    return word;
}

/* ---- words ---- */

static uint64_t key_of(uint64_t pc, uint64_t offset)
{
    return map_hash_pair(pc, offset);
}

/* Remembers the pool that the word which was asked for last will be put into. */
static bool add_pool(struct spiller *spiller, uint64_t pc, uint64_t offset)
{
    struct typing *typing = spiller->typer->typing;
    const uint64_t pool = spiller->spills.pool;
    uint32_t first;
    return pool == 0 || (map_put(&typing->pool_of_word, key_of(pc, offset),
                                 (uint32_t)typing->pools.count, &first) &&
                         vector_push(&typing->pools, pool + exe_slide(typing->exe)));
}

uint64_t typing_pool(const struct typing *typing, const struct frame *frame, uint64_t offset)
{
    const uint32_t number = map_get(&typing->pool_of_word, key_of(frame->pc, offset));
    return number == MAP_NONE ? 0 : typing->pools.data[number];
}

/* Returns what is known of a word, or NULL if memory runs out. The code is read once for each
 * program counter and offset. */
static const struct spilled_word *word_at(struct spiller *spiller, uint64_t pc, uint64_t offset)
{
    const uint32_t added = (uint32_t)spiller->known.count;
    uint32_t number;
    if (!map_put(&spiller->words, key_of(pc, offset), added, &number))
        return NULL;
    if (number == added) {
        if (spills_find(&spiller->spills, pc - spiller->text, offset) ||
            !vector_push(&spiller->known, judge(spiller)) || !add_pool(spiller, pc, offset))
            return NULL;
    }
    return &spiller->known.data[number];
}

static void seed_word(struct spiller *spiller, const struct frame *frame, uint64_t offset)
{
    struct typer *typer = spiller->typer;
    struct typing *typing = typer->typing;
    const uint64_t value = heap_word(typing->heap, frame->contents.data + offset);
    const uint32_t object = heap_find(typing->heap, value);
    if (object == UINT32_MAX || typing->claims[object] != 0 || typing_has_regions(typing, object) ||
        value != heap_address(typing->heap, object) + object_base(typing->heap, object))
        return;
    const struct spilled_word *word = word_at(spiller, frame->pc, offset);
    if (!word)
        typer->no_memory = true;
    else if (word->type != TYPE_NONE &&
             (word->is_certain ||
              fits_class(object_base(typing->heap, object) + type_of(typing, word->type)->size,
                         heap_slot_class(typing->heap, object)->size)))
        typer_refer(typer, REFERENCE_VALUE, value, 0, word->type, object, SOURCE_SWEEP);
}

static void seed_frame(struct spiller *spiller, const struct frame *frame)
{
    const uint64_t size = spiller->typer->typing->heap->params.pointer_size;
    struct g2h_fields fields = frame->fields;
    uint64_t offset;
    while (fields_next_pointer(&fields, &offset))
        if (frame->contents.size >= size && offset <= frame->contents.size - size)
            seed_word(spiller, frame, offset);
}

static bool map_names(struct spiller *spiller)
{
    const struct types *types = spiller->typer->typing->types;
    for (uint32_t i = 0; i < types->list.count; i++) {
        uint32_t first;
        if (types->list.data[i].size > 0 &&
            !map_put(&spiller->by_name, types->list.data[i].name, i, &first))
            return false;
    }
    return true;
}

void typing_seed_spilled(struct typer *typer)
{
    const struct typing *typing = typer->typing;
    const struct g2h_exe *exe = typing->exe;
    struct g2h_bytes name;
    if (exe_function_count(exe) == 0)
        return;
    struct spiller spiller = {.typer = typer, .text = exe_function(exe, 0, &name)};
    spills_init(&spiller.spills, exe_pclntab(exe), exe_module(exe));
    typer->no_memory = !map_names(&spiller);
    for (size_t i = 0; i < typing->heap->frames.count && !typer->no_memory; i++) {
        const struct frame frame = heap_frame(typing->heap, i);
        seed_frame(&spiller, &frame);
    }
    typer_flush(typer);
    spills_deinit(&spiller.spills);
    map_deinit(&spiller.by_name);
    map_deinit(&spiller.words);
    free(spiller.known.data);
}
