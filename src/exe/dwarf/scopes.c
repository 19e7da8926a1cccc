/*
 * scopes: which variables a function has in memory at a program counter, and where; see scopes.h. A
 * location is an expression of DWARF that is evaluated here only as far as sums of constants and
 * the frame's address (CFA); a variable in registers has none. A variable may consist of pieces,
 * some of which are in memory. All program counters are known beforehand, so the variables of all
 * are read at once.
 */
#include "exe/dwarf/scopes.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/memory.h"

/* ==== the variables that a frame has in memory ====
 *
 * Only locations relative to the CFA are used: callers have the contents of frames, but no
 * registers.
 */

enum {
    DEPTH_MOST = 100,  /* nesting of blocks and inlined functions */
    PIECES_MOST = 256, /* pieces of a variable: Go splits small values only */
    WORK_OF_FRAME = 2, /* work that one frame may cost, for each byte of .debug_info: the largest
                           frames of real programs take a hundredth of that */
};

struct frame_reading {
    struct dwarf_reader *reader;
    struct types *types;
    uint64_t pc;
    bool is_cfa;      /* whether DW_OP_fbreg is relative to the CFA */
    uint32_t inlined; /* string: the innermost function that is inlined at pc; UINT32_MAX: none */
    dwarf_local_vector *locals;
    dwarf_piece_vector *pieces;
};

/* ---- locations ---- */

/* The stack of an expression being evaluated. Evaluation follows only operations that may yield an
 * address relative to the CFA. */
struct location {
    enum { STACK_EMPTY, AT_CFA, ELSEWHERE } is;
    int64_t offset;    /* from the CFA */
    bool has_constant; /* a constant, which is to be added, is on top of the address */
    int64_t constant;
};

/* Applies an operation of a DWARF expression to the location. Only sums of the frame's address
 * (CFA) and constants are supported, which is what Go's compiler writes for variables in memory;
 * all else leads ELSEWHERE. */
