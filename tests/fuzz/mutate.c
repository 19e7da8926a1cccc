/*
 * mutate: cuts and damages dumps, converts each result, and sees that the conversion survives it.
 *
 *   mutate [OPTION]... DUMP...     dumps may be gzipped
 *     --cuts N        dumps that end at a random byte (default 200)
 *     --flips N       dumps with one random byte changed (2000); three of four are small dumps, in
 *                     which it is seldom a byte of an object's contents
 *     --records N     small dumps with broken records (1000): numbers replaced by huge ones or by
 *                     those of other records; records swapped, doubled or lost; bytes inserted or
 *                     overwritten
 *     --gzips N       small gzipped dumps with bytes of the gzip stream changed or cut off (100)
 *     --seed S        another random choice of all of these (1)
 *     --jobs N        the number of conversions at a time (one per processor)
 *     --keep DIR      writes each snapshot of exit 0 or 3 to DIR/0 … DIR/<jobs - 1>, equal
 *                     ones only once, and each dump that fails to DIR/failed
 *     --small DIR     only writes DUMP's small forms to DIR, as a corpus for other fuzzers
 *     --repeat RUN    does only this run ("flip 17"), in this process: for a debugger
 *
 * The output is TAP, a line per dump. A run depends only on the seed, the dump's name and the run's
 * own name. Each run has a process of its own, so that a crash ends only that run; the sanitizers
 * turn hidden errors into crashes. A run fails if it
 *   - crashes, or if a sanitizer ends it (leaks count too);
 *   - hangs: takes more than TIME_LIMIT seconds of processor time, where the whole dump takes some
 *     30 ms;
 *   - needs more memory than twice what the whole dump needs, and 32 MB. The need grows with the
 *     size of a dump, and damage adds neither bytes nor records. It is twice because a damaged
 *     dump can take ways that a good one does not (sorting all objects one by one);
 *   - ends with a status other than 0, 1 and 3, or with 0 though the dump was cut;
 *   - is a cut or a flip and fails (1) though the params record, from which on a dump can be read,
 *     is whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <go2heapsnapshot/go2heapsnapshot.h>

#include "../hang.h"
#include "fuzz_target.h"

enum { TIME_LIMIT = 60, EXTRA_KILOBYTES = 32 << 10, MAX_JOBS = 64, FAILURES_SHOWN = 5 };

enum kind { WHOLE, CUT, FLIP, RECORD, GZIP, KINDS };
static const char *const kind_names[KINDS] = {"whole", "cut", "flip", "record", "gzip"};
static const char *const kind_plurals[KINDS] = {"whole", "cuts", "flips", "broken records",
                                                "broken gzips"};

#define VISIBLE \
    __attribute__((visibility("default"))) /* the sanitizers' libraries look for these */

/* The options of the sanitizers: an exit status of their own, little memory kept back from reuse,
 * and NULL from malloc() if memory runs out. */
VISIBLE const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "exitcode=99:quarantine_size_mb=1:allocator_may_return_null=1:detect_stack_use_after_"
           "return=0";
}

VISIBLE const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
    return "print_stacktrace=1";
}

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "mutate: %s: %s\n", what, strerror(errno));
    exit(2);
}

static void *allocate(size_t size)
{
    void *data = malloc(size > 0 ? size : 1);
    if (!data)
        die("malloc");
    return data;
}

/* ---- random numbers: splitmix64 ---- */

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Returns a random number below limit, which is at least 1. */
static size_t below(uint64_t *state, size_t limit)
{
    return (size_t)(next_random(state) % limit);
}

static uint64_t hash(uint64_t start, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    uint64_t value = start ^ UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        value = (value ^ bytes[i]) * UINT64_C(0x100000001b3);
    return value;
}

/* ---- dumps ---- */

struct bytes {
    uint8_t *data;
    size_t size;
};

/* A record, or the header, whose kind is G2H_RECORD_KINDS. */
struct piece {
    uint8_t *data;
    size_t size;
    enum g2h_record_kind kind;
    bool own; /* data is to be freed */
};

