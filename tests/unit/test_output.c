/* Covers output/json, output/sink and output/hprof/java_string: digits as snprintf() writes them,
 * JSON strings, gzip that can be inflated, the same bytes for any number of threads, Java's
 * strings. */
#include "unit.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "output/hprof/hprof_classes.h"
#include "output/json.h"
#include "output/sink.h"

/* ---- json ---- */

static void expect_number(uint32_t value)
{
    char expected[16], text[32];
    int size = snprintf(expected, sizeof(expected), "%u", value);
    memset(text, 'x', sizeof(text));
    char *end = json_u32(text + 4, value);
    if (end - (text + 4) != size || memcmp(text + 4, expected, (size_t)size) != 0)
        fail_msg("%u", value);
    assert_memory_equal(text, "xxxx", 4);
    assert_memory_equal(text + 4 + JSON_U32_MAX, "xxxx", 4);
    end = json_u64(text + 4, value);
    if (end - (text + 4) != size || memcmp(text + 4, expected, (size_t)size) != 0)
        fail_msg("%u", value);
    if (value >= JSON_SHORT)
        return;
    end = json_u32_short(text + 4, json_short(value));
    if (end - (text + 4) != size || memcmp(text + 4, expected, (size_t)size) != 0)
        fail_msg("%u", value);
    assert_memory_equal(text + 12, "xxxx", 4);
}

TEST(numbers)
{
    uint64_t random = 17;
    for (uint32_t value = 0; value <= 1000000; value += unit_step())
        expect_number(value);
    for (uint64_t power = 1; power <= UINT32_MAX; power *= 10)
        for (uint64_t digit = 1; digit <= 9; digit++)
            for (int64_t near = -2; near <= 2; near++) {
                int64_t value = (int64_t)(power * digit) + near;
                if (value >= 0 && value <= UINT32_MAX)
                    expect_number((uint32_t)value);
            }
    for (unsigned shift = 0; shift < 32; shift++) {
        expect_number((uint32_t)1 << shift);
        expect_number(((uint32_t)1 << shift) - 1);
    }
    expect_number(UINT32_MAX);
    expect_number(UINT32_MAX - 1);
    for (unsigned i = 0; i < 1000000; i += unit_step())
        expect_number((uint32_t)unit_random(&random) >> unit_random(&random) % 32);
}

static void expect_large(uint64_t value)
{
    char expected[32], text[32] = {0};
    snprintf(expected, sizeof(expected), "%llu", (unsigned long long)value);
    *json_u64(text, value) = '\0';
    assert_string_equal(text, expected);
}

TEST(large_numbers)
{
    uint64_t random = 17;
    for (uint64_t power = 1; power <= UINT64_MAX / 10; power *= 10)
        for (uint64_t digit = 1; digit <= 10; digit++)
            for (uint64_t near = 0; near <= 2; near++)
                expect_large(power * digit - near);
    for (unsigned shift = 0; shift < 64; shift++) {
        expect_large((uint64_t)1 << shift);
        expect_large(((uint64_t)1 << shift) - 1);
    }
    expect_large(UINT64_MAX);
    for (unsigned i = 0; i < 1000000; i += unit_step())
        expect_large(unit_random(&random) >> unit_random(&random) % 64);
}

static void expect_json(const char *text, size_t size, const char *expected)
{
    char *json = malloc(json_string_limit(size));
    assert_non_null(json);
    char *end = json_string(json, text, size);
    assert_true((size_t)(end - json) <= json_string_limit(size));
    assert_int_equal(end - json, strlen(expected));
    assert_memory_equal(json, expected, strlen(expected));
    free(json);
}

