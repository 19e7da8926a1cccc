/*
 * flow: follows the words that a function's code moves, and collects what calls say of their types;
 * see flow.h, which has the idea. flow_go_through() interprets the instructions once, from the
 * first to the last: the state says which value each register and slot of the frame holds. Where
 * paths join, states are merged (flow_meet); at the head of a loop, words that the loop writes are
 * new values. A fact is a piece of evidence about a value, as "it is passed to runtime.makemap with
 * this type". A product is a multiple of another value, such as an index times the size of an
 * element.
 */
#include "exe/go/flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "base/elf_format.h"
#include "base/error.h"
#include "base/memory.h"
#include "exe/go/code.h"

/*
 * Bounds, which the compiler's functions do not reach: the bytes of a function that is read; words
 * of its frame that are followed; words of states that are copied per byte of code, so that fewer
 * slots are followed in a function of nothing but jumps; the words of all frames per byte of code;
 * values per instruction, and how many more; facts about a value; bytes of an element of an array;
 * how often each byte of code may be read.
 */
enum {
    LARGEST = 1 << 20,
    MOST_SLOTS = 1 << 13,
    STATE_WORDS = 16,
    FRAME_WORDS = 64,
    VALUES = 12,
    VALUES_MORE = 1 << 12,
    MOST_FACTS = 8,
    LARGEST_ELEMENT = 1 << 12,
    MOST_READS = 3
};

enum { WORD = 8 };

enum { NONE = UINT32_MAX };

enum { UNKNOWN = 0, PRODUCT = 1 }; /* values that each function has */

/* Prepares to read functions. Code cannot be read without the function table and the start of the
 * code: then flow->text stays 0. The work is limited by the size of the code, since damaged files
 * might repeat it. */
void flow_init(struct flow *flow, const struct pclntab *pclntab,
               const struct moduledata *moduledata, const uint8_t *rules)
{
    *flow = (struct flow){.pclntab = pclntab,
                          .machine = machine_of(pclntab->image->machine),
                          .rules = rules,
                          .gofunc = moduledata->gofunc,
                          .static_low = moduledata->data,
                          .static_high = moduledata->ebss};
    if (!flow->machine || pclntab->record_size == 0 || moduledata->minpc == 0)
        return;
    const uint64_t size = pclntab_entry(pclntab, pclntab->count);
    const uint64_t file = pclntab->image->file.size;
    flow->left = MOST_READS * MIN(size, file);
    flow->text_size = size;
    flow->text = moduledata->minpc;
}

void flow_deinit(struct flow *flow)
{
    free(flow->values.data);
    free(flow->facts.data);
    free(flow->uses.data);
    free(flow->passes.data);
    free(flow->returned.data);
    free(flow->frames.data);
    free(flow->slots.data);
    free(flow->code.data);
    free(flow->offsets.data);
    free(flow->index_at.data);
    free(flow->entries.data);
    free(flow->heads.data);
    free(flow->kills.data);
    free(flow->killed.data);
    free(flow->loops.data);
    free(flow->loop_states.data);
    free(flow->blocks.data);
    free(flow->free_blocks.data);
    free(flow->state.data);
    free(flow->next_write.data);
    free(flow->is_taken.data);
    free(flow->homes.data);
    free(flow->is_late.data);
}

/* Clears the results. */
static void flow_clear(struct flow *flow)
{
    flow->values.count = flow->facts.count = flow->uses.count = flow->passes.count = 0;
    flow->returned.count = 0;
    flow->frames.count = flow->slots.count = 0;
}

/* ---- values and facts ---- */

/* Returns a value by its number. */
static struct flow_value *flow_value_at(const struct flow *flow, uint32_t value)
{
    return &flow->values.data[value];
}

/* Adds a value and gets its number. Returns false if memory runs out. */
static bool flow_add_value(struct flow *flow, enum flow_origin origin, uint32_t base,
                           uint64_t number, uint32_t *ret)
{
    const struct flow_value value = {
        .origin = (uint8_t)origin, .base = base, .number = number, .first_fact = NONE};
    *ret = as_u32(flow->values.count);
    flow->is_too_large = flow->values.count >= flow->most_values;
    return !flow->is_too_large && vector_push(&flow->values, value);
}

/* Returns whether two facts say the same. */
static bool is_same_fact(const struct flow_fact *one, const struct flow_fact *other)
{
    return one->kind == other->kind && one->what == other->what &&
           one->dictionary == other->dictionary;
}

/* Adds a fact about a value. Adds nothing, and returns true, if the value has that fact or
 * MOST_FACTS already, is not known, or is a zero or the multiple of a number. Returns false if
 * memory runs out. */
static bool add_fact_of(struct flow *flow, uint32_t value, struct flow_fact fact)
{
    struct flow_value *about = flow_value_at(flow, value);
    unsigned count = 0;
    if (value == UNKNOWN || about->origin == FLOW_PRODUCT || about->origin == FLOW_ZERO)
        return true;
    for (uint32_t i = about->first_fact; i != NONE; i = flow->facts.data[i].next) {
        if (is_same_fact(&flow->facts.data[i], &fact) || ++count == MOST_FACTS)
            return true;
    }
    fact.next = about->first_fact;
    about->first_fact = as_u32(flow->facts.count);
    return vector_push(&flow->facts, fact);
}

/* Adds a fact that no dictionary belongs to. Returns false if memory runs out. */
static bool add_fact(struct flow *flow, uint32_t value, enum flow_fact_kind kind, uint64_t what)
{
    return add_fact_of(flow, value, (struct flow_fact){.kind = (uint8_t)kind, .what = what});
}

/* Returns whether two values are the same because they come from the same memory: both were loaded
 * from there, or are its address. Other values have only themselves. */
static bool have_one_origin(const struct flow *flow, uint32_t a, uint32_t b)
{
    const struct flow_value *one = flow_value_at(flow, a);
    const struct flow_value *other = flow_value_at(flow, b);
    return one->origin == other->origin && one->base == other->base &&
           one->number == other->number && one->other == other->other &&
           (one->origin == FLOW_ADDRESS || one->origin == FLOW_ELEMENT_ADDRESS ||
            one->origin == FLOW_WORD || one->origin == FLOW_SLOT || one->origin == FLOW_FIELD ||
            one->origin == FLOW_OFFSET);
}

/* Returns whether a value is a multiple of another one. */
static bool is_product(const struct flow *flow, uint32_t value)
{
    return flow_value_at(flow, value)->origin == FLOW_PRODUCT;
}

/* Gets a product with the factor of another one, of a value that is not known. Returns false if
 * memory runs out or the values are too many. */
static bool product_of_any(struct flow *flow, uint32_t product, uint32_t *ret)
{
    *ret = product;
    return flow_value_at(flow, product)->base == 0 ||
           flow_add_value(flow, FLOW_PRODUCT, 0, flow_value_at(flow, product)->number, ret);
}

/* Gets the value of a word where two paths join. If both have the same value, it is that one. If
 * one has a product, it is a product, whose factor is known unless the other has a product by
 * another factor. If one has zero, it is the value of the other, for a nil pointer says nothing
 * about the type. Else it is a new value that joins both. Returns false if memory runs out or the
 * values are too many. */
static bool flow_meet(struct flow *flow, uint32_t a, uint32_t b, uint32_t *ret)
{
    *ret = PRODUCT;
    if (is_product(flow, a) && is_product(flow, b) &&
        flow_value_at(flow, a)->number != flow_value_at(flow, b)->number)
        return true;
    if (a != b && (is_product(flow, a) || is_product(flow, b)))
        return product_of_any(flow, is_product(flow, a) ? a : b, ret);
    /* From here on a and b are the same, or no products. */
    *ret = a;
    if (a == b || (b != UNKNOWN && flow_value_at(flow, b)->origin == FLOW_ZERO) ||
        (a != UNKNOWN && b != UNKNOWN && have_one_origin(flow, a, b)))
        return true;
    *ret = b;
    if (a != UNKNOWN && flow_value_at(flow, a)->origin == FLOW_ZERO)
        return true;
    /* base is the known one, or the older of two: `other` may be UNKNOWN, base is not. */
    const uint32_t first = a != UNKNOWN && (b == UNKNOWN || a < b) ? a : b;
    if (!flow_add_value(flow, FLOW_JOIN, first, 0, ret))
        return false;
    flow_value_at(flow, *ret)->other = first == a ? b : a;
    return true;
}

/* Returns whether a value may be a pointer of which something is known. */
static bool flow_is_known(const struct flow *flow, uint32_t value)
{
    return value != UNKNOWN && !is_product(flow, value) &&
           flow_value_at(flow, value)->origin != FLOW_INDEX;
}

/* Makes space for a number of entries in an empty vector, and sets all their bytes. Returns false
 * if memory runs out. */
#define flow_fill(vector, number, byte) \
    (vector_grow(vector, number) && \
     memset((vector)->data, byte, (number) * sizeof(*(vector)->data)) != NULL)

/* ---- the instructions ---- */

/* Decodes all instructions of the function. code.count is 0 if one is not understood: then nothing
 * is known about the function. */
