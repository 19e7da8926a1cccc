/*
 * cleanup_types: the objects that runtime.AddCleanup and weak pointers keep alive by records of the
 * runtime that no dump contains (mheap.go, special).
 *
 * In Go 1.24 and 1.25 a cleanup is one closure, of runtime.AddCleanup[…].func1, which has the
 * function and the argument's address. Nothing points to it. Since 1.26 a cleanup is three objects
 * that do not refer to each other: the closure, which has only the instance's dictionary; a box
 * with the argument; and the function's own closure, if it has captured variables. The dictionary
 * has the argument's type, which determines the pattern of its box. A process has records of which
 * box belongs to a closure. In a dump, among the objects that nothing at all points to, as many as
 * there are cleanups of a type are taken as their boxes: if there is no garbage, these are all of
 * them.
 *
 * A weak pointer points to a handle: a word with an object's address, which the collector does not
 * follow. The runtime keeps the handle as long as the object is alive.
 *
 * Called in this order: typing_find_cleanups() finds the functions by which closures of cleanups
 * are known, before objects get types; typing_gather_cleanups() lists in typing->cleanup_parts,
 * after that, what may be kept; typing_cleanup_code() then tells what a cleanup calls
 * (graph/cleanups.c).
 *
 * A typer is the state of one thread that finds types. To propose or claim a type for an object is
 * to note it as a candidate (claims.h); the best one wins in the end (judge.c).
 */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "heap/kept.h"
#include "heap/pointers.h"
#include "typing/fit.h"

enum {
    SINCE_HANDLES = 23,    /* weak handles; cleanups came a release later */
    SINCE_REFERENCE = 25,  /* from here on the closure has the address of a word with the function,
                              not the function */
    SINCE_BOXES = 26,      /* cleanups are three objects, handles have a block of their own */
    DICTIONARY_WORDS = 16, /* words of a dictionary that are examined: of its 5 to 23 words, the
                              first dozen have the types */
    CLOSURE_WORDS = 8,     /* words of a closure that are examined; it has 2 to 4 */
    TINY = 16,             /* maxTinySize */
    MOST_ARGUMENTS = 256   /* types of arguments */
};

/* ---- functions and types ---- */

/* Finds the functions by which closures of cleanups are known. runtime.AddCleanup is generic, so
 * each instance has a closure function of its own. Only programs that use weak pointers contain
 * runtime.getOrAddWeakHandle: the linker drops unused functions. */
struct g2h_error *typing_find_cleanups(struct typing *typing)
{
    const uint64_t functions =
        typing->release.minor < SINCE_HANDLES ? 0 : exe_function_count(typing->exe);
    for (uint64_t i = 0; i < functions; i++) {
        struct g2h_bytes name;
        const uint64_t entry = exe_function(typing->exe, i, &name);
        uint32_t first;
        if (bytes_begin(name, "runtime.getOrAddWeakHandle"))
            typing->has_weak_handles = true;
        typing->has_inlined_cleanups |=
            bytes_contain(name, ".AddCleanup[") && !bytes_begin(name, "runtime.AddCleanup[");
        if (bytes_begin(name, "runtime.AddCleanup[") && bytes_end(name, ".func1") &&
            !map_put(&typing->cleanup_by_entry, entry, 1, &first))
            return &error_no_memory;
    }
    return NULL;
}

/* Finds the name of T, the parameter of a type "func(T)", in the name of that type. Returns false
 * if the type has another form. */
static bool parameter_of(const struct types *types, uint32_t type, const char **ret_text,
                         size_t *ret_size)
{
    const struct g2h_bytes name = types_name(types, type);
    const size_t before = strlen("func(");
    if (types_get(types, type)->kind != TYPE_FUNC || name.size < sizeof("func()") ||
        !bytes_begin(name, "func(") || !bytes_end(name, ")"))
        return false;
    *ret_text = (const char *)name.data + before;
    *ret_size = (size_t)(name.size - before - 1);
    return true;
}

/*
 * Returns S, the type of a cleanup's argument, or TYPE_NONE. It is in the dictionary of
 * runtime.AddCleanup[T, S] or, since Go 1.26, of runtime.callCleanup[S], which has the types
 * func(S), followed by S or *S.
 */
