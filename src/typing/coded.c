/*
 * coded: the types of words that only the program's code tells, for executables without DWARF; see
 * coded.h.
 *
 * The analysis of code (exe/go/static_words.h, flow.h) has found how functions use words of data
 * and bss: as the receiver of a method, as what runtime.newobject returned, and so on. Each such
 * piece of evidence gives the word a type (evidence_start, then the loads of coded_type), and
 * coded_agree() combines all pieces about one word. What is known then is followed into the heap
 * like a variable of DWARF (seed_known). The last part of the file answers which code uses an
 * address, for names.
 */
#include "typing/coded.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/port.h"
#include "heap/pointers.h"
#include "typing/fit.h"

/* ---- types ---- */

/* Notes a type that is an instance of a generic one, such as main.stack[int], by the name before
 * the bracket; if there are several instances, that none is the only one (SEVERAL_INSTANCES). Other
 * types, and instances for shapes, are passed over. Returns false if memory runs out. */
static bool coded_add_generic(struct coded *coded, uint32_t type)
{
    static const char shape[] = "go.shape.";
    const struct g2h_bytes name = types_name(coded->typing->types, type);
    const uint8_t *bracket = memchr(name.data, '[', name.size);
    uint32_t known;
    if (!bracket || bracket == name.data || name.data[name.size - 1] != ']' ||
        memchr("*<", name.data[0], 2) || bytes_begin(name, "map[") || bytes_begin(name, "func") ||
        bytes_begin(name, "chan ") || memchr(name.data, ' ', as_size(bracket - name.data)) ||
        memmem(name.data, name.size, shape, sizeof(shape) - 1))
        return true;
    const uint64_t key = map_hash_text(name.data, as_size(bracket - name.data) + 1);
    if (!map_put(&coded->by_generic, key, type, &known))
        return false;
    if (known != type && known != SEVERAL_INSTANCES &&
        !bytes_same(types_name(coded->typing->types, known), name))
        map_set(&coded->by_generic, key, SEVERAL_INSTANCES);
    return true;
}

/* Prepares the search of code for types of words. Maps the names of all types that have a size to
 * their numbers, if the machine's code can be read; otherwise nothing will be found. */
struct g2h_error *coded_init(struct coded *coded, const struct typing *typing)
{
    const struct types *types = typing->types;
    *coded = (struct coded){.typing = typing};
    TRY(exe_flow(typing->exe, &coded->flow));
    for (uint32_t i = 0; i < types->list.count && flow_can_read(&coded->flow); i++) {
        uint32_t first;
        TRY_MEMORY(types_size(types, i) == 0 ||
                   (map_put(&coded->by_name, types_get(types, i)->name, i, &first) &&
                    coded_add_generic(coded, i)));
    }
    return NULL;
}

void coded_deinit(struct coded *coded)
{
    flow_deinit(&coded->flow);
    map_deinit(&coded->by_name);
    map_deinit(&coded->by_generic);
}

/* Returns a word type, which is unknown if the type is. */
static struct word_type word_type(enum word_is is, uint32_t type)
{
    return (struct word_type){type == TYPE_NONE ? WORD_IS_UNKNOWN : is, type, false};
}

/* Returns the word type of the first word of a value of a type. */
static struct word_type word_of_value(const struct typing *typing, uint32_t number)
{
    if (number >= typing->types->list.count)
        return word_type(WORD_IS_UNKNOWN, TYPE_NONE);
    const struct type *type = typer_type_of(typing, number);
    switch (type->kind) {
    case TYPE_POINTER:
        return type->target == TARGET_ONE && type->elem < typing->types->list.count
                   ? word_type(WORD_POINTS_TO, type->elem)
                   : word_type(WORD_IS_VALUE, number);
    case TYPE_SLICE:
        return word_type(WORD_POINTS_TO_MANY, type->elem);
    case TYPE_MAP:
    case TYPE_CHAN:
    case TYPE_FUNC:
        return word_type(WORD_IS_VALUE, number);
    default:
        return word_type(WORD_IS_UNKNOWN, TYPE_NONE);
    }
}

/* Returns the word type of the word at an offset in a value of a type. Enters fields and elements
 * until a type has none; DEEPEST stops at damaged types that contain themselves. */
static struct word_type word_type_at(const struct typing *typing, uint32_t type, uint64_t offset)
{
    enum { DEEPEST = 64 };
    for (unsigned i = 0; i < DEEPEST && type < typing->types->list.count; i++)
        if (!types_step_into(typing->types, &type, &offset)) /* it is not at the value's start: */
            return offset == 0
                       ? word_of_value(typing, type) /* the data word of an interface, say */
                       : word_type(WORD_IS_UNKNOWN, TYPE_NONE);
    return word_type(WORD_IS_UNKNOWN, TYPE_NONE);
}

/* Returns the word type of the data word of an interface that holds a type. */
static struct word_type word_of_data(const struct typing *typing, uint32_t type)
{
    if (type == TYPE_NONE)
        return word_type(WORD_IS_UNKNOWN, TYPE_NONE);
    return typer_type_of(typing, type)->direct_interface ? word_type_at(typing, type, 0)
                                                         : word_type(WORD_POINTS_TO, type);
}

/* ---- receivers ---- */

