/*
 * growth: by how much each node of a merged tree has grown since an earlier heap, the base; see
 * growth.h.
 *
 * g2h_base_create() keeps of the base only a key and sums for each of its nodes: a key is a hash of
 * all names from the root to the node. growth_find() matches the nodes of the present tree with
 * these, first by all names, then by loose keys, which leave out numbers and states. What the match
 * calls growth may only have moved here from another holder, so each node's growth is bounded by
 * that of its class in the whole heap (without_moved). growth_find_gone() lists what only the base
 * has.
 */
#include "findings/growth.h"

#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/text.h"
#include "findings/length.h"
#include "findings/path.h"

struct before {
    uint64_t retained, bytes, count, entries;
    uint64_t loose; /* its key without what may change: see struct growth_keys */
};

/* A large node, whose name is kept. */
struct growth_named {
    uint32_t number, parent; /* in nodes; */
    uint32_t name;           /* in names */
    enum merged_kind kind;
};

/* Least bytes of a node with a name, and its least share of the heap; the most such nodes; and the
 * most bytes of all names and of one name. */
enum {
    LEAST_NAMED = 1000,
    SHARE_NAMED = 10000,
    MOST_NAMED = 4000,
    SHARE_HOLDERS = 1000, /* least share of the heap that a node of single holders retains */
    NAMES_BYTES = 1 << 18,
    NAME_BYTES = 2048
};

struct g2h_base {
    struct map numbers; /* key of a node → number in nodes */
    VECTOR(struct before) nodes;
    struct map classes; /* hash of a name → number in of_classes */
    VECTOR(struct growth_class) of_classes;
    VECTOR(struct growth_named) named; /* the largest first */
    struct string_pool names;
    struct growth_holders holders;
    struct growth_totals totals;
};

/* Returns whether a word is a line: it ends in a colon and digits, "main.go:31"; or is what may
 * follow it in parentheses, "(go" and "main.go:17)". */
static bool growth_is_line(const char *word, size_t size)
{
    static const char statement[] = "(go";
    const char *colon = memrchr(word, ':', size);
    size_t at = colon ? as_size(colon - word) + 1 : size;
    if (size == sizeof(statement) - 1 && memcmp(word, statement, size) == 0)
        return true;
    if (!colon || at == size)
        return false;
    while (at < size && word[at] >= '0' && word[at] <= '9')
        at++;
    return at == size || (at + 1 == size && word[at] == ')');
}

/* Returns the hash of the name of what is no class without the words that are numbers: "main and 20
 * goroutines" may become "main and 80 goroutines"; and, of goroutines, without the lines. A name of
 * more than 1024 bytes is hashed as it is. */
static uint64_t growth_hash_of(const char *name, size_t size, enum merged_kind kind,
                               bool is_goroutine)
{
    char named[1024];
    const char *word;
    size_t count = 0, at = 0, length;
    if (size > sizeof(named))
        return map_hash_text(name, size) + kind;
    while (merged_next_word(name, size, &at, &word, &length)) {
        if (is_goroutine && growth_is_line(word, length))
            continue;
        memcpy(named + count, word, length);
        count += length;
    }
    return map_hash_text(named, count) + kind;
}

/* The keys of each node, hashes of all names from the root to it. A collision of two keys is too
 * unlikely to happen. loose: without numbers, the states of goroutines and the lines of frames,
 * which differ in the next dump, and the same for a variable and a field whether these are one node
 * or two. */
struct growth_keys {
    uint64_t *exact, *loose;
};

static void growth_keys_deinit(struct growth_keys *keys)
{
    free(keys->exact);
    free(keys->loose);
}

/* Returns the hash of a name without numbers, and without the state of goroutines or the line of a
 * frame. Of goroutines only what follows the state counts, and the character after "goroutine": an
 * s if they are several. */
static uint64_t loose_hash_of(const char *name, size_t size, enum merged_kind kind)
{
    static const char goroutine[] = "goroutine";
    if (kind != MERGED_SYNTHETIC)
        return growth_hash_of(name, size, kind, false);
    const bool is_goroutine =
        size >= sizeof(goroutine) && memcmp(name, goroutine, sizeof(goroutine) - 1) == 0;
    const char *close = is_goroutine ? memchr(name, ']', size) : NULL;
    const size_t without_line = close ? size : expression_without_line(name, size);
    if (!close)
        return growth_hash_of(name, without_line, kind, false);
    return map_hash_pair(growth_hash_of(close, as_size(name + size - close), kind, true),
                         (uint64_t)(unsigned char)name[sizeof(goroutine) - 1]);
}

/* Returns where a part of a variable's name that begins at a place ends: "cache", ".items" or
 * "[3]". Dots and brackets within quotes or brackets are not ends. */
static size_t part_end(const char *name, size_t size, size_t begin)
{
    bool is_quoted = false;
    size_t depth = 0;
    size_t at = begin;
    for (; at < size; at++) {
        const char read = name[at];
        if (is_quoted) {
            at += read == '\\';
            is_quoted = read != '"';
            continue;
        }
        if (at > begin && depth == 0 && (read == '.' || read == '['))
            break;
        is_quoted = read == '"';
        depth += read == '[' || read == '(' || read == '{';
        depth -= depth > 0 && (read == ']' || read == ')' || read == '}');
    }
    return MIN(at, size);
}

