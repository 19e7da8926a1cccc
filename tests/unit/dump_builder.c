/* dump_builder; see dump_builder.h. */
#include "dump_builder.h"

#include <sys/mman.h>
#include <unistd.h>

/* ---- bytes ---- */

void dump_bytes(struct dump *dump, const void *data, size_t size)
{
    if (dump->capacity - dump->size < size) {
        dump->capacity = dump->size + size + dump->capacity / 2 + 4096;
        dump->data = realloc(dump->data, dump->capacity);
        assert_non_null(dump->data);
    }
    if (size > 0)
        memcpy(dump->data + dump->size, data, size);
    dump->size += size;
}

void dump_uvarint(struct dump *dump, uint64_t value)
{
    uint8_t bytes[10];
    size_t size = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[size++] = (uint8_t)(value | 0x80);
    bytes[size++] = (uint8_t)value;
    dump_bytes(dump, bytes, size);
}

void dump_uvarints(struct dump *dump, size_t count, const uint64_t *values)
{
    for (size_t i = 0; i < count; i++)
        dump_uvarint(dump, values[i]);
}

static void put_bytes(struct dump *dump, const struct g2h_bytes *bytes)
{
    dump_uvarint(dump, bytes->size);
    dump_bytes(dump, bytes->data, (size_t)bytes->size);
}

void dump_string(struct dump *dump, const char *text)
{
    dump_uvarint(dump, strlen(text));
    dump_bytes(dump, text, strlen(text));
}

void dump_tag(struct dump *dump, enum g2h_record_kind kind)
{
    static const uint8_t tags_2013[G2H_RECORD_KINDS] = {
        [G2H_RECORD_OBJECT] = 1,     [G2H_RECORD_EOF] = 3,        [G2H_RECORD_STACKROOT] = 4,
        [G2H_RECORD_DATAROOT] = 5,   [G2H_RECORD_OTHERROOT] = 6,  [G2H_RECORD_TYPE] = 7,
        [G2H_RECORD_GOROUTINE] = 8,  [G2H_RECORD_STACKFRAME] = 9, [G2H_RECORD_PARAMS] = 10,
        [G2H_RECORD_FINALIZER] = 11, [G2H_RECORD_ITAB] = 12};
    assert_true(dump->format != DUMP_2013 || tags_2013[kind] != 0);
    dump_uvarint(dump, dump->format == DUMP_2013 ? tags_2013[kind] : kind);
}

