/*
 * typing: finds the type of each object.
 *
 * Given a heap and the executable that wrote it, each object gets a type, which comes from the
 * pointers to it, its malloc header or its own words. Sources determine the types of some objects
 * (seeds.c); the pointers of typed objects determine the types of more (follow.c). Such a reference
 * becomes a claim only if the object has its pointers exactly where the type has them (propose.c).
 * Claims are followed until there are no new ones; then a judge picks one claim per object
 * (judge.c).
 *
 * The result depends neither on the order in which objects are visited, nor on the number of
 * threads: references whose order would matter are deferred (waves.c).
 *
 *   typing, typer, create
 *                       the steps, and their shared declarations
 *   exe_match           whether an executable wrote a dump
 *   seeds, fields       types that are known without following a pointer
 *   follow, waves       along pointers to a fixpoint, on several threads
 *   outside             pointers through data and stacks
 *   closures, cleanup_types, once, guess, timers, itabs, reflected
 *                       closures, results of sync.OnceValue, the runtime's tables, reflection
 *   map_finder, map_parts
 *                       maps of a stripped program, by their words and contents
 *   coded, spilled      objects whose types only the code determines
 *   static_cells        the variables of a stripped program, by where the linker puts them
 *   propose, fit, claims, judge
 *                       claims on an object, and which one wins, in any order
 *   queries             queries of other modules
 *   typing_memory       the bytes at an address of the process
 *   paging              pages of the dump that the system has dropped
 */
#ifndef TYPING_TYPING_H
#define TYPING_TYPING_H

#include <go2heapsnapshot/typing.h>

#include "base/memory.h"
#include "exe/dwarf/dwarf_info.h"
#include "exe/exe.h"
#include "exe/go/static_words.h"
#include "heap/heap.h"
#include "heap/targets.h"
#include "types/pointer_map.h"
#include "types/runtime_types.h"
#include "typing/outside.h"

/* The source of a claim; the first source is trusted most. */
enum source {
    SOURCE_HEADER,    /* the allocation's malloc header */
    SOURCE_RUNTIME,   /* records of goroutines, finalizers, defers */
    SOURCE_INTERFACE, /* an interface's type word */
    SOURCE_POINTER,   /* a typed pointer, slice, string, map, channel */
    SOURCE_CLOSURE,   /* the code that a func value points to */
    SOURCE_SWEEP,     /* untyped words that look like an interface, a closure or a channel */
    SOURCE_GUESS,     /* the only type of the program that fits */
    SOURCES = G2H_TYPE_SOURCES,
};

/*
 * The claim on an object as a whole, that is on its start, in 32 bits; 0 if there is none. A claim
 * of an array covers as many values as fit into the slot.
 */
enum {
    CLAIM_ARRAY = 1 << 30,
    CLAIM_EXACT = 1 << 29, /* the size class is the one that Go allocates for this type */
    CLAIM_SOURCE_SHIFT = 26,
    CLAIM_SOURCE = 7 << CLAIM_SOURCE_SHIFT,
    CLAIM_TYPE = (1 << 26) - 1, /* the type's number + 1 */
};

/* Marks a new claim while types are being found, when other threads may not have seen it yet. */
#define CLAIM_FRESH (1u << 31)

/* A claim on a part of an object, or a further claim on its start. */
struct typed_part {
    uint64_t offset; /* in the slot */
    uint64_t count;  /* number of values, if it is an array */
    uint32_t type;
    uint32_t object;
    uint32_t next;   /* the object's next part: index in the shard; UINT32_MAX: none */
    uint32_t number; /* the object's number of parts so far, including this one */
    /* While types are being found: the bytes of all array parts of the object up to this one.
     * Afterwards: the furthest end of this part and the parts before it. */
    uint64_t reach;
    uint8_t source;
    bool is_array, is_exact;
    bool is_superseded; /* by a part or claim that is at least as specific */
};

