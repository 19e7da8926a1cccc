/*
 * moved: follows the pointers of arrays and maps that have moved as they grew.
 *
 * If a survivor's word pointed to an array, and now points to a larger one of the same class, the
 * larger one may be a copy: then it still holds the objects that both have at the same index, if at
 * least half of the old array's pointers are still at their indexes. Entries of a map get other
 * slots as the map grows, so they are recognized by their keys. The previous and the present parts
 * of a map are visited from the same word.
 *
 * One thread goes through the moves, in the order of objects. Each array, and each part of a map,
 * is visited once in both dumps, so the cost is linear in pointers.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/scope.h"
#include "identity/match.h"
#include "naming/key_names.h"

/* An entry of a map. */
struct entry {
    const uint8_t *value; /* the bucket or group that has the entry */
    unsigned slot;
};

/* A dump, and which of its objects have been visited. */
struct side {
    const struct identified *of;
    uint64_t *seen; /* a bit per object */
};

struct moving {
    struct matches *matches;
    object_vector *found;
    move_vector *moves; /* further moves found on the way */
    struct side before, after;
    const struct map_entries *layout; /* of the map being visited; NULL: not known yet */
    uint32_t class;                   /* the class of its parts */
    struct map by_key;                /* hash of a key → index in entries */
    VECTOR(struct entry) entries;
    object_vector parts;
};

/* ---- words that hold what they held before, or something that may have moved ---- */

/* Returns whether an object is a string that has changed, and so cannot be its partner: strings do
 * not change, but other values in the same block of 16 bytes do. */
static bool is_other_text(const struct matches *matches, uint32_t object)
{
    return match_state_of(matches, object) == MATCH_CHANGED &&
           matches->after->classes[object] == matches->text_class &&
           heap_object_size(matches->after->heap, object) != TINY_BLOCK;
}

/* A word still holds the object at the address as before, so it was not freed in between: it is a
 * survivor. */
bool match_held(struct matches *matches, uint32_t object, object_vector *found)
{
    return is_other_text(matches, object) || !mark_same(matches, object) ||
           vector_push(found, object);
}

/* Notes a move if the array or map at `was` may have moved to object: a word of a survivor pointed
 * to `was` before, and points to object now. Arrays move only when they grow. Returns false if
 * memory runs out. */
static bool note_move(struct matches *matches, uint64_t was, uint32_t object, move_vector *moves)
{
    const struct g2h_heap *before = matches->before->heap;
    if (!matches->graph->typing || !in_heap_range(before, was))
        return true;
    const uint32_t there = heap_find(before, was), class = matches->after->classes[object];
    if (there == NO_TARGET || matches->before->classes[there] != class ||
        class == matches->text_class || match_state_of(matches, object) == MATCH_SAME)
        return true;
    const struct slot_class *is = heap_slot_class(matches->after->heap, object);
    const bool has_grown = is->has_pointers && is->size > heap_object_size(before, there);
    return !(has_grown || is_map_part(matches, class)) ||
           vector_push(moves, ((struct move){there, object}));
}

bool match_word(struct matches *matches, const struct matched_word *word, object_vector *found,
                move_vector *moves)
{
    return word->was == word->is ? match_held(matches, word->object, found)
                                 : note_move(matches, word->was, word->object, moves);
}

/* ---- arrays and maps ---- */

/* Marks an object as visited. Returns whether it was not before. */
static bool set_seen(struct side *side, uint32_t object)
{
    const bool is_first = !bits_have(side->seen, object);
    bits_add(side->seen, object);
    return is_first;
}

/* Handles the previous and the present value of one word of an array or map that has moved. Returns
 * false if memory runs out. */
static bool moved_follow_word(struct moving *moving, uint64_t was, uint64_t is)
{
    const struct g2h_heap *heap = moving->matches->after->heap;
    const uint32_t hit = in_heap_range(heap, is) ? heap_find(heap, is) : NO_TARGET;
    const struct matched_word word = {was, is, hit};
    return hit == NO_TARGET || match_word(moving->matches, &word, moving->found, moving->moves);
}

