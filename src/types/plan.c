/* plan; see plan.h. */
#include "types/plan.h"

#include <stdlib.h>
#include <string.h>

/* A type may say that it is an array of 2^60 structs. What is larger than these has no plan; an
 * array of it still has one per element. */
enum { MOST_LEAVES = 1 << 16, MOST_WORDS = 1 << 18, MOST_STEPS = 1 << 18, DEEPEST = 64 };

/* Each plan has some steps for itself; those beyond, of all plans together. Kubernetes' takes a
 * tenth of them. */
enum { OWN_STEPS = 64, SHARED_STEPS = 1 << 22 };

struct maker {
    const struct types *types;
    VECTOR(struct leaf) leaves;
    VECTOR(uint32_t) words;
    uint32_t *leaf_of_word;
    uint64_t steps, most; /* structs within structs double with each level */
    bool known, no_memory;
};

/* Whether the collector looks at the first word of an interface: older compilers have it so. Some
 * descriptor tells. */
static bool has_first_words(const struct types *types)
{
    for (size_t i = 0; i < types->list.count; i++)
        if (types->list.data[i].kind == TYPE_INTERFACE && types->list.data[i].gc_mask &&
            types->list.data[i].role == ROLE_NONE)
            return (types->list.data[i].gc_mask[0] & 1) != 0;
    return false;
}

struct g2h_error *plans_init(struct plans *plans, const struct types *types)
{
    *plans = (struct plans){.types = types, .count = types->list.count};
    plans->of_type = calloc(plans->count + 1, sizeof(struct plan *));
    if (!plans->of_type)
        return &error_no_memory;
    pthread_mutex_init(&plans->mutex, NULL);
    plans->first_words = has_first_words(types);
    plans->left = SHARED_STEPS;
    return NULL;
}

static void plan_destroy(struct plan *plan)
{
    if (!plan)
        return;
    free(plan->leaves);
    free(plan->words);
    free(plan->leaf_of_word);
    free(plan->code);
    free(plan);
}

void plans_deinit(struct plans *plans)
{
    if (!plans->of_type)
        return;
    for (size_t i = 0; i < plans->count; i++)
        plan_destroy(plans->of_type[i]);
    free(plans->of_type);
    pthread_mutex_destroy(&plans->mutex);
    *plans = (struct plans){0};
}

/* ---- leaves ---- */

static void add_leaf(struct maker *maker, uint64_t offset, uint32_t number)
{
    const struct type *type = &maker->types->list.data[number];
    const struct leaf leaf = {offset, number, type->kind == TYPE_STRING};
    if (type->pointer_bytes == 0)
        return; /* a pointer to what is never in the heap, which the collector passes over */
    if (maker->leaves.count == MOST_LEAVES)
        maker->known = false;
    else if (!vector_push(&maker->leaves, leaf))
        maker->no_memory = true;
}

static void flatten(struct maker *maker, uint32_t number, uint64_t base, unsigned depth)
{
    if (!maker->known || maker->no_memory)
        return;
    if (number >= maker->types->list.count || depth > DEEPEST || ++maker->steps > maker->most) {
        maker->known = false;
        return;
    }
    const struct type *type = &maker->types->list.data[number];
    switch ((enum type_kind)type->kind) {
    case TYPE_CHAN:
    case TYPE_FUNC:
    case TYPE_INTERFACE:
    case TYPE_MAP:
    case TYPE_POINTER:
    case TYPE_SLICE:
    case TYPE_STRING:
    case TYPE_UNSAFE_POINTER:
        add_leaf(maker, base, number);
        break;
    case TYPE_STRUCT:
        for (uint32_t i = 0; i < type->field_count; i++) {
            const struct type_field *field = &maker->types->fields.data[type->first_field + i];
            flatten(maker, field->type, base + field->offset, depth + 1);
        }
        break;
    case TYPE_ARRAY: {
        if (type->elem >= maker->types->list.count) {
            maker->known = false;
            break;
        }
        const uint64_t stride = maker->types->list.data[type->elem].size;
        const size_t before = maker->leaves.count;
        for (uint64_t i = 0; i < type->length && maker->known && !maker->no_memory; i++) {
            flatten(maker, type->elem, base + i * stride, depth + 1);
            if (maker->leaves.count == before) /* nor have the others any */
                break;
        }
        break;
    }
    default:
        break;
    }
}

static int compare_leaves(const void *a, const void *b)
{
    const struct leaf *one = a, *other = b;
    if (one->offset != other->offset)
        return one->offset < other->offset ? -1 : 1;
    return one->type < other->type ? -1 : one->type > other->type;
}

/* ---- words ---- */

static void add_word(struct maker *maker, uint64_t offset)
{
    if (maker->words.count == MOST_WORDS || offset > UINT32_MAX || ++maker->steps > maker->most)
        maker->known = false;
    else if (!vector_push(&maker->words, (uint32_t)offset))
        maker->no_memory = true;
}

static void words_of_mask(struct maker *maker, const struct type *type)
{
    const uint64_t size = maker->types->pointer_size;
    const uint64_t bits = type->pointer_bytes / size;
    if (bits / 8 > maker->most)
        maker->known = false;
    maker->steps += bits / 64;
    for (uint64_t i = 0; i < bits && maker->known && !maker->no_memory; i++)
        if ((type->gc_mask[i / 8] >> (i % 8) & 1) != 0)
            add_word(maker, i * size);
}

