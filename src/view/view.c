/*
 * view: answers the most frequent questions about a view: the names and nodes that it has, and the
 * contents of strings; see include/go2heapsnapshot/view.h. A view numbers nodes by itself:
 * synthetic ones first, then the objects that are kept, then folded nodes. Edges are in edges.c,
 * retained sizes in retained.c.
 */
#include "view/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "naming/key_names.h"
#include "naming/names.h"

/* ---- names ---- */

/* Returns how many names the graph has: those of the view itself follow. */
static uint32_t graph_names(const struct g2h_view *view)
{
    return view->graph->names.strings.count;
}

/* Stores the index of a string, which the graph has or which is added to the view's own. Returns
 * false if memory runs out. */
static bool add_name(void *context, const char *text, enum g2h_name_use use, uint32_t *ret)
{
    struct g2h_view *view = context;
    if (!string_pool_find(&view->graph->names.strings, text, strlen(text), ret)) {
        if (!string_pool_intern(&view->own, text, strlen(text), ret))
            return false;
        *ret += graph_names(view);
    }
    return name_uses_add(&view->uses, *ret, use);
}

uint32_t g2h_view_name_count(const struct g2h_view *view)
{
    return graph_names(view) + view->own.count;
}

/* Returns a name by its number: those of the graph come first, and then the view's own.
 * G2H_NAME_NONE is empty. */
const char *g2h_view_name(const struct g2h_view *view, uint32_t name, size_t *ret_size)
{
    const uint32_t first_own = graph_names(view);
    *ret_size = 0;
    assert(name == G2H_NAME_NONE || name < g2h_view_name_count(view));
    if (name == G2H_NAME_NONE)
        return "";
    if (name < first_own)
        return string_pool_text(&view->graph->names.strings, name, ret_size);
    return string_pool_text(&view->own, name - first_own, ret_size);
}

/* Returns what a name is used for: bits G2H_NAME_OF_…. */
unsigned g2h_view_name_uses(const struct g2h_view *view, uint32_t name)
{
    assert(name == G2H_NAME_NONE || name < view->uses.count);
    return name != G2H_NAME_NONE ? view->uses.data[name] & ((1u << NAME_FORM_SHIFT) - 1) : 0;
}

enum g2h_class_form g2h_view_class_form(const struct g2h_view *view, uint32_t name)
{
    return name != G2H_NAME_NONE
               ? (enum g2h_class_form)(view->uses.data[name] >> NAME_FORM_SHIFT & NAME_FORM_MASK)
               : G2H_FORM_OTHER;
}

enum g2h_runtime_class g2h_view_runtime_class(const struct g2h_view *view, uint32_t name)
{
    return name != G2H_NAME_NONE
               ? (enum g2h_runtime_class)(view->uses.data[name] >> NAME_RUNTIME_SHIFT)
               : G2H_RUNTIME_NONE;
}

/* Returns the name of the map whose entries a class is: without the suffix. */
const char *g2h_view_map_of(const struct g2h_view *view, uint32_t name, size_t *ret_size)
{
    const char *text = g2h_view_name(view, name, ret_size);
    if ((g2h_view_name_uses(view, name) & G2H_NAME_OF_ENTRIES) != 0)
        *ret_size -= strlen(NAME_OF_ENTRIES);
    return text;
}

bool g2h_view_is_map_of(const struct g2h_view *view, uint32_t map, uint32_t entries)
{
    return names_is_map_of(&view->graph->names, map, entries);
}

/* Looks in the graph's names, then in those of the view. Returns false if no node or edge has the
 * name. */
bool g2h_view_find_name(const struct g2h_view *view, const char *text, size_t size, uint32_t *ret)
{
    if (string_pool_find(&view->graph->names.strings, text, size, ret))
        return true;
    const bool is_own = string_pool_find(&view->own, text, size, ret);
    if (is_own)
        *ret += graph_names(view); /* the view's own names follow the graph's */
    return is_own;
}

void g2h_text_deinit(struct g2h_text *text)
{
    free(text->data);
    *text = (struct g2h_text){0};
}

/* ---- nodes ---- */

/* Fills in a synthetic node of the graph, except how many edges it has. */
static void fill_synthetic(const struct g2h_graph *graph, uint32_t synthetic, struct g2h_node *ret)
{
    const struct synthetic *from = &graph->roots.nodes.data[synthetic];
    *ret = (struct g2h_node){.kind = from->kind,
                             .name = from->name,
                             .object = UINT32_MAX,
                             .size = from->size,
                             .key = from->key,
                             .whole = synthetic};
}

