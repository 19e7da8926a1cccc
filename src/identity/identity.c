/* identity: the ids of a series; see include/go2heapsnapshot/identity.h. */
#include "identity/identity.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/contract.h"
#include "base/scope.h"
#include "base/workers.h"
#include "naming/key_names.h"

/* Ids are odd, because DevTools takes the largest odd one as the last one assigned. */
static const uint64_t FIRST_ID = 1, LAST_ID = UINT32_MAX - 2;

/* The class of strings: an empty name, which no other class has. */
static const char text_class[] = "";

static void identified_deinit(struct identified *identified)
{
    free(identified->classes);
    free(identified->ids);
    free(identified->holders);
    free(identified->entries);
    *identified = (struct identified){.heap = NULL};
}

struct g2h_error *g2h_identity_create(unsigned threads, struct g2h_identity **ret)
{
    struct g2h_identity *identity = calloc(1, sizeof(*identity));
    *ret = identity;
    TRY_MEMORY(identity);
    identity->threads = threads > 0 ? threads : workers_available();
    identity->next = FIRST_ID;
    return NULL;
}

void g2h_identity_destroy(struct g2h_identity *identity)
{
    if (!identity)
        return;
    identified_deinit(&identity->last);
    string_pool_deinit(&identity->classes);
    map_deinit(&identity->nodes);
    map_deinit(&identity->nodes_before);
    map_deinit(&identity->likes);
    free(identity);
}

struct g2h_error *g2h_identity_check(const struct g2h_identity *identity,
                                     const struct g2h_heap *heap)
{
    return identity->last.heap ? identity_check_process(identity->last.heap, heap) : NULL;
}

/* ---- classes ---- */

/* Finds the class of each object, an index into the names of the series, by the object's class
 * name. Names of this dump are looked up once each, when the first object has them. */
static struct g2h_error *identity_find_classes(struct g2h_identity *identity,
                                               const struct g2h_graph *graph, uint32_t *ret)
{
    const struct names *names = &graph->names;
    const uint32_t count = names->strings.count;
    _cleanup_free_ uint32_t *by_name = malloc(((size_t)count + 1) * sizeof(*by_name));
    uint32_t text;
    TRY_MEMORY(by_name && string_pool_intern(&identity->classes, text_class, 0, &text));
    memset(by_name, 0xff, ((size_t)count + 1) * sizeof(*by_name));
    for (uint32_t i = 0; i < graph->heap->object_count; i++) {
        if (graph->typing && typing_is_text(graph->typing, i)) {
            ret[i] = text;
            continue;
        }
        const uint32_t name = names_of_object(names, i);
        if (by_name[name] == UINT32_MAX) {
            size_t size;
            const char *class = string_pool_text(&names->strings, name, &size);
            TRY_MEMORY(string_pool_intern(&identity->classes, class, size, &by_name[name]));
        }
        ret[i] = by_name[name];
    }
    return NULL;
}

/* ---- maps ---- */

/* By class: the parts of maps. */
struct map_classes {
    bool *is_part;
    const struct map_entries **layouts; /* NULL: the class has no entries */
};

static void map_classes_deinit(struct map_classes *classes)
{
    free(classes->is_part);
    free(classes->layouts);
}

/* Notes that the class with a name consists of parts of maps, and the layout of their entries. */
static void add_map_class(const struct g2h_identity *identity, const struct names *names,
                          uint32_t name, const struct map_entries *entries, struct map_classes *ret)
{
    size_t size;
    uint32_t class;
    if (name == NAME_NONE)
        return;
    const char *text = string_pool_text(&names->strings, name, &size);
    if (!string_pool_find(&identity->classes, text, size, &class))
        return;
    ret->is_part[class] = true;
    if (entries && !ret->layouts[class])
        ret->layouts[class] = entries;
}

/* Finds the classes of buckets, groups, tables and directories by the types that maps lead to. */
static struct g2h_error *find_map_classes(const struct g2h_identity *identity,
                                          const struct g2h_graph *graph, struct map_classes *ret)
{
    const struct names *names = &graph->names;
    const struct types *types = graph->typing->types;
    const size_t count = (size_t)identity->classes.count + 1;
    ret->is_part = calloc(count, sizeof(*ret->is_part));
    ret->layouts = calloc(count, sizeof(*ret->layouts));
    TRY_MEMORY(ret->is_part && ret->layouts);
    for (uint32_t i = 0; i < types->list.count; i++) {
        const struct type_names *of_type = &names->of_type[i];
        if ((of_type->value == NAME_NONE && of_type->array == NAME_NONE) ||
            types_map_inside(types, i) >= types->list.count)
            continue;
        add_map_class(identity, names, of_type->value, of_type->entries, ret);
        add_map_class(identity, names, of_type->array, of_type->entries, ret);
    }
    return NULL;
}

/* Marks the objects that are buckets or groups, whose layout is known. */
static struct g2h_error *identity_find_entries(const struct g2h_graph *graph,
                                               struct identified *after)
{
    const size_t objects = graph->heap->object_count;
    after->entries = zeroed_alloc(objects / 64 + 1, sizeof(*after->entries));
    TRY_MEMORY(after->entries);
    for (size_t i = 0; graph->typing && i < objects; i++) {
        const uint32_t claim = graph->typing->claims[i] & CLAIM_TYPE;
        const struct map_entries *entries =
            claim != 0 ? graph->names.of_type[claim - 1].entries : NULL;
        if (entries && !entries->is_single)
            bits_add(after->entries, i);
    }
    return NULL;
}

/* ---- ids ---- */

