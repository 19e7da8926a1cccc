/*
 * layout: where the fields of the runtime's structures are, for one release and machine; see
 * layout.h. The first part applies the rows of layout_table.c up to a release; the second reads the
 * same offsets from the executable's DWARF, unit by unit, within a budget of work. Each field is an
 * enum layout_field, whose structure and path are in layout.h.
 */
#include "process/layout.h"

#include <string.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "base/error.h"
#include "base/releases.h"
#include "exe/dwarf/die.h"

/* ==== the fields, and the layout of a release by the table ==== */

/* ---- fields ---- */

static const char *const structures[] = {
#define STRUCTURE(name, structure, field) structure,
    LAYOUT_FIELDS_OF(STRUCTURE)
#undef STRUCTURE
};

static const char *const fields[] = {
#define FIELD(name, structure, field) field,
    LAYOUT_FIELDS_OF(FIELD)
#undef FIELD
};

const char *layout_structure(enum layout_field field)
{
    assert(field < COUNT_OF(structures));
    return structures[field];
}

const char *layout_field(enum layout_field field)
{
    assert(field < COUNT_OF(fields));
    return fields[field];
}

/* ---- releases ---- */

/* Returns whether the table has offsets for a machine. */
static bool has_machine(uint16_t machine)
{
    for (size_t i = 0; i < layout_machine_count; i++)
        if (layout_machines[i] == machine)
            return true;
    return false;
}

/* Applies the rows of the table up to a release: later rows replace earlier ones, and rows for one
 * machine those for all. */
static void apply_changes(int minor, uint16_t machine, struct layout *layout)
{
    for (size_t i = 0; i < layout_change_count; i++) {
        const struct layout_change *change = &layout_changes[i];
        assert(i == 0 || change[-1].field != change->field ||
               change[-1].machine != change->machine || change[-1].minor < change->minor);
        if (change->minor <= minor && (change->machine == 0 || change->machine == machine))
            layout->members[change->field] = change->member;
    }
}

/* Applies the rows of the experiments that the version names: they move fields. */
static void apply_experiments(int minor, const char *version, struct layout *layout)
{
    for (size_t i = 0; i < layout_experiment_count; i++) {
        const struct layout_experiment *experiment = &layout_experiments[i];
        if (experiment->minor == minor && go_release_has_experiment(version, experiment->name))
            layout->members[experiment->field] = experiment->member;
    }
}

/* Finds the layout of the runtime's structures in the table of releases: of the newest one, or of
 * that which `release` names, runtime.Version(), which need not end with a zero byte. Experiments
 * ("X:greenteagc" in it) move fields after all changes by releases. Returns false if the table does
 * not have the release or the machine. */
bool layout_of_release(struct g2h_bytes release, bool is_newest, uint16_t machine,
                       struct layout *ret)
{
    char version[256] = "";
    if (release.size > 0)
        memcpy(version, release.data,
               release.size < sizeof(version) ? release.size : sizeof(version) - 1);
    const int minor = is_newest ? layout_newest : go_release_parse(version).minor;
    if (minor < layout_oldest || minor > layout_newest || !has_machine(machine))
        return false;
    *ret = (struct layout){0};
    apply_changes(minor, machine, ret);
    apply_experiments(minor, version, ret);
    return true;
}

/* ==== the layout by DWARF ====
 *
 * Go's DWARF has one entry for each structure, directly below the entry of its unit, with the
 * package in its name. If several entries have the same name, the first that has a field counts.
 */

enum {
    WORK = 16,         /* work budget for everything per byte of .debug_info; a sound one takes
                          0.3 */
    WORK_OF_FIELD = 4, /* cost of comparing its structure's names with another name */
    CHAIN_MOST = 64,   /* typedefs of typedefs */
};

/* Removes the part before a separator, or everything if there is none, from the beginning of a
 * string, and returns that part. */
static struct g2h_bytes take_part(struct g2h_bytes *text, char separator)
{
    const uint8_t *end = text->size > 0 ? memchr(text->data, separator, text->size) : NULL;
    const uint64_t size = end ? as_size(end - text->data) : text->size;
    const struct g2h_bytes part = bytes_before(*text, size);
    const uint64_t passed = end ? size + 1 : size;
    *text = bytes_from(*text, passed);
    return part;
}

/* Finds the member of a structure that has a name. Returns false if there is none. */
static bool find_member(struct dies *dies, const struct die *structure, struct g2h_bytes name,
                        struct die *ret)
{
    if (!die_child(dies, structure, ret))
        return false;
    do {
        if (die_tag(ret) == DW_TAG_member && bytes_same(die_name(dies, ret), name))
            return true;
    } while (die_next(dies, ret));
    return false;
}

/* Finds the type of a member, past all typedefs. Returns false if there is none. */
static bool layout_dwarf_find_type(struct dies *dies, const struct die *member, struct die *ret)
{
    struct die named = *member;
    for (int i = 0; i < CHAIN_MOST; i++) {
        if (!die_reference(dies, &named, DW_AT_type, ret))
            return false;
        if (die_tag(ret) != DW_TAG_typedef)
            return true;
        named = *ret;
    }
    return false;
}

