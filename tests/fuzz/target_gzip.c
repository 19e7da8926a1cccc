/*
 * target_gzip: an input is a file as it is given to the program, usually gzipped.
 *
 * It is opened as a file and as a pipe; both must give the same bytes, and those that zlib's own
 * reader of files gives. Then it is converted. Deflated bytes that are changed at random are hardly
 * ever a valid stream, so three of four changes are made to the contents of the stream, which are
 * then packed anew: in one member or several, with all the fields that a header may have.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <go2heapsnapshot/error.h>

#include "check.h"
#include "dice.h"
#include "fuzz_target.h"
#include "input/input.h"
#include "input/unpack.h"

enum { PLAIN_MOST = 1 << 18, PIPE_SIZE = 1 << 20, CONVERTED_MOST = 1 << 20, MEMBERS_MOST = 4 };

/* ---- reading ---- */

static struct g2h_input *open_file(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH];
    struct g2h_input *input = NULL;
    const int file = fuzz_file(data, size, path);
    g2h_error_destroy(g2h_input_open(path, NULL, &input));
    close(file);
    return input;
}

/* Returns NULL also if a pipe cannot hold all the bytes at once. */
static struct g2h_input *open_pipe(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH];
    struct g2h_input *input = NULL;
    int ends[2];
    CHECK(pipe2(ends, O_CLOEXEC) == 0);
    fcntl(ends[1], F_SETPIPE_SZ, PIPE_SIZE);
    const bool fits = fcntl(ends[1], F_GETPIPE_SZ) >= (int)size;
    if (fits)
        CHECK(write(ends[1], data, size) == (ssize_t)size);
    close(ends[1]);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
    if (fits)
        g2h_error_destroy(g2h_input_open(path, NULL, &input));
    close(ends[0]);
    return input;
}

/* Returns whether an input may lack its end: from this size on, the loader may stop copying bytes
 * that it cannot use. */
static bool may_be_short(const struct g2h_input *input)
{
    return input->size >= INPUT_FIRST_LOOK;
}

/* Compares an input with the bytes that zlib reads of a gzipped file: all of them if the file is
 * whole. If it is cut, zlib may lose the end, and the fact that it is cut (gzread() of 1.2.13). */
static void check_against_zlib(const uint8_t *data, size_t size, const struct g2h_input *input)
{
    static uint8_t buffer[1 << 16];
    char path[FUZZ_PATH];
    const int file = fuzz_file(data, size, path);
    gzFile reader = gzopen(path, "rb");
    uint64_t read = 0;
    int count, code;
    CHECK(reader);
    while ((count = gzread(reader, buffer, sizeof(buffer))) > 0) {
        const uint64_t left = input->size - read;
        const size_t compared = (uint64_t)count < left ? (size_t)count : (size_t)left;
        CHECK(compared == (size_t)count || may_be_short(input));
        CHECK(memcmp(input->data + read, buffer, compared) == 0);
        read += compared;
    }
    gzerror(reader, &code);
    if (input->damage)
        CHECK(code != Z_OK || read < input->size);
    else if (!may_be_short(input))
        CHECK(code == Z_OK && read == input->size);
    gzclose(reader);
    close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    setenv("TMPDIR", "/dev/shm", 0); /* memory is faster than a disk */
    struct g2h_input *file = open_file(data, size), *pipe = open_pipe(data, size);
    if (file && pipe) {
        const uint64_t size_of_both = file->size < pipe->size ? file->size : pipe->size;
        CHECK(file->unpacked == pipe->unpacked);
        CHECK(memcmp(file->data, pipe->data, (size_t)size_of_both) == 0);
        if (!may_be_short(file) && !may_be_short(pipe))
            CHECK(file->size == pipe->size && !file->damage == !pipe->damage);
    }
    if (file && file->unpacked && unpack_method_of(data, size) == unpack_method_at(0))
        check_against_zlib(data, size, file);
    if (file && file->size < CONVERTED_MOST)
        fuzz_convert(file, NULL, 1, fuzz_choice(data, size), fuzz_write_all, fuzz_nowhere());
    g2h_input_close(file);
    g2h_input_close(pipe);
    return 0;
}

/* ---- changing ---- */