void dump_store(const struct dump *dump, uint8_t *at, uint64_t value)
{
    for (unsigned i = 0; i < dump->pointer_size; i++)
        at[dump->big_endian ? dump->pointer_size - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

void dump_memory(struct dump *dump, uint64_t size, size_t count, const uint64_t *words)
{
    dump_uvarint(dump, size);
    uint8_t *memory = calloc((size_t)size + 1, 1);
    assert_non_null(memory);
    for (size_t i = 0; i < count; i++)
        dump_store(dump, memory + i * dump->pointer_size, words[i]);
    dump_bytes(dump, memory, (size_t)size);
    free(memory);
}

/* Returns the number that a field kind has in the file; FORMATS.md §0 and §9. */
static uint64_t kind_number(const struct dump *dump, enum g2h_field_kind kind)
{
    static const uint8_t number_1_3[] = {1, 2, 3, 4, 5}, number_1_4[] = {1, 0, 0, 2, 3};
    if (dump->format == DUMP_2013)
        return kind; /* 0 Ptr … 4 Eface: the enum happens to have the same numbers */
    if (dump->format < DUMP_1_4)
        return number_1_3[kind];
    assert_true(kind == G2H_FIELD_POINTER || (dump->format == DUMP_1_4 && number_1_4[kind] != 0));
    return number_1_4[kind];
}

void dump_fields(struct dump *dump, const struct g2h_field *fields, size_t count)
{
    if (dump->format == DUMP_2013)
        dump_uvarint(dump, count);
    for (size_t i = 0; i < count; i++) {
        dump_uvarint(dump, kind_number(dump, fields[i].kind));
        dump_uvarint(dump, fields[i].offset);
    }
    if (dump->format != DUMP_2013)
        dump_uvarint(dump, 0);
}

/* Writes a field list whose pointers are the first count words. */
static void pointer_fields(struct dump *dump, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        dump_uvarint(dump, 1);
        dump_uvarint(dump, i * dump->pointer_size);
    }
    dump_uvarint(dump, 0);
}

/* ---- header and params ---- */

void dump_begin(struct dump *dump, enum dump_format format, uint64_t pointer_size, bool big_endian)
{
    static const char *const headers[DUMP_FORMATS] = {
        "go1.3 heap dump\n", "go1.3 heap dump\n", "go1.3 heap dump\n", "go1.4 heap dump\n",
        "go1.5 heap dump\n", "go1.6 heap dump\n", "go1.7 heap dump\n"};
    *dump = (struct dump){.format = format, .pointer_size = pointer_size, .big_endian = big_endian};
    dump->hchan_size = pointer_size == 8 ? 88 : 48;
    dump->heap_start = pointer_size == 8 ? 0xc000000000 : 0x18000000;
    dump->heap_end = dump->heap_start + (64 << 20);
    dump->version = "";
    dump_bytes(dump, headers[format], 16);
}

void dump_params(struct dump *dump)
{
    dump_tag(dump, G2H_RECORD_PARAMS);
    dump_uvarint(dump, dump->big_endian);
    dump_uvarint(dump, dump->size_in_bits ? 8 * dump->pointer_size : dump->pointer_size);
    if (dump->format <= DUMP_1_3)
        dump_uvarint(dump, dump->hchan_size);
    dump_uvarint(dump, dump->heap_start);
    dump_uvarint(dump, dump->heap_end);
    if (dump->format == DUMP_2013)
        return;
    if (dump->format == DUMP_1_7)
        dump_string(dump, dump->pointer_size == 8 ? "amd64" : "386");
    else
        dump_uvarint(dump, dump->pointer_size == 8 ? '6' : '8');
    dump_string(dump, dump->version);
    dump_uvarint(dump, 4);
}

void dump_start(struct dump *dump, enum dump_format format, uint64_t pointer_size, bool big_endian)
{
    dump_begin(dump, format, pointer_size, big_endian);
    dump_params(dump);
}

void dump_start_modern(struct dump *dump, const char *version)
{
    dump_start_large(dump, version, 64 << 20);
}

void dump_start_large(struct dump *dump, const char *version, uint64_t heap_size)
{
    dump_begin(dump, DUMP_1_7, 8, false);
    dump->heap_end = dump->heap_start + heap_size;
    dump->version = version;
    dump_params(dump);
}

/* Destroys all that has been made of the dump. */
static void forget(struct dump *dump)
{
    g2h_view_destroy(dump->view);
    g2h_graph_destroy(dump->graph);
    g2h_heap_destroy(dump->heap);
    g2h_input_close(dump->input);
    dump->view = NULL;
    dump->graph = NULL;
    dump->heap = NULL;
    dump->input = NULL;
}

void dump_deinit(struct dump *dump)
{
    forget(dump);
    free(dump->data);
    *dump = (struct dump){0};
}

/* ---- records ---- */

#define PUT(...) \
    dump_uvarints(dump, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), \
                  (const uint64_t[]){__VA_ARGS__})

static void put_object(struct dump *dump, const struct g2h_object *object,
                       const struct g2h_field *fields, size_t count)
{
    dump_uvarint(dump, object->address);
    if (dump->format < DUMP_1_4)
        PUT(object->type, object->kind);
    dump_uvarint(dump, object->size);
    dump_bytes(dump, object->contents.data, (size_t)object->contents.size);
    if (dump->format >= DUMP_1_4)
        dump_fields(dump, fields, count);
}

static void put_goroutine(struct dump *dump, const struct g2h_goroutine *goroutine)
{
    PUT(goroutine->address, goroutine->sp, goroutine->goid, goroutine->creation_pc,
        goroutine->status, goroutine->is_system, goroutine->is_background, goroutine->wait_since);
    put_bytes(dump, &goroutine->wait_reason);
    if (dump->format != DUMP_2013)
        PUT(goroutine->ctxt, goroutine->m, goroutine->defer, goroutine->panic);
}

static void put_frame(struct dump *dump, const struct g2h_stackframe *frame,
                      const struct g2h_field *fields, size_t count)
{
    if (dump->format == DUMP_2013) {
        PUT(frame->sp, frame->child_sp, frame->entry, frame->pc);
        put_bytes(dump, &frame->function);
        return;
    }
    PUT(frame->sp, frame->depth, frame->child_sp);
    put_bytes(dump, &frame->contents);
    PUT(frame->entry, frame->pc);
    if (dump->format != DUMP_1_3_BETA)
        dump_uvarint(dump, frame->continpc);
    put_bytes(dump, &frame->function);
    dump_fields(dump, fields, count);
}

