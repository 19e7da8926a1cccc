/*
 * check_layouts: compares the layouts that src/types/runtime_types.c makes for the maps, channels
 * and library types of a program with the program's own DWARF.
 *
 * Takes a release ("go1.27.4") and the size of pointers, and reads the output of layouts.go on its
 * standard input. Compares twice: with all types, and with those of the runtime hidden, as in an
 * executable without DWARF. Prints TAP.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "types/build.h"

#define LINE_LIMIT 65536

static struct types types;
static struct runtime_types runtime;
static uint32_t *headers; /* the header of each type in DWARF */
static uint32_t loaded;
static unsigned differences;

static const char *name_of(uint32_t number)
{
    static char names[4][256];
    static unsigned next;
    char *name = names[next++ % 4];
    const struct g2h_bytes text =
        number == TYPE_NONE ? bytes_of("nothing") : types_name(&types, number);
    snprintf(name, sizeof(names[0]), "%.*s", (int)text.size, (const char *)text.data);
    return name;
}

/* Returns whether a type is one of those that executables without DWARF, as a rule, do not tell
 * of. */
static bool hide(const char *name)
{
    static const char *const prefixes[] = {"runtime.",
                                           "sync.pool",
                                           "sync/atomic.U",
                                           "sync/atomic.a",
                                           "internal/runtime/",
                                           "internal/sync.entry[",
                                           "internal/concurrent.entry[",
                                           "unique.entry["};
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return !strstr(name, "go.shape");
    return false;
}

static bool is_hidden(uint32_t number)
{
    return name_of(number)[0] == '?';
}

static bool load(char *const *lines, uint32_t line_count, bool hidden)
{
    for (uint32_t i = 0; i < line_count; i++) {
        long long number, kind, size, elem, key, length, header, offset, of, embedded;
        int at = 0;
        const char *line = lines[i];
        char name[LINE_LIMIT];
        if (sscanf(line, "T %lld %lld %lld %lld %lld %lld %lld %n", &number, &kind, &size, &elem,
                   &key, &length, &header, &at) == 7 &&
            at) {
            snprintf(name, sizeof(name), "%s%s", hidden && hide(line + at) ? "?" : "", line + at);
            struct type type = {.kind = (uint8_t)kind,
                                .size = (uint64_t)size,
                                .pointer_bytes = UINT64_MAX,
                                .elem = (uint32_t)elem,
                                .key = (uint32_t)key,
                                .header = TYPE_NONE,
                                .length = (uint64_t)length,
                                .from_dwarf = true,
                                .empty_interface = strcmp(name, "interface {}") == 0,
                                .first_field = (uint32_t)types.fields.count};
            if (type.kind == TYPE_POINTER && type.elem == TYPE_NONE)
                type.kind = TYPE_UNSAFE_POINTER;
            uint32_t ret;
            if (!types_intern(&types, name, strlen(name), &type.name) ||
                !types_add(&types, &type, &ret) || ret != (uint32_t)number)
                return false;
            headers = realloc(headers, (ret + 1) * sizeof(*headers));
            headers[ret] = (uint32_t)header;
        } else if (sscanf(line, "F %lld %lld %lld %n", &offset, &of, &embedded, &at) == 3 && at) {
            struct type_field field = {
                .type = (uint32_t)of, .offset = (uint64_t)offset, .embedded = embedded != 0};
            if (!types_intern(&types, line + at, strlen(line + at), &field.name) ||
                !vector_push(&types.fields, field))
                return false;
            types.list.data[types.list.count - 1].field_count++;
        } else {
            return false;
        }
    }
    loaded = (uint32_t)types.list.count;
    return true;
}

__attribute__((format(printf, 2, 3))) static void differ(const char *path, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (differences++ < 20) {
        printf("# %s: ", path);
        vprintf(format, list);
        printf("\n");
    }
    va_end(list);
}

