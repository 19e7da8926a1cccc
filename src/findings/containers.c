/*
 * containers: finds the map, slice, list, tree or struct that holds many objects of one class, its
 * entries, and all that belongs to these; see containers.h, which has the rules.
 *
 * It works on the merged tree, where a node is all objects of a class that one holder has. From a
 * node, find_entries() follows the heaviest child down to the class whose objects are most numerous
 * per object of what holds them; climb_to_container() then climbs from there to the node that all
 * of this is in. Where a path spreads, the section "parts" decides by equal numbers which branches
 * are of the same entries, and "links" confirms that by pointers between samples of their objects.
 */
#include "findings/containers.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"

enum {
    HEAVY = 60,  /* percent of what a node holds that its heaviest child must have to be followed */
    ALL = 80,    /* percent of what a container retains that its entries must be */
    DEEPER = 70, /* percent of an earlier container that one further down must have to replace it */
    NEARLY_ALL = 95, /* percent of a struct that must be of its entries for all of it to count */
    SAME = 2,        /* percent by which the numbers of parts of one entry may differ */
    LEAST_SLOT = 4,
    MOST_SLOT = 512,    /* bytes per entry of an index */
    MOST_DEPTH = 64,    /* nodes that are looked at on one path up or down */
    MOST_BRANCHES = 32, /* of one node that are parts or indexes of the same entries */
    SAMPLES = 64, /* objects of a branch whose pointers are looked at, and the most pointers */
    SAMPLE_EDGES = 4096,
    LINKED = 8, /* divisor: the share of these with a pointer to another branch that links both */
};

static uint64_t containers_positive(int64_t number)
{
    return number > 0 ? (uint64_t)number : 0;
}

/* Returns what a node retains or, with a base, its weight of growth. */
uint64_t containers_weight(const struct containers *containers, uint32_t node)
{
    return containers->growth ? containers->growth->data[node].weight
                              : containers->merged->nodes.data[node].retained;
}

/* Returns a node's own bytes or, with a base, by how many they have grown. */
uint64_t containers_own(const struct containers *containers, uint32_t node)
{
    return containers->growth ? containers_positive(containers->growth->data[node].own)
                              : containers->merged->nodes.data[node].bytes;
}

/* Returns the number of a node's objects or, with a base, how many more there are. */
uint64_t containers_count(const struct containers *containers, uint32_t node)
{
    return containers->growth ? containers_positive(containers->growth->data[node].more)
                              : containers->merged->nodes.data[node].count;
}

/* Branches of one node that may be parts or indexes of the same entries: those with as many objects
 * or slots. */
struct container_links {
    uint32_t node, branch; /* the branch with the entries */
    uint64_t entries;
    uint32_t count; /* of branches; the first one is branch */
    uint32_t branches[MOST_BRANCHES];
    bool is_linked[MOST_BRANCHES]; /* by pointers to branch, by way of others */
    uint8_t *which;                /* by node of merged: the number of its branch, plus 1 */
};

/* Finds the heaviest child of each node, and makes the memory for links between branches, which are
 * empty at first. */
struct g2h_error *containers_init(const struct findings *findings, const growth_vector *growth,
                                  struct containers *ret)
{
    const struct merged *merged = &findings->merged;
    const struct merged_node *nodes = merged->nodes.data;
    const uint32_t count = as_u32(merged->nodes.count);
    *ret = (struct containers){.findings = findings, .merged = merged, .growth = growth};
    ret->heaviest = malloc((count + 1) * sizeof(*ret->heaviest));
    ret->links = calloc(1, sizeof(*ret->links));
    TRY_MEMORY(ret->heaviest && ret->links);
    ret->links->node = MERGED_NONE;
    ret->links->which = calloc(count + 1, sizeof(*ret->links->which));
    TRY_MEMORY(ret->links->which);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t best = nodes[i].child;
        for (uint32_t j = best; j != MERGED_NONE; j = nodes[j].sibling)
            if (containers_weight(ret, j) > containers_weight(ret, best))
                best = j;
        ret->heaviest[i] = best;
    }
    return NULL;
}

void containers_deinit(struct containers *containers)
{
    free(containers->heaviest);
    if (containers->links)
        free(containers->links->which);
    free(containers->links);
}

/* Returns the child that holds nearly all of what a node retains. The child must have HEAVY percent
 * of what the node holds besides itself, and that at least 100 - HEAVY percent of all. MERGED_NONE:
 * none has. */
uint32_t containers_heavy_child(const struct containers *containers, uint32_t node)
{
    const uint64_t all = containers_weight(containers, node);
    const uint64_t own = containers_own(containers, node);
    const uint64_t held = all > own ? all - own : 0;
    const uint32_t child = containers->heaviest[node];
    return child != MERGED_NONE && held >= all / 100 * (100 - HEAVY) &&
                   containers_weight(containers, child) >= held / 100 * HEAVY
               ? child
               : MERGED_NONE;
}

/* Returns whether a node's own objects are at least 100 - HEAVY percent of what it retains or, with
 * a base, of its growth. */
bool containers_is_own(const struct containers *containers, uint32_t node)
{
    return containers_own(containers, node) >=
           containers_weight(containers, node) / 100 * (100 - HEAVY);
}

/* ---- classes ---- */

/* Returns whether a node is objects of a class; MERGED_NONE is not. */
static bool is_class(const struct containers *containers, uint32_t node)
{
    return node != MERGED_NONE && containers->merged->nodes.data[node].kind == MERGED_CLASS;
}

/* Returns whether a node is nodes of the trie of a sync.Map; MERGED_NONE is not. */
static bool is_trie(const struct containers *containers, uint32_t node)
{
    return node != MERGED_NONE &&
           merged_runtime_class(containers->merged, node) == G2H_RUNTIME_TRIE;
}

/* Returns whether a class is memory of a map that is in no map of its class: buckets of a map of
 * before Go 1.24 that its list of overflow buckets leads to. These are no entries. */
