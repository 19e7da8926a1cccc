/*
 * The units of an executable: its global variables, its functions, and what closures capture.
 *
 * Only the DIEs right below each unit and right below each function are looked at; libdw passes
 * over what is below them faster than zlib could uncompress it.
 */
#include "exe/dwarf.h"

#include <stdlib.h>
#include <string.h>

/* ---- DIEs ---- */

bool dwarf_next(struct dwarf *dwarf, Dwarf_Die *die)
{
    Dwarf_Die next = {.addr = NULL};
    const uint8_t *from = die->addr;
    const int status = dwarf_siblingof(die, &next);
    /* Where it finds no sibling, libdw still leaves the end of what it passed over. */
    const uint8_t *to = next.addr ? next.addr : dwarf->info.data + dwarf->info.size;
    const uint64_t passed = (uint64_t)(to - from);
    if (status != 0 || to <= from || passed > dwarf->walk_left) {
        dwarf->walk_left -= passed < dwarf->walk_left ? passed : dwarf->walk_left;
        return false;
    }
    dwarf->walk_left -= passed;
    *die = next;
    return true;
}

/* The DIE that another is an instance, or the completion, of. */
static bool origin(Dwarf_Die *die, Dwarf_Die *ret)
{
    Dwarf_Attribute attribute;
    return (dwarf_attr(die, DW_AT_abstract_origin, &attribute) ||
            dwarf_attr(die, DW_AT_specification, &attribute)) &&
           dwarf_formref_die(&attribute, ret);
}

bool dwarf_find(Dwarf_Die *die, unsigned name, Dwarf_Attribute *ret)
{
    if (dwarf_attr(die, name, ret))
        return true;
    /* An inlined instance has an abstract one, which may have a declaration. */
    Dwarf_Die now, next = *die;
    for (int step = 0; step < 4; step++) {
        now = next;
        if (!origin(&now, &next))
            return false;
        if (dwarf_attr(&next, name, ret))
            return true;
    }
    return false;
}

bool dwarf_number(Dwarf_Die *die, unsigned name, uint64_t *ret)
{
    Dwarf_Attribute attribute;
    Dwarf_Word word;
    bool flag;
    if (!dwarf_find(die, name, &attribute))
        return false;
    if (dwarf_formudata(&attribute, &word) == 0 || dwarf_formaddr(&attribute, &word) == 0)
        *ret = word;
    else if (dwarf_formflag(&attribute, &flag) == 0)
        *ret = flag;
    else
        return false;
    return true;
}

bool dwarf_reference(Dwarf_Die *die, unsigned name, Dwarf_Die *ret)
{
    Dwarf_Attribute attribute;
    return dwarf_find(die, name, &attribute) && dwarf_formref_die(&attribute, ret);
}

