/* nodes: properties of single nodes of the view; see findings.h. */
#include "findings/findings.h"

enum g2h_node_kind findings_kind_of(const struct g2h_view *view, uint32_t node)
{
    struct g2h_node read;
    g2h_view_brief(view, node, &read);
    return read.kind;
}

const char *findings_name_of(const struct g2h_view *view, uint32_t node, size_t *ret_size)
{
    struct g2h_node read;
    g2h_view_brief(view, node, &read);
    return g2h_view_name(view, read.name, ret_size);
}

bool findings_is_dead(const struct g2h_view *view, uint32_t number)
{
    struct g2h_node node;
    g2h_view_brief(view, number, &node);
    if (node.members > 0)
        g2h_view_member(view, number, 0, &node);
    return node.object != UINT32_MAX && g2h_view_is_garbage(view, node.object);
}

bool findings_is_entries(const struct g2h_view *view, uint32_t name)
{
    return name < g2h_view_name_count(view) &&
           (g2h_view_name_uses(view, name) & G2H_NAME_OF_ENTRIES) != 0;
}

/* Only the root and strings have no name in the view: a string's own text is its name there. */
const char *findings_class_name(const struct g2h_view *view, const struct g2h_node *node,
                                size_t *ret_size)
{
    static const char roots[] = "(roots)", texts[] = "(string)";
    if (node->kind != G2H_NODE_ROOT && node->name != G2H_NAME_NONE)
        return g2h_view_name(view, node->name, ret_size);
    *ret_size = (node->kind == G2H_NODE_ROOT ? sizeof(roots) : sizeof(texts)) - 1;
    return node->kind == G2H_NODE_ROOT ? roots : texts;
}
