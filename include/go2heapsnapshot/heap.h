/*
 * What is in a dump: objects sorted by address, and all other records.
 *
 * Takes a mapped input, reads it to its end or as far as it can be read, and gives back each object
 * once: without the phantom objects that dumps of Go 1.22 and later contain (docs/dump-formats.md).
 * Contents stay in the input, which must outlive the heap. Once loaded a heap is constant, so
 * several threads may use it.
 */
#ifndef GO2HEAPSNAPSHOT_HEAP_H
#define GO2HEAPSNAPSHOT_HEAP_H

#include <go2heapsnapshot/dump.h>
#include <go2heapsnapshot/progress.h>
#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

struct g2h_heap;

struct g2h_heap_options {
    unsigned threads;                    /* 0: one per processor */
    const struct g2h_progress *progress; /* may be NULL */
};

/*
 * Loads a dump. A cut or damaged dump loads up to the damage: see g2h_heap_damage(). options may be
 * NULL.
 * Errors: G2H_ERROR_NOT_DUMP, G2H_ERROR_MEMORY, G2H_ERROR_LIMIT (2^32 objects), and
 * G2H_ERROR_DAMAGED only where the dump is damaged before its params record, without which nothing
 * can be said.
 */
G2H_PUBLIC struct g2h_error *g2h_heap_load(const struct g2h_input *input,
                                           const struct g2h_heap_options *options,
                                           struct g2h_heap **ret);
G2H_PUBLIC void g2h_heap_destroy(struct g2h_heap *heap);

/* Why the dump could not be read to its end, with file, offset and record; NULL where it could.
 * Owned by the heap. */
G2H_PUBLIC const struct g2h_error *g2h_heap_damage(const struct g2h_heap *heap);

/* Whether all of the dump was read and made sense: no damage, no gzip stream cut, no object left
 * out as damaged. */
G2H_PUBLIC bool g2h_heap_is_complete(const struct g2h_heap *heap);

G2H_PUBLIC const struct g2h_params *g2h_heap_params(const struct g2h_heap *heap);
G2H_PUBLIC const struct g2h_memstats *
g2h_heap_memstats(const struct g2h_heap *heap); /* NULL: not in the dump */

/* How many bytes, objects and records were read, and what became of them. */
struct g2h_account {
    uint64_t records[G2H_RECORD_KINDS];
    uint64_t objects, object_bytes; /* kept; bytes are the sum of the slots' sizes */
    uint64_t phantoms,
        phantom_bytes; /* left out: bitmaps at the end of a span, which are no objects */
    uint64_t
        misplaced; /* left out: where no allocation slot is, or larger than the heap (damage) */
    uint64_t overlapping; /* left out: they overlap the next object (damage) */
    uint64_t
        short_objects; /* kept, but not all of their contents is in the file (2 GiB and more) */
    uint64_t repairs;  /* corrupt type records of Go 1.5 that were passed over */
    uint64_t bytes_read, bytes_behind; /* up to the EOF record, and behind it */
};
G2H_PUBLIC const struct g2h_account *g2h_heap_account(const struct g2h_heap *heap);

/* A sentence on what is odd about the dump's header, or NULL. */
G2H_PUBLIC const char *g2h_heap_warning(const struct g2h_heap *heap);

/* Name of the dump's layout and the Go version of its params ("" where it does not say). */
G2H_PUBLIC const char *g2h_heap_format(const struct g2h_heap *heap);
G2H_PUBLIC const char *g2h_heap_go_version(const struct g2h_heap *heap);

/* The number of objects; they are numbered from 0 in the order of their addresses. */
G2H_PUBLIC uint32_t g2h_heap_object_count(const struct g2h_heap *heap);

/* Object number index < count, read again from the input. */
G2H_PUBLIC struct g2h_object g2h_heap_object(const struct g2h_heap *heap, uint32_t index);

/* The address of object number index < count. */
G2H_PUBLIC uint64_t g2h_heap_address(const struct g2h_heap *heap, uint32_t index);

/* The object whose slot holds address (an interior pointer too); false where there is none. */
G2H_PUBLIC bool g2h_heap_find(const struct g2h_heap *heap, uint64_t address, uint32_t *ret);

/* The size of the slots in the 8 KiB around an address, whether they hold objects or not; 0 where
 * they have several, or larger ones. It takes a part of the time of g2h_heap_find(). */
G2H_PUBLIC uint64_t g2h_heap_slot_size(const struct g2h_heap *heap, uint64_t address);

/*
 * The records of a kind, in the order of the file: all but objects (see above), types and itabs
 * (which a heap keeps by address), params, memstats and EOF, which have count 0 here. A record
 * whose bytes have changed meanwhile may be empty: see g2h_input_check().
 */
G2H_PUBLIC size_t g2h_heap_record_count(const struct g2h_heap *heap, enum g2h_record_kind kind);
G2H_PUBLIC void g2h_heap_record(const struct g2h_heap *heap, enum g2h_record_kind kind,
                                size_t index, struct g2h_record *ret);

G2H_END

#endif
