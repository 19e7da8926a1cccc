/*
 * heap: the internals of a loaded heap, for the modules above it. include/go2heapsnapshot/heap.h is
 * its public interface.
 *
 * For each object it has the address, the offset of the contents in the input, and the slot class.
 * All objects of a slot class have the same size and the same pointers; a dump without types says
 * no more about them.
 *
 *   load, runs          reads all records, and the objects on several threads
 *   facts               facts of the records about more than objects
 *   heap_ages           since which collection each object lives
 *   sort, index         objects by address, and the object at an address
 *   phantoms            slots that hold no object
 *   slot_classes        the sizes and pointer bitmaps that distinguish untyped objects
 *   pointers, targets   the words that the collector follows, and the objects that they point to
 *   alloc_rate          how allocations were sampled
 *   kept                objects that a process keeps for cleanups
 */
#ifndef HEAP_HEAP_H
#define HEAP_HEAP_H

#include <go2heapsnapshot/heap.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "base/map.h"
#include "base/memory.h"
#include "dump/reader.h"
#include "heap/facts.h"
#include "heap/index.h"
#include "heap/phantoms.h"

#define SLOT_CLASS_NO_TYPE UINT32_MAX

struct slot_class {
    uint64_t size;
    uint64_t stored;       /* the part of size that is in the file */
    uint64_t type_address; /* before 1.4; 0 if unknown */
    uint32_t type; /* index into heap->types, or SLOT_CLASS_NO_TYPE; set once all types are read */
    uint8_t kind;  /* G2H_OBJECT_… */
    bool has_pointers; /* it may have pointers: its field list is not empty, or its type has
                          pointers, or it is conservative */
    bool is_headless;  /* it has no malloc header though its size suggests one; see LARGEST_SMALL */
    uint8_t head; /* size of an object's record before the contents, as Go writes it, without the
                     address */
    /* The field list that all its objects share, including the 0 that ends it. In a chunk it is the
     * list of one of the objects in the input; in the heap it is a copy. NULL if the objects may
     * have different lists. */
    const uint8_t *fields;
    uint32_t fields_size;
    /* A bit for each listed word, the lowest for the first word; 0 if the words are not listed in
     * order or are too many. Set once all records are read. */
    uint64_t words;
    uint32_t tail; /* size of an object's record after the contents, that is, of the field list;
                      SLOT_CLASS_ANY_TAIL if objects may differ */
};
#define SLOT_CLASS_ANY_TAIL UINT32_MAX

/* Up to this size, objects with different field lists have different slot classes. */
enum { LISTED_SIZE = 512 };

/* How the pointers of an object are found. */
enum pointer_form {
    POINTERS_LISTED,      /* a field list of pointers: 1.5 and later */
    POINTERS_LISTED_KIND, /* a field list with interfaces: 1.4 */
    POINTERS_TYPED,       /* by its type: before 1.4 */
};

/* The slot classes of a heap, or of a part of it while it is being read. */
struct slot_classes {
    enum pointer_form form;
    const struct g2h_heap *heap; /* the heap whose word size and byte order apply */
    VECTOR(struct slot_class) list;
    struct map by_key;       /* key: a hash of all that defines a slot class; see slot_classes.c */
    uint32_t small[2][4097]; /* by has_pointers and size / 8: slot classes without a type or a field
                                list */
    uint32_t listed_count;   /* number of slot classes with a field list */
    bool own_fields;         /* field lists are copies, which this struct owns */
};

/* A type record. Its fields are decoded if the layout has them (before 1.4). */
struct heap_type {
    uint64_t address, size;
    struct g2h_bytes name;
    bool data_is_pointer;
    struct g2h_field *fields; /* ascending */
    size_t field_count;
};

struct heap_itab {
    uint64_t address, type;
    bool data_is_pointer;
};

/* A goroutine and the frames that follow its record. */
struct heap_goroutine {
    struct g2h_goroutine record;
    uint32_t first_frame, frame_count;
};

/* A frame, and where the parts of its record are in the input; see heap_frame(). */
struct heap_frame {
    uint64_t sp, entry, pc;
    uint32_t contents_size, function_size, fields_size;
    uint8_t contents_begin; /* offset from the beginning of the record */
    uint8_t function_begin; /* offset from the end of the contents; the field list follows the
                               function */
};

typedef VECTOR(uint64_t) offset_vector;

