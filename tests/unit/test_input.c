/* Covers input/ and dump/reader.c: regular files, gzip, zstd, xz and lz4 (members, cut, damaged,
 * padded), pipes, standard input, empty and missing files; how much is copied; files that change
 * meanwhile. */
#include "dump_builder.h"

#include "input/input.h"
#include "input/unpack.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#ifdef WITH_ZSTD
#include <zstd.h>
#endif
#ifdef WITH_LZMA
#include <lzma.h>
#endif
#ifdef WITH_LZ4
#include <lz4frame.h>
#endif

enum { SIZE = 1000003 }; /* several of input.c's chunks, and not a multiple of one */

static uint8_t plain[SIZE], packed[2 * SIZE];
static size_t packed_size;
static char directory[64];

/* Deflates data as one gzip member; returns its size. */
static size_t gzip(uint8_t *target, size_t space, const uint8_t *data, size_t size)
{
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (Bytef *)(uintptr_t)data;
    stream.avail_in = (uInt)size;
    stream.next_out = target;
    stream.avail_out = (uInt)space;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return space - stream.avail_out;
}

static int set_up(void **state)
{
    uint64_t random = 42;
    (void)state;
    for (size_t i = 0; i < SIZE; i++) /* half of the bytes compress */
        plain[i] = (uint8_t)(i % 2 == 0 ? unit_random(&random) : i >> 8);
    packed_size = gzip(packed, sizeof(packed), plain, SIZE);
    signal(SIGPIPE, SIG_IGN);
    strcpy(directory, "/tmp/go2heapsnapshot-unit.XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return rmdir(directory);
}

/* ---- sources ---- */

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    return path;
}

static void write_all(int fd, const void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t count = write(fd, (const char *)data + done, size - done);
        if (count <= 0)
            break;
        done += (size_t)count;
    }
}

/* Opens data as a regular file and removes its name at once. */
static struct g2h_input *open_file(const void *data, size_t size)
{
    struct g2h_input *input = NULL;
    const char *path = path_of("dump");
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    write_all(fd, data, size);
    close(fd);
    assert_no_error(g2h_input_open(path, NULL, &input));
    assert_string_equal(input->name, path);
    unlink(path);
    return input;
}

struct feeder {
    int fd;
    const void *data;
    size_t size;
};

static void *feed(void *argument)
{
    struct feeder *feeder = argument;
    for (size_t done = 0; done < feeder->size;) { /* odd pieces make reads short */
        size_t piece = feeder->size - done < 7919 ? feeder->size - done : 7919;
        write_all(feeder->fd, (const char *)feeder->data + done, piece);
        done += piece;
    }
    close(feeder->fd);
    return NULL;
}

/* Opens data as a pipe, by path or as standard input. */
static struct g2h_input *open_pipe(const void *data, size_t size, bool standard)
{
    struct g2h_input *input = NULL;
    pthread_t thread;
    char path[32] = "-";
    int ends[2], saved = -1;
    assert_int_equal(pipe(ends), 0);
#ifdef F_SETPIPE_SZ
    (void)fcntl(ends[0], F_SETPIPE_SZ, 4096); /* no read gives more: a slow writer's pieces */
#endif
    struct feeder feeder = {ends[1], data, size};
    assert_int_equal(pthread_create(&thread, NULL, feed, &feeder), 0);
    if (standard) {
        saved = dup(STDIN_FILENO);
        dup2(ends[0], STDIN_FILENO);
    } else {
        snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
    }
    struct g2h_error *error = g2h_input_open(path, NULL, &input);
    if (standard) {
        dup2(saved, STDIN_FILENO);
        close(saved);
    }
    close(ends[0]); /* ends the feeder if the input did not want all bytes */
    pthread_join(thread, NULL);
    assert_no_error(error);
    assert_string_equal(input->name, standard ? "standard input" : path);
    return input;
}

static void expect(struct g2h_input *input, const void *data, size_t size)
{
    assert_int_equal(input->size, size);
    assert_memory_equal(input->data, data, size);
    if (input->damage)
        fail_msg("%s", input->damage->message);
    g2h_input_close(input);
}

