/*
 * dangling: whether a dump that was taken from outside, at any moment, lacks an object that it
 * needs.
 *
 *   dangling DUMP
 *   dangling --control DUMP
 *
 * Marks from the roots, and looks at all pointers of what is reached. One that points to a page of
 * objects, but to none of these, points to a free slot: what the collector keeps has been left out,
 * or what it does not keep is taken for an object. Only words count that the collector follows
 * exactly: those of objects, of data and bss, of frames at calls. The frame of a goroutine that was
 * stopped in the midst of its code has words that mean nothing; what only these reach is counted
 * apart.
 *
 * With --control some objects that are reached are taken away first, one by one: each must be
 * missed. Exit status: 0 none dangles, 1 some do (with --control: one was not missed), 2 not read.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/scope.h"
#include "listing.h"

enum { PAGE = 8192, WORD = 8, SMALL = 512, TOLD = 8, CONTROLS = 50 };

struct object {
    uint64_t address, size;
    uint32_t record;
    bool is_marked, is_gone;
};

struct heap {
    struct listing listing;
    VECTOR(struct object) objects; /* ascending */
    VECTOR(uint32_t) grey;
    uint64_t followed, reached, dangling, doubtful; /* doubtful: by words that prove nothing */
    bool is_exact; /* what is marked now hangs from exact words only */
    bool is_quiet;
};

static int by_address(const void *first, const void *second)
{
    const struct object *a = first, *b = second;
    return a->address < b->address ? -1 : a->address > b->address;
}

static struct g2h_error *add_objects(struct heap *heap)
{
    const struct listing *listing = &heap->listing;
    for (size_t i = 0; i < listing->of_kind[G2H_RECORD_OBJECT].count; i++) {
        const uint32_t number = listing->of_kind[G2H_RECORD_OBJECT].data[i];
        const struct g2h_object record = listing_record(listing, number).object;
        const struct object object = {record.address, record.size, number, false, false};
        TRY_MEMORY(vector_push(&heap->objects, object));
    }
    vector_sort(&heap->objects, by_address);
    return NULL;
}

