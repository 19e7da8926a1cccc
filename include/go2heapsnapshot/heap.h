/*
 * The contents of a dump: objects sorted by address, and all other records.
 *
 * Loading takes a mapped input, reads it to its end or to the first damage, and returns each object
 * once, without the phantom objects that dumps of Go 1.22 and later contain (docs/dump-formats.md).
 * The contents of objects stay in the input, which must outlive the heap. A loaded heap is
 * constant, so several threads may use it.
 */
#ifndef GO2HEAPSNAPSHOT_HEAP_H
#define GO2HEAPSNAPSHOT_HEAP_H

#include <go2heapsnapshot/dump.h>
#include <go2heapsnapshot/memory.h>
#include <go2heapsnapshot/progress.h>
#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

struct g2h_heap;

struct g2h_heap_options {
    unsigned threads;                    /* 0: one per processor */
    const struct g2h_progress *progress; /* may be NULL */
    int release; /* the N of go1.N of a dump whose version does not name it; 0: not known */
};

/*
 * Loads a dump. A cut or damaged dump is loaded up to the damage: see g2h_heap_damage(). options
 * may be NULL.
 * Errors: G2H_ERROR_NOT_DUMP, G2H_ERROR_MEMORY, G2H_ERROR_LIMIT (2^31 objects), and
 * G2H_ERROR_DAMAGED only if the dump is damaged before its params record, without which no other
 * record can be interpreted.
 */
G2H_PUBLIC struct g2h_error *g2h_heap_load(const struct g2h_input *input,
                                           const struct g2h_heap_options *options,
                                           struct g2h_heap **ret);
G2H_PUBLIC void g2h_heap_destroy(struct g2h_heap *heap);

/* Returns why the dump could not be read to its end, with file, offset and record; NULL if it was
 * read to its end. The heap owns the error. */
G2H_PUBLIC const struct g2h_error *g2h_heap_damage(const struct g2h_heap *heap);

/* Returns whether the dump's Go version names no release ("unknown", "devel +hash"), so that
 * setting options.release helps. */
G2H_PUBLIC bool g2h_heap_lacks_release(const struct g2h_heap *heap);

/* Returns whether the whole dump was read and is valid: no damage, no truncated gzip stream, no
 * object left out as damaged, and none whose pointers were not known when the dump was made of a
 * process. */
G2H_PUBLIC bool g2h_heap_is_complete(const struct g2h_heap *heap);

/* Return the dump's params and memstats, which the heap owns. */
G2H_PUBLIC const struct g2h_params *g2h_heap_params(const struct g2h_heap *heap);
G2H_PUBLIC const struct g2h_memstats *
g2h_heap_memstats(const struct g2h_heap *heap); /* NULL if the dump has no memstats record */

/* The numbers of bytes, objects and records read, and of those kept or left out. */
struct g2h_account {
    uint64_t records[G2H_RECORD_KINDS];
    uint64_t objects, object_bytes; /* objects that were kept, and the sum of their slots' sizes */
    uint64_t phantoms,
        phantom_bytes;      /* left out: bitmaps at the end of a span, which are not objects */
    uint64_t misplaced;     /* left out: objects at an address that is not an allocation slot's, or
                               larger than the heap (damage) */
    uint64_t overlapping;   /* left out: objects that overlap the next object (damage) */
    uint64_t short_objects; /* kept, although the file lacks part of their contents: objects of 2
                               GiB and more, and the next */
    uint64_t shortened_arrays; /* of these: objects without pointers that were shortened when the
                                  dump was written; see g2h_output_options.largest_array */
    uint64_t repairs;          /* corrupt type records of Go 1.5 that were skipped */
    uint64_t bytes_read, bytes_behind; /* up to the EOF record, and after it */
    uint64_t missing_bytes, missing_objects,
        missing_spans; /* of a dump made from a process or core: what of its memory was missing
                          then */
    uint64_t conservative_objects, conservative_frames; /* of such a dump: those whose pointers were
                                                           not known, so that all their words count
                                                           as pointers */
    uint64_t secret_objects; /* that secret.Do has allocated (runtime/secret): of a dump made from a
                                process or core, which has only their pointers */
};
G2H_PUBLIC const struct g2h_account *g2h_heap_account(const struct g2h_heap *heap);

