/*
 * dwarf_info: global variables, functions, and the variables that closures capture; see
 * dwarf_info.h.
 *
 * It reads the children of each unit's first entry, and the children of its functions.
 */
#include "exe/dwarf/dwarf_info.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/scope.h"
#include "exe/dwarf/dwarf_reader.h"

/* The work that DWARF may cost for each byte of .debug_info. Reading sound DWARF takes 0.6, and
 * reading the variables of each function once would take about as much. */
enum { WORK = 16, WORK_OF_LOCALS = 16 };

/* A string that exceeds the limit becomes empty: damaged DWARF may refer to one long string
 * often. */
bool dwarf_intern(struct dwarf_reader *reader, struct types *types, struct g2h_bytes text,
                  uint32_t *ret)
{
    const uint32_t before = types->names.count;
    if (text.size > reader->text_left)
        text.size = 0;
    if (!types_intern(types, text.size > 0 ? (const char *)text.data : "", (size_t)text.size, ret))
        return false;
    if (types->names.count > before)
        reader->text_left -= text.size;
    return true;
}

/* ---- units ---- */

/* Adds a global variable with its name, address and type. Variables without a fixed address are
 * left out. */
static struct g2h_error *dwarf_info_read_variable(struct dwarf_info *dwarf_info,
                                                  struct types *types, const struct die *die)
{
    struct dies *dies = &dwarf_info->reader->dies;
    struct die_operation operation;
    struct dwarf_global global;
    if (!die_operation(dies, die, DW_AT_location, &operation))
        return NULL;
    if (operation.atom == DW_OP_addr)
        global.address = operation.number;
    else if (operation.atom != DW_OP_addrx ||
             !die_address(dies, die->unit, operation.number, &global.address))
        return NULL;
    if (!dwarf_intern(dwarf_info->reader, types, die_name(dies, die), &global.name) ||
        !dwarf_type(dwarf_info->reader, types, die, DW_AT_type, &global.type) ||
        !vector_push(&dwarf_info->globals, global))
        return &error_no_memory;
    return NULL;
}

/* Reads the captured variables of the closure whose function begins at entry: they have
 * DW_AT_go_closure_offset. While no variable of the executable has had it, reads all variables of a
 * closure's function instead, into maybe_captured. *ret_behind is die.behind of the last child. */
static struct g2h_error *read_captured(struct dwarf_info *dwarf_info, struct types *types,
                                       uint64_t entry, const struct die *function,
                                       uint64_t *ret_behind)
{
    struct dies *dies = &dwarf_info->reader->dies;
    struct die die;
    if (!die_child(dies, function, &die))
        return NULL;
    /* main.f.func1 and main.f.func1.2 are closures; main.f and other handwritten names are not. */
    const bool is_closure = bytes_contain(die_name(dies, function), ".func");
    do {
        struct dwarf_captured captured = {.entry = entry};
        struct die_attribute attribute;
        if (die_tag(&die) != DW_TAG_variable)
            continue;
        const bool is_captured = die_own(dies, &die, DW_AT_go_closure_offset, &attribute) &&
                                 die_attribute_number(dies, attribute, &captured.offset);
        if (!is_captured && (!is_closure || dwarf_info->captured.count > 0))
            continue;
        if (!dwarf_intern(dwarf_info->reader, types, die_name(dies, &die), &captured.name) ||
            !dwarf_type(dwarf_info->reader, types, &die, DW_AT_type, &captured.type) ||
            !(is_captured ? vector_push(&dwarf_info->captured, captured)
                          : vector_push(&dwarf_info->maybe_captured, captured)))
            return &error_no_memory;
    } while (die_next(dies, &die));
    *ret_behind = die.behind;
    return NULL;
}

/* Adds a function with each of its address ranges, for the lookup of local variables, and reads
 * what its closure captures. *ret_behind as in read_captured(). */
static struct g2h_error *dwarf_info_read_function(struct dwarf_info *dwarf_info,
                                                  struct types *types, const struct die *die,
                                                  uint64_t *ret_behind)
{
    struct dies *dies = &dwarf_info->reader->dies;
    struct dwarf_function function = {.die = die->offset};
    struct die_ranges ranges = {.is_begun = false};
    struct range code;
    bool first = true;
    while (die_range(dies, die, &ranges, &code)) {
        if (code.begin >= code.end)
            continue;
        function.low = code.begin;
        function.high = code.end;
        /* Entries may share a list of ranges, so the size of the lists does not bound the number of
         * ranges. */
        if (!die_pay(dies, sizeof(function)))
            return NULL;
        if (!vector_push(&dwarf_info->reader->functions, function))
            return &error_no_memory;
        if (first)
            TRY(read_captured(dwarf_info, types, function.low, die, ret_behind));
        first = false;
    }
    return NULL;
}

/* Reads the variables and functions of a unit (a package of Go). The entries below a function are
 * read once: `behind` says where they end. */