static struct g2h_error *read_code(struct flow *flow)
{
    const struct image *image = flow->pclntab->image;
    const uint64_t size = flow->end - flow->start;
    const uint8_t *code = image_at(image, flow->start, size);
    flow->code.count = flow->offsets.count = flow->index_at.count = 0;
    if (!code || size >= NONE)
        return NULL;
    TRY_MEMORY(flow_fill(&flow->index_at, (size_t)size, 0xff));
    flow->index_at.count = (size_t)size;
    for (uint64_t at = 0; at < size;) {
        TRY_MEMORY(vector_grow(&flow->code, 1));
        struct instruction *one = &flow->code.data[flow->code.count];
        if (!flow->machine->read(bytes_at(code + at, size - at), flow->start + at, one)) {
            flow->code.count = 0;
            return NULL;
        }
        flow->index_at.data[at] = as_u32(flow->code.count++);
        TRY_MEMORY(vector_push(&flow->offsets, as_u32(at)));
        at += one->size;
    }
    return NULL;
}

/* Returns the index in code of a jump's target, or NONE. */
static uint32_t flow_target_of(const struct flow *flow, const struct instruction *jump)
{
    return jump->has_target && jump->target >= flow->start && jump->target < flow->end
               ? flow->index_at.data[jump->target - flow->start]
               : NONE;
}

/* Returns whether an instruction may go on at its target. */
static bool is_jump(const struct instruction *instruction)
{
    return instruction->kind == INSTRUCTION_JUMP || instruction->kind == INSTRUCTION_BRANCH;
}

/* Returns whether an instruction has a memory operand in the frame, relative to the stack
 * pointer. */
static bool has_frame_memory(const struct flow *flow, const struct instruction *instruction)
{
    return instruction->has_memory && instruction->base == flow->machine->sp;
}

/* Returns whether a memory operand begins with a slot that is followed, and gets the slot. */
static bool first_slot_of(const struct flow *flow, const struct instruction *instruction,
                          uint32_t *ret)
{
    const uint64_t offset = (uint64_t)instruction->displacement;
    *ret = (uint32_t)(INSTRUCTION_REGISTERS + offset / WORD);
    return has_frame_memory(flow, instruction) && offset % WORD == 0 &&
           offset / WORD < flow->slot_count;
}

/* Finds the slot of the frame that a memory operand is. Returns false if the operand has an index,
 * or is not in the frame. */
static bool flow_slot_of(const struct flow *flow, const struct instruction *instruction,
                         uint32_t *ret)
{
    return !instruction->has_index && first_slot_of(flow, instruction, ret);
}

/* Returns whether an instruction loads or stores slots that may be followed. */
static bool has_slots(const struct flow *flow, const struct instruction *instruction)
{
    const bool moves =
        instruction->kind == INSTRUCTION_STORE || instruction->kind == INSTRUCTION_LOAD;
    const int64_t offset = instruction->displacement;
    return moves && has_frame_memory(flow, instruction) && offset >= 0 &&
           offset < MOST_SLOTS * WORD - WORD; /* a pair has a second slot */
}

/* Finds the targets of jumps back, which are the heads of loops, and how many slots are followed:
 * up to the last one that the code uses, but fewer in a function of many jumps, since each jump
 * copies the state. */
static struct g2h_error *find_jumps(struct flow *flow)
{
    const uint32_t count = as_u32(flow->code.count);
    uint64_t slots = 0, targets = 1;
    flow->entries.count = flow->heads.count = flow->is_late.count = 0;
    TRY_MEMORY(flow_fill(&flow->entries, count, 0));
    TRY_MEMORY(flow_fill(&flow->heads, count, 0));
    flow->loop_states.count = 0;
    TRY_MEMORY(flow_fill(&flow->loop_states, count, 0));
    TRY_MEMORY(flow_fill(&flow->is_late, count, 0));
    flow->entries.count = flow->heads.count = flow->loop_states.count = count;
    flow->has_table = false;
    for (uint32_t i = 0; i < count; i++) {
        const struct instruction *one = &flow->code.data[i];
        flow->has_table = flow->has_table || (one->kind == INSTRUCTION_JUMP && !one->has_target);
        const uint32_t target = is_jump(one) ? flow_target_of(flow, one) : NONE;
        /* Each costs work for every slot: a jump copies the state, an index may forget them. */
        targets += is_jump(one) || (has_frame_memory(flow, one) && one->has_index);
        if (target != NONE && target > 0 && target <= i) /* 0 in heads: no head */
            flow->heads.data[target] = i;
        if (has_slots(flow, one))
            slots = MAX(slots, (uint64_t)one->displacement / WORD + 2);
    }
    const uint64_t most = STATE_WORDS * (flow->end - flow->start) / targets;
    flow->slot_count = (uint32_t)MIN(slots, most);
    flow->width = INSTRUCTION_REGISTERS + flow->slot_count;
    flow->is_taken.count = 0;
    TRY_MEMORY(flow_fill(&flow->is_taken, flow->slot_count + 1, 0));
    flow->homes.count = 0;
    TRY_MEMORY(flow_fill(&flow->homes, flow->slot_count + 1, 0xff));
    return NULL;
}

/* ---- loops ---- */

/* Sets the words of all slots that an instruction may write. A store of a word writes its slot;
 * another instruction may write several, and with an index all slots from its operand on. */
static void set_written_slots(const struct flow *flow, const struct instruction *instruction,
                              uint32_t *words, uint32_t with)
{
    uint32_t slot;
    if (!has_frame_memory(flow, instruction) || instruction->written_bytes == 0)
        return;
    const int64_t at = instruction->displacement,
                  end = instruction->has_index ? INT64_MAX : at + instruction->written_bytes;
    if (instruction->kind == INSTRUCTION_STORE && flow_slot_of(flow, instruction, &slot)) {
        words[slot] = with;
        if (instruction->is_pair && slot + 1 < flow->width)
            words[slot + 1] = with;
        return;
    }
    for (int64_t i = at < 0 ? 0 : at / WORD; i < (int64_t)flow->slot_count && i * WORD < end; i++)
        words[INSTRUCTION_REGISTERS + i] = with;
}

/* Sets the words of the registers whose bits are set. */
static void set_registers(uint32_t *words, uint32_t registers, uint32_t with)
{
    while (registers != 0) {
        words[__builtin_ctz(registers)] = with;
        registers &= registers - 1;
    }
}

/* Finds for the head of each loop which words are written in the loop. It scans from the end to the
 * start, so that the next write of each word is known, and whether it comes before the jump
 * back. */
static struct g2h_error *find_kills(struct flow *flow)
{
    const uint32_t bits = (flow->width + 63) / 64;
    uint32_t next_call = NONE;
    flow->next_write.count = flow->killed.count = flow->kills.count = 0;
    TRY_MEMORY(flow_fill(&flow->next_write, flow->width, 0xff));
    for (uint32_t i = as_u32(flow->code.count); i-- > 0;) {
        const struct instruction *one = &flow->code.data[i];
        if (one->kind == INSTRUCTION_CALL) /* it writes all registers */
            next_call = i;
        else
            set_registers(flow->next_write.data, one->written_registers, i);
        set_written_slots(flow, one, flow->next_write.data, i);
        if (flow->heads.data[i] == 0)
            continue;
        TRY_MEMORY(vector_push(&flow->kills, as_u32(flow->killed.count)));
        TRY_MEMORY(vector_grow(&flow->killed, bits));
        uint64_t *killed = flow->killed.data + flow->killed.count;
        memset(killed, 0, bits * sizeof(*killed));
        flow->killed.count += bits;
        for (uint32_t j = 0; j < flow->width; j++)
            if (flow->next_write.data[j] <= flow->heads.data[i] ||
                (j < INSTRUCTION_REGISTERS && next_call <= flow->heads.data[i]))
                bits_add(killed, j);
    }
    return NULL;
}

/* Begins the head of a loop. A word that a loop writes is another value at the loop's head, which
 * is at index: the one from before, or one from the loop, which end_loop() adds. An instruction
 * that only jumps from later code lead to (is_late) is not a head. Returns false if memory runs out
 * or there are too many values. */
static bool enter_loop(struct flow *flow, uint32_t index)
{
    const uint64_t *killed = flow->killed.data + flow->kills.data[--flow->kill_count];
    if (flow->is_late.data[index])
        return true;
    uint32_t *state = flow->state.data;
    for (uint32_t i = 0; i < flow->width; i++) {
        if (!bits_have(killed, i) || state[i] == UNKNOWN)
            continue;
        if (is_product(flow,
                       state[i])) /* its factor may be another one after the loop's first run */
            state[i] = PRODUCT;
        else if (!flow_add_value(flow, FLOW_JOIN, state[i], 0, &state[i]))
            return false;
    }
    if (!vector_grow(&flow->loops, flow->width))
        return false;
    memcpy(flow->loops.data + flow->loops.count, state, flow->width * sizeof(*state));
    flow->loops.count += flow->width;
    flow->loop_states.data[index] = as_u32(flow->loops.count - flow->width) + 1;
    return true;
}

/* At a jump back to the head of a loop, which is at index, adds the values that words have now to
 * the values that enter_loop() has made for them. Each of these has room for one: it keeps that of
 * the first jump where the word has another value than at the head. Does nothing if no state is
 * kept for the head. */
