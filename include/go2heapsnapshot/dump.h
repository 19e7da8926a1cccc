/*
 * Reading a Go heap dump (runtime/debug.WriteHeapDump) record by record.
 *
 * The reader follows runtime/heapdump.go of Go 1.5 … 1.27, runtime/heapdump.c of 1.3 and 1.4, and
 * the README of randall77/hprof for the patch of 2013; docs/dump-formats.md has the layouts. Record
 * names are those of the format's description, https://go.dev/s/go15heapdump.
 *
 * Contents, names and field lists are not copied: they point into the input, which must stay open.
 */
#ifndef GO2HEAPSNAPSHOT_DUMP_H
#define GO2HEAPSNAPSHOT_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <go2heapsnapshot/bytes.h>
#include <go2heapsnapshot/input.h>
#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

/* The record tags of the released formats, and two tags that only the format of 2013 has. */
enum g2h_record_kind {
    G2H_RECORD_EOF = 0,
    G2H_RECORD_OBJECT = 1,
    G2H_RECORD_OTHERROOT = 2,
    G2H_RECORD_TYPE = 3,
    G2H_RECORD_GOROUTINE = 4,
    G2H_RECORD_STACKFRAME = 5,
    G2H_RECORD_PARAMS = 6,
    G2H_RECORD_FINALIZER = 7,
    G2H_RECORD_ITAB = 8,
    G2H_RECORD_OSTHREAD = 9,
    G2H_RECORD_MEMSTATS = 10,
    G2H_RECORD_QUEUEDFINALIZER = 11,
    G2H_RECORD_DATA = 12,
    G2H_RECORD_BSS = 13,
    G2H_RECORD_DEFER = 14,
    G2H_RECORD_PANIC = 15,
    G2H_RECORD_MEMPROF = 16,
    G2H_RECORD_ALLOCSAMPLE = 17,
    G2H_RECORD_STACKROOT = 18, /* 2013 only */
    G2H_RECORD_DATAROOT = 19,  /* 2013 only */
    G2H_RECORD_KINDS
};

/* Returns the name of a record kind as the format's description has it: "object", "stack frame",
 * … */
G2H_PUBLIC const char *g2h_record_kind_name(enum g2h_record_kind kind);

/* What a field of a field list holds. */
enum g2h_field_kind {
    G2H_FIELD_POINTER,
    G2H_FIELD_STRING, /* 1.3 and 2013: pointer, length */
    G2H_FIELD_SLICE,  /* 1.3 and 2013: pointer, length, capacity */
    G2H_FIELD_IFACE,  /* to 1.4: itab, data */
    G2H_FIELD_EFACE,  /* to 1.4: type, data */
};

/* A field list, still encoded. g2h_fields_next() walks it. */
struct g2h_fields {
    const uint8_t *at, *end;
    uint64_t left; /* number of remaining fields if the list has a count (2013); otherwise 2^64-1 */
    const uint8_t *kinds; /* the layout's field kinds: number in the file → enum g2h_field_kind */
};

struct g2h_field {
    enum g2h_field_kind kind;
    uint64_t offset; /* bytes from the start of the contents */
};

/*
 * Gets the next field of a list; returns false at its end. The reader has checked that every field
 * of a record is inside the record's contents (an object's fields: inside its declared size).
 */
G2H_PUBLIC bool g2h_fields_next(struct g2h_fields *fields, struct g2h_field *ret);

enum {
    G2H_OBJECT_VALUE = 0,
    G2H_OBJECT_ARRAY = 1,
    G2H_OBJECT_CHAN = 2,
    G2H_OBJECT_CONSERVATIVE = 127
};

/* An allocation slot in use. */
struct g2h_object {
    uint64_t address;
    uint64_t size;             /* of the slot, as declared */
    struct g2h_bytes contents; /* the bytes of the slot that are in the file: fewer than size if
                                  size > 0x7ffff000, or in a shortened array (docs) */
    struct g2h_fields fields;  /* 1.4 and later; empty before 1.4 */
    uint64_t type; /* before 1.4: address of a type record, or 0. For a channel: its element type */
    uint64_t kind; /* before 1.4: G2H_OBJECT_… */
};

struct g2h_type {
    uint64_t address, size;
    struct g2h_bytes name;
    bool data_is_pointer;     /* the data word of an interface that holds this type is a pointer */
    struct g2h_fields fields; /* before 1.4; empty from 1.4 on */
};

