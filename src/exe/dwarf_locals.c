/*
 * What lies in a frame: the variables of the function that holds a pc, of its blocks and of the
 * functions inlined there.
 *
 * Only places relative to the CFA are of use: a dump has the contents of frames, but no registers.
 */
#include "exe/dwarf.h"

#include <string.h>

#define DEPTH  100 /* blocks and inlined functions in each other */
#define PIECES 256 /* of a variable: Go cuts up small values only */

/* What one frame may cost, in steps for each byte of .debug_info: the largest take a hundredth. */
#define STEPS_OF_FRAME 2

struct frame {
    struct dwarf *dwarf;
    struct types *types;
    uint64_t pc;
    bool is_cfa; /* whether DW_OP_fbreg is relative to the CFA */
    dwarf_local_vector *locals;
    dwarf_piece_vector *pieces;
};

/* ---- places ---- */

/* A place that an expression comes to, as far as it has been read. */
struct place {
    enum { NOWHERE, AT_CFA, ELSEWHERE } is;
    int64_t offset;
    bool has_constant; /* one on the stack, to be added */
    int64_t constant;
};

static void apply(const struct frame *frame, struct place *place,
                  const struct die_operation *operation)
{
    if (place->is == ELSEWHERE)
        return;
    const int64_t number = (int64_t)operation->number;
    switch (operation->atom) {
    case DW_OP_fbreg:
    case DW_OP_call_frame_cfa:
        if (place->is == NOWHERE && (frame->is_cfa || operation->atom == DW_OP_call_frame_cfa)) {
            place->is = AT_CFA;
            place->offset = operation->atom == DW_OP_fbreg ? number : 0;
            return;
        }
        break;
    case DW_OP_const1s:
    case DW_OP_const2s:
    case DW_OP_const4s:
    case DW_OP_const8s:
    case DW_OP_consts:
    case DW_OP_const1u:
    case DW_OP_const2u:
    case DW_OP_const4u:
    case DW_OP_const8u:
    case DW_OP_constu:
        if (place->is == AT_CFA && !place->has_constant) {
            place->has_constant = true;
            place->constant = number;
            return;
        }
        break;
    case DW_OP_plus:
        if (place->has_constant &&
            !__builtin_add_overflow(place->offset, place->constant, &place->offset)) {
            place->has_constant = false;
            return;
        }
        break;
    case DW_OP_plus_uconst:
        if (place->is == AT_CFA && !place->has_constant &&
            !__builtin_add_overflow(place->offset, number, &place->offset))
            return;
        break;
    default:
        break;
    }
    place->is = ELSEWHERE;
}

/* Where operations come to; what is left on the stack is no place. */
static struct place place_of(const struct frame *frame, const struct die_operation *operations,
                             size_t count)
{
    struct place place = {.is = NOWHERE};
    for (size_t i = 0; i < count; i++)
        apply(frame, &place, &operations[i]);
    if (place.has_constant)
        place.is = ELSEWHERE;
    return place;
}

/* How many operations the piece that begins here has, its DW_OP_piece included; 0: it has none. */
static size_t piece_length(const struct die_operation *operations, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (operations[i].atom == DW_OP_piece)
            return i + 1;
    return 0;
}

static bool is_repeated(const struct die_operation *piece, size_t length,
                        const struct die_operation *left, size_t count)
{
    for (size_t i = 0; i < length; i++)
        if (i >= count || piece[i].atom != left[i].atom || piece[i].number != left[i].number)
            return false;
    return true;
}

/* By how much pieces are larger than their variable together. */
static uint64_t find_excess(const struct die_operation *operations, size_t count, uint64_t size)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        if (operations[i].atom == DW_OP_bit_piece ||
            (operations[i].atom == DW_OP_piece &&
             __builtin_add_overflow(sum, operations[i].number, &sum)))
            return UINT64_MAX;
    return sum > size ? sum - size : 0;
}