static void end_loop(struct flow *flow, uint32_t index, const uint32_t *state)
{
    if (flow->loop_states.data[index] == 0)
        return;
    const uint32_t *head = flow->loops.data + flow->loop_states.data[index] - 1;
    for (uint32_t i = 0; i < flow->width; i++) {
        struct flow_value *value = flow_value_at(flow, head[i]);
        if (value->origin == FLOW_JOIN && value->other == 0 && state[i] != head[i])
            value->other = state[i];
    }
}

/* ---- paths ---- */

/* Merges a state into that at a later instruction; the first state to arrive there is copied.
 * Returns false if memory runs out or the values are too many. */
static bool add_path(struct flow *flow, uint32_t target, const uint32_t *state)
{
    uint32_t *entry = &flow->entries.data[target];
    if (*entry == 0) {
        if (flow->free_blocks.count > 0) {
            *entry = flow->free_blocks.data[--flow->free_blocks.count];
        } else {
            if (!vector_grow(&flow->blocks, flow->width))
                return false;
            *entry = (uint32_t)(flow->blocks.count / flow->width) + 1;
            flow->blocks.count += flow->width;
        }
        memcpy(flow->blocks.data + (size_t)(*entry - 1) * flow->width, state,
               flow->width * sizeof(*state));
        return true;
    }
    uint32_t *block = flow->blocks.data + (size_t)(*entry - 1) * flow->width;
    for (uint32_t i = 0; i < flow->width; i++)
        if (block[i] != state[i] && !flow_meet(flow, block[i], state[i], &block[i]))
            return false;
    return true;
}

/* Records that a path leads from the instruction at index to the one at target, with these values
 * of words. A jump back ends a loop: the state at its head is read already, so that end_loop() only
 * adds what the words become in the loop. NONE as target, and code that no path has reached yet,
 * are passed over. Returns false if memory runs out or the values are too many. */
static bool lead_to(struct flow *flow, uint32_t index, uint32_t target, const uint32_t *state)
{
    if (target == NONE || flow->is_nowhere)
        return true;
    if (target <= index && !flow->is_late.data[target]) {
        end_loop(flow, target, state);
        return true;
    }
    flow->has_late = flow->has_late || target <= index;
    return add_path(flow, target, state);
}

/* Gets the state at an instruction, merged from all paths that lead there; falls_through: the
 * previous instruction is one of them. In the first pass, code that only jumps from later code lead
 * to has no state yet, and is ignored when paths join; a jump table may lead anywhere. If no path
 * is known, all values are unknown. Returns false if memory runs out or the values are too many. */
static bool flow_enter(struct flow *flow, uint32_t index, bool falls_through)
{
    const uint32_t entry = flow->entries.data[index];
    uint32_t *state = flow->state.data;
    /* A path leads here, so what comes before does not count if none leads there. */
    falls_through = falls_through && !(flow->is_nowhere && entry != 0);
    flow->is_nowhere = flow->is_nowhere && falls_through;
    if (entry == 0 && !falls_through) {
        memset(state, 0, flow->width * sizeof(*state));
        flow->is_late.data[index] = flow->heads.data[index] != 0;
        flow->is_nowhere = flow->is_late.data[index] && !flow->is_again && !flow->has_table;
    }
    if (entry != 0) {
        const uint32_t *block = flow->blocks.data + (size_t)(entry - 1) * flow->width;
        for (uint32_t i = 0; i < flow->width; i++) {
            if (!falls_through)
                state[i] = block[i];
            else if (state[i] != block[i] && !flow_meet(flow, state[i], block[i], &state[i]))
                return false;
        }
        flow->entries.data[index] = 0;
        if (!vector_push(&flow->free_blocks, entry))
            return false;
    }
    return flow->heads.data[index] == 0 || enter_loop(flow, index);
}

/* ---- memory ---- */

/* An address in data or bss. */
struct static_address {
    uint64_t address;
    bool is_element;         /* in an array; address is that of its first element's word */
    struct flow_array array; /* its elements, which have words at this address; 0: not known */
    struct flow_array inner; /* of an array in each element */
};

/* An offset from a value. */
struct flow_offset {
    uint64_t bytes;
    struct flow_array array; /* the same in other elements of an array */
};

/* Returns the known factor of a value; 0: not known. */
static uint64_t factor_of(const struct flow *flow, uint32_t value)
{
    return is_product(flow, value) ? flow_value_at(flow, value)->number : 1;
}

/* Returns the value of which another one is the product, or that one itself if it is not known to
 * be one. */
static struct flow_value *index_of(const struct flow *flow, uint32_t value)
{
    enum { MOST = 4 };
    for (unsigned i = 0; i < MOST && is_product(flow, value) && flow_value_at(flow, value)->base;
         i++)
        value = flow_value_at(flow, value)->base;
    return flow_value_at(flow, value);
}

/* Returns the elements of an array between which an operand's index selects, if they consist of
 * words. place tells the array from others: it is the address of the word that is used, or a number
 * in its place. How many elements there are is not known if the displacement leads to a later one:
 * code compares i + 1 with the number for list[i+1], but the index is i. Nor is it if the index has
 * selected from another array since it was compared: the check for this one may be in a form that
 * is not followed. */
static struct flow_array array_of(const struct flow *flow, const struct instruction *operand,
                                  uint32_t index, uint64_t place)
{
    const uint64_t bytes = factor_of(flow, index) * operand->scale;
    struct flow_array array = {0};
    struct flow_value *of = index_of(flow, index);
    if (bytes % WORD != 0 || bytes > LARGEST_ELEMENT)
        return array;
    array.distance = (uint32_t)bytes;
    if (of->bound == 0 || (uint64_t)operand->displacement >= bytes)
        return array;
    if (of->bounded == 0) /* the first array that it selects from since it was compared */
        of->bounded = place;
    if (place - of->bounded < bytes || of->bounded - place < bytes)
        array.count = of->bound;
    return array;
}

/* Returns whether a memory operand is in data or bss, and gets its address. An operand with an
 * index is in an array (array_of()). list[i-1] is not reported: at i = 0 it is before the array. */
static bool static_address_of(const struct flow *flow, const struct instruction *instruction,
                              struct static_address *ret)
{
    if (instruction->is_static) {
        *ret = (struct static_address){.address = instruction->target};
        return flow_is_static(flow, ret->address);
    }
    const bool has_index = instruction->has_index;
    if (!instruction->has_memory || (has_index && instruction->displacement < 0))
        return false;
    uint32_t base = flow->state.data[instruction->base],
             index = has_index ? flow->state.data[instruction->index] : 0;
    if (has_index && instruction->scale == 1 &&
        flow_value_at(flow, index)->origin == FLOW_ADDRESS) { /* either register may have it */
        index = base;
        base = flow->state.data[instruction->index];
    }
    const struct flow_value *value = flow_value_at(flow, base);
    const bool is_element = value->origin == FLOW_ELEMENT_ADDRESS;
    if (!is_element && value->origin != FLOW_ADDRESS)
        return false;
    *ret = (struct static_address){.address = value->number + (uint64_t)instruction->displacement,
                                   .is_element = has_index || is_element};
    if (!flow_is_static(flow, ret->address))
        return false;
    if (!is_element) {
        ret->array = array_of(flow, instruction, index, ret->address);
    } else {
        ret->array.distance = value->base;
        ret->inner.distance = value->other;
        if ((uint64_t)instruction->displacement < (value->other != 0 ? value->other : value->base))
            *(value->other != 0 ? &ret->inner.count : &ret->array.count) = value->count;
    }
    /* list[i].array[j]: an index in an element. A third one is not followed, nor one of elements
     * that are not known. */
    if (is_element && has_index) {
        if (value->other == 0)
            ret->inner = array_of(flow, instruction, index, ret->address);
        if (value->other != 0 || ret->inner.distance == 0)
            ret->array = ret->inner = (struct flow_array){0};
    }
    return true;
}

/* Adds a use of the static word at an offset from where. An element's value is not added if its
 * distance from the others is not known: it could be the value of any of them. Returns false if
 * memory runs out. */
static bool add_use(struct flow *flow, uint32_t index, const struct static_address *where,
                    uint64_t offset, uint32_t value)
{
    const enum instruction_kind kind = flow->code.data[index].kind;
    const uint64_t address = where->address + offset;
    const struct flow_use use = {
        .address = address,
        .at = flow->offsets.data[index],
        .value = where->is_element && where->array.distance == 0 ? UNKNOWN : value,
        .is_store = kind == INSTRUCTION_STORE,
        .is_address = kind == INSTRUCTION_ADDRESS || kind == INSTRUCTION_LEA,
        .array = where->array,
        .inner = where->inner};
    return vector_push(&flow->uses, use);
}

/* Returns whether a value comes from data or bss, or is an address there. */
static bool is_of_static(const struct flow *flow, uint32_t value)
{
    const struct flow_value *one = flow_value_at(flow, value);
    return one->origin == FLOW_WORD || one->origin == FLOW_ELEMENT ||
           one->origin == FLOW_ELEMENT_ADDRESS ||
           (one->origin == FLOW_ADDRESS && flow_is_static(flow, one->number));
}

/* Gets the base of a value that is an offset from another one, and adds the offset. Returns a value
 * itself if it is no offset. */
