/*
 * Covers a conversion whose dump is overwritten meanwhile: it gives any snapshot or an error, but
 * does not access anything beyond the dump and does not walk without end.
 *
 * The dump is mapped twice. In the mapping that is read only some pages are readable at a time, and
 * the other pages take turns with these: so accesses can be counted, and at any of them the dump is
 * overwritten through the other mapping; where that is depends on nothing but the seeds of hashes.
 * Behind the dump's last byte is a page that cannot be read. All other errors of memory are for the
 * sanitizers to find.
 *
 * Without sanitizers the test tries every 7th round, or all rounds with CHECK_ALL.
 *
 *   OVERWRITTEN_ROUNDS, OVERWRITTEN_SEED: more rounds, other ones
 */
#include "../hang.h"
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "../conversion.h"

enum { READABLE = 48, SECONDS = 120 };

static size_t page_size;
static struct {
    uint8_t *data, *other; /* the mapping that is read; the one that is written */
    size_t size, mapped;
    uint8_t *begin; /* of the mapping that is read */
    uint8_t *readable[READABLE];
    size_t next;
    uint64_t accesses, trigger, period;
    uint64_t random;
    uint8_t *original;
} dump;

/* ---- overwriting ---- */

static uint64_t below(uint64_t limit)
{
    return unit_random(&dump.random) % limit;
}

static void overwrite(void)
{
    uint8_t *data = dump.other;
    const size_t size = dump.size;
    const unsigned kind = (unsigned)below(11);
    const size_t step = (size_t)1 << below(12);
    switch (kind) {
    case 0: /* one byte everywhere */
    case 1:
        memset(data, kind ? 0xff : 0, size);
        break;
    case 2: /* a field list without an end */
        for (size_t i = 0; i < size; i++)
            data[i] = i % 2;
        break;
    case 3: /* records that begin elsewhere */
        memmove(data + step % size, data, size - step % size);
        break;
    case 4: /* noise, more or less of it */
        for (size_t i = below(step); i < size; i += 1 + below(step))
            data[i] = (uint8_t)below(256);
        break;
    case 5: /* low numbers, more or less of them: tags, kinds, sizes */
        for (size_t i = below(step); i < size; i += 1 + below(step))
            data[i] = (uint8_t)below(20);
        break;
    case 6: /* bytes from elsewhere */
        for (size_t i = 0; i < 4096; i++) {
            const size_t count = 1 + below(64), from = below(size - count),
                         to = below(size - count);
            memmove(data + to, data + from, count);
        }
        break;
    case 7: /* words from elsewhere: other pointers */
        for (size_t i = 0; i < size / 64; i++)
            memcpy(data + below(size / 8) * 8, data + below(size / 8) * 8, 8);
        break;
    case 8: /* long uvarints */
        for (size_t i = below(step); i < size; i += 1 + below(step))
            data[i] |= 0x80;
        break;
    default: /* the original dump */
        memcpy(data, dump.original, size);
    }
}

static void on_access(int number, siginfo_t *info, void *context)
{
    uint8_t *page = (uint8_t *)((uintptr_t)info->si_addr / page_size * page_size);
    (void)context;
    if (page < dump.begin || page >= dump.begin + dump.mapped) {
        signal(number, SIG_DFL); /* the fault happens again, without this handler */
        return;
    }
    uint8_t **turn = &dump.readable[dump.next++ % READABLE];
    if (*turn)
        mprotect(*turn, page_size, PROT_NONE);
    *turn = page;
    mprotect(page, page_size, PROT_READ);
    if (++dump.accesses == dump.trigger) {
        overwrite();
        dump.trigger += 1 + dump.period;
    }
}