TEST(json_strings)
{
    expect_json("", 0, "\"\"");
    expect_json("main.T", 6, "\"main.T\"");
    expect_json("a\"b\\c/", 6, "\"a\\\"b\\\\c/\"");
    expect_json("\xc3\xa4\xf0\x9f\x98\x80", 6, "\"\xc3\xa4\xf0\x9f\x98\x80\"");
    expect_json("\xe2\x80\xa8", 3, "\"\\u2028\"");
    expect_json("0123456\xc2\x85 \xe2\x80\xae", 13, "\"0123456\\u0085 \\u202e\"");
    expect_json("\xf3\xa0\x81\x81", 4, "\"\\udb40\\udc41\"");
    expect_json("\xe2\x80\xa6 \xc3\x85\xc2\xa0", 8, "\"\xe2\x80\xa6 \xc3\x85\xc2\xa0\"");
    expect_json("\xe2\x80", 2, "\"\xe2\x80\"");
    expect_json("a\0b", 3, "\"a\\u0000b\"");
    expect_json("\t\n\r", 3, "\"\\u0009\\u000a\\u000d\"");
    for (unsigned byte = 0; byte < 0x80; byte++) {
        char text = (char)byte, expected[16];
        if (byte < 0x20 || byte == 0x7f)
            snprintf(expected, sizeof(expected), "\"\\u%04x\"", byte);
        else if (byte == '"' || byte == '\\')
            snprintf(expected, sizeof(expected), "\"\\%c\"", text);
        else
            snprintf(expected, sizeof(expected), "\"%c\"", text);
        expect_json(&text, 1, expected);
    }
}

/* ---- sink ---- */

enum { TASKS = 40, LARGEST = 200000 };

/* Makes text, except in every fifth task; every third task flushes in between. */
static struct g2h_error *make_text(void *context, size_t task, unsigned worker,
                                   struct worker_buffer *buffer)
{
    uint64_t random = task * 2654435761u + 1;
    size_t size = task % 5 == 0 ? 0 : (size_t)(unit_random(&random) % LARGEST);
    (void)context;
    (void)worker;
    for (size_t i = 0; i < size; i++) {
        char *at = worker_buffer_reserve(buffer, 12);
        if (!at)
            return &error_no_memory;
        char *end = json_u32(at, (uint32_t)(unit_random(&random) >> 44));
        *end++ = '\n';
        buffer->size += (size_t)(end - at);
        if (task % 3 == 0 && i % 10000 == 9999) {
            struct g2h_error *error = worker_buffer_flush(buffer);
            if (error)
                return error;
        }
    }
    return NULL;
}

/* Returns the bytes that the sink writes, from malloc(). */
static char *run(bool gzip, unsigned threads, size_t tasks, size_t *ret_size)
{
    int fd = memfd_create("sink", 0);
    const struct g2h_output_options options = {.fd = fd, .name = "sink", .gzip = gzip};
    assert_true(fd >= 0);
    assert_no_error(sink_run(&options, threads, tasks, make_text, NULL));
    off_t size = lseek(fd, 0, SEEK_END);
    char *data = malloc((size_t)size + 1);
    assert_non_null(data);
    assert_int_equal(pread(fd, data, (size_t)size, 0), size);
    close(fd);
    *ret_size = (size_t)size;
    return data;
}

/* Inflates one gzip member with all of its checks; expects nothing behind it. */
static char *inflate_all(const char *data, size_t size, size_t expected, size_t *ret_size)
{
    char *target = malloc(expected + 1000);
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)size};
    assert_non_null(target);
    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
    stream.next_out = (Bytef *)target;
    stream.avail_out = (uInt)(expected + 1000);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.avail_in, 0);
    *ret_size = expected + 1000 - stream.avail_out;
    inflateEnd(&stream);
    return target;
}

TEST(same_bytes_for_any_threads)
{
    const unsigned threads[] = {1, 2, 3, 8, 50};
    for (int gzip = 0; gzip < 2; gzip++) {
        size_t size, other_size;
        char *data = run(gzip, 1, TASKS, &size);
        for (size_t i = 1; i < 5; i++) {
            char *other = run(gzip, threads[i], TASKS, &other_size);
            assert_int_equal(other_size, size);
            assert_memory_equal(other, data, size);
            free(other);
        }
        free(data);
    }
}

TEST(gzip_inflates_to_the_same)
{
    const size_t tasks[] = {0, 1, 2, TASKS};
    for (size_t i = 0; i < 4; i++) {
        size_t size, packed_size, inflated_size;
        char *data = run(false, 2, tasks[i], &size), *packed = run(true, 3, tasks[i], &packed_size);
        char *inflated = inflate_all(packed, packed_size, size, &inflated_size);
        assert_int_equal(inflated_size, size);
        assert_memory_equal(inflated, data, size);
        assert_true(tasks[i] < TASKS || packed_size < size * 2 / 3);
        free(data);
        free(packed);
        free(inflated);
    }
}