/* Returns the type with a name, or TYPE_NONE. */
static uint32_t coded_type_named(const struct coded *coded, const void *name, size_t size)
{
    uint32_t found;
    if (!string_pool_find(&coded->typing->types->names, name, size, &found))
        return TYPE_NONE;
    found = map_get(&coded->by_name, found);
    return found == MAP_NONE ? TYPE_NONE : found;
}

/* Returns the type with the arguments of another generic type of the same package: of
 * "main.node[int]" and "main.list[", "main.list[int]"; or TYPE_NONE. */
static uint32_t coded_sibling(const struct coded *coded, const char *start, struct g2h_bytes other)
{
    const size_t size = strlen(start);
    const char *slash = memrchr(start, '/', size);
    const char *dot = strchr(slash ? slash : start, '.');
    const uint8_t *bracket = memchr(other.data, '[', other.size);
    char name[1024];
    const size_t package = dot ? as_size(dot - start) + 1 : 0;
    if (!dot || !bracket || other.size < package || memcmp(other.data, start, package) != 0)
        return TYPE_NONE;
    const size_t rest = as_size(other.data + other.size - bracket) - 1;
    if (rest >= sizeof(name) - size) /* size is less: coded_receiver_of() has the name in 512 */
        return TYPE_NONE;
    memcpy(name, start, size);
    memcpy(name + size, bracket + 1, rest);
    return coded_type_named(coded, name, size + rest);
}

/* Returns the type whose name begins with a prefix, "main.stack[", in the dictionary of such a
 * type; if it is not there, the one with the arguments of another type there, or the only one of
 * the executable. Its types are contiguous, after addresses of other things
 * (cmd/compile/internal/noder/reader.go: readerDict). */
static uint32_t find_in_dictionary(const struct coded *coded, const char *start,
                                   uint64_t dictionary)
{
    const struct typing *typing = coded->typing;
    uint32_t sibling = TYPE_NONE;
    enum { MOST_WORDS = 128 };
    const uint64_t word = typing->heap->params.pointer_size;
    bool has_types = false;
    for (uint64_t i = 0; i < MOST_WORDS; i++) {
        const uint64_t address = typing_word(typing, dictionary + i * word);
        uint32_t type = types_at(typing->types, address);
        if (type == TYPE_NONE && (has_types || address == 0))
            break; /* the types are over, or the dictionary is, or it is not in the file */
        if (type == TYPE_NONE)
            continue;
        has_types = true;
        /* The method may use only *T of the type T that is searched. */
        if (typer_type_of(typing, type)->kind == TYPE_POINTER &&
            typer_type_of(typing, type)->elem < typing->types->list.count)
            type = typer_type_of(typing, type)->elem;
        if (bytes_begin(types_name(typing->types, type), start) &&
            !typer_type_of(typing, type)->is_generic)
            return type;
        if (sibling == TYPE_NONE)
            sibling = coded_sibling(coded, start, types_name(typing->types, type));
    }
    if (sibling != TYPE_NONE)
        return sibling;
    const uint32_t only = map_get(&coded->by_generic, map_hash_text(start, strlen(start)));
    return only < typing->types->list.count ? only : TYPE_NONE;
}

/* Returns the word type of a method's receiver: of "net/http.(*T).Close" a pointer to T, of
 * "net/url.Values.Get" a value, and of "main.(*stack[go.shape.int]).push" a pointer to the type
 * that its dictionary has. Unknown if the name has another form. */
static struct word_type coded_receiver_of(const struct coded *coded,
                                          const struct code_evidence *evidence)
{
    const struct g2h_bytes method = pclntab_name(coded->flow.pclntab, evidence->what);
    const struct typing *typing = coded->typing;
    char name[512];
    const uint8_t *star = memmem(method.data, method.size, ".(*", 3);
    if (!star) {
        const uint8_t *dot = memrchr(method.data, '.', method.size);
        return dot ? word_type_at(coded->typing,
                                  coded_type_named(coded, method.data, as_size(dot - method.data)),
                                  0)
                   : word_type(WORD_IS_UNKNOWN, TYPE_NONE);
    }
    /* "pkg.(*T).m" or "pkg.(*T[shape]).m": the name of the type is "pkg.T" or begins with
     * "pkg.T[". */
    const uint64_t behind = as_size(method.data + method.size - star);
    const uint8_t *bracket = memchr(star, '[', (size_t)behind),
                  *end = bracket ? bracket + 1 : memchr(star, ')', (size_t)behind);
    if (!end || as_size(end - method.data) > sizeof(name))
        return word_type(WORD_IS_UNKNOWN, TYPE_NONE);
    const size_t package = as_size(star - method.data) + 1;
    const size_t rest = as_size(end - star) - 3;
    memcpy(name, method.data, package);
    memcpy(name + package, star + 3, rest);
    name[package + rest] = '\0';
    uint32_t receiver = TYPE_NONE;
    if (!bracket)
        receiver = coded_type_named(coded, name, package + rest);
    else if (evidence->dictionary != 0)
        receiver = find_in_dictionary(coded, name, evidence->dictionary + exe_slide(typing->exe));
    struct word_type type = word_type(WORD_POINTS_TO, receiver);
    type.is_receiver = true;
    return type;
}

