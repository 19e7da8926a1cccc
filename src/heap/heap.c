/*
 * heap: queries on a loaded heap: its objects by number or address, its other records, and what
 * facts say of the dump; see include/go2heapsnapshot/heap.h. load.c loads the heap. A hole, or an
 * absent part, is memory of an object that the process has never touched: it is zeros, and takes no
 * memory.
 */
#include "heap/heap.h"

#include <stdlib.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/memory.h"
#include "heap/heap_ages.h"

void g2h_heap_destroy(struct g2h_heap *heap)
{
    if (!heap)
        return;
    g2h_reader_destroy(heap->reader);
    g2h_error_destroy(heap->damage);
    free(heap->go_version);
    large_free(heap->objects, heap->object_capacity, sizeof(*heap->objects));
    slot_classes_deinit(&heap->slot_classes);
    index_deinit(&heap->index);
    VECTOR_EACH(const struct heap_type, type, heap->types)
        free(type->fields);
    free(heap->types.data);
    free(heap->facts.types.data);
    free(heap->facts.secrets.data);
    ranges_deinit(&heap->secrets);
    free(heap->facts.data.data);
    ranges_deinit(&heap->facts.untouched);
    free(heap->facts.absent.data);
    heap_ages_destroy(heap->facts.ages);
    free(heap->facts.sample.kinds.data);
    free(heap->facts.sample.spans.data);
    free(heap->itabs.data);
    map_deinit(&heap->type_by_address);
    map_deinit(&heap->itab_by_address);
    map_deinit(&heap->type_of_interface);
    free(heap->goroutines.data);
    free(heap->frames.data);
    for (int kind = 0; kind < G2H_RECORD_KINDS; kind++) {
        free(heap->records[kind].data);
        free(heap->segments[kind].data);
    }
    free(heap);
}

const struct g2h_error *g2h_heap_damage(const struct g2h_heap *heap)
{
    return heap->damage;
}

/* Returns whether nothing of the heap is damaged, cut, left out, or scanned conservatively. */
bool g2h_heap_is_complete(const struct g2h_heap *heap)
{
    return !heap->damage && !heap->input->damage && !heap->facts.is_cut &&
           heap->account.misplaced == 0 && heap->account.overlapping == 0 &&
           heap->facts.conservative_objects == 0 && heap->facts.conservative_frames == 0;
}

/* Returns whether the heap has all objects, roots and pointers. A heap from which it can be proved
 * that something is not there: complete, and all that a process has was read. */
bool heap_is_exact(const struct g2h_heap *heap)
{
    const struct facts *facts = &heap->facts;
    return g2h_heap_is_complete(heap) && !facts->is_partial && !g2h_heap_sample(heap) &&
           facts->incomplete_stacks + facts->unread_threads + facts->unread_words == 0;
}

const struct g2h_params *g2h_heap_params(const struct g2h_heap *heap)
{
    return &heap->params;
}

const struct g2h_memstats *g2h_heap_memstats(const struct g2h_heap *heap)
{
    return heap->account.records[G2H_RECORD_MEMSTATS] > 0 ? &heap->memstats : NULL;
}

const struct g2h_account *g2h_heap_account(const struct g2h_heap *heap)
{
    return &heap->account;
}

const char *g2h_heap_format(const struct g2h_heap *heap)
{
    return g2h_reader_format(heap->reader);
}

const char *g2h_heap_warning(const struct g2h_heap *heap)
{
    return g2h_reader_warning(heap->reader);
}

/* Returns whether the dump has words about its release, but none that tells which it is. */
bool g2h_heap_lacks_release(const struct g2h_heap *heap)
{
    return heap->go_minor == 0 && (*heap->go_version || heap->params.experiment.size > 0);
}

const char *g2h_heap_go_version(const struct g2h_heap *heap)
{
    return heap->go_version;
}

uint32_t g2h_heap_object_count(const struct g2h_heap *heap)
{
    return heap->object_count;
}

struct g2h_object g2h_heap_object(const struct g2h_heap *heap, uint32_t index)
{
    struct g2h_object object;
    heap_object(heap, index, &object);
    return object;
}

uint64_t g2h_heap_address(const struct g2h_heap *heap, uint32_t index)
{
    return heap_address(heap, index);
}

uint64_t g2h_heap_size(const struct g2h_heap *heap, uint32_t index)
{
    return heap_object_size(heap, index);
}

bool g2h_heap_find(const struct g2h_heap *heap, uint64_t address, uint32_t *ret)
{
    *ret = heap_find(heap, address);
    return *ret != UINT32_MAX;
}

