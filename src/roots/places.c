/* places; see places.h. */
#include "roots/places.h"

#include <stdlib.h>

#include "naming/forms.h"

void places_deinit(struct places *places)
{
    free(places->list.data);
    map_deinit(&places->by_hash);
}

/* ---- finding the place ---- */

/*
 * Returns whether a function adds nothing to the state: a function of the runtime, which other
 * packages may link under a name of their own, or one of the functions of sync, poll and others
 * that call it.
 */
static bool is_below_program(struct g2h_bytes function)
{
    static const char linked[] = "runtime_";
    const size_t size = sizeof(linked) - 1;
    uint64_t dot = function.size;
    while (dot > 0 && function.data[dot - 1] != '.')
        dot--;
    return bytes_begin(function, "runtime.") || bytes_begin(function, "runtime/") ||
           bytes_begin(function, "internal/") || bytes_begin(function, "sync.") ||
           bytes_are(function, "time.Sleep") ||
           (function.size - dot > size && memcmp(function.data + dot, linked, size) == 0);
}

/* The runtime's functions on top of a stack are the same wherever a goroutine waits, so the first
 * one below them says more. */
struct g2h_bytes places_innermost(const struct builder *builder, const uint32_t *frames,
                                  uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct heap_stack_frame frame = heap_frame(builder->heap, frames[i]);
        struct g2h_bytes inlined;
        if (is_below_program(frame.function))
            continue;
        return builder->typing && typing_inlined_at(builder->typing, &frame, &inlined) &&
                       !is_below_program(inlined)
                   ? inlined
                   : frame.function;
    }
    return (struct g2h_bytes){(const uint8_t *)"", 0};
}

/* The strings that identify a place, cut for comparison, because any number of goroutines may be in
 * a function of the executable with a long name. A goroutine that is not waiting has a stale wait
 * reason, which does not count. */
struct place_texts {
    struct g2h_bytes of[3];
};

/* Returns the strings by which places are compared: the state, the function that the goroutine
 * runs, and the innermost one. */
static struct place_texts place_texts(const struct g2h_goroutine *record,
                                      const struct goroutine *goroutine)
{
    enum { LONGEST = 4096 };
    struct place_texts texts = {{record->wait_reason, goroutine->function, goroutine->innermost}};
    if (record->status != GOROUTINE_WAITING || goroutine->root.dumps_heap)
        texts.of[0].size = 0;
    for (size_t i = 0; i < sizeof(texts.of) / sizeof(*texts.of); i++)
        if (texts.of[i].size > LONGEST)
            texts.of[i].size = LONGEST;
    return texts;
}

/* The hash functions for the identity of a place: those of hash tables, which have a seed, or those
 * of ids, which must be the same in another dump of the process. */
typedef uint64_t pair_hash(uint64_t one, uint64_t other);
typedef uint64_t text_hash(const void *data, size_t size);

/* Returns a hash of all that identifies a place: state, functions, and the entries of all frames'
 * functions. */
static uint64_t hash_place(const struct builder *builder, const struct goroutine *goroutine,
                           const uint32_t *frames, pair_hash *of_pair, text_hash *of_text)
{
    const struct g2h_goroutine *record = goroutine_record(builder, goroutine);
    const struct place_texts texts = place_texts(record, goroutine);
    uint64_t hash = record->status;
    for (size_t i = 0; i < sizeof(texts.of) / sizeof(*texts.of); i++)
        hash = of_pair(hash, of_text(texts.of[i].data, (size_t)texts.of[i].size));
    for (uint32_t i = 0; i < goroutine->root.frame_count; i++)
        hash = of_pair(hash, builder->heap->frames.data[frames[i]].entry);
    return hash;
}

static uint64_t id_pair(uint64_t one, uint64_t other)
{
    return id_hash(one ^ other);
}

/* Returns whether two goroutines are in one place, for hashes may collide: compares all that
 * hash_place() reads. */
static bool is_same_place(const struct builder *builder, const struct goroutine *one,
                          const struct goroutine *other, const frame_vector *frames)
{
    const uint32_t *own = frames_of(frames, one), *others = frames_of(frames, other);
    const struct g2h_goroutine *record = goroutine_record(builder, one),
                               *other_record = goroutine_record(builder, other);
    const struct heap_frame *all = builder->heap->frames.data;
    const struct place_texts texts = place_texts(record, one),
                             other_texts = place_texts(other_record, other);
    if (one->root.dumps_heap != other->root.dumps_heap || record->status != other_record->status ||
        one->root.frame_count != other->root.frame_count)
        return false;
    for (size_t i = 0; i < sizeof(texts.of) / sizeof(*texts.of); i++)
        if (!bytes_same(texts.of[i], other_texts.of[i]))
            return false;
    for (uint32_t i = 0; i < one->root.frame_count; i++)
        if (all[own[i]].entry != all[others[i]].entry)
            return false;
    return true;
}

