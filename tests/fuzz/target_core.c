/*
 * target_core: an input is an executable, followed by the core that it left (pair.h). The core is
 * read with the executable, and the resulting dump is converted.
 *
 * Most of a core is the contents of objects, which nobody follows. So most changes go where the
 * reader looks: the reader is asked beforehand where the runtime has its variables, and from there
 * on the mutator looks up the structures as the reader would.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <go2heapsnapshot/process.h>

#include "dice.h"
#include "exe/exe.h"
#include "fuzz_target.h"
#include "pair.h"
#include "process/read.h"
#include "process/runtime.h"

/* Limits of the size of a dump: one that is many times as large as its core is a find. */
enum { DUMP_FACTOR = 24, DUMP_LEAST = 1 << 16 };

static void not_so(const char *what)
{
    fprintf(stderr, "is not so: %s\n", what);
    abort();
}

static struct g2h_error *read_pair(const struct g2h_input *core, const char *path, unsigned threads,
                                   struct g2h_input **ret)
{
    const struct g2h_process_options options = {.threads = threads};
    struct g2h_process_account account;
    struct g2h_exe *exe = NULL;
    struct g2h_error *error = g2h_exe_open(path, &exe);
    if (!error)
        error = g2h_process_read_core(core, exe, &options, &account, ret);
    g2h_exe_close(exe);
    return error;
}

