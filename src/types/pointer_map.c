/*
 * pointer_map: where a value of a type has pointers, and to what; see pointer_map.h. The steps:
 * measure all types once, and refuse those whose maps would be too large, since a damaged type may
 * contain itself; then, on first use of a type, flatten it into its pointer fields, find the words
 * that the collector scans (by the type's mask, if it has one), and assign each word to its field.
 */
#include "types/pointer_map.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/memory.h"

/* ---- limits ---- */

/* A type may claim to be an array of 2^60 structs. A type that exceeds these limits has no map; but
 * a value of such an array can still be treated as an array of its elements. Work is measured in
 * words of maps that are made. */
enum {
    MAP_FIELDS_MOST = 1 << 16,
    MAP_WORDS_MOST = 1 << 18,
    MAP_WORK_MOST = 1 << 18,
    MAP_DEPTH_MOST = 64,
};

/* Each map may use OWN_WORK. The types that need more share SHARED_WORK, smallest first. A program
 * of 74,000 types needs 3 % of SHARED_WORK. */
enum { OWN_WORK = 64, SHARED_WORK = 1 << 22 };

/* The cost of a type's map: at least the work that pointer_map.c needs to make it. */
struct measure {
    uint32_t work; /* 0: not measured yet; TOO_MANY: over a limit */
    uint32_t fields;
    uint8_t height; /* nesting depth of the types in it */
    bool is_busy;   /* it is being measured */
};

#define TOO_MANY UINT32_MAX

/* A type that is being measured, and the index of its next field. */
struct pointer_map_limits_work {
    uint32_t type, next;
};

struct measurer {
    const struct types *types;
    struct measure *measures;
    VECTOR(struct pointer_map_limits_work) stack;
};

/* Adds the cost of count values of a type to the cost of the type that contains them. Elements
 * without pointer fields cost as much as one: flatten() visits only the first. */
static void add_measure(struct measure *measure, const struct measure *part, uint64_t count)
{
    const uint64_t times = part->fields == 0 && count > 1 ? 1 : count,
                   work = measure->work + times * part->work;
    if (part->work == TOO_MANY || part->is_busy || part->height >= MAP_DEPTH_MOST ||
        measure->work == TOO_MANY || times > MAP_WORK_MOST || work > MAP_WORK_MOST) {
        measure->work = TOO_MANY;
        return;
    }
    measure->work = (uint32_t)work;
    measure->fields += (uint32_t)times * part->fields;
    if (measure->height <= part->height)
        measure->height = (uint8_t)(part->height + 1);
}

/* Gets the next type within a type that is being measured, and the number of adjacent values of it.
 * Returns false if there are no more. */
static bool next_inner_type(const struct types *types, struct pointer_map_limits_work *at,
                            uint32_t *ret, uint64_t *ret_count)
{
    const struct type *type = types_get(types, at->type);
    *ret_count = 1;
    if (type->kind == TYPE_ARRAY) {
        *ret = type->elem;
        *ret_count = type->length;
        return at->next++ == 0 && type->length > 0;
    }
    if (type->kind != TYPE_STRUCT || at->next >= type->field_count)
        return false;
    *ret = types->fields.data[type->first_field + at->next++].type;
    return true;
}

/* Returns whether a value of a type is a pointer field itself, for example a pointer or a string:
 * one that the collector follows. */
static bool has_pointer_field(const struct type *type)
{
    return type->kind >= TYPE_CHAN && type->kind != TYPE_STRUCT && type->pointer_bytes > 0;
}

/* Measures the types within a type, then the type itself, with a stack of its own: damaged types
 * may be nested arbitrarily deep. A type that contains itself is found by is_busy. Returns false if
 * memory runs out. */