static bool is_memory_of_map(const struct containers *containers, uint32_t node)
{
    return findings_is_entries(containers->findings->view,
                               containers->merged->nodes.data[node].name);
}

/* Returns whether a class is the elements of container/list or container/ring. */
static bool is_entry(const struct containers *containers, uint32_t node)
{
    return merged_runtime_class(containers->merged, node) == G2H_RUNTIME_ENTRY;
}

/* Returns whether a class is a map, a slice or the like, whose name says little about its
 * objects. */
static bool says_little(const struct containers *containers, uint32_t node)
{
    const enum g2h_class_form form = merged_form(containers->merged, node);
    return form == G2H_FORM_MAP || form == G2H_FORM_SLICE || form == G2H_FORM_POINTER ||
           form == G2H_FORM_INTERFACE || form == G2H_FORM_CLOSURE || is_entry(containers, node);
}

/* Returns whether a class is a type that a program or a library has named: "main.Session". */
static bool is_named(const struct containers *containers, uint32_t node)
{
    return merged_form(containers->merged, node) == G2H_FORM_DECLARED &&
           !merged_is_runtime(containers->merged, node) && !is_entry(containers, node);
}

/* Returns whether the own bytes of a class are slots for entries: those of a map, a slice or a
 * sync.Map. */
static bool has_slots(const struct containers *containers, uint32_t node)
{
    const enum g2h_class_form form = merged_form(containers->merged, node);
    return form == G2H_FORM_MAP || form == G2H_FORM_SLICE || is_trie(containers, node);
}

/* Returns whether a node may be a container: objects, or one variable, of which several words may
 * point to objects. */
static bool may_contain(const struct containers *containers, uint32_t node)
{
    const struct merged_node *at = &containers->merged->nodes.data[node];
    if (at->kind == MERGED_SYNTHETIC)
        return merged_kind_of(containers->merged, node) == G2H_NODE_VARIABLE;
    return at->kind == MERGED_CLASS || at->count == 1 ||
           merged_kind_of(containers->merged, at->parent) == G2H_NODE_VARIABLE;
}

/* Returns the objects to name instead of some that are multiplied: if these are maps or the like,
 * and each holds about one object of a named type, that type says more ("main.Session" instead of
 * "map[string]string"). */
static uint32_t named_content(const struct containers *containers, uint32_t node)
{
    const uint64_t count = containers_count(containers, node);
    uint32_t at = node;
    for (int i = 0; i < MOST_DEPTH && at != MERGED_NONE; i++) {
        const uint64_t here = containers_count(containers, at);
        if (here < count / 2 || here > count * 2) /* not about one each */
            return node;
        if (is_named(containers, at))
            return at;
        if (!says_little(containers, at)) /* its own name says enough, as string does */
            return node;
        at = containers_heavy_child(containers, at);
    }
    return node;
}

/* ---- recursive structures ---- */

/* Returns whether a class on the path from node up to end has a name. */
static bool has_on_path(const struct merged *merged, uint32_t node, uint32_t end, uint32_t name)
{
    const struct merged_node *nodes = merged->nodes.data;
    for (int i = 0; i < MOST_DEPTH && node != end; i++, node = nodes[node].parent)
        if (nodes[node].kind == MERGED_CLASS && nodes[node].name == name)
            return true;
    return false;
}

/* Returns whether objects with the name of a class are a few steps below a recursive node, as the
 * maps of the children are in a trie: on the way from one of its objects to the next. */
static bool is_on_way(const struct containers *containers, uint32_t node, uint32_t class,
                      unsigned steps)
{
    const struct merged_node *nodes = containers->merged->nodes.data;
    for (uint32_t i = nodes[node].child; i != MERGED_NONE; i = nodes[i].sibling)
        if (nodes[i].kind == MERGED_CLASS &&
            (nodes[i].name == nodes[class].name ||
             (steps > 1 && is_on_way(containers, i, class, steps - 1))))
            return true;
    return false;
}

/* Returns the uppermost node of a recursive structure whose objects lead to each other by maps or
 * slices: the root of a trie, which is right above these. is_same: the uppermost one of the class
 * of the node; else it may be such a map. */
static uint32_t root_of(const struct containers *containers, uint32_t node, uint32_t top,
                        bool is_same)
{
    enum { STEPS = 3 };
    const struct merged_node *nodes = containers->merged->nodes.data;
    uint32_t root = node;
    uint32_t at = node;
    if (!nodes[node].is_cyclic) /* its objects do not lead to each other */
        return node;
    for (int i = 0; i < MOST_DEPTH && at != top; i++) {
        at = nodes[at].parent;
        if (!is_class(containers, at))
            return root;
        const bool is_alike = nodes[at].name == nodes[node].name;
        if (!is_alike && !is_on_way(containers, node, at, STEPS))
            return root;
        if (is_alike || !is_same)
            root = at;
    }
    return root;
}

/* Returns the node where the recursive structure begins that a node is in, such as the root of a
 * B-tree for its items; the node itself if it is in none. Looks no further up than top. */
static uint32_t structure_of(const struct containers *containers, uint32_t node, uint32_t top)
{
    const struct merged_node *nodes = containers->merged->nodes.data;
    uint32_t found = node;
    uint32_t at = node;
    for (int i = 0; i < MOST_DEPTH && at != top; i++, at = nodes[at].parent) {
        if (!nodes[at].is_cyclic)
            continue;
        /* It may begin one higher, with an object of the same class, or of one on the path. */
        const uint32_t above = nodes[at].parent;
        const bool is_above_in = is_class(containers, above) &&
                                 (nodes[at].name == nodes[above].name ||
                                  has_on_path(containers->merged, node, at, nodes[above].name));
        found = is_above_in ? above : at;
        if (is_above_in && above == top)
            break;
    }
    if (has_slots(containers, node))
        return found; /* the slices of a tree's branches are no entries of its root */
    return root_of(containers, found, top, false);
}