enum { SHARDS = 64 };

struct field_index;

/* Returns the shard of an object, by the upper bits of a hash. The bits below choose the object's
 * place in the maps of its shard. */
static inline size_t shard_number(uint32_t object)
{
    return (size_t)(map_hash(object) >> 32) % SHARDS;
}

/* The objects are distributed over shards by a hash. While threads run, a shard either does not
 * change, or belongs to one thread. */
struct shard {
    struct map first; /* object → part */
    struct map known; /* hash of a claim on a part → part, or PART_REFUSED */
    /* For objects that may be arrays: how many different values of a type pointers lead to, by
     * object and type, up to ENOUGH_FOR_ARRAY; and the keys of the values that have been
     * counted. */
    struct map value_counts, counted_values;
    struct map pointerless; /* object → part of a type without pointers: only one is kept */
    VECTOR(struct typed_part) parts;
    struct map index_of; /* large object → index in indexes */
    VECTOR(struct field_index *) indexes;
};

/*
 * The text state of an object: 0 if no string points to it, else the furthest end of a string. For
 * blocks of 16 bytes, which small strings share, it consists of TEXT_TINY, that end, and a bit for
 * each byte where a string begins.
 */
enum {
    TEXT_TINY = 1u << 31,
    TEXT_TINY_END = 16,        /* shift */
    TEXT_TINY_STARTS = 0xffff, /* mask */
    TEXT_LIMIT = (1 << 30) - 1,
};

/* Returns the furthest end of a string in a block with the state TEXT_TINY: at most 16. */
static inline uint32_t text_tiny_end(uint32_t state)
{
    return state >> TEXT_TINY_END & 31;
}

/* An object that the runtime may keep alive by a record that no dump contains: cleanup_types.c. */
struct cleanup_part {
    uint32_t object;
    uint32_t type; /* CLEANUP_CLOSURE: the argument's type; others: their own; or TYPE_NONE */
    enum cleanup_part_kind {
        CLEANUP_CLOSURE,  /* certainly a cleanup's closure; objects of the following kinds may or
                             may not be kept */
        CLEANUP_ARGUMENT, /* since Go 1.26: the box of a cleanup's argument */
        CLEANUP_FUNCTION, /* since Go 1.26: a closure that nothing points to */
        CLEANUP_HANDLE,   /* a handle, the target of weak pointers; kept if the object it points to
                             is alive */
    } kind;
};

struct itab_table {
    uint32_t object, type;
};

/* A value in data or bss that only code reveals, or such values in the elements of an array.
 * is_reached: code reaches it by its own address, or by that of the variable that it is in, and not
 * by a pointer in data or bss. */
struct static_value {
    uint64_t address; /* of the process */
    uint32_t type;
    uint32_t distance; /* between those of an array; 0: it is one value */
    uint64_t size;     /* of all */
    bool is_reached;
};

/* A word of data or bss that points to a value according to code, or is the first one of a slice of
 * such values. */
struct static_pointer_type {
    uint64_t address; /* of the process */
    uint32_t type;
    bool is_slice;
};

/* Words of data or bss that are of one variable. */
struct static_cell {
    uint64_t address, end; /* of the process */
    bool only_pointers;    /* code is not known to use other words of it */
};
typedef VECTOR(struct static_cell) static_cell_vector;

/* A value in the frames of a function whose code passes its address on. */
struct frame_value {
    uint32_t slot; /* offset from the frame's sp, in words */
    uint32_t type; /* TYPE_NONE: the function has no more values */
};

