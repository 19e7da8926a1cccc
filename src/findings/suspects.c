/*
 * suspects: chooses the parts of a heap to look at first, and finds what a report says of each; see
 * suspects.h. Three parts:
 *
 * suspects  walks the merged tree from the root, and adds the containers whose entries retain most
 * example   which of a suspect's objects to name, and whether one of several holders has most
 * who       the path to it, who holds it, of how many entries, and growth in no suspect
 *
 * A node of the merged tree, or line, is all objects of one class that one holder has. A number is
 * the position of a node of the view in the order of dominators. A container is what holds many
 * objects, its entries (containers.h).
 */
#include "findings/suspects.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/workers.h"
#include "findings/containers.h"
#include "findings/length.h"
#include "findings/path.h"

/* ==== suspects ==== */

enum {
    THRESHOLD = 5,      /* percent of the reachable bytes that a suspect has at least; */
    OF_RUNTIME = 25,    /* the same for memory that only the runtime holds: each heap has some */
    MOST_OF_PLACE = 60, /* percent of what goroutines hold that is named */
};

/* The least bytes of a suspect that only the runtime holds: such memory is half of a small heap. */
#define LEAST_OF_RUNTIME 1000000u

/* The least bytes of a stack that is a suspect: a small heap consists of stacks. */
#define LEAST_OF_STACK 1000000u

struct suspects_finder {
    const struct merged *merged;
    struct containers containers;
    const struct g2h_base *base; /* NULL: no base; then growth is NULL, too */
    const growth_vector *growth;
    uint64_t reachable, untouched, threshold, threshold_of_runtime;
    VECTOR(uint32_t) left; /* nodes that have yet to be examined */
    bool *is_below;        /* by node: used by count_all() */
    suspect_vector *found;
};

/* Returns whether the name of a node of merged begins with a prefix. */
static bool suspects_begins_with(const struct merged *merged, uint32_t node, const char *prefix)
{
    size_t size;
    const char *name = merged_name(merged, node, &size);
    return size >= strlen(prefix) && memcmp(name, prefix, strlen(prefix)) == 0;
}

/* Returns whether a synthetic node is one that may belong to the runtime as a whole. */
static bool is_package_or_goroutines(const struct merged *merged, uint32_t node)
{
    const enum g2h_node_kind kind = merged_kind_of(merged, node);
    return kind == G2H_NODE_PACKAGE || kind == G2H_NODE_GOROUTINE ||
           kind == G2H_NODE_GOROUTINES_IN_PLACE;
}

/* Returns whether only the runtime holds a node: its own types, objects below its own variables,
 * its goroutines. Timers are an exception: the runtime keeps them, but the program makes them by
 * package time. */
static bool suspects_is_of_runtime(const struct merged *merged, uint32_t node)
{
    const struct merged_node *nodes = merged->nodes.data;
    if (merged_runtime_class(merged, node) == G2H_RUNTIME_TIMER)
        return false;
    if (nodes[node].kind == MERGED_CLASS && merged_is_runtime(merged, node))
        return true;
    for (uint32_t i = node; i != MERGED_NONE; i = nodes[i].parent)
        if ((nodes[i].kind == MERGED_SYNTHETIC && is_package_or_goroutines(merged, i) &&
             merged_is_runtime(merged, i)) ||
            (nodes[i].kind == MERGED_VARIABLE && suspects_begins_with(merged, i, "runtime and ")))
            return true;
    return false;
}

/* Returns whether a node is one of the heaps in which the runtime keeps the timers: one per
 * processor, so which of them has a timer means nothing. node may be MERGED_NONE. */
bool suspects_are_timers(const struct merged *merged, uint32_t node)
{
    return node != MERGED_NONE && merged_runtime_class(merged, node) == G2H_RUNTIME_TIMERS;
}

/* ---- the weight of a node ---- */

static uint64_t positive(int64_t number)
{
    return number > 0 ? (uint64_t)number : 0;
}

static uint64_t suspects_weight_of(const struct suspects_finder *finder, uint32_t node)
{
    return containers_weight(&finder->containers, node);
}

/* Returns by how many objects the class of a node has grown in the heap as a whole, without
 * garbage. */
static uint64_t class_growth(const struct suspects_finder *finder, uint32_t node)
{
    const struct merged_node *nodes = finder->merged->nodes.data;
    uint64_t count = 0;
    size_t size;
    const char *name = merged_name(finder->merged, node, &size);
    const uint64_t before = growth_class_before(finder->base, name, size).count;
    for (size_t i = 0; i < finder->merged->nodes.count; i++)
        if (nodes[i].kind == MERGED_CLASS && !nodes[i].is_garbage &&
            nodes[i].name == nodes[node].name)
            count += nodes[i].count;
    return count > before ? count - before : 0;
}

/* Adds to the numbers of a suspect the objects of its class at and below a node, their bytes and
 * how many more these are than in the base; other classes below it are left out. */
static void count_below(const struct suspects_finder *finder, uint32_t node,
                        struct suspect *suspect)
{
    const struct merged_node *nodes = finder->merged->nodes.data;
    int64_t grown = 0;
    merged_mark_below(finder->merged, node, finder->is_below);
    for (uint32_t i = node; i < finder->merged->nodes.count; i++) {
        if (!finder->is_below[i] || nodes[i].kind != nodes[suspect->item].kind ||
            nodes[i].name != nodes[suspect->item].name)
            continue;
        suspect->count += nodes[i].count;
        suspect->own += nodes[i].bytes;
        grown += finder->growth ? finder->growth->data[i].count : 0;
    }
    suspect->grown += positive(grown);
}

/* Counts the objects of a suspect at and below its item. */
static void count_all(const struct suspects_finder *finder, struct suspect *suspect)
{
    suspect->count = suspect->own = suspect->grown = 0;
    count_below(finder, suspect->item, suspect);
}

/* Returns by how many bytes what a suspect consists of has grown. */
static uint64_t growth_of(const struct suspects_finder *finder, const struct suspect *suspect)
{
    const struct growth *growth = finder->growth->data;
    const struct merged_node *nodes = finder->merged->nodes.data;
    const struct container *container = &suspect->container;
    if (container->node == MERGED_NONE)
        return positive(growth[suspect->item].within);
    if (container->is_all && growth[container->node].within > 0)
        return positive(growth[container->node].within);
    /* A map that is half moved to other memory has more slots than later with more entries. */
    uint64_t sum = positive(growth[container->node].own);
    for (uint32_t i = nodes[container->node].child; i != MERGED_NONE; i = nodes[i].sibling)
        if (container_has(&finder->containers, container, i))
            sum += positive(growth[i].within);
    return sum;
}

/* Sets the bytes and the growth of a suspect. An object that the base has in another place has not
 * grown, so no more objects of a class count than the class has grown by. */
static void suspects_weigh(const struct suspects_finder *finder, struct suspect *suspect)
{
    const struct merged_node *node = &finder->merged->nodes.data[suspect->item];
    const struct container *container = &suspect->container;
    count_all(finder, suspect);
    if (!finder->growth) {
        const uint64_t named = finder->merged->nodes.data[suspect->named].count;
        suspect->bytes = container->bytes > 0 ? container->bytes : node->retained;
        if (suspect->named != suspect->item && named < suspect->count)
            suspect->count = named;
        return;
    }
    suspect->bytes = growth_of(finder, suspect);
    if (suspect->is_goroutines || suspect->is_deferred || suspect->count == 1)
        return;
    const uint64_t more = class_growth(finder, suspect->item);
    suspect->grown = MIN(more, suspect->grown);
}

/* Returns the node of a suspect that is one container with a length of its own, or MERGED_NONE. */
static uint32_t node_with_length(const struct merged *merged, const struct suspect *suspect)
{
    const uint32_t node = suspect->container.node;
    const uint32_t item = suspect->item;
    const uint32_t tried[] = {suspect->held_at, node, node == MERGED_NONE ? item : MERGED_NONE};
    for (size_t i = 0; i < COUNT_OF(tried); i++)
        if (tried[i] != MERGED_NONE && merged->nodes.data[tried[i]].entries > 0)
            return tried[i];
    return MERGED_NONE;
}

/* Returns whether the class of a suspect's objects has no name, so that there may be fewer of them
 * than entries: "(tiny block)" has several, and a string of the program's text is no object. */
static bool is_without_name(const struct merged *merged, const struct suspect *suspect)
{
    size_t size;
    const char *name = merged_name(merged, suspect->named, &size);
    return size > 0 && name[0] == '(';
}

/* Returns the type of the elements in the name of a slice or map type: "main.entry" of
 * "map[string]main.entry". It is empty for other names. */
static struct g2h_bytes element_of(const char *name, size_t size)
{
    const struct g2h_bytes all = bytes_at(name, size);
    size_t at = bytes_begin(all, "map[") ? strlen("map") : 0;
    int depth = 0;
    for (; at < size; at++) { /* to the end of "[]" or "[key]"; of other names, no further */
        depth += (name[at] == '[') - (name[at] == ']');
        if (depth == 0)
            break;
    }
    const bool is_bracketed = size > 0 && at < size && name[at] == ']';
    return (struct g2h_bytes){all.data + at + is_bracketed, is_bracketed ? size - at - 1 : 0};
}

/* Returns whether the entries of a container are structs, or other types with names, and the class
 * of a suspect is only what these have: its []int64 for map[int]main.entry. */
static bool is_of_values(const struct merged *merged, uint32_t container, uint32_t class)
{
    size_t size, class_size;
    const char *name = merged_name(merged, container, &size),
               *of = merged_name(merged, class, &class_size);
    if (merged->nodes.data[container].kind != MERGED_CLASS ||
        merged_form(merged, class) == G2H_FORM_DECLARED)
        return false;
    const struct g2h_bytes element = element_of(name, size);
    const bool is_letter = element.size > 0 && (element.data[0] == '_' || isalpha(element.data[0]));
    return is_letter && memchr(element.data, '.', element.size) != NULL &&
           !bytes_begin(element, "func(") && !bytes_begin(element, "chan ") &&
           !bytes_begin(element, "map[") && !bytes_begin(element, "struct {") &&
           !(element.size == class_size && memcmp(element.data, of, class_size) == 0);
}

/* Returns the container whose entries a suspect is many of. The item itself if it is a map; its
 * container if the suspect has no name of its own, or only has what the container's entries have.
 * MERGED_NONE if objects are to be counted, not entries. */
uint32_t suspect_node_of_entries(const struct merged *merged, const struct suspect *suspect)
{
    const uint32_t node = node_with_length(merged, suspect);
    if (node == MERGED_NONE)
        return MERGED_NONE;
    if (node == suspect->item)
        return merged_form(merged, node) == G2H_FORM_MAP ? node : MERGED_NONE;
    return (is_without_name(merged, suspect) &&
            suspect->count != merged->nodes.data[node].entries) ||
                   is_of_values(merged, node, suspect->named)
               ? node
               : MERGED_NONE;
}

/* Sets the number of entries that the container of a suspect has by its own count. Nothing for
 * goroutines, deferred calls, and containers that do not know their length. */
static void set_entries(const struct suspects_finder *finder, struct suspect *suspect)
{
    const struct merged *merged = finder->merged;
    const uint32_t node = suspect->is_goroutines || suspect->is_deferred
                              ? MERGED_NONE
                              : node_with_length(merged, suspect);
    if (node == MERGED_NONE)
        return;
    suspect->entries = merged->nodes.data[node].entries;
    suspect->entries_grown = finder->growth ? finder->growth->data[node].entries : 0;
    suspect->is_entries = suspect_node_of_entries(merged, suspect) != MERGED_NONE &&
                          (!finder->growth || finder->growth->data[node].has_entries);
}

/* Returns how many of what a suspect has many of there are: entries, or objects. */
uint64_t suspect_entries(const struct suspect *suspect)
{
    return suspect->is_entries ? suspect->entries : suspect->count;
}

/* Returns whether a suspect is large enough for its kind: it has the threshold; a single object in
 * a comparison a hundredth of the heap; the runtime's own objects a threshold of their own. */
static bool is_enough(const struct suspects_finder *finder, const struct suspect *suspect)
{
    enum { LONE = 100 }; /* a new or larger single object must have a hundredth of the heap */
    const bool is_lone =
        finder->growth && !suspect->is_goroutines && !suspect->is_deferred && suspect->count == 1;
    return suspect->bytes >= finder->threshold &&
           (!is_lone || suspect->bytes >= finder->reachable / LONE) &&
           (suspect->bytes >= finder->threshold_of_runtime ||
            !suspects_is_of_runtime(finder->merged, suspect->item));
}

/* Queues the children of a node that retain much, except one child. Returns how many it queues, or
 * UINT32_MAX if memory runs out. */
static uint32_t push_others(struct suspects_finder *finder, uint32_t node, uint32_t child)
{
    const struct merged_node *nodes = finder->merged->nodes.data;
    uint32_t count = 0;
    for (uint32_t i = nodes[node].child; i != MERGED_NONE; i = nodes[i].sibling)
        if (i != child && suspects_weight_of(finder, i) >= finder->threshold) {
            if (!vector_push(&finder->left, i))
                return UINT32_MAX;
            count++;
        }
    return count;
}

/* Queues the children of a node that retain much, and returns how many; UINT32_MAX: memory has run
 * out. */
static uint32_t push_children(struct suspects_finder *finder, uint32_t node)
{
    return push_others(finder, node, MERGED_NONE);
}

/* Adds a suspect if it is large enough for its kind. If it is not, what is below it may be, with a
 * base: what has grown in objects that have not become more. Returns false if memory runs out. */
static bool suspects_add(struct suspects_finder *finder, struct suspect suspect)
{
    suspects_weigh(finder, &suspect);
    set_entries(finder, &suspect);
    if (is_enough(finder, &suspect))
        return vector_push(finder->found, suspect);
    return !finder->growth || push_children(finder, suspect.item) != UINT32_MAX;
}

static bool is_of(const struct merged *merged, uint32_t node, enum g2h_runtime_class class)
{
    return node != MERGED_NONE && merged_runtime_class(merged, node) == class;
}

/* Sets the holder of a suspect: the node above it and, if that is a tree of sync.Map, the one above
 * that. held_at becomes the tree, or the list with the entries: the way from there to an item leads
 * through other items' entries, which says nothing. */
static void set_holder(const struct merged *merged, struct suspect *suspect)
{
    const struct merged_node *nodes = merged->nodes.data;
    uint32_t at = nodes[suspect->item].parent;
    uint32_t above = at;
    bool is_in_list = false;
    /* Up through the elements of a list, and the interfaces of the values in them. */
    for (; at != MERGED_NONE &&
           (is_of(merged, at, G2H_RUNTIME_ENTRY) || merged_form(merged, at) == G2H_FORM_INTERFACE);
         at = nodes[at].parent)
        is_in_list = is_in_list || is_of(merged, at, G2H_RUNTIME_ENTRY);
    suspect->held_at = is_in_list && nodes[at].kind != MERGED_SYNTHETIC ? at : MERGED_NONE;
    for (; is_of(merged, at, G2H_RUNTIME_TRIE); at = above = nodes[at].parent)
        suspect->held_at = at;
    while (above != MERGED_NONE && merged_form(merged, above) == G2H_FORM_INTERFACE)
        above = nodes[above].parent;
    suspect->holder =
        above != MERGED_NONE && nodes[above].kind == MERGED_CLASS ? above : MERGED_NONE;
}

/* Queues the children of a container that are not of its entries, from the threshold on. Nothing if
 * all that it retains is entries. Returns false if memory runs out. */
static bool push_unrelated(struct suspects_finder *finder, const struct container *container)
{
    const struct merged_node *nodes = finder->merged->nodes.data;
    if (container->node == MERGED_NONE || container->is_all)
        return true;
    for (uint32_t i = nodes[container->node].child; i != MERGED_NONE; i = nodes[i].sibling)
        if (suspects_weight_of(finder, i) >= finder->threshold &&
            !container_has(&finder->containers, container, i) && !vector_push(&finder->left, i))
            return false;
    return true;
}

/* Returns a suspect that is nothing but a node. */
static struct suspect suspect_of(uint32_t node)
{
    return (struct suspect){.item = node,
                            .named = node,
                            .holder = MERGED_NONE,
                            .held_at = MERGED_NONE,
                            .container = {.node = MERGED_NONE,
                                          .item = node,
                                          .entry = node,
                                          .named = node,
                                          .tree = MERGED_NONE,
                                          .branch = node}};
}

/* Returns whether the entries of a suspect are spread over several sync.Maps. Such a map in a
 * variable is no object, so what the maps are in takes their place as the container. A struct with
 * several of them has a name that says more. */
bool suspect_is_in_maps(const struct merged *merged, const struct suspect *suspect)
{
    const uint32_t node = suspect->container.node;
    if (node != MERGED_NONE && node != suspect->held_at &&
        merged_form(merged, node) == G2H_FORM_DECLARED)
        return false;
    return is_of(merged, suspect->held_at, G2H_RUNTIME_TRIE) &&
           merged->nodes.data[suspect->held_at].count > 1;
}

/* Returns a container and its entries as a suspect, without bytes and numbers. The holder is the
 * container itself if it is objects, or the sync.Maps if these are several; otherwise what holds it
 * or, if what is named is in elements of a list, what holds that. */