static bool measure_type(struct measurer *measurer, uint32_t root)
{
    const struct types *types = measurer->types;
    uint32_t part;
    uint64_t count;
    measurer->stack.count = 0;
    if (measurer->measures[root].work == 0 &&
        !vector_push(&measurer->stack, ((struct pointer_map_limits_work){root, 0})))
        return false;
    while (measurer->stack.count > 0) {
        struct pointer_map_limits_work *at = &measurer->stack.data[measurer->stack.count - 1];
        struct measure *measure = &measurer->measures[at->type];
        if (measure->work == 0)
            *measure = (struct measure){.work = 1,
                                        .fields = has_pointer_field(types_get(types, at->type)),
                                        .is_busy = true};
        const struct pointer_map_limits_work before = *at;
        if (measure->work == TOO_MANY || !next_inner_type(types, at, &part, &count)) {
            measure->is_busy = false;
            measurer->stack.count--;
        } else if (part >= types->list.count) {
            measure->work = TOO_MANY;
        } else if (measurer->measures[part].work != 0) {
            add_measure(measure, &measurer->measures[part], count);
        } else {
            *at = before; /* this part is visited again after its type has been measured */
            if (!vector_push(&measurer->stack, ((struct pointer_map_limits_work){part, 0})))
                return false;
        }
    }
    return true;
}

/* A type whose map needs more than OWN_WORK. */
struct large_type {
    uint64_t work;
    uint32_t type;
};

typedef VECTOR(struct large_type) large_vector;

/* Orders types by the work that they need. */
static int compare_large(const void *a, const void *b)
{
    const struct large_type *one = a;
    const struct large_type *other = b;
    if (one->work != other->work)
        return COMPARE(one->work, other->work);
    return one->type < other->type ? -1 : 1;
}

/* Notes that a type gets no map of its pointers. */
static void mark_too_large(struct pointer_maps *maps, uint32_t type)
{
    bits_add(maps->too_large, type);
}

/* Measures all types. Marks those that are too large, and lists those that need more than
 * OWN_WORK. Returns false if memory runs out. */
static bool measure_all(struct pointer_maps *maps, struct measurer *measurer, large_vector *ret)
{
    const struct types *types = maps->types;
    for (uint32_t i = 0; i < maps->count; i++) {
        const struct type *type = types_get(types, i);
        if (!measure_type(measurer, i))
            return false;
        const struct measure *measure = &measurer->measures[i];
        const uint64_t words =
            type->gc_mask ? type->pointer_bytes / types->pointer_size : measure->fields;
        if (measure->work == TOO_MANY || measure->fields > MAP_FIELDS_MOST)
            mark_too_large(maps, i);
        else if (measure->work + words > OWN_WORK &&
                 !vector_push(ret, ((struct large_type){measure->work + words, i})))
            return false;
    }
    return true;
}

/* Distributes SHARED_WORK among the large types, the smallest first, and marks those for which
 * nothing is left. */
static void share_work(struct pointer_maps *maps, large_vector *large)
{
    uint64_t left = SHARED_WORK;
    vector_sort(large, compare_large);
    VECTOR_EACH(const struct large_type, type, *large) {
        if (type->work > left)
            mark_too_large(maps, type->type);
        left -= MIN(type->work, left);
    }
}

/* Finds the types whose maps would be too large, and sets their bits in maps->too_large. Returns
 * false if memory runs out. */
static bool find_limits(struct pointer_maps *maps)
{
    struct measurer measurer = {.types = maps->types,
                                .measures = calloc(maps->count + 1, sizeof(*measurer.measures))};
    large_vector large = {0};
    const bool good = measurer.measures && measure_all(maps, &measurer, &large);
    if (good)
        share_work(maps, &large);
    free(large.data);
    free(measurer.measures);
    free(measurer.stack.data);
    return good;
}

/* What a map is made of; the vectors are used again for the next map. */
struct pointer_map_maker {
    const struct types *types;
    VECTOR(struct pointer_field) fields;
    VECTOR(uint32_t) words;
    uint64_t work; /* limited, because the number of nested structs may double with each level */
    bool known, no_memory;
};

/* The mutable state while maps are in use. */
struct pointer_maps_state {
    pthread_mutex_t mutex; /* held while a map is made */
    bool failed;           /* memory ran out for a requested map */
    struct pointer_map_maker maker;
};

/* Returns whether the collector scans the first word of an interface, as it does with older
 * compilers: the mask of any interface type shows it. */
static bool has_first_words(const struct types *types)
{
    for (uint32_t i = 0; i < types->list.count; i++) {
        const struct type *type = types_get(types, i);
        if (type->kind == TYPE_INTERFACE && type->gc_mask && type->role == ROLE_NONE)
            return (type->gc_mask[0] & 1) != 0;
    }
    return false;
}

/* ---- the maps of all types ---- */

/* Prepares the maps of the pointers in types. Only measures the types: a map is made when it is
 * first used, since most types are never used. */