/* Extends the loose key above a variable, or a part of one, by each part of its name: a variable is
 * one node with its only field that holds anything, "cache.items", but a node above the nodes of
 * its fields, "items" and "pool", as soon as a second one holds something. */
static uint64_t extended_by_parts(const struct merged *merged, uint32_t node, uint64_t key)
{
    size_t size, above_size, at = 0;
    const char *name = merged_name(merged, node, &size),
               *above = merged_name(merged, merged->nodes.data[node].parent, &above_size);
    if (merged->nodes.data[node].kind == MERGED_SYNTHETIC)
        size = expression_without_line(name, size);
    if (size > above_size && memcmp(name, above, above_size) == 0 && name[above_size] == '.')
        at = above_size; /* the package */
    while (at < size) {
        const size_t begin = at + (name[at] == '.');
        const size_t end = part_end(name, size, at);
        key = map_hash_pair(key, loose_hash_of(name + begin, end - begin, MERGED_VARIABLE));
        at = end;
    }
    return key;
}

/* Returns whether a node is a variable, or a part of one. */
static bool is_of_variable(const struct merged *merged, uint32_t node)
{
    const enum merged_kind kind = merged->nodes.data[node].kind;
    return merged->nodes.data[node].parent != MERGED_NONE &&
           (kind == MERGED_VARIABLE ||
            (kind == MERGED_SYNTHETIC && merged_kind_of(merged, node) == G2H_NODE_VARIABLE));
}

/* Computes the keys of all nodes of merged. Each key extends that of the parent, which comes first,
 * by the node's name, so equal keys mean equal paths of names. */
static struct g2h_error *keys_of(const struct merged *merged, struct growth_keys *ret)
{
    ret->exact = calloc(merged->nodes.count + 1, sizeof(*ret->exact));
    ret->loose = calloc(merged->nodes.count + 1, sizeof(*ret->loose));
    TRY_MEMORY(ret->exact && ret->loose);
    for (uint32_t i = 0; i < merged->nodes.count; i++) {
        const struct merged_node *node = &merged->nodes.data[i];
        const bool is_root = node->parent == MERGED_NONE;
        const bool is_class = node->kind == MERGED_CLASS;
        size_t size;
        const char *name = merged_name(merged, i, &size);
        const uint64_t exact = map_hash_text(name, size) + node->kind,
                       loose = is_class ? exact : loose_hash_of(name, size, node->kind);
        ret->exact[i] = map_hash_pair(is_root ? 0 : ret->exact[node->parent], exact);
        ret->loose[i] = is_of_variable(merged, i)
                            ? extended_by_parts(merged, i, ret->loose[node->parent])
                            : map_hash_pair(is_root ? 0 : ret->loose[node->parent], loose);
    }
    return NULL;
}

/* Returns the number of objects that are not garbage. */
uint64_t growth_count_held(const struct g2h_view *view)
{
    const size_t objects = g2h_heap_object_count(g2h_view_heap(view));
    uint64_t count = 0;
    for (size_t i = 0; i < objects; i++)
        count += !g2h_view_is_garbage(view, as_u32(i));
    return count;
}

/* ---- the base ---- */

/* Adds a node of merged to the sums of its class. */
static void add_to_class(const struct merged *merged, uint32_t node, struct growth_class *class)
{
    const struct merged_node *read = &merged->nodes.data[node];
    class->count += read->count;
    class->bytes += read->bytes;
    class->retained += read->outermost == node ? read->retained : 0;
}

/* Adds a node of merged to the sums of its class in the base. */
static struct g2h_error *add_class(struct g2h_base *base, const struct merged *merged,
                                   uint32_t node)
{
    uint32_t number = as_u32(base->of_classes.count);
    size_t size;
    const char *name = merged_name(merged, node, &size);
    TRY_MEMORY(map_put(&base->classes, map_hash_text(name, size), number, &number));
    if (number == base->of_classes.count)
        TRY_MEMORY(vector_push(&base->of_classes, ((struct growth_class){.count = 0})));
    add_to_class(merged, node, &base->of_classes.data[number]);
    return NULL;
}

/* Keeps the names of the largest nodes, and their parents, for growth_find_gone(). All names would
 * take too much memory. numbers: the base's node for each node of merged; the first of those with
 * the same number is read. */