static void words_of_leaves(struct maker *maker, bool first_words)
{
    for (size_t i = 0; i < maker->leaves.count; i++) {
        const struct leaf *leaf = &maker->leaves.data[i];
        const bool is_interface = maker->types->list.data[leaf->type].kind == TYPE_INTERFACE;
        if (!is_interface || first_words)
            add_word(maker, leaf->offset);
        if (is_interface)
            add_word(maker, leaf->offset + maker->types->pointer_size);
    }
}

uint64_t leaf_size(const struct types *types, uint32_t type)
{
    const uint64_t word = types->pointer_size;
    switch (types->list.data[type].kind) {
    case TYPE_STRING:
    case TYPE_INTERFACE:
        return 2 * word;
    case TYPE_SLICE:
        return 3 * word;
    default:
        return word;
    }
}

/* The collector's mask is the truth: a pointer that it does not look at (to memory outside of the
 * heap) leads nowhere for us either. Leaves that stand outside of their type come from damage. */
static void match_leaves(struct maker *maker, uint64_t size)
{
    size_t kept = 0, word = 0;
    maker->leaf_of_word = malloc((maker->words.count + 1) * sizeof(*maker->leaf_of_word));
    if (!maker->leaf_of_word) {
        maker->no_memory = true;
        return;
    }
    memset(maker->leaf_of_word, 0xff, maker->words.count * sizeof(*maker->leaf_of_word));
    for (size_t i = 0; i < maker->leaves.count; i++) {
        const struct leaf *leaf = &maker->leaves.data[i];
        const bool is_interface = maker->types->list.data[leaf->type].kind == TYPE_INTERFACE;
        const uint64_t pointer = leaf->offset + (is_interface ? maker->types->pointer_size : 0);
        while (word < maker->words.count && maker->words.data[word] < pointer)
            word++;
        if (word < maker->words.count && maker->words.data[word] == pointer &&
            leaf_size(maker->types, leaf->type) <= size &&
            leaf->offset <= size - leaf_size(maker->types, leaf->type)) {
            maker->leaf_of_word[word] = (uint32_t)kept;
            maker->leaves.data[kept++] = *leaf;
        }
    }
    maker->leaves.count = kept;
}

/* A dump's field list: kind 1, a pointer, and the offset as a uvarint, for each. */
static bool encode(struct plan *plan)
{
    plan->code = malloc((size_t)plan->word_count * 6 + 1);
    if (!plan->code)
        return false;
    uint8_t *at = plan->code;
    for (uint32_t i = 0; i < plan->word_count; i++) {
        uint32_t offset = plan->words[i];
        *at++ = 1;
        for (; offset >= 0x80; offset >>= 7)
            *at++ = (uint8_t)(offset | 0x80);
        *at++ = (uint8_t)offset;
    }
    plan->code_size = (uint32_t)(at - plan->code);
    return true;
}

static struct plan *make(struct plans *plans, uint32_t number)
{
    const struct types *types = plans->types;
    const struct type *type = &types->list.data[number];
    struct maker maker = {.types = types, .known = type->kind != TYPE_INVALID};
    maker.most = plans->left < MOST_STEPS ? OWN_STEPS + plans->left : MOST_STEPS;
    struct plan *plan = calloc(1, sizeof(*plan));
    if (!plan)
        return NULL;
    flatten(&maker, number, 0, 0);
    if (maker.leaves.count > 0)
        qsort(maker.leaves.data, maker.leaves.count, sizeof(*maker.leaves.data), compare_leaves);
    if (type->gc_mask)
        words_of_mask(&maker, type);
    else if (type->pointer_bytes > 0)
        words_of_leaves(&maker, plans->first_words);
    match_leaves(&maker, type->size);
    if (maker.steps > OWN_STEPS)
        plans->left -=
            maker.steps - OWN_STEPS < plans->left ? maker.steps - OWN_STEPS : plans->left;
    *plan = (struct plan){.size = type->size, .known = maker.known};
    if (maker.known) {
        plan->leaves = maker.leaves.data;
        plan->leaf_count = (uint32_t)maker.leaves.count;
        for (size_t i = 0; i < maker.leaves.count; i++)
            if (maker.leaves.data[i].is_string)
                plan->has_strings = true;
            else
                plan->has_others = true;
        plan->words = maker.words.data;
        plan->word_count = (uint32_t)maker.words.count;
        plan->leaf_of_word = maker.leaf_of_word;
    } else {
        free(maker.leaves.data);
        free(maker.words.data);
        free(maker.leaf_of_word);
    }
    if (maker.no_memory || !encode(plan)) {
        plan_destroy(plan);
        return NULL;
    }
    return plan;
}

const struct plan *plans_make(struct plans *plans, uint32_t type)
{
    pthread_mutex_lock(&plans->mutex);
    struct plan *plan = plans->of_type[type];
    if (!plan) {
        plan = make(plans, type);
        __atomic_store_n(&plans->of_type[type], plan, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&plans->mutex);
    return plan;
}