enum { FILTER_SHIFT = 14 };

/* How many segments of a kind are looked at one by one. WriteHeapDump writes one of each kind;
 * dumps of a process have one per module, which are 1,000 plugins at most (process/records.c). */
enum { HEAP_SEGMENTS = 1024 };

struct g2h_heap {
    const struct g2h_input *input;
    struct g2h_reader *reader; /* constant once the heap is loaded: copy it to read */
    struct g2h_error *damage;
    struct g2h_params params;
    char *go_version;
    int go_minor; /* the N of go1.N; 0 if unknown */
    enum pointer_form pointer_form;
    enum span_tail span_tail;
    struct g2h_account account;
    struct g2h_memstats memstats;
    struct facts facts;
    struct ranges secrets; /* of the input: contents of objects that secret.Do has allocated */
    unsigned threads;      /* on which it was loaded; g2h_exe_match() uses as many */
    uint64_t not_ahead;    /* objects that were not read ahead, or read ahead in vain: see load.c */

    uint32_t object_count;
    size_t object_capacity;
    struct heap_object *objects; /* ascending by address */
    struct g2h_fields fields;    /* the members that the field lists of all objects share */
    struct slot_classes slot_classes;
    struct object_index index;

    VECTOR(struct heap_type) types;
    VECTOR(struct heap_itab) itabs;
    struct map type_by_address, itab_by_address;
    struct map type_of_interface; /* address of an itab or a type → type, if the type has a name */
    uint64_t interface_filter[1 << (FILTER_SHIFT - 6)]; /* a bit for each hash of an address in
                                                           type_of_interface */
    VECTOR(struct heap_goroutine) goroutines;
    VECTOR(struct heap_frame) frames;
    offset_vector records[G2H_RECORD_KINDS]; /* offsets of records that are read again: all kinds
                                                but objects, types, itabs, params, memstats, EOF */
    VECTOR(struct g2h_record)
    segments[G2H_RECORD_KINDS]; /* the first HEAP_SEGMENTS data and bss records as they were read:
                                   reading one again means reading its field list, which may be long
                                 */
};

/* Returns whether the heap has all objects and roots, and each with the pointers that the collector
 * follows: the dump is complete, and of a process nothing was missing that holds objects, nor
 * conservative. Only then is what nothing reaches proved to be garbage. */
bool heap_is_exact(const struct g2h_heap *heap);

/* Counts the objects of a sample, once they are known. */
void heap_count_sample(struct g2h_heap *heap);

