/*
 * dump_layout: recognizes the format of a dump by its first bytes; see dump_layout.h. A format is a
 * row of the table, which says how records differ; three formats have the same header, and are told
 * apart by the record after it. The second part says what a file is that is no dump, for the error.
 */
#include "dump/dump_layout.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "input/magic.h"

/* ==== the table of formats ====
 *
 * The rows of the table, and how a dump is matched to one of them.
 *
 * The rows follow runtime/heapdump.{c,go} of the versions that they are named after. Three layouts
 * begin with "go1.3 heap dump"; only the records distinguish them.
 */

#define POINTER G2H_FIELD_POINTER

#define STRING G2H_FIELD_STRING

#define SLICE G2H_FIELD_SLICE

#define IFACE G2H_FIELD_IFACE

#define EFACE G2H_FIELD_EFACE

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

enum { TAG_PARAMS_2013 = 10 };

/* Returns whether the record after the header reads as params with the given tag, and makes sense:
 * two formats that begin alike differ in tags. The params of 1.3 and 2013 begin alike, but the
 * first dumps of 2013 have the pointer size in bits. */
static bool starts_with_params(struct cursor cursor, uint8_t tag)
{
    enum { HCHAN_LIMIT = 256 /* bytes; runtime.hchan has 96 */ };
    uint64_t found, big_endian, pointer_size, hchan_size, start, end;
    return cursor_uvarint(&cursor, &found) && found == tag &&
           cursor_uvarint(&cursor, &big_endian) && big_endian <= 1 &&
           cursor_uvarint(&cursor, &pointer_size) &&
           (pointer_size == 4 || pointer_size == 8 ||
            (tag == TAG_PARAMS_2013 && (pointer_size == 32 || pointer_size == 64))) &&
           cursor_uvarint(&cursor, &hchan_size) && hchan_size < HCHAN_LIMIT &&
           cursor_uvarint(&cursor, &start) && cursor_uvarint(&cursor, &end) && start < end;
}

/* Distinguishes the released format from that of 2013. A dump of 2013 ends with its EOF tag, and
 * a released one with 0; but the first record is better evidence. */
static const struct dump_layout *detect_1_3(const uint8_t *data, uint64_t size, size_t header)
{
    struct cursor cursor = {data + header, data + size};
    if (starts_with_params(cursor, G2H_RECORD_PARAMS))
        return &layout_1_3;
    if (starts_with_params(cursor, TAG_PARAMS_2013))
        return &layout_2013;
    enum { TAG_EOF_2013 = 3 };
    return size > header && data[size - 1] == TAG_EOF_2013 ? &layout_2013 : &layout_1_3;
}

/* Reads "go1.N heap dump\n". Returns N, or -1 if the bytes are something else. *ret_size is how
 * many bytes the header has. */
static int header_minor(const uint8_t *data, uint64_t size, size_t *ret_size)
{
    static const char prefix[] = "go1.";
    static const char suffix[] = " heap dump\n";
    size_t at = sizeof(prefix) - 1;
    if (size < at || memcmp(data, prefix, at) != 0)
        return -1;
    int minor = -1;
    while (at < size && data[at] >= '0' && data[at] <= '9' && minor < 1000) /* no overflow */
        minor = (minor < 0 ? 0 : minor * 10) + (data[at++] - '0');
    if (minor < 0 || size - at < sizeof(suffix) - 1 ||
        memcmp(data + at, suffix, sizeof(suffix) - 1) != 0)
        return -1;
    *ret_size = at + sizeof(suffix) - 1;
    return minor;
}

/* Finds the layout of the dump by its header. The header names the version whose format it is.
 * Three formats begin with "go1.3". */
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

/* Returns whether a stack frame is that of the beta of Go 1.3. In the beta the function's name
 * follows here, a length and printable characters; in Go 1.3 one more program counter comes first,
 * which is an address. */
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

/* ==== files that are not dumps ====
 *
 * A table lists the files that begin with fixed bytes; two formats need a closer look. The message
 * quotes the first line of a text file: a server without a dump answers with an error message, and
 * curl saves it.
 */

