/*
 * static_words: collects what the code of all functions says of the words of data and bss; see
 * static_words.h. flow.c reads one function; here its facts about values from data or bss are kept.
 * Facts about arguments are kept as well (struct arguments), and joined with the words that callers
 * pass, when all functions have been read. A word's user is one of the functions that set or use
 * it: words of stripped programs are named by it.
 */
#include "exe/go/static_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"
#include "exe/go/code.h"

/*
 * ---- arguments ----
 *
 * The code's evidence about the arguments of functions and the words they point to, and which words
 * of data and bss are passed as these arguments: insert(&tree, key), counters.add(key). The
 * receivers of all methods of a type count as one argument. Arguments that a function passes on are
 * followed through one more call.
 *
 * What callers pass is evidence, too: a new object of a known type, which the function stores.
 *
 * The first result of a function is treated like an argument: it has one type, wherever the
 * function is called. What the function returns, or what one caller does with it or with a variable
 * that it sets to it, shows the types of all variables that are set to it: one of many that
 * regexp.MustCompile() returned is matched.
 */

/* A word that comes from an argument. */
struct argument_source {
    uint32_t argument; /* its number, for all functions */
    enum argument_part {
        ARGUMENT_ADDRESS, /* the argument plus the offset */
        ARGUMENT_FIELD,   /* the word at the offset in the memory that the argument points to */
    } part;
    uint64_t offset;
    struct flow_array
        array; /* it is about this of each element of an array, if it has a distance */
};

struct argument_fact {
    struct argument_source source;
    struct code_evidence evidence;
};

/* An argument that is passed on as an argument. */
struct argument_pass {
    struct argument_source from;
    uint32_t to;
    bool has_floats; /* the callee may have floating-point arguments */
};

/* A word of data or bss that is passed, or whose address is. */
struct argument_word {
    struct static_word word; /* without evidence */
    uint32_t to;
};

struct arguments {
    const struct flow *flow;
    struct map first_method; /* hash of a type's name → index of its first method in the pclntab;
                                the names are compared */
    struct map reach; /* number of an argument → how far code uses what it points to, in bytes */
    VECTOR(struct argument_fact) facts;
    VECTOR(struct argument_pass) passes;
    VECTOR(struct argument_word) words;
};

/* RESULT is a function's first result; the numbers below are more than a machine's registers for
 * arguments. */
enum { NONE = UINT32_MAX, RESULT = 16, ARGUMENTS };

/* Returns the prefix of a method's name that its type's other methods share: main.(*T; empty if
 * there is none. */
static struct g2h_bytes arguments_receiver_of(struct g2h_bytes name)
{
    const uint8_t *close = name.size > 0 ? memmem(name.data, name.size, ").", 2) : NULL;
    return (struct g2h_bytes){name.data, close ? as_size(close - name.data) : 0};
}

/* Finds the first method of a method's type that was seen. Returns false if memory runs out. Two
 * types' names may have one hash: then the methods of the second type have no first. */
static bool first_of_type(struct arguments *arguments, uint32_t method, uint32_t *ret)
{
    const struct pclntab *pclntab = arguments->flow->pclntab;
    const struct g2h_bytes receiver = arguments_receiver_of(pclntab_name(pclntab, method));
    *ret = method;
    if (receiver.size == 0)
        return true;
    if (!map_put(&arguments->first_method, map_hash_text(receiver.data, receiver.size), method,
                 ret))
        return false;
    if (!bytes_same(receiver, arguments_receiver_of(pclntab_name(pclntab, *ret))))
        *ret = method;
    return true;
}

/* Gets the number of an argument. Returns false if memory runs out; *ret is NONE if the argument's
 * function is not evidence of types: those of the runtime and of reflect copy words of any type. */
static bool arguments_number_of(struct arguments *arguments, uint64_t function, unsigned argument,
                                uint32_t *ret)
{
    const struct g2h_bytes name = pclntab_name(arguments->flow->pclntab, function);
    uint32_t first = (uint32_t)function;
    *ret = NONE;
    if (function >= NONE / ARGUMENTS || bytes_begin(name, "runtime.") ||
        bytes_begin(name, "reflect."))
        return true;
    /* One function is the code of several generic ones, which return different types. */
    if (argument == RESULT && name.size > 0 && memchr(name.data, '[', name.size))
        return true;
    if (argument == 0 && arguments->flow->rules[function] == CALLEE_METHOD &&
        !first_of_type(arguments, first, &first))
        return false;
    *ret = first * ARGUMENTS + argument;
    return true;
}

/* ---- arguments: one function ---- */

/* Finds whether a value comes from an argument: it is the argument, an address relative to it, or a
 * word in the memory that it points to. ret->argument is the argument's index. Returns false if it
 * does not. */
static bool source_of(const struct flow *flow, uint32_t value, struct argument_source *ret)
{
    const struct flow_value *one = &flow->values.data[flow_before(flow, value)];
    *ret = (struct argument_source){.part = ARGUMENT_ADDRESS};
    if (one->origin == FLOW_FIELD) {
        *ret = (struct argument_source){
            .part = ARGUMENT_FIELD, .offset = one->number, .array = {one->other, one->count}};
        one = &flow->values.data[flow_before(flow, one->base)];
    }
    if (one->origin == FLOW_OFFSET) {
        ret->offset += one->number;
        ret->array = (struct flow_array){one->other, one->count};
        one = &flow->values.data[flow_before(flow, one->base)];
    }
    ret->argument = (uint32_t)one->number;
    return one->origin == FLOW_ARGUMENT;
}

/* Returns whether a source is an argument itself. */
static bool is_whole(const struct argument_source *source)
{
    return source->part == ARGUMENT_ADDRESS && source->offset == 0 && source->array.distance == 0;
}

/* Adds a fact about a value as one about added->source, if it is evidence and *left allows one
 * more. Sets added->evidence. Returns false if memory runs out. */
static bool add_evidence(struct arguments *arguments, uint32_t value, uint32_t fact,
                         struct argument_fact *added, uint64_t *left)
{
    if (*left == 0 || !flow_evidence(arguments->flow, value, fact, &added->evidence))
        return true;
    --*left;
    return vector_push(&arguments->facts, *added);
}

/* Adds the facts about a value as facts about a source in the arguments of the function that was
 * read last. *left: how many may still be added. Returns false if memory runs out. */
