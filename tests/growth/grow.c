/*
 * grow: writes dumps with COUNT records of one kind to standard output, for run.sh. The records are
 * regular, random, or such as an adversary who knows the source would choose. Keys are "chosen" so
 * that they met in one slot of a hash table before its hash had a seed, and so that ids made of
 * them meet.
 *
 *   grow --list PART       the names of the rows of records or of formats, each with a count;
 * run.sh begins with it, or with a 20th of it grow NAME COUNT
 *   grow core COUNT        a core file, with so many mappings, files and threads
 */
#include <elf.h>

#include "dump_builder.h"

#include "output/ids.h"

#define BASE  UINT64_C(0xc000000000)
#define ARENA ((uint64_t)1 << ID_ARENA_SHIFT)

/* ---- keys ---- */

/* The inverse of id_hash(). */
static uint64_t unhash(uint64_t hash)
{
    const uint64_t factors[2] = {0x94d049bb133111eb, 0xbf58476d1ce4e5b9};
    const unsigned shifts[3] = {31, 27, 30};
    for (int i = 0; i < 3; i++) {
        hash ^= hash >> shifts[i] ^ hash >> 2 * shifts[i];
        uint64_t inverse = i < 2 ? factors[i] : 0;
        for (int j = 0; i < 2 && j < 6; j++)
            inverse *= 2 - factors[i] * inverse;
        hash *= i < 2 ? inverse : 1;
    }
    return hash;
}

/* Returns the key of number i. These keys met in one slot of every table of up to 2^24 slots. */
static uint64_t chosen(uint64_t i)
{
    return unhash(i << 24);
}

/* Returns the next of the keys that all have the same first id for this kind of node. */
static uint64_t chosen_id(enum g2h_node_kind kind)
{
    static uint64_t next;
    uint64_t what;
    do
        what = unhash(next++ << 30);
    while (what % 16 != (uint64_t)(kind - G2H_NODE_GOROUTINE));
    return what / 16;
}

static uint64_t any(void)
{
    static uint64_t state = 4711;
    return unit_random(&state);
}

/* ---- records ---- */

static struct g2h_bytes text_of(const char *text)
{
    return (struct g2h_bytes){(const uint8_t *)text, strlen(text)};
}

static struct g2h_bytes name_of(const char *prefix, uint64_t number)
{
    static char text[64];
    snprintf(text, sizeof(text), "%s%llu", prefix, (unsigned long long)number);
    return text_of(text);
}

#define PUT_RECORD(dump, of_kind, ...) \
    dump_record(dump, &(struct g2h_record){.kind = (of_kind), __VA_ARGS__}, NULL, 0)

static void objects_random(struct dump *dump, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        dump_object(dump, BASE + i * 64, 64,
                    WORDS(BASE + any() % count * 64, BASE + any() % count * 64));
}

/* Writes the objects in descending order, the opposite of the order that the reader wants. */
static void objects_descending(struct dump *dump, uint64_t count)
{
    for (uint64_t i = count; i-- > 0;)
        dump_object(dump, BASE + i * 4096, 64, WORDS(BASE + (count - i) * 4096));
}

/* Writes objects of two spans in turn, so that no run has more than one object. */
static void objects_interleaved(struct dump *dump, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        dump_object(dump, BASE + (i % 2 * (count / 2) + i / 2 * 7919 % (count / 2)) * 32, 32,
                    WORDS(BASE));
}

static void objects_hub(struct dump *dump, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        dump_object(dump, BASE + i * 32, 32, WORDS(BASE + count / 2 * 32 + 8, BASE));
    dump_bss(dump, 0x560000, WORDS(BASE));
}

static void objects_list(struct dump *dump, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        dump_object(dump, BASE + i * 32, 32, WORDS(BASE + (i * 7919 + 7919) % count * 32));
    dump_bss(dump, 0x560000, WORDS(BASE));
}

/* The worst case for dominators: a ladder whose rungs lead up again. */
static void objects_ladder(struct dump *dump, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        dump_object(dump, BASE + i * 32, 32,
                    WORDS(BASE + (i + 2) % count * 32, BASE + (i > 0 ? i - 1 : 0) * 32,
                          BASE + (count - 1 - i) * 32));
    dump_bss(dump, 0x560000, WORDS(BASE, BASE + 32));
}

/* Gives each object a field list of its own. */
static void objects_shapes(struct dump *dump, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        struct g2h_field fields[24];
        static const uint8_t zeros[256];
        size_t listed = 0;
        for (uint64_t bit = 0; bit < 24; bit++)
            if (((i + 1) >> bit & 1) != 0)
                fields[listed++] = (struct g2h_field){G2H_FIELD_POINTER, bit * 8};
        const struct g2h_record record = {
            .kind = G2H_RECORD_OBJECT,
            .object = {.address = BASE + i * 256, .size = 256, .contents = {zeros, 256}}};
        dump_uvarint(dump, record.kind);
        dump_uvarints(dump, WORDS(record.object.address, 256));
        dump_bytes(dump, zeros, 256);
        dump_fields(dump, fields, listed);
    }
}