struct dump {
    const char *name;
    struct bytes whole, small, gzip; /* gzip is small, gzipped */
    size_t params_end;               /* the offset behind the first record */
    struct piece *pieces;            /* the pieces of small */
    size_t piece_count;
};

static struct bytes join(const struct piece *pieces, size_t count)
{
    struct bytes joined = {NULL, 0};
    for (size_t i = 0; i < count; i++)
        joined.size += pieces[i].size;
    joined.data = allocate(joined.size);
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        memcpy(joined.data + at, pieces[i].data, pieces[i].size);
        at += pieces[i].size;
    }
    return joined;
}

static struct bytes gzip(const struct bytes *plain)
{
    z_stream stream = {0};
    if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        die("deflateInit2");
    struct bytes packed = {NULL, deflateBound(&stream, plain->size)};
    packed.data = allocate(packed.size);
    stream.next_in = plain->data;
    stream.avail_in = (uInt)plain->size;
    stream.next_out = packed.data;
    stream.avail_out = (uInt)packed.size;
    deflate(&stream, Z_FINISH);
    packed.size -= stream.avail_out;
    deflateEnd(&stream);
    return packed;
}

/* Returns whether the small form has a record, given how many records of its kind came before: it
 * has all records of rare kinds and some of frequent ones. */
static bool is_kept(enum g2h_record_kind kind, size_t number, size_t goroutines)
{
    switch (kind) {
    case G2H_RECORD_OBJECT: /* neighbours in one span, and then in another */
        return number % 512 < 12 && number < 512 * 16;
    case G2H_RECORD_GOROUTINE:
    case G2H_RECORD_STACKFRAME:
    case G2H_RECORD_DEFER:
    case G2H_RECORD_PANIC:
        return goroutines <= 4;
    default:
        return number < 24;
    }
}

static void split(struct dump *dump, const struct g2h_input *input)
{
    struct g2h_reader *reader;
    struct g2h_record record = {.kind = G2H_RECORD_KINDS}, next;
    size_t counts[G2H_RECORD_KINDS] = {0}, capacity = 0;
    if (g2h_reader_create(input, &reader) || g2h_reader_next(reader, &record)) {
        fprintf(stderr, "mutate: %s: cannot be read\n", dump->name);
        exit(2);
    }
    struct piece piece = {dump->whole.data, (size_t)record.offset, G2H_RECORD_KINDS, false};
    for (bool last = false, kept = true;;) {
        if (kept) {
            if (dump->piece_count == capacity) {
                capacity = capacity * 2 + 64;
                dump->pieces = realloc(dump->pieces, capacity * sizeof(*dump->pieces));
                if (!dump->pieces)
                    die("realloc");
            }
            dump->pieces[dump->piece_count++] = piece;
        }
        if (last)
            break;
        last = record.kind == G2H_RECORD_EOF;
        next = record;
        if (!last && g2h_reader_next(reader, &next)) {
            fprintf(stderr, "mutate: %s: is damaged already\n", dump->name);
            exit(2);
        }
        size_t end = last ? dump->whole.size : (size_t)next.offset;
        if (record.number == 1)
            dump->params_end = end;
        piece = (struct piece){dump->whole.data + record.offset, end - (size_t)record.offset,
                               record.kind, false};
        kept = is_kept(record.kind, counts[record.kind]++, counts[G2H_RECORD_GOROUTINE]);
        record = next;
    }
    g2h_reader_destroy(reader);
}

static struct dump read_dump(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct dump dump = {.name = slash ? slash + 1 : path};
    struct g2h_input *input;
    struct g2h_error *error = g2h_input_open(path, NULL, &input);
    if (error) {
        fprintf(stderr, "mutate: %s\n", error->message);
        exit(2);
    }
    dump.whole.size = (size_t)input->size;
    dump.whole.data = allocate(dump.whole.size);
    memcpy(dump.whole.data, input->data, dump.whole.size);
    split(&dump, input);
    g2h_input_close(input);
    dump.small = join(dump.pieces, dump.piece_count);
    dump.gzip = gzip(&dump.small);
    return dump;
}

