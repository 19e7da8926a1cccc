/*
 * spilled: types of objects that only a frame leads to and only the function's code describes:
 * through a word that the compiler has moved to a spill slot of its own, or the header of a map,
 * both of which DWARF does not describe; or through any variable of a stripped program.
 *
 * A spill slot is memory of a frame to which the compiler moves a register. typing_seed_spilled()
 * first reads the code of each function that has a frame (read_functions), and notes for each
 * program counter what is known of the frame's words during that call; then it types what these
 * words lead to. A value is what flow.h knows of one: where it comes from and how code uses it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "base/error.h"
#include "heap/pointers.h"
#include "typing/coded.h"
#include "typing/exe_match.h"
#include "typing/fit.h"

/* What is known about a word of a function's frame during a call, or an argument of the call. */
struct spilled_word {
    struct word_type type;
    uint32_t argument; /* if the type is not known: which of the function's own arguments it is,
                          counted from 1; 0: none */
    uint64_t reach;    /* the code uses the memory that it points to up to this offset, in bytes */
    bool is_home;      /* known only if the word belongs to the caller's frame: there an argument
                          has memory that nothing else gets, but other code may write to it */
};

/* The types of the arguments that a function was called with, as far as code tells them. */
struct called_with {
    struct word_type types[sizeof(((struct machine *)NULL)->arguments)];
};

struct spiller {
    struct typer *typer;
    struct coded *coded;
    uint64_t text;    /* address of the first function in the process */
    struct map words; /* hash of program counter and offset → index in known */
    VECTOR(struct spilled_word) known;
    struct map calls; /* program counter → index in passed of the first argument */
    VECTOR(struct spilled_word) passed;
    VECTOR(uint32_t) slot_types; /* while a function is being processed: by slot */
    VECTOR(struct word_type)
    passed_types; /* while a function is being processed: by value, what
                     the functions that it is passed to say */
    struct match_pcs pcs;
};

/* ---- functions ---- */

/* How far the code of a function counts as evidence. The code of package reflect may name the types
 * that it works on, not those of its values; so may the code of the runtime, except for new
 * values. */
enum belief { NOTHING, NEW_VALUES, ALL };

/* Returns how far the code of the function with this name counts. */
static enum belief belief_in(struct g2h_bytes name)
{
    if (bytes_begin(name, "runtime."))
        return NEW_VALUES;
    return bytes_begin(name, "reflect.") || bytes_begin(name, "internal/") ? NOTHING : ALL;
}

/* Returns whether a fact about a value counts: in a function that is not believed in all, only that
 * a call made the value by its type, as runtime.newobject does. */
static bool counts_as_evidence(const struct flow *flow, const struct flow_value *value,
                               uint32_t fact, enum belief belief)
{
    return belief == ALL || (value->origin == FLOW_RESULT && fact != UINT32_MAX &&
                             (flow->facts.data[fact].kind == FLOW_POINTS_TO ||
                              flow->facts.data[fact].kind == FLOW_POINTS_TO_MANY));
}

/* Finds the types of the values in the frame of the function read last whose addresses it passes
 * on, by what the functions that it calls use their arguments as: a map's header on the stack may
 * be used by these only. A value is unknown if they contradict each other. There are none unless
 * all evidence in the function is believed (belief). Returns false if memory runs out. */
static bool find_passed_types(struct spiller *spiller, enum belief belief)
{
    const struct flow *flow = &spiller->coded->flow;
    const struct typing *typing = spiller->typer->typing;
    const struct static_words *words = typing->static_words;
    spiller->passed_types.count = 0;
    if (belief != ALL)
        return true;
    for (size_t i = 0; i < flow->values.count; i++)
        if (!vector_push(&spiller->passed_types, ((struct word_type){.is = WORD_IS_UNKNOWN})))
            return false;
    VECTOR_EACH(const struct flow_pass, pass, flow->passes) {
        struct word_type *known = &spiller->passed_types.data[pass->value];
        struct word_type type = *known;
        bool agrees = true;
        for (size_t j = static_words_of_argument(words, pass->callee, pass->argument);
             j < words->arguments.count && words->arguments.data[j].function == pass->callee &&
             words->arguments.data[j].argument == pass->argument;
             j++)
            agrees = agrees &&
                     coded_agree(typing, &type,
                                 coded_type(spiller->coded, &words->arguments.data[j].evidence));
        *known = agrees ? type : (struct word_type){.is = WORD_IS_UNKNOWN};
    }
    return true;
}