/* The pieces of a variable that are in the frame. False where there is no memory. */
static bool read_pieces(struct frame *frame, const struct die_operation *operations, size_t count,
                        uint64_t size)
{
    const size_t first = frame->pieces->count;
    uint64_t excess = find_excess(operations, count, size), offset = 0;
    size_t length = piece_length(operations, count);
    if (length == 0) {
        const struct place place = place_of(frame, operations, count);
        const struct dwarf_piece whole = {.size = size, .place = place.offset};
        return place.is != AT_CFA || size == 0 || vector_push(frame->pieces, whole);
    }
    for (; length > 0; length = piece_length(operations, count)) {
        const struct place place = place_of(frame, operations, length - 1);
        const struct dwarf_piece piece = {
            .offset = offset, .size = operations[length - 1].number, .place = place.offset};
        const struct die_operation *const this = operations;
        operations += length;
        count -= length;
        /* Go 1.19 has a slice's pointer twice. */
        if (piece.size <= excess && is_repeated(this, length, operations, count)) {
            excess -= piece.size;
            continue;
        }
        offset += piece.size;
        if (place.is == AT_CFA && piece.size > 0 && frame->pieces->count < first + PIECES &&
            !vector_push(frame->pieces, piece))
            return false;
    }
    if (excess > 0)
        frame->pieces->count = first;
    return true;
}

/* ---- variables ---- */

/* Adds the pieces that are in the frame at a pc; *ret is how many bytes they have. */
static bool read_location(struct frame *frame, const struct die *die, uint64_t pc, uint64_t size,
                          uint64_t *ret)
{
    *ret = 0;
    if (!die_location(&frame->dwarf->dies, die, pc, &frame->dwarf->operations))
        return false;
    const struct die_operation *operations = frame->dwarf->operations.data;
    const size_t count = frame->dwarf->operations.count;
    const size_t first = frame->pieces->count;
    if (!read_pieces(frame, operations, count, size))
        return false;
    for (size_t i = first; i < frame->pieces->count; i++)
        *ret += frame->pieces->data[i].size;
    return true;
}

/*
 * Up to a call Go names the register that a variable was in, though it has been saved: no register
 * lives longer than a call. Where it is known to be when the call has returned, it is during the
 * call. The other way round, what is not used any more has no place after the call.
 */
static bool read_locations(struct frame *frame, const struct die *die, uint64_t size)
{
    dwarf_piece_vector *pieces = frame->pieces;
    const size_t first = pieces->count;
    uint64_t before, after;
    if (!read_location(frame, die, frame->pc, size, &before))
        return false;
    const size_t middle = pieces->count;
    if (before == size)
        return true;
    if (!read_location(frame, die, frame->pc + 1, size, &after))
        return false;
    if (after <= before)
        pieces->count = middle;
    else if (middle > first) {
        memmove(pieces->data + first, pieces->data + middle,
                (pieces->count - middle) * sizeof(*pieces->data));
        pieces->count -= middle - first;
    }
    return true;
}

static bool read_variable(struct frame *frame, const struct die *die, uint32_t function)
{
    struct dwarf *dwarf = frame->dwarf;
    struct dwarf_local local = {
        .function = function,
        .is_parameter = die_tag(die) == DW_TAG_formal_parameter,
        .first_piece = (uint32_t)frame->pieces->count,
    };
    struct die_attribute attribute;
    if (!die_own(&dwarf->dies, die, DW_AT_location, &attribute))
        return true;
    if (!dwarf_type(dwarf, frame->types, die, DW_AT_type, &local.type))
        return false;
    const uint64_t size = local.type == TYPE_NONE ? 0 : frame->types->list.data[local.type].size;
    if (!read_locations(frame, die, size))
        return false;
    local.piece_count = (uint32_t)(frame->pieces->count - local.first_piece);
    if (local.piece_count == 0)
        return true;
    const struct g2h_bytes name = die_name(&dwarf->dies, die);
    local.is_made =
        name.size > 0 && (name.data[0] == '~' || memchr(name.data, '.', (size_t)name.size) != NULL);
    return dwarf_intern(dwarf, frame->types, name, &local.name) &&
           vector_push(frame->locals, local);
}