struct g2h_goroutine {
    uint64_t address, sp, goid, creation_pc, status;
    bool is_system, is_background;
    uint64_t wait_since; /* ns on the runtime's monotonic clock, stamped by the GC; 0 if unknown */
    struct g2h_bytes wait_reason;
    uint64_t ctxt, m, defer, panic; /* addresses; 0 for none, and always 0 in the format of 2013 */
};

struct g2h_stackframe {
    uint64_t sp, depth;
    uint64_t child_sp; /* sp of the callee's frame; in the format of 2013, of the caller's */
    struct g2h_bytes contents;
    uint64_t entry, pc, continpc; /* continpc == pc if the format has no continpc */
    struct g2h_bytes function;
    struct g2h_fields fields;
};

struct g2h_params {
    bool big_endian;
    uint64_t pointer_size; /* 4 or 8 */
    uint64_t hchan_size;   /* before 1.4; 0 from 1.4 on */
    uint64_t heap_start, heap_end;
    char arch[32];               /* GOARCH; "" if unknown */
    struct g2h_bytes version;    /* "go1.26.1" from about 1.17 on; empty before */
    struct g2h_bytes experiment; /* GOEXPERIMENT, up to about 1.16 */
    uint64_t ncpu;
};

struct g2h_finalizer {
    uint64_t object, funcval, code, argument_type, object_type;
};

struct g2h_itab {
    uint64_t address;
    uint64_t type;        /* 1.4 and later: address of the type's record; 0 if unknown */
    bool data_is_pointer; /* read from dumps before 1.4; true for later ones */
};

struct g2h_osthread {
    uint64_t m, id, os_id;
};

enum {
    G2H_MEMSTATS_NUMBERS = 281,
    G2H_MEMSTATS_ALLOC = 0,
    G2H_MEMSTATS_SYS = 2,
    G2H_MEMSTATS_HEAP_ALLOC = 6,
    G2H_MEMSTATS_HEAP_SYS = 7,
    G2H_MEMSTATS_HEAP_IDLE = 8,
    G2H_MEMSTATS_HEAP_INUSE = 9,
    G2H_MEMSTATS_HEAP_RELEASED = 10,
    G2H_MEMSTATS_HEAP_OBJECTS = 11,
    G2H_MEMSTATS_STACK_INUSE = 12,
    G2H_MEMSTATS_STACK_SYS = 13,
    G2H_MEMSTATS_MSPAN_SYS = 15,
    G2H_MEMSTATS_MCACHE_SYS = 17,
    G2H_MEMSTATS_BUCK_HASH_SYS = 18,
    G2H_MEMSTATS_GC_SYS = 19,
    G2H_MEMSTATS_OTHER_SYS = 20,
    G2H_MEMSTATS_NEXT_GC = 21,
    G2H_MEMSTATS_LAST_GC = 22,
    G2H_MEMSTATS_NUM_GC = 280,
};

/* The fields of runtime.MemStats in their order, up to PauseNs[256], then NumGC. */
struct g2h_memstats {
    uint64_t numbers[G2H_MEMSTATS_NUMBERS];
};

/* Decodes the numbers of a memstats record. Returns false, and sets all numbers to 0, if the
 * record's bytes were overwritten after the record was read. */
G2H_PUBLIC bool g2h_memstats_read(struct g2h_bytes encoded, struct g2h_memstats *ret);

struct g2h_segment { /* a data or bss record */
    uint64_t address;
    struct g2h_bytes contents;
    struct g2h_fields fields;
};

struct g2h_defer {
    uint64_t address, g, argp, pc, funcval, code, next;
};

struct g2h_panic {
    uint64_t address, g, type, data, defer, next;
};

/* An allocation site of runtime.MemProfile. g2h_memprof_next_frame() walks its stack. */
struct g2h_memprof {
    uint64_t id, size, allocs, frees;
    uint64_t frame_count;
    struct g2h_bytes frames; /* still encoded */
};

struct g2h_memprof_frame {
    struct g2h_bytes function, file;
    uint64_t line;
};

/* Gets the next frame of a stack, innermost first; returns false at the end. */
G2H_PUBLIC bool g2h_memprof_next_frame(struct g2h_memprof *memprof, struct g2h_memprof_frame *ret);

