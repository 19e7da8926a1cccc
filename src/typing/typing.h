/*
 * typing: what each object is.
 *
 * By a heap and the executable that wrote it, each object gets the type that what points to it, its
 * malloc header or its own words tell. Sources say what the type of some objects is (seeds.c);
 * pointers of objects that have types say more (follow.c). Such a reference becomes a claim only
 * where the object has its pointers exactly where the type has them (propose.c). Claims are
 * followed until no new one comes; then a judge picks one of each object's (judge.c).
 *
 * The result depends neither on the order in which objects are visited, nor on the number of
 * threads: references for which the order would matter wait for their turn (waves.c).
 */
#ifndef TYPING_TYPING_H
#define TYPING_TYPING_H

#include <go2heapsnapshot/typing.h>

#include "exe/dwarf_info.h"
#include "exe/exe.h"
#include "heap/heap.h"
#include "heap/targets.h"
#include "types/pointer_map.h"
#include "types/runtime.h"
#include "typing/outside.h"

/* Where a claim comes from; the first is trusted most. */
enum source {
    SOURCE_HEADER,    /* the allocation's malloc header */
    SOURCE_RUNTIME,   /* records of goroutines, finalizers, defers */
    SOURCE_INTERFACE, /* an interface's type word */
    SOURCE_POINTER,   /* a typed pointer, slice, string, map, channel */
    SOURCE_CLOSURE,   /* the code that a func value points to */
    SOURCE_SWEEP,     /* two words of an untyped object that look like an interface */
    SOURCE_GUESS,     /* the only type of the program that fits */
    SOURCES = G2H_TYPE_SOURCES,
};

/*
 * The claim on an object as a whole, that is on its start, in 32 bits: 0 where there is none. An
 * array fills the slot with as many values as fit.
 */
enum {
    CLAIM_ARRAY = 1 << 30,
    CLAIM_EXACT = 1 << 29, /* the size class is the one that Go takes for this type */
    CLAIM_SOURCE_SHIFT = 26,
    CLAIM_SOURCE = 7 << CLAIM_SOURCE_SHIFT,
    CLAIM_TYPE = (1 << 26) - 1, /* its number + 1 */
};

/* Set while types are found: other threads may not have seen the claim. */
#define CLAIM_FRESH (1u << 31)

/* A claim on a part of an object, or another one on its start. */
struct region {
    uint64_t offset; /* in the slot */
    uint64_t count;  /* values, if it is an array */
    uint32_t type;
    uint32_t object;
    uint32_t next;   /* region of the same object: index in the shard; UINT32_MAX: none */
    uint32_t number; /* how many regions the object has, with this one */
    /* While types are found: the bytes of the object's arrays up to this region. Afterwards: the
     * furthest end of this region and those before it. */
    uint64_t reach;
    uint8_t source;
    bool is_array, is_exact;
    bool is_superseded; /* by a region that says the same, or more */
};

enum { SHARDS = 64 };

struct field_index;

/* By the upper bits of a hash: those below say where the object is in the maps of its shard. */
static inline size_t shard_number(uint32_t object)
{
    return (size_t)(map_hash(object) >> 32) % SHARDS;
}

/* The objects are spread over shards by a hash. While threads run, a shard either does not change,
 * or belongs to one thread. */
struct shard {
    struct map first; /* object → region */
    struct map known; /* hash of what a claim says → region, REGION_REFUSED */
    /* Pointers into objects that may be arrays: how many different values of a type they lead to,
     * by object and type, up to ENOUGH_FOR_ARRAY; and the keys of those that have been counted. */
    struct map value_counts, counted_values;
    struct map pointerless; /* object → region without pointers in it: only one is kept */
    VECTOR(struct region) regions;
    struct map index_of; /* large object → index */
    VECTOR(struct field_index *) indexes;
};

/*
 * What is known of the text in an object: 0 where no string points to it. Else it is the furthest
 * end of a string; but in blocks of 16 bytes, which small strings share, it is TEXT_TINY, that end,
 * and a bit for each byte where a string begins.
 */