struct suspect suspect_of_container(const struct merged *merged, const struct container *container)
{
    struct suspect suspect = suspect_of(container->item);
    suspect.container = *container;
    suspect.named = container->named;
    if (container->node ==
        MERGED_NONE) { /* what is named is in the elements of a list, or the like */
        struct suspect content = suspect_of(suspect.named);
        set_holder(merged, &content);
        suspect.holder = content.holder;
        suspect.held_at = content.held_at;
    } else {
        const bool is_root = container->branch == container->item; /* or in a recursive structure */
        set_holder(merged, &suspect);
        if (merged->nodes.data[container->node].kind == MERGED_CLASS)
            suspect.holder = container->node;
        else if (!is_root && suspect.held_at == MERGED_NONE && container->tree == MERGED_NONE &&
                 merged->nodes.data[container->item].is_cyclic)
            suspect.holder = MERGED_NONE;
    }
    if (suspect_is_in_maps(merged, &suspect))
        suspect.holder = suspect.held_at;
    return suspect;
}

/* Returns the container of objects that have not become more since the base, but larger, the last
 * ones on the path down from a node: the map or slice that has all of them, such as that of the
 * lists of messages of all topics, if it has grown by little else. If there is none, the container
 * has no node. */
static struct container container_of_larger(const struct suspects_finder *finder, uint32_t node,
                                            uint32_t last)
{
    enum { MOST = 80 /* % */ };
    const struct merged_node *nodes = finder->merged->nodes.data;
    const uint32_t above = nodes[last].parent;
    struct container found = suspect_of(last).container;
    if (!finder->growth || last == node || nodes[last].count < CONTAINER_MANY ||
        nodes[above].count != 1 ||
        (merged_form(finder->merged, above) != G2H_FORM_MAP &&
         merged_form(finder->merged, above) != G2H_FORM_SLICE) ||
        suspects_weight_of(finder, last) < suspects_weight_of(finder, above) / 100 * MOST)
        return found;
    found.node = above;
    found.bytes = suspects_weight_of(finder, above);
    found.is_all = true;
    return found;
}

/* Adds the entries of a container below a node as a suspect, and queues what is beside the path to
 * them. If there is no container: the last object of the path becomes a suspect if the path does
 * not part there, or most bytes are its own; else its children are queued. Returns false if memory
 * runs out. */
static bool suspects_follow(struct suspects_finder *finder, uint32_t node)
{
    const struct merged_node *nodes = finder->merged->nodes.data;
    struct container container;
    uint32_t last;
    if (!containers_find(&finder->containers, node, &container, &last)) {
        const bool is_most =
            nodes[last].kind == MERGED_CLASS && containers_is_own(&finder->containers, last);
        const uint32_t parts = is_most ? 0 : push_children(finder, last);
        if (parts > 0)
            return parts != UINT32_MAX;
        if (nodes[last].kind != MERGED_CLASS)
            return true;
        container = container_of_larger(finder, node, last);
    }
    if (!push_unrelated(finder, &container))
        return false;
    uint32_t at = container.node != MERGED_NONE ? container.node : container.branch;
    for (; at != node; at = nodes[at].parent) /* look at siblings, too */
        if (push_others(finder, nodes[at].parent, at) == UINT32_MAX)
            return false;
    return suspects_add(finder, suspect_of_container(finder->merged, &container));
}

/* Sets suspect->inside to the objects that make up MOST_OF_PLACE percent of what goroutines in one
 * place hold, and inside_count to their number, if there are CONTAINER_MANY times as many as
 * objects right below the goroutines: the goroutines may be only a few that each hold a lot. */
static void set_inside(const struct suspects_finder *finder, struct suspect *suspect)
{
    const struct merged_node *nodes = finder->merged->nodes.data;
    const struct containers *containers = &finder->containers;
    uint32_t item;
    uint32_t at = suspect->item;
    while (at != MERGED_NONE && nodes[at].kind != MERGED_CLASS)
        at = containers_heavy_child(containers, at);
    if (at == MERGED_NONE || !containers_find_entries(containers, at, &item) ||
        containers_count(containers, item) < CONTAINER_MANY * containers_count(containers, at) ||
        suspects_weight_of(finder, item) <
            suspects_weight_of(finder, suspect->item) / 100 * MOST_OF_PLACE)
        return;
    struct suspect inside = suspect_of(item);
    count_all(finder, &inside);
    suspect->inside = item;
    suspect->inside_count = inside.count;
}

/* Adds what the goroutines in a place retain as a suspect. Returns false if memory runs out. */
static bool add_goroutines(struct suspects_finder *finder, uint32_t place)
{
    struct suspect suspect = suspect_of(place);
    suspect.is_goroutines = true;
    set_inside(finder, &suspect);
    return suspects_add(finder, suspect);
}

/* Examines a node: it is a suspect, or leads to one, or its children are queued. Garbage, and what
 * a view is not about, lead to none. Returns false if memory runs out. */
static bool suspects_examine(struct suspects_finder *finder, uint32_t node)
{
    const struct merged_node *nodes = finder->merged->nodes.data;
    if (nodes[node].has_else) /* only what is below it is what the view is about */
        return push_children(finder, node) != UINT32_MAX;
    if (nodes[node].kind == MERGED_CLASS)
        return suspects_follow(finder, node);
    if (nodes[node].kind == MERGED_SYNTHETIC) {
        const enum g2h_node_kind kind = merged_kind_of(finder->merged, node);
        if (kind == G2H_NODE_UNREACHABLE || kind == G2H_NODE_ELSE)
            return true;
        if (kind == G2H_NODE_GOROUTINES_IN_PLACE)
            return add_goroutines(finder, node);
        if (kind == G2H_NODE_STACK) /* of a goroutine that is alone in its place */
            return suspects_weight_of(finder, node) < LEAST_OF_STACK ||
                   suspects_add(finder, suspect_of(node));
        if (kind == G2H_NODE_DEFERRED_CALLS) {
            struct suspect calls = suspect_of(node);
            calls.is_deferred = true;
            return suspects_add(finder, calls);
        }
        if (kind == G2H_NODE_VARIABLE)
            return suspects_follow(finder, node);
    }
    if (nodes[node].kind == MERGED_VARIABLE && nodes[node].count == 1)
        return suspects_follow(finder, node);
    return push_children(finder, node) != UINT32_MAX;
}

/* Orders suspects by bytes, most first: by the bytes of their pages if those are what they are for;
 * equal ones by node. */
static int suspects_compare(const void *a, const void *b)
{
    const struct suspect *one = a;
    const struct suspect *other = b;
    const uint64_t of_one = one->is_for_pages ? one->pages.bytes : one->bytes;
    const uint64_t of_other = other->is_for_pages ? other->pages.bytes : other->bytes;
    if (of_one != of_other)
        return COMPARE(of_other, of_one);
    return COMPARE(one->item, other->item);
}

/* Returns so many percent of the reachable bytes that take memory. In a heap of which a part is
 * untouched, these count as at least LEAST_BESIDE, since the few other bytes are not worth a
 * suspect. */
static uint64_t share_of_resident(const struct suspects_finder *finder, uint64_t percent)
{
    enum { LEAST_BESIDE = 1 << 20 };
    const uint64_t resident = finder->reachable - finder->untouched;
    return (finder->untouched > 0 && resident < LEAST_BESIDE ? LEAST_BESIDE : resident) / 100 *
           percent;
}

/* Returns the least bytes of a suspect: without a base a share of the heap; with a base a share of
 * its growth, but not less than another share of the heap. */
static uint64_t threshold_of(const struct suspects_finder *finder)
{
    enum { OF_GROWTH = 3, PERMILLE = 1, LEAST = 4096 };
    if (!finder->base)
        return share_of_resident(finder, THRESHOLD) + 1;
    const uint64_t before = growth_totals(finder->base)->reachable;
    const uint64_t grown = finder->reachable > before ? finder->reachable - before : 0;
    const uint64_t of_growth = grown / 100 * OF_GROWTH;
    const uint64_t of_heap = finder->reachable / 1000 * PERMILLE;
    const uint64_t more = MAX(of_growth, of_heap);
    return MAX(more, LEAST);
}

/* ---- arrays that are pinned ---- */

/* Returns whether a node is above or below it in the merged tree. */
static bool is_below(const struct merged *merged, uint32_t node, uint32_t above)
{
    while (node != MERGED_NONE && node != above)
        node = merged->nodes.data[node].parent;
    return node == above;
}

/* Replaces the suspect with a number, and all after it that are in the same pinned arrays, by one
 * suspect: the arrays. */
static void replace_by(const struct suspects_finder *finder, size_t number, uint32_t arrays,
                       const struct pinned *pinned)
{
    suspect_vector *found = finder->found;
    size_t kept = number + 1;
    for (size_t i = number + 1; i < found->count; i++)
        if (!is_below(finder->merged, found->data[i].item, arrays))
            found->data[kept++] = found->data[i];
    found->count = kept;
    struct suspect *suspect = &found->data[number];
    if (suspect->item == arrays) { /* what is known of its container and holder stays true */
        suspect->pinned = *pinned;
        return;
    }
    *suspect = suspect_of(arrays);
    suspect->pinned = *pinned;
    set_holder(finder->merged, suspect);
    suspects_weigh(finder, suspect);
}

/* Finds out of the first MOST suspects whether they are, or are in, arrays that pointers to
 * elements keep, and makes these the suspects. Goroutines and deferred calls are left out. */
static struct g2h_error *find_pinned(const struct suspects_finder *finder,
                                     const struct findings *findings)
{
    enum { MOST = 3 };
    uint32_t last = MERGED_NONE; /* the arrays that were asked for last: not twice */
    for (size_t i = 0; i < finder->found->count && i < MOST; i++) {
        const struct suspect *suspect = &finder->found->data[i];
        const uint32_t arrays = suspect->is_goroutines || suspect->is_deferred
                                    ? MERGED_NONE
                                    : pinned_arrays_of(finder->merged, suspect->item);
        struct pinned pinned;
        if (arrays == MERGED_NONE || arrays == last)
            continue;
        TRY(pinned_find(findings, last = arrays, &pinned));
        if (pinned.arrays > 0)
            replace_by(finder, i, arrays, &pinned);
    }
    return NULL;
}

/* ---- what others have of the same entries ---- */

/* What a node of merged is in: nothing of these, the entries, or the first of what may be beside
 * them. */
enum { BESIDE_NONE, BESIDE_ENTRIES, BESIDE_FIRST, BESIDE_SETS = BESIDE_FIRST + CONTAINER_PARTS };

enum {
    BESIDE_NODES = 1 << 14, /* nodes of the view whose pointers one task counts */
    BESIDE_EDGES = 256      /* edges that it reads at a time */
};

/* The pointers from each of these to each other: those that hold, of these those to blocks that
 * small values of anything share, and those that do not hold, as of the handles of weak pointers,
 * cleanups, and lists that only remember. */
struct beside_pointers {
    uint64_t from_to[BESIDE_SETS][BESIDE_SETS], to_tiny[BESIDE_SETS][BESIDE_SETS],
        follow[BESIDE_SETS][BESIDE_SETS];
};

/* What may be beside the entries of one suspect. */
struct beside {
    uint32_t item; /* the suspect's */
    uint32_t candidates[CONTAINER_PARTS], count;
    struct beside_pointers pointers;
};

/* The same of several suspects, because counting pointers goes over all edges. */
struct beside_sets {
    struct beside list[WHO_SUSPECTS];
    size_t count;
    uint8_t (*is)[WHO_SUSPECTS]; /* by node of merged: what it is in, for each of list */
};

static void beside_sets_deinit(struct beside_sets *sets)
{
    free(sets->is);
}

/* Returns whether an object may be a block that small values share. */
static bool may_be_tiny(const struct findings *findings, uint32_t node)
{
    const uint32_t merged = findings->merged.of[g2h_dominators_number(findings->dominators, node)];
    const struct merged_node *line = findings_node(findings, merged);
    return line->child == MERGED_NONE && merged_may_be_tiny(&findings->merged, node, line->name);
}

/* Counting the pointers between sets, in blocks of nodes. */
struct beside_count {
    const struct findings *findings;
    const struct beside_sets *sets;
    struct beside_pointers (*of_worker)[WHO_SUSPECTS];
    struct g2h_edges **edges; /* by worker */
};

static void beside_count_deinit(struct beside_count *count)
{
    for (unsigned i = 0; count->edges && i < count->findings->threads; i++)
        g2h_edges_destroy(count->edges[i]);
    free(count->edges);
    free(count->of_worker);
}

/* Counts a pointer in those of all suspects' sets, if it leads from one set of a suspect to
 * another: those that hold their target, of these, except from the entries, those that lead to what
 * may be tiny, and those that are only followed. */
static void count_edge(const struct beside_count *count, const struct g2h_edge *edge,
                       struct beside_pointers *of_suspects)
{
    const struct findings *findings = count->findings;
    const struct beside_sets *sets = count->sets;
    const uint32_t *of = findings->merged.of;
    const uint8_t *to = sets->is[of[g2h_dominators_number(findings->dominators, edge->target)]];
    const uint8_t *from = sets->is[of[g2h_dominators_number(findings->dominators, edge->source)]];
    for (size_t i = 0; i < sets->count; i++) {
        struct beside_pointers *pointers = &of_suspects[i];
        if (to[i] == BESIDE_NONE || from[i] == BESIDE_NONE || from[i] == to[i])
            continue;
        const bool holds = g2h_edge_holds(edge->flags);
        (holds ? pointers->from_to : pointers->follow)[from[i]][to[i]]++;
        pointers->to_tiny[from[i]][to[i]] +=
            holds && from[i] >= BESIDE_FIRST && may_be_tiny(findings, edge->target);
    }
}

/* Counts the pointers of a block of nodes. */
static struct g2h_error *count_of_block(void *context, size_t task, unsigned worker)
{
    const struct beside_count *count = context;
    struct g2h_edges *edges = count->edges[worker];
    const uint32_t first = as_u32(task) * BESIDE_NODES,
                   rest = g2h_view_node_count(count->findings->view) - first;
    struct g2h_edge read[BESIDE_EDGES];
    g2h_edges_begin_targets(edges, first, first + MIN(rest, BESIDE_NODES));
    for (size_t got; (got = g2h_edges_read(edges, read, BESIDE_EDGES)) > 0;)
        for (size_t i = 0; i < got; i++)
            count_edge(count, &read[i], count->of_worker[worker]);
    return NULL;
}

/* Adds the counts of one worker to all. */
static void add_pointers(const struct beside_pointers *counted, struct beside_pointers *all)
{
    for (size_t i = 0; i < BESIDE_SETS; i++)
        for (size_t j = 0; j < BESIDE_SETS; j++) {
            all->from_to[i][j] += counted->from_to[i][j];
            all->to_tiny[i][j] += counted->to_tiny[i][j];
            all->follow[i][j] += counted->follow[i][j];
        }
}

/* Counts the pointers between all sets of each suspect. */
static struct g2h_error *count_between(const struct findings *findings, struct beside_sets *sets)
{
    const unsigned threads = findings->threads;
    _cleanup_(beside_count_deinit) struct beside_count count = {
        .findings = findings,
        .sets = sets,
        .of_worker = calloc(threads, sizeof(*count.of_worker)),
        .edges = calloc(threads, sizeof(*count.edges))};
    TRY_MEMORY(count.of_worker && count.edges);
    for (unsigned i = 0; i < threads; i++)
        TRY(g2h_edges_create(findings->view, &count.edges[i]));
    TRY(workers_run(threads, g2h_view_node_count(findings->view) / BESIDE_NODES + 1, count_of_block,
                    &count));
    for (unsigned i = 0; i < threads; i++)
        for (size_t j = 0; j < sets->count; j++)
            add_pointers(&count.of_worker[i][j], &sets->list[j].pointers);
    return NULL;
}

/* Marks all nodes of merged from one down as part of a set (is) of the suspect with number set. */
static void mark_set_below(const struct suspects_finder *finder, uint32_t node, uint8_t is,
                           size_t set, struct beside_sets *sets)
{
    merged_mark_below(finder->merged, node, finder->is_below);
    for (uint32_t i = node; i < finder->merged->nodes.count; i++)
        if (finder->is_below[i])
            sets->is[i][set] = is;
}

/* Returns whether there may be something beside the entries of a suspect. */
static bool may_have_beside(const struct suspect *suspect)
{
    return !suspect->is_goroutines && !suspect->is_deferred &&
           suspect->container.entries >= CONTAINER_MANY && suspect->pinned.arrays == 0;
}

/* Fills sets, which is all zeros, for a suspect and those after it that may have anything beside
 * them, WHO_SUSPECTS at most: lists what may be beside each, numbers these as sets of the suspect,
 * of which BESIDE_ENTRIES is the suspect itself, and counts the pointers between all sets. */