static bool add_facts(struct arguments *arguments, struct argument_source source, uint32_t value,
                      uint64_t *left)
{
    const struct flow *flow = arguments->flow;
    struct argument_fact added = {.source = source};
    const bool is_argument = is_whole(&source);
    if (!arguments_number_of(arguments, flow->function, source.argument, &added.source.argument))
        return false;
    /* An interface's data word has other types elsewhere. */
    if (flow->values.data[value].first_fact == NONE || added.source.argument == NONE ||
        (source.argument > 0 && flow_is_pair(flow, flow->function, source.argument - 1)))
        return true;
    for (uint32_t fact = flow->values.data[value].first_fact; fact != NONE;
         fact = flow->facts.data[fact].next) {
        const struct flow_fact *known = &flow->facts.data[fact];
        uint32_t receiver = NONE;
        const bool is_receiver = known->kind == FLOW_IS_RECEIVER;
        if (is_receiver && !arguments_number_of(arguments, known->what, 0, &receiver))
            return false;
        /* Skips the fact that a receiver is one. An argument may itself be the data word of an
         * interface, which has other types elsewhere, but the address of a field is none. */
        const bool is_field = source.part == ARGUMENT_ADDRESS && !is_argument;
        if ((known->kind == FLOW_IS_DATA && !is_field) ||
            (is_argument && receiver == added.source.argument))
            continue;
        if (!add_evidence(arguments, value, fact, &added, left))
            return false;
    }
    return true;
}

/* Returns whether a value is stored into interfaces. */
static bool is_stored_in_interface(const struct flow *flow, uint32_t value)
{
    uint32_t fact = flow->values.data[value].first_fact;
    while (fact != NONE && flow->facts.data[fact].kind != FLOW_IS_DATA)
        fact = flow->facts.data[fact].next;
    return fact != NONE;
}

/*
 * Returns the value that has the facts about a stored one. If it is one of two, depending on the
 * path, these are the facts about either, if it points to an array: "table" is the present one or a
 * new one, and has one type. The data word of an interface has another type on each path, so that
 * no other facts count.
 */
static uint32_t stored_value(const struct flow *flow, uint32_t value)
{
    enum { MOST = 8 };
    uint32_t at = value;
    for (unsigned i = 0; i <= MOST && at != 0; i++) {
        const struct flow_value *one = &flow->values.data[at];
        const uint32_t ways[] = {at, one->origin == FLOW_JOIN ? one->other : 0};
        for (unsigned j = 0; j < 2; j++) {
            const uint32_t fact = flow->values.data[ways[j]].first_fact;
            if (fact != NONE && flow->facts.data[fact].kind == FLOW_POINTS_TO_MANY)
                return ways[j];
        }
        if (one->origin != FLOW_JOIN || one->first_fact != NONE)
            break;
        at = one->base;
    }
    return value;
}

/* Gets the evidence about a value that is stored into a field of another value: it has the field's
 * type. fact: one of the other value's, as for flow_evidence(). Returns false if there is none. */
static bool evidence_of_stored(const struct flow *flow, const struct flow_use *use, uint32_t fact,
                               struct code_evidence *ret)
{
    if (!flow_evidence(flow, use->base, fact, ret) || ret->step_count >= CODE_STEPS)
        return false;
    ret->steps[ret->step_count++] = use->address;
    ret->is_stored = true;
    return true;
}

/* Adds evidence about the address of a part of an argument's target that is stored into a field of
 * another value: the part has the type that the field points to. Returns false if memory runs
 * out. */
static bool add_stored_part(struct arguments *arguments, const struct flow_use *use, uint64_t *left)
{
    const struct flow *flow = arguments->flow;
    struct argument_fact added;
    uint32_t fact = flow->values.data[use->base].first_fact;
    if (fact == NONE || !source_of(flow, use->value, &added.source) || is_whole(&added.source) ||
        added.source.part != ARGUMENT_ADDRESS)
        return true;
    if (!arguments_number_of(arguments, flow->function, added.source.argument,
                             &added.source.argument))
        return false;
    for (; added.source.argument != NONE && fact != NONE; fact = flow->facts.data[fact].next) {
        if (*left == 0 || !evidence_of_stored(flow, use, fact, &added.evidence))
            continue;
        --*left;
        if (!vector_push(&arguments->facts, added))
            return false;
    }
    return true;
}

/* Returns the word of data or bss that code uses, without evidence. */
static struct static_word word_of_use(const struct flow_use *use)
{
    return (struct static_word){.address = use->address,
                                .kind = use->array.distance != 0 ? STATIC_ELEMENT : STATIC_WORD,
                                .array = use->array,
                                .inner = use->inner};
}

/* Records that an argument is stored into a word of data or bss, or to the target of an argument:
 * the word has the argument's type. Nothing if the use is none of these, or *left is 0, which
 * limits the work. Returns false if memory runs out. */
static bool add_stored_argument(struct arguments *arguments, const struct flow_use *use,
                                uint64_t *left)
{
    const struct flow *flow = arguments->flow;
    struct argument_source stored;
    struct argument_word word = {.word = word_of_use(use)};
    struct argument_pass pass = {.has_floats = true};
    if (*left == 0 || use->value == 0 || !source_of(flow, use->value, &stored) ||
        !is_whole(&stored) ||
        (use->base != 0 &&
         (!source_of(flow, use->base, &pass.from) || pass.from.part != ARGUMENT_ADDRESS)))
        return true;
    if (!arguments_number_of(arguments, flow->function, stored.argument, &word.to))
        return false;
    if (word.to == NONE)
        return true;
    --*left;
    if (use->base == 0)
        return vector_push(&arguments->words, word);
    pass.to = word.to;
    pass.from.part = ARGUMENT_FIELD;
    pass.from.offset += use->address;
    pass.from.array = use->array;
    return arguments_number_of(arguments, flow->function, pass.from.argument,
                               &pass.from.argument) &&
           (pass.from.argument == NONE || vector_push(&arguments->passes, pass));
}

/* Adds the facts about values that are stored to the targets of arguments, and about parts of these
 * whose addresses are stored. What is stored into an interface says nothing about the target.
 * Returns false if memory runs out. *left limits the work. */