/* Returns whether two names are the same. The runtime's "elems" is "values" in DWARF. */
static bool same_name(const char *ours, size_t our_size, const char *theirs, size_t their_size)
{
    if (their_size == 6 && memcmp(theirs, "values", 6) == 0)
        theirs = "elems", their_size = 5;
    return our_size == their_size && memcmp(ours, theirs, our_size) == 0;
}

static struct map seen;

static void compare(const char *path, uint32_t ours, uint32_t theirs);

static void compare_struct(const char *path, const struct type *our, const struct type *their)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < their->field_count; i++) {
        const struct type_field theirs = types.fields.data[their->first_field + i];
        size_t our_size, their_size;
        const char *their_name = string_pool_text(&types.names, theirs.name, &their_size);
        const struct type_field ours =
            next < our->field_count
                ? types.fields.data[our->first_field + next]
                : (struct type_field){.offset = UINT64_MAX, .name = theirs.name};
        const char *our_name = string_pool_text(&types.names, ours.name, &our_size);
        if (types.list.data[theirs.type].size == 0 &&
            !same_name(our_name, our_size, their_name, their_size))
            continue; /* runtime.lockRankStruct, noCopy */
        char field[1024];
        snprintf(field, sizeof(field), "%s.%.*s", path, (int)their_size, their_name);
        if (ours.offset != theirs.offset || !same_name(our_name, our_size, their_name, their_size))
            differ(field, "at %" PRIu64 ", ours is %.*s at %" PRIi64, theirs.offset, (int)our_size,
                   our_name, (int64_t)ours.offset);
        else
            compare(field, ours.type, theirs.type);
        next++;
    }
    if (next != our->field_count)
        differ(path, "%u fields, not %u", our->field_count, next);
}

static void compare(const char *path, uint32_t ours, uint32_t theirs)
{
    uint32_t first;
    if (ours == theirs)
        return;
    if (ours >= types.list.count || theirs >= types.list.count) {
        differ(path, "no type");
        return;
    }
    if (!map_put(&seen, (uint64_t)ours << 32 | theirs, 1, &first) || first != 1)
        return;
    map_set(&seen, (uint64_t)ours << 32 | theirs, 2);
    const struct type our = types.list.data[ours], their = types.list.data[theirs];
    /* The runtime itself knows only the start of a bucket. */
    if (their.kind == TYPE_STRUCT && strstr(name_of(theirs), "runtime.bmap"))
        return;
    /* In Go 1.26, DWARF says that the elem of a sudog is a pointer to the element, but it is two
     * words. */
    if (strcmp(name_of(ours), "runtime.maybeTraceablePtr") == 0 && their.kind == TYPE_POINTER) {
        compare(path, types.fields.data[our.first_field].type, theirs);
        return;
    }
    if (our.size != their.size)
        differ(path, "%" PRIu64 " bytes, ours has %" PRIu64, their.size, our.size);
    const bool pointers = (our.kind == TYPE_POINTER || our.kind == TYPE_UNSAFE_POINTER ||
                           our.kind == TYPE_CHAN || our.kind == TYPE_FUNC) &&
                          (their.kind == TYPE_POINTER || their.kind == TYPE_UNSAFE_POINTER ||
                           their.kind == TYPE_FUNC || their.kind == TYPE_STRUCT);
    /* The library's sync.eface is the two words of an interface, but its type is no interface. */
    const bool eface = our.kind == TYPE_INTERFACE && strcmp(name_of(theirs), "sync.eface") == 0;
    if (our.kind != their.kind && !pointers && !eface)
        differ(path, "%s, ours is %s", name_of(theirs), name_of(ours));
    char of[1024];
    snprintf(of, sizeof(of), "%s*", path);
    if (our.kind == TYPE_STRUCT && their.kind == TYPE_STRUCT) {
        compare_struct(path, &our, &their);
    } else if (our.kind == TYPE_ARRAY && their.kind == TYPE_ARRAY) {
        if (our.length != their.length)
            differ(path, "length %" PRIu64 ", ours %" PRIu64, their.length, our.length);
        compare(path, our.elem, their.elem);
    } else if ((our.kind == TYPE_SLICE && their.kind == TYPE_SLICE)) {
        compare(of, our.elem, their.elem);
    } else if (our.kind == TYPE_POINTER && their.kind == TYPE_POINTER) {
        /* DWARF knows only the directory of a map, not the single group of a small map. */
        compare(of, our.target == TARGET_BY_WORD ? our.key : our.elem, their.elem);
    }
}