static uint32_t argument_in_dictionary(const struct typing *typing, uint64_t address)
{
    const struct types *types = typing->types;
    const uint64_t word = typing->heap->params.pointer_size;
    uint32_t in[DICTIONARY_WORDS], wanted = 0;
    bool is_known = false;
    if (in_heap_range(typing->heap, address))
        return TYPE_NONE;
    /* The first func(S) in the dictionary gives the name of S, ... */
    for (unsigned i = 0; i < DICTIONARY_WORDS; i++) {
        const char *text;
        size_t size;
        in[i] = types_at(types, typing_word(typing, address + i * word));
        if (in[i] != TYPE_NONE && !is_known && parameter_of(types, in[i], &text, &size))
            is_known = string_pool_find(&types->names, text, size, &wanted);
    }
    /* ... and an entry S, or *S, its type. */
    for (unsigned i = 0; i < DICTIONARY_WORDS && is_known; i++) {
        if (in[i] == TYPE_NONE)
            continue;
        const struct type *type = typer_type_of(typing, in[i]);
        if (type->name == wanted)
            return in[i];
        if (type->kind == TYPE_POINTER && type->elem < types->list.count &&
            typer_type_of(typing, type->elem)->name == wanted)
            return type->elem;
    }
    return TYPE_NONE;
}

/* Returns whether an object is the closure of a cleanup, by the code that it points to. *ret is
 * then the object. */
static bool is_cleanup(const struct typing *typing, uint32_t object, struct g2h_object *ret)
{
    const uint32_t claim = typing->claims[object];
    if (claim == 0 || typer_type_of(typing, (claim & CLAIM_TYPE) - 1)->role != ROLE_CLOSURE)
        return false;
    heap_object(typing->heap, object, ret);
    return ret->contents.size >= 2 * (uint64_t)typing->heap->params.pointer_size &&
           map_get(&typing->cleanup_by_entry, heap_word(typing->heap, ret->contents.data)) !=
               MAP_NONE;
}

/* Returns the type of a cleanup's argument, or TYPE_NONE. The dictionary is usually the last word
 * of the closure. */
static uint32_t argument_type(const struct typing *typing, const struct g2h_object *closure)
{
    const uint64_t word = typing->heap->params.pointer_size;
    uint64_t words = closure->contents.size / word;
    uint32_t type = TYPE_NONE;
    if (words > CLOSURE_WORDS)
        words = CLOSURE_WORDS;
    while (words-- > 1 && type == TYPE_NONE)
        type = argument_in_dictionary(
            typing, heap_word(typing->heap, closure->contents.data + words * word));
    return type;
}

/* Reads the second word of the cleanup's closure: until Go 1.24 the func value that the cleanup
 * calls, in 1.25 the address of it. A func value points to a closure, whose first word is the
 * code. */
uint64_t typing_cleanup_code(const struct typing *typing, uint32_t object)
{
    struct g2h_object closure;
    heap_object(typing->heap, object, &closure);
    const uint64_t word = typing->heap->params.pointer_size;
    if (typing->release.minor >= SINCE_BOXES || closure.contents.size < 2 * word)
        return 0;
    uint64_t function = heap_word(typing->heap, closure.contents.data + word);
    if (typing->release.minor >= SINCE_REFERENCE)
        function = typing_word(typing, function);
    return function == 0 ? 0 : typing_word(typing, function);
}

/* ---- objects that nothing points to ---- */

/* The boxes of arguments of one type. */
struct wanted_box {
    uint64_t size; /* of the type */
    uint32_t type;
    uint32_t left; /* boxes that are still wanted */
};

struct cleanup_types_gatherer {
    struct typer *typer;
    uint64_t *pointed; /* a bit per object */
    VECTOR(struct wanted_box) boxes;
    struct map box_of_type;
    struct map box_of_closure; /* object → object, from the records of a process */
    uint32_t handle_type;
};

/* Marks an object as the target of a pointer. */
static void mark_pointed(struct cleanup_types_gatherer *gatherer, uint32_t object)
{
    if (object != NO_TARGET)
        bits_add(gatherer->pointed, object);
}

