/*
 * match: finds the survivors, the objects of a dump that were already in the previous dump.
 * "The steps of matching" below says how. The two sections before it are parts of these steps:
 * objects that small values tell apart, and those in arrays and maps that have moved.
 */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/workers.h"
#include "heap/pointers.h"
#include "identity/identity.h"
#include "naming/key_names.h"

/* ==== recognizes objects by a small value that only they point to ====
 *
 * Small values without pointers share blocks of 16 bytes: the name of one object and the counter of
 * another. So the holder of a block is weak evidence, but the holder of a value in it is good
 * evidence. There are many values, and most of them do not matter. So this first lists the values
 * that matter, and then examines all pointers to their blocks at once.
 */

typedef VECTOR(uint32_t) object_vector;

static inline unsigned match_state_of(const struct matches *matches, uint32_t object)
{
    return __atomic_load_n(&matches->states[object], __ATOMIC_RELAXED) & MATCH_STATES;
}

/* Marks an object as a survivor. Returns whether it was undecided before. */
static inline bool mark_same(struct matches *matches, uint32_t object)
{
    uint8_t *state = &matches->states[object];
    uint8_t old = __atomic_load_n(state, __ATOMIC_RELAXED);
    while ((old & MATCH_STATES) == MATCH_CHANGED || (old & MATCH_STATES) == MATCH_EQUAL)
        if (__atomic_compare_exchange_n(state, &old, (uint8_t)((old & ~MATCH_STATES) | MATCH_SAME),
                                        false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return true;
    return false;
}

/* Returns the word at an offset of the previous contents, or 0 if they do not have it. */
static inline uint64_t word_before(const struct matches *matches, struct g2h_bytes was,
                                   uint64_t offset)
{
    const uint64_t word = matches->before->heap->params.pointer_size;
    return was.size >= word && offset <= was.size - word
               ? heap_word(matches->before->heap, was.data + offset)
               : 0;
}

/* A value, and the object that may be recognized by it. */
struct claim {
    uint64_t value;
    uint32_t object;
    bool is_shared; /* others point to the value as well */
};

typedef VECTOR(struct claim) claim_vector;

struct blocks {
    struct matches *matches;
    claim_vector *found; /* by worker */
    claim_vector claims;
    struct map by_value; /* address → index in claims */
};

/* Returns whether an object is a block that small values without pointers share. */
static bool is_block(const struct matches *matches, uint32_t object)
{
    const struct slot_class *slot_class = heap_slot_class(matches->after->heap, object);
    return slot_class->size == TINY_BLOCK && !slot_class->has_pointers;
}

/* ---- which values matter ---- */

/* Lists the values in surviving blocks that a changed object still points to by the same words, and
 * marks the blocks. If nothing else points to such a value, the object survived with it. Returns
 * false if memory runs out. */
static bool list_values(struct matches *matches, uint32_t object, claim_vector *ret)
{
    const struct g2h_heap *heap = matches->after->heap;
    const uint32_t *end;
    const uint32_t *target = object_targets(matches->graph, object, &end);
    const struct g2h_bytes was = heap_contents(matches->before->heap, matches->partners[object]);
    struct pointers pointers;
    uint64_t offset, value;
    pointers_of(heap, object, heap_slot_class(heap, object), &pointers);
    while (target < end && pointers_next(&pointers, &offset, &value)) {
        if (!in_heap_range(heap, value))
            continue;
        const uint32_t hit = *target++;
        if (hit == NO_TARGET || !is_block(matches, hit) ||
            match_state_of(matches, hit) != MATCH_SAME ||
            word_before(matches, was, offset) != value)
            continue;
        __atomic_fetch_or(&matches->states[hit], MATCH_LISTED, __ATOMIC_RELAXED);
        if (!vector_push(ret, ((struct claim){value, object, false})))
            return false;
    }
    return true;
}

/* Lists the values that matter for the changed objects of a task. */
static struct g2h_error *list_task(void *context, size_t task, unsigned worker)
{
    const struct blocks *blocks = context;
    struct matches *matches = blocks->matches;
    const uint32_t end = identity_task_end(matches->after->heap, task);
    for (uint32_t object = as_u32(task * OBJECTS_PER_TASK); object < end; object++)
        if (match_state_of(matches, object) == MATCH_CHANGED)
            TRY_MEMORY(list_values(matches, object, &blocks->found[worker]));
    return NULL;
}

/* Merges the values of all threads; a value that several objects point to is shared, and no
 * evidence. Returns false if memory runs out. */
static bool blocks_gather(struct blocks *blocks)
{
    for (unsigned i = 0; i < blocks->matches->threads; i++)
        VECTOR_EACH(const struct claim, claim, blocks->found[i]) {
            uint32_t number;
            if (!map_put(&blocks->by_value, claim->value, as_u32(blocks->claims.count), &number))
                return false;
            if (number < blocks->claims.count) {
                struct claim *known = &blocks->claims.data[number];
                known->is_shared = known->is_shared || known->object != claim->object;
            } else if (!vector_push(&blocks->claims, *claim)) {
                return false;
            }
        }
    return true;
}

/* ---- other pointers to them ---- */

/* Marks a listed value as shared if a pointer of another object than the listed one leads to it.
 * object: the pointer's holder; NO_TARGET: a root. */
static void note_pointer(struct blocks *blocks, uint64_t value, uint32_t object)
{
    const uint32_t number = map_get(&blocks->by_value, value);
    if (number != MAP_NONE && blocks->claims.data[number].object != object)
        __atomic_store_n(&blocks->claims.data[number].is_shared, true, __ATOMIC_RELAXED);
}

/* Returns whether an object is a block with listed values; false for NO_TARGET. */
static bool has_listed(const struct matches *matches, uint32_t object)
{
    return object != NO_TARGET &&
           (__atomic_load_n(&matches->states[object], __ATOMIC_RELAXED) & MATCH_LISTED) != 0;
}

/* Marks a listed value as shared if an object of this task points to it, other than the one that it
 * is listed for (note_pointer()). Objects that point to no block with listed values (has_listed())
 * are skipped without reading their contents. */
static struct g2h_error *note_pointers_task(void *context, size_t task, unsigned worker)
{
    struct blocks *blocks = context;
    const struct matches *matches = blocks->matches;
    const struct g2h_heap *heap = matches->after->heap;
    const uint32_t last = identity_task_end(matches->after->heap, task);
    struct pointers pointers;
    uint64_t offset, value;
    (void)worker;
    for (uint32_t object = as_u32(task * OBJECTS_PER_TASK); object < last; object++) {
        const uint32_t *end;
        const uint32_t *target = object_targets(matches->graph, object, &end);
        while (target < end && !has_listed(matches, *target))
            target++;
        if (target == end)
            continue;
        pointers_of(heap, object, heap_slot_class(heap, object), &pointers);
        while (pointers_next(&pointers, &offset, &value))
            note_pointer(blocks, value, object);
    }
    return NULL;
}

/* Marks listed values as shared if a root points to them. */
static void note_root_pointers(void *context, struct pointers *pointers)
{
    uint64_t offset, value;
    while (pointers_next(pointers, &offset, &value))
        note_pointer(context, value, NO_TARGET);
}

/* ---- all of it ---- */

/* Lists the values, finds the shared ones, and marks the holders of all others as survivors, which
 * are added to found. Does no more if there are no values. */
static struct g2h_error *blocks_find_all(struct blocks *blocks, object_vector *found)
{
    struct matches *matches = blocks->matches;
    TRY(workers_run(matches->threads, object_tasks(matches->after->heap), list_task, blocks));
    TRY_MEMORY(blocks_gather(blocks));
    if (blocks->claims.count == 0)
        return NULL;
    TRY(workers_run(matches->threads, object_tasks(matches->after->heap), note_pointers_task,
                    blocks));
    pointers_of_roots(matches->after->heap, note_root_pointers, blocks);
    VECTOR_EACH(const struct claim, claim, blocks->claims)
        if (!claim->is_shared && mark_same(matches, claim->object))
            TRY_MEMORY(vector_push(found, claim->object));
    return NULL;
}

/*
 * Finds changed objects that still have a pointer, in the same word, to a value in a block of small
 * values that is a survivor, if nothing else points to that very value. Adds them to *found. Error:
 * G2H_ERROR_MEMORY.
 */
static struct g2h_error *blocks_find(struct matches *matches, object_vector *found)
{
    _cleanup_free_ claim_vector *lists = calloc(matches->threads, sizeof(*lists));
    struct blocks blocks = {.matches = matches, .found = lists};
    TRY_MEMORY(lists);
    struct g2h_error *error = blocks_find_all(&blocks, found);
    for (unsigned i = 0; i < matches->threads; i++)
        free(lists[i].data);
    free(blocks.claims.data);
    map_deinit(&blocks.by_value);
    return error;
}

/* ==== follows the pointers of arrays and maps that have moved as they grew ====
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

/* Objects of the two dumps that the same word pointed to. */
struct move {
    uint32_t before, after;
};

typedef VECTOR(struct move) move_vector;

/* Returns whether an object with this state may still turn out to be the partner or not: it has a
 * possible partner, but no certain one. */
static inline bool match_is_open(unsigned state)
{
    return state == MATCH_CHANGED || state == MATCH_EQUAL;
}

/* Returns whether objects of a class are parts of maps. */
static inline bool is_map_part(const struct matches *matches, uint32_t class)
{
    return matches->is_map_part && matches->is_map_part[class];
}

/* Returns whether an object is a map, by its type; false if its type is not known. */
static inline bool match_is_map(const struct matches *matches, uint32_t object)
{
    const struct typing *typing = matches->graph->typing;
    const uint32_t claim = typing ? typing->claims[object] & CLAIM_TYPE : 0;
    return claim != 0 && types_get(typing->types, claim - 1)->role == ROLE_MAP;
}

/* A word of a survivor or of a root: its value before, its value now, and the object that it points
 * to now. */
struct matched_word {
    uint64_t was, is;
    uint32_t object;
};

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

/* Handles an object that the same word holds as before, so it was not freed in between: if it is
 * undecided, it becomes a survivor, which is added to found; unless it is another string. Returns
 * false if memory runs out. */
static bool match_held(struct matches *matches, uint32_t object, object_vector *found)
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
    const uint32_t there = heap_find(before, was);
    const uint32_t class = matches->after->classes[object];
    if (there == NO_TARGET || matches->before->classes[there] != class ||
        class == matches->text_class || match_state_of(matches, object) == MATCH_SAME)
        return true;
    const struct slot_class *is = heap_slot_class(matches->after->heap, object);
    const bool has_grown = is->has_pointers && is->size > heap_object_size(before, there);
    return !(has_grown || is_map_part(matches, class)) ||
           vector_push(moves, ((struct move){there, object}));
}

/* Handles a word. If it has not changed, it still holds the object; if it has, the object that it
 * pointed to may have moved. Returns false if memory runs out. */
static bool match_word(struct matches *matches, const struct matched_word *word,
                       object_vector *found, move_vector *moves)
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
    const uint64_t old_base = heap_object_base(heap, was);
    const uint64_t new_base = heap_object_base(after, is);
    const uint64_t word = heap->params.pointer_size;
    struct pointers pointers;
    uint64_t offset, value, all = 0, same = 0;
    pointers_of(heap, was, heap_slot_class(heap, was), &pointers);
    while (pointers_next(&pointers, &offset, &value)) {
        const uint64_t there = offset - old_base + new_base;
        all++;
        same += copy.size >= word && there <= copy.size - word &&
                heap_word(heap, copy.data + there) == value;
    }
    return same > 0 &&
           same >= all - same; /* > 0: of two arrays without pointers nothing is known */
}