static struct g2h_error *name_largest(struct g2h_base *base, const struct merged *merged,
                                      const uint32_t *numbers)
{
    _cleanup_vector_ ranking order = {0};
    uint32_t next = 1; /* number of the next node that has not been seen; the root has 0 */
    for (uint32_t i = 1; i < merged->nodes.count; i++) {
        if (merged->nodes.data[i].is_garbage || numbers[i] < next)
            continue;
        const uint64_t retained = base->nodes.data[next++].retained;
        if (retained >= LEAST_NAMED && retained >= base->totals.reachable / SHARE_NAMED)
            TRY_MEMORY(vector_push(&order, ((struct ranked){retained, i})));
    }
    ranking_sort(&order);
    for (size_t i = 0; i < order.count && i < MOST_NAMED && base->names.text_size < NAMES_BYTES;
         i++) {
        const struct merged_node *node = &merged->nodes.data[order.data[i].node];
        struct growth_named named = {numbers[order.data[i].node], numbers[node->parent], 0,
                                     node->kind};
        size_t size;
        const char *name = merged_name(merged, order.data[i].node, &size);
        TRY_MEMORY(string_pool_intern(&base->names, name, MIN(size, NAME_BYTES), &named.name));
        TRY_MEMORY(vector_push(&base->named, named));
    }
    return NULL;
}

/* Stores the nodes of a heap by their keys; nodes with the same names become one. */
static struct g2h_error *store_base_nodes(struct g2h_base *base, const struct merged *merged)
{
    _cleanup_(growth_keys_deinit) struct growth_keys keys = {NULL, NULL};
    _cleanup_free_ uint32_t *numbers = calloc(merged->nodes.count + 1, sizeof(*numbers));
    TRY_MEMORY(numbers);
    TRY(keys_of(merged, &keys));
    for (uint32_t i = 0; i < merged->nodes.count; i++) {
        const struct merged_node *node = &merged->nodes.data[i];
        uint32_t number = as_u32(base->nodes.count);
        if (node->is_garbage)
            continue;
        TRY_MEMORY(map_put(&base->numbers, keys.exact[i], number, &number));
        if (number == base->nodes.count)
            TRY_MEMORY(vector_push(&base->nodes, ((struct before){.loose = keys.loose[i]})));
        numbers[i] = number;
        struct before *before = &base->nodes.data[number]; /* of all nodes with these names */
        before->retained += merged_held(merged, i);
        before->bytes += node->bytes;
        before->count += node->count;
        before->entries += node->entries;
        if (node->kind == MERGED_CLASS)
            TRY(add_class(base, merged, i));
    }
    return name_largest(base, merged, numbers);
}

/* The place of a node of merged in the tree: its key is the sum of what growth_line_key() adds for
 * each node from the root on. */
struct line_place {
    uint64_t key;
    uint32_t depth;
};

static uint64_t key_at_depth(const struct merged *merged, uint32_t line, uint32_t depth)
{
    size_t size;
    const char *name = merged_name(merged, line, &size);
    return map_hash_pair(depth, map_hash_text(name, size) + merged->nodes.data[line].kind);
}

uint64_t growth_line_key(const struct merged *merged, uint32_t line)
{
    uint64_t key = 0;
    uint32_t depth = 0;
    for (uint32_t i = line; i != MERGED_NONE; i = merged->nodes.data[i].parent)
        depth++;
    for (; line != MERGED_NONE; line = merged->nodes.data[line].parent)
        key += key_at_depth(merged, line, depth--);
    return key;
}

/* Returns the places of all nodes that retain `least`, and so of those above them; the caller frees
 * them. NULL: memory has run out. A tree may be as deep as it has nodes, so none is walked up. */
static struct line_place *line_places(const struct merged *merged, uint64_t least)
{
    struct line_place *places = calloc(merged->nodes.count + 1, sizeof(*places));
    for (uint32_t i = 0; places && i < merged->nodes.count; i++) {
        const struct merged_node *node = &merged->nodes.data[i];
        const struct line_place *above =
            node->parent != MERGED_NONE ? &places[node->parent] : &(struct line_place){0};
        if (node->retained < least)
            continue;
        places[i].depth = above->depth + 1;
        places[i].key = above->key + key_at_depth(merged, i, places[i].depth);
    }
    return places;
}

/* An object whose way is wanted, or one that dominates it. */
struct growth_way {
    uint64_t key;
    uint64_t name; /* of the pointer from what dominates it; 0: not known, or inside a map */
    uint32_t number;
    bool is_read; /* the pointers of this one have been read */
};

void growth_ways_deinit(struct growth_ways *ways)
{
    map_deinit(&ways->index_of);
    free(ways->list.data);
}

struct g2h_error *growth_ways_add(struct growth_ways *ways, const struct g2h_dominators *dominators,
                                  uint32_t node)
{
    for (uint32_t number = g2h_dominators_number(dominators, node);;
         number = g2h_dominators_above(dominators, number)) {
        const uint32_t next = as_u32(ways->list.count);
        uint32_t known = next;
        TRY_MEMORY(map_put(&ways->index_of, number, next, &known));
        if (known != next)
            return NULL;
        TRY_MEMORY(vector_push(&ways->list, ((struct growth_way){.number = number})));
        if (number == 0)
            return NULL;
    }
}

static int compare_ways(const void *a, const void *b)
{
    const struct growth_way *one = a;
    const struct growth_way *other = b;
    return COMPARE(one->number, other->number);
}

/* Returns the hash of a pointer's name, as paths have it: of a field, or of an entry by its key.
 * All elements have the same, since their indexes change when one is removed. */