/* Marks the objects that a root points to. */
static void mark_pointed_by_words(void *gatherer, struct pointers *pointers)
{
    uint64_t offset, value;
    while (pointers_next(pointers, &offset, &value))
        mark_pointed(gatherer, heap_find(pointers->heap, value));
}

/* Marks every object that another object, a root or a process's record of a cleanup points to. Only
 * the unmarked rest can be boxes and handles. Returns false if memory runs out. */
static bool mark_all_pointed(struct cleanup_types_gatherer *gatherer)
{
    const struct typing *typing = gatherer->typer->typing;
    const struct g2h_heap *heap = typing->heap;
    gatherer->pointed =
        zeroed_alloc((size_t)heap->object_count / 64 + 1, sizeof(*gatherer->pointed));
    if (!gatherer->pointed)
        return false;
    for (size_t i = 0; i < typing->targets->block_count; i++) {
        const struct target_block *block = &typing->targets->blocks[i];
        for (uint32_t j = 0; j < block->starts[block->objects]; j++)
            mark_pointed(gatherer, block->targets[j]);
    }
    pointers_of_roots(heap, mark_pointed_by_words, gatherer); /* stale words do not count */
    const struct map *boxes = &gatherer->box_of_closure;
    for (size_t i = 0; boxes->entries && i <= boxes->mask; i++)
        if (boxes->entries[i].value != MAP_NONE)
            mark_pointed(gatherer, boxes->entries[i].value);
    return true;
}

/* Notes an object that a cleanup or weak pointer keeps. Returns false if memory runs out. */
static bool cleanup_types_add_part(struct typing *typing, uint32_t object, uint32_t type,
                                   enum cleanup_part_kind kind)
{
    const struct cleanup_part part = {object, type, kind};
    return vector_push(&typing->cleanup_parts, part);
}

/* ---- cleanups ---- */

/* Notes that one more box with an argument of this type is to be found among the objects that
 * nothing points to. Since 1.26 a box is an object of its own. Returns false if memory runs out. */
static bool expect_box(struct cleanup_types_gatherer *gatherer, uint32_t type)
{
    uint32_t number = as_u32(gatherer->boxes.count);
    if (type == TYPE_NONE || number >= MOST_ARGUMENTS)
        return true;
    const struct wanted_box box = {typer_type_of(gatherer->typer->typing, type)->size, type, 0};
    if (!map_put(&gatherer->box_of_type, type, number, &number) ||
        (number == gatherer->boxes.count && !vector_push(&gatherer->boxes, box)))
        return false;
    gatherer->boxes.data[number].left++;
    return true;
}

/* Follows a closure from before 1.26 to its argument and its function. Its words are the code, the
 * function (in 1.25 the address of a word with it: AddCleanup's parameter is captured by
 * reference), and the argument's address; this is missing if the argument has no size. The
 * closure's own type does not determine the argument's, since all types of arguments with the same
 * GC shape share it. */
static void follow_closure(struct typer *typer, const struct g2h_object *closure, uint32_t argument)
{
    const struct typing *typing = typer->typing;
    const uint64_t word = typing->heap->params.pointer_size;
    const uint64_t function = heap_word(typing->heap, closure->contents.data + word);
    typer_refer(typer, REFERENCE_CLOSURE,
                typing->release.minor >= SINCE_REFERENCE ? typing_word(typing, function) : function,
                0, 0, NO_TARGET, SOURCE_CLOSURE);
    if (argument != TYPE_NONE && typer_type_of(typing, argument)->size > 0 &&
        closure->contents.size >= 3 * word)
        typer_refer(typer, REFERENCE_VALUE,
                    heap_word(typing->heap, closure->contents.data + 2 * word), 0, argument,
                    NO_TARGET, SOURCE_CLOSURE);
}

/* Types the box of a cleanup's argument if the process has a record of it; otherwise notes that it
 * has to be searched for. Returns false if memory runs out. */
static bool find_box(struct cleanup_types_gatherer *gatherer, uint32_t closure, uint32_t argument)
{
    struct typer *typer = gatherer->typer;
    const uint32_t box = map_get(&gatherer->box_of_closure, closure);
    if (box == MAP_NONE)
        return expect_box(gatherer, argument);
    if (argument != TYPE_NONE && typer_type_of(typer->typing, argument)->size > 0)
        typer_refer(typer, REFERENCE_VALUE,
                    heap_address(typer->typing->heap, box) +
                        heap_object_base(typer->typing->heap, box),
                    0, argument, NO_TARGET, SOURCE_CLOSURE);
    return true;
}

