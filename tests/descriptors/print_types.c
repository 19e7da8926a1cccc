/*
 * print_types: prints the types of an executable's runtime descriptors as JSON, with the addresses
 * of the process that wrote DUMP, or without DUMP with those of the file.
 *
 *   print_types EXECUTABLE [DUMP]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <go2heapsnapshot/go2heapsnapshot.h>

#include "exe/exe.h"
#include "exe/go/pclntab.h"
#include "exe/go/rtype.h"

static void check(struct g2h_error *error)
{
    if (!error)
        return;
    fprintf(stderr, "print_types: %s\n", error->message);
    exit(1);
}

static void print_text(const struct types *types, uint32_t number)
{
    size_t size;
    const char *text = string_pool_text(&types->names, number, &size);
    putchar('"');
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)text[i] < 0x20)
            printf("\\u%04x", text[i]);
        else
            printf(text[i] == '"' || text[i] == '\\' ? "\\%c" : "%c", text[i]);
    }
    putchar('"');
}

static void print_type(const struct types *types, const struct type *type)
{
    printf("{\"address\":\"%llx\",\"name\":", (unsigned long long)type->address);
    print_text(types, type->name);
    printf(
        ",\"kind\":%u,\"size\":%llu,\"pointerBytes\":%llu,\"length\":%llu,\"elem\":%d,\"key\":%d,"
        "\"direct\":%s,\"empty\":%s,\"mask\":",
        type->kind, (unsigned long long)type->size, (unsigned long long)type->pointer_bytes,
        (unsigned long long)type->length, (int)type->elem, (int)type->key,
        type->direct_interface ? "true" : "false", type->empty_interface ? "true" : "false");
    if (type->gc_mask) {
        putchar('"');
        for (uint64_t i = 0; i < type->pointer_bytes / types->pointer_size; i++)
            putchar('0' + (type->gc_mask[i / 8] >> i % 8 & 1));
        putchar('"');
    } else {
        printf("null");
    }
    printf(",\"fields\":[");
    for (uint32_t i = 0; i < type->field_count; i++) {
        const struct type_field *field = &types->fields.data[type->first_field + i];
        printf("%s{\"name\":", i ? "," : "");
        print_text(types, field->name);
        printf(",\"type\":%u,\"offset\":%llu,\"embedded\":%s}", field->type,
               (unsigned long long)field->offset, field->embedded ? "true" : "false");
    }
    printf("]}");
}

static void print(const struct types *types, uint64_t start, size_t named, size_t unfit)
{
    printf("{\"start\":\"%llx\",\"named\":%zu,\"unfit\":%zu,\"types\":[\n",
           (unsigned long long)start, named, unfit);
    /* Descriptors come first; behind them may be types that only DWARF has. */
    for (size_t i = 0; i < types->list.count && types->list.data[i].address != 0; i++) {
        printf("%s", i ? ",\n" : "");
        print_type(types, &types->list.data[i]);
    }
    printf("\n]}\n");
}

static void of_process(const char *path, const char *dump)
{
    struct g2h_input *input;
    struct g2h_heap *heap;
    struct g2h_exe *exe;
    check(g2h_input_open(dump, NULL, &input));
    check(g2h_heap_load(input, NULL, &heap));
    check(g2h_exe_open(path, &exe));
    check(g2h_exe_match(exe, heap));
    size_t named;
    const size_t unfit = g2h_exe_unfit_types(exe, &named);
    print(exe_types(exe), exe_types_start(exe), named, unfit);
    g2h_exe_close(exe);
    g2h_heap_destroy(heap);
    g2h_input_close(input);
}

static void of_file(const char *path)
{
    struct g2h_input *input;
    struct image image;
    struct pclntab pclntab;
    struct moduledata moduledata;
    struct types types;
    struct rtypes_found found;
    check(g2h_input_open(path, NULL, &input));
    check(image_init(&image, path, (struct g2h_bytes){input->data, input->size}));
    check(pclntab_init(&pclntab, &image));
    if (!moduledata_find(&image, &pclntab, &moduledata))
        fprintf(stderr, "print_types: no moduledata\n");
    types_init(&types, image.is_64 ? 8 : 4);
    struct timespec from, to;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    check(rtypes_init(&types, &image, &moduledata, 0, (struct rtype_witnesses){NULL, 0}, &found));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    fprintf(stderr, "print_types: %zu types in %.1f ms of processor time\n", types.list.count,
            (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6);
    print(&types, found.start, 0, found.unfit);
    types_deinit(&types);
    image_deinit(&image);
    g2h_input_close(input);
}

int main(int argc, char **argv)
{
    if (argc != 2 && argc != 3)
        return 2;
    if (argc == 3)
        of_process(argv[1], argv[2]);
    else
        of_file(argv[1]);
    return 0;
}