static unsigned compare_header(uint32_t number, enum type_kind kind)
{
    char name[256];
    if (types.list.data[number].kind != kind)
        return 0;
    snprintf(name, sizeof(name), "%s", name_of(number));
    compare(name, types.list.data[number].header, headers[number]);
    return 1;
}

/* Finds a struct by its name, whether hidden or not. Returns TYPE_NONE if there is none. */
static uint32_t find(const char *text)
{
    char name[256];
    for (unsigned hidden = 0; hidden < 2; hidden++) {
        const size_t size = (size_t)snprintf(name, sizeof(name), "%s%s", hidden ? "?" : "", text);
        for (uint32_t i = 0; i < loaded; i++)
            if (types.list.data[i].kind == TYPE_STRUCT && build_is_named(&runtime, i, name) &&
                strlen(name) == size)
                return i;
    }
    return TYPE_NONE;
}

/* The types that fields of library types point to, if the executable has the struct. */
static const struct expectation {
    const char *type, *field, *elem, *key;
    int since, before;
} expectations[] = {
    {"sync.Pool", "local", "sync.poolLocal", NULL, 13, 0},
    {"sync.Pool", "victim", "sync.poolLocal", NULL, 13, 0},
    {"sync.entry", "p", "interface {}", NULL, 7, 20},
    {"sync.notifyList", "head", "runtime.sudog", NULL, 7, 0},
    {"sync/atomic.Pointer[main.node]", "v", "main.node", NULL, 19, 0},
    {"sync/atomic.Pointer[sync.readOnly]", "v", "sync.readOnly", NULL, 20, 24},
    {"sync/atomic.Pointer[internal/sync.node[interface {},interface {}]]", "v",
     "internal/sync.indirect[interface {},interface {}]",
     "internal/sync.entry[interface {},interface {}]", 24, 0},
    {"sync/atomic.Pointer[internal/sync.indirect[interface {},interface {}]]", "v",
     "internal/sync.indirect[interface {},interface {}]", NULL, 24, 0},
    {"internal/runtime/atomic.Pointer[runtime.m]", "u", "runtime.m", NULL, 23, 0},
    {"weak.Pointer[main.large]", "u", "weak.Pointer handle", NULL, 24, 0},
};

/* Returns whether a type has this name, apart from the mark of a hidden type. */
static bool is_called(uint32_t number, const char *name)
{
    const char *text = name_of(number);
    return strcmp(text + (text[0] == '?'), name) == 0;
}

static unsigned check_expectations(int minor)
{
    unsigned count = 0;
    for (size_t i = 0; i < sizeof(expectations) / sizeof(*expectations); i++) {
        const struct expectation *expected = &expectations[i];
        const uint32_t number = find(expected->type);
        if (number == TYPE_NONE || minor < expected->since ||
            (expected->before && minor >= expected->before))
            continue;
        const struct type *type = &types.list.data[number];
        if (is_hidden(number))
            continue;
        count++;
        bool met = false;
        for (uint32_t j = 0; j < type->field_count && !met; j++) {
            const struct type_field *field = &types.fields.data[type->first_field + j];
            const struct type *pointer = &types.list.data[field->type];
            size_t size;
            const char *name = string_pool_text(&types.names, field->name, &size);
            met = size == strlen(expected->field) && memcmp(name, expected->field, size) == 0 &&
                  pointer->kind == TYPE_POINTER && is_called(pointer->elem, expected->elem) &&
                  (!expected->key || (pointer->target == TARGET_BY_CONTENT &&
                                      is_called(pointer->key, expected->key)));
        }
        if (!met)
            differ(expected->type, "%s is no pointer to %s", expected->field, expected->elem);
    }
    return count;
}