static uint32_t offset_base(const struct flow *flow, uint32_t value, struct flow_offset *offset)
{
    const struct flow_value *one = flow_value_at(flow, value);
    if (one->origin != FLOW_OFFSET)
        return value;
    const uint64_t more = offset->bytes;
    offset->bytes += one->number;
    if (one->other != 0)
        offset->array = (struct flow_array){one->other, more < one->other ? one->count : 0};
    return one->base;
}

/* Adds a value that is at an offset from another one, or of each element of an array there, or was
 * loaded from there. Returns false if memory runs out or there are too many values. */
static bool add_offset(struct flow *flow, enum flow_origin origin, uint32_t base,
                       const struct flow_offset *offset, uint32_t *ret)
{
    if (!flow_add_value(flow, origin, base, offset->bytes, ret))
        return false;
    flow_value_at(flow, *ret)->other = offset->array.distance;
    flow_value_at(flow, *ret)->count = offset->array.count;
    return true;
}

/* Adds a value that is, or was loaded from, what is at an address in data or bss plus `more`.
 * Returns false if memory runs out or there are too many values. */
static bool add_static_value(struct flow *flow, enum flow_origin origin,
                             const struct static_address *address, uint64_t more, uint32_t *ret)
{
    if (!flow_add_value(flow, origin, address->array.distance, address->address + more, ret))
        return false;
    struct flow_value *value = flow_value_at(flow, *ret);
    value->other = address->inner.distance;
    value->count = value->other != 0 ? address->inner.count : address->array.count;
    return true;
}

/* Returns whether a value is the address of a part of the memory that an argument points to. */
static bool is_in_argument(const struct flow *flow, uint32_t value)
{
    const struct flow_value *one = flow_value_at(flow, value);
    return one->origin == FLOW_OFFSET &&
           flow_value_at(flow, flow_before(flow, one->base))->origin == FLOW_ARGUMENT;
}

/* Gets the address of an element of an array in the memory that an argument points to, by an index:
 * &s.shards[i]. *ret_base is the value that points there, and *ret the offset from it. Returns
 * false if it is none. */
static bool element_of_argument(const struct flow *flow, const struct instruction *one,
                                uint32_t *ret_base, struct flow_offset *ret)
{
    uint32_t base = flow->state.data[one->base], index = flow->state.data[one->index];
    if (one->scale == 1 && is_product(flow, base)) { /* either register may have the index */
        index = base;
        base = flow->state.data[one->index];
    }
    *ret = (struct flow_offset){.bytes = (uint64_t)one->displacement};
    *ret_base = offset_base(flow, base, ret);
    if (one->displacement < 0 || ret->array.distance != 0 ||
        flow_value_at(flow, flow_before(flow, *ret_base))->origin != FLOW_ARGUMENT)
        return false;
    /* Instead of an address, a number for the base value and the offset. */
    ret->array = array_of(flow, one, index, ((uint64_t)*ret_base << 32) + ret->bytes);
    return ret->array.distance != 0;
}

/* Records a store to memory at an offset from base, if base comes from data, bss or an argument, or
 * is an address inside of what another value points to; or if the stored value comes from data or
 * bss, or is the address of a part of what an argument points to. Returns false if memory runs
 * out. */
static bool add_store(struct flow *flow, uint32_t base, struct flow_offset offset, uint32_t value)
{
    base = offset_base(flow, base, &offset);
    const enum flow_origin origin = flow_value_at(flow, flow_before(flow, base))->origin;
    const struct flow_use use = {.address = offset.bytes,
                                 .base = base,
                                 .value = value,
                                 .array = offset.array,
                                 .is_store = true};
    return base == UNKNOWN || value == UNKNOWN ||
           (flow_value_at(flow, base)->origin != FLOW_WORD && origin != FLOW_ARGUMENT &&
            origin != FLOW_OFFSET && !is_of_static(flow, value) && !is_in_argument(flow, value)) ||
           vector_push(&flow->uses, use);
}

/* Records that the code uses the memory that a register points to. Accesses with an index, or
 * before the pointer, do not count. */
static void flow_reach(struct flow *flow, const struct instruction *instruction)
{
    if (!instruction->has_memory || instruction->has_index || instruction->displacement < 0)
        return;
    const uint32_t base = flow->state.data[instruction->base];
    if (base != UNKNOWN && flow_value_at(flow, base)->reach <= (uint64_t)instruction->displacement)
        flow_value_at(flow, base)->reach = (uint64_t)instruction->displacement + 1;
}

/* Gets the value that an instruction loads from its operand's address plus `more`: a known value
 * from a slot, else a new one that says where it is from. Returns false if memory runs out or the
 * values are too many. */
static bool value_loaded(struct flow *flow, uint32_t index, uint64_t more, uint32_t *ret)
{
    const struct instruction *load = &flow->code.data[index];
    struct static_address address;
    uint32_t slot;
    *ret = UNKNOWN;
    if (static_address_of(flow, load, &address)) {
        const enum flow_origin origin = address.is_element ? FLOW_ELEMENT : FLOW_WORD;
        return add_use(flow, index, &address, more, UNKNOWN) &&
               ((address.is_element && address.array.distance == 0) ||
                add_static_value(flow, origin, &address, more, ret));
    }
    uint32_t base;
    struct flow_offset offset;
    if (load->has_memory && load->has_index && !has_frame_memory(flow, load) &&
        element_of_argument(flow, load, &base, &offset)) {
        offset.bytes += more;
        return add_offset(flow, FLOW_FIELD, base, &offset, ret);
    }
    if (!load->has_memory || load->has_index)
        return true;
    if (flow_slot_of(flow, load, &slot)) {
        *ret = slot + more / WORD < flow->width ? flow->state.data[slot + more / WORD] : UNKNOWN;
        return true;
    }
    offset = (struct flow_offset){.bytes = (uint64_t)load->displacement + more};
    base = offset_base(flow, flow->state.data[load->base], &offset);
    return has_frame_memory(flow, load) || !flow_is_known(flow, base) ||
           add_offset(flow, FLOW_FIELD, base, &offset, ret);
}

/* Handles a load of one or two registers. Returns false if memory runs out or the values are too
 * many. */
static bool flow_load(struct flow *flow, uint32_t index)
{
    const struct instruction *one = &flow->code.data[index];
    uint32_t first, second = UNKNOWN;
    flow_reach(flow, one);
    if (!value_loaded(flow, index, 0, &first) ||
        (one->is_pair && !value_loaded(flow, index, WORD, &second)))
        return false;
    set_registers(flow->state.data, one->written_registers, UNKNOWN);
    flow->state.data[one->to] = first;
    if (one->is_pair)
        flow->state.data[one->second] = second;
    return true;
}

/* Returns whether a value may be the address of a type or itab: one that is constant, and neither
 * that of a variable nor of code, with which a closure on the stack begins. */
static bool flow_is_type(const struct flow *flow, uint32_t value)
{
    const struct flow_value *one = flow_value_at(flow, value);
    return one->origin == FLOW_ADDRESS && !flow_is_static(flow, one->number) &&
           one->number - flow->text >= flow->text_size;
}

/* Handles two adjacent words being stored. If only the first is the address of a type or itab, they
 * are an interface, and the second is its data word. Returns false if memory runs out. */
static bool store_pair(struct flow *flow, uint32_t first, uint32_t second)
{
    return !flow_is_type(flow, first) || flow_is_type(flow, second) ||
           add_fact(flow, second, FLOW_IS_DATA, flow_value_at(flow, first)->number);
}

/* Returns where a store writes: an address, or a displacement from its base register. */
static uint64_t stored_at(const struct instruction *store)
{
    return store->is_static ? store->target : (uint64_t)store->displacement;
}

/* Checks whether one of the last instructions stored the word before or after the one that this
 * instruction stores: the two may be an interface. Returns false if memory runs out. Looks at the
 * last NEAR instructions, back to a jump or call. */
static bool store_interface(struct flow *flow, uint32_t index)
{
    enum { NEAR = 4 };
    const struct instruction *one = &flow->code.data[index];
    for (uint32_t i = index; i-- > 0 && index - i <= NEAR;) {
        const struct instruction *other = &flow->code.data[i];
        if (is_jump(other) || other->kind == INSTRUCTION_CALL)
            break;
        if (other->kind != INSTRUCTION_STORE || other->has_index || one->has_index ||
            other->is_static != one->is_static || (!one->is_static && other->base != one->base))
            continue;
        const uint64_t at = stored_at(one);
        const uint64_t other_at = stored_at(other);
        const uint32_t value = flow->state.data[one->from];
        const uint32_t other_value = flow->state.data[other->from];
        if (at == other_at + WORD)
            return store_pair(flow, other_value, value);
        if (at + WORD == other_at)
            return store_pair(flow, value, other_value);
    }
    return true;
}

/* Sets the value of a slot; notes the first one. */
static void flow_set_slot(struct flow *flow, uint32_t slot, uint32_t value)
{
    uint32_t *home = &flow->homes.data[slot - INSTRUCTION_REGISTERS];
    flow->state.data[slot] = value;
    if (*home == NONE)
        *home = value;
}