/* Combines all evidence of the code about a value; if there is none, that of the functions that it
 * is passed to. The word is unknown if pieces contradict each other, or if the code uses more
 * memory than the receiver's type has. If it is unknown and is an argument of the function,
 * word.argument is that argument's number from 1, for the caller's frame to tell. */
static struct spilled_word spilled_word_of(const struct spiller *spiller, uint32_t number,
                                           enum belief belief)
{
    const struct flow *flow = &spiller->coded->flow;
    const struct flow_value *value = &flow->values.data[number];
    struct spilled_word word = {.reach = value->reach};
    struct code_evidence evidence;
    uint32_t fact = value->first_fact;
    do {
        if (counts_as_evidence(flow, value, fact, belief) &&
            flow_evidence(flow, number, fact, &evidence) &&
            !coded_agree(spiller->typer->typing, &word.type, coded_type(spiller->coded, &evidence)))
            return (struct spilled_word){.reach = 0};
        fact = fact != UINT32_MAX ? flow->facts.data[fact].next : fact;
    } while (fact != UINT32_MAX);
    if (word.type.is == WORD_IS_UNKNOWN && number < spiller->passed_types.count)
        word.type = spiller->passed_types.data[flow_before(flow, number)];
    if (word.type.is_receiver &&
        typer_type_of(spiller->typer->typing, word.type.type)->size < word.reach)
        word.type.is = WORD_IS_UNKNOWN;
    if (word.type.is == WORD_IS_UNKNOWN && value->origin == FLOW_ARGUMENT)
        word.argument = (uint32_t)value->number + 1;
    return word;
}

/* Returns the key in spiller->words of a word at an offset in a frame, while the function is at
 * pc. */
static uint64_t key_of(uint64_t pc, uint64_t offset)
{
    return map_hash_pair(pc, offset);
}

/* Records the pool that a word will be put into. Returns false if memory runs out. */
static bool add_pool(struct spiller *spiller, uint64_t key, uint64_t pool)
{
    struct typing *typing = spiller->typer->typing;
    uint32_t first;
    return pool == 0 || (map_put(&typing->pool_of_word, key, as_u32(typing->pools.count), &first) &&
                         vector_push(&typing->pools, pool + exe_slide(typing->exe)));
}

/* Returns what is known of a slot of a frame during a call: of value, which it has then; or, if it
 * is the home of an argument whose address is taken, of that argument (flow->homes). */
static struct spilled_word spilled_slot(const struct spiller *spiller, uint32_t slot,
                                        uint32_t value, enum belief belief)
{
    const uint32_t home = spiller->coded->flow.homes.data[slot];
    struct spilled_word word = spilled_word_of(spiller, home != 0 ? home : value, belief);
    word.is_home = home != 0;
    return word;
}

/* Adds what is known of a frame while it waits for the call that returns to pc. slots has the value
 * of each word of the frame and then those of the call's arguments; without it (NULL) nothing is
 * known of the frame. For each word with a known type, or that holds an argument of the function,
 * spiller->words gets an entry; for each word that a sync.Pool gave, the pool is kept. Returns
 * false if memory runs out. */
static bool spilled_add_words(struct spiller *spiller, uint64_t pc, const uint32_t *slots,
                              enum belief belief)
{
    const struct flow *flow = &spiller->coded->flow;
    const uint64_t size = spiller->typer->typing->heap->params.pointer_size;
    uint32_t first;
    for (uint32_t i = 0; slots && i < flow->slot_count; i++) {
        const struct spilled_word word = spilled_slot(spiller, i, slots[i], belief);
        const uint64_t key = key_of(pc, i * size);
        if (!add_pool(spiller, key, flow->values.data[slots[i]].pool))
            return false;
        if ((word.type.is != WORD_IS_UNKNOWN || word.argument != 0) &&
            (!map_put(&spiller->words, key, as_u32(spiller->known.count), &first) ||
             !vector_push(&spiller->known, word)))
            return false;
    }
    if (slots && !map_put(&spiller->calls, pc, as_u32(spiller->passed.count), &first))
        return false;
    for (uint32_t i = 0; slots && i < flow->machine->argument_count; i++)
        if (!vector_push(&spiller->passed,
                         spilled_word_of(spiller, slots[flow->slot_count + i], belief)))
            return false;
    return true;
}

