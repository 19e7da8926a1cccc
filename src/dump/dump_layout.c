/*
 * dump_layout: the rows of the table, and how a dump is matched to one of them.
 *
 * The rows follow runtime/heapdump.{c,go} of the versions that they are named after. Three layouts
 * begin with "go1.3 heap dump"; only the records distinguish them.
 */
#include "dump/dump_layout.h"

#include <string.h>

#include "base/cursor.h"

#define POINTER G2H_FIELD_POINTER
#define STRING  G2H_FIELD_STRING
#define SLICE   G2H_FIELD_SLICE
#define IFACE   G2H_FIELD_IFACE
#define EFACE   G2H_FIELD_EFACE

#define RELEASED_TAGS \
    { \
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, NO_KIND \
    }

/* The patch CL 37540043 of 2013, by the README of randall77/hprof. */
static const struct dump_layout layout_2013 = {
    .name = "2013",
    .tags = {NO_KIND, G2H_RECORD_OBJECT, NO_KIND, G2H_RECORD_EOF, G2H_RECORD_STACKROOT,
             G2H_RECORD_DATAROOT, G2H_RECORD_OTHERROOT, G2H_RECORD_TYPE, G2H_RECORD_GOROUTINE,
             G2H_RECORD_STACKFRAME, G2H_RECORD_PARAMS, G2H_RECORD_FINALIZER, G2H_RECORD_ITAB,
             NO_KIND, NO_KIND, NO_KIND, NO_KIND, NO_KIND, NO_KIND},
    .field_kinds = {POINTER, STRING, SLICE, IFACE, EFACE, NO_KIND},
    .type_fields = FIELDS_COUNTED,
    .object_has_type = true,
    .goroutine_is_short = true,
    .params = PARAMS_2013,
    .stackframe = STACKFRAME_2013,
};

const struct dump_layout layout_1_3_beta = {
    .name = "1.3 beta",
    .tags = RELEASED_TAGS,
    .field_kinds = {NO_KIND, POINTER, STRING, SLICE, IFACE, EFACE},
    .type_fields = FIELDS_ENDED,
    .object_has_type = true,
    .params = PARAMS_1_3,
    .stackframe = STACKFRAME_BETA,
};

const struct dump_layout layout_1_3 = {
    .name = "1.3",
    .tags = RELEASED_TAGS,
    .field_kinds = {NO_KIND, POINTER, STRING, SLICE, IFACE, EFACE},
    .type_fields = FIELDS_ENDED,
    .object_has_type = true,
    .params = PARAMS_1_3,
    .stackframe = STACKFRAME_1_3,
};

static const struct dump_layout layout_1_4 = {
    .name = "1.4",
    .tags = RELEASED_TAGS,
    .field_kinds = {NO_KIND, POINTER, IFACE, EFACE, NO_KIND, NO_KIND},
    .object_fields = FIELDS_ENDED,
    .itab_has_type = true,
    .g_has_stack = true,
    .params = PARAMS_1_4,
    .stackframe = STACKFRAME_1_3,
};

static const struct dump_layout layout_1_5 = {
    .name = "1.5",
    .tags = RELEASED_TAGS,
    .field_kinds = {NO_KIND, POINTER, NO_KIND, NO_KIND, NO_KIND, NO_KIND},
    .object_fields = FIELDS_ENDED,
    .itab_has_type = true,
    .g_has_stack = true,
    .type_names_may_be_corrupt = true,
    .params = PARAMS_1_4,
    .stackframe = STACKFRAME_1_3,
};

static const struct dump_layout layout_1_6 = {
    .name = "1.6",
    .tags = RELEASED_TAGS,
    .field_kinds = {NO_KIND, POINTER, NO_KIND, NO_KIND, NO_KIND, NO_KIND},
    .object_fields = FIELDS_ENDED,
    .itab_has_type = true,
    .g_has_stack = true,
    .params = PARAMS_1_4,
    .stackframe = STACKFRAME_1_3,
};

