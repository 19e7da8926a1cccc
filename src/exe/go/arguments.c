/* arguments; see arguments.h. */
#include "exe/go/arguments.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/bytes.h"
#include "exe/go/callees.h"

enum { NONE = UINT32_MAX, ARGUMENTS = 16 /* more than a machine passes in registers */ };

/* Returns the prefix of a method's name that its type's other methods share: main.(*T; empty if
 * there is none. */
static struct g2h_bytes arguments_receiver_of(struct g2h_bytes name)
{
    const uint8_t *close = name.size > 0 ? memmem(name.data, (size_t)name.size, ").", 2) : NULL;
    return (struct g2h_bytes){name.data, close ? (uint64_t)(close - name.data) : 0};
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
    if (!map_put(&arguments->first_method, map_hash_text(receiver.data, (size_t)receiver.size),
                 method, ret))
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
    if (argument == 0 && arguments->flow->rules[function] == CALLEE_METHOD &&
        !first_of_type(arguments, first, &first))
        return false;
    *ret = first * ARGUMENTS + argument;
    return true;
}

/* ---- one function ---- */

/* Gets the source of a value that comes from an argument: source->argument is the argument's
 * index. */
static bool source_of(const struct flow *flow, uint32_t value, struct argument_source *ret)
{
    const struct flow_value *one = &flow->values.data[flow_before(flow, value)];
    *ret = (struct argument_source){.part = ARGUMENT_ADDRESS};
    if (one->origin == FLOW_FIELD) {
        *ret = (struct argument_source){.part = ARGUMENT_FIELD, .offset = one->number};
        one = &flow->values.data[flow_before(flow, one->base)];
    }
    if (one->origin == FLOW_OFFSET) {
        ret->offset += one->number;
        one = &flow->values.data[flow_before(flow, one->base)];
    }
    ret->argument = (uint32_t)one->number;
    return one->origin == FLOW_ARGUMENT;
}

/* Adds the facts about a value as facts about a source in the arguments. */
static bool add_facts(struct arguments *arguments, struct argument_source source, uint32_t value,
                      uint64_t *left)
{
    const struct flow *flow = arguments->flow;
    struct argument_fact added = {.source = source};
    const bool is_argument = source.part == ARGUMENT_ADDRESS && source.offset == 0;
    if (!arguments_number_of(arguments, flow->function, source.argument, &added.source.argument))
        return false;
    /* An interface's data word has other types elsewhere. */
    if (flow->values.data[value].first_fact == NONE || added.source.argument == NONE ||
        (source.argument > 0 && flow_is_pair(flow, flow->function, source.argument - 1)))
        return true;
    for (uint32_t fact = flow->values.data[value].first_fact; fact != NONE;
         fact = flow->facts.data[fact].next) {
        uint32_t receiver = NONE;
        const bool is_receiver = flow->facts.data[fact].kind == FLOW_IS_RECEIVER;
        if (is_receiver &&
            !arguments_number_of(arguments, flow->facts.data[fact].what, 0, &receiver))
            return false;
        /* Skips the fact that a receiver is one. */
        if (*left == 0 || flow->facts.data[fact].kind == FLOW_IS_DATA ||
            (is_argument && receiver == added.source.argument) ||
            !flow_evidence(flow, value, fact, &added.evidence))
            continue;
        --*left;
        if (!vector_push(&arguments->facts, added))
            return false;
    }
    return true;
}

/* Returns whether a value is stored into interfaces. */
static bool is_data(const struct flow *flow, uint32_t value)
{
    uint32_t fact = flow->values.data[value].first_fact;
    while (fact != NONE && flow->facts.data[fact].kind != FLOW_IS_DATA)
        fact = flow->facts.data[fact].next;
    return fact != NONE;
}

/* Adds the stores to the targets of arguments. */
static bool add_stores(struct arguments *arguments, uint64_t *left)
{
    const struct flow *flow = arguments->flow;
    for (size_t i = 0; i < flow->uses.count; i++) {
        const struct flow_use *use = &flow->uses.data[i];
        struct argument_source source;
        if (use->base == 0 || is_data(flow, use->value) || !source_of(flow, use->base, &source) ||
            source.part != ARGUMENT_ADDRESS)
            continue;
        source.part = ARGUMENT_FIELD;
        source.offset += use->address;
        if (!add_facts(arguments, source, use->value, left))
            return false;
    }
    return true;
}

/* Records the words and arguments that a function passes to its callees. */
static bool arguments_add_passes(struct arguments *arguments, uint64_t *left)
{
    const struct flow *flow = arguments->flow;
    for (size_t i = 0; *left > 0 && i < flow->passes.count; i++) {
        const struct flow_pass *pass = &flow->passes.data[i];
        struct argument_pass passed;
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
            if (!arguments_number_of(arguments, flow->function, passed.from.argument,
                                     &passed.from.argument) ||
                (passed.from.argument != NONE && passed.from.argument != passed.to &&
                 !vector_push(&arguments->passes, passed)))
                return false;
        }
    }
    return true;
}