/* Returns the only type that the closure of a function may have, that with the most captured
 * variables, or TYPE_NONE. */
static uint32_t coded_closure_at(const struct typing *typing, uint64_t entry)
{
    const uint32_t type = map_get(&typing->closure_by_entry, entry);
    /* Two types, by reference or by value, which only the captured word tells apart. */
    if (type == MAP_NONE || map_get(&typing->closure_of_value, entry) != MAP_NONE)
        return TYPE_NONE;
    const uint32_t other = typer_type_of(typing, type)->alternative;
    if (other == TYPE_NONE)
        return type;
    return typer_type_of(typing, type)->field_count < typer_type_of(typing, other)->field_count &&
                   typer_type_of(typing, other)->alternative == TYPE_NONE
               ? other
               : TYPE_NONE;
}

/* ---- evidence ---- */

/* Returns the word type that a piece of evidence begins with, before the loads that lead from there
 * to the word in question. */
static struct word_type evidence_start(const struct coded *coded,
                                       const struct code_evidence *evidence)
{
    const struct typing *typing = coded->typing;
    const uint64_t address = evidence->what + exe_slide(typing->exe);
    const uint32_t type = types_at(typing->types, address);
    switch ((enum flow_fact_kind)evidence->kind) {
    case FLOW_POINTS_TO:
        return word_type(WORD_POINTS_TO, type);
    case FLOW_POINTS_TO_MANY:
        return word_type(WORD_POINTS_TO_MANY, type);
    case FLOW_POINTS_TO_ELEMENT:
        return word_type(WORD_POINTS_TO,
                         type != TYPE_NONE && typer_type_of(typing, type)->kind == TYPE_MAP
                             ? typer_type_of(typing, type)->elem
                             : TYPE_NONE);
    case FLOW_IS:
        return word_type(WORD_IS_VALUE, type);
    case FLOW_IS_DATA: /* the interface's first word is a type, or an itab, which has one */
        return word_of_data(typing,
                            type != TYPE_NONE
                                ? type
                                : typing_interface_type(typing, address, INTERFACE_WITH_METHODS));
    case FLOW_IS_RECEIVER:
        return coded_receiver_of(coded, evidence);
    case FLOW_IS_CLOSURE:
        return word_type(WORD_POINTS_TO, coded_closure_at(typing, address));
    }
    return word_type(WORD_IS_UNKNOWN, TYPE_NONE);
}

/* Returns what one piece of evidence in the code says about a word. Code loads a word by steps:
 * from a value of a known type it follows the pointers at the offsets of the steps, and the last
 * one gives the type of the word. */
struct word_type coded_type(const struct coded *coded, const struct code_evidence *evidence)
{
    const struct typing *typing = coded->typing;
    struct word_type type = evidence_start(coded, evidence);
    for (unsigned i = 0; i < evidence->step_count; i++) {
        if (type.is != WORD_POINTS_TO && type.is != WORD_POINTS_TO_MANY)
            return word_type(WORD_IS_UNKNOWN, TYPE_NONE);
        /* Which element of an array the code reads does not matter: all have the same type. */
        const uint64_t size = typer_type_of(typing, type.type)->size;
        const uint64_t offset = type.is == WORD_POINTS_TO_MANY && size > 0
                                    ? evidence->steps[i] % size
                                    : evidence->steps[i];
        type = word_type_at(typing, type.type, offset);
    }
    /* The address of a variable's first field is that of the variable. */
    type.is_receiver = type.is_receiver || (evidence->is_stored && type.is == WORD_POINTS_TO);
    return type;
}

/* Returns whether a word points to values of a type, and another one to an array type of these:
 * []string{name} is a new [1]string. */
static bool is_array_of(const struct typing *typing, struct word_type many, struct word_type array)
{
    return many.is == WORD_POINTS_TO_MANY && array.is == WORD_POINTS_TO &&
           typer_type_of(typing, array.type)->kind == TYPE_ARRAY &&
           typer_type_of(typing, array.type)->elem == many.type;
}

/* Combines two types of a word; false if they contradict each other. A pointer to a struct is also
 * one to its first field, so code that uses it as either agrees: the larger type is kept. The same
 * holds for an array and a slice. Values agree only with values. */
bool coded_agree(const struct typing *typing, struct word_type *all, struct word_type one)
{
    const struct types *types = typing->types;
    if (one.is == WORD_IS_UNKNOWN)
        return true;
    if (all->is == WORD_IS_UNKNOWN) {
        *all = one;
        return true;
    }
    if (all->type == one.type) {
        if (all->is == WORD_IS_VALUE || one.is == WORD_IS_VALUE)
            return all->is == one.is;
        /* A pointer to an array is one to its first element; and it may begin a larger value only
         * as long as all evidence says so. */
        all->is = one.is == WORD_POINTS_TO_MANY ? one.is : all->is;
        all->is_receiver = all->is_receiver && one.is_receiver;
        return true;
    }
    if (all->is == WORD_IS_VALUE || one.is == WORD_IS_VALUE)
        return false;
    if (is_array_of(typing, *all, one)) /* *all is kept: as many as are in the object */
        return true;
    if (is_array_of(typing, one, *all)) {
        *all = one;
        return true;
    }
    /* One of them may be the first part of the other. */
    if (one.is_receiver && type_holds(types, all->type, 0, one.type))
        return true;
    if (all->is_receiver && type_holds(types, one.type, 0, all->type)) {
        *all = one;
        return true;
    }
    return false;
}