static bool add_stores(struct arguments *arguments, uint64_t *left)
{
    const struct flow *flow = arguments->flow;
    VECTOR_EACH(const struct flow_use, use, flow->uses) {
        struct argument_source source;
        if ((use->base != 0 && !add_stored_part(arguments, use, left)) ||
            !add_stored_argument(arguments, use, left))
            return false;
        if (use->base == 0 || is_stored_in_interface(flow, use->value) ||
            !source_of(flow, use->base, &source) || source.part != ARGUMENT_ADDRESS)
            continue;
        source.part = ARGUMENT_FIELD;
        source.offset += use->address;
        source.array = use->array;
        if (!add_facts(arguments, source, stored_value(flow, use->value), left))
            return false;
    }
    return true;
}

/* Returns whether what callers pass as an argument is evidence of its type. It is none if the
 * function does not have that argument (the word is in its register by chance), or is the code of
 * several generic ones; nor if the argument is a receiver, whose type is known, or the data word of
 * an interface. The caller knows that the function has no floating-point arguments, which are
 * described like others but are in other registers. */
static bool is_of_one_type(const struct flow *flow, uint32_t number)
{
    const uint32_t function = number / ARGUMENTS;
    const uint32_t argument = number % ARGUMENTS;
    const struct g2h_bytes name = pclntab_name(flow->pclntab, function);
    if (name.size == 0 || memchr(name.data, '[', name.size) ||
        flow_argument_count(flow, function) <= argument)
        return false;
    return argument > 0 ? !flow_is_pair(flow, function, argument - 1)
                        : flow->rules[function] == CALLEE_USUAL;
}

/* Adds the facts about a value as facts about the argument of a callee, or the result, that it is:
 * except that it is an interface's data word, which has other types elsewhere. Returns false if
 * memory runs out. */
static bool add_facts_to(struct arguments *arguments, uint32_t to, uint32_t value, uint64_t *left)
{
    const struct flow *flow = arguments->flow;
    struct argument_fact added = {.source = {.argument = to, .part = ARGUMENT_ADDRESS}};
    for (uint32_t fact = flow->values.data[value].first_fact; to != NONE && fact != NONE;
         fact = flow->facts.data[fact].next) {
        if (flow->facts.data[fact].kind != FLOW_IS_DATA &&
            !add_evidence(arguments, value, fact, &added, left))
            return false;
    }
    return true;
}

/* Records the words of data and bss and the arguments that a function passes to its callees, and
 * what it shows of new objects that it passes. Returns false if memory runs out. *left limits the
 * work. */
static bool arguments_add_passes(struct arguments *arguments, uint64_t *left)
{
    const struct flow *flow = arguments->flow;
    for (size_t i = 0; *left > 0 && i < flow->passes.count; i++) {
        const struct flow_pass *pass = &flow->passes.data[i];
        struct argument_pass passed = {.has_floats = pass->floats != FLOATS_NONE};
        struct argument_word word;
        if (!arguments_number_of(arguments, pass->callee, pass->argument, &passed.to))
            return false;
        word.to = passed.to;
        if (passed.to == NONE)
            continue;
        if (static_word_of(flow, pass->value, &word.word)) {
            --*left;
            if (!vector_push(&arguments->words, word))
                return false;
        } else if (source_of(flow, pass->value, &passed.from)) {
            --*left;
            if (pass->floats == FLOATS_OF_CALLER && is_whole(&passed.from))
                passed.has_floats =
                    flow_argument_count(flow, flow->function) > passed.from.argument + 1;
            if (!arguments_number_of(arguments, flow->function, passed.from.argument,
                                     &passed.from.argument) ||
                (passed.from.argument != NONE && passed.from.argument != passed.to &&
                 !vector_push(&arguments->passes, passed)))
                return false;
        } else if (flow->values.data[pass->value].first_fact != NONE && !passed.has_floats &&
                   is_of_one_type(flow, passed.to) &&
                   !add_facts_to(arguments, passed.to, pass->value, left)) {
            return false;
        }
    }
    return true;
}

/* If a value is the first result of a call of a known function, gets the number of this result;
 * *ret is NONE for other values. Returns false if memory runs out. */
static bool result_of(struct arguments *arguments, uint32_t value, uint32_t *ret)
{
    const struct flow_value *one = &arguments->flow->values.data[value];
    *ret = NONE;
    return one->origin != FLOW_RESULT || one->number != 0 || one->other == 0 ||
           arguments_number_of(arguments, one->other - 1, RESULT, ret);
}

/* If a value is the first result of a call, adds the facts about it as facts about this result.
 * That it is an interface's data word is none of them, see add_facts_to(): the pointer of a string
 * may by chance be stored to the slot beside that of a type. Returns false if memory runs out. */
static bool add_facts_of_result(struct arguments *arguments, uint32_t value, uint64_t *left)
{
    uint32_t result;
    return result_of(arguments, value, &result) && add_facts_to(arguments, result, value, left);
}

/* Adds the facts about the values that the function that was read last returns. Returns false if
 * memory runs out. */
static bool add_facts_of_returned(struct arguments *arguments, uint64_t *left)
{
    const struct flow *flow = arguments->flow;
    uint32_t result;
    if (!arguments_number_of(arguments, flow->function, RESULT, &result))
        return false;
    for (size_t i = 0; result != NONE && i < flow->returned.count; i++)
        if (!add_facts_to(arguments, result, stored_value(flow, flow->returned.data[i]), left))
            return false;
    return true;
}

/* Records the words of data and bss that a function sets to results. Returns false if memory runs
 * out. *left limits the work. */
static bool add_set_to_results(struct arguments *arguments, uint64_t *left)
{
    const struct flow *flow = arguments->flow;
    for (size_t i = 0; *left > 0 && i < flow->uses.count; i++) {
        const struct flow_use *use = &flow->uses.data[i];
        struct argument_word set = {.word = word_of_use(use)};
        if (use->base != 0 || use->value == 0)
            continue;
        if (!result_of(arguments, flow_before(flow, use->value), &set.to))
            return false;
        if (set.to == NONE)
            continue;
        --*left;
        if (!vector_push(&arguments->words, set))
            return false;
    }
    return true;
}

/* Notes that code uses what is at an offset from what an argument points to, up to a distance from
 * there. Offsets before it, and those that are too large, do not count. Returns false if memory
 * runs out. */
static bool note_reach(struct arguments *arguments, uint32_t argument, uint64_t offset,
                       uint64_t reach)
{
    enum { MOST = 1 << 20 };
    const uint32_t noted = (uint32_t)(offset + reach);
    uint32_t known;
    if (argument == NONE || reach == 0 || offset >= MOST || reach > MOST - offset)
        return true;
    if (!map_put(&arguments->reach, argument, noted, &known))
        return false;
    if (known < noted)
        map_set(&arguments->reach, argument, noted);
    return true;
}

