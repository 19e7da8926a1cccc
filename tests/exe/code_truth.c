/*
 * code_truth: compares what the code of an executable says of the words of its variables, which is
 * all that is left in a stripped one, with what its DWARF says of them.
 *
 *   code_truth EXECUTABLE
 *
 * Prints a line for each word about which they disagree, then one line of JSON: how many variables
 * there are that functions set, and of which such a word is a pointer, slice, map or channel
 * according to DWARF (variables), and of how many of these the code says what one is (said); and,
 * of all that the code says, also of values, elements and what words point to, how much DWARF
 * confirms (right), denies (wrong) and does not tell (unknown: data words of interfaces, unsafe
 * pointers, variables that the compiler made); and of how many words two places in the code
 * contradict each other (contradictory); and how many arrays there are whose length the code says
 * (arrays), which is wrong if it is more than the variable has. Variables of package runtime are
 * left out: what they lead to is not in the heap, and the runtime converts its pointers at will.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/go2heapsnapshot.h>

#include "base/bytes.h"
#include "exe/exe.h"
#include "typing/coded.h"

struct truth {
    struct typing typing;
    struct g2h_heap heap; /* has the itabs that the code names */
    struct coded coded;
    struct static_words words;
    uint64_t variables, said, right, wrong, unknown, contradictory, arrays;
};

enum verdict { RIGHT, WRONG, UNKNOWN };

static const struct type *type(const struct truth *truth, uint32_t number)
{
    return &truth->typing.types->list.data[number];
}

/* Copies a type's name without what differs between a generic type, its shape and its directions:
 * "go.shape.", and the arrows of channels. Returns false if the name is too long. */
static bool plain_name(const struct truth *truth, uint32_t number, char name[4096])
{
    static const char *const dropped[] = {"go.shape.", "<-"};
    const struct g2h_bytes text = types_name(truth->typing.types, number);
    if (text.size >= 4096)
        return false;
    memcpy(name, text.data, text.size);
    name[text.size] = 0;
    for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++)
        for (char *at; (at = strstr(name, dropped[i])) != NULL;)
            memmove(at, at + strlen(dropped[i]), strlen(at + strlen(dropped[i])) + 1);
    return true;
}

static bool is_same(const struct truth *truth, uint32_t one, uint32_t other)
{
    char a[4096], b[4096];
    const struct type *this = type(truth, one), *that = type(truth, other);
    return one == other ||
           /* a string, slice, number or bool that is converted: (*flag.stringValue)(&text) */
           (this->kind == that->kind && this->size == that->size && this->elem == that->elem &&
            (this->kind < TYPE_ARRAY || this->kind >= TYPE_SLICE) && this->kind <= TYPE_STRING) ||
           (plain_name(truth, one, a) && plain_name(truth, other, b) && strcmp(a, b) == 0);
}

/* Returns whether a type is that of the object that a func value points to. */
static bool is_closure(const struct truth *truth, uint32_t number)
{
    const struct g2h_bytes name = types_name(truth->typing.types, number);
    return bytes_begin(name, "struct { F uintptr") || bytes_begin(name, "struct { .F uintptr");
}

/* Returns whether a value begins with one of a type; or, at an offset, has one there. */
static bool has(const struct truth *truth, uint32_t outer, uint64_t offset, uint32_t inner)
{
    do {
        if (offset == 0 && is_same(truth, outer, inner))
            return true;
    } while (types_step_into(truth->typing.types, &outer, &offset));
    return false;
}

/* Gets the innermost part at an offset of a value. Returns false if it does not begin there. */
static bool part_at(const struct truth *truth, uint32_t outer, uint64_t offset, uint32_t *ret)
{
    while (types_step_into(truth->typing.types, &outer, &offset))
        ;
    *ret = outer;
    return offset == 0;
}

static bool leads(const struct truth *truth, uint32_t number)
{
    const struct type *is = type(truth, number);
    return is->kind == TYPE_MAP || is->kind == TYPE_CHAN ||
           ((is->kind == TYPE_POINTER || is->kind == TYPE_SLICE) && is->elem != TYPE_NONE &&
            type(truth, is->elem)->size > 0);
}

