/*
 * runs: the objects of a dump in file order, in four bytes each.
 *
 * Go writes objects span by span, ascending within a span, so objects in the same page of memory
 * are adjacent in the file: a run. For an object in a run only its slot in the page and its slot
 * class are kept. The offset of its contents in the file follows from the slot classes of the
 * objects before it, as long as their records are as Go writes them; if a record is not, the run
 * ends.
 *
 * A chunk is the part of the file that one thread reads at a time. A thread may begin a chunk
 * before it is known that a record begins there: see run_reader_find().
 */
#ifndef HEAP_RUNS_H
#define HEAP_RUNS_H

#include "base/contract.h"
#include "heap/heap.h"

/* Ascending objects in one page whose records are adjacent in the file. */
struct slot_run {
    uint64_t first;    /* address of the first object */
    uint64_t contents; /* byte offset in the file of the first object's contents */
    uint32_t begin;    /* the first object's entry in the chunk */
    uint32_t start;    /* the first object's number among all objects, once runs are sorted */
    uint16_t count;
    uint16_t last;                 /* slot of the last object */
    uint16_t phantoms[TAIL_KINDS]; /* how many of the last objects are phantoms, by the span's enum
                                      span_tail */
};

struct chunk {
    VECTOR(struct slot_run) runs;
    VECTOR(uint32_t) entries;               /* of its objects; see ENTRY_SLOT_CLASS_BITS */
    VECTOR(struct slot_class) slot_classes; /* in the order of their first objects */
    uint32_t *slot_class_numbers; /* numbers in the heap, by slot class of the chunk; set when it is
                                     taken over */
    uint64_t records;             /* number of object records, including misplaced ones */
    uint64_t misplaced; /* objects that are not in the runs, because no slot has their address or
                           size */
    uint64_t short_objects;    /* objects whose contents are not all in the file */
    uint64_t shortened_arrays; /* of these, arrays that --largest-array shortened */
};

typedef VECTOR(struct chunk) chunk_vector;

/* An entry: the object's slot, above the number of its slot class in the chunk. If the slot class
 * has SLOT_CLASS_ANY_TAIL, the next entry is the size of the object's field list. */
enum { ENTRY_SLOT_CLASS_BITS = 22 };

void chunk_deinit(struct chunk *chunk);

/* Reads chunks for one thread. Functions that return a bool return false if memory runs out. */
struct run_reader;
struct run_reader *run_reader_create(const struct g2h_heap *heap);
void run_reader_destroy(struct run_reader *reader);

/* Begins an empty chunk. The heap's params must have been read. */
void run_reader_begin(struct run_reader *reader);

/* Where run_reader_read() ends: at the first object of another page that begins at or after the
 * limit; or at the object following such an object, as run_reader_find() finds it. */
enum run_limit { RUN_ENDS_AT, RUN_ENDS_BEHIND };

/*
 * Adds objects to the chunk, from the record at begin on. Reading ends at a record that is damaged
 * or not an object, or at the limit, or at the first object of another page if the chunk is full.
 * *ret_end is where reading ended, and *ret_records the number of objects read.
 */
bool run_reader_read(struct run_reader *reader, uint64_t begin, uint64_t limit, enum run_limit end,
                     uint64_t *ret_end, uint64_t *ret_records);

/* Adds an object that was read, whose record ends at end, as a run of its own. */
bool run_reader_add(struct run_reader *reader, const struct g2h_object *object, uint64_t end);

/* Returns whether another chunk should be begun. */
bool run_reader_is_full(const struct run_reader *reader);

/* Ends the chunk and passes it to the caller, who owns it. */
void run_reader_end(struct run_reader *reader, struct chunk *ret);

/*
 * Searches, from an offset on, for a position where a run may begin: where many plausible objects
 * follow one another. Only a reader that arrives there from the beginning of the file knows whether
 * a run does begin. Returns false if there is no such position within the searched part.
 */
bool run_reader_find(struct run_reader *reader, uint64_t from, uint64_t *ret_begin);

/* A walk over the objects of a run. */
struct run_walk {
    const struct chunk *chunk;
    const uint32_t *entry, *next; /* the entry of the object, and of the next one */
    const struct slot_class *slot_class;
    uint32_t slot_class_number; /* in the chunk */
    uint64_t address, contents;
    uint64_t end; /* end of the object's record, where the next one begins */
};

/* Goes to the next object of a run. A run has only an entry per object (its offset in the page and
 * its slot class); where its contents are follows from the end of the record before it. */
static inline void run_walk_next(struct run_walk *walk)
{
    assert(walk->next < walk->chunk->entries.data + walk->chunk->entries.count);
    const uint32_t entry = *walk->next;
    walk->entry = walk->next++;
    walk->slot_class_number = entry & ((1u << ENTRY_SLOT_CLASS_BITS) - 1);
    walk->slot_class = &walk->chunk->slot_classes.data[walk->slot_class_number];
    walk->address = walk->address / SPAN_PAGE * SPAN_PAGE + (entry >> ENTRY_SLOT_CLASS_BITS) * 8;
    walk->contents = walk->end + walk->slot_class->head + uvarint_size(walk->address);
    walk->end =
        walk->contents + walk->slot_class->stored +
        (walk->slot_class->tail == SLOT_CLASS_ANY_TAIL ? *walk->next++ : walk->slot_class->tail);
}

/* Goes to the run's first object. run_walk_next() then goes to each further object of the run, and
 * must not be called after the last one. */
static inline void run_walk_begin(struct run_walk *walk, const struct chunk *chunk,
                                  const struct slot_run *run)
{
    const uint32_t slot_class =
        chunk->entries.data[run->begin] & ((1u << ENTRY_SLOT_CLASS_BITS) - 1);
    walk->chunk = chunk;
    walk->next = &chunk->entries.data[run->begin];
    walk->address = run->first;
    walk->end =
        run->contents - chunk->slot_classes.data[slot_class].head - uvarint_size(run->first);
    run_walk_next(walk);
}

#endif