bool arguments_add(struct arguments *arguments, uint64_t *left)
{
    const struct flow *flow = arguments->flow;
    for (uint32_t i = 1; *left > 0 && i < flow->values.count; i++) {
        struct argument_source source;
        if (flow->values.data[i].first_fact != NONE && flow->values.data[i].origin != FLOW_JOIN &&
            source_of(flow, i, &source) && !add_facts(arguments, source, i, left))
            return false;
    }
    return add_stores(arguments, left) && arguments_add_passes(arguments, left);
}

/* ---- all functions ---- */

static int compare_facts(const void *a, const void *b)
{
    const struct argument_fact *one = a, *other = b;
    const struct argument_source *source = &one->source, *second = &other->source;
    if (source->argument != second->argument)
        return source->argument < second->argument ? -1 : 1;
    if (source->part != second->part)
        return source->part < second->part ? -1 : 1;
    if (source->offset != second->offset)
        return source->offset < second->offset ? -1 : 1;
    return compare_evidence(&one->evidence, &other->evidence);
}

/* Sorts the facts by argument, each once. */
static void sort_facts(struct arguments *arguments)
{
    size_t kept = 0;
    vector_sort(&arguments->facts, compare_facts);
    for (size_t i = 0; i < arguments->facts.count; i++) {
        const struct argument_fact *fact = &arguments->facts.data[i];
        if (kept == 0 || compare_facts(fact, &arguments->facts.data[kept - 1]) != 0)
            arguments->facts.data[kept++] = *fact;
    }
    arguments->facts.count = kept;
}

static size_t first_fact_of(const struct arguments *arguments, uint32_t argument)
{
    size_t at;
    BISECT(at, arguments->facts.count, arguments->facts.data[at].source.argument < argument);
    return at;
}

/* Translates a source relative to a callee's argument into one relative to the caller's argument
 * that is passed as it. */
static bool before_pass(const struct argument_source *from, struct argument_source *source)
{
    if (from->part == ARGUMENT_ADDRESS)
        source->offset += from->offset;
    else if (source->part == ARGUMENT_ADDRESS && source->offset == 0)
        *source = *from;
    else
        return false;
    source->argument = from->argument;
    return true;
}

/* A callee's facts about its argument hold for the caller's argument that is passed as it. */
static bool arguments_pass_on(struct arguments *arguments, uint64_t *left)
{
    const size_t count = arguments->facts.count;
    for (size_t i = 0; i < arguments->passes.count; i++) {
        const struct argument_pass *pass = &arguments->passes.data[i];
        for (size_t j = first_fact_of(arguments, pass->to);
             j < count && arguments->facts.data[j].source.argument == pass->to && *left > 0; j++) {
            struct argument_fact fact = arguments->facts.data[j];
            --*left;
            if (before_pass(&pass->from, &fact.source) && !vector_push(&arguments->facts, fact))
                return false;
        }
    }
    return true;
}

/* Translates a passed word into the word at a source relative to the argument. */
static bool behind_word(const struct flow *flow, const struct argument_source *source,
                        struct static_word *word)
{
    if (word->kind == STATIC_VALUE) {
        word->address += source->offset;
        word->kind = source->part == ARGUMENT_FIELD ? STATIC_WORD : STATIC_VALUE;
        return flow_is_static(flow, word->address);
    }
    if (word->kind == STATIC_WORD && source->part == ARGUMENT_FIELD) {
        word->kind = STATIC_FIELD;
        word->offset = source->offset;
        return true;
    }
    return source->part == ARGUMENT_ADDRESS && source->offset == 0;
}

static int compare_passed(const void *a, const void *b)
{
    const struct argument_word *one = a, *other = b;
    return one->to != other->to ? (one->to < other->to ? -1 : 1)
                                : compare_static_words(&one->word, &other->word);
}

bool arguments_join(struct arguments *arguments, uint64_t *left, struct static_words *words)
{
    sort_facts(arguments);
    if (!arguments_pass_on(arguments, left))
        return false;
    sort_facts(arguments);
    vector_sort(&arguments->words, compare_passed);
    for (size_t i = 0; i < arguments->words.count; i++) {
        const struct argument_word *passed = &arguments->words.data[i];
        if (i > 0 && compare_passed(passed - 1, passed) == 0)
            continue;
        for (size_t j = first_fact_of(arguments, passed->to);
             *left > 0 && j < arguments->facts.count &&
             arguments->facts.data[j].source.argument == passed->to;
             j++) {
            struct static_word word = passed->word;
            word.evidence = arguments->facts.data[j].evidence;
            --*left;
            if (behind_word(arguments->flow, &arguments->facts.data[j].source, &word) &&
                !vector_push(&words->words, word))
                return false;
        }
    }
    return true;
}

void arguments_deinit(struct arguments *arguments)
{
    map_deinit(&arguments->first_method);
    free(arguments->facts.data);
    free(arguments->passes.data);
    free(arguments->words.data);
}