static uint64_t hash_of_pointer(const struct g2h_view *view, struct g2h_edges *edges,
                                const struct g2h_edge *edge, struct text *text)
{
    text->size = 0;
    if ((edge->flags & G2H_EDGE_BY_INDEX) == 0)
        expression_append_edge(view, edges, edge, text);
    return text->size > 0 ? map_hash_text(text->data, text->size) : 1;
}

/* Notes by which names an object points to those that it dominates: the first name of each. Those
 * inside a map keep 0. */
static struct g2h_error *read_names(struct growth_ways *ways, const struct g2h_view *view,
                                    const struct g2h_dominators *dominators,
                                    struct g2h_edges *edges, uint32_t over)
{
    const uint32_t node = g2h_dominators_node(dominators, over);
    _cleanup_(text_deinit) struct text text = {0};
    struct g2h_edge edge;
    if (node == UINT32_MAX) /* it is folded */
        return NULL;
    g2h_edges_begin(edges, node, node + 1);
    while (g2h_edges_next(edges, &edge)) {
        const uint32_t target = g2h_dominators_number(dominators, edge.target);
        const uint32_t index = map_get(&ways->index_of, target);
        if (index == MAP_NONE || g2h_dominators_above(dominators, target) != over ||
            ways->list.data[index].name != 0 || expression_hides(view, edge.target))
            continue;
        ways->list.data[index].name = hash_of_pointer(view, edges, &edge, &text);
        TRY_MEMORY(!text.failed);
    }
    return NULL;
}

struct g2h_error *growth_ways_find(struct growth_ways *ways, const struct g2h_view *view,
                                   const struct g2h_dominators *dominators)
{
    _cleanup_(findings_destroy_edges) struct g2h_edges *edges = NULL;
    TRY(g2h_edges_create(view, &edges));
    vector_sort(&ways->list, compare_ways);
    for (uint32_t i = 0; i < ways->list.count; i++)
        map_set(&ways->index_of, ways->list.data[i].number, i);
    for (uint32_t i = 1; i < ways->list.count; i++) { /* a dominator comes first */
        const uint32_t over = g2h_dominators_above(dominators, ways->list.data[i].number);
        struct growth_way *above = &ways->list.data[map_get(&ways->index_of, over)];
        struct growth_way *way = &ways->list.data[i];
        if (!above->is_read)
            TRY(read_names(ways, view, dominators, edges, over));
        above->is_read = true;
        way->key = way->name != 0 ? map_hash_pair(above->key, way->name) : above->key;
    }
    return NULL;
}

/* The keys of an object in struct growth_holders. */
struct holder_keys {
    uint64_t at, below;
};

/* Returns the keys of an object. What holds it is the nearest object above that is not inside a
 * map; a root has the address 0, and is known by the way. */
static struct holder_keys holder_keys_of(const struct growth_ways *ways,
                                         const struct g2h_view *view,
                                         const struct g2h_dominators *dominators, uint64_t class,
                                         uint32_t node)
{
    const uint32_t number = g2h_dominators_number(dominators, node);
    const struct growth_way *way = &ways->list.data[map_get(&ways->index_of, number)];
    uint32_t over = number;
    struct g2h_node read;
    do
        over = g2h_dominators_above(dominators, over);
    while (over != 0 && g2h_dominators_node(dominators, over) != UINT32_MAX &&
           expression_hides(view, g2h_dominators_node(dominators, over)));
    const uint64_t place = map_hash_pair(way->key, class);
    g2h_view_brief(view, node, &read);
    struct holder_keys keys = {.at = map_hash_pair(place, read.address)};
    if (g2h_dominators_node(dominators, over) != UINT32_MAX) {
        g2h_view_brief(view, g2h_dominators_node(dominators, over), &read);
        keys.below = map_hash_pair(place, read.address);
    }
    return keys;
}

/* Notes an object of the list by its way. */
static struct g2h_error *note_holder(const struct growth_ways *ways, const struct g2h_view *view,
                                     const struct g2h_dominators *dominators, uint32_t number,
                                     struct growth_holders *ret)
{
    struct growth_holder *holder = &ret->list.data[number];
    const struct holder_keys keys =
        holder_keys_of(ways, view, dominators, holder->class, holder->node);
    uint32_t noted = number;
    TRY_MEMORY(map_put(&ret->numbers, keys.at, number, &noted));
    noted = number;
    TRY_MEMORY(map_put(&ret->below, keys.below, number, &noted));
    if (noted != number)
        ret->list.data[noted].has_twin = true;
    return NULL;
}

