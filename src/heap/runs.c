/*
 * runs: reads the objects of a part of the file into runs; see runs.h. run_reader_read() appends
 * one object after the other to the open run, as long as each is in the page and of the form that
 * the run has, and begins another one otherwise. run_reader_find() searches a position in the
 * middle of the file from which objects follow one another, for a thread that begins there.
 */
#include "base/contract.h"
#include "heap/runs.h"

#include <stdlib.h>
#include <string.h>

#include "input/input.h"

enum {
    SLOT_CLASSES_ENOUGH =
        1 << 16, /* no program has as many; a chunk ends with them, so that lookups stay short */
    SLOT_CLASSES_MOST = (1 << ENTRY_SLOT_CLASS_BITS) - 1,
    CHAIN = 24,             /* this many objects in a row are not an accident */
    SEARCH_BYTES = 1 << 18, /* a search tries offsets in a range of this size */
    LIST_BYTES = 1 << 12,   /* a longer field list is not plausible */
    SEARCH_WORK = 1 << 22,  /* most bytes of records that a search may read */
    RECORD_WORK = 16,       /* the cost of a record in addition to its field list */
};

/* Entries are counted in 32 bits; no dump has this many in a window of the file. */
static const size_t ENTRIES_ENOUGH = UINT32_MAX / 2;

/* Every address of a process is lower, and sums of addresses below it stay far from overflow. */
static const uint64_t ADDRESS_LIMIT = UINT64_C(1) << 56;

struct run_reader {
    const struct g2h_heap *heap;
    struct g2h_reader reader;
    struct known_lists known;
    struct slot_classes slot_classes;
    struct chunk chunk; /* the chunk that is being read */

    /* The open run. */
    bool open, uniform, has_pointers;
    struct slot_run run;
    uint64_t page, last; /* page of the run's objects; address of the last one */
    uint64_t end;        /* end of the last object's record */
    uint64_t slot_size;
    uint16_t offsets[SLOTS_PER_PAGE]; /* offsets of the run's objects in the page */
};

/* Returns a reader at the beginning, or NULL if memory runs out. */
struct run_reader *run_reader_create(const struct g2h_heap *heap)
{
    struct run_reader *reader = calloc(1, sizeof(*reader));
    if (!reader)
        return NULL;
    reader->heap = heap;
    run_reader_begin(reader);
    return reader;
}

void run_reader_destroy(struct run_reader *reader)
{
    if (!reader)
        return;
    chunk_deinit(&reader->chunk);
    slot_classes_deinit(&reader->slot_classes);
    free(reader);
}

void chunk_deinit(struct chunk *chunk)
{
    free(chunk->runs.data);
    free(chunk->entries.data);
    free(chunk->slot_classes.data);
    free(chunk->slot_class_numbers);
    *chunk = (struct chunk){0};
}

/* ---- runs ---- */

/* Adds the open run to the chunk, with its numbers of phantoms for each span tail: which of these
 * is right is known only when the whole dump has been read. Returns false if memory runs out. */
static bool close_run(struct run_reader *reader)
{
    struct slot_run *run = &reader->run;
    if (!reader->open)
        return true;
    reader->open = false;
    run->last = reader->offsets[run->count - 1] / 8;
    for (int tail = TAIL_NONE; tail < TAIL_KINDS; tail++) {
        run->phantoms[tail] = 0;
        if (!reader->uniform)
            continue;
        uint32_t begin = phantoms_begin((enum span_tail)tail, reader->heap->params.pointer_size,
                                        reader->slot_size, reader->has_pointers);
        while (run->phantoms[tail] < run->count &&
               reader->offsets[run->count - 1 - run->phantoms[tail]] >= begin)
            run->phantoms[tail]++;
    }
    return vector_push(&reader->chunk.runs, *run);
}

/* Returns whether an object cannot be one of a Go heap, or lacks contents that it should have. */
static bool is_misplaced(const struct g2h_params *params, const struct g2h_object *object)
{
    return object->address % 8 != 0 || object->address == 0 || object->address >= ADDRESS_LIMIT ||
           object->size == 0 ||
           (object->contents.size < object->size && !g2h_object_may_be_short(params, object));
}

/* Finds the slot class of an object, by its field list if that is known: the tag of a known list is
 * the number of its class plus 1. Returns false if memory runs out. */
