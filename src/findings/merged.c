/*
 * merged: builds the merged tree, in which all objects of one class below one holder in the
 * dominator tree are one node; see merged.h.
 *
 * The steps are those of merge_dominators(): read the nodes of the view into an array in the order
 * of dominators (a node's number is its place there, greater than its dominator's); name what
 * variables and frames hold by the edges that lead there; find islands; merge each node, from the
 * root down, into a node of its class below the node that its dominator is merged in; put the nodes
 * into an order that does not depend on threads; and add up sizes. At the end are two small parts:
 * packages of classes, and rankings by weight.
 */
#include "findings/merged.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/heap.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "base/error.h"
#include "base/text.h"
#include "base/workers.h"
#include "findings/findings.h"

/* ==== nodes ==== */

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

/* Returns whether a node of the view is garbage; a folded one is if its first member is. */
bool findings_is_dead(const struct g2h_view *view, uint32_t number)
{
    struct g2h_node node;
    g2h_view_brief(view, number, &node);
    if (node.members > 0)
        g2h_view_member(view, number, 0, &node);
    return node.object != UINT32_MAX && g2h_view_is_garbage(view, node.object);
}

/* Returns whether a name is that of memory with the entries of a map; g2h_view_map_of() then
 * returns the name of the map. */
bool findings_is_entries(const struct g2h_view *view, uint32_t name)
{
    return name < g2h_view_name_count(view) &&
           (g2h_view_name_uses(view, name) & G2H_NAME_OF_ENTRIES) != 0;
}

/* Returns the name that reports give to the class of a node. Only the root and strings have no name
 * in the view: a string's own text is its name there. */
const char *findings_class_name(const struct g2h_view *view, const struct g2h_node *node,
                                size_t *ret_size)
{
    static const char roots[] = "(roots)";
    static const char texts[] = "(string)";
    if (node->kind != G2H_NODE_ROOT && node->name != G2H_NAME_NONE)
        return g2h_view_name(view, node->name, ret_size);
    *ret_size = (node->kind == G2H_NODE_ROOT ? sizeof(roots) : sizeof(texts)) - 1;
    return node->kind == G2H_NODE_ROOT ? roots : texts;
}

/* ==== merged ==== */

/* NODES of the view, or edges, are read at a time, and TASK_NODES are a task. At most
 * MOST_ANCESTORS are searched for a node of the same class. The nodes of AHEAD dominators are
 * prefetched at a time. */
enum { NODES = 256, TASK_NODES = 256 * NODES, MOST_ANCESTORS = 256, AHEAD = 32 };

/* A node of the view. They are in the order of dominators. */
struct merging_node {
    uint32_t size; /* UINT32_MAX: as many bytes or more: see merging_size() */
    uint32_t name;
    uint32_t merged; /* a node of struct merged; until this one is visited, the node's kind */
};

struct merging {
    struct merged *merged;
    const struct g2h_view *view;
    const struct g2h_dominators *dominators;
    struct merging_node *by_number;
    uint32_t count;   /* of by_number, some of which have no node */
    uint32_t several; /* node of the view; 0: it has none */
    /* nodes of the view that hold what several groups hold together; 0: none */
    uint32_t roots, globals, goroutines;
    uint32_t *numberless; /* by name of the view: its numberless_name(), plus 1; 0: not known */
    uint32_t *islands;    /* by number: the name of the island that it is of, plus 1, or 0; NULL:
                             there are none */
    struct text text;
};

/* ---- names ---- */

/* Returns the name of a node of merged. Names that are not the view's, such as those without
 * numbers, have numbers after the view's. */
const char *merged_name(const struct merged *merged, uint32_t node, size_t *ret_size)
{
    assert(node < merged->nodes.count);
    const uint32_t name = merged->nodes.data[node].name;
    return name < merged->view_names
               ? g2h_view_name(merged->view, name, ret_size)
               : string_pool_text(&merged->names, name - merged->view_names, ret_size);
}

/* Returns the bytes that a node retains without garbage. Only the root's subtree has garbage in it,
 * as one of its children. */
uint64_t merged_held(const struct merged *merged, uint32_t node)
{
    const struct merged_node *nodes = merged->nodes.data;
    uint64_t held = nodes[node].retained;
    for (uint32_t i = nodes[node].child; node == 0 && i != MERGED_NONE; i = nodes[i].sibling)
        held -= nodes[i].is_garbage ? nodes[i].retained : 0;
    return held;
}

/* Finds the next word of a name that is not a number. A number is a word of digits and commas only:
 * "1,234". Returns false if there are no more words. */
bool merged_next_word(const char *name, size_t size, size_t *at, const char **ret, size_t *ret_size)
{
    static const char digits[] = "0123456789,";
    while (*at < size) {
        const char *blank = memchr(name + *at, ' ', size - *at);
        const size_t begin = *at;
        const size_t end = blank ? as_size(blank - name) : size;
        size_t number = begin;
        while (number < end && memchr(digits, name[number], sizeof(digits) - 1))
            number++;
        *at = end + 1;
        *ret = name + begin;
        *ret_size = end - begin;
        if (number < end)
            return true;
    }
    return false;
}

/* Sets *ret to the number of a name: that of the view or, if the view does not have it, one of
 * merged->names, which follow the view's numbers. */
static struct g2h_error *own_name(struct merged *merged, const char *text, size_t size,
                                  uint32_t *ret)
{
    uint32_t number;
    if (g2h_view_find_name(merged->view, text, size, ret))
        return NULL;
    TRY_MEMORY(string_pool_intern(&merged->names, text, size, &number));
    *ret = merged->view_names + number;
    return NULL;
}

static bool is_digit(const char *text, size_t size, size_t at)
{
    return at < size && text[at] >= '0' && text[at] <= '9';
}

/* Returns where a number ends, whose digits may be in groups: 1,234. */
static size_t skip_number(const char *text, size_t size, size_t at)
{
    while (is_digit(text, size, at) ||
           (at < size && text[at] == ',' && at > 0 && is_digit(text, size, at - 1) &&
            is_digit(text, size, at + 1)))
        at++;
    return at;
}

/* Returns where the characters end that no number and no bracket is made of. */
static size_t skip_others(const char *text, size_t size, size_t at)
{
    while (at < size && !is_digit(text, size, at) && text[at] != '[' && text[at] != ']' &&
           text[at] != ',')
        at++;
    return at;
}

/*
 * Appends the name of a node that is not an object, without the parts in which similar nodes
 * differ: "goroutine 17 [chan send, 5 minutes] main.f" becomes "goroutine [chan send] main.f", "80
 * goroutines [select] main.g" loses its number, "defer main.f in goroutine 17" its goroutine, and a
 * variable's "[17]" becomes "[]".
 */
static void append_numberless(struct text *numberless, const char *text, size_t size)
{
    static const char goroutine[] = " in goroutine ";
    const size_t goroutine_size = sizeof(goroutine) - 1;
    bool in_brackets = false;
    for (size_t i = 0; i < size;) {
        const size_t end = skip_number(text, size, i);
        /* A whole word or index: digits in a word, such as "int64", do not tell nodes apart. */
        const bool is_number = end > i && (i == 0 || text[i - 1] == ' ' || text[i - 1] == '[') &&
                               (end == size || text[end] == ' ' || text[end] == ']');
        if (is_number && end < size && text[end] == ' ') {
            i = end + 1; /* skip the space as well */
            continue;
        }
        if (is_number) {
            i = end;
            continue;
        }
        if (text[i] == '[' || text[i] == ']')
            in_brackets = text[i] == '[';
        if (in_brackets && text[i] == ',') { /* skip how long it has waited, and the like */
            const char *close = memchr(text + i, ']', size - i);
            i = close ? as_size(close - text) : i + 1;
            continue;
        }
        const size_t others = skip_others(text, size, i);
        size_t part = 1; /* a bracket or a comma, at which neither of the two ends further on */
        if (end > i)
            part = end - i;
        else if (others > i)
            part = others - i;
        text_append(numberless, text + i, part);
        i += part;
    }
    /* Its number has been left out above: what is left of "in goroutine 17" goes, too. */
    if (numberless->size > goroutine_size &&
        memcmp(numberless->data + numberless->size - goroutine_size, goroutine, goroutine_size) ==
            0)
        numberless->size -= goroutine_size;
}

