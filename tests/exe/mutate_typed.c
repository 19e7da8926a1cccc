/*
 * mutate_typed: damages an executable, or the dump that it wrote, in COUNT ways and converts each
 * pair with types and texts. A way is a number, so a failure can be repeated.
 *
 *   mutate_typed exe|dump EXECUTABLE DUMP COUNT [FIRST]
 *
 * Damage is done where types are: to words of those sections of an executable that have
 * descriptors, moduledata and DWARF; or to words of the contents of objects, segments and frames,
 * which then give wrong lengths, types and pointers. Each way has a process of its own, which
 * sanitizers check. It fails if it crashes, takes more than TIME_LIMIT seconds of processor time or
 * much more memory than without damage, or writes a snapshot whose counts, indexes or strings are
 * wrong. One way in eight converts again with other numbers of threads and must write the same
 * snapshot.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../conversion.h"

#include "../fuzz/dice.h"
#include "../hang.h"

enum { TIME_LIMIT = 60, JOBS = 2, STATUS_REFUSED = 10, STATUS_UNTYPED = 11, STATUS_INVALID = 12 };

/* How much memory a damaged pair may need beyond twice that of the undamaged pair. */
static const long extra_kilobytes = 48 << 10;

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "exitcode=99:quarantine_size_mb=8:detect_stack_use_after_return=0";
}

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "mutate_typed: %s: %s\n", what, strerror(errno));
    exit(2);
}

struct bytes {
    uint8_t *data;
    size_t size;
};

static struct bytes read_file(const char *path)
{
    struct bytes bytes = {NULL, 0};
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        die(path);
    bytes.size = (size_t)ftell(file);
    rewind(file);
    bytes.data = malloc(bytes.size);
    if (!bytes.data || fread(bytes.data, 1, bytes.size, file) != bytes.size)
        die(path);
    fclose(file);
    return bytes;
}

/* ---- damage ---- */

/* A range of the file, and a weight that says how often it is chosen. */
struct range {
    uint64_t offset, size;
    unsigned weight;
};

static struct range ranges[1 << 20];
static size_t range_count;
static unsigned weights;
static unsigned word = 8;

static void add_range(uint64_t offset, uint64_t size, unsigned weight)
{
    if (size < 16 || range_count == sizeof(ranges) / sizeof(ranges[0]))
        return;
    ranges[range_count++] = (struct range){offset, size, weight};
    weights += weight;
}

static const struct range *choose(void)
{
    uint64_t left = below(weights);
    size_t i = 0;
    while (left >= ranges[i].weight)
        left -= ranges[i++].weight;
    return &ranges[i];
}

static unsigned section_weight(const char *name)
{
    static const struct {
        const char *name;
        unsigned weight;
    } all[] = {
        {".go.type", 40},     {".typelink", 3},       {".rodata", 12},        {".go.module", 6},
        {".data", 2},         {".noptrdata", 4},      {".itablink", 1},       {".debug_info", 30},
        {".debug_abbrev", 6}, {".debug_loc", 4},      {".debug_loclists", 4}, {".debug_addr", 3},
        {".debug_ranges", 2}, {".debug_rnglists", 2}, {".debug_line", 1},     {".gopclntab", 2},
        {".symtab", 1},       {".strtab", 1},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (strcmp(name, all[i].name) == 0)
            return all[i].weight;
    return 0;
}

static void find_sections(const struct bytes *file)
{
    const Elf64_Ehdr *wide = (const void *)file->data;
    const Elf32_Ehdr *narrow = (const void *)file->data;
    const bool is_64 = file->data[EI_CLASS] == ELFCLASS64;
    const uint64_t headers = is_64 ? wide->e_shoff : narrow->e_shoff;
    const unsigned count = is_64 ? wide->e_shnum : narrow->e_shnum,
                   names = is_64 ? wide->e_shstrndx : narrow->e_shstrndx;
    word = is_64 ? 8 : 4;
    for (unsigned i = 0; i < count; i++) {
        const Elf64_Shdr *w = (const Elf64_Shdr *)(file->data + headers);
        const Elf32_Shdr *n = (const Elf32_Shdr *)(file->data + headers);
        const char *name = (const char *)file->data + (is_64 ? w[names].sh_offset + w[i].sh_name
                                                             : n[names].sh_offset + n[i].sh_name);
        if ((is_64 ? w[i].sh_type : n[i].sh_type) != SHT_NOBITS)
            add_range(is_64 ? w[i].sh_offset : n[i].sh_offset, is_64 ? w[i].sh_size : n[i].sh_size,
                      section_weight(name));
    }
    add_range(headers, (uint64_t)count * (is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)), 3);
}

