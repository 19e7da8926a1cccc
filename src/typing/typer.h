/* typer: what the files of this room share while types are being found. */
#ifndef TYPING_TYPER_H
#define TYPING_TYPER_H

#include "base/workers.h"
#include "typing/typing.h"

/* A pointer that says what it points to. */
struct reference {
    uint64_t value;
    uint64_t count; /* of an array: values, 0 unknown; of a text: its length */
    uint32_t type;
    uint32_t target; /* the object; NO_TARGET: it is still to be found */
    uint8_t source;
    uint8_t form; /* enum reference_form */
};

enum reference_form {
    REFERENCE_VALUE,
    REFERENCE_ARRAY,
    REFERENCE_TEXT,
    REFERENCE_CLOSURE, /* the code that the target begins with tells its type */
    REFERENCE_CONTENT, /* the pointer type `type` tells by the target's first byte */
};

/* A claim whose pointer fields are to be followed. */
struct item {
    uint32_t object;
    uint32_t region; /* index in the object's shard; ITEM_START: the claim on its start */
};

#define ITEM_START UINT32_MAX

typedef VECTOR(struct item) item_vector;

/* A reference that waits until its round is over (waves.c). */
struct waiting {
    uint64_t offset, count; /* the offset in the object; an array's count */
    uint32_t object;
    uint32_t type : 26, source : 3, is_array : 1;
    uint32_t is_claim : 1, is_exact : 1; /* it is the claim on the object's start already */
};

enum { BATCH = 64 };

/* Whether a type fits the start of all objects of a slot class, as far as the thread remembers. */
enum fit { FIT_UNKNOWN, FIT_NONE, FIT_PART, FIT_EXACT };
struct known_fit {
    const struct pointer_map *map;
    uint32_t slot_class, type;
    enum fit fit;
};

enum { FITS = 1024 };

/* What the data word of an interface leads to, by its first word, as far as the thread remembers:
 * few types are in nearly all interfaces. */
struct known_interface {
    uint64_t first;
    uint32_t type;
    uint8_t form; /* enum reference_form */
    bool is_empty;
    enum { INTERFACE_UNKNOWN, INTERFACE_OF_NONE, INTERFACE_LEADS_NOWHERE, INTERFACE_LEADS } state;
};

enum { INTERFACES = 512 };

/* What a thread works with while it finds types. */
struct typer {
    struct typing *typing;
    item_vector items;      /* new claims */
    uint32_t shared;        /* CLAIM_FRESH while other threads propose as well, else 0 */
    VECTOR(uint32_t) fresh; /* objects whose starts have claims since then that lead nowhere */
    VECTOR(struct waiting) waiting[SHARDS];
    struct reference batch[BATCH];
    size_t batch_count;
    bool unknown_targets; /* of the batch */
    struct known_fit fits[FITS];
    struct known_interface interfaces[INTERFACES];
    /* What leads out of the heap: from where the pointers that are being followed are; and of those
     * in objects, what is still to be followed. */
    struct way way;
    VECTOR(struct outside_pointer) outside;
    struct map outside_known;
    bool texts_only; /* of objects only strings are followed; else all but strings */
    bool no_memory;
};

static inline uint64_t object_base(const struct g2h_heap *heap, uint32_t object)
{
    return heap_value_base(heap, heap_slot_class(heap, object));
}

static inline bool object_has_pointers(const struct g2h_heap *heap, uint32_t object)
{
    return heap_slot_class(heap, object)->has_pointers;
}

static inline const struct type *type_of(const struct typing *typing, uint32_t type)
{
    return &typing->types->list.data[type];
}

static inline struct shard *shard_of(struct typing *typing, uint32_t object)
{
    return &typing->shards[shard_number(object)];
}

/* ---- propose.c ---- */

void typer_flush(struct typer *typer);

/* Brings to the cache what is looked at first of a target. */
static inline void prefetch_target(const struct typing *typing, enum reference_form form,
                                   uint32_t target)
{
    __builtin_prefetch(&typing->heap->objects[target]);
    __builtin_prefetch(form == REFERENCE_TEXT ? &typing->texts[target] : &typing->claims[target]);
}