/* Writes an object in each arena; all arenas have the same slot for their ids. */
static void objects_scattered(struct dump *dump, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        dump_object(dump, BASE + (i * 1024 + (256 - i * 157 % 256) % 256) * ARENA + i % 7 * 16, 16,
                    WORDS(BASE));
}

static void objects_overlapping(struct dump *dump, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        dump_object(dump, BASE + i * 8, 64, WORDS(BASE + i * 16));
}

/* Writes objects of terabytes, of which the file has no contents. */
static void objects_huge(struct dump *dump, uint64_t count)
{
    const uint64_t huge = (uint64_t)1 << 41;
    for (uint64_t i = 0; i < count; i++) {
        dump_tag(dump, G2H_RECORD_OBJECT);
        dump_uvarints(dump, WORDS(BASE + i * huge, huge, 0));
    }
}

/* Writes one object with many fields. */
static void object_fields(struct dump *dump, uint64_t count)
{
    uint64_t *words = calloc(count, sizeof(*words));
    assert_non_null(words);
    for (uint64_t i = 0; i < count; i++)
        words[i] = BASE + i * 8;
    dump_object(dump, BASE, count * 8, count, words);
    free(words);
}

static void other_roots(struct dump *dump, uint64_t count)
{
    dump_object(dump, BASE, 64, NO_WORDS);
    for (uint64_t i = 0; i < count; i++)
        PUT_RECORD(dump, G2H_RECORD_OTHERROOT, .otherroot = {text_of("runtime.work"), BASE + 8});
}

static void other_roots_named(struct dump *dump, uint64_t count)
{
    dump_object(dump, BASE, 64, NO_WORDS);
    for (uint64_t i = 0; i < count; i++)
        PUT_RECORD(dump, G2H_RECORD_OTHERROOT, .otherroot = {name_of("root ", i), any()});
}

static void types_at(struct dump *dump, uint64_t count, uint64_t (*address)(uint64_t))
{
    for (uint64_t i = 0; i < count; i++)
        PUT_RECORD(dump, G2H_RECORD_TYPE, .type = {address(i), 64, name_of("main.T", i % 50)});
    for (uint64_t i = 0; i < count; i++)
        PUT_RECORD(dump, G2H_RECORD_ITAB, .itab = {address(i) ^ 8, address(i), true});
}

static uint64_t random_address(uint64_t i)
{
    return unhash(unhash(i) + 1);
}

static void types_random(struct dump *dump, uint64_t count)
{
    types_at(dump, count, random_address);
}

static void types_chosen(struct dump *dump, uint64_t count)
{
    types_at(dump, count, chosen);
}

/* Writes types as in Go 1.3, with fields, and objects of these types. */
static void old_types(struct dump *dump, uint64_t count)
{
    const struct g2h_field fields[] = {{G2H_FIELD_POINTER, 0}, {G2H_FIELD_SLICE, 8}};
    for (uint64_t i = 0; i < count; i++)
        dump_type(dump, chosen(i), 64, "main.T", true, fields, 2);
    for (uint64_t i = 0; i < count; i++)
        dump_typed_object(dump, BASE + i * 64, chosen(i), G2H_OBJECT_VALUE, 64, WORDS(BASE));
}

static void old_type_fields(struct dump *dump, uint64_t count)
{
    struct g2h_field *fields = calloc(count, sizeof(*fields));
    assert_non_null(fields);
    for (uint64_t i = 0; i < count; i++)
        fields[i] = (struct g2h_field){G2H_FIELD_POINTER, i * 8};
    dump_type(dump, 0x1000, count * 8, "main.T", true, fields, count);
    dump_typed_object(dump, BASE, 0x1000, G2H_OBJECT_ARRAY, count * 8, WORDS(BASE));
    free(fields);
}

static void put_goroutine_record(struct dump *dump, uint64_t goid, uint64_t address, uint64_t pc)
{
    PUT_RECORD(dump, G2H_RECORD_GOROUTINE,
               .goroutine = {.address = address,
                             .sp = 0xc100000000 + address,
                             .goid = goid,
                             .creation_pc = pc,
                             .status = 4,
                             .wait_reason = {(const uint8_t *)"chan send", 9}});
}

static void goroutines_random(struct dump *dump, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        put_goroutine_record(dump, i + 1, BASE + i * 512, 0x400000 + any() % 0x10000);
        dump_frame(dump, "main.f", 0xc100000000 + i * 4096, 0, WORDS(BASE, 0, BASE + 64), 2);
    }
}

/* Each goroutine waits for a sync.Cond of its own, and all of these are in one array, as
 * before 1.26 only their lists say who waits. */