static void map_dump(const char *path)
{
    const int fd = memfd_create("dump", MFD_CLOEXEC);
    gzFile file = gzopen(path, "rb");
    uint8_t buffer[65536];
    int count;
    assert_non_null(file);
    size_t size = 0;
    while ((count = gzread(file, buffer, sizeof(buffer))) > 0) {
        dump.original = realloc(dump.original, size + (size_t)count);
        memcpy(dump.original + size, buffer, (size_t)count);
        size += (size_t)count;
    }
    gzclose(file);
    dump.size = size;
    page_size = (size_t)sysconf(_SC_PAGESIZE);
    dump.mapped = (size + page_size - 1) / page_size * page_size;
    assert_int_equal(ftruncate(fd, (off_t)dump.mapped), 0);
    dump.begin = mmap(NULL, dump.mapped + page_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(dump.begin != MAP_FAILED);
    assert_true(mmap(dump.begin, dump.mapped, PROT_NONE, MAP_SHARED | MAP_FIXED, fd, 0) ==
                dump.begin);
    dump.other = mmap(NULL, dump.mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(dump.other != MAP_FAILED);
    close(fd);
    const size_t pad = dump.mapped - size;
    dump.data = dump.begin + pad;
    dump.other += pad;
}

static void unmap_dump(void)
{
    munmap(dump.begin, dump.mapped + page_size);
    munmap(dump.other - (dump.mapped - dump.size), dump.mapped);
    free(dump.original);
    dump.original = NULL;
}

/* ---- converting ---- */

/* Converts the dump, and overwrites it at the access trigger and then every period + 1 accesses;
 * returns the number of accesses. */
static uint64_t convert(const char *path, uint64_t trigger, uint64_t period)
{
    struct g2h_input *input = NULL;
    struct g2h_heap *heap = NULL;
    struct g2h_exe *exe = NULL;
    struct conversion conversion = {.graph = NULL};
    const int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

    memcpy(dump.other, dump.original, dump.size);
    mprotect(dump.begin, dump.mapped, PROT_NONE);
    memset(dump.readable, 0, sizeof(dump.readable));
    dump.accesses = 0;
    dump.trigger = trigger;
    dump.period = period;
    hang_limit(SECONDS);
    assert_no_error(g2h_input_from_memory("dump", dump.data, dump.size, &input));
    const struct g2h_heap_options heap_options = {.threads = 1};
    struct g2h_error *error = g2h_heap_load(input, &heap_options, &heap);
    if (!error && path)
        error = g2h_exe_open(path, &exe);
    if (!error && path)
        error = g2h_exe_match(exe, heap);
    const struct conversion_options options = {.exe = exe,
                                               .threads = 1,
                                               .redact = below(4) == 0,
                                               .view.max_nodes = below(4) == 0 ? 3000 : 0};
    if (!error)
        error = conversion_init(&conversion, heap, &options);
    const struct g2h_output_options output = {
        .size = sizeof(output), .fd = fd, .name = "nowhere", .threads = 1};
    if (!error)
        error = g2h_write_heapsnapshot(conversion.view, &output);
    if (trigger == 0)
        assert_no_error(error);
    g2h_error_destroy(error);
    conversion_deinit(&conversion);
    g2h_exe_close(exe);
    g2h_heap_destroy(heap);
    g2h_input_close(input);
    close(fd);
    hang_limit(0);
    return dump.accesses;
}

static uint64_t number_of(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* Returns the number of rounds. Sanitizers see all that happens without them, and more, so tests
 * without sanitizers need not try all rounds, nor need tests that are to be quick. */
static uint64_t rounds_of(uint64_t all)
{
    const char *check_all = getenv("CHECK_ALL");
    const bool tries_all = (UNIT_SANITIZED && !getenv("QUICK")) || (check_all && *check_all);
    return number_of("OVERWRITTEN_ROUNDS", tries_all ? all : (all + 6) / 7);
}

static void convert_overwritten(const char *path, const char *exe, uint64_t rounds)
{
    const struct sigaction action = {.sa_sigaction = on_access, .sa_flags = SA_SIGINFO};
    struct sigaction before;
    const uint64_t first = number_of("OVERWRITTEN_SEED", 1);
    rounds = rounds_of(rounds);
    map_dump(path);
    sigaction(SIGSEGV, &action, &before);
    dump.random = 1;
    const uint64_t accesses = convert(exe, 0, 0);
    if (getenv("OVERWRITTEN_ROUNDS"))
        fprintf(stderr, "# %s: %llu accesses\n", path, (unsigned long long)accesses);
    for (uint64_t seed = first; seed < first + rounds; seed++) {
        dump.random = seed * 0x9e3779b97f4a7c15;
        const uint64_t trigger = 1 + below(accesses),
                       period = below(2) ? accesses : below(accesses / 4 + 1);
        if (getenv("OVERWRITTEN_ROUNDS"))
            fprintf(stderr, "# %s seed %llu, access %llu\n", path, (unsigned long long)seed,
                    (unsigned long long)trigger);
        convert(exe, trigger, period);
    }
    sigaction(SIGSEGV, &before, NULL);
    unmap_dump();
}

/* Returns a file in memory with the contents of a gzip file, so that these are inflated once for
 * all rounds. */
static int inflated(const char *path)
{
    const int fd = memfd_create("inflated", MFD_CLOEXEC);
    gzFile file = gzopen(path, "rb");
    uint8_t buffer[65536];
    int count;
    assert_true(fd >= 0 && file);
    while ((count = gzread(file, buffer, sizeof(buffer))) > 0)
        assert_int_equal(write(fd, buffer, (size_t)count), count);
    gzclose(file);
    return fd;
}

TEST(untyped)
{
    static const char *const names[] = {
        "samples/dumps/go1.3.3-386.1.dump.gz", "samples/dumps/go1.4.3-amd64.1.dump.gz",
        "samples/dumps/go1.5.4-amd64-clean.1.dump.gz", "samples/dumps/go1.15-amd64.1.dump.gz",
        "samples/dumps/go1.26-s390x.1.dump.gz"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        convert_overwritten(names[i], NULL, 5);
}

TEST(typed)
{
    char path[64];
    const int exe = inflated("samples/leakserver.exe.gz");
    snprintf(path, sizeof(path), "/proc/self/fd/%d", exe);
    convert_overwritten("samples/leakserver.1.dump.gz", path, 48);
    close(exe);
}

UNIT_MAIN(NULL, NULL)