static void free_dump(struct dump *dump)
{
    free(dump->whole.data);
    free(dump->small.data);
    free(dump->gzip.data);
    free(dump->pieces);
}

/* ---- mutations: each gives a block of exactly its size, so that a read behind it is seen ---- */

static struct bytes copy_of(const uint8_t *data, size_t size)
{
    struct bytes copy = {allocate(size), size};
    memcpy(copy.data, data, size);
    return copy;
}

/* Puts size bytes in the place of length bytes at offset at. */
static void replace(struct bytes *bytes, size_t at, size_t length, const uint8_t *data, size_t size)
{
    struct bytes changed = {NULL, bytes->size - length + size};
    changed.data = allocate(changed.size);
    memcpy(changed.data, bytes->data, at);
    memcpy(changed.data + at, data, size);
    memcpy(changed.data + at + size, bytes->data + at + length, bytes->size - at - length);
    free(bytes->data);
    *bytes = changed;
}

static void flip(struct bytes *bytes, uint64_t *random)
{
    if (bytes->size > 0)
        bytes->data[below(random, bytes->size)] ^= (uint8_t)(1 + below(random, 255));
}

/* Reads the uvarint at offset at. Returns its length, or 0 if there is none. */
static size_t uvarint(const struct bytes *bytes, size_t at, uint64_t *ret)
{
    *ret = 0;
    for (size_t i = 0; i < 10 && at + i < bytes->size; i++) {
        *ret |= (uint64_t)(bytes->data[at + i] & 0x7f) << (7 * i);
        if (bytes->data[at + i] < 0x80)
            return i + 1;
    }
    return 0;
}

/* Returns the offset of a number in a record: one of the first few, or one near the end, where
 * field lists are. */
static size_t number_at(const struct bytes *record, uint64_t *random)
{
    uint64_t ignored;
    if (record->size < 2)
        return 0;
    if (below(random, 4) == 0) {
        size_t tail = record->size < 64 ? record->size : 64;
        return record->size - 1 - below(random, tail);
    }
    size_t at = 1, length;
    for (size_t skip = below(random, 14); skip > 0 && (length = uvarint(record, at, &ignored)) > 0;
         skip--)
        if (at + length < record->size)
            at += length;
    return at;
}

static uint64_t odd_number(uint64_t old, uint64_t *random)
{
    static const uint64_t edges[] = {0,
                                     1,
                                     2,
                                     3,
                                     4,
                                     7,
                                     8,
                                     9,
                                     127,
                                     128,
                                     255,
                                     256,
                                     4096,
                                     65535,
                                     65536,
                                     65537,
                                     0x7ffff000,
                                     0x7fffffff,
                                     0x80000000,
                                     0xfffffff8,
                                     0xffffffff,
                                     UINT64_C(1) << 32,
                                     (UINT64_C(1) << 42) - 8,
                                     UINT64_C(1) << 42,
                                     (UINT64_C(1) << 56) - 8,
                                     UINT64_C(1) << 56,
                                     UINT64_C(1) << 63,
                                     UINT64_MAX - 7,
                                     UINT64_MAX};
    const size_t count = sizeof(edges) / sizeof(edges[0]);
    size_t choice = below(random, count + 10);
    if (choice < count)
        return edges[choice];
    const uint64_t near[] = {old + 1,
                             old - 1,
                             old + 8,
                             old - 8,
                             old * 2,
                             old / 2,
                             0 - old,
                             old + 4096,
                             old ^ UINT64_C(1) << below(random, 64),
                             next_random(random)};
    return near[choice - count];
}

