/*
 * leaked: proves which goroutines can never run again; see leaked.h, which has the idea. The steps
 * of leaked_find_all():
 *
 * find_sudogs    what each blocked goroutine (list_blocked) waits on: a runtime.sudog is its place
 *                in a queue
 * mark_roots     marks what all other roots reach, without entering records of goroutines
 * follow_marked  from there into slots, and by handles of weak pointers
 * leaked_drain   marks further; a goroutine whose channel or lock gets a mark is woken: it becomes
 *                a root itself (wake)
 * wake_notified  wakes goroutines that wait for a sync.Cond but are in no list of one any more
 *
 * What is not woken in the end is leaked. A slot is a block of 16 bytes that a small lock shares
 * with other values, where it matters which of them a pointer means; a handle is the word by which
 * weak pointers find an object.
 */
#include "graph/leaked.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/memory.h"
#include "graph/graph.h"
#include "graph/hidden.h"
#include "graph/leak_proof.h"
#include "graph/lock_reach.h"
#include "graph/mark.h"
#include "heap/pointers.h"
#include "roots/builder.h"

#define NOBODY UINT32_MAX

/* The meaning of a wait reason. */
enum wait_kind {
    WAITS_FOR_OTHERS,  /* time, the network, the runtime …: it may run */
    WAITS_FOR_NOTHING, /* no channel, no case */
    WAITS_FOR_CHANNEL,
    WAITS_FOR_SEMAPHORE,
    WAITS_FOR_CONDITION, /* sync.Cond */
};

/* A blocked goroutine. */
struct blocked {
    uint32_t goroutine;  /* number in graph->roots */
    uint32_t g;          /* object of its runtime.g, or NO_TARGET */
    uint32_t first_held; /* in finder->held */
    uint32_t waits;      /* sudogs that have been found */
    uint32_t sudog;      /* WAITS_FOR_CONDITION: the object of one of its sudogs */
    uint32_t condition;  /* the object with the sync.Cond whose list has that sudog, or NO_TARGET */
    uint64_t lock_outside; /* address of a lock, or of a sync.Cond's list, that is not in the heap,
                              or 0 */
    enum wait_kind kind;
    bool is_live, is_main; /* is_main: main.main, in a way of waiting that is no leak */
};

/* An object that a blocked goroutine holds, or that it waits on: a list for each goroutine, or for
 * each object. */
struct leaked_link {
    uint32_t object, blocked, next;
    bool is_of_frame; /* held by a word of a frame */
    uint64_t lock;    /* the address that is waited on */
};

/* The offsets of runtime.sudog's fields; elem and c take two words from 1.26 on. */
struct sudog_layout {
    uint64_t prev, elem, channel, size;
    uint64_t address_words; /* of elem and c */
};

struct leaked_finder {
    const struct g2h_graph *graph;
    struct sudog_layout layout;
    VECTOR(struct blocked) blocked;
    VECTOR(struct leaked_link) held, waits;
    struct map waits_of;            /* object → index of the first link in waits */
    struct map blocked_of_g;        /* object of a runtime.g → index in blocked */
    struct map blocked_of_deferred; /* address of a deferred call, or a panic → index in blocked */
    uint32_t *blocked_of_node;      /* by synthetic node: the index plus 1; 0: none */
    uint64_t *barred;  /* a bit per object that must not be entered: goroutines' records, sudogs of
                          blocked ones, and slots that locks share with other values */
    uint64_t *marks;   /* a bit per object: it is marked, or barred */
    uint64_t *waited;  /* a bit per object: a goroutine waits on it */
    uint64_t *handles; /* a bit per object: it has the handle of a weak pointer. NULL: any small
                          object without pointers may have one */
    uint32_t handle_label; /* string: name of the edges of the roots to handles, or UINT32_MAX */
    bool has_handles, has_shared_slots; /* there may be handles; there are slots that locks share */
    VECTOR(uint32_t) entered;           /* unmarked objects whose pointers count */
    VECTOR(uint32_t) reached;           /* slots that roots reach whose words are not known */
    VECTOR(uint32_t) woken;             /* goroutines that live; what they hold has to be marked */
    VECTOR(uint32_t) stack;             /* objects that are marked and have to be visited */
};

static void leaked_finder_deinit(struct leaked_finder *finder)
{
    free(finder->blocked.data);
    free(finder->held.data);
    free(finder->waits.data);
    map_deinit(&finder->waits_of);
    map_deinit(&finder->blocked_of_g);
    map_deinit(&finder->blocked_of_deferred);
    free(finder->blocked_of_node);
    free(finder->barred);
    free(finder->marks);
    free(finder->waited);
    free(finder->handles);
    free(finder->entered.data);
    free(finder->reached.data);
    free(finder->woken.data);
    free(finder->stack.data);
}

/* Returns the dump's record of a goroutine. */
static const struct g2h_goroutine *record_of(const struct leaked_finder *finder, uint32_t goroutine)
{
    const struct g2h_graph *graph = finder->graph;
    return &graph->heap->goroutines.data[graph->roots.goroutines.data[goroutine].goroutine].record;
}

/* ---- which goroutines are blocked ---- */

/* Classifies a wait by the runtime's own name for it (runtime/runtime2.go: waitReasonStrings).
 * Before 1.20 locks, and before 1.25 sync.WaitGroup, are "semacquire". */
static enum wait_kind leaked_kind_of(const struct g2h_bytes *reason)
{
    static const struct {
        const char *text;
        enum wait_kind kind;
    } reasons[] = {
        {"chan receive", WAITS_FOR_CHANNEL},
        {"chan send", WAITS_FOR_CHANNEL},
        {"select", WAITS_FOR_CHANNEL},
        {"chan receive (nil chan)", WAITS_FOR_NOTHING},
        {"chan send (nil chan)", WAITS_FOR_NOTHING},
        {"select (no cases)", WAITS_FOR_NOTHING},
        {"semacquire", WAITS_FOR_SEMAPHORE},
        {"sync.Mutex.Lock", WAITS_FOR_SEMAPHORE},
        {"sync.RWMutex.Lock", WAITS_FOR_SEMAPHORE},
        {"sync.RWMutex.RLock", WAITS_FOR_SEMAPHORE},
        {"sync.WaitGroup.Wait", WAITS_FOR_SEMAPHORE},
        {"sync.Cond.Wait", WAITS_FOR_CONDITION},
    };
    for (size_t i = 0; i < COUNT_OF(reasons); i++)
        if (bytes_are(*reason, reasons[i].text))
            return reasons[i].kind;
    return WAITS_FOR_OTHERS;
}