/* Returns the type of a value in the frame whose address the code passes on, or TYPE_NONE. */
static uint32_t type_of_local_value(const struct spiller *spiller, uint32_t value,
                                    enum belief belief)
{
    const struct types *types = spiller->typer->typing->types;
    const struct word_type word = spilled_word_of(spiller, value, belief).type;
    if (word.is == WORD_POINTS_TO)
        return word.type;
    return word.is == WORD_IS_VALUE ? types_get(types, word.type)->header : TYPE_NONE;
}

/* Adds the known values in the frames of the function that was read last. Slots that have one value
 * and later another are left out. Returns false if memory runs out. */
static bool add_frame_values(struct spiller *spiller, enum belief belief)
{
    enum { SEVERAL = TYPE_NONE - 1 };
    const struct flow *flow = &spiller->coded->flow;
    struct typing *typing = spiller->typer->typing;
    spiller->slot_types.count = 0;
    if (!vector_grow(&spiller->slot_types, flow->slot_count + 1))
        return false;
    uint32_t *types = spiller->slot_types.data;
    if (flow->slot_count > 0)
        memset(types, 0xff, flow->slot_count * sizeof(*types));
    for (uint32_t i = 0; i < flow->values.count; i++) {
        const struct flow_value *value = &flow->values.data[i];
        if (value->origin != FLOW_SLOT || value->number >= flow->slot_count)
            continue;
        uint32_t *known = &types[value->number];
        const uint32_t type = type_of_local_value(spiller, i, belief);
        if (type != TYPE_NONE)
            *known = *known == TYPE_NONE || *known == type ? type : SEVERAL;
    }
    for (uint32_t i = 0; i < flow->slot_count; i++)
        if (types[i] < SEVERAL &&
            !vector_push(&typing->frame_values, ((struct frame_value){i, types[i]})))
            return false;
    return vector_push(&typing->frame_values, ((struct frame_value){0, TYPE_NONE}));
}

static int compare_pcs(const void *a, const void *b)
{
    const uint64_t one = *(const uint64_t *)a;
    const uint64_t other = *(const uint64_t *)b;
    return COMPARE(one, other);
}

/* Reads each function that has a frame once: the program counters are sorted. pc is within the
 * call; pc + 1 is the frame's return address, the key of what is found. */
static struct g2h_error *read_functions(struct spiller *spiller)
{
    const struct pclntab *pclntab = spiller->coded->flow.pclntab;
    struct typing *typing = spiller->typer->typing;
    uint64_t last = UINT64_MAX, index;
    uint32_t first = 0;
    for (size_t i = 0; i < spiller->pcs.list.count; i++) {
        const uint64_t pc = spiller->pcs.list.data[i];
        const uint64_t offset = pc - spiller->text;
        if (!pclntab_find(pclntab, offset, &index))
            continue;
        const enum belief belief = belief_in(pclntab_name(pclntab, index));
        if (belief == NOTHING)
            continue;
        uint32_t put;
        if (index != last) {
            TRY(flow_read(&spiller->coded->flow, index, true));
            first = as_u32(typing->frame_values.count);
            TRY_MEMORY(find_passed_types(spiller, belief));
            TRY_MEMORY(add_frame_values(spiller, belief));
        }
        last = index;
        TRY_MEMORY(map_put(&typing->frame_values_at, pc + 1, first, &put));
        const uint64_t behind = offset + 1 - pclntab_entry(pclntab, index);
        TRY_MEMORY(spilled_add_words(spiller, pc + 1, flow_frame_at(&spiller->coded->flow, behind),
                                     belief));
    }
    return NULL;
}

/* ---- words ---- */

/* Returns the address of the sync.Pool that a frame's function will put the word at an offset of
 * the frame into, or 0 if there is none or it is not known. */
uint64_t typing_pool(const struct typing *typing, const struct heap_stack_frame *frame,
                     uint64_t offset)
{
    const uint32_t number = map_get(&typing->pool_of_word, key_of(frame->pc, offset));
    return number == MAP_NONE ? 0 : typing->pools.data[number];
}