/* Addresses of objects, which damage makes words point to. */
static uint64_t addresses[1 << 20];
static size_t address_count;

static void find_contents(const struct bytes *file)
{
    struct g2h_input *input;
    struct g2h_reader *reader;
    struct g2h_record record;
    if (g2h_input_from_memory("dump", file->data, file->size, &input) ||
        g2h_reader_create(input, &reader))
        die("the dump");
    while (!g2h_reader_next(reader, &record) && record.kind != G2H_RECORD_EOF) {
        const struct g2h_bytes *contents =
            record.kind == G2H_RECORD_OBJECT       ? &record.object.contents
            : record.kind == G2H_RECORD_STACKFRAME ? &record.stackframe.contents
            : record.kind == G2H_RECORD_DATA || record.kind == G2H_RECORD_BSS
                ? &record.segment.contents
                : NULL;
        if (record.kind == G2H_RECORD_PARAMS)
            word = (unsigned)record.params.pointer_size;
        if (contents)
            add_range((uint64_t)(contents->data - file->data), contents->size,
                      record.kind == G2H_RECORD_OBJECT       ? 4
                      : record.kind == G2H_RECORD_STACKFRAME ? 8
                                                             : 400);
        if (record.kind == G2H_RECORD_OBJECT && address_count < sizeof(addresses) / 8)
            addresses[address_count++] = record.object.address;
    }
    add_range(0, file->size, weights / 40 + 1);
    g2h_reader_destroy(reader);
    g2h_input_close(input);
}

static void write_word(uint8_t *at, uint64_t value)
{
    memcpy(at, &value, word); /* this machine is little-endian, as the executables are */
}

/* Changes a word of the range, or some words or bytes, to values that may make sense there. */
static void damage_word(const struct bytes *bytes, const struct range *range)
{
    uint64_t place = range->offset + below(range->size - word) / word * word;
    uint64_t other = range->offset + below(range->size - word) / word * word;
    uint64_t value = 0;
    memcpy(&value, bytes->data + place, word);
    switch (below(12)) {
    case 0:
        value = 0;
        break;
    case 1:
        value = below(64);
        break;
    case 2:
        value = UINT64_MAX >> below(64);
        break;
    case 3:
        value ^= (uint64_t)1 << below(8 * word);
        break;
    case 4:
        value += word * (below(16) + 1);
        break;
    case 5:
        value -= word * (below(16) + 1);
        break;
    case 6:
    case 7:
        if (address_count > 0) {
            value = addresses[below(address_count)] + (below(2) ? below(256) : 0);
            break;
        }
        /* fall through */
    case 8:
    case 9: /* copies a block of words */
        for (uint64_t i = 0, count = 1 + below(8); i < count; i++)
            if (place + word <= bytes->size && other + word <= bytes->size) {
                memmove(bytes->data + place, bytes->data + other, word);
                place += word;
                other += word;
            }
        return;
    case 10:
        bytes->data[place + below(word)] = (uint8_t)below(256);
        return;
    default:
        bytes->data[place + below(word)] = (uint8_t)below(8);
        return;
    }
    write_word(bytes->data + place, value);
}