/* Returns whether main.main may wait like this as long as the program runs, so that it would not be
 * called a leak: it neither sends nor wants a lock. */
static bool is_way_of_waiting(const struct g2h_goroutine *record)
{
    return !bytes_are(record->wait_reason, "chan send") &&
           !bytes_are(record->wait_reason, "sync.Mutex.Lock") &&
           !bytes_are(record->wait_reason, "sync.RWMutex.Lock") &&
           !bytes_are(record->wait_reason, "sync.RWMutex.RLock");
}

/* Lists the waiting goroutines that neither time, the network nor the runtime will wake. Those of
 * the runtime's own goroutines, and of the one that writes the dump, do not count. */
static struct g2h_error *list_blocked(struct leaked_finder *finder)
{
    const struct g2h_graph *graph = finder->graph;
    for (uint32_t i = 0; i < graph->roots.goroutines.count; i++) {
        const struct g2h_goroutine *record = record_of(finder, i);
        const enum wait_kind kind = leaked_kind_of(&record->wait_reason);
        if ((record->status != GOROUTINE_WAITING && record->status != GOROUTINE_LEAKED) ||
            record->is_system || graph->roots.goroutines.data[i].dumps_heap ||
            kind == WAITS_FOR_OTHERS)
            continue;
        const struct blocked blocked = {.goroutine = i,
                                        .g = heap_find(graph->heap, record->address),
                                        .first_held = NOBODY,
                                        .sudog = NO_TARGET,
                                        .condition = NO_TARGET,
                                        .kind = kind,
                                        .is_main = record->goid == 1 && is_way_of_waiting(record)};
        TRY_MEMORY(vector_push(&finder->blocked, blocked));
    }
    return NULL;
}

/* ---- what they hold ---- */

/* Records the owner of each node that is a blocked goroutine or one of its frames. */
static void note_blocked_nodes(struct leaked_finder *finder)
{
    const struct roots *roots = &finder->graph->roots;
    for (uint32_t i = 0; i < finder->blocked.count; i++) {
        const struct root_goroutine *goroutine =
            &roots->goroutines.data[finder->blocked.data[i].goroutine];
        finder->blocked_of_node[goroutine->node] = i + 1;
        for (uint32_t j = 0; j < goroutine->frame_count; j++)
            finder->blocked_of_node[roots->frames.data[goroutine->first_frame + j].node] = i + 1;
    }
}

/* Finds the goroutines of the deferred calls and panics: only one goroutine runs each. */
static struct g2h_error *note_deferred_calls(struct leaked_finder *finder)
{
    const struct g2h_heap *heap = finder->graph->heap;
    static const enum g2h_record_kind kinds[] = {G2H_RECORD_DEFER, G2H_RECORD_PANIC};
    uint32_t known;
    for (size_t k = 0; k < COUNT_OF(kinds); k++)
        for (size_t i = 0; i < heap->records[kinds[k]].count; i++) {
            struct g2h_record record;
            g2h_heap_record(heap, kinds[k], i, &record);
            const bool is_defer = kinds[k] == G2H_RECORD_DEFER;
            const uint32_t g = heap_find(heap, is_defer ? record.defer.g : record.panic.g);
            const uint32_t blocked = g == NO_TARGET ? MAP_NONE : map_get(&finder->blocked_of_g, g);
            if (blocked != MAP_NONE)
                TRY_MEMORY(map_put(&finder->blocked_of_deferred,
                                   is_defer ? record.defer.address : record.panic.address, blocked,
                                   &known));
        }
    return NULL;
}

/* Returns the index of the blocked goroutine that a synthetic node belongs to (itself, its frame,
 * or its deferred call), or NOBODY. */
static uint32_t blocked_owner_of(const struct leaked_finder *finder, uint32_t node)
{
    const struct synthetic *synthetic = &finder->graph->roots.nodes.data[node];
    if (synthetic->kind == G2H_NODE_DEFER || synthetic->kind == G2H_NODE_PANIC ||
        synthetic->kind == G2H_NODE_DEFERRED_CALLS)
        return map_get(&finder->blocked_of_deferred, synthetic->key);
    return finder->blocked_of_node[node] - 1;
}

/* Returns whether an edge of the roots keeps its target. One of a frame, a goroutine, a thread or a
 * finalizer, or a cleanup that waits to be run, does also if it is weak: then something else holds
 * the target in the graph as a whole, which is perhaps a blocked goroutine. */
static bool leaked_is_kept(const struct leaked_finder *finder, const struct edge *edge)
{
    if (edge->source.of != OF_SYNTHETIC || edge->target.of != OF_OBJECT)
        return false;
    const uint8_t kind = finder->graph->roots.nodes.data[edge->source.index].kind;
    return edge->type != EDGE_WEAK || kind == G2H_NODE_FRAME || kind == G2H_NODE_GOROUTINE ||
           kind == G2H_NODE_OS_THREAD || kind == G2H_NODE_FINALIZER || kind == G2H_NODE_OTHER_ROOTS;
}

/* ---- what they wait on ---- */

/* Computes where runtime.sudog has its fields (runtime/runtime2.go), by the release and the size of
 * a word. */
static struct sudog_layout sudog_layout_of(const struct g2h_heap *heap)
{
    const uint64_t word = heap->params.pointer_size;
    const uint64_t words = heap->go_minor >= 26 ? 2 : 1;
    /* g, next, prev, elem; acquiretime, releasetime, ticket and flags; parent, waitlink, waittail
     */
    const uint64_t channel = 3 * word + words * word + 24 + 3 * word;
    return (struct sudog_layout){.prev = 2 * word,
                                 .elem = 3 * word,
                                 .channel = channel,
                                 .size = channel + words * word,
                                 .address_words = words};
}

/* Returns a word of an object's contents, or 0 beyond their end. */
static uint64_t leaked_word_at(const struct leaked_finder *finder, const struct g2h_object *object,
                               uint64_t offset)
{
    const uint64_t word = finder->graph->heap->params.pointer_size;
    return object->contents.size >= word && offset <= object->contents.size - word
               ? heap_word(finder->graph->heap, object->contents.data + offset)
               : 0;
}

/* Returns the address in elem or c. While the runtime itself looks for leaked goroutines, only the
 * second word has it. */