static void put_number(struct bytes *record, size_t at, uint64_t value, uint64_t *random)
{
    uint64_t old;
    uint8_t digits[12];
    size_t size = 0, length = uvarint(record, at, &old);
    for (; value >= 0x80; value >>= 7)
        digits[size++] = (uint8_t)(value | 0x80);
    digits[size++] = (uint8_t)value;
    if (below(random, 32) == 0) { /* longer than necessary, or than a uvarint may be */
        digits[size - 1] |= 0x80;
        while (size < 10 + below(random, 2))
            digits[size++] = 0x80;
        digits[size++] = 0;
    }
    replace(record, at, length > 0 ? length : at < record->size, digits, size);
}

/* Chooses a record, of a rare kind as often as of a frequent one. */
static size_t choose(const struct piece *pieces, size_t count, uint64_t *random)
{
    const enum g2h_record_kind kind = (enum g2h_record_kind)below(random, G2H_RECORD_KINDS);
    const size_t start = below(random, count);
    for (size_t i = 0; i < count; i++)
        if (pieces[(start + i) % count].kind == kind)
            return (start + i) % count;
    return start;
}

static void own(struct piece *piece, struct bytes bytes)
{
    if (piece->own)
        free(piece->data);
    piece->data = bytes.data;
    piece->size = bytes.size;
    piece->own = true;
}

/* Makes one change to the records. *count may grow by one. */
static void break_record(struct piece *pieces, size_t *count, uint64_t *random)
{
    const size_t one = choose(pieces, *count, random), other = choose(pieces, *count, random);
    struct bytes record = copy_of(pieces[one].data, pieces[one].size);
    const size_t at = number_at(&record, random);
    uint64_t old = 0;
    uvarint(&record, at, &old);
    switch (below(random, 12)) {
    default: /* a number becomes an odd one */
        put_number(&record, at, odd_number(old, random), random);
        break;
    case 0:
    case 1: { /* a number becomes that of another record: this makes equal addresses and circular
                 chains */
        struct bytes source = {pieces[other].data, pieces[other].size};
        uvarint(&source, number_at(&source, random), &old);
        put_number(&record, at, old, random);
        break;
    }
    case 2: /* two records change places */
        own(&pieces[one], copy_of(pieces[other].data, pieces[other].size));
        own(&pieces[other], record);
        return;
    case 3: /* a record is doubled: its copy is elsewhere, or next to it */
        memmove(pieces + other + 1, pieces + other, (*count - other) * sizeof(*pieces));
        pieces[other] = (struct piece){record.data, record.size, G2H_RECORD_KINDS, true};
        ++*count;
        return;
    case 4: /* a record is lost */
        record.size = 0;
        break;
    case 5: /* a record is cut */
        record.size = below(random, record.size + 1);
        break;
    case 6: /* a record gets another kind */
        if (record.size > 0)
            record.data[0] = (uint8_t)below(random, 20);
        break;
    }
    own(&pieces[one], record);
}

/* Makes one change to the bytes, whatever they are. */
static void break_bytes(struct bytes *bytes, uint64_t *random)
{
    const size_t from = below(random, bytes->size + 1), to = below(random, bytes->size + 1);
    size_t length = below(random, 1 + (bytes->size - from < 4096 ? bytes->size - from : 4096));
    switch (below(random, 4)) {
    case 0: { /* a chunk is doubled */
        struct bytes chunk = copy_of(bytes->data + from, length);
        replace(bytes, to, 0, chunk.data, chunk.size);
        free(chunk.data);
        break;
    }
    case 1: /* a chunk is lost */
        replace(bytes, from, length, bytes->data, 0);
        break;
    case 2: { /* a chunk becomes zeros or ones: a hole in the file, a bad block */
        int filler = below(random, 2) == 0 ? 0 : 0xff;
        memset(bytes->data + from, filler, length);
        break;
    }
    default: /* bytes here and there */
        for (size_t i = 2 + below(random, 63); i > 0; i--)
            flip(bytes, random);
    }
}