/* Notes how far the function that was read last uses what its arguments point to, of those that are
 * described and no part of a larger one: how much of a slice or string it uses depends on the
 * length, and assembler code, which has no description, uses more or less. Returns false if memory
 * runs out. */
static bool add_reach(struct arguments *arguments)
{
    const struct flow *flow = arguments->flow;
    for (uint32_t i = 1; i < flow->values.count; i++) {
        struct argument_source source;
        const uint64_t reach = flow->values.data[i].reach;
        if (reach > 0 && flow->values.data[i].origin != FLOW_JOIN && source_of(flow, i, &source) &&
            source.part == ARGUMENT_ADDRESS &&
            flow_is_alone(flow, flow->function, source.argument) &&
            (!arguments_number_of(arguments, flow->function, source.argument, &source.argument) ||
             !note_reach(arguments, source.argument, source.offset, reach)))
            return false;
    }
    return true;
}

/* Adds the evidence in the function that was read last about its arguments, and its passes. *left:
 * how many pieces of evidence may still be added. Returns false if memory runs out. */
static bool arguments_add(struct arguments *arguments, uint64_t *left)
{
    const struct flow *flow = arguments->flow;
    for (uint32_t i = 1; *left > 0 && i < flow->values.count; i++) {
        struct argument_source source;
        if (!add_facts_of_result(arguments, i, left))
            return false;
        if (flow->values.data[i].first_fact != NONE && flow->values.data[i].origin != FLOW_JOIN &&
            source_of(flow, i, &source) && !add_facts(arguments, source, i, left))
            return false;
    }
    return add_stores(arguments, left) && add_set_to_results(arguments, left) &&
           add_facts_of_returned(arguments, left) && arguments_add_passes(arguments, left) &&
           add_reach(arguments);
}

/* ---- arguments: all functions ---- */

/* Orders arrays by distance and count. */
static int compare_arrays(const struct flow_array *one, const struct flow_array *other)
{
    return one->distance != other->distance ? COMPARE(one->distance, other->distance)
                                            : COMPARE(one->count, other->count);
}

/* Orders facts by argument, then by what of it they are about, then by what they say. */
static int compare_facts(const void *a, const void *b)
{
    const struct argument_fact *one = a;
    const struct argument_fact *other = b;
    const struct argument_source *source = &one->source;
    const struct argument_source *second = &other->source;
    if (source->argument != second->argument)
        return COMPARE(source->argument, second->argument);
    if (source->part != second->part)
        return COMPARE(source->part, second->part);
    if (source->offset != second->offset)
        return COMPARE(source->offset, second->offset);
    const int order = compare_arrays(&source->array, &second->array);
    return order != 0 ? order : compare_evidence(&one->evidence, &other->evidence);
}

/* Sorts the facts by argument, each once. */
static void sort_facts(struct arguments *arguments)
{
    size_t kept = 0;
    vector_sort(&arguments->facts, compare_facts);
    VECTOR_EACH(const struct argument_fact, fact, arguments->facts)
        if (kept == 0 || compare_facts(fact, &arguments->facts.data[kept - 1]) != 0)
            arguments->facts.data[kept++] = *fact;
    arguments->facts.count = kept;
}

/* Returns the index of the first fact about an argument, in the first `count` facts, which are
 * sorted. */
static size_t first_fact_of(const struct arguments *arguments, size_t count, uint32_t argument)
{
    size_t at;
    BISECT(at, count, arguments->facts.data[at].source.argument < argument);
    return at;
}

/* Adds the evidence about words that are set to results of functions as facts about these results:
 * what other code shows of the word holds for the result, but for what an interface's data says.
 * words->words is sorted. Returns false if memory runs out. *left limits the work. */
static bool learn_results(struct arguments *arguments, uint64_t *left,
                          const struct static_words *words)
{
    VECTOR_EACH(const struct argument_word, set, arguments->words) {
        size_t at;
        if (set->to % ARGUMENTS != RESULT || set->word.kind != STATIC_WORD)
            continue;
        BISECT(at, words->words.count, words->words.data[at].address < set->word.address);
        for (; *left > 0 && at < words->words.count; at++) {
            const struct static_word *word = &words->words.data[at];
            const struct argument_fact fact = {.source = {.argument = set->to},
                                               .evidence = word->evidence};
            if (word->address != set->word.address)
                break;
            if (word->kind != STATIC_WORD || fact.evidence.kind == FLOW_IS_DATA)
                continue;
            --*left;
            if (!vector_push(&arguments->facts, fact))
                return false;
        }
    }
    return true;
}

/* Translates a source relative to a callee's argument into one relative to the caller's argument
 * that is passed as it (from). Returns false if it would need two loads, or is in an array of
 * arrays. */
static bool translate_to_caller(const struct argument_source *from, struct argument_source *source)
{
    if (from->part == ARGUMENT_ADDRESS &&
        (from->array.distance == 0 || source->array.distance == 0)) {
        source->offset += from->offset;
        source->array = from->array.distance != 0 ? from->array : source->array;
    } else if (is_whole(source))
        *source = *from;
    else
        return false;
    source->argument = from->argument;
    return true;
}

/* Adds the facts about a callee's argument as facts about the caller's argument that is passed as
 * it; and the other way round, if the caller's is passed as a whole and the callee's has one type.
 * Facts that this adds are not passed on. Returns false if memory runs out. *left limits the work.
 */
static bool arguments_pass_on(struct arguments *arguments, uint64_t *left)
{
    const size_t count = arguments->facts.count;
    VECTOR_EACH(const struct argument_pass, pass, arguments->passes) {
        for (size_t j = first_fact_of(arguments, count, pass->to);
             j < count && arguments->facts.data[j].source.argument == pass->to && *left > 0; j++) {
            struct argument_fact fact = arguments->facts.data[j];
            --*left;
            if (translate_to_caller(&pass->from, &fact.source) &&
                !vector_push(&arguments->facts, fact))
                return false;
        }
        const bool is_evidence =
            is_whole(&pass->from) && !pass->has_floats && is_of_one_type(arguments->flow, pass->to);
        size_t j = first_fact_of(arguments, count, pass->from.argument);
        for (; is_evidence && *left > 0 && j < count; j++) {
            struct argument_fact fact = arguments->facts.data[j];
            if (fact.source.argument != pass->from.argument || !is_whole(&fact.source))
                break;
            --*left;
            fact.source.argument = pass->to;
            if (!vector_push(&arguments->facts, fact))
                return false;
        }
    }
    return true;
}