/* Hands over a reference to memory outside of the heap. */
void typer_refer_outside(struct typer *typer, const struct way *way, enum reference_form form,
                         uint64_t value, uint64_t count, uint32_t type);

/* Whether a reference leads out of the heap. Stacks lie between objects; that a pointer of an
 * object leads to one is known only when no object is found there. */
static inline bool typer_leads_outside(const struct typer *typer, uint64_t value)
{
    const struct typing *typing = typer->typing;
    return !in_heap_range(typing->heap, value) ||
           (typer->way.holder != HOLDER_OBJECT && outside_is_stack(&typing->outside, value) &&
            heap_find(typing->heap, value) == NO_TARGET);
}

/*
 * Hands over a reference. References are looked at when a batch of them is full, or by
 * typer_flush(): many at a time, so that the memory that each needs is on its way before it is
 * read.
 */
static inline void typer_refer(struct typer *typer, enum reference_form form, uint64_t value,
                               uint64_t count, uint32_t type, uint32_t target, enum source source)
{
    const struct typing *typing = typer->typing;
    if (target == NO_TARGET && typer_leads_outside(typer, value)) {
        typer_refer_outside(typer, &typer->way, form, value, count, type);
        return;
    }
    if (typer->batch_count == BATCH)
        typer_flush(typer);
    struct reference *reference = &typer->batch[typer->batch_count++];
    reference->value = value;
    reference->count = count;
    reference->type = type;
    reference->target = target;
    reference->source = (uint8_t)source;
    reference->form = (uint8_t)form;
    if (target == NO_TARGET)
        typer->unknown_targets = true;
    else
        prefetch_target(typing, form, target);
}

/*
 * Proposes a type for an object; the reference is not to a text. While other threads do the same,
 * only that is done at once for which the order does not matter (waves.c).
 */
void typer_propose(struct typer *typer, uint32_t object, uint64_t offset,
                   const struct reference *reference);

/* ---- fields.c ---- */

/*
 * An index of the field list of a large object: where its parts begin in the list, and how much of
 * the list may still be gone through, for millions of pointers may lead into one object.
 */
struct field_index {
    uint64_t *starts; /* by offset / FIELD_STEP: distance from the list's begin to the first field
                         that is not before it */
    size_t count;
    uint64_t left; /* fields that may still be looked at: more than enough for sane programs */
    struct {
        uint32_t type;
        uint64_t values; /* 0: the object is no array of it; else how many there are, plus 1 */
    } tried[8];
    unsigned tried_count;
};

enum { FIELD_STEP = 512, INDEXED_SIZE = 2048 };

/* The index of an object, made when it is first asked for; NULL for small ones, and where there is
 * no memory. */
struct field_index *typer_field_index(struct typer *typer, uint32_t object,
                                      const struct g2h_object *record);
void field_index_destroy(struct field_index *index);

/* The fields from offset on, and maybe a few before it. */
static inline struct g2h_fields fields_near(const struct g2h_object *record,
                                            const struct field_index *index, uint64_t offset)
{
    struct g2h_fields fields = record->fields;
    const uint64_t step = offset / FIELD_STEP;
    if (index)
        fields.at += index->starts[step < index->count ? step : index->count - 1];
    return fields;
}

/* Takes some of the fields that may still be looked at. False where none were left. */
static inline bool field_index_take(struct field_index *index, uint64_t fields)
{
    if (!index)
        return true;
    const bool any = index->left > 0;
    index->left -= fields < index->left ? fields : index->left;
    return any;
}

/* ---- follow.c ---- */

/* Memory that can be read. */
struct extent {
    const uint8_t *begin, *end;
};

/* Refers to what the pointer field of a value points to: target, or NO_TARGET where it is not
 * known. at is where the field is in the extent, which has pointer_field_size() bytes there at
 * least. */
void typer_follow(struct typer *typer, const uint8_t *at, const struct extent *extent,
                  const struct pointer_field *field, uint32_t target, enum source source);

/* Refers to the data word of an interface, by its first word; false where that is no type's. */
bool typer_follow_interface(struct typer *typer, uint64_t first, uint64_t data, bool is_empty,
                            uint32_t target, enum source source);