/* ---- tests ---- */

TEST(regular_file)
{
    expect(open_file(plain, SIZE), plain, SIZE);
    expect(open_file(plain, 1), plain, 1);
}

TEST(pipes)
{
    expect(open_pipe(plain, SIZE, false), plain, SIZE);
    expect(open_pipe(plain, SIZE, true), plain, SIZE);
    expect(open_pipe(plain, 1, true), plain, 1);
}

TEST(gzip_is_told_by_its_magic)
{
    expect(open_file(packed, packed_size), plain, SIZE);
    expect(open_pipe(packed, packed_size, false), plain, SIZE);
    expect(open_pipe(packed, packed_size, true), plain, SIZE);
}

TEST(empty)
{
    uint8_t nothing[64];
    expect(open_file("", 0), "", 0);
    expect(open_pipe("", 0, true), "", 0);
    expect(open_file(nothing, gzip(nothing, sizeof(nothing), plain, 0)), "", 0);
}

/* Members of all lengths around a chunk's end, as pigz and `cat a.gz b.gz` make them. */
TEST(several_members)
{
    const size_t ends[] = {0, 1, 17, 262144, 262145, 524287, 999999, SIZE};
    size_t size = 0;
    for (size_t i = 1; i < sizeof(ends) / sizeof(ends[0]); i++)
        size +=
            gzip(packed + size, sizeof(packed) - size, plain + ends[i - 1], ends[i] - ends[i - 1]);
    expect(open_file(packed, size), plain, SIZE);
    expect(open_pipe(packed, size, false), plain, SIZE);
    packed_size = gzip(packed, sizeof(packed), plain, SIZE);
}

/* Streams that nothing comes of end after 65,536, at a byte that is named: each costs time. */
TEST(many_empty_members)
{
    enum { MEMBERS = 70000, LARGEST = 32, MOST = 1 << 16 };
    uint8_t *all = malloc((size_t)MEMBERS * LARGEST);
    assert_non_null(all);
    for (size_t bytes = 0; bytes < 2; bytes++) {
        const size_t one = gzip(all, LARGEST, plain, bytes);
        for (size_t i = 1; i < MEMBERS; i++)
            memcpy(all + i * one, all, one);
        struct g2h_input *input = open_file(all, MEMBERS * one);
        assert_int_equal(input->size, bytes * MEMBERS);
        char expected[32];
        snprintf(expected, sizeof(expected), ": byte %zu: ", (MOST + 1) * one);
        if (bytes > 0)
            assert_null(input->damage);
        else
            assert_non_null(strstr(input->damage->message, expected));
        g2h_input_close(input);
    }
    free(all);
}

/* gzip(1) ignores zeros behind the last member: tapes and block devices pad. */
TEST(padding_behind_the_last_member)
{
    memset(packed + packed_size, 0, 512);
    expect(open_file(packed, packed_size + 512), plain, SIZE);
}

/* The input has all that could be inflated, and its damage says that more is missing. */
TEST(cut_gzip)
{
    const size_t cuts[] = {2, 9, 10, 11, 500, packed_size / 2, packed_size - 9, packed_size - 1};
    uint64_t last = 0;
    for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
        struct g2h_input *input =
            i % 2 ? open_file(packed, cuts[i]) : open_pipe(packed, cuts[i], true);
        assert_non_null(input->damage);
        assert_int_equal(input->damage->code, G2H_ERROR_DAMAGED);
        assert_non_null(strstr(input->damage->message, "the gzip stream is cut"));
        assert_true(input->size >= last);
        last = input->size;
        assert_memory_equal(input->data, plain, input->size);
        g2h_input_close(input);
    }
    assert_int_equal(last, SIZE); /* only the checksum was missing */
}

TEST(damaged_gzip)
{
    const size_t places[] = {packed_size / 2, packed_size - 6 /* the checksum */};
    for (size_t i = 0; i < 2; i++) {
        packed[places[i]] ^= 0x55;
        struct g2h_input *input = open_file(packed, packed_size);
        packed[places[i]] ^= 0x55;
        assert_non_null(input->damage);
        assert_int_equal(input->damage->code, G2H_ERROR_DAMAGED);
        assert_non_null(strstr(input->damage->message, "the gzip stream is damaged"));
        g2h_input_close(input);
    }
}

