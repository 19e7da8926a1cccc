/*
 * target_exe: an input is an executable, followed by the dump that it wrote. The executable is
 * opened, all of its code is read, and it is matched and used for a conversion with types. If the
 * input has no dump, the last two are left out.
 *
 * One byte more or less would move everything behind it, and next to nothing in the executable
 * would still be found. So most changes leave everything in its place, go to the sections that are
 * read, and put words there that might make sense.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <go2heapsnapshot/exe.h>

#include "exe/exe.h"
#include "exe/go/flow.h"
#include "exe/go/static_words.h"
#include "exe/image/image.h"
#include "dice.h"
#include "fuzz_target.h"
#include "pair.h"

/* Reads the code of all functions, twice: what it says of the words of data, and of frames. */
static void read_code(const struct g2h_exe *exe)
{
    struct flow flow;
    struct static_words words = {.words = {0}};
    struct g2h_error *error = exe_flow(exe, &flow);
    if (!error && flow_can_read(&flow)) {
        error = static_words_find(&flow, &words);
        for (uint64_t i = 0; !error && i < flow.pclntab->count; i++)
            error = flow_read(&flow, i, true);
    }
    g2h_error_destroy(error);
    static_words_deinit(&words);
    flow_deinit(&flow);
}

static void open_only(const char *path)
{
    struct g2h_exe *exe = NULL;
    struct g2h_error *error = g2h_exe_open(path, &exe);
    if (!error)
        read_code(exe);
    g2h_error_destroy(error);
    g2h_exe_close(exe);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t exe_size = pair_split(data, size);
    char path[FUZZ_PATH];
    struct g2h_input *input;
    const int file = fuzz_file(data, exe_size, path);
    struct g2h_error *error =
        g2h_input_from_memory("fuzz", data + exe_size, size - exe_size, &input);
    if (error)
        abort();
    open_only(path);
    if (exe_size < size)
        fuzz_convert_any(input, path, fuzz_choice(data, size), fuzz_write_all);
    g2h_input_close(input);
    close(file);
    return 0;
}

/* ---- changing ---- */

/* Bytes that may be changed, such as the contents of a section. */
struct piece {
    size_t offset, size;
    uint64_t address;
    struct g2h_bytes name;
    unsigned weight;
};

enum { RANGES_MOST = 64, FILE_MOST = 1 << 20, LARGEST_PART = 1 << 16 };

struct layout {
    struct piece ranges[RANGES_MOST];
    size_t count;
    unsigned weights;
    unsigned word;
    bool big_endian;
    struct image image; /* the ranges' names point into it */
};

static unsigned section_weight(struct g2h_bytes name)
{
    static const struct {
        const char *name;
        unsigned weight;
    } all[] = {
        {".go.type", 16},   {".rodata", 16},      {".rdata", 16},         {".gopclntab", 8},
        {".noptrdata", 6},  {".data.rel.ro", 8},  {".data", 4},           {".go.buildinfo", 1},
        {".rela.dyn", 3},   {".debug_info", 20},  {".debug_abbrev", 10},  {".debug_loc", 4},
        {".debug_addr", 2}, {".debug_ranges", 2}, {".debug_loclists", 4}, {".debug_rnglists", 2},
        {".symtab", 2},     {".strtab", 1},       {".shstrtab", 1},       {".text", 8},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (name.size == strlen(all[i].name) && memcmp(name.data, all[i].name, name.size) == 0)
            return all[i].weight;
    return 1;
}

static void add_range(struct layout *layout, struct piece range)
{
    if (range.size == 0 || layout->count == RANGES_MOST)
        return;
    layout->ranges[layout->count++] = range;
    layout->weights += range.weight;
}

/* Finds the ranges of an input: the sections and headers of the executable, and the dump. */
static void find_ranges(struct layout *layout, const uint8_t *data, size_t size)
{
    const size_t exe_size = pair_split(data, size);
    *layout = (struct layout){.word = 8};
    struct g2h_error *error =
        image_init(&layout->image, "fuzz", (struct g2h_bytes){data, exe_size});
    if (!error) {
        layout->word = layout->image.is_64 ? 8 : 4;
        layout->big_endian = layout->image.big_endian;
    }
    g2h_error_destroy(error);
    size_t end = 0;
    for (size_t i = 0; i < layout->image.section_count; i++) {
        const struct image_section *section = &layout->image.sections[i];
        const uint8_t *at = section->data.data;
        if (at < data || at >= data + exe_size || section->data.size == 0)
            continue; /* the section is empty, or relocations have been applied to a copy */
        const struct piece range = {(size_t)(at - data), (size_t)section->data.size,
                                    section->address, section->name, section_weight(section->name)};
        add_range(layout, range);
        if (range.offset + range.size > end)
            end = range.offset + range.size;
    }
    const struct g2h_bytes none = {(const uint8_t *)"", 0};
    const size_t start = exe_size < 1024 ? exe_size : 1024;
    add_range(layout, (struct piece){0, start, 0, none, 6});
    if (end < exe_size) /* usually the section headers */
        add_range(layout, (struct piece){end, exe_size - end, 0, none, 4});
    add_range(layout, (struct piece){exe_size, size - exe_size, 0, none, 1 + layout->weights / 4});
}

static const struct piece *choose(const struct layout *layout)
{
    size_t left = below(layout->weights), i = 0;
    while (left >= layout->ranges[i].weight)
        left -= layout->ranges[i++].weight;
    return &layout->ranges[i];
}

static uint64_t get(const struct layout *layout, const uint8_t *at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)at[i] << 8 * (layout->big_endian ? size - 1 - i : i);
    return value;
}