/* Refers to an array whose length is not known. */
void typer_follow_array(struct typer *typer, uint64_t value, uint32_t elem, enum source source);

/* Follows the pointer fields of a claim: strings, which need no second look, or all others. */
void typer_follow_item(struct typer *typer, const struct item *item);

/* ---- outside.c ---- */

/* Follows the pointers that lead outside, and all that come from what they lead to. One thread. */
void typer_follow_outside(struct typer *typer);

/* Takes the pointers that a thread has found in objects; then they are sorted, each of them once,
 * so that they do not depend on the threads. */
bool typer_take_outside(struct typer *alone, struct typer *other);
void typer_sort_outside(struct typing *typing);

/* ---- waves.c ---- */

/* The threads that find types, and what they follow. */
struct waves {
    struct typing *typing;
    struct typer *typers; /* by thread; the first one works alone as well */
    item_vector wave;     /* what is followed now */
};

/* Errors: G2H_ERROR_MEMORY. */
struct g2h_error *waves_init(struct waves *waves, struct typing *typing);
void waves_deinit(struct waves *waves);

/* Runs tasks that propose, each with the typer of its worker. Nothing of it is followed yet. */
struct g2h_error *waves_run(struct waves *waves, size_t tasks, workers_task *run, void *context);

/* Follows all that is new, until nothing is. */
struct g2h_error *waves_follow(struct waves *waves);

/* Whether a typer is to wait with a reference, for which the order of references matters. */
bool typer_waits(struct typer *typer, uint32_t object, uint64_t offset,
                 const struct reference *reference);

/* Makes a claim on an object's start again that was taken back: propose.c. */
void typer_claim_again(struct typer *typer, const struct waiting *claim);

/* ---- seeds.c ---- */
void typing_seed_roots(struct typer *typer);
void typer_seed_headers(struct typer *typer, uint32_t first, uint32_t end);
void typer_seed_facts(struct typer *typer);
void typer_sweep(struct typer *typer, uint32_t object);

/* ---- closures.c ---- */

/* Adds a type for each function that a func value may point to. */
struct g2h_error *typing_add_closures(struct typing *typing, struct types *types);

/* ---- reflected.c ---- */

/* Adds the types that package reflect made. */
struct g2h_error *typing_add_reflected(struct typing *typing, struct types *types);

/* Says what their descriptors are. */
void typing_seed_reflected(struct typer *typer);

/* ---- itabs.c ---- */

/* Adds the types of the runtime's tables of itabs in the heap. */
struct g2h_error *typing_add_itab_tables(struct typing *typing, struct types *types);
void typing_seed_itab_tables(struct typer *typer);

/* ---- timers.c ---- */

/* Types what the runtime's timers are in, as far as these are known. */
void typing_seed_timers(struct typer *typer);

/* ---- cleanups.c ---- */

/* Learns the closures of runtime.AddCleanup. */
struct g2h_error *typing_find_cleanups(struct typing *typing);

/* Gathers what the runtime may keep by records that are in no dump. Those who point to nothing know
 * by now what they are. */
void typing_gather_cleanups(struct typer *typer);

/* ---- guess.c ---- */

struct guess_element {
    const struct pointer_map *map;
    uint32_t type; /* or that there are several: see guess.c */
};

/* What types look like as objects. */
struct guesses {
    struct map by_pattern;      /* size class and field list → type */
    struct map elements_by_key; /* size and words → index in elements */
    VECTOR(struct guess_element) elements;
};

struct g2h_error *guesses_init(struct guesses *guesses, struct typing *typing);
void guesses_deinit(struct guesses *guesses);

/* Proposes the only type that an untyped object without malloc header can be. memory is the
 * thread's own, empty at first. False where there is no memory. */
bool typer_guess(struct typer *typer, const struct guesses *guesses, struct map *memory,
                 uint32_t number);

/* ---- judge.c ---- */
struct g2h_error *typing_judge(struct typing *typing);

/* Frees what a shard remembers only while claims come. */
void shard_forget(struct shard *shard);

/* Whether a region comes before another of the same object: by offset, the better one first. */
bool region_is_before(const struct typing *typing, const struct region *one,
                      const struct region *other);

#endif