TEST(damaged_second_member)
{
    size_t first = gzip(packed, sizeof(packed), plain, 5000);
    size_t second = gzip(packed + first, sizeof(packed) - first, plain + 5000, 5000);
    struct g2h_input *input = open_file(packed, first + second / 2);
    assert_non_null(input->damage);
    assert_in_range(input->size, 5000, 9999);
    assert_memory_equal(input->data, plain, input->size);
    g2h_input_close(input);
    packed_size = gzip(packed, sizeof(packed), plain, SIZE);
}

/* ---- zstd, xz and lz4 ---- */

typedef size_t packer(uint8_t *target, size_t space, const uint8_t *data, size_t size);

#ifdef WITH_ZSTD
static size_t zstd(uint8_t *target, size_t space, const uint8_t *data, size_t size)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    const size_t result = ZSTD_compress2(context, target, space, data, size);
    ZSTD_freeCCtx(context);
    assert_false(ZSTD_isError(result));
    return result;
}
#endif
#ifdef WITH_LZMA
static size_t xz(uint8_t *target, size_t space, const uint8_t *data, size_t size)
{
    size_t result = 0;
    assert_int_equal(
        lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, data, size, target, &result, space),
        LZMA_OK);
    return result;
}
#endif
#ifdef WITH_LZ4
static size_t lz4(uint8_t *target, size_t space, const uint8_t *data, size_t size)
{
    const LZ4F_preferences_t options = {
        .frameInfo = {.contentChecksumFlag = LZ4F_contentChecksumEnabled}};
    const size_t result = LZ4F_compressFrame(target, space, data, size, &options);
    assert_false(LZ4F_isError(result));
    return result;
}
#endif

static const struct {
    const char *name;
    packer *pack;
} packers[] = {
    {"gzip", gzip},
#ifdef WITH_ZSTD
    {"zstd", zstd},
#endif
#ifdef WITH_LZMA
    {"xz", xz},
#endif
#ifdef WITH_LZ4
    {"lz4", lz4},
#endif
};
enum { PACKERS = sizeof(packers) / sizeof(packers[0]) };

/* Tests that an input is damaged in this way, and has a part of the bytes, as they were. */
static void expect_damage(struct g2h_input *input, const char *name, const char *way)
{
    char wanted[64];
    snprintf(wanted, sizeof(wanted), "the %s stream is %s", name, way);
    assert_non_null(input->damage);
    assert_int_equal(input->damage->code, G2H_ERROR_DAMAGED);
    assert_non_null(strstr(input->damage->message, wanted));
    assert_true(input->size <= SIZE);
    assert_memory_equal(input->data, plain, input->size);
    g2h_input_close(input);
}

/* Whole streams, from a file and from a pipe; several, with padding behind the last one. */
TEST(packed_streams)
{
    for (unsigned i = 0; i < PACKERS; i++) {
        size_t size = packers[i].pack(packed, sizeof(packed), plain, SIZE);
        expect(open_file(packed, size), plain, SIZE);
        expect(open_pipe(packed, size, true), plain, SIZE);
        size = 0;
        for (size_t from = 0; from < SIZE; from += SIZE / 5)
            size += packers[i].pack(packed + size, sizeof(packed) - size, plain + from,
                                    SIZE - from < SIZE / 5 ? SIZE - from : SIZE / 5);
        memset(packed + size, 0, 512);
        expect(open_file(packed, size + 512), plain, SIZE);
    }
    packed_size = gzip(packed, sizeof(packed), plain, SIZE);
}