/* Sets *ret to the name that append_numberless() makes of a name of the view. Results are
 * remembered, because most names are those of many nodes, or of the edges to many. */
static struct g2h_error *numberless_name(struct merging *merging, uint32_t name, uint32_t *ret)
{
    struct merged *merged = merging->merged;
    struct text *numberless = &merging->text;
    size_t size;
    if (name < merged->view_names && merging->numberless[name] != 0) {
        *ret = merging->numberless[name] - 1;
        return NULL;
    }
    const char *text = g2h_view_name(merged->view, name, &size);
    numberless->size = 0;
    append_numberless(numberless, text, size);
    TRY_MEMORY(!numberless->failed);
    TRY(own_name(merged, numberless->data ? numberless->data : "", numberless->size, ret));
    if (name < merged->view_names)
        merging->numberless[name] = *ret + 1;
    return NULL;
}

/* Returns the name by which a node is merged: that of all strings is the same. */
static uint32_t merged_name_of(const struct merging *merging, const struct g2h_node *node)
{
    const bool has_name = node->kind != G2H_NODE_TEXT && node->name != G2H_NAME_NONE;
    return has_name ? node->name : merging->merged->texts;
}

/* Returns whether the objects that a node alone holds are called by the edges that lead to them. */
static bool names_what_it_holds(enum g2h_node_kind kind)
{
    return kind == G2H_NODE_PACKAGE || kind == G2H_NODE_VARIABLE || kind == G2H_NODE_FRAME ||
           kind == G2H_NODE_DATA || kind == G2H_NODE_BSS || kind == G2H_NODE_POOLS;
}

/* Reads a task's nodes of the view into by_number, which is in the order of dominators. Prefetches,
 * because the two orders are unrelated. */
static struct g2h_error *read_nodes(void *context, size_t task, unsigned worker)
{
    struct merging *merging = context;
    const uint32_t begin = as_u32(task) * TASK_NODES;
    struct g2h_node nodes[NODES];
    struct merging_node *into[NODES];
    const struct g2h_heap *heap = g2h_view_heap(merging->view);
    const bool is_sample = g2h_heap_sample(heap) != NULL;
    (void)worker;
    for (uint32_t first = begin; first - begin < TASK_NODES; first += NODES) {
        const size_t count = g2h_view_nodes(merging->view, first, NODES, nodes);
        for (size_t i = 0; i < count; i++) {
            into[i] =
                &merging->by_number[g2h_dominators_number(merging->dominators, first + as_u32(i))];
            __builtin_prefetch(into[i], 1);
        }
        for (size_t i = 0; i < count && is_sample; i++)
            if (nodes[i].object != UINT32_MAX)
                nodes[i].size = g2h_heap_estimated_size(heap, nodes[i].object);
        for (size_t i = 0; i < count; i++)
            *into[i] = (struct merging_node){
                .size = nodes[i].size < UINT32_MAX ? as_u32(nodes[i].size) : UINT32_MAX,
                .name = merged_name_of(merging, &nodes[i]),
                .merged = nodes[i].kind};
    }
    return NULL;
}

/* Returns the bytes of a node of the view. */
static inline uint64_t merging_size(const struct merging *merging, const struct merging_node *one,
                                    uint32_t node)
{
    struct g2h_node read;
    if (one->size < UINT32_MAX)
        return one->size;
    g2h_view_brief(merging->view, node, &read);
    return read.object == UINT32_MAX
               ? read.size
               : g2h_heap_estimated_size(g2h_view_heap(merging->view), read.object);
}

/* Sets *ret to the name of a word of a variable, without the package: "cache.items" of items in
 * main.cache; "table[]". */
static struct g2h_error *name_in_variable(struct merging *merging, const struct g2h_node *variable,
                                          uint32_t word, uint32_t *ret)
{
    struct text *text = &merging->text;
    size_t size, begin = 0;
    const char *name = g2h_view_name(merging->view, variable->name, &size);
    /* Without a symbol it is called after code and its address, and no package comes first. */
    const bool has_symbol = memmem(name, size, " (0x", strlen(" (0x")) == NULL;
    for (size_t i = 0; i < size && has_symbol; i++)
        if (name[i] == '/') /* a dot before it was one of the package's path */
            begin = 0;
        else if (name[i] == '.' && begin == 0)
            begin = i + 1;
    text->size = 0;
    append_numberless(text, name + begin, size - begin);
    name = g2h_view_name(merging->view, word, &size);
    text_append_string(text, size > 0 && name[0] == '[' ? "" : ".");
    append_numberless(text, name, size);
    TRY_MEMORY(!text->failed);
    return own_name(merging->merged, text->data, text->size, ret);
}

/* Records, for each node that only the given node holds, the name of the edge that leads there. Of
 * several edges the last one counts: in frames the last ones are those of variables that have
 * names. A variable names what only its package holds, too. */
static struct g2h_error *name_held(struct merging *merging, struct g2h_edges *edges, uint32_t node)
{
    struct map *variables = &merging->merged->variables;
    struct g2h_edge edge;
    struct g2h_node read;
    g2h_view_brief(merging->view, node, &read);
    if (read.kind == G2H_NODE_VARIABLE &&
        (g2h_view_name_uses(merging->view, read.name) & G2H_NAME_OF_LINKS) != 0)
        return NULL; /* see enter_map() */
    const uint32_t package =
        read.kind == G2H_NODE_VARIABLE ? g2h_dominators_of(merging->dominators, node) : node;
    const uint64_t synthetic = g2h_view_account(merging->view)->first_object;
    g2h_edges_begin(edges, node, node + 1);
    while (g2h_edges_next(edges, &edge)) {
        uint32_t name, known;
        const uint32_t above = g2h_dominators_of(merging->dominators, edge.target);
        /* Only a pointer with a name, to an object that this node or its package alone holds. */
        if ((edge.flags & (G2H_EDGE_BY_INDEX | G2H_EDGE_ADDED)) != 0 ||
            edge.name == G2H_NAME_NONE || edge.target < synthetic ||
            (above != node && above != package))
            continue;
        if (above == node)
            TRY(numberless_name(merging, edge.name, &name));
        else
            TRY(name_in_variable(merging, &read, edge.name, &name));
        TRY_MEMORY(map_put(variables, edge.target, name, &known));
        if (known != name)
            map_set(variables, edge.target, name);
    }
    return NULL;
}

/* Reads the synthetic nodes: notes the groups that merging treats specially, and names what
 * packages and frames hold by their variables. */
static struct g2h_error *name_all_held(struct merging *merging)
{
    _cleanup_(findings_destroy_edges) struct g2h_edges *edges = NULL;
    struct g2h_node node;
    TRY(g2h_edges_create(merging->view, &edges));
    for (uint32_t i = 0; i < g2h_view_account(merging->view)->first_object; i++) {
        g2h_view_brief(merging->view, i, &node);
        if (node.kind == G2H_NODE_GC_ROOTS)
            merging->roots = i;
        if (node.kind == G2H_NODE_GLOBALS)
            merging->globals = i;
        if (node.kind == G2H_NODE_GOROUTINES)
            merging->goroutines = i;
        if (node.kind == G2H_NODE_SEVERAL)
            merging->several = i;
        if (names_what_it_holds(node.kind))
            TRY(name_held(merging, edges, i));
    }
    return NULL;
}

enum { FORGOTTEN = MAP_NONE - 1 }; /* a name in merged->variables that is no longer used */

