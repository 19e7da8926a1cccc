/* stack_objects; see stack_objects.h. */
#include "process/stack_objects.h"

#include <stdlib.h>

#include "base/bisect.h"

enum { WORD = 8 };

/*
 * Offsets in runtime.stackObjectRecord, which has: an offset, from varp if negative, otherwise from
 * argp; the size; the bytes up to the last pointer, negative if a GC program describes the
 * pointers; the mask or program, as an offset from moduledata.rodata.
 */
enum { RECORD = 16, RECORD_SIZE = 4, RECORD_POINTERS = 8, RECORD_MASK = 12 };

void stack_objects_init(struct stack_objects *objects, const struct runtime *runtime)
{
    *objects = (struct stack_objects){.runtime = runtime, .left = runtime->memory->bytes};
}

/* Frees the masks that were made for the objects of a stack. */
static void free_masks(struct stack_objects *objects)
{
    for (size_t i = 0; i < objects->masks.count; i++)
        free(objects->masks.data[i]);
    objects->masks.count = 0;
}

void stack_objects_deinit(struct stack_objects *objects)
{
    free(objects->list.data);
    free(objects->grey.data);
    free(objects->words.data);
    free_masks(objects);
    free(objects->masks.data);
}

void stack_objects_begin(struct stack_objects *objects, uint64_t low, uint64_t high)
{
    objects->list.count = objects->grey.count = objects->words.count = 0;
    free_masks(objects);
    objects->conservative = 0;
    objects->is_incomplete = false;
    objects->low = low;
    objects->high = high;
}

/* Takes up to count from the budget of work. Returns how many there were. */
static uint64_t take_work(struct stack_objects *objects, uint64_t count)
{
    const uint64_t taken = count < objects->left ? count : objects->left;
    objects->left -= taken;
    return taken;
}

/* ---- finding stack objects ---- */

static int32_t stack_objects_number_at(const uint8_t *record, unsigned offset)
{
    return (int32_t)memory_number(record + offset, 4);
}

/* Finds the mask of a stack object at an address. If it is missing or invalid, the object has none,
 * which is counted. Returns false if memory runs out. */
static bool find_mask(struct stack_objects *objects, uint64_t address, bool is_program,
                      struct stack_object *object)
{
    const struct runtime *runtime = objects->runtime;
    const uint64_t bytes = (object->words + 7) / 8;
    object->mask = NULL;
    if (!is_program) {
        object->mask = memory_at(runtime->memory, address, bytes);
    } else if (take_work(objects, bytes) == bytes) {
        uint8_t *mask = calloc((size_t)bytes + 1, 1);
        if (!mask || !vector_push(&objects->masks, mask)) {
            free(mask);
            return false;
        }
        if (type_masks_run(runtime, address, object->words, mask))
            object->mask = mask;
    }
    objects->conservative += object->mask == NULL;
    return true;
}

/* Adds a stack object, a variable of a frame whose address is taken. If it cannot be on the stack,
 * *ret_good is false. Returns false if memory runs out. */
static bool stack_objects_add_one(struct stack_objects *objects, uint64_t rodata,
                                  const uint8_t *record, uint64_t varp, uint64_t argp,
                                  bool *ret_good)
{
    const int32_t offset = stack_objects_number_at(record, 0),
                  size = stack_objects_number_at(record, RECORD_SIZE),
                  pointers = stack_objects_number_at(record, RECORD_POINTERS);
    const int64_t bytes_with_pointers = pointers < 0 ? -(int64_t)pointers : pointers;
    struct stack_object object = {.address = (offset < 0 ? varp : argp) + (uint64_t)(int64_t)offset,
                                  .size = (uint64_t)size,
                                  .words = (uint64_t)bytes_with_pointers / WORD};
    if (size <= 0 || object.words > object.size / WORD || object.address % WORD != 0 ||
        object.address < objects->low || object.address >= objects->high ||
        object.size > objects->high - object.address) {
        *ret_good = false;
        return true;
    }
    const uint64_t mask = rodata + (uint32_t)stack_objects_number_at(record, RECORD_MASK);
    return (object.words == 0 || find_mask(objects, mask, pointers < 0, &object)) &&
           vector_push(&objects->list, object);
}

bool stack_objects_add(struct stack_objects *objects, uint64_t rodata, uint64_t table,
                       uint64_t varp, uint64_t argp, bool *ret_good)
{
    const struct memory *memory = objects->runtime->memory;
    uint64_t count;
    *ret_good =
        memory_read(memory, table, WORD, &count) && count <= (objects->high - objects->low) / WORD;
    const uint8_t *records = *ret_good ? memory_at(memory, table + WORD, count * RECORD) : NULL;
    *ret_good = records && take_work(objects, count) == count;
    for (uint64_t i = 0; *ret_good && i < count; i++)
        if (!stack_objects_add_one(objects, rodata, records + i * RECORD, varp, argp, ret_good))
            return false;
    return true;
}

static int compare_objects(const void *a, const void *b)
{
    const struct stack_object *one = a, *other = b;
    return (one->address > other->address) - (one->address < other->address);
}

void stack_objects_sort(struct stack_objects *objects)
{
    vector_sort(&objects->list, compare_objects);
}

/* ---- live stack objects ---- */

/* An object that becomes live is scanned later (grey), as the collector does. */
bool stack_objects_point(struct stack_objects *objects, uint64_t value)
{
    struct stack_object *list = objects->list.data;
    size_t after;
    if (value < objects->low || value >= objects->high)
        return true;
    BISECT(after, objects->list.count, list[after].address <= value);
    if (after == 0 || value - list[after - 1].address >= list[after - 1].size ||
        list[after - 1].is_live)
        return true;
    list[after - 1].is_live = true;
    return vector_push(&objects->grey, (uint32_t)(after - 1));
}

/* Adds the pointer words of a live stack object, and makes the objects live that they point to.
 * Returns false if memory runs out. */
static bool scan_object(struct stack_objects *objects, struct stack_object object)
{
    const uint8_t *contents =
        memory_at(objects->runtime->memory, object.address, object.words * WORD);
    const uint64_t most = contents ? take_work(objects, object.words) : 0;
    objects->is_incomplete |= most < object.words;
    for (uint64_t i = 0; i < most; i++)
        if ((!object.mask || (object.mask[i / 8] >> (i % 8) & 1) != 0) &&
            !(vector_push(&objects->words, object.address + i * WORD) &&
              stack_objects_point(objects, memory_number(contents + i * WORD, WORD))))
            return false;
    return true;
}

static int compare_words(const void *a, const void *b)
{
    const uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return (one > other) - (one < other);
}

bool stack_objects_find(struct stack_objects *objects)
{
    while (objects->grey.count > 0)
        if (!scan_object(objects, objects->list.data[objects->grey.data[--objects->grey.count]]))
            return false;
    vector_sort(&objects->words, compare_words);
    return true;
}
