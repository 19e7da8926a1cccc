/*
 * load: turns the records of a dump into objects sorted by address.
 *
 * The end of a record is known only once it has been read. But nearly all of a dump is objects, and
 * many objects in a row are easily recognized. So the file from the first object on is divided into
 * windows; each thread searches its window for the beginning of a run of objects, and reads on from
 * there. Then the loader walks through the file from record to record. When the walk arrives at a
 * chunk that a thread has read, it takes the chunk over and continues after it; chunks that it does
 * not arrive at are discarded. So the result depends neither on guesses nor on the number of
 * threads.
 */
#include "heap/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/releases.h"
#include "base/workers.h"
#include "dump/dump_facts.h"
#include "heap/heap_ages.h"
#include "heap/runs.h"
#include "heap/sort.h"
#include "input/input.h"

/* The part of a window that a thread has read before it was known that a record begins there. */
struct load_window {
    uint64_t begin, end; /* byte offsets of the first record, and after the last one */
    struct chunk chunk;
};

struct loader {
    struct g2h_heap *heap;
    const struct g2h_progress *progress;
    unsigned threads;
    struct run_reader *reader; /* for records read in sequence */
    struct run_reader **ahead; /* for records that are read ahead, by thread */
    struct load_window
        *windows; /* the file from its first object on; NULL: nothing is read ahead */
    size_t window_count, next_window;
    uint64_t *window_begins; /* offsets, and the end of the last window */
    int release;             /* of a dump that does not name it; 0: not known */
    uint64_t records_ahead;  /* number of objects in the windows */
    chunk_vector chunks;     /* the chunks that were taken over, in file order */
};

enum { WINDOWS = 64, WINDOWS_PER_THREAD = 8, SMALLEST_WINDOW = 1 << 18, LARGEST_ADVANCE = 1 << 24 };

/* Reports how much of the input, and how many objects, have been read. */
static void load_update_progress(const struct loader *loader, uint64_t offset, uint64_t objects)
{
    const struct g2h_progress *progress = loader->progress;
    if (progress)
        progress->update(progress->context, "reading", offset, loader->heap->input->size, objects);
}

/* ---- reading ahead ---- */

/* Reads the objects of a window ahead, from the first run found in it; a task for several
 * threads. */
static struct g2h_error *read_window(void *context, size_t task, unsigned worker)
{
    struct loader *loader = context;
    struct run_reader *reader = loader->ahead[worker];
    struct load_window *window = &loader->windows[task];
    const uint64_t begin = loader->window_begins[task];
    uint64_t records;
    window->begin = begin;
    if (worker == 0)
        load_update_progress(loader, begin,
                             __atomic_load_n(&loader->records_ahead, __ATOMIC_RELAXED));
    run_reader_begin(reader);
    if (task > 0 && !run_reader_find(reader, begin, &window->begin))
        return NULL;
    if (!run_reader_read(reader, window->begin, loader->window_begins[task + 1], RUN_ENDS_BEHIND,
                         &window->end, &records))
        return &error_no_memory;
    run_reader_end(reader, &window->chunk);
    __atomic_fetch_add(&loader->records_ahead, records, __ATOMIC_RELAXED);
    return NULL;
}

/* Divides the input from an offset on into windows of about as many bytes each, not counting those
 * of holes. takes is how many bytes the current window still takes. */
static struct g2h_error *cut_windows(struct loader *loader, uint64_t begin)
{
    const struct g2h_input *input = loader->heap->input;
    const struct ranges *holes = input_holes(input);
    const uint64_t wanted = (uint64_t)loader->threads * WINDOWS_PER_THREAD;
    const uint64_t most = MAX(wanted, WINDOWS);
    const uint64_t left = input->size - begin - ranges_bytes(holes, begin, input->size);
    const uint64_t even = left / most + 1;
    const uint64_t size = MAX(even, SMALLEST_WINDOW);
    uint64_t takes = 0; /* remaining bytes of the last window */
    loader->window_begins = malloc((size_t)(most + 1) * sizeof(uint64_t));
    TRY_MEMORY(loader->window_begins);
    while (begin < input->size) {
        struct range hole;
        (void)ranges_next(holes, begin, input->size, &hole);
        for (uint64_t take; begin < hole.begin; begin += take, takes -= take) {
            if (takes == 0) {
                loader->window_begins[loader->window_count++] = begin;
                takes = size;
            }
            take = MIN(takes, hole.begin - begin);
        }
        begin = hole.end;
    }
    loader->window_begins[loader->window_count] = input->size;
    return NULL;
}