/* Returns the name of an object's class; G2H_NAME_NONE for strings. */
uint32_t g2h_view_class(const struct g2h_view *view, uint32_t object)
{
    const struct g2h_graph *graph = view->graph;
    return graph->typing && typing_is_text(graph->typing, object)
               ? G2H_NAME_NONE
               : names_of_object(&graph->names, object);
}

/* Fills in an object's node; edges is how many it has. */
static inline void fill_object(const struct g2h_graph *graph, uint32_t object, uint32_t edges,
                               struct g2h_node *ret)
{
    const bool is_text = graph->typing && typing_is_text(graph->typing, object);
    ret->kind = is_text ? G2H_NODE_TEXT : G2H_NODE_OBJECT;
    ret->name = is_text ? G2H_NAME_NONE : names_of_object(&graph->names, object);
    ret->object = object;
    ret->members = 0;
    ret->address = heap_address(graph->heap, object);
    ret->size = heap_object_size(graph->heap, object);
    ret->key = 0;
    ret->edges = edges;
    ret->whole = graph_synthetics(graph) + object;
}

/* Fills in a folded node, except how many edges it has. */
static void fill_folded(const struct fold *fold, uint32_t number, struct g2h_node *ret)
{
    const struct folded *folded = &fold->folded[number];
    *ret = (struct g2h_node){.kind = folded->kind,
                             .name = folded->name,
                             .object = UINT32_MAX,
                             .members = folded->count,
                             .size = folded->size,
                             .whole = UINT32_MAX};
}

/* Fills in count objects, from first on, of a view that is the whole graph. */
static void fill_objects(const struct g2h_graph *graph, uint32_t first, size_t count,
                         struct g2h_node *ret)
{
    uint64_t child = graph_object_child(graph, first);
    for (size_t i = 0; i < count; i++) {
        const uint32_t object = first + as_u32(i);
        const uint32_t *end;
        const uint32_t *target = object_targets(graph, object, &end);
        uint32_t edges = 0;
        for (; target < end; target++)
            edges += *target != NO_TARGET;
        for (; graph_is_child_of(graph, child, object); child++)
            edges++;
        fill_object(graph, object, edges, &ret[i]);
    }
}

/* Fills in count kept objects, from node first on. */
static void fill_kept(const struct fold *fold, uint32_t first, size_t count, struct g2h_node *ret)
{
    uint32_t object = count > 0 ? fold_object_of(fold, first) : 0;
    for (size_t i = 0; i < count; object++)
        if (!fold_hides(fold, object)) {
            fill_object(fold->graph, object, fold->edge_counts[first + i], &ret[i]);
            i++;
        }
}

/* Fills in a node that is not an object of its own: a synthetic or a folded one. */
static void view_fill_other(const struct g2h_view *view, uint32_t node, struct g2h_node *ret)
{
    const struct g2h_graph *graph = view->graph;
    const struct fold *fold = &view->fold;
    if (!view->is_folded) {
        fill_synthetic(graph, node, ret);
        ret->edges = (uint32_t)(graph->first_child[node + 1] - graph->first_child[node]);
        return;
    }
    if (node < fold->synthetic_count)
        fill_synthetic(graph, fold->synthetics[node], ret);
    else if (node == fold->group)
        *ret = (struct g2h_node){.kind = G2H_NODE_FOLDED,
                                 .name = fold->group_name,
                                 .object = UINT32_MAX,
                                 .whole = UINT32_MAX};
    else
        fill_folded(fold, node - fold->kept, ret);
    ret->edges = fold->edge_counts[node];
}

uint32_t g2h_view_node_count(const struct g2h_view *view)
{
    return view->is_folded ? view->fold.nodes : graph_node_count(view->graph);
}

/* Fills in count nodes from first on, or as many as there are, and returns how many. Runs of
 * objects are filled in at once, since their edges are counted on the way. */
size_t g2h_view_nodes(const struct g2h_view *view, uint32_t first, size_t count,
                      struct g2h_node *ret)
{
    const uint32_t nodes = g2h_view_node_count(view);
    const uint32_t kept = view_kept(view);
    const uint32_t first_object = view_first_object(view);
    if (first >= nodes)
        return 0;
    count = MIN(count, nodes - first);
    for (size_t i = 0; i < count;) {
        const uint32_t node = first + as_u32(i);
        if (node < first_object || node >= kept) {
            view_fill_other(view, node, &ret[i++]);
            continue;
        }
        const size_t objects = MIN(count - i, kept - node);
        if (view->is_folded)
            fill_kept(&view->fold, node, objects, &ret[i]);
        else
            fill_objects(view->graph, node - first_object, objects, &ret[i]);
        i += objects;
    }
    return count;
}