struct typing {
    const struct g2h_heap *heap;
    const struct targets *targets;
    const struct g2h_exe *exe;
    const struct g2h_redaction *redaction; /* NULL: none */
    const struct types *types;             /* own_types, complete after collect_types() */
    struct types own_types; /* the executable's types, and those that this module adds */
    const struct dwarf_info *dwarf_info;
    const struct scopes *scopes;
    struct go_release release; /* of Go, from the dump or else the executable */
    bool has_red_zones;        /* the program was built with -asan: see typing_slot() */
    struct pointer_maps pointer_maps;
    unsigned threads;
    uint32_t *claims;    /* by object */
    uint32_t *texts;     /* by object */
    uint64_t *has_parts; /* a bit per object that has parts */
    struct shard shards[SHARDS];
    uint64_t elemtype_offset;    /* of hchan.elemtype in a channel; 0: there is none */
    struct map channel_by_elem;  /* element type's address → type that its channels point to */
    struct map closure_by_entry; /* code pointer → type */
    struct map closure_of_value; /* code pointer → type, if the last captured variable is a value */
    struct outside outside;
    struct map once_by_entry;    /* code pointers of closures of sync.OnceValue and OnceValues */
    struct map cleanup_by_entry; /* code pointers of the closures of runtime.AddCleanup */
    bool has_inlined_cleanups;   /* other functions may have such closures, too */
    struct map frame_values_at;  /* program counter → index in frame_values of the first one */
    VECTOR(struct frame_value) frame_values;
    struct map pool_of_word; /* hash of program counter and offset → index in pools */
    VECTOR(uint64_t) pools;  /* addresses of variables of type sync.Pool */
    bool has_weak_handles;   /* the program may have weak pointers */
    VECTOR(struct itab_table) itab_tables;
    VECTOR(uint32_t) with_arrays; /* structs that contain arrays, ascending by size: fit.h */
    VECTOR(struct cleanup_part) cleanup_parts; /* ascending by object within each kind */
    const struct static_words *static_words;   /* of the executable: evidence of code about data and
                                                  bss; empty if there are symbols */
    VECTOR(struct static_value) static_values; /* ascending by address */
    VECTOR(struct static_pointer_type) static_pointers; /* ascending by address */
    static_cell_vector static_cells;                    /* the same; none overlaps another */
};

/* The public typing: the targets of the heap's pointers, and the types of the objects. */
struct g2h_typing {
    struct targets targets;
    struct typing *typing;
};

/* Finds the types of all objects. exe has been matched with the heap; targets are the targets of
 * the pointers in its objects; redaction, or NULL, is applied to the names of fields that the
 * program generated at run time. Errors: G2H_ERROR_MEMORY, G2H_ERROR_LIMIT. */
struct g2h_error *typing_create(const struct g2h_heap *heap, const struct targets *targets,
                                const struct g2h_exe *exe, const struct g2h_redaction *redaction,
                                unsigned threads, struct typing **ret);
void typing_destroy(struct typing *typing);

/* Returns DWARF's global variable that contains an address of the process, and the address's offset
 * in it, or NULL if there is none. */
const struct dwarf_global *typing_global(const struct typing *typing, uint64_t address,
                                         uint64_t *ret_offset);

/* Returns the index in typing->dwarf_info->globals of the first variable at or after an address of
 * the file. */
size_t typing_first_global(const struct typing *typing, uint64_t address);

/* Returns the function that best identifies the variable of a word at an address of data or bss, in
 * a program without symbols, or NULL. is_exact: its code uses this very word; otherwise this may be
 * a later word of an array, or of a variable whose address code takes, which ends where code uses
 * the next one. The ends of other variables are not known: a value that only static data points to
 * may follow one. */
const struct static_user *typing_user(const struct typing *typing, uint64_t address, bool is_exact);

/* Returns the value in data or bss that contains an address, as far as code shows where one begins,
 * or NULL. */
const struct static_value *typing_static_value(const struct typing *typing, uint64_t address);

/* Returns what the word at an address of data or bss points to according to code, or NULL. */
const struct static_pointer_type *typing_static_pointer(const struct typing *typing,
                                                        uint64_t address);

/* Names for is_empty, where it is known which interface it is. */
enum { INTERFACE_WITH_METHODS = false, INTERFACE_EMPTY = true };