/* Assigns each survivor its previous id, and each other object the next one. */
static struct g2h_error *assign_ids(struct g2h_identity *identity, const struct matches *matches,
                                    const struct identified *after)
{
    struct g2h_identity_account *account = &identity->account;
    for (uint32_t i = 0; i < after->heap->object_count; i++) {
        const unsigned state = matches ? matches->states[i] : MATCH_NONE;
        account->candidates += state != MATCH_NONE;
        if (state == MATCH_SAME) {
            after->ids[i] = matches->before->ids[matches->partners[i]];
            account->survivors++;
            continue;
        }
        if (identity->next > LAST_ID)
            return error_create(G2H_ERROR_LIMIT, "%s: the series has more than 2^31 objects",
                                after->heap->input->name);
        after->ids[i] = (uint32_t)identity->next;
        identity->next += 2;
    }
    account->objects = after->heap->object_count;
    account->gone = matches ? matches->before->heap->object_count - account->survivors : 0;
    account->reused_slots = account->candidates - account->survivors;
    account->undecided = matches ? matches->undecided : 0;
    return NULL;
}

/* Matches the objects with those of the last dump, and assigns the ids. Classes of the runtime's
 * objects that are never freed are matched by their addresses alone. */
static struct g2h_error *identity_match(struct g2h_identity *identity,
                                        const struct g2h_graph *graph,
                                        const struct identified *after)
{
    static const char *const kept[] = {"runtime.g", "runtime.m", "runtime.p", "runtime.sudog",
                                       "runtime.timer"};
    uint32_t kept_classes[sizeof(kept) / sizeof(*kept)];
    _cleanup_(map_classes_deinit) struct map_classes map_classes = {NULL, NULL};
    _cleanup_(matches_deinit) struct matches matches = {.before = &identity->last,
                                                        .after = after,
                                                        .graph = graph,
                                                        .threads = identity->threads,
                                                        .kept_classes = kept_classes};
    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
        if (string_pool_find(&identity->classes, kept[i], strlen(kept[i]),
                             &kept_classes[matches.kept_class_count]))
            matches.kept_class_count++;
    (void)string_pool_find(&identity->classes, text_class, 0, &matches.text_class);
    if (graph->typing)
        TRY(find_map_classes(identity, graph, &map_classes));
    matches.is_map_part = map_classes.is_part;
    matches.layouts = map_classes.layouts;
    TRY(matches_find(&matches));
    return assign_ids(identity, &matches, after);
}

/* Finds what matching needs to know about the objects of a dump, and assigns their ids: by
 * matching, if there is an earlier dump. */
static struct g2h_error *identity_identify(struct g2h_identity *identity,
                                           const struct g2h_graph *graph, struct identified *after)
{
    const size_t objects = graph->heap->object_count;
    after->heap = graph->heap;
    after->classes = block_alloc(objects + 1, sizeof(*after->classes));
    after->ids = block_alloc(objects + 1, sizeof(*after->ids));
    TRY_MEMORY(after->classes && after->ids);
    TRY(identity_find_classes(identity, graph, after->classes));
    TRY(holders_find(graph, identity->threads, &after->holders));
    TRY(identity_find_entries(graph, after));
    return identity->last.heap ? identity_match(identity, graph, after)
                               : assign_ids(identity, NULL, after);
}

/* The new dump becomes the last one only if all has succeeded; the swap leaves the previous one for
 * _cleanup_ to free. */
struct g2h_error *g2h_identity_add(struct g2h_identity *identity, const struct g2h_graph *graph)
{
    _cleanup_(identified_deinit) struct identified after = {.heap = NULL};
    TRY(g2h_identity_check(identity, graph->heap));
    identity->account = (struct g2h_identity_account){.objects = 0};
    TRY(identity_identify(identity, graph, &after));
    map_deinit(&identity->nodes_before);
    identity->nodes_before = identity->nodes;
    identity->nodes = (struct map){0};
    map_deinit(&identity->likes);
    identity->likes = (struct map){0};
    assert(after.ids && after.classes && after.holders);
    const struct identified before = identity->last;
    identity->last = after;
    after = before;
    return NULL;
}

const struct g2h_identity_account *g2h_identity_account(const struct g2h_identity *identity)
{
    return &identity->account;
}

uint32_t g2h_identity_object(const struct g2h_identity *identity, uint32_t object)
{
    assert(identity->last.heap && object < identity->last.heap->object_count);
    return identity->last.ids[object];
}

/* ---- nodes that are not objects ---- */

/* Several nodes may have the same kind and key; they are told apart by their order, which is
 * counted in likes. A node keeps the id that it had in the previous snapshot. */
bool g2h_identity_node(struct g2h_identity *identity, enum g2h_node_kind kind, uint64_t key,
                       uint32_t *ret)
{
    const uint64_t like = map_hash_pair(key, kind);
    uint32_t number, count = 0;
    if (!map_put(&identity->likes, like, 0, &count))
        return false;
    map_set(&identity->likes, like, count + 1);
    const uint64_t own = map_hash_pair(like, count);
    *ret = map_get(&identity->nodes_before, own);
    if (*ret == MAP_NONE) {
        if (identity->next > LAST_ID)
            return false;
        *ret = (uint32_t)identity->next;
        identity->next += 2;
    }
    return map_put(&identity->nodes, own, *ret, &number);
}

bool g2h_identity_find_node(const struct g2h_identity *identity, enum g2h_node_kind kind,
                            uint64_t key, uint32_t *ret)
{
    *ret = map_get(&identity->nodes, map_hash_pair(map_hash_pair(key, kind), 0));
    return *ret != MAP_NONE;
}