static struct g2h_error *dwarf_info_read_unit(struct dwarf_info *dwarf_info, struct types *types,
                                              size_t index)
{
    struct dies *dies = &dwarf_info->reader->dies;
    struct die unit, die;
    uint64_t behind;
    if (!die_of_unit(dies, index, &unit) || !die_child(dies, &unit, &die))
        return NULL;
    do {
        behind = 0;
        if (die_tag(&die) == DW_TAG_variable)
            TRY(dwarf_info_read_variable(dwarf_info, types, &die));
        else if (die_tag(&die) == DW_TAG_subprogram)
            TRY(dwarf_info_read_function(dwarf_info, types, &die, &behind));
    } while (die_next_behind(dies, &die, behind));
    return NULL;
}

/* Reads all units, and then the parts of the types that they named. */
static struct g2h_error *dwarf_info_read_units(struct dwarf_info *dwarf_info, struct types *types)
{
    for (size_t i = 0; i < dwarf_info->reader->dies.units.count; i++)
        TRY(dwarf_info_read_unit(dwarf_info, types, i));
    return dwarf_types_complete(dwarf_info->reader, types) ? NULL : &error_no_memory;
}

/* ---- opening ---- */

static int compare_globals(const void *a, const void *b)
{
    const struct dwarf_global *one = a, *other = b;
    if (one->address != other->address)
        return one->address < other->address ? -1 : 1;
    return one->name < other->name ? -1 : one->name > other->name;
}

static int compare_captured(const void *a, const void *b)
{
    const struct dwarf_captured *one = a, *other = b;
    if (one->entry != other->entry)
        return one->entry < other->entry ? -1 : 1;
    if (one->offset != other->offset)
        return one->offset < other->offset ? -1 : 1;
    return one->name < other->name ? -1 : one->name > other->name;
}

static int dwarf_info_compare_functions(const void *a, const void *b)
{
    const struct dwarf_function *one = a, *other = b;
    if (one->low != other->low)
        return one->low < other->low ? -1 : 1;
    return one->die < other->die ? -1 : one->die > other->die;
}

/* Opens DWARF, and sets the limits on the work that damaged DWARF can cause. */
static struct g2h_error *open_reader(struct dwarf_reader *reader, struct image *image)
{
    TRY(dies_init(&reader->dies, image));
    const struct dies *dies = &reader->dies;
    reader->dies.work_left = dies->info.size * WORK;
    reader->locals_left = dies->info.size * WORK_OF_LOCALS;
    reader->types_left = dies->info.size / 4;
    reader->text_left = 2 * (dies->info.size + dies->str.size + dies->line_str.size);
    return NULL;
}

/* Reads all units, and sorts the results by address. If any variable has DW_AT_go_closure_offset,
 * closures need no guesses (maybe_captured). */
static struct g2h_error *dwarf_info_read_all(struct dwarf_info *dwarf_info, struct image *image,
                                             struct types *types)
{
    TRY(open_reader(dwarf_info->reader, image));
    TRY(dwarf_info_read_units(dwarf_info, types));
    if (dwarf_info->captured.count > 0)
        dwarf_info->maybe_captured.count = 0;
    vector_sort(&dwarf_info->globals, compare_globals);
    vector_sort(&dwarf_info->captured, compare_captured);
    vector_sort(&dwarf_info->maybe_captured, compare_captured);
    vector_sort(&dwarf_info->reader->functions, dwarf_info_compare_functions);
    return NULL;
}

struct g2h_error *dwarf_info_init(struct dwarf_info *dwarf_info, struct image *image,
                                  struct types *types, uint64_t types_start)
{
    *dwarf_info = (struct dwarf_info){.reader = calloc(1, sizeof(*dwarf_info->reader))};
    if (!dwarf_info->reader)
        return &error_no_memory;
    dwarf_info->reader->types_start = types_start;
    struct g2h_error *error = dwarf_info_read_all(dwarf_info, image, types);
    if (error)
        dwarf_info_deinit(dwarf_info);
    return error;
}

void dwarf_info_close(struct dwarf_info *dwarf_info)
{
    struct dwarf_reader *reader = dwarf_info->reader;
    if (!reader)
        return;
    dies_deinit(&reader->dies);
    free(reader->operations.data);
    free(reader->functions.data);
    free(reader->pending.data);
    free(reader->unchecked.data);
    free(reader->depth.data);
    map_deinit(&reader->type_by_die);
    map_deinit(&reader->type_by_name);
    free(reader);
    dwarf_info->reader = NULL;
}

void dwarf_info_deinit(struct dwarf_info *dwarf_info)
{
    dwarf_info_close(dwarf_info);
    free(dwarf_info->globals.data);
    free(dwarf_info->captured.data);
    free(dwarf_info->maybe_captured.data);
    *dwarf_info = (struct dwarf_info){.reader = NULL};
}