static uint64_t address_at(const struct leaked_finder *finder, const struct g2h_object *object,
                           uint64_t offset)
{
    const uint64_t word = finder->graph->heap->params.pointer_size;
    const uint64_t first = leaked_word_at(finder, object, offset);
    return first == 0 && finder->layout.address_words > 1
               ? leaked_word_at(finder, object, offset + word)
               : first;
}

/* Returns whether a sudog is in the queue of its channel: all but the first have one before them
 * (prev), and the channel, a runtime.hchan of fewer than HCHAN_WORDS words, points to the first. */
static bool is_queued(const struct leaked_finder *finder, uint32_t channel, uint64_t sudog,
                      const struct g2h_object *contents)
{
    enum { HCHAN_WORDS = 16 };
    const uint64_t word = finder->graph->heap->params.pointer_size;
    struct g2h_object object;
    if (leaked_word_at(finder, contents, finder->layout.prev) != 0)
        return true;
    heap_object(finder->graph->heap, channel, &object);
    for (uint64_t i = 0; i < HCHAN_WORDS; i++)
        if (leaked_word_at(finder, &object, i * word) == sudog)
            return true;
    return false;
}

/* Records that a blocked goroutine waits on an address in an object: adds it to the object's list.
 * Returns false if memory runs out. */
static bool wait_on(struct leaked_finder *finder, uint32_t blocked, uint32_t object, uint64_t lock)
{
    const uint32_t number = as_u32(finder->waits.count);
    uint32_t first = map_get(&finder->waits_of, object);
    const struct leaked_link link = {object, blocked, first == MAP_NONE ? NOBODY : first, false,
                                     lock};
    if (first == MAP_NONE) {
        bits_add(finder->waited, object);
        return map_put(&finder->waits_of, object, number, &first) &&
               vector_push(&finder->waits, link);
    }
    /* Second in the list: the map goes on having the index of the first one. */
    const struct leaked_link second = {object, blocked, finder->waits.data[first].next, false,
                                       lock};
    finder->waits.data[first].next = number;
    return vector_push(&finder->waits, second);
}

/* Adds what a goroutine waits on by a sudog, and bars the sudog; the goroutine is live if that is
 * not in the heap, or if it is being woken. A sudog without an address is not in use, or waits for
 * a sync.Cond before 1.26: the Cond's list alone leads to it. Sudogs of an earlier wait are passed
 * over. */
static struct g2h_error *add_sudog(struct leaked_finder *finder, uint32_t number, uint32_t sudog)
{
    const struct g2h_heap *heap = finder->graph->heap;
    struct blocked *blocked = &finder->blocked.data[number];
    struct g2h_object object;
    heap_object(heap, sudog, &object);
    const uint64_t address = heap_address(heap, sudog),
                   channel = address_at(finder, &object, finder->layout.channel),
                   elem = address_at(finder, &object, finder->layout.elem);
    const bool has_channel = blocked->kind == WAITS_FOR_CHANNEL;
    const uint64_t on = has_channel ? channel : elem;
    /* Where nothing is waited for, this is one of an earlier wait, which is pooled. */
    if (blocked->kind == WAITS_FOR_NOTHING)
        return NULL;
    /* It is another goroutine's, or its fields are not those of the goroutine's way of waiting. */
    if (leaked_word_at(finder, &object, 0) != record_of(finder, blocked->goroutine)->address ||
        (has_channel ? channel == 0 : channel != 0) ||
        (blocked->kind == WAITS_FOR_SEMAPHORE && elem == 0) ||
        (blocked->kind == WAITS_FOR_CONDITION && elem == 0 && heap->go_minor >= 26))
        return NULL;
    blocked->waits++;
    blocked->sudog = sudog;
    if (on == 0) /* of a sync.Cond: whatever reaches the sudog itself can wake the goroutine */
        return wait_on(finder, number, sudog, 0) ? NULL : &error_no_memory;
    const uint32_t target = heap_find(heap, on);
    bits_add(finder->barred, sudog);
    if (target == NO_TARGET && !has_channel) /* a lock in a variable, whose name is shown */
        blocked->lock_outside = on;
    if (target == NO_TARGET || (has_channel && !is_queued(finder, target, address, &object)))
        blocked->is_live = true;
    else
        TRY_MEMORY(wait_on(finder, number, target, on));
    if (target != NO_TARGET && blocked->kind == WAITS_FOR_SEMAPHORE &&
        heap_slot_is_shared(finder->graph->heap, target)) {
        bits_add(finder->barred, target);
        finder->has_shared_slots = true;
    }
    return NULL;
}

/* Sets for each slot class whether its objects may be sudogs, by their size. Returns NULL if memory
 * runs out. */
static bool *leaked_find_classes(const struct leaked_finder *finder)
{
    enum { MOST_SPARE = 16 }; /* between a sudog's size and that of its slot */
    const struct slot_classes *classes = &finder->graph->heap->slot_classes;
    bool *are_sudogs = calloc(classes->list.count + 1, sizeof(*are_sudogs));
    for (size_t i = 0; are_sudogs && i < classes->list.count; i++) {
        const struct slot_class *class = &classes->list.data[i];
        are_sudogs[i] = class->has_pointers && class->size >= finder->layout.size &&
                        class->size <= finder->layout.size + MOST_SPARE;
    }
    return are_sudogs;
}

/* Finds the sudogs of the blocked goroutines among all objects: their first pointer is to a
 * runtime.g. No type is needed for that. */
static struct g2h_error *find_sudogs(struct leaked_finder *finder)
{
    const struct g2h_graph *graph = finder->graph;
    _cleanup_free_ bool *are_sudogs = leaked_find_classes(finder);
    TRY_MEMORY(are_sudogs);
    for (uint32_t i = 0; i < graph->heap->object_count; i++) {
        const uint32_t *end, *target;
        if (!are_sudogs[heap_slot_class_number(graph->heap, i)] || !targets_lead(graph->targets, i))
            continue;
        target = object_targets(graph, i, &end);
        if (target == end || *target == NO_TARGET || !is_marked(finder->barred, *target))
            continue;
        const uint32_t blocked = map_get(&finder->blocked_of_g, *target);
        if (blocked != MAP_NONE)
            TRY(add_sudog(finder, blocked, i));
    }
    return NULL;
}

/* ---- marking ---- */

static bool follow_handle(struct leaked_finder *finder, uint32_t object);

/* Makes a goroutine live, unless it is; leaked_drain() marks what it holds. Returns false if memory
 * runs out. */
