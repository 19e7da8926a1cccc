/*
 * heap: the inside of a loaded heap, for the rooms behind this one. What others see of it is in
 * include/go2heapsnapshot/heap.h.
 *
 * Of each object it has the address, where the contents are in the input, and the slot class. All
 * objects of a slot class have the same size and the same pointers; a dump without types tells no
 * more of them.
 */
#ifndef HEAP_HEAP_H
#define HEAP_HEAP_H

#include <go2heapsnapshot/heap.h>

#include "base/map.h"
#include "base/memory.h"
#include "dump/reader.h"
#include "heap/facts.h"
#include "heap/index.h"
#include "heap/phantoms.h"

#define SLOT_CLASS_NO_TYPE UINT32_MAX

struct slot_class {
    uint64_t size;
    uint64_t stored;       /* what of it is in the file */
    uint64_t type_address; /* before 1.4; 0 unknown */
    uint32_t type;     /* index into heap->types, SLOT_CLASS_NO_TYPE; set once all types are read */
    uint8_t kind;      /* G2H_OBJECT_… */
    bool has_pointers; /* may have: its field list is not empty, or its type has pointers, or it is
                          conservative */
    bool is_headless;  /* it has no malloc header though its size says so: see LARGEST_SMALL */
    uint8_t head;      /* bytes of its record before the contents, as Go writes them, but for those
                          of its address */
    /* The field list of all its objects, with the 0 that ends it: while the dump is loaded as one
     * of them has it in the input, then a copy; NULL where they may have different ones. */
    const uint8_t *fields;
    uint32_t fields_size;
    /* A bit for each word that is listed, the first word's the lowest; 0 where words are not listed
     * in their order, or are too many. Set once all records are read. */
    uint64_t words;
    uint32_t tail; /* bytes behind the contents, that is of the field list; SLOT_CLASS_ANY_TAIL:
                      they may differ */
};
#define SLOT_CLASS_ANY_TAIL UINT32_MAX

/* Up to this size objects with different field lists are of different slot classes. */
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
    const struct g2h_heap *heap; /* whose words they are told by */
    VECTOR(struct slot_class) list;
    struct map by_key;       /* hash of all that a slot class consists of; see slot_classes.c */
    uint32_t small[2][4097]; /* by has_pointers and size / 8: those without a type or field list */
    uint32_t listed_count;   /* slot classes with a field list */
    bool own_fields;         /* field lists are copies */
};

/* A type record, its fields decoded where the layout has them (before 1.4). */
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

/* A frame, and where the parts of its record are in the input, for heap_frame(). */
struct heap_frame {
    uint64_t sp, entry, pc;
    uint32_t contents_size, function_size, fields_size;
    uint8_t contents_begin; /* from the record's begin on, */
    uint8_t function_begin; /* and from the contents' end on; the field list follows */
};

typedef VECTOR(uint64_t) offset_vector;

enum { FILTER_SHIFT = 14 };

struct g2h_heap {
    const struct g2h_input *input;
    struct g2h_reader *reader; /* constant once loaded: copy it to read */
    struct g2h_error *damage;
    struct g2h_params params;
    char *go_version;
    int go_minor; /* N of go1.N; 0 unknown */
    enum pointer_form pointer_form;
    enum span_tail span_tail;
    struct g2h_account account;
    struct g2h_memstats memstats;
    struct facts facts;

    uint32_t object_count;
    size_t object_capacity;
    struct heap_object *objects; /* by address, ascending */
    struct g2h_fields fields;    /* what the field lists of all objects have in common */
    struct slot_classes slot_classes;
    struct object_index index;

    VECTOR(struct heap_type) types;
    VECTOR(struct heap_itab) itabs;
    struct map type_by_address, itab_by_address;
    struct map
        type_of_interface; /* address of an itab or a type → type, where the type has a name */
    uint64_t interface_filter[1 << (FILTER_SHIFT - 6)]; /* a bit for each hash of these addresses */
    VECTOR(struct heap_goroutine) goroutines;
    VECTOR(struct heap_frame) frames;
    offset_vector records[G2H_RECORD_KINDS]; /* offsets of those that are read again: all kinds but
                                                objects, types, itabs, params, memstats, EOF */
};

/* A word of the dump's memory. at must have pointer_size readable bytes. */
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

/* An unsigned number of the dump's memory, of at most 8 bytes. */
static inline uint64_t heap_number(const struct g2h_heap *heap, const uint8_t *at, uint64_t size)
{
    uint64_t value = 0;
    for (uint64_t i = 0; i < size; i++)
        value = value << 8 | at[heap->params.big_endian ? i : size - 1 - i];
    return value;
}

