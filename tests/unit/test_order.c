/*
 * Covers typing/waves: the types of objects do not depend on the threads. Instead of threads, a
 * workers_run() of this file runs the tasks one after the other, in an order and with workers that
 * change with a seed. One dump has more claims than typing looks at.
 */
#define workers_run workers_run_by_threads
#include "base/workers.c" /* so that the library's workers_run() is left out */
#undef workers_run

#include "dump_builder.h"
#include "type_builder.h"

#include "base/releases.h"
#include "graph/graph.h"
#include "typing/fit.h"
#include "typing/typer.h"

enum { HEAP = 0x100000, THREADS = 8 };

static uint64_t order; /* 0: in the order of real threads */

struct g2h_error *workers_run(unsigned threads, size_t tasks, workers_task *run, void *context)
{
    size_t *list = malloc((tasks + 1) * sizeof(*list));
    struct g2h_error *error = NULL;
    if (order == 0) {
        free(list);
        return workers_run_by_threads(threads, tasks, run, context);
    }
    assert_non_null(list);
    for (size_t i = 0; i < tasks; i++)
        list[i] = i;
    for (size_t i = tasks; i > 1; i--) {
        const size_t other = unit_random(&order) % i, task = list[i - 1];
        list[i - 1] = list[other];
        list[other] = task;
    }
    for (size_t i = 0; i < tasks && !error; i++)
        error = run(context, list[i], (unsigned)(unit_random(&order) % threads));
    free(list);
    return error;
}

static struct dump dump;
static struct types types;
static uint64_t dice;

static uint64_t up_to(uint64_t most)
{
    return unit_random(&dice) % (most + 1);
}

/* The heap's first objects are arrays: object i, below roots, has elements of the type root + i. */
static uint32_t root, roots;

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return map_hash(hash + value);
}

/* Returns a hash of all that typing says of the dump's objects. */
static uint64_t type_all(unsigned threads, uint64_t seed)
{
    struct typing *typing = calloc(1, sizeof(*typing));
    struct waves waves;
    uint64_t hash = 0;
    assert_non_null(typing);
    typing->heap = dump.heap;
    typing->types = &types;
    typing->targets = dump.graph->targets;
    typing->threads = threads;
    typing->claims = calloc(dump.heap->object_count + 1, sizeof(*typing->claims));
    typing->texts = calloc(dump.heap->object_count + 1, sizeof(*typing->texts));
    typing->has_parts = calloc(dump.heap->object_count / 64 + 1, sizeof(*typing->has_parts));
    assert_true(typing->claims && typing->texts && typing->has_parts);
    assert_no_error(pointer_maps_init(&typing->pointer_maps, &types));
    assert_no_error(waves_init(&waves, typing));
    order = seed;
    for (uint32_t i = 0; i < roots; i++)
        typer_propose(&waves.typers[0], i, 0,
                      &(struct reference){.type = root + i % (roots > 1 ? roots : 1),
                                          .source = SOURCE_RUNTIME,
                                          .form = REFERENCE_ARRAY});
    assert_no_error(waves_follow(&waves));
    assert_no_error(typing_judge(typing));
    for (uint32_t i = 0; i < dump.heap->object_count; i++) {
        const struct shard *shard = shard_of(typing, i);
        assert_int_equal(typing->claims[i] & CLAIM_FRESH, 0);
        hash = mix(hash, typing->claims[i]);
        for (uint32_t j = map_get(&shard->first, i); j != MAP_NONE; j = shard->parts.data[j].next) {
            const struct typed_part *part = &shard->parts.data[j];
            hash = mix(mix(mix(hash, part->offset), part->count), part->type);
            hash = mix(hash, part->source | part->is_array << 8 | part->is_exact << 9);
        }
    }
    order = 0;
    waves_deinit(&waves);
    for (size_t i = 0; i < SHARDS; i++) {
        map_deinit(&typing->shards[i].first);
        free(typing->shards[i].parts.data);
        shard_forget(&typing->shards[i]);
    }
    pointer_maps_deinit(&typing->pointer_maps);
    free(typing->claims);
    free(typing->texts);
    free(typing->has_parts);
    free(typing);
    return hash;
}

static void same_in_any_order(void)
{
    dump_eof(&dump);
    dump_graph(&dump, 1);
    const uint64_t wanted = type_all(1, 0);
    assert_int_equal(type_all(THREADS, 0), wanted);
    for (uint64_t seed = 1; seed <= 4; seed++)
        assert_int_equal(type_all(THREADS, seed), wanted);
}