static struct g2h_error *fill_sets(const struct suspects_finder *finder,
                                   const struct findings *findings, size_t number,
                                   struct beside_sets *sets)
{
    bool is_some = false;
    sets->is = calloc(finder->merged->nodes.count, sizeof(*sets->is));
    TRY_MEMORY(sets->is);
    for (; number < finder->found->count && sets->count < WHO_SUSPECTS; number++) {
        const struct suspect *suspect = &finder->found->data[number];
        const struct container *container = &suspect->container;
        struct beside *beside = &sets->list[sets->count];
        if (!may_have_beside(suspect))
            continue;
        beside->item = suspect->item;
        containers_find_beside(&finder->containers, container, beside->candidates, &beside->count);
        if (beside->count > 0)
            mark_set_below(finder,
                           container->node != MERGED_NONE
                               ? container->node
                               : containers_shared_above(&finder->containers, container->branch),
                           BESIDE_ENTRIES, sets->count, sets);
        for (uint32_t i = 0; i < beside->count; i++)
            mark_set_below(finder, beside->candidates[i], (uint8_t)(BESIDE_FIRST + i), sets->count,
                           sets);
        is_some = is_some || beside->count > 0;
        sets->count++;
    }
    return is_some ? count_between(findings, sets) : NULL;
}

/* Finds what may be beside the entries of a suspect; sets has what was found before. */
static struct g2h_error *find_beside(const struct suspects_finder *finder,
                                     const struct findings *findings, size_t number,
                                     struct beside_sets *sets, const struct beside **ret)
{
    for (size_t i = 0; i < sets->count; i++)
        if (sets->list[i].item == finder->found->data[number].item) {
            *ret = &sets->list[i];
            return NULL;
        }
    beside_sets_deinit(sets);
    *sets = (struct beside_sets){0};
    *ret = &sets->list[0];
    return fill_sets(finder, findings, number, sets);
}

/* Drops the suspects that are in a node, except one. Returns the number that this one has then. */
static size_t drop_below(const struct suspects_finder *finder, size_t number, uint32_t node)
{
    suspect_vector *found = finder->found;
    size_t kept = 0;
    size_t ret = number;
    for (size_t i = 0; i < found->count; i++) {
        const struct suspect suspect = found->data[i];
        if (i == number)
            ret = kept;
        if (i == number || !is_below(finder->merged, suspect.item, node))
            found->data[kept++] = suspect;
    }
    found->count = kept;
    return ret;
}

/* Adds a node beside its container to a suspect, in bytes, and drops the suspects in there. *number
 * is that of the suspect, of which the list has a copy, before and after. */
static void take_beside(const struct suspects_finder *finder, struct suspect *suspect,
                        size_t *number, uint32_t node)
{
    struct container *container = &suspect->container;
    assert(container->beside_count < CONTAINER_PARTS);
    container->beside[container->beside_count++] = node;
    suspect->bytes += finder->growth ? positive(finder->growth->data[node].within)
                                     : finder->merged->nodes.data[node].retained;
    *number = drop_below(finder, *number, node);
}

/* Returns whether a node is objects of a class of package reflect, such as reflect.funcTypeFixed4:
 * these are taken for descriptors of types that the package has made while the program ran. */
static bool is_class_of_reflect(const struct merged *merged, uint32_t node)
{
    return merged->nodes.data[node].kind == MERGED_CLASS &&
           suspects_begins_with(merged, node, "reflect.");
}

/* Returns whether so many pointers lead to or from what may be beside the entries that it belongs
 * to these: half of the entries, or, if there are many per entry, nearly all of these. Of what only
 * follows these it must be nearly all, because all cleanups of a program may be of one class. */
static bool is_confirmed(const struct suspects_finder *finder, const struct container *container,
                         uint32_t node, uint64_t pointers, uint64_t following)
{
    enum { FEW = 4, NEARLY_ALL = 90 };
    const struct merged_node *nodes = finder->merged->nodes.data;
    const uint64_t count = nodes[node].kind == MERGED_CLASS
                               ? containers_count(&finder->containers, node)
                               : container->entries;
    const uint64_t all = pointers + following;
    return (pointers >= (container->entries + 1) / 2 && count <= FEW * container->entries) ||
           (all >= (container->entries + 1) / 2 && all >= count / 100 * NEARLY_ALL);
}

/* Returns whether a class is of what package reflect makes. The names of types that package reflect
 * makes, and what else only offsets in these types lead to, are listed by the runtime: no pointer
 * confirms what their number says. */
static bool is_of_reflected(const struct suspects_finder *finder, const struct container *container,
                            uint32_t node)
{
    const struct merged_node *nodes = finder->merged->nodes.data;
    const uint64_t count = containers_count(&finder->containers, node);
    const uint64_t entries = MAX(container->entries, 1); /* a divisor */
    const uint64_t times = count / entries;
    uint32_t package = nodes[node].parent;
    if (merged_is_island(finder->merged, package)) /* compared trees have islands of one class */
        package = nodes[package].parent;
    if (nodes[node].kind != MERGED_CLASS || nodes[package].kind != MERGED_SYNTHETIC || times == 0 ||
        (!merged_is_runtime(finder->merged, package) &&
         !suspects_begins_with(finder->merged, package, "reflect"))) /* without symbols */
        return false;
    for (uint32_t i = 0; i < container->beside_count; i++)
        if (is_class_of_reflect(finder->merged, container->beside[i]) &&
            count % containers_count(&finder->containers, container->beside[i]) <= times)
            return true;
    return false;
}

/* Returns whether what may be beside the entries is in what has been added already, or has it: an
 * island and the objects in it. */
static bool is_added_already(const struct merged *merged, const struct container *container,
                             uint32_t node)
{
    for (uint32_t i = 0; i < container->beside_count; i++)
        if (is_below(merged, node, container->beside[i]) ||
            is_below(merged, container->beside[i], node))
            return true;
    return false;
}

/* Returns whether what may be beside the entries of a suspect has been added to another one, or is
 * in one that is goroutines with all that their frames hold. */
static bool is_of_another(const struct suspects_finder *finder, size_t number, uint32_t node)
{
    for (size_t i = 0; i < finder->found->count; i++) {
        const struct suspect *other = &finder->found->data[i];
        if (i != number && (is_added_already(finder->merged, &other->container, node) ||
                            (other->is_goroutines && is_below(finder->merged, node, other->item))))
            return true;
    }
    return false;
}

/* Returns whether a node is, or has, heaps of timers: whose these are is found for itself
 * (add_slots_of_timers()). They point to the timers of all. */
static bool has_heaps_of_timers(const struct merged *merged, uint32_t node)
{
    for (uint32_t i = node; i < merged->nodes.count; i++) /* a parent comes first */
        if (suspects_are_timers(merged, i) && is_below(merged, i, node))
            return true;
    return false;
}

/* Adds to a suspect what else there is for each of its entries: another index in the same package,
 * strings that both an index and the entries point to, values that another package has, too. Equal
 * numbers are only a hint, so pointers must confirm each, from the entries or from what has been
 * added, or to these, but not to a block that both only share. What only follows these, as the
 * handles of unique do, belongs to them, not they to it. *number becomes the suspect's new number.
 */
static struct g2h_error *add_beside(const struct suspects_finder *finder,
                                    const struct findings *findings, struct beside_sets *sets,
                                    size_t *number)
{
    struct suspect suspect = finder->found->data[*number];
    struct container *container = &suspect.container;
    const struct beside *beside;
    bool is_added[BESIDE_SETS] = {[BESIDE_ENTRIES] = true};
    bool is_more = true;
    TRY(find_beside(finder, findings, *number, sets, &beside));
    const struct beside_pointers *pointers = &beside->pointers;
    const uint32_t *candidates = beside->candidates;
    while (is_more) { /* what has been added may confirm what has not */
        is_more = false;
        for (uint32_t i = 0; i < beside->count; i++) {
            uint64_t sum = 0, following = 0;
            for (uint32_t j = BESIDE_ENTRIES; j < BESIDE_SETS; j++) {
                if (!is_added[j])
                    continue;
                sum += pointers->from_to[j][BESIDE_FIRST + i] +
                       pointers->from_to[BESIDE_FIRST + i][j] -
                       pointers->to_tiny[BESIDE_FIRST + i][j];
                following += pointers->follow[BESIDE_FIRST + i][j];
            }
            if (is_added[BESIDE_FIRST + i] || is_of_another(finder, *number, candidates[i]) ||
                is_added_already(finder->merged, container, candidates[i]) ||
                has_heaps_of_timers(finder->merged, candidates[i]) ||
                (!is_confirmed(finder, container, candidates[i], sum, following) &&
                 !is_of_reflected(finder, container, candidates[i])))
                continue;
            is_added[BESIDE_FIRST + i] = is_more = true;
            take_beside(finder, &suspect, number, candidates[i]);
        }
    }
    finder->found->data[*number] = suspect;
    return NULL;
}

/* Returns whether a suspect is in what variables of the program's packages hold. */
static bool is_of_program(const struct merged *merged, const struct suspect *suspect)
{
    uint32_t node = suspect->item;
    for (; node != MERGED_NONE; node = merged->nodes.data[node].parent)
        if (merged->nodes.data[node].kind == MERGED_SYNTHETIC &&
            merged_kind_of(merged, node) == G2H_NODE_GLOBALS)
            return true;
    return false;
}

/* Adds the parts beside their containers (add_beside) to the first WHO_SUSPECTS suspects: those of
 * the program first, because what follows their entries is no holder. */
static struct g2h_error *add_all_beside(const struct suspects_finder *finder,
                                        const struct findings *findings)
{
    _cleanup_(beside_sets_deinit) struct beside_sets sets = {.count = 0};
    for (int pass = 0; pass < 2; pass++) {
        size_t count = 0;
        for (size_t i = 0; i < finder->found->count && count < WHO_SUSPECTS; i++) {
            const struct suspect *suspect = &finder->found->data[i];
            const bool is_now = is_of_program(finder->merged, suspect) == (pass == 0);
            count +=
                is_now || pass == 1; /* the second pass ends at the first WHO_SUSPECTS of all */
            if (is_now && may_have_beside(suspect))
                TRY(add_beside(finder, findings, &sets, &i));
        }
    }
    return NULL;
}

/* ---- timers ---- */

/* Returns what a suspect gets of a node that is a heap of timers which the suspect does not have
 * yet: the heap if nearly all in it is of the suspect's class, else only these timers; MERGED_NONE:
 * nothing, or it is no such heap. */
static uint32_t part_of_other_heap(const struct merged *merged, const struct suspect *suspect,
                                   uint32_t node)
{
    enum { NEARLY = 90 /* % */ };
    const struct merged_node *nodes = merged->nodes.data;
    if (!suspects_are_timers(merged, node) || is_below(merged, node, suspect->holder) ||
        (suspect->container.node != MERGED_NONE && is_below(merged, node, suspect->container.node)))
        return MERGED_NONE;
    const uint64_t timers = nodes[node].retained - nodes[node].bytes;
    for (uint32_t i = nodes[node].child; i != MERGED_NONE; i = nodes[i].sibling)
        if (nodes[i].kind == nodes[suspect->item].kind &&
            nodes[i].name == nodes[suspect->item].name)
            return nodes[i].retained >= timers / 100 * NEARLY ? node : i;
    return MERGED_NONE;
}

/* Makes the timers of one class one suspect: they are spread over the heaps of all processors for
 * no reason that matters, and a heap is not below allp if something else leads to its processor,
 * such as a timer that the program has, too. The heaviest suspect gets those of the other heaps. */
static void join_timers(const struct suspects_finder *finder)
{
    for (size_t number = 0; number < finder->found->count; number++) {
        struct suspect suspect = finder->found->data[number];
        struct container *container = &suspect.container;
        if (!suspects_are_timers(finder->merged, suspect.holder))
            continue;
        for (uint32_t i = 0; i < finder->merged->nodes.count; i++) {
            const uint32_t part = part_of_other_heap(finder->merged, &suspect, i);
            if (part == MERGED_NONE || container->beside_count == CONTAINER_PARTS ||
                is_added_already(finder->merged, container, part))
                continue;
            count_below(finder, part, &suspect);
            take_beside(finder, &suspect, &number, part);
        }
        if (finder->growth) {
            const uint64_t more = class_growth(finder, suspect.item);
            suspect.grown = MIN(more, suspect.grown);
        }
        finder->found->data[number] = suspect;
    }
}

/* Returns whether some marked node is of timers. */
static bool has_timers(const struct suspects_finder *finder, const bool *is_in)
{
    for (uint32_t i = 0; i < finder->merged->nodes.count; i++)
        if (is_in[i] && merged_runtime_class(finder->merged, i) == G2H_RUNTIME_TIMER)
            return true;
    return false;
}

/* Sets *ret to whether nearly all timers in the heaps of a node are in marked nodes. */
static struct g2h_error *are_nearly_all_in(const struct findings *findings, uint32_t heaps,
                                           const bool *is_in, bool *ret)
{
    enum { NEARLY = 90 /* % */ };
    const struct merged *merged = &findings->merged;
    const struct g2h_dominators *dominators = findings->dominators;
    struct g2h_edges *edges = paths_edges(findings->paths);
    struct g2h_edge edge;
    uint64_t in = 0, all = 0;
    for (uint32_t i = 1; i < merged->of_count; i++) {
        const uint32_t node =
            merged->of[i] == heaps ? g2h_dominators_node(dominators, i) : UINT32_MAX;
        if (node == UINT32_MAX)
            continue;
        g2h_edges_begin(edges, node, node + 1);
        while (g2h_edges_next(edges, &edge)) {
            const uint32_t line = merged->of[g2h_dominators_number(dominators, edge.target)];
            all += merged_runtime_class(merged, line) == G2H_RUNTIME_TIMER;
            in += is_in[line] && merged_runtime_class(merged, line) == G2H_RUNTIME_TIMER;
        }
    }
    *ret = in > 0 && in * 100 >= all * NEARLY; /* they may be few */
    return NULL;
}

/* Adds the slots of the runtime's heaps of timers to the suspect with most of these, if something
 * else than the heaps holds them, such as a map of timers or of structs that have one: they are
 * freed with it. */
static struct g2h_error *add_slots_of_timers(const struct suspects_finder *finder,
                                             const struct findings *findings, size_t *number)
{
    struct suspect suspect = finder->found->data[*number];
    const struct container *container = &suspect.container;
    _cleanup_free_ bool *is_in = calloc(finder->merged->nodes.count, sizeof(*is_in));
    TRY_MEMORY(is_in);
    if (!may_have_beside(&suspect) || suspects_are_timers(finder->merged, suspect.holder))
        return NULL;
    container_mark(&finder->containers, container, is_in);
    if (!has_timers(finder, is_in))
        return NULL;
    for (uint32_t i = 0; i < finder->merged->nodes.count; i++) {
        bool is_nearly_all = false;
        if (!suspects_are_timers(finder->merged, i) || is_in[i] ||
            container->beside_count == CONTAINER_PARTS ||
            !containers_is_own(&finder->containers, i) || is_of_another(finder, *number, i))
            continue;
        TRY(are_nearly_all_in(findings, i, is_in, &is_nearly_all));
        if (is_nearly_all)
            take_beside(finder, &suspect, number, i);
    }
    finder->found->data[*number] = suspect;
    return NULL;
}

/* ---- the end of a list ---- */

/* Sets *ret to whether an object of item points to the one object of a node. */
static struct g2h_error *leads_to(const struct suspects_finder *finder,
                                  const struct findings *findings, uint32_t item, uint32_t node,
                                  bool *ret)
{
    _cleanup_(retainers_deinit) struct retainers retainers = {.list = {0}};
    TRY(retainers_find(findings, paths_edges(findings->paths),
                       finder->merged->nodes.data[node].example, &retainers));
    *ret = false;
    VECTOR_EACH(const struct retainer, retainer, retainers.list)
        *ret = *ret ||
               findings->merged.of[g2h_dominators_number(findings->dominators, retainer->node)] ==
                   item;
    return NULL;
}

/* Adds to a list that one field of a variable holds, the suspect of this number, its last object,
 * to which another field leads as well, tail beside head, so that neither holds it alone. If that
 * is a suspect itself, it is dropped, and *number follows the list. */
static struct g2h_error *add_end(const struct suspects_finder *finder,
                                 const struct findings *findings, size_t *number)
{
    const struct merged_node *nodes = finder->merged->nodes.data;
    struct suspect suspect = finder->found->data[*number];
    const struct container *container = &suspect.container;
    const uint32_t item = suspect.item;
    const uint32_t field = nodes[item].parent;
    if (nodes[item].kind != MERGED_CLASS || nodes[field].kind != MERGED_VARIABLE ||
        (container->node != MERGED_NONE && container->node != field) ||
        container->beside_count == CONTAINER_PARTS)
        return NULL;
    for (uint32_t i = nodes[nodes[field].parent].child; i != MERGED_NONE; i = nodes[i].sibling) {
        const uint32_t end = nodes[i].kind == MERGED_VARIABLE ? nodes[i].child : MERGED_NONE;
        bool is_end;
        if (i == field || end == MERGED_NONE || nodes[end].name != nodes[item].name ||
            nodes[end].kind != MERGED_CLASS || nodes[end].count != 1)
            continue;
        TRY(leads_to(finder, findings, item, end, &is_end));
        if (!is_end)
            continue;
        count_below(finder, end, &suspect);
        take_beside(finder, &suspect, number, end);
        finder->found->data[*number] = suspect;
        return NULL;
    }
    return NULL;
}

/* ---- parts ---- */

/* Orders parts by bytes, most first; equal ones by node. */
static int compare_parts(const void *a, const void *b)
{
    const struct suspect_part *one = a;
    const struct suspect_part *other = b;
    if (one->bytes != other->bytes)
        return COMPARE(other->bytes, one->bytes);
    return COMPARE(one->node, other->node);
}