struct g2h_error *pointer_maps_init(struct pointer_maps *maps, const struct types *types)
{
    *maps = (struct pointer_maps){.types = types, .count = types->list.count};
    maps->of_type = calloc(maps->count + 1, sizeof(struct pointer_map *));
    maps->too_large = calloc(maps->count / 64 + 1, sizeof(*maps->too_large));
    maps->state = calloc(1, sizeof(*maps->state));
    if (!maps->of_type || !maps->too_large || !maps->state || !find_limits(maps)) {
        free(maps->of_type);
        free(maps->too_large);
        free(maps->state);
        *maps = (struct pointer_maps){0};
        return &error_no_memory;
    }
    pthread_mutex_init(&maps->state->mutex, NULL);
    maps->first_words = has_first_words(types);
    return NULL;
}

bool pointer_maps_failed(const struct pointer_maps *maps)
{
    return maps->state->failed;
}

void pointer_maps_deinit(struct pointer_maps *maps)
{
    if (!maps->of_type)
        return;
    for (size_t i = 0; i < maps->count; i++)
        free(maps->of_type[i]);
    free(maps->of_type);
    free(maps->too_large);
    free(maps->state->maker.fields.data);
    free(maps->state->maker.words.data);
    pthread_mutex_destroy(&maps->state->mutex);
    free(maps->state);
    *maps = (struct pointer_maps){0};
}

/* ---- fields ---- */

/* Adds a pointer field of type `number` at an offset, unless it points to memory outside of the
 * heap. Beyond MAP_FIELDS_MOST fields the map is not known. */
static void pointer_map_add_field(struct pointer_map_maker *maker, uint64_t offset, uint32_t number)
{
    const struct type *type = types_get(maker->types, number);
    const struct pointer_field field = {offset, number, type->kind == TYPE_STRING};
    if (type->pointer_bytes == 0)
        return; /* the collector skips pointers whose targets are never in the heap */
    if (maker->fields.count == MAP_FIELDS_MOST)
        maker->known = false;
    else if (!vector_push(&maker->fields, field))
        maker->no_memory = true;
}

/* Adds the pointer fields of a value of a type at offset base: structs and arrays contain those of
 * their parts. A type that takes too much work has no known map. Arrays count element by element.
 */
static void flatten(struct pointer_map_maker *maker, uint32_t number, uint64_t base, unsigned depth)
{
    if (!maker->known || maker->no_memory)
        return;
    if (number >= maker->types->list.count || depth > MAP_DEPTH_MOST ||
        ++maker->work > MAP_WORK_MOST) {
        maker->known = false;
        return;
    }
    const struct type *type = types_get(maker->types, number);
    switch ((enum type_kind)type->kind) {
    case TYPE_CHAN:
    case TYPE_FUNC:
    case TYPE_INTERFACE:
    case TYPE_MAP:
    case TYPE_POINTER:
    case TYPE_SLICE:
    case TYPE_STRING:
    case TYPE_UNSAFE_POINTER:
        pointer_map_add_field(maker, base, number);
        break;
    case TYPE_STRUCT:
        for (uint32_t i = 0; i < type->field_count; i++) {
            const struct type_field *field = types_fields(maker->types, type) + i;
            flatten(maker, field->type, base + field->offset, depth + 1);
        }
        break;
    case TYPE_ARRAY: {
        if (type->elem >= maker->types->list.count) {
            maker->known = false;
            break;
        }
        const uint64_t stride = types_size(maker->types, type->elem);
        const size_t before = maker->fields.count;
        for (uint64_t i = 0; i < type->length && maker->known && !maker->no_memory; i++) {
            flatten(maker, type->elem, base + i * stride, depth + 1);
            if (maker->fields.count == before) /* the first element has no fields, so none has */
                break;
        }
        break;
    }
    default:
        break;
    }
}

/* Orders fields by offset, then by type. */
static int compare_fields(const void *a, const void *b)
{
    const struct pointer_field *one = a;
    const struct pointer_field *other = b;
    if (one->offset != other->offset)
        return COMPARE(one->offset, other->offset);
    return COMPARE(one->type, other->type);
}

/* ---- words ---- */