/* Returns the uppermost node that a recursive structure, such as a tree, begins with: the objects
 * of the same class that contain this one, so that what is below them counts, too. */
static uint32_t top_of_class(const struct containers *containers, uint32_t node, uint32_t top)
{
    const struct merged_node *nodes = containers->merged->nodes.data;
    uint32_t at = node;
    for (int i = 0; i < MOST_DEPTH && at != top && !nodes[at].is_cyclic; i++)
        at = nodes[at].parent;
    const uint32_t above = nodes[at].parent; /* of a tree whose nodes are at, perhaps the root */
    if (at != top && nodes[at].is_cyclic && is_class(containers, above) &&
        nodes[above].name == nodes[node].name)
        return above;
    return root_of(containers, node, top, true);
}

/* ---- parts ---- */

/* Returns whether two numbers of objects differ by SAME percent or by one at most. */
static bool are_as_many(uint64_t one, uint64_t other)
{
    const uint64_t more = MAX(one, other);
    return more - MIN(one, other) <= more / 100 * SAME + 1;
}

/* Returns what of the bytes of a branch is still to be explained below a node: slots of maps and
 * slices on the way are of the entries, whatever these weigh. */
static uint64_t without_slots(const struct containers *containers, uint32_t node, uint64_t bytes)
{
    const uint64_t own = is_class(containers, node) && has_slots(containers, node)
                             ? containers_own(containers, node)
                             : 0;
    return bytes > own ? bytes - own : 0;
}

/* Returns the heaviest of the classes right below a node with entries objects, or nearly so many,
 * if together they have least bytes; or MERGED_NONE. */
static uint32_t parts_below(const struct containers *containers, uint32_t node, uint64_t entries,
                            uint64_t least)
{
    const struct merged_node *nodes = containers->merged->nodes.data;
    uint32_t best = MERGED_NONE;
    uint64_t sum = 0;
    for (uint32_t i = nodes[node].child; i != MERGED_NONE; i = nodes[i].sibling) {
        if (!is_class(containers, i) || !are_as_many(containers_count(containers, i), entries))
            continue;
        sum += containers_weight(containers, i);
        if (best == MERGED_NONE ||
            containers_weight(containers, i) > containers_weight(containers, best))
            best = i;
    }
    return sum >= least ? best : MERGED_NONE;
}

/* Returns the class with entries objects, or nearly so many, on the heavy path down a branch, if it
 * has half of what the branch retains besides slots, or together with others of as many; or
 * MERGED_NONE. */
static uint32_t part_in(const struct containers *containers, uint32_t branch, uint64_t entries)
{
    uint64_t bytes = containers_weight(containers, branch); /* besides slots */
    uint32_t at = branch;
    for (int i = 0; i < MOST_DEPTH && at != MERGED_NONE; i++, at = containers->heaviest[at]) {
        if (containers_weight(containers, at) < bytes / 2)
            return MERGED_NONE;
        if (is_class(containers, at) && are_as_many(containers_count(containers, at), entries))
            return at;
        bytes = without_slots(containers, at, bytes);
        const uint32_t part = parts_below(containers, at, entries, bytes / 2);
        if (part != MERGED_NONE)
            return part;
    }
    return MERGED_NONE;
}

/* Returns the class below variables, or the node itself. */
static uint32_t below_variables(const struct merged *merged, uint32_t node)
{
    while (node != MERGED_NONE && merged->nodes.data[node].kind != MERGED_CLASS)
        node = merged->nodes.data[node].child;
    return node;
}

/* Returns whether a branch is an index of so many entries: it has slots of its own, and little
 * else. */
static bool is_index(const struct containers *containers, uint32_t node, uint64_t entries)
{
    node = below_variables(containers->merged, node);
    if (node == MERGED_NONE || entries == 0 || !has_slots(containers, node))
        return false;
    const uint64_t own = containers_own(containers, node);
    const uint64_t each = own / entries;
    return each >= LEAST_SLOT && each <= MOST_SLOT &&
           own >= containers_weight(containers, node) / 2;
}

/* Returns whether a branch may be a part or an index of so many entries, by its numbers. */
static bool is_as_many(const struct containers *containers, uint32_t branch, uint64_t entries)
{
    return part_in(containers, branch, entries) != MERGED_NONE ||
           is_index(containers, branch, entries);
}

/* ---- links ---- */

/* Lists the branches of a node that may be of the same entries, and marks what is in each.
 * MOST_BRANCHES at most. links->which has the number of a node's branch + 1, or 0. */
static void list_branches(const struct containers *containers, struct container_links *links)
{
    const struct merged_node *nodes = containers->merged->nodes.data;
    const size_t count = containers->merged->nodes.count;
    links->count = 0;
    links->branches[links->count++] = links->branch;
    for (uint32_t i = nodes[links->node].child; i != MERGED_NONE; i = nodes[i].sibling)
        if (i != links->branch && links->count < MOST_BRANCHES &&
            is_as_many(containers, i, links->entries))
            links->branches[links->count++] = i;
    if (links->count < 2)
        return;
    memset(links->which, 0, count * sizeof(*links->which));
    for (uint32_t i = 0; i < links->count; i++)
        links->which[links->branches[i]] = (uint8_t)(i + 1);
    for (uint32_t i = links->node + 1; i < count; i++) /* a parent comes first */
        if (links->which[i] == 0 && nodes[i].parent != MERGED_NONE)
            links->which[i] = links->which[nodes[i].parent];
}

/* Notes to which other branches an object points. Returns false if it points nowhere. Looks at
 * SAMPLE_EDGES at most. hits[branch] counts, for each other branch, the objects that point to it.
 */
