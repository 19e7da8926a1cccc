/*
 * target_output: an input is a dump, or an executable followed by the dump that it wrote (pair.h).
 * It is written in one output, the one that $FUZZ_OUTPUT names, and what has been written is read
 * as far as its format goes: a reader that knows nothing else of the program must not stumble.
 *
 * The executable is not changed, as target_exe does that. In the dump, numbers become extreme, and
 * bytes of names become characters that no terminal should get.
 */
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

#include <go2heapsnapshot/error.h>
#include <go2heapsnapshot/output.h>

#include "base/text.h"
#include "check.h"
#include "dice.h"
#include "fuzz_target.h"
#include "pair.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { LARGEST_FILE = 1 << 27, LARGEST_LEAST = 1 << 20 };

/* Bytes that have been written, and what they are made of. */
struct written {
    const uint8_t *data;
    size_t size;
    const struct g2h_output_options *options;
};

typedef void check_written(const struct written *written);

/* ---- text ---- */

/* Returns the size of the sequence that begins or ends a color, or 0 if there is none. */
static size_t color_size(const uint8_t *at, size_t left)
{
    static const char *const colors[] = {"\033[1m", "\033[m"};
    for (size_t i = 0; i < sizeof(colors) / sizeof(*colors); i++)
        if (left >= strlen(colors[i]) && memcmp(at, colors[i], strlen(colors[i])) == 0)
            return strlen(colors[i]);
    return 0;
}

/* Checks that a terminal shows all characters but line breaks and, where they are wanted, colors.
 */
static void check_shown(const struct written *written, bool has_color)
{
    char *copy = malloc(written->size + 1);
    size_t size = 0;
    CHECK(copy);
    for (size_t at = 0; at < written->size;) {
        const size_t color = has_color ? color_size(written->data + at, written->size - at) : 0;
        if (color == 0 && written->data[at] != '\n')
            copy[size++] = (char)written->data[at];
        at += color > 0 ? color : 1;
    }
    char *shown = malloc(size + 1);
    CHECK(shown);
    memcpy(shown, copy, size);
    CHECK(g2h_printable(shown, size) == size && memcmp(shown, copy, size) == 0);
    free(shown);
    free(copy);
}

static void check_text(const struct written *written)
{
    check_shown(written, written->options->report->color);
    CHECK(written->size > 0 && written->data[written->size - 1] == '\n');
}

/* ---- JSON ---- */

enum { DEEPEST = 64 };

/* A position in JSON (RFC 8259), and the brackets that are open there. */
struct position {
    const uint8_t *at, *end;
    char open[DEEPEST];
    size_t depth;
};

static void pass_space(struct position *position)
{
    while (position->at < position->end && strchr(" \n\r\t", *position->at))
        position->at++;
}

static bool take(struct position *position, char wanted)
{
    pass_space(position);
    const bool is_there = position->at < position->end && *position->at == (uint8_t)wanted;
    position->at += is_there;
    return is_there;
}

static void pass_string(struct position *position)
{
    CHECK(take(position, '"'));
    while (position->at < position->end && *position->at != '"') {
        if (*position->at++ != '\\')
            continue;
        CHECK(position->at < position->end && strchr("\"\\/bfnrtu", *position->at));
        if (*position->at++ == 'u')
            for (int i = 0; i < 4; i++, position->at++)
                CHECK(position->at < position->end &&
                      strchr("0123456789abcdefABCDEF", *position->at));
    }
    CHECK(take(position, '"'));
}

static void pass_number(struct position *position)
{
    char number[64];
    char *end;
    size_t size = 0;
    while (position->at + size < position->end && size < sizeof(number) - 1 &&
           strchr("+-.eE0123456789", position->at[size]))
        size++;
    memcpy(number, position->at, size);
    number[size] = '\0';
    CHECK(size > 0 && number[0] != '+' && number[0] != '.');
    CHECK(number[0] != '0' || size == 1 || strchr(".eE", number[1]));
    (void)strtod(number, &end);
    CHECK(end == number + size);
    position->at += size;
}