/* Translates a word into one in each element of an array at an offset of what it points to. Returns
 * false if that cannot be described. */
static bool follow_to_array(const struct argument_source *source, struct static_word *word)
{
    if ((word->kind != STATIC_WORD && word->kind != STATIC_INNER) || word->array.distance != 0)
        return false;
    word->kind = source->part == ARGUMENT_FIELD ? STATIC_FIELD : STATIC_INNER;
    word->array = source->array;
    word->offset += source->offset;
    return word->offset >= source->offset;
}

/* Translates a word that is passed as an argument into the word at a source relative to the
 * argument: the passed word itself, or one that it leads to. Returns false if that cannot be
 * described. */
static bool follow_source(const struct flow *flow, const struct argument_source *source,
                          struct static_word *word)
{
    if (word->kind == STATIC_VALUE && source->array.distance != 0) {
        word->kind = STATIC_ELEMENT_VALUE;
        word->array = source->array;
    } else if (word->kind == STATIC_ELEMENT_VALUE && word->inner.distance == 0) {
        word->inner = source->array;
    } else if (source->array.distance != 0) {
        return follow_to_array(source, word);
    }
    if (word->kind == STATIC_VALUE || word->kind == STATIC_ELEMENT_VALUE) {
        word->address += source->offset;
        if (source->part == ARGUMENT_FIELD)
            word->kind = word->kind == STATIC_VALUE ? STATIC_WORD : STATIC_ELEMENT;
        return flow_is_static(flow, word->address);
    }
    if (word->kind == STATIC_WORD && source->part == ARGUMENT_FIELD) {
        word->kind = STATIC_FIELD;
        word->offset = source->offset;
        return true;
    }
    if (word->kind == STATIC_WORD && source->offset > 0) {
        word->kind = STATIC_INNER;
        word->offset = source->offset;
        return true;
    }
    if (word->kind == STATIC_INNER) {
        word->kind = source->part == ARGUMENT_FIELD ? STATIC_FIELD : STATIC_INNER;
        word->offset += source->offset;
        return word->offset >= source->offset;
    }
    return source->part == ARGUMENT_ADDRESS && source->offset == 0;
}

/* Orders passed words by the argument that they are passed as. */
static int compare_passed(const void *a, const void *b)
{
    const struct argument_word *one = a;
    const struct argument_word *other = b;
    if (one->to != other->to)
        return COMPARE(one->to, other->to);
    return compare_static_words(&one->word, &other->word);
}

/* Orders extents by address. */
static int compare_extents(const void *a, const void *b)
{
    const struct static_extent *one = a;
    const struct static_extent *other = b;
    return COMPARE(one->address, other->address);
}

/* Finds how large variables are at least: as large as the part that functions use which get the
 * address, directly or passed on in up to ROUNDS further calls. Extents of one word say nothing;
 * those that overlap are joined. Returns false if memory runs out. */
static bool find_extents(struct arguments *arguments, struct static_words *words)
{
    const uint64_t word = sizeof(uint64_t);
    size_t kept = 0;
    enum { ROUNDS = 2 }; /* calls through which an argument is followed */
    for (unsigned i = 0; i < ROUNDS; i++)
        VECTOR_EACH(const struct argument_pass, pass, arguments->passes) {
            const uint32_t reach = map_get(&arguments->reach, pass->to);
            if (reach != MAP_NONE && pass->from.part == ARGUMENT_ADDRESS &&
                !note_reach(arguments, pass->from.argument, pass->from.offset, reach))
                return false;
        }
    VECTOR_EACH(const struct argument_word, passed, arguments->words) {
        const uint32_t reach = map_get(&arguments->reach, passed->to);
        const uint64_t address = passed->word.address;
        const struct static_extent extent = {address, address + (reach + word - 1) / word * word};
        if (reach != MAP_NONE && passed->word.kind == STATIC_VALUE && reach > word &&
            extent.end > address && flow_is_static(arguments->flow, extent.end - 1) &&
            !vector_push(&words->extents, extent))
            return false;
    }
    vector_sort(&words->extents, compare_extents);
    struct static_extent *list = words->extents.data;
    for (size_t i = 0; i < words->extents.count; i++)
        if (kept > 0 && list[i].address < list[kept - 1].end)
            list[kept - 1].end = MAX(list[kept - 1].end, list[i].end);
        else
            list[kept++] = list[i];
    words->extents.count = kept;
    return true;
}

/* Keeps the evidence about the arguments themselves, from the sorted facts. Returns false if memory
 * runs out. */
static bool arguments_keep(const struct arguments *arguments, struct static_words *words)
{
    VECTOR_EACH(const struct argument_fact, fact, arguments->facts) {
        const struct argument_source *source = &fact->source;
        const struct argument_evidence kept = {source->argument / ARGUMENTS,
                                               source->argument % ARGUMENTS, fact->evidence};
        const bool is_receiver =
            kept.argument == 0 && arguments->flow->rules[kept.function] == CALLEE_METHOD;
        if (is_whole(source) && kept.argument != RESULT && !is_receiver &&
            !vector_push(&words->arguments, kept))
            return false;
    }
    return true;
}

/* Adds to words->words the evidence about the words that are passed, when all functions have been
 * read: first passes what is known of arguments and results on to their callers and callees, then
 * translates it into that of each word. Keeps, too, what is known of arguments and the extents.
 * Returns false if memory runs out. *left limits the work. */
static bool arguments_join(struct arguments *arguments, uint64_t *left, struct static_words *words)
{
    vector_sort(&words->words, compare_static_words);
    if (!learn_results(arguments, left, words))
        return false;
    sort_facts(arguments);
    if (!arguments_pass_on(arguments, left))
        return false;
    sort_facts(arguments);
    vector_sort(&arguments->words, compare_passed);
    for (size_t i = 0; i < arguments->words.count; i++) {
        const struct argument_word *passed = &arguments->words.data[i];
        if (i > 0 && compare_passed(passed - 1, passed) == 0)
            continue;
        for (size_t j = first_fact_of(arguments, arguments->facts.count, passed->to);
             *left > 0 && j < arguments->facts.count &&
             arguments->facts.data[j].source.argument == passed->to;
             j++) {
            struct static_word word = passed->word;
            word.evidence = arguments->facts.data[j].evidence;
            --*left;
            if (follow_source(arguments->flow, &arguments->facts.data[j].source, &word) &&
                !vector_push(&words->words, word))
                return false;
        }
    }
    return arguments_keep(arguments, words) && find_extents(arguments, words);
}

