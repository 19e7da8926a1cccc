/* type_masks; see type_masks.h. Layouts: internal/abi/type.go, the same from Go 1.24 to 1.27. */
#include "process/type_masks.h"

#include <assert.h>
#include <stdlib.h>

enum { WORD = 8 };

/* abi.TFlagGCMaskOnDemand, and the first release that has it. */
enum { MASK_ON_DEMAND = 16, FIRST_ON_DEMAND = 24 };

/* Kinds, and where abi.ArrayType, abi.StructType and abi.StructField have their fields. */
enum { KIND_ARRAY = 17, KIND_STRUCT = 25, KIND_MASK = 31 };
enum { ARRAY_ELEM = 48, ARRAY_LEN = 64 };
enum { STRUCT_FIELDS = 56, STRUCT_COUNT = 64 };
enum { FIELD_TYPE = 8, FIELD_OFFSET = 16, FIELD_SIZE = 24 };

/* The deepest nesting of types in one another: no program's comes close. */
enum { MOST_DEPTH = 250 };

/* The words of a descriptor that matter. */
struct descriptor {
    uint64_t address, size, pointers, kind, data; /* pointers: bytes up to the last one */
    bool is_on_demand;
};

/* A mask that is being made. */
struct mask_build {
    const struct runtime *runtime;
    uint8_t *bits;
    uint64_t words; /* that bits has space for */
    /* Fields, and words of masks, that may still be visited: the descriptors of an invalid process
     * may be nested without end, or share fields. */
    uint64_t work_left;
};

/* ---- descriptors ---- */

/* Reads a type of at most this many bytes. Returns false if it is missing or invalid. */
static bool descriptor_read(const struct runtime *runtime, uint64_t address, uint64_t most,
                            struct descriptor *ret)
{
    uint64_t flags;
    *ret = (struct descriptor){.address = address};
    if (!runtime_peek(runtime, address, LAYOUT_TYPE_SIZE, &ret->size) ||
        !runtime_peek(runtime, address, LAYOUT_TYPE_PTR_BYTES, &ret->pointers) ||
        !runtime_peek(runtime, address, LAYOUT_TYPE_TFLAG, &flags) ||
        !runtime_peek(runtime, address, LAYOUT_TYPE_KIND, &ret->kind) ||
        !runtime_peek(runtime, address, LAYOUT_TYPE_GC_DATA, &ret->data))
        return false;
    ret->kind &= KIND_MASK;
    ret->is_on_demand = runtime->minor >= FIRST_ON_DEMAND && (flags & MASK_ON_DEMAND) != 0;
    return ret->size <= most && ret->pointers <= ret->size;
}

/* Subtracts from the work that may still be done. Returns false if it is too much. */
static bool mask_take_work(struct mask_build *build, uint64_t work)
{
    const bool can = work <= build->work_left;
    build->work_left = can ? build->work_left - work : 0;
    return can;
}

/* ---- bits ---- */

/* Returns count bits, at most 56, from a bit on. */
static uint64_t mask_bits(const uint8_t *bits, uint64_t first, uint64_t count)
{
    const uint64_t bytes = (first % 8 + count + 7) / 8;
    return memory_number(bits + first / 8, (unsigned)bytes) >> (first % 8) &
           (((uint64_t)1 << count) - 1);
}

/* Adds count bits of `from`, from bit `first` on, to a mask from a word on. The bits may be of the
 * same mask if they are before that word. Returns false if there are too many. */
static bool mask_add(struct mask_build *build, uint64_t word, const uint8_t *from, uint64_t first,
                     uint64_t count)
{
    enum { AT_A_TIME = 56 };
    if (word > build->words || count > build->words - word ||
        !mask_take_work(build, 1 + count / AT_A_TIME))
        return false;
    for (uint64_t i = 0, part; i < count; i += part) {
        part = count - i < AT_A_TIME ? count - i : AT_A_TIME;
        const uint64_t at = word + i;
        uint64_t bits = mask_bits(from, first + i, part) << (at % 8);
        for (uint8_t *byte = build->bits + at / 8; bits != 0; bits >>= 8)
            *byte++ |= (uint8_t)bits;
    }
    return true;
}