/* Follows the words of an array and of its larger successor at equal indexes, if one is a copy of
 * the other. Returns false if memory runs out. Each array is gone through once. */
static bool match_array(struct moving *moving, uint32_t was, uint32_t is)
{
    const struct g2h_heap *heap = moving->matches->after->heap;
    const struct g2h_bytes contents = heap_contents(moving->matches->before->heap, was);
    const uint64_t old_base = heap_object_base(moving->matches->before->heap, was);
    const uint64_t new_base = heap_object_base(heap, is);
    const uint64_t word = heap->params.pointer_size;
    struct pointers pointers;
    uint64_t offset, value;
    if (!set_seen(&moving->before, was) || !set_seen(&moving->after, is) ||
        !is_grown_copy(moving, was, is))
        return true;
    pointers_of(heap, is, heap_slot_class(heap, is), &pointers);
    while (pointers_next(&pointers, &offset, &value)) {
        if (offset < new_base) /* the malloc header */
            continue;
        const uint64_t there = offset - new_base + old_base;
        if (contents.size < word || there > contents.size - word) /* behind the old array's end */
            break;
        if (!moved_follow_word(moving, heap_word(heap, contents.data + there), value))
            return false;
    }
    return true;
}

/* ---- entries of maps ---- */

static uint64_t key_size(const struct moving *moving)
{
    return types_size(moving->matches->graph->typing->types, moving->layout->key);
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
    return map_put(&moving->by_key, hash_key(moving, entry), as_u32(moving->entries.count),
                   &number) &&
           (number < moving->entries.count || vector_push(&moving->entries, *entry));
}