const char *dwarf_name(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    return dwarf_find(die, DW_AT_name, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

bool dwarf_location(Dwarf_Die *die, unsigned name, Dwarf_Attribute *ret)
{
    if (!dwarf_attr(die, name, ret))
        return false;
    /* Go has blocks where DWARF 4 wants expressions, which libdw insists on. They are alike but for
     * the length, and lengths below 128 are alike too. */
    if (ret->form == DW_FORM_block || (ret->form == DW_FORM_block1 && *ret->valp < 128))
        ret->form = DW_FORM_exprloc;
    return true;
}

const Dwarf_Op *dwarf_operation(Dwarf_Attribute *attribute)
{
    Dwarf_Op *operations;
    size_t count;
    return dwarf_getlocation(attribute, &operations, &count) == 0 && count == 1 ? operations : NULL;
}

bool dwarf_intern(struct dwarf *dwarf, struct types *types, const char *text, uint32_t *ret)
{
    const size_t size = text ? strnlen(text, 1 << 16) : 0;
    const uint32_t before = types->names.count;
    if (size > dwarf->text_left)
        return types_intern(types, "", 0, ret);
    if (!types_intern(types, text ? text : "", size, ret))
        return false;
    if (types->names.count > before)
        dwarf->text_left -= size;
    return true;
}

/* ---- units ---- */

static struct g2h_error *read_variable(struct debug *debug, struct types *types, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    if (!dwarf_location(die, DW_AT_location, &attribute))
        return NULL;
    const Dwarf_Op *operation = dwarf_operation(&attribute);
    struct debug_global global;
    if (operation && operation->atom == DW_OP_addr)
        global.address = operation->number;
    else if (operation && operation->atom == DW_OP_addrx) {
        Dwarf_Attribute address;
        Dwarf_Addr found;
        if (dwarf_getlocation_attr(&attribute, operation, &address) != 0 ||
            dwarf_formaddr(&address, &found) != 0)
            return NULL;
        global.address = found;
    } else
        return NULL;
    if (!dwarf_intern(debug->dwarf, types, dwarf_name(die), &global.name) ||
        !dwarf_type(debug->dwarf, types, die, DW_AT_type, &global.type) ||
        !vector_push(&debug->globals, global))
        return &error_no_memory;
    return NULL;
}

/* "main.f.func1", "main.f.func1.2", but neither "main.f" nor what is written by hand. */
static bool is_closure_name(const char *name)
{
    return name && strstr(name, ".func") != NULL;
}

/* A variable of a function that has DW_AT_go_closure_offset is of the closure that it is called
 * by. */
static struct g2h_error *read_captured(struct debug *debug, struct types *types, uint64_t entry,
                                       Dwarf_Die *function)
{
    Dwarf_Die die;
    if (dwarf_child(function, &die) != 0)
        return NULL;
    const bool is_closure = is_closure_name(dwarf_name(function));
    do {
        struct debug_captured captured = {.entry = entry};
        Dwarf_Attribute attribute;
        Dwarf_Word offset = 0;
        if (dwarf_tag(&die) != DW_TAG_variable)
            continue;
        const bool is_captured = dwarf_attr(&die, DW_AT_go_closure_offset, &attribute) &&
                                 dwarf_formudata(&attribute, &offset) == 0;
        if (!is_captured && (!is_closure || debug->captured.count > 0))
            continue;
        captured.offset = offset;
        if (!dwarf_intern(debug->dwarf, types, dwarf_name(&die), &captured.name) ||
            !dwarf_type(debug->dwarf, types, &die, DW_AT_type, &captured.type) ||
            !(is_captured ? vector_push(&debug->captured, captured)
                          : vector_push(&debug->maybe_captured, captured)))
            return &error_no_memory;
    } while (dwarf_next(debug->dwarf, &die));
    return NULL;
}

static struct g2h_error *read_function(struct debug *debug, struct types *types, Dwarf_Die *die)
{
    struct dwarf_function function = {.die = dwarf_dieoffset(die)};
    Dwarf_Addr base, low, high;
    ptrdiff_t offset = 0;
    bool first = true;
    while ((offset = dwarf_ranges(die, offset, &base, &low, &high)) > 0) {
        function.low = low;
        function.high = high;
        if (low >= high)
            continue;
        if (!vector_push(&debug->dwarf->functions, function))
            return &error_no_memory;
        struct g2h_error *error = first ? read_captured(debug, types, low, die) : NULL;
        if (error)
            return error;
        /* Ranges may be shared, so their number is not bounded by the size of what has them. */
        if (!first && debug->dwarf->walk_left < sizeof(function))
            return NULL;
        debug->dwarf->walk_left -= first ? 0 : sizeof(function);
        first = false;
    }
    return NULL;
}

static struct g2h_error *read_unit(struct debug *debug, struct types *types, Dwarf_Die *unit)
{
    Dwarf_Die die;
    struct g2h_error *error = NULL;
    if (dwarf_child(unit, &die) != 0)
        return NULL;
    do {
        const int tag = dwarf_tag(&die);
        if (tag == DW_TAG_variable)
            error = read_variable(debug, types, &die);
        else if (tag == DW_TAG_subprogram)
            error = read_function(debug, types, &die);
    } while (!error && dwarf_next(debug->dwarf, &die));
    return error;
}

static struct g2h_error *read_units(struct debug *debug, struct types *types)
{
    struct g2h_error *error = NULL;
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    while (!error && dwarf_get_units(debug->dwarf->libdw, unit, &unit, NULL, NULL, &die, NULL) == 0)
        error = read_unit(debug, types, &die);
    if (!error && !dwarf_types_complete(debug->dwarf, types))
        error = &error_no_memory;
    return error;
}

/* ---- opening ---- */

static int compare_globals(const void *a, const void *b)
{
    const struct debug_global *one = a, *other = b;
    if (one->address != other->address)
        return one->address < other->address ? -1 : 1;
    return one->name < other->name ? -1 : one->name > other->name;
}

static int compare_captured(const void *a, const void *b)
{
    const struct debug_captured *one = a, *other = b;
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

static struct g2h_bytes find_info(Elf *elf)
{
    struct g2h_bytes none = {NULL, 0};
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return none;
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        const Elf_Data *data = elf_rawdata(section, NULL);
        if (name && data && strcmp(name, ".debug_info") == 0)
            return (struct g2h_bytes){data->d_buf, data->d_size};
    }
    return none;
}

static struct g2h_error *open_dwarf(struct dwarf *dwarf, struct image *image)
{
    struct g2h_bytes bytes;
    struct g2h_error *error = image_as_elf(image, &bytes);
    if (error)
        return error;
    elf_version(EV_CURRENT);
    dwarf->elf = elf_memory((char *)(uintptr_t)bytes.data, (size_t)bytes.size);
    if (!dwarf->elf)
        return NULL;
    dwarf->info = find_info(dwarf->elf);
    if (dwarf->info.size > 0)
        dwarf->libdw = dwarf_begin_elf(dwarf->elf, DWARF_C_READ, NULL);
    dwarf->walk_left = dwarf->info.size * 8;
    dwarf->locals_left = dwarf->info.size * 64;
    dwarf->types_left = dwarf->info.size / 4;
    dwarf->text_left = bytes.size * 2;
    return NULL;
}

struct g2h_error *debug_init(struct debug *debug, struct image *image, struct types *types,
                             uint64_t types_start)
{
    *debug = (struct debug){.dwarf = calloc(1, sizeof(*debug->dwarf))};
    if (!debug->dwarf)
        return &error_no_memory;
    debug->dwarf->types_start = types_start;
    struct g2h_error *error = open_dwarf(debug->dwarf, image);
    if (!error && debug->dwarf->libdw)
        error = read_units(debug, types);
    if (error) {
        debug_deinit(debug);
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

void debug_deinit(struct debug *debug)
{
    struct dwarf *dwarf = debug->dwarf;
    if (dwarf) {
        if (dwarf->libdw)
            dwarf_end(dwarf->libdw);
        if (dwarf->elf)
            elf_end(dwarf->elf);
        free(dwarf->functions.data);
        free(dwarf->pending.data);
        free(dwarf->unsealed.data);
        free(dwarf->depth.data);
        map_deinit(&dwarf->type_by_die);
        map_deinit(&dwarf->type_by_name);
        free(dwarf);
    }
    free(debug->globals.data);
    free(debug->captured.data);
    free(debug->maybe_captured.data);
    *debug = (struct debug){.dwarf = NULL};
}