/* Returns the type of the value that an interface holds, or TYPE_NONE. first is the interface's
 * first word: the address of a type if the interface has no methods (is_empty), else of an itab. */
uint32_t typing_interface_type(const struct typing *typing, uint64_t first, bool is_empty);

/* Returns the variables of a frame's function. */
const struct dwarf_local *typing_locals(const struct typing *typing,
                                        const struct heap_stack_frame *frame, uint32_t *ret_count);

/*
 * Returns the variable of a frame that contains a word, and the word's offset in the variable, or
 * NULL if there is none. offset is the word's offset from the frame's sp or, for an argument, which
 * is in the caller's frame (is_argument), from the caller's sp.
 */
const struct dwarf_local *typing_local_at(const struct typing *typing,
                                          const struct heap_stack_frame *frame, uint64_t offset,
                                          bool is_argument, uint64_t *ret_offset);

/* Finds the name of the innermost function that is inlined at a frame's program counter. Returns
 * false if there is none, or if it is not known. */
bool typing_inlined_at(const struct typing *typing, const struct heap_stack_frame *frame,
                       struct g2h_bytes *ret);

/* Returns who takes the address of a variable that a word of data or bss is in which no code uses
 * itself: a struct whose methods are called; NULL if none is near, or if it is the runtime's. */
const struct static_user *typing_user_before(const struct typing *typing, uint64_t address);

/* Returns the address of the variable that has a word of data or bss for certain, because functions
 * that get that address use memory behind the word; 0: none is known. */
uint64_t typing_extent_at(const struct typing *typing, uint64_t address);

/* Returns the last use of static data at or before an address, of any kind; NULL: there is none. */
const struct static_user *typing_last_user(const struct typing *typing, uint64_t address);

/* Returns the address of the array that a word of data or bss is in, if code uses it as one of an
 * element's, or 0. *ret_distance becomes the bytes from element to element. The array's length is
 * not known: what comes behind it has users of its own. */
uint64_t typing_array_at(const struct typing *typing, uint64_t address, uint32_t *ret_distance);

/* Returns where the array begins that has a word of data or bss for certain, by the bounds of the
 * index by which code uses its elements; 0: none is known. */
uint64_t typing_bounded_array_at(const struct typing *typing, uint64_t address);

/* Returns the first word that is of the same variable as the one at an address of data or bss, and
 * that the same function uses: it may be the word itself. 0: no code uses that. */
uint64_t typing_used_together(const struct typing *typing, uint64_t address);

/* Returns whether a word at an offset in an element of an array in data or bss is in another array
 * there, and gets where in the element that begins and the bytes from element to element. */
bool typing_array_in_element(const struct typing *typing, uint64_t array, uint64_t offset,
                             uint64_t *ret_start, uint32_t *ret_distance);

/* Returns the value that contains a word at an offset of a frame, if the function's code passes its
 * address on and shows its type; else NULL. DWARF does not describe it if only its address is in a
 * variable: spilled.c. */
const struct frame_value *typing_frame_value(const struct typing *typing,
                                             const struct heap_stack_frame *frame, uint64_t offset);

/* Returns the type of the value of a frame that a word at an offset is in, and gets the offset of
 * the value: the frame's code passes its address on, or pointers lead to it. Returns TYPE_NONE if
 * none is known. */
uint32_t typing_value_in_frame(const struct typing *typing, const struct heap_stack_frame *frame,
                               uint64_t offset, uint64_t *ret_start);

/* Returns the address of the sync.Pool that a frame's function will put the word at an offset of
 * the frame into, or 0 if there is none or it is not known: spilled.c. */
uint64_t typing_pool(const struct typing *typing, const struct heap_stack_frame *frame,
                     uint64_t offset);

/* ---- memory of the process: typing_memory.c ---- */

/* Returns the bytes at an address, from an object or the executable's file, or NULL if neither has
 * size bytes there. hint: an object that they may be in, or UINT32_MAX. */