/* Each prefix of the first bytes, and some longer ones. */
TEST(cut_streams)
{
    for (unsigned i = 0; i < PACKERS; i++) {
        const size_t size = packers[i].pack(packed, sizeof(packed), plain, SIZE);
        struct g2h_input *input;
        for (size_t cut = UNPACK_MAGIC; cut < 40; cut++)
            expect_damage(open_file(packed, cut), packers[i].name, "cut");
        input = open_file(packed, size * 3 / 4);
        assert_in_range(input->size, SIZE / 2, SIZE);
        expect_damage(input, packers[i].name, "cut");
        input = open_pipe(packed, size - 1, true);
        assert_in_range(input->size, SIZE * 3 / 4, SIZE);
        expect_damage(input, packers[i].name, "cut");
    }
    packed_size = gzip(packed, sizeof(packed), plain, SIZE);
}

/* A byte that is changed anywhere is noticed, and never makes more bytes than there were. */
TEST(damaged_streams)
{
    uint64_t random = 7;
    for (unsigned i = 0; i < PACKERS; i++) {
        const size_t size = packers[i].pack(packed, sizeof(packed), plain, 20000);
        for (size_t round = 0; round < 200; round += unit_step()) {
            const size_t at = round < 40 ? round : (size_t)(unit_random(&random) % size);
            const uint8_t before = packed[at];
            packed[at] = (uint8_t)(before ^ (1 + unit_random(&random) % 255));
            struct g2h_input *input = open_file(packed, size);
            packed[at] = before;
            const bool is_whole =
                !input->damage && input->size == 20000 && memcmp(input->data, plain, 20000) == 0;
            assert_true(is_whole || !input->unpacked || input->damage);
            assert_true(input->size <= sizeof(packed));
            g2h_input_close(input);
        }
    }
    packed_size = gzip(packed, sizeof(packed), plain, SIZE);
}

/* A stream that takes much more memory than its bytes is damaged for us. */
TEST(large_windows)
{
#ifdef WITH_ZSTD
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 30);
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
    ZSTD_inBuffer in = {plain, 1000, 0};
    ZSTD_outBuffer out = {packed, sizeof(packed), 0};
    ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush);
    assert_int_equal(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end), 0);
    ZSTD_freeCCtx(context);
    expect_damage(open_file(packed, out.pos), "zstd", "damaged");
    packed_size = gzip(packed, sizeof(packed), plain, SIZE);
#endif
}

TEST(what_cannot_be_opened)
{
    struct g2h_input *input = NULL;
    assert_error(g2h_input_open("/nowhere/a.dump", NULL, &input), G2H_ERROR_SYSTEM,
                 "/nowhere/a.dump: cannot open: No such file or directory");
    assert_error(g2h_input_open(directory, NULL, &input), G2H_ERROR_SYSTEM, "is a directory");
    assert_null(input);
}

TEST(no_room_for_a_copy)
{
    struct g2h_input *input = NULL;
    int ends[2];
    char path[32];
    assert_int_equal(pipe(ends), 0);
    close(ends[1]);
    snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
    setenv("TMPDIR", "/nowhere", 1);
    struct g2h_error *error = g2h_input_open(path, NULL, &input);
    unsetenv("TMPDIR");
    close(ends[0]);
    assert_error(error, G2H_ERROR_SYSTEM, "TMPDIR");
}

/* The copy leaves no name in $TMPDIR, not even while the input is open. */
TEST(copy_has_no_name)
{
    setenv("TMPDIR", directory, 1);
    struct g2h_input *input = open_pipe(plain, SIZE, false);
    unsetenv("TMPDIR");
    assert_int_equal(rmdir(directory), 0);
    assert_int_equal(mkdir(directory, 0700), 0);
    expect(input, plain, SIZE);
}

TEST(memory)
{
    struct g2h_input *input;
    assert_no_error(g2h_input_from_memory("bytes", plain, SIZE, &input));
    assert_string_equal(input->name, "bytes");
    assert_ptr_equal(input->data, plain);
    expect(input, plain, SIZE);
    g2h_input_close(NULL);
}

/* ---- holes ---- */

enum { HOLE = 1 << 22, BESIDE = 1 << 16 };

