/*
 * print_debug: prints what dwarf_info.h gives for an executable, as JSON, one value per line: a
 * header, each global, each captured variable, each local at each pc.
 *
 *   print_debug [-q] EXECUTABLE [PC...]     PC in hexadecimal; -q: types without their elements,
 *                                           keys and fields
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/go2heapsnapshot.h>

#include "exe/dwarf/dwarf_info.h"

static const char *const kinds[] = {
    "invalid", "bool",      "int",        "int8",   "int16",  "int32",          "int64",
    "uint",    "uint8",     "uint16",     "uint32", "uint64", "uintptr",        "float32",
    "float64", "complex64", "complex128", "array",  "chan",   "func",           "interface",
    "map",     "pointer",   "slice",      "string", "struct", "unsafe.Pointer",
};

static void print_text(const struct types *types, uint32_t number)
{
    size_t size;
    const char *text = string_pool_text(&types->names, number, &size);
    putchar('"');
    for (size_t i = 0; i < size; i++)
        if (text[i] == '"' || text[i] == '\\' || (unsigned char)text[i] < 32)
            printf("\\u%04x", (unsigned char)text[i]);
        else
            putchar(text[i]);
    putchar('"');
}

/* Prints a type. Follows elements, keys and fields down to this depth. */
static void print_type(const struct types *types, uint32_t number, unsigned depth)
{
    if (number == TYPE_NONE) {
        printf("null");
        return;
    }
    const struct type *type = &types->list.data[number];
    printf("{\"name\":");
    print_text(types, type->name);
    printf(",\"kind\":\"%s\",\"size\":%" PRIu64, kinds[type->kind], type->size);
    if (type->empty_interface)
        printf(",\"empty\":true");
    if (type->is_generic)
        printf(",\"generic\":true");
    if (type->kind == TYPE_ARRAY)
        printf(",\"length\":%" PRIu64, type->length);
    if (depth > 0 && type->elem != TYPE_NONE) {
        printf(",\"elem\":");
        print_type(types, type->elem, depth - 1);
    }
    if (depth > 0 && type->key != TYPE_NONE) {
        printf(",\"key\":");
        print_type(types, type->key, depth - 1);
    }
    if (depth > 0 && type->kind == TYPE_STRUCT) {
        printf(",\"fields\":[");
        for (uint32_t i = 0; i < type->field_count; i++) {
            const struct type_field *field = &types->fields.data[type->first_field + i];
            printf("%s{\"name\":", i ? "," : "");
            print_text(types, field->name);
            printf(",\"offset\":%" PRIu64 ",\"embedded\":%s,\"type\":", field->offset,
                   field->embedded ? "true" : "false");
            print_type(types, field->type, depth - 1);
            printf("}");
        }
        printf("]");
    }
    printf("}");
}

static void print_locals(struct dwarf_info *debug, struct types *types, uint64_t pc, unsigned depth)
{
    dwarf_local_vector locals = {0};
    dwarf_piece_vector pieces = {0};
    if (dwarf_info_locals(debug, types, pc, &locals, &pieces, NULL))
        exit(1);
    for (size_t i = 0; i < locals.count; i++) {
        const struct dwarf_local *local = &locals.data[i];
        printf("{\"pc\":\"%" PRIx64 "\",\"local\":", pc);
        print_text(types, local->name);
        printf(",\"parameter\":%s,\"function\":", local->is_parameter ? "true" : "false");
        if (local->function == UINT32_MAX)
            printf("null");
        else
            print_text(types, local->function);
        printf(",\"pieces\":[");
        for (uint32_t p = 0; p < local->piece_count; p++) {
            const struct dwarf_piece *piece = &pieces.data[local->first_piece + p];
            printf("%s{\"offset\":%" PRIu64 ",\"size\":%" PRIu64 ",\"place\":%" PRId64 "}",
                   p ? "," : "", piece->offset, piece->size, piece->cfa_offset);
        }
        printf("],\"type\":");
        print_type(types, local->type, depth);
        printf("}\n");
    }
    free(locals.data);
    free(pieces.data);
}

int main(int argc, char **argv)
{
    const bool quiet = argc > 1 && strcmp(argv[1], "-q") == 0;
    const unsigned depth = quiet ? 0 : 2;
    argv += quiet;
    argc -= quiet;
    struct g2h_input *input;
    struct image image;
    struct types types;
    struct dwarf_info debug;
    if (argc < 2 || g2h_input_open(argv[1], NULL, &input))
        return 2;
    if (image_init(&image, argv[1], (struct g2h_bytes){input->data, input->size}))
        return 1;
    types_init(&types, image.is_64 ? 8 : 4);
    if (dwarf_info_init(&debug, &image, &types, 0))
        return 1;
    printf("{\"globals\":%zu,\"captured\":%zu,\"types\":%zu,\"fields\":%zu}\n", debug.globals.count,
           debug.captured.count, types.list.count, types.fields.count);
    for (size_t i = 0; i < debug.globals.count; i++) {
        const struct dwarf_global *global = &debug.globals.data[i];
        printf("{\"global\":");
        print_text(&types, global->name);
        printf(",\"address\":\"%" PRIx64 "\",\"type\":", global->address);
        print_type(&types, global->type, depth);
        printf("}\n");
    }
    for (size_t i = 0; i < debug.captured.count; i++) {
        const struct dwarf_captured *captured = &debug.captured.data[i];
        printf("{\"captured\":");
        print_text(&types, captured->name);
        printf(",\"entry\":\"%" PRIx64 "\",\"offset\":%" PRIu64 ",\"type\":", captured->entry,
               captured->offset);
        print_type(&types, captured->type, depth);
        printf("}\n");
    }
    for (int i = 2; i < argc; i++)
        print_locals(&debug, &types, strtoull(argv[i], NULL, 16), depth);
    dwarf_info_deinit(&debug);
    types_deinit(&types);
    image_deinit(&image);
    g2h_input_close(input);
    return 0;
}