/* Adds `count` - 1 more copies of the first `words` of `period` words that begin at a word, each
 * period after the other. It copies all that there are so far, so that it takes as many steps as
 * the mask has words. */
static bool mask_repeat(struct mask_build *build, uint64_t word, uint64_t words, uint64_t period,
                        uint64_t count)
{
    for (uint64_t done = 1, more; done < count; done += more) {
        more = count - done < done ? count - done : done;
        if (!mask_add(build, word + done * period, build->bits, word, (more - 1) * period + words))
            return false;
    }
    return true;
}

/* ---- types ---- */

static bool mask_add_type(struct mask_build *build, const struct descriptor *type, uint64_t word,
                          unsigned depth);

/* Adds the mask of an array: that of an element, repeated. */
static bool mask_add_array(struct mask_build *build, const struct descriptor *type, uint64_t word,
                           unsigned depth)
{
    const struct runtime *runtime = build->runtime;
    struct descriptor element;
    uint64_t address, count;
    return memory_read(runtime->memory, type->address + ARRAY_ELEM, WORD, &address) &&
           memory_read(runtime->memory, type->address + ARRAY_LEN, WORD, &count) &&
           descriptor_read(runtime, address, type->size, &element) && count > 0 &&
           element.pointers > 0 && count <= type->size / element.size &&
           mask_add_type(build, &element, word, depth) &&
           mask_repeat(build, word, element.pointers / WORD, element.size / WORD, count);
}

/* Adds the masks of a struct's fields. */
static bool mask_add_struct(struct mask_build *build, const struct descriptor *type, uint64_t word,
                            unsigned depth)
{
    const struct runtime *runtime = build->runtime;
    uint64_t fields, count;
    if (!memory_read(runtime->memory, type->address + STRUCT_FIELDS, WORD, &fields) ||
        !memory_read(runtime->memory, type->address + STRUCT_COUNT, WORD, &count) ||
        !mask_take_work(build, count))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        struct descriptor field;
        uint64_t address, offset;
        if (!memory_read(runtime->memory, fields + i * FIELD_SIZE + FIELD_TYPE, WORD, &address) ||
            !memory_read(runtime->memory, fields + i * FIELD_SIZE + FIELD_OFFSET, WORD, &offset) ||
            offset > type->size ||
            !descriptor_read(runtime, address, type->size - offset, &field) ||
            (field.pointers > 0 &&
             (offset % WORD != 0 || !mask_add_type(build, &field, word + offset / WORD, depth))))
            return false;
    }
    return true;
}

/* Adds the mask of a type from a word on. Returns false if the type is invalid. */
static bool mask_add_type(struct mask_build *build, const struct descriptor *type, uint64_t word,
                          unsigned depth)
{
    const uint64_t words = type->pointers / WORD;
    if (depth == MOST_DEPTH || type->size % WORD != 0)
        return false;
    if (!type->is_on_demand) {
        const uint8_t *bits = memory_at(build->runtime->memory, type->data, (words + 7) / 8);
        return bits && mask_add(build, word, bits, 0, words);
    }
    if (type->kind == KIND_ARRAY)
        return mask_add_array(build, type, word, depth + 1);
    return type->kind == KIND_STRUCT && mask_add_struct(build, type, word, depth + 1);
}

/* Makes the mask of a type that has none. *ret stays as it is if the type is invalid. Returns false
 * if memory runs out. */
static bool mask_make(struct type_masks *masks, const struct descriptor *type,
                      struct type_mask *ret)
{
    /* Each level of nesting visits a word at most once, and at most 8 fields in it. The limit is
     * the type's own, so that it does not matter which thread asks first for which type. */
    enum { LEAST_WORK = 1000, LEVELS = 16, FIELDS = 8 };
    const uint64_t words = type->pointers / WORD;
    struct mask_build build = {.runtime = masks->runtime,
                               .bits = calloc((size_t)(words / 8 + 1), 1),
                               .words = words,
                               .work_left =
                                   LEAST_WORK + type->size / WORD * (uint64_t)(LEVELS * FIELDS)};
    if (!build.bits)
        return false;
    if (mask_add_type(&build, type, 0, 0))
        *ret = (struct type_mask){type->address, type->size / WORD, words, build.bits};
    else
        free(build.bits);
    return true;
}