static bool note_pointers(const struct containers *containers, const struct container_links *links,
                          uint32_t object, uint32_t branch,
                          uint8_t hits[MOST_BRANCHES][MOST_BRANCHES])
{
    const struct findings *findings = containers->findings;
    struct g2h_edges *edges = paths_edges(findings->paths);
    uint32_t seen = 0, count = 0; /* seen: a bit per branch */
    struct g2h_edge edge;
    g2h_edges_begin(edges, object, object + 1);
    for (; count < SAMPLE_EDGES && g2h_edges_next(edges, &edge); count++) {
        const uint8_t to =
            links->which[containers->merged
                             ->of[g2h_dominators_number(findings->dominators, edge.target)]];
        if (to != 0 && to - 1u != branch && g2h_edge_holds(edge.flags))
            seen |= 1u << (to - 1);
    }
    /* A map or slice has few objects with slots among those of its entries, but these say more. */
    const uint32_t line =
        containers->merged->of[g2h_dominators_number(findings->dominators, object)];
    const uint8_t weight = has_slots(containers, line) ? SAMPLES / LINKED : 1;
    for (uint32_t i = 0; i < links->count; i++)
        if ((seen >> i & 1) != 0 && hits[branch][i] < SAMPLES)
            hits[branch][i] = (uint8_t)(hits[branch][i] + weight);
    return count > 0;
}

/* Links the branches of a container of which objects point to each other. Looks at a sample of at
 * most SAMPLES objects of each branch: two are linked directly if at least one in LINKED of one's
 * sample points to the other. Then is_linked becomes true for the first branch and all that are
 * linked with it, directly or by others. */
static void link_branches(const struct containers *containers, struct container_links *links)
{
    const struct merged *merged = containers->merged;
    uint8_t hits[MOST_BRANCHES][MOST_BRANCHES] = {{0}};
    uint32_t samples[MOST_BRANCHES] = {0};
    uint32_t left = links->count; /* branches whose samples are not complete */
    for (uint32_t i = 1; i < merged->of_count && left > 0; i++) {
        const uint8_t branch = merged->of[i] != MERGED_NONE ? links->which[merged->of[i]] : 0;
        if (branch == 0 || samples[branch - 1] == SAMPLES)
            continue;
        const uint32_t node = g2h_dominators_node(containers->findings->dominators, i);
        if (node == UINT32_MAX)
            continue;
        samples[branch - 1] += note_pointers(containers, links, node, branch - 1u, hits);
        left -= samples[branch - 1] == SAMPLES;
    }
    links->is_linked[0] = true;
    for (bool more = true; more;) { /* until a turn links no other branch */
        more = false;
        for (uint32_t i = 0; i < links->count; i++)
            for (uint32_t j = 0; j < links->count; j++) {
                const bool link = (hits[i][j] > 0 && hits[i][j] * LINKED >= samples[i]) ||
                                  (hits[j][i] > 0 && hits[j][i] * LINKED >= samples[j]);
                if (!links->is_linked[i] || links->is_linked[j] || !link)
                    continue;
                links->is_linked[j] = more = true;
            }
    }
}

/* Returns whether a branch of one map, slice or sync.Map has as many objects as that has entries:
 * each is of an entry then, as keys and values are. */
static bool is_of_each(const struct containers *containers, uint32_t node, uint32_t branch,
                       uint64_t entries)
{
    const struct merged_node *nodes = containers->merged->nodes.data;
    const struct merged_node *map = &nodes[node];
    const uint64_t known = map->is_trie ? map->trie_entries : map->entries; /* by its own count */
    if (map->kind != MERGED_CLASS || map->count != 1 || known == 0 || !has_slots(containers, node))
        return false;
    const uint32_t part = part_in(containers, branch, entries);
    return part != MERGED_NONE && are_as_many(nodes[part].count, known);
}

/* Finds which branches of a node are linked with one of them, unless they are what was asked last.
 */
static void update_links(const struct containers *containers, uint32_t node, uint32_t branch,
                         uint64_t entries)
{
    struct container_links *links = containers->links;
    if (links->node == node && links->branch == branch && links->entries == entries)
        return;
    *links = (struct container_links){
        .node = node, .branch = branch, .entries = entries, .which = links->which};
    list_branches(containers, links);
    if (links->count > 1)
        link_branches(containers, links);
}

/* Returns whether a child of a single object is an index without pointers, and the last class below
 * the object, such as a map of times by the same keys. */
static bool is_pointerless_index(const struct containers *containers, uint32_t node, uint32_t child)
{
    const struct merged_node *nodes = containers->merged->nodes.data;
    const uint32_t class = below_variables(containers->merged, child);
    return class != MERGED_NONE && nodes[class].child == MERGED_NONE && nodes[node].count == 1 &&
           has_slots(containers, class) && !is_class(containers, nodes[class].sibling);
}

/* Returns whether two children of a node, branch and child, belong to the same entries, of which
 * branch has so many. child must have as many objects, or be an index of as many; and either both
 * are parts of the node, one map or slice with so many entries; or child is an index without
 * pointers, for which the equal number must do; or objects of the two point to each other
 * (link_branches()). */
static bool has_same_entries(const struct containers *containers, uint32_t node, uint32_t branch,
                             uint64_t entries, uint32_t child)
{
    const struct container_links *links = containers->links;
    if (!is_as_many(containers, child, entries))
        return false;
    if (is_of_each(containers, node, child, entries) &&
        is_of_each(containers, node, branch, entries))
        return true;
    update_links(containers, node, branch, entries);
    if (is_pointerless_index(containers, node, child))
        return true;
    for (uint32_t i = 0; i < links->count; i++)
        if (links->branches[i] == child)
            return links->is_linked[i];
    return false;
}

/* ---- the parts of a container ---- */

/* Returns whether a child of the container's node is of its entries: all are, or it is the branch,
 * or is linked with that. */
bool container_has(const struct containers *containers, const struct container *container,
                   uint32_t child)
{
    return container->is_all || child == container->branch ||
           has_same_entries(containers, container->node, container->branch, container->entries,
                            child);
}

/* The bytes of parts: by their weights and, which differs with a base, as they are now. */
struct parts_sum {
    uint64_t weight, now;
};

/* Returns what of a node are its slots, the branch with the item, parts of the entries and indexes
 * of them. */