struct g2h_error *growth_holders_fill(const struct g2h_dominators *dominators,
                                      const struct merged *merged, struct growth_holders *ret)
{
    const struct merged_node *nodes = merged->nodes.data;
    const uint64_t least = merged_held(merged, 0) / SHARE_HOLDERS;
    _cleanup_free_ struct line_place *places = line_places(merged, least);
    _cleanup_(growth_ways_deinit) struct growth_ways ways = {0};
    TRY_MEMORY(places);
    for (uint32_t i = 1; i < merged->of_count; i++) {
        const uint32_t line = merged->of[i];
        const uint32_t node = g2h_dominators_node(dominators, i);
        size_t size;
        if (line == MERGED_NONE || nodes[line].kind != MERGED_CLASS || nodes[line].is_garbage ||
            nodes[line].count > GROWTH_MOST_HOLDERS || nodes[line].retained < least ||
            node == UINT32_MAX)
            continue;
        const char *name = merged_name(merged, line, &size);
        const struct growth_holder holder = {.class = map_hash_text(name, size),
                                             .line = places[line].key,
                                             .node = node,
                                             .retained =
                                                 g2h_dominators_retained_size(dominators, node)};
        uint32_t known;
        TRY_MEMORY(vector_push(&ret->list, holder) &&
                   map_put(&ret->lines, holder.line, as_u32(nodes[line].count), &known));
        TRY(growth_ways_add(&ways, dominators, node));
    }
    TRY(growth_ways_find(&ways, merged->view, dominators));
    for (uint32_t i = 0; i < ret->list.count; i++)
        TRY(note_holder(&ways, merged->view, dominators, i, ret));
    return NULL;
}

void growth_holders_deinit(struct growth_holders *holders)
{
    map_deinit(&holders->numbers);
    map_deinit(&holders->below);
    map_deinit(&holders->lines);
    free(holders->list.data);
}

uint32_t growth_holder_of(const struct growth_holders *holders, const struct growth_ways *ways,
                          const struct g2h_view *view, const struct g2h_dominators *dominators,
                          uint64_t class, uint32_t node)
{
    const struct holder_keys keys = holder_keys_of(ways, view, dominators, class, node);
    const uint32_t number = map_get(&holders->numbers, keys.at),
                   below = map_get(&holders->below, keys.below);
    if (number != MAP_NONE)
        return number;
    return below != MAP_NONE && holders->list.data[below].has_twin ? MAP_NONE : below;
}

const struct growth_holders *growth_holders_of(const struct g2h_base *base)
{
    return &base->holders;
}

/* Builds the merged tree of the base only to keep its numbers and its largest nodes' names: the
 * heap and the tree are freed afterwards. */
static struct g2h_error *growth_fill(struct g2h_base *base, const struct g2h_view *view,
                                     const char *name, unsigned threads)
{
    struct g2h_dominators *dominators;
    struct merged merged = {.view = NULL};
    base->totals.name = strdup(name);
    TRY_MEMORY(base->totals.name);
    TRY(g2h_view_dominators(view, &dominators));
    struct g2h_error *error = merged_make(view, dominators, threads, MERGED_ISLANDS_ALL, &merged);
    if (!error)
        error = length_note_all(&merged);
    if (!error) {
        base->totals.reachable = merged_held(&merged, 0);
        base->totals.objects = growth_count_held(view);
        base->totals.goroutines = g2h_view_goroutine_count(view);
        if (g2h_heap_memory(g2h_view_heap(view)))
            base->totals.memory = *g2h_heap_memory(g2h_view_heap(view));
        base->totals.stacks = g2h_view_account(view)->stack_bytes;
        error = store_base_nodes(base, &merged);
    }
    if (!error)
        error = growth_holders_fill(dominators, &merged, &base->holders);
    merged_deinit(&merged);
    g2h_dominators_destroy(dominators);
    return error;
}

/* Makes the base, which keeps numbers and names of the view, not the view. *ret is NULL if there is
 * an error. */
struct g2h_error *g2h_base_create(const struct g2h_view *view, const char *name, unsigned threads,
                                  struct g2h_base **ret)
{
    *ret = calloc(1, sizeof(**ret));
    TRY_MEMORY(*ret);
    struct g2h_error *error = growth_fill(*ret, view, name, threads);
    if (error) {
        g2h_base_destroy(*ret);
        *ret = NULL;
    }
    return error;
}

void g2h_base_destroy(struct g2h_base *base)
{
    if (!base)
        return;
    map_deinit(&base->numbers);
    map_deinit(&base->classes);
    growth_holders_deinit(&base->holders);
    free(base->nodes.data);
    free(base->of_classes.data);
    free(base->named.data);
    string_pool_deinit(&base->names);
    free(base->totals.name);
    free(base);
}

const struct growth_totals *growth_totals(const struct g2h_base *base)
{
    return &base->totals;
}

/* Returns the objects and bytes of a class in the base; 0 if it had none. */
struct growth_class growth_class_before(const struct g2h_base *base, const char *name, size_t size)
{
    const uint32_t number = map_get(&base->classes, map_hash_text(name, size));
    return number == MAP_NONE ? (struct growth_class){.count = 0} : base->of_classes.data[number];
}

/* ---- the same nodes ---- */

/* The end of a list of struct leftovers. */
#define ALL_TAKEN (MAP_NONE - 1)

/* Nodes of the base by their loose keys: those that no node has the names of. */
struct leftovers {
    struct map first; /* loose key → number of the first node that is left, or ALL_TAKEN */
    uint32_t *next;   /* by number: of the next node with this key, or ALL_TAKEN */
};

