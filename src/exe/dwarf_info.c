/*
 * The units of an executable: its global variables, its functions, and what closures capture.
 *
 * Only the entries right below each unit and right below each function are looked at.
 */
#include "exe/dwarf.h"

#include <stdlib.h>
#include <string.h>

/* What DWARF may cost, in steps for each byte of .debug_info: to read it takes 0.6, and the
 * variables of all functions, each asked for once, would as well. */
enum { STEPS = 16, STEPS_OF_LOCALS = 16 };

bool dwarf_intern(struct dwarf *dwarf, struct types *types, struct g2h_bytes text, uint32_t *ret)
{
    const uint32_t before = types->names.count;
    if (text.size > dwarf->text_left)
        text.size = 0;
    if (!types_intern(types, text.size > 0 ? (const char *)text.data : "", (size_t)text.size, ret))
        return false;
    if (types->names.count > before)
        dwarf->text_left -= text.size;
    return true;
}

/* ---- units ---- */

static struct g2h_error *read_variable(struct dwarf_info *debug, struct types *types,
                                       const struct die *die)
{
    struct dies *dies = &debug->dwarf->dies;
    struct die_operation operation;
    struct dwarf_global global;
    if (!die_operation(dies, die, DW_AT_location, &operation))
        return NULL;
    if (operation.atom == DW_OP_addr)
        global.address = operation.number;
    else if (operation.atom != DW_OP_addrx ||
             !die_address(dies, die->unit, operation.number, &global.address))
        return NULL;
    if (!dwarf_intern(debug->dwarf, types, die_name(dies, die), &global.name) ||
        !dwarf_type(debug->dwarf, types, die, DW_AT_type, &global.type) ||
        !vector_push(&debug->globals, global))
        return &error_no_memory;
    return NULL;
}

/* "main.f.func1", "main.f.func1.2", but neither "main.f" nor what is written by hand. */
static bool is_closure_name(struct g2h_bytes name)
{
    return name.size > 0 && memmem(name.data, (size_t)name.size, ".func", 5) != NULL;
}

/* A variable of a function that has DW_AT_go_closure_offset is of the closure that it is called
 * by. */
static struct g2h_error *read_captured(struct dwarf_info *debug, struct types *types,
                                       uint64_t entry, const struct die *function)
{
    struct dies *dies = &debug->dwarf->dies;
    struct die die;
    if (!die_child(dies, function, &die))
        return NULL;
    const bool is_closure = is_closure_name(die_name(dies, function));
    do {
        struct dwarf_captured captured = {.entry = entry};
        struct die_attribute attribute;
        if (die_tag(&die) != DW_TAG_variable)
            continue;
        const bool is_captured = die_own(dies, &die, DW_AT_go_closure_offset, &attribute) &&
                                 die_attribute_number(dies, attribute, &captured.offset);
        if (!is_captured && (!is_closure || debug->captured.count > 0))
            continue;
        if (!dwarf_intern(debug->dwarf, types, die_name(dies, &die), &captured.name) ||
            !dwarf_type(debug->dwarf, types, &die, DW_AT_type, &captured.type) ||
            !(is_captured ? vector_push(&debug->captured, captured)
                          : vector_push(&debug->maybe_captured, captured)))
            return &error_no_memory;
    } while (die_next(dies, &die));
    return NULL;
}

static struct g2h_error *read_function(struct dwarf_info *debug, struct types *types,
                                       const struct die *die)
{
    struct dies *dies = &debug->dwarf->dies;
    struct dwarf_function function = {.die = die->offset};
    struct die_ranges ranges = {.is_begun = false};
    bool first = true;
    while (die_range(dies, die, &ranges, &function.low, &function.high)) {
        if (function.low >= function.high)
            continue;
        /* Ranges may be shared, so their number is not bounded by the size of what has them. */
        if (!die_pay(dies, sizeof(function)))
            return NULL;
        if (!vector_push(&debug->dwarf->functions, function))
            return &error_no_memory;
        struct g2h_error *error = first ? read_captured(debug, types, function.low, die) : NULL;
        if (error)
            return error;
        first = false;
    }
    return NULL;
}

