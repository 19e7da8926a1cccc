/*
 * identity: gives the objects of several dumps of one process ids that stay the same; see
 * include/go2heapsnapshot/identity.h. The parts: checks that two dumps are of one process, by what
 * never changes in one; finds for each object the only one that points to it, its holder; and
 * assigns ids: match.c says which objects have survived since the dump before, these keep their
 * ids, and all others get the next ones.
 */
#include "identity/identity.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/workers.h"
#include "naming/key_names.h"

/* ==== checks whether two dumps are from one process, and whether the first one is earlier ====
 *
 * A dump has the pauses of the last 256 collections (runtime.MemStats.PauseNs): collection number n
 * is at (n - 1) % 256. Pauses that both dumps have must be equal to the nanosecond. A dump that was
 * made from outside the process has none. But the first thread of a process stays the same, and so
 * do some words of bss that point to memory outside the heap, such as runtime.argv; the system maps
 * that memory at a different address for each process.
 */

/* Indexes into the numbers of runtime.MemStats, in the order in which dumpmemstats()
 * (runtime/heapdump.go) writes them, and how many pauses there are. */
enum { TOTAL_ALLOC = 1, MALLOCS = 4, FREES = 5, PAUSES = 24, NUM_GC = 280, PAUSE_COUNT = 256 };

/* Returns the error that two dumps are not from one process. */
static struct g2h_error *refuse_pair(const struct g2h_heap *before, const struct g2h_heap *after,
                                     const char *why)
{
    return error_create(G2H_ERROR_NOT_SERIES, "%s: is not from the process that wrote %s: %s",
                        after->input->name, before->input->name, why);
}

/* Checks that both dumps are of one architecture, format and release of Go. */
static struct g2h_error *check_program(const struct g2h_heap *before, const struct g2h_heap *after)
{
    const struct g2h_params *one = &before->params;
    const struct g2h_params *other = &after->params;
    if (one->pointer_size != other->pointer_size || one->big_endian != other->big_endian ||
        strcmp(one->arch, other->arch) != 0)
        return refuse_pair(before, after, "that has another architecture");
    if (strcmp(g2h_heap_format(before), g2h_heap_format(after)) != 0 ||
        strcmp(before->go_version, after->go_version) != 0)
        return refuse_pair(before, after, "that is of another release of Go");
    return NULL;
}

/* Checks that counters that only grow have not shrunk. A dump made from outside has the number of
 * collections only, not the rest. has_all: both dumps have all of the counters. */
static struct g2h_error *check_order(const struct g2h_heap *before, const struct g2h_heap *after,
                                     bool has_all)
{
    static const struct {
        int number;
        const char *name;
    } growing[] = {{NUM_GC, "collections"},
                   {TOTAL_ALLOC, "bytes allocated"},
                   {MALLOCS, "objects allocated"},
                   {FREES, "objects freed"}};
    for (size_t i = 0; i < (has_all ? COUNT_OF(growing) : 1); i++) {
        const uint64_t was = before->memstats.numbers[growing[i].number],
                       is = after->memstats.numbers[growing[i].number];
        if (is < was)
            return error_create(G2H_ERROR_NOT_SERIES,
                                "%s: is older than %s, or of another process: %" PRIu64
                                " %s so far, there %" PRIu64,
                                after->input->name, before->input->name, is, growing[i].name, was);
    }
    return NULL;
}

/* Checks that both dumps have the same pauses for the collections that both list: from the first
 * that the later dump lists (each lists the last PAUSE_COUNT) to the last of the earlier one. */
static struct g2h_error *check_pauses(const struct g2h_heap *before, const struct g2h_heap *after)
{
    const uint64_t *was = before->memstats.numbers;
    const uint64_t *is = after->memstats.numbers;
    const uint64_t last = was[NUM_GC],
                   first = is[NUM_GC] < PAUSE_COUNT ? 1 : is[NUM_GC] - PAUSE_COUNT + 1;
    for (uint64_t n = first; n <= last && n < first + PAUSE_COUNT; n++) {
        const size_t at = PAUSES + (size_t)((n - 1) % PAUSE_COUNT); /* the list is a ring */
        char why[128];
        if (was[at] == is[at])
            continue;
        snprintf(why, sizeof(why),
                 "its collection number %" PRIu64 " paused it for %" PRIu64 " ns, there %" PRIu64,
                 n, is[at], was[at]);
        return refuse_pair(before, after, why);
    }
    return NULL;
}

/* Gets the kernel's id of the process's first thread, runtime.m0, whose m.id is 0. Returns false if
 * no record has it. */
static bool first_thread(const struct g2h_heap *heap, uint64_t *ret)
{
    const size_t count = g2h_heap_record_count(heap, G2H_RECORD_OSTHREAD);
    for (size_t i = 0; i < count; i++) {
        struct g2h_record record;
        g2h_heap_record(heap, G2H_RECORD_OSTHREAD, i, &record);
        *ret = record.osthread.os_id;
        if (record.osthread.id == 0)
            return true;
    }
    return false;
}