uint64_t g2h_heap_slot_size(const struct g2h_heap *heap, uint64_t address)
{
    return index_slot_size(&heap->index, address);
}

/* Cuts the untouched ranges of the dump, which are pages, to those of single objects, so that each
 * range belongs to one object. */
struct g2h_error *heap_cut_untouched(struct g2h_heap *heap)
{
    const struct ranges said = heap->facts.untouched;
    struct ranges cut = {0};
    bool good = true;
    for (size_t i = 0; i < said.list.count && good; i++) {
        const struct range range = said.list.data[i];
        uint32_t object;
        BISECT(object, heap->object_count, heap_address(heap, object) <= range.begin);
        for (object -= object > 0; object < heap->object_count && good; object++) {
            const uint64_t address = heap_address(heap, object),
                           end = address + heap_object_size(heap, object),
                           begin = MAX(address, range.begin);
            if (address >= range.end)
                break;
            if (begin < end && begin < range.end)
                good = vector_push(&cut.list, ((struct range){begin, MIN(end, range.end)}));
        }
    }
    ranges_deinit(&heap->facts.untouched);
    heap->facts.untouched = cut;
    return good ? NULL : &error_no_memory;
}

/* Finds the contents that are secret, from the dump's facts. Damaged facts may name an object
 * twice, or none. */
struct g2h_error *heap_find_secrets(struct g2h_heap *heap)
{
    VECTOR_EACH(const uint64_t, secret, heap->facts.secrets) {
        const uint32_t object = heap_find(heap, *secret);
        if (object == UINT32_MAX)
            continue;
        const uint64_t begin = heap_offset(heap, object),
                       end = begin + heap_slot_class(heap, object)->stored;
        TRY_MEMORY(vector_push(&heap->secrets.list, ((struct range){begin, end})));
        heap->account.secret_objects++;
    }
    ranges_sort(&heap->secrets);
    return NULL;
}

/* Returns whether a byte belongs to an object that secret.Do has allocated: only pointers there are
 * the process's. */
bool heap_is_secret(const struct g2h_heap *heap, const uint8_t *at)
{
    if (heap->secrets.list.count == 0 || at < heap->input->data) /* text of the program itself */
        return false;
    const uint64_t offset = as_size(at - heap->input->data);
    return ranges_bytes(&heap->secrets, offset, offset + 1) > 0;
}

size_t g2h_heap_untouched_count(const struct g2h_heap *heap)
{
    return heap->facts.untouched.list.count;
}

const struct g2h_collector *g2h_heap_collector(const struct g2h_heap *heap)
{
    return heap->facts.collector.is_known ? &heap->facts.collector : NULL;
}

/* Returns how many bytes of a span in [begin, end) the dump lacks. Damaged facts may name a span
 * twice. */
uint64_t g2h_heap_absent(const struct g2h_heap *heap, uint64_t begin, uint64_t end)
{
    const struct fact_absent *list = heap->facts.absent.data;
    size_t at;
    BISECT(at, heap->facts.absent.count, list[at].address < begin);
    if (at == heap->facts.absent.count || list[at].address >= end)
        return 0;
    return MIN(list[at].bytes, end - begin);
}

const struct g2h_sample *g2h_heap_sample(const struct g2h_heap *heap)
{
    return heap->facts.sample.all.every > 0 ? &heap->facts.sample.all : NULL;
}

/* Returns the index of the sample's span that contains the object, or UINT32_MAX if none does.
 * Spans ascend by address. */
uint32_t g2h_heap_sample_span(const struct g2h_heap *heap, uint32_t object)
{
    const struct g2h_sample *sample = &heap->facts.sample.all;
    const uint64_t address = heap_address(heap, object);
    size_t after;
    BISECT(after, sample->span_count, sample->spans[after].address <= address);
    return after > 0 && address - sample->spans[after - 1].address < sample->spans[after - 1].size
               ? as_u32(after - 1)
               : UINT32_MAX;
}

/* Returns for how many bytes of the heap an object stands. In a sample, each object that was read
 * stands for others of its kind of span as well: its size is scaled by how many there are. 0: it is
 * in no span of the sample. */
uint64_t g2h_heap_estimated_size(const struct g2h_heap *heap, uint32_t object)
{
    const struct g2h_sample *sample = &heap->facts.sample.all;
    const uint64_t size = heap_object_size(heap, object);
    if (sample->every == 0)
        return size;
    const uint32_t span = g2h_heap_sample_span(heap, object);
    if (span == UINT32_MAX)
        return 0;
    const struct g2h_sample_kind *kind = &sample->kinds[sample->spans[span].kind];
    if (kind->spans_read == kind->spans)
        return size;
    assert(kind->objects_read > 0); /* at least this one */
    const double most = 0x1p40;
    const double all = (double)size * as_ratio(kind->objects, kind->objects_read);
    return (uint64_t)(MIN(all, most) + 0.5);
}

