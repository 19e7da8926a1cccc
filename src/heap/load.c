/*
 * load: from the records of a dump to the objects in the order of their addresses.
 *
 * Go writes objects span by span, not by address, but ascending within a span. So the objects need
 * not be sorted one by one: a first walk notes the runs (ascending objects of one page, thousands
 * of bytes of the file each), the runs are sorted, and a second walk, on all threads, reads each
 * run again and puts its objects where they belong. All that the first walk keeps is 40 bytes per
 * run. Addresses that do not behave so, which damage makes, go the slow way.
 */
#include "heap/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/workers.h"
#include "heap/phantoms.h"

/* Ascending objects that lie in one page and one behind the other in the file. */
struct run {
    uint64_t first, last; /* addresses of objects */
    uint64_t offset;      /* of the first one's record */
    uint32_t count;
    uint32_t start;                /* number of the first object, once the runs are sorted */
    uint16_t phantoms[TAIL_KINDS]; /* how many of the last objects are phantoms, by what the span's
                                      tail holds */
};

struct loader {
    struct g2h_heap *heap;
    const struct g2h_progress *progress;
    unsigned threads;
    VECTOR(struct run) runs;

    /* The run that is being read. */
    bool open, uniform, has_pointers;
    struct run run;
    uint64_t slot_size;
    uint16_t places[SLOTS_PER_PAGE]; /* of its objects in the page */

    struct known_lists known;

    uint32_t object_count; /* without phantoms */
    uint64_t overlaps;
};

enum { RUNS_PER_TASK = 128, PROGRESS_BYTES = 8 << 20 };

/* No address of a process is as high, and sums of addresses stay far from overflow. */
static const uint64_t ADDRESS_LIMIT = (uint64_t)1 << 56;

/* ---- the first walk ---- */

static bool close_run(struct loader *loader)
{
    struct run *run = &loader->run;
    if (!loader->open)
        return true;
    loader->open = false;
    for (int tail = TAIL_NONE; tail < TAIL_KINDS; tail++) {
        run->phantoms[tail] = 0;
        if (!loader->uniform)
            continue;
        uint32_t begin = phantoms_begin((enum span_tail)tail, loader->heap->params.pointer_size,
                                        loader->slot_size, loader->has_pointers);
        while (run->phantoms[tail] < run->count &&
               loader->places[run->count - 1 - run->phantoms[tail]] >= begin)
            run->phantoms[tail]++;
    }
    return vector_push(&loader->runs, *run);
}

static struct g2h_error *add_object(struct loader *loader, const struct g2h_record *record)
{
    struct g2h_heap *heap = loader->heap;
    const struct g2h_object *object = &record->object;
    const uint64_t address = object->address;
    uint32_t shape;

    if (address % 8 != 0 || address == 0 || address >= ADDRESS_LIMIT || object->size == 0) {
        heap->account.misplaced++;
        return close_run(loader) ? NULL : &error_no_memory;
    }
    struct known_list *list = heap->reader->list;
    if (list && list->tag > 0)
        shape = list->tag - 1;
    else if (!shapes_intern(heap, object, &shape))
        return &error_no_memory;
    if (list)
        list->tag = shape + 1;
    heap->account.short_objects += object->contents.size < object->size;

    struct run *run = &loader->run;
    if (!loader->open || address / SPAN_PAGE != run->first / SPAN_PAGE || address <= run->last ||
        run->count == SLOTS_PER_PAGE) {
        if (!close_run(loader))
            return &error_no_memory;
        *run = (struct run){.first = address, .offset = record->offset};
        loader->open = loader->uniform = true;
        loader->has_pointers = false;
        loader->slot_size = object->size;
    }
    loader->places[run->count++] = (uint16_t)(address % SPAN_PAGE);
    run->last = address;
    loader->uniform = loader->uniform && object->size == loader->slot_size;
    loader->has_pointers = loader->has_pointers || heap->shapes.list.data[shape].has_pointers;
    return NULL;
}