/* Checks that both dumps have the same first thread, if they have its number: its id is the
 * process's. */
static struct g2h_error *check_threads(const struct g2h_heap *before, const struct g2h_heap *after)
{
    uint64_t was, is;
    char why[128];
    /* Without its number in one of them, nothing is concluded. */
    if (!first_thread(before, &was) || !first_thread(after, &is) || was == is)
        return NULL;
    snprintf(why, sizeof(why), "its first thread is %" PRIu64 ", there %" PRIu64, is, was);
    return refuse_pair(before, after, why);
}

/* Returns whether a word of bss is an address far from the heap and from the variables: one that
 * the system chose, for the stack or a mapping. Such addresses are above those of Go's heap, which
 * begins at 0xc000000000, and more than 4 GiB from bss, near which an executable is. */
static bool is_far(const struct g2h_heap *heap, uint64_t value, uint64_t bss)
{
    const uint64_t least = UINT64_C(1) << 40;
    const uint64_t near = UINT64_C(1) << 32;
    const bool is_near_bss = value - (bss - near) < 2 * near;
    const bool is_in_heap = value - heap->index.low < heap->index.high - heap->index.low;
    return value >= least && !is_near_bss && !is_in_heap;
}

/* Checks that some word of bss still points to the same memory far from the heap (is_far()). If
 * there are too few such words, nothing is concluded. */
static struct g2h_error *check_far_words(const struct g2h_heap *before,
                                         const struct g2h_heap *after)
{
    enum { LEAST_WORDS = 3 /* one or two may have been assigned anew */ };
    struct g2h_record was, is;
    size_t far = 0, same = 0;
    /* is_far() knows where 64-bit systems put things. */
    if (g2h_heap_record_count(before, G2H_RECORD_BSS) == 0 ||
        g2h_heap_record_count(after, G2H_RECORD_BSS) == 0 || before->params.pointer_size != 8)
        return NULL;
    g2h_heap_record(before, G2H_RECORD_BSS, 0, &was);
    g2h_heap_record(after, G2H_RECORD_BSS, 0, &is);
    if (was.segment.address != is.segment.address)
        return refuse_pair(before, after, "its variables are at other addresses");
    for (uint64_t i = 0; i + 8 <= was.segment.contents.size && i + 8 <= is.segment.contents.size;
         i += 8) {
        const uint64_t one = heap_word(before, was.segment.contents.data + i),
                       other = heap_word(after, is.segment.contents.data + i);
        if (!is_far(before, one, was.segment.address) || !is_far(after, other, is.segment.address))
            continue;
        far++;
        same += one == other;
    }
    return far < LEAST_WORDS || same > 0
               ? NULL
               : refuse_pair(before, after, "nothing that its variables point to is where it was");
}

/* Returns whether a dump has all numbers of runtime.MemStats; one that was made from outside has
 * few. */
static bool has_all_numbers(const struct g2h_heap *heap)
{
    return heap->memstats.numbers[MALLOCS] > 0;
}

/* Does the work of g2h_identity_check() for two heaps: what both cannot have if they are of one
 * process is an error. */
static struct g2h_error *identity_check_process(const struct g2h_heap *before,
                                                const struct g2h_heap *after)
{
    TRY(check_program(before, after));
    TRY(check_threads(before, after));
    TRY(check_far_words(before, after));
    /* a truncated dump ends before its memstats */
    if (!g2h_heap_memstats(before) || !g2h_heap_memstats(after))
        return NULL;
    const bool has_all = has_all_numbers(before) && has_all_numbers(after);
    TRY(check_order(before, after, has_all));
    return has_all ? check_pauses(before, after) : NULL;
}

/* ==== finds, for each object, the only object that points to it ====
 *
 * Globals and frames do not count, because the object that they read the pointer from also holds
 * it.
 */

struct holders_finding {
    const struct g2h_graph *graph;
    uint32_t *holders;
};

/* Records an object as a holder: HOLDER_NONE becomes the object, and another object becomes
 * HOLDER_MANY, whatever the threads' order. */
static void add_holder(uint32_t *holder, uint32_t object)
{
    uint32_t old = HOLDER_NONE; /* becomes what is there instead, if the exchange fails */
    if (!__atomic_compare_exchange_n(holder, &old, object, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED) &&
        old != object && old != HOLDER_MANY)
        __atomic_store_n(holder, HOLDER_MANY, __ATOMIC_RELAXED);
}

/* Records the objects of a task as holders of what they point to, except of themselves. */
static struct g2h_error *find_holders_task(void *context, size_t task, unsigned worker)
{
    const struct holders_finding *finding = context;
    const uint32_t end = identity_task_end(finding->graph->heap, task);
    (void)worker;
    for (uint32_t object = as_u32(task * OBJECTS_PER_TASK); object < end; object++) {
        const uint32_t *last;
        const uint32_t *target = object_targets(finding->graph, object, &last);
        for (; target < last; target++)
            if (*target != NO_TARGET && *target != object)
                add_holder(&finding->holders[*target], object);
    }
    return NULL;
}