/* Returns the name of the pointer of a variable to a node of the view, or MAP_NONE. */
static uint32_t pointer_of_variable(const struct merging *merging, uint32_t node)
{
    const uint32_t name = map_get(&merging->merged->variables, node);
    return name == FORGOTTEN ? MAP_NONE : name;
}

/* Returns the kind of the node of the view with a number. Until merge_all() has begun, by_number
 * has the kinds where it later has nodes of merged. */
static enum g2h_node_kind kind_of_number(const struct merging *merging, uint32_t number)
{
    return merging->by_number[number].merged;
}

/* Returns whether a node of the view with a number is an object that a variable's node holds. */
static bool is_held_by_variable(const struct merging *merging, uint32_t number)
{
    return g2h_dominators_node(merging->dominators, number) != UINT32_MAX &&
           merged_is_object(kind_of_number(merging, number)) &&
           kind_of_number(merging, g2h_dominators_above(merging->dominators, number)) ==
               G2H_NODE_VARIABLE;
}

/* Undoes the naming of objects by single words of a variable that holds many. The elements of a
 * list that the words of a variable point to, its first and its last, are like all others: if a
 * variable holds many objects of a class that no word alone holds, those of its words are not
 * called after these. The first round counts them, since an object of a word may come before the
 * others; the second one forgets. */
static struct g2h_error *forget_ends(struct merging *merging)
{
    enum { MANY = 4 };
    const struct g2h_dominators *dominators = merging->dominators;
    struct map *variables = &merging->merged->variables;
    _cleanup_(map_deinit) struct map counts = {0};
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 1; i < merging->count; i++) {
            if (!is_held_by_variable(merging, i))
                continue;
            const uint32_t node = g2h_dominators_node(dominators, i);
            const uint64_t key =
                map_hash_pair(g2h_dominators_above(dominators, i), merging->by_number[i].name);
            const bool has_word = map_get(variables, node) != MAP_NONE;
            uint32_t count = 0;
            if (round == 0 && !has_word) {
                TRY_MEMORY(map_put(&counts, key, 0, &count));
                map_set(&counts, key, count < MANY ? count + 1 : count);
            } else if (round == 1 && has_word && map_get(&counts, key) == MANY) {
                map_set(variables, node, FORGOTTEN);
            }
        }
    return NULL;
}

/* ---- merging ---- */

/*
 * Searches for a class from node on upwards. *ret_outermost becomes the uppermost node of the
 * class, or MERGED_NONE. Returns the nearest one if an object below node may be merged with it,
 * because then no class is lost from those above the object: each class in between is also above
 * that node. So the subtree below a class is what its objects retain, however they contain each
 * other. Otherwise returns MERGED_NONE.
 */
static uint32_t find_above(const struct merged *merged, uint32_t node, uint32_t name,
                           uint32_t *ret_outermost)
{
    const struct merged_node *nodes = merged->nodes.data;
    /* Of the classes that have been passed: the outermost nodes of all have no higher number. */
    uint32_t latest = 0;
    *ret_outermost = MERGED_NONE;
    for (int i = 0; i < MOST_ANCESTORS && node != MERGED_NONE; i++) {
        const struct merged_node *at = &nodes[node];
        if (at->kind == MERGED_CLASS && at->name == name) {
            *ret_outermost = at->outermost;
            return latest < node ? node : MERGED_NONE;
        }
        if (at->kind != MERGED_CLASS)
            latest = MERGED_NONE; /* objects are never merged across a node that is none */
        else if (at->outermost > latest)
            latest = at->outermost;
        node = at->parent;
    }
    return MERGED_NONE;
}

/* Finds or adds the node of a name below parent, unless the objects are merged with a node above,
 * which then is the result. */
static struct g2h_error *node_below(struct merging *merging, uint32_t parent, uint32_t name,
                                    enum merged_kind kind, uint32_t *ret)
{
    struct merged *merged = merging->merged;
    const uint64_t key = map_hash_pair((uint64_t)parent << 2 | kind, name);
    uint32_t above = MERGED_NONE, outermost = MERGED_NONE;
    *ret = map_get(&merged->numbers, key);
    if (*ret != MAP_NONE)
        return NULL;
    if (kind == MERGED_CLASS)
        above = find_above(merged, parent, name, &outermost);
    const uint32_t number = above != MERGED_NONE ? above : as_u32(merged->nodes.count);
    TRY_MEMORY(map_put(&merged->numbers, key, number, ret));
    if (above != MERGED_NONE) {
        merged->nodes.data[above].is_cyclic |= above != parent;
        return NULL;
    }
    const struct merged_node node = {.kind = kind,
                                     .is_garbage = parent != MERGED_NONE &&
                                                   merged->nodes.data[parent].is_garbage,
                                     .parent = parent,
                                     .child = MERGED_NONE,
                                     .sibling = MERGED_NONE,
                                     .outermost = outermost != MERGED_NONE ? outermost : number,
                                     .name = name,
                                     .example = UINT32_MAX};
    TRY_MEMORY(vector_push(&merged->nodes, node));
    return NULL;
}

/* Makes a node of the view the example of a node if it has a lower number than the present one. */
static void note_example(struct merged *merged, uint32_t number, uint32_t node)
{
    uint32_t *example = &merged->nodes.data[number].example;
    *example = MIN(node, *example);
}

/* Sets *ret to whether several groups hold a node together. If they do, *parent becomes the node
 * that names these groups, below that of "(held by several)", although the latter does not hold the
 * node. */
static struct g2h_error *sharers_of(struct merging *merging, uint32_t node, uint32_t *parent,
                                    bool *ret)
{
    const char *text;
    size_t size;
    uint32_t name;
    struct g2h_node several;
    *ret = merging->several != 0 && g2h_view_sharers(merging->view, node, &text, &size);
    if (!*ret)
        return NULL;
    TRY(own_name(merging->merged, text, size, &name));
    g2h_view_brief(merging->view, merging->several, &several);
    TRY(node_below(merging, *parent, several.name, MERGED_SYNTHETIC, parent));
    note_example(merging->merged, *parent, merging->several);
    return node_below(merging, *parent, name, MERGED_VARIABLE, parent);
}

/* Returns whether a node may hold what several of the groups below it hold together. */
static bool is_top(const struct merging *merging, uint32_t node)
{
    const uint32_t example = merging->merged->nodes.data[node].example;
    return node == 0 || example == merging->roots || example == merging->globals ||
           example == merging->goroutines;
}

/* Moves *parent, the node below which an object is to come, down to the node of the variable, or of
 * the several groups, that hold the object, if there is one: adds that node, unless there is one
 * already, and counts the object in it. Only a node that groups are below (is_top()) can hold what
 * several of them hold together. */
static struct g2h_error *put_below_variable(struct merging *merging, uint32_t node,
                                            uint32_t *parent)
{
    struct merged *merged = merging->merged;
    const uint32_t name = pointer_of_variable(merging, node);
    bool is_below = false;
    if (name != MAP_NONE) {
        is_below = true;
        TRY(node_below(merging, *parent, name, MERGED_VARIABLE, parent));
    } else if (is_top(merging, *parent)) {
        TRY(sharers_of(merging, node, parent, &is_below));
    }
    if (is_below) {
        merged->nodes.data[*parent].count++;
        note_example(merged, *parent, node);
    }
    return NULL;
}

/* ---- islands ----
 *
 * Objects that several variables of a package hold together are right below the package. If these
 * variables are an index and its twin, two maps and two others of the same types, then the objects
 * of both would be one node. So the variables of each, with what they hold together, are an island
 * of their own: a node below the package that is called after its variables.
 *
 * Only classes are examined of which there is much right below a package, and only if others than
 * the same variables hold their objects are there islands; or, in trees that are compared, always.
 */