static struct g2h_error *read_unit(struct dwarf_info *debug, struct types *types, size_t index)
{
    struct dies *dies = &debug->dwarf->dies;
    struct die unit, die;
    struct g2h_error *error = NULL;
    if (!die_of_unit(dies, index, &unit) || !die_child(dies, &unit, &die))
        return NULL;
    do {
        if (die_tag(&die) == DW_TAG_variable)
            error = read_variable(debug, types, &die);
        else if (die_tag(&die) == DW_TAG_subprogram)
            error = read_function(debug, types, &die);
    } while (!error && die_next(dies, &die));
    return error;
}

static struct g2h_error *read_units(struct dwarf_info *debug, struct types *types)
{
    struct g2h_error *error = NULL;
    for (size_t i = 0; !error && i < debug->dwarf->dies.units.count; i++)
        error = read_unit(debug, types, i);
    if (!error && !dwarf_types_complete(debug->dwarf, types))
        error = &error_no_memory;
    return error;
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

static int compare_functions(const void *a, const void *b)
{
    const struct dwarf_function *one = a, *other = b;
    if (one->low != other->low)
        return one->low < other->low ? -1 : 1;
    return one->die < other->die ? -1 : one->die > other->die;
}

static struct g2h_error *open_dwarf(struct dwarf *dwarf, struct image *image)
{
    struct g2h_error *error = dies_init(&dwarf->dies, image);
    const struct dies *dies = &dwarf->dies;
    dwarf->dies.steps_left = dies->info.size * STEPS;
    dwarf->locals_left = dies->info.size * STEPS_OF_LOCALS;
    dwarf->types_left = dies->info.size / 4;
    dwarf->text_left = 2 * (dies->info.size + dies->str.size + dies->line_str.size);
    return error;
}

struct g2h_error *dwarf_info_init(struct dwarf_info *debug, struct image *image,
                                  struct types *types, uint64_t types_start)
{
    *debug = (struct dwarf_info){.dwarf = calloc(1, sizeof(*debug->dwarf))};
    if (!debug->dwarf)
        return &error_no_memory;
    debug->dwarf->types_start = types_start;
    struct g2h_error *error = open_dwarf(debug->dwarf, image);
    if (!error)
        error = read_units(debug, types);
    if (error) {
        dwarf_info_deinit(debug);
        return error;
    }
    if (debug->globals.count > 0)
        qsort(debug->globals.data, debug->globals.count, sizeof(*debug->globals.data),
              compare_globals);
    if (debug->captured.count > 0)
        qsort(debug->captured.data, debug->captured.count, sizeof(*debug->captured.data),
              compare_captured);
    if (debug->captured.count > 0)
        debug->maybe_captured.count = 0;
    if (debug->maybe_captured.count > 0)
        qsort(debug->maybe_captured.data, debug->maybe_captured.count,
              sizeof(*debug->maybe_captured.data), compare_captured);
    if (debug->dwarf->functions.count > 0)
        qsort(debug->dwarf->functions.data, debug->dwarf->functions.count,
              sizeof(*debug->dwarf->functions.data), compare_functions);
    return NULL;
}

void dwarf_info_close(struct dwarf_info *debug)
{
    struct dwarf *dwarf = debug->dwarf;
    if (!dwarf)
        return;
    dies_deinit(&dwarf->dies);
    free(dwarf->operations.data);
    free(dwarf->functions.data);
    free(dwarf->pending.data);
    free(dwarf->unsealed.data);
    free(dwarf->depth.data);
    map_deinit(&dwarf->type_by_die);
    map_deinit(&dwarf->type_by_name);
    free(dwarf);
    debug->dwarf = NULL;
}

void dwarf_info_deinit(struct dwarf_info *debug)
{
    dwarf_info_close(debug);
    free(debug->globals.data);
    free(debug->captured.data);
    free(debug->maybe_captured.data);
    *debug = (struct dwarf_info){.dwarf = NULL};
}
