/*
 * layout: the structures of Go's runtime by release and machine; see layout.h.
 */
#include "process/layout.h"

#include <string.h>

#include "base/contract.h"
#include "base/release.h"
#include "process/layout_table.h"

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
    assert(field < sizeof(structures) / sizeof(*structures));
    return structures[field];
}

const char *layout_field(enum layout_field field)
{
    assert(field < sizeof(fields) / sizeof(*fields));
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

/* The text need not end with a zero byte, so it is copied. Experiments ("X:greenteagc" in the
 * version) move fields after all changes by releases. */
bool layout_of_release(struct g2h_bytes release, bool is_newest, uint16_t machine,
                       struct layout *ret)
{
    char version[256] = "";
    if (release.size > 0)
        memcpy(version, release.data,
               release.size < sizeof(version) ? (size_t)release.size : sizeof(version) - 1);
    const int minor = is_newest ? layout_newest : go_release_parse(version).minor;
    if (minor < layout_oldest || minor > layout_newest || !has_machine(machine))
        return false;
    *ret = (struct layout){0};
    apply_changes(minor, machine, ret);
    apply_experiments(minor, version, ret);
    return true;
}