enum {
    ISLANDS_LEAST = 100, /* divisor: the share of the heap that objects of a class have at least */
    ISLANDS_MANY = 4,    /* least objects of such a class */
    ISLANDS_MOST = 64,   /* the most islands of a class: with more, there are none */
    ISLANDS_NAMED = 3,   /* variables in a name */
};

/* The objects of a class right below a package that no variable holds alone. */
struct shared_class {
    uint64_t count, retained;
    uint32_t islands; /* numbers of these: found so far, */
    uint32_t first;   /* and the first one, as an index in roots */
};

/* An island of a shared class: the member that stands for it, and the next one of the class. */
struct island_root {
    uint32_t member, next;
};

/* What a package holds and nothing below the package does: a variable, an object of one, or an
 * object that several hold. */
struct package_member {
    uint32_t number;
    uint32_t class;  /* index in classes, plus 1; 0: it is not of a shared class */
    uint32_t united; /* another member of the same island; itself: it stands for all */
    bool is_taken;   /* something that points to it has been seen */
};

struct islands {
    struct merging *merging;
    struct map by_class; /* hash of package and name → index in classes */
    VECTOR(struct shared_class) classes;
    VECTOR(struct package_member) members; /* ordered by number */
    uint32_t *member_of; /* by number: the member that it is or that is above it, plus 1; or 0 */
    VECTOR(struct island_root) roots;
    struct map split; /* member that stands for an island → 0 */
};

static void islands_deinit(struct islands *islands)
{
    map_deinit(&islands->by_class);
    map_deinit(&islands->split);
    free(islands->classes.data);
    free(islands->members.data);
    free(islands->roots.data);
    large_free(islands->member_of, islands->merging->count, sizeof(uint32_t));
}

/* Returns whether the node with a number is a package, has the globals without one, or is a frame,
 * whose variables may hold objects together as well. */
static bool is_package_number(const struct merging *merging, uint32_t number)
{
    const enum g2h_node_kind kind = kind_of_number(merging, number);
    return kind == G2H_NODE_PACKAGE || kind == G2H_NODE_DATA || kind == G2H_NODE_BSS ||
           kind == G2H_NODE_FRAME;
}

/* Returns whether a number is right below a package. */
static bool is_member(const struct merging *merging, uint32_t number)
{
    return g2h_dominators_node(merging->dominators, number) != UINT32_MAX &&
           is_package_number(merging, g2h_dominators_above(merging->dominators, number));
}

/* Returns whether a number right below a package is a variable's: its node, or an object that is
 * called after one (name_held()). */
static bool is_of_variable(const struct merging *merging, uint32_t number)
{
    return kind_of_number(merging, number) == G2H_NODE_VARIABLE ||
           pointer_of_variable(merging, g2h_dominators_node(merging->dominators, number)) !=
               MAP_NONE;
}

/* Returns whether a number right below a package is an object that no variable holds alone. */
static bool is_shared(const struct merging *merging, uint32_t number)
{
    return merged_is_object(kind_of_number(merging, number)) && !is_of_variable(merging, number);
}

/* Returns the key of a member's class in by_class. */
static uint64_t class_key(const struct merging *merging, uint32_t number)
{
    return map_hash_pair(g2h_dominators_above(merging->dominators, number),
                         merging->by_number[number].name);
}

/* Finds the classes of which there is much right below a package that no variable holds alone: at
 * least 1/ISLANDS_LEAST of the heap (others get the count 0). *ret becomes whether one of them has
 * ISLANDS_MANY objects. */
static struct g2h_error *find_shared(struct islands *islands, bool *ret)
{
    struct merging *merging = islands->merging;
    const struct g2h_dominators *dominators = merging->dominators;
    const uint64_t least = g2h_dominators_retained_size(dominators, 0) / ISLANDS_LEAST + 1;
    *ret = false;
    for (uint32_t i = 1; i < merging->count; i++) {
        uint32_t index = as_u32(islands->classes.count);
        if (!is_member(merging, i) || !is_shared(merging, i))
            continue;
        TRY_MEMORY(map_put(&islands->by_class, class_key(merging, i), index, &index) &&
                   (index < islands->classes.count ||
                    vector_push(&islands->classes, ((struct shared_class){.first = UINT32_MAX}))));
        struct shared_class *class = &islands->classes.data[index];
        class->count++;
        class->retained +=
            g2h_dominators_retained_size(dominators, g2h_dominators_node(dominators, i));
        *ret |= class->count >= ISLANDS_MANY && class->retained >= least;
    }
    VECTOR_EACH(struct shared_class, class, islands->classes)
        if (class->retained < least)
            class->count = 0;
    return NULL;
}

/* Lists the members of packages, and notes for each number which one is above it. A dominator has a
 * lower number. */
static struct g2h_error *list_members(struct islands *islands)
{
    const struct merging *merging = islands->merging;
    const struct g2h_dominators *dominators = merging->dominators;
    islands->member_of = large_alloc(merging->count, sizeof(uint32_t));
    TRY_MEMORY(islands->member_of);
    for (uint32_t i = 1; i < merging->count; i++) {
        if (g2h_dominators_node(dominators, i) == UINT32_MAX)
            continue;
        const uint32_t above = g2h_dominators_above(dominators, i);
        if (!is_package_number(merging, above)) {
            islands->member_of[i] = islands->member_of[above];
            continue;
        }
        const uint32_t class =
            is_shared(merging, i) ? map_get(&islands->by_class, class_key(merging, i)) + 1 : 0;
        const uint32_t member = as_u32(islands->members.count);
        TRY_MEMORY(
            vector_push(&islands->members, ((struct package_member){i, class, member, false})));
        islands->member_of[i] = member + 1;
    }
    return NULL;
}

static bool is_examined(const struct islands *islands, const struct package_member *member)
{
    return member->class != 0 && islands->classes.data[member->class - 1].count >= ISLANDS_MANY;
}

/* Returns the member that a number is, or NULL. */
static struct package_member *member_at(const struct islands *islands, uint32_t number)
{
    const uint32_t index = islands->member_of[number];
    return index > 0 && islands->members.data[index - 1].number == number
               ? &islands->members.data[index - 1]
               : NULL;
}

/* Returns the member that stands for a member's island. */
static uint32_t island_of(struct islands *islands, uint32_t member)
{
    struct package_member *members = islands->members.data;
    while (members[member].united != member)
        member = members[member].united = members[members[member].united].united;
    return member;
}

bool merged_may_be_tiny(const struct merged *merged, uint32_t node, uint32_t name)
{
    enum { TINY = 16 };
    struct g2h_node read;
    if (name != merged->texts && name != merged->tiny)
        return false;
    g2h_view_brief(merged->view, node, &read);
    return read.size == TINY;
}

/* Unites a member that is examined with the member that is above an object that points to it: a
 * variable of the same package, or another such object. A block that small values share is of the
 * island that points to it first, and unites it with no other: it may have a string of each. */
static void unite_edge(struct islands *islands, const struct g2h_edge *edge)
{
    const struct merging *merging = islands->merging;
    const uint32_t target = g2h_dominators_number(merging->dominators, edge->target);
    struct package_member *to = member_at(islands, target);
    if (!to || !is_examined(islands, to) || !g2h_edge_holds(edge->flags))
        return;
    const uint32_t source = g2h_dominators_number(merging->dominators, edge->source);
    const uint32_t above = islands->member_of[source];
    if (above == 0)
        return;
    const struct package_member *from = &islands->members.data[above - 1];
    if (from == to ||
        g2h_dominators_above(merging->dominators, from->number) !=
            g2h_dominators_above(merging->dominators, to->number) ||
        (!is_examined(islands, from) && !is_of_variable(merging, from->number)))
        return;
    const uint32_t one = island_of(islands, above - 1);
    const uint32_t other = island_of(islands, islands->member_of[target] - 1);
    const bool is_tiny =
        merged_may_be_tiny(merging->merged, edge->target, merging->by_number[target].name);
    if (is_tiny && to->is_taken)
        return;
    to->is_taken = true;
    if (one > other && !is_tiny)
        islands->members.data[one].united = other;
    else
        islands->members.data[other].united = one;
}