/* Returns a sentence about an unusual dump header, or NULL. */
G2H_PUBLIC const char *g2h_heap_warning(const struct g2h_heap *heap);

/* Return the name of the dump's layout, and the Go version of its params record ("" if it has
 * none). */
G2H_PUBLIC const char *g2h_heap_format(const struct g2h_heap *heap);
G2H_PUBLIC const char *g2h_heap_go_version(const struct g2h_heap *heap);

/* Returns the number of objects, which are numbered from 0 in the order of their addresses. */
G2H_PUBLIC uint32_t g2h_heap_object_count(const struct g2h_heap *heap);

/* Returns object number index, which must be less than the count; reads it from the input again. */
G2H_PUBLIC struct g2h_object g2h_heap_object(const struct g2h_heap *heap, uint32_t index);

/* Returns the address of object number index, which must be less than the count. */
G2H_PUBLIC uint64_t g2h_heap_address(const struct g2h_heap *heap, uint32_t index);

/* Returns the size of the slot of object number index, which must be less than the count. */
G2H_PUBLIC uint64_t g2h_heap_size(const struct g2h_heap *heap, uint32_t index);

/* Finds the object whose slot contains address, which may be an interior pointer; returns false if
 * there is none. */
G2H_PUBLIC bool g2h_heap_find(const struct g2h_heap *heap, uint64_t address, uint32_t *ret);

/* Returns how many bytes of an object to write where its contents are wanted: those that the dump
 * has, without the end that the process has never written to, and of an object without pointers at
 * most largest_array; 0: no limit. */
G2H_PUBLIC uint64_t g2h_heap_written_size(const struct g2h_heap *heap, uint32_t index,
                                          uint64_t largest_array);

/*
 * Return the number of regions of large objects that the process has never written to, so that they
 * take no memory; and the object that contains region number index, and the region's size. Only
 * dumps made from outside the process record them; the number is 0 for others.
 */
G2H_PUBLIC size_t g2h_heap_untouched_count(const struct g2h_heap *heap);
G2H_PUBLIC uint64_t g2h_heap_untouched(const struct g2h_heap *heap, size_t index,
                                       uint32_t *ret_object);

/* Returns whether the dump was made of a process or core file, by this program. */
G2H_PUBLIC bool g2h_heap_is_of_process(const struct g2h_heap *heap);

/* Returns how many bytes of a span of small objects took no memory when the process was read: they
 * were never used, or swapped. 0 also if that is not known. */
G2H_PUBLIC uint64_t g2h_heap_absent(const struct g2h_heap *heap, uint64_t begin, uint64_t end);

/* Returns what the collector goes by, or NULL: not known. */
G2H_PUBLIC const struct g2h_collector *g2h_heap_collector(const struct g2h_heap *heap);

/* Returns RSS of the process and its parts, without files and mappings, or NULL: not known. Only
 * dumps that this program made of live processes have them. */
G2H_PUBLIC const struct g2h_memory *g2h_heap_memory(const struct g2h_heap *heap);

/* Returns how the process ended, or NULL: not known. Only dumps of --at-death record it. */
G2H_PUBLIC const struct g2h_ending *g2h_heap_ending(const struct g2h_heap *heap);

/*
 * A sample: a dump of a heap of which only some spans were read (g2h_process_options.sample). It
 * has the objects of these spans, and others that were read only to find what holds them. How many
 * objects of each size there are is known exactly, how they divide into classes is not.
 */
struct g2h_sample_kind {
    unsigned span_class;        /* mspan.spanclass */
    uint64_t slot_size;         /* 0: a span is one object */
    uint64_t spans, spans_read; /* spans_read: those of the sample */
    uint64_t objects, objects_read;
};

struct g2h_sample_span {
    uint64_t address, size;
    uint32_t kind; /* index in kinds */
};

struct g2h_sample {
    uint64_t every; /* the N of --sample N */
    uint32_t kind_count;
    const struct g2h_sample_kind *kinds;
    uint32_t span_count;
    const struct g2h_sample_span *spans; /* of the sample, ascending by address */
};

/* Returns what the sample is, or NULL: the dump has all objects. */
G2H_PUBLIC const struct g2h_sample *g2h_heap_sample(const struct g2h_heap *heap);

/* Returns the index in spans of the span of an object; UINT32_MAX: the object is not of the
 * sample. */
G2H_PUBLIC uint32_t g2h_heap_sample_span(const struct g2h_heap *heap, uint32_t object);