void g2h_view_node(const struct g2h_view *view, uint32_t node, struct g2h_node *ret)
{
    g2h_view_nodes(view, node, 1, ret);
}

/* Reads a node without counting its edges, which takes long. */
void g2h_view_brief(const struct g2h_view *view, uint32_t node, struct g2h_node *ret)
{
    assert(node < g2h_view_node_count(view));
    if (view->is_folded || node < view_first_object(view))
        g2h_view_nodes(view, node, 1, ret);
    else
        fill_object(view->graph, view_object_of(view, node), 0, ret);
    ret->edges = 0;
}

/* Returns the node of an object, which may be folded. */
uint32_t g2h_view_object(const struct g2h_view *view, uint32_t object)
{
    const uint32_t number = graph_synthetics(view->graph) + object;
    return view->is_folded ? view->fold.number_of[number] : number;
}

/* Reads one of the nodes that a folded node stands for, by its number among them. */
void g2h_view_member(const struct g2h_view *view, uint32_t node, uint32_t member,
                     struct g2h_node *ret)
{
    const struct fold *fold = &view->fold;
    const uint32_t synthetics = graph_synthetics(view->graph),
                   number = fold->members[fold->first_member[node - fold->kept] + member];
    if (number < synthetics)
        fill_synthetic(view->graph, number, ret);
    else
        fill_object(view->graph, number - synthetics, 0, ret);
}

/* ---- strings ---- */

/* Returns the dump's own bytes if the string can be shown as it is, which saves most copies;
 * otherwise makes it in text. */
const char *g2h_view_text(const struct g2h_view *view, uint32_t node, struct g2h_text *text,
                          size_t *ret_size)
{
    const struct names *names = &view->graph->names;
    const uint32_t object = view_object_of(view, node);
    const uint8_t *bytes;
    if (names_text_bytes(names, object, &bytes, ret_size))
        return (const char *)bytes;
    struct text made = view_borrow(text);
    made.size = 0;
    names_append_text(names, object, &made);
    view_give_back(text, &made);
    *ret_size = text->size;
    return text->data ? text->data : "";
}

bool g2h_view_text_is_shared(const struct g2h_view *view, uint32_t node)
{
    return names_text_is_shared(&view->graph->names, view_object_of(view, node));
}

uint64_t g2h_view_text_size(const struct g2h_view *view, uint32_t node)
{
    return names_text_size(&view->graph->names, view_object_of(view, node));
}

uint64_t g2h_view_text_hash(const struct g2h_view *view, uint32_t node)
{
    return names_text_hash(&view->graph->names, view_object_of(view, node));
}

/* Returns whether an object is a string. */
static inline bool view_is_text(const struct g2h_graph *graph, uint32_t object)
{
    return typing_is_text(graph->typing, object);
}

/* Returns whether an object has buckets or groups whose keys can be shown. */
static inline bool is_keyed(const struct g2h_graph *graph, uint32_t object)
{
    const uint32_t claim = graph->typing->claims[object];
    const struct map_entries *entries =
        claim == 0 ? NULL : graph->names.of_type[(claim & CLAIM_TYPE) - 1].entries;
    return entries && entries->kind != KEYS_WITHOUT_TEXT;
}

/* Returns the first node in [first, end) that is an object for which is_one() is true, or end if
 * there is none or nothing has a type. Folded objects have no node, and are passed over. */
static inline uint32_t view_next_object(const struct g2h_view *view, uint32_t first, uint32_t end,
                                        bool (*is_one)(const struct g2h_graph *graph,
                                                       uint32_t object))
{
    const uint32_t first_object = view_first_object(view);
    const uint32_t kept = view_kept(view);
    const uint32_t last = MIN(end, kept);
    uint32_t node = MAX(first, first_object);
    if (!view->graph->typing || node >= last)
        return end;
    /* Objects have the order of their nodes, so the next kept object has the next node. */
    for (uint32_t object = view_object_of(view, node); node < last; object++) {
        if (view->is_folded && fold_hides(&view->fold, object))
            continue;
        if (is_one(view->graph, object))
            return node;
        node++;
    }
    return end;
}

uint32_t g2h_view_next_text(const struct g2h_view *view, uint32_t first, uint32_t end)
{
    return view_next_object(view, first, end, view_is_text);
}