/* Lists the closures of all cleanups with the types of their arguments, and types what belongs to
 * them: before 1.26 what the closure's words lead to, since then the box. Returns false if memory
 * runs out. */
static bool gather_closures(struct cleanup_types_gatherer *gatherer)
{
    struct typer *typer = gatherer->typer;
    struct typing *typing = typer->typing;
    if (!typing->cleanup_by_entry.entries)
        return true;
    for (uint32_t object = 0; object < typing->heap->object_count; object++) {
        struct g2h_object closure;
        if (!is_cleanup(typing, object, &closure))
            continue;
        const uint32_t argument = argument_type(typing, &closure);
        if (!cleanup_types_add_part(typing, object, argument, CLEANUP_CLOSURE))
            return false;
        if (typing->release.minor < SINCE_BOXES)
            follow_closure(typer, &closure, argument);
        else if (!find_box(gatherer, object, argument))
            return false;
    }
    typer_flush(typer);
    return !typer->no_memory;
}

/* ---- boxes and handles ---- */

/* Returns whether all bytes from offset on are 0. */
static bool is_zero_from(const struct g2h_bytes *contents, uint64_t offset)
{
    while (offset < contents->size && contents->data[offset] == 0)
        offset++;
    return offset >= contents->size;
}

/* Returns whether an object holds a handle: the address of an object. Before 1.26 a handle is one
 * of several small values of a block; since then it has a block of its own, and may point to
 * any offset of the object. */
static bool is_handle(const struct typing *typing, const struct g2h_object *object)
{
    const struct g2h_heap *heap = typing->heap;
    const uint64_t word = heap->params.pointer_size;
    if (object->contents.size != TINY)
        return false;
    for (uint64_t offset = 0; offset < TINY; offset += 8) {
        const uint64_t value = heap_word(heap, object->contents.data + offset);
        const uint32_t target = heap_find(heap, value);
        if (typing->release.minor >= SINCE_BOXES)
            return target != UINT32_MAX && is_zero_from(&object->contents, word);
        if (target != UINT32_MAX &&
            value == heap_address(heap, target) + heap_object_base(heap, target))
            return true;
    }
    return false;
}

/* Returns whether an object may be the box of a value of a type (number), by its size, its pointers
 * and the zeros after the value; if so, claims it as one. A value that is small and has no pointers
 * shares its block with others, so that block is not claimed. */
static bool claim_box(struct typer *typer, uint32_t object, const struct g2h_object *record,
                      uint32_t number)
{
    const struct typing *typing = typer->typing;
    const struct type *type = typer_type_of(typing, number);
    const uint64_t base = heap_object_base(typing->heap, object);
    const struct pointer_map *map = pointer_map_of(&typer->typing->pointer_maps, number);
    if (!map) {
        typer->no_memory = true;
        return false;
    }
    const bool is_tiny = type->size < TINY && map->word_count == 0;
    const uint64_t size = is_tiny ? TINY : type->size;
    if (record->contents.size != heap_object_size(typing->heap, object) ||
        !fits_class(typing, size + base, record->contents.size) ||
        (map->word_count > 0) != object_has_pointers(typing->heap, object) ||
        !is_zero_from(&record->contents, base + type->size))
        return false;
    if (is_tiny)
        return true;
    const struct reference reference = {.value = record->address + base,
                                        .type = number,
                                        .source = SOURCE_GUESS,
                                        .form = REFERENCE_VALUE};
    typer_propose(typer, object, base, &reference);
    return (typing->claims[object] & CLAIM_TYPE) == number + 1;
}

/* Adds an object, to which nothing points, to the parts of cleanups if it is a cleanup's function
 * (a closure of no other use, since Go 1.26), a handle of a weak pointer, or the box of an argument
 * that is still wanted. Returns false if memory runs out. */
