/* spills; see spills.h. */
#include "exe/spills.h"

#include <elf.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/scope.h"
#include "exe/instructions.h"

/* Instructions that may be read for each byte of the pclntab, and for one word: the use of a value
 * is near. */
enum { MOST_READ = 8, MOST_OF_WORD = 1 << 12, WORD = 8 };

/* What a register has. */
struct content {
    enum {
        UNKNOWN,
        THE_WORD, /* the word that is asked for */
        CONSTANT, /* an address in the file */
        RESULT,   /* of the last call: number is its index */
        NEW,      /* the address of a new value, whose type is at the address number */
        ASSERTED, /* the data word of an interface, whose type, or itab, is at that address */
    } is;
    uint64_t number;
};

struct state {
    struct content registers[INSTRUCTION_REGISTERS];
    uint64_t at; /* address of the next instruction */
};

struct reading {
    struct spills *spills;
    uint64_t start, end; /* addresses of the function */
    uint64_t offset;     /* of the word in the frame */
    unsigned left;       /* instructions that may be read */
    bool is_hopeless;    /* the code uses the word in a way that is not understood */
    struct map seen;     /* addresses where a path has been */
    VECTOR(struct state) paths;
};

void spills_init(struct spills *spills, const struct pclntab *pclntab,
                 const struct moduledata *moduledata)
{
    const bool is_known = pclntab->image->machine == EM_X86_64 && pclntab->record_size > 0;
    *spills = (struct spills){.pclntab = pclntab,
                              .text = is_known ? moduledata->minpc : 0,
                              .gofunc = moduledata->gofunc,
                              .left = MOST_READ * pclntab->table.size};
}

void spills_deinit(struct spills *spills)
{
    free(spills->facts.data);
}

/* ---- functions ---- */

/* Returns the function that begins at an address, or UINT64_MAX. */
static uint64_t callee_of(const struct spills *spills, const struct instruction *call)
{
    uint64_t index;
    return call->has_target && pclntab_find(spills->pclntab, call->target - spills->text, &index) &&
                   pclntab_entry(spills->pclntab, index) == call->target - spills->text
               ? index
               : UINT64_MAX;
}

/* Returns whether the types in a function's code may be what it works on, not what its values are
 * of. */
static bool handles_types(struct g2h_bytes name)
{
    return bytes_begin(name, "runtime.") || bytes_begin(name, "reflect.") ||
           bytes_begin(name, "internal/");
}

/*
 * Returns whether the argument of an index is the first of two words that are one argument: an
 * interface or a string. Go describes the arguments for the traces of stacks by bytes
 * (FUNCDATA_ArgInfo, internal/abi/symtab.go): two for each, and special ones, of which FE and FD
 * enclose the parts of an argument.
 */
static bool is_pair(const struct spills *spills, uint64_t function, unsigned index)
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
    unsigned count = 0;
    if (!pclntab_function(spills->pclntab, function, &record) ||
        record.funcdata_count <= FUNCDATA_ARG_INFO)
        return false;
    const uint32_t at = image_u32(spills->pclntab->image, record.funcdata + 4 * FUNCDATA_ARG_INFO);
    const uint8_t *bytes =
        at != UINT32_MAX ? image_at(spills->pclntab->image, spills->gofunc + at, 1) : NULL;
    for (unsigned i = 0; bytes && i < MOST; i++) {
        bytes = image_at(spills->pclntab->image, spills->gofunc + at + i, 6);
        if (!bytes || *bytes == END)
            return false;
        if (*bytes == OPEN && count == index && bytes[1] < SPECIAL && bytes[3] < SPECIAL)
            return bytes[2] == WORD && bytes[4] == WORD && bytes[5] == CLOSE;
        if (*bytes == OPEN || *bytes == CLOSE)
            continue;
        if (*bytes >= SPECIAL)
            return false;
        count++;
        i++; /* the size */
    }
    return false;
}

/* ---- facts ---- */

static struct g2h_error *add_fact(struct reading *reading, enum spill_fact_kind kind, uint64_t what)
{
    TRY_MEMORY(vector_push(&reading->spills->facts, ((struct spill_fact){kind, what})));
    return NULL;
}

static struct g2h_error *look_at_arguments(struct reading *reading, const struct state *state,
                                           uint64_t callee)
{
    struct spills *spills = reading->spills;
    const struct content *registers = state->registers;
    const struct g2h_bytes name = pclntab_name(spills->pclntab, callee);
    if (handles_types(name))
        return NULL;
    if (registers[instruction_argument(0)].is == CONSTANT &&
        registers[instruction_argument(2)].is == THE_WORD && bytes_are(name, "sync.(*Pool).Put"))
        spills->pool = registers[instruction_argument(0)].number;
    if (registers[instruction_argument(0)].is == THE_WORD && bytes_contain(name, "(*"))
        TRY(add_fact(reading, SPILL_RECEIVER, callee));
    for (unsigned i = 0; instruction_argument(i + 1) < INSTRUCTION_REGISTERS; i++) {
        const struct content *first = &registers[instruction_argument(i)];
        if (first->is == CONSTANT && registers[instruction_argument(i + 1)].is == THE_WORD &&
            is_pair(spills, callee, i))
            TRY(add_fact(reading, SPILL_INTERFACE, first->number));
    }
    return NULL;
}