/* Follows a word of data or bss. By the type of the word: it points to one value; to an array of
 * values, as many as are in the object; or it is the first word of a value itself, of which only
 * the pointer at its beginning is followed. Nil is not followed. */
void coded_refer(struct typer *typer, struct word_type type, const uint8_t *at,
                 const struct extent *extent)
{
    const uint64_t value = heap_word(typer->typing->heap, at);
    if (value == 0)
        return;
    if (type.is == WORD_POINTS_TO) {
        typer_refer(typer, REFERENCE_VALUE, value, 0, type.type, NO_TARGET, SOURCE_SWEEP);
    } else if (type.is == WORD_POINTS_TO_MANY) {
        typer_follow_array(typer, value, type.type, SOURCE_SWEEP);
    } else if (type.is == WORD_IS_VALUE) {
        const struct pointer_map *map = pointer_map_of(&typer->typing->pointer_maps, type.type);
        if (!map)
            typer->no_memory = true;
        else if (map->field_count > 0 && map->fields[0].offset == 0)
            typer_follow(typer, at, extent, &map->fields[0], NO_TARGET, SOURCE_SWEEP);
    }
}

/* ---- data and bss ---- */

/* Finds the segment of data or bss that contains a whole word at an address. Returns false if there
 * is none. */
static bool find_data_segment(const struct g2h_heap *heap, uint64_t address,
                              struct g2h_segment *ret)
{
    static const enum g2h_record_kind kinds[] = {G2H_RECORD_DATA, G2H_RECORD_BSS};
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < heap->records[kinds[i]].count && j < HEAP_SEGMENTS; j++) {
            struct g2h_record record;
            g2h_heap_record(heap, kinds[i], j, &record);
            *ret = record.segment;
            if (address >= ret->address && address - ret->address < ret->contents.size &&
                ret->contents.size - (address - ret->address) >= heap->params.pointer_size)
                return true;
        }
    return false;
}

/* Refers to the target of a word of data or bss, unless DWARF describes a variable there or the
 * word belongs to a value that was found by following pointers: these are more certain. */
static void coded_seed_word(struct typer *typer, struct word_type type, uint64_t address)
{
    const struct typing *typing = typer->typing;
    struct g2h_segment segment;
    uint64_t inside;
    if (typing_global(typing, address, NULL) ||
        outside_value_at(&typing->outside, typing->heap, address, &inside) ||
        !find_data_segment(typing->heap, address, &segment))
        return;
    const struct extent extent = {segment.contents.data,
                                  segment.contents.data + segment.contents.size};
    typer->holder = (struct outside_holder){.kind = HOLDER_WORD, .offset = address};
    coded_refer(typer, type, segment.contents.data + (address - segment.address), &extent);
}

/* Follows the pointers of a value in data or bss, unless DWARF describes a variable there. Nothing
 * if it does not lie in the segment as a whole. */
static void coded_seed_value(struct typer *typer, uint32_t type, uint64_t address)
{
    const struct typing *typing = typer->typing;
    const struct pointer_map *map = pointer_map_of(&typing->pointer_maps, type);
    struct g2h_segment segment;
    if (!map)
        typer->no_memory = true;
    if (!map || typing_global(typing, address, NULL) ||
        !find_data_segment(typing->heap, address, &segment) ||
        segment.contents.size - (address - segment.address) < map->size)
        return;
    const struct extent extent = {segment.contents.data,
                                  segment.contents.data + segment.contents.size};
    for (uint32_t i = 0; i < map->field_count; i++) {
        const uint64_t at = address + map->fields[i].offset;
        typer->holder = (struct outside_holder){.kind = HOLDER_WORD, .offset = at};
        typer_follow(typer, segment.contents.data + (at - segment.address), &extent,
                     &map->fields[i], NO_TARGET, SOURCE_SWEEP);
    }
}

/* Returns the array that has a word at an address in the file, by the bounds of its index, or NULL.
 */
static const struct static_array *array_with(const static_array_vector *arrays, uint64_t in_file)
{
    size_t not_after;
    BISECT(not_after, arrays->count, arrays->data[not_after].address <= in_file);
    const struct static_array *array = not_after > 0 ? &arrays->data[not_after - 1] : NULL;
    return array && in_file < array->end ? array : NULL;
}

/* Returns how many elements of an array in elements are known that have a word at an address in the
 * file, from that one on: as many as other words of the same array have. */
static uint32_t known_in_element(const struct static_words *words, uint64_t in_file,
                                 uint32_t distance)
{
    enum { WORD = 8 };
    const struct static_array *inner = array_with(&words->inner_arrays, in_file);
    return inner && inner->array.distance == distance && inner->end - in_file >= WORD
               ? (uint32_t)((inner->end - in_file - WORD) / distance) + 1
               : 0;
}

/* Returns the size of the elements of an array in each element of another one, at least that of the
 * first one. */
static uint64_t size_in_element(const struct static_word *word, uint64_t first)
{
    const uint64_t size = (uint64_t)word->inner.distance * word->inner.count;
    return MAX(first, MIN(size, word->array.distance));
}