void dump_record(struct dump *dump, const struct g2h_record *record, const struct g2h_field *fields,
                 size_t count)
{
    dump_tag(dump, record->kind);
    switch (record->kind) {
    case G2H_RECORD_OBJECT:
        put_object(dump, &record->object, fields, count);
        break;
    case G2H_RECORD_OTHERROOT:
        put_bytes(dump, &record->otherroot.description);
        PUT(record->otherroot.pointer);
        break;
    case G2H_RECORD_TYPE:
        PUT(record->type.address, record->type.size);
        put_bytes(dump, &record->type.name);
        PUT(record->type.data_is_pointer);
        if (dump->format < DUMP_1_4)
            dump_fields(dump, fields, count);
        break;
    case G2H_RECORD_GOROUTINE:
        put_goroutine(dump, &record->goroutine);
        break;
    case G2H_RECORD_STACKFRAME:
        put_frame(dump, &record->stackframe, fields, count);
        break;
    case G2H_RECORD_FINALIZER:
    case G2H_RECORD_QUEUEDFINALIZER:
        PUT(record->finalizer.object, record->finalizer.funcval, record->finalizer.code,
            record->finalizer.argument_type, record->finalizer.object_type);
        break;
    case G2H_RECORD_ITAB:
        PUT(record->itab.address,
            dump->format < DUMP_1_4 ? record->itab.data_is_pointer : record->itab.type);
        break;
    case G2H_RECORD_OSTHREAD:
        PUT(record->osthread.m, record->osthread.id, record->osthread.os_id);
        break;
    case G2H_RECORD_MEMSTATS:
        dump_bytes(dump, record->memstats.data, (size_t)record->memstats.size);
        break;
    case G2H_RECORD_DATA:
    case G2H_RECORD_BSS:
        PUT(record->segment.address);
        put_bytes(dump, &record->segment.contents);
        dump_fields(dump, fields, count);
        break;
    case G2H_RECORD_DEFER:
        PUT(record->defer.address, record->defer.g, record->defer.argp, record->defer.pc,
            record->defer.funcval, record->defer.code, record->defer.next);
        break;
    case G2H_RECORD_PANIC:
        PUT(record->panic.address, record->panic.g, record->panic.type, record->panic.data,
            record->panic.defer, record->panic.next);
        break;
    case G2H_RECORD_MEMPROF:
        PUT(record->memprof.id, record->memprof.size, record->memprof.frame_count);
        dump_bytes(dump, record->memprof.frames.data, (size_t)record->memprof.frames.size);
        PUT(record->memprof.allocs, record->memprof.frees);
        break;
    case G2H_RECORD_ALLOCSAMPLE:
        PUT(record->allocsample.object, record->allocsample.memprof);
        break;
    case G2H_RECORD_STACKROOT:
        PUT(record->stackroot.address, record->stackroot.pointer, record->stackroot.frame_sp);
        break;
    case G2H_RECORD_DATAROOT:
        PUT(record->dataroot.address, record->dataroot.pointer);
        break;
    default:
        fail_msg("dump_record() does not write the kind %d", (int)record->kind);
    }
}

void dump_eof(struct dump *dump)
{
    dump_tag(dump, G2H_RECORD_EOF);
}

void dump_object(struct dump *dump, uint64_t address, uint64_t size, size_t count,
                 const uint64_t *words)
{
    dump_tag(dump, G2H_RECORD_OBJECT);
    dump_uvarint(dump, address);
    dump_memory(dump, size, count, words);
    pointer_fields(dump, count);
}

void dump_typed_object(struct dump *dump, uint64_t address, uint64_t type, uint64_t kind,
                       uint64_t size, size_t count, const uint64_t *words)
{
    dump_tag(dump, G2H_RECORD_OBJECT);
    PUT(address, type, kind);
    dump_memory(dump, size, count, words);
}

void dump_type(struct dump *dump, uint64_t address, uint64_t size, const char *name,
               bool data_is_pointer, const struct g2h_field *fields, size_t count)
{
    dump_tag(dump, G2H_RECORD_TYPE);
    PUT(address, size);
    dump_string(dump, name);
    PUT(data_is_pointer);
    if (dump->format < DUMP_1_4)
        dump_fields(dump, fields, count);
}

void dump_itab(struct dump *dump, uint64_t address, uint64_t type)
{
    dump_tag(dump, G2H_RECORD_ITAB);
    PUT(address, type);
}