/* Returns the node whose own bytes are the slots of a container: the map, the slice, the buffer of
 * the channel; or MERGED_NONE. */
static uint32_t slots_of(const struct merged *merged, const struct container *container)
{
    const uint32_t node = container->node;
    switch (node != MERGED_NONE ? merged_form(merged, node) : G2H_FORM_OTHER) {
    case G2H_FORM_MAP:
    case G2H_FORM_SLICE:
        return node;
    case G2H_FORM_CHAN:
        return merged_form(merged, container->branch) == G2H_FORM_SLICE ? container->branch
                                                                        : MERGED_NONE;
    default:
        return MERGED_NONE;
    }
}

/* Sums up the classes of all objects that a suspect consists of: the own class first, then those
 * with the most bytes. */
static struct g2h_error *find_parts(const struct suspects_finder *finder, struct suspect *suspect)
{
    const struct merged_node *nodes = finder->merged->nodes.data;
    const uint32_t slots = slots_of(finder->merged, &suspect->container);
    _cleanup_(map_deinit) struct map numbers = {0};
    _cleanup_vector_ VECTOR(struct suspect_part) parts = {0};
    container_mark(&finder->containers, &suspect->container, finder->is_below);
    TRY_MEMORY(vector_push(&parts, ((struct suspect_part){suspect->named, 0})) &&
               map_put(&numbers, nodes[suspect->named].name, 0, &(uint32_t){0}));
    for (uint32_t i = 0; i < finder->merged->nodes.count; i++) {
        uint32_t number = as_u32(parts.count);
        if (!finder->is_below[i])
            continue;
        suspect->all += nodes[i].bytes;
        if (i == slots || suspects_are_timers(finder->merged, i)) {
            suspect->slots += nodes[i].bytes;
            continue;
        }
        TRY_MEMORY(map_put(&numbers, nodes[i].name, number, &number) &&
                   (number < parts.count || vector_push(&parts, ((struct suspect_part){i, 0}))));
        parts.data[number].bytes += nodes[i].bytes;
    }
    qsort(parts.data + 1, parts.count - 1, sizeof(*parts.data), compare_parts);
    suspect->part_count = MIN(parts.count, SUSPECT_PARTS);
    memcpy(suspect->parts, parts.data, suspect->part_count * sizeof(*parts.data));
    return NULL;
}

/* ---- pages ---- */

/* Returns whether a suspect is a holder of free slots, or in one, or has one in it. */
static bool is_of_holder(const struct merged *merged, const struct suspect *suspect,
                         const struct pages_holder *holder)
{
    const uint32_t top =
        suspect->container.node != MERGED_NONE ? suspect->container.node : suspect->item;
    return is_below(merged, suspect->item, holder->node) || is_below(merged, holder->item, top);
}

/* Adds the holder that keeps most free slots if its pages are a share of all that a suspect must
 * have, more than twice its bytes, and no suspect has it. */
static struct g2h_error *add_for_pages(struct suspects_finder *finder,
                                       const struct findings *findings)
{
    const struct pages *pages = &findings->pages;
    const struct pages_holder *holder = pages->holders.data;
    struct container container;
    uint32_t last;
    if (finder->growth || pages->holders.count == 0 || holder->is_shared ||
        finder->merged->nodes.data[holder->node].kind != MERGED_CLASS ||
        holder->sum.bytes < pages_all(pages).bytes / 100 * THRESHOLD ||
        holder->sum.bytes / 2 < finder->merged->nodes.data[holder->node].retained)
        return NULL;
    VECTOR_EACH(const struct suspect, found, *finder->found)
        if (is_of_holder(finder->merged, found, holder))
            return NULL;
    struct suspect suspect = suspect_of(holder->item);
    if (containers_find(&finder->containers, holder->node, &container, &last))
        suspect = suspect_of_container(finder->merged, &container);
    else
        set_holder(finder->merged, &suspect);
    suspects_weigh(finder, &suspect);
    set_entries(finder, &suspect);
    suspect.is_for_pages = true;
    suspect.pages = holder->sum;
    TRY_MEMORY(vector_push(finder->found, suspect));
    return NULL;
}

/* Sets what would be free without a suspect: of one that is a whole container, without that; of one
 * in several, without what branches off to them; else without the item. One that is for pages has
 * them already. */
static void set_pages(const struct findings *findings, struct suspect *suspect)
{
    const struct container *container = &suspect->container;
    uint32_t node = suspect->item;
    if (container->node == MERGED_NONE)
        node = container->branch;
    else if (container->is_all)
        node = container->node;
    if (!suspect->is_for_pages)
        suspect->pages = pages_of(&findings->pages, node);
}

/* Returns whether no node is in two suspects; true as well if memory for the check is missing. */
_asserted_ static bool are_apart(const struct suspects_finder *finder)
{
    const uint32_t count = as_u32(finder->merged->nodes.count);
    _cleanup_free_ bool *is_taken = calloc(count + 1, sizeof(*is_taken));
    for (size_t i = 0; is_taken && i < finder->found->count; i++) {
        container_mark(&finder->containers, &finder->found->data[i].container, finder->is_below);
        for (uint32_t node = 0; node < count; node++) {
            if (finder->is_below[node] && is_taken[node])
                return false;
            is_taken[node] = is_taken[node] || finder->is_below[node];
        }
    }
    return true;
}

/* Finds the suspects; those that retain most come first. Walks the merged tree from the root down
 * (suspects_examine), then adds what only pages or shared containers show: pinned arrays, parts
 * beside containers, what keeps many pages, the timers of other heaps, and the ends of lists. The
 * first WHO_SUSPECTS get their parts. */
struct g2h_error *suspects_find(const struct findings *findings, suspect_vector *ret)
{
    const struct merged *merged = &findings->merged;
    struct suspects_finder finder = {.merged = merged,
                                     .base = findings->base,
                                     .growth = findings->base ? &findings->growth : NULL,
                                     .reachable = findings->reachable,
                                     .untouched = findings->untouched,
                                     .found = ret};
    const uint64_t of_runtime = share_of_resident(&finder, OF_RUNTIME);
    finder.threshold = threshold_of(&finder);
    finder.threshold_of_runtime = MAX(of_runtime, LEAST_OF_RUNTIME);
    finder.is_below = calloc(merged->nodes.count, sizeof(*finder.is_below));
    struct g2h_error *error = containers_init(findings, finder.growth, &finder.containers);
    bool good = !error && finder.is_below && vector_push(&finder.left, 0);
    while (good && finder.left.count > 0)
        good = suspects_examine(&finder, finder.left.data[--finder.left.count]);
    /* Sorted after each step that changes bytes, since the next one is for the first suspects. */
    vector_sort(ret, suspects_compare);
    if (!error)
        error = good ? find_pinned(&finder, findings) : &error_no_memory;
    vector_sort(ret, suspects_compare);
    if (!error)
        error = add_all_beside(&finder, findings);
    if (!error)
        error = add_for_pages(&finder, findings);
    if (!error)
        join_timers(&finder);
    for (size_t i = 0; i < ret->count && i < WHO_SUSPECTS && !error; i++)
        error = add_slots_of_timers(&finder, findings, &i);
    vector_sort(ret, suspects_compare);
    VECTOR_EACH(struct suspect, suspect, *ret)
        set_pages(findings, suspect);
    for (size_t i = 0; i < ret->count && i < WHO_SUSPECTS && !error; i++)
        error = add_end(&finder, findings, &i);
    vector_sort(ret, suspects_compare);
    for (size_t i = 0; i < ret->count && i < WHO_SUSPECTS && !error; i++)
        if (merged->nodes.data[ret->data[i].item].kind == MERGED_CLASS)
            error = find_parts(&finder, &ret->data[i]);
    assert(error || are_apart(&finder));
    free(finder.left.data);
    free(finder.is_below);
    containers_deinit(&finder.containers);
    return error;
}

/* ==== example ==== */

#define NONE UINT32_MAX

enum {
    EXAMPLE_MANY = 4, /* least objects below one of their own class that count as multiplied */
    MOST_LINES = 16,  /* nodes above a suspect whose objects are tried as holders */
};

struct example_finder {
    const struct findings *findings;
    uint32_t item;
    bool *is_item, *is_map; /* by node of merged: its objects are the suspect's, or maps */
    uint32_t *near;         /* by number: that of the nearest holder from here upwards, or NONE; */
    bool *is_inside; /* an object of the suspect is between it and that holder, or is the holder */
    bool *is_branch; /* see mark_branches() */
    bool *is_seen;   /* by number, for example_sum_up() and list_items(): all false between calls */
    bool has_branches;        /* only branches may be named */
    bool is_outermost;        /* an object that another one of the same node holds is no holder */
    uint32_t count;           /* of numbers */
    VECTOR(uint32_t) items;   /* the numbers of the suspect's objects */
    VECTOR(uint32_t) upwards; /* the same, and all above them, ascending */
    uint64_t holders; /* that example_find_holders() has found, whether they hold any or not */
    uint64_t objects, retained; /* of the suspect */
    uint64_t uppermost;         /* of its objects: those that no other one holds */
    int64_t above;              /* the node of merged above it */
};

/* Returns the node of merged, a line of the tree, that a number in the order of dominators is
 * in. */
static uint32_t line_of(const struct example_finder *finder, uint32_t number)
{
    return finder->findings->merged.of[number];
}

static uint32_t node_of(const struct example_finder *finder, uint32_t number)
{
    return g2h_dominators_node(finder->findings->dominators, number);
}

static uint32_t above(const struct example_finder *finder, uint32_t number)
{
    return g2h_dominators_above(finder->findings->dominators, number);
}

static uint64_t retained_by(const struct example_finder *finder, uint32_t number)
{
    return g2h_dominators_retained_size(finder->findings->dominators, node_of(finder, number));
}

/* Returns whether the node with this number is memory of a map that is merged with it, and so not
 * an object of its own: below the map's header, or, if that is in a frame, below other memory. */
static bool example_is_of_map(const struct example_finder *finder, uint32_t number)
{
    const struct findings *findings = finder->findings;
    const uint32_t line = line_of(finder, number);
    struct g2h_node node;
    if (!finder->is_map[line] || line != line_of(finder, above(finder, number)))
        return false;
    g2h_view_brief(findings->view, node_of(finder, number), &node);
    return node.name != findings_node(findings, line)->name ||
           findings_is_entries(findings->view, node.name);
}

/* Returns whether a node, by its number in preorder, is an object of the suspect, and no part of a
 * map. */
static bool example_is_object(const struct example_finder *finder, uint32_t number)
{
    return node_of(finder, number) != NONE && finder->is_item[line_of(finder, number)] &&
           !example_is_of_map(finder, number);
}

/* ---- holders ---- */

/* The holders by which objects are grouped: the uppermost objects of the suspect, each with those
 * that it holds; the objects of a node of merged above the suspect; or for each object the nearest
 * one of the suspect above it. */
enum holders { UPPERMOST = -1, NEAREST = -2 };

/* Sets near and is_inside (see struct example_finder) of each number in upwards, and counts
 * holders. A holder is an object of the node of merged, line: with is_outermost, only one that no
 * other such object holds. If line is one of enum holders, it is an object of the suspect instead:
 * NEAREST, any; UPPERMOST, one that no other holds. Parts of maps are no holders. */
static void example_find_holders(struct example_finder *finder, int64_t line)
{
    finder->near[0] = NONE;
    finder->is_inside[0] = false;
    finder->holders = 0;
    for (size_t i = 0; i < finder->upwards.count; i++) {
        const uint32_t number = finder->upwards.data[i];
        const uint32_t over = above(finder, number);
        const bool is_holder =
            (line >= 0 ? line_of(finder, number) == line &&
                             (!finder->is_outermost || finder->near[over] == NONE)
                       : finder->is_item[line_of(finder, number)] &&
                             (line == NEAREST || finder->near[over] == NONE)) &&
            !example_is_of_map(finder, number);
        finder->holders += is_holder;
        finder->near[number] = is_holder ? number : finder->near[over];
        finder->is_inside[number] =
            !is_holder && finder->near[over] != NONE &&
            (finder->is_inside[over] || finder->is_item[line_of(finder, over)]);
    }
    if (line < 0 || finder->is_outermost)
        return;
    const struct merged_node *over = findings_node(finder->findings, (uint32_t)line);
    if (!findings_is_entries(finder->findings->view, over->name)) /* else it counts parts of maps */
        finder->holders = over->count;
}

/* Returns an object's contribution to its holder: what it retains, unless another object of the
 * suspect, with the same holder, retains it. */
static uint64_t example_weight_of(const struct example_finder *finder, uint32_t number)
{
    return finder->is_inside[number] ? 0 : retained_by(finder, number);
}

/* Returns the nearest holder, which may be the object itself, or NONE. */
static uint32_t holder_of(const struct example_finder *finder, uint32_t number)
{
    return finder->near[number];
}

/* Returns the nearest holder that is not the object itself. */
static uint32_t holder_above(const struct example_finder *finder, uint32_t number)
{
    return finder->near[above(finder, number)];
}

/* The weight of each object if majority_holder() is to count them. */
static uint64_t weigh_as_one(const struct example_finder *finder, uint32_t number)
{
    (void)finder, (void)number;
    return 1;
}

/* Returns the only candidate for the holder that has more than half of the total weight, or NONE
 * (Boyer–Moore majority vote: weights of different holders annul each other, and a majority is
 * never annulled entirely). The caller checks whether it has a majority. of gives an object's
 * holder, weigh its weight. */
static uint32_t
majority_holder(const struct example_finder *finder,
                uint32_t (*of)(const struct example_finder *finder, uint32_t number),
                uint64_t (*weigh)(const struct example_finder *finder, uint32_t number))
{
    uint32_t best = NONE;
    uint64_t votes = 0;
    for (size_t i = 0; i < finder->items.count; i++) {
        const uint32_t number = finder->items.data[i];
        const uint32_t holder = of(finder, number);
        if (holder == NONE)
            continue;
        const uint64_t weight = weigh(finder, number);
        if (holder == best) {
            votes += weight;
        } else if (votes >= weight) {
            votes -= weight;
        } else {
            votes = weight - votes;
            best = holder;
        }
    }
    return best;
}

/* Sums up what the given holder has, and counts in ret->holders how many holders have any object of
 * the suspect. Uses is_seen to count each once, and resets it afterwards. */
static void example_sum_up(struct example_finder *finder, uint32_t holder, struct example *ret)
{
    uint32_t last = NONE;
    *ret = (struct example){.node = NONE, .most = NONE};
    for (size_t i = 0; i < finder->items.count; i++) {
        const uint32_t number = finder->items.data[i];
        const uint32_t near = finder->near[number];
        if (near == NONE)
            continue;
        ret->holders += !finder->is_seen[near];
        finder->is_seen[near] = true;
        if (near != holder)
            continue;
        ret->count++;
        ret->retained += example_weight_of(finder, number);
        last = number;
    }
    if (last != NONE)
        ret->most = node_of(finder, holder);
    VECTOR_EACH(const uint32_t, number, finder->items)
        if (finder->near[*number] != NONE)
            finder->is_seen[finder->near[*number]] = false;
}

/* Tries the objects of a line of the tree as holders (see example_find_holders() for line). Returns
 * whether one of several has most of what the suspect retains: more than half, and more than one
 * and a half times the average of those that hold any. Sets *ret to that holder if so; otherwise
 * only ret->above, if the line is the one right above the suspect: how many of its objects hold
 * any. */
static bool has_most(struct example_finder *finder, int64_t line, struct example *ret)
{
    example_find_holders(finder, line);
    const uint32_t holder = majority_holder(finder, holder_of, example_weight_of);
    if (holder == NONE)
        return false;
    const uint64_t known_above = ret->above;
    struct example found;
    example_sum_up(finder, holder, &found);
    ret->above = found.above =
        line == finder->above && !finder->is_outermost ? found.holders : known_above;
    const bool is_alone = found.holders <= 1; /* else it must have 3/2 of the average */
    const bool is_above_average = found.retained / 3 * found.holders > finder->retained / 2;
    if (finder->holders < 2 || found.retained <= finder->retained / 2 ||
        (!is_alone && !is_above_average))
        return false;
    *ret = found;
    return true;
}

/* Finds a holder that has most of what the suspect retains: among the suspect's own objects, then
 * among those of the lines above, the nearest first; of each line first with all objects as
 * holders, then with only those that no other one of the line holds. Returns false if none has.
 * Leaves near as it is for that holder, and sets finder->uppermost. */
static bool find_most(struct example_finder *finder, struct example *ret)
{
    const struct findings *findings = finder->findings;
    uint32_t line = findings_node(findings, finder->item)->parent;
    const bool is_found = has_most(finder, UPPERMOST, ret);
    finder->uppermost = finder->holders;
    if (is_found)
        return true;
    for (int i = 0; i < MOST_LINES && line != MERGED_NONE;
         i++, line = findings_node(findings, line)->parent) {
        const struct merged_node *node = findings_node(findings, line);
        const bool is_holder = node->kind == MERGED_CLASS ||
                               findings_is_kind(findings, line, G2H_NODE_GOROUTINE) ||
                               findings_is_kind(findings, line, G2H_NODE_FRAME);
        if (!is_holder || node->count < 2 || finder->is_item[line]) /* UPPERMOST was for items */
            continue;
        if (has_most(finder, line, ret))
            return true;
        /* The objects of a tree hold each other, and each has few of the suspect's itself. */
        finder->is_outermost = true;
        const bool has_outermost = has_most(finder, line, ret);
        finder->is_outermost = false;
        if (has_outermost)
            return true;
    }
    return false;
}