/* Follows the word in each element of an array in data or bss, or those of an array in each element
 * (word->inner). */
static void coded_seed_elements(struct typer *typer, struct word_type type, uint64_t address,
                                uint64_t size, const struct static_word *word)
{
    const struct g2h_heap *heap = typer->typing->heap;
    const uint64_t each = heap->params.pointer_size;
    const uint64_t inner = MAX(word->inner.distance, each);
    struct g2h_segment segment;
    if (!find_data_segment(heap, address, &segment))
        return;
    const uint8_t *at = segment.contents.data + (address - segment.address);
    for (uint64_t offset = 0; offset < size; offset += word->array.distance) {
        const uint64_t end = MIN(size, offset + size_in_element(word, each));
        for (uint64_t i = offset; i < end && end - i >= each; i += inner)
            if (heap_word(heap, at + i) != 0) /* most are nil: saves looking up their variables */
                coded_seed_word(typer, type, address + i);
    }
}

/* Returns how many elements the array has at least that has a word in its first element at an
 * address in the file, or 0. */
static uint64_t known_elements(const struct static_words *words, uint64_t address,
                               uint64_t distance)
{
    const struct static_array *arrays = words->arrays.data;
    size_t not_after;
    BISECT(not_after, words->arrays.count, arrays[not_after].address <= address);
    /* The array is known by one field of its first element, before or after this one. */
    for (size_t i = not_after > 0 ? not_after - 1 : 0; i <= not_after && i < words->arrays.count;
         i++) {
        const uint64_t between = MAX(address, arrays[i].address) - MIN(address, arrays[i].address);
        if (arrays[i].array.distance == distance && between < distance)
            return arrays[i].array.count;
    }
    return 0;
}

/* Returns the size in bytes of an array in data or bss, up to the segment's end at most. If the
 * bounds of an index tell how many elements there are, it is theirs. Otherwise it is the greatest
 * possible one: up to the next word that code uses, other than as a word of the first element; or 0
 * if code uses no later word. Also 0 if the distance of elements is not known, or the address is in
 * no segment of data. */
static uint64_t size_of_array(const struct typing *typing, uint64_t address,
                              struct flow_array array)
{
    const struct static_words *words = typing->static_words;
    const uint64_t in_file = address - exe_slide(typing->exe);
    const uint64_t distance = array.distance;
    struct g2h_segment segment;
    size_t at;
    if (distance == 0 || !find_data_segment(typing->heap, address, &segment))
        return 0;
    const uint64_t rest = segment.contents.size - (address - segment.address);
    const uint64_t known = MAX(array.count, known_elements(words, in_file, distance));
    if (known > 0)
        return MIN(known * distance, rest);
    BISECT(at, words->users.count, words->users.data[at].address <= in_file);
    while (at < words->users.count && words->users.data[at].address - in_file < distance &&
           words->users.data[at].array.distance == distance)
        at++;
    return at < words->users.count ? MIN(words->users.data[at].address - in_file, rest) : 0;
}

/* Returns the size of the array at an offset of what a word points to, in bytes; 0: there is none,
 * or it is not known. */
static uint64_t size_of_inner(const struct static_word *word)
{
    return (uint64_t)word->array.distance * word->array.count;
}

/* Follows the word at an offset of what a word in data or bss points to: code loads the pointer,
 * and then the word. */
static void coded_seed_field(struct typer *typer, struct word_type type, uint64_t address,
                             uint64_t offset)
{
    const struct typing *typing = typer->typing;
    const uint64_t size = typing->heap->params.pointer_size;
    const uint64_t target = typing_word(typing, address) + offset;
    const uint8_t *at;
    if (target <= offset) /* the pointer is nil, or the sum overflows */
        return;
    if (!in_heap_range(typing->heap, target)) {
        coded_seed_word(typer, type, target);
        return;
    }
    typer->holder = (struct outside_holder){.kind = HOLDER_OBJECT};
    if ((at = typing_memory(typing, target, size, UINT32_MAX)) != NULL)
        coded_refer(typer, type, at, &(struct extent){at, at + size});
}

/* Keeps a value, or those of an array, and follows their pointers. */
static void add_value(struct typer *typer, struct static_value value)
{
    const uint64_t size = types_size(typer->typing->types, value.type);
    typer->no_memory |= !vector_push(&typer->typing->static_values, value);
    for (uint64_t offset = 0; offset < value.size && value.size - offset >= size;
         offset += value.distance != 0 ? value.distance : value.size)
        coded_seed_value(typer, value.type, value.address + offset);
}

/* Keeps the values that a word is about: one, those of an array, or those of an array in each
 * element of one. */
static void seed_values(struct typer *typer, const struct static_word *word,
                        struct static_value value)
{
    const uint64_t one = types_size(typer->typing->types, value.type);
    const uint64_t address = value.address, size = value.size;
    if (word->kind == STATIC_VALUE)
        value.size = one;
    if (word->kind == STATIC_VALUE || word->inner.count == 0) {
        add_value(typer, value);
        return;
    }
    value.distance = word->inner.distance;
    for (uint64_t offset = 0; offset < size; offset += word->array.distance) {
        value.address = address + offset;
        value.size = MIN(size - offset, size_in_element(word, one));
        add_value(typer, value);
    }
}