static struct bytes broken_records(const struct dump *dump, uint64_t *random)
{
    size_t changes = 1 + below(random, 4), count = dump->piece_count;
    struct piece *pieces = allocate((count + changes) * sizeof(*pieces));
    memcpy(pieces, dump->pieces, count * sizeof(*pieces));
    for (size_t i = 0; i < changes; i++)
        break_record(pieces, &count, random);
    struct bytes broken = join(pieces, count);
    for (size_t i = 0; i < count; i++)
        if (pieces[i].own)
            free(pieces[i].data);
    free(pieces);
    if (below(random, 4) == 0)
        break_bytes(&broken, random);
    return broken;
}

struct run {
    enum kind kind;
    size_t number;
};

/* Returns the form of the dump that a run cuts, flips or leaves as it is. */
static const struct bytes *base_of(const struct dump *dump, struct run run)
{
    return run.kind == FLIP && run.number % 4 != 0 ? &dump->small : &dump->whole;
}

static struct bytes mutate(const struct dump *dump, struct run run, uint64_t *random)
{
    const struct bytes *base = base_of(dump, run);
    struct bytes bytes;
    switch (run.kind) {
    case CUT:
        return copy_of(base->data, below(random, base->size));
    case FLIP:
        bytes = copy_of(base->data, base->size);
        flip(&bytes, random);
        return bytes;
    case RECORD:
        return broken_records(dump, random);
    case GZIP:
        if (below(random, 3) == 0)
            return copy_of(dump->gzip.data, below(random, dump->gzip.size));
        bytes = copy_of(dump->gzip.data, dump->gzip.size);
        if (below(random, 3) == 0)
            break_bytes(&bytes, random);
        else
            flip(&bytes, random);
        return bytes;
    default:
        return copy_of(base->data, base->size);
    }
}

/* ---- runs ---- */

struct options {
    size_t counts[KINDS];
    uint64_t seed;
    unsigned jobs;
    const char *keep;
};

/* The report of a child, in memory that it shares with its parent. */
struct report {
    bool done;
    int status;
    size_t changed_from; /* the first byte that differs from the dump */
};

struct job {
    pid_t pid; /* 0 if none is running */
    struct run run;
    struct report *report;
    int snapshot, messages; /* files without names */
};

struct results {
    size_t statuses[4], failures;
    long peak_kilobytes;
    uint64_t *seen; /* hashes of snapshots */
    size_t seen_count, seen_capacity;
};

static struct bytes input_of(const struct options *options, const struct dump *dump, struct run run,
                             uint64_t *random)
{
    *random =
        hash(options->seed, dump->name, strlen(dump->name)) ^ (uint64_t)run.kind << 56 ^ run.number;
    return mutate(dump, run, random);
}

static struct g2h_error *open_input(enum kind kind, const struct bytes *bytes,
                                    struct g2h_input **ret)
{
    if (kind != GZIP)
        return g2h_input_from_memory("fuzz", bytes->data, bytes->size, ret);
    char path[64];
    int file = memfd_create("gzip", MFD_CLOEXEC);
    if (file < 0 || write(file, bytes->data, bytes->size) != (ssize_t)bytes->size)
        die("memfd");
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    struct g2h_error *error = g2h_input_open(path, NULL, ret);
    close(file);
    return error;
}

/* Does a run, in the child. Returns its exit status. */
static int convert(const struct options *options, const struct dump *dump, const struct job *job)
{
    uint64_t random;
    struct bytes bytes = input_of(options, dump, job->run, &random);
    const struct bytes *base = base_of(dump, job->run);
    struct g2h_input *input;
    struct g2h_error *error = open_input(job->run.kind, &bytes, &input);
    size_t same = 0;
    while (same < bytes.size && same < base->size && bytes.data[same] == base->data[same])
        same++;
    job->report->changed_from = same;
    if (error) {
        fprintf(stderr, "%s\n", error->message);
        g2h_error_destroy(error);
        job->report->status = 1;
    } else {
        if (input->damage)
            fprintf(stderr, "%s\n", input->damage->message);
        job->report->status = fuzz_convert(input, NULL, 1 + (unsigned)below(&random, 3),
                                           fuzz_choice(input->data, (size_t)input->size),
                                           fuzz_write_all, job->snapshot);
        g2h_input_close(input);
    }
    free(bytes.data);
    job->report->done = true;
    return job->report->status;
}