/* Adds a pointer word. With too many of them the map is not known. */
static void add_word(struct pointer_map_maker *maker, uint64_t offset)
{
    if (maker->words.count == MAP_WORDS_MOST || offset > UINT32_MAX ||
        ++maker->work > MAP_WORK_MOST)
        maker->known = false;
    else if (!vector_push(&maker->words, (uint32_t)offset))
        maker->no_memory = true;
}

/* Adds the pointer words by the collector's own mask of the type. A mask that takes too much work
 * is not known. */
static void words_of_mask(struct pointer_map_maker *maker, const struct type *type)
{
    const uint64_t size = maker->types->pointer_size;
    const uint64_t bits = type->pointer_bytes / size;
    if (bits / 8 > MAP_WORK_MOST)
        maker->known = false;
    maker->work += bits / 64;
    for (uint64_t i = 0; i < bits && maker->known && !maker->no_memory; i++)
        if ((type->gc_mask[i / 8] >> (i % 8) & 1) != 0)
            add_word(maker, i * size);
}

/* Adds the pointer words of a type without a mask, by its fields. Of an interface the collector
 * scans the second word; with old compilers also the first. first_words: so did the one that made
 * the program. */
static void words_of_fields(struct pointer_map_maker *maker, bool first_words)
{
    VECTOR_EACH(const struct pointer_field, field, maker->fields) {
        const bool is_interface = types_get(maker->types, field->type)->kind == TYPE_INTERFACE;
        if (!is_interface || first_words)
            add_word(maker, field->offset);
        if (is_interface)
            add_word(maker, field->offset + maker->types->pointer_size);
    }
}

/* Returns the size of a field that has a pointer, by its kind. */
uint64_t pointer_field_size(const struct types *types, uint32_t type)
{
    const uint64_t word = types->pointer_size;
    switch (types_get(types, type)->kind) {
    case TYPE_STRING:
    case TYPE_INTERFACE:
        return 2 * word;
    case TYPE_SLICE:
        return 3 * word;
    default:
        return word;
    }
}

/* Returns how to follow a word that belongs to a field of type `number`: follow.c treats these
 * forms without looking up the type again. If the target's type is not known, the word points to
 * nothing known. */
static struct pointer_word describe_word(const struct types *types, uint32_t offset, uint32_t field,
                                         uint32_t number)
{
    const struct type *type = types_get(types, number);
    const bool is_slice = type->kind == TYPE_SLICE;
    if (type->kind == TYPE_STRING)
        return (struct pointer_word){offset, field, number, WORD_TEXT};
    if (type->kind == TYPE_INTERFACE)
        return (struct pointer_word){offset, field, number, WORD_INTERFACE};
    if (!is_slice && (type->kind != TYPE_POINTER || type->target != TARGET_ONE))
        return (struct pointer_word){offset, field, number, WORD_OTHER};
    if (type->elem >= types->list.count)
        return (struct pointer_word){offset, field, type->elem, WORD_NONE};
    return (struct pointer_word){offset, field, type->elem, is_slice ? WORD_SLICE : WORD_VALUE};
}

/* Finds the field of each word, and removes fields without a word: the collector does not scan
 * them, because their targets are outside the heap. Also removes fields that are not within the
 * type, which come from damage. */
static void match_fields(struct pointer_map_maker *maker, uint64_t size,
                         struct pointer_word *followed)
{
    size_t count = 0, word = 0;
    for (size_t i = 0; i < maker->words.count; i++)
        followed[i] =
            (struct pointer_word){maker->words.data[i], POINTER_FIELD_NONE, TYPE_NONE, WORD_NONE};
    VECTOR_EACH(const struct pointer_field, field, maker->fields) {
        const bool is_interface = types_get(maker->types, field->type)->kind == TYPE_INTERFACE;
        const uint64_t pointer = field->offset + (is_interface ? maker->types->pointer_size : 0);
        while (word < maker->words.count && maker->words.data[word] < pointer)
            word++;
        if (word < maker->words.count && maker->words.data[word] == pointer &&
            pointer_field_size(maker->types, field->type) <= size &&
            field->offset <= size - pointer_field_size(maker->types, field->type)) {
            followed[word] =
                describe_word(maker->types, maker->words.data[word], as_u32(count), field->type);
            maker->fields.data[count++] = *field;
        }
    }
    maker->fields.count = count;
}

enum { CODE_MOST = 6 /* bytes of an encoded word: its kind, and at most five for 32 bits */ };

