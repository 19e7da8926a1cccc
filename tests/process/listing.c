/* listing; see listing.h. */
#include "listing.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

enum {
    SMALL_SPAN = 8192,
    LARGEST_WITHOUT_HEADER = 512,
    DEPTH_SHIFT = 48, /* a frame's key combines its goroutine's address and its depth */
};

/* The uses of the end of a span in the version of Go that the dump names. */
struct tail {
    bool has_bitmap, has_marks;
};

static struct tail tail_of(struct g2h_bytes version)
{
    char text[100];
    int minor = 0;
    snprintf(text, sizeof(text), "%.*s", (int)version.size, (const char *)version.data);
    const char *experiment = strchr(text, 'X');
    if (sscanf(text, "go1.%d", &minor) != 1)
        minor = 99;
    return (struct tail){
        .has_bitmap = minor >= 22 && !(experiment && strstr(experiment, "noallocheaders")),
        .has_marks = (minor >= 26 && !(experiment && strstr(experiment, "nogreenteagc"))) ||
                     (minor == 25 && experiment && strstr(experiment, "greenteagc")),
    };
}

/* Returns whether a slot overlaps with the bitmap or the marks at the end of its span. */
static bool is_in_tail(struct tail tail, const struct g2h_object *object, bool has_pointers)
{
    uint64_t reserve = 0;
    if (object->size == 0 || object->size > LARGEST_WITHOUT_HEADER)
        return false;
    if (tail.has_bitmap && has_pointers)
        reserve += SMALL_SPAN / 64;
    if (tail.has_marks && object->size >= 16)
        reserve += 128;
    return (object->address & (SMALL_SPAN - 1)) >=
           (SMALL_SPAN - reserve) / object->size * object->size;
}

static uint64_t key_of(const struct g2h_record *record, uint64_t goroutine)
{
    switch (record->kind) {
    case G2H_RECORD_OBJECT:
        return record->object.address;
    case G2H_RECORD_OTHERROOT:
        return record->otherroot.pointer;
    case G2H_RECORD_TYPE:
        return record->type.address;
    case G2H_RECORD_GOROUTINE:
        return record->goroutine.address;
    case G2H_RECORD_STACKFRAME:
        return goroutine ^ record->stackframe.depth << DEPTH_SHIFT;
    case G2H_RECORD_FINALIZER:
    case G2H_RECORD_QUEUEDFINALIZER:
        return record->finalizer.object;
    case G2H_RECORD_ITAB:
        return record->itab.address;
    case G2H_RECORD_OSTHREAD:
        return record->osthread.m;
    case G2H_RECORD_DEFER:
        return record->defer.address;
    case G2H_RECORD_PANIC:
        return record->panic.address;
    case G2H_RECORD_MEMPROF:
        return record->memprof.id;
    case G2H_RECORD_ALLOCSAMPLE:
        return record->allocsample.object;
    default:
        return 0;
    }
}

struct g2h_error *listing_load(const struct g2h_input *input, struct listing *ret)
{
    struct g2h_record record;
    struct tail tail = {0};
    uint64_t page = 0, goroutine = 0;
    bool has_objects = false, has_pointers = false; /* whether the last object's span has any */
    TRY(g2h_reader_create(input, &ret->reader));
    ret->data = input->data;
    do {
        TRY(g2h_reader_next(ret->reader, &record));
        if (record.kind == G2H_RECORD_PARAMS) {
            ret->params = record.params;
            tail = tail_of(record.params.version);
        }
        if (record.kind == G2H_RECORD_MEMSTATS)
            g2h_memstats_read(record.memstats, &ret->memstats);
        if (record.kind == G2H_RECORD_GOROUTINE)
            goroutine = record.goroutine.address;
        if (record.kind == G2H_RECORD_OBJECT) {
            struct g2h_fields fields = record.object.fields;
            struct g2h_field field;
            const bool has_field = g2h_fields_next(&fields, &field);
            if (page != record.object.address / SMALL_SPAN)
                has_objects = has_pointers = false;
            page = record.object.address / SMALL_SPAN;
            if (is_in_tail(tail, &record.object, has_pointers)) {
                ret->phantoms++;
                continue;
            }
            if (!has_objects && is_in_tail(tail, &record.object, true))
                TRY_MEMORY(vector_push(&ret->doubtful, (uint32_t)ret->kinds.count));
            else {
                has_objects = true;
                has_pointers |= has_field;
            }
            ret->object_bytes += record.object.size;
        }
        TRY_MEMORY(vector_push(&ret->of_kind[record.kind], (uint32_t)ret->kinds.count));
        TRY_MEMORY(vector_push(&ret->places, record.offset));
        TRY_MEMORY(vector_push(&ret->keys, key_of(&record, goroutine)));
        TRY_MEMORY(vector_push(&ret->kinds, (uint8_t)record.kind));
    } while (record.kind != G2H_RECORD_EOF);
    return NULL;
}

void listing_deinit(struct listing *listing)
{
    g2h_reader_destroy(listing->reader);
    for (int kind = 0; kind < G2H_RECORD_KINDS; kind++)
        free(listing->of_kind[kind].data);
    free(listing->doubtful.data);
    free(listing->places.data);
    free(listing->keys.data);
    free(listing->kinds.data);
}

/* Reads a record again and returns where it ends. It cannot fail, as the record was good when it
 * was first read. */
static uint64_t read_again(const struct listing *listing, uint32_t number, struct g2h_record *ret)
{
    struct g2h_reader reader = *listing->reader;
    reader.known = NULL;
    reader.has_params = listing->kinds.data[number] != G2H_RECORD_PARAMS;
    reader_seek(&reader, listing->places.data[number]);
    struct g2h_error *error = g2h_reader_next(&reader, ret);
    if (error) {
        fprintf(stderr, "a record that was read cannot be read again: %s\n", error->message);
        abort();
    }
    return reader_offset(&reader);
}

struct g2h_record listing_record(const struct listing *listing, uint32_t number)
{
    struct g2h_record ret;
    read_again(listing, number, &ret);
    return ret;
}

uint64_t listing_goroutine(const struct listing *listing, uint32_t number)
{
    return listing->keys.data[number] ^ listing_record(listing, number).stackframe.depth
                                            << DEPTH_SHIFT;
}

struct g2h_bytes listing_bytes(const struct listing *listing, uint32_t number)
{
    struct g2h_record record;
    const uint64_t begin = listing->places.data[number];
    return (struct g2h_bytes){listing->data + begin, read_again(listing, number, &record) - begin};
}
