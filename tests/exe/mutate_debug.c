/*
 * mutate_debug: damages the DWARF sections of an executable in COUNT ways, and asks each damaged
 * one for all that dwarf_info.h has. A way is a number, so a failure can be repeated. Sanitizers
 * check the reader, and its answers must keep the promises of dwarf_info.h.
 *
 *   mutate_debug EXECUTABLE COUNT [FIRST]      the sections should be uncompressed
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <go2heapsnapshot/go2heapsnapshot.h>

#include "../fuzz/dice.h"
#include "../hang.h"
#include "exe/dwarf/dwarf_info.h"

static void fail(const char *what, uint32_t type)
{
    fprintf(stderr, "type %u: %s\n", type, what);
    abort();
}

static void damage(uint8_t *file, const struct image *image)
{
    static const char *const names[] = {".debug_abbrev", ".debug_abbrev",   ".debug_info",
                                        ".debug_info",   ".debug_loclists", ".debug_loc",
                                        ".debug_addr",   ".debug_rnglists", ".debug_ranges"};
    for (uint64_t i = 0, count = 1 + below(below(4) ? 8 : 400); i < count; i++) {
        const struct image_section *section =
            image_section(image, names[below(sizeof(names) / sizeof(names[0]))]);
        if (!section || section->data.size == 0)
            continue;
        uint8_t *data = file + (section->data.data - image->file.data);
        uint64_t at = below(section->data.size);
        if (below(4) == 0 && at > 64) /* a section begins with what is used most often */
            at = below(64);
        switch (below(6)) {
        case 0:
            data[at] ^= (uint8_t)(1u << below(8));
            break;
        case 1:
            data[at] = 0xff;
            break;
        case 2:
            data[at] = 0;
            break;
        case 3: /* copies a part of the section elsewhere: all is well-formed, but wrong */
            memmove(data + at, data + below(section->data.size - at),
                    below(64) % (section->data.size - at));
            break;
        default:
            data[at] = (uint8_t)below(256);
        }
    }
}

/* Visits a type with its elements and fields, and checks what dwarf_info.h promises of their
 * depth and order. Returns the type's size. */
static uint64_t visit(const struct types *types, uint32_t number, unsigned depth)
{
    uint64_t end = 0;
    if (number >= types->list.count || depth > 64)
        fail("is not there, or too deep", number);
    const struct type *type = &types->list.data[number];
    if (type->elem != TYPE_NONE && type->elem >= types->list.count)
        fail("has no such elem", number);
    if (type->key != TYPE_NONE && type->key >= types->list.count)
        fail("has no such key", number);
    if (type->kind == TYPE_ARRAY && type->length > 0) {
        uint64_t size = visit(types, type->elem, depth + 1);
        if (size == 0 || type->size / size < type->length)
            fail("has elements beyond its end", number);
    }
    for (uint32_t i = 0; i < type->field_count; i++) {
        const struct type_field *field = &types->fields.data[type->first_field + i];
        if (field->offset < end || field->name >= types->names.count)
            fail("has fields that overlap", number);
        if (__builtin_add_overflow(field->offset, visit(types, field->type, depth + 1), &end) ||
            end > type->size)
            fail("has a field beyond its end", number);
    }
    return type->size;
}

static uint64_t found; /* types and locals, to show whether damaged executables still have any */
static void ask(struct image *image, uint64_t low, uint64_t high)
{
    struct types types;
    struct dwarf_info debug;
    dwarf_local_vector locals = {0};
    dwarf_piece_vector pieces = {0};
    types_init(&types, image->is_64 ? 8 : 4);
    if (dwarf_info_init(&debug, image, &types, 0))
        exit(1);
    for (size_t i = 0; i < 300; i++) {
        locals.count = pieces.count = 0;
        if (dwarf_info_locals(&debug, &types, low + below(high - low), &locals, &pieces, NULL))
            exit(1);
        found += locals.count;
        for (size_t k = 0; k < locals.count; k++)
            if (locals.data[k].first_piece + locals.data[k].piece_count > pieces.count)
                fail("has a local without its pieces", 0);
    }
    for (uint32_t i = 0; i < types.list.count; i++)
        visit(&types, i, 0);
    found += types.list.count;
    free(locals.data);
    free(pieces.data);
    dwarf_info_deinit(&debug);
    types_deinit(&types);
}

int main(int argc, char **argv)
{
    struct g2h_input *input;
    if (argc < 3 || g2h_input_open(argv[1], NULL, &input))
        return 2;
    const uint64_t count = strtoull(argv[2], NULL, 0);
    const uint64_t first = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
    uint8_t *copy = malloc((size_t)input->size);
    struct image image;
    double longest = 0;
    if (!copy)
        return 2;
    for (uint64_t way = first; way < first + count; way++) {
        state = way;
        memcpy(copy, input->data, (size_t)input->size);
        if (image_init(&image, argv[1], (struct g2h_bytes){copy, input->size}))
            return 2;
        const struct image_section *text = image_section(&image, ".text");
        if (!text)
            return 2;
        damage(copy, &image);
        fprintf(stderr, "way %lu\n", (unsigned long)way);
        hang_limit(60);
        struct timespec begin, end;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
        ask(&image, text->address, text->address + text->size);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
        const double seconds =
            (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
        longest = seconds > longest ? seconds : longest;
        image_deinit(&image);
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("ok - %s: %lu damaged ones, the longest took %.2f s, %ld MB at most, %lu "
           "types and locals in each\n",
           argv[1], (unsigned long)count, longest, usage.ru_maxrss / 1024,
           (unsigned long)(found / (count ? count : 1)));
    free(copy);
    g2h_input_close(input);
    return 0;
}