/* The N of go1.N in a version such as "go1.26.1" or "devel go1.27-2f3a…"; 0 where there is none. */
static int go_minor_of(const char *version)
{
    const char *at = strstr(version, "go1.");
    return at ? atoi(at + 4) : 0;
}

static struct g2h_error *add_params(struct loader *loader, const struct g2h_params *params)
{
    struct g2h_heap *heap = loader->heap;
    size_t size = params->version.size < 256 ? (size_t)params->version.size : 256;
    heap->params = *params;
    heap->go_version = size > 0 ? strndup((const char *)params->version.data, size) : strdup("");
    if (!heap->go_version)
        return &error_no_memory;
    heap->go_minor = go_minor_of(heap->go_version);
    heap->span_tail = span_tail_of_version(heap->go_version, heap->go_minor);
    return NULL;
}

/* Fields of a type are walked once per element of an array, so only ascending ones that fit the
 * type are taken. */
static struct g2h_error *add_type(struct g2h_heap *heap, const struct g2h_type *type)
{
    uint32_t number;
    if (!map_put(&heap->type_by_address, type->address, (uint32_t)heap->types.count, &number))
        return &error_no_memory;
    if (number != heap->types.count)
        return NULL; /* a repeated record: the first counts */
    struct heap_type entry = {.address = type->address,
                              .size = type->size,
                              .name = type->name,
                              .data_is_pointer = type->data_is_pointer};
    VECTOR(struct g2h_field) fields = {0};
    struct g2h_fields list = type->fields;
    struct g2h_field field;
    while (g2h_fields_next(&list, &field)) {
        bool ascends = fields.count == 0 || field.offset > fields.data[fields.count - 1].offset;
        if (ascends && field.offset < type->size && !vector_push(&fields, field)) {
            free(fields.data);
            return &error_no_memory;
        }
    }
    entry.fields = fields.data;
    entry.field_count = fields.count;
    if (!vector_push(&heap->types, entry)) {
        free(fields.data);
        return &error_no_memory;
    }
    return NULL;
}

static struct g2h_error *add_itab(struct g2h_heap *heap, const struct g2h_itab *itab)
{
    struct heap_itab entry = {itab->address, itab->type, itab->data_is_pointer};
    uint32_t number;
    if (!map_put(&heap->itab_by_address, itab->address, (uint32_t)heap->itabs.count, &number) ||
        (number == heap->itabs.count && !vector_push(&heap->itabs, entry)))
        return &error_no_memory;
    return NULL;
}

static struct g2h_error *add_record(struct loader *loader, const struct g2h_record *record)
{
    struct g2h_heap *heap = loader->heap;
    heap->account.records[record->kind]++;
    if (record->kind == G2H_RECORD_OBJECT)
        return add_object(loader, record);
    if (!close_run(loader))
        return &error_no_memory;

    switch (record->kind) {
    case G2H_RECORD_PARAMS:
        return add_params(loader, &record->params);
    case G2H_RECORD_TYPE:
        return add_type(heap, &record->type);
    case G2H_RECORD_ITAB:
        return add_itab(heap, &record->itab);
    case G2H_RECORD_GOROUTINE: {
        struct heap_goroutine goroutine = {record->offset, (uint32_t)heap->frames.count, 0};
        return vector_push(&heap->goroutines, goroutine) ? NULL : &error_no_memory;
    }
    case G2H_RECORD_STACKFRAME: {
        const struct g2h_stackframe *frame = &record->stackframe;
        struct heap_frame entry = {record->offset, frame->sp, frame->contents.size};
        if (heap->goroutines.count > 0)
            heap->goroutines.data[heap->goroutines.count - 1].frame_count++;
        return vector_push(&heap->frames, entry) ? NULL : &error_no_memory;
    }
    case G2H_RECORD_MEMSTATS:
        heap->memstats = record->memstats;
        return NULL;
    case G2H_RECORD_EOF:
        return NULL;
    default:
        return vector_push(&heap->records[record->kind], record->offset) ? NULL : &error_no_memory;
    }
}