static inline bool find_slot_class(struct run_reader *reader, const struct g2h_object *object,
                                   uint32_t *ret)
{
    struct known_list *list = reader->reader.list;
    if (object->size == LARGEST_SMALL)
        list = NULL; /* its slot class does not depend on the list alone */
    if (!list)
        *ret = slot_classes_find_noscan(&reader->slot_classes, object);
    else
        *ret = list->tag > 0 ? list->tag - 1 : MAP_NONE;
    if (*ret == MAP_NONE && !slot_classes_intern(&reader->slot_classes, object, ret))
        return false;
    if (list)
        list->tag = *ret + 1;
    return true;
}

/* Begins a run with an object, whose contents are at an offset of the file. */
static inline void begin_run(struct run_reader *reader, const struct g2h_object *object,
                             uint64_t contents)
{
    reader->run = (struct slot_run){.first = object->address,
                                    .contents = contents,
                                    .begin = as_u32(reader->chunk.entries.count)};
    reader->open = reader->uniform = true;
    reader->has_pointers = false;
    reader->page = object->address / SPAN_PAGE;
    reader->slot_size = object->size;
}

/* Adds an object whose record ends at offset end: finds its slot class, and extends the open run,
 * if the object is in the same page, above the last one, and directly after it in the file; else
 * begins a run. Its entry has the slot in the page and the number of the slot class, and is
 * followed by the size of the record's tail if that differs between objects of the class. Returns
 * false if memory runs out. */
static bool runs_add_object(struct run_reader *reader, const struct g2h_object *object,
                            uint64_t end)
{
    struct chunk *chunk = &reader->chunk;
    const uint64_t address = object->address;
    const uint64_t contents = as_size(object->contents.data - reader->heap->input->data);
    uint32_t number;

    chunk->records++;
    if (is_misplaced(&reader->heap->params, object)) {
        chunk->misplaced++;
        return close_run(reader);
    }
    if (!find_slot_class(reader, object, &number))
        return false;
    if (object->contents.size < object->size) {
        chunk->short_objects++;
        chunk->shortened_arrays += reader_is_shortened(reader->heap->reader, object);
    }

    const struct slot_class *slot_class = &reader->slot_classes.list.data[number];
    struct slot_run *run = &reader->run;
    if (!reader->open || address / SPAN_PAGE != reader->page || address <= reader->last ||
        run->count == SLOTS_PER_PAGE ||
        contents != reader->end + slot_class->head + uvarint_size(address)) {
        if (!close_run(reader))
            return false;
        begin_run(reader, object, contents);
    }
    reader->offsets[run->count++] = (uint16_t)(address % SPAN_PAGE);
    reader->last = address;
    reader->end = end;
    reader->uniform = reader->uniform && object->size == reader->slot_size;
    reader->has_pointers = reader->has_pointers || slot_class->has_pointers;

    const uint32_t entry = (uint32_t)(address % SPAN_PAGE / 8) << ENTRY_SLOT_CLASS_BITS | number;
    if (!vector_push(&chunk->entries, entry))
        return false;
    if (slot_class->tail != SLOT_CLASS_ANY_TAIL)
        return true;
    const uint64_t tail = end - contents - slot_class->stored;
    if (tail > UINT32_MAX)
        reader->end = UINT64_MAX; /* no record begins there, so the run ends */
    return vector_push(&chunk->entries, (uint32_t)tail);
}

/* ---- chunks ---- */

/* Begins an empty chunk. */
void run_reader_begin(struct run_reader *reader)
{
    chunk_deinit(&reader->chunk);
    slot_classes_deinit(&reader->slot_classes);
    slot_classes_init(&reader->slot_classes, reader->heap);
    memset(&reader->known, 0, sizeof(reader->known));
}

/* Moves the reader to an offset, with the state that the heap's reader has now. */
static void run_reader_seek(struct run_reader *reader, uint64_t offset)
{
    reader->reader = *reader->heap->reader;
    reader->reader.known = &reader->known;
    reader_seek(&reader->reader, offset);
}

/* Reads objects, one record after the other, into the chunk. Ends only between pages, so that a run
 * of one page is not cut in two chunks. previous is the beginning of the last record, offset that
 * of the next one. Returns false if memory runs out. */
bool run_reader_read(struct run_reader *reader, uint64_t begin, uint64_t limit, enum run_limit end,
                     uint64_t *ret_end, uint64_t *ret_records)
{
    const uint64_t records = reader->chunk.records;
    uint64_t offset = begin;
    uint64_t previous = 0;
    uint64_t page = UINT64_MAX;
    struct g2h_object object;
    bool good = true;
    run_reader_seek(reader, begin);
    while (good && reader_next_object(&reader->reader, &object)) {
        const bool is_enough =
            (end == RUN_ENDS_AT ? offset : previous) >= limit || run_reader_is_full(reader);
        /* previous > 0: at least one object is read. With so many slot classes, their numbers would
         * not fit into entries: then even the run of a page is cut. */
        if (is_enough && previous > 0 &&
            (object.address / SPAN_PAGE != page ||
             reader->slot_classes.list.count >= SLOT_CLASSES_MOST))
            break;
        const uint64_t next = reader_offset(&reader->reader);
        good = runs_add_object(reader, &object, next);
        page = object.address / SPAN_PAGE;
        previous = offset;
        offset = next;
    }
    *ret_end = offset;
    *ret_records = reader->chunk.records - records;
    return good && close_run(reader);
}

