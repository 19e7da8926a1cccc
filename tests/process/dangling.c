/*
 * dangling: checks whether a dump that was taken from outside, at any moment, lacks an object that
 * it needs.
 *
 *   dangling DUMP
 *   dangling --control DUMP
 *
 * It marks from the roots, and looks at all pointers of reached memory. A pointer to a page of
 * objects, but to none of them, points to a free slot; a pointer to a page without objects must
 * point to a stack. Otherwise an object that the collector keeps was left out, or one that it does
 * not keep is taken for an object. Only words count that the collector follows exactly: those of
 * objects, of data and bss, of frames at calls. The frame of a goroutine that was stopped in the
 * middle of its code has words that mean nothing, and an object that is being allocated has the old
 * contents of its slot; pointers that are reached only from these are counted apart. Each sample of
 * the profile must be of an object.
 *
 * With --control some reached objects are taken away first, one by one: each must be missed. Exit
 * status: 0 if no pointer dangles, 1 if one does (with --control: if an object was not missed), 2
 * if the dump cannot be read.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "listing.h"

enum { PAGE = 8192, WORD = 8, SMALL = 512, TOLD = 8, WAY = 40, CONTROLS = 12 };

struct object {
    uint64_t address, size;
    uint32_t record;
    uint32_t number_from; /* the record that it was reached from */
    bool is_marked, is_gone;
};

/* Memory in the heap's range that has no objects. */
struct stack {
    uint64_t begin, end;
};

struct heap {
    struct listing listing;
    VECTOR(struct object) objects; /* ascending */
    VECTOR(struct stack) stacks;
    VECTOR(uint32_t) grey;
    bool *exact_frames;                             /* by the number among frames */
    uint64_t followed, reached, dangling, doubtful; /* doubtful: by words that prove nothing */
    uint64_t dead;
    bool is_exact; /* so far, marking has followed only exact words */
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
        const struct object object = {record.address, record.size, number, 0, false, false};
        TRY_MEMORY(vector_push(&heap->objects, object));
    }
    vector_sort(&heap->objects, by_address);
    return NULL;
}

/* Returns the number of objects that begin at an address or before it. */
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

/* Returns whether the page of an address has an object that is not gone. count is the number of
 * objects that begin at the address or before it. */
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

/* Returns the object that an address is in, or NULL if there is none. */
static struct object *object_at(const struct heap *heap, uint64_t address)
{
    const size_t count = objects_to(heap, address);
    struct object *object = count > 0 ? &heap->objects.data[count - 1] : NULL;
    return object && !object->is_gone && address < object->address + object->size ? object : NULL;
}

/* Prints the way from the subject of a record, such as an object, back to a root. */
static void tell_way(const struct heap *heap, uint32_t number)
{
    const struct listing *listing = &heap->listing;
    const uint64_t key = listing->keys.data[number];
    for (int steps = 0; steps < WAY; steps++) {
        const struct g2h_record record = listing_record(listing, number);
        if (record.kind == G2H_RECORD_STACKFRAME) {
            printf("  frame %" PRIu64 " of goroutine 0x%" PRIx64 ", %.*s\n",
                   record.stackframe.depth, listing_goroutine(listing, number),
                   (int)record.stackframe.function.size,
                   (const char *)record.stackframe.function.data);
            return;
        }
        printf("  %s 0x%" PRIx64, g2h_record_kind_name(record.kind), listing->keys.data[number]);
        if (record.kind != G2H_RECORD_OBJECT) {
            putchar('\n');
            return;
        }
        const struct object *object = object_at(heap, listing->keys.data[number]);
        printf(" of %" PRIu64 " bytes\n", record.object.size);
        if (!object)
            return;
        number = object->number_from;
    }
    printf("  ... the way to 0x%" PRIx64 " is longer\n", key);
}