/* Returns how many bytes an object stands for: in a sample those of its slot times the objects of
 * its kind per one that was read, and 0 if it is not of the sample; otherwise those of its slot. */
G2H_PUBLIC uint64_t g2h_heap_estimated_size(const struct g2h_heap *heap, uint32_t object);

/*
 * Ages: since which collection each object lives. A dump that was made of a process or a core has
 * them: of a process that was watched for a while they reach back to the beginning of that;
 * otherwise there is one look, and it is known of each object only whether it survived the last
 * collection.
 */
struct g2h_age_look {
    uint64_t first, last; /* the collections it stands for, as runtime.NumGC() counts */
    int64_t time;         /* when the last of them had ended: milliseconds since 1970 */
};

struct g2h_ages_known {
    int64_t begin;         /* of the first look: milliseconds since 1970 */
    uint64_t seen, missed; /* collections since then: those with a look, and others */
    uint64_t unread;       /* spans that a look could not read, all looks together */
    unsigned look_count;
    const struct g2h_age_look *looks; /* from 1 on: the first one found what lived already */
};

enum { G2H_AGE_UNKNOWN = 255 };

/* Returns the ages that are known, or NULL. */
G2H_PUBLIC const struct g2h_ages_known *g2h_heap_ages(const struct g2h_heap *heap);

/* Returns the look that saw an object first; 0: it has not survived a collection;
 * G2H_AGE_UNKNOWN. */
G2H_PUBLIC unsigned g2h_heap_age(const struct g2h_heap *heap, uint32_t object);

/* Returns the class of spans that an object is in (mspan.spanclass), and how many objects in spans
 * of a class had ended at a look that had survived two before; *ret_first are those that the first
 * look found. */
G2H_PUBLIC unsigned g2h_heap_age_class(const struct g2h_heap *heap, uint32_t object);
G2H_PUBLIC uint64_t g2h_heap_ended(const struct g2h_heap *heap, unsigned span_class, unsigned look,
                                   uint64_t *ret_first);

/* Returns the size of the allocation slots in the 8 KiB around an address, whether or not they hold
 * objects; 0 if there are slots of several sizes, or larger ones. Much faster than
 * g2h_heap_find(). */
G2H_PUBLIC uint64_t g2h_heap_slot_size(const struct g2h_heap *heap, uint64_t address);

/*
 * Return the number of records of a kind, and record number index, in file order. The number is 0
 * for objects (see above), types and itabs (which a heap keeps by address), params, memstats and
 * EOF. A record whose bytes were overwritten after loading may be returned empty: see
 * g2h_input_check().
 */
G2H_PUBLIC size_t g2h_heap_record_count(const struct g2h_heap *heap, enum g2h_record_kind kind);
G2H_PUBLIC void g2h_heap_record(const struct g2h_heap *heap, enum g2h_record_kind kind,
                                size_t index, struct g2h_record *ret);

/* How a process sampled its allocations: one sample per runtime.MemProfileRate bytes. The dumps of
 * WriteHeapDump do not have the rate, because its variable is in the segment noptrdata. */
struct g2h_sampling {
    uint64_t sites;       /* distinct allocating stacks and sizes; 0: the process did not sample */
    uint64_t objects;     /* sampled objects that were in use at the last collection */
    uint64_t rate;        /* that of g2h_heap_memprofile_rate(); else the assumed rate: 1 if every
                             second object or more has a sample, else G2H_MEMPROFILE_RATE, or
                             likely_rate if the samples are too many for that */
    uint64_t likely_rate; /* the power of two for which the samples best add up to HeapAlloc, more
                             exact with more samples. 0: not known */
};
enum { G2H_MEMPROFILE_RATE = 512 << 10 }; /* Go's default */
G2H_PUBLIC void g2h_sampling(const struct g2h_heap *heap, struct g2h_sampling *ret);

/* Gets runtime.MemProfileRate, which dumps of processes and core files have; 0: the process does
 * not sample any more. Returns false if the dump does not have it. */
G2H_PUBLIC bool g2h_heap_memprofile_rate(const struct g2h_heap *heap, uint64_t *ret);

/* Returns how many objects of a size one sample stands for. */
G2H_PUBLIC double g2h_sampling_scale(uint64_t size, uint64_t rate);

G2H_END

#endif