static void start(const struct options *options, const struct dump *dump, struct job *job,
                  struct run run)
{
    job->run = run;
    *job->report = (struct report){0};
    if (ftruncate(job->snapshot, 0) < 0 || ftruncate(job->messages, 0) < 0 ||
        lseek(job->snapshot, 0, SEEK_SET) < 0 || lseek(job->messages, 0, SEEK_SET) < 0)
        die("ftruncate");
    fflush(NULL);
    job->pid = fork();
    if (job->pid < 0)
        die("fork");
    if (job->pid == 0) {
        hang_limit(TIME_LIMIT);
        dup2(job->messages, STDERR_FILENO);
        exit(convert(options, dump, job)); /* not _exit(): exit() looks for leaks */
    }
}

static void write_file(const char *path, const void *data, size_t size)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0 || write(file, data, size) != (ssize_t)size)
        die(path);
    close(file);
}

static struct bytes read_back(int file)
{
    struct stat status;
    if (fstat(file, &status) < 0)
        die("fstat");
    struct bytes bytes = {allocate((size_t)status.st_size + 1), (size_t)status.st_size};
    if (pread(file, bytes.data, bytes.size, 0) != (ssize_t)bytes.size)
        die("pread");
    bytes.data[bytes.size] = '\0';
    return bytes;
}

static void show(const char *text)
{
    static const char *const telling[] = {"runtime error", "ERROR: ", "    #"};
    int shown = 0;
    for (const char *line = text, *end; *line && shown < 10; line = *end ? end + 1 : end) {
        end = strchrnul(line, '\n');
        for (size_t i = 0; i < sizeof(telling) / sizeof(telling[0]); i++) {
            if (memmem(line, (size_t)(end - line), telling[i], strlen(telling[i]))) {
                printf("#     %.*s\n", (int)(end - line), line);
                shown++;
                break;
            }
        }
    }
    if (shown == 0)
        printf("#     %.*s\n", (int)strcspn(text, "\n"), text);
}

static void fail(const struct options *options, const struct dump *dump, const struct job *job,
                 struct results *results, const char *what)
{
    if (results->failures++ >= FAILURES_SHOWN)
        return;
    struct bytes messages = read_back(job->messages);
    printf("# %s: %s %zu (seed %" PRIu64 "): %s\n", dump->name, kind_names[job->run.kind],
           job->run.number, options->seed, what);
    show((const char *)messages.data);
    free(messages.data);
    if (options->keep) {
        char path[4096];
        uint64_t random;
        struct bytes input = input_of(options, dump, job->run, &random);
        snprintf(path, sizeof(path), "%s/failed", options->keep);
        mkdir(path, 0777);
        snprintf(path, sizeof(path), "%s/failed/%s-%s-%zu", options->keep, dump->name,
                 kind_names[job->run.kind], job->run.number);
        write_file(path, input.data, input.size);
        free(input.data);
    }
}

static void keep_snapshot(const struct options *options, const struct dump *dump,
                          const struct job *job, struct results *results)
{
    struct bytes snapshot = read_back(job->snapshot);
    uint64_t value = hash(0, snapshot.data, snapshot.size);
    bool seen = false;
    for (size_t i = 0; i < results->seen_count && !seen; i++)
        seen = results->seen[i] == value;
    if (!seen) {
        if (results->seen_count == results->seen_capacity) {
            results->seen_capacity = results->seen_capacity * 2 + 64;
            results->seen = realloc(results->seen, results->seen_capacity * sizeof(*results->seen));
            if (!results->seen)
                die("realloc");
        }
        char path[4096];
        snprintf(path, sizeof(path), "%s/%zu/%s-%s-%zu.heapsnapshot", options->keep,
                 results->seen_count % options->jobs, dump->name, kind_names[job->run.kind],
                 job->run.number);
        write_file(path, snapshot.data, snapshot.size);
        results->seen[results->seen_count++] = value;
    }
    free(snapshot.data);
}