/* Returns the index of the first evidence of an argument, or of what comes after it. */
size_t static_words_of_argument(const struct static_words *words, uint64_t function,
                                uint32_t argument)
{
    const struct argument_evidence *list = words->arguments.data;
    size_t at;
    BISECT(at, words->arguments.count,
           list[at].function != function ? list[at].function < function
                                         : list[at].argument < argument);
    return at;
}

static void arguments_deinit(struct arguments *arguments)
{
    map_deinit(&arguments->first_method);
    map_deinit(&arguments->reach);
    free(arguments->facts.data);
    free(arguments->passes.data);
    free(arguments->words.data);
}

struct static_words_finding {
    struct flow *flow;
    struct static_words *words;
    struct arguments arguments;
    struct map user_of; /* address → index in users */
    bool is_init;       /* the function initializes variables */
    bool is_main;       /* it is main.main, or in it: it uses much, and its name says nothing */
    uint32_t function;
    uint64_t left; /* pieces of evidence that may still be added */
};

/* The bytes of code for each piece of evidence that is kept. Go's code has one in 100. */
enum { BYTES_OF_EVIDENCE = 8 };

/* ---- evidence ---- */

/* Gets what the code of a function says about a value. A value without facts that was loaded from
 * another one's target gets the other's facts, or those that it had before paths joined, with the
 * offset of the load as a step. fact UINT32_MAX: the value has none. Returns false if there is
 * none. */
bool flow_evidence(const struct flow *flow, uint32_t value, uint32_t fact,
                   struct code_evidence *ret)
{
    *ret = (struct code_evidence){.step_count = 0};
    while (fact == UINT32_MAX) {
        const struct flow_value *one = &flow->values.data[value];
        if (one->origin != FLOW_FIELD || ret->step_count == CODE_STEPS)
            return false;
        for (unsigned i = ret->step_count++; i > 0; i--)
            ret->steps[i] = ret->steps[i - 1];
        ret->steps[0] = one->number;
        value = one->base;
        if (flow->values.data[value].first_fact == UINT32_MAX)
            value = flow_before(flow, value);
        fact = flow->values.data[value].first_fact;
    }
    ret->kind = flow->facts.data[fact].kind;
    ret->what = flow->facts.data[fact].what;
    ret->dictionary = flow->facts.data[fact].dictionary;
    return true;
}

/* Adds the facts about a value as evidence about a word; if the value has none, those about what it
 * was loaded from. Returns false if memory runs out. */
static bool static_words_add(struct static_words_finding *finding, struct static_word word,
                             uint32_t value)
{
    uint32_t fact = finding->flow->values.data[value].first_fact;
    do {
        if (finding->left > 0 && flow_evidence(finding->flow, value, fact, &word.evidence)) {
            finding->left--;
            if (!vector_push(&finding->words->words, word))
                return false;
        }
        fact = fact != UINT32_MAX ? finding->flow->facts.data[fact].next : fact;
    } while (fact != UINT32_MAX);
    return true;
}

/* Gets the word of data or bss that a value comes from; false if there is none. Only words that one
 * or two loads lead to are described. */
bool static_word_of(const struct flow *flow, uint32_t number, struct static_word *ret)
{
    const struct flow_value *value = &flow->values.data[number];
    *ret = (struct static_word){.address = value->number, .kind = STATIC_WORD};
    if (value->origin == FLOW_FIELD && flow->values.data[value->base].origin == FLOW_WORD) {
        ret->kind = STATIC_FIELD;
        ret->offset = value->number;
        ret->address = flow->values.data[value->base].number;
    } else if (value->origin == FLOW_OFFSET && flow->values.data[value->base].origin == FLOW_WORD) {
        ret->kind = STATIC_INNER;
        ret->offset = value->number;
        ret->address = flow->values.data[value->base].number;
    } else if (value->origin == FLOW_ELEMENT || value->origin == FLOW_ELEMENT_ADDRESS) {
        ret->kind = value->origin == FLOW_ELEMENT ? STATIC_ELEMENT : STATIC_ELEMENT_VALUE;
        ret->array.distance = value->base;
        ret->inner.distance = value->other;
        *(value->other != 0 ? &ret->inner.count : &ret->array.count) = value->count;
        return value->base != 0;
    } else if (value->origin == FLOW_ADDRESS && flow_is_static(flow, value->number)) {
        ret->kind = STATIC_VALUE;
    } else {
        return value->origin == FLOW_WORD;
    }
    return true;
}

/* Adds the facts about values that come from data and bss, or are addresses there. Returns false if
 * memory runs out. */
static bool static_words_add_values(struct static_words_finding *finding)
{
    const struct flow *flow = finding->flow;
    struct static_word word;
    for (uint32_t i = 1; i < flow->values.count; i++)
        if (flow->values.data[i].first_fact != UINT32_MAX && static_word_of(flow, i, &word) &&
            !static_words_add(finding, word, i))
            return false;
    return true;
}

/* Adds evidence about a word that is stored into a field of another value: the word has the field's
 * type. Returns false if memory runs out. */
static bool add_stored(struct static_words_finding *finding, const struct flow_use *use)
{
    const struct flow *flow = finding->flow;
    struct static_word word;
    uint32_t fact = flow->values.data[use->base].first_fact;
    if (use->value == 0 || !static_word_of(flow, use->value, &word))
        return true;
    do {
        if (finding->left > 0 && evidence_of_stored(flow, use, fact, &word.evidence)) {
            finding->left--;
            if (!vector_push(&finding->words->words, word))
                return false;
        }
        fact = fact != UINT32_MAX ? flow->facts.data[fact].next : fact;
    } while (fact != UINT32_MAX);
    return true;
}

/* ---- users ---- */

/* Returns the array with the larger elements; of one array, what more is known of. */
static struct flow_array max_array(struct flow_array one, struct flow_array other)
{
    if (one.distance == other.distance)
        one.count = MAX(one.count, other.count);
    return one.distance < other.distance ? other : one;
}