static void goroutines_conditions(struct dump *dump, uint64_t count)
{
    enum { G = 512, SUDOG = 96, CONDITION = 4 /* words: numbers, lock, head, tail */ };
    const uint64_t sudogs = BASE + count * G, array = sudogs + count * SUDOG;
    uint64_t *words = calloc(count, CONDITION * sizeof(*words));
    assert_non_null(words);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t sudog = sudogs + i * SUDOG;
        words[CONDITION * i] = 1; /* one has come, none was notified */
        words[CONDITION * i + 2] = words[CONDITION * i + 3] = sudog;
        dump_object(dump, BASE + i * G, G, NO_WORDS);
        dump_object(dump, sudog, SUDOG, WORDS(BASE + i * G));
        PUT_RECORD(dump, G2H_RECORD_GOROUTINE,
                   .goroutine = {.address = BASE + i * G,
                                 .sp = 0xc100000000 + i * 4096,
                                 .goid = i + 2,
                                 .status = 4,
                                 .wait_reason = text_of("sync.Cond.Wait")});
    }
    dump_object(dump, array, count * CONDITION * 8, count * CONDITION, words);
    dump_bss(dump, 0x560000, WORDS(array));
    free(words);
}

static void goroutines_equal(struct dump *dump, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        put_goroutine_record(dump, 7, BASE, 0x400000);
}

static void goroutines_chosen(struct dump *dump, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        put_goroutine_record(dump, chosen_id(G2H_NODE_GOROUTINE), BASE + i * 8, chosen(i));
}

static void frames_deep(struct dump *dump, uint64_t count)
{
    put_goroutine_record(dump, 1, BASE, 0x400000);
    for (uint64_t i = 0; i < count; i++)
        dump_frame(dump, "main.f", 0xc100000000 + i * 64, i, WORDS(BASE, 1, 2), 2);
}

/* All frames claim the same memory, and their goroutines all have the same number. */
static void frames_equal(struct dump *dump, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        put_goroutine_record(dump, 1, BASE, 0x400000);
        dump_frame(dump, "main.f", 0xc100000000, 0, WORDS(BASE, 0xc100000000, 2), 3);
    }
}

static void frames_named(struct dump *dump, uint64_t count)
{
    put_goroutine_record(dump, 1, BASE, 0x400000);
    for (uint64_t i = 0; i < count; i++)
        dump_frame(dump, (const char *)name_of("main.f", i).data, 0xc100000000 + i * 64, i,
                   NO_WORDS, 0);
}

/* Writes one frame with many words. */
static void frame_fields(struct dump *dump, uint64_t count)
{
    uint64_t *words = calloc(count, sizeof(*words));
    assert_non_null(words);
    put_goroutine_record(dump, 1, BASE, 0x400000);
    for (uint64_t i = 0; i < count; i++)
        words[i] = BASE + i;
    dump_frame(dump, "main.f", 0xc100000000, 0, count, words, count);
    free(words);
}

static void finalizers(struct dump *dump, uint64_t count)
{
    dump_object(dump, BASE, 64, NO_WORDS);
    for (uint64_t i = 0; i < count; i++)
        dump_finalizer(dump, i % 2 == 0 ? G2H_RECORD_FINALIZER : G2H_RECORD_QUEUEDFINALIZER, BASE,
                       BASE + 8);
}

static void finalizers_chosen(struct dump *dump, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        dump_finalizer(dump, G2H_RECORD_FINALIZER, chosen_id(G2H_NODE_FINALIZER), BASE);
}

static void os_threads(struct dump *dump, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        PUT_RECORD(dump, G2H_RECORD_OSTHREAD, .osthread = {BASE, 1, 1});
}

static void os_threads_chosen(struct dump *dump, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        PUT_RECORD(dump, G2H_RECORD_OSTHREAD, .osthread = {BASE, chosen_id(G2H_NODE_OS_THREAD), i});
}

static void defers(struct dump *dump, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        PUT_RECORD(dump, G2H_RECORD_DEFER, .defer = {BASE, BASE, 1, 2, BASE, 3, BASE});
        PUT_RECORD(dump, G2H_RECORD_PANIC, .panic = {BASE, BASE, 1, BASE, BASE, BASE});
    }
}

/* Writes a profile, with a sampled object for each record: all of one place, or of places whose
 * keys meet. */
static void put_profile(struct dump *dump, uint64_t count, bool is_chosen)
{
    static const uint8_t frame[] = {6, 'm', 'a', 'i', 'n', '.', 'f', 4, 'm', '.', 'g', 'o', 7};
    for (uint64_t i = 0; i < count; i++)
        dump_object(dump, BASE + i * 32, 32, NO_WORDS);
    for (uint64_t i = 0; i < count; i++)
        PUT_RECORD(dump, G2H_RECORD_MEMPROF,
                   .memprof = {is_chosen ? chosen(i) : 1, 32, 2, 1, 1, {frame, sizeof(frame)}});
    for (uint64_t i = 0; i < count; i++)
        PUT_RECORD(dump, G2H_RECORD_ALLOCSAMPLE,
                   .allocsample = {BASE + i * 32, is_chosen ? chosen(i) : 1});
}

static void profile(struct dump *dump, uint64_t count)
{
    put_profile(dump, count, false);
}