/* Reads all windows. begin is the offset of the first object, where the first window begins. */
static struct g2h_error *read_ahead(struct loader *loader, uint64_t begin)
{
    TRY(cut_windows(loader, begin));
    loader->windows = calloc(loader->window_count, sizeof(*loader->windows));
    loader->ahead = calloc(loader->threads, sizeof(struct run_reader *));
    bool good = loader->windows && loader->ahead;
    for (unsigned i = 0; i < loader->threads && good; i++) {
        loader->ahead[i] = run_reader_create(loader->heap);
        good = loader->ahead[i] != NULL;
    }
    return good ? workers_run(loader->threads, loader->window_count, read_window, loader)
                : &error_no_memory;
}

/* Finds the next window whose chunk begins at or after offset. Returns NULL if there is none.
 * Discards the chunks of the windows before it. */
static struct load_window *find_window(struct loader *loader, uint64_t offset)
{
    for (; loader->next_window < loader->window_count; loader->next_window++) {
        struct load_window *window = &loader->windows[loader->next_window];
        if (window->chunk.records > 0 && window->begin >= offset)
            return window;
        chunk_deinit(&window->chunk);
    }
    return NULL;
}

/* ---- objects ---- */

/* Appends a chunk to the loader's chunks, and maps its slot classes' numbers to the heap's. Returns
 * false if memory runs out. */
static bool take_over(struct loader *loader, struct chunk *chunk)
{
    struct g2h_heap *heap = loader->heap;
    heap->account.misplaced += chunk->misplaced;
    heap->account.short_objects += chunk->short_objects;
    heap->account.shortened_arrays += chunk->shortened_arrays;
    chunk->slot_class_numbers = malloc((chunk->slot_classes.count + 1) * sizeof(uint32_t));
    bool good = chunk->slot_class_numbers != NULL;
    for (size_t i = 0; i < chunk->slot_classes.count && good; i++)
        good = slot_classes_adopt(&heap->slot_classes, &chunk->slot_classes.data[i],
                                  &chunk->slot_class_numbers[i]);
    good = good && vector_push(&loader->chunks, *chunk);
    if (!good)
        chunk_deinit(chunk);
    *chunk = (struct chunk){0};
    return good;
}

/* Ends the chunk that is read from record to record, and begins the next one. Returns false if
 * memory runs out. */
static bool finish_chunk(struct loader *loader)
{
    struct chunk chunk;
    run_reader_end(loader->reader, &chunk);
    run_reader_begin(loader->reader);
    return take_over(loader, &chunk);
}

/* Reads the objects from the reader's position on, up to LARGEST_ADVANCE bytes or to what another
 * thread has read ahead; or takes over the chunk that was read ahead from there. The reader does
 * not move if its record cannot be read. */
static struct g2h_error *read_objects(struct loader *loader)
{
    struct g2h_heap *heap = loader->heap;
    const uint64_t begin = reader_offset(heap->reader);
    uint64_t records;
    uint64_t end = begin + LARGEST_ADVANCE;
    struct load_window *window = find_window(loader, begin);
    bool good = true;
    if (window && window->begin == begin) {
        records = window->chunk.records;
        end = window->end;
        good = finish_chunk(loader) && take_over(loader, &window->chunk);
    } else {
        if (window && window->begin < end)
            end = window->begin;
        good = run_reader_read(loader->reader, begin, end, RUN_ENDS_AT, &end, &records) &&
               (!run_reader_is_full(loader->reader) || finish_chunk(loader));
        heap->not_ahead += loader->windows ? records : 0;
    }
    reader_seek(heap->reader, end);
    heap->reader->number += records;
    heap->account.records[G2H_RECORD_OBJECT] += records;
    return good ? NULL : &error_no_memory;
}

/* ---- other records ---- */

/* Makes the version one that names the given release of Go, for a dump whose own version, or list
 * of experiments, names none. */
static struct g2h_error *guess_version(struct g2h_heap *heap, int release)
{
    const struct g2h_params *params = &heap->params;
    const struct g2h_bytes text = params->version.size > 0 ? params->version : params->experiment;
    char *guessed = go_release_guessed(bytes_at_most(text, 256), release);
    TRY_MEMORY(guessed);
    free(heap->go_version);
    heap->go_version = guessed;
    heap->go_minor = release;
    return NULL;
}

