/* map; see map.h. */
#include "types/pointer_map.h"

#include <stdlib.h>
#include <string.h>

/* A type may say that it is an array of 2^60 structs. What is larger than these has no pointer map;
 * an array of it still has one per element. */
enum { MOST_FIELDS = 1 << 16, MOST_WORDS = 1 << 18, MOST_STEPS = 1 << 18, DEEPEST = 64 };

/* Each map has some steps for itself. The types that take more have so many together, and get them
 * in the order of what they take, whoever is asked for first. A program of 74,000 types takes 3 %
 * of them. */
enum { OWN_STEPS = 64, SHARED_STEPS = 1 << 22 };

struct maker {
    const struct types *types;
    VECTOR(struct pointer_field) fields;
    VECTOR(uint32_t) words;
    uint32_t *field_of_word;
    uint64_t steps; /* structs within structs double with each level */
    bool known, no_memory;
};

/* Whether the collector looks at the first word of an interface: older compilers have it so. Some
 * descriptor tells. */
static bool has_first_words(const struct types *types)
{
    for (size_t i = 0; i < types->list.count; i++)
        if (types->list.data[i].kind == TYPE_INTERFACE && types->list.data[i].gc_mask &&
            types->list.data[i].role == ROLE_NONE)
            return (types->list.data[i].gc_mask[0] & 1) != 0;
    return false;
}

/* ---- which types have one ---- */

/* What flattening a type takes: as much as it takes flatten() below, or more. */
struct measure {
    uint32_t steps; /* 0: not measured yet; TOO_MANY */
    uint32_t fields;
    uint8_t height; /* of types within types */
    bool is_busy;
};

#define TOO_MANY UINT32_MAX

/* A type that is being measured, and which of its fields is next. */
struct measured {
    uint32_t type, next;
};

struct surveyor {
    const struct types *types;
    struct measure *measures;
    VECTOR(struct measured) stack;
};

/* Adds what is within a type to what it takes, so many times. */
static void add_measure(struct measure *measure, const struct measure *part, uint64_t count)
{
    const uint64_t times = part->fields == 0 && count > 1 ? 1 : count,
                   steps = measure->steps + times * part->steps;
    if (part->steps == TOO_MANY || part->is_busy || part->height >= DEEPEST ||
        measure->steps == TOO_MANY || times > MOST_STEPS || steps > MOST_STEPS) {
        measure->steps = TOO_MANY;
        return;
    }
    measure->steps = (uint32_t)steps;
    measure->fields += (uint32_t)times * part->fields;
    if (measure->height <= part->height)
        measure->height = (uint8_t)(part->height + 1);
}