static void profile_chosen(struct dump *dump, uint64_t count)
{
    put_profile(dump, count, true);
}

static void segments(struct dump *dump, uint64_t count)
{
    dump_object(dump, BASE, 64, NO_WORDS);
    for (uint64_t i = 0; i < count; i++)
        dump_bss(dump, 0x560000, WORDS(BASE, 0x560000, BASE + 16));
}

static void segment_fields(struct dump *dump, uint64_t count)
{
    uint64_t *words = calloc(count, sizeof(*words));
    assert_non_null(words);
    dump_object(dump, BASE, 64, NO_WORDS);
    for (uint64_t i = 0; i < count; i++)
        words[i] = BASE + i % 64;
    dump_bss(dump, 0x560000, count, words);
    free(words);
}

static void memstats(struct dump *dump, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        dump_memstats(dump, 1, 2);
}

static void params(struct dump *dump, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        dump_params(dump);
}

/* Writes roots in the layout of 2013. */
static void old_roots(struct dump *dump, uint64_t count)
{
    dump_typed_object(dump, BASE, 0, G2H_OBJECT_VALUE, 64, NO_WORDS);
    for (uint64_t i = 0; i < count; i++) {
        PUT_RECORD(dump, G2H_RECORD_STACKROOT, .stackroot = {0x7000, BASE, 0x7000});
        PUT_RECORD(dump, G2H_RECORD_DATAROOT, .dataroot = {0x560000, BASE});
    }
}

/* ---- shapes that are hard on what formats ask for ---- */

/* Writes an object of Go 1.3 that has a type of its own, or the type of number 0, and two words. */
static void put_typed(struct dump *dump, uint64_t number, uint64_t type, uint64_t one,
                      uint64_t other)
{
    const struct g2h_field fields[] = {{G2H_FIELD_POINTER, 0}, {G2H_FIELD_POINTER, 8}};
    if (type == number)
        dump_type(dump, 0x400000 + type * 64, 16, (const char *)name_of("main.T", type).data, true,
                  fields, 2);
    dump_typed_object(dump, BASE + number * 16, 0x400000 + type * 64, G2H_OBJECT_VALUE, 16,
                      WORDS(one, other));
}

static uint64_t object_at(uint64_t number, uint64_t count)
{
    return number < count ? BASE + number * 16 : 0;
}

/* Each object holds the next one; no two have one class. */
static void classes_chain(struct dump *dump, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        put_typed(dump, i, i, object_at(i + 1, count), 0);
    dump_bss(dump, 0x560000, WORDS(BASE));
}

/* The same, and each holds one object more, of one class. The last of the others holds all back. */
static void classes_comb(struct dump *dump, uint64_t count)
{
    put_typed(dump, 0, 0, BASE + 16, 0);
    for (uint64_t i = 1; i + 1 < count; i += 2) {
        put_typed(dump, i, i, object_at(i + 2, count), object_at(i + 1, count));
        put_typed(dump, i + 1, 0, 0, 0);
    }
    dump_bss(dump, 0x560000, WORDS(BASE));
}

/* A chain that is held at both ends, and whose objects lead back. */
static void classes_both_ways(struct dump *dump, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        put_typed(dump, i, i, object_at(i + 1, count), i > 0 ? BASE + i * 16 - 16 : 0);
    dump_bss(dump, 0x560000, WORDS(BASE));
    put_goroutine_record(dump, 1, BASE, 0x400000);
    dump_frame(dump, "main.f", 0xc100000000 + BASE, 0, WORDS(BASE + count * 16 - 16), 1);
}

/* A binary tree of distinct classes. */
static void classes_tree(struct dump *dump, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        put_typed(dump, i, i, object_at(2 * i + 1, count), object_at(2 * i + 2, count));
    dump_bss(dump, 0x560000, WORDS(BASE));
}

/* Two classes take turns in a chain, each of which has objects of a third below. */
static void classes_in_turn(struct dump *dump, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        put_typed(dump, i, i < 4 ? i : i % 4, object_at(i + 1, count), 0);
    dump_bss(dump, 0x560000, WORDS(BASE));
}

/* Garbage: a chain of distinct classes that nothing holds, and one that leads into it. */
static void classes_garbage(struct dump *dump, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        put_typed(dump, i, i, object_at(i + 1, count), object_at(i / 2, count));
    dump_bss(dump, 0x560000, WORDS(0));
}

/* All objects have one class, whose name is as long as there are objects. */
static void class_long(struct dump *dump, uint64_t count)
{
    char *name = malloc(count + 1);
    const struct g2h_field fields[] = {{G2H_FIELD_POINTER, 0}};
    assert_non_null(name);
    memset(name, 'x', count);
    memcpy(name, "main.", 5);
    name[count] = '\0';
    dump_type(dump, 0x400000, 16, name, true, fields, 1);
    for (uint64_t i = 0; i < count; i++)
        dump_typed_object(dump, BASE + i * 16, 0x400000, G2H_OBJECT_VALUE, 16,
                          WORDS(object_at(i + 1, count)));
    dump_bss(dump, 0x560000, WORDS(BASE));
    free(name);
}