/* Passes over a value, or into a list or an object. Returns whether it has entries to come. */
static bool pass_value(struct position *position)
{
    static const char *const words[] = {"true", "false", "null"};
    pass_space(position);
    const size_t left = (size_t)(position->end - position->at);
    CHECK(left > 0);
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (left >= strlen(words[i]) && memcmp(position->at, words[i], strlen(words[i])) == 0) {
            position->at += strlen(words[i]);
            return false;
        }
    if (*position->at == '"') {
        pass_string(position);
    } else if (*position->at == '[' || *position->at == '{') {
        CHECK(position->depth < DEEPEST);
        position->open[position->depth++] = (char)*position->at;
        position->at++;
        return true;
    } else {
        pass_number(position);
    }
    return false;
}

/* Checks that the bytes are one value of JSON, in which nothing acts upon a terminal. */
static void check_json(const struct written *written)
{
    struct position position = {.at = written->data, .end = written->data + written->size};
    check_shown(written, false);
    bool is_first = pass_value(&position);
    while (position.depth > 0) {
        const char open = position.open[position.depth - 1];
        if (take(&position, open == '[' ? ']' : '}')) {
            position.depth--;
            is_first = false;
            continue;
        }
        CHECK(is_first || take(&position, ','));
        if (open == '{') {
            pass_string(&position);
            CHECK(take(&position, ':'));
        }
        is_first = pass_value(&position);
    }
    pass_space(&position);
    CHECK(position.at == position.end);
}

/* ---- pages for browsers ---- */

/* Returns the part of a page between two texts, each of which must be there. */
static struct written part_of(const struct written *written, const char *begin, const char *end)
{
    const uint8_t *from = memmem(written->data, written->size, begin, strlen(begin));
    CHECK(from);
    from += strlen(begin);
    const size_t left = written->size - (size_t)(from - written->data);
    const uint8_t *to = memmem(from, left, end, strlen(end));
    CHECK(to);
    return (struct written){from, (size_t)(to - from), written->options};
}

/* Checks that text of an element has nothing that begins another one. */
static void check_element(const struct written *text)
{
    static const char *const references[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (size_t i = 0; i < text->size; i++) {
        bool is_reference = text->data[i] != '&';
        for (size_t j = 0; j < sizeof(references) / sizeof(*references); j++)
            is_reference |= text->size - i >= strlen(references[j]) &&
                            memcmp(text->data + i, references[j], strlen(references[j])) == 0;
        CHECK(is_reference && strchr("<>\"'", text->data[i]) == NULL);
    }
}

static void check_page(const struct written *written)
{
    enum { MOST = 4000000 };
    const struct written data = part_of(written, " id=\"data\">", "</script>"),
                         text = part_of(written, "<pre id=\"text\">", "</pre>"),
                         title = part_of(written, "<title>", "</title>");
    CHECK(written->size < MOST);
    check_json(&data);
    for (size_t i = 0; i < data.size; i++)
        CHECK(strchr("<>&", data.data[i]) == NULL);
    check_element(&text);
    check_shown(&text, false);
    check_element(&title);
    check_shown(&title, false);
}

/* ---- binary formats ---- */

static uint64_t big_endian(const uint8_t *at, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value = value << 8 | at[i];
    return value;
}

/* Checks that the records' lengths add up: each ends where the next one begins. */
static void check_hprof(const struct written *written)
{
    static const char version[] = "JAVA PROFILE 1.0.2";
    enum { IDS_AT = sizeof(version), FIRST = IDS_AT + 4 + 8, RECORD = 1 + 4 + 4 };
    size_t at = FIRST;
    CHECK(written->size >= FIRST && memcmp(written->data, version, sizeof(version)) == 0);
    CHECK(big_endian(written->data + IDS_AT, 4) == 8 || big_endian(written->data + IDS_AT, 4) == 4);
    while (at < written->size) {
        CHECK(written->size - at >= RECORD);
        const uint64_t size = big_endian(written->data + at + 5, 4);
        CHECK(size <= written->size - at - RECORD);
        at += RECORD + (size_t)size;
    }
}

static uint64_t varint(const uint8_t **at, const uint8_t *end)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        CHECK(*at < end && shift < 64);
        value |= (uint64_t)(**at & 0x7f) << shift;
        if (*(*at)++ < 0x80)
            return value;
    }
}