FIXTURE(start)
{
    dice = 0x9e3779b97f4a7c15u;
    types_init(&types, 8);
    dump_start_modern(&dump, "go1.19");
}

FIXTURE(end)
{
    dump_deinit(&dump);
    types_deinit(&types);
}

/*
 * 30 types have one to five *int each; holders have a pointer to each type, and all pointers lead
 * to places in one array of *int: these are more parts than an object may have, and more looks at
 * its fields than typing takes.
 */
TEST(too_much_is_the_same)
{
    enum { TYPES = 30, HOLDERS = 4000, WORDS = 4000 };
    const uint64_t list = HEAP, array = list + HOLDERS * 8, holders = array + WORDS * 8 + 8192;
    const uint32_t number = type_add(&types, "int", TYPE_INT, 8, TYPE_NONE),
                   to_number = type_pointer(&types, "*int", number);
    uint32_t pointers[TYPES];
    for (uint64_t i = 0; i < TYPES; i++) {
        char name[16];
        snprintf(name, sizeof(name), "main.T%u", (unsigned)i);
        const uint32_t type = type_struct(&types, name, (i % 5 + 1) * 8);
        for (uint64_t j = 0; j <= i % 5; j++)
            type_field(&types, "f", to_number, j * 8);
        snprintf(name, sizeof(name), "*main.T%u", (unsigned)i);
        pointers[i] = type_pointer(&types, name, type);
    }
    const uint32_t holder = type_struct(&types, "main.Holder", TYPES * 8);
    for (uint64_t i = 0; i < TYPES; i++)
        type_field(&types, "p", pointers[i], i * 8);
    root = type_pointer(&types, "*main.Holder", holder);
    roots = 1;

    uint64_t *words = calloc(HOLDERS, sizeof(*words));
    assert_non_null(words);
    for (uint64_t i = 0; i < HOLDERS; i++)
        words[i] = holders + i * TYPES * 8;
    dump_object(&dump, list, HOLDERS * 8, HOLDERS, words);
    memset(words, 0, HOLDERS * sizeof(*words));
    dump_object(&dump, array, WORDS * 8, WORDS, words);
    for (uint64_t i = 0; i < HOLDERS; i++) {
        for (uint64_t j = 0; j < TYPES; j++)
            words[j] = array + up_to(WORDS - 6) * 8;
        dump_object(&dump, holders + i * TYPES * 8, TYPES * 8, TYPES, words);
    }
    free(words);
    same_in_any_order();
}

/* ---- at random ---- */

enum { KINDS = 24, MOST_OBJECTS = 6000, LISTS = 16, LIST_WORDS = 512 };

/* Adds structs that have much in common, and pointers to and slices of each. Returns the first
 * struct. */
static uint32_t add_types(void)
{
    const uint32_t number = type_add(&types, "int", TYPE_INT, 8, TYPE_NONE),
                   first = (uint32_t)types.list.count;
    char name[24];
    for (uint32_t i = 0; i < KINDS; i++) {
        const uint64_t words = 1 + up_to(9);
        uint64_t at = 0;
        snprintf(name, sizeof(name), "main.T%u", i);
        type_struct(&types, name, words * 8);
        while (at < words) {
            const uint32_t other = (uint32_t)up_to(KINDS - 1);
            const uint64_t kind = up_to(9);
            const struct type *part = i > 0 ? &types.list.data[first + other % i] : NULL;
            if (kind < 2 && part && part->size <= (words - at) * 8) {
                type_field(&types, "part", first + other % i, at * 8);
                at += part->size / 8;
            } else if (kind == 2 && words - at >= 3) {
                type_field(&types, "list", first + 2 * KINDS + other, at * 8);
                at += 3;
            } else if (kind == 3) {
                type_field(&types, "n", number, at++ * 8);
            } else {
                type_field(&types, "p", first + KINDS + other, at++ * 8);
            }
        }
    }
    for (uint32_t i = 0; i < KINDS; i++) {
        snprintf(name, sizeof(name), "*main.T%u", i);
        type_pointer(&types, name, first + i);
    }
    for (uint32_t i = 0; i < KINDS; i++) {
        snprintf(name, sizeof(name), "[]main.T%u", i);
        type_add(&types, name, TYPE_SLICE, 24, first + i);
    }
    return first;
}

/* An object that has one value of the type or several. */
struct random_object {
    uint64_t address, size;
    uint32_t type;
};

/* Writes some lists of pointers, and objects that these and others point to: mostly with pointers
 * where the type has them, to the starts and into the middles of objects. All other words are small
 * numbers. */
