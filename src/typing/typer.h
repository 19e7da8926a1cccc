/* typer: declarations shared by the files of this module while types are being found. */
#ifndef TYPING_TYPER_H
#define TYPING_TYPER_H

#include "base/workers.h"
#include "typing/typing.h"

/* A pointer to a target of known type. */
struct reference {
    uint64_t value;
    uint64_t count; /* array: number of values, 0: unknown; text: its length */
    uint32_t type;
    uint32_t target; /* the object; NO_TARGET: not looked up yet */
    uint8_t source;
    uint8_t form; /* enum reference_form */
};

enum reference_form {
    REFERENCE_VALUE,
    REFERENCE_ARRAY,
    REFERENCE_TEXT,
    REFERENCE_CLOSURE, /* the target's first word, a code pointer, determines its type */
    REFERENCE_CONTENT, /* the target's first byte selects one of the two types of the pointer type
                          `type` */
};

/* A claim whose pointer fields are to be followed. */
struct item {
    uint32_t object;
    uint32_t part; /* index in the object's shard; ITEM_START: the claim on its start */
};

#define ITEM_START UINT32_MAX

typedef VECTOR(struct item) item_vector;

/* A reference that waits for the end of its round (waves.c). */
struct typer_waiting {
    uint64_t offset, count; /* the offset in the object; an array's count */
    uint32_t object;
    uint32_t type : 26, source : 3, is_array : 1;
    uint32_t is_claim : 1, is_exact : 1; /* is_claim: it was the claim on the object's start */
};

enum { BATCH = 64 };

/* Whether a type fits the start of all objects of a slot class. Each thread has a cache of these
 * answers. */
enum fit { FIT_UNKNOWN, FIT_NONE, FIT_PART, FIT_EXACT };
struct known_fit {
    const struct pointer_map *map;
    uint32_t slot_class, type;
    enum fit fit;
};

enum { FITS = 1024 };

/* The target of an interface's data word, by the interface's first word. Each thread has a cache of
 * these, since nearly all interfaces hold one of few types. */
struct known_interface {
    uint64_t first;
    uint32_t type;
    uint8_t form; /* enum reference_form */
    bool is_empty;
    enum { INTERFACE_UNKNOWN, INTERFACE_OF_NONE, INTERFACE_LEADS_NOWHERE, INTERFACE_LEADS } state;
};

enum { INTERFACES = 512 };

/* The state of a thread that finds types. */
struct typer {
    struct typing *typing;
    item_vector items;      /* new claims, to be followed */
    uint32_t shared;        /* CLAIM_FRESH while other threads propose as well, else 0 */
    VECTOR(uint32_t) fresh; /* objects with fresh claims on their starts that lead nowhere */
    VECTOR(struct typer_waiting) waiting[SHARDS];
    struct reference batch[BATCH];
    size_t batch_count;
    bool unknown_targets; /* some references of the batch have no target yet */
    struct known_fit fits[FITS];
    struct known_interface interfaces[INTERFACES];
    /* For pointers out of the heap: the holder of the pointers being followed; and, of the pointers
     * in objects, those still to be followed. */
    struct outside_holder holder;
    VECTOR(struct outside_pointer) outside;
    struct map outside_known;
    bool texts_only; /* follow only the strings of objects; otherwise all but strings */
    bool no_memory;
};

static inline bool object_has_pointers(const struct g2h_heap *heap, uint32_t object)
{
    return heap_slot_class(heap, object)->has_pointers;
}

static inline const struct type *typer_type_of(const struct typing *typing, uint32_t type)
{
    return &typing->types->list.data[type];
}

static inline struct shard *shard_of(struct typing *typing, uint32_t object)
{
    return &typing->shards[shard_number(object)];
}

/* Returns the first of an object's parts, or NULL if it has none. */
static inline const struct typed_part *first_part(const struct typing *typing, uint32_t object)
{
    if (!typing_has_parts(typing, object))
        return NULL;
    const struct shard *shard = &typing->shards[shard_number(object)];
    const uint32_t first = map_get(&shard->first, object);
    return first == MAP_NONE ? NULL : &shard->parts.data[first];
}

/* ---- propose.c ---- */

void typer_flush(struct typer *typer);

/* Prefetches the memory of a target that is read first. */
static inline void typer_prefetch_target(const struct typing *typing, enum reference_form form,
                                         uint32_t target)
{
    __builtin_prefetch(&typing->heap->objects[target]);
    __builtin_prefetch(form == REFERENCE_TEXT ? &typing->texts[target] : &typing->claims[target]);
}