/* Checks that the bytes are fields of protocol buffers: numbers, and messages that end in time. */
static void check_profile(const struct written *written)
{
    for (const uint8_t *at = written->data, *end = at + written->size; at < end;) {
        enum { WIRE_NUMBER = 0, WIRE_BYTES = 2 };
        const uint64_t tag = varint(&at, end), value = varint(&at, end);
        CHECK((tag & 7) == WIRE_NUMBER || (tag & 7) == WIRE_BYTES);
        CHECK(tag >> 3 >= 1 && tag >> 3 <= 15);
        if ((tag & 7) == WIRE_BYTES) {
            CHECK(value <= (uint64_t)(end - at));
            at += value;
        }
    }
}

/* Checks that each line has as many fields as the first one (RFC 4180); the two files follow each
 * other. */
static void check_csv(const struct written *written)
{
    size_t fields = 1, quotes = 0, wanted = 0, tables = 0;
    for (size_t i = 0; i < written->size; i++) {
        const uint8_t byte = written->data[i];
        quotes += byte == '"';
        if (quotes % 2 == 1)
            continue;
        fields += byte == ',';
        if (byte != '\n')
            continue;
        if (fields != wanted)
            tables++;
        wanted = fields;
        fields = 1;
    }
    CHECK(quotes % 2 == 0 && tables == 2 && fields == 1);
}

static void check_sqlite(const struct written *written)
{
    sqlite3 *handle = NULL;
    sqlite3_stmt *statement = NULL;
    CHECK(sqlite3_open(":memory:", &handle) == SQLITE_OK);
    CHECK(sqlite3_deserialize(handle, "main", (unsigned char *)(uintptr_t)written->data,
                              (sqlite3_int64)written->size, (sqlite3_int64)written->size,
                              SQLITE_DESERIALIZE_READONLY) == SQLITE_OK);
    CHECK(sqlite3_prepare_v2(handle, "PRAGMA integrity_check", -1, &statement, NULL) == SQLITE_OK);
    CHECK(sqlite3_step(statement) == SQLITE_ROW);
    CHECK(strcmp((const char *)sqlite3_column_text(statement, 0), "ok") == 0);
    sqlite3_finalize(statement);
    sqlite3_close(handle);
}

/* ---- outputs ---- */

/* An output: its format, its options, and the most bytes that it writes per byte of the input; 0:
 * no limit, since a name is written with each node that has it. */
struct output {
    const char *name, *format, *by;
    check_written *check;
    unsigned factor;
    bool json, is_path, is_summary;
};

static const struct output outputs[] = {
    {"heapsnapshot", "heapsnapshot", NULL, check_json, 2000, false, false, false},
    {"numbers", "heapsnapshot", NULL, check_json, 4000, false, false, false},
    {"report", "report", NULL, check_text, 1000, false, false, false},
    {"json", "report", NULL, check_json, 1000, true, false, false},
    {"path", "report", NULL, check_text, 0, false, true, false},
    {"path-json", "report", NULL, check_json, 0, true, true, false},
    {"show", "report", NULL, check_text, 0, false, true, false},
    {"show-json", "report", NULL, check_json, 0, true, true, false},
    {"html", "html", NULL, check_page, 0, false, false, false},
    {"retained", "pprof", "retained", check_profile, 1000, false, false, false},
    {"alloc", "pprof", "alloc", check_profile, 1000, false, false, false},
    {"hprof", "hprof", NULL, check_hprof, 1000, false, false, false},
    {"sqlite", "sqlite", NULL, check_sqlite, 4000, false, false, false},
    {"summary", "sqlite", NULL, check_sqlite, 4000, false, false, true},
    {"csv", "csv", NULL, check_csv, 0, false, false, false},
};

