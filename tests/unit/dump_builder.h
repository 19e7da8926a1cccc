/*
 * dump_builder: heap dumps made in memory, in every layout, from FORMATS.md and not from the tables
 * of src/dump, so that a mistake in those does not hide itself.
 *
 * A dump also owns what is made of it, its heap, its graph and a view, until dump_deinit().
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

/* The header; dump_start() writes the params as well. */
void dump_begin(struct dump *dump, enum dump_format format, uint64_t pointer_size, bool big_endian);
void dump_params(struct dump *dump);
void dump_start(struct dump *dump, enum dump_format format, uint64_t pointer_size, bool big_endian);
/* A little-endian 64-bit dump of Go 1.7's layout by a Go of the given version. */
void dump_start_modern(struct dump *dump, const char *version);
/* The same with a heap of so many bytes, for objects that the file does not hold whole. */
void dump_start_large(struct dump *dump, const char *version, uint64_t heap_size);
void dump_deinit(struct dump *dump);

/* ---- bytes ---- */
void dump_bytes(struct dump *dump, const void *data, size_t size);
void dump_uvarint(struct dump *dump, uint64_t value);
void dump_uvarints(struct dump *dump, size_t count, const uint64_t *values);
void dump_string(struct dump *dump, const char *text);
void dump_tag(struct dump *dump, enum g2h_record_kind kind);
/* A word in the dump's byte order. */
void dump_store(const struct dump *dump, uint8_t *at, uint64_t value);
/* Memory of size bytes, its length before it: count words, then zeros. */
void dump_memory(struct dump *dump, uint64_t size, size_t count, const uint64_t *words);
/* A field list in the form that the format has for objects, frames and types. */
void dump_fields(struct dump *dump, const struct g2h_field *fields, size_t count);

/* ---- records ---- */

/* Any record but params and EOF; the fields are those of its field list. */
void dump_record(struct dump *dump, const struct g2h_record *record, const struct g2h_field *fields,
                 size_t count);
void dump_eof(struct dump *dump);

/* An object that is count pointers and then zeros. 1.4 and later: the count words are its field
 * list. */
void dump_object(struct dump *dump, uint64_t address, uint64_t size, size_t count,
                 const uint64_t *words);
/* An object of 1.3 and before. */
void dump_typed_object(struct dump *dump, uint64_t address, uint64_t type, uint64_t kind,
                       uint64_t size, size_t count, const uint64_t *words);
void dump_type(struct dump *dump, uint64_t address, uint64_t size, const char *name,
               bool data_is_pointer, const struct g2h_field *fields, size_t count);
/* Its second number is a type's address or, before 1.4, a bool. */
void dump_itab(struct dump *dump, uint64_t address, uint64_t type);
void dump_goroutine(struct dump *dump, uint64_t goid, uint64_t address, uint64_t sp);
/* A frame of count words, of which the first listed ones are its field list. */
void dump_frame(struct dump *dump, const char *function, uint64_t sp, uint64_t depth, size_t count,
                const uint64_t *words, size_t listed);
void dump_finalizer(struct dump *dump, enum g2h_record_kind kind, uint64_t object,
                    uint64_t funcval);
/* The segment bss: count pointers. */
void dump_bss(struct dump *dump, uint64_t address, size_t count, const uint64_t *words);
void dump_memstats(struct dump *dump, uint64_t heap_objects, uint64_t heap_alloc);

#define WORDS(...) \
    (sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)), (const uint64_t[]) \
    { \
        __VA_ARGS__ \
    }
#define NO_WORDS 0, NULL

/* ---- what becomes of it ---- */

/* Loads the dump; fails the test where that fails. */
struct g2h_heap *dump_load(struct dump *dump, unsigned threads);
/* Loads it and makes its graph. */
struct g2h_graph *dump_graph(struct dump *dump, unsigned threads);
/* The same, and a view of it; options may be NULL: the whole graph. */
struct g2h_view *dump_view(struct dump *dump, unsigned threads,
                           const struct g2h_view_options *options);
/* Another view of the graph that is there. */
struct g2h_view *dump_view_again(struct dump *dump, const struct g2h_view_options *options);
/* The bytes of the whole graph's snapshot, without contexts, from malloc(). */
char *dump_snapshot(struct dump *dump, unsigned threads, bool gzip, size_t *ret_size);
/* The same of a view that is made already. */
char *view_snapshot(const struct g2h_view *view, unsigned threads, bool gzip, size_t *ret_size);

#endif