/* Handles a store: to a slot, to data or bss, or through a pointer. A store says three things: two
 * words side by side may be an interface; memory that a known value points to now holds the stored
 * one (base 0: the pointer's value is not known, and add_store() ignores it); and a slot has a new
 * value. A store to none of the frame's slots may still write some of them, through an index: these
 * are not known any more. Returns false if memory runs out or there are too many values. */
static bool flow_store(struct flow *flow, uint32_t index)
{
    const struct instruction *one = &flow->code.data[index];
    const uint32_t value = flow->state.data[one->from];
    const uint32_t second = one->is_pair ? flow->state.data[one->second] : UNKNOWN;
    struct static_address address;
    uint32_t slot;
    /* Pointers recorded for a write barrier are adjacent by chance. */
    const bool is_noted = !one->is_static && one->base == flow->machine->barrier;
    flow_reach(flow, one);
    if (!is_noted &&
        (one->is_pair ? !store_pair(flow, value, second) : !store_interface(flow, index)))
        return false;
    if (static_address_of(flow, one, &address))
        return add_use(flow, index, &address, 0, value) &&
               (!one->is_pair || add_use(flow, index, &address, WORD, second));
    const bool is_memory = one->has_memory && !has_frame_memory(flow, one);
    uint32_t base = is_memory && !one->has_index ? flow->state.data[one->base] : UNKNOWN;
    struct flow_offset offset = {.bytes = (uint64_t)one->displacement};
    if (is_memory && one->has_index && !element_of_argument(flow, one, &base, &offset))
        base = UNKNOWN;
    const struct flow_offset next = {offset.bytes + WORD, offset.array};
    if (!add_store(flow, base, offset, value) ||
        (one->is_pair && !add_store(flow, base, next, second)))
        return false;
    if (flow_slot_of(flow, one, &slot)) {
        flow_set_slot(flow, slot, value);
        if (one->is_pair && slot + 1 < flow->width)
            flow_set_slot(flow, slot + 1, second);
    } else {
        set_written_slots(flow, one, flow->state.data, UNKNOWN);
    }
    return true;
}

/* ---- registers ---- */

/* Gets the value of a multiple of a value. Returns false if memory runs out or there are too many
 * values. */
static bool flow_multiply(struct flow *flow, uint32_t value, uint64_t factor, uint32_t *ret)
{
    factor *= factor_of(flow, value);
    *ret = PRODUCT;
    if (factor == 0 || factor > LARGEST_ELEMENT)
        return true;
    /* UNKNOWN and PRODUCT stand for many values, so they are no index that could be found again. */
    return flow_add_value(flow, FLOW_PRODUCT, value > PRODUCT ? value : 0, factor, ret);
}

/* Gets the value of an address, or sum, that is not one of the frame: *ret becomes it, PRODUCT if
 * it is calculated from products, or stays as it is, which is UNKNOWN. Notes which words of data
 * and bss code takes the address of. Returns false if memory runs out or there are too many values.
 */
static bool add_address(struct flow *flow, uint32_t index, uint32_t *ret)
{
    const struct instruction *one = &flow->code.data[index];
    uint32_t base = one->has_memory ? flow->state.data[one->base] : UNKNOWN;
    const struct flow_value *value = flow_value_at(flow, base);
    struct static_address address;
    if (static_address_of(flow, one, &address))
        return add_static_value(flow, address.is_element ? FLOW_ELEMENT_ADDRESS : FLOW_ADDRESS,
                                &address, 0, ret) &&
               add_use(flow, index, &address, 0, UNKNOWN);
    if (one->is_static || (!one->has_index && value->origin == FLOW_ADDRESS))
        return flow_add_value(
            flow, FLOW_ADDRESS, 0,
            one->is_static ? one->target : value->number + (uint64_t)one->displacement, ret);
    if (one->has_index && one->base == one->index && one->displacement == 0) /* i + i * scale */
        return flow_multiply(flow, base, one->scale + 1u, ret);
    struct flow_offset offset;
    if (one->has_memory && one->has_index && element_of_argument(flow, one, &base, &offset))
        return add_offset(flow, FLOW_OFFSET, base, &offset, ret);
    if (is_product(flow, base) ||
        (one->has_index && (one->scale != 1 || one->base == one->index ||
                            is_product(flow, flow->state.data[one->index]))))
        *ret = PRODUCT;
    else if (one->has_memory && !one->has_index && one->displacement == 0)
        *ret = base;
    else if (one->has_memory && !one->has_index && flow_is_known(flow, base)) {
        offset = (struct flow_offset){.bytes = (uint64_t)one->displacement};
        base = offset_base(flow, base, &offset);
        return add_offset(flow, FLOW_OFFSET, base, &offset, ret);
    }
    return true;
}

/* Handles a comparison of a register with a number, or a mask: if the register is used as an index,
 * it is less than the number, or the mask's bound. Go compares each index with the number of the
 * array's elements, or knows by another check that it is less; so an array has as many elements as
 * the least number that its index is compared with. Returns false if memory runs out or there are
 * too many values. */
static bool flow_bound(struct flow *flow, uint32_t index)
{
    const struct instruction *one = &flow->code.data[index];
    uint32_t *to = &flow->state.data[one->to];
    const bool is_compared = one->written_registers == 0; /* and not masked, which changes it */
    uint32_t value = is_compared ? *to : UNKNOWN;
    if (!is_compared && is_product(flow, flow->state.data[one->from]))
        value = PRODUCT;
    if (value == UNKNOWN && !flow_add_value(flow, FLOW_INDEX, 0, 0, &value))
        return false;
    *to = value;
    struct flow_value *compared = flow_value_at(flow, value);
    if (is_product(flow, value)) /* the bound is that of the product, not of the index */
        return true;
    if (compared->bound == 0 || one->factor < compared->bound)
        compared->bound = one->factor;
    compared->bounded = 0; /* it may select from an array again: array_of() */
    return true;
}

/* Sets a register to an address; marks the slots whose address is taken. Returns false if memory
 * runs out or there are too many values. */
static bool load_address(struct flow *flow, uint32_t index)
{
    const struct instruction *one = &flow->code.data[index];
    uint32_t value = UNKNOWN, slot;
    const bool is_slot = first_slot_of(flow, one, &slot);
    if (is_slot)
        flow->is_taken.data[slot - INSTRUCTION_REGISTERS] = true;
    if (is_slot && !one->has_index &&
        !flow_add_value(flow, FLOW_SLOT, 0, slot - INSTRUCTION_REGISTERS, &value))
        return false;
    if (!has_frame_memory(flow, one) && !add_address(flow, index, &value))
        return false;
    set_registers(flow->state.data, one->written_registers, UNKNOWN);
    flow->state.data[one->to] = value;
    return true;
}

/* Handles all other instructions, which may write registers, and the memory that they name. The
 * result of such an operation on a product counts as one; but a difference does so only if what is
 * subtracted from is a product: i % 10 is i - i / 10 * 10, and an index. Returns false if memory
 * runs out or there are too many values. */
static bool flow_other(struct flow *flow, uint32_t index)
{
    const struct instruction *one = &flow->code.data[index];
    const uint32_t *state = flow->state.data;
    uint32_t value = UNKNOWN;
    if (one->kind == INSTRUCTION_MULTIPLY) {
        if (!flow_multiply(flow, state[one->from], one->factor, &value))
            return false;
    } else if (one->kind == INSTRUCTION_SUBTRACT) {
        value = is_product(flow, state[one->from]) ? PRODUCT : UNKNOWN;
    } else if (is_product(flow, state[one->to]) || is_product(flow, state[one->from]) ||
               is_product(flow, state[one->base])) {
        value = PRODUCT;
    }
    struct static_address address;
    flow_reach(flow, one);
    set_written_slots(flow, one, flow->state.data, UNKNOWN);
    const bool good =
        !static_address_of(flow, one, &address) || add_use(flow, index, &address, 0, UNKNOWN);
    set_registers(flow->state.data, one->written_registers, value);
    return good;
}

/* ---- calls ---- */

/* Reads the description of a function's arguments. Go describes the arguments for stack traces in
 * bytes (FUNCDATA_ArgInfo, internal/abi/symtab.go): two for each, and special ones, of which FE and
 * FD enclose the parts of an argument. Returns the number of arguments before the end, the one with
 * an index, or one that has no description. *ret_is_pair: that one is a pair; *ret_is_alone: it is
 * described, and no part of a larger one. */
static unsigned read_arguments(const struct flow *flow, uint64_t function, unsigned index,
                               bool *ret_is_pair, bool *ret_is_alone)
{
    enum {
        FUNCDATA_ARG_INFO = 5,
        END = 0xff,
        OPEN = 0xfe,
        CLOSE = 0xfd,
        SPECIAL = 0xf0,
        MOST = 64
    };
    struct pclntab_function record;
    unsigned count = 0, depth = 0;
    *ret_is_pair = *ret_is_alone = false;
    if (!pclntab_function(flow->pclntab, function, &record) ||
        record.funcdata_count <= FUNCDATA_ARG_INFO)
        return 0;
    const uint32_t at = image_u32(flow->pclntab->image, record.funcdata + 4 * FUNCDATA_ARG_INFO);
    const uint8_t *bytes =
        at != UINT32_MAX ? image_at(flow->pclntab->image, flow->gofunc + at, 1) : NULL;
    for (unsigned i = 0; bytes && i < MOST; i++) {
        /* As many bytes as the description of a pair has: FE, two bytes for each part, FD. */
        bytes = image_at(flow->pclntab->image, flow->gofunc + at + i, 6);
        if (!bytes || *bytes == END)
            return count;
        if (*bytes == OPEN && count == index && bytes[1] < SPECIAL && bytes[3] < SPECIAL) {
            *ret_is_pair = bytes[2] == WORD && bytes[4] == WORD && bytes[5] == CLOSE;
            return count;
        }
        if (*bytes == OPEN || *bytes == CLOSE) {
            depth += *bytes == OPEN ? 1 : -1u;
            continue;
        }
        if (*bytes >= SPECIAL) /* "…", or an offset that is too large: the rest is not described */
            return count;
        if (count == index) {
            *ret_is_alone = depth == 0;
            return count;
        }
        count++;
        i++; /* the size */
    }
    return count;
}