/* Compares the entries of HashTrieMaps that were made with those that DWARF has. */
static unsigned check_entries(void)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < loaded; i++) {
        const char *name = name_of(i);
        char other[300];
        /* Go 1.27 has only shapes in DWARF. */
        if (types.list.data[i].kind != TYPE_STRUCT)
            continue;
        if (strncmp(name, "?internal/sync.entry[", 21) == 0 ||
            strncmp(name, "?unique.entry[", 14) == 0 ||
            strncmp(name, "?internal/concurrent.entry[", 27) == 0)
            snprintf(other, sizeof(other), "%s", name + 1);
        else if (strcmp(name, "internal/sync.entry[go.shape.interface {},"
                              "go.shape.interface {}]") == 0)
            snprintf(other, sizeof(other), "internal/sync.entry[interface {},interface {}]");
        else
            continue;
        const uint32_t ours = build_find(&runtime, bytes_of(other));
        if (ours == TYPE_NONE || ours == i)
            continue;
        compare(other, ours, i);
        count++;
    }
    return count;
}

static void result(unsigned *count, const char *what, const char *mode, unsigned compared)
{
    printf("%sok %u - %u %s%s are as they should be\n", differences || !compared ? "not " : "",
           ++*count, compared, what, mode);
    differences = 0;
}

static bool check(const char *release_text, unsigned pointer_size, char *const *lines,
                  uint32_t line_count, bool hidden, unsigned *count)
{
    const struct go_release release = go_release_parse(release_text);
    const char *mode = hidden ? ", the runtime's types hidden," : "";
    types_init(&types, pointer_size);
    if (!load(lines, line_count, hidden))
        return false;
    runtime_types_init(&runtime, &types, &release);
    if (!runtime_types_add(&runtime))
        return false;

    unsigned maps = 0, channels = 0;
    for (uint32_t i = 0; i < loaded; i++)
        maps += compare_header(i, TYPE_MAP);
    result(count, "maps", mode, maps);
    for (uint32_t i = 0; i < loaded; i++)
        channels += compare_header(i, TYPE_CHAN);
    result(count, "channels", mode, channels);

    result(count, "pointers", mode, check_expectations(release.minor));
    if (hidden && release.minor >= 23)
        result(count, "entries", mode, check_entries());

    unsigned structs = 0;
    const char *name;
    for (size_t i = 0; hidden && (name = named_struct_name(i)) != NULL; i++) {
        const uint32_t theirs = find(name);
        const uint32_t ours = build_type(&runtime, bytes_of(name), NULL);
        if (theirs != TYPE_NONE && ours != TYPE_NONE) {
            compare(name, ours, theirs);
            structs++;
        }
    }
    if (hidden)
        result(count, "structs", mode, structs);

    runtime_types_deinit(&runtime);
    types_deinit(&types);
    map_deinit(&seen);
    free(headers);
    headers = NULL;
    return true;
}

int main(int argc, char **argv)
{
    static char line[LINE_LIMIT];
    VECTOR(char *) lines = {0};
    unsigned count = 0;
    if (argc != 3)
        return 2;
    while (fgets(line, sizeof(line), stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (!vector_push(&lines, strdup(line)))
            return 1;
    }
    for (unsigned hidden = 0; hidden < 2; hidden++)
        if (!check(argv[1], (unsigned)atoi(argv[2]), lines.data, (uint32_t)lines.count, hidden,
                   &count))
            printf("not ok %u - the types are understood\n", ++count);
    for (size_t i = 0; i < lines.count; i++)
        free(lines.data[i]);
    free(lines.data);
    return 0;
}