static void leftovers_deinit(struct leftovers *leftovers)
{
    map_deinit(&leftovers->first);
    free(leftovers->next);
}

/* Lists the base's nodes that have no match by all names, by their loose keys. */
static struct g2h_error *find_leftovers(const struct g2h_base *base, const bool *is_matched,
                                        struct leftovers *ret)
{
    ret->next = calloc(base->nodes.count + 1, sizeof(*ret->next));
    TRY_MEMORY(ret->next);
    for (uint32_t i = as_u32(base->nodes.count); i-- > 0;) {
        const uint64_t key = base->nodes.data[i].loose;
        uint32_t known;
        if (is_matched[i])
            continue;
        TRY_MEMORY(map_put(&ret->first, key, i, &known));
        ret->next[i] = known == i ? ALL_TAKEN : known; /* known == i: the first with this key */
        map_set(&ret->first, key, i);
    }
    return NULL;
}

/* Removes and returns the next node with a loose key; MAP_NONE: none is left. */
static uint32_t take_leftover(struct leftovers *leftovers, uint64_t key)
{
    const uint32_t number = map_get(&leftovers->first, key);
    if (number == MAP_NONE || number == ALL_TAKEN)
        return MAP_NONE;
    map_set(&leftovers->first, key, leftovers->next[number]);
    return number;
}

/* Finds, for each node of merged, its node in the base (before[]), or MERGED_NONE: the one with the
 * same names or else, each once, those whose names differ only as loose keys do not tell. */
static struct g2h_error *match(const struct g2h_base *base, const struct merged *merged,
                               uint32_t *before)
{
    _cleanup_(growth_keys_deinit) struct growth_keys keys = {NULL, NULL};
    _cleanup_(leftovers_deinit) struct leftovers leftovers = {.next = NULL};
    _cleanup_free_ bool *is_matched = calloc(base->nodes.count + 1, sizeof(*is_matched));
    TRY_MEMORY(is_matched);
    TRY(keys_of(merged, &keys));
    for (uint32_t i = 0; i < merged->nodes.count; i++) {
        before[i] = map_get(&base->numbers, keys.exact[i]);
        if (before[i] != MAP_NONE)
            is_matched[before[i]] = true;
    }
    TRY(find_leftovers(base, is_matched, &leftovers));
    for (uint32_t i = 0; i < merged->nodes.count; i++) {
        if (before[i] == MAP_NONE)
            before[i] = take_leftover(&leftovers, keys.loose[i]);
        if (before[i] == MAP_NONE)
            before[i] = MERGED_NONE;
    }
    return NULL;
}

/* ---- growth ---- */

/* Returns the growth of a node; number is that of the base's node that it is, or MERGED_NONE: then
 * all of it is growth. Garbage has none. Entries count only if both are known, or there was none
 * before. */
static struct growth growth_of(const struct g2h_base *base, const struct merged *merged,
                               uint32_t node, uint32_t number)
{
    const struct before before =
        number == MERGED_NONE ? (struct before){.loose = 0} : base->nodes.data[number];
    const struct merged_node *now = &merged->nodes.data[node];
    const bool is_known = now->entries > 0 && (before.entries > 0 || before.count == 0);
    if (now->is_garbage)
        return (struct growth){.before = MERGED_NONE};
    return (struct growth){.retained = as_growth(before.retained, merged_held(merged, node)),
                           .bytes = as_growth(before.bytes, now->bytes),
                           .count = as_growth(before.count, now->count),
                           .entries = is_known ? as_growth(before.entries, now->entries) : 0,
                           .has_entries = is_known,
                           .before = number};
}

/* What of objects is summed up: how many they are, and the bytes that they retain. */
enum measure { MEASURE_OBJECTS, MEASURE_RETAINED, MEASURES };

/* The sums of a class without garbage: its objects now, and in the base; by how much all nodes of
 * it have gained, of those that have gained objects, and the part of this that is below objects
 * that have not grown; and what the other nodes have gained, whose objects have become larger, or
 * hold more. */
struct growth_sums {
    struct growth_class now, before;
    int64_t gained[MEASURES], filled[MEASURES]; /* by enum measure */
    int64_t larger, holding;                    /* own bytes; bytes that they retain */
};

struct growth_classes {
    struct map numbers; /* name of a node of merged → number in list */
    VECTOR(struct growth_sums) list;
};

static void growth_classes_deinit(struct growth_classes *classes)
{
    map_deinit(&classes->numbers);
    free(classes->list.data);
}

/* Returns whether a node is below objects that have not grown themselves: whatever these hold more
 * than before was held before, too, if objects of its class are gone elsewhere. */
static bool is_in_unchanged(const struct merged *merged, const growth_vector *growth, uint32_t node)
{
    const uint32_t parent = merged->nodes.data[node].parent;
    return parent != MERGED_NONE && merged->nodes.data[parent].kind == MERGED_CLASS &&
           growth->data[parent].bytes <= 0;
}

