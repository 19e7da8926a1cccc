/*
 * hidden: which objects that look like garbage may be held by cleanups that the dump does not show;
 * see hidden.h. hidden_init() finds whether there are any closures of runtime.AddCleanup at all,
 * and which functions goroutines and defers run; hidden_has() then decides for one object, by the
 * code that it begins with. In doubt an object may be held.
 */
#include "graph/hidden.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/map.h"
#include "exe/exe.h"
#include "heap/heap.h"
#include "typing/typing.h"

enum {
    SINCE_CLEANUPS = 24, /* Go 1.24 */
    SINCE_BOXES = 26,
    MOST_OF_CLOSURE = 64, /* bytes of a cleanup's closure; it has at most four words */
};

/* Returns the first word of an object, by which a closure has its code; 0: it has none. */
static uint64_t hidden_code_of(const struct g2h_graph *graph, uint32_t number)
{
    struct g2h_object object;
    heap_object(graph->heap, number, &object);
    return object.contents.size < graph->heap->params.pointer_size
               ? 0
               : heap_word(graph->heap, object.contents.data);
}

/* Returns whether an object begins with the code of a closure that runtime.AddCleanup makes. */
static bool hidden_is_closure(const struct g2h_graph *graph, uint32_t object)
{
    return map_get(&graph->typing->cleanup_by_entry, hidden_code_of(graph, object)) != MAP_NONE;
}

/* Returns whether the heap has any such closure. */
static bool hidden_has_closures(const struct g2h_graph *graph)
{
    for (uint32_t i = 0; i < graph->heap->object_count; i++)
        if (heap_object_size(graph->heap, i) <= MOST_OF_CLOSURE && hidden_is_closure(graph, i))
            return true;
    return false;
}

/* Finds which objects may belong to a cleanup, by the release, and by what is known of the code.
 * Since Go 1.26 the closure does not lead to the function and its argument. */
static enum hidden_kind hidden_kind_of(const struct g2h_graph *graph)
{
    const struct g2h_heap *heap = graph->heap;
    if (heap->go_minor < SINCE_CLEANUPS || heap->facts.has_stack_objects)
        return HIDDEN_NONE; /* a process's records have all of it */
    if (!graph->typing || !graph->exe || graph->typing->has_inlined_cleanups)
        return HIDDEN_ALL;
    if (graph->typing->cleanup_by_entry.count == 0 || !hidden_has_closures(graph))
        return HIDDEN_NONE;
    return heap->go_minor < SINCE_BOXES ? HIDDEN_CLOSURES : HIDDEN_OTHERS;
}

/* Collects the functions that goroutines run: those of their outermost frames, but for the
 * runtime's own frame below. They have no parameters. */
static struct g2h_error *hidden_find_started(struct hidden *hidden)
{
    const struct roots *roots = &hidden->graph->roots;
    uint32_t known;
    VECTOR_EACH(const struct root_goroutine, goroutine, roots->goroutines) {
        for (uint32_t j = goroutine->frame_count; j > 0; j--) {
            const struct heap_stack_frame frame = heap_frame(
                hidden->graph->heap, roots->frames.data[goroutine->first_frame + j - 1].frame);
            if (bytes_are(frame.function, "runtime.goexit"))
                continue;
            TRY_MEMORY(map_put(&hidden->started, frame.entry, 1, &known));
            break;
        }
    }
    return NULL;
}

/* Finds out what may be hidden in the heap of a graph. */
struct g2h_error *hidden_init(const struct g2h_graph *graph, struct hidden *ret)
{
    *ret = (struct hidden){.graph = graph, .kind = hidden_kind_of(graph)};
    return ret->kind == HIDDEN_OTHERS ? hidden_find_started(ret) : NULL;
}

void hidden_deinit(struct hidden *hidden)
{
    map_deinit(&hidden->started);
}

/* Returns whether code is a function without parameters that a go or defer statement runs: one that
 * some goroutine runs, or one that the compiler has made of a statement with arguments. */
static bool hidden_is_started(const struct hidden *hidden, uint64_t code)
{
    struct g2h_bytes name;
    uint64_t entry;
    if (map_get(&hidden->started, code) != MAP_NONE)
        return true;
    return exe_function_at(hidden->graph->exe, code, &name, &entry) && entry == code &&
           (bytes_contain(name, ".gowrap") || bytes_contain(name, ".deferwrap"));
}

/* Returns whether an object that no root reaches may belong to a cleanup, by what is known of the
 * heap's functions (hidden->kind). */
bool hidden_has(const struct hidden *hidden, uint32_t object)
{
    switch (hidden->kind) {
    case HIDDEN_NONE:
        return false;
    case HIDDEN_CLOSURES:
        return hidden_is_closure(hidden->graph, object);
    case HIDDEN_OTHERS:
        return !hidden_is_started(hidden, hidden_code_of(hidden->graph, object));
    case HIDDEN_ALL:
        break;
    }
    return true;
}
