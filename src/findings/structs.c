/* structs; see structs.h. */
#include "findings/structs.h"

#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/values.h>

#include "base/scope.h"
#include "findings/class_rows.h"

enum { OF_ALL = 1000 };

static int structs_compare(const void *a, const void *b)
{
    const struct class_row *one = a, *other = b;
    if (one->bytes != other->bytes)
        return one->bytes > other->bytes ? -1 : 1;
    return one->node < other->node ? -1 : one->node > other->node;
}

/* Returns whether a class has its own name, as structs have, and is neither a slice, map, channel
 * or function nor the runtime's. */
static bool is_own(const struct findings *findings, uint32_t class)
{
    const enum g2h_class_form form = merged_form(&findings->merged, class);
    return (form == G2H_FORM_DECLARED || form == G2H_FORM_STRUCT || form == G2H_FORM_INTERFACE ||
            form == G2H_FORM_OTHER) &&
           !merged_is_runtime(&findings->merged, class);
}

/* Finds the layout of a class by the object that is its example. */
static bool find_layout(const struct findings *findings, const struct g2h_layouts *layouts,
                        const struct class_row *row, struct struct_layout *ret)
{
    struct g2h_node example;
    struct g2h_layout layout;
    struct g2h_location location;
    g2h_view_brief(findings->view, findings_node(findings, row->node)->example, &example);
    if (example.kind != G2H_NODE_OBJECT || example.object == UINT32_MAX ||
        !g2h_layouts_find(layouts, example.object, &layout) || layout.size == 0 ||
        !g2h_location_of_object(findings->view, example.object, &location) ||
        g2h_location_is_map(findings->view, &location))
        return false;
    *ret = (struct struct_layout){row->node, example.object, row->count, layout.size, layout.slot};
    return true;
}

/* Returns whether there are two values or more: of one, there is nothing to be shown. */
static bool structs_has_fields(const struct findings *findings, uint32_t object,
                               struct g2h_values *values)
{
    struct g2h_location location;
    struct g2h_value value;
    if (!g2h_location_of_object(findings->view, object, &location))
        return false;
    g2h_values_begin_at(values, &location);
    return g2h_values_next(values, &value) && g2h_values_next(values, &value);
}

CLEANUP_POINTER(destroy_layouts, struct g2h_layouts, g2h_layouts_destroy);
CLEANUP_POINTER(destroy_values, struct g2h_values, g2h_values_destroy);

/* Goes through the classes from the largest on, until one has less than a thousandth of the heap,
 * or STRUCTS have been found. */
struct g2h_error *structs_find(const struct findings *findings, struct_vector *ret)
{
    _cleanup_(class_rows_deinit) struct class_rows rows = {0};
    _cleanup_(destroy_layouts) struct g2h_layouts *layouts = NULL;
    _cleanup_(destroy_values) struct g2h_values *values = NULL;
    if (!g2h_view_is_typed(findings->view))
        return NULL;
    TRY(class_rows_find(findings, false, &rows));
    TRY(g2h_layouts_create(findings->view, &layouts));
    TRY(g2h_values_create(findings->view, &values));
    vector_sort(&rows.list, structs_compare);
    for (size_t i = 0; i < rows.list.count && ret->count < STRUCTS &&
                       rows.list.data[i].bytes >= findings->reachable / OF_ALL;
         i++) {
        struct struct_layout found;
        if (is_own(findings, rows.list.data[i].node) &&
            find_layout(findings, layouts, &rows.list.data[i], &found) &&
            structs_has_fields(findings, found.object, values))
            TRY_MEMORY(vector_push(ret, found));
    }
    return NULL;
}