/* Unites each object that is examined with what points to it: variables, and others of these
 * objects. Goes over all edges. Two below the same package are one island then; weak edges do not
 * count. */
static struct g2h_error *unite(struct islands *islands)
{
    const struct merging *merging = islands->merging;
    _cleanup_(findings_destroy_edges) struct g2h_edges *edges = NULL;
    struct g2h_edge read[NODES];
    TRY(g2h_edges_create(merging->view, &edges));
    g2h_edges_begin_targets(edges, 0, g2h_view_node_count(merging->view));
    for (size_t count; (count = g2h_edges_read(edges, read, NODES)) > 0;)
        for (size_t i = 0; i < count; i++)
            unite_edge(islands, &read[i]);
    return NULL;
}

/* Returns whether an island, by the member that stands for it, is already in a class's list. */
static bool has_island(const struct islands *islands, const struct shared_class *class,
                       uint32_t member)
{
    for (uint32_t i = class->first; i != UINT32_MAX; i = islands->roots.data[i].next)
        if (islands->roots.data[i].member == member)
            return true;
    return false;
}

/* Finds the islands of each class, and which classes have at least so many. Counting ends at more
 * than ISLANDS_MOST: such a class is not split. islands->split has the islands of those that are,
 * by the member that stands for each. */
static struct g2h_error *list_islands(struct islands *islands, uint32_t least)
{
    uint32_t known;
    for (uint32_t i = 0; i < islands->members.count; i++) {
        if (!is_examined(islands, &islands->members.data[i]))
            continue;
        struct shared_class *class = &islands->classes.data[islands->members.data[i].class - 1];
        const uint32_t root = island_of(islands, i);
        if (has_island(islands, class, root) || class->islands > ISLANDS_MOST)
            continue;
        TRY_MEMORY(vector_push(&islands->roots, ((struct island_root){root, class->first})));
        class->first = as_u32(islands->roots.count) - 1;
        class->islands++;
    }
    VECTOR_EACH(const struct shared_class, class, islands->classes) {
        if (class->islands < least || class->islands > ISLANDS_MOST)
            continue;
        for (uint32_t at = class->first; at != UINT32_MAX; at = islands->roots.data[at].next)
            TRY_MEMORY(map_put(&islands->split, islands->roots.data[at].member, 0, &known));
    }
    return NULL;
}

/* A variable of an island. */
struct island_variable {
    uint32_t island, node, name; /* member; node of the view; name of merged */
};

/* Orders variables by island, then by node. */
static int compare_island_variables(const void *a, const void *b)
{
    const struct island_variable *one = a;
    const struct island_variable *other = b;
    if (one->island != other->island)
        return COMPARE(one->island, other->island);
    return COMPARE(one->node, other->node);
}

/* Makes the name of an island: those of its first ISLANDS_NAMED variables, without the numbers in
 * them: "cache, items and others". */
static struct g2h_error *name_island(struct merging *merging, const struct island_variable *list,
                                     size_t count, uint32_t *ret)
{
    _cleanup_(text_deinit) struct text text = {0};
    const struct merged *merged = merging->merged;
    for (size_t i = 0; i < count && i < ISLANDS_NAMED; i++) {
        size_t size;
        const char *name =
            list[i].name < merged->view_names
                ? g2h_view_name(merged->view, list[i].name, &size)
                : string_pool_text(&merged->names, list[i].name - merged->view_names, &size);
        if (i > 0)
            text_append_string(&text, i + 1 == count ? " and " : ", ");
        append_numberless(&text, name, size);
    }
    if (count > ISLANDS_NAMED)
        text_append_string(&text, " and others");
    TRY_MEMORY(!text.failed);
    return own_name(merging->merged, text.data, text.size, ret);
}

/* Makes member_of the list of islands, by number, in its own memory; see merging->islands. Only
 * members are in it: what is below a member follows it into the island (enter_island()). */
static void note_islands(struct islands *islands, const struct map *names)
{
    struct merging *merging = islands->merging;
    for (uint32_t i = 1; i < merging->count; i++) {
        const bool is_a_member = member_at(islands, i) != NULL;
        const uint32_t member = islands->member_of[i] - 1;
        const uint32_t name = is_a_member ? map_get(names, island_of(islands, member)) : MAP_NONE;
        islands->member_of[i] = name != MAP_NONE ? name + 1 : 0;
    }
    merging->islands = take_pointer(islands->member_of);
}

/* Names the islands, and notes for each number what island it is of. */
static struct g2h_error *name_islands(struct islands *islands)
{
    struct merging *merging = islands->merging;
    _cleanup_vector_ VECTOR(struct island_variable) list = {0};
    _cleanup_(map_deinit) struct map names = {0};
    uint32_t name, known;
    for (uint32_t i = 0; i < islands->members.count; i++) {
        const uint32_t number = islands->members.data[i].number;
        if (!is_of_variable(merging, number) ||
            map_get(&islands->split, island_of(islands, i)) == MAP_NONE)
            continue;
        const uint32_t node = g2h_dominators_node(merging->dominators, number);
        name = pointer_of_variable(merging, node);
        if (name == MAP_NONE) /* it is not an object of a variable, but the variable's own node */
            name = merging->by_number[number].name;
        TRY_MEMORY(
            vector_push(&list, ((struct island_variable){island_of(islands, i), node, name})));
    }
    vector_sort(&list, compare_island_variables);
    for (size_t i = 0, end; i < list.count; i = end) {
        for (end = i; end < list.count && list.data[end].island == list.data[i].island; end++)
            ;
        TRY(name_island(merging, &list.data[i], end - i, &name));
        TRY_MEMORY(map_put(&names, list.data[i].island, name, &known));
    }
    note_islands(islands, &names);
    return NULL;
}

/* Finds the islands of the classes that have at least `least` islands, and names them; none if no
 * object is shared. */
static struct g2h_error *find_islands(struct merging *merging, uint32_t least)
{
    _cleanup_(islands_deinit) struct islands islands = {.merging = merging};
    bool has_shared;
    TRY(find_shared(&islands, &has_shared));
    if (!has_shared)
        return NULL;
    TRY(list_members(&islands));
    TRY(unite(&islands));
    TRY(list_islands(&islands, least));
    return islands.split.count > 0 ? name_islands(&islands) : NULL;
}

/* Sets *parent to the node of the island that a number is of, if it is of one. */
static struct g2h_error *enter_island(struct merging *merging, uint32_t node, uint32_t number,
                                      uint32_t *parent)
{
    if (!merging->islands || merging->islands[number] == 0)
        return NULL;
    TRY(node_below(merging, *parent, merging->islands[number] - 1, MERGED_VARIABLE, parent));
    merging->merged->nodes.data[*parent].count = 1; /* one island, however many members enter it */
    note_example(merging->merged, *parent, node);
    return NULL;
}

/* Returns whether a class is one that only the code of generic functions has, which several types
 * share: the memory that such code allocates for a map[string]int has the type of a
 * map[go.shape.string]go.shape.int. */
static bool is_of_shape(const struct g2h_view *view, uint32_t name)
{
    static const char shape[] = "go.shape.";
    size_t size;
    const char *text = g2h_view_name(view, name, &size);
    return memmem(text, size, shape, sizeof(shape) - 1) != NULL;
}

/* Returns whether an object counts as part of the map that parent is the node of. */
static bool merged_is_of_map(const struct merging *merging, uint32_t name, uint32_t parent)
{
    const struct merged_node *node = &merging->merged->nodes.data[parent];
    return node->kind == MERGED_CLASS && findings_is_entries(merging->view, name) &&
           (g2h_view_is_map_of(merging->view, node->name, name) ||
            (node->name < merging->merged->view_names &&
             g2h_view_class_form(merging->view, node->name) == G2H_FORM_MAP &&
             is_of_shape(merging->view, name)));
}