/* Keeps the params record, and finds the release of Go, which decides how spans end. */
static struct g2h_error *add_params(struct loader *loader, const struct g2h_params *params)
{
    struct g2h_heap *heap = loader->heap;
    heap->params = *params;
    heap->go_version = bytes_copied(bytes_at_most(params->version, 256));
    if (!heap->go_version)
        return &error_no_memory;
    heap->go_minor = go_release_parse(heap->go_version).minor;
    if (loader->release > 0 && g2h_heap_lacks_release(heap))
        TRY(guess_version(heap, loader->release));
    heap->span_tail = span_tail_of_version(heap->go_version, heap->go_minor);
    return NULL;
}

/* Adds a type. Only fields that ascend and are inside the type are kept, because they will be
 * walked unchecked, once for each element of an array. */
static struct g2h_error *load_add_type(struct g2h_heap *heap, const struct g2h_type *type)
{
    uint32_t number;
    if (!map_put(&heap->type_by_address, type->address, as_u32(heap->types.count), &number))
        return &error_no_memory;
    if (number != heap->types.count)
        return NULL; /* a repeated record: the first one counts */
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

/* Adds an itab; of repeated records the first one counts. */
static struct g2h_error *add_itab(struct g2h_heap *heap, const struct g2h_itab *itab)
{
    struct heap_itab entry = {itab->address, itab->type, itab->data_is_pointer};
    uint32_t number;
    if (!map_put(&heap->itab_by_address, itab->address, as_u32(heap->itabs.count), &number) ||
        (number == heap->itabs.count && !vector_push(&heap->itabs, entry)))
        return &error_no_memory;
    return NULL;
}

/* Keeps a record by its offset in the input: it is read again when it is needed. */
static struct g2h_error *add_offset(struct g2h_heap *heap, const struct g2h_record *record)
{
    return vector_push(&heap->records[record->kind], record->offset) ? NULL : &error_no_memory;
}

/* Keeps data and bss as they are, because they are read again and again; see g2h_heap_record(). */
static struct g2h_error *load_add_segment(struct g2h_heap *heap, const struct g2h_record *record)
{
    if (heap->records[record->kind].count < HEAP_SEGMENTS)
        TRY_MEMORY(vector_push(&heap->segments[record->kind], *record));
    return add_offset(heap, record);
}

/* Adds a goroutine. The frames that follow its record are its own. */
static struct g2h_error *load_add_goroutine(struct g2h_heap *heap, const struct g2h_record *record)
{
    const struct heap_goroutine goroutine = {record->goroutine, as_u32(heap->frames.count), 0};
    return vector_push(&heap->goroutines, goroutine) ? add_offset(heap, record) : &error_no_memory;
}

/* Limits a size to 32 bits. No part of a frame is larger, except in a dump that was crafted so. */
static uint32_t cut_to_32_bits(uint64_t size)
{
    return size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
}

/* Adds a frame, without its function and contents: where these are in the record is kept in few
 * bytes. */
static struct g2h_error *load_add_frame(struct g2h_heap *heap, const struct g2h_record *record)
{
    const struct g2h_stackframe *frame = &record->stackframe;
    const uint8_t *begin = heap->input->data + record->offset,
                  *end = frame->contents.data + frame->contents.size;
    const uint64_t fields = frame->fields.at ? as_size(frame->fields.end - frame->fields.at) : 0;
    const struct heap_frame entry = {.sp = frame->sp,
                                     .entry = frame->entry,
                                     .pc = frame->pc,
                                     .contents_size = (uint32_t)frame->contents.size,
                                     .function_size = cut_to_32_bits(frame->function.size),
                                     .fields_size = cut_to_32_bits(fields),
                                     .contents_begin = (uint8_t)(frame->contents.data - begin),
                                     .function_begin = (uint8_t)(frame->function.data - end)};
    if (heap->goroutines.count > 0)
        heap->goroutines.data[heap->goroutines.count - 1].frame_count++;
    return vector_push(&heap->frames, entry) ? add_offset(heap, record) : &error_no_memory;
}

/* Adds a record other than a usual object to the heap. Those that are rarely needed are kept by
 * their offsets, and read again. */
static struct g2h_error *add_record(struct loader *loader, const struct g2h_record *record)
{
    struct g2h_heap *heap = loader->heap;
    heap->account.records[record->kind]++;
    switch (record->kind) {
    case G2H_RECORD_OBJECT: /* an object that is not written as Go writes it */
        return run_reader_add(loader->reader, &record->object, reader_offset(heap->reader))
                   ? NULL
                   : &error_no_memory;
    case G2H_RECORD_PARAMS:
        return add_params(loader, &record->params);
    case G2H_RECORD_TYPE:
        return load_add_type(heap, &record->type);
    case G2H_RECORD_ITAB:
        return add_itab(heap, &record->itab);
    case G2H_RECORD_GOROUTINE:
        return load_add_goroutine(heap, record);
    case G2H_RECORD_STACKFRAME:
        return load_add_frame(heap, record);
    case G2H_RECORD_MEMSTATS:
        (void)g2h_memstats_read(record->memstats, &heap->memstats);
        return NULL;
    case G2H_RECORD_EOF:
        return NULL;
    case G2H_RECORD_OTHERROOT:
        return says_whole_contents(record->number, &record->otherroot) ? NULL
                                                                       : add_offset(heap, record);
    case G2H_RECORD_DATA:
    case G2H_RECORD_BSS:
        return load_add_segment(heap, record);
    default:
        return add_offset(heap, record);
    }
}

/* ---- all records ---- */

/* Reads the data after the EOF record. */
static struct g2h_error *read_after_eof(struct g2h_heap *heap)
{
    const struct g2h_input *input = heap->input;
    const uint64_t end = heap->account.bytes_read;
    const uint64_t left = input->size - end;
    uint64_t size;
    TRY(facts_read(input->data + end, left, &heap->facts, &size));
    heap->account.bytes_read += size;
    if (heap->facts.is_damaged)
        heap->damage = error_create(G2H_ERROR_DAMAGED,
                                    "%s: byte %llu%s: the facts after the EOF record are cut or "
                                    "damaged",
                                    input->name, (unsigned long long)heap->account.bytes_read,
                                    input->unpacked ? " of the unpacked dump" : "");
    else
        heap->account.bytes_behind = left - size;
    if (heap->facts.is_cut) {
        heap->account.missing_bytes = heap->facts.missing_bytes;
        heap->account.missing_objects = heap->facts.missing_objects;
        heap->account.missing_spans = heap->facts.missing_spans;
    }
    heap->account.conservative_objects = heap->facts.conservative_objects;
    heap->account.conservative_frames = heap->facts.conservative_frames;
    return NULL;
}

/* Reads all records, up to the end or to the damage: objects by runs, on several threads from the
 * first one on, and others one by one. If read_objects() cannot read an object, the general reader
 * finds out what is wrong with it. */
static struct g2h_error *read_records(struct loader *loader)
{
    struct g2h_heap *heap = loader->heap;
    struct g2h_reader *reader = heap->reader;
    struct g2h_record record = {.kind = G2H_RECORD_KINDS};
    while (record.kind != G2H_RECORD_EOF) {
        const uint64_t offset = reader_offset(reader);
        if (reader->has_params && reader_is_at_object(reader)) {
            if (!loader->windows && loader->threads > 1)
                TRY(read_ahead(loader, offset));
            TRY(read_objects(loader));
            load_update_progress(loader, offset, heap->account.records[G2H_RECORD_OBJECT]);
            if (reader_offset(reader) > offset)
                continue;
        }
        struct g2h_error *error = g2h_reader_next(reader, &record);
        if (error && error->code == G2H_ERROR_DAMAGED) {
            heap->damage = error;
            break;
        }
        TRY(error);
        TRY(add_record(loader, &record));
    }
    if (!finish_chunk(loader))
        return &error_no_memory;
    heap->account.bytes_read = reader_offset(reader);
    heap->account.repairs = reader_repairs(reader);
    return heap->damage ? NULL : read_after_eof(heap);
}

/* Makes the index of addresses, which needs the size of each slot class. */
static struct g2h_error *make_index(struct g2h_heap *heap, unsigned threads)
{
    const size_t slot_classes = heap->slot_classes.list.count;
    _cleanup_free_ uint64_t *sizes = malloc((slot_classes + 1) * sizeof(*sizes));
    if (!sizes)
        return &error_no_memory;
    for (size_t i = 0; i < slot_classes; i++)
        sizes[i] = heap->slot_classes.list.data[i].size;
    return index_init(&heap->index, heap->objects, heap->object_count, sizes, slot_classes,
                      threads);
}

/* Maps the possible first words of an interface, the addresses of itabs and of types, to types.
 * Types without a name are left out. */
static struct g2h_error *map_interfaces(struct g2h_heap *heap)
{
    for (size_t i = 0; i < heap->types.count + heap->itabs.count; i++) {
        const struct heap_itab *itab =
            i < heap->types.count ? NULL : &heap->itabs.data[i - heap->types.count];
        uint64_t address = itab ? itab->address : heap->types.data[i].address;
        uint32_t type = itab ? map_get(&heap->type_by_address, itab->type) : as_u32(i);
        if (type == MAP_NONE || heap->types.data[type].name.size == 0)
            continue;
        if (!map_put(&heap->type_of_interface, address, type, &type))
            return &error_no_memory;
        const uint64_t hash = interface_hash(address);
        bits_add(heap->interface_filter, hash);
    }
    return NULL;
}

/* Reads all records and makes the heap of them. A dump without params says nothing about its words,
 * so it cannot be read. */
static struct g2h_error *load_all(struct loader *loader)
{
    struct g2h_heap *heap = loader->heap;
    TRY(read_records(loader));
    if (heap->account.records[G2H_RECORD_PARAMS] == 0)
        return heap->damage
                   ? take_pointer(heap->damage)
                   : error_create(G2H_ERROR_DAMAGED, "%s: has no params record", heap->input->name);
    slot_classes_finish(heap);
    TRY(map_interfaces(heap));
    TRY(sort_objects(heap, &loader->chunks, loader->threads));
    TRY(heap_cut_untouched(heap));
    TRY(make_index(heap, loader->threads));
    heap_count_sample(heap);
    TRY(heap_ages_find(heap));
    return heap_find_secrets(heap);
}

/* Frees what only loading needs; the heap keeps none of it. */
static void loader_deinit(struct loader *loader)
{
    for (unsigned i = 0; loader->ahead && i < loader->threads; i++)
        run_reader_destroy(loader->ahead[i]);
    free(loader->ahead);
    run_reader_destroy(loader->reader);
    for (size_t i = 0; i < loader->window_count && loader->windows; i++)
        chunk_deinit(&loader->windows[i].chunk);
    free(loader->windows);
    free(loader->window_begins);
    VECTOR_EACH(struct chunk, chunk, loader->chunks)
        chunk_deinit(chunk);
    free(loader->chunks.data);
    memory_give_back(); /* what comes next needs other sizes */
}

CLEANUP_POINTER(destroy_heap, struct g2h_heap, g2h_heap_destroy);

/* Returns how the pointers of objects are found in a dump of this format: by types, or by field
 * lists, which also have the object's kind in format 1.4. */
static enum pointer_form pointer_form_of(const struct g2h_reader *reader)
{
    if (g2h_reader_objects_have_types(reader))
        return POINTERS_TYPED;
    return strcmp(g2h_reader_format(reader), "1.4") == 0 ? POINTERS_LISTED_KIND : POINTERS_LISTED;
}

/* Reads the whole input once. An option that is 0, or no options, means the default: as many
 * threads as processors. *ret is set only without an error. */
struct g2h_error *g2h_heap_load(const struct g2h_input *input,
                                const struct g2h_heap_options *options, struct g2h_heap **ret)
{
    _cleanup_(destroy_heap) struct g2h_heap *heap = calloc(1, sizeof(*heap));
    _cleanup_(loader_deinit) struct loader loader = {.heap = heap};
    if (!heap)
        return &error_no_memory;
    TRY(g2h_reader_create(input, &heap->reader));
    heap->input = input;
    heap->pointer_form = pointer_form_of(heap->reader);
    slot_classes_init(&heap->slot_classes, heap);
    heap->fields = reader_object_fields(heap->reader);
    loader.progress = options ? options->progress : NULL;
    loader.release = options ? options->release : 0;
    heap->threads = options && options->threads ? options->threads : workers_available();
    loader.threads = heap->threads;
    loader.reader = run_reader_create(heap);
    TRY(loader.reader ? load_all(&loader) : &error_no_memory);
    *ret = take_pointer(heap);
    return NULL;
}