/* Judges a run whose child has ended. */
static void judge(const struct options *options, const struct dump *dump, const struct job *job,
                  struct results *results, int wait_status, const struct rusage *usage,
                  long memory_limit)
{
    const int status = job->report->status;
    const enum kind kind = job->run.kind;
    char what[128] = "";
    if (WIFSIGNALED(wait_status) && is_hang(WTERMSIG(wait_status)))
        snprintf(what, sizeof(what), "hangs");
    else if (WIFSIGNALED(wait_status))
        snprintf(what, sizeof(what), "crashes: %s", strsignal(WTERMSIG(wait_status)));
    else if (!job->report->done || WEXITSTATUS(wait_status) != status)
        snprintf(what, sizeof(what), "a sanitizer ends it, exit %d", WEXITSTATUS(wait_status));
    else if (status != 0 && status != 1 && status != 3)
        snprintf(what, sizeof(what), "exit %d", status);
    else if (kind == WHOLE ? status != 0 : kind == CUT && status == 0)
        snprintf(what, sizeof(what), "exit %d", status);
    else if (status == 1 && (kind == CUT || kind == FLIP) &&
             job->report->changed_from >= dump->params_end)
        snprintf(what, sizeof(what), "exit 1 though all up to byte %zu can be read",
                 job->report->changed_from);
    else if (memory_limit > 0 && usage->ru_maxrss > memory_limit)
        snprintf(what, sizeof(what), "takes %ld MB of memory, of %ld MB at most",
                 usage->ru_maxrss >> 10, memory_limit >> 10);
    if (usage->ru_maxrss > results->peak_kilobytes)
        results->peak_kilobytes = usage->ru_maxrss;
    if (what[0]) {
        fail(options, dump, job, results, what);
        return;
    }
    if (kind != WHOLE)
        results->statuses[status]++;
    if (status != 1 && options->keep)
        keep_snapshot(options, dump, job, results);
}

/* Waits for one of the running jobs, judges its run, and returns the job. */
static struct job *finish(const struct options *options, const struct dump *dump, struct job *jobs,
                          struct results *results, long memory_limit)
{
    int wait_status;
    struct rusage usage;
    pid_t pid = wait4(-1, &wait_status, 0, &usage);
    if (pid < 0)
        die("wait4");
    for (unsigned i = 0; i < options->jobs; i++) {
        if (jobs[i].pid != pid)
            continue;
        jobs[i].pid = 0;
        judge(options, dump, &jobs[i], results, wait_status, &usage, memory_limit);
        return &jobs[i];
    }
    die("a child of nobody");
}

static struct results run_all(const struct options *options, const struct dump *dump,
                              struct job *jobs)
{
    struct results results = {0};
    unsigned running = 0;
    start(options, dump, &jobs[0], (struct run){WHOLE, 0});
    finish(options, dump, jobs, &results, 0);
    const long memory_limit = 2 * results.peak_kilobytes + EXTRA_KILOBYTES;
    for (int kind = CUT; kind < KINDS && results.failures < 100; kind++) {
        for (size_t number = 0; number < options->counts[kind]; number++) {
            struct job *job = running < options->jobs
                                  ? &jobs[running++]
                                  : finish(options, dump, jobs, &results, memory_limit);
            start(options, dump, job, (struct run){(enum kind)kind, number});
        }
        for (; running > 0; running--)
            finish(options, dump, jobs, &results, memory_limit);
    }
    return results;
}

/* Prints one line of TAP for a dump. Returns whether nothing failed. */
static bool test_dump(const struct options *options, const struct dump *dump, struct job *jobs,
                      int number)
{
    struct results results = run_all(options, dump, jobs);
    const char *separator = "";
    printf("%s %d - %s: ", results.failures > 0 ? "not ok" : "ok", number, dump->name);
    for (int kind = CUT; kind < KINDS; kind++) {
        if (options->counts[kind] > 0) {
            printf("%s%zu %s", separator, options->counts[kind], kind_plurals[kind]);
            separator = ", ";
        }
    }
    printf(": %zu exit 0, %zu exit 1, %zu exit 3, ", results.statuses[0], results.statuses[1],
           results.statuses[3]);
    if (results.failures > 0)
        printf("%zu FAILED\n", results.failures);
    else
        printf("no crash, no hang, no leak, %ld MB at most\n", results.peak_kilobytes >> 10);
    free(results.seen);
    return results.failures == 0;
}