/* A binary tree of distinct classes with long names, of signs that take most space where they are
 * escaped. */
static void classes_marked(struct dump *dump, uint64_t count)
{
    enum { SIGNS = 300 };
    const struct g2h_field fields[] = {{G2H_FIELD_POINTER, 0}, {G2H_FIELD_POINTER, 8}};
    char name[SIGNS + 32];
    for (uint64_t i = 0; i < count; i++) {
        const int begin = snprintf(name, sizeof(name), "main.T%llu", (unsigned long long)i);
        memset(name + begin, '<', SIGNS);
        name[begin + SIGNS] = '\0';
        dump_type(dump, 0x400000 + i * 64, 16, name, true, fields, 2);
        dump_typed_object(dump, BASE + i * 16, 0x400000 + i * 64, G2H_OBJECT_VALUE, 16,
                          WORDS(object_at(2 * i + 1, count), object_at(2 * i + 2, count)));
    }
    dump_bss(dump, 0x560000, WORDS(BASE));
}

/* Goroutines in places of their own. Each holds the object of its number and the last one. */
static void put_places(struct dump *dump, uint64_t count, uint64_t (*next)(uint64_t, uint64_t))
{
    for (uint64_t i = 0; i < count; i++)
        dump_object(dump, BASE + i * 16, 16, WORDS(next(i, count)));
    for (uint64_t i = 0; i < count; i++) {
        put_goroutine_record(dump, i + 1, 0x700000 + i * 512, 0x400000 + i * 16);
        dump_frame(dump, (const char *)name_of("main.f", i).data, 0xc100700000 + i * 512, 0,
                   WORDS(BASE + i * 16, BASE + count * 16 - 16), 2);
    }
    dump_bss(dump, 0x560000, WORDS(BASE));
}

static uint64_t none(uint64_t i, uint64_t count)
{
    (void)i, (void)count;
    return 0;
}

static uint64_t next_of(uint64_t i, uint64_t count)
{
    return object_at(i + 1, count);
}

static uint64_t one_before(uint64_t i, uint64_t count)
{
    (void)count;
    return i > 0 ? BASE + i * 16 - 16 : 0;
}

static uint64_t random_of(uint64_t i, uint64_t count)
{
    (void)i;
    return BASE + any() % count * 16;
}

static void places(struct dump *dump, uint64_t count)
{
    put_places(dump, count, none);
}

static void places_chain(struct dump *dump, uint64_t count)
{
    put_places(dump, count, next_of);
}

static void places_back(struct dump *dump, uint64_t count)
{
    put_places(dump, count, one_before);
}

static void places_random(struct dump *dump, uint64_t count)
{
    put_places(dump, count, random_of);
}

/*
 * One half of the objects are trees of 100, each of which a goroutine in a place of its own holds.
 * The other half hold two others each, a little further on; a part of the trees' objects lead to
 * them. So most of the other half are held by many goroutines, by ways that lead through each
 * other.
 */
static void places_shared(struct dump *dump, uint64_t count)
{
    enum { TYPES = 50, OF_TREE = 100, LEADING = 8, FAR = 1000 };
    const struct g2h_field fields[] = {
        {G2H_FIELD_POINTER, 0}, {G2H_FIELD_POINTER, 8}, {G2H_FIELD_POINTER, 16}};
    const uint64_t trees = count / 2 / OF_TREE, first = trees * OF_TREE, others = count - first;
    for (uint64_t i = 0; i < TYPES; i++)
        dump_type(dump, 0x400000 + i * 64, 32, (const char *)name_of("main.T", i).data, true,
                  fields, 3);
    for (uint64_t i = 0; i < count; i++) {
        const bool is_other = i >= first;
        const uint64_t root = i / OF_TREE * OF_TREE, child = root + 2 * (i - root) + 1,
                       end = is_other ? 0 : root + OF_TREE;
        uint64_t words[3] = {child < end ? child : count, child + 1 < end ? child + 1 : count,
                             count};
        for (int j = 0; is_other && j < 2; j++)
            words[j] = first + (i - first + 1 + any() % FAR) % others;
        if (!is_other && i % LEADING == 0)
            words[2] = first + any() % others;
        for (int j = 0; j < 3; j++)
            words[j] = words[j] < count ? BASE + words[j] * 32 : 0;
        dump_typed_object(dump, BASE + i * 32, 0x400000 + any() % TYPES * 64, G2H_OBJECT_VALUE, 32,
                          3, words);
    }
    for (uint64_t i = 0; i < trees; i++) {
        put_goroutine_record(dump, i + 1, 0x700000 + i * 512, 0x400000 + i * 16);
        dump_frame(dump, (const char *)name_of("main.f", i).data, 0xc100700000 + i * 512, 0,
                   WORDS(BASE + i * OF_TREE * 32), 1);
    }
}