/* Compares with the word at an offset in a value, according to DWARF. */
static enum verdict judge(const struct truth *truth, struct word_type said, uint32_t outer,
                          uint64_t offset)
{
    uint32_t part;
    if (!part_at(truth, outer, offset, &part))
        return type(truth, part)->kind == TYPE_INTERFACE ? UNKNOWN : WRONG;
    const struct type *is = type(truth, part);
    switch (is->kind) {
    case TYPE_POINTER:
        if (is->elem == TYPE_NONE)
            return UNKNOWN;
        if (said.is == WORD_IS_VALUE) /* a map's header, of a pointer that the runtime has */
            return is_same(truth, said.type, part) ? RIGHT : WRONG;
        return has(truth, is->elem, 0, said.type) ? RIGHT : WRONG;
    case TYPE_SLICE: /* of an array, if said.type is one */
        return said.is != WORD_IS_VALUE &&
                       (has(truth, is->elem, 0, said.type) || has(truth, said.type, 0, is->elem))
                   ? RIGHT
                   : WRONG;
    case TYPE_STRING: /* its data are many bytes, as those of the slice that it was made of */
        if (said.is == WORD_POINTS_TO_MANY)
            return type(truth, said.type)->kind == TYPE_UINT8 ? RIGHT : WRONG;
        return said.is == WORD_IS_VALUE && is_same(truth, said.type, part) ? RIGHT : WRONG;
    case TYPE_FUNC:
        if (said.is == WORD_IS_VALUE)
            return is_same(truth, said.type, part) ? RIGHT : WRONG;
        return said.is == WORD_POINTS_TO && is_closure(truth, said.type) ? RIGHT : WRONG;
    case TYPE_INTERFACE: /* its first word is the address of a type or itab */
    case TYPE_UNSAFE_POINTER:
        return UNKNOWN;
    default:
        return said.is == WORD_IS_VALUE && is_same(truth, said.type, part) ? RIGHT : WRONG;
    }
}

static bool is_runtimes(const struct truth *truth, const struct dwarf_global *global)
{
    return bytes_begin(types_text(truth->typing.types, global->name), "runtime.");
}

/* Finds the variable of another package than runtime that has an address. Returns false if DWARF
 * knows none. */
static bool variable_at(const struct truth *truth, uint64_t address, uint32_t *ret_type,
                        uint64_t *ret_offset, uint32_t *ret_name)
{
    const struct dwarf_global *global = typing_global(&truth->typing, address, ret_offset);
    if (!global || is_runtimes(truth, global))
        return false;
    *ret_type = global->type;
    *ret_name = global->name;
    return true;
}

/* Gets what a word at an offset in a value points to, and for slices makes the offset there that in
 * an element. Returns false if DWARF does not tell: a map, a channel, which only the runtime's own
 * code reads. */
static bool target_of(const struct truth *truth, uint32_t outer, uint64_t in_outer,
                      uint64_t *offset, uint32_t *ret)
{
    uint32_t part;
    if (!part_at(truth, outer, in_outer, &part))
        return false;
    const struct type *is = type(truth, part);
    if ((is->kind != TYPE_POINTER && is->kind != TYPE_SLICE) || is->elem == TYPE_NONE ||
        type(truth, is->elem)->size == 0)
        return false;
    if (is->kind == TYPE_SLICE)
        *offset %= type(truth, is->elem)->size;
    *ret = is->elem;
    return *offset < type(truth, is->elem)->size;
}

static enum verdict judge_field(const struct truth *truth, struct word_type said, uint32_t outer,
                                uint64_t in_outer, uint64_t offset)
{
    uint32_t target;
    return target_of(truth, outer, in_outer, &offset, &target) ? judge(truth, said, target, offset)
                                                               : UNKNOWN;
}

/* Compares with the value at an offset in what a word points to. */
static enum verdict judge_inner(const struct truth *truth, struct word_type said, uint32_t outer,
                                uint64_t in_outer, uint64_t offset)
{
    uint32_t target;
    if (!target_of(truth, outer, in_outer, &offset, &target))
        return UNKNOWN;
    return said.is == WORD_POINTS_TO && has(truth, target, offset, said.type) ? RIGHT : WRONG;
}

static void print_wrong(const struct truth *truth, const struct static_word *word,
                        struct word_type said, uint32_t outer, uint32_t name, uint64_t offset)
{
    static const char *const kinds[] = {"the word", "each word", "what it points to", "the value",
                                        "the value in what it points to"};
    static const char *const is[] = {"?", "points to", "points to many", "is"};
    const struct types *types = truth->typing.types;
    const struct g2h_bytes variable = types_text(types, name), type_name = types_name(types, outer),
                           said_name = types_name(types, said.type);
    printf("0x%" PRIx64 " %.*s (%.*s) + %" PRIu64 ": %s, + %" PRIu64 ", %s %.*s%s\n", word->address,
           (int)variable.size, variable.data, (int)type_name.size, type_name.data, offset,
           kinds[word->kind], word->offset, is[said.is], (int)said_name.size, said_name.data,
           said.is_receiver ? " (receiver)" : "");
}

static void compare(struct truth *truth, const struct static_word *word, struct word_type said)
{
    uint32_t outer, name;
    uint64_t offset;
    enum verdict verdict = UNKNOWN;
    const bool is_known = variable_at(truth, word->address, &outer, &offset, &name);
    if (is_known && word->kind == STATIC_VALUE)
        verdict = has(truth, outer, offset, said.type) ? RIGHT : WRONG;
    else if (is_known && word->kind == STATIC_INNER)
        verdict = judge_inner(truth, said, outer, offset, word->offset);
    else if (is_known && word->kind == STATIC_FIELD)
        verdict = judge_field(truth, said, outer, offset, word->offset);
    else if (is_known)
        verdict = judge(truth, said, outer, offset);
    truth->right += verdict == RIGHT;
    truth->wrong += verdict == WRONG;
    truth->unknown += verdict == UNKNOWN;
    if (verdict == WRONG)
        print_wrong(truth, word, said, outer, name, offset);
}