static size_t damage(const struct bytes *bytes, uint64_t way)
{
    state = way * UINT64_C(0x2545f4914f6cdd1d);
    for (uint64_t i = 0, count = 1 + below(below(4) ? 12 : 200); i < count; i++)
        damage_word(bytes, choose());
    return below(40) ? bytes->size : bytes->size - below(bytes->size / 2);
}

/* ---- checks of the snapshot ---- */

static uint64_t fnv(const uint8_t *at, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static int compare_numbers(const void *a, const void *b)
{
    const uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return one < other ? -1 : one > other;
}

static bool is_utf8(const uint8_t *at, const uint8_t *end)
{
    while (at < end) {
        const unsigned length = *at < 0x80                  ? 1
                                : *at >= 0xc2 && *at < 0xe0 ? 2
                                : *at >= 0xe0 && *at < 0xf0 ? 3
                                : *at >= 0xf0 && *at < 0xf5 ? 4
                                                            : 0;
        if (length == 0 || (size_t)(end - at) < length)
            return false;
        for (unsigned i = 1; i < length; i++)
            if ((at[i] & 0xc0) != 0x80)
                return false;
        if ((*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f) ||
            (*at == 0xf0 && at[1] < 0x90) || (*at == 0xf4 && at[1] > 0x8f))
            return false;
        at += length;
    }
    return true;
}

/* Returns the number behind "key": in the header, or UINT64_MAX if the key is not there. */
static uint64_t header_number(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at ? strtoull(at + strlen(key), NULL, 10) : UINT64_MAX;
}

/* Returns the numbers of an array of the file and sets *at to its end, or returns NULL if the
 * array has other than the expected number of them. */
static uint64_t *numbers_of(char **at, const char *key, size_t expected)
{
    char *now = strstr(*at, key);
    uint64_t *list = malloc((expected + 1) * sizeof(*list));
    size_t count = 0;
    if (!now || !list)
        return NULL;
    for (now += strlen(key); *now != ']' && *now;) {
        if (*now == ',' || *now == '\n') {
            now++;
            continue;
        }
        if (*now < '0' || *now > '9' || count == expected)
            return NULL;
        list[count++] = strtoull(now, &now, 10);
    }
    *at = now;
    return count == expected ? list : NULL;
}

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "\nin the snapshot is not so: %s\n", #condition); \
            return false; \
        } \
    } while (0)

enum { NODE_FIELDS = 7, EDGE_FIELDS = 3 };

static bool check_snapshot(char *text, size_t size)
{
    const uint64_t node_count = header_number(text, "\"node_count\":"),
                   edge_count = header_number(text, "\"edge_count\":");
    char *at = text;
    CHECK(node_count < 1 << 28 && edge_count < 1 << 28);
    uint64_t *nodes = numbers_of(&at, "\"nodes\":[", node_count * NODE_FIELDS);
    CHECK(nodes);
    uint64_t *edges = numbers_of(&at, "\"edges\":[", edge_count * EDGE_FIELDS);
    CHECK(edges);
    uint64_t sum = 0, string_count = 0, most = 0;
    uint64_t *hashes = malloc(size * sizeof(*hashes) / 2 + 8);
    at = strstr(at, "\"strings\":[");
    CHECK(at && hashes);
    for (at += strlen("\"strings\":["); at < text + size && *at != ']'; at++) {
        if (*at != '"')
            continue;
        const char *begin = ++at;
        for (; at < text + size && *at != '"'; at++) {
            CHECK((unsigned char)*at >= 0x20);
            at += *at == '\\';
        }
        CHECK(is_utf8((const uint8_t *)begin, (const uint8_t *)at));
        hashes[string_count++] = fnv((const uint8_t *)begin, (size_t)(at - begin));
    }
    qsort(hashes, string_count, sizeof(*hashes), compare_numbers);
    for (uint64_t i = 1; i < string_count; i++)
        CHECK(hashes[i] != hashes[i - 1]);
    for (uint64_t i = 0; i < node_count; i++) {
        const uint64_t *node = nodes + i * NODE_FIELDS;
        most = node[1] > most ? node[1] : most;
        sum += node[4];
        CHECK(node[0] < 15);
    }
    CHECK(sum == edge_count && most < string_count);
    for (uint64_t i = 0; i < edge_count; i++) {
        const uint64_t *edge = edges + i * EDGE_FIELDS;
        CHECK(edge[0] < 7);
        CHECK(edge[0] == 1 || edge[1] < string_count);
        CHECK(edge[2] % NODE_FIELDS == 0 && edge[2] / NODE_FIELDS < node_count);
    }
    free(nodes);
    free(edges);
    free(hashes);
    return true;
}