/* Returns the value of a frame that contains an offset, or NULL. The values of a frame, found by
 * the pc of its call, ascend by slot, and the first one without type ends them: the last that
 * begins at or before the offset contains it, if it is large enough. */
const struct frame_value *typing_frame_value(const struct typing *typing,
                                             const struct heap_stack_frame *frame, uint64_t offset)
{
    const uint64_t word = typing->heap->params.pointer_size;
    const uint32_t first = map_get(&typing->frame_values_at, frame->pc);
    const struct frame_value *found = NULL;
    if (first == MAP_NONE)
        return NULL;
    for (const struct frame_value *value = &typing->frame_values.data[first];
         value->type != TYPE_NONE && value->slot * word <= offset; value++)
        found = value;
    return found && found->type < typing->types->list.count &&
                   offset - found->slot * word < types_size(typing->types, found->type)
               ? found
               : NULL;
}

/* Returns the type of the value that contains a word of a frame. First by the values whose address
 * the code passes on, then by pointers to the stack that were followed (not those of arrays).
 * TYPE_NONE if neither knows one, or the value is not within the frame's contents. */
uint32_t typing_value_in_frame(const struct typing *typing, const struct heap_stack_frame *frame,
                               uint64_t offset, uint64_t *ret_start)
{
    const struct frame_value *passed = typing_frame_value(typing, frame, offset);
    uint64_t within = 0;
    const struct outside_value *pointed =
        passed ? NULL
               : outside_value_at(&typing->outside, typing->heap, frame->sp + offset, &within);
    if (passed)
        within = offset - passed->slot * typing->heap->params.pointer_size;
    else if (!pointed || pointed->is_array)
        return TYPE_NONE;
    const uint32_t type = passed ? passed->type : pointed->type;
    const uint64_t size = types_size(typing->types, type);
    *ret_start = offset - within;
    return within <= offset && frame->contents.size >= size &&
                   offset - within <= frame->contents.size - size
               ? type
               : TYPE_NONE;
}

/* Returns the type of a word of a function that was called with some arguments. */
static struct word_type type_of_word(const struct spilled_word *word,
                                     const struct called_with *with)
{
    return word->argument != 0 ? with->types[word->argument - 1] : word->type;
}

/* Returns what a frame, whose function was called with some arguments, calls the next one with. */
static struct called_with spilled_calls_with(const struct spiller *spiller,
                                             const struct heap_stack_frame *frame,
                                             const struct called_with *with)
{
    struct called_with ret = {.types = {{.is = WORD_IS_UNKNOWN}}};
    const uint32_t first = map_get(&spiller->calls, frame->pc);
    for (unsigned i = 0; first != MAP_NONE && i < spiller->coded->flow.machine->argument_count; i++)
        ret.types[i] = type_of_word(&spiller->passed.data[first + i], with);
    return ret;
}

/* Types the target of a word of a frame, if it is untyped, and its type follows from the code of
 * the function that the key is of, or of that function's callers. is_callers: the key is that of
 * the frame's callee, whose spilled arguments (is_home) are in this frame; without it these do not
 * count. A receiver counts only if its type fills the object, which may otherwise be a larger
 * value. */
static void spilled_seed_word(struct spiller *spiller, const struct heap_stack_frame *frame,
                              uint64_t offset, uint64_t key, const struct called_with *with,
                              bool is_callers)
{
    struct typer *typer = spiller->typer;
    struct typing *typing = typer->typing;
    const uint64_t value = heap_word(typing->heap, frame->contents.data + offset);
    const uint32_t object = heap_find(typing->heap, value);
    if (object == UINT32_MAX || typing->claims[object] != 0 || typing_has_parts(typing, object) ||
        value != heap_address(typing->heap, object) + heap_object_base(typing->heap, object))
        return;
    const uint32_t number = map_get(&spiller->words, key);
    if (number == MAP_NONE || (spiller->known.data[number].is_home && !is_callers))
        return;
    const struct word_type type = type_of_word(&spiller->known.data[number], with);
    const struct extent extent = {frame->contents.data,
                                  frame->contents.data + frame->contents.size};
    if (!type.is_receiver ||
        fits_class(typing,
                   heap_object_base(typing->heap, object) + typer_type_of(typing, type.type)->size,
                   heap_slot_class(typing->heap, object)->size))
        coded_refer(typer, type, frame->contents.data + offset, &extent);
}