/* Records a function that uses a word, unless a better one is known: one that sets it, or else
 * uses it, outside of initialization; of two such, one that is not main.main. The name of such a
 * function says most about a variable without a symbol. What is known of arrays at the word, of its
 * address, and its first initializer, remains in any case. Returns false if memory runs out. */
static bool add_user(struct static_words_finding *finding, const struct flow_use *use)
{
    static const enum static_use how[2][2] = {{STATIC_USED, STATIC_SET},
                                              {STATIC_USED_BY_INIT, STATIC_INITIALIZED}};
    const struct static_user user = {.address = use->address,
                                     .function = finding->function,
                                     .at = use->at,
                                     .array = use->array,
                                     .inner = use->inner,
                                     .is_address = use->is_address,
                                     .is_main = finding->is_main,
                                     .is_initialized = finding->is_init,
                                     .initializer = finding->function,
                                     .initialized_at = use->at,
                                     .how = how[finding->is_init][use->is_store]};
    const uint32_t added = as_u32(finding->words->users.count);
    uint32_t number;
    if (!map_put(&finding->user_of, use->address, added, &number))
        return false;
    if (number == added)
        return vector_push(&finding->words->users, user);
    struct static_user *best = &finding->words->users.data[number];
    const struct static_user first = best->is_initialized ? *best : user;
    const struct flow_array array = max_array(best->array, user.array),
                            inner = max_array(best->inner, user.inner);
    const bool is_address = best->is_address || user.is_address;
    if (user.how > best->how || (user.how == best->how && best->is_main && !user.is_main))
        *best = user;
    best->array = array;
    best->inner = inner;
    best->is_address = is_address;
    best->is_initialized = first.is_initialized;
    best->initializer = first.initializer;
    best->initialized_at = first.initialized_at;
    return true;
}

/* Records the uses of words in a function, and adds evidence about the values that are stored into
 * them. The word is one of data or bss, an element of an array there (with a distance), or a field
 * of what a word points to; targets of other values are only evidence about those. Returns false if
 * memory runs out. */
static bool add_uses(struct static_words_finding *finding)
{
    const struct flow *flow = finding->flow;
    VECTOR_EACH(const struct flow_use, use, flow->uses) {
        struct static_word word = word_of_use(use);
        if (use->base != 0) {
            if (!add_stored(finding, use))
                return false;
            if (flow->values.data[use->base].origin != FLOW_WORD)
                continue;
            word = (struct static_word){.kind = STATIC_FIELD,
                                        .offset = use->address,
                                        .address = flow->values.data[use->base].number};
        } else if (!use->is_by_callee && !add_user(finding, use)) {
            return false;
        }
        if (use->value != 0 && !static_words_add(finding, word, stored_value(flow, use->value)))
            return false;
    }
    return true;
}

/* ---- all functions ---- */

/* Compares field by field, kind first; the order has no meaning but that equal ones follow each
 * other. */
int compare_evidence(const void *a, const void *b)
{
    const struct code_evidence *one = a;
    const struct code_evidence *other = b;
    const uint64_t pairs[][2] = {
        {one->kind, other->kind},
        {one->what, other->what},
        {one->dictionary, other->dictionary},
        {one->step_count, other->step_count},
        {one->is_stored, other->is_stored},
        {one->steps[0], other->steps[0]},
        {one->steps[1], other->steps[1]},
    };
    for (size_t i = 0; i < COUNT_OF(pairs); i++)
        if (pairs[i][0] != pairs[i][1])
            return COMPARE(pairs[i][0], pairs[i][1]);
    return 0;
}

/* Orders words by address, kind, offset and distances, then by their evidence. */
int compare_static_words(const void *a, const void *b)
{
    const struct static_word *one = a;
    const struct static_word *other = b;
    if (one->address != other->address)
        return COMPARE(one->address, other->address);
    if (one->kind != other->kind)
        return COMPARE(one->kind, other->kind);
    if (one->offset != other->offset)
        return COMPARE(one->offset, other->offset);
    if (one->array.distance != other->array.distance)
        return COMPARE(one->array.distance, other->array.distance);
    if (one->inner.distance != other->inner.distance)
        return COMPARE(one->inner.distance, other->inner.distance);
    const int order = compare_evidence(&one->evidence, &other->evidence);
    if (order != 0)
        return order;
    return one->array.count != other->array.count ? COMPARE(one->array.count, other->array.count)
                                                  : COMPARE(one->inner.count, other->inner.count);
}

/* Orders users by the word's address. */
static int compare_users(const void *a, const void *b)
{
    const struct static_user *one = a;
    const struct static_user *other = b;
    return COMPARE(one->address, other->address);
}

/* Drops repeated evidence about a word; it is sorted. */
static void drop_equal(struct static_words *words)
{
    size_t kept = 0;
    VECTOR_EACH(const struct static_word, word, words->words)
        if (kept == 0 || compare_static_words(&words->words.data[kept - 1], word) != 0)
            words->words.data[kept++] = *word;
    words->words.count = kept;
}

/* Adds an array of which code uses words, or values, at an address in the first element. may_begin:
 * the elements may begin there. Otherwise only the word in the last element is known to be in the
 * array. Returns false if memory runs out. */
static bool add_array(const struct flow *flow, static_array_vector *list, uint64_t address,
                      struct flow_array array, bool may_begin)
{
    enum { WORD = 8 };
    const uint64_t last = address + (uint64_t)array.distance * (MAX(array.count, 1) - 1),
                   end = last + (may_begin ? array.distance : WORD);
    const struct static_array added = {address, end, array};
    return array.distance == 0 || array.count == 0 || end <= address ||
           !flow_is_static(flow, end - 1) || vector_push(list, added);
}

/* Adds the arrays of which code uses elements at an address, and those in each element. Returns
 * false if memory runs out. */
static bool add_arrays(const struct flow *flow, struct static_words *words, uint64_t address,
                       const struct flow_array *both, bool is_address)
{
    enum { ALIGNMENT = 32 }; /* of variables of as many bytes: the linker's */
    const bool may_begin = is_address && address % ALIGNMENT == 0;
    return add_array(flow, &words->arrays, address, both[0], may_begin) &&
           (both[0].distance == 0 ||
            add_array(flow, &words->inner_arrays, address, both[1], false));
}

/* Orders arrays by address; the one with the largest elements first. */
static int compare_static_arrays(const void *a, const void *b)
{
    const struct static_array *one = a;
    const struct static_array *other = b;
    if (one->address != other->address)
        return COMPARE(one->address, other->address);
    return COMPARE(other->array.distance, one->array.distance);
}

