/*
 * mutate_types: damages the type descriptors of an executable in COUNT ways and reads each damaged
 * executable. A way is a number, so a failure can be repeated. The types that are read must be
 * whole: no type refers to one that is not there. The reader must not read beyond the file, and
 * sanitizers check this.
 *
 *   mutate_types EXECUTABLE DUMP COUNT [FIRST]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <go2heapsnapshot/go2heapsnapshot.h>

#include "../fuzz/dice.h"
#include "../hang.h"
#include "exe/exe.h"
#include "exe/go/pclntab.h"
#include "exe/go/rtype.h"
#include "heap/heap.h"

static void check(struct g2h_error *error)
{
    if (error) {
        fprintf(stderr, "mutate_types: %s\n", error->message);
        exit(2);
    }
}

/* The offsets of the types and of moduledata in the file, the size of the types, and the size of
 * a word. */
struct places {
    uint64_t types, types_size, moduledata, word;
};

static struct places find_places(const char *path, struct g2h_bytes file)
{
    struct image image;
    struct pclntab pclntab;
    struct moduledata moduledata;
    struct places places = {0};
    check(image_init(&image, path, file));
    check(pclntab_init(&pclntab, &image));
    const uint8_t *types = moduledata_find(&image, &pclntab, &moduledata)
                               ? image_at(&image, moduledata.types, 1)
                               : NULL;
    if (!types || types < file.data || types >= file.data + file.size)
        exit(2);
    places.word = image.is_64 ? 8 : 4;
    places.types = (uint64_t)(types - file.data);
    places.types_size = moduledata.etypes - moduledata.types;
    places.moduledata = (uint64_t)(moduledata.at - file.data);
    image_deinit(&image);
    return places;
}

/* Gives words the values of other words, so that wrong ones look right; makes lengths large, and
 * changes other bytes. */
static void damage(uint8_t *data, uint64_t size, const struct places *places)
{
    const uint64_t word = places->word, words = places->types_size / word;
    uint8_t *types = data + places->types;
    for (uint64_t i = 0, count = 1 + below(1 << below(12)); i < count; i++) {
        uint64_t at = word * below(words), from = word * below(words);
        switch (below(6)) {
        case 0:
        case 1:
            memcpy(types + at, types + from, word);
            break;
        case 2:
            memset(types + at + below(word), below(2) ? 0xff : (int)below(256), 1);
            break;
        case 3: /* a descriptor or two over others */
            from = word * below(words - 20);
            at = word * below(words - 20);
            memmove(types + at, types + from, 8 * (1 + below(12)));
            break;
        case 4:
            types[at + below(word)] ^= (uint8_t)(1 << below(8));
            break;
        default:
            at = below(40) ? size : places->moduledata + below(40 * word);
            if (at < size)
                data[at] = (uint8_t)below(256);
        }
    }
}

/* Returns whether a type is one of which only the name and the size are known, as the dump has it
 * by another name: exe/go/rtype.c. */
static bool is_opaque(const struct type *type)
{
    return type->kind == TYPE_INVALID && type->address == 0 && type->pointer_bytes == UINT64_MAX &&
           type->elem == TYPE_NONE && type->key == TYPE_NONE && type->field_count == 0;
}

static void examine(const struct types *types)
{
    size_t size, total = 0;
    for (size_t i = 0; i < types->list.count; i++) {
        const struct type *type = &types->list.data[i];
        string_pool_text(&types->names, type->name, &size);
        if ((type->elem != TYPE_NONE && type->elem >= types->list.count) ||
            (type->key != TYPE_NONE && type->key >= types->list.count) ||
            (!is_opaque(type) &&
             (types_at(types, type->address) != i || type->pointer_bytes > type->size)))
            abort();
        for (uint64_t j = 0; type->gc_mask && j < type->pointer_bytes / types->pointer_size; j++)
            total += type->gc_mask[j / 8] >> j % 8 & 1;
        for (uint32_t j = 0; j < type->field_count; j++) {
            const struct type_field *field = &types->fields.data[type->first_field + j];
            string_pool_text(&types->names, field->name, &size);
            if (field->type >= types->list.count || field->offset > type->size ||
                types->list.data[field->type].size > type->size - field->offset)
                abort();
        }
    }
    if (total == 1) /* keeps the compiler from leaving out the reads of masks */
        putchar('\n');
}

/* Fills ret with the first types that the dump has records of, at most `most`. Returns their
 * number. */
static size_t find_witnesses(const struct g2h_heap *heap, struct rtype_witness *ret, size_t most)
{
    size_t count = 0;
    for (; count < most && count < heap->types.count; count++)
        ret[count] =
            (struct rtype_witness){heap->types.data[count].address, heap->types.data[count].name};
    return count;
}

int main(int argc, char **argv)
{
    struct g2h_input *input, *original;
    struct g2h_heap *heap;
    if (argc < 4)
        return 2;
    check(g2h_input_open(argv[1], NULL, &original));
    check(g2h_input_open(argv[2], NULL, &input));
    check(g2h_heap_load(input, NULL, &heap));
    const struct places places =
        find_places(argv[1], (struct g2h_bytes){original->data, original->size});
    struct rtype_witness witnesses[256];
    const size_t witness_count = find_witnesses(heap, witnesses, 256);
    uint8_t *data = malloc(original->size);
    unsigned long first = argc > 4 ? strtoul(argv[4], NULL, 10) : 1,
                  count = strtoul(argv[3], NULL, 10), found = 0;
    for (unsigned long way = first; data && way < first + count; way++) {
        struct image image;
        struct pclntab pclntab;
        struct moduledata moduledata;
        struct types types;
        struct rtypes_found rest;
        state = way;
        fprintf(stderr, "\rway %lu", way);
        memcpy(data, original->data, original->size);
        damage(data, original->size, &places);
        hang_limit(60);
        check(image_init(&image, argv[1], (struct g2h_bytes){data, original->size}));
        check(pclntab_init(&pclntab, &image));
        moduledata_find(&image, &pclntab, &moduledata);
        types_init(&types, image.is_64 ? 8 : 4);
        /* Three ways in four trust the damaged moduledata; the fourth also checks it against the
         * dump's records. */
        check(rtypes_init(&types, &image, &moduledata, 0,
                          (struct rtype_witnesses){witnesses, way % 4 ? 0 : witness_count}, &rest));
        examine(&types);
        found += types.list.count;
        types_deinit(&types);
        image_deinit(&image);
    }
    printf("ok - %lu damaged executables: %lu types each, all of them whole\n", count,
           found / (count ? count : 1));
    free(data);
    g2h_heap_destroy(heap);
    g2h_input_close(input);
    g2h_input_close(original);
    return 0;
}