/* Reads to the end or to the damage. */
static struct g2h_error *read_all(struct loader *loader)
{
    struct g2h_heap *heap = loader->heap;
    struct g2h_record record = {.kind = G2H_RECORD_KINDS};
    uint64_t next_progress = 0;
    while (record.kind != G2H_RECORD_EOF) {
        struct g2h_error *error = g2h_reader_next(heap->reader, &record);
        if (error && error->code == G2H_ERROR_DAMAGED) {
            heap->damage = error;
            break;
        }
        if (!error)
            error = add_record(loader, &record);
        if (error)
            return error;
        if (loader->progress && record.offset >= next_progress) {
            loader->progress->update(loader->progress->context, "reading", record.offset,
                                     heap->input->size, heap->account.records[G2H_RECORD_OBJECT]);
            next_progress = record.offset + PROGRESS_BYTES;
        }
    }
    heap->account.bytes_read = reader_offset(heap->reader);
    heap->account.bytes_behind = heap->damage ? 0 : heap->input->size - heap->account.bytes_read;
    heap->account.repairs = reader_repairs(heap->reader);
    return close_run(loader) ? NULL : &error_no_memory;
}

static struct g2h_error *read_records(struct loader *loader)
{
    struct g2h_reader *reader = loader->heap->reader;
    reader->known = &loader->known;
    struct g2h_error *error = read_all(loader);
    reader->known = NULL;
    reader->list = NULL;
    return error;
}

/* ---- phantoms ---- */

static uint64_t count_objects(const struct loader *loader, enum span_tail tail)
{
    uint64_t count = 0;
    for (size_t i = 0; i < loader->runs.count; i++)
        count += loader->runs.data[i].count - loader->runs.data[i].phantoms[tail];
    return count;
}

/*
 * The version says what the end of a span holds; memstats, whose count is exact from 1.4 on, has
 * the last word: it knows of experiments that the version does not name.
 */
static void choose_tail(struct loader *loader)
{
    struct g2h_heap *heap = loader->heap;
    if (heap->account.records[G2H_RECORD_MEMSTATS] == 0 || heap->damage ||
        heap->pointer_form == POINTERS_TYPED)
        return;
    const uint64_t expected = heap->memstats.numbers[G2H_MEMSTATS_HEAP_OBJECTS];
    if (count_objects(loader, heap->span_tail) == expected)
        return;
    for (int tail = TAIL_NONE; tail < TAIL_KINDS; tail++)
        if (count_objects(loader, (enum span_tail)tail) == expected)
            heap->span_tail = (enum span_tail)tail;
}

static void drop_phantoms(struct loader *loader)
{
    struct g2h_account *account = &loader->heap->account;
    size_t kept = 0;
    for (size_t i = 0; i < loader->runs.count; i++) {
        struct run run = loader->runs.data[i];
        uint32_t phantoms = run.phantoms[loader->heap->span_tail];
        if (phantoms > 0) {
            struct g2h_record record;
            heap_read(loader->heap, run.offset, &record);
            account->phantoms += phantoms;
            account->phantom_bytes += phantoms * record.object.size;
            run.count -= phantoms;
        }
        if (run.count > 0)
            loader->runs.data[kept++] = run;
    }
    loader->runs.count = kept;
}

/* ---- the order of addresses ---- */

static int compare_runs(const void *a, const void *b)
{
    const struct run *one = a, *other = b;
    if (one->first != other->first)
        return one->first < other->first ? -1 : 1;
    return one->offset < other->offset ? -1 : 1;
}

/* Each object becomes a run of its own. */
static struct g2h_error *split_runs(struct loader *loader)
{
    VECTOR(struct run) split = {0};
    struct g2h_reader copy = *loader->heap->reader;
    for (size_t i = 0; i < loader->runs.count; i++) {
        const struct run *run = &loader->runs.data[i];
        reader_seek(&copy, run->offset);
        for (uint32_t j = 0; j < run->count; j++) {
            struct g2h_record record;
            struct g2h_error *error = g2h_reader_next(&copy, &record);
            struct run single = {.offset = record.offset, .count = 1};
            single.first = single.last = record.object.address;
            if (error || !vector_push(&split, single)) {
                free(split.data);
                return error ? error : &error_no_memory;
            }
        }
    }
    free(loader->runs.data);
    loader->runs.data = split.data;
    loader->runs.count = split.count;
    loader->runs.capacity = split.capacity;
    return NULL;
}