static bool gather_part(struct cleanup_types_gatherer *gatherer, uint32_t object)
{
    struct typer *typer = gatherer->typer;
    struct typing *typing = typer->typing;
    const uint32_t claim = typing->claims[object];
    struct g2h_object record;
    if (claim != 0 && typer_type_of(typing, (claim & CLAIM_TYPE) - 1)->role == ROLE_CLOSURE)
        return is_cleanup(typing, object, &record) || typing->release.minor < SINCE_BOXES ||
               cleanup_types_add_part(typing, object, (claim & CLAIM_TYPE) - 1, CLEANUP_FUNCTION);
    if (gatherer->boxes.count == 0 && heap_object_size(typing->heap, object) != TINY)
        return true; /* it is neither a box nor a handle */
    heap_object(typing->heap, object, &record);
    if (typing->has_weak_handles && !object_has_pointers(typing->heap, object) &&
        is_handle(typing, &record)) {
        const struct reference reference = {.value = record.address,
                                            .type = gatherer->handle_type,
                                            .source = SOURCE_GUESS,
                                            .form = REFERENCE_VALUE};
        if (gatherer->handle_type != TYPE_NONE && typing->release.minor >= SINCE_BOXES)
            typer_propose(typer, object, 0, &reference);
        return cleanup_types_add_part(typing, object, TYPE_NONE, CLEANUP_HANDLE);
    }
    VECTOR_EACH(struct wanted_box, box, gatherer->boxes) {
        if (box->left == 0 || (claim != 0 && (claim & CLAIM_TYPE) != box->type + 1) ||
            !claim_box(typer, object, &record, box->type))
            continue;
        box->left--;
        return cleanup_types_add_part(typing, object, box->type, CLEANUP_ARGUMENT);
    }
    return !typer->no_memory;
}

/* Sorts the boxes of small values first: the rest of a box after its value is zero, so that a small
 * value's box might be taken for a large value's as well. */
static int compare_boxes(const void *a, const void *b)
{
    const struct wanted_box *one = a;
    const struct wanted_box *other = b;
    if (one->size != other->size)
        return COMPARE(one->size, other->size);
    return COMPARE(one->type, other->type);
}

/* Finds the closures of all cleanups, and then the boxes and handles among the objects that nothing
 * points to. Returns false if memory runs out. */
static bool cleanup_types_gather(struct cleanup_types_gatherer *gatherer)
{
    const struct typing *typing = gatherer->typer->typing;
    if ((typing->release.minor >= SINCE_BOXES &&
         !kept_boxes(typing->heap, &gatherer->box_of_closure)) ||
        !gather_closures(gatherer))
        return false;
    /* If there can be neither boxes nor handles, all parts have been found. */
    if (!typing->has_weak_handles &&
        (typing->release.minor < SINCE_BOXES || typing->cleanup_parts.count == 0))
        return true;
    if (!mark_all_pointed(gatherer))
        return false;
    if (gatherer->boxes.count > 0)
        qsort(gatherer->boxes.data, gatherer->boxes.count, sizeof(*gatherer->boxes.data),
              compare_boxes);
    for (uint32_t object = 0; object < typing->heap->object_count; object++)
        if (!bits_have(gatherer->pointed, object) && !gather_part(gatherer, object))
            return false;
    return true;
}

/* Returns whether the parts of each kind are ascending by object. */
static _asserted_ bool parts_ascend(const struct typing *typing)
{
    uint32_t behind[CLEANUP_HANDLE + 1] = {0};
    VECTOR_EACH(const struct cleanup_part, part, typing->cleanup_parts) {
        if (part->object < behind[part->kind])
            return false;
        behind[part->kind] = part->object + 1;
    }
    return true;
}

/* Gathers the objects that cleanups keep. Nothing for releases without cleanups and weak
 * handles. */
void typing_gather_cleanups(struct typer *typer)
{
    struct cleanup_types_gatherer gatherer = {.typer = typer};
    if (typer->typing->release.minor < SINCE_HANDLES)
        return;
    gatherer.handle_type = types_find(typer->typing->types, WEAK_HANDLE_TYPE);
    if (!cleanup_types_gather(&gatherer))
        typer->no_memory = true;
    assert(parts_ascend(typer->typing));
    free(gatherer.pointed);
    free(gatherer.boxes.data);
    map_deinit(&gatherer.box_of_type);
    map_deinit(&gatherer.box_of_closure);
}