static const struct output *output; /* NULL: the dump itself */
static size_t input_size;

/* A name or an address to look up: that of some node. */
static void choose_path(const struct g2h_view *view, uint64_t choice, char *ret, size_t space)
{
    struct g2h_node node;
    size_t size = 0;
    g2h_view_node(view, (uint32_t)(choice % g2h_view_node_count(view)), &node);
    const char *name = node.name == G2H_NAME_NONE ? "" : g2h_view_name(view, node.name, &size);
    if (node.address != 0 && choice % 2 == 0)
        snprintf(ret, space, "0x%llx", (unsigned long long)node.address);
    else
        snprintf(ret, space, "%.*s", (int)(size < space ? size : space - 1), name);
}

/* Unpacks what is always packed. Returns its size. */
static size_t unpack(const char *path, uint8_t **ret)
{
    gzFile file = gzopen(path, "rb");
    size_t size = 0, space = 1 << 16;
    int count;
    CHECK(file);
    for (*ret = NULL;; size += (size_t)count) {
        CHECK((*ret = realloc(*ret, space *= 2)) != NULL);
        count = gzread(file, *ret + size, (unsigned)(space - size));
        CHECK(count >= 0);
        if (count == 0)
            break;
    }
    CHECK(gzclose(file) == Z_OK);
    return size;
}

/* Checks the file that has been written, and copies it to fd, where it is compared with the file
 * that another number of threads writes. */
static void check_file(const struct g2h_output_options *options, bool is_packed, int fd)
{
    char path[FUZZ_PATH];
    const off_t size = lseek(options->fd, 0, SEEK_END);
    CHECK(size >= 0);
    CHECK(output->factor == 0 ||
          (uint64_t)size <= LARGEST_LEAST + (uint64_t)output->factor * input_size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", options->fd);
    void *map =
        size == 0 ? MAP_FAILED : mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, options->fd, 0);
    CHECK(map != MAP_FAILED);
    struct written written = {map, (size_t)size, options};
    uint8_t *unpacked = NULL;
    if (is_packed) {
        written.size = unpack(path, &unpacked);
        written.data = unpacked;
    }
    output->check(&written);
    free(unpacked);
    CHECK(write(fd, map, (size_t)size) == size);
    munmap(map, (size_t)size);
}

static struct g2h_error *write_output(const struct g2h_view *view, unsigned threads,
                                      uint64_t choice, int fd)
{
    static const char *const labels[] = {"host=web-17", "release=\xe2\x80\xae\033[J"};
    const struct g2h_summary_options summary = {
        .size = sizeof(summary), .labels = labels, .label_count = 2};
    const struct g2h_format *format = g2h_format_find(output->format, output->by);
    struct g2h_base *base = NULL;
    char path_to[256];
    const bool has_numbers = strcmp(output->name, "numbers") == 0 && g2h_view_is_typed(view);
    const struct g2h_heapsnapshot_options heapsnapshot = {
        .size = sizeof(heapsnapshot), .no_contexts = choice % 7 == 0, .numbers = has_numbers};
    struct g2h_report_options report = {.size = sizeof(report),
                                        .json = output->json,
                                        .columns = (unsigned)(choice % 200),
                                        .color = choice % 2 == 0 && !output->json};
    struct g2h_output_options options = {.size = sizeof(options),
                                         .fd = memfd_create("output", MFD_CLOEXEC),
                                         .name = "the output",
                                         .source = choice % 3 == 0 ? "a\033[J \xff" : "a dump",
                                         .program = choice % 4 == 0 ? "\xc2\x9bJ app" : "app",
                                         .gzip = choice % 11 == 0 && !format->is_file,
                                         .threads = threads,
                                         .heapsnapshot = &heapsnapshot,
                                         .report = &report,
                                         .summary = output->is_summary ? &summary : NULL};
    CHECK(options.fd >= 0);
    if (output->is_path) {
        choose_path(view, choice, path_to, sizeof(path_to));
        *(strncmp(output->name, "show", 4) == 0 ? &report.show : &report.path_to) = path_to;
    }
    struct g2h_error *error = NULL;
    if ((format->takes & G2H_TAKES_BASE) != 0 && choice % 5 == 0)
        error = g2h_base_create(view, "the \xe2\x80\xa8 same", threads, &base);
    report.base = base;
    const struct g2h_base *const series[] = {base, base};
    const int64_t times[] = {(int64_t)choice, (int64_t)(choice << 8), (int64_t)(choice << 16)};
    const struct g2h_html_options html = {.size = sizeof(html),
                                          .series = series,
                                          .series_count = base ? choice % 3 : 0,
                                          .times = choice % 2 == 0 ? times : NULL};
    options.html = &html;
    if (!error)
        error = g2h_write(format, view, &options);
    if (!error)
        check_file(&options, options.gzip || format->is_compressed, fd);
    g2h_base_destroy(base);
    close(options.fd);
    return error;
}