static bool wake(struct leaked_finder *finder, struct blocked *blocked)
{
    if (blocked->is_live)
        return true;
    blocked->is_live = true;
    return vector_push(&finder->woken, (uint32_t)(blocked - finder->blocked.data));
}

/* Makes those goroutines live that wait on a lock in an object, if the lock begins within reach
 * bytes after a pointer, or has the pointer inside. Returns false if memory runs out. */
static bool wake_waiters_of(struct leaked_finder *finder, uint32_t object, uint64_t pointer,
                            uint64_t reach)
{
    enum { SEMAPHORE = 4 /* bytes of a uint32, which a pointer may lead into */ };
    for (uint32_t i = map_get(&finder->waits_of, object); i != MAP_NONE && i != NOBODY;
         i = finder->waits.data[i].next) {
        const uint64_t lock = finder->waits.data[i].lock;
        if ((pointer <= lock ? lock - pointer < reach : pointer - lock < SEMAPHORE) &&
            !wake(finder, &finder->blocked.data[finder->waits.data[i].blocked]))
            return false;
    }
    return true;
}

/* Makes all goroutines live that wait on an object, since a live one can reach it. Returns false if
 * memory runs out. */
static bool wake_all_of(struct leaked_finder *finder, uint32_t object)
{
    return wake_waiters_of(finder, object, 0, REACH_UNKNOWN);
}

/* Follows a pointer into a slot that locks share with other values: makes those goroutines live
 * that wait on a lock which begins within reach bytes after the pointer, or has it inside; and
 * marks what a weak handle in the slot leads to. The slot itself is not marked: see leaked_mark().
 * Returns false if memory runs out. */
static bool point_into_shared_slot(struct leaked_finder *finder, uint64_t pointer, uint64_t reach)
{
    const uint32_t slot = heap_find(finder->graph->heap, pointer);
    return wake_waiters_of(finder, slot, pointer, reach) && follow_handle(finder, slot);
}

/* Returns whether an object is a slot that a lock shares with other values. */
static bool is_shared_slot(const struct leaked_finder *finder, uint32_t object)
{
    return object != NO_TARGET && finder->has_shared_slots && is_marked(finder->barred, object) &&
           heap_slot_is_shared(finder->graph->heap, object);
}

/* Marks an object, which is visited later. Those that are barred have their marks from the begin,
 * and are never visited; among them are slots that locks share, as only some of the pointers to
 * such a slot lead to the lock. Returns false if memory runs out. */
static bool leaked_mark(struct leaked_finder *finder, uint32_t object)
{
    if (is_marked(finder->marks, object))
        return true;
    bits_add(finder->marks, object);
    return vector_push(&finder->stack, object);
}

/* Marks what the handles of weak pointers in an object lead to, since weak.Pointer.Value() does:
 * each word of a handle is an address, which the collector does not follow. Returns false if memory
 * runs out. */
static bool follow_handle(struct leaked_finder *finder, uint32_t object)
{
    const struct g2h_heap *heap = finder->graph->heap;
    const uint64_t word = heap->params.pointer_size;
    if (!finder->has_handles || !heap_slot_is_shared(finder->graph->heap, object) ||
        (finder->handles && !is_marked(finder->handles, object)))
        return true;
    const struct g2h_bytes contents = heap_contents(heap, object);
    for (uint64_t offset = 0; offset + word <= contents.size; offset += word) {
        const uint64_t value = heap_word(heap, contents.data + offset);
        const uint32_t target = heap_find(heap, value);
        if (target == NO_TARGET)
            continue;
        if (is_shared_slot(finder, target) ? !wake_waiters_of(finder, target, value, REACH_UNKNOWN)
                                           : !leaked_mark(finder, target))
            return false;
    }
    return true;
}

/* Follows the pointers of an object into slots that locks share with other values. Returns false if
 * memory runs out. */
static bool follow_into_shared_slots(struct leaked_finder *finder, uint32_t object)
{
    const struct g2h_heap *heap = finder->graph->heap;
    struct pointers pointers;
    uint64_t offset, value;
    pointers_of(heap, object, heap_slot_class(heap, object), &pointers);
    while (pointers_next(&pointers, &offset, &value))
        if (is_shared_slot(finder, heap_find(heap, value)) &&
            !point_into_shared_slot(finder, value,
                                    reach_from_object(finder->graph, object, offset)))
            return false;
    return true;
}

/* Marks what an object leads to, and wakes the goroutines that wait on it. Returns false if memory
 * runs out. */
static bool leaked_visit(struct leaked_finder *finder, uint32_t object)
{
    const uint32_t *end;
    const uint32_t *target = object_targets(finder->graph, object, &end);
    bool has_shared_slots = false;
    if ((is_marked(finder->waited, object) && !wake_all_of(finder, object)) ||
        !follow_handle(finder, object))
        return false;
    /* leaked_mark() does nothing for shared slots: those need the pointers' values, too. */
    for (; target < end; target++) {
        if (*target != NO_TARGET && !leaked_mark(finder, *target))
            return false;
        has_shared_slots |= is_shared_slot(finder, *target);
    }
    return !has_shared_slots || follow_into_shared_slots(finder, object);
}

/* Returns whether the preemption of a goroutine has put registers into a frame, or interrupted it.
 * There the dumper of the runtime lists too few words. */
static bool is_preempted(const struct leaked_finder *finder, const struct root_goroutine *goroutine,
                         uint32_t i)
{
    enum { MOST = 4 }; /* innermost frames to look at */
    const struct root_frame *frames = &finder->graph->roots.frames.data[goroutine->first_frame];
    /* The frame inside this one, or itself. */
    for (uint32_t j = i > 0 ? i - 1 : 0; j <= i && j < MOST; j++)
        if (bytes_are(heap_frame(finder->graph->heap, frames[j].frame).function,
                      "runtime.asyncPreempt"))
            return true;
    return false;
}

/* Follows the words of a goroutine's frames into slots that locks share with other values: those
 * that are listed, if all others are known to be dead. Returns false if memory runs out. */