/* Compares the ends of arrays with those of their variables. */
static void compare_arrays(struct truth *truth)
{
    for (size_t i = 0; i < truth->words.arrays.count; i++) {
        const struct static_array *array = &truth->words.arrays.data[i];
        uint64_t offset;
        const struct dwarf_global *global = typing_global(&truth->typing, array->address, &offset);
        if (!global)
            continue;
        const struct g2h_bytes name = types_text(truth->typing.types, global->name);
        const uint64_t size = type(truth, global->type)->size;
        const bool is_right = offset + (array->end - array->address) <= size;
        truth->arrays++;
        truth->wrong += !is_right;
        if (!is_right)
            printf("0x%" PRIx64 " %.*s + %" PRIu64 ": %u elements of %u bytes, of %" PRIu64 "\n",
                   array->address, (int)name.size, name.data, offset, array->array.count,
                   array->array.distance, size);
    }
}

/* Counts the variables of which a word that code sets leads to typed memory, and those of which
 * code says to what it leads. */
static void count_variables(struct truth *truth, const struct map *said)
{
    uint32_t counted = UINT32_MAX, counted_said = UINT32_MAX; /* names */
    for (size_t i = 0; i < truth->words.users.count; i++) {
        const struct static_user *user = &truth->words.users.data[i];
        uint32_t outer, name, part;
        uint64_t offset;
        if (user->how == STATIC_USED || user->how == STATIC_USED_BY_INIT ||
            !variable_at(truth, user->address, &outer, &offset, &name) ||
            !part_at(truth, outer, offset, &part) || !leads(truth, part))
            continue;
        truth->variables += name != counted;
        counted = name;
        if (name != counted_said && map_get(said, user->address) != MAP_NONE) {
            truth->said++;
            counted_said = name;
        }
    }
}

/* Adds the itabs that the evidence names, as a heap has them. */
static bool add_itabs(struct truth *truth)
{
    const struct image *image = exe_image(truth->typing.exe);
    for (size_t i = 0; i < truth->words.words.count; i++) {
        const struct code_evidence *evidence = &truth->words.words.data[i].evidence;
        const uint8_t *at;
        if (evidence->kind != FLOW_IS_DATA ||
            types_at(truth->typing.types, evidence->what) != TYPE_NONE ||
            !(at = image_at(image, evidence->what, 16)))
            continue;
        uint64_t of;
        memcpy(&of, at + 8, 8); /* the machines whose code is read are little-endian, as this one */
        const struct heap_itab itab = {.type = of};
        const uint32_t number = (uint32_t)truth->heap.itabs.count;
        uint32_t first;
        if (!map_put(&truth->heap.itab_by_address, evidence->what, number, &first) ||
            (first == number && !vector_push(&truth->heap.itabs, itab)))
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    static struct truth truth;
    struct g2h_exe *exe;
    struct map said = {0};
    if (argc != 2 || g2h_exe_open(argv[1], &exe))
        return 2;
    const struct exe_process process = {
        .has_text = true, .text = exe_module(exe)->minpc, .has_data = true};
    if (exe_bind(exe, &process))
        return 1;
    truth.typing = (struct typing){.types = exe_types(exe),
                                   .exe = exe,
                                   .dwarf_info = exe_dwarf_info(exe),
                                   .heap = &truth.heap};
    if (coded_init(&truth.coded, &truth.typing) || !flow_can_read(&truth.coded.flow) ||
        static_words_find(&truth.coded.flow, &truth.words) || !add_itabs(&truth))
        return 1;
    for (size_t i = 0; i < truth.words.words.count;) {
        const struct static_word *word = &truth.words.words.data[i];
        struct word_type all;
        uint32_t first;
        const size_t end = coded_together(&truth.coded, &truth.words, i, &all);
        bool any = false;
        for (; i < end; i++)
            any = any || coded_type(&truth.coded, &truth.words.words.data[i].evidence).is !=
                             WORD_IS_UNKNOWN;
        if (all.is == WORD_IS_UNKNOWN) {
            truth.contradictory += any;
            continue;
        }
        if (word->kind != STATIC_FIELD && !map_put(&said, word->address, 1, &first))
            return 1;
        compare(&truth, word, all);
    }
    compare_arrays(&truth);
    count_variables(&truth, &said);
    printf("{\"variables\":%" PRIu64 ",\"said\":%" PRIu64 ",\"right\":%" PRIu64
           ",\"wrong\":%" PRIu64 ",\"unknown\":%" PRIu64 ",\"contradictory\":%" PRIu64
           ",\"arrays\":%" PRIu64 "}\n",
           truth.variables, truth.said, truth.right, truth.wrong, truth.unknown,
           truth.contradictory, truth.arrays);
    return 0;
}