/* Objects of one line, by their numbers, ascending; and where the base has each: the number in
 * findings->holders->list, or one of the others. */
struct peers {
    uint32_t line, count;
    uint64_t class; /* hash of the line's name */
    uint32_t numbers[GROWTH_MOST_HOLDERS];
    uint32_t holders[GROWTH_MOST_HOLDERS];
};

enum {
    PEER_UNKNOWN = MAP_NONE, /* the base may have it, but does not know it */
    PEER_NEW = MAP_NONE - 1,
    PEER_KNOWN_END = PEER_NEW /* numbers below are in the list */
};

/* Lists the objects of a line that hold any of the suspect's. Returns false if they are too many.
 */
static bool list_peers(const struct example_finder *finder, uint32_t line, struct peers *ret)
{
    size_t size;
    const char *name = merged_name(&finder->findings->merged, line, &size);
    ret->line = line;
    ret->class = map_hash_text(name, size);
    ret->count = 0;
    VECTOR_EACH(const uint32_t, number, finder->upwards) {
        if (line_of(finder, *number) != line || example_is_of_map(finder, *number))
            continue;
        if (ret->count == GROWTH_MOST_HOLDERS)
            return false;
        ret->numbers[ret->count++] = *number;
    }
    return true;
}

/* Returns whether the peers that the base has in their line are as many as there were: the others
 * are new. */
static bool are_others_new(const struct findings *findings, const struct peers *peers)
{
    const uint64_t line = growth_line_key(&findings->merged, peers->line);
    uint32_t known = 0;
    for (uint32_t i = 0; i < peers->count; i++)
        known += peers->holders[i] < PEER_KNOWN_END &&
                 findings->holders->list.data[peers->holders[i]].line == line;
    return known == map_get(&findings->holders->lines, line);
}

/* Returns whether the base has another peer where it has this one. */
static bool has_twin(const struct peers *peers, uint32_t index)
{
    for (uint32_t i = 0; i < peers->count; i++)
        if (i != index && peers->holders[i] == peers->holders[index])
            return true;
    return false;
}

/* Finds where the base has each of the peers. Several that it has in one place are not known. */
static struct g2h_error *find_before(const struct example_finder *finder, struct peers *peers)
{
    const struct findings *findings = finder->findings;
    _cleanup_(growth_ways_deinit) struct growth_ways ways = {0};
    bool is_unknown[GROWTH_MOST_HOLDERS];
    for (uint32_t i = 0; i < peers->count; i++)
        TRY(growth_ways_add(&ways, findings->dominators, node_of(finder, peers->numbers[i])));
    TRY(growth_ways_find(&ways, findings->view, findings->dominators));
    for (uint32_t i = 0; i < peers->count; i++)
        peers->holders[i] =
            growth_holder_of(findings->holders, &ways, findings->view, findings->dominators,
                             peers->class, node_of(finder, peers->numbers[i]));
    for (uint32_t i = 0; i < peers->count; i++)
        is_unknown[i] = peers->holders[i] == PEER_UNKNOWN || has_twin(peers, i);
    for (uint32_t i = 0; i < peers->count; i++)
        peers->holders[i] = is_unknown[i] ? PEER_UNKNOWN : peers->holders[i];
    if (!are_others_new(findings, peers))
        return NULL;
    for (uint32_t i = 0; i < peers->count; i++)
        peers->holders[i] = is_unknown[i] ? PEER_NEW : peers->holders[i];
    return NULL;
}

/* Returns what a peer retained in the base; UINT64_MAX: it is not known. */
static uint64_t retained_before(const struct findings *findings, const struct peers *peers,
                                uint32_t index)
{
    const uint32_t holder = peers->holders[index];
    if (holder < PEER_KNOWN_END)
        return findings->holders->list.data[holder].retained;
    return holder == PEER_NEW ? 0 : UINT64_MAX;
}

/* Returns by how much a node has grown, or, in a trend, what it retains. */
static uint64_t weight_of(const struct findings *findings, uint32_t node)
{
    return findings->base ? positive(findings->growth.data[node].within)
                          : findings_node(findings, node)->retained;
}

/* Finds the holder that has most of the growth since the base, among those that hold the objects,
 * the nearest first, up to where as much else has grown; if there is one, leaves near as it is for
 * that holder. Of two caches of equal size only one may leak. What the base does not know, though
 * it may not be new, counts, but is not named. */
static struct g2h_error *find_most_grown(struct example_finder *finder, struct example *ret)
{
    const struct findings *findings = finder->findings;
    uint32_t line = findings_node(findings, finder->item)->parent;
    for (int i = 0; i < MOST_LINES && line != MERGED_NONE;
         i++, line = findings_node(findings, line)->parent) {
        const struct merged_node *node = findings_node(findings, line);
        uint64_t sum = 0, most = 0;
        uint32_t holder = NONE;
        struct peers peers;
        if (weight_of(findings, finder->item) < weight_of(findings, line) / 2)
            return NULL;
        if (node->kind != MERGED_CLASS || node->count < 2 || node->count > GROWTH_MOST_HOLDERS ||
            finder->is_item[line] || !list_peers(finder, line, &peers))
            continue;
        TRY(find_before(finder, &peers));
        for (uint32_t j = 0; j < peers.count; j++) {
            const uint64_t before = retained_before(findings, &peers, j);
            const bool is_known = before != UINT64_MAX;
            const uint64_t now = retained_by(finder, peers.numbers[j]);
            uint64_t grown = now;
            if (is_known)
                grown = now > before ? now - before : 0;
            sum += grown;
            if (is_known && grown > most) {
                most = grown;
                holder = peers.numbers[j];
            }
        }
        if (holder == NONE || most <= sum / 2 || most / 3 * peers.count <= sum / 2)
            continue;
        if (ret->most != node_of(finder, holder)) {
            const uint64_t above = ret->above;
            example_find_holders(finder, line);
            example_sum_up(finder, holder, ret);
            ret->above = line == finder->above ? ret->holders : above;
            ret->grown = most;
        }
        return NULL;
    }
    return NULL;
}

/* ---- the object ---- */

/* Marks the objects directly below the one of the suspect's objects that holds most of the others,
 * as the root of a wide tree holds its branches. Sets has_branches if these are EXAMPLE_MANY or
 * more, and more than half of the suspect. Marks nothing if no object holds most. */
static void mark_branches(struct example_finder *finder)
{
    uint64_t count = 0;
    example_find_holders(finder, NEAREST);
    const uint32_t root = majority_holder(finder, holder_above, weigh_as_one);
    if (root == NONE)
        return;
    for (size_t i = 0; i < finder->items.count; i++) {
        const uint32_t number = finder->items.data[i];
        finder->is_branch[number] = holder_above(finder, number) == root;
        count += finder->is_branch[number];
    }
    finder->has_branches = count >= EXAMPLE_MANY && count > finder->objects / 2;
}

/* Returns the heaviest of the objects that may be named; of equal ones the one with the lowest
 * address. most, a node of the view, limits them to those below one holder; NONE: no limit. */
static uint32_t heaviest(const struct example_finder *finder, uint32_t most)
{
    const uint32_t holder =
        most == NONE ? NONE : g2h_dominators_number(finder->findings->dominators, most);
    uint32_t best = NONE;
    uint64_t bytes = 0;
    for (size_t i = 0; i < finder->items.count; i++) {
        const uint32_t number = finder->items.data[i];
        if ((holder != NONE && finder->near[number] != holder) ||
            (finder->has_branches && !finder->is_branch[number]))
            continue;
        const uint32_t node = node_of(finder, number);
        const uint64_t retained = retained_by(finder, number);
        if (best == NONE || retained > bytes || (retained == bytes && node < best)) {
            best = node;
            bytes = retained;
        }
    }
    return best;
}

/* ---- the whole search ---- */

static void example_finder_deinit(struct example_finder *finder)
{
    free(finder->is_item);
    free(finder->is_map);
    free(finder->items.data);
    free(finder->upwards.data);
    large_free(finder->near, finder->count, sizeof(*finder->near));
    large_free(finder->is_inside, finder->count, sizeof(*finder->is_inside));
    large_free(finder->is_branch, finder->count, sizeof(*finder->is_branch));
    large_free(finder->is_seen, finder->count, sizeof(*finder->is_seen));
}

/* Sets is_map for the nodes of merged that are maps. */
static void example_find_maps(struct example_finder *finder)
{
    const struct merged *merged = &finder->findings->merged;
    for (uint32_t i = 0; i < merged->nodes.count; i++)
        finder->is_map[i] = merged_form(merged, i) == G2H_FORM_MAP;
}

/* Finds which nodes of merged have objects of the suspect: item, and those of its name below it. Of
 * goroutines in one place these are the goroutines. */
static struct g2h_error *example_find_items(struct example_finder *finder)
{
    const struct findings *findings = finder->findings;
    const uint32_t count = as_u32(findings->merged.nodes.count);
    const bool is_place = findings_is_kind(findings, finder->item, G2H_NODE_GOROUTINES_IN_PLACE);
    _cleanup_free_ bool *is_below = calloc(count, sizeof(*is_below));
    TRY_MEMORY(is_below);
    merged_mark_below(&findings->merged, finder->item, is_below);
    finder->retained = findings_node(findings, finder->item)->retained;
    for (uint32_t i = finder->item; i < count; i++) {
        const struct merged_node *node = findings_node(findings, i);
        finder->is_item[i] =
            is_below[i] &&
            (is_place ? findings_is_kind(findings, i, G2H_NODE_GOROUTINE)
                      : node->kind == findings_node(findings, finder->item)->kind &&
                            node->name == findings_node(findings, finder->item)->name);
        finder->objects += finder->is_item[i] ? node->count : 0;
    }
    return NULL;
}

/* Lists the suspect's objects, and the nodes above these, where their holders are. */
static struct g2h_error *list_items(struct example_finder *finder)
{
    bool *is_wanted = finder->is_seen;
    for (uint32_t number = finder->count; number-- > 1;) { /* a dominator has a lower number */
        if (example_is_object(finder, number))
            is_wanted[number] = true;
        if (is_wanted[number])
            is_wanted[above(finder, number)] = true;
    }
    for (uint32_t number = 1; number < finder->count; number++) {
        if (!is_wanted[number])
            continue;
        is_wanted[number] = false;
        TRY_MEMORY(vector_push(&finder->upwards, number));
        if (example_is_object(finder, number))
            TRY_MEMORY(vector_push(&finder->items, number));
    }
    is_wanted[0] = false;
    return NULL;
}

/* Counts the holders right above the suspect, if find_most() has not come to them. */
static void count_above(struct example_finder *finder, struct example *ret)
{
    const uint32_t above = (uint32_t)finder->above;
    struct example sums;
    if (ret->above > 0 || above == MERGED_NONE ||
        findings_node(finder->findings, above)->kind != MERGED_CLASS ||
        findings_node(finder->findings, above)->count < 2)
        return;
    example_find_holders(finder, finder->above);
    example_sum_up(finder, NONE, &sums);
    ret->above = sums.holders;
}

/* Finds the object that is shown as the example of a suspect. The order of the steps matters:
 * heaviest() needs near as find_most() left it, and count_above() changes near. */
struct g2h_error *example_find(const struct findings *findings, uint32_t item, struct example *ret)
{
    _cleanup_(example_finder_deinit) struct example_finder finder = {
        .findings = findings,
        .item = item,
        .count = findings->merged.of_count,
        .above = findings_node(findings, item)->parent};
    finder.is_item = calloc(findings->merged.nodes.count, sizeof(*finder.is_item));
    finder.is_map = calloc(findings->merged.nodes.count, sizeof(*finder.is_map));
    finder.near = large_alloc(finder.count, sizeof(*finder.near));
    finder.is_inside = large_alloc(finder.count, sizeof(*finder.is_inside));
    finder.is_branch = large_alloc(finder.count, sizeof(*finder.is_branch));
    finder.is_seen = large_alloc(finder.count, sizeof(*finder.is_seen));
    TRY_MEMORY(finder.is_item && finder.is_map && finder.near && finder.is_inside &&
               finder.is_branch && finder.is_seen);
    *ret = (struct example){.node = findings_node(findings, item)->example, .most = NONE};
    example_find_maps(&finder);
    TRY(example_find_items(&finder));
    TRY(list_items(&finder));
    mark_branches(&finder);
    if (!find_most(&finder, ret))
        ret->most = NONE;
    if (findings->holders)
        TRY(find_most_grown(&finder, ret));
    const uint32_t node = heaviest(&finder, ret->most);
    count_above(&finder, ret); /* the last: it changes near */
    ret->node = node != NONE ? node : findings_node(findings, item)->example;
    ret->uppermost = finder.uppermost;
    return NULL;
}

/* ==== who ==== */

/* Returns whether a suspect is a group of goroutines or of deferred calls. */
static bool is_group(const struct suspect *suspect)
{
    return suspect->is_goroutines || suspect->is_deferred;
}

/* Returns how many objects, goroutines or deferred calls a suspect has, and by how many it has
 * grown since the base. */
uint64_t who_count(const struct findings *findings, const struct suspect *suspect)
{
    return is_group(suspect) ? findings_members(findings, suspect->item) : suspect->count;
}

/* Returns by how many objects or members a suspect has grown. */
int64_t who_grown(const struct findings *findings, const struct suspect *suspect)
{
    return is_group(suspect) ? findings_members_grown(findings, suspect->item)
                             : (int64_t)suspect->grown;
}

/* Sets *ret to how many pointers lead from outside of the suspect to the uppermost of its objects:
 * if it is one, all objects hang on it. from is any object of the suspect. */
static struct g2h_error *count_pointers(const struct findings *findings, uint32_t item,
                                        uint32_t from, uint64_t *ret)
{
    const struct g2h_dominators *dominators = findings->dominators;
    const uint32_t *lines = findings->merged.of;
    uint32_t uppermost = from;
    _cleanup_(retainers_deinit) struct retainers retainers = {.list = {0}};
    _cleanup_free_ bool *is_below = calloc(findings->merged.nodes.count, sizeof(*is_below));
    TRY_MEMORY(is_below);
    merged_mark_below(&findings->merged, item, is_below);
    /* Up to the last dominator that is in the suspect: that is the uppermost object. */
    for (uint32_t i = g2h_dominators_number(dominators, from); i > 0 && is_below[lines[i]];
         i = g2h_dominators_above(dominators, i))
        uppermost = g2h_dominators_node(dominators, i);
    TRY(retainers_find(findings, paths_edges(findings->paths), uppermost, &retainers));
    *ret = 0;
    VECTOR_EACH(const struct retainer, retainer, retainers.list) {
        const uint32_t line = lines[g2h_dominators_number(dominators, retainer->node)];
        *ret += is_below[line] || findings_node(findings, line)->is_garbage ? 0 : retainer->count;
    }
    return NULL;
}

/* Returns what a map or slice has many of; NULL for other classes. */
static const char *part_of_form(enum g2h_class_form form)
{
    if (form == G2H_FORM_MAP)
        return "entry";
    return form == G2H_FORM_SLICE ? "element" : NULL;
}

/* Finds what holds a suspect's example: how many holders there are, and which part of one (part: an
 * entry of a map, an element of a slice) it hangs on, if it does on one: only a list or a tree
 * (example->uppermost is 1) of several objects can, and one pointer must lead there. The suspect
 * must have a holder. */
struct g2h_error *who_find_holders(const struct findings *findings, const struct suspect *suspect,
                                   const struct example *example, struct who_holders *ret)
{
    assert(suspect->holder != MERGED_NONE);
    const char *part = part_of_form(merged_form(&findings->merged, suspect->holder));
    const bool is_above = suspect->holder == findings_node(findings, suspect->item)->parent;
    uint64_t pointers = 0;
    if (part && suspect->count > 1 && example->uppermost == 1)
        TRY(count_pointers(findings, suspect->item, example->node, &pointers));
    const struct merged_node *holder = findings_node(findings, suspect->holder);
    const struct merged_node *above = findings_node(findings, holder->parent);
    /* Above the objects of a sync.Map are its own entries, so it knows how many maps it is. */
    const bool is_counted = is_above && example->above > 0 && !holder->is_trie;
    *ret = (struct who_holders){.count = is_counted ? example->above : holder->count,
                                .part = pointers == 1 ? part : NULL};
    if (findings_is_entries(findings->view, holder->name) && above->kind == MERGED_VARIABLE)
        ret->count = above->count; /* the headers of these maps are in frames */
    if (!suspects_are_timers(&findings->merged, suspect->holder))
        return NULL;
    /* Each heap of timers that join_timers() has added, as a whole or in part, is a holder, too. */
    for (uint32_t i = 0; i < suspect->container.beside_count; i++) {
        const uint32_t beside = suspect->container.beside[i];
        const uint32_t parent = findings_node(findings, beside)->parent;
        if (suspects_are_timers(&findings->merged, beside))
            ret->count += findings_node(findings, beside)->count;
        else if (suspects_are_timers(&findings->merged, parent))
            ret->count += findings_node(findings, parent)->count;
    }
    return NULL;
}