/* ---- one instruction ---- */

/* Returns whether an instruction uses the word at the reading's offset as memory, in whole or in
 * part. */
static bool touches(const struct reading *reading, const struct instruction *instruction)
{
    enum { WIDEST = 64 };
    return instruction->has_memory && instruction->base == INSTRUCTION_SP &&
           instruction->displacement + WIDEST > (int64_t)reading->offset &&
           instruction->displacement < (int64_t)reading->offset + WORD;
}

static bool is_the_word(const struct reading *reading, const struct instruction *instruction)
{
    return instruction->has_memory && instruction->base == INSTRUCTION_SP &&
           !instruction->has_index && instruction->displacement == (int64_t)reading->offset;
}

static void forget(struct state *state, uint32_t registers)
{
    for (unsigned i = 0; i < INSTRUCTION_REGISTERS; i++)
        if ((registers >> i & 1) != 0)
            state->registers[i].is = UNKNOWN;
}

/* Changes what registers have by an instruction that is no call. */
static void follow(struct reading *reading, struct state *state,
                   const struct instruction *instruction)
{
    struct content *registers = state->registers;
    const uint64_t reach = (uint64_t)instruction->displacement + 1;
    if (instruction->has_memory && !instruction->has_index && instruction->displacement >= 0 &&
        registers[instruction->base].is == THE_WORD && reach > reading->spills->reach)
        reading->spills->reach = reach;
    const struct content from = registers[instruction->from];
    forget(state, instruction->writes);
    if (instruction->kind == INSTRUCTION_MOVE)
        registers[instruction->to] = from;
    else if (instruction->kind == INSTRUCTION_ADDRESS)
        registers[instruction->to] = (struct content){CONSTANT, instruction->target};
    else if (instruction->kind == INSTRUCTION_LOAD && is_the_word(reading, instruction))
        registers[instruction->to] = (struct content){THE_WORD, 0};
}

/* Changes what registers have by a call: its results are in the registers of arguments. */
static void follow_call(const struct spills *spills, struct state *state, uint64_t callee)
{
    const struct content first = state->registers[instruction_argument(0)];
    const bool is_new = callee != UINT64_MAX && first.is == CONSTANT &&
                        bytes_are(pclntab_name(spills->pclntab, callee), "runtime.newobject");
    forget(state, UINT32_MAX);
    for (unsigned i = 0; i < 2; i++)
        state->registers[instruction_argument(i)] = (struct content){RESULT, i};
    if (is_new)
        state->registers[instruction_argument(0)] = (struct content){NEW, first.number};
}

static bool next(struct reading *reading, uint64_t address, struct instruction *ret)
{
    const struct image *image = reading->spills->pclntab->image;
    if (reading->left == 0 || reading->spills->left == 0 || address < reading->start ||
        address >= reading->end)
        return false;
    reading->left--;
    reading->spills->left--;
    const struct g2h_bytes code = {image_at(image, address, reading->end - address),
                                   reading->end - address};
    return code.data && instruction_read(code, address, ret);
}

/* ---- behind the call ---- */

static bool is_constant(const struct state *state, const struct instruction *instruction)
{
    return state->registers[instruction->to].is == CONSTANT ||
           state->registers[instruction->from].is == CONSTANT;
}

/* Adds a path that begins with the state at an address. */
static struct g2h_error *add_path(struct reading *reading, const struct state *state,
                                  uint64_t address)
{
    struct state path = *state;
    path.at = address;
    TRY_MEMORY(vector_push(&reading->paths, path));
    return NULL;
}

/* Follows a path until the word is stored to, or the path has been followed from there. */
static struct g2h_error *follow_path(struct reading *reading, struct state state)
{
    struct instruction instruction;
    uint32_t first;
    while (!reading->is_hopeless) {
        const uint32_t place = (uint32_t)(state.at - reading->start);
        TRY_MEMORY(map_put(&reading->seen, place, 0, &first));
        if (first != 0 || !next(reading, state.at, &instruction))
            return NULL;
        map_set(&reading->seen, place, 1);
        state.at += instruction.size;
        if (instruction.kind == INSTRUCTION_STORE && is_the_word(reading, &instruction))
            return NULL;
        if (instruction.kind == INSTRUCTION_LEA && touches(reading, &instruction) &&
            is_the_word(reading, &instruction))
            reading->is_hopeless = true; /* a variable of the program, whose address is taken */
        if (instruction.kind == INSTRUCTION_COMPARE && is_constant(&state, &instruction))
            return NULL;
        switch (instruction.kind) {
        case INSTRUCTION_CALL: {
            const uint64_t callee = callee_of(reading->spills, &instruction);
            if (callee != UINT64_MAX)
                TRY(look_at_arguments(reading, &state, callee));
            follow_call(reading->spills, &state, callee);
            break;
        }
        case INSTRUCTION_BRANCH:
            TRY(add_path(reading, &state, instruction.target));
            break;
        case INSTRUCTION_JUMP:
            return instruction.has_target ? add_path(reading, &state, instruction.target) : NULL;
        case INSTRUCTION_END:
            return NULL;
        default:
            follow(reading, &state, &instruction);
        }
    }
    return NULL;
}