static struct parts_sum sum_of_parts(const struct containers *containers, uint32_t node,
                                     uint32_t branch, uint64_t entries)
{
    const struct merged_node *nodes = containers->merged->nodes.data;
    struct parts_sum sum = {containers_own(containers, node), nodes[node].bytes};
    for (uint32_t i = nodes[node].child; i != MERGED_NONE; i = nodes[i].sibling)
        if (i == branch || has_same_entries(containers, node, branch, entries, i)) {
            sum.weight += containers_weight(containers, i);
            sum.now += nodes[i].retained;
        }
    return sum;
}

/* Returns whether all that a container retains is of its entries: maps and slices have nothing
 * else, structs may have, unless it is little. What has not grown is still not of the entries. */
static bool holds_only_entries(const struct containers *containers, uint32_t node,
                               struct parts_sum sum)
{
    return has_slots(containers, node) ||
           (sum.weight >= containers_weight(containers, node) / 100 * NEARLY_ALL &&
            sum.now >= containers->merged->nodes.data[node].retained / 100 * NEARLY_ALL);
}

/* Returns whether a node is right below a package, "(other roots)" or an island, or below what
 * names the groups that hold it together: no object holds it alone. */
static bool is_shared(const struct containers *containers, uint32_t node)
{
    const struct merged_node *nodes = containers->merged->nodes.data;
    const uint32_t above = nodes[node].parent;
    if (above == MERGED_NONE || nodes[above].kind == MERGED_CLASS)
        return false;
    if (nodes[above].kind == MERGED_SYNTHETIC) {
        const enum g2h_node_kind kind = merged_kind_of(containers->merged, above);
        return kind == G2H_NODE_PACKAGE || kind == G2H_NODE_FRAME || kind == G2H_NODE_OTHER_ROOTS;
    }
    if (merged_is_island(containers->merged, above))
        return true;
    return nodes[nodes[above].parent].kind == MERGED_SYNTHETIC &&
           merged_kind_of(containers->merged, nodes[above].parent) == G2H_NODE_SEVERAL;
}

/* Returns whether a node may belong to so many entries by its numbers: it is a part or an index of
 * as many; or a class with as many objects or more, at most SAME percent fewer, since several may
 * be of one entry. */
static bool may_be_beside(const struct containers *containers, uint32_t node, uint64_t entries)
{
    if (is_as_many(containers, node, entries))
        return true;
    return is_class(containers, node) &&
           containers_count(containers, node) >= entries / 100 * (100 - SAME);
}

/* Returns whether a class is the map of package unique with the values of one type: its variable
 * has those of all types. */
static bool is_unique_map(const struct containers *containers, uint32_t node)
{
    static const char *const maps[] = {"unique.uniqueMap[", "unique.canonMap[" /* Go 1.25 */};
    size_t size;
    const char *name;
    if (!is_class(containers, node))
        return false;
    name = merged_name(containers->merged, node, &size);
    for (size_t i = 0; i < COUNT_OF(maps); i++)
        if (size > strlen(maps[i]) && memcmp(name, maps[i], strlen(maps[i])) == 0)
            return true;
    return false;
}

/* Returns whether such a map is not in another one: a uniqueMap has a canonMap. */
static bool is_interning(const struct containers *containers, uint32_t node)
{
    return is_unique_map(containers, node) &&
           !is_unique_map(containers, containers->merged->nodes.data[node].parent);
}

/* Goes up from a node to the first that no object holds alone, or MERGED_NONE. */
uint32_t containers_shared_above(const struct containers *containers, uint32_t node)
{
    while (node != MERGED_NONE && !is_shared(containers, node))
        node = containers->merged->nodes.data[node].parent;
    return node;
}

/* Finds the parts beside a container that hold its entries together with it, the heaviest
 * CONTAINER_PARTS: nodes that are shared with it, or intern strings, and have a hundredth of its
 * bytes or more. Finds none if the container shares nothing. */
void containers_find_beside(const struct containers *containers, const struct container *container,
                            uint32_t ret[CONTAINER_PARTS], uint32_t *ret_count)
{
    enum { LEAST = 100 /* divisor: the share of a container that a part has at least */ };
    const struct merged *merged = containers->merged;
    const uint32_t begin = container->node != MERGED_NONE ? container->node : container->branch;
    const uint32_t top = containers_shared_above(containers, begin);
    const uint64_t least = container->bytes / LEAST + 1;
    *ret_count = 0;
    if (top == MERGED_NONE)
        return;
    for (uint32_t i = 0; i < merged->nodes.count; i++) {
        const uint64_t weight = containers_weight(containers, i);
        /* A child of top is in the container, unless that is a part of top without this child. */
        const bool is_in_top = merged->nodes.data[i].parent == top &&
                               (container->node != top || container_has(containers, container, i));
        if (i == top || is_in_top || weight < least || merged->nodes.data[i].is_garbage ||
            (!is_shared(containers, i) && !is_interning(containers, i)) ||
            !may_be_beside(containers, i, container->entries))
            continue;
        uint32_t at = *ret_count;
        while (at > 0 && containers_weight(containers, ret[at - 1]) < weight)
            at--;
        if (at == CONTAINER_PARTS)
            continue; /* the heaviest are enough */
        *ret_count += *ret_count < CONTAINER_PARTS;
        for (uint32_t j = *ret_count - 1; j > at; j--)
            ret[j] = ret[j - 1];
        ret[at] = i;
    }
}

/* Sets the flags of a node and of all below it, and leaves others as they are. */
static void mark_beside(const struct merged *merged, uint32_t node, bool *is_in)
{
    const struct merged_node *nodes = merged->nodes.data;
    is_in[node] = true;
    for (uint32_t i = node + 1; i < merged->nodes.count; i++) /* a parent comes first */
        is_in[i] = is_in[i] || (nodes[i].parent >= node && nodes[i].parent != MERGED_NONE &&
                                is_in[nodes[i].parent]);
}