/* Goroutines with stacks of 2 GB, of which a dump has a frame. All have the same runtime.g. */
static void stacks(struct dump *dump, uint64_t count)
{
    const uint64_t lo = 0xc100000000 + BASE - 4096;
    dump_object(dump, BASE, 64, WORDS(lo, lo + 1900000000));
    for (uint64_t i = 0; i < count; i++) {
        put_goroutine_record(dump, i + 1, BASE, 0x400000 + i * 16);
        dump_frame(dump, "main.f", 0xc100000000 + BASE, 0, WORDS(BASE), 1);
    }
}

/* Deferred calls and panics, each of which links to the one before, of functions of their own. */
static void defers_linked(struct dump *dump, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        dump_object(dump, BASE + i * 64, 64, WORDS(BASE + i * 64));
    put_goroutine_record(dump, 1, BASE, 0x400000);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t at = BASE + i * 64, before = i > 0 ? at - 64 : 0;
        PUT_RECORD(dump, G2H_RECORD_DEFER, .defer = {at, BASE, 1, 2, at, 0x400000 + i, before});
        PUT_RECORD(dump, G2H_RECORD_PANIC, .panic = {at, BASE, 1, at, 0, before});
    }
}

/* Each object has a finalizer that holds the next one. */
static void finalizers_chain(struct dump *dump, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        dump_object(dump, BASE + i * 16, 16, NO_WORDS);
    for (uint64_t i = 0; i < count; i++)
        dump_finalizer(dump, G2H_RECORD_FINALIZER, BASE + i * 16, BASE + (i + 1) % count * 16);
    dump_bss(dump, 0x560000, WORDS(BASE));
}

/* Each word of a segment is a global that holds an object, which holds the one of the next. */
static void globals(struct dump *dump, uint64_t count)
{
    uint64_t *words = calloc(count, sizeof(*words));
    assert_non_null(words);
    for (uint64_t i = 0; i < count; i++) {
        dump_object(dump, BASE + i * 16, 16, WORDS(BASE + (i + 1) % count * 16));
        words[i] = BASE + i * 16;
    }
    dump_bss(dump, 0x560000, count, words);
    free(words);
}

/* One object leads to all others, which lead back. */
static void objects_fan(struct dump *dump, uint64_t count)
{
    const uint64_t first = BASE + ((uint64_t)1 << 36);
    uint64_t *words = calloc(count, sizeof(*words));
    assert_non_null(words);
    for (uint64_t i = 0; i < count; i++)
        words[i] = first + i * 16;
    dump_object(dump, BASE, count * 8, count, words);
    for (uint64_t i = 0; i < count; i++)
        dump_object(dump, first + i * 16, 16, WORDS(BASE));
    dump_bss(dump, 0x560000, WORDS(BASE));
    free(words);
}

/* Objects of different sizes, and so of different classes, in a chain. */
static void sizes_chain(struct dump *dump, uint64_t count)
{
    uint64_t at = BASE;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t size = 16 + i % 64 * 16;
        dump_object(dump, at, size, WORDS(i + 1 < count ? at + size : 0));
        at += size;
    }
    dump_bss(dump, 0x560000, WORDS(BASE));
}

/* Writes records of the profile with stacks of their own, or one with a stack of count frames, and
 * an object for each. */
static void put_sites(struct dump *dump, uint64_t sites, uint64_t frames, uint64_t samples)
{
    for (uint64_t i = 0; i < samples; i++)
        dump_object(dump, BASE + i * 16, 16, WORDS(object_at(i + 1, samples)));
    for (uint64_t i = 0; i < sites; i++) {
        struct dump stack = {0};
        for (uint64_t frame = 0; frame < frames; frame++) {
            dump_string(&stack, (const char *)name_of("main.f", i * frames + frame).data);
            dump_string(&stack, "main.go");
            dump_uvarint(&stack, frame);
        }
        PUT_RECORD(dump, G2H_RECORD_MEMPROF,
                   .memprof = {i + 1, 16, frames, 1, 0, {stack.data, stack.size}});
        free(stack.data);
    }
    for (uint64_t i = 0; i < samples; i++)
        PUT_RECORD(dump, G2H_RECORD_ALLOCSAMPLE, .allocsample = {BASE + i * 16, i % sites + 1});
    dump_bss(dump, 0x560000, WORDS(BASE));
}

static void profile_sites(struct dump *dump, uint64_t count)
{
    put_sites(dump, count, 3, count);
}

static void profile_deep(struct dump *dump, uint64_t count)
{
    put_sites(dump, 1, count, count);
}

/* ---- core files ---- */

enum { CORE_SEGMENT = 64 /* bytes */ };

static void core_note(struct dump *core, uint32_t type, const void *data, uint64_t size)
{
    const Elf64_Nhdr header = {5, (Elf64_Word)size, type};
    dump_bytes(core, &header, sizeof(header));
    dump_bytes(core, "CORE\0\0\0", 8);
    dump_bytes(core, data, size);
}