static void put(const struct layout *layout, uint8_t *at, size_t size, uint64_t value)
{
    for (size_t i = 0; i < size; i++)
        at[i] = (uint8_t)(value >> 8 * (layout->big_endian ? size - 1 - i : i));
}

/* Replaces a number, of a few bytes or a word, by another one. */
static void change_number(const struct layout *layout, uint8_t *data, const struct piece *range)
{
    static const size_t sizes[] = {1, 2, 4, 8};
    const size_t size = below(2) ? layout->word : sizes[below(4)];
    if (range->size < size)
        return;
    const size_t steps = (range->size - size) / size + 1;
    uint8_t *at = data + range->offset + below(steps) * size;
    if (below(4) == 0)
        at = data + range->offset + below(range->size - size + 1);
    uint64_t value = get(layout, at, size);
    const struct piece *target = choose(layout);
    switch (below(10)) {
    case 0:
        value = below(64);
        break;
    case 1:
        value = UINT64_MAX >> below(64);
        break;
    case 2:
        value ^= UINT64_C(1) << below(8 * size);
        break;
    case 3:
        value += size * (below(16) + 1);
        break;
    case 4:
        value -= size * (below(16) + 1);
        break;
    case 5: /* somewhere in a section, by its address or its offset */
        value = target->address + below(target->size) / 8 * 8;
        break;
    case 6:
        value = target->offset + below(target->size);
        break;
    case 7: /* a number from elsewhere */
        if (target->size >= size)
            value = get(layout, data + target->offset + below(target->size - size + 1), size);
        break;
    case 8:
        value += range->size;
        break;
    default:
        value = next_random() >> below(64);
        break;
    }
    put(layout, at, size, value);
}

/* Copies a block of one range over a part of another. */
static void copy_block(const struct layout *layout, uint8_t *data, const struct piece *range)
{
    const struct piece *source = below(2) ? range : choose(layout);
    size_t size = 1 + below(below(4) ? 32 : 512);
    size = size < source->size ? size : source->size;
    size = size < range->size ? size : range->size;
    memmove(data + range->offset + below(range->size - size + 1),
            data + source->offset + below(source->size - size + 1), size);
}

/* Makes libFuzzer's own changes in a range, which keeps its size. */
static void mutate_range(uint8_t *data, const struct piece *range)
{
    static uint8_t part[LARGEST_PART];
    size_t size = 1 + below(below(2) ? 64 : LARGEST_PART);
    size = size < range->size ? size : range->size;
    uint8_t *at = data + range->offset + below(range->size - size + 1);
    memcpy(part, at, size);
    const size_t changed = LLVMFuzzerMutate(part, size, size);
    memcpy(at, part, changed < size ? changed : size);
}

/* Changes the dump, which may grow and shrink, as nothing is behind it. */
static size_t mutate_dump(uint8_t *data, size_t size, size_t max_size)
{
    const size_t start = pair_split(data, size);
    if (start == size)
        return size;
    return start + LLVMFuzzerMutate(data + start, size - start, max_size - start);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    struct layout layout;
    state = seed;
    if (size == 0 || size > FILE_MOST || below(50) == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    if (below(16) == 0)
        return mutate_dump(data, size, max_size);
    find_ranges(&layout, data, size);
    for (size_t count = 1 + below(below(3) ? 3 : 16); count > 0; count--) {
        const struct piece *range = choose(&layout);
        switch (below(5)) {
        case 0:
            mutate_range(data, range);
            break;
        case 1:
            copy_block(&layout, data, range);
            break;
        default:
            change_number(&layout, data, range);
            break;
        }
    }
    image_deinit(&layout.image);
    return size;
}

/* Copies a section of the other input over the section of the same name. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size, const uint8_t *other,
                                 size_t other_size, uint8_t *ret, size_t max_size, unsigned seed)
{
    struct layout own, from;
    state = seed;
    const size_t size = one_size < max_size ? one_size : max_size;
    memcpy(ret, one, size);
    if (size == 0 || other_size == 0)
        return size;
    find_ranges(&own, ret, size);
    find_ranges(&from, other, other_size);
    const struct piece *range = choose(&own);
    for (size_t i = 0; i < from.count; i++) {
        const struct piece *source = &from.ranges[i];
        if (source->name.size != range->name.size ||
            memcmp(source->name.data, range->name.data, range->name.size) != 0)
            continue;
        memcpy(ret + range->offset, other + source->offset,
               source->size < range->size ? source->size : range->size);
    }
    image_deinit(&own.image);
    image_deinit(&from.image);
    return size;
}