/* Returns whether an argument is the first of two words of one argument, as of a string or an
 * interface. */
bool flow_is_pair(const struct flow *flow, uint64_t function, unsigned index)
{
    bool is_pair, is_alone;
    read_arguments(flow, function, index, &is_pair, &is_alone);
    return is_pair;
}

bool flow_is_alone(const struct flow *flow, uint64_t function, unsigned index)
{
    bool is_pair, is_alone;
    read_arguments(flow, function, index, &is_pair, &is_alone);
    return is_alone;
}

/* Returns how many arguments of a function are described. */
unsigned flow_argument_count(const struct flow *flow, uint64_t function)
{
    bool is_pair, is_alone;
    return read_arguments(flow, function, NONE, &is_pair, &is_alone);
}

/* Returns whether a function is a method, whose first argument is its receiver. */
static bool flow_is_method(const struct flow *flow, uint64_t function)
{
    const uint8_t rule = flow->rules[function];
    return rule == CALLEE_METHOD || rule == CALLEE_GENERIC_METHOD || rule == CALLEE_POOL_PUT;
}

/* Returns the value in the register of an argument; 0 (unknown) for arguments on the stack. */
static uint32_t flow_argument(const struct flow *flow, unsigned index)
{
    return index < flow->machine->argument_count ? flow->state.data[flow->machine->arguments[index]]
                                                 : 0;
}

/* Returns the function whose start a call or jump leads to, or UINT64_MAX. */
static uint64_t callee_of(const struct flow *flow, const struct instruction *call)
{
    uint64_t index;
    const uint64_t address = call->target - flow->text;
    return call->has_target && pclntab_find(flow->pclntab, address, &index) &&
                   pclntab_entry(flow->pclntab, index) == address
               ? index
               : UINT64_MAX;
}

/* Returns the kind of fact that a rule for a callee states about its argument. */
static enum flow_fact_kind fact_kind(enum callee_fact fact)
{
    switch (fact) {
    case CALLEE_ONE:
        return FLOW_POINTS_TO;
    case CALLEE_MANY:
        return FLOW_POINTS_TO_MANY;
    case CALLEE_ELEMENT:
        return FLOW_POINTS_TO_ELEMENT;
    default:
        return FLOW_IS;
    }
}

/* Adds the fact that a method's first argument is its receiver. Returns false if memory runs out or
 * there are too many values. */
static bool look_at_receiver(struct flow *flow, uint64_t callee)
{
    const uint32_t second = flow_argument(flow, 1);
    const bool has_dictionary =
        flow->rules[callee] == CALLEE_GENERIC_METHOD && flow_is_type(flow, second);
    return add_fact_of(
        flow, flow_argument(flow, 0),
        (struct flow_fact){.kind = FLOW_IS_RECEIVER,
                           .what = callee,
                           .dictionary = has_dictionary ? flow_value_at(flow, second)->number : 0});
}

/* Records which words of data, bss, the function's own arguments and results of calls are passed to
 * a callee and, if frames are wanted, all known words. Returns false if memory runs out. */
static bool flow_add_passes(struct flow *flow, uint64_t callee)
{
    for (unsigned i = 0; i < flow->machine->argument_count; i++) {
        const uint32_t value = flow_before(flow, flow_argument(flow, i));
        const struct flow_value *one = flow_value_at(flow, value);
        const bool is_of_other = one->origin == FLOW_FIELD || one->origin == FLOW_OFFSET;
        const enum flow_origin of =
            is_of_other ? flow_value_at(flow, flow_before(flow, one->base))->origin : FLOW_UNKNOWN;
        const struct flow_pass pass = {(uint32_t)callee, value, (uint8_t)i, (uint8_t)flow->floats};
        if (((flow->wants_frames && value > PRODUCT) || one->origin == FLOW_ARGUMENT ||
             one->origin == FLOW_RESULT || is_of_static(flow, value) ||
             (is_of_other && (of == FLOW_ARGUMENT || of == FLOW_WORD || of == FLOW_OFFSET))) &&
            !vector_push(&flow->passes, pass))
            return false;
    }
    return true;
}

/* Records the store that a call of an atomic function makes: *argument 0 = argument 1, and for a
 * compare-and-swap = argument 2, after the old value. These are what the methods of atomic.Pointer
 * call. index is the call's, among the instructions. Returns false if memory runs out. */
static bool add_atomic_store(struct flow *flow, uint32_t index, uint64_t callee)
{
    const unsigned stored = flow->rules[callee] == CALLEE_STORE_IF ? 2 : 1;
    const uint32_t to = flow_argument(flow, 0);
    const uint32_t value = flow_argument(flow, stored);
    const struct flow_value *one = flow_value_at(flow, to);
    const bool is_static = one->origin == FLOW_ADDRESS && flow_is_static(flow, one->number);
    const struct flow_use use = {.address = one->number,
                                 .at = flow->offsets.data[index],
                                 .value = value,
                                 .is_store = true,
                                 .is_by_callee = true};
    return is_static ? vector_push(&flow->uses, use)
                     : add_store(flow, to, (struct flow_offset){0}, value);
}

/* Adds the evidence of a call about its arguments: by the callee's rule; by its name, if it is a
 * method; or by its description, if an argument is an interface. Returns false if memory runs
 * out. */
static bool look_at_arguments(struct flow *flow, uint64_t callee)
{
    const struct callee_rule *rule = callees_rule(flow->rules[callee]);
    /* Without a rule, what the callee does with its arguments shows what they are. */
    if (!rule && !flow_add_passes(flow, callee))
        return false;
    if (flow_is_method(flow, callee) && !look_at_receiver(flow, callee))
        return false;
    /* sync.(*Pool).Put(x): the pool, and the type and the data of x. */
    if (flow->rules[callee] == CALLEE_POOL_PUT && flow_argument(flow, 2) != 0 &&
        flow_value_at(flow, flow_argument(flow, 0))->origin == FLOW_ADDRESS)
        flow_value_at(flow, flow_argument(flow, 2))->pool =
            flow_value_at(flow, flow_argument(flow, 0))->number;
    if (rule) {
        const uint32_t type = flow_argument(flow, rule->type);
        for (unsigned i = 0; i < CALLEE_SAYS && flow_is_type(flow, type); i++)
            if (rule->says[i].fact != CALLEE_NOTHING && rule->says[i].argument != CALLEE_RESULT &&
                !add_fact(flow, flow_argument(flow, rule->says[i].argument),
                          fact_kind(rule->says[i].fact), flow_value_at(flow, type)->number))
                return false;
        return true;
    }
    for (unsigned i = 0; i + 1 < flow->machine->argument_count; i++) {
        const uint32_t type = flow_argument(flow, i);
        const uint32_t data = flow_argument(flow, i + 1);
        if (flow_is_type(flow, type) && data != 0 && !flow_is_type(flow, data) &&
            flow_is_pair(flow, callee, i) &&
            !add_fact(flow, data, FLOW_IS_DATA, flow_value_at(flow, type)->number))
            return false;
    }
    return true;
}

/* Sets the registers to what they hold after a call: two results, of unknown type unless the
 * callee's rule and its argument type determine one; all others are lost. Returns false if memory
 * runs out or the values are too many. */
static bool set_results(struct flow *flow, uint64_t callee, uint64_t type)
{
    enum { RESULTS = 2 };
    const struct callee_rule *rule =
        callee != UINT64_MAX ? callees_rule(flow->rules[callee]) : NULL;
    const uint32_t call = flow->call_count++;
    memset(flow->state.data, 0, INSTRUCTION_REGISTERS * sizeof(*flow->state.data));
    for (unsigned i = 0; i < RESULTS; i++) {
        uint32_t value;
        if (!flow_add_value(flow, FLOW_RESULT, call, i, &value))
            return false;
        /* plus 1, because 0 is a callee that is not known: UINT64_MAX here */
        flow_value_at(flow, value)->other = callee < NONE ? (uint32_t)callee + 1 : 0;
        flow->state.data[flow->machine->arguments[i]] = value;
    }
    for (unsigned i = 0; rule && type != 0 && i < CALLEE_SAYS; i++)
        if (rule->says[i].fact != CALLEE_NOTHING && rule->says[i].argument == CALLEE_RESULT &&
            !add_fact(flow, flow_argument(flow, 0), fact_kind(rule->says[i].fact), type))
            return false;
    return true;
}