/* Follows the pointers of the value at an offset of a composite that the linker has laid out, and
 * that a word in data or bss points to: the composite itself may have no descriptor. */
static void coded_seed_inner(struct typer *typer, struct word_type type, uint64_t address,
                             const struct static_word *word)
{
    const uint64_t target = typing_word(typer->typing, address) + word->offset,
                   one = types_size(typer->typing->types, type.type);
    uint64_t size = size_of_inner(word);
    struct g2h_segment segment;
    if (target <= word->offset || in_heap_range(typer->typing->heap, target) ||
        type.is != WORD_POINTS_TO)
        return;
    if (size > 0 && find_data_segment(typer->typing->heap, target, &segment))
        size = MIN(size, segment.contents.size - (target - segment.address));
    else
        size = one;
    add_value(typer, (struct static_value){.address = target,
                                           .type = type.type,
                                           .distance = word->array.distance,
                                           .size = MAX(one, size)});
}

/* Combines all evidence about one word. The words are sorted, so that all evidence about one
 * follows each other. Returns the index behind the last of it. */
size_t coded_together(const struct coded *coded, const struct static_words *words, size_t first,
                      struct word_type *ret)
{
    const struct static_word *word = &words->words.data[first];
    bool is_good = true;
    size_t i = first;
    *ret = word_type(WORD_IS_UNKNOWN, TYPE_NONE);
    for (; i < words->words.count; i++) {
        const struct static_word *other = &words->words.data[i];
        if (other->address != word->address || other->kind != word->kind ||
            other->offset != word->offset || other->array.distance != word->array.distance ||
            other->inner.distance != word->inner.distance)
            break;
        is_good = is_good && coded_agree(coded->typing, ret, coded_type(coded, &other->evidence));
    }
    if (!is_good)
        ret->is = WORD_IS_UNKNOWN;
    return i;
}

/* Keeps what a word points to. The value that a receiver points to may begin a larger one. */
static void keep_pointer(struct typer *typer, struct word_type type, uint64_t address)
{
    const struct static_pointer_type pointer = {address, type.type, type.is == WORD_POINTS_TO_MANY};
    if (type.is == WORD_POINTS_TO_MANY || (type.is == WORD_POINTS_TO && !type.is_receiver))
        typer->no_memory |= !vector_push(&typer->typing->static_pointers, pointer);
}

/* Returns how many words of arrays are followed at most: code may use one array in many ways, and a
 * damaged executable may use all of data as an array, in as many ways as it has code for. */
static uint64_t most_words_of_arrays(const struct g2h_heap *heap)
{
    static const enum g2h_record_kind kinds[] = {G2H_RECORD_DATA, G2H_RECORD_BSS};
    enum { TIMES = 16, MORE = 1 << 20 };
    uint64_t words = 0;
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        for (size_t j = 0; j < heap->records[kinds[i]].count && j < HEAP_SEGMENTS; j++) {
            struct g2h_record record;
            g2h_heap_record(heap, kinds[i], j, &record);
            words += record.segment.contents.size / heap->params.pointer_size;
        }
    return TIMES * words + MORE;
}

/* Returns whether the words, or values, of an array of size bytes may still be followed, each of
 * which has `one` bytes. Lowers *left by about as many words as they have. */
static bool take_words_of_array(const struct static_word *word, uint64_t size, uint64_t one,
                                uint64_t *left)
{
    enum { WORD = 8 };
    const uint64_t elements = size / word->array.distance + 1, each = one / WORD + 1;
    const uint64_t inner =
        word->inner.distance != 0 ? size_in_element(word, one) / word->inner.distance + 1 : 1;
    if (elements > *left / inner / each)
        return false;
    *left -= elements * inner * each;
    return true;
}

/* Follows a word whose type the code determines. Its kind says where it is: a word of data or bss,
 * an element of an array there, a field of the value that such a word points to, or a value whose
 * address is taken. *left limits how many words of arrays are followed. */
static void seed_known(struct typer *typer, const struct static_word *word, struct word_type type,
                       uint64_t *left)
{
    const struct typing *typing = typer->typing;
    const uint64_t address = word->address + exe_slide(typing->exe);
    const bool is_array = word->kind == STATIC_ELEMENT || word->kind == STATIC_ELEMENT_VALUE;
    const bool is_value = word->kind == STATIC_ELEMENT_VALUE || word->kind == STATIC_INNER;
    const uint64_t size =
        is_array ? size_of_array(typing, address, word->array) : size_of_inner(word);
    const uint64_t one =
        is_value ? types_size(typing->types, type.type) : typing->heap->params.pointer_size;
    if (size > 0 && !take_words_of_array(word, size, one, left))
        return;
    switch (word->kind) {
    case STATIC_WORD:
        keep_pointer(typer, type, address);
        coded_seed_word(typer, type, address);
        break;
    case STATIC_ELEMENT:
        coded_seed_elements(typer, type, address, size, word);
        break;
    case STATIC_FIELD:
        coded_seed_field(typer, type, address, word->offset);
        for (uint64_t each = word->array.distance; each < size; each += word->array.distance)
            coded_seed_field(typer, type, address, word->offset + each);
        break;
    case STATIC_INNER:
        coded_seed_inner(typer, type, address, word);
        break;
    case STATIC_VALUE:
    case STATIC_ELEMENT_VALUE:
        if (type.is == WORD_POINTS_TO && types_size(typing->types, type.type) > 0)
            seed_values(typer, word,
                        (struct static_value){.address = address,
                                              .type = type.type,
                                              .distance = word->array.distance,
                                              .size = size,
                                              .is_reached = true});
        break;
    }
}