static void apply_operation(const struct frame_reading *frame, struct location *location,
                            const struct die_operation *operation)
{
    if (location->is == ELSEWHERE)
        return;
    const int64_t number = (int64_t)operation->number;
    switch (operation->atom) {
    case DW_OP_fbreg:
    case DW_OP_call_frame_cfa:
        if (location->is == STACK_EMPTY &&
            (frame->is_cfa || operation->atom == DW_OP_call_frame_cfa)) {
            location->is = AT_CFA;
            location->offset = operation->atom == DW_OP_fbreg ? number : 0;
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
        if (location->is == AT_CFA && !location->has_constant) {
            location->has_constant = true;
            location->constant = number;
            return;
        }
        break;
    case DW_OP_plus:
        if (location->has_constant &&
            !__builtin_add_overflow(location->offset, location->constant, &location->offset)) {
            location->has_constant = false;
            return;
        }
        break;
    case DW_OP_plus_uconst:
        if (location->is == AT_CFA && !location->has_constant &&
            !__builtin_add_overflow(location->offset, number, &location->offset))
            return;
        break;
    default:
        break;
    }
    location->is = ELSEWHERE;
}

/* Returns the location of an expression; it is ELSEWHERE, too, if a constant is left over that no
 * operation has used. */
static struct location evaluate_location(const struct frame_reading *frame,
                                         const struct die_operation *operations, size_t count)
{
    struct location location = {.is = STACK_EMPTY};
    for (size_t i = 0; i < count; i++)
        apply_operation(frame, &location, &operations[i]);
    if (location.has_constant)
        location.is = ELSEWHERE;
    return location;
}

/* Returns the number of operations of the piece that begins here, including its DW_OP_piece, or 0
 * if no piece begins. */
static size_t piece_length(const struct die_operation *operations, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (operations[i].atom == DW_OP_piece)
            return i + 1;
    return 0;
}

/* Returns whether the operations that are left begin with the same piece again. */
static bool is_piece_repeated(const struct die_operation *piece, size_t length,
                              const struct die_operation *left, size_t count)
{
    for (size_t i = 0; i < length; i++)
        if (i >= count || piece[i].atom != left[i].atom || piece[i].number != left[i].number)
            return false;
    return true;
}

/* Returns by how many bytes all pieces together exceed their variable, or UINT64_MAX if that is
 * unknown. */
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

/* Adds the pieces of a variable that are in the frame: of a string, for example, the pointer may be
 * there and the length in a register. Returns false if memory runs out. */
static bool read_pieces(struct frame_reading *frame, const struct die_operation *operations,
                        size_t count, uint64_t size)
{
    const size_t first = frame->pieces->count;
    uint64_t excess = find_excess(operations, count, size);
    uint64_t offset = 0;
    size_t length = piece_length(operations, count);
    if (length == 0) {
        const struct location location = evaluate_location(frame, operations, count);
        const struct dwarf_piece whole = {.size = size, .cfa_offset = location.offset};
        return location.is != AT_CFA || size == 0 || vector_push(frame->pieces, whole);
    }
    for (; length > 0; length = piece_length(operations, count)) {
        const struct location location = evaluate_location(frame, operations, length - 1);
        const struct dwarf_piece piece = {
            .offset = offset, .size = operations[length - 1].number, .cfa_offset = location.offset};
        const struct die_operation *const this = operations;
        operations += length;
        count -= length;
        /* Go 1.19 writes a slice's pointer twice. */
        if (piece.size <= excess && is_piece_repeated(this, length, operations, count)) {
            excess -= piece.size;
            continue;
        }
        offset += piece.size;
        if (location.is == AT_CFA && piece.size > 0 && frame->pieces->count < first + PIECES_MOST &&
            !vector_push(frame->pieces, piece))
            return false;
    }
    if (excess > 0)
        frame->pieces->count = first;
    return true;
}

/* ---- variables ---- */

/* Adds the pieces of a variable that are in the frame at pc; *ret is the number of their bytes, 0
 * if it has no location there. Returns false if memory runs out. */
static bool read_location(struct frame_reading *frame, const struct die *die, uint64_t pc,
                          uint64_t size, uint64_t *ret)
{
    *ret = 0;
    if (!die_location(&frame->reader->dies, die, pc, &frame->reader->operations))
        return false;
    const struct die_operation *operations = frame->reader->operations.data;
    const size_t count = frame->reader->operations.count;
    const size_t first = frame->pieces->count;
    if (!read_pieces(frame, operations, count, size))
        return false;
    for (size_t i = first; i < frame->pieces->count; i++)
        *ret += frame->pieces->data[i].size;
    return true;
}

/* Adds the pieces of a variable that are in the frame during a call. For the pc within the call, Go
 * may name the variable's previous register, although the variable has been saved in the frame: no
 * register survives a call. So the location just after the call is read as well, and used if more
 * of the variable is in the frame there. A variable that is no longer used has no location there.
 * Returns false if memory runs out. */
static bool read_locations(struct frame_reading *frame, const struct die *die, uint64_t size)
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

/* Adds a variable with its name, its type and its pieces, unless none of it is in the frame.
 * function: the string that names the inlined function that it belongs to; UINT32_MAX: the frame's
 * own. Returns false if memory runs out. */
static bool read_local(struct frame_reading *frame, const struct die *die, uint32_t function)
{
    struct dwarf_reader *reader = frame->reader;
    struct dwarf_local local = {
        .function = function,
        .is_parameter = die_tag(die) == DW_TAG_formal_parameter,
        .first_piece = as_u32(frame->pieces->count),
    };
    struct die_attribute attribute;
    if (!die_own(&reader->dies, die, DW_AT_location, &attribute))
        return true;
    if (!dwarf_type(reader, frame->types, die, DW_AT_type, &local.type))
        return false;
    const uint64_t size = local.type == TYPE_NONE ? 0 : types_size(frame->types, local.type);
    if (!read_locations(frame, die, size))
        return false;
    local.piece_count = as_u32(frame->pieces->count - local.first_piece);
    if (local.piece_count == 0)
        return true;
    const struct g2h_bytes name = die_name(&reader->dies, die);
    /* Names that the compiler makes: results "~r0", temporaries ".autotmp_1", fields "x.ptr". */
    local.is_made =
        name.size > 0 && (name.data[0] == '~' || memchr(name.data, '.', name.size) != NULL);
    return dwarf_intern(reader, frame->types, name, &local.name) &&
           vector_push(frame->locals, local);
}

/* Returns whether one of an entry's ranges contains the frame's pc. */
static bool has_pc(const struct frame_reading *frame, const struct die *die)
{
    struct die_ranges ranges = {.is_begun = false};
    struct range code;
    while (die_range(&frame->reader->dies, die, &ranges, &code))
        if (frame->pc >= code.begin && frame->pc < code.end)
            return true;
    return false;
}

/* Reads the variables of a function or block at the frame's pc, and of the blocks and inlined
 * functions in it. The last inlined function that is entered is the innermost one. Returns false if
 * memory runs out. */
static bool read_block(struct frame_reading *frame, const struct die *block, uint32_t function,
                       unsigned depth)
{
    struct dies *dies = &frame->reader->dies;
    struct die die;
    if (depth == DEPTH_MOST || !die_child(dies, block, &die))
        return true;
    do {
        uint32_t inlined = function;
        switch (die_tag(&die)) {
        case DW_TAG_variable:
        case DW_TAG_formal_parameter:
            if (!read_local(frame, &die, function))
                return false;
            break;
        case DW_TAG_inlined_subroutine:
        case DW_TAG_lexical_block:
            if (!has_pc(frame, &die))
                break;
            if (die_tag(&die) == DW_TAG_inlined_subroutine &&
                !dwarf_intern(frame->reader, frame->types, die_name(dies, &die), &inlined))
                return false;
            frame->inlined = inlined;
            if (!read_block(frame, &die, inlined, depth + 1))
                return false;
            break;
        default:
            break;
        }
    } while (die_next(dies, &die));
    return true;
}

/* Returns the function whose code contains pc, or NULL. */
static const struct dwarf_function *find_function(const struct dwarf_reader *reader, uint64_t pc)
{
    size_t after;
    BISECT(after, reader->functions.count, reader->functions.data[after].low <= pc);
    return after > 0 && pc < reader->functions.data[after - 1].high
               ? &reader->functions.data[after - 1]
               : NULL;
}

/* Returns whether the function's variables have offsets from the CFA, as Go writes them. */
static bool is_frame_base_cfa(struct dies *dies, const struct die *function)
{
    struct die_operation operation;
    return die_operation(dies, function, DW_AT_frame_base, &operation) &&
           operation.atom == DW_OP_call_frame_cfa;
}

/* Reads the variables that exist at a pc: finds the function, and reads its blocks. Appends none if
 * no function has the pc. The work for one frame is limited, and that for all frames together.
 * ret_inlined may be NULL. */
struct g2h_error *dwarf_info_locals(struct dwarf_info *dwarf_info, struct types *types, uint64_t pc,
                                    dwarf_local_vector *ret, dwarf_piece_vector *ret_pieces,
                                    uint32_t *ret_inlined)
{
    struct dwarf_reader *reader = dwarf_info->reader;
    const struct dwarf_function *function = reader ? find_function(reader, pc) : NULL;
    struct die die;
    if (ret_inlined)
        *ret_inlined = UINT32_MAX;
    if (!function)
        return NULL;
    /* Any number of frames may be in one large function. */
    const uint64_t most = reader->dies.info.size * WORK_OF_FRAME;
    const uint64_t work = reader->dies.work_left = MIN(most, reader->locals_left);
    if (!die_at(&reader->dies, function->die, &die))
        return NULL;
    struct frame_reading frame = {.reader = reader,
                                  .types = types,
                                  .pc = pc,
                                  .is_cfa = is_frame_base_cfa(&reader->dies, &die),
                                  .inlined = UINT32_MAX,
                                  .locals = ret,
                                  .pieces = ret_pieces};
    const size_t first = ret->count;
    if (!read_block(&frame, &die, UINT32_MAX, 0) || !dwarf_types_complete(reader, types))
        return &error_no_memory;
    if (ret_inlined)
        *ret_inlined = frame.inlined;
    reader->locals_left -= work - reader->dies.work_left;
    /* The size of an array of C may not have been known when its pieces were read. */
    for (size_t i = first; i < ret->count; i++) {
        struct dwarf_piece *piece = &ret_pieces->data[ret->data[i].first_piece];
        if (ret->data[i].piece_count == 1 && piece->size == UINT64_MAX)
            piece->size = types_size(types, ret->data[i].type);
    }
    return NULL;
}

/* ==== at some program counters ==== */

/* The most pieces of variables that are used of a scope, since each word of a frame is looked up
 * among them, and the most variables and pieces of all scopes together. No undamaged program has as
 * many. */
enum { LOCALS_OF_SCOPE = 4096, LOCALS_MORE = 1 << 20, LOCALS_PER_FRAME = 64 };

/* Returns how many of a scope's variables, from the index first on, are used: as many as have
 * LOCALS_OF_SCOPE pieces together. */
static uint32_t usable_locals(const struct scopes *scopes, uint32_t first)
{
    uint32_t count = 0, pieces = 0;
    while (first + count < scopes->locals.count) {
        pieces += scopes->locals.data[first + count].piece_count;
        if (pieces > LOCALS_OF_SCOPE)
            break;
        count++;
    }
    return count;
}

/* Collects the variables of all frames. Many frames share a program counter, so frames->pcs has
 * each once. Once there are more variables and pieces than `most`, further program counters have
 * none. */
struct g2h_error *scopes_init(struct scopes *scopes, struct dwarf_info *dwarf_info,
                              struct types *types, const struct scopes_frames *frames,
                              uint64_t slide)
{
    const uint64_t *pcs = frames->pcs;
    const uint64_t most = LOCALS_MORE + LOCALS_PER_FRAME * frames->count;
    *scopes = (struct scopes){.by_pc = {0}};
    for (size_t i = 0; i < frames->pc_count; i++) {
        uint32_t known;
        const uint32_t number = as_u32(scopes->list.count);
        if (!map_put(&scopes->by_pc, pcs[i], number, &known))
            return &error_no_memory;
        assert(known == number);
        struct scope scope = {.first = as_u32(scopes->locals.count), .inlined = UINT32_MAX};
        if (scopes->locals.count + scopes->pieces.count <= most)
            TRY(dwarf_info_locals(dwarf_info, types, pcs[i] - slide, &scopes->locals,
                                  &scopes->pieces, &scope.inlined));
        scope.count = usable_locals(scopes, scope.first);
        if (!vector_push(&scopes->list, scope))
            return &error_no_memory;
    }
    return NULL;
}

void scopes_deinit(struct scopes *scopes)
{
    map_deinit(&scopes->by_pc);
    free(scopes->list.data);
    free(scopes->locals.data);
    free(scopes->pieces.data);
    *scopes = (struct scopes){.by_pc = {0}};
}

/* Returns the variables at a program counter, or NULL if there are none. */
const struct dwarf_local *scopes_locals(const struct scopes *scopes, uint64_t pc,
                                        uint32_t *ret_count)
{
    const uint32_t number = map_get(&scopes->by_pc, pc);
    *ret_count = number == MAP_NONE ? 0 : scopes->list.data[number].count;
    return *ret_count == 0 ? NULL : scopes->locals.data + scopes->list.data[number].first;
}

/* Returns the innermost function that is inlined at a program counter (string), or UINT32_MAX if
 * there is none. */
uint32_t scopes_inlined(const struct scopes *scopes, uint64_t pc)
{
    const uint32_t number = map_get(&scopes->by_pc, pc);
    return number == MAP_NONE ? UINT32_MAX : scopes->list.data[number].inlined;
}