/* Records the contents of the slots and arguments of the call that returns to `behind`. Returns
 * false if memory runs out. */
static bool flow_add_frame(struct flow *flow, uint32_t behind)
{
    const struct flow_frame frame = {behind, as_u32(flow->slots.count)};
    _asserted_ const size_t known = flow->frames.count;
    assert(known == 0 || flow->frames.data[known - 1].behind < behind);
    if (flow->slots.count >= FRAME_WORDS * (flow->end - flow->start)) /* memory is bounded */
        return true;
    if (!vector_grow(&flow->slots, flow->slot_count + flow->machine->argument_count) ||
        !vector_push(&flow->frames, frame))
        return false;
    for (uint32_t i = 0; i < flow->slot_count; i++)
        flow->slots.data[flow->slots.count++] = flow->state.data[INSTRUCTION_REGISTERS + i];
    for (unsigned i = 0; i < flow->machine->argument_count; i++)
        flow->slots.data[flow->slots.count++] = flow_argument(flow, i);
    return true;
}

/* Handles a call: its arguments are evidence, an atomic store is one, and the frame at the return
 * address is noted if frames are wanted; then it overwrites the registers, and sets the results. A
 * write barrier is called like a function, but keeps the registers. Returns false if memory runs
 * out or the values are too many. */
static bool flow_call(struct flow *flow, uint32_t index)
{
    const struct instruction *one = &flow->code.data[index];
    const uint64_t callee = callee_of(flow, one);
    if (callee != UINT64_MAX && flow->rules[callee] == CALLEE_KEEPS_REGISTERS) {
        flow->state.data[flow->machine->barrier] = UNKNOWN; /* the buffer of a write barrier */
        return true;
    }
    if (callee != UINT64_MAX && !look_at_arguments(flow, callee))
        return false;
    const bool is_store = callee != UINT64_MAX && (flow->rules[callee] == CALLEE_STORE ||
                                                   flow->rules[callee] == CALLEE_STORE_IF);
    if (is_store && !add_atomic_store(flow, index, callee))
        return false;
    if (flow->wants_frames && !flow_add_frame(flow, flow->offsets.data[index] + one->size))
        return false;
    const struct callee_rule *rule =
        callee != UINT64_MAX ? callees_rule(flow->rules[callee]) : NULL;
    const uint32_t type = rule ? flow_argument(flow, rule->type) : UNKNOWN;
    flow->floats = rule ? FLOATS_NONE : FLOATS_MAY_BE; /* it may return one */
    return set_results(flow, callee,
                       flow_is_type(flow, type) ? flow_value_at(flow, type)->number : 0);
}

/* ---- type assertions ---- */

/* Returns whether a value is the word after another one, in memory, or among results or arguments.
 * Values from other places have no next word, nor have those of elements of an array: of which
 * element each is, is not known. */
static bool is_next_word(const struct flow *flow, uint32_t value, uint32_t before)
{
    const struct flow_value *one = flow_value_at(flow, value);
    const struct flow_value *other = flow_value_at(flow, before);
    if (value == UNKNOWN || one->origin != other->origin || one->base != other->base)
        return false;
    return one->origin == FLOW_RESULT || one->origin == FLOW_ARGUMENT
               ? one->number == other->number + 1
               : (one->origin == FLOW_WORD ||
                  (one->origin == FLOW_FIELD && one->other == 0 && other->other == 0)) &&
                     one->number == other->number + WORD;
}

/* Takes account of a type assertion that has succeeded. On a path where the first word of an
 * interface is known to be the address of a type, makes the second word a new value, of that type,
 * wherever state, the one of that path, has it. Returns false if memory runs out or there are too
 * many values. */
static bool assert_type(struct flow *flow, const struct instruction *compare, uint32_t *state)
{
    uint32_t type = flow->state.data[compare->from];
    uint32_t word = flow->state.data[compare->to];
    uint32_t asserted = UNKNOWN;
    if (flow_is_type(flow, word)) { /* it is compared the other way round */
        const uint32_t from = type;
        type = word;
        word = from;
    }
    if (!flow_is_type(flow, type) || word == UNKNOWN)
        return true;
    for (uint32_t i = 0; i < flow->width; i++) {
        if (!is_next_word(flow, state[i], word))
            continue;
        if (asserted == UNKNOWN &&
            (!flow_add_value(flow, FLOW_ASSERTED, state[i], 0, &asserted) ||
             !add_fact(flow, asserted, FLOW_IS_DATA, flow_value_at(flow, type)->number)))
            return false;
        state[i] = asserted;
    }
    return true;
}

/* Follows a conditional branch. After a comparison of an interface's first word with a type, the
 * path where both are equal knows the type. The fall-through path keeps the state. Returns false if
 * memory runs out or the values are too many. */
static bool flow_branch(struct flow *flow, uint32_t index)
{
    const struct instruction *one = &flow->code.data[index];
    const struct instruction *before = index > 0 ? one - 1 : NULL;
    const bool asserts = before && before->kind == INSTRUCTION_COMPARE;
    const uint32_t target = flow_target_of(flow, one);
    if (asserts && one->is_if_equal && target != NONE) {
        /* Modifies a copy of the state for the path that is taken. next_write is not needed any
         * more after find_kills(), so it has the copy. */
        if (!vector_grow(&flow->next_write, flow->width))
            return false;
        uint32_t *state = flow->next_write.data;
        memcpy(state, flow->state.data, flow->width * sizeof(*state));
        return assert_type(flow, before, state) && lead_to(flow, index, target, state);
    }
    if (!lead_to(flow, index, target, flow->state.data))
        return false;
    return !asserts || !one->is_if_not_equal || assert_type(flow, before, flow->state.data);
}

/* Follows a jump, within the function or to another one: a tail call has arguments like a call.
 * Returns false if memory runs out or the values are too many. */
static bool flow_jump(struct flow *flow, uint32_t index)
{
    const struct instruction *one = &flow->code.data[index];
    const uint32_t target = flow_target_of(flow, one);
    if (target != NONE)
        return lead_to(flow, index, target, flow->state.data);
    const uint64_t callee = callee_of(flow, one); /* a tail call */
    return callee == UINT64_MAX || look_at_arguments(flow, callee);
}

/* ---- the function ---- */

/* Changes the state as an instruction does, and records what it shows. The registers that a move or
 * a zero writes besides its target become UNKNOWN. At the function's end, the register of the first
 * argument has its first result, since Go uses the same registers for both: it is added to
 * flow->returned, if it is known. Returns false if memory runs out or the values are too many. */
static bool flow_execute(struct flow *flow, uint32_t index)
{
    const struct instruction *one = &flow->code.data[index];
    switch (one->kind) {
    case INSTRUCTION_LOAD:
        return flow_load(flow, index);
    case INSTRUCTION_STORE:
        return flow_store(flow, index);
    case INSTRUCTION_ADDRESS:
    case INSTRUCTION_LEA:
        return load_address(flow, index);
    case INSTRUCTION_MOVE: {
        const uint32_t value = flow->state.data[one->from];
        set_registers(flow->state.data, one->written_registers, UNKNOWN);
        flow->state.data[one->to] = value;
        return true;
    }
    case INSTRUCTION_ZERO:
        set_registers(flow->state.data, one->written_registers, UNKNOWN);
        return flow_add_value(flow, FLOW_ZERO, 0, 0, &flow->state.data[one->to]);
    case INSTRUCTION_BOUND:
        return flow_bound(flow, index);
    case INSTRUCTION_CALL:
        return flow_call(flow, index);
    case INSTRUCTION_BRANCH:
        return flow_branch(flow, index);
    case INSTRUCTION_JUMP:
        return flow_jump(flow, index);
    case INSTRUCTION_END: {
        const uint32_t value = flow_argument(flow, 0);
        return value == UNKNOWN || vector_push(&flow->returned, value);
    }
    case INSTRUCTION_COMPARE:
    case INSTRUCTION_NOTHING:
        return true;
    case INSTRUCTION_MULTIPLY:
    case INSTRUCTION_SUBTRACT:
    case INSTRUCTION_OTHER:
        break;
    }
    return flow_other(flow, index);
}

/* Sets the state at the function's start: its arguments, which are the first values, behind one for
 * what is unknown and one for products; the closure register; and the facts that a method's first
 * argument is its receiver. The values are added only the first time. Returns false if memory runs
 * out or there are too many values. */
static bool flow_begin(struct flow *flow)
{
    const struct machine *machine = flow->machine;
    const bool is_first = flow->values.count == 0;
    uint32_t value = PRODUCT;
    flow->state.count = 0;
    if (!vector_grow(&flow->state, flow->width) ||
        (is_first && (!flow_add_value(flow, FLOW_UNKNOWN, 0, 0, &value) ||
                      !flow_add_value(flow, FLOW_PRODUCT, 0, 0, &value))))
        return false;
    memset(flow->state.data, 0, flow->width * sizeof(*flow->state.data));
    for (unsigned i = 0; i < machine->argument_count; i++) {
        value++;
        if (is_first && !flow_add_value(flow, FLOW_ARGUMENT, 0, i, &value))
            return false;
        flow->state.data[machine->arguments[i]] = value;
    }
    value++;
    if (is_first && !flow_add_value(flow, FLOW_CLOSURE, 0, 0, &value))
        return false;
    flow->state.data[machine->closure] = value;
    return add_fact(flow, value, FLOW_IS_CLOSURE, flow->start) &&
           (!flow_is_method(flow, flow->function) ||
            add_fact(flow, flow_argument(flow, 0), FLOW_IS_RECEIVER, flow->function));
}