/* Orders values by address, then by type, distance and whether pointers led there: equal ones
 * follow each other. */
static int compare_static_values(const void *a, const void *b)
{
    const struct static_value *one = a;
    const struct static_value *other = b;
    if (one->address != other->address)
        return COMPARE(one->address, other->address);
    if (one->type != other->type)
        return COMPARE(one->type, other->type);
    if (one->distance != other->distance)
        return COMPARE(one->distance, other->distance);
    return one->is_reached - other->is_reached;
}

/* Returns whether an address is in a value, or in one of those of an array. */
static bool is_in_value(const struct typing *typing, const struct static_value *value,
                        uint64_t address)
{
    const uint64_t offset = address - value->address;
    return offset < value->size &&
           (value->distance == 0 ||
            offset % value->distance < typer_type_of(typing, value->type)->size);
}

/* Sorts the values, and drops those that are parts of others: a word is named by the outermost
 * one. An array ends where another value begins that is not in an element. */
static void coded_sort_values(struct typing *typing)
{
    struct static_value *list = typing->static_values.data;
    size_t kept = 0;
    vector_sort(&typing->static_values, compare_static_values);
    for (size_t i = 0; i < typing->static_values.count; i++) {
        struct static_value *last = kept > 0 ? &list[kept - 1] : NULL;
        if (!last || !is_in_value(typing, last, list[i].address)) {
            if (last)
                last->size = MIN(last->size, list[i].address - last->address);
            list[kept++] = list[i];
        } else if (list[i].address == last->address && list[i].size > last->size) {
            *last = list[i];
        }
    }
    typing->static_values.count = kept;
}

/* Reads how the code uses words of data and bss, follows those of known type, sorts the values that
 * these lead to outside of the heap, and follows on from there. Does nothing if the machine's code
 * cannot be read. */
struct g2h_error *typing_seed_coded(struct typer *typer, struct coded *coded)
{
    struct typing *typing = typer->typing;
    if (!flow_can_read(&coded->flow))
        return NULL;
    TRY(exe_static_words(typing->exe, &coded->flow, &typing->static_words));
    const struct static_words *words = typing->static_words;
    uint64_t left = most_words_of_arrays(typing->heap);
    for (size_t i = 0; i < words->words.count;) {
        struct word_type type;
        struct static_word word = words->words.data[i];
        /* The first word of the group stands for all of it: the others differ from it only in their
         * evidence, of which `type` is the sum, and in the counts of elements. */
        const size_t end = coded_together(coded, words, i, &type);
        for (; i < end; i++) {
            word.array.count = MAX(word.array.count, words->words.data[i].array.count);
            word.inner.count = MAX(word.inner.count, words->words.data[i].inner.count);
        }
        if (word.inner.distance != 0 && word.inner.count == 0)
            word.inner.count = known_in_element(words, word.address, word.inner.distance);
        if (type.is != WORD_IS_UNKNOWN)
            seed_known(typer, &word, type, &left);
    }
    coded_sort_values(typer->typing);
    typer->holder = (struct outside_holder){.kind = HOLDER_OBJECT};
    typer_follow_outside(typer);
    typer_flush(typer);
    return NULL;
}

/* The bytes after an address that code takes in which words count as the same variable's: a
 * sync.Map has its pointers there, and Go sorts variables by size, so that a small one rarely
 * follows. */
enum { MOST_OF_VARIABLE = 32 };

/* Returns the address of the variable that contains an address, by the extents that code shows, or
 * 0 if none does. */
uint64_t typing_extent_at(const struct typing *typing, uint64_t address)
{
    const struct static_words *words = typing->static_words;
    const uint64_t in_file = address - exe_slide(typing->exe);
    size_t not_after;
    BISECT(not_after, words->extents.count, words->extents.data[not_after].address <= in_file);
    const struct static_extent *extent = not_after > 0 ? &words->extents.data[not_after - 1] : NULL;
    return extent && in_file < extent->end ? extent->address + exe_slide(typing->exe) : 0;
}

/* Returns the function that uses the variable at an address, or NULL. It is the last one that uses
 * a word at or before the address. If that word is not at the address, it counts only without
 * is_exact, and then stands for: the begin of the variable that contains the address, if that is
 * known (typing_extent_at()); else an array whose element it is in, or a variable whose address is
 * taken there, less than MOST_OF_VARIABLE before. */
const struct static_user *typing_user(const struct typing *typing, uint64_t address, bool is_exact)
{
    const struct static_words *words = typing->static_words;
    const uint64_t in_file = address - exe_slide(typing->exe);
    size_t not_after;
    BISECT(not_after, words->users.count, words->users.data[not_after].address <= in_file);
    if (not_after == 0)
        return NULL;
    const struct static_user *user = &words->users.data[not_after - 1];
    const uint64_t extent = is_exact ? 0 : typing_extent_at(typing, address);
    if (user->address != in_file && extent != 0)
        return typing_user(typing, extent, true);
    const bool may_contain = user->array.distance != 0 ||
                             (user->is_address && in_file - user->address < MOST_OF_VARIABLE);
    return user->address == in_file || (!is_exact && may_contain) ? user : NULL;
}