/* Goes up from the item: the uppermost variable below the group of what several packages or
 * goroutines share, or MERGED_NONE. */
uint32_t who_shares(const struct findings *findings, uint32_t item)
{
    uint32_t variable = MERGED_NONE;
    for (uint32_t i = item; i != MERGED_NONE; i = findings_node(findings, i)->parent) {
        if (findings_node(findings, i)->kind == MERGED_VARIABLE)
            variable = i;
        if (findings_is_kind(findings, i, G2H_NODE_SEVERAL))
            return variable;
    }
    return MERGED_NONE;
}

/* Appends how a holder is reached, or its name. A path that ends at another node than the holder
 * would name the wrong one, so then only the name is used. */
struct g2h_error *who_append_holder(const struct findings *findings, uint32_t holder,
                                    struct text *text)
{
    struct g2h_node node;
    uint32_t end;
    size_t size;
    TRY(path_append(findings->paths, holder, text, &end));
    if (text->size > 0 && end == holder)
        return NULL;
    g2h_view_brief(findings->view, holder, &node);
    const char *name = g2h_view_name(findings->view, node.name, &size);
    text->size = 0;
    text_append(text, name, size);
    if (node.object != UINT32_MAX)
        text_printf(text, " at 0x%" PRIx64, node.address);
    return NULL;
}

/* Returns whether a node is a variable of a goroutine, or objects that several of one goroutine's
 * variables hold together. */
static bool is_local(const struct findings *findings, uint32_t node)
{
    const struct merged_node *read = findings_node(findings, node);
    return read->kind == MERGED_VARIABLE ||
           (read->kind == MERGED_CLASS && !merged_is_runtime(&findings->merged, node) &&
            merged_runtime_class(&findings->merged, node) == G2H_RUNTIME_NONE &&
            findings_node(findings, read->parent)->kind == MERGED_SYNTHETIC &&
            !findings_is_kind(findings, read->parent, G2H_NODE_GOROUTINES_IN_PLACE));
}

/* Adds the variables below a node, and the objects that several of them hold together, those that
 * retain most first. */
static struct g2h_error *find_variables(const struct findings *findings, uint32_t below,
                                        ranking *ret)
{
    const size_t count = findings->merged.nodes.count;
    _cleanup_free_ bool *is_below = calloc(count, sizeof(*is_below));
    TRY_MEMORY(is_below);
    merged_mark_below(&findings->merged, below, is_below);
    for (uint32_t i = below + 1; i < count; i++) {
        const struct merged_node *node = findings_node(findings, i);
        if (is_below[i] && is_local(findings, i))
            TRY_MEMORY(vector_push(ret, ((struct ranked){node->retained, i})));
    }
    ranking_sort(ret);
    return NULL;
}

/* Returns whether a node of the view is one of a variable's objects, or merged in a class. */
static bool is_object_of(const struct findings *findings, uint32_t node, uint32_t local)
{
    const uint32_t merged = findings->merged.of[g2h_dominators_number(findings->dominators, node)];
    return merged == local || (findings_node(findings, local)->kind == MERGED_VARIABLE &&
                               findings_node(findings, merged)->parent == local);
}

/* Returns whether the example of one variable points to an object of another. */
static bool points_to(const struct findings *findings, uint32_t variable, uint32_t other)
{
    struct g2h_edges *edges = paths_edges(findings->paths);
    const uint32_t from = findings_node(findings, variable)->example;
    struct g2h_edge edge;
    g2h_edges_begin(edges, from, from + 1);
    while (g2h_edges_next(edges, &edge))
        if ((edge.flags & G2H_EDGE_WEAK) == 0 && is_object_of(findings, edge.target, other))
            return true;
    return false;
}

/* Orders variables that stand alone before those that are part of others, and each by what they
 * retain. */
static int compare_locals(const void *a, const void *b)
{
    const struct who_local *one = a;
    const struct who_local *other = b;
    if ((one->part_of == MERGED_NONE) != (other->part_of == MERGED_NONE))
        return one->part_of == MERGED_NONE ? -1 : 1;
    if (one->retained != other->retained)
        return COMPARE(other->retained, one->retained);
    return COMPARE(one->node, other->node);
}

/* Finds the variables of goroutines in a place, those that retain most first, and WHO_LOCALS at
 * most. If the example of one variable points to objects of another, as a channel to its slots, the
 * latter is shown as part of the former. */
struct g2h_error *who_find_locals(const struct findings *findings, uint32_t place,
                                  struct who_local ret[WHO_LOCALS], size_t *ret_count)
{
    _cleanup_vector_ ranking variables = {0};
    TRY(find_variables(findings, place, &variables));
    const size_t count = MIN(variables.count, WHO_LOCALS);
    for (size_t i = 0; i < count; i++)
        ret[i] = (struct who_local){variables.data[i].node,
                                    findings_node(findings, variables.data[i].node)->retained,
                                    MERGED_NONE};
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count && ret[i].part_of == MERGED_NONE; j++)
            if (i != j && ret[j].part_of == MERGED_NONE &&
                points_to(findings, ret[j].node, ret[i].node)) {
                ret[i].part_of = ret[j].node;
                ret[j].retained += ret[i].retained;
            }
    qsort(ret, count, sizeof(*ret), compare_locals);
    *ret_count = count;
    return NULL;
}

/* Counts the goroutines that have ended among a suspect's objects. *ret is 0 unless the item is a
 * class of goroutine descriptors (g) of which at least half belong to goroutines that have ended.
 */
struct g2h_error *who_find_ended(const struct findings *findings, uint32_t item, uint64_t *ret)
{
    struct goroutines_ended ended;
    *ret = 0;
    if (merged_runtime_class(&findings->merged, item) != G2H_RUNTIME_G)
        return NULL;
    TRY(goroutines_find_ended(findings, &ended));
    if (ended.count >= (findings_node(findings, item)->count + 1) / 2)
        *ret = ended.count;
    return NULL;
}

/* ---- details that take long to find ---- */

/* Returns the uppermost object of a node of merged that holds another object, or else any object of
 * it. */
static uint32_t holder_at(const struct findings *findings, uint32_t line, uint32_t held)
{
    const struct g2h_dominators *dominators = findings->dominators;
    uint32_t found = 0;
    for (uint32_t number = g2h_dominators_number(dominators, held); number > 0;
         number = g2h_dominators_above(dominators, number))
        if (findings->merged.of[number] == line)
            found = number;
        else if (found > 0)
            break;
    return found > 0 ? g2h_dominators_node(dominators, found)
                     : findings_node(findings, line)->example;
}

/* Returns whether one object has most of a suspect, or all of it hangs on one entry of a map or
 * slice: then that one is to be named, not the container. */
static bool is_of_one(const struct findings *findings, const struct suspect *suspect,
                      const struct example *example)
{
    const struct merged *merged = &findings->merged;
    const uint32_t node = suspect->container.node;
    if (example->most != UINT32_MAX &&
        findings_node(findings,
                      merged->of[g2h_dominators_number(findings->dominators, example->most)])
                ->name == findings_node(findings, suspect->item)->name)
        return true;
    return example->uppermost == 1 && suspect->count > 1 &&
           (merged_form(merged, node) == G2H_FORM_MAP ||
            merged_form(merged, node) == G2H_FORM_SLICE);
}

/*
 * Returns the node of merged whose object the path of "held by" leads to; MERGED_NONE: to the
 * example. In this order:
 *
 * branch     the container is a variable with a tree: the tree's root, to which it points
 * held_at    no class is the container, one object has most (is_of_one()), or held_at is the tree
 *            of a sync.Map; held_at is that tree, or the list above the items, or MERGED_NONE
 * node       the container, if it is no declared struct, has a list or a tree below it, or has
 *            fewer objects than the suspect has that no other object of the suspect holds
 * none       a struct with the items in its fields: the field says more than the struct
 */
static uint32_t held_line(const struct findings *findings, const struct suspect *suspect,
                          const struct example *example)
{
    const uint32_t node = suspect->container.node;
    const uint32_t held_at = suspect->held_at;
    const uint32_t branch = suspect->container.branch;
    if (suspect->container.tree != MERGED_NONE && node != MERGED_NONE &&
        findings_node(findings, node)->kind == MERGED_VARIABLE &&
        findings_node(findings, branch)->kind == MERGED_CLASS)
        return branch; /* the root of the tree, to which the variable points */
    if (node == MERGED_NONE || findings_node(findings, node)->kind != MERGED_CLASS ||
        is_of_one(findings, suspect, example))
        return held_at;
    if (held_at != MERGED_NONE &&
        merged_runtime_class(&findings->merged, held_at) == G2H_RUNTIME_TRIE)
        return held_at;
    return merged_form(&findings->merged, node) != G2H_FORM_DECLARED || held_at != MERGED_NONE ||
                   suspect->container.tree != MERGED_NONE ||
                   example->uppermost > findings_node(findings, node)->count
               ? node
               : MERGED_NONE;
}

/* Appends the name of a variable, or of what it points to: a node of merged. */
static struct g2h_error *append_variable(const struct findings *findings, uint32_t variable,
                                         struct text *text, uint32_t *ret_end)
{
    const uint32_t example = findings_node(findings, variable)->example;
    *ret_end = example;
    if (!findings_is_kind(findings, variable, G2H_NODE_VARIABLE))
        return path_append(findings->paths, example, text, ret_end);
    expression_append_variable(findings->view, example, text);
    return NULL;
}

/* Returns how many entries what a variable points to has by its own count; 0: not known. */
static uint64_t entries_of_variable(const struct findings *findings, uint32_t variable)
{
    const uint32_t child = findings_node(findings, variable)->child;
    return child != MERGED_NONE ? findings_node(findings, child)->entries : 0;
}

/* Returns the variable of an island that leads to the container of so many entries, the list and
 * not the map with a few of its elements; or else, as of several that have as many, the one that
 * retains most. */
static uint32_t variable_of_island(const struct findings *findings, uint32_t island,
                                   uint64_t entries)
{
    uint32_t best = MERGED_NONE;
    for (uint32_t i = findings_node(findings, island)->child; i != MERGED_NONE;
         i = findings_node(findings, i)->sibling) {
        if (findings_node(findings, i)->kind == MERGED_CLASS)
            continue;
        const bool has = entries_of_variable(findings, i) >= entries,
                   had = best != MERGED_NONE && entries_of_variable(findings, best) >= entries;
        if (best == MERGED_NONE || (has && !had) ||
            (has == had &&
             findings_node(findings, i)->retained > findings_node(findings, best)->retained))
            best = i;
    }
    return best;
}

/* Returns the node of merged that has all objects of an item: the nearest one above that is a
 * single object or a variable; MERGED_NONE if there is none below packages and goroutines. */
static uint32_t single_holder(const struct findings *findings, uint32_t item)
{
    uint32_t at = findings_node(findings, item)->parent;
    while (at != MERGED_NONE && findings_node(findings, at)->kind == MERGED_CLASS &&
           findings_node(findings, at)->count != 1)
        at = findings_node(findings, at)->parent;
    if (at == MERGED_NONE || merged_is_island(&findings->merged, at))
        return MERGED_NONE;
    return findings_node(findings, at)->kind != MERGED_SYNTHETIC ||
                   findings_is_kind(findings, at, G2H_NODE_VARIABLE)
               ? at
               : MERGED_NONE;
}

struct g2h_error *who_append_holder_of_all(const struct findings *findings, uint32_t item,
                                           struct text *text, uint32_t *ret_end)
{
    const uint32_t holder = single_holder(findings, item);
    const size_t begin = text->size;
    size_t size;
    if (holder == MERGED_NONE)
        return NULL;
    TRY(append_variable(findings, holder, text, ret_end));
    if (text->size == begin || findings_node(findings, holder)->kind != MERGED_VARIABLE ||
        findings_node(findings, holder)->count == 1)
        return NULL;
    /* The path leads to the first of several: of the elements of an array, "tables[]", what is
     * before the index is meant. */
    const char *name = merged_name(&findings->merged, holder, &size);
    const char *index = memrchr(text->data + begin, '[', text->size - begin);
    const bool is_array =
        bytes_end(bytes_at(name, size), "[]") && index && text->data[text->size - 1] == ']';
    text->size = is_array ? as_size(index - text->data) : begin;
    *ret_end = UINT32_MAX;
    return NULL;
}

/* Returns the largest of several containers alike, the objects of a line of merged; of equal ones
 * the one given. What another one of the line holds, such as the memory of a map, is none. */
static uint32_t largest_of_line(const struct findings *findings, uint32_t line, uint32_t given)
{
    const struct g2h_dominators *dominators = findings->dominators;
    const uint32_t *lines = findings->merged.of;
    uint32_t best = given;
    uint64_t most = g2h_dominators_retained_size(dominators, given);
    for (uint32_t i = 1; i < findings->merged.of_count; i++) {
        const uint32_t node = lines[i] == line ? g2h_dominators_node(dominators, i) : UINT32_MAX;
        if (node == UINT32_MAX || lines[g2h_dominators_above(dominators, i)] == line)
            continue;
        const uint64_t retained = g2h_dominators_retained_size(dominators, node);
        if (retained > most) {
            most = retained;
            best = node;
        }
    }
    return best;
}

/* Returns the object that the path to a suspect leads to: the example, or the container at a line
 * that holds it; of several alike the largest, unless the example is of the one that has most. */
static uint32_t held_object(const struct findings *findings, uint32_t line,
                            const struct example *example)
{
    if (line == MERGED_NONE)
        return example->node;
    const uint32_t held = holder_at(findings, line, example->node);
    return findings_node(findings, line)->count > 1 && example->most == UINT32_MAX
               ? largest_of_line(findings, line, held)
               : held;
}

/* Appends the path to a suspect. If the container is a variable with several objects, it is named
 * itself, unless these are sync.Maps; otherwise the path to a container of the entries is. Of
 * several objects without a container, the path to one would say that it holds all: what has them
 * all is named, if there is one, unless one of several has most, which "mostly" names. */
struct g2h_error *who_append_path(const struct findings *findings, const struct suspect *suspect,
                                  const struct example *example, struct text *text,
                                  uint32_t *ret_end)
{
    const uint32_t node = suspect->container.node;
    if (suspect_is_in_maps(&findings->merged, suspect))
        return path_append(findings->paths, held_object(findings, suspect->held_at, example), text,
                           ret_end);
    if (node != MERGED_NONE && findings_node(findings, node)->kind == MERGED_VARIABLE &&
        !is_of_one(findings, suspect, example))
        return append_variable(
            findings,
            merged_is_island(&findings->merged, node)
                ? variable_of_island(findings, node, findings_node(findings, suspect->item)->count)
                : node,
            text, ret_end);
    if (node != MERGED_NONE && findings_is_kind(findings, node, G2H_NODE_VARIABLE) &&
        !is_of_one(findings, suspect, example)) {
        expression_append_variable(findings->view, findings_node(findings, node)->example, text);
        *ret_end = findings_node(findings, node)->example;
        return NULL;
    }
    const uint32_t line = held_line(findings, suspect, example);
    if (line == MERGED_NONE && node == MERGED_NONE && suspect->count != 1 &&
        example->most == UINT32_MAX && who_shares(findings, suspect->item) == MERGED_NONE)
        TRY(who_append_holder_of_all(findings, suspect->item, text, ret_end));
    if (text->size > 0) {
        *ret_end = *ret_end == UINT32_MAX ? example->node : *ret_end;
        return NULL;
    }
    return path_append(findings->paths, held_object(findings, line, example), text, ret_end);
}

/* Returns the variable, right below a package, that a node of the view is below; or MERGED_NONE. */
static uint32_t variable_below(const struct findings *findings, uint32_t package, uint32_t node)
{
    uint32_t line = findings->merged.of[g2h_dominators_number(findings->dominators, node)];
    while (line != MERGED_NONE && findings_node(findings, line)->parent != package)
        line = findings_node(findings, line)->parent;
    return line != MERGED_NONE && (findings_node(findings, line)->kind == MERGED_VARIABLE ||
                                   findings_is_kind(findings, line, G2H_NODE_VARIABLE))
               ? line
               : MERGED_NONE;
}

/* Removes the variable that a path begins with from a list of variables, "main.a, main.b": held by
 * has said it. */
static void drop_holder(struct text *variables, const struct text *path)
{
    static const char comma[] = ", ";
    size_t end, kept = 0;
    for (size_t at = 0; at < variables->size; at = end + sizeof(comma) - 1) {
        char *name = variables->data + at;
        const char *next = memmem(name, variables->size - at, comma, sizeof(comma) - 1);
        const size_t size = next ? as_size(next - name) : variables->size - at;
        end = at + size;
        if (path->size >= size && memcmp(path->data, name, size) == 0 &&
            (path->size == size || strchr(".[ ", path->data[size])))
            continue;
        if (kept > 0)
            memcpy(variables->data + kept, comma, sizeof(comma) - 1);
        kept += kept > 0 ? sizeof(comma) - 1 : 0;
        memmove(variables->data + kept, name, size);
        kept += size;
    }
    variables->size = kept;
}

enum { SHARERS_MOST = 4 };

/* The variables whose objects lead to those of an item, or to the objects that hold these, which
 * are right below their package because the variables hold them together. */