/* Returns the first of a value's facts that is a fact about another value, too; NONE: there is
 * none. Of the result of one call, which a loop joins with itself, one may have more facts: those
 * of the loop's body. */
static uint32_t fact_of_both(const struct flow *flow, uint32_t a, uint32_t b)
{
    const struct flow_fact *facts = flow->facts.data;
    for (uint32_t i = flow_value_at(flow, a)->first_fact; i != NONE; i = facts[i].next)
        for (uint32_t j = flow_value_at(flow, b)->first_fact; j != NONE; j = facts[j].next)
            if (is_same_fact(&facts[i], &facts[j]))
                return i;
    return NONE;
}

/* Returns the fact about a value, that it points to a value of a type; or NONE. */
static uint32_t fact_of_pointer(const struct flow *flow, uint32_t value)
{
    const uint32_t fact = flow_value_at(flow, value)->first_fact;
    return fact != NONE && flow->facts.data[fact].kind == FLOW_POINTS_TO ? fact : NONE;
}

/* Returns a fact about what a value points to, as fact_of_pointer() does; if it is one of two
 * values, depending on the path, the fact of the first of these that has one, and so on through
 * MOST joins. NONE: there is none. */
static uint32_t fact_of_joined(const struct flow *flow, uint32_t value)
{
    enum { MOST = 8 };
    uint32_t fact = fact_of_pointer(flow, value);
    for (unsigned i = 0;
         i < MOST && fact == NONE && flow_value_at(flow, value)->origin == FLOW_JOIN; i++) {
        const struct flow_value *one = flow_value_at(flow, value);
        fact = fact_of_pointer(flow, one->base);
        if (fact == NONE)
            fact = fact_of_pointer(flow, one->other);
        value = one->base;
    }
    return fact;
}

/* Adds what is known of one of the two values that a joined value may be to the joined one, if
 * nothing is known of the other: node = node.next, or a new one. A variable that has one of two
 * values has one type; but only if the code uses the memory that it points to (reach) is it no
 * interface's data word. Returns false if memory runs out. */
static bool spread_to_other(struct flow *flow, uint32_t value)
{
    const struct flow_value *one = flow_value_at(flow, value);
    const uint32_t base = fact_of_joined(flow, one->base);
    const uint32_t other = fact_of_joined(flow, one->other);
    /* Nothing to do, either, if both have facts: if these agree, spread_facts() has added them. */
    if (one->reach == 0 || one->other == 0 || (base == NONE) == (other == NONE))
        return true;
    return add_fact_of(flow, value, flow->facts.data[base != NONE ? base : other]);
}

/* Propagates facts: if the values that join agree, their facts are facts about the result; and
 * since a word of the program has one type, facts about the result hold for the values as well.
 * Returns false if memory runs out or there are too many values. */
static bool spread_facts(struct flow *flow)
{
    for (uint32_t i = 1; i < flow->values.count; i++) {
        const struct flow_value value = flow->values.data[i];
        if (value.origin == FLOW_JOIN && value.first_fact == NONE && value.other != 0) {
            const uint32_t both = fact_of_both(flow, value.base, value.other);
            if (both != NONE && !add_fact_of(flow, i, flow->facts.data[both]))
                return false;
        }
        if (value.origin == FLOW_JOIN && value.first_fact == NONE && !spread_to_other(flow, i))
            return false;
    }
    /* Backwards: a joined value mostly comes after those that join, so facts go on through many. */
    for (uint32_t i = as_u32(flow->values.count); i-- > 1;) {
        const struct flow_value value = flow->values.data[i];
        for (uint32_t j = value.first_fact; value.origin == FLOW_JOIN && j != NONE;) {
            const struct flow_fact fact = flow->facts.data[j];
            if (!add_fact_of(flow, value.base, fact) || !add_fact_of(flow, value.other, fact))
                return false;
            j = fact.next;
        }
        if (value.origin == FLOW_JOIN && value.base != 0) {
            struct flow_value *base = flow_value_at(flow, value.base);
            base->reach = MAX(value.reach, base->reach);
            base->pool = base->pool != 0 ? base->pool : value.pool;
        }
    }
    return true;
}

/* Clears slots whose address the program takes: other code may write to them. */
static void forget_taken(struct flow *flow)
{
    VECTOR_EACH(const struct flow_frame, frame, flow->frames)
        for (uint32_t j = 0; j < flow->slot_count; j++)
            if (flow->is_taken.data[j])
                flow->slots.data[frame->first_slot + j] = UNKNOWN;
}

/* Interprets the function's code once, from start to end. flow_follow() calls it a second time
 * (is_again) if only jumps from later code lead somewhere: then the states there are known. Code
 * that no path is known to lead to is interpreted, too, with unknown values; only the fillers after
 * a jump are skipped. Returns false if memory runs out or the values are too many. */
static bool flow_go_through(struct flow *flow)
{
    bool falls_through = true; /* the instruction before goes on with this one */
    flow->uses.count = flow->passes.count = flow->frames.count = flow->slots.count = 0;
    flow->returned.count = flow->loops.count = 0;
    flow->is_nowhere = false;
    flow->kill_count = flow->kills.count;
    flow->floats = FLOATS_OF_CALLER;
    if (!flow_begin(flow))
        return false;
    for (uint32_t i = 0; i < flow->code.count; i++) {
        const struct instruction *one = &flow->code.data[i];
        const bool is_target = flow->entries.data[i] != 0 || flow->heads.data[i] != 0;
        if (one->kind == INSTRUCTION_NOTHING && !falls_through && !is_target)
            continue; /* it fills the gap before the target of a jump */
        if ((!falls_through || is_target) && !flow_enter(flow, i, falls_through))
            return false;
        if (!falls_through || one->sets_float)
            flow->floats = FLOATS_MAY_BE;
        if (!flow_execute(flow, i))
            return false;
        falls_through = one->kind != INSTRUCTION_JUMP && one->kind != INSTRUCTION_END;
    }
    return true;
}

/* Returns whether a value is an argument whose type does not change while the function runs. */
static bool flow_is_fixed_argument(const struct flow *flow, uint32_t value)
{
    const struct flow_value *of = flow_value_at(flow, value);
    /* The data word of an interface changes its type with the interface's first word. */
    return of->origin == FLOW_ARGUMENT &&
           (of->number == 0 || !flow_is_pair(flow, flow->function, (unsigned)(of->number - 1)));
}

/* Keeps the homes of arguments whose address is taken: of the others it is known what they have. */
static void keep_homes(struct flow *flow)
{
    for (uint32_t i = 0; i < flow->slot_count; i++) {
        uint32_t *home = &flow->homes.data[i];
        if (*home == NONE || !flow->is_taken.data[i] || !flow_is_fixed_argument(flow, *home))
            *home = UNKNOWN;
    }
}

/* Makes a second pass if there are instructions that only jumps from later code lead to: now their
 * states are known. Returns false if memory runs out or there are too many values. */
static bool flow_follow(struct flow *flow)
{
    flow->blocks.count = flow->free_blocks.count = 0;
    flow->has_late = flow->is_again = false;
    if (!flow_go_through(flow))
        return false;
    flow->is_again = flow->has_late;
    if (flow->is_again && !flow_go_through(flow))
        return false;
    forget_taken(flow);
    keep_homes(flow);
    return spread_facts(flow);
}

/* Reads one function. The steps: decode, find loops and what they write, interpret. If there are
 * too many values, the function has no results. */
struct g2h_error *flow_read(struct flow *flow, uint64_t function, bool wants_frames)
{
    flow_clear(flow);
    if (!flow_can_read(flow))
        return NULL;
    flow->function = function;
    flow->wants_frames = wants_frames;
    flow->start = flow->text + pclntab_entry(flow->pclntab, function);
    flow->end = flow->text + pclntab_entry(flow->pclntab, function + 1);
    const uint64_t size = flow->end - flow->start;
    if (flow->end <= flow->start || size > LARGEST || size > flow->left)
        return NULL;
    flow->left -= size;
    TRY(read_code(flow));
    if (flow->code.count == 0)
        return NULL;
    TRY(find_jumps(flow));
    TRY(find_kills(flow));
    flow->most_values = VALUES * flow->code.count + VALUES_MORE;
    const bool good = flow_follow(flow);
    TRY_MEMORY(good || flow->is_too_large);
    if (!good)
        flow_clear(flow);
    return NULL;
}

/* Returns the values of the frame's slots at the call that returns to this offset, or NULL if it is
 * not known. */
const uint32_t *flow_frame_at(const struct flow *flow, uint64_t behind)
{
    size_t low = 0;
    size_t high = flow->frames.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (flow->frames.data[middle].behind < behind)
            low = middle + 1;
        else
            high = middle;
    }
    return low < flow->frames.count && flow->frames.data[low].behind == behind
               ? flow->slots.data + flow->frames.data[low].first_slot
               : NULL;
}
