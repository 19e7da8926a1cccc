/* differences; see differences.h. */
#include "differences.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

enum { VALUES = 16, WORD = 8 };

static const char processors[] = "processors";

enum form {
    ADDRESS,
    NUMBER,
    TEXT,
    CONTENTS, /* of memory whose address is the value's number */
    FIELDS,
};

/* A part of a record. */
struct value {
    enum form form;
    const char *name;
    uint64_t number;
    struct g2h_bytes bytes;
    struct g2h_fields fields;
};

struct values {
    struct value data[VALUES];
    int count;
};

static void add_number(struct values *values, const char *name, enum form form, uint64_t number)
{
    values->data[values->count++] = (struct value){.form = form, .name = name, .number = number};
}

static void add_bytes(struct values *values, const char *name, enum form form, uint64_t address,
                      struct g2h_bytes bytes)
{
    values->data[values->count++] =
        (struct value){.form = form, .name = name, .number = address, .bytes = bytes};
}

static void add_fields(struct values *values, struct g2h_fields fields)
{
    values->data[values->count++] =
        (struct value){.form = FIELDS, .name = "field list", .fields = fields};
}

/* Adds the numbers of memstats that are known from outside; if all is set, all numbers too. Sys and
 * OtherSys are not compared: the dumper gets a buffer after it has read them. */
static void add_memstats(struct values *ret, struct g2h_bytes encoded, bool all)
{
    static const struct {
        const char *name;
        unsigned number;
    } counters[] = {
        {"HeapSys", G2H_MEMSTATS_HEAP_SYS},          {"HeapIdle", G2H_MEMSTATS_HEAP_IDLE},
        {"HeapInuse", G2H_MEMSTATS_HEAP_INUSE},      {"HeapReleased", G2H_MEMSTATS_HEAP_RELEASED},
        {"StackInuse", G2H_MEMSTATS_STACK_INUSE},    {"StackSys", G2H_MEMSTATS_STACK_SYS},
        {"MSpanSys", G2H_MEMSTATS_MSPAN_SYS},        {"MCacheSys", G2H_MEMSTATS_MCACHE_SYS},
        {"BuckHashSys", G2H_MEMSTATS_BUCK_HASH_SYS}, {"GCSys", G2H_MEMSTATS_GC_SYS},
    };
    struct g2h_memstats stats;
    g2h_memstats_read(encoded, &stats);
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
        add_number(ret, counters[i].name, NUMBER, stats.numbers[counters[i].number]);
    add_number(ret, "Alloc", NUMBER, stats.numbers[0]);
    add_number(ret, "HeapAlloc", NUMBER, stats.numbers[G2H_MEMSTATS_HEAP_ALLOC]);
    add_number(ret, "HeapObjects", NUMBER, stats.numbers[G2H_MEMSTATS_HEAP_OBJECTS]);
    add_number(ret, "NumGC", NUMBER, stats.numbers[G2H_MEMSTATS_NUMBERS - 1]);
    if (all)
        add_bytes(ret, "numbers", TEXT, 0, encoded);
}