/* ---- one way ---- */

/* Converts the heap and returns a hash of the snapshot, or 0 if there is none. Exits with
 * STATUS_INVALID if the snapshot is wrong. */
static uint64_t convert(const struct g2h_heap *heap, const char *path, bool redact,
                        unsigned threads, bool *ret_matched, bool *ret_typed)
{
    struct g2h_exe *exe = NULL;
    struct conversion conversion = {.graph = NULL};
    uint64_t hash = 0;
    struct g2h_error *error = g2h_exe_open(path, &exe);
    if (!error)
        error = g2h_exe_match(exe, heap);
    *ret_matched = !error;
    g2h_error_destroy(error);
    const struct conversion_options options = {
        .exe = *ret_matched ? exe : NULL, .redact = redact, .threads = threads};
    int file = memfd_create("snapshot", MFD_CLOEXEC);
    const struct g2h_output_options output = {
        .size = sizeof(output), .fd = file, .name = "it", .threads = threads};
    error = *ret_matched ? conversion_init(&conversion, heap, &options) : NULL;
    if (!error && conversion.view)
        error = g2h_write_heapsnapshot(conversion.view, &output);
    if (error) {
        fprintf(stderr, "\n%s\n", error->message);
        exit(STATUS_INVALID);
    }
    if (conversion.view) {
        const size_t size = (size_t)lseek(file, 0, SEEK_END);
        char *text = malloc(size + 1);
        if (!text || pread(file, text, size, 0) != (ssize_t)size)
            die("the snapshot");
        text[size] = '\0';
        hash = fnv((const uint8_t *)text, size) | 1;
        if (!check_snapshot(text, size))
            exit(STATUS_INVALID);
        free(text);
    }
    close(file);
    *ret_typed = conversion.graph && g2h_graph_type_account(conversion.graph);
    conversion_deinit(&conversion);
    g2h_exe_close(exe);
    return hash;
}

static int run(const struct bytes *bytes, const char *path, uint64_t way)
{
    struct g2h_input *input;
    struct g2h_heap *heap = NULL;
    bool matched = false, typed = false, again;
    const struct g2h_heap_options options = {.threads = 1};
    struct g2h_error *error = g2h_input_from_memory("dump", bytes->data, bytes->size, &input);
    if (error)
        die("the dump");
    error = g2h_heap_load(input, &options, &heap);
    if (!error) {
        const uint64_t hash = convert(heap, path, way % 2, 1 + way % 3, &matched, &typed);
        if (matched && way % 8 == 0 &&
            (convert(heap, path, way % 2, 1 + (way + 1) % 3, &again, &again) != hash ||
             convert(heap, path, way % 2, 1 + (way + 2) % 3, &again, &again) != hash)) {
            fprintf(stderr, "\nwhat is written depends on the number of threads\n");
            return STATUS_INVALID;
        }
    }
    g2h_error_destroy(error);
    g2h_heap_destroy(heap);
    g2h_input_close(input);
    return typed ? 0 : matched ? STATUS_UNTYPED : STATUS_REFUSED;
}

/* ---- all ---- */