/* Returns a word of the dump's memory. at must have pointer_size readable bytes. */
static inline uint64_t heap_word(const struct g2h_heap *heap, const uint8_t *at)
{
    uint64_t wide;
    uint32_t narrow;
    if (heap->params.pointer_size == 8) {
        __builtin_memcpy(&wide, at, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        return heap->params.big_endian ? wide : __builtin_bswap64(wide);
#else
        return heap->params.big_endian ? __builtin_bswap64(wide) : wide;
#endif
    }
    __builtin_memcpy(&narrow, at, 4);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return heap->params.big_endian ? narrow : __builtin_bswap32(narrow);
#else
    return heap->params.big_endian ? __builtin_bswap32(narrow) : narrow;
#endif
}

/* Returns an unsigned number of the dump's memory, of at most 8 bytes. */
static inline uint64_t heap_number(const struct g2h_heap *heap, const uint8_t *at, uint64_t size)
{
    uint64_t value = 0;
    assert(size <= 8);
    for (uint64_t i = 0; i < size; i++)
        value = value << 8 | at[heap->params.big_endian ? i : size - 1 - i];
    return value;
}

/* Returns whether words of the dump have 64 bits and this machine's byte order. */
static inline bool heap_words_are_usual(const struct g2h_heap *heap)
{
    return heap->params.pointer_size == 8 &&
           heap->params.big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

static inline uint64_t interface_hash(uint64_t address)
{
    return address * 0x9fb21c651e98df25u >> (64 - FILTER_SHIFT);
}

/* Returns whether a word may be the first one of an interface; this is true for few other words. A
 * range of addresses would not do, because types and itabs are below and above the heap. */
static inline bool heap_maybe_interface(const struct g2h_heap *heap, uint64_t word)
{
    const uint64_t hash = interface_hash(word);
    return bits_have(heap->interface_filter, hash);
}

static inline uint64_t heap_address(const struct g2h_heap *heap, uint32_t object)
{
    return heap->objects[object].address;
}

/* Returns the offset of an object's contents in the input. */
static inline uint64_t heap_offset(const struct g2h_heap *heap, uint32_t object)
{
    return heap->objects[object].contents_and_class >> SLOT_CLASS_BITS;
}

static inline uint32_t heap_slot_class_number(const struct g2h_heap *heap, uint32_t object)
{
    return (uint32_t)(heap->objects[object].contents_and_class & (SLOT_CLASS_LIMIT - 1));
}

static inline const struct slot_class *heap_slot_class(const struct g2h_heap *heap, uint32_t object)
{
    return &heap->slot_classes.list.data[heap_slot_class_number(heap, object)];
}

/* Values without pointers of less than 16 bytes share slots of this size (runtime/malloc.go). */
enum { SHARED_SLOT = 16 };

/* weak.Pointer of 1.23 and later leads to its object by a handle: an address without a pointer, in
 * a shared slot. */
enum { FIRST_WITH_WEAK_HANDLES = 23 };

/* Returns whether several values may share an object's slot. */
static inline bool heap_slot_is_shared(const struct g2h_heap *heap, uint32_t object)
{
    const struct slot_class *class = heap_slot_class(heap, object);
    return class->size <= SHARED_SLOT && !class->has_pointers;
}

static inline uint64_t heap_object_size(const struct g2h_heap *heap, uint32_t object)
{
    return heap_slot_class(heap, object)->size;
}

/* Returns the field list of a slot class that has one. */
static inline struct g2h_fields slot_class_fields(const struct g2h_heap *heap,
                                                  const struct slot_class *slot_class)
{
    struct g2h_fields fields = heap->fields;
    assert(slot_class->fields);
    fields.at = slot_class->fields;
    fields.end = slot_class->fields + slot_class->fields_size;
    return fields;
}

/*
 * Gets an object as its record has it. This reads nothing from the input: contents and field list
 * are where they were when the heap was loaded. fields.end is at or after the end of the list, but
 * close enough that a walk over a list whose bytes have changed meanwhile ends.
 */
static inline void heap_object(const struct g2h_heap *heap, uint32_t object, struct g2h_object *ret)
{
    const struct slot_class *slot_class = heap_slot_class(heap, object);
    const uint8_t *contents = heap->input->data + heap_offset(heap, object);
    *ret = (struct g2h_object){.address = heap_address(heap, object),
                               .size = slot_class->size,
                               .contents = bytes_at(contents, slot_class->stored),
                               .fields = heap->fields,
                               .type = slot_class->type_address,
                               .kind = slot_class->kind};
    if (slot_class->fields) {
        ret->fields.at = slot_class->fields;
        ret->fields.end = slot_class->fields + slot_class->fields_size;
    } else {
        const uint64_t longest = reader_longest_list(slot_class->size);
        ret->fields.at = contents + slot_class->stored;
        if (longest < as_size(heap->fields.end - ret->fields.at))
            ret->fields.end = ret->fields.at + longest;
    }
}

/* Returns the part of an object's contents that the input holds. */
static inline struct g2h_bytes heap_contents(const struct g2h_heap *heap, uint32_t object)
{
    return bytes_at(heap->input->data + heap_offset(heap, object),
                    heap_slot_class(heap, object)->stored);
}

/* Since Go 1.22 a slot with pointers begins with a malloc header, the address of the allocation's
 * type, if it is too large for its span to hold the pointer bitmap. The value follows the
 * header. */
enum { MALLOC_HEADER = 8 };

/*
 * Values larger than this, header included, have a span of their own and no header
 * (runtime/malloc.go: size <= maxSmallSize - mallocHeaderSize). A value of 32761 to 32768 bytes has
 * a span of the same size as the largest slot, so the object's contents decide whether it has a
 * header (slot_classes.c).
 */
enum { LARGEST_SMALL = 32768 };

static inline bool heap_has_malloc_header(const struct g2h_heap *heap,
                                          const struct slot_class *slot_class)
{
    const uint64_t smallest = heap->params.pointer_size == 8 ? 512 : 128;
    return heap->span_tail != TAIL_NONE && slot_class->has_pointers &&
           slot_class->size > smallest && slot_class->size <= LARGEST_SMALL &&
           !slot_class->is_headless;
}

/* Returns where the value begins in an object of a slot class: after its malloc header, if it has
 * one. */
static inline uint64_t heap_value_base(const struct g2h_heap *heap,
                                       const struct slot_class *slot_class)
{
    return heap_has_malloc_header(heap, slot_class) ? MALLOC_HEADER : 0;
}

static inline uint64_t heap_object_base(const struct g2h_heap *heap, uint32_t object)
{
    return heap_value_base(heap, heap_slot_class(heap, object));
}

/* A frame, for other modules. Its parts are in the input, where they were when the heap was
 * loaded. */
struct heap_stack_frame {
    uint64_t sp, entry, pc;
    struct g2h_bytes contents, function;
    struct g2h_fields fields;
};

/* Returns a frame: where its parts are in the input follows from the offset of its record and their
 * sizes. */
static inline struct heap_stack_frame heap_frame(const struct g2h_heap *heap, size_t number)
{
    assert(number < heap->frames.count &&
           heap->frames.count <= heap->records[G2H_RECORD_STACKFRAME].count);
    const struct heap_frame *frame = &heap->frames.data[number];
    const uint8_t *contents = heap->input->data +
                              heap->records[G2H_RECORD_STACKFRAME].data[number] +
                              frame->contents_begin,
                  *function = contents + frame->contents_size + frame->function_begin,
                  *fields = function + frame->function_size;
    return (struct heap_stack_frame){
        .sp = frame->sp,
        .entry = frame->entry,
        .pc = frame->pc,
        .contents = {contents, frame->contents_size},
        .function = {function, frame->function_size},
        .fields = {fields, fields + frame->fields_size, UINT64_MAX, heap->fields.kinds}};
}

/* Returns the object whose slot contains address, or UINT32_MAX if there is none. */
static inline uint32_t heap_find(const struct g2h_heap *heap, uint64_t address)
{
    return index_find(&heap->index, address);
}

/* Splits the untouched ranges of the dump so that each is part of one object, once the objects are
 * sorted (heap.c). */
struct g2h_error *heap_cut_untouched(struct g2h_heap *heap);

/* Prefetches the contents of an object that will soon be walked, if an object of that number exists
 * and has pointers. */
static inline void heap_prefetch(const struct g2h_heap *heap, uint64_t object)
{
    if (object >= heap->object_count || !heap_slot_class(heap, (uint32_t)object)->has_pointers)
        return;
    const uint8_t *contents = heap->input->data + heap_offset(heap, (uint32_t)object);
    __builtin_prefetch(contents);
    __builtin_prefetch(contents + 64);
}
enum { OBJECTS_AHEAD = 8 }; /* the distance from the current object of a walk */

/* Finds the contents of the objects that secret.Do has allocated, once the heap has its index
 * (heap.c). */
struct g2h_error *heap_find_secrets(struct g2h_heap *heap);

/* Returns whether a byte belongs to such an object, so that only pointers there are the
 * process's. */
bool heap_is_secret(const struct g2h_heap *heap, const uint8_t *at);

/* ---- slot_classes.c ---- */

/* Returns the slot class of an object without pointers if the class is small and known, or else
 * MAP_NONE. */
static inline uint32_t slot_classes_find_noscan(const struct slot_classes *slot_classes,
                                                const struct g2h_object *object)
{
    return slot_classes->form == POINTERS_LISTED && object->size < 4096 * 8 &&
                   object->size % 8 == 0 && object->contents.size == object->size &&
                   object->fields.at < object->fields.end && *object->fields.at == 0
               ? slot_classes->small[0][object->size / 8]
               : MAP_NONE;
}

/* Gets the slot class of an object, and adds it if it is new. Returns false if memory runs out. */
bool slot_classes_intern(struct slot_classes *slot_classes, const struct g2h_object *object,
                         uint32_t *ret);

/* Does the same for a slot class of another list, and copies its field list. The number of field
 * lists is limited here: beyond the limit a slot class is adopted without its list. */
bool slot_classes_adopt(struct slot_classes *slot_classes, const struct slot_class *slot_class,
                        uint32_t *ret);

/* Sets the types and the words of the slot classes, once all type records are read. */
void slot_classes_finish(struct g2h_heap *heap);

void slot_classes_init(struct slot_classes *slot_classes, const struct g2h_heap *heap);
void slot_classes_deinit(struct slot_classes *slot_classes);

#endif