/* A hole of a file is known, and so are zeros of a pipe, which become a hole of its copy. */
TEST(holes)
{
    uint8_t *data = calloc(1, HOLE + 2 * BESIDE);
    const size_t size = HOLE + 2 * BESIDE;
    struct g2h_input *inputs[2];
    uint64_t begin, end;
    assert_non_null(data);
    memset(data, 'a', BESIDE);
    memset(data + size - BESIDE, 'b', BESIDE);
    const int fd = open(path_of("holes"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    write_all(fd, data, BESIDE);
    assert_true(lseek(fd, HOLE, SEEK_CUR) > 0);
    write_all(fd, data + size - BESIDE, BESIDE);
    close(fd);
    assert_no_error(g2h_input_open(path_of("holes"), NULL, &inputs[0]));
    inputs[1] = open_pipe(data, size, false);
    for (int i = 0; i < 2; i++) {
        assert_true(g2h_input_hole(inputs[i], 0, size, &begin, &end));
        assert_int_equal(begin, BESIDE);
        assert_true(end > begin && end <= BESIDE + HOLE);
        assert_false(g2h_input_hole(inputs[i], 0, BESIDE, &begin, &end));
        assert_int_equal(begin, BESIDE);
        assert_int_equal(end, BESIDE);
        expect(inputs[i], data, size);
    }
    unlink(path_of("holes"));
    free(data);
}

/* A packed file that ends in a hole is padded; its copy has no hole there. */
TEST(hole_of_a_packed_file)
{
    const int fd = open(path_of("packed"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    struct g2h_input *input;
    uint64_t begin, end;
    write_all(fd, packed, packed_size);
    assert_int_equal(ftruncate(fd, HOLE), 0);
    close(fd);
    assert_no_error(g2h_input_open(path_of("packed"), NULL, &input));
    unlink(path_of("packed"));
    assert_false(g2h_input_hole(input, 0, HOLE, &begin, &end));
    expect(input, plain, SIZE);
}

/* ---- how much is copied ---- */

enum { HEAP = 0x800000, LARGE = 1 << 26, LARGER = 100000000 };

/* Builds a dump of objects of one size that is larger than what is copied without a look at its
 * records. */
static void build(struct dump *dump, uint64_t size)
{
    dump_start_modern(dump, "go1.21.0");
    for (uint64_t at = HEAP; dump->size < LARGER; at += size)
        dump_object(dump, at, size, WORDS(at, HEAP));
}

/* Everything that the reader can read is copied, however it is divided into objects. */
TEST(large_dumps)
{
    const uint64_t sizes[] = {4096, 1 << 22, LARGER};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        DUMP dump;
        build(&dump, sizes[i]);
        dump_eof(&dump);
        expect(open_pipe(dump.data, dump.size, i % 2), dump.data, dump.size);
    }
}

/* The copy ends soon behind a record that the reader cannot read. */
TEST(large_damaged_dumps)
{
    static uint8_t behind[2 * LARGER];
    for (int i = 0; i < 2; i++) {
        DUMP dump;
        dump_start_modern(&dump, "go1.21.0");
        dump_object(&dump, HEAP, 64, WORDS(HEAP));
        const size_t head = dump.size;
        memset(behind, i ? 0x7f : 0, sizeof(behind)); /* 0x7f is no kind of record, 0 is EOF */
        memcpy(behind, dump.data, head);
        struct g2h_input *input = open_pipe(behind, sizeof(behind), true);
        assert_true(input->size >= head);
        assert_true(input->size <= 2 * LARGE);
        g2h_input_close(input);
    }
}

/* ---- bytes that cannot be read ---- */

static sigjmp_buf jump;
static const char *reason, *fault_name;

static void on_bus_error(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    reason = g2h_input_fault(info->si_addr, &fault_name);
    siglongjmp(jump, 1);
}

/* Returns why the last byte of an input cannot be read, or NULL if it can be. */
static const char *fault_of(const struct g2h_input *input)
{
    const struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
    struct sigaction before;
    sigaction(SIGBUS, &action, &before);
    reason = NULL;
    if (sigsetjmp(jump, 1) == 0)
        (void)*(volatile const uint8_t *)&input->data[input->size - 1];
    sigaction(SIGBUS, &before, NULL);
    return reason;
}

TEST(faults_have_names)
{
    struct g2h_input *one = open_file(plain, SIZE), *copy = open_pipe(plain, SIZE, true),
                     *other = open_file(plain, SIZE);
    const char *name = NULL;
    assert_null(fault_of(one));
    assert_null(g2h_input_fault(plain, &name));
    assert_null(g2h_input_fault(one->data + SIZE, &name));
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", other->file->fd);
    assert_int_equal(truncate(path, 4096), 0);
    assert_string_equal(fault_of(other), "became shorter while it was read");
    assert_ptr_equal(fault_name, other->name);
    assert_null(fault_of(copy));
    assert_int_equal(ftruncate(copy->file->fd, 0), 0);
    assert_non_null(strstr(fault_of(copy), "temporary copy cannot be read"));
    assert_ptr_equal(fault_name, copy->name);
    assert_null(fault_of(one));
    const uint8_t *data = one->data;
    g2h_input_close(one);
    assert_null(g2h_input_fault(data, &name));
    g2h_input_close(copy);
    g2h_input_close(other);
}

/* ---- files that change ---- */

TEST(changes_are_noticed)
{
    struct g2h_input *input = open_file(plain, SIZE);
    assert_no_error(g2h_input_check(input));
    assert_true(S_ISREG(g2h_input_status(input)->st_mode));
    g2h_input_close(input);

    const char *path = path_of("dump");
    const int fd = open(path, O_WRONLY | O_CREAT, 0600);
    write_all(fd, plain, SIZE);
    close(fd);
    assert_no_error(g2h_input_open(path, NULL, &input));
    assert_no_error(g2h_input_check(input));
    usleep(20000); /* a file's times have a resolution of some milliseconds */
    assert_int_equal(chmod(path, 0640), 0); /* changes its ctime */
    assert_error(g2h_input_check(input), G2H_ERROR_SYSTEM, "was changed while it was read");
    g2h_input_close(input);
    unlink(path);
    input = open_pipe(plain, SIZE, true);
    assert_no_error(g2h_input_check(input));
    g2h_input_close(input);
    assert_no_error(g2h_input_from_memory("bytes", plain, SIZE, &input));
    assert_no_error(g2h_input_check(input));
    assert_null(g2h_input_status(input));
    g2h_input_close(input);
}

/* ---- pages that the system has dropped ---- */

#ifdef POSIX_FADV_DONTNEED

/* Returns how many pages of an input the system reads one after the other, waiting for each, if it
 * is read backwards, after it has been dropped from memory and is expected in an order. */
static long pages_waited_for(const struct g2h_input *input, enum input_order order)
{
    struct rusage before, after;
    uint8_t sum = 0;
    assert_int_equal(madvise((void *)(uintptr_t)input->data, input->size, MADV_DONTNEED), 0);
    assert_int_equal(posix_fadvise(input->file->fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    input_expect(input, order);
    getrusage(RUSAGE_SELF, &before);
    for (uint64_t at = input->size; at >= 4096; at -= 4096)
        sum ^= ((const volatile uint8_t *)input->data)[at - 4096];
    getrusage(RUSAGE_SELF, &after);
    (void)sum;
    return after.ru_majflt - before.ru_majflt;
}

/* In a file system that is in memory, no pages are dropped. */
TEST(dropped_pages_come_in_large_pieces)
{
    enum { PIECES = 16 };
    struct g2h_input *input;
    char path[256];
    strcpy(path, "build/go2heapsnapshot-unit.XXXXXX"); /* /tmp may be in memory */
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    for (int i = 0; i < PIECES; i++)
        write_all(fd, plain, SIZE / 4096 * 4096);
    assert_int_equal(fsync(fd), 0);
    close(fd);
    assert_null(input_open(path, NULL, NULL, &input));
    const long one_by_one = pages_waited_for(input, INPUT_HERE_AND_THERE);
    const long in_pieces = pages_waited_for(input, INPUT_ALL);
    g2h_input_close(input);
    unlink(path);
    if (one_by_one > 100)
        assert_in_range(in_pieces, 0, one_by_one / 10);
}

#endif

UNIT_MAIN_ONCE(set_up, tear_down)
