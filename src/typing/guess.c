/*
 * guess: the only type of the program that an object can be.
 *
 * An object that nothing typed points to still has a size class and a field list. If of all types
 * of the executable just one is allocated so, and no array of any type is, it is taken for that
 * one. Such an object keeps a mark in its name; what it points to is then typed as usual.
 */
#include <stdlib.h>
#include <string.h>

#include "typing/typer.h"

#define AMBIGUOUS (UINT32_MAX - 1)

static uint64_t pattern_key(const uint8_t *code, size_t size, uint64_t slot)
{
    return map_hash(map_hash_bytes(code, size) + map_hash(slot));
}

/* Adds a type to those that have the pattern. */
static bool add_candidate(struct guesses *guesses, const struct typing *typing, uint32_t type,
                          const struct plan *plan, uint64_t slot)
{
    const uint64_t key = pattern_key(plan->code, plan->code_size, slot);
    uint32_t known;
    if (!map_put(&guesses->by_pattern, key, type, &known))
        return false;
    if (known != type && known != AMBIGUOUS &&
        type_of(typing, known)->name != type_of(typing, type)->name)
        map_set(&guesses->by_pattern, key, AMBIGUOUS);
    return true;
}

/* One plan of each size and code: what arrays may consist of. */
static bool add_element(struct guesses *guesses, const struct plan *plan)
{
    const uint64_t key = pattern_key(plan->code, plan->code_size, plan->size);
    const uint32_t number = (uint32_t)guesses->elements.count;
    uint32_t known;
    return map_put(&guesses->elements_by_key, key, number, &known) &&
           (known != number || vector_push(&guesses->elements, plan));
}

struct g2h_error *guesses_init(struct guesses *guesses, struct typing *typing)
{
    for (uint32_t i = 0; i < typing->types->list.count; i++) {
        const struct type *type = type_of(typing, i);
        if (type->kind == TYPE_INVALID || type->role == ROLE_CLOSURE || type->size == 0)
            continue;
        const struct plan *plan = plan_of(&typing->plans, i);
        if (!plan)
            return &error_no_memory;
        if (!plan->known || plan->word_count == 0)
            continue;
        const uint64_t slot = size_class(plan->size);
        if ((slot != 0 && !add_candidate(guesses, typing, i, plan, slot)) ||
            !add_element(guesses, plan))
            return &error_no_memory;
    }
    return NULL;
}

void guesses_deinit(struct guesses *guesses)
{
    map_deinit(&guesses->by_pattern);
    map_deinit(&guesses->elements_by_key);
    free(guesses->elements.data);
}

/* Whether an object of these words may be an array of two or more values. */
static bool may_be_array(const struct guesses *guesses, const uint64_t *words, size_t count,
                         uint64_t slot)
{
    for (size_t i = 0; i < guesses->elements.count; i++) {
        const struct plan *plan = guesses->elements.data[i];
        const size_t each = plan->word_count;
        if (plan->size > slot / 2 || count < 2 * each || count % each != 0 ||
            words[0] != plan->words[0] || words[each] != plan->size + plan->words[0] ||
            size_class(count / each * plan->size) != slot)
            continue;
        size_t word = 0;
        while (word < count && words[word] == word / each * plan->size + plan->words[word % each])
            word++;
        if (word == count)
            return true;
    }
    return false;
}

/* The words of a field list, at most limit of them, and the bytes of the list without its end. */
static size_t read_words(const struct g2h_fields *fields, uint64_t *words, size_t limit,
                         size_t *ret_size)
{
    struct g2h_fields copy = *fields;
    size_t count = 0;
    while (count < limit && fields_next_pointer(&copy, &words[count]))
        count++;
    *ret_size = (size_t)(copy.at - fields->at);
    return count;
}

bool typer_guess(struct typer *typer, const struct guesses *guesses, struct map *memory,
                 uint32_t number)
{
    const struct g2h_heap *heap = typer->typing->heap;
    const uint64_t slot = heap_object_size(heap, number);
    enum { MOST_WORDS = 512 };
    uint64_t words[MOST_WORDS];
    struct g2h_object object;
    size_t size;
    typer_read(typer, number, &object);
    const size_t count = read_words(&object.fields, words, MOST_WORDS, &size);
    if (count == 0 || count == MOST_WORDS)
        return true;
    const uint64_t key = pattern_key(object.fields.at, size, slot);
    uint32_t type = map_get(memory, key), known;
    if (type == MAP_NONE) {
        type = map_get(&guesses->by_pattern, key);
        if (type == MAP_NONE || may_be_array(guesses, words, count, slot))
            type = AMBIGUOUS;
        if (!map_put(memory, key, type, &known))
            return false;
    }
    if (type == AMBIGUOUS)
        return true;
    const struct reference reference = {.type = type, .source = SOURCE_GUESS};
    typer_propose(typer, number, 0, &reference);
    return true;
}