/* Each goroutine is looked up by its hash, and compared with the first one there. */
bool places_find(struct places *places, const struct builder *builder, goroutine_vector *goroutines,
                 const frame_vector *frames, size_t number)
{
    struct goroutine *goroutine = &goroutines->data[number];
    const struct place fresh = {number, 1, UINT32_MAX, UINT32_MAX};
    const uint32_t count = (uint32_t)places->list.count;
    const uint64_t hash =
        hash_place(builder, goroutine, frames_of(frames, goroutine), map_hash_pair, map_hash_text);
    if (!map_put(&places->by_hash, hash, count, &goroutine->place))
        return false;
    if (goroutine->place < count) {
        struct place *place = &places->list.data[goroutine->place];
        if (is_same_place(builder, &goroutines->data[place->first], goroutine, frames)) {
            place->goroutines++;
            return true;
        }
        /* Two places have the same hash: this goroutine gets a place of its own. */
        goroutine->place = count;
    }
    return vector_push(&places->list, fresh);
}

/* ---- the name of a place ---- */

/* If both functions are the same, it is shown once. */
void places_append_functions(struct builder *builder, const struct goroutine *goroutine)
{
    const struct g2h_bytes *function = &goroutine->function, *innermost = &goroutine->innermost;
    struct text *text = &builder->text;
    if (innermost->size > 0) {
        text_printf(text, " ");
        builder_append(builder, innermost);
    }
    if (function->size > 0 && !bytes_same(*function, *innermost)) {
        text_printf(text, innermost->size > 0 ? " ← " : " ");
        builder_append(builder, function);
    }
}

bool places_note_runtime(struct builder *builder, const struct goroutine *goroutine,
                         bool has_innermost, uint32_t node)
{
    const struct g2h_bytes function =
        has_innermost && goroutine->innermost.size > 0 ? goroutine->innermost : goroutine->function;
    return name_uses_add(&builder->names->uses, builder->roots->nodes.data[node].name,
                         form_of_function(function) & G2H_NAME_OF_RUNTIME);
}

/* Appends the state and the functions: [chan send] main.fetch ← main.handle. */
static void append_place(struct builder *builder, const struct goroutine *goroutine)
{
    text_printf(&builder->text, "[");
    root_goroutine_append_state(builder->heap, &goroutine->root, &builder->text);
    text_printf(&builder->text, "]");
    places_append_functions(builder, goroutine);
}

/* ---- nodes ---- */

/* The node is added with the first goroutine of a place that has several, so that groups are in the
 * order of goroutines. */
bool places_add_group(struct places *places, struct builder *builder, uint32_t group,
                      const struct goroutine *goroutine, const uint32_t *frames, uint32_t *ret)
{
    struct place *place = &places->list.data[goroutine->place];
    *ret = group;
    if (place->goroutines == 1)
        return true;
    if (place->node == UINT32_MAX) {
        builder->text.size = 0;
        text_append_grouped(&builder->text, place->goroutines);
        text_printf(&builder->text, " goroutines ");
        append_place(builder, goroutine);
        const uint64_t key = hash_place(builder, goroutine, frames, id_pair, id_hash_text);
        if (!builder_add_member(builder, group,
                                (uint32_t)goroutine_record(builder, goroutine)->goid,
                                G2H_NODE_GOROUTINES_IN_PLACE, key, &place->node) ||
            !places_note_runtime(builder, goroutine, true, place->node))
            return false;
    }
    *ret = place->node;
    return true;
}

/*
 * Returns the size of a goroutine's stack, hi - lo, whose addresses are the first two words of
 * runtime.g; 0 if the dump lacks these words or they are not a valid stack. SetMaxStack() allows up
 * to twice 1 GB (runtime/proc.go: maxstackceiling).
 */
static uint32_t stack_size(const struct builder *builder, const struct g2h_goroutine *record)
{
    const struct g2h_heap *heap = builder->heap;
    const uint64_t word = heap->params.pointer_size, most = UINT64_C(2000000000);
    const uint32_t object = heap_find(heap, record->address);
    if (!heap->reader->layout->g_has_stack || object == UINT32_MAX)
        return 0;
    const struct g2h_bytes contents = heap_contents(heap, object);
    const uint64_t offset = record->address - heap_address(heap, object);
    if (contents.size < 2 * word || offset > contents.size - 2 * word)
        return 0;
    const uint64_t lo = heap_word(heap, contents.data + offset),
                   hi = heap_word(heap, contents.data + offset + word);
    return lo < hi && hi - lo <= most && lo <= record->sp && record->sp <= hi ? (uint32_t)(hi - lo)
                                                                              : 0;
}

/* The stack's size is that of its node: stacks are not heap objects, but take memory. */
bool places_add_stack(struct places *places, struct builder *builder,
                      const struct goroutine *goroutine)
{
    const struct g2h_goroutine *record = goroutine_record(builder, goroutine);
    const uint32_t size = builder->no_stacks ? 0 : stack_size(builder, record);
    struct place *place = &places->list.data[goroutine->place];
    struct roots *roots = builder->roots;
    uint32_t node, name;
    if (size == 0)
        return true;
    if (place->stack == UINT32_MAX) {
        builder->text.size = 0;
        text_printf(&builder->text, "goroutine stack ");
        append_place(builder, goroutine);
        if (!builder_node_name(builder, &place->stack))
            return false;
    }
    if (!roots_add_node(roots, G2H_NODE_STACK, record->goid, place->stack, &node) ||
        !builder_label_of(builder, "stack", &name) ||
        !builder_add_edge(builder, node_synthetic(goroutine->root.node), EDGE_INTERNAL, name,
                          node_synthetic(node)))
        return false;
    roots->nodes.data[node].size = size;
    roots->account.stacks++;
    roots->account.stack_bytes += size;
    return true;
}