/* ---- arrays ---- */

/* Returns whether at least half of the pointers of an array (was) are at the same indexes of
 * another one (is). The rest may have been assigned since. */
static bool is_grown_copy(const struct moving *moving, uint32_t was, uint32_t is)
{
    const struct g2h_heap *heap = moving->matches->before->heap,
                          *after = moving->matches->after->heap;
    const struct g2h_bytes copy = heap_contents(after, is);
    const uint64_t old_base = heap_object_base(heap, was), new_base = heap_object_base(after, is),
                   word = heap->params.pointer_size;
    struct pointers pointers;
    uint64_t offset, value, all = 0, same = 0;
    pointers_of(heap, was, heap_slot_class(heap, was), &pointers);
    while (pointers_next(&pointers, &offset, &value)) {
        const uint64_t there = offset - old_base + new_base;
        all++;
        same += copy.size >= word && there <= copy.size - word &&
                heap_word(heap, copy.data + there) == value;
    }
    return same > 0 && same >= all - same;
}

/* Follows the words of an array and of its larger successor at equal indexes, if one is a copy of
 * the other. Returns false if memory runs out. */
static bool match_array(struct moving *moving, uint32_t was, uint32_t is)
{
    const struct g2h_heap *heap = moving->matches->after->heap;
    const struct g2h_bytes contents = heap_contents(moving->matches->before->heap, was);
    const uint64_t old_base = heap_object_base(moving->matches->before->heap, was),
                   new_base = heap_object_base(heap, is), word = heap->params.pointer_size;
    struct pointers pointers;
    uint64_t offset, value;
    if (!set_seen(&moving->before, was) || !set_seen(&moving->after, is) ||
        !is_grown_copy(moving, was, is))
        return true;
    pointers_of(heap, is, heap_slot_class(heap, is), &pointers);
    while (pointers_next(&pointers, &offset, &value)) {
        if (offset < new_base)
            continue;
        const uint64_t there = offset - new_base + old_base;
        if (contents.size < word || there > contents.size - word)
            break;
        if (!moved_follow_word(moving, heap_word(heap, contents.data + there), value))
            return false;
    }
    return true;
}

/* ---- entries of maps ---- */

static uint64_t key_size(const struct moving *moving)
{
    return moving->matches->graph->typing->types->list.data[moving->layout->key].size;
}

static const uint8_t *key_at(const struct moving *moving, const struct entry *entry)
{
    return entry->value + moving->layout->keys + entry->slot * moving->layout->key_stride;
}

static uint64_t hash_key(const struct moving *moving, const struct entry *entry)
{
    return map_hash_text(key_at(moving, entry), (size_t)key_size(moving));
}

/* Records an entry of the previous dump by its key. Returns false if memory runs out. */
static bool note_entry(struct moving *moving, const struct entry *entry)
{
    uint32_t number;
    return map_put(&moving->by_key, hash_key(moving, entry), (uint32_t)moving->entries.count,
                   &number) &&
           (number < moving->entries.count || vector_push(&moving->entries, *entry));
}

/* Returns whether the objects that a key points to are survivors: for a string, the key's bytes
 * alone are not enough. */
static bool key_survives(const struct moving *moving, const struct entry *entry)
{
    const struct matches *matches = moving->matches;
    const struct g2h_heap *heap = matches->after->heap;
    const uint64_t word = heap->params.pointer_size, size = key_size(moving);
    const uint8_t *key = key_at(moving, entry);
    for (uint64_t at = 0; at + word <= size; at += word) {
        const uint64_t value = heap_word(heap, key + at);
        const uint32_t hit = in_heap_range(heap, value) ? heap_find(heap, value) : NO_TARGET;
        if (hit != NO_TARGET && match_state_of(matches, hit) != MATCH_SAME)
            return false;
    }
    return true;
}

/* Follows the pointers of an entry's elem together with those that it had before, if the map had an
 * entry with the same key. Returns false if memory runs out. */