static struct g2h_error *sort_runs(struct loader *loader)
{
    bool interleaved = false;
    if (loader->runs.count == 0)
        return NULL;
    qsort(loader->runs.data, loader->runs.count, sizeof(struct run), compare_runs);
    for (size_t i = 1; i < loader->runs.count; i++)
        interleaved = interleaved || loader->runs.data[i].first < loader->runs.data[i - 1].last;
    if (interleaved) {
        struct g2h_error *error = split_runs(loader);
        if (error)
            return error;
        qsort(loader->runs.data, loader->runs.count, sizeof(struct run), compare_runs);
    }
    for (size_t i = 0; i < loader->runs.count; i++) {
        loader->runs.data[i].start = loader->object_count;
        if (loader->runs.data[i].count > UINT32_MAX / 2 - loader->object_count)
            return error_create(G2H_ERROR_LIMIT, "%s: more than %u objects",
                                loader->heap->input->name, UINT32_MAX / 2);
        loader->object_count += loader->runs.data[i].count;
    }
    return NULL;
}

/* ---- the second walk ---- */

static struct g2h_error *place_runs(void *context, size_t task, unsigned worker)
{
    struct loader *loader = context;
    struct g2h_heap *heap = loader->heap;
    struct g2h_reader copy = *heap->reader;
    struct known_lists known = loader->known;
    uint64_t overlaps = 0;
    size_t end = (task + 1) * RUNS_PER_TASK;
    (void)worker;
    copy.known = &known;
    if (end > loader->runs.count)
        end = loader->runs.count;
    for (size_t i = task * RUNS_PER_TASK; i < end; i++) {
        const struct run *run = &loader->runs.data[i];
        uint64_t last = i + 1 < loader->runs.count ? loader->runs.data[i + 1].first : UINT64_MAX;
        uint64_t previous_end = 0;
        reader_seek(&copy, run->offset);
        for (uint32_t j = 0; j < run->count; j++) {
            struct g2h_object object;
            reader_object_again(&copy, &object);
            const uint64_t offset = (uint64_t)(object.contents.data - heap->input->data);
            const uint32_t shape =
                copy.list && copy.list->tag > 0 ? copy.list->tag - 1 : shapes_find(heap, &object);
            if (copy.list)
                copy.list->tag = shape + 1;
            heap->objects[run->start + j] =
                (struct heap_object){object.address, offset << SHAPE_BITS | shape};
            overlaps += object.address < previous_end;
            previous_end = object.address + object.size;
        }
        overlaps += previous_end > last;
    }
    if (overlaps > 0)
        __atomic_fetch_add(&loader->overlaps, overlaps, __ATOMIC_RELAXED);
    return NULL;
}

/* Damaged sizes and addresses only: of two objects that overlap the lower one is left out. */
static void drop_overlapping(struct g2h_heap *heap)
{
    uint64_t next = UINT64_MAX;
    uint32_t kept = heap->object_count;
    for (uint32_t i = heap->object_count; i-- > 0;) {
        if (heap_address(heap, i) + heap_object_size(heap, i) > next) {
            heap->account.overlapping++;
            continue;
        }
        next = heap_address(heap, i);
        heap->objects[--kept] = heap->objects[i];
    }
    heap->object_count -= kept;
    memmove(heap->objects, heap->objects + kept, heap->object_count * sizeof(*heap->objects));
}