/* Returns whether the objects that a key points to are survivors: for a string, the key's bytes
 * alone are not enough. */
static bool key_survives(const struct moving *moving, const struct entry *entry)
{
    const struct matches *matches = moving->matches;
    const struct g2h_heap *heap = matches->after->heap;
    const uint64_t word = heap->params.pointer_size;
    const uint64_t size = key_size(moving);
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
    const uint64_t size = types_size(moving->matches->graph->typing->types, layout->elem),
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
            entry.slot = lowest_bit(used);
            if (!each(moving, &entry))
                return false;
        }
        for (uint32_t i = layout->first_pointer[SLOTS]; i < layout->first_pointer[SLOTS + 1]; i++)
            if (!moved_add_part(moving, side, heap_word(heap, entry.value + layout->pointers[i])))
                return false;
    }
    return true;
}

/* Visits the parts of a map in one of the dumps, from root: the map itself or one part of it.
 * Passes the entries to each(), and leaves the parts in moving->parts. Returns false if memory runs
 * out. */
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

/* Parts of the map that is visited (moving->parts) are survivors if the map had their partners
 * before (moving->before.seen): only their position in the map has changed. Returns false if memory
 * runs out. */
static bool keep_parts(struct moving *moving)
{
    struct matches *matches = moving->matches;
    for (size_t i = 0; i < moving->parts.count; i++) {
        const uint32_t part = moving->parts.data[i];
        const uint32_t was = matches->partners[part];
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

/* Orders moves by the number before, then by the number after. */
static int compare_moves(const void *a, const void *b)
{
    const struct move *one = a;
    const struct move *other = b;
    if (one->before != other->before)
        return COMPARE(one->before, other->before);
    return COMPARE(one->after, other->after);
}

/* Follows the moves of arrays and maps, each once: compares what the array or map had before with
 * what it has after the move. A map's moves are of the map itself (has_root) or of a part of it;
 * what it had before is collected at the first of several moves from one place. Returns false if
 * memory runs out. */
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

/*
 * Goes through the moves. Adds the survivors found to *found, and leaves in *moves further moves to
 * be followed afterwards. Error: G2H_ERROR_MEMORY.
 *
 * The bits of visited objects remain for later calls, so that no object is visited twice.
 */
static struct g2h_error *moves_follow(struct matches *matches, move_vector *moves,
                                      object_vector *found)
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

/* ==== the steps of matching ====
 *
 * Finds the survivors, the objects of a dump that were already in the previous dump.
 *
 * Only an object with the address, size and class of an object in the previous dump, its partner,
 * can be a survivor. Such a candidate
 *
 *     1. is a survivor if its contents are unchanged and significant: it points to an object, or is
 *        a string. So are the runtime's own objects that are never freed: goroutines and the like;
 *     2. is a survivor, whatever its contents are, if a word that was there still holds it: a word
 *        of a global variable, of a frame, or of a survivor. A string must have the same contents
 *        too, unless it shares a block with other small values. Arrays and maps that have moved as
 *        they grew are followed to their new address;
 *     3. is a survivor if it held a survivor and still does, and no other object did or does: had
 *        it been freed, the survivor would have been freed with it. In a block of small values each
 *        value counts by itself;
 *     4. with unchanged but insignificant contents, a counter or a buffer of zeros, is a survivor
 *        if something that was there holds it now, or nothing holds it;
 *     5. is otherwise new.
 *
 * Steps 2 and 3 run to their end, breadth first; the result does not depend on the order or on
 * threads. Each object is expanded at most twice, so the cost is linear in pointers.
 */

/* The data of the threads while they match. */
struct matching {
    struct matches *matches;
    object_vector *found;      /* by worker: new survivors, still to be expanded */
    const object_vector *wave; /* the objects being expanded; NULL: all survivors */
    move_vector *moves;        /* by worker */
    uint64_t *undecided;       /* by worker */
};

/* ---- candidates ---- */

/* Returns whether an object has the same bytes as its partner had, which has the same size: of
 * those that both dumps have, because one may lack a part that is in the other. */
static bool has_equal_contents(const struct matches *matches, uint32_t object, uint32_t partner)
{
    const struct g2h_bytes is = heap_contents(matches->after->heap, object),
                           was = heap_contents(matches->before->heap, partner);
    return memcmp(is.data, was.data, (size_t)MIN(is.size, was.size)) == 0;
}

/* Returns whether an object points to any object. */
static bool points_to_object(const struct matches *matches, uint32_t object)
{
    const uint32_t *end;
    const uint32_t *target = object_targets(matches->graph, object, &end);
    while (target < end && *target == NO_TARGET)
        target++;
    return target < end;
}

/* Returns whether a class is of runtime objects that are never freed. */
static bool match_is_kept(const struct matches *matches, uint32_t class)
{
    for (size_t i = 0; i < matches->kept_class_count; i++)
        if (matches->kept_classes[i] == class)
            return true;
    return false;
}

/* Returns the state that follows from an object's contents and those of its partner, the object at
 * the same address before: the same if it is of a kept class, or if the contents are equal and are
 * a string or have pointers; other equal contents prove little (MATCH_EQUAL). */
static enum match match_contents(const struct matches *matches, uint32_t object, uint32_t partner)
{
    const uint32_t class = matches->after->classes[object];
    if (match_is_kept(matches, class))
        return MATCH_SAME;
    if (!has_equal_contents(matches, object, partner))
        return MATCH_CHANGED | MATCH_UNLIKE;
    return class == matches->text_class || points_to_object(matches, object) ? MATCH_SAME
                                                                             : MATCH_EQUAL;
}

/* Returns whether an object may be its partner, the object that was at its address, by size,
 * pointers and class. */
static bool is_candidate(const struct matches *matches, uint32_t object, uint32_t partner)
{
    const struct g2h_heap *before = matches->before->heap;
    const struct g2h_heap *after = matches->after->heap;
    const struct slot_class *was = heap_slot_class(before, partner),
                            *is = heap_slot_class(after, object);
    return was->size == is->size && was->has_pointers == is->has_pointers &&
           matches->before->classes[partner] == matches->after->classes[object];
}

/* Finds the partners of a task's objects, and the states that follow from their contents. Both
 * dumps are sorted by address, so one pass over both finds all. */
static struct g2h_error *candidates_task(void *context, size_t task, unsigned worker)
{
    const struct matching *matching = context;
    struct matches *matches = matching->matches;
    const struct g2h_heap *before = matches->before->heap;
    const struct g2h_heap *after = matches->after->heap;
    const uint32_t end = identity_task_end(matches->after->heap, task),
                   first = as_u32(task * OBJECTS_PER_TASK);
    uint32_t partner;
    (void)worker;
    BISECT(partner, before->object_count,
           heap_address(before, partner) < heap_address(after, first));
    for (uint32_t object = first; object < end; object++) {
        const uint64_t address = heap_address(after, object);
        while (partner < before->object_count && heap_address(before, partner) < address)
            partner++;
        if (partner == before->object_count)
            break;
        if (heap_address(before, partner) != address || !is_candidate(matches, object, partner))
            continue;
        matches->partners[object] = partner;
        matches->states[object] = (uint8_t)match_contents(matches, object, partner);
    }
    return NULL;
}

/* ---- holders ---- */

/* Marks the only holder of a survivor as one, if it was the only holder before too: had it been
 * freed, the survivor would have been freed with it. Returns false if memory runs out. */
static bool mark_only_holder(struct matches *matches, uint32_t object, object_vector *found)
{
    const uint32_t holder = matches->after->holders[object];
    assert((match_state_of(matches, object) & MATCH_STATES) == MATCH_SAME);
    if (holder == HOLDER_NONE || holder == HOLDER_MANY ||
        !match_is_open(match_state_of(matches, holder)) ||
        matches->before->holders[matches->partners[object]] != matches->partners[holder])
        return true;
    return !mark_same(matches, holder) || vector_push(found, holder);
}

/* Returns whether a word of a map has changed that pointed to a part of the map before. */
static bool has_moved(const struct matches *matches, uint32_t map)
{
    const struct g2h_heap *after = matches->after->heap;
    const struct g2h_heap *before = matches->before->heap;
    const struct g2h_bytes is = heap_contents(after, map),
                           was = heap_contents(before, matches->partners[map]);
    const uint64_t word = after->params.pointer_size;
    for (uint64_t at = 0; at + word <= is.size && at + word <= was.size; at += word) {
        const uint64_t now = heap_word(after, is.data + at),
                       then = heap_word(before, was.data + at);
        const uint32_t old =
            now != then && in_heap_range(before, then) ? heap_find(before, then) : NO_TARGET;
        if (old != NO_TARGET && is_map_part(matches, matches->before->classes[old]))
            return true;
    }
    return false;
}

/* Returns whether an object points to one that is still undecided. */
static bool has_open_target(const struct matches *matches, uint32_t object)
{
    const uint32_t *end;
    const uint32_t *target = object_targets(matches->graph, object, &end);
    while (target < end &&
           (*target == NO_TARGET || !match_is_open(match_state_of(matches, *target))))
        target++;
    return target < end;
}

/* Follows the pointers of a survivor, and examines its holder. Adds the survivors that this finds
 * to found, and to moves what may have moved; a map that has moved is itself a move. A survivor
 * whose targets are all decided is only followed if it has changed and there are maps, because a
 * part of one may have moved. Returns false if memory runs out. */
static bool expand(struct matches *matches, uint32_t object, object_vector *found,
                   move_vector *moves)
{
    const bool may_move =
        matches->is_map_part &&
        (__atomic_load_n(&matches->states[object], __ATOMIC_RELAXED) & MATCH_UNLIKE) != 0;
    const struct g2h_heap *heap = matches->after->heap;
    const uint32_t *end;
    const uint32_t *target = object_targets(matches->graph, object, &end);
    struct pointers pointers;
    uint64_t offset, value;
    if (!mark_only_holder(matches, object, found))
        return false;
    /* Everything that a map leads to belongs to the map, and is handled together with it. */
    if (may_move && match_is_map(matches, object) && has_moved(matches, object))
        return vector_push(moves, ((struct move){matches->partners[object], object}));
    if (!may_move && !has_open_target(matches, object))
        return true;
    const struct g2h_bytes was = heap_contents(matches->before->heap, matches->partners[object]);
    pointers_of(heap, object, heap_slot_class(heap, object), &pointers);
    while (target < end && pointers_next(&pointers, &offset, &value)) {
        if (!in_heap_range(heap, value))
            continue;
        const uint32_t hit = *target++;
        const struct matched_word word = {word_before(matches, was, offset), value, hit};
        if (hit != NO_TARGET && !match_word(matches, &word, found, moves))
            return false;
    }
    return true;
}

/* Expands the survivors of a task: of the wave or, at first, of all objects. */
static struct g2h_error *expand_task(void *context, size_t task, unsigned worker)
{
    const struct matching *matching = context;
    struct matches *matches = matching->matches;
    object_vector *found = &matching->found[worker];
    if (matching->wave) {
        const size_t first = task * OBJECTS_PER_TASK;
        const size_t count = matching->wave->count;
        for (size_t i = first; i < count && i < first + OBJECTS_PER_TASK; i++)
            TRY_MEMORY(expand(matches, matching->wave->data[i], found, &matching->moves[worker]));
        return NULL;
    }
    const uint32_t end = identity_task_end(matches->after->heap, task);
    for (uint32_t object = as_u32(task * OBJECTS_PER_TASK); object < end; object++)
        if (match_state_of(matches, object) == MATCH_SAME)
            TRY_MEMORY(expand(matches, object, found, &matching->moves[worker]));
    return NULL;
}

/* ---- roots ---- */

/* A walk over the pointers of roots. With found it is for step 2: finds objects that the same word
 * held before. Without it is for step 4: notes which objects roots hold. */
struct root_walk {
    struct matches *matches;
    object_vector *found; /* NULL: the walk sets MATCH_HELD and MATCH_HELD_BY_SURVIVOR */
    move_vector *moves;
};

/* Walks the pointers of a segment or frame, whose previous contents are was. was_there: it existed
 * in the previous dump; without that, step 2 finds nothing, and step 4 notes that something new
 * holds the objects. Returns false if memory runs out. */
static bool walk_root(const struct root_walk *walk, struct g2h_bytes is, struct g2h_fields fields,
                      struct g2h_bytes was, bool was_there)
{
    struct matches *matches = walk->matches;
    const struct g2h_heap *heap = matches->after->heap;
    struct pointers pointers;
    uint64_t offset, value;
    pointers_of_fields(heap, is, fields, &pointers);
    while (pointers_next(&pointers, &offset, &value)) {
        const uint32_t hit = in_heap_range(heap, value) ? heap_find(heap, value) : NO_TARGET;
        if (hit == NO_TARGET)
            continue;
        const struct matched_word word = {word_before(matches, was, offset), value, hit};
        if (!walk->found)
            matches->states[hit] |= was_there ? MATCH_HELD_BY_SURVIVOR : MATCH_HELD;
        else if (was_there && !match_word(matches, &word, walk->found, walk->moves))
            return false;
    }
    return true;
}

/* Returns the contents of the segment of the previous dump that begins at an address, or no
 * bytes. */
static struct g2h_bytes segment_before(const struct g2h_heap *before, enum g2h_record_kind kind,
                                       uint64_t address)
{
    struct g2h_record record;
    for (size_t i = 0; i < g2h_heap_record_count(before, kind) && i < HEAP_SEGMENTS; i++) {
        g2h_heap_record(before, kind, i, &record);
        if (record.segment.address == address)
            return record.segment.contents;
    }
    return (struct g2h_bytes){NULL, 0};
}

/* Walks the pointers of data and bss. Returns false if memory runs out. */
static bool walk_segments(const struct root_walk *walk)
{
    static const enum g2h_record_kind kinds[] = {G2H_RECORD_DATA, G2H_RECORD_BSS};
    const struct g2h_heap *heap = walk->matches->after->heap;
    struct g2h_record record;
    for (size_t i = 0; i < 2; i++) {
        const size_t count = g2h_heap_record_count(heap, kinds[i]);
        for (size_t j = 0; j < count && j < HEAP_SEGMENTS; j++) {
            g2h_heap_record(heap, kinds[i], j, &record);
            const struct g2h_bytes was =
                segment_before(walk->matches->before->heap, kinds[i], record.segment.address);
            if (!walk_root(walk, record.segment.contents, record.segment.fields, was, was.size > 0))
                return false;
        }
    }
    return true;
}

/* Returns the key of a frame. Frames are the same if they have the same goroutine, function and
 * stack pointer. */
static uint64_t frame_key(uint64_t goid, const struct heap_stack_frame *frame)
{
    return map_hash_pair(map_hash_pair(goid, frame->sp), frame->entry);
}

/* Maps the key of each frame to its index. Returns false if memory runs out. */
static bool list_frames(const struct g2h_heap *heap, struct map *ret)
{
    uint32_t number;
    VECTOR_EACH(const struct heap_goroutine, goroutine, heap->goroutines) {
        for (uint32_t j = 0; j < goroutine->frame_count; j++) {
            const uint32_t at = goroutine->first_frame + j;
            const struct heap_stack_frame frame = heap_frame(heap, at);
            if (!map_put(ret, frame_key(goroutine->record.goid, &frame), at, &number))
                return false;
        }
    }
    return true;
}

/* Walks the pointers of all frames; those that the previous dump has too are the same calls.
 * Returns false if memory runs out. */
static bool match_walk_frames(const struct root_walk *walk, const struct map *frames_before)
{
    const struct g2h_heap *heap = walk->matches->after->heap;
    const struct g2h_heap *before = walk->matches->before->heap;
    VECTOR_EACH(const struct heap_goroutine, goroutine, heap->goroutines) {
        for (uint32_t j = 0; j < goroutine->frame_count; j++) {
            const struct heap_stack_frame frame = heap_frame(heap, goroutine->first_frame + j);
            const uint32_t at = map_get(frames_before, frame_key(goroutine->record.goid, &frame));
            struct heap_stack_frame was = {.sp = 0};
            if (at != MAP_NONE)
                was = heap_frame(before, at);
            if (!walk_root(walk, frame.contents, frame.fields, was.contents, at != MAP_NONE))
                return false;
        }
    }
    return true;
}

/* Marks the object at an address, if there is one, as a survivor, and adds it to found. Returns
 * false if memory runs out. */
static bool mark_at(struct matches *matches, uint64_t address, object_vector *found)
{
    const uint32_t object = heap_find(matches->after->heap, address);
    return object == NO_TARGET || !mark_same(matches, object) || vector_push(found, object);
}

/* Marks the runtime's objects of goroutines and threads (runtime.g, runtime.m), which count as
 * never freed, by the addresses in the dump's records of these: without types they have no class of
 * their own. Returns false if memory runs out. */
static bool mark_runtime(struct matches *matches, object_vector *found)
{
    const struct g2h_heap *heap = matches->after->heap;
    struct g2h_record record;
    VECTOR_EACH(const struct heap_goroutine, goroutine, heap->goroutines)
        if (!mark_at(matches, goroutine->record.address, found))
            return false;
    for (size_t i = 0; i < g2h_heap_record_count(heap, G2H_RECORD_OSTHREAD); i++) {
        g2h_heap_record(heap, G2H_RECORD_OSTHREAD, i, &record);
        if (!mark_at(matches, record.osthread.m, found))
            return false;
    }
    return true;
}

/* ---- steps 2 and 3 ---- */

/* Expands the survivors that have been found, in waves: what the threads found in one wave is the
 * next one, until there are no more. */
static struct g2h_error *expand_found(struct matching *matching)
{
    struct matches *matches = matching->matches;
    struct g2h_error *error = NULL;
    _cleanup_free_ uint32_t *data = NULL;
    while (!error) {
        object_vector wave = {0};
        for (unsigned i = 0; i < matches->threads; i++) {
            VECTOR_EACH(const uint32_t, found, matching->found[i])
                if (!vector_push(&wave, *found))
                    error = &error_no_memory;
            matching->found[i].count = 0;
        }
        free(data);
        data = wave.data;
        if (wave.count == 0 || error)
            break;
        matching->wave = &wave;
        error = workers_run(wave.count < OBJECTS_PER_TASK ? 1 : matches->threads,
                            (wave.count + OBJECTS_PER_TASK - 1) / OBJECTS_PER_TASK, expand_task,
                            matching);
    }
    return error;
}

/* Follows the moves of all threads, collected in the first one's list, and expands the survivors
 * that this finds, until there are no more moves. */
static struct g2h_error *follow_moves(struct matching *matching)
{
    struct matches *matches = matching->matches;
    for (;;) {
        move_vector *all = &matching->moves[0];
        for (unsigned i = 1; i < matches->threads; i++) {
            VECTOR_EACH(const struct move, move, matching->moves[i])
                TRY_MEMORY(vector_push(all, *move));
            matching->moves[i].count = 0;
        }
        if (all->count == 0)
            return NULL;
        TRY(moves_follow(matches, all, &matching->found[0]));
        TRY(expand_found(matching));
    }
}

/* ---- step 4 ---- */

/* Notes for the undecided objects (MATCH_EQUAL) that an object points to whether a survivor, or
 * another object, holds them. */
static void note_held(struct matches *matches, uint32_t object)
{
    const uint32_t *end;
    const uint32_t *target = object_targets(matches->graph, object, &end);
    const uint8_t bit =
        match_state_of(matches, object) == MATCH_SAME ? MATCH_HELD_BY_SURVIVOR : MATCH_HELD;
    for (; target < end; target++)
        if (*target != NO_TARGET && *target != object &&
            match_state_of(matches, *target) == MATCH_EQUAL)
            __atomic_fetch_or(&matches->states[*target], bit, __ATOMIC_RELAXED);
}

/* Notes what the objects of a task hold, for step 4 (see above). */
static struct g2h_error *held_task(void *context, size_t task, unsigned worker)
{
    const struct matching *matching = context;
    const uint32_t end = identity_task_end(matching->matches->after->heap, task);
    (void)worker;
    for (uint32_t object = as_u32(task * OBJECTS_PER_TASK); object < end; object++)
        note_held(matching->matches, object);
    return NULL;
}

/* Decides the objects of a task that are still undecided, as step 4 says, and clears the bits that
 * were needed to find out. */
static struct g2h_error *decide_task(void *context, size_t task, unsigned worker)
{
    const struct matching *matching = context;
    const uint32_t end = identity_task_end(matching->matches->after->heap, task);
    for (uint32_t object = as_u32(task * OBJECTS_PER_TASK); object < end; object++) {
        uint8_t *state = &matching->matches->states[object];
        if ((*state & MATCH_STATES) != MATCH_EQUAL) {
            *state &= MATCH_STATES;
            continue;
        }
        matching->undecided[worker]++;
        *state = (*state & MATCH_HELD_BY_SURVIVOR) != 0 || (*state & MATCH_HELD) == 0 ? MATCH_SAME
                                                                                      : MATCH_EQUAL;
    }
    return NULL;
}

/* ---- all of it ---- */

/* Runs the steps of matching, as they are described above. Each one needs the results of those
 * before. */
static struct g2h_error *match_find_all(struct matching *matching, struct map *frames_before)
{
    struct matches *matches = matching->matches;
    const struct root_walk step2 = {matches, &matching->found[0], &matching->moves[0]},
                           step4 = {matches, NULL, NULL};
    TRY(workers_run(matches->threads, object_tasks(matches->after->heap), candidates_task,
                    matching));
    TRY_MEMORY(list_frames(matches->before->heap, frames_before));
    TRY_MEMORY(mark_runtime(matches, &matching->found[0]) && walk_segments(&step2) &&
               match_walk_frames(&step2, frames_before));
    TRY(workers_run(matches->threads, object_tasks(matches->after->heap), expand_task, matching));
    TRY(expand_found(matching));
    TRY(follow_moves(matching));
    TRY(blocks_find(matches, &matching->found[0]));
    TRY(expand_found(matching));
    TRY(follow_moves(matching));
    TRY(workers_run(matches->threads, object_tasks(matches->after->heap), held_task, matching));
    (void)walk_segments(&step4);
    (void)match_walk_frames(&step4, frames_before);
    return workers_run(matches->threads, object_tasks(matches->after->heap), decide_task, matching);
}

/* Finds the objects that both dumps have. Allocates what the steps share, runs them, and sums up
 * how many objects were decided by step 4 only. */
struct g2h_error *matches_find(struct matches *matches)
{
    const size_t objects = matches->after->heap->object_count;
    _cleanup_(map_deinit) struct map frames_before = {0};
    _cleanup_free_ object_vector *found = calloc(matches->threads, sizeof(*found));
    _cleanup_free_ move_vector *moves = calloc(matches->threads, sizeof(*moves));
    _cleanup_free_ uint64_t *undecided = calloc(matches->threads, sizeof(*undecided));
    matches->partners = block_alloc(objects + 1, sizeof(*matches->partners));
    matches->states = zeroed_alloc(objects + 1, sizeof(*matches->states));
    TRY_MEMORY(found && moves && undecided && matches->partners && matches->states);
    struct matching matching = {
        .matches = matches, .found = found, .moves = moves, .undecided = undecided};
    struct g2h_error *error = match_find_all(&matching, &frames_before);
    for (unsigned i = 0; i < matches->threads; i++) {
        matches->undecided += undecided[i];
        free(found[i].data);
        free(moves[i].data);
    }
    return error;
}

void matches_deinit(struct matches *matches)
{
    free(matches->partners);
    free(matches->states);
    free(matches->seen_before);
    free(matches->seen_after);
}