/* Unpacks all members, or copies data that are no stream. Returns the size. */
static size_t unpack(const uint8_t *data, size_t size, uint8_t ret[PLAIN_MOST])
{
    z_stream stream = {0};
    int status;
    if (inflateInit2(&stream, 15 + 16) != Z_OK)
        abort();
    stream.next_in = (z_const Bytef *)(uintptr_t)data;
    stream.avail_in = (uInt)size;
    stream.next_out = ret;
    stream.avail_out = PLAIN_MOST;
    while ((status = inflate(&stream, Z_NO_FLUSH)) == Z_STREAM_END)
        inflateReset(&stream);
    size_t plain = PLAIN_MOST - stream.avail_out;
    inflateEnd(&stream);
    if (plain == 0) {
        plain = size < PLAIN_MOST ? size : PLAIN_MOST;
        memcpy(ret, data, plain);
    }
    return plain;
}

/* Packs one member into at most max_size bytes, cut if it does not fit. Returns its size. */
static size_t pack_member(const uint8_t *plain, size_t size, uint8_t *ret, size_t max_size)
{
    static Bytef extra[] = "AP\4\0fuzz", name[] = "app.dump", comment[] = "a comment";
    gz_header header = {.text = (int)below(2), .os = (int)below(256), .hcrc = (int)below(2)};
    z_stream stream = {0};
    if (deflateInit2(&stream, (int)below(10), Z_DEFLATED, 16 + 9 + (int)below(7), 1 + (int)below(9),
                     (int)below(5)) != Z_OK)
        abort();
    header.extra = below(4) ? NULL : extra;
    header.extra_len = (uInt)below(sizeof(extra));
    header.name = below(2) ? NULL : name;
    header.comment = below(4) ? NULL : comment;
    if (below(2))
        deflateSetHeader(&stream, &header);
    stream.next_in = (z_const Bytef *)(uintptr_t)plain;
    stream.next_out = ret;
    stream.avail_out = (uInt)max_size;
    const size_t flushed = below(4) ? 0 : below(size + 1);
    static const int flushes[] = {Z_PARTIAL_FLUSH, Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_BLOCK};
    stream.avail_in = (uInt)flushed;
    if (flushed > 0)
        deflate(&stream, flushes[below(4)]);
    stream.avail_in += (uInt)(size - flushed);
    deflate(&stream, Z_FINISH);
    deflateEnd(&stream);
    return max_size - stream.avail_out;
}

static size_t pack(const uint8_t *plain, size_t size, uint8_t *ret, size_t max_size)
{
    size_t packed = 0;
    for (size_t left = below(3) ? 1 : 1 + below(MEMBERS_MOST); left > 0; left--) {
        const size_t part = left == 1 ? size : below(size + 1);
        packed += pack_member(plain, part, ret + packed, max_size - packed);
        plain += part;
        size -= part;
    }
    if (below(8) == 0) /* bytes behind the last member */
        for (size_t count = below(20); count > 0 && packed < max_size; count--)
            ret[packed++] = below(2) ? 0 : below(2) ? 0x1f : (uint8_t)below(256);
    if (below(8) == 0)
        packed -= below(packed + 1);
    return packed;
}

/* Corrects each member's CRC and size, as far as the members can be inflated. */
static void correct(uint8_t *data, size_t size)
{
    static uint8_t plain[PLAIN_MOST];
    z_stream stream = {0};
    if (inflateInit2(&stream, 15 + 16) != Z_OK)
        abort();
    for (size_t start = 0, tries = 0; tries < 3 * MEMBERS_MOST && start < size; tries++) {
        inflateReset(&stream);
        stream.next_in = data + start;
        stream.avail_in = (uInt)(size - start);
        stream.next_out = plain;
        stream.avail_out = PLAIN_MOST;
        const int status = inflate(&stream, Z_NO_FLUSH);
        const size_t at = size - stream.avail_in; /* the end of the four bytes that are wrong */
        uint32_t number = (uint32_t)stream.total_out;
        if (status == Z_STREAM_END) {
            start = at;
            continue;
        }
        if (status != Z_DATA_ERROR || !stream.msg || at < 4)
            break;
        if (strcmp(stream.msg, "incorrect data check") == 0)
            number = (uint32_t)crc32(crc32(0, NULL, 0), plain, (uInt)stream.total_out);
        else if (strcmp(stream.msg, "incorrect length check") != 0)
            break;
        for (size_t i = 0; i < 4; i++)
            data[at - 4 + i] = (uint8_t)(number >> 8 * i);
    }
    inflateEnd(&stream);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    static uint8_t plain[PLAIN_MOST];
    state = seed;
    if (below(4) == 0) {
        size = LLVMFuzzerMutate(data, size, max_size);
        if (below(2))
            correct(data, size);
        return size;
    }
    size_t unpacked = unpack(data, size, plain);
    if (below(4))
        unpacked = LLVMFuzzerMutate(plain, unpacked, PLAIN_MOST);
    return pack(plain, unpacked, data, max_size);
}