static struct values values_of(const struct g2h_record *record, bool all_memstats)
{
    struct values ret = {0};
    switch (record->kind) {
    case G2H_RECORD_OBJECT:
        add_number(&ret, "address", ADDRESS, record->object.address);
        add_number(&ret, "size", NUMBER, record->object.size);
        add_bytes(&ret, "contents", CONTENTS, record->object.address, record->object.contents);
        add_fields(&ret, record->object.fields);
        break;
    case G2H_RECORD_OTHERROOT:
        add_bytes(&ret, "description", TEXT, 0, record->otherroot.description);
        add_number(&ret, "pointer", ADDRESS, record->otherroot.pointer);
        break;
    case G2H_RECORD_TYPE:
        add_number(&ret, "address", ADDRESS, record->type.address);
        add_number(&ret, "size", NUMBER, record->type.size);
        add_bytes(&ret, "name", TEXT, 0, record->type.name);
        add_number(&ret, "data is a pointer", NUMBER, record->type.data_is_pointer);
        break;
    case G2H_RECORD_GOROUTINE:
        add_number(&ret, "address", ADDRESS, record->goroutine.address);
        add_number(&ret, "sp", ADDRESS, record->goroutine.sp);
        add_number(&ret, "goid", NUMBER, record->goroutine.goid);
        add_number(&ret, "creation pc", ADDRESS, record->goroutine.creation_pc);
        add_number(&ret, "status", NUMBER, record->goroutine.status);
        add_number(&ret, "is system", NUMBER, record->goroutine.is_system);
        add_number(&ret, "is background", NUMBER, record->goroutine.is_background);
        add_number(&ret, "wait since", NUMBER, record->goroutine.wait_since);
        add_bytes(&ret, "wait reason", TEXT, 0, record->goroutine.wait_reason);
        add_number(&ret, "ctxt", ADDRESS, record->goroutine.ctxt);
        add_number(&ret, "M", ADDRESS, record->goroutine.m);
        add_number(&ret, "defer", ADDRESS, record->goroutine.defer);
        add_number(&ret, "panic", ADDRESS, record->goroutine.panic);
        break;
    case G2H_RECORD_STACKFRAME:
        add_bytes(&ret, "function", TEXT, 0, record->stackframe.function);
        add_number(&ret, "sp", ADDRESS, record->stackframe.sp);
        add_number(&ret, "depth", NUMBER, record->stackframe.depth);
        add_number(&ret, "child sp", ADDRESS, record->stackframe.child_sp);
        add_number(&ret, "size", NUMBER, record->stackframe.contents.size);
        add_number(&ret, "entry", ADDRESS, record->stackframe.entry);
        add_number(&ret, "pc", ADDRESS, record->stackframe.pc);
        add_number(&ret, "continpc", ADDRESS, record->stackframe.continpc);
        add_bytes(&ret, "contents", CONTENTS, record->stackframe.sp, record->stackframe.contents);
        add_fields(&ret, record->stackframe.fields);
        break;
    case G2H_RECORD_PARAMS:
        add_number(&ret, "big endian", NUMBER, record->params.big_endian);
        add_number(&ret, "pointer size", NUMBER, record->params.pointer_size);
        add_number(&ret, "heap start", ADDRESS, record->params.heap_start);
        add_number(&ret, "heap end", ADDRESS, record->params.heap_end);
        add_bytes(
            &ret, "arch", TEXT, 0,
            (struct g2h_bytes){(const uint8_t *)record->params.arch, strlen(record->params.arch)});
        add_bytes(&ret, "version", TEXT, 0, record->params.version);
        add_bytes(&ret, "experiment", TEXT, 0, record->params.experiment);
        add_number(&ret, processors, NUMBER, record->params.ncpu);
        break;
    case G2H_RECORD_FINALIZER:
    case G2H_RECORD_QUEUEDFINALIZER:
        add_number(&ret, "object", ADDRESS, record->finalizer.object);
        add_number(&ret, "function value", ADDRESS, record->finalizer.funcval);
        add_number(&ret, "code", ADDRESS, record->finalizer.code);
        add_number(&ret, "argument's type", ADDRESS, record->finalizer.argument_type);
        add_number(&ret, "object's type", ADDRESS, record->finalizer.object_type);
        break;
    case G2H_RECORD_ITAB:
        add_number(&ret, "address", ADDRESS, record->itab.address);
        add_number(&ret, "type", ADDRESS, record->itab.type);
        break;
    case G2H_RECORD_OSTHREAD:
        add_number(&ret, "M", ADDRESS, record->osthread.m);
        add_number(&ret, "id", NUMBER, record->osthread.id);
        add_number(&ret, "system's id", NUMBER, record->osthread.os_id);
        break;
    case G2H_RECORD_MEMSTATS:
        add_memstats(&ret, record->memstats, all_memstats);
        break;
    case G2H_RECORD_DATA:
    case G2H_RECORD_BSS:
        add_number(&ret, "address", ADDRESS, record->segment.address);
        add_number(&ret, "size", NUMBER, record->segment.contents.size);
        add_bytes(&ret, "contents", CONTENTS, record->segment.address, record->segment.contents);
        add_fields(&ret, record->segment.fields);
        break;
    case G2H_RECORD_DEFER:
        add_number(&ret, "address", ADDRESS, record->defer.address);
        add_number(&ret, "g", ADDRESS, record->defer.g);
        add_number(&ret, "sp", ADDRESS, record->defer.argp);
        add_number(&ret, "pc", ADDRESS, record->defer.pc);
        add_number(&ret, "function value", ADDRESS, record->defer.funcval);
        add_number(&ret, "code", ADDRESS, record->defer.code);
        add_number(&ret, "next", ADDRESS, record->defer.next);
        break;
    case G2H_RECORD_PANIC:
        add_number(&ret, "address", ADDRESS, record->panic.address);
        add_number(&ret, "g", ADDRESS, record->panic.g);
        add_number(&ret, "type", ADDRESS, record->panic.type);
        add_number(&ret, "data", ADDRESS, record->panic.data);
        add_number(&ret, "defer", ADDRESS, record->panic.defer);
        add_number(&ret, "next", ADDRESS, record->panic.next);
        break;
    case G2H_RECORD_MEMPROF:
        add_number(&ret, "id", ADDRESS, record->memprof.id);
        add_number(&ret, "size", NUMBER, record->memprof.size);
        add_number(&ret, "number of frames", NUMBER, record->memprof.frame_count);
        add_bytes(&ret, "frames", TEXT, 0, record->memprof.frames);
        add_number(&ret, "allocs", NUMBER, record->memprof.allocs);
        add_number(&ret, "frees", NUMBER, record->memprof.frees);
        break;
    case G2H_RECORD_ALLOCSAMPLE:
        add_number(&ret, "object", ADDRESS, record->allocsample.object);
        add_number(&ret, "record", ADDRESS, record->allocsample.memprof);
        break;
    default:
        break;
    }
    return ret;
}