/* Returns whether an object is a part of a sync.Map: an inner node or an entry; until Go 1.23 the
 * entries of a Go map, and an interface with the value, too. */
static bool is_of_trie(const struct merging *merging, uint32_t name, uint32_t parent)
{
    if (name >= merging->merged->view_names) /* strings, and the root */
        return false;
    const enum g2h_runtime_class class = g2h_view_runtime_class(merging->view, name);
    return class == G2H_RUNTIME_TRIE || class == G2H_RUNTIME_TRIE_ENTRY ||
           (merging->merged->nodes.data[parent].is_trie &&
            (findings_is_entries(merging->view, name) ||
             g2h_view_class_form(merging->view, name) == G2H_FORM_INTERFACE));
}

/* Sets *ret to the name of the map that an inner node is of: sync.Map, or the type with the same
 * arguments, internal/sync.HashTrieMap[K,V]. */
static struct g2h_error *name_of_trie(struct merging *merging, uint32_t name, uint32_t *ret)
{
    static const char inner[] = "indirect[",
                      any[] = "internal/sync.indirect[interface {},interface {}]",
                      map[] = "sync.Map";
    struct text *text = &merging->text;
    size_t size;
    const char *node_name = g2h_view_name(merging->view, name, &size);
    const char *found = memmem(node_name, size, inner, sizeof(inner) - 1);
    if (!found || (size == sizeof(any) - 1 && memcmp(node_name, any, size) == 0))
        return own_name(merging->merged, map, sizeof(map) - 1, ret);
    const size_t begin = as_size(found - node_name);
    const size_t end = begin + sizeof(inner) - 2; /* at the bracket of the arguments */
    text->size = 0;
    text_append(text, node_name, begin);
    text_append_string(text, "HashTrieMap");
    text_append(text, node_name + end, size - end);
    TRY_MEMORY(!text->failed);
    return own_name(merging->merged, text->data, text->size, ret);
}

/* Counts a sync.Map by its uppermost inner node. Before Go 1.24 it has sync.Map.read, and beside it
 * perhaps one map, dirty: the larger number counts, since the code of a program without symbols may
 * not show what read is. If something holds entries only, they are of one map. */
static void count_trie(const struct merging *merging, uint32_t name, struct merged_node *into)
{
    const bool is_map = g2h_view_class_form(merging->view, name) == G2H_FORM_MAP;
    const bool is_top = g2h_view_runtime_class(merging->view, name) == G2H_RUNTIME_TRIE && !is_map;
    into->trie_tops += is_top;
    into->trie_maps += is_map;
    into->count = MAX(into->trie_tops, into->trie_maps);
    into->count = MAX(into->count, 1); /* entries only */
}

/* Returns whether a name is that of the entries of a sync.Map. */
static bool is_trie_entry(const struct merging *merging, uint32_t name)
{
    return name < merging->merged->view_names &&
           g2h_view_runtime_class(merging->view, name) == G2H_RUNTIME_TRIE_ENTRY;
}

/* Returns whether an object counts as an entry of a sync.Map. Entries of releases before 1.24 may
 * have been deleted, and do not count themselves; one that has not been points to an interface of
 * its own, which counts instead. */
static bool is_living_entry(const struct merging *merging, uint32_t name, uint32_t above)
{
    static const char old[] = "sync.entry";
    size_t size;
    if (!is_trie_entry(merging, name))
        return is_trie_entry(merging, above) &&
               g2h_view_class_form(merging->view, name) == G2H_FORM_INTERFACE;
    const char *text = g2h_view_name(merging->view, name, &size);
    return size != sizeof(old) - 1 || memcmp(text, old, size) != 0;
}

/* Merges an object of a sync.Map: all of one map are one of its class. above: as for
 * merged_merge(). */
static struct g2h_error *merge_trie(struct merging *merging, uint32_t node, uint32_t number,
                                    uint32_t above, uint32_t parent)
{
    struct merged *merged = merging->merged;
    struct merging_node *one = &merging->by_number[number];
    const bool is_inside = merged->nodes.data[parent].is_trie;
    uint32_t name;
    uint32_t into = parent;
    if (!is_inside) {
        TRY(name_of_trie(merging, one->name, &name));
        if (merged->nodes.data[parent].kind == MERGED_SYNTHETIC) { /* as in merged_merge() */
            TRY(enter_island(merging, node, number, &parent));
            TRY(put_below_variable(merging, node, &parent));
        }
        into = parent; /* if that is an object of the map's type, its inner nodes are part of it */
        if (merged->nodes.data[parent].kind != MERGED_CLASS ||
            merged->nodes.data[parent].name != name) {
            TRY(node_below(merging, parent, name, MERGED_CLASS, &into));
            count_trie(merging, one->name, &merged->nodes.data[into]);
            if (merged->nodes.data[into].parent == parent)
                note_example(merged, into, node);
        }
    }
    struct merged_node *trie = &merged->nodes.data[into];
    trie->is_trie = true;
    trie->entries += is_living_entry(merging, one->name, merging->by_number[above].name);
    trie->trie_entries += is_trie_entry(merging, one->name);
    trie->bytes += merging_size(merging, one, node);
    one->merged = into;
    return NULL;
}

/* Sets *parent to the map, if it is the node of a variable that is a sync.Map: whatever both of the
 * maps in it have, such as keys, is its own. */
static struct g2h_error *enter_map(struct merging *merging, uint32_t above, uint32_t *parent)
{
    static const char map[] = "sync.Map";
    struct merged *merged = merging->merged;
    const uint32_t variable = merging->by_number[above].name;
    uint32_t name;
    if (merged->nodes.data[*parent].kind != MERGED_SYNTHETIC || variable >= merged->view_names ||
        (g2h_view_name_uses(merging->view, variable) & G2H_NAME_OF_LINKS) == 0)
        return NULL;
    TRY(own_name(merged, map, sizeof(map) - 1, &name));
    TRY(node_below(merging, *parent, name, MERGED_CLASS, parent));
    merged->nodes.data[*parent].is_trie = true;
    return NULL;
}

/* Merges a node, whose number and whose dominator's number are given, into a node of merged, which
 * is that of all nodes with the same name below the same parent. The parent is that of its
 * dominator, but the memory of a map, and a node of a trie, merge with what they are part of;
 * entries of a map get the map as their parent; and below a package come islands, and the variables
 * of objects. */
static struct g2h_error *merged_merge(struct merging *merging, uint32_t node, uint32_t number,
                                      uint32_t above)
{
    struct merged *merged = merging->merged;
    struct merging_node *one = &merging->by_number[number];
    const uint32_t kind = one->merged;
    const bool object = merged_is_object(kind);
    uint32_t name = one->name;
    uint32_t parent = merging->by_number[above].merged;
    if (object && merged_is_of_map(merging, name, parent)) {
        merged->nodes.data[parent].bytes += merging_size(merging, one, node);
        one->merged = parent;
        return NULL;
    }
    if (object && is_of_trie(merging, name, parent))
        return merge_trie(merging, node, number, above, parent);
    if (merged->nodes.data[parent].kind == MERGED_SYNTHETIC)
        TRY(enter_island(merging, node, number, &parent));
    if (!object)
        TRY(numberless_name(merging, name, &name));
    else
        TRY(enter_map(merging, above, &parent));
    /* The dominator's node decides: parent may already be an island or a map below it. */
    if (object && merged->nodes.data[merging->by_number[above].merged].kind == MERGED_SYNTHETIC)
        TRY(put_below_variable(merging, node, &parent));
    TRY(node_below(merging, parent, name, object ? MERGED_CLASS : MERGED_SYNTHETIC, &one->merged));
    struct merged_node *into = &merged->nodes.data[one->merged];
    into->count++;
    if (kind == G2H_NODE_ELSE && one->size > 0)
        merged->nodes.data[parent].has_else = true;
    if (into->parent == parent) /* otherwise an object above it, of its class, comes first */
        note_example(merged, one->merged, node);
    into->bytes += merging_size(merging, one, node);
    into->is_garbage |= kind == G2H_NODE_UNREACHABLE;
    return NULL;
}