struct g2h_allocsample {
    uint64_t object, memprof;
};

struct g2h_otherroot {
    struct g2h_bytes description;
    uint64_t pointer;
    bool is_queued_cleanup; /* of a cleanup that waits to be run; in dumps of this program only */
};

struct g2h_stackroot { /* 2013 only */
    uint64_t address, pointer, frame_sp;
};

struct g2h_dataroot { /* 2013 only */
    uint64_t address, pointer;
};

struct g2h_record {
    enum g2h_record_kind kind;
    uint64_t offset; /* offset of the record's tag in the input */
    uint64_t number; /* 1 for the first record */
    union {
        struct g2h_object object;
        struct g2h_otherroot otherroot;
        struct g2h_type type;
        struct g2h_goroutine goroutine;
        struct g2h_stackframe stackframe;
        struct g2h_params params;
        struct g2h_finalizer finalizer; /* for both finalizer and queued finalizer records */
        struct g2h_itab itab;
        struct g2h_osthread osthread;
        struct g2h_bytes memstats;  /* still encoded; g2h_memstats_read() decodes it */
        struct g2h_segment segment; /* for both data and bss records */
        struct g2h_defer defer;
        struct g2h_panic panic;
        struct g2h_memprof memprof;
        struct g2h_allocsample allocsample;
        struct g2h_stackroot stackroot;
        struct g2h_dataroot dataroot;
    };
};

struct g2h_reader;

/*
 * Creates a reader, reads the header and determines the layout. input must outlive the reader.
 * Errors: G2H_ERROR_NOT_DUMP (the input has no header of a Go heap dump), G2H_ERROR_MEMORY.
 */
G2H_PUBLIC struct g2h_error *g2h_reader_create(const struct g2h_input *input,
                                               struct g2h_reader **ret);
G2H_PUBLIC void g2h_reader_destroy(struct g2h_reader *reader);

/*
 * Reads the next record. After the record G2H_RECORD_EOF, each further call returns that record
 * again. Errors: G2H_ERROR_DAMAGED if the input ends without an EOF record or the bytes are not a
 * valid record; the message names the file, offset, record number and kind, and ret has the offset
 * and the number. After an error nothing more can be read, because records have no length field.
 */
G2H_PUBLIC struct g2h_error *g2h_reader_next(struct g2h_reader *reader, struct g2h_record *ret);

/* Returns the layout's name: "1.3", "1.3 beta", "2013", "1.4", …, "1.7". */
G2H_PUBLIC const char *g2h_reader_format(const struct g2h_reader *reader);

/* Returns a sentence about an unusual header ("unknown version go1.9, read as 1.7"), or NULL. */
G2H_PUBLIC const char *g2h_reader_warning(const struct g2h_reader *reader);

/* Returns whether a dump may lack a part of an object's contents: if the object is inside the heap,
 * and the heap is not larger than that of any machine. So objects that do not overlap have at most
 * 2^47 bytes together, whatever a dump claims in a few bytes for each. */
G2H_PUBLIC bool g2h_object_may_be_short(const struct g2h_params *params,
                                        const struct g2h_object *object);

/* Returns whether objects have a type and a kind rather than field lists (before 1.4). */
G2H_PUBLIC bool g2h_reader_objects_have_types(const struct g2h_reader *reader);

/* How a process ended whose heap was written at that moment, or that it lived, and its memory. */
struct g2h_ending {
    int64_t seconds;         /* when, since 1970 */
    unsigned status;         /* as waitpid() has it on Linux; 0: it lived */
    bool by_oom, by_group;   /* the kernel ended it for lack of memory; in its control group */
    uint64_t resident, peak; /* bytes now, and at most so far; 0: not known */
    uint64_t limit;          /* of the memory of its control groups; 0: none */
};

/* Writes how a process ended, in words without a verb, such as "killed by the OOM killer" or
 * "alive", and when: "2026-11-27 13:05:35Z". */
enum { G2H_ENDING_WORDS = 80, G2H_ENDING_TIME = 32 };
G2H_PUBLIC void g2h_ending_words(const struct g2h_ending *ending, char ret_how[G2H_ENDING_WORDS],
                                 char ret_when[G2H_ENDING_TIME]);

G2H_END

#endif