static void tell(struct heap *heap, uint64_t pointer, bool is_slot, uint32_t from, uint64_t offset)
{
    if (!heap->is_exact) {
        heap->doubtful++;
        return;
    }
    if (heap->dangling++ >= TOLD || heap->is_quiet)
        return;
    printf("0x%" PRIx64 " is %s; it is at +%" PRIu64 " of\n", pointer,
           is_slot ? "a free slot" : "in no object, and in no stack", offset);
    tell_way(heap, from);
}

static bool is_in_stack(const struct heap *heap, uint64_t address)
{
    for (size_t i = 0; i < heap->stacks.count; i++)
        if (address >= heap->stacks.data[i].begin && address <= heap->stacks.data[i].end)
            return true;
    return false;
}

/* Returns the words of an object from an address on, or NULL if it has fewer. */
static const uint8_t *words_at(const struct heap *heap, uint64_t address, uint64_t words)
{
    const struct object *object = object_at(heap, address);
    if (!object || words * WORD > object->address + object->size - address)
        return NULL;
    return listing_record(&heap->listing, object->record).object.contents.data +
           (address - object->address);
}

/* Adds the stack of a runtime.g, which begins with the bounds of its stack. */
static struct g2h_error *add_stack(struct heap *heap, uint64_t g)
{
    struct stack stack;
    const uint8_t *words = words_at(heap, g, 2);
    if (!words)
        return NULL;
    memcpy(&stack, words, sizeof(stack));
    TRY_MEMORY(vector_push(&heap->stacks, stack));
    return NULL;
}

/* Adds the stacks of goroutines and of threads: a runtime.m begins with its g0, and has another g,
 * for signals, not far behind it. */
static struct g2h_error *add_stacks(struct heap *heap)
{
    enum { WORDS_OF_M = 16 };
    const struct listing *listing = &heap->listing;
    for (size_t i = 0; i < listing->of_kind[G2H_RECORD_GOROUTINE].count; i++)
        TRY(add_stack(heap, listing->keys.data[listing->of_kind[G2H_RECORD_GOROUTINE].data[i]]));
    for (size_t i = 0; i < listing->of_kind[G2H_RECORD_OSTHREAD].count; i++) {
        const uint32_t number = listing->of_kind[G2H_RECORD_OSTHREAD].data[i];
        const uint8_t *words = words_at(heap, listing->keys.data[number], WORDS_OF_M);
        for (int k = 0; words && k < WORDS_OF_M; k++) {
            uint64_t g;
            memcpy(&g, words + k * WORD, WORD);
            TRY(add_stack(heap, g));
        }
    }
    return NULL;
}

/* Follows a pointer that a record has at an offset. */
static struct g2h_error *follow(struct heap *heap, uint64_t pointer, uint32_t from, uint64_t offset)
{
    const struct g2h_params *params = &heap->listing.params;
    if (pointer < params->heap_start || pointer >= params->heap_end)
        return NULL;
    heap->followed++;
    struct object *object = object_at(heap, pointer);
    if (!object) {
        const bool is_slot = is_page_of_objects(heap, pointer, objects_to(heap, pointer));
        if (is_slot || !is_in_stack(heap, pointer))
            tell(heap, pointer, is_slot, from, offset);
    } else if (!object->is_marked) {
        object->is_marked = true;
        object->number_from = from;
        heap->reached++;
        TRY_MEMORY(vector_push(&heap->grey, (uint32_t)(object - heap->objects.data)));
    }
    return NULL;
}

static struct g2h_error *follow_fields(struct heap *heap, struct g2h_bytes contents,
                                       struct g2h_fields fields, uint32_t from)
{
    struct g2h_field field;
    while (g2h_fields_next(&fields, &field)) {
        uint64_t pointer;
        if (field.offset + WORD > contents.size)
            continue;
        memcpy(&pointer, contents.data + field.offset, WORD);
        TRY(follow(heap, pointer, from, field.offset));
    }
    return NULL;
}