const uint8_t *typing_memory(const struct typing *typing, uint64_t address, uint64_t size,
                             uint32_t hint);

/* Returns the word at an address, as the process had it, or 0 if neither an object nor the file has
 * it. */
uint64_t typing_word(const struct typing *typing, uint64_t address);

/* Returns the address of the code that a cleanup calls, or 0 if that is not known, as since Go
 * 1.26. object is the cleanup's closure. */
uint64_t typing_cleanup_code(const struct typing *typing, uint32_t object);

/* Sums up the objects by the sources of their types. live: a bit per live object; NULL if all are.
 * Error: G2H_ERROR_MEMORY. */
struct g2h_error *typing_account(const struct typing *typing, const uint64_t *live,
                                 struct g2h_type_account *ret);

/* Values without pointers that have fewer bytes than this share a slot (runtime/malloc.go:
 * maxTinySize). */
enum { TINY_BLOCK = 16 };

/* The final type of an object. */
struct object_type {
    enum {
        OBJECT_UNTYPED,
        OBJECT_VALUE, /* of type */
        OBJECT_ARRAY, /* of values of type */
        OBJECT_TEXT,  /* string data */
        OBJECT_TINY,  /* a block without pointers, shared by values smaller than it */
        OBJECT_PART,  /* its start, or some other part, is a value of type; the rest is unknown */
    } form;
    uint32_t type;
};
struct object_type typing_object(const struct typing *typing, uint32_t object);

/* Returns whether a claim on an object is less specific than the fact that the object is string
 * data. */
bool typing_yields_to_text(const struct typing *typing, uint32_t object, uint32_t claim);

static inline bool typing_is_text(const struct typing *typing, uint32_t object)
{
    return typing->texts[object] != 0 &&
           (typing->claims[object] == 0 ||
            typing_yields_to_text(typing, object, typing->claims[object]));
}

static inline bool typing_has_parts(const struct typing *typing, uint32_t object)
{
    return bits_have(typing->has_parts, object);
}

/* Returns whether an object is an OBJECT_TINY with known parts only, and no text. typing_object()
 * determines the same, but has to look up the parts. */
static inline bool typing_is_shared(const struct typing *typing, uint32_t object)
{
    const struct slot_class *slot_class = heap_slot_class(typing->heap, object);
    return typing->claims[object] == 0 && typing->texts[object] == 0 &&
           slot_class->size == TINY_BLOCK && !slot_class->has_pointers &&
           typing_has_parts(typing, object);
}

/* Returns whether the type of the whole object is known for certain: it is neither that of a part
 * nor a guess. */
static inline bool typing_is_sure(const struct typing *typing, uint32_t object)
{
    const uint32_t claim = typing->claims[object];
    return (claim & CLAIM_EXACT) != 0 && (claim & CLAIM_SOURCE) != (uint32_t)SOURCE_GUESS
                                                                       << CLAIM_SOURCE_SHIFT;
}

/* Returns whether an object's type is a guess: the only type that fits. */
static inline bool typing_is_guess(const struct typing *typing, uint32_t object)
{
    const uint32_t claim = typing->claims[object];
    return (claim & CLAIM_EXACT) != 0 && (claim & CLAIM_SOURCE) == (uint32_t)SOURCE_GUESS
                                                                       << CLAIM_SOURCE_SHIFT;
}

/*
 * The position of a word of an object by the claims on it: the type, and the offset in a value of
 * that type. typing_locate() returns false if no claim covers the word.
 */
struct typed_location {
    uint32_t type;
    uint64_t offset;  /* in the value */
    uint64_t element; /* in an array: the index of the value */
    bool is_array;
    uint64_t
        part_offset; /* in the object, of the part that the type is of; 0: of the whole object */
};
bool typing_locate(const struct typing *typing, uint32_t object, uint64_t offset,
                   struct typed_location *ret);

#endif