/* Marks the nodes of merged that are in the container: all below its node, or of a container that
 * is a part of it only the children which that part has, with all below these; and the parts beside
 * it. */
void container_mark(const struct containers *containers, const struct container *container,
                    bool *is_in)
{
    const struct merged *merged = containers->merged;
    const struct merged_node *nodes = merged->nodes.data;
    const uint32_t node = container->node != MERGED_NONE ? container->node : container->branch;
    memset(is_in, 0, node * sizeof(*is_in)); /* those that merged_mark_below() leaves as they are */
    merged_mark_below(merged, node, is_in);
    if (container->node != MERGED_NONE && !container->is_all) { /* it is a part of the node */
        for (uint32_t i = nodes[node].child; i != MERGED_NONE; i = nodes[i].sibling)
            is_in[i] = container_has(containers, container, i);
        for (uint32_t i = node + 1; i < merged->nodes.count; i++) /* a parent comes first */
            if (nodes[i].parent != node && nodes[i].parent != MERGED_NONE)
                is_in[i] = is_in[i] && is_in[nodes[i].parent];
    }
    for (uint32_t i = 0; i < container->beside_count; i++)
        mark_beside(merged, container->beside[i], is_in);
}

/* ---- entries ---- */

/* Returns whether a branch has objects of which there are many per holder. */
static bool has_many(const struct containers *containers, uint32_t branch, uint64_t holders)
{
    for (int i = 0; i < MOST_DEPTH && branch != MERGED_NONE;
         i++, branch = containers->heaviest[branch])
        if (is_class(containers, branch) &&
            containers_count(containers, branch) >= CONTAINER_MANY * holders)
            return true;
    return false;
}

/* Entries to which a path spreads, and the sum of their parts. */
struct spread {
    uint32_t entries;
    uint64_t sum;
};

/* Finds the class on the path down a branch of a node that most of the node's branches, or several,
 * are parts or indexes of. Goes down as long as a child has at least half of the bytes, or parts of
 * as many entries have. It must have CONTAINER_MANY times as many objects as the node; nodes of a
 * trie and the memory of maps do not count. Of several, the one that most bytes belong to. */
static void find_spread_by(const struct containers *containers, uint32_t node, uint32_t branch,
                           struct spread *ret)
{
    const struct merged_node *nodes = containers->merged->nodes.data;
    const uint64_t most = containers_weight(containers, node) / 100 * ALL;
    /* A larger sum than this has something of other branches. */
    const uint64_t alone = containers_weight(containers, branch) + containers_own(containers, node);
    const uint64_t count = nodes[node].kind == MERGED_CLASS ? nodes[node].count : 1;
    uint64_t bytes = containers_weight(containers, branch); /* besides slots */
    uint32_t at = branch;
    for (int i = 0; i < MOST_DEPTH && at != MERGED_NONE; i++, at = containers->heaviest[at]) {
        const uint64_t entries = containers_count(containers, at);
        if (containers_weight(containers, at) < bytes / 2 &&
            parts_below(containers, nodes[at].parent, entries, bytes / 2) == MERGED_NONE)
            break;
        bytes = without_slots(containers, at, bytes);
        if (!is_class(containers, at) || entries < CONTAINER_MANY * count ||
            is_trie(containers, at) || is_memory_of_map(containers, at))
            continue;
        const uint64_t sum = sum_of_parts(containers, node, branch, entries).weight;
        if ((sum >= most || sum > alone) && sum > ret->sum)
            *ret = (struct spread){at, sum};
    }
}

/* If the path parts at a node, finds the entries that most of its branches, or several, are parts
 * or indexes of: by the heaviest branch, or else by any that is large. Returns MERGED_NONE if there
 * is none. */
static uint32_t find_spread(const struct containers *containers, uint32_t node)
{
    enum { LARGE = 10 }; /* divisor: the share of the node that such a branch has */
    const struct merged_node *nodes = containers->merged->nodes.data;
    const uint64_t count = nodes[node].kind == MERGED_CLASS ? nodes[node].count : 1;
    const uint64_t least = containers_weight(containers, node) / LARGE;
    struct spread found = {MERGED_NONE, 0};
    uint32_t branch = MERGED_NONE;
    if (!may_contain(containers, node))
        return MERGED_NONE;
    for (uint32_t i = nodes[node].child; i != MERGED_NONE; i = nodes[i].sibling)
        if ((branch == MERGED_NONE ||
             containers_weight(containers, i) > containers_weight(containers, branch)) &&
            has_many(containers, i, count))
            branch = i;
    if (branch != MERGED_NONE)
        find_spread_by(containers, node, branch, &found);
    for (uint32_t i = nodes[node].child; i != MERGED_NONE && found.entries == MERGED_NONE;
         i = nodes[i].sibling)
        if (i != branch && containers_weight(containers, i) > least &&
            has_many(containers, i, count))
            find_spread_by(containers, node, i, &found);
    return found.entries;
}

/* What the search for entries knows of a class on its path. */
struct candidate {
    uint32_t node, in;         /* the class, and the logical container above it */
    uint64_t ratio, container; /* its objects per object of that container, and its weight */
};

/* Returns how much of an amount, objects or bytes, there is per holder; all of it if there is no
 * holder, as where none has been added since the base. */
static uint64_t per_holder(uint64_t amount, uint64_t holders)
{
    return holders > 0 ? amount / holders : amount;
}

/* Describes a class on the path as entries: above the recursive structure that it is part of, and
 * above the inner nodes of a sync.Map, is its container. If nothing that may be a container is
 * above it, the class stands for its own. */
static struct candidate candidate_of(const struct containers *containers, uint32_t node,
                                     uint32_t top)
{
    const struct merged_node *nodes = containers->merged->nodes.data;
    uint32_t in = nodes[structure_of(containers, node, top)].parent;
    while (is_trie(containers, in))
        in = nodes[in].parent;
    const uint64_t holders = is_class(containers, in) ? containers_count(containers, in) : 1;
    const bool is_known = in != MERGED_NONE && may_contain(containers, in);
    return (struct candidate){node, in, per_holder(containers_count(containers, node), holders),
                              containers_weight(containers, is_known ? in : node)};
}