/* Sorts arrays, and makes one of those with elements of one size whose words are less than one
 * element apart. Drops others that begin in one. */
static void join_arrays(static_array_vector *list)
{
    size_t kept = 0;
    vector_sort(list, compare_static_arrays);
    VECTOR_EACH(const struct static_array, array, *list) {
        struct static_array *last = kept > 0 ? &list->data[kept - 1] : NULL;
        const uint64_t distance = array->array.distance;
        if (last && distance == last->array.distance && array->address - last->address < distance) {
            last->end = MAX(last->end, array->end);
            last->array.count = MAX(last->array.count, array->array.count);
        } else if (!last || array->address >= last->end) {
            list->data[kept++] = *array;
        }
    }
    list->count = kept;
}

/* Ends an array at the first word behind the last one that code uses by the index, if code uses it
 * in another way: another variable may be there. Words at the place of a field which code uses by
 * the index in the first element do not count. */
static void cut_array(const struct static_words *words, struct static_array *array)
{
    const struct static_user *users = words->users.data;
    const uint64_t distance = array->array.distance;
    size_t at, first;
    BISECT(at, words->users.count,
           users[at].address <= array->address + distance * (array->array.count - 1));
    for (; at < words->users.count && users[at].address < array->end; at++) {
        const uint64_t field = array->address + (users[at].address - array->address) % distance;
        BISECT(first, words->users.count, users[first].address < field);
        if (users[first].address != field || users[first].array.distance != distance)
            array->end = users[at].address;
    }
}

/* Finds the arrays whose elements code uses by an index with a known bound, from the users and the
 * evidence about arguments. Returns false if memory runs out. */
static bool find_static_arrays(const struct flow *flow, struct static_words *words)
{
    VECTOR_EACH(const struct static_user, user, words->users) {
        const struct flow_array both[] = {user->array, user->inner};
        if (!add_arrays(flow, words, user->address, both, user->is_address))
            return false;
    }
    VECTOR_EACH(const struct static_word, word, words->words) {
        const struct flow_array both[] = {word->array, word->inner};
        if (word->kind == STATIC_FIELD || word->kind == STATIC_INNER)
            continue; /* theirs are where the word points to */
        if (!add_arrays(flow, words, word->address, both, word->kind == STATIC_ELEMENT_VALUE))
            return false;
    }
    join_arrays(&words->arrays);
    join_arrays(&words->inner_arrays);
    for (size_t i = 0; i < words->arrays.count; i++)
        cut_array(words, &words->arrays.data[i]);
    return true;
}

/* Returns whether a function initializes a package's variables, by its name: main.init,
 * main.init.0, main.init.func1. */
static bool is_initializer(struct g2h_bytes name)
{
    static const char init[] = ".init";
    const size_t size = sizeof(init) - 1;
    return bytes_contain(name, ".init.") ||
           (name.size > size && memcmp(name.data + name.size - size, init, size) == 0);
}

/* Returns whether a part of a function's name is a number that the compiler gave: "func1", "2". */
static bool is_numbered(struct g2h_bytes part)
{
    static const char *const words[] = {"func", "gowrap", "deferwrap", ""};
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        size_t at = strlen(words[i]);
        if (part.size <= at || memcmp(part.data, words[i], at) != 0)
            continue;
        while (at < part.size && part.data[at] >= '0' && part.data[at] <= '9')
            at++;
        if (at == part.size)
            return true;
    }
    return false;
}

/* Returns whether a function is main.main, or one in it: main.main.func1; but not one of another
 * function that is inlined there: main.main.Limit.func2. */
static bool is_in_main(struct g2h_bytes name)
{
    static const char of_main[] = "main.main";
    size_t at = sizeof(of_main) - 1;
    if (name.size < at || memcmp(name.data, of_main, at) != 0)
        return false;
    while (at < name.size && name.data[at] == '.') {
        const uint8_t *begin = name.data + at + 1,
                      *end = memchr(begin, '.', as_size(name.data + name.size - begin));
        const size_t size = as_size((end ? end : name.data + name.size) - begin);
        if (!is_numbered((struct g2h_bytes){begin, size}))
            return false;
        at += 1 + size;
    }
    return at == name.size;
}

static void static_words_finding_deinit(struct static_words_finding *finding)
{
    map_deinit(&finding->user_of);
    arguments_deinit(&finding->arguments);
}

/* Finds what code says about words of data and bss. Reads each function once. Evidence about
 * arguments reaches the words that are passed only after all functions have been read. */
struct g2h_error *static_words_find(struct flow *flow, struct static_words *ret)
{
    _cleanup_(static_words_finding_deinit) struct static_words_finding finding = {
        .flow = flow, .words = ret, .arguments.flow = flow, .left = flow->left / BYTES_OF_EVIDENCE};
    for (uint64_t i = 0; i < flow->pclntab->count && i < UINT32_MAX; i++) {
        TRY(flow_read(flow, i, false));
        finding.function = as_u32(i);
        const bool has_uses = flow->uses.count > 0;
        finding.is_init = has_uses && is_initializer(pclntab_name(flow->pclntab, i));
        finding.is_main = has_uses && is_in_main(pclntab_name(flow->pclntab, i));
        TRY_MEMORY(static_words_add_values(&finding) && add_uses(&finding) &&
                   arguments_add(&finding.arguments, &finding.left));
    }
    TRY_MEMORY(arguments_join(&finding.arguments, &finding.left, ret));
    vector_sort(&ret->words, compare_static_words);
    vector_sort(&ret->users, compare_users);
    drop_equal(ret);
    TRY_MEMORY(find_static_arrays(flow, ret));
    assert(IS_ORDERED(i, ret->users.count, /* one for each word */
                      ret->users.data[i - 1].address < ret->users.data[i].address));
    assert(IS_ORDERED(i, ret->words.count,
                      compare_static_words(&ret->words.data[i - 1], &ret->words.data[i]) < 0));
    assert(IS_ORDERED(i, ret->arguments.count,
                      ret->arguments.data[i - 1].function <= ret->arguments.data[i].function));
    return NULL;
}

void static_words_deinit(struct static_words *words)
{
    free(words->words.data);
    free(words->users.data);
    free(words->arrays.data);
    free(words->inner_arrays.data);
    free(words->arguments.data);
    free(words->extents.data);
}