static bool follow_frames(struct leaked_finder *finder, const struct root_goroutine *goroutine)
{
    const struct g2h_heap *heap = finder->graph->heap;
    const struct root_frame *frames = &finder->graph->roots.frames.data[goroutine->first_frame];
    for (uint32_t i = 0; i < goroutine->frame_count && finder->has_shared_slots; i++) {
        const struct heap_stack_frame frame = heap_frame(heap, frames[i].frame);
        struct pointers pointers;
        uint64_t offset, value;
        if (heap->facts.has_stack_objects && !is_preempted(finder, goroutine, i))
            pointers_of_fields(heap, frame.contents, frame.fields, &pointers);
        else
            pointers_of_words(heap, frame.contents, &pointers);
        while (pointers_next(&pointers, &offset, &value))
            if (is_shared_slot(finder, heap_find(heap, value)) &&
                !point_into_shared_slot(finder, value, REACH_UNKNOWN))
                return false;
    }
    return true;
}

/* Marks everything that the frames and the record of a goroutine hold. Returns false if memory runs
 * out. */
static bool leaked_hold(struct leaked_finder *finder, const struct blocked *blocked)
{
    for (uint32_t i = blocked->first_held; i != NOBODY; i = finder->held.data[i].next) {
        const struct leaked_link *link = &finder->held.data[i];
        /* follow_frames() does it for a word of a frame, by the word's value. */
        if (is_shared_slot(finder, link->object)
                ? !link->is_of_frame && !wake_all_of(finder, link->object)
                : !leaked_mark(finder, link->object))
            return false;
    }
    return follow_frames(finder, &finder->graph->roots.goroutines.data[blocked->goroutine]) &&
           (blocked->g == NO_TARGET || vector_push(&finder->stack, blocked->g));
}

/* Marks everything that the objects on the stack and the goroutines that live reach, and wakes the
 * goroutines that wait on any of it. Returns false if memory runs out. */
static bool leaked_drain(struct leaked_finder *finder)
{
    while (finder->woken.count + finder->stack.count > 0)
        if (finder->woken.count > 0
                ? !leaked_hold(finder,
                               &finder->blocked.data[finder->woken.data[--finder->woken.count]])
                : !leaked_visit(finder, finder->stack.data[--finder->stack.count]))
            return false;
    return true;
}

/* ---- roots ---- */

/* Pushes what an object points to, which is not marked itself. Returns false if memory runs out. */
static bool push_targets(struct leaked_finder *finder, struct marker *marker, uint32_t object)
{
    const uint32_t *end;
    const uint32_t *target = object_targets(finder->graph, object, &end);
    for (; target < end; target++)
        if (*target != NO_TARGET && !marker_push(marker, *target))
            return false;
    return vector_push(&finder->entered, object);
}

/* Returns whether a node is memory whose words follow_frames() and follow_segments() read later:
 * frames, and variables of packages. The value of a word says to which part of a slot it points, so
 * push_edge() ignores their edges into slots; an edge of any other node wakes all that wait on the
 * slot (finder->reached). */
static bool has_words(const struct synthetic *node)
{
    return node->kind == G2H_NODE_FRAME || node->kind == G2H_NODE_PACKAGE ||
           node->kind == G2H_NODE_VARIABLE || node->kind == G2H_NODE_DATA ||
           node->kind == G2H_NODE_BSS;
}

/* Pushes the target of an edge, or keeps it for the blocked goroutine that it belongs to. A
 * finalizer needs not its object, which it waits for, but what the object points to. Returns false
 * if memory runs out. */
static bool push_edge(struct leaked_finder *finder, struct marker *marker, const struct edge *edge)
{
    const struct synthetic *source = &finder->graph->roots.nodes.data[edge->source.index];
    const uint32_t number = blocked_owner_of(finder, edge->source.index),
                   target = edge->target.index;
    if (number != NOBODY) {
        struct blocked *blocked = &finder->blocked.data[number];
        const struct leaked_link link = {target, number, blocked->first_held,
                                         source->kind == G2H_NODE_FRAME, 0};
        blocked->first_held = as_u32(finder->held.count);
        return vector_push(&finder->held, link);
    }
    if (source->kind == G2H_NODE_FINALIZER && heap_find(finder->graph->heap, source->key) == target)
        return push_targets(finder, marker, target);
    if (source->kind == G2H_NODE_OTHER_ROOTS && edge->name == finder->handle_label)
        return true; /* a handle leads to its object only by a weak pointer */
    if (is_shared_slot(finder, target))
        return has_words(source) || vector_push(&finder->reached, target);
    return marker_push(marker, target);
}

/* Pushes the objects that any word of a frame points to, into them too. Returns false if memory
 * runs out. */
static bool push_words(const struct leaked_finder *finder, struct marker *marker, uint32_t number)
{
    const struct g2h_heap *heap = finder->graph->heap;
    struct pointers pointers;
    uint64_t offset, value;
    pointers_of_words(heap, heap_frame(heap, number).contents, &pointers);
    while (pointers_next(&pointers, &offset, &value)) {
        const uint32_t object = heap_find(heap, value);
        if (object != NO_TARGET && !marker_push(marker, object))
            return false;
    }
    return true;
}

/* Pushes what a goroutine may hold in registers that its preemption has put on the stack, and in
 * the frame that was preempted. Returns false if memory runs out. */
static bool push_preempted(const struct leaked_finder *finder, struct marker *marker,
                           const struct root_goroutine *goroutine)
{
    for (uint32_t i = 0; i < goroutine->frame_count; i++)
        if (is_preempted(finder, goroutine, i) &&
            !push_words(finder, marker,
                        finder->graph->roots.frames.data[goroutine->first_frame + i].frame))
            return false;
    return true;
}

/* Pushes what the records of goroutines that may run hold, because these records are barred.
 * Returns false if memory runs out. */
static bool push_live(struct leaked_finder *finder, struct marker *marker)
{
    const struct g2h_graph *graph = finder->graph;
    for (uint32_t i = 0; i < graph->roots.goroutines.count; i++) {
        const struct root_goroutine *goroutine = &graph->roots.goroutines.data[i];
        const uint32_t g = heap_find(graph->heap, record_of(finder, i)->address);
        if (finder->blocked_of_node[goroutine->node] == 0 &&
            !(push_preempted(finder, marker, goroutine) &&
              (g == NO_TARGET || push_targets(finder, marker, g))))
            return false;
    }
    return true;
}

/* Marks everything that the roots reach without the blocked goroutines, and the garbage that may
 * belong to cleanups. */