/* Sums up the nodes of each class, without garbage: objects may have moved from one place to
 * another, but the sums of their class show growth. See struct growth_sums for what is summed up;
 * what a node retains counts only for the outermost one of several of its class. */
static struct g2h_error *sum_up_classes(const struct g2h_base *base, const struct merged *merged,
                                        const growth_vector *growth, struct growth_classes *ret)
{
    for (uint32_t i = 0; i < merged->nodes.count; i++) {
        const struct merged_node *node = &merged->nodes.data[i];
        uint32_t number = as_u32(ret->list.count);
        if (node->kind != MERGED_CLASS || node->is_garbage)
            continue;
        TRY_MEMORY(map_put(&ret->numbers, node->name, number, &number));
        if (number == ret->list.count) {
            size_t size;
            const char *name = merged_name(merged, i, &size);
            TRY_MEMORY(vector_push(&ret->list, ((struct growth_sums){.before = growth_class_before(
                                                                         base, name, size)})));
        }
        struct growth_sums *sums = &ret->list.data[number];
        const struct growth *one = &growth->data[i];
        const int64_t holding = node->outermost == i ? one->retained : 0;
        add_to_class(merged, i, &sums->now);
        if (one->count <= 0) {
            sums->larger += MAX(one->bytes, 0);
            sums->holding += MAX(holding, 0);
        }
        if (one->count <= 0 || one->retained <= 0)
            continue;
        const int64_t more[MEASURES] = {one->count, holding};
        for (enum measure of = 0; of < MEASURES; of++) {
            sums->gained[of] += more[of];
            sums->filled[of] += is_in_unchanged(merged, growth, i) ? more[of] : 0;
        }
    }
    return NULL;
}

/* Returns the share of what nodes in objects that have not grown have gained that is not what other
 * nodes have lost. grown is the class's growth in the whole heap. */
static double share_of_new(const struct growth_sums *sums, enum measure of, int64_t grown)
{
    const int64_t moved = sums->gained[of] - MAX(grown, 0);
    if (moved >= sums->filled[of])
        return 0;
    return moved <= 0 ? 1 : 1 - as_ratio(as_size(moved), as_size(sums->filled[of]));
}

/* Returns the sums of the class that a node of merged is of. */
static const struct growth_sums *sums_of(const struct growth_classes *classes,
                                         const struct merged *merged, uint32_t node)
{
    return &classes->list.data[map_get(&classes->numbers, merged->nodes.data[node].name)];
}

static int64_t at_least_0(int64_t number)
{
    return MAX(number, 0);
}

/* Returns a node's growth in bytes, grown, bounded by that of its class, by_class. If the class has
 * gained fewer objects (more) than the node, the others have only moved here: then only the share
 * of grown counts that so many objects have, but at least by_class. */
static int64_t bounded(const struct growth *growth, int64_t grown, int64_t more, int64_t by_class)
{
    const int64_t gained =
        more <= 0 ? 0 : (int64_t)((double)grown * (double)more / (double)growth->count);
    if (more >= growth->count || by_class >= grown)
        return grown;
    return MAX(by_class, gained);
}

/* Returns the part of a node's growth that is its class's: if the node has gained more objects than
 * the class has, the others have only moved here, with what they held; and so have those in objects
 * that have not grown, as many as other nodes have lost: these may have held them all the time,
 * together with others. But a moved object, such as a table that is held by another variable now,
 * may have grown meanwhile: then its class retains more, without what is more elsewhere. */
static int64_t without_moved(const struct merged *merged, const struct growth_classes *classes,
                             uint32_t node, const growth_vector *growths)
{
    const struct growth *growth = &growths->data[node];
    if (merged->nodes.data[node].kind != MERGED_CLASS || growth->count <= 0 ||
        growth->retained <= 0)
        return growth->retained;
    const struct growth_sums *sums = sums_of(classes, merged, node);
    const int64_t more = as_growth(sums->before.count, sums->now.count),
                  retained = as_growth(sums->before.retained, sums->now.retained);
    const double of_objects = share_of_new(sums, MEASURE_OBJECTS, more),
                 of_bytes = share_of_new(sums, MEASURE_RETAINED, retained);
    if (is_in_unchanged(merged, growths, node) && of_objects < 1 && of_bytes < 1)
        return (int64_t)((double)growth->retained * MAX(of_objects, of_bytes));
    return bounded(growth, growth->retained, more, retained - sums->holding);
}

/* Sets a node's growth in objects and own bytes without what has moved here. */
static void set_own(const struct merged *merged, const struct growth_classes *classes,
                    uint32_t node, struct growth *growth)
{
    growth->more = at_least_0(growth->count);
    growth->own = at_least_0(growth->bytes);
    if (merged->nodes.data[node].kind != MERGED_CLASS || growth->count <= 0)
        return;
    const struct growth_sums *sums = sums_of(classes, merged, node);
    const int64_t more = as_growth(sums->before.count, sums->now.count),
                  bytes = as_growth(sums->before.bytes, sums->now.bytes);
    growth->own = at_least_0(bounded(growth, growth->own, more, bytes - sums->larger));
    growth->more = at_least_0(MIN(more, growth->count));
}