/* Encodes the words like a dump's field list, so that the two can be compared by memcmp(): for each
 * pointer its kind (fieldKindPtr of runtime/heapdump.go), and its offset as a uvarint. */
static void encode_words(struct pointer_map *map)
{
    enum { FIELD_KIND_PTR = 1 };
    uint8_t *at = map->code;
    for (uint32_t i = 0; i < map->word_count; i++) {
        uint32_t offset = map->words[i];
        *at++ = FIELD_KIND_PTR;
        for (; offset >= 0x80; offset >>= 7)
            *at++ = (uint8_t)(offset | 0x80);
        *at++ = (uint8_t)offset;
    }
    map->code_size = (uint32_t)(at - map->code);
}

/* Moves what the maker has found into the map. Adjacent to it is memory for all of it. */
static void pointer_map_fill(struct pointer_map *map, struct pointer_map_maker *maker)
{
    const size_t fields = maker->fields.count;
    const size_t words = maker->words.count;
    map->fields = (struct pointer_field *)(map + 1);
    map->followed = (struct pointer_word *)(map->fields + fields);
    map->words = (uint32_t *)(map->followed + words);
    map->code = (uint8_t *)(map->words + words);
    match_fields(maker, map->size, map->followed);
    assert(IS_ORDERED(i, maker->fields.count,
                      maker->fields.data[i - 1].offset <= maker->fields.data[i].offset));
    map->field_count = as_u32(maker->fields.count);
    VECTOR_EACH(const struct pointer_field, field, maker->fields) {
        map->fields[field - maker->fields.data] = *field;
        if (field->is_string)
            map->has_strings = true;
        else
            map->has_non_strings = true;
    }
    map->word_count = as_u32(words);
    for (size_t i = 0; i < words; i++)
        map->words[i] = maker->words.data[i];
    encode_words(map);
}

/* Finds the fields and words of a type (number) into the maker: words by the type's mask if it has
 * one, else by its fields. None, and known is false, if the type is invalid or too large. */
static void find_pointers(struct pointer_map_maker *maker, const struct pointer_maps *maps,
                          uint32_t number)
{
    const struct type *type = types_get(maps->types, number);
    maker->types = maps->types;
    maker->fields.count = maker->words.count = 0;
    maker->work = 0;
    maker->known = !bits_have(maps->too_large, number) && type->kind != TYPE_INVALID;
    maker->no_memory = false;
    flatten(maker, number, 0, 0);
    vector_sort(&maker->fields, compare_fields);
    if (type->gc_mask)
        words_of_mask(maker, type);
    else if (type->pointer_bytes > 0)
        words_of_fields(maker, maps->first_words);
    if (!maker->known)
        maker->fields.count = maker->words.count = 0;
}

/* Makes the map of a type (number), or one with known = false if the type is too large. Returns
 * NULL if memory runs out. All of it is one block, since many programs have 100,000 types. */
static struct pointer_map *pointer_map_make(const struct pointer_maps *maps, uint32_t number)
{
    struct pointer_map_maker *maker = &maps->state->maker;
    find_pointers(maker, maps, number);
    const size_t size =
        sizeof(struct pointer_map) + maker->fields.count * sizeof(struct pointer_field) +
        maker->words.count * (sizeof(struct pointer_word) + sizeof(uint32_t) + CODE_MOST);
    struct pointer_map *map = maker->no_memory ? NULL : malloc(size);
    if (!map)
        return NULL;
    *map =
        (struct pointer_map){.size = types_get(maps->types, number)->size, .known = maker->known};
    pointer_map_fill(map, maker);
    return map;
}

/* Makes a map under the lock; another thread may have made it meanwhile. Readers do not lock: they
 * see either NULL or a complete map, since it is stored with release semantics. Returns NULL if
 * memory runs out. */
const struct pointer_map *pointer_maps_make(const struct pointer_maps *maps, uint32_t type)
{
    struct pointer_maps_state *state = maps->state;
    assert(type < maps->count);
    pthread_mutex_lock(&state->mutex);
    struct pointer_map *map = maps->of_type[type];
    if (!map) {
        map = pointer_map_make(maps, type);
        state->failed |= !map;
        __atomic_store_n(&maps->of_type[type], map, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&state->mutex);
    return map;
}