struct sharing {
    struct who *who;
    uint32_t item, package;
    uint32_t found[SHARERS_MOST + 1], count;
};

/* Finds the item whose sharers are to be found. Returns false if it is not below a package. */
static bool sharing_begin(const struct findings *findings, struct who *who, struct sharing *ret)
{
    uint32_t item = who->suspect.item;
    uint32_t package = findings_node(findings, item)->parent;
    while (findings_node(findings, package)->kind == MERGED_CLASS) {
        item = package;
        package = findings_node(findings, item)->parent;
    }
    *ret = (struct sharing){.who = who, .item = item, .package = package};
    return findings_is_kind(findings, package, G2H_NODE_PACKAGE) ||
           findings_is_kind(findings, package, G2H_NODE_FRAME) ||
           merged_is_island(&findings->merged, package);
}

/* Notes the variable that a strong edge comes from, if it leads to an object of the item, once, and
 * up to one more than SHARERS_MOST: the one after the last is put there first, so that the search
 * finds it in any case. */
static void sharing_add(const struct findings *findings, struct sharing *sharing,
                        const struct g2h_edge *edge, uint32_t merged)
{
    uint32_t known = 0;
    const bool is_item = merged == sharing->item ||
                         (findings_node(findings, sharing->item)->kind == MERGED_VARIABLE &&
                          findings_node(findings, merged)->parent == sharing->item);
    if (!is_item || sharing->count > SHARERS_MOST || (edge->flags & G2H_EDGE_WEAK) != 0)
        return;
    sharing->found[sharing->count] = variable_below(findings, sharing->package, edge->source);
    while (sharing->found[known] != sharing->found[sharing->count])
        known++;
    sharing->count += known == sharing->count && sharing->found[known] != MERGED_NONE;
}

/* Finds the variables of several items: goes over all edges once. Ends when each has more than
 * SHARERS_MOST. */
static void sharing_find(const struct findings *findings, struct sharing *list, size_t count)
{
    enum { EDGES = 256 };
    struct g2h_edges *edges = paths_edges(findings->paths);
    struct g2h_edge read[EDGES];
    size_t got;
    size_t open = count;
    g2h_edges_begin_targets(edges, 0, g2h_view_node_count(findings->view));
    while (open > 0 && (got = g2h_edges_read(edges, read, EDGES)) > 0) {
        for (size_t i = 0; i < got; i++) {
            const uint32_t merged =
                findings->merged.of[g2h_dominators_number(findings->dominators, read[i].target)];
            for (size_t j = 0; j < count; j++)
                sharing_add(findings, &list[j], &read[i], merged);
        }
        open = 0;
        for (size_t j = 0; j < count; j++)
            open += list[j].count <= SHARERS_MOST;
    }
}

/* Appends the variables that were found: "main.queue, main.failures". Nothing if there is one only;
 * SHARERS_MOST at most, and then "and others". */
static struct g2h_error *sharing_append(const struct findings *findings,
                                        const struct sharing *sharing)
{
    struct text *text = &sharing->who->sharers;
    uint32_t end;
    if (sharing->count <= 1)
        return NULL;
    for (uint32_t i = 0; i < sharing->count && i < SHARERS_MOST; i++) {
        _cleanup_(text_deinit) struct text path = {0};
        TRY(append_variable(findings, sharing->found[i], &path, &end));
        text_append_string(text, text->size > 0 ? ", " : "");
        text_append(text, path.data, path.size);
    }
    text_append_string(text, sharing->count > SHARERS_MOST ? " and others" : "");
    TRY_MEMORY(!text->failed);
    drop_holder(text, &sharing->who->path);
    return NULL;
}

/* ---- the holder of most, of several ---- */

/* Those who hold objects: a variable with all that it alone holds, or what a root points to. */
struct co_holder {
    uint64_t key, edges;
    uint64_t count;        /* objects that it has */
    uint64_t sources;      /* nodes of the view from which its edges come */
    uint32_t source;       /* the last one of them */
    uint32_t container;    /* the map or slice that all of them are of; UINT32_MAX: several */
    uint32_t holder, held; /* nodes of the view: of its first edge to such an object; */
    uint32_t to_example;   /* the holder of the example's; UINT32_MAX: it has another one */
    uint64_t *has;         /* a bit per node of the view; NULL: they are not counted */
};

struct co_holders {
    const struct findings *findings;
    uint32_t top;      /* the uppermost node of merged whose objects are held */
    uint32_t example;  /* an object of top that is, or holds, the suspect's example */
    uint32_t *line_of; /* by node of merged: that of which it is, as one who holds; 0: not known */
    struct map by_key;
    VECTOR(struct co_holder) list;
};

enum { CO_HOLDERS = 8 /* that are counted exactly: those with the most pointers */ };

static void co_holders_deinit(struct co_holders *holders)
{
    VECTOR_EACH(struct co_holder, holder, holders->list)
        free(holder->has);
    free(holders->list.data);
    free(holders->line_of);
    map_deinit(&holders->by_key);
}

/* Returns the uppermost class whose objects those of a line are of, below what shares them. */
static uint32_t co_holders_line(const struct co_holders *holders, uint32_t line)
{
    const struct findings *findings = holders->findings;
    uint32_t above = line;
    if (holders->line_of[line] != 0)
        return holders->line_of[line] - 1;
    const uint32_t shares = who_shares(findings, line);
    while (above != holders->top && findings_node(findings, above)->kind == MERGED_CLASS &&
           findings_node(findings, above)->parent != shares)
        above = findings_node(findings, above)->parent;
    holders->line_of[line] = above + 1;
    return above;
}

/* Returns whether an edge holds an object of top from outside of it. *ret_key becomes the same for
 * all edges of one of those who hold it: of a root each variable, which is the name of its edges,
 * or all edges that only have an index, is one; of objects their line. */
static bool co_holders_want(const struct co_holders *holders, const struct g2h_edge *edge,
                            uint64_t *ret_key)
{
    const struct findings *findings = holders->findings;
    if (!g2h_edge_holds(edge->flags) || !is_object_of(findings, edge->target, holders->top))
        return false;
    uint32_t line = findings->merged.of[g2h_dominators_number(findings->dominators, edge->source)];
    if (findings_node(findings, line)->kind == MERGED_SYNTHETIC) {
        *ret_key = map_hash_pair((uint64_t)edge->source << 1 | 1,
                                 (edge->flags & G2H_EDGE_BY_INDEX) != 0 ? 0 : edge->name);
        return true;
    }
    line = co_holders_line(holders, line);
    *ret_key = (uint64_t)line << 1;
    return line != holders->top;
}

/* Returns the map that a node is memory of, or the node. */
static uint32_t container_of_memory(const struct findings *findings, uint32_t node)
{
    uint32_t number = g2h_dominators_number(findings->dominators, node);
    while (number > 0 && expression_hides(findings->view, node)) {
        number = g2h_dominators_above(findings->dominators, number);
        node = g2h_dominators_node(findings->dominators, number);
    }
    return node;
}

/* Counts a node from which a holder has edges. */
static void co_holder_add_source(const struct findings *findings, struct co_holder *one,
                                 uint32_t source)
{
    if (one->sources == 0)
        one->container = container_of_memory(findings, source);
    else if (one->container != UINT32_MAX &&
             one->container != container_of_memory(findings, source))
        one->container = UINT32_MAX;
    one->sources++;
    one->source = source;
}

/* Begins to count the objects of a holder: several of its pointers may lead to one. */
static struct g2h_error *co_holder_begin(const struct findings *findings, struct co_holder *one)
{
    one->has = zeroed_alloc(g2h_view_node_count(findings->view) / 64 + 1, sizeof(*one->has));
    TRY_MEMORY(one->has);
    return NULL;
}

static void co_holder_add(struct co_holder *one, uint32_t object)
{
    one->count += !bits_have(one->has, object);
    bits_add(one->has, object);
}

/* Counts the pointers of each of those who hold an object of top, and the objects of the first
 * CO_HOLDERS: mostly these are all. */
static struct g2h_error *co_holders_find(struct co_holders *holders, struct g2h_edges *edges)
{
    const struct findings *findings = holders->findings;
    struct g2h_edge edge;
    uint64_t key;
    g2h_edges_begin_targets(edges, 0, g2h_view_node_count(findings->view));
    while (g2h_edges_next(edges, &edge)) {
        if (!co_holders_want(holders, &edge, &key))
            continue;
        const uint32_t next = as_u32(holders->list.count);
        uint32_t number = next;
        const struct co_holder added = {.key = key,
                                        .source = UINT32_MAX,
                                        .holder = edge.source,
                                        .held = edge.target,
                                        .to_example = UINT32_MAX};
        TRY_MEMORY(map_put(&holders->by_key, key, number, &number) &&
                   (number < next || vector_push(&holders->list, added)));
        struct co_holder *one = &holders->list.data[number];
        if (number == next && number < CO_HOLDERS)
            TRY(co_holder_begin(findings, one));
        if (number < CO_HOLDERS)
            co_holder_add(one, edge.target);
        one->edges++;
        if (one->source != edge.source) /* the edges of one follow each other */
            co_holder_add_source(findings, one, edge.source);
        if (edge.target == holders->example && one->to_example == UINT32_MAX)
            one->to_example = edge.source;
    }
    return NULL;
}

/* Orders holders by their number of edges, most first; equal ones by node. */
static int compare_co_edges(const void *a, const void *b)
{
    const struct co_holder *one = a;
    const struct co_holder *other = b;
    if (one->edges != other->edges)
        return COMPARE(other->edges, one->edges);
    return COMPARE(one->holder, other->holder);
}

/* Sorts those who hold objects by their pointers, and counts the objects of the first CO_HOLDERS
 * again if there are more, because the first that were found need not have the most. */
static struct g2h_error *co_holders_count(struct co_holders *holders, struct g2h_edges *edges)
{
    struct g2h_edge edge;
    uint64_t key;
    vector_sort(&holders->list, compare_co_edges);
    if (holders->list.count <= CO_HOLDERS)
        return NULL;
    for (size_t i = 0; i < holders->list.count; i++) {
        struct co_holder *one = &holders->list.data[i];
        map_set(&holders->by_key, one->key, as_u32(MIN(i, (size_t)CO_HOLDERS)));
        free(one->has);
        one->has = NULL;
        one->count = 0;
        if (i < CO_HOLDERS)
            TRY(co_holder_begin(holders->findings, one));
    }
    g2h_edges_begin_targets(edges, 0, g2h_view_node_count(holders->findings->view));
    while (g2h_edges_next(edges, &edge)) {
        if (!co_holders_want(holders, &edge, &key))
            continue;
        const uint32_t number = map_get(&holders->by_key, key);
        if (number < CO_HOLDERS)
            co_holder_add(&holders->list.data[number], edge.target);
    }
    return NULL;
}

/* Sets *ret to how many of the objects one container has, of a holder (by its key) that several
 * containers are, such as all maps of a class: the one that a node is, or is memory of. */
static struct g2h_error *co_holders_count_of(const struct co_holders *holders,
                                             struct g2h_edges *edges, uint64_t holder_key,
                                             uint32_t node, uint64_t *ret)
{
    const struct findings *findings = holders->findings;
    const uint32_t nodes = g2h_view_node_count(findings->view);
    const uint32_t container = container_of_memory(findings, node);
    _cleanup_free_ uint64_t *has = zeroed_alloc(nodes / 64 + 1, sizeof(*has));
    struct g2h_edge edge;
    uint64_t key;
    TRY_MEMORY(has);
    *ret = 0;
    g2h_edges_begin_targets(edges, 0, nodes);
    while (g2h_edges_next(edges, &edge)) {
        if (!co_holders_want(holders, &edge, &key) || key != holder_key ||
            bits_have(has, edge.target) || /* by another pointer of the container */
            container_of_memory(findings, edge.source) != container)
            continue;
        bits_add(has, edge.target);
        ++*ret;
    }
    return NULL;
}

/* Returns whether a holder is of one object each, as each connection has its lock, so that it does
 * not say where all of them are. */
static bool is_of_one_each(const struct co_holder *holder)
{
    return holder->count < CONTAINER_MANY * holder->sources;
}

/* Returns whether a holder says more than another one: it has more of the objects, or nearly as
 * many, and is one that has many. */
static bool co_holder_is_better(const struct co_holder *one, const struct co_holder *other)
{
    enum { NEARLY = 90 };
    const bool is_each = is_of_one_each(one);
    if (is_each != is_of_one_each(other)) {
        const uint64_t of_many = is_each ? other->count : one->count;
        const uint64_t of_each = is_each ? one->count : other->count;
        return (of_many >= of_each * NEARLY / 100) != is_each;
    }
    return one->count > other->count;
}

/* Returns the one that says most about where the objects are, or NULL if there is none. */
static const struct co_holder *co_holders_most(const struct co_holders *holders)
{
    const struct co_holder *most = NULL;
    for (size_t i = 0; i < holders->list.count && i < CO_HOLDERS; i++)
        if (!most || co_holder_is_better(&holders->list.data[i], most))
            most = &holders->list.data[i];
    return most;
}

/* Returns the one whose edge leads from a node to the example; NULL: it is not known. */
static const struct co_holder *co_holders_of(const struct co_holders *holders, uint32_t holder)
{
    for (size_t i = 0; i < holders->list.count && i < CO_HOLDERS; i++)
        if (holders->list.data[i].to_example == holder)
            return &holders->list.data[i];
    return NULL;
}

/* If a holder is one map or slice, replaces the path to one of its entries by the path to it. */
static struct g2h_error *name_one_container(const struct findings *findings,
                                            const struct co_holder *holder, struct who *who)
{
    _cleanup_(text_deinit) struct text path = {0};
    uint32_t end = UINT32_MAX;
    const uint32_t container = holder->container;
    if (is_of_one_each(holder) || container == UINT32_MAX)
        return NULL;
    TRY(path_append(findings->paths, container, &path, &end));
    TRY_MEMORY(!path.failed);
    if (path.size == 0 || end != container)
        return NULL;
    who->path.size = 0;
    text_append(&who->path, path.data, path.size);
    who->path_end = container;
    who->is_container = true;
    return NULL;
}

/* Replaces the path to a suspect that several hold together by that of one who has most, if the one
 * that the path goes by has less than half as many. The shortest path goes by any of them, often
 * one that has only a few: a cache of the newest. Sets path_count and path_of, how many of the
 * objects that one has; nothing if fewer than two hold them. Goes over all edges, twice if
 * there are more than CO_HOLDERS. */
static struct g2h_error *name_holder_of_most(const struct findings *findings, struct who *who)
{
    struct g2h_edges *edges = paths_edges(findings->paths);
    const uint32_t item = who->suspect.item;
    uint32_t by;
    uint32_t top = item;
    uint32_t number = g2h_dominators_number(findings->dominators, who->path_end);
    while (findings_node(findings, findings_node(findings, top)->parent)->kind == MERGED_CLASS)
        top = findings_node(findings, top)->parent;
    while (number > 0 && findings->merged.of[number] != top) /* up to the object of top above it */
        number = g2h_dominators_above(findings->dominators, number);
    if (number == 0 || findings_node(findings, top)->count < 2)
        return NULL;
    _cleanup_(co_holders_deinit) struct co_holders holders = {
        .findings = findings,
        .top = top,
        .example = g2h_dominators_node(findings->dominators, number),
        .line_of = calloc(findings->merged.nodes.count, sizeof(*holders.line_of))};
    TRY_MEMORY(holders.line_of);
    const bool is_by = path_goes_by(findings->paths, holders.example, &by);
    TRY(co_holders_find(&holders, edges));
    if (holders.list.count < 2)
        return NULL;
    TRY(co_holders_count(&holders, edges));
    const struct co_holder *most = co_holders_most(&holders);
    const struct co_holder *named = is_by ? co_holders_of(&holders, by) : NULL; /* by the path */
    assert(most);
    if (!named || named->count < most->count / 2 ||
        (is_of_one_each(named) && !is_of_one_each(most))) {
        uint32_t held = most->held;
        uint32_t end = held;
        by = most->holder;
        if (most->to_example != UINT32_MAX) { /* it has the example, too */
            by = most->to_example;
            held = holders.example;
            end = who->path_end;
        }
        who->path.size = 0;
        TRY(path_append_by(findings->paths, by, held, end, &who->path, &who->path_end));
        named = most;
    }
    who->path_count = named->count;
    if (named->container == UINT32_MAX && !is_of_one_each(named)) /* the path is by one of them */
        TRY(co_holders_count_of(&holders, edges, named->key, by, &who->path_count));
    who->path_of = findings_node(findings, top)->count;
    return who->path_count == who->path_of ? name_one_container(findings, named, who) : NULL;
}

/* Returns whether nothing alone holds the objects of an item, or those that hold them: what is
 * above the classes is several holders together, a package, a whole segment, or variables that
 * share them. */
static bool is_shared(const struct findings *findings, uint32_t item)
{
    uint32_t above = findings_node(findings, item)->parent;
    while (above != MERGED_NONE && findings_node(findings, above)->kind == MERGED_CLASS)
        above = findings_node(findings, above)->parent;
    if (above == MERGED_NONE)
        return false;
    return who_shares(findings, item) != MERGED_NONE ||
           findings_is_kind(findings, above, G2H_NODE_PACKAGE) ||
           findings_is_kind(findings, above, G2H_NODE_FRAME) ||
           findings_is_kind(findings, above, G2H_NODE_DATA) ||
           findings_is_kind(findings, above, G2H_NODE_BSS) ||
           merged_is_island(&findings->merged, above);
}