/* The next type within one that is being measured, or TYPE_NONE; false: it has no more. */
static bool next_part(const struct types *types, struct measured *at, uint32_t *ret,
                      uint64_t *ret_count)
{
    const struct type *type = &types->list.data[at->type];
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

static bool has_pointer_field(const struct type *type)
{
    return type->kind >= TYPE_CHAN && type->kind != TYPE_STRUCT && type->pointer_bytes > 0;
}

/* Measures a type, and those within it before. False where there is no memory. */
static bool measure_type(struct surveyor *surveyor, uint32_t root)
{
    const struct types *types = surveyor->types;
    uint32_t part;
    uint64_t count;
    surveyor->stack.count = 0;
    if (surveyor->measures[root].steps == 0 &&
        !vector_push(&surveyor->stack, ((struct measured){root, 0})))
        return false;
    while (surveyor->stack.count > 0) {
        struct measured *at = &surveyor->stack.data[surveyor->stack.count - 1];
        struct measure *measure = &surveyor->measures[at->type];
        if (measure->steps == 0)
            *measure = (struct measure){.steps = 1,
                                        .fields = has_pointer_field(&types->list.data[at->type]),
                                        .is_busy = true};
        const struct measured before = *at;
        if (measure->steps == TOO_MANY || !next_part(types, at, &part, &count)) {
            measure->is_busy = false;
            surveyor->stack.count--;
        } else if (part >= types->list.count) {
            measure->steps = TOO_MANY;
        } else if (surveyor->measures[part].steps != 0) {
            add_measure(measure, &surveyor->measures[part], count);
        } else {
            *at = before; /* once that is known */
            if (!vector_push(&surveyor->stack, ((struct measured){part, 0})))
                return false;
        }
    }
    return true;
}

/* A type whose map takes more than it has for itself. */
struct large_type {
    uint64_t steps;
    uint32_t type;
};

static int compare_large(const void *a, const void *b)
{
    const struct large_type *one = a, *other = b;
    if (one->steps != other->steps)
        return one->steps < other->steps ? -1 : 1;
    return one->type < other->type ? -1 : 1;
}

/* Finds the types that have no pointer map because it would be too large. */
static bool survey(struct pointer_maps *maps)
{
    const struct types *types = maps->types;
    struct surveyor surveyor = {.types = types,
                                .measures = calloc(maps->count + 1, sizeof(*surveyor.measures))};
    VECTOR(struct large_type) large = {0};
    bool good = surveyor.measures != NULL;
    for (uint32_t i = 0; i < maps->count && good; i++) {
        const struct type *type = &types->list.data[i];
        good = measure_type(&surveyor, i);
        const struct measure *measure = &surveyor.measures[i];
        const uint64_t words =
            type->gc_mask ? type->pointer_bytes / types->pointer_size : measure->fields;
        if (good && (measure->steps == TOO_MANY || measure->fields > MOST_FIELDS))
            maps->too_large[i / 64] |= (uint64_t)1 << (i % 64);
        else if (good && measure->steps + words > OWN_STEPS)
            good = vector_push(&large, ((struct large_type){measure->steps + words, i}));
    }
    uint64_t left = SHARED_STEPS;
    if (large.count > 0)
        qsort(large.data, large.count, sizeof(*large.data), compare_large);
    for (size_t i = 0; i < large.count && good; i++) {
        const uint32_t type = large.data[i].type;
        if (large.data[i].steps > left)
            maps->too_large[type / 64] |= (uint64_t)1 << (type % 64);
        left -= large.data[i].steps < left ? large.data[i].steps : left;
    }
    free(large.data);
    free(surveyor.measures);
    free(surveyor.stack.data);
    return good;
}

/* ---- */

struct g2h_error *pointer_maps_init(struct pointer_maps *maps, const struct types *types)
{
    *maps = (struct pointer_maps){.types = types, .count = types->list.count};
    maps->of_type = calloc(maps->count + 1, sizeof(struct pointer_map *));
    maps->too_large = calloc(maps->count / 64 + 1, sizeof(*maps->too_large));
    if (!maps->of_type || !maps->too_large || !survey(maps)) {
        free(maps->of_type);
        free(maps->too_large);
        *maps = (struct pointer_maps){0};
        return &error_no_memory;
    }
    pthread_mutex_init(&maps->mutex, NULL);
    maps->first_words = has_first_words(types);
    return NULL;
}

static void pointer_map_destroy(struct pointer_map *map)
{
    if (!map)
        return;
    free(map->fields);
    free(map->words);
    free(map->field_of_word);
    free(map->code);
    free(map);
}

void pointer_maps_deinit(struct pointer_maps *maps)
{
    if (!maps->of_type)
        return;
    for (size_t i = 0; i < maps->count; i++)
        pointer_map_destroy(maps->of_type[i]);
    free(maps->of_type);
    free(maps->too_large);
    pthread_mutex_destroy(&maps->mutex);
    *maps = (struct pointer_maps){0};
}

/* ---- fields ---- */

static void add_field(struct maker *maker, uint64_t offset, uint32_t number)
{
    const struct type *type = &maker->types->list.data[number];
    const struct pointer_field field = {offset, number, type->kind == TYPE_STRING};
    if (type->pointer_bytes == 0)
        return; /* a pointer to what is never in the heap, which the collector passes over */
    if (maker->fields.count == MOST_FIELDS)
        maker->known = false;
    else if (!vector_push(&maker->fields, field))
        maker->no_memory = true;
}

static void flatten(struct maker *maker, uint32_t number, uint64_t base, unsigned depth)
{
    if (!maker->known || maker->no_memory)
        return;
    if (number >= maker->types->list.count || depth > DEEPEST || ++maker->steps > MOST_STEPS) {
        maker->known = false;
        return;
    }
    const struct type *type = &maker->types->list.data[number];
    switch ((enum type_kind)type->kind) {
    case TYPE_CHAN:
    case TYPE_FUNC:
    case TYPE_INTERFACE:
    case TYPE_MAP:
    case TYPE_POINTER:
    case TYPE_SLICE:
    case TYPE_STRING:
    case TYPE_UNSAFE_POINTER:
        add_field(maker, base, number);
        break;
    case TYPE_STRUCT:
        for (uint32_t i = 0; i < type->field_count; i++) {
            const struct type_field *field = &maker->types->fields.data[type->first_field + i];
            flatten(maker, field->type, base + field->offset, depth + 1);
        }
        break;
    case TYPE_ARRAY: {
        if (type->elem >= maker->types->list.count) {
            maker->known = false;
            break;
        }
        const uint64_t stride = maker->types->list.data[type->elem].size;
        const size_t before = maker->fields.count;
        for (uint64_t i = 0; i < type->length && maker->known && !maker->no_memory; i++) {
            flatten(maker, type->elem, base + i * stride, depth + 1);
            if (maker->fields.count == before) /* nor have the others any */
                break;
        }
        break;
    }
    default:
        break;
    }
}

static int compare_fields(const void *a, const void *b)
{
    const struct pointer_field *one = a, *other = b;
    if (one->offset != other->offset)
        return one->offset < other->offset ? -1 : 1;
    return one->type < other->type ? -1 : one->type > other->type;
}

/* ---- words ---- */

static void add_word(struct maker *maker, uint64_t offset)
{
    if (maker->words.count == MOST_WORDS || offset > UINT32_MAX || ++maker->steps > MOST_STEPS)
        maker->known = false;
    else if (!vector_push(&maker->words, (uint32_t)offset))
        maker->no_memory = true;
}

static void words_of_mask(struct maker *maker, const struct type *type)
{
    const uint64_t size = maker->types->pointer_size;
    const uint64_t bits = type->pointer_bytes / size;
    if (bits / 8 > MOST_STEPS)
        maker->known = false;
    maker->steps += bits / 64;
    for (uint64_t i = 0; i < bits && maker->known && !maker->no_memory; i++)
        if ((type->gc_mask[i / 8] >> (i % 8) & 1) != 0)
            add_word(maker, i * size);
}

static void words_of_fields(struct maker *maker, bool first_words)
{
    for (size_t i = 0; i < maker->fields.count; i++) {
        const struct pointer_field *field = &maker->fields.data[i];
        const bool is_interface = maker->types->list.data[field->type].kind == TYPE_INTERFACE;
        if (!is_interface || first_words)
            add_word(maker, field->offset);
        if (is_interface)
            add_word(maker, field->offset + maker->types->pointer_size);
    }
}

uint64_t pointer_field_size(const struct types *types, uint32_t type)
{
    const uint64_t word = types->pointer_size;
    switch (types->list.data[type].kind) {
    case TYPE_STRING:
    case TYPE_INTERFACE:
        return 2 * word;
    case TYPE_SLICE:
        return 3 * word;
    default:
        return word;
    }
}

/* The collector's mask is the truth: a pointer that it does not look at (to memory outside of the
 * heap) leads nowhere for us either. Leaves that stand outside of their type come from damage. */
static void match_fields(struct maker *maker, uint64_t size)
{
    size_t kept = 0, word = 0;
    maker->field_of_word = malloc((maker->words.count + 1) * sizeof(*maker->field_of_word));
    if (!maker->field_of_word) {
        maker->no_memory = true;
        return;
    }
    memset(maker->field_of_word, 0xff, maker->words.count * sizeof(*maker->field_of_word));
    for (size_t i = 0; i < maker->fields.count; i++) {
        const struct pointer_field *field = &maker->fields.data[i];
        const bool is_interface = maker->types->list.data[field->type].kind == TYPE_INTERFACE;
        const uint64_t pointer = field->offset + (is_interface ? maker->types->pointer_size : 0);
        while (word < maker->words.count && maker->words.data[word] < pointer)
            word++;
        if (word < maker->words.count && maker->words.data[word] == pointer &&
            pointer_field_size(maker->types, field->type) <= size &&
            field->offset <= size - pointer_field_size(maker->types, field->type)) {
            maker->field_of_word[word] = (uint32_t)kept;
            maker->fields.data[kept++] = *field;
        }
    }
    maker->fields.count = kept;
}

/* A dump's field list: kind 1, a pointer, and the offset as a uvarint, for each. */
static bool encode(struct pointer_map *map)
{
    map->code = malloc((size_t)map->word_count * 6 + 1);
    if (!map->code)
        return false;
    uint8_t *at = map->code;
    for (uint32_t i = 0; i < map->word_count; i++) {
        uint32_t offset = map->words[i];
        *at++ = 1;
        for (; offset >= 0x80; offset >>= 7)
            *at++ = (uint8_t)(offset | 0x80);
        *at++ = (uint8_t)offset;
    }
    map->code_size = (uint32_t)(at - map->code);
    return true;
}

static struct pointer_map *make(struct pointer_maps *maps, uint32_t number)
{
    const struct types *types = maps->types;
    const struct type *type = &types->list.data[number];
    const bool is_bounded = (maps->too_large[number / 64] >> (number % 64) & 1) == 0;
    struct maker maker = {.types = types, .known = is_bounded && type->kind != TYPE_INVALID};
    struct pointer_map *map = calloc(1, sizeof(*map));
    if (!map)
        return NULL;
    flatten(&maker, number, 0, 0);
    if (maker.fields.count > 0)
        qsort(maker.fields.data, maker.fields.count, sizeof(*maker.fields.data), compare_fields);
    if (type->gc_mask)
        words_of_mask(&maker, type);
    else if (type->pointer_bytes > 0)
        words_of_fields(&maker, maps->first_words);
    match_fields(&maker, type->size);
    *map = (struct pointer_map){.size = type->size, .known = maker.known};
    if (maker.known) {
        map->fields = maker.fields.data;
        map->field_count = (uint32_t)maker.fields.count;
        for (size_t i = 0; i < maker.fields.count; i++)
            if (maker.fields.data[i].is_string)
                map->has_strings = true;
            else
                map->has_others = true;
        map->words = maker.words.data;
        map->word_count = (uint32_t)maker.words.count;
        map->field_of_word = maker.field_of_word;
    } else {
        free(maker.fields.data);
        free(maker.words.data);
        free(maker.field_of_word);
    }
    if (maker.no_memory || !encode(map)) {
        pointer_map_destroy(map);
        return NULL;
    }
    return map;
}

const struct pointer_map *pointer_maps_make(struct pointer_maps *maps, uint32_t type)
{
    pthread_mutex_lock(&maps->mutex);
    struct pointer_map *map = maps->of_type[type];
    if (!map) {
        map = make(maps, type);
        maps->failed |= !map;
        __atomic_store_n(&maps->of_type[type], map, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&maps->mutex);
    return map;
}