static const struct dump_layout layout_1_7 = {
    .name = "1.7",
    .tags = RELEASED_TAGS,
    .field_kinds = {NO_KIND, POINTER, NO_KIND, NO_KIND, NO_KIND, NO_KIND},
    .object_fields = FIELDS_ENDED,
    .itab_has_type = true,
    .g_has_stack = true,
    .may_lack_stack_objects = true,
    .params = PARAMS_1_7,
    .stackframe = STACKFRAME_1_3,
};

/* Returns whether the record after the header reads as params with the given tag: two formats that
 * begin alike differ in tags. The params of 1.3 and 2013 begin alike. */
static bool starts_with_params(struct cursor cursor, uint8_t tag)
{
    uint64_t found, big_endian, pointer_size, hchan_size, start, end;
    return cursor_uvarint(&cursor, &found) && found == tag &&
           cursor_uvarint(&cursor, &big_endian) && big_endian <= 1 &&
           cursor_uvarint(&cursor, &pointer_size) &&
           (pointer_size == 4 || pointer_size == 8 ||
            (tag == 10 && (pointer_size == 32 || pointer_size == 64))) &&
           cursor_uvarint(&cursor, &hchan_size) && hchan_size < 256 &&
           cursor_uvarint(&cursor, &start) && cursor_uvarint(&cursor, &end) && start < end;
}

/* Distinguishes the released format from that of 2013. A dump of 2013 ends with its EOF tag 3, and
 * a released one with 0; but the first record is better evidence. */
static const struct dump_layout *detect_1_3(const uint8_t *data, uint64_t size, size_t header)
{
    struct cursor cursor = {data + header, data + size};
    if (starts_with_params(cursor, G2H_RECORD_PARAMS))
        return &layout_1_3;
    if (starts_with_params(cursor, 10))
        return &layout_2013;
    return size > header && data[size - 1] == 3 ? &layout_2013 : &layout_1_3;
}

/* Reads "go1.N heap dump\n". Returns N, or -1 if the bytes are something else. */
static int header_minor(const uint8_t *data, uint64_t size, size_t *ret_size)
{
    static const char prefix[] = "go1.", suffix[] = " heap dump\n";
    size_t at = sizeof(prefix) - 1;
    if (size < at || memcmp(data, prefix, at) != 0)
        return -1;
    int minor = -1;
    while (at < size && data[at] >= '0' && data[at] <= '9' && minor < 1000)
        minor = (minor < 0 ? 0 : minor * 10) + (data[at++] - '0');
    if (minor < 0 || size - at < sizeof(suffix) - 1 ||
        memcmp(data + at, suffix, sizeof(suffix) - 1) != 0)
        return -1;
    *ret_size = at + sizeof(suffix) - 1;
    return minor;
}

/* The header names the version whose format it is. Three formats begin with "go1.3". */
const struct dump_layout *layout_detect(const uint8_t *data, uint64_t size, size_t *ret_size,
                                        const char **ret_warning)
{
    *ret_warning = NULL;
    int minor = header_minor(data, size, ret_size);
    switch (minor) {
    case 3:
        return detect_1_3(data, size, *ret_size);
    case 4:
        return &layout_1_4;
    case 5:
        return &layout_1_5;
    case 6:
        return &layout_1_6;
    case 7:
        return &layout_1_7;
    default:
        if (minor < 7)
            return NULL;
        *ret_warning =
            "its header names a format newer than go1.7, the last one known; read as go1.7";
        return &layout_1_7;
    }
}

/* In the beta the function's name follows here, a length and printable characters; in Go 1.3 one
 * more program counter comes first, which is an address. */
bool layout_stackframe_is_beta(const uint8_t *data, const uint8_t *end, uint64_t entry)
{
    struct cursor cursor = {data, end};
    uint64_t value;
    if (!cursor_uvarint(&cursor, &value) || value == 0 || value >= entry ||
        value > cursor_left(&cursor))
        return false;
    for (uint64_t i = 0; i < value; i++)
        if (cursor.at[i] < 0x20 || cursor.at[i] == 0x7f)
            return false;
    return true;
}