/* Merges all nodes, from the root down, so that a node's dominator is merged before it. The records
 * of dominators are anywhere in memory, and are prefetched in blocks of AHEAD. */
static struct g2h_error *merge_all(struct merging *merging)
{
    uint32_t nodes[AHEAD], above[AHEAD];
    TRY(node_below(merging, MERGED_NONE, merging->by_number[0].name, MERGED_SYNTHETIC,
                   &merging->by_number[0].merged));
    note_example(merging->merged, 0, 0);
    for (uint32_t first = 1; first < merging->count; first += AHEAD) {
        const uint32_t left = merging->count - first;
        const uint32_t count = MIN(left, AHEAD);
        for (uint32_t i = 0; i < count; i++) {
            nodes[i] = g2h_dominators_node(merging->dominators, first + i);
            if (nodes[i] == UINT32_MAX)
                continue;
            above[i] = g2h_dominators_above(merging->dominators, first + i);
            __builtin_prefetch(&merging->by_number[above[i]]);
        }
        for (uint32_t i = 0; i < count; i++)
            if (nodes[i] != UINT32_MAX)
                TRY(merged_merge(merging, nodes[i], first + i, above[i]));
    }
    return NULL;
}

/* ---- the order ---- */

/* What a node is ordered by: by depth, and at the same depth by example in the view. "(held by
 * several)" may be below several nodes, with one example. */
struct order_key {
    uint32_t depth, example, parent_example, node;
};

/* Orders nodes by depth, then by their examples' numbers in the view. */
static int compare_order_keys(const void *a, const void *b)
{
    const struct order_key *one = a;
    const struct order_key *other = b;
    if (one->depth != other->depth)
        return COMPARE(one->depth, other->depth);
    if (one->example != other->example)
        return COMPARE(one->example, other->example);
    if (one->parent_example != other->parent_example)
        return COMPARE(one->parent_example, other->parent_example);
    return 0;
}

/* Sets the key of each node. Parents come before their children, so a parent's depth is known. */
static void fill_order_keys(const struct merged *merged, struct order_key *keys)
{
    const struct merged_node *nodes = merged->nodes.data;
    for (uint32_t i = 0; i < merged->nodes.count; i++) {
        const uint32_t parent = nodes[i].parent;
        keys[i] = (struct order_key){.example = nodes[i].example, .node = i};
        if (parent != MERGED_NONE) {
            keys[i].depth = keys[parent].depth + 1;
            keys[i].parent_example = nodes[parent].example;
        }
    }
}

/* Renumbers the nodes independently of the order of dominators, which is not the same for one
 * region and for several. Sets new_numbers by present number. */
static struct g2h_error *renumber(struct merged *merged, uint32_t *new_numbers)
{
    const size_t count = merged->nodes.count;
    _cleanup_free_ struct order_key *keys = malloc(count * sizeof(*keys));
    struct merged_node *nodes = malloc(count * sizeof(*nodes));
    if (!keys || !nodes) {
        free(nodes);
        return &error_no_memory;
    }
    fill_order_keys(merged, keys);
    qsort(keys, count, sizeof(*keys), compare_order_keys);
    for (uint32_t i = 0; i < count; i++) {
        new_numbers[keys[i].node] = i;
        nodes[i] = merged->nodes.data[keys[i].node];
        /* Both are here or at a lower depth, and have their new numbers already. */
        nodes[i].outermost = new_numbers[nodes[i].outermost];
        if (i > 0) /* the root has no parent */
            nodes[i].parent = new_numbers[nodes[i].parent];
    }
    free(merged->nodes.data);
    merged->nodes.data = nodes;
    merged->nodes.capacity = count;
    map_deinit(&merged->numbers);
    return NULL;
}

/* Adds up retained sizes and links children. Parents come before their children in the array. */
static void merged_sum_up(struct merged *merged)
{
    struct merged_node *nodes = merged->nodes.data;
    for (size_t i = merged->nodes.count; i-- > 0;) {
        struct merged_node *node = &nodes[i];
        node->retained += node->bytes;
        node->untouched = MIN(node->untouched, node->retained);
        if (node->parent == MERGED_NONE)
            continue;
        struct merged_node *parent = &nodes[node->parent];
        parent->retained += node->retained;
        parent->untouched += node->untouched;
        node->sibling = parent->child;
        parent->child = as_u32(i);
    }
}

/* Records where the objects of the heap profile's samples have been merged. */
static struct g2h_error *add_samples(struct merging *merging)
{
    const struct g2h_heap *heap = g2h_view_heap(merging->view);
    const size_t count = g2h_heap_record_count(heap, G2H_RECORD_ALLOCSAMPLE);
    TRY_MEMORY(vector_grow(&merging->merged->samples, count));
    for (size_t i = 0; i < count; i++) {
        struct g2h_record record;
        uint32_t object, node = UINT32_MAX;
        g2h_heap_record(heap, G2H_RECORD_ALLOCSAMPLE, i, &record);
        if (g2h_heap_find(heap, record.allocsample.object, &object)) /* it may have been freed */
            node = g2h_view_object(merging->view, object);
        merging->merged->samples.data[i] =
            node != UINT32_MAX
                ? merging->merged->of[g2h_dominators_number(merging->dominators, node)]
                : MERGED_NONE;
    }
    merging->merged->samples.count = count;
    return NULL;
}

/* Adds the untouched parts of objects to the nodes that the objects have been merged in; those of
 * objects that the view leaves out, and of none, do not count. */
static void add_untouched(struct merging *merging)
{
    const struct g2h_heap *heap = g2h_view_heap(merging->view);
    for (size_t i = 0; i < g2h_heap_untouched_count(heap); i++) {
        uint32_t object;
        const uint64_t size = g2h_heap_untouched(heap, i, &object);
        const uint32_t node =
            object != UINT32_MAX ? g2h_view_object(merging->view, object) : UINT32_MAX;
        if (node == UINT32_MAX)
            continue;
        const uint32_t number = g2h_dominators_number(merging->dominators, node);
        merging->merged->nodes.data[merging->merged->of[number]].untouched += size;
    }
}

/* Orders the nodes, and keeps for each of the dominators' numbers the node that it is merged in: in
 * the memory of by_number, each of whose entries is read before the list reaches it. */
static struct g2h_error *keep_nodes(struct merging *merging)
{
    struct merged *merged = merging->merged;
    _cleanup_free_ uint32_t *new_numbers = malloc(merged->nodes.count * sizeof(*new_numbers));
    TRY_MEMORY(new_numbers);
    TRY(renumber(merged, new_numbers));
    void *memory = merging->by_number;
    uint32_t *of = memory;
    for (uint32_t number = 0; number < merging->count; number++)
        of[number] = new_numbers[merging->by_number[number].merged];
    const size_t size = merging->count * sizeof(*merging->by_number);
    merged->of = large_shrink(memory, size, merging->count * sizeof(*merged->of));
    TRY_MEMORY(merged->of);
    merged->of_count = merging->count;
    merging->by_number = NULL;
    return NULL;
}

/* Frees the list of islands, which is only needed while nodes are merged. */
static void forget_islands(struct merging *merging)
{
    large_free(merging->islands, merging->count, sizeof(*merging->islands));
    merging->islands = NULL;
}

static void merging_deinit(struct merging *merging)
{
    large_free(merging->by_number, merging->count, sizeof(*merging->by_number));
    free(merging->numberless);
    forget_islands(merging);
    text_deinit(&merging->text);
}