/* Puts a list of files, each of which is mapped at one of the segments. */
static void core_files(struct dump *core, uint64_t count)
{
    struct dump note = {0};
    const uint64_t header[2] = {count, 4096};
    char path[32];
    dump_bytes(&note, header, sizeof(header));
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t file[3] = {BASE + i * 4096, BASE + i * 4096 + 4096, 0};
        dump_bytes(&note, file, sizeof(file));
    }
    for (uint64_t i = 0; i < count; i++)
        dump_bytes(&note, path,
                   (uint64_t)snprintf(path, sizeof(path), "/no/%llu", (unsigned long long)i) + 1);
    while (note.size % 4 != 0)
        dump_bytes(&note, "", 1);
    core_note(core, NT_FILE, note.data, note.size);
    dump_deinit(&note);
}

static void core_threads(struct dump *core, uint64_t count)
{
    uint8_t thread[336] = {0};
    for (uint64_t i = 0; i < count; i++) {
        memcpy(thread + 32, &(uint32_t){(uint32_t)i + 1}, 4);
        core_note(core, NT_PRSTATUS, thread, sizeof(thread));
    }
}

/* Writes a core with as many mappings, files and threads. */
static void core_put(struct dump *core, uint64_t count)
{
    struct dump notes = {0};
    core_files(&notes, count);
    core_threads(&notes, count);
    const uint64_t first = sizeof(Elf64_Ehdr) + (count + 1) * sizeof(Elf64_Phdr);
    const Elf64_Ehdr header = {
        .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_CORE,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_phoff = sizeof(Elf64_Ehdr),
        .e_ehsize = sizeof(Elf64_Ehdr),
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = (Elf64_Half)(count + 1)};
    const Elf64_Phdr note = {.p_type = PT_NOTE, .p_offset = first, .p_filesz = notes.size};
    dump_bytes(core, &header, sizeof(header));
    dump_bytes(core, &note, sizeof(note));
    for (uint64_t i = 0; i < count; i++) {
        const Elf64_Phdr load = {.p_type = PT_LOAD,
                                 .p_offset = first + notes.size + i * CORE_SEGMENT,
                                 .p_vaddr = BASE + (i * 7919 % count) * 4096,
                                 .p_filesz = CORE_SEGMENT,
                                 .p_memsz = 4096};
        dump_bytes(core, &load, sizeof(load));
    }
    dump_bytes(core, notes.data, notes.size);
    for (uint64_t i = 0; i < count; i++)
        dump_bytes(core, (uint8_t[CORE_SEGMENT]){0}, CORE_SEGMENT);
    dump_deinit(&notes);
}

/* ---- */

/* Shapes that matter to reading only are not written in all formats, and those that matter to
 * formats only are not read at the size at which the others are. */
enum part { IN_BOTH, IN_RECORDS, IN_FORMATS };

