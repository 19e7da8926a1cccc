/* static_words; see static_words.h. */
#include "exe/go/static_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/scope.h"
#include "exe/go/arguments.h"

struct static_words_finding {
    struct flow *flow;
    struct static_words *words;
    struct arguments arguments;
    struct map user_of; /* address → index in users */
    bool is_init;       /* the function initializes variables */
    uint32_t function;
    uint64_t left; /* pieces of evidence that may still be added */
};

/* The bytes of code for each piece of evidence that is kept. Go's code has one in 100. */
enum { BYTES_OF_EVIDENCE = 8 };

/* ---- evidence ---- */

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
        fact = flow->values.data[value].first_fact;
    }
    ret->kind = flow->facts.data[fact].kind;
    ret->what = flow->facts.data[fact].what;
    ret->dictionary = flow->facts.data[fact].dictionary;
    return true;
}

/* Adds the facts about a value as evidence about a word. */
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

bool static_word_of(const struct flow *flow, uint32_t number, struct static_word *ret)
{
    const struct flow_value *value = &flow->values.data[number];
    *ret = (struct static_word){.address = value->number, .kind = STATIC_WORD};
    if (value->origin == FLOW_FIELD && flow->values.data[value->base].origin == FLOW_WORD) {
        ret->kind = STATIC_FIELD;
        ret->offset = value->number;
        ret->address = flow->values.data[value->base].number;
    } else if (value->origin == FLOW_ELEMENT) {
        ret->kind = STATIC_ELEMENT;
        ret->offset = value->base;
    } else if (value->origin == FLOW_ADDRESS && flow_is_static(flow, value->number)) {
        ret->kind = STATIC_VALUE;
    } else {
        return value->origin == FLOW_WORD;
    }
    return true;
}

/* Adds the facts about values that come from data and bss, or are addresses there. */
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

/* A value that is stored into a field is of the field's type. */
static bool add_stored(struct static_words_finding *finding, const struct flow_use *use)
{
    const struct flow *flow = finding->flow;
    struct static_word word;
    uint32_t fact = flow->values.data[use->base].first_fact;
    if (use->value == 0 || !static_word_of(flow, use->value, &word))
        return true;
    do {
        struct code_evidence *evidence = &word.evidence;
        if (finding->left > 0 && flow_evidence(flow, use->base, fact, evidence) &&
            evidence->step_count < CODE_STEPS) {
            finding->left--;
            evidence->steps[evidence->step_count++] = use->address;
            evidence->is_stored = true;
            if (!vector_push(&finding->words->words, word))
                return false;
        }
        fact = fact != UINT32_MAX ? flow->facts.data[fact].next : fact;
    } while (fact != UINT32_MAX);
    return true;
}

/* ---- users ---- */

/* Records a use of a word, unless a better one is known: one that sets it. */
static bool add_user(struct static_words_finding *finding, const struct flow_use *use)
{
    const struct static_user user = {.address = use->address,
                                     .function = finding->function,
                                     .at = use->at,
                                     .distance = use->distance,
                                     .is_address = use->is_address,
                                     .how = !use->is_store     ? STATIC_USED
                                            : finding->is_init ? STATIC_INITIALIZED
                                                               : STATIC_SET};
    const uint32_t added = (uint32_t)finding->words->users.count;
    uint32_t number;
    if (!map_put(&finding->user_of, use->address, added, &number))
        return false;
    if (number == added)
        return vector_push(&finding->words->users, user);
    struct static_user *best = &finding->words->users.data[number];
    const uint32_t distance = best->distance > user.distance ? best->distance : user.distance;
    const bool is_address = best->is_address || user.is_address;
    if (user.how > best->how)
        *best = user;
    best->distance = distance;
    best->is_address = is_address;
    return true;
}

/* Records the uses of a function, and the stored values as evidence. */
static bool add_uses(struct static_words_finding *finding)
{
    const struct flow *flow = finding->flow;
    for (size_t i = 0; i < flow->uses.count; i++) {
        const struct flow_use *use = &flow->uses.data[i];
        struct static_word word = {.address = use->address,
                                   .kind = use->distance != 0 ? STATIC_ELEMENT : STATIC_WORD,
                                   .offset = use->distance};
        if (use->base != 0) {
            if (!add_stored(finding, use))
                return false;
            if (flow->values.data[use->base].origin != FLOW_WORD)
                continue;
            word.kind = STATIC_FIELD;
            word.offset = use->address;
            word.address = flow->values.data[use->base].number;
        } else if (!add_user(finding, use)) {
            return false;
        }
        if (use->value != 0 && !static_words_add(finding, word, use->value))
            return false;
    }
    return true;
}

/* ---- all functions ---- */

int compare_evidence(const void *a, const void *b)
{
    const struct code_evidence *one = a, *other = b;
    const uint64_t pairs[][2] = {
        {one->kind, other->kind},
        {one->what, other->what},
        {one->dictionary, other->dictionary},
        {one->step_count, other->step_count},
        {one->is_stored, other->is_stored},
        {one->steps[0], other->steps[0]},
        {one->steps[1], other->steps[1]},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (pairs[i][0] != pairs[i][1])
            return pairs[i][0] < pairs[i][1] ? -1 : 1;
    return 0;
}

int compare_static_words(const void *a, const void *b)
{
    const struct static_word *one = a, *other = b;
    if (one->address != other->address)
        return one->address < other->address ? -1 : 1;
    if (one->kind != other->kind)
        return one->kind < other->kind ? -1 : 1;
    if (one->offset != other->offset)
        return one->offset < other->offset ? -1 : 1;
    return compare_evidence(&one->evidence, &other->evidence);
}

static int compare_users(const void *a, const void *b)
{
    const struct static_user *one = a, *other = b;
    return (one->address > other->address) - (one->address < other->address);
}

static void drop_equal(struct static_words *words)
{
    size_t kept = 0;
    for (size_t i = 0; i < words->words.count; i++)
        if (kept == 0 ||
            compare_static_words(&words->words.data[kept - 1], &words->words.data[i]) != 0)
            words->words.data[kept++] = words->words.data[i];
    words->words.count = kept;
}

static bool initializes(struct g2h_bytes name)
{
    static const char init[] = ".init";
    const size_t size = sizeof(init) - 1;
    return bytes_contain(name, ".init.") ||
           (name.size > size && memcmp(name.data + name.size - size, init, size) == 0);
}

static void static_words_finding_deinit(struct static_words_finding *finding)
{
    map_deinit(&finding->user_of);
    arguments_deinit(&finding->arguments);
}

struct g2h_error *static_words_find(struct flow *flow, struct static_words *ret)
{
    _cleanup_(static_words_finding_deinit) struct static_words_finding finding = {
        .flow = flow, .words = ret, .arguments.flow = flow, .left = flow->left / BYTES_OF_EVIDENCE};
    for (uint64_t i = 0; i < flow->pclntab->count && i < UINT32_MAX; i++) {
        TRY(flow_read(flow, i, false));
        finding.function = (uint32_t)i;
        finding.is_init = flow->uses.count > 0 && initializes(pclntab_name(flow->pclntab, i));
        TRY_MEMORY(static_words_add_values(&finding) && add_uses(&finding) &&
                   arguments_add(&finding.arguments, &finding.left));
    }
    TRY_MEMORY(arguments_join(&finding.arguments, &finding.left, ret));
    vector_sort(&ret->words, compare_static_words);
    vector_sort(&ret->users, compare_users);
    drop_equal(ret);
    return NULL;
}

void static_words_deinit(struct static_words *words)
{
    free(words->words.data);
    free(words->users.data);
}