uint32_t g2h_view_next_keyed(const struct g2h_view *view, uint32_t first, uint32_t end)
{
    return view_next_object(view, first, end, is_keyed);
}

/* ---- prefetching ---- */

/* Prefetches the first bytes of an object's contents. */
static void prefetch_contents(const struct g2h_heap *heap, uint32_t object)
{
    enum { LINE = 64, LINES = 4 };
    const uint8_t *contents = heap->input->data + heap_offset(heap, object);
    for (unsigned i = 0; i < LINES; i++)
        __builtin_prefetch(contents + (size_t)i * LINE);
}

/* Prefetches, for the first pointers of an object, their targets' contents if keys is set, else
 * their targets' entries of heap->objects. */
static void view_prefetch_targets(const struct g2h_graph *graph, uint32_t object, bool keys)
{
    enum { POINTERS = 16 };
    const struct g2h_heap *heap = graph->heap;
    const uint32_t *end;
    const uint32_t *target = object_targets(graph, object, &end);
    if (end - target > POINTERS)
        end = target + POINTERS;
    for (; target < end; target++)
        if (*target != NO_TARGET)
            __builtin_prefetch(keys ? (const void *)(heap->input->data + heap_offset(heap, *target))
                                    : &heap->objects[*target]);
}

/* Prefetches what is needed first of a node, if it is an object, by the next step (soon): an
 * object's contents, or where its pointers lead. */
void g2h_view_prefetch(const struct g2h_view *view, uint32_t node, enum g2h_soon soon)
{
    if (!view_is_object(view, node))
        return;
    const uint32_t object = view_object_of(view, node);
    if (soon == G2H_SOON_NODE)
        prefetch_contents(view->graph->heap, object);
    else
        view_prefetch_targets(view->graph, object, soon == G2H_SOON_KEYS);
}

/* ---- views ---- */

const struct g2h_heap *g2h_view_heap(const struct g2h_view *view)
{
    return view->graph->heap;
}

const struct g2h_exe *g2h_view_exe(const struct g2h_view *view)
{
    return view->graph->exe;
}

const struct g2h_view_account *g2h_view_account(const struct g2h_view *view)
{
    return &view->account;
}

const char *g2h_view_under(const struct g2h_view *view)
{
    return view->under;
}

bool g2h_view_is_typed(const struct g2h_view *view)
{
    return view->graph->typing != NULL;
}

bool g2h_view_is_garbage(const struct g2h_view *view, uint32_t object)
{
    return graph_is_garbage(view->graph, object);
}

/* Returns whether an object is in the node of what the view is not about. */
bool g2h_view_is_else(const struct g2h_view *view, uint32_t object)
{
    const uint32_t node = g2h_view_object(view, object);
    return view->is_folded && node != FOLD_LEFT_OUT && node >= view->fold.kept &&
           view->fold.folded[node - view->fold.kept].kind == G2H_NODE_ELSE;
}

/* Returns how many of the objects [first, end) are alive. */
uint32_t g2h_view_live_count(const struct g2h_view *view, uint32_t first, uint32_t end)
{
    assert(first <= end && end <= g2h_heap_object_count(view->graph->heap));
    return view->graph->live ? (uint32_t)bits_count(view->graph->live, first, end) : end - first;
}

/* Returns how many goroutines are leaked, and whether that is proved. If the view is about a part
 * of the heap, only the leaked goroutines in it are counted. */
struct g2h_leaks g2h_view_leaks(const struct g2h_view *view)
{
    const struct leaked *leaked = &view->graph->leaked;
    struct g2h_leaks ret = {leaked->proof, leaked->blocked, leaked->count, leaked->reason};
    if (!view->account.is_under || ret.leaked == 0)
        return ret;
    ret.leaked = 0; /* those that the view is about */
    for (uint32_t node = 0; node < view->fold.synthetic_count; node++)
        ret.leaked += g2h_view_is_leaked(view, node);
    return ret;
}

bool g2h_view_is_leaked(const struct g2h_view *view, uint32_t node)
{
    struct g2h_node read;
    g2h_view_brief(view, node, &read);
    return read.kind == G2H_NODE_GOROUTINE && leaked_has(&view->graph->leaked, read.whole);
}

/* Returns the name of the variable that a goroutine waits on, or NULL if the node is no goroutine
 * or the name is not known. */
const char *g2h_view_waits_on(const struct g2h_view *view, uint32_t node, size_t *ret_size)
{
    const struct leaked *leaked = &view->graph->leaked;
    struct g2h_node read;
    g2h_view_brief(view, node, &read);
    const uint32_t name =
        read.kind == G2H_NODE_GOROUTINE ? map_get(&leaked->variables, read.whole) : MAP_NONE;
    return name == MAP_NONE ? NULL : string_pool_text(&leaked->names, name, ret_size);
}