static struct g2h_error *mark_roots(struct leaked_finder *finder, const uint64_t *live)
{
    const struct g2h_graph *graph = finder->graph;
    const uint32_t objects = graph->heap->object_count;
    _cleanup_(hidden_deinit) struct hidden hidden = {.kind = HIDDEN_NONE};
    _cleanup_(marker_deinit) struct marker marker = {
        .targets = graph->targets, .marks = finder->marks, .threads = graph->threads};
    VECTOR_EACH(const struct edge, edge, graph->roots.edges)
        if (leaked_is_kept(finder, edge))
            TRY_MEMORY(push_edge(finder, &marker, edge));
    TRY_MEMORY(push_live(finder, &marker));
    TRY(hidden_init(graph, &hidden));
    if (hidden.kind != HIDDEN_NONE)
        for (uint32_t i = 0; (i = next_unmarked(live, i, objects)) < objects; i++)
            TRY_MEMORY(!hidden_has(&hidden, i) || marker_push(&marker, i));
    return marker_drain(&marker);
}

/* ---- slots and handles that the roots reach ---- */

/* The pointers in the variables of packages, one after the other: starts as all 0 but for heap. */
struct static_pointers {
    const struct g2h_heap *heap;
    size_t kind, next; /* the record that comes next */
    struct g2h_record record;
    struct pointers pointers; /* of the record, if next is not 0 */
};

/* Gets the next pointer of all data and bss segments, and its offset in its segment, which is
 * walk->record. Returns false at the end. */
static bool static_pointers_next(struct static_pointers *walk, uint64_t *ret_offset,
                                 uint64_t *ret_value)
{
    static const enum g2h_record_kind kinds[] = {G2H_RECORD_DATA, G2H_RECORD_BSS};
    while (walk->next == 0 || !pointers_next(&walk->pointers, ret_offset, ret_value)) {
        while (walk->next == walk->heap->records[kinds[walk->kind]].count) {
            walk->next = 0;
            if (++walk->kind == COUNT_OF(kinds))
                return false;
        }
        g2h_heap_record(walk->heap, kinds[walk->kind], walk->next++, &walk->record);
        pointers_of_fields(walk->heap, walk->record.segment.contents, walk->record.segment.fields,
                           &walk->pointers);
    }
    return true;
}

/* Follows the variables of packages into slots that locks share with other values. Returns false if
 * memory runs out. */
static bool follow_segments(struct leaked_finder *finder)
{
    struct static_pointers walk = {.heap = finder->graph->heap};
    uint64_t offset, value;
    while (static_pointers_next(&walk, &offset, &value))
        if (is_shared_slot(finder, heap_find(walk.heap, value)) &&
            !point_into_shared_slot(
                finder, value, reach_from_segment(finder->graph, &walk.record.segment, offset)))
            return false;
    return true;
}

/* Follows what all roots but the blocked goroutines lead to into slots. Returns false if memory
 * runs out. */
static bool follow_roots(struct leaked_finder *finder)
{
    const struct g2h_graph *graph = finder->graph;
    for (size_t i = 0; i < finder->reached.count; i++)
        if (!wake_all_of(finder, finder->reached.data[i]))
            return false;
    for (size_t i = 0; i < finder->entered.count; i++)
        if (!follow_into_shared_slots(finder, finder->entered.data[i]))
            return false;
    for (uint32_t i = 0; i < graph->roots.goroutines.count; i++)
        if (finder->blocked_of_node[graph->roots.goroutines.data[i].node] == 0 &&
            !follow_frames(finder, &graph->roots.goroutines.data[i]))
            return false;
    return follow_segments(finder);
}

/* Follows the marked objects into slots that locks share with other values, and by handles of weak
 * pointers: the marker follows only the pointers to whole objects. */
static struct g2h_error *follow_marked(struct leaked_finder *finder)
{
    const struct g2h_graph *graph = finder->graph;
    TRY_MEMORY(!finder->has_shared_slots || follow_roots(finder));
    for (uint32_t i = 0; i < graph->heap->object_count; i++) {
        const uint32_t *end, *target;
        bool has_shared_slots = false;
        if (!is_marked(finder->marks, i) || is_marked(finder->barred, i))
            continue;
        TRY_MEMORY(follow_handle(finder, i));
        if (!finder->has_shared_slots || !targets_lead(graph->targets, i))
            continue;
        for (target = object_targets(graph, i, &end); target < end && !has_shared_slots; target++)
            has_shared_slots = is_shared_slot(finder, *target);
        TRY_MEMORY(!has_shared_slots || follow_into_shared_slots(finder, i));
    }
    return NULL;
}

/* Finds the handles of weak pointers. A process's records name them; a dump of WriteHeapDump has
 * none. */
static struct g2h_error *find_handles(struct leaked_finder *finder)
{
    static const char name[] = "weak handle";
    const struct g2h_graph *graph = finder->graph;
    const struct g2h_heap *heap = graph->heap;
    finder->has_handles = heap->go_minor >= FIRST_WITH_WEAK_HANDLES;
    finder->handle_label = UINT32_MAX;
    if (!finder->has_handles || !heap->facts.has_stack_objects)
        return NULL;
    string_pool_find(&graph->names.strings, name, sizeof(name) - 1, &finder->handle_label);
    finder->handles = zeroed_alloc(heap->object_count / 64 + 1, sizeof(*finder->handles));
    TRY_MEMORY(finder->handles);
    for (size_t i = 0; i < heap->records[G2H_RECORD_OTHERROOT].count; i++) {
        struct g2h_record record;
        g2h_heap_record(heap, G2H_RECORD_OTHERROOT, i, &record);
        const uint32_t handle = heap_find(heap, record.otherroot.pointer);
        if (handle != NO_TARGET && bytes_are(record.otherroot.description, name))
            bits_add(finder->handles, handle);
    }
    return NULL;
}

/* ---- sync.Cond ---- */

/* Sudogs of goroutines that wait for a sync.Cond, and which of them are in a list. Before 1.26 some
 * may be of earlier waits: the runtime keeps these to use them again, and they still have their
 * goroutine. */
struct conditions {
    struct map by_sudog; /* object → index in blocked */
    bool *is_listed;     /* by index in blocked */
    bool has_owners;     /* sudogs lead to their sync.Cond, as since 1.26 */
};

static void conditions_deinit(struct conditions *conditions)
{
    map_deinit(&conditions->by_sudog);
    free(conditions->is_listed);
}

/* Returns the index of the goroutine of a sudog at an address, and gets the sudog after it; or
 * MAP_NONE. */