/* Checks that reading on several threads gives the same dump or error. */
static void check_threads(const struct g2h_input *core, const char *path,
                          const struct g2h_error *error, const struct g2h_input *dump)
{
    enum { THREADS = 3 };
    struct g2h_input *other = NULL;
    struct g2h_error *other_error = read_pair(core, path, THREADS, &other);
    if (!error != !other_error || (error && error->code != other_error->code))
        not_so("errors do not depend on the number of threads");
    if (dump && (!other || dump->size != other->size ||
                 memcmp(dump->data, other->data, (size_t)dump->size) != 0))
        not_so("a dump does not depend on the number of threads");
    g2h_error_destroy(other_error);
    g2h_input_close(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { SELDOM = 8 };
    const size_t exe_size = pair_split_core(data, size);
    const uint64_t choice = fuzz_choice(data, size);
    char path[FUZZ_PATH];
    struct g2h_input *core, *dump = NULL;
    char *executable = NULL;
    const int file = fuzz_file(data, exe_size, path);
    struct g2h_error *error =
        g2h_input_from_memory("fuzz", data + exe_size, size - exe_size, &core);
    if (error)
        abort();
    if (g2h_input_is_core(core))
        g2h_error_destroy(g2h_core_executable(core, &executable));
    free(executable);
    error = read_pair(core, path, 1, &dump);
    if (choice % SELDOM == 0)
        check_threads(core, path, error, dump);
    if (error)
        fprintf(stderr, "%s\n", error->message);
    if (dump && dump->size > (size - exe_size) * DUMP_FACTOR + DUMP_LEAST)
        not_so("a dump is not many times as large as its core");
    if (dump)
        fuzz_convert_any(dump, choice % SELDOM == 1 ? path : NULL, choice / SELDOM, fuzz_write_all);
    g2h_error_destroy(error);
    g2h_input_close(dump);
    g2h_input_close(core);
    close(file);
    return 0;
}

/* ---- changing ---- */

/* Bytes of the input that the reader looks at. */
struct place {
    size_t offset, size;
};

enum { PLACES_MOST = 4096, LARGEST_PART = 1 << 12, WORD = 8 };

/* The kinds of places. A kind is chosen first, so that the hundreds of mspans are together no
 * likelier to change than the moduledata. */
enum kind {
    KIND_EXE,
    KIND_HEADERS,
    KIND_NOTES,
    KIND_MODULEDATA,
    KIND_VARIABLES,
    KIND_SPANS,
    KIND_BITS,
    KIND_SPECIALS,
    KIND_GS,
    KIND_STACKS,
    KIND_MS,
    KIND_ITABS,
    KIND_TYPES,
    KIND_BUCKETS,
    KIND_QUEUED,
    KINDS
};

struct places {
    const uint8_t *data; /* the input's */
    size_t size, exe_size;
    struct place of[KINDS][PLACES_MOST];
    size_t counts[KINDS];
    struct process process;
    bool is_read;
    struct runtime runtime;
};

static void add_place(struct places *places, enum kind kind, size_t offset, size_t size)
{
    if (size > 0 && offset <= places->size && size <= places->size - offset &&
        places->counts[kind] < PLACES_MOST)
        places->of[kind][places->counts[kind]++] = (struct place){offset, size};
}

/* Adds the place of the core's bytes at an address, unless they are the executable's. */
static void add_at(struct places *places, enum kind kind, uint64_t address, uint64_t size)
{
    const uint8_t *bytes = memory_at(&places->process.memory, address, size);
    if (bytes >= places->data && bytes < places->data + places->size)
        add_place(places, kind, (size_t)(bytes - places->data), (size_t)size);
}

static uint64_t word_at(const struct places *places, uint64_t address)
{
    uint64_t value = 0;
    memory_read(&places->process.memory, address, WORD, &value);
    return value;
}

static uint64_t field(const struct places *places, uint64_t address, enum layout_field field)
{
    uint64_t value;
    return runtime_peek(&places->runtime, address, field, &value) ? value : 0;
}

static void add_structure(struct places *places, enum kind kind, uint64_t address,
                          enum layout_field structure)
{
    const uint64_t size = runtime_size(&places->runtime, structure);
    add_at(places, kind, address, size > 0 ? size : 64);
}

static void add_type(struct places *places, uint64_t type)
{
    if (type != 0)
        add_at(places, KIND_TYPES, type, 48);
}

static void find_spans(struct places *places)
{
    const struct runtime *runtime = &places->runtime;
    enum { LOOKED_AT = 512 };
    for (uint64_t i = 0; i < runtime->allspans.count && i < LOOKED_AT; i++) {
        const uint64_t span = word_at(places, runtime->allspans.data + WORD * i);
        if (field(places, span, LAYOUT_MSPAN_STATE) != 1)
            continue;
        add_structure(places, KIND_SPANS, span, LAYOUT_MSPAN);
        add_at(places, KIND_BITS, field(places, span, LAYOUT_MSPAN_ALLOC_BITS), 8);
        add_at(places, KIND_BITS, field(places, span, LAYOUT_MSPAN_GCMARK_BITS), 8);
        const uint64_t start = field(places, span, LAYOUT_MSPAN_START_ADDR);
        add_at(places, KIND_BITS, start + 8192 - 256, 256);
        add_at(places, KIND_BITS, start, 8);
        add_type(places, field(places, span, LAYOUT_MSPAN_LARGE_TYPE));
        add_type(places, word_at(places, start));
        uint64_t special = field(places, span, LAYOUT_MSPAN_SPECIALS);
        for (int n = 0; special != 0 && n < LOOKED_AT; n++) {
            add_at(places, KIND_SPECIALS, special, 48);
            special = field(places, special, LAYOUT_SPECIAL_NEXT);
        }
    }
}

static void find_goroutines(struct places *places)
{
    const struct runtime *runtime = &places->runtime;
    enum { LOOKED_AT = 64, STACK_TOP = 512 };
    struct runtime_slice allgs;
    if (!runtime_slice_at(runtime, runtime->allgs, &allgs))
        return;
    for (uint64_t i = 0; i < allgs.count && i < LOOKED_AT; i++) {
        const uint64_t g = word_at(places, allgs.data + WORD * i);
        const uint64_t sp = field(places, g, LAYOUT_G_SCHED_SP),
                       high = field(places, g, LAYOUT_G_STACK_HI);
        add_structure(places, KIND_GS, g, LAYOUT_G);
        for (uint64_t at = sp; at < high && at - sp < 4 * STACK_TOP; at += STACK_TOP / 4)
            add_at(places, KIND_STACKS, at, STACK_TOP / 4);
        add_at(places, KIND_GS, field(places, g, LAYOUT_G_DEFER), 64);
        add_at(places, KIND_GS, field(places, g, LAYOUT_G_PANIC), 64);
    }
    uint64_t m = word_at(places, runtime->allm);
    for (int n = 0; m != 0 && n < LOOKED_AT; n++) {
        add_at(places, KIND_MS, m, 512);
        add_structure(places, KIND_GS, field(places, m, LAYOUT_M_GSIGNAL), LAYOUT_G);
        m = field(places, m, LAYOUT_M_ALLLINK);
    }
}

static void find_others(struct places *places)
{
    const struct runtime *runtime = &places->runtime;
    enum { LOOKED_AT = 512 };
    const uint64_t table = word_at(places, runtime->itab_table),
                   size = field(places, table, LAYOUT_ITAB_TABLE_SIZE),
                   entries = table + runtime_offset(runtime, LAYOUT_ITAB_TABLE_ENTRIES);
    add_at(places, KIND_ITABS, table, 64);
    for (uint64_t i = 0; i < size && i < LOOKED_AT; i++) {
        const uint64_t itab = word_at(places, entries + WORD * i);
        if (itab != 0) {
            add_at(places, KIND_ITABS, itab, 16);
            add_at(places, KIND_ITABS, entries + WORD * i, WORD);
            add_type(places, field(places, itab, LAYOUT_ITAB_TYPE));
        }
    }
    uint64_t bucket = word_at(places, runtime->mbuckets);
    for (int n = 0; bucket != 0 && n < LOOKED_AT; n++) {
        add_at(places, KIND_BUCKETS, bucket, 96);
        bucket = field(places, bucket, LAYOUT_BUCKET_ALLNEXT);
    }
    uint64_t block = word_at(places, runtime->allfin);
    for (int n = 0; block != 0 && n < LOOKED_AT; n++) {
        add_at(places, KIND_QUEUED, block, 128);
        block = field(places, block, LAYOUT_FIN_BLOCK_ALLLINK);
    }
}

static void find_variables(struct places *places)
{
    const struct runtime *runtime = &places->runtime;
    const uint64_t variables[] = {runtime->allgs,      runtime->allm,     runtime->allfin,
                                  runtime->itab_table, runtime->mbuckets, runtime->wait_reasons};
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        add_at(places, KIND_VARIABLES, variables[i], 24);
    static const enum layout_field fields[] = {LAYOUT_MHEAP_SWEEPGEN, LAYOUT_MHEAP_ALLSPANS,
                                               LAYOUT_MHEAP_ARENAS, LAYOUT_MHEAP_HEAP_ARENAS};
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        add_at(places, KIND_VARIABLES, runtime->mheap + runtime_offset(runtime, fields[i]), 24);
    add_at(places, KIND_MODULEDATA, exe_moduledata(runtime->exe) + runtime->slide, 600);
    add_at(places, KIND_VARIABLES, runtime->allspans.data, 256);
}

static void find_headers(struct places *places)
{
    enum { HEADER = 64, SEGMENT = 56, NOTES = 4 };
    const uint8_t *core = places->data + places->exe_size;
    const size_t size = places->size - places->exe_size;
    add_place(places, KIND_EXE, 0, places->exe_size > 0 ? places->exe_size : places->size);
    if (size < HEADER)
        return;
    const size_t count = (size_t)core[56] | (size_t)core[57] << 8;
    add_place(places, KIND_HEADERS, places->exe_size, HEADER);
    for (size_t i = 0; i < count && i < PLACES_MOST / 2; i++) {
        const size_t at = HEADER + i * SEGMENT;
        add_place(places, KIND_HEADERS, places->exe_size + at, SEGMENT);
        if (at + SEGMENT <= size && memory_number(core + at, 4) == NOTES)
            add_place(places, KIND_NOTES,
                      places->exe_size + (size_t)memory_number(core + at + 8, 4),
                      (size_t)memory_number(core + at + 32, 4));
    }
}

/* Finds the places of an input, at least those of the executable and of the core's own headers. */
static struct places *find_places(const uint8_t *data, size_t size)
{
    static struct places places;
    places = (struct places){.data = data, .size = size, .exe_size = pair_split_core(data, size)};
    find_headers(&places);
    char path[FUZZ_PATH];
    struct g2h_exe *exe = NULL;
    struct g2h_input *core = NULL;
    struct core_account account;
    const int file = fuzz_file(data, places.exe_size, path);
    struct g2h_error *error = g2h_exe_open(path, &exe);
    if (!error)
        error =
            g2h_input_from_memory("fuzz", data + places.exe_size, size - places.exe_size, &core);
    if (!error)
        error = core_read(core, &places.process, &account);
    if (!error)
        error = runtime_init(&places.runtime, &places.process, exe);
    if (!error) {
        find_variables(&places);
        find_spans(&places);
        find_goroutines(&places);
        find_others(&places);
        runtime_deinit(&places.runtime);
    }
    g2h_error_destroy(error);
    process_deinit(&places.process);
    g2h_input_close(core);
    g2h_exe_close(exe);
    close(file);
    return &places;
}

static const struct place *choose(const struct places *places)
{
    enum kind kind = below(KINDS);
    while (places->counts[kind] == 0)
        kind = (kind + 1) % KINDS;
    return &places->of[kind][below(places->counts[kind])];
}

/* Returns a word of any place, or 0 if that is too small. Many words are addresses of structures in
 * the process. */
static uint64_t some_word(const struct places *places)
{
    const struct place *place = choose(places);
    return place->size < WORD
               ? 0
               : memory_number(places->data + place->offset + below(place->size / WORD) * WORD, 8);
}

static void change_number(const struct places *places, uint8_t *data, const struct place *place)
{
    static const size_t sizes[] = {1, 2, 4, 8};
    const size_t size = below(2) ? WORD : sizes[below(4)];
    if (place->size < size)
        return;
    uint8_t *at = data + place->offset + below(place->size / size) * size;
    uint64_t value = memory_number(at, (unsigned)size);
    switch (below(10)) {
    case 0:
        value = below(64);
        break;
    case 1:
        value = UINT64_MAX >> below(64);
        break;
    case 2:
        value ^= UINT64_C(1) << below(8 * size);
        break;
    case 3:
        value += WORD * (below(16) + 1);
        break;
    case 4:
        value -= WORD * (below(16) + 1);
        break;
    case 5:
        value = UINT64_MAX - below(64);
        break;
    case 6:
        value = some_word(places) + (below(4) ? 0 : WORD * below(512));
        break;
    case 7:
        value = value << below(24);
        break;
    case 8:
        value = UINT64_C(1) << below(64);
        break;
    default:
        value = some_word(places);
        break;
    }
    for (size_t i = 0; i < size; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

/* Copies another place's bytes over a place. */
static void copy_place(const struct places *places, uint8_t *data, const struct place *place)
{
    const struct place *source = choose(places);
    size_t size = source->size < place->size ? source->size : place->size;
    if (below(2) == 0)
        size = 1 + below(size);
    memmove(data + place->offset, data + source->offset, size);
}

/* Makes libFuzzer's own changes in a place, which keeps its size. */
static void mutate_place(uint8_t *data, const struct place *place)
{
    static uint8_t part[LARGEST_PART];
    size_t size = 1 + below(LARGEST_PART);
    size = size < place->size ? size : place->size;
    uint8_t *at = data + place->offset + below(place->size - size + 1);
    memcpy(part, at, size);
    const size_t changed = LLVMFuzzerMutate(part, size, size);
    memcpy(at, part, changed < size ? changed : size);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    state = seed;
    if (size == 0 || below(200) == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    if (below(100) == 0) /* cuts the input */
        return 1 + below(size);
    const struct places *places = find_places(data, size);
    for (size_t count = 1 + below(below(3) ? 3 : 16); count > 0; count--) {
        const struct place *place = choose(places);
        switch (below(8)) {
        case 0:
            mutate_place(data, place);
            break;
        case 1:
            copy_place(places, data, place);
            break;
        default:
            change_number(places, data, place);
            break;
        }
    }
    return size;
}