enum { TEXT_TINY = 1u << 31, TEXT_TINY_END = 16 /* shift */, TEXT_LIMIT = (1 << 30) - 1 };

/* An object that the runtime may keep by a record that is in no dump: cleanups.c. */
struct cleanup_part {
    uint32_t object;
    uint32_t type; /* of a cleanup, the argument's; of others, their own; TYPE_NONE */
    enum cleanup_part_kind {
        CLEANUP_CLOSURE,  /* certainly a cleanup's; what follows may be */
        CLEANUP_ARGUMENT, /* since Go 1.26: its argument */
        CLEANUP_FUNCTION, /* since Go 1.26: a closure that nothing points to */
        CLEANUP_HANDLE,   /* what weak pointers point to, if what it points to lives */
    } kind;
};

struct itab_table {
    uint32_t object, type;
};

struct typing {
    const struct g2h_heap *heap;
    const struct targets *targets;
    const struct g2h_exe *exe;
    const struct g2h_redaction *redaction; /* NULL: none */
    const struct types *types;             /* own_types, once all are there */
    struct types own_types;                /* those of the executable, and more */
    const struct dwarf_info *dwarf_info;
    const struct scopes *scopes;
    struct go_release release; /* that the dump names, or the executable */
    struct pointer_maps pointer_maps;
    unsigned threads;
    uint32_t *claims;      /* by object */
    uint32_t *texts;       /* by object */
    uint64_t *has_regions; /* a bit per object that has regions */
    struct shard shards[SHARDS];
    uint64_t elemtype_offset;   /* in a channel; 0: there is none */
    struct map channel_by_elem; /* address of the elements' type → what a channel of it points to */
    struct map closure_by_entry; /* code pointer → type */
    struct map closure_of_value; /* code pointer → type, if the last captured variable is a value */
    struct outside outside;
    struct map cleanup_by_entry; /* code pointers of the closures of runtime.AddCleanup */
    bool has_weak_handles;       /* the program may have weak pointers */
    VECTOR(struct itab_table) itab_tables;
    VECTOR(struct cleanup_part) cleanup_parts; /* those of a kind ascend */
};

/* The public typing: the targets of the heap's pointers, and what they lead to. */
struct g2h_typing {
    struct targets targets;
    struct typing *typing;
};

/* Types all objects. exe has been matched with the heap; targets are those of its objects'
 * pointers; redaction, if there is one, is that of names of fields which the program made up while
 * it ran. Error: G2H_ERROR_MEMORY. */
struct g2h_error *typing_create(const struct g2h_heap *heap, const struct targets *targets,
                                const struct g2h_exe *exe, const struct g2h_redaction *redaction,
                                unsigned threads, struct typing **ret);
void typing_destroy(struct typing *typing);

/* The global variable, by DWARF, that holds an address of the process, and the offset in it; NULL
 * where none does. */
const struct dwarf_global *typing_global(const struct typing *typing, uint64_t address,
                                         uint64_t *ret_offset);

/* The first variable at or behind an address of the file: index in typing->dwarf_info->globals. */
size_t typing_first_global(const struct typing *typing, uint64_t address);

/* The type of what an interface holds, by its first word, which is a type's address if the
 * interface is empty of methods, else an itab's; TYPE_NONE. */
uint32_t typing_interface_type(const struct typing *typing, uint64_t first, bool is_empty);

/* The variables of the function that a frame is in. */
const struct dwarf_local *typing_locals(const struct typing *typing, const struct frame *frame,
                                        uint32_t *ret_count);

/*
 * The variable of a frame that has a word, and the word's offset in the variable; NULL where none
 * has. offset is that of the word from the frame's sp; or, of an argument, which lies in the
 * caller's frame (is_argument), from the caller's sp.
 */
const struct dwarf_local *typing_local_at(const struct typing *typing, const struct frame *frame,
                                          uint64_t offset, bool is_argument, uint64_t *ret_offset);

/* The innermost function that is inlined where a frame is; false where none is, or it is not known.
 */