static struct g2h_error *mark(struct heap *heap)
{
    while (heap->grey.count > 0) {
        const struct object *object = &heap->objects.data[heap->grey.data[--heap->grey.count]];
        const struct g2h_object record = listing_record(&heap->listing, object->record).object;
        TRY(follow_fields(heap, record.contents, record.fields, object->record));
    }
    return NULL;
}

static bool is_function(const struct g2h_stackframe *frame, const char *name)
{
    return frame->function.size == strlen(name) &&
           memcmp(frame->function.data, name, frame->function.size) == 0;
}

/* Returns whether a frame lists its words from its begin on without a gap, as does one whose map
 * means nothing. */
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

/* Returns whether an interrupt put the frame there. The map of the next frame then means nothing
 * either. */
static bool is_interrupt(const struct g2h_stackframe *frame)
{
    return is_function(frame, "runtime.asyncPreempt") ||
           is_function(frame, "runtime.debugCallV2") || is_function(frame, "unknown function");
}

/* Returns whether the function is runtime.mallocgc or a part that it is split into. The object that
 * it makes may not have been cleared. */
static bool is_allocating(const struct g2h_stackframe *frame)
{
    static const char name[] = "runtime.mallocgc";
    return frame->function.size >= strlen(name) &&
           memcmp(frame->function.data, name, strlen(name)) == 0;
}

/* Finds the frames whose words the collector would follow exactly: those at calls, except the
 * frames of an allocation. */
static struct g2h_error *find_exact_frames(struct heap *heap)
{
    const struct listing *listing = &heap->listing;
    const size_t count = listing->of_kind[G2H_RECORD_STACKFRAME].count;
    bool is_interrupted = false, is_in_allocation = false;
    TRY_MEMORY(heap->exact_frames = calloc(count + 1, sizeof(*heap->exact_frames)));
    for (size_t i = 0; i < count; i++) {
        const struct g2h_stackframe frame =
            listing_record(listing, listing->of_kind[G2H_RECORD_STACKFRAME].data[i]).stackframe;
        if (frame.depth == 0)
            is_interrupted = lists_all(&frame);
        heap->exact_frames[i] = !is_interrupted && !is_interrupt(&frame);
        is_interrupted = is_interrupt(&frame);
    }
    for (size_t i = count; i-- > 0;) { /* from the callers to the callees */
        const struct g2h_stackframe frame =
            listing_record(listing, listing->of_kind[G2H_RECORD_STACKFRAME].data[i]).stackframe;
        is_in_allocation |= is_allocating(&frame);
        heap->exact_frames[i] &= !is_in_allocation;
        is_in_allocation &= frame.depth > 0;
    }
    return NULL;
}

static struct g2h_error *follow_frames(struct heap *heap, bool exact)
{
    const struct listing *listing = &heap->listing;
    for (size_t i = 0; i < listing->of_kind[G2H_RECORD_STACKFRAME].count; i++) {
        const uint32_t number = listing->of_kind[G2H_RECORD_STACKFRAME].data[i];
        const struct g2h_stackframe frame = listing_record(listing, number).stackframe;
        if (heap->exact_frames[i] == exact)
            TRY(follow_fields(heap, frame.contents, frame.fields, number));
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
            TRY(follow_fields(heap, record.segment.contents, record.segment.fields, i));
            break;
        case G2H_RECORD_GOROUTINE:
            TRY(follow(heap, record.goroutine.address, i, 0));
            TRY(follow(heap, record.goroutine.ctxt, i, 0));
            break;
        case G2H_RECORD_FINALIZER:
        case G2H_RECORD_QUEUEDFINALIZER:
            TRY(follow(heap, record.finalizer.object, i, 0));
            TRY(follow(heap, record.finalizer.funcval, i, 0));
            break;
        case G2H_RECORD_DEFER:
            TRY(follow(heap, record.defer.funcval, i, 0));
            break;
        case G2H_RECORD_PANIC:
            TRY(follow(heap, record.panic.data, i, 0));
            break;
        default:
            break;
        }
    }
    return NULL;
}