/* Checks that a dump differs from another one only by its arrays, which have largest bytes at
 * most. */
static void check_shortened(const struct g2h_input *whole, const struct g2h_input *shortened,
                            uint64_t largest)
{
    struct g2h_heap *heaps[2];
    struct g2h_error *error = g2h_heap_load(whole, NULL, &heaps[0]);
    if (error) { /* then the other one has the same damage before its first object */
        g2h_error_destroy(error);
        return;
    }
    CHECK(!g2h_heap_load(shortened, NULL, &heaps[1]));
    const uint32_t count = g2h_heap_object_count(heaps[0]);
    CHECK(g2h_heap_object_count(heaps[1]) == count);
    for (uint32_t i = 0; i < count; i++) {
        const struct g2h_object before = g2h_heap_object(heaps[0], i),
                                after = g2h_heap_object(heaps[1], i);
        CHECK(after.address == before.address && after.size == before.size);
        const bool is_long = *before.fields.at == 0 && before.contents.size > largest &&
                             g2h_object_may_be_short(g2h_heap_params(heaps[0]), &before);
        CHECK(after.contents.size == (is_long ? largest : before.contents.size));
        CHECK(memcmp(after.contents.data, before.contents.data, (size_t)after.contents.size) == 0);
        CHECK(after.contents.size == before.contents.size || *after.fields.at == 0);
    }
    g2h_heap_destroy(heaps[1]);
    g2h_heap_destroy(heaps[0]);
}

/* Writes a dump with shorter arrays, and checks it. */
static void write_shortened(const struct g2h_input *input, uint64_t choice)
{
    char path[FUZZ_PATH];
    struct g2h_input *shortened;
    const struct g2h_output_options options = {.size = sizeof(options),
                                               .fd = memfd_create("output", MFD_CLOEXEC),
                                               .name = "the output",
                                               .gzip = choice % 2 == 0,
                                               .threads = 1 + (unsigned)(choice % 3),
                                               .largest_array = 1 + choice / 6 % 300};
    CHECK(options.fd >= 0);
    struct g2h_error *error = g2h_write_dump(input, &options);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", options.fd);
    if (!error || error->code == G2H_ERROR_DAMAGED) {
        CHECK(!g2h_input_open(path, NULL, &shortened));
        check_shortened(input, shortened, options.largest_array);
        g2h_input_close(shortened);
    }
    g2h_error_destroy(error);
    close(options.fd);
}