static void add_heap(uint32_t first)
{
    struct random_object *objects = calloc(MOST_OBJECTS, sizeof(*objects));
    struct pointer_maps pointer_maps;
    uint64_t address = HEAP;
    assert_non_null(objects);
    assert_no_error(pointer_maps_init(&pointer_maps, &types));
    for (size_t i = 0; i < MOST_OBJECTS; i++) {
        struct random_object *object = &objects[i];
        object->type = first + (uint32_t)up_to(KINDS - 1);
        const uint64_t value = types.list.data[object->type].size,
                       values = up_to(9) > 0 ? 1 + up_to(2) : 1 + up_to(2000);
        object->size = size_class(value * values);
        if (object->size == 0)
            object->size = 32768;
        if (i < LISTS)
            object->size = LIST_WORDS * 8;
        object->address = address;
        address += object->size;
    }
    for (size_t i = 0; i < MOST_OBJECTS; i++) {
        const struct random_object *object = &objects[i];
        const struct pointer_map *map = pointer_map_of(&pointer_maps, object->type);
        uint64_t *words = calloc(object->size / 8, sizeof(*words));
        struct g2h_field *fields = calloc(object->size / 8 + 1, sizeof(*fields));
        size_t count = 0;
        assert_true(words && fields && map);
        for (size_t j = 0; j < object->size / 8; j++)
            words[j] = up_to(3);
        for (uint64_t at = 0; at < object->size; at += i < LISTS ? 8 : map->size)
            for (uint32_t j = 0; j < (i < LISTS ? 1 : map->word_count); j++) {
                const uint64_t offset = at + (i < LISTS ? 0 : map->words[j]);
                const struct random_object *to = &objects[LISTS + up_to(MOST_OBJECTS - LISTS - 1)];
                if (offset >= object->size)
                    break;
                fields[count++].offset = offset;
                words[offset / 8] = to->address + (up_to(3) > 0 ? 0 : up_to(to->size / 8 - 1) * 8);
            }
        const struct g2h_record record = {
            .kind = G2H_RECORD_OBJECT,
            .object = {.address = object->address,
                       .size = object->size,
                       .contents = {(const uint8_t *)words, object->size}}};
        dump_record(&dump, &record, fields, count);
        free(words);
        free(fields);
    }
    pointer_maps_deinit(&pointer_maps);
    free(objects);
}

TEST(any_heap_is_the_same)
{
    for (unsigned i = 0; i < 4; i += unit_step()) {
        const uint32_t first = add_types();
        add_heap(first);
        root = first + KINDS;
        roots = LISTS;
        same_in_any_order();
        if (i < 3) {
            const uint64_t seed = dice;
            end(NULL);
            start(NULL);
            dice = seed;
        }
    }
}

/* The account adds up the sums of all threads, for more objects than one of them handles. */
TEST(accounts_add_up)
{
    enum { OBJECTS = 3 << 16 };
    for (uint64_t i = 0; i < OBJECTS; i++)
        dump_object(&dump, HEAP + i * 16, 16, i % 2, (uint64_t[]){0});
    dump_eof(&dump);
    dump_load(&dump, 1);
    struct typing *typing = calloc(1, sizeof(*typing));
    assert_non_null(typing);
    typing->heap = dump.heap;
    typing->types = &types;
    typing->claims = calloc(OBJECTS, sizeof(*typing->claims));
    typing->texts = calloc(OBJECTS, sizeof(*typing->texts));
    typing->has_parts = calloc(OBJECTS / 64, sizeof(*typing->has_parts));
    assert_true(typing->claims && typing->texts && typing->has_parts);
    type_add(&types, "[2]int", TYPE_ARRAY, 16, TYPE_NONE);
    for (uint32_t i = 0; i < OBJECTS; i++)
        if (i % 3 == 0)
            typing->claims[i] = CLAIM_EXACT | (uint32_t)(i % SOURCES) << CLAIM_SOURCE_SHIFT | 1;
        else
            typing->texts[i] = i % 4 == 0;
    struct g2h_type_account wanted, account;
    typing->threads = 1;
    assert_no_error(typing_account(typing, NULL, &wanted));
    assert_int_equal(wanted.all.objects, OBJECTS);
    assert_int_equal(wanted.all.living_bytes, OBJECTS * 16);
    typing->threads = THREADS;
    for (uint64_t seed = 0; seed < 3; seed++) {
        order = seed;
        assert_no_error(typing_account(typing, NULL, &account));
        assert_memory_equal(&account, &wanted, sizeof(account));
    }
    order = 0;
    free(typing->claims);
    free(typing->texts);
    free(typing->has_parts);
    free(typing);
}

UNIT_MAIN(start, end)