/* Follows the words in registers of running goroutines, which prove nothing. */
static struct g2h_error *follow_registers(struct heap *heap)
{
    const struct listing *listing = &heap->listing;
    for (size_t i = 0; i < listing->of_kind[G2H_RECORD_OTHERROOT].count; i++) {
        const uint32_t number = listing->of_kind[G2H_RECORD_OTHERROOT].data[i];
        TRY(follow(heap, listing_record(listing, number).otherroot.pointer, number, 0));
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

/*
 * Counts the pages with dead objects that are taken for living ones. Garbage since the last
 * collection points to nothing that has been freed either: its targets were there when it was made,
 * and the collection that could free them would free the garbage first. So an unreached object with
 * a pointer to freed memory is dead. A thread in an allocation has one object that may not have
 * been cleared, and a thread that has just begun to sweep a span has a whole page of dead objects
 * (src/process/README.md): so pages are counted.
 */
static struct g2h_error *count_dead(struct heap *heap)
{
    uint64_t last = UINT64_MAX;
    for (size_t i = 0; i < heap->objects.count; i++) {
        if (heap->objects.data[i].is_marked)
            continue;
        const uint32_t number = heap->objects.data[i].record;
        const struct g2h_object record = listing_record(&heap->listing, number).object;
        struct g2h_fields fields = record.fields;
        struct g2h_field field;
        bool is_dead = false;
        while (!is_dead && g2h_fields_next(&fields, &field)) {
            uint64_t pointer;
            memcpy(&pointer, record.contents.data + field.offset, WORD);
            is_dead = pointer >= heap->listing.params.heap_start &&
                      pointer < heap->listing.params.heap_end && !object_at(heap, pointer) &&
                      !is_in_stack(heap, pointer);
        }
        const uint64_t page = heap->objects.data[i].address / PAGE;
        heap->dead += is_dead && page != last;
        if (is_dead)
            last = page;
    }
    return NULL;
}

/* Counts the samples whose address is no object. */
static uint64_t count_lost_samples(const struct heap *heap)
{
    const struct listing *listing = &heap->listing;
    uint64_t lost = 0;
    for (size_t i = 0; i < listing->of_kind[G2H_RECORD_ALLOCSAMPLE].count; i++) {
        const uint32_t number = listing->of_kind[G2H_RECORD_ALLOCSAMPLE].data[i];
        lost += !object_at(heap, listing_record(listing, number).allocsample.object);
    }
    return lost;
}

static void forget(struct heap *heap)
{
    heap->followed = heap->reached = heap->dangling = heap->doubtful = 0;
    for (size_t i = 0; i < heap->objects.count; i++)
        heap->objects.data[i].is_marked = false;
}

/* Takes objects away one by one, from all over the heap, and checks that each is missed. Objects
 * that are alone in their page, or are in several, could not be missed. */
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
    const size_t threads = heap->listing.of_kind[G2H_RECORD_OSTHREAD].count;
    TRY(add_objects(heap));
    TRY(add_stacks(heap));
    TRY(find_exact_frames(heap));
    if (is_control)
        return control(heap, ret);
    TRY(mark_all(heap));
    TRY(count_dead(heap));
    const uint64_t lost = count_lost_samples(heap);
    printf("%zu objects, %" PRIu64 " reached by %" PRIu64 " pointers; %" PRIu64
           " dangle, and %" PRIu64 " of words that prove nothing; %" PRIu64
           " pages with dead ones of %zu threads; %" PRIu64 " of %zu samples of none\n",
           heap->objects.count, heap->reached, heap->followed, heap->dangling, heap->doubtful,
           heap->dead, threads, lost, heap->listing.of_kind[G2H_RECORD_ALLOCSAMPLE].count);
    *ret = heap->dangling == 0 && heap->dead <= threads && lost == 0;
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
    free(heap.stacks.data);
    free(heap.grey.data);
    free(heap.exact_frames);
    g2h_input_close(input);
    return good ? 0 : 1;
}