/* Whether words of the dump are those of this machine, if it has 64 bits. */
static inline bool heap_words_are_usual(const struct g2h_heap *heap)
{
    return heap->params.pointer_size == 8 &&
           heap->params.big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

static inline uint64_t interface_hash(uint64_t address)
{
    return address * 0x9fb21c651e98df25u >> (64 - FILTER_SHIFT);
}

/* Whether a word may be the first one of an interface; for few other words this is true. A range of
 * addresses would not tell: types and itabs lie below and above the heap. */
static inline bool heap_maybe_interface(const struct g2h_heap *heap, uint64_t word)
{
    const uint64_t hash = interface_hash(word);
    return (heap->interface_filter[hash / 64] >> hash % 64 & 1) != 0;
}

static inline uint64_t heap_address(const struct g2h_heap *heap, uint32_t object)
{
    return heap->objects[object].address;
}

/* The offset of the object's contents in the input. */
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

static inline uint64_t heap_object_size(const struct g2h_heap *heap, uint32_t object)
{
    return heap_slot_class(heap, object)->size;
}

/* The field list of a slot class that has one. */
static inline struct g2h_fields slot_class_fields(const struct g2h_heap *heap,
                                                  const struct slot_class *slot_class)
{
    struct g2h_fields fields = heap->fields;
    fields.at = slot_class->fields;
    fields.end = slot_class->fields + slot_class->fields_size;
    return fields;
}

/*
 * The object as its record has it. Nothing is read: contents and field list are where they were
 * found to be when the heap was loaded. fields.end is where the list ends or behind it, but not so
 * far behind that a list whose bytes have changed meanwhile would be gone through forever.
 */
static inline void heap_object(const struct g2h_heap *heap, uint32_t object, struct g2h_object *ret)
{
    const struct slot_class *slot_class = heap_slot_class(heap, object);
    const uint8_t *contents = heap->input->data + heap_offset(heap, object);
    *ret = (struct g2h_object){.address = heap_address(heap, object),
                               .size = slot_class->size,
                               .contents = {contents, slot_class->stored},
                               .fields = heap->fields,
                               .type = slot_class->type_address,
                               .kind = slot_class->kind};
    if (slot_class->fields) {
        ret->fields.at = slot_class->fields;
        ret->fields.end = slot_class->fields + slot_class->fields_size;
    } else {
        const uint64_t longest = reader_longest_list(slot_class->size);
        ret->fields.at = contents + slot_class->stored;
        if (longest < (uint64_t)(heap->fields.end - ret->fields.at))
            ret->fields.end = ret->fields.at + longest;
    }
}

/* What of an object is in the input. */
static inline struct g2h_bytes heap_contents(const struct g2h_heap *heap, uint32_t object)
{
    return (struct g2h_bytes){heap->input->data + heap_offset(heap, object),
                              heap_slot_class(heap, object)->stored};
}

/*
 * Since Go 1.22 a slot with pointers that is too large for its span to hold their bitmap begins
 * with a malloc header: the address of the allocation's type. The value follows it.
 */
enum { MALLOC_HEADER = 8 };

/*
 * Values beyond so many bytes, header included, have a span of their own and no header
 * (runtime/malloc.go: size <= maxSmallSize - mallocHeaderSize). Of 32761 to 32768 bytes that span
 * is as large as the largest slot: then the object itself must tell (slot_classes.c).
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

/* Where the value begins in an object of a slot class: behind its malloc header, if it has one. */
static inline uint64_t heap_value_base(const struct g2h_heap *heap,
                                       const struct slot_class *slot_class)
{
    return heap_has_malloc_header(heap, slot_class) ? MALLOC_HEADER : 0;
}

/* What others want to know of a frame. Its parts are in the input, as they were found to be when
 * the heap was loaded. */
struct frame {
    uint64_t sp, entry, pc;
    struct g2h_bytes contents, function;
    struct g2h_fields fields;
};

static inline struct frame heap_frame(const struct g2h_heap *heap, size_t number)
{
    const struct heap_frame *frame = &heap->frames.data[number];
    const uint8_t *contents = heap->input->data +
                              heap->records[G2H_RECORD_STACKFRAME].data[number] +
                              frame->contents_begin,
                  *function = contents + frame->contents_size + frame->function_begin,
                  *fields = function + frame->function_size;
    return (struct frame){
        .sp = frame->sp,
        .entry = frame->entry,
        .pc = frame->pc,
        .contents = {contents, frame->contents_size},
        .function = {function, frame->function_size},
        .fields = {fields, fields + frame->fields_size, UINT64_MAX, heap->fields.kinds}};
}

/* The object whose slot holds address, UINT32_MAX where there is none. */
static inline uint32_t heap_find(const struct g2h_heap *heap, uint64_t address)
{
    return index_find(&heap->index, address);
}

/* Brings the contents of an object to the cache that will be walked over soon, if there is one of
 * that number and it has pointers. */
static inline void heap_prefetch(const struct g2h_heap *heap, uint64_t object)
{
    if (object >= heap->object_count || !heap_slot_class(heap, (uint32_t)object)->has_pointers)
        return;
    const uint8_t *contents = heap->input->data + heap_offset(heap, (uint32_t)object);
    __builtin_prefetch(contents);
    __builtin_prefetch(contents + 64);
}
enum { OBJECTS_AHEAD = 8 }; /* so many objects before it is walked over */

/* ---- slot_classes.c ---- */

/* The slot class of an object without pointers, if it is known and small; else MAP_NONE. */
static inline uint32_t slot_classes_find_plain(const struct slot_classes *slot_classes,
                                               const struct g2h_object *object)
{
    return slot_classes->form == POINTERS_LISTED && object->size < 4096 * 8 &&
                   object->size % 8 == 0 && object->fields.at < object->fields.end &&
                   *object->fields.at == 0
               ? slot_classes->small[0][object->size / 8]
               : MAP_NONE;
}

/* The slot class of an object; makes it where it is new. False where there is no memory. */
bool slot_classes_intern(struct slot_classes *slot_classes, const struct g2h_object *object,
                         uint32_t *ret);

/* Does the same for a slot class of another list, whose field list is copied. Here the number of
 * field lists is limited: beyond that a slot class is taken without its list. */
bool slot_classes_adopt(struct slot_classes *slot_classes, const struct slot_class *slot_class,
                        uint32_t *ret);

/* Gives the slot classes their types, once all type records are read, and their words. */
void slot_classes_finish(struct g2h_heap *heap);

void slot_classes_init(struct slot_classes *slot_classes, const struct g2h_heap *heap);
void slot_classes_deinit(struct slot_classes *slot_classes);

#endif