static struct g2h_error *look_behind(struct reading *reading, uint64_t address)
{
    TRY(add_path(reading, &(struct state){.at = 0}, address));
    while (reading->paths.count > 0)
        TRY(follow_path(reading, reading->paths.data[--reading->paths.count]));
    return NULL;
}

/* ---- before the call ---- */

/* Records where the function's jumps lead, and returns how many instructions may store to the word,
 * or UINT_MAX if that is not known. */
static struct g2h_error *find_targets(struct reading *reading, struct map *ret_targets,
                                      unsigned *ret_stores)
{
    struct instruction instruction;
    uint32_t first;
    *ret_stores = 0;
    for (uint64_t at = reading->start; at < reading->end; at += instruction.size) {
        if (!next(reading, at, &instruction)) {
            *ret_stores = UINT32_MAX;
            return NULL;
        }
        if (instruction.has_target && instruction.kind != INSTRUCTION_CALL)
            TRY_MEMORY(map_put(ret_targets, instruction.target, 1, &first));
        if (instruction.kind == INSTRUCTION_STORE
                ? is_the_word(reading, &instruction)
                : instruction.kind != INSTRUCTION_LOAD && touches(reading, &instruction))
            ++*ret_stores;
    }
    return NULL;
}

/* Changes what registers have by a branch that is taken if the comparison before it did not find
 * its operands equal: behind it the first result of a call is the address of a type, so the second
 * one is the data word of an interface. */
static void assert_type(struct state *state, const struct instruction *compare)
{
    const struct content to = state->registers[compare->to], from = state->registers[compare->from],
                         type = to.is == CONSTANT ? to : from,
                         other = to.is == CONSTANT ? from : to;
    if (type.is != CONSTANT || other.is != RESULT || other.number != 0)
        return;
    for (unsigned i = 0; i < INSTRUCTION_REGISTERS; i++)
        if (state->registers[i].is == RESULT && state->registers[i].number == 1)
            state->registers[i] = (struct content){ASSERTED, type.number};
}

/* Reads the function from its start to the store, and tells what is stored. */
static struct g2h_error *look_at_store(struct reading *reading, const struct map *targets)
{
    struct state state = {.at = reading->start};
    struct instruction instruction, compare = {.kind = INSTRUCTION_OTHER};
    while (next(reading, state.at, &instruction)) {
        if (map_get(targets, state.at) != MAP_NONE)
            forget(&state, UINT32_MAX);
        state.at += instruction.size;
        const struct content from = state.registers[instruction.from];
        if (instruction.kind == INSTRUCTION_STORE && is_the_word(reading, &instruction))
            return from.is == NEW        ? add_fact(reading, SPILL_NEW, from.number)
                   : from.is == ASSERTED ? add_fact(reading, SPILL_INTERFACE, from.number)
                                         : NULL;
        if (instruction.kind == INSTRUCTION_CALL)
            follow_call(reading->spills, &state, callee_of(reading->spills, &instruction));
        else if (instruction.kind == INSTRUCTION_BRANCH && instruction.is_if_not_equal &&
                 compare.kind == INSTRUCTION_COMPARE)
            assert_type(&state, &compare);
        else if (instruction.kind == INSTRUCTION_JUMP || instruction.kind == INSTRUCTION_END)
            forget(&state, UINT32_MAX);
        else
            follow(reading, &state, &instruction);
        compare = instruction;
    }
    return NULL;
}

static struct g2h_error *look_before(struct reading *reading)
{
    _cleanup_(map_deinit) struct map targets = {0};
    unsigned stores;
    TRY(find_targets(reading, &targets, &stores));
    return stores == 1 ? look_at_store(reading, &targets) : NULL;
}

/* ---- all of it ---- */

static void reading_deinit(struct reading *reading)
{
    map_deinit(&reading->seen);
    free(reading->paths.data);
}

struct g2h_error *spills_find(struct spills *spills, uint64_t pc, uint64_t offset)
{
    _cleanup_(reading_deinit) struct reading reading = {
        .spills = spills, .offset = offset, .left = MOST_OF_WORD};
    uint64_t index;
    spills->facts.count = 0;
    spills->reach = spills->pool = 0;
    if (spills->text == 0 || pc == 0 || !pclntab_find(spills->pclntab, pc - 1, &index) ||
        handles_types(pclntab_name(spills->pclntab, index)))
        return NULL;
    reading.start = spills->text + pclntab_entry(spills->pclntab, index);
    reading.end = spills->text + pclntab_entry(spills->pclntab, index + 1);
    TRY(look_behind(&reading, spills->text + pc));
    if (!reading.is_hopeless) {
        reading.left = 2 * MOST_OF_WORD;
        TRY(look_before(&reading));
    }
    if (reading.is_hopeless)
        spills->facts.count = spills->pool = 0;
    return NULL;
}