static uint32_t sudog_at(const struct leaked_finder *finder, const struct conditions *conditions,
                         uint64_t address, uint64_t *ret_next)
{
    const struct g2h_heap *heap = finder->graph->heap;
    const uint32_t sudog = address == 0 ? NO_TARGET : heap_find(heap, address);
    struct g2h_object object;
    *ret_next = 0;
    if (sudog == NO_TARGET || heap_address(heap, sudog) != address)
        return MAP_NONE;
    heap_object(heap, sudog, &object);
    *ret_next = leaked_word_at(finder, &object, heap->params.pointer_size); /* after g */
    return map_get(&conditions->by_sudog, sudog);
}

/* Returns whether two addresses are those of the first and the last sudog of a list: each leads to
 * the next one. Two that are pooled do not. */
static bool is_list_of(const struct leaked_finder *finder, const struct conditions *conditions,
                       uint64_t first, uint64_t last)
{
    for (size_t i = 0; i < conditions->by_sudog.count; i++) { /* a list of more is a circle */
        uint64_t next;
        if (sudog_at(finder, conditions, first, &next) == MAP_NONE)
            return false;
        if (first == last)
            return next == 0;
        first = next;
    }
    return false;
}

/* Notes for the goroutines of a list of sudogs, the first of which is at an address, what has the
 * list: an object (owner), or NO_TARGET and an address outside of the heap. */
static void set_owner_of_list(struct leaked_finder *finder, const struct conditions *conditions,
                              uint64_t first, uint32_t owner, uint64_t outside)
{
    uint64_t next;
    uint32_t number = sudog_at(finder, conditions, first, &next);
    for (size_t i = 0; number != MAP_NONE && i < conditions->by_sudog.count; i++) {
        struct blocked *blocked = &finder->blocked.data[number];
        blocked->condition = owner;
        blocked->lock_outside = outside;
        conditions->is_listed[number] |= owner != NO_TARGET;
        number = sudog_at(finder, conditions, next, &next);
    }
}

/* Finds the lists of sync.Conds in an object. A list has numbers of those that have come and of
 * those that were notified, which differ then, a lock, the first sudog and the last one (notifyList
 * of runtime/sema.go). */
static void find_lists_in(struct leaked_finder *finder, const struct conditions *conditions,
                          uint32_t owner)
{
    const uint64_t word = finder->graph->heap->params.pointer_size;
    const uint64_t before = 8 + word; /* two numbers of 32 bits, and the lock in a word */
    struct g2h_object object;
    heap_object(finder->graph->heap, owner, &object);
    for (uint64_t at = before; at < object.contents.size; at += word) {
        const uint64_t first = leaked_word_at(finder, &object, at),
                       last = leaked_word_at(finder, &object, at + word);
        const uint8_t *numbers = object.contents.data + at - before;
        if (first != 0 && last != 0 && memcmp(numbers, numbers + 4, 4) != 0 &&
            is_list_of(finder, conditions, first, last))
            set_owner_of_list(finder, conditions, first, owner, 0);
    }
}

/* Lists sudogs of goroutines that wait for a sync.Cond: from 1.26 on those of goroutines that are
 * not live, before that those that do not lead to their sync.Cond. Returns false if memory runs
 * out. */
static bool conditions_list(const struct leaked_finder *finder, struct conditions *conditions)
{
    uint32_t known;
    conditions->has_owners = finder->graph->heap->go_minor >= 26;
    conditions->is_listed = calloc(finder->blocked.count + 1, sizeof(*conditions->is_listed));
    if (!conditions->is_listed)
        return false;
    for (uint32_t i = 0; conditions->has_owners && i < finder->blocked.count; i++) {
        const struct blocked *blocked = &finder->blocked.data[i];
        if (blocked->kind == WAITS_FOR_CONDITION && blocked->waits > 0 && !blocked->is_live &&
            !map_put(&conditions->by_sudog, blocked->sudog, i, &known))
            return false;
    }
    for (size_t i = 0; !conditions->has_owners && i < finder->waits.count; i++) {
        const struct leaked_link *link = &finder->waits.data[i];
        if (finder->blocked.data[link->blocked].kind == WAITS_FOR_CONDITION && link->lock == 0 &&
            !map_put(&conditions->by_sudog, link->object, link->blocked, &known))
            return false;
    }
    return true;
}

/* Finds the objects that point to the sudogs of goroutines that wait for a sync.Cond: those of
 * goroutines that are being woken are in no list any more. */
static void find_lists(struct leaked_finder *finder, const struct conditions *conditions)
{
    const struct g2h_graph *graph = finder->graph;
    for (uint32_t i = 0; i < graph->heap->object_count; i++) {
        const uint32_t *end;
        const uint32_t *target = object_targets(graph, i, &end);
        bool has_some = false;
        for (; target < end; target++) {
            const uint32_t number =
                *target == NO_TARGET ? MAP_NONE : map_get(&conditions->by_sudog, *target);
            /* The goroutine's own record leads to its sudog in any case. */
            if (number == MAP_NONE || i == finder->blocked.data[number].g)
                continue;
            has_some = true;
            conditions->is_listed[number] |= conditions->has_owners;
        }
        /* A sudog leads to the next one of its list, and has none itself. */
        if (has_some && !conditions->has_owners && map_get(&conditions->by_sudog, i) == MAP_NONE)
            find_lists_in(finder, conditions, i);
    }
}

/* Finds the lists of sync.Conds that are variables of packages. A list is two pointers in a row, to
 * its first and last sudog. */
static void find_static_lists(struct leaked_finder *finder, const struct conditions *conditions)
{
    struct static_pointers walk = {.heap = finder->graph->heap};
    uint64_t offset, value, first = 0, at = 0;
    while (static_pointers_next(&walk, &offset, &value)) {
        const uint64_t address = walk.record.segment.address + offset;
        if (first != 0 && address - at == walk.heap->params.pointer_size &&
            is_list_of(finder, conditions, first, value))
            set_owner_of_list(finder, conditions, first, NO_TARGET, at);
        first = value;
        at = address;
    }
}

/* Wakes the goroutines that are in no list of a sync.Cond any more: no object points to their
 * sudog, because they are being woken. Finds the sync.Conds of the others. */