/* Returns the last use of static data at or before an address, of any kind; NULL: there is none. */
const struct static_user *typing_last_user(const struct typing *typing, uint64_t address)
{
    const struct static_words *words = typing->static_words;
    const uint64_t in_file = address - exe_slide(typing->exe);
    size_t not_after;
    BISECT(not_after, words->users.count, words->users.data[not_after].address <= in_file);
    return not_after > 0 ? &words->users.data[not_after - 1] : NULL;
}

/* Returns the function that takes the address of the variable before an address, or NULL. Near is
 * less than MOST bytes before the address. */
const struct static_user *typing_user_before(const struct typing *typing, uint64_t address)
{
    enum { MOST = 256 };
    const uint64_t in_file = address - exe_slide(typing->exe);
    const uint64_t extent = typing_extent_at(typing, address);
    const struct static_user *user =
        extent != 0 ? typing_user(typing, extent, true) : typing_last_user(typing, address);
    struct g2h_bytes name;
    if (!user || (extent == 0 && (!user->is_address || in_file - user->address >= MOST)))
        return NULL;
    exe_function(typing->exe, user->function, &name);
    return bytes_begin(name, "runtime.") ? NULL : user;
}

/* Returns where the array begins that has a word, if the bounds of its index are known, or 0. */
uint64_t typing_bounded_array_at(const struct typing *typing, uint64_t address)
{
    const uint64_t slide = exe_slide(typing->exe);
    const struct static_array *array = array_with(&typing->static_words->arrays, address - slide);
    return array ? array->address + slide : 0;
}

/* Returns what is in an element of an array at a distance from the element's start: another array,
 * of which code uses elements by an index. Returns false if there is none. */
bool typing_array_in_element(const struct typing *typing, uint64_t array, uint64_t offset,
                             uint64_t *ret_start, uint32_t *ret_distance)
{
    const uint64_t in_file = array - exe_slide(typing->exe);
    const struct static_array *inner =
        array_with(&typing->static_words->inner_arrays, in_file + offset);
    if (!inner || inner->address < in_file)
        return false;
    *ret_start = inner->address - in_file;
    *ret_distance = inner->array.distance;
    return true;
}

/* Returns the address of the array that a word is in, or 0. If the array's bounds are known, they
 * tell. Otherwise looks at the users at and before the address, at MOST_FIELDS of them at most, for
 * one of an element's field (one with a distance between elements) that is a whole number of
 * elements before; and goes from there down to the first field of the first element. */
uint64_t typing_array_at(const struct typing *typing, uint64_t address, uint32_t *ret_distance)
{
    enum { MOST_FIELDS = 16 };
    const struct static_words *words = typing->static_words;
    const struct static_user *users = words->users.data;
    const uint64_t slide = exe_slide(typing->exe);
    const uint64_t in_file = address - slide;
    const struct static_array *bounded = array_with(&words->arrays, in_file);
    size_t not_after;
    if (bounded) {
        *ret_distance = bounded->array.distance;
        return bounded->address + slide;
    }
    BISECT(not_after, words->users.count, users[not_after].address <= in_file);
    const size_t last = not_after;
    for (; not_after > 0 && last - not_after < MOST_FIELDS; not_after--) {
        const struct static_user *user = &users[not_after - 1];
        const uint64_t offset = in_file - user->address;
        /* All users from this one to the nearest one are of fields of the first element. */
        if (user->array.distance == 0 ||
            users[last - 1].address - user->address >= user->array.distance ||
            offset % user->array.distance != 0)
            continue;
        *ret_distance = user->array.distance;
        while (not_after > 1 && users[not_after - 2].is_address == false &&
               user->address - users[not_after - 2].address < *ret_distance &&
               users[not_after - 2].array.distance == *ret_distance)
            not_after--;
        if (not_after > 1 && users[not_after - 2].is_address &&
            user->address - users[not_after - 2].address < *ret_distance)
            not_after--;
        return users[not_after - 1].address + slide;
    }
    return 0;
}

/* Returns the value that contains an address, or NULL. Values ascend by address: only the last that
 * begins at or before the address may contain it. */
const struct static_value *typing_static_value(const struct typing *typing, uint64_t address)
{
    size_t not_after;
    BISECT(not_after, typing->static_values.count,
           typing->static_values.data[not_after].address <= address);
    if (not_after == 0)
        return NULL;
    const struct static_value *value = &typing->static_values.data[not_after - 1];
    return is_in_value(typing, value, address) ? value : NULL;
}

/* Returns what the word at an address of data or bss points to according to code, or NULL. */
const struct static_pointer_type *typing_static_pointer(const struct typing *typing,
                                                        uint64_t address)
{
    size_t not_after;
    BISECT(not_after, typing->static_pointers.count,
           typing->static_pointers.data[not_after].address <= address);
    const struct static_pointer_type *pointer =
        not_after > 0 ? &typing->static_pointers.data[not_after - 1] : NULL;
    return pointer && pointer->address == address ? pointer : NULL;
}