/* The advice for each kind of file. */
static const char own[] = "a heap dump is what runtime/debug.WriteHeapDump writes",
                  heap[] = "it has no objects; --pid reads the heap of the process, as does a core "
                           "file of it",
                  made[] =
                      "it may be an output of this program, which reads the dump, core file or "
                      "process that it was made of",
                  analyze[] =
                      "memory analyzers for Java open it; this program reads the dump, core "
                      "file or process that it may have been made of",
                  machine[] = "a core file of the process, as by gcore, has its heap",
                  binary[] = "write it to a file in the process, or transfer it in binary mode",
                  core[] = "g2h_process_read_core() makes one of it",
                  give_exe[] = "give it beside the dump that it wrote: --exe EXECUTABLE DUMP",
                  load[] = "open it in DevTools as it is: Memory, \"Load profile\"",
                  curl[] = "if a server was asked for the dump, that is its answer: curl -f would "
                           "have failed";

struct start {
    unsigned at, size; /* size 0: bytes is a NUL-terminated string */
    const char *bytes;
    const char *what, *remedy;
};

/* The first row that matches counts. */
static const struct start starts[] = {
    {0, 0, "{\"snapshot\":", "a heap snapshot already", load},
    {0, 0, "\xfd\67zXZ", "an xz archive", "unpack it first: xz -d"},
    {0, 4, "\x28\xb5\x2f\xfd", "a zstd archive", "unpack it first: zstd -d"},
    {0, 4, "\x02\x21\x4c\x18", "an lz4 archive", "unpack it first: lz4 -d"},
    {0, 4, "\x04\x22\x4d\x18", "an lz4 archive", "unpack it first: lz4 -d"},
    {0, 0, "BZh", "a bzip2 archive", "unpack it first: bzip2 -d"},
    {0, 4, "PK\3\4", "a zip archive", "unpack it first: unzip"},
    {0, 0, "7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it first: 7z x"},
    {257, 0, "ustar", "a tar archive", "unpack it first: tar -x"},
    {0, 2, "\x1f\x8b", "gzip within gzip", "unpack it first: gzip -d"},
    {0, 0, "heap profile: ", "a pprof profile", heap},
    {0, 0, "goroutine profile: ", "a pprof profile", heap},
    {0, 0, "threadcreate profile: ", "a pprof profile", heap},
    {0, 0, "--- mutex:", "a pprof profile", heap},
    {0, 0, "--- contention:", "a pprof profile", heap},
    {0, 0, "goroutine ", "a traceback of goroutines", heap},
    {0, 0, "SIGQUIT: quit", "a traceback of goroutines", heap},
    {0, 0, "panic: ", "a traceback of goroutines", heap},
    {0, 0, "fatal error: ", "a traceback of goroutines", heap},
    {0, 0, "go 1.", "an execution trace of runtime/trace", heap},
    {0, 0, "JAVA PROFILE 1.", "an hprof heap dump", analyze},
    {0, 0, "SQLite format 3", "an SQLite database", made},
    {0, 0, "PERFILE2", "a profile of perf", heap},
    {0, 0, "KDUMP   ", "a dump of a machine's memory (kdump)", machine},
    {0, 0, "MDMP", "a minidump of Windows", own},
    {0, 8, "\xff\xfeg\0o\0001\0", "UTF-16, as PowerShell's > makes of it", "write it with curl -o"},
};

/* ---- profiles ---- */

/* Returns whether bytes are a profile of pprof, which is a protobuf without a magic. Its message
 * Profile has fields 1 to 15; field 6 is its strings, the first of which is empty. */
static bool is_profile(const uint8_t *data, uint64_t size)
{
    enum { VARINT, BYTES = 2, FIELDS = 15, STRINGS = 6 };
    struct cursor cursor = {data, data + size};
    uint64_t key, value;
    while (cursor_uvarint(&cursor, &key)) {
        const uint64_t field = key >> 3;
        const uint64_t form = key & 7;
        if (field == 0 || field > FIELDS || (form != VARINT && form != BYTES) ||
            !cursor_uvarint(&cursor, &value))
            return false;
        if (field == STRINGS)
            return form == BYTES && value == 0;
        if (form == BYTES && !cursor_skip(&cursor, value))
            return false;
    }
    return false;
}

/* ---- text ---- */

enum { LOOKED_AT = 1024, QUOTED = 72 };

/* Returns whether a byte can be in a text file. Bytes of 0x80 and above count as text, because a
 * page may be in any language. */
static bool is_text_byte(uint8_t byte)
{
    return (byte >= 0x20 && byte != 0x7f) || (byte >= '\t' && byte <= '\r') || byte == 0x1b;
}

/* Returns whether the first LOOKED_AT bytes of a file are text. */
static bool foreign_is_text(const uint8_t *data, uint64_t size)
{
    for (uint64_t i = 0; i < size && i < LOOKED_AT; i++)
        if (!is_text_byte(data[i]))
            return false;
    return true;
}

