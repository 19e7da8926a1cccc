/*
 * follow: from what is typed to what it points to.
 */
#include "typing/typer.h"

static void refer(struct typer *typer, int form, uint64_t value, uint32_t type, uint64_t count,
                  enum source source)
{
    if (value == 0 || (form != REFERENCE_TEXT && form != REFERENCE_CLOSURE &&
                       type >= typer->typing->types->list.count))
        return;
    struct reference reference = {.value = value,
                                  .count = count,
                                  .type = type,
                                  .source = (uint8_t)source,
                                  .form = (uint8_t)form};
    typer_refer(typer, &reference);
}

void typer_follow_array(struct typer *typer, uint64_t value, uint32_t elem, enum source source)
{
    refer(typer, REFERENCE_ARRAY, value, elem, 0, source);
}

/* The only leaf of a value that is as large as a pointer. */
static uint32_t only_leaf(const struct types *types, uint32_t number)
{
    for (unsigned depth = 0; depth < 64 && number < types->list.count; depth++) {
        const struct type *type = &types->list.data[number];
        if (type->kind == TYPE_ARRAY) {
            number = type->elem;
        } else if (type->kind == TYPE_STRUCT) {
            const struct type_field *field = types_field_at(types, type, 0);
            number = field ? field->type : TYPE_NONE; /* the others are empty */
        } else {
            return number;
        }
    }
    return TYPE_NONE;
}

/* The word at a distance, maybe negative, from at; false where it is outside of what can be read.
 */
static bool word_near(const struct g2h_heap *heap, const uint8_t *at, const struct extent *extent,
                      uint64_t distance, uint64_t *ret)
{
    const uint64_t offset = (uint64_t)(at - extent->begin) + distance,
                   size = (uint64_t)(extent->end - extent->begin);
    if (size < heap->params.pointer_size || offset > size - heap->params.pointer_size)
        return false;
    *ret = heap_word(heap, extent->begin + offset);
    return true;
}

static void follow_pointer(struct typer *typer, const uint8_t *at, const struct extent *extent,
                           uint64_t value, uint32_t number, enum source source)
{
    uint64_t word;
    const struct g2h_heap *heap = typer->typing->heap;
    const struct type *type = type_of(typer->typing, number);
    switch ((enum type_target)type->target) {
    case TARGET_ONE:
        refer(typer, REFERENCE_VALUE, value, type->elem, 0, source);
        break;
    case TARGET_MANY:
        refer(typer, REFERENCE_ARRAY, value, type->elem, 0, source);
        break;
    case TARGET_COUNTED:
        if (word_near(heap, at, extent, type->length, &word) && word > 0)
            refer(typer, REFERENCE_ARRAY, value, type->elem, word, source);
        break;
    case TARGET_BY_WORD:
        if (word_near(heap, at, extent, type->length, &word) && word == 0)
            refer(typer, REFERENCE_VALUE, value, type->elem, 0, source);
        else
            refer(typer, REFERENCE_ARRAY, value, type->key, 0, source);
        break;
    case TARGET_BY_CONTENT:
        refer(typer, REFERENCE_CONTENT, value, number, 0, source);
        break;
    }
}

/* A word that is a value of a type whose only leaf is a pointer. */
static void follow_word(struct typer *typer, uint64_t value, uint32_t number, enum source source)
{
    const struct type *type = type_of(typer->typing, number);
    if (type->kind == TYPE_POINTER)
        refer(typer,
              type->target == TARGET_MANY         ? REFERENCE_ARRAY
              : type->target == TARGET_BY_CONTENT ? REFERENCE_CONTENT
                                                  : REFERENCE_VALUE,
              value, type->target == TARGET_BY_CONTENT ? number : type->elem, 0, source);
    else if (type->kind == TYPE_MAP || type->kind == TYPE_CHAN)
        refer(typer, REFERENCE_VALUE, value, type->header, 0, source);
    else if (type->kind == TYPE_FUNC)
        refer(typer, REFERENCE_CLOSURE, value, 0, 0, source);
}