/* Returns whether a class is multiplied more than another one above it; or as much, if that is the
 * maps or slices that it is in: of 100 maps with 100 counters each, the counters are the entries.
 */
static bool has_larger_ratio(const struct containers *containers, const struct candidate *one,
                             const struct candidate *above)
{
    const bool is_inside = above->node != MERGED_NONE && one->in == above->node;
    return one->ratio > above->ratio ||
           (is_inside && one->ratio == above->ratio && has_slots(containers, above->node));
}

/* Follows objects down the tree as long as one child has most, and then to the entries that the
 * last one spreads to. Of the classes of a recursive structure the numbers count, not the numbers
 * per object above. Returns MERGED_NONE if nothing is multiplied. *ret_last becomes the last object
 * on the way down. Of several levels the one with the largest ratio counts, or a later one of the
 * same structure with many more. */
static uint32_t find_entries(const struct containers *containers, uint32_t node, uint32_t *ret_last)
{
    const struct merged_node *nodes = containers->merged->nodes.data;
    struct candidate best = {.node = MERGED_NONE, .in = MERGED_NONE, .ratio = CONTAINER_MANY - 1};
    *ret_last = node;
    for (uint32_t at = node; at != MERGED_NONE; at = containers_heavy_child(containers, at)) {
        *ret_last = at;
        if (!is_class(containers, at) || is_trie(containers, at) ||
            is_memory_of_map(containers, at))
            continue;
        const struct candidate found = candidate_of(containers, at, node);
        const bool is_same = best.node != MERGED_NONE && found.in == best.in;
        bool is_better = has_larger_ratio(containers, &found, &best) &&
                         found.container >= best.container / 100 * DEEPER;
        if (is_same) /* of one structure the numbers count */
            is_better = containers_count(containers, at) >=
                        CONTAINER_MANY * containers_count(containers, best.node);
        if (is_better)
            best = found;
    }
    const uint32_t last = *ret_last;
    const uint32_t spread = find_spread(containers, last);
    if (spread == MERGED_NONE)
        return best.node;
    const uint64_t holders = nodes[last].kind == MERGED_CLASS ? nodes[last].count : 1;
    const bool says_more = per_holder(containers_count(containers, spread), holders) > best.ratio &&
                           containers_weight(containers, last) >= best.container / 100 * DEEPER;
    return best.node == MERGED_NONE || says_more ? spread : best.node;
}

/* Finds the entries below a node, as containers_find() does, without their container. Returns false
 * if nothing is multiplied there. */
bool containers_find_entries(const struct containers *containers, uint32_t node, uint32_t *ret)
{
    uint32_t last;
    *ret = find_entries(containers, node, &last);
    if (*ret != MERGED_NONE)
        *ret = top_of_class(containers, named_content(containers, *ret), node);
    return *ret != MERGED_NONE;
}

/* ---- the container ---- */

/* Replaces the buffer of a channel by the channel. Nothing unless all that the buffer retains is
 * entries. */
static void take_channel(const struct containers *containers, uint32_t top, struct container *ret)
{
    const struct merged *merged = containers->merged;
    const uint32_t at = ret->node != MERGED_NONE && ret->node != top
                            ? merged->nodes.data[ret->node].parent
                            : MERGED_NONE;
    if (at == MERGED_NONE || !ret->is_all || merged_form(merged, at) != G2H_FORM_CHAN)
        return;
    ret->branch = ret->node;
    ret->node = at;
    ret->bytes = containers_weight(containers, at);
}

/* Returns whether a node is several words of a variable, as those of an array: not one of them is
 * the container, but the variable. Those of one sync.Map, which has two before Go 1.24, are one
 * container. */
static bool is_words(const struct containers *containers, uint32_t node)
{
    const struct merged_node *nodes = containers->merged->nodes.data;
    if (nodes[node].kind != MERGED_VARIABLE || nodes[node].count <= 1)
        return false;
    const uint32_t child = nodes[node].child;
    const bool is_alone = child != MERGED_NONE && nodes[child].sibling == MERGED_NONE;
    return !is_alone || !is_trie(containers, child) || nodes[child].count > 1;
}

/* Makes a node the container, with all that it retains; branch is its child with the entries. */
static void make_whole(const struct containers *containers, uint32_t node, uint32_t branch,
                       struct container *ret)
{
    ret->node = node;
    ret->branch = branch;
    ret->bytes = containers_weight(containers, node);
    ret->is_all = true;
}

/* Returns whether a node retains hardly more than the container below it, all of which counts. */
static bool adds_nothing(const struct containers *containers, uint32_t node,
                         const struct container *below)
{
    return below->is_all &&
           containers_weight(containers, node) <= below->bytes / 100 * (100 + SAME);
}

/* Finds what the entries (ret->entry) are in: sets the container's node, branch, bytes and is_all.
 * Climbs from the entries, but not above top: first through the nodes of a sync.Map, all of which
 * is the container. The next node is the container if it may be one at all. From there on a node
 * above replaces it if nearly all bytes of this are parts of the same entries, and another branch
 * has some of them, too; nodes that add nothing are passed. bytes leaves out what is not of the
 * entries, unless it is little. */