/* Leaves small strings out of a suspect's objects, and counts them in small_count and small_bytes.
 * Strings of very different sizes have no average, so only the large ones are its objects: those of
 * half the average and more, if they are at most MOST_OF_COUNT percent of all and have
 * LEAST_OF_BYTES percent of the bytes. Nothing changes with a base, or if the objects are not
 * strings. */
static void leave_out_small_strings(const struct findings *findings, struct who *who)
{
    enum { MOST_OF_COUNT = 90, LEAST_OF_BYTES = 90 };
    const uint32_t item = who->suspect.item;
    const struct merged_node *node = findings_node(findings, item);
    struct g2h_node read;
    uint64_t count = 0, bytes = 0;
    if (findings_kind_of(findings->view, node->example) != G2H_NODE_TEXT || node->count < 2 ||
        node->count != who->suspect.count || findings->base)
        return;
    for (uint32_t i = 1; i < findings->merged.of_count; i++) {
        if (findings->merged.of[i] != item ||
            g2h_dominators_node(findings->dominators, i) == UINT32_MAX)
            continue;
        g2h_view_brief(findings->view, g2h_dominators_node(findings->dominators, i), &read);
        const bool is_large = read.size >= node->bytes / node->count / 2;
        count += is_large;
        bytes += is_large ? read.size : 0;
    }
    if (count <= node->count * MOST_OF_COUNT / 100 && bytes >= node->bytes / 100 * LEAST_OF_BYTES) {
        who->small_count = who->suspect.count - count;
        who->small_bytes = node->bytes - bytes;
        who->suspect.count = count;
        if (count <= who->suspect.entries * MOST_OF_COUNT / 100)
            who->suspect.is_entries = false; /* the others are not as large */
    }
}

/* Counts the entries of several maps. Several maps that have grown without becoming more say how
 * many entries they have together. */
static struct g2h_error *find_map_entries(const struct findings *findings, struct who *who)
{
    const struct suspect *suspect = &who->suspect;
    if (!findings->base || suspect->grown > 0 || suspect->count < 2 ||
        suspect->named != suspect->item ||
        findings_node(findings, suspect->item)->count != suspect->count)
        return NULL;
    return length_of_maps(findings, suspect->item, &who->map_entries);
}

/* Makes the entries of several maps those of a suspect: if these are structs, or if the objects are
 * strings, of which an entry may have two. */
static struct g2h_error *set_entries_of_maps(const struct findings *findings, struct who *who)
{
    struct suspect *suspect = &who->suspect;
    const struct merged *merged = &findings->merged;
    const uint32_t node = suspect->container.node;
    uint64_t sum;
    if (findings->base || suspect->is_entries || node == MERGED_NONE ||
        findings_node(findings, node)->count < 2 || !suspect->container.is_all ||
        merged_form(merged, node) != G2H_FORM_MAP)
        return NULL;
    const bool is_value = is_of_values(merged, node, suspect->named);
    if (!is_value && !is_without_name(merged, suspect))
        return NULL;
    TRY(length_of_maps(findings, node, &sum));
    if (sum > 0 && (is_value || sum != suspect->count)) {
        suspect->entries = sum;
        suspect->is_entries = true;
    }
    return NULL;
}

/* Makes the elements or entries that a path leads to the entries of a suspect that has none. A
 * slice of a field, and a map in a frame, have their length only now: if the elements are structs,
 * or the objects are blocks that several small strings share, the entries are what is many. */
static void set_values(const struct findings *findings, struct who *who)
{
    struct suspect *suspect = &who->suspect;
    const struct merged *merged = &findings->merged;
    const uint32_t node = suspect->container.node;
    if (!who->length.kind || node == MERGED_NONE || suspect->entries > 0 || findings->base ||
        merged->of[g2h_dominators_number(findings->dominators, who->path_end)] != node ||
        who->length.count < suspect->count)
        return;
    if ((findings_node(findings, node)->count != 1 ||
         !is_of_values(merged, node, suspect->named)) &&
        (who->length.count == suspect->count || !is_without_name(merged, suspect)))
        return;
    suspect->entries = who->length.count;
    suspect->is_entries = true;
}

/* Names the list.List that is a field of the container, if that is a struct or a variable of which
 * the list is nearly all: main.log.entries, not main.log. */
static struct g2h_error *find_list(const struct findings *findings, struct who *who)
{
    enum { NEARLY_ALL = 95 };
    const struct container *container = &who->suspect.container;
    const uint32_t node = container->node;
    if (who->length.kind || node == MERGED_NONE || node == container->branch ||
        who->path_end != findings_node(findings, node)->example ||
        findings_node(findings, container->branch)->retained <
            findings_node(findings, node)->retained / 100 * NEARLY_ALL)
        return NULL;
    return length_find_list(findings, who->path_end, who->suspect.count, &who->path, &who->length);
}

/* Finds the example of a suspect that is objects, the path to it or to its container, and how many
 * entries this has by its own count. */
struct g2h_error *who_find_path(const struct findings *findings, struct who *who)
{
    const struct suspect *suspect = &who->suspect;
    TRY(example_find(findings, suspect->item, &who->example));
    TRY(who_append_path(findings, suspect, &who->example, &who->path, &who->path_end));
    if (is_shared(findings, suspect->item))
        TRY(name_holder_of_most(findings, who));
    if (who->path.size == 0 || (suspect->count != 1 && who->path_end == who->example.node))
        return NULL; /* it leads to one of the entries */
    if (suspect->container.branch != suspect->item &&
        findings_node(findings, suspect->item)->is_cyclic)
        return NULL; /* it leads to the map or slice that the root of a trie has */
    TRY(length_find(findings, who->path_end, &who->path, &who->length));
    set_values(findings, who);
    return find_list(findings, who);
}

/* Sets *ret to the heaviest of a suspect's objects that the object at the end of its path holds: of
 * several maps alike the path may lead to another one than that of the example. If it holds none,
 * that is the example. */
static struct g2h_error *find_entry(const struct findings *findings, const struct who *who,
                                    uint32_t *ret)
{
    const struct g2h_dominators *dominators = findings->dominators;
    const uint32_t *lines = findings->merged.of;
    const uint32_t count = findings->merged.of_count;
    const uint32_t end = g2h_dominators_number(dominators, who->path_end);
    uint64_t most = 0;
    *ret = who->example.node;
    if (who->path_end == UINT32_MAX || findings_node(findings, lines[end])->count < 2 ||
        findings_node(findings, lines[end])->kind != MERGED_CLASS)
        return NULL;
    _cleanup_free_ bool *is_below = calloc(count, sizeof(*is_below));
    TRY_MEMORY(is_below);
    is_below[end] = true;
    for (uint32_t i = end + 1; i < count; i++)
        is_below[i] = is_below[g2h_dominators_above(dominators, i)];
    if (is_below[g2h_dominators_number(dominators, *ret)])
        return NULL;
    for (uint32_t i = end + 1; i < count; i++) {
        const uint32_t node = g2h_dominators_node(dominators, i);
        if (!is_below[i] || lines[i] != who->suspect.item || node == UINT32_MAX)
            continue;
        const uint64_t retained = g2h_dominators_retained_size(dominators, node);
        if (retained > most || (retained == most && node < *ret)) {
            most = retained;
            *ret = node;
        }
    }
    return NULL;
}

/* Returns whether a path is not known, or so long that steps of it are left out. */
static bool is_cut(const struct text *path)
{
    static const char cut[] = "…";
    return path->size == 0 || memmem(path->data, path->size, cut, strlen(cut));
}

/* Makes who->entry the path to another example of a list or tree: the first of the item's objects
 * at most NEAR nodes below the end of who->path. For suspects whose heaviest object is that end
 * itself, or is so far along that its path cannot be shown. It is empty if there is none, or if its
 * path is cut, too. */
static struct g2h_error *find_next_entry(const struct findings *findings, struct who *who)
{
    enum { NEAR = 3 }; /* nodes between two objects: their slice, their interface */
    const struct g2h_dominators *dominators = findings->dominators;
    const uint32_t *lines = findings->merged.of;
    const uint32_t end = g2h_dominators_number(dominators, who->path_end);
    uint32_t ignored;
    who->entry.size = 0;
    for (uint32_t i = end + 1; i < findings->merged.of_count; i++) {
        uint32_t above = i;
        if (lines[i] != who->suspect.item || g2h_dominators_node(dominators, i) == UINT32_MAX)
            continue;
        for (unsigned j = 0; j < NEAR && above > end; j++)
            above = g2h_dominators_above(dominators, above);
        if (above != end)
            continue;
        TRY(path_append(findings->paths, g2h_dominators_node(dominators, i), &who->entry,
                        &ignored));
        break;
    }
    if (is_cut(&who->entry))
        who->entry.size = 0;
    return NULL;
}

/* Finds out whether short slices or substrings keep the objects of a suspect or, if these have most
 * of its bytes, the arrays or strings that are parts of its entries: of 300 packets with header
 * []byte the buffers. */
static struct g2h_error *find_views(const struct findings *findings, const struct suspect *suspect,
                                    struct views *ret)
{
    TRY(views_find(findings, suspect->item, ret));
    for (size_t i = 0; i < suspect->part_count && ret->count == 0; i++) {
        const uint32_t part = suspect->parts[i].node;
        if (part != suspect->item && findings_node(findings, part)->bytes >= suspect->all / 2)
            TRY(views_find(findings, part, ret));
    }
    return NULL;
}

/* Finds what a report shows below a suspect: of goroutines an example and their holders; of others
 * the path, holders, large objects, map entries, views and keys, and, if its objects are in one
 * container, an example of an entry. Those who share it are found later, for all suspects together:
 * if it has any, sharing[*ret_count] becomes what to look for, and *ret_count one more. Stacks and
 * deferred calls have no such details. */
static struct g2h_error *find_details(const struct findings *findings, struct who *who,
                                      struct sharing *sharing, size_t *ret_count)
{
    const struct suspect *suspect = &who->suspect;
    uint32_t entry, end;
    if (suspect->is_deferred ||
        (!suspect->is_goroutines && findings_is_kind(findings, suspect->item, G2H_NODE_STACK)))
        return NULL;
    if (suspect->is_goroutines)
        TRY(example_find(findings, suspect->item, &who->example));
    else
        TRY(who_find_path(findings, who));
    if (suspect->holder != MERGED_NONE)
        TRY(who_find_holders(findings, suspect, &who->example, &who->holders));
    if (suspect->is_goroutines)
        return NULL;
    TRY(set_entries_of_maps(findings, who));
    leave_out_small_strings(findings, who);
    TRY(find_map_entries(findings, who));
    if (suspect->pinned.arrays == 0)
        TRY(find_views(findings, suspect, &who->views));
    TRY(keys_find(findings, suspect->item, &who->keys));
    *ret_count += sharing_begin(findings, who, &sharing[*ret_count]);
    if (suspect->container.node != MERGED_NONE && suspect->count > 1 && who->path_of == 0 &&
        who->path_end != UINT32_MAX) {
        if (who->path_end != who->example.node) {
            TRY(find_entry(findings, who, &entry));
            TRY(path_append(findings->paths, entry, &who->entry, &end));
        }
        if (is_cut(&who->entry) &&
            g2h_dominators_retained_size(findings->dominators, who->path_end) >= suspect->bytes / 2)
            TRY(find_next_entry(findings, who));
    }
    TRY_MEMORY(!who->path.failed && !who->entry.failed);
    return NULL;
}

/* ---- growth that is in no suspect ---- */

/* Adds by how much a class, or stacks, have grown outside of the suspects, if that is among the
 * most. */
static void rest_add(struct who_rest *rest, uint32_t node, int64_t grown)
{
    size_t at = rest->count;
    if (grown <= 0)
        return;
    while (at > 0 && rest->classes[at - 1].grown < grown)
        at--;
    if (at == WHO_REST)
        return;
    rest->count += rest->count < WHO_REST; /* of a full list the last one falls out */
    for (size_t i = rest->count - 1; i > at; i--)
        rest->classes[i] = rest->classes[i - 1];
    rest->classes[at].node = node;
    rest->classes[at].grown = grown;
}

/* The bytes of a class outside of the suspects, less what it had in the base. */
struct rest_class {
    uint32_t node;
    int64_t grown;
};

struct rest_classes {
    struct map numbers; /* name of a node of merged → number in list */
    VECTOR(struct rest_class) list;
};

static void rest_classes_deinit(struct rest_classes *classes)
{
    map_deinit(&classes->numbers);
    free(classes->list.data);
}

/* Sums up by how much each class has grown in the whole heap, without what has grown in suspects.
 */
static struct g2h_error *rest_sum_up(const struct findings *findings, const bool *is_in_suspect,
                                     struct rest_classes *ret)
{
    const struct merged *merged = &findings->merged;
    for (uint32_t i = 0; i < merged->nodes.count; i++) {
        const struct merged_node *node = &merged->nodes.data[i];
        uint32_t number = as_u32(ret->list.count);
        size_t size;
        if (node->kind != MERGED_CLASS || node->is_garbage)
            continue;
        TRY_MEMORY(map_put(&ret->numbers, node->name, number, &number));
        if (number == ret->list.count) {
            const char *name = merged_name(merged, i, &size);
            const uint64_t before = growth_class_before(findings->base, name, size).bytes;
            TRY_MEMORY(vector_push(&ret->list, ((struct rest_class){i, -(int64_t)before})));
        }
        ret->list.data[number].grown +=
            (int64_t)node->bytes - (is_in_suspect[i] ? findings->growth.data[i].own : 0);
    }
    return NULL;
}

/* Finds how much of the heap's growth since the base, which there must be, is not in suspects, and
 * in which classes. Nothing if the heap has not grown, or no more than the suspects. */
static struct g2h_error *find_rest(const struct findings *findings, const suspect_vector *suspects,
                                   struct who_suspects *ret)
{
    const struct merged *merged = &findings->merged;
    _cleanup_(rest_classes_deinit) struct rest_classes classes = {.list = {0}};
    _cleanup_free_ bool *is_in_suspect = calloc(merged->nodes.count + 1, sizeof(bool));
    _cleanup_free_ bool *is_below = calloc(merged->nodes.count + 1, sizeof(bool));
    TRY_MEMORY(is_in_suspect && is_below);
    const struct growth_totals *before = growth_totals(findings->base);
    const int64_t grown = as_growth(before->reachable, findings->reachable);
    int64_t stacks = (int64_t)(g2h_view_account(findings->view)->stack_bytes - before->stacks);
    if (grown <= 0 || (uint64_t)grown <= ret->bytes)
        return NULL;
    ret->rest.bytes = grown - (int64_t)ret->bytes;
    _cleanup_(containers_deinit) struct containers containers = {.merged = merged};
    TRY(containers_init(findings, &findings->growth, &containers));
    VECTOR_EACH(const struct suspect, suspect, *suspects) {
        container_mark(&containers, &suspect->container, is_below);
        for (uint32_t i = 0; i < merged->nodes.count; i++)
            is_in_suspect[i] = is_in_suspect[i] || is_below[i];
    }
    TRY(rest_sum_up(findings, is_in_suspect, &classes));
    for (uint32_t i = 0; i < merged->nodes.count; i++)
        if (is_in_suspect[i] && merged->nodes.data[i].kind == MERGED_SYNTHETIC)
            stacks -= findings->growth.data[i].own;
    rest_add(&ret->rest, MERGED_NONE, stacks);
    VECTOR_EACH(const struct rest_class, class, classes.list)
        rest_add(&ret->rest, class->node, class->grown);
    return NULL;
}

/* Finds the suspects, and what is to be said about them. Details take long to find, so only the
 * first WHO_SUSPECTS suspects get them. */
struct g2h_error *who_find(const struct findings *findings, struct who_suspects *ret)
{
    _cleanup_vector_ suspect_vector suspects = {0};
    struct sharing sharing[WHO_SUSPECTS];
    size_t count = 0;
    TRY(suspects_find(findings, &suspects));
    ret->all = suspects.count;
    VECTOR_EACH(const struct suspect, suspect, suspects)
        ret->bytes += suspect->bytes;
    if (findings->base)
        TRY(find_rest(findings, &suspects, ret));
    if (ret->all > 0)
        TRY(leaks_find(findings, &ret->leaks));
    while (ret->count < WHO_SUSPECTS && ret->count < suspects.count) {
        struct who *who = &ret->list[ret->count];
        who->suspect = suspects.data[ret->count++];
        TRY(find_details(findings, who, sharing, &count));
    }
    if (count > 0)
        sharing_find(findings, sharing, count);
    for (size_t i = 0; i < count; i++)
        TRY(sharing_append(findings, &sharing[i]));
    return NULL;
}

void who_suspects_deinit(struct who_suspects *suspects)
{
    for (size_t i = 0; i < suspects->count; i++) {
        struct who *who = &suspects->list[i];
        held_keys_deinit(&who->keys);
        text_deinit(&who->path);
        text_deinit(&who->entry);
        text_deinit(&who->sharers);
    }
    leaks_deinit(&suspects->leaks);
}