/* ---- reports ---- */

static void print_bytes(FILE *file, struct g2h_bytes bytes)
{
    fputc('"', file);
    for (uint64_t i = 0; i < bytes.size && i < 120; i++)
        fputc(bytes.data[i] < ' ' || bytes.data[i] > '~' ? '?' : bytes.data[i], file);
    fputc('"', file);
}

static uint64_t count_fields(struct g2h_fields fields)
{
    struct g2h_field field;
    uint64_t ret = 0;
    while (g2h_fields_next(&fields, &field))
        ret++;
    return ret;
}

/* Returns the symbol that an address of the process is in, or NULL if it is in none. */
static const struct symbol *symbol_at(const struct comparison *comparison, uint64_t address)
{
    size_t low = 0, high = comparison->symbols.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (comparison->symbols.data[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    while (low-- > 0) {
        const struct symbol *symbol = &comparison->symbols.data[low];
        if (symbol->size > 0)
            return address < symbol->address + symbol->size ? symbol : NULL;
    }
    return NULL;
}

/* Counts a difference and begins to report it, with the record that it is in. Returns false if it
 * is not to be reported, as enough were. */
static bool tell(struct comparison *comparison, const struct listing *listing, uint32_t number)
{
    const enum g2h_record_kind kind = (enum g2h_record_kind)listing->kinds.data[number];
    FILE *file = comparison->report;
    if (comparison->differences[kind]++ >= comparison->most || !file)
        return false;
    const struct g2h_record record = listing_record(listing, number);
    fprintf(file, "%s ", g2h_record_kind_name(kind));
    if (kind == G2H_RECORD_STACKFRAME) {
        fprintf(file, "%" PRIu64 " of goroutine 0x%" PRIx64 ", ", record.stackframe.depth,
                listing_goroutine(listing, number));
        print_bytes(file, record.stackframe.function);
    } else if (listing->keys.data[number] != 0)
        fprintf(file, "0x%" PRIx64, listing->keys.data[number]);
    if (kind == G2H_RECORD_OBJECT)
        fprintf(file, " of %" PRIu64 " bytes, %" PRIu64 " fields", record.object.size,
                count_fields(record.object.fields));
    if (kind == G2H_RECORD_GOROUTINE) {
        fprintf(file, ", goid %" PRIu64 ", status %" PRIu64 ", ", record.goroutine.goid,
                record.goroutine.status);
        print_bytes(file, record.goroutine.wait_reason);
    }
    if (kind == G2H_RECORD_TYPE) {
        fputs(", ", file);
        print_bytes(file, record.type.name);
    }
    fputs(": ", file);
    return true;
}

/* Returns the offset of the first word, from offset on, in which the two contents differ, except
 * words of moving memory; returns the size if there is none. */
static uint64_t find_difference(struct comparison *comparison, const struct value *ours,
                                const struct value *reference, uint64_t offset)
{
    const uint64_t size = ours->bytes.size;
    for (; offset < size; offset += WORD) {
        const uint64_t step = size - offset < WORD ? size - offset : WORD;
        if (memcmp(ours->bytes.data + offset, reference->bytes.data + offset, step) == 0)
            continue;
        struct moving *moving = NULL;
        for (size_t i = 0; i < comparison->moving.count && !moving; i++)
            if (ours->number + offset >= comparison->moving.data[i].begin &&
                ours->number + offset < comparison->moving.data[i].end)
                moving = &comparison->moving.data[i];
        if (!moving)
            break;
        moving->words++;
    }
    return offset < size ? offset : size;
}

static uint64_t word_of(struct g2h_bytes bytes, uint64_t offset)
{
    uint64_t ret = 0;
    memcpy(&ret, bytes.data + offset, bytes.size - offset < WORD ? bytes.size - offset : WORD);
    return ret;
}

static bool compare_contents(struct comparison *comparison, uint32_t number,
                             const struct value *ours, const struct value *reference)
{
    if (ours->bytes.size != reference->bytes.size) {
        if (tell(comparison, &comparison->reference, number))
            fprintf(comparison->report, "%" PRIu64 " bytes, %" PRIu64 " in the reference\n",
                    ours->bytes.size, reference->bytes.size);
        return false;
    }
    const uint64_t size = ours->bytes.size;
    if (memcmp(ours->bytes.data, reference->bytes.data, size) == 0)
        return true;
    const uint8_t kind = comparison->reference.kinds.data[number];
    bool same = true;
    for (uint64_t at = 0; (at = find_difference(comparison, ours, reference, at)) < size;
         at += WORD) {
        /* A record counts once, except data and bss, where each word counts. */
        if (!same && kind != G2H_RECORD_DATA && kind != G2H_RECORD_BSS)
            continue;
        same = false;
        if (!tell(comparison, &comparison->reference, number))
            continue;
        const struct symbol *symbol = symbol_at(comparison, ours->number + at);
        fprintf(comparison->report, "contents at 0x%" PRIx64, ours->number + at);
        if (symbol)
            fprintf(comparison->report, ", %s+%" PRIu64, symbol->name,
                    ours->number + at - symbol->address);
        else
            fprintf(comparison->report, ", +%" PRIu64 " of %" PRIu64, at, size);
        fprintf(comparison->report, ": 0x%" PRIx64 ", 0x%" PRIx64 " in the reference\n",
                word_of(ours->bytes, at), word_of(reference->bytes, at));
    }
    return same;
}

static bool lists(struct g2h_fields fields, uint64_t offset)
{
    struct g2h_field field;
    while (g2h_fields_next(&fields, &field))
        if (field.offset == offset)
            return true;
    return false;
}

/* Compares two field lists. That of a frame may have more words in ours: those of stack objects,
 * which the dumper does not list, come behind the words that it lists. */
static bool compare_fields(struct comparison *comparison, uint32_t number, const struct value *ours,
                           const struct value *reference)
{
    const bool is_of_frame = !comparison->both_by_program &&
                             comparison->reference.kinds.data[number] == G2H_RECORD_STACKFRAME;
    struct g2h_fields our_fields = ours->fields, their_fields = reference->fields;
    for (;;) {
        struct g2h_field our = {0}, their = {0};
        const bool has_ours = g2h_fields_next(&our_fields, &our);
        const bool has_theirs = g2h_fields_next(&their_fields, &their);
        if (!has_ours && !has_theirs)
            return true;
        if (has_ours == has_theirs && our.kind == their.kind && our.offset == their.offset)
            continue;
        if (is_of_frame && !has_theirs && !lists(reference->fields, our.offset)) {
            comparison->stack_words++;
            continue;
        }
        if (tell(comparison, &comparison->reference, number)) {
            fprintf(comparison->report, "%" PRIu64 " fields, %" PRIu64 " in the reference; ",
                    count_fields(ours->fields), count_fields(reference->fields));
            if (has_ours && (!has_theirs || our.offset <= their.offset))
                fprintf(comparison->report, "one too many, at +%" PRIu64 "\n", our.offset);
            else
                fprintf(comparison->report, "one is missing, at +%" PRIu64 "\n", their.offset);
        }
        return false;
    }
}

static bool compare_value(struct comparison *comparison, uint32_t number, const struct value *ours,
                          const struct value *reference)
{
    FILE *file = comparison->report;
    if (ours->form == CONTENTS)
        return compare_contents(comparison, number, ours, reference);
    if (ours->form == FIELDS)
        return compare_fields(comparison, number, ours, reference);
    if (ours->form == TEXT) {
        if (ours->bytes.size == reference->bytes.size &&
            memcmp(ours->bytes.data, reference->bytes.data, ours->bytes.size) == 0)
            return true;
        if (tell(comparison, &comparison->reference, number)) {
            fprintf(file, "%s ", ours->name);
            print_bytes(file, ours->bytes);
            fputs(", in the reference ", file);
            print_bytes(file, reference->bytes);
            fputc('\n', file);
        }
        return false;
    }
    if (ours->number == reference->number)
        return true;
    if (comparison->is_stripped && ours->name == processors && ours->number == 0)
        return true;
    if (tell(comparison, &comparison->reference, number)) {
        fprintf(file, "%s ", ours->name);
        fprintf(file,
                ours->form == ADDRESS ? "0x%" PRIx64 ", 0x%" PRIx64 " in the reference\n"
                                      : "%" PRIu64 ", %" PRIu64 " in the reference\n",
                ours->number, reference->number);
    }
    return false;
}

/* ---- records ---- */

/* Compares two records of a kind and reports the first part that differs. */
static void compare_records(struct comparison *comparison, uint32_t ours_number,
                            uint32_t reference_number)
{
    const struct g2h_record ours = listing_record(&comparison->ours, ours_number);
    const struct g2h_record reference = listing_record(&comparison->reference, reference_number);
    const struct values our = values_of(&ours, comparison->both_by_program);
    const struct values their = values_of(&reference, comparison->both_by_program);
    for (int i = 0; i < our.count; i++)
        if (!compare_value(comparison, reference_number, &our.data[i], &their.data[i]))
            return;
    comparison->same[reference.kind]++;
}

static int compare_keys(const void *first, const void *second)
{
    const uint64_t a = *(const uint64_t *)first, b = *(const uint64_t *)second;
    return a < b ? -1 : a > b;
}

/* Finds the keys of all records of a kind, ascending. */
static struct g2h_error *keys_of(const struct listing *listing, enum g2h_record_kind kind,
                                 uint64_t **ret)
{
    const size_t count = listing->of_kind[kind].count;
    TRY_MEMORY(*ret = malloc((count + 1) * sizeof(**ret)));
    for (size_t i = 0; i < count; i++)
        (*ret)[i] = listing->keys.data[listing->of_kind[kind].data[i]];
    qsort(*ret, count, sizeof(**ret), compare_keys);
    return NULL;
}

static bool has_key(const uint64_t *keys, size_t count, uint64_t key)
{
    return bsearch(&key, keys, count, sizeof(*keys), compare_keys) != NULL;
}

static bool is_doubtful(const struct listing *listing, uint32_t number)
{
    size_t low = 0, high = listing->doubtful.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (listing->doubtful.data[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < listing->doubtful.count && listing->doubtful.data[low] == number;
}

static void tell_record(struct comparison *comparison, const struct listing *listing,
                        uint32_t number, const char *what)
{
    if (tell(comparison, listing, number))
        fprintf(comparison->report, "%s\n", what);
}

/* Returns whether a record of ours is a root that the dumper does not write: an object that a
 * cleanup or a weak pointer keeps. These roots are at the end. */
static bool is_kept(const struct comparison *comparison, uint32_t number)
{
    static const char *const beginnings[] = {"cleanup of 0x", "cleanup's caller of 0x",
                                             "argument of a cleanup of 0x", "weak handle"};
    const struct g2h_record record = listing_record(&comparison->ours, number);
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++)
        if (!comparison->both_by_program && record.kind == G2H_RECORD_OTHERROOT &&
            record.otherroot.description.size >= strlen(beginnings[i]) &&
            memcmp(record.otherroot.description.data, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* Compares all records of a kind, in their order. */
static struct g2h_error *compare_kind(struct comparison *comparison, enum g2h_record_kind kind)
{
    const struct listing *ours = &comparison->ours, *reference = &comparison->reference;
    const size_t our_count = ours->of_kind[kind].count,
                 their_count = reference->of_kind[kind].count;
    _cleanup_free_ uint64_t *our_keys = NULL;
    _cleanup_free_ uint64_t *their_keys = NULL;
    size_t i = 0, k = 0;
    while (i < our_count || k < their_count) {
        const uint32_t our = i < our_count ? ours->of_kind[kind].data[i] : UINT32_MAX;
        const uint32_t their = k < their_count ? reference->of_kind[kind].data[k] : UINT32_MAX;
        if (i < our_count && k < their_count &&
            ours->keys.data[our] == reference->keys.data[their]) {
            compare_records(comparison, our, their);
            i++;
            k++;
            continue;
        }
        if (!our_keys) {
            TRY(keys_of(ours, kind, &our_keys));
            TRY(keys_of(reference, kind, &their_keys));
        }
        if (k < their_count && !has_key(our_keys, our_count, reference->keys.data[their])) {
            if (kind != G2H_RECORD_OBJECT || !is_doubtful(reference, their))
                tell_record(comparison, reference, their, "is missing");
            k++;
        } else if (i < our_count && is_kept(comparison, our)) {
            i++;
        } else if (i < our_count && !has_key(their_keys, their_count, ours->keys.data[our])) {
            tell_record(comparison, ours, our, "is only in ours");
            i++;
        } else {
            if (i < our_count)
                tell_record(comparison, ours, our,
                            "comes elsewhere, or again; not compared further");
            else
                tell_record(comparison, reference, their,
                            "comes elsewhere, or again; not compared further");
            break;
        }
    }
    return NULL;
}

/* Checks that the records that both dumps have are in the same order. */
static void compare_order(struct comparison *comparison)
{
    const struct listing *ours = &comparison->ours, *reference = &comparison->reference;
    size_t i = 0, k = 0;
    while (i < ours->kinds.count && k < reference->kinds.count) {
        const bool is_same = ours->kinds.data[i] == reference->kinds.data[k] &&
                             ours->keys.data[i] == reference->keys.data[k];
        if (!is_same && is_kept(comparison, (uint32_t)i)) {
            i++;
            continue;
        }
        if (!is_same && is_doubtful(reference, (uint32_t)k)) {
            k++;
            continue;
        }
        if (!is_same)
            break;
        i++;
        k++;
    }
    if (k == reference->kinds.count && (i == ours->kinds.count || comparison->is_cut))
        return;
    comparison->others++;
    if (!comparison->report)
        return;
    fprintf(comparison->report, "order: record %zu of ours is ", i + 1);
    if (i < ours->kinds.count)
        fprintf(comparison->report, "%s 0x%" PRIx64, g2h_record_kind_name(ours->kinds.data[i]),
                ours->keys.data[i]);
    else
        fputs("none", comparison->report);
    if (k < reference->kinds.count)
        fprintf(comparison->report, ", %s 0x%" PRIx64 " in the reference\n",
                g2h_record_kind_name(reference->kinds.data[k]), reference->keys.data[k]);
    else
        fputs(", none in the reference\n", comparison->report);
}

static void compare_sum(struct comparison *comparison, const char *what, uint64_t ours,
                        uint64_t stats)
{
    if (ours == stats)
        return;
    comparison->others++;
    if (comparison->report)
        fprintf(comparison->report,
                "%s: %" PRIu64 ", as the memstats of the reference say %" PRIu64 "\n", what, ours,
                stats);
}

/* Compares the number and size of objects with the reference's memstats, which shows a phantom that
 * was taken for an object. */
static void compare_sums(struct comparison *comparison)
{
    const struct listing *ours = &comparison->ours;
    const uint64_t *stats = comparison->reference.memstats.numbers;
    const uint64_t phantoms = comparison->both_by_program ? 0 : ours->phantoms;
    if (ours->doubtful.count > 0 && comparison->both_by_program)
        return;
    compare_sum(comparison, "number of objects", ours->of_kind[G2H_RECORD_OBJECT].count + phantoms,
                stats[G2H_MEMSTATS_HEAP_OBJECTS]);
    compare_sum(comparison, "size of objects", ours->object_bytes, stats[G2H_MEMSTATS_HEAP_ALLOC]);
}

/* ---- memory that may change ---- */

static struct g2h_error *add_moving(struct comparison *comparison, uint64_t begin, uint64_t size,
                                    const char *name)
{
    const struct moving moving = {begin, begin + size, name, 0};
    TRY_MEMORY(vector_push(&comparison->moving, moving));
    return NULL;
}

/* Finds the object of the reference that begins at an address, or at a malloc header before it.
 * Returns false if there is none. */
static bool find_object(const struct comparison *comparison, uint64_t address,
                        struct g2h_object *ret)
{
    const struct listing *reference = &comparison->reference;
    for (size_t i = 0; i < reference->of_kind[G2H_RECORD_OBJECT].count; i++) {
        const uint32_t number = reference->of_kind[G2H_RECORD_OBJECT].data[i];
        const uint64_t key = reference->keys.data[number];
        if (key != address && key + WORD != address)
            continue;
        *ret = listing_record(reference, number).object;
        return true;
    }
    return false;
}

/* Adds the Ms, and their g0s, which the first word of each M points to. */
static struct g2h_error *add_threads(struct comparison *comparison)
{
    const struct listing *reference = &comparison->reference;
    for (size_t i = 0; i < reference->of_kind[G2H_RECORD_OSTHREAD].count; i++) {
        const uint32_t number = reference->of_kind[G2H_RECORD_OSTHREAD].data[i];
        const uint64_t m = reference->keys.data[number];
        struct g2h_object object;
        if (!find_object(comparison, m, &object))
            continue; /* the first M is a variable */
        TRY(add_moving(comparison, object.address, object.size, "runtime.m"));
        const uint64_t g0 = word_of(object.contents, m - object.address);
        if (find_object(comparison, g0, &object))
            TRY(add_moving(comparison, object.address, object.size, "g0 of an M"));
    }
    return NULL;
}

static struct g2h_error *add_variables(struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->symbols.count; i++)
        for (size_t k = 0; k < comparison->variables.count; k++)
            if (strcmp(comparison->symbols.data[i].name, comparison->variables.data[k]) == 0)
                TRY(add_moving(comparison, comparison->symbols.data[i].address,
                               comparison->symbols.data[i].size, comparison->symbols.data[i].name));
    return NULL;
}

/* Changes the symbols' addresses to those in the process, given by where its data are. */
static void slide_symbols(struct comparison *comparison)
{
    const struct listing *reference = &comparison->reference;
    uint64_t slide = 0;
    if (reference->of_kind[G2H_RECORD_DATA].count > 0)
        for (size_t i = 0; i < comparison->symbols.count; i++)
            if (strcmp(comparison->symbols.data[i].name, "runtime.data") == 0)
                slide = reference->places.count == 0
                            ? 0
                            : listing_record(reference, reference->of_kind[G2H_RECORD_DATA].data[0])
                                      .segment.address -
                                  comparison->symbols.data[i].address;
    for (size_t i = 0; i < comparison->symbols.count; i++)
        comparison->symbols.data[i].address += slide;
}

/* Returns whether WriteHeapDump writes records of this kind after data and bss. */
static bool is_behind_segments(enum g2h_record_kind kind)
{
    return kind == G2H_RECORD_EOF || kind == G2H_RECORD_FINALIZER ||
           kind == G2H_RECORD_QUEUEDFINALIZER || kind == G2H_RECORD_MEMSTATS ||
           kind == G2H_RECORD_MEMPROF || kind == G2H_RECORD_ALLOCSAMPLE;
}

struct g2h_error *compare(struct comparison *comparison)
{
    slide_symbols(comparison);
    TRY(add_variables(comparison));
    if (comparison->threads_move)
        TRY(add_threads(comparison));
    for (int kind = 0; kind < G2H_RECORD_KINDS; kind++)
        if (!comparison->is_cut || !is_behind_segments((enum g2h_record_kind)kind))
            TRY(compare_kind(comparison, (enum g2h_record_kind)kind));
    compare_order(comparison);
    if (!comparison->is_cut)
        compare_sums(comparison);
    return NULL;
}

void comparison_deinit(struct comparison *comparison)
{
    listing_deinit(&comparison->ours);
    listing_deinit(&comparison->reference);
    free(comparison->symbols.data);
    free(comparison->variables.data);
    free(comparison->moving.data);
}

uint64_t comparison_differences(const struct comparison *comparison)
{
    uint64_t ret = comparison->others;
    for (int kind = 0; kind < G2H_RECORD_KINDS; kind++)
        ret += comparison->differences[kind];
    return ret;
}