bool typing_inlined_at(const struct typing *typing, const struct frame *frame,
                       struct g2h_bytes *ret);

/* ---- memory of the process: memory.c ---- */

/* The bytes at an address, of an object or of the executable's file; NULL where neither has so many
 * there. hint: an object that they may be in, or UINT32_MAX. */
const uint8_t *typing_memory(const struct typing *typing, uint64_t address, uint64_t size,
                             uint32_t hint);

/* The word at an address, as the process had it; 0 where neither has it. */
uint64_t typing_word(const struct typing *typing, uint64_t address);

/* The code of the function that the cleanup of a closure calls; 0 where that is not known, as since
 * Go 1.26. */
uint64_t typing_cleanup_code(const struct typing *typing, uint32_t object);

/* Sums the objects up. live: a bit per object that lives; NULL where all do. Error:
 * G2H_ERROR_MEMORY.
 */
struct g2h_error *typing_account(const struct typing *typing, const uint64_t *live,
                                 struct g2h_type_account *ret);

/* Values of less than so many bytes and without pointers share a slot (runtime/malloc.go:
 * maxTinySize). */
enum { TINY_BLOCK = 16 };

/* What an object is, in the end. */
struct object_type {
    enum {
        OBJECT_UNTYPED,
        OBJECT_VALUE, /* of type */
        OBJECT_ARRAY, /* of values of type */
        OBJECT_TEXT,  /* string data */
        OBJECT_TINY,  /* a block that values smaller than it share, without pointers */
        OBJECT_PART,  /* its start, or some other part, is a value of type; the rest is unknown */
    } form;
    uint32_t type;
};
struct object_type typing_object(const struct typing *typing, uint32_t object);

/* Whether a claim on an object says less than that it is the data of a string. */
bool typing_yields_to_text(const struct typing *typing, uint32_t object, uint32_t claim);

static inline bool typing_is_text(const struct typing *typing, uint32_t object)
{
    return typing->texts[object] != 0 &&
           (typing->claims[object] == 0 ||
            typing_yields_to_text(typing, object, typing->claims[object]));
}

static inline bool typing_has_regions(const struct typing *typing, uint32_t object)
{
    return (typing->has_regions[object / 64] >> (object % 64) & 1) != 0;
}

/* Whether an object is an OBJECT_TINY of which nothing but parts is known: as typing_object() says,
 * but these need not be looked for. It is no text. */
static inline bool typing_is_shared(const struct typing *typing, uint32_t object)
{
    const struct slot_class *slot_class = heap_slot_class(typing->heap, object);
    return typing->claims[object] == 0 && typing->texts[object] == 0 &&
           slot_class->size == TINY_BLOCK && !slot_class->has_pointers &&
           typing_has_regions(typing, object);
}

/* Whether an object is known as a whole for sure: no part, no guess. */
static inline bool typing_is_plain(const struct typing *typing, uint32_t object)
{
    const uint32_t claim = typing->claims[object];
    return (claim & CLAIM_EXACT) != 0 && (claim & CLAIM_SOURCE) != (uint32_t)SOURCE_GUESS
                                                                       << CLAIM_SOURCE_SHIFT;
}

/* Whether an object's type is a guess: the only one that fits. */
static inline bool typing_is_guess(const struct typing *typing, uint32_t object)
{
    const uint32_t claim = typing->claims[object];
    return (claim & CLAIM_EXACT) != 0 && (claim & CLAIM_SOURCE) == (uint32_t)SOURCE_GUESS
                                                                       << CLAIM_SOURCE_SHIFT;
}

/*
 * Where a word of an object is by the types: in which type, and where in a value of it. False where
 * no claim has the word.
 */
struct typed_location {
    uint32_t type;
    uint64_t offset;  /* in the value */
    uint64_t element; /* of an array: which value it is */
    bool is_array;
    bool is_start;          /* by the claim on the object's start */
    uint64_t region_offset; /* else: of the region, in the object */
};
bool typing_locate(const struct typing *typing, uint32_t object, uint64_t offset,
                   struct typed_location *ret);

#endif