/* Finds the object that holds each object of a graph, as in identified.holders. Error:
 * G2H_ERROR_MEMORY. */
static struct g2h_error *find_holders(const struct g2h_graph *graph, unsigned threads,
                                      uint32_t **ret)
{
    const size_t count = graph->heap->object_count;
    const size_t size = (count + 1) * sizeof(**ret);
    _cleanup_free_ uint32_t *holders = malloc(size);
    struct holders_finding finding = {graph, holders};
    TRY_MEMORY(holders);
    memset(holders, 0xff, size);
    TRY(workers_run(threads, object_tasks(graph->heap), find_holders_task, &finding));
    *ret = take_pointer(holders);
    return NULL;
}

/* ==== the ids of a series ==== */

/* Ids are odd, because DevTools takes the largest odd one as the last one assigned. */
static const uint64_t FIRST_ID = 1;

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

/* Begins a series without heaps; *ret is NULL if there is an error. */
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
    map_deinit(&identity->held);
    map_deinit(&identity->held_before);
    map_deinit(&identity->likes);
    free(identity);
}

/* Checks that a heap is of the process of the series. */
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
    _cleanup_free_ uint32_t *by_name = malloc(count_and_end(count) * sizeof(*by_name));
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

/* Notes that the class with a name consists of parts of maps, and the layout of their entries: the
 * first one that is known. Nothing if the series has no class of this name. */
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

/* Finds the classes of buckets, groups, tables and directories by the types that maps lead to. Only
 * those of types that objects have. */
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

/* Assigns each survivor its previous id, and each other object the next one. Ids are odd numbers
 * that increase; error: a series has used them up. */
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
        if (identity->next > limits.last_id)
            return error_create(G2H_ERROR_LIMIT,
                                "%s: the series has more than the %llu objects that can have ids: "
                                "begin another one",
                                after->heap->input->name,
                                (unsigned long long)limits.last_id / 2 + 1);
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
    uint32_t kept_classes[COUNT_OF(kept)];
    _cleanup_(map_classes_deinit) struct map_classes map_classes = {NULL, NULL};
    _cleanup_(matches_deinit) struct matches matches = {.before = &identity->last,
                                                        .after = after,
                                                        .graph = graph,
                                                        .threads = identity->threads,
                                                        .kept_classes = kept_classes};
    for (size_t i = 0; i < COUNT_OF(kept); i++)
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
    TRY(find_holders(graph, identity->threads, &after->holders));
    TRY(identity_find_entries(graph, after));
    identity->first_new = identity->next;
    return identity->last.heap ? identity_match(identity, graph, after)
                               : assign_ids(identity, NULL, after);
}

/* Adds a dump to the series. The new dump becomes the last one only if all has succeeded; the swap
 * leaves the previous one for _cleanup_ to free. */
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
    map_deinit(&identity->held_before);
    identity->held_before = identity->held;
    identity->held = (struct map){0};
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

/* Returns the ID of an object of the heap that was added last. */
uint32_t g2h_identity_object(const struct g2h_identity *identity, uint32_t object)
{
    assert(identity->last.heap && object < identity->last.heap->object_count);
    return identity->last.ids[object];
}

/* Keeps the class that an object has had in the series. An object that was there before keeps the
 * class that it had then; a new one gets the class given, if any. *ret is NULL if it has none.
 * Returns false if memory runs out. */
bool g2h_identity_class(struct g2h_identity *identity, uint32_t object, const char *class,
                        size_t size, const char **ret, size_t *ret_size)
{
    const uint32_t id = g2h_identity_object(identity, object);
    uint32_t number = MAP_NONE;
    *ret = NULL;
    if (id < identity->first_new)
        number = map_get(&identity->held_before, id);
    else if (class && !string_pool_intern(&identity->classes, class, size, &number))
        return false;
    if (number == MAP_NONE)
        return true;
    *ret = string_pool_text(&identity->classes, number, ret_size);
    return map_put(&identity->held, id, number, &number);
}

/* ---- nodes that are not objects ---- */

/* Finds the ID of a node that is not an object. Several nodes may have the same kind and key; they
 * are told apart by their order, which is counted in likes. A node keeps the id that it had in the
 * previous snapshot. Returns false if memory runs out, or the series has used up all ids. */
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
        if (identity->next > limits.last_id)
            return false;
        *ret = (uint32_t)identity->next;
        identity->next += 2;
    }
    return map_put(&identity->nodes, own, *ret, &number);
}

bool g2h_identity_is_full(const struct g2h_identity *identity)
{
    return identity->next > limits.last_id;
}

/* Finds the ID that g2h_identity_node() gave the first node of a kind and key; false if it has not
 * given one. */
bool g2h_identity_find_node(const struct g2h_identity *identity, enum g2h_node_kind kind,
                            uint64_t key, uint32_t *ret)
{
    *ret = map_get(&identity->nodes, map_hash_pair(map_hash_pair(key, kind), 0));
    return *ret != MAP_NONE;
}
