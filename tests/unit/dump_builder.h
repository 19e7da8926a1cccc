/*
 * dump_builder: builds heap dumps in memory, in every layout. It follows FORMATS.md and not the
 * tables of src/dump, so that a mistake in those tables does not hide itself.
 *
 * A struct dump also owns the heap, the graph and the view that are made of it, until
 * dump_deinit().
 */
#ifndef UNIT_DUMP_BUILDER_H
#define UNIT_DUMP_BUILDER_H

#include "unit.h"

enum dump_format {
    DUMP_2013,
    DUMP_1_3_BETA,
    DUMP_1_3,
    DUMP_1_4,
    DUMP_1_5,
    DUMP_1_6,
    DUMP_1_7,
    DUMP_FORMATS
};

struct dump {
    uint8_t *data;
    size_t size, capacity;
    enum dump_format format;
    uint64_t pointer_size;
    bool big_endian;
    bool size_in_bits; /* 2013: the pointer size is written as 32 or 64 */
    uint64_t hchan_size, heap_start, heap_end;
    const char *version;

    struct g2h_input *input;
    struct g2h_heap *heap;
    struct g2h_graph *graph;
    struct g2h_view *view; /* of graph */
};

/* Writes the header; dump_start() writes the params as well. */
void dump_begin(struct dump *dump, enum dump_format format, uint64_t pointer_size, bool big_endian);
void dump_params(struct dump *dump);
void dump_start(struct dump *dump, enum dump_format format, uint64_t pointer_size, bool big_endian);
/* Starts a little-endian 64-bit dump of Go 1.7's layout by a Go of the given version. */
void dump_start_modern(struct dump *dump, const char *version);
/* Does the same as dump_start_modern() with a heap of heap_size bytes, for objects that the file
 * does not hold whole. */
void dump_start_large(struct dump *dump, const char *version, uint64_t heap_size);
void dump_deinit(struct dump *dump);
/* A variable that ends with its block. */
#define DUMP __attribute__((cleanup(dump_deinit))) struct dump

/* ---- bytes ---- */
void dump_bytes(struct dump *dump, const void *data, size_t size);
void dump_uvarint(struct dump *dump, uint64_t value);
void dump_uvarints(struct dump *dump, size_t count, const uint64_t *values);
void dump_string(struct dump *dump, const char *text);
void dump_tag(struct dump *dump, enum g2h_record_kind kind);
/* Stores a word in the dump's byte order. */
void dump_store(const struct dump *dump, uint8_t *at, uint64_t value);
/* Writes a memory block of size bytes, preceded by its length: count words, then zeros. */
void dump_memory(struct dump *dump, uint64_t size, size_t count, const uint64_t *words);
/* Writes a field list in the form that the format has for objects, frames and types. */
void dump_fields(struct dump *dump, const struct g2h_field *fields, size_t count);

/* ---- records ---- */

/* Writes any record except params and EOF; fields is the record's field list. */
void dump_record(struct dump *dump, const struct g2h_record *record, const struct g2h_field *fields,
                 size_t count);
void dump_eof(struct dump *dump);

/* Writes an object that consists of count pointers and then zeros. In 1.4 and later its field list
 * has the count words. */
void dump_object(struct dump *dump, uint64_t address, uint64_t size, size_t count,
                 const uint64_t *words);
/* Writes an object of 1.3 or earlier. */
void dump_typed_object(struct dump *dump, uint64_t address, uint64_t type, uint64_t kind,
                       uint64_t size, size_t count, const uint64_t *words);
void dump_type(struct dump *dump, uint64_t address, uint64_t size, const char *name,
               bool data_is_pointer, const struct g2h_field *fields, size_t count);
/* Writes an itab; type is a type's address or, before 1.4, a bool. */
void dump_itab(struct dump *dump, uint64_t address, uint64_t type);
void dump_goroutine(struct dump *dump, uint64_t goid, uint64_t address, uint64_t sp);
/* Writes a frame of count words; the first listed ones are its field list. */
void dump_frame(struct dump *dump, const char *function, uint64_t sp, uint64_t depth, size_t count,
                const uint64_t *words, size_t listed);
void dump_finalizer(struct dump *dump, enum g2h_record_kind kind, uint64_t object,
                    uint64_t funcval);
/* Writes the segment bss, which has count pointers. */
void dump_bss(struct dump *dump, uint64_t address, size_t count, const uint64_t *words);
void dump_memstats(struct dump *dump, uint64_t heap_objects, uint64_t heap_alloc);

#define WORDS(...) \
    (sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)), (const uint64_t[]) \
    { \
        __VA_ARGS__ \
    }
#define NO_WORDS 0, NULL

/* ---- loading and converting ---- */

/* Loads the dump; fails the test if the dump cannot be loaded. */
struct g2h_heap *dump_load(struct dump *dump, unsigned threads);
/* Loads the dump and makes its graph. */
struct g2h_graph *dump_graph(struct dump *dump, unsigned threads);
/* Loads the dump and makes its graph and a view, of the whole graph if options is NULL. */
struct g2h_view *dump_view(struct dump *dump, unsigned threads,
                           const struct g2h_view_options *options);
/* Makes another view of the dump's graph, which must exist. */
struct g2h_view *dump_view_again(struct dump *dump, const struct g2h_view_options *options);
/* Returns the bytes of the whole graph's snapshot, without contexts, from malloc(). */
char *dump_snapshot(struct dump *dump, unsigned threads, bool gzip, size_t *ret_size);
/* Returns the bytes of an existing view's snapshot, from malloc(). */
char *view_snapshot(const struct g2h_view *view, unsigned threads, bool gzip, size_t *ret_size);

#endif