/* The number of objects that begin at an address or before it. */
static size_t objects_to(const struct heap *heap, uint64_t address)
{
    size_t low = 0, high = heap->objects.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (heap->objects.data[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether a page has an object that is not gone, given how many begin at an address in it or
 * before. */
static bool is_page_of_objects(const struct heap *heap, uint64_t address, size_t count)
{
    const uint64_t page = address / PAGE * PAGE;
    for (size_t i = count; i-- > 0;) {
        const struct object *object = &heap->objects.data[i];
        if (object->address + object->size <= page)
            break;
        if (!object->is_gone)
            return true;
    }
    for (size_t i = count; i < heap->objects.count; i++) {
        const struct object *object = &heap->objects.data[i];
        if (object->address >= page + PAGE)
            break;
        if (!object->is_gone)
            return true;
    }
    return false;
}

static void tell(struct heap *heap, uint64_t pointer, const char *what, uint64_t from,
                 uint64_t offset)
{
    if (!heap->is_exact) {
        heap->doubtful++;
        return;
    }
    if (heap->dangling++ < TOLD && !heap->is_quiet)
        printf("0x%" PRIx64 ", of %s 0x%" PRIx64 " at +%" PRIu64 ", is a free slot\n", pointer,
               what, from, offset);
}

/* Follows a pointer at a place. */
static struct g2h_error *follow(struct heap *heap, uint64_t pointer, const char *what,
                                uint64_t from, uint64_t offset)
{
    const struct g2h_params *params = &heap->listing.params;
    if (pointer < params->heap_start || pointer >= params->heap_end)
        return NULL;
    heap->followed++;
    const size_t count = objects_to(heap, pointer);
    struct object *object = count > 0 ? &heap->objects.data[count - 1] : NULL;
    if (object && !object->is_gone && pointer < object->address + object->size) {
        if (!object->is_marked)
            TRY_MEMORY(vector_push(&heap->grey, (uint32_t)(count - 1)));
        heap->reached += !object->is_marked;
        object->is_marked = true;
    } else if (is_page_of_objects(heap, pointer, count))
        tell(heap, pointer, what, from, offset);
    return NULL;
}

static struct g2h_error *follow_fields(struct heap *heap, struct g2h_bytes contents,
                                       struct g2h_fields fields, const char *what, uint64_t from)
{
    struct g2h_field field;
    while (g2h_fields_next(&fields, &field)) {
        uint64_t pointer;
        if (field.offset + WORD > contents.size)
            continue;
        memcpy(&pointer, contents.data + field.offset, WORD);
        TRY(follow(heap, pointer, what, from, field.offset));
    }
    return NULL;
}

static struct g2h_error *mark(struct heap *heap)
{
    while (heap->grey.count > 0) {
        const struct object *object = &heap->objects.data[heap->grey.data[--heap->grey.count]];
        const struct g2h_object record = listing_record(&heap->listing, object->record).object;
        TRY(follow_fields(heap, record.contents, record.fields, "object", record.address));
    }
    return NULL;
}

static bool is_function(const struct g2h_stackframe *frame, const char *name)
{
    return frame->function.size == strlen(name) &&
           memcmp(frame->function.data, name, frame->function.size) == 0;
}

/* Whether all words of a frame from its begin on are in its list, as those of one whose map means
 * nothing. */
static bool lists_all(const struct g2h_stackframe *frame)
{
    struct g2h_fields fields = frame->fields;
    struct g2h_field field;
    uint64_t next = 0;
    while (g2h_fields_next(&fields, &field)) {
        if (field.offset != next)
            return false;
        next += WORD;
    }
    return true;
}

/* Frames: those at calls, or the others. What stopped a goroutine in the midst of its code comes
 * right above its frame: nothing, asyncPreempt, or sigpanic. */
static struct g2h_error *follow_frames(struct heap *heap, bool exact)
{
    const struct listing *listing = &heap->listing;
    bool is_interrupted = false;
    for (size_t i = 0; i < listing->of_kind[G2H_RECORD_STACKFRAME].count; i++) {
        const struct g2h_stackframe frame =
            listing_record(listing, listing->of_kind[G2H_RECORD_STACKFRAME].data[i]).stackframe;
        const bool is_preempt = is_function(&frame, "runtime.asyncPreempt") ||
                                is_function(&frame, "runtime.debugCallV2") ||
                                is_function(&frame, "unknown function");
        const bool is_exact = !is_preempt && !(is_interrupted && frame.depth > 0) &&
                              !(frame.depth == 0 && lists_all(&frame));
        is_interrupted = is_preempt;
        if (is_exact == exact)
            TRY(follow_fields(heap, frame.contents, frame.fields, "frame", frame.sp));
    }
    return NULL;
}

static struct g2h_error *follow_others(struct heap *heap)
{
    const struct listing *listing = &heap->listing;
    for (uint32_t i = 0; i < listing->kinds.count; i++) {
        const uint8_t kind = listing->kinds.data[i];
        if (kind == G2H_RECORD_OBJECT || kind == G2H_RECORD_STACKFRAME)
            continue;
        const struct g2h_record record = listing_record(listing, i);
        switch (record.kind) {
        case G2H_RECORD_DATA:
        case G2H_RECORD_BSS:
            TRY(follow_fields(heap, record.segment.contents, record.segment.fields,
                              g2h_record_kind_name(record.kind), record.segment.address));
            break;
        case G2H_RECORD_GOROUTINE:
            TRY(follow(heap, record.goroutine.address, "goroutine", record.goroutine.address, 0));
            TRY(follow(heap, record.goroutine.ctxt, "ctxt of goroutine", record.goroutine.address,
                       0));
            break;
        case G2H_RECORD_FINALIZER:
        case G2H_RECORD_QUEUEDFINALIZER:
            TRY(follow(heap, record.finalizer.object, "finalizer of", record.finalizer.object, 0));
            TRY(follow(heap, record.finalizer.funcval, "finalizer of", record.finalizer.object, 0));
            break;
        case G2H_RECORD_DEFER:
            TRY(follow(heap, record.defer.funcval, "defer", record.defer.address, 0));
            break;
        case G2H_RECORD_PANIC:
            TRY(follow(heap, record.panic.data, "panic", record.panic.address, 0));
            break;
        default:
            break;
        }
    }
    return NULL;
}

/* What register words of goroutines that run point to: no proof of anything. */
static struct g2h_error *follow_registers(struct heap *heap)
{
    const struct listing *listing = &heap->listing;
    for (size_t i = 0; i < listing->of_kind[G2H_RECORD_OTHERROOT].count; i++) {
        const struct g2h_otherroot root =
            listing_record(listing, listing->of_kind[G2H_RECORD_OTHERROOT].data[i]).otherroot;
        TRY(follow(heap, root.pointer, "register", 0, 0));
    }
    return NULL;
}

static struct g2h_error *mark_all(struct heap *heap)
{
    heap->is_exact = true;
    TRY(follow_others(heap));
    TRY(follow_frames(heap, true));
    TRY(mark(heap));
    heap->is_exact = false;
    TRY(follow_frames(heap, false));
    TRY(follow_registers(heap));
    return mark(heap);
}

static void forget(struct heap *heap)
{
    heap->followed = heap->reached = heap->dangling = heap->doubtful = 0;
    for (size_t i = 0; i < heap->objects.count; i++)
        heap->objects.data[i].is_marked = false;
}

/* Objects are taken away one by one, from all over the heap. Of those that are alone in their page,
 * or are in several, nobody could tell. */
static struct g2h_error *control(struct heap *heap, bool *ret)
{
    uint64_t tried = 0, missed = 0;
    heap->is_exact = heap->is_quiet = true;
    TRY(follow_others(heap));
    TRY(follow_frames(heap, true));
    TRY(mark(heap));
    const size_t count = heap->objects.count;
    _cleanup_free_ uint32_t *chosen = calloc(CONTROLS, sizeof(*chosen));
    TRY_MEMORY(chosen);
    for (size_t i = 0; i < count && tried < CONTROLS; i++) {
        struct object *object = &heap->objects.data[(i * 7919 + count / 3) % count];
        object->is_gone = true;
        if (object->is_marked && object->size <= SMALL &&
            is_page_of_objects(heap, object->address, objects_to(heap, object->address)))
            chosen[tried++] = (uint32_t)(object - heap->objects.data);
        object->is_gone = false;
    }
    for (uint64_t i = 0; i < tried; i++) {
        forget(heap);
        heap->objects.data[chosen[i]].is_gone = true;
        TRY(mark_all(heap));
        missed += heap->dangling > 0;
        heap->objects.data[chosen[i]].is_gone = false;
    }
    printf("%" PRIu64 " of %" PRIu64 " objects that were taken away are missed\n", missed, tried);
    *ret = tried > 0 && missed == tried;
    return NULL;
}

static struct g2h_error *check(struct heap *heap, const struct g2h_input *input, bool is_control,
                               bool *ret)
{
    TRY(listing_load(input, &heap->listing));
    TRY(add_objects(heap));
    if (is_control)
        return control(heap, ret);
    TRY(mark_all(heap));
    printf("%zu objects, %" PRIu64 " reached by %" PRIu64 " pointers; %" PRIu64
           " dangle, and %" PRIu64 " of words that prove nothing\n",
           heap->objects.count, heap->reached, heap->followed, heap->dangling, heap->doubtful);
    *ret = heap->dangling == 0;
    return NULL;
}

int main(int argc, char **argv)
{
    struct heap heap = {0};
    struct g2h_input *input = NULL;
    bool good = false;
    const bool is_control = argc == 3 && strcmp(argv[1], "--control") == 0;
    if (argc != 2 && !is_control) {
        fputs("usage: dangling [--control] DUMP\n", stderr);
        return 2;
    }
    struct g2h_error *error = g2h_input_open(argv[argc - 1], NULL, &input);
    if (!error)
        error = check(&heap, input, is_control, &good);
    if (error) {
        fprintf(stderr, "dangling: %s\n", error->message);
        return 2;
    }
    listing_deinit(&heap.listing);
    free(heap.objects.data);
    free(heap.grey.data);
    g2h_input_close(input);
    return good ? 0 : 1;
}