static bool match_entry(struct moving *moving, const struct entry *entry)
{
    const struct map_entries *layout = moving->layout;
    const struct names *names = &moving->matches->graph->names;
    const uint32_t number = map_get(&moving->by_key, hash_key(moving, entry));
    if (number == MAP_NONE)
        return true;
    const struct entry *was = &moving->entries.data[number];
    if (memcmp(key_at(moving, was), key_at(moving, entry), (size_t)key_size(moving)) != 0 ||
        !key_survives(moving, entry))
        return true;
    const uint64_t size = moving->matches->graph->typing->types->list.data[layout->elem].size,
                   first = layout->elems + entry->slot * layout->elem_stride,
                   first_was = layout->elems + was->slot * layout->elem_stride;
    for (uint32_t i = layout->first_pointer[entry->slot];
         i < layout->first_pointer[entry->slot + 1]; i++) {
        const uint64_t inner = layout->pointers[i] - first;
        if (inner < size &&
            !moved_follow_word(moving, heap_word(names->heap, was->value + first_was + inner),
                               heap_word(names->heap, entry->value + first + inner)))
            return false;
    }
    return true;
}

/* ---- parts of maps ---- */

/* Adds the part of a map that a word points to, if there is one that has not been visited yet.
 * Returns false if memory runs out. */
static bool moved_add_part(struct moving *moving, struct side *side, uint64_t value)
{
    const struct g2h_heap *heap = side->of->heap;
    const uint32_t part = in_heap_range(heap, value) ? heap_find(heap, value) : NO_TARGET;
    if (part == NO_TARGET)
        return true;
    const uint32_t class = side->of->classes[part];
    if (!is_map_part(moving->matches, class) ||
        (moving->class != UINT32_MAX && class != moving->class) || !set_seen(side, part))
        return true;
    moving->class = class;
    moving->layout = moving->matches->layouts[class];
    return vector_push(&moving->parts, part);
}

/* Adds all parts of a map that an object points to. Returns false if memory runs out. */
static bool add_parts(struct moving *moving, struct side *side, uint32_t object)
{
    const struct g2h_heap *heap = side->of->heap;
    struct pointers pointers;
    uint64_t offset, value;
    pointers_of(heap, object, heap_slot_class(heap, object), &pointers);
    while (pointers_next(&pointers, &offset, &value))
        if (!moved_add_part(moving, side, value))
            return false;
    return true;
}

/* Passes the entries in an object's buckets or groups to each(), and adds the parts that these lead
 * to, which are overflow buckets. Returns false if memory runs out. */
static bool moved_walk_entries(struct moving *moving, struct side *side, uint32_t object,
                               bool (*each)(struct moving *moving, const struct entry *entry))
{
    const struct g2h_heap *heap = side->of->heap;
    const struct map_entries *layout = moving->layout;
    const struct names *names = &moving->matches->graph->names;
    const struct g2h_bytes contents = heap_contents(heap, object);
    const uint64_t size = layout->size;
    for (uint64_t at = heap_object_base(heap, object);
         at <= contents.size && contents.size - at >= size; at += size) {
        struct entry entry = {contents.data + at, 0};
        unsigned used = map_entries_used(names, layout, entry.value);
        /* A bit per used slot; the loop clears the lowest one. */
        for (; used != 0; used &= used - 1) {
            entry.slot = (unsigned)__builtin_ctz(used);
            if (!each(moving, &entry))
                return false;
        }
        for (uint32_t i = layout->first_pointer[SLOTS]; i < layout->first_pointer[SLOTS + 1]; i++)
            if (!moved_add_part(moving, side, heap_word(heap, entry.value + layout->pointers[i])))
                return false;
    }
    return true;
}

/* Visits the parts of a map in one of the dumps, from the map itself or from one part of it.
 * Returns false if memory runs out. */