static struct g2h_error *place_objects(struct loader *loader)
{
    struct g2h_heap *heap = loader->heap;
    heap->object_count = loader->object_count;
    heap->object_capacity = loader->object_count;
    if (heap->shapes.list.count > SHAPE_LIMIT || heap->input->size > OFFSET_LIMIT)
        return error_create(
            G2H_ERROR_LIMIT, "%s: more than the %llu bytes and %llu kinds of objects that are read",
            heap->input->name, (unsigned long long)OFFSET_LIMIT, (unsigned long long)SHAPE_LIMIT);
    heap->objects = large_alloc(heap->object_capacity, sizeof(*heap->objects));
    if (!heap->objects)
        return &error_no_memory;
    size_t tasks = (loader->runs.count + RUNS_PER_TASK - 1) / RUNS_PER_TASK;
    struct g2h_error *error = workers_run(loader->threads, tasks, place_runs, loader);
    if (error)
        return error;
    if (loader->overlaps > 0)
        drop_overlapping(heap);
    return NULL;
}

/* ---- all of it ---- */

static uint64_t size_of(const void *context, uint32_t object)
{
    return heap_object_size(context, object);
}

/* The first words of interfaces: addresses of itabs, and of types. */
static struct g2h_error *map_interfaces(struct g2h_heap *heap)
{
    heap->interface_low = UINT64_MAX;
    heap->interface_high = 0;
    for (size_t i = 0; i < heap->types.count + heap->itabs.count; i++) {
        const struct heap_itab *itab =
            i < heap->types.count ? NULL : &heap->itabs.data[i - heap->types.count];
        uint64_t address = itab ? itab->address : heap->types.data[i].address;
        uint32_t type = itab ? map_get(&heap->type_by_address, itab->type) : (uint32_t)i;
        if (type == MAP_NONE || heap->types.data[type].name.size == 0)
            continue;
        if (!map_put(&heap->type_of_interface, address, type, &type))
            return &error_no_memory;
        if (address < heap->interface_low)
            heap->interface_low = address;
        if (address + 1 > heap->interface_high)
            heap->interface_high = address + 1;
    }
    return NULL;
}

static struct g2h_error *load(struct loader *loader)
{
    struct g2h_heap *heap = loader->heap;
    struct g2h_error *error = read_records(loader);
    if (error)
        return error;
    if (heap->account.records[G2H_RECORD_PARAMS] == 0) {
        error = heap->damage ? heap->damage
                             : error_create(G2H_ERROR_DAMAGED, "%s: has no params record",
                                            heap->input->name);
        heap->damage = NULL;
        return error;
    }
    shapes_resolve_types(heap);
    choose_tail(loader);
    drop_phantoms(loader);
    error = map_interfaces(heap);
    if (!error)
        error = sort_runs(loader);
    if (!error)
        error = place_objects(loader);
    if (!error)
        error = index_init(&heap->index, heap->objects, heap->object_count, size_of, heap);
    if (error)
        return error;
    heap->account.objects = heap->object_count;
    for (uint32_t i = 0; i < heap->object_count; i++)
        heap->account.object_bytes += heap_object_size(heap, i);
    return NULL;
}

struct g2h_error *g2h_heap_load(const struct g2h_input *input,
                                const struct g2h_heap_options *options, struct g2h_heap **ret)
{
    struct g2h_heap *heap = calloc(1, sizeof(*heap));
    struct loader *loader = calloc(1, sizeof(*loader));
    struct g2h_error *error =
        heap && loader ? g2h_reader_create(input, &heap->reader) : &error_no_memory;
    if (!error) {
        heap->input = input;
        shapes_init(&heap->shapes);
        heap->pointer_form = g2h_reader_objects_have_types(heap->reader) ? POINTERS_TYPED
                             : strcmp(g2h_reader_format(heap->reader), "1.4") == 0
                                 ? POINTERS_LISTED_KIND
                                 : POINTERS_LISTED;
        heap->fields = reader_object_fields(heap->reader);
        loader->heap = heap;
        loader->progress = options ? options->progress : NULL;
        loader->threads = options && options->threads ? options->threads : workers_available();
        error = load(loader);
    }
    if (loader)
        free(loader->runs.data);
    free(loader);
    if (error) {
        g2h_heap_destroy(heap);
        return error;
    }
    *ret = heap;
    return NULL;
}