/* Adds an object whose field list is not one of the known lists: its run ends with it. Returns
 * false if memory runs out. */
bool run_reader_add(struct run_reader *reader, const struct g2h_object *object, uint64_t end)
{
    reader->reader.list = NULL;
    return runs_add_object(reader, object, end) && close_run(reader);
}

/* Returns whether the chunk is to end, because it has many entries, or many slot classes. */
bool run_reader_is_full(const struct run_reader *reader)
{
    return reader->slot_classes.list.count >= SLOT_CLASSES_ENOUGH ||
           reader->chunk.entries.count >= ENTRIES_ENOUGH;
}

/* Ends the chunk. Moves the chunk and its slot classes to *ret. */
void run_reader_end(struct run_reader *reader, struct chunk *ret)
{
    struct slot_classes *slot_classes = &reader->slot_classes;
    *ret = reader->chunk;
    ret->slot_classes.data = slot_classes->list.data;
    ret->slot_classes.count = ret->slot_classes.capacity = slot_classes->list.count;
    reader->chunk = (struct chunk){0};
    slot_classes->list.data = NULL;
    slot_classes->list.count = slot_classes->list.capacity = 0;
}

/* ---- the search for a record ---- */

/* Reads an object if it could be one of a Go heap. *work is the number of bytes that the search may
 * still read, and is reduced by those that this call reads. Returns false if it cannot be, or if
 * the work is used up. */
static bool next_plausible(struct run_reader *reader, uint64_t *work, struct g2h_object *ret)
{
    const struct g2h_params *params = &reader->heap->params;
    struct g2h_reader *records = &reader->reader;
    const uint8_t *begin;
    const uint8_t *end = records->cursor.end;
    if (!reader_peek_object(records, ret) || is_misplaced(params, ret) ||
        ret->address < params->heap_start || ret->address >= params->heap_end ||
        ret->size > params->heap_end - ret->address)
        return false;
    begin = ret->contents.data + ret->contents.size;
    if (end - begin > LIST_BYTES) /* what is no record may have a list without an end */
        records->cursor.end = begin + LIST_BYTES;
    const bool good = reader_next_object(records, ret);
    const uint64_t looked_at = as_size((good ? records->cursor.at : records->cursor.end) - begin);
    records->cursor.end = end;
    *work -= MIN(looked_at + RECORD_WORK, *work);
    return good;
}

/* Returns whether objects follow one another from an offset on. If so, *ret_begin is the beginning
 * of the first one in another page than the one before it. */
static bool runs_find_chain(struct run_reader *reader, uint64_t offset, uint64_t *work,
                            uint64_t *ret_begin)
{
    struct g2h_object object;
    uint64_t page = 0;
    *ret_begin = 0;
    reader_seek(&reader->reader, offset);
    /* *work bounds the second condition: all objects may be in one page. */
    for (unsigned i = 0; i < CHAIN || *ret_begin == 0; i++) {
        offset = reader_offset(&reader->reader);
        if (*work == 0 || !next_plausible(reader, work, &object))
            return false;
        if (i > 0 && *ret_begin == 0 && object.address / SPAN_PAGE != page)
            *ret_begin = offset;
        page = object.address / SPAN_PAGE;
    }
    return true;
}

/* Finds where in a file records of objects begin. Tries each offset in turn until a chain of
 * plausible objects begins there; bounded by SEARCH_WORK, since most offsets lead nowhere. Returns
 * false if it does not find one. */
bool run_reader_find(struct run_reader *reader, uint64_t from, uint64_t *ret_begin)
{
    const struct g2h_input *input = reader->heap->input;
    const uint64_t end = input->size - from < SEARCH_BYTES ? input->size : from + SEARCH_BYTES;
    struct range hole; /* no record begins there */
    (void)ranges_next(input_holes(input), from, end, &hole);
    uint64_t work = SEARCH_WORK;
    run_reader_seek(reader, from);
    for (uint64_t offset = from; offset < hole.begin && work > 0; offset++)
        if (runs_find_chain(reader, offset, &work, ret_begin))
            return true;
    return false;
}