struct job {
    pid_t pid;
    uint64_t way;
};

/* Static, so that a leak checker sees that they are in use. */
static struct bytes exe, dump;

struct counts {
    unsigned long typed, untyped, refused, failed;
    long most_kilobytes, limit;
    double longest;
};

static void finish(struct job *jobs, struct counts *counts)
{
    int status;
    struct rusage usage;
    pid_t pid = wait4(-1, &status, 0, &usage);
    size_t i = 0;
    while (i < JOBS && jobs[i].pid != pid)
        i++;
    if (pid < 0 || i == JOBS)
        die("wait4");
    jobs[i].pid = 0;
    const double seconds = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
                           (double)usage.ru_stime.tv_sec;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    const bool too_large = counts->limit > 0 && usage.ru_maxrss > counts->limit;
    if (seconds > counts->longest)
        counts->longest = seconds;
    if (usage.ru_maxrss > counts->most_kilobytes)
        counts->most_kilobytes = usage.ru_maxrss;
    if (code == 0 && !too_large)
        counts->typed++;
    else if (code == STATUS_UNTYPED && !too_large)
        counts->untyped++;
    else if (code == STATUS_REFUSED && !too_large)
        counts->refused++;
    else if (++counts->failed <= 10)
        printf("# way %lu: %s %d, %ld KB, %.1f s\n", (unsigned long)jobs[i].way,
               WIFSIGNALED(status) ? "signal" : "status",
               WIFSIGNALED(status) ? WTERMSIG(status) : code, usage.ru_maxrss, seconds);
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    const bool of_exe = strcmp(argv[1], "exe") == 0;
    exe = read_file(argv[2]);
    dump = read_file(argv[3]);
    const uint64_t count = strtoull(argv[4], NULL, 10),
                   first = argc > 5 ? strtoull(argv[5], NULL, 10) : 1;
    struct job jobs[JOBS] = {{0, 0}};
    struct counts counts = {0};
    if (of_exe)
        find_sections(&exe);
    else
        find_contents(&dump);
    setvbuf(stdout, NULL, _IOLBF, 0);
    /* The first run is without damage; the memory that it takes sets the limit for the others. */
    for (uint64_t i = 0; i <= count; i++) {
        const uint64_t way = i == 0 ? 0 : first + i - 1;
        size_t free_job = 0;
        while (free_job < JOBS && jobs[free_job].pid != 0)
            free_job++;
        if (free_job == JOBS || i == 1) {
            finish(jobs, &counts);
            if (i == 1)
                counts.limit = 2 * counts.most_kilobytes + extra_kilobytes;
            for (free_job = 0; jobs[free_job].pid != 0;)
                free_job++;
        }
        pid_t pid = fork();
        if (pid == 0) {
            char path[64];
            struct bytes bytes = of_exe ? exe : dump;
            int file = memfd_create("exe", MFD_CLOEXEC);
            hang_limit(TIME_LIMIT);
            if (i > 0)
                bytes.size = damage(&bytes, way);
            if (write(file, exe.data, of_exe ? bytes.size : exe.size) < 0)
                die("memfd");
            snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
            exit(run(of_exe ? &dump : &bytes, path, way));
        }
        if (pid < 0)
            die("fork");
        jobs[free_job] = (struct job){pid, way};
    }
    for (size_t i = 0; i < JOBS; i++)
        if (jobs[i].pid != 0)
            finish(jobs, &counts);
    printf("%s - %lu of damaged %s, converted with types: %lu typed, %lu without types, %lu "
           "refused, %lu fail; at most %ld MB (limit %ld), %.1f s\n",
           counts.failed || counts.typed == 0 ? "not ok" : "ok", (unsigned long)count,
           of_exe ? "executables" : "dumps", counts.typed, counts.untyped, counts.refused,
           counts.failed, counts.most_kilobytes >> 10, counts.limit >> 10, counts.longest);
    return counts.failed > 0;
}