/* Finds the size of a type's values. Go's DWARF does not have it for pointers and functions.
 * Returns false if there is none. */
static bool find_size(struct dies *dies, const struct die *type, uint64_t *ret)
{
    const uint32_t tag = die_tag(type);
    if (die_number(dies, type, DW_AT_byte_size, ret))
        return true;
    *ret = type->unit->address_size;
    return tag == DW_TAG_pointer_type || tag == DW_TAG_subroutine_type;
}

/* Follows a path of fields, such as "stack.lo", from a structure on. Returns false if a field of
 * the path is not found. */
static bool follow_path(struct dies *dies, const struct die *structure, struct g2h_bytes path,
                        struct layout_member *ret)
{
    struct die member;
    struct die type = *structure;
    uint64_t offset = 0, step, size;
    do {
        if (!find_member(dies, &type, take_part(&path, '.'), &member) ||
            !die_number(dies, &member, DW_AT_data_member_location, &step) ||
            !layout_dwarf_find_type(dies, &member, &type) || step > UINT32_MAX - offset)
            return false;
        offset += step;
    } while (path.size > 0);
    if (!find_size(dies, &type, &size) || size > UINT32_MAX)
        return false;
    *ret = (struct layout_member){(uint32_t)offset, (uint32_t)size};
    return true;
}

/* Finds the offset and size of a field in its structure, by the first of its paths that the release
 * has; without paths it is the end of the structure. If the release has none of them, does not
 * change the member. */
static void layout_dwarf_read_field(struct dies *dies, const struct die *structure,
                                    enum layout_field field, struct layout_member *member)
{
    struct g2h_bytes paths = bytes_of(layout_field(field));
    uint64_t size;
    if (paths.size == 0 && find_size(dies, structure, &size) && size <= UINT32_MAX)
        *member = (struct layout_member){(uint32_t)size, (uint32_t)size};
    while (paths.size > 0 && !follow_path(dies, structure, take_part(&paths, '|'), member))
        ;
}

/* Returns whether the structure of a field has this name in some release. */
static bool layout_dwarf_is_named(enum layout_field field, struct g2h_bytes name)
{
    struct g2h_bytes names = bytes_of(layout_structure(field));
    while (names.size > 0)
        if (bytes_same(take_part(&names, '|'), name))
            return true;
    return false;
}

/* Reads those fields of a structure of the runtime that have not been found yet. Stops when the
 * work that damaged DWARF may cause is used up. */
static void read_structure(struct dies *dies, const struct die *structure, struct layout *layout)
{
    const struct g2h_bytes name = die_name(dies, structure);
    if (!bytes_begin(name, "runtime.") && !bytes_begin(name, "internal/abi."))
        return;
    for (int i = 0; i < LAYOUT_FIELDS && die_pay(dies, WORK_OF_FIELD); i++)
        if (layout->members[i].size == 0 && layout_dwarf_is_named((enum layout_field)i, name))
            layout_dwarf_read_field(dies, structure, (enum layout_field)i, &layout->members[i]);
}

/* Reads all structures that are direct children of a unit's entry; units without children are left
 * out. */
static void read_units(struct dies *dies, struct layout *layout)
{
    struct die unit, die;
    for (size_t i = 0; i < dies->units.count; i++) {
        if (!die_of_unit(dies, i, &unit) || !die_child(dies, &unit, &die))
            continue;
        do {
            if (die_tag(&die) == DW_TAG_structure_type)
                read_structure(dies, &die, layout);
        } while (die_next(dies, &die));
    }
}

/* Returns whether all fields were found that the release has in the table; for a release that the
 * table does not have, all fields of the newest release. */
static bool is_complete(const struct g2h_exe *exe, struct g2h_bytes release,
                        const struct layout *layout)
{
    const uint16_t machine = exe_image(exe)->machine;
    struct layout known;
    if (!layout_of_release(release, false, machine, &known) &&
        !layout_of_release(bytes_none, true, machine, &known))
        return false;
    for (int i = 0; i < LAYOUT_FIELDS; i++)
        if (known.members[i].size > 0 && layout->members[i].size == 0)
            return false;
    return true;
}

/* Finds the layout in the executable's DWARF. *ret_found stays false without DWARF, or if it lacks
 * a field that this release must have. */
struct g2h_error *layout_by_dwarf(struct g2h_exe *exe, struct g2h_bytes release, struct layout *ret,
                                  bool *ret_found)
{
    struct image *image = exe_dwarf_image(exe);
    _cleanup_(dies_deinit) struct dies dies = {.work_left = 0};
    *ret = (struct layout){0};
    *ret_found = false;
    if (!image)
        return NULL;
    TRY(dies_init(&dies, image));
    dies.work_left = dies.info.size * WORK;
    read_units(&dies, ret);
    *ret_found = is_complete(exe, release, ret);
    return NULL;
}