/* Follows the pointers of the values in a frame. Those that the compiler calls stack objects have
 * no words in the dump's lists. */
static void seed_values(struct spiller *spiller, const struct heap_stack_frame *frame)
{
    struct typer *typer = spiller->typer;
    const struct typing *typing = typer->typing;
    const uint64_t word = typing->heap->params.pointer_size;
    const struct extent extent = {frame->contents.data,
                                  frame->contents.data + frame->contents.size};
    const uint32_t first = map_get(&typing->frame_values_at, frame->pc);
    uint64_t next = 0; /* where the previous value ends: each word belongs to one */
    if (first == MAP_NONE)
        return;
    for (const struct frame_value *value = &typing->frame_values.data[first];
         value->type != TYPE_NONE; value++) {
        const struct pointer_map *map = pointer_map_of(&typing->pointer_maps, value->type);
        if (!map) {
            typer->no_memory = true;
            return;
        }
        if (map->size > frame->contents.size || value->slot * word < next ||
            value->slot * word > frame->contents.size - map->size)
            continue;
        next = value->slot * word + map->size;
        for (uint32_t i = 0; i < map->field_count; i++)
            typer_follow(typer, extent.begin + value->slot * word + map->fields[i].offset, &extent,
                         &map->fields[i], NO_TARGET, SOURCE_SWEEP);
    }
}

/* Types the targets of a frame's words. The callee, if there is one, has its arguments in the
 * frame, and space to spill those that it got in registers: the code of both may determine such a
 * word. */
static void spilled_seed_frame(struct spiller *spiller, const struct heap_stack_frame *frame,
                               const struct called_with *with,
                               const struct heap_stack_frame *callee,
                               const struct called_with *callee_with)
{
    const uint64_t size = spiller->typer->typing->heap->params.pointer_size;
    struct g2h_fields fields = frame->fields;
    uint64_t offset;
    while (fields_next_pointer(&fields, &offset))
        if (frame->contents.size >= size && offset <= frame->contents.size - size) {
            spilled_seed_word(spiller, frame, offset, key_of(frame->pc, offset), with, false);
            if (callee)
                spilled_seed_word(spiller, frame, offset,
                                  key_of(callee->pc, callee->contents.size + offset), callee_with,
                                  true);
        }
}

static void spiller_deinit(struct spiller *spiller)
{
    map_deinit(&spiller->words);
    free(spiller->slot_types.data);
    free(spiller->passed_types.data);
    free(spiller->known.data);
    map_deinit(&spiller->calls);
    free(spiller->passed.data);
    free(spiller->pcs.list.data);
}

/* Reads the functions that have frames, then types what the words of the frames lead to.
 * Consecutive frames belong to one stack if one ends where the other begins; callers come last, and
 * are processed first. */
struct g2h_error *typing_seed_spilled(struct typer *typer, struct coded *coded)
{
    const struct typing *typing = typer->typing;
    struct g2h_bytes name;
    _cleanup_(spiller_deinit) struct spiller spiller = {.typer = typer, .coded = coded};
    if (!flow_can_read(&coded->flow) || exe_function_count(typing->exe) == 0)
        return NULL;
    spiller.text = exe_function(typing->exe, 0, &name);
    TRY(match_find_pcs(typing->heap, &spiller.pcs));
    vector_sort(&spiller.pcs.list, compare_pcs);
    TRY(read_functions(&spiller));
    struct called_with with = {0};
    for (size_t i = typing->heap->frames.count; i-- > 0 && !typer->no_memory;) {
        const struct heap_stack_frame frame = heap_frame(typing->heap, i),
                                      below = i > 0 ? heap_frame(typing->heap, i - 1)
                                                    : (struct heap_stack_frame){0};
        const bool has_callee = i > 0 && below.sp + below.contents.size == frame.sp;
        const struct called_with callee_with =
            has_callee ? spilled_calls_with(&spiller, &frame, &with) : (struct called_with){0};
        seed_values(&spiller, &frame);
        spilled_seed_frame(&spiller, &frame, &with, has_callee ? &below : NULL, &callee_with);
        with = callee_with;
    }
    typer_flush(typer);
    return NULL;
}