static void climb_to_container(const struct containers *containers, uint32_t top,
                               struct container *ret)
{
    const struct merged_node *nodes = containers->merged->nodes.data;
    uint32_t branch = structure_of(containers, ret->entry, top);
    uint32_t at = nodes[branch].parent;
    ret->branch = branch;
    ret->bytes = containers_weight(containers, branch);
    for (; branch != top && is_trie(containers, at); branch = at, at = nodes[at].parent)
        make_whole(containers, at, branch, ret);
    const uint64_t holders = at != MERGED_NONE ? nodes[at].count : 0;
    for (int i = 0; i < MOST_DEPTH && branch != top && may_contain(containers, at);
         i++, branch = at, at = nodes[at].parent) {
        const uint64_t all = containers_weight(containers, at);
        const bool is_lowest = i == 0;
        if (!is_lowest && is_class(containers, at) && nodes[at].count != holders)
            break; /* each of these has several of the containers, or several share one of these */
        if (!is_lowest && is_words(containers, ret->node) && adds_nothing(containers, at, ret))
            make_whole(containers, at, branch, ret);
        if (!is_lowest && adds_nothing(containers, at, ret))
            continue;
        const struct parts_sum sum = sum_of_parts(containers, at, branch, ret->entries);
        const bool is_all = sum.weight >= all / 100 * (is_lowest ? ALL : 100 - SAME);
        const bool has_other_branch =
            sum.weight > containers_weight(containers, branch) + containers_own(containers, at);
        if (!is_lowest && (!is_all || !has_other_branch))
            break;
        ret->node = at;
        ret->branch = branch;
        ret->is_all = holds_only_entries(containers, at, sum);
        ret->bytes = ret->is_all ? all : sum.weight;
        if (!is_all)
            break;
    }
    take_channel(containers, top, ret);
}

/* Of the classes of the structure that the entries are in, finds the one with the name of its first
 * object. Returns MERGED_NONE if there is no such class, or the structure has the entries' own
 * name. */
static uint32_t find_tree(const struct containers *containers, uint32_t entry, uint32_t top)
{
    const struct merged_node *nodes = containers->merged->nodes.data;
    const uint32_t structure = structure_of(containers, entry, top);
    uint32_t at = entry == structure ? structure : nodes[entry].parent;
    if (!is_class(containers, structure) || nodes[structure].name == nodes[entry].name)
        return MERGED_NONE;
    for (int i = 0; i < MOST_DEPTH && at != structure && at != MERGED_NONE;
         i++, at = nodes[at].parent)
        if (nodes[at].name == nodes[structure].name)
            return at;
    return MERGED_NONE;
}

/* Returns how much the name of a class says about its objects. 2: it is a named type's; 1: that of
 * another type, such as a map's or one of the runtime; 0: that of a predeclared type, such as
 * string, or no type's, as of a tiny block. */
static int how_telling(const struct containers *containers, uint32_t node)
{
    if (is_named(containers, node))
        return 2;
    return merged_form(containers->merged, node) != G2H_FORM_OTHER;
}

/* Returns whether a class is the exported type of a package of which the other one is not: a user
 * of database/sql knows sql.Stmt, and not sql.driverStmt. */
static bool is_public_of(const struct containers *containers, uint32_t node, uint32_t other)
{
    size_t size, other_size, length, other_length;
    const char *name = merged_name(containers->merged, node, &size), *package,
               *of = merged_name(containers->merged, other, &other_size), *other_package;
    package_of_class(name, size, &package, &length);
    package_of_class(of, other_size, &other_package, &other_length);
    if (package != name || other_package != of || length != other_length ||
        memcmp(name, of, length) != 0 || size < length + 2 || other_size < length + 2)
        return false;
    const char first = name[length + 1];
    const char other_first = of[length + 1];
    return first >= 'A' && first <= 'Z' && other_first >= 'a' && other_first <= 'z';
}

/* Sets *best to the class of a part right below a node, or below a map or slice there, whose name
 * says more about an entry. */
static void name_by_parts(const struct containers *containers, uint32_t node, uint64_t entries,
                          unsigned depth, uint32_t *best)
{
    const struct merged_node *nodes = containers->merged->nodes.data;
    for (uint32_t i = nodes[node].child; i != MERGED_NONE; i = nodes[i].sibling) {
        const uint32_t part = part_in(containers, i, entries);
        const int more = part == MERGED_NONE
                             ? -1
                             : how_telling(containers, part) - how_telling(containers, *best);
        if (more > 0 || (more == 0 && is_public_of(containers, part, *best)))
            *best = part;
        const uint32_t class = below_variables(containers->merged, i);
        if (depth > 0 && class != MERGED_NONE && has_slots(containers, class))
            name_by_parts(containers, class, entries, depth - 1, best);
    }
}

/* Returns the class of a part whose name says more about an entry than the entry's own, or the
 * entry's own (container->named). */
static uint32_t name_of_part(const struct containers *containers, const struct container *container)
{
    uint32_t best = container->named;
    if (container->node != MERGED_NONE)
        name_by_parts(containers, container->node, container->entries, 1, &best);
    return best;
}

/* Finds the entries on the path down from the node, and what they are entries of. If the slots
 * above them take more than MOST_SLOT bytes per entry, hardly any slot is in use, and the slots
 * themselves are the entries. Returns false if nothing is multiplied there. */
bool containers_find(const struct containers *containers, uint32_t node, struct container *ret,
                     uint32_t *ret_last)
{
    const struct merged_node *nodes = containers->merged->nodes.data;
    const uint32_t entry = find_entries(containers, node, ret_last);
    if (entry == MERGED_NONE)
        return false;
    const uint32_t above = nodes[entry].parent;
    *ret = (struct container){.node = MERGED_NONE,
                              .tree = MERGED_NONE,
                              .entry = entry,
                              .entries = containers_count(containers, entry)};
    if (entry != node && is_class(containers, above) && containers_is_own(containers, above) &&
        per_holder(containers_own(containers, above), ret->entries) > MOST_SLOT) {
        ret->item = ret->entry = ret->named = ret->branch = above; /* hardly any slot is in use */
        ret->entries = containers_count(containers, above);
        ret->bytes = containers_weight(containers, above);
        return true;
    }
    ret->item = top_of_class(containers, entry, node);
    ret->named = named_content(containers, entry);
    if (ret->named == entry)
        ret->named = ret->item;
    ret->tree = find_tree(containers, entry, node);
    climb_to_container(containers, node, ret);
    ret->named = name_of_part(containers, ret);
    return true;
}