void dump_goroutine(struct dump *dump, uint64_t goid, uint64_t address, uint64_t sp)
{
    struct g2h_record record = {.kind = G2H_RECORD_GOROUTINE};
    record.goroutine = (struct g2h_goroutine){.address = address, .sp = sp, .goid = goid};
    record.goroutine.status = 4;
    record.goroutine.wait_reason = (struct g2h_bytes){(const uint8_t *)"select", 6};
    dump_record(dump, &record, NULL, 0);
}

void dump_frame(struct dump *dump, const char *function, uint64_t sp, uint64_t depth, size_t count,
                const uint64_t *words, size_t listed)
{
    dump_tag(dump, G2H_RECORD_STACKFRAME);
    PUT(sp, depth, depth ? sp - 64 : 0);
    dump_memory(dump, count * dump->pointer_size, count, words);
    PUT(0x401000, 0x401010);
    if (dump->format != DUMP_1_3_BETA)
        PUT(0x401010);
    dump_string(dump, function);
    pointer_fields(dump, listed);
}

void dump_finalizer(struct dump *dump, enum g2h_record_kind kind, uint64_t object, uint64_t funcval)
{
    dump_tag(dump, kind);
    PUT(object, funcval, 0x402000, 0, 0);
}

void dump_bss(struct dump *dump, uint64_t address, size_t count, const uint64_t *words)
{
    dump_tag(dump, G2H_RECORD_BSS);
    dump_uvarint(dump, address);
    dump_memory(dump, count * dump->pointer_size, count, words);
    pointer_fields(dump, count);
}

void dump_memstats(struct dump *dump, uint64_t heap_objects, uint64_t heap_alloc)
{
    dump_tag(dump, G2H_RECORD_MEMSTATS);
    for (int i = 0; i < G2H_MEMSTATS_NUMBERS; i++)
        dump_uvarint(dump, i == G2H_MEMSTATS_HEAP_OBJECTS ? heap_objects
                           : i == G2H_MEMSTATS_HEAP_ALLOC ? heap_alloc
                                                          : (uint64_t)i);
}

/* ---- loading and converting ---- */

struct g2h_heap *dump_load(struct dump *dump, unsigned threads)
{
    const struct g2h_heap_options options = {.threads = threads};
    forget(dump);
    assert_no_error(g2h_input_from_memory("test.dump", dump->data, dump->size, &dump->input));
    assert_no_error(g2h_heap_load(dump->input, &options, &dump->heap));
    return dump->heap;
}

struct g2h_graph *dump_graph(struct dump *dump, unsigned threads)
{
    const struct g2h_graph_options options = {.threads = threads};
    dump_load(dump, threads);
    assert_no_error(g2h_graph_build(dump->heap, &options, &dump->graph));
    return dump->graph;
}

struct g2h_view *dump_view(struct dump *dump, unsigned threads,
                           const struct g2h_view_options *options)
{
    dump_graph(dump, threads);
    return dump_view_again(dump, options);
}

struct g2h_view *dump_view_again(struct dump *dump, const struct g2h_view_options *options)
{
    g2h_view_destroy(dump->view);
    dump->view = NULL;
    assert_no_error(g2h_view_create(dump->graph, options, &dump->view));
    return dump->view;
}

char *dump_snapshot(struct dump *dump, unsigned threads, bool gzip, size_t *ret_size)
{
    return view_snapshot(dump_view(dump, threads, NULL), threads, gzip, ret_size);
}

char *view_snapshot(const struct g2h_view *view, unsigned threads, bool gzip, size_t *ret_size)
{
    int fd = memfd_create("snapshot", 0);
    const struct g2h_heapsnapshot_options plain = {sizeof(plain), .no_contexts = true};
    const struct g2h_output_options options = {.size = sizeof(options),
                                               .fd = fd,
                                               .name = "snapshot",
                                               .gzip = gzip,
                                               .threads = threads,
                                               .heapsnapshot = &plain};
    assert_true(fd >= 0);
    assert_no_error(g2h_write_heapsnapshot(view, &options));
    off_t size = lseek(fd, 0, SEEK_END);
    assert_true(size > 0);
    char *text = malloc((size_t)size + 1);
    assert_non_null(text);
    for (off_t at = 0; at < size;) {
        ssize_t count = pread(fd, text + at, (size_t)(size - at), at);
        assert_true(count > 0);
        at += count;
    }
    text[size] = '\0';
    close(fd);
    *ret_size = (size_t)size;
    return text;
}