/* ---- GC programs ---- */

/* Reads a uvarint at *address, and moves it behind that. Returns false if it is missing, or does
 * not fit into 56 bits. */
static bool program_number(const struct runtime *runtime, uint64_t *address, uint64_t *ret)
{
    enum { MOST_SHIFT = 49 };
    uint64_t byte = 0x80;
    *ret = 0;
    for (unsigned shift = 0; (byte & 0x80) != 0; shift += 7) {
        if (shift > MOST_SHIFT || !memory_read(runtime->memory, (*address)++, 1, &byte))
            return false;
        *ret |= (byte & 0x7f) << shift;
    }
    return true;
}

/* Each instruction is a byte: with the top bit the last bits are repeated, else as many bits follow
 * as it says, and 0 is the end. Before the program is its size, in 4 bytes. */
bool type_masks_run(const struct runtime *runtime, uint64_t address, uint64_t words, uint8_t *ret)
{
    enum { HEADER = 4, REPEAT = 0x80, COUNT = 0x7f, STEPS = 2 };
    struct mask_build build = {runtime, ret, words, 0};
    uint64_t done = 0, instruction;
    for (address += HEADER; memory_read(runtime->memory, address++, 1, &instruction);) {
        uint64_t count = instruction & COUNT, times = 1;
        if (instruction == 0)
            return true;
        build.work_left = STEPS * words + STEPS; /* each bit is made once */
        if ((instruction & REPEAT) == 0) {
            const uint8_t *bits = memory_at(runtime->memory, address, (count + 7) / 8);
            if (!bits || !mask_add(&build, done, bits, 0, count))
                return false;
            address += (count + 7) / 8;
        } else if ((count == 0 && !program_number(runtime, &address, &count)) ||
                   !program_number(runtime, &address, &times) || count == 0 || count > done ||
                   times > (words - done) / count ||
                   !mask_repeat(&build, done - count, count, count, times + 1)) {
            return false;
        }
        done += count * times;
    }
    return false;
}

/* ---- all types ---- */

void type_masks_init(struct type_masks *ret, const struct runtime *runtime)
{
    *ret = (struct type_masks){.runtime = runtime, .lock = PTHREAD_MUTEX_INITIALIZER};
}

void type_masks_deinit(struct type_masks *masks)
{
    for (size_t i = 0; i < masks->list.count; i++)
        free((void *)(uintptr_t)masks->list.data[i].bits);
    free(masks->list.data);
    map_deinit(&masks->by_address);
    pthread_mutex_destroy(&masks->lock);
}

/* Finds the mask of a type that has none, or makes it. An invalid type is kept, too. */
static bool type_masks_find(struct type_masks *masks, const struct descriptor *type,
                            struct type_mask *ret)
{
    struct type_mask made = {.address = type->address};
    uint32_t index = map_get(&masks->by_address, type->address);
    if (index == MAP_NONE) {
        index = (uint32_t)masks->list.count;
        if (!mask_make(masks, type, &made) || !vector_push(&masks->list, made) ||
            !map_put(&masks->by_address, type->address, index, &index))
            return false;
        assert(index == masks->list.count - 1);
    }
    *ret = masks->list.data[index];
    return true;
}

bool type_masks_get(struct type_masks *masks, uint64_t address, uint64_t most,
                    struct type_mask *ret)
{
    struct descriptor type;
    *ret = (struct type_mask){.address = address};
    if (!descriptor_read(masks->runtime, address, most, &type) || type.size < WORD)
        return true;
    if (type.is_on_demand) {
        pthread_mutex_lock(&masks->lock);
        const bool good = type_masks_find(masks, &type, ret);
        pthread_mutex_unlock(&masks->lock);
        return good;
    }
    const uint64_t words = type.pointers / WORD;
    const uint8_t *bits = memory_at(masks->runtime->memory, type.data, (words + 7) / 8);
    if (bits || words == 0)
        *ret = (struct type_mask){address, type.size / WORD, words, bits};
    return true;
}