/* ---- the command line ---- */

static int run_here(const struct options *options, const struct dump *dump, const char *name)
{
    char kind[16];
    struct report report = {0};
    struct job job = {.report = &report, .snapshot = open("/dev/null", O_WRONLY | O_CLOEXEC)};
    if (sscanf(name, "%15s %zu", kind, &job.run.number) == 2) {
        for (int i = WHOLE; i < KINDS; i++) {
            if (strcmp(kind, kind_names[i]) == 0) {
                job.run.kind = (enum kind)i;
                return convert(options, dump, &job);
            }
        }
    }
    fprintf(stderr, "mutate: no run '%s'\n", name);
    return 2;
}

static void write_small(const struct dump *dump, const char *directory)
{
    char path[4096];
    mkdir(directory, 0777);
    snprintf(path, sizeof(path), "%s/%s", directory, dump->name);
    write_file(path, dump->small.data, dump->small.size);
}

static void prepare(const struct options *options, struct job *jobs)
{
    char path[4096];
    for (unsigned i = 0; i < options->jobs; i++) {
        jobs[i] = (struct job){.snapshot = memfd_create("snapshot", MFD_CLOEXEC),
                               .messages = memfd_create("messages", MFD_CLOEXEC)};
        jobs[i].report = mmap(NULL, sizeof(struct report), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (jobs[i].snapshot < 0 || jobs[i].messages < 0 || jobs[i].report == MAP_FAILED)
            die("memfd_create");
        if (options->keep) {
            mkdir(options->keep, 0777);
            snprintf(path, sizeof(path), "%s/%u", options->keep, i);
            mkdir(path, 0777);
        }
    }
}

int main(int argc, char **argv)
{
    static const struct option known[] = {
        {"cuts", required_argument, NULL, CUT},       {"flips", required_argument, NULL, FLIP},
        {"records", required_argument, NULL, RECORD}, {"gzips", required_argument, NULL, GZIP},
        {"seed", required_argument, NULL, 's'},       {"jobs", required_argument, NULL, 'j'},
        {"keep", required_argument, NULL, 'k'},       {"small", required_argument, NULL, 'm'},
        {"repeat", required_argument, NULL, 'r'},     {0}};
    struct options options = {
        {0, 200, 2000, 1000, 100}, 1, (unsigned)sysconf(_SC_NPROCESSORS_ONLN), NULL};
    const char *repeat = NULL, *small = NULL;
    static struct job jobs[MAX_JOBS];
    int option, status = 0;
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        switch (option) {
        case CUT:
        case FLIP:
        case RECORD:
        case GZIP:
            options.counts[option] = strtoul(optarg, NULL, 10);
            break;
        case 's':
            options.seed = strtoull(optarg, NULL, 10);
            break;
        case 'j':
            options.jobs = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'k':
            options.keep = optarg;
            break;
        case 'm':
            small = optarg;
            break;
        case 'r':
            repeat = optarg;
            break;
        default:
            return 2;
        }
    }
    if (options.jobs < 1 || options.jobs > MAX_JOBS)
        options.jobs = options.jobs < 1 ? 1 : MAX_JOBS;
    prepare(&options, jobs);
    for (int i = optind; i < argc; i++) {
        struct dump dump = read_dump(argv[i]);
        if (small)
            write_small(&dump, small);
        else if (repeat)
            status = run_here(&options, &dump, repeat);
        else if (!test_dump(&options, &dump, jobs, i - optind + 1))
            status = 1;
        free_dump(&dump);
    }
    if (!small && !repeat)
        printf("1..%d\n", argc - optind);
    return status;
}