/* Returns whether a node is the one that has all groups of roots but the globals. No view of growth
 * shows it, so its growth bounds none of them: pools that were emptied must not hide goroutines. */
static bool is_gc_roots(const struct merged *merged, uint32_t node)
{
    return merged->nodes.data[node].kind == MERGED_SYNTHETIC &&
           merged_kind_of(merged, node) == G2H_NODE_GC_ROOTS;
}

/* Sets how much of each node's growth is growth of its holder, without what has moved (within). A
 * node holds no more than its own bytes and what is below it, so it has grown by no more than these
 * have. The first pass goes from the leaves up: most is so far the growth of what is below, without
 * what was in unchanged objects before. The second one goes down, and bounds each node by the
 * nearest one above that has not shrunk: a shrinking node bounds nothing, because while some memory
 * of it was freed, something else may have grown. */
static struct g2h_error *set_within(const struct g2h_base *base, const struct merged *merged,
                                    growth_vector *growth)
{
    _cleanup_(growth_classes_deinit) struct growth_classes classes = {.list = {0}};
    TRY(sum_up_classes(base, merged, growth, &classes));
    for (size_t i = merged->nodes.count; i-- > 0;) { /* most: so far what is below */
        struct growth *one = &growth->data[i];
        const uint32_t parent = merged->nodes.data[i].parent;
        if (!merged->nodes.data[i].is_garbage)
            set_own(merged, &classes, as_u32(i), one);
        const int64_t most = one->most + at_least_0(one->bytes);
        one->within = without_moved(merged, &classes, as_u32(i), growth);
        const bool was_held =
            one->within != one->retained && is_in_unchanged(merged, growth, as_u32(i));
        const int64_t held = was_held ? one->within : one->retained;
        one->within = MIN(one->within, most);
        if (parent != MERGED_NONE && held > 0)
            growth->data[parent].most += MIN(held, most);
    }
    for (uint32_t i = 0; i < merged->nodes.count; i++) { /* parents come first */
        struct growth *one = &growth->data[i];
        const uint32_t parent = merged->nodes.data[i].parent;
        one->most = parent == MERGED_NONE ? INT64_MAX : growth->data[parent].most;
        if (one->within > one->most)
            one->within = one->most;
        if (one->within >= 0 && !is_gc_roots(merged, i))
            one->most = one->within;
    }
    return NULL;
}

/* Finds how each node has grown since the base. Matches the nodes with the base's, computes the
 * growth of each, and then gives each node as weight the most that it or a node below it has grown.
 */
struct g2h_error *growth_find(const struct g2h_base *base, const struct merged *merged,
                              growth_vector *ret)
{
    const struct merged_node *nodes = merged->nodes.data;
    _cleanup_free_ uint32_t *before = calloc(merged->nodes.count + 1, sizeof(*before));
    TRY_MEMORY(before);
    TRY(match(base, merged, before));
    for (uint32_t i = 0; i < merged->nodes.count; i++)
        TRY_MEMORY(vector_push(ret, growth_of(base, merged, i, before[i])));
    TRY(set_within(base, merged, ret));
    for (size_t i = merged->nodes.count; i-- > 0;) { /* children come after their parents */
        struct growth *growth = &ret->data[i];
        if (growth->within > 0 && (uint64_t)growth->within > growth->weight)
            growth->weight = (uint64_t)growth->within;
        if (nodes[i].parent == MERGED_NONE)
            continue;
        struct growth *above = &ret->data[nodes[i].parent];
        above->weight = MAX(growth->weight, above->weight);
    }
    return NULL;
}

/* ---- nodes that only the base has ---- */

/* Finds what only the base has. Inverts the matching: a named node of the base is gone if no
 * present node was matched with it. It is reported if its parent is still there; otherwise the
 * parent, or a node above, is. */
struct g2h_error *growth_find_gone(const struct g2h_base *base, const growth_vector *growth,
                                   gone_vector *ret)
{
    _cleanup_free_ uint32_t *now = malloc((base->nodes.count + 1) * sizeof(*now)); /* by number */
    TRY_MEMORY(now);
    for (size_t i = 0; i < base->nodes.count; i++)
        now[i] = MERGED_NONE;
    for (size_t i = growth->count; i-- > 0;) /* of nodes with the same names the first one */
        if (growth->data[i].before != MERGED_NONE)
            now[growth->data[i].before] = as_u32(i);
    VECTOR_EACH(const struct growth_named, named, base->named) {
        const struct before *before = &base->nodes.data[named->number];
        struct growth_gone gone = {.kind = named->kind,
                                   .parent = now[named->parent],
                                   .retained = before->retained,
                                   .count = before->count};
        if (now[named->number] != MERGED_NONE || gone.parent == MERGED_NONE)
            continue;
        gone.name = string_pool_text(&base->names, named->name, &gone.name_size);
        TRY_MEMORY(vector_push(ret, gone));
    }
    return NULL;
}