/* Counts how many objects of each kind of span were read. */
void heap_count_sample(struct g2h_heap *heap)
{
    struct fact_sample *sample = &heap->facts.sample;
    for (uint32_t i = 0; sample->all.every > 0 && i < heap->object_count; i++) {
        const uint32_t span = g2h_heap_sample_span(heap, i);
        if (span != UINT32_MAX)
            sample->kinds.data[sample->spans.data[span].kind].objects_read++;
    }
}

bool g2h_heap_is_of_process(const struct g2h_heap *heap)
{
    return heap->facts.are_there;
}

const struct g2h_memory *g2h_heap_memory(const struct g2h_heap *heap)
{
    return heap->facts.memory.resident > 0 ? &heap->facts.memory : NULL;
}

const struct g2h_ending *g2h_heap_ending(const struct g2h_heap *heap)
{
    return heap->facts.has_ending ? &heap->facts.ending : NULL;
}

/* Returns the size of an untouched range, and gets the object that it is in. */
uint64_t g2h_heap_untouched(const struct g2h_heap *heap, size_t index, uint32_t *ret_object)
{
    const struct range range = heap->facts.untouched.list.data[index];
    *ret_object = heap_find(heap, range.begin);
    return range.end - range.begin;
}

/* Returns how many bytes of an object are written. Untouched bytes at the end, and those of an
 * object without pointers beyond largest_array (0: no limit), are not written. */
uint64_t g2h_heap_written_size(const struct g2h_heap *heap, uint32_t index, uint64_t largest_array)
{
    const struct slot_class *slot_class = heap_slot_class(heap, index);
    const uint64_t address = heap_address(heap, index),
                   size =
                       ranges_trim(&heap->facts.untouched, address, address + slot_class->stored) -
                       address;
    return largest_array > 0 && size > largest_array && !slot_class->has_pointers ? largest_array
                                                                                  : size;
}

size_t g2h_heap_record_count(const struct g2h_heap *heap, enum g2h_record_kind kind)
{
    return kind < G2H_RECORD_KINDS ? heap->records[kind].count : 0;
}

/* Makes a record of a kind in which all numbers are 0 and all strings and contents are empty, but
 * not NULL; its offset and number stay. */
static void make_empty_record(enum g2h_record_kind kind, struct g2h_record *ret)
{
    static const uint8_t none[1];
    const struct g2h_bytes empty = {none, 0};
    const struct g2h_fields no_fields = {none, none, 0, none};
    *ret = (struct g2h_record){.kind = kind, .offset = ret->offset, .number = ret->number};
    switch (kind) {
    case G2H_RECORD_OTHERROOT:
        ret->otherroot.description = empty;
        break;
    case G2H_RECORD_GOROUTINE:
        ret->goroutine.wait_reason = empty;
        break;
    case G2H_RECORD_STACKFRAME:
        ret->stackframe.contents = ret->stackframe.function = empty;
        ret->stackframe.fields = no_fields;
        break;
    case G2H_RECORD_DATA:
    case G2H_RECORD_BSS:
        ret->segment.contents = empty;
        ret->segment.fields = no_fields;
        break;
    case G2H_RECORD_MEMPROF:
        ret->memprof.frames = empty;
        break;
    default:
        break;
    }
}

/* Segments are kept. Any other record was read without an error before. An error now means that the
 * dump has been written to: the record is then empty, and g2h_input_check() will report the change.
 * Reading stops before the next record of the same kind. */
void g2h_heap_record(const struct g2h_heap *heap, enum g2h_record_kind kind, size_t index,
                     struct g2h_record *ret)
{
    const offset_vector *offsets = &heap->records[kind];
    if (index < heap->segments[kind].count) {
        *ret = heap->segments[kind].data[index];
        return;
    }
    assert(index < offsets->count);
    const uint64_t offset = offsets->data[index], end = index + 1 < offsets->count
                                                            ? offsets->data[index + 1]
                                                            : heap->account.bytes_read;
    struct g2h_reader copy = *heap->reader;
    reader_seek(&copy, offset);
    if (end > offset && end <= heap->input->size)
        copy.cursor.end = heap->input->data + end;
    struct g2h_error *error = g2h_reader_next(&copy, ret);
    if (error || ret->kind != kind)
        make_empty_record(kind, ret);
    g2h_error_destroy(error);
}