/* Merges the dominator tree of the view into merged, step by step: names, nodes in the order of
 * dominators, the merged nodes, their sums. */
static struct g2h_error *merge_dominators(struct merged *merged,
                                          const struct g2h_dominators *dominators, unsigned threads,
                                          enum merged_islands which)
{
    static const char texts[] = "(string)", tiny[] = "(tiny block)";
    _cleanup_(merging_deinit) struct merging merging = {.merged = merged,
                                                        .view = merged->view,
                                                        .dominators = dominators,
                                                        .count =
                                                            g2h_dominators_numbers(dominators)};
    merging.by_number = large_alloc(merging.count, sizeof(*merging.by_number));
    merging.numberless = calloc(count_and_end(merged->view_names), sizeof(*merging.numberless));
    TRY_MEMORY(merging.by_number && merging.numberless);
    TRY(own_name(merged, texts, sizeof(texts) - 1, &merged->texts));
    TRY(own_name(merged, tiny, sizeof(tiny) - 1, &merged->tiny));
    TRY(workers_run(threads > 0 ? threads : workers_available(),
                    g2h_view_node_count(merging.view) / TASK_NODES + 1, read_nodes, &merging));
    TRY(name_all_held(&merging));
    TRY(forget_ends(&merging));
    if (which != MERGED_ISLANDS_NONE &&
        g2h_view_is_typed(merged->view)) /* else variables have no names */
        TRY(find_islands(&merging, which == MERGED_ISLANDS_ALL ? 1 : 2));
    TRY(merge_all(&merging));
    forget_islands(&merging);
    TRY(keep_nodes(&merging));
    TRY(add_samples(&merging));
    add_untouched(&merging);
    merged_sum_up(merged);
    return NULL;
}

/* Merges the dominators of a view, on threads threads (0: one per processor). */
struct g2h_error *merged_make(const struct g2h_view *view, const struct g2h_dominators *dominators,
                              unsigned threads, enum merged_islands which, struct merged *ret)
{
    *ret = (struct merged){.view = view, .view_names = g2h_view_name_count(view)};
    struct g2h_error *error = merge_dominators(ret, dominators, threads, which);
    if (error)
        merged_deinit(ret);
    return error;
}

/* Returns the kind of the nodes that are merged in a node. By the kind of an example. If a place of
 * goroutines has others beside those that the view is about, it counts as goroutines. */
enum g2h_node_kind merged_kind_of(const struct merged *merged, uint32_t node)
{
    struct g2h_node example;
    assert(merged->nodes.data[node].kind != MERGED_CLASS);
    g2h_view_brief(merged->view, merged->nodes.data[node].example, &example);
    if (example.kind == G2H_NODE_GOROUTINES_IN_PLACE && merged->nodes.data[node].has_else)
        return G2H_NODE_GOROUTINES; /* the view is about one of them, or less */
    return example.kind;
}

/* Returns the name of a class in the view, or G2H_NAME_NONE. */
static uint32_t class_name(const struct merged *merged, uint32_t node)
{
    const struct merged_node *read = &merged->nodes.data[node];
    return read->kind == MERGED_CLASS && read->name < merged->view_names ? read->name
                                                                         : G2H_NAME_NONE;
}

enum g2h_class_form merged_form(const struct merged *merged, uint32_t node)
{
    return g2h_view_class_form(merged->view, class_name(merged, node));
}

/* Returns which class of the runtime's a node is, if it is one. */
enum g2h_runtime_class merged_runtime_class(const struct merged *merged, uint32_t node)
{
    if (merged->nodes.data[node].is_trie)
        return G2H_RUNTIME_TRIE;
    return g2h_view_runtime_class(merged->view, class_name(merged, node));
}

/* Returns whether a node is the runtime's own. Decides by the example's name in the view, since
 * goroutines and packages are named there. A MERGED_VARIABLE never is: its example is an object
 * that it holds, whose name says nothing about the variable. */
bool merged_is_runtime(const struct merged *merged, uint32_t node)
{
    struct g2h_node example;
    if (merged->nodes.data[node].kind == MERGED_VARIABLE)
        return false;
    g2h_view_brief(merged->view, merged->nodes.data[node].example, &example);
    return (g2h_view_name_uses(merged->view, example.name) & G2H_NAME_OF_RUNTIME) != 0;
}

/* Returns whether a node is several variables of a package that hold objects together. An island is
 * a variable's node that has other children than classes. */
bool merged_is_island(const struct merged *merged, uint32_t node)
{
    const struct merged_node *nodes = merged->nodes.data;
    if (node == MERGED_NONE || nodes[node].kind != MERGED_VARIABLE)
        return false;
    for (uint32_t i = nodes[node].child; i != MERGED_NONE; i = nodes[i].sibling)
        if (nodes[i].kind != MERGED_CLASS)
            return true;
    return false;
}

void merged_deinit(struct merged *merged)
{
    free(merged->nodes.data);
    string_pool_deinit(&merged->names);
    map_deinit(&merged->numbers);
    map_deinit(&merged->variables);
    free(merged->samples.data);
    large_free(merged->of, merged->of_count, sizeof(*merged->of));
    *merged = (struct merged){0};
}

/* Marks a node and all below it. One pass suffices, because parents come before their children in
 * the array; so no node before this one is below it, and flags there are not read. */
void merged_mark_below(const struct merged *merged, uint32_t node, bool *is_below)
{
    for (uint32_t i = node; i < merged->nodes.count; i++) {
        const uint32_t above = merged->nodes.data[i].parent;
        is_below[i] = i == node || (above != MERGED_NONE && above >= node && is_below[above]);
    }
}

/* ==== packages ==== */

/* Finds the package of a class in its name. Skips what is before the class's own name ("[]*",
 * "map[K]") and stops at the arguments of a generic type, so that "[]*net/http.Request" is of
 * net/http. Types without a package are builtin. */
void package_of_class(const char *name, size_t size, const char **ret, size_t *ret_size)
{
    static const char builtin[] = "builtin";
    size_t begin = 0;
    size_t end = size;
    for (size_t i = 0, depth = 0; i < size;
         i++) { /* begin: after the last bracket in front of a name */
        depth += name[i] == '[';
        depth -= name[i] == ']' && depth > 0;
        /* A bracket after a name, which is not that of an array's type, or of a map's key. */
        if (depth > 0 && i > begin && name[begin] != '[' && strncmp(name + begin, "map[", 4) != 0) {
            end = i; /* the arguments of a generic type begin here */
            break;
        }
        if (depth == 0 && (name[i] == ']' || name[i] == '*' || name[i] == ' '))
            begin = i + 1;
    }
    /* The package is the part before the last dot. */
    for (size_t i = end; i-- > begin;)
        if (name[i] == '.') {
            *ret = name + begin;
            *ret_size = i - begin;
            return;
        }
    *ret = builtin;
    *ret_size = sizeof(builtin) - 1;
}

/* ==== ranking ==== */

/* Orders by weight, the greatest first, and then by node, so that the order is the same in each
 * run. */
static int ranking_compare(const void *a, const void *b)
{
    const struct ranked *one = a;
    const struct ranked *other = b;
    if (one->weight != other->weight)
        return COMPARE(other->weight, one->weight);
    return COMPARE(one->node, other->node);
}

void ranking_sort(ranking *list)
{
    vector_sort(list, ranking_compare);
}

/* Adds the children of a node, those that retain most first. */
struct g2h_error *ranking_of_children(const struct findings *findings, uint32_t node, ranking *ret)
{
    for (uint32_t i = findings_node(findings, node)->child; i != MERGED_NONE;
         i = findings_node(findings, i)->sibling)
        TRY_MEMORY(vector_push(ret, ((struct ranked){findings_node(findings, i)->retained, i})));
    ranking_sort(ret);
    return NULL;
}