/* Writes the dump itself, and checks that it has not changed on the way. */
static void write_dump(const struct g2h_input *input, uint64_t choice)
{
    char path[FUZZ_PATH];
    uint8_t *unpacked;
    const struct g2h_output_options options = {.size = sizeof(options),
                                               .fd = memfd_create("output", MFD_CLOEXEC),
                                               .name = "the output",
                                               .gzip = choice % 2 == 0,
                                               .threads = 1 + (unsigned)(choice % 3)};
    CHECK(options.fd >= 0);
    struct g2h_error *error = g2h_write_dump(input, &options);
    CHECK(!error);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", options.fd);
    CHECK(unpack(path, &unpacked) == input->size);
    CHECK(memcmp(unpacked, input->data, (size_t)input->size) == 0);
    free(unpacked);
    close(options.fd);
    write_shortened(input, choice);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *name = getenv("FUZZ_OUTPUT");
    const struct rlimit limit = {LARGEST_FILE, LARGEST_FILE};
    (void)argc, (void)argv;
    CHECK(name);
    for (size_t i = 0; i < sizeof(outputs) / sizeof(*outputs); i++)
        if (strcmp(name, outputs[i].name) == 0)
            output = &outputs[i];
    CHECK(output || strcmp(name, "dump") == 0);
    signal(SIGXFSZ, SIG_IGN); /* as the program does; what is larger is an error of writing */
    setrlimit(RLIMIT_FSIZE, &limit);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t exe_size = pair_split(data, size), dump = exe_size < size ? exe_size : 0;
    const uint64_t choice = fuzz_choice(data, size);
    char path[FUZZ_PATH];
    struct g2h_input *input;
    struct g2h_error *error = g2h_input_from_memory("fuzz", data + dump, size - dump, &input);
    CHECK(!error);
    const int file = dump > 0 ? fuzz_file(data, dump, path) : -1;
    input_size = size;
    if (output)
        fuzz_convert_any(input, dump > 0 ? path : NULL, choice, write_output);
    else
        write_dump(input, choice);
    g2h_input_close(input);
    if (file >= 0)
        close(file);
    return 0;
}

/* ---- changing ---- */

/* Puts a number of Go's varint encoding in place of bytes, or before them. Returns the new size. */
static size_t put_number(uint8_t *data, size_t size, size_t max_size)
{
    uint8_t number[10];
    size_t count = 0;
    uint64_t value = below(2) ? UINT64_MAX >> below(64) : UINT64_C(1) << below(64);
    value = below(4) ? value : value - below(64);
    for (; value >= 0x80; value >>= 7)
        number[count++] = (uint8_t)(value | 0x80);
    number[count++] = (uint8_t)value;
    const size_t at = below(size), replaced = below(2) ? 0 : 1;
    if (size - replaced + count > max_size)
        return size;
    memmove(data + at + count, data + at + replaced, size - at - replaced);
    memcpy(data + at, number, count);
    return size - replaced + count;
}

/* Overwrites letters by a character that no terminal should get. */
static void put_character(uint8_t *data, size_t size)
{
    static const char *const unseen[] = {
        "\033[2J",      "\xc2\x85",     "\xc2\x9bm", "\xe2\x80\xae",     "\xe2\x80\xa8",
        "\xe2\x81\xa6", "\xef\xbb\xbf", "\xe2\x80",  "\xf3\xa0\x80\xa1", "\"\\\r\n,;\t\x7f"};
    const char *text = unseen[below(sizeof(unseen) / sizeof(*unseen))];
    size_t at = below(size);
    enum { LOOKED_AT = 256 };
    for (size_t i = 0; i < LOOKED_AT && (data[at] < 'a' || data[at] > 'z'); i++)
        at = (at + 1) % size;
    if (size - at >= strlen(text))
        memcpy(data + at, text, strlen(text));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    const size_t exe_size = pair_split(data, size), dump = exe_size < size ? exe_size : 0;
    state = seed;
    if (size == 0 || below(2) == 0)
        return dump + LLVMFuzzerMutate(data + dump, size - dump, max_size - dump);
    for (size_t count = 1 + below(4); count > 0; count--)
        if (below(3) > 0)
            size = dump + put_number(data + dump, size - dump, max_size - dump);
        else
            put_character(data + dump, size - dump);
    return size;
}