bool g2h_view_is_redacted(const struct g2h_view *view)
{
    return view->graph->names.redaction != NULL;
}

/* Returns how many nodes are strings and not folded. */
static uint64_t count_texts(const struct g2h_view *view)
{
    const struct g2h_graph *graph = view->graph;
    uint64_t count = 0;
    for (uint32_t object = 0; graph->typing && object < graph->heap->object_count; object++)
        count += typing_is_text(graph->typing, object) &&
                 !(view->is_folded && fold_hides(&view->fold, object));
    return count;
}

/* Fills view->account: the counts of the graph, and, if it is folded, those of what is folded or
 * left out. */
static void view_count_all(struct g2h_view *view)
{
    const struct g2h_graph *graph = view->graph;
    const struct fold *fold = &view->fold;
    struct g2h_view_account *account = &view->account;
    account->nodes = g2h_view_node_count(view);
    account->texts = count_texts(view);
    account->stacks = graph->account.stacks;
    account->stack_bytes = graph->account.stack_bytes;
    account->synthetic_nodes = account->first_object = view_first_object(view);
    VECTOR_EACH(const struct slot_class, slot_class, graph->heap->slot_classes.list)
        if (slot_class->size > account->largest_node)
            account->largest_node = slot_class->size;
    VECTOR_EACH(const struct synthetic, root, graph->roots.nodes)
        if (root->size > account->largest_node)
            account->largest_node = root->size;
    account->edges = graph->child_count + graph->account.pointers_hit -
                     graph->targets->deferred.count; /* these are among the children */
    if (!view->is_folded)
        return;
    account->edges = fold->edges;
    account->folded_objects = fold->folded_objects;
    account->folded_nodes = fold->folded_count;
    for (uint32_t i = 0; i < fold->folded_count; i++) {
        if (fold->folded[i].size > account->largest_node)
            account->largest_node = fold->folded[i].size;
        /* Folded nodes are synthetic, too, unless they stand for objects of one class or strings.
         * "(everything else)" is of no class, even though it has objects in it. */
        account->synthetic_nodes += fold->folded[i].kind == G2H_NODE_FOLDED_SYNTHETICS ||
                                    fold->folded[i].kind == G2H_NODE_ELSE ||
                                    fold->folded[i].kind == G2H_NODE_STACK;
    }
    account->is_under = fold->is_under;
    account->under_objects = fold->under.objects;
    account->under_bytes = fold->under.bytes;
    account->holder_objects = fold->under.holder_objects;
    account->holder_bytes = fold->under.holder_bytes;
    account->else_objects = fold->under.else_objects;
    account->else_bytes = fold->under.else_bytes;
    account->shared_objects = fold->under.shared_objects;
    account->shared_bytes = fold->under.shared_bytes;
    if (fold->leaves_out_garbage) {
        account->left_out_objects = graph->account.unreachable_objects;
        account->left_out_bytes = graph->account.unreachable_bytes;
    }
}

CLEANUP_POINTER(destroy_view, struct g2h_view, g2h_view_destroy);

/* Creates the view of a graph: copies what its names are used for, folds objects if the options ask
 * for it (--max-nodes, --under), and counts all nodes and edges. Folding adds its names to the view
 * by a callback, add_name(). */
struct g2h_error *g2h_view_create(const struct g2h_graph *graph,
                                  const struct g2h_view_options *options, struct g2h_view **ret)
{
    _cleanup_(destroy_view) struct g2h_view *view = calloc(1, sizeof(*view));
    TRY_MEMORY(view);
    const struct fold_names names = {add_name, view};
    view->graph = graph;
    TRY_MEMORY(name_uses_copy(&graph->names.uses, &view->uses));
    if (options && options->under_count > 0) {
        view->under = strdup(options->under_name ? options->under_name : "");
        TRY_MEMORY(view->under);
    }
    if (options && fold_is_needed(graph, options)) {
        view->is_folded = true;
        TRY(fold_init(&view->fold, graph, options, &names));
    }
    view_count_all(view);
    *ret = take_pointer(view);
    return NULL;
}

void g2h_view_destroy(struct g2h_view *view)
{
    if (!view)
        return;
    if (view->is_folded)
        fold_deinit(&view->fold);
    string_pool_deinit(&view->own);
    free(view->uses.data);
    free(view->under);
    free(view);
}