static const struct row {
    const char *name;
    void (*put)(struct dump *dump, uint64_t count);
    unsigned count;
    enum dump_format format;
    enum part part;
} rows[] = {
    {"objects-random", objects_random, 10000, DUMP_1_7, IN_BOTH},
    {"objects-descending", objects_descending, 10000, DUMP_1_7, IN_RECORDS},
    {"objects-interleaved", objects_interleaved, 10000, DUMP_1_7, IN_RECORDS},
    {"objects-hub", objects_hub, 20000, DUMP_1_7, IN_BOTH},
    {"objects-list", objects_list, 10000, DUMP_1_7, IN_BOTH},
    {"objects-ladder", objects_ladder, 10000, DUMP_1_7, IN_BOTH},
    {"objects-shapes", objects_shapes, 8000, DUMP_1_7, IN_BOTH},
    {"objects-scattered", objects_scattered, 10000, DUMP_1_7, IN_RECORDS},
    {"objects-overlapping", objects_overlapping, 10000, DUMP_1_7, IN_BOTH},
    {"objects-huge", objects_huge, 3000, DUMP_1_7, IN_BOTH},
    {"object-fields", object_fields, 30000, DUMP_1_7, IN_BOTH},
    {"other-roots", other_roots, 10000, DUMP_1_7, IN_BOTH},
    {"other-roots-named", other_roots_named, 10000, DUMP_1_7, IN_BOTH},
    {"types-random", types_random, 10000, DUMP_1_7, IN_RECORDS},
    {"types-chosen", types_chosen, 10000, DUMP_1_7, IN_BOTH},
    {"old-types-chosen", old_types, 8000, DUMP_1_3, IN_BOTH},
    {"old-type-fields", old_type_fields, 10000, DUMP_1_3, IN_RECORDS},
    {"goroutines-random", goroutines_random, 5000, DUMP_1_7, IN_BOTH},
    {"goroutines-conditions", goroutines_conditions, 2000, DUMP_1_7, IN_RECORDS},
    {"goroutines-equal", goroutines_equal, 5000, DUMP_1_7, IN_RECORDS},
    {"goroutines-chosen", goroutines_chosen, 5000, DUMP_1_7, IN_BOTH},
    {"frames-deep", frames_deep, 8000, DUMP_1_7, IN_BOTH},
    {"frames-equal", frames_equal, 5000, DUMP_1_7, IN_BOTH},
    {"frames-named", frames_named, 8000, DUMP_1_7, IN_BOTH},
    {"frame-fields", frame_fields, 20000, DUMP_1_7, IN_BOTH},
    {"finalizers-equal", finalizers, 8000, DUMP_1_7, IN_RECORDS},
    {"finalizers-chosen", finalizers_chosen, 8000, DUMP_1_7, IN_BOTH},
    {"os-threads-equal", os_threads, 10000, DUMP_1_7, IN_RECORDS},
    {"os-threads-chosen", os_threads_chosen, 10000, DUMP_1_7, IN_BOTH},
    {"defers-equal", defers, 5000, DUMP_1_7, IN_BOTH},
    {"profile-one", profile, 8000, DUMP_1_7, IN_BOTH},
    {"profile-chosen", profile_chosen, 8000, DUMP_1_7, IN_BOTH},
    {"segments", segments, 8000, DUMP_1_7, IN_RECORDS},
    {"segment-fields", segment_fields, 20000, DUMP_1_7, IN_BOTH},
    {"memstats", memstats, 1000, DUMP_1_7, IN_BOTH},
    {"params", params, 10000, DUMP_1_7, IN_RECORDS},
    {"old-roots", old_roots, 10000, DUMP_2013, IN_BOTH},
    {"classes-chain", classes_chain, 10000, DUMP_1_3, IN_FORMATS},
    {"classes-comb", classes_comb, 20000, DUMP_1_3, IN_FORMATS},
    {"classes-both-ways", classes_both_ways, 10000, DUMP_1_3, IN_FORMATS},
    {"classes-tree", classes_tree, 20000, DUMP_1_3, IN_FORMATS},
    {"classes-in-turn", classes_in_turn, 10000, DUMP_1_3, IN_FORMATS},
    {"classes-garbage", classes_garbage, 10000, DUMP_1_3, IN_FORMATS},
    {"class-long", class_long, 10000, DUMP_1_3, IN_FORMATS},
    {"classes-marked", classes_marked, 10000, DUMP_1_3, IN_FORMATS},
    {"places", places, 5000, DUMP_1_7, IN_FORMATS},
    {"places-chain", places_chain, 5000, DUMP_1_7, IN_FORMATS},
    {"places-back", places_back, 5000, DUMP_1_7, IN_FORMATS},
    {"places-random", places_random, 5000, DUMP_1_7, IN_FORMATS},
    {"places-shared", places_shared, 10000, DUMP_1_3, IN_FORMATS},
    {"stacks", stacks, 5000, DUMP_1_7, IN_FORMATS},
    {"defers-linked", defers_linked, 5000, DUMP_1_7, IN_FORMATS},
    {"finalizers-chain", finalizers_chain, 8000, DUMP_1_7, IN_FORMATS},
    {"globals", globals, 10000, DUMP_1_7, IN_FORMATS},
    {"objects-fan", objects_fan, 10000, DUMP_1_7, IN_FORMATS},
    {"sizes-chain", sizes_chain, 10000, DUMP_1_7, IN_FORMATS},
    {"profile-sites", profile_sites, 5000, DUMP_1_7, IN_FORMATS},
    {"profile-deep", profile_deep, 5000, DUMP_1_7, IN_FORMATS},
};

int main(int argc, char **argv)
{
    const size_t count = sizeof(rows) / sizeof(rows[0]);
    if (argc == 3 && strcmp(argv[1], "--list") == 0) {
        const enum part other = strcmp(argv[2], "records") == 0 ? IN_FORMATS : IN_RECORDS;
        for (size_t i = 0; i < count; i++)
            if (rows[i].part != other)
                printf("%s %u\n", rows[i].name, rows[i].count);
        return 0;
    }
    if (argc == 3 && strcmp(argv[1], "core") == 0) {
        struct dump core = {0};
        core_put(&core, strtoull(argv[2], NULL, 10));
        const bool good = fwrite(core.data, 1, core.size, stdout) == core.size;
        dump_deinit(&core);
        return good ? 0 : 1;
    }
    for (size_t i = 0; argc == 3 && i < count; i++) {
        struct dump dump;
        if (strcmp(argv[1], rows[i].name) != 0)
            continue;
        dump_begin(&dump, rows[i].format, 8, false);
        dump.version = rows[i].put == goroutines_conditions ? "go1.25.1" : "go1.26.1";
        dump.heap_end = BASE + ((uint64_t)1 << 46);
        dump_params(&dump);
        rows[i].put(&dump, strtoull(argv[2], NULL, 10));
        dump_eof(&dump);
        const bool good = fwrite(dump.data, 1, dump.size, stdout) == dump.size;
        dump_deinit(&dump);
        return good ? 0 : 1;
    }
    fprintf(stderr, "usage: grow --list records|formats | core COUNT | NAME COUNT\n");
    return 2;
}