static struct g2h_error *wake_notified(struct leaked_finder *finder)
{
    _cleanup_(conditions_deinit) struct conditions conditions = {.has_owners = false};
    TRY_MEMORY(conditions_list(finder, &conditions));
    if (conditions.by_sudog.count == 0)
        return NULL;
    find_lists(finder, &conditions);
    if (!conditions.has_owners)
        find_static_lists(finder, &conditions);
    for (uint32_t i = 0; i < finder->blocked.count; i++) {
        struct blocked *blocked = &finder->blocked.data[i];
        if (blocked->kind == WAITS_FOR_CONDITION && !blocked->is_live && !conditions.is_listed[i])
            TRY_MEMORY(wake(finder, blocked));
    }
    return leaked_drain(finder) ? NULL : &error_no_memory;
}

/* ---- the whole search ---- */

/* Prepares the search: marks all records of goroutines (runtime.g), which lead to everything and
 * must not be entered, and finds which roots are blocked goroutines', what these wait on, and the
 * handles of weak pointers. */
static struct g2h_error *leaked_init(struct leaked_finder *finder)
{
    const struct g2h_graph *graph = finder->graph;
    const size_t words = graph->heap->object_count / 64 + 1;
    uint32_t known;
    finder->layout = sudog_layout_of(graph->heap);
    finder->barred = zeroed_alloc(words, sizeof(*finder->barred));
    finder->marks = zeroed_alloc(words, sizeof(*finder->marks));
    finder->waited = zeroed_alloc(words, sizeof(*finder->waited));
    finder->blocked_of_node =
        zeroed_alloc(graph->roots.nodes.count + 1, sizeof(*finder->blocked_of_node));
    TRY_MEMORY(finder->barred && finder->marks && finder->waited && finder->blocked_of_node);
    for (uint32_t i = 0; i < graph->roots.goroutines.count; i++) {
        const uint32_t g = heap_find(graph->heap, record_of(finder, i)->address);
        if (g != NO_TARGET)
            bits_add(finder->barred, g);
    }
    for (uint32_t i = 0; i < finder->blocked.count; i++)
        if (finder->blocked.data[i].g != NO_TARGET)
            TRY_MEMORY(map_put(&finder->blocked_of_g, finder->blocked.data[i].g, i, &known));
    note_blocked_nodes(finder);
    TRY(note_deferred_calls(finder));
    TRY(find_sudogs(finder));
    memcpy(finder->marks, finder->barred, words * sizeof(*finder->marks));
    return find_handles(finder);
}

/* Wakes goroutines until nothing changes, as the collector of Go 1.26 does to find leaked
 * goroutines; those that are still blocked are leaked. A goroutine that waits on nothing known
 * counts as live. */
static struct g2h_error *leaked_find_all(struct leaked_finder *finder, const uint64_t *live)
{
    TRY(leaked_init(finder));
    TRY(mark_roots(finder, live));
    for (uint32_t i = 0; i < finder->blocked.count; i++) {
        struct blocked *blocked = &finder->blocked.data[i];
        const bool is_live =
            blocked->is_live || (blocked->kind != WAITS_FOR_NOTHING && blocked->waits == 0);
        blocked->is_live = false; /* until it is woken: wake() passes over live ones */
        if (is_live)
            TRY_MEMORY(wake(finder, blocked));
    }
    /* mark_roots() has marked by the marker, which knows nothing of goroutines. */
    for (size_t i = 0; i < finder->waits.count; i++)
        if (is_marked(finder->marks, finder->waits.data[i].object) &&
            !is_marked(finder->barred, finder->waits.data[i].object))
            TRY_MEMORY(wake(finder, &finder->blocked.data[finder->waits.data[i].blocked]));
    TRY(follow_marked(finder));
    TRY_MEMORY(leaked_drain(finder));
    return wake_notified(finder);
}

/* Keeps what blocked goroutines wait on that is no channel: the roots lead to channels already. Of
 * a sync.Cond before 1.26 that is what has its list. */
static struct g2h_error *leaked_keep_waits(const struct leaked_finder *finder, struct leaked *ret)
{
    const struct root_goroutine *goroutines = finder->graph->roots.goroutines.data;
    VECTOR_EACH(const struct leaked_link, link, finder->waits) {
        const struct blocked *blocked = &finder->blocked.data[link->blocked];
        const struct leaked_wait wait = {goroutines[blocked->goroutine].node, link->object, 0};
        if (blocked->kind != WAITS_FOR_CHANNEL && link->lock != 0)
            TRY_MEMORY(vector_push(&ret->waits, wait));
    }
    VECTOR_EACH(const struct blocked, blocked, finder->blocked) {
        const struct leaked_wait wait = {goroutines[blocked->goroutine].node, blocked->condition,
                                         blocked->lock_outside};
        if (wait.object != NO_TARGET || wait.address != 0)
            TRY_MEMORY(vector_push(&ret->waits, wait));
    }
    return NULL;
}

/* Marks the nodes of the leaked goroutines: blocked ones that are not live. main.main may wait as
 * long as the program runs, so it is never one. */
static struct g2h_error *leaked_keep(const struct leaked_finder *finder, struct leaked *ret)
{
    const struct roots *roots = &finder->graph->roots;
    ret->nodes = zeroed_alloc(roots->nodes.count / 64 + 1, sizeof(*ret->nodes));
    TRY_MEMORY(ret->nodes);
    for (uint32_t i = 0; i < finder->blocked.count; i++) {
        const struct blocked *blocked = &finder->blocked.data[i];
        if (blocked->is_live || blocked->is_main)
            continue;
        bits_add(ret->nodes, roots->goroutines.data[blocked->goroutine].node);
        ret->count++;
    }
    return NULL;
}

/* Finds the goroutines that nothing can wake. If no goroutine is blocked, or nothing could be
 * proved, the expensive search is skipped. */
struct g2h_error *leaked_find(const struct g2h_graph *graph, const uint64_t *marks,
                              struct leaked *ret)
{
    _cleanup_(leaked_finder_deinit) struct leaked_finder finder = {.graph = graph};
    TRY(list_blocked(&finder));
    *ret = (struct leaked){.blocked = finder.blocked.count};
    ret->proof = leak_proof_of(graph->heap, graph->exe, &ret->reason);
    if (finder.blocked.count == 0 || ret->proof != G2H_LEAKS_PROVED)
        return NULL;
    TRY(leaked_find_all(&finder, marks));
    TRY(leaked_keep_waits(&finder, ret));
    return leaked_keep(&finder, ret);
}

void leaked_deinit(struct leaked *leaked)
{
    free(leaked->nodes);
    free(leaked->waits.data);
    map_deinit(&leaked->variables);
    string_pool_deinit(&leaked->names);
    *leaked = (struct leaked){0};
}