static bool walk_map(struct moving *moving, struct side *side, uint32_t root,
                     bool (*each)(struct moving *moving, const struct entry *entry))
{
    const bool is_part = is_map_part(moving->matches, side->of->classes[root]);
    moving->parts.count = 0;
    if (is_part ? !moved_add_part(moving, side, heap_address(side->of->heap, root))
                : !add_parts(moving, side, root))
        return false;
    for (size_t i = 0; i < moving->parts.count; i++) {
        const uint32_t part = moving->parts.data[i];
        if (moving->layout && bits_have(side->of->entries, part)
                ? !moved_walk_entries(moving, side, part, each)
                : !add_parts(moving, side, part))
            return false;
    }
    return true;
}

/* Parts that a map has now are survivors if the map had them before: only their position in the map
 * has changed. Returns false if memory runs out. */
static bool keep_parts(struct moving *moving)
{
    struct matches *matches = moving->matches;
    for (size_t i = 0; i < moving->parts.count; i++) {
        const uint32_t part = moving->parts.data[i], was = matches->partners[part];
        if (match_is_open(match_state_of(matches, part)) && bits_have(moving->before.seen, was) &&
            !match_held(matches, part, moving->found))
            return false;
    }
    return true;
}

/* Visits a map, or a part of it, before and after. is_first: the previous one has not been read; it
 * is read once for all its successors, because a table may have been split into two. Returns false
 * if memory runs out. */
static bool match_map_parts(struct moving *moving, const struct move *move, bool is_first)
{
    if (is_first) {
        moving->class = UINT32_MAX;
        moving->layout = NULL;
        moving->entries.count = 0;
        map_deinit(&moving->by_key);
        moving->by_key = (struct map){0};
        if (!walk_map(moving, &moving->before, move->before, note_entry))
            return false;
    }
    return walk_map(moving, &moving->after, move->after, match_entry) && keep_parts(moving);
}

/* ---- all of it ---- */

static int compare_moves(const void *a, const void *b)
{
    const struct move *one = a, *other = b;
    if (one->before != other->before)
        return one->before < other->before ? -1 : 1;
    return one->after < other->after ? -1 : one->after > other->after;
}

/* Follows the moves of arrays and maps, each once. Returns false if memory runs out. */
static bool moved_go_through(struct moving *moving, move_vector *moves)
{
    const struct matches *matches = moving->matches;
    struct move last = {NO_TARGET, NO_TARGET};
    vector_sort(moves, compare_moves);
    for (size_t i = 0; i < moves->count; i++) {
        const struct move move = moves->data[i];
        const bool is_first = move.before != last.before,
                   is_again = !is_first && move.after == last.after;
        const bool has_root = match_is_map(matches, move.after);
        /* An object that has turned out to be a survivor meanwhile has not moved; but a map that
         * has moved is a survivor itself. */
        if (is_again || (!has_root && match_state_of(matches, move.after) == MATCH_SAME))
            continue;
        const uint32_t class = matches->after->classes[move.after];
        last = move;
        if (has_root || is_map_part(matches, class) ? !match_map_parts(moving, &move, is_first)
                                                    : !match_array(moving, move.before, move.after))
            return false;
    }
    return true;
}

/* The bits of visited objects remain for later calls, so that no object is visited twice. */
struct g2h_error *moves_follow(struct matches *matches, move_vector *moves, object_vector *found)
{
    if (moves->count == 0)
        return NULL;
    const size_t before = (size_t)matches->before->heap->object_count / 64 + 1,
                 after = (size_t)matches->after->heap->object_count / 64 + 1;
    if (!matches->seen_before)
        matches->seen_before = zeroed_alloc(before, sizeof(uint64_t));
    if (!matches->seen_after)
        matches->seen_after = zeroed_alloc(after, sizeof(uint64_t));
    TRY_MEMORY(matches->seen_before && matches->seen_after);
    move_vector next = {0};
    struct moving moving = {.matches = matches,
                            .found = found,
                            .moves = &next,
                            .before = {matches->before, matches->seen_before},
                            .after = {matches->after, matches->seen_after}};
    const bool good = moved_go_through(&moving, moves);
    map_deinit(&moving.by_key);
    free(moving.entries.data);
    free(moving.parts.data);
    free(moves->data);
    *moves = next;
    TRY_MEMORY(good);
    return NULL;
}