/* Quotes the first line that is not blank in a form that is safe for a terminal: without controls,
 * and with one '?' for each character that is not ASCII. */
static void quote_line(const uint8_t *data, uint64_t size, char ret[QUOTED + sizeof("...")])
{
    size_t count = 0;
    uint64_t i = 0;
    while (i < size && data[i] <= ' ')
        i++;
    for (; i < size && data[i] != '\n' && data[i] != '\r' && count <= QUOTED; i++)
        if ((data[i] & 0xc0) != 0x80) /* skips UTF-8 continuation bytes */
            ret[count++] = data[i] >= ' ' && data[i] < 0x7f ? (char)data[i] : '?';
    if (count > QUOTED)
        strcpy(ret + QUOTED, "...");
    else
        ret[count] = '\0';
}

/* ---- all together ---- */

/* Returns the error for a file that is something else, with advice. */
static struct g2h_error *foreign_refuse_as(const struct g2h_input *input, const char *what,
                                           const char *remedy)
{
    return error_create(G2H_ERROR_NOT_DUMP, "%s: not a Go heap dump but %s; %s", input->name, what,
                        remedy);
}

/* Returns the row of the table whose bytes a file begins with, or NULL. */
static const struct start *foreign_find_start(const uint8_t *data, uint64_t size)
{
    for (size_t i = 0; i < COUNT_OF(starts); i++) {
        const struct start *start = &starts[i];
        const size_t count = start->size > 0 ? start->size : strlen(start->bytes);
        if (magic_begins(data, size, start->at, start->bytes, count))
            return start;
    }
    return NULL;
}

/* Returns whether the input is just the beginning of a dump's header. */
static bool is_cut_header(const uint8_t *data, uint64_t size)
{
    static const char header[] = "go1.7 heap dump\n";
    const size_t number = 4; /* the index of the 7 */
    return size < sizeof(header) - 1 && memcmp(data, header, (size_t)MIN(size, number)) == 0 &&
           (size <= number + 1 ||
            memcmp(data + number + 1, header + number + 1, (size_t)size - number - 1) == 0);
}

/* Returns whether the input is a dump in which each LF was replaced with CR LF. */
static bool has_carriage_returns(const uint8_t *data, uint64_t size)
{
    static const char begin[] = "go1.";
    static const char end[] = " heap dump\r\n";
    enum { MOST = 32 };
    const size_t looked_at = size < MOST ? (size_t)size : MOST;
    return magic_begins(data, size, 0, begin, sizeof(begin) - 1) &&
           memmem(data, looked_at, end, sizeof(end) - 1) != NULL;
}

/* Makes the error about a file that is no heap dump. The checks go from certain to vague: fixed
 * bytes at the beginning, then the kinds of files that need a closer look, and at last any text,
 * which is quoted. */
struct g2h_error *foreign_refuse(const struct g2h_input *input)
{
    const uint8_t *data = input->data;
    const uint64_t size = input->size;
    char line[QUOTED + sizeof("...")], text[sizeof(line) + 64];
    if (size == 0)
        return error_create(
            G2H_ERROR_NOT_DUMP,
            "%s: is empty (was the disk full, or did the program end while it dumped?)",
            input->name);
    if (is_cut_header(data, size))
        return error_create(G2H_ERROR_NOT_DUMP, "%s: byte %llu: the dump is cut within its header",
                            input->name, (unsigned long long)size);
    if (has_carriage_returns(data, size))
        return foreign_refuse_as(input,
                                 "one in which line feeds have become CR LF, by a terminal or a "
                                 "transfer as text, which destroys it",
                                 binary);
    const struct start *start = foreign_find_start(data, size);
    if (start)
        return foreign_refuse_as(input, start->what, start->remedy);
    if (magic_is_core(data, size))
        return foreign_refuse_as(input, "a core file", core);
    if (magic_is_executable(data, size))
        return foreign_refuse_as(input, "an executable", give_exe);
    if (is_profile(data, size))
        return foreign_refuse_as(input, "a pprof profile", heap);
    if (foreign_is_text(data, size)) {
        quote_line(data, size, line);
        snprintf(text, sizeof(text), "text that begins \"%s\"", line);
        return foreign_refuse_as(input, text, curl);
    }
    return error_create(
        G2H_ERROR_NOT_DUMP,
        "%s: byte 0: not a Go heap dump: it does not start with \"go1.N heap dump\\n\", as what "
        "runtime/debug.WriteHeapDump writes does",
        input->name);
}