bool typer_follow_interface(struct typer *typer, uint64_t first, uint64_t data, bool is_empty,
                            enum source source)
{
    const struct typing *typing = typer->typing;
    uint32_t number = typing_interface_type(typing, first, is_empty);
    if (number == TYPE_NONE)
        return false;
    if (!type_of(typing, number)->direct_interface)
        refer(typer, REFERENCE_VALUE, data, number, 0, source);
    else if ((number = only_leaf(typing->types, number)) != TYPE_NONE)
        follow_word(typer, data, number, source);
    return true;
}

void typer_follow(struct typer *typer, const uint8_t *at, const struct extent *extent,
                  const struct leaf *leaf, enum source source)
{
    const struct g2h_heap *heap = typer->typing->heap;
    const struct type *type = type_of(typer->typing, leaf->type);
    const uint64_t word = heap->params.pointer_size, value = heap_word(heap, at);
    if (value == 0)
        return;
    switch ((enum type_kind)type->kind) {
    case TYPE_POINTER:
        follow_pointer(typer, at, extent, value, leaf->type, source);
        break;
    case TYPE_STRING:
        refer(typer, REFERENCE_TEXT, value, 0, heap_word(heap, at + word), source);
        break;
    case TYPE_SLICE: {
        const uint64_t capacity = heap_word(heap, at + 2 * word);
        if (capacity > 0)
            refer(typer, REFERENCE_ARRAY, value, type->elem, capacity, source);
        break;
    }
    case TYPE_INTERFACE:
        typer_follow_interface(typer, value, heap_word(heap, at + word), type->empty_interface,
                               SOURCE_INTERFACE);
        break;
    case TYPE_MAP:
    case TYPE_CHAN:
    case TYPE_FUNC:
        follow_word(typer, value, leaf->type, source);
        break;
    default:
        break;
    }
}

void typer_follow_item(struct typer *typer, const struct item *item)
{
    struct typing *typing = typer->typing;
    const uint64_t size = heap_object_size(typing->heap, item->object);
    uint64_t offset, count = 1;
    uint32_t type;
    bool is_array;
    if (item->region == UINT32_MAX) {
        uint32_t claim = __atomic_load_n(&typing->claims[item->object], __ATOMIC_RELAXED);
        type = (claim & CLAIM_TYPE) - 1;
        is_array = (claim & CLAIM_ARRAY) != 0;
        offset = object_base(typing->heap, item->object);
    } else {
        struct shard *shard = shard_of(typing, item->object);
        pthread_mutex_lock(&shard->mutex);
        const struct region *region = &shard->regions.data[item->region];
        type = region->type;
        is_array = region->is_array;
        offset = region->offset;
        count = region->is_array ? region->count : 1;
        pthread_mutex_unlock(&shard->mutex);
    }
    const struct plan *plan = plan_of(&typing->plans, type);
    struct g2h_object object;
    if (!plan) {
        typer->no_memory = true;
        return;
    }
    if (typer->texts_only ? !plan->has_strings : !plan->has_others)
        return;
    typer_read(typer, item->object, &object);
    const uint64_t stored = object.contents.size < size ? object.contents.size : size;
    if (is_array && (item->region == UINT32_MAX || count == 0))
        count = (size - offset) / plan->size;
    const struct extent extent = {object.contents.data, object.contents.data + stored};
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t start = offset + i * plan->size;
        if (start > stored || plan->size > stored - start)
            break;
        for (uint32_t j = 0; j < plan->leaf_count; j++)
            if ((type_of(typing, plan->leaves[j].type)->kind == TYPE_STRING) == typer->texts_only)
                typer_follow(typer, object.contents.data + start + plan->leaves[j].offset, &extent,
                             &plan->leaves[j], SOURCE_POINTER);
    }
}
