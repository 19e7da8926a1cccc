/*
 * runs: the objects of a dump as they lie in the file, in four bytes each.
 *
 * Go writes objects span by span, ascending within a span, so what lies together in a page of
 * memory lies together in the file: a run. Of an object in a run only its slot in the page and its
 * slot class are kept. Where its contents are in the file follows from the slot classes of those
 * before it, as long as their records are as Go writes them; where they are not, a run ends.
 *
 * A chunk is what one thread has read of the file at a time. It may be begun before it is known
 * where a record begins: see run_reader_find().
 */
#ifndef HEAP_RUNS_H
#define HEAP_RUNS_H

#include "heap/heap.h"

/* Ascending objects that lie in one page and one behind the other in the file. */
struct run {
    uint64_t first;    /* address of the first object */
    uint64_t contents; /* of the first object: byte offset in the file */
    uint32_t begin;    /* its entry in the chunk */
    uint32_t start;    /* its number among all objects, once runs are sorted */
    uint16_t count;
    uint16_t last;                 /* slot of the last object */
    uint16_t phantoms[TAIL_KINDS]; /* how many of the last objects are phantoms, by what the span's
                                      tail holds */
};

struct chunk {
    VECTOR(struct run) runs;
    VECTOR(uint32_t) entries;               /* of its objects; see ENTRY_SLOT_CLASS_BITS */
    VECTOR(struct slot_class) slot_classes; /* in the order in which they came */
    uint32_t
        *slot_class_numbers; /* those slot classes' numbers in the heap; set by who takes it over */
    uint64_t records;        /* of objects, misplaced ones among them */
    uint64_t misplaced;      /* not in the runs: their addresses or sizes are none of a slot */
    uint64_t short_objects;  /* not all of their contents is in the file */
};

typedef VECTOR(struct chunk) chunk_vector;

/* An entry: the object's slot, above the number of its slot class in the chunk. Behind it stands
 * the size of its field list where its slot class has SLOT_CLASS_ANY_TAIL. */
enum { ENTRY_SLOT_CLASS_BITS = 22 };

void chunk_deinit(struct chunk *chunk);

/* What a thread reads chunks with. Functions that give a bool: false where there is no memory.
 */
struct run_reader;
struct run_reader *run_reader_create(const struct g2h_heap *heap);
void run_reader_destroy(struct run_reader *reader);

/* Begins an empty chunk. The heap's params must have been read. */
void run_reader_begin(struct run_reader *reader);

/*
 * Adds the objects from the record at begin on to the chunk: up to a record that is no object or
 * damaged, or to the beginning of a run whose predecessor begins at limit or behind it. *ret_end is
 * where reading ended; *ret_records, how many objects were read.
 */
bool run_reader_read(struct run_reader *reader, uint64_t begin, uint64_t limit, uint64_t *ret_end,
                     uint64_t *ret_records);

/* Adds an object that was read, whose record ends at end, as a run of its own. */
bool run_reader_add(struct run_reader *reader, const struct g2h_object *object, uint64_t end);

/* Whether another chunk should be begun. */
bool run_reader_is_full(const struct run_reader *reader);

/* Ends the chunk, which is the caller's then. */
void run_reader_end(struct run_reader *reader, struct chunk *ret);

/*
 * Looks at or behind from for where a run may begin: where many plausible objects follow one
 * another. Only who arrives there from the beginning of the file knows whether it does. False where
 * nothing is found; only so much is looked at.
 */
bool run_reader_find(struct run_reader *reader, uint64_t from, uint64_t *ret_begin);

/* A walk over the objects of a run. */
struct run_walk {
    const struct chunk *chunk;
    const uint32_t *entry, *next; /* the object's, and that of the next one */
    const struct slot_class *slot_class;
    uint32_t slot_class_number; /* in the chunk */
    uint64_t address, contents;
    uint64_t end; /* of the record: the next one begins here */
};

static inline void run_walk_next(struct run_walk *walk)
{
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

/* Goes to the run's first object; then run_walk_next() as often as the run has others. */
static inline void run_walk_begin(struct run_walk *walk, const struct chunk *chunk,
                                  const struct run *run)
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