/* Returns all bytes of a memory file, from malloc(), and closes it. */
static char *take_file(int fd, size_t *ret_size)
{
    const off_t size = lseek(fd, 0, SEEK_END);
    char *data = malloc((size_t)size + 1);
    assert_non_null(data);
    assert_int_equal(pread(fd, data, (size_t)size, 0), size);
    close(fd);
    *ret_size = (size_t)size;
    return data;
}

/* Passes bytes to a stream in parts of any size. Zeros at the end of a part are only counted. */
static void stream_parts(struct sink_stream *stream, const uint8_t *data, size_t size)
{
    uint64_t random = 5;
    for (size_t at = 0, part; at < size; at += part) {
        const size_t wanted = (size_t)(unit_random(&random) % 300000);
        size_t zeros = 0;
        part = wanted < size - at ? wanted : size - at;
        while (zeros < part && data[at + part - zeros - 1] == 0)
            zeros++;
        assert_no_error(sink_put(stream, data + at, part - zeros, zeros));
    }
    assert_no_error(sink_finish(stream));
}

/* A dump that is streamed has the bytes of one that was in a file before, compressed or not. */
TEST(streams_have_the_bytes_of_dumps)
{
    enum { STREAMED = 37 * SINK_PIECE / 2 + 77, ZEROS = 3 * SINK_PIECE };
    uint8_t *data = calloc(1, STREAMED);
    struct g2h_input *input;
    uint64_t random = 3;
    assert_non_null(data);
    for (size_t i = 0; i < STREAMED; i++)
        if (i < SINK_PIECE || i > SINK_PIECE + ZEROS)
            data[i] = (uint8_t)(unit_random(&random) % 4);
    assert_no_error(g2h_input_from_memory("heap", data, STREAMED, &input));
    for (int gzip = 0; gzip < 2; gzip++)
        for (unsigned threads = 1; threads <= 3; threads += 2) {
            size_t size, other_size;
            struct g2h_output_options options = {.size = sizeof(options),
                                                 .fd = memfd_create("whole", 0),
                                                 .name = "whole",
                                                 .gzip = gzip,
                                                 .threads = threads};
            struct sink_stream *stream;
            assert_no_error(g2h_write_dump(input, &options));
            char *whole = take_file(options.fd, &size);
            options.fd = memfd_create("streamed", 0);
            assert_no_error(sink_open(&options, &stream));
            stream_parts(stream, data, STREAMED);
            sink_close(stream);
            char *streamed = take_file(options.fd, &other_size);
            assert_int_equal(other_size, size);
            assert_memory_equal(streamed, whole, size);
            free(whole);
            free(streamed);
        }
    g2h_input_close(input);
    free(data);
}

TEST(failing_writes)
{
    for (int gzip = 0; gzip < 2; gzip++) {
        int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
        if (fd < 0)
            skip();
        const struct g2h_output_options options = {
            .fd = fd, .name = "a.heapsnapshot", .gzip = gzip};
        assert_error(sink_run(&options, 4, TASKS, make_text, NULL), G2H_ERROR_SYSTEM,
                     "a.heapsnapshot: cannot write: No space left on device");
        close(fd);
    }
}

/* Java has Latin-1 if all characters are of it, else UTF-16, in which some have two units. */
TEST(strings_of_java)
{
    static const struct {
        const char *text, *bytes; /* in hexadecimal */
        bool is_wide;
    } strings[] = {
        {"", "", false},
        {"a~", "617e", false},
        {"a\xc3\xbf", "61ff", false},
        {"\xc4\x80"
         "b",
         "01000062", true},
        {"\xef\xbf\xbf", "ffff", true},
        {"\xf0\x90\x80\x80", "d800dc00", true},
        {"\xf0\x9f\x98\x80!", "d83dde000021", true},
        {"\xf4\x8f\xbf\xbf", "dbffdfff", true},
        {"\xff", "fffd", true},
    };
    for (size_t i = 0; i < sizeof(strings) / sizeof(*strings); i++) {
        char bytes[16], text[33] = "";
        const struct java_string string = java_string_of(strings[i].text, strlen(strings[i].text));
        const size_t size = (size_t)(java_string_put(bytes, &string) - bytes);
        assert_int_equal(size, string.bytes);
        assert_int_equal(string.is_wide, strings[i].is_wide);
        for (size_t j = 0; j < size; j++)
            snprintf(text + 2 * j, 3, "%02x", (unsigned char)bytes[j]);
        assert_string_equal(text, strings[i].bytes);
    }
}

UNIT_MAIN(NULL, NULL)