/* Records a reference to memory outside the heap, to be followed later. */
void typer_refer_outside(struct typer *typer, const struct outside_holder *holder,
                         enum reference_form form, uint64_t value, uint64_t count, uint32_t type);

/* Returns whether a reference leads out of the heap. Stacks are between objects; a pointer of an
 * object is known to lead to a stack only when it turns out to hit no object. */
static inline bool typer_leads_outside(const struct typer *typer, uint64_t value)
{
    const struct typing *typing = typer->typing;
    return !in_heap_range(typing->heap, value) ||
           (typer->holder.kind != HOLDER_OBJECT && outside_is_stack(&typing->outside, value) &&
            heap_find(typing->heap, value) == NO_TARGET);
}

/*
 * Adds a reference to the batch. References are processed when the batch is full, or by
 * typer_flush(): many at a time, so that the memory for each of them is prefetched before it is
 * read.
 */
static inline void typer_refer(struct typer *typer, enum reference_form form, uint64_t value,
                               uint64_t count, uint32_t type, uint32_t target, enum source source)
{
    const struct typing *typing = typer->typing;
    if (target == NO_TARGET && typer_leads_outside(typer, value)) {
        typer_refer_outside(typer, &typer->holder, form, value, count, type);
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
        typer_prefetch_target(typing, form, target);
}

/*
 * Proposes a type for an object; the reference is not to a text. While other threads propose as
 * well, only order-independent work is done at once (waves.c).
 */
void typer_propose(struct typer *typer, uint32_t object, uint64_t offset,
                   const struct reference *reference);

/* ---- fields.c ---- */

/*
 * An index of the field list of a large object: where the fields of each part of the object begin
 * in the list, and how many fields may still be read, since millions of pointers may lead into one
 * object.
 */
struct field_index {
    VECTOR(uint64_t)
    starts;        /* by offset / FIELD_STRIDE: distance from the beginning of the list to the first
                      field at or after that offset; the last one is the list's end */
    uint64_t left; /* fields that may still be read: more than enough for sane programs */
    struct {
        uint32_t type;
        uint64_t values; /* 0: not an array of the type; else the number of values, plus 1 */
    } tried[8];
    unsigned tried_count;
};

enum { FIELD_STRIDE = 512, INDEXED_SIZE = 2048 };

/* Returns the index of an object, which is made at the first call, or NULL if the object is small
 * or memory runs out. */
struct field_index *typer_field_index(struct typer *typer, uint32_t object,
                                      const struct g2h_object *record);
void field_index_destroy(struct field_index *index);

/* Returns the fields from offset on, and maybe a few before it. */
static inline struct g2h_fields fields_near(const struct g2h_object *record,
                                            const struct field_index *index, uint64_t offset)
{
    struct g2h_fields fields = record->fields;
    const uint64_t stride = offset / FIELD_STRIDE;
    if (index)
        fields.at +=
            index->starts.data[stride < index->starts.count ? stride : index->starts.count - 1];
    return fields;
}

/* Subtracts fields from the number that may still be read. Returns false if none were left. */
static inline bool field_index_take(struct field_index *index, uint64_t fields)
{
    if (!index)
        return true;
    const bool any = index->left > 0;
    index->left -= MIN(fields, index->left);
    return any;
}

/* ---- follow.c ---- */

/* Memory that can be read. */
struct extent {
    const uint8_t *begin, *end;
};

/* Adds a reference to the target of a value's pointer field. target is the object, or NO_TARGET if
 * unknown. at points to the field in the extent, which has at least pointer_field_size() bytes
 * there. */
void typer_follow(struct typer *typer, const uint8_t *at, const struct extent *extent,
                  const struct pointer_field *field, uint32_t target, enum source source);

/* Adds a reference to the target of an interface's data word, by the interface's first word.
 * Returns false if the first word determines no type. */
bool typer_follow_interface(struct typer *typer, uint64_t first, uint64_t data, bool is_empty,
                            uint32_t target, enum source source);

/* Adds a reference to an array whose length is not known. */
void typer_follow_array(struct typer *typer, uint64_t value, uint32_t elem, enum source source);

/* Follows the pointer fields of a claim: if typer->texts_only is set, its strings, which lead no
 * further, else all other fields. */
void typer_follow_item(struct typer *typer, const struct item *item);

/* ---- outside.c ---- */

/* Follows the pointers out of the heap, and all pointers found there. Runs on one thread. */
void typer_follow_outside(struct typer *typer);

/* Takes over the pointers out of the heap that another thread has found in objects, or returns
 * false if memory runs out. typer_sort_outside() then sorts all of them and drops duplicates, so
 * that they do not depend on the threads. */
bool typer_take_outside(struct typer *alone, struct typer *other);
void typer_sort_outside(struct typing *typing);

/* ---- waves.c ---- */

/* The threads that find types, and the claims that they follow. */
struct waves {
    struct typing *typing;
    struct typer *typers; /* by thread; the first typer is also the one that works alone */
    item_vector wave;     /* the claims that are being followed */
};

/* Errors: G2H_ERROR_MEMORY. */
struct g2h_error *waves_init(struct waves *waves, struct typing *typing);
void waves_deinit(struct waves *waves);

/* Runs tasks that propose types, each with the typer of its worker. The new claims are not followed
 * yet. */
struct g2h_error *waves_run(struct waves *waves, size_t tasks, workers_task *run, void *context);

/* Follows all new claims, until there are no more. */
struct g2h_error *waves_follow(struct waves *waves);

/* Makes again a claim on an object's start that was withdrawn: propose.c. */
void typer_claim_again(struct typer *typer, const struct typer_waiting *claim);

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

/* Assigns types to the descriptors of these types. */
void typing_seed_reflected(struct typer *typer);

/* ---- itabs.c ---- */

/* Adds the types of the runtime's tables of itabs in the heap. */
struct g2h_error *typing_add_itab_tables(struct typing *typing, struct types *types);
void typing_seed_itab_tables(struct typer *typer);

/* ---- spilled.c ---- */

struct coded;

/* Types the objects that only words of frames lead to, as far as the code determines their types.
 * Error: G2H_ERROR_MEMORY. */
struct g2h_error *typing_seed_spilled(struct typer *typer, struct coded *coded);

/* ---- coded.c ---- */

/* Follows the words of data and bss that no symbol describes, as far as the code determines their
 * types. Error: G2H_ERROR_MEMORY. */
struct g2h_error *typing_seed_coded(struct typer *typer, struct coded *coded);
struct g2h_error *typing_find_cells(struct typing *typing);

/* ---- timers.c ---- */

/* Types the objects that contain the runtime's timers, as far as the timers are known. */
void typing_seed_timers(struct typer *typer);

/* ---- once.c ---- */

/* Finds the closures of sync.OnceValue and sync.OnceValues. */
struct g2h_error *typing_find_once(struct typing *typing);

/* Proposes types for the objects that a closure with this code holds, if it is one of these. */
void typer_follow_once(struct typer *typer, const struct g2h_object *closure, uint64_t code);

/* ---- cleanup_types.c ---- */

/* Finds the closure functions of runtime.AddCleanup, and whether the program may have weak
 * pointers. */
struct g2h_error *typing_find_cleanups(struct typing *typing);

/* Gathers the objects that the runtime may keep alive by records that no dump contains. Runs after
 * the sweep, which has typed the closures that nothing points to. */
void typing_gather_cleanups(struct typer *typer);

/* ---- guess.c ---- */

struct guess_element {
    const struct pointer_map *map;
    uint32_t type; /* AMBIGUOUS if there are several: see guess.c */
};

struct guess_candidate {
    uint32_t type;
    uint32_t next; /* another one with the same pattern; MAP_NONE: none */
};

/* The patterns of values and arrays of types as objects. */
struct guesses {
    struct map by_pattern;      /* size class and field list → type */
    struct map last_by_pattern; /* the same → index in candidates */
    VECTOR(struct guess_candidate) candidates;
    struct map elements_by_key; /* size and words → index in elements */
    VECTOR(struct guess_element) elements;
};

struct g2h_error *guesses_init(struct guesses *guesses, struct typing *typing);
void guesses_deinit(struct guesses *guesses);

/* Proposes the only type that an untyped object without malloc header can have. cache is the
 * thread's own, empty at first. Returns false if memory runs out. */
bool typer_guess(struct typer *typer, const struct guesses *guesses, struct map *cache,
                 uint32_t number);

/* ---- judge.c ---- */
struct g2h_error *typing_judge(struct typing *typing);

/* Frees the data of a shard that is needed only while claims are added. */
void shard_forget(struct shard *shard);

/* Returns whether a part comes before another part of the same object: they are ordered by offset,
 * the better one first. */
bool part_is_before(const struct typing *typing, const struct typed_part *one,
                    const struct typed_part *other);

#endif