/* Whether one of an entry's ranges has the pc. */
static bool has_pc(const struct frame *frame, const struct die *die)
{
    struct die_ranges ranges = {.is_begun = false};
    uint64_t low, high;
    while (die_range(&frame->dwarf->dies, die, &ranges, &low, &high))
        if (frame->pc >= low && frame->pc < high)
            return true;
    return false;
}

static bool read_block(struct frame *frame, const struct die *block, uint32_t function,
                       unsigned depth)
{
    struct dies *dies = &frame->dwarf->dies;
    struct die die;
    if (depth == DEPTH || !die_child(dies, block, &die))
        return true;
    do {
        uint32_t inlined = function;
        switch (die_tag(&die)) {
        case DW_TAG_variable:
        case DW_TAG_formal_parameter:
            if (!read_variable(frame, &die, function))
                return false;
            break;
        case DW_TAG_inlined_subroutine:
        case DW_TAG_lexical_block:
            if (!has_pc(frame, &die))
                break;
            if (die_tag(&die) == DW_TAG_inlined_subroutine &&
                !dwarf_intern(frame->dwarf, frame->types, die_name(dies, &die), &inlined))
                return false;
            if (!read_block(frame, &die, inlined, depth + 1))
                return false;
            break;
        default:
            break;
        }
    } while (die_next(dies, &die));
    return true;
}

static const struct dwarf_function *find_function(const struct dwarf *dwarf, uint64_t pc)
{
    size_t from = 0, to = dwarf->functions.count;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (dwarf->functions.data[middle].low <= pc)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == 0 || pc >= dwarf->functions.data[from - 1].high)
        return NULL;
    return &dwarf->functions.data[from - 1];
}

static bool is_frame_base_cfa(struct dies *dies, const struct die *function)
{
    struct die_operation operation;
    return die_operation(dies, function, DW_AT_frame_base, &operation) &&
           operation.atom == DW_OP_call_frame_cfa;
}

struct g2h_error *dwarf_info_locals(struct dwarf_info *debug, struct types *types, uint64_t pc,
                                    dwarf_local_vector *ret, dwarf_piece_vector *ret_pieces)
{
    struct dwarf *dwarf = debug->dwarf;
    const struct dwarf_function *function = dwarf ? find_function(dwarf, pc) : NULL;
    struct die die;
    if (!function)
        return NULL;
    /* A dump may have any number of places in one large function. */
    const uint64_t most = dwarf->dies.info.size * STEPS_OF_FRAME;
    const uint64_t steps = dwarf->dies.steps_left =
        most < dwarf->locals_left ? most : dwarf->locals_left;
    if (!die_at(&dwarf->dies, function->die, &die))
        return NULL;
    struct frame frame = {.dwarf = dwarf,
                          .types = types,
                          .pc = pc,
                          .is_cfa = is_frame_base_cfa(&dwarf->dies, &die),
                          .locals = ret,
                          .pieces = ret_pieces};
    const size_t first = ret->count;
    if (!read_block(&frame, &die, UINT32_MAX, 0) || !dwarf_types_complete(dwarf, types))
        return &error_no_memory;
    dwarf->locals_left -= steps - dwarf->dies.steps_left;
    /* The size of an array of C was not known before. */
    for (size_t i = first; i < ret->count; i++) {
        struct dwarf_piece *piece = &ret_pieces->data[ret->data[i].first_piece];
        if (ret->data[i].piece_count == 1 && piece->size == UINT64_MAX)
            piece->size = types->list.data[ret->data[i].type].size;
    }
    return NULL;
}
